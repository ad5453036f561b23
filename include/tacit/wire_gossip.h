/* Gossip UCB on the wire: its messages, and its part of an announcement. The schema is
 * src/wire/gossip.proto; every field has a fixed size, so that the length of a message tells the
 * number of arms and nothing else. No I/O. */
#ifndef TACIT_WIRE_GOSSIP_H
#define TACIT_WIRE_GOSSIP_H
#include "tacit/gossip.h"
#include "tacit/wire.h"

#define TACIT_WIRE_GOSSIP_FAMILY 2u
#define TACIT_WIRE_GOSSIP_WORD "gossip-ucb"
#define TACIT_WIRE_GOSSIP_VERSION 1u

/* ---- Messages -------------------------------------------------------------------------------- */

/* Bytes that tacit_wire_gossip_encode writes, without an envelope. Cost: O(1). */
size_t tacit_wire_gossip_bytes(const struct tacit_gossip_message *message, uint32_t arm_count);

/* The address `to` is not encoded: it is the envelope's. Requires: bytes has …_bytes(message) room,
 * at most TACIT_WIRE_BYTES_MAX; rows that the message's kind has, and no others. Ensures: exactly
 * that many bytes are written. Cost: O(K). */
void tacit_wire_gossip_encode(const struct tacit_gossip_message *message, uint32_t arm_count,
                              uint8_t *bytes);

/* Decodes a peer's bytes. On TACIT_OK *message is one block of the allocator's. `to` is what the
 * caller says. Errors: TACIT_MALFORMED (another version or form, rows of other lengths than K,
 * numbers that are not finite, counts that no run has, a sender that there is not), TACIT_MEMORY;
 * *message untouched. Cost: O(size). */
enum tacit_status tacit_wire_gossip_decode(const uint8_t *bytes, size_t size, uint32_t arm_count,
                                           uint32_t agent_count, uint32_t to,
                                           struct tacit_gossip_message **message,
                                           const struct tacit_wire_allocator *allocator);

/* What an envelope calls a message of this kind. */
uint32_t tacit_wire_gossip_kind(enum tacit_gossip_message_kind kind);

/* ---- To the hub ------------------------------------------------------------------------------ */

/* Where a site is: the hub only watches. */
struct tacit_wire_gossip_progress {
    uint32_t from;
    uint64_t run_id;
    uint64_t pull_count;
    bool finished;
    const double *theta; /* K, parts of the public range */
};

#define TACIT_WIRE_GOSSIP_KIND_TOLD (TACIT_WIRE_KIND_ANNOUNCEMENT + 2u + TACIT_GOSSIP_REFUSE)

/* Bytes of it, without an envelope. */
size_t tacit_wire_gossip_progress_bytes(uint32_t arm_count);

/* Ensures: exactly …_told_bytes(K) bytes are written. */
void tacit_wire_gossip_progress_encode(const struct tacit_wire_gossip_progress *progress,
                                       uint32_t arm_count, uint8_t *bytes);

/* Fills *progress, whose theta is copied into the K numbers of `theta`. Errors: as …_decode;
 * nothing is touched. */
enum tacit_status tacit_wire_gossip_progress_decode(const uint8_t *bytes, size_t size,
                                                    uint32_t arm_count, uint32_t agent_count,
                                                    struct tacit_wire_gossip_progress *progress,
                                                    double *theta,
                                                    const struct tacit_wire_allocator *allocator);

/* ---- In an outbox ---------------------------------------------------------------------------- */

/* What was drawn with one reward: the noised sum of its arm from then on. */
struct tacit_wire_gossip_release {
    uint32_t arm;
    uint64_t pull_count; /* rewards in it */
    int64_t steps;
};

#define TACIT_WIRE_GOSSIP_RELEASE_BYTES 23u

/* Writes it down: always so many bytes. */
void tacit_wire_gossip_release_encode(const struct tacit_wire_gossip_release *release,
                                      uint8_t bytes[TACIT_WIRE_GOSSIP_RELEASE_BYTES]);

/* ---- The run --------------------------------------------------------------------------------- */

/* What a site's core needs to know of the run. */
struct tacit_wire_gossip_run {
    uint64_t run_id;
    uint32_t agent;
    uint32_t agent_count;
    uint32_t arm_count;
    uint64_t horizon;
    uint64_t epsilon_nano;
    uint64_t exchange_us; /* 1 to 2^56 */
    uint64_t pull_us;     /* 0: not known */
    bool log_base_10;
    uint32_t neighbour_count;                      /* > 0 */
    const struct tacit_wire_neighbour *neighbours; /* ascending */
};

#define TACIT_WIRE_GOSSIP_PARAMETERS_BYTES 23u

/* The part of the agreement that only this family has. */
void tacit_wire_gossip_parameters_encode(const struct tacit_wire_gossip_run *run,
                                         uint8_t bytes[TACIT_WIRE_GOSSIP_PARAMETERS_BYTES]);

/* Bytes of the site's own part. Cost: O(neighbours). */
size_t tacit_wire_gossip_place_bytes(const struct tacit_wire_gossip_run *run);

/* Ensures: exactly …_place_bytes bytes are written. */
void tacit_wire_gossip_place_encode(const struct tacit_wire_gossip_run *run, uint8_t *bytes);

/* The run that an announcement speaks of. On TACIT_OK run->neighbours is one block of the
 * allocator's. Errors: TACIT_MALFORMED (another protocol or version of it, a number out of its
 * limits, neighbours that cannot be), TACIT_MEMORY; *run untouched. */
enum tacit_status tacit_wire_gossip_run_decode(const struct tacit_wire_announcement *announcement,
                                               struct tacit_wire_gossip_run *run,
                                               const struct tacit_wire_allocator *allocator);

#endif
