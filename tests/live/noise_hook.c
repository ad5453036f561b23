/* Linked into tacitd-test in front of the core's own (--wrap): TACIT_TEST_AGGREGATOR=file; what
 * this daemon adds as an aggregator is read from it, 8 bytes a number. The core hedges its entropy
 * by the request, so that no tape of entropy (src/live/daemon/entropy.c) says what comes out. */
#include "tacit/helper.h"
#include <stdio.h>
#include <stdlib.h>

#define NOISE_ARGUMENTS                                                                            \
    const struct tacit_helper_run *run, uint64_t epsilon_nano,                                     \
        const struct tacit_entropy *entropy, uint64_t *words, uint32_t count

enum tacit_status __real_tacit_helper_noise(NOISE_ARGUMENTS);
enum tacit_status __wrap_tacit_helper_noise(NOISE_ARGUMENTS);

enum tacit_status __wrap_tacit_helper_noise(NOISE_ARGUMENTS)
{
    static FILE *tape;
    char const *const path = getenv("TACIT_TEST_AGGREGATOR");
    if (path == NULL)
        return __real_tacit_helper_noise(run, epsilon_nano, entropy, words, count);
    if (tape == NULL)
        tape = fopen(path, "rb");
    TACIT_ASSERT(tape != NULL);
    for (uint32_t j = 0; j < count; j++) {
        uint64_t noise;
        TACIT_ASSERT(fread(&noise, sizeof noise, 1, tape) == 1);
        words[j] += noise;
    }
    return TACIT_OK;
}
