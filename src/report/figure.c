/* A figure with several curves, or with points: an SVG drawn by hand. In its file it has colours of
 * its own, as attributes, so that every program draws it alike; on the page the same attributes
 * give way to the style sheet, the legend is text of the page, and pointing at a curve reads it. */
#include "figure.h"
#include <inttypes.h>
#include <math.h>

#define WIDTH 720.0
#define WIDTH_NARROW 360.0 /* of the drawing for narrow pages: its letters are as large there */
#define PLOT_HEIGHT 300.0
#define PLOT_HEIGHT_NARROW 240.0
#define BOTTOM 52.0
#define TOP_ALONE 40.0 /* of the plot, where no legend is above it */
#define TOP_ROWS 8.0
#define LEGEND_TOP 16.0
#define LEGEND_ROW 20.0
#define SAMPLE_WIDTH 26.0  /* of the line beside a label */
#define READING_PIXELS 1.5 /* points closer than this are read as one */

/* What a drawing is for. A page has two, and shows the one that its width asks for. */
enum use { IN_FILE, ON_PAGE, ON_NARROW_PAGE };

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

/* Curves and points take the styles from the first on, lines to compare with from the last. */
uint32_t figure_style_of(const struct tacit_report_figure *figure, uint32_t index)
{
    TACIT_ASSERT(index < figure->series_count);
    uint32_t later = 0;
    for (uint32_t i = index + 1; i < figure->series_count; i++)
        later += figure->series[i].is_reference ? 1 : 0;
    return figure->series[index].is_reference ? (STYLES - 1 - later % STYLES) : index % STYLES;
}

/* class="s1" and the colour that it stands for. */
void figure_put_style(FILE *out, uint32_t style)
{
    TACIT_ASSERT(style < STYLES);
    const char *const colour = report_colour(REPORT_SERIES + style);
    (void)fprintf(out, "class=\"s%u\" stroke=\"%s\" fill=\"%s\"", style, colour, colour);
}

void figure_put_dashes(FILE *out, uint32_t style)
{
    TACIT_ASSERT(style < STYLES);
    if (dashes[style] != NULL)
        (void)fprintf(out, " stroke-dasharray=\"%s\"", dashes[style]);
}

/* ---- Legend ---- */

#define SAMPLE_ROOM (SAMPLE_WIDTH + 8)
#define LABEL_ROOM (WIDTH - SAMPLE_ROOM - 2 * FIGURE_EDGE)
#define KEY_BYTES 300u

/* A reference line ends where it leaves the figure. */
static bool is_inside(const struct frame *frame, const struct tacit_report_series *series,
                      uint32_t point)
{
    TACIT_ASSERT(point < series->count);
    double const hi = frame->is_rows ? frame->x.hi : frame->y.hi;
    return figure_is_drawn(frame->figure, series->x[point], series->y[point]) &&
           (!series->is_reference || series->y[point] <= hi);
}

bool figure_is_shown(const struct frame *frame, uint32_t index)
{
    const struct tacit_report_series *const series = &frame->figure->series[index];
    uint32_t inside = 0;
    for (uint32_t point = 0; point < series->count && inside == 0; point++)
        inside += is_inside(frame, series, point) ? 1 : 0;
    return !series->is_reference || inside > 0;
}

/* Rows have their names beside them. */
static bool has_entry(const struct frame *frame, uint32_t index)
{
    return figure_is_shown(frame, index) &&
           (!frame->is_rows || frame->figure->series[index].is_reference);
}

/* What a series looks like: a piece of its line, or a point; from (x, y) to the right. */
static void put_sample(FILE *out, const struct tacit_report_figure *figure, uint32_t index,
                       double x, double y)
{
    const struct tacit_report_series *const series = &figure->series[index];
    uint32_t const style = figure_style_of(figure, index);
    if (series->names == NULL)
        (void)fprintf(out,
                      "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke-width=\"2\" ",
                      x, y, x + SAMPLE_WIDTH, y);
    else
        (void)fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" ", x + SAMPLE_WIDTH / 2, y);
    figure_put_style(out, style);
    if (series->names == NULL)
        figure_put_dashes(out, style);
    (void)fputs("/>", out);
}

/* Where the next entry of the legend stands. */
struct cursor {
    double x;
    uint32_t row;
};

/* A label behind its sample, if it has one (index < series_count), on the next row where this one
 * is full; written if the frame has a stream. */
static void put_entry(const struct frame *frame, struct cursor *cursor, uint32_t index,
                      const char *label)
{
    bool const has_sample = index < frame->figure->series_count;
    double const before = has_sample ? SAMPLE_ROOM : 0;
    uint32_t const count = report_fitting(label, FIGURE_LABEL_CHARACTERS, LABEL_ROOM);
    double const width = before + report_pixels(label, count);
    if (cursor->x > FIGURE_EDGE && cursor->x + width > WIDTH - FIGURE_EDGE)
        *cursor = (struct cursor){FIGURE_EDGE, cursor->row + 1};
    double const y = LEGEND_TOP + cursor->row * LEGEND_ROW;
    if (frame->out != NULL && has_sample)
        put_sample(frame->out, frame->figure, index, cursor->x, y - 4);
    if (frame->out != NULL) {
        (void)fprintf(frame->out, "<text x=\"%.1f\" y=\"%.1f\">", cursor->x + before, y);
        figure_put_fitting(frame->out, label, LABEL_ROOM);
        (void)fputs("</text>\n", frame->out);
    }
    cursor->x += width + 2 * FIGURE_EDGE;
}

/* What the numbers beside points stand for: the next one from (*series, *point) on. */
static const char *next_key(const struct frame *frame, uint32_t *series, uint32_t *point)
{
    for (; *series < frame->figure->series_count; ++*series, *point = 0)
        for (; *point < frame->figure->series[*series].count; ++*point)
            if (figure_is_named(frame, &frame->figure->series[*series], *point))
                return frame->figure->series[*series].names[(*point)++];
    return NULL;
}

/* Writes the entries row by row if the frame has a stream; the rows that they take. */
static uint32_t lay_legend(const struct frame *frame)
{
    struct cursor cursor = {FIGURE_EDGE, 0};
    uint32_t number = 0;
    uint32_t series = 0;
    uint32_t point = 0;
    for (uint32_t i = 0; i < frame->figure->series_count; i++)
        if (has_entry(frame, i))
            put_entry(frame, &cursor, i, frame->figure->series[i].label);
    const char *name = frame->has_keys ? next_key(frame, &series, &point) : NULL;
    if (name != NULL && cursor.x > FIGURE_EDGE)
        cursor = (struct cursor){FIGURE_EDGE, cursor.row + 1};
    for (; name != NULL; name = next_key(frame, &series, &point)) {
        char label[KEY_BYTES];
        (void)snprintf(label, sizeof label, "%" PRIu32 "  %.280s", ++number, name);
        put_entry(frame, &cursor, UINT32_MAX, label);
    }
    return cursor.row + (cursor.x > FIGURE_EDGE ? 1 : 0);
}

/* The numbers of points, in the drawings that have them. */
static void put_keys(const struct frame *frame, const char *style, FILE *out)
{
    uint32_t number = 0;
    uint32_t series = 0;
    uint32_t point = 0;
    const char *name;
    while ((name = next_key(frame, &series, &point)) != NULL) {
        html_put(out, "<li%-s><b>%u</b> <span>%s</span></li>\n", style, ++number, name);
    }
}

/* The same as a list of the page, whose text breaks where the page is narrow. */
static void put_legend_list(const struct frame *broad, const struct frame *narrow, FILE *out)
{
    const struct tacit_report_figure *const figure = broad->figure;
    bool has_any = broad->has_keys || narrow->has_keys;
    for (uint32_t i = 0; i < figure->series_count; i++)
        has_any = has_any || has_entry(broad, i);
    if (!has_any)
        return;
    (void)fputs("<ul class=\"legend\">", out);
    for (uint32_t i = 0; i < figure->series_count; i++) {
        if (!has_entry(broad, i))
            continue;
        (void)fprintf(out, "<li><svg width=\"%.0f\" height=\"10\" aria-hidden=\"true\">",
                      SAMPLE_WIDTH);
        put_sample(out, figure, i, 0, 5);
        html_put(out, "</svg><span>%s</span></li>\n", figure->series[i].label);
    }
    if (broad->has_keys || narrow->has_keys)
        put_keys(narrow,
                 broad->has_keys && narrow->has_keys ? ""
                 : broad->has_keys                   ? " class=\"broad\""
                                                     : " class=\"narrow\"",
                 out);
    (void)fputs("</ul>\n", out);
}

/* ---- Curves and points ---- */

static void put_vertex(const struct frame *frame, double x, double y)
{
    (void)fprintf(frame->out, "%.1f,%.1f ", figure_x(frame, x), figure_y(frame, y));
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
                 figure_is_drawn(frame->figure, series->x[i], series->y[i]))
            put_exit(frame, series, i - 1);
    }
    (void)fputs("\"/>", frame->out);
}

static void put_band(const struct frame *frame, const struct tacit_report_series *series)
{
    (void)fputs("<polygon stroke=\"none\" fill-opacity=\".16\" points=\"", frame->out);
    for (uint32_t i = 0; i < series->count; i++)
        if (figure_is_drawn(frame->figure, series->x[i], series->y[i]))
            put_vertex(frame, series->x[i], figure_top_of(series, i));
    for (uint32_t i = series->count; i-- > 0;)
        if (figure_is_drawn(frame->figure, series->x[i], series->y[i]))
            put_vertex(frame, series->x[i], figure_bottom_of(series, i));
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
    figure_put_dashes(frame->out, figure_style_of(frame->figure, index));
    put_vertices(frame, series);
}

static void put_point(struct frame *frame, const struct tacit_report_series *series, uint32_t index)
{
    figure_put_interval(frame, series, index);
    (void)fprintf(frame->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"><title>",
                  figure_x(frame, series->x[index]), figure_y(frame, series->y[index]));
    figure_put_text(frame->out, series->names[index]);
    html_put(frame->out, ": %.5g, %.5g \xc2\xb1 %.3g</title></circle>", series->x[index],
             series->y[index], figure_half_of(series, index));
}

/* "name: 12.3 ± 0.4 at the end" */
static void put_series_title(const struct frame *frame, const struct tacit_report_series *series)
{
    (void)fputs("<title>", frame->out);
    figure_put_text(frame->out, series->label);
    if (series->names == NULL && series->count > 0) {
        uint32_t const last = series->count - 1;
        html_put(frame->out, ": %.5g", series->y[last]);
        if (series->lo != NULL)
            html_put(frame->out, ", %.3g to %.3g", series->lo[last], series->hi[last]);
        else if (series->ci95 != NULL)
            html_put(frame->out, " \xc2\xb1 %.3g", series->ci95[last]);
        (void)fputs(" at the end", frame->out);
    }
    (void)fputs("</title>", frame->out);
}

static void put_points(struct frame *frame, const struct tacit_report_series *series)
{
    if (figure_is_joined(series)) {
        (void)fputs("<polyline fill=\"none\" stroke-width=\"1\" stroke-opacity=\".55\"",
                    frame->out);
        put_vertices(frame, series);
        (void)fputc('\n', frame->out);
    }
    for (uint32_t i = 0; i < series->count; i++)
        if (figure_is_marked(frame->figure, series, i))
            put_point(frame, series, i);
}

static void put_series(struct frame *frame, uint32_t index)
{
    const struct tacit_report_series *const series = &frame->figure->series[index];
    (void)fputs("<g ", frame->out);
    figure_put_style(frame->out, figure_style_of(frame->figure, index));
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
            (figure_x(frame, series->x[i]) >= x + READING_PIXELS || i + 1 == series->count))
            return i;
    return series->count;
}

/* "t = 1,000:  12 ± 3" right of what the axis says. */
static void put_reading(const struct frame *frame, const struct tacit_report_series *series,
                        uint32_t index)
{
    struct report_number const x = report_rounded(series->x[index], 5);
    struct report_number const y = report_rounded(series->y[index], 5);
    struct report_number const half = report_rounded(figure_half_of(series, index), 3);
    double const taken = figure_label_pixels(frame->figure->y_label, frame->figure->y_is_log) +
                         figure_pixels(x.text) + figure_pixels(y.text) + figure_pixels(half.text) +
                         figure_pixels(" = :   \xc2\xb1 ");
    figure_put_fitting(frame->out, frame->figure->x_label,
                       frame->width - FIGURE_RIGHT - 2 * FIGURE_EDGE - taken);
    (void)fprintf(frame->out, " = %s:  %s", x.text, y.text);
    if (figure_half_of(series, index) > 0)
        (void)fprintf(frame->out, " \xc2\xb1 %s", half.text);
}

/* A strip around one point: pointing at it shows the guide, the dot and the numbers. */
static void put_strip(const struct frame *frame, const struct tacit_report_series *series,
                      uint32_t index, double from, double to)
{
    double const x = figure_x(frame, series->x[index]);
    (void)fprintf(frame->out,
                  "<g class=\"pt\"><rect fill=\"none\" pointer-events=\"all\" x=\"%.1f\" "
                  "y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                  from, frame->top, fmax(to - from, 0.0), frame->bottom - frame->top);
    figure_put_line(frame, "show guide", REPORT_AXIS, x, frame->top, x, frame->bottom);
    (void)fputs("<circle class=\"show s0\" stroke=\"none\" ", frame->out);
    (void)fprintf(frame->out, "cx=\"%.1f\" cy=\"%.1f\" r=\"5.5\"/>", x,
                  figure_y(frame, series->y[index]));
    (void)fprintf(frame->out,
                  "<text class=\"show read\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">",
                  frame->width - FIGURE_RIGHT, frame->top - 18);
    put_reading(frame, series, index);
    (void)fputs("</text></g>\n", frame->out);
}

static void put_readings(const struct frame *frame, const struct tacit_report_series *series)
{
    double from = frame->left;
    uint32_t at = next_reading(frame, series, 0, -INFINITY);
    while (at < series->count) {
        double const x = figure_x(frame, series->x[at]);
        uint32_t const next = next_reading(frame, series, at + 1, x);
        double const to =
            next == series->count ? frame->width : (x + figure_x(frame, series->x[next])) / 2.0;
        put_strip(frame, series, at, from, to);
        from = to;
        at = next;
    }
}

/* ---- The whole ---- */

static void put_head(const struct frame *frame, enum use use)
{
    static const char *const classes[] = {"fig", "fig broad", "fig narrow"};
    double const height = frame->bottom + BOTTOM;
    (void)fprintf(frame->out, "<svg class=\"%s\"", classes[use]);
    if (use == IN_FILE)
        (void)fprintf(frame->out,
                      " xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\"",
                      frame->width, height);
    (void)fprintf(frame->out, " viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", frame->width,
                  height);
    figure_put_text(frame->out, frame->figure->title);
    (void)fprintf(frame->out,
                  "\" font-family=\"%ssans-serif\" font-size=\"13\" fill=\"%s\">\n<title>",
                  use == IN_FILE ? "" : "system-ui,", report_colour(REPORT_SOFT));
    figure_put_text(frame->out, frame->figure->title);
    (void)fputs("</title>\n", frame->out);
    if (use == IN_FILE)
        (void)fprintf(frame->out, "<rect width=\"%.0f\" height=\"%.0f\" fill=\"%s\"/>\n",
                      frame->width, height, report_colour(REPORT_CARD));
}

/* Where everything is; nothing is written yet. */
static void lay_out(struct frame *frame, const struct tacit_report_figure *figure, enum use use)
{
    *frame =
        (struct frame){.figure = figure, .width = use == ON_NARROW_PAGE ? WIDTH_NARROW : WIDTH};
    figure_fit(frame);
    double const height = frame->is_rows          ? figure_rows_height(frame)
                          : use == ON_NARROW_PAGE ? PLOT_HEIGHT_NARROW
                                                  : PLOT_HEIGHT;
    frame->top = TOP_ALONE;
    frame->bottom = frame->top + height;
    figure_put_names(frame);
    if (use == IN_FILE)
        frame->top = LEGEND_TOP + lay_legend(frame) * LEGEND_ROW + (frame->is_rows ? 0 : 26);
    else if (frame->is_rows)
        frame->top = TOP_ROWS;
    frame->bottom = frame->top + height;
}

static void draw(struct frame *frame, FILE *out, enum use use)
{
    const struct tacit_report_figure *const figure = frame->figure;
    frame->out = out;
    put_head(frame, use);
    if (use == IN_FILE)
        (void)lay_legend(frame);
    if (frame->is_rows)
        figure_put_rows(frame);
    else
        figure_put_axes(frame);
    for (uint32_t i = figure->series_count; i-- > 0 && !frame->is_rows;)
        if (figure_is_shown(frame, i))
            put_series(frame, i); /* the first lies above the others */
    figure_put_names(frame);
    if (use == ON_PAGE && figure->series_count > 0 && figure->series[0].names == NULL &&
        (figure->series_count == 1 || figure->series[1].is_reference))
        put_readings(frame, &figure->series[0]);
    (void)fputs("</svg>\n", out);
}

void report_figure_draw(const struct tacit_report_figure *figure, FILE *out)
{
    struct frame broad;
    struct frame narrow;
    lay_out(&broad, figure, ON_PAGE);
    lay_out(&narrow, figure, ON_NARROW_PAGE);
    (void)fputs("<div class=\"chart\" role=\"group\" aria-label=\"", out);
    figure_put_text(out, figure->title);
    (void)fputs("\">", out);
    draw(&broad, out, ON_PAGE);
    draw(&narrow, out, ON_NARROW_PAGE);
    (void)fputs("</div>\n", out);
    put_legend_list(&broad, &narrow, out);
}

enum tacit_status tacit_report_figure_svg(const struct tacit_report_figure *figure, FILE *out)
{
    TACIT_ASSERT(figure != NULL);
    TACIT_IMPLIES(figure->series_count > 0, figure->series != NULL);
    locale_t const before = report_locale_enter();
    struct frame frame;
    lay_out(&frame, figure, IN_FILE);
    draw(&frame, out, IN_FILE);
    enum tacit_status const status = report_finish(out);
    report_locale_leave(before);
    return status;
}
