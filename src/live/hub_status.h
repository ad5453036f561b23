/* What a coordinator knows of its run and of itself when it is asked. */
#ifndef TACIT_LIVE_HUB_STATUS_H
#define TACIT_LIVE_HUB_STATUS_H
#include "api/api_json.h"
#include "api/http.h"
#include "bus/bus.h"
#include "causes.h"
#include "chain.h"
#include "history.h"
#include "hub.h"
#include "sender.h"

struct live_status {
    const struct live_hub_config *config;
    const struct live_hub_view *hub;
    struct live_bus_trouble broker;
    uint64_t now_us;
    uint64_t still_us;         /* since when nothing has moved that the sites say */
    uint64_t round_us;         /* since when this round is open; at most since this process runs */
    uint64_t started_us;       /* this process */
    uint64_t waiting_after_us; /* what does not move for longer is said */
    uint64_t accepted_count;
    uint64_t refused_count;
    uint64_t unsigned_count; /* of the refused: not signed by whose word they claim to be */
    const struct live_sender *senders; /* by site */
    const uint64_t *heard_us;          /* by site: its last word that was signed; 0: none yet */
    uint64_t term;
    uint32_t version;                    /* of messages, in this run */
    const uint32_t *speaks;              /* by site: the newest that it speaks; 0: not known */
    const uint64_t *terms;               /* by site: in which it is; 0: not heard yet */
    const struct live_sender *strangers; /* all other names together */
    uint64_t helper_since_us;            /* since when the helper is waited for; 0: it is not */
    const struct live_entry *entry;      /* the newest of the chain */
    const struct live_history *history;
    const char *protocol;
    const char *program;   /* its version */
    const char *directory; /* of the state */
    uint32_t disk_low_mib;
    bool is_noised; /* what the sites send */
};

/* ---- hub_causes.c ---------------------------------------------------------------------------- */

/* What keeps a coordinator from its work, and what to do (causes.h). */

struct live_causes live_hub_causes(const struct live_status *status);

/* Of all that a run moves, as far as a coordinator hears of it (causes.h). Cost: O(A + K). */
uint64_t live_hub_mark(const struct live_hub_view *hub, const struct live_hub_config *config);

/* ---- status_page.c --------------------------------------------------------------------------- */

/* What the coordinator shows: /status as JSON, / as a plain page, /health, /metrics. */

/* The arm of the last order, by the means that were released: the best of those that are in.
 * UINT32_MAX: it is not decided, or nothing is known of arms. */
uint32_t live_hub_winner(const struct live_hub_view *hub, uint32_t arm_count);

/* What /status says. */
void live_status_write(const struct live_status *status, struct live_buffer *out);

/* Answers a request. */
void live_status_answer(const struct live_status *status, struct live_request *request);
#endif
