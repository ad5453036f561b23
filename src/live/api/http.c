/* libmicrohttpd in external epoll mode: the loop watches its epoll descriptor and its time-out. A
 * request is collected, handed over, and its connection suspended until the answer comes. Not here:
 * what requests mean. */
#include "http.h"
#include "http_socket.h"
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINES_MAX 256u
#define LINES_SPARE 64u /* while those that make room are being closed */
#define LINE_S_MAX 30u
#define SWEEP_MS 1000u
/* Of headers; also how much body is read at once. libmicrohttpd clears all of it for each request:
 * more is slower. */
#define CONNECTION_BYTES ((size_t)16 * 1024)
/* A body that is too large is read to its end, so that the caller sees the refusal and not a reset;
 * but a stream of this size is cut off. */
#define BODY_BYTES_ENDURED (16u << 20)
#define RUNS_MAX 8u /* of the server in one round of the loop */
#define CLOSING_MS 200

enum stage {
    STAGE_READING,
    STAGE_HANDLING, /* the handler has it and has not returned */
    STAGE_HELD,     /* the handler returned without an answer; the connection is suspended */
    STAGE_ANSWERED,
};

/* One request from its headers to its completion. */
struct call {
    struct live_request request;
    struct live_http *http;
    struct MHD_Connection *connection;
    enum stage stage;
    enum MHD_Result queued; /* ANSWERED: did the server take the answer? */
    uint8_t *body;
    size_t capacity;
    size_t received;     /* also what did not fit */
    struct call *before; /* held calls */
    struct call *after;
};

/* A connection, and since when no request was finished on it. A server's own time-out counts from
 * the last byte: who sends a byte now and then would stay for ever. */
struct line {
    int socket; /* the server's */
    uint64_t since_us;
    bool is_busy; /* a whole request is here, and its answer is not */
    bool is_shed;
    struct line *older;
    struct line *newer;
};

struct live_http {
    struct live_loop *loop;
    struct live_timer *timer;
    uint64_t timer_us;
    struct MHD_Daemon *server;
    int epoll;   /* the server's, once the loop watches it; else -1 */
    int resumed; /* an eventfd, -1: none: libmicrohttpd does not notice by itself what was resumed
                  */
    bool is_woken;
    struct live_http_socket socket;
    void (*handle)(void *context, struct live_request *request);
    void *context;
    struct call *held;
    size_t unsent; /* answers that the server has not got rid of */
    struct line *oldest;
    struct line *newest;
    unsigned line_count; /* that are not shed */
    uint64_t line_us_max;
};

/* ---- Lines ----------------------------------------------------------------------------------- */

static void append_line(struct live_http *http, struct line *line)
{
    line->since_us = live_now_us();
    line->newer = NULL;
    line->older = http->newest;
    if (http->newest != NULL)
        http->newest->newer = line;
    else
        http->oldest = line;
    http->newest = line;
}

static void take_line_out(struct live_http *http, struct line *line)
{
    if (line->older != NULL)
        line->older->newer = line->newer;
    else
        http->oldest = line->newer;
    if (line->newer != NULL)
        line->newer->older = line->older;
    else
        http->newest = line->older;
}

/* The server notices, and closes it in its own time. */
static void shed(struct live_http *http, struct line *line)
{
    TACIT_ASSERT(!line->is_busy && !line->is_shed);
    line->is_shed = true;
    http->line_count--;
    (void)shutdown(line->socket, SHUT_RDWR);
}

static struct line *oldest_idle(const struct live_http *http)
{
    struct line *line = http->oldest;
    while (line != NULL && (line->is_busy || line->is_shed))
        line = line->newer;
    return line;
}

static void shed_the_late(struct live_http *http)
{
    uint64_t const now_us = live_now_us();
    struct line *line = oldest_idle(http);
    while (line != NULL && now_us - line->since_us > http->line_us_max) {
        shed(http, line);
        line = oldest_idle(http);
    }
}

static struct line *line_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static void on_line(void *context, struct MHD_Connection *connection, void **slot,
                    enum MHD_ConnectionNotificationCode code)
{
    struct live_http *const http = context;
    struct line *line = *slot;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *const info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        line = info == NULL ? NULL : calloc(1, sizeof *line);
        if (line == NULL)
            return; /* it is served, and not watched */
        line->socket = info->connect_fd;
        *slot = line;
        struct line *const oldest = oldest_idle(http);
        append_line(http, line);
        if (++http->line_count > LINES_MAX && oldest != NULL)
            shed(http, oldest);
    } else if (line != NULL) {
        http->line_count -= line->is_shed ? 0 : 1;
        take_line_out(http, line);
        free(line);
        *slot = NULL;
    }
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void hold(struct call *call)
{
    call->stage = STAGE_HELD;
    call->before = NULL;
    call->after = call->http->held;
    if (call->after != NULL)
        call->after->before = call;
    call->http->held = call;
    MHD_suspend_connection(call->connection);
}

static void let_go(struct call *call)
{
    if (call->before != NULL)
        call->before->after = call->after;
    else
        call->http->held = call->after;
    if (call->after != NULL)
        call->after->before = call->before;
}

/* NULL: memory. */
static struct MHD_Response *response_of(const char *content_type, const char *bytes, size_t size)
{
    struct MHD_Response *const response =
        MHD_create_response_from_buffer(size, (void *)bytes, MHD_RESPMEM_MUST_COPY);
    if (response != NULL)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    return response;
}

/* Once a round is enough. The server does not run right here, because then it would hand over new
 * requests in the middle of what the caller is doing. */
static void wake(struct live_http *http)
{
    static const uint64_t one = 1;
    if (!http->is_woken)
        http->is_woken = write(http->resumed, &one, sizeof one) == (ssize_t)sizeof one;
}

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned code,
                                     struct MHD_Response *response)
{
    if (response == NULL)
        return MHD_NO;
    enum MHD_Result const result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned code, const char *text)
{
    return send_response(connection, code, response_of("application/json", text, strlen(text)));
}

void live_http_answer(struct live_request *request, unsigned code, const char *content_type,
                      const char *bytes, size_t size)
{
    TACIT_ASSERT(request != NULL && code >= 200);
    struct call *const call = request->owner;
    bool const was_held = call->stage == STAGE_HELD;
    TACIT_ASSERT(was_held || call->stage == STAGE_HANDLING);
    call->queued = send_response(call->connection, code, response_of(content_type, bytes, size));
    call->stage = STAGE_ANSWERED;
    call->http->unsent++;
    if (was_held) {
        let_go(call);
        MHD_resume_connection(call->connection);
        wake(call->http);
    }
}

/* ---- Requests -------------------------------------------------------------------------------- */

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Is this text one of the names under which a program on this machine reaches us? */
static bool is_this_machine(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t const size = strlen(names[i]);
        if (strncasecmp(host, names[i], size) == 0 && (host[size] == '\0' || host[size] == ':'))
            return true;
    }
    return false;
}

/* A web page somewhere else can make a browser on this machine talk to a loopback port; its
 * requests carry a foreign Origin or, by a rebound name, a foreign Host. A Unix socket is out of
 * its reach. */
static bool is_foreign(const struct live_http *http, struct MHD_Connection *connection)
{
    static const char scheme[] = "http://";
    if (http->socket.port == 0)
        return false;
    const char *const host = header_of(connection, MHD_HTTP_HEADER_HOST);
    if (host != NULL && !is_this_machine(host))
        return true;
    const char *const origin = header_of(connection, MHD_HTTP_HEADER_ORIGIN);
    return origin != NULL &&
           !(host != NULL && strncasecmp(origin, scheme, sizeof scheme - 1) == 0 &&
             strcasecmp(origin + sizeof scheme - 1, host) == 0);
}

/* What the headers promise; 0 where they say nothing. */
static uint64_t promised_bytes(struct MHD_Connection *connection)
{
    const char *const text = header_of(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return text == NULL ? 0 : strtoull(text, NULL, 10);
}

struct framing {
    unsigned lengths;
    unsigned encodings;
};

static enum MHD_Result count_framing(void *context, enum MHD_ValueKind kind, const char *name,
                                     const char *value)
{
    struct framing *const framing = context;
    (void)kind;
    (void)value;
    framing->lengths += strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0 ? 1 : 0;
    framing->encodings += strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0 ? 1 : 0;
    return MHD_YES;
}

/* Two who read such a request could differ on where it ends, and one smuggle the next one in. */
static bool is_framed_twice(struct MHD_Connection *connection)
{
    struct framing framing = {0};
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, count_framing, &framing);
    return framing.lengths + framing.encodings > 1;
}

/* The first sight of a request: its headers. */
static enum MHD_Result begin(struct live_http *http, struct MHD_Connection *connection,
                             const char *url, const char *method, void **slot)
{
    if (is_foreign(http, connection))
        return refuse(connection, MHD_HTTP_FORBIDDEN,
                      "{\"error\": \"this address answers programs on this machine only: Host must "
                      "be 127.0.0.1 or localhost, and no web page of another origin may ask\"}");
    if (is_framed_twice(connection))
        return refuse(connection, MHD_HTTP_BAD_REQUEST,
                      "{\"error\": \"a body has one Content-Length, or comes in chunks\"}");
    uint64_t const promised = promised_bytes(connection);
    if (promised > BODY_BYTES_ENDURED)
        return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE,
                      "{\"error\": \"the body is too large; 1 MiB is allowed\"}");
    struct call *const call = calloc(1, sizeof *call);
    if (call == NULL)
        return MHD_NO;
    if (promised > 0 && promised <= LIVE_BODY_BYTES_MAX) {
        call->body = malloc((size_t)promised);
        call->capacity = call->body == NULL ? 0 : (size_t)promised;
    }
    call->http = http;
    call->connection = connection;
    call->request = (struct live_request){.method = method, .path = url, .owner = call};
    *slot = call;
    return MHD_YES;
}

static bool make_room(struct call *call, size_t size)
{
    if (size <= call->capacity)
        return true;
    size_t const capacity = size < 2 * call->capacity ? 2 * call->capacity : size;
    uint8_t *const body = realloc(call->body, capacity);
    if (body == NULL)
        return false;
    call->body = body;
    call->capacity = capacity;
    return true;
}

static enum MHD_Result take_body(struct call *call, const char *bytes, size_t *size)
{
    size_t const before = call->received;
    call->received += *size;
    if (call->received > BODY_BYTES_ENDURED)
        return MHD_NO;
    if (call->received <= LIVE_BODY_BYTES_MAX) {
        if (!make_room(call, call->received))
            return MHD_NO;
        memcpy(call->body + before, bytes, *size);
    }
    *size = 0;
    return MHD_YES;
}

static enum MHD_Result hand_over(struct call *call)
{
    if (call->received > LIVE_BODY_BYTES_MAX)
        return refuse(call->connection, MHD_HTTP_CONTENT_TOO_LARGE,
                      "{\"error\": \"the body is too large; 1 MiB is allowed\"}");
    call->request.body = call->body;
    call->request.size = call->received;
    call->stage = STAGE_HANDLING;
    struct line *const line = line_of(call->connection);
    if (line != NULL && !line->is_shed)
        line->is_busy = true;
    call->http->handle(call->http->context, &call->request);
    if (call->stage == STAGE_ANSWERED)
        return call->queued;
    hold(call);
    return MHD_YES;
}

/* libmicrohttpd comes here for the headers, for each piece of the body, at its end, and once more
 * when a suspended connection was resumed. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **slot)
{
    (void)version;
    struct call *const call = *slot;
    if (call == NULL)
        return begin(context, connection, url, method, slot);
    if (*upload_size > 0)
        return take_body(call, upload, upload_size);
    /* Answered before, and here again: the server could not take the answer. Closing is better than
     * silence. */
    return call->stage == STAGE_READING ? hand_over(call) : MHD_NO;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **slot,
                         enum MHD_RequestTerminationCode why)
{
    struct live_http *const http = context;
    struct call *const call = *slot;
    struct line *const line = line_of(connection);
    (void)why;
    *slot = NULL;
    if (line != NULL) {
        line->is_busy = false;
        take_line_out(http, line);
        append_line(http, line);
    }
    if (call == NULL)
        return;
    TACIT_ASSERT(call->stage != STAGE_HELD); /* a suspended connection is not looked at */
    if (call->stage == STAGE_ANSWERED)
        call->http->unsent--;
    free(call->body);
    free(call);
}

/* ---- The server in the loop ------------------------------------------------------------------ */

/* Wakes us for the server's time-outs. An earlier alarm than needed stays: it costs less than a
 * system call a request. */
static void set_timer(struct live_http *http, uint64_t wait_ms)
{
    uint64_t const now_us = live_now_us();
    uint64_t const due_us = now_us + wait_ms * 1000u;
    if (http->timer_us > now_us && http->timer_us <= due_us)
        return;
    http->timer_us = due_us;
    live_timer_set(http->timer, due_us);
}

static unsigned connections_of(const struct live_http *http)
{
    const union MHD_DaemonInfo *const info =
        MHD_get_daemon_info(http->server, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info == NULL ? 0 : info->num_connections;
}

/* One run of the server. Is another one due at once? When a connection goes, it is: a server that
 * was full listens again only at the start of a run. */
static bool run_once(struct live_http *http, uint64_t *wait_ms)
{
    unsigned const before = connections_of(http);
    MHD_UNSIGNED_LONG_LONG wait = 0;
    (void)MHD_run(http->server);
    if (connections_of(http) < before)
        *wait_ms = 0;
    else
        *wait_ms = MHD_get_timeout(http->server, &wait) == MHD_YES ? wait : UINT64_MAX;
    return *wait_ms == 0;
}

/* Other descriptors of the loop shall not starve: what is left after some runs waits for the timer.
 */
static void run(struct live_http *http)
{
    uint64_t wait_ms = 0;
    shed_the_late(http);
    for (unsigned i = 0; i < RUNS_MAX && run_once(http, &wait_ms); i++)
        ;
    if (http->line_count > 0 && wait_ms > SWEEP_MS)
        wait_ms = SWEEP_MS;
    if (wait_ms != UINT64_MAX)
        set_timer(http, wait_ms);
}

static void on_ready(void *context, uint32_t epoll_events)
{
    (void)epoll_events;
    run(context);
}

static void on_resumed(void *context, uint32_t epoll_events)
{
    (void)epoll_events;
    struct live_http *const http = context;
    uint64_t count;
    (void)!read(http->resumed, &count, sizeof count);
    http->is_woken = false;
    run(http);
}

static void on_due(void *context)
{
    struct live_http *const http = context;
    http->timer_us = TACIT_NEVER;
    run(http);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static enum tacit_status fail(struct tacit_error *error, enum tacit_status status, const char *why)
{
    (void)snprintf(error->text, sizeof error->text, "HTTP server: %s", why);
    return status;
}

/* The server closes the listener it is given when it stops. */
static enum tacit_status start(struct live_http *http, int listener, struct tacit_error *error)
{
    http->server = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, http,
        MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
        MHD_OPTION_NOTIFY_CONNECTION, on_line, http, MHD_OPTION_CONNECTION_LIMIT,
        LINES_MAX + LINES_SPARE, MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    const union MHD_DaemonInfo *const info =
        http->server == NULL ? NULL : MHD_get_daemon_info(http->server, MHD_DAEMON_INFO_EPOLL_FD);
    if (info == NULL)
        return fail(error, TACIT_IO, "it did not start");
    http->timer_us = TACIT_NEVER;
    http->timer = live_timer_new(http->loop, on_due, http);
    http->resumed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (http->timer == NULL || http->resumed < 0)
        return fail(error, TACIT_MEMORY, "out of memory or descriptors");
    enum tacit_status status =
        live_loop_watch(http->loop, http->resumed, EPOLLIN, on_resumed, http);
    if (status == TACIT_OK)
        status = live_loop_watch(http->loop, info->epoll_fd, EPOLLIN, on_ready, http);
    if (status != TACIT_OK)
        return fail(error, status, tacit_status_text(status));
    http->epoll = info->epoll_fd;
    return TACIT_OK;
}

/* The server gets a copy of the listener, because it is not said whose it is after a failed start.
 */
static enum tacit_status open_parts(struct live_http *http, const struct live_http_config *config,
                                    struct tacit_error *error)
{
    enum tacit_status const status =
        config->unix_path != NULL ? live_http_listen_unix(&http->socket, config->unix_path,
                                                          config->is_private ? 0600 : 0660, error)
                                  : live_http_listen_loopback(&http->socket, config->port, error);
    if (status != TACIT_OK)
        return status;
    int const copy = fcntl(http->socket.listener, F_DUPFD_CLOEXEC, 0);
    return copy < 0 ? fail(error, TACIT_IO, strerror(errno)) : start(http, copy, error);
}

enum tacit_status live_http_open(struct live_http **http, struct live_loop *loop,
                                 const struct live_http_config *config,
                                 void (*handle)(void *context, struct live_request *request),
                                 void *context, struct tacit_error *error)
{
    TACIT_ASSERT(loop != NULL && config != NULL);
    struct live_http *const opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return fail(error, TACIT_MEMORY, "out of memory");
    opened->loop = loop;
    opened->epoll = -1;
    opened->resumed = -1;
    opened->socket.listener = -1;
    opened->line_us_max =
        (config->line_s_max == 0 ? LINE_S_MAX : config->line_s_max) * UINT64_C(1000000);
    opened->handle = handle;
    opened->context = context;
    enum tacit_status const status = open_parts(opened, config, error);
    if (status == TACIT_OK)
        *http = opened;
    else
        live_http_close(opened);
    return status;
}

/* Nobody may stay suspended when the server stops; what was answered gets a moment to go out. */
static void drain(struct live_http *http)
{
    static const char text[] = "{\"error\": \"the agent is stopping; ask again later\"}";
    while (http->held != NULL)
        live_http_answer(&http->held->request, MHD_HTTP_SERVICE_UNAVAILABLE, "application/json",
                         text, sizeof text - 1);
    uint64_t const end_us = live_now_us() + CLOSING_MS * UINT64_C(1000);
    while (http->unsent > 0 && live_now_us() < end_us) {
        struct pollfd wait = {.fd = http->epoll, .events = POLLIN};
        (void)poll(&wait, 1, 10);
        (void)MHD_run(http->server);
    }
}

void live_http_close(struct live_http *http)
{
    if (http == NULL)
        return;
    live_http_socket_close(&http->socket);
    if (http->epoll >= 0) {
        drain(http);
        live_loop_forget(http->loop, http->epoll);
    }
    if (http->timer != NULL)
        live_timer_set(http->timer, TACIT_NEVER);
    if (http->resumed >= 0) {
        live_loop_forget(http->loop, http->resumed);
        (void)close(http->resumed);
    }
    if (http->server != NULL)
        MHD_stop_daemon(http->server);
    free(http);
}

uint16_t live_http_port(const struct live_http *http)
{
    return http->socket.port;
}
