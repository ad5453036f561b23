/* Elimination by votes on the wire: its messages, and its part of an announcement. The schema is
 * src/wire/vote.proto; a message's length depends on its kind and the number of arms alone. No
 * I/O.
 */
#ifndef TACIT_WIRE_VOTE_H
#define TACIT_WIRE_VOTE_H
#include "tacit/vote_hub.h"
#include "tacit/wire.h"

#define TACIT_WIRE_VOTE_FAMILY 3u
#define TACIT_WIRE_VOTE_WORD "votes"
#define TACIT_WIRE_VOTE_VERSION 1u

/* ---- Messages -------------------------------------------------------------------------------- */

/* Bytes that …_encode writes for a message of this kind, without an envelope. Cost: O(1). */
size_t tacit_wire_vote_bytes(enum tacit_vote_hub_message_kind kind, uint32_t arm_count);

/* Encodes a message. The address `to` is not encoded: it is the envelope's. Requires: bytes has
 * …_bytes room. Ensures: exactly that many bytes are written. */
void tacit_wire_vote_encode(const struct tacit_vote_hub_message *message, uint32_t arm_count,
                            uint8_t *bytes);

/* Decodes a peer's bytes. On TACIT_OK *message is one block of the allocator's. `to` is what the
 * caller says. Refused with TACIT_MALFORMED: other versions, missing or extra parts, wrong lengths,
 * sizes other than those of this run, trailing bytes. Errors: TACIT_MALFORMED, TACIT_MEMORY. */
enum tacit_status tacit_wire_vote_decode(const uint8_t *bytes, size_t size, uint32_t arm_count,
                                         uint32_t agent_count, uint32_t to,
                                         struct tacit_vote_hub_message **message,
                                         const struct tacit_wire_allocator *allocator);

/* What an envelope calls a message of this kind. */
uint32_t tacit_wire_vote_kind(enum tacit_vote_hub_message_kind kind);

/* ---- The run --------------------------------------------------------------------------------- */

/* What a site needs to know of the run. */
struct tacit_wire_vote_run {
    uint64_t run_id;
    uint32_t agent;
    uint32_t agent_count;
    uint32_t arm_count;
    uint64_t horizon;
    uint64_t epsilon_nano;
    double accuracy;        /* in (0, 1] */
    double eta;             /* in (0, 1) */
    uint32_t votes_needed;  /* m */
    uint32_t committee;     /* the first so many sites vote; 0: all */
    uint32_t reset_after_s; /* 0: none */
    uint32_t tick_ms;
    uint64_t block; /* published sums: pulls of each arm, of a release; 0: votes */
};

#define TACIT_WIRE_VOTE_PARAMETERS_BYTES_MAX 47u

/* The part of the agreement that only this family has: how long it is, and its bytes. */
size_t tacit_wire_vote_parameters_bytes(const struct tacit_wire_vote_run *run);
void tacit_wire_vote_parameters_encode(const struct tacit_wire_vote_run *run, uint8_t *bytes);

/* The run that an announcement speaks of. Errors: TACIT_MALFORMED (another protocol or version of
 * it, a number out of its limits), *run untouched. */
enum tacit_status tacit_wire_vote_run_decode(const struct tacit_wire_announcement *announcement,
                                             struct tacit_wire_vote_run *run);
#endif
