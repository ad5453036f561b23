/* The seam between the daemons and votes: sites and hub driven through live_site_ops and
 * live_hub_ops alone, as bytes, and put back from their bytes after every step. With the same
 * rewards and the same entropy the player in it is, byte for byte, the simulator's. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../src/families/vote/live_keys.h"
#include "tacit/random.h"
#include "tacit/wire_vote.h"

#define SITES 3u
#define ARMS 3u
#define LETTERS_MAX 256u
#define TICK_US 1000u

static const char *const names[SITES] = {"north", "east", "south"};
static const char *const arms[ARMS] = {"left", "right", "none"};
static const double means[ARMS] = {0.75, 0.5, 0.125};

struct letter {
    uint32_t from;
    struct live_message message; /* its bytes are its own */
};

struct site {
    struct live_site_config config;
    struct live_site *live;
    struct tacit_rng noise;
    struct tacit_rng keys;
    struct tacit_pull_block plan[ARMS];
    uint32_t plan_count;
    uint64_t deadline_us;
    bool is_tick;
    uint64_t rows; /* of the ledger */
    uint64_t acknowledged;
};

struct world {
    struct tacit_wire_vote_run run;
    struct live_hub_config config;
    struct live_hub *hub;
    struct tacit_rng chance;
    struct site sites[SITES];
    struct letter queue[LETTERS_MAX];
    size_t first;
    size_t end;
    uint64_t now_us;
};

static void post(struct world *world, uint32_t from, const struct live_message *messages,
                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t *const bytes = malloc(messages[i].size);
        assert_non_null(bytes);
        assert_true(world->end < LETTERS_MAX);
        memcpy(bytes, messages[i].bytes, messages[i].size);
        world->queue[world->end] = (struct letter){from, messages[i]};
        world->queue[world->end++].message.bytes = bytes;
    }
}

/* ---- Sites ----------------------------------------------------------------------------------- */

static void put_back(struct site *site)
{
    size_t size;
    size_t size_again;
    void const *const bytes = live_site_bytes(site->live, &size);
    struct live_site *restored;
    assert_int_equal(live_site_restore(&vote_site_ops, &restored, &site->config, bytes, size),
                     TACIT_OK);
    assert_memory_equal(live_site_bytes(restored, &size_again), bytes, size);
    assert_int_equal(size_again, size);
    live_site_free(site->live);
    site->live = restored;
}

static enum tacit_status step(struct world *world, uint32_t index, struct live_site_event event)
{
    struct site *const site = &world->sites[index];
    struct tacit_entropy const noise = tacit_rng_entropy(&site->noise);
    struct tacit_entropy const keys = tacit_rng_entropy(&site->keys);
    struct live_site_update update;
    event.now_us = world->now_us;
    event.keys = &keys;
    enum tacit_status const status = live_site_step(site->live, &event, &noise, &update);
    if (update.has_release) {
        assert_non_null(update.release.bytes);
        assert_true(update.persist && update.release.number == site->rows + 1);
        site->rows++;
    }
    if (update.acknowledged > 0)
        site->acknowledged = update.acknowledged;
    if (update.has_plan && update.plan_count > 0)
        memcpy(site->plan, update.plan, update.plan_count * sizeof *site->plan);
    if (update.has_plan)
        site->plan_count = update.plan_count;
    site->deadline_us = update.deadline_us;
    site->is_tick = update.deadline_is_tick;
    post(world, index, update.messages, update.message_count);
    put_back(site);
    return status;
}

static enum tacit_status hear(struct world *world, uint32_t index, const struct letter *letter)
{
    struct live_site_event event = {.kind = LIVE_SITE_RECEIVE};
    event.as.message.from = letter->from;
    event.as.message.is_broadcast = letter->message.to == TACIT_EVERYONE;
    event.as.message.kind = letter->message.kind;
    event.as.message.epoch = letter->message.epoch;
    event.as.message.bytes = letter->message.bytes;
    event.as.message.size = letter->message.size;
    return step(world, index, event);
}

/* One reward of its plan; TACIT_NO_ARM: there is none to give. */
static uint32_t play(struct world *world, uint32_t index)
{
    struct site *const site = &world->sites[index];
    for (uint32_t i = 0; i < site->plan_count; i++) {
        struct live_site_event event = {.kind = LIVE_SITE_REWARD};
        uint32_t const arm = site->plan[i].arm;
        if (site->plan[i].count == 0)
            continue;
        site->plan[i].count--;
        event.as.reward.arm = arm;
        event.as.reward.value = means[arm];
        assert_int_equal(step(world, index, event), TACIT_OK);
        return arm;
    }
    return TACIT_NO_ARM;
}

/* ---- The hub --------------------------------------------------------------------------------- */

static enum tacit_status step_hub(struct world *world, struct live_hub_event event)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&world->chance);
    struct live_hub_update update;
    struct live_hub *restored;
    size_t size;
    event.now_us = world->now_us;
    enum tacit_status const status = live_hub_step(world->hub, &event, &entropy, &update);
    post(world, TACIT_HUB, update.messages, update.message_count);
    void const *const bytes = live_hub_bytes(world->hub, &size);
    assert_int_equal(live_hub_open(&vote_hub_ops, &restored, &world->config, bytes, size),
                     TACIT_OK);
    live_hub_free(world->hub);
    world->hub = restored;
    return status;
}

static enum tacit_status tell_hub(struct world *world, const struct letter *letter)
{
    return step_hub(world, (struct live_hub_event){.kind = LIVE_HUB_RECEIVE,
                                                   .from = letter->from,
                                                   .message_kind = letter->message.kind,
                                                   .message_epoch = letter->message.epoch,
                                                   .bytes = letter->message.bytes,
                                                   .size = letter->message.size});
}

/* ---- A run ----------------------------------------------------------------------------------- */

static void join(struct world *world, uint32_t index)
{
    struct site *const site = &world->sites[index];
    char const *objection = NULL;
    size_t size;
    uint8_t *const bytes = live_hub_announce(&vote_hub_ops, &world->config, index, &size);
    assert_non_null(bytes);
    assert_int_equal(
        live_site_join(&vote_site_ops, &site->live, &site->config, bytes, size, &objection),
        TACIT_OK);
    assert_true(live_site_is_of(site->live, bytes, size));
    free(bytes);
    assert_int_equal(step(world, index, (struct live_site_event){.kind = LIVE_SITE_START}),
                     TACIT_OK);
}

static struct site site_of(uint32_t index)
{
    return (struct site){.config = {.federation = "trial",
                                    .site = names[index],
                                    .arm_names = arms,
                                    .arm_count = ARMS,
                                    .epsilon = 2,
                                    .budget = 2,
                                    .lo = 0,
                                    .hi = 1,
                                    .agents_max = SITES,
                                    .rounds_max = 40,
                                    .pulls_max = 1000000,
                                    .resend_after_us = 2000000},
                         .noise = tacit_rng_stream(1, 0, index, TACIT_PURPOSE_NOISE),
                         .keys = tacit_rng_stream(1, 0, index, TACIT_PURPOSE_REWARD)};
}

static struct world *world_new(void)
{
    struct world *const world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->run = (struct tacit_wire_vote_run){.run_id = 7,
                                              .agent_count = SITES,
                                              .arm_count = ARMS,
                                              .horizon = 1000000,
                                              .accuracy = 0.05,
                                              .eta = 0.1,
                                              .votes_needed = 2,
                                              .tick_ms = TICK_US / 1000};
    world->config = (struct live_hub_config){.federation = "trial",
                                             .sites = names,
                                             .site_count = SITES,
                                             .arm_names = arms,
                                             .arm_count = ARMS,
                                             .run_id = 7,
                                             .horizon = 1000000,
                                             .epsilon = 2,
                                             .lo = 0,
                                             .hi = 1,
                                             .settings = &world->run};
    world->chance = tacit_rng_stream(1, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_GRAPH);
    world->now_us = 1;
    assert_null(live_hub_too_large(&vote_hub_ops, &world->config));
    assert_int_equal(live_hub_open(&vote_hub_ops, &world->hub, &world->config, NULL, 0), TACIT_OK);
    for (uint32_t index = 0; index < SITES; index++) {
        world->sites[index] = site_of(index);
        join(world, index);
    }
    assert_int_equal(step_hub(world, (struct live_hub_event){.kind = LIVE_HUB_START}), TACIT_OK);
    return world;
}

static void world_free(struct world *world)
{
    for (uint32_t index = 0; index < SITES; index++)
        live_site_free(world->sites[index].live);
    for (size_t i = world->first; i < world->end; i++)
        free((void *)(uintptr_t)world->queue[i].message.bytes);
    live_hub_free(world->hub);
    free(world);
}

static void deliver(struct world *world)
{
    struct letter const letter = world->queue[world->first++];
    uint32_t const to = letter.message.to;
    if (to == TACIT_HUB)
        assert_int_equal(tell_hub(world, &letter), TACIT_OK);
    for (uint32_t index = 0; index < SITES && to != TACIT_HUB; index++)
        if (to == TACIT_EVERYONE || to == index)
            assert_int_equal(hear(world, index, &letter), TACIT_OK);
    free((void *)(uintptr_t)letter.message.bytes);
    if (world->first == world->end)
        world->first = world->end = 0;
}

static void deliver_all(struct world *world)
{
    while (world->first < world->end)
        deliver(world);
}

static void tick(struct world *world)
{
    world->now_us += TICK_US;
    for (uint32_t index = 0; index < SITES; index++)
        if (world->now_us >= world->sites[index].deadline_us)
            assert_int_equal(
                step(world, index, (struct live_site_event){.kind = LIVE_SITE_TIMEOUT}), TACIT_OK);
}

static struct live_site_view look(const struct world *world, uint32_t index)
{
    struct live_site_view view;
    vote_site_ops.look(world->sites[index].live, &view);
    return view;
}

/* Two sites play; the third has nobody in. */
static void run(struct world *world)
{
    for (int i = 0; i < 100000 && !look(world, 2).is_decided; i++) {
        deliver_all(world);
        bool const rests = play(world, 0) == TACIT_NO_ARM && play(world, 1) == TACIT_NO_ARM;
        deliver_all(world);
        if (rests)
            tick(world);
    }
    deliver_all(world);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void run_through_bytes_ends_with_the_best_arm_everywhere(void **state)
{
    struct world *const world = world_new();
    struct live_hub_view hub;
    uint32_t ranking[ARMS];
    (void)state;
    run(world);
    vote_hub_ops.look(world->hub, &hub);
    assert_true(hub.judges && hub.is_finished);
    assert_int_equal(hub.active_count, 1);
    assert_true(tacit_bits_has(hub.active, 0));
    assert_int_equal(hub.votes_needed, 2);
    assert_true(hub.votes[1] == 2 && hub.votes[2] == 2 && hub.votes[0] == 0);
    assert_int_equal(hub.report_count, 2);
    for (uint32_t index = 0; index < SITES; index++) {
        struct site const *const site = &world->sites[index];
        struct live_site_view const view = look(world, index);
        assert_true(view.is_decided && !view.is_committed && view.trouble == NULL);
        assert_int_equal(view.release_number, site->rows); /* a row for every draw */
        assert_int_equal(view.release_number, hub.seen[index]);
        assert_int_equal(site->acknowledged, site->rows);
        assert_true((index == 2) == (view.spent_nano == 0));
        assert_int_equal(live_site_rank(site->live, &site->config, ranking), 1);
        assert_int_equal(ranking[0], 0);
    }
    assert_int_equal(look(world, 2).pull_count, 0);
    world_free(world);
}

/* A player as the simulator drives it, beside a site that alone plays. */
struct twin {
    struct tacit_vote_private_config config;
    struct tacit_vote_private *player;
    struct tacit_vote_board *board;
    size_t size;
    struct tacit_rng noise;
    uint64_t cell; /* asked for */
};

static void open_twin(struct twin *twin, const struct world *world)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, 2, 0, 1};
    struct tacit_vote_board_config const board = {
        .run_id = 7, .player_count = SITES, .arm_count = ARMS, .votes_needed = 2};
    *twin = (struct twin){.config = {.run_id = 7,
                                     .player_count = SITES,
                                     .arm_count = ARMS,
                                     .accuracy = world->run.accuracy,
                                     .failure = world->run.eta,
                                     .growth = 2,
                                     .budget_nano = 2 * TACIT_NANO,
                                     .tick_us = TICK_US},
                          .noise = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE)};
    assert_int_equal(tacit_mechanism_init(&twin->config.mechanism, &mechanism), TACIT_OK);
    twin->size = tacit_vote_private_size(&twin->config);
    twin->player = calloc(1, twin->size);
    twin->board = calloc(1, tacit_vote_board_size(&board));
    assert_int_equal(tacit_vote_private_init(twin->player, &twin->config), TACIT_OK);
    assert_int_equal(tacit_vote_board_init(twin->board, &board), TACIT_OK);
}

static void step_twin(struct twin *twin, uint64_t now_us, struct tacit_vote_event event)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&twin->noise);
    struct tacit_vote_private_update update;
    event.now_us = now_us;
    assert_int_equal(tacit_vote_private_step(twin->player, twin->board, &event, &entropy, &update),
                     TACIT_OK);
    if (update.commit)
        twin->cell = update.cell;
}

static void expect_same(const struct twin *twin, const struct world *world)
{
    size_t size;
    uint8_t const *const bytes = live_site_bytes(world->sites[0].live, &size);
    for (size_t at = 0; at + twin->size <= size; at += 8)
        if (memcmp(bytes + at, twin->player, twin->size) == 0)
            return;
    fail_msg("the player of the site is another than the simulator's");
}

static void player_of_a_site_is_the_simulators_byte_for_byte(void **state)
{
    struct world *const world = world_new();
    struct twin twin;
    (void)state;
    open_twin(&twin, world);
    step_twin(&twin, world->now_us, (struct tacit_vote_event){.kind = TACIT_EVENT_START});
    deliver_all(world);
    uint32_t draws = 0;
    for (int i = 0; i < 20000 && draws < 4; i++) {
        uint32_t const arm = play(world, 0);
        struct tacit_vote_event event = {.kind = TACIT_EVENT_REWARD};
        event.as.reward.arm = arm;
        event.as.reward.count = 1;
        event.as.reward.sum.steps =
            arm == TACIT_NO_ARM ? 0 : tacit_scale_level(&twin.config.mechanism.scale, means[arm]);
        if (arm != TACIT_NO_ARM)
            step_twin(&twin, world->now_us, event);
        expect_same(&twin, world);
        struct tacit_vote_message const grant = {
            .kind = TACIT_VOTE_GRANT, .from = TACIT_HUB, .run_id = 7, .cell = twin.cell};
        deliver_all(world);
        if (twin.cell > draws) {
            step_twin(&twin, world->now_us,
                      (struct tacit_vote_event){.kind = TACIT_EVENT_RECEIVE, .as.message = &grant});
            draws++;
        }
        expect_same(&twin, world);
        if (world->sites[0].deadline_us == TACIT_NEVER)
            continue;
        assert_true(world->sites[0].is_tick);
        tick(world);
        step_twin(&twin, world->now_us, (struct tacit_vote_event){.kind = TACIT_EVENT_TIMEOUT});
        deliver_all(world);
        expect_same(&twin, world);
    }
    assert_true(draws >= 2);
    free(twin.player);
    free(twin.board);
    world_free(world);
}

/* A letter in the name of another, one that is cut, one of another kind than its envelope says. */
static void what_does_not_fit_is_refused_and_changes_no_byte(void **state)
{
    struct world *const world = world_new();
    size_t size;
    (void)state;
    deliver_all(world);
    while (world->first == world->end)
        (void)play(world, 0);
    struct letter letter = world->queue[world->first]; /* a commitment */
    uint8_t *const before = malloc(live_hub_bytes(world->hub, &size) == NULL ? 1 : size);
    memcpy(before, live_hub_bytes(world->hub, &size), size);
    letter.from = 1;
    assert_int_equal(tell_hub(world, &letter), TACIT_STRANGER);
    letter.from = 0;
    letter.message.size--;
    assert_int_equal(tell_hub(world, &letter), TACIT_MALFORMED);
    letter.message.size++;
    letter.message.kind++;
    assert_int_equal(tell_hub(world, &letter), TACIT_MALFORMED);
    letter.message.kind--;
    letter.message.epoch++;
    assert_int_equal(tell_hub(world, &letter), TACIT_MALFORMED);
    assert_memory_equal(live_hub_bytes(world->hub, &size), before, size);
    letter.message.epoch--;
    assert_int_equal(tell_hub(world, &letter), TACIT_OK);
    struct letter row = world->queue[world->end - 1]; /* its grant, said to everybody */
    row.message.to = TACIT_EVERYONE;
    assert_int_equal(hear(world, 0, &row), TACIT_MALFORMED);
    free(before);
    world_free(world);
}

static void states_that_cannot_be_are_not_restored(void **state)
{
    struct world *const world = world_new();
    struct site *const site = &world->sites[0];
    struct live_site *restored = NULL;
    size_t size;
    (void)state;
    void const *const bytes = live_site_bytes(site->live, &size);
    uint8_t *const copy = malloc(size);
    memcpy(copy, bytes, size);
    assert_int_equal(live_site_restore(&vote_site_ops, &restored, &site->config, copy, size - 1),
                     TACIT_MALFORMED);
    assert_int_equal(live_site_restore(&vote_site_ops, &restored, &site->config, copy, 4),
                     TACIT_MALFORMED);
    struct live_site_config other = site->config;
    other.rounds_max++; /* another policy is another state */
    assert_int_equal(live_site_restore(&vote_site_ops, &restored, &other, copy, size),
                     TACIT_MALFORMED);
    copy[size - 1] ^= 1; /* a mark that nobody counted */
    assert_int_equal(live_site_restore(&vote_site_ops, &restored, &site->config, copy, size),
                     TACIT_MALFORMED);
    assert_null(restored);
    free(copy);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_through_bytes_ends_with_the_best_arm_everywhere),
        cmocka_unit_test(player_of_a_site_is_the_simulators_byte_for_byte),
        cmocka_unit_test(what_does_not_fit_is_refused_and_changes_no_byte),
        cmocka_unit_test(states_that_cannot_be_are_not_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
