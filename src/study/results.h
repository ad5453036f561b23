/* The arrays of an experiment's results, in one list: by it they are made, cut down to what has
 * finished, kept in files and freed. */
#ifndef TACIT_STUDY_RESULTS_H
#define TACIT_STUDY_RESULTS_H
#include "tacit/family.h"

/* A part is an array of lines, each of which has all runs, one after the other. */
struct results_part {
    size_t width; /* bytes of a run in a line */
    size_t lines;
    bool is_wanted;
};

#define RESULTS_PARTS 11u
#define RESULTS_CACHED 9u /* the first of them are kept in files */

/* of_baseline: of these nothing but regret is told. */
void results_list(const struct tacit_experiment *experiment, bool of_baseline,
                  struct results_part parts[RESULTS_PARTS]);

/* The array of a part; NULL: there is none. */
void *results_array(const struct tacit_sim_results *results, size_t part);

/* Requires: all zeros. Ensures: to be given to results_free, whatever the result. False: no memory.
 */
bool results_allocate(struct tacit_sim_results *results, const struct tacit_experiment *experiment,
                      bool of_baseline);

/* Moves the finished runs to the front of all arrays, which have `finished` runs then; returns that
 * number. */
uint32_t results_keep_finished(struct tacit_sim_results *results,
                               const struct tacit_experiment *experiment);

void results_free(struct tacit_sim_results *results);
#endif
