/* Round: what messages of all protocols have in common whose sites commit to what they draw, are
 * granted it, and report it in rounds that a hub leads (src/proto/round/PROTOCOL.md). */
#ifndef TACIT_ROUND_H
#define TACIT_ROUND_H
#include "tacit/base.h"
#include "tacit/commit.h"

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
#endif
