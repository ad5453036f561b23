/* What the checkers know of a run from outside: checker.c watches agents, messages and the hub,
 * checker_peers.c what peers hold, hand on and decide. */
#ifndef TACIT_TESTS_ELIM_CHECKER_INTERNAL_H
#define TACIT_TESTS_ELIM_CHECKER_INTERNAL_H
#include "elim_sim.h"

/* A release as it was made durable first, and for ever. */
struct seen_release {
    struct seen_release *older;
    uint32_t epoch;
    union tacit_sum noised[]; /* K history sums */
};

/* An order as its judge gave it, and how its round ended. */
struct seen_order {
    struct seen_order *older;
    uint32_t epoch;
    uint32_t round; /* SPREAD: its number once it is judged, from 1; 0: not yet */
    uint64_t pulls; /* S(r) */
    double radius;  /* SPREAD, judged: of the last test, as the two below */
    uint64_t *arms; /* W(K) */
    uint64_t *left; /* W(K): arms after it */
    double *means;  /* K */
    uint64_t words[];
};

/* Whoever decides: the hub, or all peers of one component, who must decide the same. */
struct watched_judge {
    struct seen_order *orders; /* newest first */
    uint32_t round_count;
};

/* What is known of one agent from its durable states and its messages. */
struct watched_agent {
    uint64_t *arms;                /* last durable set */
    union tacit_sum *noised;       /* last durable releases */
    union tacit_sum *sent;         /* sums of the report of sent_epoch */
    uint64_t *known;               /* peer: whose reports it holds, by its last durable state */
    struct seen_release *releases; /* newest first */
    uint64_t release_epoch;        /* last durable */
    uint64_t release_count;        /* distinct durable releases */
    uint64_t spent_nano;
    uint32_t epoch;
    uint32_t sent_epoch;
    uint32_t sent_count;
    uint32_t sent_agents; /* whose sums are in that report */
    uint32_t round_count; /* peer: rounds that it has judged */
    bool last;            /* no epoch follows */
    bool confirms;        /* peers: known is of confirmations, the epoch before is closed */
};

struct elim_checker {
    const struct elim_sim *experiment;
    uint32_t arm_count;
    struct tacit_elim_schedule schedule; /* of the judges, without a gap that is not known */
    bool knows_gap;
    struct watched_agent *agents;
    struct watched_judge *judges; /* of components; of the hub the first */
    uint64_t *hub_arms;
    uint64_t *hub_uploaders;
    uint32_t hub_rounds;
    uint32_t hub_epoch; /* that was being collected */
    uint64_t hub_pulls; /* its S */
    double *means;      /* K: scratch */
    uint64_t *set;      /* W(K): scratch */
    uint64_t messages;
    uint64_t messages_per_receiver;
    uint64_t scalars;
    uint64_t bytes;
    uint64_t control_messages;
    uint64_t control_bytes;
    unsigned char *arena;
    bool is_broken;
    char fault[300];
};

/* Remembers the first broken promise. */
void __attribute__((format(printf, 2, 3)))
elim_checker_blame(struct elim_checker *checker, const char *format, ...);

/* ---- checker_peers.c ---- */

/* Sets up, and frees, what is known of judges. Errors: false when out of memory. */
bool elim_checker_begin_judges(struct elim_checker *checker);
void elim_checker_forget(struct elim_checker *checker);

/* A new release of an agent was made durable. */
void elim_checker_note_release(struct elim_checker *checker, uint32_t agent, uint32_t epoch,
                               const union tacit_sum *noised);

/* The K history sums of that release; NULL: it never made one in that epoch. */
const union tacit_sum *elim_checker_release(const struct elim_checker *checker, uint32_t agent,
                                            uint32_t epoch);

/* The hub made an order durable. */
void elim_checker_note_order(struct elim_checker *checker, const struct tacit_elim_hub_view *view);

/* The observer's function of the same name. */
void elim_checker_on_peer_persisted(void *context, uint32_t agent,
                                    const struct tacit_elim_peer *state);

/* A message between neighbours, or of a sink to the hub. */
void elim_checker_peer_message(struct elim_checker *checker,
                               const struct tacit_elim_message *message);
void elim_checker_component_report(struct elim_checker *checker,
                                   const struct tacit_elim_message *report);

/* Rounds of the judge that judged most. */
uint32_t elim_checker_rounds(const struct elim_checker *checker);

/* The links of a round by walking through the network, and what they cost. */
void elim_checker_links(const struct elim_checker *checker, double *links, double *cost,
                        double *cost_all_edges);
#endif
