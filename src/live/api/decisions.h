/* Serves a core's plan one decision at a time: in random order, so that the time of day never
 * confounds the arms; several at once; past arms that are unavailable now; sticky by unit. Pure
 * bookkeeping in memory: no clock, no I/O; what must survive is told to the caller row by row, who
 * makes it durable before it answers. */
#ifndef TACIT_LIVE_DECISIONS_H
#define TACIT_LIVE_DECISIONS_H
#include "tacit/elim.h"
#include "../store/store.h"

#define LIVE_KEY_BYTES_MAX 128u /* of a key and of a unit */
#define LIVE_EXPIRED_MAX 256u   /* changes in one call of live_decisions_expire */

enum live_decision_kind {
    LIVE_DECISION_PLANNED,  /* its reward enters the epoch's sum */
    LIVE_DECISION_EXPLOIT,  /* beside the plan: the best noised arm; its reward enters nothing */
    LIVE_DECISION_COMMITTED /* the protocol is over here: the last arm, or after the horizon */
};

/* A row's deadline_s is when its state ends: an open decision expires, a closed one is forgotten.
 */
enum live_decision_state { LIVE_DECISION_OPEN, LIVE_DECISION_REWARDED, LIVE_DECISION_EXPIRED };

struct live_decisions;

struct live_decisions_config {
    uint32_t arm_count;
    uint32_t open_max;   /* decisions open at once */
    uint32_t units_max;  /* sticky units known at once; 0: no limit */
    uint64_t deadline_s; /* a planned decision without a reward returns its pull after this */
    uint64_t remember_s; /* closed decisions and keys are remembered this long after they closed */
};

/* Errors: NULL: memory. Requires: 0 < arm_count <= TACIT_ARMS_MAX, open_max > 0. */
struct live_decisions *live_decisions_new(const struct live_decisions_config *config);
void live_decisions_free(struct live_decisions *decisions);

/* Puts back a row or a unit at start, before the first plan; rows in order of id cost O(log n)
 * each. Errors, nothing changed: TACIT_MALFORMED (out of range, or contradicts another),
 * TACIT_MEMORY.
 *
 * Memory: everything is bounded by open_max, by what is remembered, and by units_max. Units are put
 * back from the one that got its arm longest ago to the latest. */
enum tacit_status live_decisions_restore(struct live_decisions *decisions,
                                         const struct live_decision_row *row);
enum tacit_status live_decisions_restore_unit(struct live_decisions *decisions, const char *unit,
                                              uint32_t arm);

/* The core's plan as it stands: pulls of each arm whose reward the core still lacks, open decisions
 * included. Called at start and whenever an update brings a plan, with count 0 when there is none.
 * Where an arm has more open planned decisions than the plan has pulls, the newest of them become
 * EXPLOIT (told through `changed`, may be NULL). Cost: O(K log K). */
void live_decisions_set_plan(struct live_decisions *decisions, const struct tacit_pull_block *plan,
                             uint32_t count,
                             void (*changed)(void *context, const struct live_decision_row *row),
                             void *context);

struct live_decision_request {
    const char *key;  /* idempotency key or NULL: the same key gets the same answer */
    const char *unit; /* sticky: the same unit keeps its arm while that is active, and the unit is
                         not forgotten (units_max); or NULL */
    const uint64_t *unavailable; /* arms that cannot be played now, TACIT_BITS_WORDS(K); or NULL */
};

/* What the core says about exploitation right now. */
struct live_fallback {
    const uint64_t *active;  /* arms still in */
    const uint32_t *ranking; /* active arms, best noised first */
    uint32_t count;
    bool is_committed; /* decisions beside the plan are COMMITTED, not EXPLOIT */
};

struct live_decision_answer {
    struct live_decision_row row; /* texts belong to the decisions; valid until the next call */
    bool is_new;                  /* false: the key was known; nothing to store */
    bool unit_is_new;             /* store (unit, arm) */
    /* Beyond units_max the unit that got its arm longest ago is forgotten: drop it. Or NULL. */
    const char *unit_forgotten;
};

/* Makes a decision. The arm is drawn among the unserved pulls of available arms, each pull equally
 * likely. Errors: TACIT_INVALID (key or unit empty or too long, no available active arm),
 * TACIT_MEMORY (too many open), TACIT_ENTROPY; nothing changed. */
enum tacit_status live_decisions_decide(struct live_decisions *decisions,
                                        const struct live_decision_request *request,
                                        const struct live_fallback *fallback, uint64_t now_s,
                                        const struct tacit_entropy *entropy,
                                        struct live_decision_answer *answer);

enum live_reward_answer {
    LIVE_REWARD_ACCEPTED, /* first time: give it to the core if the row is PLANNED; store the row */
    LIVE_REWARD_REPEATED, /* known already; nothing changes */
    LIVE_REWARD_LATE,     /* the deadline returned the pull; the reward enters nothing */
    LIVE_REWARD_UNKNOWN   /* no such id, or forgotten */
};

/* A reward for an id: late, twice, out of order, or never. On ACCEPTED *row is the closed decision,
 * else it is untouched. A decision past its deadline is LATE only after live_decisions_expire saw
 * it.
 */
enum live_reward_answer live_decisions_reward(struct live_decisions *decisions, uint64_t id,
                                              uint64_t now_s, struct live_decision_row *row);

/* Closes what is past its deadline (its pull returns to the plan) and forgets what closed long ago.
 * Each change is told: is_forgotten: drop the row, else store it. False: there is more to do, call
 * again; one call makes LIVE_EXPIRED_MAX changes at most, so that callers in between do not wait
 * long. Cost: O(changes log n). */
bool live_decisions_expire(struct live_decisions *decisions, uint64_t now_s,
                           void (*changed)(void *context, const struct live_decision_row *row,
                                           bool is_forgotten),
                           void *context);

struct live_decisions_view {
    uint64_t next_id;
    uint32_t open_planned;
    uint32_t open_other;
    uint64_t unserved;      /* pulls of the plan that nobody has been given */
    uint64_t next_expiry_s; /* UINT64_MAX: none */
};
void live_decisions_look(const struct live_decisions *decisions, struct live_decisions_view *view);
/* At start: ids go on from here, or from behind the last restored row, whichever is later. */
void live_decisions_set_next_id(struct live_decisions *decisions, uint64_t next_id);
#endif
