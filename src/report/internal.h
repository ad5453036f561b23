/* Report, inside: what the writers of the five files share: numbers as text, text made safe for
 * where it goes, facts about arms, axes. Not a public header; nothing here knows a protocol. */
#ifndef TACIT_REPORT_INTERNAL_H
#define TACIT_REPORT_INTERNAL_H
#include <locale.h>
#include <stdio.h>
#include "tacit/base.h"
#include "tacit/report.h"

/* ---- Numbers as text (number.c) ------------------------------------------------------------- */

#define REPORT_NUMBER_BYTES 48u

struct report_number {
    char text[REPORT_NUMBER_BYTES];
};

/* The shortest decimal that reads back as the same double; whole numbers below 2^53 have neither
 * point nor exponent; "null" if the value is not finite, as JSON has no word for it. */
struct report_number report_exact(double value);

/* For people: `digits` digits, but no whole one is lost; thousands grouped: 12,346 and 3.1416. A
 * dash if the value is not finite. */
struct report_number report_rounded(double value, int digits);

/* Half an interval in three digits; a dash for one run, which says nothing about spread. */
struct report_number report_interval(const struct tacit_report *report, double ci95);

/* For axes and cards: `digits` digits and a suffix: 10k, 2.5M. A dash if the value is not finite.
 */
struct report_number report_short(double value, int digits);

/* A count with grouped thousands: 1,000,000. */
struct report_number report_grouped(uint64_t count);

/* A decimal point is a point, whatever locale the host has chosen: every public writer begins with
 * enter and ends with leave. Affects the calling thread only. */
locale_t report_locale_enter(void);
void report_locale_leave(locale_t before);

/* ---- Text made safe (escape.c) -------------------------------------------------------------- */

enum report_syntax {
    REPORT_JSON,     /* inside double quotes */
    REPORT_HTML,     /* element content and quoted attributes, HTML and SVG alike */
    REPORT_CSV,      /* inside double quotes */
    REPORT_TERMINAL, /* printable characters only, one line */
};

/* Writes `text` so that it means itself, and nothing else, where it is put. Bytes that are not
 * UTF-8 become U+FFFD everywhere; control and direction-changing characters do where people read.
 */
void report_put(FILE *out, const char *text, enum report_syntax syntax);

/* The same for the first `character_count` characters, with "..." if there are more. */
void report_put_start(FILE *out, const char *text, enum report_syntax syntax,
                      uint32_t character_count);

/* Characters (code points) in a text. */
uint32_t report_width(const char *text);

/* ---- Facts (summary.c) ---------------------------------------------------------------------- */

/* Stops the program if the report breaks its contract. */
void report_check(const struct tacit_report *report);

/* Errors that the stream has collected. Errors: TACIT_IO. */
enum tacit_status report_finish(FILE *out);

bool report_interrupted(const struct tacit_report *report);

/* Does an arm's reward leave a site without noise? */
bool report_unprotected(const struct tacit_report *report);

/* NULL if there is no metric of that name. */
const struct tacit_report_metric *report_find(const struct tacit_report *report, const char *name);

struct tacit_report_summary report_metric_summary(const struct tacit_report *report,
                                                  const struct tacit_report_metric *metric);

struct tacit_report_summary report_point_summary(const struct tacit_report *report,
                                                 const struct tacit_report_curve *curve,
                                                 uint32_t point_index);

/* How one arm fared over the runs. Epochs are over the runs in which it was eliminated. */
struct report_fate {
    uint32_t arm_index;
    double mean;            /* as in the report */
    double survived;        /* share of runs, 0..1; NaN if the protocol eliminates nothing */
    uint32_t eliminated;    /* number of runs */
    uint32_t earliest;      /* 0 if it never was */
    uint32_t latest;        /* 0 if it never was */
    double eliminated_mean; /* mean epoch; NaN if it never was */
};
struct report_fate report_arm_fate(const struct tacit_report *report, uint32_t arm_index);

/* All arms, the one that was decided for first, then by true mean, by survival, by index. */
struct report_fates {
    uint32_t count;
    bool eliminates; /* some arm was eliminated in some run */
    bool has_winner; /* fates[0] is the answer that was decided for */
    uint32_t latest; /* latest epoch over all arms */
    struct report_fate *items;
};
/* Errors: TACIT_MEMORY. */
enum tacit_status report_fates_new(const struct tacit_report *report, struct report_fates *fates);
void report_fates_free(struct report_fates *fates);

/* A warning that belongs to the first lines, or NULL. Static storage. (answer.c) */
const char *report_note(const struct tacit_report *report);

/* ---- Files that appear whole or not at all (place.c) ----------------------------------------- */

/* A directory that takes files. */
struct report_place {
    const char *directory;
    int handle;
    struct tacit_error *error; /* of the caller */
};

/* Opens the directory, which is made if it does not exist. Errors: TACIT_IO, TACIT_MEMORY, with
 * error->text. */
enum tacit_status report_place_open(struct report_place *place, const char *directory,
                                    struct tacit_error *error);
void report_place_close(struct report_place *place);

/* Fills an open file. On failure it may say why in error->text. */
typedef enum tacit_status (*tacit_report_filler)(const void *subject, FILE *out,
                                                 struct tacit_error *error);

/* Writes one file under a temporary name, makes it durable, then renames it; on failure there is no
 * file of that name. Errors: TACIT_IO, TACIT_MEMORY, with error->text. */
enum tacit_status report_place_write(const struct report_place *place, const char *name,
                                     tacit_report_filler fill, const void *subject);

/* ---- Axes and the line that is drawn (axis.c) ----------------------------------------------- */

#define REPORT_TICKS_MAX 64u

struct report_axis {
    double lo; /* lo < hi; both > 0 on a log axis */
    double hi;
    bool log;
    uint32_t tick_count;
    double ticks[REPORT_TICKS_MAX];
};
/* Finite, and not so large that differences overflow. */
bool report_is_drawable(double value);

/* Requires: both drawable, lo <= hi. Ensures: ends on ticks; a single value gets room above it. */
struct report_axis report_axis_linear(double lo, double hi);

/* Requires: both drawable, 0.1 <= lo <= hi. Ensures: ticks at powers of ten; 2 and 5 between them
 * if the axis is short. */
struct report_axis report_axis_log(double lo, double hi);

/* Where a value lies on the axis: 0 at lo, 1 at hi; never outside. */
double report_axis_place(const struct report_axis *axis, double value);

/* A curve with its band, finite points only, and the axes it fits on. Never empty of axes. */
struct report_line {
    uint32_t count;
    double *t; /* >= 1 */
    double *mean;
    double *ci95;
    const char *name; /* of the curve; "" if there is none */
    struct report_axis x;
    struct report_axis y;
};
/* `curve`: index; where there is none of it, the line is empty. Errors: TACIT_MEMORY. */
enum tacit_status report_line_new(const struct tacit_report *report, uint32_t curve,
                                  struct report_line *line);
void report_line_free(struct report_line *line);

/* ---- The files ------------------------------------------------------------------------------ */

/* Errors of these: TACIT_IO, TACIT_MEMORY. */
enum tacit_status report_curve_csv(const struct tacit_report *report, FILE *out);
enum tacit_status report_runs_csv(const struct tacit_report *report, FILE *out);

/* Are the family's profiles series? Then all of them are: a line a run and slot (profiles.c). */
bool report_has_series(const struct tacit_report *report);
enum tacit_status report_series_csv(const struct tacit_report *report, FILE *out);
enum tacit_status report_html(const struct tacit_report *report, FILE *out);
enum tacit_status report_svg(const struct tacit_report *report, FILE *out);

/* From the doctype to <main>. */
void report_html_top(const char *title, FILE *out);
/* "3 runs", "1 run" */
void report_html_fact(uint64_t count, const char *one, const char *many, FILE *out);
/* Parts of the page. */
void report_html_style(FILE *out);
void report_html_chart(const struct tacit_report *report, const struct report_line *line,
                       FILE *out);
void report_html_arms(const struct tacit_report *report, const struct report_fates *fates,
                      FILE *out);
enum tacit_status report_html_answer(const struct tacit_report *report, FILE *out);
void report_html_baselines(const struct tacit_report *report, FILE *out);
void report_html_cards(const struct tacit_report *report, FILE *out);
void report_html_network(const struct tacit_report *report, FILE *out);
void report_html_metrics(const struct tacit_report *report, FILE *out);

/* Profiles (profiles.c): nothing where there are none. */
void report_profiles_json(const struct tacit_report *report, FILE *out);
void report_profiles_html(const struct tacit_report *report, FILE *out);

/* The band over the agents (band.c): nothing where there is none. Errors: TACIT_MEMORY. */
void report_band_json(const struct tacit_report *report, FILE *out);
enum tacit_status report_band_html(const struct tacit_report *report, FILE *out);

/* ---- Figures and claims (figure*.c) ---------------------------------------------------------- */

/* Draws a figure as an SVG element, for a page that has the rules in its style sheet. */
void report_figure_draw(const struct tacit_report_figure *figure, FILE *out);

/* The style sheet's rules for figures. */
void report_figure_rules(FILE *out);

/* The verdict in words: "holds", "does not hold", "undecided". Static storage. */
const char *report_verdict_text(enum tacit_report_verdict verdict);

/* Is the verdict the one on record? */
bool report_is_expected(const struct tacit_report_paper *paper,
                        const struct tacit_report_claim *claim);

/* How many claims of a paper hold, do not hold and are undecided, and how many verdicts are other
 * than recorded. */
struct report_tally {
    uint32_t verdicts[TACIT_REPORT_UNDECIDED + 1];
    uint32_t unexpected;
};
struct report_tally report_tally_of(const struct tacit_report_paper *paper);

/* "0.512 +/- 0.003" with the given sign, "6" if it does not vary; and the band, "[1, inf]". */
struct report_phrase {
    char text[3 * REPORT_NUMBER_BYTES];
};
struct report_phrase report_claim_value(const struct tacit_report_claim *claim,
                                        const char *plus_minus);
struct report_phrase report_claim_band(const struct tacit_report_claim *claim);

/* "23 claims: 20 hold, 3 do not. All as recorded." */
struct report_phrase report_tally_text(const struct tacit_report_paper *paper);

/* One text, broken at blanks, each line after the first behind the indent; ends the line. (table.c)
 */
void report_put_wrapped(FILE *out, const char *text, const char *indent);

/* Errors of both: TACIT_IO. */
enum tacit_status report_paper_markdown(const struct tacit_report_paper *paper, FILE *out);
enum tacit_status report_paper_html(const struct tacit_report_paper *paper, FILE *out);
#endif
