/* Steps of the agent's core, and what comes of them. */
#ifndef TACIT_LIVE_AGENT_STEP_H
#define TACIT_LIVE_AGENT_STEP_H
#include "agent_state.h"

/* Feeds the core and carries its update out within this round; the time is added. Requires: the
 * site has joined a run. */
/* As agent_step; *choice is filled where the protocol chooses: its bytes stand until the next step.
 */
enum tacit_status agent_offer(struct agent *agent, const struct tacit_offer *offer,
                              struct live_decision_request *choice);
enum tacit_status agent_step(struct agent *agent, struct live_site_event event);

/* Pulls were played whose rewards enter nothing; without a site they count nowhere. */
void agent_count_played(struct agent *agent, uint64_t count);

/* What decisions fall back to; refreshed from the core. */
struct live_fallback agent_fallback(struct agent *agent);

/* The same for one decision: arms are ranked, which takes a look at each, where it needs that. */
struct live_fallback agent_fallback_for(struct agent *agent,
                                        const struct live_decision_request *request);
/* Says in the log why a site that was put back releases nothing, if so. */
void agent_say_trouble(struct agent *agent);

/* Of which site two rows of one epoch are proved. Requires: there is one. */
void agent_say_forker(const struct live_site_place *place, const struct live_site_view *view,
                      char *words, size_t size);
#endif
