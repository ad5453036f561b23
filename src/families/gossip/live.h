/* Gossip UCB as the daemons drive it. */
#ifndef TACIT_GOSSIP_LIVE_H
#define TACIT_GOSSIP_LIVE_H
#include "../../live/hub.h"
#include "../../live/site.h"

extern const struct live_site_ops gossip_site_ops;
extern const struct live_hub_ops gossip_hub_ops;
#endif
