/* Words are signed: a key of its own for each name (NAME.sign.key, Ed25519), with a certificate of
 * the federation's CA (NAME.sign.crt), apart from the pair that opens the broker's door. Whoever
 * speaks shows the certificate once; whoever listens keeps the key that it names. */
#ifndef TACIT_LIVE_SIGNING_H
#define TACIT_LIVE_SIGNING_H
#include "tacit/base.h"

#define LIVE_SIGNATURE_BYTES 64u
#define LIVE_SIGNED_TOPIC_BYTES_MAX 65535u
#define LIVE_CERTIFICATE_BYTES_MAX 4096u

/* ---- Who signs ------------------------------------------------------------------------------- */

struct live_signer;

struct live_signing_config {
    const char *ca_file;          /* whose list of revoked certificates is FILE.crl beside it */
    const char *certificate_file; /* of `name`, for signing words */
    const char *key_file;         /* ours alone: 0600 */
    const char *password_file;    /* of an encrypted key, likewise; NULL: there is none */
    const char *name;
};

/* Reads key and certificate, and checks that they belong together, to this name and to signing; the
 * chain is left to those who listen. Errors: TACIT_INVALID, with error->text; TACIT_MEMORY. */
enum tacit_status live_signer_open(struct live_signer **signer,
                                   const struct live_signing_config *config,
                                   struct tacit_error *error);
void live_signer_close(struct live_signer *signer); /* NULL is allowed */

/* What others need to check our words: valid until the signer is closed. */
const uint8_t *live_signer_certificate(const struct live_signer *signer, size_t *size);

/* Signs these bytes under this topic. The same bytes under another topic have another signature.
 * Errors: false: libcrypto failed. Cost: one Ed25519 signature. */
bool live_signer_sign(const struct live_signer *signer, const char *topic, const uint8_t *bytes,
                      size_t size, uint8_t signature[LIVE_SIGNATURE_BYTES]);

/* ---- Keys by themselves ----------------------------------------------------------------------
 */

#define LIVE_FINGERPRINT_BYTES 65u

/* SHA-256 of the public key as certificates hold it, in hexadecimal digits: openssl pkey -pubin
 * -outform DER | sha256sum. */
void live_key_fingerprint(const uint8_t key[32], char text[LIVE_FINGERPRINT_BYTES]);
/* Did the owner of this key sign these bytes under this topic? Cost: one verification. */
bool live_key_check(const uint8_t key[32], const char *topic, const uint8_t *bytes, size_t size,
                    const uint8_t signature[LIVE_SIGNATURE_BYTES]);
/* The public half of our own. Errors: false: libcrypto failed. */
bool live_signer_public(const struct live_signer *signer, uint8_t key[32]);
/* Of a certificate for signing, in a file. Errors: false: there is none. */
bool live_key_read(const char *certificate_file, uint8_t key[32]);

/* ---- Who listens ----------------------------------------------------------------------------- */

/* The keys of those who are heard, by name; in memory only: who connects shows them again. */
struct live_keys;

/* Of this CA; at most count_max names are kept. Errors: TACIT_INVALID, with error->text;
 * TACIT_MEMORY. */
enum tacit_status live_keys_new(struct live_keys **keys, const char *ca_file, uint32_t count_max,
                                struct tacit_error *error);
void live_keys_free(struct live_keys *keys); /* NULL is allowed */

/* Reads CA and list of revoked certificates again, and forgets the keys that are revoked or out of
 * date by now. Errors: false: one of them cannot be read, and all stays as it is. */
bool live_keys_refresh(struct live_keys *keys);

/* A certificate that was shown under this name. NULL: its key is the one that counts from now on.
 * Else why not: it is not of the CA, not for this name or not for signing, out of date, revoked, or
 * older than the one that is known. Cost: O(names), and one verification if it is new. */
const char *live_keys_add(struct live_keys *keys, const char *name, const uint8_t *bytes,
                          size_t size);

/* Is there a key under this name? */
bool live_keys_know(const struct live_keys *keys, const char *name);

/* The key under this name. Errors: false: there is none. */
bool live_keys_public(const struct live_keys *keys, const char *name, uint8_t key[32]);

/* Did the owner of this name sign these bytes under this topic? Cost: O(names), and one Ed25519
 * verification. */
bool live_keys_check(const struct live_keys *keys, const char *name, const char *topic,
                     const uint8_t *bytes, size_t size,
                     const uint8_t signature[LIVE_SIGNATURE_BYTES]);
#endif
