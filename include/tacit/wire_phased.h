/* Play in phases on the wire: its messages, and its part of an announcement. The schema is
 * src/wire/phased.proto; every field has a fixed size, so that the length of a message tells
 * nothing but how many arms the plan has. No I/O. */
#ifndef TACIT_WIRE_PHASED_H
#define TACIT_WIRE_PHASED_H
#include "tacit/phased.h"
#include "tacit/wire.h"

#define TACIT_WIRE_PHASED_FAMILY 6u
#define TACIT_WIRE_PHASED_WORD "phased-index"
#define TACIT_WIRE_PHASED_VERSION 1u

/* ---- Messages -------------------------------------------------------------------------------- */

/* Bytes that tacit_wire_phased_encode writes for this message, without an envelope. Cost: O(1). */
size_t tacit_wire_phased_bytes(const struct tacit_phased_message *message);

/* Encodes a message. The address `to` is not encoded: it is the envelope's. Requires: bytes has
 * …_bytes(message) room, at most TACIT_WIRE_BYTES_MAX. Ensures: exactly that many bytes are
 * written. */
void tacit_wire_phased_encode(const struct tacit_phased_message *message, uint8_t *bytes);

/* Decodes a peer's bytes. On TACIT_OK *message is one block of the allocator's. `to` is what the
 * caller says. Refused with TACIT_MALFORMED: other versions, missing or extra parts, wrong lengths,
 * arms and agents beyond this run's, plans that are no plans, trailing bytes. Errors:
 * TACIT_MALFORMED, TACIT_MEMORY. */
enum tacit_status tacit_wire_phased_decode(const uint8_t *bytes, size_t size, uint32_t arm_count,
                                           uint32_t agent_count, uint32_t to,
                                           struct tacit_phased_message **message,
                                           const struct tacit_wire_allocator *allocator);

/* What an envelope calls a message of this kind. */
uint32_t tacit_wire_phased_kind(enum tacit_phased_message_kind kind);

/* ---- The run --------------------------------------------------------------------------------- */

/* What a site's core needs to know of the run. */
struct tacit_wire_phased_run {
    uint64_t run_id;
    uint32_t agent;
    uint64_t epsilon_nano;
    struct tacit_phases schedule; /* of the hub's judge */
};

#define TACIT_WIRE_PHASED_PARAMETERS_BYTES 42u

/* The part of the agreement that only this family has. */
void tacit_wire_phased_parameters_encode(const struct tacit_phases *schedule,
                                         uint8_t bytes[TACIT_WIRE_PHASED_PARAMETERS_BYTES]);

/* The run that an announcement speaks of. Errors: TACIT_MALFORMED (another protocol or version of
 * it, a number out of its limits, a place), TACIT_MEMORY; *run untouched. */
enum tacit_status tacit_wire_phased_run_decode(const struct tacit_wire_announcement *announcement,
                                               struct tacit_wire_phased_run *run);
#endif
