/* A small HTTP/1.1 server inside our loop, on a Unix socket or on loopback (decision 29). A request
 * is handed over whole; its answer may come later (after the batch is durable). */
#ifndef TACIT_LIVE_HTTP_H
#define TACIT_LIVE_HTTP_H
#include "../daemon/loop.h"
#include "callers.h"
#include "http_tls.h"

#define LIVE_BODY_BYTES_MAX (1u << 20)
#define LIVE_CONNECTIONS_MAX 256u
#define LIVE_CONNECTIONS_A_USER_MAX 192u /* of a Unix socket; on loopback nobody knows the user */

struct live_http;

/* Of held.h: room is there when the request is, before anything is done for it. */
struct live_held_answer {
    struct live_request *next;
    unsigned code;
    const char *type;
    char *bytes; /* to be given to free() */
    size_t size;
};

/* Belongs to the server until it is answered. */
struct live_request {
    const char *method;
    const char *path;
    const uint8_t *body; /* until the handler returns */
    size_t size;
    struct live_caller *caller;
    unsigned retry_after_s; /* the handler's: of an answer that says so; 0: it does not */
    void *owner;            /* of the server */
    struct live_held_answer held;
};

struct live_http_config {
    /* A socket, mode 0660; a stale one is replaced, a live one is not; or NULL. */
    const char *unix_path;
    const char *address; /* of this machine, to be seen from others; NULL: 127.0.0.1 */
    uint16_t port;       /* if unix_path is NULL; 0: any free one */
    struct live_http_tls tls;
    bool is_private;        /* the socket has mode 0600 */
    unsigned request_s_max; /* for a whole request, its answer, or the pause between two; 0: 30 */
};

/* Nobody can shut the others out (decision 56). A request, headers and body, has request_s_max to
 * come; then 408. A user has LIVE_CONNECTIONS_A_USER_MAX connections: beyond, the oldest of them on
 * which nothing is being answered makes room for the newcomer; where there is none, he is told 429.
 * Where all are taken, the oldest of anybody makes room. A connection has one request a round of
 * the loop; where several users have connections, one for whom 0.5 ms were worked waits for the
 * next. What bodies and answers of a caller take together is bounded (503).
 *
 * Strict (http_head.h): one Content-Length and no chunks, lines that end in CR LF. Every error is
 * JSON. Requests that a browser makes for a web page of another origin are refused (Host, Origin):
 * on loopback Host is this machine, on another address an address or a name without a dot, which
 * no page's owner can have; with certificates it may be any. A body beyond LIVE_BODY_BYTES_MAX is
 * refused with 413. Errors: TACIT_IO, TACIT_INVALID, TACIT_MEMORY with error->text. */
enum tacit_status live_http_open(struct live_http **http, struct live_loop *loop,
                                 const struct live_http_config *config,
                                 void (*handle)(void *context, struct live_request *request),
                                 void *context, struct tacit_error *error);
/* Held requests are answered with 503; what was answered gets a moment to go out. Not from inside
 * the handler. */
void live_http_close(struct live_http *http);
/* The certificates anew, for connections from now on. Errors: TACIT_INVALID, with error->text;
 * those that are there stay. */
enum tacit_status live_http_read_tls(struct live_http *http, const struct live_http_tls *config,
                                     struct tacit_error *error);
/* 0: a Unix socket. */
uint16_t live_http_port(const struct live_http *http);
struct live_callers *live_http_callers(struct live_http *http);

/* Answers, in the handler or later; the request is gone afterwards. bytes are copied. A caller who
 * has gone away in the meantime loses his answer; nothing else. */
void live_http_answer(struct live_request *request, unsigned code, const char *content_type,
                      const char *bytes, size_t size);
#endif
