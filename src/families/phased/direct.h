/* Runs of play in phases where nothing fails and nobody looks on: a loop around the judge alone. It
 * draws from the same streams as the cores do as nodes, so that its numbers are theirs to the last
 * bit. */
#ifndef TACIT_FAMILIES_PHASED_DIRECT_H
#define TACIT_FAMILIES_PHASED_DIRECT_H
#include "experiment.h"

struct phased_direct; /* the workspace of one thread */

/* May runs of this experiment be played so? (There are no faults, no grants, nobody looks on, and
 * the first plan fits: else sites do more than plans say.) */
bool phased_direct_may_play(const struct phased_sim *sim);

/* Errors: NULL with *status = TACIT_MEMORY or TACIT_INVALID. */
struct phased_direct *phased_direct_new(const struct phased_sim *sim, void *owner,
                                        enum tacit_status *status);

/* What a run came to, beside its judge. */
struct phased_direct_result {
    struct tacit_sim_totals totals;
    double samples;
};

/* Plays run number `index`, whose instance is drawn, to its end; writes the regret at each point.
 * Errors: TACIT_INTERRUPTED. */
enum tacit_status phased_direct_play(struct phased_direct *direct, uint32_t index,
                                     const struct tacit_sim_instance *instance, atomic_bool *stop,
                                     double *regret, struct phased_direct_result *result);

/* Of the last run: what an arm loses against the best one that is there at the end. */
double phased_direct_gap(const struct phased_direct *direct, uint32_t arm);
const struct tacit_phased_judge *phased_direct_judge(const struct phased_direct *direct);

/* EXACT-BOUNDS 5.6: scalars are the noised sums. Bytes: on the wire, without grants. */
struct tacit_sim_cost phased_message_cost(enum tacit_round_kind kind, uint64_t blocks);
#endif
