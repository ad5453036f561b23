/* What peers say to each other while every report spreads to all (Li, Song, Alg. 2), counted from
 * distances: where nothing fails, agent k has after t slots what is at most t away from it. */
#ifndef TACIT_FAMILIES_ELIM_TALLY_H
#define TACIT_FAMILIES_ELIM_TALLY_H
#include "experiment.h"

struct elim_tally;

/* Every agent asks once for every other one's report, so the time is that of a search from each
 * agent. Above this product of agents and (agents + 2 edges) nobody waits for it. */
#define ELIM_TALLY_MAX 100000000000.0

/* Would it be counted? */
bool elim_tally_is_possible(const struct tacit_graph *graph);

/* Counts a whole round, slot by slot. Cost: O(A (A + E)) time; memory O(A), and a few bytes for
 * each length that messages have in a slot. Errors: NULL with *status = TACIT_MEMORY or
 * TACIT_INTERRUPTED. */
struct elim_tally *elim_tally_new(const struct tacit_graph *graph, uint32_t diameter,
                                  atomic_bool *stop, enum tacit_status *status);
void elim_tally_free(struct elim_tally *tally); /* NULL is allowed */

/* The round that is collected: rows of so many numbers, of so many arms in all. */
struct elim_tally_round {
    uint32_t arm_count;
    uint32_t sum_count;
    bool has_grants;
    uint64_t last_slot; /* the first one is 0; T may come before the last */
};

/* What a message costs. What it carries of commitments is control. */
struct tacit_sim_cost elim_message_cost(const struct tacit_elim_message *message,
                                        uint32_t arm_count, uint32_t agent_count);

/* Adds all that is said in it, but commitments and grants, to the totals. */
void elim_tally_add(const struct elim_tally *tally, const struct elim_tally_round *round,
                    struct tacit_sim_totals *totals);
#endif
