/* What arms, policies and the protocol would have earned on logged rows. */
#ifndef TACIT_STUDY_EVALUATE_H
#define TACIT_STUDY_EVALUATE_H
#include "tacit/family.h"
#include "tacit/off_policy.h"
#include "tacit/report.h"

#define EVALUATION_WARNINGS_MAX 24u /* of each kind a third */

struct evaluation {
    const struct tacit_log *log;
    struct tacit_report_evaluation report;
    struct tacit_off_policy_arm *results; /* (A + 1) x K */
    struct tacit_report_estimates *arms;  /* the same, as the report has them */
    struct tacit_report_log_site *sites;
    char (*site_names)[32]; /* where the log has none */
    uint32_t *order;
    uint32_t *answer;
    char sentence[800];
    char warning_texts[EVALUATION_WARNINGS_MAX][300];
    const char *warnings[EVALUATION_WARNINGS_MAX];
    struct tacit_report_policy *policies;
    double *policy_deviations; /* of the means of their weights from 1 */
    struct tacit_report_replay replay;
    struct tacit_env_replay_log rows; /* of the replay */
    void *row_memory[4];
};

/* Is the protocol replayed, and said on stderr that this takes long? */
enum evaluation_replay { EVALUATION_REPLAY, EVALUATION_QUIET, EVALUATION_ESTIMATES };

/* Is there a log whose propensities are known, and can it be evaluated? Errors: TACIT_INVALID, with
 * error->text. */
enum tacit_status evaluation_check(const struct tacit_experiment *experiment,
                                   struct tacit_error *error);

/* Fills evaluation->report. Requires: evaluation_check; one player of simulate_control at a time.
 * Ensures: it is to be given to evaluation_free, whatever the status. Errors: as
 * study_policies_value and simulate. */
enum tacit_status evaluation_make(struct evaluation *evaluation,
                                  struct tacit_experiment *experiment,
                                  enum evaluation_replay replays, uint32_t thread_count,
                                  struct tacit_error *error);

void evaluation_free(struct evaluation *evaluation);
#endif
