/* Core: what the cores of all families have in common. A core is a function of (state, event,
 * entropy) that fills an update; its event, update and messages are its family's own types, built
 * from the words here. The driver carries an update out in this order: persist, send, pull, set the
 * timer. */
#ifndef TACIT_CORE_H
#define TACIT_CORE_H
#include "tacit/base.h"

/* ---- Addresses: an agent's index, or one of these -------------------------------------------- */

#define TACIT_HUB UINT32_MAX              /* the hub */
#define TACIT_EVERYONE (UINT32_MAX - 1)   /* a broadcast to all agents */
#define TACIT_NEIGHBOURS (UINT32_MAX - 2) /* a broadcast to the sender's neighbours */

/* ---- Events ---------------------------------------------------------------------------------- */

enum tacit_event_kind {
    TACIT_EVENT_START,  /* after init, or after the state was restored */
    TACIT_EVENT_REWARD, /* `count` planned pulls of `arm` brought `sum`, or a training its result */
    TACIT_EVENT_EXPLOITED, /* `count` pulls were played outside the plan */
    TACIT_EVENT_RECEIVE,   /* a message came */
    TACIT_EVENT_TIMEOUT,   /* the deadline of an earlier update has come */
    TACIT_EVENT_OFFER      /* a decision is asked for, and its contexts come with the request */
};

/* What the planned pulls of one arm brought. */
struct tacit_reward {
    uint32_t arm;
    uint64_t count;
    union tacit_sum sum; /* on the mechanism's scale */
};

/* What the training came to that was asked for. */
struct tacit_training {
    uint32_t round;
    const double *difference; /* d numbers; NULL: there is none, and nothing is spent */
};

/* K contexts of d numbers each, row by row; valid during the step. */
struct tacit_offer {
    uint32_t arm_count;
    uint32_t dimension;
    const double *contexts;
};

struct tacit_aggregators;
struct tacit_entropy;
struct tacit_row_signer;

/* What is heard is a family's own struct, behind a pointer. */
struct tacit_event {
    uint64_t now_us; /* the driver's clock; never decreases, of neighbours within an incarnation */
    enum tacit_event_kind kind;
    union {
        struct tacit_reward reward;
        struct tacit_training training; /* REWARD, of who trains */
        uint64_t exploited_count;
        const void *message;
        uint64_t term; /* START: a later one than the state's begins here; 0: none does */
    } as;
    const struct tacit_entropy *keys; /* for salts, apart from the noise; NULL: the same source */
    /* With two aggregators. */
    const struct tacit_aggregators *aggregators; /* sites: which */
    const uint64_t *dropped; /* hubs, W(A): their reports are not taken, and no round waits for
                              * them; NULL: nobody's */
    const struct tacit_row_signer *signer; /* of a peer whose configuration has them */
};

/* ---- Plans ----------------------------------------------------------------------------------- */

/* "Play this arm so many times before you ask again." A plan is a list of them, in arm order. */
struct tacit_pull_block {
    uint32_t arm;
    uint64_t count;
};

/* ---- What happened in a step: a set of these, for drivers --------------------------------------
 */

#define TACIT_DREW 1u        /* a release was drawn and charged, and waits for its grant */
#define TACIT_WAS_ORDERED 2u /* the first order of a state that had none stands */
#define TACIT_BEGAN_TERM 4u
#define TACIT_ENDED 8u         /* nothing is learnt any more, for good or until a term begins */
#define TACIT_WANTS_TOTALS 32u /* a hub with two aggregators: the round has its reports */
#define TACIT_CLOSED_ROUND 16u /* a hub: what it knows of the arms is new */
/* .. with two aggregators */
#define TACIT_GRANTED_DRAW 512u    /* a draw was granted that had not been before */
#define TACIT_COUNTED_REPORT 1024u /* the report that came is counted */

/* ---- Updates --------------------------------------------------------------------------------- */

#define TACIT_UPDATE_MEMBERS                                                                       \
    bool persist; /* the state changed in a way that must survive: make it durable first */        \
    bool send;                                                                                     \
    bool plan_is_void;   /* what is left of the plan before is not wanted any more */              \
    uint32_t happened;   /* TACIT_DREW and so on */                                                \
    uint32_t plan_count; /* > 0: a new plan, which replaces the one before */                      \
    const struct tacit_pull_block *plan; /* in arm order; valid until the next step */             \
    uint64_t deadline_us;                /* TACIT_NEVER: no timer */

struct tacit_update {
    TACIT_UPDATE_MEMBERS
};
/* A family's own begins with this; the message is there if `send`. */
#define TACIT_UPDATE(type)                                                                         \
    union {                                                                                        \
        struct tacit_update core;                                                                  \
        struct {                                                                                   \
            TACIT_UPDATE_MEMBERS                                                                   \
        };                                                                                         \
    };                                                                                             \
    type message;
#endif
