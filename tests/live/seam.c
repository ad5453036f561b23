/* The seam between the daemons and a protocol: sites and hub of each family that is live over a
 * star driven through live_site_ops and live_hub_ops alone, as bytes. Sites and hub are put back
 * from their bytes after every step. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../src/families/elim/live.h"
#include "../../src/families/elim/settings.h"
#include "../../src/families/phased/live.h"
#include "../../src/families/phased/settings.h"
#include "tacit/random.h"
#include "tacit/wire_elim.h"
#include "tacit/wire_phased.h"

#define SITES 3u
#define ARMS 3u
#define HORIZON 20000u
#define LETTERS_MAX 256u

static const char *const names[SITES] = {"north", "east", "south"};
static const char *const arms[ARMS] = {"left", "right", "none"};
static const double means[ARMS] = {0.75, 0.5, 0.125};

struct letter {
    uint32_t from;
    uint32_t to;
    uint32_t kind;
    uint32_t epoch;
    uint8_t *bytes;
    size_t size;
};

struct site {
    struct live_site_config config;
    struct live_site *live;
    struct tacit_rng noise;
    struct tacit_pull_block plan[ARMS];
    uint32_t plan_count;
    uint64_t release;
    uint64_t acknowledged;
};

struct world {
    struct live_hub_config config;
    struct live_hub *hub;
    struct tacit_rng chance;
    struct site sites[SITES];
    struct letter queue[LETTERS_MAX];
    size_t first;
    size_t end;
    uint64_t now_us;
};

/* A family, and what it calls two of its messages. */
struct family {
    const struct live_site_ops *site_ops;
    const struct live_hub_ops *hub_ops;
    const void *settings;
    uint32_t commit;
    uint32_t report;
};

/* The one under test. */
static const struct live_site_ops *site_ops;
static const struct live_hub_ops *hub_ops;
static struct family family;

/* ---- Letters --------------------------------------------------------------------------------- */

static void post(struct world *world, uint32_t from, const struct live_message *messages,
                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t *const bytes = malloc(messages[i].size);
        assert_non_null(bytes);
        assert_true(world->end < LETTERS_MAX);
        memcpy(bytes, messages[i].bytes, messages[i].size);
        world->queue[world->end++] = (struct letter){
            from, messages[i].to, messages[i].kind, messages[i].epoch, bytes, messages[i].size};
    }
}

/* ---- Sites ----------------------------------------------------------------------------------- */

static void put_back(struct site *site)
{
    size_t size;
    size_t size_again;
    void const *const bytes = live_site_bytes(site->live, &size);
    struct live_site *restored;
    assert_int_equal(live_site_restore(site_ops, &restored, &site->config, bytes, size), TACIT_OK);
    assert_memory_equal(live_site_bytes(restored, &size_again), bytes, size);
    assert_int_equal(size_again, size);
    live_site_free(site->live);
    site->live = restored;
}

static enum tacit_status step(struct world *world, uint32_t index, struct live_site_event event)
{
    struct site *const site = &world->sites[index];
    struct tacit_entropy const entropy = tacit_rng_entropy(&site->noise);
    struct live_site_update update;
    event.now_us = ++world->now_us;
    enum tacit_status const status = live_site_step(site->live, &event, &entropy, &update);
    if (update.has_release) {
        assert_non_null(update.release.bytes);
        assert_true(update.release.number == site->release ||
                    update.release.number == site->release + 1);
        site->release = update.release.number;
    }
    if (update.acknowledged > 0)
        site->acknowledged = update.acknowledged;
    if (update.has_plan && update.plan_count > 0)
        memcpy(site->plan, update.plan, update.plan_count * sizeof *site->plan);
    if (update.has_plan)
        site->plan_count = update.plan_count;
    post(world, index, update.messages, update.message_count);
    put_back(site);
    return status;
}

static enum tacit_status hear(struct world *world, uint32_t index, const struct letter *letter)
{
    struct live_site_event event = {.kind = LIVE_SITE_RECEIVE};
    event.as.message.from = letter->from;
    event.as.message.is_broadcast = letter->to == TACIT_EVERYONE;
    event.as.message.kind = letter->kind;
    event.as.message.epoch = letter->epoch;
    event.as.message.bytes = letter->bytes;
    event.as.message.size = letter->size;
    return step(world, index, event);
}

/* One reward of its plan; false: there is none to give. */
static bool play(struct world *world, uint32_t index)
{
    struct site *const site = &world->sites[index];
    for (uint32_t i = 0; i < site->plan_count; i++) {
        struct live_site_event event = {.kind = LIVE_SITE_REWARD};
        if (site->plan[i].count == 0)
            continue;
        site->plan[i].count--;
        event.as.reward.arm = site->plan[i].arm;
        event.as.reward.value = means[site->plan[i].arm];
        assert_int_equal(step(world, index, event), TACIT_OK);
        return true;
    }
    return false;
}

/* ---- The hub --------------------------------------------------------------------------------- */

static enum tacit_status step_hub(struct world *world, struct live_hub_event event)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&world->chance);
    struct live_hub_update update;
    struct live_hub *restored;
    size_t size;
    event.now_us = ++world->now_us;
    enum tacit_status const status = live_hub_step(world->hub, &event, &entropy, &update);
    post(world, TACIT_HUB, update.messages, update.message_count);
    void const *const bytes = live_hub_bytes(world->hub, &size);
    assert_int_equal(live_hub_open(hub_ops, &restored, &world->config, bytes, size), TACIT_OK);
    live_hub_free(world->hub);
    world->hub = restored;
    return status;
}

static enum tacit_status tell_hub(struct world *world, const struct letter *letter)
{
    return step_hub(world, (struct live_hub_event){.kind = LIVE_HUB_RECEIVE,
                                                   .from = letter->from,
                                                   .message_kind = letter->kind,
                                                   .message_epoch = letter->epoch,
                                                   .bytes = letter->bytes,
                                                   .size = letter->size});
}

/* ---- A run ----------------------------------------------------------------------------------- */

static void join(struct world *world, uint32_t index)
{
    struct site *const site = &world->sites[index];
    char const *objection = NULL;
    size_t size;
    uint8_t *const bytes = live_hub_announce(hub_ops, &world->config, index, &size);
    assert_non_null(bytes);
    assert_int_equal(live_site_join(site_ops, &site->live, &site->config, bytes, size, &objection),
                     TACIT_OK);
    assert_null(objection);
    assert_true(live_site_is_of(site->live, bytes, size));
    free(bytes);
    (void)step(world, index, (struct live_site_event){.kind = LIVE_SITE_START});
}

static struct site site_of(uint32_t index)
{
    return (struct site){.config = {.federation = "trial",
                                    .site = names[index],
                                    .arm_names = arms,
                                    .arm_count = ARMS,
                                    .epsilon = 100,
                                    .budget = 100,
                                    .lo = 0,
                                    .hi = 1,
                                    .agents_max = SITES,
                                    .rounds_max = 40,
                                    .pulls_max = HORIZON,
                                    .resend_after_us = 2000000},
                         .noise = tacit_rng_stream(1, 0, index, TACIT_PURPOSE_NOISE)};
}

static struct world *world_new(void)
{
    struct world *const world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->config = (struct live_hub_config){.federation = "trial",
                                             .sites = names,
                                             .site_count = SITES,
                                             .arm_names = arms,
                                             .arm_count = ARMS,
                                             .run_id = 7,
                                             .horizon = HORIZON,
                                             .epsilon = 100,
                                             .lo = 0,
                                             .hi = 1,
                                             .quorum = SITES,
                                             .deadline_s = 60,
                                             .settings = family.settings};
    world->chance = tacit_rng_stream(1, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_GRAPH);
    assert_null(live_hub_too_large(hub_ops, &world->config));
    assert_int_equal(live_hub_open(hub_ops, &world->hub, &world->config, NULL, 0), TACIT_OK);
    for (uint32_t index = 0; index < SITES; index++) {
        world->sites[index] = site_of(index);
        join(world, index);
    }
    (void)step_hub(world, (struct live_hub_event){.kind = LIVE_HUB_START});
    return world;
}

static void world_free(struct world *world)
{
    for (uint32_t index = 0; index < SITES; index++)
        live_site_free(world->sites[index].live);
    for (size_t i = world->first; i < world->end; i++)
        free(world->queue[i].bytes);
    live_hub_free(world->hub);
    free(world);
}

static void deliver(struct world *world)
{
    struct letter const letter = world->queue[world->first++];
    if (letter.to == TACIT_HUB)
        assert_int_equal(tell_hub(world, &letter), TACIT_OK);
    for (uint32_t index = 0; index < SITES && letter.to != TACIT_HUB; index++)
        if (letter.to == TACIT_EVERYONE || letter.to == index)
            assert_int_equal(hear(world, index, &letter), TACIT_OK);
    free(letter.bytes);
}

/* Whatever is on its way arrives. */
static void deliver_all(struct world *world)
{
    while (world->first < world->end)
        deliver(world);
}

static bool is_decided(const struct world *world)
{
    struct live_site_view view;
    for (uint32_t index = 0; index < SITES; index++) {
        site_ops->look(world->sites[index].live, &view);
        if (!view.is_decided)
            return false;
    }
    return true;
}

static void run(struct world *world)
{
    bool is_moving = true;
    while (is_moving && !is_decided(world)) {
        is_moving = world->first < world->end;
        deliver_all(world);
        for (uint32_t index = 0; index < SITES && !is_decided(world); index++)
            is_moving = play(world, index) || is_moving;
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void a_run_through_bytes_ends_with_the_best_arm_everywhere(void **state)
{
    struct world *const world = world_new();
    struct live_hub_view hub;
    struct live_site_view view;
    uint32_t ranking[ARMS];
    (void)state;
    run(world);
    assert_true(is_decided(world));
    hub_ops->look(world->hub, &hub);
    assert_true(hub.judges && hub.is_finished);
    assert_int_equal(hub.active_count, 1);
    assert_true(tacit_bits_has(hub.active, 0));
    for (uint32_t index = 0; index < SITES; index++) {
        struct site const *const site = &world->sites[index];
        site_ops->look(site->live, &view);
        assert_int_equal(view.release_number, hub.round_count);
        assert_int_equal(site->release, hub.round_count); /* a row for every draw */
        assert_int_equal(site->acknowledged, hub.round_count);
        assert_true(view.spent_nano > 0);
        assert_int_equal(live_site_rank(site->live, &site->config, ranking), 1);
        assert_int_equal(ranking[0], 0);
    }
    world_free(world);
}

/* A letter in the name of another, one that is cut, one of another kind than its envelope says. */
static void what_does_not_fit_is_refused_and_changes_no_byte(void **state)
{
    struct world *const world = world_new();
    size_t size;
    (void)state;
    while (world->first < world->end && world->queue[world->first].to != TACIT_HUB)
        deliver(world); /* up to the first question to the hub */
    assert_true(world->first < world->end);
    struct letter letter = world->queue[world->first];
    void const *const bytes = live_hub_bytes(world->hub, &size);
    uint8_t *const before = malloc(size);
    assert_non_null(before);
    memcpy(before, bytes, size);
    letter.from = (letter.from + 1) % SITES;
    assert_int_equal(tell_hub(world, &letter), TACIT_STRANGER);
    letter.from = world->queue[world->first].from;
    letter.size--;
    assert_int_equal(tell_hub(world, &letter), TACIT_MALFORMED);
    letter.size++;
    letter.kind++;
    assert_int_not_equal(tell_hub(world, &letter), TACIT_OK);
    assert_memory_equal(live_hub_bytes(world->hub, &size), before, size);
    letter.kind--;
    assert_int_equal(tell_hub(world, &letter), TACIT_OK);
    free(before);
    world_free(world);
}

static void an_offer_is_not_for_a_family_with_a_plan(void **state)
{
    struct world *const world = world_new();
    static const double contexts[ARMS] = {1, 2, 3};
    struct live_site_event event = {.kind = LIVE_SITE_OFFER};
    (void)state;
    event.as.offer = (struct tacit_offer){ARMS, 1, contexts};
    assert_int_equal(step(world, 0, event), TACIT_UNEXPECTED);
    run(world);
    assert_true(is_decided(world));
    world_free(world);
}

/* Of this kind on its way from this site. */
static uint32_t count_letters(const struct world *world, uint32_t from, uint32_t kind)
{
    uint32_t count = 0;
    for (size_t i = world->first; i < world->end; i++)
        count += world->queue[i].from == from && world->queue[i].kind == kind ? 1 : 0;
    return count;
}

/* The first order is everywhere; site 0 has played all of its plan but `left` pulls. */
static struct world *world_with_plan_left(uint64_t left)
{
    struct world *const world = world_new();
    struct site *const site = &world->sites[0];
    deliver_all(world);
    for (;;) {
        uint64_t count = 0;
        for (uint32_t i = 0; i < site->plan_count; i++)
            count += site->plan[i].count;
        if (count <= left)
            break;
        assert_true(play(world, 0));
    }
    assert_true(site->plan_count > 0);
    return world;
}

/* The grant is not here: the draw is in the ledger, and nowhere else. */
static void what_waits_for_its_grant_is_used_nowhere(void **state)
{
    struct world *const world = world_with_plan_left(1);
    struct site *const site = &world->sites[0];
    struct live_site_view view;
    uint32_t before[ARMS];
    uint32_t ranking[ARMS];
    (void)state;
    uint32_t const count = live_site_rank(site->live, &site->config, before);
    assert_int_equal(site->release, 0);
    assert_true(play(world, 0));
    site_ops->look(site->live, &view);
    assert_true(view.is_committed && view.is_waiting && !view.is_blocked && view.trouble == NULL);
    assert_int_equal(view.draw_number, 1);
    assert_int_equal(view.release_number, 0);
    assert_int_equal(site->release, 1); /* its row is written */
    assert_true(view.spent_nano > 0);
    assert_int_equal(live_site_rank(site->live, &site->config, ranking), count);
    assert_memory_equal(ranking, before, sizeof ranking);
    assert_int_equal(count_letters(world, 0, family.commit), 1);
    assert_int_equal(count_letters(world, 0, family.report), 0);
    deliver(world);
    assert_int_equal(count_letters(world, 0, family.report), 0); /* the grant is on its way */
    deliver(world);
    assert_int_equal(count_letters(world, 0, family.report), 1);
    site_ops->look(site->live, &view);
    assert_true(!view.is_committed);
    assert_int_equal(view.release_number, 1);
    world_free(world);
}

/* The last pull of the plan was played before, too, and its draw granted to the other state. */
static void a_copy_is_refused_says_so_and_is_flagged(void **state)
{
    struct world *const world = world_with_plan_left(1);
    struct site *const site = &world->sites[0];
    struct site const copied = *site; /* the plan, above all */
    struct live_hub_view hub;
    struct live_site_view view;
    size_t size;
    (void)state;
    void const *const bytes = live_site_bytes(site->live, &size);
    struct live_site *old;
    assert_int_equal(live_site_restore(site_ops, &old, &site->config, bytes, size), TACIT_OK);
    assert_true(play(world, 0));
    deliver_all(world);
    site_ops->look(site->live, &view);
    assert_int_equal(view.release_number, 1);
    live_site_free(site->live);
    memcpy(site->plan, copied.plan, sizeof site->plan);
    site->plan_count = copied.plan_count;
    site->live = old; /* with other noise, from here on in its stream */
    site->release = 0;
    assert_true(play(world, 0));
    assert_int_equal(count_letters(world, 0, family.commit), 1);
    struct letter const commit = world->queue[world->first++];
    assert_int_equal(tell_hub(world, &commit), TACIT_FORKED);
    free(commit.bytes);
    hub_ops->look(world->hub, &hub);
    assert_true(tacit_bits_has(hub.flagged, 0) && !tacit_bits_has(hub.flagged, 1));
    deliver_all(world);
    site_ops->look(site->live, &view);
    assert_true(view.is_blocked && view.trouble != NULL);
    assert_non_null(strstr(view.trouble, "coordinator"));
    assert_int_equal(view.release_number, 0);
    assert_int_equal(count_letters(world, 0, family.report), 0);
    hub_ops->look(world->hub, &hub);
    assert_int_equal(hub.report_count, 1); /* the first one's */
    world_free(world);
}

static void a_policy_is_not_overruled_by_an_announcement(void **state)
{
    struct world *const world = world_new();
    struct live_site_config strict = world->sites[0].config;
    struct live_site *joined = NULL;
    char const *objection = NULL;
    size_t size;
    uint8_t *const bytes = live_hub_announce(hub_ops, &world->config, 0, &size);
    (void)state;
    assert_non_null(bytes);
    strict.epsilon = 1; /* the run reckons with 100 */
    assert_int_equal(live_site_join(site_ops, &joined, &strict, bytes, size, &objection),
                     TACIT_REFUSED);
    assert_non_null(strstr(objection, "policy.epsilon"));
    assert_null(joined);
    assert_int_equal(live_site_join(site_ops, &joined, &strict, bytes, size / 2, &objection),
                     TACIT_MALFORMED);
    free(bytes);
    world_free(world);
}

static int choose(const struct family *chosen)
{
    family = *chosen;
    site_ops = family.site_ops;
    hub_ops = family.hub_ops;
    return 0;
}

static struct elim_hub_settings elim_settings;

static int choose_elim_by(struct elim_hub_settings settings)
{
    elim_settings = settings;
    return choose(&(struct family){&elim_site_ops, &elim_hub_ops, &elim_settings,
                                   tacit_wire_elim_kind(TACIT_ELIM_COMMIT),
                                   tacit_wire_elim_kind(TACIT_ELIM_REPORT)});
}

static int choose_elim(void **state)
{
    (void)state;
    return choose_elim_by(elim_hub_settings_make(1, SITES, 4, 0.1));
}

static int choose_exact_elimination(void **state)
{
    struct elim_hub_settings exact = elim_hub_settings_make(1, SITES, 0, 0);
    (void)state;
    exact.growth = 2;
    exact.confidence = 0.95;
    return choose_elim_by(exact);
}

/* With a confidence it decides, as elimination does. */
static struct phased_hub_settings phased_settings = {.schedule = {.arm_count = ARMS,
                                                                  .agent_count = SITES,
                                                                  .horizon = HORIZON,
                                                                  .epsilon_per_reward = 100,
                                                                  .growth = 2,
                                                                  .arms_per_round = 3,
                                                                  .confidence = 0.95}};

static int choose_index(void **state)
{
    (void)state;
    return choose(&(struct family){&phased_site_ops, &phased_hub_ops, &phased_settings,
                                   tacit_wire_phased_kind(TACIT_PHASED_COMMIT),
                                   tacit_wire_phased_kind(TACIT_PHASED_REPORT)});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_through_bytes_ends_with_the_best_arm_everywhere),
        cmocka_unit_test(what_does_not_fit_is_refused_and_changes_no_byte),
        cmocka_unit_test(an_offer_is_not_for_a_family_with_a_plan),
        cmocka_unit_test(what_waits_for_its_grant_is_used_nowhere),
        cmocka_unit_test(a_copy_is_refused_says_so_and_is_flagged),
        cmocka_unit_test(a_policy_is_not_overruled_by_an_announcement),
    };
    return cmocka_run_group_tests_name("live/seam: elimination", tests, choose_elim, NULL) +
           cmocka_run_group_tests_name("live/seam: phased index", tests, choose_index, NULL) +
           cmocka_run_group_tests_name("live/seam: elimination with exact bounds", tests,
                                       choose_exact_elimination, NULL);
}
