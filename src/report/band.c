/* The band of a number that every agent has: from the lowest agent to the highest, over time. */
#include "internal.h"
#include <stdlib.h>

static const char *const part_names[TACIT_BAND_VALUES] = {"low", "mean", "high"};

/* One part at one recorded slot: its mean over the runs. */
static double part_at(const struct tacit_report *report, uint32_t point, uint32_t part)
{
    size_t const width = (size_t)report->point_count * TACIT_BAND_VALUES;
    double sum = 0;
    for (uint32_t run = 0; run < report->run_count; run++)
        sum += report->band_values[run * width + (size_t)point * TACIT_BAND_VALUES + part];
    return sum / report->run_count;
}

void report_band_json(const struct tacit_report *report, FILE *out)
{
    if (report->band == NULL)
        return;
    json_put(out, ",\n \"band\": {\"name\": %s", report->band->name);
    for (uint32_t part = 0; part < TACIT_BAND_VALUES; part++) {
        json_put(out, ", %s: [", part_names[part]);
        for (uint32_t point = 0; point < report->point_count; point++)
            json_put(out, "%-s%g", point == 0 ? "" : ", ", part_at(report, point, part));
        (void)fputc(']', out);
    }
    (void)fputc('}', out);
}

/* Requires: room for TACIT_BAND_VALUES + 1 numbers a point. */
static void put_band(const struct tacit_report *report, double *room, FILE *out)
{
    uint32_t const points = report->point_count;
    double *const t = room + (size_t)TACIT_BAND_VALUES * points;
    for (uint32_t point = 0; point < points; point++) {
        t[point] = (double)report->points[point];
        for (uint32_t part = 0; part < TACIT_BAND_VALUES; part++)
            room[(size_t)part * points + point] = part_at(report, point, part);
    }
    struct tacit_report_series const series = {.label = "mean over the agents; band: from the "
                                                        "lowest agent to the highest",
                                               .count = points,
                                               .x = t,
                                               .lo = room,
                                               .y = room + points,
                                               .hi = room + 2 * (size_t)points};
    struct tacit_report_figure const figure = {.id = "band",
                                               .title = report->band->label,
                                               .x_label = "time slot t",
                                               .y_label = report->band->unit,
                                               .x_is_log = true,
                                               .series = &series,
                                               .series_count = 1};
    report_html_figure(&figure, report->band->note, out);
}

enum tacit_status report_band_html(const struct tacit_report *report, FILE *out)
{
    if (report->band == NULL || report->point_count == 0)
        return TACIT_OK;
    double *const room =
        malloc((TACIT_BAND_VALUES + 1) * (size_t)report->point_count * sizeof *room);
    if (room == NULL)
        return TACIT_MEMORY;
    put_band(report, room, out);
    free(room);
    return TACIT_OK;
}
