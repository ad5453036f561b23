/* The axes of a figure: what they span, and how they are drawn. */
#include "figure.h"
#include <math.h>

#define LEFT_LEAST 62.0 /* more where the numbers beside the axis need it */
#define ABOVE_MAX 1.25  /* a line to compare with that is further above leaves the figure */
#define REACH 0.5       /* of what values span: so far intervals widen an axis */
#define REACH_LOG 3.0   /* the same as a factor */
#define ZERO_WIDTH 44.0 /* of the part of a logarithmic axis where 0 stands */
#define BREAK 8.0       /* between the two strokes that break the axis there */
#define CLOSE 0.5       /* rows whose values differ by less of the largest do not begin at 0 */

/* ---- What is drawn ---- */

bool figure_is_drawn(const struct tacit_report_figure *figure, double x, double y)
{
    return report_is_drawable(x) && report_is_drawable(y) && (!figure->x_is_log || x > 0) &&
           (!figure->y_is_log || y > 0);
}

/* A logarithmic axis has no 0: a point there is marked beside it. Curves are not. */
static bool is_at_zero(const struct tacit_report_figure *figure,
                       const struct tacit_report_series *series, uint32_t point)
{
    TACIT_ASSERT(point < series->count);
    return figure->x_is_log && series->names != NULL && series->x[point] == 0;
}

bool figure_is_marked(const struct tacit_report_figure *figure,
                      const struct tacit_report_series *series, uint32_t point)
{
    double const x = is_at_zero(figure, series, point) ? 1 : series->x[point];
    return figure_is_drawn(figure, x, series->y[point]);
}

double figure_half_of(const struct tacit_report_series *series, uint32_t point)
{
    TACIT_ASSERT(point < series->count);
    return series->ci95 == NULL ? 0 : series->ci95[point];
}

double figure_top_of(const struct tacit_report_series *series, uint32_t point)
{
    TACIT_ASSERT(point < series->count);
    return series->hi != NULL ? series->hi[point]
                              : series->y[point] + figure_half_of(series, point);
}

double figure_bottom_of(const struct tacit_report_series *series, uint32_t point)
{
    TACIT_ASSERT(point < series->count);
    return series->lo != NULL ? series->lo[point]
                              : series->y[point] - figure_half_of(series, point);
}

/* ---- What the axes span ---- */

/* The least and the largest value of all points. */
struct extent {
    double lo;
    double hi;
};

static void widen(struct extent *extent, double value)
{
    extent->lo = fmin(extent->lo, value);
    extent->hi = fmax(extent->hi, value);
}

/* Points beside a logarithmic axis, at 0, do not widen it. */
static void widen_by_values(const struct tacit_report_figure *figure,
                            const struct tacit_report_series *series, struct extent *x,
                            struct extent *y)
{
    for (uint32_t point = 0; point < series->count; point++)
        if (figure_is_marked(figure, series, point)) {
            if (!is_at_zero(figure, series, point))
                widen(x, series->x[point]);
            widen(y, series->y[point]);
        }
}

/* How far intervals may widen what values span. */
static struct extent reach_of(const struct tacit_report_figure *figure, struct extent values)
{
    double const span = values.hi - fmin(values.lo, 0);
    if (figure->y_is_log)
        return (struct extent){values.lo / REACH_LOG, values.hi * REACH_LOG};
    return (struct extent){values.lo - (values.lo < 0 ? REACH * span : fmax(values.lo, 0)),
                           values.hi + REACH * span};
}

/* Cut at `reach`: a wide interval must not press the values flat. */
static void widen_by_intervals(const struct tacit_report_figure *figure,
                               const struct tacit_report_series *series, struct extent reach,
                               struct extent *y)
{
    for (uint32_t point = 0; point < series->count; point++) {
        double const ends[] = {figure_bottom_of(series, point), figure_top_of(series, point)};
        if (!figure_is_marked(figure, series, point))
            continue;
        for (size_t i = 0; i < 2; i++)
            if (figure_is_drawn(figure, 1, ends[i]))
                widen(y, fmin(fmax(ends[i], reach.lo), reach.hi));
    }
}

static struct report_axis fit_axis(struct extent extent, bool is_log, double room)
{
    TACIT_ASSERT(room >= 1);
    if (extent.lo > extent.hi)
        extent = (struct extent){1, 10}; /* nothing to draw */
    if (is_log)
        return report_axis_log(extent.lo / room, extent.hi * room);
    return report_axis_linear(fmin(extent.lo, 0), fmax(extent.hi, 0));
}

/* Rows are compared with one another: where all are far from 0 the axis need not have it. */
static struct report_axis fit_rows(struct extent y, bool is_log)
{
    if (is_log || !(y.lo > 0) || y.lo > y.hi || y.hi - y.lo > CLOSE * y.hi)
        return fit_axis(y, is_log, 1.15);
    return report_axis_linear(y.lo, y.hi);
}

/* Are the points of a kind each, at one place of the axis? Then it says nothing, and each has a row
 * of its own. */
static bool are_rows(const struct tacit_report_figure *figure)
{
    uint32_t count = 0;
    double first = NAN;
    for (uint32_t i = 0; i < figure->series_count; i++) {
        const struct tacit_report_series *const series = &figure->series[i];
        if (series->is_reference)
            continue;
        if (series->names == NULL)
            return false;
        for (uint32_t point = 0; point < series->count; point++, count++) {
            first = count == 0 ? series->x[point] : first;
            if (!figure->is_rows && !(series->x[point] == first && series->count == 1))
                return false;
        }
    }
    return count > (figure->is_rows ? 0u : 1u);
}

/* The numbers of the vertical axis stand left of the plot. */
static void fit_left(struct frame *frame)
{
    frame->left = LEFT_LEAST;
    for (uint32_t i = 0; i < frame->y.tick_count; i++)
        frame->left = fmax(frame->left, 2 + figure_pixels(report_short(frame->y.ticks[i], 6).text) +
                                            FIGURE_EDGE);
}

static bool has_zero(const struct tacit_report_figure *figure)
{
    for (uint32_t i = 0; i < figure->series_count; i++)
        for (uint32_t point = 0; point < figure->series[i].count; point++)
            if (is_at_zero(figure, &figure->series[i], point) &&
                figure_is_marked(figure, &figure->series[i], point))
                return true;
    return false;
}

void figure_fit(struct frame *frame)
{
    const struct tacit_report_figure *const figure = frame->figure;
    struct extent const none = {INFINITY, -INFINITY};
    struct extent x = none;
    struct extent y = none;
    struct extent beside = none; /* lines to compare with */
    bool has_points = false;
    for (uint32_t i = 0; i < figure->series_count; i++) {
        const struct tacit_report_series *const series = &figure->series[i];
        has_points = has_points || series->names != NULL;
        widen_by_values(figure, series, &x, series->is_reference ? &beside : &y);
    }
    struct extent const reach = reach_of(figure, y);
    for (uint32_t i = 0; i < figure->series_count && y.lo <= y.hi; i++)
        if (!figure->series[i].is_reference)
            widen_by_intervals(figure, &figure->series[i], reach, &y);
    if (y.lo > y.hi)
        y = beside;
    else if (beside.lo <= beside.hi)
        widen(&y, fmax(y.hi, fmin(beside.hi, ABOVE_MAX * y.hi)));
    frame->is_rows = are_rows(figure);
    if (frame->is_rows) {
        frame->x = fit_rows(y, figure->y_is_log);
        frame->left = 2 * FIGURE_EDGE;
        return;
    }
    frame->zero = has_zero(figure) ? ZERO_WIDTH : 0;
    frame->x = fit_axis(x, figure->x_is_log, has_points ? 1.2 : 1);
    frame->y = fit_axis(y, figure->y_is_log, 1.15);
    fit_left(frame);
}

double figure_x(const struct frame *frame, double value)
{
    TACIT_ASSERT(frame->left + FIGURE_RIGHT < frame->width);
    if (frame->zero > 0 && value == 0)
        return frame->left + 0.3 * frame->zero;
    double const left = frame->left + frame->zero;
    return left + report_axis_position(&frame->x, value) * (frame->width - left - FIGURE_RIGHT);
}

double figure_y(const struct frame *frame, double value)
{
    TACIT_ASSERT(!frame->is_rows);
    return frame->bottom - report_axis_position(&frame->y, value) * (frame->bottom - frame->top);
}

double figure_value(const struct frame *frame, double value)
{
    return frame->is_rows ? figure_x(frame, value) : figure_y(frame, value);
}

/* ---- Drawing them ---- */

double figure_pixels(const char *text)
{
    return report_pixels(text, UINT32_MAX);
}

void figure_put_text(FILE *out, const char *text)
{
    report_put_start(out, text, REPORT_HTML, FIGURE_LABEL_CHARACTERS);
}

void figure_put_fitting(FILE *out, const char *text, double room)
{
    report_put_start(out, text, REPORT_HTML, report_fitting(text, FIGURE_LABEL_CHARACTERS, room));
}

void figure_put_line(const struct frame *frame, const char *style, enum report_colour colour,
                     double x1, double y1, double x2, double y2)
{
    (void)fprintf(frame->out,
                  "<line class=\"%s\" stroke=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                  "y2=\"%.1f\"/>",
                  style, report_colour(colour), x1, y1, x2, y2);
}

#define LINE_HEIGHT 15.0

static void put_vertical_axis(const struct frame *frame)
{
    double last = INFINITY; /* where the number below stands */
    for (uint32_t i = 0; i < frame->y.tick_count; i++) {
        double const y = figure_y(frame, frame->y.ticks[i]);
        figure_put_line(frame, "grid", REPORT_LINE, frame->left, y, frame->width - FIGURE_RIGHT, y);
        if (last - y < LINE_HEIGHT)
            continue;
        last = y;
        (void)fprintf(frame->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                      frame->left - FIGURE_EDGE, y + 4.5, report_short(frame->y.ticks[i], 6).text);
    }
}

static const char scale_note[] = " (log scale)";

double figure_label_pixels(const char *label, bool is_log)
{
    return report_pixels(label, report_fitting(label, FIGURE_LABEL_CHARACTERS, INFINITY)) +
           (is_log ? figure_pixels(scale_note) : 0);
}

static void put_label(const struct frame *frame, const char *label, bool is_log, double room)
{
    figure_put_fitting(frame->out, label, room - (is_log ? figure_pixels(scale_note) : 0));
    (void)fputs(is_log ? scale_note : "", frame->out);
    (void)fputs("</text>\n", frame->out);
}

/* The line of the axis; where 0 stands beside a logarithmic one, two strokes break it. */
static void put_base(const struct frame *frame)
{
    double const y = frame->bottom;
    double from = frame->left;
    for (int stroke = 0; stroke < 2 && frame->zero > 0; stroke++) {
        double const x = frame->left + 0.7 * frame->zero + stroke * BREAK;
        figure_put_line(frame, "axis", REPORT_AXIS, x - 3, y + 6, x + 3, y - 6);
        if (stroke == 0)
            figure_put_line(frame, "axis", REPORT_AXIS, from, y, x, y);
        from = x;
    }
    figure_put_line(frame, "axis", REPORT_AXIS, from, y, frame->width - FIGURE_RIGHT, y);
}

/* The last number may be wider than what is right of the plot: it moves in. A number that would lie
 * on the one before, which ends at *last, is left out. */
static void put_tick(const struct frame *frame, double value, double *last)
{
    double const x = figure_x(frame, value);
    struct report_number const number = report_short(value, 6);
    double const half = figure_pixels(number.text) / 2;
    double const middle = fmin(x, frame->width - 2 - half);
    figure_put_line(frame, "axis", REPORT_AXIS, x, frame->bottom, x, frame->bottom + 5);
    if (middle - half < *last + FIGURE_EDGE)
        return;
    *last = middle + half;
    (void)fprintf(frame->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                  middle, frame->bottom + 21, number.text);
}

void figure_put_horizontal_axis(const struct frame *frame, const char *label, bool is_log)
{
    double last = -INFINITY; /* where the number before ends */
    put_base(frame);
    if (frame->zero > 0)
        put_tick(frame, 0, &last);
    for (uint32_t i = 0; i < frame->x.tick_count; i++)
        put_tick(frame, frame->x.ticks[i], &last);
    (void)fprintf(frame->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                  (frame->left + frame->width - FIGURE_RIGHT) / 2, frame->bottom + 44);
    put_label(frame, label, is_log, frame->width - FIGURE_RIGHT - frame->left);
}

void figure_put_axes(const struct frame *frame)
{
    const struct tacit_report_figure *const figure = frame->figure;
    put_vertical_axis(frame);
    figure_put_horizontal_axis(frame, figure->x_label, figure->x_is_log);
    (void)fprintf(frame->out, "<text x=\"%.1f\" y=\"%.1f\">", FIGURE_EDGE, frame->top - 18);
    put_label(frame, figure->y_label, figure->y_is_log, frame->width - 2 * FIGURE_EDGE);
}
