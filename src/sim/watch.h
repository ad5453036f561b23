/* Sim, inside: what a host sees of the pulls of a run, beside what the family makes of them. */
#ifndef TACIT_SIM_WATCH_H
#define TACIT_SIM_WATCH_H
#include "tacit/sim.h"

/* Is there anything to watch? */
bool sim_watches(const struct tacit_sim *sim);

/* One thread's. Ensures: to be given to free(), or NULL when out of memory. */
struct tacit_env_watch *sim_watch_new(const struct tacit_sim *sim);

/* As before run `run`. `watch` may be NULL, as below: nothing happens then. */
void sim_watch_start(struct tacit_env_watch *watch, const struct tacit_sim *sim, uint32_t run);

/* Puts what run `run` came to in its place. */
void sim_watch_put(const struct tacit_env_watch *watch, const struct tacit_sim *sim, uint32_t run,
                   const struct tacit_sim_results *results);
#endif
