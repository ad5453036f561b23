/* Ed25519 by libsodium, which takes half the time of libcrypto 3.0 (decision 77); keys and
 * certificates are read by libcrypto. What is signed: the words "tacit word 1", the topic and its
 * length, the bytes. The length keeps a topic and the bytes after it from being read in two ways;
 * the words keep a signature of ours from being one of another protocol. */
#include "signing.h"
#include "../daemon/refusal.h"
#include "../daemon/text.h"
#include "pki_files.h"
#include "signing_form.h"
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include "tacit/commit.h"

static const uint8_t domain[] = "tacit word 1";

struct live_signer {
    uint8_t secret[crypto_sign_SECRETKEYBYTES]; /* the seed, and the public key */
    uint8_t *certificate;
    size_t certificate_size;
};

/* ---- Form ---- */

bool signing_is_for_messages(X509 *certificate)
{
    EVP_PKEY *const key = X509_get0_pubkey(certificate);
    return key != NULL && EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 &&
           (X509_get_extension_flags(certificate) & EXFLAG_XKUSAGE) != 0 &&
           (X509_get_extended_key_usage(certificate) & XKU_CODE_SIGN) != 0;
}

/* What is signed (above), to be given to free(). NULL: out of memory. */
static uint8_t *text_of(const char *topic, const uint8_t *bytes, size_t size, size_t *text_size)
{
    size_t const topic_size = strlen(topic);
    TACIT_ASSERT(topic_size <= LIVE_SIGNED_TOPIC_BYTES_MAX);
    *text_size = sizeof domain + 2 + topic_size + size;
    uint8_t *const text = sodium_init() < 0 ? NULL : malloc(*text_size);
    if (text == NULL)
        return NULL;
    memcpy(text, domain, sizeof domain);
    text[sizeof domain] = (uint8_t)(topic_size >> 8);
    text[sizeof domain + 1] = (uint8_t)topic_size;
    memcpy(text + sizeof domain + 2, topic, topic_size);
    if (size > 0)
        memcpy(text + sizeof domain + 2 + topic_size, bytes, size);
    return text;
}

/* ---- Keys by themselves ---- */

bool signing_public(const EVP_PKEY *key, uint8_t bytes[32])
{
    size_t size = 32;
    return EVP_PKEY_get_raw_public_key(key, bytes, &size) == 1 && size == 32;
}

bool live_signer_public(const struct live_signer *signer, uint8_t key[32])
{
    return crypto_sign_ed25519_sk_to_pk(key, signer->secret) == 0;
}

bool live_key_read(const char *certificate_file, uint8_t key[32])
{
    X509 *const certificate = pki_read_certificate(certificate_file);
    bool const is_read = certificate != NULL && signing_is_for_messages(certificate) &&
                         signing_public(X509_get0_pubkey(certificate), key);
    X509_free(certificate);
    ERR_clear_error();
    return is_read;
}

void live_key_fingerprint(const uint8_t key[32], char text[LIVE_FINGERPRINT_BYTES])
{
    /* RFC 8410: a SubjectPublicKeyInfo of Ed25519 is these bytes and the key. */
    static const uint8_t head[12] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
                                     0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
    uint8_t digest[TACIT_SHA256_BYTES];
    struct tacit_sha256 sha = tacit_sha256_init();
    tacit_sha256_update(&sha, head, sizeof head);
    tacit_sha256_update(&sha, key, 32);
    tacit_sha256_final(&sha, digest);
    live_hex(digest, sizeof digest, text);
}

bool live_key_check(const uint8_t key[32], const char *topic, const uint8_t *bytes, size_t size,
                    const uint8_t signature[LIVE_SIGNATURE_BYTES])
{
    size_t text_size = 0;
    uint8_t *const text = text_of(topic, bytes, size, &text_size);
    bool const is_good =
        text != NULL && crypto_sign_verify_detached(signature, text, text_size, key) == 0;
    free(text);
    return is_good;
}

/* ---- The signer ---- */

/* Do the pair belong together, to the name, and to signing? */
static enum tacit_status check(const struct live_signing_config *config, X509 *certificate,
                               EVP_PKEY *key, struct tacit_error *error)
{
    if (X509_check_private_key(certificate, key) != 1)
        return live_refuse(error, TACIT_INVALID, "the key %.512s does not belong to %.512s",
                           config->key_file, config->certificate_file);
    if (!pki_is_made_out_to(certificate, config->name))
        return live_refuse(error, TACIT_INVALID, "the certificate %.1024s is not made out to %.64s",
                           config->certificate_file, config->name);
    if (!signing_is_for_messages(certificate))
        return live_refuse(
            error, TACIT_INVALID,
            "the certificate %.1024s is not for signing messages: an Ed25519 key and the extended "
            "key usage codeSigning are needed, as tacit pki makes them",
            config->certificate_file);
    return TACIT_OK;
}

static bool load_secret(struct live_signer *signer, const EVP_PKEY *key)
{
    uint8_t seed[crypto_sign_SEEDBYTES];
    uint8_t public[crypto_sign_PUBLICKEYBYTES];
    size_t size = sizeof seed;
    bool const is_taken =
        sodium_init() >= 0 && EVP_PKEY_get_raw_private_key(key, seed, &size) == 1 &&
        size == sizeof seed && crypto_sign_seed_keypair(public, signer->secret, seed) == 0;
    sodium_memzero(seed, sizeof seed);
    return is_taken;
}

enum tacit_status live_signer_open(struct live_signer **signer,
                                   const struct live_signing_config *config,
                                   struct tacit_error *error)
{
    TACIT_ASSERT(config->name != NULL && config->key_file != NULL);
    EVP_PKEY *key = NULL;
    X509 *certificate;
    enum tacit_status status = pki_load_certificate(config->certificate_file, &certificate, error);
    if (status == TACIT_OK)
        status = pki_read_locked_key(config->key_file, config->password_file, &key, error);
    if (status == TACIT_OK)
        status = check(config, certificate, key, error);
    struct live_signer *const made = status == TACIT_OK ? calloc(1, sizeof *made) : NULL;
    if (made != NULL && load_secret(made, key)) {
        int const size = i2d_X509(certificate, &made->certificate);
        made->certificate_size = size > 0 ? (size_t)size : 0;
    }
    X509_free(certificate);
    EVP_PKEY_free(key);
    ERR_clear_error();
    if (status == TACIT_OK && (made == NULL || made->certificate_size == 0)) {
        live_signer_close(made);
        return live_refuse(error, TACIT_MEMORY, "out of memory");
    }
    if (status == TACIT_OK)
        *signer = made;
    return status;
}

void live_signer_close(struct live_signer *signer)
{
    if (signer == NULL)
        return;
    sodium_memzero(signer->secret, sizeof signer->secret);
    OPENSSL_free(signer->certificate);
    free(signer);
}

const uint8_t *live_signer_certificate(const struct live_signer *signer, size_t *size)
{
    *size = signer->certificate_size;
    return signer->certificate;
}

bool live_signer_sign(const struct live_signer *signer, const char *topic, const uint8_t *bytes,
                      size_t size, uint8_t signature[LIVE_SIGNATURE_BYTES])
{
    size_t text_size = 0;
    uint8_t *const text = text_of(topic, bytes, size, &text_size);
    bool const is_signed =
        text != NULL && crypto_sign_detached(signature, NULL, text, text_size, signer->secret) == 0;
    free(text);
    return is_signed;
}
