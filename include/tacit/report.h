/* Report: turns the raw results of an experiment into JSON, CSV, SVG and a page that a person
 * reads. Does input and output; knows nothing of protocols: metrics, curves and arms come with
 * their names. */
#ifndef TACIT_REPORT_H
#define TACIT_REPORT_H
#include <stdio.h>
#include "tacit/base.h"

/* One metric: its name in JSON and one value a run. */
struct tacit_report_metric {
    const char *name;
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

struct tacit_report {
    const char *name;
    const char *title_note; /* one sentence about the data, or NULL */
    const char *version;
    uint64_t seed;
    uint32_t run_count;  /* runs that finished, at least one */
    uint32_t runs_asked; /* more than run_count if the experiment was stopped */
    uint32_t agent_count;
    uint64_t horizon;
    const char *privacy_mode;  /* none, paper, sound */
    double epsilon_per_reward; /* INFINITY: no noise */
    const char *statement;
    const struct tacit_report_metric *metrics;
    uint32_t metric_count;
    const uint64_t *points; /* point_count times t */
    uint32_t point_count;
    const struct tacit_report_curve *curves; /* the first is the one that is drawn */
    uint32_t curve_count;
    const struct tacit_report_arm *arms;
    uint32_t arm_count;
};

/* Mean, sample standard deviation (0 for one value), half width of the normal 95 % interval of the
 * mean, extremes. Requires: count > 0. */
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

/* Writes summary.json, curve.csv, runs.csv, figure.svg and report.html into `directory`, which is
 * made if it does not exist. Each file appears whole or not at all. figure.svg needs gnuplot in the
 * path. Errors: TACIT_IO, TACIT_MEMORY, with error->text. */
enum tacit_status tacit_report_write(const struct tacit_report *report, const char *directory,
                                     struct tacit_error *error);
#endif
