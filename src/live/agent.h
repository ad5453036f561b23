/* The agent daemon of a site: a protocol's site behind the decision API and the broker. */
#ifndef TACIT_LIVE_AGENT_H
#define TACIT_LIVE_AGENT_H
#include "agent_config.h"

/* Runs until SIGTERM. Errors: with error->text; TACIT_INVALID and TACIT_MALFORMED: nothing was
 * started. */
enum tacit_status live_agent_run(const struct live_agent_config *config, struct tacit_error *error);
#endif
