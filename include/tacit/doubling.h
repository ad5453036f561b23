/* Gossip with releases that double (ours, not a paper's; EXACT-BOUNDS 2, 5): sites on any connected
 * graph, without a server. Every arm climbs a ladder of pulls, by default doubling. Whenever a site
 * has climbed a rung of an arm it releases one sum, that of the pulls since the rung before, with
 * noise of scale 1/epsilon: so each reward is in one release, and an arm has at most log2 T of
 * them. Neighbours pass on a growing set of (agent, arm, block) -> sum; the pulls of a block follow
 * from the ladder. Merging is a union: what comes by two ways is known once, and no mass can be
 * lost or doubled.
 *
 * A site plays from the blocks that a quorum of sites (all, by default) has released, with the
 * bounds of EXACT-BOUNDS 2 and the plans of the phased index (5.3 to 5.5). It catches up first
 * where another site is a rung ahead. So without faults all sites make the same plans, those that a
 * hub would, and equal numbers of pulls keep the union a plain mean over sites whose rewards
 * differ.
 *
 * A part of the simulator: no message is lost, nobody starts twice, no state is kept. Pure
 * functions of (state, event, entropy); states are relocatable blocks. A sites, K arms, T slots per
 * site, E rungs. src/proto/gossip/NOTES.md maps the specification to functions. */
#ifndef TACIT_DOUBLING_H
#define TACIT_DOUBLING_H
#include "tacit/base.h"
#include "tacit/core.h"
#include "tacit/phases.h"
#include "tacit/privacy.h"
#include "tacit/random.h"

/* Blocks in one message at most: 16 KiB and a header. */
#define TACIT_DOUBLING_ENTRIES_MAX 682u

/* ---- Messages -------------------------------------------------------------------------------- */

/* One released sum. */
struct tacit_doubling_entry {
    uint32_t agent;
    uint32_t arm;
    uint32_t block; /* from 0 */
    uint32_t spare; /* 0 */
    int64_t steps;  /* noised */
};

/* To all neighbours: blocks that they may not know, those of one agent and arm ascending. A plain
 * struct; its entries belong to the sender's memory and stay valid until its next step. */
struct tacit_doubling_message {
    uint32_t from;
    uint32_t entry_count;
    const struct tacit_doubling_entry *entries;
};

/* Bytes that a deep copy of the message needs. */
size_t tacit_doubling_message_size(const struct tacit_doubling_message *message);

/* Deep copy into `memory` (8-byte aligned, …_size bytes), which then holds all of it. */
const struct tacit_doubling_message *
tacit_doubling_message_copy(const struct tacit_doubling_message *message, void *memory);

/* ---- Events and updates ---------------------------------------------------------------------- */

/* `persist` is never set. */
struct tacit_doubling_update {
    TACIT_UPDATE(struct tacit_doubling_message)
};

/* ---- Agent ----------------------------------------------------------------------------------- */

struct tacit_doubling_config {
    struct tacit_phases schedule;     /* rule index, without a confidence */
    struct tacit_mechanism mechanism; /* sound; its epsilon is the schedule's or more */
    uint32_t agent_id;
    uint32_t quorum; /* sites that must have released a block before it is used; 0: all. With fewer,
                      * means are weighted by who came */
    uint64_t hop_us; /* > 0: news waits so long for other news before it is passed on */
};

struct tacit_doubling_agent; /* opaque, relocatable: what was released */

/* The exact sums of open blocks, and scratch. */
struct tacit_doubling_memory; /* opaque, relocatable */

/* What a driver or a checker may look at. Pointers are valid until the next step. */
struct tacit_doubling_view {
    bool waiting;        /* for blocks of others */
    bool resting;        /* no further plan fits: the leader until T */
    bool finished;       /* T slots were played */
    bool forced;         /* the open plan catches up */
    uint64_t pull_count; /* pulls given account of, of T */
    uint64_t forced_count;
    uint64_t release_count; /* blocks that this agent released */
    uint32_t leader;        /* of the last decision; TACIT_NO_ARM: none yet */
    uint32_t exploit_arm;   /* what is played while waiting */
    uint32_t rung_count;    /* E */
    uint32_t plan_count;
    const struct tacit_pull_block *plan; /* open, as it was given */
    const uint8_t *known;                /* A x K: blocks known of each agent and arm */
    const int64_t *steps;                /* A x K x E: their noised sums */
    const uint64_t *rungs;               /* E: S_1, S_2, .. */
    const double *means;                 /* K: y of the last decision, in units of the range */
    const struct tacit_ledger *ledger;
};

/* Bytes of a state: O(A K log T). Errors: 0 if the configuration is not valid. */
size_t tacit_doubling_size(const struct tacit_doubling_config *config);

/* Bytes of a memory. Requires: a valid configuration, as below. */
size_t tacit_doubling_memory_size(const struct tacit_doubling_config *config);

/* Ensures: nothing in it. Requires: 8-byte aligned memory of …_size bytes. */
void tacit_doubling_memory_init(struct tacit_doubling_memory *memory,
                                const struct tacit_doubling_config *config);

/* Errors: TACIT_INVALID, *agent untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_doubling_init(struct tacit_doubling_agent *agent,
                                      const struct tacit_doubling_config *config);

/* One step. Errors: TACIT_ENTROPY: nothing was released, and the agent is of no further use.
 * Requires: START first; rewards of the plan, pulls of the leader while it waits, news of
 * neighbours in the order in which they said it. Cost: O(1) a reward; O(entries) news, and O(A K)
 * with the bounds of K arms where a plan is made. */
enum tacit_status tacit_doubling_step(struct tacit_doubling_agent *agent,
                                      struct tacit_doubling_memory *memory,
                                      const struct tacit_event *event,
                                      const struct tacit_entropy *entropy,
                                      struct tacit_doubling_update *update);

/* Shows an agent's state without changing it. Cost: O(A K). */
void tacit_doubling_view(const struct tacit_doubling_agent *agent,
                         struct tacit_doubling_view *view);
#endif
