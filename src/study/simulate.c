/* Running the runs of an experiment, until they are done or Ctrl-C says stop. */
#include "simulate.h"
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "now.h"
#include "results.h"

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
    cpu_set_t allowed; /* a launcher may leave some of them only */
    long const processors = sched_getaffinity(0, sizeof allowed, &allowed) == 0
                                ? CPU_COUNT(&allowed)
                                : sysconf(_SC_NPROCESSORS_ONLN);
    return asked > 0 ? asked : processors < 1 ? 1 : (uint32_t)processors;
}

/* ---- Baselines ---- */

/* The closed forms, one value a finished run. Errors: TACIT_MEMORY. */
static enum tacit_status work_out_baselines(const struct tacit_experiment *experiment,
                                            struct simulation *simulation)
{
    struct tacit_sim const *const sim = &experiment->sim;
    struct tacit_sim_instance instance;
    bool const has_floor = tacit_baseline_has_floor(experiment);
    if (sim->env.arm_count == 0)
        return TACIT_OK;
    void *const memory = tacit_sim_new(NULL, 1, 1);
    enum tacit_status status =
        memory == NULL ? TACIT_MEMORY : tacit_sim_instance_init(&instance, sim, memory);
    simulation->uniform = calloc(sim->run_count, sizeof(double));
    simulation->floor = has_floor ? calloc(sim->run_count, sizeof(double)) : NULL;
    if (simulation->uniform == NULL || (has_floor && simulation->floor == NULL))
        status = TACIT_MEMORY;
    bool is_drawn = false;
    uint32_t finished = 0;
    for (uint32_t run = 0; run < sim->run_count && status == TACIT_OK; run++) {
        if (!simulation->results.finished[run])
            continue;
        if (!is_drawn || sim->instance_per_run)
            tacit_sim_instance_draw(&instance, sim, run);
        is_drawn = true;
        simulation->uniform[finished] = tacit_baseline_uniform(experiment, &instance);
        if (has_floor)
            simulation->floor[finished] = tacit_baseline_floor(experiment, &instance);
        finished++;
    }
    tacit_sim_delete(memory);
    return status;
}

/* Means over the runs, a column of `regret` each. */
static void average(const struct tacit_sim *sim, const double *regret, double *curve)
{
    for (uint32_t point = 0; point < sim->point_count; point++) {
        double sum = 0;
        for (uint32_t run = 0; run < sim->run_count; run++)
            sum += regret[(size_t)run * sim->point_count + point];
        curve[point] = sum / sim->run_count;
    }
}

/* ---- Runs ---- */

#define SLICE_S 10 /* of work that an end without a word may cost */

/* Plays the next runs that are not finished, at most `most` of them. *left: are there more?
 * *has_played: was there any? */
static enum tacit_status play_slice(const struct tacit_experiment *experiment,
                                    const struct run_cache *cache,
                                    const struct tacit_sim_results *results, uint32_t most,
                                    uint32_t thread_count, struct tacit_sim_control *shared,
                                    bool *left, bool *has_played)
{
    struct tacit_sim sim = experiment->sim;
    bool *const skip = calloc(sim.run_count, sizeof *skip);
    uint32_t chosen = 0;
    if (skip == NULL)
        return TACIT_MEMORY;
    *left = false;
    for (uint32_t run = 0; run < sim.run_count; run++) {
        bool const plays =
            !results->finished[run] && (cache == NULL || (run >= cache->first && run < cache->end));
        skip[run] = !plays || chosen == most;
        *left = *left || (plays && skip[run]);
        chosen += skip[run] ? 0 : 1;
    }
    sim.watches_sites = results->site_counts != NULL;
    sim.skip = skip;
    *has_played = chosen > 0;
    enum tacit_status const status =
        chosen == 0 ? TACIT_OK
                    : tacit_sim_run(&sim, &experiment->family->player, experiment->plan,
                                    thread_count, results, shared);
    free(skip);
    return status;
}

/* What is written is played in slices of about ten seconds. */
static enum tacit_status play(const struct tacit_experiment *experiment,
                              const struct run_cache *cache,
                              const struct tacit_sim_results *results, uint32_t thread_count,
                              struct tacit_sim_control *shared, struct tacit_error *error)
{
    bool const writes = cache != NULL && cache->writes;
    bool left = true;
    bool has_played;
    enum tacit_status status =
        cache == NULL ? TACIT_OK : run_cache_read(cache, experiment, results, error);
    for (uint32_t run = 0; run < experiment->sim.run_count && status == TACIT_OK; run++)
        atomic_fetch_add(&shared->finished_count, results->finished[run] ? 1u : 0u);
    for (uint32_t most = writes ? thread_count : UINT32_MAX; left && status == TACIT_OK;) {
        double const begin = study_now_s();
        status =
            play_slice(experiment, cache, results, most, thread_count, shared, &left, &has_played);
        if (!writes || !has_played || (status != TACIT_OK && status != TACIT_INTERRUPTED))
            break;
        enum tacit_status const written = run_cache_write(cache, experiment, results, error);
        status = written == TACIT_OK ? status : written;
        if (study_now_s() - begin < SLICE_S / 2.0 && most < UINT32_MAX / 2)
            most *= 2;
        else if (study_now_s() - begin > SLICE_S && most > thread_count)
            most /= 2;
    }
    return status;
}

enum tacit_status simulate(struct simulation *simulation, const struct tacit_experiment *experiment,
                           const struct run_cache *cache, uint32_t thread_count,
                           struct tacit_sim_control *shared, struct tacit_error *error)
{
    *simulation = (struct simulation){0};
    if (!results_allocate(&simulation->results, experiment, false))
        return TACIT_MEMORY;
    enum tacit_status const status =
        play(experiment, cache, &simulation->results, thread_count, shared, error);
    if (status == TACIT_INVALID && cache != NULL) /* of a file: what was read is not used */
        return status;
    enum tacit_status const worked_out = work_out_baselines(experiment, simulation);
    if (worked_out != TACIT_OK)
        return worked_out;
    simulation->finished = results_keep_finished(&simulation->results, experiment);
    return status;
}

/* ---- Baselines that are played ---- */

/* Plays one, and keeps its regret. */
static enum tacit_status play_baseline(const struct tacit_experiment *baseline,
                                       const struct run_cache *cache, uint32_t thread_count,
                                       struct tacit_sim_control *shared, double *regret,
                                       double *curve, struct tacit_error *error)
{
    struct simulation simulation = {0};
    size_t const runs = baseline->sim.run_count;
    uint32_t const metric = tacit_family_metric(baseline->family, "regret");
    enum tacit_status status = TACIT_MEMORY;
    if (results_allocate(&simulation.results, baseline, true))
        status = play(baseline, cache, &simulation.results, thread_count, shared, error);
    if (status == TACIT_OK) {
        memcpy(regret, simulation.results.metrics + metric * runs, runs * sizeof *regret);
        average(&baseline->sim, simulation.results.regret, curve);
    }
    simulation_free(&simulation);
    return status;
}

/* Makes baseline `index` of the file, and plays it; it joins the simulation only when it is whole.
 */
static enum tacit_status play_another(struct simulation *simulation,
                                      const struct tacit_experiment *experiment,
                                      const struct run_cache *cache, uint32_t index,
                                      uint32_t thread_count, struct tacit_sim_control *shared,
                                      struct tacit_error *error)
{
    struct tacit_experiment baseline;
    struct tacit_error why;
    struct run_cache own = cache == NULL ? (struct run_cache){.file = NULL} : *cache;
    double *const regret = calloc(experiment->sim.run_count, sizeof *regret);
    double *const curve = calloc(experiment->sim.point_count + (size_t)1, sizeof *curve);
    own.player = 1 + index;
    enum tacit_status status =
        regret == NULL || curve == NULL
            ? TACIT_MEMORY
            : tacit_baseline_make(&baseline, experiment->config->baselines[index], experiment,
                                  &why);
    if (status == TACIT_OK) {
        status = play_baseline(&baseline, cache == NULL ? NULL : &own, thread_count, shared, regret,
                               curve, error);
        tacit_baseline_free(&baseline);
    }
    if (status == TACIT_OK) {
        simulation->played[index] = regret;
        simulation->played_curves[index] = curve;
        simulation->played_count++;
        return TACIT_OK;
    }
    free(regret);
    free(curve);
    return status;
}

enum tacit_status simulate_baselines(struct simulation *simulation,
                                     const struct tacit_experiment *experiment,
                                     const struct run_cache *cache, uint32_t thread_count,
                                     struct tacit_sim_control *shared, struct tacit_error *error)
{
    size_t const count = experiment->config->baseline_count;
    TACIT_ASSERT(simulation->finished == experiment->sim.run_count);
    simulation->played = calloc(count + 1, sizeof *simulation->played);
    simulation->played_curves = calloc(count + 1, sizeof *simulation->played_curves);
    if (simulation->played == NULL || simulation->played_curves == NULL)
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        TACIT_TRY(play_another(simulation, experiment, cache, i, thread_count, shared, error));
    return TACIT_OK;
}

/* ---- Shares ---- */

/* Its results are kept by the cache alone. */
static enum tacit_status play_share(const struct tacit_experiment *experiment,
                                    const struct run_cache *cache, uint32_t thread_count,
                                    struct tacit_sim_control *shared, bool *missing,
                                    struct tacit_error *error)
{
    struct simulation simulation = {0};
    enum tacit_status status = TACIT_MEMORY;
    if (results_allocate(&simulation.results, experiment, cache->player > 0))
        status = play(experiment, cache, &simulation.results, thread_count, shared, error);
    for (uint32_t run = 0; run < experiment->sim.run_count && missing != NULL && status == TACIT_OK;
         run++)
        missing[run] = missing[run] || !simulation.results.finished[run];
    simulation_free(&simulation);
    return status;
}

enum tacit_status simulate_share(const struct tacit_experiment *experiment,
                                 const struct run_cache *cache, uint32_t thread_count,
                                 struct tacit_sim_control *shared, bool *missing,
                                 struct tacit_error *error)
{
    struct run_cache own = *cache;
    TACIT_ASSERT(cache->folder != NULL && cache->player == 0);
    if (missing != NULL)
        memset(missing, 0, experiment->sim.run_count * sizeof *missing);
    enum tacit_status status = play_share(experiment, cache, thread_count, shared, missing, error);
    for (uint32_t i = 0; i < experiment->config->baseline_count && status == TACIT_OK; i++) {
        struct tacit_experiment baseline;
        struct tacit_error why;
        own.player = 1 + i;
        if (tacit_baseline_make(&baseline, experiment->config->baselines[i], experiment, &why) !=
            TACIT_OK)
            continue; /* it has no runs: who puts the shares together says why */
        status = play_share(&baseline, &own, thread_count, shared, missing, error);
        tacit_baseline_free(&baseline);
    }
    return status;
}

void simulate_explain(const struct tacit_experiment *experiment, enum tacit_status status,
                      uint32_t thread_count, struct tacit_error *error)
{
    uint32_t const runs = experiment->sim.run_count;
    uint32_t const threads = thread_count < runs ? thread_count : runs;
    double const bytes = status == TACIT_MEMORY && experiment->family->bytes != NULL
                             ? experiment->family->bytes(experiment->plan)
                             : 0;
    if (error->text[0] != '\0')
        return;
    if (bytes > 0)
        (void)snprintf(error->text, sizeof error->text,
                       "%s: runs of %" PRIu32 " agents need about %.1f MB on each of %" PRIu32
                       " thread%s; fewer --threads need less",
                       tacit_status_text(status), experiment->sim.agent_count, bytes / 1e6, threads,
                       threads == 1 ? "" : "s");
    else
        (void)snprintf(error->text, sizeof error->text, "%s", tacit_status_text(status));
}

void simulation_free(struct simulation *simulation)
{
    results_free(&simulation->results);
    free(simulation->uniform);
    free(simulation->floor);
    for (uint32_t i = 0; i < simulation->played_count; i++) {
        free(simulation->played[i]);
        free(simulation->played_curves[i]);
    }
    free(simulation->played);
    free(simulation->played_curves);
    *simulation = (struct simulation){0};
}
