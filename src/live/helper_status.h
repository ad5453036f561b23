/* What the helper shows: /status as JSON, / as a plain page, /health, /metrics. */
#ifndef TACIT_LIVE_HELPER_STATUS_H
#define TACIT_LIVE_HELPER_STATUS_H
#include "api/http.h"
#include "helper_core.h"

/* Notes since when it waits for what it waits for now; to be called again and again. */
void helper_status_see(struct helper *helper);

/* Answers a request; context: the helper. */
void helper_status_answer(void *context, struct live_request *request);
#endif
