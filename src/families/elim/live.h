/* Epoch elimination as the daemons drive it: live.c is a site, live_hub.c a hub. */
#ifndef TACIT_ELIM_LIVE_H
#define TACIT_ELIM_LIVE_H
#include "../../live/changes.h"
#include "../../live/protocol.h"
#include "../../live/site_helper.h"
#include "tacit/elim.h"
#include "tacit/wire_elim.h"

extern const struct live_site_ops elim_site_ops;
extern const struct live_hub_ops elim_hub_ops;

/* What a site has beside its state: an agent over a star, else a peer with its table behind it. */
struct elim_site {
    const struct tacit_wire_elim_run *run;
    struct live_site_trust trust;
    struct tacit_elim_agent_config agent;
    struct tacit_elim_peer_config peer; /* in a network */
    size_t core_size;                   /* of the state without the table */
    uint64_t *missing;
    uint64_t *nobody;
    uint64_t *itself;      /* W(A): this site alone */
    uint64_t *flagged;     /* W(A): sites that spoke from two states */
    uint64_t *ahead;       /* W(A): sites that show a grant that this state never gave */
    uint64_t *grantors;    /* W(A): sites whose grant is waited for */
    bool is_beyond_policy; /* an order was refused that is of more rounds than policy.rounds_max */
    uint64_t progress_sent_us;
    bool has_sent_end; /* since this start */
    char *trouble;     /* TROUBLE_BYTES */
    double *lowers;    /* K */
    double *uppers;
    struct live_control_entry *changes; /* room for all, for showing */
    uint32_t noted_rounds;              /* after so many they were noted */
    bool plan_is_held;   /* a peer that has released nothing yet, and has not asked around */
    uint64_t answers_us; /* until then */
    /* In this step: */
    const struct live_site_event *event;
    struct tacit_elim_message *heard; /* NULL: none */
    uint32_t happened;
    struct tacit_elim_update update; /* of the core, .. */
    struct tacit_elim_message drawn; /* .. and what it drew */
};

/* Would all that a site says in this run fit into the payloads of the bus? */
bool elim_fits(const struct tacit_wire_elim_run *run);

/* As tacit_elim_agent_step, tacit_elim_peer_step. */
enum tacit_status elim_site_feed(const struct live_site *site, const struct tacit_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct tacit_elim_update *update);
void elim_site_view(const struct live_site *site, struct tacit_elim_agent_view *view);

/* The newest release: of a peer tacit_elim_peer_release, over a star tacit_elim_agent_draw.
 * Requires: over a star, that it waits for its grant. */
struct tacit_elim_message elim_site_release(const struct live_site *site);

/* The operator's changes of a run, as daemons show them. entries: room for TACIT_ELIM_CHANGES_MAX.
 * Ensures: the result is their number. */
uint32_t elim_changes_show(const struct tacit_elim_change *changes, uint32_t count,
                           struct live_control_entry *entries);
#endif
