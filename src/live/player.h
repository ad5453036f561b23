/* A site whose core plays in rounds that a hub leads (tacit/round.h): from what the daemon says to
 * the core's event, and from the core's update to what is written, said and played. */
#ifndef TACIT_LIVE_PLAYER_H
#define TACIT_LIVE_PLAYER_H
#include "site_helper.h"
#include "tacit/core.h"

/* What a step of the core came to; valid until the next. */
struct live_player_made {
    const struct tacit_update *update;
    const void *message; /* if update->send */
    bool is_report;      /* .. it opens a release */
    const void *drawn;   /* TACIT_DREW: the report as it will leave once it is granted */
};

/* Of a family's own struct with its core's `update`, and with room for what was `drawn`. */
#define LIVE_PLAYER_MADE(own)                                                                      \
    (struct live_player_made)                                                                      \
    {                                                                                              \
        .update = &(own)->update.core, .message = &(own)->update.message,                          \
        .is_report = (own)->update.message.kind == TACIT_ROUND_REPORT, .drawn = &(own)->drawn      \
    }

/* A family's part. */
struct live_player {
    size_t head_at; /* of its messages */
    enum tacit_status (*step)(struct live_site *site, const struct tacit_event *event,
                              const struct tacit_entropy *entropy, struct live_player_made *made);
    struct tacit_round_view (*view)(const struct live_site *site);
    uint32_t (*last_arm)(const struct live_site *site); /* as below; NULL: it has no plans */
};

/* What a core calls an event. After the last order all that is left of T is planned to last_arm,
 * and no sum is added up: what is played then are pulls of that plan; TACIT_NO_ARM: there is none.
 * What is heard, the caller adds. */
struct tacit_event live_player_event(const struct live_site *site,
                                     const struct live_site_event *came,
                                     const struct tacit_round_view *view, uint32_t last_arm);

/* One event. The ledger has a release when it is drawn, in the same write as the commitment: as it
 * will leave once it is granted. When it leaves it is held against that row. With a first order, in
 * a state that is new, the hub is asked at once whether it has seen more of this site than that:
 * then the state was lost, and nothing may be released from this one. */
enum tacit_status live_player_step(struct live_site *site, const struct live_player *player,
                                   struct live_site_trust *trust,
                                   const struct live_site_event *event, void *message,
                                   const struct tacit_entropy *entropy,
                                   struct live_site_update *update);
#endif
