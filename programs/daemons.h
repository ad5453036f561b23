/* What a site's file says, as its daemon is told it (daemons.c). */
#ifndef TACIT_PROGRAMS_DAEMONS_H
#define TACIT_PROGRAMS_DAEMONS_H
#include "../src/live/agent.h"
#include "tacit/config.h"

/* A daemon's file; from here on a group may read what it says it may. NULL: it is no such file, and
 * that was said. */
struct tacit_config_daemon *daemons_load(enum tacit_config_role role, const char *file);

struct live_agent_config daemons_agent_config(const struct tacit_config_agent *config);

/* Says what is wrong on stderr. Result: the exit code. */
int daemons_report(enum tacit_status status, const struct tacit_error *error);
#endif
