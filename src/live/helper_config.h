/* What a helper is started with. */
#ifndef TACIT_LIVE_HELPER_CONFIG_H
#define TACIT_LIVE_HELPER_CONFIG_H
#include "api/http.h"
#include "bus/bus.h"
#include "hub.h"
#include "pki/signing.h"

#define LIVE_HELPER_ACCEPTED_FILE "helper.accepted" /* the operator's word for an offer */

struct live_helper_config {
    const char *version; /* of the program */
    const char *federation;
    const char *state_directory;
    const char *hub; /* fingerprint of the coordinator's key */
    double epsilon;  /* the largest that it serves; .. */
    double delta;    /* .. with this delta at most; 0: with none */
    uint32_t sites_min;
    const struct live_hub_ops *(*find)(const char *name); /* NULL: not a protocol that is live */
    struct live_bus_config bus;
    struct live_signing_config signing;
    struct live_http_config status;
};
#endif
