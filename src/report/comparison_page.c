/* The page of experiments beside each other, of the parts of all pages: what is best first, then
 * every setting, the figures, and the data. */
#include "internal.h"
#include <math.h>
#include <string.h>

/* ---- The answer ---- */

static void put_regret(const struct tacit_report_comparison *comparison,
                       const struct tacit_report_grid_point *point, FILE *out)
{
    const struct tacit_report_summary *const regret =
        report_point_value(comparison, point, "regret");
    if (regret == NULL)
        return;
    html_put(out, "regret %.4g", regret->mean);
    if (point->run_count > 1)
        html_put(out, " \xc2\xb1 %.2g", regret->ci95);
    if (isfinite(point->uniform.mean) && point->uniform.mean > 0)
        html_put(out, "; playing every arm alike: %.4g", point->uniform.mean);
}

static void put_found(const struct report_comparison_page *page, const char *what, uint32_t index,
                      FILE *out)
{
    const struct tacit_report_comparison *const comparison = page->comparison;
    if (index == UINT32_MAX)
        return;
    const struct tacit_report_grid_point *const point = &comparison->points[index];
    html_put(out, "<p>%-s: <b>%s</b> (", what, page->words[index]);
    put_regret(comparison, point, out);
    html_put(out, ")%-s%s.</p>\n", point->answer != NULL ? ", " : "", point->answer);
}

/* The one answer that all of them have, or how many have one. */
static void put_headline(const struct tacit_report_comparison *comparison,
                         const struct report_findings *found, FILE *out)
{
    if (found->decided == comparison->point_count && found->decided > 1)
        html_put(out, "all %u settings decide for one arm", found->decided);
    else
        html_put(out, "%u of %u %-s for one arm", found->decided, comparison->point_count,
                 comparison->point_count == 1 ? "setting decides" : "settings decide");
}

static void put_answer(const struct report_comparison_page *page, FILE *out)
{
    const struct tacit_report_comparison *const comparison = page->comparison;
    struct report_findings const found = report_comparison_find(comparison);
    report_html_answer_begin(found.decided == comparison->point_count ? " win" : " open", out);
    put_headline(comparison, &found, out);
    (void)fputs("</p>\n", out);
    put_found(page, "Least regret", found.least, out);
    put_found(page, "Strongest privacy that still decides", found.private_most, out);
    if (found.has_one_epsilon) {
        (void)fputs("<p>", out);
        report_comparison_sentence(comparison, page->words, REPORT_HTML, out);
        (void)fputs("</p>\n", out);
    }
    if (found.ran < comparison->point_count)
        html_put(out, "<p>%u could not run; the table says why.</p>\n",
                 comparison->point_count - found.ran);
    (void)fputs("</section>\n", out);
}

/* ---- The table ---- */

/* Its words, and what to give `tacit run`. */
static void put_settings(const struct report_comparison_page *page, uint32_t index, FILE *out)
{
    char const *const label = page->comparison->points[index].label;
    html_put(out, "<tr><th scope=\"row\">%s", page->words[index]);
    if (strcmp(page->words[index], label) != 0)
        html_put(out, "<br><code>%s</code>", label);
    (void)fputs("</th>", out);
}

static void put_point(const struct report_comparison_page *page, uint32_t index, FILE *out)
{
    const struct tacit_report_comparison *const comparison = page->comparison;
    const struct tacit_report_grid_point *const point = &comparison->points[index];
    put_settings(page, index, out);
    if (point->error != NULL) {
        html_put(out, "<td colspan=\"%u\">could not run: %s</td></tr>\n", REPORT_COLUMNS + 1,
                 point->error);
        return;
    }
    html_put(out, "<td class=\"long\">%s", point->answer == NULL ? "\xe2\x80\x93" : point->answer);
    if (point->note != NULL)
        html_put(out, "<br><b>%s</b>", point->note);
    (void)fputs("</td>", out);
    for (size_t i = 0; i < REPORT_COLUMNS; i++)
        report_html_summary(report_point_value(comparison, point, report_columns[i]), out);
    (void)fputs("</tr>\n", out);
}

/* NULL: none of the grid points has it. */
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
        html_put(out, "<th scope=\"col\" class=\"n\">%s</th>",
                 metric == NULL ? report_columns[i] : metric->label);
    }
    (void)fputs("</tr></thead><tbody>\n", out);
}

static void put_points(const struct report_comparison_page *page, FILE *out)
{
    const struct tacit_report_comparison *const comparison = page->comparison;
    report_html_section("beside", "Settings beside each other",
                        "Means over the runs with 95 % intervals. comparison.csv has every metric, "
                        "results.json everything.",
                        out);
    report_html_table("Settings beside each other", "plain cells", NULL, 0, out);
    put_heads(comparison, out);
    for (uint32_t i = 0; i < comparison->point_count; i++)
        put_point(page, i, out);
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

enum tacit_status report_comparison_html(const void *subject, FILE *out)
{
    const struct report_comparison_page *const page = subject;
    const struct tacit_report_comparison *const comparison = page->comparison;
    bool const has_name = comparison->name != NULL;
    report_html_top(has_name ? comparison->name : "Experiments beside each other",
                    has_name ? "settings beside each other" : NULL, comparison->remark, NULL, out);
    report_html_fact(comparison->point_count, "setting", "settings", out);
    report_html_header_end(out);
    report_html_stopped(comparison->point_count, comparison->points_asked, "settings were run",
                        out);
    put_answer(page, out);
    (void)fputs("<div class=\"figures\">\n", out);
    for (uint32_t i = 0; i < page->figure_count; i++)
        report_html_figure(&page->figures[i], NULL, out);
    (void)fputs("</div>\n", out);
    put_points(page, out);
    put_words(comparison, out);
    TACIT_TRY(report_html_data(page->files, page->file_count, out));
    report_html_bottom(comparison->version, out);
    return report_finish(out);
}
