/* Running the runs of an experiment, until they are done or Ctrl-C says stop. */
#include "simulate.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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

#define PROFILE_VALUES_MAX (1u << 24) /* of all runs; beyond that there are none */

#define SITE_VALUES_MAX                                                                            \
    (UINT64_C(1) << 24) /* of all runs; beyond that nothing is said of sites                       \
                         */
#define SITES_MAX 10000u

/* What sites saw is kept where they have means of their own and there is an answer to hold it
 * against. */
static bool watches_sites(const struct tacit_experiment *experiment)
{
    struct tacit_sim const *const sim = &experiment->sim;
    uint64_t const cells = (uint64_t)sim->agent_count * sim->env.arm_count;
    return experiment->family->ranks && !sim->instance_per_run && sim->env.row_count > 1 &&
           sim->agent_count <= SITES_MAX && cells * sim->run_count <= SITE_VALUES_MAX;
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
    bool const are_of_all = experiment->family->band != NULL || !sim->instance_per_run;
    bool const profiles = sim->profile_values > 0 && are_of_all &&
                          (uint64_t)sim->profile_values * runs <= PROFILE_VALUES_MAX;
    if (profiles)
        results->profiles = calloc(runs * sim->profile_values, sizeof(double));
    bool const curves = sim->curve_count > 0;
    if (curves)
        results->curves = calloc(runs * sim->curve_count * sim->point_count, sizeof(double));
    if (experiment->family->eliminates)
        results->eliminated = calloc(runs * arms, sizeof(uint32_t));
    bool const sites = watches_sites(experiment);
    size_t const cells = sim->agent_count * arms;
    if (sites) {
        results->site_counts = calloc(runs * cells, sizeof(uint64_t));
        results->site_sums = calloc(runs * cells, sizeof(double));
    }
    if (sim->replay != NULL)
        results->replayed = calloc(runs, sizeof *results->replayed);
    if (ranks) {
        results->ranking = calloc(runs * arms, sizeof(uint32_t));
        results->ranked_count = calloc(runs, sizeof(uint32_t));
    }
    return results->metrics != NULL && results->regret != NULL && results->finished != NULL &&
           (results->eliminated != NULL || !experiment->family->eliminates) &&
           (results->profiles != NULL || !profiles) &&
           (results->replayed != NULL || sim->replay == NULL) &&
           (!sites || (results->site_counts != NULL && results->site_sums != NULL)) &&
           (results->curves != NULL || !curves) &&
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
                              struct simulation *simulation)
{
    struct tacit_sim_results const *const results = &simulation->results;
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
    keep_rows(is, runs, results->profiles, sizeof(double), sim->profile_values);
    keep_columns(is, runs, results->curves, sim->point_count * sizeof(double), sim->curve_count);
    keep_rows(is, runs, results->ranking, sizeof(uint32_t), arms);
    keep_rows(is, runs, results->ranked_count, sizeof(uint32_t), 1);
    keep_rows(is, runs, results->site_counts, sizeof(uint64_t), sim->agent_count * arms);
    keep_rows(is, runs, results->site_sums, sizeof(double), sim->agent_count * arms);
    keep_rows(is, runs, results->replayed, sizeof *results->replayed, 1);
    keep_rows(is, runs, simulation->uniform, sizeof(double), 1);
    keep_rows(is, runs, simulation->floor, sizeof(double), 1);
    return finished;
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
    enum tacit_status status = tacit_sim_instance_init(&instance, sim);
    simulation->uniform = calloc(sim->run_count, sizeof(double));
    simulation->floor = has_floor ? calloc(sim->run_count, sizeof(double)) : NULL;
    if (simulation->uniform == NULL || (has_floor && simulation->floor == NULL))
        status = TACIT_MEMORY;
    bool is_drawn = false;
    for (uint32_t run = 0; run < sim->run_count && status == TACIT_OK; run++) {
        if (!simulation->results.finished[run])
            continue;
        if (!is_drawn || sim->instance_per_run)
            tacit_sim_instance_draw(&instance, sim, run);
        is_drawn = true;
        simulation->uniform[run] = tacit_baseline_uniform(experiment, &instance);
        if (has_floor)
            simulation->floor[run] = tacit_baseline_floor(experiment, &instance);
    }
    tacit_sim_instance_free(&instance);
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

/* Plays one, and keeps its regret. */
static enum tacit_status play_baseline(const struct tacit_experiment *baseline,
                                       uint32_t thread_count, struct tacit_sim_control *shared,
                                       double *regret, double *curve)
{
    struct tacit_sim const *const sim = &baseline->sim;
    struct tacit_sim_player const *const player = &baseline->family->player;
    size_t const runs = sim->run_count;
    uint32_t const metric = tacit_family_metric(baseline->family, "regret");
    struct tacit_sim_results const results = {
        .metrics = calloc(player->metric_count * runs, sizeof(double)),
        .regret = calloc(runs * sim->point_count, sizeof(double)),
        .finished = calloc(runs, sizeof(bool))};
    enum tacit_status status = TACIT_MEMORY;
    if (results.metrics != NULL && results.regret != NULL && results.finished != NULL)
        status = tacit_sim_run(sim, player, baseline->plan, thread_count, &results, shared);
    if (status == TACIT_OK) {
        memcpy(regret, results.metrics + metric * runs, runs * sizeof *regret);
        average(sim, results.regret, curve);
    }
    free(results.metrics);
    free(results.regret);
    free(results.finished);
    return status;
}

enum tacit_status simulate_baselines(struct simulation *simulation,
                                     const struct tacit_experiment *experiment,
                                     uint32_t thread_count, struct tacit_sim_control *shared)
{
    struct tacit_config const *const config = experiment->config;
    struct tacit_error why;
    enum tacit_status status = TACIT_OK;
    TACIT_ASSERT(simulation->finished == experiment->sim.run_count);
    simulation->played = calloc(config->baseline_count + (size_t)1, sizeof *simulation->played);
    simulation->played_curves =
        calloc(config->baseline_count + (size_t)1, sizeof *simulation->played_curves);
    if (simulation->played == NULL || simulation->played_curves == NULL)
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < config->baseline_count && status == TACIT_OK; i++) {
        struct tacit_experiment baseline;
        simulation->played[i] = calloc(experiment->sim.run_count, sizeof(double));
        simulation->played_curves[i] =
            calloc(experiment->sim.point_count + (size_t)1, sizeof(double));
        simulation->played_count++;
        if (simulation->played[i] == NULL || simulation->played_curves[i] == NULL)
            return TACIT_MEMORY;
        status = tacit_baseline_make(&baseline, config->baselines[i], experiment, &why);
        if (status != TACIT_OK)
            break;
        status = play_baseline(&baseline, thread_count, shared, simulation->played[i],
                               simulation->played_curves[i]);
        tacit_baseline_free(&baseline);
    }
    if (status != TACIT_OK) { /* the last one is not whole */
        free(simulation->played[simulation->played_count - 1]);
        free(simulation->played_curves[simulation->played_count - 1]);
        simulation->played[--simulation->played_count] = NULL;
    }
    return status;
}

/* ---- Runs ---- */

#define SLICE_S 10 /* of work that an end without a word may cost */

static double now_s(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Plays the next runs that are not finished, at most `most` of them. *left: are there more? */
static enum tacit_status play_slice(const struct tacit_experiment *experiment,
                                    const struct tacit_sim *sim,
                                    const struct tacit_sim_results *results, uint32_t most,
                                    uint32_t thread_count, struct tacit_sim_control *shared,
                                    bool *left)
{
    uint32_t const runs = sim->run_count;
    bool *const skip = calloc(runs, sizeof *skip);
    uint32_t chosen = 0;
    if (skip == NULL)
        return TACIT_MEMORY;
    *left = false;
    for (uint32_t run = 0; run < runs; run++) {
        skip[run] = results->finished[run] || chosen == most;
        *left = *left || (skip[run] && !results->finished[run]);
        chosen += skip[run] ? 0 : 1;
    }
    shared->skip = skip;
    enum tacit_status const status = tacit_sim_run(sim, &experiment->family->player,
                                                   experiment->plan, thread_count, results, shared);
    shared->skip = NULL;
    free(skip);
    return status;
}

/* In slices of about ten seconds, each of which is kept. */
static enum tacit_status play_kept(const struct tacit_experiment *experiment,
                                   const struct tacit_sim *sim,
                                   const struct tacit_sim_results *results, const struct kept *kept,
                                   uint32_t thread_count, struct tacit_sim_control *shared,
                                   struct tacit_error *error)
{
    enum tacit_status status = kept_read(kept, experiment, results, error);
    bool left = true;
    for (uint32_t run = 0; run < experiment->sim.run_count && status == TACIT_OK; run++)
        atomic_fetch_add(&shared->finished_count, results->finished[run] ? 1u : 0u);
    for (uint32_t most = thread_count; left && status == TACIT_OK;) {
        double const begin = now_s();
        status = play_slice(experiment, sim, results, most, thread_count, shared, &left);
        if (status != TACIT_OK && status != TACIT_INTERRUPTED)
            break;
        enum tacit_status const written = kept_write(kept, experiment, results, error);
        status = written == TACIT_OK ? status : written;
        if (now_s() - begin < SLICE_S / 2.0 && most < UINT32_MAX / 2)
            most *= 2;
        else if (now_s() - begin > SLICE_S && most > thread_count)
            most /= 2;
    }
    return status;
}

enum tacit_status simulate_kept(struct simulation *simulation,
                                const struct tacit_experiment *experiment, const struct kept *kept,
                                uint32_t thread_count, struct tacit_sim_control *shared,
                                struct tacit_error *error)
{
    *simulation = (struct simulation){0};
    if (!allocate_results(experiment, &simulation->results))
        return TACIT_MEMORY;
    struct tacit_sim sim = experiment->sim;
    sim.watches_sites = simulation->results.site_counts != NULL;
    enum tacit_status const status =
        kept != NULL
            ? play_kept(experiment, &sim, &simulation->results, kept, thread_count, shared, error)
            : tacit_sim_run(&sim, &experiment->family->player, experiment->plan, thread_count,
                            &simulation->results, shared);
    if (status == TACIT_INVALID && kept != NULL) /* of the file: what was read is not used */
        return status;
    enum tacit_status const worked_out = work_out_baselines(experiment, simulation);
    if (worked_out != TACIT_OK)
        return worked_out;
    simulation->finished = keep_finished(experiment, simulation);
    return status;
}

enum tacit_status simulate(struct simulation *simulation, const struct tacit_experiment *experiment,
                           uint32_t thread_count, struct tacit_sim_control *shared)
{
    return simulate_kept(simulation, experiment, NULL, thread_count, shared, NULL);
}

/* ---- Parts of the runs ---- */

static enum tacit_status play_part(struct simulation_part *part,
                                   const struct tacit_experiment *experiment,
                                   const struct tacit_sim_results *results, uint32_t thread_count,
                                   struct tacit_sim_control *shared)
{
    struct tacit_sim sim = experiment->sim;
    bool *const skip = calloc(sim.run_count + (size_t)1, sizeof *skip);
    if (skip == NULL)
        return TACIT_MEMORY;
    for (uint32_t run = 0; run < sim.run_count; run++)
        skip[run] = run < part->first || run >= part->end;
    sim.watches_sites = results->site_counts != NULL;
    shared->skip = skip;
    enum tacit_status const status = tacit_sim_run(&sim, &experiment->family->player,
                                                   experiment->plan, thread_count, results, shared);
    shared->skip = NULL;
    free(skip);
    return status;
}

enum tacit_status simulate_part(struct simulation_part *part,
                                const struct tacit_experiment *experiment, uint32_t thread_count,
                                struct tacit_sim_control *shared)
{
    struct simulation simulation = {0};
    TACIT_ASSERT(part->first <= part->end && part->end <= experiment->sim.run_count);
    enum tacit_status status =
        allocate_results(experiment, &simulation.results) ? TACIT_OK : TACIT_MEMORY;
    if (status == TACIT_OK && part->first < part->end)
        status = play_part(part, experiment, &simulation.results, thread_count, shared);
    if (status == TACIT_OK) {
        part->size = kept_rows_bytes(experiment, &simulation.results, part->first, part->end);
        part->rows = calloc(1, part->size + 1);
        status = part->rows == NULL ? TACIT_MEMORY : TACIT_OK;
    }
    if (status == TACIT_OK)
        kept_rows_get(experiment, &simulation.results, part->first, part->end, part->rows);
    simulation_free(&simulation);
    return status;
}

enum tacit_status simulate_join(struct simulation *simulation,
                                const struct tacit_experiment *experiment,
                                const struct simulation_part *parts, uint32_t part_count)
{
    struct tacit_sim_results const *const results = &simulation->results;
    *simulation = (struct simulation){0};
    if (!allocate_results(experiment, &simulation->results))
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < part_count; i++) {
        struct simulation_part const *const part = &parts[i];
        if (part->first > part->end || part->end > experiment->sim.run_count ||
            part->size != kept_rows_bytes(experiment, results, part->first, part->end))
            return TACIT_INVALID;
        kept_rows_put(experiment, results, part->first, part->end, part->rows);
    }
    enum tacit_status const status = work_out_baselines(experiment, simulation);
    if (status != TACIT_OK)
        return status;
    simulation->finished = keep_finished(experiment, simulation);
    return simulation->finished == experiment->sim.run_count ? TACIT_OK : TACIT_INVALID;
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
    free(simulation->results.metrics);
    free(simulation->results.regret);
    free(simulation->results.eliminated);
    free(simulation->results.finished);
    free(simulation->results.profiles);
    free(simulation->results.curves);
    free(simulation->results.ranking);
    free(simulation->results.ranked_count);
    free(simulation->results.site_counts);
    free(simulation->results.site_sums);
    free(simulation->results.replayed);
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
