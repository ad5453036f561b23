/* See gossip_driver.h. */
#include "testing.h"
#include "gossip_driver.h"

#define PURPOSE_REWARD 1u
#define PURPOSE_AGENT 2u
#define PURPOSE_EDGE 3u
#define PURPOSE_NAME 4u

static void *allocate(size_t count, size_t size)
{
    void *const memory = testing_calloc(count == 0 ? 1 : count, size);
    return memory;
}

/* ---- Tapes ---- */

struct gossip_tapes gossip_tapes_new(const struct gossip_setting *setting)
{
    uint32_t const agents = setting->config.agent_count;
    struct gossip_tapes tapes = {
        .agents = allocate(agents, sizeof(struct tacit_rng)),
        .rewards = allocate(agents, sizeof(struct tacit_rng)),
        .edges = tacit_rng_stream(setting->seed, setting->run, TACIT_STREAM_COMMON, PURPOSE_EDGE)};
    for (uint32_t i = 0; i < agents; i++) {
        tapes.agents[i] = tacit_rng_stream(setting->seed, setting->run, i, PURPOSE_AGENT);
        tapes.rewards[i] = tacit_rng_stream(setting->seed, setting->run, i, PURPOSE_REWARD);
    }
    return tapes;
}

void gossip_tapes_free(struct gossip_tapes *tapes)
{
    testing_free(tapes->agents);
    testing_free(tapes->rewards);
}

union tacit_sum gossip_tape_reward(const struct gossip_setting *setting, struct gossip_tapes *tapes,
                                   uint32_t agent, uint32_t arm)
{
    struct tacit_rng *const rng = &tapes->rewards[agent];
    double const mean = setting->means[(size_t)agent * setting->config.arm_count + arm];
    double const reward = setting->rewards == GOSSIP_BERNOULLI
                              ? (double)tacit_rng_bernoulli(rng, mean)
                              : mean + tacit_rng_normal(rng);
    struct tacit_mechanism_config const *const config = &setting->config.mechanism;
    struct tacit_scale const scale = {
        .kind = config->mode == TACIT_PRIVACY_SOUND ? TACIT_SCALE_STEPS : TACIT_SCALE_REAL,
        .lo = config->lo,
        .hi = config->hi};
    union tacit_sum sum = {0};
    tacit_sum_add_reward(&scale, &sum, reward, 1);
    return sum;
}

struct tacit_edge gossip_tape_edge(const struct gossip_setting *setting, struct gossip_tapes *tapes)
{
    uint64_t const edge = tacit_rng_below(&tapes->edges, setting->network->graph.edge_count);
    return setting->network->edges[edge];
}

/* ---- The network ---- */

void gossip_direct_init(struct gossip_direct *direct, const struct gossip_setting *setting)
{
    uint32_t const agents = setting->config.agent_count;
    uint32_t const arms = setting->config.arm_count;
    *direct = (struct gossip_direct){.setting = setting, .tapes = gossip_tapes_new(setting)};
    assert_int_equal(tacit_gossip_rule_init(&direct->rule, &setting->config), TACIT_OK);
    direct->network = allocate(1, tacit_gossip_network_size(&direct->rule));
    direct->entropies = allocate(agents, sizeof direct->entropies[0]);
    direct->rewards = allocate((size_t)agents * arms, sizeof direct->rewards[0]);
    for (uint32_t i = 0; i < agents; i++) {
        direct->entropies[i] = tacit_rng_entropy(&direct->tapes.agents[i]);
        for (uint32_t k = 0; k < arms; k++)
            direct->rewards[(size_t)i * arms + k] =
                gossip_tape_reward(setting, &direct->tapes, i, k);
    }
    tacit_gossip_network_init(direct->network, &direct->rule);
    assert_int_equal(
        tacit_gossip_network_first(direct->network, direct->rewards, direct->entropies), TACIT_OK);
}

void gossip_direct_slot(struct gossip_direct *direct)
{
    struct gossip_setting const *const setting = direct->setting;
    uint32_t const *arms;
    assert_int_equal(tacit_gossip_network_choose(direct->network, &setting->network->graph,
                                                 direct->entropies, &arms),
                     TACIT_OK);
    struct tacit_edge const edge = gossip_tape_edge(setting, &direct->tapes);
    for (uint32_t i = 0; i < setting->config.agent_count; i++)
        direct->rewards[i] = gossip_tape_reward(setting, &direct->tapes, i, arms[i]);
    assert_int_equal(
        tacit_gossip_network_absorb(direct->network, &edge, direct->rewards, direct->entropies),
        TACIT_OK);
}

void gossip_direct_free(struct gossip_direct *direct)
{
    gossip_tapes_free(&direct->tapes);
    testing_free(direct->network);
    testing_free(direct->entropies);
    testing_free(direct->rewards);
}

/* ---- Agents ---- */

/* Names of incarnations are of no tape. */
static struct tacit_gossip_update step(struct gossip_cores *cores, uint32_t agent,
                                       struct tacit_event event)
{
    struct tacit_rng names = tacit_rng_stream(cores->setting->seed, 0, agent, PURPOSE_NAME);
    struct tacit_entropy const entropy =
        tacit_rng_entropy(event.kind == TACIT_EVENT_START ? &names : &cores->tapes.agents[agent]);
    struct tacit_gossip_update update;
    event.now_us = cores->now_us;
    assert_int_equal(tacit_gossip_agent_step(cores->agents[agent], cores->memories[agent], &event,
                                             &entropy, &update),
                     TACIT_OK);
    return update;
}

/* A copy of what an update says, as it would come over a wire; to be freed. */
static struct tacit_gossip_message *spoken(struct gossip_cores *cores,
                                           const struct tacit_gossip_update *update)
{
    uint32_t const arms = cores->rule.arm_count;
    assert_true(update->send);
    void *const memory = allocate(1, tacit_gossip_message_size(&update->message, arms));
    (void)tacit_gossip_message_copy(&update->message, arms, memory);
    cores->message_count++;
    return memory;
}

static void give_rewards(struct gossip_cores *cores, uint32_t agent,
                         const struct tacit_gossip_update *update)
{
    struct tacit_pull_block plan[64];
    assert_in_range(update->plan_count, 1, 64);
    memcpy(plan, update->plan, update->plan_count * sizeof plan[0]);
    for (uint32_t i = 0; i < update->plan_count; i++) {
        assert_true(plan[i].count == 1);
        struct tacit_event const event = {
            .kind = TACIT_EVENT_REWARD,
            .as.reward = {plan[i].arm, 1,
                          gossip_tape_reward(cores->setting, &cores->tapes, agent, plan[i].arm)}};
        struct tacit_gossip_update const after = step(cores, agent, event);
        assert_true(after.persist && !after.send && after.plan_count == 0);
    }
}

void gossip_cores_init(struct gossip_cores *cores, const struct gossip_setting *setting)
{
    uint32_t const agents = setting->config.agent_count;
    *cores = (struct gossip_cores){.setting = setting, .tapes = gossip_tapes_new(setting)};
    assert_int_equal(tacit_gossip_rule_init(&cores->rule, &setting->config), TACIT_OK);
    cores->agents = allocate(agents, sizeof cores->agents[0]);
    cores->memories = allocate(agents, sizeof cores->memories[0]);
    cores->sizes = allocate(agents, sizeof cores->sizes[0]);
    for (uint32_t i = 0; i < agents; i++) {
        struct tacit_graph const *const graph = &setting->network->graph;
        struct tacit_gossip_agent_config const config = {
            .rule = cores->rule,
            .run_id = 5,
            .agent_id = i,
            .neighbours = graph->neighbours + graph->first[i],
            .neighbour_count = tacit_graph_degree(graph, i),
            .slot_us = GOSSIP_SLOT_US};
        cores->sizes[i] = tacit_gossip_agent_size(&config);
        cores->agents[i] = allocate(1, cores->sizes[i]);
        cores->memories[i] = allocate(1, tacit_gossip_memory_size(&cores->rule));
        assert_int_equal(tacit_gossip_agent_init(cores->agents[i], &config), TACIT_OK);
        tacit_gossip_memory_init(cores->memories[i], &cores->rule);
        struct tacit_gossip_update const update =
            step(cores, i, (struct tacit_event){.kind = TACIT_EVENT_START});
        give_rewards(cores, i, &update);
        assert_int_equal(tacit_gossip_agent_check(cores->agents[i], cores->sizes[i], &config),
                         TACIT_OK);
    }
}

/* ASK, OFFER, SHIFT, as if the keeper had asked; what it said last has its incarnation. */
static void meet(struct gossip_cores *cores, struct tacit_edge edge,
                 const struct tacit_gossip_message *said)
{
    struct tacit_gossip_message const ask = {.kind = TACIT_GOSSIP_ASK,
                                             .from = edge.a,
                                             .to = edge.b,
                                             .run_id = 5,
                                             .incarnation_number = said->incarnation_number,
                                             .incarnation = said->incarnation};
    struct tacit_event event = {.kind = TACIT_EVENT_RECEIVE, .as.message = &ask};
    struct tacit_gossip_update const offered = step(cores, edge.b, event);
    struct tacit_gossip_message *const offer = spoken(cores, &offered);
    event.as.message = offer;
    struct tacit_gossip_update const answered = step(cores, edge.a, event);
    assert_true(answered.persist);
    struct tacit_gossip_message *const shift = spoken(cores, &answered);
    event.as.message = shift;
    struct tacit_gossip_update const taken = step(cores, edge.b, event);
    assert_true(taken.persist && !taken.send);
    testing_free(offer);
    testing_free(shift);
}

void gossip_cores_slot(struct gossip_cores *cores)
{
    uint32_t const agents = cores->rule.agent_count;
    struct tacit_graph const *const graph = &cores->setting->network->graph;
    struct tacit_gossip_message **const counts = allocate(agents, sizeof counts[0]);
    struct tacit_gossip_update *const updates = allocate(agents, sizeof updates[0]);
    cores->now_us += GOSSIP_SLOT_US;
    for (uint32_t i = 0; i < agents; i++) {
        updates[i] = step(cores, i, (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT});
        counts[i] = spoken(cores, &updates[i]);
        assert_int_equal(counts[i]->kind, TACIT_GOSSIP_COUNTS);
    }
    for (uint32_t i = 0; i < agents; i++)
        for (uint64_t at = graph->first[i]; at < graph->first[i + 1]; at++) {
            struct tacit_event const event = {.kind = TACIT_EVENT_RECEIVE,
                                              .as.message = counts[graph->neighbours[at]]};
            (void)step(cores, i, event);
        }
    struct tacit_edge const edge = gossip_tape_edge(cores->setting, &cores->tapes);
    meet(cores, edge, counts[edge.a]);
    for (uint32_t i = 0; i < agents; i++) {
        give_rewards(cores, i, &updates[i]);
        testing_free(counts[i]);
    }
    testing_free(counts);
    testing_free(updates);
}

void gossip_cores_free(struct gossip_cores *cores)
{
    for (uint32_t i = 0; i < cores->rule.agent_count; i++) {
        testing_free(cores->agents[i]);
        testing_free(cores->memories[i]);
    }
    testing_free(cores->agents);
    testing_free(cores->memories);
    testing_free(cores->sizes);
    gossip_tapes_free(&cores->tapes);
}
