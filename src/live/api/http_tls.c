/* TLS by libssl under the HTTP server, never blocking: reads and writes say what they wait for. */
#include "http_tls.h"
#include "../pki/pki.h"
#include "../pki/pki_files.h"
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define NAME_BYTES 256u

/* Frees what was made (NULL is allowed). */
static enum tacit_status fail(SSL_CTX *made, struct tacit_error *error, const char *what,
                              const char *file)
{
    unsigned long const code = ERR_peek_last_error();
    char const *const reason = code == 0 ? NULL : ERR_reason_error_string(code);
    (void)snprintf(error->text, sizeof error->text, "observe: cannot %s %.900s: %s", what, file,
                   reason == NULL ? "OpenSSL does not say why" : reason);
    ERR_clear_error();
    SSL_CTX_free(made);
    return TACIT_INVALID;
}

/* The list of revoked certificates lies beside the CA, as for the broker. */
static bool load_revoked(SSL_CTX *made, const char *ca_file)
{
    char path[4096];
    char const *const slash = strrchr(ca_file, '/');
    int const folder = slash == NULL ? 0 : (int)(slash - ca_file + 1);
    X509_STORE *const store = SSL_CTX_get_cert_store(made);
    (void)snprintf(path, sizeof path, "%.*sca.crl", folder, ca_file);
    if (access(path, F_OK) != 0)
        return true;
    X509_LOOKUP *const lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
    return lookup != NULL && X509_load_crl_file(lookup, path, X509_FILETYPE_PEM) > 0 &&
           X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK) == 1;
}

enum tacit_status live_http_tls_open(SSL_CTX **tls, const struct live_http_tls *config,
                                     struct tacit_error *error)
{
    SSL_CTX *const made = SSL_CTX_new(TLS_server_method());
    TACIT_ASSERT(config->certificate_file != NULL && config->client_count > 0);
    if (made == NULL || SSL_CTX_set_min_proto_version(made, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(made, LIVE_TLS_CIPHERS) != 1)
        return fail(made, error, "begin", "TLS");
    if (SSL_CTX_use_certificate_chain_file(made, config->certificate_file) != 1)
        return fail(made, error, "use the certificate", config->certificate_file);
    EVP_PKEY *key = NULL;
    enum tacit_status const status = pki_read_key(config->key_file, &key, error);
    bool const fits = status == TACIT_OK && SSL_CTX_use_PrivateKey(made, key) == 1;
    EVP_PKEY_free(key);
    if (status != TACIT_OK) {
        SSL_CTX_free(made);
        return status;
    }
    if (!fits)
        return fail(made, error, "use with this certificate the key", config->key_file);
    if (SSL_CTX_load_verify_locations(made, config->ca_file, NULL) != 1 ||
        !load_revoked(made, config->ca_file))
        return fail(made, error, "use the CA, or ca.crl beside it,", config->ca_file);
    SSL_CTX_set_verify(made, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    (void)SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_options(made, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    (void)SSL_CTX_set_mode(made,
                           SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    *tls = made;
    return TACIT_OK;
}

/* What libssl answered, as recv and send would say it. */
static ssize_t outcome(SSL *tls, int done, uint32_t *wants)
{
    int const error = done > 0 ? SSL_ERROR_NONE : SSL_get_error(tls, done);
    bool const waits = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    ERR_clear_error();
    if (done > 0)
        return done;
    *wants = error == SSL_ERROR_WANT_WRITE ? EPOLLOUT : EPOLLIN;
    errno = waits ? EAGAIN : EPROTO;
    return error == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

ssize_t live_http_tls_read(SSL *tls, void *bytes, size_t size, uint32_t *wants)
{
    TACIT_ASSERT(size > 0 && size <= INT32_MAX);
    ERR_clear_error();
    return outcome(tls, SSL_read(tls, bytes, (int)size), wants);
}

ssize_t live_http_tls_write(SSL *tls, const void *bytes, size_t size, uint32_t *wants)
{
    TACIT_ASSERT(size > 0 && size <= INT32_MAX);
    ERR_clear_error();
    return outcome(tls, SSL_write(tls, bytes, (int)size), wants);
}

bool live_http_tls_is_one_of(const SSL *tls, const char *const *names, uint32_t count)
{
    char name[NAME_BYTES];
    X509 const *const shown = SSL_get0_peer_certificate(tls);
    int const size = shown == NULL ? -1
                                   : X509_NAME_get_text_by_NID(X509_get_subject_name(shown),
                                                               NID_commonName, name, sizeof name);
    for (uint32_t i = 0; size > 0 && i < count; i++)
        if (strlen(names[i]) == (size_t)size && memcmp(names[i], name, (size_t)size) == 0)
            return true;
    return false;
}
