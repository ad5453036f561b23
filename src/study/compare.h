/* Grid points of one or several files, side by side on all processors, or the share of them that is
 * this call's; and what came of them beside each other. */
#ifndef TACIT_STUDY_COMPARE_H
#define TACIT_STUDY_COMPARE_H
#include <stdatomic.h>
#include "grid_point.h"
#include "shard.h"

struct comparison {
    struct grid_point *points; /* file, settings and label */
    uint32_t count;
    bool are_files;   /* they are of several files */
    const char *file; /* the first one */
    const char *out;  /* folder of the report, and of what is finished; NULL: there is none */
    struct shard shard;
    bool finishes; /* what shares have not finished is played */
    uint32_t thread_count;
    bool is_shown; /* how many are done, on the terminal */
    struct tacit_sim_control *control;
};

/* What came of it. */
struct compared {
    uint32_t run;   /* points that have a result, now at the front */
    uint32_t wrong; /* of these: that could not run */
    uint32_t missing;
    char text[400]; /* which shares miss them */
};

/* Plays, or puts shares together. Errors: TACIT_INTERRUPTED: it was stopped, and some have results;
 * with error->text TACIT_INVALID and TACIT_IO of the folder; TACIT_MEMORY. */
enum tacit_status comparison_run(struct comparison *comparison, struct compared *compared,
                                 struct tacit_error *error);

/* Prints the results, as a table or one JSON object, and writes the report. Errors: TACIT_MEMORY;
 * TACIT_IO with error->text. */
enum tacit_status comparison_write(struct comparison *comparison, const struct compared *compared,
                                   bool json, FILE *out, struct tacit_error *error);
#endif
