/* report.html of an experiment: the answer first, then what it rests on. */
#include "internal.h"
#include <inttypes.h>
#include <stdlib.h>

static void put_header(const struct tacit_report *report, FILE *out)
{
    report_html_top(report->name, "what was learned", report->remark, report->title_note, out);
    report_html_fact(report->run_count, "run", "runs", out);
    report_html_fact(report->agent_count, report_labels(report)->agent,
                     report_labels(report)->agents, out);
    if (report->arm_count > 0)
        report_html_fact(report->arm_count, "arm", "arms", out);
    html_put(out, "<span>%-s</span><span>seed %" PRIu64 "</span>", report_horizon(report).text,
             report->seed);
    report_html_header_end(out);
}

static void put_privacy(const struct tacit_report *report, FILE *out)
{
    html_put(out,
             "<section id=\"privacy\" class=\"box%-s\"><h2>What leaves a %-s "
             "<span class=\"tag\">privacy: %s</span><span class=\"tag\">%-s</span></h2>\n"
             "<p>%s</p></section>\n",
             report_unprotected(report) ? " warn" : "",
             report->labels == NULL ? "site" : report->labels->agent, report->privacy_mode,
             report_loss(report, report_rounded(report->epsilon_per_reward, 5)).text,
             report->statement);
}

/* ---- Curves ---- */

static enum tacit_status put_chart(const struct tacit_report *report, uint32_t curve, FILE *out)
{
    struct report_drawing drawing;
    char id[32];
    enum tacit_status const status = report_drawing_new(report, curve, &drawing);
    (void)snprintf(id, sizeof id, "curve-%" PRIu32, curve);
    drawing.figure.id = id;
    if (status == TACIT_OK && drawing.line.count > 0)
        report_html_figure(&drawing.figure,
                           curve == 0 && report->labels == NULL
                               ? "Regret is the reward missed against always choosing the best "
                                 "arm. An arm is one of the options; a slot is one turn of "
                                 "choosing."
                               : NULL,
                           out);
    report_drawing_free(&drawing);
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
    char id[32];
    const struct tacit_report_metric *const first = report_find(report, report->curves[0].name);
    char const *const name = first == NULL ? report->curves[0].name : first->metric->label;
    (void)snprintf(title, sizeof title, "%.40s against %.40s", name, metric->label);
    (void)snprintf(id, sizeof id, "against-%" PRIu32, curve);
    struct tacit_report_series const series = {.label = "a point of time each",
                                               .count = count,
                                               .x = x,
                                               .y = x + count,
                                               .ci95 = x + 2 * (size_t)count};
    struct tacit_report_figure const figure = {.id = id,
                                               .title = title,
                                               .x_label = metric->label,
                                               .y_label = name,
                                               .series = &series,
                                               .series_count = 1};
    report_html_figure(&figure,
                       "What the regret had come to when so much had been said; means over the "
                       "runs.",
                       out);
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

/* ---- Parts ---- */

static enum tacit_status put_arms(const struct tacit_report *report, FILE *out)
{
    struct report_fates fates;
    enum tacit_status const status = report_fates_new(report, &fates);
    if (status == TACIT_OK)
        report_html_arms(report, &fates, out);
    report_fates_free(&fates);
    return status;
}

static enum tacit_status put_cards(const struct tacit_report *report, FILE *out)
{
    report_html_cards(report, out);
    return TACIT_OK;
}

static enum tacit_status put_baselines(const struct tacit_report *report, FILE *out)
{
    report_html_baselines(report, out);
    return TACIT_OK;
}

/* How it is connected, and what went on there. */
static enum tacit_status put_details(const struct tacit_report *report, FILE *out)
{
    report_profiles_html(report, out);
    report_html_network(report, out);
    return TACIT_OK;
}

static enum tacit_status put_numbers(const struct tacit_report *report, FILE *out)
{
    report_html_traffic(report, out);
    put_privacy(report, out);
    report_html_metrics(report, out);
    report_html_settings(report, out);
    return TACIT_OK;
}

static enum tacit_status put_data(const struct tacit_report *report, FILE *out)
{
    struct report_file files[REPORT_FILES_MAX];
    return report_html_data(files, report_files(report, files), out);
}

enum tacit_status report_html(const void *subject, FILE *out)
{
    const struct tacit_report *const report = subject;
    static enum tacit_status (*const parts[])(const struct tacit_report *report, FILE *out) = {
        report_html_answer, put_cards,        put_charts,  put_baselines, put_arms,
        report_sites_html,  report_band_html, put_details, put_numbers,   put_data,
    };
    put_header(report, out);
    report_html_stopped(report->run_count, report->runs_asked, "runs finished", out);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        TACIT_TRY(parts[i](report, out));
    }
    report_html_bottom(report->version, out);
    return report_finish(out);
}
