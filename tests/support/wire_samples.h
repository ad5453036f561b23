/* A message of every kind of every family, as many forms as it has, and each family's runs: what
 * the tests of the wire walk through (unit/wire.c). Members have values of their own, those with
 * limits the last that may be, so that a place or a limit that is another one shows. */
#ifndef TACIT_TESTS_WIRE_SAMPLES_H
#define TACIT_TESTS_WIRE_SAMPLES_H
#include "../../src/wire/walk.h"

/* A message with one member changed; it is refused, or, at the limit, still taken. */
struct wire_wrong {
    const void *of;
    struct wire_member member;
    union {
        uint64_t number;
        double real;
        const void *list;
    } value;
    bool is_taken;
};
void wire_change(void *said, const struct wire_wrong *wrong);

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
    uint64_t known; /* of all that is taken or refused */
};

extern const struct wire_family wire_families[];
extern const size_t wire_family_count;

/* What others may have implemented: these bytes, in hexadecimal, do not change within a version. */
struct wire_published {
    const char *family;
    size_t sample;
    size_t part; /* of a run: 0, its parameters; 1, its place */
    const char *bytes;
};
extern const struct wire_published wire_published[];
extern const size_t wire_published_count;
#endif
