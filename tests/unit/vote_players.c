/* Players of votes without their hosts. Plain ones: whatever comes at any time (messages of others
 * late, twice, with one member changed; rewards that nobody asked for; resets) is taken or leaves
 * no trace, and the digest knows all that happened; of private ones and such that publish sums the
 * storms do that (round/storm_votes, round/storm_sums). Ladders. */
#include "../support/testing.h"
#include <math.h>
#include "tacit/bounds.h"
#include "tacit/vote.h"
#include "../support/digest.h"
#include "../support/player.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x2272b0b613ad06a4))

#define PLAYERS 3u
#define ARMS_MAX 70u
#define WORDS 2u /* of a set of arms */
#define RUN_ID UINT64_C(0x123456789)
#define TABLES 60u
#define EVENTS 500u
#define SAID 8u /* messages that are remembered */

/* A message, and what it points to. */
struct said {
    struct tacit_vote_message message;
    uint64_t marks[WORDS];
};

struct member {
    void *player;
    void *board;
    uint64_t now_us;
    uint64_t left[ARMS_MAX]; /* of the plan */
};

struct table {
    uint32_t arms;
    uint32_t best;
    double gap;
    struct tacit_vote_board_config board;
    struct tacit_vote_config plain[PLAYERS];
    struct member members[PLAYERS];
    struct said said[SAID];
    uint32_t count; /* of messages, for ever */
    struct tacit_rng chance;
    struct tacit_rng noise;
    uint32_t fills_left; /* of the entropy, in this step */
};

/* What has happened at all tables: a storm that misses something is none. */
static uint32_t statuses[16]; /* by their numbers, which are 0 and below */

static uint32_t below(struct table *table, uint32_t bound)
{
    return (uint32_t)tacit_rng_below(&table->chance, bound);
}

static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    struct table *const table = context;
    struct tacit_entropy const whole = tacit_rng_entropy(&table->noise);
    if (table->fills_left == 0)
        return TACIT_ENTROPY;
    table->fills_left--;
    return whole.fill(whole.context, bytes, size);
}

static struct tacit_entropy entropy_of(struct table *table)
{
    table->fills_left = below(table, 4) == 0 ? below(table, 12) : UINT32_MAX;
    return (struct tacit_entropy){.fill = fill, .context = table};
}

static size_t words_of(const struct table *table)
{
    return (table->arms + 63) / 64;
}

static void *room(size_t size)
{
    assert_true(size > 0);
    void *const state = testing_calloc(1, size);
    return state;
}

/* ---- Tables ---- */

static struct table *table_new(uint32_t seed)
{
    static const uint32_t arms[] = {1, 2, 3, 3, 5, ARMS_MAX};
    struct table *const table = testing_calloc(1, sizeof *table);
    table->chance = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_REWARD);
    table->noise = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_NOISE);
    table->arms = arms[below(table, 6)];
    static const double gaps[] = {0.6, 0.2, 0.1};
    table->best = below(table, table->arms);
    table->gap = gaps[below(table, 3)];
    table->board = (struct tacit_vote_board_config){.run_id = RUN_ID,
                                                    .player_count = PLAYERS,
                                                    .arm_count = table->arms,
                                                    .votes_needed = 1 + below(table, PLAYERS + 1)};
    for (uint32_t i = 0; i < PLAYERS; i++)
        table->members[i] = (struct member){.now_us = 5000};
    return table;
}

static void give_boards(struct table *table)
{
    for (uint32_t i = 0; i < PLAYERS; i++) {
        table->members[i].board = room(tacit_vote_board_size(&table->board));
        assert_int_equal(tacit_vote_board_init(table->members[i].board, &table->board), TACIT_OK);
    }
}

static void digest_board(const struct table *table, const struct tacit_vote_board *board)
{
    struct tacit_vote_board_view view;
    tacit_vote_board_view(board, &view);
    uint64_t const words[] = {view.reset, view.voted_count, view.mark_count};
    digest_bytes(words, sizeof words);
    digest_bytes(view.voted, words_of(table) * sizeof(uint64_t));
    digest_bytes(view.counts, table->arms * sizeof *view.counts);
}

static bool is_board(const void *state, size_t size, void *config)
{
    return tacit_vote_board_check(state, size, config) == TACIT_OK;
}

/* ---- Messages ---- */

static void remember(struct table *table, const struct tacit_vote_message *message)
{
    struct said *const said = &table->said[table->count++ % SAID];
    uint64_t const words[] = {message->kind,   message->from,  message->to,
                              message->run_id, message->reset, message->draw};
    digest_bytes(words, sizeof words);
    *said = (struct said){.message = *message};
    memcpy(said->marks, message->marks, words_of(table) * sizeof(uint64_t));
    digest_bytes(said->marks, sizeof said->marks);
}

/* What another has said, a reset, a grant; sometimes with one member changed. */
static struct said any_message(struct table *table, const struct member *member)
{
    static const uint32_t others[] = {TACIT_HUB, TACIT_EVERYONE, 0, PLAYERS};
    uint32_t const kind = below(table, 12);
    uint32_t const which = below(table, table->count < SAID ? table->count + 1 : SAID);
    struct said said = table->said[which];
    if (kind == 0 || which >= table->count)
        said.message = (struct tacit_vote_message){.kind = TACIT_VOTE_RESET,
                                                   .from = TACIT_HUB,
                                                   .run_id = RUN_ID,
                                                   .reset = 1 + below(table, 3)};
    if (kind == 1 || kind == 2) { /* a vote that nobody here would cast */
        said.message = (struct tacit_vote_message){
            .kind = TACIT_VOTE_MARKS, .from = which % PLAYERS, .run_id = RUN_ID};
        struct tacit_vote_board_view board;
        tacit_vote_board_view(member->board, &board);
        said.message.reset = board.reset;
        said.marks[0] = said.marks[1] = 0;
        tacit_bits_add(said.marks, below(table, table->arms));
    }
    if (kind > 8)
        said.message = (struct tacit_vote_message){
            .kind = TACIT_VOTE_GRANT, .from = TACIT_HUB, .run_id = RUN_ID, .draw = 1};
    switch (below(table, 20)) {
    case 0:
        said.message.from = others[below(table, 4)];
        break;
    case 1:
        said.message.run_id ^= UINT64_C(1) << 32;
        break;
    case 2:
        said.message.reset += 1 - 2 * (uint64_t)below(table, 2);
        break;
    case 3:
        said.message.draw += 1 - 2 * (uint64_t)below(table, 2);
        break;
    case 4:
        tacit_bits_add(said.marks, below(table, table->arms + 1));
        break;
    case 5:
        said.message.kind = TACIT_VOTE_MARKS;
        break;
    default:
        break;
    }
    return said;
}

static struct tacit_reward any_reward(struct table *table, const struct member *member)
{
    uint32_t arm = below(table, table->arms);
    for (uint32_t i = 0; i < table->arms && member->left[arm] == 0; i++)
        arm = (arm + 1) % table->arms;
    uint64_t const count = member->left[arm] > 1 && below(table, 5) == 0
                               ? 1 + below(table, (uint32_t)member->left[arm])
                               : member->left[arm];
    double const mean = 0.3 + (arm == table->best ? table->gap : 0.001 * arm);
    struct tacit_reward reward = {.arm = arm, .count = count};
    reward.sum.real = tacit_rng_uniform(&table->chance) < mean ? 1 : 0;
    uint32_t const what = below(table, 60);
    if (what == 0)
        reward.count = member->left[arm] + 1;
    else if (what == 1)
        reward.count = 0;
    else if (what == 2)
        reward.arm = table->arms;
    else if (what == 3)
        reward.sum.real = nextafter(1, 2);
    else if (what == 4)
        reward.sum.real = -0x1p-1074;
    return reward;
}

static void take_plan(struct member *member, const struct tacit_pull_block *plan, uint32_t count)
{
    plan_begins(member->left, sizeof member->left / sizeof *member->left, plan, count);
}

static bool is_refused(enum tacit_status status)
{
    statuses[-(int)status]++;
    return status == TACIT_MALFORMED || status == TACIT_STRANGER || status == TACIT_UNEXPECTED ||
           status == TACIT_INVALID;
}

static void *copy_of(const void *state, size_t size)
{
    void *const copy = room(size);
    memcpy(copy, state, size);
    return copy;
}

/* ---- Private players ---- */

/* Two arms that nothing tells apart, without noise, until no rung is left. Returns the pulls of
 * each; the view is that of the end. */
static uint64_t climb(double growth, double failure, double accuracy, uint64_t *active,
                      struct tacit_vote_noised_view *view)
{
    struct tacit_vote_board_config const board = {
        .run_id = RUN_ID, .player_count = 1, .arm_count = 2, .votes_needed = 1};
    struct tacit_vote_private_config config = {.run_id = RUN_ID,
                                               .player_count = 1,
                                               .arm_count = 2,
                                               .accuracy = accuracy,
                                               .failure = failure,
                                               .growth = growth,
                                               .tick_us = 900};
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, INFINITY, 0, 1};
    assert_int_equal(tacit_mechanism_init(&config.mechanism, &mechanism), TACIT_OK);
    size_t const size = tacit_vote_private_size(&config);
    struct tacit_vote_private *const player = room(size);
    struct tacit_vote_board *const said = room(tacit_vote_board_size(&board));
    assert_int_equal(tacit_vote_private_init(player, &config), TACIT_OK);
    assert_int_equal(tacit_vote_board_init(said, &board), TACIT_OK);
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    struct tacit_vote_noised_update update;
    struct tacit_vote_event event = {.kind = TACIT_EVENT_START};
    uint64_t pulls = 0;
    for (uint32_t i = 0; i < 400; i++) {
        assert_int_equal(tacit_vote_private_step(player, said, &event, &entropy, &update),
                         TACIT_OK);
        assert_int_equal(tacit_vote_private_check(player, size, &config), TACIT_OK);
        uint64_t const each = update.replan && update.plan_count > 0 ? update.plan[0].count : 0;
        if (each == 0)
            break;
        pulls += each;
        event = (struct tacit_vote_event){.kind = TACIT_EVENT_REWARD};
        for (uint32_t arm = 0; arm < 2; arm++) {
            event.as.reward = (struct tacit_reward){
                .arm = arm, .count = each, .sum.steps = (int64_t)each * (TACIT_STEPS / 2)};
            assert_int_equal(tacit_vote_private_step(player, said, &event, &entropy, &update),
                             TACIT_OK);
        }
        assert_true(update.commit);
        struct tacit_vote_message const grant = {
            .kind = TACIT_VOTE_GRANT, .from = TACIT_HUB, .run_id = RUN_ID, .draw = update.draw};
        event = (struct tacit_vote_event){.kind = TACIT_EVENT_RECEIVE};
        event.as.message = &grant;
        assert_int_equal(tacit_vote_private_step(player, said, &event, &entropy, &update),
                         TACIT_OK);
        event = (struct tacit_vote_event){.kind = TACIT_EVENT_START}; /* shows the plan again */
    }
    tacit_vote_private_view(player, view);
    *active = view->active[0];
    assert_int_equal(tacit_vote_private_check(player, size, &config), TACIT_OK);
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

/* ---- Plain players ---- */

static void digest_plain(const struct table *table, const struct tacit_vote_player *player)
{
    struct tacit_vote_player_view view;
    tacit_vote_player_view(player, &view);
    uint64_t const words[] = {view.reset,
                              view.decided,
                              view.is_open,
                              view.is_open ? view.open_arm : 0,
                              view.subroutine.remaining_count,
                              view.subroutine.answer,
                              view.subroutine.sample_count,
                              view.subroutine.round_count,
                              view.subroutine.epoch_count,
                              view.subroutine.reset_count,
                              tacit_vote_player_is_decided(player)};
    digest_bytes(words, sizeof words);
    digest_bytes(view.subroutine.remaining, words_of(table) * sizeof(uint64_t));
    digest_bytes(view.subroutine.dropped, words_of(table) * sizeof(uint64_t));
}

static void step_plain(struct table *table, uint32_t at, struct tacit_vote_event event)
{
    struct member *const member = &table->members[at];
    size_t const size = tacit_vote_player_size(&table->plain[at]);
    size_t const board_size = tacit_vote_board_size(&table->board);
    void *const before = copy_of(member->player, size);
    void *const board_before = copy_of(member->board, board_size);
    struct tacit_entropy const entropy = entropy_of(table);
    struct tacit_vote_update update;
    event.now_us = member->now_us;
    enum tacit_status const status =
        tacit_vote_player_step(member->player, member->board, &event, &entropy, &update);
    if (is_refused(status)) {
        assert_memory_equal(before, member->player, size);
        assert_memory_equal(board_before, member->board, board_size);
        assert_true(!update.persist && !update.persist_board && !update.send);
    }
    digest_step(status,
                update.persist | (uint64_t)update.persist_board << 1 | (uint64_t)update.send << 3 |
                    (uint64_t)update.marks_new << 8,
                update.deadline_us, update.plan, update.plan_count);
    digest_plain(table, member->player);
    digest_board(table, member->board);
    assert_true(is_board(member->board, board_size, &table->board));
    if (update.plan_count > 0)
        take_plan(member, update.plan, update.plan_count);
    if (update.send)
        remember(table, &update.message);
}

static void member_plain(struct table *table)
{
    give_boards(table);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        table->plain[i] = (struct tacit_vote_config){
            .run_id = RUN_ID,
            .player_id = i,
            .player_count = PLAYERS,
            .sharing = below(table, 4) == 0 ? TACIT_VOTE_SHARING_NONE : TACIT_VOTE_SHARING_VOTES,
            .subroutine = {.kind = (enum tacit_best_arm_kind)below(table, TACIT_BEST_ARM_KINDS),
                           .arm_count = table->arms,
                           .accuracy = 0.9,
                           .failure = 0.9}};
        table->members[i].player = room(tacit_vote_player_size(&table->plain[i]));
        assert_int_equal(tacit_vote_player_init(table->members[i].player, &table->plain[i]),
                         TACIT_OK);
    }
}

TEST(plain_players_take_what_comes_or_nothing_of_it)
{
    for (uint32_t seed = 0; seed < TABLES; seed++) {
        struct table *const table = table_new(1000 + seed);
        member_plain(table);
        for (uint32_t i = 0; i < EVENTS; i++) {
            uint32_t const at = below(table, PLAYERS);
            uint32_t const what = below(table, 100);
            struct member *const member = &table->members[at];
            struct tacit_vote_event event = {.kind = TACIT_EVENT_OFFER};
            struct said said;
            member->now_us += below(table, 3);
            if (what < 5) {
                static const enum tacit_event_kind kinds[] = {
                    TACIT_EVENT_START, TACIT_EVENT_EXPLOITED, TACIT_EVENT_TIMEOUT};
                event.kind = kinds[what % 3];
            } else if (what < 17) {
                said = any_message(table, member);
                if (said.message.kind == TACIT_VOTE_MARKS)
                    said.message.marks = said.marks;
                event.kind = TACIT_EVENT_RECEIVE;
                event.as.message = &said.message;
            } else if (what < 60) {
                event.kind = TACIT_EVENT_REWARD;
                event.as.reward = any_reward(table, member);
                memset(member->left, 0, sizeof member->left);
            }
            step_plain(table, at, event);
        }
    }
}

TEST(the_storm_has_missed_nothing)
{
    static const enum tacit_status expected[] = {TACIT_OK, TACIT_INVALID, TACIT_MALFORMED,
                                                 TACIT_STRANGER};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_true(statuses[-(int)expected[i]] > 15);
}
