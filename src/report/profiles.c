/* Profiles: numbers that belong to an arm or to a named row, as means over the runs. */
#include <inttypes.h>
#include <math.h>
#include "internal.h"

#define ROWS_MAX 1000u /* the page stays a page; summary.json has them all */

/* Rows of a profile: recorded slots, arms, or its own list. */
static uint32_t row_count(const struct tacit_report *report, const struct tacit_profile *profile)
{
    uint32_t count = 0;
    if (profile->is_series)
        return report->series_count;
    if (profile->rows == NULL)
        return report->arm_count;
    while (profile->rows[count] != NULL)
        count++;
    return count;
}

/* The mean over the runs in which it happened, and how many these are. NaN where it never did. */
static double mean_of(const struct tacit_report *report, uint32_t value, uint32_t *runs)
{
    double sum = 0;
    *runs = 0;
    for (uint32_t run = 0; run < report->run_count; run++) {
        double const one =
            report->profile_values[(size_t)run * report->profile_value_count + value];
        if (isnan(one))
            continue;
        sum += one;
        (*runs)++;
    }
    return *runs > 0 ? sum / *runs : (double)NAN;
}

/* ---- JSON ---- */

static void put_rows(const struct tacit_report *report, const struct tacit_profile *profile,
                     uint32_t rows, FILE *out)
{
    json_put(out, "\n  %s: {\"rows\": [", profile->name);
    for (uint32_t row = 0; row < rows; row++) {
        (void)fputs(row == 0 ? "" : ", ", out);
        if (profile->is_series)
            json_put(out, "%" PRIu64, report->series_slots[row]);
        else if (profile->rows == NULL)
            json_put(out, "%u", row);
        else
            json_put(out, "%s", profile->rows[row]);
    }
}

static void put_means(const struct tacit_report *report, uint32_t first, uint32_t rows, FILE *out)
{
    uint32_t runs;
    (void)fputs("], \"mean\": [", out);
    for (uint32_t row = 0; row < rows; row++)
        json_put(out, "%-s%g", row == 0 ? "" : ", ", mean_of(report, first + row, &runs));
    (void)fputs("], \"runs\": [", out);
    for (uint32_t row = 0; row < rows; row++) {
        (void)mean_of(report, first + row, &runs);
        json_put(out, "%-s%u", row == 0 ? "" : ", ", runs);
    }
    (void)fputs("]}", out);
}

void report_profiles_json(const struct tacit_report *report, FILE *out)
{
    uint32_t first = 0;
    if (report->profiles == NULL)
        return;
    (void)fputs(",\n \"profiles\": {", out);
    for (uint32_t i = 0; report->profiles[i].name != NULL; i++) {
        uint32_t const rows = row_count(report, &report->profiles[i]);
        (void)fputs(i == 0 ? "" : ",", out);
        put_rows(report, &report->profiles[i], rows, out);
        put_means(report, first, rows, out);
        first += rows;
    }
    (void)fputc('}', out);
}

/* ---- CSV: every run at every slot ---- */

bool report_has_series(const struct tacit_report *report)
{
    return report->profiles != NULL && report->profiles[0].name != NULL &&
           report->profiles[0].is_series;
}

/* Series come first. */
static bool is_series_at(const struct tacit_report *report, uint32_t index)
{
    return report->profiles[index].name != NULL && report->profiles[index].is_series;
}

enum tacit_status report_series_csv(const void *subject, FILE *out)
{
    const struct tacit_report *const report = subject;
    uint32_t const slots = report->series_count;
    (void)fputs("run,t", out);
    for (uint32_t i = 0; is_series_at(report, i); i++)
        csv_put(out, ",%-s", report->profiles[i].name);
    for (uint32_t run = 0; run < report->run_count; run++)
        for (uint32_t slot = 0; slot < slots; slot++) {
            const double *const values =
                report->profile_values + (size_t)run * report->profile_value_count;
            csv_put(out, "\n%u,%" PRIu64, run, report->series_slots[slot]);
            for (uint32_t i = 0; is_series_at(report, i); i++)
                csv_put(out, ",%g", values[(size_t)i * slots + slot]);
        }
    (void)fputc('\n', out);
    return report_finish(out);
}

/* ---- The page ---- */

static void put_row_name(const struct tacit_report *report, const struct tacit_profile *profile,
                         uint32_t row, FILE *out)
{
    char slot[48];
    if (profile->is_series) {
        (void)snprintf(slot, sizeof slot, "%.20s %" PRIu64,
                       report->labels == NULL ? "t =" : report->labels->slot,
                       report->series_slots[row]);
        report_html_row(slot, out);
    } else {
        report_html_row(profile->rows != NULL ? profile->rows[row] : report_arm_name(report, row),
                        out);
    }
}

static void put_cell(const struct tacit_report *report, uint32_t value, FILE *out)
{
    uint32_t runs;
    double const mean = mean_of(report, value, &runs);
    if (runs == 0)
        (void)fputs("<td class=\"n soft\">never</td>", out);
    else if (runs < report->run_count)
        html_put(out, "<td class=\"n\">%.5g (%u of %u runs)</td>", mean, runs, report->run_count);
    else
        html_put(out, "<td class=\"n\">%.5g</td>", mean);
}

/* A series without a value in any run is of something that these runs do not do. */
static bool is_empty(const struct tacit_report *report, const struct tacit_profile *profile,
                     uint32_t first)
{
    for (uint32_t row = 0; row < row_count(report, profile); row++) {
        uint32_t runs;
        (void)mean_of(report, first + row, &runs);
        if (runs > 0)
            return false;
    }
    return profile->is_series;
}

/* `first`: number of the value of the first profile's first row. */
static void put_heads(const struct tacit_report *report, const struct tacit_profile *profiles,
                      uint32_t count, uint32_t first, FILE *out)
{
    uint32_t const rows = row_count(report, profiles);
    const char *const row_head[] = {profiles->is_series      ? report_labels(report)->slot
                                    : profiles->rows == NULL ? "arm"
                                    : report->labels != NULL ? report->labels->agent
                                                             : "of"};
    report_html_table(report_labels(report)->profiles, "plain", NULL, 0, out);
    report_html_heads(row_head, 1, out);
    for (uint32_t i = 0; i < count; i++) {
        if (is_empty(report, &profiles[i], first + i * rows))
            continue;
        (void)fputs("<th scope=\"col\" class=\"n\"", out);
        if (profiles[i].note != NULL)
            html_put(out, " title=\"%s\"", profiles[i].note);
        html_put(out, ">%s, %s</th>", profiles[i].label, profiles[i].unit);
    }
    (void)fputs("</tr></thead><tbody>\n", out);
}

/* Profiles of the same rows are columns of one table. */
static void put_table(const struct tacit_report *report, const struct tacit_profile *profiles,
                      uint32_t count, uint32_t first, FILE *out)
{
    uint32_t const rows = row_count(report, profiles);
    put_heads(report, profiles, count, first, out);
    for (uint32_t row = 0; row < rows && row < ROWS_MAX; row++) {
        put_row_name(report, profiles, row, out);
        for (uint32_t i = 0; i < count; i++)
            if (!is_empty(report, &profiles[i], first + i * rows))
                put_cell(report, first + i * rows + row, out);
        (void)fputs("</tr>\n", out);
    }
    report_html_table_end(out);
}

void report_profiles_html(const struct tacit_report *report, FILE *out)
{
    uint32_t first = 0;
    uint32_t next = 0;
    if (report->profiles == NULL || report->profiles[0].name == NULL)
        return;
    report_html_section("profiles", report_labels(report)->profiles,
                        "Means over the runs in which it happened.", out);
    while (report->profiles[next].name != NULL) {
        struct tacit_profile const *const profiles = &report->profiles[next];
        uint32_t count = 1;
        while (profiles[count].name != NULL && profiles[count].rows == profiles[0].rows &&
               profiles[count].is_series == profiles[0].is_series)
            count++;
        put_table(report, profiles, count, first, out);
        first += count * row_count(report, profiles);
        next += count;
    }
    report_html_section_end(out);
}
