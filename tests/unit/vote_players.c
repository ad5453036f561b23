/* A player of private votes without its hosts: its ladder, what epochs cost, players without an arm
 * in common, and that sums of arms that are voted out in mid-epoch leave no trace. Whatever comes
 * at any time the storms bring (round/storm_votes, round/storm_sums). */
#include "../support/testing.h"
#include <math.h>
#include "tacit/bounds.h"
#include "tacit/vote.h"
#include "../support/player.h"
#include "../support/scarce.h"

#define RUN 5u
#define ARMS 4u

static const double one_is_best[ARMS] = {0.3, 0.5, 0.35, 0.3};
static const double all_are_alike[ARMS] = {0.5, 0.5, 0.5, 0.5};

/* Player 1 of three, of whom two must vote. */
struct site {
    const double *means;
    struct tacit_vote_noised_config config;
    struct tacit_vote_board *board;
    struct tacit_vote_noised *player;
    struct tacit_rng noise;
    uint32_t words; /* of it, in a step */
    uint64_t left[ARMS];
    struct tacit_vote_noised_update last;
};

static enum tacit_status happen(struct site *site, struct tacit_vote_event event)
{
    struct scarce scarce = {tacit_rng_entropy(&site->noise), site->words};
    struct tacit_entropy const entropy = scarce_entropy(&scarce);
    enum tacit_status const status =
        tacit_vote_noised_step(site->player, site->board, &event, &entropy, &site->last);
    size_t const size = tacit_vote_noised_size(&site->config);
    assert_int_equal(tacit_vote_noised_check(site->player, size, &site->config), TACIT_OK);
    if (site->last.replan)
        plan_begins(site->left, ARMS, site->last.plan, site->last.plan_count);
    return status;
}

static void start(struct site *site, const double *means, double epsilon, double growth,
                  double failure, double accuracy)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, epsilon, 0, 1};
    struct tacit_vote_board_config const board = {
        .run_id = RUN, .player_count = 3, .arm_count = ARMS, .votes_needed = 2};
    *site = (struct site){.words = UINT32_MAX,
                          .means = means,
                          .config = {.run_id = RUN,
                                     .player_id = 1,
                                     .player_count = 3,
                                     .arm_count = ARMS,
                                     .accuracy = accuracy,
                                     .failure = failure,
                                     .growth = growth,
                                     .tick_us = 1000}};
    assert_int_equal(tacit_mechanism_init(&site->config.mechanism, &mechanism), TACIT_OK);
    site->config.budget_nano = tacit_mechanism_cost_nano(&site->config.mechanism);
    site->board = testing_malloc(tacit_vote_board_size(&board));
    site->player = testing_malloc(tacit_vote_noised_size(&site->config));
    assert_int_equal(tacit_vote_board_init(site->board, &board), TACIT_OK);
    assert_int_equal(tacit_vote_noised_init(site->player, &site->config), TACIT_OK);
    site->noise = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE);
    assert_int_equal(happen(site, (struct tacit_vote_event){.kind = TACIT_EVENT_START}), TACIT_OK);
}

static enum tacit_status reward(struct site *site, uint32_t arm, uint64_t count, double mean)
{
    int64_t const steps = (int64_t)(mean * (double)count * TACIT_STEPS);
    site->left[arm] -= count <= site->left[arm] ? count : 0;
    return happen(site, (struct tacit_vote_event){.kind = TACIT_EVENT_REWARD,
                                                  .as.reward = {arm, count, {.steps = steps}}});
}

static void others_vote(struct site *site, uint64_t marks)
{
    struct tacit_vote_row const vote = {0, &marks};
    for (uint32_t other = 0; other <= 2; other += 2)
        assert_int_equal(tacit_vote_board_mark(site->board, other, vote, NULL), TACIT_OK);
    assert_int_equal(happen(site, (struct tacit_vote_event){.kind = TACIT_EVENT_OFFER}), TACIT_OK);
    assert_true(site->last.persist);
}

static struct tacit_vote_noised_view view_of(const struct site *site)
{
    struct tacit_vote_noised_view view;
    tacit_vote_noised_view(site->player, &view);
    return view;
}

/* All pulls of the plan. */
static void play_plan(struct site *site)
{
    for (uint32_t arm = 0; arm < ARMS; arm++)
        if (site->left[arm] > 0)
            assert_int_equal(reward(site, arm, site->left[arm], site->means[arm]), TACIT_OK);
    assert_true(site->last.commit);
}

/* Epochs, each granted, until nothing is planned. Result: pulls of the arm that is left longest. */
static uint64_t climb(struct site *site)
{
    uint64_t pulls = 0;
    for (uint32_t i = 0; i < 400 && site->last.plan_count > 0; i++) {
        pulls += site->last.plan[0].count;
        play_plan(site);
        struct tacit_vote_event const grant = {.kind = TACIT_EVENT_RECEIVE,
                                               .as.granted = site->last.draw};
        assert_int_equal(happen(site, grant), TACIT_OK);
    }
    return pulls;
}

/* Arms that nothing tells apart, without noise, until no rung is left. */
TEST(a_ladder_ends_at_its_last_rung)
{
    struct site site;
    start(&site, all_are_alike, INFINITY, 1.05, 0.5, 1e-12);
    (void)climb(&site);
    assert_true(view_of(&site).halted);
    assert_int_equal(view_of(&site).epoch, TACIT_BOUNDS_RELEASES_MAX);
    assert_int_equal(view_of(&site).draw, TACIT_BOUNDS_RELEASES_MAX);
    /* from 64 pulls in steps of 4 to a quarter of the horizon, which is the last */
    start(&site, all_are_alike, INFINITY, 4, 0.00564, 1e-12);
    assert_int_equal(climb(&site), TACIT_HORIZON_MAX / 4);
    assert_true(view_of(&site).halted);
    assert_int_equal(view_of(&site).epoch, 17);
}

TEST(of_equal_arms_the_first_stays)
{
    struct site site;
    start(&site, all_are_alike, INFINITY, 2, 0.5, 0.25);
    (void)climb(&site);
    assert_true(view_of(&site).decided);
    assert_int_equal(view_of(&site).active[0], 1);
}

/* Two histories that differ only in rewards of an arm that is voted out in mid-epoch. */
TEST(a_partial_sum_leaves_no_trace)
{
    struct site sites[2];
    for (uint32_t i = 0; i < 2; i++) {
        start(&sites[i], one_is_best, 1, 2, 0.5, 0.25);
        assert_int_equal(reward(&sites[i], 0, 5, i), TACIT_OK);
        others_vote(&sites[i], 1);
        assert_int_equal(sites[i].left[0], 0);
    }
    assert_memory_equal(sites[0].player, sites[1].player, tacit_vote_noised_size(&sites[0].config));
    assert_int_equal(reward(&sites[0], 0, 1, 0), TACIT_INVALID); /* it is not asked for any more */
    assert_int_equal(reward(&sites[0], 0, 0, 0), TACIT_INVALID); /* of no pull at all */
    play_plan(&sites[0]);
}

/* Whatever the noise failed after, nothing of it is left. */
TEST(a_draw_is_all_or_nothing)
{
    struct site none;
    struct site site;
    enum tacit_status status = TACIT_ENTROPY;
    uint32_t words = 0;
    for (; status == TACIT_ENTROPY; words++) {
        start(&site, one_is_best, 1, 2, 0.5, 0.25);
        site.words = words;
        for (uint32_t arm = 0; arm < ARMS; arm++)
            status = reward(&site, arm, site.left[arm], one_is_best[arm]);
        if (words == 0)
            none = site;
        assert_true((memcmp(none.player, site.player, tacit_vote_noised_size(&site.config)) == 0) ==
                    (status == TACIT_ENTROPY));
    }
    assert_int_equal(status, TACIT_OK);
    assert_true(words > ARMS);
}

TEST(every_epoch_costs_epsilon_of_other_rewards)
{
    struct site site;
    start(&site, one_is_best, 0.5, 2, 0.5, 0.25);
    (void)climb(&site);
    assert_true(view_of(&site).decided && view_of(&site).draw > 1);
    assert_int_equal(tacit_vote_noised_best(site.player), 1);
    assert_int_equal(tacit_ledger_spent_nano(view_of(&site).ledger), 500000000);
}

/* The player has dropped all but arm 1, the others have voted arm 1 out: their set is its own now,
 * and the ladder starts over new rewards. */
TEST(a_player_without_an_arm_in_common_takes_the_voted_set)
{
    struct site site;
    start(&site, one_is_best, INFINITY, 2, 0.5, 0.01);
    uint64_t const first = tacit_bounds_first_rung(1, INFINITY, log(4.0 * ARMS / 0.5), 0.25);
    for (uint32_t arm = 0; arm < ARMS; arm++)
        assert_int_equal(site.left[arm], first);
    (void)climb(&site);
    assert_true(view_of(&site).epoch > 1);
    assert_int_equal(view_of(&site).active[0], 2);
    others_vote(&site, 6);
    assert_int_equal(view_of(&site).active[0], 9); /* arms 0 and 3 */
    assert_int_equal(view_of(&site).active_count, 2);
    assert_int_equal(view_of(&site).epoch, 1);
    assert_int_equal(site.last.plan_count, 2);
    assert_int_equal(site.left[0], first);
    assert_int_equal(site.left[3], first);
    /* nothing that was noised before counts */
    assert_int_equal(tacit_vote_noised_best(site.player), 0);
    play_plan(&site);
}
