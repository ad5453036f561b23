/* Gossip UCB at the seam: three sites on a ring and the hub that watches, driven through
 * live_site_ops and live_hub_ops alone, as bytes. Envelopes are lost, repeated and overtaken; sites
 * die before or after what a step did is durable, and start anew from their bytes. */
#include "../support/wire_shape.h"
#include <math.h>
#include "../support/testing.h"
#include "../../src/families/gossip/live.h"
#include "../../src/live/protocol.h"
#include "tacit/gossip.h"
#include "tacit/wire_gossip.h"
#include "../../src/families/gossip/settings.h"
#include "../support/live_world.h"
#include "../support/network.h"

#define HORIZON 120u
#define EXCHANGE_US 1000u

static const double means[WORLD_ARMS] = {0.5, 0.75, 0.125};

static struct network *network;

static struct world *gossip_world(uint64_t seed)
{
    static struct gossip_hub_settings settings;
    settings = (struct gossip_hub_settings){&network->graph, EXCHANGE_US, 1, false};
    struct world_family const family = {
        .site_ops = &gossip_site_ops,
        .hub_ops = &gossip_hub_ops,
        .site = {.epsilon = 2, .budget = 2, .pulls_max = HORIZON + WORLD_ARMS},
        .hub = {.horizon = HORIZON, .epsilon = 2, .settings = &settings},
        .means = means,
        .step_us = 1,
        .release_bytes = TACIT_WIRE_GOSSIP_RELEASE_BYTES,
        .is_drawn_anew = true,
        .is_from_disk = true};
    return world_new(&family, seed);
}

static int open_network(void **state)
{
    static const struct tacit_graph_spec ring = {.kind = TACIT_GRAPH_RING,
                                                 .agent_count = WORLD_SITES};
    network = network_new(&ring, 1, 1);
    return 0;
}

static int close_network(void **state)
{
    network_free(network);
    return 0;
}

static void deliver(struct world *world, const struct envelope *envelope)
{
    assert_int_equal(envelope->message.epoch, 0);
    if (envelope->message.to == TACIT_HUB)
        (void)world_tell_hub(world, envelope);
    else
        (void)world_hear(world, envelope->message.to, envelope);
}

/* ---- What must hold -------------------------------------------------------------------------- */

static struct live_site *core_of(const struct site *site)
{
    struct live_site *core;
    const char *objection;
    assert_int_equal(live_site_restore(&gossip_site_ops, &core, &site->config, site->disk,
                                       site->disk_size, &objection),
                     TACIT_OK);
    return core;
}

static bool edges_agree(struct live_site *const cores[WORLD_SITES])
{
    for (uint32_t a = 0; a < WORLD_SITES; a++)
        for (uint32_t b = a + 1; b < WORLD_SITES; b++) {
            uint64_t here;
            uint64_t there;
            double const *const flow = tacit_gossip_agent_flow(cores[a]->state, b, &here);
            double const *const back = tacit_gossip_agent_flow(cores[b]->state, a, &there);
            assert_true(flow != NULL && back != NULL && here >= there);
            if (here != there)
                return false;
            for (uint32_t arm = 0; arm < WORLD_ARMS; arm++)
                assert_true(flow[arm] == -back[arm]);
        }
    return true;
}

static void expect_average_kept(struct live_site *const cores[WORLD_SITES])
{
    for (uint32_t arm = 0; arm < WORLD_ARMS; arm++) {
        double apart = 0;
        for (uint32_t i = 0; i < WORLD_SITES; i++) {
            struct tacit_gossip_agent_view view;
            tacit_gossip_agent_view(cores[i]->state, &view);
            apart += view.theta[arm] - view.mean[arm];
        }
        assert_true(fabs(apart) < 1e-9);
    }
}

/* If nothing is in flight. */
static bool average_is_kept(struct world *world)
{
    struct live_site *cores[WORLD_SITES];
    for (uint32_t i = 0; i < WORLD_SITES; i++)
        cores[i] = core_of(&world->sites[i]);
    bool const is_quiet = edges_agree(cores);
    if (is_quiet)
        expect_average_kept(cores);
    for (uint32_t i = 0; i < WORLD_SITES; i++)
        live_site_free(cores[i]);
    return is_quiet;
}

static bool all_finished(const struct world *world)
{
    for (uint32_t i = 0; i < WORLD_SITES; i++) {
        struct live_site_view const view = world_look(world, i);
        assert_false(view.is_halted);
        if (!view.is_finished)
            return false;
    }
    return true;
}

/* Something happens to somebody; who dies of it may have lost it. */
static void happen(struct world *world)
{
    uint32_t const index = (uint32_t)tacit_rng_below(&world->chance, WORLD_SITES);
    uint64_t const what = tacit_rng_below(&world->chance, 100);
    size_t const count = world->end - world->first;
    bool const dies = tacit_rng_below(&world->chance, 40) == 0;
    world->is_lost = dies && what % 2 != 0;
    if (what < 45) {
        (void)world_play(world, index);
    } else if (what < 60) {
        world->now_us += EXCHANGE_US;
        (void)world_time_out(world, index);
    } else if (count > 0) {
        struct envelope const envelope =
            world_take(world, world->first + tacit_rng_below(&world->chance, count));
        bool const is_repeated = what > 88 && what <= 94;
        world->is_lost = world->is_lost && envelope.message.to == index;
        if (what <= 94) /* else it is lost */
            deliver(world, &envelope);
        if (is_repeated)
            world->queue[world->end++] = envelope;
        else
            free((void *)(uintptr_t)envelope.message.bytes);
    }
    world->is_lost = false;
    if (dies)
        world_revive(world, index);
}

/* Envelopes arrive and exchanges go on, nothing fails. */
static void calm_down(struct world *world)
{
    for (uint32_t i = 0; i < 20000; i++) {
        while (world->first < world->end) {
            struct envelope const envelope = world_take(world, world->first);
            deliver(world, &envelope);
            free((void *)(uintptr_t)envelope.message.bytes);
        }
        if (average_is_kept(world))
            return;
        world->now_us += 5 * EXCHANGE_US;
        (void)world_time_out(world, i % WORLD_SITES);
    }
    fail_msg("something is always in flight");
}

TEST(average_and_outbox_are_kept_through_losses_repeats_and_deaths)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world *const world = gossip_world(seed);
        for (uint32_t i = 0; i < 100000 && !all_finished(world); i++)
            happen(world);
        assert_true(all_finished(world));
        calm_down(world);
        for (uint32_t i = 0; i < WORLD_SITES; i++) {
            struct live_site_view const view = world_look(world, i);
            assert_true(world->sites[i].release == HORIZON + WORLD_ARMS);
            assert_true(view.release_number == HORIZON + WORLD_ARMS && view.draws_always);
            assert_true(view.spent_nano <= 2 * TACIT_NANO && view.spent_nano > TACIT_NANO);
            (void)world_step(world, i, (struct live_site_event){.kind = LIVE_SITE_CONNECTED});
        }
        calm_down(world);
        struct live_hub_view const hub = world_look_hub(world);
        assert_true(hub.is_finished && !hub.judges && hub.means != NULL);
        for (uint32_t i = 0; i < WORLD_SITES; i++)
            assert_true(hub.pulls_reported[i] == HORIZON + WORLD_ARMS);
        world_free(world);
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void play_some(struct world *world)
{
    for (uint32_t i = 0; i < 300; i++)
        happen(world);
    calm_down(world);
}

TEST(what_does_not_fit_is_refused_and_changes_no_byte)
{
    struct world *const world = gossip_world(100);
    play_some(world);
    struct tacit_gossip_message ask = {.kind = TACIT_GOSSIP_ASK,
                                       .from = 0,
                                       .run_id = 7,
                                       .incarnation_number = 1,
                                       .incarnation = 1};
    uint8_t bytes[64];
    size_t const size = tacit_wire_bytes(WIRE(gossip, WORLD_ARMS), &ask);
    assert_true(size <= sizeof bytes);
    tacit_wire_encode(WIRE(gossip, WORLD_ARMS), &ask, bytes);
    uint32_t const kind = WIRE_KIND(gossip, tacit_gossip_message, TACIT_GOSSIP_ASK);
    struct {
        uint32_t from;
        uint32_t kind;
        size_t size;
        enum tacit_status status;
    } const cases[] = {
        {0, kind, size - 1, TACIT_MALFORMED},
        {0, kind + 1, size, TACIT_MALFORMED},     /* another kind on the envelope */
        {2, kind, size, TACIT_STRANGER},          /* another sender */
        {TACIT_HUB, kind, size, TACIT_UNEXPECTED} /* the hub has nothing to say */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size_before;
        size_t size_after;
        void const *const now = live_site_bytes(world->sites[1].live, &size_before);
        uint8_t *const before = world_copy(now, size_before);
        struct envelope const envelope = {
            cases[i].from, {.to = 1, .kind = cases[i].kind, .bytes = bytes, .size = cases[i].size}};
        assert_int_equal(world_hear(world, 1, &envelope), cases[i].status);
        void const *const after = live_site_bytes(world->sites[1].live, &size_after);
        assert_int_equal(size_after, size_before);
        assert_memory_equal(after, before, size_after);
        free(before);
    }
    struct live_site_event const offer = {.kind = LIVE_SITE_OFFER};
    assert_int_equal(world_step(world, 1, offer), TACIT_UNEXPECTED);
    world_free(world);
}

TEST(hub_believes_a_site_about_itself_only)
{
    static const double theta[WORLD_ARMS] = {0.25, 0.5, 0.75};
    struct world *const world = gossip_world(101);
    static const struct {
        struct tacit_wire_gossip_progress progress;
        uint32_t from;
        uint32_t kind;
        enum tacit_status status;
    } cases[] = {
        {{1, 7, 10, false, theta}, 1, TACIT_WIRE_GOSSIP_KIND_PROGRESS, TACIT_OK},
        {{1, 7, 10, false, theta}, 2, TACIT_WIRE_GOSSIP_KIND_PROGRESS, TACIT_STRANGER},
        {{1, 8, 10, false, theta}, 1, TACIT_WIRE_GOSSIP_KIND_PROGRESS, TACIT_STRANGER},
        {{1, 7, 10, false, theta}, 1, TACIT_WIRE_GOSSIP_KIND_PROGRESS - 1, TACIT_UNEXPECTED},
        {{1, 7, WORLD_ARMS - 1, false, theta}, 1, TACIT_WIRE_GOSSIP_KIND_PROGRESS, TACIT_MALFORMED},
        {{1, 7, HORIZON + WORLD_ARMS + 1, false, theta},
         1,
         TACIT_WIRE_GOSSIP_KIND_PROGRESS,
         TACIT_MALFORMED},
        {{1, 7, HORIZON, true, theta}, 1, TACIT_WIRE_GOSSIP_KIND_PROGRESS, TACIT_MALFORMED}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[128];
        size_t const size = tacit_wire_bytes(&tacit_wire_gossip_progress, SHAPE(WORLD_ARMS),
                                             &(struct tacit_wire_gossip_progress){.from = 0});
        assert_true(size <= sizeof bytes);
        tacit_wire_encode(&tacit_wire_gossip_progress, SHAPE(WORLD_ARMS), &cases[i].progress,
                          bytes);
        struct envelope const envelope = {
            cases[i].from, {.to = TACIT_HUB, .kind = cases[i].kind, .bytes = bytes, .size = size}};
        assert_int_equal(world_tell_hub(world, &envelope), cases[i].status);
    }
    struct live_hub_view const view = world_look_hub(world);
    assert_false(view.is_finished);
    assert_true(view.pulls_reported[1] == 10 && view.pulls_reported[0] == 0);
    assert_memory_equal(view.means, theta, sizeof theta);
    assert_true(view.spreads[0] == 0);
    world_free(world);
}

TEST(a_state_of_other_bytes_is_not_put_back)
{
    struct world *const world = gossip_world(102);
    play_some(world);
    world_expect_no_other_state(world);
    world_expect_damage(world, 1, 8 * strlen("northsouth"));
    world_free(world);
}

TEST(a_policy_is_not_overruled_by_an_announcement)
{
    struct world *const world = gossip_world(103);
    struct live_site_config strict = world->sites[0].config;
    strict.epsilon = 1;
    world_expect_policy(world, &strict, "policy.epsilon");
    strict.epsilon = 2e-6; /* of which a share is none */
    world_expect_policy(world, &strict, "policy.epsilon");
    strict = world->sites[0].config;
    strict.pulls_max = HORIZON + WORLD_ARMS - 1;
    world_expect_policy(world, &strict, "policy.pulls_max");
    world_free(world);
}

int main(void)
{
    return testing_run(open_network, close_network);
}
