/* What a site promises and what it has spent, for its own operator. */
#ifndef TACIT_LIVE_AGENT_PROMISE_H
#define TACIT_LIVE_AGENT_PROMISE_H
#include "agent_state.h"
#include "api/api_json.h"
#include <jansson.h>

/* GET /v1/ledger; NULL: it cannot be read. */
json_t *agent_ledger(struct agent *agent);

/* GET /v1/statement. */
void agent_statement(struct agent *agent, struct live_buffer *text);
#endif
