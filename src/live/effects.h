/* What a family's site or hub has to carry out after a step, for those who fill an update: it stays
 * where it is until the next step. */
#ifndef TACIT_LIVE_EFFECTS_H
#define TACIT_LIVE_EFFECTS_H
#include "hub.h"
#include "messages.h"
#include "site.h"

/* All zero, but for deadline_us, is none. */
struct live_effects {
    struct live_messages out;
    uint8_t *release;              /* as it leaves; of this step */
    struct tacit_pull_block *plan; /* of the site's own; NULL: it has none */
    uint32_t plan_count_max;
    uint64_t deadline_us; /* as the core said it; it stands until a step says another one */
};

/* Without a plan: 0 arms. Errors: TACIT_MEMORY; whatever it says, live_effects_free is allowed. */
enum tacit_status live_effects_init(struct live_effects *effects, uint32_t arm_count);
void live_effects_free(struct live_effects *effects);

/* A step begins: nothing is to be done, and what the step before said is gone. */
void live_effects_begin(struct live_effects *effects, struct live_site_update *update);
void live_effects_begin_hub(struct live_effects *effects, struct live_hub_update *update);

/* A step has ended: its messages and its deadline. */
void live_effects_end(const struct live_effects *effects, struct live_site_update *update);
void live_effects_end_hub(struct live_effects *effects, struct live_hub_update *update);

/* A release was drawn and charged: room for its bytes, which the caller fills as they leave, of the
 * size that is given. NULL: memory. Without bytes the daemon stops: nothing may leave unwritten. */
uint8_t *live_effects_release(struct live_effects *effects, struct live_site_update *update,
                              const struct live_site_release *release);
/* Its bytes could not be encoded. */
void live_effects_drop_release(struct live_effects *effects, struct live_site_update *update);

/* This plan replaces the one before. Void: the decision has come, and no reward enters a sum any
 * more. Requires: at most as many blocks as the site has arms. */
void live_effects_plan(struct live_effects *effects, struct live_site_update *update,
                       const struct tacit_pull_block *plan, uint32_t count, bool is_void);
#endif
