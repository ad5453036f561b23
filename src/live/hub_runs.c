/* A file with a greater run.id over a state whose run is over begins the next run. */
#include "hub_runs.h"
#include "daemon/log.h"
#include "tacit/wire.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* May this file begin the next run? */
static enum tacit_status check_next(const struct live_runs *runs,
                                    const struct live_hub_ops *protocol,
                                    const struct live_hub_config *run, const char *state_directory,
                                    struct tacit_error *error)
{
    TACIT_ASSERT(runs->count > 0);
    uint64_t const last = tacit_wire_run_id(live_runs_now(runs)->run);
    if (protocol->one_run != NULL)
        return live_refuse(error, TACIT_INVALID, "%s: %s", state_directory, protocol->one_run);
    if (run->run_id > last)
        return TACIT_OK;
    return live_refuse(error, TACIT_INVALID,
                       "%s: run %" PRIu64 " of this state is over, and the file is another one: it "
                       "begins a new run, whose run.id must be above %" PRIu64,
                       state_directory, last, last);
}

enum tacit_status live_hub_runs_read(struct live_runs *runs, struct live_store *store,
                                     const struct live_hub_ops *protocol,
                                     const struct live_hub_config *run, const char *state_directory,
                                     struct tacit_error *error)
{
    TACIT_TRY(live_runs_open(runs, store));
    return live_store_has_new_config(store)
               ? check_next(runs, protocol, run, state_directory, error)
               : TACIT_OK;
}

enum tacit_status live_hub_runs_open(struct live_runs *runs, struct live_daemon *daemon,
                                     const struct live_hub_ops *protocol,
                                     const struct live_hub_config *run, const char *state_directory,
                                     struct tacit_error *error)
{
    TACIT_TRY(live_hub_runs_read(runs, daemon->store, protocol, run, state_directory, error));
    if (!live_store_has_new_config(daemon->store))
        return TACIT_OK;
    return live_daemon_begin(daemon) ? live_store_adopt_config(daemon->store) : TACIT_IO;
}

void live_hub_runs_enter(struct live_runs *runs, struct live_daemon *daemon,
                         const struct live_hub_config *run)
{
    uint8_t bytes[TACIT_WIRE_RUN_BYTES];
    live_hub_run(run, bytes);
    if (runs->count > 0 && live_runs_kin(runs, bytes) == LIVE_RUN_SAME)
        return;
    if (runs->count > 0)
        live_log(LIVE_LOG_INFO, "runs",
                 "run %" PRIu64 " begins; the one before it, %" PRIu64 ", has its result under "
                 "GET /runs",
                 run->run_id, tacit_wire_run_id(live_runs_now(runs)->run));
    live_runs_begin(runs, daemon, bytes);
}
