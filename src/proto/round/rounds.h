/* Round: a hub that leads rounds, from a message or a deadline to what is counted, when the round
 * closes and what is said. What an order says, what a report holds and what comes of a round are
 * the protocol's (struct round_rule). */
#ifndef TACIT_ROUND_ROUNDS_H
#define TACIT_ROUND_ROUNDS_H
#include "desk.h"
#include "tacit/helper.h"
#include "message_kind.h"

struct round_input {
    enum round_message_kind message_kind;
    const struct tacit_round_message *head;
    const void *message; /* the protocol's own */
    /* REPORT */
    uint32_t sites; /* whose sums are in it */
    uint32_t word_count;
    const uint64_t *words;
    const struct tacit_helper_release *masked; /* of two aggregators: what it opens; else NULL */
    bool is_held_elsewhere;                    /* another one grants to its sender */
};

/* Of a message of the six kinds; what a report holds beside them. */
#define ROUND_INPUT(said, ...)                                                                     \
    (struct round_input)                                                                           \
    {                                                                                              \
        .message_kind = round_message_kind((said)->kind), .head = &(said)->head,                   \
        .message = (said), .sites = 1, __VA_ARGS__                                                 \
    }

/* What a step comes to, for the protocol to say in its own messages. */
struct round_made {
    bool persist;
    enum round_answer answer; /* ORDER: the one that stands */
    uint32_t to;
    uint32_t happened;               /* TACIT_CLOSED_ROUND and so on */
    struct tacit_round_message head; /* of a GRANT or REFUSAL (round_head) */
};

/* A protocol's part, on its own hub: called once a message or a round. NULL, where it says so:
 * there is nothing to do. */
struct round_rule {
    struct round_hub (*round)(void *hub);                        /* as it stands */
    struct round_input (*input)(void *hub, const void *message); /* what a message says */
    uint32_t (*quorum)(void *hub); /* sites that suffice once the deadline is over */
    /* Who is asked next (round.next), before anything else changes; NULL: who is asked now. Errors:
     * TACIT_ENTROPY, and nothing changed. */
    enum tacit_status (*prepare)(void *hub, const struct tacit_entropy *entropy);
    void (*begin)(void *hub);      /* goes to the first round; NULL */
    void (*begin_term)(void *hub); /* NULL */
    /* HELLO, COMMIT: what else they say; it may answer by itself. Errors: as prepare; NULL. */
    enum tacit_status (*note)(void *hub, const struct round_input *input,
                              const struct tacit_entropy *entropy, struct round_made *made);
    bool (*is_left_out)(void *hub, uint32_t site); /* its report is not wanted; NULL: nobody's is */
    /* A report of the round that stands must fit its order to the letter. */
    enum tacit_status (*check)(void *hub, const struct round_input *report);
    /* .. so does what is kept of the one that is here. (For bytes from a disk.) */
    bool (*is_possible)(void *hub, uint32_t site);
    /* Of what it holds; of masked words nobody asks. */
    void (*digest)(void *hub, const struct round_input *report, uint8_t digest[TACIT_SHA256_BYTES]);
    /* Judges the reports that are here, or, of two aggregators, totals over so many sites (0: the
     * round is void). */
    void (*close)(void *hub, uint32_t sites, const int64_t *totals);
};

/* One event. Ensures: with an error but TACIT_FORKED and TACIT_ROLLBACK nothing is said. Errors: as
 * of the rule, and of desk.h. */
enum tacit_status round_step(const struct round_rule *rule, void *hub,
                             const struct tacit_event *event, const struct tacit_entropy *entropy,
                             struct round_made *made);

/* The reports suffice: the round is judged, or, with two aggregators, rests until its totals come.
 * Requires: prepared. */
void round_end(const struct round_rule *rule, void *hub, struct round_made *made);

/* Two aggregators: the totals of a round that rests; sites 0: it is void. */
void round_close(const struct round_rule *rule, void *hub, uint32_t sites, const int64_t *totals,
                 uint64_t now_us, struct round_made *made);

/* The operator ends the run: no round follows, and all hear the last order. */
void round_finish(const struct round_hub *round, uint64_t now_us, struct round_made *made);

/* Would the round be complete with so many more reports, of so many sites? */
bool round_is_complete(const struct round_rule *rule, void *hub, uint32_t reports, uint32_t sites);

/* Could steps have left this? (For bytes from a disk.) Cost: O(A), and what the reports hold. */
bool round_is_possible(const struct round_rule *rule, void *hub);

/* What a step comes to, but for what is said. */
struct tacit_update round_update(const struct round_desk *desk, const struct round_made *made);

/* An order to this site or to everybody, in a step that says nothing else. */
void round_answer_order(struct round_made *made, uint32_t to);

/* What is said, .. Requires: something is. */
enum tacit_round_kind round_kind(const struct round_made *made);

/* .. and its head: of the order that stands, or of an answer. Requires: something is. */
struct tacit_round_message round_head(const struct round_hub *round, const struct round_made *made);
#endif
