/* Sim: what simulated runs of every family have in common; it knows no family. One slot, in which
 * each agent pulls once, is one microsecond of virtual time. Runs are spread over threads; each has
 * its own streams, so the result of a run depends on (seed, run) only.
 *
 * A family plays a run in one of two ways. Its cores are nodes, which exchange messages over a
 * network ("Nodes"). Or it has a loop of its own and records with a meter ("Loops"). Either way it
 * fills one row of results. */
#ifndef TACIT_SIM_H
#define TACIT_SIM_H
#include <stdatomic.h>
#include "tacit/base.h"
#include "tacit/core.h"
#include "tacit/env.h"
#include "tacit/privacy.h"
#include "tacit/random.h"
#include "tacit/topo.h"

/* ---- What the runs of an experiment have in common ------------------------------------------- */

struct tacit_sim {
    uint64_t seed;
    uint32_t run_count;
    uint32_t agent_count;
    uint64_t horizon;
    const uint64_t *points; /* slots at which the regret is recorded, increasing, <= horizon */
    uint32_t point_count;
    struct tacit_env env;         /* no arms: the family has an environment of its own */
    bool instance_per_run;        /* env.means are drawn anew for each run */
    uint32_t profile_values;      /* numbers of a run in the family's profiles; 0: it has none */
    const uint64_t *series_slots; /* slots of the profiles that are series, increasing; or NULL */
    uint32_t series_count;
    uint32_t curve_count; /* metrics of the family that are known over time */
    bool watches_sites;   /* what each agent saw of each arm is in the results */
    const struct tacit_env_replay_log *replay; /* answers pulls by rejection; NULL: it does not */
    uint64_t replay_limit;                     /* slots that count */
    bool replay_resamples; /* runs go through as many rows drawn from the log, not through the
                              log's own in random order */
    const bool *skip; /* run_count: runs that are not played, their results untouched; NULL: none */
};

/* Slots 1..horizon at about equal distances on a log scale, the horizon last; fills points and
 * returns how many are different (<= wanted). Requires: wanted >= 1. */
uint32_t tacit_sim_log_points(uint64_t horizon, uint32_t wanted, uint64_t *points);

/* The first point >= slot, or `count`. Cost: O(log count). */
uint32_t tacit_sim_first_point(const uint64_t *points, uint32_t count, uint64_t slot);

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Room for `count` x `size` bytes, all zero, aligned for any type. With `owner`, the first block of
 * others, it is given back together with that; NULL: it is such a first block itself.
 * Errors: NULL, out of memory; an owner remembers that. */
void *tacit_sim_new(void *owner, size_t count, size_t size);

/* Was there memory for all that was asked for in the name of this first block? */
bool tacit_sim_is_whole(void *owner);

/* The same as a status: TACIT_OK or TACIT_MEMORY. */
enum tacit_status tacit_sim_memory_status(void *owner);

/* Calls `end` before the block is given back: for what it holds and its owner does not. */
void tacit_sim_at_end(void *block, void (*end)(void *block));

/* A first block of so many bytes, which `make` fills in its own name: the object of a thread's
 * runs. Errors: NULL with *status as `make` says, or TACIT_MEMORY; then nothing stays. */
void *tacit_sim_make(size_t size, enum tacit_status (*make)(void *run, const void *plan),
                     const void *plan, enum tacit_status *status);

/* Gives back a first block and all that is with it. NULL is allowed. */
void tacit_sim_delete(void *owner);

/* ---- Instances ------------------------------------------------------------------------------- */

/* The means of one run, and what follows from them. */
struct tacit_sim_instance {
    struct tacit_env env;
    double *global_means; /* K */
    double *gaps;         /* K: the best global mean less this arm's */
    double *own_means;    /* rows x K: those of env where each run has its own */
};

/* Of the owner's memory. Errors: TACIT_MEMORY. */
enum tacit_status tacit_sim_instance_init(struct tacit_sim_instance *instance,
                                          const struct tacit_sim *sim, void *owner);

/* Makes it the instance of run `run`: the same for every family and baseline. Cost: O(rows K). */
void tacit_sim_instance_draw(struct tacit_sim_instance *instance, const struct tacit_sim *sim,
                             uint32_t run);

struct tacit_sim_row;

/* Lets the host of this row see the pulls of the run that is about to be played: every family says
 * this after it has drawn the instance. */
void tacit_sim_instance_watch(struct tacit_sim_instance *instance, const struct tacit_sim_row *row);

/* Adds the rewards of `count` pulls to *sum (tacit_env_pull). Result: false if *stop became true
 * meanwhile, which is looked at where rewards are drawn one by one. */
bool tacit_sim_pull(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count,
                    const struct tacit_scale *scale, struct tacit_rng *rng, union tacit_sum *sum,
                    atomic_bool *stop);

/* ---- Results --------------------------------------------------------------------------------- */

/* What one run came to. A family's run fills it; all is zero before. */
struct tacit_sim_row {
    double *metrics;      /* one a metric, in the order of the family's table */
    double *regret;       /* point_count: summed over agents and slots, up to each point */
    double *profiles;     /* profile_values; NaN: it did not happen in this run */
    double *curves;       /* curve_count x point_count, in the order of the family's table */
    uint32_t *eliminated; /* K: epoch of elimination, 0 = survived */
    uint32_t *ranking; /* K: the arms that are left, by the protocol's own estimates, best first */
    uint32_t ranked_count;         /* so many of them; 0: it ranks nothing */
    uint32_t thread_count;         /* of the run: it may play on so many itself; 1 or more */
    struct tacit_env_watch *watch; /* the host's; NULL: nobody watches */
};

/* What a replay came to. */
struct tacit_sim_replayed {
    double earned;  /* by the pulls that count */
    uint64_t pulls; /* that count */
    uint64_t slots; /* up to which every agent's pulls were answered by the log */
    uint32_t agent; /* whose rows were used up first, if slots is less than the horizon */
};

/* Caller's arrays; run r fills row or column r. Those of the second half may be NULL. */
struct tacit_sim_results {
    double *metrics;        /* metric_count x run_count */
    double *regret;         /* run_count x point_count */
    bool *finished;         /* run_count */
    uint32_t *eliminated;   /* K x run_count */
    uint32_t *ranking;      /* run_count x K */
    uint32_t *ranked_count; /* run_count */
    double *profiles;       /* run_count x profile_values */
    double *curves;         /* curve_count x run_count x point_count */
    uint64_t *site_counts;  /* run_count x A x K: pulls that a site saw; NULL: none are watched */
    double *site_sums;      /* run_count x A x K: what they brought */
    struct tacit_sim_replayed *replayed; /* run_count */
};

/* Ensures: a row with room for all, or NULL when out of memory; to be given to free(). */
struct tacit_sim_row *tacit_sim_row_new(const struct tacit_sim *sim, uint32_t metric_count);

/* All zero, as before a run. */
void tacit_sim_row_clear(struct tacit_sim_row *row, const struct tacit_sim *sim,
                         uint32_t metric_count);

/* The ranking of learners that are never sure. Requires: row->ranking[arm] agents hold this arm for
 * better than every other. Ensures: the ranking is the arm that most of them hold for best, lowest
 * index on ties; all arms if none of them knows a best one: then nothing is decided. */
void tacit_sim_row_elect(struct tacit_sim_row *row, uint32_t arm_count);

/* Puts the row of run `run` in its place. */
void tacit_sim_results_put(const struct tacit_sim_results *results, const struct tacit_sim *sim,
                           uint32_t metric_count, uint32_t run, const struct tacit_sim_row *row);

/* ---- Runs over threads ----------------------------------------------------------------------- */

/* Who plays. A thread makes one run object, a first block of memory, and plays run after run with
 * it. */
struct tacit_sim_player {
    uint32_t metric_count;
    /* Errors: NULL with *status = TACIT_MEMORY or TACIT_INVALID (a plan that a core refuses). */
    void *(*run_new)(const void *plan, enum tacit_status *status);
    /* Plays run `index` to its end and fills the row. Errors: TACIT_INTERRUPTED soon after *stop
     * became true, TACIT_MEMORY; the row is then not used. */
    enum tacit_status (*run_play)(void *run, uint32_t index, struct tacit_sim_row *row,
                                  atomic_bool *stop);
};

/* Where a running experiment can be watched and stopped from another thread or a signal handler. */
struct tacit_sim_control {
    atomic_bool stop;
    atomic_uint finished_count;
};

/* Plays all runs on `thread_count` >= 1 threads; where there are fewer runs, each has several.
 * Results do not depend on thread_count.
 * Errors: TACIT_INTERRUPTED (runs that ended before the stop are in the results), TACIT_MEMORY,
 * TACIT_INVALID (a plan that a core refuses). */
enum tacit_status tacit_sim_run(const struct tacit_sim *sim, const struct tacit_sim_player *player,
                                const void *plan, uint32_t thread_count,
                                const struct tacit_sim_results *results,
                                struct tacit_sim_control *control);

/* ---- Loops: recording without a branch a pull ------------------------------------------------ */

/* Writes the regret of a run at its points. A loop plays in stretches:
 *   for (uint64_t t = 0; t < T;) {
 *       uint64_t const end = t + tacit_sim_meter_span(&meter, t);
 *       for (; t < end; t++) ... regret += gap of the arm played ...
 *       tacit_sim_meter_record(&meter, t, regret);
 *       if (atomic_load(stop)) return TACIT_INTERRUPTED;
 *   }
 *   tacit_sim_meter_end(&meter, regret); */
struct tacit_sim_meter {
    const uint64_t *points;
    uint32_t point_count;
    uint32_t next;
    uint64_t horizon;
    double *regret;
};

/* Ensures: nothing marked. `regret`: point_count values, those of the row. */
struct tacit_sim_meter tacit_sim_meter_start(const struct tacit_sim *sim, double *regret);

/* Slots that may be played after `slot` slots before the next mark: up to the next point, to the
 * horizon, and at most 2^20. Ensures: > 0 where slot < horizon. Cost: O(1). */
uint64_t tacit_sim_meter_span(const struct tacit_sim_meter *meter, uint64_t slot);

/* After `slot` slots the regret is `regret`. Requires: no point was passed over. */
void tacit_sim_meter_record(struct tacit_sim_meter *meter, uint64_t slot, double regret);

/* The run is over, perhaps early: nothing is lost any more. */
void tacit_sim_meter_end(struct tacit_sim_meter *meter, double regret);

/* ---- Loops over blocks: regret of many pulls at once ----------------------------------------- */

/* The regret of a run that is played in blocks, by agents that are not at the same slot. */
struct tacit_sim_curve {
    const uint64_t *points;
    uint32_t point_count;
    double *step;    /* joins the curve at this point and stays */
    double *partial; /* counts at this point only */
    double total;
};

/* Of the owner's memory. Errors: TACIT_MEMORY. */
enum tacit_status tacit_sim_curve_init(struct tacit_sim_curve *curve, const struct tacit_sim *sim,
                                       void *owner);

/* Nothing was played yet. */
void tacit_sim_curve_clear(struct tacit_sim_curve *curve);

/* Adds what one agent loses by playing the plan in slots first+1 .. first+(sum of the counts), its
 * arms in turn by index. Cost: O(log points + points within the plan). */
void tacit_sim_curve_add(struct tacit_sim_curve *curve, uint64_t first,
                         const struct tacit_pull_block *plan, uint32_t plan_count,
                         const double *gaps);

/* The same of so many agents, one after the other, bit for bit. */
void tacit_sim_curve_add_all(struct tacit_sim_curve *curve, uint64_t first,
                             const struct tacit_pull_block *plan, uint32_t plan_count,
                             const double *gaps, uint32_t agent_count);

/* Writes the cumulative regret at each point. */
void tacit_sim_curve_read(const struct tacit_sim_curve *curve, double *regret);

/* ---- Pulls: regret of many agents, whatever the order ---------------------------------------- */

/* As the curve, in numbers of pulls: what is played comes to the same regret, bit for bit, in
 * whatever order and pieces it is added. For runs in which many agents play alike. */
struct tacit_sim_pulls {
    const uint64_t *points;
    uint32_t point_count;
    uint32_t arm_count;
    uint64_t *step;    /* (point_count + 1) x K: joins at this point and stays; at last: the rest */
    uint64_t *partial; /* (point_count + 1) x K: counts at this point only */
    uint64_t *waited;  /* K: part of them, while waiting */
};

/* Of the owner's memory. Errors: TACIT_MEMORY. */
enum tacit_status tacit_sim_pulls_init(struct tacit_sim_pulls *pulls, const struct tacit_sim *sim,
                                       void *owner);

/* Nothing was played yet. */
void tacit_sim_pulls_clear(struct tacit_sim_pulls *pulls);

/* So many agents play the plan in slots first+1 .. first+(sum of the counts), its arms in turn.
 * Cost: O(log points + points within the plan x K). */
void tacit_sim_pulls_add(struct tacit_sim_pulls *pulls, uint64_t first,
                         const struct tacit_pull_block *plan, uint32_t plan_count, uint64_t times);

/* The same of one arm, while they wait. */
void tacit_sim_pulls_wait(struct tacit_sim_pulls *pulls, uint64_t first, uint32_t arm,
                          uint64_t count, uint64_t times);

/* What was lost in all, and while waiting. Cost: O(points K). */
double tacit_sim_pulls_total(const struct tacit_sim_pulls *pulls, const double *gaps);
double tacit_sim_pulls_waited(const struct tacit_sim_pulls *pulls, const double *gaps);

/* Writes the cumulative regret at each point. Cost: O(points K). */
void tacit_sim_pulls_read(const struct tacit_sim_pulls *pulls, const double *gaps, double *regret);

/* ---- Nodes: cores on a network of opaque messages -------------------------------------------- */

/* Nodes are numbered: agents 0 .. A-1, then, if there is one, the hub: node A. */

/* What goes wrong in a run: for tests, which also have clones of agents, as nodes from A + 1 on. */
struct tacit_sim_faults {
    const struct sim_fault_ops *ops; /* src/sim/nodes.h */
    uint32_t clones;
    uint64_t delay_us_max; /* a message is late by up to this */
};

/* A message, and to whom: an agent, TACIT_HUB, TACIT_EVERYONE (all agents) or TACIT_NEIGHBOURS. */
struct tacit_sim_send {
    uint32_t to;
    const void *message; /* valid until the node's next step */
};

/* What a node asks for. It is carried out in this order: persist, send, pull, set the timer. */
struct tacit_sim_update {
    bool persist;
    struct tacit_sim_send send;          /* its message NULL: nothing */
    const struct tacit_pull_block *plan; /* replaces the one before; at most K blocks */
    uint32_t plan_count;
    bool plan_is_void;    /* what is left of the one before is not to be played */
    uint64_t deadline_us; /* TACIT_NEVER: no timer */
};

/* Of a core that says one message at most. */
struct tacit_sim_update tacit_sim_update_of(const struct tacit_update *made, uint32_t to,
                                            const void *message);

/* What a message costs. */
struct tacit_sim_cost {
    uint64_t scalars;       /* numbers in it */
    uint64_t bytes;         /* on the wire */
    uint64_t control_bytes; /* and those that the protocol needs for itself, not for its results */
    bool is_control;        /* it has no other */
};

/* What a family's nodes are; called once an event, never once a pull. `family` is the context that
 * the configuration has. */
struct tacit_sim_node_ops {
    /* Bytes of the state. */
    size_t (*size)(void *family, uint32_t node);
    /* One step of the core, and what it asks for. A refusal asks for nothing but the timer that
     * stands. */
    void (*step)(void *family, uint32_t node, const struct tacit_event *event,
                 const struct tacit_entropy *entropy, struct tacit_sim_update *update);
    /* Which arm would an agent that waits play meanwhile, and how often at most? False: none. */
    bool (*exploit)(void *family, uint32_t node, uint32_t *arm, uint64_t *count_max);
    /* A deep copy in `memory` (8-byte aligned), of so many bytes. */
    size_t (*message_size)(void *family, const void *message);
    const void *(*message_copy)(void *family, const void *message, void *memory);
    /* Of messages that arrive at one time those with a lower rank come first; NULL: none. */
    uint32_t (*message_rank)(void *family, const void *message);
    struct tacit_sim_cost (*message_cost)(void *family, const void *message);
    /* For those who look on, in order; each may be NULL. */
    void (*persisted)(void *family, uint32_t node);
    void (*sent)(void *family, const void *message);
    void (*pulled)(void *family, uint32_t node, uint32_t arm, uint64_t count);
};

struct tacit_sim_nodes_config {
    const struct tacit_sim *sim;
    const struct tacit_sim_node_ops *ops;
    void *family;
    const struct tacit_graph *graph;       /* NULL: nobody has neighbours */
    const struct tacit_sim_faults *faults; /* NULL: every message arrives at once, nothing fails */
    struct tacit_scale scale;              /* of the sums of rewards */
    bool has_hub;
    bool ends_at_horizon; /* an agent at T is done, whatever it waits for; later nothing happens */
    bool counts_pulls;    /* regret from numbers of pulls (tacit_sim_pulls), not from a curve */
    uint32_t reward_purpose; /* of the streams (run, agent, purpose) */
    uint32_t noise_purpose;
    uint32_t hub_purpose; /* of the stream (run, TACIT_STREAM_COMMON, purpose) */
};

/* What was sent, and what was lost while waiting. */
struct tacit_sim_totals {
    double messages;              /* a broadcast is one */
    double messages_per_receiver; /* a broadcast is one a receiver */
    double scalars;
    double bytes;
    double control_messages; /* not among the messages, .. */
    double control_bytes;    /* .. and not among the bytes */
    double regret;
    double regret_exploit; /* part of it: pulls while waiting */
};

/* So many messages of this cost, each to so many receivers. */
void tacit_sim_count(struct tacit_sim_totals *totals, struct tacit_sim_cost cost, double count,
                     double receivers);

/* ---- Two aggregators ---- */

/* The noise of hub and helper, where totals are added up at once: the law of masks, envelopes and
 * answers (tacit/helper.h; tests/stat/helper_audit.c) without them. */
struct tacit_sim_aggregators {
    bool are_two;
    struct tacit_mechanism mechanism; /* of each */
    struct tacit_rng streams[2];      /* of a run */
};

/* Begins a run. Requires: are_two and mechanism are set. */
void tacit_sim_aggregators_begin(struct tacit_sim_aggregators *aggregators, uint64_t seed,
                                 uint32_t run);

/* Adds the noise of both to each of `count` totals of one round; of one aggregator nothing. */
void tacit_sim_aggregators_add(struct tacit_sim_aggregators *aggregators, int64_t *totals,
                               uint32_t count);

/* Bytes of a round's request and answer, and of an envelope in each report, as the messages are. */
double tacit_sim_aggregators_bytes(uint32_t agents, uint32_t count);

/* Counts them, and both messages; of one aggregator nothing. */
void tacit_sim_aggregators_count(const struct tacit_sim_aggregators *aggregators, uint32_t agents,
                                 uint32_t count, struct tacit_sim_totals *totals);

struct tacit_sim_nodes; /* the nodes of one thread, used for one run after the other */

/* Of the memory of config->family, a first block. Errors: NULL, TACIT_MEMORY. */
struct tacit_sim_nodes *tacit_sim_nodes_new(const struct tacit_sim_nodes_config *config);

/* The memory of a node's state (8-byte aligned). */
void *tacit_sim_nodes_state(const struct tacit_sim_nodes *nodes, uint32_t node);

/* Plays one run: START to every agent, then to the hub, then whatever happens, until all agents are
 * done. Requires: the family has put all nodes into their first state. Errors: TACIT_INTERRUPTED,
 * TACIT_MEMORY. */
enum tacit_status tacit_sim_nodes_play(struct tacit_sim_nodes *nodes, uint32_t run,
                                       const struct tacit_sim_instance *instance,
                                       atomic_bool *stop);

/* Of the last run. */
struct tacit_sim_totals tacit_sim_nodes_totals(const struct tacit_sim_nodes *nodes);
void tacit_sim_nodes_regret(const struct tacit_sim_nodes *nodes, double *regret);
#endif
