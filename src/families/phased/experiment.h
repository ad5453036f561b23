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

/* The operator's word, at this slot of every site: an arm is added, or retired. */
struct phased_change {
    uint64_t slot; /* that many were played before it */
    uint32_t arm;
    bool is_added; /* else retired */
};

struct phased_sim {
    struct tacit_sim common;
    struct tacit_phases schedule;
    struct tacit_mechanism mechanism;         /* of a site itself */
    struct tacit_sim_aggregators aggregators; /* theirs, where there are two */
    double server_link_cost;
    const struct phased_change *changes; /* by slot; where nothing fails and nobody looks on */
    uint32_t change_count;
    uint32_t quorum;           /* of the hub, as the two below; 0: all */
    uint64_t round_timeout_us; /* 0: no deadline */
    bool hub_answers_all;
    bool has_grants;                        /* commit, grant, reveal (tacit/commit.h) */
    const struct tacit_sim_faults *faults;  /* NULL: every message arrives at once, nothing fails */
    const struct phased_observer *observer; /* NULL: none. Single-threaded use only */
};
#endif
