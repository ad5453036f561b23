/* Players of votes without their hosts: plain, private, and such that publish sums. Whatever comes
 * at any time (messages of others late, twice, with one member changed; rewards and grants that
 * nobody asked for; ticks a moment too early; resets, deaths, entropy that ends in the middle of a
 * step) is taken or leaves no trace; every state is one, and the digest knows all that happened. */
#include "../support/testing.h"
#include <math.h>
#include "tacit/bounds.h"
#include "tacit/vote.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/player.h"
#include "../../src/proto/vote/block.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0xe0b5deec7179b0a9))
/* .. and of what the checks say of damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0xc9d3c50dd1f8a6ba))

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
    void *board; /* or a pool */
    uint64_t now_us;
    uint64_t deadline_us;
    uint64_t left[ARMS_MAX]; /* of the plan */
    uint64_t draw;
};

struct table {
    uint32_t arms;
    uint32_t best;
    double gap;
    struct tacit_vote_board_config board;
    struct tacit_vote_config plain[PLAYERS];
    struct tacit_vote_private_config hidden[PLAYERS];
    struct tacit_vote_sums_config sums[PLAYERS];
    struct tacit_vote_pool_config pool;
    struct member members[PLAYERS];
    struct said said[SAID];
    uint64_t released; /* numbers that the hub has given */
    struct {
        struct tacit_vote_release release;
        uint64_t arms[WORDS];
        int64_t sums[ARMS_MAX];
    } releases[SAID];
    uint32_t count; /* of messages or releases, for ever */
    struct tacit_rng chance;
    struct tacit_rng noise;
    uint32_t fills_left; /* of the entropy, in this step */
};

/* What has happened at all tables: a storm that misses something is none. */
static uint32_t statuses[16]; /* by their numbers, which are 0 and below */
static uint32_t sent;
static uint32_t decided;

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
        table->members[i] = (struct member){.now_us = 5000, .deadline_us = TACIT_NEVER};
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
    sent++;
}

/* What another has said, a reset, a grant; sometimes with one member changed. */
static struct said any_message(struct table *table, const struct member *member, uint64_t draw)
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
            .kind = TACIT_VOTE_GRANT, .from = TACIT_HUB, .run_id = RUN_ID, .draw = draw};
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

static struct tacit_reward any_reward(struct table *table, struct member *member, bool is_real)
{
    uint32_t arm = below(table, table->arms);
    for (uint32_t i = 0; i < table->arms && member->left[arm] == 0; i++)
        arm = (arm + 1) % table->arms;
    uint64_t const count = member->left[arm] > 1 && below(table, 5) == 0
                               ? 1 + below(table, (uint32_t)member->left[arm])
                               : member->left[arm];
    double const mean = 0.3 + (arm == table->best ? table->gap : 0.001 * arm);
    struct tacit_reward reward = {.arm = arm, .count = count};
    if (is_real)
        reward.sum.real = tacit_rng_uniform(&table->chance) < mean ? 1 : 0;
    else
        reward.sum.steps = (int64_t)(mean * (double)count * (double)TACIT_STEPS);
    uint32_t const what = below(table, 60);
    if (what == 0)
        reward.count = member->left[arm] + 1;
    else if (what == 1)
        reward.count = 0;
    else if (what == 2)
        reward.arm = table->arms;
    else if (what == 3 && is_real)
        reward.sum.real = nextafter(1, 2);
    else if (what == 3)
        reward.sum.steps = (int64_t)count * TACIT_STEPS + 1;
    else if (what == 4 && is_real)
        reward.sum.real = -0x1p-1074;
    else if (what == 4)
        reward.sum.steps = -1;
    return reward;
}

static void take_plan(struct member *member, const struct tacit_pull_block *plan, uint32_t count)
{
    plan_begins(member->left, sizeof member->left / sizeof *member->left, plan, count);
}

/* Time goes on: to the deadline, a moment before it, or somewhere. */
static void pass(struct table *table, struct member *member)
{
    uint32_t const when = below(table, 4);
    uint64_t const due = member->deadline_us - (when == 0 ? 1 : 0);
    if (when < 3 && member->deadline_us != TACIT_NEVER && due > member->now_us)
        member->now_us = due;
    else
        member->now_us += below(table, 300);
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

static bool is_hidden(const void *state, size_t size, void *config)
{
    return tacit_vote_private_check(state, size, config) == TACIT_OK;
}

static void digest_hidden(const struct table *table, const struct tacit_vote_private *player)
{
    struct tacit_vote_noised_view view;
    tacit_vote_private_view(player, &view);
    uint64_t const words[] = {view.epoch,
                              view.draw,
                              view.decided,
                              view.active_count,
                              view.waiting,
                              view.halted,
                              tacit_vote_private_best(player),
                              view.draw,
                              view.decided,
                              view.waiting,
                              view.halted,
                              view.pulling,
                              view.leave_us,
                              view.deadline_us};
    digest_bytes(words, sizeof words);
    digest_bytes(view.active, words_of(table) * sizeof(uint64_t));
    digest_bytes(view.dropped, words_of(table) * sizeof(uint64_t));
    digest_ledger(view.ledger);
    for (uint32_t arm = 0; arm < table->arms; arm++)
        digest_word((uint64_t)tacit_vote_private_total(player, arm));
    if (view.waiting) {
        uint8_t digest[TACIT_SHA256_BYTES];
        tacit_vote_private_digest(player, digest);
        digest_bytes(digest, sizeof digest);
    }
}

static void step_hidden(struct table *table, uint32_t at, struct tacit_vote_event event)
{
    struct member *const member = &table->members[at];
    size_t const size = tacit_vote_private_size(&table->hidden[at]);
    size_t const board_size = tacit_vote_board_size(&table->board);
    void *const before = copy_of(member->player, size);
    void *const board_before = copy_of(member->board, board_size);
    struct tacit_entropy const entropy = entropy_of(table);
    struct tacit_vote_noised_update update;
    event.now_us = member->now_us;
    enum tacit_status const status =
        tacit_vote_private_step(member->player, member->board, &event, &entropy, &update);
    if (is_refused(status)) {
        assert_memory_equal(before, member->player, size);
        assert_memory_equal(board_before, member->board, board_size);
        assert_true(!update.persist && !update.persist_board && !update.send && !update.replan);
    }
    digest_step(status,
                update.persist | (uint64_t)update.persist_board << 1 |
                    (uint64_t)update.commit << 2 | (uint64_t)update.send << 3 |
                    (uint64_t)update.replan << 4 | (uint64_t)update.marks_new << 8,
                update.deadline_us, update.plan, update.plan_count);
    digest_word(update.draw);
    digest_hidden(table, member->player);
    digest_board(table, member->board);
    assert_true(is_hidden(member->player, size, &table->hidden[at]));
    assert_true(is_board(member->board, board_size, &table->board));
    damage_some(member->player, size, is_hidden, &table->hidden[at]);
    damage_some(member->board, board_size, is_board, &table->board);
    member->deadline_us = update.deadline_us;
    if (update.commit)
        member->draw = update.draw;
    if (update.replan)
        take_plan(member, update.plan, update.plan_count);
    if (update.send)
        remember(table, &update.message);
}

static void member_hidden(struct table *table)
{
    static const uint64_t halves[] = {1, 2, 1000, 1000, 1000}; /* of what a draw costs */
    give_boards(table);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        double const epsilon = below(table, 3) == 0 ? 1 : 8;
        struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, epsilon, 0, 1};
        uint64_t const budget = halves[below(table, 5)] * (uint64_t)epsilon * TACIT_NANO / 2;
        table->hidden[i] = (struct tacit_vote_private_config){.run_id = RUN_ID,
                                                              .player_id = i,
                                                              .player_count = PLAYERS,
                                                              .arm_count = table->arms,
                                                              .accuracy = 0.05,
                                                              .failure = 0.5,
                                                              .growth = 3,
                                                              .budget_nano = budget,
                                                              .tick_us = 900};
        assert_int_equal(tacit_mechanism_init(&table->hidden[i].mechanism, &mechanism), TACIT_OK);
        table->members[i].player = room(tacit_vote_private_size(&table->hidden[i]));
        assert_int_equal(tacit_vote_private_init(table->members[i].player, &table->hidden[i]),
                         TACIT_OK);
    }
}

TEST(private_players_take_what_comes_or_nothing_of_it)
{
    for (uint32_t seed = 0; seed < TABLES; seed++) {
        struct table *const table = table_new(seed);
        member_hidden(table);
        for (uint32_t i = 0; i < EVENTS; i++) {
            uint32_t const at = i < PLAYERS ? i : below(table, PLAYERS);
            uint32_t const what = below(table, 100);
            struct member *const member = &table->members[at];
            struct tacit_vote_event event = {.kind = TACIT_EVENT_REWARD};
            struct said said;
            if (i < PLAYERS || what < 4) {
                event.kind = TACIT_EVENT_START;
                member->now_us = below(table, 4) == 0 ? below(table, 3000) : member->now_us;
            } else if (what < 40) {
                said = any_message(table, member, member->draw);
                if (said.message.kind == TACIT_VOTE_MARKS)
                    said.message.marks = said.marks;
                event.kind = TACIT_EVENT_RECEIVE;
                event.as.message = &said.message;
            } else if (what < 52) {
                event.kind = TACIT_EVENT_TIMEOUT;
                pass(table, member);
            } else if (what < 56) {
                event.kind = what < 54 ? TACIT_EVENT_OFFER : TACIT_EVENT_EXPLOITED;
            } else {
                event.as.reward = any_reward(table, member, false);
                member->left[event.as.reward.arm % ARMS_MAX] -=
                    event.as.reward.count <= member->left[event.as.reward.arm % ARMS_MAX]
                        ? event.as.reward.count
                        : 0;
            }
            step_hidden(table, at, event);
        }
        for (uint32_t i = 0; i < PLAYERS; i++)
            decided += tacit_vote_private_is_decided(table->members[i].player) ? 1 : 0;
    }
    assert_true(sent > 50 && decided > 50);
}

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
                said = any_message(table, member, 1);
                if (said.message.kind == TACIT_VOTE_MARKS)
                    said.message.marks = said.marks;
                event.kind = TACIT_EVENT_RECEIVE;
                event.as.message = &said.message;
            } else if (what < 60) {
                event.kind = TACIT_EVENT_REWARD;
                event.as.reward = any_reward(table, member, true);
                memset(member->left, 0, sizeof member->left);
            }
            step_plain(table, at, event);
        }
    }
}

/* ---- Players that publish sums, and their pools ---- */

static bool is_sums(const void *state, size_t size, void *config)
{
    return tacit_vote_sums_check(state, size, config) == TACIT_OK;
}

static bool is_pool(const void *state, size_t size, void *config)
{
    return tacit_vote_pool_check(state, size, config) == TACIT_OK;
}

static void digest_pool(const struct table *table, const struct tacit_vote_pool *pool)
{
    struct tacit_vote_pool_view view;
    tacit_vote_pool_view(pool, &view);
    uint64_t const words[] = {view.release_count, view.look_count, view.next_look,
                              view.active_count};
    digest_bytes(words, sizeof words);
    digest_bytes(view.active, words_of(table) * sizeof(uint64_t));
    digest_bytes(view.sums, table->arms * sizeof *view.sums);
}

/* Every pool of the table hears of it; now and then of another one, once more or of a false one. */
static void publish(struct table *table, uint32_t which, bool is_changed)
{
    struct tacit_vote_release release = table->releases[which].release;
    uint64_t arms[WORDS];
    int64_t sums[ARMS_MAX];
    memcpy(arms, table->releases[which].arms, sizeof arms);
    memcpy(sums, table->releases[which].sums, sizeof sums);
    release.arms = arms;
    release.sums = sums;
    switch (is_changed ? below(table, 8) : 8) {
    case 0:
        release.run_id++;
        break;
    case 1:
        release.from = PLAYERS;
        break;
    case 2:
        release.number += 1 - 2 * (uint64_t)below(table, 2);
        break;
    case 3:
        arms[0] ^= 1;
        break;
    case 4:
        tacit_bits_add(arms, table->arms);
        break;
    case 5:
        sums[below(table, table->arms)] = (INT64_C(1) << 60) + 1;
        break;
    case 6:
        sums[below(table, table->arms)] = -(INT64_C(1) << 60) - 1;
        break;
    case 7:
        release.arms = NULL;
        break;
    default:
        break;
    }
    size_t const size = tacit_vote_pool_size(&table->pool);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        void *const before = copy_of(table->members[i].board, size);
        enum tacit_status const status = tacit_vote_pool_add(table->members[i].board, &release);
        if (is_refused(status))
            assert_memory_equal(before, table->members[i].board, size);
        testing_free(before);
        digest_word((uint64_t)status);
        digest_pool(table, table->members[i].board);
        assert_true(is_pool(table->members[i].board, size, &table->pool));
        damage_some(table->members[i].board, size, is_pool, &table->pool);
    }
}

static void digest_sums(const struct table *table, const struct tacit_vote_sums *player)
{
    struct tacit_vote_noised_view view;
    tacit_vote_sums_view(player, &view);
    uint64_t const words[] = {view.draw, view.decided, view.waiting, view.halted,
                              view.active_count};
    digest_bytes(words, sizeof words);
    digest_bytes(view.active, words_of(table) * sizeof(uint64_t));
    digest_ledger(view.ledger);
}

static void keep_release(struct table *table, const struct tacit_vote_release *release)
{
    uint32_t const which = table->count++ % SAID;
    table->releases[which].release = *release;
    memcpy(table->releases[which].arms, release->arms, words_of(table) * sizeof(uint64_t));
    memcpy(table->releases[which].sums, release->sums, table->arms * sizeof *release->sums);
    uint64_t const words[] = {release->run_id, release->from, release->number};
    digest_bytes(words, sizeof words);
    digest_bytes(release->arms, words_of(table) * sizeof(uint64_t));
    digest_bytes(release->sums, table->arms * sizeof *release->sums);
    publish(table, which, false);
    sent++;
}

static void step_sums(struct table *table, uint32_t at, struct tacit_vote_event event)
{
    struct member *const member = &table->members[at];
    size_t const size = tacit_vote_sums_size(&table->sums[at]);
    void *const before = copy_of(member->player, size);
    struct tacit_entropy const entropy = entropy_of(table);
    struct tacit_vote_noised_update update;
    struct tacit_vote_pool_view pool;
    tacit_vote_pool_view(member->board, &pool);
    event.now_us = member->now_us;
    if (event.kind == TACIT_EVENT_OFFER)
        event.as.standing = (struct tacit_vote_standing){pool.active, UINT64_MAX};
    enum tacit_status const status =
        tacit_vote_sums_step(member->player, &event, &entropy, &update);
    if (is_refused(status)) {
        assert_memory_equal(before, member->player, size);
        assert_true(!update.persist && !update.commit && !update.send && !update.replan);
    }
    digest_step(status,
                update.persist | (uint64_t)update.commit << 1 | (uint64_t)update.send << 2 |
                    (uint64_t)update.replan << 3 | update.draw << 8,
                update.deadline_us, update.plan, update.plan_count);
    digest_sums(table, member->player);
    assert_true(is_sums(member->player, size, &table->sums[at]));
    damage_some(member->player, size, is_sums, &table->sums[at]);
    member->deadline_us = update.deadline_us;
    if (update.commit)
        member->draw = update.draw;
    if (update.replan)
        take_plan(member, update.plan, update.plan_count);
    if (update.send)
        keep_release(table, &update.release);
}

static void member_sums(struct table *table)
{
    static const uint64_t halves[] = {1, 2, 1000, 1000, 1000}; /* of what a draw costs */
    uint64_t const block = 1 + below(table, 40);
    table->pool = (struct tacit_vote_pool_config){.run_id = RUN_ID,
                                                  .player_count = PLAYERS,
                                                  .arm_count = table->arms,
                                                  .accuracy = 0.25,
                                                  .failure = 0.5,
                                                  .epsilon = 8,
                                                  .block = block,
                                                  .growth = 1.25};
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, 8, 0, 1};
    for (uint32_t i = 0; i < PLAYERS; i++) {
        table->sums[i] = (struct tacit_vote_sums_config){.run_id = RUN_ID,
                                                         .player_id = i,
                                                         .player_count = PLAYERS,
                                                         .arm_count = table->arms,
                                                         .block = block,
                                                         .tick_us = 900};
        table->sums[i].budget_nano = halves[below(table, 5)] * 4 * TACIT_NANO;
        assert_int_equal(tacit_mechanism_init(&table->sums[i].mechanism, &mechanism), TACIT_OK);
        table->members[i].player = room(tacit_vote_sums_size(&table->sums[i]));
        assert_int_equal(tacit_vote_sums_init(table->members[i].player, &table->sums[i]), TACIT_OK);
        table->members[i].board = room(tacit_vote_pool_size(&table->pool));
        assert_int_equal(tacit_vote_pool_init(table->members[i].board, &table->pool), TACIT_OK);
    }
}

static struct tacit_vote_event any_event(struct table *table, struct member *member)
{
    struct tacit_vote_event event = {.kind = TACIT_EVENT_REWARD};
    uint32_t const what = below(table, 100);
    if (what < 4) {
        event.kind = what < 3 ? TACIT_EVENT_START : TACIT_EVENT_EXPLOITED;
    } else if (what < 24) {
        event.kind = TACIT_EVENT_RECEIVE;
        event.as.grant.draw = member->draw;
        event.as.grant.number = table->released;
        if (what > 20)
            event.as.grant.draw += 1 - 2 * (uint64_t)below(table, 2);
    } else if (what < 44) {
        event.kind = TACIT_EVENT_TIMEOUT;
        pass(table, member);
    } else if (what < 56) {
        event.kind = TACIT_EVENT_OFFER;
    } else {
        event.as.reward = any_reward(table, member, false);
        uint64_t *const left = &member->left[event.as.reward.arm % ARMS_MAX];
        *left -= event.as.reward.count <= *left ? event.as.reward.count : 0;
    }
    return event;
}

TEST(publishers_take_what_comes_or_nothing_of_it)
{
    uint32_t pools_decided = 0;
    for (uint32_t seed = 0; seed < TABLES; seed++) {
        struct table *const table = table_new(2000 + seed);
        member_sums(table);
        for (uint32_t i = 0; i < 2 * EVENTS; i++) {
            uint32_t const at = i < PLAYERS ? i : below(table, PLAYERS);
            struct tacit_vote_event event = {.kind = TACIT_EVENT_START};
            if (i >= PLAYERS)
                event = any_event(table, &table->members[at]);
            struct tacit_vote_noised_view view;
            tacit_vote_sums_view(table->members[at].player, &view);
            bool const is_new = event.kind == TACIT_EVENT_RECEIVE && view.waiting &&
                                event.as.grant.draw == view.draw;
            step_sums(table, at, event);
            table->released += is_new ? 1 : 0;
            if (below(table, 30) == 0 && table->count > 0)
                publish(table, below(table, table->count < SAID ? table->count : SAID), true);
        }
        struct tacit_vote_pool_view view;
        tacit_vote_pool_view(table->members[0].board, &view);
        pools_decided += view.active_count == 1 && table->arms > 1 ? 1 : 0;
    }
    assert_true(pools_decided > 5);
}

/* ---- Blocks ---- */

#define ARMS 4u

/* A block with its parts where a test can look at them. */
struct laid {
    uint64_t active;
    uint64_t left[ARMS];
    uint64_t left_count;
    union tacit_sum exact[ARMS];
    int64_t noised[2 * ARMS]; /* a stride of two: between them nothing is written */
    struct tacit_pull_block plan[ARMS];
    uint64_t phase;
    uint64_t draw;
    struct vote_clock clock;
    struct vote_block block;
    struct tacit_mechanism mechanism;
    struct tacit_vote_noised_update update;
};

static void lay(struct laid *laid, uint64_t active, double epsilon, uint64_t budget_nano)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, epsilon, 0, 1};
    memset(laid, 0x55, sizeof *laid);
    assert_int_equal(tacit_mechanism_init(&laid->mechanism, &mechanism), TACIT_OK);
    laid->active = active;
    laid->draw = 0;
    laid->clock = vote_clock_init(budget_nano);
    laid->block = (struct vote_block){.arm_count = ARMS,
                                      .mechanism = &laid->mechanism,
                                      .clock = &laid->clock,
                                      .phase = &laid->phase,
                                      .draw = &laid->draw,
                                      .plan = laid->plan,
                                      .active = &laid->active,
                                      .left = laid->left,
                                      .left_count = &laid->left_count,
                                      .exact = laid->exact};
}

static void expect_block(const struct laid *laid, const uint64_t *left, const int64_t *exact)
{
    uint64_t sum = 0;
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        assert_int_equal(laid->left[arm], left[arm]);
        assert_int_equal(laid->exact[arm].steps, exact[arm]);
        sum += left[arm];
    }
    assert_int_equal(laid->left_count, sum);
}

static bool open_block(struct laid *laid, uint64_t each)
{
    bool const is_open = vote_block_open(&laid->block, each);
    laid->phase = is_open ? PHASE_PULLING : VOTE_PHASES;
    return is_open;
}

static enum tacit_status bring(struct laid *laid, uint32_t arm, uint64_t count, int64_t steps)
{
    laid->update = (struct tacit_vote_noised_update){.persist = false};
    enum tacit_status const status = vote_block_add(
        &laid->block, &(struct tacit_reward){.arm = arm, .count = count, .sum.steps = steps},
        &laid->update);
    assert_true(laid->update.persist == (status == TACIT_OK));
    return status;
}

TEST(a_block_holds_what_is_owed_and_brought)
{
    static const int64_t nothing[ARMS];
    struct laid laid;
    struct tacit_pull_block const *const plan = laid.plan;
    lay(&laid, 4, INFINITY, 0);
    assert_false(open_block(&laid, 10)); /* one arm: nothing to find out */
    expect_block(&laid, (uint64_t[]){0, 0, 0, 0}, nothing);
    vote_block_show(&laid.block, &laid.update);
    assert_int_equal(laid.update.plan_count, 0);
    laid.active = 13;
    assert_true(open_block(&laid, 10));
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
    vote_block_show(&laid.block, &laid.update);
    assert_true(laid.update.replan && laid.update.plan == plan && laid.update.plan_count == 2);
    assert_true(plan[0].arm == 0 && plan[0].count == 8 && plan[1].arm == 3 && plan[1].count == 8);
    assert_true(vote_block_is_possible(&laid.block, 8));
    assert_false(vote_block_is_possible(&laid.block, 7));
    laid.active = 12; /* arm 0 has left: its pulls and its sum are gone */
    assert_false(vote_block_is_possible(&laid.block, 8));
    vote_block_leave(&laid.block);
    expect_block(&laid, (uint64_t[]){0, 0, 0, 8}, (int64_t[]){0, 0, 0, 15});
    assert_true(vote_block_is_possible(&laid.block, 8));
    laid.left_count++;
    assert_false(vote_block_is_possible(&laid.block, 8));
    laid.left_count--;
    laid.phase = PHASE_WAITING; /* nothing is owed then */
    assert_false(vote_block_is_possible(&laid.block, 8));
    assert_int_equal(bring(&laid, 3, 1, 7), TACIT_INVALID);
    laid.phase = PHASE_PULLING;
    laid.draw = 1; /* a draw that nobody paid */
    assert_false(vote_block_is_possible(&laid.block, 8));
}

static enum tacit_status release_of(struct laid *laid, uint32_t words)
{
    struct table table = {.noise = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE),
                          .fills_left = words};
    struct tacit_entropy const entropy = {.fill = fill, .context = &table};
    laid->update = (struct tacit_vote_noised_update){.persist = false};
    enum tacit_status const status = vote_block_release(
        &laid->block, &entropy, (struct vote_block_noised){laid->noised, 2}, &laid->update);
    assert_true(laid->update.persist && laid->update.commit == (status == TACIT_OK));
    assert_int_equal(laid->phase, status == TACIT_OK ? PHASE_WAITING : PHASE_RELEASING);
    return status;
}

static void bring_all(struct laid *laid, const int64_t *brought)
{
    (void)open_block(laid, 1);
    for (uint32_t arm = 0; arm < ARMS; arm++)
        if (brought[arm] > 0)
            assert_int_equal(bring(laid, arm, 1, brought[arm]), TACIT_OK);
    assert_true(vote_block_is_full(&laid->block));
}

TEST(a_release_is_all_or_nothing)
{
    static const int64_t nothing[ARMS];
    static const uint64_t none[ARMS];
    int64_t const brought[ARMS] = {5, 0, 6, 7};
    struct laid laid;
    struct tacit_ledger const *const ledger = &laid.clock.ledger;
    lay(&laid, 13, 1, TACIT_NANO);
    bring_all(&laid, brought);
    enum tacit_status status = TACIT_ENTROPY;
    uint32_t words = 0;
    for (; (status = release_of(&laid, words)) == TACIT_ENTROPY; words++) {
        expect_block(&laid, none, brought);
        assert_true(laid.draw == 0 && ledger->release_count == 0 && ledger->gross_nano == 0);
        for (uint32_t arm = 0; arm < ARMS; arm++)
            assert_true(arm == 1 || laid.noised[2 * arm] == 0);
        assert_false(vote_block_is_retried(&laid.block));
        laid.clock.now_us = vote_clock_deadline(&laid.clock);
        assert_true(vote_block_is_retried(&laid.block));
        assert_true(laid.clock.retry_us == TACIT_NEVER);
    }
    assert_true(status == TACIT_OK && words >= 3 && laid.update.draw == 1);
    expect_block(&laid, none, nothing);
    assert_true(laid.draw == 1 && ledger->release_count == 1 && ledger->gross_nano == TACIT_NANO);
    int64_t untouched;
    memset(&untouched, 0x55, sizeof untouched);
    for (uint32_t i = 0; i < 2 * ARMS; i++) {
        bool const is_noised = i % 2 == 0 && i != 2;
        assert_true(is_noised == (laid.noised[i] != untouched));
        digest_word((uint64_t)laid.noised[i]);
    }
    lay(&laid, 13, 1, TACIT_NANO / 2);
    bring_all(&laid, brought);
    assert_int_equal(release_of(&laid, UINT32_MAX), TACIT_BUDGET);
    expect_block(&laid, none, nothing);
    assert_true(laid.draw == 0 && ledger->release_count == 0);
}

TEST(ticks_are_multiples_that_lie_ahead)
{
    uint64_t const ticks[][2] = {{0, 10}, {9, 10}, {10, 20}};
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        struct vote_clock const clock = {.now_us = ticks[i][0]};
        assert_int_equal(vote_clock_tick(&clock, 10), ticks[i][1]);
    }
    assert_int_equal(vote_earlier(3, 4), 3);
    assert_int_equal(vote_earlier(TACIT_NEVER, 4), 4);
}

TEST(the_storm_has_missed_nothing)
{
    static const enum tacit_status expected[] = {TACIT_OK,         TACIT_MALFORMED, TACIT_STRANGER,
                                                 TACIT_UNEXPECTED, TACIT_ENTROPY,   TACIT_INVALID,
                                                 TACIT_BUDGET};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_true(statuses[-(int)expected[i]] > 15);
}
