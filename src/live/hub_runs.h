/* From one run of a coordinator to the next: a file with a greater run.id, over a state whose run
 * is over, begins it. */
#ifndef TACIT_LIVE_HUB_RUNS_H
#define TACIT_LIVE_HUB_RUNS_H
#include "hub.h"
#include "runs.h"

/* The rows. Errors: with error->text; TACIT_INVALID: the run is over, and this file, another one
 * than it had, begins none here. To be closed, after errors too. */
enum tacit_status live_hub_runs_read(struct live_runs *runs, struct live_store *store,
                                     const struct live_hub_ops *protocol,
                                     const struct live_hub_config *run, const char *state_directory,
                                     struct tacit_error *error);

/* The same; and if the file is another one the state of the run that is over goes, in a batch that
 * is open then. */
enum tacit_status live_hub_runs_open(struct live_runs *runs, struct live_daemon *daemon,
                                     const struct live_hub_ops *protocol,
                                     const struct live_hub_config *run, const char *state_directory,
                                     struct tacit_error *error);

/* Once the nonce is known: a run that is new has its row. */
void live_hub_runs_enter(struct live_runs *runs, struct live_daemon *daemon,
                         const struct live_hub_config *run);
#endif
