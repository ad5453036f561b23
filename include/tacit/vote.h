/* Elimination by votes (Feraud, Alami, Laroche: "Decentralized Exploration in Multi-Armed Bandits",
 * Alg. 2: DECENTRALIZED ELIMINATION, DSER3, DSER4). Players that are active now and then each run a
 * best-arm subroutine of low confidence 1 - eta and tell the others which arms they have
 * eliminated; an arm that enough players have eliminated is out for everybody.
 *
 * Pure functions of (state, event, entropy), as in tacit/elim.h. A player is two blocks: its own
 * state, and a board of what all players have voted. A board is a function of the marks on it
 * alone: order, repetition and delay of messages never matter. A simulator without faults may let
 * all players share one board.
 *
 * eta is the failure that each player allows itself. It is a parameter of confidence; it protects
 * nothing (PRIVACY.md B.4). N players, K arms, m votes needed, delta the failure of the whole.
 * src/proto/vote/NOTES.md maps the paper's lines to functions. */
#ifndef TACIT_VOTE_H
#define TACIT_VOTE_H
#include "tacit/base.h"
#include "tacit/best_arm.h"
#include "tacit/bounds.h"
#include "tacit/commit.h"
#include "tacit/core.h"
#include "tacit/privacy.h"
#include "tacit/random.h"

/* ---- How many votes -------------------------------------------------------------------------- */

/* Paper mode: m = floor(ln delta/ln eta) (Alg. 2 l. 6), at least 1. A quotient that is whole up to
 * rounding is that whole number. The failure eta^m may then exceed delta (PRIVACY.md B.4).
 * Requires: 0 < delta < 1, 0 < eta < 1, as for the functions below. */
uint32_t tacit_vote_floor(double delta, double eta);

/* Sound mode, proved for any subroutine: ceil(ln delta/ln eta) players who are fixed in advance,
 * and all of them must vote. */
uint32_t tacit_vote_committee(double delta, double eta);

/* P(Bin(count, eta) >= needed): how likely so many of `count` players are wrong about one arm.
 * Cost: O(count), mostly much less. */
double tacit_vote_binomial_tail(uint32_t count, double eta, uint32_t needed);

/* Sound mode where a single arm is epsilon-optimal: the smallest m of N with P(Bin(N, eta) >= m) <=
 * delta. 0 if there is none (eta^N > delta: votes never suffice). Cost: O(N log N). */
uint32_t tacit_vote_needed(uint32_t player_count, double delta, double eta);

/* The largest eta with P(Bin(N, eta) >= needed) <= delta: any m of N players, as eager as delta
 * allows. Requires: 1 <= needed <= N. Cost: about 60 tails. */
double tacit_vote_eta(uint32_t player_count, uint32_t needed, double delta);

/* Samples that one player may need alone until its set is a singleton if every other arm is just
 * epsilon below the best: for comparing choices, not a bound. Cost: O(log). */
double tacit_vote_samples_alone(const struct tacit_best_arm_config *config);

/* A choice of m and eta, with the samples that N evenly active players then need. */
struct tacit_vote_choice {
    uint32_t needed;
    double eta;
    double samples;
};

/* The cheapest m of N with its eta for this subroutine (config->failure is ignored). Tries every m
 * up to 64, then steps of a twelfth. Cost: about 200 tacit_vote_eta at most. */
struct tacit_vote_choice tacit_vote_recommend(uint32_t player_count, double delta,
                                              const struct tacit_best_arm_config *config);

/* ---- Board ----------------------------------------------------------------------------------- */

/* What a player says, and what a board has of it: all arms that it has eliminated since a reset. A
 * vote is of fixed size and says all again: whoever hears the newest needs no older one. */
struct tacit_vote_row {
    uint64_t reset;        /* resets so far: marks of another number do not count here */
    const uint64_t *marks; /* K bits; they belong to who says it, until its next step */
};

TACIT_NO_GAPS
struct tacit_vote_board_config {
    uint64_t run_id;
    uint32_t player_count; /* N, 1 .. TACIT_AGENTS_MAX */
    uint32_t arm_count;    /* K */
    uint32_t votes_needed; /* m, Byzantine margin included; may exceed N: never enough */
    uint32_t spare;
    const uint64_t *committee; /* N bits: whose marks count; NULL: everybody's. Copied */
};
TACIT_NO_GAPS_END

struct tacit_vote_board; /* opaque, relocatable */

struct tacit_vote_board_view {
    uint64_t reset;
    const uint64_t *voted; /* K bits: arms not voted out; never empty. The paper's K(l) */
    uint32_t voted_count;
    const uint32_t *counts; /* K: players (of the committee) that have marked the arm */
    uint64_t mark_count;    /* marks on the board, of the present reset */
};

/* Bytes of a board: O(N K/64 + K). Errors: 0 if the configuration is not valid. */
size_t tacit_vote_board_size(const struct tacit_vote_board_config *config);

/* Errors: TACIT_INVALID, *board untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_vote_board_init(struct tacit_vote_board *board,
                                        const struct tacit_vote_board_config *config);

/* Can these bytes be a board of this configuration? Counts and the voted set must be those of the
 * marks. Errors: TACIT_MALFORMED. Cost: O(N K). */
enum tacit_status tacit_vote_board_check(const struct tacit_vote_board *board, size_t size,
                                         const struct tacit_vote_board_config *config);

/* Puts a vote on the board. Marks are or-ed to those of their player and reset; a newer reset of a
 * player replaces its older marks, an older one says nothing. They count when the board's own reset
 * is theirs, so a player that claims a reset of its own moves nobody but itself. *marks_new (may be
 * NULL) is the number of marks that were not there.
 * Errors: TACIT_STRANGER: not a player; TACIT_MALFORMED: no marks, or an arm that does not exist.
 *   The board is untouched. Cost: O(K/64), O(K) when an arm is voted out. */
enum tacit_status tacit_vote_board_mark(struct tacit_vote_board *board, uint32_t player,
                                        struct tacit_vote_row vote, uint32_t *marks_new);

/* The hub's word: so many resets so far, so marks of others do not count (DSER4). One that was said
 * before says nothing. Cost: O(N K/64). */
void tacit_vote_board_reset(struct tacit_vote_board *board, uint64_t reset);

/* Do marks of this player count? One whose marks do not count sends none. Cost: O(1). */
bool tacit_vote_board_counts(const struct tacit_vote_board *board, uint32_t player);

/* All that the board has of a player. Ensures: marks belong to the board and are valid until it
 * changes. Requires: player < player_count. Cost: O(1). */
struct tacit_vote_row tacit_vote_board_row(const struct tacit_vote_board *board, uint32_t player);

/* Shows a board without changing it. Cost: O(1). */
void tacit_vote_board_view(const struct tacit_vote_board *board,
                           struct tacit_vote_board_view *view);

/* ---- Player ---------------------------------------------------------------------------------- */

enum tacit_vote_sharing {
    TACIT_VOTE_SHARING_VOTES, /* Alg. 2 */
    TACIT_VOTE_SHARING_NONE   /* 1-PRIVACY: nothing is sent, nothing is read */
};

struct tacit_vote_config {
    uint32_t player_id; /* < player_count */
    uint32_t player_count;
    enum tacit_vote_sharing sharing;
    struct tacit_best_arm_config subroutine; /* failure: eta with votes, delta/N without */
};

struct tacit_vote_player; /* opaque, relocatable */

/* Bytes of a state: O(K). Errors: 0 if the configuration is not valid. */
size_t tacit_vote_player_size(const struct tacit_vote_config *config);

/* Errors: TACIT_INVALID, *player untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_vote_player_init(struct tacit_vote_player *player,
                                         const struct tacit_vote_config *config);

/* The player is active (Alg. 2 l. 2-13): it reads the board, shrinks its set, and *arm is what it
 * plays. Errors: TACIT_ENTROPY; what the board says may have been read then. Requires: the board is
 * of the same N and K. Cost: O(K/64), O(K) where a round ends. */
enum tacit_status tacit_vote_player_offer(struct tacit_vote_player *player,
                                          const struct tacit_vote_board *board,
                                          const struct tacit_entropy *entropy, uint32_t *arm);

/* What that arm brought (l. 13-20): one of before a reset is forgotten. What the player eliminates
 * then goes on the board, if its marks count there: of a board of its own, tacit_vote_board_row is
 * what the others are to hear. Result: how many marks are new, messages in the paper's count.
 * Requires: the last offer was of this arm; 0 <= reward <= 1. Cost: as an offer. */
uint32_t tacit_vote_player_reward(struct tacit_vote_player *player, struct tacit_vote_board *board,
                                  uint32_t arm, double reward);

/* Is its set one arm? Cost: O(1). */
bool tacit_vote_player_is_decided(const struct tacit_vote_player *player);

/* Shows a player's subroutine without changing it. Cost: O(K). */
void tacit_vote_player_view(const struct tacit_vote_player *player,
                            struct tacit_best_arm_view *view);

/* ---- Noised player --------------------------------------------------------------------------- */

/* A player whose rewards leave it noised only (sound mode). It plays blocks, in which every arm of
 * its set is pulled as often; at the end of one the exact integer sums get one discrete Laplace
 * each and are erased. A draw, its charge and the erasure are one transaction (update.persist).
 * Nothing uses it before the hub has granted it (update.commit asks, RECEIVE answers): of two
 * copies of a state one is granted (LIVE-TRUST). The commitment itself is the driver's. Protected
 * is the value of each reward, replace-one, epsilon; not who is there, when, which arms are played,
 * and not against a hub that grants twice.
 *
 * block 0: votes that are private, over a ladder of epochs with exact bounds (tacit/bounds.h, one
 * site), delta := eta. What is eliminated, voted and played depends on the noised sums alone. They
 * are kept locally: only votes leave, at a public tick.
 *
 * block > 0: published sums (below). */
TACIT_NO_GAPS
struct tacit_vote_noised_config {
    uint64_t run_id;
    uint32_t player_id; /* < player_count */
    uint32_t player_count;
    uint32_t arm_count;
    uint32_t spare;
    double accuracy;                  /* votes: epsilon of the answer, in (0, 1] */
    double failure;                   /* votes: eta, in (0, 1) */
    double growth;                    /* votes: of the ladder, in (1, 4]; 2 */
    uint64_t block;                   /* sums: pulls of each arm; 0: votes */
    struct tacit_mechanism mechanism; /* sound, noisy or not; the player's own */
    uint64_t budget_nano;
    uint64_t tick_us; /* > 0: votes and releases leave at multiples of it only */
};
TACIT_NO_GAPS_END

/* What a player publishes instead, with published sums; its arrays belong to the player and stay
 * valid until its next step. */
struct tacit_vote_release {
    const uint64_t *arms; /* K bits: arms of the block */
    const int64_t *sums;  /* K noised sums; 0 where the arm is not in it */
};

/* What a player of published sums knows of the pool. */
struct tacit_vote_standing {
    const uint64_t *arms; /* K bits: that are in */
    uint64_t settled;     /* draws of this player's up to this one are in the pool, or void */
};

struct tacit_vote_event {
    uint64_t now_us; /* the driver's clock; never decreases, but with a START */
    enum tacit_event_kind kind;
    union {
        struct tacit_reward reward; /* steps of the mechanism's scale */
        uint64_t granted; /* RECEIVE: the hub's word that the draw of this number may be used */
        struct tacit_vote_standing standing; /* sums: OFFER */
    } as;
};

struct tacit_vote_noised_update {
    bool persist;
    bool persist_board; /* votes */
    bool commit;        /* ask the hub to grant `draw`; after a restart again */
    uint64_t draw;      /* if commit */
    bool send;
    struct tacit_vote_row vote; /* if send: of votes, */
    uint32_t marks_new;
    struct tacit_vote_release release; /* or for the pool */
    bool replan;                       /* the plan below replaces the one before; may be empty */
    uint32_t plan_count;               /* in arm order; valid until the next step */
    const struct tacit_pull_block *plan;
    uint64_t deadline_us; /* TACIT_NEVER: no timer */
};

struct tacit_vote_noised_view {
    uint64_t draw; /* draws so far */
    const uint64_t *active;
    uint32_t active_count;
    bool decided;         /* one arm is left, as far as this player has read */
    bool waiting;         /* a draw is not granted yet */
    bool halted;          /* no budget */
    bool pulling;         /* a block is open */
    uint64_t leave_us;    /* the tick at which a vote or release leaves; TACIT_NEVER: none is due */
    uint64_t deadline_us; /* as in the update */
    const struct tacit_ledger *ledger;
    uint32_t epoch;          /* votes: of the ladder, from 1; sums: the next draw, or the one that
                                waits */
    const uint64_t *dropped; /* votes: by itself: its vote, once it has left; else NULL */
    struct tacit_vote_release
        release; /* sums: the last draw. Before it leaves nothing may use it */
};

struct tacit_vote_noised; /* opaque, relocatable */

/* Bytes of a state: O(K). Errors: 0 if the configuration is not valid. */
size_t tacit_vote_noised_size(const struct tacit_vote_noised_config *config);

/* Errors: TACIT_INVALID, *player untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_vote_noised_init(struct tacit_vote_noised *player,
                                         const struct tacit_vote_noised_config *config);

/* Are these bytes a state of this configuration? Errors: TACIT_MALFORMED. */
enum tacit_status tacit_vote_noised_check(const struct tacit_vote_noised *player, size_t size,
                                          const struct tacit_vote_noised_config *config);

/* One step. START opens a block, and asks and says again what is open; its clock may be a new one.
 * REWARD brings sums on the mechanism's scale; the last one of a block draws. RECEIVE grants.
 * TIMEOUT tries a draw again, or lets a vote or release go. An arm that is out in mid-block leaves
 * the plan, and its sum is discarded.
 * Votes: OFFER reads the board. Sums: the board is NULL; OFFER says what stands: an arm that is in
 * again begins a new block, and what waits for its grant is settled before it; a draw waits until
 * the release before is settled, and the next block opens when one leaves.
 * Errors: TACIT_INVALID: a reward that was not planned, or out of range; TACIT_UNEXPECTED: a grant
 *   that was not asked for; the state is as it was.
 *   TACIT_ENTROPY: the last reward was taken in, nothing was drawn, a timeout tries again.
 *   TACIT_BUDGET: the draw was refused, the player is halted. Cost: O(K) a block's end. */
enum tacit_status tacit_vote_noised_step(struct tacit_vote_noised *player,
                                         struct tacit_vote_board *board,
                                         const struct tacit_vote_event *event,
                                         const struct tacit_entropy *entropy,
                                         struct tacit_vote_noised_update *update);

/* SHA-256 of the draw that waits for its grant: votes: its number, pulls, arms and noised sums;
 * sums: what leaves of it. What a driver commits to; nothing else may be made of it. Requires: the
 * player waits. Cost: O(K). */
void tacit_vote_noised_digest(const struct tacit_vote_noised *player,
                              uint8_t digest[TACIT_SHA256_BYTES]);

/* Is one arm left? Cost: O(1). */
bool tacit_vote_noised_is_decided(const struct tacit_vote_noised *player);

/* The best granted noised mean of the active arms; the lowest of equal ones. Cost: O(K). */
uint32_t tacit_vote_noised_best(const struct tacit_vote_noised *player);

/* Whoever grants has forgotten what: rewards that are in no granted draw are in none any more, and
 * are played anew. What was spent stays. */
void tacit_vote_noised_begin_term(struct tacit_vote_noised *player);

/* The noised sum of an arm of the set, of all granted draws since it came in, in steps. Arms of the
 * set have as many pulls. Requires: arm < K. Cost: O(1). */
int64_t tacit_vote_noised_total(const struct tacit_vote_noised *player, uint32_t arm);

/* Shows a state without changing it. Cost: O(1). */
void tacit_vote_noised_view(const struct tacit_vote_noised *player,
                            struct tacit_vote_noised_view *view);

/* ---- Published sums -------------------------------------------------------------------------- */

/* Ours: what leaves a player is not a vote but its noised sums, and everybody judges the sum over
 * all players with exact bounds (tacit/bounds.h). A block is `block` pulls of each arm that is
 * left; a release is one integer an arm of it, each with one discrete Laplace of scale R/epsilon: a
 * reward is in one release, so it loses epsilon, as with private votes. A run has one pool, the
 * hub's, which takes releases as they come. It looks at numbers of releases that are fixed
 * beforehand (c_1, c_2 = ceil(growth c_1),
 * ...), and drops k if UCB_k <= max LCB + accuracy at the level ln(2 K e (e+1)/delta) of its e-th
 * look. Which block ends next depends on who is active and on releases, never on rewards that are
 * not released: so the bounds hold (docs/proofs/exact_bounds.md; EXACT-BOUNDS 3 (v), (vii)). Where
 * players' means differ they are about the mean weighted by who came.
 *
 * With two aggregators a release is a round: the total of so many players, each in it once, with
 * the noise of both (HELPER 2.6). Their number is fixed beforehand, so what a bound counts is, too.
 */
TACIT_NO_GAPS
struct tacit_vote_pool_config {
    uint64_t run_id;
    uint32_t player_count;
    uint32_t arm_count;
    double accuracy;      /* epsilon of the answer, in (0, 1] */
    double failure;       /* delta, in (0, 1) */
    double epsilon;       /* per reward; INFINITY: no noise */
    uint64_t block;       /* pulls of each arm, of each player; of a release 1 .. 2^32 */
    double growth;        /* of the number of releases from look to look, in (1, 4] */
    uint32_t together;    /* players of a round; 0: one aggregator, a release is one player's */
    uint32_t floor_milli; /* with them (tacit/bounds.h) */
};
TACIT_NO_GAPS_END

#define TACIT_VOTE_BLOCK_MAX (UINT64_C(1) << 32)
#define TACIT_VOTE_POOL_GROWTH 1.25 /* what runs use; a hub's pool has no less */

struct tacit_vote_pool; /* opaque, relocatable */

struct tacit_vote_pool_view {
    uint64_t release_count; /* taken */
    uint64_t look_count;    /* e so far */
    uint64_t next_look;     /* releases at the next look */
    const uint64_t *active; /* K bits; never empty */
    uint32_t active_count;
    const int64_t *sums; /* K: of the releases so far; of arms that are out, as they stood */
};

/* The block with the fewest samples, roughly: K b (c + N/2), where c blocks of b pulls an arm
 * bring the radius down to `accuracy`. Looks at public numbers only; config->block is ignored.
 * Cost: about 33 x 56 radii. */
uint64_t tacit_vote_pool_block(const struct tacit_vote_pool_config *config);

/* What a bound counts after so many releases (its steps are 0), and their noise. Requires: releases
 * >= 1. Cost: O(1). */
struct tacit_bounds_sum tacit_vote_pool_sum(const struct tacit_vote_pool_config *config,
                                            uint64_t releases, struct tacit_bounds_noise *noise);

/* Smallest number of releases whose radius at the level of the first look is at most `width`, no
 * more than 2^28. Cost: about 56 radii. */
uint64_t tacit_vote_pool_until(const struct tacit_vote_pool_config *config, double width);

/* Bytes of a pool: O(K). Errors: 0 if the configuration is not valid. */
size_t tacit_vote_pool_size(const struct tacit_vote_pool_config *config);

/* Errors: TACIT_INVALID, *pool untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_vote_pool_init(struct tacit_vote_pool *pool,
                                       const struct tacit_vote_pool_config *config);

/* Can these bytes be a pool of this configuration? Errors: TACIT_MALFORMED. */
enum tacit_status tacit_vote_pool_check(const struct tacit_vote_pool *pool, size_t size,
                                        const struct tacit_vote_pool_config *config);

/* Takes a release of a player of the run, each once, and looks if it is time. Any after 2^28 - 1 of
 * them says nothing: the pool is closed then.
 * Errors: TACIT_MALFORMED: an arm that does not exist, an arm that is left has no sum, or a sum
 * that no player could reach. The pool is untouched. Cost: O(K); a look K bounds. */
enum tacit_status tacit_vote_pool_add(struct tacit_vote_pool *pool,
                                      struct tacit_vote_release release);

/* Shows a pool without changing it. Cost: O(1). */
void tacit_vote_pool_view(const struct tacit_vote_pool *pool, struct tacit_vote_pool_view *view);
#endif
