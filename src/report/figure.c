/* A figure with several curves, or with points: an SVG drawn by hand, the same one in its file and
 * on the page. */
#include "internal.h"
#include <math.h>

#define WIDTH 720.0
#define PLOT_HEIGHT 300.0
#define LEFT 62.0
#define RIGHT 20.0
#define BOTTOM 50.0
#define LEGEND_TOP 16.0
#define LEGEND_ROW 20.0
#define SAMPLE_WIDTH 26.0   /* of the line beside a label */
#define CHARACTER_WIDTH 7.1 /* about, at 13 pixels */
#define LABEL_CHARACTERS 60u
#define NAME_ROOM 110.0 /* right of a point; with less its name goes to the left */

#define NAME_HEIGHT 14.0
#define NAME_SLACK 0.01 /* (a + 14) - a may be less than 14: no name is passed twice */
#define NAMES_MAX 64u   /* beyond it names may lie on one another */

/* Where things are. */
struct frame {
    const struct tacit_report_figure *figure;
    struct report_axis x;
    struct report_axis y;
    double top; /* of the plot, below the legend */
    double bottom;
    FILE *out;
    uint32_t name_count;
    struct {
        double left;
        double right;
        double y;
    } names[NAMES_MAX]; /* of points, so far */
};

static const char *const rules =
    ".fig text{font:13px system-ui,sans-serif;fill:var(--soft);font-variant-numeric:tabular-nums}"
    ".fig .grid{stroke:var(--line)}.fig .axis{stroke:var(--faint)}"
    ".fig polyline{fill:none;stroke-width:2;stroke-linejoin:round}.fig .thin{stroke-width:1;"
    "opacity:.55}.fig polygon{stroke:none;opacity:.16}.fig .bar{stroke-width:1.4}"
    ".fig .s0{stroke:var(--s0);fill:var(--s0)}.fig .s1{stroke:var(--s1);fill:var(--s1)}"
    ".fig .s2{stroke:var(--s2);fill:var(--s2)}.fig .s3{stroke:var(--s3);fill:var(--s3)}"
    ".fig .s4{stroke:var(--s4);fill:var(--s4)}.fig .s5{stroke:var(--s5);fill:var(--s5)}"
    ".fig .s6{stroke:var(--s6);fill:var(--s6)}.fig .s1 polyline,.fig .l1{stroke-dasharray:9 3}"
    ".fig .s2 polyline,.fig .l2{stroke-dasharray:3 3}.fig .s3 polyline,.fig "
    ".l3{stroke-dasharray:10 3 2 3}.fig .s4 polyline,.fig .l4{stroke-dasharray:1.5 2.5}"
    ".fig .s5 polyline,.fig .l5{stroke-dasharray:14 4}.fig polyline.thin{stroke-dasharray:none}\n"
    /* after Okabe and Ito: told apart by most kinds of sight, on light and dark ground */
    ":root{--s0:#0a6fb0;--s1:#d05a00;--s2:#00875f;--s3:#b84f8b;--s4:#8a6d00;--s5:#3b9bd6;"
    "--s6:#6b7378}\n@media (prefers-color-scheme:dark){:root{--s0:#5db1ea;--s1:#f08a3c;"
    "--s2:#3fc796;--s3:#e08abb;--s4:#d9b83a;--s5:#9ad2f5;--s6:#a9b2b7}}\n";

#define STYLES 7u

void report_figure_rules(FILE *out)
{
    (void)fputs(rules, out);
}

static void put_text(FILE *out, const char *text)
{
    report_put_start(out, text, REPORT_HTML, LABEL_CHARACTERS);
}

/* ---- Axes ---- */

static bool is_drawn(const struct tacit_report_figure *figure, double x, double y)
{
    return report_is_drawable(x) && report_is_drawable(y) && (!figure->x_is_log || x > 0) &&
           (!figure->y_is_log || y > 0);
}

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

static struct report_axis fit_axis(struct extent extent, bool is_log, double room)
{
    if (extent.lo > extent.hi)
        extent = (struct extent){1, 10}; /* nothing to draw */
    if (is_log)
        return report_axis_log(extent.lo / room, extent.hi * room);
    return report_axis_linear(fmin(extent.lo, 0), fmax(extent.hi, 0));
}

static double top_of(const struct tacit_report_series *series, uint32_t point)
{
    return series->hi != NULL ? series->hi[point] : series->y[point] + series->ci95[point];
}

static double bottom_of(const struct tacit_report_series *series, uint32_t point)
{
    return series->lo != NULL ? series->lo[point] : series->y[point] - series->ci95[point];
}

static void fit_axes(struct frame *frame)
{
    const struct tacit_report_figure *const figure = frame->figure;
    struct extent x = {INFINITY, -INFINITY};
    struct extent y = x;
    bool has_points = false;
    for (uint32_t i = 0; i < figure->series_count; i++) {
        const struct tacit_report_series *const series = &figure->series[i];
        has_points = has_points || series->names != NULL;
        for (uint32_t point = 0; point < series->count; point++) {
            if (!is_drawn(figure, series->x[point], series->y[point]))
                continue;
            widen(&x, series->x[point]);
            widen(&y, series->y[point]);
            widen(&y, top_of(series, point));
            if (series->lo != NULL && is_drawn(figure, series->x[point], series->lo[point]))
                widen(&y, series->lo[point]);
        }
    }
    frame->x = fit_axis(x, figure->x_is_log, has_points ? 1.2 : 1);
    frame->y = fit_axis(y, figure->y_is_log, 1.15);
}

static double x_of(const struct frame *frame, double value)
{
    return LEFT + report_axis_place(&frame->x, value) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct frame *frame, double value)
{
    return frame->bottom - report_axis_place(&frame->y, value) * (frame->bottom - frame->top);
}

static void put_line(const struct frame *frame, const char *style, double x1, double y1, double x2,
                     double y2)
{
    (void)fprintf(frame->out,
                  "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", style, x1,
                  y1, x2, y2);
}

static void put_axes(const struct frame *frame)
{
    FILE *const out = frame->out;
    for (uint32_t i = 0; i < frame->y.tick_count; i++) {
        double const y = y_of(frame, frame->y.ticks[i]);
        put_line(frame, "grid", LEFT, y, WIDTH - RIGHT, y);
        (void)fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 8,
                      y + 4.5, report_short(frame->y.ticks[i], 6).text);
    }
    put_line(frame, "axis", LEFT, frame->bottom, WIDTH - RIGHT, frame->bottom);
    for (uint32_t i = 0; i < frame->x.tick_count; i++) {
        double const x = x_of(frame, frame->x.ticks[i]);
        put_line(frame, "axis", x, frame->bottom, x, frame->bottom + 5);
        (void)fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x,
                      frame->bottom + 20, report_short(frame->x.ticks[i], 6).text);
    }
    (void)fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                  (LEFT + WIDTH - RIGHT) / 2, frame->bottom + 40);
    put_text(out, frame->figure->x_label);
    (void)fprintf(out, "%s</text>\n<text x=\"8\" y=\"%.1f\">",
                  frame->figure->x_is_log ? " (log scale)" : "", frame->top - 12);
    put_text(out, frame->figure->y_label);
    (void)fprintf(out, "%s</text>\n", frame->figure->y_is_log ? " (log scale)" : "");
}

/* ---- Legend ---- */

static double entry_width(const struct tacit_report_series *series)
{
    return SAMPLE_WIDTH + 8 +
           CHARACTER_WIDTH * fmin(report_width(series->label), LABEL_CHARACTERS + 3.0) + 18;
}

/* Writes the entries row by row if the frame has a stream; the rows that they take. */
static uint32_t lay_legend(const struct frame *frame)
{
    double x = 8;
    uint32_t row = 0;
    for (uint32_t i = 0; i < frame->figure->series_count; i++) {
        const struct tacit_report_series *const series = &frame->figure->series[i];
        double const width = entry_width(series);
        if (x > 8 && x + width > WIDTH) {
            x = 8;
            row++;
        }
        double const y = LEGEND_TOP + row * LEGEND_ROW;
        if (frame->out != NULL && series->names == NULL)
            (void)fprintf(frame->out,
                          "<polyline class=\"s%u l%u\" points=\"%.1f,%.1f %.1f,%.1f\"/>",
                          i % STYLES, i % STYLES, x, y - 4, x + SAMPLE_WIDTH, y - 4);
        else if (frame->out != NULL)
            (void)fprintf(frame->out, "<circle class=\"s%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>",
                          i % STYLES, x + SAMPLE_WIDTH / 2, y - 4);
        if (frame->out != NULL) {
            (void)fprintf(frame->out, "<text x=\"%.1f\" y=\"%.1f\">", x + SAMPLE_WIDTH + 8, y);
            put_text(frame->out, series->label);
            (void)fputs("</text>\n", frame->out);
        }
        x += width;
    }
    return row + 1;
}

/* ---- Curves and points ---- */

static void put_vertex(const struct frame *frame, double x, double y)
{
    (void)fprintf(frame->out, "%.1f,%.1f ", x_of(frame, x), y_of(frame, y));
}

static void put_vertices(const struct frame *frame, const struct tacit_report_series *series)
{
    for (uint32_t i = 0; i < series->count; i++)
        if (is_drawn(frame->figure, series->x[i], series->y[i]))
            put_vertex(frame, series->x[i], series->y[i]);
}

static void put_curve(const struct frame *frame, const struct tacit_report_series *series)
{
    (void)fputs("<polygon points=\"", frame->out);
    for (uint32_t i = 0; i < series->count; i++)
        if (is_drawn(frame->figure, series->x[i], series->y[i]))
            put_vertex(frame, series->x[i], top_of(series, i));
    for (uint32_t i = series->count; i-- > 0;)
        if (is_drawn(frame->figure, series->x[i], series->y[i]))
            put_vertex(frame, series->x[i], bottom_of(series, i));
    (void)fputs("\"/><polyline points=\"", frame->out);
    put_vertices(frame, series);
    (void)fputs("\"/>", frame->out);
}

/* The name of a point beside it, or further down where other names are. */
static void put_name(struct frame *frame, const char *name, double x, double y)
{
    double const width = CHARACTER_WIDTH * fmin(report_width(name), LABEL_CHARACTERS + 3.0);
    bool const is_left = x > WIDTH - RIGHT - NAME_ROOM;
    double const left = is_left ? x - 9 - width : x + 9;
    y -= 5;
    for (uint32_t i = 0; i < frame->name_count; i++) {
        if (left < frame->names[i].right && left + width > frame->names[i].left &&
            fabs(y - frame->names[i].y) < NAME_HEIGHT - NAME_SLACK) {
            y = frame->names[i].y + NAME_HEIGHT;
            i = UINT32_MAX; /* look at all of them again */
        }
    }
    if (frame->name_count < NAMES_MAX) {
        frame->names[frame->name_count].left = left;
        frame->names[frame->name_count].right = left + width;
        frame->names[frame->name_count++].y = y;
    }
    (void)fprintf(frame->out, "<text stroke=\"none\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
                  is_left ? x - 9 : x + 9, y, is_left ? "end" : "start");
    put_text(frame->out, name);
    (void)fputs("</text>\n", frame->out);
}

static void put_point(struct frame *frame, const struct tacit_report_series *series, uint32_t index)
{
    double const x = x_of(frame, series->x[index]);
    double const y = y_of(frame, series->y[index]);
    put_line(frame, "bar", x, y_of(frame, series->y[index] - series->ci95[index]), x,
             y_of(frame, series->y[index] + series->ci95[index]));
    (void)fprintf(frame->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"><title>", x, y);
    put_text(frame->out, series->names[index]);
    (void)fprintf(frame->out, ": %s, ", report_rounded(series->x[index], 5).text);
    (void)fprintf(frame->out, "%s \xc2\xb1 ", report_rounded(series->y[index], 5).text);
    (void)fprintf(frame->out, "%s</title></circle>", report_rounded(series->ci95[index], 3).text);
    put_name(frame, series->names[index], x, y);
}

static void put_series(struct frame *frame, uint32_t index)
{
    const struct tacit_report_series *const series = &frame->figure->series[index];
    (void)fprintf(frame->out, "<g class=\"s%u\"><title>", index % STYLES);
    put_text(frame->out, series->label);
    if (series->names == NULL && series->count > 0) {
        uint32_t const last = series->count - 1;
        bool const is_band = series->lo != NULL;
        (void)fprintf(frame->out, ": %s", report_rounded(series->y[last], 5).text);
        (void)fprintf(frame->out, is_band ? ", %s to " : " \xc2\xb1 %s at the end",
                      report_rounded(is_band ? series->lo[last] : series->ci95[last], 3).text);
        if (is_band)
            (void)fprintf(frame->out, "%s at the end", report_rounded(series->hi[last], 3).text);
    }
    (void)fputs("</title>", frame->out);
    if (series->names == NULL) {
        put_curve(frame, series);
    } else {
        if (series->count > 1) {
            (void)fputs("<polyline class=\"thin\" points=\"", frame->out);
            put_vertices(frame, series);
            (void)fputs("\"/>\n", frame->out);
        }
        for (uint32_t i = 0; i < series->count; i++)
            if (is_drawn(frame->figure, series->x[i], series->y[i]))
                put_point(frame, series, i);
    }
    (void)fputs("</g>\n", frame->out);
}

/* ---- The whole ---- */

static void draw(const struct tacit_report_figure *figure, FILE *out, bool is_file)
{
    struct frame frame = {.figure = figure};
    frame.top = LEGEND_TOP + lay_legend(&frame) * LEGEND_ROW + 22;
    frame.bottom = frame.top + PLOT_HEIGHT;
    frame.out = out;
    fit_axes(&frame);
    (void)fprintf(out, "<svg class=\"fig\"%s viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
                  is_file ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", WIDTH,
                  frame.bottom + BOTTOM);
    put_text(out, figure->title);
    (void)fputs("</title>\n", out);
    if (is_file) {
        (void)fputs("<style>\n:root{--card:#fff;--soft:#455056;--faint:#8b979d;--line:#e2e7e8}\n"
                    "@media (prefers-color-scheme:dark){:root{--card:#1a2125;--soft:#a3b0b6;"
                    "--faint:#76848b;--line:#2b353a}}\n.fig .ground{fill:var(--card)}\n",
                    out);
        report_figure_rules(out);
        (void)fputs("</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n", out);
    }
    (void)lay_legend(&frame);
    put_axes(&frame);
    for (uint32_t i = 0; i < figure->series_count; i++)
        put_series(&frame, i);
    (void)fputs("</svg>\n", out);
}

void report_figure_draw(const struct tacit_report_figure *figure, FILE *out)
{
    draw(figure, out, false);
}

enum tacit_status tacit_report_figure_svg(const struct tacit_report_figure *figure, FILE *out)
{
    TACIT_ASSERT(figure != NULL);
    TACIT_IMPLIES(figure->series_count > 0, figure->series != NULL);
    locale_t const before = report_locale_enter();
    draw(figure, out, true);
    enum tacit_status const status = report_finish(out);
    report_locale_leave(before);
    return status;
}
