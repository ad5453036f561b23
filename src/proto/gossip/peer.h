/* What every agent among neighbours has: a clock over all its incarnations, the incarnation that it
 * is, those that it knows of its neighbours. */
#ifndef TACIT_GOSSIP_PEER_H
#define TACIT_GOSSIP_PEER_H
#include "tacit/core.h"
#include "tacit/random.h"

struct gossip_clock {
    uint64_t now_us;
    uint64_t lived_us; /* of all incarnations: what others can have pulled by now */
};

/* A later start of a site has the greater number; copies of a state that both start have different
 * names. Zeros: incarnations are not guarded. */
struct gossip_incarnation {
    uint64_t number;
    uint64_t name;
};

enum gossip_acquaintance { GOSSIP_KNOWN, GOSSIP_NEW, GOSSIP_REFUSED };

/* Are they agents of the run, ascending, and not the agent itself? */
bool gossip_neighbours_fit(const uint32_t *neighbours, uint32_t count, uint32_t agent,
                           uint32_t agent_count);

/* START: the next incarnation, where they are guarded. Errors: TACIT_ENTROPY, nothing changed. */
enum tacit_status gossip_begin_incarnation(struct gossip_incarnation *own, bool is_guarded,
                                           const struct tacit_entropy *entropy);

/* Does a message carry an incarnation if, and only if, they are guarded? */
bool gossip_incarnation_fits(struct gossip_incarnation given, bool is_guarded);

/* One incarnation of a site at a time: a later start replaces an earlier one, and is known from
 * then on (NEW); of two copies that start from the same state the one that is heard first stays. */
enum gossip_acquaintance gossip_meet(struct gossip_incarnation *known,
                                     struct gossip_incarnation given);

/* Time goes on; at a start no time has passed: a new process has a new clock. */
void gossip_clock_move(struct gossip_clock *clock, uint64_t now_us, bool is_start);

/* Nobody has pulled an arm more often than this by now. pull_us 0: no pull is known to take time.
 */
uint64_t gossip_pulls_by_clock(const struct gossip_clock *clock, uint64_t pull_us, uint64_t most);
#endif
