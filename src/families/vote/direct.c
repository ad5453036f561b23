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
    uint64_t remaining;
    uint64_t open;
    uint64_t dropped;
    uint64_t reset;
    uint64_t rounds; /* closed: pulls of each arm that is not open, but in the running */
    uint32_t position;
    bool drawn;  /* the order of this round */
    bool single; /* as counted */
};

struct track {
    const struct vote_world *world;
    struct vote_outcome *outcome;
    const struct vote_trace *trace;
    struct vote_clock clock;
    struct tacit_vote_board *board;
    unsigned char *racers;
    size_t racer_bytes;
    double *two_alpha; /* by rounds; 0: not computed yet */
    double *quiet;     /* the same, of quiet_spread */
    double *gaps;      /* K, where means stay; else NULL */
    double *means;
    uint32_t *arms;
    uint64_t voted; /* the board's, as a word */
    uint64_t all;
    uint64_t quota;
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

static struct racer *racer_at(const struct track *track, uint32_t player)
{
    return (struct racer *)(void *)(track->racers + player * track->racer_bytes);
}

static double *sums_of(struct racer *racer)
{
    return (double *)(void *)(racer + 1);
}

static uint32_t *order_of(const struct track *track, struct racer *racer)
{
    return (uint32_t *)(void *)(sums_of(racer) + track->arm_count);
}

/* ---- Memory ---- */

static bool means_stay(const struct vote_world *world)
{
    return world->env->row_count == 1 && world->switch_every == 0 && world->drift == 0;
}

static enum tacit_status fill_means(struct track *track, void *memory)
{
    if (!means_stay(track->world))
        return TACIT_OK;
    track->gaps = tacit_sim_new(memory, track->arm_count, sizeof(double));
    track->means = tacit_sim_new(memory, track->arm_count, sizeof(double));
    if (!tacit_sim_is_whole(memory))
        return TACIT_MEMORY;
    double best = 0;
    for (uint32_t arm = 0; arm < track->arm_count; arm++) {
        track->means[arm] = vote_mean(track->world, 0, arm, 0);
        best = arm == 0 || track->means[arm] > best ? track->means[arm] : best;
    }
    for (uint32_t arm = 0; arm < track->arm_count; arm++)
        track->gaps[arm] = best - track->means[arm];
    return TACIT_OK;
}

static void set_racers(struct track *track)
{
    const struct vote_world *const world = track->world;
    for (uint32_t player = 0; player < world->player_count; player++) {
        struct racer *const racer = racer_at(track, player);
        racer->order_chance = tacit_rng_stream(world->seed, world->run, player, VOTE_PURPOSE_ORDER);
        racer->reward_chance =
            tacit_rng_stream(world->seed, world->run, player, TACIT_PURPOSE_REWARD);
        racer->remaining = track->all;
        racer->open = track->all;
        racer->single = track->arm_count == 1;
    }
    track->single_count = track->arm_count == 1 ? world->player_count : 0;
}

static enum tacit_status set_track(struct track *track, void *memory)
{
    const struct vote_world *const world = track->world;
    struct tacit_vote_board_config const board = vote_board_config(world);
    if (tacit_vote_board_size(&board) == 0 || tacit_best_arm_size(&world->subroutine) == 0)
        return TACIT_INVALID;
    track->racer_bytes = sizeof(struct racer) + track->arm_count * sizeof(double) +
                         (track->arm_count + 1u) / 2u * sizeof(uint64_t);
    track->board = tacit_sim_new(memory, 1, tacit_vote_board_size(&board));
    track->racers = tacit_sim_new(memory, world->player_count, track->racer_bytes);
    track->two_alpha = tacit_sim_new(memory, TABLE_ROUNDS, sizeof(double));
    track->quiet = tacit_sim_new(memory, TABLE_ROUNDS, sizeof(double));
    track->arms = tacit_sim_new(memory, world->player_count, sizeof track->arms[0]);
    if (!tacit_sim_is_whole(memory))
        return TACIT_MEMORY;
    if (tacit_vote_board_init(track->board, &board) != TACIT_OK)
        return TACIT_INVALID;
    tacit_bits_fill(&track->all, track->arm_count);
    track->voted = track->all;
    track->log_start = log((double)track->arm_count / world->subroutine.failure);
    track->shuffles = world->subroutine.kind == TACIT_BEST_ARM_SER3 ||
                      world->subroutine.kind == TACIT_BEST_ARM_SER4;
    if (world->subroutine.kind == TACIT_BEST_ARM_NAIVE)
        track->quota = tacit_best_arm_quota(&world->subroutine, 1);
    set_racers(track);
    vote_clock_start(&track->clock, world);
    return fill_means(track, memory);
}

/* ---- A racer ---- */

static void start_afresh(const struct track *track, struct racer *racer, uint64_t running)
{
    racer->remaining = running;
    racer->open = running;
    racer->rounds = 0;
    racer->drawn = false;
    memset(sums_of(racer), 0, track->arm_count * sizeof(double));
}

/* As tacit_best_arm_restrict. */
static void restrict_to_voted(const struct track *track, struct racer *racer)
{
    if ((racer->remaining & track->voted) == 0) {
        start_afresh(track, racer, track->voted);
        return;
    }
    racer->remaining &= track->voted;
    racer->open &= racer->remaining;
    if (racer->open == 0) {
        racer->rounds++;
        racer->open = racer->remaining;
        racer->drawn = false;
    }
}

static void read_board(struct track *track, struct racer *racer)
{
    if (racer->reset != track->outcome->reset_count) {
        racer->reset = track->outcome->reset_count;
        racer->dropped = 0;
        start_afresh(track, racer, track->all);
    }
    if (track->world->sharing == VOTE_SHARING_VOTES && (racer->remaining & ~track->voted) != 0)
        restrict_to_voted(track, racer);
}

static void draw_order(struct track *track, struct racer *racer)
{
    uint32_t *const order = order_of(track, racer);
    uint32_t count = 0;
    for (uint64_t left = racer->open; left != 0; left &= left - 1)
        order[count++] = (uint32_t)__builtin_ctzll(left);
    struct tacit_entropy const entropy = tacit_rng_entropy(&racer->order_chance);
    enum tacit_status const status = tacit_entropy_shuffle(&entropy, count, order);
    TACIT_ASSERT(status == TACIT_OK);
    racer->position = 0;
    racer->drawn = true;
}

static uint32_t next_arm(struct track *track, struct racer *racer)
{
    if ((racer->remaining & (racer->remaining - 1)) == 0)
        return (uint32_t)__builtin_ctzll(racer->remaining);
    if (!track->shuffles)
        return (uint32_t)__builtin_ctzll(racer->open);
    if (!racer->drawn)
        draw_order(track, racer);
    uint32_t const *const order = order_of(track, racer);
    while (((racer->open >> order[racer->position]) & 1u) == 0)
        racer->position++;
    return order[racer->position];
}

static double two_alpha(struct track *track, uint64_t rounds)
{
    const struct tacit_best_arm_config *const config = &track->world->subroutine;
    if (rounds >= TABLE_ROUNDS)
        return 2.0 * tacit_best_arm_radius(config, rounds, rounds);
    if (!(track->two_alpha[rounds] > 0))
        track->two_alpha[rounds] = 2.0 * tacit_best_arm_radius(config, rounds, rounds);
    return track->two_alpha[rounds];
}

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

/* Difference of the largest and the smallest sum of the running arms. */
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
static double quiet_spread(struct track *track, uint64_t rounds)
{
    if (rounds < TABLE_ROUNDS && track->quiet[rounds] != 0)
        return track->quiet[rounds];
    double const gap = two_alpha(track, rounds) - track->world->subroutine.accuracy;
    double quiet = gap * (double)rounds;
    quiet -= fabs(quiet) * QUIET_SLACK + QUIET_SLACK;
    if ((double)rounds < track->log_start)
        quiet = INFINITY;
    if (rounds < TABLE_ROUNDS)
        track->quiet[rounds] = quiet;
    return quiet;
}

/* The arms that the rule of the kind eliminates now. */
static uint64_t losers_of(struct track *track, struct racer *racer)
{
    const struct tacit_best_arm_config *const config = &track->world->subroutine;
    if (track->shuffles && spread_of(racer) < quiet_spread(track, racer->rounds))
        return 0;
    double const rounds = (double)racer->rounds;
    double best_mean = 0;
    if (config->kind == TACIT_BEST_ARM_NAIVE && racer->rounds < track->quota)
        return 0;
    bool const is_naive = config->kind == TACIT_BEST_ARM_NAIVE;
    double const bar = is_naive ? 0 : two_alpha(track, racer->rounds);
    double const bonus = track->shuffles ? config->accuracy : 0.0;
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

static void note_votes(struct track *track)
{
    struct vote_outcome *const outcome = track->outcome;
    if (!outcome->voted && (track->voted & (track->voted - 1)) == 0) {
        outcome->voted = true;
        outcome->samples_vote = outcome->samples;
    }
    vote_trace_out(track->trace, &track->voted, track->arm_count, outcome->samples);
}

static void read_voted(struct track *track)
{
    struct tacit_vote_board_view view;
    tacit_vote_board_look(track->board, &view);
    vote_trace_counts(track->trace, view.counts, track->world, track->outcome->samples);
    track->voted = view.voted[0];
}

static void vote(struct track *track, struct racer *racer, uint32_t player, uint64_t losers)
{
    track->outcome->messages += tacit_bits_word_count(losers & ~racer->dropped);
    racer->dropped |= losers;
    struct tacit_vote_message const message = {.kind = TACIT_VOTE_MARKS,
                                               .from = player,
                                               .to = TACIT_EVERYONE,
                                               .reset = racer->reset,
                                               .marks = &racer->dropped};
    enum tacit_status const status = tacit_vote_board_take(track->board, &message, NULL);
    TACIT_ASSERT(status == TACIT_OK);
    uint64_t const before = track->voted;
    read_voted(track);
    if (track->voted != before)
        note_votes(track);
}

static void reset_all(struct track *track)
{
    vote_board_reset(track->board, ++track->outcome->reset_count);
    read_voted(track);
    vote_clock_draw_reset(&track->clock, track->world, track->outcome->samples);
}

/* ---- The loop ---- */

static double draw_reward(struct track *track, struct racer *racer, uint32_t player, uint32_t arm)
{
    if (track->means != NULL && track->world->env->kind == TACIT_ENV_BERNOULLI)
        return tacit_rng_bernoulli(&racer->reward_chance, track->means[arm]) ? 1.0 : 0.0;
    return vote_reward(track->world, &racer->reward_chance, player, arm, track->outcome->samples);
}

static void count_play(struct track *track, uint32_t player, uint32_t arm)
{
    if (track->gaps == NULL) {
        vote_count_play(track->world, track->outcome, player, arm, track->outcome->samples);
        return;
    }
    track->outcome->regret += track->gaps[arm];
    track->outcome->plays_beyond +=
        track->gaps[arm] > track->world->subroutine.accuracy + 1e-12 ? 1u : 0u;
}

static void end_round(struct track *track, struct racer *racer, uint32_t player)
{
    racer->rounds++;
    uint64_t const losers = losers_of(track, racer);
    racer->remaining &= ~losers;
    racer->open = racer->remaining;
    racer->drawn = false;
    if (losers == 0)
        return;
    if (track->world->sharing == VOTE_SHARING_VOTES &&
        tacit_vote_board_counts(track->board, player))
        vote(track, racer, player, losers);
    else
        racer->dropped |= losers;
}

static void activate(struct track *track, uint32_t player)
{
    struct racer *const racer = racer_at(track, player);
    read_board(track, racer);
    uint32_t const arm = next_arm(track, racer);
    double const reward = draw_reward(track, racer, player, arm);
    count_play(track, player, arm);
    vote_trace_play(track->trace, player, arm, racer->single);
    track->outcome->samples++;
    if (track->trace != NULL)
        vote_trace_regret(track->trace, track->outcome, &track->next_point);
    sums_of(racer)[arm] += reward;
    if ((racer->remaining & (racer->remaining - 1)) != 0) {
        racer->open &= ~(UINT64_C(1) << arm);
        if (racer->open == 0)
            end_round(track, racer, player);
    }
    bool const is_single = (racer->remaining & (racer->remaining - 1)) == 0;
    if (is_single != racer->single) {
        track->single_count += is_single ? 1u : UINT32_MAX;
        racer->single = is_single;
        if (is_single)
            vote_trace_decided(track->trace, player, track->outcome->samples);
    }
}

static bool goes_on(const struct track *track)
{
    return track->outcome->samples < track->world->horizon &&
           (track->world->reset_probability > 0 ||
            track->single_count < track->world->player_count);
}

static void fetch(const struct track *track, uint32_t player)
{
    unsigned char const *const racer = (unsigned char const *)racer_at(track, player);
    for (size_t at = 0; at < track->racer_bytes; at += LINE_BYTES)
        __builtin_prefetch(racer + at, 1);
}

/* Who is active next does not depend on what is played, so it is drawn ahead. */
static void play_block(struct track *track)
{
    uint32_t players[BLOCK + AHEAD];
    for (uint32_t i = 0; i < BLOCK; i++)
        players[i] = vote_clock_active(&track->clock, track->world);
    for (uint32_t i = BLOCK; i < BLOCK + AHEAD; i++)
        players[i] = players[BLOCK - 1];
    bool const fetches = track->racer_bytes * track->world->player_count > NEAR_BYTES;
    for (uint32_t i = 0; i < BLOCK && goes_on(track); i++) {
        if (fetches)
            fetch(track, players[i + AHEAD]);
        if (track->outcome->samples >= track->clock.next_reset)
            reset_all(track);
        activate(track, players[i]);
    }
}

/* What the cores call the answer: the best mean of the remaining arms, by their own pulls. */
static uint32_t answer_of(struct track *track, struct racer *racer)
{
    uint32_t best = (uint32_t)__builtin_ctzll(racer->remaining);
    double best_mean = -1;
    for (uint32_t arm = best; arm < track->arm_count; arm++) {
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

static void end_track(struct track *track)
{
    uint32_t single_count = 0;
    for (uint32_t player = 0; player < track->world->player_count; player++) {
        struct racer *const racer = racer_at(track, player);
        track->arms[player] = answer_of(track, racer);
        vote_trace_left(track->trace, &racer->remaining, track->world->subroutine.arm_count);
        single_count += (racer->remaining & (racer->remaining - 1)) == 0 ? 1u : 0u;
    }
    vote_finish(track->world, track->outcome,
                &(struct vote_end){track->arms, single_count, track->trace, track->next_point});
}

enum tacit_status vote_play_direct(const struct vote_world *world, struct vote_outcome *outcome,
                                   const struct vote_trace *trace)
{
    TACIT_ASSERT(vote_play_is_direct(world));
    memset(outcome, 0, sizeof *outcome);
    void *const memory = tacit_sim_new(NULL, 1, 1);
    if (memory == NULL)
        return TACIT_MEMORY;
    struct track track = {.world = world,
                          .outcome = outcome,
                          .trace = trace,
                          .arm_count = world->subroutine.arm_count};
    enum tacit_status status = set_track(&track, memory);
    while (status == TACIT_OK && goes_on(&track)) {
        play_block(&track);
        if (vote_is_stopped(world))
            status = TACIT_INTERRUPTED;
    }
    if (status == TACIT_OK)
        end_track(&track);
    tacit_sim_delete(memory);
    return status;
}
