/* Sealing to a public key: HPKE (RFC 9180), base mode, one message: DHKEM(X25519, HKDF-SHA256),
 * HKDF-SHA256, ChaCha20-Poly1305 (docs/adr/0070). Of libsodium are the curve and the cipher; the
 * ephemeral key is the caller's, so that nothing here draws for itself. */
#ifndef TACIT_LIVE_HPKE_H
#define TACIT_LIVE_HPKE_H
#include "tacit/helper.h"

#define LIVE_HPKE_KEY_BYTES 32u
#define LIVE_HPKE_EXTRA_BYTES 48u /* a sealed text is longer by: the ephemeral key, and a tag */

/* What a text is sealed under, beside the key; whoever opens it has to mean the same. */
struct live_hpke_scope {
    const uint8_t *info;
    size_t info_size;
    const uint8_t *associated; /* NULL: nothing */
    size_t associated_size;
};

/* The public key of a private one. Errors: false: libsodium failed. */
bool live_hpke_public(const uint8_t key[LIVE_HPKE_KEY_BYTES],
                      uint8_t public_key[LIVE_HPKE_KEY_BYTES]);

/* Seals `size` bytes to a public key. Requires: ephemeral is 32 fresh uniform bytes, used for this
 * once; room for size + LIVE_HPKE_EXTRA_BYTES. Errors: false: this is no key
 * to seal to. Cost: two multiplications on the curve. */
bool live_hpke_seal(const uint8_t public_key[LIVE_HPKE_KEY_BYTES],
                    const uint8_t ephemeral[LIVE_HPKE_KEY_BYTES],
                    const struct live_hpke_scope *scope, const uint8_t *text, size_t size,
                    uint8_t *sealed);

/* Opens what was sealed: `size` bytes of text. Errors: false: not for this key or this scope, or
 * another text than was sealed; *text is not to be used then. */
bool live_hpke_open(const uint8_t key[LIVE_HPKE_KEY_BYTES], const struct live_hpke_scope *scope,
                    const uint8_t *sealed, size_t size, uint8_t *text);

/* Envelopes of the second aggregator (tacit/helper.h): the functions that the cores are handed.
 * The key is the run's sealing key: at a site the public one, at the helper the private one. */
bool live_hpke_seal_seed(void *public_key, const uint8_t ephemeral[TACIT_HELPER_SEED_BYTES],
                         const uint8_t *scope, size_t scope_size,
                         const uint8_t seed[TACIT_HELPER_SEED_BYTES],
                         uint8_t envelope[TACIT_HELPER_ENVELOPE_BYTES]);
bool live_hpke_open_seed(void *private_key, const uint8_t *scope, size_t scope_size,
                         const uint8_t envelope[TACIT_HELPER_ENVELOPE_BYTES],
                         uint8_t seed[TACIT_HELPER_SEED_BYTES]);
#endif
