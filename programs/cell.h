/* One setting of a comparison: what is run, and what came of it, which is its JSON text: the same
 * whether it was run now or found in a folder of an earlier call. */
#ifndef TACIT_PROGRAMS_CELL_H
#define TACIT_PROGRAMS_CELL_H
#include <jansson.h>
#include "simulate.h"
#include "tacit/commit.h"
#include "tacit/family.h"
#include "tacit/report.h"
#include "tacit/sim.h"

struct cell {
    const char *file;
    bool is_at_once;       /* logged rewards are drawn many at once: TACIT_EXPERIMENT_AT_ONCE */
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

/* Takes what lies there, and plays nothing: json stays NULL where nothing does. What is wrong with
 * the cell is its result. Errors: TACIT_MEMORY. */
enum tacit_status cell_look(struct cell *cell, const char *kept);

/* What one rank played of a cell: all of it (json), or some of its runs (part). */
struct cell_share {
    uint8_t digest[TACIT_SHA256_BYTES]; /* of the file, the settings and the data */
    bool is_loaded;                     /* false: it could not be, and there is no digest */
    enum tacit_status status;           /* of the playing */
    struct simulation_part part;
    char *json;
};

/* Plays share `index` of `count`; the only one leaves the cell's text in cell->json. Requires:
 * nobody else uses this control. Errors: TACIT_MEMORY, TACIT_INTERRUPTED. */
enum tacit_status cell_play(struct cell *cell, uint32_t index, uint32_t count,
                            uint32_t thread_count, struct tacit_sim_control *control,
                            struct cell_share *share);

/* Makes of all its shares what cell_run makes, and keeps it in the same way. *other: the first
 * share that was played with another file, setting or data than here (then json stays NULL), or
 * count. Errors: TACIT_MEMORY, TACIT_INTERRUPTED. */
enum tacit_status cell_join(struct cell *cell, const char *kept, struct cell_share *shares,
                            uint32_t count, uint32_t thread_count,
                            struct tacit_sim_control *control, uint32_t *other);

void cell_share_free(struct cell_share *share);

/* Fills root and report for these metrics. Requires: it was run. Errors: TACIT_MEMORY. */
enum tacit_status cell_read(struct cell *cell);
enum tacit_status cell_values(struct cell *cell, const struct tacit_metric *const *metrics,
                              uint32_t metric_count);

void cell_free(struct cell *cell);
#endif
