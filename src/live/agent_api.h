/* What the decision API asks of the agent daemon. */
#ifndef TACIT_LIVE_AGENT_API_H
#define TACIT_LIVE_AGENT_API_H
#include "agent_state.h"

struct live_api_agent agent_api(struct agent *agent);
#endif
