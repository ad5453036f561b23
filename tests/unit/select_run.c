/* A training federation in memory, of vectors in several pieces: the hub's and the sites' cores,
 * all of whose words pass through their wire form, and a plain twin of the average. Selectors,
 * deaths, losses, clones, hostile messages and two aggregators are the storm's
 * (round/storm_selection, round/storm_helper_training). */
#include "../support/wire_shape.h"
#include "tacit/wire_select.h"
#include <math.h>
#include "../support/testing.h"
#include "../support/digest.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0xfc792eaf63d8b86e))

#define SITES 4u
#define NUMBERS 13000u /* two pieces of a model, three of an update */
#define ROUNDS 6u
#define QUEUE_MAX 4096u
#define RUN_ID UINT64_C(77)
#define CLIP 3.0

struct envelope {
    uint32_t to;
    size_t size;
    uint8_t *bytes;
};

struct node {
    void *state;
    uint64_t deadline_us;
    bool is_training;
};

struct world {
    struct node nodes[SITES + 1]; /* the hub last */
    struct envelope queue[QUEUE_MAX];
    uint32_t queue_start;
    uint32_t queue_end;
    uint64_t now_us;
    struct tacit_rng rng;
    uint32_t draws[SITES][ROUNDS + 2];
    bool settled[SITES][ROUNDS + 2]; /* releases that need nothing more */
    double twin[NUMBERS];            /* the model, as the plain average makes it */
    double steps[SITES][NUMBERS];    /* what left of each site last */
};

/* ---- The world ---- */

static void add_node(struct world *world, uint32_t node, size_t size)
{
    assert_true(size > 0);
    world->nodes[node] =
        (struct node){.state = testing_calloc(1, size), .deadline_us = TACIT_NEVER};
}

static struct world *world_new(void)
{
    struct world *const world = testing_calloc(1, sizeof *world);
    struct tacit_select_budget const budget = {
        .kind = TACIT_SELECT_GEOMETRIC, .is_exact = true, .total = 500, .eta = 0.04};
    struct tacit_select_hub_config const hub = {.run_id = RUN_ID,
                                                .select = {.user_count = SITES,
                                                           .users_per_round = 2,
                                                           .alpha = 100,
                                                           .beta = 2,
                                                           .gamma = 5,
                                                           .zeta = 1,
                                                           .latency_min = 0.01,
                                                           .budget = budget},
                                                .selector = TACIT_SELECTOR_EXACT,
                                                .annealing = {.kappa = 1, .iterations = 1},
                                                .dimension = NUMBERS,
                                                .round_count = ROUNDS,
                                                .quorum = 2,
                                                .round_timeout_us = 30000000,
                                                .clip = CLIP};
    world->rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE);
    add_node(world, SITES, tacit_select_hub_size(&hub));
    assert_int_equal(tacit_select_hub_init(world->nodes[SITES].state, &hub), TACIT_OK);
    for (uint32_t site = 0; site < SITES; site++) {
        struct tacit_select_site_config const config = {.run_id = RUN_ID,
                                                        .agent = site,
                                                        .agent_count = SITES,
                                                        .dimension = NUMBERS,
                                                        .round_count = ROUNDS,
                                                        .clip = CLIP,
                                                        .budget = budget,
                                                        .resend_after_us = 1000000};
        add_node(world, site, tacit_select_site_size(&config));
        assert_int_equal(tacit_select_site_init(world->nodes[site].state, &config), TACIT_OK);
    }
    return world;
}

static struct tacit_select_hub_view hub_view(const struct world *world)
{
    struct tacit_select_hub_view view;
    tacit_select_hub_view(world->nodes[SITES].state, &view);
    return view;
}

static struct tacit_select_site_view site_view(const struct world *world, uint32_t site)
{
    struct tacit_select_site_view view;
    tacit_select_site_view(world->nodes[site].state, &view);
    return view;
}

static void digest_site(const struct world *world, uint32_t site)
{
    struct tacit_select_site_view const view = site_view(world, site);
    uint64_t const words[] = {view.phase,         view.round,      view.draw_round,
                              view.release_round, view.price_nano, view.participation,
                              view.spent_nano,    view.is_blocked, view.is_exhausted};
    digest_bytes(words, sizeof words);
    digest_bytes(view.head, sizeof view.head);
    for (uint32_t i = 0; i < NUMBERS; i += 97)
        digest_real((double)view.model[i]);
}

static void digest_hub(const struct world *world)
{
    struct tacit_select_hub_view const view = hub_view(world);
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
    for (uint32_t i = 0; i < NUMBERS; i += 97)
        digest_real((double)view.model[i]);
}

/* ---- Steps ---- */

static void post(struct world *world, const struct tacit_select_message *message, uint32_t to)
{
    struct envelope *const envelope = &world->queue[world->queue_end++ % QUEUE_MAX];
    assert_true(world->queue_end - world->queue_start < QUEUE_MAX);
    envelope->to = to;
    envelope->size = tacit_wire_bytes(WIRE(select, 0, SITES), message);
    envelope->bytes = testing_malloc(envelope->size);
    assert_true(envelope->size <= 50000);
    tacit_wire_encode(WIRE(select, 0, SITES), message, envelope->bytes);
    digest_bytes(envelope->bytes, envelope->size);
}

/* The average of Eq. (2) once more, from what left of those who drew: nobody is late here. */
static void follow_round(struct world *world, uint32_t round)
{
    double weight = 0;
    for (uint32_t site = 0; site < SITES; site++)
        weight += world->draws[site][round];
    for (uint32_t site = 0; site < SITES; site++)
        for (uint32_t i = 0; world->draws[site][round] > 0 && i < NUMBERS; i++)
            world->twin[i] += 1 / weight * world->steps[site][i];
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
            post(world, message, message->to == TACIT_HUB ? SITES : message->to);
        for (uint32_t site = 0; message->to == TACIT_EVERYONE && site < SITES; site++)
            post(world, message, site);
    }
}

static enum tacit_status step(struct world *world, uint32_t node, struct tacit_event event)
{
    void *const state = world->nodes[node].state;
    struct tacit_entropy const entropy = tacit_rng_entropy(&world->rng);
    struct tacit_select_update update;
    event.now_us = world->now_us;
    uint32_t const round = hub_view(world).round;
    enum tacit_status const status = node == SITES
                                         ? tacit_select_hub_step(state, &event, &entropy, &update)
                                         : tacit_select_site_step(state, &event, &entropy, &update);
    if (update.round_is_over)
        follow_round(world, round);
    digest_step(status,
                update.persist | (uint64_t)update.train << 1 | (uint64_t)update.stop << 2 |
                    (uint64_t)update.drawn << 3 | (uint64_t)update.has_model << 4 |
                    (uint64_t)update.round_is_over << 5 | (uint64_t)update.message_count << 6 |
                    (uint64_t)update.settled << 16,
                update.deadline_us, NULL, 0);
    if (node == SITES)
        digest_hub(world);
    else
        digest_site(world, node);
    carry_out(world, node, &update);
    return status;
}

static void train(struct world *world, uint32_t site)
{
    static double difference[NUMBERS];
    uint32_t const round = site_view(world, site).round;
    for (uint32_t i = 0; i < NUMBERS; i++)
        difference[i] = (i % 7 == site ? 1e-3 : -1e-4) * (double)round;
    struct tacit_event const event = {.kind = TACIT_EVENT_REWARD,
                                      .as.training = {round, difference}};
    world->nodes[site].is_training = false;
    assert_int_equal(step(world, site, event), TACIT_OK);
    assert_int_equal(site_view(world, site).draw_round, round);
    world->draws[site][round]++;
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
    (void)step(world, envelope.to,
               (struct tacit_event){.kind = TACIT_EVENT_RECEIVE, .as.message = message});
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
    for (uint32_t i = 0; i <= SITES; i++)
        if (world->nodes[i].deadline_us <= world->now_us)
            (void)step(world, i, (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT});
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
    if (!has_trained)
        pass_time(world);
}

static bool is_over(const struct world *world)
{
    for (uint32_t site = 0; site < SITES; site++)
        if (site_view(world, site).phase != TACIT_SELECT_FINISHED)
            return false;
    return true;
}

static void check_end(const struct world *world)
{
    struct tacit_select_hub_view const hub = hub_view(world);
    assert_true(hub.finished);
    assert_int_equal(hub.round_count, ROUNDS);
    assert_int_equal(hub.asked_count, 0);
    assert_int_equal(hub.covered_count, 0);
    for (uint32_t i = 0; i < NUMBERS; i++)
        assert_true(fabs((double)hub.model[i] - world->twin[i]) <=
                    1e-5 * (1 + fabs(world->twin[i])));
    for (uint32_t site = 0; site < SITES; site++) {
        struct tacit_select_site_view const view = site_view(world, site);
        assert_memory_equal(view.model, hub.model, NUMBERS * sizeof(float));
        assert_true(hub.spent_nano[site] <= view.spent_nano);
    }
}

TEST(the_model_is_the_average_of_what_was_released)
{
    struct world *const world = world_new();
    for (uint32_t i = 0; i <= SITES; i++)
        assert_int_equal(step(world, i, (struct tacit_event){.kind = TACIT_EVENT_START}), TACIT_OK);
    for (uint32_t i = 0; i < 200000 && !is_over(world); i++)
        go_on(world);
    assert_true(is_over(world));
    check_end(world);
    uint64_t total = 0;
    for (uint32_t site = 0; site < SITES; site++) {
        assert_true(world->draws[site][1] + world->draws[site][2] == 1); /* first all in turn */
        for (uint32_t round = 1; round <= ROUNDS; round++) {
            total += world->draws[site][round];
            assert_in_range(world->draws[site][round], 0, 1);
            assert_true(world->settled[site][round] == (world->draws[site][round] > 0));
        }
    }
    assert_int_equal(total, 2 * ROUNDS); /* two a round */
}
