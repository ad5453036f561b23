/* What the coordinator shows: /status as JSON, / as a plain page, /health, /metrics. */
#ifndef TACIT_LIVE_STATUS_PAGE_H
#define TACIT_LIVE_STATUS_PAGE_H
#include "api/http.h"
#include "bus/bus.h"
#include "hub.h"
#include "presence.h"
#include "sender.h"

struct live_status {
    const struct live_hub_config *config;
    const struct live_hub_view *hub;
    struct live_bus_trouble broker;
    uint64_t now_us;
    uint64_t accepted_count;
    uint64_t refused_count;
    uint64_t unsigned_count; /* of the refused: not signed by whose word they claim to be */
    const struct live_sender *senders;     /* by site */
    const struct live_presence *presences; /* by site */
    const uint64_t *heard_us;              /* by site: its last word that was signed; 0: none yet */
    const struct live_sender *strangers;   /* all other names together */
};

/* The arm of the last order, by the means that were released: the best of those that are in.
 * UINT32_MAX: it is not decided, or nothing is known of arms. */
uint32_t live_hub_winner(const struct live_hub_view *hub, uint32_t arm_count);

/* Answers a request. */
void live_status_answer(const struct live_status *status, struct live_request *request);
#endif
