/* What the daemon of a coordinator needs of a protocol: its hub behind bytes, as site.h has it for
 * the sites. Where the sites judge for themselves there is no hub core: the family then keeps
 * nothing, announces the run, and shows where the sites say that they are. */
#ifndef TACIT_LIVE_HUB_H
#define TACIT_LIVE_HUB_H
#include "site.h"
#include "tacit/helper.h"
#include "tacit/round.h"
#include <stdio.h>

/* What the coordinator's file says, as far as all protocols have it. */
struct live_hub_config {
    const char *federation;
    const char *const *sites; /* names by agent index */
    uint32_t site_count;
    const char *const *arm_names;
    uint32_t arm_count;
    uint64_t run_id;
    uint64_t run_nonce; /* drawn when the state was made: a run with the same number is another */
    uint64_t horizon;
    double epsilon; /* per reward: what the sites are expected to noise with */
    double lo;      /* public range of a reward */
    double hi;
    uint32_t quorum;          /* sites whose word suffices once the deadline is over */
    uint32_t deadline_s;      /* of a round */
    bool has_helper;          /* two aggregators; .. */
    uint64_t floor_nano;      /* .. epsilon of the sites' own noise, 0: none; .. */
    const char *trust_helper; /* .. the fingerprint of the helper's key; .. */
    const struct tacit_wire_sealing *sealing; /* .. what it signed; NULL: nothing yet */
    const void *settings;                     /* what the family read from the file; or NULL */
};

/* The run as envelopes and announcements say it: the nonce, then the number. */
static inline void live_hub_run(const struct live_hub_config *config,
                                uint8_t run[TACIT_WIRE_RUN_BYTES])
{
    tacit_wire_run(config->run_id, run);
    for (unsigned i = 0; i < 8; i++)
        run[i] = (uint8_t)(config->run_nonce >> (56 - 8 * i));
}

static inline uint64_t live_hub_nonce(const uint8_t run[TACIT_WIRE_RUN_BYTES])
{
    uint64_t nonce = 0;
    for (unsigned i = 0; i < 8; i++)
        nonce = nonce << 8 | run[i];
    return nonce;
}

enum live_hub_event_kind {
    LIVE_HUB_START,
    LIVE_HUB_RECEIVE,
    LIVE_HUB_TIMEOUT,
    LIVE_HUB_HELPER /* the bytes are the helper's (trust.h); none: what is owed is tried again */
};

/* START comes after the start and whenever the broker is there again: what stands is said again. */
struct live_hub_event {
    enum live_hub_event_kind kind;
    uint64_t now_us;
    uint64_t term; /* START: from 1 */
    uint32_t from; /* RECEIVE: the site, by its topic */
    const uint8_t *bytes;
    size_t size;
    const struct live_row_signer *signer;       /* of the sites; the hub signs nothing */
    uint32_t message_kind;                      /* as its envelope says, .. */
    uint32_t message_epoch;                     /* .. which must be what the body says */
    const struct tacit_wire_envelope *envelope; /* RECEIVE: around the body, as it was signed */
};

/* Everything in it belongs to the family and is valid until the next step. */
struct live_hub_update {
    bool persist;
    const struct live_message *messages; /* in this order */
    size_t message_count;
    const struct live_file *file; /* to be kept in the state directory for people; NULL: none */
    const char *note;             /* for the log: what happened, one line; NULL: nothing new */
    bool announces;               /* the run can be announced from now on */
    uint64_t deadline_us;         /* TACIT_NEVER: no timer */
};

/* Anytime-valid intervals: the means are in them, all together and at all times, with this
 * confidence. On the scale of the public range. */
struct live_hub_intervals {
    double confidence;
    const double *lowers; /* K */
    const double *uppers;
    uint32_t leader; /* the best so far; UINT32_MAX: not known yet */
};

/* Of the second aggregator. */
struct live_helper_view {
    bool is_there;           /* else there is one aggregator, and nothing else here says anything */
    bool has_agreed;         /* to the run: it is announced */
    bool is_asked;           /* the round waits for its answer */
    bool is_wrong;           /* what it said last is not in order */
    bool awaits_operator;    /* void rounds: the operator says what is done */
    const uint64_t *dropped; /* A: by the operator's word */
    const uint64_t *left_out; /* A: of the last U, by the helper */
    uint32_t counted_number;  /* |U'| of its newest answer */
    uint32_t void_count;      /* rounds in a row without totals */
    uint64_t answer_count;
    const uint8_t *head;     /* of its newest answer */
    const uint64_t *counted; /* A: U' of the last round that was closed */
    enum tacit_helper_verdict verdict;
};

/* What may be shown. Pointers belong to the family and are valid until the next step. */
struct live_hub_view {
    bool judges; /* false: the sites judge for themselves; nothing is known of arms */
    bool is_finished;
    bool is_overdue;    /* the deadline is over, but the quorum is not there */
    bool awaits_totals; /* two aggregators: no report is waited for, but the round is not over */
    uint32_t epoch;
    uint32_t round_count;
    uint32_t rounds_max; /* the run has no more; 0: no such limit */
    uint64_t pulls;      /* of each active arm, as ordered; 0: none were */
    const uint64_t *active;
    uint32_t active_count;
    uint32_t report_count; /* received of the present round */
    uint32_t missing_count;
    uint32_t covered_count; /* sites whose sums are in these reports */
    double radius;
    const uint64_t *done;           /* A: sites of which nothing more is to come; NULL: not known */
    const uint64_t *asked;          /* A: who is asked to report in the present round */
    const uint64_t *received;       /* A: who has */
    const uint32_t *seen;           /* A: the last epoch that was heard of from each */
    const double *means;            /* K noised means; NULL: none */
    const double *spreads;          /* K: widest difference between two sites' means; NULL: none */
    const uint64_t *pulls_reported; /* A: pulls as the sites say; NULL: they say an epoch */
    const uint32_t *eliminated; /* K: the epoch in which the arm went out; 0: still in; or NULL */
    const struct live_hub_intervals *intervals; /* NULL: the family has none */
    const uint64_t *absent; /* K: arms that are to come, or were retired; NULL: all are there */
    const uint32_t *votes;  /* K: sites that have voted the arm out; NULL: there are no votes */
    uint32_t votes_needed;  /* if votes */
    const struct live_model *model; /* NULL: the protocol learns none */
    const uint64_t *flagged; /* A: sites that spoke from two states; NULL: it is not looked for */
    const uint64_t
        *forkers;          /* A: sites of which two rows of one epoch are proved; NULL: the same */
    const uint64_t *ahead; /* A: sites that show a grant which this state never gave; NULL: the
                              same */
    /* What the operator changed; NULL, 0: nothing, or this protocol cannot be changed under way. */
    const struct live_control_entry *changes;
    uint32_t change_count;
    const uint64_t *dropped; /* A; NULL: no site can be */
    const uint64_t *refused; /* A sets of arms, TACIT_BITS_WORDS(K) words each, that a site does not
                                play; NULL: none can be refused */
    const uint64_t *retired; /* K; NULL: no arm can be */
    uint32_t quorum;         /* as it stands; 0: as the file says */
    uint32_t quorum_wanted;  /* as it was said last; 0: all */
    uint32_t deadline_s;     /* with `changes` possible: as it stands; 0: none */
    uint64_t horizon;        /* the same */
    bool can_change;
    struct live_helper_view helper;
};

/* Did it show another release than the one that was granted to it? */
static inline bool live_hub_has_two_states(const struct live_hub_view *hub, uint32_t site)
{
    return hub->flagged != NULL && tacit_bits_has(hub->flagged, site);
}

/* Sites whose reports suffice once the deadline is over: as it stands, or as the file says. */
static inline uint32_t live_hub_quorum(const struct live_hub_view *hub,
                                       const struct live_hub_config *config)
{
    return hub->can_change ? hub->quorum : config->quorum;
}

struct live_hub; /* protocol.h; the daemon knows it by the functions below */
struct live_room;

/* One family: what protocol_hub.c does not know of a hub. */
struct live_hub_ops {
    const struct tacit_wire_protocol *wire;
    const struct tacit_wire_table *reads; /* messages, of which it says none; NULL: those of wire */
    const char *one_run;                  /* as the sites' */
    bool has_terms;                       /* the same */
    bool is_rebuilt;    /* a hub that lost its state is built again, from what the sites keep */
    uint32_t only_kind; /* of messages that it hears: others are TACIT_UNEXPECTED; 0: any */
    const struct live_core *core; /* of no functions: as if hub->keeps_nothing */

    /* ---- The announcement ---- */

    /* What sites are expected to noise with; NULL: not at all. */
    uint64_t (*epsilon_nano)(const struct live_hub_config *config);
    /* Fills in the parameters of this family's struct of runs, behind the head that is there. */
    void (*parameters)(const struct live_hub_config *config, void *run);
    /* The same with a site's own part, in this room. false: out of memory. NULL: there is none. */
    bool (*fill_place)(const struct live_hub_config *config, uint32_t site, struct live_room *room,
                       void *run);
    /* NULL: all that is said in this run fits into the payloads, beside announcements. Else the key
     * that makes it too large. */
    const char *(*too_large)(const struct live_hub_config *config);
    /* What may not change while there is state, beside what all protocols have: lines of the file's
     * key, a space and the value. */
    void (*describe)(const struct live_hub_config *config, FILE *out);

    /* ---- The state ---- */

    /* From hub->config to the core's configuration, and room for what is shown; that the room had
     * all is seen afterwards. */
    void (*configure)(struct live_hub *hub);
    /* The state is there, new, restored or built again; NULL: there is nothing to do. */
    void (*begin)(struct live_hub *hub);
    /* As live_hub_snapshot. */
    size_t (*snapshot)(const struct live_hub *hub, uint8_t *bytes, size_t room);
    enum tacit_status (*restore)(struct live_hub *hub, const uint8_t *bytes, size_t size);

    /* As of a site's. */
    enum tacit_status (*step)(struct live_hub *hub, const struct live_hub_event *event,
                              void *message, const struct tacit_entropy *entropy,
                              struct live_hub_update *update);
    /* Of hubs that lead rounds: a site's HELLO as a message, to be given to free().
     * The order to everyone that ends a round does not say whose reports were counted, and whose
     * report ended it has had no other answer: it hears first what it would be told if it had said
     * HELLO, the next order and that it was counted in one message. NULL: nobody is answered so. */
    void *(*hello)(const struct tacit_round_message *asks);
    /* More than that a message to everyone is retained; NULL: there is no more. */
    void (*set_delivery)(const void *message, struct live_message *made);
    void (*fill_view)(const struct live_hub *hub, struct live_hub_view *view);

    /* ---- Two aggregators; NULL, all three: this family has one ---- */

    /* Of a run, as its protocol has it, whose sites do not report a sum of rewards for each arm:
     * how many integers they do, and what moves them by how many steps. Result: the delta of
     * (epsilon, delta), whose noise is Gaussian; 0: pure. NULL: there are none such. */
    double (*vector)(const void *run, struct tacit_helper_run *made);
    const char *epsilon_of; /* whose, for people; NULL: a reward's */
    /* The round whose reports are here; its epsilon is 0 where it is the run's; highs: what a
     * site's integers are at most, as many as round->count; NULL: not asked. */
    void (*round)(const struct live_hub *hub, struct tacit_helper_round *round, uint64_t *highs);
    /* Closes it by the totals of so many sites; 0: it is void. */
    void (*close)(struct live_hub *hub, uint32_t agents, const int64_t *totals, uint64_t now_us,
                  struct live_hub_update *update);
    bool is_signed; /* a site's integers may be as much below 0 as above */
    /* A site's COMMIT in this round as a message, to be given to free(): so that who
     * has not seen it can check its signature. NULL: out of memory. */
    void *(*commit)(const struct tacit_round_message *asks);

    /* By enum live_change: why this protocol does not take such a word; NULL, of all or of one: the
     * word is the family's to judge. */
    const char *const *objections;
    const struct live_change_texts *end_texts; /* of END_RUN; NULL: as control.h */
    /* As live_hub_change. NULL: nothing of this protocol can be changed under way. */
    enum tacit_status (*change)(struct live_hub *hub, const struct live_control_entry *wanted,
                                uint64_t now_us, const struct tacit_entropy *entropy,
                                struct live_hub_update *update, uint32_t *number,
                                const char **objection);
};

/* ---- A hub, whatever its family -------------------------------------------------------------- */

/* NULL: all that is said in this run fits into the payloads. Else the key that makes it too large.
 * Cost: an announcement; one for each site where they have places. */
const char *live_hub_too_large(const struct live_hub_ops *ops,
                               const struct live_hub_config *config);

/* The announcement for this site, to be given to free(). NULL: out of memory. */
uint8_t *live_hub_announce(const struct live_hub_ops *ops, const struct live_hub_config *config,
                           uint32_t site, size_t *size);
/* The digest of what all sites must agree on. Errors: TACIT_MEMORY. */
enum tacit_status live_hub_agreed(const struct live_hub_ops *ops,
                                  const struct live_hub_config *config,
                                  uint8_t digest[TACIT_WIRE_DIGEST_BYTES]);
/* As the helper signed it; NULL: it has not yet, or there is none. */
const struct tacit_wire_sealing *live_hub_sealing(const struct live_hub *hub);

/* From the bytes that were kept; size 0: a new run. config has to stay. Errors: TACIT_MALFORMED,
 * TACIT_MEMORY. */
enum tacit_status live_hub_open(const struct live_hub_ops *ops, struct live_hub **hub,
                                const struct live_hub_config *config, const void *bytes,
                                size_t size);
void live_hub_free(struct live_hub *hub); /* NULL is allowed */

/* What is to be kept; *size = 0: nothing. */
const void *live_hub_bytes(const struct live_hub *hub, size_t *size);

/* What a hub that lost its state is built again from, as the sites keep it (replicated_log.h): the
 * state of closed rounds, in bytes that change with it. As tacit_elim_hub_snapshot; no bytes: the
 * hub keeps nothing. Requires: ops->is_rebuilt. */
size_t live_hub_snapshot(const struct live_hub *hub, uint8_t *bytes, size_t room);

/* From a snapshot; what was granted is forgotten, so that a START has to begin a term unless it is
 * of no bytes. Errors: as of open. Requires: ops->is_rebuilt. */
enum tacit_status live_hub_rebuild(const struct live_hub_ops *ops, struct live_hub **hub,
                                   const struct live_hub_config *config, const uint8_t *bytes,
                                   size_t size);

/* As of a site. Errors of RECEIVE: TACIT_STRANGER also where a message names another sender. */
enum tacit_status live_hub_step(struct live_hub *hub, const struct live_hub_event *event,
                                const struct tacit_entropy *entropy,
                                struct live_hub_update *update);

/* What the helper is asked now, to be given to free(). NULL: nothing, or out of memory. */
struct live_signer;
uint8_t *live_hub_request(const struct live_hub *hub, const struct live_signer *signer,
                          size_t *size);

/* For families' views: what there is of a helper; dropped sites are missed no more. */
void live_hub_show_helper(const struct live_hub *hub, struct live_hub_view *view);

/* The operator's word, and an update as of a step. *number: of the entry that says so, new if
 * update->persist; 0: it is so without any. Errors, with nothing changed: *objection in words;
 * TACIT_ENTROPY: it may be tried again. Requires: ops->change. */
enum tacit_status live_hub_change(struct live_hub *hub, const struct live_control_entry *wanted,
                                  uint64_t now_us, const struct tacit_entropy *entropy,
                                  struct live_hub_update *update, uint32_t *number,
                                  const char **objection);
#endif
