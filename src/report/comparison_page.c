/* The page of experiments beside each other, of the parts of all pages: what is best first, then
 * every setting, the figures, and the data. */
#include "internal.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_text(FILE *out, const char *text)
{
    report_put(out, text, REPORT_HTML);
}

/* ---- The answer ---- */

static double regret_of(const struct tacit_report_comparison *comparison,
                        const struct tacit_report_cell *cell)
{
    const struct tacit_report_summary *const regret = report_cell_value(comparison, cell, "regret");
    return regret == NULL ? (double)INFINITY : regret->mean;
}

/* Those that ran, those that found an answer; the least regret, and the strongest privacy among
 * those that found one. NULL where there is none. */
struct findings {
    uint32_t ran;
    uint32_t decided;
    const struct tacit_report_cell *least;
    const struct tacit_report_cell *private_most;
};

static struct findings look(const struct tacit_report_comparison *comparison)
{
    struct findings found = {0};
    for (uint32_t i = 0; i < comparison->cell_count; i++) {
        const struct tacit_report_cell *const cell = &comparison->cells[i];
        if (cell->error != NULL)
            continue;
        found.ran++;
        found.decided += cell->is_decided ? 1 : 0;
        if (isfinite(regret_of(comparison, cell)) &&
            (found.least == NULL ||
             regret_of(comparison, cell) < regret_of(comparison, found.least)))
            found.least = cell;
        if (cell->is_decided && isfinite(cell->epsilon) &&
            (found.private_most == NULL || cell->epsilon < found.private_most->epsilon))
            found.private_most = cell;
    }
    return found;
}

static void put_regret(const struct tacit_report_comparison *comparison,
                       const struct tacit_report_cell *cell, FILE *out)
{
    const struct tacit_report_summary *const regret = report_cell_value(comparison, cell, "regret");
    if (regret == NULL)
        return;
    (void)fprintf(out, "regret %s", report_rounded(regret->mean, 4).text);
    if (cell->run_count > 1)
        (void)fprintf(out, " \xc2\xb1 %s", report_rounded(regret->ci95, 2).text);
    if (isfinite(cell->uniform.mean) && cell->uniform.mean > 0)
        (void)fprintf(out, "; playing every arm alike: %s",
                      report_rounded(cell->uniform.mean, 4).text);
}

static void put_found(const struct tacit_report_comparison *comparison, const char *what,
                      const struct tacit_report_cell *cell, FILE *out)
{
    if (cell == NULL)
        return;
    (void)fprintf(out, "<p>%s: <b>", what);
    put_text(out, cell->label);
    (void)fputs("</b> (", out);
    put_regret(comparison, cell, out);
    (void)fputs(")", out);
    if (cell->answer != NULL) {
        (void)fputs(", ", out);
        put_text(out, cell->answer);
    }
    (void)fputs(".</p>\n", out);
}

static void put_answer(const struct tacit_report_comparison *comparison, FILE *out)
{
    struct findings const found = look(comparison);
    (void)fprintf(
        out,
        "<section id=\"answer\" class=\"box%s\"><h2>Answer</h2>\n<p class=\"say\">%" PRIu32
        " of %" PRIu32 " %s for one arm</p>\n",
        found.decided > 0 ? " win" : " open", found.decided, comparison->cell_count,
        comparison->cell_count == 1 ? "setting decides" : "settings decide");
    put_found(comparison, "Least regret", found.least, out);
    put_found(comparison, "Strongest privacy that still decides", found.private_most, out);
    if (found.ran < comparison->cell_count)
        (void)fprintf(out, "<p>%" PRIu32 " could not run; the table says why.</p>\n",
                      comparison->cell_count - found.ran);
    (void)fputs("</section>\n", out);
}

/* ---- The table ---- */

static void put_cell_row(const struct tacit_report_comparison *comparison,
                         const struct tacit_report_cell *cell, FILE *out)
{
    report_html_row(cell->label, out);
    if (cell->error != NULL) {
        (void)fprintf(out, "<td colspan=\"%u\">could not run: ", REPORT_COLUMNS + 1);
        put_text(out, cell->error);
        (void)fputs("</td></tr>\n", out);
        return;
    }
    (void)fputs("<td class=\"long\">", out);
    put_text(out, cell->answer == NULL ? "\xe2\x80\x93" : cell->answer);
    if (cell->note != NULL) {
        (void)fputs("<br><b>", out);
        put_text(out, cell->note);
        (void)fputs("</b>", out);
    }
    (void)fputs("</td>", out);
    for (size_t i = 0; i < REPORT_COLUMNS; i++)
        report_html_summary(report_cell_value(comparison, cell, report_columns[i]), out);
    (void)fputs("</tr>\n", out);
}

/* NULL: none of the cells has it. */
static const struct tacit_metric *metric_of(const struct tacit_report_comparison *comparison,
                                            const char *name)
{
    for (uint32_t i = 0; i < comparison->metric_count; i++)
        if (strcmp(comparison->metrics[i]->name, name) == 0)
            return comparison->metrics[i];
    return NULL;
}

static void put_heads(const struct tacit_report_comparison *comparison, FILE *out)
{
    static const char *const first[] = {"settings", "answer"};
    report_html_heads(first, 2, out);
    for (size_t i = 0; i < REPORT_COLUMNS; i++) {
        const struct tacit_metric *const metric = metric_of(comparison, report_columns[i]);
        (void)fputs("<th scope=\"col\" class=\"n\">", out);
        put_text(out, metric == NULL ? report_columns[i] : metric->label);
        (void)fputs("</th>", out);
    }
    (void)fputs("</tr></thead><tbody>\n", out);
}

static void put_cells(const struct tacit_report_comparison *comparison, FILE *out)
{
    report_html_section("settings", "Settings beside each other",
                        "Means over the runs with 95 % intervals. comparison.csv has every metric, "
                        "results.json everything.",
                        out);
    report_html_table("Settings beside each other", "plain cells", NULL, 0, out);
    put_heads(comparison, out);
    for (uint32_t i = 0; i < comparison->cell_count; i++)
        put_cell_row(comparison, &comparison->cells[i], out);
    report_html_table_end(out);
    report_html_section_end(out);
}

/* What every column of comparison.csv means. */
static void put_words(const struct tacit_report_comparison *comparison, FILE *out)
{
    if (comparison->metric_count == 0)
        return;
    report_html_section("words", "Words", "What the numbers count, and what files call them.", out);
    report_html_words(comparison->metrics, comparison->metric_count, out);
    report_html_section_end(out);
}

enum tacit_status report_comparison_html(const struct report_comparison_page *page, FILE *out)
{
    const struct tacit_report_comparison *const comparison = page->comparison;
    report_html_top(comparison->title, out);
    report_html_header(comparison->title, comparison->remark, NULL, out);
    report_html_fact(comparison->cell_count, "setting", "settings", out);
    report_html_header_end(out);
    report_html_stopped(comparison->cell_count, comparison->cells_asked, "settings were run", out);
    put_answer(comparison, out);
    (void)fputs("<div class=\"figures\">\n", out);
    for (uint32_t i = 0; i < page->figure_count; i++)
        report_html_figure(&page->figures[i], NULL, out);
    (void)fputs("</div>\n", out);
    put_cells(comparison, out);
    put_words(comparison, out);
    enum tacit_status const status = report_html_data(page->files, page->file_count, out);
    if (status != TACIT_OK)
        return status;
    report_html_bottom(comparison->version, out);
    return report_finish(out);
}
