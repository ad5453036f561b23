/* Messages of a round of GIS without sending them.
 *
 * In slot s an agent adverts the reports at distance s from it, all at once, and asks those of its
 * neighbours that advert what it lacks: in ascending order, since a handshake is over before the
 * next begins (run.c, message_rank). So agent k gets the report of i, at distance s + 1, in slot s
 * from its lowest neighbour on a shortest way to i. A search from k that takes the neighbours of
 * each agent in ascending order finds the agents of one distance side by side by that neighbour:
 * each such group is one REQUEST and one DATA, each distance one ADVERT. */
#include "tally.h"
#include <stdlib.h>
#include <string.h>
#include "tacit/wire_elim.h"

/* Messages of one slot that are alike. */
struct group {
    uint32_t slot;
    uint32_t span_bytes; /* of their origins; 0: a free place */
    uint32_t row_count;  /* of REQUEST and DATA; 0: ADVERT */
    uint64_t count;
    uint64_t receivers;
};

struct elim_tally {
    struct group *groups; /* a table with free places, a power of two */
    size_t capacity;
    size_t count;
};

/* The search under way. */
struct search {
    const struct tacit_graph *graph;
    uint32_t *seen;  /* A: 1 + the last source that came here */
    uint32_t *queue; /* A */
    uint32_t *hop;   /* A: the neighbour of the source by which queue[i] was found */
    uint32_t diameter;
    struct elim_tally *tally;
};

bool elim_tally_is_possible(const struct tacit_graph *graph)
{
    double const agents = graph->agent_count;
    return agents * (agents + 2 * (double)graph->edge_count) <= ELIM_TALLY_MAX;
}

/* ---- The table ---- */

/* Where the group that is alike stands, or the free place for it. Requires: one is free. */
static size_t group_index(const struct elim_tally *tally, const struct group *group)
{
    uint64_t hash = group->slot * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ (hash >> 29) ^ group->span_bytes) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ (hash >> 32) ^ group->row_count) * UINT64_C(0x94d049bb133111eb);
    size_t at = (size_t)(hash >> 20) & (tally->capacity - 1);
    for (;; at = (at + 1) & (tally->capacity - 1)) {
        struct group const *const here = &tally->groups[at];
        if (here->span_bytes == 0 ||
            (here->slot == group->slot && here->span_bytes == group->span_bytes &&
             here->row_count == group->row_count))
            return at;
    }
}

/* Twice the places. False: out of memory, and nothing has changed. */
static bool grow(struct elim_tally *tally)
{
    struct elim_tally larger = {.capacity = tally->capacity * 2};
    larger.groups = calloc(larger.capacity, sizeof *larger.groups);
    if (larger.groups == NULL)
        return false;
    for (size_t i = 0; i < tally->capacity; i++)
        if (tally->groups[i].span_bytes > 0)
            larger.groups[group_index(&larger, &tally->groups[i])] = tally->groups[i];
    free(tally->groups);
    tally->groups = larger.groups;
    tally->capacity = larger.capacity;
    return true;
}

/* Joins the group that is alike, or begins it. False: out of memory. */
static bool add(struct elim_tally *tally, struct group group)
{
    TACIT_ASSERT(group.span_bytes > 0);
    if (2 * tally->count >= tally->capacity && !grow(tally))
        return false;
    struct group *const here = &tally->groups[group_index(tally, &group)];
    uint64_t const count = here->count + group.count;
    uint64_t const receivers = here->receivers + group.receivers;
    tally->count += here->span_bytes == 0 ? 1 : 0;
    *here = group;
    here->count = count;
    here->receivers = receivers;
    return true;
}

/* ---- The search ---- */

/* Bytes of the set from that of its lowest member to that of its highest. */
static uint32_t span_of(const uint32_t *agents, uint32_t count)
{
    TACIT_ASSERT(count > 0);
    uint32_t lowest = agents[0];
    uint32_t highest = agents[0];
    for (uint32_t i = 1; i < count; i++) {
        lowest = agents[i] < lowest ? agents[i] : lowest;
        highest = agents[i] > highest ? agents[i] : highest;
    }
    return highest / 8 - lowest / 8 + 1;
}

/* Those at distance s, in queue[begin .. end), go out as an ADVERT in slot s. */
static bool add_advert(const struct search *search, uint32_t source, uint32_t slot, uint32_t begin,
                       uint32_t end)
{
    uint32_t const degree = tacit_graph_degree(search->graph, source);
    if (slot >= search->diameter) /* the clock has ended the round */
        return true;
    return add(search->tally,
               (struct group){slot, span_of(search->queue + begin, end - begin), 0, 1, degree});
}

/* And came in the slot before, asked for at one neighbour after the other. */
static bool add_requests(const struct search *search, uint32_t slot, uint32_t begin, uint32_t end)
{
    bool is_added = true;
    for (uint32_t next; begin < end && is_added; begin = next) {
        for (next = begin + 1; next < end && search->hop[next] == search->hop[begin];)
            next++;
        uint32_t const span = span_of(search->queue + begin, next - begin);
        is_added = add(search->tally, (struct group){slot, span, next - begin, 1, 1});
    }
    return is_added;
}

/* Appends the neighbours of queue[at] that are new. Returns the end of the queue. */
static uint32_t visit_neighbours(struct search *search, uint32_t source, uint32_t at, uint32_t end)
{
    struct tacit_graph const *const graph = search->graph;
    uint32_t const agent = search->queue[at];
    for (uint64_t i = graph->first[agent]; i < graph->first[agent + 1]; i++) {
        uint32_t const neighbour = graph->neighbours[i];
        if (search->seen[neighbour] == source + 1)
            continue;
        search->seen[neighbour] = source + 1;
        search->queue[end] = neighbour;
        search->hop[end++] = at == 0 ? neighbour : search->hop[at];
    }
    return end;
}

/* What one agent says in a round, by a search in breadth from it. False: out of memory. */
static bool search_from(struct search *search, uint32_t source)
{
    uint32_t begin = 0;
    uint32_t end = 1;
    bool is_added = true;
    search->seen[source] = source + 1;
    search->queue[0] = source;
    search->hop[0] = source;
    for (uint32_t distance = 0; begin < end && is_added; distance++) {
        uint32_t next = end;
        is_added = add_advert(search, source, distance, begin, end) &&
                   (distance == 0 || add_requests(search, distance - 1, begin, end));
        for (uint32_t at = begin; at < end; at++)
            next = visit_neighbours(search, source, at, next);
        begin = end;
        end = next;
    }
    return is_added;
}

static enum tacit_status search_all(struct search *search, atomic_bool *stop)
{
    for (uint32_t agent = 0; agent < search->graph->agent_count; agent++) {
        if (atomic_load(stop))
            return TACIT_INTERRUPTED;
        if (tacit_graph_degree(search->graph, agent) > 0 && !search_from(search, agent))
            return TACIT_MEMORY;
    }
    return TACIT_OK;
}

/* ---- Public ---- */

struct elim_tally *elim_tally_new(const struct tacit_graph *graph, uint32_t diameter,
                                  atomic_bool *stop, enum tacit_status *status)
{
    size_t const agents = graph->agent_count;
    struct elim_tally *tally = calloc(1, sizeof *tally);
    uint32_t *const words = calloc(3 * agents, sizeof *words);
    *status = TACIT_MEMORY;
    if (tally != NULL) {
        tally->capacity = 1024;
        tally->groups = calloc(tally->capacity, sizeof *tally->groups);
    }
    if (tally != NULL && tally->groups != NULL && words != NULL) {
        struct search search = {graph, words, words + agents, words + 2 * agents, diameter, tally};
        *status = search_all(&search, stop);
    }
    free(words);
    if (*status == TACIT_OK)
        return tally;
    elim_tally_free(tally);
    return NULL;
}

void elim_tally_free(struct elim_tally *tally)
{
    if (tally == NULL)
        return;
    free(tally->groups);
    free(tally);
}

/* ---- One message ---- */

static bool is_control(const struct tacit_elim_message *message)
{
    return message->kind == TACIT_ELIM_COMMIT || message->kind == TACIT_ELIM_GRANT ||
           message->kind == TACIT_ELIM_REFUSAL || message->kind == TACIT_ELIM_PROOF ||
           (message->kind == TACIT_ELIM_DATA && message->sum_count == 0); /* confirmations */
}

/* Without what is there for grants. */
static uint64_t bare_bytes(const struct tacit_elim_message *message,
                           const struct tacit_wire_shape *shape)
{
    struct tacit_elim_message bare = *message;
    bare.commit = NULL;
    bare.openings = NULL;
    bare.is_signed = bare.has_history = false;
    return tacit_wire_bytes(tacit_wire_elim.messages, shape, &bare);
}

struct tacit_sim_cost elim_message_cost(const struct tacit_elim_message *message,
                                        uint32_t arm_count, uint32_t agent_count)
{
    struct tacit_wire_shape const shape = {.arm_count = arm_count, .agent_count = agent_count};
    uint64_t const all = tacit_wire_bytes(tacit_wire_elim.messages, &shape, message);
    struct tacit_sim_cost cost = {.is_control = is_control(message), .bytes = all};
    if (cost.is_control) {
        cost.bytes = 0;
        cost.control_bytes = all;
        return cost;
    }
    if (message->commit != NULL || message->openings != NULL || message->has_history)
        cost.bytes = bare_bytes(message, &shape);
    cost.scalars = tacit_elim_message_scalars(message, agent_count);
    cost.control_bytes = all - cost.bytes;
    return cost;
}

/* ---- What it comes to ---- */

static void add_group(const struct group *group, const struct elim_tally_round *round,
                      struct tacit_sim_totals *totals)
{
    struct tacit_wire_elim_rows rows = {.span_bytes = group->span_bytes,
                                        .row_count = group->row_count,
                                        .sum_count = round->sum_count};
    double const count = (double)group->count;
    uint32_t const arms = round->arm_count;
    if (group->row_count == 0) {
        totals->messages += count;
        totals->messages_per_receiver += (double)group->receivers;
        totals->bytes += count * (double)tacit_wire_elim_rows_bytes(TACIT_ELIM_ADVERT, &rows, arms);
        return;
    }
    size_t const data = tacit_wire_elim_rows_bytes(TACIT_ELIM_DATA, &rows, arms);
    totals->messages += 2 * count;
    totals->messages_per_receiver += 2 * count;
    totals->scalars += count * group->row_count * round->sum_count;
    totals->bytes +=
        count * (double)(tacit_wire_elim_rows_bytes(TACIT_ELIM_REQUEST, &rows, arms) + data);
    rows.has_openings = round->has_grants;
    totals->control_bytes +=
        count * (double)(tacit_wire_elim_rows_bytes(TACIT_ELIM_DATA, &rows, arms) - data);
}

void elim_tally_add(const struct elim_tally *tally, const struct elim_tally_round *round,
                    struct tacit_sim_totals *totals)
{
    for (size_t i = 0; i < tally->capacity; i++)
        if (tally->groups[i].span_bytes > 0 && tally->groups[i].slot <= round->last_slot)
            add_group(&tally->groups[i], round, totals);
}
