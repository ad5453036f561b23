/* A training federation in memory: the hub's and the sites' cores, all of whose words pass through
 * their wire form; a plain twin of the average; all selectors. The same with two aggregators: a
 * real helper, envelopes by HPKE, totals that hold what the sites trained and the noise of two.
 * Deaths, losses, clones and hostile messages are the storm's (round/storm_selection,
 * round/storm_helper_training). */
#include "../support/wire_shape.h"
#include "tacit/wire_select.h"
#include <math.h>
#include "../support/testing.h"
#include "../../src/live/pki/hpke.h"
#include "../support/digest.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0xf122b16033622d56))

#define SITES 4u
#define NUMBERS 13000u /* two pieces of a model, three of an update */
#define ROUNDS 6u
#define QUEUE_MAX 4096u
#define RUN_ID UINT64_C(77)
#define CLIP 3.0

struct envelope {
    uint32_t to;
    uint32_t from;
    size_t size;
    uint8_t *bytes;
};

struct node {
    void *state;
    size_t size;
    uint64_t deadline_us;
    bool is_training;
};

#define RELEASES (4 * ROUNDS)

/* Of two aggregators; what the hub keeps for its helper is behind its own state. */
struct two {
    struct tacit_helper_run run;
    struct tacit_helper_config config;
    struct tacit_helper_keys keys;
    struct tacit_aggregators aggregators;
    struct tacit_helper *helper;
    uint8_t secret[LIVE_HPKE_KEY_BYTES];
    uint8_t public_key[LIVE_HPKE_KEY_BYTES];
    double squares; /* of noise, in variances of one aggregator's */
    uint64_t noises;
    uint32_t totals;                      /* rounds that were closed */
    bool is_counted[SITES][RELEASES + 1]; /* releases that were in a total */
    uint32_t newest[SITES];               /* of what the hub took last: its number */
};

struct world {
    struct two *two; /* NULL: one aggregator */
    struct tacit_select_site_config site_configs[SITES];
    struct tacit_select_hub_config hub_config;
    struct node nodes[SITES + 1]; /* the hub last */
    struct envelope queue[QUEUE_MAX];
    uint32_t queue_start;
    uint32_t queue_end;
    uint64_t now_us;
    struct tacit_rng rng;
    uint32_t draws[SITES][ROUNDS + 2];
    bool settled[SITES + 1][ROUNDS + 2]; /* releases that need nothing more */
    uint64_t spent[SITES];
    double twin[NUMBERS]; /* the model, as the plain average makes it */
    double steps[SITES][NUMBERS];
    bool is_counted[SITES]; /* what the twin has of the round */
    uint32_t rounds_over;
};

/* ---- The world ---- */

static struct tacit_select_budget budget(void)
{
    return (struct tacit_select_budget){
        .kind = TACIT_SELECT_GEOMETRIC, .is_exact = true, .total = 500, .eta = 0.04};
}

static void node_new(struct node *node, size_t size)
{
    assert_true(size > 0);
    *node = (struct node){.size = size, .deadline_us = TACIT_NEVER};
    node->state = testing_calloc(1, size);
}

static bool open_seed(void *context, const uint8_t *scope, size_t size, const uint8_t *envelope,
                      uint8_t *seed)
{
    struct two *const two = context;
    return live_hpke_open_seed(two->secret, scope, size, envelope, seed);
}

static bool always(void *context, const uint8_t *digest, const uint8_t *signature)
{
    return context != NULL && digest != NULL && signature != NULL;
}

static bool seal(void *context, const uint8_t *ephemeral, const uint8_t *scope, size_t size,
                 const uint8_t *seed, uint8_t *envelope)
{
    struct two *const two = context;
    return live_hpke_seal_seed(two->public_key, ephemeral, scope, size, seed, envelope);
}

static bool is_of_site(void *context, uint32_t site, uint64_t term,
                       const struct tacit_helper_link *link)
{
    struct two *const two = context;
    return site < SITES && term == two->aggregators.term &&
           !tacit_commit_is_nothing(link->commitment);
}

static struct tacit_helper_hub *kept_of(const struct world *world)
{
    return (struct tacit_helper_hub *)(void *)((char *)world->nodes[SITES].state +
                                               tacit_select_hub_size(&world->hub_config));
}

static void add_helper(struct world *world)
{
    struct two *const two = world->two = testing_calloc(1, sizeof *two);
    two->run = (struct tacit_helper_run){.federation = "clinics",
                                         .run_id = RUN_ID,
                                         .site_count = SITES,
                                         .count_max = world->hub_config.dimension,
                                         .steps = 2 * (uint64_t)TACIT_VECTOR_STEPS};
    two->config = (struct tacit_helper_config){two->run, 500 * TACIT_NANO, 2, 0};
    two->keys = (struct tacit_helper_keys){two, seal, open_seed, is_of_site, always, always};
    two->aggregators = (struct tacit_aggregators){&two->run, &two->keys, 0, 0};
    for (size_t i = 0; i < sizeof two->secret; i++)
        two->secret[i] = (uint8_t)(3 * i + 1);
    assert_true(live_hpke_public(two->secret, two->public_key));
    two->helper = testing_calloc(1, tacit_helper_size(&two->config));
    assert_int_equal(tacit_helper_init(two->helper, &two->config), TACIT_OK);
    assert_int_equal(tacit_helper_hub_init(kept_of(world), &two->run), TACIT_OK);
}

static struct world *world_of(uint64_t seed, uint32_t dimension, bool has_helper)
{
    struct world *const world = testing_calloc(1, sizeof *world);
    world->rng = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_NOISE);
    world->hub_config =
        (struct tacit_select_hub_config){.run_id = RUN_ID,
                                         .select = {.user_count = SITES,
                                                    .users_per_round = has_helper ? 3 : 2,
                                                    .alpha = 100,
                                                    .beta = 2,
                                                    .gamma = 5,
                                                    .zeta = 1,
                                                    .latency_min = 0.01,
                                                    .budget = budget()},
                                         .selector = TACIT_SELECTOR_EXACT,
                                         .annealing = {.kappa = 1, .iterations = 1},
                                         .dimension = dimension,
                                         .round_count = ROUNDS,
                                         .quorum = 2,
                                         .round_timeout_us = 30000000,
                                         .clip = CLIP,
                                         .has_helper = has_helper};
    struct tacit_helper_run const run = {
        .site_count = SITES, .count_max = dimension, .steps = 2 * (uint64_t)TACIT_VECTOR_STEPS};
    node_new(&world->nodes[SITES], tacit_select_hub_size(&world->hub_config) +
                                       (has_helper ? tacit_helper_hub_size(&run) : 0));
    assert_int_equal(tacit_select_hub_init(world->nodes[SITES].state, &world->hub_config),
                     TACIT_OK);
    for (uint32_t site = 0; site < SITES; site++) {
        world->site_configs[site] = (struct tacit_select_site_config){.run_id = RUN_ID,
                                                                      .agent = site,
                                                                      .agent_count = SITES,
                                                                      .dimension = dimension,
                                                                      .round_count = ROUNDS,
                                                                      .clip = CLIP,
                                                                      .budget = budget(),
                                                                      .resend_after_us = 1000000,
                                                                      .has_helper = has_helper};
        node_new(&world->nodes[site], tacit_select_site_size(&world->site_configs[site]));
        assert_int_equal(
            tacit_select_site_init(world->nodes[site].state, &world->site_configs[site]), TACIT_OK);
    }
    if (has_helper)
        add_helper(world);
    return world;
}

static struct world *world_new(uint64_t seed)
{
    return world_of(seed, NUMBERS, false);
}

static void world_free(struct world *world)
{
    for (uint32_t i = 0; i <= SITES; i++) {
        testing_free(world->nodes[i].state);
    }
    while (world->queue_start < world->queue_end)
        testing_free(world->queue[world->queue_start++ % QUEUE_MAX].bytes);
    testing_free(world);
}

static struct tacit_select_site *site_of(const struct world *world, uint32_t site)
{
    return world->nodes[site].state;
}

static struct tacit_select_hub *hub_of(const struct world *world)
{
    return world->nodes[SITES].state;
}

static void post(struct world *world, uint32_t from, const struct tacit_select_message *message,
                 uint32_t to)
{
    struct envelope *const envelope = &world->queue[world->queue_end++ % QUEUE_MAX];
    assert_true(world->queue_end - world->queue_start < QUEUE_MAX);
    envelope->from = from;
    envelope->to = to;
    envelope->size = tacit_wire_bytes(WIRE(select, 0, SITES), message);
    envelope->bytes = testing_malloc(envelope->size);
    assert_true(envelope->size <= 50000);
    tacit_wire_encode(WIRE(select, 0, SITES), message, envelope->bytes);
    if (world->two == NULL)
        digest_bytes(envelope->bytes, envelope->size);
}

static void digest_site(const struct tacit_select_site *site, uint32_t dimension)
{
    struct tacit_select_site_view view;
    tacit_select_site_view(site, &view);
    uint64_t const words[] = {view.phase,         view.round,      view.draw_round,
                              view.release_round, view.price_nano, view.participation,
                              view.spent_nano,    view.is_blocked, view.is_exhausted};
    digest_bytes(words, sizeof words);
    digest_bytes(view.head, sizeof view.head);
    for (uint32_t i = 0; i < dimension; i += 97)
        digest_real((double)view.model[i]);
}

static void digest_hub(const struct tacit_select_hub *hub, uint32_t dimension)
{
    struct tacit_select_hub_view view;
    tacit_select_hub_view(hub, &view);
    uint64_t const words[] = {view.round,         view.round_count,       view.is_open,
                              view.finished,      view.is_exhausted,      view.asked_count,
                              view.covered_count, view.asked[0],          view.received[0],
                              view.flagged[0],    view.select.round_count};
    digest_bytes(words, sizeof words);
    digest_bytes(view.seen, SITES * sizeof *view.seen);
    digest_bytes(view.spent_nano, SITES * sizeof *view.spent_nano);
    digest_bytes(view.select.counts, SITES * sizeof *view.select.counts);
    digest_reals(view.select.means, SITES);
    digest_reals(view.latencies, view.asked_count);
    for (uint32_t i = 0; i < dimension; i += 97)
        digest_real((double)view.model[i]);
}

static void carry_out(struct world *world, uint32_t node, const struct tacit_select_update *update)
{
    struct node *const here = &world->nodes[node];
    if (update->settled > 0)
        world->settled[node][update->settled] = true;
    here->deadline_us = update->deadline_us;
    here->is_training = (here->is_training && !update->stop) || update->train;
    for (uint32_t i = 0; i < update->message_count; i++) {
        struct tacit_select_message const *const message = &update->messages[i];
        if (message->to != TACIT_EVERYONE)
            post(world, node, message, message->to == TACIT_HUB ? SITES : message->to);
        for (uint32_t site = 0; message->to == TACIT_EVERYONE && site < SITES; site++)
            post(world, node, message, site);
    }
}

/* The average of Eq. (2) once more, from what the sites drew. */
static void follow_round(struct world *world)
{
    double weight = 0;
    for (uint32_t site = 0; site < SITES; site++)
        weight += world->is_counted[site] ? 1 : 0;
    for (uint32_t site = 0; site < SITES; site++)
        for (uint32_t i = 0; world->is_counted[site] && i < world->hub_config.dimension; i++)
            world->twin[i] += 1 / weight * world->steps[site][i];
    world->rounds_over++;
}

/* ---- Two aggregators ---- */

/* What a site trains in a round. */
static void learn(uint32_t site, uint32_t round, double *difference)
{
    for (uint32_t i = 0; i < NUMBERS; i++)
        difference[i] = (i % 7 == site ? 1e-3 : -1e-4) * (double)round;
}

/* Totals hold what U' trained, and the noise of two: the model takes their mean. */
static void check_totals(struct world *world, const struct tacit_select_hub_view *view,
                         const uint64_t *counted, const int64_t *totals)
{
    static double difference[NUMBERS];
    static int64_t steps[NUMBERS];
    static double rest[NUMBERS];
    struct two *const two = world->two;
    double const scale =
        2 * (double)TACIT_VECTOR_STEPS * (double)TACIT_NANO / (double)view->epsilon_nano;
    uint32_t const sites = tacit_bits_count(counted, SITES);
    for (uint32_t i = 0; i < NUMBERS; i++) {
        rest[i] = (double)totals[i];
        world->twin[i] += (double)totals[i] * (CLIP / (double)TACIT_VECTOR_STEPS / sites);
    }
    TACIT_BITS_EACH (site, counted, SITES) {
        learn(site, view->round, difference);
        tacit_vector_quantise(difference, NUMBERS, CLIP, steps);
        for (uint32_t i = 0; i < NUMBERS; i++)
            rest[i] -= (double)steps[i];
        assert_false(two->is_counted[site][two->newest[site]]); /* no release in two totals */
        two->is_counted[site][two->newest[site]] = true;
    }
    for (uint32_t i = 0; i < NUMBERS; i++)
        two->squares += rest[i] / scale * (rest[i] / scale) / 2;
    two->noises += NUMBERS;
    two->totals++;
}

static void carry_out(struct world *world, uint32_t node, const struct tacit_select_update *update);

static struct tacit_helper_round round_of(const struct tacit_select_hub_view *view)
{
    struct tacit_helper_round round = {.term = view->term,
                                       .round = view->round,
                                       .count = NUMBERS,
                                       .epsilon_nano = view->epsilon_nano};
    memcpy(round.order, view->model_name, sizeof round.order);
    return round;
}

/* After a step of the hub: what live/hub_helper.c does. */
static void note_helper(struct world *world, const struct tacit_event *event,
                        const struct tacit_select_update *update)
{
    struct tacit_helper_hub *const kept = kept_of(world);
    struct tacit_select_message const *const said = event->as.message;
    struct tacit_entropy const entropy = tacit_rng_entropy(&world->rng);
    struct tacit_select_hub_view view;
    struct tacit_helper_hub_view helper;
    tacit_select_hub_view(hub_of(world), &view);
    if ((update->happened & TACIT_GRANTED_DRAW) != 0)
        tacit_helper_hub_grant(kept, said->from, said->commit);
    if ((update->happened & TACIT_COUNTED_REPORT) != 0) {
        struct tacit_helper_release release = *update->masked;
        tacit_helper_blind_digest(&release, (const uint64_t *)update->words, NUMBERS);
        tacit_helper_hub_add(kept, update->report.from, update->report.commit->salt, &release,
                             (const uint64_t *)update->words, NUMBERS);
        struct tacit_select_site_view site;
        tacit_select_site_view(site_of(world, update->report.from), &site);
        world->two->newest[update->report.from] = site.release_number;
    }
    tacit_helper_hub_view(kept, &helper);
    if ((update->happened & TACIT_WANTS_TOTALS) != 0 && !helper.is_fixed) {
        struct tacit_helper_round const round = round_of(&view);
        assert_int_equal(helper.here_count, view.covered_count);
        assert_int_equal(tacit_helper_hub_fix(kept, &round, 2, &entropy), TACIT_OK);
    }
    if (update->round_is_over)
        tacit_helper_hub_void(kept);
}

/* Asked, if there is a question. True: it has closed a round. */
static bool ask_helper(struct world *world)
{
    static int64_t totals[NUMBERS];
    struct two *const two = world->two;
    struct tacit_entropy const entropy = tacit_rng_entropy(&world->rng);
    struct tacit_helper_hub_view helper;
    struct tacit_select_hub_view view;
    struct tacit_helper_update answered;
    struct tacit_select_update update;
    enum tacit_helper_outcome outcome;
    uint32_t agents = 0;
    tacit_helper_hub_view(kept_of(world), &helper);
    if (!helper.is_fixed)
        return false;
    void *const memory = testing_malloc(tacit_helper_hub_request_size(kept_of(world)));
    assert_int_equal(tacit_helper_step(two->helper,
                                       tacit_helper_hub_request(kept_of(world), memory), &two->keys,
                                       &entropy, &answered),
                     TACIT_OK);
    assert_int_equal(answered.answer.verdict, TACIT_HELPER_ANSWERED);
    tacit_select_hub_view(hub_of(world), &view);
    struct tacit_helper_range const range = {.low = -TACIT_VECTOR_STEPS,
                                             .high = (uint64_t)TACIT_VECTOR_STEPS};
    assert_int_equal(
        tacit_helper_hub_close(kept_of(world), &answered.answer, &range, &outcome, &agents, totals),
        TACIT_OK);
    assert_int_equal(outcome, TACIT_HELPER_CLOSED);
    tacit_helper_hub_view(kept_of(world), &helper);
    check_totals(world, &view, helper.counted, totals);
    tacit_select_hub_close(hub_of(world), agents, totals, world->now_us, &update);
    carry_out(world, SITES, &update);
    return true;
}

static enum tacit_status step(struct world *world, uint32_t node, const struct tacit_event *wanted)
{
    struct tacit_event made = *wanted;
    const struct tacit_event *const event = &made;
    struct tacit_select_message const *const said = event->as.message; /* RECEIVE */
    if (world->two != NULL)
        made.aggregators = &world->two->aggregators;
    struct tacit_select_update update;
    struct tacit_entropy const entropy = tacit_rng_entropy(&world->rng);
    struct tacit_select_hub_view before;
    struct tacit_select_hub_view after;
    tacit_select_hub_view(hub_of(world), &before);
    uint32_t const round = before.round;
    enum tacit_status const status =
        node == SITES ? tacit_select_hub_step(hub_of(world), event, &entropy, &update)
                      : tacit_select_site_step(site_of(world, node), event, &entropy, &update);
    tacit_select_hub_view(hub_of(world), &after);
    if (world->two != NULL) {
        if (node == SITES)
            note_helper(world, event, &update);
        carry_out(world, node, &update);
        return status;
    }
    for (uint32_t site = 0; node == SITES && site < SITES; site++) {
        bool const is_new = after.seen[site] == round && event->kind == TACIT_EVENT_RECEIVE &&
                            said->kind == TACIT_SELECT_PIECE && said->from == site;
        if (update.round_is_over ? is_new : tacit_bits_has(after.received, site))
            world->is_counted[site] = true;
    }
    if (update.round_is_over) {
        follow_round(world);
        memset(world->is_counted, 0, sizeof world->is_counted);
    }
    digest_step(status,
                update.persist | (uint64_t)update.train << 1 | (uint64_t)update.stop << 2 |
                    (uint64_t)update.drawn << 3 | (uint64_t)update.has_model << 4 |
                    (uint64_t)update.round_is_over << 5 | (uint64_t)update.message_count << 6 |
                    (uint64_t)update.settled << 16,
                update.deadline_us, NULL, 0);
    if (node == SITES)
        digest_hub(hub_of(world), world->hub_config.dimension);
    else
        digest_site(site_of(world, node), world->hub_config.dimension);
    carry_out(world, node, &update);
    return status;
}

static void note_draw(struct world *world, uint32_t site)
{
    struct tacit_select_site_view view;
    tacit_select_site_view(site_of(world, site), &view);
    world->draws[site][view.draw_round]++;
    world->spent[site] = view.spent_nano;
}

static void train(struct world *world, uint32_t site)
{
    static double difference[NUMBERS];
    struct tacit_select_site_view view;
    struct tacit_select_site_view after;
    tacit_select_site_view(site_of(world, site), &view);
    learn(site, view.round, difference);
    struct tacit_event const event = {.kind = TACIT_EVENT_REWARD,
                                      .now_us = world->now_us,
                                      .as.training = {view.round, difference}};
    world->nodes[site].is_training = false;
    assert_int_equal(step(world, site, &event), TACIT_OK);
    tacit_select_site_view(site_of(world, site), &after);
    if (after.draw_round > view.draw_round)
        note_draw(world, site);
}

/* What the site drew, from its pieces as they pass. */
static void watch(struct world *world, const struct tacit_select_message *message)
{
    if (message->kind != TACIT_SELECT_PIECE || message->vector != TACIT_SELECT_STEPS)
        return;
    for (uint32_t i = 0; i < message->number_count; i++)
        world->steps[message->from][message->first * TACIT_SELECT_UPDATE_NUMBERS + i] =
            (double)message->step_piece[i] * (CLIP / (double)TACIT_VECTOR_STEPS);
}

static void deliver(struct world *world)
{
    struct envelope const envelope = world->queue[world->queue_start++ % QUEUE_MAX];
    struct tacit_select_message *message = NULL;
    uint32_t const to = envelope.to == SITES ? TACIT_HUB : envelope.to;
    assert_int_equal(tacit_wire_decode(WIRE(select, 0, SITES, 0, to), envelope.bytes, envelope.size,
                                       &message, tacit_wire_heap()),
                     TACIT_OK);
    watch(world, message);
    struct tacit_event const event = {
        .kind = TACIT_EVENT_RECEIVE, .now_us = world->now_us, .as.message = message};
    (void)step(world, envelope.to, &event);
    testing_free(message);
}

static void pass_time(struct world *world)
{
    uint64_t next = TACIT_NEVER;
    for (uint32_t i = 0; i <= SITES; i++)
        next = world->nodes[i].deadline_us < next ? world->nodes[i].deadline_us : next;
    if (next == TACIT_NEVER)
        return;
    world->now_us = next > world->now_us ? next : world->now_us + 1;
    for (uint32_t i = 0; i <= SITES; i++) {
        struct tacit_event const event = {.kind = TACIT_EVENT_TIMEOUT, .now_us = world->now_us};
        if (world->nodes[i].deadline_us <= world->now_us)
            (void)step(world, i, &event);
    }
}

static bool is_over(const struct world *world)
{
    for (uint32_t site = 0; site < SITES; site++) {
        struct tacit_select_site_view view;
        tacit_select_site_view(site_of(world, site), &view);
        if (view.phase != TACIT_SELECT_FINISHED)
            return false;
    }
    return true;
}

static void start(struct world *world)
{
    struct tacit_event const event = {.kind = TACIT_EVENT_START};
    for (uint32_t i = 0; i <= SITES; i++)
        assert_int_equal(step(world, i, &event), TACIT_OK);
}

static void go_on(struct world *world)
{
    bool has_trained = false;
    world->now_us += 1000;
    if (world->queue_start < world->queue_end) {
        deliver(world);
        return;
    }
    for (uint32_t site = 0; site < SITES; site++)
        if (world->nodes[site].is_training) {
            train(world, site);
            has_trained = true;
        }
    if (!has_trained && (world->two == NULL || !ask_helper(world)))
        pass_time(world);
}

static void play(struct world *world)
{
    for (uint32_t i = 0; i < 200000 && !is_over(world); i++)
        go_on(world);
    assert_true(is_over(world));
}

static void check_models(const struct world *world)
{
    struct tacit_select_hub_view hub;
    tacit_select_hub_view(hub_of(world), &hub);
    assert_true(hub.finished);
    assert_int_equal(hub.round_count, ROUNDS);
    assert_int_equal(hub.asked_count, 0);
    assert_int_equal(hub.covered_count, 0);
    for (uint32_t i = 0; i < NUMBERS; i++)
        assert_true(fabs((double)hub.model[i] - world->twin[i]) <=
                    1e-5 * (1 + fabs(world->twin[i])));
    for (uint32_t site = 0; site < SITES; site++) {
        struct tacit_select_site_view view;
        tacit_select_site_view(site_of(world, site), &view);
        assert_memory_equal(view.model, hub.model, NUMBERS * sizeof(float));
        assert_true(hub.spent_nano[site] <= view.spent_nano);
        for (uint32_t round = 0; round < ROUNDS + 2; round++)
            assert_true(world->draws[site][round] <= 1);
    }
}

/* ---- Runs ---- */

TEST(the_model_is_the_average_of_what_was_released)
{
    struct world *const world = world_new(1);
    start(world);
    play(world);
    check_models(world);
    uint64_t total = 0;
    for (uint32_t site = 0; site < SITES; site++)
        for (uint32_t round = 1; round <= ROUNDS; round++) {
            total += world->draws[site][round];
            assert_true(world->settled[site][round] == (world->draws[site][round] > 0));
        }
    assert_int_equal(total, 2 * ROUNDS); /* two a round */
    for (uint32_t site = 0; site < SITES; site++)
        assert_true(world->draws[site][1] + world->draws[site][2] == 1); /* first all in turn */
    world_free(world);
}

/* Until the phase: returns the site that is in it. */
static uint32_t play_until(struct world *world, enum tacit_select_site_phase phase)
{
    for (uint32_t i = 0; i < 10000; i++) {
        for (uint32_t site = 0; site < SITES; site++) {
            struct tacit_select_site_view view;
            tacit_select_site_view(site_of(world, site), &view);
            if (view.phase == phase)
                return site;
        }
        if (world->queue_start < world->queue_end) {
            deliver(world);
            continue;
        }
        for (uint32_t site = 0; site < SITES; site++)
            if (world->nodes[site].is_training)
                train(world, site);
    }
    fail();
    return SITES;
}

/* Words that fail from the n-th on. */
struct short_entropy {
    struct tacit_rng *rng;
    uint32_t left;
};

static enum tacit_status fill_for_a_while(void *context, void *bytes, size_t size)
{
    struct short_entropy *const source = context;
    struct tacit_entropy const whole = tacit_rng_entropy(source->rng);
    if (source->left == 0)
        return TACIT_ENTROPY;
    source->left--;
    return whole.fill(whole.context, bytes, size);
}

#define KINDS 13u /* of numbers in the vector, in turn */

/* Does a state hold two neighbours of a vector's exact numbers? */
static bool holds_exact(const struct world *world, uint32_t site, const double *difference)
{
    static int64_t steps[NUMBERS];
    size_t const size = tacit_select_site_size(&world->site_configs[site]);
    tacit_vector_quantise(difference, NUMBERS, CLIP, steps);
    for (uint32_t i = 0; i < KINDS; i++)
        if (memmem(site_of(world, site), size, &steps[i], 2 * sizeof steps[0]) != NULL)
            return true;
    return false;
}

/* Not when it was drawn, and not when the entropy ends anywhere in the draw. */
TEST(no_exact_number_of_a_vector_is_in_the_state)
{
    static double difference[NUMBERS];
    struct world *const world = world_new(3);
    start(world);
    uint32_t const site = play_until(world, TACIT_SELECT_TRAINING);
    for (uint32_t i = 0; i < NUMBERS; i++)
        difference[i] = 1e-4 * (i % KINDS + 1);
    struct tacit_select_site_view view;
    tacit_select_site_view(site_of(world, site), &view);
    struct tacit_event const event = {.kind = TACIT_EVENT_REWARD,
                                      .now_us = world->now_us,
                                      .as.training = {view.round, difference}};
    enum tacit_status status = TACIT_ENTROPY;
    uint32_t failures = 0;
    for (uint32_t words = 0; status == TACIT_ENTROPY; words = 2 * words + 1) {
        struct short_entropy source = {&world->rng, words};
        struct tacit_entropy const entropy = {.fill = fill_for_a_while, .context = &source};
        struct tacit_select_update update;
        status = tacit_select_site_step(site_of(world, site), &event, &entropy, &update);
        failures += status == TACIT_ENTROPY ? 1 : 0;
        assert_true(status != TACIT_ENTROPY || update.train);
        assert_true(update.deadline_us > event.now_us); /* then again, or for an answer */
        assert_true(update.deadline_us < TACIT_NEVER / 2);
        assert_false(holds_exact(world, site, difference));
    }
    assert_int_equal(status, TACIT_OK);
    assert_true(failures > 5);
    world_free(world);
}

/* Whoever chooses, and however it anneals, a run comes to its end; the digest knows who trained. */
TEST(every_selector_ends_its_run)
{
    static const enum tacit_selector selectors[] = {TACIT_SELECTOR_EXACT,     TACIT_SELECTOR_BRUTE,
                                                    TACIT_SELECTOR_ANNEALING, TACIT_SELECTOR_RANDOM,
                                                    TACIT_SELECTOR_CLUSTERED, TACIT_SELECTOR_ALL};
    for (uint32_t kind = 0; kind < 6 + 8; kind++) {
        struct world *const world = world_of(30 + kind, 5, false);
        struct node *const hub = &world->nodes[SITES];
        uint32_t const options = kind < 6 ? 0 : kind - 6;
        world->hub_config.selector = kind < 6 ? selectors[kind] : TACIT_SELECTOR_ANNEALING;
        world->hub_config.annealing =
            (struct tacit_select_annealing){.is_vanilla = options & 1u,
                                            .sign_as_printed = options & 2u,
                                            .keep_last = options & 4u,
                                            .kappa = 2,
                                            .iterations = 7};
        testing_free(hub->state);
        node_new(hub, tacit_select_hub_size(&world->hub_config));
        assert_int_equal(tacit_select_hub_init(hub->state, &world->hub_config), TACIT_OK);
        start(world);
        play(world);
        world_free(world);
    }
}

/* ---- Two aggregators ---- */

/* The noise of two in each total, whoever is in it; who has it exactly is the helper's to know. */
TEST(two_aggregators_train_on_totals_with_the_noise_of_two)
{
    struct world *const world = world_of(1, NUMBERS, true);
    start(world);
    play(world);
    check_models(world);
    double const ratio = world->two->squares / (double)world->two->noises;
    assert_int_equal(world->two->totals, ROUNDS);
    assert_true(fabs(ratio - 2) < 4 * 2 * sqrt(5.0 / (double)world->two->noises));
    for (uint32_t site = 0; site < SITES; site++)
        for (uint32_t round = 1; round <= ROUNDS; round++)
            assert_true(world->settled[site][round] == (world->draws[site][round] > 0));
    world_free(world);
}
