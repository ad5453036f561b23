/* Running the runs of an experiment, until they are done or Ctrl-C says stop. */
#include "simulate.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The one thing a signal handler may touch. */
static struct tacit_sim_control control;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    atomic_store(&control.stop, true);
}

struct tacit_sim_control *simulate_control(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    return &control;
}

uint32_t simulate_threads(uint32_t asked)
{
    long const processors = sysconf(_SC_NPROCESSORS_ONLN);
    return asked > 0 ? asked : processors < 1 ? 1 : (uint32_t)processors;
}

/* Rankings only where all runs have one instance: else they are of different arms. */
static bool allocate_results(const struct tacit_experiment *experiment,
                             struct tacit_sim_results *results)
{
    struct tacit_sim const *const sim = &experiment->sim;
    size_t const runs = sim->run_count;
    size_t const arms = sim->env.arm_count;
    bool const ranks = experiment->family->ranks && !sim->instance_per_run && arms > 0;
    results->metrics = calloc(experiment->family->player.metric_count * runs, sizeof(double));
    results->regret = calloc(runs * sim->point_count, sizeof(double));
    results->finished = calloc(runs, sizeof(bool));
    if (experiment->family->eliminates)
        results->eliminated = calloc(runs * arms, sizeof(uint32_t));
    if (ranks) {
        results->ranking = calloc(runs * arms, sizeof(uint32_t));
        results->ranked_count = calloc(runs, sizeof(uint32_t));
    }
    return results->metrics != NULL && results->regret != NULL && results->finished != NULL &&
           (results->eliminated != NULL || !experiment->family->eliminates) &&
           (!ranks || (results->ranking != NULL && results->ranked_count != NULL));
}

/* Moves what belongs to finished runs to the front: rows of `width` items a run. */
static void keep_rows(const bool *finished, uint32_t runs, void *items, size_t bytes, size_t width)
{
    unsigned char *to = items;
    for (uint32_t run = 0; items != NULL && run < runs; run++)
        if (finished[run]) {
            memmove(to, (unsigned char *)items + run * width * bytes, width * bytes);
            to += width * bytes;
        }
}

/* The same for columns: `height` rows of one item a run. */
static void keep_columns(const bool *finished, uint32_t runs, void *items, size_t bytes,
                         size_t height)
{
    unsigned char *to = items;
    for (size_t i = 0; items != NULL && i < height * runs; i++)
        if (finished[i % runs]) {
            memmove(to, (unsigned char *)items + i * bytes, bytes);
            to += bytes;
        }
}

/* Moves the finished runs to the front of every row and column, so that the arrays have `finished`
 * runs; returns that number. */
static uint32_t keep_finished(const struct tacit_experiment *experiment,
                              struct tacit_sim_results *results)
{
    struct tacit_sim const *const sim = &experiment->sim;
    bool const *const is = results->finished;
    uint32_t const runs = sim->run_count;
    size_t const arms = sim->env.arm_count;
    uint32_t finished = 0;
    for (uint32_t run = 0; run < runs; run++)
        finished += is[run] ? 1 : 0;
    if (finished == runs)
        return runs;
    keep_columns(is, runs, results->metrics, sizeof(double),
                 experiment->family->player.metric_count);
    keep_columns(is, runs, results->eliminated, sizeof(uint32_t), arms);
    keep_rows(is, runs, results->regret, sizeof(double), sim->point_count);
    keep_rows(is, runs, results->ranking, sizeof(uint32_t), arms);
    keep_rows(is, runs, results->ranked_count, sizeof(uint32_t), 1);
    return finished;
}

enum tacit_status simulate(struct simulation *simulation, const struct tacit_experiment *experiment,
                           uint32_t thread_count, struct tacit_sim_control *shared)
{
    *simulation = (struct simulation){0};
    if (!allocate_results(experiment, &simulation->results))
        return TACIT_MEMORY;
    enum tacit_status const status =
        tacit_sim_run(&experiment->sim, &experiment->family->player, experiment->plan, thread_count,
                      &simulation->results, shared);
    simulation->finished = keep_finished(experiment, &simulation->results);
    return status;
}

void simulation_free(struct simulation *simulation)
{
    free(simulation->results.metrics);
    free(simulation->results.regret);
    free(simulation->results.eliminated);
    free(simulation->results.finished);
    free(simulation->results.ranking);
    free(simulation->results.ranked_count);
    *simulation = (struct simulation){0};
}
