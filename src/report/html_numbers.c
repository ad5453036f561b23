/* The numbers on the page: cards for the key figures, what was said between sites, all metrics. */
#include "internal.h"
#include <math.h>

#define PLUS_MINUS "\xc2\xb1"

static void put_text(const char *text, FILE *out)
{
    if (text != NULL)
        report_put(out, text, REPORT_HTML);
}

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
    (void)fprintf(out, "<div class=\"card%s\"><p class=\"what\">", style);
    put_text(metric->metric->label, out);
    (void)fprintf(out, "</p><p class=\"value\">%s", figure(summary.mean, 4).text);
    if (summary.sd > 0.0)
        (void)fprintf(out, " <small>" PLUS_MINUS " %s</small>", figure(summary.ci95, 3).text);
    (void)fputs("</p><p class=\"more\">", out);
    put_text(metric->metric->note, out);
    (void)fputs("</p></div>\n", out);
}

void report_html_cards(const struct tacit_report *report, FILE *out)
{
    bool const unprotected = report_unprotected(report);
    (void)fputs("<div class=\"cards\">\n", out);
    for (uint32_t i = 0; i < report->metric_count; i++)
        if ((report->metrics[i].metric->places & TACIT_METRIC_CARD) != 0)
            put_card(report, &report->metrics[i], out);
    (void)fprintf(out,
                  "<div class=\"card%s\"><p class=\"what\">Epsilon per reward</p>"
                  "<p class=\"value\">%s</p><p class=\"more\">%s</p></div>\n</div>\n",
                  unprotected ? " warn" : "",
                  unprotected ? "none" : report_rounded(report->epsilon_per_reward, 5).text,
                  unprotected ? "no noise is added" : "smaller is more private");
}

static void put_traffic_row(const struct tacit_report *report,
                            const struct tacit_report_metric *metric, FILE *out)
{
    struct tacit_report_summary const summary = report_metric_summary(report, metric);
    (void)fputs("<tr><td>", out);
    put_text(metric->metric->label, out);
    (void)fprintf(out, "</td><td class=\"n\">%s</td>", report_rounded(summary.mean, 5).text);
    (void)fprintf(out, "<td class=\"n soft\">%s</td>", report_interval(report, summary.ci95).text);
    (void)fprintf(out, "<td class=\"n\">%s</td><td class=\"soft\">",
                  report_rounded(summary.mean / report->agent_count, 5).text);
    put_text(metric->metric->note, out);
    (void)fputs("</td></tr>\n", out);
}

/* Does the metric say how much was said? Some say something only where not every edge is used in
 * every slot: in hybrids. */
static bool is_traffic(const struct tacit_report *report, const struct tacit_metric *metric)
{
    bool const is_hybrid = report->network != NULL && report->network->components != NULL;
    return (metric->places & TACIT_METRIC_TRAFFIC) != 0 &&
           (is_hybrid || (metric->places & TACIT_METRIC_SINKS) == 0);
}

static void put_traffic(const struct tacit_report *report, FILE *out)
{
    bool begun = false;
    for (uint32_t i = 0; i < report->metric_count; i++) {
        if (!is_traffic(report, report->metrics[i].metric))
            continue;
        if (!begun)
            (void)fputs(
                "<section><h2>What was said</h2>\n<p class=\"lead\">Per run, and shared "
                "out over the agents.</p>\n<div class=\"scroll\"><table><thead><tr>"
                "<th></th><th class=\"n\">mean of a run</th><th class=\"n\">\xc2\xb1 95 %</th>"
                "<th class=\"n\">per agent</th><th></th></tr></thead><tbody>\n",
                out);
        begun = true;
        put_traffic_row(report, &report->metrics[i], out);
    }
    if (begun)
        (void)fputs("</tbody></table></div></section>\n", out);
}

static void put_metric_row(const struct tacit_report *report,
                           const struct tacit_report_metric *metric, FILE *out)
{
    struct tacit_report_summary const summary = report_metric_summary(report, metric);
    struct report_number const numbers[] = {
        report_rounded(summary.mean, 5), report_interval(report, summary.ci95),
        report_rounded(summary.sd, 3), report_rounded(summary.min, 5),
        report_rounded(summary.max, 5)};
    (void)fputs("<tr><td><code>", out);
    report_put(out, metric->metric->name, REPORT_HTML);
    (void)fputs("</code></td>", out);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        (void)fprintf(out, "<td class=\"n\">%s</td>", numbers[i].text);
    (void)fputs("</tr>\n", out);
}

void report_html_metrics(const struct tacit_report *report, FILE *out)
{
    if (report->metric_count == 0)
        return;
    put_traffic(report, out);
    (void)fputs("<section><h2>All metrics</h2>\n<p class=\"lead\">Exact values are in "
                "summary.json, one row a run in runs.csv.</p>\n<div class=\"scroll\"><table><thead>"
                "<tr><th>metric</th><th class=\"n\">mean</th><th class=\"n\">" PLUS_MINUS
                " 95 %</th><th class=\"n\">sd</th><th class=\"n\">min</th><th class=\"n\">max</th>"
                "</tr></thead><tbody>\n",
                out);
    for (uint32_t i = 0; i < report->metric_count; i++)
        put_metric_row(report, &report->metrics[i], out);
    (void)fputs("</tbody></table></div></section>\n", out);
}
