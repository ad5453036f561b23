/* Hybrids of epoch elimination, driven by hand: what sinks report, a hub that weighs it, and how
 * wide its bounds are; and whole hybrids, whose means must be those of the releases to the last
 * bit. What is lost, late or repeated is so in the storm (tests/round). */
#include <math.h>
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/peer_driver.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x714ba90e88e53d89))
/* Verdicts over damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0xe24334c232e78f3a))

#define NANO TACIT_NANO
#define ARMS 3u
#define PULLS 10u

/* Five on a path, 0 - 1 - 2 - 3 - 4, whose sink is 2; and 5, which is alone. */
#define AGENTS 6u
#define MEMBERS 5u

static const uint64_t only_0[] = {1};
static const uint64_t only_1[] = {2};
static const uint64_t only_2[] = {4};
static const uint64_t all_3[] = {7};
static const uint64_t first_5[] = {31};
static const double means_3[] = {0.75, 0.25, 0.7};

/* ---- Six peers ------------------------------------------------------------------------------- */

struct hybrid {
    struct network *network;
    struct peer_core p[AGENTS];
};

static struct network *five_and_one(void)
{
    struct tacit_graph_spec const specs[] = {{.kind = TACIT_GRAPH_PATH, .agent_count = MEMBERS},
                                             {.kind = TACIT_GRAPH_PATH, .agent_count = 1}};
    struct network *const network = network_new(specs, 2, 1);
    assert_int_equal(network->components[0].sink, 2);
    return network;
}

static struct peer_setup noisy_setup(void)
{
    struct peer_setup setup = peer_setup_plain(AGENTS, ARMS, 100000);
    setup.collection = TACIT_ELIM_GATHER;
    setup.base.epsilon = 1;
    setup.base.budget_nano = NANO;
    setup.slot_us = 3;
    return setup;
}

static struct hybrid hybrid_open(const struct peer_setup *setup)
{
    struct hybrid hybrid = {.network = five_and_one()};
    for (uint32_t agent = 0; agent < AGENTS; agent++) {
        hybrid.p[agent] = peer_open(setup, hybrid.network, agent, NULL);
        peer_expect(&hybrid.p[agent], driver_start(), TACIT_OK);
        assert_false(hybrid.p[agent].update.send);
        assert_int_equal(hybrid.p[agent].update.plan_count, 0);
    }
    return hybrid;
}

/* The hub has spoken: the plan of epoch 1 is open. */
static struct hybrid hybrid_pulling(const struct peer_setup *setup)
{
    struct hybrid hybrid = hybrid_open(setup);
    struct tacit_elim_message const order = driver_order(1, PULLS, all_3);
    for (uint32_t agent = 0; agent < AGENTS; agent++) {
        peer_expect(&hybrid.p[agent], driver_receive(&order), TACIT_OK);
        assert_int_equal(peer_plan_length(&hybrid.p[agent]), ARMS * PULLS);
    }
    return hybrid;
}

static void set_clock(struct hybrid *hybrid, uint64_t now_us)
{
    for (uint32_t agent = 0; agent < AGENTS; agent++)
        hybrid->p[agent].now_us = now_us;
}

/* Plays the plan; the peer's report goes to its parent at once. Result: it, for testing_free(). */
static struct tacit_elim_message *play_and_send(struct peer_core *core)
{
    assert_int_equal(peer_play(core, means_3, 0), TACIT_OK);
    peer_expect_message(core, TACIT_ELIM_DATA, core->config.parent);
    return peer_keep(core);
}

/* Everybody's report is at the sink, but for its own. */
static void gather_all(struct hybrid *hybrid)
{
    struct peer_core *const sink = &hybrid->p[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct peer_core *const leaf = &hybrid->p[i == 0 ? 0 : 4];
        struct peer_core *const relay = &hybrid->p[i == 0 ? 1 : 3];
        struct tacit_elim_message *const first = play_and_send(leaf);
        struct tacit_elim_message *const second = play_and_send(relay);
        peer_expect(relay, driver_receive(first), TACIT_OK);
        peer_wake(relay);
        peer_expect(sink, driver_receive(second), TACIT_OK);
        peer_expect(sink, driver_receive(&relay->update.message), TACIT_OK);
        testing_free(first);
        testing_free(second);
    }
    assert_int_equal(peer_view(sink).missing_count, 1);
}

/* All five reports are at the sink, whose own came last. */
static struct hybrid hybrid_gathered(const struct peer_setup *setup)
{
    struct hybrid hybrid = hybrid_pulling(setup);
    struct peer_core *const sink = &hybrid.p[2];
    gather_all(&hybrid);
    set_clock(&hybrid, 20);
    assert_false(sink->update.send);
    peer_expect(sink, driver_start(), TACIT_OK); /* shows the plan again */
    assert_int_equal(peer_play(sink, means_3, 0), TACIT_OK);
    assert_int_equal(peer_view(sink).missing_count, 0);
    return hybrid;
}

/* ---- Relays ---------------------------------------------------------------------------------- */

TEST(more_rows_than_a_message_may_carry_go_with_the_slots_that_follow)
{
    struct peer_setup setup = noisy_setup();
    setup.rows_max = 1;
    struct hybrid hybrid = hybrid_pulling(&setup);
    struct peer_core *const relay = &hybrid.p[1];
    struct tacit_elim_message *const data = play_and_send(&hybrid.p[0]);
    peer_expect(relay, driver_receive(data), TACIT_OK);
    peer_expect(relay, driver_start(), TACIT_OK);
    assert_int_equal(peer_play(relay, means_3, 0), TACIT_OK);
    for (uint32_t i = 0; i < 2; i++) { /* and its timer says both again */
        peer_expect_message(relay, TACIT_ELIM_DATA, 2);
        peer_expect_set(relay->update.message.origins, only_0);
        peer_wake(relay);
        peer_expect_message(relay, TACIT_ELIM_DATA, 2);
        peer_expect_set(relay->update.message.origins, only_1);
        peer_wake(relay);
        if (relay->update.message.kind == TACIT_ELIM_HELLO) /* to the hub, in turn */
            peer_wake(relay);
    }
}

/* ---- Sinks ----------------------------------------------------------------------------------- */

static void expect_sum_of(const struct hybrid *hybrid, const struct tacit_elim_message *report,
                          const uint64_t *members)
{
    assert_int_equal(report->kind, TACIT_ELIM_REPORT);
    assert_int_equal(report->to, TACIT_HUB);
    assert_int_equal(report->agents, tacit_bits_count(members, AGENTS));
    assert_int_equal(report->pulls, PULLS);
    assert_int_equal(report->sum_count, ARMS);
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        int64_t sum = 0;
        for (uint32_t agent = 0; agent < AGENTS; agent++)
            if (tacit_bits_has(members, agent))
                sum += peer_view(&hybrid->p[agent]).agent.noised[arm].steps;
        assert_true(report->sums[arm].steps == sum);
    }
}

TEST(sink_reports_the_sum_of_its_component_once_it_is_complete)
{
    struct peer_setup const setup = noisy_setup();
    struct hybrid hybrid = hybrid_gathered(&setup);
    struct peer_core *const sink = &hybrid.p[2];
    assert_false(sink->update.send); /* until the slot of the others is over */
    assert_int_equal(sink->update.deadline_us, 20 + 3);
    peer_wake(sink);
    assert_true(sink->update.persist);
    expect_sum_of(&hybrid, &sink->update.message, first_5);
}

/* 0 and 4 do not come before the time is over, which begins with the sink's own report. */
static struct hybrid hybrid_at_timeout(struct tacit_elim_message **late)
{
    struct peer_setup setup = noisy_setup();
    setup.gather_timeout_us = 50;
    struct hybrid hybrid = hybrid_pulling(&setup);
    struct peer_core *const sink = &hybrid.p[2];
    for (uint32_t agent = 1; agent <= 3; agent += 2) {
        struct tacit_elim_message *const data = play_and_send(&hybrid.p[agent]);
        peer_expect(sink, driver_receive(data), TACIT_OK);
        testing_free(data);
    }
    assert_int_equal(sink->update.deadline_us, TACIT_NEVER);
    set_clock(&hybrid, 30);
    peer_expect(sink, driver_start(), TACIT_OK);
    assert_int_equal(peer_play(sink, means_3, 0), TACIT_OK);
    assert_int_equal(sink->update.deadline_us, 30 + 50);
    sink->now_us = 79;
    peer_expect(sink, driver_timeout(), TACIT_OK);
    assert_false(sink->update.send);
    peer_wake(sink);
    struct tacit_elim_message *const data = play_and_send(&hybrid.p[0]);
    peer_expect(&hybrid.p[1], driver_receive(data), TACIT_OK);
    peer_wake(&hybrid.p[1]);
    *late = peer_keep(&hybrid.p[1]);
    return hybrid;
}

TEST(sink_reports_what_it_has_when_its_time_is_over)
{
    static const uint64_t middle[] = {2 + 4 + 8};
    struct tacit_elim_message *late;
    struct hybrid hybrid = hybrid_at_timeout(&late);
    struct peer_core *const sink = &hybrid.p[2];
    expect_sum_of(&hybrid, &sink->update.message, middle);
    struct tacit_elim_message *const report = peer_keep(sink);
    /* What comes now is not in it, and is not taken. */
    struct peer_core const before = peer_copy(sink);
    struct tacit_elim_message const *const advert =
        peer_expect_answer(sink, late, TACIT_ELIM_ADVERT, 1);
    peer_expect_set(advert->origins, middle);
    assert_false(sink->update.persist);
    peer_expect_set(peer_view(sink).known, middle);
    assert_memory_equal(sink->table, before.table, sink->table_size);
    peer_wake(sink);
    if (sink->update.message.kind != TACIT_ELIM_REPORT)
        peer_wake(sink);
    assert_true(peer_same_message(sink, report, &sink->update.message));
    testing_free(late);
}

/* One update carries one message: neither timer may swallow what the other one has to say. */
TEST(sink_whose_two_timers_run_off_at_once_still_reports)
{
    struct peer_setup setup = noisy_setup();
    setup.gather_timeout_us = DRIVER_RESEND_US; /* its own timer runs off at the same moment */
    struct hybrid hybrid = hybrid_pulling(&setup);
    struct peer_core *const sink = &hybrid.p[2];
    assert_int_equal(peer_play(sink, means_3, 0), TACIT_OK);
    assert_int_equal(sink->update.deadline_us, DRIVER_RESEND_US);
    uint32_t reports = 0;
    while (sink->now_us < 2 * DRIVER_RESEND_US) {
        peer_wake(sink);
        reports += sink->update.send && sink->update.message.kind == TACIT_ELIM_REPORT;
    }
    assert_true(reports >= 1);
    peer_expect_set(peer_view(sink).known, only_2);
}

/* ---- The hub above sinks --------------------------------------------------------------------- */

/* 0 reports for three (0, 1, 2), 3 for itself. */
#define HUB_AGENTS 4u

static const uint32_t three_and_one[] = {3, 0, 0, 1};

static struct driver_setup hub_setup(void)
{
    struct driver_setup setup = driver_setup_plain(HUB_AGENTS, ARMS, 100000);
    setup.epsilon = 1;
    return setup;
}

static struct driver_core hub_open(const struct driver_setup *setup, bool components_alike)
{
    struct driver_core hub = driver_hub_open(setup);
    hub.hub_config.weights = three_and_one;
    hub.hub_config.components_alike = components_alike;
    assert_int_equal(tacit_elim_hub_init(hub.state, &hub.hub_config), TACIT_OK);
    driver_expect(&hub, driver_start(), TACIT_OK);
    return hub;
}

static struct tacit_elim_message report_of(const struct driver_core *hub, uint32_t from,
                                           uint32_t agents, const union tacit_sum *sums)
{
    struct tacit_elim_hub_view const view = driver_hub_view(hub);
    return (struct tacit_elim_message){.kind = TACIT_ELIM_REPORT,
                                       .from = from,
                                       .to = TACIT_HUB,
                                       .run_id = DRIVER_RUN_ID,
                                       .epoch = view.epoch,
                                       .pulls = view.pulls,
                                       .arms = view.arms,
                                       .agents = agents,
                                       .sum_count = view.active_count,
                                       .sums = sums};
}

/* Sums of `agents` agents whose mean rewards are these. */
static void fill_sums(const struct driver_core *hub, uint32_t agents, const double *means,
                      union tacit_sum *sums)
{
    for (uint32_t arm = 0; arm < ARMS; arm++)
        sums[arm].steps = (int64_t)((double)(driver_hub_view(hub).pulls * agents) * means[arm] *
                                    (double)TACIT_STEPS);
}

TEST(hub_with_weights_that_do_not_fit_is_refused_and_writes_nothing)
{
    struct driver_setup const setup = hub_setup();
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

/* Two reports, whose means are a and b. Result: the means and the radius of the round. */
static struct tacit_elim_hub_view two_reports(struct driver_core *hub, uint32_t agents_of_0,
                                              const double *a, const double *b)
{
    union tacit_sum sums[2][ARMS];
    fill_sums(hub, agents_of_0, a, sums[0]);
    fill_sums(hub, 1, b, sums[1]);
    struct tacit_elim_message const second = report_of(hub, 3, 1, sums[1]);
    driver_expect(hub, driver_receive(&second), TACIT_OK);
    struct tacit_elim_message const first = report_of(hub, 0, agents_of_0, sums[0]);
    driver_expect(hub, driver_receive(&first), TACIT_OK);
    struct tacit_elim_hub_view const view = driver_hub_view(hub);
    assert_int_equal(view.round_count, 1);
    return view;
}

TEST(hub_weighs_components_by_their_agents_and_by_the_switch_alike)
{
    struct driver_setup const setup = hub_setup();
    static const double a[] = {0.5, 0.25, 0.75};
    static const double b[] = {0.25, 0.5, 0.75};
    static const double by_agents[] = {1.75 / 4, 1.25 / 4, 0.75};
    static const double alike[] = {0.375, 0.375, 0.75};
    for (uint32_t i = 0; i < 2; i++) {
        struct driver_core hub = hub_open(&setup, i == 1);
        struct tacit_elim_hub_view const view = two_reports(&hub, 3, a, b);
        for (uint32_t arm = 0; arm < ARMS; arm++)
            assert_true(fabs(view.means[arm] - (i == 0 ? by_agents : alike)[arm]) < 1e-12);
    }
}

TEST(radius_is_that_of_the_agents_that_are_covered)
{
    struct driver_setup const setup = hub_setup();
    struct tacit_elim_schedule const schedule = driver_hub_config(&setup).schedule;
    for (uint32_t agents = 1; agents <= 3; agents++) {
        struct driver_core hub = hub_open(&setup, false);
        uint64_t const pulls = driver_hub_view(&hub).pulls;
        struct tacit_elim_hub_view const view = two_reports(&hub, agents, means_3, means_3);
        assert_true(view.radius == tacit_elim_radius(&schedule, 1, ARMS, pulls, agents + 1));
        assert_true(fabs(view.means[0] - means_3[0]) < 1e-6);
    }
}

TEST(bounds_of_a_sum_grow_with_the_agents_in_it)
{
    struct driver_setup const setup = hub_setup();
    struct driver_core hub = hub_open(&setup, false);
    union tacit_sum sums[ARMS];
    int64_t const noise_max = 3 * 60 * TACIT_STEPS;
    int64_t const sum_max = (int64_t)(3 * driver_hub_view(&hub).pulls) * TACIT_STEPS + noise_max;
    fill_sums(&hub, 3, means_3, sums);
    struct tacit_elim_message const report = report_of(&hub, 0, 3, sums);
    sums[0].steps = sum_max + 1;
    driver_expect_nothing(&hub, driver_receive(&report), TACIT_MALFORMED);
    sums[0].steps = -noise_max - 1;
    driver_expect_nothing(&hub, driver_receive(&report), TACIT_MALFORMED);
    sums[0].steps = sum_max;
    sums[1].steps = -noise_max;
    driver_expect(&hub, driver_receive(&report), TACIT_OK);
}

TEST(quorum_of_a_hybrid_counts_agents)
{
    struct driver_setup setup = hub_setup();
    setup.quorum = 3;
    setup.round_timeout_us = 100;
    for (uint32_t sink = 0; sink <= 3; sink += 3) {
        struct driver_core hub = hub_open(&setup, false);
        union tacit_sum sums[ARMS];
        uint32_t const agents = three_and_one[sink];
        fill_sums(&hub, agents, means_3, sums);
        struct tacit_elim_message const report = report_of(&hub, sink, agents, sums);
        driver_expect(&hub, driver_receive(&report), TACIT_OK);
        assert_int_equal(driver_hub_view(&hub).covered_count, agents);
        hub.now_us = 100;
        driver_expect(&hub, driver_timeout(), TACIT_OK);
        struct tacit_elim_hub_view const view = driver_hub_view(&hub);
        assert_int_equal(view.round_count, sink == 0 ? 1 : 0);
        assert_int_equal(view.overdue, sink == 3);
        if (sink == 3) { /* and says who is missing */
            peer_expect_set(view.uploaders, (const uint64_t[]){1 + 8});
            peer_expect_set(view.received, (const uint64_t[]){8});
            struct tacit_elim_message const other = report_of(&hub, 0, 2, sums); /* three in all */
            driver_expect(&hub, driver_receive(&other), TACIT_OK);
            assert_int_equal(driver_hub_view(&hub).round_count, 1);
        }
    }
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
        struct tacit_elim_message const report = report_of(&hub, 0, agents, sums);
        assert_false(driver_hub_view(&hub).finished);
        driver_expect(&hub, driver_receive(&report), TACIT_OK);
    }
    uint32_t const epoch = driver_hub_view(&hub).epoch;
    uint32_t const covered = (uint32_t)((UINT64_C(1) << 32) / epoch) + 1;
    assert_true(covered <= agents);
    sums[0].steps = -(int64_t)epoch * 100 * 60 * TACIT_STEPS; /* far within covered * epoch * 60 */
    struct tacit_elim_message const report = report_of(&hub, 0, covered, sums);
    driver_expect(&hub, driver_receive(&report), TACIT_OK);
}

/* ---- Sums of components ---------------------------------------------------------------------- */

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

/* ---- Whole hybrids --------------------------------------------------------------------------- */

#define NET_AGENTS_MAX 14u

static struct peer_world world_of(uint64_t seed)
{
    struct peer_world world = peer_world_of(seed, NET_AGENTS_MAX, network_random_hybrid);
    world.setup.collection = TACIT_ELIM_GATHER;
    world.setup.components_alike = tacit_rng_bernoulli(&world.rng, 0.3);
    peer_world_end(&world);
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

static void expect_rounds_of_the_releases(const struct peer_net *net)
{
    struct tacit_elim_schedule const schedule = driver_hub_config(&net->setup.base).schedule;
    struct peer_record const *const record = &net->records[net->setup.base.agent_count];
    uint64_t arms = 0;
    uint64_t pulls = 0;
    tacit_bits_fill(&arms, schedule.arm_count);
    for (uint32_t i = 0; i < record->round_count; i++) {
        struct peer_round const *const round = &record->rounds[i];
        uint32_t const active = tacit_bits_word_count(arms);
        pulls = tacit_elim_pulls(&schedule, round->epoch, active, pulls);
        double const radius =
            tacit_elim_radius(&schedule, round->epoch, active, pulls, net->setup.base.agent_count);
        double best = -INFINITY;
        for (uint32_t arm = 0; arm < schedule.arm_count; arm++) {
            double const mean = weighted_mean(net, round->epoch, arm, pulls);
            if (tacit_bits_has(&arms, arm))
                assert_memory_equal(&mean, &round->means[arm], sizeof mean);
            if (tacit_bits_has(&arms, arm) && mean > best)
                best = mean;
        }
        for (uint32_t arm = 0; arm < schedule.arm_count; arm++)
            if (tacit_bits_has(&arms, arm) && best - round->means[arm] >= 2 * radius)
                tacit_bits_remove(&arms, arm);
        assert_int_equal(round->arms, arms);
    }
}

TEST(hub_of_any_hybrid_decides_the_same_in_any_order_of_delivery)
{
    uint32_t rounds = 0;
    for (uint64_t seed = 1; seed <= 250; seed++) {
        struct peer_world world = world_of(seed);
        struct peer_net *const plain = peer_world_played(&world, false, false);
        expect_rounds_of_the_releases(plain);
        rounds += plain->records[world.setup.base.agent_count].round_count;
        peer_expect_any_order(&world, plain);
        network_free(world.network);
    }
    assert_true(rounds > 500);
}

/* A relay, a sink or the hub dies in the step number n, before or after anything of it is durable
 * or said, and comes back with its disk, for every n: nothing is released anew, every agent is
 * counted once, and the hub decides as if nothing had happened. */
TEST(death_in_any_step_changes_no_release_and_no_decision)
{
    peer_expect_deaths_change_nothing(world_of, 10);
}
