/* Peers over a graph (GIS, every peer a judge), driven by hand: when what comes in goes on, who is
 * bounded in the work it can make, when a round is over and what is played meanwhile; and whole
 * networks, in which all peers must decide the same to the last bit. What else may come, and when,
 * is in the storm (tests/round). Relays and sinks are in elim_hybrid.c. */
#include <math.h>
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/peer_driver.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x0279fe5f8d341dd1))
/* Verdicts over damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x9adb53c90052eba5))

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
static const uint64_t not_0[] = {6};
static const uint64_t not_1[] = {5};
static const uint64_t all_3[] = {7};
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

static struct peer_setup real_setup(void)
{
    struct peer_setup setup = noisy_setup();
    setup.base.mode = TACIT_PRIVACY_PAPER;
    return setup;
}

/* Started: the plan of epoch 1 is open. */
static struct trio trio_open(const struct peer_setup *setup)
{
    struct trio trio = {.network = path_of(AGENTS)};
    for (uint32_t agent = 0; agent < AGENTS; agent++) {
        trio.p[agent] = peer_open(setup, trio.network, agent, NULL);
        peer_expect(&trio.p[agent], driver_start(), TACIT_OK);
        assert_true(peer_plan_length(&trio.p[agent]) > 0);
    }
    return trio;
}

/* Everybody has made its report of epoch 1; nothing was delivered. */
static struct trio trio_released(const struct peer_setup *setup)
{
    struct trio trio = trio_open(setup);
    for (uint32_t agent = 0; agent < AGENTS; agent++)
        assert_int_equal(peer_play(&trio.p[agent], means_3, 0), TACIT_OK);
    return trio;
}

static struct trio noisy_released(void)
{
    struct peer_setup const setup = noisy_setup();
    return trio_released(&setup);
}

/* `to` asks `from` for these reports of the epoch, which `from` has. Result: the answer, for
 * testing_free(). */
static struct tacit_elim_message *data_from(struct peer_core *from, uint32_t to, uint32_t epoch,
                                            const uint64_t *origins)
{
    uint32_t const self = from->config.agent.agent_id;
    struct tacit_elim_message const request =
        peer_word(TACIT_ELIM_REQUEST, to, self, epoch, origins);
    (void)peer_expect_answer(from, &request, TACIT_ELIM_DATA, to);
    return peer_keep(from);
}

/* ADVERT, REQUEST, DATA of one set of origins between neighbours. */
static void hand_over(struct peer_core *from, struct peer_core *to, uint32_t epoch,
                      const uint64_t *origins)
{
    uint32_t const giver = from->config.agent.agent_id;
    uint32_t const taker = to->config.agent.agent_id;
    struct tacit_elim_message const advert =
        peer_word(TACIT_ELIM_ADVERT, giver, TACIT_NEIGHBOURS, epoch, origins);
    struct tacit_elim_message const *const request =
        peer_expect_answer(to, &advert, TACIT_ELIM_REQUEST, giver);
    peer_expect_set(request->origins, origins);
    struct tacit_elim_message *const data = data_from(from, taker, epoch, origins);
    peer_expect(to, driver_receive(data), TACIT_OK);
}

/* Everybody knows everything of epoch 1: 0 and 2 last, through 1. */
static void trio_spread(struct trio *trio)
{
    hand_over(&trio->p[0], &trio->p[1], 1, only_0);
    hand_over(&trio->p[2], &trio->p[1], 1, only_2);
    hand_over(&trio->p[1], &trio->p[0], 1, not_0);
    static const uint64_t first_2[] = {3};
    hand_over(&trio->p[1], &trio->p[2], 1, first_2);
}

static void set_clock(struct trio *trio, uint64_t now_us)
{
    for (uint32_t agent = 0; agent < AGENTS; agent++)
        trio->p[agent].now_us = now_us;
}

/* ---- Spreading ------------------------------------------------------------------------------- */

TEST(advert_is_answered_by_a_request_of_exactly_what_lacks)
{
    struct trio trio = noisy_released();
    struct tacit_elim_message advert = peer_word(TACIT_ELIM_ADVERT, 0, TACIT_NEIGHBOURS, 1, only_0);
    struct tacit_elim_message const *request =
        peer_expect_answer(&trio.p[1], &advert, TACIT_ELIM_REQUEST, 0);
    assert_int_equal(request->epoch, 1);
    peer_expect_set(request->origins, only_0);
    advert = peer_word(TACIT_ELIM_ADVERT, 2, 1, 1, all_3); /* 0 is asked for, 1 is its own */
    request = peer_expect_answer(&trio.p[1], &advert, TACIT_ELIM_REQUEST, 2);
    peer_expect_set(request->origins, only_2);
}

TEST(request_is_answered_by_the_rows_as_they_were_released)
{
    struct trio trio = noisy_released();
    struct tacit_elim_peer_view const view = peer_view(&trio.p[0]);
    struct tacit_elim_message *const data = data_from(&trio.p[0], 1, 1, only_0);
    assert_int_equal(data->epoch, 1);
    peer_expect_set(data->origins, only_0);
    peer_expect_set(data->arms, all_3);
    assert_int_equal(data->sum_count, ARMS);
    assert_int_equal(data->pulls, view.agent.pull_count / ARMS);
    assert_memory_equal(data->sums, view.agent.noised, ARMS * sizeof *data->sums);
    assert_int_equal(tacit_elim_message_scalars(data, AGENTS), ARMS);
    peer_expect_nothing(&trio.p[0],
                        &(struct tacit_elim_message){.kind = TACIT_ELIM_REQUEST,
                                                     .from = 1,
                                                     .to = 0,
                                                     .run_id = DRIVER_RUN_ID,
                                                     .epoch = 1,
                                                     .origins = all_3},
                        TACIT_UNEXPECTED);
}

TEST(what_comes_in_during_a_slot_goes_on_together_with_the_next)
{
    struct peer_setup setup = noisy_setup();
    uint64_t const slots[] = {0, 1, 7};
    for (size_t i = 0; i < 3; i++) {
        uint64_t const slot_us = slots[i] > 0 ? slots[i] : 1; /* 0: as soon as can be */
        setup.slot_us = slots[i];
        struct trio trio = trio_open(&setup);
        struct peer_core *const core = &trio.p[1];
        assert_int_equal(peer_play(&trio.p[0], means_3, 0), TACIT_OK);
        assert_int_equal(peer_play(&trio.p[2], means_3, 0), TACIT_OK);
        core->now_us = 20; /* its own plan is still open */
        hand_over(&trio.p[0], core, 1, only_0);
        assert_false(core->update.send);
        assert_int_equal(core->update.deadline_us, 20 + slot_us);
        hand_over(&trio.p[2], core, 1, only_2);
        assert_int_equal(core->update.deadline_us, 20 + slot_us);
        core->now_us = 20 + slot_us;
        peer_expect(core, driver_timeout(), TACIT_OK);
        assert_int_equal(core->update.message.kind, TACIT_ELIM_ADVERT);
        peer_expect_set(core->update.message.origins, not_1);
        assert_int_equal(core->update.deadline_us, TACIT_NEVER);
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

/* Peer 1, which has asked 0 for the report of 0, and the answer. */
static struct trio trio_with_data(const struct peer_setup *setup, struct tacit_elim_message **data)
{
    struct trio trio = trio_released(setup);
    struct tacit_elim_message const advert =
        peer_word(TACIT_ELIM_ADVERT, 0, TACIT_NEIGHBOURS, 1, only_0);
    (void)peer_expect_answer(&trio.p[1], &advert, TACIT_ELIM_REQUEST, 0);
    *data = data_from(&trio.p[0], 1, 1, only_0);
    return trio;
}

static void expect_bad_sum(struct peer_core *core, const struct tacit_elim_message *data,
                           union tacit_sum sum)
{
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        union tacit_sum sums[ARMS];
        struct tacit_elim_message bad = *data;
        memcpy(sums, data->sums, sizeof sums);
        sums[arm] = sum;
        bad.sums = sums;
        peer_expect_nothing(core, &bad, TACIT_MALFORMED);
    }
}

TEST(data_with_a_sum_that_cannot_be_is_refused_whole)
{
    struct peer_setup setup = noisy_setup();
    struct tacit_elim_message *data;
    struct trio trio = trio_with_data(&setup, &data);
    int64_t const noise_max = 60 * TACIT_STEPS;
    int64_t const sum_max = (int64_t)data->pulls * TACIT_STEPS + noise_max;
    int64_t const bad[] = {-noise_max - 1, sum_max + 1, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < 4; i++)
        expect_bad_sum(&trio.p[1], data, (union tacit_sum){.steps = bad[i]});
    peer_expect(&trio.p[1], driver_receive(data), TACIT_OK);
    testing_free(data);
    setup = real_setup();
    trio = trio_with_data(&setup, &data);
    double const unreal[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 4; i++)
        expect_bad_sum(&trio.p[1], data, (union tacit_sum){.real = unreal[i]});
    peer_expect(&trio.p[1], driver_receive(data), TACIT_OK);
    testing_free(data);
}

/* ---- Bounded work ---------------------------------------------------------------------------- */

TEST(neighbour_is_heard_only_so_often_in_an_epoch)
{
    struct trio trio = noisy_released();
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
    struct trio trio = noisy_released();
    struct peer_core *const core = &trio.p[1];
    hand_over(&trio.p[0], core, 1, only_0);
    struct tacit_elim_message request = peer_word(TACIT_ELIM_REQUEST, 0, 1, 1, (uint64_t[]){3});
    for (uint32_t rows = 0; rows < ROWS_MAX; rows += 2)
        (void)peer_expect_answer(core, &request, TACIT_ELIM_DATA, 0);
    peer_expect_nothing(core, &request, TACIT_REFUSED);
    request.origins = only_1;
    peer_expect_nothing(core, &request, TACIT_REFUSED);
    struct tacit_elim_message const hello = peer_word(TACIT_ELIM_HELLO, 0, 1, 1, none);
    (void)peer_expect_answer(core, &hello, TACIT_ELIM_ADVERT, 0); /* other words are heard */
    hand_over(&trio.p[2], core, 1, only_2);                       /* a new epoch */
    assert_int_equal(peer_view(core).agent.epoch, 2);
    (void)peer_expect_answer(core, &request, TACIT_ELIM_DATA, 0);
}

TEST(restart_puts_off_no_bound)
{
    struct trio trio = noisy_released();
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

/* ---- Rows in a message ----------------------------------------------------------------------- */

/* Peer 2 of a path of five, whose two neighbours hold two reports each. */
static void serve(struct peer_core *core, struct peer_core *neighbour, uint32_t *served)
{
    while (core->update.send && core->update.message.to == neighbour->config.agent.agent_id) {
        struct tacit_elim_message *const word = peer_keep(core);
        peer_expect(neighbour, driver_receive(word), TACIT_OK);
        testing_free(word);
        if (!neighbour->update.send)
            return;
        *served += neighbour->update.message.kind == TACIT_ELIM_DATA ? 1 : 0;
        struct tacit_elim_message *const answer = peer_keep(neighbour);
        peer_expect(core, driver_receive(answer), TACIT_OK);
        testing_free(answer);
    }
}

TEST(what_did_not_fit_a_message_is_asked_for_after_it)
{
    struct peer_setup setup = peer_setup_plain(5, ARMS, 100000);
    setup.rows_max = 1;
    struct network *const network = path_of(5);
    struct peer_core p[5];
    for (uint32_t agent = 0; agent < 5; agent++) {
        p[agent] = peer_open(&setup, network, agent, NULL);
        peer_expect(&p[agent], driver_start(), TACIT_OK);
        assert_int_equal(peer_play(&p[agent], means_3, 0), TACIT_OK);
    }
    hand_over(&p[0], &p[1], 1, only_0);
    hand_over(&p[4], &p[3], 1, (const uint64_t[]){16});
    uint64_t const left[] = {3};
    uint64_t const right[] = {8 + 16};
    struct tacit_elim_message const from_1 =
        peer_word(TACIT_ELIM_ADVERT, 1, TACIT_NEIGHBOURS, 1, left);
    struct tacit_elim_message const from_3 =
        peer_word(TACIT_ELIM_ADVERT, 3, TACIT_NEIGHBOURS, 1, right);
    uint32_t served = 0;
    peer_expect(&p[2], driver_receive(&from_1), TACIT_OK); /* asks 1 for 0 */
    struct tacit_elim_message *const first = peer_keep(&p[2]);
    peer_expect(&p[2], driver_receive(&from_3), TACIT_OK); /* asks 3 for 3 */
    struct tacit_elim_message *const second = peer_keep(&p[2]);
    peer_expect(&p[3], driver_receive(second), TACIT_OK);
    peer_expect(&p[2], driver_receive(&p[3].update.message), TACIT_OK);
    serve(&p[2], &p[3], &served);
    peer_expect(&p[1], driver_receive(first), TACIT_OK);
    peer_expect(&p[2], driver_receive(&p[1].update.message), TACIT_OK);
    serve(&p[2], &p[1], &served);
    assert_int_equal(peer_view(&p[2]).round_count, 1); /* without waiting for any timer */
    assert_int_equal(served, 2);
    network_free(network);
}

/* ---- HELLO, and who is behind ---------------------------------------------------------------- */

/* 2 hears nothing of epoch 1 before the others are through with it. */
static struct trio trio_with_2_behind(const struct peer_setup *setup)
{
    struct trio trio = trio_released(setup);
    hand_over(&trio.p[0], &trio.p[1], 1, only_0);
    hand_over(&trio.p[2], &trio.p[1], 1, only_2);
    hand_over(&trio.p[1], &trio.p[0], 1, not_0);
    for (uint32_t agent = 0; agent < 2; agent++) {
        peer_expect(&trio.p[agent], driver_start(), TACIT_OK);
        assert_int_equal(peer_view(&trio.p[agent]).agent.epoch, 2);
        assert_int_equal(peer_play(&trio.p[agent], means_3, 0), TACIT_OK);
    }
    hand_over(&trio.p[0], &trio.p[1], 2, only_0);
    return trio;
}

TEST(peer_that_missed_an_epoch_catches_up_from_one_who_is_in_the_next)
{
    struct peer_setup const setup = noisy_setup();
    struct trio trio = trio_with_2_behind(&setup);
    struct peer_core *const late = &trio.p[2];
    late->now_us = late->update.deadline_us;
    peer_expect(late, driver_timeout(), TACIT_OK);
    struct tacit_elim_message *const hello = peer_keep(late);
    assert_int_equal(hello->kind, TACIT_ELIM_HELLO);
    (void)peer_expect_answer(&trio.p[1], hello, TACIT_ELIM_ADVERT, 2);
    struct tacit_elim_message *const advert = peer_keep(&trio.p[1]);
    (void)peer_expect_answer(late, advert, TACIT_ELIM_REQUEST, 1);
    peer_expect_set(late->update.message.origins, (const uint64_t[]){3});
    struct tacit_elim_message *const request = peer_keep(late);
    (void)peer_expect_answer(&trio.p[1], request, TACIT_ELIM_DATA, 2);
    struct tacit_elim_message *const data = peer_keep(&trio.p[1]);
    peer_expect(late, driver_receive(data), TACIT_OK);
    struct tacit_elim_peer_view const view = peer_view(late);
    assert_int_equal(view.round_count, 1);
    assert_int_equal(view.agent.epoch, 2);
    assert_memory_equal(view.means, peer_view(&trio.p[0]).means, ARMS * sizeof *view.means);
    assert_int_equal(peer_play(late, means_3, 0), TACIT_OK);
    hand_over(late, &trio.p[1], 2, only_2);
    assert_int_equal(peer_view(&trio.p[1]).round_count, 2);
}

/* ---- The clock of rounds --------------------------------------------------------------------- */

static struct peer_setup clock_setup(void)
{
    struct peer_setup setup = noisy_setup();
    setup.has_clock = true;
    setup.round_us = 5;
    setup.slot_us = 1;
    return setup;
}

TEST(complete_round_is_closed_by_the_clock_and_not_before)
{
    struct peer_setup const setup = clock_setup();
    struct trio trio = trio_open(&setup);
    struct peer_core *const core = &trio.p[1];
    set_clock(&trio, 10);
    for (uint32_t agent = 0; agent < AGENTS; agent++)
        assert_int_equal(peer_play(&trio.p[agent], means_3, 0), TACIT_OK);
    set_clock(&trio, 12);
    hand_over(&trio.p[0], core, 1, only_0);
    hand_over(&trio.p[2], core, 1, only_2);
    assert_int_equal(peer_view(core).missing_count, 0);
    assert_int_equal(peer_view(core).round_count, 0);
    core->now_us = 14;
    peer_expect(core, driver_timeout(), TACIT_OK); /* passes on what is fresh */
    peer_expect_set(core->update.message.origins, not_1);
    assert_int_equal(peer_view(core).round_count, 0);
    assert_int_equal(core->update.deadline_us, 15);
    core->now_us = 15;
    peer_expect(core, driver_timeout(), TACIT_OK);
    assert_int_equal(peer_view(core).round_count, 1);
    assert_true(peer_plan_length(core) > 0);
    assert_false(core->update.send); /* everybody has everything now */
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

TEST(exploit_arm_stays_while_the_peer_waits)
{
    struct peer_setup const setup = real_setup();
    struct trio trio = trio_released(&setup);
    struct peer_core *const core = &trio.p[1];
    uint32_t const arm = peer_view(core).agent.exploit_arm;
    assert_int_equal(arm, 0);
    peer_expect(core, driver_exploited(10), TACIT_OK);
    hand_over(&trio.p[0], core, 1, only_0);
    core->now_us = core->update.deadline_us;
    peer_expect(core, driver_timeout(), TACIT_OK);
    peer_move(core);
    peer_expect(core, driver_start(), TACIT_OK);
    assert_int_equal(peer_view(core).agent.exploit_arm, arm);
    assert_int_equal(peer_view(core).agent.pull_count % ARMS, 1); /* the ten are in no estimate */
}

/* False alarm of about 1e-6: 5 standard deviations of Binomial(900, 1/3). */
TEST(exploit_arm_among_equals_is_drawn_evenly)
{
    static const double alike[] = {0.5, 0.5, 0.5};
    struct peer_setup const setup = real_setup();
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

TEST(entropy_that_fails_at_a_tie_takes_the_first_of_them)
{
    static const double alike[] = {0.25, 0.5, 0.5};
    struct peer_setup setup = real_setup();
    setup.base.epsilon = INFINITY; /* so that ties are all that asks for entropy */
    struct trio trio = trio_open(&setup);
    trio.p[0].entropy.fail_count = UINT64_MAX;
    assert_int_equal(peer_play(&trio.p[0], alike, 0), TACIT_OK);
    assert_int_equal(peer_view(&trio.p[0]).agent.exploit_arm, 1);
    assert_true(trio.p[0].update.send);
}

/* Beside an open plan a driver may play other pulls, and an eliminated arm must not be among them.
 */
TEST(exploit_arm_is_never_one_that_is_out)
{
    static const double mine[] = {0.1, 0.9, 0.2}; /* the others say otherwise */
    struct peer_setup setup = real_setup();
    setup.base.epsilon = INFINITY;
    struct trio trio = trio_open(&setup);
    static const double theirs[] = {0.9, 0.1, 0.8};
    assert_int_equal(peer_play(&trio.p[1], mine, 0), TACIT_OK);
    assert_int_equal(peer_view(&trio.p[1]).agent.exploit_arm, 1);
    assert_int_equal(peer_play(&trio.p[0], theirs, 0), TACIT_OK);
    assert_int_equal(peer_play(&trio.p[2], theirs, 0), TACIT_OK);
    trio_spread(&trio);
    struct tacit_elim_peer_view const view = peer_view(&trio.p[1]);
    assert_false(tacit_bits_has(view.arms, 1));
    assert_true(tacit_bits_has(view.arms, view.agent.exploit_arm));
}

/* ---- The end --------------------------------------------------------------------------------- */

TEST(peer_without_neighbours_judges_alone)
{
    static const double far_means[] = {0.9, 0.1, 0.5};
    struct peer_setup const setup = peer_setup_plain(1, ARMS, 100000);
    struct network *const network = path_of(1);
    struct peer_core core = peer_open(&setup, network, 0, NULL);
    peer_expect(&core, driver_start(), TACIT_OK);
    for (uint32_t round = 1; !peer_view(&core).agent.last; round++) {
        assert_int_equal(peer_play(&core, far_means, 0), TACIT_OK);
        assert_false(core.update.send);
        assert_int_equal(peer_view(&core).round_count, round);
        assert_false(peer_view(&core).agent.finished);
    }
    assert_int_equal(peer_play(&core, far_means, 0), TACIT_OK);
    assert_true(peer_view(&core).agent.finished);
    assert_int_equal(core.update.deadline_us, TACIT_NEVER);
    network_free(network);
}

/* One update carries one message: what is due to be passed on must not be lost when the peer's own
 * timer runs off at the same moment. */
TEST(two_timers_that_run_off_at_once_lose_no_word)
{
    struct trio trio = noisy_released();
    struct peer_core *const core = &trio.p[1];
    uint64_t const ask_us = core->update.deadline_us;
    core->now_us = ask_us - 1;
    hand_over(&trio.p[0], core, 1, only_0); /* to be passed on at ask_us */
    bool has_asked = false;
    bool has_passed_on = false;
    for (uint32_t i = 0; i < 2; i++) {
        core->now_us = core->update.deadline_us;
        assert_in_range(core->now_us, ask_us, ask_us + 1);
        peer_expect(core, driver_timeout(), TACIT_OK);
        assert_true(core->update.send);
        has_asked = has_asked || core->update.message.kind == TACIT_ELIM_HELLO;
        has_passed_on = has_passed_on || (core->update.message.kind == TACIT_ELIM_ADVERT &&
                                          core->update.message.origins[0] == only_0[0]);
    }
    assert_true(has_asked);
    assert_true(has_passed_on);
}

/* ---- Whole networks -------------------------------------------------------------------------- */

#define NET_AGENTS_MAX 14u

static struct peer_world world_of(uint64_t seed)
{
    struct peer_world world = peer_world_of(seed, NET_AGENTS_MAX, network_random);
    if (tacit_rng_bernoulli(&world.rng, 0.3)) {
        world.setup.base.round_limit = 1 + (uint32_t)tacit_rng_below(&world.rng, 8);
        world.setup.base.gap = 0.1;
    }
    peer_world_end(&world);
    return world;
}

/* Alg. 3 l. 9-11 for one epoch, from what was released. Result: the arms that are left. */
static uint64_t judge_outside(const struct peer_net *net,
                              const struct tacit_elim_schedule *schedule, uint32_t epoch,
                              uint64_t arms, uint64_t pulls, const struct peer_round *round)
{
    struct tacit_mechanism const mechanism = driver_mechanism(&net->setup.base);
    uint32_t const agents = net->setup.base.agent_count;
    double const radius =
        tacit_elim_radius(schedule, epoch, tacit_bits_word_count(arms), pulls, agents);
    double means[PEER_ARMS_MAX] = {0};
    double best = -INFINITY;
    for (uint32_t arm = 0; arm < schedule->arm_count; arm++) {
        for (uint32_t agent = 0; agent < agents; agent++)
            means[arm] +=
                tacit_sum_mean(&mechanism.scale, net->records[agent].released[epoch][arm], pulls);
        means[arm] /= agents;
        if ((arms >> arm & 1) == 0)
            continue;
        assert_memory_equal(&means[arm], &round->means[arm], sizeof means[arm]);
        best = means[arm] > best ? means[arm] : best;
    }
    for (uint32_t arm = 0; arm < schedule->arm_count; arm++)
        if (best - means[arm] >= 2 * radius)
            arms &= ~(UINT64_C(1) << arm);
    return arms;
}

/* Every peer's rounds are what the releases say, epoch by epoch; an epoch that asks for no pulls
 * only repeats its test. */
static void expect_rounds_of_the_releases(const struct peer_net *net, uint32_t agent)
{
    struct tacit_elim_schedule const schedule = driver_hub_config(&net->setup.base).schedule;
    struct peer_record const *const record = &net->records[agent];
    uint64_t arms = 0;
    uint64_t pulls = 0;
    uint32_t epoch = 1;
    tacit_bits_fill(&arms, schedule.arm_count);
    for (uint32_t i = 0; i < record->round_count; i++) {
        struct peer_round const *const round = &record->rounds[i];
        pulls = tacit_elim_pulls(&schedule, epoch, tacit_bits_word_count(arms), pulls);
        assert_int_equal(round->epoch, epoch);
        arms = judge_outside(net, &schedule, epoch, arms, pulls, round);
        epoch++;
        while (tacit_bits_word_count(arms) > 1 && i + 1 < record->round_count &&
               tacit_elim_pulls(&schedule, epoch, tacit_bits_word_count(arms), pulls) == pulls)
            fail_msg("these worlds are not meant to have epochs without pulls");
        assert_int_equal(round->arms, arms);
    }
}

static void expect_same_rounds(const struct peer_record *a, const struct peer_record *b)
{
    uint32_t const count = a->round_count < b->round_count ? a->round_count : b->round_count;
    assert_memory_equal(a->rounds, b->rounds, count * sizeof a->rounds[0]);
}

/* Own tables and a shared one, as sent and in a random order: the same releases, the same means to
 * the last bit, the same arm sets, and those that follow from the releases. */
TEST(all_peers_of_any_graph_decide_the_same_in_any_order_of_delivery)
{
    uint32_t rounds = 0;
    for (uint64_t seed = 1; seed <= 250; seed++) {
        struct peer_world world = world_of(seed);
        struct peer_net *const plain = peer_world_played(&world, false, false);
        for (uint32_t agent = 0; agent < world.setup.base.agent_count; agent++) {
            expect_same_rounds(&plain->records[0], &plain->records[agent]);
            expect_rounds_of_the_releases(plain, agent);
        }
        rounds += plain->records[0].round_count;
        peer_expect_any_order(&world, plain);
        network_free(world.network);
    }
    assert_true(rounds > 500);
}

/* A peer dies in the step number n, before or after anything of it is durable or said, and comes
 * back with its disk, for every n: nothing is released anew, and everybody decides as if nothing
 * had happened. */
TEST(death_in_any_step_changes_no_release_and_no_decision)
{
    peer_expect_deaths_change_nothing(world_of, 10);
}
