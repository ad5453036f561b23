/* A federated linear bandit whose every interaction is protected: the sound mode of the generalised
 * linear bandits. The paper's own protocol (tacit/glm.h) cannot be made private by noise alone: its
 * trigger, its local models and its gradients are functions of raw data. This is another protocol
 * with the same roles (after Shariff, Sheffet 2018; Zhou, Chowdhury 2024): clients decide by what
 * was released and by the present contexts only, and say noised sums of x x' and x y once a batch.
 *
 * Protected is one interaction (the chosen context and its reward, replace-one), with (epsilon,
 * delta), against the hub and all others together; how many there are, and when, is public.
 *
 * Pure functions of a state, what comes and entropy. A client's state holds exact sums:
 * it lives as long as its process and is never written down (a copy would noise the same data
 * again). A client that starts anew is silent for the rest of the run.
 *
 * M clients, d dimension, P batches, n interactions of all clients. */
#ifndef TACIT_GLM_PRIVATE_H
#define TACIT_GLM_PRIVATE_H
#include "tacit/gaussian.h"
#include "tacit/glm.h"
#include "tacit/privacy.h"

#define TACIT_GLM_PRIVATE_GRID 1024.0              /* 2^10: steps of a context and a reward */
#define TACIT_GLM_PRIVATE_UNIT (UINT64_C(1) << 20) /* of their products */
#define TACIT_GLM_PRIVATE_BATCHES_MAX (UINT64_C(1) << 32)
/* Numbers of a release: the upper triangle of sum x x', row by row, then sum x y. */
#define TACIT_GLM_PRIVATE_SUMS(d) (TACIT_LINALG_PACKED(d) + (size_t)(d))
#define TACIT_GLM_PRIVATE_SUMS_MAX 2144u

/* ---- Rule: what both sides must agree on ------------------------------------------------------
 */

struct tacit_glm_private_model {
    uint64_t run_id;
    enum tacit_linalg_link link; /* identity or logistic */
    enum tacit_glm_exploration exploration;
    uint32_t client_count; /* M */
    uint32_t dimension;
    uint64_t batch_count; /* P: a batch is closed by a public clock, whatever is in it */
    double epsilon;
    double delta;       /* >= 1e-9 */
    double failure;     /* a: the radius holds with probability 1 - a (identity link) */
    double norm_bound;  /* S */
    double noise_bound; /* R */
    double alpha;       /* of constant exploration */
    double explore;     /* probability of a uniform arm instead */
};

/* What follows from a model. A plain value. */
struct tacit_glm_private_rule {
    struct tacit_glm_private_model model;
    bool is_flat;           /* P < L^2: every batch is released by itself */
    bool is_bare;           /* two aggregators, no floor: a client draws nothing */
    uint32_t level_count;   /* releases that one interaction is in: L = bit_length(P); flat: 1 */
    uint64_t node_count;    /* releases in a prefix, at most: L; flat: P */
    uint64_t rho_nano;      /* of the whole run, for one interaction */
    uint64_t node_rho_nano; /* of one release */
    struct tacit_gaussian noise; /* a client's own, of each number of a release, in 2^-20 */
    double sd;                   /* s: of each sum of all clients */
    double shift;                /* Y: V = sum of W~ + 2 Y I */
    double drift;                /* G: the noise of sum x y is no longer */
};

/* Errors: TACIT_INVALID (a number is out of its range, a link that has no such model, or a privacy
 * so strong that its noise does not fit into integers); *rule untouched. */
enum tacit_status tacit_glm_private_rule_init(struct tacit_glm_private_rule *rule,
                                              const struct tacit_glm_private_model *model);

/* Two aggregators (HELPER 2.6): what clients release is masked, and its total has the noise of two
 * clients of `rule` that have no data: s^2 = 2 L sigma^2. A client's own noise is that of the
 * epsilon `floor` at the same delta, or none (INFINITY). Errors: TACIT_INVALID (that noise does not
 * fit into integers), *rule untouched. */
enum tacit_status tacit_glm_private_rule_mask(struct tacit_glm_private_rule *rule, double floor);

/* Squared sensitivity of the sums to one interaction: 9/2, of rewards in [-1/2, 1/2] (logistic)
 * 81/32.
 */
double tacit_glm_private_sensitivity_square(enum tacit_linalg_link link);

/* Interactions per dimension, n/d, below which the noise outweighs what was learnt: Y. The smallest
 * number of clients for which T slots each reach it: of Y^2 their own noise is a part that grows
 * with them, that of two aggregators one that does not. */
uint64_t tacit_glm_private_clients_min(const struct tacit_glm_private_rule *rule, uint64_t horizon);

/* Slots of which the sums of all clients, and their noise, fit into 64 bits. */
uint64_t tacit_glm_private_horizon_max(const struct tacit_glm_private_rule *rule);

/* What is promised of an interaction: epsilon and delta in billionths, rounded up. */
struct tacit_promise_mechanism tacit_glm_private_promise(const struct tacit_glm_private_rule *rule);

/* Whether a run of T slots can learn anything. */
void tacit_glm_private_remark(const struct tacit_glm_private_rule *rule, uint64_t horizon,
                              struct tacit_text *text);

/* (x min(1, 1/|x|)) on the grid, toward zero. Ensures: the sum of squares is at most 2^20, exactly.
 * What is no finite number counts as 0. */
void tacit_glm_private_quantise(uint32_t dimension, const double *x, int64_t *steps);

/* The reward on the grid: clipped to [-1, 1]; logistic: to [0, 1], less 1/2. NaN counts as the
 * lowest. */
int64_t tacit_glm_private_reward_steps(enum tacit_linalg_link link, double y);

/* ---- The model ----------------------------------------------------------------------------------
 */

/* What can be learnt from the sums of all releases: V^-1, theta, the factor of the intervals.
 * Errors: TACIT_INVALID (V is not positive definite, with a chance of at most `failure`); what is
 * known stays. */
struct tacit_glm_private_estimate {
    double inverse[TACIT_LINALG_MATRIX_MAX];
    double theta[TACIT_LINALG_VECTOR_MAX];
    double alpha;  /* of decisions */
    double radius; /* |theta - theta*| in the norm of V */
};
enum tacit_status tacit_glm_private_learn(const struct tacit_glm_private_rule *rule,
                                          enum tacit_linalg_path path, const int64_t *sums,
                                          struct tacit_glm_private_estimate *estimate);

/* ---- Client -----------------------------------------------------------------------------------
 */

struct tacit_glm_private_client; /* opaque, relocatable */

struct tacit_glm_private_client_view {
    uint64_t batch; /* closed so far */
    uint64_t model_batch;
    double alpha;
    const double *theta;
    const double *inverse; /* of V */
    const int64_t *sums;   /* of the last release */
    uint64_t spent_rho_nano;
    uint64_t release_count;
};

/* Bytes: O(L d^2). */
size_t tacit_glm_private_client_size(const struct tacit_glm_private_rule *rule);

/* Requires: 8-byte aligned memory. */
void tacit_glm_private_client_init(struct tacit_glm_private_client *client,
                                   const struct tacit_glm_private_rule *rule);

/* *arm of those that are offered, with the chance with which it is taken. Errors: TACIT_INVALID for
 * contexts that are not finite or of another dimension (longer ones than 1 are clipped);
 * TACIT_ENTROPY. Cost: O(K d^2). */
enum tacit_status tacit_glm_private_client_offer(const struct tacit_glm_private_client *client,
                                                 enum tacit_linalg_path path,
                                                 const struct tacit_offer *offer,
                                                 const struct tacit_entropy *entropy, uint32_t *arm,
                                                 double *probability);

/* It goes into the open batch, whatever its slot. Cost: O(d^2). */
void tacit_glm_private_client_reward(struct tacit_glm_private_client *client,
                                     const struct tacit_glm_reward *reward);

/* The clock closes the next batch. *sums: the noised sums of batches 1 .. batch,
 * TACIT_GLM_PRIVATE_SUMS(d) in units of 2^-20, until the next one; NULL: nothing is released, since
 * it is closed already. Errors: TACIT_INVALID for a later one; TACIT_BUDGET beyond P;
 * TACIT_ENTROPY: nothing has changed. Cost: O(L d^2). */
enum tacit_status tacit_glm_private_client_close(struct tacit_glm_private_client *client,
                                                 uint64_t batch,
                                                 const struct tacit_entropy *entropy,
                                                 const int64_t **sums);

/* From here on it decides by what the releases of all clients up to this batch say. */
void tacit_glm_private_client_use(struct tacit_glm_private_client *client, uint64_t batch,
                                  const struct tacit_glm_private_estimate *estimate);

/* Shows a client's state without changing it. Cost: O(1). */
void tacit_glm_private_client_view(const struct tacit_glm_private_client *client,
                                   struct tacit_glm_private_client_view *view);
#endif
