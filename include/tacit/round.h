/* Round: what messages of all protocols have in common whose sites commit to what they draw, are
 * granted it, and report it in rounds that a hub leads (src/proto/round/PROTOCOL.md). */
#ifndef TACIT_ROUND_H
#define TACIT_ROUND_H
#include "tacit/base.h"
#include "tacit/commit.h"

/* Of protocols that have no others. */
enum tacit_round_kind {
    TACIT_ROUND_HELLO,  /* site -> hub: "I know the order of `round`; what now?" */
    TACIT_ROUND_ORDER,  /* hub -> sites: what a round asks for, or the last word */
    TACIT_ROUND_REPORT, /* site -> hub: what it released */
    TACIT_ROUND_COMMIT, /* site -> hub: "may the release of `round` leave?" */
    TACIT_ROUND_GRANT,  /* hub -> site: it may */
    TACIT_ROUND_REFUSAL /* hub -> site: another one was granted */
};

/* A protocol's message has these members, and its own word for a round. With grants (commit is NULL
 * without): COMMIT: commitment and previous. GRANT: what is granted. REFUSAL: the commitment that
 * was granted instead. REPORT: previous and salt. HELLO: the last one that was granted. */
#define TACIT_ROUND_MEMBERS(number)                                                                \
    uint32_t from;   /* site, or TACIT_HUB */                                                      \
    uint32_t to;     /* site, TACIT_HUB or TACIT_EVERYONE */                                       \
    uint32_t number; /* HELLO: the last order known in this term, 0 for none; else from 1 */       \
    uint32_t seen;   /* ORDER to one site: last round of its reports that the hub holds; else 0 */ \
    uint64_t run_id;                                                                               \
    uint64_t term; /* of the sender; 0: the first */                                               \
    const struct tacit_commit *commit;                                                             \
    bool last;   /* ORDER: no round follows */                                                     \
    bool closed; /* GRANT: the round needs no report any more; another order stands */             \
    bool forgot; /* REFUSAL: the grantor knows nothing of what the question follows */

struct tacit_round_message {
    TACIT_ROUND_MEMBERS(round)
};

/* A site's view has these, with its own word for a round; pointers are valid until its next step.
 */
#define TACIT_ROUND_VIEW_MEMBERS(round, draw_round, release_round)                                 \
    uint32_t round;          /* of the last order accepted; 0: none yet */                         \
    uint32_t draw_round;     /* last one of this term whose sums were noised; 0: none */           \
    uint32_t release_round;  /* last one that may be used; behind it while a draw waits */         \
    bool waiting;            /* no open plan, and not at the horizon */                            \
    bool last;               /* the order said that no round follows */                            \
    bool finished;           /* T pulls were played */                                             \
    bool releasing;          /* all rewards are here, and the entropy source failed */             \
    bool halted;             /* a release was refused, or the hub has seen more than this state    \
                                knows; for good */                                                 \
    bool reported;           /* the hub said that it holds the report of this round */             \
    bool committed;          /* a release is drawn and waits for its grant */                      \
    bool blocked;            /* the hub has granted another one instead, .. */                     \
    bool forgotten;          /* .. or knows nothing of a grant that it gave */                     \
    const uint8_t *head;     /* with grants: the last commitment that was granted; else NULL */    \
    uint64_t horizon;        /* T, as it was extended */                                           \
    uint64_t pull_count;     /* pulls acknowledged so far, planned and others */                   \
    uint64_t term;           /* 0: the first */                                                    \
    uint64_t draw_number;    /* of the newest draw: its round, but larger than all before in later \
                                terms; 0: none */                                                  \
    uint64_t release_number; /* of the newest draw that may be used; 0: none */                    \
    const struct tacit_ledger *ledger;

struct tacit_ledger;
struct tacit_round_view {
    TACIT_ROUND_VIEW_MEMBERS(round, draw_round, release_round)
};

/* So has a hub's. */
#define TACIT_ROUND_HUB_VIEW_MEMBERS(round)                                                        \
    uint32_t round;           /* of the order that stands; 0: none yet */                          \
    uint32_t reports_missing; /* of the present round */                                           \
    uint32_t report_count;    /* received in it */                                                 \
    uint32_t covered_count;   /* sites whose sums are in these reports */                          \
    bool finished;            /* the last order was given */                                       \
    bool overdue;             /* the deadline is over, but the quorum is not there */              \
    uint64_t term;            /* 0: the first */                                                   \
    const uint64_t *received; /* A: who has reported in the present round */                       \
    const uint32_t *seen;     /* A: last round whose report is held from each site */              \
    const uint64_t *flagged;  /* A: who spoke from two states; NULL without grants */              \
    const uint64_t *ahead;    /* A: who follows a grant that this state never gave: it is an old   \
                               * one, or they do not say what is true; NULL without grants */

struct tacit_round_hub_view {
    TACIT_ROUND_HUB_VIEW_MEMBERS(round)
};
/* Both names of it in a protocol's own view. */
#define TACIT_ROUND_HUB_VIEW(round)                                                                \
    union {                                                                                        \
        struct tacit_round_hub_view desk;                                                          \
        struct {                                                                                   \
            TACIT_ROUND_HUB_VIEW_MEMBERS(round)                                                    \
        };                                                                                         \
    };
#endif
