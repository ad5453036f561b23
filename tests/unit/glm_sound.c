/* The private linear bandit with flat releases: on the same interactions and the same entropy it is
 * the simulator's to the bit; what is no configuration. All else is the storm's (tests/round). */
#include "../support/testing.h"
#include <math.h>
#include "tacit/glm_sound.h"

#define D 3u
#define S ((uint32_t)TACIT_GLM_PRIVATE_SUMS(D))
#define SITES 3u
#define BATCHES 4u
#define BATCH 5u

static struct tacit_glm_private_model some_model(enum tacit_linalg_link link)
{
    return (struct tacit_glm_private_model){.run_id = 7,
                                            .link = link,
                                            .exploration = TACIT_GLM_THEORY,
                                            .client_count = SITES,
                                            .dimension = D,
                                            .batch_count = BATCHES,
                                            .epsilon = 1,
                                            .delta = 1e-6,
                                            .failure = 0.05,
                                            .norm_bound = 1,
                                            .noise_bound = 0.5};
}

static struct tacit_glm_sound_site_config site_config(const struct tacit_glm_private_model *model,
                                                      uint32_t site)
{
    return (struct tacit_glm_sound_site_config){.model = *model,
                                                .epsilon = model->epsilon,
                                                .delta = model->delta,
                                                .horizon = BATCHES * BATCH + 1,
                                                .cost_nano = TACIT_NANO,
                                                .budget_nano = TACIT_NANO,
                                                .resend_after_us = 1000,
                                                .site_id = site};
}

static struct tacit_glm_sound_site *site_new(const struct tacit_glm_sound_site_config *config)
{
    struct tacit_glm_sound_site *const site = malloc(tacit_glm_sound_site_size(config));
    assert_int_equal(tacit_glm_sound_site_init(site, config), TACIT_OK);
    return site;
}

static struct tacit_glm_sound_site_view view_of(const struct tacit_glm_sound_site *site)
{
    struct tacit_glm_sound_site_view view;
    tacit_glm_sound_site_view(site, &view);
    return view;
}

static struct tacit_rng stream(uint32_t who)
{
    return tacit_rng_stream(43, who, 0, TACIT_PURPOSE_OF_FAMILY(4, 201));
}

static void draw_context(struct tacit_rng *rng, double x[D])
{
    for (uint32_t i = 0; i < D; i++)
        x[i] = tacit_rng_normal(rng);
}

/* ---- A federation beside that of the simulator ---- */

struct pair {
    struct tacit_glm_private_rule rule;
    struct tacit_glm_sound_hub *hub;
    struct tacit_glm_sound_site *sites[SITES];
    struct tacit_glm_private_client *clients[SITES];
    struct tacit_rng noise[2][SITES]; /* alike */
    /* Two aggregators, who are clients of the simulator's without data. */
    bool has_helper;
    struct tacit_helper_run run;
    struct tacit_helper_keys keys;
    struct tacit_aggregators aggregators;
    struct tacit_glm_private_client *owners[2];
    struct tacit_rng owners_noise[2][2]; /* alike */
    uint64_t totals[S];
};

/* Anybody can open it. */
static bool seal(void *context, const uint8_t *ephemeral, const uint8_t *scope, size_t size,
                 const uint8_t *seed, uint8_t *envelope)
{
    (void)context, (void)ephemeral, (void)scope, (void)size;
    memset(envelope, 0, TACIT_HELPER_ENVELOPE_BYTES);
    memcpy(envelope, seed, TACIT_HELPER_SEED_BYTES);
    return true;
}

static void open_owners(struct pair *pair, const struct tacit_glm_private_model *model)
{
    struct tacit_glm_private_model two = *model;
    struct tacit_glm_private_rule rule;
    two.client_count = 2;
    assert_int_equal(tacit_glm_sound_rule(&rule, &two, TACIT_ONE_AGGREGATOR), TACIT_OK);
    pair->run = (struct tacit_helper_run){.federation = "pair",
                                          .site_count = SITES,
                                          .count_max = S,
                                          .mechanism = TACIT_HELPER_GAUSSIAN,
                                          .steps = tacit_glm_sound_steps(model->link)};
    assert_true(tacit_helper_run_is_valid(&pair->run));
    pair->keys = (struct tacit_helper_keys){.seal = seal};
    pair->aggregators = (struct tacit_aggregators){&pair->run, &pair->keys, rule.rho_nano, 0};
    for (uint32_t i = 0; i < 2; i++) {
        pair->owners[i] = malloc(tacit_glm_private_client_size(&rule));
        tacit_glm_private_client_init(pair->owners[i], &rule);
        pair->owners_noise[0][i] = pair->owners_noise[1][i] = stream(300 + i);
    }
}

static void open_pair(struct pair *pair, const struct tacit_glm_private_model *model,
                      uint32_t floor_milli)
{
    struct tacit_glm_sound_hub_config const config = {.model = *model, .floor_milli = floor_milli};
    *pair = (struct pair){.has_helper = floor_milli != TACIT_ONE_AGGREGATOR};
    open_owners(pair, model);
    assert_int_equal(tacit_glm_sound_rule(&pair->rule, model, floor_milli), TACIT_OK);
    pair->hub = malloc(tacit_glm_sound_hub_size(&config));
    assert_int_equal(tacit_glm_sound_hub_init(pair->hub, &config), TACIT_OK);
    for (uint32_t i = 0; i < SITES; i++) {
        struct tacit_glm_sound_site_config own = site_config(model, i);
        own.floor_milli = floor_milli;
        pair->sites[i] = site_new(&own);
        pair->clients[i] = malloc(tacit_glm_private_client_size(&pair->rule));
        tacit_glm_private_client_init(pair->clients[i], &pair->rule);
        pair->noise[0][i] = pair->noise[1][i] = stream(i);
    }
}

static void close_pair(struct pair *pair)
{
    free(pair->hub);
    free(pair->owners[0]);
    free(pair->owners[1]);
    for (uint32_t i = 0; i < SITES; i++) {
        free(pair->sites[i]);
        free(pair->clients[i]);
    }
}

/* As the helper does with what it opens, and the hub with masked words. */
static void unmask(struct pair *pair, const struct tacit_glm_sound_message *report)
{
    uint8_t scope[TACIT_HELPER_SCOPE_BYTES_MAX];
    uint64_t words[S];
    struct tacit_glm_sound_hub_view hub;
    tacit_glm_sound_hub_view(pair->hub, &hub);
    struct tacit_helper_round round = {
        .round = report->round, .count = S, .epsilon_nano = pair->aggregators.epsilon_nano};
    tacit_glm_sound_order_digest(hub.sums, D, round.order);
    size_t const size = tacit_helper_scope(&pair->run, &round, report->from, scope);
    memcpy(words, report->sums, sizeof words);
    assert_true(llabs((int64_t)words[0]) > INT64_C(1) << 40); /* nobody could read that */
    tacit_helper_add_mask(report->masked->envelope, scope, size, false, words, S);
    for (uint32_t i = 0; i < S; i++)
        pair->totals[i] += words[i];
}

/* Both add their noise. */
static void close_round(struct pair *pair, struct tacit_glm_sound_update *update)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct tacit_entropy const entropy = tacit_rng_entropy(&pair->owners_noise[0][i]);
        assert_int_equal(tacit_helper_noise(&pair->run, pair->aggregators.epsilon_nano, &entropy,
                                            pair->totals, S),
                         TACIT_OK);
    }
    tacit_glm_sound_hub_close(pair->hub, SITES, (const int64_t *)pair->totals, 0, update);
    memset(pair->totals, 0, sizeof pair->totals);
}

/* All that follows from a message, until nobody says anything. */
static void tell(struct pair *pair, const struct tacit_glm_sound_message *message)
{
    struct tacit_glm_sound_event const event = {
        .core = {.kind = TACIT_EVENT_RECEIVE, .as.message = message}};
    struct tacit_glm_sound_update update;
    if (message->to == TACIT_HUB) {
        assert_true((message->masked != NULL) ==
                    (pair->has_helper && message->kind == TACIT_ROUND_REPORT));
        if (message->masked != NULL)
            unmask(pair, message);
        assert_int_equal(tacit_glm_sound_hub_step(pair->hub, &event.core, &update), TACIT_OK);
        if ((update.happened & TACIT_WANTS_TOTALS) != 0)
            close_round(pair, &update);
        if (update.send)
            tell(pair, &update.message);
        return;
    }
    for (uint32_t i = 0; i < SITES; i++) {
        struct tacit_entropy const entropy = tacit_rng_entropy(&pair->noise[0][i]);
        struct tacit_rng salts = stream(77 + i);
        struct tacit_entropy const keys = tacit_rng_entropy(&salts);
        struct tacit_glm_sound_event heard = event;
        heard.core.keys = &keys;
        heard.core.aggregators = &pair->aggregators;
        if (message->to != TACIT_EVERYONE && message->to != i)
            continue;
        assert_int_equal(tacit_glm_sound_site_step(pair->sites[i], &heard, &entropy, &update),
                         TACIT_OK);
        if (update.send)
            tell(pair, &update.message);
    }
}

static void add_release(struct tacit_glm_private_client *client, uint64_t batch,
                        const struct tacit_entropy *entropy, int64_t sums[S])
{
    const int64_t *released;
    assert_int_equal(tacit_glm_private_client_close(client, batch, entropy, &released), TACIT_OK);
    for (uint32_t k = 0; k < S; k++)
        sums[k] += released[k];
}

static void add_owners(struct pair *pair, uint64_t batch, int64_t sums[S])
{
    for (uint32_t i = 0; i < 2 && pair->has_helper; i++) {
        struct tacit_entropy const entropy = tacit_rng_entropy(&pair->owners_noise[1][i]);
        add_release(pair->owners[i], batch, &entropy, sums);
    }
}

/* The simulator's clients release at the clock, and all decide by what that makes. */
static void simulate_batch(struct pair *pair, uint64_t batch)
{
    struct tacit_glm_private_estimate estimate;
    int64_t sums[S] = {0};
    for (uint32_t i = 0; i < SITES; i++) {
        struct tacit_entropy const entropy = tacit_rng_entropy(&pair->noise[1][i]);
        add_release(pair->clients[i], batch, &entropy, sums);
    }
    add_owners(pair, batch, sums);
    if (tacit_glm_private_learn(&pair->rule, TACIT_LINALG_PORTABLE, sums, &estimate) != TACIT_OK)
        return;
    for (uint32_t i = 0; i < SITES; i++)
        tacit_glm_private_client_use(pair->clients[i], batch, &estimate);
}

/* A decision and its reward, at both; they choose alike. */
static void interact(struct pair *pair, uint32_t site, struct tacit_rng *rng)
{
    double contexts[2 * D];
    struct tacit_glm_sound_update live;
    uint32_t simulated;
    double probability;
    for (uint32_t k = 0; k < 2; k++)
        draw_context(rng, contexts + k * D);
    struct tacit_offer const offer = {2, D, contexts};
    struct tacit_glm_sound_event event = {.core.kind = TACIT_EVENT_OFFER, .offer = offer};
    assert_int_equal(tacit_glm_sound_site_step(pair->sites[site], &event, NULL, &live), TACIT_OK);
    assert_int_equal(tacit_glm_private_client_offer(pair->clients[site], TACIT_LINALG_PORTABLE,
                                                    &offer, NULL, &simulated, &probability),
                     TACIT_OK);
    assert_true(live.decided && live.arm == simulated);
    struct tacit_glm_reward const reward = {contexts + live.arm * D, tacit_rng_uniform(rng), 0, 0};
    struct tacit_entropy const entropy = tacit_rng_entropy(&pair->noise[0][site]);
    struct tacit_rng salts = stream(99);
    struct tacit_entropy const keys = tacit_rng_entropy(&salts);
    event = (struct tacit_glm_sound_event){
        .core = {.kind = TACIT_EVENT_REWARD, .keys = &keys, .aggregators = &pair->aggregators},
        .reward = reward};
    tacit_glm_private_client_reward(pair->clients[site], &reward);
    assert_int_equal(tacit_glm_sound_site_step(pair->sites[site], &event, &entropy, &live),
                     TACIT_OK);
    assert_true(live.persist);
    if (live.send)
        tell(pair, &live.message);
}

/* With one aggregator; with two, whose noise is theirs to the bit, too; and with a floor. */
TEST(the_model_is_that_of_the_simulator)
{
    static const enum tacit_linalg_link links[] = {TACIT_LINALG_IDENTITY, TACIT_LINALG_LOGISTIC};
    static const uint32_t floors[] = {TACIT_ONE_AGGREGATOR, TACIT_NO_FLOOR, 2500};
    for (uint32_t link = 0; link < 6; link++) {
        struct pair pair;
        struct tacit_glm_private_model const model = some_model(links[link % 2]);
        struct tacit_event const start = {.kind = TACIT_EVENT_START};
        struct tacit_glm_sound_update update;
        struct tacit_rng rng = stream(50 + link);
        open_pair(&pair, &model, floors[link / 2]);
        assert_int_equal(tacit_glm_sound_hub_step(pair.hub, &start, &update), TACIT_OK);
        tell(&pair, &update.message);
        for (uint64_t batch = 1; batch <= BATCHES; batch++) {
            for (uint32_t i = 0; i < BATCH * SITES; i++)
                interact(&pair, i % SITES, &rng);
            simulate_batch(&pair, batch);
            struct tacit_glm_sound_hub_view live;
            tacit_glm_sound_hub_view(pair.hub, &live);
            assert_int_equal(live.round, batch + 1);
            assert_int_equal(live.releases, SITES * batch);
            for (uint32_t i = 0; i < SITES; i++) {
                struct tacit_glm_sound_site_view const site = view_of(pair.sites[i]);
                struct tacit_glm_private_client_view client;
                tacit_glm_private_client_view(pair.clients[i], &client);
                assert_int_equal(site.model, client.model_batch);
                assert_memory_equal(site.theta, client.theta, D * sizeof(double));
                assert_memory_equal(site.inverse, client.inverse,
                                    TACIT_LINALG_MATRIX(D) * sizeof(double));
                assert_true(site.alpha == client.alpha);
            }
        }
        struct tacit_glm_sound_hub_view hub;
        tacit_glm_sound_hub_view(pair.hub, &hub);
        assert_true(hub.finished && view_of(pair.sites[0]).last);
        close_pair(&pair);
    }
}

TEST(configurations_that_protect_less_or_do_not_fit_are_refused)
{
    struct tacit_glm_private_model const model = some_model(TACIT_LINALG_IDENTITY);
    struct tacit_glm_sound_site_config const good = site_config(&model, 0);
    assert_true(tacit_glm_sound_site_size(&good) > 0);
    for (uint32_t wrong = 0; wrong < 9; wrong++) {
        struct tacit_glm_sound_site_config bad = good;
        bad.epsilon = wrong == 0 ? 0.999 : bad.epsilon; /* more noise than the hub reckons with */
        bad.delta = wrong == 1 ? 0.9e-6 : bad.delta;
        bad.horizon = wrong == 2 ? BATCHES - 1 : wrong == 3 ? UINT64_C(1) << 40 : bad.horizon;
        bad.site_id = wrong == 4 ? SITES : bad.site_id;
        bad.cost_nano = wrong == 5 ? 0 : bad.cost_nano;
        bad.resend_after_us = wrong == 6 ? 0 : bad.resend_after_us;
        bad.model.batch_count =
            wrong == 7 ? TACIT_GLM_SOUND_BATCHES_MAX + 1 : bad.model.batch_count;
        bad.model.link = wrong == 8 ? TACIT_LINALG_POISSON : bad.model.link;
        assert_int_equal(tacit_glm_sound_site_size(&bad), 0);
    }
    struct tacit_glm_sound_hub_config hub = {.model = model, .quorum = SITES};
    assert_true(tacit_glm_sound_hub_size(&hub) > 0);
    hub.quorum++;
    assert_int_equal(tacit_glm_sound_hub_size(&hub), 0);
}
