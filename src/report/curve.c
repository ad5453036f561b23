/* A curve of an experiment as a figure: with its band, and for the regret with what other ways of
 * playing came to. The same in figure.svg and on the page. */
#include "internal.h"
#include <stdlib.h>

#define X_LABEL "time slot t"

/* The curve itself, or a point where there is only one slot. */
static void draw_own(const struct tacit_report *report, struct report_drawing *drawing)
{
    struct report_line const *const line = &drawing->line;
    char *const label = drawing->labels[0];
    size_t const size = sizeof drawing->labels[0];
    if (report->run_count == 1)
        (void)snprintf(label, size, "one run; an interval needs more than one");
    else
        (void)snprintf(label, size, "mean of %s runs, with its 95 %% interval",
                       report_grouped(report->run_count).text);
    drawing->names[0] = report->name;
    drawing->series[0] =
        (struct tacit_report_series){.label = label,
                                     .count = line->count,
                                     .x = line->t,
                                     .y = line->mean,
                                     .ci95 = line->ci95,
                                     .names = line->count == 1 ? drawing->names : NULL};
    drawing->figure.series_count = line->count > 0 ? 1 : 0;
}

static void draw_references(const struct tacit_report *report, struct report_drawing *drawing)
{
    for (uint32_t i = 0; i < report->baseline_count; i++) {
        const struct tacit_report_baseline *const baseline = &report->baselines[i];
        uint32_t const at = drawing->figure.series_count;
        if (baseline->curve == NULL || baseline->regret == NULL || at > REPORT_REFERENCES_MAX)
            continue;
        struct tacit_report_summary const end =
            tacit_report_summarise(baseline->regret, report->run_count, 1);
        (void)snprintf(drawing->labels[at], sizeof drawing->labels[at], "%.40s: %s at the end",
                       report_baseline_words(baseline->name), report_rounded(end.mean, 4).text);
        drawing->series[at] = (struct tacit_report_series){.label = drawing->labels[at],
                                                           .count = report->point_count,
                                                           .x = drawing->t,
                                                           .y = baseline->curve,
                                                           .is_reference = true};
        drawing->figure.series_count++;
    }
}

enum tacit_status report_drawing_new(const struct tacit_report *report, uint32_t curve,
                                     struct report_drawing *drawing)
{
    *drawing = (struct report_drawing){.t = NULL};
    TACIT_TRY(report_line_new(report, curve, &drawing->line));
    const struct tacit_report_metric *const metric = report_find(report, drawing->line.name);
    (void)snprintf(drawing->title, sizeof drawing->title, "%.80s over time",
                   metric != NULL ? metric->metric->label : drawing->line.name);
    drawing->figure = (struct tacit_report_figure){
        .id = "curve",
        .title = drawing->title,
        .x_label = report->labels == NULL ? X_LABEL : report->labels->slot,
        .y_label = drawing->line.name,
        .x_is_log = true,
        .series = drawing->series};
    draw_own(report, drawing);
    if (curve > 0 || drawing->line.count < 2)
        return TACIT_OK;
    drawing->t = calloc(report->point_count, sizeof *drawing->t);
    if (drawing->t == NULL)
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < report->point_count; i++)
        drawing->t[i] = (double)report->points[i];
    draw_references(report, drawing);
    return TACIT_OK;
}

void report_drawing_free(struct report_drawing *drawing)
{
    report_line_free(&drawing->line);
    free(drawing->t);
    drawing->t = NULL;
}

enum tacit_status report_svg(const void *subject, FILE *out)
{
    const struct tacit_report *const report = subject;
    struct report_drawing drawing;
    enum tacit_status status = report_drawing_new(report, 0, &drawing);
    drawing.figure.title = report->name;
    if (status == TACIT_OK)
        status = tacit_report_figure_svg(&drawing.figure, out);
    report_drawing_free(&drawing);
    return status;
}
