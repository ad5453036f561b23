/* A walk over the fields of a state: the same walk writes and reads them, so that neither can
 * forget one. Words of 64 bits, lowest byte first; zeros as a zero and how many there are. Pure. */
#ifndef TACIT_BASE_WALK_H
#define TACIT_BASE_WALK_H
#include "tacit/base.h"

struct base_walk {
    bool reads;
    bool failed;       /* the bytes end, go on, or say what cannot be */
    uint8_t *out;      /* writing: room bytes, .. */
    const uint8_t *in; /* .. reading: as many; writing: they are compared, and nothing is written */
    size_t room;
    size_t size;    /* that were read, or are needed */
    uint64_t zeros; /* writing: not said yet; reading: still to come */
};

/* Is a truth value one of two? (Bytes from a disk may be any.) */
static inline bool base_truth_is_possible(const bool *truth)
{
    return *(const unsigned char *)truth <= 1;
}

/* One field: written as it is, or read. Requires: a walk that reads has `in`, one that writes `out`
 * or `in` (bytes to compare with). Ensures: once it failed it stays failed, and a walk that reads
 * sets no truth or number to what it cannot be; what was read by then is the caller's to throw
 * away. Writing goes on beyond room, so that size is what is needed. Cost: O(1), or O(count). */
void base_walk_word(struct base_walk *walk, uint64_t *word);
void base_walk_words(struct base_walk *walk, uint64_t *words, size_t count);
void base_walk_number(struct base_walk *walk, uint32_t *number); /* fails: beyond 32 bits */
void base_walk_real(struct base_walk *walk, double *number);     /* its bits, also of a NaN */
void base_walk_truth(struct base_walk *walk, bool *truth);       /* fails: neither 0 nor 1 */

/* What must be as the configuration has it: written, or read and compared. */
void base_walk_same(struct base_walk *walk, uint64_t expected);

/* After the last field of a walk that writes: says the zeros at its end. Requires: it writes. */
void base_walk_end(struct base_walk *walk);

/* Reading: were all bytes read? Comparing: were they the very bytes that were given? Requires: a
 * walk that wrote has ended. */
bool base_walk_is_whole(const struct base_walk *walk);

/* ---- Whole states: `fields` walks over all of one ---- */

/* Bytes that it takes; as many of them are written as there is room for. */
size_t base_walk_write(void (*fields)(struct base_walk *walk, void *state), const void *state,
                       uint8_t *bytes, size_t room);

/* false: these bytes are not such a state's. What was read is the caller's to check, and, since the
 * same could be told in other ways, that it writes these very bytes. */
bool base_walk_read(void (*fields)(struct base_walk *walk, void *state), void *state,
                    const uint8_t *bytes, size_t size);
bool base_walk_writes(void (*fields)(struct base_walk *walk, void *state), const void *state,
                      const uint8_t *bytes, size_t size);
#endif
