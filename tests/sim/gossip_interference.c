/* Non-interference of whole transcripts (PRIVACY.md B.7), restarts included. Two worlds have
 * different rewards, all of them. The test sets the noise, so that every release is the same number
 * in both: then every byte that leaves a site, every plan, every timer and every byte on a disk
 * must be the same. Whatever reaches them past the mechanism shows. (The linker puts the test's
 * mechanism in the place of tacit_mechanism_release.) */
#include <math.h>
#include "../support/testing.h"
#include "../../src/families/gossip/plan.h"
#include "../support/faults.h"
#include "../support/gossip_storm.h"

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

struct town {
    struct gossip_storm storm; /* first */
    int world;
    struct transcript transcript;
};

static void note_message(struct transcript *seen, const struct tacit_gossip_message *message)
{
    const void *const rows[] = {message->seen, message->theta, message->shift, message->flow};
    seen->messages++;
    note_word(seen, message->kind);
    note_word(seen, message->to);
    note_word(seen, message->exchange);
    for (size_t i = 0; i < 4; i++) {
        note_word(seen, rows[i] != NULL);
        if (rows[i] != NULL)
            note(seen, rows[i], ARMS * sizeof(uint64_t));
    }
}

static enum tacit_status step(struct gossip_storm *storm, struct gossip_storm_site *site,
                              const struct tacit_event *event, struct tacit_gossip_update *update)
{
    struct transcript *const seen = &((struct town *)storm)->transcript;
    struct tacit_entropy const entropy = tacit_rng_entropy(&site->entropy);
    enum tacit_status const status =
        tacit_gossip_agent_step(site->agent, site->memory, event, &entropy, update);
    seen->restarts += event->kind == TACIT_EVENT_START;
    note_word(seen, (uint64_t)status);
    note_word(seen, update->deadline_us);
    if (update->persist)
        note(seen, site->agent, site->size);
    if (update->send)
        note_message(seen, &update->message);
    note(seen, update->plan, update->plan_count * sizeof update->plan[0]);
    return status;
}

static double mean_of(const struct gossip_storm *storm, uint32_t site, uint32_t arm)
{
    (void)site;
    return ((const struct town *)storm)->world == 0 ? 0.2 + 0.2 * arm : 0.8 - 0.2 * arm;
}

static struct transcript play_trees(int world, enum tacit_privacy_mode mode)
{
    struct tacit_graph_spec const ring = {.kind = TACIT_GRAPH_RING, .agent_count = AGENTS};
    struct tacit_gossip_config const rule = {.agent_count = AGENTS,
                                             .arm_count = ARMS,
                                             .horizon = 4000,
                                             .mechanism = {mode, 2, 0, 1},
                                             .width = 1};
    struct town *const town = testing_calloc(1, sizeof *town);
    town->world = world;
    town->storm.step = step;
    town->storm.mean = mean_of;
    town->storm.network = network_new(&ring, 1, 1);
    town->storm.chance = tacit_rng_stream(94, 0, 0, TACIT_PURPOSE_FAULT);
    town->storm.crash = 0.01;
    begin_world(world);
    for (uint32_t i = 0; i < AGENTS; i++) {
        struct tacit_graph const *const graph = &town->storm.network->graph;
        struct tacit_gossip_agent_config config = {.agent_id = i,
                                                   .neighbours =
                                                       graph->neighbours + graph->first[i],
                                                   .neighbour_count = tacit_graph_degree(graph, i),
                                                   .exchange_us = 40 + i};
        assert_int_equal(tacit_gossip_rule_init(&config.rule, &rule), TACIT_OK);
        gossip_storm_add(&town->storm, &config, tacit_rng_stream(92, 0, i, TACIT_PURPOSE_NOISE),
                         NULL);
    }
    gossip_storm_play(&town->storm, 6000, true);
    struct transcript const seen = town->transcript;
    gossip_storm_close(&town->storm);
    testing_free(town);
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

/* ---- Releases that double: nodes of the simulator ---- */

static void see_doubling(void *context, const void *said)
{
    struct transcript *const seen = context;
    struct tacit_doubling_message const *const message = said;
    seen->messages++;
    note_word(seen, message->from);
    note(seen, message->entries, message->entry_count * sizeof(struct tacit_doubling_entry));
}

static struct transcript play_doubling(int world, uint32_t seed)
{
    struct tacit_graph_spec const ring = {.kind = TACIT_GRAPH_RING, .agent_count = AGENTS};
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, 4, 0, 1};
    struct network *const network = network_new(&ring, 1, 1);
    double const means[] = {world == 0 ? 0.2 : 0.9, world == 0 ? 0.5 : 0.4, world == 0 ? 0.8 : 0.1};
    uint64_t const point = 3000;
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
        struct tacit_doubling_config const config = {
            .schedule = plan.schedule, .mechanism = plan.mechanism, .agent_id = i, .hop_us = 1};
        note(&seen, tacit_sim_nodes_state(run->nodes, i), tacit_doubling_size(&config));
    }
    tacit_sim_delete(run);
    testing_free(row);
    network_free(network);
    return seen;
}

TEST(releases_that_double_betray_nothing_else)
{
    uint32_t differed = 0;
    for (uint32_t seed = 0; seed < 50; seed++) {
        struct transcript const first = play_doubling(0, seed);
        uint32_t const releases = tape.count;
        struct transcript const second = play_doubling(1, seed);
        assert_true(first.hash == second.hash && first.messages == second.messages);
        assert_int_equal(tape.next, releases);
        differed += tape.differed;
    }
    print_message("50 runs: %u releases of other sums: the same bytes\n", differed);
    assert_true(differed > 1000);
}
