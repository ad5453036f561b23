/* The coordinator's inside, which its files share, by the files that have it. */
#ifndef TACIT_LIVE_COORDINATOR_STATE_H
#define TACIT_LIVE_COORDINATOR_STATE_H
#include "causes.h"
#include "control.h"
#include "coordinator_config.h"
#include "coordinator_helper.h"
#include "history.h"
#include "hub_replicated_log.h"
#include "observe.h"
#include "../proto/round/pauses.h"
#include "runs.h"

/* What a site is known by. */
struct hub_site {
    struct live_sender sender;
    uint64_t heard_us; /* its last message of this run and term; 0: none yet */
    uint64_t term;     /* of its last message that was signed; 0: none yet */
};

struct coordinator {
    const struct live_coordinator_config *config;
    struct live_hub_config run; /* as the file says it, with the nonce of this state */
    struct live_daemon daemon;
    struct live_timer *timer;
    struct live_timer *watch; /* of whether anything moves */
    struct live_standstill standstill;
    struct live_standstill round; /* since when it is open */
    uint64_t started_us;
    struct live_timer
        *retained_wait; /* ends the wait for what sites hold, before anything is said */
    struct live_hub *hub;
    struct live_hub_replicated_log replicated_log;
    bool hub_is_dirty;  /* changed in this round: put it once, at the end */
    uint64_t last_term; /* where one is to begin: the last before it */
    bool has_spoken;
    struct round_resend announced; /* to those that were not heard since */
    uint32_t *speaks;              /* by site: the newest version of messages; 0: not known */
    uint64_t accepted_count;
    struct live_runs runs;
    struct live_history history;
    struct live_observe observe;
    struct live_helper_desk desk; /* with two aggregators */
    struct live_envelopes envelopes;
    struct live_member member;
    struct live_control *control; /* NULL until the start is done */
    struct hub_site *sites;       /* by agent index */
    struct live_sender strangers; /* all other names together */
    struct named_site *by_name;   /* in the order of their names (coordinator.c) */
};

/* What it knows of its run when it is asked. */
struct live_status {
    const struct coordinator *of;
    const struct live_hub_config *config; /* the run's */
    const struct live_hub_view *hub;
    struct live_bus_trouble broker;
    uint64_t now_us;
    uint64_t helper_since_us; /* since when the helper is waited for; 0: it is not */
};

/* ---- coordinator.c --------------------------------------------------------------------------- */

/* Are the messages of a site of a version that is not this run's? */
bool coordinator_is_foreign(const struct coordinator *coordinator, uint32_t site);

struct live_control_names live_hub_names(const struct live_hub_config *run);

/* ---- hub_causes.c ---------------------------------------------------------------------------- */

/* What keeps a coordinator from its work, and what to do (causes.h). */

struct live_causes live_hub_causes(const struct live_status *status);

/* Of all that a run moves, as far as a coordinator hears of it (causes.h). Cost: O(A + K). */
uint64_t live_hub_hash(const struct live_hub_view *hub, const struct live_hub_config *config);

/* ---- status_page.c --------------------------------------------------------------------------- */

/* What the coordinator shows: /status as JSON, / as a plain page, /health, /metrics. */

/* The arm of the last order, by the means that were released: the best of those that are in.
 * UINT32_MAX: it is not decided, or nothing is known of arms. */
uint32_t live_hub_winner(const struct live_hub_view *hub, uint32_t arm_count);

/* What /status says. */
void live_status_write(const struct live_status *status, struct live_buffer *out);

/* Answers a request. */
void live_status_answer(struct live_status *status, struct live_request *request);
#endif
