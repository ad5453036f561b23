/* The state of a peer, shared by peer.c (what drives it) and collect.c (what it says to others). */
#ifndef TACIT_ELIM_PEER_STATE_H
#define TACIT_ELIM_PEER_STATE_H
#include "../round/grantor.h"
#include "agent_state.h"

/* What a neighbour has made this peer do since the count began. */
struct elim_peer_work {
    uint32_t messages;
    uint32_t rows;
};

/* With grants: of which epochs a neighbour's head is. */
struct elim_peer_epochs {
    uint32_t epoch;        /* of the head; 0: nothing was granted */
    uint32_t epoch_before; /* of the one before it */
};

/* Where the parts of the state begin, in words. The agent comes first. */
struct elim_peer_layout {
    size_t neighbours;
    size_t sets; /* elim_peer_set; with those behind the members begins what a term has anew */
    size_t judge;
    size_t own;
    size_t report;
    size_t work;
    size_t arms;
    size_t holdings;
    size_t differing;
    size_t end;
};

struct tacit_elim_peer {
    struct elim_peer_layout at;           /* a function of the configuration */
    struct tacit_elim_peer_config config; /* its arrays are in the words */
    /* Anew in each term, from here on: */
    struct elim_judge judge;     /* SPREAD */
    uint64_t agent_deadline_us;  /* of the agent inside */
    uint64_t pass_on_us;         /* what is fresh goes out then; TACIT_NEVER: nothing is */
    uint64_t round_end_us;       /* SPREAD: of the synchronisation clock */
    uint64_t gather_end_us;      /* GATHER, sink: reports then at the latest; TACIT_NEVER: waits */
    uint64_t work_since_us;      /* when the counting of the neighbours' work began */
    uint64_t pulls[2];           /* S(r) of the rows in each half of the table */
    uint32_t previous_epoch;     /* its epoch; 0: there was none */
    uint32_t epoch;              /* whose reports are collected */
    uint32_t missing_count;      /* members whose report is not here */
    uint32_t half;               /* of the table, for the present epoch */
    uint32_t exploit_arm;        /* paper: best own exact mean when the waiting began (P1.11) */
    uint32_t ask_count;          /* GATHER: asks so far, which go to parent and hub in turn */
    uint32_t commit_epoch;       /* of the last commitment of the agent inside */
    uint32_t refuser;            /* 1 + the neighbour whose refusal blocks it; 0: none */
    uint64_t confirm_end_us;     /* SPREAD, confirming: until then it waits for all */
    struct round_resend confirm; /* it asks for what is missing */
    uint8_t history[2][TACIT_SHA256_BYTES]; /* signed rows: of all rounds closed; of all but one */
    uint32_t history_epoch;                 /* of the last round closed; 0: none */
    uint32_t proof_epoch;                   /* 0: there is no proof */
    struct tacit_elim_proof proof;
    bool confirms;              /* the rows collected are confirmations */
    bool confirmed;             /* all came, or the time is over */
    bool closed;                /* GATHER, sink: this epoch's report is made */
    bool is_behind;             /* a neighbour is in a later epoch */
    struct tacit_commit answer; /* scratch: what a message says of a commitment */
    /* agent | neighbours | sets of agents, W(A) each | judge | own K, report K sums | work | arms
     * of the rows in each half, 2 W(K) | with grants: heads, flagged, ahead of the neighbours,
     * their epochs, who granted W(neighbours), agreeing W(neighbours) | with signed rows: differing
     * W(A) */
    uint64_t words[];
};

enum elim_peer_set {
    ELIM_MEMBERS, /* whose reports the collection waits for; of a relay: nobody's */
    ELIM_KNOWN,   /* whose rows of the present epoch are here, .. */
    ELIM_FRESH,   /* .. were not passed on yet, .. */
    ELIM_ASKED,   /* .. were asked for */
    ELIM_PREVIOUS /* GATHER: whose rows of the epoch before are here */
};

/* A step, as its parts hand it on. */
struct elim_peer_step {
    struct tacit_elim_peer *peer;
    struct tacit_elim_table *table;
    const struct tacit_entropy *entropy;
    struct tacit_elim_update *update;
    uint64_t now_us;
    const struct tacit_elim_message *answer; /* of the grantors, for the agent inside; NULL: none */
    const struct tacit_row_signer *signer;   /* with signed rows */
    uint32_t culprit; /* whose row of a message was not granted, or not as it is */
};

static inline struct tacit_elim_agent *elim_peer_agent(const struct tacit_elim_peer *state)
{
    return (struct tacit_elim_agent *)(void *)((struct tacit_elim_peer *)(uintptr_t)state)->words;
}

/* Where the peer's words have .. */
struct elim_judge_parts elim_peer_judge(const struct tacit_elim_peer *peer);
union tacit_sum *
elim_peer_own_sums(const struct tacit_elim_peer *peer); /* K: exact, in paper mode */
union tacit_sum *
elim_peer_report(const struct tacit_elim_peer *peer);               /* K: of a sink's component */
uint32_t *elim_peer_neighbours(const struct tacit_elim_peer *peer); /* ascending */
struct elim_peer_work *elim_peer_work(const struct tacit_elim_peer *peer);   /* by their rank */
uint64_t *elim_peer_arms(const struct tacit_elim_peer *peer, uint32_t half); /* W(K) of its rows */
uint64_t *elim_peer_set(const struct tacit_elim_peer *peer, enum elim_peer_set set); /* W(A) */

static inline bool elim_peer_is_member(const struct tacit_elim_peer *peer, uint32_t agent)
{
    return tacit_bits_has(elim_peer_set(peer, ELIM_MEMBERS), agent);
}

bool elim_peer_is_sink(const struct tacit_elim_peer *peer);

/* Does everybody judge? Else the reports are gathered at a sink. */
static inline bool elim_peer_spreads(const struct tacit_elim_peer *peer)
{
    return peer->config.collection == TACIT_ELIM_SPREAD;
}

/* The rank of a neighbour, or the number of neighbours. */
uint32_t elim_peer_rank(const struct tacit_elim_peer *peer, uint32_t agent);

/* ---- grantor.c: requires grants ---- */

/* What it keeps of its neighbours, by their rank. */
struct round_grantor elim_peer_grantor(const struct tacit_elim_peer *peer);
/* W(neighbours), by their rank: who has granted the draw that waits; who is known
 * to hold what this peer holds. */
uint64_t *elim_peer_granted(const struct tacit_elim_peer *peer);
uint64_t *elim_peer_agreeing(const struct tacit_elim_peer *peer);

/* Words of all of it. */
size_t elim_peer_grantor_words(uint32_t neighbour_count);

/* The agent's commitment goes to who is to grant it next. Returns false if it has no grantors. */
bool elim_peer_commit(struct elim_peer_step *step, const struct tacit_elim_message *message);

/* COMMIT, GRANT, REFUSAL of the neighbour with this rank. What the agent inside is to hear of it is
 * in step->answer. */
enum tacit_status elim_peer_on_commitment(struct elim_peer_step *step, uint32_t rank,
                                          const struct tacit_elim_message *message);

/* A neighbour in this epoch shows the last grant that it knows of. Another one than was given last
 * is refused, as by a hub (round/desk.c): it is a copy behind its head, or this grantor forgot it.
 */
enum tacit_status elim_peer_read_head(struct elim_peer_step *step, uint32_t rank,
                                      const struct tacit_elim_message *hello);

/* Does a row of DATA of the present epoch open what was granted here? Of an agent that this peer
 * does not hold: TACIT_OK. TACIT_ROLLBACK: nothing of this epoch was granted here. Nobody is
 * flagged or marked for it yet: who brings it may not be whose it is. */
enum tacit_status elim_peer_check_opening(const struct elim_peer_step *step,
                                          const struct tacit_elim_message *data, uint32_t origin,
                                          uint32_t row);

/* is_fork: it speaks from two states (TACIT_FORKED). Else it shows a grant that this state never
 * gave: TACIT_OK, nobody is blamed for it. */
enum tacit_status elim_peer_blame(struct elim_peer_step *step, uint32_t rank, bool is_fork);

/* Could a step have left these? (For states from a disk.) */
bool elim_peer_grants_are_possible(const struct tacit_elim_peer *peer);

/* ---- agree.c: requires signed rows ---- */

/* W(A): who is known to hold other rows. */
uint64_t *elim_peer_differing(const struct tacit_elim_peer *peer);

/* All rows of the round that closes are here: the digest of what is held goes on with them, and it
 * is not known of any neighbour yet whether it holds the same. */
void elim_peer_note_round(struct elim_peer_step *step);

/* Do all neighbours hold what this peer holds, as far as it knows, and is nobody's fork proved? */
bool elim_peer_may_judge(const struct tacit_elim_peer *peer);

/* The judge is at its end: what this peer holds is confirmed, and so do all others. */
void elim_peer_begin_confirming(struct elim_peer_step *step);

/* All confirmations are here, or their time is over. */
void elim_peer_check_confirmed(struct elim_peer_step *step);

/* After each step: when to ask for confirmations again. */
void elim_peer_time_confirming(struct elim_peer_step *step);

/* The own row of this half of the table, as it is about to be said. */
void elim_peer_sign_row(struct elim_peer_step *step, uint32_t half, uint32_t epoch);

/* Did its agent sign this row of DATA? */
bool elim_peer_row_is_signed(const struct elim_peer_step *step,
                             const struct tacit_elim_message *data, uint32_t origin, uint32_t rank);

/* A signed row beside another one of the same agent and epoch that is here. TACIT_OK: that proves
 * that the agent has two. */
enum tacit_status elim_peer_prove(struct elim_peer_step *step,
                                  const struct tacit_elim_message *data, uint32_t origin,
                                  uint32_t rank, uint32_t half);

/* DATA of confirmations: do all that are new and signed say what this peer holds? Of those that do
 * not it is known from now on that they hold other rows. */
bool elim_peer_check_confirmations(struct elim_peer_step *step,
                                   const struct tacit_elim_message *data);

/* Compares what a neighbour shows that it holds with what is held here. True: it differs, or
 * somebody's fork is proved; nothing else counts then, and the message is dealt with, to *status.
 */
bool elim_peer_compare_history(struct elim_peer_step *step, uint32_t rank,
                               const struct tacit_elim_message *message, enum tacit_status *status);

/* Somebody proves that an agent has two rows. */
enum tacit_status elim_peer_on_proof(struct elim_peer_step *step,
                                     const struct tacit_elim_message *message);

/* Says what is proved. Requires: something is. */
void elim_peer_send_proof(struct elim_peer_step *step, uint32_t to);

/* Could a step have left these? (For states from a disk.) */
bool elim_peer_agreement_is_possible(const struct tacit_elim_peer *peer);

/* ---- collect.c ---- */

/* Which half of the table has the rows of this epoch? Requires: it is the present one or the one
 * before. */
uint32_t elim_peer_half_of(const struct tacit_elim_peer *peer, uint32_t epoch);

/* These origins' rows are in the table now. */
void elim_peer_add_origins(struct elim_peer_step *step, const uint64_t *origins);

/* Nothing of an epoch is collected any more; that of this one is, from now on. */
void elim_peer_turn_table(struct elim_peer_step *step, uint32_t epoch);

/* Are the rows of a message such as this half of the table has? */
bool elim_peer_is_of_half(const struct tacit_elim_peer *peer, const struct tacit_elim_message *data,
                          uint32_t half);

/* Is this row of a message the one that is in this half of the table? */
bool elim_peer_is_same_row(const struct elim_peer_step *step, const struct tacit_elim_message *data,
                           uint32_t origin, uint32_t rank, uint32_t half);

/* As many members of a set as one message may carry rows of. Returns whether there were more. */
bool elim_peer_limit_rows(const struct tacit_elim_peer *peer, uint64_t *set);

/* Takes a commitment to where a message can show it: until the next one that is shown. */
const struct tacit_commit *elim_peer_show(struct tacit_elim_peer *peer, const uint8_t *commitment);

/* Fills the update's message, without a body. A HELLO shows the head. */
struct tacit_elim_message *elim_peer_send(struct elim_peer_step *step,
                                          enum tacit_elim_message_kind kind, uint32_t to,
                                          uint32_t epoch);

/* Begins to collect for the epoch that the agent has come to. */
void elim_peer_begin_collection(struct elim_peer_step *step);

/* The agent's report is made, or is due again. */
void elim_peer_on_own_report(struct elim_peer_step *step, const struct tacit_elim_message *report);
/* What comes next, or was it lost? Over a graph all neighbours are asked; on the way to a sink the
 * parent, by sending the rows again unless is_start, and every other time the hub. */
void elim_peer_ask(struct elim_peer_step *step, bool is_start);

/* When the slot after this one begins. */
uint64_t elim_peer_next_slot_us(const struct elim_peer_step *step);

/* What is fresh goes on: to the neighbours, the parent, or from a sink to the hub. Requires: this
 * step says nothing else. */
void elim_peer_pass_on(struct elim_peer_step *step);

/* Nothing that is fresh is passed on any more. */
void elim_peer_stop_passing(struct elim_peer_step *step);

/* A sink reports what it has. Requires: as above. */
void elim_peer_report_component(struct elim_peer_step *step);

/* A message of a neighbour. TACIT_ROLLBACK: it has seen *seen_epoch from us. */
enum tacit_status elim_peer_on_neighbour(struct elim_peer_step *step,
                                         const struct tacit_elim_message *message,
                                         uint32_t *seen_epoch);

/* Alg. 3 l. 9: the means over all members, into the judge. */
void elim_peer_aggregate(struct elim_peer_step *step);
#endif
