/* Round: who grants what to whom (docs/adr/0049). A grantor keeps the head of each of its sites
 * (tacit/commit.h) and which of them do not fit what it knows. It judges what a site shows of its
 * commitments; the protocol around it says so in its own messages. */
#ifndef TACIT_ROUND_GRANTOR_H
#define TACIT_ROUND_GRANTOR_H
#include "tacit/commit.h"

/* Where they lie in the state of the grantor. */
struct round_grantor {
    struct tacit_commit_head *heads; /* A */
    uint64_t *flagged;               /* W(A): who spoke from two states */
    uint64_t *ahead;                 /* W(A): who follows a grant that this state never gave */
    uint32_t site_count;
    bool accepts_first; /* of a later term: what was granted before is forgotten, and what a site
                         shows first is its head. Nothing of before is drawn again, so a false one
                         only harms its own. */
};

/* Words of all three, one behind the other. */
size_t round_grantor_words(uint32_t site_count);
struct round_grantor round_grantor_at(uint64_t *words, uint32_t site_count, bool accepts_first);

/* ORDER: the one that stands; a grantor itself knows of none (desk.h). */
enum round_answer { ROUND_NOTHING, ROUND_GRANT, ROUND_REFUSAL, ROUND_ORDER };

/* What to make of a message. Nothing of it is used unless all is well and nothing is refused. */
struct round_verdict {
    enum tacit_status status; /* TACIT_FORKED: the site speaks from two states, and is flagged;
                                 TACIT_ROLLBACK: this state is an old one, or the site does not say
                                 what is true: it is marked as ahead, which blames nobody */
    enum round_answer answer; /* to be said of the site's head, in the name of what was asked */
    bool is_unknown;          /* of a REFUSAL: this state knows nothing of what was followed */
    bool persist;             /* before it is said */
};

/* "May this leave?" Whatever the round: what counts is what it follows. What was granted before the
 * head is refused without blame: it was repeated on its way, or a copy asks and is to hear of the
 * other. Ensures: of a GRANT, persist says whether the head has moved. Cost: O(1), all of them. */
struct round_verdict round_grantor_ask(const struct round_grantor *grantor, uint32_t site,
                                       const struct tacit_commit *asked);

/* "This was granted last." is_present: it is said in the round that stands, in which a site commits
 * once; so it shows the head, or the one before it, whose successor is on its way. Of other
 * messages it is not known when they were said: what shows less than the head is late, or a copy's.
 */
struct round_verdict round_grantor_greet(const struct round_grantor *grantor, uint32_t site,
                                         const uint8_t shown[TACIT_SHA256_BYTES], bool is_present);

/* A release that names its grant and does not open it. is_present as above; else the grant may be
 * the one before the head, too, if another has overtaken it. */
struct round_verdict round_grantor_name(const struct round_grantor *grantor, uint32_t site,
                                        const uint8_t named[TACIT_SHA256_BYTES], bool is_present);

/* A release of the round that stands, with what opens it; opening NULL: it opens nothing. A site
 * hears a refusal where this state may be the old one; of two states of its own it has heard when
 * it asked. */
struct round_verdict round_grantor_open(const struct round_grantor *grantor,
                                        const struct tacit_commit_scope *scope,
                                        const struct tacit_commit *opening,
                                        const uint8_t release[TACIT_SHA256_BYTES]);

/* A term begins: what was granted in the one before is forgotten. */
void round_grantor_forget(const struct round_grantor *grantor);

/* Can these sets be such a grantor's? (For bytes from a disk.) */
bool round_grantor_is_possible(const struct round_grantor *grantor);
#endif
