/* Closed decisions go from the agent's memory to the store's files, and are found there. */
#ifndef TACIT_LIVE_AGENT_REMEMBER_H
#define TACIT_LIVE_AGENT_REMEMBER_H
#include "agent_state.h"

/* Where decisions look for what is not in memory any more. */
struct live_decision_memory agent_memory(struct agent *agent);
/* In a batch, when everything else of the round is in it: takes what was written out of memory and
 * out of the table, and hands over the next. */
void agent_remember(struct agent *agent);
/* Tells the store what time it is. Before decisions are asked for. */
void agent_remember_until(struct agent *agent);
#endif
