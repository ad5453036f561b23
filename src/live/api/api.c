/* Endpoints of the decision API. */
#include "api.h"
#include "../daemon/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK 200u
#define BAD_REQUEST 400u
#define NOT_FOUND 404u
#define WRONG_METHOD 405u
#define CONFLICT 409u
#define TOO_MANY 429u
#define UNAVAILABLE 503u

static const char type_json[] = "application/json";

static const char unknown_id[] =
    "no decision has this id, or it was forgotten: it closed long ago, or is of a run that was "
    "over when this site's file was changed";

struct live_api {
    struct live_api_agent agent;
    struct live_arm_names names;
    struct live_ids *ids;
    uint64_t *unavailable; /* room for one request's set, .. */
    double *contexts;      /* .. and for its contexts */
    struct live_held *held;
    struct live_api_counts counts;
    uint32_t caller_open_max;
    uint32_t caller_calls_per_s;
    struct live_caller *caller; /* of the request at hand, or NULL */
    unsigned pieces;            /* of work in it, beyond the first */
};

/* ---- Replies --------------------------------------------------------------------------------- */

static void add_error(struct live_buffer *text, const char *error)
{
    live_buffer_add(text, "{\"error\": ");
    live_buffer_add_quoted(text, error);
    live_buffer_add(text, "}");
}

static void refuse(struct live_api_reply *reply, unsigned code, const char *error)
{
    reply->code = code;
    add_error(&reply->text, error);
}

/* Without the bracket that ends it. */
static void add_decision(const struct live_api *api, const struct live_decision_row *row,
                         struct live_buffer *text)
{
    static const char *const kinds[] = {
        [LIVE_DECISION_PLANNED] = ", \"kind\": \"planned\"",
        [LIVE_DECISION_EXPLOIT] = ", \"kind\": \"exploit\"",
        [LIVE_DECISION_COMMITTED] = ", \"kind\": \"committed\"",
        [LIVE_DECISION_CHOSEN] = ", \"kind\": \"chosen\"",
        [LIVE_DECISION_EARLY] = ", \"kind\": \"early\"",
    };
    TACIT_ASSERT(row->kind <= LIVE_DECISION_EARLY);
    TACIT_ASSERT(row->arm < api->names.arm_count);
    uint8_t id[LIVE_ID_BYTES];
    char digits[LIVE_HEX_BYTES(LIVE_ID_BYTES)];
    live_ids_encrypt(api->ids, (struct live_decision_id){row->number, row->salt}, id);
    live_buffer_add(text, "{\"id\": \"");
    live_hex(id, sizeof id, digits);
    live_buffer_add(text, digits);
    live_buffer_add(text, "\", \"arm\": ");
    live_buffer_add_u64(text, row->arm);
    if (api->names.names != NULL) {
        live_buffer_add(text, ", \"name\": ");
        live_buffer_add(text, api->names.names[row->arm].quoted);
    }
    live_buffer_add(text, kinds[row->kind]);
}

/* The code of a refused decision, and what to tell the caller. */
static unsigned code_of(enum tacit_status status, const char **error)
{
    switch (status) {
    case TACIT_INVALID:
        *error = "no arm can be played: every arm that is still in is listed as unavailable";
        return CONFLICT;
    case TACIT_MEMORY:
        *error = "too many decisions are open; report rewards, or wait until open ones expire";
        return TOO_MANY;
    case TACIT_MALFORMED:
        *error =
            "contexts do not fit: a protocol that chooses by contexts takes one for each arm, of "
            "as many finite numbers as the run has features, none longer than the run allows, "
            "without unavailable, and without unit unless its rewards are counted; others take "
            "none";
        return BAD_REQUEST;
    case TACIT_UNEXPECTED:
        *error = "no run has been announced yet: what the contexts mean is not known";
        return UNAVAILABLE;
    case TACIT_OK:
    case TACIT_STRANGER:
    case TACIT_BUDGET:
    case TACIT_ENTROPY:
    case TACIT_IO:
    case TACIT_INTERRUPTED:
    case TACIT_REFUSED:
    case TACIT_ROLLBACK:
    case TACIT_FORKED:
        break;
    }
    *error = tacit_status_text(status);
    return UNAVAILABLE;
}

/* ---- Decisions ------------------------------------------------------------------------------- */

/* Appends the decision and returns OK, or returns a code with its error and appends nothing. */
static unsigned decide(struct live_api *api, const json_t *value, uint64_t now_ms,
                       struct live_api_reply *reply, struct tacit_error *error)
{
    struct live_decision_request request;
    struct live_api_room const room = {api->unavailable, api->contexts};
    if (!live_api_read_decision(&api->names, value, &room, &request, error))
        return BAD_REQUEST;
    struct live_decision_answer answer;
    if (api->caller != NULL && api->caller_open_max > 0) {
        request.caller_open = &api->caller->open;
        request.caller_open_max = api->caller_open_max;
    }
    reply->promises = true;
    enum tacit_status const status =
        api->agent.decide(api->agent.context, &request, now_ms, &answer);
    if (status != TACIT_OK) {
        const char *text;
        unsigned const code = code_of(status, &text);
        if (code == TOO_MANY && api->caller != NULL)
            api->caller->refused_open++;
        (void)snprintf(error->text, sizeof error->text, "%s", text);
        return code;
    }
    api->counts.decisions++;
    add_decision(api, &answer.row, &reply->text);
    if (answer.is_chosen)
        live_buffer_format(&reply->text, ", \"model\": %" PRIu64 ", \"probability\": %.17g",
                           answer.model, answer.probability);
    live_buffer_add(&reply->text, "}");
    return OK;
}

/* The same for a reward. */
static unsigned reward(struct live_api *api, const json_t *value, uint64_t now_ms,
                       struct live_api_reply *reply, struct tacit_error *error)
{
    static const char *const answers[] = {
        [LIVE_REWARD_ACCEPTED] = "{\"status\": \"accepted\"}",
        [LIVE_REWARD_REPEATED] = "{\"status\": \"repeated\"}",
        [LIVE_REWARD_LATE] = "{\"status\": \"late\"}",
    };
    struct live_api_reward given;
    if (!live_api_read_reward(value, &given, error))
        return BAD_REQUEST;
    reply->promises = true;
    enum live_reward_answer const answer = api->agent.reward(
        api->agent.context, live_ids_decrypt(api->ids, given.id), given.value, now_ms);
    if (answer == LIVE_REWARD_UNKNOWN) {
        (void)snprintf(error->text, sizeof error->text, "%s", unknown_id);
        return NOT_FOUND;
    }
    if (answer == LIVE_REWARD_ACCEPTED)
        api->counts.rewards++;
    live_buffer_add(&reply->text, answers[answer]);
    return OK;
}

/* ---- Open decisions -------------------------------------------------------------------------- */

struct open_list {
    struct live_api *api;
    struct live_buffer *text;
    uint64_t now_ms;
    uint64_t count;
};

static void add_text_member(struct live_buffer *text, const char *name, const char *value)
{
    if (value == NULL)
        return;
    live_buffer_format(text, ", \"%s\": ", name);
    live_buffer_add_quoted(text, value);
}

/* Goes on to the end, to count all. */
static bool add_open(void *context, const struct live_decision_row *row)
{
    struct open_list *const list = context;
    uint64_t const age_ms = list->now_ms > row->opened_ms ? list->now_ms - row->opened_ms : 0;
    uint64_t const left_ms = row->deadline_ms > list->now_ms ? row->deadline_ms - list->now_ms : 0;
    if (++list->count > LIVE_API_OPEN_MAX)
        return true; /* not listed */
    live_buffer_add(list->text, list->count > 1 ? ",\n " : "");
    add_decision(list->api, row, list->text);
    live_buffer_format(list->text, ", \"age_s\": %.3f, \"left_s\": %.3f", (double)age_ms / 1e3,
                       (double)left_ms / 1e3);
    add_text_member(list->text, "key", row->key);
    add_text_member(list->text, "unit", row->unit);
    live_buffer_add(list->text, "}");
    return true;
}

static void on_open(struct live_api *api, struct live_api_reply *reply)
{
    struct open_list list = {
        .api = api, .text = &reply->text, .now_ms = api->agent.now_ms(api->agent.context)};
    live_buffer_add(&reply->text, "{\"decisions\": [");
    api->agent.open(api->agent.context, add_open, &list);
    live_buffer_add(&reply->text, "],\n \"open\": ");
    live_buffer_add_u64(&reply->text, list.count);
    live_buffer_add(&reply->text, "}");
}

static void close_decision(struct live_api *api, const uint8_t id[LIVE_ID_BYTES],
                           struct live_api_reply *reply)
{
    enum live_close_answer const answer = api->agent.close(
        api->agent.context, live_ids_decrypt(api->ids, id), api->agent.now_ms(api->agent.context));
    reply->promises = true;
    switch (answer) {
    case LIVE_CLOSE_DONE:
        live_buffer_add(&reply->text, "{\"status\": \"closed\"}");
        break;
    case LIVE_CLOSE_REPEATED:
        live_buffer_add(&reply->text, "{\"status\": \"repeated\"}");
        break;
    case LIVE_CLOSE_REWARDED:
        refuse(reply, CONFLICT, "this decision has its reward; what was rewarded stays");
        break;
    case LIVE_CLOSE_UNKNOWN:
        refuse(reply, NOT_FOUND, unknown_id);
        break;
    }
}

/* ---- Routes ---------------------------------------------------------------------------------- */

static const struct route {
    const char *path;
    /* Answers one element: appends to the reply and returns OK, or returns a code, with
     * error->text. */
    unsigned (*post)(struct live_api *api, const json_t *value, uint64_t now_ms,
                     struct live_api_reply *reply, struct tacit_error *error);
    json_t *(*read)(const uint8_t *body, size_t size, struct tacit_error *error);
    const char *from; /* the elements are a list under this name; NULL: the body is one, .. */
    const char *into; /* .. and their answers one under this */
    void (*get)(struct live_api *api, struct live_api_reply *reply); /* or NULL */
} routes[] = {
    {"/v1/decisions", decide, live_api_read_body, NULL, NULL, on_open},
    {"/v1/decisions/batch", decide, live_api_read_body, "requests", "decisions", NULL},
    {"/v1/rewards", reward, live_api_read_rewards, NULL, NULL, NULL},
    {"/v1/rewards/batch", reward, live_api_read_rewards, "rewards", "rewards", NULL},
};
#define ROUTE_COUNT (sizeof routes / sizeof routes[0])

/* Each element is answered for itself, in order. */
static void answer_each(struct live_api *api, const struct route *route, const json_t *list,
                        uint64_t now_ms, struct live_api_reply *reply)
{
    struct tacit_error error;
    api->pieces = (unsigned)json_array_size(list);
    live_buffer_format(&reply->text, "{\"%s\": [", route->into);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (i > 0)
            live_buffer_add(&reply->text, ",\n ");
        if (route->post(api, json_array_get(list, i), now_ms, reply, &error) != OK)
            add_error(&reply->text, error.text);
    }
    live_buffer_add(&reply->text, "]}");
}

static void answer_post(struct live_api *api, const struct route *route, const uint8_t *body,
                        size_t size, struct live_api_reply *reply)
{
    struct tacit_error error;
    json_t *list = NULL;
    json_t *const value = route->read(body, size, &error);
    uint64_t const now_ms = api->agent.now_ms(api->agent.context);
    unsigned code = OK;
    if (value == NULL ||
        (route->from != NULL &&
         !live_api_read_batch(value, route->from, LIVE_API_BATCH_MAX, &list, &error)))
        code = BAD_REQUEST;
    else if (list != NULL)
        answer_each(api, route, list, now_ms, reply);
    else
        code = route->post(api, value, now_ms, reply, &error);
    if (code != OK)
        refuse(reply, code, error.text);
    json_decref(value);
}

static const char one_decision[] = "/v1/decisions/";

static const struct route *find_route(const char *path)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        if (strcmp(routes[i].path, path) == 0)
            return &routes[i];
    return NULL;
}

static void refuse_path(struct live_api_reply *reply)
{
    refuse(reply, NOT_FOUND,
           "there is nothing under this path; there are POST /v1/decisions, "
           "/v1/decisions/batch, /v1/rewards, /v1/rewards/batch, DELETE /v1/decisions/ID and "
           "GET /v1/decisions, /v1/status, /v1/result, /v1/ledger, /v1/runs, /v1/statement, "
           "/v1/clipped, /v1/clipped/metrics, "
           "/health, "
           "/metrics, /");
}

/* The API's own routes first, then the daemon's pages, then one decision by its id. */
static void dispatch(struct live_api *api, const char *method, const char *path,
                     const uint8_t *body, size_t size, struct live_api_reply *reply)
{
    bool const is_get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    const struct route *const route = find_route(path);
    const struct live_page *const page =
        route != NULL ? NULL : live_page_find(api->agent.pages, path);
    size_t const prefix = sizeof one_decision - 1;
    uint8_t id[LIVE_ID_BYTES];
    if (route != NULL && route->get != NULL && is_get) {
        route->get(api, reply);
    } else if (route != NULL && strcmp(method, "POST") == 0) {
        answer_post(api, route, body, size, reply);
    } else if (route != NULL) {
        refuse(reply, WRONG_METHOD,
               route->get == NULL ? "this path takes POST only"
                                  : "this path takes POST or GET only");
    } else if (page != NULL && is_get) {
        reply->content_type = page->type;
        reply->code = page->write(api->agent.context, &reply->text);
    } else if (page != NULL) {
        refuse(reply, WRONG_METHOD, "this path takes GET only");
    } else if (strncmp(path, one_decision, prefix) != 0 || !live_api_read_id(path + prefix, id)) {
        refuse_path(reply);
    } else if (strcmp(method, "DELETE") != 0) {
        refuse(reply, WRONG_METHOD, "this path takes DELETE only");
    } else {
        close_decision(api, id, reply);
    }
}

void live_api_reply(struct live_api *api, const char *method, const char *path, const uint8_t *body,
                    size_t size, struct live_api_reply *reply)
{
    *reply = (struct live_api_reply){.code = OK, .content_type = type_json};
    api->counts.requests++;
    dispatch(api, method, path, body, size, reply);
    if (reply->text.failed) {
        reply->code = UNAVAILABLE;
        reply->content_type = type_json;
    }
    if (reply->code >= 500)
        api->counts.failures++;
    else if (reply->code >= 400)
        api->counts.refusals++;
}

/* ---- Callers ---------------------------------------------------------------------------- */

/* Ensures: true: the caller has had its share, and was told when to come again. */
static bool refuse_hasty(struct live_api *api, struct live_request *request)
{
    static const char text[] = "{\"error\": \"this caller asks for too much a second; ask again "
                               "later, or for less at once\"}";
    unsigned const wait_s =
        live_caller_wait_s(request->caller, api->caller_calls_per_s, live_now_us());
    if (wait_s == 0)
        return false;
    request->caller->refused_rate++;
    request->retry_after_s = wait_s;
    api->counts.requests++;
    api->counts.refusals++;
    live_http_answer(request, TOO_MANY, type_json, text, sizeof text - 1);
    return true;
}

/* The reply to a request, on its caller's account. */
static void reply_to(struct live_api *api, struct live_request *request,
                     struct live_api_reply *reply)
{
    api->caller = request->caller;
    api->pieces = 0;
    live_api_reply(api, request->method, request->path, request->body, request->size, reply);
    api->caller = NULL;
    request->retry_after_s = reply->code == TOO_MANY ? 1 : 0;
    live_caller_charge(request->caller, api->caller_calls_per_s, 1 + api->pieces, live_now_us());
}

void live_api_handle(void *context, struct live_request *request)
{
    struct live_api *const api = context;
    struct live_api_reply reply;
    if (refuse_hasty(api, request))
        return;
    reply_to(api, request, &reply);
    if (reply.promises)
        live_held_add(api->held, request, reply.code, reply.content_type, &reply.text);
    else
        live_answer(request, reply.code, reply.content_type, &reply.text);
}

void live_api_show(void *context, struct live_request *request)
{
    struct live_api_reply reply;
    live_api_reply(context, request->method, request->path, NULL, 0, &reply);
    TACIT_ASSERT(!reply.promises);
    live_answer(request, reply.code, reply.content_type, &reply.text);
}

/* ---- Public ---------------------------------------------------------------------------------- */

enum tacit_status live_api_new(struct live_api **api, const struct live_api_config *config)
{
    TACIT_ASSERT(config->arm_count > 0);
    struct live_api *const opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return TACIT_MEMORY;
    opened->agent = config->agent;
    opened->caller_open_max = config->caller_open_max;
    opened->caller_calls_per_s = config->caller_calls_per_s;
    opened->held = config->held;
    opened->contexts =
        calloc((size_t)config->arm_count * LIVE_API_DIMENSION_MAX, sizeof opened->contexts[0]);
    opened->unavailable =
        calloc(TACIT_BITS_WORDS(config->arm_count), sizeof opened->unavailable[0]);
    opened->ids = live_ids_new(config->id_key);
    enum tacit_status const status =
        opened->unavailable == NULL || opened->contexts == NULL || opened->ids == NULL
            ? TACIT_MEMORY
            : live_arm_names_init(&opened->names, config->arm_count, config->arm_names);
    if (status != TACIT_OK) {
        live_api_free(opened);
        return status;
    }
    *api = opened;
    return TACIT_OK;
}

void live_api_free(struct live_api *api)
{
    if (api == NULL)
        return;
    live_arm_names_free(&api->names);
    live_ids_free(api->ids);
    free(api->unavailable);
    free(api->contexts);
    free(api);
}

struct live_api_counts live_api_count(const struct live_api *api)
{
    return api->counts;
}

void live_api_write_counts(const struct live_api *api, struct live_buffer *text)
{
    struct live_number const counts[] = {
        {NULL, "tacit_api_requests_total", "Requests to the decision API.", LIVE_WHOLE,
         (double)api->counts.requests},
        {NULL, "tacit_api_refusals_total", "Requests answered with 4xx.", LIVE_WHOLE,
         (double)api->counts.refusals},
        {NULL, "tacit_api_failures_total", "Requests answered with 5xx.", LIVE_WHOLE,
         (double)api->counts.failures},
        {NULL, "tacit_api_decisions_total", "Decisions handed out.", LIVE_WHOLE,
         (double)api->counts.decisions},
        {NULL, "tacit_api_rewards_total", "Rewards accepted.", LIVE_WHOLE,
         (double)api->counts.rewards}};
    live_numbers_write(counts, sizeof counts / sizeof counts[0], text);
}
