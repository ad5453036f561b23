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

/* ---- coordinator_recover.c ------------------------------------------------------------------- */

/* A coordinator that lost its state, or has an old one, is built again from what the sites hold. */

/* Waits until enough sites have shown what they hold, and writes the newest of it into the state
 * directory, in one batch; then the coordinator starts as always. What is there already, and as new
 * as anything that the sites hold, stays, in a term that is written: what it granted last may be
 * missing. *goes_on: false if it was stopped before. Errors: with
 * error->text: TACIT_FORKED (two entries that cannot both be of one replicated log), TACIT_INVALID
 * (they are of another run than the file says, or of several), TACIT_ROLLBACK (the protocol is not
 * built again), and what the store says. Nothing was written then.
 *
 * Where a term is to begin nothing is written at all: *term is the last one that the sites have
 * shown, or this state is in. Sites that do not come within ten seconds are not waited for. One
 * whose term is out of reach of most is left out, be it signed or not (envelope.h). */
enum tacit_status live_coordinator_recover(const struct live_coordinator_config *config,
                                           const struct live_store_identity *identity,
                                           bool *goes_on, uint64_t *term,
                                           struct tacit_error *error);
#endif
