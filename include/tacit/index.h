/* The index family: baselines that are not private, each one learner with an index (tacit/arms.h)
 * as a core. Alone: every agent has such a core and T pulls of its own. Pooled: one core sees every
 * reward at once and makes all M T pulls; agents take turns within a slot. Both are the same core
 * with another horizon. Nothing is ever sent.
 *
 * Loops that need neither persistence nor a plan served by others may use the learner directly:
 * same words, same choices (src/proto/index/NOTES.md). */
#ifndef TACIT_INDEX_H
#define TACIT_INDEX_H
#include "tacit/arms.h"
#include "tacit/base.h"
#include "tacit/core.h"
#include "tacit/random.h"

struct tacit_index_config {
    enum tacit_arms_kind kind;
    uint32_t arm_count;
    uint64_t horizon;         /* pulls of this learner: T alone, M T pooled */
    struct tacit_scale scale; /* of the rewards; see struct tacit_arms_config */
    bool bounded;
    uint64_t retry_after_us; /* > 0: pause after entropy that failed */
};

struct tacit_index_event {
    uint64_t now_us; /* the driver's clock; never decreases */
    enum tacit_event_kind kind;
    union {
        struct tacit_reward reward;
        uint64_t exploited_count;
    } as;
};

struct tacit_index_update {
    bool persist;
    uint32_t plan_count;                 /* 0 or 1: a new plan, which replaces the one before */
    const struct tacit_pull_block *plan; /* valid until the next step */
    uint64_t deadline_us;                /* TACIT_NEVER: no timer */
};

struct tacit_index_agent; /* opaque, relocatable */

/* Pointers are valid until the next step. */
struct tacit_index_view {
    bool finished;                   /* `horizon` pulls were played */
    uint64_t pull_count;             /* pulls acknowledged so far, those outside the plan too */
    const struct tacit_arms *arms;   /* estimates: tacit_arms_pulls, …_mean, …_best */
    struct tacit_pull_block planned; /* what is left of the plan; count 0: none */
    uint32_t exploit_arm;            /* best empirical mean, lowest index on ties */
};

/* Bytes of a state: O(K). Errors: 0 if the configuration is not valid. */
size_t tacit_index_agent_size(const struct tacit_index_config *config);

/* Errors: TACIT_INVALID, *agent untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_index_agent_init(struct tacit_index_agent *agent,
                                         const struct tacit_index_config *config);

/* Are these bytes, put back from where they were persisted, a state of this configuration?
 * Errors: TACIT_MALFORMED. Cost: O(K). */
enum tacit_status tacit_index_agent_check(const struct tacit_index_agent *agent, size_t size,
                                          const struct tacit_index_config *config);

/* One step. A reward that the plan did not ask for, or that no such number of rewards can have
 * brought, is TACIT_INVALID and changes nothing; so is a message (TACIT_UNEXPECTED). TACIT_ENTROPY:
 * with persist the reward was taken in but no plan was made (the next timeout tries again), without
 * it nothing happened (say the reward again).
 * Cost: that of tacit_arms_take and tacit_arms_next. */
enum tacit_status tacit_index_agent_step(struct tacit_index_agent *agent,
                                         const struct tacit_index_event *event,
                                         const struct tacit_entropy *entropy,
                                         struct tacit_index_update *update);

/* Shows an agent's state without changing it. Cost: O(K). */
void tacit_index_agent_look(const struct tacit_index_agent *agent, struct tacit_index_view *view);
#endif
