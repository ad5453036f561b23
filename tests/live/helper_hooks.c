/* Linked into tacitd-test in front of the core's own (--wrap): TACIT_TEST_AGGREGATOR=file; what
 * this daemon adds as an aggregator is read from it, 8 bytes a number. The core hedges its entropy
 * by the request, so that no tape of entropy (entropy_hooks.c) says what comes out. */
#include "tacit/helper.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* TACIT_TEST_PIECES: bytes of a piece, at most. */
size_t __real_live_piece_bytes_max(void);
size_t __wrap_live_piece_bytes_max(void);

size_t __wrap_live_piece_bytes_max(void)
{
    char const *const most = getenv("TACIT_TEST_PIECES");
    return most == NULL ? __real_live_piece_bytes_max() : strtoul(most, NULL, 10);
}

/* TACIT_TEST_MASK: this site's envelopes do not open ("envelope"), are of another round ("scope"),
 * or its sums are more than there can be ("lie"). */
#define MASK_ARGUMENTS                                                                             \
    const struct tacit_helper_run *run, const struct tacit_helper_round *round, uint32_t site,     \
        const struct tacit_helper_keys *keys, const struct tacit_entropy *entropy,                 \
        uint64_t *words, struct tacit_helper_release *release

enum tacit_status __real_tacit_helper_mask(MASK_ARGUMENTS);
enum tacit_status __wrap_tacit_helper_mask(MASK_ARGUMENTS);

enum tacit_status __wrap_tacit_helper_mask(MASK_ARGUMENTS)
{
    char const *const fault = getenv("TACIT_TEST_MASK");
    struct tacit_helper_round meant = *round;
    if (fault != NULL && strcmp(fault, "lie") == 0)
        words[0] += UINT64_C(1) << 50;
    if (fault != NULL && strcmp(fault, "scope") == 0)
        meant.round++;
    enum tacit_status const status =
        __real_tacit_helper_mask(run, &meant, site, keys, entropy, words, release);
    if (fault != NULL && strcmp(fault, "envelope") == 0)
        release->envelope[TACIT_HELPER_ENVELOPE_BYTES / 2] ^= 1;
    return status;
}
