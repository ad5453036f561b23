/* What a coordinator and the helper of its run say to each other: by the broker, again and again
 * until it is answered, and as files in the state directory, for helpers that are on no network.
 * Sites are told that it is waited for. */
#ifndef TACIT_LIVE_COORDINATOR_HELPER_H
#define TACIT_LIVE_COORDINATOR_HELPER_H
#include "hub.h"
#include "member.h"
#include "trust.h"

#define LIVE_HELPER_OFFER_FILE "helper.offer"
#define LIVE_HELPER_REQUEST_FILE "helper.request"
#define LIVE_HELPER_ANSWER_FILE "helper.answer" /* put there by people: taken, then gone */
#define LIVE_HELPER_NOTICE_S 15u

struct live_helper_desk {
    struct live_member *member;
    const struct live_hub_ops *ops;
    const struct live_hub_config *run;
    const char *state_directory;
    uint64_t since_us;                  /* it is waited for; 0: it is not */
    uint64_t sent_us;                   /* and was asked last */
    uint64_t noticed_us;                /* sites were told last */
    uint8_t digest[TACIT_SHA256_BYTES]; /* of what was said last */
    uint8_t taken[TACIT_SHA256_BYTES];  /* of the file with its answer that is still there */
    bool is_over;                       /* it was told that the run is */
    struct live_pieces pieces;          /* of what it says; to be freed */
};

/* Either to the other: whole, and the broker keeps it; or in pieces, which are said again when the
 * whole is. One that is longer than LIVE_TRUST_BYTES_MAX is not said, and the log says so. */
void live_helper_send(struct live_daemon *daemon, const char *topic, const uint8_t *bytes,
                      size_t size);

/* Does the run wait for the helper, for its word or for an answer? */
bool live_helper_desk_waits(const struct live_hub_view *view);
/* Every second: says what it is to hear, if it is time again. */
void live_helper_desk_tick(struct live_helper_desk *desk, const struct live_hub *hub,
                           const struct live_hub_view *view, uint64_t now_us);
/* What it said, as a file that somebody put there: to be given to free(). NULL, and *size stays:
 * there is none that can be read, or it was taken before. It goes with the next call, in a later
 * round of the loop: so no answer is lost with what did not get to the disk. */
uint8_t *live_helper_desk_file(struct live_helper_desk *desk, size_t *size);
/* Is this the topic on which it speaks? */
bool live_helper_desk_has_topic(const struct live_helper_desk *desk, const char *topic);
/* It is asked something new: the next tick says it at once, and waits from there on. */
void live_helper_desk_soon(struct live_helper_desk *desk);
void live_helper_desk_connected(struct live_helper_desk *desk);
#endif
