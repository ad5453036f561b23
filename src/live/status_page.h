/* What the coordinator shows: /status as JSON, / as a plain page, /health, /metrics. */
#ifndef TACIT_LIVE_STATUS_PAGE_H
#define TACIT_LIVE_STATUS_PAGE_H
#include "coordinator.h"
#include "api/http.h"
#include "tacit/elim.h"

struct live_status {
    const struct live_coordinator_config *config;
    const struct tacit_elim_hub_view *hub;
    bool has_hub; /* else the sites judge for themselves: seen is where they say they are */
    bool is_connected;
    uint64_t accepted_count;
    uint64_t refused_count;
};

/* Answers a request. */
void live_status_answer(const struct live_status *status, struct live_request *request);
#endif
