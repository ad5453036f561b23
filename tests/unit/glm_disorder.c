/* Clients and a hub of generalised linear bandits of all kinds in disorder: messages are lost, come
 * twice, late, in any order or damaged; nodes fall back to what they persisted; entropy fails;
 * clocks ring a microsecond early. Little is asked of it all: a step that is refused leaves no
 * trace, what was persisted can be put back, and the digest knows each step. */
#include <math.h>
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/scarce.h"
#include "../support/glm_driver.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x1eff6efdcd6bc15f))
/* .. and of what the checks say of damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0xd0c9c399b5a4b2a6))

#define CLIENTS_MAX 4u
#define DIMENSION_MAX 6u
#define ARMS 4u
#define ENVELOPES 24u
#define TURNS 500u
#define VECTOR TACIT_LINALG_STRIDE(DIMENSION_MAX)
#define MATRIX TACIT_LINALG_MATRIX(DIMENSION_MAX)

/* A message on its way, with all that it points to. */
struct envelope {
    struct tacit_glm_message said;
    uint64_t participants;
    double vector[VECTOR + 1];
    double target[VECTOR + 1];
    double matrix[MATRIX + 1];
    double steps[MATRIX + 1];
    double inverse[MATRIX + 1];
};

/* Nodes: the clients, and behind them the hub. */
struct world {
    struct tacit_glm_model model;
    struct tacit_glm_client_config clients[CLIENTS_MAX];
    struct tacit_glm_hub_config hub;
    void *state[CLIENTS_MAX + 1];
    void *persisted[CLIENTS_MAX + 1];
    void *before;
    uint64_t deadline_us[CLIENTS_MAX + 1];
    struct tacit_rng rng;
    uint64_t now_us;
    uint64_t slot;
    uint64_t order;
    uint64_t step_count;
    bool is_calm; /* what is said mostly comes, at once and in order */
    uint32_t envelope_count;
    struct envelope envelopes[ENVELOPES];
};

static uint32_t node_count(const struct world *w)
{
    return w->model.client_count + 1;
}

static bool is_hub(const struct world *w, uint32_t node)
{
    return node == w->model.client_count;
}

static size_t size_of(const struct world *w, uint32_t node)
{
    return is_hub(w, node) ? tacit_glm_hub_size(&w->hub) : tacit_glm_client_size(&w->clients[node]);
}

static bool client_accepts(const void *state, size_t size, void *config)
{
    return tacit_glm_client_check(state, size, config) == TACIT_OK;
}

static bool hub_accepts(const void *state, size_t size, void *config)
{
    return tacit_glm_hub_check(state, size, config) == TACIT_OK;
}

/* ---- Models ---- */

static struct tacit_glm_model any_model(struct world *w, uint32_t kind)
{
    double const scales[] = {0.5, 1, 2};
    double const lambdas[] = {0.5, 2, 3};
    double const deltas[] = {0.01, 0.3};
    double const ends[] = {0, 1e-3, 1e-9, 1e-20};
    double const thresholds[] = {0.1, 0.4, 1.5};
    uint32_t const clients =
        1 + below(&w->rng, CLIENTS_MAX); /* one after the other: in a known order */
    uint32_t const dimension = 1 + below(&w->rng, DIMENSION_MAX);
    uint64_t const horizon = 6 + below(&w->rng, 60);
    struct tacit_glm_model model =
        tacit_glm_model_init((enum tacit_glm_variant)(kind % 9),
                             (enum tacit_linalg_link)(kind / 9 % 4), clients, dimension, horizon);
    model.run_id = 5;
    model.exploration = (enum tacit_glm_exploration)below(&w->rng, 3);
    model.clock = (enum tacit_glm_clock)below(&w->rng, 2);
    model.period = 1 + below(&w->rng, 3 * model.client_count);
    model.threshold = one_of(&w->rng, thresholds, 3);
    model.lambda = one_of(&w->rng, lambdas, 3);
    model.delta = one_of(&w->rng, deltas, 2);
    model.norm_bound = one_of(&w->rng, scales, 3);
    model.context_bound = one_of(&w->rng, scales, 3);
    tacit_glm_link_constants(&model);
    model.noise_bound *= one_of(&w->rng, scales, 3);
    model.alpha = one_of(&w->rng, scales, 3);
    model.suboptimality = one_of(&w->rng, ends, 4);
    model.explore = below(&w->rng, 2) == 0 ? 0 : 0.3;
    digest_real(tacit_glm_updates_bound(&model));
    for (uint64_t n = 1; n <= 100; n *= 10) {
        for (double distance = model.norm_bound; distance > 1e-7; distance *= 1e-3)
            digest_real(tacit_glm_rounds_bound(&model, n, distance));
        digest_real(tacit_glm_radius(&model, n));
    }
    return model;
}

static void open_world(struct world *w, uint32_t kind)
{
    uint64_t const pauses_us[] = {0, 1, 3000};
    memset(w, 0, sizeof *w);
    w->rng = tacit_rng_stream(8, kind, 0, 1);
    w->model = any_model(w, kind);
    w->is_calm = kind % 2 == 0;
    w->hub.model = w->model;
    w->hub.quorum = below(&w->rng, w->model.client_count + 1);
    w->hub.resend_after_us = 1 + 500 * below(&w->rng, 3);
    w->hub.deadline_us = pauses_us[below(&w->rng, 3)];
    w->hub.backoff_us = pauses_us[below(&w->rng, 3)];
    for (uint32_t i = 0; i < w->model.client_count; i++)
        w->clients[i] = (struct tacit_glm_client_config){
            .model = w->model, .client_id = i, .resend_after_us = 1 + 700 * below(&w->rng, 3)};
    for (uint32_t node = 0; node < node_count(w); node++) {
        size_t const size = size_of(w, node);
        w->state[node] = testing_malloc(size);
        w->persisted[node] = testing_malloc(size);
        w->deadline_us[node] = TACIT_NEVER;
        enum tacit_status const status =
            is_hub(w, node) ? tacit_glm_hub_init(w->state[node], &w->hub)
                            : tacit_glm_client_init(w->state[node], &w->clients[node]);
        assert_int_equal(status, TACIT_OK);
        memcpy(w->persisted[node], w->state[node], size);
    }
    size_t const client = size_of(w, 0);
    size_t const hub = size_of(w, w->model.client_count);
    w->before = testing_malloc(client > hub ? client : hub);
}

/* ---- Envelopes ---- */

static void write_envelope(const struct world *w, struct envelope *envelope,
                           const struct tacit_glm_message *said)
{
    size_t const vector = w->model.dimension;
    size_t const matrix = TACIT_LINALG_MATRIX(w->model.dimension);
    envelope->said = *said;
    envelope->said.vector = glm_kept(said->vector, vector, envelope->vector);
    envelope->said.target = glm_kept(said->target, vector, envelope->target);
    envelope->said.matrix = glm_kept(said->matrix, matrix, envelope->matrix);
    envelope->said.steps = glm_kept(said->steps, matrix, envelope->steps);
    envelope->said.inverse = glm_kept(said->inverse, matrix, envelope->inverse);
    if (said->participants == NULL)
        return;
    envelope->participants = said->participants[0];
    envelope->said.participants = &envelope->participants;
}

/* To one, or to each; where there is no place another envelope is lost. */
static void post(struct world *w, const struct tacit_glm_message *said)
{
    for (uint32_t i = 0; i < w->model.client_count; i++) {
        if (said->to != TACIT_EVERYONE && said->to != i && (said->to != TACIT_HUB || i > 0))
            continue;
        uint32_t const at =
            w->envelope_count < ENVELOPES ? w->envelope_count++ : below(&w->rng, ENVELOPES);
        write_envelope(w, &w->envelopes[at], said);
        if (said->to == TACIT_EVERYONE && below(&w->rng, 2) == 0)
            w->envelopes[at].said.to = i;
        if (below(&w->rng, 2) == 0) { /* as on a wire */
            w->envelopes[at].said.inverse = NULL;
            w->envelopes[at].said.log_det = 0;
        }
    }
}

/* ---- Steps ---- */

static bool has_halted(const struct world *w, uint32_t node)
{
    struct tacit_glm_hub_view view = {0};
    if (is_hub(w, node))
        tacit_glm_hub_view(w->state[node], &view);
    return view.halted;
}

static struct tacit_glm_update step(struct world *w, uint32_t node, struct tacit_glm_event event,
                                    const struct tacit_entropy *entropy, enum tacit_status *status)
{
    struct tacit_glm_update update;
    event.now_us = w->now_us;
    memcpy(w->before, w->state[node], size_of(w, node));
    if (is_hub(w, node)) {
        *status = tacit_glm_hub_step(w->state[node], &event, &update);
        glm_digest_hub(w->state[node], &w->model, *status, &update);
    } else {
        *status = tacit_glm_client_step(w->state[node], &event, entropy, &update);
        glm_digest_client(w->state[node], &w->model, *status, &update);
    }
    if (*status != TACIT_OK && !has_halted(w, node))
        assert_memory_equal(w->before, w->state[node], size_of(w, node));
    if (w->step_count++ % 100 == 0)
        damage_some(w->state[node], size_of(w, node),
                    is_hub(w, node) ? hub_accepts : client_accepts,
                    is_hub(w, node) ? (void *)&w->hub : (void *)&w->clients[node]);
    return update;
}

/* .. whose effects are carried out: persist, send, set the timer. */
static void run(struct world *w, uint32_t node, struct tacit_glm_event event)
{
    enum tacit_status status;
    struct tacit_glm_update const update = step(w, node, event, NULL, &status);
    w->deadline_us[node] = update.deadline_us;
    if (update.persist)
        memcpy(w->persisted[node], w->state[node], size_of(w, node));
    if (update.send)
        post(w, &update.message);
}

static void deliver(struct world *w, const struct tacit_glm_message *said)
{
    bool const is_up = said->to == TACIT_HUB;
    uint32_t const node = is_up                        ? w->model.client_count
                          : said->to == TACIT_EVERYONE ? below(&w->rng, w->model.client_count)
                                                       : said->to;
    run(w, node, (struct tacit_glm_event){.kind = TACIT_EVENT_RECEIVE, .as.message = said});
}

/* All that is on its way, the oldest first, and what it leads to. */
static void deliver_all(struct world *w)
{
    for (uint32_t count = 0; w->envelope_count > 0 && count < 4000; count++) {
        struct envelope first;
        write_envelope(w, &first, &w->envelopes[0].said);
        w->envelope_count--;
        for (uint32_t i = 0; i < w->envelope_count; i++)
            write_envelope(w, &w->envelopes[i], &w->envelopes[i + 1].said);
        deliver(w, &first.said);
    }
}

static void deliver_any(struct world *w)
{
    if (w->envelope_count == 0)
        return;
    uint32_t const at = below(&w->rng, w->envelope_count);
    struct envelope envelope;
    write_envelope(w, &envelope, &w->envelopes[at].said);
    if (below(&w->rng, 5) > 0 && at < --w->envelope_count) /* else it comes once more */
        write_envelope(w, &w->envelopes[at], &w->envelopes[w->envelope_count].said);
    deliver(w, &envelope.said);
}

/* ---- Damaged messages: to a state that is put back then ---- */

static void damage_number(struct world *w, double *values, size_t count, bool is_bold)
{
    double const numbers[] = {NAN, INFINITY, -INFINITY, 0.25, 1e75, 1.01e75, -1.01e75, 1e301};
    size_t const at = below(&w->rng, (uint32_t)count);
    values[at] = numbers[below(&w->rng, is_bold ? 8 : 4)];
}

static void damage_word(struct world *w, struct tacit_glm_message *said)
{
    uint32_t const up = below(&w->rng, 2) == 0 ? 1 : UINT32_MAX; /* one more, one less */
    uint64_t const most = w->model.client_count * w->model.horizon;
    uint64_t const counts[] = {0, 1, w->model.horizon, w->model.horizon + 1, most, most + 1};
    switch (below(&w->rng, 9)) {
    case 0:
        said->kind = (enum tacit_glm_message_kind)below(&w->rng, TACIT_GLM_COMMIT + 2);
        break;
    case 1:
        said->from = below(&w->rng, 2) == 0 ? TACIT_HUB : w->model.client_count;
        break;
    case 2:
        said->to = below(&w->rng, 2) == 0 ? TACIT_EVERYONE : said->to + up;
        break;
    case 3:
        said->sync += up;
        break;
    case 4:
        said->run_id += 1;
        break;
    case 5:
        said->attempt += up;
        break;
    case 6:
        said->round += up;
        break;
    case 7:
        said->digest ^= 1;
        break;
    default:
        said->count = counts[below(&w->rng, 6)];
    }
}

/* What a hub would have to believe: its own variants' gradients and Hessians are not looked at. */
static bool is_believed(const struct world *w, const struct tacit_glm_message *said)
{
    return said->kind == TACIT_GLM_GRADIENT &&
           (w->model.variant == TACIT_GLM_V3 || w->model.variant == TACIT_GLM_ONE_UCB);
}

static void damage_envelope(struct world *w, struct envelope *envelope)
{
    struct tacit_glm_message *const said = &envelope->said;
    size_t const matrix = TACIT_LINALG_MATRIX(w->model.dimension);
    bool const is_bold = !is_believed(w, said);
    double *const numbers[] = {envelope->vector, envelope->target, envelope->matrix,
                               envelope->steps};
    const double **const places[] = {&said->vector, &said->target, &said->matrix, &said->steps};
    uint32_t const which = below(&w->rng, 4);
    switch (below(&w->rng, 6)) {
    case 0: /* it is missing, or there though it has no place there */
        *places[which] = *places[which] == NULL ? numbers[which] : NULL;
        break;
    case 1:
    case 2:
        if (*places[which] != NULL)
            damage_number(w, numbers[which], which < 2 ? w->model.dimension : matrix, is_bold);
        break;
    case 3:
        damage_number(w, below(&w->rng, 2) == 0 ? &said->squares : &said->regret, 1, true);
        break;
    case 4:
        envelope->participants ^= UINT64_C(1) << below(&w->rng, w->model.client_count);
        if (said->participants != NULL && below(&w->rng, 4) == 0)
            said->participants = NULL;
        break;
    default:
        damage_word(w, said);
    }
}

static void deliver_damaged(struct world *w)
{
    if (w->envelope_count == 0)
        return;
    struct envelope envelope = {.participants = 0};
    write_envelope(w, &envelope, &w->envelopes[below(&w->rng, w->envelope_count)].said);
    bool const is_up = envelope.said.to == TACIT_HUB;
    uint32_t const node = is_up ? w->model.client_count : below(&w->rng, w->model.client_count);
    damage_envelope(w, &envelope);
    void *const sound = testing_malloc(size_of(w, node));
    memcpy(sound, w->state[node], size_of(w, node));
    struct tacit_glm_event const event = {.kind = TACIT_EVENT_RECEIVE,
                                          .as.message = &envelope.said};
    enum tacit_status status;
    (void)step(w, node, event, NULL, &status);
    memcpy(w->state[node], sound, size_of(w, node));
}

/* ---- Decisions and rewards ---- */

/* Some are as long as they may be, some as rounding allows, and one in twelve is none. */
static void any_context(struct world *w, double *x)
{
    double const lengths[] = {1, 1 - 1e-15, 0.5, 0.7, 1 + 0.9e-9, 0.1};
    double const bad[] = {1 + 1.2e-9, 1.1, NAN, INFINITY};
    double square = 0;
    uint32_t const d = w->model.dimension;
    for (uint32_t i = 0; i < d; i++) {
        x[i] = tacit_rng_normal(&w->rng);
        square += x[i] * x[i];
    }
    double const length =
        below(&w->rng, 48) == 0 ? one_of(&w->rng, bad, 4) : one_of(&w->rng, lengths, 6);
    for (uint32_t i = 0; i < d; i++)
        x[i] *= w->model.context_bound * length / sqrt(square);
}

/* Without entropy at each draw once, then with it. */
static void offer(struct world *w, uint32_t client)
{
    double contexts[ARMS * DIMENSION_MAX + 1];
    uint32_t const arms = 1 + below(&w->rng, ARMS);
    uint32_t const d = w->model.dimension;
    for (uint32_t k = 0; k < arms; k++)
        any_context(w, contexts + k * d);
    contexts[arms * d] = NAN;
    if (arms > 1 && below(&w->rng, 3) == 0) /* two that are alike */
        memcpy(contexts + (arms - 1) * d, contexts, d * sizeof(double));
    uint32_t const told =
        below(&w->rng, 40) == 0 ? below(&w->rng, 2) * (TACIT_GLM_ARMS_MAX + 1) : arms;
    uint32_t const told_dimension = d + (below(&w->rng, 40) == 0 ? 1 : 0);
    struct tacit_glm_event const event = {.kind = TACIT_EVENT_OFFER,
                                          .as.offer = {told, told_dimension, contexts}};
    enum tacit_status status = TACIT_ENTROPY;
    for (uint32_t left = 0; status == TACIT_ENTROPY; left++) {
        struct tacit_rng const rng = w->rng;
        struct scarce scarce = {tacit_rng_entropy(&w->rng), left};
        struct tacit_entropy const entropy = scarce_entropy(&scarce);
        struct tacit_glm_update const update = step(w, client, event, &entropy, &status);
        assert_true(update.decided == (status == TACIT_OK));
        if (status == TACIT_ENTROPY)
            w->rng = rng;
    }
}

static void reward(struct world *w, uint32_t client)
{
    double x[DIMENSION_MAX + 1];
    any_context(w, x);
    x[w->model.dimension] = NAN;
    double y = w->model.link == TACIT_LINALG_IDENTITY  ? tacit_rng_normal(&w->rng)
               : w->model.link == TACIT_LINALG_POISSON ? below(&w->rng, 4)
                                                       : below(&w->rng, 2);
    if (below(&w->rng, 40) == 0)
        y = NAN;
    if (below(&w->rng, w->model.client_count) == 0)
        w->slot++;
    w->order++;
    uint64_t const slot = below(&w->rng, 30) == 0 ? 0 : w->slot;
    uint64_t const order = below(&w->rng, 3) == 0 ? w->order : 0;
    run(w, client,
        (struct tacit_glm_event){.kind = TACIT_EVENT_REWARD, .as.reward = {x, y, slot, order}});
}

/* ---- Time, and falls ---- */

/* The next clock rings, a microsecond early first. */
static void ring(struct world *w)
{
    uint32_t next = 0;
    for (uint32_t node = 1; node < node_count(w); node++)
        if (w->deadline_us[node] < w->deadline_us[next])
            next = node;
    if (w->deadline_us[next] == TACIT_NEVER)
        return;
    struct tacit_glm_event const event = {.kind = TACIT_EVENT_TIMEOUT};
    if (w->deadline_us[next] > w->now_us + 1) {
        w->now_us = w->deadline_us[next] - 1;
        run(w, next, event);
    }
    if (w->deadline_us[next] > w->now_us)
        w->now_us = w->deadline_us[next];
    run(w, next, event);
}

static void restart(struct world *w, uint32_t node)
{
    size_t const size = size_of(w, node);
    memcpy(w->state[node], w->persisted[node], size);
    assert_true(is_hub(w, node) ? hub_accepts(w->state[node], size, &w->hub)
                                : client_accepts(w->state[node], size, &w->clients[node]));
    run(w, node, (struct tacit_glm_event){.kind = TACIT_EVENT_START});
}

/* Events that a node never gets. */
static void surprise(struct world *w, uint32_t node)
{
    enum tacit_event_kind const kinds[] = {TACIT_EVENT_OFFER, TACIT_EVENT_REWARD,
                                           TACIT_EVENT_EXPLOITED};
    run(w, node, (struct tacit_glm_event){.kind = kinds[is_hub(w, node) ? below(&w->rng, 3) : 2]});
}

static void turn(struct world *w)
{
    uint32_t const client = below(&w->rng, w->model.client_count);
    uint32_t const chance = below(&w->rng, 100);
    w->now_us += below(&w->rng, 3) == 0 ? below(&w->rng, 40) : 0;
    if (chance < 10)
        offer(w, client);
    else if (chance < 40)
        reward(w, client);
    else if (chance < (w->is_calm ? 45 : 75))
        deliver_any(w);
    else if (chance < 75)
        deliver_all(w);
    else if (chance < 84)
        deliver_damaged(w);
    else if (chance < 88)
        deliver_all(w);
    else if (chance < 93)
        ring(w);
    else if (chance < 95)
        restart(w, below(&w->rng, node_count(w)));
    else if (chance < 97)
        surprise(w, below(&w->rng, node_count(w)));
    else if (w->envelope_count > 0)
        w->envelope_count--; /* lost */
}

TEST(disorder_leaves_the_steps_that_it_always_left)
{
    uint64_t updates = 0;
    uint64_t abandoned = 0;
    for (uint32_t kind = 0; kind < 9 * 4 * 6; kind++) {
        struct world w;
        open_world(&w, kind);
        for (uint32_t i = 0; i < TURNS; i++)
            turn(&w);
        struct tacit_glm_hub_view view;
        tacit_glm_hub_view(w.state[w.model.client_count], &view);
        updates += view.update_count;
        abandoned += view.abandoned_count;
    }
    assert_true(updates > 100);
    assert_true(abandoned > 20);
}

/* A set of them is one full word, and behind it lies another set. */
TEST(sixty_four_clients_play)
{
    enum tacit_glm_variant const variants[] = {TACIT_GLM_FEDGLB, TACIT_GLM_V3, TACIT_GLM_DISLINUCB,
                                               TACIT_GLM_ONE_UCB};
    for (uint32_t which = 0; which < 4; which++) {
        struct tacit_glm_model model =
            tacit_glm_model_init(variants[which], TACIT_LINALG_LOGISTIC, 64, 2, 9);
        model.threshold = 0.01;
        struct glm_driver driver;
        glm_driver_open(&driver, &model, TACIT_LINALG_PORTABLE);
        for (uint64_t t = 1; t <= 3; t++)
            for (uint32_t i = 0; i < 64; i++) {
                double const x[2] = {0.005 * i, 0.3 * (double)t};
                glm_driver_reward(&driver, i, t, x, (double)((t + i) % 2));
            }
        struct tacit_glm_hub_view view;
        tacit_glm_hub_view(driver.hub, &view);
        assert_true(view.update_count > 0);
        assert_true(view.participants[0] == UINT64_MAX);
    }
}

/* Bytes that a client's state has for more than its samples: an expansion where it pays. */
TEST(expansions_are_kept_where_they_pay)
{
    for (uint32_t d = 1; d <= 35; d++)
        for (uint64_t horizon = d * d - 1; horizon <= d * d + 1; horizon++) {
            struct tacit_glm_client_config config = {
                .model =
                    tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, 2, d, horizon),
                .resend_after_us = 1};
            size_t const size = tacit_glm_client_size(&config);
            config.model.link = TACIT_LINALG_PROBIT;
            digest_word(size - tacit_glm_client_size(&config));
        }
}

/* In many dimensions gradients are expanded in later rounds than the thirteenth. */
TEST(thirteen_dimensions_play)
{
    enum { DIMENSION = 13, SLOTS = 200 };
    struct tacit_glm_model model =
        tacit_glm_model_init(TACIT_GLM_V1, TACIT_LINALG_LOGISTIC, 2, DIMENSION, SLOTS);
    struct tacit_rng rng = tacit_rng_stream(10, 0, 0, 1);
    struct glm_driver driver;
    model.period = 2 * 190;
    model.suboptimality = 1e-13;
    glm_driver_open(&driver, &model, TACIT_LINALG_PORTABLE);
    for (uint64_t t = 1; t <= 190; t++)
        for (uint32_t i = 0; i < 2; i++) {
            double x[DIMENSION] = {0};
            for (uint32_t c = 0; c < DIMENSION; c++)
                x[c] = tacit_rng_normal(&rng) / 9;
            x[t % DIMENSION] *= 0.1;
            glm_driver_reward(&driver, i, t, x, tacit_rng_bernoulli(&rng, 0.4));
        }
    struct tacit_glm_hub_view view;
    struct tacit_glm_client_view client;
    tacit_glm_hub_view(driver.hub, &view);
    tacit_glm_client_view(driver.clients[1], &client);
    assert_int_equal(view.update_count, 1);
    assert_int_equal(client.anchor_round, 15 * 16);
}

/* Answers that never come to rest: the last round is 10,000, then the hub stands still, says so and
 * keeps the time of that step. */
TEST(a_hub_without_rest_halts)
{
    struct tacit_glm_hub_config config = {
        .model = tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, 1, 1, 9),
        .resend_after_us = 100};
    config.model.suboptimality = 1e-30;
    size_t const size = tacit_glm_hub_size(&config);
    struct tacit_glm_hub *const hub = testing_malloc(size);
    assert_int_equal(tacit_glm_hub_init(hub, &config), TACIT_OK);
    double const matrix[TACIT_LINALG_MATRIX(1)] = {0.5};
    double pull[1] = {0.25};
    struct tacit_glm_message said = {.kind = TACIT_GLM_TRIGGER, .to = TACIT_HUB, .count = 1};
    struct tacit_glm_event event = {.kind = TACIT_EVENT_RECEIVE, .as.message = &said};
    struct tacit_glm_update update;
    assert_int_equal(tacit_glm_hub_step(hub, &event, &update), TACIT_OK);
    said.kind = TACIT_GLM_FROZEN;
    said.matrix = matrix;
    for (uint32_t round = 0; update.send; round++) {
        assert_int_equal(update.message.round, round);
        assert_true(hub_accepts(hub, size, &config));
        said.sync = update.message.sync;
        said.attempt = update.message.attempt;
        said.round = round;
        said.digest = update.message.digest;
        event.now_us = 7 + round;
        (void)tacit_glm_hub_step(hub, &event, &update);
        said.kind = TACIT_GLM_GRADIENT;
        said.matrix = NULL;
        said.vector = pull;
        pull[0] = -pull[0];
    }
    struct tacit_glm_hub_view view;
    tacit_glm_hub_view(hub, &view);
    assert_true(view.halted && !view.busy && !view.backs_off && update.persist);
    assert_int_equal(view.round, TACIT_GLM_ROUNDS_MAX);
    assert_true(update.deadline_us == TACIT_NEVER);
    assert_true(hub_accepts(hub, size, &config));
    damage_all(hub, size, hub_accepts, &config);
    for (event.kind = TACIT_EVENT_START; event.kind <= TACIT_EVENT_RECEIVE; event.kind++) {
        struct tacit_glm_event again = {.now_us = 20000, .kind = event.kind, .as.message = &said};
        enum tacit_status const status = tacit_glm_hub_step(hub, &again, &update);
        glm_digest_hub(hub, &config.model, status, &update);
        assert_false(update.send);
    }
}
