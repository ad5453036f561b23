/* A player whose rewards leave it noised only, without its hosts: the ladder of votes, and the
 * block. Whatever comes at any time the storms bring (round/storm_votes, round/storm_sums). */
#include "../support/testing.h"
#include <math.h>
#include "tacit/bounds.h"
#include "tacit/vote.h"
#include "../support/digest.h"
#include "../support/scarce.h"
#include "../../src/proto/vote/block.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x75428d84e2aa87f1))

#define RUN_ID UINT64_C(0x123456789)

static void *room(size_t size)
{
    assert_true(size > 0);
    void *const state = testing_calloc(1, size);
    return state;
}

/* ---- Private players ---- */

/* Two arms that nothing tells apart, without noise, until no rung is left. Returns the pulls of
 * each; the view is that of the end. */
static uint64_t climb(double growth, double failure, double accuracy, uint64_t *active,
                      struct tacit_vote_noised_view *view)
{
    struct tacit_vote_board_config const board = {
        .run_id = RUN_ID, .player_count = 1, .arm_count = 2, .votes_needed = 1};
    struct tacit_vote_noised_config config = {.run_id = RUN_ID,
                                              .player_count = 1,
                                              .arm_count = 2,
                                              .accuracy = accuracy,
                                              .failure = failure,
                                              .growth = growth,
                                              .tick_us = 900};
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, INFINITY, 0, 1};
    assert_int_equal(tacit_mechanism_init(&config.mechanism, &mechanism), TACIT_OK);
    size_t const size = tacit_vote_noised_size(&config);
    struct tacit_vote_noised *const player = room(size);
    struct tacit_vote_board *const said = room(tacit_vote_board_size(&board));
    assert_int_equal(tacit_vote_noised_init(player, &config), TACIT_OK);
    assert_int_equal(tacit_vote_board_init(said, &board), TACIT_OK);
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    struct tacit_vote_noised_update update;
    struct tacit_vote_event event = {.kind = TACIT_EVENT_START};
    uint64_t pulls = 0;
    for (uint32_t i = 0; i < 400; i++) {
        assert_int_equal(tacit_vote_noised_step(player, said, &event, &entropy, &update), TACIT_OK);
        assert_int_equal(tacit_vote_noised_check(player, size, &config), TACIT_OK);
        uint64_t const each = update.replan && update.plan_count > 0 ? update.plan[0].count : 0;
        if (each == 0)
            break;
        pulls += each;
        event = (struct tacit_vote_event){.kind = TACIT_EVENT_REWARD};
        for (uint32_t arm = 0; arm < 2; arm++) {
            event.as.reward = (struct tacit_reward){
                .arm = arm, .count = each, .sum.steps = (int64_t)each * (TACIT_STEPS / 2)};
            assert_int_equal(tacit_vote_noised_step(player, said, &event, &entropy, &update),
                             TACIT_OK);
        }
        assert_true(update.commit);
        struct tacit_vote_message const grant = {
            .kind = TACIT_VOTE_GRANT, .from = TACIT_HUB, .run_id = RUN_ID, .draw = update.draw};
        event = (struct tacit_vote_event){.kind = TACIT_EVENT_RECEIVE};
        event.as.message = &grant;
        assert_int_equal(tacit_vote_noised_step(player, said, &event, &entropy, &update), TACIT_OK);
        event = (struct tacit_vote_event){.kind = TACIT_EVENT_START}; /* shows the plan again */
    }
    tacit_vote_noised_view(player, view);
    *active = view->active[0];
    assert_int_equal(tacit_vote_noised_check(player, size, &config), TACIT_OK);
    return pulls;
}

TEST(a_ladder_ends_at_its_last_rung)
{
    struct tacit_vote_noised_view view;
    uint64_t active;
    (void)climb(1.05, 0.5, 1e-12, &active, &view);
    assert_true(view.halted);
    assert_int_equal(view.epoch, TACIT_BOUNDS_RELEASES_MAX);
    assert_int_equal(view.draw, TACIT_BOUNDS_RELEASES_MAX);
    /* from 64 pulls in steps of 4 to a quarter of the horizon, which is the last */
    assert_int_equal(climb(4, 0.00282, 1e-12, &active, &view), TACIT_HORIZON_MAX / 4);
    assert_true(view.halted);
    assert_int_equal(view.epoch, 17);
}

TEST(of_equal_arms_the_first_stays)
{
    struct tacit_vote_noised_view view;
    uint64_t active;
    (void)climb(2, 0.5, 0.25, &active, &view);
    assert_true(view.decided);
    assert_int_equal(active, 1);
}

/* ---- Blocks ---- */

#define ARMS 4u

/* A player of votes in its second epoch, of ten pulls, with its parts where a test can look at
 * them.
 */
struct laid {
    struct tacit_vote_noised *player;
    uint64_t *active;
    int64_t
        *noised; /* TACIT_BOUNDS_RELEASES_MAX of each arm: but for the second nothing is written */
    struct tacit_vote_noised_update update;
};

static void lay(struct laid *laid, uint64_t active, double epsilon, uint64_t budget_nano)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, epsilon, 0, 1};
    struct tacit_vote_noised_config config = {.player_count = 1,
                                              .arm_count = ARMS,
                                              .accuracy = 0.5,
                                              .failure = 0.5,
                                              .growth = 2,
                                              .budget_nano = budget_nano,
                                              .tick_us = 10};
    assert_int_equal(tacit_mechanism_init(&config.mechanism, &mechanism), TACIT_OK);
    laid->player = room(tacit_vote_noised_size(&config));
    assert_int_equal(tacit_vote_noised_init(laid->player, &config), TACIT_OK);
    laid->active = vote_active_of(laid->player);
    laid->noised = vote_noised_of(laid->player, 0);
    laid->player->epoch = 2;
    laid->player->rung = 15;
    laid->player->rung_before = 5;
    *laid->active = active;
    memset(laid->noised, 0x55, ARMS * TACIT_BOUNDS_RELEASES_MAX * sizeof *laid->noised);
    laid->update = (struct tacit_vote_noised_update){.persist = false};
}

static void expect_block(const struct laid *laid, const uint64_t *left, const int64_t *exact)
{
    uint64_t sum = 0;
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        assert_int_equal(vote_left_of(laid->player)[arm], left[arm]);
        assert_int_equal(vote_exact_of(laid->player)[arm].steps, exact[arm]);
        sum += left[arm];
    }
    assert_int_equal(laid->player->left_count, sum);
}

static void open_block(struct laid *laid, uint64_t each)
{
    laid->player->rung = laid->player->rung_before + each;
    laid->player->active_count = tacit_bits_count(laid->active, ARMS);
    vote_block_open(laid->player);
}

static enum tacit_status bring(struct laid *laid, uint32_t arm, uint64_t count, int64_t steps)
{
    laid->update = (struct tacit_vote_noised_update){.persist = false};
    enum tacit_status const status = vote_block_add(
        laid->player, &(struct tacit_reward){.arm = arm, .count = count, .sum.steps = steps},
        &laid->update);
    assert_true(laid->update.persist == (status == TACIT_OK));
    return status;
}

TEST(a_block_holds_what_is_owed_and_brought)
{
    static const int64_t nothing[ARMS];
    struct laid laid;
    lay(&laid, 4, INFINITY, 0);
    struct tacit_vote_noised *const player = laid.player;
    struct tacit_pull_block const *const plan = vote_plan_of(player);
    open_block(&laid, 10); /* one arm: nothing to find out */
    assert_int_equal(player->phase, PHASE_DECIDED);
    expect_block(&laid, (uint64_t[]){0, 0, 0, 0}, nothing);
    vote_block_show(player, &laid.update);
    assert_int_equal(laid.update.plan_count, 0);
    *laid.active = 13;
    open_block(&laid, 10);
    assert_int_equal(player->phase, PHASE_PULLING);
    expect_block(&laid, (uint64_t[]){10, 0, 10, 10}, nothing);
    assert_int_equal(bring(&laid, 0, 0, 0), TACIT_INVALID);
    assert_int_equal(bring(&laid, 1, 1, 0), TACIT_INVALID);
    assert_int_equal(bring(&laid, ARMS, 1, 0), TACIT_INVALID);
    assert_int_equal(bring(&laid, 0, 11, 0), TACIT_INVALID);
    assert_int_equal(bring(&laid, 0, 2, -1), TACIT_INVALID);
    assert_int_equal(bring(&laid, 0, 2, 2 * TACIT_STEPS + 1), TACIT_INVALID);
    expect_block(&laid, (uint64_t[]){10, 0, 10, 10}, nothing);
    assert_int_equal(bring(&laid, 0, 2, 2 * TACIT_STEPS), TACIT_OK);
    assert_int_equal(bring(&laid, 2, 10, 0), TACIT_OK);
    assert_int_equal(bring(&laid, 3, 1, 7), TACIT_OK);
    assert_int_equal(bring(&laid, 3, 1, 8), TACIT_OK);
    expect_block(&laid, (uint64_t[]){8, 0, 0, 8}, (int64_t[]){2 * TACIT_STEPS, 0, 0, 15});
    vote_block_show(player, &laid.update);
    assert_true(laid.update.replan && laid.update.plan == plan && laid.update.plan_count == 2);
    assert_true(plan[0].arm == 0 && plan[0].count == 8 && plan[1].arm == 3 && plan[1].count == 8);
    assert_true(vote_block_is_possible(player));
    *laid.active = 12; /* arm 0 has left: its pulls and its sum are gone */
    player->active_count = 2;
    assert_false(vote_block_is_possible(player));
    vote_block_leave(player);
    expect_block(&laid, (uint64_t[]){0, 0, 0, 8}, (int64_t[]){0, 0, 0, 15});
    assert_true(vote_block_is_possible(player));
    player->left_count++;
    assert_false(vote_block_is_possible(player));
    player->left_count--;
    player->phase = PHASE_WAITING; /* nothing is owed then */
    assert_false(vote_block_is_possible(player));
    assert_int_equal(bring(&laid, 3, 1, 7), TACIT_INVALID);
    player->phase = PHASE_PULLING;
    player->active_count = 3;
    assert_false(vote_block_is_possible(player));
    player->active_count = 2;
    player->config.block = 8; /* of published sums no arm owes more than a block */
    assert_true(vote_block_is_possible(player));
    player->config.block = 7;
    assert_false(vote_block_is_possible(player));
}

static enum tacit_status release_of(struct laid *laid, uint32_t words)
{
    struct tacit_rng noise = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE);
    struct scarce scarce = {tacit_rng_entropy(&noise), words};
    struct tacit_entropy const entropy = scarce_entropy(&scarce);
    laid->update = (struct tacit_vote_noised_update){.persist = false};
    enum tacit_status const status = vote_block_release(laid->player, &entropy, &laid->update);
    assert_true(laid->update.persist && laid->update.commit == (status == TACIT_OK));
    assert_int_equal(laid->player->phase, status == TACIT_OK       ? PHASE_WAITING
                                          : status == TACIT_BUDGET ? PHASE_HALTED
                                                                   : PHASE_RELEASING);
    return status;
}

static void bring_all(struct laid *laid, const int64_t *brought)
{
    open_block(laid, 1);
    for (uint32_t arm = 0; arm < ARMS; arm++)
        if (brought[arm] > 0)
            assert_int_equal(bring(laid, arm, 1, brought[arm]), TACIT_OK);
    assert_true(vote_block_is_full(laid->player));
}

TEST(a_release_is_all_or_nothing)
{
    static const int64_t nothing[ARMS];
    static const uint64_t none[ARMS];
    int64_t const brought[ARMS] = {5, 0, 6, 7};
    struct laid laid;
    lay(&laid, 13, 1, TACIT_NANO);
    struct tacit_vote_noised *const player = laid.player;
    struct tacit_ledger const *const ledger = &player->ledger;
    bring_all(&laid, brought);
    enum tacit_status status = TACIT_ENTROPY;
    uint32_t words = 0;
    for (; (status = release_of(&laid, words)) == TACIT_ENTROPY; words++) {
        expect_block(&laid, none, brought);
        assert_true(ledger->release_count == 0 && ledger->gross_nano == 0);
        for (uint32_t arm = 0; arm < ARMS; arm++)
            assert_true(arm == 1 || vote_noised_of(player, arm)[1] == 0);
        assert_false(vote_block_end_pause(player));
        player->now_us = player->retry_us;
        assert_true(vote_block_end_pause(player));
        assert_true(player->retry_us == TACIT_NEVER);
    }
    assert_true(status == TACIT_OK && words >= 3 && laid.update.draw == 1);
    expect_block(&laid, none, nothing);
    assert_true(ledger->release_count == 1 && ledger->gross_nano == TACIT_NANO);
    int64_t untouched;
    memset(&untouched, 0x55, sizeof untouched);
    for (uint32_t i = 0; i < ARMS * TACIT_BOUNDS_RELEASES_MAX; i++) {
        uint32_t const arm = i / TACIT_BOUNDS_RELEASES_MAX;
        bool const is_noised = i % TACIT_BOUNDS_RELEASES_MAX == 1 && arm != 1;
        assert_true(is_noised == (laid.noised[i] != untouched));
        if (i % TACIT_BOUNDS_RELEASES_MAX <= 1)
            digest_word((uint64_t)laid.noised[i]);
    }
    lay(&laid, 13, 1, TACIT_NANO / 2);
    bring_all(&laid, brought);
    assert_int_equal(release_of(&laid, UINT32_MAX), TACIT_BUDGET);
    expect_block(&laid, none, nothing);
    assert_int_equal(laid.player->ledger.release_count, 0);
}

TEST(ticks_are_multiples_that_lie_ahead)
{
    uint64_t const ticks[][2] = {{0, 10}, {9, 10}, {10, 20}};
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        struct tacit_vote_noised const player = {.config.tick_us = 10, .now_us = ticks[i][0]};
        assert_int_equal(vote_block_tick(&player), ticks[i][1]);
    }
    assert_int_equal(vote_earlier(3, 4), 3);
    assert_int_equal(vote_earlier(TACIT_NEVER, 4), 4);
}
