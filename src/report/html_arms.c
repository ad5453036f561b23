/* The arms on the page: the winner, means as bars, when and how often each was given up. */
#include "internal.h"
#include <math.h>

#define ROWS_OPEN 15u  /* shown at once; the rest is folded */
#define ROWS_MAX 1000u /* the page stays a page; summary.json has them all */
#define FOLD_LEAST 3u  /* folding one or two rows saves nothing */

/* What a bar's length means. */
struct scale {
    double lo; /* <= 0 */
    double hi; /* >= 0 */
    uint32_t latest_epoch;
};

static struct scale scale_of(const struct report_fates *fates)
{
    struct scale scale = {.latest_epoch = fates->latest};
    for (uint32_t i = 0; i < fates->count; i++) {
        scale.lo = fmin(scale.lo, fates->items[i].mean); /* fmin and fmax pass over NaN */
        scale.hi = fmax(scale.hi, fates->items[i].mean);
    }
    return scale;
}

static double percent(double part, double whole)
{
    double const share = 100.0 * part / whole;
    if (!(share >= 0.0) || isinf(share)) /* also 0/0 */
        return 0.0;
    return fmin(share, 100.0); /* 100 * x / x may be a little more */
}

static void put_mean(const struct scale *scale, const struct report_fate *fate, FILE *out)
{
    double const width = scale->hi - scale->lo;
    double const mean = fate->mean;
    html_put(out, "<td><div class=\"bar\"><span%-s>%-s",
             fate->mean_ci95 > 0 ? " class=\"wide\"" : "",
             isfinite(mean) ? report_rounded(mean, 4).text : "varies");
    if (fate->mean_ci95 > 0)
        html_put(out, " \xc2\xb1 %.2g", fate->mean_ci95);
    (void)fputs("</span>", out);
    if (isfinite(mean))
        html_put(out, "<div><b style=\"left:%.1f%%;width:%.1f%%\"></b></div>",
                 percent(fmin(mean, 0.0) - scale->lo, width), percent(fabs(mean), width));
    (void)fputs("</div></td>", out);
}

/* In which rounds it was given up, over the runs. */
static void put_epochs(const struct scale *scale, const struct report_fate *fate, FILE *out)
{
    double const last = scale->latest_epoch;
    if (fate->eliminated == 0) {
        (void)fputs("<td class=\"soft\"><div class=\"bar\"><span class=\"wide\">never</span></div>"
                    "</td>",
                    out);
        return;
    }
    html_put(out, "<td title=\"earliest %u, latest %u\"><div class=\"bar\"><span class=\"wide\">",
             fate->earliest, fate->latest);
    if (fate->earliest < fate->latest)
        html_put(out, "%u \xe2\x80\x93 %-s \xe2\x80\x93 ", fate->earliest,
                 report_short(fate->eliminated_mean, 3).text);
    html_put(out,
             "%u</span><div><u style=\"left:%.1f%%;width:%.1f%%\"></u>"
             "<s style=\"left:%.1f%%\"></s></div></div></td>",
             fate->latest, percent(fate->earliest, last),
             percent(fate->latest - fate->earliest, last), percent(fate->eliminated_mean, last));
}

/* A share of the runs, and the 95 % interval of what it is a share of. */
static void put_share(const struct tacit_report *report, uint32_t count, FILE *out)
{
    TACIT_ASSERT(report->run_count > 0);
    struct report_share const share = report_share_of(count, report->run_count);
    html_put(out, "<td><div class=\"bar\"><span class=\"wide\">%-s %%",
             report_percent(share.value).text);
    if (report->run_count > 1)
        html_put(out, " <small>%-s\xe2\x80\x93%-s</small>", report_percent(share.lo).text,
                 report_percent(share.hi).text);
    html_put(out,
             "</span><div><u style=\"left:%.1f%%;width:%.1f%%\"></u>"
             "<s style=\"left:%.1f%%\"></s></div></div></td>",
             percent(100.0 * share.lo, 100.0), percent(100.0 * (share.hi - share.lo), 100.0),
             percent(100.0 * share.value, 100.0));
}

static void put_row(const struct tacit_report *report, const struct report_fates *fates,
                    const struct scale *scale, uint32_t row, FILE *out)
{
    const struct report_fate *const fate = &fates->items[row];
    bool const wins = fates->has_winner && row == 0;
    html_put(
        out,
        "<tr%-s><th scope=\"row\"><div class=\"name\" title=\"%s\"><span>%s</span>%-s</div></th>",
        wins ? " class=\"win\"" : "", report_arm_name(report, fate->arm_index),
        report_arm_name(report, fate->arm_index), wins ? "<i class=\"tag\">winner</i>" : "");
    put_mean(scale, fate, out);
    if (report->ranking != NULL)
        put_share(report, fate->first_count, out);
    if (!isnan(fate->survived)) {
        put_epochs(scale, fate, out);
        put_share(report, report->run_count - fate->eliminated, out);
    }
    (void)fputs("</tr>\n", out);
}

/* The columns that this report has. */
static size_t heads_of(const struct tacit_report *report, const struct report_fates *fates,
                       const char *heads[5])
{
    size_t count = 0;
    heads[count++] = "arm";
    heads[count++] = fates->items[0].mean_ci95 > 0 ? "mean in the data" : "true mean";
    if (report->ranking != NULL)
        heads[count++] = "ranked first";
    if (!isnan(fates->items[0].survived)) {
        heads[count++] = "given up in round";
        heads[count++] = "survived";
    }
    return count;
}

static void put_rows(const struct tacit_report *report, const struct report_fates *fates,
                     const struct scale *scale, uint32_t from, uint32_t to, FILE *out)
{
    const char *heads[5];
    size_t const count = heads_of(report, fates, heads);
    report_html_table(from == 0 ? "Arms" : "More arms", "arms", heads, count, out);
    for (uint32_t row = from; row < to; row++)
        put_row(report, fates, scale, row, out);
    report_html_table_end(out);
}

/* What the columns mean. */
static void put_lead(const struct tacit_report *report, const struct report_fates *fates, FILE *out)
{
    char title[64];
    (void)snprintf(title, sizeof title, "%s %s", report_grouped(fates->count).text,
                   fates->count == 1 ? "arm" : "arms");
    report_html_section("arms", title, NULL, out);
    (void)fputs("<p class=\"lead\">", out);
    if (fates->items[0].mean_ci95 > 0)
        (void)fputs("Mean over the sites with its 95 % interval, from the rows of the data. ", out);
    if (report->ranking != NULL)
        (void)fputs("How many of the runs ranked it first at their end, alone or not. ", out);
    if (fates->eliminates)
        (void)fputs("When each was given up: earliest \xe2\x80\x93 mean \xe2\x80\x93 latest round "
                    "over the runs; and the share of runs that it survived. ",
                    out);
    else if (!isnan(fates->items[0].survived))
        (void)fputs("No arm was given up in any run. ", out);
    if (report->run_count > 1 && (report->ranking != NULL || !isnan(fates->items[0].survived)))
        (void)fputs("Shares stand with their 95 % intervals.", out);
    else if (report->ranking == NULL)
        (void)fputs("By true mean.", out);
    (void)fputs("</p>\n", out);
}

void report_html_arms(const struct tacit_report *report, const struct report_fates *fates,
                      FILE *out)
{
    if (fates->count == 0)
        return;
    struct scale const scale = scale_of(fates);
    uint32_t const shown = fates->count < ROWS_MAX ? fates->count : ROWS_MAX;
    uint32_t const open = shown < ROWS_OPEN + FOLD_LEAST ? shown : ROWS_OPEN;
    put_lead(report, fates, out);
    put_rows(report, fates, &scale, 0, open, out);
    if (open < shown) {
        html_put(out, "<details><summary>%-u more arms</summary>\n", shown - open);
        put_rows(report, fates, &scale, open, shown, out);
        if (shown < fates->count)
            html_put(out, "<p class=\"lead\">And %-u more, in summary.json.</p>\n",
                     fates->count - shown);
        (void)fputs("</details>\n", out);
    }
    report_html_section_end(out);
}
