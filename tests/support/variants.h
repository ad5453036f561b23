/* What a core does with an event that is a little other than the one that came: each field in turn
 * has a few other values, and whoever asks steps a copy of the state with it and adds what became
 * of it to the digest (digest.h). So a condition over a field that is another one shows, in all
 * states that a drive comes to, though no test asks for it. */
#ifndef TACIT_TESTS_VARIANTS_H
#define TACIT_TESTS_VARIANTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct variant_field {
    size_t at;    /* bytes from the base */
    size_t width; /* 1, 2, 4 or 8 */
    uint64_t least;
    uint64_t most;
    bool is_real; /* a double: has no limits */
};

/* A member of a struct; VARIANT_ANY: whatever its width holds. */
#define VARIANT(type, member, least_value, most_value)                                             \
    {                                                                                              \
        offsetof(type, member), sizeof(((type *)0)->member), least_value, most_value, false        \
    }
#define VARIANT_ANY(type, member) VARIANT(type, member, 0, UINT64_MAX)

typedef void variant_try(void *context);

/* Changes each field of base in turn, tries each value, and puts the field back. */
void variants_of(void *base, const struct variant_field *fields, size_t count, variant_try *try,
                 void *context);

/* .. the first and the last of count words, or numbers, of an array. */
void variants_of_words(void *words, size_t count, bool are_real, variant_try *try, void *context);

/* For a driver: is it time again? Of n steps some `often` log n; never while digest.h is paused. */
bool variants_are_due(uint64_t often);
#endif
