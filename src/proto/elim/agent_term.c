/* A term begins: whoever judged before has forgotten what it granted. */
#include <string.h>
#include "agent_state.h"

/* The number of the next draw is beyond all numbers before. */
void elim_agent_begin_term(struct tacit_elim_agent *agent, uint64_t term)
{
    uint32_t const arms = agent->config.arm_count;
    agent->number_base = round_play_draw_number(&agent->play) - agent->release_epoch;
    round_play_begin_term(&agent->play, term, agent->draw_epoch == agent->release_epoch);
    agent->draw_epoch = agent->epoch = agent->release_epoch;
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
    round_play_rest(&agent->play);
    TACIT_ASSERT(agent->pulls == agent->release_pulls);
    TACIT_ASSERT(agent->left_count == 0);
}

/* Nothing of before is of use here. */
void elim_agent_drop_history(struct tacit_elim_agent *agent)
{
    TACIT_ASSERT(agent->left_count == 0);
    uint32_t const arms = agent->config.arm_count;
    memset(noised_of(agent), 0, arms * sizeof(uint64_t));
    memset(done_of(agent), 0, arms * sizeof(uint64_t));
    round_site_forget_draw(&agent->grants);
    agent->number_base = round_play_draw_number(&agent->play);
    agent->release_epoch = agent->draw_epoch = agent->epoch = 0;
    agent->release_pulls = agent->pulls = 0;
    if (agent->phase == PHASE_WAITING)
        agent->phase = PHASE_IDLE;
}

void elim_agent_begin_anew(struct tacit_elim_agent *agent, uint64_t term)
{
    uint32_t const arms = agent->config.arm_count;
    TACIT_ASSERT(term > agent->term);
    elim_agent_begin_term(agent, term);
    elim_agent_drop_history(agent);
    tacit_bits_fill(arms_of(agent), arms);
    agent->active_count = arms;
    elim_agent_find_playable(agent);
}
