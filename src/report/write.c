/* Puts the five files of a report into a directory. */
#include "internal.h"

/* One file of a report. */
struct job {
    const struct tacit_report *report;
    const char *name;
    enum tacit_status (*write)(const struct tacit_report *report, FILE *out);
};

static enum tacit_status fill(const void *subject, FILE *out, struct tacit_error *error)
{
    const struct job *const job = subject;
    (void)error;
    return job->write(job->report, out);
}

static enum tacit_status write_files(const struct tacit_report *report,
                                     const struct report_place *place)
{
    struct job const jobs[] = {
        {report, "summary.json", tacit_report_json}, {report, "curve.csv", report_curve_csv},
        {report, "runs.csv", report_runs_csv},       {report, "report.html", report_html},
        {report, "figure.svg", report_svg},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        enum tacit_status const status = report_place_write(place, jobs[i].name, fill, &jobs[i]);
        if (status != TACIT_OK)
            return status;
    }
    struct job const series = {report, "series.csv", report_series_csv};
    return report_has_series(report) ? report_place_write(place, series.name, fill, &series)
                                     : TACIT_OK;
}

enum tacit_status tacit_report_write(const struct tacit_report *report, const char *directory,
                                     struct tacit_error *error)
{
    report_check(report);
    TACIT_ASSERT(directory != NULL);
    TACIT_ASSERT(error != NULL);
    struct report_place place;
    enum tacit_status status = report_place_open(&place, directory, error);
    if (status != TACIT_OK)
        return status;
    locale_t const before = report_locale_enter();
    status = write_files(report, &place);
    report_locale_leave(before);
    report_place_close(&place);
    return status;
}
