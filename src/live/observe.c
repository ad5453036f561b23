/* The listener for other machines: page, health and metrics, and nothing else. */
#include "observe.h"
#include "daemon/log.h"
#include <string.h>

#define CALLS_PER_S 20u /* of all who look, together: a page costs more than a decision */

static void on_request(void *context, struct live_request *request)
{
    static const char *const paths[] = {"/", "/dashboard.js", "/health", "/metrics"};
    static const char nowhere[] =
        "{\"error\": \"not here; allowed: GET /, /dashboard.js, /health, /metrics\"}\n";
    static const char hasty[] = "{\"error\": \"too many requests a second; ask again later\"}\n";
    struct live_observe const *const observe = context;
    TACIT_ASSERT(observe != NULL && observe->answer != NULL);
    uint64_t const now_us = live_now_us();
    request->retry_after_s = live_caller_wait_s(request->caller, CALLS_PER_S, now_us);
    if (request->retry_after_s > 0) {
        live_http_answer(request, 429, "application/json", hasty, sizeof hasty - 1);
        return;
    }
    live_caller_charge(request->caller, CALLS_PER_S, 1, now_us);
    for (size_t i = 0; strcmp(request->method, "GET") == 0 && i < sizeof paths / sizeof paths[0];
         i++)
        if (strcmp(request->path, paths[i]) == 0) {
            observe->answer(observe->context, request);
            return;
        }
    live_http_answer(request, 404, "application/json", nowhere, sizeof nowhere - 1);
}

enum tacit_status live_observe_open(struct live_observe *observe, struct live_loop *loop,
                                    const struct live_http_config *config,
                                    void (*answer)(void *context, struct live_request *request),
                                    void *context, struct tacit_error *error)
{
    *observe = (struct live_observe){.config = config, .answer = answer, .context = context};
    if (config->address == NULL)
        return TACIT_OK;
    return live_http_open(&observe->http, loop, config, on_request, observe, error);
}

void live_observe_reload(struct live_observe *observe)
{
    struct tacit_error error = {""};
    if (observe->http != NULL &&
        live_http_read_tls(observe->http, &observe->config->tls, &error) != TACIT_OK)
        live_log(LIVE_LOG_WARNING, "observe", "the certificates of before stay: %s", error.text);
}

void live_observe_close(struct live_observe *observe)
{
    if (observe->http != NULL)
        live_http_close(observe->http);
    observe->http = NULL;
}
