/* The curve on the page: an SVG drawn by hand, with its numbers on hover and no script. */
#include "internal.h"
#include <math.h>

#define WIDTH 984.0
#define HEIGHT 412.0
#define LEFT 66.0
#define RIGHT 22.0
#define TOP 46.0
#define BOTTOM 52.0
#define PIXELS_BETWEEN_POINTS 1.5

static double x_of(const struct report_line *line, double t)
{
    return LEFT + report_axis_place(&line->x, t) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct report_line *line, double value)
{
    return HEIGHT - BOTTOM - report_axis_place(&line->y, value) * (HEIGHT - TOP - BOTTOM);
}

static void put_axes(const struct report_line *line, FILE *out)
{
    double const floor_y = HEIGHT - BOTTOM;
    for (uint32_t i = 0; i < line->y.tick_count; i++) {
        double const y = y_of(line, line->y.ticks[i]);
        (void)fprintf(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                      LEFT, WIDTH - RIGHT, y, y);
        (void)fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                      LEFT - 10.0, y + 4.5, report_short(line->y.ticks[i], 6).text);
    }
    (void)fprintf(out, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                  LEFT, WIDTH - RIGHT, floor_y, floor_y);
    for (uint32_t i = 0; i < line->x.tick_count; i++) {
        double const x = x_of(line, line->x.ticks[i]);
        (void)fprintf(out, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                      x, x, floor_y, floor_y + 5.0);
        (void)fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x,
                      floor_y + 21.0, report_short(line->x.ticks[i], 6).text);
    }
    (void)fprintf(out,
                  "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">time slot t (log scale)"
                  "</text>\n<text x=\"%.1f\" y=\"16\">",
                  (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8.0, 8.0);
    report_put_start(out, line->name, REPORT_HTML, 60);
    (void)fputs("</text>\n", out);
}

/* Points closer than a pixel or two are drawn as one; the last always counts. */
static void thin(struct report_line *line)
{
    uint32_t kept = 0;
    double x_last = -INFINITY;
    for (uint32_t i = 0; i < line->count; i++) {
        double const x = x_of(line, line->t[i]);
        bool const is_last = i + 1 == line->count;
        if (x < x_last + PIXELS_BETWEEN_POINTS && !is_last)
            continue;
        x_last = x;
        line->t[kept] = line->t[i];
        line->mean[kept] = line->mean[i];
        line->ci95[kept] = line->ci95[i];
        kept++;
    }
    line->count = kept;
}

static void put_vertex(const struct report_line *line, uint32_t index, double value, FILE *out)
{
    (void)fprintf(out, "%.1f,%.1f ", x_of(line, line->t[index]), y_of(line, value));
}

static void put_curve(const struct report_line *line, FILE *out)
{
    (void)fputs("<polygon class=\"band\" points=\"", out);
    for (uint32_t i = 0; i < line->count; i++)
        put_vertex(line, i, line->mean[i] + line->ci95[i], out);
    for (uint32_t i = line->count; i-- > 0;)
        put_vertex(line, i, line->mean[i] - line->ci95[i], out);
    (void)fputs("\"/>\n<polyline class=\"curve\" points=\"", out);
    for (uint32_t i = 0; i < line->count; i++)
        put_vertex(line, i, line->mean[i], out);
    (void)fputs("\"/>\n", out);
}

/* The last point carries its value; a curve of one point has a whisker in place of the band. */
static void put_end(const struct report_line *line, FILE *out)
{
    uint32_t const last = line->count - 1;
    double const x = x_of(line, line->t[last]);
    double const top = line->mean[last] + line->ci95[last];
    if (last == 0)
        (void)fprintf(out,
                      "<line class=\"whisker\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                      x, x, y_of(line, line->mean[0] - line->ci95[0]), y_of(line, top));
    (void)fprintf(out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>", x,
                  y_of(line, line->mean[last]));
    (void)fprintf(out, "<text class=\"end\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n",
                  last == 0 ? x : x + 4.0, y_of(line, top) - 10.0, last == 0 ? "middle" : "end",
                  report_rounded(line->mean[last], 5).text);
}

static void put_reading(const struct report_line *line, uint32_t index, bool has_band, FILE *out)
{
    (void)fprintf(out, "t = %s:  ", report_rounded(line->t[index], 5).text);
    report_put_start(out, line->name, REPORT_HTML, 60);
    (void)fprintf(out, " %s", report_rounded(line->mean[index], 5).text);
    if (has_band)
        (void)fprintf(out, " \xc2\xb1 %s", report_rounded(line->ci95[index], 3).text);
}

/* A strip around one point: pointing at it shows the guide, the dot and the numbers. */
static void put_hover(const struct report_line *line, uint32_t index, bool has_band, FILE *out)
{
    double const x = x_of(line, line->t[index]);
    double const from = index == 0 ? LEFT : (x_of(line, line->t[index - 1]) + x) / 2.0;
    double const to = index + 1 == line->count ? WIDTH : (x + x_of(line, line->t[index + 1])) / 2.0;
    (void)fprintf(out,
                  "<g class=\"pt\"><rect class=\"hit\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                  "height=\"%.1f\"/>",
                  from, TOP, fmax(to - from, 0.0), HEIGHT - TOP - BOTTOM);
    (void)fprintf(out, "<line class=\"show\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", x,
                  x, TOP, HEIGHT - BOTTOM);
    (void)fprintf(out, "<circle class=\"show\" cx=\"%.1f\" cy=\"%.1f\" r=\"5.5\"/>", x,
                  y_of(line, line->mean[index]));
    (void)fprintf(out, "<text class=\"show\" x=\"%.1f\" y=\"16\" text-anchor=\"end\">",
                  WIDTH - RIGHT);
    put_reading(line, index, has_band, out);
    (void)fputs("</text><title>", out);
    put_reading(line, index, has_band, out);
    (void)fputs("</title></g>\n", out);
}

static void put_legend(const struct tacit_report *report, FILE *out)
{
    (void)fputs("<p class=\"legend\"><span><i class=\"l\"></i>", out);
    if (report->run_count == 1) {
        (void)fputs("one run; an interval needs more than one</span></p>\n", out);
        return;
    }
    (void)fprintf(out,
                  "mean of %s runs</span><span><i class=\"b\"></i>95 %% interval of that mean"
                  "</span></p>\n",
                  report_grouped(report->run_count).text);
}

void report_html_chart(const struct tacit_report *report, const struct report_line *whole,
                       FILE *out)
{
    struct report_line line = *whole;
    const struct tacit_report_metric *const metric = report_find(report, line.name);
    thin(&line);
    (void)fputs("<section><h2>", out);
    report_put(out, metric != NULL ? metric->metric->label : line.name, REPORT_HTML);
    (void)fputs(" over time</h2>\n<p class=\"lead\">Point at the curve to read it.</p>\n"
                "<div class=\"chart\"><svg viewBox=\"0 0 984 412\" role=\"img\" aria-label=\"",
                out);
    report_put(out, line.name, REPORT_HTML);
    (void)fputs(" over time\">\n", out);
    put_axes(&line, out);
    if (line.count > 1)
        put_curve(&line, out);
    if (line.count > 0)
        put_end(&line, out);
    for (uint32_t i = 0; i < line.count; i++)
        put_hover(&line, i, report->run_count > 1, out);
    (void)fputs("</svg></div>\n", out);
    put_legend(report, out);
    (void)fputs("</section>\n", out);
}
