/* What a coordinator is started with. */
#ifndef TACIT_LIVE_COORDINATOR_CONFIG_H
#define TACIT_LIVE_COORDINATOR_CONFIG_H
#include "daemon_config.h"
#include "hub.h"

struct live_coordinator_config {
    struct live_daemon_config daemon;
    const struct live_hub_ops *protocol;
    struct live_hub_config hub; /* the run: what the protocol sees of the file */
    bool begins_term; /* the operator's word that what was granted may be forgotten: writes the new
                         term down, and runs nothing */
    bool
        ends_run; /* the operator's word that the run is over: writes that down, and runs nothing */
    const char *
        lost_run; /* with either: the run of a state that is lost, 32 hexadecimal digits; or NULL */
    bool recovers;          /* builds the state from what the sites hold before it starts, .. */
    uint32_t recover_sites; /* .. once so many have shown it; 0: all */
};
#endif
