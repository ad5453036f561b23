/* Puts the files of a report into a directory. */
#include "internal.h"

static enum tacit_status fill(const void *subject, FILE *out, struct tacit_error *error)
{
    const struct report_job *const job = subject;
    (void)error;
    return job->write(job->report, out);
}

size_t report_files(const struct tacit_report *report, struct report_job *jobs,
                    struct report_file *files)
{
    struct report_job const written[REPORT_FILES_MAX] = {
        {report, tacit_report_json}, {report, report_curve_csv},  {report, report_runs_csv},
        {report, report_svg},        {report, report_series_csv}, {report, report_sites_csv},
    };
    struct report_file const told[REPORT_FILES_MAX] = {
        {"summary.json", "everything that this page says, exactly", "application/json", true, fill,
         NULL},
        {"curve.csv", "the curves: a line a time slot", "text/csv", true, fill, NULL},
        {"runs.csv", "every metric: a line a run", "text/csv", true, fill, NULL},
        {"figure.svg", "the first figure", "image/svg+xml", false, fill, NULL},
        {"series.csv", "what was looked at again and again: a line a run and time", "text/csv",
         true, fill, NULL},
        {"sites.csv", "each site beside the common answer", "text/csv", true, fill, NULL},
    };
    bool const is_there[REPORT_FILES_MAX] = {
        true, true, true, true, report_has_series(report), report->site_counts != NULL};
    size_t count = 0;
    for (size_t i = 0; i < REPORT_FILES_MAX; i++) {
        if (!is_there[i])
            continue;
        jobs[count] = written[i];
        files[count] = told[i];
        files[count].subject = &jobs[count];
        count++;
    }
    return count;
}

static enum tacit_status write_files(const struct tacit_report *report,
                                     const struct report_place *place)
{
    struct report_job jobs[REPORT_FILES_MAX];
    struct report_file files[REPORT_FILES_MAX];
    struct report_job const page = {report, report_html};
    size_t const count = report_files(report, jobs, files);
    enum tacit_status status = TACIT_OK;
    for (size_t i = 0; i < count && status == TACIT_OK; i++)
        status = report_place_write(place, files[i].name, files[i].fill, files[i].subject);
    return status == TACIT_OK ? report_place_write(place, "report.html", fill, &page) : status;
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
