/* What a site keeps with a decision by contexts: the number of the model, the probability and the
 * chosen context; where the run explores, all contexts too, for those who evaluate the log later.
 * Nothing of it leaves the site. */
#include <stddef.h>
#include <string.h>
#include "../../live/protocol.h"
#include "live.h"

/* Before the contexts. */
struct kept {
    uint64_t model;
    double probability;
    uint32_t dimension;
    uint32_t arm_count; /* of the contexts that follow the chosen one; 0: they are not kept */
};

size_t glm_kept_bytes_max(uint32_t dimension, uint32_t arm_count)
{
    return sizeof(struct kept) + (1 + (size_t)arm_count) * dimension * sizeof(double);
}

void glm_record_choice(const struct glm_choice *choice, const struct tacit_offer *offer,
                       uint8_t *kept, struct live_site_update *update)
{
    uint32_t const d = offer->dimension;
    struct kept const head = {.model = choice->model,
                              .probability = choice->probability,
                              .dimension = d,
                              .arm_count = choice->keeps_all ? offer->arm_count : 0};
    uint8_t *next = kept;
    memcpy(next, &head, sizeof head);
    next += sizeof head;
    memcpy(next, offer->contexts + (size_t)choice->arm * d, d * sizeof(double));
    next += d * sizeof(double);
    if (choice->keeps_all) {
        memcpy(next, offer->contexts, (size_t)offer->arm_count * d * sizeof(double));
        next += (size_t)offer->arm_count * d * sizeof(double);
    }
    update->has_choice = true;
    update->choice = choice->arm;
    update->kept = kept;
    update->kept_size = (size_t)(next - kept);
}

bool glm_parse_kept(const uint8_t *kept, size_t size, struct live_choice *choice)
{
    struct kept head;
    if (kept == NULL || size < sizeof head)
        return false;
    memcpy(&head, kept, sizeof head);
    if (head.dimension == 0 || head.dimension > TACIT_LINALG_DIMENSION_MAX ||
        head.arm_count > TACIT_ARMS_MAX ||
        size != glm_kept_bytes_max(head.dimension, head.arm_count))
        return false;
    *choice = (struct live_choice){head.model, head.probability};
    return true;
}

bool glm_read_reward(const struct live_site *site, const struct live_site_event *event,
                     double context[TACIT_LINALG_VECTOR_MAX], struct tacit_glm_reward *reward)
{
    struct live_site_config const *const config = &site->config;
    uint32_t const d = site->shape.dimension;
    double const value = event->as.reward.value;
    struct live_choice choice;
    uint32_t dimension;
    if (!glm_parse_kept(event->as.reward.kept, event->as.reward.kept_size, &choice))
        return false;
    memcpy(&dimension, event->as.reward.kept + offsetof(struct kept, dimension), sizeof dimension);
    if (dimension != d)
        return false;
    memcpy(context, event->as.reward.kept + sizeof(struct kept), d * sizeof(double));
    *reward = (struct tacit_glm_reward){context,
                                        value < config->lo   ? config->lo
                                        : value > config->hi ? config->hi
                                                             : value,
                                        0, 0};
    return true;
}

const char *glm_features_objection(const char *const *features, uint32_t dimension,
                                   const struct glm_policy *policy)
{
    bool is_same = policy == NULL || policy->features == NULL || policy->dimension == dimension;
    for (uint32_t i = 0; is_same && policy != NULL && policy->features != NULL && i < dimension;
         i++)
        is_same = strcmp(policy->features[i], features[i]) == 0;
    return is_same ? NULL
                   : "the features of the run are not those of policy.features, in that order";
}
