/* Agents whose releases double, in the simulator: they play what a hub with the phased index would
 * order, sum for sum; every block is the same everywhere; the scale of the noise, and more news
 * than a message takes. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/phased.h"
#include "../../src/families/gossip/plan.h"
#include "../support/digest.h"
#include "../support/faults.h"
#include "../support/network.h"

#define ARMS_MAX 64u
#define AGENTS_MAX 12u

/* Of all runs below: digest.h. */
DIGEST_IS(UINT64_C(0x19d5c24ace873c94))

/* ---- Runs ---- */

struct bench {
    struct gossip_plan plan;
    struct network *network;
    struct gossip_doubling_run *run;
    struct tacit_sim_row *row;
    double means[AGENTS_MAX * ARMS_MAX];
    uint64_t point;
    uint32_t largest_message; /* entries */
};

static void open_bench(struct bench *bench, uint64_t seed, uint32_t agents, uint32_t arms,
                       uint64_t horizon, double epsilon)
{
    struct tacit_rng rng = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_INSTANCE);
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, epsilon, 0, 1};
    *bench = (struct bench){.network = network_random(agents, &rng), .point = horizon};
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
}

static struct tacit_doubling_view view_of(const struct bench *bench, uint32_t node)
{
    struct tacit_doubling_view view;
    tacit_doubling_view(tacit_sim_nodes_state(bench->run->nodes, node), &view);
    return view;
}

static void look_at_message(void *context, const void *said)
{
    struct bench *const bench = context;
    struct tacit_doubling_message const *const message = said;
    digest_word(message->from);
    digest_bytes(message->entries, message->entry_count * sizeof *message->entries);
    if (message->entry_count > bench->largest_message)
        bench->largest_message = message->entry_count;
}

/* All agents end at T, and nobody believes of a block what its owner does not. */
static void expect_agreement(const struct bench *bench)
{
    uint32_t const agents = bench->plan.schedule.agent_count;
    uint32_t const arms = bench->plan.schedule.arm_count;
    for (uint32_t i = 0; i < agents; i++) {
        struct tacit_doubling_view const view = view_of(bench, i);
        assert_true(view.finished && view.pull_count == bench->plan.schedule.horizon);
        for (uint32_t cell = 0; cell < agents * arms; cell++) {
            struct tacit_doubling_view const its = view_of(bench, cell / arms);
            size_t const first = (size_t)cell * view.rung_count;
            assert_true(view.known[cell] <= its.known[cell]);
            assert_memory_equal(view.steps + first, its.steps + first,
                                view.known[cell] * sizeof *view.steps);
        }
        digest_bytes(view.known, agents * arms);
        digest_reals(view.means, arms);
        digest_word(view.forced_count);
        digest_word(view.leader);
    }
}

static void play(struct bench *bench)
{
    enum tacit_status status;
    atomic_bool stop = false;
    bench->run = gossip_doubling_new(&bench->plan, &status);
    bench->row = tacit_sim_row_new(&bench->plan.common, GOSSIP_METRIC_COUNT);
    assert_true(bench->run != NULL && bench->row != NULL);
    tacit_sim_row_clear(bench->row, &bench->plan.common, GOSSIP_METRIC_COUNT);
    faults_watch(bench->run->nodes, look_at_message, bench);
    assert_int_equal(gossip_doubling_play(bench->run, 0, bench->row, &stop), TACIT_OK);
    digest_reals(bench->row->metrics, GOSSIP_METRIC_COUNT);
    expect_agreement(bench);
}

static void close_bench(struct bench *bench)
{
    tacit_sim_delete(bench->run);
    testing_free(bench->row);
    network_free(bench->network);
}

/* ---- What a hub would order ---- */

/* What the judge of a hub makes of the blocks that the agents released, round by round. Result:
 * rounds that agree. */
static uint32_t rounds_of_a_hub(const struct bench *bench)
{
    struct tacit_phases const *const schedule = &bench->plan.schedule;
    struct tacit_phased_judge *const judge = testing_malloc(tacit_phased_judge_size(schedule));
    struct tacit_doubling_view const view = view_of(bench, 0);
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

TEST(all_agents_play_what_a_hub_would_order)
{
    uint32_t rounds = 0;
    uint32_t graphs = 0;
    uint64_t forced = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct bench bench;
        uint32_t const agents = 2 + (uint32_t)seed % 7;
        open_bench(&bench, seed, agents, 2 + (uint32_t)seed % 5, 20000,
                   seed % 3 == 0 ? (double)INFINITY : 0.5 + (double)(seed % 5));
        play(&bench);
        rounds += rounds_of_a_hub(&bench);
        graphs += bench.network->graph.edge_count > agents ? 1 : 0;
        for (uint32_t i = 0; i < agents; i++)
            forced += view_of(&bench, i).forced_count; /* short news overtakes other news */
        close_bench(&bench);
    }
    print_message("%u rounds, each as a hub would order it; %u graphs with circles\n", rounds,
                  graphs);
    assert_true(rounds > 600 && graphs > 10 && forced < 60 * 20000 / 100);
}

/* ---- Other plans ---- */

/* One arm or one agent, other ladders, rounds of other sizes, horizons that nothing fits in, a
 * quorum that is not all: the digest has what they say, and all still agree. */
TEST(plans_of_all_kinds_end_at_the_horizon_in_agreement)
{
    for (uint32_t number = 0; number < 120; number++) {
        struct bench bench;
        struct tacit_rng rng = tacit_rng_stream(41, number, 0, TACIT_PURPOSE_INSTANCE);
        uint32_t const agents = 1 + number / 2 % 6;
        open_bench(&bench, 1000 + number, agents, 1 + (number + 2) % 5,
                   1 + tacit_rng_below(&rng, 3000), number % 3 == 0 ? (double)INFINITY : 1);
        bench.plan.schedule.arms_per_round = 2 + number % 4;
        bench.plan.schedule.growth = 1.5 + 0.5 * (number / 2 % 3);
        bench.plan.quorum = number % 2 == 0 ? 0 : (agents + 1) / 2;
        play(&bench);
        close_bench(&bench);
    }
}

/* All rewards are 1, so a block is its pulls and noise. */
TEST(noise_is_of_scale_one_over_epsilon_and_each_block_costs_epsilon)
{
    for (uint32_t noisy = 0; noisy < 2; noisy++) {
        double squares = 0;
        uint32_t count = 0;
        for (uint64_t seed = 0; seed < 30; seed++) {
            struct bench bench;
            open_bench(&bench, 2000 + seed, 8, 6, 20000, noisy ? 1 : (double)INFINITY);
            for (uint32_t cell = 0; cell < 8 * 6; cell++)
                bench.means[cell] = 1;
            play(&bench);
            struct tacit_doubling_view const view = view_of(&bench, 0);
            assert_true(tacit_ledger_spent_nano(view.ledger) == noisy * TACIT_NANO);
            for (uint32_t cell = 0; cell < 8 * 6; cell++)
                for (uint32_t block = 0; block < view.known[cell]; block++, count++) {
                    int64_t const steps = view.steps[cell * view.rung_count + block];
                    uint64_t const pulls =
                        view.rungs[block] - (block == 0 ? 0 : view.rungs[block - 1]);
                    double const noise = (double)steps / (double)TACIT_STEPS - (double)pulls;
                    squares += noise * noise;
                }
            close_bench(&bench);
        }
        print_message("%u blocks, noise of variance %.3f\n", count, squares / count);
        /* Variance 2, of whose estimate the standard deviation is sqrt(20/count): five of them */
        assert_true(count > 5000);
        assert_true(fabs(squares / count - 2 * noisy) <= noisy * 5 * sqrt(20.0 / count));
    }
}

/* Of a star: the first blocks of all arms of all others come to the middle at once. */
TEST(news_that_does_not_fit_in_one_message_goes_on_in_the_next)
{
    struct tacit_graph_spec const star = {.kind = TACIT_GRAPH_STAR, .agent_count = AGENTS_MAX};
    struct bench bench;
    open_bench(&bench, 3000, AGENTS_MAX, ARMS_MAX, 4000, (double)INFINITY);
    network_free(bench.network);
    bench.network = network_new(&star, 1, 1);
    bench.plan.graph = &bench.network->graph;
    play(&bench);
    assert_int_equal(bench.largest_message, TACIT_DOUBLING_ENTRIES_MAX);
    for (uint32_t i = 0; i < AGENTS_MAX; i++)
        for (uint32_t cell = 0; cell < AGENTS_MAX * ARMS_MAX; cell++)
            assert_true(view_of(&bench, i).known[cell] > 0);
    close_bench(&bench);
}
