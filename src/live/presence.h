/* Which process of a site speaks: each draws an instance number when it starts, and says it with a
 * counter whenever it hears the run announced. A site that starts again has a new instance, and the
 * one before is never heard again. So an instance that speaks on after another one was heard means
 * that two run at once with one certificate: a copy of the site, or of its key. No clock decides.
 */
#ifndef TACIT_LIVE_PRESENCE_H
#define TACIT_LIVE_PRESENCE_H
#include "tacit/base.h"

#define LIVE_PRESENCE_KIND UINT32_C(0x7fffffff) /* of the letter: of no family */
#define LIVE_PRESENCE_BYTES 16u                 /* instance, counter; little-endian */
#define LIVE_PRESENCE_KEPT 4u                   /* instances of one site that are told apart */
#define LIVE_PRESENCE_ALARM_US (UINT64_C(3600) * 1000000) /* after the last that showed it */

struct live_presence_word {
    uint64_t instance; /* not 0 */
    uint64_t counter;  /* from 1 */
};

void live_presence_encode(struct live_presence_word word, uint8_t bytes[LIVE_PRESENCE_BYTES]);
/* Errors: false: it is none. */
bool live_presence_decode(const uint8_t *bytes, size_t size, struct live_presence_word *word);

/* What is known of one site; all zero: nothing. */
struct live_presence {
    struct live_presence_word heard[LIVE_PRESENCE_KEPT]; /* the newest first */
    uint64_t alarm_us;                                   /* when two were seen last; 0: never */
};

/* A word was heard. True: it shows that two instances run at once. The same word again, as a broker
 * may deliver it, shows nothing. */
bool live_presence_hear(struct live_presence *presence, struct live_presence_word word,
                        uint64_t now_us);
/* Was it shown within the last hour? */
bool live_presence_is_double(const struct live_presence *presence, uint64_t now_us);
#endif
