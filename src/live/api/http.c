/* Connections and their requests. A connection reads a request, is with the handler, and sends the
 * answer; at its end it discards what still comes, so that the caller sees the last answer and not
 * a reset. Not here: what a head may look like (http_head.c), what requests mean.
 */
#include "http.h"
#include "http_head.h"
#include "http_socket.h"
#include <errno.h>
#include <inttypes.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_S_MAX 30u
#define US_PER_S UINT64_C(1000000)
#define FAREWELL_US (2 * US_PER_S)     /* for a caller to see the last answer */
#define FAREWELL_BYTES_MAX (32u << 20) /* that are discarded meanwhile */
#define CLOSING_US UINT64_C(200000)
#define BODY_BYTES_AT_FIRST 4096u
#define CALLER_BYTES_MAX (6u << 20) /* of bodies and answers, of all connections of a caller */
#define READ_BYTES_MAX (64u << 10)  /* of a body at once */
#define ACCEPTS_MAX 32u             /* in one round of the loop */
#define PIECE_US UINT64_C(100)      /* a caller may have so many pieces a second read that .. */
#define PIECES_US UINT64_C(20000)   /* .. complete no request, these at once; .. */
#define REST_US UINT64_C(10000)     /* .. beyond, a flood of pieces fills its own sockets */
#define TURN_US UINT64_C(500)       /* of one user, in a round in which others have connections */

enum stage {
    STAGE_READING,
    STAGE_HANDLING, /* the handler has it and has not returned */
    STAGE_HELD,     /* the handler returned without an answer */
    STAGE_SENDING,
    STAGE_FAREWELL,
};

struct connection {
    struct live_http *http;
    struct live_caller *caller;
    struct connection *older;
    struct connection *newer;
    struct live_request request;
    enum stage stage;
    int socket;
    SSL *tls; /* NULL: without */
    bool is_watched;
    uint32_t epoll_events; /* that are waited for */
    bool has_rest;         /* of what was read: the next request, or its beginning */
    bool is_ending;
    bool is_head_only;
    bool has_head;
    uint64_t due_us; /* what it is at has to be done by then */
    uint64_t discarded;
    size_t peeked; /* bytes that were looked at and are in the socket still */
    size_t looked;
    size_t in_size;
    size_t head_size;
    struct live_http_head head;
    uint8_t *body;
    size_t body_capacity;
    size_t body_size;
    char *out;
    size_t out_size;
    size_t out_sent;
    char in[LIVE_HEAD_BYTES_MAX];
};

struct live_http {
    struct live_loop *loop;
    struct live_timer *timer;
    uint64_t timer_us;
    struct live_http_socket socket;
    SSL_CTX *tls;                       /* NULL: without */
    const struct live_http_tls *config; /* with TLS */
    bool is_seen_from_afar;
    void (*handle)(void *context, struct live_request *request);
    void *context;
    struct live_callers callers;
    struct connection *oldest; /* since it came, or finished its last request */
    struct connection *newest;
    unsigned connection_count;
    unsigned caller_count; /* who have connections */
    uint64_t request_us;
    time_t date_s;
    char date[64];
};

/* ---- Time and watches ------------------------------------------------------------------------ */

/* An earlier alarm than needed stays: it costs less than a system call a request. */
static void wake_by(struct live_http *http, uint64_t due_us)
{
    if (http->timer_us <= due_us)
        return;
    http->timer_us = due_us;
    live_timer_set(http->timer, due_us);
}

static void set_due(struct connection *connection, uint64_t after_us)
{
    connection->due_us = live_now_us() + after_us;
    wake_by(connection->http, connection->due_us);
}

/* Its socket is watched no more, and stays open. */
static void forget(struct connection *connection)
{
    if (connection->is_watched)
        live_loop_forget(connection->http->loop, connection->socket);
    connection->is_watched = false;
}

static void wait_for(struct connection *connection, uint32_t epoll_events)
{
    if (connection->is_watched && connection->epoll_events != epoll_events &&
        live_loop_change(connection->http->loop, connection->socket, epoll_events) == TACIT_OK)
        connection->epoll_events = epoll_events;
}

/* Something was read from the socket that nobody has asked for yet: TLS reads whole records. */
static bool has_more(const struct connection *connection)
{
    return connection->has_rest || (connection->tls != NULL && SSL_pending(connection->tls) > 0);
}

/* The rest of what was read is there, and a socket that can be written to is ready. */
static void read_again(struct connection *connection)
{
    wait_for(connection, has_more(connection) ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* As recv, whose flags count without TLS alone. */
static ssize_t read_some(struct connection *connection, void *into, size_t size, int flags)
{
    uint32_t wants = EPOLLIN;
    if (connection->tls == NULL)
        return recv(connection->socket, into, size, MSG_DONTWAIT | flags);
    ssize_t const got = live_http_tls_read(connection->tls, into, size, &wants);
    if (got < 0 && errno == EAGAIN)
        wait_for(connection, wants);
    return got;
}

/* *wants: what to wait for. */
static ssize_t write_some(struct connection *connection, const void *bytes, size_t size,
                          uint32_t *wants)
{
    *wants = EPOLLOUT;
    if (connection->tls == NULL)
        return send(connection->socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    return live_http_tls_write(connection->tls, bytes, size, wants);
}

/* Takes what was only looked at. Who reads from a Unix socket makes room in it for its writer, and
 * Linux wakes a writer that sleeps there for another reason, too: for our answer. So a whole
 * request is taken when its answer is out. (unix_write_space, unix_stream_data_wait in
 * net/unix/af_unix.c) */
static void consume_peeked(struct connection *connection)
{
    char bytes[LIVE_HEAD_BYTES_MAX];
    while (connection->peeked > 0) {
        ssize_t const got = recv(connection->socket, bytes, connection->peeked, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        connection->peeked = got > 0 ? connection->peeked - (size_t)got : 0;
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void free_body(struct connection *connection)
{
    connection->caller->bytes -= connection->body_capacity;
    free(connection->body);
    connection->body = NULL;
    connection->body_capacity = 0;
    connection->body_size = 0;
}

static void free_out(struct connection *connection)
{
    connection->caller->bytes -= connection->out_size;
    free(connection->out);
    connection->out = NULL;
    connection->out_size = 0;
    connection->out_sent = 0;
}

/* ---- All connections ------------------------------------------------------------------------- */

static void list_remove(struct live_http *http, struct connection *connection)
{
    *(connection->older == NULL ? &http->oldest : &connection->older->newer) = connection->newer;
    *(connection->newer == NULL ? &http->newest : &connection->newer->older) = connection->older;
}

static void list_append(struct live_http *http, struct connection *connection)
{
    connection->newer = NULL;
    connection->older = http->newest;
    *(connection->older == NULL ? &http->oldest : &connection->older->newer) = connection;
    http->newest = connection;
}

/* Frees it. Requires: no answer of the handler's is to come. */
static void close_connection(struct connection *connection)
{
    struct live_http *const http = connection->http;
    TACIT_ASSERT(connection->stage != STAGE_HANDLING && connection->stage != STAGE_HELD);
    consume_peeked(connection); /* what is left would reset the caller's end */
    forget(connection);
    free_body(connection);
    free_out(connection);
    list_remove(http, connection);
    connection->caller->connections--;
    http->caller_count -= connection->caller->connections == 0 ? 1 : 0;
    http->connection_count--;
    SSL_free(connection->tls);
    (void)close(connection->socket);
    free(connection);
}

/* Of this caller, or of all if it is NULL, the oldest one on which nothing is being answered makes
 * room. Ensures: false: there is none. */
static bool close_oldest(struct live_http *http, const struct live_caller *caller)
{
    struct connection *at = http->oldest;
    while (at != NULL && ((caller != NULL && at->caller != caller) || at->stage == STAGE_HANDLING ||
                          at->stage == STAGE_HELD))
        at = at->newer;
    if (at == NULL)
        return false;
    at->caller->shed++;
    close_connection(at);
    return true;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static const char *reason_of(unsigned code)
{
    static const struct {
        unsigned code;
        const char *text;
    } reasons[] = {{200, "OK"},
                   {400, "Bad Request"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {405, "Method Not Allowed"},
                   {408, "Request Timeout"},
                   {409, "Conflict"},
                   {411, "Length Required"},
                   {413, "Content Too Large"},
                   {417, "Expectation Failed"},
                   {429, "Too Many Requests"},
                   {431, "Request Header Fields Too Large"},
                   {503, "Service Unavailable"},
                   {505, "HTTP Version Not Supported"}};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].code == code)
            return reasons[i].text;
    return "Answer";
}

static const char *date_of(struct live_http *http)
{
    time_t const now_s = time(NULL);
    struct tm utc;
    if (now_s != http->date_s && gmtime_r(&now_s, &utc) != NULL) {
        (void)strftime(http->date, sizeof http->date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
        http->date_s = now_s;
    }
    return http->date;
}

static void add_field(struct tacit_text *head, const char *name, const char *value)
{
    tacit_text_add(head, name);
    tacit_text_add(head, value);
    tacit_text_add(head, "\r\n");
}

/* Makes the answer. Without memory for it, or where the caller's bytes are
 * used up, the connection ends without one. */
static void put_answer(struct connection *connection, unsigned code, const char *content_type,
                       const char *bytes, size_t size)
{
    char bytes_of_head[512];
    struct tacit_text head = tacit_text_init(bytes_of_head, sizeof bytes_of_head);
    tacit_text_add(&head, "HTTP/1.1 ");
    tacit_text_add_u64(&head, code);
    add_field(&head, " ", reason_of(code));
    add_field(&head, "Date: ", date_of(connection->http));
    add_field(&head, "Content-Type: ", content_type);
    tacit_text_add(&head, "Content-Length: ");
    tacit_text_add_u64(&head, size);
    if (connection->request.retry_after_s > 0) {
        tacit_text_add(&head, "\r\nRetry-After: ");
        tacit_text_add_u64(&head, connection->request.retry_after_s);
    }
    tacit_text_add(&head, connection->is_ending ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n");
    TACIT_ASSERT(!head.truncated);
    size_t const body_size = connection->is_head_only ? 0 : size;
    TACIT_ASSERT(connection->out == NULL);
    connection->stage = STAGE_SENDING;
    if (connection->caller->bytes <= CALLER_BYTES_MAX)
        connection->out = malloc(head.size + body_size);
    if (connection->out == NULL) {
        connection->is_ending = true;
        return;
    }
    memcpy(connection->out, head.bytes, head.size);
    if (body_size > 0)
        memcpy(connection->out + head.size, bytes, body_size);
    connection->out_size = head.size + body_size;
    connection->caller->bytes += connection->out_size;
}

/* No more is sent; what comes is discarded for a while. Ensures: the connection may be gone. */
static void begin_farewell(struct connection *connection)
{
    free_out(connection);
    connection->stage = STAGE_FAREWELL;
    if (connection->tls != NULL)
        (void)SSL_shutdown(connection->tls);
    (void)shutdown(connection->socket, SHUT_WR);
    if (!connection->is_watched) { /* it has gone already */
        close_connection(connection);
        return;
    }
    wait_for(connection, EPOLLIN);
    set_due(connection, FAREWELL_US);
}

/* The answer is out. The next request may be here already: it has its turn in the next round. */
static void finish(struct connection *connection)
{
    struct live_http *const http = connection->http;
    size_t const rest = connection->in_size - connection->head_size;
    free_out(connection);
    list_remove(http, connection);
    list_append(http, connection);
    memmove(connection->in, connection->in + connection->head_size, rest);
    connection->in_size = rest;
    connection->looked = 0;
    connection->head_size = 0;
    connection->has_head = false;
    connection->has_rest = rest > 0;
    connection->is_head_only = false;
    connection->request = (struct live_request){.caller = connection->caller, .owner = connection};
    connection->stage = STAGE_READING;
    set_due(connection, http->request_us);
    read_again(connection);
}

/* As much as the socket takes; then the next request, or the end. Ensures: the connection may be
 * gone. */
static void send_more(struct connection *connection)
{
    TACIT_ASSERT(connection->stage == STAGE_SENDING);
    while (connection->out_sent < connection->out_size) {
        uint32_t wants;
        ssize_t const sent = write_some(connection, connection->out + connection->out_sent,
                                        connection->out_size - connection->out_sent, &wants);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && connection->is_watched) {
            wait_for(connection, wants);
            return;
        }
        if (sent <= 0) {
            close_connection(connection);
            return;
        }
        connection->out_sent += (size_t)sent;
    }
    consume_peeked(connection);
    if (connection->is_ending || !connection->is_watched)
        begin_farewell(connection);
    else
        finish(connection);
}

static void begin_sending(struct connection *connection)
{
    set_due(connection, connection->http->request_us);
    send_more(connection);
}

/* An error of the connection's own, which ends with it. Ensures: the connection may be gone.
 * Result: false, for who returns whether it goes on. */
static bool refuse(struct connection *connection, unsigned code, const char *why)
{
    char text[256];
    int const size = snprintf(text, sizeof text, "{\"error\": \"%s\"}", why);
    TACIT_ASSERT(size > 0 && (size_t)size < sizeof text);
    free_body(connection);
    connection->is_ending = true;
    put_answer(connection, code, "application/json", text, (size_t)size);
    begin_sending(connection);
    return false;
}

void live_http_answer(struct live_request *request, unsigned code, const char *content_type,
                      const char *bytes, size_t size)
{
    TACIT_ASSERT(request != NULL && code >= 200);
    struct connection *const connection = request->owner;
    bool const was_held = connection->stage == STAGE_HELD;
    TACIT_ASSERT(was_held || connection->stage == STAGE_HANDLING);
    put_answer(connection, code, content_type, bytes, size);
    if (was_held)
        begin_sending(connection);
}

/* ---- Requests -------------------------------------------------------------------------------- */

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

/* A name with a dot may be that of a web page's owner, who lets it point at us. Addresses, and
 * names that only a network of one's own knows, are not. */
static bool may_be_a_page(const char *host)
{
    size_t const name = strcspn(host, ":");
    bool const is_address = host[0] == '[' || strspn(host, "0123456789.") == name;
    return !is_address && memchr(host, '.', name) != NULL;
}

/* A web page somewhere else can make a browser on this machine talk to a loopback port; its
 * requests carry a foreign Origin or, by a rebound name, a foreign Host. A Unix socket is out of
 * its reach. */
static bool is_foreign(const struct live_http *http, const struct live_http_head *head)
{
    char const *const scheme = http->tls == NULL ? "http://" : "https://";
    size_t const size = strlen(scheme);
    if (http->socket.port == 0)
        return false;
    if (http->tls == NULL && head->host != NULL && !is_this_machine(head->host) &&
        (!http->is_seen_from_afar || may_be_a_page(head->host)))
        return true;
    return head->origin != NULL &&
           !(head->host != NULL && strncasecmp(head->origin, scheme, size) == 0 &&
             strcasecmp(head->origin + size, head->host) == 0);
}

/* A caller that asks first is told to go on, where nothing of the body is here. */
static void encourage(struct connection *connection)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    if (connection->head.expects && connection->head.length > 0 &&
        connection->in_size == connection->head_size) {
        uint32_t wants;
        (void)write_some(connection, text, sizeof text - 1, &wants);
    }
}

/* Ensures: false: the connection was refused, and may be gone. */
static bool read_head(struct connection *connection)
{
    struct live_http_refusal refusal = {0};
    connection->head_size =
        live_http_head_size(connection->in, connection->in_size, &connection->looked, &refusal);
    if (connection->head_size > 0 &&
        !live_http_head_read(connection->in, connection->head_size, &connection->head, &refusal))
        TACIT_ASSERT(refusal.code != 0);
    if (refusal.code != 0) {
        connection->caller->malformed++;
        return refuse(connection, refusal.code, refusal.why);
    }
    if (connection->head_size == 0)
        return true;
    connection->has_head = true;
    connection->is_ending = !connection->head.keeps;
    connection->is_head_only = strcmp(connection->head.method, "HEAD") == 0;
    if (is_foreign(connection->http, &connection->head))
        return refuse(connection, 403,
                      "this address answers programs on this machine only: Host must be 127.0.0.1 "
                      "or localhost, and no web page of another origin may ask");
    if (connection->tls != NULL &&
        !live_http_tls_is_one_of(connection->tls, connection->http->config->clients,
                                 connection->http->config->client_count))
        return refuse(connection, 403, "the name in your certificate is none of observe.clients");
    if (connection->head.length > LIVE_BODY_BYTES_MAX)
        return refuse(connection, 413, "the body is too large; 1 MiB is allowed");
    encourage(connection);
    return true;
}

/* Room for more of the body: it grows with what has come, not with what was promised. Ensures:
 * false: the connection was refused, and may be gone. */
static bool make_room(struct connection *connection, size_t wanted)
{
    if (wanted <= connection->body_capacity)
        return true;
    size_t capacity = connection->body_capacity < BODY_BYTES_AT_FIRST
                          ? BODY_BYTES_AT_FIRST
                          : 2 * connection->body_capacity;
    capacity = capacity < wanted ? wanted : capacity;
    capacity = capacity > connection->head.length ? (size_t)connection->head.length : capacity;
    size_t const more = capacity - connection->body_capacity;
    uint8_t *const body = connection->caller->bytes + more <= CALLER_BYTES_MAX
                              ? realloc(connection->body, capacity)
                              : NULL;
    if (body == NULL) {
        connection->caller->shed++;
        connection->request.retry_after_s = 1;
        return refuse(connection, 503, "too many large bodies are under way; ask again later");
    }
    connection->body = body;
    connection->body_capacity = capacity;
    connection->caller->bytes += more;
    return true;
}

/* What came with the head. Ensures: as make_room. */
static bool read_first_of_body(struct connection *connection)
{
    size_t const here = connection->in_size - connection->head_size;
    size_t const taken = here < connection->head.length ? here : (size_t)connection->head.length;
    if (!make_room(connection, taken))
        return false;
    if (taken > 0)
        memcpy(connection->body, connection->in + connection->head_size, taken);
    connection->body_size = taken;
    connection->head_size += taken; /* where the next request begins */
    return true;
}

/* The request is whole. The handler answers it at once, or later by live_http_answer. Ensures: the
 * connection may be gone. */
static void hand_over(struct connection *connection)
{
    struct live_http *const http = connection->http;
    connection->stage = STAGE_HANDLING;
    connection->request = (struct live_request){.method = connection->head.method,
                                                .path = connection->head.path,
                                                .body = connection->body,
                                                .size = connection->body_size,
                                                .caller = connection->caller,
                                                .owner = connection};
    http->handle(http->context, &connection->request);
    free_body(connection);
    if (connection->stage == STAGE_SENDING)
        begin_sending(connection);
    else
        connection->stage = STAGE_HELD;
}

static void charge_piece(struct live_caller *caller)
{
    uint64_t const now_us = live_now_us();
    caller->pieces_us = (caller->pieces_us > now_us ? caller->pieces_us : now_us) + PIECE_US;
}

/* Something has come: as far as it goes. Ensures: the connection may be gone. */
static void advance(struct connection *connection)
{
    TACIT_ASSERT(connection->stage == STAGE_READING);
    if (!connection->has_head &&
        (!read_head(connection) || (connection->has_head && !read_first_of_body(connection))))
        return;
    if (connection->has_head && connection->body_size == connection->head.length) {
        hand_over(connection);
        return;
    }
    consume_peeked(connection);
    charge_piece(connection->caller);
    read_again(connection);
}

/* ---- What comes ------------------------------------------------------------------------------ */

/* Where the next bytes go. Ensures: false: the connection was refused, and may be gone. */
static bool room_for_input(struct connection *connection, void **into, size_t *size)
{
    if (!connection->has_head) {
        *into = connection->in + connection->in_size;
        *size = sizeof connection->in - connection->in_size;
        return true;
    }
    size_t const lacking = (size_t)connection->head.length - connection->body_size;
    size_t const wanted = lacking < BODY_BYTES_AT_FIRST ? lacking : BODY_BYTES_AT_FIRST;
    if (!make_room(connection, connection->body_size + wanted))
        return false;
    *into = connection->body + connection->body_size;
    *size = connection->body_capacity - connection->body_size;
    *size = *size < READ_BYTES_MAX ? *size : READ_BYTES_MAX;
    return true;
}

/* On a Unix socket the first bytes of a request are only looked at (consume_peeked). Ensures: the
 * connection may be gone. */
static void receive(struct connection *connection)
{
    void *into;
    size_t size;
    if (!room_for_input(connection, &into, &size))
        return;
    TACIT_ASSERT(size > 0 && connection->peeked == 0);
    bool const only_looks = connection->in_size == 0 && connection->http->socket.port == 0;
    ssize_t const got = read_some(connection, into, size, only_looks ? MSG_PEEK : 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (got <= 0) {
        close_connection(connection);
        return;
    }
    connection->peeked = only_looks ? (size_t)got : 0;
    if (connection->in_size == 0)
        set_due(connection, connection->http->request_us); /* it begins */
    if (connection->has_head)
        connection->body_size += (size_t)got;
    else
        connection->in_size += (size_t)got;
    advance(connection);
}

static void discard(struct connection *connection)
{
    char bytes[READ_BYTES_MAX];
    ssize_t const got = recv(connection->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    connection->discarded += got > 0 ? (uint64_t)got : 0;
    if (got <= 0 || connection->discarded > FAREWELL_BYTES_MAX)
        close_connection(connection);
    else
        charge_piece(connection->caller);
}

/* The next request, or its beginning, may have come with the one before. */
static void read_on(struct connection *connection)
{
    if (!connection->has_rest) {
        receive(connection);
        return;
    }
    connection->has_rest = false;
    wait_for(connection, EPOLLIN);
    advance(connection);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

/* Must this caller wait for the next round? Whoever has connections that are ready is met again
 * in it. The first look in a round begins its turn. */
static bool has_had_its_turn(const struct live_http *http, struct live_caller *caller)
{
    uint64_t const round = live_loop_round(http->loop);
    if (caller->round != round)
        caller->turn_us = 0;
    caller->round = round;
    return http->caller_count > 1 && caller->turn_us >= TURN_US;
}

/* Too many pieces of this caller were read: what comes waits in its socket. */
static bool must_rest(const struct live_caller *caller)
{
    return caller->pieces_us > live_now_us() + PIECES_US;
}

/* Ensures: the connection may be gone. */
static void move(struct connection *connection)
{
    struct live_caller *const caller = connection->caller;
    uint64_t const began_us = live_now_us();
    if (connection->stage == STAGE_READING)
        read_on(connection);
    else if (connection->stage == STAGE_SENDING)
        send_more(connection);
    else
        discard(connection);
    caller->turn_us += live_now_us() - began_us;
}

static void on_connection(void *context, uint32_t epoll_events)
{
    struct connection *const connection = context;
    bool const is_gone = (epoll_events & (EPOLLHUP | EPOLLERR)) != 0;
    if (connection->stage == STAGE_HANDLING || connection->stage == STAGE_HELD) {
        if (is_gone)
            forget(connection); /* its answer finds out */
        else
            wait_for(connection, 0);
    } else if (connection->stage != STAGE_SENDING && !is_gone && must_rest(connection->caller)) {
        wait_for(connection, 0);
        wake_by(connection->http, live_now_us() + REST_US);
    } else if (!has_had_its_turn(connection->http, connection->caller)) {
        move(connection);
    }
}

/* ---- Who comes ------------------------------------------------------------------------------- */

/* Whose connection it is: on a Unix socket the kernel knows. */
static uint32_t user_of(const struct live_http *http, int accepted)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (http->socket.port != 0)
        return LIVE_CALLER_LOOPBACK;
    if (getsockopt(accepted, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return LIVE_CALLER_OTHERS;
    return peer.uid;
}

/* Makes room for a connection of this caller, where there is none. False: it cannot be made. */
static bool find_place(struct live_http *http, const struct live_caller *caller)
{
    unsigned const most =
        http->socket.port != 0 ? LIVE_CONNECTIONS_MAX : LIVE_CONNECTIONS_A_USER_MAX;
    if (caller->connections >= most)
        return close_oldest(http, caller);
    return http->connection_count < LIVE_CONNECTIONS_MAX || close_oldest(http, NULL);
}

/* The handshake comes with the first reads. */
static bool begin_tls(const struct live_http *http, struct connection *connection)
{
    if (http->tls == NULL)
        return true;
    connection->tls = SSL_new(http->tls);
    if (connection->tls == NULL || SSL_set_fd(connection->tls, connection->socket) != 1)
        return false;
    SSL_set_accept_state(connection->tls);
    return true;
}

/* The socket is the connection's, or closed. */
static void open_connection(struct live_http *http, int accepted)
{
    static const char full[] =
        "HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\n"
        "Content-Length: 33\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
        "{\"error\": \"too many connections\"}";
    struct live_caller *const caller = live_callers_find(&http->callers, user_of(http, accepted));
    struct connection *const connection =
        find_place(http, caller) ? malloc(sizeof *connection) : NULL;
    if (connection == NULL) {
        caller->shed++;
        if (http->tls == NULL)
            (void)send(accepted, full, sizeof full - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)close(accepted);
        return;
    }
    memset(connection, 0, offsetof(struct connection, in));
    connection->http = http;
    connection->socket = accepted;
    connection->caller = caller;
    http->caller_count += caller->connections == 0 ? 1 : 0;
    caller->connections++;
    connection->request = (struct live_request){.caller = caller, .owner = connection};
    list_append(http, connection);
    http->connection_count++;
    connection->epoll_events = EPOLLIN;
    connection->is_watched =
        live_loop_watch(http->loop, accepted, EPOLLIN, on_connection, connection) == TACIT_OK;
    bool const is_good = connection->is_watched && begin_tls(http, connection);
    if (is_good)
        set_due(connection, http->request_us);
    else
        close_connection(connection);
}

static void on_listener(void *context, uint32_t epoll_events)
{
    struct live_http *const http = context;
    (void)epoll_events;
    for (unsigned i = 0; i < ACCEPTS_MAX; i++) {
        int const accepted =
            accept4(http->socket.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (accepted < 0)
            return;
        open_connection(http, accepted);
    }
}

/* ---- Deadlines ------------------------------------------------------------------------------- */

/* It has missed its deadline. Ensures: the connection may be gone. */
static void be_late(struct connection *connection)
{
    switch (connection->stage) {
    case STAGE_READING:
        if (connection->in_size == 0) {
            close_connection(connection);
            return;
        }
        connection->caller->late++;
        (void)refuse(connection, 408,
                     "a request must be here, headers and body, within the time that it has");
        break;
    case STAGE_SENDING:
        connection->caller->late++;
        close_connection(connection);
        break;
    case STAGE_FAREWELL:
        close_connection(connection);
        break;
    case STAGE_HANDLING:
    case STAGE_HELD:
        connection->due_us = TACIT_NEVER; /* it waits for us */
        break;
    }
}

/* Ends what is late; wakes connections whose callers had to rest; sets the timer anew. */
static void on_due(void *context)
{
    struct live_http *const http = context;
    uint64_t const now_us = live_now_us();
    struct connection *newer;
    http->timer_us = TACIT_NEVER;
    for (struct connection *at = http->oldest; at != NULL; at = newer) {
        newer = at->newer;
        if (at->due_us <= now_us)
            be_late(at); /* may close it */
    }
    for (struct connection *at = http->oldest; at != NULL; at = at->newer) {
        bool const is_read = at->stage == STAGE_READING || at->stage == STAGE_FAREWELL;
        if (is_read && at->epoll_events == 0)
            read_again(at);
        wake_by(http, at->due_us);
    }
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static enum tacit_status fail(struct tacit_error *error, enum tacit_status status, const char *why)
{
    (void)snprintf(error->text, sizeof error->text, "HTTP server: %s", why);
    return status;
}

enum tacit_status live_http_read_tls(struct live_http *http, const struct live_http_tls *config,
                                     struct tacit_error *error)
{
    SSL_CTX *made = NULL;
    if (config->certificate_file == NULL)
        return TACIT_OK;
    TACIT_TRY(live_http_tls_open(&made, config, error));
    SSL_CTX_free(http->tls); /* connections have theirs still */
    http->tls = made;
    http->config = config;
    return TACIT_OK;
}

static enum tacit_status open_parts(struct live_http *http, const struct live_http_config *config,
                                    struct tacit_error *error)
{
    TACIT_TRY(config->unix_path != NULL
                  ? live_http_listen_unix(&http->socket, config->unix_path,
                                          config->is_private ? 0600 : 0660, error)
                  : live_http_listen_port(&http->socket,
                                          config->address == NULL ? "127.0.0.1" : config->address,
                                          config->port, error));
    TACIT_TRY(live_http_read_tls(http, &config->tls, error));
    http->is_seen_from_afar = config->address != NULL;
    http->timer = live_timer_new(http->loop, on_due, http);
    if (http->timer == NULL)
        return fail(error, TACIT_MEMORY, "out of memory or descriptors");
    enum tacit_status status =
        live_loop_watch(http->loop, http->socket.listener, EPOLLIN, on_listener, http);
    return status == TACIT_OK ? TACIT_OK : fail(error, status, tacit_status_text(status));
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
    opened->socket.listener = -1;
    opened->timer_us = TACIT_NEVER;
    opened->request_us =
        (config->request_s_max == 0 ? REQUEST_S_MAX : config->request_s_max) * US_PER_S;
    opened->handle = handle;
    opened->context = context;
    enum tacit_status const status = open_parts(opened, config, error);
    if (status == TACIT_OK)
        *http = opened;
    else
        live_http_close(opened);
    return status;
}

static void answer_stopping(struct connection *connection)
{
    static const char text[] = "{\"error\": \"this daemon is stopping; ask again later\"}";
    connection->is_ending = true;
    live_http_answer(&connection->request, 503, "application/json", text, sizeof text - 1);
}

static struct connection *find(const struct live_http *http, enum stage stage)
{
    struct connection *at = http->oldest;
    while (at != NULL && at->stage != stage)
        at = at->newer;
    return at;
}

/* Nobody whose request was taken is left without an answer; what was answered gets a moment to go
 * out. */
static void drain(struct live_http *http)
{
    struct connection *connection;
    while ((connection = find(http, STAGE_HELD)) != NULL)
        answer_stopping(connection);
    uint64_t const end_us = live_now_us() + CLOSING_US;
    while ((connection = find(http, STAGE_SENDING)) != NULL && live_now_us() < end_us) {
        struct pollfd wait = {.fd = connection->socket, .events = POLLOUT};
        if (poll(&wait, 1, 10) > 0)
            send_more(connection);
    }
}

void live_http_close(struct live_http *http)
{
    if (http == NULL)
        return;
    if (http->socket.listener >= 0)
        live_loop_forget(http->loop, http->socket.listener);
    live_http_socket_close(&http->socket);
    drain(http);
    while (http->oldest != NULL)
        close_connection(http->oldest);
    if (http->timer != NULL)
        live_timer_set(http->timer, TACIT_NEVER);
    SSL_CTX_free(http->tls);
    free(http);
}

uint16_t live_http_port(const struct live_http *http)
{
    return http->socket.port;
}

struct live_callers *live_http_callers(struct live_http *http)
{
    return &http->callers;
}
