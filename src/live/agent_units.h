/* People: whoever a decision is about, as the application names them (`unit`). Only a keyed digest
 * of the name is kept, and how many places they have had, over all runs of the state. */
#ifndef TACIT_LIVE_AGENT_UNITS_H
#define TACIT_LIVE_AGENT_UNITS_H
#include "agent_state.h"

#define AGENT_UNIT_BYTES 33u

/* The digest of a name, in words of 16 bytes. The key is drawn with the first one, and kept.
 * Errors: TACIT_INVALID (empty or too long), TACIT_ENTROPY, TACIT_IO. */
enum tacit_status agent_unit_digest(struct agent *agent, const char *unit,
                                    char digest[AGENT_UNIT_BYTES]);

/* May a decision about this unit (a digest, or NULL) enter a sum? Depends on counts only. */
bool agent_unit_has_room(struct agent *agent, const char *unit);

/* A place was given to the row's unit; or it comes back without a reward in it. Within this round's
 * batch; nothing where there is no limit. */
void agent_unit_reserve(struct agent *agent, const struct live_decision_row *row);
void agent_unit_give_back(struct agent *agent, const struct live_decision_row *row);
#endif
