/* All agents of a lockstep simulation at once, without messages: the arithmetic of row.h over
 * arrays. What the network has of an agent is what its core has. */
#include "row.h"
#include <string.h>

struct tacit_gossip_network {
    struct tacit_gossip_rule rule;
    uint64_t slot;
    uint64_t forced_count;
    bool is_open; /* chosen, not absorbed */
    /* A x K: count | seen | next | theta | mean | reach | bonus* | base | total*, A: lead | weight
     * | touched | candidates; A words of 32 bits: arm | behind; trees*   (* with noise)
     */
    uint64_t words[];
};

/* ---- Layout ---- */

struct layout {
    size_t cells; /* A K */
    size_t count, seen, next, theta, mean, reach, bonus, base, total, lead, weight, touched,
        candidates;
    size_t arm, behind, trees; /* words from the start of `words`, like the others */
    size_t word_count;
    size_t tree_bytes;
};

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
    l.touched = claim(&at, rule->agent_count);
    l.candidates = claim(&at, rule->agent_count);
    l.arm = claim(&at, half_words);
    l.behind = claim(&at, half_words);
    l.trees = claim(&at, l.cells * (l.tree_bytes / sizeof(uint64_t)));
    l.word_count = at;
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

/* The row of agent 0; others follow at a stride of K. */
static struct gossip_row first_row(struct tacit_gossip_network *network, const struct layout *l)
{
    bool const noisy = network->rule.noisy;
    return (struct gossip_row){.rule = &network->rule,
                               .count = network->words + l->count,
                               .seen = network->words + l->seen,
                               .theta = doubles_at(network, l->theta),
                               .mean = doubles_at(network, l->mean),
                               .reach = doubles_at(network, l->reach),
                               .bonus = noisy ? doubles_at(network, l->bonus) : NULL,
                               .base = sums_at(network, l->base),
                               .total = noisy ? sums_at(network, l->total) : NULL,
                               .trees = (unsigned char *)(network->words + l->trees),
                               .behind = halves_at(network, l->behind),
                               .lead = (struct gossip_lead *)(void *)(network->words + l->lead)};
}

static inline struct gossip_row row_at(const struct gossip_row *first, const struct layout *l,
                                       const double *weights, uint32_t agent)
{
    struct gossip_row row = *first;
    size_t const arms = first->rule->arm_count;
    size_t const skip = agent * arms;
    row.weight = weights[agent];
    row.count += skip;
    row.seen += skip;
    row.theta += skip;
    row.mean += skip;
    row.reach += skip;
    row.base += skip;
    if (row.bonus != NULL) {
        row.bonus += skip;
        row.total += skip;
        row.trees += skip * l->tree_bytes;
    }
    row.behind += agent;
    row.lead += agent;
    return row;
}

/* ---- n~ ---- */

/* Sets of arms by their number modulo 64: those whose n or n~ changed in the slot before. */
static uint64_t bit_of(uint32_t arm)
{
    return UINT64_C(1) << (arm % 64);
}

/* Line 5 at one agent: n~(t+1) from its n before the pull and its neighbours' n~(t), which stay as
 * they are until all have looked. Only arms that changed here or there can change. */
static inline void hear(const struct gossip_row *row, const struct tacit_graph *graph,
                        uint32_t agent, const uint64_t *all_seen, const uint64_t *touched,
                        uint64_t *candidates, uint64_t *next)
{
    uint32_t const arms = row->rule->arm_count;
    uint64_t const begin = graph->first[agent];
    uint64_t const end = graph->first[agent + 1];
    uint64_t changed = touched[agent];
    for (uint64_t i = begin; i < end; i++)
        changed |= touched[graph->neighbours[i]];
    candidates[agent] = changed;
    for (uint64_t left = changed; left != 0; left &= left - 1)
        for (uint32_t arm = (uint32_t)__builtin_ctzll(left); arm < arms; arm += 64) {
            uint64_t most = row->count[arm];
            for (uint64_t i = begin; i < end; i++) {
                uint64_t const told = all_seen[(size_t)graph->neighbours[i] * arms + arm];
                most = told > most ? told : most;
            }
            next[arm] = most;
        }
}

/* Result: the arms that rose. */
static inline uint64_t see(const struct gossip_row *row, uint64_t candidates, const uint64_t *next)
{
    uint32_t const arms = row->rule->arm_count;
    uint64_t rose = 0;
    for (uint64_t left = candidates; left != 0; left &= left - 1)
        for (uint32_t arm = (uint32_t)__builtin_ctzll(left); arm < arms; arm += 64)
            if (next[arm] > row->seen[arm]) {
                gossip_see(row, arm, next[arm]);
                rose |= bit_of(arm);
            }
    return rose;
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
    struct layout const l = layout_of(rule);
    memset(network, 0, tacit_gossip_network_size(rule));
    network->rule = *rule;
    for (uint32_t agent = 0; agent < rule->agent_count; agent++)
        doubles_at(network, l.weight)[agent] = weights == NULL ? 1.0 : weights[agent];
}

enum tacit_status tacit_gossip_network_first(struct tacit_gossip_network *network,
                                             const union tacit_sum *rewards,
                                             const struct tacit_entropy *entropies)
{
    TACIT_ASSERT(network->slot == 0 && !network->is_open);
    struct layout const l = layout_of(&network->rule);
    struct gossip_row const first = first_row(network, &l);
    uint32_t const arms = network->rule.arm_count;
    for (uint32_t agent = 0; agent < network->rule.agent_count; agent++) {
        struct gossip_row const row = row_at(&first, &l, doubles_at(network, l.weight), agent);
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

/* Lines 3-14 and 16 at all agents; n~(t+1) is kept aside. */
static enum tacit_status choose_all(struct tacit_gossip_network *network, const struct layout *l,
                                    const struct gossip_row *first, const struct tacit_graph *graph,
                                    const struct tacit_entropy *entropies)
{
    struct gossip_time const time = gossip_time_at(&network->rule, network->slot);
    double const *const weights = doubles_at(network, l->weight);
    uint32_t *const chosen = halves_at(network, l->arm);
    for (uint32_t agent = 0; agent < network->rule.agent_count; agent++) {
        struct gossip_row const row = row_at(first, l, weights, agent);
        network->forced_count += *row.behind != 0;
        uint32_t arm = 0;
        enum tacit_status const status = gossip_choose(&row, &time, &entropies[agent], &arm);
        if (status != TACIT_OK)
            return status;
        hear(&row, graph, agent, first->seen, network->words + l->touched,
             network->words + l->candidates,
             network->words + l->next + (size_t)agent * network->rule.arm_count);
        chosen[agent] = arm;
        gossip_give(&row, arm);
    }
    return TACIT_OK;
}

enum tacit_status tacit_gossip_network_choose(struct tacit_gossip_network *network,
                                              const struct tacit_graph *graph,
                                              const struct tacit_entropy *entropies,
                                              const uint32_t **arms)
{
    TACIT_ASSERT(!network->is_open && network->slot < network->rule.horizon);
    TACIT_ASSERT(graph->agent_count == network->rule.agent_count);
    struct layout const l = layout_of(&network->rule);
    struct gossip_row const first = first_row(network, &l);
    network->slot++;
    enum tacit_status const status = choose_all(network, &l, &first, graph, entropies);
    if (status != TACIT_OK)
        return status;
    uint32_t const *const chosen = halves_at(network, l.arm);
    double const *const weights = doubles_at(network, l.weight);
    for (uint32_t agent = 0; agent < network->rule.agent_count; agent++) {
        struct gossip_row const row = row_at(&first, &l, weights, agent);
        uint64_t const rose =
            see(&row, network->words[l.candidates + agent],
                network->words + l.next + (size_t)agent * network->rule.arm_count);
        network->words[l.touched + agent] = rose | bit_of(chosen[agent]);
    }
    network->is_open = true;
    *arms = chosen;
    return TACIT_OK;
}

enum tacit_status tacit_gossip_network_absorb(struct tacit_gossip_network *network,
                                              const struct tacit_edge *edge,
                                              const union tacit_sum *rewards,
                                              const struct tacit_entropy *entropies)
{
    TACIT_ASSERT(network->is_open);
    struct layout const l = layout_of(&network->rule);
    struct gossip_row const first = first_row(network, &l);
    double const *const weights = doubles_at(network, l.weight);
    uint32_t const *const chosen = halves_at(network, l.arm);
    if (edge != NULL) {
        uint32_t const arms = network->rule.arm_count;
        uint32_t const keeper = edge->a < edge->b ? edge->a : edge->b;
        uint32_t const other = edge->a < edge->b ? edge->b : edge->a;
        double *const here = first.theta + (size_t)keeper * arms;
        double *const there = first.theta + (size_t)other * arms;
        for (uint32_t arm = 0; arm < arms; arm++) {
            double const shift = gossip_half(here[arm], there[arm]);
            here[arm] -= shift;
            there[arm] += shift;
        }
        first.lead[keeper].until = 0;
        first.lead[other].until = 0;
    }
    for (uint32_t agent = 0; agent < network->rule.agent_count; agent++) {
        struct gossip_row const row = row_at(&first, &l, weights, agent);
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
