/* One setting of a comparison: what is run, and what came of it, which is its JSON text: the same
 * whether it was run now or found in a folder of an earlier call. */
#ifndef TACIT_STUDY_GRID_POINT_H
#define TACIT_STUDY_GRID_POINT_H
#include <jansson.h>
#include "simulate.h"
#include "tacit/commit.h"
#include "tacit/family.h"
#include "tacit/report.h"
#include "tacit/sim.h"

struct grid_point {
    const char *file;
    const struct tacit_experiment *rows; /* whose rows are its, too; NULL: nobody's */
    bool is_at_once;       /* logged rewards are drawn many at once: TACIT_EXPERIMENT_AT_ONCE */
    const char **settings; /* KEY=VALUE; the last grid_count are the point's own */
    uint32_t setting_count;
    uint32_t grid_count;
    char *label;
    char *json;   /* an object without a line feed at its end; NULL: it has not been run */
    json_t *root; /* what it says */
    struct tacit_report_grid_point report;
    const struct tacit_family *family; /* NULL: the file could not be read */
    double *numbers;                   /* of the curve in `report`, and of its references */
    struct tacit_report_reference *references;
    struct tacit_report_summary *values;
};

/* Where finished points, and shares of the runs of others, are kept. */
struct grid_cache {
    const char *folder;                  /* NULL: there is none */
    uint8_t program[TACIT_SHA256_BYTES]; /* run_cache_digest_program */
};

/* Takes what lies in the cache under the same file, settings, data and version, plays the runs that
 * it does not have, and leaves there what is played to its end. What is wrong with the point is its
 * result. Ensures: json is set, or the status is not TACIT_OK. Errors: TACIT_INTERRUPTED,
 * TACIT_MEMORY; with error->text TACIT_INVALID, TACIT_IO of the cache. */
enum tacit_status grid_point_run(struct grid_point *point, const struct grid_cache *cache,
                                 uint32_t thread_count, struct tacit_sim_control *control,
                                 struct tacit_error *error);

/* The same, and nothing is played: json stays NULL where the cache does not have all runs, and then
 * missing[i] says whether it lacks some of share i of `count`. */
enum tacit_status grid_point_gather(struct grid_point *point, const struct grid_cache *cache,
                                    uint32_t count, bool *missing,
                                    struct tacit_sim_control *control, struct tacit_error *error);

/* Plays share `index` of `count` of its runs into the cache, unless they are there. Errors: as
 * grid_point_run; what is wrong with the point is not told here. */
enum tacit_status grid_point_share(struct grid_point *point, const struct grid_cache *cache,
                                   uint32_t index, uint32_t count, uint32_t thread_count,
                                   struct tacit_sim_control *control, struct tacit_error *error);

/* Fills root and report for these metrics. Requires: it was run. Errors: TACIT_MEMORY. */
enum tacit_status grid_point_read(struct grid_point *point);
enum tacit_status grid_point_values(struct grid_point *point,
                                    const struct tacit_metric *const *metrics,
                                    uint32_t metric_count);

void grid_point_free(struct grid_point *point);
#endif
