/* In the place of network.c and passes.c where oneDNN is not linked: there are no networks, and
 * whoever asks first (tacit_learn_is_here) says so in words. */
#include "tacit/learn.h"

bool tacit_learn_is_here(void)
{
    return false;
}

enum tacit_status tacit_learn_network_new(struct tacit_learn_network **network,
                                          const struct tacit_model *model, uint32_t batch_size)
{
    TACIT_ASSERT(network != NULL && model != NULL && batch_size > 0);
    *network = NULL;
    return TACIT_MEMORY;
}

void tacit_learn_network_free(struct tacit_learn_network *network)
{
    TACIT_ASSERT(network == NULL);
}

enum tacit_status tacit_learn_network_gradient(struct tacit_learn_network *network,
                                               float *parameters, const float *images,
                                               const uint8_t *labels, float *gradient, double *loss,
                                               uint32_t *hits)
{
    (void)network, (void)parameters, (void)images, (void)labels, (void)gradient;
    (void)loss, (void)hits;
    return TACIT_MEMORY;
}

void tacit_learn_network_drop(struct tacit_learn_network *network, struct tacit_rng *rng)
{
    (void)network, (void)rng;
}

enum tacit_status tacit_learn_network_evaluate(struct tacit_learn_network *network,
                                               const float *parameters, const float *images,
                                               const uint8_t *labels, uint32_t count, double *loss,
                                               uint32_t *hits)
{
    (void)network, (void)parameters, (void)images, (void)labels, (void)count, (void)loss,
        (void)hits;
    return TACIT_MEMORY;
}
