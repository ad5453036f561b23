/* Epoch elimination on the wire: its messages, and its part of an announcement. The schema is
 * src/wire/elim.proto; every field has a fixed size, so that the length of a message tells nothing
 * but what is public anyway (arm and agent counts; between peers, whose reports it names or holds).
 * No I/O. */
#ifndef TACIT_WIRE_ELIM_H
#define TACIT_WIRE_ELIM_H
#include "tacit/elim.h"
#include "tacit/wire.h"

#define TACIT_WIRE_ELIM_FAMILY 0u
#define TACIT_WIRE_ELIM_WORD "elimination"
#define TACIT_WIRE_ELIM_VERSION 1u

/* ---- Messages -------------------------------------------------------------------------------- */

/* Bytes that tacit_wire_elim_encode writes for this message, without an envelope. Cost: O(1);
 * O(A/64) with origins. */
size_t tacit_wire_elim_bytes(const struct tacit_elim_message *message, uint32_t arm_count,
                             uint32_t agent_count);

/* What the length of a message between peers depends on, besides K. */
struct tacit_wire_elim_rows {
    size_t span_bytes;  /* of its set of origins: highest / 8 - lowest / 8 + 1 */
    size_t row_count;   /* DATA: its origins */
    uint32_t sum_count; /* DATA: numbers in a row */
    bool has_openings;  /* DATA: with grants */
    bool has_seals;     /* DATA: with seals */
};

/* Bytes of an ADVERT, a REQUEST or DATA of which no more than that is known: what
 * tacit_wire_elim_bytes says of every such message. Cost: O(1). */
size_t tacit_wire_elim_rows_bytes(enum tacit_elim_message_kind kind,
                                  const struct tacit_wire_elim_rows *rows, uint32_t arm_count);

/* Encodes a message of sound mode (sums are steps). The address `to` is not encoded: it is the
 * envelope's. Requires: bytes has …_bytes(message) room, at most TACIT_WIRE_BYTES_MAX.  Ensures:
 * exactly that many bytes are written. Errors: TACIT_MEMORY, of rows in a table. */
enum tacit_status tacit_wire_elim_encode(const struct tacit_elim_message *message,
                                         uint32_t arm_count, uint32_t agent_count, uint8_t *bytes,
                                         const struct tacit_wire_allocator *allocator);

/* Decodes a peer's bytes. On TACIT_OK *message is one block of the allocator's. `to` is what the
 * caller says. Refused with TACIT_MALFORMED: other versions, missing or extra parts, wrong lengths,
 * sizes other than those of this run, trailing bytes. Errors: TACIT_MALFORMED, TACIT_MEMORY. */
enum tacit_status tacit_wire_elim_decode(const uint8_t *bytes, size_t size, uint32_t arm_count,
                                         uint32_t agent_count, uint32_t to,
                                         struct tacit_elim_message **message,
                                         const struct tacit_wire_allocator *allocator);

/* What an envelope calls a message of this kind. */
uint32_t tacit_wire_elim_kind(enum tacit_elim_message_kind kind);

/* ---- The run --------------------------------------------------------------------------------- */

/* A site's place in a network of peers (elim.proto, ElimPlace). */
struct tacit_wire_elim_network {
    enum tacit_elim_collection collection;
    uint32_t gather_timeout_s;
    uint32_t parent;         /* GATHER: as in struct tacit_elim_peer_config */
    const uint64_t *members; /* A; NULL: all */
    uint32_t neighbour_count;
    const struct tacit_wire_neighbour *neighbours; /* ascending */
    const char *const *sites; /* SPREAD: A names, by index: whose seals are checked; else NULL */
};

/* What a site's core needs to know of the run. */
struct tacit_wire_elim_run {
    uint64_t run_id;
    uint32_t agent;
    uint32_t agent_count;
    uint32_t arm_count;
    uint64_t horizon;
    uint64_t epsilon_nano;
    uint32_t report_count;                         /* N */
    uint32_t round_limit;                          /* of the schedule; 0: none */
    double gap;                                    /* in (0, 1] */
    double growth;                                 /* of exact bounds; 0: the paper's */
    double confidence;                             /* with a growth; 0: none */
    const struct tacit_wire_elim_network *network; /* NULL: a star */
    uint32_t floor_milli; /* of exact bounds over a star (tacit/bounds.h); of the agreement */
};

#define TACIT_WIRE_ELIM_PARAMETERS_BYTES 47u

/* The part of the agreement that only this family has. */
void tacit_wire_elim_parameters_encode(const struct tacit_wire_elim_run *run,
                                       uint8_t bytes[TACIT_WIRE_ELIM_PARAMETERS_BYTES]);

/* Bytes of the site's own part; 0 over a star. Cost: O(neighbours + A/64). */
size_t tacit_wire_elim_place_bytes(const struct tacit_wire_elim_run *run);

/* Ensures: exactly …_place_bytes bytes are written. */
void tacit_wire_elim_place_encode(const struct tacit_wire_elim_run *run, uint8_t *bytes);

/* The run that an announcement speaks of. On TACIT_OK run->network, if there is one, is one block
 * of the allocator's. Errors: TACIT_MALFORMED (another protocol or version of it, a number out
 * of its limits, a parent that is no neighbour, a set without the site itself), TACIT_MEMORY; *run
 * untouched. */
enum tacit_status tacit_wire_elim_run_decode(const struct tacit_wire_announcement *announcement,
                                             struct tacit_wire_elim_run *run,
                                             const struct tacit_wire_allocator *allocator);

#endif
