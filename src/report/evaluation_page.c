/* The page of an evaluation, of the same parts as the page of a run; and its files. */
#include "evaluation.h"
#include <inttypes.h>
#include <math.h>

#define PLUS_MINUS "\xc2\xb1"
#define DASH "\xe2\x80\x93"
#define ARMS_DRAWN 40u

static void put_text(FILE *out, const char *text)
{
    report_put(out, text, REPORT_HTML);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static void put_estimate(const struct tacit_report_estimate *estimate, FILE *out)
{
    (void)fprintf(out, "<td class=\"n\">%s", report_rounded(estimate->value, 4).text);
    if (isfinite(estimate->ci95))
        (void)fprintf(out, " <span class=\"soft\">" PLUS_MINUS " %s</span>",
                      report_rounded(estimate->ci95, 2).text);
    (void)fputs("</td>", out);
}

static void put_arm(const struct tacit_report_evaluation *evaluation, uint32_t arm, FILE *out)
{
    const struct tacit_report_estimates *const own = &evaluation->arms[arm];
    (void)fputs("<tr><td><bdi>", out);
    put_text(out, evaluation->arm_names[arm]);
    (void)fputs(own->is_thin ? "</bdi> <b>(too few)</b></td>" : "</bdi></td>", out);
    (void)fprintf(out, "<td class=\"n\">%s</td>", report_grouped(own->row_count).text);
    (void)fprintf(out, "<td class=\"n\">%s</td>", report_rounded(own->effective_rows, 4).text);
    put_estimate(&own->doubly_robust, out);
    put_estimate(&own->self_normalised, out);
    put_estimate(&own->ips, out);
    (void)fputs("</tr>\n", out);
}

static void put_arms(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    (void)fputs(
        "<section id=\"arms\"><h2>What each arm would have earned</h2>\n<p class=\"lead\">A row, "
        "had it always been chosen, with 95 % intervals. Weighted: each row counts as often as its "
        "arm was unlikely. Self-normalised: the same over the sum of the weights. Doubly robust: a "
        "guess from the other rows, corrected by weighted rows. Effective rows: so many equal "
        "weights say as much.</p>\n<div class=\"scroll\"><table><thead><tr><th>arm</th>"
        "<th class=\"n\">rows</th><th class=\"n\">effective</th><th class=\"n\">doubly robust</th>"
        "<th class=\"n\">self-normalised</th><th class=\"n\">weighted</th></tr></thead><tbody>\n",
        out);
    for (uint32_t i = 0; i < evaluation->arm_count; i++)
        put_arm(evaluation, evaluation->order[i], out);
    (void)fputs("</tbody></table></div></section>\n", out);
}

static void put_sites(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    if (evaluation->site_count < 2 || evaluation->answer_count == 0)
        return;
    (void)fputs("<section id=\"sites\"><h2>Sites</h2>\n<p class=\"lead\">Each site's own best arm "
                "by its doubly robust estimates, and what the common best one costs it a pull. "
                "The best of several estimates is a little too good.</p>\n"
                "<div class=\"scroll\"><table><thead><tr><th>site</th><th class=\"n\">rows</th>"
                "<th>its own best arm</th><th class=\"n\">would earn</th>"
                "<th class=\"n\">the common one costs</th></tr></thead><tbody>\n",
                out);
    for (uint32_t i = 0; i < evaluation->site_count; i++) {
        const struct tacit_report_log_site *const site = &evaluation->sites[i];
        (void)fputs("<tr><td><bdi>", out);
        put_text(out, site->name);
        (void)fprintf(out, "</bdi></td><td class=\"n\">%s</td><td><bdi>",
                      report_grouped(site->row_count).text);
        char const *const best = report_evaluation_best(evaluation, site);
        put_text(out, best == NULL ? "too few rows" : best);
        (void)fputs("</bdi></td>", out);
        if (best == NULL)
            (void)fputs("<td class=\"n\">" DASH "</td>", out);
        else
            put_estimate(&site->arms[site->best_arm].doubly_robust, out);
        put_estimate(&site->cost, out);
        (void)fputs("</tr>\n", out);
    }
    (void)fputs("</tbody></table></div></section>\n", out);
}

/* ---- The figure ------------------------------------------------------------------------------ */

/* Arms from left to right, best first. */
struct points {
    double x[ARMS_DRAWN];
    double y[ARMS_DRAWN];
    double ci95[ARMS_DRAWN];
    const char *names[ARMS_DRAWN];
    struct tacit_report_series series;
    struct tacit_report_figure figure;
};

static void draw(const struct tacit_report_evaluation *evaluation, struct points *points)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < evaluation->arm_count && count < ARMS_DRAWN; i++) {
        uint32_t const arm = evaluation->order[i];
        const struct tacit_report_estimate *const estimate = &evaluation->arms[arm].doubly_robust;
        if (!isfinite(estimate->value))
            continue;
        points->x[count] = count + 1;
        points->y[count] = estimate->value;
        points->ci95[count] = isfinite(estimate->ci95) ? estimate->ci95 : 0;
        points->names[count++] = evaluation->arm_names[arm];
    }
    points->series = (struct tacit_report_series){.label = "doubly robust, 95 %",
                                                  .count = count,
                                                  .x = points->x,
                                                  .y = points->y,
                                                  .ci95 = points->ci95,
                                                  .names = points->names};
    points->figure = (struct tacit_report_figure){.id = "estimates",
                                                  .title = "What each arm would have earned",
                                                  .x_label = "arms, best first",
                                                  .y_label = "reward a row",
                                                  .series = &points->series,
                                                  .series_count = 1};
}

/* ---- The page -------------------------------------------------------------------------------- */

struct page {
    const struct tacit_report_evaluation *evaluation;
    const struct points *points;
};

static void put_top(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    report_html_top(evaluation->name, out);
    (void)fputs("<header><h1><bdi>", out);
    put_text(out, evaluation->name);
    (void)fputs("</bdi></h1>\n<p class=\"facts\">", out);
    report_html_fact(evaluation->row_count, "row", "rows", out);
    report_html_fact(evaluation->arm_count, "arm", "arms", out);
    report_html_fact(evaluation->site_count, "site", "sites", out);
    (void)fputs("<span>propensities: ", out);
    put_text(out, evaluation->propensity);
    (void)fprintf(out, "</span><span>logged choices earned %s",
                  report_rounded(evaluation->logged.value, 4).text);
    (void)fprintf(out, " " PLUS_MINUS " %s a row</span></p></header>\n",
                  report_rounded(evaluation->logged.ci95, 2).text);
    (void)fprintf(out, "<div class=\"box%s\"><h2>Answer</h2>\n<p><bdi>",
                  evaluation->answer_count == 1 ? "" : " warn");
    put_text(out, evaluation->sentence);
    (void)fputs("</bdi></p></div>\n", out);
    for (uint32_t i = 0; i < evaluation->warning_count; i++) {
        (void)fputs("<div class=\"box warn\" role=\"alert\"><h2>Warning</h2>\n<p><bdi>", out);
        put_text(out, evaluation->warnings[i]);
        (void)fputs("</bdi></p></div>\n", out);
    }
}

static enum tacit_status fill_page(const void *subject, FILE *out, struct tacit_error *error)
{
    const struct page *const page = subject;
    char text[600];
    (void)error;
    put_top(page->evaluation, out);
    put_arms(page->evaluation, out);
    (void)fputs("<section id=\"estimates\"><h2>In a figure</h2>\n", out);
    report_figure_draw(&page->points->figure, out);
    (void)fputs("</section>\n", out);
    put_sites(page->evaluation, out);
    report_evaluation_replay(page->evaluation, text, sizeof text);
    (void)fputs("<section id=\"replay\"><h2>The protocol on this log</h2>\n<p><bdi>", out);
    put_text(out, text);
    (void)fputs("</bdi>.</p>\n<p class=\"lead\">By rejection: each site goes through its rows, and "
                "a row answers if it shows the arm that the protocol plays.</p></section>\n"
                "<footer>tacit ",
                out);
    put_text(out, page->evaluation->version);
    (void)fputs(" \xc2\xb7 beside this page: evaluation.json, estimates.csv, estimates.svg"
                "</footer>\n</main></body></html>\n",
                out);
    return report_finish(out);
}

static enum tacit_status fill_json(const void *subject, FILE *out, struct tacit_error *error)
{
    (void)error;
    return tacit_report_evaluation_json(subject, out);
}

static enum tacit_status fill_csv(const void *subject, FILE *out, struct tacit_error *error)
{
    (void)error;
    return report_evaluation_csv(subject, out);
}

static enum tacit_status fill_figure(const void *subject, FILE *out, struct tacit_error *error)
{
    (void)error;
    return tacit_report_figure_svg(subject, out);
}

enum tacit_status tacit_report_evaluation_write(const struct tacit_report_evaluation *evaluation,
                                                const char *directory, struct tacit_error *error)
{
    struct report_place place;
    struct points points;
    enum tacit_status status = report_place_open(&place, directory, error);
    if (status != TACIT_OK)
        return status;
    locale_t const before = report_locale_enter();
    draw(evaluation, &points);
    status = report_place_write(&place, "evaluation.json", fill_json, evaluation);
    if (status == TACIT_OK)
        status = report_place_write(&place, "estimates.csv", fill_csv, evaluation);
    if (status == TACIT_OK)
        status = report_place_write(&place, "report.html", fill_page,
                                    &(struct page){evaluation, &points});
    if (status == TACIT_OK)
        status = report_place_write(&place, "estimates.svg", fill_figure, &points.figure);
    report_locale_leave(before);
    report_place_close(&place);
    return status;
}
