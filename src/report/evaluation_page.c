/* The page of an evaluation, of the parts of all pages; and its files. */
#include "evaluation.h"
#include <math.h>

#define DASH "\xe2\x80\x93"
#define ARMS_DRAWN 40u
#define FILES 3u

/* Without an interval only the value is shown. */
static void put_estimate(const struct tacit_report_estimate *estimate, FILE *out)
{
    struct tacit_report_summary const summary = {
        .mean = estimate->value, .sd = isfinite(estimate->ci95) ? 1 : 0, .ci95 = estimate->ci95};
    report_html_summary(&summary, out);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* What the rows of arms and of policies begin with. */
static void begin_row(const char *name, const struct tacit_report_estimates *own, FILE *out)
{
    report_html_row(name, out);
    html_put(out, "<td class=\"n\">%-u</td><td class=\"n\">%.4g%-s</td>", own->row_count,
             own->effective_rows, own->is_thin ? " <b>too few</b>" : "");
    put_estimate(&own->doubly_robust, out);
    put_estimate(&own->self_normalised, out);
}

static void put_arm(const struct tacit_report_evaluation *evaluation, uint32_t arm, FILE *out)
{
    begin_row(evaluation->arm_names[arm], &evaluation->arms[arm], out);
    put_estimate(&evaluation->arms[arm].ips, out);
    (void)fputs("</tr>\n", out);
}

static void put_arms(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    static const char *const heads[] = {
        "arm", "#rows", "#effective rows", "#doubly robust", "#self-normalised", "#weighted"};
    report_html_section(
        "arms", "What each arm would have earned",
        "A row, had it always been chosen, with 95 % intervals. Weighted: each row counts as often "
        "as its arm was unlikely. Self-normalised: the same over the sum of the weights. Doubly "
        "robust: a guess from the other rows, corrected by weighted rows. Effective rows: so many "
        "equal weights say as much.",
        out);
    report_html_table("Arms", "", heads, sizeof heads / sizeof heads[0], out);
    for (uint32_t i = 0; i < evaluation->arm_count; i++)
        put_arm(evaluation, evaluation->order[i], out);
    report_html_table_end(out);
    report_html_section_end(out);
}

static void put_policies(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    static const char *const heads[] = {
        "policy",    "#rows", "#effective rows", "#doubly robust", "#self-normalised",
        "#switched", "#gain"};
    if (evaluation->policy_count == 0)
        return;
    report_html_section("policies", "What other policies would have earned",
                        "A row, with 95 % intervals. Gain: over what was logged, row by row. "
                        "Switched: doubly robust, without the rows whose weight is very large.",
                        out);
    report_html_table("Policies", "", heads, sizeof heads / sizeof heads[0], out);
    for (uint32_t i = 0; i < evaluation->policy_count; i++) {
        const struct tacit_report_policy *const policy = &evaluation->policies[i];
        begin_row(policy->name, &policy->estimates, out);
        put_estimate(&policy->switched, out);
        put_estimate(&policy->gain, out);
        (void)fputs("</tr>\n", out);
    }
    report_html_table_end(out);
    report_html_section_end(out);
}

static void put_site(const struct tacit_report_evaluation *evaluation,
                     const struct tacit_report_log_site *site, FILE *out)
{
    char const *const best = report_evaluation_best(evaluation, site);
    report_html_row(site->name, out);
    html_put(out, "<td class=\"n\">%-u</td><td><bdi>%s</bdi></td>", site->row_count,
             best == NULL ? "too few rows" : best);
    if (best == NULL)
        report_html_number(DASH, out);
    else
        put_estimate(&site->arms[site->best_arm].doubly_robust, out);
    put_estimate(&site->cost, out);
    (void)fputs("</tr>\n", out);
}

static void put_sites(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    static const char *const heads[] = {"site", "#rows", "its own best arm", "#would earn",
                                        "#the common one costs"};
    if (evaluation->site_count < 2 || evaluation->answer_count == 0)
        return;
    report_html_section("sites", "Sites",
                        "Each site's own best arm by its doubly robust estimates, and what the "
                        "common best one costs it a pull. The best of several estimates is a "
                        "little too good.",
                        out);
    report_html_table("Sites", "", heads, sizeof heads / sizeof heads[0], out);
    for (uint32_t i = 0; i < evaluation->site_count; i++)
        put_site(evaluation, &evaluation->sites[i], out);
    report_html_table_end(out);
    report_html_section_end(out);
}

/* ---- The figure ------------------------------------------------------------------------------ */

/* Arms from above, best first. */
struct points {
    double x[ARMS_DRAWN]; /* rows have none */
    double y[ARMS_DRAWN];
    double ci95[ARMS_DRAWN];
    const char *names[ARMS_DRAWN];
    struct tacit_report_series series;
    struct tacit_report_figure figure;
};

static void draw(const struct tacit_report_evaluation *evaluation, struct points *points)
{
    uint32_t count = 0;
    *points = (struct points){.x = {0}};
    for (uint32_t i = 0; i < evaluation->arm_count && count < ARMS_DRAWN; i++) {
        uint32_t const arm = evaluation->order[i];
        const struct tacit_report_estimate *const estimate = &evaluation->arms[arm].doubly_robust;
        if (!isfinite(estimate->value))
            continue;
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
                                                  .title = "Arms, best first",
                                                  .y_label = "reward a row, doubly robust",
                                                  .series = &points->series,
                                                  .series_count = 1,
                                                  .is_rows = true};
}

/* ---- The page -------------------------------------------------------------------------------- */

struct page {
    const struct tacit_report_evaluation *evaluation;
    const struct points *points;
    const struct report_file *files;
};

static void put_top(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    report_html_top(evaluation->name, "what other choices would have earned", NULL, NULL, out);
    report_html_fact(evaluation->row_count, "row", "rows", out);
    report_html_fact(evaluation->arm_count, "arm", "arms", out);
    report_html_fact(evaluation->site_count, "site", "sites", out);
    html_put(out, "<span>propensities: %s</span>", evaluation->propensity);
    report_html_header_end(out);
    report_html_answer_begin(evaluation->answer_count == 1 ? " win" : " open", out);
    html_put(
        out,
        "<bdi>%s</bdi></p>\n<p>The choices that were logged earned %.4g \xc2\xb1 %.2g a row.</p>"
        "</section>\n",
        evaluation->sentence, evaluation->logged.value, evaluation->logged.ci95);
    for (uint32_t i = 0; i < evaluation->warning_count; i++)
        html_put(out, "<div class=\"box warn\"><h2>Warning</h2>\n<p><bdi>%s</bdi></p></div>\n",
                 evaluation->warnings[i]);
}

static void put_replay(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    char text[600];
    report_evaluation_replay(evaluation, text, sizeof text);
    report_html_section("replay", "The protocol on this log",
                        "By rejection: each site goes through its rows, and a row answers if it "
                        "shows the arm that the protocol plays.",
                        out);
    html_put(out, "<p><bdi>%s</bdi></p>\n", text);
    report_html_section_end(out);
}

static enum tacit_status fill_page(const void *subject, FILE *out)
{
    const struct page *const page = subject;
    put_top(page->evaluation, out);
    put_arms(page->evaluation, out);
    report_html_figure(&page->points->figure, NULL, out);
    put_policies(page->evaluation, out);
    put_sites(page->evaluation, out);
    put_replay(page->evaluation, out);
    enum tacit_status const status = report_html_data(page->files, FILES, out);
    report_html_bottom(page->evaluation->version, out);
    return status == TACIT_OK ? report_finish(out) : status;
}

static enum tacit_status fill_json(const void *evaluation, FILE *out)
{
    return tacit_report_evaluation_json(evaluation, out);
}

enum tacit_status tacit_report_evaluation_write(const struct tacit_report_evaluation *evaluation,
                                                const char *directory, struct tacit_error *error)
{
    struct points points;
    struct report_file files[FILES + 1] = {
        {"evaluation.json", "everything, exactly", "application/json", true, fill_json, evaluation},
        {"estimates.csv", "every estimate: a line a site and arm, and an arm over all", "text/csv",
         true, report_evaluation_csv, evaluation},
        {"estimates.svg", "the figure", "image/svg+xml", false, report_fill_figure,
         &points.figure}};
    struct page const page = {evaluation, &points, files};
    files[FILES] = (struct report_file){.name = "report.html", .fill = fill_page, .subject = &page};
    draw(evaluation, &points);
    return report_write_files(directory, files, FILES + 1, error);
}
