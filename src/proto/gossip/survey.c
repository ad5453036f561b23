/* The survey in plain C. */
#include "survey.h"

/* Line 5: the largest number of pulls that the agent and its neighbours have or know. */
static void update_seen(const struct gossip_survey *survey, uint32_t agent, size_t first)
{
    struct gossip_row const *const row = &survey->row;
    struct tacit_graph const *const graph = survey->graph;
    size_t const arms = row->rule->arm_count;
    uint64_t *const next = survey->next + first;
    for (size_t arm = 0; arm < arms; arm++) {
        uint64_t const own = row->count[first + arm];
        uint64_t const seen = row->seen[first + arm];
        next[arm] = own > seen ? own : seen;
    }
    for (uint64_t i = graph->first[agent]; i < graph->first[agent + 1]; i++) {
        uint64_t const *const theirs = row->seen + graph->neighbours[i] * arms;
        for (size_t arm = 0; arm < arms; arm++)
            next[arm] = theirs[arm] > next[arm] ? theirs[arm] : next[arm];
    }
}

void gossip_survey_portable(const struct gossip_survey *survey)
{
    struct gossip_row row = survey->row;
    TACIT_ASSERT(row.first == 0);
    TACIT_ASSERT(survey->graph->agent_count == row.rule->agent_count);
    for (uint32_t agent = 0; agent < row.rule->agent_count; agent++) {
        survey->candidates[agent] = gossip_candidates_of(&row, survey->at);
        update_seen(survey, agent, row.first);
        row.first += row.rule->arm_count;
    }
}
