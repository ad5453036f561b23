/* What keeps a coordinator from its work, and what to do (causes.h). */
#ifndef TACIT_LIVE_HUB_CAUSES_H
#define TACIT_LIVE_HUB_CAUSES_H
#include "causes.h"
#include "hub_status.h"

struct live_causes live_hub_causes(const struct live_status *status);

/* Of all that a run moves, as far as a coordinator hears of it (causes.h). Cost: O(A + K). */
uint64_t live_hub_mark(const struct live_hub_view *hub, const struct live_hub_config *config);
#endif
