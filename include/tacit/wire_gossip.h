/* Gossip UCB on the wire: its messages, and its part of an announcement. The schema is
 * src/wire/gossip.proto; every field has a fixed size, so that the length of a message tells the
 * number of arms and nothing else. No I/O. */
#ifndef TACIT_WIRE_GOSSIP_H
#define TACIT_WIRE_GOSSIP_H
#include "tacit/gossip.h"
#include "tacit/wire.h"

#define TACIT_WIRE_GOSSIP_FAMILY 2u
#define TACIT_WIRE_GOSSIP_NAME "gossip-ucb"
#define TACIT_WIRE_GOSSIP_VERSION 1u

/* ---- Messages -------------------------------------------------------------------------------- */

/* Messages are struct tacit_gossip_message. Requires, of what is encoded: rows that its kind has,
 * and no others. */
extern const struct tacit_wire_protocol tacit_wire_gossip;

/* ---- To the hub ------------------------------------------------------------------------------ */

/* Where a site is: the hub only watches. */
struct tacit_wire_gossip_progress {
    uint32_t from;
    uint64_t run_id;
    uint64_t pull_count;
    bool finished;
    const double *theta; /* K, parts of the public range */
};

#define TACIT_WIRE_GOSSIP_KIND_PROGRESS (TACIT_WIRE_KIND_ANNOUNCEMENT + 2u + TACIT_GOSSIP_REFUSE)

extern const struct tacit_wire_table tacit_wire_gossip_progress;

/* ---- In an outbox ---------------------------------------------------------------------------- */

/* What was drawn with one reward: the noised sum of its arm from then on. */
struct tacit_wire_gossip_release {
    uint32_t arm;
    uint64_t pull_count; /* rewards in it */
    int64_t steps;
};

#define TACIT_WIRE_GOSSIP_RELEASE_BYTES 23u /* always */
extern const struct tacit_wire_table tacit_wire_gossip_release;

/* ---- The run --------------------------------------------------------------------------------- */

/* What a site's core needs to know of the run. */
struct tacit_wire_gossip_run {
    TACIT_WIRE_RUN_HEAD
    uint64_t exchange_us; /* 1 to 2^56 */
    uint64_t pull_us;     /* 0: not known */
    bool log_base_10;
    uint32_t neighbour_count;                      /* > 0 */
    const struct tacit_wire_neighbour *neighbours; /* ascending */
};
#endif
