/* A figure with several curves, or with points: an SVG drawn by hand. In its file it has colours of
 * its own, as attributes, so that every program draws it alike; on the page the same attributes
 * give way to the style sheet, the legend is text of the page, and pointing at a curve reads it. */
#include "internal.h"
#include <math.h>

#define WIDTH 720.0
#define PLOT_HEIGHT 300.0
#define LEFT_LEAST 62.0 /* more where the numbers beside the axis need it */
#define RIGHT 20.0
#define BOTTOM 52.0
#define TOP_ALONE 40.0 /* of the plot, where no legend is above it */
#define LEGEND_TOP 16.0
#define LEGEND_ROW 20.0
#define SAMPLE_WIDTH 26.0 /* of the line beside a label */
#define LABEL_CHARACTERS 60u
#define EDGE 8.0       /* free at the left and right of texts */
#define NAME_APART 9.0 /* of a name and its point */
#define FEW_NAMES 4u
#define SHORT_CHARACTERS 12u

#define NAME_HEIGHT 14.0
#define NAME_SLACK 0.01 /* (a + 14) - a may be less than 14: no name is passed twice */
#define NAMES_MAX 64u   /* beyond it names may lie on one another */

#define READING_PIXELS 1.5 /* points closer than this are read as one */
#define ABOVE_MAX 2.5 /* a reference line that is this much above all curves leaves the figure */

/* Where things are. */
struct frame {
    const struct tacit_report_figure *figure;
    struct report_axis x;
    struct report_axis y;
    double left; /* of the plot, beside the numbers */
    double top;  /* of the plot, below the legend */
    double bottom;
    FILE *out;
    uint32_t name_count;
    struct {
        double left;
        double right;
        double y;
    } names[NAMES_MAX]; /* of points, so far */
};

#define STYLES 7u

/* How the line of a series is broken, beside its colour. */
static const char *const dashes[STYLES] = {NULL,      "9 3",  "3 3", "10 3 2 3",
                                           "1.5 2.5", "14 4", "6 4"};

/* Colours only: everything else is said by the attributes. */
void report_figure_rules(FILE *out)
{
    (void)fputs(".fig text{fill:var(--soft)}.fig .grid{stroke:var(--line)}"
                ".fig .axis{stroke:var(--axis)}.fig .guide{stroke:var(--axis)}"
                ".fig text.read{fill:var(--ink)}",
                out);
    for (uint32_t i = 0; i < STYLES; i++)
        (void)fprintf(out, ".s%u{stroke:var(--s%u);fill:var(--s%u)}", i, i, i);
    (void)fputs("\n.fig .show{visibility:hidden}.pt:hover .show{visibility:visible}\n", out);
}

static void put_text(FILE *out, const char *text)
{
    report_put_start(out, text, REPORT_HTML, LABEL_CHARACTERS);
}

/* As much of a text as there is room for. */
static void put_fitting(FILE *out, const char *text, double room)
{
    report_put_start(out, text, REPORT_HTML, report_fitting(text, LABEL_CHARACTERS, room));
}

static double pixels(const char *text)
{
    return report_pixels(text, UINT32_MAX);
}

/* Curves and points take the styles from the first on, lines to compare with from the last. */
static uint32_t style_of(const struct tacit_report_figure *figure, uint32_t index)
{
    TACIT_ASSERT(index < figure->series_count);
    uint32_t later = 0;
    for (uint32_t i = index + 1; i < figure->series_count; i++)
        later += figure->series[i].is_reference ? 1 : 0;
    return figure->series[index].is_reference ? (STYLES - 1 - later % STYLES) : index % STYLES;
}

/* class="s1" and the colour that it stands for. */
static void put_style(FILE *out, uint32_t style)
{
    TACIT_ASSERT(style < STYLES);
    const char *const colour = report_colour(REPORT_SERIES + style);
    (void)fprintf(out, "class=\"s%u\" stroke=\"%s\" fill=\"%s\"", style, colour, colour);
}

static void put_dashes(FILE *out, uint32_t style)
{
    TACIT_ASSERT(style < STYLES);
    if (dashes[style] != NULL)
        (void)fprintf(out, " stroke-dasharray=\"%s\"", dashes[style]);
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
    TACIT_ASSERT(room >= 1);
    if (extent.lo > extent.hi)
        extent = (struct extent){1, 10}; /* nothing to draw */
    if (is_log)
        return report_axis_log(extent.lo / room, extent.hi * room);
    return report_axis_linear(fmin(extent.lo, 0), fmax(extent.hi, 0));
}

static double half_of(const struct tacit_report_series *series, uint32_t point)
{
    TACIT_ASSERT(point < series->count);
    return series->ci95 == NULL ? 0 : series->ci95[point];
}

static double top_of(const struct tacit_report_series *series, uint32_t point)
{
    TACIT_ASSERT(point < series->count);
    return series->hi != NULL ? series->hi[point] : series->y[point] + half_of(series, point);
}

static double bottom_of(const struct tacit_report_series *series, uint32_t point)
{
    TACIT_ASSERT(point < series->count);
    return series->lo != NULL ? series->lo[point] : series->y[point] - half_of(series, point);
}

static void widen_by(const struct tacit_report_figure *figure,
                     const struct tacit_report_series *series, struct extent *x, struct extent *y)
{
    for (uint32_t point = 0; point < series->count; point++) {
        if (!is_drawn(figure, series->x[point], series->y[point]))
            continue;
        widen(x, series->x[point]);
        widen(y, series->y[point]);
        if (is_drawn(figure, series->x[point], top_of(series, point)))
            widen(y, top_of(series, point));
        if (series->lo != NULL && is_drawn(figure, series->x[point], series->lo[point]))
            widen(y, series->lo[point]);
    }
}

static void fit_axes(struct frame *frame)
{
    const struct tacit_report_figure *const figure = frame->figure;
    struct extent x = {INFINITY, -INFINITY};
    struct extent y = x;
    struct extent all = x;
    bool has_points = false;
    for (uint32_t i = 0; i < figure->series_count; i++) {
        const struct tacit_report_series *const series = &figure->series[i];
        has_points = has_points || series->names != NULL;
        widen_by(figure, series, &x, series->is_reference ? &all : &y);
    }
    if (y.lo > y.hi)
        y = all;
    if (y.lo <= y.hi)
        widen(&y, fmax(y.hi, fmin(all.hi, ABOVE_MAX * y.hi)));
    frame->x = fit_axis(x, figure->x_is_log, has_points ? 1.2 : 1);
    frame->y = fit_axis(y, figure->y_is_log, 1.15);
}

static double x_of(const struct frame *frame, double value)
{
    return frame->left + report_axis_place(&frame->x, value) * (WIDTH - frame->left - RIGHT);
}

static double y_of(const struct frame *frame, double value)
{
    return frame->bottom - report_axis_place(&frame->y, value) * (frame->bottom - frame->top);
}

/* A line of the frame, in a colour of the palette. */
static void put_line(const struct frame *frame, const char *style, enum report_colour colour,
                     double x1, double y1, double x2, double y2)
{
    (void)fprintf(frame->out,
                  "<line class=\"%s\" stroke=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                  "y2=\"%.1f\"/>",
                  style, report_colour(colour), x1, y1, x2, y2);
}

static struct report_number tick_text(double value)
{
    return report_short(value, 6);
}

/* The numbers of the vertical axis stand left of the plot. */
static void fit_left(struct frame *frame)
{
    frame->left = LEFT_LEAST;
    for (uint32_t i = 0; i < frame->y.tick_count; i++)
        frame->left = fmax(frame->left, 2 + pixels(tick_text(frame->y.ticks[i]).text) + EDGE);
}

static void put_vertical_axis(const struct frame *frame)
{
    for (uint32_t i = 0; i < frame->y.tick_count; i++) {
        double const y = y_of(frame, frame->y.ticks[i]);
        put_line(frame, "grid", REPORT_LINE, frame->left, y, WIDTH - RIGHT, y);
        (void)fprintf(frame->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                      frame->left - EDGE, y + 4.5, tick_text(frame->y.ticks[i]).text);
    }
}

/* The last number may be wider than what is right of the plot: it moves in. */
static void put_horizontal_axis(const struct frame *frame)
{
    put_line(frame, "axis", REPORT_AXIS, frame->left, frame->bottom, WIDTH - RIGHT, frame->bottom);
    for (uint32_t i = 0; i < frame->x.tick_count; i++) {
        double const x = x_of(frame, frame->x.ticks[i]);
        struct report_number const number = tick_text(frame->x.ticks[i]);
        put_line(frame, "axis", REPORT_AXIS, x, frame->bottom, x, frame->bottom + 5);
        (void)fprintf(frame->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                      fmin(x, WIDTH - 2 - pixels(number.text) / 2), frame->bottom + 21,
                      number.text);
    }
}

static const char scale_note[] = " (log scale)";

/* A label, with what its scale is. */
static double label_pixels(const char *label, bool is_log)
{
    return report_pixels(label, report_fitting(label, LABEL_CHARACTERS, INFINITY)) +
           (is_log ? pixels(scale_note) : 0);
}

static void put_label(const struct frame *frame, const char *label, bool is_log, double room)
{
    put_fitting(frame->out, label, room - (is_log ? pixels(scale_note) : 0));
    (void)fputs(is_log ? scale_note : "", frame->out);
    (void)fputs("</text>\n", frame->out);
}

static void put_axes(const struct frame *frame)
{
    const struct tacit_report_figure *const figure = frame->figure;
    put_vertical_axis(frame);
    put_horizontal_axis(frame);
    (void)fprintf(frame->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                  (frame->left + WIDTH - RIGHT) / 2, frame->bottom + 44);
    put_label(frame, figure->x_label, figure->x_is_log, WIDTH - RIGHT - frame->left);
    (void)fprintf(frame->out, "<text x=\"%.1f\" y=\"%.1f\">", EDGE, frame->top - 18);
    put_label(frame, figure->y_label, figure->y_is_log, WIDTH - 2 * EDGE);
}

/* ---- Legend ---- */

#define SAMPLE_ROOM (SAMPLE_WIDTH + 8)
#define LABEL_ROOM (WIDTH - SAMPLE_ROOM - 2 * EDGE)

static double entry_width(const struct tacit_report_series *series)
{
    uint32_t const count = report_fitting(series->label, LABEL_CHARACTERS, LABEL_ROOM);
    return SAMPLE_ROOM + report_pixels(series->label, count);
}

/* What a series looks like: a piece of its line, or a point; from (x, y) to the right. */
static void put_sample(FILE *out, const struct tacit_report_figure *figure, uint32_t index,
                       double x, double y)
{
    const struct tacit_report_series *const series = &figure->series[index];
    uint32_t const style = style_of(figure, index);
    if (series->names == NULL)
        (void)fprintf(out,
                      "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke-width=\"2\" ",
                      x, y, x + SAMPLE_WIDTH, y);
    else
        (void)fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" ", x + SAMPLE_WIDTH / 2, y);
    put_style(out, style);
    if (series->names == NULL)
        put_dashes(out, style);
    (void)fputs("/>", out);
}

/* Writes the entries row by row if the frame has a stream; the rows that they take. */
static uint32_t lay_legend(const struct frame *frame)
{
    double x = EDGE;
    uint32_t row = 0;
    for (uint32_t i = 0; i < frame->figure->series_count; i++) {
        const struct tacit_report_series *const series = &frame->figure->series[i];
        double const width = entry_width(series);
        if (x > EDGE && x + width > WIDTH - EDGE) {
            x = EDGE;
            row++;
        }
        double const y = LEGEND_TOP + row * LEGEND_ROW;
        if (frame->out != NULL) {
            put_sample(frame->out, frame->figure, i, x, y - 4);
            (void)fprintf(frame->out, "<text x=\"%.1f\" y=\"%.1f\">", x + SAMPLE_ROOM, y);
            put_fitting(frame->out, series->label, LABEL_ROOM);
            (void)fputs("</text>\n", frame->out);
        }
        x += width + 2 * EDGE;
    }
    return row + 1;
}

/* The same as a list of the page, whose text breaks where the page is narrow. */
static void put_legend_list(const struct tacit_report_figure *figure, FILE *out)
{
    (void)fputs("<ul class=\"legend\">", out);
    for (uint32_t i = 0; i < figure->series_count; i++) {
        (void)fprintf(out, "<li><svg width=\"%.0f\" height=\"10\" aria-hidden=\"true\">",
                      SAMPLE_WIDTH);
        put_sample(out, figure, i, 0, 5);
        (void)fputs("</svg><span>", out);
        report_put(out, figure->series[i].label, REPORT_HTML);
        (void)fputs("</span></li>\n", out);
    }
    (void)fputs("</ul>\n", out);
}

/* ---- Curves and points ---- */

static void put_vertex(const struct frame *frame, double x, double y)
{
    (void)fprintf(frame->out, "%.1f,%.1f ", x_of(frame, x), y_of(frame, y));
}

/* A reference line ends where it leaves the figure. */
static bool is_inside(const struct frame *frame, const struct tacit_report_series *series,
                      uint32_t point)
{
    TACIT_ASSERT(point < series->count);
    return is_drawn(frame->figure, series->x[point], series->y[point]) &&
           (!series->is_reference || series->y[point] <= frame->y.hi);
}

/* The point at which a reference line leaves the figure, after the vertex `last`. */
static void put_exit(const struct frame *frame, const struct tacit_report_series *series,
                     uint32_t last)
{
    TACIT_ASSERT(series->is_reference);
    TACIT_ASSERT(last + 1 < series->count);
    double const rise = series->y[last + 1] - series->y[last];
    double const part = rise > 0 ? (frame->y.hi - series->y[last]) / rise : 0;
    put_vertex(frame, series->x[last] + part * (series->x[last + 1] - series->x[last]),
               frame->y.hi);
}

static void put_vertices(const struct frame *frame, const struct tacit_report_series *series)
{
    (void)fputs(" points=\"", frame->out);
    for (uint32_t i = 0; i < series->count; i++) {
        if (is_inside(frame, series, i))
            put_vertex(frame, series->x[i], series->y[i]);
        else if (series->is_reference && i > 0 && is_inside(frame, series, i - 1) &&
                 is_drawn(frame->figure, series->x[i], series->y[i]))
            put_exit(frame, series, i - 1);
    }
    (void)fputs("\"/>", frame->out);
}

static void put_band(const struct frame *frame, const struct tacit_report_series *series)
{
    (void)fputs("<polygon stroke=\"none\" fill-opacity=\".16\" points=\"", frame->out);
    for (uint32_t i = 0; i < series->count; i++)
        if (is_drawn(frame->figure, series->x[i], series->y[i]))
            put_vertex(frame, series->x[i], top_of(series, i));
    for (uint32_t i = series->count; i-- > 0;)
        if (is_drawn(frame->figure, series->x[i], series->y[i]))
            put_vertex(frame, series->x[i], bottom_of(series, i));
    (void)fputs("\"/>", frame->out);
}

static void put_curve(const struct frame *frame, const struct tacit_report_series *series,
                      uint32_t index)
{
    if (series->ci95 != NULL || series->lo != NULL)
        put_band(frame, series);
    (void)fprintf(frame->out,
                  "<polyline fill=\"none\" stroke-width=\"%s\" stroke-linejoin=\"round\"",
                  series->is_reference ? "1.5" : "2");
    put_dashes(frame->out, style_of(frame->figure, index));
    put_vertices(frame, series);
}

/* The next line from y on, a name's height up (-1) or down (1), on which no other name lies between
 * left and right. */
static double free_line(const struct frame *frame, double left, double right, double y, double way)
{
    TACIT_ASSERT(frame->name_count <= NAMES_MAX);
    TACIT_ASSERT(way == 1 || way == -1);
    for (uint32_t i = 0; i < frame->name_count; i++) {
        if (left < frame->names[i].right && right > frame->names[i].left &&
            fabs(y - frame->names[i].y) < NAME_HEIGHT - NAME_SLACK) {
            y = frame->names[i].y + way * NAME_HEIGHT;
            i = UINT32_MAX; /* look at all of them again */
        }
    }
    return y;
}

/* Below the other names, above them where the plot ends, and on them where it is full. */
static double name_line(const struct frame *frame, double left, double right, double y)
{
    TACIT_ASSERT(frame->top <= frame->bottom);
    double const below = free_line(frame, left, right, y, 1);
    double const above = free_line(frame, left, right, y, -1);
    if (below <= frame->bottom)
        return below;
    return above >= frame->top ? above : y;
}

/* The name of a point beside it, or further down where other names are; right of it where that has
 * room for it, else where there is more. */
static void put_name(struct frame *frame, const char *name, double x, double y)
{
    double const room_right = WIDTH - 2 - (x + NAME_APART);
    double const room_left = x - NAME_APART - 2;
    uint32_t const whole = report_fitting(name, LABEL_CHARACTERS, INFINITY);
    bool const is_left = report_pixels(name, whole) > room_right && room_left > room_right;
    uint32_t const count = report_fitting(name, LABEL_CHARACTERS, is_left ? room_left : room_right);
    double const width = report_pixels(name, count);
    double const left = is_left ? x - NAME_APART - width : x + NAME_APART;
    double const line = name_line(frame, left, left + width, y - 5);
    if (frame->name_count < NAMES_MAX) {
        frame->names[frame->name_count].left = left;
        frame->names[frame->name_count].right = left + width;
        frame->names[frame->name_count++].y = line;
    }
    (void)fprintf(frame->out,
                  "<text stroke=\"none\" fill=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
                  report_colour(REPORT_SOFT), is_left ? x - NAME_APART : x + NAME_APART, line,
                  is_left ? "end" : "start");
    report_put_start(frame->out, name, REPORT_HTML, count);
    (void)fputs("</text>\n", frame->out);
}

static void put_point(struct frame *frame, const struct tacit_report_series *series, uint32_t index)
{
    double const x = x_of(frame, series->x[index]);
    double const y = y_of(frame, series->y[index]);
    (void)fprintf(frame->out,
                  "<line stroke-width=\"1.4\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", x,
                  y_of(frame, bottom_of(series, index)), x, y_of(frame, top_of(series, index)));
    (void)fprintf(frame->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"><title>", x, y);
    put_text(frame->out, series->names[index]);
    (void)fprintf(frame->out, ": %s, ", report_rounded(series->x[index], 5).text);
    (void)fprintf(frame->out, "%s \xc2\xb1 ", report_rounded(series->y[index], 5).text);
    (void)fprintf(frame->out, "%s</title></circle>",
                  report_rounded(half_of(series, index), 3).text);
    put_name(frame, series->names[index], x, y);
}

/* "name: 12.3 ± 0.4 at the end" */
static void put_series_title(const struct frame *frame, const struct tacit_report_series *series)
{
    (void)fputs("<title>", frame->out);
    put_text(frame->out, series->label);
    if (series->names == NULL && series->count > 0) {
        uint32_t const last = series->count - 1;
        bool const is_band = series->lo != NULL;
        (void)fprintf(frame->out, ": %s", report_rounded(series->y[last], 5).text);
        if (is_band)
            (void)fprintf(frame->out, ", %s to ", report_rounded(series->lo[last], 3).text);
        else if (series->ci95 != NULL)
            (void)fprintf(frame->out, " \xc2\xb1 %s", report_rounded(series->ci95[last], 3).text);
        if (is_band)
            (void)fprintf(frame->out, "%s", report_rounded(series->hi[last], 3).text);
        (void)fputs(" at the end", frame->out);
    }
    (void)fputs("</title>", frame->out);
}

static void put_points(struct frame *frame, const struct tacit_report_series *series)
{
    if (series->count > 1 && !series->is_scattered) {
        (void)fputs("<polyline fill=\"none\" stroke-width=\"1\" stroke-opacity=\".55\"",
                    frame->out);
        put_vertices(frame, series);
        (void)fputc('\n', frame->out);
    }
    for (uint32_t i = 0; i < series->count; i++)
        if (is_drawn(frame->figure, series->x[i], series->y[i]))
            put_point(frame, series, i);
}

static void put_series(struct frame *frame, uint32_t index)
{
    const struct tacit_report_series *const series = &frame->figure->series[index];
    (void)fputs("<g ", frame->out);
    put_style(frame->out, style_of(frame->figure, index));
    (void)fputc('>', frame->out);
    put_series_title(frame, series);
    if (series->names == NULL)
        put_curve(frame, series, index);
    else
        put_points(frame, series);
    (void)fputs("</g>\n", frame->out);
}

/* ---- Reading a curve by pointing at it ---- */

/* The next point that is far enough from the one at x; the last always counts. count: there is
 * none. */
static uint32_t next_reading(const struct frame *frame, const struct tacit_report_series *series,
                             uint32_t from, double x)
{
    for (uint32_t i = from; i < series->count; i++)
        if (is_inside(frame, series, i) &&
            (x_of(frame, series->x[i]) >= x + READING_PIXELS || i + 1 == series->count))
            return i;
    return series->count;
}

/* "t = 1,000:  12 ± 3" right of what the axis says. */
static void put_reading(const struct frame *frame, const struct tacit_report_series *series,
                        uint32_t index)
{
    struct report_number const x = report_rounded(series->x[index], 5);
    struct report_number const y = report_rounded(series->y[index], 5);
    struct report_number const half = report_rounded(half_of(series, index), 3);
    double const taken = label_pixels(frame->figure->y_label, frame->figure->y_is_log) +
                         pixels(x.text) + pixels(y.text) + pixels(half.text) +
                         pixels(" = :   \xc2\xb1 ");
    put_fitting(frame->out, frame->figure->x_label, WIDTH - RIGHT - 2 * EDGE - taken);
    (void)fprintf(frame->out, " = %s:  %s", x.text, y.text);
    if (half_of(series, index) > 0)
        (void)fprintf(frame->out, " \xc2\xb1 %s", half.text);
}

/* A strip around one point: pointing at it shows the guide, the dot and the numbers. */
static void put_strip(const struct frame *frame, const struct tacit_report_series *series,
                      uint32_t index, double from, double to)
{
    double const x = x_of(frame, series->x[index]);
    (void)fprintf(frame->out,
                  "<g class=\"pt\"><rect fill=\"none\" pointer-events=\"all\" x=\"%.1f\" "
                  "y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                  from, frame->top, fmax(to - from, 0.0), frame->bottom - frame->top);
    put_line(frame, "show guide", REPORT_AXIS, x, frame->top, x, frame->bottom);
    (void)fputs("<circle class=\"show s0\" stroke=\"none\" ", frame->out);
    (void)fprintf(frame->out, "cx=\"%.1f\" cy=\"%.1f\" r=\"5.5\"/>", x,
                  y_of(frame, series->y[index]));
    (void)fprintf(frame->out,
                  "<text class=\"show read\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">",
                  WIDTH - RIGHT, frame->top - 18);
    put_reading(frame, series, index);
    (void)fputs("</text></g>\n", frame->out);
}

static void put_readings(const struct frame *frame, const struct tacit_report_series *series)
{
    double from = frame->left;
    uint32_t at = next_reading(frame, series, 0, -INFINITY);
    while (at < series->count) {
        double const x = x_of(frame, series->x[at]);
        uint32_t const next = next_reading(frame, series, at + 1, x);
        double const to = next == series->count ? WIDTH : (x + x_of(frame, series->x[next])) / 2.0;
        put_strip(frame, series, at, from, to);
        from = to;
        at = next;
    }
}

/* ---- The whole ---- */

static void put_head(const struct frame *frame, bool is_file)
{
    double const height = frame->bottom + BOTTOM;
    (void)fputs("<svg class=\"fig\"", frame->out);
    if (is_file)
        (void)fprintf(frame->out,
                      " xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\"", WIDTH,
                      height);
    (void)fprintf(frame->out, " viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", WIDTH,
                  height);
    put_text(frame->out, frame->figure->title);
    (void)fprintf(frame->out,
                  "\" font-family=\"%ssans-serif\" font-size=\"13\" fill=\"%s\">\n<title>",
                  is_file ? "" : "system-ui,", report_colour(REPORT_SOFT));
    put_text(frame->out, frame->figure->title);
    (void)fputs("</title>\n", frame->out);
    if (is_file)
        (void)fprintf(frame->out, "<rect width=\"%.0f\" height=\"%.0f\" fill=\"%s\"/>\n", WIDTH,
                      height, report_colour(REPORT_CARD));
}

static void draw(const struct tacit_report_figure *figure, FILE *out, bool is_file)
{
    struct frame frame = {.figure = figure};
    frame.top = is_file ? LEGEND_TOP + lay_legend(&frame) * LEGEND_ROW + 26 : TOP_ALONE;
    frame.bottom = frame.top + PLOT_HEIGHT;
    frame.out = out;
    fit_axes(&frame);
    fit_left(&frame);
    put_head(&frame, is_file);
    if (is_file)
        (void)lay_legend(&frame);
    put_axes(&frame);
    for (uint32_t i = figure->series_count; i-- > 0;)
        put_series(&frame, i); /* the first lies above the others */
    if (!is_file && figure->series_count > 0 && figure->series[0].names == NULL &&
        (figure->series_count == 1 || figure->series[1].is_reference))
        put_readings(&frame, &figure->series[0]);
    (void)fputs("</svg>\n", out);
}

/* Names beside points need the width; a few short ones do not, nor do curves. */
static bool needs_width(const struct tacit_report_figure *figure)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < figure->series_count; i++) {
        const struct tacit_report_series *const series = &figure->series[i];
        for (uint32_t point = 0; series->names != NULL && point < series->count; point++, count++)
            if (report_width(series->names[point]) > SHORT_CHARACTERS)
                return true;
    }
    return count > FEW_NAMES;
}

void report_figure_draw(const struct tacit_report_figure *figure, FILE *out)
{
    (void)fprintf(out, "<div class=\"chart%s\" role=\"group\" aria-label=\"",
                  needs_width(figure) ? " wide\" tabindex=\"0" : "");
    put_text(out, figure->title);
    (void)fputs("\">", out);
    draw(figure, out, false);
    (void)fputs("</div>\n", out);
    put_legend_list(figure, out);
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
