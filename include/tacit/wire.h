/* Wire: messages as bytes. The schema is src/wire/tacit.proto; every field has a fixed size, so
 * that the length of a message tells nothing but what is public anyway (arm and agent counts;
 * between peers, whose reports it names or holds). No I/O. */
#ifndef TACIT_WIRE_H
#define TACIT_WIRE_H
#include "tacit/elim.h"

#define TACIT_WIRE_VERSION 1u
#define TACIT_WIRE_BYTES_MAX (1u << 24)

/* Bytes that tacit_wire_elim_encode writes for this message. Cost: O(1); O(A/64) with origins. */
size_t tacit_wire_elim_bytes(const struct tacit_elim_message *message, uint32_t arm_count,
                             uint32_t agent_count);

/* Encodes a message of sound mode (sums are steps). The address `to` is not encoded: it is the
 * topic. Requires: bytes has …_bytes(message) room, at most TACIT_WIRE_BYTES_MAX.  Ensures: exactly
 * that many bytes are written. Errors: TACIT_MEMORY. */
enum tacit_status tacit_wire_elim_encode(const struct tacit_elim_message *message,
                                         uint32_t arm_count, uint32_t agent_count, uint8_t *bytes);

/* Decodes a peer's bytes. On TACIT_OK *message is one block to be given to free(). `to` is what the
 * caller says. Refused with TACIT_MALFORMED: other versions, missing or extra parts, wrong lengths,
 * sizes other than those of this run, trailing bytes. Errors: TACIT_MALFORMED, TACIT_MEMORY. */
enum tacit_status tacit_wire_elim_decode(const uint8_t *bytes, size_t size, uint32_t arm_count,
                                         uint32_t agent_count, uint32_t to,
                                         struct tacit_elim_message **message);

#define TACIT_WIRE_SITE_BYTES_MAX 64u

struct tacit_wire_neighbour {
    uint32_t agent;
    const char *site; /* its name: 1 to 64 of A-Z a-z 0-9 _ - */
};

/* A site's place in a network of peers (tacit.proto, Network). */
struct tacit_wire_network {
    enum tacit_elim_collection collection;
    uint32_t parent;         /* GATHER: as in struct tacit_elim_peer_config */
    const uint64_t *members; /* A; NULL: all */
    uint32_t neighbour_count;
    const struct tacit_wire_neighbour *neighbours; /* ascending */
    uint32_t round_limit;                          /* of the schedule that peers judge by */
    double gap;                                    /* in (0, 1] */
    uint32_t gather_timeout_s;
};

/* What the hub tells a site about the run (tacit.proto, Announcement). */
struct tacit_wire_announcement {
    uint64_t run_id;
    uint32_t agent;
    uint32_t agent_count;
    uint32_t arm_count;
    uint64_t horizon;
    uint64_t epsilon_nano;
    const struct tacit_wire_network *network; /* NULL: a star */
};

/* Over a star. */
#define TACIT_WIRE_ANNOUNCEMENT_BYTES 47u

/* Bytes that tacit_wire_announcement_encode writes. Cost: O(neighbours + A/64). */
size_t tacit_wire_announcement_bytes(const struct tacit_wire_announcement *announcement);

/* Ensures: exactly …_bytes bytes are written. Errors: TACIT_MEMORY (never over a star). */
enum tacit_status tacit_wire_announcement_encode(const struct tacit_wire_announcement *announcement,
                                                 uint8_t *bytes);

/* On TACIT_OK announcement->network, if there is one, is one block to be given to free(). Errors:
 * TACIT_MALFORMED (another form or version, an index or a count out of its limits, a parent that is
 * no neighbour, a set without the site itself), TACIT_MEMORY; *announcement untouched. */
enum tacit_status tacit_wire_announcement_decode(const uint8_t *bytes, size_t size,
                                                 struct tacit_wire_announcement *announcement);
#endif
