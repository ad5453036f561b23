/* See damage.h. */
#include "testing.h"
#include "damage.h"
#include "digest.h"

#define HEAD_WORDS 32u /* bytes are changed in these alone: there stand what is true or false */
#define WORDS_BYTES_MAX (1u << 16)
#define STEPS_IN_FULL 256u /* so many, then every second one of as many, every third .. */

static uint64_t verdicts = UINT64_C(0xcbf29ce484222325);
static uint64_t tried;
static uint64_t accepted;
static uint64_t step;
static uint64_t turn;

struct damaged {
    unsigned char *bytes;
    size_t size;
    damage_verdict *accepts;
    void *context;
};

static void judge(const struct damaged *damaged)
{
    bool const is_accepted = damaged->accepts(damaged->bytes, damaged->size, damaged->context);
    verdicts = digest_mix(verdicts, is_accepted ? 1 : 2);
    tried++;
    accepted += is_accepted ? 1 : 0;
}

/* width: bytes of a number, at most 8. */
static void try_values(const struct damaged *damaged, size_t at, size_t width)
{
    uint64_t const top = UINT64_C(1) << (8 * width - 1);
    uint64_t was = 0;
    memcpy(&was, damaged->bytes + at, width);
    uint64_t const values[] = {0,
                               1,
                               2,
                               was + 1,
                               was - 1,
                               UINT64_MAX,
                               was ^ top,
                               UINT64_C(0x3fe0000000000000) /* 0.5 */,
                               UINT64_C(0x7ff8000000000000) /* not a number */};
    size_t const count = width == sizeof was ? 9 : 7;
    for (size_t i = 0; i < count; i++) {
        memcpy(damaged->bytes + at, &values[i], width);
        if (memcmp(damaged->bytes + at, &was, width) != 0)
            judge(damaged);
    }
    memcpy(damaged->bytes + at, &was, width);
}

static void try_word(const struct damaged *damaged, size_t word)
{
    size_t const at = word * sizeof(uint64_t);
    try_values(damaged, at, sizeof(uint64_t));
    for (size_t half = 0; half < 2; half++)
        try_values(damaged, at + half * sizeof(uint32_t), sizeof(uint32_t));
    for (size_t i = 0; word < HEAD_WORDS && i < sizeof(uint64_t); i++)
        try_values(damaged, at + i, 1);
}

static struct damaged copy_of(const void *state, size_t size, damage_verdict *accepts,
                              void *context)
{
    struct damaged const copy = {testing_malloc(size), size, accepts, context};
    assert_true(size > 0);
    assert_int_equal(size % sizeof(uint64_t), 0);
    assert_non_null(copy.bytes);
    memcpy(copy.bytes, state, size);
    assert_true(accepts(copy.bytes, size, context));
    return copy;
}

void damage_all(const void *state, size_t size, damage_verdict *accepts, void *context)
{
    struct damaged const copy = copy_of(state, size, accepts, context);
    for (size_t word = 0; word < size / sizeof(uint64_t); word++)
        try_word(&copy, word);
    testing_free(copy.bytes);
}

bool damage_is_due(uint64_t number)
{
    return number % (1 + number / STEPS_IN_FULL) == 0;
}

void damage_some(const void *state, size_t size, damage_verdict *accepts, void *context)
{
    size_t const words = size / sizeof(uint64_t);
    if (digest_is_paused() || !damage_is_due(step++))
        return;
    struct damaged const copy = copy_of(state, size, accepts, context);
    try_word(&copy, turn % (words < HEAD_WORDS ? words : HEAD_WORDS));
    try_word(&copy, turn * 7 % words);
    turn++;
    testing_free(copy.bytes);
}

/* A word that a real number between 2^-255 and 2^256 would be is taken for one: an integer is not
 * so large, and bytes of digests lose nothing that counts. */
static uint64_t rounded(uint64_t word)
{
    uint64_t const exponent = word >> 52 & 0x7ff;
    uint64_t const half = UINT64_C(1) << 27;
    return exponent < 0x300 || exponent > 0x4ff ? word : (word + half) & ~(2 * half - 1);
}

void damage_words(const void *state, size_t size)
{
    static uint64_t number;
    const unsigned char *const bytes = state;
    size_t const end = size < WORDS_BYTES_MAX ? size : WORDS_BYTES_MAX;
    assert_int_equal(size % sizeof(uint64_t), 0);
    if (digest_is_paused() || !damage_is_due(number++ / 16))
        return;
    for (size_t at = 0; at < end; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, bytes + at, sizeof word);
        if (word != 0)
            verdicts = digest_mix(verdicts, rounded(word) + at);
    }
    verdicts = digest_mix(verdicts, size);
}

static bool has_known_layout(void)
{
    uint64_t const one = 1;
    unsigned char first = 0;
    memcpy(&first, &one, sizeof first);
    return first == 1 && sizeof(void *) == sizeof(uint64_t) && sizeof(long) == sizeof(uint64_t);
}

int damage_end(int argc, int failed, uint64_t known)
{
    if (argc > 1 || getenv("TACIT_TEST_LONG") != NULL || !has_known_layout() || verdicts == known)
        return failed;
    (void)printf(
        "verdicts over damaged states are other ones than they were: of %llu accepted %llu, "
        "their digest is UINT64_C(0x%016llx); tests/support/damage.h says what to do\n",
        (unsigned long long)tried, (unsigned long long)accepted, (unsigned long long)verdicts);
    return 1;
}
