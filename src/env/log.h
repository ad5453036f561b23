/* Env, inside: rewards drawn from logged rows. */
#ifndef TACIT_ENV_LOG_H
#define TACIT_ENV_LOG_H
#include "tacit/env.h"

/* Adds `count` rewards of the cell, drawn with replacement, to *sum. Cost: O(count), or with values
 * the least of that and O(values of the cell). */
void env_log_pull(const struct tacit_env_log *log, size_t cell, uint64_t count,
                  const struct tacit_scale *scale, struct tacit_rng *rng, union tacit_sum *sum);
#endif
