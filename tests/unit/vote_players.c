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
    struct table table = {.noise = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE),
                          .fills_left = words};
    struct tacit_entropy const entropy = {.fill = fill, .context = &table};
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

TEST(the_storm_has_missed_nothing)
{
    static const enum tacit_status expected[] = {TACIT_OK, TACIT_INVALID, TACIT_MALFORMED,
                                                 TACIT_STRANGER};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_true(statuses[-(int)expected[i]] > 15);
}
