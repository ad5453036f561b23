/* Entropy of the simulator as files, for daemons that run under test (src/live/daemon/entropy.c).
 */
#ifndef TACIT_TESTS_TAPE_H
#define TACIT_TESTS_TAPE_H
#include "tacit/random.h"
#include "tacit/sim.h"

/* Writes what the stream gives from here on, half a megabyte, to FOLDER/NAME. */
void tape_write(const char *folder, const char *name, struct tacit_rng stream);

/* What the two aggregators of a run add: FOLDER/coordinator.aggregator, FOLDER/helper.aggregator,
 * for live/noise_hook.c. */
void tape_write_aggregators(const char *folder, const struct tacit_sim *sim,
                            const struct tacit_mechanism *mechanism);

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
void tape_print_message(uint32_t from, uint32_t to, const uint8_t *bytes, size_t size);
/* "rewards AGENT ARM LEVEL...": a block's, which the run draws into one sum; one by one. */
void tape_print_rewards(struct tape_watch *watch, uint32_t agent, uint32_t arm, uint64_t count);
#endif
