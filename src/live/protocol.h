/* A member of a run as its family sees it: what protocol.c (a site) and protocol_hub.c (a hub) have
 * made for it, and what its step may call. Announcement, agreement, joining, what is kept, messages
 * and what is to be carried out are done there, once; the family has the rest (site.h, hub.h). */
#ifndef TACIT_LIVE_PROTOCOL_H
#define TACIT_LIVE_PROTOCOL_H
#include "hub.h"
#include "room.h"
#include "site.h"
#include "tacit/commit.h"
#include "tacit/privacy.h"
#include "tacit/round.h"
#include "tacit/topo.h"

/* ---- What a family fills in ------------------------------------------------------------------ */

/* The functions of a core whose configuration is the member `core` of the family's own struct:
 * LIVE_CORE(tacit_vote_site, struct vote_site) makes tacit_vote_site_live. */
#define LIVE_CORE(name, type)                                                                      \
    static enum tacit_status name##_live_init(void *state, const void *own)                        \
    {                                                                                              \
        return name##_init(state, &((const type *)own)->core);                                     \
    }                                                                                              \
    static size_t name##_live_size(const void *own)                                                \
    {                                                                                              \
        return name##_size(&((const type *)own)->core);                                            \
    }                                                                                              \
    static enum tacit_status name##_live_check(const void *state, size_t size, const void *own)    \
    {                                                                                              \
        return name##_check(state, size, &((const type *)own)->core);                              \
    }                                                                                              \
    static const struct live_core name##_live = {sizeof(type), name##_live_size, name##_live_init, \
                                                 name##_live_check}

/* Snapshots of a hub's core with such a configuration: live_hub_ops.snapshot and .restore, as
 * name_live_snapshot and name_live_restore. */
#define LIVE_SNAPSHOTS(name, type)                                                                 \
    static size_t name##_live_snapshot(const struct live_hub *hub, uint8_t *bytes, size_t room)    \
    {                                                                                              \
        return name##_snapshot(hub->state, bytes, room);                                           \
    }                                                                                              \
    static enum tacit_status name##_live_restore(struct live_hub *hub, const uint8_t *bytes,       \
                                                 size_t size)                                      \
    {                                                                                              \
        return name##_restore(hub->state, &((const type *)hub->own)->core, bytes, size);           \
    }

/* Members of live_site_ops and live_hub_ops that are functions of the same name in every family. */
#define LIVE_SITE_FUNCTIONS                                                                        \
    .configure = site_configure, .step = site_step, .fill_view = site_fill_view,                   \
    .promise = site_promise
#define LIVE_HUB_FUNCTIONS                                                                         \
    .parameters = hub_parameters, .too_large = hub_too_large, .describe = hub_describe,            \
    .configure = hub_configure, .step = hub_step, .fill_view = hub_fill_view

/* ---- Messages -------------------------------------------------------------------------------- */

/* Encoded, of one step: they stay where they are until the next one. All zero is empty. */
struct live_messages {
    struct live_message *items;
    size_t count;
    size_t capacity;
    struct live_room room; /* of their bytes, and of what else lives as long */
};

/* One more that leaves; it is encoded, so it may change then. It stands where the next one is
 * added. NULL: out of memory; the log says so, and whoever needs the message says it again later.
 */
struct live_message *live_messages_add(struct live_messages *list,
                                       const struct tacit_wire_table *table,
                                       const struct tacit_wire_shape *shape, const void *message);

/* Frees what they hold, too; the list may be used again. */
void live_messages_clear(struct live_messages *list);

/* Would the largest message of its kind fit into a payload of the bus? */
bool live_message_fits(const struct tacit_wire_protocol *wire, const struct tacit_wire_shape *shape,
                       const void *largest);

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
    const void *run;                    /* what that says, as the protocol's struct of runs */
    struct tacit_wire_shape shape;      /* dimension: the family's to set, if it has one */
    uint8_t domain[TACIT_SHA256_BYTES]; /* of commitments */
    struct tacit_mechanism mechanism;   /* the family's to set, if it noises rewards */
    unsigned char *block;               /* what is kept */
    size_t block_size;
    void *state; /* in the block */
    size_t state_size;
    void *own;                                     /* of ops->core->own_size */
    const struct tacit_wire_neighbour *neighbours; /* the family's to set, if there are any */
    uint32_t neighbour_count;
    const char *const *sites; /* the same: names of all, if they are known */
    uint64_t deadline_us;     /* as the core said it; it stands until a step says another one */
    uint64_t wake_us;         /* the family's own, beside it */
    struct live_messages out;
    struct tacit_pull_block *plan;
    uint64_t acknowledged; /* newest release that is known to have arrived, since this start */
};

/* The site's own mechanism, sound. Errors: as of tacit_mechanism_init. */
enum tacit_status live_site_mechanism(const struct live_site_config *config,
                                      struct tacit_mechanism *mechanism);

/* Does the run reckon with a larger epsilon per reward than this mechanism draws with? As an
 * objection; or NULL. */
const char *live_site_reckoning(const struct live_site *site);

/* Why it is halted: the draw of this number does not fit into what is left of the ledger, or others
 * know more of this site than its state. */
const char *live_site_halt(const struct live_site *site, struct tacit_ledger ledger,
                           uint64_t number);

/* What such a site shows: all but its arms. trouble: why it is halted or blocked, for people. */
struct live_site_view live_site_show(const struct live_site *site,
                                     const struct tacit_round_view *play);

/* What is promised of rewards that are noised so and leave as this. */
void live_site_promise(const struct live_site_config *config, enum tacit_leaving leaving,
                       struct tacit_promise *promise);

/* The site has these neighbours, which have to stay. Result: their agents, in the site's room;
 * NULL: out of memory. Requires: it has none yet. */
const uint32_t *live_site_set_neighbours(struct live_site *site,
                                         const struct tacit_wire_neighbour *neighbours,
                                         uint32_t count);

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
void live_site_record(struct live_site *site, const void *message,
                      const struct live_site_release *release, struct live_site_update *update);

/* The same, for a row that is no message: room for its bytes, which the caller fills. NULL: memory;
 * the daemon stops. */
uint8_t *live_site_write(struct live_site *site, const struct live_site_release *release,
                         size_t size, struct live_site_update *update);

/* What a hub's word to this site says of its reports: which it holds last (an order's `seen`), or
 * that none is wanted of a grant. That row of the outbox is done, and all before it. released: the
 * newest release of this term, by its round and by its number. */
void live_site_on_answer(struct live_site *site, const struct tacit_round_message *said,
                         uint32_t released, uint64_t number, struct live_site_update *update);

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
    struct live_room room;         /* of what the family needs; freed with the hub */
    struct tacit_wire_shape shape; /* as a site's */
    uint8_t domain[TACIT_SHA256_BYTES];
    bool keeps_nothing; /* the family's to set: the sites judge for themselves */
    void *state;        /* NULL: it keeps nothing */
    size_t state_size;
    void *own;
    uint64_t *everybody;            /* the set of all sites */
    struct live_hub_helper *helper; /* hub_helper.h; NULL: one aggregator */
    struct live_messages out;
    uint64_t deadline_us; /* as the core said it last */
    char note[LIVE_NOTE_BYTES];
};

/* What sites are expected to noise with. */
struct tacit_mechanism live_hub_mechanism(const struct live_hub_config *config);

/* What that costs a reward: as live_hub_ops.epsilon_nano. */
uint64_t live_hub_epsilon_nano(const struct live_hub_config *config);

/* Whom this site meets in the graph, ascending. NULL: out of memory. */
struct tacit_wire_neighbour *live_hub_neighbours(const struct live_hub_config *config,
                                                 const struct tacit_graph *graph, uint32_t site,
                                                 struct live_room *room);

/* For live_hub_ops.describe: who meets whom. */
void live_hub_describe_edges(const struct live_hub_config *config, const struct tacit_graph *graph,
                             FILE *out);

/* What a core calls the event. said_term: of the message, which gets the core's term, as its
 * envelope said; NULL: there is none. */
struct tacit_event live_hub_core_event(const struct live_hub *hub,
                                       const struct live_hub_event *came, uint64_t term,
                                       const void *message, uint64_t *said_term);

/* What such a hub shows of its rounds, and of two aggregators; asked are all sites. */
struct live_hub_view live_hub_show(const struct live_hub *hub,
                                   const struct tacit_round_hub_view *desk);

/* A message leaves. false: not now; somebody will ask. */
bool live_hub_send(struct live_hub *hub, const void *message);

/* For the log: what happened, as printf. */
void live_hub_note(struct live_hub *hub, struct live_hub_update *update, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#endif
