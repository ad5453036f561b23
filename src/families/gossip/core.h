/* What a site runs of gossip UCB: an agent's core. Its state lies in one block together with the
 * announcement that it was made of, and that block is what the store keeps; the exact sums of this
 * life lie beside it and are kept nowhere. */
#ifndef TACIT_GOSSIP_CORE_H
#define TACIT_GOSSIP_CORE_H
#include "tacit/gossip.h"
#include "tacit/wire_gossip.h"

struct gossip_core;

/* Would all that a site says in a run of so many arms fit into the payloads of the bus? */
bool gossip_core_fits(uint32_t arm_count);

/* A core at its beginning. `mechanism` is what the site itself says. Errors: TACIT_MALFORMED (these
 * bytes announce no run that this site could be a part of), TACIT_MEMORY. */
enum tacit_status gossip_core_new(struct gossip_core **core,
                                  const struct tacit_mechanism_config *mechanism,
                                  const uint8_t *announcement, size_t size);

/* A core from the block that was kept, before the START of a new life. Errors: TACIT_MALFORMED,
 * TACIT_MEMORY. */
enum tacit_status gossip_core_restore(struct gossip_core **core,
                                      const struct tacit_mechanism_config *mechanism,
                                      const void *block, size_t size);
void gossip_core_free(struct gossip_core *core); /* NULL is allowed */

const void *gossip_core_block(const struct gossip_core *core, size_t *size);
const struct tacit_wire_gossip_run *gossip_core_run(const struct gossip_core *core);
const struct tacit_gossip_rule *gossip_core_rule(const struct gossip_core *core);
const struct tacit_gossip_agent *gossip_core_agent(const struct gossip_core *core);

/* What the run's announcement said. */
const struct tacit_wire_agreement *gossip_core_agreement(const struct gossip_core *core);

/* Was it made of this very announcement? */
bool gossip_core_is_of(const struct gossip_core *core, const uint8_t *announcement, size_t size);

/* As tacit_gossip_agent_step. */
enum tacit_status gossip_core_step(struct gossip_core *core, const struct tacit_gossip_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_gossip_update *update);

/* How many rewards were taken in, by all lives: with each one something was drawn. */
uint64_t gossip_core_draw_count(const struct gossip_core *core);
#endif
