/* The numbers on the page: cards for the key figures, what was said between sites, all metrics, and
 * the settings that they came from. */
#include "internal.h"
#include <math.h>
#include <string.h>

#define PLUS_MINUS "\xc2\xb1"
#define VALUE_LONG 120u /* bytes of a setting that does not fit into a column */

/* Big figures are for the eye: few digits, and from a million on a suffix. */
static struct report_number figure(double value, int digits)
{
    return fabs(value) < 999999.5 ? report_rounded(value, digits) : report_short(value, digits);
}

static void put_card(const struct tacit_report *report, const struct tacit_report_metric *metric,
                     FILE *out)
{
    struct tacit_report_summary const summary = report_metric_summary(report, metric);
    char const *const style = (metric->metric->places & TACIT_METRIC_MAIN) != 0 ? " main" : "";
    html_put(out, "<div class=\"card%-s\"><p class=\"what\">%s</p><p class=\"value\">%-s", style,
             metric->metric->label, figure(summary.mean, 4).text);
    if (summary.sd > 0.0)
        html_put(out, " <small>" PLUS_MINUS " %-s</small>", figure(summary.ci95, 3).text);
    html_put(out, "</p><p class=\"more\">%s</p></div>\n", metric->metric->note);
}

void report_html_cards(const struct tacit_report *report, FILE *out)
{
    bool const unprotected = report_unprotected(report);
    bool const is_noised =
        report->epsilon_lack != NULL && strcmp(report->epsilon_lack, "no noise") != 0;
    (void)fputs("<div class=\"cards\">\n", out);
    for (uint32_t i = 0; i < report->metric_count; i++)
        if ((report->metrics[i].metric->places & TACIT_METRIC_CARD) != 0 &&
            !report_is_absent(report, &report->metrics[i]))
            put_card(report, &report->metrics[i], out);
    (void)fprintf(out,
                  "<div class=\"card%s\"><p class=\"what\">Epsilon per %s</p>"
                  "<p class=\"value\">%s</p><p class=\"more\">%s</p></div>\n</div>\n",
                  unprotected ? " warn" : "", report_epsilon_of(report),
                  unprotected ? "none" : report_rounded(report->epsilon_per_reward, 5).text,
                  unprotected && is_noised ? "none is guaranteed"
                  : unprotected            ? "no noise is added"
                  : report->labels == NULL ? "smaller is more private"
                                           : "in all; smaller is more private");
}

/* ---- What was said ---- */

/* Mean of a run, its interval, and the mean shared out over the agents. */
static void put_traffic_row(const struct tacit_report *report,
                            const struct tacit_report_metric *metric, FILE *out)
{
    struct tacit_report_summary const summary = report_metric_summary(report, metric);
    report_html_metric(metric->metric, out);
    html_put(out,
             "<td class=\"n\">%.5g</td><td class=\"n\">%-s</td><td class=\"n\">%.5g</td></tr>\n",
             summary.mean, report_interval(report, summary.ci95).text,
             summary.mean / report->agent_count);
}

/* Does the metric say how much was said? Some say something only where not every edge is used in
 * every slot: in hybrids. */
static bool is_traffic(const struct tacit_report *report, const struct tacit_metric *metric)
{
    bool const is_hybrid = report->network != NULL && report->network->components != NULL;
    return (metric->places & TACIT_METRIC_TRAFFIC) != 0 &&
           (is_hybrid || (metric->places & TACIT_METRIC_SINKS) == 0);
}

void report_html_traffic(const struct tacit_report *report, FILE *out)
{
    struct tacit_labels const *const labels = report_labels(report);
    char per_agent[40];
    char note[120];
    (void)snprintf(per_agent, sizeof per_agent, "#per %.30s", labels->agent);
    (void)snprintf(note, sizeof note,
                   "What the %.40s told each other: per run, and shared out over them.",
                   labels->agents);
    const char *const heads[] = {"what", "#mean of a run", "#" PLUS_MINUS " 95 %", per_agent};
    bool begun = false;
    for (uint32_t i = 0; i < report->metric_count; i++) {
        if (!is_traffic(report, report->metrics[i].metric) ||
            report_is_absent(report, &report->metrics[i]))
            continue;
        if (!begun) {
            report_html_section("said", "What was said", note, out);
            report_html_table("What was said", "plain", heads, 4, out);
        }
        begun = true;
        put_traffic_row(report, &report->metrics[i], out);
    }
    if (!begun)
        return;
    report_html_table_end(out);
    report_html_section_end(out);
}

/* ---- All metrics ---- */

static void put_metric_row(const struct tacit_report *report,
                           const struct tacit_report_metric *metric, FILE *out)
{
    struct tacit_report_summary const summary = report_metric_summary(report, metric);
    report_html_metric(metric->metric, out);
    html_put(out,
             "<td class=\"n\">%.5g</td><td class=\"n\">%-s</td><td class=\"n\">%.3g</td>"
             "<td class=\"n\">%.5g</td><td class=\"n\">%.5g</td></tr>\n",
             summary.mean, report_interval(report, summary.ci95).text, summary.sd, summary.min,
             summary.max);
}

void report_html_metrics(const struct tacit_report *report, FILE *out)
{
    static const char *const heads[] = {"metric", "#mean", "#" PLUS_MINUS " 95 %",
                                        "#sd",    "#min",  "#max"};
    if (report->metric_count == 0)
        return;
    report_html_section("metrics", "All metrics",
                        "Over the runs. Exact values are in summary.json, one row a run in "
                        "runs.csv, under the name that stands in typewriter letters.",
                        out);
    report_html_table("All metrics", "plain", heads, 6, out);
    for (uint32_t i = 0; i < report->metric_count; i++)
        if (!report_is_absent(report, &report->metrics[i]))
            put_metric_row(report, &report->metrics[i], out);
    report_html_table_end(out);
    report_html_section_end(out);
}

/* ---- Settings ---- */

void report_html_settings(const struct tacit_report *report, FILE *out)
{
    if (report->setting_count == 0)
        return;
    report_html_section("settings", "Settings",
                        "Every key of the experiment file. The same file, seed and version give "
                        "the same bytes again.",
                        out);
    (void)fputs("<dl class=\"settings\">\n", out);
    for (uint32_t i = 0; i < report->setting_count; i++) {
        const struct tacit_report_setting *const setting = &report->settings[i];
        html_put(out, "<div%-s><dt><code>%s</code></dt> <dd>%s%-s</dd></div>\n",
                 strlen(setting->value) > VALUE_LONG ? " class=\"across\"" : "", setting->key,
                 setting->value,
                 setting->is_overruled ? " <span class=\"tag\">set for this run</span>" : "");
    }
    (void)fputs("</dl>\n", out);
    report_html_section_end(out);
}
