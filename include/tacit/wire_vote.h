/* Elimination by votes on the wire: its messages, and its part of an announcement. The schema is
 * src/wire/vote.proto; a message's length depends on its kind and the number of arms alone. No
 * I/O.
 */
#ifndef TACIT_WIRE_VOTE_H
#define TACIT_WIRE_VOTE_H
#include "tacit/vote_hub.h"
#include "tacit/wire.h"

#define TACIT_WIRE_VOTE_FAMILY 3u
#define TACIT_WIRE_VOTE_NAME "votes"
#define TACIT_WIRE_VOTE_VERSION 1u

/* ---- Messages -------------------------------------------------------------------------------- */

/* Messages are struct tacit_vote_hub_message. */
extern const struct tacit_wire_protocol tacit_wire_vote;

/* What a site needs to know of the run. */
struct tacit_wire_vote_run {
    TACIT_WIRE_RUN_HEAD
    double accuracy;        /* in (0, 1] */
    double eta;             /* in (0, 1) */
    uint32_t votes_needed;  /* m */
    uint32_t committee;     /* the first so many sites vote; 0: all */
    uint32_t reset_after_s; /* 0: none */
    uint32_t tick_ms;
    uint64_t block; /* published sums: pulls of each arm, of a release; 0: votes */
};
#endif
