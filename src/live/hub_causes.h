/* What keeps a coordinator from its work, and what to do (causes.h). */
#ifndef TACIT_LIVE_HUB_CAUSES_H
#define TACIT_LIVE_HUB_CAUSES_H
#include "causes.h"
#include "hub_status.h"

struct live_causes live_hub_causes(const struct live_status *status);
#endif
