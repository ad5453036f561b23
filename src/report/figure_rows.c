/* Intervals of points, and a figure of rows: what is of a kind each stands below one another, its
 * name in full above its point. */
#include "figure.h"
#include <math.h>
#include <string.h>

#define STUB 16.0  /* of an interval that goes on beyond the figure */
#define HEAD 5.0   /* of its arrow */
#define LINE 16.0  /* of a name */
#define BELOW 20.0 /* a name: its point */
#define LINES_MAX 3u
#define NAME_BYTES 400u

/* ---- Intervals ---- */

/* From a point to the ends of its interval, in pixels. An end that is beyond the plot is open. */
struct interval {
    bool is_upright;
    double across; /* x of an upright one, y of a level one */
    double at;     /* the point */
    double ends[2];
};

static void put_segment(const struct frame *frame, const struct interval *interval)
{
    double const *const ends = interval->ends;
    double const across = interval->across;
    bool const is_upright = interval->is_upright;
    (void)fprintf(frame->out,
                  "<line stroke-width=\"1.4\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
                  is_upright ? across : ends[0], is_upright ? ends[0] : across,
                  is_upright ? across : ends[1], is_upright ? ends[1] : across);
}

/* The head of an arrow: the interval goes on. */
static void put_head(const struct frame *frame, const struct interval *interval, size_t end)
{
    double const at = interval->ends[end];
    double const back = at - copysign(HEAD, at - interval->at);
    (void)fputs("<polyline fill=\"none\" stroke-width=\"1.4\" points=\"", frame->out);
    for (int side = -1; side <= 1; side++) {
        double const across = interval->across + side * HEAD * 0.7;
        double const along = side == 0 ? at : back;
        (void)fprintf(frame->out, "%.1f,%.1f ", interval->is_upright ? across : along,
                      interval->is_upright ? along : across);
    }
    (void)fputs("\"/>", frame->out);
}

bool figure_interval_ends(const struct frame *frame, const struct tacit_report_series *series,
                          uint32_t point, double ends[2], bool is_open[2])
{
    TACIT_ASSERT(point < series->count);
    const struct report_axis *const axis = frame->is_rows ? &frame->x : &frame->y;
    double const values[] = {figure_bottom_of(series, point), figure_top_of(series, point)};
    double const at = figure_value(frame, series->y[point]);
    is_open[0] = !(values[0] >= axis->lo);
    is_open[1] = !(values[1] <= axis->hi);
    double const least = frame->is_rows ? frame->left : frame->top;
    double const most = frame->is_rows ? frame->width - FIGURE_RIGHT : frame->bottom;
    for (size_t end = 0; end < 2; end++) {
        double const way = (end == 1) == frame->is_rows ? STUB : -STUB;
        ends[end] =
            is_open[end] ? fmin(fmax(at + way, least), most) : figure_value(frame, values[end]);
    }
    return values[0] < values[1];
}

void figure_put_interval(const struct frame *frame, const struct tacit_report_series *series,
                         uint32_t point)
{
    bool is_open[2];
    struct interval interval = {.is_upright = !frame->is_rows};
    interval.across = frame->is_rows ? frame->row : figure_x(frame, series->x[point]);
    interval.at = figure_value(frame, series->y[point]);
    if (!figure_interval_ends(frame, series, point, interval.ends, is_open))
        return;
    put_segment(frame, &interval);
    for (size_t end = 0; end < 2; end++)
        if (is_open[end])
            put_head(frame, &interval, end);
}

/* ---- Rows ---- */

struct row {
    const struct tacit_report_series *series;
    uint32_t series_index;
    uint32_t point;
    const char *name;
};

/* The next point that can be drawn, from *row on; false: there is none. */
static bool next_row(const struct frame *frame, struct row *row)
{
    const struct tacit_report_figure *const figure = frame->figure;
    for (; row->series_index < figure->series_count; row->series_index++, row->point = 0) {
        row->series = &figure->series[row->series_index];
        for (; !row->series->is_reference && row->point < row->series->count; row->point++)
            if (figure_is_marked(figure, row->series, row->point)) {
                bool const is_alone = !figure->is_rows && row->series->count == 1;
                row->name = is_alone ? row->series->label : row->series->names[row->point];
                return true;
            }
    }
    return false;
}

struct value_text {
    char text[3 * REPORT_NUMBER_BYTES];
};

static struct value_text value_of(const struct row *row)
{
    struct value_text value;
    double const half = figure_half_of(row->series, row->point);
    (void)snprintf(value.text, sizeof value.text, "%s%s%s",
                   report_rounded(row->series->y[row->point], 4).text, half > 0 ? " \xc2\xb1 " : "",
                   half > 0 ? report_rounded(half, 2).text : "");
    return value;
}

/* Bytes of the first line of a name: as many words as there is room for, one at least. */
static size_t first_line(const char *name, double room)
{
    size_t best = 0;
    uint32_t characters = 0;
    for (size_t at = 0; name[at] != '\0';) {
        size_t const word = at + strcspn(name + at, " ");
        characters += tacit_text_characters(name + at, word - at);
        if (best > 0 && report_pixels(name, characters) > room)
            return best;
        best = word;
        at = word + strspn(name + word, " ");
        characters += (uint32_t)(at - word);
    }
    return best;
}

/* Writes the lines of a name where there is a stream; how many. */
static uint32_t put_name(FILE *out, const char *name, double y, double room)
{
    uint32_t line = 0;
    while (*name != '\0' && line < LINES_MAX) {
        char part[NAME_BYTES];
        size_t const size = line + 1 < LINES_MAX ? first_line(name, room) : strlen(name);
        (void)snprintf(part, sizeof part, "%.*s", (int)(size < NAME_BYTES ? size : NAME_BYTES - 1),
                       name);
        if (out != NULL) {
            (void)fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", FIGURE_EDGE, y + line * LINE);
            report_put_start(out, part, REPORT_HTML, report_fitting(part, NAME_BYTES, room));
            (void)fputs("</text>\n", out);
        }
        name += size + strspn(name + size, " ");
        line++;
    }
    return line;
}

/* For the first line of a name, left of its value. */
static double room_of(const struct frame *frame, const struct value_text *value)
{
    return frame->width - 3 * FIGURE_EDGE - figure_pixels(value->text);
}

/* Of the name's lines and the point below. */
static double height_of(const struct frame *frame, const struct row *row)
{
    struct value_text const value = value_of(row);
    return LINE * put_name(NULL, row->name, 0, room_of(frame, &value)) + BELOW;
}

/* Its name from y on, and its point below. */
static void put_row(struct frame *frame, const struct row *row, double y)
{
    struct value_text const value = value_of(row);
    double const line = y + LINE - 4;
    frame->row = y + height_of(frame, row) - BELOW + 8;
    (void)put_name(frame->out, row->name, line, room_of(frame, &value));
    (void)fprintf(frame->out,
                  "<text class=\"read\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                  frame->width - FIGURE_EDGE, line, value.text);
    (void)fputs("<g ", frame->out);
    figure_put_style(frame->out, figure_style_of(frame->figure, row->series_index));
    (void)fputc('>', frame->out);
    figure_put_interval(frame, row->series, row->point);
    (void)fprintf(frame->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"><title>",
                  figure_value(frame, row->series->y[row->point]), frame->row);
    figure_put_text(frame->out, row->name);
    (void)fprintf(frame->out, ": %s</title></circle></g>\n", value.text);
}

/* The axis' lines and level lines to compare with stand upright here, from top to bottom of a
 * point's part of its row: the texts are free of them. */
static void put_uprights(const struct frame *frame, double top, double bottom)
{
    for (uint32_t i = 0; i < frame->x.tick_count; i++) {
        double const x = figure_x(frame, frame->x.ticks[i]);
        figure_put_line(frame, "grid", REPORT_LINE, x, top, x, bottom);
    }
    for (uint32_t i = 0; i < frame->figure->series_count; i++) {
        if (!frame->figure->series[i].is_reference || !figure_is_shown(frame, i))
            continue;
        double const x = figure_value(frame, frame->figure->series[i].y[0]);
        (void)fputs("<g ", frame->out);
        figure_put_style(frame->out, figure_style_of(frame->figure, i));
        (void)fprintf(frame->out,
                      "><line stroke-width=\"1.5\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                      "y2=\"%.1f\"/></g>\n",
                      x, top, x, bottom);
    }
}

double figure_rows_height(const struct frame *frame)
{
    struct row row = {.series_index = 0};
    double height = 0;
    for (; next_row(frame, &row); row.point++)
        height += height_of(frame, &row);
    return height;
}

void figure_put_rows(struct frame *frame)
{
    TACIT_ASSERT(frame->is_rows);
    TACIT_ASSERT(frame->out != NULL);
    struct row row = {.series_index = 0};
    double y = frame->top;
    figure_put_horizontal_axis(frame, frame->figure->y_label, frame->figure->y_is_log);
    for (; next_row(frame, &row); row.point++) {
        double const height = height_of(frame, &row);
        put_uprights(frame, y + height - BELOW, y + height - 4);
        put_row(frame, &row, y);
        y += height;
    }
}
