/* Host: policies that are written elsewhere (in Python, say) and played by the simulator beside its
 * families: same instances, horizons, baselines, answers and pages. `protocol: {kind: own, policy:
 * NAME}` names one; the program that hosts them says here how they are played. */
#ifndef TACIT_HOST_H
#define TACIT_HOST_H
#include "tacit/base.h"
#include "tacit/core.h"
#include "tacit/env.h"

/* The policy of one agent in one run. */
struct tacit_host_player {
    const char *policy; /* its name in the file */
    uint64_t seed; /* for its own chance: another one for each agent and run, the same always */
    uint32_t run;
    uint32_t agent;
    uint32_t arm_count;
    uint64_t horizon;
};

/* What a host owes. Functions may be called by several threads at once, those of one player by one.
 * Each returns TACIT_OK, or TACIT_INVALID: the run ends, and the host says why. */
struct tacit_host {
    void *context;
    /* A fresh policy. */
    enum tacit_status (*begin)(void *context, const struct tacit_host_player *player,
                               uint64_t *handle);
    /* What is played from slot `slot` on, after `reward`, the sum of the rewards of the block
     * before (0 at first). Ensures: an arm, and from 1 to `left` pulls of it. */
    enum tacit_status (*next)(void *context, uint64_t handle, uint64_t slot, uint64_t left,
                              double reward, struct tacit_pull_block *block);
    /* No slot follows; `reward` as above. After a failure of next, too. */
    void (*end)(void *context, uint64_t handle, double reward);
    /* Rewards of an environment of its own: `environment: {kind: gaussian, gaussian: {own: NAME}}`.
     * `name` is the context's. */
    struct tacit_env_source environment;
};

/* Before any experiment is read; NULL: there are none. The host outlives all runs. */
void tacit_host_set(const struct tacit_host *host);

/* NULL: there is none. */
const struct tacit_host *tacit_host_get(void);
#endif
