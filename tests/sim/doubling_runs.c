/* Agents whose releases double, in the simulator: without faults they play what a hub with the
 * phased index would order, sum for sum; whatever fails, blocks are released once, are the same
 * everywhere and are all there in the end; copies of a site do not speak side by side. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/phased.h"
#include "../../src/families/gossip/plan.h"
#include "../support/faults.h"
#include "../support/network.h"

#define ARMS_MAX 6u
#define AGENTS_MAX 8u
#define BLOCKS_MAX 64u

/* ---- Plans ---- */

struct bench {
    struct gossip_plan plan;
    struct faults faults;
    struct network *network;
    double means[AGENTS_MAX * ARMS_MAX];
    uint64_t point;
    atomic_bool stop;
};

static void open_bench(struct bench *bench, uint64_t seed, uint32_t agents, uint32_t arms,
                       uint64_t horizon, double epsilon)
{
    struct tacit_rng rng = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_INSTANCE);
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, epsilon, 0, 1};
    memset(bench, 0, sizeof *bench);
    bench->network = network_random(agents, &rng);
    bench->point = horizon;
    for (uint32_t cell = 0; cell < agents * arms; cell++)
        bench->means[cell] = tacit_rng_uniform(&rng);
    bench->plan = (struct gossip_plan){
        .common = {.seed = seed,
                   .run_count = 1,
                   .agent_count = agents,
                   .horizon = horizon,
                   .points = &bench->point,
                   .point_count = 1,
                   .env = {TACIT_ENV_BERNOULLI, agents, arms, bench->means, 0, {0}, NULL, NULL}},
        .doubles = true,
        .graph = &bench->network->graph,
        .schedule = {.rule = TACIT_PHASES_INDEX,
                     .arm_count = arms,
                     .agent_count = agents,
                     .horizon = horizon,
                     .epsilon_per_reward = epsilon,
                     .growth = 2,
                     .arms_per_round = arms < 4 ? arms : 4}};
    assert_int_equal(tacit_mechanism_init(&bench->plan.mechanism, &mechanism), TACIT_OK);
    assert_true(tacit_phases_is_valid(&bench->plan.schedule));
}

static struct gossip_doubling_run *play(struct bench *bench, struct tacit_sim_row **row,
                                        void (*sent)(void *, const void *), void *context)
{
    enum tacit_status status;
    (void)faults_use(&bench->faults); /* which may be others than they were */
    struct gossip_doubling_run *const run = gossip_doubling_new(&bench->plan, &status);
    assert_non_null(run);
    *row = tacit_sim_row_new(&bench->plan.common, GOSSIP_METRIC_COUNT);
    assert_non_null(*row);
    tacit_sim_row_clear(*row, &bench->plan.common, GOSSIP_METRIC_COUNT);
    if (sent != NULL)
        faults_watch(run->nodes, sent, context);
    assert_int_equal(gossip_doubling_play(run, 0, *row, &bench->stop), TACIT_OK);
    return run;
}

static void close_run(struct bench *bench, struct gossip_doubling_run *run,
                      struct tacit_sim_row *row)
{
    tacit_sim_delete(run);
    testing_free(row);
    network_free(bench->network);
}

static struct tacit_doubling_view view_of(const struct gossip_doubling_run *run, uint32_t node)
{
    struct tacit_doubling_view view;
    tacit_doubling_view(tacit_sim_nodes_state(run->nodes, node), &view);
    return view;
}

/* ---- Without faults ---- */

/* What the judge of a hub makes of the blocks that the agents released, round by round. Result:
 * rounds that agree. */
static uint32_t rounds_of_a_hub(const struct bench *bench, const struct gossip_doubling_run *run)
{
    struct tacit_phases const *const schedule = &bench->plan.schedule;
    struct tacit_phased_judge *const judge = testing_malloc(tacit_phased_judge_size(schedule));
    struct tacit_doubling_view const view = view_of(run, 0);
    struct tacit_phased_judge_view hub;
    uint32_t used[ARMS_MAX] = {0};
    uint32_t rounds = 0;
    assert_int_equal(tacit_phased_judge_init(judge, schedule), TACIT_OK);
    for (tacit_phased_judge_view(judge, &hub); !hub.finished; rounds++) {
        int64_t sums[ARMS_MAX] = {0};
        uint32_t there = 0;
        for (uint32_t i = 0; i < hub.plan_count; i++) {
            uint32_t const arm = hub.plan[i].arm;
            uint32_t const block = used[arm]++;
            assert_true(hub.plan[i].count ==
                        view.rungs[block] - (block == 0 ? 0 : view.rungs[block - 1]));
            for (uint32_t agent = 0; agent < schedule->agent_count; agent++) {
                size_t const cell = agent * (size_t)schedule->arm_count + arm;
                if (view.known[cell] <= block)
                    continue;
                sums[i] += view.steps[cell * view.rung_count + block];
                there++;
            }
        }
        if (there < hub.plan_count * schedule->agent_count)
            break; /* T came before */
        tacit_phased_judge_close(judge, schedule->agent_count, sums);
        tacit_phased_judge_view(judge, &hub);
    }
    for (uint32_t arm = 0; arm < schedule->arm_count; arm++) /* and nothing else was released */
        assert_true(view.known[arm] <= used[arm]);
    if (hub.finished)
        assert_int_equal(hub.leader, view.leader);
    return rounds;
}

TEST(without_faults_all_agents_play_what_a_hub_would_order)
{
    uint32_t rounds = 0;
    uint32_t graphs = 0;
    uint64_t forced = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct bench bench;
        struct tacit_sim_row *row;
        uint32_t const agents = 2 + (uint32_t)seed % (AGENTS_MAX - 1);
        uint32_t const arms = 2 + (uint32_t)seed % (ARMS_MAX - 1);
        open_bench(&bench, seed, agents, arms, 20000,
                   seed % 3 == 0 ? (double)INFINITY : 0.5 + (double)(seed % 5));
        struct gossip_doubling_run *const run = play(&bench, &row, NULL, NULL);
        assert_true(faults_are_healed(run->nodes));
        rounds += rounds_of_a_hub(&bench, run);
        graphs += bench.network->graph.edge_count > agents ? 1 : 0;
        for (uint32_t i = 0; i < agents; i++) {
            struct tacit_doubling_view const view = view_of(run, i);
            assert_true(view.finished && view.pull_count == 20000 && view.conflict_count == 0);
            forced += view.forced_count; /* news of a short block overtakes other news */
        }
        close_run(&bench, run, row);
    }
    print_message("%u rounds, each as a hub would order it; %u graphs with circles\n", rounds,
                  graphs);
    assert_true(rounds > 600 && graphs > 10 && forced < 60 * 20000 / 100);
}

/* ---- With faults ---- */

#define INCARNATIONS_MAX 256u

/* What one incarnation of a site says of its own blocks. */
struct incarnation {
    uint64_t name;
    bool seen[ARMS_MAX][BLOCKS_MAX];
    int64_t sum[ARMS_MAX][BLOCKS_MAX];
};

/* What was seen on the wire: the first sum of each block. */
struct watcher {
    uint32_t arms;
    uint64_t sum[AGENTS_MAX][ARMS_MAX][BLOCKS_MAX];
    bool seen[AGENTS_MAX][ARMS_MAX][BLOCKS_MAX];
    uint64_t blocks;
    uint64_t repeats;
    uint64_t questions;
    uint64_t refusals;
    uint64_t conflicts;
    struct incarnation *incarnations; /* INCARNATIONS_MAX, or NULL */
    uint32_t incarnation_count;
};

/* An incarnation says one sum of a block, ever: rewards are not released again. */
static void look_at_incarnation(struct watcher *watcher,
                                const struct tacit_doubling_message *message)
{
    uint32_t at = 0;
    while (at < watcher->incarnation_count &&
           watcher->incarnations[at].name != message->incarnation)
        at++;
    if (at == watcher->incarnation_count) {
        assert_true(watcher->incarnation_count++ < INCARNATIONS_MAX);
        watcher->incarnations[at].name = message->incarnation;
    }
    struct incarnation *const incarnation = &watcher->incarnations[at];
    for (uint32_t i = 0; i < message->entry_count; i++) {
        struct tacit_doubling_entry const *const entry = &message->entries[i];
        if (entry->agent != message->from)
            continue;
        if (incarnation->seen[entry->arm][entry->block])
            assert_true(incarnation->sum[entry->arm][entry->block] == entry->steps);
        incarnation->seen[entry->arm][entry->block] = true;
        incarnation->sum[entry->arm][entry->block] = entry->steps;
    }
}

static void look_at_message(void *context, const void *said)
{
    struct watcher *const watcher = context;
    struct tacit_doubling_message const *const message = said;
    watcher->questions += message->kind == TACIT_DOUBLING_HAVE;
    watcher->refusals += message->kind == TACIT_DOUBLING_REFUSE;
    if (watcher->incarnations != NULL && message->kind == TACIT_DOUBLING_NEWS)
        look_at_incarnation(watcher, message);
    for (uint32_t i = 0; i < message->entry_count; i++) {
        struct tacit_doubling_entry const *const entry = &message->entries[i];
        bool *const seen = &watcher->seen[entry->agent][entry->arm][entry->block];
        uint64_t *const sum = &watcher->sum[entry->agent][entry->arm][entry->block];
        if (*seen) {
            watcher->repeats++;
            watcher->conflicts += *sum != (uint64_t)entry->steps;
        } else {
            *seen = true;
            *sum = (uint64_t)entry->steps;
            watcher->blocks++;
        }
    }
}

static void open_faulty(struct bench *bench, uint64_t seed, uint64_t horizon)
{
    struct tacit_rng rng = tacit_rng_stream(seed, 7, 0, TACIT_PURPOSE_FAULT);
    open_bench(bench, seed, 2 + (uint32_t)tacit_rng_below(&rng, 5), 3, horizon, 8);
    bench->faults = (struct faults){.loss = 0.3 * tacit_rng_uniform(&rng),
                                    .duplication = 0.3 * tacit_rng_uniform(&rng),
                                    .delay_us_max = tacit_rng_below(&rng, 20),
                                    .agent_crash = 0.05 * tacit_rng_uniform(&rng),
                                    .down_us_max = 1 + tacit_rng_below(&rng, 30),
                                    .plan_parts = 1 + (uint32_t)tacit_rng_below(&rng, 3),
                                    .noise_failure = 0.2 * tacit_rng_uniform(&rng),
                                    .healed_at_us = 300};
    bench->plan.faults = faults_use(&bench->faults);
}

/* Every block that a state holds is the one that was seen on the wire, or was never sent. */
static void check_blocks(const struct bench *bench, const struct gossip_doubling_run *run,
                         const struct watcher *watcher)
{
    uint32_t const agents = bench->plan.schedule.agent_count;
    uint32_t const arms = bench->plan.schedule.arm_count;
    for (uint32_t node = 0; node < agents; node++) {
        struct tacit_doubling_view const view = view_of(run, node);
        for (size_t cell = 0; cell < (size_t)agents * arms; cell++)
            for (uint32_t block = 0; block < view.known[cell]; block++) {
                uint32_t const of = (uint32_t)(cell / arms);
                uint32_t const arm = (uint32_t)(cell % arms);
                int64_t const steps = view.steps[cell * view.rung_count + block];
                assert_true(of == node || watcher->seen[of][arm][block]);
                if (watcher->seen[of][arm][block])
                    assert_true((uint64_t)steps == watcher->sum[of][arm][block]);
            }
    }
}

/* Levels that every agent knows of every agent. */
static uint32_t common_blocks(const struct bench *bench, const struct gossip_doubling_run *run)
{
    uint32_t const agents = bench->plan.schedule.agent_count;
    uint32_t const arms = bench->plan.schedule.arm_count;
    uint32_t common = 0;
    for (uint32_t arm = 0; arm < arms; arm++) {
        uint32_t least = BLOCKS_MAX;
        for (uint32_t node = 0; node < agents; node++)
            for (uint32_t of = 0; of < agents; of++) {
                uint32_t const known = view_of(run, node).known[of * arms + arm];
                least = known < least ? known : least;
            }
        common += least;
    }
    return common;
}

TEST(lost_late_repeated_messages_and_deaths_lose_and_double_no_block)
{
    struct watcher total = {0};
    uint64_t rounds = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct bench bench;
        struct tacit_sim_row *row;
        struct watcher watcher = {.arms = 3};
        open_faulty(&bench, seed, 3000);
        struct gossip_doubling_run *const run = play(&bench, &row, look_at_message, &watcher);
        assert_true(faults_are_healed(run->nodes));
        assert_int_equal(watcher.conflicts, 0);
        check_blocks(&bench, run, &watcher);
        /* after 300 slots of faults 2,700 suffice for a few rounds together */
        uint32_t const common = common_blocks(&bench, run);
        assert_true(common >= 6);
        rounds += common;
        for (uint32_t i = 0; i < bench.plan.schedule.agent_count; i++) {
            assert_false(view_of(run, i).halted);
            assert_int_equal(view_of(run, i).conflict_count, 0);
        }
        total.blocks += watcher.blocks;
        total.repeats += watcher.repeats;
        total.questions += watcher.questions;
        close_run(&bench, run, row);
    }
    print_message("2000 schedules: %llu blocks, said %llu times again, %llu questions; %llu levels "
                  "that all know of all\n",
                  (unsigned long long)total.blocks, (unsigned long long)total.repeats,
                  (unsigned long long)total.questions, (unsigned long long)rounds);
    assert_true(total.questions > 10000 && total.repeats > total.blocks);
}

/* ---- Copies ---- */

TEST(of_copies_of_a_site_neighbours_hear_one_and_no_incarnation_says_two_sums)
{
    uint64_t halted = 0;
    uint64_t refusals = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct bench bench;
        struct tacit_sim_row *row;
        struct watcher watcher = {.arms = 3};
        watcher.incarnations = testing_calloc(INCARNATIONS_MAX, sizeof *watcher.incarnations);
        open_faulty(&bench, 5000 + seed, 1500);
        bench.faults.loss = bench.faults.duplication = 0;
        bench.faults.clones = (uint32_t)seed % 3;
        bench.faults.agent_backups = seed % 3 == 0 ? 1 : (uint32_t)(seed / 3) % 2;
        struct gossip_doubling_run *const run = play(&bench, &row, look_at_message, &watcher);
        uint32_t const agents = bench.plan.schedule.agent_count;
        for (uint32_t node = 0; node < agents; node++)
            halted += view_of(run, node).halted;
        refusals += watcher.refusals;
        testing_free(watcher.incarnations);
        close_run(&bench, run, row);
    }
    print_message("1000 schedules with copies: %llu refusals, %llu sites halted\n",
                  (unsigned long long)refusals, (unsigned long long)halted);
    assert_true(refusals > 100 && halted > 100);
}
