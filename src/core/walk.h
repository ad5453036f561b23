/* A walk over the fields of a state: the same walk writes and reads them, so that neither can
 * forget one. Words of 64 bits, lowest byte first; zeros as a zero and how many there are. Pure. */
#ifndef TACIT_CORE_WALK_H
#define TACIT_CORE_WALK_H
#include "tacit/base.h"

struct core_walk {
    bool reads;
    bool failed;       /* the bytes end, go on, or say what cannot be */
    uint8_t *out;      /* writing: room bytes, .. */
    const uint8_t *in; /* .. reading: as many; writing: they are compared, and nothing is written */
    size_t room;
    size_t size;    /* that were read, or are needed */
    uint64_t zeros; /* writing: not said yet; reading: still to come */
};

/* One field: written as it is, or read. Requires: a walk that reads has `in`, one that writes `out`
 * or `in` (bytes to compare with). Ensures: once it failed it stays failed, and a walk that reads
 * sets no truth or number to what it cannot be; what was read by then is the caller's to throw
 * away. Writing goes on beyond room, so that size is what is needed. Cost: O(1), or O(count). */
void core_walk_word(struct core_walk *walk, uint64_t *word);
void core_walk_words(struct core_walk *walk, uint64_t *words, size_t count);
void core_walk_number(struct core_walk *walk, uint32_t *number); /* fails: beyond 32 bits */
void core_walk_real(struct core_walk *walk, double *number);     /* its bits, also of a NaN */
void core_walk_truth(struct core_walk *walk, bool *truth);       /* fails: neither 0 nor 1 */

/* What must be as the configuration has it: written, or read and compared. */
void core_walk_same(struct core_walk *walk, uint64_t expected);

/* After the last field of a walk that writes: says the zeros at its end. Requires: it writes. */
void core_walk_end(struct core_walk *walk);

/* Was all read, or the very bytes written that were given? Requires: a walk that wrote has ended.
 */
bool core_walk_is_whole(const struct core_walk *walk);
#endif
