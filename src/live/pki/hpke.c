/* HPKE over libcrypto 3.0, which has the curve and the cipher but not HPKE itself (RFC 9180, 4.1,
 * 5.1, 5.2; hpke.h). All keys and digests have 32 bytes, so that HKDF is a code or two of HMAC. */
#include "hpke.h"
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

#define KEY_BYTES LIVE_HPKE_KEY_BYTES
#define NONCE_BYTES 12u
#define TAG_BYTES 16u

static const uint8_t kem_suite[] = {'K', 'E', 'M', 0, 0x20};
static const uint8_t suite[] = {'H', 'P', 'K', 'E', 0, 0x20, 0, 1, 0, 3};

struct part {
    const void *bytes;
    size_t size;
};

/* A label, of either suite. */
struct label {
    const uint8_t *suite;
    size_t suite_size;
    const char *text;
};

static struct label kem_label(const char *text)
{
    return (struct label){kem_suite, sizeof kem_suite, text};
}

static struct label label_of(const char *text)
{
    return (struct label){suite, sizeof suite, text};
}

static void hash_label(struct tacit_hmac *hmac, struct label label)
{
    static const char version[] = "HPKE-v1";
    tacit_hmac_update(hmac, version, sizeof version - 1);
    tacit_hmac_update(hmac, label.suite, label.suite_size);
    tacit_hmac_update(hmac, label.text, strlen(label.text));
}

/* LabeledExtract. No salt: zeros, which HMAC makes of it. */
static void extract(const uint8_t salt[KEY_BYTES], struct label label, struct part part,
                    uint8_t secret[KEY_BYTES])
{
    static const uint8_t none[KEY_BYTES];
    struct tacit_hmac hmac = tacit_hmac_init(salt != NULL ? salt : none);
    hash_label(&hmac, label);
    if (part.size > 0)
        tacit_hmac_update(&hmac, part.bytes, part.size);
    tacit_hmac_final(&hmac, secret);
}

/* LabeledExpand, to one block at most. */
static void expand(const uint8_t secret[KEY_BYTES], struct label label, const struct part *parts,
                   size_t part_count, uint8_t *out, size_t size)
{
    uint8_t const length[2] = {0, (uint8_t)size};
    uint8_t block[KEY_BYTES];
    TACIT_ASSERT(size <= sizeof block);
    struct tacit_hmac hmac = tacit_hmac_init(secret);
    tacit_hmac_update(&hmac, length, sizeof length);
    hash_label(&hmac, label);
    for (size_t i = 0; i < part_count; i++)
        tacit_hmac_update(&hmac, parts[i].bytes, parts[i].size);
    tacit_hmac_update(&hmac, "\001", 1);
    tacit_hmac_final(&hmac, block);
    memcpy(out, block, size);
    OPENSSL_cleanse(block, sizeof block);
}

bool live_hpke_public(const uint8_t key[KEY_BYTES], uint8_t public_key[KEY_BYTES])
{
    size_t size = KEY_BYTES;
    EVP_PKEY *const pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, key, KEY_BYTES);
    bool const done = pair != NULL && EVP_PKEY_get_raw_public_key(pair, public_key, &size) == 1;
    EVP_PKEY_free(pair);
    return done;
}

/* libcrypto refuses a result of zeros, as RFC 9180, 7.1.4, asks. */
static bool multiply(const uint8_t key[KEY_BYTES], const uint8_t public_key[KEY_BYTES],
                     uint8_t product[KEY_BYTES])
{
    size_t size = KEY_BYTES;
    EVP_PKEY *const own = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, key, KEY_BYTES);
    EVP_PKEY *const other =
        EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, public_key, KEY_BYTES);
    EVP_PKEY_CTX *const context = own != NULL ? EVP_PKEY_CTX_new(own, NULL) : NULL;
    bool const done = context != NULL && other != NULL && EVP_PKEY_derive_init(context) == 1 &&
                      EVP_PKEY_derive_set_peer(context, other) == 1 &&
                      EVP_PKEY_derive(context, product, &size) == 1 && size == KEY_BYTES;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(other);
    EVP_PKEY_free(own);
    return done;
}

/* Key and nonce of the one message, from both sides' product. */
struct opening {
    uint8_t key[KEY_BYTES];
    uint8_t nonce[NONCE_BYTES];
};

static struct opening schedule(const uint8_t product[KEY_BYTES], const uint8_t ephemeral[KEY_BYTES],
                               const uint8_t recipient[KEY_BYTES],
                               const struct live_hpke_scope *scope)
{
    uint8_t secret[KEY_BYTES];
    uint8_t id[KEY_BYTES];
    uint8_t info[KEY_BYTES];
    struct opening opening;
    static const uint8_t base_mode[1];
    struct part const nothing = {NULL, 0};
    struct part const keys[] = {{ephemeral, KEY_BYTES}, {recipient, KEY_BYTES}};
    struct part const context[] = {{base_mode, 1}, {id, sizeof id}, {info, sizeof info}};
    extract(NULL, kem_label("eae_prk"), (struct part){product, KEY_BYTES}, secret);
    expand(secret, kem_label("shared_secret"), keys, 2, secret, sizeof secret);
    extract(NULL, label_of("psk_id_hash"), nothing, id);
    extract(NULL, label_of("info_hash"), (struct part){scope->info, scope->info_size}, info);
    extract(secret, label_of("secret"), nothing, secret);
    expand(secret, label_of("key"), context, 3, opening.key, sizeof opening.key);
    expand(secret, label_of("base_nonce"), context, 3, opening.nonce, sizeof opening.nonce);
    OPENSSL_cleanse(secret, sizeof secret);
    return opening;
}

/* One message under ChaCha20-Poly1305. tag: written when it seals, compared when it opens. */
static bool cipher(const struct opening *opening, bool seals, const struct live_hpke_scope *scope,
                   const uint8_t *in, size_t size, uint8_t *out, uint8_t tag[TAG_BYTES])
{
    int done = 0;
    EVP_CIPHER_CTX *const context = EVP_CIPHER_CTX_new();
    bool good = context != NULL && size <= INT32_MAX &&
                EVP_CipherInit_ex(context, EVP_chacha20_poly1305(), NULL, opening->key,
                                  opening->nonce, seals ? 1 : 0) == 1;
    if (good && !seals)
        good = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, tag) == 1;
    if (good && scope->associated_size > 0)
        good = EVP_CipherUpdate(context, NULL, &done, scope->associated,
                                (int)scope->associated_size) == 1;
    good = good && EVP_CipherUpdate(context, out, &done, in, (int)size) == 1 &&
           EVP_CipherFinal_ex(context, out + done, &done) == 1;
    if (good && seals)
        good = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, tag) == 1;
    EVP_CIPHER_CTX_free(context);
    return good;
}

bool live_hpke_seal(const uint8_t public_key[KEY_BYTES], const uint8_t ephemeral[KEY_BYTES],
                    const struct live_hpke_scope *scope, const uint8_t *text, size_t size,
                    uint8_t *sealed)
{
    uint8_t product[KEY_BYTES];
    TACIT_ASSERT(text != sealed);
    TACIT_ASSERT(scope->info_size == 0 || scope->info != NULL);
    if (!live_hpke_public(ephemeral, sealed) || !multiply(ephemeral, public_key, product))
        return false;
    struct opening opening = schedule(product, sealed, public_key, scope);
    bool const good =
        cipher(&opening, true, scope, text, size, sealed + KEY_BYTES, sealed + KEY_BYTES + size);
    OPENSSL_cleanse(product, sizeof product);
    OPENSSL_cleanse(&opening, sizeof opening);
    return good;
}

bool live_hpke_open(const uint8_t key[KEY_BYTES], const struct live_hpke_scope *scope,
                    const uint8_t *sealed, size_t size, uint8_t *text)
{
    uint8_t product[KEY_BYTES];
    uint8_t recipient[KEY_BYTES];
    uint8_t tag[TAG_BYTES];
    TACIT_ASSERT(text != sealed);
    TACIT_ASSERT(scope->info_size == 0 || scope->info != NULL);
    if (!live_hpke_public(key, recipient) || !multiply(key, sealed, product))
        return false;
    struct opening opening = schedule(product, sealed, recipient, scope);
    memcpy(tag, sealed + KEY_BYTES + size, sizeof tag);
    bool const good = cipher(&opening, false, scope, sealed + KEY_BYTES, size, text, tag);
    OPENSSL_cleanse(product, sizeof product);
    OPENSSL_cleanse(&opening, sizeof opening);
    return good;
}

/* ---- Envelopes ---- */

_Static_assert(TACIT_HELPER_ENVELOPE_BYTES == TACIT_HELPER_SEED_BYTES + LIVE_HPKE_EXTRA_BYTES,
               "an envelope holds a seed");

bool live_hpke_seal_seed(void *public_key, const uint8_t ephemeral[TACIT_HELPER_SEED_BYTES],
                         const uint8_t *scope, size_t scope_size,
                         const uint8_t seed[TACIT_HELPER_SEED_BYTES],
                         uint8_t envelope[TACIT_HELPER_ENVELOPE_BYTES])
{
    struct live_hpke_scope const info = {.info = scope, .info_size = scope_size};
    return live_hpke_seal(public_key, ephemeral, &info, seed, TACIT_HELPER_SEED_BYTES, envelope);
}

bool live_hpke_open_seed(void *private_key, const uint8_t *scope, size_t scope_size,
                         const uint8_t envelope[TACIT_HELPER_ENVELOPE_BYTES],
                         uint8_t seed[TACIT_HELPER_SEED_BYTES])
{
    struct live_hpke_scope const info = {.info = scope, .info_size = scope_size};
    return live_hpke_open(private_key, &info, envelope, TACIT_HELPER_SEED_BYTES, seed);
}
