/* What the coordinator shows: /status as JSON, / as a plain page, /health, /metrics. */
#ifndef TACIT_LIVE_STATUS_PAGE_H
#define TACIT_LIVE_STATUS_PAGE_H
#include "api/api_json.h"
#include "api/http.h"
#include "hub_status.h"

/* The arm of the last order, by the means that were released: the best of those that are in.
 * UINT32_MAX: it is not decided, or nothing is known of arms. */
uint32_t live_hub_winner(const struct live_hub_view *hub, uint32_t arm_count);

/* What /status says. */
void live_status_write(const struct live_status *status, struct live_buffer *out);

/* Answers a request. */
void live_status_answer(const struct live_status *status, struct live_request *request);
#endif
