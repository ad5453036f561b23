/* Entropy that fails after so many draws. */
#ifndef TACIT_TESTS_SCARCE_H
#define TACIT_TESTS_SCARCE_H
#include "tacit/random.h"

struct scarce {
    struct tacit_entropy source;
    uint32_t draws_left;
};

static inline enum tacit_status scarce_fill(void *context, void *bytes, size_t size)
{
    struct scarce *const scarce = context;
    if (scarce->draws_left == 0)
        return TACIT_ENTROPY;
    scarce->draws_left--;
    return scarce->source.fill(scarce->source.context, bytes, size);
}

/* It has to stay, and its source. */
static inline struct tacit_entropy scarce_entropy(struct scarce *scarce)
{
    return (struct tacit_entropy){scarce_fill, scarce};
}
#endif
