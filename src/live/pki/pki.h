/* Certificates for trials: a private CA and one certificate a name, made by libcrypto.
 * A hospital that runs its own CA needs only live_pki_check. */
#ifndef TACIT_LIVE_PKI_H
#define TACIT_LIVE_PKI_H
#include "tacit/base.h"

#define LIVE_PKI_DAYS_MAX 3650u

/* Of TLS 1.2: only such as encrypt and authenticate in one (AEAD), with keys that are forgotten.
 * All of TLS 1.3 are. */
#define LIVE_TLS_CIPHERS                                                                           \
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:"   \
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-CHACHA20-POLY1305"

struct live_pki_config {
    const char *directory;    /* made if missing; only its owner may enter it (0700) */
    const char *const *names; /* sites, "coordinator", "broker"; see live_name_is_allowed */
    size_t name_count;
    const char *const *broker_hosts; /* further names and addresses of the broker, besides */
    size_t broker_host_count;        /* localhost and 127.0.0.1 */
    uint32_t days;                   /* 1 .. LIVE_PKI_DAYS_MAX */
};

/* Writes NAME.key (0600) and NAME.crt for each name, signed by ca.key and ca.crt, EC P-256; for
 * each but "broker" also NAME.sign.key (0600) and NAME.sign.crt, Ed25519, which sign words and open
 * no door (signing.h); and ca.crl, an empty list of revoked certificates. What is there already
 * stays as it is: a CA is used again, a key is never overwritten. "broker", "observe" and names
 * that begin with "observe-" may only serve (and say nothing of their own), everybody else may only
 * connect. Errors: TACIT_INVALID, TACIT_IO (also: libcrypto), with
 * error->text. */
enum tacit_status live_pki_make(const struct live_pki_config *config, struct tacit_error *error);

/* Puts the certificates NAME.crt and NAME.sign.crt on the list ca.crl, then removes them and their
 * keys, so that live_pki_make gives the name new pairs. All names or, if one cannot be revoked,
 * none; of several calls at once each waits for the others. The list is good for as long as the CA
 * is. "broker" cannot be revoked: it would have to keep itself out. Errors: TACIT_INVALID,
 * TACIT_IO, with error->text. */
enum tacit_status live_pki_revoke(const char *directory, const char *const *names,
                                  size_t name_count, struct tacit_error *error);

/* Can these files prove that we are `name`? The key is readable by its owner only, not encrypted,
 * and belongs to the certificate; the certificate's first common name is `name`; ca_file has a
 * certificate. Dates and the chain are left to the handshake. Errors: TACIT_INVALID, with
 * error->text. */
enum tacit_status live_pki_check(const char *ca_file, const char *certificate_file,
                                 const char *key_file, const char *name, struct tacit_error *error);

/* What a broker may hold against a certificate that it refused without a word: out of date by our
 * clock, not signed by ca_file, or a guess. Ensures: never NULL, static storage. */
const char *live_pki_doubt(const char *ca_file, const char *certificate_file);
#define LIVE_PKI_EARLY "our certificate is not valid yet, or the clock is wrong"
/* Is that so, by our clock? */
bool live_pki_is_early(const char *certificate_file);
/* In words if the dates of this certificate exclude it today, or will within a month; else NULL.
 * Valid until the next call. */
const char *live_pki_expiry(const char *certificate_file);
#endif
