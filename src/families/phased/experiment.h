/* What runs of play in phases need. */
#ifndef TACIT_FAMILIES_PHASED_EXPERIMENT_H
#define TACIT_FAMILIES_PHASED_EXPERIMENT_H
#include "tacit/phased.h"
#include "tacit/sim.h"

/* What an outside observer sees of a run, in order. Either function may be NULL. */
struct phased_observer {
    void *context;
    void (*sent)(void *context, const struct tacit_phased_message *message);
    void (*pulled)(void *context, uint32_t agent, uint32_t arm, uint64_t count);
};

struct phased_sim {
    struct tacit_sim common;
    struct tacit_phases schedule;
    struct tacit_mechanism mechanism;
    double server_link_cost;
    uint32_t quorum;           /* of the hub, as the two below; 0: all */
    uint64_t round_timeout_us; /* 0: no deadline */
    bool hub_answers_all;
    bool has_grants;                        /* commit, grant, reveal (tacit/commit.h) */
    const struct tacit_sim_faults *faults;  /* NULL: every message arrives at once, nothing fails */
    const struct phased_observer *observer; /* NULL: none. Single-threaded use only */
};
#endif
