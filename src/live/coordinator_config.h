/* What a coordinator is started with. */
#ifndef TACIT_LIVE_COORDINATOR_CONFIG_H
#define TACIT_LIVE_COORDINATOR_CONFIG_H
#include "api/http.h"
#include "bus/bus.h"
#include "hub.h"
#include "pki/signing.h"

struct live_coordinator_config {
    const struct live_hub_ops *protocol;
    struct live_hub_config hub; /* the run: what the protocol sees of the file */
    const char *state_directory;
    const char *version; /* of the program, for pages */
    bool begins_term; /* the operator's word that what was granted may be forgotten: writes the new
                         term down, and runs nothing */
    bool
        ends_run; /* the operator's word that the run is over: writes that down, and runs nothing */
    const char *
        lost_run; /* with either: the run of a state that is lost, 32 hexadecimal digits; or NULL */
    bool recovers;          /* builds the state from what the sites hold before it starts, .. */
    uint32_t recover_sites; /* .. once so many have shown it; 0: all */
    struct live_bus_config bus;
    struct live_signing_config signing;
    struct live_http_config status;
    struct live_http_config observe; /* address NULL: nobody outside looks */
    uint32_t waiting_after_s;        /* what does not move for so long is said in the status */
    uint32_t disk_low_mib;           /* less room where the state is asks for attention */
};
#endif
