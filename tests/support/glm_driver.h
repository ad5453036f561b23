/* Clients and a hub of a federated generalised linear bandit in one process: messages go at once
 * and in order. For tests. */
#ifndef GLM_DRIVER_H
#define GLM_DRIVER_H
#include "tacit/glm.h"

/* One step to the digest of all (digest.h): what was asked for and said, numbers and all, and what
 * the state shows since. */
void glm_digest_client(const struct tacit_glm_client *client, const struct tacit_glm_model *model,
                       enum tacit_status status, const struct tacit_glm_update *update);
void glm_digest_hub(const struct tacit_glm_hub *hub, const struct tacit_glm_model *model,
                    enum tacit_status status, const struct tacit_glm_update *update);

/* What chance of a world in disorder draws. */
static inline uint32_t below(struct tacit_rng *rng, uint32_t bound)
{
    return (uint32_t)tacit_rng_below(rng, bound);
}

static inline double one_of(struct tacit_rng *rng, const double *values, uint32_t count)
{
    return values[below(rng, count)];
}

/* What a message points to, behind whose last number is none. */
const double *glm_kept(const double *values, size_t count, double *copy);

struct glm_driver {
    struct tacit_glm_model model;
    struct tacit_glm_client **clients;
    struct tacit_glm_hub *hub;
    struct tacit_rng rng;
    enum tacit_linalg_path path;
    bool hides_inverse; /* as a wire does */
};

void glm_driver_open(struct glm_driver *driver, const struct tacit_glm_model *model,
                     enum tacit_linalg_path path);
uint32_t glm_driver_decide(struct glm_driver *driver, uint32_t client, uint32_t arm_count,
                           const double *contexts);
/* Rewards the client, and carries an update out to its end if one is due. */
void glm_driver_reward(struct glm_driver *driver, uint32_t client, uint64_t slot,
                       const double *context, double reward);
#endif
