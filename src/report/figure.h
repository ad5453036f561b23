/* A figure, inside: where its things are, for the files that draw it: axes (figure_axis.c), names
 * of points (figure_names.c), rows (figure_rows.c), and all of it (figure.c). */
#ifndef TACIT_REPORT_FIGURE_H
#define TACIT_REPORT_FIGURE_H
#include "internal.h"

#define FIGURE_RIGHT 20.0 /* free at the right of the plot */
#define FIGURE_EDGE 8.0   /* free at the left and right of texts */
#define FIGURE_LABEL_CHARACTERS 60u
#define FIGURE_BOXES_MAX 512u /* beyond it things may lie on one another */

/* Where something is that no name may lie on. */
struct figure_box {
    double left;
    double top;
    double right;
    double bottom;
};

struct frame {
    const struct tacit_report_figure *figure;
    struct report_axis x; /* of rows: the values */
    struct report_axis y;
    double width; /* of everything */
    double left;  /* of the plot, beside the numbers */
    double top;   /* of the plot, below the legend */
    double bottom;
    double row;  /* of rows: where the point that is drawn stands */
    double zero; /* width left of a logarithmic x for points at 0; 0: there are none */
    FILE *out;
    bool is_rows;
    bool has_keys; /* names of points do not fit beside them: numbers, which the legend explains */
    uint32_t box_count;
    struct figure_box boxes[FIGURE_BOXES_MAX];
};

/* ---- Axes (figure_axis.c) ---- */

/* Is the point finite, and where a logarithmic axis reaches? */
bool figure_is_drawn(const struct tacit_report_figure *figure, double x, double y);

/* The same of a point, which has a mark at 0 of a logarithmic x, too: left of it, where the axis is
 * broken. */
bool figure_is_marked(const struct tacit_report_figure *figure,
                      const struct tacit_report_series *series, uint32_t point);

/* Of a point's interval: half of it, its ends. */
double figure_half_of(const struct tacit_report_series *series, uint32_t point);
double figure_top_of(const struct tacit_report_series *series, uint32_t point);
double figure_bottom_of(const struct tacit_report_series *series, uint32_t point);

/* Sets is_rows, both axes and the left of the plot. Values decide; intervals and lines to compare
 * with widen an axis a little, beyond that they leave the figure. */
void figure_fit(struct frame *frame);

/* Where a value stands, in pixels. Requires: figure_fit. */
double figure_x(const struct frame *frame, double value);
double figure_y(const struct frame *frame, double value);

/* Where what is measured stands: along x in rows, else along y. */
double figure_value(const struct frame *frame, double value);

/* How wide a text is, about: no font is asked. */
double figure_pixels(const char *text);
/* Escaped, and cut to FIGURE_LABEL_CHARACTERS; the second also to so many pixels. */
void figure_put_text(FILE *out, const char *text);
void figure_put_fitting(FILE *out, const char *text, double room);

/* A line of the frame, in a colour of the palette. */
void figure_put_line(const struct frame *frame, const char *style, enum report_colour colour,
                     double x1, double y1, double x2, double y2);
/* An axis' label, with what is said of a logarithmic one. */
double figure_label_pixels(const char *label, bool is_log);
void figure_put_axes(const struct frame *frame);
void figure_put_horizontal_axis(const struct frame *frame, const char *label, bool is_log);

/* ---- Names of points (figure_names.c) ---- */

/* Has the point a name that says more than where it is? */
bool figure_is_named(const struct frame *frame, const struct tacit_report_series *series,
                     uint32_t point);

/* Does a line join the points? They are a number's values, in order. */
bool figure_is_joined(const struct tacit_report_series *series);

/* Writes them, none on another or on a point; decides has_keys where there is no stream. */
void figure_put_names(struct frame *frame);

/* ---- Intervals and rows (figure_rows.c) ---- */

/* An end that is beyond the plot is a short piece with the head of an arrow: bars from top to
 * bottom say nothing. */
void figure_put_interval(const struct frame *frame, const struct tacit_report_series *series,
                         uint32_t point);

/* Where its drawn ends are, in pixels, and which of them are such pieces. Whether there is any. */
bool figure_interval_ends(const struct frame *frame, const struct tacit_report_series *series,
                          uint32_t point, double ends[2], bool is_open[2]);

/* Points as rows, one below the other: how high they are, and they. Requires: is_rows. */
double figure_rows_height(const struct frame *frame);
void figure_put_rows(struct frame *frame);

/* ---- Series (figure.c) ---- */

/* A line to compare with that lies wholly above the figure is not, and the legend does not name it.
 */
bool figure_is_shown(const struct frame *frame, uint32_t index);

/* The colour and dashes of a series: its own in order, references from the last one back, so that
 * neither moves when there is more of the other. As attributes of SVG. */
uint32_t figure_style_of(const struct tacit_report_figure *figure, uint32_t index);
void figure_put_style(FILE *out, uint32_t style);
void figure_put_dashes(FILE *out, uint32_t style);
#endif
