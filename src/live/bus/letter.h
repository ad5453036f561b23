/* Letters: bodies in envelopes that say in whose name they are, to whom and of which run. */
#ifndef TACIT_LIVE_LETTER_H
#define TACIT_LIVE_LETTER_H
#include "bus.h"
#include "tacit/wire.h"

#define LIVE_LETTER_BYTES_MAX (LIVE_PAYLOAD_BYTES_MAX - TACIT_WIRE_ENVELOPE_BYTES_MAX)

/* What all letters that one daemon writes or takes have in common. */
struct live_letters {
    const char *federation;
    const char *self; /* its own name */
    uint32_t family;
    uint8_t run[TACIT_WIRE_RUN_BYTES];
    uint8_t agreement[TACIT_WIRE_DIGEST_BYTES];
    uint64_t sequence; /* letters written since the start */
};

struct live_letter {
    const char *to; /* NULL: everybody */
    uint32_t kind;
    uint32_t epoch;
    const uint8_t *body;
    size_t size;
};

/* Writes run and agreement down. Errors: TACIT_MEMORY. */
enum tacit_status live_letters_begin(struct live_letters *letters,
                                     const struct tacit_wire_agreement *agreement);

/* The letter in its envelope, to be given to free(). NULL: out of memory. */
uint8_t *live_letter_close(struct live_letters *letters, const struct live_letter *letter,
                           size_t *size);

/* Opens a letter that came under the name `from`. NULL: it is one of this run, from that sender and
 * to this daemon or to everybody; envelope->body points into bytes. Else why it is refused. */
const char *live_letter_open(const struct live_letters *letters, const char *from,
                             const uint8_t *bytes, size_t size,
                             struct tacit_wire_envelope *envelope);

/* As live_letter_open, before there is a run: the envelope of an announcement. */
const char *live_letter_open_announcement(const struct live_letters *letters, const uint8_t *bytes,
                                          size_t size, struct tacit_wire_envelope *envelope);
#endif
