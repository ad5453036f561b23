/* All agents of a lockstep simulation at once, without messages: the arithmetic of row.h over
 * arrays. What the network has of an agent is what its core has. */
#include "row.h"
#include <string.h>

/* Where the arrays are, in words. A x K: count | seen | next | theta | mean | reach | bonus* | base
 * | total* | trees*; A: lead | weight | arm | behind; what rose: two lists of A K; table*
 * (* with noise) */
struct layout {
    size_t cells; /* A K */
    size_t count, seen, next, theta, mean, reach, bonus, base, total, lead, weight;
    size_t arm, behind, trees, table;
    size_t rose[2];
    size_t word_count;
    size_t tree_bytes;
    size_t table_count;
};

/* n~ of an arm rose at an agent. */
struct rise {
    uint32_t agent;
    uint32_t arm;
};

struct tacit_gossip_network {
    struct tacit_gossip_rule rule;
    struct layout layout;
    uint64_t slot;
    uint64_t forced_count;
    uint64_t rose_count; /* in the slot before: a list */
    uint32_t rose;       /* which of the two */
    bool is_open;        /* chosen, not absorbed */
    uint64_t words[];
};

#define TABLE_MAX (UINT64_C(1) << 20)

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
    size_t const half_words = ((size_t)rule->agent_count + 1) / 2;
    l.tree_bytes = rule->noisy ? tacit_tree_size(&rule->tree) : 0;
    if (rule->noisy)
        l.table_count = rule->horizon + 2 < TABLE_MAX ? rule->horizon + 2 : TABLE_MAX;
    size_t at = 0;
    l.count = claim(&at, l.cells);
    l.seen = claim(&at, l.cells);
    l.next = claim(&at, l.cells);
    l.theta = claim(&at, l.cells);
    l.mean = claim(&at, l.cells);
    l.reach = claim(&at, l.cells);
    l.bonus = claim(&at, noisy_cells);
    l.base = claim(&at, l.cells);
    l.total = claim(&at, noisy_cells);
    l.lead = claim(&at, rule->agent_count * (sizeof(struct gossip_lead) / sizeof(uint64_t)));
    l.weight = claim(&at, rule->agent_count);
    l.arm = claim(&at, half_words);
    l.behind = claim(&at, half_words);
    l.rose[0] = claim(&at, l.cells);
    l.rose[1] = claim(&at, l.cells);
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
static struct gossip_row first_row(struct tacit_gossip_network *network, const struct layout *l)
{
    bool const noisy = network->rule.noisy;
    return (struct gossip_row){.rule = &network->rule,
                               .table = (struct gossip_reach *)(void *)(network->words + l->table),
                               .table_count = l->table_count,
                               .count = network->words + l->count,
                               .seen = network->words + l->seen,
                               .theta = doubles_at(network, l->theta),
                               .mean = doubles_at(network, l->mean),
                               .reach = doubles_at(network, l->reach),
                               .bonus = noisy ? doubles_at(network, l->bonus) : NULL,
                               .base = sums_at(network, l->base),
                               .total = noisy ? sums_at(network, l->total) : NULL,
                               .trees = (unsigned char *)(network->words + l->trees),
                               .tree_bytes = l->tree_bytes,
                               .weight = doubles_at(network, l->weight),
                               .behind = halves_at(network, l->behind),
                               .lead = (struct gossip_lead *)(void *)(network->words + l->lead)};
}

GOSSIP_INLINE void next_row(struct gossip_row *row)
{
    row->agent++;
    row->first += row->rule->arm_count;
}

/* ---- n~ ---- */

/* Line 5, from those who have something to tell: n~(t+1) of all agents comes together in `next`,
 * while n~(t) stays. Between slots both are equal, so whoever is raised first is put on the list
 * once, and the list names all that rose. */
struct raising {
    uint64_t *next;
    const uint64_t *seen;
    struct rise *rose;
    uint64_t count;
    size_t arms;
};

GOSSIP_INLINE void raise_to(struct raising *raising, uint32_t agent, uint32_t arm, uint64_t pulls)
{
    size_t const cell = agent * raising->arms + arm;
    if (pulls <= raising->next[cell])
        return;
    if (raising->next[cell] == raising->seen[cell])
        raising->rose[raising->count++] = (struct rise){agent, arm};
    raising->next[cell] = pulls;
}

static struct raising raising_of(struct tacit_gossip_network *network)
{
    TACIT_ASSERT(network->rose <= 1);
    struct layout const *const l = &network->layout;
    size_t const list = l->rose[1 - network->rose];
    TACIT_ASSERT(list == l->rose[0] || list == l->rose[1]);
    return (struct raising){.next = network->words + l->next,
                            .seen = network->words + l->seen,
                            .rose = (struct rise *)(void *)(network->words + list),
                            .arms = network->rule.arm_count};
}

/* Those whose n~ rose in the slot before tell their neighbours. */
static void tell(struct tacit_gossip_network *network, const struct tacit_graph *graph,
                 struct raising *raising)
{
    TACIT_ASSERT(network->rose <= 1);
    TACIT_ASSERT(network->rose_count <= network->layout.cells);
    struct rise const *const list =
        (const struct rise *)(const void *)(network->words + network->layout.rose[network->rose]);
    for (uint64_t at = 0; at < network->rose_count; at++) {
        struct rise const rise = list[at];
        uint64_t const told = raising->seen[rise.agent * raising->arms + rise.arm];
        for (uint64_t i = graph->first[rise.agent]; i < graph->first[rise.agent + 1]; i++)
            raise_to(raising, graph->neighbours[i], rise.arm, told);
    }
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
                               const struct tacit_gossip_rule *rule, const double *weights)
{
    TACIT_ASSERT(rule->agent_count > 0);
    TACIT_ASSERT(rule->arm_count > 0);
    struct layout const l = layout_of(rule);
    memset(network, 0, tacit_gossip_network_size(rule));
    network->rule = *rule;
    network->layout = l;
    for (size_t cell = 0; cell < l.cells; cell++)
        network->words[l.next + cell] = 1; /* n~(1), as of the first pulls */
    for (uint32_t agent = 0; agent < rule->agent_count; agent++)
        doubles_at(network, l.weight)[agent] = weights == NULL ? 1.0 : weights[agent];
}

enum tacit_status tacit_gossip_network_first(struct tacit_gossip_network *network,
                                             const union tacit_sum *rewards,
                                             const struct tacit_entropy *entropies)
{
    TACIT_ASSERT(network->rose_count == 0);
    TACIT_ASSERT(network->slot == 0 && !network->is_open);
    struct layout const l = layout_of(&network->rule);
    struct gossip_row row = first_row(network, &l);
    uint32_t const arms = network->rule.arm_count;
    for (uint32_t agent = 0; agent < network->rule.agent_count; agent++, next_row(&row)) {
        for (uint32_t arm = 0; arm < arms; arm++) {
            gossip_first(&row, arm);
            enum tacit_status const status =
                gossip_absorb(&row, arm, 0, rewards[(size_t)agent * arms + arm], &entropies[agent]);
            if (status != TACIT_OK)
                return status;
        }
    }
    return TACIT_OK;
}

/* Lines 3-14 and 16 at all agents. Own pulls raise n~ by those before this slot's. */
static enum tacit_status choose_all(struct tacit_gossip_network *network, struct gossip_row row,
                                    const struct tacit_entropy *entropies, struct raising *raising)
{
    struct gossip_time const time = gossip_time_at(&network->rule, network->slot);
    uint32_t const agents = network->rule.agent_count;
    uint32_t *const chosen = halves_at(network, network->layout.arm);
    uint64_t forced_count = 0;
    for (uint32_t agent = 0; agent < agents; agent++, next_row(&row)) {
        uint32_t arm = chosen[agent]; /* of the slot before */
        raise_to(raising, agent, arm, row.count[row.first + arm]);
        forced_count += row.behind[agent] != 0;
        enum tacit_status const status = gossip_choose(&row, &time, &entropies[agent], &arm);
        if (status != TACIT_OK)
            return status;
        chosen[agent] = arm;
        gossip_give(&row, arm);
    }
    network->forced_count += forced_count;
    return TACIT_OK;
}

/* n~(t+1) takes the place of n~(t) where it rose. */
static void see_all(struct gossip_row row, const struct raising *raising)
{
    for (uint64_t at = 0; at < raising->count; at++) {
        struct rise const rise = raising->rose[at];
        row.agent = rise.agent;
        row.first = rise.agent * raising->arms;
        gossip_see(&row, rise.arm, raising->next[row.first + rise.arm]);
    }
}

enum tacit_status tacit_gossip_network_choose(struct tacit_gossip_network *network,
                                              const struct tacit_graph *graph,
                                              const struct tacit_entropy *entropies,
                                              const uint32_t **arms)
{
    TACIT_ASSERT(!network->is_open && network->slot < network->rule.horizon);
    TACIT_ASSERT(graph->agent_count == network->rule.agent_count);
    struct gossip_row const first = first_row(network, &network->layout);
    struct raising raising = raising_of(network);
    network->slot++;
    enum tacit_status const status = choose_all(network, first, entropies, &raising);
    if (status != TACIT_OK)
        return status;
    tell(network, graph, &raising);
    see_all(first, &raising);
    TACIT_ASSERT(raising.count <= network->layout.cells);
    network->rose = 1 - network->rose;
    network->rose_count = raising.count;
    network->is_open = true;
    *arms = halves_at(network, network->layout.arm);
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
    double *const here = first->theta + (size_t)keeper * arms;
    double *const there = first->theta + (size_t)other * arms;
    for (uint32_t arm = 0; arm < arms; arm++) {
        double const shift = gossip_half(here[arm], there[arm]);
        here[arm] -= shift;
        there[arm] += shift;
    }
    first->lead[keeper].until = 0;
    first->lead[other].until = 0;
}

enum tacit_status tacit_gossip_network_absorb(struct tacit_gossip_network *network,
                                              const struct tacit_edge *edge,
                                              const union tacit_sum *rewards,
                                              const struct tacit_entropy *entropies)
{
    TACIT_ASSERT(network->slot > 0);
    TACIT_ASSERT(network->slot <= network->rule.horizon);
    TACIT_ASSERT(network->is_open);
    struct gossip_row row = first_row(network, &network->layout);
    uint32_t const agents = network->rule.agent_count;
    uint32_t const *const chosen = halves_at(network, network->layout.arm);
    if (edge != NULL)
        average(network, &row, edge);
    for (uint32_t agent = 0; agent < agents; agent++, next_row(&row)) {
        enum tacit_status const status =
            gossip_absorb(&row, chosen[agent], network->slot, rewards[agent], &entropies[agent]);
        if (status != TACIT_OK)
            return status;
    }
    network->is_open = false;
    return TACIT_OK;
}

void tacit_gossip_network_look(const struct tacit_gossip_network *state,
                               struct tacit_gossip_network_view *view)
{
    struct tacit_gossip_network *const network = (struct tacit_gossip_network *)(uintptr_t)state;
    struct layout const l = layout_of(&network->rule);
    *view = (struct tacit_gossip_network_view){.slot = network->slot,
                                               .forced_count = network->forced_count,
                                               .arms = halves_at(network, l.arm),
                                               .counts = network->words + l.count,
                                               .seen = network->words + l.seen,
                                               .theta = doubles_at(network, l.theta),
                                               .mean = doubles_at(network, l.mean)};
}
