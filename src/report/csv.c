/* curve.csv and runs.csv: RFC 4180 with LF, numbers exact; a value that is not finite is an empty
 * field. */
#include "internal.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_name(FILE *out, const char *name, const char *suffix)
{
    bool const quoted = strpbrk(name, ",\"\r\n") != NULL;
    (void)fputs(quoted ? ",\"" : ",", out);
    report_put(out, name, REPORT_CSV);
    (void)fprintf(out, "%s%s", suffix, quoted ? "\"" : "");
}

static void put_value(FILE *out, double value)
{
    (void)fprintf(out, ",%s", isfinite(value) ? report_exact(value).text : "");
}

enum tacit_status report_curve_csv(const struct tacit_report *report, FILE *out)
{
    (void)fputc('t', out);
    for (uint32_t i = 0; i < report->curve_count; i++) {
        put_name(out, report->curves[i].name, "_mean");
        put_name(out, report->curves[i].name, "_ci95");
    }
    (void)fputc('\n', out);
    for (uint32_t point = 0; point < report->point_count; point++) {
        (void)fprintf(out, "%" PRIu64, report->points[point]);
        for (uint32_t i = 0; i < report->curve_count; i++) {
            struct tacit_report_summary const summary =
                report_point_summary(report, &report->curves[i], point);
            put_value(out, summary.mean);
            put_value(out, summary.ci95);
        }
        (void)fputc('\n', out);
    }
    return report_finish(out);
}

enum tacit_status report_runs_csv(const struct tacit_report *report, FILE *out)
{
    (void)fputs("run", out);
    for (uint32_t i = 0; i < report->metric_count; i++)
        put_name(out, report->metrics[i].metric->name, "");
    (void)fputc('\n', out);
    for (uint32_t run = 0; run < report->run_count; run++) {
        (void)fprintf(out, "%" PRIu32, run);
        for (uint32_t i = 0; i < report->metric_count; i++)
            put_value(out, report->metrics[i].values[run]);
        (void)fputc('\n', out);
    }
    return report_finish(out);
}
