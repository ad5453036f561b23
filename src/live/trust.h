/* Two aggregators (tacit/helper.h) as the live hub, its sites and its helper all see them: the run,
 * the sealing key with the helper's word for it, and what hub and helper tell each other, by the
 * broker or as files. Keys are pinned by fingerprint: no CA's word counts here. */
#ifndef TACIT_LIVE_TRUST_H
#define TACIT_LIVE_TRUST_H
#include "pki/signing.h"
#include "room.h"
#include "tacit/helper.h"

#define LIVE_KEY_BYTES 32u
#define LIVE_SIGNED_REQUEST "tacit helper request" /* what keys sign under, in place of topics */
#define LIVE_SIGNED_ANSWER "tacit helper answer"
#define LIVE_SIGNED_OFFER "tacit helper offer"
#define LIVE_SIGNED_END "tacit helper end"

/* The first byte of what they tell each other. */
enum live_trust_message {
    LIVE_TRUST_OFFER = 1, /* hub: a run, its sites and their keys */
    LIVE_TRUST_REQUEST,   /* hub */
    LIVE_TRUST_END,       /* hub: the run is over */
    LIVE_TRUST_SEALING,   /* helper: the run's key */
    LIVE_TRUST_ANSWER,    /* helper */
    LIVE_TRUST_PIECE      /* of what is longer than a payload of the broker */
};
#define LIVE_TRUST_BYTES_MAX (1u << 24) /* of a message, in however many pieces */

/* The run that an agreement describes, of this digest: sums of each arm's rewards, unless the
 * family says otherwise (live_hub_ops.vector). */
struct tacit_helper_run live_trust_run(const char *federation,
                                       const struct tacit_wire_agreement *agreement,
                                       const uint8_t digest[TACIT_WIRE_DIGEST_BYTES]);

/* What noise of this epsilon is reckoned with: itself, or, with a delta, nano-rho. 0: there is
 * none.
 */
uint64_t live_trust_noise_nano(uint64_t epsilon_nano, double delta);

/* Signs the run's sealing key; sealing->key is given. Errors: false: libcrypto failed. */
bool live_trust_sign(const struct live_signer *signer, const struct tacit_helper_run *run,
                     struct tacit_wire_sealing *sealing);

/* NULL: the helper whose fingerprint this is signed the key for this run. Else why it is refused;
 * static. */
const char *live_trust_objection(const struct tacit_helper_run *run,
                                 const struct tacit_wire_sealing *sealing, const char *fingerprint);

/* A number of so many bytes, lowest first. Requires: it fits. */
void live_trust_put(uint8_t *at, uint64_t number, unsigned bytes);
uint64_t live_trust_get(const uint8_t *at, unsigned bytes);

/* ---- Offers ---- */

struct live_offer {
    uint8_t hub[LIVE_KEY_BYTES]; /* the coordinator's key, which signed it */
    struct tacit_wire_announcement *announcement;
    struct tacit_helper_run run;
    const uint8_t (*keys)[LIVE_KEY_BYTES]; /* A: of the sites, for signing */
    const char *const *names;              /* A */
};

/* With its first byte, to be given to free(). announcement: of any site, without a sealing key.
 * NULL: out of memory, or libcrypto failed. */
uint8_t *live_offer_write(const struct live_signer *signer, const uint8_t *announcement,
                          size_t announcement_size, const char *const *names,
                          const uint8_t (*keys)[LIVE_KEY_BYTES], uint32_t site_count, size_t *size);

/* What it says, in this room. NULL: an offer of this federation, signed by the hub of this
 * fingerprint. Else why not; static. */
const char *live_offer_read(const uint8_t *bytes, size_t size, const char *federation,
                            const char *hub, struct live_room *room, struct live_offer *offer);

/* The same, whoever signed it: for people, who are shown by whom; its federation is the
 * announcement's reader's to know, and empty here. */
const char *live_offer_read_unpinned(const uint8_t *bytes, size_t size, struct live_room *room,
                                     struct live_offer *offer);
/* SHA-256 of all of it, in hexadecimal digits: what an operator's word is for. */
void live_offer_code(const uint8_t *bytes, size_t size, char code[LIVE_FINGERPRINT_BYTES]);

/* ---- Pieces: they are said one after the other, and are whole or nothing ---- */

/* How many pieces a message of this size takes, each one payload of the broker. */
uint32_t live_piece_count(size_t size);
/* The piece of this index, from 0. digest: SHA-256 of all. Ensures: *piece_size <=
 * live_piece_bytes_max(); to be given to free(). NULL: out of memory. */
uint8_t *live_piece_write(const uint8_t *bytes, size_t size,
                          const uint8_t digest[TACIT_SHA256_BYTES], uint32_t index,
                          size_t *piece_size);

/* What has come of a message; all zero: nothing. Its memory grows with what came, up to
 * LIVE_TRUST_BYTES_MAX. */
struct live_pieces {
    uint8_t digest[TACIT_SHA256_BYTES];
    uint8_t *bytes;
    size_t size;
    uint32_t count;
    uint32_t next; /* index */
};
/* Of whatever came, in pieces or whole. True: *bytes are all of it, until the next call. A piece
 * that does not follow the one before is passed over: all of them are said again. */
bool live_pieces_add(struct live_pieces *pieces, const uint8_t **bytes, size_t *size);
void live_pieces_free(struct live_pieces *pieces);

/* ---- Proofs ---- */

/* What of a COMMIT, beside what its link and its run say, its signature is over. */
#define LIVE_PROOF_BYTES 88u
void live_proof_write(const struct tacit_wire_envelope *envelope, uint8_t proof[LIVE_PROOF_BYTES]);
/* Fills in what a proof says; the rest is the caller's. */
void live_proof_read(const uint8_t proof[LIVE_PROOF_BYTES], struct tacit_wire_envelope *envelope);
#endif
