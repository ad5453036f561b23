/* One setting of a comparison: what is run, and what came of it, which is its JSON text: the same
 * whether it was run now or found in a folder of an earlier call. */
#ifndef TACIT_PROGRAMS_CELL_H
#define TACIT_PROGRAMS_CELL_H
#include <jansson.h>
#include "tacit/family.h"
#include "tacit/report.h"
#include "tacit/sim.h"

struct cell {
    const char *file;
    const char **settings; /* KEY=VALUE; the last grid_count are the cell's own */
    uint32_t setting_count;
    uint32_t grid_count;
    char *label;
    char *json;   /* an object without a line feed at its end; NULL: it has not been run */
    json_t *root; /* what it says */
    struct tacit_report_cell report;
    const struct tacit_family *family; /* NULL: the file could not be read */
    double *numbers;                   /* of the curve in `report`, and of its references */
    struct tacit_report_reference *references;
    struct tacit_report_summary *values;
};

/* Runs the cell, or takes what lies in the folder `kept` (NULL: there is none) under the same file,
 * settings, data and version; leaves there what it runs to its end. What is wrong with the cell is
 * its result. Ensures: json is set, or the status is TACIT_INTERRUPTED or TACIT_MEMORY. */
enum tacit_status cell_run(struct cell *cell, const char *kept, uint32_t thread_count,
                           struct tacit_sim_control *control);

/* Fills root and report for these metrics. Requires: it was run. Errors: TACIT_MEMORY. */
enum tacit_status cell_read(struct cell *cell);
enum tacit_status cell_values(struct cell *cell, const struct tacit_metric *const *metrics,
                              uint32_t metric_count);

void cell_free(struct cell *cell);
#endif
