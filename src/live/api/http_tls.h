/* TLS of the listener that others than this machine may reach: who serves shows a certificate, and
 * so does who asks. */
#ifndef TACIT_LIVE_HTTP_TLS_H
#define TACIT_LIVE_HTTP_TLS_H
#include "tacit/base.h"
#include <openssl/types.h>
#include <sys/types.h>

struct live_http_tls {
    const char *certificate_file; /* NULL: without TLS */
    const char *key_file;
    const char *ca_file;        /* of who asks, .. */
    const char *const *clients; /* .. by these names */
    uint32_t client_count;
};

/* TLS 1.3, or 1.2 with the ciphers of the broker. Callers need a certificate that ca_file, or a CA
 * in it, has signed, and that ca.crl beside it, where there is one, does not name. Errors:
 * TACIT_INVALID, with error->text. */
enum tacit_status live_http_tls_open(SSL_CTX **tls, const struct live_http_tls *config,
                                     struct tacit_error *error);

/* As recv and send of a socket that does not block. *wants: what to wait for where errno is EAGAIN,
 * an event of epoll. */
ssize_t live_http_tls_read(SSL *tls, void *bytes, size_t size, uint32_t *wants);
ssize_t live_http_tls_write(SSL *tls, const void *bytes, size_t size, uint32_t *wants);

/* Is the common name of who asks in the list? Requires: something was read. */
bool live_http_tls_is_one_of(const SSL *tls, const char *const *names, uint32_t count);
#endif
