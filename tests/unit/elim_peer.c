/* Peers of epoch elimination by hand: who is bounded in the work it can make, what is played
 * meanwhile, and the bounds of what a sink may report. What may come, and when, to graphs and
 * hybrids is in the storm (round/storm_peers); whole runs, bit for bit, are in oracle/flood_oracle
 * and oracle/graph_oracle. */
#include "../support/testing.h"
#include "../support/elim_driver.h"

#define AGENTS 3u
#define ARMS 3u
#define MESSAGES_MAX (4 * AGENTS + 1024)
#define ROWS_MAX (8 * AGENTS + 1024)

/* Sets of agents. */
static const uint64_t none[] = {0};
static const uint64_t only_0[] = {1};
static const uint64_t only_1[] = {2};
static const uint64_t only_2[] = {4};

/* ---- A path of three: 0 - 1 - 2 -------------------------------------------------------------- */

/* A peer in memory of its own, with what its last step asked for. */
struct peer {
    struct tacit_elim_peer_config config;
    size_t size;
    struct tacit_elim_peer *state;
    size_t table_size;
    struct tacit_elim_table *table;
    struct tacit_rng noise;
    uint64_t now_us;
    struct tacit_elim_update update;
};

/* Sound, noise of epsilon 1, which is the whole budget. */
static struct driver_setup noisy_setup(void)
{
    struct driver_setup setup = driver_setup_plain(AGENTS, ARMS, 100000);
    setup.epsilon = 1;
    setup.budget_nano = TACIT_NANO;
    return setup;
}

static struct peer peer_open(const struct driver_setup *setup, uint32_t agent, uint64_t seed)
{
    static const uint32_t neighbours[AGENTS][2] = {{1}, {0, 2}, {1}};
    struct peer peer = {.config = {.agent = driver_agent_config(setup, agent),
                                   .schedule = driver_hub_config(setup).schedule,
                                   .collection = TACIT_ELIM_SPREAD,
                                   .neighbours = neighbours[agent],
                                   .neighbour_count = agent == 1 ? 2 : 1},
                        .noise = tacit_rng_stream(seed, 0, agent, TACIT_PURPOSE_NOISE)};
    peer.size = tacit_elim_peer_size(&peer.config);
    peer.table_size = tacit_elim_peer_table_size(&peer.config);
    assert_true(peer.size > 0);
    peer.state = testing_malloc(peer.size);
    peer.table = testing_malloc(peer.table_size);
    assert_int_equal(tacit_elim_peer_init(peer.state, &peer.config), TACIT_OK);
    tacit_elim_peer_table_init(peer.table, &peer.config, false);
    return peer;
}

/* The same bytes elsewhere. */
static struct peer peer_copy(const struct peer *peer)
{
    struct peer copy = *peer;
    copy.state = memcpy(testing_malloc(peer->size), peer->state, peer->size);
    copy.table = memcpy(testing_malloc(peer->table_size), peer->table, peer->table_size);
    return copy;
}

static void peer_free(struct peer *peer)
{
    testing_free(peer->state);
    testing_free(peer->table);
}

static struct tacit_elim_peer_view peer_view(const struct peer *peer)
{
    struct tacit_elim_peer_view view;
    tacit_elim_peer_view(peer->state, &view);
    return view;
}

static void peer_expect(struct peer *peer, struct tacit_event event, enum tacit_status status)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&peer->noise);
    event.now_us = peer->now_us;
    assert_int_equal(
        tacit_elim_peer_step(peer->state, peer->table, &event, &entropy, &peer->update), status);
    assert_int_equal(tacit_elim_peer_check(peer->state, peer->size, peer->table, peer->table_size,
                                           &peer->config),
                     TACIT_OK);
}

/* It asks for nothing, and leaves every byte as it was. */
static void peer_refuses(struct peer *peer, const struct tacit_elim_message *message)
{
    struct peer before = peer_copy(peer);
    peer_expect(peer, driver_receive(message), TACIT_REFUSED);
    assert_false(peer->update.send);
    assert_false(peer->update.persist);
    assert_int_equal(peer->update.plan_count, 0);
    assert_memory_equal(before.state, peer->state, peer->size);
    assert_memory_equal(before.table, peer->table, peer->table_size);
    peer_free(&before);
}

static const struct tacit_elim_message *peer_answers(struct peer *peer,
                                                     const struct tacit_elim_message *message,
                                                     enum tacit_elim_message_kind kind, uint32_t to)
{
    peer_expect(peer, driver_receive(message), TACIT_OK);
    assert_true(peer->update.send);
    assert_int_equal(peer->update.message.kind, kind);
    assert_int_equal(peer->update.message.from, peer->config.agent.agent_id);
    assert_int_equal(peer->update.message.to, to);
    return &peer->update.message;
}

/* Starts, and plays its first plan. */
static void peer_play(struct peer *peer, const double *means)
{
    struct tacit_pull_block plan[ARMS];
    peer_expect(peer, driver_start(), TACIT_OK);
    assert_int_equal(peer->update.plan_count, ARMS);
    memcpy(plan, peer->update.plan, sizeof plan);
    for (uint32_t i = 0; i < ARMS; i++) {
        union tacit_sum sum = {0};
        tacit_sum_add_reward(&peer->config.agent.mechanism.scale, &sum, means[plan[i].arm],
                             plan[i].count);
        peer_expect(peer, driver_reward(plan[i].arm, plan[i].count, sum), TACIT_OK);
    }
}

static struct tacit_elim_message message_of(enum tacit_elim_message_kind kind, uint32_t from,
                                            uint32_t to, const uint64_t *origins)
{
    return (struct tacit_elim_message){.kind = kind,
                                       .from = from,
                                       .to = to,
                                       .run_id = DRIVER_RUN_ID,
                                       .epoch = 1,
                                       .origins = origins};
}

/* Everybody has made its report of epoch 1; nothing was delivered. */
static void release_all(struct peer peers[AGENTS])
{
    static const double means[ARMS] = {0.75, 0.25, 0.7};
    struct driver_setup const setup = noisy_setup();
    for (uint32_t agent = 0; agent < AGENTS; agent++) {
        peers[agent] = peer_open(&setup, agent, 1);
        peer_play(&peers[agent], means);
    }
}

/* ADVERT, REQUEST, DATA of one set of origins of epoch 1 between neighbours. */
static void hand_over(struct peer *from, struct peer *to, const uint64_t *origins)
{
    uint32_t const giver = from->config.agent.agent_id;
    struct tacit_elim_message const advert =
        message_of(TACIT_ELIM_ADVERT, giver, TACIT_NEIGHBOURS, origins);
    struct tacit_elim_message const *const request =
        peer_answers(to, &advert, TACIT_ELIM_REQUEST, giver);
    assert_int_equal(request->origins[0], origins[0]);
    struct tacit_elim_message const *const data =
        peer_answers(from, request, TACIT_ELIM_DATA, to->config.agent.agent_id);
    peer_expect(to, driver_receive(data), TACIT_OK);
}

/* ---- Bounded work ---------------------------------------------------------------------------- */

TEST(neighbour_is_heard_only_so_often_in_an_epoch)
{
    struct peer peers[AGENTS];
    release_all(peers);
    struct peer *const peer = &peers[1];
    struct tacit_elim_message const hello = message_of(TACIT_ELIM_HELLO, 0, TACIT_NEIGHBOURS, none);
    for (uint32_t i = 0; i < MESSAGES_MAX; i++)
        (void)peer_answers(peer, &hello, TACIT_ELIM_ADVERT, 0);
    peer_refuses(peer, &hello);
    struct tacit_elim_message other = hello;
    other.from = 2; /* who has not said a word */
    (void)peer_answers(peer, &other, TACIT_ELIM_ADVERT, 2);
    peer->now_us = 64 * DRIVER_RESEND_US - 1;
    peer_refuses(peer, &hello);
    peer->now_us++;
    for (uint32_t i = 0; i < MESSAGES_MAX; i++)
        (void)peer_answers(peer, &hello, TACIT_ELIM_ADVERT, 0);
    peer_refuses(peer, &hello);
}

TEST(neighbour_gets_only_so_many_rows_in_an_epoch)
{
    struct peer peers[AGENTS];
    release_all(peers);
    struct peer *const peer = &peers[1];
    hand_over(&peers[0], peer, only_0);
    struct tacit_elim_message request = message_of(TACIT_ELIM_REQUEST, 0, 1, (uint64_t[]){3});
    for (uint32_t rows = 0; rows < ROWS_MAX; rows += 2)
        (void)peer_answers(peer, &request, TACIT_ELIM_DATA, 0);
    peer_refuses(peer, &request);
    request.origins = only_1;
    peer_refuses(peer, &request);
    struct tacit_elim_message const hello = message_of(TACIT_ELIM_HELLO, 0, 1, none);
    (void)peer_answers(peer, &hello, TACIT_ELIM_ADVERT, 0); /* other words are heard */
    hand_over(&peers[2], peer, only_2);                     /* a new epoch */
    assert_int_equal(peer_view(peer).agent.epoch, 2);
    (void)peer_answers(peer, &request, TACIT_ELIM_DATA, 0);
}

TEST(restart_puts_off_no_bound)
{
    struct peer peers[AGENTS];
    release_all(peers);
    struct peer *const peer = &peers[1];
    struct tacit_elim_message const hello = message_of(TACIT_ELIM_HELLO, 0, TACIT_NEIGHBOURS, none);
    peer->now_us = 1000000;
    for (uint32_t i = 0; i < MESSAGES_MAX; i++)
        (void)peer_answers(peer, &hello, TACIT_ELIM_ADVERT, 0);
    struct peer moved = peer_copy(peer);
    peer_free(peer);
    *peer = moved;
    peer->now_us = 3; /* a new clock */
    peer_expect(peer, driver_start(), TACIT_OK);
    peer_refuses(peer, &hello);
    peer->now_us = 3 + 64 * DRIVER_RESEND_US;
    (void)peer_answers(peer, &hello, TACIT_ELIM_ADVERT, 0);
}

/* ---- Old copies ------------------------------------------------------------------------------ */

/* A neighbour holds reports of it that this state never made, of its epoch or of a later one. */
TEST(old_copy_is_halted_however_far_its_neighbours_are)
{
    struct driver_setup setup = noisy_setup();
    setup.has_grants = true;
    for (uint32_t epoch = 1; epoch <= 3; epoch++) {
        struct peer peer = peer_open(&setup, 0, 1);
        struct tacit_elim_message advert = message_of(TACIT_ELIM_ADVERT, 1, 0, only_0);
        advert.epoch = epoch;
        peer_expect(&peer, driver_start(), TACIT_OK);
        peer_expect(&peer, driver_receive(&advert), TACIT_ROLLBACK);
        assert_true(peer_view(&peer).agent.halted);
    }
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
    struct driver_setup setup = noisy_setup();
    uint32_t others = 0;
    setup.mode = mode;
    *noised_choices = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct peer peer = peer_open(&setup, 0, seed);
        peer_play(&peer, close_means);
        struct tacit_elim_agent_view const view = peer_view(&peer).agent;
        others += view.exploit_arm == 0 ? 0 : 1;
        *noised_choices +=
            view.exploit_arm == best_noised(&view, mode == TACIT_PRIVACY_PAPER) ? 1 : 0;
    }
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
    struct driver_setup setup = noisy_setup();
    setup.mode = TACIT_PRIVACY_PAPER;
    uint32_t counts[ARMS] = {0};
    for (uint64_t seed = 1; seed <= 900; seed++) {
        struct peer peer = peer_open(&setup, 0, seed);
        peer_play(&peer, alike);
        counts[peer_view(&peer).agent.exploit_arm]++;
    }
    for (uint32_t arm = 0; arm < ARMS; arm++)
        assert_in_range(counts[arm], 300 - 71, 300 + 71);
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
    struct driver_setup const setup = driver_setup_plain(2, 2, TACIT_HORIZON_MAX);
    struct tacit_elim_peer_config config = {.agent = driver_agent_config(&setup, 1),
                                            .collection = TACIT_ELIM_GATHER,
                                            .neighbours = neighbours,
                                            .neighbour_count = 1,
                                            .parent = 1};
    static uint32_t weights[16];
    struct tacit_elim_hub_config hub = driver_hub_config(&setup);
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
