/* Epoch elimination in which nothing fails, without messages: over a graph, where what each agent
 * knows after t slots follows from distances and after a round everybody knows everything; and over
 * a star, whose hub knows it at once. Equal, bit for bit, to the run of the cores that say it all
 * (run.c), in memory O(A K + E); over a star with exact bounds O(A + K). */
#ifndef TACIT_FAMILIES_ELIM_FLOOD_H
#define TACIT_FAMILIES_ELIM_FLOOD_H
#include "experiment.h"

struct elim_flood; /* the workspace of one thread */

/* Does distance decide everything in these runs? Not where something fails, where somebody looks
 * on, and where sinks collect. */
bool elim_flood_serves(const struct elim_sim *experiment);

/* Bytes that a workspace needs, but for what is counted of messages. */
double elim_flood_bytes(const struct elim_sim *experiment);

/* Of the owner's memory. Requires: it serves, and the cores would take the experiment. Errors: NULL
 * with *status = TACIT_MEMORY or TACIT_INVALID. */
struct elim_flood *elim_flood_new(const struct elim_sim *experiment, void *owner,
                                  enum tacit_status *status);

/* Plays run `index` of this instance with this Delta. Errors: TACIT_INTERRUPTED, TACIT_MEMORY. */
enum tacit_status elim_flood_play(struct elim_flood *flood, uint32_t index,
                                  const struct tacit_sim_instance *instance, double gap,
                                  atomic_bool *stop);

/* Of the last run. Messages, scalars and bytes are NaN where nobody waits for their counting. */
struct tacit_sim_totals elim_flood_totals(const struct elim_flood *flood);
void elim_flood_regret(const struct elim_flood *flood, double *regret);

/* What the agents of a component decided, all alike. */
struct tacit_elim_judge_view elim_flood_view(const struct elim_flood *flood, uint32_t agent);
#endif
