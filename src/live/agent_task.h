/* Work that a protocol gives to the site's own command: files go into its directory, a result is
 * taken out of it. */
#ifndef TACIT_LIVE_AGENT_TASK_H
#define TACIT_LIVE_AGENT_TASK_H
#include "agent_state.h"

/* Makes the directory ready, if the site's file names a command. Errors: with error->text. */
enum tacit_status agent_task_open(struct agent *agent, struct tacit_error *error);

/* Starts the task in place of the one under way; number 0: there is none any more. How it ends is
 * an event, never within this call. */
void agent_task_start(struct agent *agent, const struct live_task *task);

/* Stops what is under way; nothing is told. */
void agent_task_close(struct agent *agent);
#endif
