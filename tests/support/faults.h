/* What goes wrong in runs of the simulator's nodes, as data: messages are lost, come twice, late,
 * not at all for a while; nodes die between the effects of a step and come back with what was
 * persisted, or never; old states come back, and clones run beside those whose they are. */
#ifndef TACIT_TESTS_FAULTS_H
#define TACIT_TESTS_FAULTS_H
#include "../../src/sim/nodes.h"

/* Where a state lies. */
enum fault_location { FAULT_MEMORY, FAULT_DISK, FAULT_BACKUP };

struct faults {
    struct tacit_sim_faults common; /* for the simulator: faults_use */
    double loss;                    /* chance that a message to one receiver is lost */
    double duplication;             /* chance that it comes twice */
    uint64_t delay_us_max; /* each copy is late by a uniform time up to this: so they overtake */
    double agent_crash; /* chance that an agent dies in a step: before or after persist, after send
                         */
    double hub_crash;   /* the same for the hub */
    uint64_t down_us_max;  /* a crashed node is back after a uniform time up to this */
    uint32_t plan_parts;   /* a plan is served in so many parts, >= 1 */
    double noise_failure;  /* chance that a fill of an agent's entropy fails */
    uint32_t lost_agents;  /* so many agents, the first ones, go at a random time for good */
    uint64_t healed_at_us; /* from here on nothing goes wrong any more; lost agents are gone */
    /* W(A): from .. until, these agents and all others do not reach each other, nor the hub; NULL:
     * nobody is cut off. What is under way arrives. */
    const uint64_t *cut_off;
    uint64_t cut_off_from_us;
    uint64_t cut_off_until_us;
    /* Old states that come back, at random times before T and healed_at_us. A clone of an agent
     * speaks in its name, and hears what it is sent. */
    uint32_t agent_backups; /* so many times an agent goes on from its disk of some time before */
    uint32_t clones;        /* so many times an agent's disk is started once more beside it */
    const uint64_t *copied; /* W(A): agents of which backups and clones are; NULL: any. Not empty */
    /* A state was written over another one; a place is of a node, or the backup of this number. */
    void (*on_copied)(void *context, enum fault_location to, uint32_t to_index,
                      enum fault_location from, uint32_t from_index);
    void *context;
};

/* For the configuration of nodes; stays valid with them. Again, where the faults were changed. */
const struct tacit_sim_faults *faults_use(struct faults *faults);

/* Whose state a node has: of a clone the agent, else the node itself. */
uint32_t faults_agent_of(const struct tacit_sim_nodes *nodes, uint32_t node);

/* From now on all that is sent is shown: of one run at a time. */
void faults_watch(struct tacit_sim_nodes *nodes, void (*sent)(void *context, const void *message),
                  void *context);

/* After a run: is every agent done that was not lost? */
bool faults_are_healed(const struct tacit_sim_nodes *nodes);
#endif
