/* What sites saw, and what a replay came to: one watch a thread, used for one run after the other.
 */
#include "watch.h"
#include <stdlib.h>
#include <string.h>

static size_t cells_of(const struct tacit_sim *sim)
{
    return sim->watches_sites ? (size_t)sim->agent_count * sim->env.arm_count : 0;
}

bool sim_watches(const struct tacit_sim *sim)
{
    return cells_of(sim) > 0 || sim->replay != NULL;
}

struct tacit_env_watch *sim_watch_new(const struct tacit_sim *sim)
{
    struct tacit_env_replay_log const *const log = sim->replay;
    size_t const cells = cells_of(sim);
    size_t const agents = log == NULL ? 0 : log->agent_count;
    size_t const rows = log == NULL ? 0 : log->start[log->agent_count];
    TACIT_IMPLIES(log != NULL, log->agent_count == sim->agent_count);
    struct tacit_env_watch *const watch =
        calloc(1, sizeof *watch + sizeof(struct tacit_env_replay) +
                      2 * (cells + agents) * sizeof(uint64_t) + (rows + agents) * sizeof(uint32_t));
    if (watch == NULL)
        return NULL;
    struct tacit_env_replay *const replay = (struct tacit_env_replay *)(void *)(watch + 1);
    uint64_t *const numbers = (uint64_t *)(void *)(replay + 1);
    replay->log = log;
    replay->limit = sim->replay_limit;
    replay->slots = numbers + 2 * cells;
    replay->ends = replay->slots + agents;
    replay->order = (uint32_t *)(void *)(replay->ends + agents);
    replay->next = replay->order + rows;
    watch->counts = cells > 0 ? numbers : NULL;
    watch->sums = cells > 0 ? (double *)(void *)(numbers + cells) : NULL;
    watch->replay = log != NULL ? replay : NULL;
    return watch;
}

void sim_watch_start(struct tacit_env_watch *watch, const struct tacit_sim *sim, uint32_t run)
{
    if (watch == NULL)
        return;
    if (watch->counts != NULL) {
        memset(watch->counts, 0, cells_of(sim) * sizeof *watch->counts);
        memset(watch->sums, 0, cells_of(sim) * sizeof *watch->sums);
    }
    if (watch->replay != NULL)
        tacit_env_replay_start(watch->replay, sim->seed, run, sim->replay_resamples);
}

void sim_watch_put(const struct tacit_env_watch *watch, const struct tacit_sim *sim, uint32_t run,
                   const struct tacit_sim_results *results)
{
    size_t const cells = cells_of(sim);
    if (watch == NULL)
        return;
    if (watch->counts != NULL && results->site_counts != NULL) {
        memcpy(results->site_counts + run * cells, watch->counts, cells * sizeof *watch->counts);
        memcpy(results->site_sums + run * cells, watch->sums, cells * sizeof *watch->sums);
    }
    if (watch->replay == NULL || results->replayed == NULL)
        return;
    struct tacit_sim_replayed *const replayed = &results->replayed[run];
    replayed->earned = watch->replay->earned;
    replayed->pulls = watch->replay->pulls;
    replayed->slots = tacit_env_replay_length(watch->replay, sim->horizon, &replayed->agent);
}
