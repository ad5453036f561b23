/* A run, and what a protocol does in it. */
#ifndef TACIT_FAMILIES_GLM_RUN_H
#define TACIT_FAMILIES_GLM_RUN_H
#include "plan.h"

struct glm_run {
    struct glm_plan const *plan;
    struct glm_rule const *protocol;
    struct glm_world *world;
    struct tacit_glm_private_rule rule; /* sound mode: with this run's number */
    void *hub;
    unsigned char *clients; /* N, and two aggregators */
    size_t client_size;
    struct tacit_rng *noise_rng; /* of each */
    double reward;
    double messages;
    double control_messages;
    double scalars;
    double bytes;
    double rounds; /* of the update that took the most, and what Eq. (3) allows it */
    double rounds_bound;
    double theta[TACIT_LINALG_VECTOR_MAX]; /* before the update under way */
};

/* The sound mode's hub: the sums of all releases, and how many models they made. */
struct glm_private_hub {
    uint64_t model_count;
    int64_t total[TACIT_GLM_PRIVATE_SUMS_MAX];
};

struct glm_rule {
    size_t (*hub_size)(const struct glm_plan *plan);
    size_t (*client_size)(const struct glm_plan *plan); /* 0: the plan is not valid */
    enum tacit_status (*set_up)(struct glm_run *run, uint32_t index, uint64_t run_id);
    /* Of the client's next decision; NULL or false: any arm may be taken. */
    bool (*rule)(const struct glm_run *run, uint32_t client, struct tacit_linalg_rule *rule);
    /* The client decides between these contexts: *arm. */
    enum tacit_status (*offer)(struct glm_run *run, uint32_t client,
                               const struct tacit_offer *offered, uint32_t *arm);
    enum tacit_status (*on_reward)(struct glm_run *run, uint32_t client,
                                   const struct tacit_glm_reward *reward);
    enum tacit_status (*end_slot)(struct glm_run *run, uint64_t slot); /* NULL: nothing to do */
    void (*results)(const struct glm_run *run, double *metrics);
    void (*model)(const struct glm_run *run, double *profiles); /* NULL: it shows none */
};

extern const struct glm_rule glm_paper_rule;   /* paper_run.c */
extern const struct glm_rule glm_private_rule; /* private_run.c */

static inline void *glm_run_client(const struct glm_run *run, uint32_t client)
{
    TACIT_ASSERT(client < run->plan->model.client_count + run->plan->aggregators);
    return run->clients + client * run->client_size;
}
#endif
