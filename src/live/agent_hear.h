/* What an agent hears from the broker. */
#ifndef TACIT_LIVE_AGENT_HEAR_H
#define TACIT_LIVE_AGENT_HEAR_H
#include "agent_state.h"

/* The handlers of its connection. */
struct live_bus_events agent_bus_events(struct agent *agent);

/* Once the site has joined a run: an account for each of its neighbours. Errors: TACIT_MEMORY. */
enum tacit_status agent_open_senders(struct agent *agent);
#endif
