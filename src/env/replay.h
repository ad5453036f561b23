/* Env, inside: what the draws of env.c ask of a replay. */
#ifndef TACIT_ENV_REPLAY_H
#define TACIT_ENV_REPLAY_H
#include "tacit/env.h"

/* Adds the rewards of up to `count` pulls to *sum, and returns how many were answered: fewer when
 * the agent's rows are used up. Cost: O(rows passed over). */
uint64_t env_replay_pull(struct tacit_env_replay *replay, uint32_t agent, uint32_t arm,
                         uint64_t count, const struct tacit_scale *scale, union tacit_sum *sum);
#endif
