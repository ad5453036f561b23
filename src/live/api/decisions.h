/* Serves a core's plan one decision at a time: in random order, so that the time of day never
 * confounds the arms; several at once; past arms that are unavailable now; sticky by unit. Pure
 * bookkeeping in memory: no clock, no I/O; what must survive is told to the caller row by row, who
 * makes it durable before it answers.
 *
 * A pull of the plan is a place, and each place is filled once. A reward that does not come in time
 * loses its place: it is given out again, and the old decision enters nothing, whatever comes
 * later. Or, if the site says what a missing reward counts as, each place is filled at a fixed time
 * after its decision, whenever the reward came: then the times of arrival decide nothing. */
#ifndef TACIT_LIVE_DECISIONS_H
#define TACIT_LIVE_DECISIONS_H
#include "tacit/core.h"
#include "tacit/random.h"
#include "../store/store.h"
#include "wait.h"

#define LIVE_KEY_BYTES_MAX 128u /* of a key and of a unit */
#define LIVE_EXPIRED_MAX 256u   /* changes in one call of live_decisions_expire */

enum live_decision_kind {
    LIVE_DECISION_PLANNED,   /* its reward enters the epoch's sum */
    LIVE_DECISION_EXPLOIT,   /* beside the plan: the best noised arm; its reward enters nothing */
    LIVE_DECISION_COMMITTED, /* the protocol is over here: the last arm, or after the horizon */
    LIVE_DECISION_CHOSEN,    /* by its contexts: its reward is learnt, whenever it comes in time */
    LIVE_DECISION_EARLY /* before any run was joined: each arm equally likely; counts nowhere */
};

/* A row's deadline_ms is when its state ends: an open decision loses its place or is settled, a
 * closed one is forgotten. */
enum live_decision_state {
    LIVE_DECISION_OPEN,
    LIVE_DECISION_REWARDED,
    LIVE_DECISION_EXPIRED, /* closed without a reward */
    LIVE_DECISION_LATE,    /* so, and the reward came afterwards */
    LIVE_DECISION_HELD /* its reward has come, and waits for the time at which its place is filled
                        */
};

struct live_decisions;

/* Closed decisions that are remembered elsewhere (live_store_recall). What is forgotten is not
 * found; texts live until the next call. Without functions there are none. */
struct live_decision_memory {
    void *context;
    bool (*by_id)(void *context, struct live_decision_id id, struct live_decision_row *row);
    bool (*by_key)(void *context, const char *key, struct live_decision_row *row);
};

struct live_decisions_config {
    uint32_t arm_count;
    uint32_t open_max;    /* decisions open at once */
    uint32_t units_max;   /* sticky units known at once; 0: no limit */
    uint64_t wait_ms;     /* so long a decision waits for its reward, at first */
    uint64_t wait_max_ms; /* and at most (wait.h) */
    uint64_t remember_ms; /* closed decisions and keys are remembered this long after they closed */
    /* Each place is filled wait_ms after its decision, neither sooner nor later: with the reward if
     * that has come, else with missing_value. The wait does not grow. */
    bool settles;
    double missing_value;
    struct live_decision_memory memory;
    struct tacit_entropy salts; /* of ids */
};

/* Errors: NULL: memory. Requires: 0 < arm_count <= TACIT_ARMS_MAX, open_max > 0, 0 < wait_ms <=
 * wait_max_ms. */
struct live_decisions *live_decisions_new(const struct live_decisions_config *config);
void live_decisions_free(struct live_decisions *decisions);

/* Puts back a row or a unit at start, before the first plan; rows in order of number cost O(log n)
 * each. Errors, nothing changed: TACIT_MALFORMED (out of range, or contradicts another),
 * TACIT_MEMORY.
 *
 * Memory: everything is bounded by open_max, by what is remembered, and by units_max. Units are put
 * back from the one that got its arm longest ago to the latest. */
enum tacit_status live_decisions_restore(struct live_decisions *decisions,
                                         const struct live_decision_row *row);
enum tacit_status live_decisions_restore_unit(struct live_decisions *decisions, const char *unit,
                                              uint32_t arm);
/* The wait, and places that were given out again, as they were kept (see the view). */
void live_decisions_restore_wait(struct live_decisions *decisions, const struct live_wait *wait);
void live_decisions_restore_missed(struct live_decisions *decisions, uint32_t arm, uint64_t count);

/* The core's plan as it stands: pulls of each arm whose reward the core still lacks, open decisions
 * included. Called at start and whenever an update brings a plan, with count 0 when there is none.
 * Where an arm has more open planned decisions than the plan has pulls, the newest of them become
 * EXPLOIT (told through `changed`, may be NULL). Cost: O(K log K). */
void live_decisions_set_plan(struct live_decisions *decisions, const struct tacit_pull_block *plan,
                             uint32_t count,
                             void (*changed)(void *context, const struct live_decision_row *row),
                             void *context);

/* Whatever is open and would enter something loses its place, as at its deadline: a reward that
 * comes is late. Tells each; `changed` calls nothing of these decisions. */
void live_decisions_lose(struct live_decisions *decisions, uint64_t now_ms,
                         void (*changed)(void *context, const struct live_decision_row *row),
                         void *context);

/* A run is over: whatever is open enters nothing any more, and what was counted of places begins
 * anew. */
void live_decisions_end_run(struct live_decisions *decisions,
                            void (*changed)(void *context, const struct live_decision_row *row),
                            void *context);

struct live_decision_request {
    const char *key;  /* idempotency key or NULL: the same key gets the same answer */
    const char *unit; /* sticky: the same unit keeps its arm while that is active, and the unit is
                         not forgotten (units_max); or NULL */
    const uint64_t *unavailable; /* arms that cannot be played now, TACIT_BITS_WORDS(K); or NULL */
    const double
        *contexts; /* one row an arm of `dimension` numbers, as the caller gave it; or NULL */
    uint32_t context_count;
    uint32_t dimension;
    /* Decisions of the caller that are open: counted here, and no more than so many. NULL: nobody
     * counts. It must live for as long as one is open. */
    uint64_t *caller_open;
    uint64_t caller_open_max;
    bool enters_nothing; /* beside the plan, whatever is in it; what was chosen is not kept */
    /* What the protocol made of the contexts: this arm, and what is kept for its reward. */
    bool is_chosen;
    uint32_t choice;
    const uint8_t *kept;
    size_t kept_size;
};

/* Is there an unserved pull that this request may have? Then its arm comes of the plan, unless its
 * unit has one; no ranking is looked at. */
bool live_decisions_has_pull(const struct live_decisions *decisions,
                             const struct live_decision_request *request);

/* What the core says about exploitation right now. A request without a unit that has a pull needs
 * none of it: zeros. */
struct live_fallback {
    const uint64_t *active;  /* arms still in */
    const uint32_t *ranking; /* active arms, best noised first */
    uint32_t count;
    bool is_committed; /* decisions beside the plan are COMMITTED, not EXPLOIT */
    bool is_early;     /* no run was joined: EARLY; each arm of the ranking is as good as another */
};

struct live_decision_answer {
    bool is_chosen;               /* by contexts: .. */
    uint64_t model;               /* .. by this model, .. */
    double probability;           /* .. with this probability; the agent fills them in */
    struct live_decision_row row; /* texts belong to the decisions; valid until the next call */
    bool is_new;                  /* false: the key was known; nothing to store */
    bool unit_is_new;             /* store (unit, arm) */
    /* Beyond units_max the unit that got its arm longest ago is forgotten: drop it. Or NULL. */
    const char *unit_forgotten;
};

/* Makes a decision. The arm is drawn among the unserved pulls of available arms, each pull equally
 * likely. Errors: TACIT_INVALID (key or unit empty or too long, no
 * available active arm), TACIT_MEMORY (too many open, also of the caller), TACIT_ENTROPY; nothing
 * changed. */
enum tacit_status live_decisions_decide(struct live_decisions *decisions,
                                        const struct live_decision_request *request,
                                        const struct live_fallback *fallback, uint64_t now_ms,
                                        const struct tacit_entropy *entropy,
                                        struct live_decision_answer *answer);

enum live_reward_answer {
    LIVE_REWARD_ACCEPTED, /* first time */
    LIVE_REWARD_REPEATED, /* known already; nothing changes */
    LIVE_REWARD_LATE,     /* its place was given out again; the reward enters nothing */
    LIVE_REWARD_UNKNOWN   /* no such id, or forgotten */
};

struct live_reward_outcome {
    enum live_reward_answer answer;
    bool is_changed; /* store the row */
    bool fills;      /* give the reward to the core, now */
    bool wait_grew;
    struct live_decision_row row; /* if is_changed; its texts belong to the decisions */
};

/* A reward for an id: late, twice, out of order, or never. The value is finite. Past its deadline
 * it is late, whether live_decisions_expire has seen it or not; that one ought to be called first.
 */
struct live_reward_outcome live_decisions_reward(struct live_decisions *decisions,
                                                 struct live_decision_id id, double value,
                                                 uint64_t now_ms);

enum live_close_answer {
    LIVE_CLOSE_DONE, /* store *row; a planned one counts as exploited: its place is free again */
    LIVE_CLOSE_REPEATED, /* it was closed without a reward before */
    LIVE_CLOSE_REWARDED, /* too late: it has its reward */
    LIVE_CLOSE_UNKNOWN
};

/* The application says that no reward will come. *row: on DONE only. */
enum live_close_answer live_decisions_close(struct live_decisions *decisions,
                                            struct live_decision_id id, uint64_t now_ms,
                                            struct live_decision_row *row);

enum live_change_kind {
    LIVE_CHANGE_RETURNED, /* store the row; a planned one counts as exploited: its place is free
                           * again
                           */
    LIVE_CHANGE_SETTLED,  /* store the row; its place is filled: give `value` to the core */
    LIVE_CHANGE_FORGOTTEN /* drop the row */
};

struct live_decision_change {
    enum live_change_kind kind;
    const struct live_decision_row *row;
    double value;
};

/* Closes what is past its deadline and forgets what closed long ago; tells each change. False:
 * there is more to do, call again; one call makes LIVE_EXPIRED_MAX changes at most, so that callers
 * in between do not wait long. Cost: O(changes log n). */
bool live_decisions_expire(struct live_decisions *decisions, uint64_t now_ms,
                           void (*changed)(void *context,
                                           const struct live_decision_change *change),
                           void *context);

/* Closed decisions that are still here, and were not handed over. */
uint32_t live_decisions_closed(const struct live_decisions *decisions);
/* Tells the `count` of them that closed first, or as many as there are, to be kept elsewhere. They
 * stay here until live_decisions_handed_over, which tells `count` of those that have not changed
 * since and takes them out: from then on config.memory must find them. False: that was the last. */
void live_decisions_hand_over(struct live_decisions *decisions, uint32_t count,
                              void (*each)(void *context, const struct live_decision_row *row),
                              void *context);
bool live_decisions_handed_over(struct live_decisions *decisions, uint32_t count,
                                void (*each)(void *context, const struct live_decision_row *row),
                                void *context);

/* Calls `each` for the decisions that wait for a reward, oldest first, until it returns false. */
void live_decisions_open(const struct live_decisions *decisions,
                         bool (*each)(void *context, const struct live_decision_row *row),
                         void *context);

struct live_decisions_view {
    uint64_t next_number;
    uint32_t open_planned; /* places that are given out and not filled */
    uint32_t open_other;
    uint64_t unserved;       /* places of the plan that nobody has been given */
    uint64_t next_expiry_ms; /* UINT64_MAX: none */
    /* Since then every place of the plan has been given out at least once, and not all are filled:
     * the round waits for rewards. UINT64_MAX: it does not. */
    uint64_t waits_since_ms;
    uint64_t missed_count; /* places that were given out again */
    struct live_wait wait;
};
void live_decisions_view(const struct live_decisions *decisions, struct live_decisions_view *view);

/* When the oldest of open_planned was made; UINT64_MAX: none. Cost: O(K). */
uint64_t live_decisions_oldest_ms(const struct live_decisions *decisions);

/* Places of an arm that were given out again, in this run. */
uint64_t live_decisions_missed(const struct live_decisions *decisions, uint32_t arm);

/* Of the decisions of the plan that were closed, the share whose reward did not come in time, at
 * that of the active arms where it is largest. Times the range of a reward it bounds the bias of
 * the sums (rewards that are not there might all have been of one kind). pulls: S(r), what each
 * active arm will have been pulled when this plan is done. active: NULL is all arms. Cost: O(K). */
double live_decisions_missed_share(const struct live_decisions *decisions, const uint64_t *active,
                                   uint64_t pulls);
/* At start: numbers go on from here, or from behind the last restored row, whichever is later. */
void live_decisions_set_next_number(struct live_decisions *decisions, uint64_t next_number);
#endif
