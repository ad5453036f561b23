/* The decision API of an agent: what a site's application may ask over HTTP, and in which words it
 * is answered (docs/openapi.yaml). Knows nothing of the daemon but the calls below.
 *
 * Group commit: answers that promise something are kept until the daemon says that the round is
 * durable. */
#ifndef TACIT_LIVE_API_H
#define TACIT_LIVE_API_H
#include "api_json.h"
#include "decisions.h"
#include "held.h"
#include "numbers.h"

#define LIVE_API_BATCH_MAX 1000u
#define LIVE_API_OPEN_MAX 1000u /* open decisions that are listed */

struct live_api;

/* What the daemon does for the API; all required but pages. Times are milliseconds of the state's
 * clock. */
struct live_api_agent {
    void *context;
    uint64_t (*now_ms)(void *context);
    /* As live_decisions_decide, and whatever else makes the daemon refuse. The answer's texts are
     * not used. */
    enum tacit_status (*decide)(void *context, const struct live_decision_request *request,
                                uint64_t now_ms, struct live_decision_answer *answer);
    /* value: finite. It is the daemon that clips. */
    enum live_reward_answer (*reward)(void *context, struct live_decision_id id, double value,
                                      uint64_t now_ms);
    /* As live_decisions_open and live_decisions_close. */
    void (*open)(void *context,
                 bool (*each)(void *each_context, const struct live_decision_row *row),
                 void *each_context);
    enum live_close_answer (*close)(void *context, struct live_decision_id id, uint64_t now_ms);
    const struct live_page *pages; /* what there is to be seen, up to a path of NULL */
};

struct live_api_config {
    uint32_t arm_count;
    const char *const *arm_names; /* K texts, or NULL */
    struct live_api_agent agent;
    /* Of one caller: decisions that are open, and pieces of work a second (a request, or each
     * element of a batch) and at once; 0: no limit. */
    uint32_t caller_open_max;
    uint32_t caller_calls_per_s;
    const uint8_t *id_key;  /* LIVE_STORE_ID_KEY_BYTES */
    struct live_held *held; /* for answers that promise something */
};

/* Errors: TACIT_INVALID (an empty or repeated name), TACIT_MEMORY. */
enum tacit_status live_api_new(struct live_api **api, const struct live_api_config *config);
void live_api_free(struct live_api *api);

/* Beyond a caller's limits it is answered 429, with Retry-After. The handler of live_http_open; its
 * context is the API. */
void live_api_handle(void *api, struct live_request *request);

/* The same for those who may look and nothing else (observe.h): at once, and on nobody's account.
 * Requires: a GET of a path that promises nothing. */
void live_api_show(void *api, struct live_request *request);

/* One request without HTTP. */
struct live_api_reply {
    unsigned code;
    const char *content_type;
    bool promises; /* must not go out before the round is durable */
    struct live_buffer text;
};
void live_api_reply(struct live_api *api, const char *method, const char *path, const uint8_t *body,
                    size_t size, struct live_api_reply *reply);

struct live_api_counts {
    uint64_t requests;
    uint64_t refusals; /* answered with 4xx */
    uint64_t failures; /* answered with 5xx */
    uint64_t decisions;
    uint64_t rewards; /* accepted */
};
struct live_api_counts live_api_count(const struct live_api *api);
/* The same, as metrics. */
void live_api_write_counts(const struct live_api *api, struct live_buffer *text);
#endif
