/* What an agent keeps on disk, and how it comes back. */
#ifndef TACIT_LIVE_AGENT_ROWS_H
#define TACIT_LIVE_AGENT_ROWS_H
#include "agent_state.h"

/* Puts a decision into this round's batch. */
void agent_store_row(struct agent *agent, const struct live_decision_row *row);
/* The term, and whether its owner set it; within this round's batch. */
void agent_put_term(struct agent *agent, uint64_t term, bool awaits_term);
/* The last changes before the commit of a round. */
void agent_prepare_commit(struct agent *agent);

/* Who this state belongs to. Errors: TACIT_MEMORY, TACIT_IO. */
enum tacit_status agent_identify(const struct live_agent_config *config,
                                 struct live_store_identity *identity);
/* Puts everything back. Errors: with error->text. */
enum tacit_status agent_restore(struct agent *agent, struct tacit_error *error);
#endif
