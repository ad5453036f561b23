/* A message of every kind of every family, as many forms as it has, and each family's runs: what
 * the tests of the wire walk through (unit/wire.c). Members have values of their own, those with
 * limits the last that may be, so that a place or a limit that is another one shows. */
#ifndef TACIT_TESTS_WIRE_SAMPLES_H
#define TACIT_TESTS_WIRE_SAMPLES_H
#include "../../src/wire/walk.h"

union wire_value {
    uint64_t number;
    double real;
    const void *list;
};

/* A message with one member changed; it is refused, or, at the limit, still taken. A list may be
 * one of several, each `stride` bytes behind the one before. */
struct wire_wrong {
    const void *of;
    struct wire_member member;
    union wire_value value;
    bool is_taken;
    size_t stride;
    size_t more; /* lists, beyond the first */
};
void wire_change(void *said, const struct wire_wrong *wrong, size_t list);

enum wire_sort { WIRE_MESSAGES_OF, WIRE_RUNS_OF, WIRE_MESSAGE_ALONE, WIRE_ENVELOPE };

struct wire_family {
    const char *name;
    enum wire_sort sort;
    const struct tacit_wire_protocol *protocol; /* NULL: .. */
    const struct tacit_wire_table *table;       /* .. the message's */
    struct tacit_wire_shape shape;
    const void *samples;
    size_t sample_size;
    size_t sample_count;
    const struct wire_wrong *wrongs;
    size_t wrong_count;
    uint64_t known; /* of the bytes, which others may have implemented and which do not change
                     * within a version, and of all that is taken or refused */
};

extern const struct wire_family wire_families[];
extern const size_t wire_family_count;
#endif
