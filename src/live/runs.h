/* The runs that a state was in, of an agent and of a coordinator alike. A run is 16 bytes: the
 * nonce of the coordinator's state, then the number of the run in the coordinator's file. The nonce
 * stays over the runs of a coordinator, the number grows: so a site knows the next run of its own
 * coordinator from an older one, and from that of somebody else (ADR 31). */
#ifndef TACIT_LIVE_RUNS_H
#define TACIT_LIVE_RUNS_H
#include "api/api_json.h"
#include "daemon.h"

struct live_runs {
    struct live_run_row *rows; /* without their results */
    uint32_t count;
};

/* All rows of the store. Errors: TACIT_MEMORY, and what the store says. */
enum tacit_status live_runs_open(struct live_runs *runs, struct live_store *store);
void live_runs_close(struct live_runs *runs);

/* The one that the state is in, or was in last; NULL: none yet. */
const struct live_run_row *live_runs_now(const struct live_runs *runs);
/* Is there one, and has it ended? */
bool live_runs_is_over(const struct live_runs *runs);

/* Are both of one coordinator, and is the second the later one? */
bool live_run_follows(const uint8_t run[16], const uint8_t later[16]);

/* What is another run to this state? */
enum live_run_kin {
    LIVE_RUN_SAME,
    LIVE_RUN_NEXT,   /* of the same coordinator, and later */
    LIVE_RUN_OLDER,  /* one that this state was in before, or of before one of them */
    LIVE_RUN_FOREIGN /* of another coordinator than the run it was in last, or of one that has lost
                        its state */
};
/* Requires: there is one. */
enum live_run_kin live_runs_kin(const struct live_runs *runs, const uint8_t run[16]);

/* Into the batch of this round: it begins, behind the releases so far; it ends, or its result is
 * another one (taken over; NULL: none, or memory). Failures stop the daemon. */
void live_runs_begin(struct live_runs *runs, struct live_daemon *daemon, const uint8_t run[16]);
void live_runs_end(struct live_runs *runs, struct live_daemon *daemon, const char *result,
                   size_t size);

/* Of which run is a release, and how is it numbered there? NULL: of none. */
const struct live_run_row *live_runs_of_release(const struct live_runs *runs, uint64_t number,
                                                uint64_t *epoch);

/* {"runs": [{"number", "run", "run_id", "begun", "ended", "result"}, ..]} with what they came to.
 * Errors: what the store says. */
enum tacit_status live_runs_list(struct live_store *store, struct live_buffer *out);
#endif
