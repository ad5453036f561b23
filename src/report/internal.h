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

/* For the tables of a terminal, which are plain ASCII: "-" if the value is not finite. */
struct report_number report_cell(double value, int digits);

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

/* Writes a text with values in it (print.c); the compiler checks them as printf's.
 *   %s    a text, made safe; JSON: in quotes, NULL is null; CSV: in quotes; else NULL is nothing
 *   %-s   a text as it is
 *   %g    a number, exactly; not finite: null, in CSV nothing
 *   %.4g  for people, as report_rounded; JSON: so many digits, where it is not whole
 *   %u, %lu, %-u    a count, uint32_t or uint64_t; '-': its thousands grouped
 *   %.1f  pixels */
void report_print(FILE *out, enum report_syntax syntax, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define html_put(out, ...) report_print(out, REPORT_HTML, __VA_ARGS__)
#define json_put(out, ...) report_print(out, REPORT_JSON, __VA_ARGS__)
#define csv_put(out, ...) report_print(out, REPORT_CSV, __VA_ARGS__)
#define term_put(out, ...) report_print(out, REPORT_TERMINAL, __VA_ARGS__)

/* A column of a terminal's table: cut to its width, or filled up. */
void report_put_column(FILE *out, const char *text, uint32_t width);

/* Characters (code points) in a text. */
uint32_t report_width(const char *text);

/* Pixels that the first `character_count` characters of a text, and "..." if there are more, take
 * in a figure at most, whatever face draws it. */
double report_pixels(const char *text, uint32_t character_count);

/* How many characters of a text, `most` at most, can be put where there are `room` pixels. */
uint32_t report_fitting(const char *text, uint32_t most, double room);

/* ---- Colours (palette.c) --------------------------------------------------------------------- */

enum report_colour {
    REPORT_PAGE,
    REPORT_CARD,
    REPORT_INK,
    REPORT_SOFT,
    REPORT_AXIS,
    REPORT_LINE,
    REPORT_ACCENT,
    REPORT_TRACK,
    REPORT_WIN,
    REPORT_WIN_SOFT,
    REPORT_NOTE,
    REPORT_NOTE_EDGE,
    REPORT_WARN,
    REPORT_WARN_SOFT,
    REPORT_WARN_EDGE,
    REPORT_SERIES, /* the first of seven */
    REPORT_COLOURS = REPORT_SERIES + 7
};

/* "#rrggbb" on light ground. Static storage. */
const char *report_colour(enum report_colour colour);

/* The style sheet's variables of all colours, on light ground and on dark. */
void report_palette_rules(FILE *out);

/* ---- Facts (summary.c) ---------------------------------------------------------------------- */

/* Stops the program if the report breaks its contract. */
void report_check(const struct tacit_report *report);

/* Errors that the stream has collected. Errors: TACIT_IO. */
enum tacit_status report_finish(FILE *out);

/* Are there fewer runs than were asked for? */
bool report_interrupted(const struct tacit_report *report);

/* What the family calls things, or the words of bandits. */
const struct tacit_labels *report_labels(const struct tacit_report *report);

/* What an arm is called, or an agent: its name, or one by its number in `own`. */
#define REPORT_OWN_BYTES 24u
const char *report_name_arm(const struct tacit_report *report, uint32_t arm,
                            char own[REPORT_OWN_BYTES]);
const char *report_name_agent(const struct tacit_report *report, uint32_t agent,
                              char own[REPORT_OWN_BYTES]);
#define report_arm_name(report, arm) report_name_arm(report, arm, (char[REPORT_OWN_BYTES]){0})
#define report_agent_name(report, agent)                                                           \
    report_name_agent(report, agent, (char[REPORT_OWN_BYTES]){0})

/* What epsilon is the loss of: "reward", "interaction", "user". */
const char *report_epsilon_of(const struct tacit_report *report);

/* In two words: "epsilon 1 per reward", or why there is none; of a number as it is to be shown. */
struct report_loss {
    char text[160];
};
struct report_loss report_loss(const struct tacit_report *report, struct report_number epsilon);

/* "horizon 1,000", "300 rounds". */
struct report_number report_horizon(const struct tacit_report *report);

/* Has no run a value of it? Then it is of something that these runs do not do, and is left out in
 * front of people. */
bool report_is_absent(const struct tacit_report *report, const struct tacit_report_metric *metric);

/* Is there no epsilon that is guaranteed? */
bool report_unprotected(const struct tacit_report *report);

/* NULL if there is no metric of that name. */
const struct tacit_report_metric *report_find(const struct tacit_report *report, const char *name);

/* Over the runs. */
struct tacit_report_summary report_metric_summary(const struct tacit_report *report,
                                                  const struct tacit_report_metric *metric);

struct tacit_report_summary report_point_summary(const struct tacit_report *report,
                                                 const struct tacit_report_curve *curve,
                                                 uint32_t point_index);

/* How one arm fared over the runs. Epochs are over the runs in which it was eliminated. */
struct report_fate {
    uint32_t arm_index;
    double mean;            /* as in the report */
    double mean_ci95;       /* as in the report */
    uint32_t first_count;   /* runs that ended with it as their best (of report_fates_new) */
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

/* A share of the runs with the 95 % interval of what it estimates, by Wilson (1927); an end that
 * nothing was seen beyond is 0 or 1. Requires: count <= of, of > 0. */
struct report_share {
    double value;
    double lo;
    double hi;
};
struct report_share report_share_of(uint32_t count, uint32_t of);

/* Three digits of 100 times the share; never "100" or "0" unless it is all or none. */
struct report_number report_percent(double share);

/* A warning that belongs to the first lines, or NULL. Static storage. (answer.c) */
const char *report_note(const struct tacit_report *report);

/* ---- Files that appear whole or not at all (place.c) ----------------------------------------- */

/* Fills an open file. Errors: TACIT_IO, TACIT_MEMORY. */
typedef enum tacit_status (*tacit_report_filler)(const void *subject, FILE *out);

/* A file beside the page. */
struct report_file {
    const char *name;
    const char *says;
    const char *type;
    bool is_embedded; /* the page has a copy, if that is not too large */
    tacit_report_filler fill;
    const void *subject;
};
/* Writes the files into the directory, which is made if it does not exist: each under a temporary
 * name, made durable, then renamed; on failure there is no file of that name. The page, which tells
 * of the others, is the last. Errors: TACIT_IO, TACIT_MEMORY, with error->text. */
enum tacit_status report_write_files(const char *directory, const struct report_file *files,
                                     size_t count, struct tacit_error *error);

/* Fillers: of a figure, of a text that is there. */
enum tacit_status report_fill_figure(const void *figure, FILE *out);
enum tacit_status report_fill_text(const void *text, FILE *out);

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

/* Requires: both drawable, 0 < lo <= hi. Ensures: ticks at powers of ten from 1e-12 on; 2 and 5
 * between them if the axis is short. */
struct report_axis report_axis_log(double lo, double hi);

/* Where a value lies on the axis: 0 at lo, 1 at hi; never outside. */
double report_axis_position(const struct report_axis *axis, double value);

/* A curve with its band, finite points only. */
struct report_line {
    uint32_t count;
    double *t; /* >= 1 */
    double *mean;
    double *ci95;
    const char *name; /* of the curve; "" if there is none */
};
/* `curve`: index; where there is none of it, the line is empty. Errors: TACIT_MEMORY. */
enum tacit_status report_line_new(const struct tacit_report *report, uint32_t curve,
                                  struct report_line *line);
void report_line_free(struct report_line *line);

/* ---- The files ------------------------------------------------------------------------------ */

/* Fillers, of a report. Errors: TACIT_IO, TACIT_MEMORY. */
enum tacit_status report_curve_csv(const void *report, FILE *out);
enum tacit_status report_runs_csv(const void *report, FILE *out);

/* Are the family's profiles series? Then all of them are: a line a run and slot (profiles.c). */
bool report_has_series(const struct tacit_report *report);
enum tacit_status report_series_csv(const void *report, FILE *out);
enum tacit_status report_html(const void *report, FILE *out);
enum tacit_status report_svg(const void *report, FILE *out);

/* ---- A curve as a figure (curve.c) ----------------------------------------------------------- */

#define REPORT_REFERENCES_MAX 5u

/* A curve, what is drawn beside it, and what the figure points into. It does not move. */
struct report_drawing {
    struct report_line line;
    double *t;
    char title[100];
    char labels[1 + REPORT_REFERENCES_MAX][160];
    const char *names[1];
    struct tacit_report_series series[1 + REPORT_REFERENCES_MAX];
    struct tacit_report_figure figure;
};
/* Ensures: to be given to report_drawing_free, whatever the status. Errors: TACIT_MEMORY. */
enum tacit_status report_drawing_new(const struct tacit_report *report, uint32_t curve,
                                     struct report_drawing *drawing);
void report_drawing_free(struct report_drawing *drawing);

/* What a baseline is called in front of people; its own name if that is not known. */
const char *report_baseline_words(const char *name);

/* ---- Parts of all pages (html.c) ------------------------------------------------------------- */

/* From the doctype to a line of facts that the caller fills: the heading is a name, and what the
 * page tells of it, or NULL; a remark on the data and a note below, or NULL. */
void report_html_top(const char *name, const char *words, const char *remark, const char *note,
                     FILE *out);
/* The same of a daemon's page, which asks its daemon for dashboard.js and for itself, anew. */
void report_html_live_top(const char *name, const char *words, FILE *out);
void report_html_header_end(FILE *out);
void report_html_bottom(const char *version, FILE *out);
void report_html_style(FILE *out);

/* "3 runs", "1 run" */
void report_html_fact(uint64_t count, const char *one, const char *many, FILE *out);

/* A warning if less was done than asked; nothing else. */
void report_html_stopped(uint64_t done, uint64_t asked, const char *what, FILE *out);

/* Begins a section: its heading, and a sentence about it or NULL. */
void report_html_section(const char *id, const char *title, const char *lead, FILE *out);
void report_html_section_end(FILE *out);

/* The section of the answer, up to its headline; the style is " win", " open", " warn" or "". */
void report_html_answer_begin(const char *style, FILE *out);

/* A table that scrolls in itself where the page is narrow. A head that begins with '#' is one of
 * numbers. With no heads the caller writes them, and the end of the head. */
void report_html_table(const char *label, const char *style, const char *const *heads, size_t count,
                       FILE *out);
void report_html_heads(const char *const *heads, size_t count, FILE *out);
void report_html_table_end(FILE *out);

/* Begins a row: its name, or a metric in words and the name that files have for it. */
void report_html_row(const char *name, FILE *out);
void report_html_metric(const struct tacit_metric *metric, FILE *out);

/* A list of what metrics are called and what they count. */
void report_html_words(const struct tacit_metric *const *metrics, size_t count, FILE *out);

/* Cells. A summary is its mean and interval; NULL: an empty cell. */
void report_html_number(const char *text, FILE *out);
void report_html_summary(const struct tacit_report_summary *summary, FILE *out);

/* A section with a figure. */
void report_html_figure(const struct tacit_report_figure *figure, const char *lead, FILE *out);

/* The section that leads to the files. Errors: TACIT_MEMORY, and of fill. */
enum tacit_status report_html_data(const struct report_file *files, size_t count, FILE *out);

/* ---- The files of an experiment (write.c) ---------------------------------------------------- */

#define REPORT_FILES_MAX 7u

/* Those beside the page; returns how many there are. */
size_t report_files(const struct tacit_report *report, struct report_file *files);

/* ---- Parts of the page of an experiment ------------------------------------------------------ */

void report_html_arms(const struct tacit_report *report, const struct report_fates *fates,
                      FILE *out);
enum tacit_status report_html_answer(const struct tacit_report *report, FILE *out);
void report_html_baselines(const struct tacit_report *report, FILE *out);
void report_html_cards(const struct tacit_report *report, FILE *out);
void report_html_network(const struct tacit_report *report, FILE *out);
void report_html_traffic(const struct tacit_report *report, FILE *out);
void report_html_metrics(const struct tacit_report *report, FILE *out);
void report_html_settings(const struct tacit_report *report, FILE *out);

/* A site beside the others, by what it saw itself (sites.c). */
struct report_site {
    uint32_t best_arm; /* its own in most runs; arm_count: it saw too little in all of them */
    double share;      /* of the runs in which that was its own best arm */
    uint32_t runs;     /* in which it saw enough of the common arm, too */
    double cost;       /* of the common arm there: reward a pull, mean over these runs */
    double ci95;       /* half its interval; NaN: one run or none */
    double pulls;      /* that it saw in a run */
    uint32_t true_best_arm;
    double true_cost;
};

struct report_sites {
    uint32_t count;      /* 0: nothing is said of sites */
    uint32_t common_arm; /* the first of the answer */
    struct report_site *items;
};
/* Count 0: the report has no numbers of sites, or no answer. Whatever is returned, *sites goes to
 * report_sites_free. Errors: TACIT_MEMORY. */
enum tacit_status report_sites_new(const struct tacit_report *report, struct report_sites *sites);
void report_sites_free(struct report_sites *sites);

/* Of these: nothing where nothing is said of sites. Errors: TACIT_MEMORY. */
enum tacit_status report_sites_json(const struct tacit_report *report, FILE *out);
enum tacit_status report_sites_table(const struct tacit_report *report, FILE *out);
enum tacit_status report_sites_html(const struct tacit_report *report, FILE *out);
enum tacit_status report_sites_csv(const void *report, FILE *out);

/* Profiles (profiles.c): nothing where there are none. */
void report_profiles_json(const struct tacit_report *report, FILE *out);
void report_profiles_html(const struct tacit_report *report, FILE *out);

/* The band over the agents (band.c): nothing where there is none. Errors: TACIT_MEMORY. */
void report_band_json(const struct tacit_report *report, FILE *out);
enum tacit_status report_band_html(const struct tacit_report *report, FILE *out);

/* ---- Experiments beside each other (comparison*.c) ------------------------------------------- */

/* What the table and the page show of the metrics; comparison.csv has all. */
#define REPORT_COLUMNS 5u
extern const char *const report_columns[REPORT_COLUMNS];

/* NULL: the grid point has no such number. */
const struct tacit_report_summary *
report_point_value(const struct tacit_report_comparison *comparison,
                   const struct tacit_report_grid_point *point, const char *metric);

/* Each grid point's settings as words: "phased-index, confidence 0.95". NULL: out of memory. */
char **report_comparison_words(const struct tacit_report_comparison *comparison);
void report_comparison_words_free(char **words);

/* Those that ran, those that found an answer; indices of the grid point of the least regret, and of
 * the strongest privacy among those that decided, where grid points differ in it. UINT32_MAX: there
 * is none.
 */
struct report_findings {
    uint32_t ran;
    uint32_t decided;
    uint32_t least;
    uint32_t private_most;
    bool has_one_epsilon; /* the same one in all that ran, and regrets to compare */
};
struct report_findings report_comparison_find(const struct tacit_report_comparison *comparison);

/* Where has_one_epsilon: how much less the best one loses than others; else nothing. */
void report_comparison_sentence(const struct tacit_report_comparison *comparison,
                                char *const *words, enum report_syntax syntax, FILE *out);

struct report_comparison_page {
    const struct tacit_report_comparison *comparison;
    char *const *words; /* of the settings */
    const struct tacit_report_figure *figures;
    uint32_t figure_count;
    const struct report_file *files; /* beside the page */
    size_t file_count;
};
enum tacit_status report_comparison_html(const void *page, FILE *out); /* a filler */

/* ---- Figures and claims (figure*.c) ---------------------------------------------------------- */

/* Draws a figure for a page that has the rules in its style sheet: an SVG element, and the legend
 * as a list. */
void report_figure_draw(const struct tacit_report_figure *figure, FILE *out);

/* The style sheet's rules for figures. */
void report_figure_rules(FILE *out);

/* The verdict in words: "holds", "does not hold", "not reached", "not run", "undecided". Static
 * storage. */
const char *report_verdict_text(enum tacit_verdict verdict);

/* What is said of a claim besides its number: why it does not hold, which of our readings it
 * depends on, what checked it. Returns how many. */
#define REPORT_REMARKS 3u
struct report_remark {
    const char *head;
    const char *text;
};
uint32_t report_claim_remarks(const struct tacit_report_claim *claim,
                              struct report_remark remarks[REPORT_REMARKS]);

/* Is the verdict the one on record? */
bool report_is_expected(const struct tacit_report_paper *paper,
                        const struct tacit_report_claim *claim);

/* How many claims of a paper have each verdict, and how many another one than recorded. */
struct report_tally {
    uint32_t verdicts[TACIT_VERDICT_COUNT];
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

/* "data: " and what is to be known of the data, in a line; nothing for NULL. (table.c) */
void report_put_remark(const char *remark, FILE *out);

/* The same for a text that begins behind `column` characters of a line. */
void report_put_text(FILE *out, const char *text, size_t column, const char *indent);

/* A filler, of a paper. Errors: TACIT_IO. */
enum tacit_status report_paper_markdown(const void *paper, FILE *out);
#endif
