/* The files of a report in a directory. */
#include "internal.h"

static enum tacit_status fill_json(const void *report, FILE *out)
{
    return tacit_report_json(report, out);
}

size_t report_files(const struct tacit_report *report, struct report_file *files)
{
    struct report_file const all[] = {
        {"summary.json", "everything that this page says, exactly", "application/json", true,
         fill_json, report},
        {"curve.csv", "the curves: a line a time slot", "text/csv", true, report_curve_csv, report},
        {"runs.csv", "every metric: a line a run", "text/csv", true, report_runs_csv, report},
        {"figure.svg", "the first figure", "image/svg+xml", false, report_svg, report},
        {"series.csv", "what was looked at again and again: a line a run and time", "text/csv",
         true, report_series_csv, report},
        {"sites.csv", "each site beside the common answer", "text/csv", true, report_sites_csv,
         report},
    };
    bool const is_there[] = {
        true, true, true, true, report_has_series(report), report->site_counts != NULL};
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (is_there[i])
            files[count++] = all[i];
    return count;
}

enum tacit_status tacit_report_write(const struct tacit_report *report, const char *directory,
                                     struct tacit_error *error)
{
    struct report_file files[REPORT_FILES_MAX];
    report_check(report);
    TACIT_ASSERT(directory != NULL);
    TACIT_ASSERT(error != NULL);
    size_t const count = report_files(report, files);
    files[count] =
        (struct report_file){.name = "report.html", .fill = report_html, .subject = report};
    return report_write_files(directory, files, count + 1, error);
}
