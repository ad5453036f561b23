/* The release of a finished epoch (Li, Song, Alg. 1 l. 9-10): drawn, charged and committed to in
 * one step (round/agent.c), and used once it is granted. */
#include <string.h>
#include "agent_state.h"

uint64_t elim_agent_cost_nano(void *state, const struct tacit_event *event)
{
    struct tacit_elim_agent const *const agent = state;
    TACIT_IMPLIES(agent->config.has_helper, event->aggregators != NULL);
    return agent->config.has_helper ? event->aggregators->epsilon_nano
                                    : tacit_mechanism_cost_nano(&agent->config.mechanism);
}

/* Of the report that the history makes once what was drawn has joined it. */
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

/* Two aggregators: this round's sums side by side, to be masked. */
static void pack_round(struct tacit_elim_agent *agent, struct round_draw *draw)
{
    uint32_t const arms = agent->config.arm_count;
    union tacit_sum *const sums = report_of(agent);
    draw->masked = masked_of(agent);
    draw->count = 0;
    TACIT_BITS_EACH (arm, arms_of(agent), arms)
        sums[draw->count++] = sums[arm];
    TACIT_ASSERT(draw->count == agent->active_count);
    memset(sums + draw->count, 0, (arms - draw->count) * sizeof *sums);
    tacit_elim_order_digest(agent->pulls, arms_of(agent), arms, draw->digest);
}

/* l. 9: noise for the sum of each active arm, into the report's column. */
enum tacit_status elim_agent_draw(void *state, const struct tacit_entropy *entropy,
                                  struct round_draw *draw)
{
    struct tacit_elim_agent *const agent = state;
    uint32_t const arms = agent->config.arm_count;
    union tacit_sum *const sums = report_of(agent);
    TACIT_ASSERT(agent->left_count == 0);
    /* Only masked words have to be gone if the draw comes to nothing; others are overwritten. */
    *draw = (struct round_draw){.words = (uint64_t *)sums,
                                .count = agent->config.has_helper ? arms : 0};
    TACIT_BITS_EACH (arm, arms_of(agent), arms)
        TACIT_TRY(tacit_mechanism_release(&agent->config.mechanism, exact_of(agent)[arm], entropy,
                                          &sums[arm]));
    if (agent->config.has_helper)
        pack_round(agent, draw);
    else if (agent->config.has_grants && !agent->config.numbered_commits)
        digest_history(agent, noised_of(agent), sums, draw->digest);
    return TACIT_OK;
}

/* l. 10: what was drawn joins the history, or the one that waits for its grant; of two aggregators
 * what waits is what was masked. */
void elim_agent_record_draw(void *state)
{
    struct tacit_elim_agent *const agent = state;
    uint32_t const arms = agent->config.arm_count;
    union tacit_sum *const history =
        agent->config.has_grants ? pending_of(agent) : noised_of(agent);
    TACIT_ASSERT(agent->draw_epoch < agent->epoch);
    if (agent->config.has_helper) {
        memcpy(history, report_of(agent), arms * sizeof *history);
        memset(report_of(agent), 0, arms * sizeof *history);
        return;
    }
    if (agent->config.has_grants)
        memcpy(history, noised_of(agent), arms * sizeof *history);
    TACIT_BITS_EACH (arm, arms_of(agent), arms)
        tacit_sum_add(&agent->config.mechanism.scale, &history[arm], report_of(agent)[arm]);
}

/* Also of arms that are out: nobody asks for them any more. */
void elim_agent_erase(void *state)
{
    struct tacit_elim_agent *const agent = state;
    memset(exact_of(agent), 0, agent->config.arm_count * sizeof(uint64_t));
}

void elim_agent_use_draw(void *state)
{
    struct tacit_elim_agent *const agent = state;
    TACIT_ASSERT(agent->release_epoch == agent->epoch);
    TACIT_ASSERT(agent->pulls >= agent->release_pulls || agent->config.has_helper);
    if (agent->config.has_grants)
        memcpy(noised_of(agent), pending_of(agent), agent->config.arm_count * sizeof(uint64_t));
    agent->release_pulls = agent->pulls;
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
