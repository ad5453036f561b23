/* The direct loop of votes: racing subroutines with at most 64 arms, without the calls of the
 * cores. It draws the same words from the same streams in the same order, and compares the same
 * doubles, so its numbers are those of vote_play_cores. Votes, and what they mean, stay with the
 * board. */
#include "play.h"
#include <math.h>
#include <string.h>
#include "tacit/sim.h"

#define ARMS_MAX 64u
#define TABLE_ROUNDS 65536u /* whose radii are kept */
#define BLOCK 256u          /* players that are drawn ahead */
#define AHEAD 6u            /* so many of them are on their way to the cache */
#define LINE_BYTES 64u
#define NEAR_BYTES (1u << 17) /* racers of so many bytes are in the cache anyhow */
#define QUIET_SLACK 1e-9      /* far above what rounding can do to a spread of sums */

/* What differs from player to player; its sums follow, then its order. */
struct racer {
    struct tacit_rng order_chance;
    struct tacit_rng reward_chance;
    uint64_t remaining; /* arms that it has not dropped, nor the votes */
    uint64_t open;      /* of them, those that it has yet to pull in this round */
    uint64_t dropped;   /* its marks on the board, since the last reset */
    uint64_t reset;     /* the last one that it knows of */
    uint64_t rounds;    /* closed: pulls of each arm that is not open, but in the running */
    uint32_t position;
    bool drawn;  /* the order of this round */
    bool single; /* as counted */
};

struct direct_run {
    const struct vote_world *world;
    struct vote_outcome *outcome;
    const struct vote_trace *trace;
    struct vote_clock clock;
    struct tacit_vote_board *board;
    unsigned char *racers;
    size_t racer_bytes;
    double *two_alpha;   /* by rounds; 0: not computed yet */
    double *quiet;       /* the same, of quiet_spread */
    const double *means; /* K, where all players' are alike and stay; else NULL */
    uint32_t *arms;
    uint64_t voted;   /* the board's, as a word */
    uint64_t all;     /* arms */
    uint64_t quota;   /* naive: pulls of each arm before it decides */
    double log_start; /* ser3: no test before so many rounds */
    uint32_t arm_count;
    uint32_t single_count;
    uint32_t next_point;
    bool shuffles;
};

bool vote_play_is_direct(const struct vote_world *world)
{
    enum tacit_best_arm_kind const kind = world->subroutine.kind;
    bool const races = kind == TACIT_BEST_ARM_NAIVE || kind == TACIT_BEST_ARM_SUCCESSIVE ||
                       kind == TACIT_BEST_ARM_SER3 || kind == TACIT_BEST_ARM_SER4;
    bool const is_raw = world->mechanism == NULL && world->sharing != VOTE_SHARING_ALL &&
                        world->sharing != VOTE_SHARING_SUMS;
    return races && is_raw && world->subroutine.arm_count <= ARMS_MAX;
}

static struct racer *racer_at(const struct direct_run *direct, uint32_t player)
{
    return (struct racer *)(void *)(direct->racers + player * direct->racer_bytes);
}

static double *sums_of(struct racer *racer)
{
    return (double *)(void *)(racer + 1);
}

static uint32_t *order_of(const struct direct_run *direct, struct racer *racer)
{
    return (uint32_t *)(void *)(sums_of(racer) + direct->arm_count);
}

/* ---- Memory ---- */

static void set_racers(struct direct_run *direct)
{
    const struct vote_world *const world = direct->world;
    for (uint32_t player = 0; player < world->player_count; player++) {
        struct racer *const racer = racer_at(direct, player);
        racer->order_chance = tacit_rng_stream(world->seed, world->run, player, VOTE_PURPOSE_ORDER);
        racer->reward_chance =
            tacit_rng_stream(world->seed, world->run, player, TACIT_PURPOSE_REWARD);
        racer->remaining = direct->all;
        racer->open = direct->all;
        racer->single = direct->arm_count == 1;
    }
    direct->single_count = direct->arm_count == 1 ? world->player_count : 0;
}

/* What it makes is the owner's (memory), on errors too. */
static enum tacit_status start_direct(struct direct_run *direct, void *memory)
{
    const struct vote_world *const world = direct->world;
    struct tacit_vote_board_config const board = vote_board_config(world);
    if (tacit_vote_board_size(&board) == 0 || tacit_best_arm_size(&world->subroutine) == 0)
        return TACIT_INVALID;
    direct->racer_bytes = sizeof(struct racer) + direct->arm_count * sizeof(double) +
                          (direct->arm_count + 1u) / 2u * sizeof(uint64_t);
    direct->board = tacit_sim_new(memory, 1, tacit_vote_board_size(&board));
    direct->racers = tacit_sim_new(memory, world->player_count, direct->racer_bytes);
    direct->two_alpha = tacit_sim_new(memory, TABLE_ROUNDS, sizeof(double));
    direct->quiet = tacit_sim_new(memory, TABLE_ROUNDS, sizeof(double));
    direct->arms = tacit_sim_new(memory, world->player_count, sizeof direct->arms[0]);
    if (!tacit_sim_is_whole(memory))
        return TACIT_MEMORY;
    if (tacit_vote_board_init(direct->board, &board) != TACIT_OK)
        return TACIT_INVALID;
    tacit_bits_fill(&direct->all, direct->arm_count);
    direct->voted = direct->all;
    direct->log_start = log((double)direct->arm_count / world->subroutine.failure);
    direct->shuffles = world->subroutine.kind == TACIT_BEST_ARM_SER3 ||
                       world->subroutine.kind == TACIT_BEST_ARM_SER4;
    if (world->subroutine.kind == TACIT_BEST_ARM_NAIVE)
        direct->quota = tacit_best_arm_quota(&world->subroutine, 1);
    set_racers(direct);
    vote_clock_start(&direct->clock, world);
    direct->means = vote_means_stay(world) ? world->env->means : NULL;
    return TACIT_OK;
}

/* ---- A racer ---- */

static void start_afresh(const struct direct_run *direct, struct racer *racer, uint64_t running)
{
    racer->remaining = running;
    racer->open = running;
    racer->rounds = 0;
    racer->drawn = false;
    memset(sums_of(racer), 0, direct->arm_count * sizeof(double));
}

/* As tacit_best_arm_restrict. */
static void restrict_to_voted(const struct direct_run *direct, struct racer *racer)
{
    if ((racer->remaining & direct->voted) == 0) {
        start_afresh(direct, racer, direct->voted);
        return;
    }
    racer->remaining &= direct->voted;
    racer->open &= racer->remaining;
    if (racer->open == 0) {
        racer->rounds++;
        racer->open = racer->remaining;
        racer->drawn = false;
    }
}

/* What a player does first when it is active: it hears of a reset, and of arms that were voted out.
 */
static void read_board(struct direct_run *direct, struct racer *racer)
{
    if (racer->reset != direct->outcome->reset_count) {
        racer->reset = direct->outcome->reset_count;
        racer->dropped = 0;
        start_afresh(direct, racer, direct->all);
    }
    if (direct->world->sharing == VOTE_SHARING_VOTES && (racer->remaining & ~direct->voted) != 0)
        restrict_to_voted(direct, racer);
}

static void draw_order(struct direct_run *direct, struct racer *racer)
{
    uint32_t *const order = order_of(direct, racer);
    uint32_t count = 0;
    for (uint64_t left = racer->open; left != 0; left &= left - 1)
        order[count++] = (uint32_t)__builtin_ctzll(left);
    struct tacit_entropy const entropy = tacit_rng_entropy(&racer->order_chance);
    enum tacit_status const status = tacit_entropy_shuffle(&entropy, count, order);
    TACIT_ASSERT(status == TACIT_OK);
    racer->position = 0;
    racer->drawn = true;
}

/* The arm that it plays now: its last one; or in the order of the index, or of this round's
 * shuffle. */
static uint32_t next_arm(struct direct_run *direct, struct racer *racer)
{
    if ((racer->remaining & (racer->remaining - 1)) == 0)
        return (uint32_t)__builtin_ctzll(racer->remaining);
    if (!direct->shuffles)
        return (uint32_t)__builtin_ctzll(racer->open);
    if (!racer->drawn)
        draw_order(direct, racer);
    uint32_t const *const order = order_of(direct, racer);
    while (((racer->open >> order[racer->position]) & 1u) == 0)
        racer->position++;
    return order[racer->position];
}

/* Twice the radius after so many rounds, as a core works it out. */
static double two_alpha(struct direct_run *direct, uint64_t rounds)
{
    const struct tacit_best_arm_config *const config = &direct->world->subroutine;
    if (rounds >= TABLE_ROUNDS)
        return 2.0 * tacit_best_arm_radius(config, rounds, rounds);
    if (!(direct->two_alpha[rounds] > 0))
        direct->two_alpha[rounds] = 2.0 * tacit_best_arm_radius(config, rounds, rounds);
    return direct->two_alpha[rounds];
}

/* As a single bit; the lowest on ties. *best_mean: its mean. */
static uint64_t best_of(struct racer *racer, double *best_mean)
{
    double const rounds = (double)racer->rounds;
    uint64_t best = 0;
    for (uint64_t left = racer->remaining; left != 0; left &= left - 1) {
        double const mean = sums_of(racer)[__builtin_ctzll(left)] / rounds;
        if (best == 0 || mean > *best_mean) {
            best = left & (0 - left);
            *best_mean = mean;
        }
    }
    return best;
}

/* Difference of the largest and the smallest sum of the arms that remain. */
static double spread_of(struct racer *racer)
{
    double const *const sums = sums_of(racer);
    double low = sums[__builtin_ctzll(racer->remaining)];
    double high = low;
    for (uint64_t left = racer->remaining & (racer->remaining - 1); left != 0; left &= left - 1) {
        double const sum = sums[__builtin_ctzll(left)];
        low = sum < low ? sum : low;
        high = sum > high ? sum : high;
    }
    return high - low;
}

/* ser3, ser4: with a spread of the sums below this nobody goes, whatever rounding does. */
static double quiet_spread(struct direct_run *direct, uint64_t rounds)
{
    if (rounds < TABLE_ROUNDS && direct->quiet[rounds] != 0)
        return direct->quiet[rounds];
    double const gap = two_alpha(direct, rounds) - direct->world->subroutine.accuracy;
    double quiet = gap * (double)rounds;
    quiet -= fabs(quiet) * QUIET_SLACK + QUIET_SLACK;
    if ((double)rounds < direct->log_start)
        quiet = INFINITY;
    if (rounds < TABLE_ROUNDS)
        direct->quiet[rounds] = quiet;
    return quiet;
}

/* The arms that the rule of the kind eliminates now. */
static uint64_t losers_of(struct direct_run *direct, struct racer *racer)
{
    const struct tacit_best_arm_config *const config = &direct->world->subroutine;
    if (direct->shuffles && spread_of(racer) < quiet_spread(direct, racer->rounds))
        return 0;
    double const rounds = (double)racer->rounds;
    double best_mean = 0;
    if (config->kind == TACIT_BEST_ARM_NAIVE && racer->rounds < direct->quota)
        return 0;
    bool const is_naive = config->kind == TACIT_BEST_ARM_NAIVE;
    double const bar = is_naive ? 0 : two_alpha(direct, racer->rounds);
    double const bonus = direct->shuffles ? config->accuracy : 0.0;
    uint64_t const best = best_of(racer, &best_mean);
    if (is_naive)
        return racer->remaining & ~best;
    if (config->kind == TACIT_BEST_ARM_SUCCESSIVE && bar / 2.0 <= config->accuracy / 2.0)
        return racer->remaining & ~best;
    uint64_t losers = 0;
    for (uint64_t left = racer->remaining & ~best; left != 0; left &= left - 1) {
        double const mean = sums_of(racer)[__builtin_ctzll(left)] / rounds;
        losers |= best_mean - mean + bonus >= bar ? left & (0 - left) : 0;
    }
    return losers;
}

/* ---- Votes ---- */

static void read_voted(struct direct_run *direct)
{
    struct tacit_vote_board_view view;
    tacit_vote_board_view(direct->board, &view);
    vote_trace_counts(direct->trace, view.counts, direct->world, direct->outcome->samples);
    direct->voted = view.voted[0];
}

/* Its new losers go onto the board; marks that are there already are no messages. */
static void vote(struct direct_run *direct, struct racer *racer, uint32_t player, uint64_t losers)
{
    direct->outcome->messages += tacit_bits_word_count(losers & ~racer->dropped);
    racer->dropped |= losers;
    enum tacit_status const status = tacit_vote_board_mark(
        direct->board, player, (struct tacit_vote_row){racer->reset, &racer->dropped}, NULL);
    TACIT_ASSERT(status == TACIT_OK);
    uint64_t const before = direct->voted;
    read_voted(direct);
    if (direct->voted != before)
        vote_note_left(direct->world, direct->outcome, direct->trace, &direct->voted);
}

static void reset_all(struct direct_run *direct)
{
    tacit_vote_board_reset(direct->board, ++direct->outcome->reset_count);
    read_voted(direct);
    vote_clock_draw_reset(&direct->clock, direct->world, direct->outcome->samples);
}

/* ---- The loop ---- */

static double draw_reward(struct direct_run *direct, struct racer *racer, uint32_t player,
                          uint32_t arm)
{
    if (direct->means != NULL && direct->world->env->kind == TACIT_ENV_BERNOULLI)
        return tacit_rng_bernoulli(&racer->reward_chance, direct->means[arm]) ? 1.0 : 0.0;
    return vote_reward(direct->world, &racer->reward_chance, player, arm, direct->outcome->samples);
}

/* Every arm that remains was pulled once more: drops the losers, and votes if its votes count. */
static void end_round(struct direct_run *direct, struct racer *racer, uint32_t player)
{
    racer->rounds++;
    uint64_t const losers = losers_of(direct, racer);
    racer->remaining &= ~losers;
    racer->open = racer->remaining;
    racer->drawn = false;
    if (losers == 0)
        return;
    if (direct->world->sharing == VOTE_SHARING_VOTES &&
        tacit_vote_board_counts(direct->board, player))
        vote(direct, racer, player, losers);
    else
        racer->dropped |= losers;
}

/* One sample of this player, from what it hears of the board to what it votes. */
static void activate(struct direct_run *direct, uint32_t player)
{
    struct racer *const racer = racer_at(direct, player);
    read_board(direct, racer);
    uint32_t const arm = next_arm(direct, racer);
    double const reward = draw_reward(direct, racer, player, arm);
    vote_count_play(direct->world, direct->outcome, player, arm, direct->outcome->samples);
    vote_trace_play(direct->trace, player, arm, racer->single);
    direct->outcome->samples++;
    if (direct->trace != NULL)
        vote_trace_regret(direct->trace, direct->outcome, &direct->next_point);
    sums_of(racer)[arm] += reward;
    if ((racer->remaining & (racer->remaining - 1)) != 0) {
        racer->open &= ~(UINT64_C(1) << arm);
        if (racer->open == 0)
            end_round(direct, racer, player);
    }
    bool const is_single = (racer->remaining & (racer->remaining - 1)) == 0;
    if (is_single != racer->single) {
        direct->single_count += is_single ? 1u : UINT32_MAX;
        racer->single = is_single;
        if (is_single)
            vote_trace_decided(direct->trace, player, direct->outcome->samples);
    }
}

/* Into the cache, to be written. */
static void fetch(const struct direct_run *direct, uint32_t player)
{
    unsigned char const *const racer = (unsigned char const *)racer_at(direct, player);
    for (size_t at = 0; at < direct->racer_bytes; at += LINE_BYTES)
        __builtin_prefetch(racer + at, 1);
}

/* Who is active next does not depend on what is played, so it is drawn ahead. */
static void play_block(struct direct_run *direct)
{
    uint32_t players[BLOCK + AHEAD];
    for (uint32_t i = 0; i < BLOCK; i++)
        players[i] = vote_clock_active(&direct->clock, direct->world);
    for (uint32_t i = BLOCK; i < BLOCK + AHEAD; i++)
        players[i] = players[BLOCK - 1];
    bool const fetches = direct->racer_bytes * direct->world->player_count > NEAR_BYTES;
    for (uint32_t i = 0;
         i < BLOCK && vote_goes_on(direct->world, direct->outcome, direct->single_count); i++) {
        if (fetches)
            fetch(direct, players[i + AHEAD]);
        if (direct->outcome->samples >= direct->clock.next_reset)
            reset_all(direct);
        activate(direct, players[i]);
    }
}

/* What the cores call the answer: the best mean of the remaining arms, by their own pulls. */
static uint32_t answer_of(struct direct_run *direct, struct racer *racer)
{
    uint32_t best = (uint32_t)__builtin_ctzll(racer->remaining);
    double best_mean = -1;
    for (uint32_t arm = best; arm < direct->arm_count; arm++) {
        if (((racer->remaining >> arm) & 1u) == 0)
            continue;
        bool const is_played = ((racer->open >> arm) & 1u) == 0;
        double const pulls = (double)(racer->rounds + (is_played ? 1u : 0u));
        double const mean = pulls > 0 ? sums_of(racer)[arm] / pulls : 0;
        if (mean > best_mean) {
            best = arm;
            best_mean = mean;
        }
    }
    return best;
}

static enum tacit_status end_direct(struct direct_run *direct)
{
    for (uint32_t player = 0; player < direct->world->player_count; player++) {
        struct racer *const racer = racer_at(direct, player);
        direct->arms[player] = answer_of(direct, racer);
        vote_trace_left(direct->trace, &racer->remaining, direct->arm_count);
    }
    return vote_finish(
        direct->world, direct->outcome,
        &(struct vote_end){direct->arms, direct->single_count, direct->trace, direct->next_point});
}

enum tacit_status vote_play_direct(const struct vote_world *world, struct vote_outcome *outcome,
                                   const struct vote_trace *trace)
{
    TACIT_ASSERT(vote_play_is_direct(world));
    memset(outcome, 0, sizeof *outcome);
    void *const memory = tacit_sim_new(NULL, 1, 1);
    if (memory == NULL)
        return TACIT_MEMORY;
    struct direct_run direct = {.world = world,
                                .outcome = outcome,
                                .trace = trace,
                                .arm_count = world->subroutine.arm_count};
    enum tacit_status status = start_direct(&direct, memory);
    while (status == TACIT_OK && vote_goes_on(world, outcome, direct.single_count)) {
        play_block(&direct);
        if (vote_is_stopped(world))
            status = TACIT_INTERRUPTED;
    }
    if (status == TACIT_OK)
        status = end_direct(&direct);
    tacit_sim_delete(memory);
    return status;
}
