/* User selection (Peleg, Lang, Rini, Shlezinger, Cohen: "PAUSE: Low-Latency and Privacy-Aware
 * Active User Selection for Federated Learning"): which m of K users train in the next round, so
 * that latency, generalisation and leakage stay in balance. A pure function of what was observed:
 * no clock, I/O, allocation or globals. Not here: training, noise on updates.
 *
 * The caller owns the memory of a state (…_size), which is one relocatable block without pointers:
 * to save it is to copy its bytes. Scratch memory is the caller's too and holds nothing between
 * calls.
 *
 * K users, m users a round, t rounds from 1, T_k rounds in which user k took part. Indices are
 * 0-based. src/proto/select/NOTES.md maps the paper's lines to functions. */
#ifndef TACIT_SELECT_H
#define TACIT_SELECT_H
#include "tacit/base.h"
#include "tacit/privacy.h"
#include "tacit/random.h"

#define TACIT_SELECT_USERS_MAX 16777216u
#define TACIT_SELECT_BUDGETS_MAX 4096u /* entries of a given sequence */
#define TACIT_SELECT_BRUTE_SETS_MAX UINT64_C(100000000)
#define TACIT_SELECT_BRUTE_USERS_MAX 64u /* in a set */
#define TACIT_SELECT_ETA_MAX 2.0

/* ---- Budgets: what the i-th participation of a user costs ------------------------------------ */

enum tacit_select_budget_kind {
    TACIT_SELECT_GEOMETRIC, /* total (e^eta - 1) e^(-eta i), i from 1: sums to total (Eq. 6) */
    TACIT_SELECT_UNIFORM,   /* total / participations each, then nothing */
    TACIT_SELECT_GIVEN      /* the caller's list, then nothing */
};

struct tacit_select_budget {
    enum tacit_select_budget_kind kind;
    bool is_exact; /* integer nano-epsilon, never past the total, ends when too small; else the
                      real-valued series of the paper, which never ends when geometric */
    double total;  /* epsilon-bar, > 0; INFINITY: nothing is protected and nothing spent */
    double eta;    /* GEOMETRIC: in (0, TACIT_SELECT_ETA_MAX], taken to 1e-9 */
    uint32_t participations; /* UNIFORM, GIVEN: so many, >= 1 */
    const double *given;     /* GIVEN: epsilon of each, > 0, adding up to at most total; copied */
};

/* floor(2^63 e^-eta) for eta = eta_nano / 1e9, in integers only, so the same on every machine.
 * Requires: eta_nano <= 2e9. Tested by: tests/unit/select.c */
uint64_t tacit_select_decay(uint64_t eta_nano);

/* ---- State ----------------------------------------------------------------------------------- */

struct tacit_select_config {
    uint32_t user_count;      /* K, 1 .. TACIT_SELECT_USERS_MAX */
    uint32_t users_per_round; /* m, 1 .. K */
    double alpha;             /* weight of generalisation, >= 0 */
    double beta;              /* exponent of Eq. (8), >= 1 */
    double gamma;             /* weight of privacy, >= 0 */
    double zeta;              /* factor on the empirical mean in Eq. (13), > 0; 1: as printed */
    double latency_min;       /* tau_min, > 0; shorter latencies count as this one */
    struct tacit_select_budget budget;
};

struct tacit_select; /* opaque, relocatable */

/* Bytes of a state: O(K). Errors: 0 if the configuration is not valid. */
size_t tacit_select_size(const struct tacit_select_config *config);

/* sizes: K data-set sizes |D_k| > 0; NULL: all alike. Errors: TACIT_INVALID, *select untouched.
 * Requires: 8-byte aligned memory of …_size bytes. Cost: O(K). */
enum tacit_status tacit_select_init(struct tacit_select *select,
                                    const struct tacit_select_config *config,
                                    const uint64_t *sizes);

/* Are these bytes a state of this configuration? Errors: TACIT_MALFORMED: another size, another
 * configuration, or a state that cannot be. Cost: O(K). */
enum tacit_status tacit_select_check(const struct tacit_select *select, size_t size,
                                     const struct tacit_select_config *config);

struct tacit_select_view {
    uint64_t round_count;   /* rounds that were observed; the next one is t = round_count + 1 */
    const uint32_t *counts; /* K: T_k */
    const double *means;    /* K: mean of tau_min/tau (Eq. 11); 0 before the first */
    const uint64_t *sizes;  /* K */
};

/* Shows a state; pointers are valid until its next change. Cost: O(1). */
void tacit_select_look(const struct tacit_select *select, struct tacit_select_view *view);

/* Epsilon that this user has spent. Cost: O(1). */
double tacit_select_spent(const struct tacit_select *select, uint32_t user);

/* The same in nano-epsilon. Requires: an exact budget. */
uint64_t tacit_select_spent_nano(const struct tacit_select *select, uint32_t user);

/* What this user's next participation will cost; 0: its budget is used up. INFINITY where nothing
 * is protected. Cost: O(1). */
double tacit_select_next_budget(const struct tacit_select *select, uint32_t user);

/* ---- Scores ---------------------------------------------------------------------------------- */

/* The four columns of K numbers that Eq. (14) of the next round is made of, in the caller's
 * memory. */
struct tacit_select_scores {
    double *ucb;            /* Eq. (13) at t - 1; INFINITY before the first participation */
    double *generalization; /* g, Eq. (8) at t - 1, with T/t = 0 at t = 1 */
    double *privacy;        /* p, Eq. (7) */
    double *weight;         /* (alpha g + gamma p) / m: what the user adds to Eq. (14) */
};

/* Cost: O(K). */
void tacit_select_score(const struct tacit_select *select,
                        const struct tacit_select_scores *scores);

/* ---- Which set? ------------------------------------------------------------------------------ */

/* Bytes of scratch for any of the functions below, for so many users: O(K). */
size_t tacit_select_scratch_size(uint32_t user_count);

/* min over the set of ucb + sum of weights (Eq. 14, 18), added in the order of `users`.
 * Requires: user_count > 0. */
double tacit_select_energy(const double *ucb, const double *weight, const uint32_t *users,
                           uint32_t user_count);

/* The best set of Eq. (14), exactly: whoever has the least ucb in it, the others are the m - 1
 * largest weights among those whose ucb is not less. Sorting by ucb and one heap find it in
 * O(K log K). Where fewer than m users have an infinite ucb nothing is special; where m or more
 * have, the m of them with the largest weights, lowest index first (READINGS P5.3).
 * users: m places, filled in ascending order. Returns the energy.
 * Requires: 1 <= m <= user_count; no NaN; scratch of …_scratch_size(user_count) bytes, 8-byte
 * aligned.
 * Reference: READINGS P5.7. Tested by: tests/oracle/select_oracle.c, tests/unit/select.c */
double tacit_select_best(const double *ucb, const double *weight, uint32_t user_count, uint32_t m,
                         void *scratch, uint32_t *users);

/* The same by trying every set, in lexicographic order; the first of equals. Errors:
 * TACIT_INVALID: more than TACIT_SELECT_BRUTE_SETS_MAX sets, or sets of more than
 * TACIT_SELECT_BRUTE_USERS_MAX; nothing is written. */
enum tacit_status tacit_select_brute(const double *ucb, const double *weight, uint32_t user_count,
                                     uint32_t m, uint32_t *users, double *energy);

struct tacit_select_annealing {
    bool is_vanilla;      /* neighbours by R1 alone, C = 2 alpha + gamma + 1; else Alg. 2 */
    bool sign_as_printed; /* exp(-(E(U) - E(V))/tau) accepts everything (READINGS P5.1) */
    bool keep_last;       /* Alg. 2 l. 7 read literally: the last improvement, not the best */
    double kappa;         /* > 0; divides C (Sec. V-D) */
    uint32_t iterations;  /* >= 1 */
};

/* Eq. (19) + omega = 1e-9: above the difference of the energies of any two sets. generalization and
 * privacy are the columns of the scores; infinite ucb are left out. Cost: O(K log K). */
double tacit_select_temperature(const struct tacit_select_config *config,
                                const struct tacit_select_scores *scores, uint32_t user_count,
                                uint32_t m, void *scratch);

/* Simulated annealing (Alg. 2, or Vanilla-SA). users: as tacit_select_best. Errors: TACIT_ENTROPY.
 * Requires: as tacit_select_best; fewer than m infinite ucb.
 * Cost: O(K log K + iterations K). */
enum tacit_status tacit_select_anneal(const struct tacit_select_config *config,
                                      const struct tacit_select_annealing *annealing,
                                      const struct tacit_select_scores *scores, uint32_t user_count,
                                      uint32_t m, const struct tacit_entropy *entropy,
                                      void *scratch, uint32_t *users, double *energy);

/* Number of neighbours of a set in the graph of Sec. IV-A, and the `index`-th of them: who goes,
 * who comes (READINGS P5.4). For tests and for who wants to walk the graph. `users` ascending.
 * Requires: index < …_neighbour_count. Cost: O(K log K). */
uint64_t tacit_select_neighbour_count(const struct tacit_select_scores *scores, uint32_t user_count,
                                      const uint32_t *users, uint32_t m, void *scratch);
void tacit_select_neighbour(const struct tacit_select_scores *scores, uint32_t user_count,
                            const uint32_t *users, uint32_t m, uint64_t index, void *scratch,
                            uint32_t *leaves, uint32_t *comes);

/* ---- A round --------------------------------------------------------------------------------- */

enum tacit_selector {
    TACIT_SELECTOR_EXACT,     /* Eq. (14) by tacit_select_best */
    TACIT_SELECTOR_BRUTE,     /* Eq. (14) by tacit_select_brute */
    TACIT_SELECTOR_ANNEALING, /* SA-PAUSE, Vanilla-SA */
    TACIT_SELECTOR_GENIE,     /* Eq. (10): the true mu in place of the ucb */
    TACIT_SELECTOR_RANDOM,    /* m uniformly, without replacement */
    TACIT_SELECTOR_CLUSTERED, /* Fraboni et al. 2021, Algorithm 1: one draw an urn, doubles fall
                                 together */
    TACIT_SELECTOR_FASTEST,   /* the m largest mu */
    TACIT_SELECTOR_ALL        /* everybody */
};

struct tacit_select_choice {
    enum tacit_selector selector;
    struct tacit_select_annealing annealing; /* ANNEALING */
    const double *expected;                  /* GENIE, FASTEST: K expectations of tau_min/tau */
    const uint64_t *available;               /* K bits; NULL: everybody is there */
};

/* Bytes of scratch for tacit_select_choose and tacit_select_explain: O(K). */
size_t tacit_select_choice_size(uint32_t user_count);

/* Chooses the users of the next round; the state does not change. users: room for m (ALL: K);
 * ascending. *count: fewer than m if fewer are there and have budget, 0 if nobody is. *energy: of
 * Eq. (14) with the selector's own first term (GENIE: mu), or NAN for selectors without one.
 * Errors: TACIT_ENTROPY, TACIT_INVALID (brute force over too many sets); outputs untouched.
 * Requires: 8-byte aligned scratch of tacit_select_choice_size(K) bytes. */
enum tacit_status tacit_select_choose(const struct tacit_select *select,
                                      const struct tacit_select_choice *choice,
                                      const struct tacit_entropy *entropy, void *scratch,
                                      uint32_t *users, uint32_t *count, double *energy);

/* What came of a round: the latency of each chosen user; NAN: no answer, which counts as the
 * deadline's `latency_max` (a latency, > 0). Each user pays its next budget. Ends the round.
 * Errors: TACIT_INVALID: users not ascending or out of range, or a latency that is not above 0;
 * TACIT_BUDGET: a user whose budget is used up; the state is untouched. Cost: O(count). */
enum tacit_status tacit_select_observe(struct tacit_select *select, const uint32_t *users,
                                       uint32_t count, const double *latencies, double latency_max);

/* Why this set? Its value and terms, and the set that would be best without its least dispensable
 * member. */
struct tacit_select_explanation {
    double energy;       /* Eq. (14) */
    double latency_term; /* least ucb of the set */
    double generalization_term;
    double privacy_term;
    uint32_t slowest; /* whose ucb is the least */
    bool has_runner_up;
    double runner_up_energy;   /* best energy of a set that is another one */
    uint32_t runner_up_leaves; /* this member goes */
    uint32_t runner_up_comes;  /* for this one, in the best exchange of one user */
};

/* Cost: O(m K). Requires: users ascending, distinct, count >= 1, scratch of
 * tacit_select_choice_size(K) bytes. */
void tacit_select_explain(const struct tacit_select *select, const uint32_t *users, uint32_t count,
                          void *scratch, struct tacit_select_explanation *explanation);
#endif
