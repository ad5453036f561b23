/* Play in phases as the daemons drive it. */
#ifndef TACIT_PHASED_LIVE_H
#define TACIT_PHASED_LIVE_H
#include "../../live/hub.h"
#include "../../live/site.h"
#include "tacit/phases.h"

extern const struct live_site_ops phased_site_ops;
extern const struct live_hub_ops phased_hub_ops;

/* live_site_ops.configure of another family whose runs are rounds of plans, once it has read of its
 * announcement what a site has to know: arms, agents, horizon. */
enum tacit_status phased_site_take(struct live_site *site, uint64_t run_id, uint32_t agent,
                                   const struct tacit_phases *schedule);
#endif
