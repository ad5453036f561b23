/* What ends: a plan that is overtaken, a term, whose judge has forgotten what it granted, a
 * history. */
#include <string.h>
#include "agent_state.h"

/* What is pulled counts for the next plan; with two aggregators it is dropped where another one
 * follows. */
void elim_agent_drop_plan(void *state)
{
    struct tacit_elim_agent *const agent = state;
    size_t const bytes = agent->config.arm_count * sizeof(uint64_t);
    memset(left_of(agent), 0, bytes);
    if (agent->config.has_helper) {
        memset(done_of(agent), 0, bytes);
        memset(exact_of(agent), 0, bytes);
    }
}

void elim_agent_begin_term(void *state)
{
    struct tacit_elim_agent *const agent = state;
    uint32_t const arms = agent->config.arm_count;
    TACIT_ASSERT(agent->epoch == agent->release_epoch && agent->left_count == 0);
    TACIT_IMPLIES(agent->config.has_helper, agent->config.change_max == 0);
    TACIT_ASSERT(agent->awaiting_first_order);
    agent->pulls = agent->release_pulls;
    agent->leader = 0;
    agent->upload = false;
    memset(left_of(agent), 0, arms * sizeof(uint64_t));
    memset(exact_of(agent), 0, arms * sizeof(uint64_t));
    if (agent->config.has_grants)
        memset(pending_of(agent), 0, arms * sizeof(uint64_t));
    for (uint32_t arm = 0; arm < arms; arm++)
        if (done_of(agent)[arm] > agent->pulls)
            done_of(agent)[arm] = agent->pulls;
    if (agent->config.change_max > 0) { /* a log that is forgotten brings no arm back */
        memcpy(refused_of(agent), barred_of(agent), TACIT_BITS_WORDS(arms) * sizeof(uint64_t));
        memset(changes_of(agent), 0, agent->change_count * sizeof *changes_of(agent));
        agent->change_count = 0;
        agent->dropped = false;
    }
}

/* Nothing of before is of use here. */
void elim_agent_forget(void *state)
{
    struct tacit_elim_agent *const agent = state;
    uint32_t const arms = agent->config.arm_count;
    TACIT_ASSERT(agent->left_count == 0);
    memset(noised_of(agent), 0, arms * sizeof(uint64_t));
    memset(done_of(agent), 0, arms * sizeof(uint64_t));
    agent->release_pulls = agent->pulls = 0;
}
