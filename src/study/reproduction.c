/* From a paper's claims to its experiments, and from their runs to figures and verdicts. */
#include "reproduction.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDING 1e-12 /* a spread below this share of the value is none */
#define NOBODY UINT32_MAX

/* ---- Memory of the report ---- */

struct reproduction_room {
    struct reproduction_room *next;
    max_align_t memory[];
};

/* NULL: there is none, which reproduction_report tells. */
static void *room_for(struct reproduction *reproduction, size_t count, size_t size)
{
    struct reproduction_room *const room = calloc(1, sizeof *room + count * size);
    if (room == NULL) {
        reproduction->is_out_of_memory = true;
        return NULL;
    }
    room->next = reproduction->rooms;
    reproduction->rooms = room;
    return room->memory;
}

/* ---- What an experiment gave ---- */

/* Beside a family's metrics, what follows from the file alone: epsilon if it is guaranteed, and
 * that which the noise is for, whether or not. */
static const char *const extras[] = {"epsilon_per_reward", "epsilon_of_noise", "agents"};
enum { EXTRA_EPSILON, EXTRA_NOISE, EXTRA_AGENTS, EXTRA_COUNT };

/* Which of them is it? EXTRA_COUNT: none. */
static int find_extra(const char *name)
{
    int extra = 0;
    while (extra < EXTRA_COUNT && strcmp(extras[extra], name) != 0)
        extra++;
    return extra;
}

/* Which of a family's series is it? UINT32_MAX: none. */
static uint32_t find_series(const struct tacit_family *family, const char *name)
{
    for (uint32_t i = 0; family->profiles != NULL && family->profiles[i].name != NULL; i++)
        if (family->profiles[i].is_series && strcmp(family->profiles[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

/* What an axis is called where the file does not say: the label of what it shows. */
static const char *axis_label(const struct tacit_family *family, const char *name)
{
    static const char *const labels[] = {"epsilon a reward", "epsilon of the noise", "agents"};
    _Static_assert(sizeof labels / sizeof labels[0] == EXTRA_COUNT, "each has its words");
    uint32_t const metric = tacit_family_metric(family, name);
    uint32_t const series = find_series(family, name);
    int const extra = find_extra(name);
    if (metric != UINT32_MAX)
        return family->metrics[metric].label;
    if (series != UINT32_MAX)
        return family->profiles[series].label;
    if (family->band != NULL && strcmp(family->band->name, name) == 0)
        return family->band->label;
    return extra < EXTRA_COUNT ? labels[extra] : name;
}

/* What a name may be the name of: a number a run, what is recorded over time, and a family's series
 * or band. */
enum { IS_NUMBER = 1, IS_CURVE = 2, IS_SERIES = 4, IS_BAND = 8 };

static unsigned kinds_in(const struct tacit_family *family, const char *name)
{
    bool const is_number =
        find_extra(name) < EXTRA_COUNT || tacit_family_metric(family, name) != UINT32_MAX;
    bool const is_curve = strcmp(name, "regret") == 0 || strcmp(name, "regret_per_agent") == 0 ||
                          tacit_family_curve(family, name) != UINT32_MAX;
    bool const is_band = family->band != NULL && strcmp(family->band->name, name) == 0;
    return (is_number ? IS_NUMBER : 0u) | (is_curve ? IS_CURVE : 0u) | (is_band ? IS_BAND : 0u) |
           (find_series(family, name) != UINT32_MAX ? IS_SERIES : 0u);
}

/* In an experiment of some family. */
static unsigned kinds_of(const char *name)
{
    unsigned kinds = 0;
    for (struct tacit_family const *const *family = tacit_families(); *family != NULL; family++)
        kinds |= kinds_in(*family, name);
    return kinds;
}

/* In this one, by what it records. */
static unsigned kinds_at(const struct tacit_experiment *experiment, const char *name)
{
    bool const has_profiles = experiment->sim.profile_values > 0;
    unsigned const kinds = kinds_in(experiment->family, name);
    return kinds & (IS_NUMBER | IS_CURVE | (has_profiles ? IS_BAND : 0u) |
                    (has_profiles && !experiment->sim.instance_per_run ? IS_SERIES : 0u));
}

/* A run's values at the points; NULL: this experiment has none. Of regret per agent, the regret. */
static const double *curve_of(const struct reproduction *reproduction, uint32_t index,
                              const char *name, uint32_t run)
{
    struct tacit_experiment const *const experiment = &reproduction->experiments[index];
    struct simulation const *const simulation = &reproduction->simulations[index];
    size_t const points = experiment->sim.point_count;
    uint32_t const curve = tacit_family_curve(experiment->family, name);
    if (strncmp(name, "regret", 6) == 0)
        return simulation->results.regret + run * points;
    return curve == UINT32_MAX
               ? NULL
               : simulation->results.curves + ((size_t)curve * simulation->finished + run) * points;
}

/* What a run recorded at some slots. */
struct recording {
    const uint64_t *slots;
    const double *values;
    uint32_t count;
};

/* Of a series, else of a curve. */
static struct recording recording_of(const struct reproduction *reproduction, uint32_t index,
                                     const char *name, uint32_t run)
{
    struct tacit_experiment const *const experiment = &reproduction->experiments[index];
    struct tacit_sim const *const sim = &experiment->sim;
    uint32_t const series = find_series(experiment->family, name);
    if (series == UINT32_MAX)
        return (struct recording){sim->points, curve_of(reproduction, index, name, run),
                                  sim->point_count};
    const double *const profiles = reproduction->simulations[index].results.profiles;
    TACIT_ASSERT(profiles != NULL);
    return (struct recording){sim->series_slots,
                              profiles + (size_t)run * sim->profile_values +
                                  (size_t)series * sim->series_count,
                              sim->series_count};
}

/* The value at a slot, on the line between the recorded ones around it. */
static double value_at(struct recording recording, uint64_t slot)
{
    uint32_t after = 0;
    while (after + 1 < recording.count && recording.slots[after] < slot)
        after++;
    double const t = (double)recording.slots[after];
    double const t_before = after == 0 ? 0 : (double)recording.slots[after - 1];
    double const before = after == 0 ? 0 : recording.values[after - 1];
    return before + (recording.values[after] - before) * ((double)slot - t_before) / (t - t_before);
}

/* One value for each finished run. Slot 0: a metric at the end, or a number of the experiment
 * itself (EXTRA_..); else the series or curve at that slot. Requires: the experiment has it, and it
 * was recorded up to there. */
static void get_values(const struct reproduction *reproduction, uint32_t index, const char *name,
                       uint64_t slot, double *values)
{
    struct tacit_experiment const *const experiment = &reproduction->experiments[index];
    struct simulation const *const simulation = &reproduction->simulations[index];
    uint32_t const runs = simulation->finished;
    int const extra = find_extra(name);
    uint32_t const metric = tacit_family_metric(experiment->family, name);
    TACIT_ASSERT(extra < EXTRA_COUNT || metric != UINT32_MAX || slot > 0);
    for (uint32_t run = 0; run < runs; run++)
        values[run] = extra == EXTRA_EPSILON  ? tacit_experiment_loss(experiment)
                      : extra == EXTRA_NOISE  ? experiment->epsilon_per_reward
                      : extra == EXTRA_AGENTS ? experiment->sim.agent_count
                      : slot == 0 ? simulation->results.metrics[(size_t)metric * runs + run]
                                  : value_at(recording_of(reproduction, index, name, run), slot);
}

/* ---- Loading ---- */

#define METRICS_MAX 200u

/* Adds the names of a family's metrics that are not there yet; returns how many there are. */
static uint32_t add_names(const struct tacit_family *family, const char **names, uint32_t count)
{
    for (uint32_t i = 0; family->metrics[i].name != NULL && count < METRICS_MAX; i++) {
        uint32_t other = 0;
        while (other < count && strcmp(names[other], family->metrics[i].name) != 0)
            other++;
        if (other == count)
            names[count++] = family->metrics[i].name;
    }
    return count;
}

static enum tacit_status check_metric(const struct tacit_claims *claims, uint32_t line,
                                      const char *key, const char *name, struct tacit_error *error)
{
    const char *names[METRICS_MAX + 1] = {extras[0], extras[1], extras[2]};
    uint32_t count = EXTRA_COUNT;
    char text[400];
    if ((kinds_of(name) & IS_NUMBER) != 0)
        return TACIT_OK;
    for (struct tacit_family const *const *family = tacit_families(); *family != NULL; family++)
        count = add_names(*family, names, count);
    names[count] = NULL;
    char const *const guess = tacit_config_nearest(name, names);
    size_t used = (size_t)snprintf(text, sizeof text, "'%.60s' is no metric; %s%s%sallowed:", name,
                                   guess == NULL ? "" : "did you mean '",
                                   guess == NULL ? "" : guess, guess == NULL ? "" : "'? ");
    for (size_t i = 0; names[i] != NULL && used < sizeof text; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s %s", i == 0 ? "" : ",", names[i]);
    return tacit_claims_refuse(claims, line, key, error, "%s", text);
}

static enum tacit_status check_claim(const struct tacit_claims *claims,
                                     const struct tacit_claim *claim, struct tacit_error *error)
{
    for (uint32_t i = 0; i < claim->measure.step_count; i++) {
        struct tacit_measure_step const *const step = &claim->measure.steps[i];
        unsigned const kinds = step->kind == TACIT_MEASURE_RESULT ? kinds_of(step->metric) : 0;
        if (step->kind != TACIT_MEASURE_RESULT || (step->slot > 0 && (kinds & IS_SERIES) != 0))
            continue;
        TACIT_TRY(check_metric(claims, claim->line, "measure", step->metric, error));
        if (step->slot > 0 &&
            ((kinds & IS_CURVE) == 0 || strcmp(step->metric, "regret_per_agent") == 0))
            return tacit_claims_refuse(
                claims, claim->line, "measure", error,
                "'@' belongs to what is recorded over time: regret, and of some protocols reward, "
                "updates, links, scalars, bytes, and series");
    }
    return TACIT_OK;
}

static enum tacit_status check_all_claims(const struct tacit_claims *claims,
                                          const struct tacit_claims_figure *figure,
                                          struct tacit_error *error)
{
    for (uint32_t i = 0; i < figure->claim_count; i++) {
        struct tacit_claim const *const claim = &figure->claims[i];
        TACIT_TRY(check_claim(claims, claim, error));
        if (claim->fast != NULL)
            TACIT_TRY(check_claim(claims, claim->fast, error));
    }
    return TACIT_OK;
}

/* A series is drawn over slots or over another series; only regret has something taken off. */
static enum tacit_status check_figure(const struct tacit_claims *claims,
                                      const struct tacit_claims_figure *figure,
                                      struct tacit_error *error)
{
    bool const is_curve = strcmp(figure->x, "t") == 0;
    unsigned const kinds = kinds_of(figure->y);
    bool const is_series = (kinds & IS_SERIES) != 0;
    uint32_t const line = figure->plot_line;
    if (is_series && !is_curve && (kinds_of(figure->x) & IS_SERIES) == 0)
        return tacit_claims_refuse(claims, line, "plot.x", error,
                                   "y is a series; allowed: t, or a series");
    if (is_series && figure->has_minus)
        return tacit_claims_refuse(claims, line, "plot.minus", error, "belongs to regret");
    if (!is_series && !is_curve) {
        TACIT_TRY(check_metric(claims, line, "plot.x", figure->x, error));
        TACIT_TRY(check_metric(claims, line, "plot.y", figure->y, error));
    }
    for (uint32_t i = 0; !is_series && i < figure->curve_count; i++)
        if (figure->curves[i].y != NULL)
            TACIT_TRY(check_metric(claims, line, "curves.y", figure->curves[i].y, error));
    if (is_curve && (kinds & (IS_SERIES | IS_CURVE)) == 0 &&
        ((kinds & IS_BAND) == 0 || figure->has_minus))
        return tacit_claims_refuse(
            claims, line, "plot.y", error,
            "over t only regret is recorded, and what a protocol draws bands of; allowed: regret, "
            "regret_per_agent, of some protocols reward, updates, links, scalars, bytes, and "
            "without minus estimates");
    return check_all_claims(claims, figure, error);
}

enum tacit_status reproduction_load(struct reproduction *reproduction, const char *path,
                                    struct tacit_error *error)
{
    *reproduction = (struct reproduction){0};
    TACIT_TRY(tacit_claims_load(&reproduction->claims, path, error));
    struct tacit_claims const *const claims = reproduction->claims;
    reproduction->figures_wanted = room_for(reproduction, claims->figure_count, sizeof(bool));
    reproduction->figures_left = room_for(reproduction, claims->figure_count, sizeof(bool));
    reproduction->experiments_wanted =
        room_for(reproduction, claims->experiment_count, sizeof(bool));
    reproduction->experiments =
        room_for(reproduction, claims->experiment_count, sizeof(struct tacit_experiment));
    reproduction->simulations =
        room_for(reproduction, claims->experiment_count, sizeof(struct simulation));
    enum tacit_status status = reproduction->is_out_of_memory ? TACIT_MEMORY : TACIT_OK;
    for (uint32_t i = 0; i < claims->figure_count && status == TACIT_OK; i++)
        status = check_figure(claims, &claims->figures[i], error);
    if (status != TACIT_OK)
        reproduction_free(reproduction);
    return status;
}

void reproduction_free(struct reproduction *reproduction)
{
    uint32_t const count =
        reproduction->claims == NULL ? 0 : reproduction->claims->experiment_count;
    for (uint32_t i = 0; reproduction->simulations != NULL && i < count; i++) {
        simulation_free(&reproduction->simulations[i]);
        if (reproduction->experiments != NULL && reproduction->experiments[i].config != NULL)
            tacit_experiment_free(&reproduction->experiments[i]);
    }
    for (struct reproduction_room *room = reproduction->rooms; room != NULL;) {
        struct reproduction_room *const next = room->next;
        free(room);
        room = next;
    }
    tacit_claims_free(reproduction->claims);
    *reproduction = (struct reproduction){0};
}

/* ---- Preparing ---- */

/* All that the figure draws, takes off, or measures. */
static void want_experiments(struct reproduction *reproduction,
                             const struct tacit_claims_figure *figure)
{
    for (uint32_t i = 0; i < figure->curve_count; i++)
        reproduction->experiments_wanted[figure->curves[i].experiment] = true;
    if (figure->has_minus)
        reproduction->experiments_wanted[figure->minus] = true;
    for (uint32_t i = 0; i < figure->claim_count; i++) {
        struct tacit_measure const *const measure = &figure->claims[i].measure;
        for (uint32_t j = 0; j < measure->step_count; j++)
            if (measure->steps[j].kind == TACIT_MEASURE_RESULT)
                reproduction->experiments_wanted[measure->steps[j].experiment] = true;
    }
}

/* What the fast version sets in an experiment; nothing in the full one. NULL: no memory. */
static const char **settings_of(struct reproduction *reproduction, uint32_t index, bool is_fast,
                                uint32_t *count)
{
    enum { RUNS_BYTES = 32 };
    struct tacit_claims const *const claims = reproduction->claims;
    uint32_t const own = tacit_claims_fast_settings(claims, index, NULL);
    const char **const settings = room_for(reproduction, own + (size_t)1, sizeof *settings);
    char *const runs = room_for(reproduction, RUNS_BYTES, 1);
    if (settings == NULL || runs == NULL)
        return NULL;
    (void)snprintf(runs, RUNS_BYTES, "runs=%u", claims->fast_runs);
    settings[0] = runs;
    (void)tacit_claims_fast_settings(claims, index, settings + 1);
    *count = is_fast ? 1 + own : 0;
    return settings;
}

/* Its experiment, where TACIT_IO says that its data are not here. */
static enum tacit_status load_experiment(struct reproduction *reproduction, uint32_t index,
                                         bool is_fast, struct tacit_error *error)
{
    uint32_t count;
    const char **const settings = settings_of(reproduction, index, is_fast, &count);
    char *const path = tacit_claims_path(reproduction->claims, index);
    enum tacit_status const status = path == NULL || settings == NULL
                                         ? TACIT_MEMORY
                                         : tacit_experiment_load(&reproduction->experiments[index],
                                                                 path, settings, count, error);
    free(path);
    return status;
}

/* A measure is worked out run by run, so its experiments must have the same runs. */
static enum tacit_status check_runs(const struct reproduction *reproduction,
                                    const struct tacit_claim *claim, struct tacit_error *error)
{
    uint32_t runs = 0;
    for (uint32_t i = 0; i < claim->measure.step_count; i++) {
        struct tacit_measure_step const *const step = &claim->measure.steps[i];
        if (step->kind != TACIT_MEASURE_RESULT)
            continue;
        struct tacit_sim const *const sim = &reproduction->experiments[step->experiment].sim;
        if (sim->run_count < 2 || (runs > 0 && sim->run_count != runs) || step->slot > sim->horizon)
            return tacit_claims_refuse(
                reproduction->claims, claim->line, "measure", error,
                "%.60s has %u runs of %llu slots; allowed: at least 2 runs, the same number in all "
                "experiments of a measure, and slots up to the horizon",
                reproduction->claims->experiments[step->experiment], sim->run_count,
                (unsigned long long)sim->horizon);
        runs = sim->run_count;
    }
    return TACIT_OK;
}

/* The regret is known up to the last checkpoint; beyond it, it would be a guess. */
static enum tacit_status check_slot(const struct reproduction *reproduction,
                                    const struct tacit_claim *claim,
                                    const struct tacit_measure_step *step,
                                    struct tacit_error *error)
{
    struct tacit_experiment const *const experiment = &reproduction->experiments[step->experiment];
    struct tacit_sim const *const sim = &experiment->sim;
    uint64_t const last = find_series(experiment->family, step->metric) != UINT32_MAX
                              ? sim->series_slots[sim->series_count - 1]
                              : sim->points[sim->point_count - 1];
    return step->slot <= last
               ? TACIT_OK
               : tacit_claims_refuse(
                     reproduction->claims, claim->line, "measure", error,
                     "slot %llu is beyond the last checkpoint of %.60s; allowed: up to %llu",
                     (unsigned long long)step->slot,
                     reproduction->claims->experiments[step->experiment], (unsigned long long)last);
}

/* Has that experiment what is asked of it, as one of these kinds? */
static enum tacit_status check_has(const struct reproduction *reproduction, uint32_t line,
                                   const char *key, uint32_t index, const char *name,
                                   unsigned kinds, struct tacit_error *error)
{
    struct tacit_experiment const *const experiment = &reproduction->experiments[index];
    if ((kinds_at(experiment, name) & kinds) != 0)
        return TACIT_OK;
    if (kinds == IS_BAND)
        return tacit_claims_refuse(reproduction->claims, line, key, error,
                                   "an experiment of this figure has no band of that name");
    return tacit_claims_refuse(
        reproduction->claims, line, key, error, "%.60s runs protocol: %s, which %s '%.60s'%s",
        reproduction->claims->experiments[index], experiment->family->file.name,
        kinds == IS_NUMBER   ? "has no metric"
        : kinds == IS_SERIES ? "has no series"
                             : "does not record",
        name, (kinds & IS_CURVE) != 0 ? " over time" : "");
}

static enum tacit_status check_steps(const struct reproduction *reproduction,
                                     const struct tacit_claim *claim, struct tacit_error *error)
{
    for (uint32_t i = 0; i < claim->measure.step_count; i++) {
        struct tacit_measure_step const *const step = &claim->measure.steps[i];
        if (step->kind != TACIT_MEASURE_RESULT)
            continue;
        if (step->slot == 0 || (kinds_of(step->metric) & IS_SERIES) == 0)
            TACIT_TRY(check_has(reproduction, claim->line, "measure", step->experiment,
                                step->metric, IS_NUMBER, error));
        TACIT_TRY(check_slot(reproduction, claim, step, error));
        if (step->slot > 0)
            TACIT_TRY(check_has(reproduction, claim->line, "measure", step->experiment,
                                step->metric, IS_CURVE | IS_SERIES, error));
    }
    return TACIT_OK;
}

/* The metric of a figure's point. */
static const char *y_of(const struct tacit_claims_figure *figure,
                        const struct tacit_claims_curve *curve)
{
    return curve->y != NULL ? curve->y : figure->y;
}

/* What a figure's y has to be in its experiments; 0: a number, over the number x. */
static unsigned kinds_over_time(const struct tacit_claims_figure *figure)
{
    unsigned const kinds = kinds_of(figure->y);
    return (kinds & IS_SERIES) != 0      ? IS_SERIES
           : strcmp(figure->x, "t") != 0 ? 0
           : (kinds & IS_CURVE) != 0     ? IS_CURVE | IS_SERIES
                                         : IS_BAND;
}

static enum tacit_status check_plot(const struct reproduction *reproduction,
                                    const struct tacit_claims_figure *figure,
                                    struct tacit_error *error)
{
    unsigned const kinds = kinds_over_time(figure);
    unsigned const asked = kinds == 0 ? IS_NUMBER : kinds;
    for (uint32_t i = 0; i < figure->curve_count; i++) {
        struct tacit_claims_curve const *const curve = &figure->curves[i];
        if (strcmp(figure->x, "t") != 0)
            TACIT_TRY(check_has(reproduction, figure->plot_line, "plot.x", curve->experiment,
                                figure->x, asked, error));
        TACIT_TRY(check_has(
            reproduction, figure->plot_line, kinds == 0 && curve->y != NULL ? "curves.y" : "plot.y",
            curve->experiment, kinds == 0 ? y_of(figure, curve) : figure->y, asked, error));
    }
    return TACIT_OK;
}

/* Curves are taken off one another run by run and slot by slot. */
static enum tacit_status check_minus(const struct reproduction *reproduction,
                                     const struct tacit_claims_figure *figure,
                                     struct tacit_error *error)
{
    struct tacit_sim const *const other = &reproduction->experiments[figure->minus].sim;
    for (uint32_t i = 0; figure->has_minus && i < figure->curve_count; i++) {
        struct tacit_sim const *const sim =
            &reproduction->experiments[figure->curves[i].experiment].sim;
        if (sim->run_count == other->run_count && sim->point_count == other->point_count &&
            sim->horizon == other->horizon)
            continue;
        return tacit_claims_refuse(reproduction->claims, figure->plot_line, "plot.minus", error,
                                   "the experiments of this figure differ in runs, horizon or "
                                   "checkpoints; allowed: the same in all");
    }
    return TACIT_OK;
}

/* What can be checked of a figure only when its experiments are loaded. */
static enum tacit_status check_loaded(const struct reproduction *reproduction,
                                      const struct tacit_claims_figure *figure,
                                      struct tacit_error *error)
{
    TACIT_TRY(check_minus(reproduction, figure, error));
    TACIT_TRY(check_plot(reproduction, figure, error));
    for (uint32_t i = 0; i < figure->claim_count; i++) {
        TACIT_TRY(check_steps(reproduction, &figure->claims[i], error));
        TACIT_TRY(check_runs(reproduction, &figure->claims[i], error));
    }
    return TACIT_OK;
}

/* Loads what is wanted; of what has no data here, says so, and marks it. */
static enum tacit_status load_wanted(struct reproduction *reproduction, bool is_fast, bool *absent,
                                     struct tacit_error *error)
{
    struct tacit_claims const *const claims = reproduction->claims;
    struct tacit_error why = {""};
    enum tacit_status status = TACIT_OK;
    for (uint32_t i = 0; i < claims->experiment_count && status == TACIT_OK; i++) {
        if (!reproduction->experiments_wanted[i])
            continue;
        status = load_experiment(reproduction, i, is_fast, error);
        absent[i] = status == TACIT_IO;
        if (absent[i])
            why = *error;
        status = absent[i] ? TACIT_OK : status;
    }
    if (why.text[0] != '\0')
        (void)fprintf(stderr, "%s\n", why.text);
    return status;
}

/* Figures whose data are not here are left out; none at all is an error. */
static enum tacit_status leave_out(struct reproduction *reproduction, const bool *absent,
                                   struct tacit_error *error)
{
    struct tacit_claims const *const claims = reproduction->claims;
    uint32_t wanted = 0;
    uint32_t left = 0;
    for (uint32_t i = 0; i < claims->figure_count; i++) {
        if (!reproduction->figures_wanted[i])
            continue;
        bool is_absent = false;
        wanted++;
        memset(reproduction->experiments_wanted, 0, claims->experiment_count * sizeof(bool));
        want_experiments(reproduction, &claims->figures[i]);
        for (uint32_t j = 0; j < claims->experiment_count; j++)
            is_absent = is_absent || (absent[j] && reproduction->experiments_wanted[j]);
        if (is_absent)
            (void)fprintf(stderr, "tacit reproduce: %s-%s is left out: its data are not here\n",
                          claims->paper, claims->figures[i].id);
        reproduction->figures_wanted[i] = !is_absent;
        left += is_absent ? 0 : 1;
    }
    memset(reproduction->experiments_wanted, 0, claims->experiment_count * sizeof(bool));
    for (uint32_t i = 0; i < claims->figure_count; i++)
        if (reproduction->figures_wanted[i])
            want_experiments(reproduction, &claims->figures[i]);
    if (wanted == 0 || left > 0)
        return TACIT_OK;
    (void)snprintf(error->text, sizeof error->text, "tacit reproduce: %s: nothing is left",
                   claims->paper);
    return TACIT_IO;
}

enum tacit_status reproduction_prepare(struct reproduction *reproduction, bool is_fast,
                                       struct tacit_error *error)
{
    struct tacit_claims *const claims = reproduction->claims;
    if (is_fast)
        tacit_claims_speed_up(claims);
    bool *const absent = room_for(reproduction, claims->experiment_count, sizeof *absent);
    if (absent == NULL)
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < claims->figure_count; i++)
        if (reproduction->figures_wanted[i])
            want_experiments(reproduction, &claims->figures[i]);
    TACIT_TRY(load_wanted(reproduction, is_fast, absent, error));
    TACIT_TRY(leave_out(reproduction, absent, error));
    for (uint32_t i = 0; i < claims->figure_count; i++)
        if (reproduction->figures_wanted[i])
            TACIT_TRY(check_loaded(reproduction, &claims->figures[i], error));
    return TACIT_OK;
}

uint32_t reproduction_run_count(const struct reproduction *reproduction)
{
    uint32_t runs = 0;
    TACIT_ASSERT(reproduction->experiments_wanted != NULL); /* it is prepared */
    for (uint32_t i = 0; i < reproduction->claims->experiment_count; i++)
        runs +=
            reproduction->experiments_wanted[i] ? reproduction->experiments[i].sim.run_count : 0;
    return runs;
}

#define CACHE_PATH_BYTES 4096u

/* Where an experiment keeps its runs. */
static void cache_path(const struct reproduction *reproduction, uint32_t index, const char *folder,
                       char path[CACHE_PATH_BYTES])
{
    struct tacit_claims const *const claims = reproduction->claims;
    (void)snprintf(path, CACHE_PATH_BYTES, "%s/%s-%s.runs", folder, claims->paper,
                   claims->experiments[index]);
}

static enum tacit_status run_one(struct reproduction *reproduction, uint32_t index,
                                 const char *folder, uint32_t thread_count,
                                 struct tacit_sim_control *control, struct tacit_error *error)
{
    struct tacit_experiment const *const experiment = &reproduction->experiments[index];
    struct simulation *const simulation = &reproduction->simulations[index];
    char path[CACHE_PATH_BYTES];
    if (folder == NULL)
        return simulate(simulation, experiment, NULL, thread_count, control, error);
    cache_path(reproduction, index, folder, path);
    struct run_cache const cache = run_cache_at(path, experiment);
    return simulate(simulation, experiment, &cache, thread_count, control, error);
}

enum tacit_status reproduction_run(struct reproduction *reproduction, const char *kept,
                                   uint32_t thread_count, struct tacit_sim_control *control,
                                   struct tacit_error *error)
{
    TACIT_ASSERT(reproduction->experiments_wanted != NULL && thread_count > 0);
    for (uint32_t i = 0; i < reproduction->claims->experiment_count; i++)
        if (reproduction->experiments_wanted[i])
            TACIT_TRY(run_one(reproduction, i, kept, thread_count, control, error));
    return TACIT_OK;
}

void reproduction_forget(const struct reproduction *reproduction, const char *kept)
{
    char path[CACHE_PATH_BYTES];
    for (uint32_t i = 0; i < reproduction->claims->experiment_count; i++) {
        cache_path(reproduction, i, kept, path);
        if (reproduction->experiments_wanted != NULL && reproduction->experiments_wanted[i])
            (void)unlink(path);
    }
}

/* ---- Claims: a number and its spread ---- */

/* A measure over all runs but one: the rows belong to its steps. */
struct sample {
    const struct tacit_measure *measure;
    double *rows; /* run_count values a step, and as many for the measures */
    uint32_t run_count;
    uint32_t left_out; /* or NOBODY; the only one where runs are looked at by themselves */
};

static double *row_of(const struct sample *sample, const struct tacit_measure_step *step)
{
    return sample->rows + (size_t)(step - sample->measure->steps) * sample->run_count;
}

/* From the first value, so that equal values have exactly that mean. */
static double mean_of(void *context, const struct tacit_measure_step *step)
{
    struct sample const *const sample = context;
    double const *const values = row_of(sample, step);
    double const first = values[sample->left_out == 0 ? 1 : 0];
    double shift = 0;
    if (!isfinite(first)) /* an epsilon: the same in all runs */
        return first;
    for (uint32_t i = 0; i < sample->run_count; i++)
        shift += i == sample->left_out ? 0 : values[i] - first;
    return first + shift / (sample->run_count - (sample->left_out == NOBODY ? 0 : 1));
}

/* Half the 95 % interval of a measure by the jackknife: it is worked out again without each of the
 * runs (Efron, Stein 1981). Runs of one number share their arms and are left out together, so what
 * experiments have in common does not count as noise. */
static double jackknife(struct sample *sample)
{
    uint32_t const n = sample->run_count;
    double first = 0;
    double sum = 0;
    double squares = 0;
    for (sample->left_out = 0; sample->left_out < n; sample->left_out++) {
        double const value = tacit_measure_value(sample->measure, mean_of, sample);
        first = sample->left_out == 0 ? value : first;
        sum += value - first;
        squares += (value - first) * (value - first);
    }
    double const variance = fmax(squares - sum * sum / n, 0) * (n - 1) / n;
    double const half = tacit_report_t975(n) * sqrt(variance);
    return half <= ROUNDING * fabs(first) ? 0 : half;
}

/* The result of the run `left_out`, by itself. */
static double value_of(void *context, const struct tacit_measure_step *step)
{
    struct sample const *const sample = context;
    return row_of(sample, step)[sample->left_out];
}

/* The measure of each run by itself, and their mean. */
static void judge_each_run(struct sample *sample, struct tacit_report_claim *report)
{
    double *const values = row_of(sample, sample->measure->steps + sample->measure->step_count);
    for (sample->left_out = 0; sample->left_out < sample->run_count; sample->left_out++)
        values[sample->left_out] = tacit_measure_value(sample->measure, value_of, sample);
    struct tacit_report_summary const summary =
        tacit_report_summarise(values, sample->run_count, 1);
    report->value = summary.mean;
    report->ci95 = summary.ci95;
}

/* What we get for a claim, and how sure that is; was_run stays true where memory is short, which
 * reproduction_report says. */
static struct tacit_report_claim judge(struct reproduction *reproduction,
                                       const struct tacit_claim *claim)
{
    struct tacit_measure const *const measure = &claim->measure;
    struct sample sample = {.measure = measure, .left_out = NOBODY};
    struct tacit_report_claim report = claim->reported;
    report.was_run = true;
    for (uint32_t i = 0; i < measure->step_count; i++)
        if (measure->steps[i].kind == TACIT_MEASURE_RESULT)
            sample.run_count = reproduction->simulations[measure->steps[i].experiment].finished;
    sample.rows = room_for(reproduction, (size_t)sample.run_count * (measure->step_count + 1),
                           sizeof *sample.rows);
    if (sample.rows == NULL)
        return report;
    for (uint32_t i = 0; i < measure->step_count; i++)
        if (measure->steps[i].kind == TACIT_MEASURE_RESULT)
            get_values(reproduction, measure->steps[i].experiment, measure->steps[i].metric,
                       measure->steps[i].slot, row_of(&sample, &measure->steps[i]));
    if (claim->is_each_run && sample.run_count > 0)
        judge_each_run(&sample, &report);
    else {
        report.value = tacit_measure_value(measure, mean_of, &sample);
        report.ci95 = sample.run_count == 0 ? 0 : jackknife(&sample);
    }
    return report;
}

/* ---- Figures ---- */

/* A series with room for points, and for one value a run of what is drawn. */
struct canvas {
    struct tacit_report_series series;
    double *x; /* NULL: no memory */
    double *y;
    double *ci95;
    double *lo;
    double *hi;
    const char **names;
    double *values[2];
};

/* has_range: the band is from lo to hi, in place of ci95. */
static struct canvas canvas_of(struct reproduction *reproduction, const char *label,
                               uint32_t capacity, uint32_t runs, bool has_range)
{
    struct canvas canvas = {.series.label = label};
    double *const x = room_for(reproduction, 5 * (size_t)capacity + 2 * (size_t)runs, sizeof *x);
    canvas.names = room_for(reproduction, capacity, sizeof *canvas.names);
    if (x == NULL || canvas.names == NULL)
        return canvas;
    canvas.series.x = canvas.x = x;
    canvas.series.y = canvas.y = x + capacity;
    canvas.series.ci95 = canvas.ci95 = canvas.y + capacity;
    canvas.lo = canvas.ci95 + capacity;
    canvas.hi = canvas.lo + capacity;
    canvas.series.lo = has_range ? canvas.lo : NULL;
    canvas.series.hi = has_range ? canvas.hi : NULL;
    canvas.values[0] = canvas.hi + capacity;
    canvas.values[1] = canvas.values[0] + runs;
    return canvas;
}

static void add_point(struct canvas *canvas, double x, struct tacit_report_summary y)
{
    uint32_t const at = canvas->series.count++;
    canvas->x[at] = x;
    canvas->y[at] = y.mean;
    canvas->ci95[at] = y.ci95;
    canvas->lo[at] = y.min;
    canvas->hi[at] = y.max;
}

/* The means of what is in the values of so many runs. */
static void add_mean(struct canvas *canvas, uint32_t runs)
{
    add_point(canvas, tacit_report_summarise(canvas->values[0], runs, 1).mean,
              tacit_report_summarise(canvas->values[1], runs, 1));
}

/* The family's band: the mean over the agents, between the lowest and the highest of them; each of
 * the three a mean over the runs. */
static struct tacit_report_series draw_band(struct reproduction *reproduction,
                                            const struct tacit_claims_figure *figure,
                                            const struct tacit_claims_curve *curve)
{
    struct tacit_sim const *const sim = &reproduction->experiments[curve->experiment].sim;
    struct simulation const *const simulation = &reproduction->simulations[curve->experiment];
    struct canvas canvas = canvas_of(reproduction, curve->label, sim->point_count, 0, true);
    (void)figure;
    for (uint32_t point = 0; canvas.x != NULL && point < sim->point_count; point++) {
        double const *const first =
            simulation->results.profiles + (size_t)TACIT_BAND_VALUES * point;
        double parts[TACIT_BAND_VALUES];
        for (uint32_t part = 0; part < TACIT_BAND_VALUES; part++)
            parts[part] =
                tacit_report_summarise(first + part, simulation->finished, sim->profile_values)
                    .mean;
        add_point(
            &canvas, (double)sim->points[point],
            (struct tacit_report_summary){.min = parts[0], .mean = parts[1], .max = parts[2]});
    }
    return canvas.series;
}

/* Means over the runs, of the figure's y or of what is left of it without `minus`. */
static struct tacit_report_series draw_curve(struct reproduction *reproduction,
                                             const struct tacit_claims_figure *figure,
                                             const struct tacit_claims_curve *curve)
{
    struct tacit_sim const *const sim = &reproduction->experiments[curve->experiment].sim;
    uint32_t const runs = reproduction->simulations[curve->experiment].finished;
    bool const is_per_agent = strcmp(figure->y, "regret_per_agent") == 0;
    double const share = is_per_agent ? 1.0 / sim->agent_count : 1;
    struct canvas canvas =
        canvas_of(reproduction, curve->label, sim->point_count, runs, figure->band_is_range);
    for (uint32_t point = 0; canvas.x != NULL && point < sim->point_count; point++) {
        for (uint32_t run = 0; run < runs; run++) {
            double const *const of = curve_of(reproduction, curve->experiment, figure->y, run);
            double const other = figure->has_minus
                                     ? curve_of(reproduction, figure->minus, figure->y, run)[point]
                                     : 0;
            canvas.values[0][run] = share * (of[point] - other);
        }
        add_point(&canvas, (double)sim->points[point],
                  tacit_report_summarise(canvas.values[0], runs, 1));
    }
    return canvas.series;
}

/* A series of all runs at one of its slots: the slot itself where the name is "t". False: nobody
 * has a value there. */
static bool get_series(const struct reproduction *reproduction, uint32_t index, const char *name,
                       uint32_t slot, double *values)
{
    bool const is_slot = strcmp(name, "t") == 0;
    for (uint32_t run = 0; run < reproduction->simulations[index].finished; run++) {
        values[run] = is_slot ? (double)reproduction->experiments[index].sim.series_slots[slot]
                              : recording_of(reproduction, index, name, run).values[slot];
        if (isnan(values[run]))
            return false;
    }
    return true;
}

static struct tacit_report_series draw_series(struct reproduction *reproduction,
                                              const struct tacit_claims_figure *figure,
                                              const struct tacit_claims_curve *curve)
{
    struct tacit_sim const *const sim = &reproduction->experiments[curve->experiment].sim;
    struct simulation const *const simulation = &reproduction->simulations[curve->experiment];
    uint32_t const runs = simulation->finished;
    struct canvas canvas = canvas_of(reproduction, curve->label, sim->series_count, runs, false);
    bool const is_kept = canvas.x != NULL && simulation->results.profiles != NULL;
    for (uint32_t slot = 0; is_kept && slot < sim->series_count; slot++)
        if (get_series(reproduction, curve->experiment, figure->x, slot, canvas.values[0]) &&
            get_series(reproduction, curve->experiment, figure->y, slot, canvas.values[1]))
            add_mean(&canvas, runs);
    return canvas.series;
}

static const char *series_name(const struct tacit_claims_curve *curve)
{
    return curve->series == NULL ? curve->label : curve->series;
}

/* All points of the series that the curve `first` begins. */
static struct tacit_report_series draw_points(struct reproduction *reproduction,
                                              const struct tacit_claims_figure *figure,
                                              uint32_t first)
{
    char const *const name = series_name(&figure->curves[first]);
    uint32_t most = 0;
    for (uint32_t i = first; i < figure->curve_count; i++)
        if (reproduction->simulations[figure->curves[i].experiment].finished > most)
            most = reproduction->simulations[figure->curves[i].experiment].finished;
    struct canvas canvas = canvas_of(reproduction, name, figure->curve_count, most, false);
    canvas.series.names = canvas.names;
    for (uint32_t i = first; canvas.x != NULL && i < figure->curve_count; i++) {
        struct tacit_claims_curve const *const curve = &figure->curves[i];
        uint32_t const runs = reproduction->simulations[curve->experiment].finished;
        if (strcmp(series_name(curve), name) != 0)
            continue;
        get_values(reproduction, curve->experiment, figure->x, 0, canvas.values[0]);
        get_values(reproduction, curve->experiment, y_of(figure, curve), 0, canvas.values[1]);
        canvas.names[canvas.series.count] = curve->label;
        add_mean(&canvas, runs);
    }
    return canvas.series;
}

static bool begins_series(const struct tacit_claims_figure *figure, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(series_name(&figure->curves[i]), series_name(&figure->curves[index])) == 0)
            return false;
    return true;
}

static struct tacit_report_figure draw_figure(struct reproduction *reproduction,
                                              const struct tacit_claims_figure *figure)
{
    bool const is_curve = strcmp(figure->x, "t") == 0;
    struct tacit_report_series *const series =
        room_for(reproduction, figure->curve_count, sizeof *series);
    struct tacit_family const *const family =
        reproduction->experiments[figure->curves[0].experiment].family;
    uint32_t count = 0;
    unsigned const kinds = kinds_over_time(figure);
    for (uint32_t i = 0; series != NULL && i < figure->curve_count; i++)
        if (kinds != 0)
            series[count++] =
                (kinds == IS_SERIES ? draw_series
                 : kinds == IS_BAND ? draw_band
                                    : draw_curve)(reproduction, figure, &figure->curves[i]);
        else if (begins_series(figure, i))
            series[count++] = draw_points(reproduction, figure, i);
    return (struct tacit_report_figure){
        .id = figure->id,
        .title = figure->title,
        .x_label = is_curve ? "time slot t" : axis_label(family, figure->x),
        .y_label = figure->y_label == NULL ? axis_label(family, figure->y) : figure->y_label,
        .x_is_log = figure->x_is_log,
        .y_is_log = figure->y_is_log,
        .series = series,
        .series_count = count};
}

/* ---- The report ---- */

static struct tacit_report_section report_figure(struct reproduction *reproduction,
                                                 const struct tacit_claims_figure *figure,
                                                 bool was_run)
{
    struct tacit_report_claim *const claims =
        room_for(reproduction, figure->claim_count, sizeof *claims);
    for (uint32_t i = 0; claims != NULL && i < figure->claim_count; i++)
        claims[i] = was_run ? judge(reproduction, &figure->claims[i]) : figure->claims[i].reported;
    struct tacit_report_figure const drawn =
        was_run ? draw_figure(reproduction, figure)
                : (struct tacit_report_figure){.id = figure->id, .title = figure->title};
    return (struct tacit_report_section){.figure = drawn,
                                         .paper_shows = figure->paper_shows,
                                         .we_show = figure->we_show,
                                         .claims = claims,
                                         .claim_count = figure->claim_count,
                                         .hours_left = was_run ? 0 : figure->hours};
}

static struct tacit_report_experiment report_experiment(struct reproduction *reproduction,
                                                        uint32_t index)
{
    struct simulation const *const simulation = &reproduction->simulations[index];
    struct tacit_family const *const family = reproduction->experiments[index].family;
    uint32_t const count = family->player.metric_count;
    struct tacit_report_metric *const metrics = room_for(reproduction, count, sizeof *metrics);
    for (uint32_t i = 0; metrics != NULL && i < count; i++)
        metrics[i] = (struct tacit_report_metric){
            &family->metrics[i], simulation->results.metrics + (size_t)i * simulation->finished};
    return (struct tacit_report_experiment){.name = reproduction->claims->experiments[index],
                                            .run_count = simulation->finished,
                                            .metrics = metrics,
                                            .metric_count = count};
}

enum tacit_status reproduction_report(struct reproduction *reproduction, bool is_fast)
{
    struct tacit_claims const *const claims = reproduction->claims;
    struct tacit_report_section *const sections =
        room_for(reproduction, claims->figure_count, sizeof *sections);
    struct tacit_report_experiment *const experiments =
        room_for(reproduction, claims->experiment_count, sizeof *experiments);
    struct tacit_report_paper *const report = &reproduction->report;
    TACIT_ASSERT(reproduction->simulations != NULL);
    if (sections == NULL || experiments == NULL)
        return TACIT_MEMORY;
    *report = (struct tacit_report_paper){.id = claims->paper,
                                          .title = claims->title,
                                          .version = TACIT_VERSION,
                                          .is_fast = is_fast,
                                          .fast_note = is_fast ? claims->fast_note : NULL,
                                          .sections = sections,
                                          .experiments = experiments};
    for (uint32_t i = 0; i < claims->figure_count; i++)
        if (reproduction->figures_wanted[i] || reproduction->figures_left[i])
            sections[report->section_count++] =
                report_figure(reproduction, &claims->figures[i], reproduction->figures_wanted[i]);
    for (uint32_t i = 0; i < claims->experiment_count; i++)
        if (reproduction->experiments_wanted[i])
            experiments[report->experiment_count++] = report_experiment(reproduction, i);
    return reproduction->is_out_of_memory ? TACIT_MEMORY : TACIT_OK;
}
