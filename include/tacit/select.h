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
#include "tacit/commit.h"
#include "tacit/core.h"
#include "tacit/helper.h"
#include "tacit/privacy.h"
#include "tacit/random.h"
#include "tacit/round.h"
#include "tacit/vector.h"

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

/* Configurations are compared as bytes: spares are zero. */
TACIT_NO_GAPS
struct tacit_select_budget {
    enum tacit_select_budget_kind kind;
    uint32_t participations; /* UNIFORM, GIVEN: so many, >= 1 */
    double total;        /* epsilon-bar, > 0; INFINITY: nothing is protected and nothing spent */
    double eta;          /* GEOMETRIC: in (0, TACIT_SELECT_ETA_MAX], taken to 1e-9 */
    const double *given; /* GIVEN: epsilon of each, > 0, adding up to at most total; copied */
    bool is_exact; /* integer nano-epsilon, never past the total, ends when too small; else the
                      real-valued series of the paper, which never ends when geometric */
    uint8_t spare[7];
};
TACIT_NO_GAPS_END

/* Two aggregators: noise of a user's own at this epsilon for all its rounds together (0: none) has
 * in each round the round's part of it (HELPER 1.1). Is it kept, whatever a round takes? Then it is
 * never at less than what the round itself takes, which fits into integers. */
bool tacit_select_floor_holds(uint64_t floor_nano, double total);
#define TACIT_SELECT_FLOOR_WORDS                                                                   \
    "what a user loses to both together, in all of its rounds; allowed: epsilon or more"

/* floor(2^63 e^-eta) for eta = eta_nano / 1e9, in integers only, so the same on every machine.
 * Requires: eta_nano <= 2e9. Tested by: tests/unit/select.c */
uint64_t tacit_select_decay(uint64_t eta_nano);

/* ---- State ----------------------------------------------------------------------------------- */

TACIT_NO_GAPS
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
TACIT_NO_GAPS_END

struct tacit_select; /* opaque, relocatable */

/* Bytes of a state: O(K). Errors: 0 if the configuration is not valid. */
size_t tacit_select_size(const struct tacit_select_config *config);

/* sizes: K data-set sizes |D_k|, from 1 to 2^32; NULL: all alike. Errors: TACIT_INVALID, *select
 * untouched. Requires: 8-byte aligned memory of …_size bytes. Cost: O(K). */
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
void tacit_select_view(const struct tacit_select *select, struct tacit_select_view *view);

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
    bool keep_walk;       /* where the walk ends: the V_j of Theorem 4 */
    uint32_t iterations;  /* >= 1 */
    double kappa;         /* > 0; divides C (Sec. V-D) */
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
 * Requires: index < …_neighbour_count. Cost: O(K); O(K log K). */
uint64_t tacit_select_neighbour_count(const struct tacit_select_scores *scores, uint32_t user_count,
                                      const uint32_t *users, uint32_t m);
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

/* What a user says that it has spent in all, in nano-epsilon: it keeps the books, not the selector
 * (READINGS P5; SELECT.md 1). Its next price is the one that follows in its list. Less than what is
 * known already changes nothing; more than the total counts as the total. Requires: an exact
 * budget, or nothing is protected.
 * Cost: O(participations that are new; GIVEN: the list). */
void tacit_select_report(struct tacit_select *select, uint32_t user, uint64_t spent_nano);

/* As tacit_select_observe where the users report what they have spent: nobody pays here, and nobody
 * is refused for its budget. spent_nano: in all, of each user of the round; NULL: they have
 * reported it. */
enum tacit_status tacit_select_observe_reported(struct tacit_select *select, const uint32_t *users,
                                                uint32_t count, const double *latencies,
                                                double latency_max, const uint64_t *spent_nano);

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

/* ---- A training federation: messages --------------------------------------------------------- */

/* A hub has a model of d numbers and asks a set of sites for updates of it, round after round. A
 * site trains on what it has, releases the difference soundly (tacit/vector.h), and its release
 * leaves after its commitment was granted (tacit/commit.h). Vectors go in pieces; whoever receives
 * them asks for those that are missing. Both roles are pure cores, as in tacit/core.h: a state is
 * one relocatable block, to restore it is to copy its bytes. */

#define TACIT_SELECT_DIMENSION_MAX TACIT_VECTOR_DIMENSION_MAX
#define TACIT_SELECT_ROUNDS_MAX 1000000u
#define TACIT_SELECT_PIECE_BYTES 49152u
#define TACIT_SELECT_MODEL_NUMBERS (TACIT_SELECT_PIECE_BYTES / 4u)  /* float32 in a piece */
#define TACIT_SELECT_UPDATE_NUMBERS (TACIT_SELECT_PIECE_BYTES / 8u) /* int64 in a piece */
#define TACIT_SELECT_PIECES_AT_ONCE 8u /* on their way to one receiver */
#define TACIT_SELECT_MESSAGES_MAX 10u  /* of one step */

enum tacit_select_message_kind {
    TACIT_SELECT_HELLO = 1, /* site: the last round it knows, its head, what it has spent */
    TACIT_SELECT_ORDER,     /* hub: the round, who trains, the model's digests */
    TACIT_SELECT_REQUEST,   /* both: "send me these pieces" */
    TACIT_SELECT_PIECE,     /* both */
    TACIT_SELECT_COMMIT,    /* site: "may my update of this round leave?" */
    TACIT_SELECT_GRANT,     /* hub: it may */
    TACIT_SELECT_REFUSAL,   /* hub: another one was granted */
    TACIT_SELECT_UPDATE     /* site: what opens the commitment; the pieces are asked for */
};

enum tacit_select_vector { TACIT_SELECT_MODEL, TACIT_SELECT_STEPS };

/* Members beyond the head (tacit/round.h) are of the kinds that are named. ORDER: seen is the last
 * round whose update of it is here; the last one says the run's model. UPDATE: a report. */
struct tacit_select_message {
    enum tacit_select_message_kind kind;
    uint32_t digest_count;
    union {
        struct tacit_round_message head;
        struct {
            TACIT_ROUND_MEMBERS(round)
        };
    };
    const uint64_t *set;   /* ORDER: A bits: who trains; nobody, where the round is over */
    uint64_t epsilon_nano; /* ORDER: of each of two aggregators' noise; 0: there is one */
    /* ORDER, UPDATE: SHA-256 of each piece */
    const uint8_t *digests;
    /* HELLO, UPDATE */
    uint64_t spent_nano; /* in all, the update included */
    /* UPDATE */
    uint8_t model[TACIT_SHA256_BYTES]; /* which it started from: the digest of the digests */
    uint32_t participation;            /* i, from 1, by the site's own durable counter */
    uint64_t price_nano;               /* epsilon_i */
    /* .. with two aggregators: what the commitment opens to; pieces are of its masked words */
    const struct tacit_helper_release *masked;
    /* REQUEST, PIECE */
    enum tacit_select_vector vector;
    uint32_t first; /* REQUEST: bit i of mask is piece first + i; PIECE: its index */
    uint32_t mask;
    const float *model_piece; /* PIECE: one of the two, number_count of them */
    const int64_t *step_piece;
    uint32_t number_count;
};

/* Pieces of a vector of `dimension` numbers. */
uint32_t tacit_select_piece_count(uint32_t dimension, enum tacit_select_vector vector);

/* Numbers in one of them. Requires: index < …_piece_count. */
uint32_t tacit_select_piece_numbers(uint32_t dimension, enum tacit_select_vector vector,
                                    uint32_t index);

/* ---- Updates of both roles (the event is tacit_event) --------------------------------------- */

struct tacit_select_update {
    bool persist;
    struct tacit_select_message messages[TACIT_SELECT_MESSAGES_MAX]; /* in this order */
    uint32_t message_count;
    bool train;         /* site: train on the model now, for the round of the view */
    bool stop;          /* site: what is being trained is void */
    bool drawn;         /* site: the release of the view's draw was drawn in this step */
    uint32_t settled;   /* site: the release of this number needs nothing more; 0: none */
    bool has_model;     /* the run is over and its model is complete */
    bool round_is_over; /* hub */
    uint32_t happened;  /* hub of two aggregators: a set, as in tacit/core.h; COUNTED_REPORT: .. */
    struct tacit_round_message report;         /* .. as if it had come at once, .. */
    const struct tacit_helper_release *masked; /* .. what opens it, .. */
    const int64_t *words;                      /* .. and d of them; valid until the next step */
    uint64_t deadline_us;
};

/* ---- Site ------------------------------------------------------------------------------------ */

TACIT_NO_GAPS
struct tacit_select_site_config {
    uint64_t run_id;
    uint32_t agent;
    uint32_t agent_count;
    uint32_t dimension;                /* d */
    uint32_t round_count;              /* of the run */
    double clip;                       /* C: L1 norm of an update. Public */
    struct tacit_select_budget budget; /* exact; GEOMETRIC or UNIFORM. The site's own */
    uint8_t domain[TACIT_SHA256_BYTES];
    uint64_t resend_after_us;
    double floor_times; /* two aggregators: its own noise is of so many times the round's epsilon;
                           0: it has none */
    bool has_helper;    /* .. and it masks */
    uint8_t spare[7];
};
TACIT_NO_GAPS_END

struct tacit_select_site; /* opaque, relocatable */

/* Errors: 0 if the configuration is not valid. Cost, as of the memory: O(d). */
size_t tacit_select_site_size(const struct tacit_select_site_config *config);
/* Errors: TACIT_INVALID. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_select_site_init(struct tacit_select_site *site,
                                         const struct tacit_select_site_config *config);
/* Can these bytes be a state of this configuration? Errors: TACIT_MALFORMED. */
enum tacit_status tacit_select_site_check(const struct tacit_select_site *site, size_t size,
                                          const struct tacit_select_site_config *config);
/* Fills *update, whatever the status. START with a later term: a draw that no grant covers is void,
 * what was spent stays; a release that was granted is said again if it is asked for again. Errors:
 * of RECEIVE TACIT_MALFORMED, TACIT_STRANGER, TACIT_UNEXPECTED, and nothing changed; late and
 * repeated answers are TACIT_OK; TACIT_ENTROPY: nothing was drawn, and the training is asked for
 * again. Cost: O(d) at most. */
enum tacit_status tacit_select_site_step(struct tacit_select_site *site,
                                         const struct tacit_event *event,
                                         const struct tacit_entropy *entropy,
                                         struct tacit_select_update *update);

enum tacit_select_site_phase {
    TACIT_SELECT_IDLE,
    TACIT_SELECT_FETCHING,
    TACIT_SELECT_TRAINING,
    TACIT_SELECT_COMMITTED, /* drawn; waits for its grant, and nothing uses it */
    TACIT_SELECT_RELEASED,  /* it may leave */
    TACIT_SELECT_FINISHED
};

struct tacit_select_site_view {
    enum tacit_select_site_phase phase;
    uint32_t round;
    const float *model; /* d; complete from TRAINING on */
    uint64_t term;
    uint32_t draw_round;    /* of the newest draw; 0: none */
    uint32_t release_round; /* of the newest draw that was granted */
    uint32_t draw_number;   /* the same, counted on over terms: in the first, their rounds */
    uint32_t release_number;
    uint32_t participation;
    uint64_t price_nano; /* of the newest draw */
    uint64_t spent_nano;
    bool is_blocked;   /* another state of this site got the grant, .. */
    bool is_forgotten; /* .. or the hub knows nothing of one that it gave */
    bool is_exhausted; /* no participation can be paid any more */
    uint8_t head[TACIT_SHA256_BYTES];
};
/* Shows a state; pointers are valid until its next change. Cost: O(1). */
void tacit_select_site_view(const struct tacit_select_site *site,
                            struct tacit_select_site_view *view);

/* The newest draw as it leaves. Requires: view.draw_round > 0; pointers as of the state. */
struct tacit_select_message tacit_select_site_release(const struct tacit_select_site *site);

/* ---- Hub ------------------------------------------------------------------------------------- */

TACIT_NO_GAPS
struct tacit_select_hub_config {
    uint64_t run_id;
    struct tacit_select_config select; /* user_count is A; budget: what sites are thought to have */
    enum tacit_selector selector;      /* not GENIE, FASTEST: nobody knows the true means */
    uint32_t dimension;
    struct tacit_select_annealing annealing;
    uint32_t round_count;
    uint32_t quorum; /* no round begins with fewer sites */
    uint64_t round_timeout_us;
    double clip;
    uint8_t domain[TACIT_SHA256_BYTES];
    bool has_helper; /* two aggregators: a round rests until its totals come; quorum >= 2 */
    uint8_t spare[7];
    /* Of the beginning alone, and kept in the state: public |D_k|, the weights of the average
     * (NULL: all alike, as two aggregators have it whatever they are); and the first model, of d
     * numbers (NULL: zeros). */
    const uint64_t *sizes;
    const float *initial;
};
TACIT_NO_GAPS_END

struct tacit_select_hub; /* opaque, relocatable */

/* Errors: 0 if the configuration is not valid. Cost, as of the memory: O(A + m d). */
size_t tacit_select_hub_size(const struct tacit_select_hub_config *config);
/* Errors: TACIT_INVALID. */
enum tacit_status tacit_select_hub_init(struct tacit_select_hub *hub,
                                        const struct tacit_select_hub_config *config);
/* Errors: TACIT_MALFORMED. */
enum tacit_status tacit_select_hub_check(const struct tacit_select_hub *hub, size_t size,
                                         const struct tacit_select_hub_config *config);
/* As of a site. Errors also: TACIT_FORKED: the site speaks from two states, and is flagged;
 * TACIT_ROLLBACK: it speaks of a round that has not begun here, and nothing changed; or it follows
 * a grant that this state knows nothing of: it is marked as ahead, which blames nobody, and hears a
 * REFUSAL that says so; TACIT_ENTROPY: no set was chosen, a later event tries again. */
enum tacit_status tacit_select_hub_step(struct tacit_select_hub *hub,
                                        const struct tacit_event *event,
                                        const struct tacit_entropy *entropy,
                                        struct tacit_select_update *update);

struct tacit_select_hub_view {
    TACIT_ROUND_HUB_VIEW(round)
    uint32_t round_count; /* that are over */
    bool is_open;         /* else it waits for sites, or is over */
    bool is_exhausted;    /* .. because nobody has budget left, .. */
    bool is_ended;        /* .. or by the operator's word */
    bool lacks_model;     /* it was built again, and asks sites for what they fetched */
    bool awaits_totals;   /* two aggregators: the round has its updates, .. */
    uint64_t
        epsilon_nano; /* .. which are noised at this: the least that one of its sites had next */
    const uint8_t *model_name; /* what it orders to train on: the digest of the digests */
    uint32_t asked_count;
    const uint64_t *asked;      /* A */
    const uint64_t *spent_nano; /* A, as reported */
    const float *model;         /* d: of the present round */
    const double *latencies;    /* asked_count, ascending by site: seconds; NAN: none yet */
    struct tacit_select_view select;
};

/* Two aggregators: the totals over so many sites, d of them, are the round's step; sites 0: it is
 * void, and the model stays. Who is chosen next is the next step's to draw, which is due at once.
 * Requires: view.awaits_totals. Cost: O(m d). */
void tacit_select_hub_close(struct tacit_select_hub *hub, uint32_t sites, const int64_t *totals,
                            uint64_t now_us, struct tacit_select_update *update);

/* The operator's word: the round that stands closes with the updates that are here (of two
 * aggregators: with none), and none follows. *update as of a step; said again, it changes nothing.
 * Errors: TACIT_UNEXPECTED: no round has begun, the run is over by itself, or its model is lost;
 * nothing changed. Cost: O(m d). */
enum tacit_status tacit_select_hub_end(struct tacit_select_hub *hub, uint64_t now_us,
                                       struct tacit_select_update *update);

/* What a hub that lost its state is built again from: all but the model, which is there by the
 * digests of its pieces. In the term that the next START has to begin it asks for it whoever
 * speaks: who has fetched it sends it; until then no round goes on. Unless config->initial is that
 * model. Else as tacit_elim_hub_snapshot and tacit_elim_hub_restore. */
size_t tacit_select_hub_snapshot(const struct tacit_select_hub *hub, uint8_t *bytes, size_t room);
enum tacit_status tacit_select_hub_restore(struct tacit_select_hub *hub,
                                           const struct tacit_select_hub_config *config,
                                           const uint8_t *bytes, size_t size);

/* As of a site. */
void tacit_select_hub_view(const struct tacit_select_hub *hub, struct tacit_select_hub_view *view);
#endif
