/* Elimination by votes as the daemons drive it: private votes, over a coordinator that grants. */
#ifndef TACIT_VOTE_LIVE_H
#define TACIT_VOTE_LIVE_H
#include "../../live/hub.h"
#include "../../live/site.h"

extern const struct live_site_ops vote_site_ops;
extern const struct live_hub_ops vote_hub_ops;
#endif
