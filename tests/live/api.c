/* The decision API as callers meet it: the real server in the real loop on a thread of its own, on
 * a Unix socket and on loopback. The agent behind it is a fake in memory. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
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
    double reward_sum;
    uint64_t last_id;
};
static struct fake fake;
static struct live_api *api; /* before it */

static enum tacit_status fake_fill(void *context, void *bytes, size_t size)
{
    if (fake.entropy_fails)
        return TACIT_ENTROPY;
    struct tacit_entropy const inner = tacit_rng_entropy(&fake.rng);
    return inner.fill(inner.context, bytes, size);
}

static uint64_t fake_now_ms(void *context)
{
    return fake.now_ms;
}

static enum tacit_status fake_decide(void *context, const struct live_decision_request *request,
                                     uint64_t now_ms, struct live_decision_answer *answer)
{
    static const uint32_t ranking[ARMS] = {2, 0, 1};
    struct live_fallback const fallback = {
        .active = fake.active, .ranking = ranking, .count = ARMS};
    return live_decisions_decide(fake.decisions, request, &fallback, now_ms, &fake.entropy, answer);
}

static enum live_reward_answer fake_reward(void *context, struct live_decision_id id, double value,
                                           uint64_t now_ms)
{
    enum live_reward_answer const answer =
        live_decisions_reward(fake.decisions, id, 0, now_ms).answer;
    if (answer == LIVE_REWARD_ACCEPTED)
        fake.reward_sum += value;
    return answer;
}

static void fake_open_decisions(void *context,
                                bool (*each)(void *each_context,
                                             const struct live_decision_row *row),
                                void *each_context)
{
    live_decisions_open(fake.decisions, each, each_context);
}

static enum live_close_answer fake_close(void *context, struct live_decision_id id, uint64_t now_ms)
{
    struct live_decision_row row;
    return live_decisions_close(fake.decisions, id, now_ms, &row);
}

static unsigned fake_status(void *context, struct live_buffer *text)
{
    live_buffer_add_tree(text,
                         json_pack("{s:s, s:f}", "site", "north \"1\"", "sum", fake.reward_sum));
    return 200;
}

static unsigned fake_statement(void *context, struct live_buffer *text)
{
    live_buffer_add(text, "Nothing leaves.\n");
    return 200;
}

static unsigned fake_metrics(void *context, struct live_buffer *text)
{
    live_buffer_add(text, "tacit_fake 1\n");
    live_api_write_counts(api, text);
    return 200;
}

/* Memory runs out among its words. */
static unsigned fake_failure(void *context, struct live_buffer *text)
{
    live_buffer_add(text, "{\"half\": ");
    text->failed = true;
    return 200;
}

static unsigned fake_health(void *context, struct live_buffer *text)
{
    live_buffer_add(text,
                    fake.healthy ? "{\"status\": \"ok\"}" : "{\"error\": \"the disk is full\"}");
    return fake.healthy ? 200 : 503;
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

static void fake_open(uint32_t open_max)
{
    struct live_decisions_config const config = {
        .arm_count = ARMS,
        .open_max = open_max,
        .wait_ms = DEADLINE_MS,
        .wait_max_ms = DEADLINE_MS,
        .remember_ms = REMEMBER_MS,
        .salts = {.fill = count_up, .context = &fake.last_id}};
    memset(&fake, 0, sizeof fake);
    fake.decisions = live_decisions_new(&config);
    assert_non_null(fake.decisions);
    fake.rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_SELECTION);
    fake.entropy = (struct tacit_entropy){.fill = fake_fill};
    tacit_bits_fill(fake.active, ARMS);
    fake.now_ms = 1000;
    fake.healthy = true;
    struct tacit_pull_block plan[ARMS];
    for (uint32_t arm = 0; arm < ARMS; arm++)
        plan[arm] = (struct tacit_pull_block){.arm = arm, .count = UINT64_C(1) << 40};
    live_decisions_set_plan(fake.decisions, plan, ARMS, NULL, NULL);
}

/* ---- A server on a thread of its own --------------------------------------------------------- */

static enum transport { ON_UNIX, ON_LOOPBACK } transport;

enum release { RELEASE_DURABLE, RELEASE_FAILED, RELEASE_NOTHING };

static struct server {
    char directory[TEMP_PATH_BYTES];
    char socket[TEMP_PATH_BYTES];
    uint16_t port;
    struct live_loop *loop;
    struct live_http *http;
    struct live_held answers;
    pthread_t thread;
    int wake;
    atomic_bool stops;
    atomic_int release; /* enum release: what the end of a round does */
    atomic_size_t held;
} server;

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
    uint64_t count;
    assert_int_equal(read(server.wake, &count, sizeof count), sizeof count);
    if (server.stops)
        live_loop_stop(server.loop);
}

static void on_round(void *context)
{
    live_decisions_expire(fake.decisions, fake.now_ms, NULL, NULL);
    if (server.release != RELEASE_NOTHING)
        live_held_release(&server.answers, server.release == RELEASE_DURABLE);
    server.held = server.answers.count;
}

static void wake(void)
{
    uint64_t const one = 1;
    assert_int_equal(write(server.wake, &one, sizeof one), sizeof one);
}

static void *run_server(void *context)
{
    assert_int_equal(live_loop_run(server.loop), TACIT_OK);
    return NULL;
}

static const struct live_page fake_pages[] = {
    {"/v1/status", "application/json", fake_status},
    {"/v1/statement", "text/plain; charset=utf-8", fake_statement},
    {"/failure", "text/plain", fake_failure},
    {"/health", "application/json", fake_health},
    {"/metrics", "text/plain", fake_metrics},
    {.path = NULL}};
static const struct live_api_agent fake_agent = {
    .now_ms = fake_now_ms,
    .decide = fake_decide,
    .reward = fake_reward,
    .open = fake_open_decisions,
    .close = fake_close,
    .pages = fake_pages,
};

static const char *const arm_names[ARMS] = {"red", "gr\"een", "bl\xc3\xa4u"};

static void http_open(void (*handle)(void *, struct live_request *), void *context)
{
    memset(&server, 0, sizeof server);
    temp_directory_make(server.directory);
    temp_path(server.socket, server.directory, "api.sock");
    struct live_http_config const config = {
        .unix_path = transport == ON_UNIX ? server.socket : NULL, .request_s_max = request_s_max};
    struct tacit_error error;
    assert_int_equal(live_loop_open(&server.loop), TACIT_OK);
    assert_int_equal(live_http_open(&server.http, server.loop, &config, handle, context, &error),
                     TACIT_OK);
    server.port = live_http_port(server.http);
    assert_true((server.port == 0) == (transport == ON_UNIX));
    server.wake = eventfd(0, EFD_CLOEXEC);
    assert_int_equal(live_loop_watch(server.loop, server.wake, EPOLLIN, on_wake, NULL), TACIT_OK);
}

static void server_start(void)
{
    assert_int_equal(pthread_create(&server.thread, NULL, run_server, NULL), 0);
}

static void server_open(uint32_t open_max)
{
    fake_open(open_max);
    struct live_api_config const config = {.arm_count = ARMS,
                                           .arm_names = arm_names,
                                           .agent = fake_agent,
                                           .caller_open_max = caller_open_max,
                                           .caller_calls_per_s = caller_calls_per_s,
                                           .id_key = id_key,
                                           .held = &server.answers};
    assert_int_equal(live_api_new(&api, &config), TACIT_OK);
    http_open(live_api_handle, api);
    live_loop_set_hook(server.loop, on_round, NULL);
    server_start();
}

static void server_stop(void)
{
    server.stops = true;
    wake();
    assert_int_equal(pthread_join(server.thread, NULL), 0);
}

static void http_close(void)
{
    live_http_close(server.http);
    live_loop_close(server.loop);
    (void)close(server.wake);
    temp_directory_remove(server.directory);
}

static void server_free(void)
{
    live_held_release(&server.answers, false);
    live_api_free(api);
    http_close();
    live_decisions_free(fake.decisions);
}

static int setup(void **state)
{
    server_open(1000);
    return 0;
}

static int teardown(void **state)
{
    server_stop();
    server_free();
    return 0;
}

#define API_TEST(name) TEST_WITH(name, setup, teardown)

/* Waits until so many answers are held. */
static void wait_for_held(size_t count)
{
    for (int i = 0; i < PATIENCE_MS && server.held != count; i++)
        (void)usleep(1000);
    assert_int_equal(server.held, count);
}

/* ---- Callers --------------------------------------------------------------------------------- */

/* How requests begin that are sent as bytes. */
#define POST "POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\n"
#define GET "GET /health HTTP/1.1\r\nHost: localhost\r\n"

/* A connection without HTTP. buffer_bytes: for what comes and what goes; 0: the system's. */
static int raw_open_with(int buffer_bytes)
{
    int const raw = socket(transport == ON_UNIX ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    assert_true(raw >= 0);
    for (int i = 0; i < 2 && buffer_bytes > 0; i++)
        assert_int_equal(setsockopt(raw, SOL_SOCKET, i == 0 ? SO_RCVBUF : SO_SNDBUF, &buffer_bytes,
                                    sizeof buffer_bytes),
                         0);
    if (transport == ON_UNIX) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        assert_true(strlen(server.socket) < sizeof address.sun_path);
        memcpy(address.sun_path, server.socket, strlen(server.socket));
        assert_int_equal(connect(raw, (struct sockaddr *)&address, sizeof address), 0);
    } else {
        struct sockaddr_in const address = {.sin_family = AF_INET,
                                            .sin_port = htons(server.port),
                                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        assert_int_equal(connect(raw, (const struct sockaddr *)&address, sizeof address), 0);
    }
    return raw;
}

static int raw_open(void)
{
    return raw_open_with(0);
}

static void raw_send(int raw, const char *bytes, size_t size)
{
    /* The server may have closed already: that is its right. */
    (void)send(raw, bytes, size, MSG_NOSIGNAL);
}

static char heard[1 << 18]; /* on the raw connection that was heard last */

/* Reads until the text has come; NULL: to the end. */
static void hear(int raw, const char *text)
{
    size_t size = 0;
    heard[0] = '\0';
    while (text == NULL || strstr(heard, text) == NULL) {
        struct pollfd wait = {.fd = raw, .events = POLLIN};
        assert_true(size + 1 < sizeof heard);
        assert_int_equal(poll(&wait, 1, PATIENCE_MS), 1);
        ssize_t const more = recv(raw, heard + size, sizeof heard - 1 - size, 0);
        if (more <= 0)
            break;
        size += (size_t)more;
        heard[size] = '\0';
    }
    if (text != NULL)
        assert_non_null(strstr(heard, text));
}

static void expect_code(unsigned code)
{
    char first[32];
    (void)snprintf(first, sizeof first, "HTTP/1.1 %u ", code);
    if (strncmp(heard, first, strlen(first)) != 0)
        fail_msg("no %u: %s", code, heard);
}

/* An answer on a raw connection, which is closed then. */
static void expect_heard(int raw, unsigned code, const char *part)
{
    hear(raw, part);
    expect_code(code);
    (void)close(raw);
}

/* One request on a connection of its own. body: NULL: none. */
static int send_request(const char *method, const char *path, const char *body, size_t size)
{
    char head[256];
    char length[64] = "";
    int const raw = raw_open();
    if (body != NULL)
        (void)snprintf(length, sizeof length, "Content-Length: %zu\r\n", size);
    int const head_size = snprintf(
        head, sizeof head, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n",
        method, path, length);
    assert_in_range(head_size, 1, sizeof head - 1);
    raw_send(raw, head, (size_t)head_size);
    if (size > 0)
        raw_send(raw, body, size);
    return raw;
}

static int post(const char *path, const char *body)
{
    return send_request("POST", path, body, strlen(body));
}

static const char *reply; /* the body of the answer that was heard last, to the end */

static void hear_reply(int raw)
{
    hear(raw, NULL);
    (void)close(raw);
    reply = strstr(heard, "\r\n\r\n");
    assert_non_null(reply);
    reply += 4;
}

static void ask(const char *method, const char *path, const char *body)
{
    hear_reply(send_request(method, path, body, body == NULL ? 0 : strlen(body)));
}

static json_t *answered_json(unsigned code)
{
    expect_code(code);
    json_t *const value = json_loads(reply, JSON_DECODE_ANY, NULL);
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
    json_t *const value = json_loads(reply, 0, NULL);
    const char *const text = text_of(value, "error");
    if (text == NULL || strstr(text, part) == NULL)
        fail_msg("'%s' is not in: %s", part, reply);
    json_decref(value);
}

static void expect_error(const char *method, const char *path, const char *body, unsigned code,
                         const char *part)
{
    ask(method, path, body);
    expect_code(code);
    assert_error(part);
}

/* Asks for a decision; its id goes to id[40]. */
static uint32_t ask_decision(const char *body, char *id)
{
    ask("POST", "/v1/decisions", body);
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

static void assert_rewarded(const char *id, unsigned code, const char *expected)
{
    char body[128];
    (void)snprintf(body, sizeof body, "{\"id\": \"%s\", \"reward\": 0.5}", id);
    ask("POST", "/v1/rewards", body);
    json_t *const value = answered_json(code);
    if (code == 200)
        assert_string_equal(text_of(value, "status"), expected);
    else
        assert_error(expected);
    json_decref(value);
}

static void expect_metric(const char *line)
{
    ask("GET", "/metrics", NULL);
    assert_non_null(strstr(reply, line));
}

static void assert_alive(void)
{
    ask("GET", "/health", NULL);
    expect_code(200);
}

/* ---- Endpoints ------------------------------------------------------------------------------- */

API_TEST(a_decision_is_made_and_rewarded_once)
{
    char id[40];
    char same[40];
    uint32_t const arm = ask_decision("{\"key\": \"k\", \"unit\": \"ann\"}", id);
    assert_int_equal(ask_decision("{\"key\": \"k\"}", same), arm);
    assert_string_equal(id, same);
    assert_int_equal(ask_decision("{\"unit\": \"ann\"}", same), arm);
    assert_string_not_equal(id, same);
    assert_rewarded(id, 200, "accepted");
    assert_rewarded(id, 200, "repeated");
    fake.now_ms += DEADLINE_MS;
    wake();
    assert_alive();
    assert_rewarded(same, 200, "late");
    assert_rewarded("00000000000000000000000000000000", 404, "no decision has this id");
    assert_true(ask_decision("{\"unavailable\": [0, \"gr\\\"een\"]}", id) == 2);
    assert_true(ask_decision("{\"unavailable\": [\"bl\xc3\xa4u\", 0, 0]}", id) == 1);
    (void)ask_decision("", id);
    (void)ask_decision("{\"unavailable\": []}", id);
    assert_int_equal(server.held, 0);
}

API_TEST(a_batch_answers_each_element_for_itself)
{
    ask("POST", "/v1/decisions/batch",
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
    ask("POST", "/v1/rewards/batch", body);
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
    ask("POST", "/v1/decisions/batch", "{\"requests\": []}");
    json_decref(answered_json(200));
}

API_TEST(open_decisions_are_listed_and_can_be_closed)
{
    char ids[3][40];
    for (size_t i = 0; i < 3; i++)
        (void)ask_decision(i == 1 ? "{\"key\": \"k\", \"unit\": \"ann\"}" : "{}", ids[i]);
    assert_rewarded(ids[0], 200, "accepted");
    fake.now_ms += DEADLINE_MS / 4;
    ask("GET", "/v1/decisions", NULL);
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
    ask("DELETE", path, NULL);
    assert_string_equal(reply, "{\"status\": \"closed\"}");
    ask("DELETE", path, NULL);
    assert_string_equal(reply, "{\"status\": \"repeated\"}");
    assert_rewarded(ids[1], 200, "late");
    (void)snprintf(path, sizeof path, "/v1/decisions/%s", ids[0]);
    expect_error("DELETE", path, NULL, 409, "has its reward");
    ask("GET", "/v1/decisions", NULL);
    value = answered_json(200);
    assert_int_equal(json_integer_value(json_object_get(value, "open")), 1);
    json_decref(value);
}

API_TEST(what_is_to_be_seen_is_shown)
{
    static const struct {
        const char *path;
        const char *part;
    } cases[] = {{"/v1/status", "\"site\": \"north \\\"1\\\"\""},
                 {"/v1/status?pretty=1", "\"sum\": 0.5"},
                 {"/v1/statement", "\r\n\r\nNothing leaves.\n"},
                 {"/metrics", "\r\n\r\ntacit_fake 1\n"},
                 {"/metrics", "\ntacit_api_decisions_total 1\n"},
                 {"/metrics", "\ntacit_api_rewards_total 1\n"},
                 {"/health", "{\"status\": \"ok\"}"}};
    char id[40];
    (void)ask_decision("{}", id);
    assert_rewarded(id, 200, "accepted");
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_heard(send_request("GET", cases[i].path, NULL, 0), 200, cases[i].part);
    ask("HEAD", "/health", NULL);
    expect_code(200);
    assert_string_equal(reply, "");
    fake.healthy = false;
    expect_error("GET", "/health", NULL, 503, "the disk is full");
    expect_error("GET", "/failure", NULL, 503, "out of memory");
    assert_non_null(strstr(heard, "application/json"));
    expect_metric("\ntacit_api_failures_total 2\n");
}

#define TEXT_64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define TEXT_128 TEXT_64 TEXT_64 /* the longest key or unit */

static const struct {
    const char *method;
    const char *path;
    const char *body;
    unsigned code;
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

API_TEST(wrong_requests_are_told_what_is_allowed)
{
    for (size_t i = 0; i < COUNT(wrong_requests); i++)
        expect_error(wrong_requests[i].method, wrong_requests[i].path, wrong_requests[i].body,
                     wrong_requests[i].code, wrong_requests[i].error);
    char refusals[64];
    (void)snprintf(refusals, sizeof refusals, "\ntacit_api_refusals_total %zu\n",
                   COUNT(wrong_requests));
    expect_metric(refusals);
    expect_metric("\ntacit_api_decisions_total 0\n");
    ask("POST", "/v1/decisions", "{\"key\": \"" TEXT_128 "\", \"unit\": \"" TEXT_128 "\"}");
    expect_code(200);
}

/* Nothing has happened to the decision: its reward is still waited for. */
API_TEST(what_is_no_finite_number_is_no_reward)
{
    static const char *const rewards[] = {"NaN",  "-Infinity", "inf",  "1e999",   "-1e999",
                                          "null", "\"0.7\"",   "true", "[1, {}]", "{}"};
    char id[40];
    char body[512];
    (void)ask_decision("{}", id);
    for (size_t i = 0; i < COUNT(rewards); i++) {
        (void)snprintf(body, sizeof body, "{\"id\": \"%s\", \"reward\": %s}", id, rewards[i]);
        expect_error("POST", "/v1/rewards", body, 400, "must be");
    }
    (void)snprintf(body, sizeof body, "{\"id\": \"%s\"}", id);
    expect_error("POST", "/v1/rewards", body, 400, "needs id and reward");
    expect_metric("\ntacit_api_rewards_total 0\n");
    (void)snprintf(body, sizeof body, "{\"id\": \"%s\", \"reward\": 0.5}", id);
    ask("POST", "/v1/rewards", body);
    assert_string_equal(reply, "{\"status\": \"accepted\"}");
}

/* A batch of so many. */
static const char *many_requests(int count)
{
    static char body[8192];
    size_t size = (size_t)snprintf(body, sizeof body, "{\"requests\": [{}");
    for (int i = 1; i < count; i++)
        size += (size_t)snprintf(body + size, sizeof body - size, ",{}");
    (void)snprintf(body + size, sizeof body - size, "]}");
    return body;
}

TEST(too_much_of_anything_is_refused)
{
    server_open(2);
    char id[40];
    fake.entropy_fails = true;
    expect_error("POST", "/v1/decisions", "{}", 503, "the random source failed");
    fake.entropy_fails = false;
    (void)ask_decision("{}", id);
    (void)ask_decision("{}", id);
    expect_error("POST", "/v1/decisions", "{}", 429, "too many decisions are open");
    expect_error("POST", "/v1/decisions/batch", many_requests(1001), 400, "up to 1000 elements");
    server_stop();
    server_free();
}

/* All are counted, the oldest are shown. */
TEST(a_thousand_open_decisions_are_listed)
{
    server_open(2000);
    for (int open = 1000; open <= 1001; open++) {
        ask("POST", "/v1/decisions/batch", many_requests(open == 1000 ? 1000 : 1));
        expect_code(200);
        ask("GET", "/v1/decisions", NULL);
        json_t *const value = answered_json(200);
        assert_int_equal(json_integer_value(json_object_get(value, "open")), open);
        assert_int_equal(json_array_size(json_object_get(value, "decisions")), 1000);
        json_decref(value);
    }
    server_stop();
    server_free();
}

/* Beyond its limits a caller is told when to come again, in JSON; its rewards are taken. */
TEST(a_caller_beyond_its_limits_is_told_to_wait)
{
    char id[40];
    char same[40];
    caller_open_max = 2;
    server_open(1000);
    caller_open_max = 0;
    (void)ask_decision("{\"key\": \"a\"}", id);
    (void)ask_decision("{}", id);
    expect_error("POST", "/v1/decisions", "{}", 429, "too many decisions are open");
    assert_non_null(strstr(heard, "\r\nRetry-After: 1\r\n"));
    (void)ask_decision("{\"key\": \"a\"}", same); /* it was made before */
    ask("POST", "/v1/decisions/batch", "{\"requests\": [{}, {}]}");
    json_decref(answered_json(200));
    assert_non_null(strstr(reply, "too many decisions are open"));
    assert_rewarded(id, 200, "accepted");
    (void)ask_decision("{}", id);
    server_stop();
    struct live_caller const *const caller = &live_http_callers(server.http)->list[0];
    assert_int_equal(caller->open, 2);
    assert_int_equal(caller->refused_open, 3);
    assert_int_equal(caller->bytes, 0); /* bodies and answers are gone */
    assert_int_equal(caller->user, transport == ON_UNIX ? getuid() : LIVE_CALLER_LOOPBACK);
    server_free();

    caller_calls_per_s = 1;
    server_open(1000);
    caller_calls_per_s = 0;
    ask("POST", "/v1/rewards/batch", "{\"rewards\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 1]}");
    json_decref(answered_json(200)); /* 13 s are spent */
    int const raw = raw_open();
    raw_send(raw, GET "\r\n", sizeof GET + 1);
    expect_heard(raw, 429, "too much a second");
    assert_non_null(strstr(heard, " 429 Too Many Requests\r\n"));
    assert_non_null(strstr(heard, "\r\nRetry-After: 1"));
    server_stop();
    assert_int_equal(live_api_count(api).refusals, 1);
    assert_int_equal(live_http_callers(server.http)->list[0].refused_rate, 1);
    server_free();
}

/* ---- Held answers ---------------------------------------------------------------------------- */

static bool is_answered(int raw)
{
    struct pollfd look = {.fd = raw, .events = POLLIN};
    return poll(&look, 1, 0) != 0;
}

API_TEST(answers_wait_until_the_round_is_durable)
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
    int raws[COUNT(cases)];
    server.release = RELEASE_NOTHING;
    for (size_t i = 0; i < COUNT(cases); i++) {
        raws[i] = post(cases[i].path, cases[i].body);
        wait_for_held(i + 1);
    }
    assert_alive(); /* what promises nothing does not wait */
    ask("POST", "/v1/decisions", "{");
    expect_code(400);
    (void)usleep(20000);
    for (size_t i = 0; i < COUNT(raws); i++)
        assert_false(is_answered(raws[i]));
    server.release = RELEASE_DURABLE;
    wake();
    for (size_t i = 0; i < COUNT(raws); i++)
        expect_heard(raws[i], 200, cases[i].answer);
}

API_TEST(nothing_is_acknowledged_that_is_not_durable)
{
    server.release = RELEASE_NOTHING;
    int const first = post("/v1/decisions", "{}");
    wait_for_held(1);
    int const second =
        post("/v1/rewards/batch", "{\"rewards\": [{\"id\": \"" ID_1 "\", \"reward\": 1}]}");
    wait_for_held(2);
    server.release = RELEASE_FAILED;
    wake();
    expect_heard(first, 503, "could not be made durable");
    expect_heard(second, 503, "could not be made durable");
}

TEST(a_stopping_server_answers_what_it_holds)
{
    server_open(1000);
    server.release = RELEASE_NOTHING;
    int const raw = post("/v1/decisions", "{}");
    wait_for_held(1);
    server_stop();
    live_held_release(&server.answers, false);
    live_http_close(server.http);
    server.http = NULL;
    expect_heard(raw, 503, "nothing is acknowledged");
    server_free();
}

static void keep_forever(void *context, struct live_request *request)
{
    atomic_int *const count = context;
    (*count)++;
}

/* The server by itself, with a handler that never answers. */
TEST(a_closing_server_answers_what_its_handler_forgot)
{
    atomic_int count = 0;
    http_open(keep_forever, &count);
    server_start();
    int const raws[2] = {post("/a", "x"), post("/b", "y")};
    for (int i = 0; i < PATIENCE_MS && count < 2; i++)
        (void)usleep(1000);
    server_stop();
    live_http_close(server.http);
    server.http = NULL;
    for (size_t i = 0; i < 2; i++)
        expect_heard(raws[i], 503, "this daemon is stopping");
    struct stat there;
    assert_int_equal(stat(server.socket, &there), -1);
    http_close();
}

static const char a_request[] = POST "Content-Length: 2\r\n\r\n{}";

API_TEST(a_caller_that_leaves_while_held_harms_nobody)
{
    server.release = RELEASE_NOTHING;
    int raws[6];
    for (size_t i = 0; i < COUNT(raws); i++) {
        raws[i] = post("/v1/decisions", "{}");
    }
    wait_for_held(COUNT(raws));
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
    wait_for_held(COUNT(raws));
    server.release = RELEASE_DURABLE;
    wake();
    wait_for_held(0);
    (void)close(raws[1]);
    (void)close(raws[4]);
    assert_alive();
    expect_metric("\ntacit_api_decisions_total 6\n");
}

/* ---- Turns ----------------------------------------------------------------------------------- */

#define TURN_LINES 20u
#define TURN_WORK_US 2000u /* of a request: more than a caller may take of a round */

static char asked_for[2 * TURN_LINES]; /* a letter of each path, in order */
static size_t asked_count;

static void work_and_answer(void *context, struct live_request *request)
{
    uint64_t const end_us = live_now_us() + TURN_WORK_US;
    while (live_now_us() < end_us) {
    }
    assert_true(asked_count < sizeof asked_for);
    asked_for[asked_count++] = request->path[1];
    live_http_answer(request, 200, "text/plain", "", 0);
    if (asked_count == TURN_LINES + 1)
        live_loop_stop(server.loop);
}

static void raw_get(int raw, char letter, size_t times)
{
    char text[64];
    int const size =
        snprintf(text, sizeof text, "GET /%c HTTP/1.1\r\nHost: localhost\r\n\r\n", letter);
    for (size_t i = 0; i < times; i++)
        raw_send(raw, text, (size_t)size);
}

/* Many requests of another user, each on a line of its own; or all of one line. All that was sent
 * is there before the server looks. */
static void expect_turns(bool by_user)
{
    int raws[TURN_LINES + 1];
    size_t const lines = by_user ? TURN_LINES : 1;
    asked_count = 0;
    http_open(work_and_answer, NULL);
    if (by_user) {
        assert_int_equal(chmod(server.directory, 0711), 0);
        assert_int_equal(chmod(server.socket, 0666), 0);
        assert_int_equal(seteuid(65534), 0);
    }
    for (size_t i = 0; i < lines; i++) {
        raws[i] = raw_open();
        raw_get(raws[i], 'a', TURN_LINES / lines);
    }
    if (by_user)
        assert_int_equal(seteuid(0), 0);
    raws[lines] = raw_open();
    raw_get(raws[lines], 'b', 1);
    assert_int_equal(live_loop_run(server.loop), TACIT_OK);
    http_close();
    for (size_t i = 0; i <= lines; i++)
        (void)close(raws[i]);
    assert_non_null(memchr(asked_for, 'b', 6)); /* of 21 */
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

static void answer_sleeper(void *context, struct live_request *request)
{
    const int *const raw = context;
    assert_true(unread_of(*raw) > 0);
    live_http_answer(request, 200, "text/plain", "", 0);
    live_loop_stop(server.loop);
}

/* Linux would wake it when the request is read, for nothing. */
TEST(who_sleeps_for_an_answer_is_woken_by_it)
{
    int raw = -1;
    if (transport != ON_UNIX)
        return; /* only a Unix socket wakes a reader that can write again */
    http_open(answer_sleeper, &raw);
    raw = raw_open();
    raw_get(raw, 'a', 1);
    assert_int_equal(live_loop_run(server.loop), TACIT_OK);
    assert_int_equal(unread_of(raw), 0);
    (void)close(raw);
    http_close();
}

/* More reading of pieces than a caller may have at once: what is put off is not forgotten. */
TEST(requests_that_come_in_many_pieces_are_all_answered)
{
    enum { LINES = 10, PIECES = 100, PIECE_BYTES = 1000 };
    static const char head[] = POST "Content-Length: 100002\r\n\r\n{";
    request_s_max = 0; /* 30: a checker of memory takes its time */
    server_open(1000);
    request_s_max = 2;
    char piece[PIECE_BYTES];
    int raws[LINES];
    memset(piece, ' ', sizeof piece);
    for (size_t i = 0; i < LINES; i++) {
        raws[i] = raw_open();
        raw_send(raws[i], head, sizeof head - 1);
    }
    for (size_t j = 0; j < PIECES; j++)
        for (size_t i = 0; i < LINES; i++)
            raw_send(raws[i], piece, sizeof piece);
    for (size_t i = 0; i < LINES; i++) {
        raw_send(raws[i], "}", 1);
        expect_heard(raws[i], 200, "planned");
    }
    server_stop();
    server_free();
}

/* ---- The line -------------------------------------------------------------------------------- */

API_TEST(a_body_beyond_1_mib_is_refused)
{
    size_t const sizes[] = {LIVE_BODY_BYTES_MAX, LIVE_BODY_BYTES_MAX + 1, 3u << 20, 20u << 20};
    char *const body = malloc(20u << 20);
    assert_non_null(body);
    memset(body, ' ', 20u << 20);
    memcpy(body, "{}", 2);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        hear_reply(send_request("POST", "/v1/decisions", body, sizes[i]));
        expect_code(i == 0 ? 200 : 413);
        if (i > 0)
            assert_error("1 MiB is allowed");
    }
    free(body);
    assert_alive();
}

/* What is read strictly: whatever two readers could read differently is refused, with JSON, and the
 * line ends there. */
static const struct {
    const char *request;
    unsigned code;
    const char *error;
} strict_cases[] = {
    {POST "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", 411, "chunks are not taken"},
    {POST "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400, "one Content-Length"},
    {POST "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400, "one Content-Length"},
    {POST "Content-Length: 2, 2\r\n\r\n{}", 400, "a number"},
    {POST "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", 400, "one Content-Length"},
    {POST "Transfer-Encoding: chunked\r\ncontent-length: 7\r\n\r\n{}", 400, "one Content-Length"},
    {POST "Content-Length : 2\r\n\r\n{}", 400, "NAME: VALUE"},
    {POST "X: 1\r\n folded\r\n\r\n", 400, "NAME: VALUE"},
    {"POST /v1/decisions HTTP/1.1\nHost: localhost\r\n\r\n", 400, "CR LF"},
    {"GET /health HTTP/1.1\r\nHost: localhost\n\n", 400, "CR LF"},
    {"GET /health HTTP/1.1\r\nHost: localhost\rX: b\r\n\r\n", 400, "CR LF"},
    {GET "X: \x01\r\n\r\n", 400, "control"},
    {"GET /health HTTP/1.1\r\n\r\n", 400, "names its Host"},
    {GET "Host: localhost\r\n\r\n", 400, "said once"},
    {"GET /health HTTP/9.9\r\nHost: localhost\r\n\r\n", 505, "HTTP/1.1"},
    {"GET /health\r\n\r\n", 400, "begins with"},
    {"GET  /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "begins with"},
    {"GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "begins with"},
    {"G(T /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "begins with"},
    {"\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "begins with"},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "begins with"},
    {GET "Expect: gold\r\n\r\n", 417, "100-continue"},
    {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400, "a number"},
    {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0x2\r\n\r\n", 400, "a number"},
    {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n", 413,
     "1 MiB is allowed"},
    {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413,
     "1 MiB"},
};

/* The last answer on a raw connection: nothing comes after it. */
static void expect_last(int raw, unsigned code, const char *error)
{
    hear_reply(raw);
    expect_code(code);
    assert_non_null(strstr(heard, "\r\nConnection: close\r\n"));
    assert_non_null(strstr(heard, "\r\nContent-Type: application/json\r\n"));
    assert_error(error);
}

/* To these bytes, on a connection of their own, which ends where they are refused. */
static void expect_answer(const char *request, size_t size, unsigned code, const char *error)
{
    int const raw = raw_open();
    raw_send(raw, request, size);
    if (code == 200)
        expect_heard(raw, code, "\r\n\r\n");
    else
        expect_last(raw, code, error);
}

API_TEST(what_could_be_read_in_two_ways_is_refused)
{
    static const char has_nul[] = GET "X: \0\r\n\r\n";
    for (size_t i = 0; i < COUNT(strict_cases); i++)
        expect_answer(strict_cases[i].request, strlen(strict_cases[i].request),
                      strict_cases[i].code, strict_cases[i].error);
    expect_answer(has_nul, sizeof has_nul - 1, 400, "control");
    expect_metric("\ntacit_api_decisions_total 0\n");
}

API_TEST(headers_are_limited_in_number_and_size)
{
    char request[16384];
    for (unsigned count = 63; count <= 64; count++) {
        size_t size = (size_t)snprintf(request, sizeof request, GET);
        for (unsigned i = 0; i < count; i++)
            size += (size_t)snprintf(request + size, sizeof request - size, "X-%u: y\r\n", i);
        size += (size_t)snprintf(request + size, sizeof request - size, "\r\n");
        expect_answer(request, size, count == 63 ? 200 : 431, "64 are allowed");
    }
    for (size_t extra = 0; extra <= 1; extra++) { /* of 8192 bytes, and one more */
        static const char begin[] = GET "X: ";
        size_t const size = 8192 + extra;
        memset(request, 'x', size);
        memcpy(request, begin, sizeof begin - 1);
        memcpy(request + size - 4, "\r\n\r\n", 4);
        expect_answer(request, size, extra == 0 ? 200 : 431, "8192 bytes are allowed");
    }
}

/* What a head may be: above, and tests/fuzz/http_head.c. */
API_TEST(garbage_is_survived)
{
    struct tacit_rng rng = tacit_rng_stream(4, 0, 0, TACIT_PURPOSE_FAULT);
    for (size_t i = 0; i < 50; i++) {
        char noise[512];
        int const raw = raw_open();
        for (size_t j = 0; j < sizeof noise; j++)
            noise[j] = (char)tacit_rng_below(&rng, 256);
        raw_send(raw, noise, sizeof noise);
        (void)shutdown(raw, SHUT_WR);
        struct pollfd wait = {.fd = raw, .events = POLLIN};
        (void)poll(&wait, 1, 5);
        (void)close(raw);
    }
    assert_alive();
    assert_int_equal(server.held, 0);
}

/* Also after refusals. */
API_TEST(connections_are_kept_alive)
{
    static const struct {
        const char *request;
        unsigned code;
    } cases[] = {{GET "\r\n", 200},
                 {POST "Content-Length: 2\r\n\r\n{}", 200},
                 {POST "Content-Length: 2\r\n\r\n[]", 400}};
    int const raw = raw_open();
    for (size_t i = 0; i < 20; i++) {
        raw_send(raw, cases[i % 3].request, strlen(cases[i % 3].request));
        hear(raw, "}");
        expect_code(cases[i % 3].code);
    }
    (void)close(raw);
}

/* Who asks before it sends a body is told to go on. */
API_TEST(a_caller_that_expects_to_be_encouraged_is)
{
    static const char head[] = POST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    int const raw = raw_open();
    raw_send(raw, head, sizeof head - 1);
    hear(raw, "\r\n\r\n");
    assert_string_equal(heard, "HTTP/1.1 100 Continue\r\n\r\n");
    raw_send(raw, "{}", 2);
    expect_heard(raw, 200, "planned");
}

API_TEST(requests_on_one_line_are_answered_in_order)
{
    int const raw = raw_open();
    for (int i = 0; i < 3; i++)
        raw_send(raw, a_request, sizeof a_request - 1);
    hear(raw, "\"id\": \"" ID_3 "\"");
    const char *const first = strstr(heard, "\"id\": \"" ID_1 "\"");
    assert_non_null(first);
    assert_non_null(strstr(first, "\"id\": \"" ID_2 "\""));
    /* Byte by byte, as a slow caller would. */
    for (size_t i = 0; i < sizeof a_request - 1; i++)
        raw_send(raw, a_request + i, 1);
    expect_heard(raw, 200, "\"id\": \"" ID_4 "\"");
}

/* Lines on which nothing is finished make room for those that come; an answer that is due does not.
 */
TEST(half_open_lines_shut_nobody_out)
{
    int raws[600];
    server_open(1000);
    server.release = RELEASE_NOTHING;
    int const held = post("/v1/decisions", "{}");
    wait_for_held(1);
    for (size_t i = 0; i < COUNT(raws); i++) {
        raws[i] = raw_open();
        raw_send(raws[i], a_request, i % 40);
    }
    int const late = post("/v1/decisions", "{}");
    wait_for_held(2);
    server.release = RELEASE_DURABLE;
    wake();
    expect_heard(late, 200, "planned");
    expect_heard(held, 200, "planned");
    assert_alive();
    for (size_t i = 0; i < COUNT(raws); i++)
        (void)close(raws[i]);
    assert_alive();
    server_stop();
    assert_in_range(live_http_callers(server.http)->list[0].shed, 300, 600);
    server_free();
}

TEST(whose_connections_all_wait_for_answers_is_told_429)
{
    server_open(1000);
    size_t const count = transport == ON_UNIX ? LIVE_CONNECTIONS_A_USER_MAX : LIVE_CONNECTIONS_MAX;
    int raws[LIVE_CONNECTIONS_MAX];
    server.release = RELEASE_NOTHING;
    for (size_t i = 0; i < count; i++)
        raws[i] = post("/v1/decisions", "{}");
    wait_for_held(count);
    expect_heard(raw_open(), 429, "too many connections\"}");
    server.release = RELEASE_DURABLE;
    wake();
    for (size_t i = 0; i < count; i++)
        expect_heard(raws[i], 200, "planned");
    assert_alive();
    server_stop();
    assert_int_equal(live_http_callers(server.http)->list[0].shed, 1);
    server_free();
}

/* A byte now and then keeps no line open: neither in the headers nor in the body. */
API_TEST(a_request_that_never_ends_is_cut_off)
{
    static const char slow_body[] = POST "Content-Length: 1000\r\n\r\n";
    int const slow[2] = {raw_open(), raw_open()};
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
        assert_alive();
    }
    for (size_t i = 0; i < 2; i++) {
        assert_true(is_over[i]);
        expect_last(slow[i], 408, "within the time");
    }
    int const idle = raw_open(); /* closed without a word */
    char byte;
    assert_int_equal(recv(idle, &byte, 1, 0), 0);
    (void)close(idle);
}

/* Who does not fetch his answers is not waited for. The buffers are small before it connects: of a
 * window that shrinks later TCP may drop what is under way, and with it the reset that says so. */
API_TEST(an_answer_that_nobody_reads_is_given_up)
{
    static const char get[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static char many[100 * (sizeof get - 1)];
    for (size_t i = 0; i < 100; i++)
        memcpy(many + i * (sizeof get - 1), get, sizeof get - 1);
    int const deaf = raw_open_with(4096);
    struct pollfd wait = {.fd = deaf, .events = POLLOUT};
    uint64_t const end_us = live_now_us() + 60 * UINT64_C(1000000);
    bool is_closed = false;
    size_t asked = 0;
    while (!is_closed && live_now_us() < end_us) {
        ssize_t sent = 0;
        if (poll(&wait, 1, 100) > 0)
            sent = send(deaf, many, sizeof many, MSG_NOSIGNAL | MSG_DONTWAIT);
        else
            assert_alive();
        asked += sent > 0 ? (size_t)sent : 0;
        is_closed = sent < 0 && errno != EAGAIN;
    }
    if (!is_closed)
        fail_msg("after 60 s and %zu bytes of requests still open", asked);
    (void)close(deaf);
}

/* Hears all that is answered to these bytes, sent in two pieces; ids and dates are taken out. */
static void hear_answers(const char *bytes, size_t size, size_t split)
{
    int const raw = raw_open();
    raw_send(raw, bytes, split);
    if (split > 0)
        (void)usleep(200); /* let it come by itself, if it likes */
    raw_send(raw, bytes + split, size - split);
    hear(raw, NULL);
    (void)close(raw);
    for (char *at = heard; (at = strstr(at, "Date: ")) != NULL; at++)
        memset(at + 6, 'D', strcspn(at + 6, "\r"));
    for (char *at = heard; (at = strstr(at, "\"id\": \"")) != NULL; at++)
        memset(at + 7, '0', strcspn(at + 7, "\""));
}

/* Also what is refused, and several requests in one piece; of those the arms are drawn. */
API_TEST(every_split_of_requests_gives_the_same_answers)
{
    static char whole[sizeof heard];
    static const char good[] = POST "Content-Length: 12\r\n\r\n{\"key\": \"a\"}"
                                    "GET /v1/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n" POST
                                    "Content-Length: 0\r\nConnection: close\r\n\r\n";
    for (size_t i = 0; i < COUNT(strict_cases) + 1; i++) {
        const char *const bytes = i == 0 ? good : strict_cases[i - 1].request;
        size_t const size = strlen(bytes);
        for (size_t split = 0; split < size; split++) {
            hear_answers(bytes, size, split);
            if (split == 0)
                memcpy(whole, heard, sizeof whole);
            assert_int_equal(strncmp(heard, whole, i == 0 ? 15 : sizeof whole), 0);
            if (i == 0)
                assert_true(strstr(heard, "HTTP/1.1 404") != NULL &&
                            strstr(heard, "Connection: close") != NULL);
        }
    }
}

API_TEST(web_pages_cannot_ask)
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
    for (size_t i = 0; i < COUNT(cases); i++) {
        char bytes[1024];
        int const raw = raw_open();
        int const size = snprintf(bytes, sizeof bytes,
                                  "POST /v1/decisions HTTP/1.1\r\n%sContent-Length: 2\r\n\r\n{}",
                                  cases[i].headers);
        raw_send(raw, bytes, (size_t)size);
        bool const is_allowed = cases[i].is_allowed || transport == ON_UNIX;
        expect_heard(raw, is_allowed ? 200 : 403, "\r\n\r\n{");
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

API_TEST(only_a_stale_socket_is_replaced)
{
    struct tacit_error error;
    char path[TEMP_PATH_BYTES];
    struct stat there;
    if (transport == ON_LOOPBACK) {
        assert_int_equal(open_on(NULL, server.port, &error), TACIT_IO);
        assert_non_null(strstr(error.text, "127.0.0.1:"));
        return;
    }
    assert_int_equal(stat(server.socket, &there), 0);
    assert_int_equal(there.st_mode & 0777, 0660);
    assert_int_equal(open_on(server.socket, 0, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "another process answers"));
    assert_alive();
    temp_path(path, server.directory, "stale.sock");
    leave_stale_socket(path);
    assert_int_equal(open_on(path, 0, &error), TACIT_OK);
    assert_int_equal(stat(path, &there), -1); /* removed when it closed */
    temp_file_write(server.directory, "file", "precious");
    temp_path(path, server.directory, "file");
    assert_int_equal(open_on(path, 0, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "something else than a socket"));
    assert_int_equal(stat(path, &there), 0);
    temp_path(path, server.directory, "no/such/directory");
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
    struct live_api_config config = {.arm_count = ARMS, .arm_names = twice, .id_key = id_key};
    assert_int_equal(live_api_new(&api, &config), TACIT_INVALID);
    config.arm_names = empty;
    assert_int_equal(live_api_new(&api, &config), TACIT_INVALID);
    config.arm_names = NULL;
    config.agent = fake_agent;
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
    transport = ON_UNIX;
    int failed = testing_run(NULL, NULL);
    transport = ON_LOOPBACK;
    failed += testing_run(NULL, NULL);
    return failed;
}
