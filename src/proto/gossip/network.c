/* All agents of a lockstep simulation at once, without messages: the arithmetic of row.h over
 * arrays. What the network has of an agent is what its core has. */
#include "survey.h"
#include <string.h>
#include "tacit/linalg.h"

/* Where the arrays are, in words. A x K: count | seen of two slots | theta | mean | reach | bonus*
 * | base | total* | trees*; A: arm | candidates; table* (* with noise) */
struct layout {
    size_t cells; /* A K */
    size_t seen[2];
    size_t count, theta, mean, reach, bonus, base, total;
    size_t arm, candidates, trees, table;
    size_t word_count;
    size_t tree_bytes;
    size_t table_count;
};

struct tacit_gossip_network {
    struct tacit_gossip_rule rule;
    struct layout layout;
    uint64_t slot;
    uint64_t forced_count;
    uint32_t now; /* which of the two n~ */
    bool is_open; /* chosen, not absorbed */
    bool is_wide; /* surveys go four arms at a time */
    uint64_t words[];
};

#define TABLE_MAX (UINT64_C(1) << 20)
#define BYTES_TO_WORDS(bytes) (((bytes) + sizeof(uint64_t) - 1) / sizeof(uint64_t))

/* ---- Layout ---- */

static size_t claim(size_t *at, size_t words)
{
    size_t const first = *at;
    *at += words;
    return first;
}

static struct layout layout_of(const struct tacit_gossip_rule *rule)
{
    struct layout l = {.cells = (size_t)rule->agent_count * rule->arm_count};
    size_t const noisy_cells = rule->noisy ? l.cells : 0;
    size_t const agents = rule->agent_count;
    l.tree_bytes = rule->noisy ? tacit_tree_size(&rule->tree) : 0;
    if (rule->noisy)
        l.table_count = rule->horizon + 2 < TABLE_MAX ? rule->horizon + 2 : TABLE_MAX;
    size_t at = 0;
    l.count = claim(&at, l.cells);
    l.seen[0] = claim(&at, l.cells);
    l.seen[1] = claim(&at, l.cells);
    l.theta = claim(&at, l.cells);
    l.mean = claim(&at, l.cells);
    l.reach = claim(&at, l.cells);
    l.bonus = claim(&at, noisy_cells);
    l.base = claim(&at, l.cells);
    l.total = claim(&at, noisy_cells);
    l.arm = claim(&at, BYTES_TO_WORDS(agents * sizeof(uint32_t)));
    l.candidates = claim(&at, BYTES_TO_WORDS(agents * sizeof(struct gossip_candidates)));
    l.trees = claim(&at, l.cells * (l.tree_bytes / sizeof(uint64_t)));
    l.table = claim(&at, l.table_count * (sizeof(struct gossip_reach) / sizeof(uint64_t)));
    l.word_count = at;
    TACIT_ASSERT(l.table + l.table_count * (sizeof(struct gossip_reach) / sizeof(uint64_t)) == at);
    TACIT_ASSERT(l.trees + l.cells * (l.tree_bytes / sizeof(uint64_t)) == l.table);
    return l;
}

static double *doubles_at(struct tacit_gossip_network *network, size_t word)
{
    return (double *)(void *)(network->words + word);
}

static uint32_t *halves_at(struct tacit_gossip_network *network, size_t word)
{
    return (uint32_t *)(void *)(network->words + word);
}

static union tacit_sum *sums_at(struct tacit_gossip_network *network, size_t word)
{
    return (union tacit_sum *)(void *)(network->words + word);
}

/* The row of agent 0. */
GOSSIP_INLINE struct gossip_row first_row(struct tacit_gossip_network *network)
{
    struct layout const *const l = &network->layout;
    bool const noisy = network->rule.noisy;
    return (struct gossip_row){.rule = &network->rule,
                               .table = (struct gossip_reach *)(void *)(network->words + l->table),
                               .table_count = l->table_count,
                               .count = network->words + l->count,
                               .seen = network->words + l->seen[network->now],
                               .theta = doubles_at(network, l->theta),
                               .mean = doubles_at(network, l->mean),
                               .reach = doubles_at(network, l->reach),
                               .bonus = noisy ? doubles_at(network, l->bonus) : NULL,
                               .base = sums_at(network, l->base),
                               .total = noisy ? sums_at(network, l->total) : NULL,
                               .trees = (unsigned char *)(network->words + l->trees),
                               .tree_bytes = l->tree_bytes};
}

GOSSIP_INLINE void next_row(struct gossip_row *row)
{
    row->first += row->rule->arm_count;
}

/* ---- Public ---- */

size_t tacit_gossip_network_size(const struct tacit_gossip_rule *rule)
{
    struct layout const l = layout_of(rule);
    if (l.word_count > SIZE_MAX / 16)
        return 0;
    return sizeof(struct tacit_gossip_network) + l.word_count * sizeof(uint64_t);
}

void tacit_gossip_network_init(struct tacit_gossip_network *network,
                               const struct tacit_gossip_rule *rule)
{
    TACIT_ASSERT(rule->agent_count > 0);
    TACIT_ASSERT(rule->arm_count > 0);
    struct layout const l = layout_of(rule);
    memset(network, 0, tacit_gossip_network_size(rule));
    network->rule = *rule;
    network->layout = l;
    network->is_wide = rule->arm_count >= GOSSIP_AVX2_ARMS_MIN && rule->horizon < UINT32_MAX &&
                       tacit_linalg_fastest() == TACIT_LINALG_AVX2;
}

enum tacit_status tacit_gossip_network_first(struct tacit_gossip_network *network,
                                             const union tacit_sum *rewards,
                                             const struct tacit_entropy *entropies)
{
    TACIT_ASSERT(network->slot == 0);
    TACIT_ASSERT(!network->is_open);
    struct gossip_row row = first_row(network);
    bool const noisy = network->rule.noisy;
    uint32_t const arms = network->rule.arm_count;
    for (uint32_t agent = 0; agent < network->rule.agent_count; agent++, next_row(&row)) {
        for (uint32_t arm = 0; arm < arms; arm++) {
            gossip_first(&row, arm);
            TACIT_TRY(gossip_absorb(&row, arm, 0, noisy, rewards[(size_t)agent * arms + arm],
                                    &entropies[agent]));
        }
    }
    return TACIT_OK;
}

/* Lines 5, 6, 8-10 at all agents. */
static void survey_all(struct tacit_gossip_network *network, const struct tacit_graph *graph,
                       struct gossip_candidates *candidates)
{
    TACIT_ASSERT(network->now <= 1);
    struct gossip_survey const survey = {.row = first_row(network),
                                         .graph = graph,
                                         .at = gossip_slot_at(&network->rule, network->slot),
                                         .next = network->words +
                                                 network->layout.seen[1 - network->now],
                                         .candidates = candidates};
    TACIT_ASSERT(survey.next != survey.row.seen);
#if GOSSIP_HAS_AVX2
    if (network->is_wide) {
        gossip_survey_avx2(&survey);
        return;
    }
#endif
    gossip_survey_portable(&survey);
}

enum tacit_status tacit_gossip_network_choose(struct tacit_gossip_network *network,
                                              const struct tacit_graph *graph,
                                              const struct tacit_entropy *entropies,
                                              const uint32_t **arms)
{
    TACIT_ASSERT(!network->is_open && network->slot < network->rule.horizon);
    TACIT_ASSERT(graph->agent_count == network->rule.agent_count);
    struct gossip_candidates *const candidates =
        (void *)(network->words + network->layout.candidates);
    uint32_t *const chosen = halves_at(network, network->layout.arm);
    uint32_t const agents = network->rule.agent_count;
    struct gossip_row row = first_row(network);
    uint64_t forced_count = 0;
    network->slot++;
    survey_all(network, graph, candidates);
    for (uint32_t agent = 0; agent < agents; agent++, next_row(&row)) {
        TACIT_TRY(gossip_choose(&row, &candidates[agent], &entropies[agent], &chosen[agent]));
        gossip_count_pull(&row, chosen[agent]);
        forced_count += candidates[agent].behind_count > 0;
    }
    network->forced_count += forced_count;
    network->now = 1 - network->now;
    network->is_open = true;
    *arms = chosen;
    return TACIT_OK;
}

/* Lines 18-20. */
static void average(struct tacit_gossip_network *network, const struct gossip_row *first,
                    const struct tacit_edge *edge)
{
    TACIT_ASSERT(edge->a != edge->b);
    TACIT_ASSERT(edge->a < network->rule.agent_count);
    TACIT_ASSERT(edge->b < network->rule.agent_count);
    uint32_t const arms = network->rule.arm_count;
    uint32_t const keeper = edge->a < edge->b ? edge->a : edge->b;
    uint32_t const other = edge->a < edge->b ? edge->b : edge->a;
    double *restrict const here = first->theta + (size_t)keeper * arms;
    double *restrict const there = first->theta + (size_t)other * arms;
    for (uint32_t arm = 0; arm < arms; arm++) {
        double const shift = gossip_half(here[arm], there[arm]);
        here[arm] -= shift;
        there[arm] += shift;
    }
}

/* Lines 15, 22 at all agents. */
GOSSIP_INLINE enum tacit_status absorb_all(struct tacit_gossip_network *network, bool noisy,
                                           struct gossip_row row, const union tacit_sum *rewards,
                                           const struct tacit_entropy *entropies)
{
    uint32_t const *const chosen = halves_at(network, network->layout.arm);
    uint32_t const agents = network->rule.agent_count;
    uint64_t const slot = network->slot;
    TACIT_ASSERT(slot > 0);
    for (uint32_t agent = 0; agent < agents; agent++, next_row(&row)) {
        TACIT_TRY(
            gossip_absorb(&row, chosen[agent], slot, noisy, rewards[agent], &entropies[agent]));
    }
    return TACIT_OK;
}

enum tacit_status tacit_gossip_network_absorb(struct tacit_gossip_network *network,
                                              const struct tacit_edge *edge,
                                              const union tacit_sum *rewards,
                                              const struct tacit_entropy *entropies)
{
    TACIT_ASSERT(network->slot <= network->rule.horizon);
    TACIT_ASSERT(network->is_open);
    struct gossip_row const row = first_row(network);
    if (edge != NULL)
        average(network, &row, edge);
    enum tacit_status const status = network->rule.noisy
                                         ? absorb_all(network, true, row, rewards, entropies)
                                         : absorb_all(network, false, row, rewards, entropies);
    network->is_open = status != TACIT_OK;
    return status;
}

void tacit_gossip_network_view(const struct tacit_gossip_network *state,
                               struct tacit_gossip_network_view *view)
{
    struct tacit_gossip_network *const network = (struct tacit_gossip_network *)(uintptr_t)state;
    struct layout const l = layout_of(&network->rule);
    *view = (struct tacit_gossip_network_view){.slot = network->slot,
                                               .forced_count = network->forced_count,
                                               .arms = halves_at(network, l.arm),
                                               .counts = network->words + l.count,
                                               .seen = network->words + l.seen[network->now],
                                               .theta = doubles_at(network, l.theta),
                                               .mean = doubles_at(network, l.mean)};
}
