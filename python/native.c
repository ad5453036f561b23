/* What the Python package adds to the pure rooms so that they stand alone in one shared library:
 * the operating system's entropy, a stream for choices, sizes of the structs that Python declares,
 * and how a broken assertion ends. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "native.h"

#define POOL_BYTES 4096u /* drawn from the system at once; a vector's noise takes many words */
#define CHOICE 1u        /* SELECT_STREAM_CHOICE of families/select: the streams of the simulator */
#define SELECT_NUMBER 5u /* of the family, as in families/select */

_Noreturn void tacit_panic(const char *file, int line, const char *what)
{
    (void)fprintf(stderr, "tacit: %s:%d: %s does not hold\n", file, line, what);
    abort();
}

/* ---- Entropy of the operating system ---- */

struct pool {
    unsigned char bytes[POOL_BYTES];
    size_t used;
};

/* From the system, all of them or an error. */
static enum tacit_status draw(unsigned char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t const got = getrandom(bytes, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return TACIT_ENTROPY;
        bytes += got;
        size -= (size_t)got;
    }
    return TACIT_OK;
}

/* No byte is given out twice. */
static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    struct pool *const pool = context;
    if (size > POOL_BYTES)
        return draw(bytes, size);
    if (size > POOL_BYTES - pool->used) {
        enum tacit_status const status = draw(pool->bytes, POOL_BYTES);
        if (status != TACIT_OK)
            return status;
        pool->used = 0;
    }
    memcpy(bytes, pool->bytes + pool->used, size);
    pool->used += size;
    return TACIT_OK;
}

enum tacit_status tacit_python_noise(int64_t *steps, uint32_t dimension, uint64_t epsilon_nano)
{
    struct pool pool = {.used = POOL_BYTES};
    struct tacit_entropy const entropy = {fill, &pool};
    enum tacit_status const status = tacit_vector_noise(steps, dimension, epsilon_nano, &entropy);
    explicit_bzero(&pool, sizeof pool);
    return status;
}

/* ---- Choices ---- */

/* A stream for each round, so that a choice may be asked for twice. */
enum tacit_status tacit_python_choose(const struct tacit_select *select,
                                      const struct tacit_select_choice *choice, uint64_t seed,
                                      void *scratch, uint32_t *users, uint32_t *count,
                                      double *energy)
{
    struct tacit_select_view view;
    tacit_select_view(select, &view);
    struct tacit_rng rng =
        tacit_rng_stream(seed, (uint32_t)(view.round_count >> 32), (uint32_t)view.round_count,
                         TACIT_PURPOSE_OF_FAMILY(SELECT_NUMBER, CHOICE));
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    return tacit_select_choose(select, choice, &entropy, scratch, users, count, energy);
}

size_t tacit_python_sizes(size_t index)
{
    static const size_t sizes[] = {
        sizeof(struct tacit_select_budget),     sizeof(struct tacit_select_config),
        sizeof(struct tacit_select_view),       sizeof(struct tacit_select_scores),
        sizeof(struct tacit_select_annealing),  sizeof(struct tacit_select_choice),
        sizeof(struct tacit_select_explanation)};
    return index < sizeof sizes / sizeof sizes[0] ? sizes[index] : 0;
}
