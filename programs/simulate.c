/* Running the runs of an experiment, until they are done or Ctrl-C says stop. */
#include "simulate.h"
#include <signal.h>
#include <stdlib.h>
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

static bool allocate_results(const struct tacit_sim_elim *sim, struct tacit_sim_results *results)
{
    size_t const runs = sim->run_count;
    results->metrics = calloc(TACIT_SIM_METRIC_COUNT * runs, sizeof(double));
    results->regret = calloc(runs * sim->point_count, sizeof(double));
    results->eliminated = calloc(runs * sim->env.arm_count, sizeof(uint32_t));
    results->finished = calloc(runs, sizeof(bool));
    return results->metrics != NULL && results->regret != NULL && results->eliminated != NULL &&
           results->finished != NULL;
}

/* Moves the finished runs to the front of every row and column, so that the arrays have `finished`
 * runs; returns that number. */
static uint32_t keep_finished(const struct tacit_sim_elim *sim, struct tacit_sim_results *results)
{
    uint32_t const runs = sim->run_count;
    uint32_t finished = 0;
    for (uint32_t run = 0; run < runs; run++)
        finished += results->finished[run] ? 1 : 0;
    if (finished == runs)
        return runs;
    double *metric = results->metrics;
    double *regret = results->regret;
    uint32_t *eliminated = results->eliminated;
    for (size_t i = 0; i < (size_t)TACIT_SIM_METRIC_COUNT * runs; i++)
        if (results->finished[i % runs])
            *metric++ = results->metrics[i];
    for (uint32_t run = 0; run < runs; run++)
        for (uint32_t point = 0; results->finished[run] && point < sim->point_count; point++)
            *regret++ = results->regret[(size_t)run * sim->point_count + point];
    for (size_t i = 0; i < (size_t)sim->env.arm_count * runs; i++)
        if (results->finished[i % runs])
            *eliminated++ = results->eliminated[i];
    return finished;
}

enum tacit_status simulate(struct simulation *simulation, const struct experiment *experiment,
                           uint32_t thread_count, struct tacit_sim_control *shared)
{
    *simulation = (struct simulation){0};
    if (!allocate_results(&experiment->sim, &simulation->results))
        return TACIT_MEMORY;
    enum tacit_status const status =
        tacit_sim_elim_run(&experiment->sim, thread_count, &simulation->results, shared);
    simulation->finished = keep_finished(&experiment->sim, &simulation->results);
    return status;
}

void simulation_free(struct simulation *simulation)
{
    free(simulation->results.metrics);
    free(simulation->results.regret);
    free(simulation->results.eliminated);
    free(simulation->results.finished);
    *simulation = (struct simulation){0};
}
