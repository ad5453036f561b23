/* Envelopes: they say in whose name a body is, to whom and of which run, and whoever says it signs
 * them. */
#ifndef TACIT_LIVE_ENVELOPE_H
#define TACIT_LIVE_ENVELOPE_H
#include "../pki/signing.h"
#include "bus.h"
#include "tacit/wire.h"

#define LIVE_ENVELOPE_BYTES_MAX (LIVE_PAYLOAD_BYTES_MAX - TACIT_WIRE_ENVELOPE_BYTES_MAX)
/* What is longer goes in pieces of so many bytes at most (trust.h). */
size_t live_piece_bytes_max(void);

/* What all envelopes that one daemon writes or takes have in common. */
struct live_envelopes {
    const char *federation;
    const char *self; /* its own name */
    uint32_t family;
    uint32_t version; /* that all who are in the run speak; 0: it is not known, and the oldest */
    uint8_t run[TACIT_WIRE_RUN_BYTES];
    uint8_t agreement[TACIT_WIRE_DIGEST_BYTES];
    uint64_t term;     /* from 1: of the hub whose grants these envelopes ask for, or give */
    uint64_t sequence; /* envelopes written since the start */
    uint64_t entry;    /* of the replicated log, the newest that this daemon keeps; 0: none */
    const struct live_signer *signer;
    const struct live_keys *keys;
};

struct live_envelope {
    const char *topic; /* under which it is published: it is part of what is signed */
    const char *to;    /* NULL: everybody */
    uint32_t kind;
    uint32_t epoch;
    const uint8_t *body;
    size_t size;
};

/* Writes run and agreement down; the term is 1, unless it is known already. Errors: TACIT_MEMORY.
 */
enum tacit_status live_envelopes_begin(struct live_envelopes *envelopes,
                                       const struct tacit_wire_agreement *agreement);

/* The kind of what the coordinator says of the helper, to all or to one. */
#define LIVE_KIND_NOTICE (UINT32_MAX - 1u)
enum live_notice {                       /* its body, one byte; its epoch: seconds waited */
                   LIVE_NOTICE_WAITS,    /* the run waits for the helper */
                   LIVE_NOTICE_REFUSES,  /* the helper refuses to answer, or what it says is not in
                                            order */
                   LIVE_NOTICE_VOID,     /* void rounds wait for the operator's word */
                   LIVE_NOTICE_LEFT_OUT, /* to one site: the helper did not count its report */
                   LIVE_NOTICES
};

/* The value under which a store keeps the term. */
#define LIVE_ENVELOPES_TERM "term"

/* Terms are counted one by one, and never by a clock. One that is further ahead than this of those
 * that are known was not counted: nobody follows it, be it signed or not. */
#define LIVE_TERM_JUMP_MAX (UINT64_C(1) << 16)
bool live_term_is_out_of_reach(uint64_t known, uint64_t term);

/* The objection to an envelope of a later term. */
extern const char live_envelope_is_ahead[];

/* The body in its envelope, signed, to be given to free(). NULL: out of memory. */
uint8_t *live_envelope_close(struct live_envelopes *envelopes, const struct live_envelope *content,
                             size_t *size);

/* A digest that is signed for others than those who hear it now: apart from all envelopes, whose
 * topics begin otherwise. Errors: false: libcrypto failed; the name's key is not known, or it is
 * not its signature. */
bool live_envelopes_sign_row(const struct live_envelopes *envelopes, const uint8_t digest[32],
                             uint8_t signature[LIVE_SIGNATURE_BYTES]);
bool live_envelopes_check_row(const struct live_envelopes *envelopes, const char *name,
                              const uint8_t digest[32],
                              const uint8_t signature[LIVE_SIGNATURE_BYTES]);

/* ---- Versions -------------------------------------------------------------------------------- */

/* What a site that shows an entry says in the place of its epoch: the newest version that it
 * speaks, with this bit, which sites of before it never set. */
#define LIVE_VERSION_SAID (UINT32_C(1) << 31)
#define LIVE_VERSION_WORDS_BYTES 160u
#define LIVE_VERSION_FORMAT "messages are of version %u; this program speaks versions %u to %u"

/* What a run speaks: the newest version that `newest` and all sites speak, and never again an older
 * one than now. speaks: by site, 0 where it is not known. Ensures: now where it is not known of
 * all. Cost: O(count). */
uint32_t live_version_agree(uint32_t newest, uint32_t now, const uint32_t *speaks, uint32_t count);

/* What came from the broker. */
struct live_arrival {
    const char *topic;
    const char *from; /* who says it, by the topic */
    const uint8_t *bytes;
    size_t size;
};

/* What is in it. */
struct live_opened {
    struct tacit_wire_envelope envelope; /* its body points into the arrival's bytes */
    bool is_unsigned;                    /* refused because `from` did not sign it, .. */
    bool lacks_key;                      /* .. or because nobody knows its key yet */
    uint32_t foreign;                    /* the version that it is of, if it is not spoken here */
    char words[LIVE_VERSION_WORDS_BYTES];
};

/* Opens an envelope. NULL: it is one of this run, signed by the sender under this topic, and to
 * this daemon or to everybody. Else why it is refused. The signature is checked before anything
 * else is looked at. */
const char *live_envelope_open(const struct live_envelopes *envelopes,
                               const struct live_arrival *arrival, struct live_opened *opened);

/* As live_envelope_open, before it is known of which run: the envelope of an announcement, by the
 * coordinator; that of an entry of its log, or of one that a site shows. */
const char *live_envelope_open_announcement(const struct live_envelopes *envelopes,
                                            const struct live_arrival *arrival,
                                            struct live_opened *opened);
const char *live_envelope_open_entry(const struct live_envelopes *envelopes,
                                     const struct live_arrival *arrival,
                                     struct live_opened *opened);
#endif
