/* Votes: thresholds, the board as a function of its marks, a player's step, and hostile input. */
#include "../support/testing.h"
#include <math.h>
#include "tacit/vote.h"
#include "../support/damage.h"
#include "../support/digest.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0xa6317a09711306d4))
/* .. and of what the checks say of damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x4d7a5b47a5d75a2b))

#define RUN 77u
#define SCHEDULES 100000u

/* ---- How many votes ---- */

TEST(paper_needs_28_votes_at_its_own_numbers)
{
    assert_int_equal(tacit_vote_floor(0.05, 0.9), 28); /* Sec. 5.2 */
    assert_int_equal(tacit_vote_committee(0.05, 0.9), 29);
    assert_true(pow(0.9, 28) > 0.05); /* the floor does not keep delta */
    assert_true(pow(0.9, 29) <= 0.05);
}

TEST(whole_quotients_are_not_lost_to_rounding)
{
    for (uint32_t m = 1; m <= 200; m++) {
        for (double eta = 0.05; eta < 0.99; eta += 0.07) {
            if (pow(eta, m) < 1e-290)
                continue;
            assert_int_equal(tacit_vote_floor(pow(eta, m), eta), m);
            assert_int_equal(tacit_vote_committee(pow(eta, m), eta), m);
        }
    }
    assert_int_equal(tacit_vote_floor(0.9, 0.5), 1);
}

/* Values of PRIVACY.md B.4 and of exact rational sums. */
TEST(binomial_tails_are_the_known_ones)
{
    assert_true(fabs(tacit_vote_binomial_tail(29, 0.9, 28) - 0.19886) < 1e-4);
    assert_true(tacit_vote_binomial_tail(56, 0.9, 28) > 0.9999);
    assert_true(fabs(tacit_vote_binomial_tail(4, 0.5, 2) - 0.6875) < 1e-15);
    assert_true(fabs(tacit_vote_binomial_tail(10, 0.25, 9) - 31.0 / 1048576.0) < 1e-18);
    assert_true(tacit_vote_binomial_tail(5, 0.5, 0) == 1);
    assert_true(tacit_vote_binomial_tail(5, 0.5, 6) == 0);
    assert_int_equal(tacit_vote_needed(64, 0.05, 0.9), 62);
    assert_int_equal(tacit_vote_needed(28, 0.05, 0.9), 0); /* 0.9^28 > 0.05 */
}

TEST(needed_and_eta_invert_the_tail)
{
    for (uint32_t players = 1; players <= 3000; players = players * 3 + 1) {
        for (uint32_t needed = 1; needed <= players; needed = needed * 2 + 1) {
            double const eta = tacit_vote_eta(players, needed, 0.05);
            assert_true(tacit_vote_binomial_tail(players, eta, needed) <= 0.05);
            assert_true(tacit_vote_binomial_tail(players, eta * (1 + 1e-6), needed) > 0.05);
            assert_int_equal(tacit_vote_needed(players, 0.05, eta), needed);
        }
    }
}

/* ---- Board ---- */

#define PLAYERS 12u
#define ARMS 7u

static struct tacit_vote_board_config board_config(uint32_t needed)
{
    return (struct tacit_vote_board_config){
        .run_id = RUN, .player_count = PLAYERS, .arm_count = ARMS, .votes_needed = needed};
}

static struct tacit_vote_board *new_board(const struct tacit_vote_board_config *config)
{
    struct tacit_vote_board *const board = testing_malloc(tacit_vote_board_size(config));
    assert_int_equal(tacit_vote_board_init(board, config), TACIT_OK);
    return board;
}

static enum tacit_status mark(struct tacit_vote_board *board, uint32_t player, uint64_t reset,
                              uint64_t marks, uint32_t *marks_new)
{
    return tacit_vote_board_mark(board, player, (struct tacit_vote_row){reset, &marks}, marks_new);
}

static bool is_board(const void *state, size_t size, void *config)
{
    return tacit_vote_board_check(state, size, config) == TACIT_OK;
}

static void digest_board(const struct tacit_vote_board *board)
{
    struct tacit_vote_board_view view;
    tacit_vote_board_view(board, &view);
    uint64_t const words[] = {view.reset, view.voted[0], view.voted_count, view.mark_count};
    digest_bytes(words, sizeof words);
    digest_bytes(view.counts, ARMS * sizeof *view.counts);
}

static uint64_t voted(const struct tacit_vote_board *board)
{
    struct tacit_vote_board_view view;
    tacit_vote_board_view(board, &view);
    return view.voted[0];
}

/* A message of the schedule, for the naive reading below. */
struct said {
    uint32_t player;
    uint64_t reset;
    uint64_t marks;
    bool is_reset;
};

/* From the set of messages alone: the last reset of the hub, each player's newest reset, unions. */
static uint64_t naive_voted(const struct said *said, uint32_t count,
                            const struct tacit_vote_board_config *config)
{
    uint64_t now = 0;
    for (uint32_t i = 0; i < count; i++)
        now = said[i].is_reset && said[i].reset > now ? said[i].reset : now;
    uint32_t counts[ARMS] = {0};
    for (uint32_t player = 0; player < PLAYERS; player++) {
        uint64_t newest = 0;
        if (config->committee != NULL && !tacit_bits_has(config->committee, player))
            continue;
        for (uint32_t i = 0; i < count; i++)
            if (!said[i].is_reset && said[i].player == player && said[i].reset > newest)
                newest = said[i].reset;
        for (uint32_t arm = 0; arm < ARMS; arm++) {
            bool has = false;
            for (uint32_t i = 0; i < count; i++)
                has = has || (!said[i].is_reset && said[i].player == player && newest == now &&
                              said[i].reset == now && ((said[i].marks >> arm) & 1u));
            counts[arm] += has;
        }
    }
    uint64_t left = 0;
    uint32_t fewest = 0;
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        left |= counts[arm] < config->votes_needed ? UINT64_C(1) << arm : 0;
        fewest = counts[arm] < counts[fewest] ? arm : fewest;
    }
    return left != 0 ? left : UINT64_C(1) << fewest;
}

static uint32_t draw_messages(struct tacit_rng *rng, struct said *said)
{
    uint32_t const count = 1 + (uint32_t)tacit_rng_below(rng, 40);
    bool const has_resets = tacit_rng_below(rng, 3) == 0;
    for (uint32_t i = 0; i < count; i++)
        said[i] = (struct said){.player = (uint32_t)tacit_rng_below(rng, PLAYERS),
                                .reset = has_resets ? tacit_rng_below(rng, 3) : 0,
                                .marks = tacit_rng_next(rng) & tacit_rng_next(rng) & 0x7f,
                                .is_reset = has_resets && tacit_rng_below(rng, 8) == 0};
    return count;
}

static void say(struct tacit_vote_board *board, const struct said *said)
{
    if (said->is_reset) {
        tacit_vote_board_reset(board, said->reset);
        return;
    }
    struct tacit_vote_row const before = tacit_vote_board_row(board, said->player);
    uint64_t const known = said->reset < before.reset   ? UINT64_MAX /* it is too late */
                           : said->reset > before.reset ? 0
                                                        : before.marks[0];
    uint32_t marks_new = 99;
    assert_int_equal(mark(board, said->player, said->reset, said->marks, &marks_new), TACIT_OK);
    assert_int_equal(marks_new, tacit_bits_word_count(said->marks & ~known));
}

/* Any order, some messages twice, some late, some much later again. */
TEST(any_schedule_of_the_same_marks_leads_to_the_same_voted_set)
{
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_FAULT);
    struct said said[40];
    for (uint32_t schedule = 0; schedule < SCHEDULES; schedule++) {
        struct tacit_vote_board_config config =
            board_config(1 + (uint32_t)tacit_rng_below(&rng, 5));
        uint64_t const committee = tacit_rng_below(&rng, 1u << PLAYERS);
        config.committee = tacit_rng_below(&rng, 3) == 0 ? &committee : NULL;
        struct tacit_vote_board *const board = new_board(&config);
        uint32_t const count = draw_messages(&rng, said);
        uint64_t const expected = naive_voted(said, count, &config);
        uint32_t order[40];
        for (uint32_t i = 0; i < count; i++)
            order[i] = i;
        struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
        assert_int_equal(tacit_entropy_shuffle(&entropy, count, order), TACIT_OK);
        for (uint32_t i = 0; i < count; i++) {
            say(board, &said[order[i]]);
            if (tacit_rng_below(&rng, 3) == 0) /* again, also an old one */
                say(board, &said[order[tacit_rng_below(&rng, i + 1)]]);
        }
        digest_board(board);
        if (voted(board) != expected)
            fail_msg("schedule %u: %llx instead of %llx", schedule,
                     (unsigned long long)voted(board), (unsigned long long)expected);
        if (schedule % 5000 == 0)
            damage_all(board, tacit_vote_board_size(&config), is_board, &config);
        testing_free(board);
    }
}

/* Many players and arms, some of a committee: any marks, in any order, and some resets. */
static void play_wide(struct tacit_vote_board_config *config, struct tacit_rng *rng)
{
    struct tacit_vote_board *const board = new_board(config);
    size_t const width = TACIT_BITS_WORDS(config->arm_count);
    for (uint32_t turn = 0; turn < 200; turn++) {
        uint64_t marks[TACIT_BITS_WORDS(130)] = {0};
        for (uint32_t i = 0; i < 5; i++)
            tacit_bits_add(marks, (uint32_t)tacit_rng_below(rng, config->arm_count));
        struct tacit_vote_row const vote = {turn >= 130 && turn % 2 == 0, marks};
        uint32_t marks_new = 0;
        struct tacit_vote_board_view view;
        if (turn == 150)
            tacit_vote_board_reset(board, 1);
        else
            assert_int_equal(
                tacit_vote_board_mark(board, (uint32_t)tacit_rng_below(rng, config->player_count),
                                      vote, &marks_new),
                TACIT_OK);
        digest_word(TACIT_OK);
        digest_word(marks_new);
        tacit_vote_board_view(board, &view);
        digest_bytes(view.voted, width * sizeof *view.voted);
        digest_bytes(view.counts, config->arm_count * sizeof *view.counts);
        uint64_t const words[] = {view.reset, view.voted_count, view.mark_count};
        digest_bytes(words, sizeof words);
    }
    for (uint32_t player = 0; player < config->player_count; player++) {
        struct tacit_vote_row const row = tacit_vote_board_row(board, player);
        digest_word(player | (uint64_t)tacit_vote_board_counts(board, player) << 32);
        digest_word(row.reset);
        digest_bytes(row.marks, width * sizeof *row.marks);
    }
    damage_some(board, tacit_vote_board_size(config), is_board, config);
}

TEST(boards_of_any_number_of_words_are_played)
{
    static const uint32_t counts[] = {1, 2, 63, 64, 65, 130};
    static const uint64_t committee[] = {UINT64_C(0x8000000000000005), 3, 1};
    struct tacit_rng rng = tacit_rng_stream(4, 0, 0, TACIT_PURPOSE_FAULT);
    for (uint32_t kind = 0; kind < 6u * 6u * 2u; kind++) {
        struct tacit_vote_board_config config = {.run_id = RUN,
                                                 .player_count = counts[kind % 6],
                                                 .arm_count = counts[kind / 6 % 6],
                                                 .votes_needed = 1 + kind % 3,
                                                 .committee = kind < 36 ? NULL : committee};
        play_wide(&config, &rng);
    }
}

TEST(hostile_messages_change_nothing)
{
    struct tacit_vote_board_config const config = board_config(1);
    size_t const size = tacit_vote_board_size(&config);
    struct tacit_vote_board *const board = new_board(&config);
    void *const before = testing_malloc(size);
    memcpy(before, board, size);
    assert_int_equal(mark(board, PLAYERS, 0, 1, NULL), TACIT_STRANGER);
    assert_int_equal(mark(board, 0, 0, 0x80, NULL), TACIT_MALFORMED); /* arm 7 of 7 */
    assert_int_equal(tacit_vote_board_mark(board, 0, (struct tacit_vote_row){0, NULL}, NULL),
                     TACIT_MALFORMED);
    assert_memory_equal(before, board, size);
}

/* ---- Player ---- */

struct table {
    struct tacit_vote_board *board;
    struct tacit_vote_player *player[PLAYERS];
    struct tacit_vote_config config[PLAYERS];
    struct tacit_vote_board_config board_config;
    struct tacit_rng rng;
    uint64_t marks;
};

static void set_players(struct table *table, enum tacit_best_arm_kind kind, uint32_t needed,
                        uint32_t seed)
{
    memset(table, 0, sizeof *table);
    table->board_config = board_config(needed);
    table->board = new_board(&table->board_config);
    table->rng = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_REWARD);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        table->config[i] = (struct tacit_vote_config){
            .player_id = i,
            .player_count = PLAYERS,
            .sharing = TACIT_VOTE_SHARING_VOTES,
            .subroutine = {.kind = kind, .arm_count = ARMS, .accuracy = 0.25, .failure = 0.7}};
        table->player[i] = testing_malloc(tacit_vote_player_size(&table->config[i]));
        assert_int_equal(tacit_vote_player_init(table->player[i], &table->config[i]), TACIT_OK);
    }
}

static void digest_player(const struct tacit_vote_player *player)
{
    struct tacit_best_arm_view inner;
    tacit_vote_player_view(player, &inner);
    uint64_t const words[] = {inner.arm_count,
                              inner.remaining[0],
                              inner.remaining_count,
                              inner.dropped[0],
                              inner.decided,
                              inner.answer,
                              inner.sample_count,
                              inner.round_count,
                              inner.epoch_count,
                              inner.reset_count,
                              tacit_vote_player_is_decided(player)};
    digest_bytes(words, sizeof words);
    digest_bytes(inner.pulls, ARMS * sizeof *inner.pulls);
    digest_reals(inner.sums, ARMS);
    digest_real(inner.failure_spent);
}

static uint32_t offer(struct table *table, uint32_t player)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&table->rng);
    uint32_t arm;
    assert_int_equal(tacit_vote_player_offer(table->player[player], table->board, &entropy, &arm),
                     TACIT_OK);
    digest_word(arm);
    digest_player(table->player[player]);
    return arm;
}

static uint32_t reward(struct table *table, uint32_t player, uint32_t arm, double value)
{
    uint32_t const marks_new =
        tacit_vote_player_reward(table->player[player], table->board, arm, value);
    struct tacit_vote_row const row = tacit_vote_board_row(table->board, player);
    digest_word(marks_new);
    digest_player(table->player[player]);
    digest_board(table->board);
    digest_word(row.reset);
    digest_word(row.marks[0]);
    return marks_new;
}

static const double arm_means[ARMS] = {0.1, 0.3, 0.9, 0.1, 0.5, 0.2, 0.1};

/* States may be moved at any time. */
static void move_player(struct table *table, uint32_t player)
{
    size_t const size = tacit_vote_player_size(&table->config[player]);
    void *const moved = testing_malloc(size);
    memcpy(moved, table->player[player], size);
    memset(table->player[player], 0xee, size);
    testing_free(table->player[player]);
    table->player[player] = moved;
}

/* One activation: offer, pull, reward. */
static void activate(struct table *table, uint32_t player)
{
    uint32_t const arm = offer(table, player);
    double const value = tacit_rng_bernoulli(&table->rng, arm_means[arm]) ? 1 : 0;
    move_player(table, player);
    table->marks += reward(table, player, arm, value);
}

static void activate_anybody(struct table *table)
{
    activate(table, (uint32_t)tacit_rng_below(&table->rng, PLAYERS));
}

static struct tacit_best_arm_view view_of(const struct table *table, uint32_t player)
{
    struct tacit_best_arm_view view;
    tacit_vote_player_view(table->player[player], &view);
    return view;
}

static bool all_are_decided(const struct table *table)
{
    for (uint32_t i = 0; i < PLAYERS; i++)
        if (!tacit_vote_player_is_decided(table->player[i]))
            return false;
    return true;
}

static uint32_t answer_of(const struct table *table, uint32_t player)
{
    return view_of(table, player).answer;
}

TEST(players_end_with_one_arm_and_at_most_mK_minus_1_marks)
{
    for (uint32_t kind = 0; kind < TACIT_BEST_ARM_KINDS; kind++) {
        for (uint32_t needed = 1; needed <= PLAYERS; needed += 4) {
            struct table table;
            set_players(&table, (enum tacit_best_arm_kind)kind, needed, 100 + needed);
            while (!all_are_decided(&table))
                activate_anybody(&table);
            assert_true(table.marks <= (uint64_t)needed * ARMS - 1);
            for (uint32_t i = 1; i < PLAYERS; i++)
                assert_int_equal(answer_of(&table, i), answer_of(&table, 0));
            assert_int_equal(voted(table.board), UINT64_C(1) << answer_of(&table, 0));
        }
    }
}

TEST(a_reset_starts_everything_anew)
{
    struct table table;
    set_players(&table, TACIT_BEST_ARM_SER4, 2, 7);
    while (!all_are_decided(&table))
        activate_anybody(&table);
    uint32_t const arm = offer(&table, 3);
    tacit_vote_board_reset(table.board, 1);
    assert_int_equal(reward(&table, 3, arm, 1), 0); /* forgotten */
    activate(&table, 3);
    assert_int_equal(view_of(&table, 3).reset_count, 1);
    assert_int_equal(view_of(&table, 3).sample_count, 1);
    assert_int_equal(view_of(&table, 3).remaining_count, ARMS);
}
