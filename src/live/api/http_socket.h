/* The socket that the decision API listens on: a file, or a port of an address. */
#ifndef TACIT_LIVE_HTTP_SOCKET_H
#define TACIT_LIVE_HTTP_SOCKET_H
#include "tacit/base.h"
#include <sys/stat.h>
#include <sys/un.h>

struct live_http_socket {
    int listener;  /* belongs to the caller; -1: none */
    uint16_t port; /* 0: a Unix socket */
    struct sockaddr_un unix_address;
    struct stat unix_stat; /* of our file, so that we never remove another's */
    bool has_file;
};

/* A file on which nobody answers is replaced. Both: Errors: TACIT_INVALID (the path: too long, no
 * socket, in use), TACIT_IO, with error->text. */
enum tacit_status live_http_listen_unix(struct live_http_socket *listening, const char *path,
                                        mode_t mode, struct tacit_error *error);
/* address: in numbers, IPv4 or IPv6. port 0: any free one. */
enum tacit_status live_http_listen_port(struct live_http_socket *listening, const char *address,
                                        uint16_t port, struct tacit_error *error);
/* Removes the file, if it is still ours, and closes the listener, if it is still there. */
void live_http_socket_close(struct live_http_socket *listening);
#endif
