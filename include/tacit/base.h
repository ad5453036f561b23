/* Base: what every room stands on: statuses, assertions, limits, bit sets, sums of rewards, text.
 * Pure: no clock, no input or output, no allocation, no globals.
 *
 * Shape letters used in all headers: A agents, K arms, T horizon (slots), r epoch. */
#ifndef TACIT_BASE_H
#define TACIT_BASE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Programmer errors stop the program, in every build. ------------------------------------- */

/* Reports a broken assertion and does not return. The host supplies it (src/live/daemon/panic.c
 * writes to stderr and aborts; a device supplies its own), so that the cores stay free of I/O. */
_Noreturn void tacit_panic(const char *file, int line, const char *what);

#define TACIT_ASSERT(cond) ((cond) ? (void)0 : tacit_panic(__FILE__, __LINE__, #cond))
#define TACIT_IMPLIES(a, b) TACIT_ASSERT(!(a) || (b))

/* ---- Operating errors are values that the caller handles. ------------------------------------ */

#define TACIT_STATUS_LIST(X)                                                                       \
    X(TACIT_OK, 0, "ok")                                                                           \
    X(TACIT_INVALID, -1, "a parameter is out of range")                                            \
    X(TACIT_MALFORMED, -2, "a message from a peer does not make sense")                            \
    X(TACIT_STRANGER, -3, "a message from, for or about somebody who is not part of this run")     \
    X(TACIT_UNEXPECTED, -4, "a message that does not fit the present round")                       \
    X(TACIT_BUDGET, -5, "the privacy budget would be exceeded")                                    \
    X(TACIT_ENTROPY, -6, "the random source failed")                                               \
    X(TACIT_MEMORY, -7, "out of memory")                                                           \
    X(TACIT_IO, -8, "a file could not be read or written")                                         \
    X(TACIT_INTERRUPTED, -9, "stopped on request")                                                 \
    X(TACIT_REFUSED, -10, "what a peer asks for is more than the site's policy allows")            \
    X(TACIT_ROLLBACK, -11, "a peer has seen more from us than our state knows: it is too old")     \
    X(TACIT_FORKED, -12, "a site speaks from two states: this is not what was granted to it")

enum tacit_status {
#define X(name, value, text) name = value,
    TACIT_STATUS_LIST(X)
#undef X
};

/* In a function that has nothing to undo: returns what a call came to, unless that is TACIT_OK. */
#define TACIT_TRY(call)                                                                            \
    do {                                                                                           \
        enum tacit_status const tacit_tried = (call);                                              \
        if (tacit_tried != TACIT_OK)                                                               \
            return tacit_tried;                                                                    \
    } while (0)

/* The sentence that belongs to a status. Ensures: never NULL, static storage. */
const char *tacit_status_text(enum tacit_status status);

/* One line for a person: what is wrong and what is allowed. Filled by the rooms that meet users. */
#define TACIT_ERROR_BYTES 2048u
struct tacit_error {
    char text[TACIT_ERROR_BYTES];
};

/* The larger of two. */
static inline uint64_t tacit_larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- Limits: everything has one, and it has a name. ------------------------------------------ */

#define TACIT_ARMS_MAX 65536u
#define TACIT_AGENTS_MAX 1048576u
#define TACIT_HORIZON_MAX (UINT64_C(1) << 40)
#define TACIT_NO_ARM UINT32_MAX
#define TACIT_NEVER UINT64_MAX

/* ---- Bit sets: arms, agents. The words belong to the caller. --------------------------------- */

#define TACIT_BITS_WORDS(count) (((size_t)(count) + 63u) / 64u)

/* Is index a member? Cost: O(1), as for the two below. */
static inline bool tacit_bits_has(const uint64_t *bits, uint32_t index)
{
    return (bits[index / 64u] >> (index % 64u)) & 1u;
}

/* Makes index a member. */
static inline void tacit_bits_add(uint64_t *bits, uint32_t index)
{
    bits[index / 64u] |= UINT64_C(1) << (index % 64u);
}

/* Makes index no member. */
static inline void tacit_bits_remove(uint64_t *bits, uint32_t index)
{
    bits[index / 64u] &= ~(UINT64_C(1) << (index % 64u));
}

/* Members in one word, by adding ever wider fields: no compiler's run-time library is needed. */
static inline uint32_t tacit_bits_word_count(uint64_t word)
{
    word -= (word >> 1) & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + ((word >> 2) & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)((word * UINT64_C(0x0101010101010101)) >> 56);
}

/* Makes bits the set {0, .., count-1}. Cost: O(count/64). */
void tacit_bits_fill(uint64_t *bits, uint32_t count);

/* Number of members of a set over {0, .., count-1}. Cost: O(count/64). */
uint32_t tacit_bits_count(const uint64_t *bits, uint32_t count);

/* Smallest member >= from, or count if there is none. Cost: O(count/64). */
uint32_t tacit_bits_next(const uint64_t *bits, uint32_t count, uint32_t from);

/* for: each member of a set over {0, .., count-1}, ascending. */
#define TACIT_BITS_EACH(member, bits, count)                                                       \
    for (uint32_t member = tacit_bits_next((bits), (count), 0); member < (count);                  \
         member = tacit_bits_next((bits), (count), member + 1))

/* Is every member of inner a member of outer, and no bit set at or beyond count? Cost: O(count/64).
 */
bool tacit_bits_within(const uint64_t *inner, const uint64_t *outer, uint32_t count);

/* ---- Values that are bytes ------------------------------------------------------------------- */

/* A struct between these has no gaps between its members: it is copied as it is, its bytes are a
 * function of its members alone, and it is compared byte by byte. What fills a gap is called spare,
 * and is 0. (Enumerations and pointers are not of one size everywhere; 64 bits are looked at.) */
#if UINTPTR_MAX > UINT32_MAX
#define TACIT_NO_GAPS _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic error \"-Wpadded\"")
#define TACIT_NO_GAPS_END _Pragma("GCC diagnostic pop")
#else
#define TACIT_NO_GAPS
#define TACIT_NO_GAPS_END
#endif

/* ---- Sums of rewards ------------------------------------------------------------------------- */

/* Sound mode adds integers between the reward and the wire (PRIVACY.md, decision 1): a reward is
 * clipped to the public range [lo, hi] and rounded to one of TACIT_STEPS+1 levels. Paper mode adds
 * doubles, as the papers do. A run uses one representation throughout; its scale says which. */
#define TACIT_STEPS INT64_C(1048576)

enum tacit_scale_kind { TACIT_SCALE_REAL, TACIT_SCALE_STEPS };

TACIT_NO_GAPS
struct tacit_scale {
    enum tacit_scale_kind kind;
    uint8_t spare[8 - sizeof(enum tacit_scale_kind)];
    double lo; /* public bounds of one reward, lo < hi; REAL ignores them */
    double hi;
};
TACIT_NO_GAPS_END

/* A sum of rewards (or of noised rewards). Which member counts is fixed by the run's scale. */
union tacit_sum {
    double real;
    int64_t steps;
};

/* Level of one reward: clipped to [lo, hi], rounded to nearest. NaN counts as lo: no
 * data stops a core. Who takes rewards from others refuses it before (PRIVACY.md D.66).
 * Requires: scale->kind is STEPS, lo < hi.  Ensures: 0 <= result <= TACIT_STEPS. */
int64_t tacit_scale_level(const struct tacit_scale *scale, double reward);

/* Adds the same reward `times` times. Requires (STEPS): times <= TACIT_HORIZON_MAX. */
void tacit_sum_add_reward(const struct tacit_scale *scale, union tacit_sum *sum, double reward,
                          uint64_t times);

/* *sum += other. */
void tacit_sum_add(const struct tacit_scale *scale, union tacit_sum *sum, union tacit_sum other);

/* Mean reward on the scale that elimination works on: REAL: sum/count; STEPS: (sum/count)/STEPS,
 * that is, with [lo, hi] mapped to [0, 1]. Requires: count > 0. */
double tacit_sum_mean(const struct tacit_scale *scale, union tacit_sum sum, uint64_t count);

/* A difference of two mean rewards on that scale. */
double tacit_scale_gap(const struct tacit_scale *scale, double gap);

/* ---- Text without stdio ---------------------------------------------------------------------- */

/* A bounded text under construction. What does not fit is dropped, and `truncated` says so. */
struct tacit_text {
    char *bytes; /* always NUL-terminated */
    size_t capacity;
    size_t size;
    bool truncated;
};

/* Requires: capacity > 0. Ensures: an empty text in the caller's memory. */
struct tacit_text tacit_text_init(char *bytes, size_t capacity);
/* Appends a text. */
void tacit_text_add(struct tacit_text *text, const char *more);
/* Appends a number in decimal. */
void tacit_text_add_u64(struct tacit_text *text, uint64_t value);
/* A number of billionths as a decimal without trailing zeros: 1500000000 -> "1.5". */
void tacit_text_add_nano(struct tacit_text *text, uint64_t nano);

/* Characters of UTF-8 in these bytes, by the bytes that begin one. Cost: O(size). */
uint32_t tacit_text_characters(const char *bytes, size_t size);
/* A message is one line, whatever the words of a file in it are: control characters become '?'. */
void tacit_error_clean(struct tacit_error *error);
#endif
