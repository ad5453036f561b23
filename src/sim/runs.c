/* Spreads runs over threads. Each run has its own streams and its own place in the results. */
#include "elim_run.h"
#include <pthread.h>
#include <stdlib.h>

struct crew {
    const struct tacit_sim_elim *experiment;
    const struct tacit_sim_results *results;
    struct tacit_sim_control *control;
    atomic_uint next_run;
    atomic_int status; /* the first failure of any worker */
};

static void fail(struct crew *crew, enum tacit_status status)
{
    int none = TACIT_OK;
    atomic_compare_exchange_strong(&crew->status, &none, (int)status);
}

static void *work(void *argument)
{
    struct crew *const crew = argument;
    enum tacit_status status;
    struct elim_run *const run = elim_run_new(crew->experiment, &status);
    while (status == TACIT_OK && atomic_load(&crew->status) == TACIT_OK) {
        uint32_t const index = atomic_fetch_add(&crew->next_run, 1);
        bool healed;
        if (index >= crew->experiment->run_count)
            break;
        status = atomic_load(&crew->control->stop)
                     ? TACIT_INTERRUPTED
                     : elim_run_play(run, index, crew->results, &crew->control->stop, &healed);
        if (status == TACIT_OK)
            atomic_fetch_add(&crew->control->finished_count, 1);
    }
    if (status != TACIT_OK)
        fail(crew, status);
    elim_run_free(run);
    return NULL;
}

enum tacit_status tacit_sim_elim_run(const struct tacit_sim_elim *experiment, uint32_t thread_count,
                                     const struct tacit_sim_results *results,
                                     struct tacit_sim_control *control)
{
    TACIT_ASSERT(thread_count >= 1);
    struct crew crew = {.experiment = experiment, .results = results, .control = control};
    uint32_t const wanted =
        thread_count < experiment->run_count ? thread_count : experiment->run_count;
    pthread_t *const threads = calloc(wanted, sizeof *threads);
    uint32_t started = 0;
    if (threads == NULL)
        return TACIT_MEMORY;
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, work, &crew) == 0)
        started++; /* fewer threads than asked for do the same work */
    (void)work(&crew);
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    free(threads);
    return (enum tacit_status)atomic_load(&crew.status);
}

enum tacit_status tacit_sim_elim_run_one(const struct tacit_sim_elim *experiment, uint32_t index,
                                         const struct tacit_sim_results *results,
                                         struct tacit_sim_control *control, bool *healed)
{
    enum tacit_status status;
    struct elim_run *const run = elim_run_new(experiment, &status);
    if (run == NULL)
        return status;
    status = elim_run_play(run, index, results, &control->stop, healed);
    elim_run_free(run);
    return status;
}
