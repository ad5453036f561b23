/* Wire: messages as bytes. The schema is src/wire/tacit.proto; every field has a fixed size, so
 * that the length of a message tells nothing but what is public anyway (arm and agent counts). No
 * I/O. */
#ifndef TACIT_WIRE_H
#define TACIT_WIRE_H
#include "tacit/elim.h"

#define TACIT_WIRE_VERSION 1u
#define TACIT_WIRE_BYTES_MAX (1u << 24)

/* Bytes that tacit_wire_elim_encode writes for this message. Cost: O(1). */
size_t tacit_wire_elim_bytes(const struct tacit_elim_message *message, uint32_t arm_count,
                             uint32_t agent_count);

/* Encodes a message of sound mode (sums are steps). The address `to` is not encoded: it is the
 * topic. Requires: bytes has …_bytes(message) room.  Ensures: exactly that many bytes are written.
 * Errors: TACIT_MEMORY. */
enum tacit_status tacit_wire_elim_encode(const struct tacit_elim_message *message,
                                         uint32_t arm_count, uint32_t agent_count, uint8_t *bytes);

/* Decodes a peer's bytes. On TACIT_OK *message is one block to be given to free(). `to` is what the
 * caller says. Refused with TACIT_MALFORMED: other versions, missing or extra parts, wrong lengths,
 * sizes other than those of this run, trailing bytes. Errors: TACIT_MALFORMED, TACIT_MEMORY. */
enum tacit_status tacit_wire_elim_decode(const uint8_t *bytes, size_t size, uint32_t arm_count,
                                         uint32_t agent_count, uint32_t to,
                                         struct tacit_elim_message **message);

/* What the hub tells a site about the run (tacit.proto, Announcement). */
struct tacit_wire_announcement {
    uint64_t run_id;
    uint32_t agent;
    uint32_t agent_count;
    uint32_t arm_count;
    uint64_t horizon;
    uint64_t epsilon_nano;
};

#define TACIT_WIRE_ANNOUNCEMENT_BYTES 47u

/* Ensures: exactly TACIT_WIRE_ANNOUNCEMENT_BYTES bytes are written. */
void tacit_wire_announcement_encode(const struct tacit_wire_announcement *announcement,
                                    uint8_t bytes[TACIT_WIRE_ANNOUNCEMENT_BYTES]);

/* Errors: TACIT_MALFORMED (another length or version, an index or a count out of its limits),
 * TACIT_MEMORY; *announcement untouched. */
enum tacit_status tacit_wire_announcement_decode(const uint8_t *bytes, size_t size,
                                                 struct tacit_wire_announcement *announcement);
#endif
