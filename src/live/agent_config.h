/* What the file of a site says. */
#ifndef TACIT_LIVE_AGENT_CONFIG_H
#define TACIT_LIVE_AGENT_CONFIG_H
#include "api/http.h"
#include "bus/bus.h"
#include "pki/signing.h"
#include "site.h"

struct live_agent_config {
    const struct live_site_ops *protocol;
    struct live_site_config site; /* its policy: what the protocol sees of the file */
    uint32_t wait_s;              /* for a reward, at first (api/decisions.h) */
    uint32_t deadline_s;          /* and at most */
    uint32_t missing_after_s;     /* > 0: every place is filled so long after its decision, */
    double missing_counts_as;     /* with this where no reward has come */
    uint32_t remember_s;
    uint32_t waiting_after_s; /* what does not move for so long is said in the status */
    uint32_t disk_low_mib;    /* less room where the state is asks for attention */
    uint32_t open_max;
    uint32_t units_max;
    uint32_t rewards_per_unit_max; /* that enter anything, over all runs; 0: no limit */
    bool joins_runs;               /* the next run of its coordinator is joined without asking */
    const char *state_directory;
    const char *version; /* of the program, for pages */
    struct live_bus_config bus;
    struct live_signing_config signing;
    struct live_http_config api;
    struct live_http_config observe; /* address NULL: nobody outside looks */
    uint32_t caller_open_max;        /* of one caller of the API (api/api.h) */
    uint32_t caller_calls_per_s;     /* likewise */
};
#endif
