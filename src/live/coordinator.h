/* The coordinator daemon: a protocol's hub behind a broker, with its durable state and a status
 * page. Where the sites judge for themselves it only announces the run and shows where they are. */
#ifndef TACIT_LIVE_COORDINATOR_H
#define TACIT_LIVE_COORDINATOR_H
#include "coordinator_config.h"
#include "store/store.h"

/* Runs until SIGTERM. Errors: with error->text; TACIT_INVALID and TACIT_MALFORMED: nothing was
 * started. */
enum tacit_status live_coordinator_run(const struct live_coordinator_config *config,
                                       struct tacit_error *error);

/* Refuses what the start would refuse for the sake of the state; writes nothing, and speaks with
 * nobody. Errors: as above. */
enum tacit_status live_coordinator_check(const struct live_coordinator_config *config,
                                         enum live_store_found *found, struct tacit_error *error);
#endif
