/* The keys of votes in the coordinator's file, and what its hub makes of them. */
#ifndef TACIT_VOTE_LIVE_KEYS_H
#define TACIT_VOTE_LIVE_KEYS_H
#include "../../live/hub.h"
#include "../../live/site.h"
#include "tacit/wire_vote.h"

extern const struct live_site_ops vote_site_ops;
extern const struct live_hub_ops vote_hub_ops;

/* The run as this site is told of it. Requires: settings. */
const struct tacit_wire_vote_run *vote_hub_run(const struct live_hub_config *hub);

/* What the hub adds up with sharing: sums; block 0: votes. Requires: settings. */
struct tacit_vote_pool_config vote_hub_pool(const struct live_hub_config *hub);

/* ---- live_two.c: published sums with two aggregators ---- */

struct live_run_file;
const struct live_site_ops *vote_site_of_two(void);
const struct live_hub_ops *vote_hub_of_two(void);

/* hub->settings. Errors: as live_family.hub_settings. */
enum tacit_status vote_settle_two(const struct live_run_file *from, double accuracy, double delta);
#endif
