/* Peers over a graph (GIS, every peer a judge), driven by hand: how a report spreads, what is
 * refused and that a refusal leaves no trace, who is bounded in the work it can make, how those who
 * are behind catch up, when a round is over, what is played meanwhile, how old copies are found
 * out, what a restart finds; and whole networks, in which all peers must decide the same to the
 * last bit. Relays and sinks are in elim_hybrid.c. */
#include <math.h>
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/peer_driver.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x6e0e05ca643231d1))
/* Verdicts over damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0xc296c40cc7604316))

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
static const uint64_t beyond_3[] = {8 + 1};

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

static void expect_known(const struct peer_core *core, const uint64_t *wanted)
{
    struct tacit_elim_peer_view const view = peer_view(core);
    peer_expect_set(view.known, wanted);
    assert_int_equal(view.known_count, tacit_bits_count(wanted, AGENTS));
    assert_int_equal(view.missing_count, AGENTS - view.known_count);
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

/* ---- Configuration --------------------------------------------------------------------------- */

static const uint32_t neighbours_of_1[] = {0, 2};

static struct tacit_elim_peer_config good_config(void)
{
    struct peer_setup const setup = noisy_setup();
    struct tacit_elim_peer_config const config = {.agent = driver_agent_config(&setup.base, 1),
                                                  .neighbours = neighbours_of_1,
                                                  .neighbour_count = 2,
                                                  .parent = 1,
                                                  .schedule =
                                                      driver_hub_config(&setup.base).schedule};
    return config;
}

TEST(peer_after_init_has_all_arms_and_knows_nothing)
{
    struct peer_setup const setup = noisy_setup();
    struct network *const network = path_of(AGENTS);
    struct peer_core core = peer_open(&setup, network, 1, NULL);
    struct tacit_elim_peer_view const view = peer_view(&core);
    assert_int_equal(peer_check(&core), TACIT_OK);
    assert_int_equal(view.agent.epoch, 0);
    assert_int_equal(view.active_count, ARMS);
    peer_expect_set(view.arms, all_3);
    assert_int_equal(view.round_count, 0);
    assert_false(view.decided);
    assert_false(view.is_sink);
    peer_expect_set(view.known, none);
    assert_int_equal(tacit_ledger_spent_nano(view.agent.ledger), 0);
    network_free(network);
}

/* ---- Spreading ------------------------------------------------------------------------------- */

TEST(own_report_is_kept_and_advertised_to_the_neighbours_at_once)
{
    struct peer_setup const setup = noisy_setup();
    struct trio trio = trio_open(&setup);
    struct peer_core *const core = &trio.p[1];
    core->now_us = 50;
    assert_int_equal(peer_play(core, means_3, 0), TACIT_OK);
    assert_true(core->update.persist);
    assert_true(core->update.persist_table);
    assert_true(core->update.send);
    assert_int_equal(core->update.message.kind, TACIT_ELIM_ADVERT);
    assert_int_equal(core->update.message.to, TACIT_NEIGHBOURS);
    assert_int_equal(core->update.message.epoch, 1);
    peer_expect_set(core->update.message.origins, only_1);
    assert_int_equal(core->update.deadline_us, 50 + DRIVER_RESEND_US);
    expect_known(core, only_1);
}

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

TEST(repeated_advert_asks_nothing_again)
{
    struct trio trio = noisy_released();
    struct tacit_elim_message const advert =
        peer_word(TACIT_ELIM_ADVERT, 0, TACIT_NEIGHBOURS, 1, only_0);
    (void)peer_expect_answer(&trio.p[1], &advert, TACIT_ELIM_REQUEST, 0);
    for (uint32_t i = 0; i < 10; i++) /* it is on its way */
        peer_expect_nothing(&trio.p[1], &advert, TACIT_OK);
    struct tacit_elim_message *const data = data_from(&trio.p[0], 1, 1, only_0);
    peer_expect(&trio.p[1], driver_receive(data), TACIT_OK);
    for (uint32_t i = 0; i < 10; i++) /* it is here */
        peer_expect_nothing(&trio.p[1], &advert, TACIT_OK);
}

TEST(own_timer_asks_again_for_what_was_lost)
{
    struct trio trio = noisy_released();
    struct tacit_elim_message const advert =
        peer_word(TACIT_ELIM_ADVERT, 0, TACIT_NEIGHBOURS, 1, only_0);
    (void)peer_expect_answer(&trio.p[1], &advert, TACIT_ELIM_REQUEST, 0);
    trio.p[1].now_us = trio.p[1].update.deadline_us;
    peer_expect(&trio.p[1], driver_timeout(), TACIT_OK);
    assert_int_equal(trio.p[1].update.message.kind, TACIT_ELIM_HELLO);
    assert_int_equal(trio.p[1].update.message.to, TACIT_NEIGHBOURS);
    peer_expect_set(trio.p[1].update.message.origins, only_1);
    (void)peer_expect_answer(&trio.p[1], &advert, TACIT_ELIM_REQUEST, 0);
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

TEST(all_three_close_the_round_with_the_same_verdict)
{
    struct trio trio = noisy_released();
    trio_spread(&trio);
    struct tacit_elim_peer_view const first = peer_view(&trio.p[0]);
    assert_int_equal(first.round_count, 1);
    peer_expect_set(first.arms, not_1); /* arm 1 is out */
    assert_int_equal(first.eliminated[1], 1);
    for (uint32_t agent = 0; agent < AGENTS; agent++) {
        struct tacit_elim_peer_view const view = peer_view(&trio.p[agent]);
        assert_int_equal(view.round_count, 1);
        assert_int_equal(view.agent.epoch, 2);
        peer_expect_set(view.arms, not_1);
        assert_memory_equal(view.means, first.means, ARMS * sizeof *view.means);
        assert_true(view.radius == first.radius);
        expect_known(&trio.p[agent], none);
        assert_int_equal(peer_plan_length(&trio.p[agent]) % 2, 0);
    }
}

/* Without a clock nobody knows whether the neighbours have what came last. */
TEST(last_to_come_is_advertised_with_the_next_plan_where_no_clock_ends_the_round)
{
    struct peer_setup const setup = noisy_setup();
    struct trio trio = trio_released(&setup);
    struct peer_core *const core = &trio.p[1];
    hand_over(&trio.p[0], core, 1, only_0);
    hand_over(&trio.p[2], core, 1, only_2);
    assert_true(peer_plan_length(core) > 0); /* of epoch 2 */
    assert_true(core->update.persist);
    assert_int_equal(core->update.message.kind, TACIT_ELIM_ADVERT);
    assert_int_equal(core->update.message.epoch, 1);
    peer_expect_set(core->update.message.origins, not_1);
    struct tacit_elim_message *const data = data_from(core, 0, 1, not_0); /* of the epoch before */
    assert_int_equal(data->epoch, 1);
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

TEST(data_not_asked_for_is_refused_without_trace)
{
    struct trio trio = noisy_released();
    struct tacit_elim_message *const data = data_from(&trio.p[0], 1, 1, only_0);
    peer_expect_nothing(&trio.p[1], data, TACIT_UNEXPECTED);
    struct tacit_elim_message const advert =
        peer_word(TACIT_ELIM_ADVERT, 0, TACIT_NEIGHBOURS, 1, only_0);
    (void)peer_expect_answer(&trio.p[1], &advert, TACIT_ELIM_REQUEST, 0);
    struct tacit_elim_message more = *data; /* what was asked for, and more */
    union tacit_sum sums[2 * ARMS] = {{.steps = 0}};
    memcpy(sums, data->sums, ARMS * sizeof *sums);
    static const uint64_t with_2[] = {5};
    more.origins = with_2;
    more.sums = sums;
    peer_expect_nothing(&trio.p[1], &more, TACIT_UNEXPECTED);
    peer_expect(&trio.p[1], driver_receive(data), TACIT_OK);
    expect_known(&trio.p[1], (const uint64_t[]){3});
    peer_expect_nothing(&trio.p[1], data, TACIT_OK); /* the same again */
}

TEST(data_that_does_not_fit_the_epoch_is_refused_whole)
{
    struct peer_setup const setup = noisy_setup();
    struct tacit_elim_message *data;
    struct trio trio = trio_with_data(&setup, &data);
    struct tacit_elim_message bad[8];
    for (size_t i = 0; i < 8; i++)
        bad[i] = *data;
    bad[0].arms = not_1;
    bad[1].arms = NULL;
    bad[2].arms = not_1; /* and as many sums */
    bad[2].sum_count = 2;
    bad[3].sum_count = ARMS - 1;
    bad[4].pulls++;
    bad[5].pulls = 0;
    bad[6].sums = NULL;
    bad[7].arms = beyond_3;
    for (size_t i = 0; i < 8; i++)
        peer_expect_nothing(&trio.p[1], &bad[i], TACIT_MALFORMED);
    peer_expect(&trio.p[1], driver_receive(data), TACIT_OK);
    testing_free(data);
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

TEST(row_that_differs_from_the_one_that_is_here_is_refused_whole)
{
    struct trio trio = noisy_released();
    hand_over(&trio.p[2], &trio.p[1], 1, only_2);
    struct tacit_elim_message const advert =
        peer_word(TACIT_ELIM_ADVERT, 0, TACIT_NEIGHBOURS, 1, only_0);
    (void)peer_expect_answer(&trio.p[1], &advert, TACIT_ELIM_REQUEST, 0);
    struct tacit_elim_message *const data = data_from(&trio.p[0], 1, 1, only_0);
    struct tacit_elim_message *const other = data_from(&trio.p[2], 1, 1, only_2);
    union tacit_sum sums[2 * ARMS];
    struct tacit_elim_message both = *data; /* the row asked for, and another one of 2 */
    memcpy(sums, data->sums, ARMS * sizeof *sums);
    memcpy(sums + ARMS, other->sums, ARMS * sizeof *sums);
    both.origins = not_1;
    both.sums = sums;
    sums[2 * ARMS - 1].steps++;
    peer_expect_nothing(&trio.p[1], &both, TACIT_MALFORMED);
    sums[2 * ARMS - 1].steps--;
    peer_expect(&trio.p[1], driver_receive(&both), TACIT_OK); /* said again to the letter */
    assert_int_equal(peer_view(&trio.p[1]).round_count, 1);
}

TEST(data_of_another_epoch_is_late_or_refused)
{
    struct trio trio = noisy_released();
    struct tacit_elim_message *const data = data_from(&trio.p[0], 1, 1, only_0);
    struct tacit_elim_message later = *data;
    later.epoch = 2;
    peer_expect_nothing(&trio.p[1], &later, TACIT_UNEXPECTED);
    trio_spread(&trio);
    peer_expect_nothing(&trio.p[1], data, TACIT_OK); /* that round is over here */
}

TEST(request_of_what_is_not_held_is_refused_without_trace)
{
    struct peer_setup const setup = noisy_setup();
    struct trio trio = trio_open(&setup);
    struct tacit_elim_message request = peer_word(TACIT_ELIM_REQUEST, 0, 1, 1, only_1);
    peer_expect_nothing(&trio.p[1], &request, TACIT_UNEXPECTED); /* not released yet */
    peer_expect(&trio.p[1], driver_start(), TACIT_OK);           /* shows the plan again */
    assert_int_equal(peer_play(&trio.p[1], means_3, 0), TACIT_OK);
    (void)peer_expect_answer(&trio.p[1], &request, TACIT_ELIM_DATA, 0);
    request.origins = all_3;
    peer_expect_nothing(&trio.p[1], &request, TACIT_UNEXPECTED);
    request.origins = only_1;
    request.epoch = 2;
    peer_expect_nothing(&trio.p[1], &request, TACIT_UNEXPECTED);
}

TEST(request_for_the_epoch_before_the_previous_one_is_refused)
{
    struct trio trio = noisy_released();
    trio_spread(&trio);
    struct tacit_elim_message request = peer_word(TACIT_ELIM_REQUEST, 0, 1, 1, all_3);
    struct tacit_elim_message *const data = data_from(&trio.p[1], 0, 1, all_3);
    peer_expect_set(data->arms, all_3);
    for (uint32_t agent = 0; agent < AGENTS; agent++) {
        peer_expect(&trio.p[agent], driver_start(), TACIT_OK); /* shows the plan again */
        assert_int_equal(peer_play(&trio.p[agent], means_3, 0), TACIT_OK);
    }
    hand_over(&trio.p[0], &trio.p[1], 2, only_0);
    hand_over(&trio.p[2], &trio.p[1], 2, only_2);
    assert_int_equal(peer_view(&trio.p[1]).round_count, 2);
    peer_expect_nothing(&trio.p[1], &request, TACIT_UNEXPECTED);
    request.epoch = 2;
    (void)peer_expect_answer(&trio.p[1], &request, TACIT_ELIM_DATA, 0);
    peer_expect_set(trio.p[1].update.message.arms, not_1);
}

TEST(message_of_a_stranger_is_refused_without_trace)
{
    struct trio trio = noisy_released();
    struct tacit_elim_message const good =
        peer_word(TACIT_ELIM_ADVERT, 1, TACIT_NEIGHBOURS, 1, only_1);
    struct tacit_elim_message bad[9];
    for (size_t i = 0; i < 9; i++)
        bad[i] = good;
    bad[0].from = 2; /* an agent of the run, but no neighbour */
    bad[1].from = 0; /* itself */
    bad[2].from = 3;
    bad[3].from = TACIT_HUB; /* there is none */
    bad[4].from = TACIT_NEIGHBOURS;
    bad[5].run_id++;
    bad[6].to = 2;
    bad[7].to = TACIT_EVERYONE;
    bad[8].to = TACIT_HUB;
    for (size_t i = 0; i < 9; i++)
        peer_expect_nothing(&trio.p[0], &bad[i], TACIT_STRANGER);
    bad[3].kind = TACIT_ELIM_ORDER;
    bad[3].to = 0;
    bad[3].arms = all_3;
    bad[3].pulls = 1;
    peer_expect_nothing(&trio.p[0], &bad[3], TACIT_STRANGER);
    (void)peer_expect_answer(&trio.p[0], &good, TACIT_ELIM_REQUEST, 1);
}

TEST(message_that_makes_no_sense_is_refused_without_trace)
{
    struct trio trio = noisy_released();
    static const enum tacit_elim_message_kind kinds[] = {TACIT_ELIM_HELLO, TACIT_ELIM_ADVERT,
                                                         TACIT_ELIM_REQUEST, TACIT_ELIM_DATA};
    for (size_t i = 0; i < 4; i++) {
        struct tacit_elim_message bad = peer_word(kinds[i], 1, 0, 1, beyond_3);
        peer_expect_nothing(&trio.p[0], &bad, TACIT_MALFORMED);
        bad.origins = NULL;
        peer_expect_nothing(&trio.p[0], &bad, TACIT_MALFORMED);
        bad.origins = only_1;
        bad.epoch = TACIT_ELIM_EPOCHS_MAX + 1;
        peer_expect_nothing(&trio.p[0], &bad, TACIT_MALFORMED);
        bad.epoch = 0; /* only a HELLO comes from before the first order */
        peer_expect_nothing(&trio.p[0], &bad,
                            kinds[i] == TACIT_ELIM_HELLO ? TACIT_OK : TACIT_MALFORMED);
    }
    struct tacit_elim_message of_hubs = peer_word(TACIT_ELIM_ORDER, 1, 0, 1, only_1);
    peer_expect_nothing(&trio.p[0], &of_hubs, TACIT_UNEXPECTED);
    of_hubs.kind = TACIT_ELIM_REPORT;
    peer_expect_nothing(&trio.p[0], &of_hubs, TACIT_UNEXPECTED);
    of_hubs.kind = (enum tacit_elim_message_kind)77;
    peer_expect_nothing(&trio.p[0], &of_hubs, TACIT_UNEXPECTED);
}

TEST(reward_that_the_plan_did_not_ask_for_is_refused_without_trace)
{
    struct peer_setup const setups[] = {noisy_setup(), real_setup()};
    for (size_t i = 0; i < 2; i++) {
        struct trio trio = trio_open(&setups[i]);
        struct peer_core *const core = &trio.p[0];
        uint64_t const pulls = core->update.plan[0].count;
        union tacit_sum const nothing = {0};
        union tacit_sum const unreal = {.real = NAN}; /* as steps, far too many */
        struct peer_core const before = peer_copy(core);
        peer_expect(core, driver_reward(0, pulls + 1, nothing), TACIT_INVALID);
        peer_expect(core, driver_reward(ARMS, 1, nothing), TACIT_INVALID);
        peer_expect(core, driver_reward(UINT32_MAX, 1, nothing), TACIT_INVALID);
        peer_expect(core, driver_reward(1, 0, nothing), TACIT_INVALID);
        peer_expect(core, driver_reward(1, 1, unreal), TACIT_INVALID);
        peer_expect(core, driver_exploited(0), TACIT_INVALID);
        assert_memory_equal(core->state, before.state, core->size);
    }
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

TEST(request_of_more_rows_than_a_message_may_carry_is_refused)
{
    struct peer_setup setup = noisy_setup();
    setup.rows_max = 1;
    struct trio trio = trio_released(&setup);
    struct peer_core *const core = &trio.p[1];
    hand_over(&trio.p[0], core, 1, only_0);
    struct tacit_elim_message request = peer_word(TACIT_ELIM_REQUEST, 2, 1, 1, (uint64_t[]){3});
    peer_expect_nothing(core, &request, TACIT_REFUSED);
    request.origins = only_0;
    (void)peer_expect_answer(core, &request, TACIT_ELIM_DATA, 2);
}

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

TEST(hello_is_answered_by_what_the_asker_lacks)
{
    struct trio trio = noisy_released();
    struct peer_core *const core = &trio.p[1];
    hand_over(&trio.p[0], core, 1, only_0);
    struct tacit_elim_message hello = peer_word(TACIT_ELIM_HELLO, 2, TACIT_NEIGHBOURS, 1, none);
    struct tacit_elim_message const *advert =
        peer_expect_answer(core, &hello, TACIT_ELIM_ADVERT, 2);
    assert_int_equal(advert->epoch, 1);
    peer_expect_set(advert->origins, (const uint64_t[]){3});
    hello.origins = not_0;
    advert = peer_expect_answer(core, &hello, TACIT_ELIM_ADVERT, 2);
    peer_expect_set(advert->origins, only_0);
    hello.origins = all_3;
    peer_expect_nothing(core, &hello, TACIT_OK);
    hello.origins = none;
    hello.epoch = 0; /* there is no epoch before this one */
    peer_expect_nothing(core, &hello, TACIT_OK);
    hello.epoch = 2;
    peer_expect_nothing(core, &hello, TACIT_OK);
}

TEST(hello_of_the_epoch_before_is_answered_by_all_that_it_had)
{
    struct peer_setup const setup = noisy_setup();
    struct trio trio = trio_released(&setup);
    trio_spread(&trio);
    struct tacit_elim_message hello = peer_word(TACIT_ELIM_HELLO, 0, TACIT_NEIGHBOURS, 1, not_0);
    struct tacit_elim_message const *advert =
        peer_expect_answer(&trio.p[1], &hello, TACIT_ELIM_ADVERT, 0);
    assert_int_equal(advert->epoch, 1);
    peer_expect_set(advert->origins, all_3);
    hello.epoch = 2;
    hello.origins = none;
    peer_expect_nothing(&trio.p[1], &hello, TACIT_OK); /* nothing of this epoch is here */
}

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

/* What was said about an epoch that it had not come to is asked for when it comes there. */
TEST(peer_that_was_ahead_of_by_a_neighbour_asks_as_soon_as_it_is_there)
{
    struct peer_setup const setup = clock_setup();
    struct trio trio = trio_released(&setup);
    struct peer_core *const late = &trio.p[2];
    hand_over(&trio.p[0], &trio.p[1], 1, only_0);
    struct tacit_elim_message const early =
        peer_word(TACIT_ELIM_ADVERT, 1, TACIT_NEIGHBOURS, 2, (uint64_t[]){3});
    peer_expect_nothing(late, &early, TACIT_OK);
    hand_over(&trio.p[1], late, 1, only_0);
    hand_over(&trio.p[1], late, 1, only_1);
    for (uint32_t timer = 0; timer < 8 && peer_view(late).agent.epoch == 1; timer++) {
        late->now_us = late->update.deadline_us; /* its farewell, then the end of the round */
        peer_expect(late, driver_timeout(), TACIT_OK);
    }
    assert_int_equal(peer_view(late).agent.epoch, 2);
    assert_true(peer_plan_length(late) > 0);
    assert_true(late->update.send);
    assert_int_equal(late->update.message.kind, TACIT_ELIM_HELLO);
    assert_int_equal(late->update.message.epoch, 2);
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

TEST(round_that_is_not_complete_at_the_clock_is_closed_when_it_is)
{
    struct peer_setup const setup = clock_setup();
    struct trio trio = trio_open(&setup);
    struct peer_core *const core = &trio.p[1];
    set_clock(&trio, 10);
    for (uint32_t agent = 0; agent < AGENTS; agent++)
        assert_int_equal(peer_play(&trio.p[agent], means_3, 0), TACIT_OK);
    hand_over(&trio.p[0], core, 1, only_0);
    set_clock(&trio, 15);
    peer_expect(core, driver_timeout(), TACIT_OK);
    assert_int_equal(peer_view(core).round_count, 0);
    expect_known(core, (const uint64_t[]){3});
    set_clock(&trio, 40);
    hand_over(&trio.p[2], core, 1, only_2);
    assert_int_equal(peer_view(core).round_count, 1);
}

TEST(restart_with_a_new_clock_waits_no_longer_than_a_round)
{
    struct peer_setup const setup = clock_setup();
    struct trio trio = trio_open(&setup);
    struct peer_core *const core = &trio.p[1];
    set_clock(&trio, 1000000);
    for (uint32_t agent = 0; agent < AGENTS; agent++)
        assert_int_equal(peer_play(&trio.p[agent], means_3, 0), TACIT_OK);
    hand_over(&trio.p[0], core, 1, only_0);
    hand_over(&trio.p[2], core, 1, only_2);
    peer_move(core);
    core->now_us = 3;
    peer_expect(core, driver_start(), TACIT_OK);
    assert_int_equal(peer_view(core).round_count, 0);
    assert_in_range(core->update.deadline_us, 4, 3 + 5);
    core->now_us = 3 + 5;
    peer_expect(core, driver_timeout(), TACIT_OK);
    assert_int_equal(peer_view(core).round_count, 1);
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

/* ---- Old copies ------------------------------------------------------------------------------ */

static void expect_halted_for_good(struct peer_core *core, struct peer_core *neighbour)
{
    uint32_t const self = core->config.agent.agent_id;
    assert_true(core->update.persist);
    assert_false(core->update.send);
    assert_int_equal(core->update.plan_count, 0);
    assert_int_equal(core->update.deadline_us, TACIT_NEVER);
    assert_true(peer_view(core).agent.halted);
    struct tacit_elim_message hello =
        peer_word(TACIT_ELIM_HELLO, neighbour->config.agent.agent_id, self, 1, none);
    core->now_us = 1000000;
    for (uint32_t i = 0; i < 3; i++) {
        peer_expect_nothing(core, &hello, TACIT_OK);
        peer_expect(core, driver_timeout(), TACIT_OK);
        assert_false(core->update.send);
        peer_expect(core, driver_reward(0, 1, (union tacit_sum){0}), TACIT_INVALID);
        peer_expect(core, driver_exploited(1), TACIT_INVALID);
        peer_move(core);
        peer_expect(core, driver_start(), TACIT_OK);
        assert_false(core->update.send);
        assert_int_equal(core->update.plan_count, 0);
    }
}

TEST(neighbour_that_holds_a_report_this_state_did_not_make_halts_it)
{
    struct peer_setup const setup = noisy_setup();
    static const enum tacit_elim_message_kind kinds[] = {TACIT_ELIM_HELLO, TACIT_ELIM_ADVERT,
                                                         TACIT_ELIM_DATA};
    for (size_t i = 0; i < 3; i++) {
        struct trio trio = trio_open(&setup);
        struct peer_core copy = peer_copy(&trio.p[1]); /* in the middle of its plan */
        assert_int_equal(peer_play(&trio.p[0], means_3, 0), TACIT_OK);
        assert_int_equal(peer_play(&trio.p[1], means_3, 0), TACIT_OK);
        hand_over(&trio.p[1], &trio.p[0], 1, only_1);
        struct tacit_elim_message *const data = data_from(&trio.p[0], 1, 1, (uint64_t[]){3});
        struct tacit_elim_message word = *data;
        word.kind = kinds[i];
        peer_expect(&copy, driver_receive(&word), TACIT_ROLLBACK);
        expect_halted_for_good(&copy, &trio.p[0]);
        testing_free(data);
    }
}

/* Whoever is ahead holds our report of the epoch before: an old copy hears so when it asks. */
TEST(neighbour_in_an_epoch_that_could_not_have_come_makes_an_old_copy_ask)
{
    struct peer_setup const setup = noisy_setup();
    static const enum tacit_elim_message_kind kinds[] = {TACIT_ELIM_HELLO, TACIT_ELIM_ADVERT,
                                                         TACIT_ELIM_REQUEST, TACIT_ELIM_DATA};
    for (size_t i = 0; i < 4; i++) {
        struct trio trio = trio_open(&setup);
        struct tacit_elim_message const word = peer_word(kinds[i], 0, 1, 2, only_0);
        struct peer_core copy = peer_copy(&trio.p[1]);
        assert_int_equal(peer_play(&trio.p[0], means_3, 0), TACIT_OK);
        assert_int_equal(peer_play(&trio.p[1], means_3, 0), TACIT_OK);
        peer_expect_nothing(&trio.p[1], &word,
                            kinds[i] <= TACIT_ELIM_ADVERT ? TACIT_OK : TACIT_UNEXPECTED);
        (void)peer_expect_answer(&copy, &word, TACIT_ELIM_HELLO, TACIT_NEIGHBOURS);
        assert_int_equal(copy.update.message.epoch, 1);
        struct tacit_elim_message *const hello = peer_keep(&copy);
        hand_over(&trio.p[1], &trio.p[0], 1, only_1);
        (void)peer_expect_answer(&trio.p[0], hello, TACIT_ELIM_ADVERT, 1);
        struct tacit_elim_message *const advert = peer_keep(&trio.p[0]);
        peer_expect(&copy, driver_receive(advert), TACIT_ROLLBACK);
        expect_halted_for_good(&copy, &trio.p[0]);
        testing_free(hello);
        testing_free(advert);
    }
}

TEST(neighbour_that_only_names_a_later_epoch_stops_nobody)
{
    struct peer_setup const setup = noisy_setup();
    struct trio trio = trio_open(&setup);
    struct peer_core *const core = &trio.p[1];
    for (uint32_t epoch = 2; epoch < 20; epoch++) {
        struct tacit_elim_message const hello = peer_word(TACIT_ELIM_HELLO, 0, 1, epoch, none);
        (void)peer_expect_answer(core, &hello, TACIT_ELIM_HELLO, TACIT_NEIGHBOURS);
        assert_false(peer_view(core).agent.halted);
    }
    peer_expect(core, driver_start(), TACIT_OK); /* says the plan again */
    assert_int_equal(peer_play(core, means_3, 0), TACIT_OK);
    assert_int_equal(peer_view(core).agent.release_epoch, 1);
}

TEST(neighbour_that_asks_for_a_report_that_was_not_made_halts_nobody)
{
    struct peer_setup const setup = noisy_setup();
    struct trio trio = trio_open(&setup);
    struct tacit_elim_message const request = peer_word(TACIT_ELIM_REQUEST, 0, 1, 1, only_1);
    peer_expect_nothing(&trio.p[1], &request, TACIT_UNEXPECTED);
    struct tacit_elim_message const advert = peer_word(TACIT_ELIM_ADVERT, 0, 1, 1, only_2);
    (void)peer_expect_answer(&trio.p[1], &advert, TACIT_ELIM_REQUEST, 0);
}

/* A restart in the middle of a plan asks, so that it hears what was seen before it releases. */
TEST(old_copy_that_restarts_is_found_out_by_the_answer_to_its_hello)
{
    struct peer_setup const setup = noisy_setup();
    struct trio trio = trio_open(&setup);
    struct peer_core copy = peer_copy(&trio.p[1]);
    assert_int_equal(peer_play(&trio.p[0], means_3, 0), TACIT_OK);
    assert_int_equal(peer_play(&trio.p[1], means_3, 0), TACIT_OK);
    hand_over(&trio.p[1], &trio.p[0], 1, only_1);
    peer_expect(&copy, driver_start(), TACIT_OK);
    assert_int_equal(copy.update.message.kind, TACIT_ELIM_HELLO);
    assert_int_equal(copy.update.message.to, TACIT_NEIGHBOURS);
    struct tacit_elim_message *const hello = peer_keep(&copy);
    (void)peer_expect_answer(&trio.p[0], hello, TACIT_ELIM_ADVERT, 1);
    struct tacit_elim_message *const advert = peer_keep(&trio.p[0]);
    peer_expect(&copy, driver_receive(advert), TACIT_ROLLBACK);
}

/* ---- Entropy, budget, policy ----------------------------------------------------------------- */

TEST(entropy_that_fails_at_any_fill_delays_the_report_and_it_is_drawn_once)
{
    struct peer_setup const setup = noisy_setup();
    bool failed = true;
    for (uint64_t fill = 0; failed; fill++) {
        struct trio trio = trio_open(&setup);
        struct peer_core *const core = &trio.p[1];
        core->entropy.fail_from = fill;
        core->entropy.fail_count = 1;
        failed = peer_play(core, means_3, 0) == TACIT_ENTROPY;
        assert_true(fill < 1000);
        if (failed) {
            assert_false(core->update.send);
            assert_true(core->update.persist);
            expect_known(core, none);
            assert_int_equal(tacit_ledger_spent_nano(peer_view(core).agent.ledger), 0);
            struct tacit_elim_message const request =
                peer_word(TACIT_ELIM_REQUEST, 0, 1, 1, only_1);
            peer_expect_nothing(core, &request, TACIT_UNEXPECTED);
            core->now_us = core->update.deadline_us;
            peer_expect(core, driver_timeout(), TACIT_OK);
        }
        assert_int_equal(core->update.message.kind, TACIT_ELIM_ADVERT);
        expect_known(core, only_1);
        assert_int_equal(peer_view(core).agent.ledger->release_count, 1);
    }
}

TEST(budget_that_does_not_allow_the_release_halts_the_peer_and_nothing_leaves)
{
    struct peer_setup setup = noisy_setup();
    setup.base.budget_nano = NANO - 1;
    struct trio trio = trio_open(&setup);
    struct peer_core *const core = &trio.p[1];
    assert_int_equal(peer_play(core, means_3, 0), TACIT_BUDGET);
    assert_int_equal(tacit_ledger_spent_nano(peer_view(core).agent.ledger), 0);
    expect_known(core, none);
    expect_halted_for_good(core, &trio.p[0]);
}

/* It serves the epoch that it is in, closes no round twice, and goes no further. */
TEST(epoch_beyond_the_policy_is_judged_once_and_not_begun)
{
    struct peer_setup setup = noisy_setup();
    setup.base.epoch_max = 1;
    struct trio trio = trio_released(&setup);
    struct peer_core *const core = &trio.p[1];
    hand_over(&trio.p[0], core, 1, only_0);
    struct tacit_elim_message const advert =
        peer_word(TACIT_ELIM_ADVERT, 2, TACIT_NEIGHBOURS, 1, only_2);
    (void)peer_expect_answer(core, &advert, TACIT_ELIM_REQUEST, 2);
    struct tacit_elim_message *const data = data_from(&trio.p[2], 1, 1, only_2);
    peer_expect(core, driver_receive(data), TACIT_REFUSED);
    assert_true(core->update.persist); /* the round is over all the same */
    struct tacit_elim_peer_view const first = peer_view(core);
    assert_int_equal(first.round_count, 1);
    assert_int_equal(first.agent.epoch, 1);
    double const radius = first.radius;
    struct tacit_elim_message const hello = peer_word(TACIT_ELIM_HELLO, 0, 1, 1, only_0);
    for (uint32_t i = 0; i < 4; i++) {
        (void)peer_expect_answer(core, &hello, TACIT_ELIM_ADVERT, 0);
        core->now_us = core->update.deadline_us;
        peer_expect(core, driver_timeout(), TACIT_OK);
        peer_move(core);
        peer_expect(core, driver_start(), TACIT_OK);
        assert_int_equal(core->update.plan_count, 0);
    }
    assert_int_equal(peer_view(core).round_count, 1);
    assert_true(peer_view(core).radius == radius);
}

/* ---- The end --------------------------------------------------------------------------------- */

TEST(round_that_is_complete_at_t_is_closed_once)
{
    struct peer_setup setup = noisy_setup();
    struct trio probe = trio_open(&setup);
    uint64_t const length = peer_plan_length(&probe.p[1]);
    setup.base.horizon = length + 10; /* S depends on T, but not that much */
    struct trio trio = trio_open(&setup);
    struct peer_core *const core = &trio.p[1];
    for (uint32_t agent = 0; agent < AGENTS; agent++)
        assert_int_equal(peer_play(&trio.p[agent], means_3, 0), TACIT_OK);
    peer_expect(core, driver_exploited(setup.base.horizon - peer_view(core).agent.pull_count),
                TACIT_OK);
    assert_true(peer_view(core).agent.finished);
    hand_over(&trio.p[0], core, 1, only_0);
    hand_over(&trio.p[2], core, 1, only_2);
    struct tacit_elim_peer_view const view = peer_view(core);
    assert_int_equal(view.round_count, 1);
    struct tacit_elim_message const hello = peer_word(TACIT_ELIM_HELLO, 0, 1, 1, only_0);
    for (uint32_t i = 0; i < 4; i++) {
        (void)peer_expect_answer(core, &hello, TACIT_ELIM_ADVERT, 0);
        peer_expect(core, driver_timeout(), TACIT_OK);
        peer_move(core);
        peer_expect(core, driver_start(), TACIT_OK);
        assert_true(core->update.deadline_us > core->now_us);
    }
    assert_int_equal(peer_view(core).round_count, 1);
}

TEST(epoch_cut_at_t_releases_nothing_and_passes_on_what_others_say)
{
    struct peer_setup setup = noisy_setup();
    setup.base.horizon = 20;
    struct trio trio = trio_open(&setup);
    struct peer_core *const core = &trio.p[1];
    assert_int_equal(peer_plan_length(core), 20);
    assert_int_equal(peer_play(core, means_3, 0), TACIT_OK);
    assert_true(peer_view(core).agent.finished);
    assert_false(core->update.send);
    assert_int_equal(core->update.deadline_us, TACIT_NEVER);
    assert_int_equal(tacit_ledger_spent_nano(peer_view(core).agent.ledger), 0);
    struct tacit_elim_message const advert =
        peer_word(TACIT_ELIM_ADVERT, 0, TACIT_NEIGHBOURS, 1, only_0);
    (void)peer_expect_answer(core, &advert, TACIT_ELIM_REQUEST, 0);
}

TEST(one_arm_needs_no_message)
{
    struct peer_setup const setup = peer_setup_plain(AGENTS, 1, 1000);
    struct network *const network = path_of(AGENTS);
    struct peer_core core = peer_open(&setup, network, 1, NULL);
    peer_expect(&core, driver_start(), TACIT_OK);
    assert_false(core.update.send);
    assert_int_equal(peer_plan_length(&core), 1000);
    assert_true(peer_view(&core).decided);
    peer_move(&core);
    peer_expect(&core, driver_start(), TACIT_OK);
    assert_int_equal(peer_play(&core, means_3, 0), TACIT_OK);
    assert_true(peer_view(&core).agent.finished);
    assert_int_equal(core.update.deadline_us, TACIT_NEVER);
    network_free(network);
}

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

static void step_damaged(struct peer_core *core)
{
    peer_step_damaged(core, 0, 1, TACIT_ELIM_DATA);
}

/* Every bit of a state, and of its table, flipped one at a time. */
static void damage_every_bit(const struct peer_core *core)
{
    assert_true(peer_damage_every_bit(core, step_damaged) >
                4 * core->size); /* more than half of the bits */
}

TEST(state_or_table_with_any_bit_flipped_is_refused_or_can_be_stepped)
{
    digest_pause(true);
    struct peer_setup const setups[] = {noisy_setup(), real_setup()};
    for (size_t i = 0; i < 2; i++) {
        struct network *const network = path_of(AGENTS);
        struct peer_core fresh = peer_open(&setups[i], network, 1, NULL);
        damage_every_bit(&fresh);
        network_free(network);
        struct trio trio = trio_open(&setups[i]);
        damage_every_bit(&trio.p[1]);
        trio = trio_released(&setups[i]);
        hand_over(&trio.p[0], &trio.p[1], 1, only_0);
        damage_every_bit(&trio.p[1]);
        hand_over(&trio.p[2], &trio.p[1], 1, only_2);
        damage_every_bit(&trio.p[1]);
    }
    digest_pause(false);
}

/* ---- Messages -------------------------------------------------------------------------------- */

TEST(copy_of_data_holds_its_rows_in_the_order_of_their_origins)
{
    struct trio trio = noisy_released();
    hand_over(&trio.p[2], &trio.p[1], 1, only_2);
    struct tacit_elim_message const request = peer_word(TACIT_ELIM_REQUEST, 0, 1, 1, not_0);
    struct tacit_elim_message const *const data =
        peer_expect_answer(&trio.p[1], &request, TACIT_ELIM_DATA, 0);
    assert_int_equal(data->row_stride, ARMS);
    assert_false(data->rows_stay);
    size_t const size = tacit_elim_message_size(data, ARMS, AGENTS);
    assert_int_equal(size, sizeof *data + 8 + 8 + 2 * ARMS * 8); /* arms, origins, two rows */
    struct tacit_elim_message *const copy = peer_keep(&trio.p[1]);
    assert_int_equal(copy->row_stride, 0);
    assert_memory_equal(copy->sums, peer_view(&trio.p[1]).agent.noised, ARMS * 8);
    assert_memory_equal(copy->sums + ARMS, peer_view(&trio.p[2]).agent.noised, ARMS * 8);
    assert_true(peer_same_message(&trio.p[1], data, copy));
    assert_in_range((uintptr_t)copy->sums, (uintptr_t)copy, (uintptr_t)copy + size - 6 * 8);
    assert_in_range((uintptr_t)copy->origins, (uintptr_t)copy, (uintptr_t)copy + size);
    assert_int_equal(tacit_elim_message_scalars(copy, AGENTS), 2 * ARMS);
}

TEST(rows_of_a_shared_table_stay_where_they_are)
{
    struct peer_setup const setup = noisy_setup();
    struct network *const network = path_of(AGENTS);
    struct tacit_elim_peer_config const config = good_config();
    struct tacit_elim_table *const table = testing_malloc(tacit_elim_peer_table_size(&config));
    tacit_elim_peer_table_init(table, &config, true);
    struct peer_core cores[2];
    for (uint32_t agent = 0; agent < 2; agent++) {
        cores[agent] = peer_open(&setup, network, agent, table);
        peer_expect(&cores[agent], driver_start(), TACIT_OK);
        assert_int_equal(peer_play(&cores[agent], means_3, 0), TACIT_OK);
    }
    struct tacit_elim_message const advert =
        peer_word(TACIT_ELIM_ADVERT, 0, TACIT_NEIGHBOURS, 1, only_0);
    (void)peer_expect_answer(&cores[1], &advert, TACIT_ELIM_REQUEST, 0);
    struct tacit_elim_message *const data = data_from(&cores[0], 1, 1, only_0);
    assert_true(data->rows_stay);
    peer_expect(&cores[1], driver_receive(data), TACIT_OK);
    assert_false(cores[1].update.persist_table);
    expect_known(&cores[1], (const uint64_t[]){3});
    network_free(network);
}

TEST(newest_release_is_shown_as_the_report_of_a_star)
{
    struct peer_setup const setup = noisy_setup();
    struct trio trio = trio_released(&setup);
    for (uint32_t round = 0; round < 2; round++) { /* also when its round is over already */
        struct tacit_elim_peer_view const view = peer_view(&trio.p[1]);
        struct tacit_elim_message const report =
            tacit_elim_peer_release(trio.p[1].state, trio.p[1].table);
        assert_int_equal(report.kind, TACIT_ELIM_REPORT);
        assert_int_equal(report.from, 1);
        assert_int_equal(report.to, TACIT_HUB);
        assert_int_equal(report.run_id, DRIVER_RUN_ID);
        assert_int_equal(report.epoch, 1);
        assert_int_equal(report.agents, 0);
        assert_int_equal(report.pulls, view.agent.pull_count / ARMS);
        peer_expect_set(report.arms, all_3);
        assert_int_equal(report.sum_count, ARMS);
        assert_memory_equal(report.sums, view.agent.noised, ARMS * sizeof *report.sums);
        if (round == 0)
            trio_spread(&trio);
    }
    assert_int_equal(peer_view(&trio.p[1]).agent.epoch, 2);
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
