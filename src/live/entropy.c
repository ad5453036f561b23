/* getrandom, whole or not at all. */
#include "entropy.h"
#include <errno.h>
#include <sys/random.h>

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

struct tacit_entropy live_entropy(void)
{
    return (struct tacit_entropy){fill, NULL};
}
