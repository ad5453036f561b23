/* Peers of epoch elimination over graphs (GIS, every peer a judge) and in hybrids, whose sinks
 * report to a hub: whole networks, with grants and without, in which all must decide the same to
 * the last bit; who is bounded in the work it can make, what is played meanwhile, and the bounds of
 * what a sink may report. What else may come, and when, is in the storm (round/storm_peers). */
#include <math.h>
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/peer_driver.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0xe1896fad67c35b72))
/* Verdicts over damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x3ea49de03e2a8708))

#define NANO TACIT_NANO
#define AGENTS 3u
#define ARMS 3u
#define MESSAGES_MAX (4 * AGENTS + 1024)
#define ROWS_MAX (8 * AGENTS + 1024)

/* Sets of agents or arms. */
static const uint64_t none[] = {0};
static const uint64_t only_0[] = {1};
static const uint64_t only_1[] = {2};
static const uint64_t only_2[] = {4};
static const double means_3[] = {0.75, 0.25, 0.7};

/* ---- A path of three: 0 - 1 - 2 -------------------------------------------------------------- */

struct trio {
    struct network *network;
    struct peer_core p[AGENTS];
};

static struct network *path_of(uint32_t agents)
{
    struct tacit_graph_spec const spec = {.kind = TACIT_GRAPH_PATH, .agent_count = agents};
    return network_new(&spec, 1, 1);
}

/* Sound, noise of epsilon 1, which is the whole budget. */
static struct peer_setup noisy_setup(void)
{
    struct peer_setup setup = peer_setup_plain(AGENTS, ARMS, 100000);
    setup.base.epsilon = 1;
    setup.base.budget_nano = NANO;
    return setup;
}

/* Everybody has made its report of epoch 1; nothing was delivered. */
static struct trio trio_released(void)
{
    struct peer_setup const setup = noisy_setup();
    struct trio trio = {.network = path_of(AGENTS)};
    for (uint32_t agent = 0; agent < AGENTS; agent++) {
        trio.p[agent] = peer_open(&setup, trio.network, agent, NULL);
        peer_expect(&trio.p[agent], driver_start(), TACIT_OK);
        assert_int_equal(peer_play(&trio.p[agent], means_3, 0), TACIT_OK);
    }
    return trio;
}

/* ADVERT, REQUEST, DATA of one set of origins of epoch 1 between neighbours. */
static void hand_over(struct peer_core *from, struct peer_core *to, const uint64_t *origins)
{
    uint32_t const giver = from->config.agent.agent_id;
    struct tacit_elim_message const advert =
        peer_word(TACIT_ELIM_ADVERT, giver, TACIT_NEIGHBOURS, 1, origins);
    struct tacit_elim_message const *const request =
        peer_expect_answer(to, &advert, TACIT_ELIM_REQUEST, giver);
    assert_int_equal(request->origins[0], origins[0]);
    struct tacit_elim_message const *const data =
        peer_expect_answer(from, request, TACIT_ELIM_DATA, to->config.agent.agent_id);
    peer_expect(to, driver_receive(data), TACIT_OK);
}

/* ---- Bounded work ---------------------------------------------------------------------------- */

TEST(neighbour_is_heard_only_so_often_in_an_epoch)
{
    struct trio trio = trio_released();
    struct peer_core *const core = &trio.p[1];
    struct tacit_elim_message const hello =
        peer_word(TACIT_ELIM_HELLO, 0, TACIT_NEIGHBOURS, 1, none);
    for (uint32_t i = 0; i < MESSAGES_MAX; i++)
        (void)peer_expect_answer(core, &hello, TACIT_ELIM_ADVERT, 0);
    peer_expect_nothing(core, &hello, TACIT_REFUSED);
    struct tacit_elim_message other = hello;
    other.from = 2; /* who has not said a word */
    (void)peer_expect_answer(core, &other, TACIT_ELIM_ADVERT, 2);
    core->now_us = 64 * DRIVER_RESEND_US - 1;
    peer_expect_nothing(core, &hello, TACIT_REFUSED);
    core->now_us++;
    for (uint32_t i = 0; i < MESSAGES_MAX; i++)
        (void)peer_expect_answer(core, &hello, TACIT_ELIM_ADVERT, 0);
    peer_expect_nothing(core, &hello, TACIT_REFUSED);
}

TEST(neighbour_gets_only_so_many_rows_in_an_epoch)
{
    struct trio trio = trio_released();
    struct peer_core *const core = &trio.p[1];
    hand_over(&trio.p[0], core, only_0);
    struct tacit_elim_message request = peer_word(TACIT_ELIM_REQUEST, 0, 1, 1, (uint64_t[]){3});
    for (uint32_t rows = 0; rows < ROWS_MAX; rows += 2)
        (void)peer_expect_answer(core, &request, TACIT_ELIM_DATA, 0);
    peer_expect_nothing(core, &request, TACIT_REFUSED);
    request.origins = only_1;
    peer_expect_nothing(core, &request, TACIT_REFUSED);
    struct tacit_elim_message const hello = peer_word(TACIT_ELIM_HELLO, 0, 1, 1, none);
    (void)peer_expect_answer(core, &hello, TACIT_ELIM_ADVERT, 0); /* other words are heard */
    hand_over(&trio.p[2], core, only_2);                          /* a new epoch */
    assert_int_equal(peer_view(core).agent.epoch, 2);
    (void)peer_expect_answer(core, &request, TACIT_ELIM_DATA, 0);
}

TEST(restart_puts_off_no_bound)
{
    struct trio trio = trio_released();
    struct peer_core *const core = &trio.p[1];
    struct tacit_elim_message const hello =
        peer_word(TACIT_ELIM_HELLO, 0, TACIT_NEIGHBOURS, 1, none);
    core->now_us = 1000000;
    for (uint32_t i = 0; i < MESSAGES_MAX; i++)
        (void)peer_expect_answer(core, &hello, TACIT_ELIM_ADVERT, 0);
    peer_move(core);
    core->now_us = 3; /* a new clock */
    peer_expect(core, driver_start(), TACIT_OK);
    peer_expect_nothing(core, &hello, TACIT_REFUSED);
    core->now_us = 3 + 64 * DRIVER_RESEND_US;
    (void)peer_expect_answer(core, &hello, TACIT_ELIM_ADVERT, 0);
}

/* ---- What is played meanwhile ---------------------------------------------------------------- */

static uint32_t best_noised(const struct tacit_elim_agent_view *view, bool is_real)
{
    uint32_t best = 0;
    for (uint32_t arm = 1; arm < ARMS; arm++)
        if (is_real ? view->noised[arm].real > view->noised[best].real
                    : view->noised[arm].steps > view->noised[best].steps)
            best = arm;
    return best;
}

/* Means that are so close that the noise decides which is the best noised one. */
static uint32_t count_other_choices(enum tacit_privacy_mode mode, uint32_t *noised_choices)
{
    static const double close_means[] = {0.5001, 0.5, 0.5};
    struct peer_setup setup = noisy_setup();
    uint32_t others = 0;
    setup.base.mode = mode;
    *noised_choices = 0;
    struct network *const network = path_of(AGENTS);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct peer_core core = peer_open(&setup, network, 0, NULL);
        core.entropy.rng = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_NOISE);
        peer_expect(&core, driver_start(), TACIT_OK);
        assert_int_equal(peer_play(&core, close_means, 0), TACIT_OK);
        struct tacit_elim_peer_view const view = peer_view(&core);
        others += view.agent.exploit_arm == 0 ? 0 : 1;
        *noised_choices +=
            view.agent.exploit_arm == best_noised(&view.agent, mode == TACIT_PRIVACY_PAPER) ? 1 : 0;
    }
    network_free(network);
    return others;
}

TEST(paper_mode_exploits_its_own_exact_mean_and_sound_mode_the_noised_one)
{
    uint32_t noised_choices;
    assert_int_equal(count_other_choices(TACIT_PRIVACY_PAPER, &noised_choices), 0);
    assert_in_range(noised_choices, 5, 50); /* so the two differ */
    assert_true(count_other_choices(TACIT_PRIVACY_SOUND, &noised_choices) > 10);
    assert_int_equal(noised_choices, 60);
}

/* False alarm of about 1e-6: 5 standard deviations of Binomial(900, 1/3). */
TEST(exploit_arm_among_equals_is_drawn_evenly)
{
    static const double alike[] = {0.5, 0.5, 0.5};
    struct peer_setup setup = noisy_setup();
    setup.base.mode = TACIT_PRIVACY_PAPER;
    struct network *const network = path_of(AGENTS);
    uint32_t counts[ARMS] = {0};
    for (uint64_t seed = 1; seed <= 900; seed++) {
        struct peer_core core = peer_open(&setup, network, 0, NULL);
        core.entropy.rng = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_NOISE);
        peer_expect(&core, driver_start(), TACIT_OK);
        assert_int_equal(peer_play(&core, alike, 0), TACIT_OK);
        counts[peer_view(&core).agent.exploit_arm]++;
    }
    for (uint32_t arm = 0; arm < ARMS; arm++)
        assert_in_range(counts[arm], 300 - 71, 300 + 71);
    network_free(network);
}

/* ---- What a sink may report ------------------------------------------------------------------ */

#define HUB_AGENTS 4u

TEST(hub_with_weights_that_do_not_fit_is_refused_and_writes_nothing)
{
    struct driver_setup const setup = driver_setup_plain(HUB_AGENTS, ARMS, 100000);
    static const uint32_t three_and_one[] = {3, 0, 0, 1};
    static const uint32_t too_few[] = {2, 0, 0, 1};
    static const uint32_t too_many[] = {3, 1, 0, 1};
    static const uint32_t around[] = {UINT32_MAX, 5, 0, 0}; /* 4, if one counts with 32 bits */
    static const uint32_t all_one[] = {1, 1, 1, 1};
    struct tacit_elim_hub_config bad[5];
    for (size_t i = 0; i < 5; i++) {
        bad[i] = driver_hub_config(&setup);
        bad[i].weights = three_and_one;
    }
    bad[0].weights = too_few;
    bad[1].weights = too_many;
    bad[2].weights = around;
    bad[3].schedule.report_count = 2; /* participation is for stars */
    bad[4].quorum = HUB_AGENTS + 1;
    for (size_t i = 0; i < 5; i++) {
        uint64_t memory[4] = {1, 2, 3, 4};
        uint64_t const before[4] = {1, 2, 3, 4};
        assert_int_equal(tacit_elim_hub_size(&bad[i]), 0);
        assert_int_equal(tacit_elim_hub_init((struct tacit_elim_hub *)memory, &bad[i]),
                         TACIT_INVALID);
        assert_memory_equal(memory, before, sizeof before);
    }
    struct tacit_elim_hub_config good = driver_hub_config(&setup);
    good.quorum = HUB_AGENTS;
    good.weights = three_and_one;
    assert_true(tacit_elim_hub_size(&good) > 0);
    good.weights = all_one;
    assert_true(tacit_elim_hub_size(&good) > 0);
}

static void report_to(struct driver_core *hub, uint32_t agents, const union tacit_sum *sums)
{
    struct tacit_elim_hub_view const view = driver_hub_view(hub);
    struct tacit_elim_message const report = {.kind = TACIT_ELIM_REPORT,
                                              .to = TACIT_HUB,
                                              .run_id = DRIVER_RUN_ID,
                                              .epoch = view.epoch,
                                              .pulls = view.pulls,
                                              .arms = view.arms,
                                              .agents = agents,
                                              .sum_count = view.active_count,
                                              .sums = sums};
    driver_expect(hub, driver_receive(&report), TACIT_OK);
}

/* Epoch times agents does not fit 32 bits any more, and an honest sum must still be taken. */
TEST(bounds_of_a_large_component_in_a_late_epoch_do_not_wrap)
{
    uint32_t const agents = TACIT_AGENTS_MAX;
    struct driver_setup setup = driver_setup_plain(agents, 2, 1000000);
    setup.epsilon = 10;
    setup.round_limit = TACIT_ELIM_EPOCHS_MAX - 1;
    setup.gap = 0.9;
    uint32_t *const weights = testing_calloc(agents, sizeof *weights);
    weights[0] = agents;
    struct driver_core hub = driver_hub_open(&setup);
    hub.hub_config.weights = weights;
    assert_int_equal(tacit_elim_hub_init(hub.state, &hub.hub_config), TACIT_OK);
    driver_expect(&hub, driver_start(), TACIT_OK);
    union tacit_sum sums[2] = {{.steps = 0}, {.steps = 0}};
    while (driver_hub_view(&hub).epoch < 4097) {
        assert_false(driver_hub_view(&hub).finished);
        report_to(&hub, agents, sums);
    }
    uint32_t const epoch = driver_hub_view(&hub).epoch;
    uint32_t const covered = (uint32_t)((UINT64_C(1) << 32) / epoch) + 1;
    assert_true(covered <= agents);
    sums[0].steps = -(int64_t)epoch * 100 * 60 * TACIT_STEPS; /* far within covered * epoch * 60 */
    report_to(&hub, covered, sums);
}

/* 2^63 is the end of integers; whoever would add up more is refused at the start. */
TEST(component_whose_sum_would_not_fit_an_integer_is_refused)
{
    static const uint32_t neighbours[] = {0};
    struct peer_setup setup = peer_setup_plain(2, 2, TACIT_HORIZON_MAX);
    struct tacit_elim_peer_config config = {.agent = driver_agent_config(&setup.base, 1),
                                            .collection = TACIT_ELIM_GATHER,
                                            .neighbours = neighbours,
                                            .neighbour_count = 1,
                                            .parent = 1};
    static uint32_t weights[16];
    struct tacit_elim_hub_config hub = driver_hub_config(&setup.base);
    hub.weights = weights;
    for (uint32_t agents = 2; agents <= 16; agents++) {
        bool const fits = agents < 8; /* 2^40 pulls of 2^20 steps each */
        config.agent.agent_count = hub.agent_count = hub.schedule.report_count = agents;
        weights[0] = agents;
        assert_int_equal(tacit_elim_peer_size(&config) > 0, fits);
        assert_int_equal(tacit_elim_hub_size(&hub) > 0, fits);
    }
    hub.weights = NULL; /* a hub of a star adds no sums */
    assert_true(tacit_elim_hub_size(&hub) > 0);
    config.agent.mechanism.scale.kind = TACIT_SCALE_REAL; /* reals have no such end */
    assert_true(tacit_elim_peer_size(&config) > 0);
}

/* ---- Whole networks -------------------------------------------------------------------------- */

#define NET_AGENTS_MAX 14u

static struct peer_world graph_of(uint64_t seed)
{
    struct peer_world world = peer_world_of(seed, NET_AGENTS_MAX, network_random);
    if (tacit_rng_bernoulli(&world.rng, 0.3)) {
        world.setup.base.round_limit = 1 + (uint32_t)tacit_rng_below(&world.rng, 8);
        world.setup.base.gap = 0.1;
    }
    peer_world_end(&world);
    return world;
}

static struct peer_world hybrid_of(uint64_t seed)
{
    struct peer_world world = peer_world_of(seed, NET_AGENTS_MAX, network_random_hybrid);
    world.setup.collection = TACIT_ELIM_GATHER;
    world.setup.components_alike = tacit_rng_bernoulli(&world.rng, 0.3);
    peer_world_end(&world);
    return world;
}

static struct peer_world granting_of(uint64_t seed)
{
    struct peer_world world = seed % 2 == 0 ? hybrid_of(seed) : graph_of(seed);
    world.setup.base.has_grants = true;
    return world;
}

/* The sum of a component, as its sink must have added it up. */
static union tacit_sum component_sum(const struct peer_net *net, const struct tacit_scale *scale,
                                     uint32_t component, uint32_t epoch, uint32_t arm)
{
    union tacit_sum sum = {0};
    for (uint32_t agent = 0; agent < net->setup.base.agent_count; agent++)
        if (net->network->label[agent] == component)
            tacit_sum_add(scale, &sum, net->records[agent].released[epoch][arm]);
    return sum;
}

/* Alg. 3 l. 9: the mean of all. */
static double plain_mean(const struct peer_net *net, uint32_t epoch, uint32_t arm, uint64_t pulls)
{
    struct tacit_scale const scale = driver_mechanism(&net->setup.base).scale;
    double mean = 0;
    for (uint32_t agent = 0; agent < net->setup.base.agent_count; agent++)
        mean += tacit_sum_mean(&scale, net->records[agent].released[epoch][arm], pulls);
    return mean / net->setup.base.agent_count;
}

/* Alg. 5 l. 14 from the releases: the sinks in the order of their numbers. */
static double weighted_mean(const struct peer_net *net, uint32_t epoch, uint32_t arm,
                            uint64_t pulls)
{
    struct tacit_scale const scale = driver_mechanism(&net->setup.base).scale;
    struct network const *const network = net->network;
    bool const alike = net->setup.components_alike;
    double mean = 0;
    for (uint32_t agent = 0; agent < net->setup.base.agent_count; agent++) {
        if (network->parent[agent] != TACIT_NO_AGENT)
            continue;
        uint32_t const component = network->label[agent];
        uint64_t const size = network->components[component].agent_count;
        union tacit_sum const sum = component_sum(net, &scale, component, epoch, arm);
        mean += tacit_sum_mean(&scale, sum, pulls * (alike ? size : 1));
    }
    return mean / (alike ? network->component_count : net->setup.base.agent_count);
}

/* The rounds of each judge are what the releases say (Alg. 3 l. 9-11), epoch by epoch. */
static uint32_t expect_rounds_of_the_releases(const struct peer_net *net, uint32_t judge)
{
    struct tacit_elim_schedule const schedule = driver_hub_config(&net->setup.base).schedule;
    struct peer_record const *const record = &net->records[judge];
    uint32_t const agents = net->setup.base.agent_count;
    uint64_t arms = 0;
    uint64_t pulls = 0;
    tacit_bits_fill(&arms, schedule.arm_count);
    for (uint32_t i = 0; i < record->round_count; i++) {
        struct peer_round const *const round = &record->rounds[i];
        uint32_t const active = tacit_bits_word_count(arms);
        pulls = tacit_elim_pulls(&schedule, round->epoch, active, pulls);
        double const radius = tacit_elim_radius(&schedule, round->epoch, active, pulls, agents);
        double best = -INFINITY;
        for (uint32_t arm = 0; arm < schedule.arm_count; arm++) {
            double const mean =
                (judge == agents ? weighted_mean : plain_mean)(net, round->epoch, arm, pulls);
            if (!tacit_bits_has(&arms, arm))
                continue;
            assert_memory_equal(&mean, &round->means[arm], sizeof mean);
            best = mean > best ? mean : best;
        }
        for (uint32_t arm = 0; arm < schedule.arm_count; arm++)
            if (tacit_bits_has(&arms, arm) && best - round->means[arm] >= 2 * radius)
                tacit_bits_remove(&arms, arm);
        assert_int_equal(round->arms, arms);
    }
    return record->round_count;
}

/* As sent and in a random order, and over a table that all share: the same releases, the same means
 * to the last bit, the same arm sets, and those that follow from the releases. */
TEST(all_judges_of_any_network_decide_the_same_in_any_order_of_delivery)
{
    for (uint32_t is_hybrid = 0; is_hybrid < 2; is_hybrid++) {
        uint32_t rounds = 0;
        for (uint64_t seed = 1; seed <= 100; seed++) {
            struct peer_world world = is_hybrid ? hybrid_of(seed) : graph_of(seed);
            struct peer_net *const plain = peer_world_played(&world, false, false);
            uint32_t const agents = world.setup.base.agent_count;
            for (uint32_t judge = is_hybrid ? agents : 0; judge < agents + is_hybrid; judge++)
                rounds += expect_rounds_of_the_releases(plain, judge);
            peer_expect_any_order(&world, plain);
            network_free(world.network);
        }
        assert_true(rounds > 200);
    }
}

TEST(grants_change_no_result_in_any_order_of_delivery)
{
    uint32_t rounds = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct peer_world world = granting_of(seed);
        world.setup.base.has_grants = false;
        struct peer_net *const plain = peer_world_played(&world, false, false);
        world.setup.base.has_grants = true;
        for (uint32_t variant = 0; variant < 3; variant++)
            peer_expect_same_records(plain, peer_world_played(&world, variant > 0, variant == 2));
        rounds += plain->records[0].round_count;
        network_free(world.network);
    }
    assert_true(rounds > 60);
}

/* A peer, as site, relay, sink or grantor, or the hub dies in the step number n, before or after
 * anything of it is durable or said, and comes back with its disk: nothing is released anew, and
 * everybody decides as if nothing had happened. */
TEST(death_in_any_step_changes_no_release_and_no_decision)
{
    struct peer_world (*const worlds[])(uint64_t) = {graph_of, hybrid_of, granting_of};
    for (uint32_t i = 0; i < 3; i++)
        peer_expect_deaths_change_nothing(worlds[i], 2);
}
