/* What the file of a site says. */
#ifndef TACIT_LIVE_AGENT_CONFIG_H
#define TACIT_LIVE_AGENT_CONFIG_H
#include "api/http.h"
#include "bus/bus.h"
#include "site.h"

struct live_agent_config {
    const struct live_site_ops *protocol;
    struct live_site_config site; /* its policy: what the protocol sees of the file */
    uint32_t deadline_s;          /* decisions.h */
    uint32_t remember_s;
    uint32_t open_max;
    uint32_t units_max;
    const char *state_directory;
    struct live_bus_config bus;
    struct live_http_config api;
};
#endif
