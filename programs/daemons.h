/* What a site's file says, as its daemon is told it (daemons.c). */
#ifndef TACIT_PROGRAMS_DAEMONS_H
#define TACIT_PROGRAMS_DAEMONS_H
#include "../src/live/agent.h"
#include "tacit/config.h"

/* From here on a group may read what the file says it may (live_private_allow_group). */
struct live_agent_config daemons_agent_config(const struct tacit_config_agent *config);

/* Says what is wrong on stderr. Result: the exit code. */
int daemons_report(enum tacit_status status, const struct tacit_error *error);
#endif
