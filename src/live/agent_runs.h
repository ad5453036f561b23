/* From one run to the next: which is announced, whether this site goes along, and what it leaves
 * behind. */
#ifndef TACIT_LIVE_AGENT_RUNS_H
#define TACIT_LIVE_AGENT_RUNS_H
#include "agent_state.h"

/* Before anything else is put back: the rows, and what a site's file that was changed between two
 * runs makes of the state. Errors: with error->text. */
enum tacit_status agent_runs_restore(struct agent *agent, struct tacit_error *error);

/* What stands against a run that is announced, and is not this state's. NULL: nothing; it may wait
 * for its owner's word yet (agent_runs_may_join). */
const char *agent_runs_objection(struct agent *agent, const struct tacit_wire_agreement *announced);

/* Its coordinator begins a later run: so the one that this state is in is over. Requires: there is
 * one. */
void agent_runs_apply(struct agent *agent, const struct tacit_wire_agreement *announced);

/* Does this site go along by itself? If not, the announcement is kept for its owner's word. */
bool agent_runs_may_join(struct agent *agent, const struct tacit_wire_agreement *announced,
                         uint64_t term, const uint8_t *bytes, size_t size);

/* The run that this state is in is over here: its result is written down. */
void agent_runs_note_end(struct agent *agent);

/* Into this round's batch: nothing that was open in the old run enters the new one. */
void agent_runs_leave(struct agent *agent);

/* The owner's word: join this run. false: *objection says why not. Joins in this round, by `join`.
 */
bool agent_runs_consent(struct agent *agent, uint64_t run_id,
                        void (*join)(struct agent *agent, uint64_t term, const uint8_t *bytes,
                                     size_t size),
                        const char **objection);

/* Into the status; and what is worth a warning, or false. */
void agent_runs_add(const struct agent *agent, json_t *status);
bool agent_runs_say(const struct agent *agent, char text[], size_t size);
#endif
