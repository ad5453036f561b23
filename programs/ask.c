/* A question to a daemon of this machine over HTTP: sent on a socket, and its answer read. */
#include "ask.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_S_MAX 10

int ask_connect(const struct tacit_config_listener *listener)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_port = htons(listener->port)};
    struct timeval const limit = {.tv_sec = ANSWER_S_MAX};
    bool const is_unix = listener->unix_path != NULL;
    if (is_unix && strlen(listener->unix_path) >= sizeof local.sun_path)
        return -1;
    if (is_unix)
        memcpy(local.sun_path, listener->unix_path, strlen(listener->unix_path));
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int const connection = socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int const failed =
        connection < 0 || /* who is full, and takes nobody in, is not waited for longer either */
        setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0 ||
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0 ||
        (is_unix ? connect(connection, (const struct sockaddr *)&local, sizeof local)
                 : connect(connection, (const struct sockaddr *)&loopback, sizeof loopback)) != 0;
    if (failed && connection >= 0)
        (void)close(connection);
    return failed ? -1 : connection;
}

/* Until the daemon closes. NULL: it broke off, or no memory. */
static char *read_all(int connection)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    char part[4096];
    ssize_t got = 0;
    if (out == NULL)
        return NULL;
    while ((got = read(connection, part, sizeof part)) > 0)
        (void)fwrite(part, 1, (size_t)got, out);
    if (fclose(out) == 0 && got == 0)
        return text;
    free(text);
    return NULL;
}

static bool send_all(int connection, const char *text)
{
    size_t const size = strlen(text);
    size_t sent = 0;
    while (sent < size) {
        ssize_t const count = send(connection, text + sent, size - sent, MSG_NOSIGNAL);
        if (count <= 0)
            return false;
        sent += (size_t)count;
    }
    return true;
}

char *ask(int connection, const char *method, const char *path, const char *body, unsigned *code)
{
    char head[256];
    (void)snprintf(head, sizeof head,
                   "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                   "Content-Length: %zu\r\n\r\n",
                   method, path, body == NULL ? 0 : strlen(body));
    bool const is_said = send_all(connection, head) && (body == NULL || send_all(connection, body));
    char *const text = is_said ? read_all(connection) : NULL;
    (void)close(connection);
    char const *const end = text == NULL ? NULL : strstr(text, "\r\n\r\n");
    char *answer = NULL;
    if (end != NULL && sscanf(text, "HTTP/1.1 %u ", code) == 1)
        answer = strdup(end + 4);
    free(text);
    return answer;
}
