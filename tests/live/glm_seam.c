/* The seam between the daemons and generalised linear bandits: sites and hub driven through
 * live_site_ops and live_hub_ops alone, as bytes, and put back from their bytes after every step.
 * On the same contexts and rewards they choose as the cores within one process do, and end with the
 * same model, to the bit. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../src/families/glm/live.h"
#include "../support/glm_driver.h"
#include "tacit/random.h"

#define SITES 3u
#define ARMS 3u
#define D 3u
#define HORIZON 200u
#define LETTERS_MAX 256u

static const char *const names[SITES] = {"north", "east", "south"};
static const char *const arms[ARMS] = {"low", "middle", "high"};
static const char *const features[D] = {"constant", "age", "dose"};
static struct glm_policy const policy = {features, D};

struct letter {
    uint32_t from;
    struct live_message message; /* its bytes are its own */
};

struct site {
    struct live_site_config config;
    struct live_site *live;
    uint8_t kept[1024];
    size_t kept_size;
    uint32_t choice;
};

struct world {
    struct glm_hub_settings settings;
    struct live_hub_config config;
    struct live_hub *hub;
    struct site sites[SITES];
    struct tacit_rng chance;
    struct letter queue[LETTERS_MAX];
    size_t first;
    size_t end;
    uint64_t now_us;
    char note[512]; /* what the hub said last */
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

/* ---- Sites and hub --------------------------------------------------------------------------- */

static void put_back(struct site *site)
{
    size_t size;
    size_t size_again;
    void const *const bytes = live_site_bytes(site->live, &size);
    struct live_site *restored;
    assert_int_equal(live_site_restore(&glm_site_ops, &restored, &site->config, bytes, size),
                     TACIT_OK);
    assert_memory_equal(live_site_bytes(restored, &size_again), bytes, size);
    assert_int_equal(size_again, size);
    live_site_free(site->live);
    site->live = restored;
}

static enum tacit_status step(struct world *world, uint32_t index, struct live_site_event event)
{
    struct site *const site = &world->sites[index];
    struct tacit_entropy const entropy = tacit_rng_entropy(&world->chance);
    struct live_site_update update;
    event.now_us = ++world->now_us;
    enum tacit_status const status = live_site_step(site->live, &event, &entropy, &update);
    assert_false(update.has_release || update.has_plan);
    if (update.has_choice) {
        assert_true(update.kept_size <= sizeof site->kept);
        memcpy(site->kept, update.kept, update.kept_size);
        site->kept_size = update.kept_size;
        site->choice = update.choice;
    }
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

static enum tacit_status step_hub(struct world *world, struct live_hub_event event)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&world->chance);
    struct live_hub_update update;
    struct live_hub *restored;
    size_t size;
    event.now_us = ++world->now_us;
    enum tacit_status const status = live_hub_step(world->hub, &event, &entropy, &update);
    if (update.note != NULL)
        (void)snprintf(world->note, sizeof world->note, "%s", update.note);
    post(world, TACIT_HUB, update.messages, update.message_count);
    void const *const bytes = live_hub_bytes(world->hub, &size);
    assert_int_equal(live_hub_open(&glm_hub_ops, &restored, &world->config, bytes, size), TACIT_OK);
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

static void join(struct world *world, uint32_t index)
{
    struct site *const site = &world->sites[index];
    char const *objection = NULL;
    size_t size;
    uint8_t *const bytes = live_hub_announce(&glm_hub_ops, &world->config, index, &size);
    assert_non_null(bytes);
    site->config = (struct live_site_config){.federation = "trial",
                                             .site = names[index],
                                             .arm_names = arms,
                                             .arm_count = ARMS,
                                             .lo = 0,
                                             .hi = 1,
                                             .agents_max = SITES,
                                             .rounds_max = 10000,
                                             .pulls_max = 1000000,
                                             .resend_after_us = 2000000,
                                             .settings = &policy};
    assert_int_equal(
        live_site_join(&glm_site_ops, &site->live, &site->config, bytes, size, &objection),
        TACIT_OK);
    assert_true(live_site_is_of(site->live, bytes, size));
    free(bytes);
    assert_int_equal(step(world, index, (struct live_site_event){.kind = LIVE_SITE_START}),
                     TACIT_OK);
}

/* quorum 0: all; deadline_s 0: none. */
static struct world *world_new(uint32_t quorum, uint32_t deadline_s)
{
    struct world *const world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->settings.model =
        tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, SITES, D, HORIZON);
    world->settings.model.clock = TACIT_GLM_COUNTS;
    world->settings.model.threshold = 0.6;
    world->settings.features = features;
    world->config = (struct live_hub_config){.federation = "trial",
                                             .sites = names,
                                             .site_count = SITES,
                                             .arm_names = arms,
                                             .arm_count = ARMS,
                                             .run_id = 7,
                                             .horizon = HORIZON,
                                             .lo = 0,
                                             .hi = 1,
                                             .quorum = quorum,
                                             .deadline_s = deadline_s,
                                             .settings = &world->settings};
    world->chance = tacit_rng_stream(1, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_REWARD);
    assert_null(live_hub_too_large(&glm_hub_ops, &world->config));
    assert_int_equal(live_hub_open(&glm_hub_ops, &world->hub, &world->config, NULL, 0), TACIT_OK);
    for (uint32_t index = 0; index < SITES; index++)
        join(world, index);
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

#define EVERYBODY ((1u << SITES) - 1u)

/* The next letter; of the sites only those of the set `there` get it. */
static void deliver_to(struct world *world, uint32_t there)
{
    struct letter const letter = world->queue[world->first++];
    uint32_t const to = letter.message.to;
    if (to == TACIT_HUB)
        assert_int_equal(tell_hub(world, &letter), TACIT_OK);
    for (uint32_t index = 0; index < SITES && to != TACIT_HUB; index++)
        if ((there >> index & 1u) != 0 && (to == TACIT_EVERYONE || to == index))
            assert_int_equal(hear(world, index, &letter), TACIT_OK);
    free((void *)(uintptr_t)letter.message.bytes);
    if (world->first == world->end)
        world->first = world->end = 0;
}

static void deliver(struct world *world)
{
    deliver_to(world, EVERYBODY);
}

static void deliver_all(struct world *world, uint32_t there)
{
    while (world->first < world->end)
        deliver_to(world, there);
}

static void draw_contexts(struct tacit_rng *rng, double *contexts)
{
    for (uint32_t k = 0; k < ARMS; k++) {
        double square = 0;
        for (uint32_t c = 0; c < D; c++) {
            contexts[k * D + c] = tacit_rng_normal(rng);
            square += contexts[k * D + c] * contexts[k * D + c];
        }
        for (uint32_t c = 0; c < D; c++)
            contexts[k * D + c] *= 0.999 / sqrt(square);
    }
}

/* A decision and its reward at one site; returns the arm. */
static uint32_t play(struct world *world, uint32_t index, const double *contexts, double reward)
{
    struct site *const site = &world->sites[index];
    struct live_choice choice;
    struct live_site_event event = {.kind = LIVE_SITE_OFFER};
    event.as.offer = (struct tacit_offer){ARMS, D, contexts};
    assert_int_equal(step(world, index, event), TACIT_OK);
    assert_true(glm_site_ops.tell(site->kept, site->kept_size, &choice));
    assert_true(choice.probability == 1);
    event = (struct live_site_event){.kind = LIVE_SITE_REWARD};
    event.as.reward.arm = site->choice;
    event.as.reward.value = reward;
    event.as.reward.kept = site->kept;
    event.as.reward.kept_size = site->kept_size;
    assert_int_equal(step(world, index, event), TACIT_OK);
    return site->choice;
}

/* Until site 0 asks for an update. */
static void play_to_trigger(struct world *world, struct tacit_rng *rng)
{
    while (world->first == world->end) {
        double contexts[ARMS * D];
        draw_contexts(rng, contexts);
        (void)play(world, 0, contexts, 1);
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void run_through_bytes_is_that_of_the_cores(void **state)
{
    (void)state;
    struct world *const world = world_new(0, 0);
    struct glm_driver driver;
    struct tacit_glm_model model = world->settings.model;
    model.run_id = 7;
    glm_driver_open(&driver, &model, TACIT_LINALG_PORTABLE);
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_REWARD);
    for (uint32_t slot = 1; slot <= 40; slot++)
        for (uint32_t index = 0; index < SITES; index++) {
            double contexts[ARMS * D];
            draw_contexts(&rng, contexts);
            double const reward = tacit_rng_uniform(&rng) < 0.5 ? 1 : 0;
            uint32_t const arm = play(world, index, contexts, reward);
            assert_int_equal(glm_driver_decide(&driver, index, ARMS, contexts), arm);
            glm_driver_reward(&driver, index, slot, contexts + arm * D, reward);
            deliver_all(world, EVERYBODY);
        }
    struct live_hub_view hub;
    struct tacit_glm_hub_view cores;
    glm_hub_ops.look(world->hub, &hub);
    tacit_glm_hub_look(driver.hub, &cores);
    assert_true(cores.update_count >= 3);
    assert_int_equal(hub.model->number, cores.sync);
    assert_int_equal(hub.model->observation_count, cores.model_count);
    assert_memory_equal(hub.model->coefficients, cores.theta, D * sizeof(double));
    for (uint32_t index = 0; index < SITES; index++) {
        struct live_site_view view;
        struct tacit_glm_client_view client;
        glm_site_ops.look(world->sites[index].live, &view);
        tacit_glm_client_look(driver.clients[index], &client);
        assert_int_equal(view.pull_count, 40);
        assert_int_equal(view.model->number, client.sync);
        assert_memory_equal(view.model->coefficients, client.estimate, D * sizeof(double));
        assert_memory_equal(view.model->inverse, client.inverse,
                            TACIT_LINALG_MATRIX(D) * sizeof(double));
    }
    glm_driver_close(&driver);
    world_free(world);
}

/* What is refused changes neither a site nor the hub, byte for byte. */
static void letters_that_are_not_what_they_say_are_refused(void **state)
{
    (void)state;
    struct world *const world = world_new(0, 0);
    struct tacit_rng rng = tacit_rng_stream(4, 0, 0, TACIT_PURPOSE_REWARD);
    play_to_trigger(world, &rng);
    struct letter const good = world->queue[world->first];
    struct letter bad[4] = {good, good, good, good};
    size_t size;
    void *const before = malloc(tacit_glm_hub_size(
        &(struct tacit_glm_hub_config){.model = world->settings.model, .resend_after_us = 1}));
    void const *const bytes = live_hub_bytes(world->hub, &size);
    assert_int_equal(good.message.to, TACIT_HUB);
    assert_non_null(before);
    memcpy(before, bytes, size);
    bad[0].from = 1;
    bad[1].message.kind++;
    bad[2].message.epoch++;
    bad[3].message.size--;
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(tell_hub(world, &bad[i]), i == 0 ? TACIT_STRANGER : TACIT_MALFORMED);
        size_t size_now;
        assert_memory_equal(live_hub_bytes(world->hub, &size_now), before, size);
    }
    assert_int_not_equal(hear(world, 1, &good), TACIT_OK); /* no word for a site */
    deliver(world);
    assert_int_equal(world->queue[world->first].message.to, TACIT_EVERYONE);
    free(before);
    world_free(world);
}

/* Twice the run of site 0, the second time with unchosen contexts that are others: not a byte of
 * its state, of what it keeps or of what it says differs. An offer alone changes nothing. */
static void contexts_that_were_not_chosen_leave_no_trace(void **state)
{
    (void)state;
    struct world *const a = world_new(0, 0);
    struct world *const b = world_new(0, 0);
    struct tacit_rng rng = tacit_rng_stream(7, 0, 0, TACIT_PURPOSE_REWARD);
    uint32_t differing = 0;
    for (uint32_t slot = 0; slot < 40; slot++) {
        double contexts[ARMS * D];
        double others[ARMS * D];
        draw_contexts(&rng, contexts);
        uint32_t const arm = play(a, 0, contexts, slot % 2);
        for (uint32_t i = 0; i < ARMS * D; i++)
            others[i] = contexts[i / D == arm ? i : arm * D + i % D] * (i / D == arm ? 1 : 0.5);
        differing += memcmp(contexts, others, sizeof others) != 0;
        assert_int_equal(play(b, 0, others, slot % 2), arm); /* half of it promises less */
        assert_int_equal(a->sites[0].kept_size, b->sites[0].kept_size);
        assert_memory_equal(a->sites[0].kept, b->sites[0].kept, a->sites[0].kept_size);
        assert_int_equal(a->end - a->first, b->end - b->first);
        while (a->first < a->end) {
            struct live_message const *const said = &a->queue[a->first].message;
            assert_int_equal(b->queue[b->first].message.size, said->size);
            assert_memory_equal(b->queue[b->first].message.bytes, said->bytes, said->size);
            deliver(a);
            deliver(b);
        }
        size_t size;
        size_t size_again;
        void const *const bytes = live_site_bytes(a->sites[0].live, &size);
        assert_memory_equal(live_site_bytes(b->sites[0].live, &size_again), bytes, size);
        assert_int_equal(size_again, size);
    }
    struct live_hub_view view;
    glm_hub_ops.look(a->hub, &view);
    assert_true(view.epoch >= 2);
    assert_int_equal(differing, 40);
    world_free(a);
    world_free(b);
}

/* A decision alone does not change what later ones are made from: A grows with the reward. */
static void matrices_grow_when_the_reward_comes(void **state)
{
    (void)state;
    struct world *const world = world_new(0, 0);
    struct site *const site = &world->sites[0];
    struct tacit_rng rng = tacit_rng_stream(8, 0, 0, TACIT_PURPOSE_REWARD);
    double contexts[ARMS * D];
    double before[TACIT_LINALG_MATRIX(D)];
    struct live_site_view view;
    draw_contexts(&rng, contexts);
    glm_site_ops.look(site->live, &view);
    memcpy(before, view.model->inverse, sizeof before);
    struct live_site_event event = {.kind = LIVE_SITE_OFFER};
    event.as.offer = (struct tacit_offer){ARMS, D, contexts};
    assert_int_equal(step(world, 0, event), TACIT_OK);
    glm_site_ops.look(site->live, &view);
    assert_memory_equal(view.model->inverse, before, sizeof before);
    event = (struct live_site_event){.kind = LIVE_SITE_REWARD};
    event.as.reward.arm = site->choice;
    event.as.reward.value = 1;
    event.as.reward.kept = site->kept;
    event.as.reward.kept_size = site->kept_size;
    assert_int_equal(step(world, 0, event), TACIT_OK);
    glm_site_ops.look(site->live, &view);
    assert_memory_not_equal(view.model->inverse, before, sizeof before);
    world_free(world);
}

static struct live_hub_view second_later(struct world *world)
{
    struct live_hub_view view;
    world->now_us += 1000000;
    assert_int_equal(step_hub(world, (struct live_hub_event){.kind = LIVE_HUB_TIMEOUT}), TACIT_OK);
    glm_hub_ops.look(world->hub, &view);
    return view;
}

static void silent_sites_are_named_where_an_update_is_abandoned_or_goes_on(void **state)
{
    (void)state;
    struct world *const world = world_new(2, 1);
    struct tacit_rng rng = tacit_rng_stream(5, 0, 0, TACIT_PURPOSE_REWARD);
    play_to_trigger(world, &rng);
    deliver_all(world, 1); /* the other two are away */
    struct live_hub_view view = second_later(world);
    assert_string_equal(world->note,
                        "an update was abandoned below the quorum; silent: east, south; the next "
                        "one begins in 1 s");
    assert_true(view.is_overdue);
    assert_int_equal(view.report_count, 1);
    assert_int_equal(view.missing_count, 2);
    assert_int_equal(view.asked[0], 7);
    assert_int_equal(view.received[0], 1);
    view = second_later(world); /* the next one */
    assert_false(view.is_overdue);
    assert_int_equal(view.missing_count, 3);
    deliver_all(world, 3);
    view = second_later(world);
    assert_string_equal(world->note, "an update goes on without those who are silent: south");
    assert_int_equal(view.asked[0], 3);
    deliver_all(world, EVERYBODY);
    glm_hub_ops.look(world->hub, &view);
    assert_int_equal(view.epoch, 2);
    assert_int_equal(view.missing_count, 0);
    assert_int_equal(memcmp(world->note, "update 2: ", 10), 0);
    world_free(world);
}

/* The site that asked for it is away, and a quorum of others has nothing yet. */
static void an_update_without_a_reward_is_abandoned_and_says_so(void **state)
{
    (void)state;
    struct world *const world = world_new(2, 1);
    struct tacit_rng rng = tacit_rng_stream(7, 0, 0, TACIT_PURPOSE_REWARD);
    play_to_trigger(world, &rng);
    deliver_all(world, 6);
    struct live_hub_view view = second_later(world);
    assert_string_equal(world->note,
                        "an update was abandoned, for nobody who answered has a reward; silent: "
                        "north; the next one begins in 1 s");
    view = second_later(world);
    deliver_all(world, EVERYBODY);
    glm_hub_ops.look(world->hub, &view);
    assert_int_equal(view.epoch, 2);
    world_free(world);
}

static void of_many_silent_sites_the_rest_is_counted(void **state)
{
    (void)state;
    char long_name[500];
    struct world *const world = world_new(2, 1);
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    const char *const many[SITES] = {"north", "east", long_name};
    world->config.sites = many;
    struct tacit_rng rng = tacit_rng_stream(6, 0, 0, TACIT_PURPOSE_REWARD);
    play_to_trigger(world, &rng);
    deliver_all(world, 1);
    (void)second_later(world);
    assert_string_equal(world->note,
                        "an update was abandoned below the quorum; silent: east, 1 more; the next "
                        "one begins in 1 s");
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_through_bytes_is_that_of_the_cores),
        cmocka_unit_test(letters_that_are_not_what_they_say_are_refused),
        cmocka_unit_test(contexts_that_were_not_chosen_leave_no_trace),
        cmocka_unit_test(matrices_grow_when_the_reward_comes),
        cmocka_unit_test(silent_sites_are_named_where_an_update_is_abandoned_or_goes_on),
        cmocka_unit_test(an_update_without_a_reward_is_abandoned_and_says_so),
        cmocka_unit_test(of_many_silent_sites_the_rest_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
