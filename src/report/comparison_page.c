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

static void put_found(const struct report_comparison_page *page, const char *what, uint32_t index,
                      FILE *out)
{
    const struct tacit_report_comparison *const comparison = page->comparison;
    if (index == UINT32_MAX)
        return;
    const struct tacit_report_cell *const cell = &comparison->cells[index];
    (void)fprintf(out, "<p>%s: <b>", what);
    put_text(out, page->words[index]);
    (void)fputs("</b> (", out);
    put_regret(comparison, cell, out);
    (void)fputs(")", out);
    if (cell->answer != NULL) {
        (void)fputs(", ", out);
        put_text(out, cell->answer);
    }
    (void)fputs(".</p>\n", out);
}

/* The one answer that all of them have, or how many have one. */
static void put_headline(const struct tacit_report_comparison *comparison,
                         const struct report_findings *found, FILE *out)
{
    if (found->decided == comparison->cell_count && found->decided > 1)
        (void)fprintf(out, "all %" PRIu32 " settings decide for one arm", found->decided);
    else
        (void)fprintf(out, "%" PRIu32 " of %" PRIu32 " %s for one arm", found->decided,
                      comparison->cell_count,
                      comparison->cell_count == 1 ? "setting decides" : "settings decide");
}

static void put_answer(const struct report_comparison_page *page, FILE *out)
{
    const struct tacit_report_comparison *const comparison = page->comparison;
    struct report_findings const found = report_comparison_find(comparison);
    (void)fprintf(out, "<section id=\"answer\" class=\"box%s\"><h2>Answer</h2>\n<p class=\"say\">",
                  found.decided == comparison->cell_count ? " win" : " open");
    put_headline(comparison, &found, out);
    (void)fputs("</p>\n", out);
    put_found(page, "Least regret", found.least, out);
    put_found(page, "Strongest privacy that still decides", found.private_most, out);
    if (found.has_one_epsilon) {
        (void)fputs("<p>", out);
        report_comparison_sentence(comparison, page->words, REPORT_HTML, out);
        (void)fputs("</p>\n", out);
    }
    if (found.ran < comparison->cell_count)
        (void)fprintf(out, "<p>%" PRIu32 " could not run; the table says why.</p>\n",
                      comparison->cell_count - found.ran);
    (void)fputs("</section>\n", out);
}

/* ---- The table ---- */

/* Its words, and what to give `tacit run`. */
static void put_settings(const struct report_comparison_page *page, uint32_t index, FILE *out)
{
    (void)fputs("<tr><th scope=\"row\">", out);
    put_text(out, page->words[index]);
    if (strcmp(page->words[index], page->comparison->cells[index].label) != 0) {
        (void)fputs("<br><code>", out);
        put_text(out, page->comparison->cells[index].label);
        (void)fputs("</code>", out);
    }
    (void)fputs("</th>", out);
}

static void put_cell_row(const struct report_comparison_page *page, uint32_t index, FILE *out)
{
    const struct tacit_report_comparison *const comparison = page->comparison;
    const struct tacit_report_cell *const cell = &comparison->cells[index];
    put_settings(page, index, out);
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

static void put_cells(const struct report_comparison_page *page, FILE *out)
{
    const struct tacit_report_comparison *const comparison = page->comparison;
    report_html_section("beside", "Settings beside each other",
                        "Means over the runs with 95 % intervals. comparison.csv has every metric, "
                        "results.json everything.",
                        out);
    report_html_table("Settings beside each other", "plain cells", NULL, 0, out);
    put_heads(comparison, out);
    for (uint32_t i = 0; i < comparison->cell_count; i++)
        put_cell_row(page, i, out);
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
    bool const has_name = comparison->name != NULL;
    report_html_top(has_name ? comparison->name : "Experiments beside each other",
                    has_name ? "settings beside each other" : NULL, comparison->remark, NULL, out);
    report_html_fact(comparison->cell_count, "setting", "settings", out);
    report_html_header_end(out);
    report_html_stopped(comparison->cell_count, comparison->cells_asked, "settings were run", out);
    put_answer(page, out);
    (void)fputs("<div class=\"figures\">\n", out);
    for (uint32_t i = 0; i < page->figure_count; i++)
        report_html_figure(&page->figures[i], NULL, out);
    (void)fputs("</div>\n", out);
    put_cells(page, out);
    put_words(comparison, out);
    enum tacit_status const status = report_html_data(page->files, page->file_count, out);
    if (status != TACIT_OK)
        return status;
    report_html_bottom(comparison->version, out);
    return report_finish(out);
}
