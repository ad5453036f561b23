/* The seam between the daemons and generalised linear bandits: sites and hub driven through
 * live_site_ops and live_hub_ops alone, as bytes, and put back from their bytes after every step.
 * On the same contexts and rewards they choose as the cores within one process do, and end with the
 * same model, to the bit. */
#include <math.h>
#include "../support/testing.h"
#include "../../src/families/glm/live.h"
#include "../support/glm_driver.h"
#include "../support/live_world.h"

#define D 3u
#define HORIZON 200u

static const char *const features[D] = {"constant", "age", "dose"};
static struct glm_policy const policy = {.features = features, .dimension = D};

/* quorum 0: all; deadline_s 0: none. */
static struct world *glm_world(uint32_t quorum, uint32_t deadline_s)
{
    static struct glm_hub_settings settings;
    settings.model =
        tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, WORLD_SITES, D, HORIZON);
    settings.model.clock = TACIT_GLM_COUNTS;
    settings.model.threshold = 0.6;
    settings.features = features;
    struct world_family const family = {.site_ops = &glm_site_ops,
                                        .hub_ops = &glm_hub_ops,
                                        .site = {.rounds_max = 10000,
                                                 .pulls_max = 1000000,
                                                 .resend_after_us = 2000000,
                                                 .settings = &policy},
                                        .hub = {.horizon = HORIZON,
                                                .quorum = quorum,
                                                .deadline_s = deadline_s,
                                                .settings = &settings},
                                        .step_us = 1};
    return world_new(&family, 1);
}

static const struct tacit_glm_model *model_of(const struct world *world)
{
    return &((const struct glm_hub_settings *)world->family.hub.settings)->model;
}

static void draw_contexts(struct tacit_rng *rng, double *contexts)
{
    for (uint32_t k = 0; k < WORLD_ARMS; k++) {
        double square = 0;
        for (uint32_t c = 0; c < D; c++) {
            contexts[k * D + c] = tacit_rng_normal(rng);
            square += contexts[k * D + c] * contexts[k * D + c];
        }
        for (uint32_t c = 0; c < D; c++)
            contexts[k * D + c] *= 0.999 / sqrt(square);
    }
}

/* A decision, which alone changes nothing, and its reward at one site; returns the arm. */
static uint32_t play(struct world *world, uint32_t index, const double *contexts, double reward)
{
    struct site *const site = &world->sites[index];
    struct live_choice choice;
    struct live_site_event event = {.kind = LIVE_SITE_OFFER};
    event.as.offer = (struct tacit_offer){WORLD_ARMS, D, contexts};
    struct live_site_view view = world_look(world, index);
    double inverse[TACIT_LINALG_MATRIX(D)];
    memcpy(inverse, view.model->inverse, sizeof inverse);
    assert_int_equal(world_step(world, index, event), TACIT_OK);
    view = world_look(world, index);
    assert_memory_equal(view.model->inverse, inverse, sizeof inverse);
    assert_true(glm_site_ops.parse_kept(site->kept, site->kept_size, &choice));
    assert_true(choice.probability == 1);
    event = (struct live_site_event){.kind = LIVE_SITE_REWARD};
    event.as.reward.arm = site->choice;
    event.as.reward.value = reward;
    event.as.reward.kept = site->kept;
    event.as.reward.kept_size = site->kept_size;
    assert_int_equal(world_step(world, index, event), TACIT_OK);
    view = world_look(world, index);
    assert_memory_not_equal(view.model->inverse, inverse, sizeof inverse);
    return site->choice;
}

/* Until site 0 asks for an update. */
static void play_to_trigger(struct world *world, struct tacit_rng *rng)
{
    while (world->first == world->end) {
        double contexts[WORLD_ARMS * D];
        draw_contexts(rng, contexts);
        (void)play(world, 0, contexts, 1);
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST(run_through_bytes_is_that_of_the_cores)
{
    struct world *const world = glm_world(0, 0);
    struct glm_driver driver;
    struct tacit_glm_model model = *model_of(world);
    model.run_id = 7;
    glm_driver_open(&driver, &model, TACIT_LINALG_PORTABLE);
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_REWARD);
    for (uint32_t slot = 1; slot <= 40; slot++)
        for (uint32_t index = 0; index < WORLD_SITES; index++) {
            double contexts[WORLD_ARMS * D];
            draw_contexts(&rng, contexts);
            double const reward = tacit_rng_uniform(&rng) < 0.5 ? 1 : 0;
            uint32_t const arm = play(world, index, contexts, reward);
            assert_int_equal(glm_driver_decide(&driver, index, WORLD_ARMS, contexts), arm);
            glm_driver_reward(&driver, index, slot, contexts + arm * D, reward);
            world_deliver_all_to(world, WORLD_ALL);
        }
    struct tacit_glm_hub_view cores;
    struct live_hub_view const hub = world_look_hub(world);
    tacit_glm_hub_view(driver.hub, &cores);
    assert_true(cores.update_count >= 3);
    assert_int_equal(hub.model->number, cores.sync);
    assert_int_equal(hub.model->observation_count, cores.model_count);
    assert_memory_equal(hub.model->coefficients, cores.theta, D * sizeof(double));
    for (uint32_t index = 0; index < WORLD_SITES; index++) {
        struct tacit_glm_client_view client;
        struct live_site_view const view = world_look(world, index);
        tacit_glm_client_view(driver.clients[index], &client);
        assert_int_equal(view.pull_count, 40);
        assert_true(world->sites[index].release == 0 && world->sites[index].plan_count == 0);
        assert_int_equal(view.model->number, client.sync);
        assert_memory_equal(view.model->coefficients, client.estimate, D * sizeof(double));
        assert_memory_equal(view.model->inverse, client.inverse,
                            TACIT_LINALG_MATRIX(D) * sizeof(double));
    }
    world_free(world);
}

TEST(envelopes_that_are_not_what_they_say_are_refused)
{
    struct world *const world = glm_world(0, 0);
    struct tacit_rng rng = tacit_rng_stream(4, 0, 0, TACIT_PURPOSE_REWARD);
    play_to_trigger(world, &rng);
    struct envelope const good = world->queue[world->first];
    assert_int_not_equal(world_hear(world, 1, &good), TACIT_OK); /* no word for a site */
    world_expect_refusals(world);
    assert_int_equal(world->queue[world->first].message.to, TACIT_EVERYONE);
    world_free(world);
}

/* Twice the run of site 0, the second time with unchosen contexts that are others: not a byte of
 * its state, of what it keeps or of what it says differs. An offer alone changes nothing. */
TEST(contexts_that_were_not_chosen_leave_no_trace)
{
    struct world *const a = glm_world(0, 0);
    struct world *const b = glm_world(0, 0);
    struct tacit_rng rng = tacit_rng_stream(7, 0, 0, TACIT_PURPOSE_REWARD);
    uint32_t differing = 0;
    for (uint32_t slot = 0; slot < 40; slot++) {
        double contexts[WORLD_ARMS * D];
        double others[WORLD_ARMS * D];
        draw_contexts(&rng, contexts);
        uint32_t const arm = play(a, 0, contexts, slot % 2);
        for (uint32_t i = 0; i < WORLD_ARMS * D; i++)
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
            world_deliver_to(a, WORLD_ALL);
            world_deliver_to(b, WORLD_ALL);
        }
        size_t size;
        size_t size_again;
        void const *const bytes = live_site_bytes(a->sites[0].live, &size);
        assert_memory_equal(live_site_bytes(b->sites[0].live, &size_again), bytes, size);
        assert_int_equal(size_again, size);
    }
    struct live_hub_view const view = world_look_hub(a);
    assert_true(view.epoch >= 2);
    assert_int_equal(differing, 40);
    world_free(a);
    world_free(b);
}

static struct live_hub_view second_later(struct world *world)
{
    struct live_hub_view view;
    world->now_us += 1000000;
    assert_int_equal(world_step_hub(world, (struct live_hub_event){.kind = LIVE_HUB_TIMEOUT}),
                     TACIT_OK);
    view = world_look_hub(world);
    return view;
}

TEST(silent_sites_are_named_where_an_update_is_abandoned_or_goes_on)
{
    struct world *const world = glm_world(2, 1);
    struct tacit_rng rng = tacit_rng_stream(5, 0, 0, TACIT_PURPOSE_REWARD);
    play_to_trigger(world, &rng);
    world_deliver_all_to(world, 1); /* the other two are away */
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
    world_deliver_all_to(world, 3);
    view = second_later(world);
    assert_string_equal(world->note, "an update goes on without those who are silent: south");
    assert_int_equal(view.asked[0], 3);
    world_deliver_all_to(world, WORLD_ALL);
    view = world_look_hub(world);
    assert_int_equal(view.epoch, 2);
    assert_int_equal(view.missing_count, 0);
    assert_int_equal(memcmp(world->note, "update 2: ", 10), 0);
    world_free(world);
}

/* The site that asked for it is away, and a quorum of others has nothing yet. */
TEST(an_update_without_a_reward_is_abandoned_and_says_so)
{
    struct world *const world = glm_world(2, 1);
    struct tacit_rng rng = tacit_rng_stream(7, 0, 0, TACIT_PURPOSE_REWARD);
    play_to_trigger(world, &rng);
    world_deliver_all_to(world, 6);
    struct live_hub_view view = second_later(world);
    assert_string_equal(world->note,
                        "an update was abandoned, for nobody who answered has a reward; silent: "
                        "north; the next one begins in 1 s");
    view = second_later(world);
    world_deliver_all_to(world, WORLD_ALL);
    view = world_look_hub(world);
    assert_int_equal(view.epoch, 2);
    world_free(world);
}

TEST(of_many_silent_sites_the_rest_is_counted)
{
    char long_name[500];
    struct world *const world = glm_world(2, 1);
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    const char *const many[WORLD_SITES] = {"north", "east", long_name};
    world->family.hub.sites = many;
    struct tacit_rng rng = tacit_rng_stream(6, 0, 0, TACIT_PURPOSE_REWARD);
    play_to_trigger(world, &rng);
    world_deliver_all_to(world, 1);
    (void)second_later(world);
    assert_string_equal(world->note,
                        "an update was abandoned below the quorum; silent: east, 1 more; the next "
                        "one begins in 1 s");
    world_free(world);
}
