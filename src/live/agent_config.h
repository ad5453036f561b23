/* What the file of a site says. */
#ifndef TACIT_LIVE_AGENT_CONFIG_H
#define TACIT_LIVE_AGENT_CONFIG_H
#include "daemon_config.h"
#include "site.h"

struct live_agent_config {
    struct live_daemon_config daemon;
    const struct live_site_ops *protocol;
    struct live_site_config site; /* its policy: what the protocol sees of the file */
    uint32_t wait_s;              /* for a reward, at first (api/decisions.h) */
    uint32_t deadline_s;          /* and at most */
    uint32_t missing_after_s;     /* > 0: every place is filled so long after its decision, */
    double missing_counts_as;     /* with this where no reward has come */
    uint32_t remember_s;
    uint32_t open_max;
    uint32_t units_max;
    uint32_t rewards_per_unit_max; /* that enter anything, over all runs; 0: no limit */
    bool joins_runs;               /* the next run of its coordinator is joined without asking */
    uint32_t caller_open_max;      /* of one caller of the API (api/api.h) */
    uint32_t caller_calls_per_s;   /* likewise */
};
#endif
