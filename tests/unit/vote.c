/* Votes: thresholds, the board as a function of its marks, a player's step, and hostile input. */
#include "../support/testing.h"
#include <math.h>
#include "tacit/vote.h"
#include "../support/damage.h"
#include "../support/digest.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0xdc759b0928dc718e))
/* .. and of what the checks say of damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x4704efd40dcef05d))

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

TEST(recommendation_is_cheapest_of_all)
{
    struct tacit_best_arm_config const config = {
        .kind = TACIT_BEST_ARM_SER3, .arm_count = 10, .accuracy = 0.25};
    struct tacit_vote_choice const best = tacit_vote_recommend(60, 0.05, &config);
    assert_in_range(best.needed, 1, 60);
    assert_true(tacit_vote_binomial_tail(60, best.eta, best.needed) <= 0.05);
    for (uint32_t needed = 1; needed <= 60; needed++) {
        struct tacit_best_arm_config trial = config;
        trial.failure = tacit_vote_eta(60, needed, 0.05);
        /* votes of the slowest of the needed ones are no sooner than those of the mean player
         * where more than half must vote */
        if (needed >= 30)
            assert_true(best.samples <= 60 * tacit_vote_samples_alone(&trial) * 1.5);
    }
    struct tacit_vote_choice const alone = tacit_vote_recommend(1, 0.05, &config);
    assert_int_equal(alone.needed, 1);
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
                              uint64_t marks)
{
    struct tacit_vote_message const message = {.kind = TACIT_VOTE_MARKS,
                                               .from = player,
                                               .to = TACIT_EVERYONE,
                                               .run_id = RUN,
                                               .reset = reset,
                                               .marks = &marks};
    return tacit_vote_board_apply(board, &message, NULL);
}

static enum tacit_status reset_to(struct tacit_vote_board *board, uint64_t reset, uint32_t from)
{
    struct tacit_vote_message const message = {.kind = TACIT_VOTE_RESET,
                                               .from = from,
                                               .to = TACIT_EVERYONE,
                                               .run_id = RUN,
                                               .reset = reset};
    return tacit_vote_board_apply(board, &message, NULL);
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

TEST(board_is_never_empty_and_keeps_the_least_marked)
{
    struct tacit_vote_board_config const config = board_config(2);
    struct tacit_vote_board *const board = new_board(&config);
    mark(board, 0, 0, 0x7f);
    assert_int_equal(voted(board), 0x7f);
    mark(board, 1, 0, 0x7f);
    assert_int_equal(voted(board), 0x01); /* all have two: the lowest index */
    mark(board, 2, 0, 0x01);
    assert_int_equal(voted(board), 0x02); /* arm 0 has three now */
    mark(board, 3, 0, 0x7a);
    assert_int_equal(voted(board), 0x04); /* arm 2 alone has two */
    assert_int_equal(tacit_vote_board_check(board, tacit_vote_board_size(&config), &config),
                     TACIT_OK);
}

/* A message of the schedule, for the naive reading below. */
struct said {
    uint32_t player;
    uint64_t reset;
    uint64_t marks;
    bool is_reset;
};

/* From the set of messages alone: the last reset of the hub, each player's newest reset, unions. */
static uint64_t naive_voted(const struct said *said, uint32_t count, uint32_t needed)
{
    uint64_t now = 0;
    for (uint32_t i = 0; i < count; i++)
        now = said[i].is_reset && said[i].reset > now ? said[i].reset : now;
    uint32_t counts[ARMS] = {0};
    for (uint32_t player = 0; player < PLAYERS; player++) {
        uint64_t newest = 0;
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
        left |= counts[arm] < needed ? UINT64_C(1) << arm : 0;
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
    enum tacit_status const status = said->is_reset
                                         ? reset_to(board, said->reset, TACIT_HUB)
                                         : mark(board, said->player, said->reset, said->marks);
    assert_int_equal(status, TACIT_OK);
}

/* Any order, some messages twice, some late, some much later again. */
TEST(any_schedule_of_the_same_marks_leads_to_the_same_voted_set)
{
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_FAULT);
    struct said said[40];
    for (uint32_t schedule = 0; schedule < SCHEDULES; schedule++) {
        struct tacit_vote_board_config config =
            board_config(1 + (uint32_t)tacit_rng_below(&rng, 5));
        struct tacit_vote_board *const board = new_board(&config);
        uint32_t const count = draw_messages(&rng, said);
        uint64_t const expected = naive_voted(said, count, config.votes_needed);
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
        struct tacit_vote_message const message = {
            .kind = turn == 150 ? TACIT_VOTE_RESET : TACIT_VOTE_MARKS,
            .from = turn == 150 ? TACIT_HUB : (uint32_t)tacit_rng_below(rng, config->player_count),
            .run_id = RUN,
            .reset = turn >= 130 && turn % 2 == 0,
            .marks = marks};
        uint32_t marks_new;
        struct tacit_vote_board_view view;
        digest_word((uint64_t)tacit_vote_board_apply(board, &message, &marks_new));
        digest_word(marks_new);
        tacit_vote_board_view(board, &view);
        digest_bytes(view.voted, width * sizeof *view.voted);
        digest_bytes(view.counts, config->arm_count * sizeof *view.counts);
        uint64_t const words[] = {view.reset, view.voted_count, view.mark_count};
        digest_bytes(words, sizeof words);
    }
    for (uint32_t player = 0; player < config->player_count; player++) {
        struct tacit_vote_message const row = tacit_vote_board_row(board, player);
        digest_word(row.from | (uint64_t)tacit_vote_board_counts(board, player) << 32);
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

TEST(only_the_committee_counts)
{
    uint64_t const committee = 0x5; /* players 0 and 2 */
    struct tacit_vote_board_config config = board_config(2);
    config.committee = &committee;
    struct tacit_vote_board *const board = new_board(&config);
    mark(board, 1, 0, 0x1);
    mark(board, 3, 0, 0x1);
    mark(board, 0, 0, 0x1);
    assert_int_equal(voted(board), 0x7f);
    mark(board, 2, 0, 0x1);
    assert_int_equal(voted(board), 0x7e);
}

TEST(nobody_votes_twice_or_resets_others)
{
    struct tacit_vote_board_config const config = board_config(2);
    struct tacit_vote_board *const board = new_board(&config);
    for (uint32_t i = 0; i < 1000; i++)
        mark(board, 4, 0, 0x1); /* PRIVACY.md D.39: vote stuffing */
    assert_int_equal(voted(board), 0x7f);
    mark(board, 5, 0, 0x1);
    assert_int_equal(voted(board), 0x7e);
    assert_int_equal(mark(board, 6, UINT64_MAX, 0x7f), TACIT_OK); /* a reset of its own */
    assert_int_equal(voted(board), 0x7e);
    assert_int_equal(reset_to(board, 9, 3), TACIT_STRANGER);
    assert_int_equal(voted(board), 0x7e);
}

TEST(only_marks_that_were_not_there_are_new)
{
    struct tacit_vote_board_config const config = board_config(2);
    struct tacit_vote_board *const board = new_board(&config);
    uint64_t const marks[] = {0x3, 0x3, 0x7, 0x5};
    uint32_t const expected[] = {2, 0, 1, 0};
    for (size_t i = 0; i < 4; i++) {
        struct tacit_vote_message const message = {.kind = TACIT_VOTE_MARKS,
                                                   .from = 4,
                                                   .to = TACIT_EVERYONE,
                                                   .run_id = RUN,
                                                   .marks = &marks[i]};
        uint32_t marks_new = 99;
        assert_int_equal(tacit_vote_board_apply(board, &message, &marks_new), TACIT_OK);
        assert_int_equal(marks_new, expected[i]);
    }
}

TEST(hostile_messages_change_nothing)
{
    struct tacit_vote_board_config const config = board_config(1);
    size_t const size = tacit_vote_board_size(&config);
    struct tacit_vote_board *const board = new_board(&config);
    void *const before = testing_malloc(size);
    memcpy(before, board, size);
    assert_int_equal(mark(board, PLAYERS, 0, 1), TACIT_STRANGER);
    assert_int_equal(mark(board, 0, 0, 0x80), TACIT_MALFORMED); /* arm 7 of 7 */
    uint64_t const marks = 1;
    struct tacit_vote_message message = {.kind = TACIT_VOTE_MARKS,
                                         .from = 0,
                                         .to = TACIT_EVERYONE,
                                         .run_id = RUN + 1,
                                         .marks = &marks};
    assert_int_equal(tacit_vote_board_apply(board, &message, NULL), TACIT_STRANGER);
    message.run_id = RUN;
    message.marks = NULL;
    assert_int_equal(tacit_vote_board_apply(board, &message, NULL), TACIT_MALFORMED);
    assert_memory_equal(before, board, size);
}

TEST(a_board_of_one_of_each_is_allowed)
{
    struct tacit_vote_board_config const config = {
        .run_id = RUN, .player_count = 1, .arm_count = 1, .votes_needed = 1};
    assert_true(tacit_vote_board_size(&config) > 0);
    struct tacit_vote_board *const board = new_board(&config);
    assert_int_equal(voted(board), 0x1);
}

TEST(a_board_that_cannot_be_is_refused)
{
    struct tacit_vote_board_config const config = board_config(2);
    size_t const size = tacit_vote_board_size(&config);
    struct tacit_vote_board *const board = new_board(&config);
    mark(board, 0, 0, 0x3);
    mark(board, 1, 0, 0x6);
    assert_int_equal(tacit_vote_board_check(board, size, &config), TACIT_OK);
    uint32_t accepted = 0;
    for (size_t i = 0; i < size; i++) {
        ((unsigned char *)board)[i] ^= 0x40;
        accepted += tacit_vote_board_check(board, size, &config) == TACIT_OK;
        ((unsigned char *)board)[i] ^= 0x40;
    }
    /* What may be anything: the reset numbers of players without marks of this reset, the committee
     * where there is none, and the half word that fills the counts up to a whole one. */
    assert_int_equal(accepted, (PLAYERS - 2) * 8 + 8 + 4);
    assert_int_equal(tacit_vote_board_check(board, size - 8, &config), TACIT_MALFORMED);
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
            .run_id = RUN,
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
    struct tacit_vote_message const row = tacit_vote_board_row(table->board, player);
    digest_word(marks_new);
    digest_player(table->player[player]);
    digest_board(table->board);
    digest_word(row.reset);
    digest_word(row.marks[0]);
    return marks_new;
}

static const double arm_means[ARMS] = {0.1, 0.3, 0.9, 0.1, 0.5, 0.2, 0.1};

/* One activation: offer, pull, reward. */
static void activate(struct table *table, uint32_t player)
{
    uint32_t const arm = offer(table, player);
    double const value = tacit_rng_bernoulli(&table->rng, arm_means[arm]) ? 1 : 0;
    table->marks += reward(table, player, arm, value);
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
                activate(&table, (uint32_t)tacit_rng_below(&table.rng, PLAYERS));
            assert_true(table.marks <= (uint64_t)needed * ARMS - 1);
            for (uint32_t i = 1; i < PLAYERS; i++)
                assert_int_equal(answer_of(&table, i), answer_of(&table, 0));
            assert_int_equal(voted(table.board), UINT64_C(1) << answer_of(&table, 0));
        }
    }
}

TEST(states_can_be_copied_at_any_time)
{
    struct table table;
    set_players(&table, TACIT_BEST_ARM_SER3, 3, 5);
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t const player = (uint32_t)tacit_rng_below(&table.rng, PLAYERS);
        activate(&table, player);
        size_t const size = tacit_vote_player_size(&table.config[player]);
        void *const moved = testing_malloc(size);
        memcpy(moved, table.player[player], size);
        memset(table.player[player], 0xee, size);
        testing_free(table.player[player]);
        table.player[player] = moved;
    }
    assert_true(all_are_decided(&table));
}

/* A restored old copy votes again: what it says is a part of what it said, and counts once. */
TEST(a_clone_has_no_second_vote)
{
    struct table table;
    set_players(&table, TACIT_BEST_ARM_SER3, PLAYERS, 6);
    size_t const size = tacit_vote_player_size(&table.config[0]);
    void *const copy = testing_malloc(size);
    memcpy(copy, table.player[0], size);
    uint64_t first_marks = 0;
    for (uint32_t life = 0; life < 2; life++) {
        memcpy(table.player[0], copy, size);
        for (uint32_t i = 0; i < 4000; i++)
            activate(&table, 0);
        struct tacit_vote_board_view view;
        tacit_vote_board_view(table.board, &view);
        for (uint32_t arm = 0; arm < ARMS; arm++)
            assert_true(view.counts[arm] <= 1);
        assert_true(view.mark_count >= first_marks); /* nothing is taken back */
        first_marks = view.mark_count;
    }
}

TEST(a_reset_starts_everything_anew)
{
    struct table table;
    set_players(&table, TACIT_BEST_ARM_SER4, 2, 7);
    while (!all_are_decided(&table))
        activate(&table, (uint32_t)tacit_rng_below(&table.rng, PLAYERS));
    uint32_t const arm = offer(&table, 3);
    assert_int_equal(reset_to(table.board, 1, TACIT_HUB), TACIT_OK);
    assert_int_equal(voted(table.board), 0x7f);
    assert_int_equal(reward(&table, 3, arm, 1), 0); /* forgotten */
    activate(&table, 3);
    assert_int_equal(view_of(&table, 3).reset_count, 1);
    assert_int_equal(view_of(&table, 3).sample_count, 1);
    assert_int_equal(view_of(&table, 3).remaining_count, ARMS);
    while (!all_are_decided(&table))
        activate(&table, (uint32_t)tacit_rng_below(&table.rng, PLAYERS));
}
