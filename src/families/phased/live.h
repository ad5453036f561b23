/* Play in phases as the daemons drive it. */
#ifndef TACIT_PHASED_LIVE_H
#define TACIT_PHASED_LIVE_H
#include "../../live/hub.h"
#include "../../live/site.h"
#include "tacit/phases.h"

extern const struct live_site_ops phased_site_ops;
extern const struct live_hub_ops phased_hub_ops;

struct live_run_file;

/* Refuses what phased_schedule_refusal (ladder.h) names, in the keys of a coordinator's file. */
enum tacit_status phased_check_live(const struct live_run_file *from,
                                    const struct tacit_phases *schedule);
#endif
