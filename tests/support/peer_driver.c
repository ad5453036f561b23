/* Drives peers of epoch elimination by hand: see peer_driver.h. */
#include "testing.h"
#include "damage.h"
#include "digest.h"
#include "digest_views.h"
#include "peer_driver.h"
#include <math.h>
#include "../../src/proto/elim/peer_state.h"

#define NET_STEPS_MAX 200000u

/* ---- Configuration ---- */

struct peer_setup peer_setup_plain(uint32_t agent_count, uint32_t arm_count, uint64_t horizon)
{
    return (struct peer_setup){.base = driver_setup_plain(agent_count, arm_count, horizon),
                               .collection = TACIT_ELIM_SPREAD};
}

static void set_place(struct peer_core *core, const struct peer_setup *setup,
                      const struct network *network, uint32_t agent)
{
    struct tacit_graph const *const graph = &network->graph;
    bool const gathers = setup->collection == TACIT_ELIM_GATHER;
    bool const is_sink = network->parent[agent] == TACIT_NO_AGENT;
    core->config.neighbour_count = tacit_graph_degree(graph, agent);
    memcpy(core->neighbours, graph->neighbours + graph->first[agent],
           core->config.neighbour_count * sizeof *core->neighbours);
    core->config.parent = is_sink ? agent : network->parent[agent];
    core->has_members = network->component_count > 1 && (!gathers || is_sink);
    core->members[0] = network->members[network->label[agent]];
}

/* With its arrays, which belong to the core. */
static struct tacit_elim_peer_config peer_config(const struct peer_core *core)
{
    struct tacit_elim_peer_config config = core->config;
    config.neighbours = core->neighbours;
    config.members = core->has_members ? core->members : NULL;
    return config;
}

struct peer_core peer_open(const struct peer_setup *setup, const struct network *network,
                           uint32_t agent, struct tacit_elim_table *shared)
{
    struct driver_setup const *const base = &setup->base;
    struct peer_core core = {.table = shared};
    core.config = (struct tacit_elim_peer_config){.agent = driver_agent_config(base, agent),
                                                  .collection = setup->collection,
                                                  .schedule = driver_hub_config(base).schedule,
                                                  .rows_max = setup->rows_max,
                                                  .slot_us = setup->slot_us,
                                                  .has_clock = setup->has_clock,
                                                  .round_us = setup->round_us,
                                                  .gather_timeout_us = setup->gather_timeout_us};
    set_place(&core, setup, network, agent);
    if (core.has_members)
        core.config.schedule.report_count = tacit_bits_word_count(core.members[0]);
    struct tacit_elim_peer_config const config = peer_config(&core);
    core.size = tacit_elim_peer_size(&config);
    assert_true(core.size > 0);
    damage_words(&core.size, sizeof core.size);
    core.state = testing_malloc(core.size);
    assert_int_equal(tacit_elim_peer_init(core.state, &config), TACIT_OK);
    if (shared == NULL) {
        core.table_size = tacit_elim_peer_table_size(&config);
        damage_words(&core.table_size, sizeof core.table_size);
        core.table = testing_malloc(core.table_size);
        tacit_elim_peer_table_init(core.table, &config, false);
    }
    core.entropy.rng = tacit_rng_stream(1, 0, agent, TACIT_PURPOSE_NOISE);
    core.keys = tacit_rng_stream(2, 0, agent, TACIT_PURPOSE_NOISE);
    core.update.deadline_us = TACIT_NEVER;
    return core;
}

static void release(struct peer_core *core)
{
    testing_free(core->state);
    if (core->table_size > 0)
        testing_free(core->table);
}

static void *copy_bytes(const void *bytes, size_t size)
{
    return memcpy(testing_malloc(size), bytes, size);
}

struct peer_core peer_copy(const struct peer_core *core)
{
    struct peer_core copy = *core;
    copy.state = copy_bytes(core->state, core->size);
    if (core->table_size > 0)
        copy.table = copy_bytes(core->table, core->table_size);
    copy.update = (struct tacit_elim_update){.deadline_us = TACIT_NEVER};
    return copy;
}

void peer_move(struct peer_core *core)
{
    struct peer_core const copy = peer_copy(core);
    memset(core->state, 0xa5, core->size);
    if (core->table_size > 0)
        memset(core->table, 0xa5, core->table_size);
    release(core);
    *core = copy;
}

struct tacit_elim_peer_view peer_view(const struct peer_core *core)
{
    struct tacit_elim_peer_view view;
    tacit_elim_peer_view(core->state, &view);
    return view;
}

enum tacit_status peer_check(const struct peer_core *core)
{
    struct tacit_elim_peer_config const config = peer_config(core);
    enum tacit_status const status =
        tacit_elim_peer_check(core->state, core->size, core->table, core->table_size, &config);
    digest_word((uint64_t)status);
    return status;
}

/* ---- Steps ---- */

static enum tacit_status countdown_fill(void *context, void *bytes, size_t size)
{
    struct driver_entropy *const entropy = context;
    uint64_t const number = entropy->fill_count++;
    if (number >= entropy->fail_from && number - entropy->fail_from < entropy->fail_count)
        return TACIT_ENTROPY;
    struct tacit_entropy const stream = tacit_rng_entropy(&entropy->rng);
    return stream.fill(stream.context, bytes, size);
}

static bool is_state(const void *state, size_t size, void *context)
{
    struct peer_core const *const core = context;
    struct tacit_elim_peer_config const config = peer_config(core);
    return tacit_elim_peer_check(state, size, core->table, core->table_size, &config) == TACIT_OK;
}

static bool is_table(const void *table, size_t size, void *context)
{
    struct peer_core const *const core = context;
    struct tacit_elim_peer_config const config = peer_config(core);
    return tacit_elim_peer_check(core->state, core->size, table, size, &config) == TACIT_OK;
}

/* Its intervals, and its newest release; in a copy, for that may be written where a plan will
 * stand. */
static void look_closer(const struct peer_core *core, const struct tacit_elim_peer_view *view)
{
    struct peer_core copy = peer_copy(core);
    for (uint32_t arm = 0; view->is_exact && arm < core->config.agent.arm_count; arm++) {
        struct tacit_bounds_interval const at = tacit_elim_peer_interval(core->state, arm, 0.9);
        digest_real(at.mean);
        digest_real(at.lower);
        digest_real(at.upper);
    }
    if (view->agent.release_epoch > 0) {
        struct tacit_elim_update const said = {
            .send = true, .message = tacit_elim_peer_release(copy.state, copy.table)};
        digest_elim(TACIT_OK, &said, core->config.agent.arm_count, core->config.agent.agent_count);
    }
    release(&copy);
}

/* State and table are one story: each is damaged beside the other. */
static void look_at(struct peer_core *core, enum tacit_status status)
{
    static uint64_t step;
    if (core->table_size > 0)
        assert_int_equal(peer_check(core), TACIT_OK);
    digest_elim(status, &core->update, core->config.agent.arm_count,
                core->config.agent.agent_count);
    struct tacit_elim_peer_view const view = peer_view(core);
    digest_elim_peer_view(&view, core->config.agent.arm_count, core->config.agent.agent_count);
    damage_words(core->state, core->size);
    if (core->table_size == 0)
        return;
    damage_words(core->table, core->table_size);
    if (!digest_is_paused() && damage_is_due(4 * step++))
        look_closer(core, &view);
    damage_some(core->state, core->size, is_state, core);
    damage_some(core->table, core->table_size, is_table, core);
}

static enum tacit_status no_fill(void *context, void *bytes, size_t size)
{
    return TACIT_ENTROPY;
}

static enum tacit_status ask(struct peer_core *core, struct tacit_event event, bool has_keys)
{
    struct tacit_entropy const entropy = {countdown_fill, &core->entropy};
    struct tacit_entropy const keys = tacit_rng_entropy(&core->keys);
    struct tacit_entropy const no_keys = {no_fill, NULL};
    event.keys = !core->config.agent.has_grants ? NULL : has_keys ? &keys : &no_keys;
    return tacit_elim_peer_step(core->state, core->table, &event, &entropy, &core->update);
}

/* The step without keys for salts, or with entropy that fails at this draw; at the next timeout,
 * and once more, with all. */
static void fail_draw(const struct peer_core *before, struct tacit_event event, uint64_t draw,
                      bool has_keys)
{
    struct peer_core copy = peer_copy(before);
    struct tacit_event const timeout = {.kind = TACIT_EVENT_TIMEOUT, .now_us = event.now_us};
    copy.entropy.fail_from = before->entropy.fill_count + draw;
    copy.entropy.fail_count = has_keys ? 1 : 0;
    for (int turn = 0; turn < 3; turn++) {
        enum tacit_status const status =
            ask(&copy, turn == 1 ? timeout : event, has_keys || turn > 0);
        look_at(&copy, status);
    }
    release(&copy);
}

/* A peer with a table of its own takes the step also in a copy of what it was, with entropy that
 * fails at the first draws and at the last, and without keys. */
static enum tacit_status ask_also_without_entropy(struct peer_core *core, struct tacit_event event)
{
    static uint64_t step;
    struct peer_core before = peer_copy(core);
    enum tacit_status const status = ask(core, event, true);
    uint64_t const draws = core->entropy.fill_count - before.entropy.fill_count;
    bool const is_due = core->table_size > 0 && status == TACIT_OK && draws > 0 &&
                        !digest_is_paused() && damage_is_due(step++);
    for (uint64_t draw = 0; is_due && draw < draws; draw++)
        if (draw < 2 || draw == draws - 1)
            fail_draw(&before, event, draw, true);
    if (is_due && core->config.agent.has_grants)
        fail_draw(&before, event, 0, false);
    release(&before);
    return status;
}

enum tacit_status peer_step(struct peer_core *core, struct tacit_event event)
{
    event.now_us = core->now_us;
    enum tacit_status const status = ask_also_without_entropy(core, event);
    look_at(core, status);
    if (event.kind == TACIT_EVENT_TIMEOUT && status == TACIT_OK)
        assert_true(core->update.deadline_us > core->now_us);
    return status;
}

void peer_expect(struct peer_core *core, struct tacit_event event, enum tacit_status status)
{
    assert_int_equal(peer_step(core, event), status);
}

/* What a state notes of a neighbour that it hears. */
static void forget_neighbours(struct tacit_elim_peer *peer)
{
    memset(elim_peer_work(peer), 0, peer->config.neighbour_count * sizeof(struct elim_peer_work));
    peer->work_since_us = 0;
    peer->is_behind = false;
}

static void forget_scratch(struct tacit_elim_table *table)
{
    memset(elim_table_scratch(table), 0, TACIT_BITS_WORDS(table->agent_count) * sizeof(uint64_t));
}

void peer_expect_nothing(struct peer_core *core, const struct tacit_elim_message *message,
                         enum tacit_status status)
{
    struct peer_core before = peer_copy(core);
    peer_expect(core, driver_receive(message), status);
    struct peer_core after = peer_copy(core);
    assert_false(core->update.send);
    assert_false(core->update.persist);
    assert_int_equal(core->update.plan_count, 0);
    if (status == TACIT_OK) { /* what is refused changes nothing at all */
        forget_neighbours(before.state);
        forget_neighbours(after.state);
    }
    assert_memory_equal(before.state, after.state, core->size);
    if (core->table_size > 0) {
        if (status == TACIT_OK) {
            forget_scratch(before.table);
            forget_scratch(after.table);
        }
        assert_memory_equal(before.table, after.table, core->table_size);
    }
    release(&before);
    release(&after);
}

const struct tacit_elim_message *peer_expect_answer(struct peer_core *core,
                                                    const struct tacit_elim_message *message,
                                                    enum tacit_elim_message_kind kind, uint32_t to)
{
    peer_expect(core, driver_receive(message), TACIT_OK);
    assert_true(core->update.send);
    assert_int_equal(core->update.message.kind, kind);
    assert_int_equal(core->update.message.from, core->config.agent.agent_id);
    assert_int_equal(core->update.message.to, to);
    return &core->update.message;
}

uint64_t peer_plan_length(const struct peer_core *core)
{
    uint64_t length = 0;
    for (uint32_t i = 0; i < core->update.plan_count; i++)
        length += core->update.plan[i].count;
    return length;
}

enum tacit_status peer_play(struct peer_core *core, const double *means, uint64_t left)
{
    struct tacit_pull_block plan[DRIVER_ARMS_MAX];
    uint32_t const count = core->update.plan_count;
    uint64_t slots = peer_plan_length(core);
    enum tacit_status status = TACIT_OK;
    assert_in_range(count, 1, DRIVER_ARMS_MAX);
    assert_true(slots >= left);
    memcpy(plan, core->update.plan, count * sizeof *plan);
    slots -= left;
    for (uint32_t i = 0; i < count && slots > 0; i++) {
        uint64_t const pulls = plan[i].count < slots ? plan[i].count : slots;
        union tacit_sum sum = {0};
        assert_int_equal(status, TACIT_OK);
        tacit_sum_add_reward(&core->config.agent.mechanism.scale, &sum, means[plan[i].arm], pulls);
        status = peer_step(core, driver_reward(plan[i].arm, pulls, sum));
        slots -= pulls;
    }
    return status;
}

/* ---- Messages ---- */

struct tacit_elim_message peer_word(enum tacit_elim_message_kind kind, uint32_t from, uint32_t to,
                                    uint32_t epoch, const uint64_t *origins)
{
    return (struct tacit_elim_message){.kind = kind,
                                       .from = from,
                                       .to = to,
                                       .run_id = DRIVER_RUN_ID,
                                       .epoch = epoch,
                                       .origins = origins};
}

/* ---- Networks: opening ---- */

static bool has_hub(const struct peer_net *net)
{
    return net->setup.collection == TACIT_ELIM_GATHER;
}

static struct driver_core open_hub(const struct peer_setup *setup, const struct network *network)
{
    struct driver_core hub = driver_hub_open(&setup->base);
    uint32_t weights[NETWORK_AGENTS_MAX] = {0};
    for (uint32_t i = 0; i < network->component_count; i++)
        weights[network->components[i].sink] = network->components[i].agent_count;
    hub.hub_config.weights = weights;
    hub.hub_config.components_alike = setup->components_alike;
    assert_int_equal(tacit_elim_hub_init(hub.state, &hub.hub_config), TACIT_OK);
    hub.hub_config.weights = copy_bytes(weights, sizeof weights);
    return hub;
}

static struct peer_net *peer_net_open(const struct peer_setup *setup, const struct network *network,
                                      const double *means, bool is_shared)
{
    struct peer_net *const net = testing_calloc(1, sizeof *net);
    uint32_t const agents = network->graph.agent_count;
    assert_int_equal(agents, setup->base.agent_count);
    assert_in_range(setup->base.arm_count, 1, PEER_ARMS_MAX);
    net->setup = *setup;
    net->network = network;
    net->means = means;
    net->order = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_FAULT);
    if (is_shared) {
        struct tacit_elim_peer_config const config = {.agent =
                                                          driver_agent_config(&setup->base, 0)};
        net->shared = testing_malloc(tacit_elim_peer_table_size(&config));
        tacit_elim_peer_table_init(net->shared, &config, true);
    }
    for (uint32_t agent = 0; agent < agents; agent++) {
        struct peer_core *const core = &net->peers[agent];
        *core = peer_open(setup, network, agent, net->shared);
        net->disks[agent].state = copy_bytes(core->state, core->size);
        if (!is_shared)
            net->disks[agent].table = copy_bytes(core->table, core->table_size);
    }
    if (has_hub(net)) {
        net->hub = open_hub(setup, network);
        net->disks[agents].state = copy_bytes(net->hub.state, net->hub.size);
    }
    return net;
}

/* At once: of hundreds in a row. */
static void net_close(struct peer_net *net)
{
    for (uint32_t agent = 0; agent < net->setup.base.agent_count; agent++)
        release(&net->peers[agent]);
    if (has_hub(net)) {
        testing_free((void *)(uintptr_t)net->hub.hub_config.weights);
        testing_free(net->hub.state);
    }
    for (size_t i = 0; i < net->mail_count; i++)
        testing_free(net->mail[i].message);
    for (uint32_t i = 0; i <= net->setup.base.agent_count; i++) {
        testing_free(net->disks[i].state);
        testing_free(net->disks[i].table);
    }
    testing_free(net->mail);
    testing_free(net->shared);
    testing_free(net);
}

/* ---- Networks: mail ---- */

static void post(struct peer_net *net, uint32_t to, const struct tacit_elim_message *message)
{
    uint32_t const arms = net->setup.base.arm_count;
    uint32_t const agents = net->setup.base.agent_count;
    if (net->mail_count == net->mail_capacity) {
        struct peer_mail *const before = net->mail;
        net->mail_capacity = 2 * net->mail_capacity + 64;
        net->mail = testing_calloc(net->mail_capacity, sizeof *net->mail);
        if (before != NULL)
            memcpy(net->mail, before, net->mail_count * sizeof *net->mail);
        testing_free(before);
    }
    void *const memory = testing_malloc(tacit_elim_message_size(message, arms, agents));
    (void)tacit_elim_message_copy(message, arms, agents, memory);
    net->mail[net->mail_count++] = (struct peer_mail){to, memory};
}

static void send(struct peer_net *net, const struct tacit_elim_message *message)
{
    struct tacit_graph const *const graph = &net->network->graph;
    uint32_t const agents = net->setup.base.agent_count;
    if (message->to == TACIT_HUB)
        post(net, agents, message);
    else if (message->to == TACIT_EVERYONE)
        for (uint32_t agent = 0; agent < agents; agent++)
            post(net, agent, message);
    else if (message->to == TACIT_NEIGHBOURS)
        for (uint64_t i = graph->first[message->from]; i < graph->first[message->from + 1]; i++)
            post(net, graph->neighbours[i], message);
    else
        post(net, message->to, message);
}

/* ---- Networks: what came out of a step ---- */

static void note_round(struct peer_record *record, uint32_t epoch, uint32_t round_count,
                       const uint64_t *arms, double radius, const double *means, uint32_t arm_count)
{
    if (round_count == record->round_count)
        return;
    assert_int_equal(round_count, record->round_count + 1);
    assert_in_range(round_count, 1, PEER_ROUNDS_MAX);
    struct peer_round *const round = &record->rounds[record->round_count++];
    *round = (struct peer_round){.epoch = epoch, .arms = arms[0], .radius = radius};
    memcpy(round->means, means, arm_count * sizeof *means);
}

/* The epoch that a round was about is that of the last release (or of the hub's step before). */
static void note_peer(struct peer_net *net, uint32_t agent)
{
    struct tacit_elim_peer_view const view = peer_view(&net->peers[agent]);
    struct peer_record *const record = &net->records[agent];
    uint32_t const arms = net->setup.base.arm_count;
    uint64_t const epoch = view.agent.release_epoch;
    assert_in_range(epoch, 0, PEER_ROUNDS_MAX - 1);
    if (epoch > 0 && record->has_released[epoch]) /* never drawn again */
        assert_memory_equal(record->released[epoch], view.agent.noised, arms * sizeof(uint64_t));
    if (epoch > 0)
        memcpy(record->released[epoch], view.agent.noised, arms * sizeof(uint64_t));
    record->has_released[epoch] = epoch > 0;
    if (!has_hub(net))
        note_round(record, (uint32_t)epoch, view.round_count, view.arms, view.radius, view.means,
                   arms);
}

static void write_to_disk(struct peer_net *net, uint32_t agent, bool with_table)
{
    struct peer_core const *const core = &net->peers[agent];
    memcpy(net->disks[agent].state, core->state, core->size);
    if (with_table && core->table_size > 0)
        memcpy(net->disks[agent].table, core->table, core->table_size);
}

static bool dies_before(const struct peer_net *net, bool is_dying, enum peer_death death)
{
    return is_dying && net->death < death;
}

static void carry_out(struct peer_net *net, uint32_t agent, bool is_dying)
{
    struct peer_core *const core = &net->peers[agent];
    if (dies_before(net, is_dying, PEER_DIES_AFTER_PERSIST))
        return;
    if (core->update.persist)
        write_to_disk(net, agent, core->update.persist_table);
    note_peer(net, agent);
    if (core->update.send && !dies_before(net, is_dying, PEER_DIES_AFTER_SEND))
        send(net, &core->update.message);
}

/* One step of a peer. Who dies in it comes back at once; the draws of a step that was not durable
 * are made again. */
static void step_peer(struct peer_net *net, uint32_t agent, struct tacit_event event)
{
    struct peer_core *const core = &net->peers[agent];
    struct driver_entropy const entropy = core->entropy;
    bool const is_dying = ++net->step_count == net->death_at;
    core->now_us = net->now_us;
    (void)peer_step(core, event);
    carry_out(net, agent, is_dying);
    if (!is_dying)
        return;
    if (net->death == PEER_DIES_BEFORE_PERSIST)
        core->entropy = entropy;
    peer_move(core);
    memcpy(core->state, net->disks[agent].state, core->size);
    memcpy(core->table, net->disks[agent].table, core->table_size);
    peer_expect(core, driver_start(), TACIT_OK);
    carry_out(net, agent, false);
}

static bool wants_to_play(const struct peer_core *core, struct tacit_pull_block *block)
{
    if (core->update.plan_count == 0)
        return false;
    *block = core->update.plan[core->update.plan_count - 1];
    return true;
}

/* The last block of the plan first, and a new look at the plan after each: it may be another. */
static void play(struct peer_net *net, uint32_t agent)
{
    struct peer_core *const core = &net->peers[agent];
    struct tacit_pull_block plan[PEER_ARMS_MAX];
    struct tacit_pull_block block;
    while (wants_to_play(core, &block)) {
        uint32_t const count = core->update.plan_count - 1;
        union tacit_sum sum = {0};
        memmove(plan, core->update.plan, count * sizeof *plan);
        tacit_sum_add_reward(&core->config.agent.mechanism.scale, &sum,
                             net->means[agent * net->setup.base.arm_count + block.arm],
                             block.count);
        step_peer(net, agent, driver_reward(block.arm, block.count, sum));
        if (core->update.plan_count > 0 || count == 0)
            continue; /* a new plan, or the end of the old one */
        core->update.plan = plan;
        core->update.plan_count = count;
    }
}

static void step_and_play(struct peer_net *net, uint32_t agent, struct tacit_event event)
{
    step_peer(net, agent, event);
    play(net, agent);
}

static void carry_out_of_hub(struct peer_net *net, uint32_t epoch, bool is_dying)
{
    struct driver_core *const hub = &net->hub;
    struct tacit_elim_hub_view const view = driver_hub_view(hub);
    uint32_t const agents = net->setup.base.agent_count;
    if (dies_before(net, is_dying, PEER_DIES_AFTER_PERSIST))
        return;
    if (hub->update.persist)
        memcpy(net->disks[agents].state, hub->state, hub->size);
    note_round(&net->records[agents], epoch, view.round_count, view.arms, view.radius, view.means,
               net->setup.base.arm_count);
    if (hub->update.send && !dies_before(net, is_dying, PEER_DIES_AFTER_SEND))
        send(net, &hub->update.message);
}

static void step_hub(struct peer_net *net, struct tacit_event event)
{
    uint32_t const epoch = driver_hub_view(&net->hub).epoch;
    bool const is_dying = ++net->step_count == net->death_at;
    net->hub.now_us = net->now_us;
    (void)driver_step(&net->hub, event);
    carry_out_of_hub(net, epoch, is_dying);
    if (!is_dying)
        return;
    driver_move(&net->hub);
    memcpy(net->hub.state, net->disks[net->setup.base.agent_count].state, net->hub.size);
    driver_expect(&net->hub, driver_start(), TACIT_OK);
    carry_out_of_hub(net, epoch, false);
}

/* ---- Networks: running ---- */

static void deliver(struct peer_net *net)
{
    size_t const pick = net->is_shuffled ? tacit_rng_below(&net->order, net->mail_count) : 0;
    struct peer_mail const envelope = net->mail[pick];
    net->mail_count--;
    memmove(net->mail + pick, net->mail + pick + 1, (net->mail_count - pick) * sizeof *net->mail);
    if (envelope.to == net->setup.base.agent_count)
        step_hub(net, driver_receive(envelope.message));
    else
        step_and_play(net, envelope.to, driver_receive(envelope.message));
    testing_free(envelope.message);
}

/* The peer whose timer runs off next. */
static uint32_t next_to_wake(const struct peer_net *net)
{
    uint32_t next = 0;
    for (uint32_t agent = 1; agent < net->setup.base.agent_count; agent++)
        if (net->peers[agent].update.deadline_us < net->peers[next].update.deadline_us)
            next = agent;
    return next;
}

static void wake(struct peer_net *net, uint32_t agent)
{
    uint64_t const deadline_us = net->peers[agent].update.deadline_us;
    assert_true(deadline_us != TACIT_NEVER);
    net->now_us = deadline_us > net->now_us ? deadline_us : net->now_us;
    step_and_play(net, agent, driver_timeout());
}

static bool is_over(const struct peer_net *net)
{
    for (uint32_t agent = 0; agent < net->setup.base.agent_count; agent++) {
        struct tacit_elim_peer_view const view = peer_view(&net->peers[agent]);
        if (!view.agent.last && !view.agent.finished)
            return false;
    }
    return true;
}

/* Everybody starts; then messages are delivered and timers run off until everybody plays its last
 * arm or is at T. Fails the test if that does not happen. */
static void peer_net_run(struct peer_net *net)
{
    for (uint32_t agent = 0; agent < net->setup.base.agent_count; agent++)
        step_and_play(net, agent, driver_start());
    if (has_hub(net))
        step_hub(net, driver_start());
    while (!is_over(net)) {
        bool const is_late = net->is_shuffled && tacit_rng_bernoulli(&net->order, 0.02);
        uint32_t const next = next_to_wake(net);
        bool const can_wake = net->peers[next].update.deadline_us != TACIT_NEVER;
        assert_true(net->step_count < NET_STEPS_MAX);
        if (net->mail_count > 0 && !(is_late && can_wake))
            deliver(net);
        else
            wake(net, next);
    }
}

/* ---- Worlds and deaths ---- */

struct peer_net *peer_world_played(const struct peer_world *world, bool is_shuffled, bool is_shared)
{
    struct peer_net *const net =
        peer_net_open(&world->setup, world->network, world->means, is_shared);
    net->is_shuffled = is_shuffled;
    net->order = world->rng;
    peer_net_run(net);
    return net;
}

void peer_expect_same_records(const struct peer_net *a, const struct peer_net *b)
{
    for (uint32_t agent = 0; agent <= a->setup.base.agent_count; agent++)
        assert_memory_equal(&a->records[agent], &b->records[agent], sizeof a->records[agent]);
}

static void expect_death_changes_nothing(const struct peer_world *world,
                                         const struct peer_net *plain, uint64_t step,
                                         enum peer_death death)
{
    struct peer_net *const net = peer_net_open(&world->setup, world->network, world->means, false);
    net->death = death;
    net->death_at = step;
    peer_net_run(net);
    peer_expect_same_records(plain, net);
    net_close(net);
}

void peer_expect_deaths_change_nothing(struct peer_world world_of(uint64_t seed), uint32_t count)
{
    for (uint64_t seed = 101; seed <= 100 + count; seed++) {
        struct peer_world const world = world_of(seed);
        struct peer_net *const plain = peer_world_played(&world, false, false);
        uint64_t const stride = 1 + plain->step_count / 80;
        for (uint64_t step = 1; step <= plain->step_count; step += stride)
            for (uint32_t death = 0; death <= PEER_DIES_AFTER_SEND; death++)
                expect_death_changes_nothing(&world, plain, step, (enum peer_death)death);
        network_free(world.network);
    }
}

void peer_expect_any_order(const struct peer_world *world, const struct peer_net *plain)
{
    for (uint32_t variant = 1; variant < 4; variant++)
        peer_expect_same_records(plain, peer_world_played(world, variant != 2, variant >= 2));
}

/* ---- Worlds ---- */

struct peer_world peer_world_of(uint64_t seed, uint32_t agents_max,
                                struct network *(*draw)(uint32_t, struct tacit_rng *))
{
    struct peer_world world = {.rng = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_INSTANCE)};
    struct tacit_rng *const rng = &world.rng;
    uint32_t const agents = 1 + (uint32_t)tacit_rng_below(rng, agents_max);
    uint32_t const arms = 2 + (uint32_t)tacit_rng_below(rng, PEER_ARMS_MAX - 1);
    world.network = draw(agents, rng);
    world.setup = peer_setup_plain(agents, arms, 5000 + tacit_rng_below(rng, 100000));
    world.setup.base.mode =
        tacit_rng_bernoulli(rng, 0.5) ? TACIT_PRIVACY_SOUND : TACIT_PRIVACY_PAPER;
    world.setup.base.epsilon =
        tacit_rng_bernoulli(rng, 0.3) ? INFINITY : 1 + 9 * tacit_rng_uniform(rng);
    return world;
}

void peer_world_end(struct peer_world *world)
{
    struct driver_setup const *const base = &world->setup.base;
    world->setup.slot_us = tacit_rng_below(&world->rng, 3);
    world->setup.rows_max = (uint32_t)tacit_rng_below(&world->rng, 4);
    for (uint32_t i = 0; i < base->agent_count * base->arm_count; i++)
        world->means[i] = tacit_rng_uniform(&world->rng);
}
