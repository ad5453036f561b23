/* Policies with contexts, valued on logged rows. */
#ifndef TACIT_STUDY_POLICIES_H
#define TACIT_STUDY_POLICIES_H
#include "tacit/config.h"
#include "tacit/data.h"
#include "tacit/off_policy.h"

/* Fills a result for each policy of config->log. Rewards are guessed from the contexts by a ridge
 * or logistic regression for each arm (penalty 1/2 |theta|^2; numbers standardised, words a
 * coordinate each), for the rows of each fold from those of the other four. A trained policy
 * chooses the arm that is guessed best from the folds before the row's: the first fold trains only.
 * `seed`: of the bootstrap, where the file asks for it.
 * Requires: a log with propensities and the fields of config->columns. Errors: TACIT_MEMORY;
 * TACIT_INVALID with "csv:line: what is wrong, what is allowed". Cost: O(n d^2 + n K d). */
enum tacit_status study_policies_value(const struct tacit_log *log,
                                       const struct tacit_config_log *config, uint64_t seed,
                                       struct tacit_off_policy_policy *results,
                                       struct tacit_error *error);
#endif
