/* What cores do with entropy: bounded and real uniforms, subsets. Exact given uniform bytes; bytes
 * are read as little-endian words, so that a recorded tape means the same on every machine. */
#include "words.h"
#include <string.h>

#define WORD_BYTES 8u

/* Written out, because compilers then see one store or load where the machine is little-endian. */
static void store_word(uint8_t *bytes, uint64_t word)
{
    bytes[0] = (uint8_t)word;
    bytes[1] = (uint8_t)(word >> 8);
    bytes[2] = (uint8_t)(word >> 16);
    bytes[3] = (uint8_t)(word >> 24);
    bytes[4] = (uint8_t)(word >> 32);
    bytes[5] = (uint8_t)(word >> 40);
    bytes[6] = (uint8_t)(word >> 48);
    bytes[7] = (uint8_t)(word >> 56);
}

static uint64_t load_word(const uint8_t *bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
           (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
           (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

/* Every word of the stream gives 8 bytes; what a last, partial word has over is dropped. */
enum tacit_status random_fill_from_stream(void *context, void *bytes, size_t size)
{
    struct tacit_rng *const rng = context;
    uint8_t *out = bytes;
    for (; size >= WORD_BYTES; size -= WORD_BYTES, out += WORD_BYTES)
        store_word(out, tacit_rng_next(rng));
    if (size > 0) {
        uint8_t last[WORD_BYTES];
        store_word(last, tacit_rng_next(rng));
        memcpy(out, last, size);
    }
    return TACIT_OK;
}

enum tacit_status random_word_from_bytes(const struct tacit_entropy *entropy, uint64_t *word)
{
    uint8_t bytes[WORD_BYTES];
    TACIT_TRY(entropy->fill(entropy->context, bytes, sizeof bytes));
    *word = load_word(bytes);
    return TACIT_OK;
}

static enum tacit_status draw_word(const struct tacit_entropy *entropy, uint64_t *word)
{
    return random_entropy_word(entropy, random_is_stream(entropy), word);
}

struct tacit_entropy tacit_rng_entropy(struct tacit_rng *rng)
{
    TACIT_ASSERT(rng != NULL);
    return (struct tacit_entropy){.fill = random_fill_from_stream, .context = rng};
}

enum tacit_status tacit_entropy_word(const struct tacit_entropy *entropy, uint64_t *word)
{
    TACIT_ASSERT(entropy != NULL);
    TACIT_ASSERT(word != NULL);
    return draw_word(entropy, word);
}

/* Tested by: tests/unit/random.c */
enum tacit_status tacit_entropy_below(const struct tacit_entropy *entropy, uint64_t bound,
                                      uint64_t *out)
{
    TACIT_ASSERT(entropy != NULL);
    TACIT_ASSERT(out != NULL);
    TACIT_ASSERT(bound > 0);
    return random_entropy_below(entropy, random_is_stream(entropy), bound, out);
}

enum tacit_status tacit_entropy_uniform(const struct tacit_entropy *entropy, double *out)
{
    TACIT_ASSERT(entropy != NULL);
    TACIT_ASSERT(out != NULL);
    uint64_t word;
    TACIT_TRY(draw_word(entropy, &word));
    *out = random_uniform_of(word);
    return TACIT_OK;
}

/* Floyd's method (Bentley, Floyd 1987): when the universe grows from {0, .., top-1} to {0, ..,
 * top}, one member is added: a uniform candidate, or top itself where the candidate is in already.
 * Tested by: tests/unit/random.c, tests/stat/random_stat.c */
enum tacit_status tacit_entropy_subset(const struct tacit_entropy *entropy, uint32_t count,
                                       uint32_t population, uint64_t *bits)
{
    TACIT_ASSERT(entropy != NULL);
    TACIT_ASSERT(bits != NULL || population == 0);
    TACIT_ASSERT(count <= population);
    if (population > 0)
        memset(bits, 0, TACIT_BITS_WORDS(population) * sizeof bits[0]);
    for (uint32_t top = population - count; top < population; top++) {
        uint64_t candidate;
        TACIT_TRY(tacit_entropy_below(entropy, (uint64_t)top + 1, &candidate));
        tacit_bits_add(bits, tacit_bits_has(bits, (uint32_t)candidate) ? top : (uint32_t)candidate);
    }
    return TACIT_OK;
}

/* One word for several choices (Brackett-Rozinsky, Lemire 2024): the high parts of word * bound,
 * one bound after the other, are the digits of floor(word * product / 2^64) in mixed radix, so
 * Lemire's test of the last low part makes all of them uniform at once. */
static enum tacit_status draw_choices(const struct tacit_entropy *entropy, uint32_t bound_first,
                                      uint32_t choice_count, uint64_t product, uint32_t *choices)
{
    for (uint32_t refused = 0; refused < RANDOM_REFUSALS_MAX; refused++) {
        uint64_t word;
        TACIT_TRY(draw_word(entropy, &word));
        for (uint32_t i = 0; i < choice_count; i++) {
            choices[i] = (uint32_t)random_times(word, bound_first - i, &word);
        }
        if (word >= product || word >= (0 - product) % product)
            return TACIT_OK;
    }
    return TACIT_ENTROPY;
}

#define CHOICES_MAX 12u /* 13! exceeds 2^32 */

/* Tested by: tests/unit/random.c */
enum tacit_status tacit_entropy_shuffle(const struct tacit_entropy *entropy, uint32_t count,
                                        uint32_t *items)
{
    TACIT_ASSERT(entropy != NULL);
    uint32_t bound = count;
    while (bound > 1) {
        uint32_t choices[CHOICES_MAX];
        uint32_t choice_count = 0;
        uint64_t product = 1;
        for (uint32_t next = bound; next > 1 && choice_count < CHOICES_MAX; next--) {
            if (product * next > (UINT64_C(1) << 32))
                break;
            product *= next;
            choice_count++;
        }
        TACIT_TRY(draw_choices(entropy, bound, choice_count, product, choices));
        for (uint32_t i = 0; i < choice_count; i++, bound--) {
            uint32_t const kept = items[bound - 1];
            items[bound - 1] = items[choices[i]];
            items[choices[i]] = kept;
        }
    }
    return TACIT_OK;
}
