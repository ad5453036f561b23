/* figure.svg: the regret curve of an experiment with its band, drawn as all figures are. */
#include "internal.h"

enum tacit_status report_svg(const struct tacit_report *report, FILE *out)
{
    struct report_line line;
    char label[128];
    const char *const names[] = {report->name};
    enum tacit_status status = report_line_new(report, 0, &line);
    if (status != TACIT_OK)
        return status;
    if (report->run_count == 1)
        (void)snprintf(label, sizeof label, "one run");
    else
        (void)snprintf(label, sizeof label, "mean of %s runs, with its 95 %% interval",
                       report_grouped(report->run_count).text);
    struct tacit_report_series const series = {
        .label = label,
        .count = line.count,
        .x = line.t,
        .y = line.mean,
        .ci95 = line.ci95,
        .names = line.count == 1 ? names : NULL}; /* a point, not a curve */
    struct tacit_report_figure const figure = {.id = "figure",
                                               .title = report->name,
                                               .x_label = "time slot t",
                                               .y_label = line.name,
                                               .x_is_log = true,
                                               .series = &series,
                                               .series_count = line.count > 0 ? 1 : 0};
    status = tacit_report_figure_svg(&figure, out);
    report_line_free(&line);
    return status;
}
