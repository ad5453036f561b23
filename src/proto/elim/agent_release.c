/* The release of a finished epoch (Li, Song, Alg. 1 l. 9-10): drawn, charged and committed to in
 * one step, and used once it is granted. */
#include <string.h>
#include "agent_state.h"

/* ---- Draws ---- */

/* l. 9: noise for the sum of each active arm, into the report's column. All arms or none. */
static enum tacit_status draw(struct tacit_elim_agent *agent, const struct tacit_entropy *entropy)
{
    TACIT_ASSERT(agent->left_count == 0);
    uint32_t const arms = agent->config.arm_count;
    TACIT_BITS_EACH (arm, arms_of(agent), arms) {
        enum tacit_status const status = tacit_mechanism_release(
            &agent->config.mechanism, exact_of(agent)[arm], entropy, &report_of(agent)[arm]);
        if (status != TACIT_OK)
            return status;
    }
    return TACIT_OK;
}

/* l. 10: what was drawn joins the history, and the exact sums are gone. */
static void add_drawn(struct tacit_elim_agent *agent, union tacit_sum *history)
{
    TACIT_ASSERT(agent->draw_epoch <= agent->epoch);
    uint32_t const arms = agent->config.arm_count;
    struct tacit_scale const *const scale = &agent->config.mechanism.scale;
    TACIT_BITS_EACH (arm, arms_of(agent), arms) {
        tacit_sum_add(scale, &history[arm], report_of(agent)[arm]);
        exact_of(agent)[arm] = (union tacit_sum){0};
    }
    agent->draw_epoch = agent->epoch;
}

/* The digest of the report that a history makes. */
static void digest_history(struct tacit_elim_agent *agent, const union tacit_sum *history,
                           const union tacit_sum *drawn, uint8_t digest[TACIT_SHA256_BYTES])
{
    TACIT_ASSERT(agent->left_count == 0);
    uint32_t const arms = agent->config.arm_count;
    struct tacit_pull_block *const scratch = plan_of(agent); /* no plan is open: 2 K words */
    union tacit_sum *const packed = (union tacit_sum *)(void *)scratch;
    uint32_t count = 0;
    TACIT_BITS_EACH (arm, arms_of(agent), arms) {
        packed[count] = history[arm];
        tacit_sum_add(&agent->config.mechanism.scale, &packed[count++], drawn[arm]);
    }
    TACIT_ASSERT(count == agent->active_count);
    elim_release_digest(agent->pulls, arms_of(agent), arms, packed, count, digest);
    memset(packed, 0, count * sizeof *packed);
}

/* Two aggregators: this round's sums side by side, masked. */
static enum tacit_status mask(struct tacit_elim_agent *agent,
                              const struct tacit_aggregators *aggregators,
                              const struct tacit_entropy *keys)
{
    struct round_agent const round = round_of(agent);
    union tacit_sum *const sums = report_of(agent);
    uint8_t order[TACIT_SHA256_BYTES];
    uint32_t count = 0;
    TACIT_BITS_EACH (arm, arms_of(agent), agent->config.arm_count)
        sums[count++] = sums[arm];
    TACIT_ASSERT(count == agent->active_count);
    tacit_elim_order_digest(agent->pulls, arms_of(agent), agent->config.arm_count, order);
    return round_agent_mask(&round, aggregators, order, keys, (uint64_t *)(void *)sums, count,
                            masked_of(agent));
}

/* Of exact sums nothing is left. */
static void keep_masked(struct tacit_elim_agent *agent)
{
    size_t const bytes = agent->config.arm_count * sizeof(uint64_t);
    TACIT_ASSERT(agent->draw_epoch < agent->epoch);
    memset(pending_of(agent), 0, bytes);
    memcpy(pending_of(agent), report_of(agent), agent->active_count * sizeof(uint64_t));
    memset(report_of(agent), 0, bytes);
    memset(exact_of(agent), 0, bytes);
    agent->draw_epoch = agent->epoch;
}

/* Commits to the history with the draw in it. */
static enum tacit_status commit(struct tacit_elim_agent *agent,
                                const struct tacit_aggregators *aggregators,
                                const struct tacit_entropy *keys)
{
    struct round_agent const round = round_of(agent);
    uint8_t digest[TACIT_SHA256_BYTES] = {0};
    if (agent->config.has_helper)
        return mask(agent, aggregators, keys);
    if (!round.is_numbered)
        digest_history(agent, noised_of(agent), report_of(agent), digest);
    return round_agent_commit(&round, digest, keys);
}

/* l. 9-10: one draw, one spend, one commitment, or none of them. */
static enum tacit_status release(struct tacit_elim_agent *agent,
                                 const struct tacit_elim_event *event,
                                 const struct tacit_entropy *entropy)
{
    TACIT_ASSERT(agent->phase == PHASE_RELEASING);
    struct tacit_ledger ledger = agent->ledger;
    uint64_t const cost_nano = agent->config.has_helper
                                   ? event->aggregators->epsilon_nano
                                   : tacit_mechanism_cost_nano(&agent->config.mechanism);
    enum tacit_status status =
        tacit_ledger_spend(&ledger, agent->number_base + agent->epoch, cost_nano);
    if (status != TACIT_OK) {
        elim_agent_set_phase(agent, PHASE_HALTED);
        return TACIT_BUDGET;
    }
    status = draw(agent, entropy);
    if (status == TACIT_OK && agent->config.has_grants)
        status = commit(agent, event->aggregators, event->keys == NULL ? entropy : event->keys);
    if (status != TACIT_OK && agent->config.has_helper) {
        memset(report_of(agent), 0, agent->config.arm_count * sizeof(uint64_t));
        memset(masked_of(agent), 0, sizeof(struct tacit_helper_release));
    }
    if (status != TACIT_OK)
        return status;
    agent->ledger = ledger;
    if (agent->config.has_grants) {
        if (agent->config.has_helper) {
            keep_masked(agent);
        } else {
            memcpy(pending_of(agent), noised_of(agent), agent->config.arm_count * sizeof(uint64_t));
            add_drawn(agent, pending_of(agent));
        }
        elim_agent_set_phase(agent, PHASE_COMMITTED);
    } else {
        add_drawn(agent, noised_of(agent));
        round_play_use_draw(&agent->play);
        agent->release_pulls = agent->pulls;
        round_play_start_waiting(&agent->play);
    }
    return TACIT_OK;
}

enum tacit_status elim_agent_finish_epoch(struct tacit_elim_agent *agent,
                                          const struct tacit_elim_event *event,
                                          const struct tacit_entropy *entropy,
                                          struct tacit_elim_update *update)
{
    TACIT_ASSERT(agent->phase == PHASE_RELEASING);
    TACIT_ASSERT(agent->draw_epoch < agent->epoch);
    enum tacit_status const status = release(agent, event, entropy);
    if (status == TACIT_OK && agent->config.has_grants)
        elim_agent_send_commit(agent, update);
    else if (status == TACIT_OK && agent->upload)
        elim_agent_send_report(agent, update);
    return status;
}

/* ---- Grants ---- */

/* The draw may be used from now on. */
enum tacit_status elim_agent_hear_grant(struct tacit_elim_agent *agent,
                                        const struct tacit_elim_message *grant,
                                        struct tacit_elim_update *update)
{
    TACIT_ASSERT(update->plan_count == 0);
    struct round_agent const round = round_of(agent);
    bool is_granted;
    enum tacit_status const status = round_agent_hear_grant(&round, &grant->head, &is_granted);
    if (!is_granted)
        return status;
    memcpy(noised_of(agent), pending_of(agent), agent->config.arm_count * sizeof(uint64_t));
    agent->release_pulls = agent->pulls;
    round_play_start_waiting(&agent->play);
    update->persist = true;
    if (agent->upload && !agent->reported)
        elim_agent_send_report(agent, update);
    else if (grant->closed && agent->phase == PHASE_WAITING)
        elim_agent_send_hello(agent, update); /* there is a newer order */
    return TACIT_OK;
}

/* The column of the report is free: what was drawn into it is in the pending history. */
struct tacit_elim_message tacit_elim_agent_draw(const struct tacit_elim_agent *state)
{
    struct tacit_elim_agent *const agent = (struct tacit_elim_agent *)(uintptr_t)state;
    TACIT_ASSERT(agent->config.has_grants);
    TACIT_ASSERT(agent->phase == PHASE_COMMITTED);
    TACIT_ASSERT(agent->draw_epoch == agent->epoch);
    return elim_agent_report_with(agent, pending_of(agent));
}
