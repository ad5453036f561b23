/* curve.csv and runs.csv: RFC 4180 with LF, numbers exact; a value that is not finite is an empty
 * field. */
#include "internal.h"
#include <inttypes.h>
#include <string.h>

static void put_name(FILE *out, const char *name, const char *suffix)
{
    char const *const quote = strpbrk(name, ",\"\r\n") != NULL ? "\"" : "";
    (void)fprintf(out, ",%s", quote);
    report_put(out, name, REPORT_CSV);
    (void)fprintf(out, "%s%s", suffix, quote);
}

enum tacit_status report_curve_csv(const void *subject, FILE *out)
{
    const struct tacit_report *const report = subject;
    (void)fputc('t', out);
    for (uint32_t i = 0; i < report->curve_count; i++) {
        put_name(out, report->curves[i].name, "_mean");
        put_name(out, report->curves[i].name, "_ci95");
    }
    (void)fputc('\n', out);
    for (uint32_t point = 0; point < report->point_count; point++) {
        csv_put(out, "%" PRIu64, report->points[point]);
        for (uint32_t i = 0; i < report->curve_count; i++) {
            struct tacit_report_summary const summary =
                report_point_summary(report, &report->curves[i], point);
            csv_put(out, ",%g,%g", summary.mean, summary.ci95);
        }
        (void)fputc('\n', out);
    }
    return report_finish(out);
}

enum tacit_status report_runs_csv(const void *subject, FILE *out)
{
    const struct tacit_report *const report = subject;
    (void)fputs("run", out);
    for (uint32_t i = 0; i < report->metric_count; i++)
        put_name(out, report->metrics[i].metric->name, "");
    (void)fputc('\n', out);
    for (uint32_t run = 0; run < report->run_count; run++) {
        csv_put(out, "%u", run);
        for (uint32_t i = 0; i < report->metric_count; i++)
            csv_put(out, ",%g", report->metrics[i].values[run]);
        (void)fputc('\n', out);
    }
    return report_finish(out);
}
