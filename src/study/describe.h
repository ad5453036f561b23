/* From an experiment and its runs to what the report writes: what `tacit run` and `tacit compare`
 * have in common. */
#ifndef TACIT_PROGRAMS_DESCRIBE_H
#define TACIT_PROGRAMS_DESCRIBE_H
#include "simulate.h"
#include "tacit/report.h"

/* A report and what it points into, beside the experiment and the simulation. It does not move. */
struct description {
    struct tacit_report report;
    struct tacit_report_network network;
    struct tacit_report_curve *curves;
    struct tacit_report_metric *metrics;
    struct tacit_report_arm *arms;
    double *arm_ci95; /* NULL: means are not those of rows */
    struct tacit_report_baseline *baselines;
    double *baseline_curves; /* rows of point_count, one a baseline */
};

/* Requires: at least one run has finished; experiment and simulation outlive the description.
 * Ensures: to be given to description_free, whatever the status. Errors: TACIT_MEMORY. */
enum tacit_status description_make(struct description *description,
                                   const struct tacit_experiment *experiment,
                                   const struct simulation *simulation);
void description_free(struct description *description);
#endif
