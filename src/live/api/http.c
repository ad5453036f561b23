/* Lines and their requests. A line goes round: it reads a request, waits for its turn, is with the
 * handler, and sends the answer; at its end it discards what still comes, so that the caller sees
 * the last answer and not a reset. Not here: what a head may look like (http_head.c), what requests
 * mean.
 */
#include "http.h"
#include "http_head.h"
#include "http_socket.h"
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LINE_S_MAX 30u
#define US_PER_S UINT64_C(1000000)
#define PAUSE_US UINT64_C(50000)       /* before whoever was told to wait is heard again */
#define FAREWELL_US (2 * US_PER_S)     /* for a caller to see the last answer */
#define FAREWELL_BYTES_MAX (32u << 20) /* that are discarded meanwhile */
#define CLOSING_US UINT64_C(200000)
#define BODY_BYTES_AT_FIRST 4096u
#define BYTES_MAX (6u << 20)       /* of bodies and answers, of all lines */
#define READ_BYTES_MAX (64u << 10) /* of a body at once */
#define ACCEPTS_MAX 32u            /* in one round of the loop */
#define ROUND_US UINT64_C(1000)    /* of a round of the loop, shared by all who have lines: .. */
#define TURN_US_MIN UINT64_C(50)   /* .. a caller for whom so much was worked waits for the next */
#define PIECEMEAL_TIMES 10u        /* so many times as long as it took, .. */
#define PIECEMEAL_US UINT64_C(50000) /* .. beyond this, reading pieces of requests is put off */
#define REST_US UINT64_C(25000)
#define METHOD_BYTES 32u

enum stage {
    STAGE_READING,
    STAGE_READY,    /* a whole request waits for its turn */
    STAGE_HANDLING, /* the handler has it and has not returned */
    STAGE_HELD,     /* the handler returned without an answer */
    STAGE_SENDING,
    STAGE_PAUSED, /* told to wait: not heard for a moment */
    STAGE_FAREWELL,
};

struct line {
    struct live_http *http;
    struct live_caller *caller;
    struct line *older;
    struct line *newer;
    struct line *next_ready;
    struct live_request request;
    enum stage stage;
    int socket;
    bool is_watched;
    bool is_queued;  /* among those that are ready */
    bool is_resting; /* not read for a moment: its caller's pieces took too long */
    bool is_quiet;   /* nothing is waited for */
    bool is_ending;
    bool is_head_only;
    bool has_head;
    uint64_t since_us; /* when it came, or finished its last request */
    uint64_t due_us;   /* what it is at has to be done by then */
    uint64_t finished;
    uint64_t discarded;
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
    bool is_full;
    void (*handle)(void *context, struct live_request *request);
    void *context;
    struct live_callers callers;
    struct line *oldest;
    struct line *newest;
    struct line *ready; /* something can be done for them; in order of arrival */
    struct line **ready_end;
    unsigned line_count;
    unsigned caller_count;       /* who have lines */
    struct live_caller *working; /* whom we work for, NULL: nobody, .. */
    uint64_t working_us;         /* .. since when */
    uint64_t bytes;
    uint64_t line_us;
    time_t date_s;
    char date[64];
};

static void advance(struct line *line);
static void on_line(void *context, uint32_t epoll_events);

/* ---- Time and watches ------------------------------------------------------------------------ */

/* An earlier alarm than needed stays: it costs less than a system call a request. */
static void wake_by(struct live_http *http, uint64_t due_us)
{
    if (http->timer_us <= due_us)
        return;
    http->timer_us = due_us;
    live_timer_set(http->timer, due_us);
}

static void set_due(struct line *line, uint64_t after_us)
{
    line->due_us = live_now_us() + after_us;
    wake_by(line->http, line->due_us);
}

static void forget(struct line *line)
{
    if (line->is_watched)
        live_loop_forget(line->http->loop, line->socket);
    line->is_watched = false;
}

static void wait_for_input(struct line *line)
{
    if (line->is_watched && line->is_quiet)
        line->is_quiet = live_loop_change(line->http->loop, line->socket, EPOLLIN) != TACIT_OK;
}

static void wait_for_nothing(struct line *line)
{
    if (line->is_watched && !line->is_quiet)
        line->is_quiet = live_loop_change(line->http->loop, line->socket, 0) == TACIT_OK;
}

/* ---- Turns ----------------------------------------------------------------------------------- */

/* From now on we work for this caller, or for none. What was done until now is charged to the one
 * before. */
static void work_for(struct live_http *http, struct live_caller *caller)
{
    uint64_t const now_us = live_now_us();
    uint64_t const round = live_loop_round(http->loop);
    struct live_caller *const before = http->working;
    if (before != NULL && before->turn != round) {
        before->turn = round;
        before->turn_us = 0;
    }
    if (before != NULL)
        before->turn_us += now_us - http->working_us;
    http->working = caller;
    http->working_us = now_us;
}

/* Must this caller wait for the next round? */
static bool has_had_its_turn(const struct live_http *http, const struct live_caller *caller)
{
    uint64_t const share_us = ROUND_US / (http->caller_count > 0 ? http->caller_count : 1);
    return caller->turn == live_loop_round(http->loop) &&
           caller->turn_us >= (share_us > TURN_US_MIN ? share_us : TURN_US_MIN);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void count_bytes(struct line *line, size_t more, size_t less)
{
    line->http->bytes += more;
    line->http->bytes -= less;
    line->caller->bytes += more;
    line->caller->bytes -= less;
}

static void free_body(struct line *line)
{
    count_bytes(line, 0, line->body_capacity);
    free(line->body);
    line->body = NULL;
    line->body_capacity = 0;
    line->body_size = 0;
}

static void free_out(struct line *line)
{
    count_bytes(line, 0, line->out_size);
    free(line->out);
    line->out = NULL;
    line->out_size = 0;
    line->out_sent = 0;
}

/* ---- The end of a line ----------------------------------------------------------------------- */

static void take_out_of_ready(struct live_http *http, const struct line *line)
{
    struct line **at = &http->ready;
    if (!line->is_queued)
        return;
    while (*at != line)
        at = &(*at)->next_ready;
    *at = line->next_ready;
    if (*at == NULL)
        http->ready_end = at;
}

static void listen_again(struct live_http *http)
{
    if (!http->is_full || http->socket.listener < 0)
        return;
    http->is_full = live_loop_change(http->loop, http->socket.listener, EPOLLIN) != TACIT_OK;
}

static void close_line(struct line *line)
{
    struct live_http *const http = line->http;
    TACIT_ASSERT(line->stage != STAGE_HANDLING && line->stage != STAGE_HELD);
    take_out_of_ready(http, line);
    forget(line);
    free_body(line);
    free_out(line);
    if (line->older != NULL)
        line->older->newer = line->newer;
    else
        http->oldest = line->newer;
    if (line->newer != NULL)
        line->newer->older = line->older;
    else
        http->newest = line->older;
    line->caller->lines--;
    http->caller_count -= line->caller->lines == 0 ? 1 : 0;
    http->line_count--;
    (void)close(line->socket);
    free(line);
    listen_again(http);
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

/* Makes the answer. Without memory for it the line ends without one. */
static void put_answer(struct line *line, unsigned code, const char *content_type,
                       const char *bytes, size_t size)
{
    char head[512];
    char retry[48] = "";
    if (line->request.retry_after_s > 0) {
        (void)snprintf(retry, sizeof retry, "Retry-After: %u\r\n", line->request.retry_after_s);
        line->caller->paused_us = live_now_us() + PAUSE_US;
    }
    int const head_size = snprintf(
        head, sizeof head,
        "HTTP/1.1 %u %s\r\nDate: %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s%s\r\n", code,
        reason_of(code), date_of(line->http), content_type, size, retry,
        line->is_ending ? "Connection: close\r\n" : "");
    TACIT_ASSERT(head_size > 0 && (size_t)head_size < sizeof head);
    size_t const body_size = line->is_head_only ? 0 : size;
    TACIT_ASSERT(line->out == NULL);
    line->out = malloc((size_t)head_size + body_size);
    line->stage = STAGE_SENDING;
    if (line->out == NULL) {
        line->is_ending = true;
        return;
    }
    memcpy(line->out, head, (size_t)head_size);
    if (body_size > 0)
        memcpy(line->out + head_size, bytes, body_size);
    line->out_size = (size_t)head_size + body_size;
    count_bytes(line, line->out_size, 0);
}

static void say_farewell(struct line *line)
{
    free_out(line);
    line->stage = STAGE_FAREWELL;
    (void)shutdown(line->socket, SHUT_WR);
    if (!line->is_watched) { /* it has gone already */
        close_line(line);
        return;
    }
    line->is_quiet = live_loop_change(line->http->loop, line->socket, EPOLLIN) != TACIT_OK;
    set_due(line, FAREWELL_US);
}

/* The answer is out: the next request may be here already. */
static void finish(struct line *line)
{
    bool const is_paused = line->request.retry_after_s > 0;
    size_t const rest = line->in_size - line->head_size;
    free_out(line);
    line->finished++;
    line->since_us = live_now_us();
    memmove(line->in, line->in + line->head_size, rest);
    line->in_size = rest;
    line->looked = 0;
    line->head_size = 0;
    line->has_head = false;
    line->is_head_only = false;
    line->request = (struct live_request){.caller = line->caller, .owner = line};
    line->stage = is_paused ? STAGE_PAUSED : STAGE_READING;
    set_due(line, is_paused ? PAUSE_US : line->http->line_us);
    if (is_paused) {
        wait_for_nothing(line);
        return;
    }
    wait_for_input(line);
    listen_again(line->http);
    if (rest > 0)
        advance(line);
}

static void send_more(struct line *line)
{
    TACIT_ASSERT(line->stage == STAGE_SENDING);
    while (line->out_sent < line->out_size) {
        ssize_t const sent = send(line->socket, line->out + line->out_sent,
                                  line->out_size - line->out_sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && line->is_watched) {
            (void)live_loop_change(line->http->loop, line->socket, EPOLLOUT);
            line->is_quiet = true; /* for input */
            return;
        }
        if (sent <= 0) {
            close_line(line);
            return;
        }
        line->out_sent += (size_t)sent;
    }
    if (line->is_ending || !line->is_watched)
        say_farewell(line);
    else
        finish(line);
}

static void begin_sending(struct line *line)
{
    set_due(line, line->http->line_us);
    send_more(line);
}

/* An error of the line's own: it ends with it. */
static void refuse(struct line *line, unsigned code, const char *why)
{
    char text[256];
    int const size = snprintf(text, sizeof text, "{\"error\": \"%s\"}", why);
    TACIT_ASSERT(size > 0 && (size_t)size < sizeof text);
    free_body(line);
    line->is_ending = true;
    put_answer(line, code, "application/json", text, (size_t)size);
    begin_sending(line);
}

void live_http_answer(struct live_request *request, unsigned code, const char *content_type,
                      const char *bytes, size_t size)
{
    TACIT_ASSERT(request != NULL && code >= 200);
    struct line *const line = request->owner;
    bool const was_held = line->stage == STAGE_HELD;
    TACIT_ASSERT(was_held || line->stage == STAGE_HANDLING);
    struct live_http *const http = line->http;
    put_answer(line, code, content_type, bytes, size);
    if (!was_held)
        return;
    begin_sending(line);
    if (http->ready != NULL)
        wake_by(http, live_now_us());
}

/* ---- Room for newcomers ---------------------------------------------------------------------- */

static bool can_be_shed(const struct line *line)
{
    return line->stage != STAGE_HANDLING && line->stage != STAGE_HELD;
}

/* Should a rather make room than b, which came before it? */
static bool goes_before(const struct line *a, const struct line *b)
{
    if (a->caller->lines != b->caller->lines)
        return a->caller->lines > b->caller->lines;
    if ((a->finished == 0) != (b->finished == 0))
        return a->finished == 0;
    return a->since_us < b->since_us;
}

/* Ensures: false: there is none that could. */
static bool shed_one(struct live_http *http)
{
    struct line *worst = NULL;
    for (struct line *line = http->oldest; line != NULL; line = line->newer)
        if (can_be_shed(line) && (worst == NULL || goes_before(line, worst)))
            worst = line;
    if (worst == NULL)
        return false;
    worst->caller->shed++;
    close_line(worst);
    return true;
}

/* Of the caller who has the most bytes under way, the line that has the most. */
static struct line *heaviest(struct live_http *http)
{
    struct line *worst = NULL;
    for (struct line *line = http->oldest; line != NULL; line = line->newer) {
        if (!can_be_shed(line) || line->body_capacity + line->out_size == 0)
            continue;
        bool const is_worse =
            worst == NULL || line->caller->bytes > worst->caller->bytes ||
            (line->caller->bytes == worst->caller->bytes &&
             line->body_capacity + line->out_size > worst->body_capacity + worst->out_size);
        worst = is_worse ? line : worst;
    }
    return worst;
}

/* May this line have so much more? It may have to make room itself: then false. */
static bool reserve(struct line *line, size_t more)
{
    struct live_http *const http = line->http;
    while (http->bytes + more > BYTES_MAX) {
        struct line *const worst = heaviest(http);
        if (worst == NULL || worst == line)
            return false;
        worst->caller->shed++;
        close_line(worst);
    }
    return true;
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

/* A web page somewhere else can make a browser on this machine talk to a loopback port; its
 * requests carry a foreign Origin or, by a rebound name, a foreign Host. A Unix socket is out of
 * its reach. */
static bool is_foreign(const struct live_http *http, const struct live_http_head *head)
{
    static const char scheme[] = "http://";
    if (http->socket.port == 0)
        return false;
    if (head->host != NULL && !is_this_machine(head->host))
        return true;
    return head->origin != NULL &&
           !(head->host != NULL && strncasecmp(head->origin, scheme, sizeof scheme - 1) == 0 &&
             strcasecmp(head->origin + sizeof scheme - 1, head->host) == 0);
}

static void refuse_head(struct line *line, const struct live_http_refusal *refusal)
{
    line->caller->malformed++;
    refuse(line, refusal->code, refusal->why);
}

/* A caller that asks first is told to go on, where nothing of the body is here. */
static void encourage(struct line *line)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    if (line->head.expects && line->head.length > 0 && line->in_size == line->head_size)
        (void)send(line->socket, text, sizeof text - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Ensures: false: the line was refused, and may be gone. */
static bool take_head(struct line *line)
{
    struct live_http_refusal refusal = {0};
    line->head_size = live_http_head_size(line->in, line->in_size, &line->looked, &refusal);
    if (line->head_size > 0 &&
        !live_http_head_read(line->in, line->head_size, &line->head, &refusal))
        TACIT_ASSERT(refusal.code != 0);
    if (refusal.code != 0) {
        refuse_head(line, &refusal);
        return false;
    }
    if (line->head_size == 0)
        return true;
    line->has_head = true;
    line->is_ending = !line->head.keeps;
    line->is_head_only = strcmp(line->head.method, "HEAD") == 0;
    if (is_foreign(line->http, &line->head)) {
        refuse(line, 403,
               "this address answers programs on this machine only: Host must be 127.0.0.1 or "
               "localhost, and no web page of another origin may ask");
        return false;
    }
    if (line->head.length > LIVE_BODY_BYTES_MAX) {
        refuse(line, 413, "the body is too large; 1 MiB is allowed");
        return false;
    }
    encourage(line);
    return true;
}

/* Room for more of the body: it grows with what has come, not with what was promised. Ensures:
 * false: the line was refused, and may be gone. */
static bool make_room(struct line *line, size_t wanted)
{
    if (wanted <= line->body_capacity)
        return true;
    size_t capacity =
        line->body_capacity < BODY_BYTES_AT_FIRST ? BODY_BYTES_AT_FIRST : 2 * line->body_capacity;
    capacity = capacity < wanted ? wanted : capacity;
    capacity = capacity > line->head.length ? (size_t)line->head.length : capacity;
    size_t const more = capacity - line->body_capacity;
    uint8_t *const body = reserve(line, more) ? realloc(line->body, capacity) : NULL;
    if (body == NULL) {
        line->caller->shed++;
        line->request.retry_after_s = 1;
        refuse(line, 503, "too many large bodies are under way; ask again later");
        return false;
    }
    line->body = body;
    line->body_capacity = capacity;
    count_bytes(line, more, 0);
    return true;
}

/* What came with the head. Ensures: as make_room. */
static bool take_first_of_body(struct line *line)
{
    size_t const here = line->in_size - line->head_size;
    size_t const taken = here < line->head.length ? here : (size_t)line->head.length;
    if (!make_room(line, taken))
        return false;
    if (taken > 0)
        memcpy(line->body, line->in + line->head_size, taken);
    line->body_size = taken;
    line->head_size += taken; /* where the next request begins */
    return true;
}

static void queue(struct line *line)
{
    struct live_http *const http = line->http;
    if (line->is_queued)
        return;
    line->is_queued = true;
    line->next_ready = NULL;
    *http->ready_end = line;
    http->ready_end = &line->next_ready;
}

/* Something has come. */
static void advance(struct line *line)
{
    TACIT_ASSERT(line->stage == STAGE_READING);
    if (!line->has_head) {
        if (!take_head(line) || !line->has_head)
            return;
        if (!take_first_of_body(line))
            return;
    }
    if (line->body_size < line->head.length)
        return;
    line->stage = STAGE_READY;
    queue(line);
}

static void hand_over(struct line *line)
{
    struct live_http *const http = line->http;
    line->stage = STAGE_HANDLING;
    line->request = (struct live_request){.method = line->head.method,
                                          .path = line->head.path,
                                          .body = line->body,
                                          .size = line->body_size,
                                          .caller = line->caller,
                                          .owner = line};
    http->handle(http->context, &line->request);
    free_body(line);
    if (line->stage == STAGE_SENDING)
        begin_sending(line);
    else
        line->stage = STAGE_HELD;
}

/* ---- What comes ------------------------------------------------------------------------------ */

/* Where the next bytes go. Ensures: false: the line was refused, and may be gone. */
static bool room_for_input(struct line *line, void **into, size_t *size)
{
    if (!line->has_head) {
        *into = line->in + line->in_size;
        *size = sizeof line->in - line->in_size;
        return true;
    }
    size_t const lacking = (size_t)line->head.length - line->body_size;
    size_t const wanted = lacking < BODY_BYTES_AT_FIRST ? lacking : BODY_BYTES_AT_FIRST;
    if (!make_room(line, line->body_size + wanted))
        return false;
    *into = line->body + line->body_size;
    *size = line->body_capacity - line->body_size;
    *size = *size < READ_BYTES_MAX ? *size : READ_BYTES_MAX;
    return true;
}

static void receive(struct line *line)
{
    void *into;
    size_t size;
    if (!room_for_input(line, &into, &size))
        return;
    TACIT_ASSERT(size > 0);
    ssize_t const got = recv(line->socket, into, size, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (got <= 0) {
        close_line(line);
        return;
    }
    if (line->in_size == 0)
        set_due(line, line->http->line_us); /* it begins */
    if (line->has_head)
        line->body_size += (size_t)got;
    else
        line->in_size += (size_t)got;
    advance(line);
}

static void discard(struct line *line)
{
    char bytes[16384];
    ssize_t const got = recv(line->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    line->discarded += got > 0 ? (uint64_t)got : 0;
    if (got <= 0 || line->discarded > FAREWELL_BYTES_MAX)
        close_line(line);
}

/* Requests that come in pieces are read for a caller during a tenth of the time: a flood of them
 * fills its own sockets, and not our processor. */
static bool must_rest(struct line *line)
{
    uint64_t const now_us = live_now_us();
    if (line->stage != STAGE_READING || line->caller->piecemeal_us <= now_us + PIECEMEAL_US)
        return false;
    line->is_resting = true;
    wait_for_nothing(line);
    wake_by(line->http, now_us + REST_US);
    return true;
}

static void read_piece(struct line *line)
{
    struct live_caller *const caller = line->caller;
    struct live_http *const http = line->http;
    uint64_t const began_us = live_now_us();
    unsigned const lines = http->line_count;
    receive(line); /* the line may be gone */
    uint64_t const now_us = live_now_us();
    if (http->line_count == lines && line->stage == STAGE_READY)
        return;
    uint64_t const from_us = caller->piecemeal_us > now_us ? caller->piecemeal_us : now_us;
    caller->piecemeal_us = from_us + PIECEMEAL_TIMES * (now_us - began_us);
}

/* Ensures: the line may be gone. */
static void move(struct line *line)
{
    switch (line->stage) {
    case STAGE_READING:
        read_piece(line);
        break;
    case STAGE_READY:
        hand_over(line);
        break;
    case STAGE_SENDING:
        send_more(line);
        break;
    case STAGE_FAREWELL:
        discard(line);
        break;
    case STAGE_HANDLING:
    case STAGE_HELD:
    case STAGE_PAUSED:
        break;
    }
}

/* Callers in turns, and the lines of each as they came. */
static void serve(struct live_http *http)
{
    struct line **at = &http->ready;
    while (*at != NULL) {
        struct line *const line = *at;
        if (has_had_its_turn(http, line->caller)) {
            at = &line->next_ready;
            continue;
        }
        *at = line->next_ready;
        if (*at == NULL)
            http->ready_end = at;
        line->is_queued = false;
        work_for(http, line->caller);
        move(line);
        work_for(http, NULL);
        /* What was served may have closed others, or have put itself at the end again. */
        at = &http->ready;
    }
    if (http->ready != NULL)
        wake_by(http, live_now_us());
}

static void on_line(void *context, uint32_t epoll_events)
{
    struct line *const line = context;
    struct live_http *const http = line->http;
    bool const is_gone = (epoll_events & (EPOLLHUP | EPOLLERR)) != 0;
    switch (line->stage) {
    case STAGE_READING:
    case STAGE_SENDING:
    case STAGE_FAREWELL:
        if (!is_gone && must_rest(line))
            break;
        queue(line);
        if (!has_had_its_turn(http, line->caller))
            serve(http);
        break;
    case STAGE_READY:
    case STAGE_PAUSED:
        if (is_gone)
            close_line(line);
        else
            wait_for_nothing(line);
        break;
    case STAGE_HANDLING:
    case STAGE_HELD:
        if (is_gone)
            forget(line); /* its answer finds out */
        else
            wait_for_nothing(line);
        break;
    }
}

/* ---- Who comes ------------------------------------------------------------------------------- */

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

/* The socket is the line's, or closed. */
static void open_line(struct live_http *http, int accepted)
{
    struct line *const line = malloc(sizeof *line);
    if (line == NULL) {
        (void)close(accepted);
        return;
    }
    memset(line, 0, offsetof(struct line, in));
    line->http = http;
    line->socket = accepted;
    line->caller = live_callers_find(&http->callers, user_of(http, accepted));
    http->caller_count += line->caller->lines == 0 ? 1 : 0;
    line->caller->lines++;
    line->request = (struct live_request){.caller = line->caller, .owner = line};
    line->since_us = live_now_us();
    line->older = http->newest;
    if (http->newest != NULL)
        http->newest->newer = line;
    else
        http->oldest = line;
    http->newest = line;
    http->line_count++;
    line->is_watched = live_loop_watch(http->loop, accepted, EPOLLIN, on_line, line) == TACIT_OK;
    if (!line->is_watched) {
        close_line(line);
        return;
    }
    set_due(line, http->line_us);
    if (line->caller->paused_us > line->since_us) { /* a new line is no way around a refusal */
        line->stage = STAGE_PAUSED;
        set_due(line, PAUSE_US);
        wait_for_nothing(line);
    }
}

static void on_listener(void *context, uint32_t epoll_events)
{
    struct live_http *const http = context;
    (void)epoll_events;
    for (unsigned i = 0; i < ACCEPTS_MAX; i++) {
        if (http->line_count >= LIVE_LINES_MAX && !shed_one(http)) {
            /* All are being answered: whoever comes waits for the first that is done. */
            http->is_full = live_loop_change(http->loop, http->socket.listener, 0) == TACIT_OK;
            return;
        }
        int const accepted =
            accept4(http->socket.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (accepted < 0)
            return;
        open_line(http, accepted);
    }
}

/* ---- Deadlines ------------------------------------------------------------------------------- */

static void be_late(struct line *line)
{
    switch (line->stage) {
    case STAGE_READING:
        if (line->in_size == 0) {
            close_line(line);
            return;
        }
        line->caller->late++;
        refuse(line, 408, "a request must be here, headers and body, within the time that it has");
        break;
    case STAGE_PAUSED:
        line->stage = STAGE_READING;
        set_due(line, line->http->line_us);
        wait_for_input(line);
        if (line->in_size > 0)
            advance(line);
        break;
    case STAGE_SENDING:
        line->caller->late++;
        close_line(line);
        break;
    case STAGE_FAREWELL:
        close_line(line);
        break;
    case STAGE_READY:
    case STAGE_HANDLING:
    case STAGE_HELD:
        line->due_us = TACIT_NEVER; /* it waits for us */
        break;
    }
}

static void on_due(void *context)
{
    struct live_http *const http = context;
    uint64_t const now_us = live_now_us();
    http->timer_us = TACIT_NEVER;
    struct line *line = http->oldest;
    while (line != NULL) {
        bool const is_due = line->due_us <= now_us;
        if (is_due)
            be_late(line); /* may close it, and others; its time moves */
        line = is_due ? http->oldest : line->newer;
    }
    serve(http);
    for (line = http->oldest; line != NULL; line = line->newer) {
        if (line->is_resting && line->stage == STAGE_READING)
            wait_for_input(line);
        line->is_resting = false;
        wake_by(http, line->due_us);
    }
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static enum tacit_status fail(struct tacit_error *error, enum tacit_status status, const char *why)
{
    (void)snprintf(error->text, sizeof error->text, "HTTP server: %s", why);
    return status;
}

static enum tacit_status open_parts(struct live_http *http, const struct live_http_config *config,
                                    struct tacit_error *error)
{
    enum tacit_status status = config->unix_path != NULL
                                   ? live_http_listen_unix(&http->socket, config->unix_path,
                                                           config->is_private ? 0600 : 0660, error)
                                   : live_http_listen_loopback(&http->socket, config->port, error);
    if (status != TACIT_OK)
        return status;
    http->timer = live_timer_new(http->loop, on_due, http);
    if (http->timer == NULL)
        return fail(error, TACIT_MEMORY, "out of memory or descriptors");
    status = live_loop_watch(http->loop, http->socket.listener, EPOLLIN, on_listener, http);
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
    opened->ready_end = &opened->ready;
    opened->line_us = (config->line_s_max == 0 ? LINE_S_MAX : config->line_s_max) * US_PER_S;
    opened->handle = handle;
    opened->context = context;
    enum tacit_status const status = open_parts(opened, config, error);
    if (status == TACIT_OK)
        *http = opened;
    else
        live_http_close(opened);
    return status;
}

static void answer_stopping(struct line *line)
{
    static const char text[] = "{\"error\": \"the agent is stopping; ask again later\"}";
    line->is_ending = true;
    live_http_answer(&line->request, 503, "application/json", text, sizeof text - 1);
}

static struct line *find_line(const struct live_http *http, enum stage stage)
{
    struct line *line = http->oldest;
    while (line != NULL && line->stage != stage)
        line = line->newer;
    return line;
}

/* Nobody whose request was taken is left without an answer; what was answered gets a moment to go
 * out. */
static void drain(struct live_http *http)
{
    struct line *line;
    while ((line = find_line(http, STAGE_HELD)) != NULL)
        answer_stopping(line);
    uint64_t const end_us = live_now_us() + CLOSING_US;
    while ((line = find_line(http, STAGE_SENDING)) != NULL && live_now_us() < end_us) {
        struct pollfd wait = {.fd = line->socket, .events = POLLOUT};
        if (poll(&wait, 1, 10) > 0)
            send_more(line);
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
        close_line(http->oldest);
    if (http->timer != NULL)
        live_timer_set(http->timer, TACIT_NEVER);
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
