/* getrandom, whole or not at all. */
#include "entropy.h"
#include "refusal.h"
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define CHECK_BYTES 32u

static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    unsigned char *next = bytes;
    (void)context;
    while (size > 0) {
        ssize_t const got = getrandom(next, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return TACIT_ENTROPY;
        next += got;
        size -= (size_t)got;
    }
    return TACIT_OK;
}

enum tacit_status live_entropy_check(struct tacit_error *error)
{
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_OTHER);
    uint8_t first[CHECK_BYTES];
    uint8_t second[CHECK_BYTES];
    if (entropy.fill(entropy.context, first, sizeof first) != TACIT_OK ||
        entropy.fill(entropy.context, second, sizeof second) != TACIT_OK)
        return live_refuse(error, TACIT_ENTROPY,
                           "the system gives no randomness (getrandom fails)");
    if (memcmp(first, second, sizeof first) == 0)
        return live_refuse(error, TACIT_ENTROPY,
                           "the system gives no randomness: getrandom gives the same bytes again "
                           "and again; nothing may be drawn from it");
    return TACIT_OK;
}

struct tacit_entropy live_entropy(enum live_entropy_use use)
{
    (void)use;
    return (struct tacit_entropy){fill, NULL};
}
