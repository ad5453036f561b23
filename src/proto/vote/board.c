/* The board: which player has eliminated which arm. It joins what it hears (greatest reset of each
 * player, union of its marks), so it is a function of the set of messages, whatever their order,
 * number or delay; counts and the voted set are functions of the marks (Alg. 2 l. 4-10). */
#include "tacit/vote.h"
#include <string.h>

struct tacit_vote_board {
    uint64_t run_id;
    uint64_t player_count;
    uint64_t arm_count;
    uint64_t votes_needed;
    uint64_t has_committee;
    uint64_t reset;
    uint64_t mark_count;
    uint64_t voted_count;
    /* voted W(K) | committee W(N) | counts K halves | a row a player: reset, marks W(K) */
    uint64_t words[];
};

/* ---- Layout ---- */

static size_t arm_words(const struct tacit_vote_board *board)
{
    return TACIT_BITS_WORDS(board->arm_count);
}

static uint64_t *voted_of(struct tacit_vote_board *board)
{
    return board->words;
}

static uint64_t *committee_of(struct tacit_vote_board *board)
{
    return board->words + arm_words(board);
}

static uint32_t *counts_of(struct tacit_vote_board *board)
{
    return (uint32_t *)(void *)(committee_of(board) + TACIT_BITS_WORDS(board->player_count));
}

static uint64_t *row_of(struct tacit_vote_board *board, uint32_t player)
{
    TACIT_ASSERT(player < board->player_count);
    uint64_t *const rows =
        committee_of(board) + TACIT_BITS_WORDS(board->player_count) + (board->arm_count + 1) / 2;
    return rows + (size_t)player * (1 + arm_words(board));
}

static bool config_is_valid(const struct tacit_vote_board_config *config)
{
    return config->player_count >= 1 && config->player_count <= TACIT_AGENTS_MAX &&
           config->arm_count >= 1 && config->arm_count <= TACIT_ARMS_MAX &&
           config->votes_needed >= 1;
}

size_t tacit_vote_board_size(const struct tacit_vote_board_config *config)
{
    TACIT_ASSERT(config != NULL);
    if (!config_is_valid(config))
        return 0;
    size_t const words = TACIT_BITS_WORDS(config->arm_count);
    size_t const rows = (size_t)config->player_count * (1 + words);
    return sizeof(struct tacit_vote_board) +
           (words + TACIT_BITS_WORDS(config->player_count) + (config->arm_count + 1u) / 2u + rows) *
               sizeof(uint64_t);
}

/* ---- The voted set ---- */

/* l. 5-10: out with every arm that enough players have marked. If that is all of them, the one with
 * the fewest marks stays, lowest index first (READINGS P3.4: K(l) is never empty). */
static void settle_voted(struct tacit_vote_board *board)
{
    uint32_t const arms = (uint32_t)board->arm_count;
    uint32_t const *const counts = counts_of(board);
    uint32_t fewest = 0;
    memset(voted_of(board), 0, arm_words(board) * sizeof(uint64_t));
    board->voted_count = 0;
    for (uint32_t arm = 0; arm < arms; arm++) {
        if (counts[arm] < counts[fewest])
            fewest = arm;
        if (counts[arm] >= board->votes_needed)
            continue;
        tacit_bits_add(voted_of(board), arm);
        board->voted_count++;
    }
    if (board->voted_count == 0) {
        tacit_bits_add(voted_of(board), fewest);
        board->voted_count = 1;
    }
    TACIT_ASSERT(board->voted_count >= 1);
    TACIT_ASSERT(board->voted_count <= board->arm_count);
}

static bool counts_here(struct tacit_vote_board *board, uint32_t player)
{
    return board->has_committee == 0 || tacit_bits_has(committee_of(board), player);
}

/* Counts the marks of one word of one player; says whether an arm has enough now. */
static bool count_marks(struct tacit_vote_board *board, size_t word, uint64_t marks)
{
    TACIT_ASSERT(word < arm_words(board));
    bool settles = false;
    for (; marks != 0; marks &= marks - 1) {
        uint32_t const arm = (uint32_t)(word * 64u) + (uint32_t)__builtin_ctzll(marks);
        TACIT_ASSERT(arm < board->arm_count);
        TACIT_ASSERT(counts_of(board)[arm] < board->player_count);
        settles = ++counts_of(board)[arm] >= board->votes_needed || settles;
        board->mark_count++;
    }
    return settles;
}

/* From all rows: the board's reset, or that of a player, is another one. */
static void count_all(struct tacit_vote_board *board)
{
    memset(counts_of(board), 0, board->arm_count * sizeof(uint32_t));
    board->mark_count = 0;
    for (uint32_t player = 0; player < board->player_count; player++) {
        uint64_t const *const row = row_of(board, player);
        for (size_t i = 0; i < arm_words(board); i++)
            if (row[0] == board->reset && counts_here(board, player))
                count_marks(board, i, row[1 + i]);
    }
    settle_voted(board);
}

/* ---- Public functions ---- */

enum tacit_status tacit_vote_board_init(struct tacit_vote_board *board,
                                        const struct tacit_vote_board_config *config)
{
    TACIT_ASSERT(board != NULL);
    size_t const size = tacit_vote_board_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(board, 0, size);
    board->run_id = config->run_id;
    board->player_count = config->player_count;
    board->arm_count = config->arm_count;
    board->votes_needed = config->votes_needed;
    board->has_committee = config->committee != NULL;
    if (config->committee != NULL)
        memcpy(committee_of(board), config->committee,
               TACIT_BITS_WORDS(config->player_count) * sizeof(uint64_t));
    settle_voted(board);
    return TACIT_OK;
}

static bool same_config(struct tacit_vote_board *board,
                        const struct tacit_vote_board_config *config)
{
    return board->run_id == config->run_id && board->player_count == config->player_count &&
           board->arm_count == config->arm_count && board->votes_needed == config->votes_needed &&
           (board->has_committee != 0) == (config->committee != NULL) &&
           (config->committee == NULL ||
            memcmp(committee_of(board), config->committee,
                   TACIT_BITS_WORDS(config->player_count) * sizeof(uint64_t)) == 0);
}

/* How often the marks of the present reset name an arm. */
static uint32_t recount(struct tacit_vote_board *board, uint32_t arm)
{
    TACIT_ASSERT(arm < board->arm_count);
    uint32_t count = 0;
    for (uint32_t player = 0; player < board->player_count; player++) {
        uint64_t const *const row = row_of(board, player);
        if (row[0] == board->reset && counts_here(board, player) && tacit_bits_has(row + 1, arm))
            count++;
    }
    return count;
}

static bool has_no_spare_bits(const struct tacit_vote_board *board, const uint64_t *marks)
{
    uint32_t const spare = (uint32_t)(board->arm_count % 64u);
    return spare == 0 || (marks[arm_words(board) - 1] >> spare) == 0;
}

static bool rows_are_possible(struct tacit_vote_board *board)
{
    for (uint32_t player = 0; player < board->player_count; player++)
        if (!has_no_spare_bits(board, row_of(board, player) + 1))
            return false;
    return true;
}

static bool counts_are_those_of_marks(struct tacit_vote_board *board)
{
    uint32_t const arms = (uint32_t)board->arm_count;
    uint64_t marks = 0;
    uint32_t voted = 0;
    uint32_t fewest = 0;
    for (uint32_t arm = 0; arm < arms; arm++) {
        uint32_t const count = recount(board, arm);
        if (count != counts_of(board)[arm])
            return false;
        marks += count;
        voted += count < board->votes_needed ? 1u : 0u;
        fewest = count < counts_of(board)[fewest] ? arm : fewest;
    }
    for (uint32_t arm = 0; arm < arms; arm++) {
        bool const stays = voted > 0 ? counts_of(board)[arm] < board->votes_needed : arm == fewest;
        if (stays != tacit_bits_has(voted_of(board), arm))
            return false;
    }
    return marks == board->mark_count && board->voted_count == (voted > 0 ? voted : 1u) &&
           tacit_bits_count(voted_of(board), arms) == board->voted_count;
}

enum tacit_status tacit_vote_board_check(const struct tacit_vote_board *board, size_t size,
                                         const struct tacit_vote_board_config *config)
{
    TACIT_ASSERT(board != NULL);
    size_t const wanted = tacit_vote_board_size(config);
    if (wanted == 0 || size != wanted)
        return TACIT_MALFORMED;
    struct tacit_vote_board *const read = (struct tacit_vote_board *)(uintptr_t)board;
    bool const is_possible =
        same_config(read, config) && rows_are_possible(read) && counts_are_those_of_marks(read);
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
}

void tacit_vote_board_reset(struct tacit_vote_board *board, uint64_t reset)
{
    TACIT_ASSERT(board != NULL);
    if (reset > board->reset) {
        board->reset = reset;
        count_all(board);
    }
    TACIT_ASSERT(board->reset >= reset);
}

/* Adds a player's marks to its row. A mark is never taken back; a row of a later reset replaces an
 * older one, and one of an earlier reset is too late. Result: how many marks are new. */
static uint32_t join_row(struct tacit_vote_board *board, uint32_t player,
                         struct tacit_vote_row vote)
{
    uint64_t *const row = row_of(board, player);
    TACIT_ASSERT(vote.marks != NULL);
    if (vote.reset < row[0])
        return 0;
    if (vote.reset > row[0]) {
        memset(row + 1, 0, arm_words(board) * sizeof(uint64_t));
        bool const was_counted = row[0] == board->reset && counts_here(board, player);
        row[0] = vote.reset;
        if (was_counted) /* the player is ahead of this board: its old marks count no more */
            count_all(board);
    }
    uint32_t marks_new = 0;
    bool settles = false;
    for (size_t i = 0; i < arm_words(board); i++) {
        uint64_t const added = vote.marks[i] & ~row[1 + i];
        row[1 + i] |= added;
        marks_new += tacit_bits_word_count(added);
        if (row[0] == board->reset && counts_here(board, player))
            settles = count_marks(board, i, added) || settles;
    }
    if (settles)
        settle_voted(board);
    return marks_new;
}

enum tacit_status tacit_vote_board_mark(struct tacit_vote_board *board, uint32_t player,
                                        struct tacit_vote_row vote, uint32_t *marks_new)
{
    TACIT_ASSERT(board != NULL);
    if (marks_new != NULL)
        *marks_new = 0;
    if (player >= board->player_count)
        return TACIT_STRANGER;
    if (vote.marks == NULL || !has_no_spare_bits(board, vote.marks))
        return TACIT_MALFORMED;
    uint32_t const added = join_row(board, player, vote);
    if (marks_new != NULL)
        *marks_new = added;
    return TACIT_OK;
}

bool tacit_vote_board_counts(const struct tacit_vote_board *board, uint32_t player)
{
    TACIT_ASSERT(board != NULL);
    TACIT_ASSERT(player < board->player_count);
    return counts_here((struct tacit_vote_board *)(uintptr_t)board, player);
}

struct tacit_vote_row tacit_vote_board_row(const struct tacit_vote_board *board, uint32_t player)
{
    TACIT_ASSERT(board != NULL);
    TACIT_ASSERT(player < board->player_count);
    uint64_t const *const row = row_of((struct tacit_vote_board *)(uintptr_t)board, player);
    return (struct tacit_vote_row){.reset = row[0], .marks = row + 1};
}

void tacit_vote_board_view(const struct tacit_vote_board *board, struct tacit_vote_board_view *view)
{
    TACIT_ASSERT(board != NULL);
    TACIT_ASSERT(view != NULL);
    struct tacit_vote_board *const read = (struct tacit_vote_board *)(uintptr_t)board;
    *view = (struct tacit_vote_board_view){.reset = board->reset,
                                           .voted = voted_of(read),
                                           .voted_count = (uint32_t)board->voted_count,
                                           .counts = counts_of(read),
                                           .mark_count = board->mark_count};
}
