/* What an agent hears from the broker. */
#ifndef TACIT_LIVE_AGENT_HEAR_H
#define TACIT_LIVE_AGENT_HEAR_H
#include "agent_state.h"

/* The handlers of its connection. */
struct live_bus_events agent_bus_events(struct agent *agent);

/* Joins what was announced: the next run, by its owner's word. */
void agent_join(struct agent *agent, uint64_t term, const uint8_t *bytes, size_t size);

/* Once the site has joined a run: an account for each of its neighbours. Errors: TACIT_MEMORY. */
enum tacit_status agent_open_senders(struct agent *agent);
#endif
