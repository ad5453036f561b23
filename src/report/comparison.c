/* Experiments beside each other: a table, CSV, figures, and the directory that takes them. */
#include "internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_WIDTH_MAX 44u
#define FIGURES_MAX 4u
#define LOG_FROM 20.0 /* an axis whose ends are so many times apart is one of logarithms */
#define ROUNDING 1e-9 /* equal play gives equal regret up to rounding */
#define OTHERS_MAX 4u /* that the sentence names */
#define ROWS_MAX 40u  /* of the figure of settings */

const char *const report_columns[REPORT_COLUMNS] = {"regret", "cost", "messages", "bytes",
                                                    "rounds"};

const struct tacit_report_summary *
report_point_value(const struct tacit_report_comparison *comparison,
                   const struct tacit_report_grid_point *point, const char *metric)
{
    for (uint32_t i = 0; i < comparison->metric_count && point->error == NULL; i++)
        if (strcmp(comparison->metrics[i]->name, metric) == 0 && !isnan(point->values[i].mean))
            return &point->values[i];
    return NULL;
}

static bool any_point_has(const struct tacit_report_comparison *comparison, const char *metric)
{
    for (uint32_t i = 0; i < comparison->point_count; i++)
        if (report_point_value(comparison, &comparison->points[i], metric) != NULL)
            return true;
    return false;
}

/* ---- What was found ------------------------------------------------------------------------- */

char **report_comparison_words(const struct tacit_report_comparison *comparison)
{
    char **const words = calloc(comparison->point_count + (size_t)1, sizeof *words);
    for (uint32_t i = 0; words != NULL && i < comparison->point_count; i++) {
        words[i] = tacit_report_setting_words(comparison->points[i].label);
        if (words[i] == NULL) {
            report_comparison_words_free(words);
            return NULL;
        }
    }
    return words;
}

void report_comparison_words_free(char **words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        free(words[i]);
    free(words);
}

/* Infinite: it has none, or could not run. */
static double regret_of(const struct tacit_report_comparison *comparison, uint32_t point)
{
    TACIT_ASSERT(point < comparison->point_count);
    const struct tacit_report_summary *const regret =
        report_point_value(comparison, &comparison->points[point], "regret");
    return regret == NULL ? (double)INFINITY : regret->mean;
}

/* The smallest epsilon at which a setting still decides, if epsilons differ; after `least`. */
static void find_private_most(const struct tacit_report_comparison *comparison,
                              struct report_findings *found)
{
    double weakest = 0;
    double strongest = INFINITY;
    uint32_t with_regret = 0; /* that have a regret */
    for (uint32_t i = 0; i < comparison->point_count; i++) {
        const struct tacit_report_grid_point *const point = &comparison->points[i];
        double const epsilon = isnan(point->epsilon) ? (double)INFINITY : point->epsilon;
        if (point->error != NULL)
            continue;
        with_regret += isfinite(regret_of(comparison, i)) ? 1 : 0;
        weakest = fmax(weakest, epsilon);
        strongest = fmin(strongest, epsilon);
        if (point->is_decided && isfinite(epsilon) &&
            (found->private_most == UINT32_MAX ||
             epsilon < comparison->points[found->private_most].epsilon))
            found->private_most = i;
    }
    found->has_one_epsilon =
        weakest == strongest && with_regret > 1 && regret_of(comparison, found->least) > 0;
    if (!(strongest < weakest))
        found->private_most = UINT32_MAX;
}

struct report_findings report_comparison_find(const struct tacit_report_comparison *comparison)
{
    struct report_findings found = {.least = UINT32_MAX, .private_most = UINT32_MAX};
    for (uint32_t i = 0; i < comparison->point_count; i++) {
        const struct tacit_report_grid_point *const point = &comparison->points[i];
        found.ran += point->error == NULL ? 1 : 0;
        found.decided += point->error == NULL && point->is_decided ? 1 : 0;
        if (point->error == NULL && isfinite(regret_of(comparison, i)) &&
            (found.least == UINT32_MAX ||
             regret_of(comparison, i) < regret_of(comparison, found.least)))
            found.least = i;
    }
    find_private_most(comparison, &found);
    return found;
}

void report_comparison_sentence(const struct tacit_report_comparison *comparison,
                                char *const *words, enum report_syntax syntax, FILE *out)
{
    struct report_findings const found = report_comparison_find(comparison);
    uint32_t named_count = 0;
    if (!found.has_one_epsilon)
        return;
    double const least = regret_of(comparison, found.least);
    const struct tacit_report_grid_point *const point = &comparison->points[found.least];
    report_print(out, syntax, "%-s, \"%s\" has regret %.4g:",
                 !isfinite(point->epsilon)   ? "Without noise"
                 : point->epsilon_is_of_user ? "At the same epsilon per user"
                                             : "At the same epsilon per reward",
                 words[found.least], least);
    for (uint32_t i = 0; i < comparison->point_count && named_count < OTHERS_MAX; i++) {
        double const regret = regret_of(comparison, i);
        if (i == found.least || !isfinite(regret))
            continue;
        report_print(out, syntax, "%-s %.2g times less than \"%s\"", named_count++ == 0 ? "" : ",",
                     regret / least, words[i]);
    }
    (void)fputs(".\n", out);
}

/* ---- The terminal ---------------------------------------------------------------------------- */

/* Of the first column, in characters. */
static uint32_t label_width(const struct tacit_report_comparison *comparison, char *const *words)
{
    uint32_t width = 8;
    for (uint32_t i = 0; i < comparison->point_count; i++) {
        uint32_t const own = report_width(words[i]);
        width = own > width ? own : width;
    }
    return width < LABEL_WIDTH_MAX ? width : LABEL_WIDTH_MAX;
}

/* Without a summary a dash. */
static void put_number(const struct tacit_report_summary *summary, double value, FILE *out)
{
    (void)fprintf(out, " %11s", report_cell(summary == NULL ? NAN : value, 5).text);
}

static void put_row(const struct tacit_report_comparison *comparison,
                    const struct tacit_report_grid_point *point, const char *words, uint32_t width,
                    FILE *out)
{
    report_put_column(out, words, width);
    if (point->error != NULL) {
        term_put(out, "  %s\n", point->error);
        return;
    }
    for (size_t i = 0; i < REPORT_COLUMNS; i++) {
        if (!any_point_has(comparison, report_columns[i]))
            continue;
        const struct tacit_report_summary *const value =
            report_point_value(comparison, point, report_columns[i]);
        put_number(value, value == NULL ? NAN : value->mean, out);
        if (i == 0)
            put_number(point->run_count < 2 ? NULL : value, value == NULL ? NAN : value->ci95, out);
    }
    (void)fputc('\n', out);
}

/* What was found in each, and whether it was worth the effort. */
static void put_answers(const struct tacit_report_comparison *comparison, char *const *words,
                        uint32_t width, FILE *out)
{
    (void)fputc('\n', out);
    for (uint32_t i = 0; i < comparison->point_count; i++) {
        const struct tacit_report_grid_point *const point = &comparison->points[i];
        if (point->error != NULL || (point->answer == NULL && point->note == NULL))
            continue;
        report_put_column(out, words[i], width);
        term_put(out, "  %s", point->answer == NULL ? "no answer" : point->answer);
        if (point->note != NULL)
            term_put(out, " (%-s)", point->note);
        (void)fputc('\n', out);
    }
}

static void put_table(const struct tacit_report_comparison *comparison, char *const *words,
                      FILE *out)
{
    uint32_t const width = label_width(comparison, words);
    report_put_remark(comparison->remark, out);
    report_put_column(out, "settings", width);
    for (size_t i = 0; i < REPORT_COLUMNS; i++)
        if (any_point_has(comparison, report_columns[i]))
            (void)fprintf(out, i == 0 ? " %11s    +/- 95 %%" : " %11s", report_columns[i]);
    (void)fputc('\n', out);
    for (uint32_t i = 0; i < comparison->point_count; i++)
        put_row(comparison, &comparison->points[i], words[i], width, out);
    put_answers(comparison, words, width, out);
    if (report_comparison_find(comparison).has_one_epsilon)
        (void)fputc('\n', out);
    report_comparison_sentence(comparison, words, REPORT_TERMINAL, out);
    if (comparison->point_count < comparison->points_asked)
        term_put(out, "STOPPED: %u of %u settings were run\n", comparison->point_count,
                 comparison->points_asked);
}

enum tacit_status tacit_report_comparison_table(const struct tacit_report_comparison *comparison,
                                                FILE *out)
{
    char **const words = report_comparison_words(comparison);
    if (words == NULL)
        return TACIT_MEMORY;
    locale_t const before = report_locale_enter();
    put_table(comparison, words, out);
    report_locale_leave(before);
    report_comparison_words_free(words);
    return report_finish(out);
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* A baseline that came to the same in all grid points that ran. */
struct reference {
    double y[2]; /* its line beside single points */
    /* The first of them, whose curve all have; NULL: none. */
    const struct tacit_report_grid_point *first;
    const double *curve;
    char label[100];
};

/* The figures of a comparison, and what they point into. */
struct drawing {
    struct tacit_report_figure figures[FIGURES_MAX];
    uint32_t figure_count;
    struct tacit_report_series *curves; /* of the first figure: of each grid point, references */
    struct tacit_report_series points[FIGURES_MAX][1 + REPORT_REFERENCES_MAX];
    double *numbers;    /* x, y, ci95 of the points of each figure */
    const char **names; /* of the points of each figure */
    char *const *words; /* of the settings */
    struct reference references[REPORT_REFERENCES_MAX];
    uint32_t reference_count;
    double reference_x[FIGURES_MAX][2]; /* where their lines begin and end */
};

static void free_drawing(struct drawing *drawing)
{
    free(drawing->curves);
    free(drawing->numbers);
    free(drawing->names);
}

static const struct tacit_report_reference *
find_reference(const struct tacit_report_grid_point *point, const char *name)
{
    for (uint32_t i = 0; i < point->reference_count; i++)
        if (strcmp(point->references[i].name, name) == 0)
            return &point->references[i];
    return NULL;
}

static bool are_close(double a, double b)
{
    return fabs(a - b) <= ROUNDING * fabs(b);
}

static bool is_same_curve(const struct tacit_report_grid_point *point, const double *curve,
                          const struct tacit_report_grid_point *other, const double *other_curve)
{
    if (curve == NULL || other_curve == NULL || point->curve_points != other->curve_points)
        return false;
    for (uint32_t i = 0; i < point->curve_points; i++)
        if (point->t[i] != other->t[i] || !are_close(curve[i], other_curve[i]))
            return false;
    return true;
}

/* Whether the baseline came to the same in all grid points that ran; `same_curve`: over time, too.
 */
static bool is_common(const struct tacit_report_comparison *comparison,
                      const struct tacit_report_grid_point *first,
                      const struct tacit_report_reference *reference, bool *same_curve)
{
    *same_curve = reference->curve != NULL && first->curve_points > 0;
    for (uint32_t i = 0; i < comparison->point_count; i++) {
        const struct tacit_report_grid_point *const point = &comparison->points[i];
        const struct tacit_report_reference *const own =
            point->error != NULL ? reference : find_reference(point, reference->name);
        if (own == NULL || !isfinite(own->regret) || !are_close(own->regret, reference->regret))
            return false;
        *same_curve = *same_curve && (point->error != NULL ||
                                      is_same_curve(point, own->curve, first, reference->curve));
    }
    return true;
}

/* Baselines of the first setting that ran which all others share. */
static void find_references(const struct tacit_report_comparison *comparison,
                            struct drawing *drawing)
{
    const struct tacit_report_grid_point *first = NULL;
    for (uint32_t i = comparison->point_count; i-- > 0;)
        first = comparison->points[i].error == NULL ? &comparison->points[i] : first;
    for (uint32_t i = 0; first != NULL && i < first->reference_count &&
                         drawing->reference_count < REPORT_REFERENCES_MAX;
         i++) {
        const struct tacit_report_reference *const own = &first->references[i];
        struct reference *const found = &drawing->references[drawing->reference_count];
        bool same_curve;
        if (!is_common(comparison, first, own, &same_curve))
            continue;
        *found = (struct reference){.y = {own->regret, own->regret},
                                    .first = same_curve ? first : NULL,
                                    .curve = own->curve};
        (void)snprintf(found->label, sizeof found->label, "%.40s: %s",
                       report_baseline_words(own->name), report_rounded(own->regret, 4).text);
        drawing->reference_count++;
    }
}

/* Appended to the curves; how many. */
static uint32_t draw_reference_curves(const struct drawing *drawing,
                                      struct tacit_report_series *series)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < drawing->reference_count; i++) {
        const struct reference *const reference = &drawing->references[i];
        if (reference->first != NULL)
            series[count++] = (struct tacit_report_series){.label = reference->label,
                                                           .count = reference->first->curve_points,
                                                           .x = reference->first->t,
                                                           .y = reference->curve,
                                                           .is_reference = true};
    }
    return count;
}

/* Level lines from lo to hi beside the points of a figure; how many. */
static uint32_t draw_reference_lines(struct drawing *drawing, double lo, double hi,
                                     struct tacit_report_series *series)
{
    double *const x = drawing->reference_x[drawing->figure_count];
    x[0] = lo;
    x[1] = hi;
    for (uint32_t i = 0; i < drawing->reference_count; i++)
        series[i] = (struct tacit_report_series){.label = drawing->references[i].label,
                                                 .count = 2,
                                                 .x = x,
                                                 .y = drawing->references[i].y,
                                                 .is_reference = true};
    return drawing->reference_count;
}

static void draw_curves(const struct tacit_report_comparison *comparison, struct drawing *drawing)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < comparison->point_count; i++) {
        const struct tacit_report_grid_point *const point = &comparison->points[i];
        if (point->error != NULL || point->curve_points == 0)
            continue;
        drawing->curves[count++] = (struct tacit_report_series){.label = drawing->words[i],
                                                                .count = point->curve_points,
                                                                .x = point->t,
                                                                .y = point->regret,
                                                                .ci95 = point->ci95};
    }
    count += count == 0 ? 0 : draw_reference_curves(drawing, &drawing->curves[count]);
    if (count > 0)
        drawing->figures[drawing->figure_count++] =
            (struct tacit_report_figure){.id = "regret",
                                         .title = "Regret over time",
                                         .x_label = "time slot t",
                                         .y_label = "regret",
                                         .series = drawing->curves,
                                         .series_count = count};
}

/* Regret against one metric, if that takes at least two values; NULL: of each setting in a row of
 * its own, of one without noise, too. */
static void draw_points(const struct tacit_report_comparison *comparison, const char *metric,
                        const char *title, struct drawing *drawing)
{
    uint32_t const points = comparison->point_count;
    bool const is_rows = metric == NULL;
    size_t const at = (size_t)drawing->figure_count * points;
    double *const x = drawing->numbers + 3 * at;
    double *const y = x + points;
    double *const ci95 = y + points;
    uint32_t count = 0;
    double lo = INFINITY;
    double hi = -INFINITY;
    for (uint32_t i = 0; i < points && (!is_rows || count < ROWS_MAX); i++) {
        const struct tacit_report_grid_point *const point = &comparison->points[i];
        const struct tacit_report_summary *const regret =
            report_point_value(comparison, point, "regret");
        const struct tacit_report_summary *const along =
            is_rows ? regret : report_point_value(comparison, point, metric);
        if (regret == NULL || along == NULL)
            continue;
        x[count] = is_rows ? 0 : along->mean;
        y[count] = regret->mean;
        ci95[count] = regret->ci95;
        drawing->names[at + count++] = drawing->words[i];
        lo = fmin(lo, along->mean);
        hi = fmax(hi, along->mean);
    }
    if (is_rows ? count < 2 : !(lo < hi))
        return;
    struct tacit_report_series *const series = drawing->points[drawing->figure_count];
    series[0] =
        (struct tacit_report_series){.label = is_rows ? "" : "a setting, with its 95 % interval",
                                     .count = count,
                                     .x = x,
                                     .y = y,
                                     .ci95 = ci95,
                                     .names = drawing->names + at};
    uint32_t const line_count =
        draw_reference_lines(drawing, is_rows ? 0 : lo, is_rows ? 1 : hi, &series[1]);
    bool const is_log = lo > 0 && hi / lo >= LOG_FROM;
    drawing->figures[drawing->figure_count++] =
        (struct tacit_report_figure){.id = is_rows ? "settings" : metric,
                                     .title = title,
                                     .x_label = metric,
                                     .y_label = "regret",
                                     .x_is_log = !is_rows && is_log,
                                     .y_is_log = is_rows && is_log,
                                     .series = series,
                                     .series_count = 1 + line_count,
                                     .is_rows = is_rows};
}

/* Errors: TACIT_MEMORY; free_drawing frees what there is. */
static enum tacit_status draw(const struct tacit_report_comparison *comparison, char *const *words,
                              struct drawing *drawing)
{
    size_t const series_max = comparison->point_count + (size_t)1 + REPORT_REFERENCES_MAX;
    *drawing = (struct drawing){.words = words,
                                .curves = calloc(series_max, sizeof *drawing->curves),
                                .numbers = calloc(3 * FIGURES_MAX * series_max, sizeof(double)),
                                .names = calloc(FIGURES_MAX * series_max, sizeof(char *))};
    if (drawing->curves == NULL || drawing->numbers == NULL || drawing->names == NULL)
        return TACIT_MEMORY;
    find_references(comparison, drawing);
    draw_curves(comparison, drawing);
    draw_points(comparison, NULL, "Regret of each setting", drawing);
    draw_points(comparison, "cost", "Regret against cost", drawing);
    draw_points(comparison, "bytes", "Regret against bytes", drawing);
    return TACIT_OK;
}

/* ---- The directory --------------------------------------------------------------------------- */

static enum tacit_status fill_csv(const void *subject, FILE *out)
{
    const struct tacit_report_comparison *const comparison = subject;
    (void)fputs("settings,error,epsilon,runs,uniform_regret", out);
    for (uint32_t i = 0; i < comparison->metric_count; i++)
        csv_put(out, ",%-s_mean,%-s_ci95", comparison->metrics[i]->name,
                comparison->metrics[i]->name);
    (void)fputc('\n', out);
    for (uint32_t i = 0; i < comparison->point_count; i++) {
        const struct tacit_report_grid_point *const point = &comparison->points[i];
        if (point->error != NULL)
            csv_put(out, "%s,%s,,,", point->label, point->error);
        else
            csv_put(out, "%s,,%g,%u,%g", point->label, point->epsilon, point->run_count,
                    point->uniform.mean);
        for (uint32_t j = 0; j < comparison->metric_count; j++)
            csv_put(out, ",%g,%g", point->error != NULL ? NAN : point->values[j].mean,
                    point->error != NULL ? NAN : point->values[j].ci95);
        (void)fputc('\n', out);
    }
    return report_finish(out);
}

static enum tacit_status fill_curves(const void *subject, FILE *out)
{
    const struct tacit_report_comparison *const comparison = subject;
    (void)fputs("settings,t,regret_mean,regret_ci95\n", out);
    for (uint32_t i = 0; i < comparison->point_count; i++) {
        const struct tacit_report_grid_point *const point = &comparison->points[i];
        for (uint32_t j = 0; point->error == NULL && j < point->curve_points; j++)
            csv_put(out, "%s,%g,%g,%g\n", point->label, point->t[j], point->regret[j],
                    point->ci95[j]);
    }
    return report_finish(out);
}

#define FILES_MAX (4 + FIGURES_MAX)

static enum tacit_status write_files(const struct tacit_report_comparison *comparison,
                                     const struct drawing *drawing, const char *directory,
                                     struct tacit_error *error)
{
    struct report_file files[FILES_MAX] = {
        {"results.json", "everything, exactly", "application/json", true, report_fill_text,
         comparison->json},
        {"comparison.csv", "every metric: a line a setting", "text/csv", true, fill_csv,
         comparison},
        {"curves.csv", "the regret curves: a line a setting and time slot", "text/csv", true,
         fill_curves, comparison}};
    char names[FIGURES_MAX][80];
    size_t count = 3;
    for (uint32_t i = 0; i < drawing->figure_count; i++) {
        const struct tacit_report_figure *const figure = &drawing->figures[i];
        (void)snprintf(names[i], sizeof names[i], "%s.svg", figure->id);
        files[count++] = (struct report_file){names[i], figure->title,      "image/svg+xml",
                                              false,    report_fill_figure, figure};
    }
    struct report_comparison_page const page = {
        comparison, drawing->words, drawing->figures, drawing->figure_count, files, count};
    files[count] = (struct report_file){
        .name = "report.html", .fill = report_comparison_html, .subject = &page};
    return report_write_files(directory, files, count + 1, error);
}

enum tacit_status tacit_report_comparison_write(const struct tacit_report_comparison *comparison,
                                                const char *directory, struct tacit_error *error)
{
    struct drawing drawing = {.words = NULL};
    locale_t const before = report_locale_enter();
    char **const words = report_comparison_words(comparison);
    enum tacit_status status = words == NULL ? TACIT_MEMORY : draw(comparison, words, &drawing);
    if (status == TACIT_OK)
        status = write_files(comparison, &drawing, directory, error);
    free_drawing(&drawing);
    report_comparison_words_free(words);
    report_locale_leave(before);
    return status;
}
