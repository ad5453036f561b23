/* Report: turns the raw results of an experiment into JSON, CSV, SVG and a page that a person
 * reads. Does input and output; knows nothing of protocols: metrics, curves and arms come with
 * their names. */
#ifndef TACIT_REPORT_H
#define TACIT_REPORT_H
#include <stdio.h>
#include "tacit/base.h"
#include "tacit/metric.h"
#include "tacit/topo.h"

/* One metric, and its value in each run. */
struct tacit_report_metric {
    const struct tacit_metric *metric;
    const double *values; /* run_count */
};

/* One curve over time: its name in JSON and run_count rows of point_count values. */
struct tacit_report_curve {
    const char *name;
    const double *values;
};

/* One arm, as the page shows it. */
struct tacit_report_arm {
    const char *name;                 /* NULL: "arm N" */
    double mean;                      /* true global mean; NaN if every run has its own instance */
    const uint32_t *eliminated_epoch; /* run_count values; 0: survived that run; NULL for every arm:
                                         the protocol eliminates nothing */
};

/* How the agents are connected. */
struct tacit_report_network {
    const char *kind;         /* as in the experiment file */
    uint32_t server_links;    /* links with a server in a round; 0: there is none */
    uint32_t delay;           /* slots that agents wait in a round */
    uint32_t component_count; /* of agents that have paths between them; 0: a star */
    uint64_t edge_count;      /* between agents */
    uint32_t diameter;        /* of the widest component */
    const struct tacit_component *components; /* or NULL: no sinks */
    const char *note;                         /* what it means for the protocol; NULL: nothing */
};

/* What another way of playing came to on the same instances and horizon. */
struct tacit_report_baseline {
    const char *name;     /* "uniform" is known here: no better than that is nothing gained */
    const double *regret; /* run_count; NULL: it is not defined here */
    const double *curve;  /* point_count means over the runs; NULL: it is not known over time */
};

/* A key of the experiment file. */
struct tacit_report_setting {
    const char *key; /* dotted */
    const char *value;
    bool is_overruled; /* not the file's value, but one that was given with the command */
};

struct tacit_report {
    const char *name;
    const char *title_note; /* one sentence about the data, or NULL */
    const char *remark;     /* to be known of the data before any number is read, or NULL */
    const char *version;
    uint64_t seed;
    uint32_t run_count;  /* runs that finished, at least one */
    uint32_t runs_asked; /* more than run_count if the experiment was stopped */
    uint32_t agent_count;
    uint64_t horizon;
    const char *privacy_mode;  /* none, paper, sound */
    double epsilon_per_reward; /* INFINITY: none is guaranteed; of an agent where there are other
                                  words */
    const char *epsilon_of;    /* what it is the loss of; NULL: a reward, or that agent */
    const char *epsilon_lack;  /* why there is none, in two words; NULL: no noise */
    double delta;              /* 0: pure */
    const struct tacit_labels *labels; /* NULL: those of bandits */
    const char *statement;
    const struct tacit_report_network *network; /* NULL: nothing is said about it */
    const struct tacit_report_metric *metrics;
    uint32_t metric_count;
    const uint64_t *points; /* point_count times t */
    uint32_t point_count;
    const struct tacit_report_curve *curves; /* the first is the one that is drawn */
    uint32_t curve_count;
    const struct tacit_report_arm *arms;
    uint32_t arm_count;
    const double *arm_ci95; /* arm_count half widths, where means are those of rows of data; NULL */
    const struct tacit_profile *profiles; /* ended by a NULL name; NULL: there are none */
    const double *profile_values; /* run_count x profile_value_count; NaN: not in that run */
    uint32_t profile_value_count; /* the rows of all profiles together */
    const uint64_t *series_slots; /* rows of the profiles that are series */
    uint32_t series_count;
    const struct tacit_band *band; /* NULL: there is none */
    const double *band_values;     /* run_count x point_count x TACIT_BAND_VALUES */
    const uint32_t *ranking;       /* run_count x arm_count: arms left, by the protocol's own
                                      estimates, best first; NULL: there is no answer */
    const uint32_t *ranked_count;  /* run_count: how many of them; with a ranking */
    const struct tacit_report_baseline *baselines;
    uint32_t baseline_count;
    const struct tacit_report_setting *settings;
    uint32_t setting_count;
    const uint64_t *site_counts;    /* run_count x agent_count x arm_count: pulls that a site saw;
                                       NULL: nothing is said of sites */
    const double *site_sums;        /* the same: what they brought */
    const char *const *agent_names; /* agent_count; NULL: they have numbers */
    const double *site_means;       /* agent_count x arm_count: the truth, for what is called so */
};

/* The answer: decided if at least 95 % of the runs end with the same single arm. */
struct tacit_report_answer {
    bool is_decided;
    uint32_t *arms;        /* that one, or those it could not tell apart, best first */
    uint32_t arm_count;    /* 0: there is no answer */
    uint32_t single_count; /* runs that ended with the first of them alone */
    char *sentence;        /* NULL: there is no answer */
};

/* Makes the answer from the rankings. Ensures: to be given to tacit_report_answer_free.
 * Errors: TACIT_MEMORY. Cost: O(runs K + K log K). */
enum tacit_status tacit_report_answer_new(const struct tacit_report *report,
                                          struct tacit_report_answer *answer);
void tacit_report_answer_free(struct tacit_report_answer *answer);

/* Is the mean regret no less than that of the baseline "uniform"? */
bool tacit_report_is_idle(const struct tacit_report *report);

/* The 97.5 % point of Student's law for `count` values, which has count - 1 degrees of freedom:
 * half a 95 % interval is so many standard errors. Requires: count >= 2. */
double tacit_report_t975(uint32_t count);

/* Mean, sample standard deviation (0 for one value), half width of the 95 % interval of the mean by
 * Student's law (0 for one value), extremes. Requires: count > 0. */
struct tacit_report_summary {
    double mean;
    double sd;
    double ci95;
    double min;
    double max;
};
struct tacit_report_summary tacit_report_summarise(const double *values, uint32_t count,
                                                   uint32_t stride);

/* Writes the one JSON object of DESIGN.md, with a newline. Same report, same bytes.
 * Errors: TACIT_IO, TACIT_MEMORY. */
enum tacit_status tacit_report_json(const struct tacit_report *report, FILE *out);

/* Writes the short table that a terminal shows. Errors: TACIT_IO. */
enum tacit_status tacit_report_table(const struct tacit_report *report, FILE *out);

/* Can files be written into this directory? What would fail after hours fails before. Leaves none
 * behind where there was none. Errors: TACIT_IO, TACIT_MEMORY, with error->text. */
enum tacit_status tacit_report_try(const char *directory, struct tacit_error *error);
/* The same; a directory that was made stays. Others may make it at the same time. */
enum tacit_status tacit_report_make(const char *directory, struct tacit_error *error);

/* Writes summary.json, curve.csv, runs.csv, figure.svg and report.html, and series.csv where there
 * are series, into `directory`, which is made if it does not exist. Each file appears whole or not
 * at all. Errors: TACIT_IO, TACIT_MEMORY, with error->text. */
enum tacit_status tacit_report_write(const struct tacit_report *report, const char *directory,
                                     struct tacit_error *error);

/* ---- A paper, its figures and its claims ----------------------------------------------------- */

/* A curve, or points. A thin line joins points whose names end with a number, in an order along x;
 * of points of a kind each, all of one x, each has a row. */
struct tacit_report_series {
    const char *label;
    uint32_t count;
    const double *x;
    const double *y;
    const double *ci95;       /* half widths around y; NULL: there are none */
    const char *const *names; /* of the points; NULL: it is a curve */
    const double *lo;         /* of a curve, in place of ci95: the ends of its band; NULL: none */
    const double *hi;
    bool is_reference; /* a line to compare with: may leave the figure upwards */
};

struct tacit_report_figure {
    const char *id; /* what its file is called */
    const char *title;
    const char *x_label;
    const char *y_label;
    bool x_is_log;
    bool y_is_log;
    const struct tacit_report_series *series;
    uint32_t series_count;
    bool is_rows; /* every point is a kind: rows with their names, x says nothing */
};

/* Writes an SVG file that asks for nothing: no script, no font, no request. Same figure, same
 * bytes. Errors: TACIT_IO, TACIT_MEMORY. */
enum tacit_status tacit_report_figure_svg(const struct tacit_report_figure *figure, FILE *out);

/* A sentence of a paper, the number that speaks for or against it, and what was found before. */
struct tacit_report_claim {
    const char *id;
    const char *where;
    const char *says;
    const char *measure;
    const char *why; /* or NULL */
    double value;    /* NaN: there is none */
    double ci95;     /* half width of its 95 % interval; 0: it does not vary */
    double lo;       /* the claim holds in [lo, hi] */
    double hi;
    bool is_limit;       /* outside the band it is not reached, which refutes nothing */
    bool was_run;        /* else there is no value */
    const char *reading; /* of ours that the verdict depends on; or NULL */
    const char *checked; /* how else it was found, independently; or NULL */
    enum tacit_verdict record;
};

/* Holds: the whole interval is in the band. Fails, or is not reached if it is a limit: all of it is
 * outside. Else undecided: too few runs to say. */
enum tacit_verdict tacit_report_claim_verdict(const struct tacit_report_claim *claim);

/* A figure beside what the paper shows, and what the paper says about it. */
struct tacit_report_section {
    struct tacit_report_figure figure;
    const char *paper_shows;
    const char *we_show; /* or NULL */
    const struct tacit_report_claim *claims;
    uint32_t claim_count;
    uint32_t hours_left; /* it was not run: hours of processor time that it takes; 0: it was */
};

/* The numbers of an experiment that took part. */
struct tacit_report_experiment {
    const char *name;
    uint32_t run_count;
    const struct tacit_report_metric *metrics;
    uint32_t metric_count;
};

struct tacit_report_paper {
    const char *id;
    const char *title;
    const char *version;
    bool is_fast;
    const char *fast_note; /* what the fast version changes beside the runs; NULL: nothing */
    const struct tacit_report_section *sections;
    uint32_t section_count;
    const struct tacit_report_experiment *experiments;
    uint32_t experiment_count;
};

/* Is every verdict the one on record? In the fast version an undecided claim speaks against
 * nothing; what was not run never does, and what had not been run before may say anything. */
bool tacit_report_as_recorded(const struct tacit_report_paper *paper);

/* Writes the verdicts for a terminal. Errors: TACIT_IO. */
enum tacit_status tacit_report_paper_table(const struct tacit_report_paper *paper, FILE *out);

/* Writes one JSON object, with a newline. Errors: TACIT_IO. */
enum tacit_status tacit_report_paper_json(const struct tacit_report_paper *paper, FILE *out);

/* Writes report.html, claims.md, results.json, curves.csv (a line a figure, series and point) and
 * one SVG file a figure into `directory`, as tacit_report_write does. Errors: TACIT_IO,
 * TACIT_MEMORY, with error->text. */
enum tacit_status tacit_report_paper_write(const struct tacit_report_paper *paper,
                                           const char *directory, struct tacit_error *error);

/* ---- Experiments beside each other ------------------------------------------------------------
 */

/* What another way of playing came to on a grid point's instances. */
struct tacit_report_reference {
    const char *name;    /* of a baseline */
    double regret;       /* mean; NaN: not defined */
    const double *curve; /* curve_points means; NULL: it is not known over time */
};

/* One setting of a comparison: numbers as the report of its experiment has them. */
struct tacit_report_grid_point {
    const char *label;       /* its settings in a few words; unlike those of the others */
    const char *error;       /* why it could not run, or NULL; with it, nothing else is looked at */
    const char *answer;      /* sentence, or NULL */
    bool is_decided;         /* the answer is one arm */
    const char *note;        /* warning, or NULL */
    const char *remark;      /* of the data, or NULL */
    double epsilon;          /* per reward; NaN or infinite: no noise */
    bool epsilon_is_of_user; /* what a user may lose in all, and not per reward */
    uint32_t run_count;
    const struct tacit_report_summary
        *values;                         /* of the comparison's metrics; a NaN mean: it has none */
    struct tacit_report_summary uniform; /* regret of uniform play; NaN: not defined */
    const struct tacit_report_reference
        *references; /* uniform play among them, where it is defined */
    uint32_t reference_count;
    uint32_t curve_points;
    const double *t; /* points of the regret curve */
    const double *regret;
    const double *ci95;
};

struct tacit_report_comparison {
    const char *name;   /* of the experiment; NULL: there are several */
    const char *remark; /* of the data, for the first lines; NULL: none */
    const char *version;
    const struct tacit_metric *const *metrics;
    uint32_t metric_count;
    const struct tacit_report_grid_point *points;
    uint32_t point_count;
    uint32_t points_asked; /* more than point_count: it was stopped */
    const char *json;      /* the results as one JSON object */
};

/* Writes a line a grid point for a terminal. Errors: TACIT_IO. */
enum tacit_status tacit_report_comparison_table(const struct tacit_report_comparison *comparison,
                                                FILE *out);

/* Writes results.json, comparison.csv (a line a grid point), curves.csv (a line a grid point and
 * slot), report.html, and as SVG the curves and regret against epsilon, cost and bytes, as
 * tacit_report_write does. Errors: TACIT_IO, TACIT_MEMORY, with error->text. */
enum tacit_status tacit_report_comparison_write(const struct tacit_report_comparison *comparison,
                                                const char *directory, struct tacit_error *error);

/* ---- What a log says of choices that were not made ---------------------------------------------
 */

struct tacit_report_estimate {
    double value; /* NaN: nothing can be said */
    double ci95;  /* half of its 95 % interval; NaN: there is none */
};

/* One arm, by the rows of a site or by all. */
struct tacit_report_estimates {
    uint32_t row_count;    /* that chose it */
    double effective_rows; /* so many equal weights say as much */
    bool is_thin;          /* they are too few to lean on */
    struct tacit_report_estimate ips;
    struct tacit_report_estimate self_normalised;
    struct tacit_report_estimate doubly_robust;
    double direct;
};

struct tacit_report_log_site {
    const char *name;
    uint32_t row_count;
    uint32_t best_arm; /* by its own doubly robust estimates; arm_count: its rows are too few */
    struct tacit_report_estimate cost; /* of the common best arm there: reward a pull */
    const struct tacit_report_estimates *arms;
};

/* A policy with contexts. */
struct tacit_report_policy {
    const char *name;
    struct tacit_report_estimates estimates; /* rows: whose arm it may choose there */
    struct tacit_report_estimate switched;
    struct tacit_report_estimate gain; /* over what was logged */
};

/* A protocol that the log answered by rejection. */
struct tacit_report_replay {
    const char *protocol;
    struct tacit_report_estimate reward; /* of a pull, over the slots that the log answers */
    uint64_t slots;                      /* of each site */
    uint64_t slots_asked;
    uint64_t pulls;   /* of all sites, in each replay */
    const char *site; /* whose rows were used up first; NULL: nobody's */
    uint32_t run_count;
};

struct tacit_report_evaluation {
    const char *name;
    const char *version;
    const char *propensity; /* "uniform", or the column */
    uint32_t row_count;
    struct tacit_report_estimate logged; /* what the choices that were made earned */
    const char *const *arm_names;
    uint32_t arm_count;
    const struct tacit_report_estimates *arms; /* by all rows */
    const uint32_t *order;                     /* of arms: best first by doubly_robust, thin last */
    const uint32_t *answer; /* arms that may be the best one; the first is order[0] */
    uint32_t answer_count;  /* 0: nothing can be said; 1: decided */
    const char *sentence;
    const struct tacit_report_log_site *sites;
    uint32_t site_count;
    const struct tacit_report_policy *policies; /* in the order of the file */
    uint32_t policy_count;
    const struct tacit_report_replay *replay; /* NULL: there is none, */
    const char *replay_note;                  /* because of this */
    const char *const *warnings;
    uint32_t warning_count;
};

/* As tacit_report_json, tacit_report_table and tacit_report_write. The files: evaluation.json,
 * estimates.csv (a line a site and arm, and one an arm over all), report.html, estimates.svg. */
enum tacit_status tacit_report_evaluation_json(const struct tacit_report_evaluation *evaluation,
                                               FILE *out);
enum tacit_status tacit_report_evaluation_table(const struct tacit_report_evaluation *evaluation,
                                                FILE *out);
enum tacit_status tacit_report_evaluation_write(const struct tacit_report_evaluation *evaluation,
                                                const char *directory, struct tacit_error *error);

/* ---- What would tell the arms apart -----------------------------------------------------------
 */

#define TACIT_REPORT_SETTING_BYTES 400u
#define TACIT_REPORT_CHOICES_MAX 20u

/* A protocol over a network, as settings of a file: "{kind: phased-index, confidence: 0.95}". NaN:
 * it is not known. */
struct tacit_report_choice {
    char protocol[TACIT_REPORT_SETTING_BYTES];
    const char *network;
    bool is_own;           /* the file's own */
    bool never_sure;       /* it has a best arm at any time, and no end */
    bool decides;          /* in the slots that there are */
    double samples;        /* of its horizon in a slot of a site: 1, or the number of sites */
    double formula;        /* the least slots in which it decides, by formula */
    double regret_formula; /* at the file's horizon */
    double slots_needed;   /* by simulation; NaN: more than was looked at, or never_sure */
    double days_needed;    /* at the traffic of the rows */
    double rounds, bytes, cost, regret; /* at the file's horizon */
};

struct tacit_report_plan {
    const char *name;     /* of the experiment */
    const char *file;     /* its path */
    const char *remark;   /* of the data, or NULL */
    const char *instance; /* the setting in place of the file's environment, or NULL */
    bool has_range;       /* and TACIT_REPORT_UNIT_RANGE beside it */
    double width;         /* of the rewards' range, in whose unit regret is told; else 1 */
    const char *version;
    char sentence[300];
    char days[300];                            /* the same in days; "": nothing says how many */
    const double *traffic;                     /* of each weekday from Monday; NULL: as above */
    uint64_t horizon;                          /* slots that there are */
    uint32_t run_count;                        /* of each simulation */
    const struct tacit_report_choice *choices; /* best first */
    uint32_t choice_count;
    const struct tacit_report_choice *best; /* that takes a second aggregator; NULL: none */
    struct tacit_report_choice two;         /* the same with two */
};

#define TACIT_REPORT_UNIT_RANGE "privacy.range=[0, 1]"

/* "phased-index, confidence 0.95, over star" */
void tacit_report_choice_words(const struct tacit_report_choice *choice, char *text, size_t size);

/* As tacit_report_json, tacit_report_table and tacit_report_write. The files: plan.json, plan.csv,
 * slots.svg (if there is something to draw) and report.html. */
enum tacit_status tacit_report_plan_json(const struct tacit_report_plan *plan, FILE *out);
enum tacit_status tacit_report_plan_table(const struct tacit_report_plan *plan, FILE *out);
enum tacit_status tacit_report_plan_write(const struct tacit_report_plan *plan,
                                          const char *directory, struct tacit_error *error);

/* ---- JSON by itself ---------------------------------------------------------------------------
 */

/* Prints text with values in it: %s a text in quotes, or null; %g a number, so that it reads back,
 * %.12g in so many digits, null if it is not finite; %u a count. */
void tacit_report_print_json(FILE *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints a text for people, on a terminal, say: what would command that, or turn the direction of
 * what is read, is shown as U+FFFD, and white space of any kind as a blank. */
void tacit_report_print_text(FILE *out, const char *text);

/* ---- Words ------------------------------------------------------------------------------------
 */

/* Settings as people say them: "phased-index, confidence 0.95" of "protocol={kind: phased-index,
 * confidence: 0.95}", "epsilon 1" of "privacy.epsilon=1". To be given to free(). NULL: no memory.
 */
char *tacit_report_setting_words(const char *settings);

#define TACIT_REPORT_COUNT_BYTES 48u

/* A count with grouped thousands: 1,000,000. */
void tacit_report_count_text(uint64_t count, char text[TACIT_REPORT_COUNT_BYTES]);
#endif
