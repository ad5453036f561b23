/* Gossip UCB, one property at a time: what edges do to the sum of all theta when messages are lost,
 * doubled and late and agents die; hostile messages; incarnations; bounds. Actions are compared
 * with a twin in tests/oracle/gossip_oracle.c. */
#include <math.h>
#include "../support/testing.h"
#include "../support/graph.h"
#include "../../src/proto/gossip/survey.h"
#include "../../src/topo/spectrum.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/scarce.h"
#include "../support/gossip_storm.h"
#include "../support/variants.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x6057905aa6e20d44))
/* Verdicts over damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x75ff8f05cb4b63a4))
#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define AGENTS_MAX 12u
#define ARMS 3u
#define SCHEDULES 120u
#define SCHEDULES_LONG 2000u /* TACIT_TEST_LONG=1 */
#define VARIANTS_OFTEN 32u

static struct tacit_gossip_rule rule_of(uint32_t agents, uint32_t arms, uint64_t horizon,
                                        enum tacit_privacy_mode mode, double epsilon)
{
    struct tacit_gossip_config const config = {.agent_count = agents,
                                               .arm_count = arms,
                                               .horizon = horizon,
                                               .mechanism = {mode, epsilon, 0, 1},
                                               .width = 1};
    struct tacit_gossip_rule rule;
    assert_int_equal(tacit_gossip_rule_init(&rule, &config), TACIT_OK);
    return rule;
}

/* ---- The average over a million slots -------------------------------------------------------- */

/* All that a network shows. */
static void digest_network(const struct tacit_gossip_network *network, uint32_t agents,
                           uint32_t arms)
{
    size_t const cells = (size_t)agents * arms;
    struct tacit_gossip_network_view view;
    tacit_gossip_network_view(network, &view);
    digest_word(view.slot);
    digest_word(view.forced_count);
    digest_bytes(view.arms, agents * sizeof *view.arms);
    digest_bytes(view.counts, cells * sizeof *view.counts);
    digest_bytes(view.seen, cells * sizeof *view.seen);
    digest_reals(view.theta, cells);
    digest_reals(view.mean, cells);
}

static double drift(const struct tacit_gossip_network *network, uint32_t agents, uint32_t arms)
{
    struct tacit_gossip_network_view view;
    tacit_gossip_network_view(network, &view);
    double most = 0;
    for (uint32_t k = 0; k < arms; k++) {
        double sum = 0;
        for (uint32_t i = 0; i < agents; i++)
            sum += view.theta[i * arms + k] - view.mean[i * arms + k];
        most = fmax(most, fabs(sum / agents));
    }
    return most;
}

TEST(average_of_theta_less_that_of_means_is_kept_for_1e6_slots)
{
    static const enum tacit_privacy_mode modes[] = {TACIT_PRIVACY_NONE, TACIT_PRIVACY_PAPER};
    struct tacit_graph_spec const path = {.kind = TACIT_GRAPH_PATH, .agent_count = 5};
    static double const means[] = {.2, .5, .4, .9, .1, .3, .3, .3, .3, .6, .1, .2, .5, .5, .4};
    for (size_t i = 0; i < COUNT(modes); i++) {
        struct network *const network = network_new(&path, 1, 1);
        struct gossip_setting const setting = {.seed = 3,
                                               .rewards = GOSSIP_GAUSSIAN,
                                               .network = network,
                                               .means = means,
                                               .config = {.agent_count = 5,
                                                          .arm_count = ARMS,
                                                          .horizon = 1000000,
                                                          .mechanism = {modes[i], 1, 0, 1},
                                                          .width = 1}};
        struct gossip_direct direct;
        double most = 0;
        bool const is_short = modes[i] != TACIT_PRIVACY_NONE && getenv("TACIT_TEST_LONG") == NULL;
        uint32_t const slots = is_short ? 100000 : 1000000; /* noise takes its time */
        gossip_direct_init(&direct, &setting);
        for (uint32_t slot = 1; slot <= slots; slot++) {
            gossip_direct_slot(&direct);
            if (slot % 1000 != 0)
                continue;
            most = fmax(most, drift(direct.network, 5, ARMS));
            digest_network(direct.network, 5, ARMS);
        }
        print_message("largest drift in %u slots: %.2g\n", slots, most);
        assert_true(most <= 1e-9);
        gossip_direct_free(&direct);
        network_free(network);
    }
}

/* ---- Agents on their own clocks, over a network that fails ----------------------------------- */

static void *allocate(size_t size)
{
    void *const memory = testing_calloc(1, size);
    return memory;
}

static void digest_some(const double *values)
{
    digest_word(values != NULL);
    if (values != NULL)
        digest_reals(values, ARMS);
}

static void digest_said(const struct tacit_gossip_message *message)
{
    uint64_t const words[] = {message->kind,
                              message->from,
                              message->to,
                              message->run_id,
                              message->incarnation_number,
                              message->incarnation,
                              message->exchange};
    digest_bytes(words, sizeof words);
    digest_word(message->seen != NULL);
    if (message->seen != NULL)
        digest_bytes(message->seen, ARMS * sizeof *message->seen);
    digest_some(message->theta);
    digest_some(message->shift);
    digest_some(message->flow);
}

static void digest_state(const struct tacit_gossip_agent *agent,
                         const struct tacit_gossip_agent_config *config)
{
    struct tacit_gossip_agent_view view;
    tacit_gossip_agent_view(agent, &view);
    uint64_t const words[] = {view.slot,
                              view.waiting,
                              view.finished,
                              view.halted,
                              view.arm,
                              view.forced,
                              view.pull_count,
                              view.forced_count,
                              view.exchange_count,
                              view.best_arm,
                              view.incarnation_number};
    digest_bytes(words, sizeof words);
    digest_bytes(view.counts, ARMS * sizeof *view.counts);
    digest_bytes(view.seen, ARMS * sizeof *view.seen);
    digest_some(view.theta);
    digest_some(view.mean);
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        union tacit_sum const sum = tacit_gossip_agent_sum(agent, arm);
        bool const is_real = config->rule.tree.node.scale.kind == TACIT_SCALE_REAL;
        if (is_real)
            digest_real(sum.real);
        else
            digest_word((uint64_t)sum.steps);
        digest_real(tacit_gossip_agent_spread(agent, arm));
    }
    for (uint32_t i = 0; i < config->neighbour_count; i++) {
        uint64_t exchange;
        digest_some(tacit_gossip_agent_flow(agent, config->neighbours[i], &exchange));
        digest_word(exchange);
    }
}

static bool is_state(const void *state, size_t size, void *config)
{
    return tacit_gossip_agent_check(state, size, config) == TACIT_OK;
}

static void digest_stepped(enum tacit_status status, const struct tacit_gossip_update *update,
                           const struct tacit_gossip_agent *agent,
                           const struct tacit_gossip_agent_config *config)
{
    digest_step(status, update->persist | (uint64_t)update->send << 1, update->deadline_us,
                update->plan, update->plan_count);
    if (update->send)
        digest_said(&update->message);
    digest_state(agent, config);
}

/* A step of a copy, with an event that is a little other. */
struct other {
    const struct tacit_gossip_agent *agent;
    const struct tacit_gossip_memory *memory;
    const struct tacit_gossip_agent_config *config;
    struct tacit_rng rng;
    uint32_t draws;
    struct tacit_event event;
    struct tacit_gossip_message message;
};

static void step_copy(void *context)
{
    struct other *const other = context;
    struct tacit_rng rng = other->rng;
    struct scarce scarce = {tacit_rng_entropy(&rng), other->draws};
    struct tacit_entropy const entropy = scarce_entropy(&scarce);
    size_t const size = tacit_gossip_agent_size(other->config);
    size_t const memory_size = tacit_gossip_memory_size(&other->config->rule);
    struct tacit_gossip_agent *const agent = allocate(size);
    struct tacit_gossip_memory *const memory = allocate(memory_size);
    struct tacit_gossip_update update;
    memcpy(agent, other->agent, size);
    memcpy(memory, other->memory, memory_size);
    enum tacit_status const status =
        tacit_gossip_agent_step(agent, memory, &other->event, &entropy, &update);
    digest_stepped(status, &update, agent, other->config);
    damage_words(agent, size);
    damage_words(memory, memory_size);
    if (status != TACIT_OK && !update.persist)
        assert_memory_equal(agent, other->agent, size);
    assert_true(is_state(agent, size, (void *)(uintptr_t)other->config));
}

static void try_other_words(struct other *other)
{
    static const struct variant_field fields[] = {
        VARIANT_ANY(struct tacit_gossip_message, from),
        VARIANT_ANY(struct tacit_gossip_message, to),
        VARIANT_ANY(struct tacit_gossip_message, run_id),
        VARIANT_ANY(struct tacit_gossip_message, incarnation_number),
        VARIANT_ANY(struct tacit_gossip_message, incarnation),
        VARIANT_ANY(struct tacit_gossip_message, exchange),
        VARIANT(struct tacit_gossip_message, kind, 0, TACIT_GOSSIP_REFUSE)};
    struct tacit_gossip_message *const word = &other->message;
    size_t const size = tacit_gossip_message_size(other->event.as.message, ARMS);
    struct tacit_gossip_message *const copy = allocate(size);
    (void)tacit_gossip_message_copy(other->event.as.message, ARMS, copy);
    *word = *copy;
    other->event.as.message = word;
    variants_of(word, fields, COUNT(fields), step_copy, other);
    const void *const rows[] = {word->seen, word->theta, word->shift, word->flow};
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i] != NULL)
            variants_of_words((void *)(uintptr_t)rows[i], ARMS, i > 0, step_copy, other);
}

/* All that may come in this state in the place of the event that comes. */
static void try_others(struct other *other, bool is_start)
{
    struct variant_field fields[] = {
        VARIANT(struct tacit_event, now_us, other->event.now_us, UINT64_MAX / 4),
        VARIANT_ANY(struct tacit_event, as.reward.arm),
        VARIANT_ANY(struct tacit_event, as.reward.count),
        VARIANT_ANY(struct tacit_event, as.reward.sum)};
    bool const is_real = other->config->rule.tree.node.scale.kind == TACIT_SCALE_REAL;
    fields[3].is_real = is_real;
    for (other->draws = 0; other->draws < 3; other->draws++)
        step_copy(other);
    other->draws = UINT32_MAX;
    variants_of(&other->event, fields, other->event.kind == TACIT_EVENT_REWARD ? 4 : 1, step_copy,
                other);
    if (other->event.kind == TACIT_EVENT_RECEIVE)
        try_other_words(other);
    if (is_start)
        return;
    uint64_t const now_us = other->event.now_us;
    other->event = (struct tacit_event){.now_us = now_us, .kind = TACIT_EVENT_REWARD};
    other->event.as.reward = (struct tacit_reward){1, 1, {0}};
    step_copy(other);
    other->event = (struct tacit_event){.now_us = now_us, .kind = TACIT_EVENT_TIMEOUT};
    step_copy(other);
    other->event = (struct tacit_event){.now_us = now_us, .kind = TACIT_EVENT_OFFER};
    step_copy(other);
    other->event = (struct tacit_event){
        .now_us = now_us, .kind = TACIT_EVENT_EXPLOITED, .as.exploited_count = 3};
    step_copy(other);
}

static enum tacit_status step_agent(struct tacit_gossip_agent *agent,
                                    struct tacit_gossip_memory *memory,
                                    const struct tacit_gossip_agent_config *config,
                                    const struct tacit_event *event, struct tacit_rng *rng,
                                    struct tacit_gossip_update *update)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(rng);
    if (variants_are_due(VARIANTS_OFTEN)) {
        struct other other = {.agent = agent, .memory = memory, .config = config, .rng = *rng};
        other.event = *event;
        try_others(&other, event->kind == TACIT_EVENT_START);
    }
    enum tacit_status const status =
        tacit_gossip_agent_step(agent, memory, event, &entropy, update);
    digest_stepped(status, update, agent, config);
    damage_words(agent, tacit_gossip_agent_size(config));
    damage_some(agent, tacit_gossip_agent_size(config), is_state, (void *)(uintptr_t)config);
    return status;
}

static enum tacit_status step_site(struct gossip_storm *storm, struct gossip_storm_site *site,
                                   const struct tacit_event *event,
                                   struct tacit_gossip_update *update)
{
    (void)storm;
    return step_agent(site->agent, site->memory, &site->config, event, &site->entropy, update);
}

static double mean_of(const struct gossip_storm *storm, uint32_t site, uint32_t arm)
{
    (void)storm;
    return 0.2 + 0.1 * arm + 0.05 * site;
}

static void open_schedule(struct gossip_storm *schedule, uint32_t number,
                          enum tacit_privacy_mode mode)
{
    memset(schedule, 0, sizeof *schedule);
    schedule->chance = tacit_rng_stream(41, number, 0, TACIT_PURPOSE_FAULT);
    schedule->agents = 2 + (uint32_t)tacit_rng_below(&schedule->chance, AGENTS_MAX / 2);
    schedule->network = network_random(schedule->agents, &schedule->chance);
    schedule->loss = 0.3 * tacit_rng_uniform(&schedule->chance);
    schedule->duplication = 0.3 * tacit_rng_uniform(&schedule->chance);
    schedule->crash = 0.03 * tacit_rng_uniform(&schedule->chance);
    schedule->delay_us = tacit_rng_below(&schedule->chance, 400);
    struct tacit_graph const *const graph = &schedule->network->graph;
    schedule->step = step_site;
    schedule->mean = mean_of;
    for (uint32_t i = 0; i < schedule->agents; i++) {
        struct tacit_gossip_agent_config const config = {
            .rule = rule_of(schedule->agents, ARMS, number % 5 == 4 ? 20 : 1 << 20, mode, 1),
            .agent_id = i,
            .neighbours = graph->neighbours + graph->first[i],
            .neighbour_count = tacit_graph_degree(graph, i),
            .exchange_us = 50 + 10 * i,
            .pull_us = number % 7 == 3 ? 0 : 1};
        gossip_storm_add(schedule, &config, tacit_rng_stream(41, number, i, TACIT_PURPOSE_NOISE),
                         NULL);
    }
}

/* The disk of a site, started once more beside it. */
static void begin_clone(struct gossip_storm *schedule, uint32_t of)
{
    gossip_storm_add(schedule, &schedule->sites[of].config,
                     tacit_rng_stream(43, schedule->site_count, of, TACIT_PURPOSE_NOISE),
                     schedule->sites[of].disk);
}

/* Who goes on under this name; NULL: all of them halted. */
static const struct gossip_storm_site *incarnation_of(const struct gossip_storm *schedule,
                                                      uint32_t agent)
{
    for (uint32_t i = 0; i < schedule->site_count; i++)
        if (schedule->sites[i].config.agent_id == agent && !schedule->sites[i].halted)
            return &schedule->sites[i];
    return NULL;
}

/* Largest |sum of theta - sum of X~| over the arms, divided by A. What halted sites moved
 * to others is theirs. */
static double imbalance(const struct gossip_storm *schedule)
{
    double most = 0;
    for (uint32_t k = 0; k < ARMS; k++) {
        double sum = 0;
        for (uint32_t i = 0; i < schedule->agents; i++) {
            struct gossip_storm_site const *const site = incarnation_of(schedule, i);
            struct tacit_gossip_agent_view view;
            uint64_t exchange;
            if (site == NULL)
                continue;
            tacit_gossip_agent_view(site->agent, &view);
            sum += view.theta[k] - view.mean[k];
            for (uint32_t j = 0; j < site->config.neighbour_count; j++)
                if (incarnation_of(schedule, site->config.neighbours[j]) == NULL)
                    sum -= tacit_gossip_agent_flow(site->agent, site->config.neighbours[j],
                                                   &exchange)[k];
        }
        most = fmax(most, fabs(sum / schedule->agents));
    }
    return most;
}

/* Do both ends of every edge say that it moved the same? */
static bool edges_agree(const struct gossip_storm *schedule)
{
    for (uint64_t e = 0; e < schedule->network->graph.edge_count; e++) {
        struct tacit_edge const edge = schedule->network->edges[e];
        uint64_t here;
        uint64_t there;
        struct gossip_storm_site const *const a = incarnation_of(schedule, edge.a);
        struct gossip_storm_site const *const b = incarnation_of(schedule, edge.b);
        if (a == NULL || b == NULL)
            continue;
        const double *const out = tacit_gossip_agent_flow(a->agent, edge.b, &here);
        const double *const in = tacit_gossip_agent_flow(b->agent, edge.a, &there);
        double off = 0;
        for (uint32_t k = 0; k < ARMS; k++)
            off = fmax(off, fabs(out[k] + in[k]));
        if (here != there || off > 1e-9) {
            print_message("edge %u-%u: exchanges %u and %u, off by %.3g\n", edge.a, edge.b,
                          (unsigned)here, (unsigned)there, off);
            return false;
        }
    }
    return true;
}

static uint32_t schedule_count(void)
{
    return getenv("TACIT_TEST_LONG") != NULL ? SCHEDULES_LONG : SCHEDULES;
}

/* Faults end, exchanges go on without new rewards until nothing is in flight. */
static void settle(struct gossip_storm *schedule)
{
    schedule->loss = schedule->duplication = schedule->crash = 0;
    gossip_storm_play(schedule, schedule->now_us + 20000, false);
    schedule->is_quiet = true;
    gossip_storm_play(schedule, schedule->now_us + 2000, false);
    assert_int_equal(schedule->flying_count, 0);
}

/* How many neighbours of an agent go on. */
static uint32_t grantors_of(const struct gossip_storm *schedule, uint32_t agent)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < schedule->agents; j++)
        count += graph_adjacent(&schedule->network->graph, agent, j) &&
                 incarnation_of(schedule, j) != NULL;
    return count;
}

/* In three parts; before the second and the third a clone of a site begins. */
static uint32_t play_parts(struct gossip_storm *schedule, bool has_clones)
{
    uint32_t clones = 0;
    for (uint32_t part = 0; part < 3; part++) {
        gossip_storm_play(schedule, schedule->now_us + 100 * 10, true);
        uint32_t const of = has_clones && part < 2
                                ? (uint32_t)tacit_rng_below(&schedule->chance, schedule->agents)
                                : schedule->agents;
        if (of == schedule->agents || incarnation_of(schedule, of) == NULL)
            continue;
        begin_clone(schedule, of);
        clones++;
    }
    return clones;
}

/* Messages that are lost, late and repeated, and deaths; and clones: a later incarnation replaces
 * an earlier one; of two that begin from the same state one is heard. */
TEST(faults_deaths_and_clones_keep_the_average)
{
    uint32_t const schedules = schedule_count();
    uint32_t crashes = 0;
    uint32_t clones = 0;
    uint32_t halted = 0;
    uint64_t exchanges = 0;
    double most_in_flight = 0;
    for (uint32_t number = 0; number < 2 * schedules; number++) {
        struct gossip_storm *const schedule = allocate(sizeof *schedule);
        bool const has_clones = number >= schedules;
        open_schedule(schedule, number + (has_clones ? 10000 : 0),
                      number % 2 == 0 ? TACIT_PRIVACY_SOUND : TACIT_PRIVACY_NONE);
        clones += play_parts(schedule, has_clones);
        most_in_flight = fmax(most_in_flight, imbalance(schedule));
        settle(schedule);
        assert_true(edges_agree(schedule));
        assert_true(imbalance(schedule) <= 1e-9);
        crashes += schedule->crashes;
        for (uint32_t i = 0; i < schedule->agents; i++) {
            struct tacit_gossip_agent_view view;
            uint32_t incarnations = 0;
            for (uint32_t j = 0; j < schedule->site_count; j++) {
                struct gossip_storm_site const *const site = &schedule->sites[j];
                incarnations += site->config.agent_id == i && !site->halted;
                halted += site->config.agent_id == i && site->halted;
            }
            assert_true(incarnations <= 1 || grantors_of(schedule, i) == 0);
            tacit_gossip_agent_view(schedule->sites[i].agent, &view);
            exchanges += view.exchange_count;
        }
        assert_true(has_clones || halted == 0);
        gossip_storm_close(schedule);
        testing_free(schedule);
    }
    print_message(
        "2 x %u schedules: %u deaths, %llu exchanges, out of balance by up to %.2g on the "
        "way, never at the end; %u clones, %u incarnations halted\n",
        schedules, crashes, (unsigned long long)exchanges, most_in_flight, clones, halted);
    assert_true(crashes > schedules / 2 && exchanges > 5 * schedules && most_in_flight > 1e-3);
    assert_true(2 * clones > 3 * schedules && 2 * halted > 3 * schedules);
}

/* ---- One agent ------------------------------------------------------------------------------- */

struct bench_agent {
    struct tacit_gossip_agent_config config;
    struct tacit_gossip_agent *agent;
    struct tacit_gossip_memory *memory;
    struct tacit_rng rng;
    struct tacit_gossip_update update; /* of the last step */
};

static void step_bench(struct bench_agent *bench, struct tacit_event event)
{
    assert_int_equal(step_agent(bench->agent, bench->memory, &bench->config, &event, &bench->rng,
                                &bench->update),
                     TACIT_OK);
}

static void reward_bench(struct bench_agent *bench, uint64_t now_us, uint32_t arm)
{
    step_bench(bench, (struct tacit_event){.now_us = now_us,
                                           .kind = TACIT_EVENT_REWARD,
                                           .as.reward = {arm, 1, {0}}});
}

static struct tacit_gossip_agent_view view_of(const struct bench_agent *bench)
{
    struct tacit_gossip_agent_view view;
    tacit_gossip_agent_view(bench->agent, &view);
    return view;
}

/* The first pulls' rewards are there. */
static struct bench_agent bench_agent_open(struct tacit_gossip_agent_config config)
{
    struct bench_agent bench = {.config = config,
                                .agent = allocate(tacit_gossip_agent_size(&config)),
                                .memory = allocate(tacit_gossip_memory_size(&config.rule)),
                                .rng = tacit_rng_stream(1, 1, 1, TACIT_PURPOSE_NOISE)};
    tacit_gossip_memory_init(bench.memory, &config.rule);
    assert_int_equal(tacit_gossip_agent_init(bench.agent, &config), TACIT_OK);
    step_bench(&bench, (struct tacit_event){.kind = TACIT_EVENT_START});
    assert_int_equal(bench.update.plan_count, ARMS);
    for (uint32_t arm = 0; arm < ARMS; arm++)
        reward_bench(&bench, 0, arm);
    return bench;
}

/* In lockstep, and by a clock on which nobody pulls faster than every 7 us: it follows what could
 * be true, and nothing else. */
TEST(neighbours_huge_count_is_cut_to_what_can_have_been_pulled)
{
    static const uint32_t neighbours[] = {0, 2};
    static const uint64_t huge[ARMS] = {1, UINT64_MAX, 1};
    for (uint32_t own_clock = 0; own_clock < 2; own_clock++) {
        struct bench_agent bench = bench_agent_open((struct tacit_gossip_agent_config){
            .rule = rule_of(3, ARMS, 100, TACIT_PRIVACY_SOUND, 1),
            .run_id = 8,
            .agent_id = 1,
            .neighbours = neighbours,
            .neighbour_count = 2,
            .slot_us = own_clock ? 0 : 10,
            .exchange_us = own_clock ? 10 : 0,
            .pull_us = own_clock ? 7 : 0});
        struct tacit_gossip_message const lie = {.kind = TACIT_GOSSIP_COUNTS,
                                                 .from = 0,
                                                 .to = TACIT_NEIGHBOURS,
                                                 .run_id = 8,
                                                 .incarnation_number = 1,
                                                 .incarnation = 5,
                                                 .seen = huge};
        for (uint64_t now_us = 10; now_us <= 1000; now_us += 10) {
            step_bench(&bench, (struct tacit_event){.now_us = now_us,
                                                    .kind = TACIT_EVENT_RECEIVE,
                                                    .as.message = &lie});
            step_bench(&bench, (struct tacit_event){.now_us = now_us, .kind = TACIT_EVENT_TIMEOUT});
            if (view_of(&bench).arm != TACIT_NO_ARM)
                reward_bench(&bench, now_us, view_of(&bench).arm);
            assert_true(view_of(&bench).seen[1] <= now_us / (own_clock ? 7 : 10) + 1);
        }
        struct tacit_gossip_agent_view const view = view_of(&bench);
        assert_true(view.finished && view.forced_count > 0 && view.seen[1] > 20);
        assert_true(own_clock || view.counts[1] + 3 + 1 >= view.seen[1]); /* never far behind it */
    }
}

/* What was taken is a state that a disk may bring back, however far two neighbours have driven it
 * together. */
TEST(estimates_that_neighbours_drive_far_are_a_state)
{
    static const uint32_t neighbours[] = {0, 1};
    static const double still[ARMS] = {0};
    static const double far[ARMS] = {-1e100, -1e100, -1e100};
    struct bench_agent bench = bench_agent_open(
        (struct tacit_gossip_agent_config){.rule = rule_of(3, ARMS, 100, TACIT_PRIVACY_SOUND, 1),
                                           .run_id = 8,
                                           .agent_id = 2,
                                           .neighbours = neighbours,
                                           .neighbour_count = 2,
                                           .exchange_us = 10});
    for (uint32_t from = 0; from < 2; from++) {
        struct tacit_gossip_message const shift = {.kind = TACIT_GOSSIP_SHIFT,
                                                   .from = from,
                                                   .to = 2,
                                                   .run_id = 8,
                                                   .exchange = 5,
                                                   .shift = still,
                                                   .flow = far,
                                                   .incarnation_number = 1,
                                                   .incarnation = 5};
        step_bench(&bench, (struct tacit_event){.kind = TACIT_EVENT_RECEIVE, .as.message = &shift});
    }
    assert_true(view_of(&bench).theta[0] > 1e100);
    assert_int_equal(tacit_gossip_agent_check(bench.agent, tacit_gossip_agent_size(&bench.config),
                                              &bench.config),
                     TACIT_OK);
}

/* .. and of what an edge has moved the same: the keeper goes to and fro between them. */
TEST(edges_that_neighbours_drive_far_are_a_state)
{
    static const uint32_t neighbours[] = {1, 2};
    static const double up[ARMS] = {1e100, 1e100, 1e100};
    static const double down[ARMS] = {-1e100, -1e100, -1e100};
    uint64_t exchange;
    digest_pause(true);
    struct bench_agent bench = bench_agent_open(
        (struct tacit_gossip_agent_config){.rule = rule_of(3, ARMS, 100, TACIT_PRIVACY_SOUND, 1),
                                           .run_id = 8,
                                           .neighbours = neighbours,
                                           .neighbour_count = 2,
                                           .exchange_us = 10});
    for (uint32_t from = 1; from <= 2; from++) {
        struct tacit_gossip_message const offer = {.kind = TACIT_GOSSIP_OFFER,
                                                   .from = from,
                                                   .to = 0,
                                                   .run_id = 8,
                                                   .exchange = 1,
                                                   .theta = from == 1 ? up : down,
                                                   .flow = from == 1 ? down : up,
                                                   .incarnation_number = 1,
                                                   .incarnation = 5};
        step_bench(&bench, (struct tacit_event){.kind = TACIT_EVENT_RECEIVE, .as.message = &offer});
    }
    assert_true(tacit_gossip_agent_flow(bench.agent, 2, &exchange)[0] < -1e100);
    assert_int_equal(tacit_gossip_agent_check(bench.agent, tacit_gossip_agent_size(&bench.config),
                                              &bench.config),
                     TACIT_OK);
    digest_pause(false);
}

/* Nobody to meet: no timer, and pulls until T. After it nothing is planned, whatever comes. */
TEST(who_has_no_neighbours_plays_until_the_end_without_a_word)
{
    for (uint32_t i = 0; i < 2 * 3; i++) {
        enum tacit_privacy_mode const mode = i % 2 == 0 ? TACIT_PRIVACY_SOUND : TACIT_PRIVACY_PAPER;
        uint64_t const horizon = 2 + 10 * (i / 2);
        struct bench_agent bench = bench_agent_open((struct tacit_gossip_agent_config){
            .rule = rule_of(1, ARMS, horizon, mode, 1), .run_id = 8, .exchange_us = 10});
        for (uint64_t pull = 0; pull < horizon; pull++) {
            assert_int_equal(bench.update.plan_count, 1);
            assert_true(!bench.update.send && bench.update.deadline_us == TACIT_NEVER);
            reward_bench(&bench, pull, bench.update.plan[0].arm);
        }
        assert_true(view_of(&bench).finished && bench.update.plan_count == 0);
        step_bench(&bench, (struct tacit_event){.now_us = horizon, .kind = TACIT_EVENT_TIMEOUT});
        assert_true(bench.update.plan_count == 0 && !bench.update.send);
    }
}

/* ---- Lemmas 1 to 3 --------------------------------------------------------------------------- */

#define LEMMA_SLOTS 3000u

/* All distances, by looking at every pair again and again (Bellman, Ford). */
static void distances_of(const struct tacit_graph *graph, uint32_t distance[][AGENTS_MAX])
{
    uint32_t const agents = graph->agent_count;
    for (uint32_t i = 0; i < agents; i++)
        for (uint32_t j = 0; j < agents; j++)
            distance[i][j] = i == j ? 0 : graph_adjacent(graph, i, j) ? 1 : 1000;
    for (uint32_t m = 0; m < agents; m++)
        for (uint32_t i = 0; i < agents; i++)
            for (uint32_t j = 0; j < agents; j++)
                if (distance[i][m] + distance[m][j] < distance[i][j])
                    distance[i][j] = distance[i][m] + distance[m][j];
}

/* Lemma 1: n~_i(t+1) is the largest n_j(t - d_ji), with n before the pull of t; counts of slots
 * before the first are 1. history[t] is n at the end of slot t. */
static uint64_t told_by(uint64_t (*history)[AGENTS_MAX * ARMS], uint32_t distance[][AGENTS_MAX],
                        uint32_t agents, uint32_t slot, uint32_t agent, uint32_t arm)
{
    uint64_t most = 1;
    for (uint32_t j = 0; j < agents; j++) {
        uint32_t const late = distance[j][agent] + 1; /* the end of the slot before is n of t */
        uint64_t const count = late > slot ? 1 : history[slot - late][j * ARMS + arm];
        most = count > most ? count : most;
    }
    return most;
}

static void check_lemmas(const struct gossip_direct *direct, uint32_t slot,
                         uint64_t (*history)[AGENTS_MAX * ARMS], uint32_t distance[][AGENTS_MAX],
                         uint64_t *third)
{
    uint32_t const agents = direct->rule.agent_count;
    struct tacit_gossip_network_view view;
    tacit_gossip_network_view(direct->network, &view);
    for (uint32_t cell = 0; cell < agents * ARMS; cell++)
        history[slot][cell] = view.counts[cell];
    for (uint32_t i = 0; i < agents; i++)
        for (uint32_t k = 0; k < ARMS; k++) {
            uint64_t const n = view.counts[i * ARMS + k];
            uint64_t const seen = view.seen[i * ARMS + k]; /* n~(t+1) */
            assert_true(seen == told_by(history, distance, agents, slot, i, k));
            assert_true(n + 3 * ARMS * agents > seen); /* Lemma 2 */
            if (n < (3 * ARMS + 1) * agents)
                continue;
            *third += 1;
            for (uint32_t j = 0; j < agents; j++) /* Lemma 3 */
                assert_true(view.counts[j * ARMS + k] <= 2 * n);
        }
}

/* In the proof of Lemma 3: no count is more than (3 M + 1) N behind another agent's. */
static void check_spread(const uint64_t *counts, uint32_t agents)
{
    for (uint32_t k = 0; k < ARMS; k++)
        for (uint32_t i = 0; i < agents; i++)
            for (uint32_t j = 0; j < agents; j++)
                assert_true(counts[i * ARMS + k] + (3 * ARMS + 1) * agents >= counts[j * ARMS + k]);
}

TEST(lemmas_1_to_3_hold_in_every_slot)
{
    uint64_t(*const history)[AGENTS_MAX * ARMS] = allocate((LEMMA_SLOTS + 1) * sizeof history[0]);
    uint64_t third = 0;
    for (uint32_t number = 0; number < 12; number++) {
        struct tacit_rng rng = tacit_rng_stream(51, number, 0, TACIT_PURPOSE_INSTANCE);
        uint32_t const agents = 3 + (uint32_t)tacit_rng_below(&rng, AGENTS_MAX - 2);
        struct network *const network = network_random(agents, &rng);
        uint32_t distance[AGENTS_MAX][AGENTS_MAX];
        double means[AGENTS_MAX * ARMS];
        for (uint32_t cell = 0; cell < agents * ARMS; cell++)
            means[cell] = tacit_rng_uniform(&rng);
        struct gossip_setting const setting = {
            .seed = 52,
            .run = number,
            .rewards = GOSSIP_BERNOULLI,
            .network = network,
            .means = means,
            .config = {
                .agent_count = agents,
                .arm_count = ARMS,
                .horizon = LEMMA_SLOTS,
                .mechanism = {number % 2 == 0 ? TACIT_PRIVACY_NONE : TACIT_PRIVACY_PAPER, 1, 0, 1},
                .width = 1}};
        struct gossip_direct direct;
        distances_of(&network->graph, distance);
        gossip_direct_init(&direct, &setting);
        for (uint32_t cell = 0; cell < agents * ARMS; cell++)
            history[0][cell] = 1;
        for (uint32_t slot = 1; slot <= LEMMA_SLOTS; slot++) {
            gossip_direct_slot(&direct);
            check_lemmas(&direct, slot, history, distance, &third);
            check_spread(history[slot], agents);
            if (slot % 16 == 0)
                digest_network(direct.network, agents, ARMS);
        }
        gossip_direct_free(&direct);
        network_free(network);
    }
    testing_free(history);
    assert_true(third > 10000); /* Lemma 3 had something to say */
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

TEST(bounds_grow_with_privacy_and_with_slow_mixing)
{
    struct tacit_gossip_rule const rule = rule_of(10, 3, 1000000, TACIT_PRIVACY_PAPER, 1);
    static const double gaps[] = {0, 0.1, 0.3};
    double const plain = tacit_gossip_regret_bound(&rule, (double)INFINITY, gaps, 0.9);
    double const weak = tacit_gossip_regret_bound(&rule, 5, gaps, 0.9);
    double const strong = tacit_gossip_regret_bound(&rule, 1, gaps, 0.9);
    double const slow = tacit_gossip_regret_bound(&rule, (double)INFINITY, gaps, 0.9999);
    assert_true(plain < weak && weak < strong && plain < slow);
    /* Theorem 1 by hand: alpha_1 = 64/1e17, gap .1 is told after 2 N ln T/(.05)^2 pulls. */
    double const l = 13.815510557964274;
    double const third = cbrt(0.9);
    double const rest = 80 + 2 * M_PI * M_PI / 3 +
                        2 * pow(0.9, 1.0 / 12) / ((1 - third) * (1 - pow(0.9, 1.0 / 12)));
    double const by_hand = 0.1 * (20 * l / .0025 + rest) + 0.3 * (20 * l / .0225 + rest);
    assert_true(fabs(plain - by_hand) < 1e-6 * by_hand);
    /* Theorem 2 with epsilon 1: (8 gap)^2 ln^3 T under the root, and 4 N ln T + 4 N besides. */
    double const more = rest + 40 * l + 40;
    double const near = 10 * l * (1 + sqrt(1 + 0.64 * l * l * l)) / .0025;
    double const far = 10 * l * (1 + sqrt(1 + 5.76 * l * l * l)) / .0225;
    double const private_by_hand = 0.1 * (near + more) + 0.3 * (far + more);
    assert_true(fabs(strong - private_by_hand) < 1e-6 * private_by_hand);
    static const double tiny[] = {0, 1e-16, 0};
    assert_true(isinf(tacit_gossip_regret_bound(&rule, 1, tiny, 0.9)));
}

TEST(mixing_slots_are_the_first_from_which_the_bound_holds)
{
    static const double lambdas[] = {0.01, 0.5, 0.9, 0.9946, 0.9999};
    static const uint32_t agents[] = {3, 10, 1000};
    for (size_t i = 0; i < COUNT(lambdas); i++)
        for (size_t j = 0; j < COUNT(agents); j++) {
            uint64_t const slots = tacit_gossip_mixing_slots(agents[j], lambdas[i]);
            double const third = pow(lambdas[i], 1.0 / 3);
            for (uint64_t t = slots; t < slots + 1000; t++)
                assert_true(pow(lambdas[i], (double)t / 6) / (1 - third) <
                            1.0000001 / ((double)agents[j] * (double)t));
            if (slots > 1) {
                double const t = (double)(slots - 1);
                assert_true(pow(lambdas[i], t / 6) / (1 - third) >=
                            0.9999999 / ((double)agents[j] * t));
            }
        }
}

/* Radii, slots and bounds of many runs: all that the rule says. */
TEST(what_a_rule_says_is_what_it_said)
{
    static const struct tacit_mechanism_config mechanisms[] = {{TACIT_PRIVACY_NONE, 1, 0, 1},
                                                               {TACIT_PRIVACY_PAPER, 0.5, 0, 1},
                                                               {TACIT_PRIVACY_PAPER, 3, 0, 2},
                                                               {TACIT_PRIVACY_SOUND, 1, 0, 1}};
    static const uint64_t horizons[] = {1, 2, 100, 1000000};
    static const double gaps[] = {0, 1e-3, 0.05, 0.5};
    static const double epsilons[] = {0.1, 2, (double)INFINITY};
    for (uint32_t i = 0; i < 4 * COUNT(mechanisms) * COUNT(horizons); i++) {
        struct tacit_gossip_config config = {.agent_count = 1 + i % 4 * 3,
                                             .arm_count = COUNT(gaps),
                                             .horizon = horizons[i / 4 % COUNT(horizons)],
                                             .mechanism = mechanisms[i / 16],
                                             .width = i / 16 == 1 ? 0.25 : 1,
                                             .log_base_10 = i / 16 == 2};
        struct tacit_gossip_rule rule;
        enum tacit_status const status = tacit_gossip_rule_init(&rule, &config);
        digest_word((uint64_t)status);
        if (status != TACIT_OK) /* a tree of one leaf */
            continue;
        for (uint64_t slot = 1; slot <= 1000; slot += slot)
            for (uint64_t pulls = 1; pulls <= 4; pulls++)
                digest_real(log(tacit_gossip_radius(&rule, slot, pulls)));
        for (size_t j = 0; j < COUNT(epsilons); j++)
            for (double lambda = 0.001; lambda < 1; lambda += 0.333) {
                digest_real(log(tacit_gossip_regret_bound(&rule, epsilons[j], gaps, lambda)));
                digest_word(tacit_gossip_mixing_slots(config.agent_count, lambda));
            }
    }
}

/* ---- What lambda_2 predicts -------------------------------------------------------------------
 */

static double squared_disagreement(const double *theta, uint32_t agents)
{
    double sum = 0;
    double squares = 0;
    for (uint32_t i = 0; i < agents; i++)
        sum += theta[i];
    for (uint32_t i = 0; i < agents; i++)
        squares += (theta[i] - sum / agents) * (theta[i] - sum / agents);
    return squares;
}

/* One arm whose reward is always the same brings nothing new, so only gossip is left. The mean over
 * 4,000 runs after 1, 20 and 60 slots; four standard errors above the prediction would be a fault:
 * false alarms below 1e-4 each, fixed seed. A start along the graph's slowest mode is as slow as
 * lambda_2 says in the first slot. */
TEST(squared_disagreement_falls_at_least_by_lambda_2_a_slot)
{
    enum { PATH = 6, RUNS = 4000, SLOTS = 60 };
    static double const start[PATH] = {0.9659, 0.7071, 0.2588, -0.2588, -0.7071, -0.9659};
    static const uint32_t looks[] = {1, 20, SLOTS};
    struct tacit_graph_spec const path = {.kind = TACIT_GRAPH_PATH, .agent_count = PATH};
    struct network *const network = network_new(&path, 1, 1);
    struct tacit_gossip_rule const rule = rule_of(PATH, 1, 1000, TACIT_PRIVACY_NONE, INFINITY);
    struct tacit_gossip_network *const gossip = testing_malloc(tacit_gossip_network_size(&rule));
    struct tacit_rng edges = tacit_rng_stream(8, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_GRAPH);
    struct tacit_rng nobody = edges;
    struct tacit_entropy entropies[PATH];
    union tacit_sum rewards[PATH];
    double sum[COUNT(looks)] = {0};
    double squares[COUNT(looks)] = {0};
    double lambda2;
    assert_int_equal(topo_lambda_2(&network->graph, &lambda2), TACIT_OK);
    assert_non_null(gossip);
    for (uint32_t i = 0; i < PATH; i++) {
        entropies[i] = tacit_rng_entropy(&nobody);
        rewards[i].real = start[i];
    }
    double const before = squared_disagreement(start, PATH);
    for (uint32_t run = 0; run < RUNS; run++) {
        struct tacit_gossip_network_view view;
        tacit_gossip_network_init(gossip, &rule);
        assert_int_equal(tacit_gossip_network_first(gossip, rewards, entropies), TACIT_OK);
        for (uint32_t slot = 1, look = 0; slot <= SLOTS; slot++) {
            const uint32_t *arms;
            struct tacit_edge const *const edge =
                &network->edges[tacit_rng_below(&edges, PATH - 1)];
            assert_int_equal(tacit_gossip_network_choose(gossip, &network->graph, entropies, &arms),
                             TACIT_OK);
            assert_int_equal(tacit_gossip_network_absorb(gossip, edge, rewards, entropies),
                             TACIT_OK);
            if (slot < looks[look])
                continue;
            tacit_gossip_network_view(gossip, &view);
            double const left = squared_disagreement(view.theta, PATH) / before;
            sum[look] += left;
            squares[look++] += left * left;
        }
    }
    for (size_t look = 0; look < COUNT(looks); look++) {
        double const mean = sum[look] / RUNS;
        double const error = sqrt((squares[look] / RUNS - mean * mean) / RUNS);
        assert_true(mean - 4 * error <= pow(lambda2, looks[look]));
        assert_true(look > 0 || fabs(mean - lambda2) <= 4 * error + 1e-4);
    }
    network_free(network);
}

/* ---- The survey --------------------------------------------------------------------------------
 */

#define SURVEY_ARMS_MAX 13u
#define SURVEY_AGENTS 7u

/* Rows of agents with one to six neighbours: few different values, so that there are many ties. */
struct rows {
    struct tacit_gossip_rule rule;
    uint64_t count[SURVEY_AGENTS * SURVEY_ARMS_MAX];
    uint64_t seen[SURVEY_AGENTS * SURVEY_ARMS_MAX];
    uint64_t next[SURVEY_AGENTS * SURVEY_ARMS_MAX];
    double theta[SURVEY_AGENTS * SURVEY_ARMS_MAX];
    double reach[SURVEY_AGENTS * SURVEY_ARMS_MAX];
    double bonus[SURVEY_AGENTS * SURVEY_ARMS_MAX];
    struct gossip_candidates candidates[SURVEY_AGENTS];
};

static void draw_rows(struct rows *rows, bool noisy, struct tacit_rng *rng)
{
    uint32_t const arms = 1 + (uint32_t)tacit_rng_below(rng, SURVEY_ARMS_MAX);
    rows->rule =
        rule_of(SURVEY_AGENTS, arms, 1000, noisy ? TACIT_PRIVACY_PAPER : TACIT_PRIVACY_NONE, 1);
    for (size_t cell = 0; cell < SURVEY_AGENTS * arms; cell++) {
        rows->count[cell] = 1 + tacit_rng_below(rng, 3);
        rows->seen[cell] = rows->count[cell] + tacit_rng_below(rng, SURVEY_AGENTS + 3);
        rows->next[cell] = UINT64_MAX;
        rows->theta[cell] = (double)tacit_rng_below(rng, 3) - 1;
        rows->reach[cell] = gossip_reach(&rows->rule, rows->count[cell]);
        rows->bonus[cell] = gossip_bonus(&rows->rule, rows->count[cell]);
    }
}

static struct gossip_survey survey_of(struct rows *rows, const struct tacit_graph *graph,
                                      uint64_t slot)
{
    return (struct gossip_survey){.row = {.rule = &rows->rule,
                                          .count = rows->count,
                                          .seen = rows->seen,
                                          .theta = rows->theta,
                                          .reach = rows->reach,
                                          .bonus = rows->bonus},
                                  .graph = graph,
                                  .at = gossip_slot_at(&rows->rule, slot),
                                  .next = rows->next,
                                  .candidates = rows->candidates};
}

/* Any number of arms, those that are no multiple of four, too. What the plain one finds is held
 * against a twin in tests/oracle/gossip_oracle.c. */
TEST(both_surveys_find_the_same)
{
    struct tacit_rng rng = tacit_rng_stream(5, 0, 0, TACIT_PURPOSE_INSTANCE);
    struct tacit_edge edges[] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5},
                                 {0, 6}, {1, 2}, {1, 3}, {2, 3}, {4, 5}};
    struct tacit_graph graph;
    void *const memory = testing_malloc(tacit_graph_size(SURVEY_AGENTS, COUNT(edges)));
    assert_int_equal(tacit_graph_init(&graph, memory, SURVEY_AGENTS, edges, COUNT(edges)),
                     TACIT_OK);
    for (uint32_t run = 0; run < 10000; run++) {
        struct rows rows;
        draw_rows(&rows, run % 2 == 1, &rng);
        struct gossip_survey const survey =
            survey_of(&rows, &graph, 1 + tacit_rng_below(&rng, 500));
        gossip_survey_portable(&survey);
#if GOSSIP_HAS_AVX2
        if (rows.rule.arm_count < GOSSIP_AVX2_ARMS_MIN ||
            tacit_linalg_fastest() != TACIT_LINALG_AVX2)
            continue;
        struct rows const plain = rows;
        memset(rows.next, 0xff, sizeof rows.next);
        memset(rows.candidates, 0xff, sizeof rows.candidates);
        gossip_survey_avx2(&survey);
        size_t const cells = (size_t)SURVEY_AGENTS * rows.rule.arm_count;
        assert_memory_equal(rows.next, plain.next, cells * sizeof *rows.next);
        assert_memory_equal(rows.candidates, plain.candidates, sizeof rows.candidates);
#endif
    }
}

/* Pulls that do not fit half a word are looked at in plain C: without noise T decides nothing else.
 */
TEST(horizon_beyond_half_a_word_is_played_as_any_other)
{
    enum { LONG_ARMS = 5 };
    static const uint64_t horizons[] = {UINT32_MAX - 1, UINT32_MAX, (uint64_t)UINT32_MAX + 1};
    static const double means[2 * LONG_ARMS] = {0, .1, .2, .3, .4, .5, .6, .7, .8, .9};
    struct tacit_graph_spec const path = {.kind = TACIT_GRAPH_PATH, .agent_count = 2};
    struct network *const network = network_new(&path, 1, 1);
    double theta[2 * LONG_ARMS];
    for (size_t i = 0; i < COUNT(horizons); i++) {
        struct gossip_setting const setting = {
            .seed = 6,
            .rewards = GOSSIP_GAUSSIAN,
            .network = network,
            .means = means,
            .config = {.agent_count = 2,
                       .arm_count = LONG_ARMS,
                       .horizon = horizons[i],
                       .mechanism = {TACIT_PRIVACY_NONE, 1, 0, 1},
                       .width = 1}};
        struct tacit_gossip_network_view view;
        struct gossip_direct direct;
        gossip_direct_init(&direct, &setting);
        for (uint32_t slot = 0; slot < 100; slot++)
            gossip_direct_slot(&direct);
        tacit_gossip_network_view(direct.network, &view);
        if (i == 0)
            memcpy(theta, view.theta, sizeof theta);
        assert_memory_equal(theta, view.theta, sizeof theta);
        gossip_direct_free(&direct);
    }
    network_free(network);
}

/* What is kept never holds an exact sum: of all rewards of an arm in this incarnation, or of the
 * newest. They are in the memory beside it: so the search finds them there. */
TEST(no_exact_sum_is_in_what_is_kept)
{
    enum { PULLS = 200 };
    struct gossip_storm schedule;
    int64_t totals[ARMS] = {0};
    uint32_t found = 0;
    uint32_t pulls = 0;
    open_schedule(&schedule, 3, TACIT_PRIVACY_SOUND);
    schedule.loss = schedule.duplication = schedule.crash = 0;
    struct gossip_storm_site *const site = &schedule.sites[0];
    size_t const memory_size = tacit_gossip_memory_size(&site->config.rule);
    for (uint32_t turn = 0; turn < 10 * PULLS && pulls < PULLS; turn++) {
        gossip_storm_play(&schedule, schedule.now_us + 50, false);
        if (site->plan_count == 0)
            continue;
        uint32_t const arm = site->plan[--site->plan_count].arm;
        union tacit_sum const sum = {.steps = 500009 + 7919 * (int64_t)(pulls++ % 50)};
        totals[arm] += sum.steps;
        gossip_storm_step(
            &schedule, 0,
            (struct tacit_event){.kind = TACIT_EVENT_REWARD, .as.reward = {arm, 1, sum}});
        assert_null(memmem(site->agent, site->size, &sum.steps, sizeof sum.steps));
        assert_null(memmem(site->disk, site->size, &sum.steps, sizeof sum.steps));
        assert_null(memmem(site->agent, site->size, &totals[arm], sizeof totals[arm]));
        assert_null(memmem(site->disk, site->size, &totals[arm], sizeof totals[arm]));
        found += memmem(site->memory, memory_size, &totals[arm], sizeof totals[arm]) != NULL;
    }
    assert_int_equal(pulls, PULLS);
    assert_true(found > 3);
    gossip_storm_close(&schedule);
}
