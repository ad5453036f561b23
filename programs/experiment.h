/* Glue: from an experiment file to what the simulator runs. */
#ifndef TACIT_PROGRAMS_EXPERIMENT_H
#define TACIT_PROGRAMS_EXPERIMENT_H
#include "network.h"
#include "tacit/config.h"
#include "tacit/data.h"
#include "tacit/sim.h"

struct experiment {
    struct tacit_config *config;
    struct tacit_sim_elim sim;
    struct network *network; /* NULL: a star */
    uint64_t *points;
    struct tacit_means means;
    struct tacit_log log;
    double *generated;
    double *global_means; /* K; NULL if each run has its own instance */
    char statement[TACIT_STATEMENT_BYTES];
    char note[512]; /* one sentence about the data, or empty */
};

/* Reads the file, applies the settings, reads the data it names, checks that all fits.
 * Ensures: on TACIT_OK the experiment is to be given to experiment_free.
 * Errors: TACIT_INVALID, TACIT_IO, TACIT_MEMORY with error->text for a person. */
enum tacit_status experiment_load(struct experiment *experiment, const char *path,
                                  const char *const *settings, uint32_t set_count,
                                  struct tacit_error *error);
void experiment_free(struct experiment *experiment);

/* The schedule that the hub will follow. With a round limit and an instance per run, gap is 1. */
struct tacit_elim_schedule experiment_schedule(const struct experiment *experiment);

/* t_delay: slots that agents wait for the reports of others in each round. */
uint32_t experiment_delay(const struct experiment *experiment);

/* The name of a mode in files and JSON. */
const char *experiment_mode_name(enum tacit_privacy_mode mode);
#endif
