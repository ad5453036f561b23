/* Epoch elimination as the daemons drive it. */
#ifndef TACIT_ELIM_LIVE_H
#define TACIT_ELIM_LIVE_H
#include "../../live/hub.h"
#include "../../live/site.h"

extern const struct live_site_ops elim_site_ops;
extern const struct live_hub_ops elim_hub_ops;
#endif
