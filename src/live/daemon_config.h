/* What all daemons are started with. */
#ifndef TACIT_LIVE_DAEMON_CONFIG_H
#define TACIT_LIVE_DAEMON_CONFIG_H
#include "api/http.h"
#include "bus/bus.h"
#include "pki/signing.h"

struct live_daemon_config {
    const char *state_directory;
    const char *version; /* of the program, for pages */
    struct live_bus_config bus;
    struct live_signing_config signing;
    struct live_http_config http;    /* for the machine's own: API or status */
    struct live_http_config observe; /* address NULL: nobody outside looks */
    uint32_t waiting_after_s;        /* what does not move for so long is said in the status */
    uint32_t disk_low_mib;           /* less room where the state is asks for attention */
};
#endif
