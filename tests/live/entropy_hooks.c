/* Linked into tacitd-test in front of what there is (--wrap): what is drawn is chosen by the test.
 */
#include "../../src/live/daemon/entropy.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

ssize_t __real_getrandom(void *bytes, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned flags);

/* TACIT_TEST_STUCK=n: the system gives this byte for ever. */
ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned flags)
{
    char const *const byte = getenv("TACIT_TEST_STUCK");
    if (byte == NULL)
        return __real_getrandom(bytes, size, flags);
    memset(bytes, (int)strtoul(byte, NULL, 10), size);
    return (ssize_t)size;
}

struct tacit_entropy __real_live_entropy(enum live_entropy_use use);
struct tacit_entropy __wrap_live_entropy(enum live_entropy_use use);

/* TACIT_TEST_SLOW_US=n; noise takes up to n microseconds more a piece, as its first byte says: a
 * sampler whose time tells what it drew. */
static enum tacit_status fill_slowly(void *context, void *bytes, size_t size)
{
    struct tacit_entropy const own = __real_live_entropy(LIVE_ENTROPY_NOISE);
    enum tacit_status const status = own.fill(own.context, bytes, size);
    unsigned long const most_us = strtoul(getenv("TACIT_TEST_SLOW_US"), NULL, 10);
    (void)context;
    if (status == TACIT_OK && size > 0)
        (void)usleep((useconds_t)(most_us * *(const unsigned char *)bytes / 255));
    return status;
}

/* TACIT_TEST_TAPE=prefix; what is drawn is read from prefix.noise, prefix.decisions, prefix.keys
 * and prefix.ids, where there is such a file, and at its end there is no entropy. */
static enum tacit_status fill_from_tape(void *context, void *bytes, size_t size)
{
    return fread(bytes, 1, size, context) == size ? TACIT_OK : TACIT_ENTROPY;
}

struct tacit_entropy __wrap_live_entropy(enum live_entropy_use use)
{
    static const char *const names[] = {"noise", "decisions", "keys", "ids"};
    static FILE *tapes[4];
    char const *const prefix = getenv("TACIT_TEST_TAPE");
    char path[4096];
    if (use == LIVE_ENTROPY_NOISE && getenv("TACIT_TEST_SLOW_US") != NULL)
        return (struct tacit_entropy){fill_slowly, NULL};
    if (use == LIVE_ENTROPY_OTHER || prefix == NULL)
        return __real_live_entropy(use);
    if (tapes[use] == NULL) {
        (void)snprintf(path, sizeof path, "%s.%s", prefix, names[use]);
        tapes[use] = fopen(path, "rb");
    }
    return tapes[use] == NULL ? __real_live_entropy(use)
                              : (struct tacit_entropy){fill_from_tape, tapes[use]};
}
