/* Axes with readable ticks, and the line that is drawn on them. Knows no format. */
#include "internal.h"
#include <math.h>
#include <stdlib.h>

#define DRAWABLE_MAX 1e300 /* beyond it differences overflow */

bool report_is_drawable(double value)
{
    return fabs(value) < DRAWABLE_MAX; /* false for NaN */
}

/* 1, 2 or 5 times a power of ten, of which `span` holds 3.5 to 8.75. Requires:
 * 0 < span, finite. */
static double nice_step(double span)
{
    double const magnitude = pow(10.0, floor(log10(span / 5.0)));
    double const rest = span / 5.0 / magnitude;
    return (rest < 1.5 ? 1.0 : rest < 3.5 ? 2.0 : rest < 7.5 ? 5.0 : 10.0) * magnitude;
}

/* A value beyond the axis, or one tick too many, is passed over. */
static void add_tick(struct report_axis *axis, double value)
{
    double const slack = 1e-9 * (axis->hi - axis->lo);
    if (axis->tick_count < REPORT_TICKS_MAX && value >= axis->lo - slack &&
        value <= axis->hi + slack)
        axis->ticks[axis->tick_count++] = value;
}

static void add_even_ticks(struct report_axis *axis)
{
    double const step = nice_step(axis->hi - axis->lo);
    double const first = ceil(axis->lo / step);
    for (uint32_t i = 0; i < REPORT_TICKS_MAX; i++)
        add_tick(axis, (first + i) * step);
}

struct report_axis report_axis_linear(double lo, double hi)
{
    if (!(hi - lo > fabs(hi) * 1e-9))
        hi = lo + (lo == 0.0 ? 1.0 : fabs(lo));
    double const step = nice_step(hi - lo);
    struct report_axis axis = {.lo = floor(lo / step) * step, .hi = ceil(hi / step) * step};
    add_even_ticks(&axis);
    return axis;
}

struct report_axis report_axis_log(double lo, double hi)
{
    TACIT_ASSERT(lo > 0 && lo <= hi && isfinite(hi));
    struct report_axis axis = {.lo = lo, .hi = hi, .log = true};
    if (hi / lo < 1.0 + 1e-9) {
        axis.lo = lo / 2.0;
        axis.hi = hi * 2.0;
    }
    if (axis.hi / axis.lo < 10.0) {
        add_even_ticks(&axis);
        return axis;
    }
    bool const is_short = axis.hi / axis.lo < 2000.0;
    for (int exponent = -12; exponent < 24; exponent++) {
        double const decade = pow(10.0, exponent);
        add_tick(&axis, decade);
        if (is_short) {
            add_tick(&axis, 2.0 * decade);
            add_tick(&axis, 5.0 * decade);
        }
    }
    return axis;
}

double report_axis_position(const struct report_axis *axis, double value)
{
    if (axis->log && !(value > axis->lo))
        return 0.0; /* also what has no logarithm */
    double const position = axis->log ? log(value / axis->lo) / log(axis->hi / axis->lo)
                                      : (value - axis->lo) / (axis->hi - axis->lo);
    return position < 0.0 ? 0.0 : position > 1.0 ? 1.0 : position;
}

/* Passes over what cannot be drawn. */
static void add_point(const struct tacit_report *report, const struct tacit_report_curve *curve,
                      struct report_line *line, uint32_t point_index)
{
    TACIT_ASSERT(point_index < report->point_count);
    struct tacit_report_summary const summary = report_point_summary(report, curve, point_index);
    if (!report_is_drawable(summary.mean) || !report_is_drawable(summary.ci95))
        return;
    uint64_t const t = report->points[point_index];
    line->t[line->count] = t > 0 ? (double)t : 1.0; /* a log axis has no 0 */
    line->mean[line->count] = summary.mean;
    line->ci95[line->count] = summary.ci95;
    line->count++;
}

enum tacit_status report_line_new(const struct tacit_report *report, uint32_t curve,
                                  struct report_line *line)
{
    uint32_t const capacity = report->curve_count > curve ? report->point_count : 0;
    *line = (struct report_line){.name = ""};
    if (capacity > 0) {
        line->name = report->curves[curve].name;
        line->t = calloc((size_t)capacity * 3, sizeof *line->t);
        if (line->t == NULL)
            return TACIT_MEMORY;
        line->mean = line->t + capacity;
        line->ci95 = line->mean + capacity;
    }
    for (uint32_t i = 0; i < capacity; i++)
        add_point(report, &report->curves[curve], line, i);
    return TACIT_OK;
}

void report_line_free(struct report_line *line)
{
    free(line->t);
    line->t = NULL;
}
