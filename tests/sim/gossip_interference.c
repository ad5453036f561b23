/* Non-interference of whole transcripts (PRIVACY.md B.7), restarts included. Two worlds have
 * different rewards, all of them. The test sets the noise, so that every release is the same number
 * in both: then every byte that leaves a site, every plan, every timer and every byte on a disk
 * must be the same. Whatever reaches them past the mechanism shows. (The linker puts the test's
 * mechanism in the place of tacit_mechanism_release.) */
#include <math.h>
#include "../support/testing.h"
#include "../../src/families/gossip/plan.h"
#include "../support/faults.h"
#include "../support/network.h"

#define AGENTS 4u
#define ARMS 3u
#define RELEASES_MAX 200000u

/* ---- The test's mechanism ---- */

static struct {
    union tacit_sum released[RELEASES_MAX];
    uint32_t count;    /* of world 0 */
    uint32_t next;     /* in this world */
    uint32_t differed; /* releases of other exact sums than in world 0 */
    union tacit_sum exact[RELEASES_MAX];
    bool is_replayed;
    struct tacit_rng noise;
} tape;

static void begin_world(int world)
{
    tape.is_replayed = world == 1;
    tape.next = 0;
    if (world == 1)
        return;
    tape.count = 0;
    tape.differed = 0;
    tape.noise = tacit_rng_stream(91, 0, 0, TACIT_PURPOSE_NOISE);
}

enum tacit_status __wrap_tacit_mechanism_release(const struct tacit_mechanism *mechanism,
                                                 union tacit_sum exact,
                                                 const struct tacit_entropy *entropy,
                                                 union tacit_sum *noised);

enum tacit_status __wrap_tacit_mechanism_release(const struct tacit_mechanism *mechanism,
                                                 union tacit_sum exact,
                                                 const struct tacit_entropy *entropy,
                                                 union tacit_sum *noised)
{
    assert_true(tape.next < RELEASES_MAX);
    uint32_t const at = tape.next++;
    if (tape.is_replayed && at < tape.count) {
        tape.differed += memcmp(&tape.exact[at], &exact, sizeof exact) != 0;
        *noised = tape.released[at];
        return TACIT_OK;
    }
    double const noise = tacit_rng_laplace(&tape.noise, 2);
    tape.exact[at] = exact;
    if (mechanism->scale.kind == TACIT_SCALE_REAL)
        noised->real = exact.real + noise;
    else
        noised->steps = exact.steps + (int64_t)(noise * (double)TACIT_STEPS);
    tape.released[at] = *noised;
    tape.count = tape.is_replayed ? tape.count : tape.next;
    return TACIT_OK;
}

/* ---- What is seen of a world: a hash of it all (FNV-1a) ---- */

struct transcript {
    uint64_t hash;
    uint64_t messages;
    uint64_t restarts;
};

static void note(struct transcript *transcript, const void *bytes, size_t size)
{
    const unsigned char *const at = bytes;
    for (size_t i = 0; i < size; i++)
        transcript->hash = (transcript->hash ^ at[i]) * UINT64_C(1099511628211);
}

static void note_word(struct transcript *transcript, uint64_t word)
{
    note(transcript, &word, sizeof word);
}

/* ---- Trees: agents on their own clocks, messages in order, restarts ---- */

#define QUEUE_MAX 4096u

struct site {
    struct tacit_gossip_agent_config config;
    struct tacit_gossip_agent *agent;
    struct tacit_gossip_agent *disk;
    struct tacit_gossip_memory *memory;
    size_t size;
    struct tacit_rng entropy;
    struct tacit_rng rewards;
    uint64_t deadline_us;
    struct tacit_pull_block plan[ARMS];
    uint32_t plan_count;
};

struct town {
    struct site sites[AGENTS];
    struct network *network;
    struct tacit_gossip_message *queue[QUEUE_MAX];
    uint32_t receivers[QUEUE_MAX];
    uint32_t queue_count;
    uint64_t now_us;
    int world;
    struct transcript transcript;
};

static void post(struct town *town, const struct tacit_gossip_message *message)
{
    struct transcript *const seen = &town->transcript;
    seen->messages++;
    note_word(seen, message->kind);
    note_word(seen, message->to);
    note_word(seen, message->exchange);
    const void *const rows[] = {message->seen, message->theta, message->shift, message->flow};
    for (size_t i = 0; i < 4; i++) {
        note_word(seen, rows[i] != NULL);
        if (rows[i] != NULL)
            note(seen, rows[i], ARMS * sizeof(uint64_t));
    }
    assert_true(town->queue_count < QUEUE_MAX);
    struct tacit_gossip_message *const copy =
        testing_malloc(tacit_gossip_message_size(message, ARMS));
    (void)tacit_gossip_message_copy(message, ARMS, copy);
    town->receivers[town->queue_count] = message->to;
    town->queue[town->queue_count++] = copy;
}

static void step(struct town *town, uint32_t i, struct tacit_event event)
{
    struct site *const site = &town->sites[i];
    struct tacit_entropy const entropy = tacit_rng_entropy(&site->entropy);
    struct tacit_gossip_update update;
    event.now_us = town->now_us;
    enum tacit_status const status =
        tacit_gossip_agent_step(site->agent, site->memory, &event, &entropy, &update);
    note_word(&town->transcript, (uint64_t)status);
    note_word(&town->transcript, update.deadline_us);
    site->deadline_us = update.deadline_us;
    if (update.persist) {
        memcpy(site->disk, site->agent, site->size);
        note(&town->transcript, site->disk, site->size);
    }
    if (update.send)
        post(town, &update.message);
    if (update.plan_count > 0) {
        memcpy(site->plan, update.plan, update.plan_count * sizeof site->plan[0]);
        note(&town->transcript, site->plan, update.plan_count * sizeof site->plan[0]);
        site->plan_count = update.plan_count;
    }
}

static void start(struct town *town, uint32_t i)
{
    struct site *const site = &town->sites[i];
    memcpy(site->agent, site->disk, site->size);
    tacit_gossip_memory_init(site->memory, &site->config.rule);
    site->plan_count = 0;
    town->transcript.restarts++;
    step(town, i, (struct tacit_event){.kind = TACIT_EVENT_START});
}

static void open_town(struct town *town, int world, enum tacit_privacy_mode mode)
{
    struct tacit_graph_spec const ring = {.kind = TACIT_GRAPH_RING, .agent_count = AGENTS};
    struct tacit_gossip_config const config = {.agent_count = AGENTS,
                                               .arm_count = ARMS,
                                               .horizon = 4000,
                                               .mechanism = {mode, 2, 0, 1},
                                               .width = 1};
    memset(town, 0, sizeof *town);
    town->world = world;
    town->network = network_new(&ring, 1, 1);
    begin_world(world);
    for (uint32_t i = 0; i < AGENTS; i++) {
        struct site *const site = &town->sites[i];
        struct tacit_graph const *const graph = &town->network->graph;
        site->config =
            (struct tacit_gossip_agent_config){.agent_id = i,
                                               .neighbours = graph->neighbours + graph->first[i],
                                               .neighbour_count = tacit_graph_degree(graph, i),
                                               .weight = 1,
                                               .exchange_us = 40 + i,
                                               .guards_incarnations = true};
        assert_int_equal(tacit_gossip_rule_init(&site->config.rule, &config), TACIT_OK);
        site->size = tacit_gossip_agent_size(&site->config);
        site->agent = testing_malloc(site->size);
        site->disk = testing_malloc(site->size);
        site->memory = testing_malloc(tacit_gossip_memory_size(&site->config.rule));
        site->entropy = tacit_rng_stream(92, 0, i, TACIT_PURPOSE_NOISE);
        site->rewards = tacit_rng_stream(93 + (uint64_t)world, 0, i, TACIT_PURPOSE_REWARD);
        assert_int_equal(tacit_gossip_agent_init(site->disk, &site->config), TACIT_OK);
        start(town, i);
    }
}

static void close_town(struct town *town)
{
    for (uint32_t i = 0; i < AGENTS; i++) {
        testing_free(town->sites[i].agent);
        testing_free(town->sites[i].disk);
        testing_free(town->sites[i].memory);
    }
    for (uint32_t i = 0; i < town->queue_count; i++)
        testing_free(town->queue[i]);
    network_free(town->network);
}

static void reward(struct town *town, uint32_t i)
{
    struct site *const site = &town->sites[i];
    uint32_t const arm = site->plan[--site->plan_count].arm;
    union tacit_sum sum = {0};
    double const mean = town->world == 0 ? 0.2 + 0.2 * arm : 0.8 - 0.2 * arm;
    tacit_sum_add_reward(&site->config.rule.tree.node.scale, &sum,
                         tacit_rng_bernoulli(&site->rewards, mean), 1);
    step(town, i, (struct tacit_event){.kind = TACIT_EVENT_REWARD, .as.reward = {arm, 1, sum}});
}

static void deliver(struct town *town)
{
    for (uint32_t at = 0; at < town->queue_count; at++) {
        struct tacit_gossip_message *const message = town->queue[at];
        step(town, town->receivers[at],
             (struct tacit_event){.kind = TACIT_EVENT_RECEIVE, .as.message = message});
        testing_free(message);
    }
    town->queue_count = 0;
}

static struct transcript play_trees(int world, enum tacit_privacy_mode mode)
{
    struct town *const town = testing_malloc(sizeof *town);
    struct tacit_rng chance = tacit_rng_stream(94, 0, 0, TACIT_PURPOSE_FAULT);
    open_town(town, world, mode);
    for (town->now_us = 1; town->now_us < 3000; town->now_us++) {
        deliver(town);
        for (uint32_t i = 0; i < AGENTS; i++) {
            if (town->now_us >= town->sites[i].deadline_us)
                step(town, i, (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT});
            if (town->sites[i].plan_count > 0)
                reward(town, i);
            if (tacit_rng_bernoulli(&chance, 0.003))
                start(town, i);
        }
    }
    struct transcript const seen = town->transcript;
    close_town(town);
    return seen;
}

TEST(trees_in_sound_mode_betray_nothing_but_their_releases)
{
    struct transcript const first = play_trees(0, TACIT_PRIVACY_SOUND);
    uint32_t const releases = tape.count;
    struct transcript const second = play_trees(1, TACIT_PRIVACY_SOUND);
    print_message("%u releases, %u of other sums; %u messages, %u restarts: the same bytes\n",
                  releases, tape.differed, (unsigned)first.messages, (unsigned)first.restarts);
    assert_true(first.hash == second.hash && first.messages == second.messages);
    assert_int_equal(tape.next, releases);
    assert_true(tape.differed > releases / 3 && first.restarts > 20 && first.messages > 500);
}

/* The test has teeth: the paper's first rewards are raw, and without noise all are. */
TEST(raw_rewards_of_the_papers_mode_are_seen)
{
    static const enum tacit_privacy_mode modes[] = {TACIT_PRIVACY_PAPER, TACIT_PRIVACY_NONE};
    for (size_t i = 0; i < 2; i++) {
        struct transcript const first = play_trees(0, modes[i]);
        struct transcript const second = play_trees(1, modes[i]);
        assert_true(first.hash != second.hash);
    }
}

/* ---- Releases that double: nodes of the simulator, with all its faults ---- */

static void see_doubling(void *context, const void *said)
{
    struct transcript *const seen = context;
    struct tacit_doubling_message const *const message = said;
    seen->messages++;
    note_word(seen, message->kind);
    note_word(seen, message->from);
    note_word(seen, message->to);
    note_word(seen, message->incarnation_number);
    note_word(seen, message->incarnation);
    note_word(seen, message->entry_count);
    note(seen, message->entries, message->entry_count * sizeof(struct tacit_doubling_entry));
    if (message->known != NULL)
        note(seen, message->known, (size_t)AGENTS * ARMS);
}

static struct transcript play_doubling(int world, uint32_t seed)
{
    struct tacit_graph_spec const ring = {.kind = TACIT_GRAPH_RING, .agent_count = AGENTS};
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, 4, 0, 1};
    struct network *const network = network_new(&ring, 1, 1);
    double const means[] = {world == 0 ? 0.2 : 0.9, world == 0 ? 0.5 : 0.4, world == 0 ? 0.8 : 0.1};
    uint64_t const point = 3000;
    struct faults faults = {.loss = 0.1,
                            .duplication = 0.1,
                            .delay_us_max = 5,
                            .agent_crash = 0.02,
                            .down_us_max = 20,
                            .plan_parts = 2,
                            .healed_at_us = 2500};
    struct gossip_plan plan = {
        .common = {.seed = seed,
                   .run_count = 1,
                   .agent_count = AGENTS,
                   .horizon = point,
                   .points = &point,
                   .point_count = 1,
                   .env = {TACIT_ENV_BERNOULLI, 1, ARMS, means, 0, {0}, NULL, NULL}},
        .doubles = true,
        .graph = &network->graph,
        .faults = faults_use(&faults),
        .schedule = {.rule = TACIT_PHASES_INDEX,
                     .arm_count = ARMS,
                     .agent_count = AGENTS,
                     .horizon = point,
                     .epsilon_per_reward = 4,
                     .growth = 2,
                     .arms_per_round = 3}};
    struct transcript seen = {0};
    atomic_bool stop = false;
    enum tacit_status status;
    assert_int_equal(tacit_mechanism_init(&plan.mechanism, &mechanism), TACIT_OK);
    begin_world(world);
    struct gossip_doubling_run *const run = gossip_doubling_new(&plan, &status);
    struct tacit_sim_row *const row = tacit_sim_row_new(&plan.common, GOSSIP_METRIC_COUNT);
    assert_true(run != NULL && row != NULL);
    tacit_sim_row_clear(row, &plan.common, GOSSIP_METRIC_COUNT);
    faults_watch(run->nodes, see_doubling, &seen);
    assert_int_equal(gossip_doubling_play(run, 0, row, &stop), TACIT_OK);
    for (uint32_t i = 0; i < AGENTS; i++) {
        struct tacit_doubling_config const config = {.schedule = plan.schedule,
                                                     .mechanism = plan.mechanism,
                                                     .agent_id = i,
                                                     .neighbours = network->graph.neighbours +
                                                                   network->graph.first[i],
                                                     .neighbour_count = 2,
                                                     .hop_us = 1,
                                                     .ask_us = 1};
        struct tacit_doubling_view view;
        tacit_doubling_view(tacit_sim_nodes_state(run->nodes, i), &view);
        seen.restarts += view.incarnation_number;
        note(&seen, tacit_sim_nodes_state(run->nodes, i), tacit_doubling_size(&config));
    }
    tacit_sim_delete(run);
    testing_free(row);
    network_free(network);
    return seen;
}

TEST(releases_that_double_betray_nothing_else)
{
    uint64_t restarts = 0;
    uint32_t differed = 0;
    for (uint32_t seed = 0; seed < 50; seed++) {
        struct transcript const first = play_doubling(0, seed);
        uint32_t const releases = tape.count;
        struct transcript const second = play_doubling(1, seed);
        assert_true(first.hash == second.hash && first.messages == second.messages);
        assert_int_equal(tape.next, releases);
        differed += tape.differed;
        restarts += first.restarts;
    }
    print_message("50 schedules: %u releases of other sums, %u incarnations: the same bytes\n",
                  differed, (unsigned)restarts);
    assert_true(differed > 1000 && restarts > 500);
}
