/* Best arm: one learner looks for an arm within epsilon of the best one, with a chance of at most
 * `failure` to be wrong. Nine subroutines behind one interface (Feraud, Alami, Laroche:
 * "Decentralized Exploration in Multi-Armed Bandits", Def. 4), each usable alone; elimination by
 * votes runs one at every player. Pure: chance comes as entropy, all memory is the caller's, a
 * state is one relocatable block without pointers.
 *
 * K arms; epsilon the accuracy; rewards lie in [0, 1]; natural logs. The radii are the readings of
 * the project, P3; src/proto/vote/NOTES.md maps them to functions and tests. */
#ifndef TACIT_BEST_ARM_H
#define TACIT_BEST_ARM_H
#include "tacit/base.h"
#include "tacit/random.h"

/* What each does, n the pulls of an arm so far, t or tau the rounds:
 * naive       ceil(4/epsilon^2 ln(2K/failure)) pulls of each arm, then the best mean
 * median      phases with fresh samples, each keeps the upper half (Even-Dar et al. 2006)
 * successive  rounds by index; out if the gap is >= 2 sqrt(ln(5 K t^2/failure)/t)
 * ser3        shuffled rounds; out if gap + epsilon >= 2 sqrt(ln(4 K tau^2/failure)/(2 tau)), from
 *             tau >= ln(K/failure) on (Allesiardo et al. 2017)
 * ser4        ser3 that a host resets with some probability a sample
 * kl-racing   rounds; out if the upper index is below the best lower index plus epsilon
 * lucb        best mean and challenger alternately, until U - L < epsilon
 * kl-lucb     the same with Kullback-Leibler indices (Kaufmann, Kalyanakrishnan 2013)
 * ugapec      the wider of best candidate and challenger, until B < epsilon (Gabillon et al.) */
#define TACIT_BEST_ARM_LIST(X)                                                                     \
    X(TACIT_BEST_ARM_NAIVE, "naive")                                                               \
    X(TACIT_BEST_ARM_MEDIAN, "median")                                                             \
    X(TACIT_BEST_ARM_SUCCESSIVE, "successive")                                                     \
    X(TACIT_BEST_ARM_SER3, "ser3")                                                                 \
    X(TACIT_BEST_ARM_SER4, "ser4")                                                                 \
    X(TACIT_BEST_ARM_KL_RACING, "kl-racing")                                                       \
    X(TACIT_BEST_ARM_LUCB, "lucb")                                                                 \
    X(TACIT_BEST_ARM_KL_LUCB, "kl-lucb")                                                           \
    X(TACIT_BEST_ARM_UGAPEC, "ugapec")

enum tacit_best_arm_kind {
#define X(name, text) name,
    TACIT_BEST_ARM_LIST(X)
#undef X
};
#define TACIT_BEST_ARM_KINDS 9u

/* How the allowed failure is split over the times at which arms are dropped (Def. 4: f(l)). */
enum tacit_best_arm_split {
    TACIT_BEST_ARM_ONE_SHOT, /* f(1) = 1: everything at once, at the end */
    TACIT_BEST_ARM_HALVING,  /* f(l) = 2^-l */
    TACIT_BEST_ARM_RACING    /* f(l) = 1/K */
};

struct tacit_best_arm_config {
    enum tacit_best_arm_kind kind;
    uint32_t arm_count; /* K, 1 .. TACIT_ARMS_MAX; stays in the radii when arms leave */
    double accuracy;    /* epsilon, in (0, 1] */
    double failure;     /* READINGS P3 "conf", in (0, 1): eta with votes, delta/N alone */
};

struct tacit_best_arm; /* opaque, relocatable */

/* Pointers are valid until the next call that changes the state. */
struct tacit_best_arm_view {
    uint32_t arm_count;
    const uint64_t *remaining; /* K bits: arms still in the running; never empty */
    uint32_t remaining_count;
    const uint64_t *dropped; /* K bits: arms that the subroutine itself has eliminated */
    bool decided;            /* one arm remains */
    uint32_t answer;         /* that arm; before, the best mean of those remaining, lowest index */
    uint64_t sample_count;   /* rewards observed since the start or the last reset */
    uint64_t round_count;    /* t or tau: rounds closed (of the phase, with median) */
    uint32_t epoch_count;    /* l: times at which it dropped arms */
    uint64_t reset_count;
    double failure_spent;  /* failure * (f(1) + .. + f(l)) */
    const double *sums;    /* K: of the rewards in use */
    const uint64_t *pulls; /* K: their numbers */
};

/* The word of a kind in files. Ensures: never NULL, static storage. */
const char *tacit_best_arm_name(enum tacit_best_arm_kind kind);

/* How a kind splits its failure, and f(l) for l >= 1. */
enum tacit_best_arm_split tacit_best_arm_split_of(enum tacit_best_arm_kind kind);
double tacit_best_arm_share(enum tacit_best_arm_kind kind, uint32_t arm_count, uint32_t epoch);

/* Pulls of each arm in phase `phase` >= 1 of naive (phase 1 only) and median: ceil(4/epsilon^2
 * ln(2K/failure)); ceil(4/epsilon_l^2 ln(3/failure_l)), epsilon_l = epsilon/4 (3/4)^(l-1),
 * failure_l = failure 2^-l. Saturates at TACIT_HORIZON_MAX. Requires: one of the two kinds. */
uint64_t tacit_best_arm_quota(const struct tacit_best_arm_config *config, uint32_t phase);

/* The number that a kind compares with. successive, ser3, ser4: the half width alpha, so that an
 * arm goes when its gap (plus epsilon, ser3 and ser4) is >= 2 alpha. lucb: the half width of an arm
 * with `pulls` pulls in round t. ugapec: beta of an arm with `pulls` pulls after t samples.
 * kl-racing, kl-lucb: the level ln(405.5 K t^1.1/failure)/pulls of the divergence.
 * Requires: t >= 1; pulls >= 1, equal to t for the racing kinds; not naive, median. */
double tacit_best_arm_radius(const struct tacit_best_arm_config *config, uint64_t t,
                             uint64_t pulls);

/* The logarithm in that radius, which all arms share at a time t: radius = sqrt(log/(2 pulls)), for
 * kl-lucb log/pulls. Requires: lucb, kl-lucb or ugapec; t >= 1. */
double tacit_best_arm_log(const struct tacit_best_arm_config *config, uint64_t t);

/* Largest q in [mean, 1], and smallest q in [0, mean], with kl(mean, q) <= level: the indices of
 * the Kullback-Leibler kinds, by bisection to the last bit. Requires: 0 <= mean <= 1, level >= 0.
 * Cost: about 60 logarithms. */
double tacit_best_arm_kl_upper(double mean, double level);
double tacit_best_arm_kl_lower(double mean, double level);

/* Bytes of a state: O(K). Errors: 0 if the configuration is not valid. */
size_t tacit_best_arm_size(const struct tacit_best_arm_config *config);

/* Errors: TACIT_INVALID, *state untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_best_arm_init(struct tacit_best_arm *state,
                                      const struct tacit_best_arm_config *config);

/* *arm is what to play next; asked again before its reward was observed, the same arm. Chance is
 * used by ser3 and ser4 only, to draw the order of a round.
 * Errors: TACIT_ENTROPY, nothing changed. Cost: O(K/64). */
enum tacit_status tacit_best_arm_next(struct tacit_best_arm *state,
                                      const struct tacit_entropy *entropy, uint32_t *arm);

/* Takes in the reward of the arm that was to be played, and eliminates by the rule of the kind.
 * Errors: TACIT_UNEXPECTED: another arm, or none, was to be played; TACIT_INVALID: the reward is
 * not in [0, 1]. The state is untouched. Cost: O(1); O(K) where a round ends or with an adaptive
 * kind. */
enum tacit_status tacit_best_arm_observe(struct tacit_best_arm *state, uint32_t arm, double reward);

/* Shrinks the running to the arms in `allowed` (K bits, not empty): what others have voted out
 * leaves, statistics and radii stay (READINGS P3.6). A round whose open arms have all left is over,
 * without a test. If none of `allowed` is in the running, the subroutine starts afresh on
 * `allowed`: its statistics go, its dropped set stays. An arm that was to be played and left is to
 * be played no more. Cost: O(K/64); O(K) if it starts afresh. */
void tacit_best_arm_restrict(struct tacit_best_arm *state, const uint64_t *allowed);

/* Everything from the start (ser4; Allesiardo et al. 2017): all K arms, no statistics, nothing
 * dropped. Only the number of resets stays. Cost: O(K). */
void tacit_best_arm_reset(struct tacit_best_arm *state);

/* How often the subroutine has dropped arms, as in the view. Cost: O(1). */
uint64_t tacit_best_arm_epochs(const struct tacit_best_arm *state);

/* Is one arm left? Cost: O(1). */
bool tacit_best_arm_is_decided(const struct tacit_best_arm *state);

/* Shows a state without changing it. Cost: O(K). */
void tacit_best_arm_view(const struct tacit_best_arm *state, struct tacit_best_arm_view *view);
#endif
