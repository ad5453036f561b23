/* The coordinator daemon: a protocol's hub behind a broker, with its durable state and a status
 * page. Where the sites judge for themselves it only announces the run and shows where they are. */
#ifndef TACIT_LIVE_COORDINATOR_H
#define TACIT_LIVE_COORDINATOR_H
#include "api/http.h"
#include "bus/bus.h"
#include "hub.h"
#include "pki/signing.h"
#include "store/store.h"

struct live_coordinator_config {
    const struct live_hub_ops *protocol;
    struct live_hub_config hub; /* the run: what the protocol sees of the file */
    const char *state_directory;
    bool begins_term; /* the operator's word that what was granted may be forgotten: writes the new
                         term down, and runs nothing */
    bool
        ends_run; /* the operator's word that the run is over: writes that down, and runs nothing */
    const char
        *lost_run; /* with it: the run of a state that is lost, 32 hexadecimal digits; or NULL */
    struct live_bus_config bus;
    struct live_signing_config signing;
    struct live_http_config status;
};

/* Runs until SIGTERM. Errors: with error->text; TACIT_INVALID and TACIT_MALFORMED: nothing was
 * started. */
enum tacit_status live_coordinator_run(const struct live_coordinator_config *config,
                                       struct tacit_error *error);

/* Refuses what the start would refuse for the sake of the state; writes nothing, and speaks with
 * nobody. Errors: as above. */
enum tacit_status live_coordinator_check(const struct live_coordinator_config *config,
                                         enum live_store_found *found, struct tacit_error *error);
#endif
