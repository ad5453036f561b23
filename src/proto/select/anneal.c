/* Simulated annealing over sets of m users (Alg. 2 and Vanilla-SA). The set is walked as a list of
 * members and a list of the others, so that a random exchange costs no search; the three sorted
 * lists of Alg. 2 give who is a neighbour. */
#include "internal.h"
#include <math.h>
#include <string.h>

#define LISTS 3u
#define OMEGA 1e-9 /* of Eq. (19) */

struct graph {
    const double *ucb;
    const double *weight;
    uint32_t user_count;
    uint32_t m;
    const uint32_t *rank[LISTS]; /* place of each user in the lists by ucb, g and p */
    const uint32_t *order[LISTS];
    bool is_vanilla;
};

/* ---- Lists ---- */

/* Users by each column, and their places in it: LISTS lists each, to which the graph points. */
static void sort_lists(const struct tacit_select_scores *scores, struct select_scratch *scratch,
                       uint32_t *orders, uint32_t *ranks, struct graph *graph)
{
    TACIT_ASSERT(graph->user_count > 0);
    double const *const columns[LISTS] = {scores->ucb, scores->generalization, scores->privacy};
    uint32_t const users = graph->user_count;
    for (uint32_t list = 0; list < LISTS; list++) {
        uint32_t *const order = orders + (size_t)list * users;
        uint32_t *const rank = ranks + (size_t)list * users;
        select_sort(columns[list], users, scratch, scratch->order);
        memcpy(order, scratch->order, users * sizeof *order);
        for (uint32_t i = 0; i < users; i++)
            rank[order[i]] = i;
        graph->order[list] = order;
        graph->rank[list] = rank;
    }
}

/* ---- Neighbours (READINGS P5.4) ---- */

/* What tells the neighbours of a set apart: its minima in the lists, and how many others stand
 * before one of them. */
struct surroundings {
    uint32_t minima[LISTS]; /* different members */
    uint32_t minimum_count;
    uint32_t limit[LISTS]; /* rank of the member that is first in each list */
    uint32_t before_count; /* others that stand before a minimum in some list */
};

/* Is this the first list in which the user stands before the minimum? So that each counts once. */
static bool is_first_list(const struct graph *graph, const struct surroundings *here, uint32_t user,
                          uint32_t list)
{
    for (uint32_t before = 0; before < list; before++)
        if (graph->rank[before][user] < here->limit[before])
            return false;
    return true;
}

static struct surroundings surroundings_of(const struct graph *graph, const uint32_t *vertex)
{
    TACIT_ASSERT(graph->m >= 1);
    struct surroundings here = {.minimum_count = 0};
    if (graph->is_vanilla) /* every exchange leads to a neighbour */
        return here;
    for (uint32_t list = 0; list < LISTS; list++) {
        uint32_t least = vertex[0];
        for (uint32_t i = 1; i < graph->m; i++)
            if (graph->rank[list][vertex[i]] < graph->rank[list][least])
                least = vertex[i];
        here.limit[list] = graph->rank[list][least];
        bool is_new = true;
        for (uint32_t i = 0; i < here.minimum_count; i++)
            is_new = is_new && here.minima[i] != least;
        if (is_new)
            here.minima[here.minimum_count++] = least;
    }
    for (uint32_t list = 0; list < LISTS; list++)
        for (uint32_t i = 0; i < here.limit[list]; i++)
            here.before_count += is_first_list(graph, &here, graph->order[list][i], list) ? 1 : 0;
    TACIT_ASSERT(here.minimum_count >= 1);
    TACIT_ASSERT(here.before_count <= graph->user_count);
    return here;
}

static bool is_minimum(const struct surroundings *here, uint32_t user)
{
    for (uint32_t i = 0; i < here->minimum_count; i++)
        if (here->minima[i] == user)
            return true;
    return false;
}

static uint64_t neighbour_count(const struct graph *graph, const struct surroundings *here)
{
    TACIT_ASSERT(graph->m <= graph->user_count);
    uint64_t const others = graph->user_count - graph->m;
    if (graph->is_vanilla)
        return graph->m * others;
    return here->minimum_count * others +
           (uint64_t)(graph->m - here->minimum_count) * here->before_count;
}

/* User number `index` of the here->before_count that stand before a minimum in some list: who comes
 * in place of an ordinary member. */
static uint32_t user_before(const struct graph *graph, const struct surroundings *here,
                            uint32_t index)
{
    for (uint32_t list = 0; list < LISTS; list++)
        for (uint32_t i = 0; i < here->limit[list]; i++) {
            uint32_t const user = graph->order[list][i];
            if (is_first_list(graph, here, user, list) && index-- == 0)
                return user;
        }
    TACIT_ASSERT(false);
    return 0;
}

/* The `index`-th member that is no minimum. */
static uint32_t ordinary_member(const struct graph *graph, const struct surroundings *here,
                                const uint32_t *vertex, uint32_t index)
{
    for (uint32_t i = 0; i < graph->m; i++)
        if (!is_minimum(here, vertex[i]) && index-- == 0)
            return vertex[i];
    TACIT_ASSERT(false);
    return 0;
}

static void neighbour_at(const struct graph *graph, const struct surroundings *here,
                         const uint32_t *vertex, uint64_t index, uint32_t *leaves, uint32_t *comes)
{
    TACIT_ASSERT(graph->m < graph->user_count);
    uint64_t const others = graph->user_count - graph->m;
    uint64_t const active = graph->is_vanilla ? graph->m * others : here->minimum_count * others;
    TACIT_ASSERT(index < neighbour_count(graph, here));
    if (index < active) {
        uint32_t const which = (uint32_t)(index / others);
        *leaves = graph->is_vanilla ? vertex[which] : here->minima[which];
        *comes = vertex[graph->m + index % others];
        return;
    }
    index -= active;
    TACIT_ASSERT(here->before_count > 0);
    *leaves = ordinary_member(graph, here, vertex, (uint32_t)(index / here->before_count));
    *comes = user_before(graph, here, (uint32_t)(index % here->before_count));
}

/* ---- The temperature ---- */

static double sum_at(const double *values, const uint32_t *order, uint32_t first, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[order[first + i]];
    return sum;
}

/* Eq. (19): the range of each term by itself. */
static double temperature_of(const struct tacit_select_config *config, const struct graph *graph,
                             const struct tacit_select_scores *scores)
{
    TACIT_ASSERT(graph->m <= graph->user_count);
    uint32_t const users = graph->user_count;
    uint32_t const m = graph->m;
    uint32_t finite = users;
    while (finite > 0 && isinf(scores->ucb[graph->order[0][finite - 1]]))
        finite--;
    if (finite == 0)
        return OMEGA;
    /* The m largest ucb: with infinite ones among them their least is that of a finite one. */
    uint32_t const top = users - m < finite ? users - m : finite - 1;
    double const range = scores->ucb[graph->order[0][top]] - scores->ucb[graph->order[0][0]];
    double const general = sum_at(scores->generalization, graph->order[1], users - m, m) -
                           sum_at(scores->generalization, graph->order[1], 0, m);
    double const privacy = sum_at(scores->privacy, graph->order[2], users - m, m) -
                           sum_at(scores->privacy, graph->order[2], 0, m);
    TACIT_ASSERT(range >= 0);
    TACIT_ASSERT(general >= 0);
    TACIT_ASSERT(privacy >= 0);
    return range + config->alpha / m * general + config->gamma / m * privacy + OMEGA;
}

/* ---- The walk ---- */

struct walk {
    struct graph graph;
    uint32_t *vertex; /* K, a permutation: the members, then the others */
    uint32_t *place;  /* of each user in vertex */
    uint32_t *best;
    double energy;
    double best_energy;
};

static void exchange(struct walk *walk, uint32_t leaves, uint32_t comes)
{
    uint32_t const from = walk->place[leaves];
    uint32_t const to = walk->place[comes];
    TACIT_ASSERT(from < walk->graph.m);
    TACIT_ASSERT(to >= walk->graph.m);
    walk->vertex[from] = comes;
    walk->vertex[to] = leaves;
    walk->place[comes] = from;
    walk->place[leaves] = to;
}

static double energy_of(const struct walk *walk)
{
    return tacit_select_energy(walk->graph.ucb, walk->graph.weight, walk->vertex, walk->graph.m);
}

static void remember(struct walk *walk)
{
    walk->best_energy = walk->energy;
    memcpy(walk->best, walk->vertex, walk->graph.m * sizeof *walk->best);
}

/* The m members, then the others, both ascending. */
static void make_vertex(const uint64_t *members, uint32_t user_count, uint32_t m, uint32_t *vertex)
{
    uint32_t inside = 0;
    uint32_t outside = m;
    for (uint32_t user = 0; user < user_count; user++)
        vertex[tacit_bits_has(members, user) ? inside++ : outside++] = user;
    TACIT_ASSERT(inside == m);
    TACIT_ASSERT(outside == user_count);
}

static enum tacit_status start_at_random(struct walk *walk, const struct tacit_entropy *entropy,
                                         uint64_t *members)
{
    uint32_t const users = walk->graph.user_count;
    TACIT_TRY(tacit_entropy_subset(entropy, walk->graph.m, users, members));
    make_vertex(members, users, walk->graph.m, walk->vertex);
    for (uint32_t i = 0; i < users; i++)
        walk->place[walk->vertex[i]] = i;
    walk->energy = energy_of(walk);
    remember(walk);
    return TACIT_OK;
}

/* Alg. 2 l. 5-15: goes to the neighbour that was drawn, or back. */
static enum tacit_status decide(struct walk *walk, const struct tacit_select_annealing *annealing,
                                double temperature, uint32_t leaves, uint32_t comes,
                                const struct tacit_entropy *entropy)
{
    double const before = walk->energy;
    exchange(walk, leaves, comes);
    double const after = energy_of(walk);
    walk->energy = after;
    if (after >= before) {
        if (annealing->keep_last || after > walk->best_energy)
            remember(walk);
        return TACIT_OK;
    }
    double chance;
    enum tacit_status const status = tacit_entropy_uniform(entropy, &chance);
    double const gain = annealing->sign_as_printed ? before - after : after - before;
    if (status == TACIT_OK && chance <= exp(gain / temperature))
        return TACIT_OK;
    exchange(walk, comes, leaves);
    walk->energy = before;
    return status;
}

/* All iterations. top: C, which the temperature falls from. */
static enum tacit_status wander(struct walk *walk, const struct tacit_select_annealing *annealing,
                                double top, const struct tacit_entropy *entropy)
{
    TACIT_ASSERT(walk->graph.m < walk->graph.user_count);
    TACIT_ASSERT(top > 0);
    for (uint32_t j = 1; j <= annealing->iterations; j++) {
        struct surroundings const here = surroundings_of(&walk->graph, walk->vertex);
        uint64_t index;
        uint32_t leaves;
        uint32_t comes;
        TACIT_TRY(tacit_entropy_below(entropy, neighbour_count(&walk->graph, &here), &index));
        neighbour_at(&walk->graph, &here, walk->vertex, index, &leaves, &comes);
        double const temperature = top / (annealing->kappa * log1p((double)j)); /* Alg. 2 l. 11 */
        TACIT_TRY(decide(walk, annealing, temperature, leaves, comes, entropy));
    }
    return TACIT_OK;
}

/* ---- Public ---- */

/* Where a graph's lists lie: behind the ordinary scratch. */
static uint32_t *lists_of(const struct select_scratch *scratch, uint32_t user_count)
{
    return scratch->fourth + user_count;
}

static struct graph graph_of(const struct tacit_select_scores *scores, uint32_t user_count,
                             uint32_t m, struct select_scratch *scratch)
{
    struct graph graph = {
        .ucb = scores->ucb, .weight = scores->weight, .user_count = user_count, .m = m};
    uint32_t *const lists = lists_of(scratch, user_count);
    sort_lists(scores, scratch, lists, lists + (size_t)LISTS * user_count, &graph);
    return graph;
}

double tacit_select_temperature(const struct tacit_select_config *config,
                                const struct tacit_select_scores *scores, uint32_t user_count,
                                uint32_t m, void *memory)
{
    struct select_scratch scratch = select_scratch_of(memory, user_count);
    struct graph const graph = graph_of(scores, user_count, m, &scratch);
    return temperature_of(config, &graph, scores);
}

enum tacit_status tacit_select_anneal(const struct tacit_select_config *config,
                                      const struct tacit_select_annealing *annealing,
                                      const struct tacit_select_scores *scores, uint32_t user_count,
                                      uint32_t m, const struct tacit_entropy *entropy, void *memory,
                                      uint32_t *users, double *energy)
{
    TACIT_ASSERT(m >= 1);
    TACIT_ASSERT(m <= user_count);
    TACIT_ASSERT(annealing->kappa > 0);
    struct select_scratch scratch = select_scratch_of(memory, user_count);
    struct walk walk = {.graph = graph_of(scores, user_count, m, &scratch),
                        .vertex = scratch.third,
                        .place = scratch.place,
                        .best = scratch.fourth};
    walk.graph.is_vanilla = annealing->is_vanilla;
    double const top = annealing->is_vanilla
                           ? 2 * config->alpha + config->gamma + 1 /* READINGS P5.5 */
                           : temperature_of(config, &walk.graph, scores);
    TACIT_TRY(start_at_random(&walk, entropy, scratch.members));
    if (m < user_count)
        TACIT_TRY(wander(&walk, annealing, top, entropy));
    if (annealing->keep_walk)
        remember(&walk);
    select_sort_users(walk.best, m, user_count, &scratch);
    memcpy(users, walk.best, m * sizeof *users);
    *energy = tacit_select_energy(scores->ucb, scores->weight, users, m);
    return TACIT_OK;
}

/* Does a stand before b in the list by these values? As select_sort has them. */
static bool stands_before(const double *values, uint32_t a, uint32_t b)
{
    return values[a] < values[b] || (values[a] == values[b] && a < b);
}

/* As surroundings_of and neighbour_count would have it, but nothing is sorted. */
uint64_t tacit_select_neighbour_count(const struct tacit_select_scores *scores, uint32_t user_count,
                                      const uint32_t *users, uint32_t m)
{
    TACIT_ASSERT(m >= 1 && m <= user_count);
    double const *const columns[LISTS] = {scores->ucb, scores->generalization, scores->privacy};
    uint32_t least[LISTS];
    for (uint32_t list = 0; list < LISTS; list++) {
        least[list] = users[0];
        for (uint32_t i = 1; i < m; i++)
            if (stands_before(columns[list], users[i], least[list]))
                least[list] = users[i];
    }
    uint64_t minimum_count = least[1] != least[0] ? 2 : 1;
    minimum_count += least[2] != least[0] && least[2] != least[1] ? 1 : 0;
    uint64_t before_count = 0; /* no member does */
    for (uint32_t user = 0; user < user_count; user++)
        before_count += stands_before(columns[0], user, least[0]) ||
                                stands_before(columns[1], user, least[1]) ||
                                stands_before(columns[2], user, least[2])
                            ? 1
                            : 0;
    return minimum_count * (user_count - m) + (m - minimum_count) * before_count;
}

void tacit_select_neighbour(const struct tacit_select_scores *scores, uint32_t user_count,
                            const uint32_t *users, uint32_t m, uint64_t index, void *memory,
                            uint32_t *leaves, uint32_t *comes)
{
    struct select_scratch scratch = select_scratch_of(memory, user_count);
    struct graph const graph = graph_of(scores, user_count, m, &scratch);
    memset(scratch.members, 0, TACIT_BITS_WORDS(user_count) * sizeof *scratch.members);
    for (uint32_t i = 0; i < m; i++)
        tacit_bits_add(scratch.members, users[i]);
    make_vertex(scratch.members, user_count, m, scratch.third);
    struct surroundings const here = surroundings_of(&graph, scratch.third);
    TACIT_ASSERT(index < neighbour_count(&graph, &here));
    neighbour_at(&graph, &here, scratch.third, index, leaves, comes);
}
