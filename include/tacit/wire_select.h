/* A training federation on the wire: its messages, and its part of an announcement. The schema is
 * src/wire/select.proto; the length of a message depends on public numbers only. No I/O. */
#ifndef TACIT_WIRE_SELECT_H
#define TACIT_WIRE_SELECT_H
#include "tacit/select.h"
#include "tacit/wire.h"

#define TACIT_WIRE_SELECT_FAMILY 5u
#define TACIT_WIRE_SELECT_WORD "select"
#define TACIT_WIRE_SELECT_VERSION 1u

/* Bytes that tacit_wire_select_encode writes, without an envelope. Cost: O(1). */
size_t tacit_wire_select_bytes(const struct tacit_select_message *message, uint32_t agent_count);

/* The address `to` is the envelope's. Requires: …_bytes of room. Ensures: exactly that many are
 * written. */
void tacit_wire_select_encode(const struct tacit_select_message *message, uint32_t agent_count,
                              uint8_t *bytes);

/* Decodes a peer's bytes. On TACIT_OK *message is one block of the allocator's; a piece has as
 * many numbers as it says, at most those of a whole one. Errors: TACIT_MALFORMED (another version
 * or form), TACIT_MEMORY. */
enum tacit_status tacit_wire_select_decode(const uint8_t *bytes, size_t size, uint32_t agent_count,
                                           uint32_t to, struct tacit_select_message **message,
                                           const struct tacit_wire_allocator *allocator);

/* ---- The run --------------------------------------------------------------------------------- */

struct tacit_wire_select_run {
    uint64_t run_id;
    uint32_t agent;
    uint32_t agent_count;
    uint32_t round_count;
    uint64_t epsilon_nano; /* total of a site */
    uint32_t dimension;
    uint32_t batches;
    uint32_t deadline_s;
    double clip;
};

#define TACIT_WIRE_SELECT_PARAMETERS_BYTES 24u

/* The part of the agreement that only this family has. */
void tacit_wire_select_parameters_encode(const struct tacit_wire_select_run *run,
                                         uint8_t bytes[TACIT_WIRE_SELECT_PARAMETERS_BYTES]);

/* d of the training that an agreement is of; 0: it is of something else. */
uint32_t tacit_wire_select_dimension(const struct tacit_wire_agreement *agreement);

/* The run that an announcement speaks of. Errors: TACIT_MALFORMED (another protocol or version of
 * it, a number out of its limits); *run untouched. */
enum tacit_status tacit_wire_select_run_decode(const struct tacit_wire_announcement *announcement,
                                               struct tacit_wire_select_run *run);
#endif
