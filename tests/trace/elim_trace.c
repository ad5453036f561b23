/* Scenarios of epoch elimination as readable logs: who refused what, who sent how many bytes, what
 * was made durable before. A changed log is a changed protocol: commit only what you can explain.
 *
 * To record a log anew: TACIT_TRACE_RECORD=1 elim_trace prints the logs as C strings and compares
 * nothing. */
#include "../support/wire_shape.h"
#include <math.h>
#include "../support/testing.h"
#include "tacit/wire_elim.h"
#include "../support/trace_log.h"
#include "../support/elim_driver.h"

#define AGENTS 2u
#define ARMS 3u

static const double usual_means[ARMS] = {0.75, 0.25, 0.6};
static const double close_means[ARMS] = {0.75, 0.25, 0.7};

struct trace {
    struct driver_setup setup;
    const double *means;
    struct driver_core hub;
    struct driver_core agents[AGENTS];
    struct trace_log log;
};

/* ---- Writing the log ------------------------------------------------------------------------- */

/* What happens from outside to the scenario. */
static void note(struct trace *trace, const char *text)
{
    trace_log_say(&trace->log, "--- %s\n", text);
}

static const char *name_of(const struct trace *trace, const struct driver_core *core)
{
    static const char *const names[AGENTS] = {"a0", "a1"};
    return core->is_hub ? "hub" : names[core - trace->agents];
}

static void begin_line(struct trace *trace, const struct driver_core *core)
{
    trace_log_say(&trace->log, "[%4llu] %s ", (unsigned long long)core->now_us,
                  name_of(trace, core));
}

static void say_message(struct trace *trace, const struct tacit_elim_message *message)
{
    static const char *const kinds[] = {"hello", "order", "report"};
    if (message->to == TACIT_HUB)
        trace_log_say(&trace->log, "-> hub");
    else if (message->to == TACIT_EVERYONE)
        trace_log_say(&trace->log, "-> all");
    else
        trace_log_say(&trace->log, "-> a%u", message->to);
    trace_log_say(&trace->log, " %s epoch %u", kinds[message->kind], message->epoch);
    if (message->last)
        trace_log_say(&trace->log, " last");
    if (message->kind == TACIT_ELIM_ORDER && message->to != TACIT_EVERYONE)
        trace_log_say(&trace->log, " seen %u", message->seen);
    if (message->arms != NULL) {
        trace_log_say(&trace->log, " S %llu", (unsigned long long)message->pulls);
        trace_log_set(&trace->log, "arms", message->arms, ARMS);
    }
    if (message->uploaders != NULL)
        trace_log_set(&trace->log, "asks", message->uploaders, AGENTS);
    for (uint32_t i = 0; i < message->sum_count; i++)
        trace_log_say(&trace->log, "%s%lld", i == 0 ? " sums " : " ",
                      (long long)message->sums[i].steps);
    trace_log_say(&trace->log, " (%zu bytes)\n",
                  tacit_wire_bytes(WIRE(elim, ARMS, AGENTS), message));
}

static void say_persist(struct trace *trace, const struct driver_core *core)
{
    begin_line(trace, core);
    if (core->is_hub) {
        struct tacit_elim_hub_view const view = driver_hub_view(core);
        trace_log_say(&trace->log, "persist epoch %u rounds %u missing %u radius %.6f", view.epoch,
                      view.round_count, view.reports_missing, view.radius);
        trace_log_set(&trace->log, "arms", view.arms, ARMS);
        trace_log_say(&trace->log, "%s", view.overdue ? " overdue" : "");
    } else {
        struct tacit_elim_agent_view const view = driver_agent_view(core);
        trace_log_say(&trace->log, "persist epoch %u pulls %llu released %llu spent %llu%s%s",
                      view.epoch, (unsigned long long)view.pull_count,
                      (unsigned long long)view.release_epoch,
                      (unsigned long long)tacit_ledger_spent_nano(view.ledger),
                      view.finished ? " finished" : "",
                      view.halted      ? " halted"
                      : view.releasing ? " releasing"
                                       : "");
    }
    trace_log_say(&trace->log, "\n");
}

static void say_plan(struct trace *trace, const struct driver_core *core)
{
    begin_line(trace, core);
    trace_log_say(&trace->log, "plan");
    for (uint32_t i = 0; i < core->update.plan_count; i++)
        trace_log_say(&trace->log, " %u:%llu", core->update.plan[i].arm,
                      (unsigned long long)core->update.plan[i].count);
    trace_log_say(&trace->log, "\n");
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void step(struct trace *trace, struct driver_core *core, struct tacit_event event)
{
    uint64_t const deadline_us = core->update.deadline_us;
    size_t const size = trace->log.size;
    enum tacit_status const status = driver_step(core, event);
    struct tacit_elim_update const *const update = &core->update;
    if (status != TACIT_OK) {
        begin_line(trace, core);
        trace_log_say(&trace->log, "refuse %s\n", trace_log_status(status));
    }
    if (update->persist)
        say_persist(trace, core);
    if (update->send) {
        begin_line(trace, core);
        say_message(trace, &update->message);
    }
    if (update->plan_count > 0)
        say_plan(trace, core);
    if (update->deadline_us != deadline_us && update->deadline_us != TACIT_NEVER) {
        begin_line(trace, core);
        trace_log_say(&trace->log, "timer %llu\n", (unsigned long long)update->deadline_us);
    }
    if (trace->log.size == size) {
        begin_line(trace, core);
        trace_log_say(&trace->log, "nothing\n");
    }
}

static void receive(struct trace *trace, struct driver_core *core,
                    const struct tacit_elim_message *message)
{
    step(trace, core, driver_receive(message));
}

/* Rewards of `count` pulls of one arm. */
static void pull(struct trace *trace, struct driver_core *agent, uint32_t arm, uint64_t count)
{
    union tacit_sum sum = {.steps = 0};
    tacit_sum_add_reward(&agent->scale, &sum, trace->means[arm], count);
    step(trace, agent, driver_reward(arm, count, sum));
}

static void play(struct trace *trace, struct driver_core *agent)
{
    struct tacit_pull_block plan[ARMS];
    uint32_t const count = agent->update.plan_count;
    assert_in_range(count, 1, ARMS);
    memcpy(plan, agent->update.plan, count * sizeof *plan);
    for (uint32_t i = 0; i < count; i++)
        pull(trace, agent, plan[i].arm, plan[i].count);
}

static void crash_and_restart(struct trace *trace, struct driver_core *core)
{
    driver_move(core);
    step(trace, core, driver_start());
}

static void set_clock(struct trace *trace, uint64_t now_us)
{
    trace->hub.now_us = now_us;
    for (uint32_t agent = 0; agent < AGENTS; agent++)
        trace->agents[agent].now_us = now_us;
}

static struct driver_setup setup_of(double epsilon)
{
    struct driver_setup setup = driver_setup_plain(AGENTS, ARMS, 4000);
    setup.epsilon = epsilon;
    return setup;
}

static struct trace *open_trace(struct driver_setup setup, const double *means)
{
    struct trace *const trace = testing_calloc(1, sizeof *trace);
    trace->setup = setup;
    trace->means = means;
    trace->hub = driver_hub_open(&trace->setup);
    for (uint32_t agent = 0; agent < AGENTS; agent++) {
        trace->agents[agent] = driver_agent_open(&trace->setup, agent);
        step(trace, &trace->agents[agent], driver_start());
    }
    step(trace, &trace->hub, driver_start());
    return trace;
}

static void close_trace(struct trace *trace, const char *wanted)
{
    trace_log_end(&trace->log, wanted);
    testing_free(trace);
}

/* ---- A clean run ----------------------------------------------------------------------------- */

static const char clean_log[] =
    "[   0] a0 timer 100\n"
    "[   0] a1 timer 100\n"
    "[   0] hub persist epoch 1 rounds 0 missing 2 radius 0.000000 arms 012\n"
    "[   0] hub -> all order epoch 1 S 184 arms 012 (56 bytes)\n"
    "[  10] a0 persist epoch 1 pulls 0 released 0 spent 0\n"
    "[  10] a0 plan 0:184 1:184 2:184\n"
    "[  10] a0 persist epoch 1 pulls 184 released 0 spent 0\n"
    "[  10] a0 persist epoch 1 pulls 368 released 0 spent 0\n"
    "[  10] a0 persist epoch 1 pulls 552 released 1 spent 0\n"
    "[  10] a0 -> hub report epoch 1 S 184 arms 012 sums 144703488 48234496 115762864 (72 bytes)\n"
    "[  10] a0 timer 110\n"
    "[  10] hub persist epoch 1 rounds 0 missing 1 radius 0.000000 arms 012\n"
    "[  10] a1 persist epoch 1 pulls 0 released 0 spent 0\n"
    "[  10] a1 plan 0:184 1:184 2:184\n"
    "[  10] a1 persist epoch 1 pulls 184 released 0 spent 0\n"
    "[  10] a1 persist epoch 1 pulls 368 released 0 spent 0\n"
    "[  10] a1 persist epoch 1 pulls 552 released 1 spent 0\n"
    "[  10] a1 -> hub report epoch 1 S 184 arms 012 sums 144703488 48234496 115762864 (72 bytes)\n"
    "[  10] a1 timer 110\n"
    "[  10] hub persist epoch 2 rounds 1 missing 2 radius 0.124848 arms 02\n"
    "[  10] hub -> all order epoch 2 S 797 arms 02 (56 bytes)\n"
    "[  20] a0 persist epoch 2 pulls 552 released 1 spent 0\n"
    "[  20] a0 plan 0:613 2:613\n"
    "[  20] a0 persist epoch 2 pulls 1165 released 1 spent 0\n"
    "[  20] a0 persist epoch 2 pulls 1778 released 2 spent 0\n"
    "[  20] a0 -> hub report epoch 2 S 797 arms 02 sums 626786304 501429362 (64 bytes)\n"
    "[  20] a0 timer 120\n"
    "[  20] hub persist epoch 2 rounds 1 missing 1 radius 0.124848 arms 02\n"
    "[  20] a1 persist epoch 2 pulls 552 released 1 spent 0\n"
    "[  20] a1 plan 0:613 2:613\n"
    "[  20] a1 persist epoch 2 pulls 1165 released 1 spent 0\n"
    "[  20] a1 persist epoch 2 pulls 1778 released 2 spent 0\n"
    "[  20] a1 -> hub report epoch 2 S 797 arms 02 sums 626786304 501429362 (64 bytes)\n"
    "[  20] a1 timer 120\n"
    "[  20] hub persist epoch 3 rounds 2 missing 0 radius 0.062500 arms 0\n"
    "[  20] hub -> all order epoch 3 last S 797 arms 0 (56 bytes)\n"
    "[  30] a0 persist epoch 3 pulls 1778 released 2 spent 0\n"
    "[  30] a0 plan 0:2222\n"
    "[  30] a0 persist epoch 3 pulls 4000 released 2 spent 0 finished\n"
    "[  30] a1 persist epoch 3 pulls 1778 released 2 spent 0\n"
    "[  30] a1 plan 0:2222\n"
    "[  30] a1 persist epoch 3 pulls 4000 released 2 spent 0 finished\n";

TEST(clean_run_of_2_agents_and_3_arms_is_this)
{
    struct trace *const trace = open_trace(setup_of(INFINITY), usual_means);
    struct tacit_elim_message *order = driver_keep(&trace->hub);
    for (uint64_t now_us = 10; order != NULL; now_us += 10) {
        set_clock(trace, now_us);
        trace->hub.update.send = false;
        for (uint32_t agent = 0; agent < AGENTS; agent++) {
            struct driver_core *const core = &trace->agents[agent];
            receive(trace, core, order);
            play(trace, core);
            if (core->update.send)
                receive(trace, &trace->hub, &core->update.message);
        }
        testing_free(order);
        order = trace->hub.update.send ? driver_keep(&trace->hub) : NULL;
    }
    close_trace(trace, clean_log);
}

/* ---- A live run without everybody ------------------------------------------------------------ */

static const char live_log[] =
    "[   0] a0 timer 100\n"
    "[   0] a1 timer 100\n"
    "[   0] hub persist epoch 1 rounds 0 missing 2 radius 0.000000 arms 012\n"
    "[   0] hub -> all order epoch 1 S 210 arms 012 (56 bytes)\n"
    "[   0] hub timer 300\n"
    "--- a0 reports and hears that its report is held; a1 is slow\n"
    "[  10] a1 persist epoch 1 pulls 0 released 0 spent 0\n"
    "[  10] a1 plan 0:210 1:210 2:210\n"
    "[  10] a0 persist epoch 1 pulls 0 released 0 spent 0\n"
    "[  10] a0 plan 0:210 1:210 2:210\n"
    "[  10] a0 persist epoch 1 pulls 210 released 0 spent 0\n"
    "[  10] a0 persist epoch 1 pulls 420 released 0 spent 0\n"
    "[  10] a0 persist epoch 1 pulls 630 released 1 spent 0\n"
    "[  10] a0 -> hub report epoch 1 S 210 arms 012 sums 165150720 55050240 154140630 (72 bytes)\n"
    "[  10] a0 timer 110\n"
    "[  10] hub persist epoch 1 rounds 0 missing 1 radius 0.000000 arms 012\n"
    "[  10] hub -> a0 order epoch 1 seen 1 S 210 arms 012 (56 bytes)\n"
    "[  10] a0 nothing\n"
    "--- a0 waits: it says hello now, and is answered\n"
    "[ 110] a0 -> hub hello epoch 1 (27 bytes)\n"
    "[ 110] a0 timer 210\n"
    "[ 110] hub -> a0 order epoch 1 seen 1 S 210 arms 012 (56 bytes)\n"
    "[ 110] a0 nothing\n"
    "--- the deadline: one report is enough\n"
    "[ 300] hub persist epoch 2 rounds 1 missing 2 radius 0.176484 arms 02\n"
    "[ 300] hub -> all order epoch 2 S 900 arms 02 (56 bytes)\n"
    "[ 300] hub timer 600\n"
    "--- a1 reports epoch 1 too late; both do epoch 2\n"
    "[ 300] a1 -> hub hello epoch 1 (27 bytes)\n"
    "[ 300] a1 plan 0:210 1:210 2:210\n"
    "[ 300] a1 persist epoch 1 pulls 210 released 0 spent 0\n"
    "[ 300] a1 persist epoch 1 pulls 420 released 0 spent 0\n"
    "[ 300] a1 persist epoch 1 pulls 630 released 1 spent 0\n"
    "[ 300] a1 -> hub report epoch 1 S 210 arms 012 sums 165150720 55050240 154140630 (72 bytes)\n"
    "[ 300] a1 timer 400\n"
    "[ 300] hub -> a1 order epoch 2 seen 0 S 900 arms 02 (56 bytes)\n"
    "[ 300] a1 persist epoch 2 pulls 630 released 1 spent 0\n"
    "[ 300] a1 plan 0:690 2:690\n"
    "[ 300] a1 persist epoch 2 pulls 1320 released 1 spent 0\n"
    "[ 300] a1 persist epoch 2 pulls 2010 released 2 spent 0\n"
    "[ 300] a1 -> hub report epoch 2 S 900 arms 02 sums 707788800 660602700 (64 bytes)\n"
    "[ 300] a1 timer 400\n"
    "[ 300] hub persist epoch 2 rounds 1 missing 1 radius 0.176484 arms 02\n"
    "[ 300] hub -> a1 order epoch 2 seen 2 S 900 arms 02 (56 bytes)\n"
    "[ 300] a0 persist epoch 2 pulls 630 released 1 spent 0\n"
    "[ 300] a0 plan 0:690 2:690\n"
    "[ 300] a0 persist epoch 2 pulls 1320 released 1 spent 0\n"
    "[ 300] a0 persist epoch 2 pulls 2010 released 2 spent 0\n"
    "[ 300] a0 -> hub report epoch 2 S 900 arms 02 sums 707788800 660602700 (64 bytes)\n"
    "[ 300] a0 timer 400\n"
    "[ 300] hub persist epoch 3 rounds 2 missing 2 radius 0.062500 arms 02\n"
    "[ 300] hub -> all order epoch 3 S 3808 arms 02 (56 bytes)\n"
    "--- the disk of a1 is put back to epoch 1: it is found out before it releases\n"
    "[ 400] a1 -> hub hello epoch 1 (27 bytes)\n"
    "[ 400] a1 plan 0:210 1:210 2:210\n"
    "[ 400] hub -> a1 order epoch 3 seen 2 S 3808 arms 02 (56 bytes)\n"
    "[ 400] a1 refuse TACIT_ROLLBACK\n"
    "[ 400] a1 persist epoch 1 pulls 0 released 0 spent 0 halted\n"
    "--- a1 is out; at the deadline nobody has reported, and the hub dies and comes back\n"
    "[ 599] hub nothing\n"
    "[ 600] hub persist epoch 3 rounds 2 missing 2 radius 0.062500 arms 02 overdue\n"
    "[ 600] hub -> all order epoch 3 S 3808 arms 02 (56 bytes)\n"
    "--- the report of a0 is enough; epoch 4 is more than its policy allows\n"
    "[ 600] a0 persist epoch 3 pulls 2010 released 2 spent 0\n"
    "[ 600] a0 plan 0:2908 2:2908\n"
    "[ 600] a0 persist epoch 3 pulls 4918 released 2 spent 0\n"
    "[ 600] a0 persist epoch 3 pulls 7826 released 3 spent 0\n"
    "[ 600] a0 -> hub report epoch 3 S 3808 arms 02 sums 2994733056 2795083424 (64 bytes)\n"
    "[ 600] a0 timer 700\n"
    "[ 600] hub persist epoch 4 rounds 3 missing 2 radius 0.044192 arms 02\n"
    "[ 600] hub -> all order epoch 4 S 15820 arms 02 (56 bytes)\n"
    "[ 600] hub timer 900\n"
    "[ 600] a0 refuse TACIT_REFUSED\n";

/* Rounds of a hub that waits 300 us for 2 reports and is content with 1. */
static struct driver_setup live_setup(void)
{
    struct driver_setup setup = setup_of(INFINITY);
    setup.horizon = 20000;
    setup.quorum = 1;
    setup.round_timeout_us = 300;
    setup.answers_all = true;
    setup.epoch_max = 3;
    return setup;
}

/* The agent gets what the hub says, plays and reports; it gets the hub's answer. */
static void take_part(struct trace *trace, struct driver_core *agent,
                      const struct tacit_elim_message *order)
{
    receive(trace, agent, order);
    play(trace, agent);
    receive(trace, &trace->hub, &agent->update.message);
}

/* Round 1 is closed at its deadline without a1, whose report comes later. Result: a backup of a1.
 */
static struct driver_core round_without_a1(struct trace *trace)
{
    struct driver_core *const a0 = &trace->agents[0];
    struct driver_core *const a1 = &trace->agents[1];
    struct tacit_elim_message *const order = driver_keep(&trace->hub);
    set_clock(trace, 10);
    note(trace, "a0 reports and hears that its report is held; a1 is slow");
    receive(trace, a1, order);
    struct driver_core const slow = driver_copy(a1);
    take_part(trace, a0, order);
    receive(trace, a0, &trace->hub.update.message);
    set_clock(trace, 110);
    note(trace, "a0 waits: it says hello now, and is answered");
    step(trace, a0, driver_timeout());
    receive(trace, &trace->hub, &a0->update.message);
    receive(trace, a0, &trace->hub.update.message);
    set_clock(trace, 300);
    note(trace, "the deadline: one report is enough");
    step(trace, &trace->hub, driver_timeout());
    return slow;
}

/* a1 catches up; then somebody puts a1's backup of epoch 1 back. */
static void rollback_of_a1(struct trace *trace, struct driver_core *backup)
{
    struct driver_core *const a0 = &trace->agents[0];
    struct driver_core *const a1 = &trace->agents[1];
    struct tacit_elim_message *const order = driver_keep(&trace->hub);
    note(trace, "a1 reports epoch 1 too late; both do epoch 2");
    step(trace, a1, driver_start());
    play(trace, a1);
    receive(trace, &trace->hub, &a1->update.message);
    take_part(trace, a1, &trace->hub.update.message);
    take_part(trace, a0, order);
    set_clock(trace, 400);
    backup->now_us = 400;
    note(trace, "the disk of a1 is put back to epoch 1: it is found out before it releases");
    *a1 = *backup;
    step(trace, a1, driver_start());
    receive(trace, &trace->hub, &a1->update.message);
    receive(trace, a1, &trace->hub.update.message);
}

TEST(quorum_a_late_report_a_rollback_and_a_policy_end_like_this)
{
    struct trace *const trace = open_trace(live_setup(), close_means);
    struct driver_core *const a0 = &trace->agents[0];
    struct driver_core backup = round_without_a1(trace);
    rollback_of_a1(trace, &backup);
    note(trace, "a1 is out; at the deadline nobody has reported, and the hub dies and comes back");
    set_clock(trace, 599);
    step(trace, &trace->hub, driver_timeout());
    set_clock(trace, 600);
    step(trace, &trace->hub, driver_timeout());
    crash_and_restart(trace, &trace->hub);
    note(trace, "the report of a0 is enough; epoch 4 is more than its policy allows");
    struct tacit_elim_message *const order = driver_keep(&trace->hub);
    take_part(trace, a0, order);
    receive(trace, a0, &trace->hub.update.message);
    close_trace(trace, live_log);
}
