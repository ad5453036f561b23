/* What the owner of a site says to its agent on the control socket (control.h): arms that this site
 * does not play any more, and on what that choice rests. */
#ifndef TACIT_LIVE_AGENT_CONTROL_H
#define TACIT_LIVE_AGENT_CONTROL_H
#include "agent_state.h"

/* The handler of live_control_open; its context is the agent. */
void agent_on_word(void *context, struct live_request *request);

/* What the operator changed, and what this site refuses, into its status. */
void agent_add_changes(const struct agent *agent, const struct live_site_view *view,
                       json_t *status);

/* What the refusals say, into its statement; nothing where there are none. */
void agent_state_refusals(struct agent *agent, struct live_buffer *text);
#endif
