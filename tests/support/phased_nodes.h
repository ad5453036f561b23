/* Play in phases as nodes of the simulator: its cores around a hub, without grants, where nothing
 * fails. Its runs are the family's (src/families/phased/run.c), to the last bit. */
#ifndef TACIT_TESTS_PHASED_NODES_H
#define TACIT_TESTS_PHASED_NODES_H
#include "../../src/families/phased/plan.h"

/* What an outside observer sees of a run, in order. */
struct phased_observer {
    void *context;
    void (*sent)(void *context, const struct tacit_phased_message *message);
    void (*pulled)(void *context, uint32_t agent, uint32_t arm, uint64_t count);
};

struct phased_nodes_result {
    struct tacit_sim_totals totals;
    double rounds;  /* with reports */
    double samples; /* rewards in releases */
    uint32_t leader;
    bool is_decided;
};

/* Plays run `index` to its end. observer: NULL: nobody looks on. regret: at each point. */
struct phased_nodes_result phased_nodes_play(const struct phased_sim *sim, uint32_t index,
                                             const struct phased_observer *observer,
                                             double *regret);
#endif
