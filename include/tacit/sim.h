/* Sim: drives the cores in virtual time. One slot, in which each agent pulls once, is one
 * microsecond of virtual time. Runs are spread over threads; each has its own streams, so the
 * result of a run depends on (seed, run) only. */
#ifndef TACIT_SIM_H
#define TACIT_SIM_H
#include <stdatomic.h>
#include "tacit/base.h"
#include "tacit/elim.h"
#include "tacit/env.h"
#include "tacit/privacy.h"
#include "tacit/topo.h"

/* ---- Metrics --------------------------------------------------------------------------------- */

#define TACIT_SIM_METRICS(X)                                                                       \
    X(REGRET, "regret") /* summed over agents and slots */                                         \
    X(REGRET_PER_AGENT, "regret_per_agent")                                                        \
    X(REGRET_EXPLOIT, "regret_exploit") /* part of it: pulls while waiting */                      \
    X(ROUNDS, "rounds")                 /* epochs whose reports were collected */                  \
    X(COST, "cost")                     /* the paper's: links times what they cost */              \
    X(COST_ALL_EDGES, "cost_all_edges") /* the same with every edge in every slot (P1.17) */       \
    X(LINKS, "links")                   /* a round: star N, graph E d_G, hybrid sum of sd + Q */   \
    X(MESSAGES, "messages")             /* really sent; a broadcast is one */                      \
    X(MESSAGES_PER_RECEIVER, "messages_per_receiver") /* a broadcast is one an agent */            \
    X(SCALARS, "scalars")                             /* sums in reports sent */                   \
    X(BYTES, "bytes")                             /* on the wire; a broadcast is counted once */   \
    X(SINGLE_ARM_FRACTION, "single_arm_fraction") /* 1 if one arm was left at the end */           \
    X(BEST_ARM_FRACTION, "best_arm_fraction") /* 1 if the arm ranked first at the end is best */   \
    X(SAMPLES, "samples")                     /* pulls that entered estimates */

enum tacit_sim_metric {
#define X(name, text) TACIT_SIM_##name,
    TACIT_SIM_METRICS(X)
#undef X
        TACIT_SIM_METRIC_COUNT
};

/* The metric's name in JSON. Static storage. */
const char *tacit_sim_metric_name(enum tacit_sim_metric metric);

/* ---- Faults as data -------------------------------------------------------------------------- */

struct tacit_sim_faults {
    double loss;           /* chance that a message to one receiver is lost */
    double duplication;    /* chance that it comes twice */
    uint64_t delay_us_max; /* each copy is late by a uniform time up to this: so they overtake */
    double
        agent_crash;  /* chance that an agent dies in a step: before or after persist, after send */
    double hub_crash; /* the same for the hub */
    uint64_t down_us_max;  /* a crashed node is back after a uniform time up to this */
    uint32_t plan_parts;   /* a plan is served in so many parts, >= 1 */
    double noise_failure;  /* chance that a fill of an agent's entropy fails */
    uint32_t lost_agents;  /* so many agents, the first ones, go at a random time for good */
    uint64_t healed_at_us; /* from here on nothing goes wrong any more; lost agents are gone */
    /* W(A): from .. until, these agents and all others do not reach each other, nor the hub; NULL:
     * nobody is cut off. What is under way arrives. */
    const uint64_t *cut_off;
    uint64_t cut_off_from_us;
    uint64_t cut_off_until_us;
};

/* ---- Looking on and meddling ----------------------------------------------------------------- */

/* What an outside observer sees of a run, in order. Any function may be NULL. */
struct tacit_sim_observer {
    void *context;
    void (*agent_persisted)(void *context, uint32_t agent, const struct tacit_elim_agent *state);
    void (*peer_persisted)(void *context, uint32_t agent, const struct tacit_elim_peer *state);
    void (*hub_persisted)(void *context, const struct tacit_elim_hub *state);
    void (*sent)(void *context, const struct tacit_elim_message *message);
    void (*pulled)(void *context, uint32_t agent, uint32_t arm, uint64_t count);
    /* Between an agent's step and the effects of its update: where tests plant bugs. */
    void (*meddle)(void *context, uint32_t agent, struct tacit_elim_agent *state,
                   struct tacit_elim_update *update);
};

/* ---- Experiment ------------------------------------------------------------------------------ */

struct tacit_sim_elim {
    uint64_t seed;
    uint32_t run_count;
    uint32_t agent_count;
    uint32_t report_count; /* N: agents averaged in a round; each on its own: 1 */
    uint32_t round_limit;  /* R, or 0 */
    double gap;            /* Delta for R; 0: the true smallest gap of each run's means */
    uint64_t horizon;
    const uint64_t *points; /* slots at which the regret is recorded, increasing, <= horizon */
    uint32_t point_count;
    struct tacit_env env;
    bool instance_per_run; /* env.means are drawn anew for each run */
    struct tacit_mechanism mechanism;
    double epsilon_per_reward; /* in S and C; INFINITY switches the second terms off */
    double server_link_cost;   /* c1 */
    double peer_link_cost;     /* c2 */
    const struct tacit_elim_network *network; /* NULL: a star */
    uint32_t quorum;                          /* of the hub, as the two below; 0: all N */
    uint64_t round_timeout_us;                /* 0: no deadline */
    bool hub_answers_all;
    uint64_t gather_timeout_us;            /* of a sink, from its own report on; 0: waits for all */
    bool own_tables;                       /* of peers, also where nothing fails: for tests */
    const struct tacit_sim_faults *faults; /* NULL: every message arrives at once, nothing fails */
    const struct tacit_sim_observer *observer; /* NULL: none. Single-threaded use only */
};

/* Caller's arrays; run r fills row or column r. */
struct tacit_sim_results {
    double *metrics;      /* TACIT_SIM_METRIC_COUNT x run_count */
    double *regret;       /* run_count x point_count */
    uint32_t *eliminated; /* K x run_count: epoch of elimination, 0 = survived */
    bool *finished;       /* run_count */
};

/* Where a running experiment can be watched and stopped from another thread or a signal handler. */
struct tacit_sim_control {
    atomic_bool stop;
    atomic_uint finished_count;
};

/* Runs all runs on `thread_count` >= 1 threads. Results do not depend on thread_count.
 * Errors: TACIT_INTERRUPTED (runs that ended before the stop are in the results), TACIT_MEMORY,
 * TACIT_INVALID (a configuration that a core refuses). */
enum tacit_status tacit_sim_elim_run(const struct tacit_sim_elim *experiment, uint32_t thread_count,
                                     const struct tacit_sim_results *results,
                                     struct tacit_sim_control *control);

/* Runs run `run` alone. healed: did every agent that is not lost reach T? (Only faults can prevent
 * it.)
 * Errors: as above. */
enum tacit_status tacit_sim_elim_run_one(const struct tacit_sim_elim *experiment, uint32_t run,
                                         const struct tacit_sim_results *results,
                                         struct tacit_sim_control *control, bool *healed);

/* Slots 1..horizon at about equal distances on a log scale, the horizon last; fills points and
 * returns how many are different (<= wanted). Requires: wanted >= 1. */
uint32_t tacit_sim_log_points(uint64_t horizon, uint32_t wanted, uint64_t *points);

/* ---- Checkers -------------------------------------------------------------------------------- */

/* Watches a run from outside and remembers the first broken promise. */
struct tacit_sim_checker;

/* Errors: NULL when out of memory. */
struct tacit_sim_checker *tacit_sim_checker_new(const struct tacit_sim_elim *experiment);
void tacit_sim_checker_free(struct tacit_sim_checker *checker);

/* The observer to put into the experiment; meddle is NULL and may be set by a test. */
struct tacit_sim_observer tacit_sim_checker_observer(struct tacit_sim_checker *checker);

/* Compares the totals counted outside with the run's metrics. */
void tacit_sim_checker_finish(struct tacit_sim_checker *checker,
                              const struct tacit_sim_results *results, uint32_t run);

/* The first broken promise in words, or NULL. */
const char *tacit_sim_checker_fault(const struct tacit_sim_checker *checker);
#endif
