/* Rejection: a row answers if it shows the arm that was proposed, and with the chance that makes
 * all arms alike likely to be answered. */
#include "replay.h"

void tacit_env_replay_start(struct tacit_env_replay *replay, uint64_t seed, uint32_t run,
                            bool resamples)
{
    struct tacit_env_replay_log const *const log = replay->log;
    TACIT_ASSERT(log != NULL);
    TACIT_ASSERT(replay->limit > 0);
    replay->rng = tacit_rng_stream(seed, run, TACIT_STREAM_COMMON, TACIT_PURPOSE_REPLAY);
    replay->earned = 0;
    replay->pulls = 0;
    for (uint32_t agent = 0; agent < log->agent_count; agent++) {
        uint32_t const first = log->start[agent];
        uint32_t const count = log->start[agent + 1] - first;
        for (uint32_t i = 0; i < count; i++)
            replay->order[first + i] =
                first + (resamples ? (uint32_t)tacit_rng_below(&replay->rng, count) : i);
        if (!resamples)
            tacit_rng_shuffle(&replay->rng, count, replay->order + first);
        replay->next[agent] = first;
        replay->slots[agent] = 0;
        replay->ends[agent] = UINT64_MAX;
    }
}

/* The next row that answers, or false: there is none. */
static bool find(struct tacit_env_replay *replay, uint32_t agent, uint32_t arm, uint32_t *row)
{
    struct tacit_env_replay_log const *const log = replay->log;
    uint32_t const end = log->start[agent + 1];
    while (replay->next[agent] < end) {
        *row = replay->order[replay->next[agent]++];
        TACIT_ASSERT(log->keep[*row] > 0 && log->keep[*row] <= 1);
        if (log->arms[*row] == arm && tacit_rng_bernoulli(&replay->rng, log->keep[*row]))
            return true;
    }
    return false;
}

uint64_t env_replay_pull(struct tacit_env_replay *replay, uint32_t agent, uint32_t arm,
                         uint64_t count, const struct tacit_scale *scale, union tacit_sum *sum)
{
    TACIT_ASSERT(agent < replay->log->agent_count);
    uint64_t taken = 0;
    uint32_t row;
    if (replay->ends[agent] != UINT64_MAX)
        return 0;
    for (; taken < count; taken++) {
        if (!find(replay, agent, arm, &row)) {
            replay->ends[agent] = replay->slots[agent];
            break;
        }
        tacit_sum_add_reward(scale, sum, replay->log->rewards[row], 1);
        if (replay->slots[agent]++ < replay->limit) {
            replay->earned += replay->log->rewards[row];
            replay->pulls++;
        }
    }
    TACIT_ASSERT(taken <= count);
    return taken;
}

uint64_t tacit_env_replay_length(const struct tacit_env_replay *replay, uint64_t horizon,
                                 uint32_t *agent)
{
    uint64_t length = horizon;
    *agent = 0;
    for (uint32_t i = 0; i < replay->log->agent_count; i++) {
        if (replay->ends[i] >= length)
            continue;
        length = replay->ends[i];
        *agent = i;
    }
    return length;
}
