/* Federated generalised linear bandits (Li, Wang: "Communication Efficient Federated Learning for
 * Generalized Linear Bandits"): FedGLB-UCB, its variants 1 to 3 and the baselines, as cores that
 * exchange messages. Clients decide between contexts, learn online between updates and share a
 * model; gradients go up, iterates come down. Not private: a gradient of one sample reveals it.
 *
 * Pure functions of (state, event, entropy). The caller owns the memory of a state (..._size), one
 * relocatable block without pointers. The driver carries an update out in this order: persist,
 * send, set the timer.
 *
 * N clients, T slots, d dimension, K arms, n observations of all clients at an update, J gradient
 * rounds of it. Vectors and matrices as in tacit/linalg.h. src/proto/glm/NOTES.md maps the paper's
 * lines to functions. */
#ifndef TACIT_GLM_H
#define TACIT_GLM_H
#include "tacit/base.h"
#include "tacit/core.h"
#include "tacit/linalg.h"
#include "tacit/random.h"

#define TACIT_GLM_ARMS_MAX 1024u
#define TACIT_GLM_ROUNDS_MAX 10000u /* of one update (READINGS P4.5) */
#define TACIT_GLM_PAUSE_US_MAX (UINT64_C(1) << 56)

/* ---- Model: what both sides must agree on ------------------------------------------------------
 */

enum tacit_glm_variant {
    TACIT_GLM_FEDGLB,    /* Alg. 1: event trigger, local ONS, global AGD */
    TACIT_GLM_V1,        /* Alg. 4: schedule, no local update, global AGD */
    TACIT_GLM_V2,        /* Alg. 5: schedule, local ONS, global AGD */
    TACIT_GLM_V3,        /* Alg. 6: schedule, local ONS, one global ONS step */
    TACIT_GLM_ONE_UCB,   /* UCB-GLM (Li et al. 2017) on everybody's data, by federated Newton */
    TACIT_GLM_N_UCB,     /* UCB-GLM, each client alone */
    TACIT_GLM_N_ONS,     /* GLOC (Jun et al. 2017), each client alone */
    TACIT_GLM_DISLINUCB, /* Wang et al. 2019: the linear model */
    TACIT_GLM_RANDOM
};

enum tacit_glm_exploration {
    TACIT_GLM_THEORY,    /* the radius as printed */
    TACIT_GLM_PRACTICAL, /* what the authors ran: .1 of it for fedglb, v2, v3, n-ons */
    TACIT_GLM_CONSTANT,  /* `alpha` */
    TACIT_GLM_PROOF /* v3: the radius that its proof gives, R_max^4 where Lemma 14 prints R_max^2 */
};

/* What time is in the event trigger. */
enum tacit_glm_clock {
    TACIT_GLM_SLOTS, /* slots, alike for all clients (the paper's t) */
    TACIT_GLM_COUNTS /* each client's own number of rewards: where nobody has common slots, and what
                        the authors count */
};

/* How AGD steps. */
enum tacit_glm_descent {
    TACIT_GLM_PRINTED, /* Alg. 3; the step is 1/(k_mu max|x|^2 + lambda/n) (READINGS P4.5) */
    TACIT_GLM_AUTHORS  /* what they ran: .1/(k_mu + lambda/n), and v_{j+1} follows from v_{j-1} */
};

/* Where AGD begins. */
enum tacit_glm_start {
    TACIT_GLM_START_LAST, /* at the last model (Alg. 1 l. 13) */
    TACIT_GLM_START_ZERO  /* at 0: what the authors ran on synthetic data */
};

TACIT_NO_GAPS
struct tacit_glm_model {
    uint64_t run_id;
    enum tacit_glm_variant variant;
    enum tacit_glm_exploration exploration;
    enum tacit_glm_clock clock;
    enum tacit_linalg_link link;
    uint32_t client_count;
    uint32_t dimension;
    uint64_t horizon;     /* samples that one client may hold */
    uint64_t period;      /* observations between scheduled updates; event-triggered: unused */
    double threshold;     /* D */
    double lambda;        /* regulariser */
    double delta;         /* failure probability of the radius */
    double norm_bound;    /* S */
    double context_bound; /* largest norm of a context */
    double noise_bound;   /* R_max */
    double lipschitz;     /* k_mu */
    double curvature;     /* c_mu */
    double alpha;         /* of constant exploration */
    double suboptimality; /* eps_t; 0: 1/n^2 (Corollary 3) */
    double explore;       /* probability of a uniform arm instead */
    enum tacit_glm_descent descent;
    enum tacit_glm_start start;
    uint32_t rounds; /* AGD: an update ends after so many; 0: 10,000 are an error */
    uint32_t spare;
};
TACIT_NO_GAPS_END

/* The model of the authors' driver (READINGS P4.1): lambda 2, delta .01, S 1, practical. Ensures:
 * a valid model if the counts are within limits; threshold 1, period N. */
struct tacit_glm_model tacit_glm_model_init(enum tacit_glm_variant variant,
                                            enum tacit_linalg_link link, uint32_t client_count,
                                            uint32_t dimension, uint64_t horizon);

/* Sets k_mu, c_mu and R_max that belong to the link on [-S, S]. Logistic: 1/4, mu'(S), 1/2;
 * probit: phi(0), phi(S), 1/2; Poisson: e^S, e^-S, 6 e^S; identity: 1, 1, 1/2. */
void tacit_glm_link_constants(struct tacit_glm_model *model);

/* Observations between scheduled updates for B of them: N floor(T/B), or floor(NT/B) if B > T
 * (READINGS P4.9). Requires: B > 0. Ensures: >= 1. */
uint64_t tacit_glm_period(uint32_t client_count, uint64_t horizon, uint64_t updates);

/* May a model be run? */
bool tacit_glm_model_is_valid(const struct tacit_glm_model *model);

/* The link with the cap at S. */
struct tacit_linalg_mean tacit_glm_mean(const struct tacit_glm_model *model);

/* At most so many updates (App. D): ceil(T/a) + ceil(R a/D), a = sqrt(D T/R), R = d ln(1 + N T
 * c_mu/(lambda d)); of a schedule: floor(NT/period). */
double tacit_glm_updates_bound(const struct tacit_glm_model *model);

/* Eq. (3): rounds that suffice for an update with n observations, |theta - optimum| <= distance. */
double tacit_glm_rounds_bound(const struct tacit_glm_model *model, uint64_t n, double distance);

/* eps_t, and the norm of the gradient of the averaged objective that proves it:
 * sqrt(2 lambda eps/n). */
double tacit_glm_suboptimality(const struct tacit_glm_model *model, uint64_t n);
double tacit_glm_gradient_norm(const struct tacit_glm_model *model, uint64_t n);

/* Lemma 9: |theta - theta*| in the norm of A, after an update with n observations. */
double tacit_glm_radius(const struct tacit_glm_model *model, uint64_t n);

/* ---- Messages ----------------------------------------------------------------------------------
 */

enum tacit_glm_message_kind {
    TACIT_GLM_HELLO,    /* client -> hub: "I have commit `sync`; what now?" */
    TACIT_GLM_TRIGGER,  /* client -> hub: an update is due, from commit `sync` on */
    TACIT_GLM_FREEZE,   /* hub -> clients: freeze your samples for this sync, say A_i */
    TACIT_GLM_FROZEN,   /* client -> hub: n_i and the cumulative A_i */
    TACIT_GLM_ITERATE,  /* hub -> clients: the gradient at this point, please (Alg. 3 l. 4) */
    TACIT_GLM_GRADIENT, /* client -> hub: over the frozen samples */
    TACIT_GLM_COMMIT    /* hub -> clients: the new model (Alg. 1 l. 14) */
};

/* A plain struct; its arrays belong to the sender's state and stay valid until its next step. */
struct tacit_glm_message {
    enum tacit_glm_message_kind kind;
    uint32_t from; /* client, or TACIT_HUB */
    uint32_t to;   /* client, TACIT_HUB or TACIT_EVERYONE */
    uint32_t sync; /* HELLO, TRIGGER: last commit known; else the number of this sync, from 1 */
    uint64_t run_id;
    uint32_t attempt;             /* FREEZE to GRADIENT, from 1 */
    uint32_t round;               /* ITERATE, GRADIENT: j, from 1; COMMIT: J */
    uint64_t digest;              /* ITERATE, GRADIENT: of the iterate */
    uint64_t slot;                /* TRIGGER, COMMIT: t of the update */
    uint64_t count;               /* FROZEN: n_i; COMMIT: n */
    double squares;               /* COMMIT of v3: squared predictions up to now */
    double regret;                /* COMMIT of v3: squared gradient norms up to now (Lemma 12) */
    const double *vector;         /* ITERATE, COMMIT: theta; GRADIENT: of the sum of losses */
    const double *matrix;         /* FROZEN: A_i; COMMIT: A; GRADIENT of one-ucb: Hessian */
    const double *target;         /* COMMIT: b */
    const double *steps;          /* COMMIT of v3: A of the online Newton steps */
    const uint64_t *participants; /* COMMIT: whose data are in it, TACIT_BITS_WORDS(N) */
    /* COMMIT within one process, else NULL: A^-1 and log det(I + sum of xx') as the receiver would
     * compute them. Never on a wire. */
    const double *inverse;
    double log_det;
};

/* ---- Events and updates ------------------------------------------------------------------------
 */

/* What a decision brought: the chosen context (d numbers) and its reward. */
struct tacit_glm_reward {
    const double *context;
    double value;
    uint64_t slot; /* t, from 1; COUNTS: ignored */
    /* Number of this observation among those of all clients, from 1, for a schedule; 0: (t - 1) N +
     * client + 1, everybody once a slot and in order. */
    uint64_t order;
};

struct tacit_glm_event {
    uint64_t now_us;             /* the driver's clock; never decreases, but with a START */
    enum tacit_event_kind kind;  /* EXPLOITED never */
    enum tacit_linalg_path path; /* of the machine that runs this step; nothing depends on it */
    union {
        struct tacit_offer offer;
        struct tacit_glm_reward reward;
        const struct tacit_glm_message *message;
    } as;
};

struct tacit_glm_update {
    bool persist;
    bool send;
    bool decided;      /* OFFER: arm and probability are set */
    uint32_t happened; /* of a hub: TACIT_ENDED (an update did not converge), TACIT_CLOSED_ROUND
                          (one is done), or .. */
#define TACIT_GLM_WENT_WITHOUT 64u /* some did not answer in time: it goes on, or is given up */
    uint32_t arm;                  /* lowest index within 1e-9 of the best score */
    double probability;            /* with which this arm was chosen */
    uint64_t deadline_us;
    struct tacit_glm_message message; /* if send */
};

/* ---- Client ------------------------------------------------------------------------------------
 */

TACIT_NO_GAPS
struct tacit_glm_client_config {
    struct tacit_glm_model model;
    uint32_t client_id;
    uint32_t spare;
    uint64_t resend_after_us; /* > 0; doubles with every unanswered message, up to 64 times this */
};
TACIT_NO_GAPS_END

struct tacit_glm_client; /* opaque, relocatable */

struct tacit_glm_client_view {
    uint32_t sync; /* of the last commit taken in; 0: none */
    bool frozen;   /* a sync beyond it is under way */
    bool triggered;
    uint64_t sample_count;
    uint64_t included_count; /* of these are in the committed model */
    uint64_t model_count;    /* n of the last commit */
    uint32_t anchor_round;   /* of the update under way, about whose iterate gradients are expanded;
                                0: none */
    bool is_near;            /* the last gradient came from that expansion */
    double alpha;            /* of the next decision, scaled */
    double log_det;          /* log det A_{t,i}/det A_tlast */
    double trigger;          /* left side of Eq. (4) at the last reward */
    const double *theta;     /* of the online steps */
    const double *estimate;  /* centre of the ellipsoid */
    const double *inverse;   /* of its matrix */
};

/* Bytes of a state: O(d^2 + T d). Errors: 0 if the configuration is not valid. */
size_t tacit_glm_client_size(const struct tacit_glm_client_config *config);

/* Errors: TACIT_INVALID, *client untouched. Requires: 8-byte aligned memory of ..._size bytes. */
enum tacit_status tacit_glm_client_init(struct tacit_glm_client *client,
                                        const struct tacit_glm_client_config *config);

/* Are these bytes, put back from where they were persisted, a state of this configuration?
 * Errors: TACIT_MALFORMED. */
enum tacit_status tacit_glm_client_check(const struct tacit_glm_client *client, size_t size,
                                         const struct tacit_glm_client_config *config);

/* One step. OFFER: TACIT_INVALID for contexts that are not finite, too long or of another
 * dimension. REWARD: the same, and when T samples are held. Late and repeated messages are normal:
 * TACIT_OK, nothing changes. Others that do not fit are refused with a status and the state is
 * unchanged, byte for byte. TACIT_ROLLBACK: a commit names data that this state has not frozen: it
 * is an old copy. entropy is needed where `explore` > 0 and by TACIT_GLM_RANDOM.
 * Cost: OFFER O(K d^2), REWARD O(d^2), O(d^3) where the ball is left; ITERATE O(n_i d); N_UCB:
 * REWARD O(n_i d^2). */
enum tacit_status tacit_glm_client_step(struct tacit_glm_client *client,
                                        const struct tacit_glm_event *event,
                                        const struct tacit_entropy *entropy,
                                        struct tacit_glm_update *update);

/* Shows a client's state without changing it. Cost: O(1). */
void tacit_glm_client_view(const struct tacit_glm_client *client,
                           struct tacit_glm_client_view *view);

/* The rule of the next decision: arms that it does not take need not be offered. False: all must
 * be, since it explores. */
bool tacit_glm_client_rule(const struct tacit_glm_client *client, struct tacit_linalg_rule *rule);

/* ---- Hub ---------------------------------------------------------------------------------------
 */

TACIT_NO_GAPS
struct tacit_glm_hub_config {
    struct tacit_glm_model model;
    uint32_t quorum; /* participants that an update needs; 0: all. v3: all */
    uint32_t spare;
    uint64_t resend_after_us; /* > 0: pause after which a request is said again; doubles with
                               * every one that nobody answers, up to 64 times this */
    uint64_t deadline_us;     /* of each answer; 0: none */
    uint64_t backoff_us;      /* after an abandoned sync */
};
TACIT_NO_GAPS_END

struct tacit_glm_hub; /* opaque, relocatable */

struct tacit_glm_hub_view {
    uint32_t sync;    /* last commit */
    bool busy;        /* another one is under way */
    bool backs_off;   /* one was abandoned below the quorum; the next one waits */
    bool halted;      /* 10,000 rounds did not suffice */
    uint32_t attempt; /* of the present or the last sync */
    uint32_t round;
    uint64_t update_count;      /* B */
    uint64_t aggregation_count; /* J, summed over the updates */
    uint64_t abandoned_count;
    uint64_t model_count; /* n */
    const double *theta;  /* of the last commit */
    const double *matrix;
    const uint64_t *participants; /* of the present sync, or of the last one */
    const uint64_t *answered;     /* of these, who has answered, up to the end of a back-off; the
                                     others are missing */
};

/* Bytes of a state: O(N d^2). Errors: 0 if the configuration is not valid. */
size_t tacit_glm_hub_size(const struct tacit_glm_hub_config *config);

/* Errors: TACIT_INVALID, *hub untouched. Requires: 8-byte aligned memory of ..._size bytes. */
enum tacit_status tacit_glm_hub_init(struct tacit_glm_hub *hub,
                                     const struct tacit_glm_hub_config *config);

/* As tacit_glm_client_check. */
enum tacit_status tacit_glm_hub_check(const struct tacit_glm_hub *hub, size_t size,
                                      const struct tacit_glm_hub_config *config);

/* One step. A gradient with a number beyond 1e75, an A_i that is not positive semidefinite or whose
 * trace exceeds n_i times the squared bound of a context: TACIT_MALFORMED, state unchanged.
 * TACIT_INVALID: the update did not converge in 10,000 rounds, or what clients said makes no model;
 * the hub is halted. A restart in the midst of an update begins its next attempt from the last
 * commit and ends with the same bits. Cost: O(d^3) an A_i, O(d) a gradient, O(N d) a round,
 * O(N d^2) a commit. */
enum tacit_status tacit_glm_hub_step(struct tacit_glm_hub *hub, const struct tacit_glm_event *event,
                                     struct tacit_glm_update *update);

/* Shows the hub's state without changing it. Cost: O(1). */
void tacit_glm_hub_view(const struct tacit_glm_hub *hub, struct tacit_glm_hub_view *view);
#endif
