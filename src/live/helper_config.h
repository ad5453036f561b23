/* What a helper is started with. */
#ifndef TACIT_LIVE_HELPER_CONFIG_H
#define TACIT_LIVE_HELPER_CONFIG_H
#include "daemon_config.h"
#include "hub.h"

#define LIVE_HELPER_ACCEPTED_FILE "helper.accepted" /* the operator's word for an offer */

struct live_helper_config {
    struct live_daemon_config daemon;
    const char *federation;
    const struct live_hub_ops *(*find)(const char *name); /* NULL: not a protocol that is live */
    const char *hub; /* this and what follows: as its file has it */
    double epsilon;
    double delta;
    uint32_t sites_min;
};
#endif
