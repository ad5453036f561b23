/* Could a step have left this state? (For bytes from a disk.) */
#include <string.h>
#include "agent_state.h"

static bool same_config(const struct tacit_elim_agent_config *kept,
                        const struct tacit_elim_agent_config *config)
{
    struct tacit_elim_agent_config copy;
    memset(&copy, 0, sizeof copy);
    elim_agent_config_copy(&copy, config);
    return memcmp(kept, &copy, sizeof copy) == 0;
}

/* Is a truth value one of two? (Bytes from a disk may be any.) */
static bool flag_is_possible(const bool *flag)
{
    return *(const unsigned char *)flag <= 1;
}

/* Nothing of a term is left in another. */
static bool term_is_possible(const struct tacit_elim_agent *agent)
{
    bool const is_first = agent->term == 0;
    return agent->number_base <= UINT64_MAX / 2 &&
           (!is_first || (agent->number_base == 0 && !agent->unplaced)) &&
           agent->release_number <= draw_number(agent) && agent->release_pulls <= agent->pulls &&
           (!is_first || agent->release_number == agent->release_epoch) &&
           (!agent->unplaced ||
            (agent->draw_epoch == agent->epoch && agent->draw_epoch == agent->release_epoch &&
             agent->pulls == agent->release_pulls && !agent->last && !agent->upload));
}

/* Orders, releases and the ledger tell one story. */
static bool history_is_possible(struct tacit_elim_agent *agent)
{
    struct tacit_ledger const *const ledger = &agent->ledger;
    uint32_t const arms = agent->config.arm_count;
    bool const is_pending = agent->draw_epoch > agent->release_epoch;
    bool const may_be_pending = agent->phase == PHASE_COMMITTED || agent->phase == PHASE_HALTED;
    return agent->epoch <= TACIT_ELIM_EPOCHS_MAX && agent->release_epoch <= agent->draw_epoch &&
           agent->draw_epoch <= agent->epoch && (!is_pending || may_be_pending) &&
           (is_pending || agent->phase != PHASE_COMMITTED) &&
           (agent->config.has_grants || (!is_pending && agent->grants.blocked == 0)) &&
           agent->pulls <= TACIT_HORIZON_MAX &&
           tacit_bits_within(arms_of(agent), arms_of(agent), arms) &&
           agent->active_count == tacit_bits_count(arms_of(agent), arms) &&
           agent->active_count >= 1 && (!agent->last || agent->active_count == 1) &&
           agent->leader <= arms &&
           (agent->leader == 0 || tacit_bits_has(arms_of(agent), agent->leader - 1)) &&
           ledger->budget_nano == agent->config.budget_nano &&
           tacit_ledger_spent_nano(ledger) <= ledger->budget_nano &&
           ledger->open_cell == draw_number(agent) && ledger->release_count <= draw_number(agent) &&
           (ledger->release_count > 0) == (draw_number(agent) > 0);
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
    bool const is_at_end = agent->pull_count == horizon;
    bool const is_open = agent->phase == PHASE_PULLING;
    bool const is_at_rest = agent->phase == PHASE_IDLE || agent->phase == PHASE_WAITING;
    return agent->pull_count <= horizon && left_count <= horizon - agent->pull_count &&
           left_count == agent->left_count && is_open == (left_count > 0) &&
           done_count <= agent->pull_count && (agent->phase != PHASE_FINISHED || is_at_end) &&
           !(is_at_rest && is_at_end) && (agent->phase != PHASE_IDLE || agent->epoch == 0) &&
           (agent->phase != PHASE_RELEASING || agent->draw_epoch < agent->epoch) &&
           (agent->phase != PHASE_COMMITTED || agent->draw_epoch == agent->epoch);
}

static bool sums_are_possible(struct tacit_elim_agent *agent)
{
    struct tacit_mechanism const *const mechanism = &agent->config.mechanism;
    if (mechanism->scale.kind == TACIT_SCALE_REAL)
        return true; /* a real sum may be anything */
    for (uint32_t arm = 0; arm < agent->config.arm_count; arm++) {
        int64_t const exact = exact_of(agent)[arm].steps;
        uint64_t const done = done_of(agent)[arm];
        if (exact < 0 || exact > (int64_t)done * TACIT_STEPS ||
            !tacit_mechanism_plausible(mechanism, noised_of(agent)[arm], done,
                                       (uint32_t)agent->release_epoch))
            return false;
        if (agent->config.has_grants && agent->phase == PHASE_COMMITTED &&
            !tacit_mechanism_plausible(mechanism, pending_of(agent)[arm], done,
                                       (uint32_t)agent->draw_epoch))
            return false;
    }
    return true;
}

enum tacit_status tacit_elim_agent_check(const struct tacit_elim_agent *state, size_t size,
                                         const struct tacit_elim_agent_config *config)
{
    struct tacit_elim_agent *const agent = (struct tacit_elim_agent *)(uintptr_t)state;
    if (size == 0 || size != tacit_elim_agent_size(config) || !same_config(&agent->config, config))
        return TACIT_MALFORMED;
    bool const is_possible =
        agent->phase <= PHASE_HALTED && flag_is_possible(&agent->last) &&
        flag_is_possible(&agent->upload) && flag_is_possible(&agent->reported) &&
        flag_is_possible(&agent->cut) && round_site_is_possible(&agent->grants) &&
        flag_is_possible(&agent->unplaced) && flag_is_possible(&agent->dropped) &&
        changes_are_possible(agent) && term_is_possible(agent) && history_is_possible(agent) &&
        pulls_are_possible(agent) && sums_are_possible(agent);
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
}
