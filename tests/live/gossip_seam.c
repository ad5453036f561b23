/* Gossip UCB at the seam: three sites on a ring and the hub that watches, driven through
 * live_site_ops and live_hub_ops alone, as bytes. Letters are lost, repeated and overtaken; sites
 * die before or after what a step did is durable, and start anew from their bytes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <math.h>
#include "../../src/families/gossip/live.h"
#include "../../src/live/protocol.h"
#include "tacit/gossip.h"
#include "tacit/wire_gossip.h"
#include "../../src/families/gossip/settings.h"
#include "../support/network.h"
#include "tacit/random.h"

#define SITES 3u
#define ARMS 3u
#define HORIZON 120u
#define LETTERS_MAX 4096u
#define EXCHANGE_US 1000u

static const char *const names[SITES] = {"north", "east", "south"};
static const char *const arms[ARMS] = {"left", "right", "none"};
static const double means[ARMS] = {0.5, 0.75, 0.125};
static const struct tacit_mechanism_config mechanism = {TACIT_PRIVACY_SOUND, 2.0, 0, 1};

struct letter {
    uint32_t from;
    uint32_t to;
    uint32_t kind;
    uint8_t *bytes;
    size_t size;
};

struct site {
    struct live_site_config config;
    struct live_site *live;
    struct tacit_rng noise;
    uint8_t *disk;
    size_t disk_size;
    uint64_t release; /* in the outbox */
    struct tacit_pull_block plan[ARMS];
    uint32_t plan_count;
    uint64_t deadline_us;
};

struct world {
    struct gossip_hub_settings settings;
    struct live_hub_config config;
    struct live_hub *hub;
    struct network *network;
    struct tacit_rng chance;
    struct site sites[SITES];
    struct letter letters[LETTERS_MAX];
    size_t count;
    uint64_t now_us;
};

/* ---- Letters --------------------------------------------------------------------------------- */

static void post(struct world *world, uint32_t from, const struct live_site_update *update)
{
    for (size_t i = 0; i < update->message_count; i++) {
        struct live_message const *const message = &update->messages[i];
        uint8_t *const bytes = malloc(message->size);
        assert_non_null(bytes);
        assert_true(world->count < LETTERS_MAX);
        assert_int_equal(message->epoch, 0);
        memcpy(bytes, message->bytes, message->size);
        world->letters[world->count++] =
            (struct letter){from, message->to, message->kind, bytes, message->size};
    }
}

static struct letter take(struct world *world, size_t at)
{
    struct letter const letter = world->letters[at];
    world->letters[at] = world->letters[--world->count];
    return letter;
}

/* ---- Sites ----------------------------------------------------------------------------------- */

static void keep(struct site *site)
{
    size_t size;
    void const *const bytes = live_site_bytes(site->live, &size);
    if (size != site->disk_size) {
        site->disk = realloc(site->disk, size);
        site->disk_size = size;
    }
    assert_non_null(site->disk);
    memcpy(site->disk, bytes, size);
}

static void set_plan(struct site *site, const struct live_site_update *update)
{
    if (!update->has_plan)
        return;
    site->plan_count = update->plan_count;
    for (uint32_t i = 0; i < update->plan_count; i++)
        site->plan[i] = update->plan[i];
}

/* A step, and what comes of it if it becomes durable. */
static enum tacit_status step(struct world *world, uint32_t index, struct live_site_event event,
                              bool is_durable)
{
    struct site *const site = &world->sites[index];
    struct tacit_entropy const entropy = tacit_rng_entropy(&site->noise);
    struct live_site_update update;
    event.now_us = ++world->now_us;
    enum tacit_status const status = live_site_step(site->live, &event, &entropy, &update);
    if (!is_durable)
        return status;
    if (update.has_release) { /* one row a number, each the next one */
        assert_true(update.release.number == site->release + 1);
        assert_int_equal(update.release.size, TACIT_WIRE_GOSSIP_RELEASE_BYTES);
        assert_true(update.release.epsilon_nano > 0);
        site->release = update.release.number;
    }
    if (update.persist)
        keep(site);
    set_plan(site, &update);
    site->deadline_us = update.deadline_us;
    post(world, index, &update);
    return status;
}

/* From what was durable, in a new life. */
static void revive(struct world *world, uint32_t index)
{
    struct site *const site = &world->sites[index];
    live_site_free(site->live);
    site->live = NULL;
    assert_int_equal(live_site_restore(&gossip_site_ops, &site->live, &site->config, site->disk,
                                       site->disk_size),
                     TACIT_OK);
    assert_int_equal(step(world, index, (struct live_site_event){.kind = LIVE_SITE_START}, true),
                     TACIT_OK);
}

static enum tacit_status hear(struct world *world, const struct letter *letter, bool is_durable)
{
    struct live_site_event event = {.kind = LIVE_SITE_RECEIVE};
    event.as.message.from = letter->from;
    event.as.message.kind = letter->kind;
    event.as.message.bytes = letter->bytes;
    event.as.message.size = letter->size;
    return step(world, letter->to, event, is_durable);
}

static enum tacit_status tell_hub(struct world *world, const struct letter *letter)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&world->chance);
    struct live_hub_update update;
    struct live_hub_event const event = {.kind = LIVE_HUB_RECEIVE,
                                         .now_us = world->now_us,
                                         .from = letter->from,
                                         .bytes = letter->bytes,
                                         .size = letter->size,
                                         .message_kind = letter->kind};
    return live_hub_step(world->hub, &event, &entropy, &update);
}

static enum tacit_status deliver(struct world *world, const struct letter *letter, bool is_durable)
{
    return letter->to == TACIT_HUB ? tell_hub(world, letter) : hear(world, letter, is_durable);
}

/* One reward of the plan, if there is one. */
static void play(struct world *world, uint32_t index, bool is_durable)
{
    struct site *const site = &world->sites[index];
    struct live_site_event event = {.kind = LIVE_SITE_REWARD};
    if (site->plan_count == 0)
        return;
    uint32_t const arm = site->plan[site->plan_count - 1].arm;
    event.as.reward.arm = arm;
    event.as.reward.value =
        (double)tacit_rng_below(&world->chance, 1000) < 1000 * means[arm] ? 1 : 0;
    if (is_durable)
        site->plan_count--;
    assert_int_equal(step(world, index, event, is_durable), TACIT_OK);
}

/* ---- The world ------------------------------------------------------------------------------- */

static void join(struct world *world, uint32_t index)
{
    struct site *const site = &world->sites[index];
    char const *objection = NULL;
    size_t size;
    uint8_t *const bytes = live_hub_announce(&gossip_hub_ops, &world->config, index, &size);
    assert_non_null(bytes);
    assert_int_equal(
        live_site_join(&gossip_site_ops, &site->live, &site->config, bytes, size, &objection),
        TACIT_OK);
    assert_null(objection);
    assert_true(live_site_is_of(site->live, bytes, size));
    free(bytes);
    keep(site);
    (void)step(world, index, (struct live_site_event){.kind = LIVE_SITE_START}, true);
}

static struct world *world_new(uint64_t seed)
{
    struct world *const world = calloc(1, sizeof *world);
    assert_non_null(world);
    static const struct tacit_graph_spec ring = {.kind = TACIT_GRAPH_RING, .agent_count = SITES};
    world->network = network_new(&ring, 1, 1);
    world->settings = (struct gossip_hub_settings){&world->network->graph, EXCHANGE_US, 1, false};
    world->config = (struct live_hub_config){.federation = "trial",
                                             .sites = names,
                                             .site_count = SITES,
                                             .arm_names = arms,
                                             .arm_count = ARMS,
                                             .run_id = 7,
                                             .horizon = HORIZON,
                                             .epsilon = mechanism.epsilon_per_reward,
                                             .lo = 0,
                                             .hi = 1,
                                             .settings = &world->settings};
    world->chance = tacit_rng_stream(seed, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_REWARD);
    assert_null(live_hub_too_large(&gossip_hub_ops, &world->config));
    assert_int_equal(live_hub_open(&gossip_hub_ops, &world->hub, &world->config, NULL, 0),
                     TACIT_OK);
    for (uint32_t i = 0; i < SITES; i++) {
        world->sites[i].config = (struct live_site_config){.federation = "trial",
                                                           .site = names[i],
                                                           .arm_names = arms,
                                                           .arm_count = ARMS,
                                                           .epsilon = 2,
                                                           .budget = 2,
                                                           .lo = 0,
                                                           .hi = 1,
                                                           .agents_max = SITES,
                                                           .pulls_max = HORIZON + ARMS};
        world->sites[i].noise = tacit_rng_stream(seed, 0, i, TACIT_PURPOSE_NOISE);
        join(world, i);
    }
    return world;
}

static void world_free(struct world *world)
{
    for (uint32_t i = 0; i < SITES; i++) {
        live_site_free(world->sites[i].live);
        free(world->sites[i].disk);
    }
    while (world->count > 0)
        free(take(world, 0).bytes);
    live_hub_free(world->hub);
    network_free(world->network);
    free(world);
}

/* ---- What must hold -------------------------------------------------------------------------- */

static struct live_site *core_of(const struct site *site)
{
    struct live_site *core;
    assert_int_equal(
        live_site_restore(&gossip_site_ops, &core, &site->config, site->disk, site->disk_size),
        TACIT_OK);
    return core;
}

static bool edges_agree(struct live_site *const cores[SITES])
{
    for (uint32_t a = 0; a < SITES; a++)
        for (uint32_t b = a + 1; b < SITES; b++) {
            uint64_t here;
            uint64_t there;
            double const *const flow = tacit_gossip_agent_flow(cores[a]->state, b, &here);
            double const *const back = tacit_gossip_agent_flow(cores[b]->state, a, &there);
            assert_true(flow != NULL && back != NULL && here >= there);
            if (here != there)
                return false;
            for (uint32_t arm = 0; arm < ARMS; arm++)
                assert_true(flow[arm] == -back[arm]);
        }
    return true;
}

static void expect_average_kept(struct live_site *const cores[SITES])
{
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        double apart = 0;
        for (uint32_t i = 0; i < SITES; i++) {
            struct tacit_gossip_agent_view view;
            tacit_gossip_agent_look(cores[i]->state, &view);
            apart += view.theta[arm] - view.mean[arm];
        }
        assert_true(fabs(apart) < 1e-9);
    }
}

/* If nothing is in flight. */
static bool average_is_kept(struct world *world)
{
    struct live_site *cores[SITES];
    for (uint32_t i = 0; i < SITES; i++)
        cores[i] = core_of(&world->sites[i]);
    bool const is_quiet = edges_agree(cores);
    if (is_quiet)
        expect_average_kept(cores);
    for (uint32_t i = 0; i < SITES; i++)
        live_site_free(cores[i]);
    return is_quiet;
}

static bool all_finished(const struct world *world)
{
    for (uint32_t i = 0; i < SITES; i++) {
        struct live_site_view view;
        gossip_site_ops.look(world->sites[i].live, &view);
        assert_false(view.is_halted);
        if (!view.is_finished)
            return false;
    }
    return true;
}

/* Something happens to somebody. */
static void happen(struct world *world)
{
    uint32_t const index = (uint32_t)tacit_rng_below(&world->chance, SITES);
    uint64_t const what = tacit_rng_below(&world->chance, 100);
    bool const dies = tacit_rng_below(&world->chance, 40) == 0;
    if (what < 45) {
        play(world, index, !dies || what % 2 == 0);
    } else if (what < 60) {
        world->now_us += EXCHANGE_US;
        (void)step(world, index, (struct live_site_event){.kind = LIVE_SITE_TIMEOUT},
                   !dies || what % 2 == 0);
    } else if (world->count > 0) {
        struct letter const letter = take(world, tacit_rng_below(&world->chance, world->count));
        bool const is_lost = what > 94;
        bool const is_repeated = what > 88 && !is_lost;
        if (!is_lost)
            (void)deliver(world, &letter, !dies || what % 2 == 0 || letter.to != index);
        if (is_repeated)
            world->letters[world->count++] = letter;
        else
            free(letter.bytes);
    }
    if (dies)
        revive(world, index);
}

/* Letters arrive and exchanges go on, nothing fails. */
static void calm_down(struct world *world)
{
    for (uint32_t i = 0; i < 20000; i++) {
        while (world->count > 0) {
            struct letter const letter = take(world, 0);
            (void)deliver(world, &letter, true);
            free(letter.bytes);
        }
        if (average_is_kept(world))
            return;
        world->now_us += 5 * EXCHANGE_US;
        (void)step(world, i % SITES, (struct live_site_event){.kind = LIVE_SITE_TIMEOUT}, true);
    }
    fail_msg("something is always in flight");
}

static void average_and_outbox_are_kept_through_losses_repeats_and_deaths(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world *const world = world_new(seed);
        struct live_hub_view hub;
        for (uint32_t i = 0; i < 100000 && !all_finished(world); i++)
            happen(world);
        assert_true(all_finished(world));
        calm_down(world);
        for (uint32_t i = 0; i < SITES; i++) {
            struct live_site_view view;
            gossip_site_ops.look(world->sites[i].live, &view);
            assert_true(world->sites[i].release == HORIZON + ARMS);
            assert_true(view.release_number == HORIZON + ARMS && view.draws_always);
            assert_true(view.spent_nano <= 2 * TACIT_NANO && view.spent_nano > TACIT_NANO);
            (void)step(world, i, (struct live_site_event){.kind = LIVE_SITE_CONNECTED}, true);
        }
        calm_down(world);
        gossip_hub_ops.look(world->hub, &hub);
        assert_true(hub.is_finished && !hub.judges && hub.means != NULL);
        for (uint32_t i = 0; i < SITES; i++)
            assert_true(hub.pulls_told[i] == HORIZON + ARMS);
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

static void what_does_not_fit_is_refused_and_changes_no_byte(void **state)
{
    (void)state;
    struct world *const world = world_new(100);
    play_some(world);
    struct tacit_gossip_message ask = {
        .kind = TACIT_GOSSIP_ASK, .from = 0, .run_id = 7, .life_number = 1, .life = 1};
    uint8_t bytes[64];
    size_t const size = tacit_wire_gossip_bytes(&ask, ARMS);
    assert_true(size <= sizeof bytes);
    tacit_wire_gossip_encode(&ask, ARMS, bytes);
    uint32_t const kind = tacit_wire_gossip_kind(TACIT_GOSSIP_ASK);
    struct {
        struct letter letter;
        enum tacit_status status;
    } const cases[] = {
        {{0, 1, kind, bytes, size - 1}, TACIT_MALFORMED},
        {{0, 1, kind + 1, bytes, size}, TACIT_MALFORMED},     /* another kind on the envelope */
        {{2, 1, kind, bytes, size}, TACIT_STRANGER},          /* another sender */
        {{TACIT_HUB, 1, kind, bytes, size}, TACIT_UNEXPECTED} /* the hub has nothing to say */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size_before;
        size_t size_after;
        uint8_t before[4096];
        void const *const now = live_site_bytes(world->sites[1].live, &size_before);
        assert_true(size_before <= sizeof before);
        memcpy(before, now, size_before);
        assert_int_equal(hear(world, &cases[i].letter, true), cases[i].status);
        void const *const after = live_site_bytes(world->sites[1].live, &size_after);
        assert_int_equal(size_after, size_before);
        assert_memory_equal(after, before, size_after);
    }
    struct live_site_event const offer = {.kind = LIVE_SITE_OFFER};
    assert_int_equal(step(world, 1, offer, true), TACIT_UNEXPECTED);
    world_free(world);
}

static void hub_believes_a_site_about_itself_only(void **state)
{
    (void)state;
    static const double theta[ARMS] = {0.25, 0.5, 0.75};
    struct world *const world = world_new(101);
    static const struct {
        struct tacit_wire_gossip_told told;
        uint32_t from;
        uint32_t kind;
        enum tacit_status status;
    } cases[] = {
        {{1, 7, 10, false, theta}, 1, TACIT_WIRE_GOSSIP_KIND_TOLD, TACIT_OK},
        {{1, 7, 10, false, theta}, 2, TACIT_WIRE_GOSSIP_KIND_TOLD, TACIT_STRANGER},
        {{1, 8, 10, false, theta}, 1, TACIT_WIRE_GOSSIP_KIND_TOLD, TACIT_STRANGER},
        {{1, 7, 10, false, theta}, 1, TACIT_WIRE_GOSSIP_KIND_TOLD - 1, TACIT_UNEXPECTED},
        {{1, 7, ARMS - 1, false, theta}, 1, TACIT_WIRE_GOSSIP_KIND_TOLD, TACIT_MALFORMED},
        {{1, 7, HORIZON + ARMS + 1, false, theta}, 1, TACIT_WIRE_GOSSIP_KIND_TOLD, TACIT_MALFORMED},
        {{1, 7, HORIZON, true, theta}, 1, TACIT_WIRE_GOSSIP_KIND_TOLD, TACIT_MALFORMED}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[128];
        size_t const size = tacit_wire_gossip_told_bytes(ARMS);
        assert_true(size <= sizeof bytes);
        tacit_wire_gossip_told_encode(&cases[i].told, ARMS, bytes);
        struct letter const letter = {cases[i].from, TACIT_HUB, cases[i].kind, bytes, size};
        assert_int_equal(tell_hub(world, &letter), cases[i].status);
    }
    struct live_hub_view view;
    gossip_hub_ops.look(world->hub, &view);
    assert_false(view.is_finished);
    assert_true(view.pulls_told[1] == 10 && view.pulls_told[0] == 0);
    assert_memory_equal(view.means, theta, sizeof theta);
    assert_true(view.spreads[0] == 0);
    world_free(world);
}

static void a_state_of_other_bytes_is_not_put_back(void **state)
{
    (void)state;
    struct world *const world = world_new(102);
    play_some(world);
    struct site *const site = &world->sites[1];
    struct live_site *restored = NULL;
    uint64_t length;
    memcpy(&length, site->disk, sizeof length);
    for (size_t size = 0; size < site->disk_size; size += 7)
        assert_int_equal(
            live_site_restore(&gossip_site_ops, &restored, &site->config, site->disk, size),
            TACIT_MALFORMED);
    /* What all sites agreed on; the digest beside it knows it. Behind it are neighbours' names. */
    for (size_t at = 0; at < sizeof length + length - 40; at++) {
        site->disk[at] ^= 1;
        assert_int_equal(live_site_restore(&gossip_site_ops, &restored, &site->config, site->disk,
                                           site->disk_size),
                         TACIT_MALFORMED);
        site->disk[at] ^= 1;
    }
    struct live_site_config other = site->config; /* another policy, another noise */
    other.epsilon = 1;
    assert_int_equal(
        live_site_restore(&gossip_site_ops, &restored, &other, site->disk, site->disk_size),
        TACIT_MALFORMED);
    assert_null(restored);
    world_free(world);
}

static void a_policy_is_not_overruled_by_an_announcement(void **state)
{
    (void)state;
    struct world *const world = world_new(103);
    struct live_site *joined = NULL;
    char const *objection = NULL;
    size_t size;
    uint8_t *const bytes = live_hub_announce(&gossip_hub_ops, &world->config, 0, &size);
    assert_non_null(bytes);
    struct live_site_config strict = world->sites[0].config;
    strict.epsilon = 1;
    assert_int_equal(live_site_join(&gossip_site_ops, &joined, &strict, bytes, size, &objection),
                     TACIT_REFUSED);
    assert_non_null(strstr(objection, "policy.epsilon"));
    strict = world->sites[0].config;
    strict.pulls_max = HORIZON + ARMS - 1;
    assert_int_equal(live_site_join(&gossip_site_ops, &joined, &strict, bytes, size, &objection),
                     TACIT_REFUSED);
    assert_non_null(strstr(objection, "policy.pulls_max"));
    assert_int_equal(
        live_site_join(&gossip_site_ops, &joined, &strict, bytes, size / 2, &objection),
        TACIT_MALFORMED);
    assert_null(joined);
    free(bytes);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(average_and_outbox_are_kept_through_losses_repeats_and_deaths),
        cmocka_unit_test(what_does_not_fit_is_refused_and_changes_no_byte),
        cmocka_unit_test(hub_believes_a_site_about_itself_only),
        cmocka_unit_test(a_state_of_other_bytes_is_not_put_back),
        cmocka_unit_test(a_policy_is_not_overruled_by_an_announcement),
    };
    return cmocka_run_group_tests_name("gossip_seam", tests, NULL, NULL);
}
