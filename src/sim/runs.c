/* Spreads runs over threads. Each run has its own streams and its own place in the results. */
#include <pthread.h>
#include <stdlib.h>
#include "watch.h"

struct crew {
    const struct tacit_sim *sim;
    const struct tacit_sim_player *player;
    const void *plan;
    const struct tacit_sim_results *results;
    struct tacit_sim_control *control;
    uint32_t threads_a_run;
    atomic_uint next_run;
    atomic_int status; /* the first failure of any worker */
};

static void fail(struct crew *crew, enum tacit_status status)
{
    TACIT_ASSERT(status != TACIT_OK);
    int none = TACIT_OK;
    atomic_compare_exchange_strong(&crew->status, &none, (int)status);
}

static enum tacit_status play(struct crew *crew, void *run, uint32_t index,
                              struct tacit_sim_row *row)
{
    TACIT_ASSERT(index < crew->sim->run_count);
    uint32_t const metrics = crew->player->metric_count;
    if (atomic_load(&crew->control->stop))
        return TACIT_INTERRUPTED;
    if (crew->sim->skip != NULL && crew->sim->skip[index])
        return TACIT_OK;
    tacit_sim_row_clear(row, crew->sim, metrics);
    sim_watch_start(row->watch, crew->sim, index);
    enum tacit_status const status = crew->player->run_play(run, index, row, &crew->control->stop);
    if (status != TACIT_OK)
        return status;
    tacit_sim_results_put(crew->results, crew->sim, metrics, index, row);
    sim_watch_put(row->watch, crew->sim, index, crew->results);
    atomic_fetch_add(&crew->control->finished_count, 1);
    return TACIT_OK;
}

static void *work(void *argument)
{
    struct crew *const crew = argument;
    enum tacit_status status = TACIT_MEMORY;
    struct tacit_sim_row *const row = tacit_sim_row_new(crew->sim, crew->player->metric_count);
    struct tacit_env_watch *const watch = sim_watch_new(crew->sim);
    void *const run =
        row == NULL || watch == NULL ? NULL : crew->player->run_new(crew->plan, &status);
    TACIT_IMPLIES(run == NULL, status != TACIT_OK);
    if (run != NULL) {
        row->thread_count = crew->threads_a_run;
        row->watch = sim_watches(crew->sim) ? watch : NULL;
    }
    while (status == TACIT_OK && atomic_load(&crew->status) == TACIT_OK) {
        uint32_t const index = atomic_fetch_add(&crew->next_run, 1);
        if (index >= crew->sim->run_count)
            break;
        status = play(crew, run, index, row);
    }
    if (status != TACIT_OK)
        fail(crew, status);
    crew->player->run_free(run);
    free(watch);
    free(row);
    return NULL;
}

enum tacit_status tacit_sim_run(const struct tacit_sim *sim, const struct tacit_sim_player *player,
                                const void *plan, uint32_t thread_count,
                                const struct tacit_sim_results *results,
                                struct tacit_sim_control *control)
{
    TACIT_ASSERT(player->run_new != NULL);
    TACIT_ASSERT(player->run_play != NULL);
    TACIT_ASSERT(player->run_free != NULL);
    TACIT_ASSERT(thread_count >= 1);
    struct crew crew = {
        .sim = sim, .player = player, .plan = plan, .results = results, .control = control};
    uint32_t const wanted = thread_count < sim->run_count ? thread_count : sim->run_count;
    pthread_t *const threads = calloc(wanted + (size_t)1, sizeof *threads);
    uint32_t started = 0;
    if (threads == NULL)
        return TACIT_MEMORY;
    crew.threads_a_run = thread_count / (wanted > 0 ? wanted : 1);
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, work, &crew) == 0)
        started++; /* fewer threads than asked for do the same work */
    (void)work(&crew);
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    TACIT_ASSERT(started < (wanted > 0 ? wanted : 1));
    free(threads);
    return (enum tacit_status)atomic_load(&crew.status);
}
