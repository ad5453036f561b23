/* What calls of codecs have in common: a protocol's messages, in a run of this shape. */
#ifndef TACIT_TESTS_WIRE_SHAPE_H
#define TACIT_TESTS_WIRE_SHAPE_H
#include <stdlib.h>
#include <string.h>
#include "tacit/wire.h"

/* Arms, agents, numbers of a context, to whom it came; 0 of what is not named. */
#define SHAPE(...) SHAPE_OF(__VA_ARGS__, 0, 0, 0, 0)
#define SHAPE_OF(arms, agents, numbers, to, ...)                                                   \
    (&(const struct tacit_wire_shape){arms, agents, numbers, to})
#define WIRE(protocol, ...) tacit_wire_##protocol.messages, SHAPE(__VA_ARGS__)

/* What an envelope calls a message of this kind, of this type. */
#define WIRE_KIND(protocol, type, named)                                                           \
    tacit_wire_label(tacit_wire_##protocol.messages, &(const struct type){.kind = (named)}).kind

/* What a run of elimination points to: the block begins with what was read first. */
#define ELIM_RUN_BLOCK(run)                                                                        \
    ((void *)(uintptr_t)((run)->members != NULL      ? (const void *)(run)->members                \
                         : (run)->neighbours != NULL ? (const void *)(run)->neighbours             \
                                                     : (const void *)(run)->sites))

/* What was found is written again as these bytes. */
static inline void wire_assert_form(const struct tacit_wire_table *table,
                                    const struct tacit_wire_shape *shape, const void *found,
                                    const uint8_t *bytes, size_t size)
{
    TACIT_ASSERT(tacit_wire_bytes(table, shape, found) == size);
    uint8_t *const again = malloc(size + 1);
    TACIT_ASSERT(again != NULL);
    tacit_wire_encode(table, shape, found, again);
    TACIT_ASSERT(size == 0 || memcmp(again, bytes, size) == 0);
    free(again);
}
#endif
