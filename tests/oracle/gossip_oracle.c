/* Gossip UCB against its literal twin on shared tapes: the same actions, theta equal to 1e-12; the
 * agents' cores against the network: the same bytes; without noise Fed_UCB is Gossip_UCB. */
#include <math.h>
#include "../support/testing.h"
#include "../support/graph.h"
#include "../support/gossip_driver.h"
#include "gossip_twin.h"

#define SLOTS 400u
#define ARMS_MAX 8u
#define AGENTS_MAX 9u

/* ---- Settings: small runs of every kind ---- */

struct small_run {
    struct gossip_setting setting;
    struct network *network;
    double means[AGENTS_MAX * ARMS_MAX];
};

static void make_run(struct small_run *made, uint32_t number)
{
    struct tacit_rng rng = tacit_rng_stream(77, number, 0, TACIT_PURPOSE_INSTANCE);
    uint32_t const agents = 2 + (uint32_t)tacit_rng_below(&rng, AGENTS_MAX - 1);
    uint32_t const arms = 1 + (uint32_t)tacit_rng_below(&rng, ARMS_MAX);
    static const double epsilons[] = {0.5, 1, 5, (double)INFINITY};
    enum tacit_privacy_mode const mode =
        number % 3 == 2 ? TACIT_PRIVACY_SOUND : TACIT_PRIVACY_PAPER;
    made->network = network_random(agents, &rng);
    made->setting =
        (struct gossip_setting){.seed = 78,
                                .run = number,
                                .rewards = number % 2 == 0 ? GOSSIP_BERNOULLI : GOSSIP_GAUSSIAN,
                                .network = made->network,
                                .means = made->means,
                                .config = {.agent_count = agents,
                                           .arm_count = arms,
                                           .horizon = number % 7 == 6 ? 1u << 9 : SLOTS,
                                           .mechanism = {mode, epsilons[number % 4], 0, 1},
                                           .width = 1,
                                           .log_base_10 = number % 4 == 1}};
    for (uint32_t i = 0; i < agents * arms; i++)
        made->means[i] = tacit_rng_uniform(&rng);
}

/* ---- The twin on the same tapes ---- */

struct twin_context {
    struct gossip_setting const *setting;
    struct gossip_tapes tapes;
    struct tacit_mechanism node;
};

/* The twin adds in doubles; levels are whole numbers, so in sound mode it adds exactly. */
static double twin_reward(void *context, uint32_t agent, uint32_t arm)
{
    struct twin_context *const twin = context;
    union tacit_sum const sum = gossip_tape_reward(twin->setting, &twin->tapes, agent, arm);
    return twin->node.scale.kind == TACIT_SCALE_REAL ? sum.real
                                                     : (double)sum.steps / (double)TACIT_STEPS;
}

static double twin_noise(void *context, uint32_t agent)
{
    struct twin_context *const twin = context;
    struct tacit_entropy const entropy = tacit_rng_entropy(&twin->tapes.agents[agent]);
    union tacit_sum noise = {0};
    assert_int_equal(tacit_mechanism_release(&twin->node, noise, &entropy, &noise), TACIT_OK);
    return twin->node.scale.kind == TACIT_SCALE_REAL ? noise.real
                                                     : (double)noise.steps / (double)TACIT_STEPS;
}

static uint64_t twin_below(void *context, uint32_t agent, uint64_t bound)
{
    struct twin_context *const twin = context;
    struct tacit_entropy const entropy = tacit_rng_entropy(&twin->tapes.agents[agent]);
    uint64_t drawn;
    assert_int_equal(tacit_entropy_below(&entropy, bound, &drawn), TACIT_OK);
    return drawn;
}

static void twin_edge(void *context, uint32_t *a, uint32_t *b)
{
    struct twin_context *const twin = context;
    struct tacit_edge const edge = gossip_tape_edge(twin->setting, &twin->tapes);
    *a = edge.a;
    *b = edge.b;
}

static void init_twin(struct gossip_twin *twin, struct twin_context *context,
                      const struct gossip_setting *setting, bool *adjacent)
{
    struct tacit_gossip_config const *const config = &setting->config;
    struct tacit_gossip_rule rule;
    assert_int_equal(tacit_gossip_rule_init(&rule, config), TACIT_OK);
    *context = (struct twin_context){setting, gossip_tapes_new(setting), rule.tree.node};
    for (uint32_t i = 0; i < config->agent_count; i++)
        for (uint32_t j = 0; j < config->agent_count; j++)
            adjacent[i * config->agent_count + j] =
                i != j && graph_adjacent(&setting->network->graph, i, j);
    struct gossip_twin_config const twin_config = {.agents = config->agent_count,
                                                   .arms = config->arm_count,
                                                   .horizon = config->horizon,
                                                   .epsilon = config->mechanism.epsilon_per_reward,
                                                   .sound = rule.sound && rule.noisy,
                                                   .log_base_10 = config->log_base_10,
                                                   .adjacent = adjacent};
    struct gossip_twin_chance const chance = {context, twin_reward, twin_noise, twin_below,
                                              twin_edge};
    gossip_twin_init(twin, &twin_config, &chance);
}

static void expect_equal_slot(const struct gossip_twin *twin,
                              const struct tacit_gossip_network_view *view, uint32_t number)
{
    uint32_t const agents = twin->config.agents;
    for (uint32_t i = 0; i < agents; i++)
        if (view->arms[i] != twin->action[i])
            fail_msg("run %u, slot %u, agent %u: arm %u, twin %u", number, (unsigned)view->slot, i,
                     view->arms[i], twin->action[i]);
    for (uint32_t cell = 0; cell < agents * twin->config.arms; cell++) {
        assert_true(view->counts[cell] == twin->n[cell]);
        assert_true(view->seen[cell] == twin->tilde[cell]);
        double const size = 1 + fabs(twin->theta[cell]);
        if (!(fabs(view->theta[cell] - twin->theta[cell]) <= 1e-12 * size))
            fail_msg("run %u, slot %u: theta %.17g, twin %.17g", number, (unsigned)view->slot,
                     view->theta[cell], twin->theta[cell]);
    }
}

TEST(network_acts_like_the_twin_for_400_slots_of_60_runs)
{
    uint64_t forced = 0;
    uint64_t forced_by_twin = 0;
    for (uint32_t number = 0; number < 60; number++) {
        struct small_run run;
        struct gossip_twin twin;
        struct twin_context context;
        struct gossip_direct direct;
        bool adjacent[AGENTS_MAX * AGENTS_MAX];
        make_run(&run, number);
        init_twin(&twin, &context, &run.setting, adjacent);
        gossip_direct_init(&direct, &run.setting);
        struct tacit_gossip_network_view view;
        for (uint32_t slot = 1; slot <= SLOTS; slot++) {
            gossip_twin_slot(&twin);
            gossip_direct_slot(&direct);
            tacit_gossip_network_view(direct.network, &view);
            expect_equal_slot(&twin, &view, number);
            for (uint32_t i = 0; i < twin.config.agents; i++)
                forced_by_twin += twin.forced[i];
        }
        forced += view.forced_count;
        gossip_direct_free(&direct);
        gossip_tapes_free(&context.tapes);
        gossip_twin_free(&twin);
        network_free(run.network);
    }
    print_message("forced: %llu of all pulls\n", (unsigned long long)forced);
    assert_true(forced > 1000); /* lines 12 and 13 were met */
    assert_int_equal(forced, forced_by_twin);
}

/* ---- Agents and the network ---- */

static void expect_equal_bytes(const struct gossip_cores *cores,
                               const struct tacit_gossip_network_view *view)
{
    uint32_t const arms = cores->rule.arm_count;
    uint64_t forced = 0;
    for (uint32_t i = 0; i < cores->rule.agent_count; i++) {
        struct tacit_gossip_agent_view agent;
        tacit_gossip_agent_view(cores->agents[i], &agent);
        size_t const row = (size_t)i * arms;
        forced += agent.forced_count;
        assert_memory_equal(agent.counts, view->counts + row, arms * sizeof agent.counts[0]);
        assert_memory_equal(agent.seen, view->seen + row, arms * sizeof agent.seen[0]);
        assert_memory_equal(agent.theta, view->theta + row, arms * sizeof agent.theta[0]);
        assert_memory_equal(agent.mean, view->mean + row, arms * sizeof agent.mean[0]);
    }
    assert_int_equal(forced, view->forced_count);
}

TEST(agents_and_network_hold_the_same_bytes_in_30_runs)
{
    for (uint32_t number = 100; number < 130; number++) {
        struct small_run run;
        struct gossip_direct direct;
        struct gossip_cores cores;
        make_run(&run, number);
        gossip_direct_init(&direct, &run.setting);
        gossip_cores_init(&cores, &run.setting);
        for (uint32_t slot = 1; slot <= SLOTS; slot++) {
            struct tacit_gossip_network_view view;
            gossip_direct_slot(&direct);
            gossip_cores_slot(&cores);
            tacit_gossip_network_view(direct.network, &view);
            expect_equal_bytes(&cores, &view);
        }
        assert_int_equal(cores.message_count, SLOTS * (cores.rule.agent_count + 2));
        struct tacit_gossip_agent_view last;
        tacit_gossip_agent_view(cores.agents[0], &last);
        assert_true(last.finished == (run.setting.config.horizon == SLOTS));
        gossip_direct_free(&direct);
        gossip_cores_free(&cores);
        network_free(run.network);
    }
}

/* "Gossip_UCB is a special case of Fed_UCB when epsilon is infinity." */
TEST(without_noise_all_modes_in_doubles_hold_the_same_bytes)
{
    for (uint32_t number = 200; number < 210; number++) {
        struct small_run run;
        struct gossip_direct fed;
        struct gossip_direct gossip;
        make_run(&run, number);
        run.setting.config.mechanism =
            (struct tacit_mechanism_config){TACIT_PRIVACY_PAPER, (double)INFINITY, 0, 1};
        struct gossip_setting plain = run.setting;
        plain.config.mechanism = (struct tacit_mechanism_config){TACIT_PRIVACY_NONE, 1, 0, 1};
        gossip_direct_init(&fed, &run.setting);
        gossip_direct_init(&gossip, &plain);
        for (uint32_t slot = 1; slot <= SLOTS; slot++) {
            struct tacit_gossip_network_view views[2];
            gossip_direct_slot(&fed);
            gossip_direct_slot(&gossip);
            tacit_gossip_network_view(fed.network, &views[0]);
            tacit_gossip_network_view(gossip.network, &views[1]);
            size_t const cells = (size_t)fed.rule.agent_count * fed.rule.arm_count;
            assert_memory_equal(views[0].theta, views[1].theta, cells * sizeof(double));
            assert_memory_equal(views[0].counts, views[1].counts, cells * sizeof(uint64_t));
        }
        gossip_direct_free(&fed);
        gossip_direct_free(&gossip);
        network_free(run.network);
    }
}

TEST(radius_is_that_of_the_paper)
{
    for (uint32_t number = 300; number < 340; number++) {
        struct small_run run;
        struct tacit_gossip_rule rule;
        make_run(&run, number);
        struct tacit_gossip_config const *const config = &run.setting.config;
        assert_int_equal(tacit_gossip_rule_init(&rule, config), TACIT_OK);
        struct gossip_twin_config const twin = {.agents = config->agent_count,
                                                .arms = config->arm_count,
                                                .horizon = config->horizon,
                                                .epsilon = config->mechanism.epsilon_per_reward,
                                                .sound = rule.sound,
                                                .log_base_10 = config->log_base_10};
        for (uint64_t t = 1; t <= 400; t += 7)
            for (uint64_t n = 1; n <= t + 1; n += 1 + n / 3) {
                double const expected = gossip_twin_radius(&twin, t, n);
                assert_true(fabs(tacit_gossip_radius(&rule, t, n) - expected) <=
                            1e-13 * (1 + expected));
            }
        network_free(run.network);
    }
}
