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

#ifdef TACIT_TEST_HOOKS
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Test build only: TACIT_TEST_SLOW_US=n; noise takes up to n microseconds more a piece, as its
 * first byte says: a sampler whose time tells what it drew. */
static enum tacit_status fill_slowly(void *context, void *bytes, size_t size)
{
    enum tacit_status const status = fill(context, bytes, size);
    unsigned long const most_us = strtoul(getenv("TACIT_TEST_SLOW_US"), NULL, 10);
    if (status == TACIT_OK && size > 0)
        (void)usleep((useconds_t)(most_us * *(const unsigned char *)bytes / 255));
    return status;
}

/* Test build only: TACIT_TEST_STUCK=n: the system gives this byte for ever. */
static enum tacit_status fill_stuck(void *context, void *bytes, size_t size)
{
    (void)context;
    memset(bytes, (int)strtoul(getenv("TACIT_TEST_STUCK"), NULL, 10), size);
    return TACIT_OK;
}

/* Test build only: TACIT_TEST_TAPE=prefix; what is drawn is read from prefix.noise,
 * prefix.decisions, prefix.keys and prefix.ids, where there is such a file, and at its end there is
 * no entropy.
 */
static enum tacit_status fill_from_tape(void *context, void *bytes, size_t size)
{
    return fread(bytes, 1, size, context) == size ? TACIT_OK : TACIT_ENTROPY;
}

struct tacit_entropy live_entropy(enum live_entropy_use use)
{
    static const char *const names[] = {"noise", "decisions", "keys", "ids"};
    static FILE *tapes[4];
    char const *const prefix = getenv("TACIT_TEST_TAPE");
    char path[4096];
    if (getenv("TACIT_TEST_STUCK") != NULL)
        return (struct tacit_entropy){fill_stuck, NULL};
    if (use == LIVE_ENTROPY_NOISE && getenv("TACIT_TEST_SLOW_US") != NULL)
        return (struct tacit_entropy){fill_slowly, NULL};
    if (use == LIVE_ENTROPY_OTHER || prefix == NULL)
        return (struct tacit_entropy){fill, NULL};
    if (tapes[use] == NULL) {
        (void)snprintf(path, sizeof path, "%s.%s", prefix, names[use]);
        tapes[use] = fopen(path, "rb");
    }
    return tapes[use] == NULL ? (struct tacit_entropy){fill, NULL}
                              : (struct tacit_entropy){fill_from_tape, tapes[use]};
}
#else
struct tacit_entropy live_entropy(enum live_entropy_use use)
{
    (void)use;
    return (struct tacit_entropy){fill, NULL};
}
#endif
