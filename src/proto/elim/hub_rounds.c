/* The rounds of the hub: who counts, what an order says, what reports add up to (Li, Song, Alg. 1
 * l. 12), who is asked next, and how long they are waited for. */
#include <string.h>
#include "hub_state.h"

/* ---- Who counts ---- */

/* Agents that suffice once the deadline is over. */
uint32_t elim_hub_quorum(void *state)
{
    struct tacit_elim_hub *const hub = state;
    uint32_t const wanted = hub->quorum > 0 ? hub->quorum : hub->config.schedule.report_count;
    if (hub->config.change_max == 0)
        return wanted;
    uint32_t const most = eligible_count(hub);
    return wanted < most ? wanted : most > 0 ? most : 1;
}

/* After the arms or the sites became fewer: who abstains, and N of the paper's S(r). With exact
 * bounds the ladder stays. */
void elim_hub_count_eligible(struct tacit_elim_hub *hub)
{
    TACIT_ASSERT(hub->config.change_max > 0);
    uint32_t const arms = hub->config.schedule.arm_count;
    for (uint32_t agent = 0; agent < hub->config.agent_count; agent++) {
        bool abstains = false;
        TACIT_BITS_EACH (arm, refused_of(hub, agent), arms)
            abstains = abstains || (tacit_bits_has(active_of(hub), arm) && !is_retired(hub, arm));
        if (abstains)
            tacit_bits_add(abstaining_of(hub), agent);
        else
            tacit_bits_remove(abstaining_of(hub), agent);
    }
    uint32_t const most = hub->config.schedule.report_count;
    uint32_t const count = eligible_count(hub);
    if (!elim_is_exact(&hub->config.schedule))
        hub->schedule.report_count = count == 0 ? 1 : count < most ? count : most;
}

/* ---- Orders ---- */

/* As an order says them. */
uint64_t elim_hub_pulls(struct tacit_elim_hub *hub)
{
    struct elim_judge_parts const judge = judge_of(hub);
    return hub->config.has_helper && hub->judge.epoch > 0 ? elim_exact_new_pulls(&judge)
                                                          : hub->judge.pulls;
}

/* Is there nothing to choose, and nothing to say about who reports? Sinks know that they are. */
static bool everybody_reports(const struct tacit_elim_hub *hub)
{
    return hub->weighted || hub->config.schedule.report_count == hub->config.agent_count;
}

/* Need the order not say who reports? */
static bool all_are_asked(struct tacit_elim_hub *hub)
{
    return everybody_reports(hub) &&
           (hub->config.change_max == 0 || eligible_count(hub) == hub->config.agent_count);
}

/* But for its head. */
struct tacit_elim_message elim_hub_order(struct tacit_elim_hub *hub)
{
    struct elim_judge_parts const judge = judge_of(hub);
    TACIT_ASSERT(hub->desk.phase != ROUND_NEW);
    struct tacit_elim_message order = elim_judge_order(&judge);
    order.pulls = elim_hub_pulls(hub);
    order.uploaders = hub->judge.finished || all_are_asked(hub) ? NULL : uploaders_of(hub);
    order.change_count = hub->change_count;
    order.changes = hub->change_count > 0 ? changes_of(hub) : NULL;
    return order;
}

/* ---- Aggregation ---- */

/* l. 12 with exact bounds: the integers of all reports are added up as they are. */
static void add_up(struct tacit_elim_hub *hub)
{
    struct elim_judge_parts const judge = judge_of(hub);
    uint32_t const arms = hub->config.schedule.arm_count;
    uint32_t const agents = hub->config.agent_count;
    int64_t *const totals = elim_judge_totals(&judge);
    memset(totals, 0, arms * sizeof *totals);
    TACIT_BITS_EACH (agent, received_of(hub), agents) {
        union tacit_sum const *sum = row_of(hub, agent);
        for (uint32_t arm = tacit_bits_next(active_of(hub), arms, 0); arm < arms;
             arm = tacit_bits_next(active_of(hub), arms, arm + 1), sum++)
            totals[arm] += is_retired(hub, arm) ? 0 : sum->steps;
    }
}

/* l. 12, over the agents that reported (READINGS P1.8, P1.10). A sink's report is the sum over its
 * component: divided by S(r) alone it weighs as many agents as are in it (P1.16). */
static void aggregate(struct tacit_elim_hub *hub)
{
    TACIT_ASSERT(hub->judge.pulls > 0);
    TACIT_ASSERT(hub->desk.covered_count > 0);
    TACIT_ASSERT(hub->desk.covered_count <= hub->config.agent_count);
    uint32_t const arms = hub->config.schedule.arm_count;
    uint32_t const agents = hub->config.agent_count;
    struct tacit_scale const *const scale = &hub->config.mechanism.scale;
    bool const alike = hub->config.components_alike;
    TACIT_BITS_EACH (arm, active_of(hub), arms)
        if (!is_retired(hub, arm))
            means_of(hub)[arm] = 0;
    TACIT_BITS_EACH (agent, received_of(hub), agents) {
        union tacit_sum const *sum = row_of(hub, agent);
        uint64_t const pulls = hub->judge.pulls * (alike ? covered_of(hub)[agent] : 1);
        for (uint32_t arm = tacit_bits_next(active_of(hub), arms, 0); arm < arms;
             arm = tacit_bits_next(active_of(hub), arms, arm + 1), sum++)
            if (!is_retired(hub, arm))
                means_of(hub)[arm] += tacit_sum_mean(scale, *sum, pulls);
    }
    double const parts =
        alike ? tacit_bits_count(received_of(hub), agents) : hub->desk.covered_count;
    TACIT_BITS_EACH (arm, active_of(hub), arms)
        if (!is_retired(hub, arm))
            means_of(hub)[arm] /= parts;
}

/* ---- Epochs ---- */

/* From ranks among those that can report to their numbers; from the top, so that none is met twice.
 */
static void spread_ranks(struct tacit_elim_hub *hub, uint32_t count)
{
    uint64_t *const set = next_uploaders_of(hub);
    uint32_t rank = count;
    for (uint32_t agent = hub->config.agent_count; agent-- > 0;) {
        if (is_excused(hub, agent))
            continue;
        bool const is_drawn = tacit_bits_has(set, --rank);
        tacit_bits_remove(set, rank);
        if (is_drawn)
            tacit_bits_add(set, agent);
    }
    TACIT_ASSERT(rank == 0);
}

/* Sec. IV-B: N agents afresh each round. Drawn before anything else changes, so that an entropy
 * source that fails leaves the hub as it was. */
enum tacit_status elim_hub_draw_uploaders(void *state, const struct tacit_entropy *entropy)
{
    struct tacit_elim_hub *const hub = state;
    TACIT_ASSERT(tacit_bits_next(next_uploaders_of(hub), hub->config.agent_count, 0) ==
                 hub->config.agent_count);
    uint32_t const wanted = hub->config.schedule.report_count;
    uint32_t const eligible = eligible_count(hub);
    if (everybody_reports(hub) || eligible <= wanted) { /* who can; where nobody can, all wait */
        for (uint32_t agent = 0; agent < hub->config.agent_count; agent++)
            if (weights_of(hub)[agent] > 0 &&
                (!is_excused(hub, agent) || (eligible == 0 && !is_dropped(hub, agent))))
                tacit_bits_add(next_uploaders_of(hub), agent);
        return TACIT_OK;
    }
    enum tacit_status const status =
        tacit_entropy_subset(entropy, wanted, eligible, next_uploaders_of(hub));
    if (status == TACIT_OK && eligible < hub->config.agent_count)
        spread_ranks(hub, eligible);
    if (status != TACIT_OK)
        memset(next_uploaders_of(hub), 0,
               TACIT_BITS_WORDS(hub->config.agent_count) * sizeof(uint64_t));
    return status;
}

/* l. 12-16, once the reports of the round are in. */
void elim_hub_judge(void *state, uint32_t agents, const int64_t *totals)
{
    struct tacit_elim_hub *const hub = state;
    struct elim_judge_parts const judge = judge_of(hub);
    TACIT_IMPLIES(!hub->config.has_helper, totals == NULL && agents == hub->desk.covered_count);
    if (hub->config.has_helper)
        elim_exact_add(&judge, agents == 0 ? NULL : totals);
    else if (elim_is_exact(&hub->config.schedule))
        add_up(hub);
    else
        aggregate(hub);
    elim_judge_close_round(&judge, agents);
    if (hub->config.change_max > 0)
        elim_hub_count_eligible(hub);
}

void elim_hub_check_invariants(struct tacit_elim_hub *hub)
{
    struct round_hub const round = round_of(hub);
    round_hub_check_invariants(&round);
    TACIT_ASSERT(hub->judge.active_count >= 1);
    TACIT_ASSERT(hub->judge.active_count <= hub->config.schedule.arm_count);
    TACIT_ASSERT((hub->desk.phase == ROUND_FINISHED) == hub->judge.finished);
}
