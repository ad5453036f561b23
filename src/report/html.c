/* report.html: the page that a person reads. One file that asks for nothing: no script, no request.
 */
#include "internal.h"
#include <inttypes.h>
#include <stdlib.h>

static void put_text(FILE *out, const char *text)
{
    report_put(out, text, REPORT_HTML);
}

void report_html_top(const char *title, FILE *out)
{
    (void)fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                "style-src 'unsafe-inline'; img-src data:\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<link rel=\"icon\" href=\"data:,\">\n<title>",
                out);
    put_text(out, title);
    (void)fputs(" \xc2\xb7 tacit</title>\n", out);
    report_html_style(out);
    (void)fputs("</head><body><main>\n", out);
}

void report_html_fact(uint64_t count, const char *one, const char *many, FILE *out)
{
    (void)fprintf(out, "<span>%s %s</span>", report_grouped(count).text, count == 1 ? one : many);
}

static void put_header(const struct tacit_report *report, FILE *out)
{
    (void)fputs("<header><h1><bdi>", out);
    put_text(out, report->name);
    (void)fputs("</bdi></h1>\n", out);
    if (report->title_note != NULL) {
        (void)fputs("<p>", out);
        put_text(out, report->title_note);
        (void)fputs("</p>\n", out);
    }
    (void)fputs("<p class=\"facts\">", out);
    report_html_fact(report->run_count, "run", "runs", out);
    report_html_fact(report->agent_count, "agent", "agents", out);
    if (report->arm_count > 0)
        report_html_fact(report->arm_count, "arm", "arms", out);
    (void)fprintf(out, "<span>horizon %s</span><span>seed %" PRIu64 "</span></p></header>\n",
                  report_grouped(report->horizon).text, report->seed);
}

static void put_interruption(const struct tacit_report *report, FILE *out)
{
    if (!report_interrupted(report))
        return;
    (void)fprintf(out,
                  "<div class=\"box warn\" role=\"alert\"><h2>Stopped before the end</h2>\n"
                  "<p>%s of %s runs finished. Everything below is about these.</p></div>\n",
                  report_grouped(report->run_count).text, report_grouped(report->runs_asked).text);
}

static void put_privacy(const struct tacit_report *report, FILE *out)
{
    bool const unprotected = report_unprotected(report);
    (void)fprintf(out, "<div class=\"box%s\"><h2>What leaves a site <span class=\"tag\">privacy: ",
                  unprotected ? " warn" : "");
    put_text(out, report->privacy_mode);
    (void)fputs("</span>", out);
    if (unprotected)
        (void)fputs("<span class=\"tag\">no noise</span>", out);
    else
        (void)fprintf(out, "<span class=\"tag\">epsilon %s per reward</span>",
                      report_rounded(report->epsilon_per_reward, 5).text);
    (void)fputs("</h2>\n<p>", out);
    put_text(out, report->statement);
    (void)fputs("</p></div>\n", out);
}

static void put_bottom(const struct tacit_report *report, FILE *out)
{
    (void)fputs("<footer>tacit ", out);
    put_text(out, report->version);
    (void)fputs(" \xc2\xb7 beside this page: summary.json, curve.csv, runs.csv, figure.svg"
                "</footer>\n</main></body></html>\n",
                out);
}

static enum tacit_status put_chart(const struct tacit_report *report, uint32_t curve, FILE *out)
{
    struct report_line line;
    enum tacit_status const status = report_line_new(report, curve, &line);
    if (status == TACIT_OK && line.count > 0)
        report_html_chart(report, &line, out);
    report_line_free(&line);
    return status;
}

/* The first curve over what another one says of the same slots: what was paid for it. */
static enum tacit_status put_against(const struct tacit_report *report, uint32_t curve, FILE *out)
{
    uint32_t const count = report->point_count;
    struct tacit_metric const *const metric =
        report_find(report, report->curves[curve].name)->metric;
    double *const x = calloc((size_t)count * 3 + 1, sizeof *x);
    if (x == NULL)
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        struct tacit_report_summary const y = report_point_summary(report, &report->curves[0], i);
        x[i] = report_point_summary(report, &report->curves[curve], i).mean;
        x[count + i] = y.mean;
        x[2 * (size_t)count + i] = y.ci95;
    }
    char title[120];
    const struct tacit_report_metric *const first = report_find(report, report->curves[0].name);
    char const *const name = first == NULL ? report->curves[0].name : first->metric->label;
    (void)snprintf(title, sizeof title, "%.40s against %.40s", name, metric->label);
    struct tacit_report_series const series = {.label = "a point of time each",
                                               .count = count,
                                               .x = x,
                                               .y = x + count,
                                               .ci95 = x + 2 * (size_t)count};
    struct tacit_report_figure const figure = {.title = title,
                                               .x_label = metric->label,
                                               .y_label = name,
                                               .series = &series,
                                               .series_count = 1};
    (void)fputs("<section><h2>", out);
    put_text(out, title);
    (void)fputs("</h2>\n<p class=\"lead\">What the regret had come to when so much had been said; "
                "means over the runs.</p>\n",
                out);
    report_figure_draw(&figure, out);
    (void)fputs("</section>\n", out);
    free(x);
    return TACIT_OK;
}

/* The regret, then what a family wants to be seen over time, and beside the regret. */
static enum tacit_status put_charts(const struct tacit_report *report, FILE *out)
{
    enum tacit_status status = put_chart(report, 0, out);
    for (uint32_t i = 1; i < report->curve_count && status == TACIT_OK; i++) {
        const struct tacit_report_metric *const metric =
            report_find(report, report->curves[i].name);
        unsigned const places = metric == NULL ? 0 : metric->metric->places;
        if ((places & TACIT_METRIC_DRAWN) != 0)
            status = put_chart(report, i, out);
        if (status == TACIT_OK && (places & TACIT_METRIC_AGAINST) != 0)
            status = put_against(report, i, out);
    }
    return status;
}

static enum tacit_status put_arms(const struct tacit_report *report, FILE *out)
{
    struct report_fates fates;
    enum tacit_status const status = report_fates_new(report, &fates);
    if (status == TACIT_OK)
        report_html_arms(report, &fates, out);
    report_fates_free(&fates);
    return status;
}

enum tacit_status report_html(const struct tacit_report *report, FILE *out)
{
    report_html_top(report->name, out);
    put_header(report, out);
    put_interruption(report, out);
    enum tacit_status status = report_html_answer(report, out);
    if (status != TACIT_OK)
        return status;
    put_privacy(report, out);
    report_html_cards(report, out);
    status = put_charts(report, out);
    if (status == TACIT_OK)
        status = put_arms(report, out);
    if (status != TACIT_OK)
        return status;
    report_html_baselines(report, out);
    status = report_band_html(report, out);
    if (status != TACIT_OK)
        return status;
    report_profiles_html(report, out);
    report_html_network(report, out);
    report_html_metrics(report, out);
    put_bottom(report, out);
    return report_finish(out);
}
