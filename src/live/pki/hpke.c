/* HPKE over libsodium, which has the curve and the cipher but not HPKE itself (RFC 9180, 4.1, 5.1,
 * 5.2; hpke.h). All keys and digests have 32 bytes, so that HKDF is a code or two of HMAC. */
#include "hpke.h"
#include <sodium.h>
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
    sodium_memzero(block, sizeof block);
}

bool live_hpke_public(const uint8_t key[KEY_BYTES], uint8_t public_key[KEY_BYTES])
{
    return crypto_scalarmult_base(public_key, key) == 0;
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
    sodium_memzero(secret, sizeof secret);
    return opening;
}

/* From the product of a private and a public key, which may not be zeros (RFC 9180, 7.1.4):
 * libsodium refuses that. */
static bool agree(const uint8_t key[KEY_BYTES], const uint8_t public_key[KEY_BYTES],
                  const uint8_t ephemeral[KEY_BYTES], const uint8_t recipient[KEY_BYTES],
                  const struct live_hpke_scope *scope, struct opening *opening)
{
    uint8_t product[KEY_BYTES];
    TACIT_ASSERT(scope->info_size == 0 || scope->info != NULL);
    if (crypto_scalarmult(product, key, public_key) != 0)
        return false;
    *opening = schedule(product, ephemeral, recipient, scope);
    sodium_memzero(product, sizeof product);
    return true;
}

bool live_hpke_seal(const uint8_t public_key[KEY_BYTES], const uint8_t ephemeral[KEY_BYTES],
                    const struct live_hpke_scope *scope, const uint8_t *text, size_t size,
                    uint8_t *sealed)
{
    struct opening opening;
    TACIT_ASSERT(text != sealed);
    if (!live_hpke_public(ephemeral, sealed) ||
        !agree(ephemeral, public_key, sealed, public_key, scope, &opening))
        return false;
    bool const good = crypto_aead_chacha20poly1305_ietf_encrypt(
                          sealed + KEY_BYTES, NULL, text, size, scope->associated,
                          scope->associated_size, NULL, opening.nonce, opening.key) == 0;
    sodium_memzero(&opening, sizeof opening);
    return good;
}

bool live_hpke_open(const uint8_t key[KEY_BYTES], const struct live_hpke_scope *scope,
                    const uint8_t *sealed, size_t size, uint8_t *text)
{
    uint8_t recipient[KEY_BYTES];
    struct opening opening;
    TACIT_ASSERT(text != sealed);
    if (!live_hpke_public(key, recipient) ||
        !agree(key, sealed, sealed, recipient, scope, &opening))
        return false;
    bool const good = crypto_aead_chacha20poly1305_ietf_decrypt(
                          text, NULL, NULL, sealed + KEY_BYTES, size + TAG_BYTES, scope->associated,
                          scope->associated_size, opening.nonce, opening.key) == 0;
    sodium_memzero(&opening, sizeof opening);
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
