/* What a site has spent, by the rows of its ledger, over all runs of its state, whatever its file
 * says now. */
#ifndef TACIT_LIVE_AGENT_LEDGER_H
#define TACIT_LIVE_AGENT_LEDGER_H
#include "agent_state.h"

/* Once a start. */
enum tacit_status agent_ledger_restore(struct agent *agent);

/* After a step: what a reward has lost at most, if that grew, into this round's batch. */
void agent_ledger_note(struct agent *agent, const struct live_site_view *view);

/* A place was given to a unit that then has so many. Within this round's batch. */
void agent_ledger_note_unit(struct agent *agent, uint64_t count);
#endif
