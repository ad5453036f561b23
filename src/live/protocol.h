/* A member of a run as its family sees it: what protocol.c (a site) and protocol_hub.c (a hub) have
 * made for it, and what its step may call. Announcement, agreement, joining, what is kept, messages
 * and what is to be carried out are done there, once; the family has the rest (site.h, hub.h). */
#ifndef TACIT_LIVE_PROTOCOL_H
#define TACIT_LIVE_PROTOCOL_H
#include "block.h"
#include "hub.h"
#include "messages.h"
#include "room.h"
#include "site.h"
#include "tacit/commit.h"
#include "tacit/privacy.h"

/* ---- Sites ----------------------------------------------------------------------------------- */

/* What has a plan, and learns from nothing else. */
#define LIVE_SITE_PLAN_EVENTS                                                                      \
    (1u << LIVE_SITE_START | 1u << LIVE_SITE_CONNECTED | 1u << LIVE_SITE_REWARD |                  \
     1u << LIVE_SITE_EXPLOITED | 1u << LIVE_SITE_RECEIVE | 1u << LIVE_SITE_TIMEOUT)

struct live_site {
    const struct live_site_ops *ops;
    struct live_site_config config; /* a copy */
    struct live_room room;          /* of what the family needs; freed with the site */
    struct tacit_wire_announcement *announcement;
    struct live_shape shape;            /* dimension: the family's to set, if it has one */
    uint8_t domain[TACIT_SHA256_BYTES]; /* of commitments */
    struct tacit_mechanism mechanism;   /* the family's to set, if it noises rewards */
    struct live_block block;
    void *state; /* in the block */
    size_t state_size;
    void *own;                               /* of ops->own_size */
    const struct live_neighbour *neighbours; /* the family's to set, if there are any */
    uint32_t neighbour_count;
    const char *const *sites; /* the same: names of all, if they are known */
    uint64_t deadline_us;     /* as the core said it; it stands until a step says another one */
    uint64_t wake_us;         /* the family's own, beside it */
    struct live_messages out;
    uint8_t *release; /* of this step, where it does not leave in it */
    struct tacit_pull_block *plan;
    uint64_t acknowledged; /* newest release that is known to have arrived, since this start */
};

/* The site's own mechanism, sound. Errors: as of tacit_mechanism_init. */
enum tacit_status live_site_mechanism(const struct live_site_config *config,
                                      struct tacit_mechanism *mechanism);

/* What a core calls the event. Requires: one of LIVE_SITE_PLAN_EVENTS, or OFFER. */
enum tacit_event_kind live_event_kind(const struct live_site_event *event);

/* The reward of a REWARD, on the mechanism's scale. */
struct tacit_reward live_event_reward(const struct live_site *site,
                                      const struct live_site_event *event);

/* A message leaves; it is encoded, so it may change then. */
void live_site_send(struct live_site *site, const void *message);

/* The same, and these bytes are the ledger's row of a release: they are kept as they go out, and go
 * out as they are kept. release: its number, price, and how many numbers were drawn. */
void live_site_reveal(struct live_site *site, const void *message,
                      const struct live_site_release *release, struct live_site_update *update);

/* A release was drawn and charged, which leaves as this message, later or never: the row alone, in
 * the write that keeps the state. */
void live_site_keep(struct live_site *site, const void *message,
                    const struct live_site_release *release, struct live_site_update *update);

/* The same, for a row that is no message: room for its bytes, which the caller fills. NULL: memory;
 * the daemon stops. */
uint8_t *live_site_write(struct live_site *site, const struct live_site_release *release,
                         size_t size, struct live_site_update *update);

/* This release has arrived, or is not wanted, and all before it. */
void live_site_settle(struct live_site *site, uint64_t number, struct live_site_update *update);

/* This plan replaces the one before. Requires: at most as many blocks as there are arms. */
void live_site_plan(struct live_site *site, const struct tacit_pull_block *plan, uint32_t count,
                    struct live_site_update *update);

/* ---- Hubs ------------------------------------------------------------------------------------ */

#define LIVE_NOTE_BYTES 512u

struct live_hub {
    const struct live_hub_ops *ops;
    const struct live_hub_config *config;
    struct live_room room;   /* of what the family needs; freed with the hub */
    struct live_shape shape; /* as a site's */
    uint8_t domain[TACIT_SHA256_BYTES];
    bool keeps_nothing; /* the family's to set: the sites judge for themselves */
    void *state;        /* NULL: it keeps nothing */
    size_t state_size;
    void *own;
    struct live_messages out;
    uint64_t deadline_us; /* as the core said it last */
    char note[LIVE_NOTE_BYTES];
};

/* What sites are expected to noise with. */
struct tacit_mechanism live_hub_mechanism(const struct live_hub_config *config);

/* What that costs a reward: as live_hub_ops.epsilon_nano. */
uint64_t live_hub_epsilon_nano(const struct live_hub_config *config);

/* A message leaves. false: not now; somebody will ask. */
bool live_hub_send(struct live_hub *hub, const void *message);

/* For the log: what happened, as printf. */
void live_hub_note(struct live_hub *hub, struct live_hub_update *update, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#endif
