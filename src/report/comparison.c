/* Experiments beside each other: a table, CSV, figures and a page of the same parts as the page of
 * one. */
#include "internal.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLUS_MINUS "\xc2\xb1"
#define LABEL_WIDTH_MAX 44u
#define FIGURES_MAX 4u

/* What the table and the page show of the metrics; comparison.csv has all. */
static const char *const columns[] = {"regret", "cost", "messages", "bytes", "rounds"};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

/* NULL: the cell has no such number. */
static const struct tacit_report_summary *value_of(const struct tacit_report_comparison *comparison,
                                                   const struct tacit_report_cell *cell,
                                                   const char *metric)
{
    for (uint32_t i = 0; i < comparison->metric_count && cell->error == NULL; i++)
        if (strcmp(comparison->metrics[i], metric) == 0 && !isnan(cell->values[i].mean))
            return &cell->values[i];
    return NULL;
}

static bool any_has(const struct tacit_report_comparison *comparison, const char *metric)
{
    for (uint32_t i = 0; i < comparison->cell_count; i++)
        if (value_of(comparison, &comparison->cells[i], metric) != NULL)
            return true;
    return false;
}

/* ---- The terminal ---------------------------------------------------------------------------- */

static uint32_t label_width(const struct tacit_report_comparison *comparison)
{
    uint32_t width = 8;
    for (uint32_t i = 0; i < comparison->cell_count; i++) {
        uint32_t const own = report_width(comparison->cells[i].label);
        width = own > width ? own : width;
    }
    return width < LABEL_WIDTH_MAX ? width : LABEL_WIDTH_MAX;
}

static void put_label(const char *label, uint32_t width, FILE *out)
{
    uint32_t const own = report_width(label);
    report_put_start(out, label, REPORT_TERMINAL, width > 3 && own > width ? width - 3 : width);
    (void)fprintf(out, "%*s", own < width ? (int)(width - own) : 0, "");
}

static void put_number(const struct tacit_report_summary *summary, double value, FILE *out)
{
    (void)fprintf(out, " %11s",
                  summary == NULL || !isfinite(value) ? "-" : report_rounded(value, 5).text);
}

static void put_row(const struct tacit_report_comparison *comparison,
                    const struct tacit_report_cell *cell, uint32_t width, FILE *out)
{
    put_label(cell->label, width, out);
    if (cell->error != NULL) {
        (void)fputs("  ", out);
        report_put(out, cell->error, REPORT_TERMINAL);
        (void)fputc('\n', out);
        return;
    }
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (!any_has(comparison, columns[i]))
            continue;
        const struct tacit_report_summary *const value = value_of(comparison, cell, columns[i]);
        put_number(value, value == NULL ? NAN : value->mean, out);
        if (i == 0)
            put_number(cell->run_count < 2 ? NULL : value, value == NULL ? NAN : value->ci95, out);
    }
    (void)fputc('\n', out);
}

/* What was found in each, and whether it was worth the effort. */
static void put_answers(const struct tacit_report_comparison *comparison, uint32_t width, FILE *out)
{
    (void)fputc('\n', out);
    for (uint32_t i = 0; i < comparison->cell_count; i++) {
        const struct tacit_report_cell *const cell = &comparison->cells[i];
        if (cell->error != NULL || (cell->answer == NULL && cell->note == NULL))
            continue;
        put_label(cell->label, width, out);
        (void)fputs("  ", out);
        report_put(out, cell->answer == NULL ? "no answer" : cell->answer, REPORT_TERMINAL);
        if (cell->note != NULL)
            (void)fprintf(out, " (%s)", cell->note);
        (void)fputc('\n', out);
    }
}

enum tacit_status tacit_report_comparison_table(const struct tacit_report_comparison *comparison,
                                                FILE *out)
{
    locale_t const before = report_locale_enter();
    uint32_t const width = label_width(comparison);
    put_label("settings", width, out);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (any_has(comparison, columns[i]))
            (void)fprintf(out, i == 0 ? " %11s    +/- 95 %%" : " %11s", columns[i]);
    (void)fputc('\n', out);
    for (uint32_t i = 0; i < comparison->cell_count; i++)
        put_row(comparison, &comparison->cells[i], width, out);
    put_answers(comparison, width, out);
    if (comparison->cell_count < comparison->cells_asked)
        (void)fprintf(out, "STOPPED: %" PRIu32 " of %" PRIu32 " settings were run\n",
                      comparison->cell_count, comparison->cells_asked);
    report_locale_leave(before);
    return report_finish(out);
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* The figures of a comparison, and what they point into. */
struct drawing {
    struct tacit_report_figure figures[FIGURES_MAX];
    uint32_t figure_count;
    struct tacit_report_series *curves; /* of the first figure: a cell each */
    struct tacit_report_series points[FIGURES_MAX];
    double *numbers;    /* x, y, ci95 of the points of each figure */
    const char **names; /* of the points of each figure */
};

static void free_drawing(struct drawing *drawing)
{
    free(drawing->curves);
    free(drawing->numbers);
    free(drawing->names);
}

static void draw_curves(const struct tacit_report_comparison *comparison, struct drawing *drawing)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < comparison->cell_count; i++) {
        const struct tacit_report_cell *const cell = &comparison->cells[i];
        if (cell->error == NULL && cell->point_count > 0)
            drawing->curves[count++] = (struct tacit_report_series){.label = cell->label,
                                                                    .count = cell->point_count,
                                                                    .x = cell->t,
                                                                    .y = cell->regret,
                                                                    .ci95 = cell->ci95};
    }
    if (count > 0)
        drawing->figures[drawing->figure_count++] = (struct tacit_report_figure){
            "regret", "Regret over time", "time slot t", "regret", false,
            false,    drawing->curves,    count};
}

/* NaN: the cell has no such number. */
static double abscissa(const struct tacit_report_comparison *comparison,
                       const struct tacit_report_cell *cell, const char *metric)
{
    if (strcmp(metric, "epsilon") == 0)
        return isfinite(cell->epsilon) ? cell->epsilon : NAN;
    const struct tacit_report_summary *const value = value_of(comparison, cell, metric);
    return value == NULL ? NAN : value->mean;
}

/* Regret against one number, if that takes at least two values. */
static void draw_trade(const struct tacit_report_comparison *comparison, const char *metric,
                       const char *id, const char *title, struct drawing *drawing)
{
    uint32_t const cells = comparison->cell_count;
    size_t const at = (size_t)drawing->figure_count * cells;
    double *const x = drawing->numbers + 3 * at;
    double *const y = x + cells;
    double *const ci95 = y + cells;
    uint32_t count = 0;
    bool differs = false;
    for (uint32_t i = 0; i < cells; i++) {
        const struct tacit_report_cell *const cell = &comparison->cells[i];
        const struct tacit_report_summary *const regret = value_of(comparison, cell, "regret");
        double const place = cell->error != NULL ? NAN : abscissa(comparison, cell, metric);
        if (regret == NULL || isnan(place))
            continue;
        x[count] = place;
        y[count] = regret->mean;
        ci95[count] = regret->ci95;
        drawing->names[at + count] = cell->label;
        differs = differs || x[count] != x[0];
        count++;
    }
    if (!differs)
        return;
    struct tacit_report_series *const series = &drawing->points[drawing->figure_count];
    *series = (struct tacit_report_series){.label = "regret",
                                           .count = count,
                                           .x = x,
                                           .y = y,
                                           .ci95 = ci95,
                                           .names = drawing->names + at};
    drawing->figures[drawing->figure_count++] = (struct tacit_report_figure){
        id,       title, strcmp(metric, "epsilon") == 0 ? "epsilon per reward" : metric,
        "regret", false, false,
        series,   1};
}

/* Errors: TACIT_MEMORY. */
static enum tacit_status draw(const struct tacit_report_comparison *comparison,
                              struct drawing *drawing)
{
    size_t const cells = comparison->cell_count + (size_t)1;
    *drawing = (struct drawing){.curves = calloc(cells, sizeof *drawing->curves),
                                .numbers = calloc(3 * FIGURES_MAX * cells, sizeof(double)),
                                .names = calloc(FIGURES_MAX * cells, sizeof(char *))};
    if (drawing->curves == NULL || drawing->numbers == NULL || drawing->names == NULL)
        return TACIT_MEMORY;
    draw_curves(comparison, drawing);
    draw_trade(comparison, "epsilon", "epsilon", "Regret against epsilon", drawing);
    draw_trade(comparison, "cost", "cost", "Regret against cost", drawing);
    draw_trade(comparison, "bytes", "bytes", "Regret against bytes", drawing);
    return TACIT_OK;
}

/* ---- The page -------------------------------------------------------------------------------- */

static void put_text(FILE *out, const char *text)
{
    report_put(out, text, REPORT_HTML);
}

static void put_cell_row(const struct tacit_report_comparison *comparison,
                         const struct tacit_report_cell *cell, FILE *out)
{
    (void)fputs("<tr><td>", out);
    put_text(out, cell->label);
    (void)fputs("</td>", out);
    if (cell->error != NULL) {
        (void)fprintf(out, "<td colspan=\"%zu\">could not run: ", COLUMN_COUNT + 1);
        put_text(out, cell->error);
        (void)fputs("</td></tr>\n", out);
        return;
    }
    (void)fputs("<td>", out);
    put_text(out, cell->answer == NULL ? "\xe2\x80\x93" : cell->answer);
    if (cell->note != NULL) {
        (void)fputs("<br><b>", out);
        put_text(out, cell->note);
        (void)fputs("</b>", out);
    }
    (void)fputs("</td>", out);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const struct tacit_report_summary *const value = value_of(comparison, cell, columns[i]);
        (void)fprintf(out, "<td class=\"n\">%s",
                      value == NULL ? "" : report_rounded(value->mean, 5).text);
        if (value != NULL && value->sd > 0)
            (void)fprintf(out, " <span class=\"soft\">" PLUS_MINUS " %s</span>",
                          report_rounded(value->ci95, 2).text);
        (void)fputs("</td>", out);
    }
    (void)fputs("</tr>\n", out);
}

static void put_cells(const struct tacit_report_comparison *comparison, FILE *out)
{
    (void)fputs("<section><h2>Settings beside each other</h2>\n<p class=\"lead\">Means over the "
                "runs with 95 % intervals. comparison.csv has every metric, results.json "
                "everything.</p>\n<div class=\"scroll\"><table><thead><tr><th>settings</th>"
                "<th>answer</th>",
                out);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        (void)fprintf(out, "<th class=\"n\">%s</th>", columns[i]);
    (void)fputs("</tr></thead><tbody>\n", out);
    for (uint32_t i = 0; i < comparison->cell_count; i++)
        put_cell_row(comparison, &comparison->cells[i], out);
    (void)fputs("</tbody></table></div></section>\n", out);
}

static void put_page(const struct tacit_report_comparison *comparison,
                     const struct drawing *drawing, FILE *out)
{
    report_html_top(comparison->title, out);
    (void)fputs("<header><h1><bdi>", out);
    put_text(out, comparison->title);
    (void)fputs("</bdi></h1>\n<p class=\"facts\">", out);
    report_html_fact(comparison->cell_count, "setting", "settings", out);
    (void)fputs("</p></header>\n", out);
    if (comparison->cell_count < comparison->cells_asked)
        (void)fprintf(out,
                      "<div class=\"box warn\" role=\"alert\"><h2>Stopped before the end</h2>\n"
                      "<p>%" PRIu32 " of %" PRIu32 " settings were run.</p></div>\n",
                      comparison->cell_count, comparison->cells_asked);
    put_cells(comparison, out);
    for (uint32_t i = 0; i < drawing->figure_count; i++) {
        (void)fprintf(out, "<section id=\"%s\"><h2>%s</h2>\n", drawing->figures[i].id,
                      drawing->figures[i].title);
        report_figure_draw(&drawing->figures[i], out);
        (void)fputs("</section>\n", out);
    }
    (void)fputs("<footer>tacit ", out);
    put_text(out, comparison->version);
    (void)fputs(" \xc2\xb7 beside this page: results.json, comparison.csv, curves.csv and the "
                "figures as SVG</footer>\n</main></body></html>\n",
                out);
}

/* ---- The directory --------------------------------------------------------------------------- */

static void put_quoted(const char *text, FILE *out)
{
    (void)fputc('"', out);
    report_put(out, text, REPORT_CSV);
    (void)fputc('"', out);
}

static void put_value(double value, FILE *out)
{
    (void)fprintf(out, ",%s", isfinite(value) ? report_exact(value).text : "");
}

static enum tacit_status fill_csv(const void *subject, FILE *out, struct tacit_error *error)
{
    const struct tacit_report_comparison *const comparison = subject;
    (void)error;
    (void)fputs("settings,error,epsilon,runs,uniform_regret", out);
    for (uint32_t i = 0; i < comparison->metric_count; i++)
        (void)fprintf(out, ",%s_mean,%s_ci95", comparison->metrics[i], comparison->metrics[i]);
    (void)fputc('\n', out);
    for (uint32_t i = 0; i < comparison->cell_count; i++) {
        const struct tacit_report_cell *const cell = &comparison->cells[i];
        put_quoted(cell->label, out);
        (void)fputc(',', out);
        if (cell->error != NULL) {
            put_quoted(cell->error, out);
            (void)fputs(",,,", out);
        } else {
            put_value(cell->epsilon, out);
            (void)fprintf(out, ",%" PRIu32, cell->run_count);
            put_value(cell->uniform.mean, out);
        }
        for (uint32_t j = 0; j < comparison->metric_count; j++) {
            put_value(cell->error != NULL ? NAN : cell->values[j].mean, out);
            put_value(cell->error != NULL ? NAN : cell->values[j].ci95, out);
        }
        (void)fputc('\n', out);
    }
    return report_finish(out);
}

static enum tacit_status fill_curves(const void *subject, FILE *out, struct tacit_error *error)
{
    const struct tacit_report_comparison *const comparison = subject;
    (void)error;
    (void)fputs("settings,t,regret_mean,regret_ci95\n", out);
    for (uint32_t i = 0; i < comparison->cell_count; i++) {
        const struct tacit_report_cell *const cell = &comparison->cells[i];
        for (uint32_t j = 0; cell->error == NULL && j < cell->point_count; j++) {
            put_quoted(cell->label, out);
            put_value(cell->t[j], out);
            put_value(cell->regret[j], out);
            put_value(cell->ci95[j], out);
            (void)fputc('\n', out);
        }
    }
    return report_finish(out);
}

static enum tacit_status fill_json(const void *subject, FILE *out, struct tacit_error *error)
{
    const struct tacit_report_comparison *const comparison = subject;
    (void)error;
    (void)fputs(comparison->json, out);
    return report_finish(out);
}

struct page {
    const struct tacit_report_comparison *comparison;
    const struct drawing *drawing;
};

static enum tacit_status fill_page(const void *subject, FILE *out, struct tacit_error *error)
{
    const struct page *const page = subject;
    (void)error;
    put_page(page->comparison, page->drawing, out);
    return report_finish(out);
}

static enum tacit_status fill_figure(const void *subject, FILE *out, struct tacit_error *error)
{
    (void)error;
    return tacit_report_figure_svg(subject, out);
}

static enum tacit_status write_files(const struct page *page, const struct report_place *place)
{
    enum tacit_status status =
        report_place_write(place, "results.json", fill_json, page->comparison);
    if (status == TACIT_OK)
        status = report_place_write(place, "comparison.csv", fill_csv, page->comparison);
    if (status == TACIT_OK)
        status = report_place_write(place, "curves.csv", fill_curves, page->comparison);
    if (status == TACIT_OK)
        status = report_place_write(place, "report.html", fill_page, page);
    for (uint32_t i = 0; i < page->drawing->figure_count && status == TACIT_OK; i++) {
        char name[80];
        (void)snprintf(name, sizeof name, "%s.svg", page->drawing->figures[i].id);
        status = report_place_write(place, name, fill_figure, &page->drawing->figures[i]);
    }
    return status;
}

enum tacit_status tacit_report_comparison_write(const struct tacit_report_comparison *comparison,
                                                const char *directory, struct tacit_error *error)
{
    struct report_place place;
    struct drawing drawing;
    enum tacit_status status = report_place_open(&place, directory, error);
    if (status != TACIT_OK)
        return status;
    locale_t const before = report_locale_enter();
    status = draw(comparison, &drawing);
    if (status == TACIT_OK)
        status = write_files(&(struct page){comparison, &drawing}, &place);
    free_drawing(&drawing);
    report_locale_leave(before);
    report_place_close(&place);
    return status;
}
