/* A file with a greater run.id over a state whose run is over begins the next run. */
#include "hub_runs.h"
#include "daemon/log.h"
#include "tacit/wire.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum tacit_status refuse(const char *state_directory, const char *why,
                                struct tacit_error *error)
{
    return live_refuse(error, TACIT_INVALID, "%s: %s", state_directory, why);
}

/* May this file begin the next run? */
static enum tacit_status check_next(const struct live_runs *runs,
                                    const struct live_hub_ops *protocol,
                                    const struct live_hub_config *run, const char *state_directory,
                                    struct tacit_error *error)
{
    TACIT_ASSERT(runs->count > 0);
    char why[256];
    uint64_t const last = tacit_wire_run_id(live_runs_now(runs)->run);
    if (protocol->one_run != NULL)
        return refuse(state_directory, protocol->one_run, error);
    if (run->run_id > last)
        return TACIT_OK;
    (void)snprintf(why, sizeof why,
                   "run %" PRIu64 " of this state is over, and the file is another one: it begins "
                   "a new run, whose run.id must be above %" PRIu64,
                   last, last);
    return refuse(state_directory, why, error);
}

enum tacit_status live_hub_runs_open(struct live_runs *runs, struct live_daemon *daemon,
                                     const struct live_hub_ops *protocol,
                                     const struct live_hub_config *run, const char *state_directory,
                                     struct tacit_error *error)
{
    enum tacit_status status = live_runs_open(runs, daemon->store);
    if (status != TACIT_OK || !live_store_has_new_config(daemon->store))
        return status;
    status = check_next(runs, protocol, run, state_directory, error);
    if (status == TACIT_OK && !live_daemon_begin(daemon))
        status = TACIT_IO;
    return status == TACIT_OK ? live_store_adopt_config(daemon->store) : status;
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
