/* Listening sockets. Not here: what is said on them (http.c). */
#include "http_socket.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 1024 /* a connect beyond it fails at once on a Unix socket */

static enum tacit_status fail(struct tacit_error *error, enum tacit_status status, const char *what,
                              const char *where, const char *why)
{
    (void)snprintf(error->text, sizeof error->text, "%s %.1000s: %s", what, where, why);
    return status;
}

/* Is somebody listening there? A full queue says yes too, and so does what we cannot find out. */
static bool somebody_answers(const struct sockaddr_un *address)
{
    int const probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (probe < 0)
        return true;
    bool const answers = connect(probe, (const struct sockaddr *)address, sizeof *address) == 0 ||
                         (errno != ECONNREFUSED && errno != ENOENT);
    (void)close(probe);
    return answers;
}

/* Makes the way free: only a socket file on which nobody answers is removed. */
static enum tacit_status clear_path(const struct sockaddr_un *address, struct tacit_error *error)
{
    struct stat there;
    const char *const path = address->sun_path;
    if (lstat(path, &there) != 0)
        return errno == ENOENT ? TACIT_OK : fail(error, TACIT_IO, "socket", path, strerror(errno));
    if (!S_ISSOCK(there.st_mode))
        return fail(error, TACIT_INVALID, "socket", path,
                    "something else than a socket has this name; name a path that is free");
    if (somebody_answers(address))
        return fail(error, TACIT_INVALID, "socket", path,
                    "another process answers on it; stop that one or name another path");
    if (unlink(path) != 0 && errno != ENOENT)
        return fail(error, TACIT_IO, "socket", path, strerror(errno));
    return TACIT_OK;
}

enum tacit_status live_http_listen_unix(struct live_http_socket *listening, const char *path,
                                        mode_t mode, struct tacit_error *error)
{
    *listening = (struct live_http_socket){.listener = -1, .unix_address.sun_family = AF_UNIX};
    struct sockaddr_un *const address = &listening->unix_address;
    if (path[0] == '\0' || strlen(path) >= sizeof address->sun_path)
        return fail(error, TACIT_INVALID, "socket", path,
                    "the path is empty or too long; the path of a socket has 1 to 107 bytes");
    memcpy(address->sun_path, path, strlen(path) + 1);
    TACIT_TRY(clear_path(address, error));
    listening->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listening->listener < 0 ||
        bind(listening->listener, (const struct sockaddr *)address, sizeof *address) != 0)
        return fail(error, TACIT_IO, "socket", path, strerror(errno));
    listening->has_file = lstat(path, &listening->unix_stat) == 0;
    /* Nobody can connect before listen, so the mode is right from the first caller on. */
    if (!listening->has_file || chmod(path, mode) != 0 || listen(listening->listener, BACKLOG) != 0)
        return fail(error, TACIT_IO, "socket", path, strerror(errno));
    return TACIT_OK;
}

enum tacit_status live_http_listen_port(struct live_http_socket *listening, const char *address,
                                        uint16_t port, struct tacit_error *error)
{
    static const int yes = 1;
    struct sockaddr_storage bound;
    struct addrinfo const hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    socklen_t size = sizeof bound;
    char number[8];
    char where[96];
    (void)snprintf(number, sizeof number, "%u", (unsigned)port);
    (void)snprintf(where, sizeof where, "%.80s:%s", address, number);
    *listening = (struct live_http_socket){.listener = -1};
    if (getaddrinfo(address, number, &hints, &found) != 0)
        return fail(error, TACIT_INVALID, "address", where, "it is none");
    int const listener = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    listening->listener = listener;
    bool const is_good =
        listener >= 0 && setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(listener, found->ai_addr, found->ai_addrlen) == 0 && listen(listener, BACKLOG) == 0 &&
        getsockname(listener, (struct sockaddr *)&bound, &size) == 0;
    freeaddrinfo(found);
    if (!is_good)
        return fail(error, TACIT_IO, "address", where, strerror(errno));
    listening->port =
        ntohs(bound.ss_family == AF_INET ? ((const struct sockaddr_in *)&bound)->sin_port
                                         : ((const struct sockaddr_in6 *)&bound)->sin6_port);
    return TACIT_OK;
}

void live_http_socket_close(struct live_http_socket *listening)
{
    const char *const path = listening->unix_address.sun_path;
    struct stat there;
    if (listening->has_file && lstat(path, &there) == 0 &&
        there.st_dev == listening->unix_stat.st_dev && there.st_ino == listening->unix_stat.st_ino)
        (void)unlink(path);
    if (listening->listener >= 0)
        (void)close(listening->listener);
    *listening = (struct live_http_socket){.listener = -1};
}
