/* The state of a peer, shared by peer.c (what drives it) and collect.c (what it says to others). */
#ifndef TACIT_ELIM_PEER_STATE_H
#define TACIT_ELIM_PEER_STATE_H
#include "internal.h"

/* What a neighbour has made this peer do since the count began. */
struct elim_peer_work {
    uint32_t messages;
    uint32_t rows;
};

/* Where the parts of the state begin, in words. The agent comes first. */
struct elim_peer_layout {
    size_t judge;
    size_t own;
    size_t report;
    size_t neighbours;
    size_t work;
    size_t arms;
    size_t sets;
    size_t end;
};

struct tacit_elim_peer {
    struct elim_peer_layout at;           /* a function of the configuration */
    struct tacit_elim_peer_config config; /* its arrays are in the words */
    struct elim_judge judge;              /* SPREAD */
    uint64_t now_us;
    uint64_t agent_deadline_us; /* of the agent inside */
    uint64_t pass_on_us;        /* what is fresh goes out then; TACIT_NEVER: nothing is */
    uint64_t round_end_us;      /* SPREAD: of the synchronisation clock */
    uint64_t gather_end_us;     /* GATHER, sink: reports then at the latest; TACIT_NEVER: waits */
    uint64_t work_since_us;     /* when the counting of the neighbours' work began */
    uint64_t pulls[2];          /* S(r) of the rows in each half of the table */
    uint32_t previous_epoch;    /* its epoch; 0: there was none */
    uint32_t epoch;             /* whose reports are collected */
    uint32_t missing_count;     /* members whose report is not here */
    uint32_t half;              /* of the table, for the present epoch */
    uint32_t exploit_arm;       /* paper: best own exact mean when the waiting began (P1.11) */
    uint32_t ask_count;         /* GATHER: asks so far, which go to parent and hub in turn */
    bool everyone;              /* all agents are members */
    bool has_members;           /* the members' set is given */
    bool closed;                /* GATHER, sink: this epoch's report is made */
    bool is_behind;             /* a neighbour is in a later epoch */
    /* agent | judge | own K, report K sums | neighbours, work | arms of the rows in each half, 2
     * W(K) | known, fresh, asked W(A) | members W(A) if given or GATHER | previous known W(A) if
     * GATHER */
    uint64_t words[];
};

enum elim_peer_set { ELIM_KNOWN, ELIM_FRESH, ELIM_ASKED, ELIM_MEMBERS, ELIM_PREVIOUS };

/* A step, as its parts hand it on. */
struct elim_peer_step {
    struct tacit_elim_peer *peer;
    struct tacit_elim_table *table;
    const struct tacit_entropy *entropy;
    struct tacit_elim_update *update;
    uint64_t now_us;
};

struct tacit_elim_agent *elim_peer_agent(const struct tacit_elim_peer *peer);
struct elim_judge_parts elim_peer_judge(const struct tacit_elim_peer *peer);
union tacit_sum *elim_peer_own_sums(const struct tacit_elim_peer *peer);
union tacit_sum *elim_peer_report(const struct tacit_elim_peer *peer);
uint32_t *elim_peer_neighbours(const struct tacit_elim_peer *peer);
struct elim_peer_work *elim_peer_work(const struct tacit_elim_peer *peer);
uint64_t *elim_peer_arms(const struct tacit_elim_peer *peer, uint32_t half);
uint64_t *elim_peer_set(const struct tacit_elim_peer *peer, enum elim_peer_set set);

/* Is this agent's report one that the collection waits for? */
bool elim_peer_is_member(const struct tacit_elim_peer *peer, uint32_t agent);
bool elim_peer_is_sink(const struct tacit_elim_peer *peer);

/* ---- collect.c ---- */

/* Begins to collect for the epoch that the agent has come to. */
void elim_peer_begin_collection(struct elim_peer_step *step);

/* The agent's report is made, or is due again; or it asks what comes next. */
void elim_peer_on_own_report(struct elim_peer_step *step, const struct tacit_elim_message *report);
void elim_peer_ask(struct elim_peer_step *step, bool is_start);

/* When the slot after this one begins. */
uint64_t elim_peer_next_slot_us(const struct elim_peer_step *step);

/* What is fresh goes on: to the neighbours, the parent, or from a sink to the hub. Requires: this
 * step says nothing else. */
void elim_peer_pass_on(struct elim_peer_step *step);

/* Nothing that is fresh is passed on any more. */
void elim_peer_keep_quiet(struct elim_peer_step *step);

/* A sink reports what it has. Requires: as above. */
void elim_peer_report_component(struct elim_peer_step *step);

/* A message of a neighbour. TACIT_ROLLBACK: it has seen *seen_epoch from us. */
enum tacit_status elim_peer_on_neighbour(struct elim_peer_step *step,
                                         const struct tacit_elim_message *message,
                                         uint32_t *seen_epoch);

/* Alg. 3 l. 9: the means over all members, into the judge. */
void elim_peer_aggregate(struct elim_peer_step *step);
#endif
