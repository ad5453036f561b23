/* Play in phases as the daemons drive it. */
#ifndef TACIT_PHASED_LIVE_H
#define TACIT_PHASED_LIVE_H
#include "../../live/hub.h"
#include "../../live/site.h"
#include "tacit/phases.h"

extern const struct live_site_ops phased_site_ops;
extern const struct live_hub_ops phased_hub_ops;
#endif
