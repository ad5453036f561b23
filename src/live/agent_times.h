/* Times of an agent, by the clock of its state: what is kept of them. */
#ifndef TACIT_LIVE_AGENT_TIMES_H
#define TACIT_LIVE_AGENT_TIMES_H
#include "agent_state.h"

/* By the clock of the state. */
uint64_t agent_now_ms(const struct agent *agent);
/* Another place of this arm was given out again. */
void agent_keep_missed(struct agent *agent, uint32_t arm);
/* The arms that are in became fewer, or it is decided: now. */
void agent_keep_arms_since(struct agent *agent);
/* Clock and wait into the batch, as far as they have moved. Requires: a batch. */
void agent_keep_times(struct agent *agent);
/* Requires: the decisions are there. */
enum tacit_status agent_restore_times(struct agent *agent);
#endif
