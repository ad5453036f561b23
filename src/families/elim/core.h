/* What a site runs of epoch elimination: over a star an agent, in a network of peers a peer with
 * its table. It lies in one block together with the announcement that it was made of, and that
 * block is what the store keeps. */
#ifndef TACIT_ELIM_CORE_H
#define TACIT_ELIM_CORE_H
#include "tacit/elim.h"
#include "../../live/changes.h"
#include "tacit/wire_elim.h"

struct elim_core;

/* Would all that a site says in this run fit into the payloads of the bus? */
bool elim_core_fits(const struct tacit_wire_elim_run *run);

/* What the site itself says: its noise, its budget, its patience. */
struct elim_core_site {
    const char *federation;
    struct tacit_mechanism mechanism;
    uint64_t budget_nano;
    uint64_t resend_after_us;
    uint32_t epoch_max; /* 0: no limit */
    uint64_t pulls_max; /* the same */
};

/* A core at its beginning. Errors: TACIT_MALFORMED (these bytes are no announcement of a run that
 * this site could be a part of, or what it would have to say does not fit), TACIT_MEMORY. */
enum tacit_status elim_core_new(struct elim_core **core, const struct elim_core_site *site,
                                const uint8_t *announcement, size_t announcement_size);

/* A core from the block that was kept. Errors: TACIT_MALFORMED, TACIT_MEMORY. */
enum tacit_status elim_core_restore(struct elim_core **core, const struct elim_core_site *site,
                                    const void *block, size_t size);
void elim_core_free(struct elim_core *core); /* NULL is allowed */

const void *elim_core_block(const struct elim_core *core, size_t *size);
const struct tacit_wire_elim_run *elim_core_run(const struct elim_core *core);

/* What the run's announcement said. */
const struct tacit_wire_agreement *elim_core_agreement(const struct elim_core *core);

/* The log of a run, as daemons show it. entries: room for TACIT_ELIM_CHANGES_MAX. Ensures: the
 * result is their number. */
uint32_t elim_changes_tell(const struct tacit_elim_change *changes, uint32_t count,
                           struct live_control_entry *entries);

/* Was it made of this very announcement? */
bool elim_core_is_of(const struct elim_core *core, const uint8_t *announcement, size_t size);

/* As tacit_elim_agent_step, tacit_elim_peer_step. */
enum tacit_status elim_core_step(struct elim_core *core, const struct tacit_elim_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct tacit_elim_update *update);

/* As tacit_elim_agent_refuse. Errors: TACIT_UNEXPECTED also among peers. */
enum tacit_status elim_core_refuse(struct elim_core *core, uint32_t arm,
                                   const struct tacit_elim_event *now,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_elim_update *update);

void elim_core_look(const struct elim_core *core, struct tacit_elim_agent_view *view);

/* C(r) that this epoch's judgement will have if all report: what the numbers of the run say. 0:
 * there is no order, or nothing more to judge. */
double elim_core_radius(const struct elim_core *core);

/* Over a network of peers: false over a star. */
bool elim_core_look_at_peer(const struct elim_core *core, struct tacit_elim_peer_view *view);

/* Does it judge by exact bounds? Then *rounds: how many it has judged. */
bool elim_core_judges_exactly(const struct elim_core *core, uint32_t *rounds);

/* tacit_elim_peer_interval. Requires: it judges exactly. */
struct tacit_bounds_interval elim_core_interval(const struct elim_core *core, uint32_t arm,
                                                double confidence);

/* The newest release: of a peer tacit_elim_peer_release, over a star tacit_elim_agent_draw.
 * Requires: over a star, that it waits for its grant. */
struct tacit_elim_message elim_core_release(const struct elim_core *core);
#endif
