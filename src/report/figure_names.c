/* Names beside the points of a figure: each where there is room for it. Where there is none for one
 * of them, all are numbers, which the legend explains. */
#include "figure.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define APART 9.0   /* of a name and its point */
#define ASCENT 11.0 /* of a name above its line */
#define DESCENT 3.5 /* and below */
#define POINT 5.0   /* half of a point */
#define RINGS 6u    /* a number may stand further away, with a line to its point */
#define RING 12.0
#define DIRECTIONS 16u

/* ---- Which names there are ---- */

/* Is the name the number that the axis shows? */
static bool is_axis_number(const char *name, double x)
{
    char *end;
    double const value = strtod(name, &end);
    return end != name && *end == '\0' && fabs(value - x) <= 1e-6 * fabs(x);
}

bool figure_is_named(const struct frame *frame, const struct tacit_report_series *series,
                     uint32_t point)
{
    TACIT_ASSERT(point < series->count);
    return series->names != NULL && !frame->is_rows &&
           figure_is_marked(frame->figure, series, point) &&
           !is_axis_number(series->names[point], series->x[point]);
}

/* "R = 2", "D 500", "0.1": a value of a number, and not a kind. */
static bool is_value(const char *name)
{
    size_t const size = strlen(name);
    return size > 0 && isdigit((unsigned char)name[size - 1]) != 0;
}

bool figure_is_joined(const struct tacit_report_series *series)
{
    TACIT_ASSERT(series->names != NULL);
    bool rises = true;
    bool falls = true;
    for (uint32_t i = 0; i < series->count; i++) {
        if (!is_value(series->names[i]))
            return false;
        rises = rises && (i == 0 || series->x[i] > series->x[i - 1]);
        falls = falls && (i == 0 || series->x[i] < series->x[i - 1]);
    }
    return series->count > 1 && (rises || falls);
}

/* ---- Room ---- */

/* Beyond FIGURE_BOXES_MAX a box is forgotten: a later name may lie on it. */
static void occupy(struct frame *frame, struct figure_box box)
{
    TACIT_ASSERT(frame->box_count <= FIGURE_BOXES_MAX);
    if (frame->box_count < FIGURE_BOXES_MAX)
        frame->boxes[frame->box_count++] = box;
}

static bool is_free(const struct frame *frame, const struct figure_box *box)
{
    if (box->left < frame->left - 2 || box->right > frame->width - 2 ||
        box->top < frame->top - ASCENT || box->bottom > frame->bottom)
        return false;
    for (uint32_t i = 0; i < frame->box_count; i++) {
        const struct figure_box *const other = &frame->boxes[i];
        if (box->left < other->right && box->right > other->left && box->top < other->bottom &&
            box->bottom > other->top)
            return false;
    }
    return true;
}

/* An interval, which no name should lie on either. */
static void occupy_interval(struct frame *frame, const struct tacit_report_series *series,
                            uint32_t point)
{
    double ends[2];
    bool is_open[2];
    double const x = figure_x(frame, series->x[point]);
    if (figure_interval_ends(frame, series, point, ends, is_open))
        occupy(frame, (struct figure_box){x - 2, ends[1], x + 2, ends[0]});
}

/* The points are there first, so that no name lies on one. */
static void occupy_points(struct frame *frame)
{
    frame->box_count = 0;
    for (uint32_t i = 0; i < frame->figure->series_count; i++) {
        const struct tacit_report_series *const series = &frame->figure->series[i];
        for (uint32_t point = 0; series->names != NULL && point < series->count; point++) {
            double const x = figure_x(frame, series->x[point]);
            double const y = figure_y(frame, series->y[point]);
            if (!figure_is_marked(frame->figure, series, point))
                continue;
            occupy(frame, (struct figure_box){x - POINT, y - POINT, x + POINT, y + POINT});
            occupy_interval(frame, series, point);
        }
    }
}

/* A text whose line begins at (left, line). */
static struct figure_box box_of(double left, double line, double width)
{
    return (struct figure_box){left, line - ASCENT, left + width, line + DESCENT};
}

/* Beside the point, right before left, or above or below it. */
static bool place_beside(const struct frame *frame, double x, double y, double width,
                         struct figure_box *box)
{
    TACIT_ASSERT(width >= 0);
    static const double lines[] = {-5, 4.5, 14, -12, 21};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        *box = box_of(x + APART, y + lines[i], width);
        if (is_free(frame, box))
            return true;
        *box = box_of(x - APART - width, y + lines[i], width);
        if (is_free(frame, box))
            return true;
    }
    *box = box_of(x - width / 2, y - APART, width);
    if (is_free(frame, box))
        return true;
    *box = box_of(x - width / 2, y + APART + ASCENT, width);
    return is_free(frame, box);
}

/* Around the point, the nearer the better. */
static bool place_around(const struct frame *frame, double x, double y, double width,
                         struct figure_box *box)
{
    double const turn = 2 * 3.14159265358979323846 / DIRECTIONS;
    for (uint32_t ring = 2; ring < RINGS; ring++)
        for (uint32_t i = 0; i < DIRECTIONS; i++) {
            double const angle = turn * i;
            *box = box_of(x + ring * RING * cos(angle) - width / 2,
                          y + ring * RING * sin(angle) + ASCENT / 2, width);
            if (is_free(frame, box))
                return true;
        }
    return false;
}

/* ---- Writing them ---- */

static void put_name(const struct frame *frame, const struct figure_box *box, const char *name)
{
    (void)fprintf(frame->out, "<text stroke=\"none\" fill=\"%s\" x=\"%.1f\" y=\"%.1f\">",
                  report_colour(REPORT_SOFT), box->left, box->bottom - DESCENT);
    figure_put_text(frame->out, name);
    (void)fputs("</text>\n", frame->out);
}

/* From the point to the number that is not beside it. */
static void put_leader(const struct frame *frame, double x, double y, const struct figure_box *box)
{
    figure_put_line(frame, "axis", REPORT_AXIS, x, y, fmin(fmax(x, box->left), box->right),
                    fmin(fmax(y, box->top), box->bottom));
}

/* Writes if the frame has a stream. False: there was no room. */
static bool put_beside(struct frame *frame, const struct tacit_report_series *series,
                       uint32_t point, const char *name)
{
    double const x = figure_x(frame, series->x[point]);
    double const y = figure_y(frame, series->y[point]);
    double const width =
        report_pixels(name, report_fitting(name, FIGURE_LABEL_CHARACTERS, INFINITY));
    struct figure_box box;
    bool const is_beside = place_beside(frame, x, y, width, &box);
    if (!is_beside && !(frame->has_keys && place_around(frame, x, y, width, &box)))
        return false;
    occupy(frame, box);
    if (frame->out != NULL && !is_beside)
        put_leader(frame, x, y, &box);
    if (frame->out != NULL)
        put_name(frame, &box, name);
    return true;
}

/* Places all names, or their numbers (has_keys). False: there was no room for one at least. */
static bool put_all(struct frame *frame)
{
    uint32_t number = 0;
    bool have_room = true;
    occupy_points(frame);
    for (uint32_t i = 0; i < frame->figure->series_count; i++) {
        const struct tacit_report_series *const series = &frame->figure->series[i];
        for (uint32_t point = 0; point < series->count; point++) {
            char key[16];
            if (!figure_is_named(frame, series, point))
                continue;
            (void)snprintf(key, sizeof key, "%" PRIu32, ++number);
            have_room =
                put_beside(frame, series, point, frame->has_keys ? key : series->names[point]) &&
                have_room;
        }
    }
    return have_room;
}

void figure_put_names(struct frame *frame)
{
    if (frame->is_rows)
        return; /* they have their names above them */
    bool const have_room = put_all(frame);
    if (frame->out == NULL)
        frame->has_keys = !have_room;
}
