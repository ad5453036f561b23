/* The offer of a run with two aggregators, a helper's word for a key, and proofs of grants:
 * written, read, checked. */
#include "trust.h"
#include "bus/envelope.h"
#include "daemon/text.h"
#include "tacit/gaussian.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNED_SEALING "tacit helper sealing"

/* ---- The run and its key ---- */

struct tacit_helper_run live_trust_run(const char *federation,
                                       const struct tacit_wire_agreement *agreement,
                                       const uint8_t digest[TACIT_WIRE_DIGEST_BYTES])
{
    struct tacit_helper_run run = {.run_id = tacit_wire_run_id(agreement->run),
                                   .site_count = agreement->agent_count,
                                   .count_max = agreement->arm_count,
                                   .mechanism = TACIT_HELPER_LAPLACE,
                                   .steps = TACIT_STEPS};
    size_t const length = strlen(federation);
    TACIT_ASSERT(length <= TACIT_HELPER_NAME_BYTES_MAX);
    memcpy(run.federation, federation, length + 1);
    memcpy(run.run, agreement->run, sizeof run.run);
    memcpy(run.agreement, digest, sizeof run.agreement);
    tacit_commit_domain(federation, digest, run.domain);
    return run;
}

uint64_t live_trust_noise_nano(uint64_t epsilon_nano, double delta)
{
    TACIT_ASSERT(delta >= 0 && delta < 1);
    return delta > 0 && epsilon_nano > 0
               ? tacit_rho_of_epsilon_nano(tacit_nano_value(epsilon_nano), delta)
               : epsilon_nano;
}

/* The names of what is signed are of one length, or stand last. */
struct sealing_text {
    uint8_t run[TACIT_HELPER_RUN_BYTES];
    uint8_t agreement[TACIT_SHA256_BYTES];
    uint8_t key[LIVE_KEY_BYTES];
    char federation[TACIT_HELPER_NAME_BYTES_MAX + 1];
};

static struct sealing_text text_of(const struct tacit_helper_run *run, const uint8_t *key)
{
    TACIT_ASSERT(strlen(run->federation) <= TACIT_HELPER_NAME_BYTES_MAX);
    struct sealing_text text;
    memcpy(text.run, run->run, sizeof text.run);
    memcpy(text.agreement, run->agreement, sizeof text.agreement);
    memcpy(text.key, key, sizeof text.key);
    memset(text.federation, 0, sizeof text.federation);
    memcpy(text.federation, run->federation, strlen(run->federation));
    return text;
}

bool live_trust_sign(const struct live_signer *signer, const struct tacit_helper_run *run,
                     struct tacit_wire_sealing *sealing)
{
    struct sealing_text const text = text_of(run, sealing->key);
    return live_signer_public(signer, sealing->identity) &&
           live_signer_sign(signer, SIGNED_SEALING, (const uint8_t *)&text, sizeof text,
                            sealing->signature);
}

const char *live_trust_objection(const struct tacit_helper_run *run,
                                 const struct tacit_wire_sealing *sealing, const char *fingerprint)
{
    if (!tacit_helper_run_is_valid(run))
        return "a run that cannot have two aggregators: too few sites";
    TACIT_ASSERT(run != NULL && sealing != NULL);
    char shown[LIVE_FINGERPRINT_BYTES];
    live_key_fingerprint(sealing->identity, shown);
    if (fingerprint == NULL || strcmp(shown, fingerprint) != 0)
        return "the run's helper has another key than the one that this file pins (trust.helper)";
    struct sealing_text const text = text_of(run, sealing->key);
    return live_key_check(sealing->identity, SIGNED_SEALING, (const uint8_t *)&text, sizeof text,
                          sealing->signature)
               ? NULL
               : "the run's sealing key is not signed by its helper";
}

/* ---- Offers: first byte | signature | hub's key | size of the announcement, 4 bytes, highest
 * first | announcement | of each site key, length of its name, name ---- */

#define SIGNED_AT (1u + LIVE_SIGNATURE_BYTES)
#define HEAD_BYTES (SIGNED_AT + LIVE_KEY_BYTES + 4u)

uint8_t *live_offer_write(const struct live_signer *signer, const uint8_t *announcement,
                          size_t announcement_size, const char *const *names,
                          const uint8_t (*keys)[LIVE_KEY_BYTES], uint32_t site_count, size_t *size)
{
    TACIT_ASSERT(announcement_size > 0 && announcement_size <= UINT32_MAX && site_count > 0);
    *size = HEAD_BYTES + announcement_size;
    for (uint32_t site = 0; site < site_count; site++)
        *size += LIVE_KEY_BYTES + 1u + strlen(names[site]);
    uint8_t *const bytes = malloc(*size);
    if (bytes == NULL)
        return NULL;
    bytes[0] = LIVE_TRUST_OFFER;
    bool const is_named = live_signer_public(signer, bytes + SIGNED_AT);
    for (unsigned i = 0; i < 4; i++)
        bytes[HEAD_BYTES - 4 + i] = (uint8_t)(announcement_size >> (24 - 8 * i));
    memcpy(bytes + HEAD_BYTES, announcement, announcement_size);
    uint8_t *at = bytes + HEAD_BYTES + announcement_size;
    for (uint32_t site = 0; site < site_count; site++) {
        size_t const length = strlen(names[site]);
        memcpy(at, keys[site], LIVE_KEY_BYTES);
        at[LIVE_KEY_BYTES] = (uint8_t)length;
        memcpy(at + LIVE_KEY_BYTES + 1, names[site], length);
        at += LIVE_KEY_BYTES + 1 + length;
    }
    TACIT_ASSERT(at == bytes + *size);
    if (is_named && live_signer_sign(signer, LIVE_SIGNED_OFFER, bytes + SIGNED_AT,
                                     *size - SIGNED_AT, bytes + 1))
        return bytes;
    free(bytes);
    return NULL;
}

/* Keys and names of the sites. */
static bool read_sites(const uint8_t *at, size_t size, struct live_room *room,
                       struct live_offer *offer)
{
    TACIT_ASSERT(offer->announcement != NULL);
    uint32_t const count = offer->announcement->agreement.agent_count;
    uint8_t(*const keys)[LIVE_KEY_BYTES] = live_room_allocate(room, count, LIVE_KEY_BYTES);
    const char **const names = live_room_allocate(room, count, sizeof *names);
    for (uint32_t site = 0; keys != NULL && names != NULL && site < count; site++) {
        size_t const length = size > LIVE_KEY_BYTES ? at[LIVE_KEY_BYTES] : 0;
        size_t const used = LIVE_KEY_BYTES + 1u + length;
        char *const name = live_room_allocate(room, 1, length + 1);
        if (length == 0 || length > TACIT_WIRE_NAME_BYTES_MAX || size < used || name == NULL)
            return false;
        memcpy(keys[site], at, LIVE_KEY_BYTES);
        memcpy(name, at + LIVE_KEY_BYTES + 1, length);
        names[site] = name;
        at += used;
        size -= used;
    }
    offer->keys = (const uint8_t(*)[LIVE_KEY_BYTES])keys;
    offer->names = names;
    return keys != NULL && names != NULL && size == 0;
}

/* NULL: an offer signed by the key that it names itself. Else why not; static. */
static const char *read_offer(const uint8_t *bytes, size_t size, const char *federation,
                              struct live_room *room, struct live_offer *offer)
{
    static const char malformed[] = "an offer that does not decode";
    struct tacit_wire_allocator const allocator = live_room_allocator(room);
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    size_t length = 0;
    if (size <= HEAD_BYTES || bytes[0] != LIVE_TRUST_OFFER)
        return malformed;
    memcpy(offer->hub, bytes + SIGNED_AT, sizeof offer->hub);
    if (!live_key_check(offer->hub, LIVE_SIGNED_OFFER, bytes + SIGNED_AT, size - SIGNED_AT,
                        bytes + 1))
        return "an offer that the coordinator did not sign";
    for (unsigned i = 0; i < 4; i++)
        length = length << 8 | bytes[HEAD_BYTES - 4 + i];
    if (length > size - HEAD_BYTES ||
        tacit_wire_decode(&tacit_wire_announcement, NULL, bytes + HEAD_BYTES, length,
                          &offer->announcement, &allocator) != TACIT_OK ||
        !read_sites(bytes + HEAD_BYTES + length, size - HEAD_BYTES - length, room, offer) ||
        tacit_wire_agreement_digest(&offer->announcement->agreement, digest, &allocator) !=
            TACIT_OK)
        return malformed;
    offer->run = live_trust_run(federation, &offer->announcement->agreement, digest);
    return offer->announcement->agreement.has_helper ? NULL
                                                     : "an offer of a run with one aggregator";
}

const char *live_offer_read_unpinned(const uint8_t *bytes, size_t size, struct live_room *room,
                                     struct live_offer *offer)
{
    return read_offer(bytes, size, "", room, offer);
}

const char *live_offer_read(const uint8_t *bytes, size_t size, const char *federation,
                            const char *hub, struct live_room *room, struct live_offer *offer)
{
    char shown[LIVE_FINGERPRINT_BYTES];
    char const *const why = read_offer(bytes, size, federation, room, offer);
    if (why != NULL)
        return why;
    live_key_fingerprint(offer->hub, shown);
    return strcmp(shown, hub) == 0
               ? NULL
               : "an offer by another coordinator than the one whose key this file pins (hub)";
}

void live_offer_code(const uint8_t *bytes, size_t size, char code[LIVE_FINGERPRINT_BYTES])
{
    uint8_t digest[TACIT_SHA256_BYTES];
    tacit_sha256_of(bytes, size, digest);
    live_hex(digest, sizeof digest, code);
}

/* ---- Pieces: type | SHA-256 of all | index, count, 4 bytes each, lowest first | bytes ---- */

void live_trust_put(uint8_t *at, uint64_t number, unsigned bytes)
{
    TACIT_ASSERT(bytes == 8 || number >> 8 * bytes == 0);
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(number >> 8 * i);
}

uint64_t live_trust_get(const uint8_t *at, unsigned bytes)
{
    uint64_t number = 0;
    for (unsigned i = bytes; i > 0; i--)
        number = number << 8 | at[i - 1];
    return number;
}

#define PIECE_HEAD_BYTES (1u + TACIT_SHA256_BYTES + 8u)

static size_t piece_content_bytes(void)
{
    TACIT_ASSERT(live_piece_bytes_max() > PIECE_HEAD_BYTES);
    return live_piece_bytes_max() - PIECE_HEAD_BYTES;
}

uint32_t live_piece_count(size_t size)
{
    TACIT_ASSERT(size > 0 && size <= LIVE_TRUST_BYTES_MAX);
    return (uint32_t)((size + piece_content_bytes() - 1) / piece_content_bytes());
}

uint8_t *live_piece_write(const uint8_t *bytes, size_t size,
                          const uint8_t digest[TACIT_SHA256_BYTES], uint32_t index,
                          size_t *piece_size)
{
    uint32_t const count = live_piece_count(size);
    TACIT_ASSERT(index < count);
    size_t const at = index * piece_content_bytes();
    size_t const part = index + 1 < count ? piece_content_bytes() : size - at;
    uint8_t *const piece = malloc(PIECE_HEAD_BYTES + part);
    *piece_size = PIECE_HEAD_BYTES + part;
    if (piece == NULL)
        return NULL;
    piece[0] = LIVE_TRUST_PIECE;
    memcpy(piece + 1, digest, TACIT_SHA256_BYTES);
    live_trust_put(piece + 1 + TACIT_SHA256_BYTES, index, 4);
    live_trust_put(piece + 5 + TACIT_SHA256_BYTES, count, 4);
    memcpy(piece + PIECE_HEAD_BYTES, bytes + at, part);
    return piece;
}

void live_pieces_free(struct live_pieces *pieces)
{
    free(pieces->bytes);
    *pieces = (struct live_pieces){.size = 0};
}

static bool is_whole(const struct live_pieces *pieces)
{
    uint8_t digest[TACIT_SHA256_BYTES];
    tacit_sha256_of(pieces->bytes, pieces->size, digest);
    return memcmp(digest, pieces->digest, sizeof digest) == 0;
}

/* True: it was the last one, and all of them are the message whose digest they name. */
static bool add_piece(struct live_pieces *pieces, const uint8_t *piece, size_t size)
{
    if (size <= PIECE_HEAD_BYTES || piece[0] != LIVE_TRUST_PIECE)
        return false;
    uint32_t const index = (uint32_t)live_trust_get(piece + 1 + TACIT_SHA256_BYTES, 4);
    uint32_t const count = (uint32_t)live_trust_get(piece + 5 + TACIT_SHA256_BYTES, 4);
    size_t const part = size - PIECE_HEAD_BYTES;
    if (index == 0) {
        live_pieces_free(pieces);
        memcpy(pieces->digest, piece + 1, sizeof pieces->digest);
        pieces->count = count;
    }
    bool const follows = index == pieces->next && count == pieces->count && index < count &&
                         memcmp(piece + 1, pieces->digest, sizeof pieces->digest) == 0 &&
                         part <= LIVE_TRUST_BYTES_MAX - pieces->size;
    uint8_t *const grown = follows ? realloc(pieces->bytes, pieces->size + part) : NULL;
    if (grown == NULL)
        return false;
    memcpy(grown + pieces->size, piece + PIECE_HEAD_BYTES, part);
    pieces->bytes = grown;
    pieces->size += part;
    pieces->next++;
    return pieces->next == count && is_whole(pieces);
}

bool live_pieces_add(struct live_pieces *pieces, const uint8_t **bytes, size_t *size)
{
    if (*size == 0 || (*bytes)[0] != LIVE_TRUST_PIECE)
        return *size > 0;
    if (!add_piece(pieces, *bytes, *size))
        return false;
    *bytes = pieces->bytes;
    *size = pieces->size;
    return *size > 0;
}

/* ---- Proofs: version, epoch, sequence, entry, lowest byte first; signature ---- */

void live_proof_write(const struct tacit_wire_envelope *envelope, uint8_t proof[LIVE_PROOF_BYTES])
{
    live_trust_put(proof, envelope->version, 4);
    live_trust_put(proof + 4, envelope->epoch, 4);
    live_trust_put(proof + 8, envelope->sequence, 8);
    live_trust_put(proof + 16, envelope->entry, 8);
    memcpy(proof + 24, envelope->signature, sizeof envelope->signature);
}

void live_proof_read(const uint8_t proof[LIVE_PROOF_BYTES], struct tacit_wire_envelope *envelope)
{
    envelope->version = (uint32_t)live_trust_get(proof, 4);
    envelope->epoch = (uint32_t)live_trust_get(proof + 4, 4);
    envelope->sequence = live_trust_get(proof + 8, 8);
    envelope->entry = live_trust_get(proof + 16, 8);
    memcpy(envelope->signature, proof + 24, sizeof envelope->signature);
}
