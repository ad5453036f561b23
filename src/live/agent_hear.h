/* What an agent hears from the broker. */
#ifndef TACIT_LIVE_AGENT_HEAR_H
#define TACIT_LIVE_AGENT_HEAR_H
#include "agent_state.h"

/* The handlers of its connection. */
struct live_bus_events agent_bus_events(struct agent *agent);
#endif
