/* Clocks, incarnations and neighbours of agents without a hub (peer.h). */
#include "peer.h"

bool gossip_neighbours_fit(const uint32_t *neighbours, uint32_t count, uint32_t agent,
                           uint32_t agent_count)
{
    if (agent >= agent_count || count >= agent_count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (neighbours[i] >= agent_count || neighbours[i] == agent ||
            (i > 0 && neighbours[i] <= neighbours[i - 1]))
            return false;
    return true;
}

enum tacit_status gossip_begin_incarnation(struct gossip_incarnation *own, bool is_guarded,
                                           const struct tacit_entropy *entropy)
{
    uint64_t name = 0;
    TACIT_ASSERT(own != NULL);
    if (is_guarded) {
        enum tacit_status const status = tacit_entropy_below(entropy, UINT64_MAX, &name);
        if (status != TACIT_OK)
            return status;
        own->number++;
    }
    own->name = name;
    return TACIT_OK;
}

bool gossip_incarnation_fits(struct gossip_incarnation given, bool is_guarded)
{
    return is_guarded ? given.number > 0 : given.number == 0 && given.name == 0;
}

enum gossip_acquaintance gossip_meet(struct gossip_incarnation *known,
                                     struct gossip_incarnation given)
{
    if (given.number == known->number && given.name == known->name)
        return GOSSIP_KNOWN;
    if (given.number <= known->number)
        return GOSSIP_REFUSED;
    *known = given;
    return GOSSIP_NEW;
}

void gossip_clock_move(struct gossip_clock *clock, uint64_t now_us, bool is_start)
{
    TACIT_ASSERT(is_start || now_us >= clock->now_us);
    clock->lived_us += is_start ? 0 : now_us - clock->now_us;
    clock->now_us = now_us;
}

uint64_t gossip_pulls_by_clock(const struct gossip_clock *clock, uint64_t pull_us, uint64_t most)
{
    uint64_t const by_clock = pull_us == 0 ? most : clock->lived_us / pull_us + 1;
    return by_clock < most ? by_clock : most;
}
