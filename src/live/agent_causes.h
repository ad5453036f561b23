/* What keeps an agent from its work, and what to do (causes.h). */
#ifndef TACIT_LIVE_AGENT_CAUSES_H
#define TACIT_LIVE_AGENT_CAUSES_H
#include "agent_state.h"
#include "causes.h"

struct live_causes agent_causes(const struct agent *agent, const struct live_site_view *view);

/* Into the status: the causes, why there is no broker, what is announced, how far the hub is. */
void agent_add_causes(const struct agent *agent, const struct live_site_view *view, json_t *status);

/* GET /v1/health. NULL: no memory. */
json_t *agent_health(const struct agent *agent, const struct live_site_view *view,
                     bool *is_healthy);
#endif
