/* What a site runs, made of the invitation that the coordinator writes: whole runs over a star, a
 * ring and a hybrid, with a core that is put back from its block after every step; blocks that are
 * damaged, of another site or another policy; what does not fit into a message; invitations. */
#include "../support/wire_shape.h"
#include "../support/testing.h"
#include "../../src/live/bus/envelope.h"
#include "../../src/families/elim/live.h"
#include "../../src/families/elim/role.h"
#include "../../src/families/elim/settings.h"
#include "../../src/families/select/live.h"

#define PARAMETERS 47u /* bytes */

#define SITES_MAX 512u
#define SITES 6u
#define ARMS 3u
#define HORIZON 20000u
#define QUEUE_MAX 4096u

static const char *const names[SITES] = {"north", "east", "south", "west", "up", "down"};
static const double means[ARMS] = {0.75, 0.5, 0.125};
static const uint64_t wish_nano = 100 * TACIT_NANO;

/* ---- Networks -------------------------------------------------------------------------------- */

struct topology {
    struct tacit_graph graph;
    struct tacit_component components[SITES_MAX];
    uint32_t label[SITES_MAX];
    uint32_t parent[SITES_MAX];
    uint32_t distance[SITES_MAX];
    void *memory;
    struct tacit_elim_network network;
};

static struct topology *topology_new(enum tacit_elim_collection collection,
                                     const struct tacit_graph_spec *specs, uint32_t spec_count)
{
    char words[TACIT_ERROR_BYTES];
    struct tacit_text why = tacit_text_init(words, sizeof words);
    struct tacit_graph_need need;
    uint64_t edge_count;
    struct topology *const made = calloc(1, sizeof *made);
    assert_non_null(made);
    assert_int_equal(tacit_graph_check(specs, spec_count, &need, &why), TACIT_OK);
    assert_in_range(need.agent_count, 1, SITES_MAX);
    struct tacit_edge *const edges = calloc(need.edge_count + 1, sizeof *edges);
    void *const room = malloc(need.work_bytes + tacit_graph_work_size(need.agent_count));
    made->memory = malloc(tacit_graph_size(need.agent_count, need.edge_count));
    assert_true(edges != NULL && room != NULL && made->memory != NULL);
    assert_int_equal(tacit_graph_generate(specs, spec_count, NULL, edges, &edge_count, room, &why),
                     TACIT_OK);
    assert_int_equal(
        tacit_graph_init(&made->graph, made->memory, need.agent_count, edges, edge_count),
        TACIT_OK);
    uint32_t const count = tacit_graph_components(&made->graph, made->label, made->parent);
    (void)tacit_graph_sinks(&made->graph, made->label, count, made->components, made->parent,
                            made->distance, TACIT_GRAPH_EXACT, room);
    made->network = (struct tacit_elim_network){.collection = collection,
                                                .graph = &made->graph,
                                                .label = made->label,
                                                .components = made->components,
                                                .component_count = count,
                                                .parent = made->parent};
    free(edges);
    free(room);
    return made;
}

static void topology_free(struct topology *topology)
{
    if (topology == NULL)
        return;
    free(topology->memory);
    free(topology);
}

static struct topology *ring_of_six(void)
{
    static const struct tacit_graph_spec ring = {.kind = TACIT_GRAPH_RING, .agent_count = SITES};
    return topology_new(TACIT_ELIM_SPREAD, &ring, 1);
}

/* 0 - 1 - 2 with sink 1, a star of 3 and 4, and 5 alone. */
static struct topology *three_parts(void)
{
    static const struct tacit_graph_spec parts[] = {
        {.kind = TACIT_GRAPH_PATH, .agent_count = 3},
        {.kind = TACIT_GRAPH_STAR, .agent_count = 2},
        {.kind = TACIT_GRAPH_COMPLETE, .agent_count = 1}};
    return topology_new(TACIT_ELIM_GATHER, parts, 3);
}

/* Of each configuration its own, for as long as a test runs. */
static struct elim_hub_settings all_settings[64];
static size_t settings_count;

/* As many as a run can have, of one letter. */
static const char *const *arm_names(void)
{
    static const char *all[TACIT_ARMS_MAX];
    for (uint32_t arm = 0; arm < TACIT_ARMS_MAX; arm++)
        all[arm] = "x";
    return all;
}

static struct live_hub_config config_of(const struct topology *topology)
{
    struct elim_hub_settings *const settings = &all_settings[settings_count++ % 64];
    *settings = (struct elim_hub_settings){.report_count = SITES,
                                           .round_limit = 4,
                                           .gap = 0.1,
                                           .network = topology == NULL ? NULL : &topology->network};
    return (struct live_hub_config){.federation = "trial",
                                    .sites = names,
                                    .site_count = SITES,
                                    .arm_count = ARMS,
                                    .arm_names = arm_names(),
                                    .hi = 1,
                                    .run_id = 7,
                                    .horizon = HORIZON,
                                    .epsilon = 100,
                                    .quorum = SITES,
                                    .deadline_s = 60,
                                    .settings = settings};
}

static struct elim_hub_settings *settings_of(const struct live_hub_config *config)
{
    return (struct elim_hub_settings *)(uintptr_t)config->settings;
}

/* ---- Sites ----------------------------------------------------------------------------------- */

static struct live_site_config policy(void)
{
    return (struct live_site_config){.federation = "trial",
                                     .epsilon = 100,
                                     .budget = 100,
                                     .lo = 0,
                                     .hi = 1,
                                     .resend_after_us = 2000000,
                                     .rounds_max = 40};
}

static enum tacit_status join(struct live_site **core, const struct live_site_config *allowed,
                              const uint8_t *announcement, size_t size)
{
    char const *objection = NULL;
    return live_site_join(&elim_site_ops, core, allowed, announcement, size, &objection);
}

static const struct tacit_wire_elim_run *run_of(const struct live_site *core)
{
    return core->run;
}

static struct live_site *core_of(const struct live_hub_config *config, uint32_t site)
{
    struct live_site_config const allowed = policy();
    struct live_site *core;
    size_t size;
    uint8_t *const invitation = live_hub_announce(&elim_hub_ops, config, site, &size);
    assert_non_null(invitation);
    assert_int_equal(join(&core, &allowed, invitation, size), TACIT_OK);
    assert_true(live_site_is_of(core, invitation, size));
    assert_false(live_site_is_of(core, invitation, size - 1));
    free(invitation);
    return core;
}

/* In memory that is exactly as long as the block, so that a sanitizer sees a read beyond it. */
static enum tacit_status restore(struct live_site **core, const struct live_site_config *site,
                                 const void *block, size_t size)
{
    void *const exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, block, size);
    enum tacit_status const status = live_site_restore(&elim_site_ops, core, site, exact, size);
    free(exact);
    return status;
}

/* The same core, from its block. */
static struct live_site *again(struct live_site *core)
{
    struct live_site_config const allowed = policy();
    struct live_site *restored;
    size_t size;
    size_t size_again;
    void const *const block = live_site_bytes(core, &size);
    assert_int_equal(restore(&restored, &allowed, block, size), TACIT_OK);
    void const *const block_again = live_site_bytes(restored, &size_again);
    assert_int_equal(size, size_again);
    assert_memory_equal(block, block_again, size);
    live_site_free(core);
    return restored;
}

/* ---- Whole runs ------------------------------------------------------------------------------ */

struct envelope {
    uint32_t from;
    uint32_t to;
    uint8_t *bytes;
    size_t size;
};

struct world {
    struct live_hub_config config;
    struct live_site *cores[SITES];
    struct tacit_rng noise[SITES];
    uint64_t deadline_us[SITES];
    struct tacit_elim_hub *hub; /* NULL: there is none */
    struct envelope queue[QUEUE_MAX];
    size_t first;
    size_t end;
    uint64_t now_us;
    bool restarts; /* every core is put back from its block after every step */
    size_t longest;
};

static void post(struct world *world, const struct tacit_elim_message *message, uint32_t to)
{
    size_t const size = tacit_wire_bytes(WIRE(elim, ARMS, SITES), message);
    uint8_t *const bytes = malloc(size);
    assert_non_null(bytes);
    tacit_wire_encode(WIRE(elim, ARMS, SITES), message, bytes);
    assert_true(world->end < QUEUE_MAX);
    world->queue[world->end++] = (struct envelope){message->from, to, bytes, size};
    world->longest = size > world->longest ? size : world->longest;
}

static void post_all(struct world *world, const struct tacit_elim_message *message)
{
    struct tacit_wire_elim_run const *run;
    if (message->to == TACIT_EVERYONE)
        for (uint32_t site = 0; site < SITES; site++)
            post(world, message, site);
    if (message->to == TACIT_NEIGHBOURS) {
        run = run_of(world->cores[message->from]);
        for (uint32_t i = 0; i < run->neighbour_count; i++)
            post(world, message, run->neighbours[i].agent);
    }
    if (message->to == TACIT_HUB || message->to < SITES)
        post(world, message, message->to);
}

static bool no_signature(void *context, uint32_t agent, const uint8_t digest[TACIT_SHA256_BYTES],
                         uint8_t signature[TACIT_SIGNATURE_BYTES])
{
    (void)context, (void)agent, (void)digest, (void)signature;
    return false;
}

static bool good_signature(void *context, uint32_t agent, const uint8_t digest[TACIT_SHA256_BYTES],
                           const uint8_t signature[TACIT_SIGNATURE_BYTES])
{
    (void)context, (void)agent, (void)digest, (void)signature;
    return true;
}

static const struct tacit_row_signer any_signer = {NULL, no_signature, good_signature};

static void feed(struct world *world, uint32_t site, struct tacit_event event)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&world->noise[site]);
    struct tacit_elim_update update;
    struct tacit_pull_block plan[ARMS];
    event.now_us = world->now_us;
    event.signer = &any_signer;
    assert_int_equal(elim_site_feed(world->cores[site], &event, &entropy, &update), TACIT_OK);
    world->deadline_us[site] = update.deadline_us;
    uint32_t const blocks = update.plan_count;
    assert_true(blocks <= ARMS);
    for (uint32_t i = 0; i < blocks; i++)
        plan[i] = update.plan[i];
    if (update.send)
        post_all(world, &update.message);
    if (world->restarts)
        world->cores[site] = again(world->cores[site]);
    for (uint32_t i = 0; i < blocks; i++) {
        struct tacit_event reward = {.kind = TACIT_EVENT_REWARD};
        reward.as.reward.arm = plan[i].arm;
        reward.as.reward.count = plan[i].count;
        reward.as.reward.sum.steps =
            (int64_t)plan[i].count * (int64_t)(means[plan[i].arm] * (double)TACIT_STEPS);
        feed(world, site, reward);
    }
}

static void feed_hub(struct world *world, struct tacit_event event)
{
    struct tacit_elim_update update;
    event.now_us = world->now_us;
    assert_int_equal(tacit_elim_hub_step(world->hub, &event, NULL, &update), TACIT_OK);
    if (update.send)
        post_all(world, &update.message);
}

static void deliver(struct world *world)
{
    struct envelope const envelope = world->queue[world->first++];
    struct tacit_elim_message *message;
    assert_int_equal(tacit_wire_decode(WIRE(elim, ARMS, SITES, 0, envelope.to), envelope.bytes,
                                       envelope.size, &message, tacit_wire_heap()),
                     TACIT_OK);
    struct tacit_event const event = {.kind = TACIT_EVENT_RECEIVE, .as.message = message};
    if (envelope.to == TACIT_HUB)
        feed_hub(world, event);
    else
        feed(world, envelope.to, event);
    free(message);
    free(envelope.bytes);
}

static void pass_time(struct world *world)
{
    uint32_t next = 0;
    for (uint32_t site = 1; site < SITES; site++)
        if (world->deadline_us[site] < world->deadline_us[next])
            next = site;
    assert_true(world->deadline_us[next] != TACIT_NEVER);
    world->now_us = world->deadline_us[next];
    feed(world, next, (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT});
}

static bool is_decided(const struct world *world)
{
    for (uint32_t site = 0; site < SITES; site++) {
        struct tacit_elim_agent_view view;
        elim_site_view(world->cores[site], &view);
        if (!view.last && !view.finished)
            return false;
    }
    return true;
}

/* A: for how many sites each may report. */
static uint32_t *weights_of(const struct live_hub_config *config)
{
    uint32_t *const weights = calloc(config->site_count, sizeof *weights);
    assert_non_null(weights);
    for (uint32_t site = 0; site < config->site_count; site++)
        weights[site] = elim_role_weight(settings_of(config)->network, site);
    return weights;
}

static struct tacit_elim_hub *hub_of(const struct live_hub_config *config)
{
    uint32_t *const weights = settings_of(config)->network == NULL ? NULL : weights_of(config);
    struct tacit_elim_hub_config made = {.run_id = config->run_id,
                                         .agent_count = SITES,
                                         .schedule = elim_hub_schedule(config),
                                         .mechanism = live_hub_mechanism(config),
                                         .weights = weights,
                                         .has_grants = true};
    struct live_hub *live;
    assert_int_equal(live_hub_open(&elim_hub_ops, &live, config, NULL, 0), TACIT_OK);
    memcpy(made.domain, live->domain, sizeof made.domain);
    live_hub_free(live);
    struct tacit_elim_hub *const hub = calloc(1, tacit_elim_hub_size(&made));
    assert_non_null(hub);
    assert_int_equal(tacit_elim_hub_init(hub, &made), TACIT_OK);
    free(weights);
    return hub;
}

/* Plays to the end; what is posted is kept for no longer than it takes. */
static struct world *run_to_end(const struct topology *topology, bool restarts)
{
    struct world *const world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->config = config_of(topology);
    world->restarts = restarts;
    world->now_us = 1000;
    if (topology == NULL || topology->network.collection == TACIT_ELIM_GATHER)
        world->hub = hub_of(&world->config);
    for (uint32_t site = 0; site < SITES; site++) {
        world->noise[site] = tacit_rng_stream(1, 0, site, TACIT_PURPOSE_NOISE);
        world->cores[site] = core_of(&world->config, site);
        world->deadline_us[site] = TACIT_NEVER;
    }
    for (uint32_t site = 0; site < SITES; site++)
        feed(world, site, (struct tacit_event){.kind = TACIT_EVENT_START});
    while (world->first < world->end) /* hellos to a hub that is not there yet */
        free(world->queue[world->first++].bytes);
    if (world->hub != NULL)
        feed_hub(world, (struct tacit_event){.kind = TACIT_EVENT_START});
    for (uint32_t steps = 0; !is_decided(world); steps++) {
        assert_true(steps < QUEUE_MAX);
        if (world->first < world->end)
            deliver(world);
        else
            pass_time(world);
    }
    return world;
}

static void world_free(struct world *world)
{
    for (uint32_t site = 0; site < SITES; site++)
        live_site_free(world->cores[site]);
    while (world->first < world->end)
        free(world->queue[world->first++].bytes);
    free(world->hub);
    free(world);
}

static void expect_winner(const struct world *world)
{
    for (uint32_t site = 0; site < SITES; site++) {
        struct tacit_elim_agent_view view;
        elim_site_view(world->cores[site], &view);
        assert_int_equal(view.active_count, 1);
        assert_true(tacit_bits_has(view.arms, 0));
        assert_true(view.release_epoch > 0);
        assert_true(tacit_ledger_spent_nano(view.ledger) == wish_nano);
    }
}

static void run_twice(struct topology *topology)
{
    struct world *const whole = run_to_end(topology, false);
    struct world *const torn = run_to_end(topology, true);
    expect_winner(whole);
    for (uint32_t site = 0; site < SITES; site++) {
        size_t size;
        size_t torn_size;
        void const *const block = live_site_bytes(whole->cores[site], &size);
        void const *const torn_block = live_site_bytes(torn->cores[site], &torn_size);
        assert_int_equal(size, torn_size);
        assert_memory_equal(block, torn_block, size);
    }
    world_free(whole);
    world_free(torn);
    topology_free(topology);
}

TEST(a_star_put_back_after_every_step_ends_as_one_that_was_not)
{
    run_twice(NULL);
}

TEST(a_ring_put_back_after_every_step_ends_as_one_that_was_not)
{
    run_twice(ring_of_six());
}

TEST(a_hybrid_put_back_after_every_step_ends_as_one_that_was_not)
{
    run_twice(three_parts());
}

TEST(a_peers_release_is_its_row_in_the_form_of_a_report)
{
    struct topology *const ring = ring_of_six();
    struct world *const world = run_to_end(ring, false);
    for (uint32_t site = 0; site < SITES; site++) {
        struct tacit_elim_agent_view view;
        elim_site_view(world->cores[site], &view);
        struct tacit_elim_message const report = elim_site_release(world->cores[site]);
        assert_int_equal(report.kind, TACIT_ELIM_REPORT);
        assert_int_equal(report.from, site);
        assert_int_equal(report.epoch, view.release_epoch);
        uint32_t rank = 0;
        for (uint32_t arm = 0; arm < ARMS; arm++)
            if (tacit_bits_has(report.arms, arm))
                assert_true(report.sums[rank++].steps == view.noised[arm].steps);
        assert_int_equal(rank, report.sum_count);
    }
    world_free(world);
    topology_free(ring);
}

/* ---- At the beginning ------------------------------------------------------------------------ */

TEST(a_new_core_is_what_the_invitation_says)
{
    struct topology *const topologies[] = {NULL, ring_of_six(), three_parts()};
    for (size_t i = 0; i < 3; i++) {
        struct live_hub_config const config = config_of(topologies[i]);
        for (uint32_t site = 0; site < SITES; site++) {
            struct tacit_elim_agent_view view;
            struct live_site *const core = again(core_of(&config, site));
            struct tacit_wire_elim_run const *const run = run_of(core);
            elim_site_view(core, &view);
            assert_int_equal(view.epoch, 0);
            assert_true(view.pull_count == 0);
            assert_int_equal(run->agent, site);
            assert_true(run->run_id == config.run_id);
            assert_int_equal(run->network != TACIT_WIRE_ELIM_STAR, i > 0);
            live_site_free(core);
        }
        topology_free(topologies[i]);
    }
    live_site_free(NULL);
}

TEST(what_is_no_announcement_makes_no_core)
{
    static const uint8_t rubbish[200] = {0x0d, 1};
    struct live_hub_config const config = config_of(NULL);
    struct live_site_config const allowed = policy();
    struct live_site *core = NULL;
    size_t size;
    uint8_t *const invitation = live_hub_announce(&elim_hub_ops, &config, 0, &size);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(join(&core, &allowed, invitation, cut), TACIT_MALFORMED);
    assert_int_equal(join(&core, &allowed, rubbish, sizeof rubbish), TACIT_MALFORMED);
    assert_null(core);
    free(invitation);
}

/* ---- Blocks that are not ours ---------------------------------------------------------------- */

static struct world *in_the_middle(struct topology *topology)
{
    return run_to_end(topology, false); /* decided: rows of two epochs, ledgers, judges */
}

TEST(a_block_of_another_size_is_refused)
{
    struct topology *const topologies[] = {NULL, ring_of_six(), three_parts()};
    struct live_site_config const allowed = policy();
    for (size_t i = 0; i < 3; i++) {
        struct world *const world = in_the_middle(topologies[i]);
        size_t size;
        struct live_site *core;
        void const *const block = live_site_bytes(world->cores[1], &size);
        uint8_t *const longer = calloc(1, size + 64);
        assert_non_null(longer);
        memcpy(longer, block, size);
        for (size_t other = 0; other < size + 64; other++)
            if (other != size)
                assert_int_equal(restore(&core, &allowed, longer, other), TACIT_MALFORMED);
        free(longer);
        world_free(world);
        topology_free(topologies[i]);
    }
}

/* Where a core is put back all the same, it is one that can be started. */
static bool is_taken(const uint8_t *block, size_t size, bool *is_other_run)
{
    struct live_site_config const allowed = policy();
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    struct tacit_event const start = {
        .now_us = UINT64_C(1) << 50, .kind = TACIT_EVENT_START, .signer = &any_signer};
    struct tacit_elim_update update;
    struct live_site *core;
    enum tacit_status const status = restore(&core, &allowed, block, size);
    if (status != TACIT_OK) {
        assert_int_equal(status, TACIT_MALFORMED);
        return false;
    }
    uint64_t length;
    memcpy(&length, block, sizeof length);
    assert_true(live_site_is_of(core, block + sizeof length, (size_t)length));
    *is_other_run = true;
    (void)elim_site_feed(core, &start, &entropy, &update);
    live_site_free(core);
    return true;
}

/* The length and all numbers that the core was configured with are held against the core's own
 * copy or against a digest. What the core does not keep of a site's place may change, and then it
 * is another announcement: names. */
static void damage_every_bit(const struct live_site *core, size_t taken_max)
{
    size_t size;
    uint64_t length;
    size_t taken = 0;
    size_t refused = 0;
    void const *const block = live_site_bytes(core, &size);
    uint8_t *const damaged = malloc(size);
    assert_non_null(damaged);
    memcpy(damaged, block, size);
    memcpy(&length, block, sizeof length);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bool const is_length = bit < 8 * sizeof length;
        bool const is_announcement = !is_length && bit < 8 * (sizeof length + length);
        bool is_other_run = false;
        damaged[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        bool const is_good = is_taken(damaged, size, &is_other_run);
        damaged[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        assert_false(is_length && is_good);
        taken += is_announcement && is_good ? 1 : 0;
        refused += is_good ? 0 : 1;
    }
    assert_true(taken <= taken_max);
    assert_true(refused > size); /* an eighth of the bits, at least */
    free(damaged);
}

/* Bits of an announcement: names of both neighbours, 40 and 32 in the ring, and the parent, which
 * is no concern of a ring. What all must agree on has its digest beside it. */
TEST(damage_is_refused_or_does_no_harm)
{
    static const size_t taken_max[] = {0, 32 + 8 * 10, 8 * 10};
    struct topology *const topologies[] = {NULL, ring_of_six(), three_parts()};
    for (size_t i = 0; i < 3; i++) {
        struct world *const world = in_the_middle(topologies[i]);
        damage_every_bit(world->cores[0], taken_max[i]);
        damage_every_bit(world->cores[1], taken_max[i]);
        world_free(world);
        topology_free(topologies[i]);
    }
}

TEST(the_block_of_another_site_or_run_is_not_of_this_one)
{
    struct topology *const ring = ring_of_six();
    struct live_hub_config const config = config_of(ring);
    struct live_hub_config other = config;
    size_t size;
    struct live_site *const core = core_of(&config, 0);
    uint8_t *bytes = live_hub_announce(&elim_hub_ops, &config, 1, &size);
    assert_false(live_site_is_of(core, bytes, size));
    free(bytes);
    other.run_id++;
    bytes = live_hub_announce(&elim_hub_ops, &other, 0, &size);
    assert_false(live_site_is_of(core, bytes, size));
    free(bytes);
    live_site_free(core);
    topology_free(ring);
}

TEST(another_policy_is_refused)
{
    struct topology *const topologies[] = {NULL, ring_of_six(), three_parts()};
    for (size_t i = 0; i < 3; i++) {
        struct world *const world = in_the_middle(topologies[i]);
        struct live_site_config sites[5];
        struct live_site *core;
        size_t size;
        void const *const block = live_site_bytes(world->cores[2], &size);
        for (size_t j = 0; j < 5; j++)
            sites[j] = policy();
        sites[0].epsilon = 99;
        sites[1].hi = 2;
        sites[2].budget += 1e-8;
        sites[3].rounds_max++;
        sites[4].resend_after_us++;
        for (size_t j = 0; j < 5; j++)
            assert_int_equal(restore(&core, &sites[j], block, size), TACIT_MALFORMED);
        world_free(world);
        topology_free(topologies[i]);
    }
}

/* ---- What fits ------------------------------------------------------------------------------- */

/* An announcement of this run; all arms have names of one letter. */
static uint8_t *announce(const struct tacit_wire_elim_run *run, size_t *size)
{
    uint8_t parameters[PARAMETERS];
    static uint8_t place[8u << 20]; /* names of all sites */
    struct tacit_wire_announcement announcement = {
        .agreement = {.protocol = TACIT_WIRE_ELIM_NAME,
                      .family = TACIT_WIRE_ELIM_FAMILY,
                      .protocol_version = TACIT_WIRE_ELIM_VERSION,
                      .agent_count = run->agent_count,
                      .arm_count = run->arm_count,
                      .arms = arm_names(),
                      .hi = 1,
                      .horizon = run->horizon,
                      .epsilon_nano = run->epsilon_nano,
                      .parameters = parameters,
                      .parameters_size = sizeof parameters},
        .agent = run->agent,
        .place = place,
        .place_size = tacit_wire_bytes(tacit_wire_elim.place, SHAPE(0, run->agent_count), run)};
    tacit_wire_run(run->run_id, announcement.agreement.run);
    tacit_wire_encode(tacit_wire_elim.parameters, NULL, run, parameters);
    assert_true(announcement.place_size <= sizeof place);
    tacit_wire_encode(tacit_wire_elim.place, SHAPE(0, run->agent_count), run, place);
    *size = tacit_wire_bytes(&tacit_wire_announcement, NULL, &announcement);
    uint8_t *const bytes = malloc(*size);
    assert_non_null(bytes);
    tacit_wire_encode(&tacit_wire_announcement, NULL, &announcement, bytes);
    return bytes;
}

/* Site 1 of a star graph around site 0, over so many arms. */
static struct live_site *leaf(uint32_t sites, uint32_t arms, enum tacit_status expected)
{
    static const struct tacit_wire_neighbour centre = {0, "centre"};
    static const char *all_names[TACIT_AGENTS_MAX];
    assert_true(sites <= sizeof all_names / sizeof all_names[0]);
    for (uint32_t i = 0; i < sites; i++)
        all_names[i] = i == 0 ? "centre" : "leaf";
    struct tacit_wire_elim_run const run = {.run_id = 7,
                                            .agent = 1,
                                            .agent_count = sites,
                                            .arm_count = arms,
                                            .horizon = TACIT_HORIZON_MAX,
                                            .epsilon_nano = wish_nano,
                                            .report_count = sites,
                                            .gap = 1,
                                            .network = TACIT_WIRE_ELIM_SPREAD,
                                            .parent = 1,
                                            .neighbour_count = 1,
                                            .neighbours = &centre,
                                            .sites = all_names};
    struct live_site_config const allowed = policy();
    struct live_site *core = NULL;
    size_t size;
    uint8_t *const bytes = announce(&run, &size);
    assert_int_equal(elim_fits(&run), expected == TACIT_OK);
    assert_int_equal(join(&core, &allowed, bytes, size), expected);
    free(bytes);
    return core;
}

/* Rows that a leaf asks for when the centre has all others. */
static uint32_t rows_asked_for(struct live_site *core, uint32_t sites)
{
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    uint64_t *const others = calloc(TACIT_BITS_WORDS(sites), sizeof *others);
    struct tacit_event event = {.now_us = 1, .kind = TACIT_EVENT_START, .signer = &any_signer};
    struct tacit_elim_update update;
    assert_non_null(others);
    tacit_bits_fill(others, sites);
    tacit_bits_remove(others, 1);
    assert_int_equal(elim_site_feed(core, &event, &entropy, &update), TACIT_OK);
    struct tacit_elim_message const advert = {.kind = TACIT_ELIM_ADVERT,
                                              .to = TACIT_NEIGHBOURS,
                                              .run_id = 7,
                                              .epoch = 1,
                                              .has_history = true,
                                              .origins = others};
    event = (struct tacit_event){
        .now_us = 2, .kind = TACIT_EVENT_RECEIVE, .as.message = &advert, .signer = &any_signer};
    assert_int_equal(elim_site_feed(core, &event, &entropy, &update), TACIT_OK);
    assert_true(update.send);
    assert_int_equal(update.message.kind, TACIT_ELIM_REQUEST);
    uint32_t const rows = tacit_bits_count(update.message.origins, sites);
    free(others);
    return rows;
}

/* Bytes of DATA with the rows of the last so many sites: whose set is the longest. */
static size_t data_bytes(uint32_t sites, uint32_t arms, uint32_t rows)
{
    uint64_t *const origins = calloc(TACIT_BITS_WORDS(sites), sizeof *origins);
    assert_non_null(origins);
    tacit_bits_add(origins, 0);
    for (uint32_t i = 1; i < rows; i++)
        tacit_bits_add(origins, sites - i);
    static const struct tacit_elim_opening opening;
    struct tacit_elim_message const data = {.kind = TACIT_ELIM_DATA,
                                            .origins = origins,
                                            .sum_count = arms,
                                            .openings = &opening,
                                            .is_signed = true,
                                            .has_history = true};
    size_t const size = tacit_wire_bytes(WIRE(elim, arms, sites), &data);
    free(origins);
    return size;
}

/* A hub of thousands answers later: else all would say everything again before it can have. */
TEST(a_site_of_thousands_says_again_later)
{
    static const struct {
        uint32_t sites;
        uint64_t pause_us;
    } cases[] = {{2, 2000000}, {2000, 2000000}, {2001, 2001000}, {20000, 20000000}};
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tacit_wire_elim_run const run = {.run_id = 7,
                                                .agent = 1,
                                                .agent_count = cases[i].sites,
                                                .arm_count = 2,
                                                .horizon = TACIT_HORIZON_MAX,
                                                .epsilon_nano = wish_nano,
                                                .report_count = cases[i].sites,
                                                .gap = 1};
        struct live_site_config const allowed = policy();
        struct live_site *core = NULL;
        struct tacit_elim_update update;
        size_t size;
        uint8_t *const bytes = announce(&run, &size);
        assert_int_equal(join(&core, &allowed, bytes, size), TACIT_OK);
        free(bytes);
        for (uint32_t again = 0; again < 4;
             again++) { /* it waits, greets, and then pauses double */
            struct tacit_event const event = {.now_us = UINT64_C(1) << 40 << again,
                                              .kind = again == 0 ? TACIT_EVENT_START
                                                                 : TACIT_EVENT_TIMEOUT};
            uint64_t const pause_us = cases[i].pause_us << (again == 0 ? 0 : again - 1);
            assert_int_equal(elim_site_feed(core, &event, &entropy, &update), TACIT_OK);
            assert_int_equal(update.send, again > 0);
            assert_int_equal(update.deadline_us - event.now_us, pause_us);
        }
        live_site_free(core);
    }
}

TEST(a_message_has_as_many_rows_as_it_has_room_for)
{
    static const uint32_t cases[][2] = {{500, 2},    {500, 17},   {500, 100}, {500, 1000},
                                        {500, 4000}, {20000, 20}, {100, 7800}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t const sites = cases[i][0];
        uint32_t const arms = cases[i][1];
        struct live_site *const core = leaf(sites, arms, TACIT_OK);
        uint32_t const rows = rows_asked_for(core, sites);
        assert_true(data_bytes(sites, arms, rows) <= LIVE_ENVELOPE_BYTES_MAX);
        if (rows < sites - 1) /* else all of them were asked for */
            assert_true(data_bytes(sites, arms, rows + 1) + 192 > LIVE_ENVELOPE_BYTES_MAX);
        live_site_free(core);
    }
}

/* Two sets, of 10 sites and of 125 words of arms, 192 bytes for all else, and one row with what
 * opens it and its signature: 65136 with 7976 arms. */
TEST(a_run_whose_rows_do_not_fit_is_refused)
{
    uint32_t arms = 7900;
    struct live_site *core;
    for (; (core = leaf(10, arms, arms <= 7976 ? TACIT_OK : TACIT_REFUSED)) != NULL; arms++) {
        assert_true(data_bytes(10, arms, 1) <= LIVE_ENVELOPE_BYTES_MAX);
        live_site_free(core);
    }
    assert_true(data_bytes(10, arms, 1) + 192 > LIVE_ENVELOPE_BYTES_MAX);
    assert_null(leaf(10, TACIT_ARMS_MAX, TACIT_REFUSED));
    assert_null(leaf(TACIT_AGENTS_MAX, 2, TACIT_REFUSED)); /* 128 KiB of whose they are */
    live_site_free(leaf(400000, 2, TACIT_OK));
}

TEST(a_star_whose_reports_do_not_fit_is_refused)
{
    struct live_hub_config config = config_of(NULL);
    struct live_site_config const allowed = policy();
    for (config.arm_count = 7900; config.arm_count < 8100; config.arm_count++) {
        static const struct tacit_commit opening;
        struct tacit_elim_message const report = {
            .kind = TACIT_ELIM_REPORT, .sum_count = config.arm_count, .commit = &opening};
        bool const fits = tacit_wire_bytes(WIRE(elim, config.arm_count, SITES), &report) <=
                          LIVE_ENVELOPE_BYTES_MAX;
        struct live_site *core = NULL;
        size_t size;
        uint8_t *const bytes = live_hub_announce(&elim_hub_ops, &config, 0, &size);
        assert_int_equal(join(&core, &allowed, bytes, size), fits ? TACIT_OK : TACIT_REFUSED);
        assert_int_equal(live_hub_too_large(&elim_hub_ops, &config) == NULL, fits);
        live_site_free(core);
        free(bytes);
    }
}

/* ---- Invitations ----------------------------------------------------------------------------- */

static struct tacit_wire_elim_run invited(const struct live_hub_config *config, uint32_t site)
{
    struct tacit_wire_announcement *announcement;
    struct tacit_wire_elim_run run;
    size_t size;
    uint8_t *const bytes = live_hub_announce(&elim_hub_ops, config, site, &size);
    assert_non_null(bytes);
    assert_int_equal(tacit_wire_decode(&tacit_wire_announcement, NULL, bytes, size, &announcement,
                                       tacit_wire_heap()),
                     TACIT_OK);
    assert_int_equal(tacit_wire_run_decode(&tacit_wire_elim, announcement, &run, tacit_wire_heap()),
                     TACIT_OK);
    assert_string_equal(announcement->agreement.arms[0], config->arm_names[0]);
    assert_true(announcement->agreement.lo == config->lo &&
                announcement->agreement.hi == config->hi);
    free(announcement);
    assert_int_equal(run.agent, site);
    assert_int_equal(run.agent_count, config->site_count);
    assert_true(run.epsilon_nano == wish_nano);
    free(bytes);
    return run;
}

static void free_invited(struct tacit_wire_elim_run *run)
{
    free(ELIM_RUN_BLOCK(run));
}

TEST(sites_of_a_ring_are_told_of_both_neighbours)
{
    struct topology *const ring = ring_of_six();
    struct live_hub_config const config = config_of(ring);
    for (uint32_t site = 0; site < SITES; site++) {
        struct tacit_wire_elim_run run = invited(&config, site);
        uint32_t const before = (site + SITES - 1) % SITES;
        uint32_t const after = (site + 1) % SITES;
        uint32_t const low = before < after ? before : after;
        uint32_t const high = before < after ? after : before;
        assert_int_equal(run.network, TACIT_WIRE_ELIM_SPREAD);
        assert_int_equal(run.neighbour_count, 2);
        assert_int_equal(run.neighbours[0].agent, low);
        assert_int_equal(run.neighbours[1].agent, high);
        assert_string_equal(run.neighbours[0].site, names[low]);
        assert_string_equal(run.neighbours[1].site, names[high]);
        assert_null(run.members); /* all of them */
        assert_int_equal(run.round_limit, 4);
        assert_true(run.gap == 0.1);
        assert_int_equal(run.gather_timeout_s, 0);
        free_invited(&run);
    }
    topology_free(ring);
}

TEST(sites_of_a_hybrid_are_told_the_way_to_their_sink)
{
    static const uint32_t parents[SITES] = {1, 1, 1, 3, 3, 5};
    static const uint64_t members[SITES] = {0, 7, 0, 0x18, 0, 0x20}; /* of the sinks */
    static const uint32_t weights[SITES] = {0, 3, 0, 2, 0, 1};
    struct topology *const parts = three_parts();
    struct live_hub_config const config = config_of(parts);
    uint32_t *const found = weights_of(&config);
    assert_memory_equal(found, weights, sizeof weights);
    free(found);
    for (uint32_t site = 0; site < SITES; site++) {
        struct tacit_wire_elim_run run = invited(&config, site);
        assert_int_equal(run.network, TACIT_WIRE_ELIM_GATHER);
        assert_int_equal(run.parent, parents[site]);
        assert_int_equal(run.neighbour_count, tacit_graph_degree(&parts->graph, site));
        assert_int_equal(run.members != NULL, members[site] != 0);
        if (members[site] != 0)
            assert_true(run.members[0] == members[site]);
        free_invited(&run);
    }
    topology_free(parts);
}

/* Half of the hub's deadline, at least a second; where the quorum is everybody, for ever. */
TEST(sinks_wait_for_all_or_for_half_the_deadline)
{
    static const uint32_t cases[][3] = {
        {SITES, 60, 0}, {SITES - 1, 60, 30}, {1, 61, 30}, {1, 2, 1}, {1, 1, 1}};
    struct topology *const parts = three_parts();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct live_hub_config config = config_of(parts);
        config.quorum = cases[i][0];
        config.deadline_s = cases[i][1];
        struct tacit_wire_elim_run run = invited(&config, 1);
        assert_int_equal(run.gather_timeout_s, cases[i][2]);
        free_invited(&run);
    }
    topology_free(parts);
}

TEST(without_a_round_limit_the_gap_is_one)
{
    struct topology *const ring = ring_of_six();
    struct live_hub_config config = config_of(ring);
    struct tacit_elim_network const *const network = settings_of(&config)->network;
    *settings_of(&config) = elim_hub_settings_make(1, SITES, 0, 0);
    settings_of(&config)->network = network;
    struct tacit_wire_elim_run run = invited(&config, 0);
    assert_true(run.gap == 1);
    free_invited(&run);
    topology_free(ring);
}

/* The centre of a large star graph has many neighbours with long names. */
TEST(invitations_that_do_not_fit_are_found_out)
{
    static char texts[SITES_MAX][65];
    static const char *long_names[SITES_MAX];
    struct tacit_graph_spec spec = {.kind = TACIT_GRAPH_COMPLETE, .agent_count = SITES_MAX};
    struct topology *const complete = topology_new(TACIT_ELIM_SPREAD, &spec, 1);
    struct live_hub_config config = config_of(complete);
    for (uint32_t site = 0; site < SITES_MAX; site++) {
        (void)snprintf(texts[site], sizeof texts[site], "%064u", site);
        long_names[site] = texts[site];
    }
    config.sites = long_names; /* twice: as neighbours, and as all */
    config.site_count = settings_of(&config)->report_count = SITES_MAX;
    assert_string_equal(live_hub_too_large(&elim_hub_ops, &config), "network");
    for (uint32_t site = 0; site < SITES_MAX; site++)
        long_names[site] = texts[site] + 32;
    assert_null(live_hub_too_large(&elim_hub_ops, &config));
    config.arm_count = 9000;
    assert_string_equal(live_hub_too_large(&elim_hub_ops, &config), "arms");
    config.arm_count = ARMS;
    topology_free(complete);

    /* 1100 neighbours of 64 letters: more than the payload, by hand */
    struct topology *const star = calloc(1, sizeof *star);
    static struct tacit_edge edges[1100];
    static uint32_t label[1101];
    static uint32_t queue[1101];
    static const char *same[1101];
    assert_non_null(star);
    for (uint32_t i = 0; i < 1100; i++)
        edges[i] = (struct tacit_edge){0, i + 1};
    star->memory = malloc(tacit_graph_size(1101, 1100));
    assert_non_null(star->memory);
    assert_int_equal(tacit_graph_init(&star->graph, star->memory, 1101, edges, 1100), TACIT_OK);
    assert_int_equal(tacit_graph_components(&star->graph, label, queue), 1);
    star->network = (struct tacit_elim_network){
        .graph = &star->graph, .label = label, .parent = label, .component_count = 1};
    for (uint32_t i = 0; i < 1101; i++)
        same[i] = texts[0];
    config.sites = same;
    config.site_count = settings_of(&config)->report_count = 1101;
    settings_of(&config)->network = &star->network;
    assert_string_equal(live_hub_too_large(&elim_hub_ops, &config), "network");
    topology_free(star);
}

TEST(a_training_whose_floor_is_not_kept_is_refused)
{
    static const struct tacit_wire_sealing sealing; /* of another helper */
    struct select_hub_settings const settings = {
        .core = {.dimension = 6, .round_count = 4, .clip = 1}, .batches = 1};
    struct select_site_settings const own = {.eta = 0.04, .dimension = 6};
    struct live_hub_config config = config_of(NULL);
    struct live_site_config allowed = policy();
    config.settings = &settings;
    config.arm_names = names;
    config.arm_count = SITES;
    config.has_helper = true;
    config.sealing = &sealing;
    allowed.settings = &own;
    for (uint32_t less = 0; less < 2; less++) {
        struct live_site *site = NULL;
        const char *objection = "";
        size_t size;
        config.floor_nano = wish_nano - less;
        uint8_t *const announcement = live_hub_announce(&select_hub_ops, &config, 0, &size);
        assert_non_null(announcement);
        assert_int_equal(
            live_site_join(&select_site_ops, &site, &allowed, announcement, size, &objection),
            TACIT_REFUSED);
        assert_non_null(strstr(objection, less > 0 ? "the run's floor" : "another key"));
        free(announcement);
    }
}
