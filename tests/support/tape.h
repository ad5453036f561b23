/* Entropy of the simulator as files, for daemons that run under test (src/live/daemon/entropy.c).
 */
#ifndef TACIT_TESTS_TAPE_H
#define TACIT_TESTS_TAPE_H
#include "tacit/random.h"
#include "tacit/sim.h"
#include "tacit/wire.h"

/* Writes what the stream gives from here on, half a megabyte, to FOLDER/NAME. */
void tape_write(const char *folder, const char *name, struct tacit_rng stream);

#define TAPE_AGENTS_MAX 64u

/* What a run says and plays, as lines on stdout for tests that hold daemons against it. */
struct tape_watch {
    const struct tacit_sim *sim;
    const struct tacit_scale *scale;
    struct tacit_rng rewards[TAPE_AGENTS_MAX]; /* replays of the streams that the run draws from */
    bool is_over; /* the last order is out: what is pulled from here on is not told */
};

/* Writes FOLDER/AGENT.noise of all agents, and begins to replay their rewards. */
struct tape_watch tape_watch_begin(const char *folder, const struct tacit_sim *sim,
                                   const struct tacit_scale *scale);
/* "message FROM TO HEX" */
void tape_print_message(uint32_t from, uint32_t to, const struct tacit_wire_table *table,
                        const struct tacit_wire_shape *shape, const void *message);
/* "rewards AGENT ARM LEVEL...": a block's, which the run draws into one sum; one by one. */
void tape_print_rewards(struct tape_watch *watch, uint32_t agent, uint32_t arm, uint64_t count);

/* The run has two aggregators: what its sites would draw they add, and there is no floor; FOLDER/
 * coordinator.aggregator, FOLDER/helper.aggregator, for live/noise_hook.c. It is played without
 * messages, so its rewards are told where the simulator draws them (--wrap=tacit_sim_pull). */
void tape_begin_two(const char *folder, struct tape_watch *watch,
                    struct tacit_sim_aggregators *aggregators, struct tacit_mechanism *own);
extern struct tape_watch *tape_two; /* of such a run; NULL: there is one aggregator */
#endif
