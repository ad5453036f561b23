/* Faults of the simulator's nodes (faults.h). */
#include "faults.h"
#include <string.h>

/* A run with faults that still goes on after so many events has lost its way. */
#define EVENTS_MAX UINT64_C(50000000)

/* Kinds of faults in the queue, in their order at one time. */
enum kind {
    LOSS,    /* `node` goes for good */
    BACKUP,  /* backup `number` is taken of `node` */
    RESTORE, /* and put back */
    CLONE,   /* `node` begins as a clone of agent `number` */
    RESTART  /* `node` comes back after a crash */
};

struct place {
    struct tacit_sim_nodes *nodes;
    struct sim_node *node;
    void *disk; /* the persisted state */
    bool is_up;
    bool is_lost; /* and will not be up again */
};

/* An old disk. */
struct backup {
    void *disk;
    uint32_t node;
    uint64_t slot;
};

struct weather {
    struct faults const *faults;
    struct tacit_rng chance;
    uint64_t events;
    struct place *places; /* by node */
    struct backup *backups;
};

static struct weather *weather_of(const struct tacit_sim_nodes *nodes)
{
    return nodes->weather;
}

static const struct faults *faults_of(const struct tacit_sim_nodes *nodes)
{
    return weather_of(nodes)->faults;
}

static struct place *place_of(const struct tacit_sim_nodes *nodes, const struct sim_node *node)
{
    return &weather_of(nodes)->places[sim_index(nodes, node)];
}

uint32_t faults_agent_of(const struct tacit_sim_nodes *nodes, uint32_t node)
{
    TACIT_ASSERT(node < nodes->node_count);
    return nodes->nodes[node].agent;
}

bool faults_are_healed(const struct tacit_sim_nodes *nodes)
{
    return nodes->done_count == nodes->agent_count;
}

static struct {
    struct tacit_sim_node_ops ops;
    void (*sent)(void *context, const void *message);
    void *context;
} watch;

static void show(void *family, const void *message)
{
    (void)family;
    watch.sent(watch.context, message);
}

void faults_watch(struct tacit_sim_nodes *nodes, void (*sent)(void *context, const void *message),
                  void *context)
{
    watch.ops = *nodes->config.ops;
    watch.ops.sent = show;
    watch.sent = sent;
    watch.context = context;
    nodes->config.ops = &watch.ops;
}

/* ---- Chance ---- */

static bool faults_rage(const struct tacit_sim_nodes *nodes)
{
    return nodes->now_us < faults_of(nodes)->healed_at_us;
}

static bool by_chance(struct tacit_sim_nodes *nodes, double chance)
{
    return faults_rage(nodes) && tacit_rng_bernoulli(&weather_of(nodes)->chance, chance);
}

/* Uniform in 0 .. max. */
static uint64_t up_to(struct tacit_sim_nodes *nodes, uint64_t max)
{
    return tacit_rng_below(&weather_of(nodes)->chance, max + 1);
}

static void plan_fault(struct tacit_sim_nodes *nodes, enum kind kind, uint64_t time_us,
                       uint32_t node, uint64_t number)
{
    sim_push(nodes, (struct sim_item){.time_us = time_us,
                                      .kind = SIM_ITEM_FAULT,
                                      .rank = kind,
                                      .node = node,
                                      .number = number});
}

/* ---- Deaths ---- */

static void note_copied(const struct tacit_sim_nodes *nodes, enum fault_location to,
                        uint32_t to_index, enum fault_location from, uint32_t from_index)
{
    struct faults const *const faults = faults_of(nodes);
    if (faults->on_copied != NULL)
        faults->on_copied(faults->context, to, to_index, from, from_index);
}

/* What was not persisted is gone, and so is the process. */
static void go_down(struct tacit_sim_nodes *nodes, struct sim_node *node)
{
    struct place *const place = place_of(nodes, node);
    uint32_t const index = sim_index(nodes, node);
    memcpy(node->state, place->disk, node->state_bytes);
    note_copied(nodes, FAULT_MEMORY, index, FAULT_DISK, index);
    place->is_up = false;
    node->is_waiting = false;
    sim_end_plan(node);
    node->deadline_us = TACIT_NEVER;
    sim_set_done(nodes, node, place->is_lost);
}

/* It starts again, after a while, from what is on the disk now. */
static void crash(struct tacit_sim_nodes *nodes, struct sim_node *node)
{
    go_down(nodes, node);
    uint64_t const down_us = up_to(nodes, faults_of(nodes)->down_us_max);
    plan_fault(nodes, RESTART, nodes->now_us + down_us, sim_index(nodes, node), 0);
}

enum death { DEATH_NONE, DEATH_BEFORE_PERSIST, DEATH_AFTER_PERSIST, DEATH_AFTER_SEND };

static enum death choose_death(struct tacit_sim_nodes *nodes, bool is_hub)
{
    struct faults const *const faults = faults_of(nodes);
    if (!by_chance(nodes, is_hub ? faults->hub_crash : faults->agent_crash))
        return DEATH_NONE;
    return (enum death)(DEATH_BEFORE_PERSIST + tacit_rng_below(&weather_of(nodes)->chance, 3));
}

static void persist(struct tacit_sim_nodes *nodes, struct sim_node *node)
{
    struct tacit_sim_node_ops const *const ops = nodes->config.ops;
    uint32_t const index = sim_index(nodes, node);
    memcpy(place_of(nodes, node)->disk, node->state, node->state_bytes);
    note_copied(nodes, FAULT_DISK, index, FAULT_MEMORY, index);
    if (ops->persisted != NULL)
        ops->persisted(nodes->config.family, index);
}

/* The plan that was begun is served in parts; the last of them is in the queue. */
static void part_plan(struct tacit_sim_nodes *nodes, struct sim_node *node)
{
    uint32_t const parts = faults_of(nodes)->plan_parts;
    uint64_t length = 0;
    for (uint32_t i = 0; i < node->plan_count; i++)
        length += node->plan[i].count;
    node->parts_left = parts;
    for (uint32_t part = 1; part < parts; part++)
        sim_push(nodes, (struct sim_item){.time_us = nodes->now_us + length / parts * part +
                                                     length % parts * part / parts,
                                          .kind = SIM_ITEM_PULLS,
                                          .node = sim_index(nodes, node),
                                          .number = node->plan_number,
                                          .part = part});
}

static void carry_out(struct tacit_sim_nodes *nodes, struct sim_node *node,
                      const struct tacit_sim_update *update)
{
    enum death const death = choose_death(nodes, sim_is_hub(nodes, node));
    TACIT_ASSERT(place_of(nodes, node)->is_up);
    if (update->persist && death != DEATH_BEFORE_PERSIST)
        persist(nodes, node);
    if (death == DEATH_NONE || death == DEATH_AFTER_SEND)
        sim_send_update(nodes, node, update);
    if (death != DEATH_NONE) {
        crash(nodes, node);
        return;
    }
    sim_set_going(nodes, node, update);
    if (update->plan_count > 0)
        part_plan(nodes, node);
}

/* ---- Noise that fails now and then ---- */

static enum tacit_status unreliable_fill(void *context, void *bytes, size_t size)
{
    struct place *const place = context;
    if (by_chance(place->nodes, faults_of(place->nodes)->noise_failure))
        return TACIT_ENTROPY;
    struct tacit_entropy const entropy = tacit_rng_entropy(&place->node->noise);
    return entropy.fill(entropy.context, bytes, size);
}

static struct tacit_entropy noise(struct tacit_sim_nodes *nodes, struct sim_node *node)
{
    return sim_is_hub(nodes, node) ? tacit_rng_entropy(&node->noise)
                                   : (struct tacit_entropy){unreliable_fill, place_of(nodes, node)};
}

/* ---- Messages ---- */

/* Is one of the two addresses cut off now, and the other one not? The hub never is. */
static bool is_cut(const struct tacit_sim_nodes *nodes, uint32_t from, uint32_t to)
{
    struct faults const *const faults = faults_of(nodes);
    if (faults->cut_off == NULL || nodes->now_us < faults->cut_off_from_us ||
        nodes->now_us >= faults->cut_off_until_us)
        return false;
    bool const from_inside = from < nodes->agent_count && tacit_bits_has(faults->cut_off, from);
    bool const to_inside = to < nodes->agent_count && tacit_bits_has(faults->cut_off, to);
    return from_inside != to_inside;
}

static void send_to(struct tacit_sim_nodes *nodes, struct sim_packet *packet, uint32_t node)
{
    struct faults const *const faults = faults_of(nodes);
    if (is_cut(nodes, packet->from, nodes->nodes[node].agent) || by_chance(nodes, faults->loss))
        return;
    uint32_t const copies = by_chance(nodes, faults->duplication) ? 2 : 1;
    for (uint32_t copy = 0; copy < copies; copy++)
        sim_deliver(nodes, packet, node,
                    faults_rage(nodes) ? up_to(nodes, faults->delay_us_max) : 0);
}

/* And to clones that live under its name. */
static void send(struct tacit_sim_nodes *nodes, struct sim_packet *packet, uint32_t agent)
{
    send_to(nodes, packet, agent);
    for (uint32_t i = nodes->agent_count + 1; i < nodes->node_count; i++)
        if (nodes->nodes[i].agent == agent)
            send_to(nodes, packet, i);
}

/* ---- Old states that come back: only disks are copied ---- */

/* While things go wrong, and somebody still plays. */
static uint64_t last_time_us(const struct tacit_sim_nodes *nodes)
{
    uint64_t const horizon = nodes->config.sim->horizon;
    uint64_t const healed_at_us = faults_of(nodes)->healed_at_us;
    return healed_at_us < horizon ? healed_at_us : horizon;
}

/* One that may be copied. */
static uint32_t any_agent(struct tacit_sim_nodes *nodes)
{
    uint64_t const *const copied = faults_of(nodes)->copied;
    if (copied == NULL)
        return (uint32_t)up_to(nodes, nodes->agent_count - 1);
    uint64_t skip = up_to(nodes, tacit_bits_count(copied, nodes->agent_count) - 1);
    uint32_t agent = tacit_bits_next(copied, nodes->agent_count, 0);
    for (; skip > 0; skip--)
        agent = tacit_bits_next(copied, nodes->agent_count, agent + 1);
    return agent;
}

/* Backups are taken at some time, and put back at some later one. */
static void go_on(struct tacit_sim_nodes *nodes)
{
    struct faults const *const faults = faults_of(nodes);
    for (uint32_t agent = 0; agent < faults->lost_agents; agent++)
        plan_fault(nodes, LOSS, up_to(nodes, faults->healed_at_us), agent, 0);
    for (uint32_t i = 0; i < faults->agent_backups; i++) {
        uint32_t const agent = any_agent(nodes);
        uint64_t const taken_us = up_to(nodes, last_time_us(nodes));
        plan_fault(nodes, BACKUP, taken_us, agent, i);
        plan_fault(nodes, RESTORE, taken_us + up_to(nodes, last_time_us(nodes) - taken_us), agent,
                   i);
    }
    for (uint32_t i = 0; i < faults->clones; i++) {
        uint32_t const agent = any_agent(nodes);
        plan_fault(nodes, CLONE, up_to(nodes, last_time_us(nodes)), nodes->agent_count + 1 + i,
                   agent);
    }
}

static void make_backup(struct tacit_sim_nodes *nodes, struct sim_node *node, uint32_t number)
{
    struct backup *const backup = &weather_of(nodes)->backups[number];
    backup->node = sim_index(nodes, node);
    backup->slot = node->slot;
    memcpy(backup->disk, place_of(nodes, node)->disk, node->state_bytes);
    note_copied(nodes, FAULT_BACKUP, number, FAULT_DISK, backup->node);
}

static void put_back(struct tacit_sim_nodes *nodes, struct sim_node *node, uint32_t number)
{
    struct backup const *const backup = &weather_of(nodes)->backups[number];
    TACIT_ASSERT(backup->node == sim_index(nodes, node));
    if (place_of(nodes, node)->is_lost)
        return;
    memcpy(place_of(nodes, node)->disk, backup->disk, node->state_bytes);
    node->slot = backup->slot;
    note_copied(nodes, FAULT_DISK, backup->node, FAULT_BACKUP, number);
    crash(nodes, node);
}

/* With the noise that the agent will draw, or with its own: both are possible. */
static void begin_clone(struct tacit_sim_nodes *nodes, struct sim_node *clone, uint32_t agent)
{
    struct sim_node const *const original = &nodes->nodes[agent];
    clone->agent = agent;
    clone->slot = original->slot;
    memcpy(place_of(nodes, clone)->disk, place_of(nodes, original)->disk, original->state_bytes);
    if (up_to(nodes, 1) == 0)
        clone->noise = original->noise;
    note_copied(nodes, FAULT_DISK, sim_index(nodes, clone), FAULT_DISK, agent);
    crash(nodes, clone);
}

/* ---- What happens ---- */

/* Part `part` of `parts` of a count, so that all parts add up to it. */
static uint64_t share_of(uint64_t count, uint32_t part, uint32_t parts)
{
    uint64_t const before = count / parts * (part - 1) + count % parts * (part - 1) / parts;
    return count / parts * part + count % parts * part / parts - before;
}

static void play_part(struct tacit_sim_nodes *nodes, struct sim_node *node, uint32_t part)
{
    uint32_t const parts = faults_of(nodes)->plan_parts;
    uint64_t const number = node->plan_number;
    TACIT_ASSERT(node->parts_left > 0);
    node->parts_left--;
    for (uint32_t i = 0; i < node->plan_count && sim_is_current(nodes, node, number); i++) {
        struct tacit_pull_block const block = {
            node->plan[i].arm, share_of(node->plan[i].count, part == 0 ? parts : part, parts)};
        if (block.count == 0)
            continue;
        sim_record_plan(nodes, node, &block, 1);
        sim_play_block(nodes, node, block.arm, block.count);
    }
}

static void fault(struct tacit_sim_nodes *nodes, struct sim_node *node, const struct sim_item *item)
{
    struct place *const place = place_of(nodes, node);
    uint32_t const number = (uint32_t)item->number;
    switch ((enum kind)item->rank) {
    case LOSS:
        place->is_lost = true;
        go_down(nodes, node);
        break;
    case BACKUP:
        make_backup(nodes, node, number);
        break;
    case RESTORE:
        put_back(nodes, node, number);
        break;
    case CLONE:
        begin_clone(nodes, node, number);
        break;
    case RESTART:
        place->is_up = true;
        sim_step(nodes, node, (struct tacit_event){.kind = TACIT_EVENT_START});
        break;
    }
}

static bool happens(struct tacit_sim_nodes *nodes, const struct sim_item *item)
{
    struct sim_node *const node = &nodes->nodes[item->node];
    struct place const *const place = place_of(nodes, node);
    bool const is_restart = item->kind == SIM_ITEM_FAULT && item->rank == RESTART;
    struct sim_item rest;
    while (weather_of(nodes)->events == EVENTS_MAX && sim_queue_pop(&nodes->queue, &rest))
        sim_packet_drop(rest.packet);
    weather_of(nodes)->events++;
    bool const is_void = is_restart && (place->is_up || place->is_lost);
    if (item->kind == SIM_ITEM_FAULT && !is_void) {
        fault(nodes, node, item);
        return true;
    }
    if (place->is_up)
        sim_play_waiting(nodes, node); /* which may be its end */
    if (place->is_up && item->kind == SIM_ITEM_PULLS && item->number == node->plan_number) {
        play_part(nodes, node, item->part);
        return true;
    }
    return !place->is_up;
}

/* ---- Memory ---- */

static void *make(struct tacit_sim_nodes *nodes)
{
    void *const owner = nodes->config.family;
    struct weather *const weather = tacit_sim_new(owner, 1, sizeof *weather);
    struct faults const *const faults =
        (const struct faults *)(const void *)nodes->config.faults; /* its first member */
    uint32_t const agents = nodes->agent_count;
    size_t most = 0;
    TACIT_ASSERT(faults->lost_agents <= agents && faults->plan_parts >= 1);
    TACIT_ASSERT(faults->copied == NULL || tacit_bits_count(faults->copied, agents) > 0);
    weather->faults = faults;
    weather->places = tacit_sim_new(owner, nodes->node_count, sizeof *weather->places);
    weather->backups = tacit_sim_new(owner, faults->agent_backups, sizeof *weather->backups);
    for (uint32_t i = 0; i < nodes->node_count; i++) {
        size_t const bytes = nodes->nodes[i].state_bytes;
        most = bytes > most ? bytes : most;
        weather->places[i] = (struct place){
            .nodes = nodes, .node = &nodes->nodes[i], .disk = tacit_sim_new(owner, 1, bytes)};
    }
    for (uint32_t i = 0; i < faults->agent_backups; i++)
        weather->backups[i].disk = tacit_sim_new(owner, 1, most);
    TACIT_ASSERT(tacit_sim_is_whole(owner));
    return weather;
}

/* Clones begin later. */
static void begin(struct tacit_sim_nodes *nodes, uint32_t run)
{
    struct weather *const weather = weather_of(nodes);
    weather->chance =
        tacit_rng_stream(nodes->config.sim->seed, run, TACIT_STREAM_COMMON, TACIT_PURPOSE_FAULT);
    weather->events = 0;
    for (uint32_t i = 0; i < nodes->node_count; i++) {
        struct place *const place = &weather->places[i];
        place->is_up = i <= nodes->agent_count;
        place->is_lost = false;
        memcpy(place->disk, place->node->state, place->node->state_bytes);
    }
}

static const struct sim_fault_ops ops = {.make = make,
                                         .begin = begin,
                                         .go_on = go_on,
                                         .carry_out = carry_out,
                                         .send = send,
                                         .happens = happens,
                                         .noise = noise};

const struct tacit_sim_faults *faults_use(struct faults *faults)
{
    faults->common = (struct tacit_sim_faults){&ops, faults->clones, faults->delay_us_max};
    return &faults->common;
}
