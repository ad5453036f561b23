/* Peers of epoch elimination as readable logs, slot by slot: a path of three that spreads its
 * reports, and a hub above two components that gather theirs. A changed log is a changed protocol:
 * commit only what you can explain.
 *
 * To record a log anew: TACIT_TRACE_RECORD=1 peer_trace prints the logs as C strings and compares
 * nothing. */
#include "../support/wire_shape.h"
#include <math.h>
#include "../support/testing.h"
#include "tacit/wire_elim.h"
#include "../support/trace_log.h"
#include "../support/peer_driver.h"

#define AGENTS_MAX 5u
#define ARMS 3u
#define MAIL_MAX 64u

static const double means[ARMS] = {0.75, 0.25, 0.7};

struct envelope {
    uint32_t to;
    struct tacit_elim_message *message;
};

struct trace {
    struct peer_setup setup;
    struct network *network;
    uint32_t weights[AGENTS_MAX];
    struct peer_core peers[AGENTS_MAX];
    struct tacit_pull_block plans[AGENTS_MAX][ARMS];
    uint32_t plan_counts[AGENTS_MAX];
    bool has_hub;
    struct driver_core hub;
    struct envelope mail[MAIL_MAX];
    size_t mail_count;
    uint64_t now_us;
    struct trace_log log;
};

/* ---- Writing the log ------------------------------------------------------------------------- */

/* What happens from outside to the scenario. */
static void note(struct trace *trace, const char *text)
{
    trace_log_say(&trace->log, "--- %s\n", text);
}

static void begin_line(struct trace *trace, uint32_t who)
{
    trace_log_say(&trace->log, "[%4llu] ", (unsigned long long)trace->now_us);
    if (who == trace->setup.base.agent_count)
        trace_log_say(&trace->log, "hub ");
    else
        trace_log_say(&trace->log, "p%u ", who);
}

static void say_address(struct trace *trace, uint32_t to)
{
    if (to == TACIT_HUB)
        trace_log_say(&trace->log, "-> hub");
    else if (to == TACIT_EVERYONE)
        trace_log_say(&trace->log, "-> all");
    else if (to == TACIT_NEIGHBOURS)
        trace_log_say(&trace->log, "-> neighbours");
    else
        trace_log_say(&trace->log, "-> p%u", to);
}

static void say_rows(struct trace *trace, const struct tacit_elim_message *message)
{
    uint32_t const agents = trace->setup.base.agent_count;
    size_t const stride = message->row_stride > 0 ? message->row_stride : message->sum_count;
    for (uint32_t origin = 0; origin < agents; origin++) {
        if (message->origins == NULL ? origin > 0 : !tacit_bits_has(message->origins, origin))
            continue;
        size_t const row = message->origins == NULL ? 0 : origin;
        trace_log_say(&trace->log, " (");
        for (uint32_t i = 0; i < message->sum_count; i++)
            trace_log_say(&trace->log, "%s%lld", i == 0 ? "" : " ",
                          (long long)message->sums[row * stride + i].steps);
        trace_log_say(&trace->log, ")");
    }
}

static void say_message(struct trace *trace, uint32_t who, const struct tacit_elim_message *message)
{
    static const char *const kinds[] = {"hello", "order", "report", "advert", "request", "data"};
    uint32_t const agents = trace->setup.base.agent_count;
    begin_line(trace, who);
    say_address(trace, message->to);
    trace_log_say(&trace->log, " %s epoch %u%s", kinds[message->kind], message->epoch,
                  message->last ? " last" : "");
    if (message->arms != NULL) {
        trace_log_say(&trace->log, " S %llu", (unsigned long long)message->pulls);
        trace_log_set(&trace->log, "arms", message->arms, ARMS);
    }
    if (message->agents > 0)
        trace_log_say(&trace->log, " agents %u", message->agents);
    if (message->origins != NULL)
        trace_log_set(&trace->log, "of", message->origins, agents);
    if (message->sum_count > 0)
        say_rows(trace, message);
    trace_log_say(&trace->log, ", %zu bytes\n",
                  tacit_wire_bytes(WIRE(elim, ARMS, agents), message));
}

static void say_peer(struct trace *trace, uint32_t who)
{
    struct peer_core const *const core = &trace->peers[who];
    struct tacit_elim_peer_view const view = peer_view(core);
    begin_line(trace, who);
    trace_log_say(&trace->log, "persist%s epoch %u pulls %llu released %llu",
                  core->update.persist_table ? "+" : "", view.agent.epoch,
                  (unsigned long long)view.agent.pull_count,
                  (unsigned long long)view.agent.release_epoch);
    trace_log_set(&trace->log, "knows", view.known, trace->setup.base.agent_count);
    if (view.round_count > 0) {
        trace_log_say(&trace->log, " rounds %u radius %.6f", view.round_count, view.radius);
        trace_log_set(&trace->log, "arms", view.arms, ARMS);
    }
    trace_log_say(&trace->log, "%s%s\n", view.agent.finished ? " finished" : "",
                  view.agent.halted ? " halted" : "");
}

static void say_hub(struct trace *trace)
{
    struct tacit_elim_hub_view const view = driver_hub_view(&trace->hub);
    begin_line(trace, trace->setup.base.agent_count);
    trace_log_say(&trace->log, "persist epoch %u rounds %u missing %u covered %u radius %.6f",
                  view.epoch, view.round_count, view.reports_missing, view.covered_count,
                  view.radius);
    trace_log_set(&trace->log, "arms", view.arms, ARMS);
    trace_log_say(&trace->log, "%s\n", view.overdue ? " overdue" : "");
}

static void say_plan(struct trace *trace, uint32_t who, const struct tacit_elim_update *update)
{
    begin_line(trace, who);
    trace_log_say(&trace->log, "plan");
    for (uint32_t i = 0; i < update->plan_count; i++)
        trace_log_say(&trace->log, " %u:%llu", update->plan[i].arm,
                      (unsigned long long)update->plan[i].count);
    trace_log_say(&trace->log, "\n");
}

/* ---- Mail ------------------------------------------------------------------------------------ */

static void post(struct trace *trace, uint32_t to, const struct tacit_elim_message *message)
{
    uint32_t const agents = trace->setup.base.agent_count;
    void *const memory = testing_malloc(tacit_elim_message_size(message, ARMS, agents));
    assert_in_range(trace->mail_count, 0, MAIL_MAX - 1);
    (void)tacit_elim_message_copy(message, ARMS, agents, memory);
    trace->mail[trace->mail_count++] = (struct envelope){to, memory};
}

static void send(struct trace *trace, const struct tacit_elim_message *message)
{
    struct tacit_graph const *const graph = &trace->network->graph;
    uint32_t const agents = trace->setup.base.agent_count;
    if (message->to == TACIT_HUB)
        post(trace, agents, message);
    else if (message->to == TACIT_EVERYONE)
        for (uint32_t agent = 0; agent < agents; agent++)
            post(trace, agent, message);
    else if (message->to == TACIT_NEIGHBOURS)
        for (uint64_t i = graph->first[message->from]; i < graph->first[message->from + 1]; i++)
            post(trace, graph->neighbours[i], message);
    else
        post(trace, message->to, message);
}

static struct envelope take_envelope(struct trace *trace, size_t index)
{
    struct envelope const envelope = trace->mail[index];
    trace->mail_count--;
    memmove(trace->mail + index, trace->mail + index + 1,
            (trace->mail_count - index) * sizeof *trace->mail);
    return envelope;
}

/* The first envelope of this kind to this one gets lost. */
static void lose(struct trace *trace, enum tacit_elim_message_kind kind, uint32_t to)
{
    for (size_t i = 0; i < trace->mail_count; i++)
        if (trace->mail[i].message->kind == kind && trace->mail[i].to == to) {
            testing_free(take_envelope(trace, i).message);
            return;
        }
    fail();
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void after_step(struct trace *trace, uint32_t who, enum tacit_status status,
                       const struct tacit_elim_update *update, uint64_t deadline_us, size_t size)
{
    if (status != TACIT_OK) {
        begin_line(trace, who);
        trace_log_say(&trace->log, "refuse %s\n", trace_log_status(status));
    }
    if (update->persist && who == trace->setup.base.agent_count)
        say_hub(trace);
    else if (update->persist)
        say_peer(trace, who);
    if (update->send) {
        say_message(trace, who, &update->message);
        send(trace, &update->message);
    }
    if (update->plan_count > 0) {
        say_plan(trace, who, update);
        memcpy(trace->plans[who], update->plan, update->plan_count * sizeof *update->plan);
        trace->plan_counts[who] = update->plan_count;
    }
    if (update->deadline_us != deadline_us && update->deadline_us != TACIT_NEVER) {
        begin_line(trace, who);
        trace_log_say(&trace->log, "timer %llu\n", (unsigned long long)update->deadline_us);
    }
    if (trace->log.size == size) {
        begin_line(trace, who);
        trace_log_say(&trace->log, "nothing\n");
    }
}

static void step(struct trace *trace, uint32_t who, struct tacit_event event)
{
    size_t const size = trace->log.size;
    if (who == trace->setup.base.agent_count) {
        uint64_t const deadline_us = trace->hub.update.deadline_us;
        trace->hub.now_us = trace->now_us;
        enum tacit_status const status = driver_step(&trace->hub, event);
        after_step(trace, who, status, &trace->hub.update, deadline_us, size);
        return;
    }
    struct peer_core *const core = &trace->peers[who];
    uint64_t const deadline_us = core->update.deadline_us;
    core->now_us = trace->now_us;
    enum tacit_status const status = peer_step(core, event);
    after_step(trace, who, status, &core->update, deadline_us, size);
}

/* Delivers so many envelopes, and what they bring, in the order in which they were sent. */
static void deliver(struct trace *trace, uint32_t count)
{
    for (uint32_t i = 0; i < count && trace->mail_count > 0; i++) {
        struct envelope const envelope = take_envelope(trace, 0);
        step(trace, envelope.to, driver_receive(envelope.message));
        testing_free(envelope.message);
    }
}

/* Serves the open plan of one peer; the rewards of all its arms come at one time. */
static void play(struct trace *trace, uint32_t who)
{
    struct peer_core *const core = &trace->peers[who];
    struct tacit_pull_block plan[ARMS];
    uint32_t const count = trace->plan_counts[who];
    memcpy(plan, trace->plans[who], sizeof plan);
    core->now_us = trace->now_us;
    for (uint32_t i = 0; i < count; i++) {
        union tacit_sum sum = {.steps = 0};
        tacit_sum_add_reward(&core->config.agent.mechanism.scale, &sum, means[plan[i].arm],
                             plan[i].count);
        if (i + 1 < count)
            peer_expect(core, driver_reward(plan[i].arm, plan[i].count, sum), TACIT_OK);
        else
            step(trace, who, driver_reward(plan[i].arm, plan[i].count, sum));
    }
}

static void play_all(struct trace *trace)
{
    for (uint32_t agent = 0; agent < trace->setup.base.agent_count; agent++)
        play(trace, agent);
}

/* The timers that run off at the next time at which any does. Result: is there one? */
static bool next_slot(struct trace *trace)
{
    uint64_t next_us = TACIT_NEVER;
    uint32_t const agents = trace->setup.base.agent_count;
    for (uint32_t agent = 0; agent < agents; agent++)
        if (trace->peers[agent].update.deadline_us < next_us)
            next_us = trace->peers[agent].update.deadline_us;
    if (next_us == TACIT_NEVER)
        return false;
    trace->now_us = next_us;
    for (uint32_t agent = 0; agent < agents; agent++)
        if (trace->peers[agent].update.deadline_us == next_us)
            step(trace, agent, driver_timeout());
    return true;
}

static void crash_and_restart(struct trace *trace, uint32_t who)
{
    peer_move(&trace->peers[who]);
    step(trace, who, driver_start());
}

/* ---- Scenarios ------------------------------------------------------------------------------- */

static struct trace *open_trace(const struct peer_setup *setup,
                                const struct tacit_graph_spec *specs, uint32_t spec_count)
{
    struct trace *const trace = testing_calloc(1, sizeof *trace);
    trace->setup = *setup;
    trace->network = network_new(specs, spec_count, 1);
    uint32_t const agents = trace->network->graph.agent_count;
    for (uint32_t agent = 0; agent < agents; agent++) {
        trace->peers[agent] = peer_open(setup, trace->network, agent, NULL);
        step(trace, agent, driver_start());
    }
    trace->has_hub = setup->collection == TACIT_ELIM_GATHER;
    if (!trace->has_hub)
        return trace;
    for (uint32_t i = 0; i < trace->network->component_count; i++)
        trace->weights[trace->network->components[i].sink] =
            trace->network->components[i].agent_count;
    trace->hub = driver_hub_open(&setup->base);
    trace->hub.hub_config.weights = trace->weights;
    assert_int_equal(tacit_elim_hub_init(trace->hub.state, &trace->hub.hub_config), TACIT_OK);
    step(trace, agents, driver_start());
    return trace;
}

static void close_trace(struct trace *trace, const char *wanted)
{
    trace_log_end(&trace->log, wanted);
    for (size_t i = 0; i < trace->mail_count; i++)
        testing_free(trace->mail[i].message);
    network_free(trace->network);
    testing_free(trace);
}

/* ---- A path of three ------------------------------------------------------------------------- */

static const char path_log[] =
    "[   0] p0 persist epoch 1 pulls 0 released 0 knows none\n"
    "[   0] p0 plan 0:157 1:157 2:157\n"
    "[   0] p1 persist epoch 1 pulls 0 released 0 knows none\n"
    "[   0] p1 plan 0:157 1:157 2:157\n"
    "[   0] p2 persist epoch 1 pulls 0 released 0 knows none\n"
    "[   0] p2 plan 0:157 1:157 2:157\n"
    "--- everybody has played its plan: first slot\n"
    "[1000] p0 persist+ epoch 1 pulls 471 released 1 knows 0\n"
    "[1000] p0 -> neighbours advert epoch 1 of 0, 35 bytes\n"
    "[1000] p0 timer 1100\n"
    "[1000] p1 persist+ epoch 1 pulls 471 released 1 knows 1\n"
    "[1000] p1 -> neighbours advert epoch 1 of 1, 35 bytes\n"
    "[1000] p1 timer 1100\n"
    "[1000] p2 persist+ epoch 1 pulls 471 released 1 knows 2\n"
    "[1000] p2 -> neighbours advert epoch 1 of 2, 35 bytes\n"
    "[1000] p2 timer 1100\n"
    "[1000] p1 -> p0 request epoch 1 of 0, 35 bytes\n"
    "[1000] p0 -> p1 request epoch 1 of 1, 35 bytes\n"
    "[1000] p2 -> p1 request epoch 1 of 1, 35 bytes\n"
    "[1000] p1 -> p2 request epoch 1 of 2, 35 bytes\n"
    "[1000] p0 -> p1 data epoch 1 S 157 arms 012 of 0 (123469824 41156608 115238471), 80 bytes\n"
    "[1000] p1 -> p0 data epoch 1 S 157 arms 012 of 1 (123469824 41156608 115238471), 80 bytes\n"
    "[1000] p1 -> p2 data epoch 1 S 157 arms 012 of 1 (123469824 41156608 115238471), 80 bytes\n"
    "[1000] p2 -> p1 data epoch 1 S 157 arms 012 of 2 (123469824 41156608 115238471), 80 bytes\n"
    "[1000] p1 persist+ epoch 1 pulls 471 released 1 knows 01\n"
    "[1000] p1 timer 1001\n"
    "[1000] p0 persist+ epoch 1 pulls 471 released 1 knows 01\n"
    "[1000] p0 timer 1001\n"
    "[1000] p2 persist+ epoch 1 pulls 471 released 1 knows 12\n"
    "[1000] p2 timer 1001\n"
    "[1000] p1 persist+ epoch 1 pulls 471 released 1 knows 012\n"
    "--- second slot: what came in goes on; the round is over when it is complete\n"
    "[1001] p0 persist epoch 1 pulls 471 released 1 knows 01\n"
    "[1001] p0 -> neighbours advert epoch 1 of 1, 35 bytes\n"
    "[1001] p0 timer 1100\n"
    "[1001] p1 persist epoch 2 pulls 471 released 1 knows none rounds 1 radius 0.124882 arms 02\n"
    "[1001] p1 -> neighbours advert epoch 1 of 02, 35 bytes\n"
    "[1001] p1 plan 0:512 2:512\n"
    "[1001] p2 persist epoch 1 pulls 471 released 1 knows 12\n"
    "[1001] p2 -> neighbours advert epoch 1 of 1, 35 bytes\n"
    "[1001] p2 timer 1100\n"
    "[1001] p1 nothing\n"
    "[1001] p0 -> p1 request epoch 1 of 2, 35 bytes\n"
    "[1001] p2 -> p1 request epoch 1 of 0, 35 bytes\n"
    "[1001] p1 nothing\n"
    "[1001] p1 -> p0 data epoch 1 S 157 arms 012 of 2 (123469824 41156608 115238471), 80 bytes\n"
    "[1001] p1 -> p2 data epoch 1 S 157 arms 012 of 0 (123469824 41156608 115238471), 80 bytes\n"
    "[1001] p0 persist+ epoch 2 pulls 471 released 1 knows none rounds 1 radius 0.124882 arms 02\n"
    "[1001] p0 plan 0:512 2:512\n"
    "[1001] p2 persist+ epoch 2 pulls 471 released 1 knows none rounds 1 radius 0.124882 arms 02\n"
    "[1001] p2 plan 0:512 2:512\n";

/* With the clock of the simulator: d_G = 2, so a round is over one slot after the reports. */
TEST(path_of_three_spreads_its_reports_slot_by_slot_like_this)
{
    static const struct tacit_graph_spec path = {.kind = TACIT_GRAPH_PATH, .agent_count = 3};
    struct peer_setup setup = peer_setup_plain(3, ARMS, 100000);
    setup.slot_us = 1;
    setup.has_clock = true;
    setup.round_us = 1;
    struct trace *const trace = open_trace(&setup, &path, 1);
    trace->now_us = 1000;
    note(trace, "everybody has played its plan: first slot");
    play_all(trace);
    deliver(trace, MAIL_MAX);
    note(trace, "second slot: what came in goes on; the round is over when it is complete");
    assert_true(next_slot(trace));
    deliver(trace, MAIL_MAX);
    close_trace(trace, path_log);
}

/* ---- A path of three in trouble -------------------------------------------------------------- */

static const char trouble_log[] =
    "[   0] p0 persist epoch 1 pulls 0 released 0 knows none\n"
    "[   0] p0 plan 0:157 1:157 2:157\n"
    "[   0] p1 persist epoch 1 pulls 0 released 0 knows none\n"
    "[   0] p1 plan 0:157 1:157 2:157\n"
    "[   0] p2 persist epoch 1 pulls 0 released 0 knows none\n"
    "[   0] p2 plan 0:157 1:157 2:157\n"
    "--- no clock; all have played; what p1 was to hear is lost\n"
    "[  10] p0 persist+ epoch 1 pulls 471 released 1 knows 0\n"
    "[  10] p0 -> neighbours advert epoch 1 of 0, 35 bytes\n"
    "[  10] p0 timer 110\n"
    "[  10] p1 persist+ epoch 1 pulls 471 released 1 knows 1\n"
    "[  10] p1 -> neighbours advert epoch 1 of 1, 35 bytes\n"
    "[  10] p1 timer 110\n"
    "[  10] p2 persist+ epoch 1 pulls 471 released 1 knows 2\n"
    "[  10] p2 -> neighbours advert epoch 1 of 2, 35 bytes\n"
    "[  10] p2 timer 110\n"
    "[  10] p0 -> p1 request epoch 1 of 1, 35 bytes\n"
    "[  10] p2 -> p1 request epoch 1 of 1, 35 bytes\n"
    "[  10] p1 -> p0 data epoch 1 S 157 arms 012 of 1 (125071795 41177591 118132538), 80 bytes\n"
    "[  10] p1 -> p2 data epoch 1 S 157 arms 012 of 1 (125071795 41177591 118132538), 80 bytes\n"
    "[  10] p0 persist+ epoch 1 pulls 471 released 1 knows 01\n"
    "[  10] p0 timer 11\n"
    "[  10] p2 persist+ epoch 1 pulls 471 released 1 knows 12\n"
    "[  10] p2 timer 11\n"
    "--- p1 gets a row that it has not asked for\n"
    "[  10] p1 refuse TACIT_UNEXPECTED\n"
    "--- it dies and comes back; before it gets what it asks for, an impossible row comes\n"
    "[  10] p1 -> neighbours hello epoch 1 of 1, 35 bytes\n"
    "[  10] p1 timer 210\n"
    "[  10] p0 -> p1 advert epoch 1 of 0, 35 bytes\n"
    "[  10] p2 -> p1 advert epoch 1 of 2, 35 bytes\n"
    "[  10] p1 -> p0 request epoch 1 of 0, 35 bytes\n"
    "[  10] p1 -> p2 request epoch 1 of 2, 35 bytes\n"
    "[  10] p1 refuse TACIT_MALFORMED\n"
    "[  10] p0 -> p1 data epoch 1 S 157 arms 012 of 0 (122883876 43694845 114730949), 80 bytes\n"
    "[  10] p2 -> p1 data epoch 1 S 157 arms 012 of 2 (122306940 40175393 116089346), 80 bytes\n"
    "[  10] p1 persist+ epoch 1 pulls 471 released 1 knows 01\n"
    "[  10] p1 timer 11\n"
    "[  10] p1 persist+ epoch 2 pulls 471 released 1 knows none rounds 1 radius 0.164749 arms 02\n"
    "[  10] p1 -> neighbours advert epoch 1 of 02, 35 bytes\n"
    "[  10] p1 plan 0:512 2:512\n"
    "--- it dies and comes back between two epochs; a stranger says what p2 said\n"
    "[  10] p1 refuse TACIT_STRANGER\n"
    "[  10] p1 -> neighbours hello epoch 2 of none, 34 bytes\n"
    "[  10] p1 plan 0:512 2:512\n"
    "[  10] p0 -> p1 request epoch 1 of 2, 35 bytes\n"
    "[  10] p2 -> p1 request epoch 1 of 0, 35 bytes\n"
    "[  10] p0 nothing\n"
    "[  10] p2 nothing\n"
    "[  10] p1 -> p0 data epoch 1 S 157 arms 012 of 2 (122306940 40175393 116089346), 80 bytes\n"
    "[  10] p1 -> p2 data epoch 1 S 157 arms 012 of 0 (122883876 43694845 114730949), 80 bytes\n"
    "[  10] p0 persist+ epoch 2 pulls 471 released 1 knows none rounds 1 radius 0.164749 arms 02\n"
    "[  10] p0 -> neighbours advert epoch 1 of 12, 35 bytes\n"
    "[  10] p0 plan 0:512 2:512\n"
    "[  10] p2 persist+ epoch 2 pulls 471 released 1 knows none rounds 1 radius 0.164749 arms 02\n"
    "[  10] p2 -> neighbours advert epoch 1 of 01, 35 bytes\n"
    "[  10] p2 plan 0:512 2:512\n"
    "[  10] p1 nothing\n"
    "[  10] p1 nothing\n";

/* What p2 would answer to p1, which has not asked; for testing_free(). */
static struct tacit_elim_message *data_of_p2(struct trace *trace)
{
    static const uint64_t only_2[] = {4};
    struct tacit_elim_message const request = peer_word(TACIT_ELIM_REQUEST, 1, 2, 1, only_2);
    peer_expect(&trace->peers[2], driver_receive(&request), TACIT_OK);
    return peer_keep(&trace->peers[2]);
}

TEST(lost_words_a_crash_and_a_liar_on_a_path_end_like_this)
{
    static const struct tacit_graph_spec path = {.kind = TACIT_GRAPH_PATH, .agent_count = 3};
    struct peer_setup setup = peer_setup_plain(3, ARMS, 100000);
    setup.base.epsilon = 1;
    struct trace *const trace = open_trace(&setup, &path, 1);
    trace->now_us = 10;
    note(trace, "no clock; all have played; what p1 was to hear is lost");
    play_all(trace);
    lose(trace, TACIT_ELIM_ADVERT, 1);
    lose(trace, TACIT_ELIM_ADVERT, 1);
    deliver(trace, MAIL_MAX);
    note(trace, "p1 gets a row that it has not asked for");
    struct tacit_elim_message *const data = data_of_p2(trace);
    step(trace, 1, driver_receive(data));
    note(trace, "it dies and comes back; before it gets what it asks for, an impossible row comes");
    crash_and_restart(trace, 1);
    deliver(trace, 4);
    ((union tacit_sum *)(uintptr_t)data->sums)[0].steps = INT64_MAX;
    step(trace, 1, driver_receive(data));
    deliver(trace, 4);
    note(trace, "it dies and comes back between two epochs; a stranger says what p2 said");
    data->from = 0;
    data->run_id++;
    step(trace, 1, driver_receive(data));
    crash_and_restart(trace, 1);
    deliver(trace, MAIL_MAX);
    close_trace(trace, trouble_log);
}

/* ---- Two components under a hub -------------------------------------------------------------- */

static const char hybrid_log[] =
    "[   0] p0 timer 100\n"
    "[   0] p1 timer 100\n"
    "[   0] p2 timer 100\n"
    "[   0] p3 timer 100\n"
    "[   0] p4 timer 100\n"
    "[   0] hub persist epoch 1 rounds 0 missing 2 covered 0 radius 0.000000 arms 012\n"
    "[   0] hub -> all order epoch 1 S 75 arms 012, 56 bytes\n"
    "--- the order of epoch 1\n"
    "[  10] p0 persist epoch 1 pulls 0 released 0 knows none\n"
    "[  10] p0 plan 0:75 1:75 2:75\n"
    "[  10] p1 persist epoch 1 pulls 0 released 0 knows none\n"
    "[  10] p1 plan 0:75 1:75 2:75\n"
    "[  10] p2 persist epoch 1 pulls 0 released 0 knows none\n"
    "[  10] p2 plan 0:75 1:75 2:75\n"
    "[  10] p3 persist epoch 1 pulls 0 released 0 knows none\n"
    "[  10] p3 plan 0:75 1:75 2:75\n"
    "[  10] p4 persist epoch 1 pulls 0 released 0 knows none\n"
    "[  10] p4 plan 0:75 1:75 2:75\n"
    "--- everybody has played its plan: first slot; the report of p4 is lost\n"
    "[1000] p0 persist+ epoch 1 pulls 225 released 1 knows 0\n"
    "[1000] p0 -> p1 data epoch 1 S 75 arms 012 of 0 (58982400 19660800 55050225), 80 bytes\n"
    "[1000] p0 timer 1100\n"
    "[1000] p1 persist+ epoch 1 pulls 225 released 1 knows 1\n"
    "[1000] p1 timer 1100\n"
    "[1000] p2 persist+ epoch 1 pulls 225 released 1 knows 2\n"
    "[1000] p2 -> p1 data epoch 1 S 75 arms 012 of 2 (58982400 19660800 55050225), 80 bytes\n"
    "[1000] p2 timer 1100\n"
    "[1000] p3 persist+ epoch 1 pulls 225 released 1 knows 3\n"
    "[1000] p3 timer 1100\n"
    "[1000] p4 persist+ epoch 1 pulls 225 released 1 knows 4\n"
    "[1000] p4 -> p3 data epoch 1 S 75 arms 012 of 4 (58982400 19660800 55050225), 80 bytes\n"
    "[1000] p4 timer 1100\n"
    "[1000] p1 persist+ epoch 1 pulls 225 released 1 knows 01\n"
    "[1000] p1 persist+ epoch 1 pulls 225 released 1 knows 012\n"
    "[1000] p1 timer 1001\n"
    "--- second slot: the sink of the path reports\n"
    "[1001] p1 persist epoch 1 pulls 225 released 1 knows 012\n"
    "[1001] p1 -> hub report epoch 1 S 75 arms 012 agents 3 (176947200 58982400 165150675), 77 "
    "bytes\n"
    "[1001] p1 timer 1100\n"
    "[1001] hub persist epoch 1 rounds 0 missing 1 covered 3 radius 0.000000 arms 012\n"
    "--- the timers: all say again what they have said, and the sink of the pair asks\n"
    "[1100] p0 persist epoch 1 pulls 225 released 1 knows 0\n"
    "[1100] p0 -> p1 data epoch 1 S 75 arms 012 of 0 (58982400 19660800 55050225), 80 bytes\n"
    "[1100] p0 timer 1300\n"
    "[1100] p1 persist epoch 1 pulls 225 released 1 knows 012\n"
    "[1100] p1 -> hub report epoch 1 S 75 arms 012 agents 3 (176947200 58982400 165150675), 77 "
    "bytes\n"
    "[1100] p1 timer 1300\n"
    "[1100] p2 persist epoch 1 pulls 225 released 1 knows 2\n"
    "[1100] p2 -> p1 data epoch 1 S 75 arms 012 of 2 (58982400 19660800 55050225), 80 bytes\n"
    "[1100] p2 timer 1300\n"
    "[1100] p3 -> hub hello epoch 1, 27 bytes\n"
    "[1100] p3 timer 1300\n"
    "[1100] p4 persist epoch 1 pulls 225 released 1 knows 4\n"
    "[1100] p4 -> p3 data epoch 1 S 75 arms 012 of 4 (58982400 19660800 55050225), 80 bytes\n"
    "[1100] p4 timer 1300\n"
    "[1100] p1 -> p0 advert epoch 1 of 012, 35 bytes\n"
    "[1100] hub nothing\n"
    "[1100] p1 -> p2 advert epoch 1 of 012, 35 bytes\n"
    "[1100] hub nothing\n"
    "[1100] p3 persist+ epoch 1 pulls 225 released 1 knows 34\n"
    "[1100] p3 timer 1101\n"
    "[1100] p0 nothing\n"
    "[1100] p2 nothing\n"
    "[1101] p3 persist epoch 1 pulls 225 released 1 knows 34\n"
    "[1101] p3 -> hub report epoch 1 S 75 arms 012 agents 2 (117964800 39321600 110100450), 77 "
    "bytes\n"
    "[1101] p3 timer 1300\n"
    "[1101] hub persist epoch 2 rounds 1 missing 2 covered 0 radius 0.124875 arms 02\n"
    "[1101] hub -> all order epoch 2 S 325 arms 02, 56 bytes\n"
    "[1101] p0 persist epoch 2 pulls 225 released 1 knows none\n"
    "[1101] p0 plan 0:250 2:250\n"
    "[1101] p1 persist epoch 2 pulls 225 released 1 knows none\n"
    "[1101] p1 plan 0:250 2:250\n"
    "[1101] p2 persist epoch 2 pulls 225 released 1 knows none\n"
    "[1101] p2 plan 0:250 2:250\n"
    "[1101] p3 persist epoch 2 pulls 225 released 1 knows none\n"
    "[1101] p3 plan 0:250 2:250\n"
    "[1101] p4 persist epoch 2 pulls 225 released 1 knows none\n"
    "[1101] p4 plan 0:250 2:250\n";

TEST(hub_above_a_path_of_three_and_a_pair_gathers_like_this)
{
    static const struct tacit_graph_spec components[] = {
        {.kind = TACIT_GRAPH_PATH, .agent_count = 3}, {.kind = TACIT_GRAPH_PATH, .agent_count = 2}};
    struct peer_setup setup = peer_setup_plain(5, ARMS, 5000);
    setup.collection = TACIT_ELIM_GATHER;
    setup.slot_us = 1;
    struct trace *const trace = open_trace(&setup, components, 2);
    note(trace, "the order of epoch 1");
    trace->now_us = 10;
    deliver(trace, MAIL_MAX);
    note(trace, "everybody has played its plan: first slot; the report of p4 is lost");
    trace->now_us = 1000;
    play_all(trace);
    lose(trace, TACIT_ELIM_DATA, 3);
    deliver(trace, MAIL_MAX);
    note(trace, "second slot: the sink of the path reports");
    assert_true(next_slot(trace));
    deliver(trace, MAIL_MAX);
    note(trace, "the timers: all say again what they have said, and the sink of the pair asks");
    while (next_slot(trace))
        deliver(trace, MAIL_MAX);
    close_trace(trace, hybrid_log);
}
