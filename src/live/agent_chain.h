/* The coordinator's chain as a site keeps it: the newest entry, which it shows to whoever asks. */
#ifndef TACIT_LIVE_AGENT_CHAIN_H
#define TACIT_LIVE_AGENT_CHAIN_H
#include "agent_state.h"

/* The entry of the run that this site is in, as it was kept. Requires: the envelopes have begun.
 * Errors: TACIT_MALFORMED, TACIT_MEMORY, and what the store says. */
enum tacit_status agent_open_chain(struct agent *agent);
void agent_close_chain(struct agent *agent);

/* At each connection, before the orders are asked for. */
void agent_ask_for_chain(struct agent *agent);
/* To the coordinator, retained: a coordinator that comes later hears of it. */
void agent_show_chain(struct agent *agent);

/* An entry that the coordinator published. NULL, or why it is refused. */
const char *agent_hear_entry(struct agent *agent, const struct live_arrival *arrival,
                             struct live_opened *opened);

/* May a word of the coordinator be obeyed that was said after this entry? NULL, or why not. */
const char *agent_objection_to_entry(struct agent *agent, uint64_t entry);

/* What is wrong with the coordinator, for people; NULL: nothing. */
const char *agent_chain_trouble(const struct agent *agent);
#endif
