/* Exact centres and diameters with few searches. One search from v says d(v, w) for every w, and
 * with it a bound: the eccentricity of w is at least max(d, ecc(v) - d). Where bounds do not
 * decide, 256 agents search at once, each with a bit of its own. */
#include "search.h"
#include <string.h>

/* Searches that go on at once, a bit each. More lanes would need fewer rounds of slower memory. */
#define LANES 4u
#define BATCH (64u * LANES)

/* Searches one by one before they go in batches: enough for graphs that have long ways or few
 * central agents; where the bounds leave many agents undecided, more of them would not help. */
#define SINGLE_ROUNDS 32u

/* What 256 searches at once cost, in searches. */
#define BATCH_COST 32u

/* Searches pull when they are at more than one agent in so many. */
#define PULL_SHARE 4u

struct wave {
    uint64_t lane[LANES];
};

size_t tacit_graph_work_size(uint32_t agent_count)
{
    TACIT_ASSERT(agent_count > 0);
    TACIT_ASSERT(agent_count <= TACIT_AGENTS_MAX);
    size_t const n = agent_count;
    return 3 * n * sizeof(struct wave) + 2 * TACIT_BITS_WORDS(n) * sizeof(uint64_t) +
           6 * n * sizeof(uint32_t);
}

struct search topo_search_init(const struct tacit_graph *graph, struct tacit_graph_effort effort,
                               void *work)
{
    size_t const n = graph->agent_count;
    struct wave *const waves = work;
    uint64_t *const bits = (uint64_t *)(waves + 3 * n);
    uint32_t *const words = (uint32_t *)(bits + 2 * TACIT_BITS_WORDS(n));
    return (struct search){.graph = graph,
                           .effort = effort,
                           .seen = waves,
                           .now = waves + n,
                           .next = waves + 2 * n,
                           .settled = bits,
                           .marks = bits + TACIT_BITS_WORDS(n),
                           .lower = words,
                           .distance = words + n,
                           .queue = words + 2 * n,
                           .spare = words + 3 * n,
                           .members = words + 4 * n,
                           .end = words + 5 * n};
}

/* ---- Components ------------------------------------------------------------------------------ */

struct group topo_search_group(const struct search *search, uint32_t component)
{
    uint32_t const start = component == 0 ? 0 : search->end[component - 1];
    return (struct group){search->members + start, search->end[component] - start};
}

static void sort_members(struct search *search, const uint32_t *label, uint32_t component_count)
{
    uint32_t const agent_count = search->graph->agent_count;
    memset(search->end, 0, component_count * sizeof search->end[0]);
    for (uint32_t agent = 0; agent < agent_count; agent++)
        search->end[label[agent]]++;
    uint32_t sum = 0;
    for (uint32_t component = 0; component < component_count; component++) {
        uint32_t const count = search->end[component];
        search->end[component] = sum;
        sum += count;
    }
    for (uint32_t agent = 0; agent < agent_count; agent++)
        search->members[search->end[label[agent]]++] = agent;
}

/* The eccentricity of an agent is known exactly. */
static void know(struct search *search, uint32_t agent, uint32_t eccentricity)
{
    search->lower[agent] = eccentricity;
    tacit_bits_add(search->settled, agent);
}

static bool settled(const struct search *search, uint32_t agent)
{
    return tacit_bits_has(search->settled, agent);
}

/* Who has all others as neighbours has eccentricity 1; and a ring, where all bounds are weak and no
 * agent differs from the next, is known as a whole. */
static void know_at_sight(struct search *search, struct group group)
{
    bool ring = group.count > 2;
    for (uint32_t i = 0; i < group.count; i++) {
        uint32_t const agent = group.agents[i];
        uint32_t const degree = tacit_graph_degree(search->graph, agent);
        ring = ring && degree == 2;
        search->lower[agent] = 2;
        if (degree + 1 == group.count)
            know(search, agent, group.count > 1 ? 1 : 0);
    }
    for (uint32_t i = 0; ring && i < group.count; i++)
        know(search, group.agents[i], group.count / 2);
}

/* ---- Rotations ---- */

/* A rotation that costs more searches than this is not worth looking for. */
#define ROTATION_SEARCHES_MAX 64u

/* Is every neighbour of agent i, `by` places on, a neighbour of the agent `by` places on from i?
 * Agents first .. first + count - 1 lie in a circle. Both lists ascend; what goes beyond the end of
 * the circle comes first in the other one. */
static bool turns_into(const struct tacit_graph *graph, uint32_t first, uint32_t count, uint32_t i,
                       uint32_t by)
{
    uint32_t const j = (uint32_t)(((uint64_t)i + by) % count);
    const uint32_t *const from = graph->neighbours + graph->first[first + i];
    const uint32_t *const to = graph->neighbours + graph->first[first + j];
    uint32_t const degree = tacit_graph_degree(graph, first + i);
    uint32_t before = 0;
    if (tacit_graph_degree(graph, first + j) != degree)
        return false;
    while (before < degree && from[before] - first < count - by)
        before++;
    for (uint32_t k = 0; k < degree; k++) {
        uint32_t const turned =
            (uint32_t)(((uint64_t)from[(before + k) % degree] - first + by) % count);
        if (to[k] - first != turned)
            return false;
    }
    return true;
}

static bool is_rotation(const struct tacit_graph *graph, uint32_t first, uint32_t count,
                        uint32_t by)
{
    for (uint32_t i = 0; i < count; i++)
        if (!turns_into(graph, first, count, i, by))
            return false;
    return true;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b > 0) {
        uint32_t const rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Into how few classes of agents that are alike does a rotation of the group put it? `count`: none
 * is known. Where there is one, it takes somebody to a neighbour, in all graphs that are usual:
 * ring lattices, tori row by row. */
static uint32_t classes_of(const struct search *search, struct group group)
{
    const struct tacit_graph *const graph = search->graph;
    uint32_t const first = group.agents[0];
    uint32_t const count = group.count;
    uint32_t least = count;
    if (group.agents[count - 1] - first + 1 != count)
        return count; /* they are not side by side */
    for (uint64_t i = graph->first[first]; i < graph->first[first + 1]; i++) {
        uint32_t const by = graph->neighbours[i] - first;
        uint32_t const classes = common_divisor(count, by);
        if (classes < least && classes <= ROTATION_SEARCHES_MAX &&
            is_rotation(graph, first, count, by))
            least = classes;
    }
    return least;
}

/* Bounds do not tell apart agents that are alike; but one of each class is enough. */
static void know_by_rotation(struct search *search, struct group group)
{
    uint32_t const classes =
        settled(search, group.agents[0]) ? group.count : classes_of(search, group);
    if (classes == group.count)
        return;
    for (uint32_t i = 0; i < classes; i++) {
        uint32_t const ecc =
            topo_search_spread(search->graph, group.agents[i], search->distance, search->queue)
                .eccentricity;
        topo_search_forget(search, group);
        for (uint32_t j = i; j < group.count; j += classes)
            know(search, group.agents[j], ecc);
    }
}

void topo_search_prepare(struct search *search, const uint32_t *label, uint32_t component_count)
{
    size_t const n = search->graph->agent_count;
    memset(search->seen, 0, 3 * n * sizeof(struct wave));
    memset(search->settled, 0, 2 * TACIT_BITS_WORDS(n) * sizeof search->settled[0]);
    sort_members(search, label, component_count);
    for (uint32_t component = 0; component < component_count; component++) {
        struct group const group = topo_search_group(search, component);
        know_at_sight(search, group);
        topo_search_forget(search, group);
        know_by_rotation(search, group);
    }
}

/* ---- Effort ---------------------------------------------------------------------------------- */

/* Visits of one search. */
static uint64_t volume_of(const struct search *search, struct group group)
{
    uint64_t volume = group.count;
    for (uint32_t i = 0; i < group.count; i++)
        volume += tacit_graph_degree(search->graph, group.agents[i]);
    return volume;
}

/* May it spend these visits now? `left`: how many it looks as if it takes in all. */
static bool may_spend(struct search *search, uint64_t visits, uint64_t left)
{
    struct tacit_graph_effort const effort = search->effort;
    bool const is_worth =
        search->spent + visits <= effort.visits || (left <= effort.more && effort.more > 0);
    search->spent += is_worth ? visits : 0;
    return is_worth;
}

/* ---- One search ------------------------------------------------------------------------------ */

uint32_t topo_search_mark(const struct tacit_graph *graph, uint32_t from, uint32_t first,
                          uint32_t step, uint32_t *mark, uint32_t *queue)
{
    uint32_t end = 0;
    TACIT_ASSERT(mark[from] == TACIT_UNREACHED);
    mark[from] = first;
    queue[end++] = from;
    for (uint32_t at = 0; at < end; at++) {
        uint32_t const agent = queue[at];
        for (uint64_t i = graph->first[agent]; i < graph->first[agent + 1]; i++) {
            uint32_t const neighbour = graph->neighbours[i];
            if (mark[neighbour] != TACIT_UNREACHED)
                continue;
            mark[neighbour] = mark[agent] + step;
            queue[end++] = neighbour;
        }
    }
    return end;
}

struct tacit_reach topo_search_spread(const struct tacit_graph *graph, uint32_t from,
                                      uint32_t *distance, uint32_t *queue)
{
    uint32_t const end = topo_search_mark(graph, from, 0, 1, distance, queue);
    return (struct tacit_reach){.agent_count = end, .eccentricity = distance[queue[end - 1]]};
}

struct tacit_reach tacit_graph_distances(const struct tacit_graph *graph, uint32_t from,
                                         uint32_t *distance, uint32_t *queue)
{
    TACIT_ASSERT(from < graph->agent_count);
    for (uint32_t agent = 0; agent < graph->agent_count; agent++)
        distance[agent] = TACIT_UNREACHED;
    return topo_search_spread(graph, from, distance, queue);
}

void topo_search_forget(struct search *search, struct group group)
{
    for (uint32_t i = 0; i < group.count; i++)
        search->distance[group.agents[i]] = TACIT_UNREACHED;
}

/* Appends an agent to a list of marked ones, if it is not yet there. */
static uint32_t mark(struct search *search, uint32_t agent, uint32_t *list, uint32_t end)
{
    if (tacit_bits_has(search->marks, agent))
        return end;
    tacit_bits_add(search->marks, agent);
    list[end] = agent;
    return end + 1;
}

static void raise_lower(struct search *search, uint32_t agent, uint32_t bound)
{
    if (search->lower[agent] < bound)
        search->lower[agent] = bound;
}

/* Searches from one member and improves everybody's bound. Result: one of those farthest away. */
static uint32_t search_from(struct search *search, uint32_t from)
{
    struct tacit_reach const reach =
        topo_search_spread(search->graph, from, search->distance, search->queue);
    know(search, from, reach.eccentricity);
    for (uint32_t i = 0; i < reach.agent_count; i++) {
        uint32_t const agent = search->queue[i];
        uint32_t const away = search->distance[agent];
        uint32_t const back = reach.eccentricity - away;
        raise_lower(search, agent, away > back ? away : back);
    }
    return search->queue[reach.agent_count - 1];
}

/* ---- Many searches at once ------------------------------------------------------------------- */

/* One step of all searches comes about in two ways. Pushing: every agent that something came to in
 * the last step hands it on; cheap while these are few. Returns, as pulling, the number of agents
 * listed: those that something new comes to. */
static uint32_t push(struct search *search, const uint32_t *from, uint32_t from_count,
                     uint32_t *list)
{
    const struct tacit_graph *const graph = search->graph;
    uint32_t end = 0;
    for (uint32_t at = 0; at < from_count; at++) {
        struct wave const now = search->now[from[at]];
        for (uint64_t i = graph->first[from[at]]; i < graph->first[from[at] + 1]; i++) {
            uint32_t const neighbour = graph->neighbours[i];
            const struct wave *const seen = &search->seen[neighbour];
            struct wave *const next = &search->next[neighbour];
            uint64_t before = 0;
            uint64_t fresh = 0;
            for (uint32_t lane = 0; lane < LANES; lane++) {
                uint64_t const come = now.lane[lane] & ~seen->lane[lane];
                before |= next->lane[lane];
                fresh |= come;
                next->lane[lane] |= come;
            }
            if (before == 0 && fresh != 0)
                list[end++] = neighbour;
        }
    }
    return end;
}

static uint64_t missing(struct wave all, struct wave seen)
{
    uint64_t bits = 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        bits |= all.lane[lane] & ~seen.lane[lane];
    return bits;
}

/* What comes to an agent from its neighbours and is new to it: of all searches, and it looks no
 * further when it has them all. */
static struct wave come_to(const struct search *search, struct wave all, uint32_t agent)
{
    const struct tacit_graph *const graph = search->graph;
    struct wave come = search->seen[agent];
    for (uint64_t i = graph->first[agent]; i < graph->first[agent + 1]; i++) {
        for (uint32_t lane = 0; lane < LANES; lane++)
            come.lane[lane] |= search->now[graph->neighbours[i]].lane[lane];
        if (missing(all, come) == 0)
            break;
    }
    for (uint32_t lane = 0; lane < LANES; lane++)
        come.lane[lane] &= ~search->seen[agent].lane[lane];
    return come;
}

/* Pulling: every agent that some search has not come to yet looks at its neighbours. Cheaper when
 * the searches are everywhere, and more so when most of them have been everywhere. */
static uint32_t pull(struct search *search, struct group group, struct wave all, uint32_t *list)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < group.count; i++) {
        uint32_t const agent = group.agents[i];
        if (missing(all, search->seen[agent]) == 0)
            continue;
        struct wave const come = come_to(search, all, agent);
        if (missing(come, (struct wave){{0}}) == 0)
            continue;
        search->next[agent] = come;
        list[end++] = agent;
    }
    return end;
}

/* Closes a step: what comes has come. Result: the searches that came to somebody. */
static struct wave close_step(struct search *search, const uint32_t *list, uint32_t count,
                              uint32_t step)
{
    struct wave moved = {{0}};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t const agent = list[i];
        struct wave const next = search->next[agent];
        for (uint32_t lane = 0; lane < LANES; lane++) {
            moved.lane[lane] |= next.lane[lane];
            search->seen[agent].lane[lane] |= next.lane[lane];
        }
        search->now[agent] = next;
        search->next[agent] = (struct wave){{0}};
        raise_lower(search, agent, step); /* somebody is as far as that */
    }
    return moved;
}

/* Result: the bits of all searches. */
static struct wave start_batch(struct search *search, const uint32_t *sources, uint32_t count)
{
    struct wave all = {{0}};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t const bit = UINT64_C(1) << (i % 64u);
        search->now[sources[i]].lane[i / 64u] |= bit;
        search->seen[sources[i]].lane[i / 64u] |= bit;
        all.lane[i / 64u] |= bit;
        search->queue[i] = sources[i];
    }
    return all;
}

/* Exact eccentricities of up to BATCH different members: of each the last step in which its search
 * came to somebody. Result: the largest. */
static uint32_t search_batch(struct search *search, struct group group, const uint32_t *sources,
                             uint32_t count)
{
    struct wave const all = start_batch(search, sources, count);
    uint32_t *list = search->queue;
    uint32_t *other = search->spare;
    uint32_t listed = count;
    uint32_t step = 0;
    while (listed > 0) {
        uint32_t const end = listed > group.count / PULL_SHARE ? pull(search, group, all, other)
                                                               : push(search, list, listed, other);
        for (uint32_t i = 0; i < listed; i++)
            search->now[list[i]] = (struct wave){{0}};
        struct wave const moved = close_step(search, other, end, step + 1);
        for (uint32_t i = 0; i < count; i++)
            if ((moved.lane[i / 64u] >> (i % 64u)) & 1u)
                know(search, sources[i], step + 1);
        uint32_t *const swap = list;
        list = other;
        other = swap;
        listed = end;
        step += end > 0;
    }
    for (uint32_t i = 0; i < count; i++)
        TACIT_ASSERT(settled(search, sources[i]));
    for (uint32_t i = 0; i < group.count; i++)
        search->seen[group.agents[i]] = (struct wave){{0}};
    return step;
}

/* ---- The centre ------------------------------------------------------------------------------ */

/* The member with the smallest bound, the lowest on ties. */
static uint32_t most_promising(const struct search *search, struct group group)
{
    uint32_t best = group.agents[0];
    for (uint32_t i = 1; i < group.count; i++)
        if (search->lower[group.agents[i]] < search->lower[best])
            best = group.agents[i];
    return best;
}

/* Those whose bound is the smallest one and not yet known to be exact, in ascending order. */
static uint32_t undecided(const struct search *search, struct group group, uint32_t bound,
                          uint32_t *sources)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < group.count && count < BATCH; i++)
        if (search->lower[group.agents[i]] == bound && !settled(search, group.agents[i]))
            sources[count++] = group.agents[i];
    return count;
}

/* How many are there whose search may still change who is the centre? */
static uint64_t contender_count(const struct search *search, struct group group, uint32_t bound)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < group.count; i++)
        count += search->lower[group.agents[i]] == bound && !settled(search, group.agents[i]);
    return count;
}

/* May another round begin? */
static bool may_go_on(struct search *search, struct group group, uint64_t volume, uint64_t round,
                      uint32_t bound)
{
    if (round < SINGLE_ROUNDS)
        return may_spend(search, 2 * volume, 2 * volume * (SINGLE_ROUNDS - round)) || round == 0;
    return may_spend(search, BATCH_COST * volume,
                     (contender_count(search, group, bound) / BATCH + 1) * BATCH_COST * volume);
}

/* The settled member with the smallest eccentricity. Requires: there is one. */
static uint32_t best_settled(const struct search *search, struct group group)
{
    uint32_t best = TACIT_NO_AGENT;
    for (uint32_t i = 0; i < group.count; i++)
        if (settled(search, group.agents[i]) &&
            (best == TACIT_NO_AGENT || search->lower[group.agents[i]] < search->lower[best]))
            best = group.agents[i];
    TACIT_ASSERT(best != TACIT_NO_AGENT);
    return best;
}

/* The most promising member is the centre once its bound is exact: nobody else can have less. Until
 * then it searches, and so does somebody farthest from it, who is the witness against it and those
 * around it. */
struct tacit_graph_span topo_search_centre(struct search *search, struct group group,
                                           uint64_t rounds, uint32_t *centre)
{
    uint64_t const volume = volume_of(search, group);
    for (uint64_t round = 0;; round++) {
        uint32_t const agent = most_promising(search, group);
        uint32_t const bound = search->lower[agent];
        *centre = agent;
        if (settled(search, agent) || round == rounds)
            return (struct tacit_graph_span){bound, bound, 0};
        if (!may_go_on(search, group, volume, round, bound)) {
            *centre = best_settled(search, group);
            uint64_t const batches = contender_count(search, group, bound) / BATCH + 1;
            return (struct tacit_graph_span){bound, search->lower[*centre],
                                             batches * BATCH_COST * volume};
        }
        if (round < SINGLE_ROUNDS) {
            uint32_t const witness = search_from(search, agent);
            topo_search_forget(search, group);
            search_from(search, witness);
            topo_search_forget(search, group);
        } else {
            uint32_t sources[BATCH];
            uint32_t const count = undecided(search, group, bound, sources);
            search_batch(search, group, sources, count);
        }
    }
}

/* ---- The diameter ---------------------------------------------------------------------------- */

/* Whoever is no farther from one of the sources than its eccentricity is below `best` has none
 * above `best` itself. One search from all sources; each joins in when as many steps are left as it
 * has to spare. Result: how many there are, marked, in the queue. */
static uint32_t mark_below(struct search *search, const uint32_t *sources, uint32_t count,
                           uint32_t best)
{
    const struct tacit_graph *const graph = search->graph;
    uint32_t *const list = search->queue;
    uint32_t at = 0;
    uint32_t end = 0;
    uint32_t spare = 0;
    for (uint32_t i = 0; i < count; i++)
        if (best > search->lower[sources[i]] && best - search->lower[sources[i]] > spare)
            spare = best - search->lower[sources[i]];
    for (;; spare--) {
        for (uint32_t i = 0; i < count; i++)
            if (search->lower[sources[i]] + spare == best)
                end = mark(search, sources[i], list, end);
        if (spare == 0)
            break;
        uint32_t const reached = end;
        for (; at < reached; at++)
            for (uint64_t i = graph->first[list[at]]; i < graph->first[list[at] + 1]; i++)
                end = mark(search, graph->neighbours[i], list, end);
    }
    return end;
}

/* They need not search. */
static void settle_around(struct search *search, const uint32_t *sources, uint32_t count,
                          uint32_t best)
{
    uint32_t const end = mark_below(search, sources, count, best);
    for (uint32_t i = 0; i < end; i++) {
        tacit_bits_remove(search->marks, search->queue[i]);
        tacit_bits_add(search->settled, search->queue[i]);
    }
}

/* Who is neither settled nor so near to the root that pairs of such are. */
static bool is_waiting(const struct search *search, uint32_t agent, uint32_t best)
{
    return !settled(search, agent) && 2 * search->distance[agent] > best;
}

/* Those who wait, and the largest distance of one from the root. */
static uint64_t waiting_count(const struct search *search, struct group group, uint32_t best,
                              uint32_t *farthest)
{
    uint64_t count = 0;
    *farthest = 0;
    for (uint32_t i = 0; i < group.count; i++) {
        uint32_t const agent = group.agents[i];
        if (!is_waiting(search, agent, best))
            continue;
        count++;
        *farthest = search->distance[agent] > *farthest ? search->distance[agent] : *farthest;
    }
    return count;
}

/* Have all who wait an eccentricity of at most `bound`, by what these sources know? */
static bool covers(struct search *search, struct group group, const uint32_t *sources,
                   uint32_t count, uint32_t best, uint32_t bound)
{
    uint32_t const end = mark_below(search, sources, count, bound);
    bool is_covered = true;
    for (uint32_t i = 0; i < group.count && is_covered; i++)
        is_covered = !is_waiting(search, group.agents[i], best) ||
                     tacit_bits_has(search->marks, group.agents[i]);
    for (uint32_t i = 0; i < end; i++)
        tacit_bits_remove(search->marks, search->queue[i]);
    return is_covered;
}

/* Marks an agent, its neighbours, and as many of those around them as its search may settle, but no
 * more than its share of the group. Result: the new end of the list. */
static uint32_t mark_around(struct search *search, uint32_t agent, uint32_t spare, uint32_t share,
                            uint32_t end)
{
    const struct tacit_graph *const graph = search->graph;
    uint32_t *const list = search->queue;
    uint32_t const begin = end;
    uint32_t at = end;
    end = mark(search, agent, list, end);
    for (uint32_t radius = 0; radius == 0 || (radius < spare && end - begin < share); radius++) {
        uint32_t const reached = end;
        for (; at < reached; at++)
            for (uint64_t i = graph->first[list[at]]; i < graph->first[list[at] + 1]; i++)
                end = mark(search, graph->neighbours[i], list, end);
        if (end == reached)
            break;
    }
    return end;
}

/* Chooses sources from the end of the order, after the `count` that are there: with bounds of at
 * most `highest`, and none that another one is likely to settle. Result: how many there are now;
 * *end marks are set. */
static uint32_t choose(struct search *search, struct group group, uint32_t best, uint32_t highest,
                       uint32_t *sources, uint32_t count, uint32_t *end)
{
    for (uint32_t left = group.count; left > 0 && count < BATCH; left--) {
        uint32_t const agent = group.agents[left - 1];
        uint32_t const bound = search->lower[agent];
        if (2 * search->distance[agent] <= best)
            break;
        if (settled(search, agent) || tacit_bits_has(search->marks, agent) || bound > highest)
            continue;
        sources[count++] = agent;
        *end = mark_around(search, agent, best - bound, group.count / BATCH, *end);
    }
    return count;
}

/* The next to search. Those who are sure to have an eccentricity of `best` settle nobody but may be
 * settled by others: they wait. Result: how many; 0 when all have distances of at most `best`. */
static uint32_t next_sources(struct search *search, struct group group, uint32_t best,
                             uint32_t *sources)
{
    uint32_t end = 0;
    uint32_t count = choose(search, group, best, best > 0 ? best - 1 : 0, sources, 0, &end);
    count = choose(search, group, best, best, sources, count, &end);
    for (uint32_t i = 0; i < end; i++)
        tacit_bits_remove(search->marks, search->queue[i]);
    return count;
}

/* The searches of a diameter so far. */
struct hunt {
    uint32_t best;    /* largest eccentricity found */
    uint64_t volume;  /* visits of one search */
    uint64_t waiting; /* when the first batch began */
    uint64_t batches;
    uint32_t sources[BATCH]; /* of the newest */
    uint32_t source_count;
};

/* About how many visits until nobody waits, if all batches settle as many as those so far. */
static uint64_t visits_left(const struct search *search, struct group group,
                            const struct hunt *hunt)
{
    uint32_t farthest;
    uint64_t const left = waiting_count(search, group, hunt->best, &farthest);
    uint64_t const done = hunt->waiting > left ? hunt->waiting - left : 0;
    uint64_t const each = hunt->batches > 0 ? done / hunt->batches : BATCH;
    return (left / (each > BATCH ? each : BATCH) + 1) * BATCH_COST * hunt->volume;
}

/* Two who wait are not farther apart than by way of the root, nor than one of them from anybody. */
static struct tacit_graph_span bound_the_rest(struct search *search, struct group group,
                                              const struct hunt *hunt)
{
    uint32_t farthest;
    (void)waiting_count(search, group, hunt->best, &farthest);
    uint32_t high = hunt->best;
    while (high < 2 * farthest &&
           !covers(search, group, hunt->sources, hunt->source_count, hunt->best, high))
        high++;
    return (struct tacit_graph_span){hunt->best, high, visits_left(search, group, hunt)};
}

static uint32_t largest_bound(const struct search *search, struct group group)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < group.count; i++)
        if (search->lower[group.agents[i]] > largest)
            largest = search->lower[group.agents[i]];
    return largest;
}

/* iFUB (Crescenzi et al. 2013): seen from a root, agents nearer than i are at most 2i - 2 apart. So
 * let the farthest search first, and stop when what was found is no less than that. Besides, an
 * eccentricity bounds those around it from above (Takes, Kosters 2011). */
struct tacit_graph_span topo_search_diameter(struct search *search, struct group group)
{
    uint32_t root;
    (void)topo_search_centre(search, group, SINGLE_ROUNDS, &root);
    search_from(search, root);
    memcpy(group.agents, search->queue, group.count * sizeof group.agents[0]);
    struct hunt hunt = {.best = largest_bound(search, group), .volume = volume_of(search, group)};
    struct tacit_graph_span span = {0, 0, 0};
    uint32_t ignored;
    hunt.waiting = waiting_count(search, group, hunt.best, &ignored);
    for (;;) {
        uint32_t sources[BATCH];
        uint32_t const count = next_sources(search, group, hunt.best, sources);
        span = (struct tacit_graph_span){hunt.best, hunt.best, 0};
        if (count == 0)
            break;
        if (!may_spend(search, BATCH_COST * hunt.volume, visits_left(search, group, &hunt))) {
            span = bound_the_rest(search, group, &hunt);
            break;
        }
        uint32_t const farthest = search_batch(search, group, sources, count);
        hunt.best = farthest > hunt.best ? farthest : hunt.best;
        settle_around(search, sources, count, hunt.best);
        memcpy(hunt.sources, sources, count * sizeof sources[0]);
        hunt.source_count = count;
        hunt.batches++;
    }
    topo_search_forget(search, group);
    return span;
}
