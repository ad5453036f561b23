/* The decision API as callers meet it: the real server in the real loop, on a Unix socket and on
 * loopback, asked by libcurl from other threads and by hand-made bytes. The agent behind it is a
 * fake in memory. */
#include <arpa/inet.h>
#include <errno.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "../support/testing.h"
#include "../../src/live/api/api.h"
#include "../support/skip.h"
#include "../support/temp.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ARMS 3u
#define DEADLINE_MS 100u
#define REMEMBER_MS 1000u
#define REPLY_BYTES ((size_t)1 << 18)
#define PATIENCE_MS 60000

/* ---- A fake agent ---------------------------------------------------------------------------- */

struct fake {
    struct live_decisions *decisions;
    struct tacit_rng rng;
    struct tacit_entropy entropy;
    uint64_t active[1];
    atomic_uint_least64_t now_ms;
    atomic_bool healthy;
    atomic_bool entropy_fails;
    const struct live_api *api;
    double reward_sum;
    uint64_t last_id;
};

static enum tacit_status fake_fill(void *context, void *bytes, size_t size)
{
    struct fake *const fake = context;
    if (fake->entropy_fails)
        return TACIT_ENTROPY;
    struct tacit_entropy const inner = tacit_rng_entropy(&fake->rng);
    return inner.fill(inner.context, bytes, size);
}

static uint64_t fake_now_ms(void *context)
{
    struct fake *const fake = context;
    return fake->now_ms;
}

static enum tacit_status fake_decide(void *context, const struct live_decision_request *request,
                                     uint64_t now_ms, struct live_decision_answer *answer)
{
    static const uint32_t ranking[ARMS] = {2, 0, 1};
    struct fake *const fake = context;
    struct live_fallback const fallback = {
        .active = fake->active, .ranking = ranking, .count = ARMS};
    return live_decisions_decide(fake->decisions, request, &fallback, now_ms, &fake->entropy,
                                 answer);
}

static enum live_reward_answer fake_reward(void *context, struct live_decision_id id, double value,
                                           uint64_t now_ms)
{
    struct fake *const fake = context;
    enum live_reward_answer const answer =
        live_decisions_reward(fake->decisions, id, 0, now_ms).answer;
    if (answer == LIVE_REWARD_ACCEPTED)
        fake->reward_sum += value;
    return answer;
}

static void fake_open_decisions(void *context,
                                bool (*each)(void *each_context,
                                             const struct live_decision_row *row),
                                void *each_context)
{
    const struct fake *const fake = context;
    live_decisions_open(fake->decisions, each, each_context);
}

static enum live_close_answer fake_close(void *context, struct live_decision_id id, uint64_t now_ms)
{
    struct fake *const fake = context;
    struct live_decision_row row;
    return live_decisions_close(fake->decisions, id, now_ms, &row);
}

static unsigned fake_status(void *context, struct live_buffer *text)
{
    const struct fake *const fake = context;
    live_buffer_add_tree(text,
                         json_pack("{s:s, s:f}", "site", "north \"1\"", "sum", fake->reward_sum));
    return 200;
}

static unsigned fake_statement(void *context, struct live_buffer *text)
{
    live_buffer_add(text, "Nothing leaves.\n");
    return 200;
}

static unsigned fake_metrics(void *context, struct live_buffer *text)
{
    const struct fake *const fake = context;
    live_buffer_add(text, "tacit_fake 1\n");
    live_api_write_counts(fake->api, text);
    return 200;
}

static unsigned fake_health(void *context, struct live_buffer *text)
{
    const struct fake *const fake = context;
    live_buffer_add(text,
                    fake->healthy ? "{\"status\": \"ok\"}" : "{\"error\": \"the disk is full\"}");
    return fake->healthy ? 200 : 503;
}

/* Ids that a test can foresee: 1, 2, 3, .. */
static enum tacit_status count_up(void *context, void *bytes, size_t size)
{
    uint64_t *const last = context;
    assert_int_equal(size, sizeof *last);
    ++*last;
    memcpy(bytes, last, size);
    return TACIT_OK;
}

static void fake_open(struct fake *fake, uint32_t open_max)
{
    struct live_decisions_config const config = {
        .arm_count = ARMS,
        .open_max = open_max,
        .wait_ms = DEADLINE_MS,
        .wait_max_ms = DEADLINE_MS,
        .remember_ms = REMEMBER_MS,
        .salts = {.fill = count_up, .context = &fake->last_id}};
    fake->last_id = 0;
    fake->decisions = live_decisions_new(&config);
    assert_non_null(fake->decisions);
    fake->rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_SELECTION);
    fake->entropy = (struct tacit_entropy){.fill = fake_fill, .context = fake};
    tacit_bits_fill(fake->active, ARMS);
    fake->now_ms = 1000;
    fake->healthy = true;
    fake->entropy_fails = false;
    fake->reward_sum = 0;
    struct tacit_pull_block plan[ARMS];
    for (uint32_t arm = 0; arm < ARMS; arm++)
        plan[arm] = (struct tacit_pull_block){.arm = arm, .count = UINT64_C(1) << 40};
    live_decisions_set_plan(fake->decisions, plan, ARMS, NULL, NULL);
}

/* ---- A server on a thread of its own --------------------------------------------------------- */

enum transport { ON_UNIX, ON_LOOPBACK };

enum release { RELEASE_DURABLE, RELEASE_FAILED, RELEASE_NOTHING };

struct server {
    enum transport transport;
    char directory[TEMP_PATH_BYTES];
    char socket[TEMP_PATH_BYTES];
    uint16_t port;
    struct fake fake;
    struct live_loop *loop;
    struct live_http *http;
    struct live_api *api;
    struct live_held answers;
    pthread_t thread;
    int wake;
    atomic_bool stops;
    atomic_int release; /* enum release: what the end of a round does */
    atomic_size_t held;
};

static enum transport transport = ON_UNIX;
/* Ids as this key makes them of (1, 1), (2, 2), ..: AES-128 of two little-endian words. */
static const uint8_t id_key[] = "a key for tests!";
#define ID_1 "f07c4d38738a9efe31078eb30886fc8b"
#define ID_2 "1456901e7b665b579ade558a9860bc47"
#define ID_3 "deae5aee9bf39567c09fd0a16ae7148d"
#define ID_4 "ff7f3f8617e3e1abc731bd1ee44d6013"
#define ID_99 "99c943128a3fa2290bc4ec5549d29676"

static uint32_t caller_open_max; /* of the next server */
static uint32_t caller_calls_per_s;
static unsigned request_s_max = 2;

static void on_wake(void *context, uint32_t epoll_events)
{
    struct server *const server = context;
    uint64_t count;
    assert_int_equal(read(server->wake, &count, sizeof count), sizeof count);
    if (server->stops)
        live_loop_stop(server->loop);
}

static void on_round(void *context)
{
    struct server *const server = context;
    live_decisions_expire(server->fake.decisions, server->fake.now_ms, NULL, NULL);
    if (server->release != RELEASE_NOTHING)
        live_held_release(&server->answers, server->release == RELEASE_DURABLE);
    server->held = server->answers.count;
}

static void wake(struct server *server)
{
    uint64_t const one = 1;
    assert_int_equal(write(server->wake, &one, sizeof one), sizeof one);
}

static void *run_server(void *context)
{
    struct server *const server = context;
    assert_int_equal(live_loop_run(server->loop), TACIT_OK);
    return NULL;
}

static struct live_api_agent agent_of(struct fake *fake)
{
    static const struct live_page fake_pages[] = {
        {"/v1/status", "application/json", fake_status},
        {"/v1/statement", "text/plain; charset=utf-8", fake_statement},
        {"/health", "application/json", fake_health},
        {"/metrics", "text/plain", fake_metrics},
        {.path = NULL}};
    return (struct live_api_agent){
        .context = fake,
        .now_ms = fake_now_ms,
        .decide = fake_decide,
        .reward = fake_reward,
        .open = fake_open_decisions,
        .close = fake_close,
        .pages = fake_pages,
    };
}

static const char *const arm_names[ARMS] = {"red", "gr\"een", "bl\xc3\xa4u"};

static void http_open(struct server *server, void (*handle)(void *, struct live_request *),
                      void *context)
{
    temp_directory_make(server->directory);
    temp_path(server->socket, server->directory, "api.sock");
    struct live_http_config const config = {
        .unix_path = server->transport == ON_UNIX ? server->socket : NULL,
        .request_s_max = request_s_max};
    struct tacit_error error;
    assert_int_equal(live_loop_open(&server->loop), TACIT_OK);
    assert_int_equal(live_http_open(&server->http, server->loop, &config, handle, context, &error),
                     TACIT_OK);
    server->port = live_http_port(server->http);
    assert_true((server->port == 0) == (server->transport == ON_UNIX));
    server->wake = eventfd(0, EFD_CLOEXEC);
    assert_int_equal(live_loop_watch(server->loop, server->wake, EPOLLIN, on_wake, server),
                     TACIT_OK);
}

static struct server *server_open(uint32_t open_max)
{
    struct server *const server = calloc(1, sizeof *server);
    assert_non_null(server);
    server->transport = transport;
    fake_open(&server->fake, open_max);
    struct live_api_config const config = {.arm_count = ARMS,
                                           .arm_names = arm_names,
                                           .agent = agent_of(&server->fake),
                                           .caller_open_max = caller_open_max,
                                           .caller_calls_per_s = caller_calls_per_s,
                                           .id_key = id_key,
                                           .held = &server->answers};
    assert_int_equal(live_api_new(&server->api, &config), TACIT_OK);
    server->fake.api = server->api;
    http_open(server, live_api_handle, server->api);
    live_loop_set_hook(server->loop, on_round, server);
    assert_int_equal(pthread_create(&server->thread, NULL, run_server, server), 0);
    return server;
}

static void server_stop(struct server *server)
{
    server->stops = true;
    wake(server);
    assert_int_equal(pthread_join(server->thread, NULL), 0);
}

static void http_close(struct server *server)
{
    live_http_close(server->http);
    live_loop_close(server->loop);
    (void)close(server->wake);
    temp_directory_remove(server->directory);
}

static void server_free(struct server *server)
{
    live_held_release(&server->answers, false);
    live_api_free(server->api);
    http_close(server);
    live_decisions_free(server->fake.decisions);
    free(server);
}

static int setup(void **state)
{
    *state = server_open(1000);
    return 0;
}

static int teardown(void **state)
{
    server_stop(*state);
    server_free(*state);
    return 0;
}

/* Waits until so many answers are held. */
static void wait_for_held(struct server *server, size_t count)
{
    for (int i = 0; i < PATIENCE_MS && server->held != count; i++)
        (void)usleep(1000);
    assert_int_equal(server->held, count);
}

/* ---- Callers --------------------------------------------------------------------------------- */

struct reply {
    long code;
    long connects; /* new connections that this request needed */
    size_t size;
    char text[REPLY_BYTES];
};

static size_t on_bytes(char *bytes, size_t one, size_t count, void *context)
{
    struct reply *const reply = context;
    if (count >= sizeof reply->text - reply->size)
        return 0;
    memcpy(reply->text + reply->size, bytes, one * count);
    reply->size += one * count;
    reply->text[reply->size] = '\0';
    return one * count;
}

/* One connection, kept alive. */
static CURL *caller_open(const struct server *server)
{
    CURL *const caller = curl_easy_init();
    assert_non_null(caller);
    (void)curl_easy_setopt(caller, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(caller, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(caller, CURLOPT_TIMEOUT_MS, (long)PATIENCE_MS);
    (void)curl_easy_setopt(caller, CURLOPT_WRITEFUNCTION, on_bytes);
    if (server->transport == ON_UNIX)
        (void)curl_easy_setopt(caller, CURLOPT_UNIX_SOCKET_PATH, server->socket);
    return caller;
}

static CURLcode try_ask(const struct server *server, CURL *caller, const char *method,
                        const char *path, const char *body, size_t size, struct reply *reply)
{
    char url[256];
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u%s",
                   server->transport == ON_UNIX ? 80u : (unsigned)server->port, path);
    reply->size = 0;
    reply->text[0] = '\0';
    (void)curl_easy_setopt(caller, CURLOPT_URL, url);
    (void)curl_easy_setopt(caller, CURLOPT_WRITEDATA, reply);
    (void)curl_easy_setopt(caller, CURLOPT_HTTPGET, 1L);
    if (body != NULL) {
        (void)curl_easy_setopt(caller, CURLOPT_POST, 1L);
        (void)curl_easy_setopt(caller, CURLOPT_POSTFIELDS, body);
        (void)curl_easy_setopt(caller, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    }
    (void)curl_easy_setopt(caller, CURLOPT_NOBODY, strcmp(method, "HEAD") == 0 ? 1L : 0L);
    (void)curl_easy_setopt(caller, CURLOPT_CUSTOMREQUEST, method);
    CURLcode const result = curl_easy_perform(caller);
    (void)curl_easy_getinfo(caller, CURLINFO_RESPONSE_CODE, &reply->code);
    (void)curl_easy_getinfo(caller, CURLINFO_NUM_CONNECTS, &reply->connects);
    return result;
}

static struct reply reply; /* of the test's own thread */

static const char a_status_request[] = "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n";

/* One request on a connection of its own. */
static void ask_bytes(const struct server *server, const char *method, const char *path,
                      const char *body, size_t size)
{
    CURL *const caller = caller_open(server);
    assert_int_equal(try_ask(server, caller, method, path, body, size, &reply), CURLE_OK);
    curl_easy_cleanup(caller);
}

static void ask(const struct server *server, const char *method, const char *path, const char *body)
{
    ask_bytes(server, method, path, body, body == NULL ? 0 : strlen(body));
}

static json_t *answered_json(long code)
{
    if (reply.code != code)
        print_message("%s\n", reply.text);
    assert_int_equal(reply.code, code);
    json_t *const value = json_loadb(reply.text, reply.size, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    return value;
}

/* NULL: there is none. */
static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static void assert_error(const char *part)
{
    json_t *const value = json_loadb(reply.text, reply.size, 0, NULL);
    const char *const text = text_of(value, "error");
    if (text == NULL || strstr(text, part) == NULL)
        print_message("'%s' is not in: %s\n", part, reply.text);
    assert_non_null(text);
    assert_non_null(strstr(text, part));
    json_decref(value);
}

static void expect_error(const struct server *server, const char *method, const char *path,
                         const char *body, long code, const char *part)
{
    ask(server, method, path, body);
    if (reply.code != code)
        print_message("%s %s %s: %s\n", method, path, body == NULL ? "" : body, reply.text);
    assert_int_equal(reply.code, code);
    assert_error(part);
}

/* Asks for a decision; its id goes to id[40]. */
static uint32_t ask_decision(const struct server *server, const char *body, char *id)
{
    ask(server, "POST", "/v1/decisions", body);
    json_t *const value = answered_json(200);
    (void)snprintf(id, 40, "%s", text_of(value, "id"));
    uint32_t const arm = (uint32_t)json_integer_value(json_object_get(value, "arm"));
    assert_true(arm < ARMS);
    assert_string_equal(text_of(value, "name"), arm_names[arm]);
    assert_string_equal(text_of(value, "kind"), "planned");
    assert_int_equal(json_object_size(value), 4);
    json_decref(value);
    return arm;
}

static void assert_rewarded(const struct server *server, const char *id, long code,
                            const char *expected)
{
    char body[128];
    (void)snprintf(body, sizeof body, "{\"id\": \"%s\", \"reward\": 0.5}", id);
    ask(server, "POST", "/v1/rewards", body);
    json_t *const value = answered_json(code);
    if (code == 200)
        assert_string_equal(text_of(value, "status"), expected);
    else
        assert_error(expected);
    json_decref(value);
}

/* A connection without HTTP. */
/* buffer_bytes: for what comes and what goes; 0: the system's. */
static int raw_open_with(const struct server *server, int buffer_bytes)
{
    int const raw = socket(server->transport == ON_UNIX ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    assert_true(raw >= 0);
    for (int i = 0; i < 2 && buffer_bytes > 0; i++)
        assert_int_equal(setsockopt(raw, SOL_SOCKET, i == 0 ? SO_RCVBUF : SO_SNDBUF, &buffer_bytes,
                                    sizeof buffer_bytes),
                         0);
    if (server->transport == ON_UNIX) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        assert_true(strlen(server->socket) < sizeof address.sun_path);
        memcpy(address.sun_path, server->socket, strlen(server->socket));
        assert_int_equal(connect(raw, (struct sockaddr *)&address, sizeof address), 0);
    } else {
        struct sockaddr_in const address = {.sin_family = AF_INET,
                                            .sin_port = htons(server->port),
                                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        assert_int_equal(connect(raw, (const struct sockaddr *)&address, sizeof address), 0);
    }
    return raw;
}

static int raw_open(const struct server *server)
{
    return raw_open_with(server, 0);
}

static void raw_send(int raw, const char *bytes, size_t size)
{
    /* The server may have closed already: that is its right. */
    (void)send(raw, bytes, size, MSG_NOSIGNAL);
}

/* Reads until the text has come, or the end. */
static bool raw_expect(int raw, const char *text, char *bytes, size_t capacity)
{
    size_t size = 0;
    bytes[0] = '\0';
    while (strstr(bytes, text) == NULL && size + 1 < capacity) {
        struct pollfd wait = {.fd = raw, .events = POLLIN};
        if (poll(&wait, 1, PATIENCE_MS) != 1)
            return false;
        ssize_t const more = recv(raw, bytes + size, capacity - 1 - size, 0);
        if (more <= 0)
            break;
        size += (size_t)more;
        bytes[size] = '\0';
    }
    return strstr(bytes, text) != NULL;
}

static void assert_alive(const struct server *server)
{
    ask(server, "GET", "/health", NULL);
    assert_int_equal(reply.code, 200);
}

/* ---- Endpoints ------------------------------------------------------------------------------- */

TEST_WITH(a_decision_is_made_and_rewarded_once, setup, teardown)
{
    struct server *const server = *state;
    char id[40];
    char same[40];
    uint32_t const arm = ask_decision(server, "{\"key\": \"k\", \"unit\": \"ann\"}", id);
    assert_int_equal(ask_decision(server, "{\"key\": \"k\"}", same), arm);
    assert_string_equal(id, same);
    assert_int_equal(ask_decision(server, "{\"unit\": \"ann\"}", same), arm);
    assert_string_not_equal(id, same);
    assert_rewarded(server, id, 200, "accepted");
    assert_rewarded(server, id, 200, "repeated");
    server->fake.now_ms += DEADLINE_MS;
    wake(server);
    assert_alive(server);
    assert_rewarded(server, same, 200, "late");
    assert_rewarded(server, "00000000000000000000000000000000", 404, "no decision has this id");
    assert_true(ask_decision(server, "{\"unavailable\": [0, \"gr\\\"een\"]}", id) == 2);
    assert_true(ask_decision(server, "{\"unavailable\": [\"bl\xc3\xa4u\", 0, 0]}", id) == 1);
    (void)ask_decision(server, "", id);
    (void)ask_decision(server, "{\"unavailable\": []}", id);
    assert_int_equal(server->held, 0);
}

TEST_WITH(a_batch_answers_each_element_for_itself, setup, teardown)
{
    struct server *const server = *state;
    ask(server, "POST", "/v1/decisions/batch",
        "{\"requests\": [{}, {\"unavailable\": [0, 1]}, {\"unavailable\": [0, 1, 2]}, 7, "
        "{\"key\": \"\"}, {\"key\": \"k\"}, {\"key\": \"k\"}]}");
    json_t *value = answered_json(200);
    json_t *list = json_object_get(value, "decisions");
    assert_int_equal(json_array_size(list), 7);
    static const bool is_error[] = {false, false, true, true, true, false, false};
    for (size_t i = 0; i < 7; i++)
        assert_true((json_object_get(json_array_get(list, i), "error") != NULL) == is_error[i]);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 1), "arm")), 2);
    assert_true(json_equal(json_array_get(list, 5), json_array_get(list, 6)));
    json_decref(value);
    static const struct {
        const char *reward;
        const char *answer;
    } rewards[] = {
        {"{\"id\": \"" ID_1 "\", \"reward\": 1}", "accepted"},
        {"{\"id\": \"" ID_1 "\", \"reward\": -2.5e3}", "repeated"},
        {"{\"id\": \"" ID_99 "\", \"reward\": 1}", "no decision has this id"},
        {"{\"id\": 2, \"reward\": 1}", "in quotes"},
        {"{\"id\": \"" ID_2 "\"}", "needs id and reward"},
        {"{\"id\": \"" ID_2 "\", \"reward\": null}", "must be a finite number, such as 0.7"},
        {"{\"id\": \"" ID_2 "\", \"reward\": 99999999999999999999}", "accepted"},
        {"{\"id\": \"" ID_3 "\", \"reward\": 1e-999}", "accepted"},
    };
    char body[1024] = "{\"rewards\": [";
    for (size_t i = 0; i < COUNT(rewards); i++) {
        size_t const size = strlen(body);
        (void)snprintf(body + size, sizeof body - size, "%s%s", rewards[i].reward,
                       i + 1 < COUNT(rewards) ? ", " : "]}");
    }
    ask(server, "POST", "/v1/rewards/batch", body);
    value = answered_json(200);
    list = json_object_get(value, "rewards");
    assert_int_equal(json_array_size(list), COUNT(rewards));
    for (size_t i = 0; i < COUNT(rewards); i++) {
        json_t const *const one = json_array_get(list, i);
        bool const is_word = strchr(rewards[i].answer, ' ') == NULL; /* else what is wrong */
        const char *const text = text_of(one, is_word ? "status" : "error");
        assert_non_null(text);
        assert_non_null(strstr(text, rewards[i].answer));
    }
    json_decref(value);
    ask(server, "POST", "/v1/decisions/batch", "{\"requests\": []}");
    json_decref(answered_json(200));
}

TEST_WITH(open_decisions_are_listed_and_can_be_closed, setup, teardown)
{
    struct server *const server = *state;
    char ids[3][40];
    for (size_t i = 0; i < 3; i++)
        (void)ask_decision(server, i == 1 ? "{\"key\": \"k\", \"unit\": \"ann\"}" : "{}", ids[i]);
    assert_rewarded(server, ids[0], 200, "accepted");
    server->fake.now_ms += DEADLINE_MS / 4;
    ask(server, "GET", "/v1/decisions", NULL);
    json_t *value = answered_json(200);
    json_t *const list = json_object_get(value, "decisions");
    assert_int_equal(json_integer_value(json_object_get(value, "open")), 2);
    assert_int_equal(json_array_size(list), 2);
    json_t *const first = json_array_get(list, 0);
    assert_string_equal(text_of(first, "id"), ids[1]);
    assert_string_equal(text_of(first, "key"), "k");
    assert_string_equal(text_of(first, "unit"), "ann");
    assert_string_equal(text_of(first, "kind"), "planned");
    double const age_s = json_number_value(json_object_get(first, "age_s"));
    double const left_s = json_number_value(json_object_get(first, "left_s"));
    assert_true(age_s == DEADLINE_MS / 4 / 1e3 && left_s == DEADLINE_MS * 3 / 4 / 1e3);
    json_decref(value);
    char path[64];
    (void)snprintf(path, sizeof path, "/v1/decisions/%s", ids[1]);
    ask(server, "DELETE", path, NULL);
    assert_string_equal(reply.text, "{\"status\": \"closed\"}");
    ask(server, "DELETE", path, NULL);
    assert_string_equal(reply.text, "{\"status\": \"repeated\"}");
    assert_rewarded(server, ids[1], 200, "late");
    (void)snprintf(path, sizeof path, "/v1/decisions/%s", ids[0]);
    expect_error(server, "DELETE", path, NULL, 409, "has its reward");
    ask(server, "GET", "/v1/decisions", NULL);
    value = answered_json(200);
    assert_int_equal(json_integer_value(json_object_get(value, "open")), 1);
    json_decref(value);
}

TEST_WITH(what_is_to_be_seen_is_shown, setup, teardown)
{
    struct server *const server = *state;
    char id[40];
    (void)ask_decision(server, "{}", id);
    assert_rewarded(server, id, 200, "accepted");
    ask(server, "GET", "/v1/status", NULL);
    json_t *value = answered_json(200);
    assert_string_equal(text_of(value, "site"), "north \"1\"");
    assert_true(json_real_value(json_object_get(value, "sum")) == 0.5);
    json_decref(value);
    ask(server, "GET", "/v1/statement", NULL);
    assert_string_equal(reply.text, "Nothing leaves.\n");
    ask(server, "GET", "/metrics", NULL);
    assert_non_null(strstr(reply.text, "tacit_fake 1\n"));
    assert_non_null(strstr(reply.text, "\ntacit_api_decisions_total 1\n"));
    assert_non_null(strstr(reply.text, "\ntacit_api_rewards_total 1\n"));
    ask(server, "GET", "/health", NULL);
    json_decref(answered_json(200));
    ask(server, "HEAD", "/health", NULL);
    assert_int_equal(reply.code, 200);
    assert_int_equal(reply.size, 0);
    ask(server, "GET", "/v1/status?pretty=1", NULL);
    json_decref(answered_json(200));
    server->fake.healthy = false;
    expect_error(server, "GET", "/health", NULL, 503, "the disk is full");
}

#define TEXT_64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define TEXT_128 TEXT_64 TEXT_64 /* the longest key or unit */

static const struct {
    const char *method;
    const char *path;
    const char *body;
    long code;
    const char *error;
} wrong_requests[] = {
    {"GET", "/nowhere", NULL, 404, "/v1/status, /v1/result, /v1/ledger"},
    {"GET", "/v1/decisions/", NULL, 404, "POST /v1/decisions"},
    {"PUT", "/v1/decisions", "{}", 405, "POST or GET only"},
    {"DELETE", "/v1/decisions", NULL, 405, "POST or GET only"},
    {"DELETE", "/v1/decisions/batch", NULL, 405, "POST only"},
    {"DELETE", "/v1/decisions/" ID_99 "0", NULL, 404, "DELETE /v1/decisions/ID"},
    {"DELETE", "/v1/decisions/0" ID_99, NULL, 404, "DELETE /v1/decisions/ID"},
    {"DELETE", "/v1/decisions/1x", NULL, 404, "DELETE /v1/decisions/ID"},
    {"DELETE", "/v1/decisions/" ID_99, NULL, 404, "no decision has this id"},
    {"GET", "/v1/decisions/" ID_1, NULL, 405, "DELETE only"},
    {"DELETE", "/v1/rewards", NULL, 405, "POST only"},
    {"POST", "/v1/status", "{}", 405, "GET only"},
    {"PUT", "/metrics", "x", 405, "GET only"},
    {"POST", "/v1/decisions", "{", 400, "not JSON: line 1"},
    {"POST", "/v1/decisions", "{} x", 400, "not JSON"},
    {"POST", "/v1/decisions", "\xff\xfe", 400, "not JSON"},
    {"POST", "/v1/decisions", "{\"key\": \"\xc3(\"}", 400, "not JSON"},
    {"POST", "/v1/decisions", "[]", 400, "must be a JSON object"},
    {"POST", "/v1/decisions", "{\"key\": \"a\", \"key\": \"b\"}", 400, "not JSON"},
    {"POST", "/v1/decisions", "{\"kye\": \"a\"}", 400, "'kye'; allowed: key, unit"},
    {"POST", "/v1/decisions", "{\"key\": 1}", 400, "key must be a text of 1 to 128 bytes"},
    {"POST", "/v1/decisions", "{\"key\": \"\"}", 400, "1 to 128 bytes"},
    {"POST", "/v1/decisions", "{\"key\": \"" TEXT_128 "0\"}", 400, "1 to 128 bytes"},
    {"POST", "/v1/decisions", "{\"" TEXT_128 TEXT_64 "\": 1}", 400, "(a long text)"},
    {"POST", "/v1/decisions", "{\"unit\": null}", 400, "unit must be a text"},
    {"POST", "/v1/decisions", "{\"unit\": \"a\\u0000b\"}", 400, "not JSON"},
    {"POST", "/v1/decisions", "{\"unavailable\": 1}", 400, "must be a list"},
    {"POST", "/v1/decisions", "{\"unavailable\": [3]}", 400, "from 0 to 2"},
    {"POST", "/v1/decisions", "{\"unavailable\": [-1]}", 400, "from 0 to 2"},
    {"POST", "/v1/decisions", "{\"unavailable\": [0.0]}", 400, "from 0 to 2"},
    {"POST", "/v1/decisions", "{\"unavailable\": [4294967296]}", 400, "from 0 to 2"},
    {"POST", "/v1/decisions", "{\"unavailable\": [\"pink\"]}", 400, "no arm 'pink'"},
    {"POST", "/v1/decisions", "{\"unavailable\": [0, 1, 2]}", 409, "no arm can be played"},
    {"POST", "/v1/decisions/batch", "{}", 400, "{\"requests\": [ .. ]} with up to 1000"},
    {"POST", "/v1/decisions/batch", "[]", 400, "must be a JSON object"},
    {"POST", "/v1/decisions/batch", "{\"requests\": [], \"x\": 1}", 400, "up to 1000"},
    {"POST", "/v1/rewards/batch", "{\"rewards\": {}}", 400, "{\"rewards\": [ .. ]}"},
    {"POST", "/v1/rewards", "", 400, "needs id and reward"},
    {"POST", "/v1/rewards", "{\"id\": \"" ID_1 "\"}", 400, "needs id and reward"},
    {"POST", "/v1/rewards", "{\"id\": \"" ID_1 "\", \"reward\": 1, \"at\": 2}", 400,
     "'at'; allowed"},
    {"POST", "/v1/rewards", "{\"id\": 1, \"reward\": 1}", 400, "in quotes"},
    {"POST", "/v1/rewards", "{\"id\": \"\", \"reward\": 1}", 400, "id must be"},
    {"POST", "/v1/rewards", "{\"id\": \"0\", \"reward\": 1}", 400, "id must be"},
    {"POST", "/v1/rewards", "{\"id\": \"-07c4d38738a9efe31078eb30886fc8b\", \"reward\": 1}", 400,
     "id must be"},
    {"POST", "/v1/rewards", "{\"id\": \"f07c4d38738a9efe31078eb30886fc8g\", \"reward\": 1}", 400,
     "id must be"},
    {"POST", "/v1/rewards", "{\"id\": \"" ID_1 "0\", \"reward\": 1}", 400, "id must"},
    {"POST", "/v1/rewards", "{\"id\": \"F07c4d38738a9efe31078eb30886fc8b\", \"reward\": 1}", 400,
     "id must"},
    {"POST", "/v1/rewards", "{\"id\": \"" ID_1 "\", \"reward\": 1}", 404,
     "no decision has this id"},
    {"POST", "/v1/rewards", "{\"id\": \"" ID_1 "\", \"reward\": nun}", 400, "not JSON"},
    {"POST", "/v1/rewards", "{\"id\": \"" ID_1 "\", \"reward\": 1e999", 400, "not JSON"},
    {"POST", "/v1/decisions", "{\"key\": NaN}", 400, "NaN, infinities"},
};

TEST_WITH(wrong_requests_are_told_what_is_allowed, setup, teardown)
{
    struct server *const server = *state;
    for (size_t i = 0; i < COUNT(wrong_requests); i++)
        expect_error(server, wrong_requests[i].method, wrong_requests[i].path,
                     wrong_requests[i].body, wrong_requests[i].code, wrong_requests[i].error);
    ask(server, "GET", "/metrics", NULL);
    assert_non_null(strstr(reply.text, "\ntacit_api_decisions_total 0\n"));
    ask(server, "POST", "/v1/decisions", "{\"key\": \"" TEXT_128 "\", \"unit\": \"" TEXT_128 "\"}");
    assert_int_equal(reply.code, 200);
}

/* Nothing has happened to the decision: its reward is still waited for. */
TEST_WITH(what_is_no_finite_number_is_no_reward, setup, teardown)
{
    static const char *const rewards[] = {"NaN",  "-Infinity", "inf",  "1e999",   "-1e999",
                                          "null", "\"0.7\"",   "true", "[1, {}]", "{}"};
    struct server *const server = *state;
    char id[40];
    char body[512];
    (void)ask_decision(server, "{}", id);
    for (size_t i = 0; i < COUNT(rewards); i++) {
        (void)snprintf(body, sizeof body, "{\"id\": \"%s\", \"reward\": %s}", id, rewards[i]);
        expect_error(server, "POST", "/v1/rewards", body, 400, "must be");
    }
    (void)snprintf(body, sizeof body, "{\"id\": \"%s\"}", id);
    expect_error(server, "POST", "/v1/rewards", body, 400, "needs id and reward");
    ask(server, "GET", "/metrics", NULL);
    assert_non_null(strstr(reply.text, "\ntacit_api_rewards_total 0\n"));
    (void)snprintf(body, sizeof body, "{\"id\": \"%s\", \"reward\": 0.5}", id);
    ask(server, "POST", "/v1/rewards", body);
    assert_string_equal(reply.text, "{\"status\": \"accepted\"}");
}

TEST(too_much_of_anything_is_refused)
{
    struct server *const server = server_open(2);
    char id[40];
    server->fake.entropy_fails = true;
    expect_error(server, "POST", "/v1/decisions", "{}", 503, "the random source failed");
    server->fake.entropy_fails = false;
    (void)ask_decision(server, "{}", id);
    (void)ask_decision(server, "{}", id);
    expect_error(server, "POST", "/v1/decisions", "{}", 429, "too many decisions are open");
    char *const body = malloc(8192);
    size_t size = (size_t)snprintf(body, 8192, "{\"requests\": [{}");
    for (int i = 1; i < 1001; i++)
        size += (size_t)snprintf(body + size, 8192 - size, ",{}");
    (void)snprintf(body + size, 8192 - size, "]}");
    expect_error(server, "POST", "/v1/decisions/batch", body, 400, "up to 1000 elements");
    free(body);
    server_stop(server);
    server_free(server);
}

/* Beyond its limits a caller is told when to come again, in JSON; its rewards are taken. */
TEST(a_caller_beyond_its_limits_is_told_to_wait)
{
    char id[40];
    char bytes[1024];
    caller_open_max = 2;
    struct server *server = server_open(1000);
    caller_open_max = 0;
    (void)ask_decision(server, "{\"key\": \"a\"}", id);
    (void)ask_decision(server, "{}", id);
    expect_error(server, "POST", "/v1/decisions", "{}", 429, "too many decisions are open");
    (void)ask_decision(server, "{\"key\": \"a\"}", bytes); /* it was made before */
    ask(server, "POST", "/v1/decisions/batch", "{\"requests\": [{}, {}]}");
    json_decref(answered_json(200));
    assert_non_null(strstr(reply.text, "too many decisions are open"));
    assert_rewarded(server, id, 200, "accepted");
    (void)ask_decision(server, "{}", id);
    server_stop(server);
    struct live_caller const *const caller = &live_http_callers(server->http)->list[0];
    assert_int_equal(caller->open, 2);
    assert_int_equal(caller->refused_open, 3);
    assert_int_equal(caller->user, transport == ON_UNIX ? getuid() : LIVE_CALLER_LOOPBACK);
    server_free(server);

    caller_calls_per_s = 1;
    server = server_open(1000);
    caller_calls_per_s = 0;
    ask(server, "POST", "/v1/rewards/batch",
        "{\"rewards\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 1]}");
    json_decref(answered_json(200)); /* 13 s are spent */
    int const raw = raw_open(server);
    raw_send(raw, a_status_request, sizeof a_status_request - 1);
    assert_true(raw_expect(raw, "too much a second", bytes, sizeof bytes));
    assert_int_equal(strncmp(bytes, "HTTP/1.1 429 Too Many Requests\r\n", 32), 0);
    assert_non_null(strstr(bytes, "\r\nRetry-After: 1"));
    (void)close(raw);
    server_stop(server);
    assert_int_equal(live_http_callers(server->http)->list[0].refused_rate, 1);
    server_free(server);
}

/* ---- Held answers ---------------------------------------------------------------------------- */

/* A request on a connection of its own, which is not waited for. */
static int post(const struct server *server, const char *path, const char *body)
{
    char bytes[512];
    int const raw = raw_open(server);
    int const size = snprintf(
        bytes, sizeof bytes, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s",
        path, strlen(body), body);
    assert_in_range(size, 1, sizeof bytes - 1);
    raw_send(raw, bytes, (size_t)size);
    return raw;
}

static bool is_answered(int raw)
{
    struct pollfd look = {.fd = raw, .events = POLLIN};
    return poll(&look, 1, 0) != 0;
}

static void expect_posted(int raw, unsigned code, const char *part)
{
    char bytes[1024];
    char first[32];
    assert_true(raw_expect(raw, part, bytes, sizeof bytes));
    (void)snprintf(first, sizeof first, "HTTP/1.1 %u ", code);
    assert_int_equal(strncmp(bytes, first, strlen(first)), 0);
    (void)close(raw);
}

TEST_WITH(answers_wait_until_the_round_is_durable, setup, teardown)
{
    static const struct {
        const char *path;
        const char *body;
        const char *answer;
    } cases[] = {
        {"/v1/decisions", "{\"key\": \"k\"}", "\"id\": \"" ID_1 "\""},
        {"/v1/decisions", "{\"key\": \"k\"}", "\"id\": \"" ID_1 "\""},
        {"/v1/rewards", "{\"id\": \"" ID_1 "\", \"reward\": 1}", "accepted"},
        {"/v1/decisions/batch", "{\"requests\": [{}, {}]}", "\"decisions\": ["},
    };
    struct server *const server = *state;
    int raws[COUNT(cases)];
    server->release = RELEASE_NOTHING;
    for (size_t i = 0; i < COUNT(cases); i++) {
        raws[i] = post(server, cases[i].path, cases[i].body);
        wait_for_held(server, i + 1);
    }
    assert_alive(server); /* what promises nothing does not wait */
    ask(server, "POST", "/v1/decisions", "{");
    assert_int_equal(reply.code, 400);
    (void)usleep(20000);
    for (size_t i = 0; i < COUNT(raws); i++)
        assert_false(is_answered(raws[i]));
    server->release = RELEASE_DURABLE;
    wake(server);
    for (size_t i = 0; i < COUNT(raws); i++)
        expect_posted(raws[i], 200, cases[i].answer);
}

TEST_WITH(nothing_is_acknowledged_that_is_not_durable, setup, teardown)
{
    struct server *const server = *state;
    server->release = RELEASE_NOTHING;
    int const first = post(server, "/v1/decisions", "{}");
    wait_for_held(server, 1);
    int const second =
        post(server, "/v1/rewards/batch", "{\"rewards\": [{\"id\": \"" ID_1 "\", \"reward\": 1}]}");
    wait_for_held(server, 2);
    server->release = RELEASE_FAILED;
    wake(server);
    expect_posted(first, 503, "could not be made durable");
    expect_posted(second, 503, "could not be made durable");
}

TEST(a_stopping_server_answers_what_it_holds)
{
    struct server *const server = server_open(1000);
    server->release = RELEASE_NOTHING;
    int const raw = post(server, "/v1/decisions", "{}");
    wait_for_held(server, 1);
    server_stop(server);
    live_held_release(&server->answers, false);
    live_http_close(server->http);
    server->http = NULL;
    expect_posted(raw, 503, "nothing is acknowledged");
    server_free(server);
}

static void keep_forever(void *context, struct live_request *request)
{
    atomic_int *const count = context;
    (*count)++;
}

/* The server by itself, with a handler that never answers. */
TEST(a_closing_server_answers_what_its_handler_forgot)
{
    struct server server = {.transport = transport};
    atomic_int count = 0;
    http_open(&server, keep_forever, &count);
    assert_int_equal(pthread_create(&server.thread, NULL, run_server, &server), 0);
    int const raws[2] = {post(&server, "/a", "x"), post(&server, "/b", "y")};
    for (int i = 0; i < PATIENCE_MS && count < 2; i++)
        (void)usleep(1000);
    server_stop(&server);
    live_http_close(server.http);
    for (size_t i = 0; i < 2; i++)
        expect_posted(raws[i], 503, "this daemon is stopping");
    live_loop_close(server.loop);
    (void)close(server.wake);
    struct stat there;
    assert_int_equal(stat(server.socket, &there), -1);
    temp_directory_remove(server.directory);
}

static const char a_request[] = "POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\n"
                                "Content-Length: 2\r\n\r\n{}";

TEST_WITH(a_caller_that_leaves_while_held_harms_nobody, setup, teardown)
{
    struct server *const server = *state;
    server->release = RELEASE_NOTHING;
    int raws[6];
    for (size_t i = 0; i < COUNT(raws); i++) {
        raws[i] = post(server, "/v1/decisions", "{}");
    }
    wait_for_held(server, COUNT(raws));
    struct linger const reset = {.l_onoff = 1};
    for (size_t i = 0; i < COUNT(raws); i++) {
        if (i % 3 == 0) /* a reset, a half-closed line, a full goodbye */
            (void)setsockopt(raws[i], SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        if (i % 3 == 1)
            (void)shutdown(raws[i], SHUT_WR);
        else
            (void)close(raws[i]);
    }
    (void)usleep(10000);
    wait_for_held(server, COUNT(raws));
    server->release = RELEASE_DURABLE;
    wake(server);
    wait_for_held(server, 0);
    (void)close(raws[1]);
    (void)close(raws[4]);
    assert_alive(server);
    ask(server, "GET", "/metrics", NULL);
    assert_non_null(strstr(reply.text, "\ntacit_api_decisions_total 6\n"));
}

/* ---- Turns ----------------------------------------------------------------------------------- */

#define TURN_LINES 20u
#define TURN_WORK_US 2000u /* of a request: more than a caller may take of a round */

struct turns {
    struct live_loop *loop;
    size_t wanted;
    size_t count;
    char letters[2 * TURN_LINES]; /* of the paths that were asked for, in order */
};

static void work_and_answer(void *context, struct live_request *request)
{
    struct turns *const turns = context;
    uint64_t const end_us = live_now_us() + TURN_WORK_US;
    while (live_now_us() < end_us) {
    }
    assert_true(turns->count < sizeof turns->letters);
    turns->letters[turns->count++] = request->path[1];
    live_http_answer(request, 200, "text/plain", "", 0);
    if (turns->count == turns->wanted)
        live_loop_stop(turns->loop);
}

static void turns_open(struct server *server, struct turns *turns, size_t wanted)
{
    *server = (struct server){.transport = transport};
    *turns = (struct turns){.wanted = wanted};
    http_open(server, work_and_answer, turns);
    turns->loop = server->loop;
}

/* All that was sent is there before the server looks. Returns which request was for /b. */
static size_t turns_play(struct server *server, struct turns *turns)
{
    assert_int_equal(live_loop_run(server->loop), TACIT_OK);
    http_close(server);
    const char *const found = memchr(turns->letters, 'b', turns->count);
    assert_non_null(found);
    return (size_t)(found - turns->letters);
}

static void raw_get(int raw, char letter, size_t times)
{
    char text[64];
    int const size =
        snprintf(text, sizeof text, "GET /%c HTTP/1.1\r\nHost: localhost\r\n\r\n", letter);
    for (size_t i = 0; i < times; i++)
        raw_send(raw, text, (size_t)size);
}

/* Many requests of another user, each on a line of its own; or all of one line. */
static void expect_turns(bool by_user)
{
    struct server server;
    struct turns turns;
    int raws[TURN_LINES + 1];
    size_t const lines = by_user ? TURN_LINES : 1;
    turns_open(&server, &turns, TURN_LINES + 1);
    if (by_user) {
        assert_int_equal(chmod(server.directory, 0711), 0);
        assert_int_equal(chmod(server.socket, 0666), 0);
        assert_int_equal(seteuid(65534), 0);
    }
    for (size_t i = 0; i < lines; i++) {
        raws[i] = raw_open(&server);
        raw_get(raws[i], 'a', TURN_LINES / lines);
    }
    if (by_user)
        assert_int_equal(seteuid(0), 0);
    raws[lines] = raw_open(&server);
    raw_get(raws[lines], 'b', 1);
    size_t const place = turns_play(&server, &turns);
    for (size_t i = 0; i <= lines; i++)
        (void)close(raws[i]);
    assert_in_range(place, 0, 5); /* of 20 */
}

TEST(a_user_with_many_requests_lets_others_go_between)
{
    if (transport != ON_UNIX || geteuid() != 0)
        SKIP_BECAUSE("only root can be two users"); /* on loopback all are one caller */
    expect_turns(true);
}

TEST(a_line_with_many_requests_lets_other_lines_go_between)
{
    expect_turns(false);
}

/* What a caller of a Unix socket has sent and the server has not read. */
static int unread_of(int raw)
{
    int bytes = -1;
    assert_int_equal(ioctl(raw, SIOCOUTQ, &bytes), 0);
    return bytes;
}

struct sleeper {
    struct live_loop *loop;
    int raw;
    int count;
};

static void answer_sleeper(void *context, struct live_request *request)
{
    struct sleeper *const sleeper = context;
    assert_true(unread_of(sleeper->raw) > 0);
    live_http_answer(request, 200, "text/plain", "", 0);
    sleeper->count++;
    live_loop_stop(sleeper->loop);
}

/* Linux would wake it when the request is read, for nothing. */
TEST(who_sleeps_for_an_answer_is_woken_by_it)
{
    struct server server = {.transport = transport};
    struct sleeper sleeper = {0};
    if (transport != ON_UNIX)
        return; /* only a Unix socket wakes a reader that can write again */
    http_open(&server, answer_sleeper, &sleeper);
    sleeper.loop = server.loop;
    sleeper.raw = raw_open(&server);
    raw_get(sleeper.raw, 'a', 1);
    assert_int_equal(live_loop_run(server.loop), TACIT_OK);
    assert_int_equal(sleeper.count, 1);
    assert_int_equal(unread_of(sleeper.raw), 0);
    (void)close(sleeper.raw);
    http_close(&server);
}

/* More reading of pieces than a caller may have at once: what is put off is not forgotten. */
TEST(requests_that_come_in_many_pieces_are_all_answered)
{
    enum { LINES = 10, PIECES = 100, PIECE_BYTES = 1000 };
    static const char head[] = "POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\n"
                               "Content-Length: 100002\r\n\r\n{";
    request_s_max = 0; /* 30: a checker of memory takes its time */
    struct server *const server = server_open(1000);
    request_s_max = 2;
    char piece[PIECE_BYTES];
    char bytes[1024];
    int raws[LINES];
    memset(piece, ' ', sizeof piece);
    for (size_t i = 0; i < LINES; i++) {
        raws[i] = raw_open(server);
        raw_send(raws[i], head, sizeof head - 1);
    }
    for (size_t j = 0; j < PIECES; j++)
        for (size_t i = 0; i < LINES; i++)
            raw_send(raws[i], piece, sizeof piece);
    for (size_t i = 0; i < LINES; i++) {
        raw_send(raws[i], "}", 1);
        assert_true(raw_expect(raws[i], "HTTP/1.1 200", bytes, sizeof bytes));
        (void)close(raws[i]);
    }
    server_stop(server);
    server_free(server);
}

/* ---- The line -------------------------------------------------------------------------------- */

TEST_WITH(a_body_beyond_1_mib_is_refused, setup, teardown)
{
    struct server *const server = *state;
    size_t const sizes[] = {LIVE_BODY_BYTES_MAX, LIVE_BODY_BYTES_MAX + 1, 3u << 20, 20u << 20};
    char *const body = malloc(20u << 20);
    assert_non_null(body);
    memset(body, ' ', 20u << 20);
    memcpy(body, "{}", 2);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        ask_bytes(server, "POST", "/v1/decisions", body, sizes[i]);
        assert_int_equal(reply.code, i == 0 ? 200 : 413);
        if (i > 0)
            assert_error("1 MiB is allowed");
    }
    free(body);
    assert_alive(server);
}

/* What is read strictly: whatever two readers could read differently is refused, with JSON, and the
 * line ends there. */
static const struct {
    const char *request;
    unsigned code;
    const char *error;
} strict_cases[] = {
    {"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
     "chunked\r\n\r\n1\r\n{\r\n",
     411, "chunks are not taken"},
    {"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: "
     "3\r\n\r\n{}",
     400, "one Content-Length"},
    {"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: "
     "2\r\n\r\n{}",
     400, "one Content-Length"},
    {"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2, 2\r\n\r\n{}", 400,
     "a number"},
    {"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
     "Transfer-Encoding: chunked\r\n\r\n{}",
     400, "one Content-Length"},
    {"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
     "content-length: 7\r\n\r\n{}",
     400, "one Content-Length"},
    {"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Length : 2\r\n\r\n{}", 400,
     "NAME: VALUE"},
    {"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nX: 1\r\n folded\r\n\r\n", 400,
     "NAME: VALUE"},
    {"POST /v1/decisions HTTP/1.1\nHost: localhost\r\n\r\n", 400, "CR LF"},
    {"GET /health HTTP/1.1\r\nHost: localhost\n\n", 400, "CR LF"},
    {"GET /health HTTP/1.1\r\nHost: localhost\rX: b\r\n\r\n", 400, "CR LF"},
    {"GET /health HTTP/1.1\r\nHost: localhost\r\nX: \x01\r\n\r\n", 400, "control"},
    {"GET /health HTTP/1.1\r\n\r\n", 400, "names its Host"},
    {"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400, "said once"},
    {"GET /health HTTP/9.9\r\nHost: localhost\r\n\r\n", 505, "HTTP/1.1"},
    {"GET /health\r\n\r\n", 400, "begins with"},
    {"GET  /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "begins with"},
    {"GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "begins with"},
    {"G(T /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "begins with"},
    {"\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "begins with"},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "begins with"},
    {"GET /health HTTP/1.1\r\nHost: localhost\r\nExpect: gold\r\n\r\n", 417, "100-continue"},
    {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400, "a number"},
    {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0x2\r\n\r\n", 400, "a number"},
    {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n", 413,
     "1 MiB is allowed"},
    {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413,
     "1 MiB"},
};

/* The last answer on a line: nothing comes after it. */
static void expect_last(int raw, unsigned code, const char *error)
{
    char bytes[2048];
    char first[32];
    (void)raw_expect(raw, "no such text", bytes, sizeof bytes); /* to the end */
    (void)snprintf(first, sizeof first, "HTTP/1.1 %u ", code);
    if (strncmp(bytes, first, strlen(first)) != 0)
        print_message("%s\n", bytes);
    assert_int_equal(strncmp(bytes, first, strlen(first)), 0);
    assert_non_null(strstr(bytes, "\r\nConnection: close\r\n"));
    assert_non_null(strstr(bytes, "\r\nContent-Type: application/json\r\n"));
    const char *const body = strstr(bytes, "\r\n\r\n");
    assert_non_null(body);
    json_t *const value = json_loads(body, 0, NULL);
    assert_non_null(value);
    assert_non_null(strstr(text_of(value, "error"), error));
    json_decref(value);
}

/* To these bytes, on a line of their own; where they are refused it ends. */
static void expect_answer(const struct server *server, const char *request, size_t size,
                          unsigned code, const char *error)
{
    char bytes[1024];
    int const raw = raw_open(server);
    raw_send(raw, request, size);
    if (code == 200)
        assert_true(raw_expect(raw, "HTTP/1.1 200", bytes, sizeof bytes));
    else
        expect_last(raw, code, error);
    (void)close(raw);
}

TEST_WITH(what_could_be_read_in_two_ways_is_refused, setup, teardown)
{
    struct server *const server = *state;
    static const char has_nul[] = "GET /health HTTP/1.1\r\nHost: localhost\0\r\n\r\n";
    for (size_t i = 0; i < COUNT(strict_cases); i++)
        expect_answer(server, strict_cases[i].request, strlen(strict_cases[i].request),
                      strict_cases[i].code, strict_cases[i].error);
    expect_answer(server, has_nul, sizeof has_nul - 1, 400, "control");
    ask(server, "GET", "/metrics", NULL);
    assert_non_null(strstr(reply.text, "\ntacit_api_decisions_total 0\n"));
}

TEST_WITH(headers_are_limited_in_number_and_size, setup, teardown)
{
    struct server *const server = *state;
    char request[16384];
    for (unsigned count = 63; count <= 64; count++) {
        size_t size = (size_t)snprintf(request, sizeof request,
                                       "GET /health HTTP/1.1\r\nHost: localhost\r\n");
        for (unsigned i = 0; i < count; i++)
            size += (size_t)snprintf(request + size, sizeof request - size, "X-%u: y\r\n", i);
        size += (size_t)snprintf(request + size, sizeof request - size, "\r\n");
        expect_answer(server, request, size, count == 63 ? 200 : 431, "64 are allowed");
    }
    for (size_t extra = 0; extra <= 1; extra++) { /* of 8192 bytes, and one more */
        static const char begin[] = "GET /health HTTP/1.1\r\nHost: localhost\r\nX: ";
        size_t const size = 8192 + extra;
        memset(request, 'x', size);
        memcpy(request, begin, sizeof begin - 1);
        memcpy(request + size - 4, "\r\n\r\n", 4);
        expect_answer(server, request, size, extra == 0 ? 200 : 431, "8192 bytes are allowed");
    }
}

/* What a head may be: above, and tests/fuzz/http_head.c. */
TEST_WITH(garbage_is_survived, setup, teardown)
{
    struct server *const server = *state;
    struct tacit_rng rng = tacit_rng_stream(4, 0, 0, TACIT_PURPOSE_FAULT);
    for (size_t i = 0; i < 50; i++) {
        char noise[512];
        int const raw = raw_open(server);
        for (size_t j = 0; j < sizeof noise; j++)
            noise[j] = (char)tacit_rng_below(&rng, 256);
        raw_send(raw, noise, sizeof noise);
        (void)shutdown(raw, SHUT_WR);
        struct pollfd wait = {.fd = raw, .events = POLLIN};
        (void)poll(&wait, 1, 5);
        (void)close(raw);
    }
    assert_alive(server);
    assert_int_equal(server->held, 0);
}

TEST_WITH(connections_are_kept_alive, setup, teardown)
{
    struct server *const server = *state;
    CURL *const caller = caller_open(server);
    for (int i = 0; i < 20; i++) {
        const char *const path = i % 3 == 0 ? "/health" : "/v1/decisions";
        const char *const body = i % 3 == 0 ? NULL : i % 3 == 1 ? "{}" : "{"; /* also refusals */
        assert_int_equal(try_ask(server, caller, body == NULL ? "GET" : "POST", path, body,
                                 body == NULL ? 0 : strlen(body), &reply),
                         CURLE_OK);
        assert_int_equal(reply.connects, i == 0 ? 1 : 0);
        assert_int_equal(reply.code, i % 3 == 2 ? 400 : 200);
    }
    curl_easy_cleanup(caller);
}

TEST_WITH(requests_on_one_line_are_answered_in_order, setup, teardown)
{
    struct server *const server = *state;
    int const raw = raw_open(server);
    char bytes[4096];
    for (int i = 0; i < 3; i++)
        raw_send(raw, a_request, sizeof a_request - 1);
    assert_true(raw_expect(raw, "\"id\": \"" ID_3 "\"", bytes, sizeof bytes));
    const char *const second = strstr(bytes, "\"id\": \"" ID_2 "\"");
    assert_non_null(second);
    assert_non_null(strstr(bytes, "\"id\": \"" ID_1 "\""));
    assert_true(strstr(bytes, "\"id\": \"" ID_1 "\"") < second);
    /* Byte by byte, as a slow caller would. */
    for (size_t i = 0; i < sizeof a_request - 1; i++)
        raw_send(raw, a_request + i, 1);
    assert_true(raw_expect(raw, "\"id\": \"" ID_4 "\"", bytes, sizeof bytes));
    (void)close(raw);
}

/* Lines on which nothing is finished make room for those that come; an answer that is due does not.
 */
TEST_WITH(half_open_lines_shut_nobody_out, setup, teardown)
{
    struct server *const server = *state;
    char bytes[1024];
    int raws[600];
    server->release = RELEASE_NOTHING;
    int const held = post(server, "/v1/decisions", "{}");
    wait_for_held(server, 1);
    for (size_t i = 0; i < COUNT(raws); i++) {
        raws[i] = raw_open(server);
        raw_send(raws[i], a_request, i % 40);
    }
    int const late = post(server, "/v1/decisions", "{}");
    wait_for_held(server, 2);
    server->release = RELEASE_DURABLE;
    wake(server);
    assert_true(raw_expect(late, "planned", bytes, sizeof bytes));
    assert_true(raw_expect(held, "planned", bytes, sizeof bytes));
    (void)close(late);
    (void)close(held);
    assert_alive(server);
    for (size_t i = 0; i < COUNT(raws); i++)
        (void)close(raws[i]);
    assert_alive(server);
}

TEST_WITH(whose_connections_all_wait_for_answers_is_told_429, setup, teardown)
{
    struct server *const server = *state;
    size_t const count = transport == ON_UNIX ? LIVE_CONNECTIONS_A_USER_MAX : LIVE_CONNECTIONS_MAX;
    int raws[LIVE_CONNECTIONS_MAX];
    char bytes[1024];
    server->release = RELEASE_NOTHING;
    for (size_t i = 0; i < count; i++) {
        raws[i] = post(server, "/v1/decisions", "{}");
    }
    wait_for_held(server, count);
    int const late = raw_open(server);
    assert_true(raw_expect(late, "too many connections\"}", bytes, sizeof bytes));
    assert_int_equal(strncmp(bytes, "HTTP/1.1 429 ", 13), 0);
    (void)close(late);
    server->release = RELEASE_DURABLE;
    wake(server);
    for (size_t i = 0; i < count; i++) {
        assert_true(raw_expect(raws[i], "planned", bytes, sizeof bytes));
        (void)close(raws[i]);
    }
    assert_alive(server);
}

/* A byte now and then keeps no line open: neither in the headers nor in the body. */
TEST_WITH(a_request_that_never_ends_is_cut_off, setup, teardown)
{
    struct server *const server = *state;
    static const char slow_body[] = "POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\n"
                                    "Content-Length: 1000\r\n\r\n";
    int const slow[2] = {raw_open(server), raw_open(server)};
    struct pollfd wait[2] = {{.fd = slow[0], .events = POLLIN}, {.fd = slow[1], .events = POLLIN}};
    raw_send(slow[1], slow_body, sizeof slow_body - 1);
    bool is_over[2] = {false, false};
    uint64_t const end_us = live_now_us() + 60 * UINT64_C(1000000); /* the limit is two seconds */
    while (!(is_over[0] && is_over[1]) && live_now_us() < end_us) {
        for (size_t i = 0; i < 2; i++)
            if (!is_over[i])
                raw_send(slow[i], "G", 1);
        (void)poll(wait, 2, 100);
        for (size_t i = 0; i < 2; i++)
            is_over[i] = is_over[i] || wait[i].revents != 0;
        assert_alive(server);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_true(is_over[i]);
        expect_last(slow[i], 408, "within the time");
        (void)close(slow[i]);
    }
    int const idle = raw_open(server); /* closed without a word */
    char byte;
    assert_int_equal(recv(idle, &byte, 1, 0), 0);
    (void)close(idle);
}

/* Who does not fetch his answers is not waited for. The buffers are small before it connects: of a
 * window that shrinks later TCP may drop what is under way, and with it the reset that says so. */
TEST_WITH(an_answer_that_nobody_reads_is_given_up, setup, teardown)
{
    struct server *const server = *state;
    static const char get[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static char many[100 * (sizeof get - 1)];
    for (size_t i = 0; i < 100; i++)
        memcpy(many + i * (sizeof get - 1), get, sizeof get - 1);
    int const deaf = raw_open_with(server, 4096);
    struct pollfd wait = {.fd = deaf, .events = POLLOUT};
    uint64_t const end_us = live_now_us() + 60 * UINT64_C(1000000);
    bool is_closed = false;
    size_t asked = 0;
    while (!is_closed && live_now_us() < end_us) {
        ssize_t sent = 0;
        if (poll(&wait, 1, 100) > 0)
            sent = send(deaf, many, sizeof many, MSG_NOSIGNAL | MSG_DONTWAIT);
        else
            assert_alive(server);
        asked += sent > 0 ? (size_t)sent : 0;
        is_closed = sent < 0 && errno != EAGAIN;
    }
    if (!is_closed)
        fail_msg("after 60 s and %zu bytes of requests still open", asked);
    (void)close(deaf);
}

#define SPLIT_REQUESTS                                                                             \
    "POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 12\r\n\r\n{\"key\": \"a\"}" \
    "GET /v1/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"                                          \
    "POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"                      \
    "Connection: close\r\n\r\n"

/* All that is answered to these bytes, sent in two pieces; ids and dates are taken out. */
static void answers_to(const struct server *server, const char *bytes, size_t size, size_t split,
                       char *text, size_t capacity)
{
    int const raw = raw_open(server);
    raw_send(raw, bytes, split);
    if (split > 0 && split < size)
        (void)usleep(200); /* let it come by itself, if it likes */
    raw_send(raw, bytes + split, size - split);
    (void)raw_expect(raw, "no such text", text, capacity);
    (void)close(raw);
    for (char *at = text; (at = strstr(at, "Date: ")) != NULL; at++)
        memset(at + 6, 'D', strcspn(at + 6, "\r"));
    for (char *at = text; (at = strstr(at, "\"id\": \"")) != NULL; at++)
        memset(at + 7, '0', strcspn(at + 7, "\""));
}

/* Also what is refused, and several requests in one piece. */
TEST_WITH(every_split_of_requests_gives_the_same_answers, setup, teardown)
{
    struct server *const server = *state;
    static char whole[8192];
    static char parts[8192];
    static const char good[] = SPLIT_REQUESTS;
    for (size_t i = 0; i < COUNT(strict_cases) + 1; i++) {
        const char *const bytes = i == 0 ? good : strict_cases[i - 1].request;
        size_t const size = strlen(bytes);
        answers_to(server, bytes, size, 0, whole, sizeof whole);
        if (i == 0)
            assert_non_null(strstr(whole, "HTTP/1.1 404"));
        for (size_t split = 1; split < size; split++) {
            answers_to(server, bytes, size, split, parts, sizeof parts);
            /* The arm is drawn; all else is the same. */
            for (char *at = parts; i == 0 && (at = strstr(at, "\"arm\"")) != NULL; at++)
                at[0] = '"';
            assert_int_equal(strncmp(parts, whole, i == 0 ? 15 : strlen(whole) + 1), 0);
            if (i == 0)
                assert_true(strstr(parts, "HTTP/1.1 404") != NULL &&
                            strstr(parts, "Connection: close") != NULL);
        }
    }
}

TEST_WITH(web_pages_cannot_ask, setup, teardown)
{
    static const struct {
        const char *headers;
        bool is_allowed; /* on loopback; a Unix socket is out of a browser's reach */
    } cases[] = {
        {"Host: 127.0.0.1\r\n", true},
        {"Host: LocalHost:1234\r\n", true},
        {"Host: [::1]:1234\r\n", true},
        {"Host: localhost:80\r\nOrigin: http://localhost:80\r\n", true},
        {"Host: evil.example\r\n", false},
        {"Host: 127.0.0.1.evil.example\r\n", false},
        {"Host: localhost\r\nOrigin: http://evil.example\r\n", false},
        {"Host: localhost:80\r\nOrigin: http://localhost:81\r\n", false},
        {"Host: localhost\r\nOrigin: null\r\n", false},
    };
    struct server *const server = *state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char bytes[1024];
        int const raw = raw_open(server);
        int const size = snprintf(bytes, sizeof bytes,
                                  "POST /v1/decisions HTTP/1.1\r\n%sContent-Length: 2\r\n\r\n{}",
                                  cases[i].headers);
        raw_send(raw, bytes, (size_t)size);
        bool const is_allowed = cases[i].is_allowed || server->transport == ON_UNIX;
        assert_true(raw_expect(raw, "\r\n\r\n{", bytes, sizeof bytes));
        assert_non_null(strstr(bytes, is_allowed ? "HTTP/1.1 200" : "HTTP/1.1 403"));
        (void)close(raw);
    }
}

/* ---- Sockets --------------------------------------------------------------------------------- */

static enum tacit_status open_on(const char *path, uint16_t port, struct tacit_error *error)
{
    struct live_loop *loop;
    struct live_http *http;
    assert_int_equal(live_loop_open(&loop), TACIT_OK);
    struct live_http_config const config = {.unix_path = path, .port = port};
    enum tacit_status const status =
        live_http_open(&http, loop, &config, keep_forever, NULL, error);
    if (status == TACIT_OK)
        live_http_close(http);
    live_loop_close(loop);
    return status;
}

/* A socket file that nobody listens on, as a killed process leaves it. */
static void leave_stale_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path));
    int const gone = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(gone, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(gone, 1), 0);
    (void)close(gone);
}

TEST_WITH(only_a_stale_socket_is_replaced, setup, teardown)
{
    struct server *const server = *state;
    struct tacit_error error;
    char path[TEMP_PATH_BYTES];
    struct stat there;
    if (server->transport == ON_LOOPBACK) {
        assert_int_equal(open_on(NULL, server->port, &error), TACIT_IO);
        assert_non_null(strstr(error.text, "127.0.0.1:"));
        return;
    }
    assert_int_equal(stat(server->socket, &there), 0);
    assert_int_equal(there.st_mode & 0777, 0660);
    assert_int_equal(open_on(server->socket, 0, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "another process answers"));
    assert_alive(server);
    temp_path(path, server->directory, "stale.sock");
    leave_stale_socket(path);
    assert_int_equal(open_on(path, 0, &error), TACIT_OK);
    assert_int_equal(stat(path, &there), -1); /* removed when it closed */
    temp_file_write(server->directory, "file", "precious");
    temp_path(path, server->directory, "file");
    assert_int_equal(open_on(path, 0, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "something else than a socket"));
    assert_int_equal(stat(path, &there), 0);
    temp_path(path, server->directory, "no/such/directory");
    assert_int_equal(open_on(path, 0, &error), TACIT_IO);
    assert_int_equal(open_on("", 0, &error), TACIT_INVALID);
    memset(path, 'x', 108);
    path[108] = '\0';
    assert_int_equal(open_on(path, 0, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "1 to 107 bytes"));
}

TEST(names_of_arms_must_differ)
{
    static const char *const twice[ARMS] = {"a", "b", "a"};
    static const char *const empty[ARMS] = {"a", "", "b"};
    struct live_api *api;
    struct live_api_config config = {.arm_count = ARMS, .arm_names = twice, .id_key = id_key};
    assert_int_equal(live_api_new(&api, &config), TACIT_INVALID);
    config.arm_names = empty;
    assert_int_equal(live_api_new(&api, &config), TACIT_INVALID);
    config.arm_names = NULL;
    struct fake fake = {.now_ms = 1};
    config.agent = agent_of(&fake);
    assert_int_equal(live_api_new(&api, &config), TACIT_OK);
    struct live_api_reply direct;
    static const char body[] = "{\"unavailable\": [\"a\"]}";
    live_api_reply(api, "POST", "/v1/decisions", (const uint8_t *)body, sizeof body - 1, &direct);
    assert_int_equal(direct.code, 400);
    assert_false(direct.promises);
    live_buffer_add_bytes(&direct.text, "", 1);
    assert_non_null(strstr(direct.text.bytes, "arms have no names here"));
    live_buffer_free(&direct.text);
    live_api_free(api);
}

int main(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    transport = ON_UNIX;
    int failed = testing_run(NULL, NULL);
    transport = ON_LOOPBACK;
    failed += testing_run(NULL, NULL);
    curl_global_cleanup();
    return failed;
}
