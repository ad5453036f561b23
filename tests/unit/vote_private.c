/* Private votes: what epochs cost, players without an arm in common, and that sums of arms that are
 * voted out in mid-epoch leave no trace. The rest is in round/storm_votes. */
#include "../support/testing.h"
#include "tacit/bounds.h"
#include "tacit/vote.h"
#include <math.h>
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/player.h"
#include "../support/scarce.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x40a5ef8ae9e0862b))
/* .. and of what the checks say of damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x51b2509210507583))

#define RUN 5u
#define ARMS 4u
#define PLAYERS 3u
#define TICK_US 1000u

static const double means[ARMS] = {0.1, 0.9, 0.2, 0.1};

struct site {
    struct tacit_vote_noised_config config;
    struct tacit_vote_board *board;
    struct tacit_vote_noised *player;
    struct tacit_rng noise;
    struct tacit_rng rewards;
    struct scarce entropy;
    uint64_t now_us;
    uint64_t left[ARMS];
    struct tacit_vote_noised_update last;
};

static void open_site(struct site *site, double epsilon, uint64_t budget_nano)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, epsilon, 0, 1};
    struct tacit_vote_board_config const board = {
        .run_id = RUN, .player_count = PLAYERS, .arm_count = ARMS, .votes_needed = 2};
    memset(site, 0, sizeof *site);
    site->config = (struct tacit_vote_noised_config){.run_id = RUN,
                                                     .player_id = 1,
                                                     .player_count = PLAYERS,
                                                     .arm_count = ARMS,
                                                     .accuracy = 0.25,
                                                     .failure = 0.5,
                                                     .growth = 2,
                                                     .budget_nano = budget_nano,
                                                     .tick_us = TICK_US};
    assert_int_equal(tacit_mechanism_init(&site->config.mechanism, &mechanism), TACIT_OK);
    site->board = testing_malloc(tacit_vote_board_size(&board));
    site->player = testing_malloc(tacit_vote_noised_size(&site->config));
    assert_int_equal(tacit_vote_board_init(site->board, &board), TACIT_OK);
    assert_int_equal(tacit_vote_noised_init(site->player, &site->config), TACIT_OK);
    site->noise = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE);
    site->entropy = (struct scarce){tacit_rng_entropy(&site->noise), UINT32_MAX};
    site->rewards = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_REWARD);
}

static void digest_player(const struct site *site)
{
    struct tacit_vote_noised_view view;
    tacit_vote_noised_view(site->player, &view);
    uint64_t const words[] = {view.epoch,
                              view.draw,
                              view.active[0],
                              view.dropped[0],
                              view.decided,
                              view.active_count,
                              view.waiting,
                              view.halted,
                              tacit_vote_noised_best(site->player),
                              view.draw,
                              view.decided,
                              view.waiting,
                              view.halted,
                              view.pulling,
                              view.leave_us,
                              view.deadline_us,
                              tacit_vote_noised_is_decided(site->player)};
    digest_bytes(words, sizeof words);
    digest_ledger(view.ledger);
    for (uint32_t arm = 0; arm < ARMS; arm++)
        digest_word((uint64_t)tacit_vote_noised_total(site->player, arm));
    if (view.waiting) {
        uint8_t digest[TACIT_SHA256_BYTES];
        tacit_vote_noised_digest(site->player, digest);
        digest_bytes(digest, sizeof digest);
    }
}

/* What it says without its marks: they are another word. */
static void digest_said(const struct tacit_vote_noised_update *update)
{
    struct tacit_vote_message const *const said = &update->message;
    uint64_t const words[] = {update->draw, update->marks_new, said->kind,  said->from,
                              said->to,     said->run_id,      said->reset, said->draw};
    digest_bytes(words, sizeof words);
    if (update->send)
        digest_word(said->marks[0]);
}

static bool is_state(const void *state, size_t size, void *config)
{
    return tacit_vote_noised_check(state, size, config) == TACIT_OK;
}

static enum tacit_status happen(struct site *site, struct tacit_vote_event event)
{
    struct tacit_entropy const entropy = scarce_entropy(&site->entropy);
    event.now_us = site->now_us;
    enum tacit_status const status =
        tacit_vote_noised_step(site->player, site->board, &event, &entropy, &site->last);
    digest_step(status,
                site->last.persist | (uint64_t)site->last.persist_board << 1 |
                    (uint64_t)site->last.commit << 2 | (uint64_t)site->last.send << 3 |
                    (uint64_t)site->last.replan << 4,
                site->last.deadline_us, site->last.plan, site->last.plan_count);
    digest_said(&site->last);
    digest_player(site);
    if (site->last.replan)
        plan_begins(site->left, ARMS, site->last.plan, site->last.plan_count);
    damage_all(site->player, tacit_vote_noised_size(&site->config), is_state, &site->config);
    return status;
}

static enum tacit_status start(struct site *site)
{
    return happen(site, (struct tacit_vote_event){.kind = TACIT_EVENT_START});
}

static enum tacit_status reward(struct site *site, uint32_t arm, uint64_t count, int64_t steps)
{
    site->left[arm] -= count <= site->left[arm] ? count : 0;
    return happen(site, (struct tacit_vote_event){
                            .kind = TACIT_EVENT_REWARD,
                            .as.reward = {.arm = arm, .count = count, .sum = {.steps = steps}}});
}

static enum tacit_status receive(struct site *site, const struct tacit_vote_message *message)
{
    return happen(site,
                  (struct tacit_vote_event){.kind = TACIT_EVENT_RECEIVE, .as.message = message});
}

static enum tacit_status grant(struct site *site, uint64_t draw, uint32_t from)
{
    struct tacit_vote_message const message = {
        .kind = TACIT_VOTE_GRANT, .from = from, .to = 1, .run_id = RUN, .draw = draw};
    return receive(site, &message);
}

static enum tacit_status others_vote(struct site *site, uint32_t player, uint64_t marks)
{
    struct tacit_vote_message const message = {.kind = TACIT_VOTE_MARKS,
                                               .from = player,
                                               .to = TACIT_EVERYONE,
                                               .run_id = RUN,
                                               .marks = &marks};
    return receive(site, &message);
}

/* All pulls of the plan, with their expected sums. Result: the status of the last reward. */
static enum tacit_status play_plan(struct site *site)
{
    enum tacit_status status = TACIT_OK;
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        uint64_t const count = site->left[arm];
        if (count > 0)
            status = reward(site, arm, count, (int64_t)(means[arm] * (double)count * TACIT_STEPS));
    }
    return status;
}

static struct tacit_vote_noised_view view_of(const struct site *site)
{
    struct tacit_vote_noised_view view;
    tacit_vote_noised_view(site->player, &view);
    return view;
}

TEST(first_plan_is_the_first_rung)
{
    struct site site;
    open_site(&site, 1, UINT64_C(1000000000));
    assert_int_equal(start(&site), TACIT_OK);
    uint64_t const rung = tacit_bounds_first_rung(1, 1, log(4.0 * ARMS / 0.5), 0.25);
    for (uint32_t arm = 0; arm < ARMS; arm++)
        assert_int_equal(site.left[arm], rung);
}

/* Two histories that differ only in rewards of an arm that is voted out in mid-epoch. */
TEST(a_partial_sum_leaves_no_trace)
{
    struct site a;
    struct site b;
    open_site(&a, 1, UINT64_C(1000000000));
    open_site(&b, 1, UINT64_C(1000000000));
    start(&a);
    start(&b);
    reward(&a, 0, 5, 0);
    reward(&b, 0, 5, 5 * TACIT_STEPS);
    for (uint32_t other = 0; other <= 2; other += 2) {
        assert_int_equal(others_vote(&a, other, 1), TACIT_OK);
        assert_int_equal(others_vote(&b, other, 1), TACIT_OK);
    }
    assert_int_equal(a.left[0], 0);
    assert_memory_equal(a.player, b.player, tacit_vote_noised_size(&a.config));
    assert_int_equal(reward(&a, 0, 1, 0), TACIT_INVALID); /* it is not asked for any more */
    assert_int_equal(play_plan(&a), TACIT_OK);
    assert_true(a.last.commit);
}

TEST(every_epoch_costs_epsilon_of_other_rewards)
{
    struct site site;
    open_site(&site, 0.5, UINT64_C(500000000));
    start(&site);
    for (uint32_t i = 0; i < 30 && !view_of(&site).decided; i++) {
        assert_int_equal(play_plan(&site), TACIT_OK);
        assert_int_equal(grant(&site, view_of(&site).draw, TACIT_HUB), TACIT_OK);
    }
    assert_true(view_of(&site).decided);
    assert_int_equal(tacit_vote_noised_best(site.player), 1);
    assert_int_equal(tacit_ledger_spent_nano(view_of(&site).ledger), 500000000);
}

/* The player has dropped all but arm 1, the others have voted arm 1 out: their set is its own now,
 * and the ladder starts over new rewards. */
TEST(a_player_without_an_arm_in_common_takes_the_voted_set)
{
    struct site site;
    open_site(&site, INFINITY, 0);
    start(&site);
    for (uint32_t arm = 0; arm < ARMS; arm++) /* nobody goes in the first epoch */
        reward(&site, arm, site.left[arm], (int64_t)site.left[arm] * TACIT_STEPS / 2);
    grant(&site, 1, TACIT_HUB);
    assert_int_equal(view_of(&site).active_count, ARMS);
    while (!view_of(&site).decided) {
        assert_int_equal(play_plan(&site), TACIT_OK);
        assert_int_equal(grant(&site, view_of(&site).draw, TACIT_HUB), TACIT_OK);
    }
    assert_true(view_of(&site).epoch > 1);
    assert_int_equal(view_of(&site).active[0], 2);
    assert_int_equal(site.last.plan_count, 0);
    uint64_t const first = tacit_bounds_first_rung(1, INFINITY, log(4.0 * ARMS / 0.5), 0.25);
    others_vote(&site, 0, 6);
    others_vote(&site, 2, 6);
    assert_int_equal(view_of(&site).active[0], 9); /* arms 0 and 3 */
    assert_true(site.last.persist);
    assert_int_equal(view_of(&site).active_count, 2);
    assert_int_equal(view_of(&site).epoch, 1);
    assert_int_equal(site.last.plan_count, 2);
    assert_int_equal(site.left[0], first);
    assert_int_equal(site.left[3], first);
    assert_int_equal(tacit_vote_noised_best(site.player),
                     0); /* nothing that was noised before counts */
    reward(&site, 0, first, (int64_t)first * TACIT_STEPS);
    assert_int_equal(reward(&site, 3, first, 0), TACIT_OK);
    assert_true(site.last.commit);
}
