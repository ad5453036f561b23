/* Could a step have left this state? (For bytes from a disk.) */
#include <string.h>
#include "agent_state.h"

/* Orders and releases tell one story. */
static bool history_is_possible(struct tacit_elim_agent *agent)
{
    uint32_t const arms = agent->config.arm_count;
    return agent->pulls <= TACIT_HORIZON_MAX &&
           (agent->config.has_helper || agent->release_pulls <= agent->pulls) &&
           (!agent->awaiting_first_order ||
            (agent->pulls == agent->release_pulls && !agent->upload)) &&
           tacit_bits_within(arms_of(agent), arms_of(agent), arms) &&
           agent->active_count == tacit_bits_count(arms_of(agent), arms) &&
           agent->active_count >= 1 && (!agent->last || agent->active_count == 1) &&
           agent->leader <= arms &&
           (agent->leader == 0 || tacit_bits_has(arms_of(agent), agent->leader - 1));
}

/* The log, what follows from it, and what was refused beside it. */
static bool changes_are_possible(struct tacit_elim_agent *agent)
{
    struct tacit_elim_agent_config const *const config = &agent->config;
    uint32_t const arms = config->arm_count;
    if (config->change_max == 0)
        return agent->horizon == config->horizon && agent->change_count == 0 && !agent->dropped;
    if (agent->horizon < config->horizon || agent->horizon > TACIT_HORIZON_MAX ||
        agent->change_count > config->change_max ||
        !tacit_bits_within(barred_of(agent), barred_of(agent), arms) ||
        !tacit_bits_within(refused_of(agent), barred_of(agent), arms) ||
        !tacit_bits_within(playable_of(agent), playable_of(agent), arms) ||
        tacit_bits_count(barred_of(agent), arms) >= arms)
        return false;
    for (uint32_t i = 0; i < agent->change_count; i++)
        if (changes_of(agent)[i].number != i + 1 ||
            !elim_change_is_possible(&changes_of(agent)[i], config->agent_count, arms))
            return false;
    for (uint32_t arm = 0; arm < arms; arm++)
        if (tacit_bits_has(playable_of(agent), arm) && tacit_bits_has(barred_of(agent), arm))
            return false;
    return tacit_bits_count(playable_of(agent), arms) >= 1;
}

/* Pulls and plan fit T, the phase and the active arms. */
static bool pulls_are_possible(struct tacit_elim_agent *agent)
{
    uint64_t const horizon = agent->horizon;
    uint64_t left_count = 0;
    uint64_t done_count = 0;
    for (uint32_t arm = 0; arm < agent->config.arm_count; arm++) {
        uint64_t const left = left_of(agent)[arm];
        uint64_t const done = done_of(agent)[arm];
        bool const is_exploited = agent->last || (agent->cut && agent->leader > 0 &&
                                                  arm == elim_agent_arm_to_exploit(agent));
        if (left > horizon || done > horizon || done > agent->pulls ||
            (left > agent->pulls - done && !is_exploited) ||
            (left > 0 && !tacit_bits_has(playable_of(agent), arm)))
            return false;
        left_count += left; /* 2^16 arms of 2^40 pulls: 2^56 fits */
        done_count += done;
    }
    return left_count == agent->left_count && done_count <= agent->pull_count;
}

static bool sums_are_possible(struct tacit_elim_agent *agent)
{
    struct tacit_mechanism const *const mechanism = &agent->config.mechanism;
    if (mechanism->scale.kind == TACIT_SCALE_REAL)
        return true; /* a real sum may be anything */
    for (uint32_t arm = 0; arm < agent->config.arm_count; arm++) {
        int64_t const exact = exact_of(agent)[arm].steps;
        uint64_t const done = done_of(agent)[arm];
        if (exact < 0 || exact > (int64_t)done * TACIT_STEPS)
            return false;
        if (agent->config.has_helper)
            continue; /* what is masked may be anything */
        if (!tacit_mechanism_plausible(mechanism, noised_of(agent)[arm], done,
                                       agent->release_epoch))
            return false;
        if (agent->config.has_grants && agent->phase == PHASE_COMMITTED &&
            !tacit_mechanism_plausible(mechanism, pending_of(agent)[arm], done, agent->draw_epoch))
            return false;
    }
    return true;
}

enum tacit_status tacit_elim_agent_check(const struct tacit_elim_agent *state, size_t size,
                                         const struct tacit_elim_agent_config *config)
{
    struct tacit_elim_agent *const agent = (struct tacit_elim_agent *)(uintptr_t)state;
    if (size == 0 || size != tacit_elim_agent_size(config) ||
        memcmp(&agent->config, config, sizeof *config) != 0)
        return TACIT_MALFORMED;
    struct round_agent const round = elim_agent_round(agent);
    bool const is_possible = round_agent_is_possible(&round, config->budget_nano) &&
                             *(const unsigned char *)&agent->upload <= 1 &&
                             *(const unsigned char *)&agent->dropped <= 1 &&
                             changes_are_possible(agent) && history_is_possible(agent) &&
                             pulls_are_possible(agent) && sums_are_possible(agent);
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
}
