/* What an agent says: commitments, reports (Li, Song, Alg. 1 l. 11) and "what now?". */
#include "agent_state.h"

/* What it says that it does not play. NULL: it plays all that is asked for. */
static const uint64_t *refused_to_say(const struct tacit_elim_agent *state)
{
    struct tacit_elim_agent *const agent = (struct tacit_elim_agent *)(uintptr_t)state;
    uint32_t const arms = agent->config.arm_count;
    bool const is_any =
        agent->config.change_max > 0 && tacit_bits_next(refused_of(agent), arms, 0) < arms;
    return is_any ? refused_of(agent) : NULL;
}

static struct tacit_elim_message message_of(const struct tacit_elim_agent *agent,
                                            enum tacit_elim_message_kind kind)
{
    struct round_agent const round = round_of(agent);
    return (struct tacit_elim_message){.kind = kind, .head = round_agent_head(&round)};
}

void elim_agent_send_commit(const struct tacit_elim_agent *agent, struct tacit_elim_update *update)
{
    TACIT_ASSERT(agent->config.has_grants);
    TACIT_ASSERT(!update->send);
    TACIT_ASSERT(agent->phase == PHASE_COMMITTED);
    update->send = true;
    update->message = message_of(agent, TACIT_ELIM_COMMIT);
    update->message.refused = refused_to_say(agent);
}

struct tacit_elim_message elim_agent_report_with(struct tacit_elim_agent *agent,
                                                 const union tacit_sum *history)
{
    uint32_t const arms = agent->config.arm_count;
    uint32_t count = 0;
    TACIT_BITS_EACH (arm, arms_of(agent), agent->config.has_helper ? 0 : arms)
        report_of(agent)[count++] = history[arm];
    TACIT_ASSERT(count == (agent->config.has_helper ? 0 : agent->active_count));
    struct tacit_elim_message report = message_of(agent, TACIT_ELIM_REPORT);
    report.pulls = agent->pulls;
    report.arms = arms_of(agent);
    report.sum_count = agent->active_count;
    report.sums = agent->config.has_helper ? history : report_of(agent);
    report.masked = agent->config.has_helper ? masked_of(agent) : NULL;
    return report;
}

void elim_agent_send_report(struct tacit_elim_agent *agent, struct tacit_elim_update *update)
{
    TACIT_ASSERT(agent->upload);
    TACIT_ASSERT(!update->send);
    update->send = true;
    update->message = elim_agent_report_with(agent, noised_of(agent));
}

void elim_agent_send_hello(const struct tacit_elim_agent *agent, struct tacit_elim_update *update)
{
    TACIT_ASSERT(!update->send);
    update->send = true;
    update->message = message_of(agent, TACIT_ELIM_HELLO);
    update->message.refused = refused_to_say(agent);
}

/* What a waiting agent says when it has waited long enough: its report again, or "what now?". */
void elim_agent_ask_again(struct tacit_elim_agent *agent, struct tacit_elim_update *update)
{
    if (agent->upload && !agent->reported && agent->release_epoch > 0)
        elim_agent_send_report(agent, update);
    else
        elim_agent_send_hello(agent, update);
}

/* T came with the end of an epoch whose report is asked for, and no word of the hub says that it
 * came. */
bool elim_agent_owes_report(const struct tacit_elim_agent *agent)
{
    return agent->phase == PHASE_FINISHED && agent->upload && !agent->reported &&
           agent->release_epoch == agent->epoch;
}
