/* Spreads runs over threads. Each run has its own streams and its own place in the results. */
#include <pthread.h>
#include <stdlib.h>
#include "watch.h"

struct pool {
    const struct tacit_sim *sim;
    const struct tacit_sim_player *player;
    const void *plan;
    const struct tacit_sim_results *results;
    struct tacit_sim_control *control;
    uint32_t threads_a_run;
    atomic_uint next_run;
    atomic_int status; /* the first failure of any worker */
};

static void fail(struct pool *pool, enum tacit_status status)
{
    TACIT_ASSERT(status != TACIT_OK);
    int none = TACIT_OK;
    atomic_compare_exchange_strong(&pool->status, &none, (int)status);
}

/* One run, unless it is to be skipped, and its row's place in the results. */
static enum tacit_status play(struct pool *pool, void *run, uint32_t index,
                              struct tacit_sim_row *row)
{
    TACIT_ASSERT(index < pool->sim->run_count);
    uint32_t const metrics = pool->player->metric_count;
    if (atomic_load(&pool->control->stop))
        return TACIT_INTERRUPTED;
    if (pool->sim->skip != NULL && pool->sim->skip[index])
        return TACIT_OK;
    tacit_sim_row_clear(row, pool->sim, metrics);
    sim_watch_start(row->watch, pool->sim, index);
    TACIT_TRY(pool->player->run_play(run, index, row, &pool->control->stop));
    tacit_sim_results_put(pool->results, pool->sim, metrics, index, row);
    sim_watch_put(row->watch, pool->sim, index, pool->results);
    atomic_fetch_add(&pool->control->finished_count, 1);
    return TACIT_OK;
}

/* A worker: plays runs, with a row and memory of its own, until none is left or one failed. */
static void *work(void *argument)
{
    struct pool *const pool = argument;
    enum tacit_status status = TACIT_MEMORY;
    struct tacit_sim_row *const row = tacit_sim_row_new(pool->sim, pool->player->metric_count);
    struct tacit_env_watch *const watch = sim_watch_new(pool->sim);
    void *const run =
        row == NULL || watch == NULL ? NULL : pool->player->run_new(pool->plan, &status);
    TACIT_IMPLIES(run == NULL, status != TACIT_OK);
    if (run != NULL) {
        row->thread_count = pool->threads_a_run;
        row->watch = sim_watches(pool->sim) ? watch : NULL;
    }
    while (status == TACIT_OK && atomic_load(&pool->status) == TACIT_OK) {
        uint32_t const index = atomic_fetch_add(&pool->next_run, 1);
        if (index >= pool->sim->run_count)
            break;
        status = play(pool, run, index, row);
    }
    if (status != TACIT_OK)
        fail(pool, status);
    tacit_sim_delete(run);
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
    TACIT_ASSERT(thread_count >= 1);
    struct pool pool = {
        .sim = sim, .player = player, .plan = plan, .results = results, .control = control};
    uint32_t const wanted = thread_count < sim->run_count ? thread_count : sim->run_count;
    pthread_t *const threads = calloc(wanted + (size_t)1, sizeof *threads);
    uint32_t started = 0;
    if (threads == NULL)
        return TACIT_MEMORY;
    pool.threads_a_run = thread_count / (wanted > 0 ? wanted : 1);
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, work, &pool) == 0)
        started++; /* fewer threads than asked for do the same work */
    (void)work(&pool);
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    TACIT_ASSERT(started < (wanted > 0 ? wanted : 1));
    free(threads);
    return (enum tacit_status)atomic_load(&pool.status);
}
