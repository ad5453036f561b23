/* Small training federations in which everything comes to everybody at any time: words twice, late,
 * of old rounds, with one member changed; trainings that nobody asked for; deadlines a moment too
 * early; clocks that begin anew; deaths, old states, entropy that ends in the middle of a step.
 * What is refused leaves no trace, every state is one, and the digest knows all that happened. */
#include "tacit/select.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../support/damage.h"
#include "../support/digest.h"
#include "../../src/proto/select/budget.h"
#include "../../src/proto/select/piece.h"

/* Of all steps below: digest.h. */
#define DIGEST UINT64_C(0x818d6fc4e87dce05)
/* .. and of what the checks say of damaged states: damage.h. */
#define VERDICTS UINT64_C(0x407d1ba5b6eee72d)

#define SITES_MAX 5u
#define NUMBERS_MAX 7u
#define LETTERS 64u
#define RUN_ID UINT64_C(0x123456789)
#define WORLDS 120u
#define EVENTS 350u
#define CHANGES 23u /* of a word */

struct letter {
    struct tacit_select_message message;
    uint32_t to; /* the node; the hub last */
    uint64_t set;
    uint8_t digests[2 * TACIT_SHA256_BYTES];
    float model[NUMBERS_MAX + 1];
    int64_t steps[NUMBERS_MAX + 1];
};

struct node {
    void *state;
    void *kept; /* what is durable */
    void *old;  /* a state of some time ago */
    size_t size;
    uint64_t now_us;
    uint64_t deadline_us;
    bool is_training;
};

struct world {
    uint32_t sites;
    uint32_t numbers;
    struct tacit_select_site_config site_configs[SITES_MAX];
    struct tacit_select_hub_config hub_config;
    struct node nodes[SITES_MAX + 1];
    struct letter letters[LETTERS]; /* the newest ones; those from `next` to `end` have not come */
    uint32_t next;
    uint32_t end;
    struct tacit_rng chance;
    struct tacit_rng noise;
    uint32_t fills_left; /* of the entropy, in this step */
};

/* What has happened in all worlds: a storm that misses something is none. */
static uint32_t statuses[16]; /* by their numbers, which are 0 and below */
static uint32_t ends;

static uint32_t below(struct world *world, uint32_t bound)
{
    return (uint32_t)tacit_rng_below(&world->chance, bound);
}

static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    struct world *const world = context;
    struct tacit_entropy const whole = tacit_rng_entropy(&world->noise);
    if (world->fills_left == 0)
        return TACIT_ENTROPY;
    world->fills_left--;
    return whole.fill(whole.context, bytes, size);
}

/* Salts come from a source of their own, which fails now and then while the noise does not. */
static enum tacit_status fill_key(void *context, void *bytes, size_t size)
{
    struct world *const world = context;
    struct tacit_entropy const whole = tacit_rng_entropy(&world->noise);
    return below(world, 3) == 0 ? TACIT_ENTROPY : whole.fill(whole.context, bytes, size);
}

/* ---- The world ---- */

static struct tacit_select_budget budget_of(struct world *world)
{
    static const double totals[] = {500, 1e-5, 1.2e-5};
    uint32_t const kind = below(world, 3);
    if (kind == 0)
        return (struct tacit_select_budget){.kind = TACIT_SELECT_UNIFORM,
                                            .is_exact = true,
                                            .total = 300,
                                            .participations = 1 + below(world, 3)};
    return (struct tacit_select_budget){.kind = TACIT_SELECT_GEOMETRIC,
                                        .is_exact = true,
                                        .total = totals[below(world, 3)],
                                        .eta = 0.5};
}

static void configure(struct world *world)
{
    static const enum tacit_selector selectors[] = {TACIT_SELECTOR_EXACT,     TACIT_SELECTOR_BRUTE,
                                                    TACIT_SELECTOR_ANNEALING, TACIT_SELECTOR_RANDOM,
                                                    TACIT_SELECTOR_CLUSTERED, TACIT_SELECTOR_ALL};
    world->sites = 1 + below(world, SITES_MAX);
    world->numbers = 1 + below(world, NUMBERS_MAX);
    /* One after the other: in a list of initial values no order is given. */
    uint32_t const rounds = 1 + below(world, 4);
    uint32_t const users = 1 + below(world, world->sites);
    uint32_t const quorum = 1 + below(world, world->sites);
    enum tacit_selector const selector = selectors[below(world, 6)];
    bool const is_vanilla = below(world, 2) == 0;
    struct tacit_select_budget const budget = budget_of(world);
    world->hub_config = (struct tacit_select_hub_config){
        .run_id = RUN_ID,
        .select = {.user_count = world->sites,
                   .users_per_round = users,
                   .alpha = 100,
                   .beta = 2,
                   .gamma = 5,
                   .zeta = 1,
                   .latency_min = 0.01,
                   .budget = budget},
        .selector = selector,
        .annealing = {.is_vanilla = is_vanilla, .kappa = 2, .iterations = 5},
        .dimension = world->numbers,
        .round_count = rounds,
        .quorum = quorum,
        .round_timeout_us = 20000,
        .clip = 3};
    bool const is_as_thought = below(world, 2) == 0;
    for (uint32_t site = 0; site < world->sites; site++)
        world->site_configs[site] = (struct tacit_select_site_config){
            .run_id = RUN_ID,
            .agent = site,
            .agent_count = world->sites,
            .dimension = world->numbers,
            .round_count = rounds,
            .clip = 3,
            .budget = is_as_thought ? world->hub_config.select.budget : budget_of(world),
            .resend_after_us = 1000};
}

static void node_new(struct node *node, size_t size)
{
    assert_true(size > 0);
    *node = (struct node){.size = size, .now_us = 5000, .deadline_us = TACIT_NEVER};
    node->state = calloc(1, size);
    node->kept = calloc(1, size);
    node->old = calloc(1, size);
    assert_true(node->state != NULL && node->kept != NULL && node->old != NULL);
}

static struct world *world_new(uint32_t seed)
{
    static const float initial[NUMBERS_MAX] = {1, -2, 0.5f, 0, 3, 4, -5};
    static const uint64_t sizes[SITES_MAX] = {3, 1, 7, 2, 9};
    struct world *const world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->chance = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_REWARD);
    world->noise = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_NOISE);
    configure(world);
    bool const has_sizes = below(world, 2) == 0;
    bool const has_model = below(world, 2) == 0;
    struct node *const hub = &world->nodes[world->sites];
    node_new(hub, tacit_select_hub_size(&world->hub_config));
    assert_int_equal(tacit_select_hub_init(hub->state, &world->hub_config, has_sizes ? sizes : NULL,
                                           has_model ? initial : NULL),
                     TACIT_OK);
    for (uint32_t site = 0; site < world->sites; site++) {
        node_new(&world->nodes[site], tacit_select_site_size(&world->site_configs[site]));
        assert_int_equal(
            tacit_select_site_init(world->nodes[site].state, &world->site_configs[site]), TACIT_OK);
    }
    for (uint32_t i = 0; i <= world->sites; i++) {
        memcpy(world->nodes[i].kept, world->nodes[i].state, world->nodes[i].size);
        memcpy(world->nodes[i].old, world->nodes[i].state, world->nodes[i].size);
    }
    return world;
}

static void world_free(struct world *world)
{
    for (uint32_t i = 0; i <= world->sites; i++) {
        free(world->nodes[i].state);
        free(world->nodes[i].kept);
        free(world->nodes[i].old);
    }
    free(world);
}

/* ---- What is said and shown ---- */

static void digest_message(const struct tacit_select_message *message, uint32_t numbers)
{
    uint64_t const words[] = {message->kind,
                              message->from,
                              message->to,
                              message->run_id,
                              message->round,
                              message->last,
                              message->seen,
                              message->set == NULL ? 9 : message->set[0],
                              message->spent_nano,
                              message->digest_count,
                              message->participation,
                              message->price_nano,
                              message->closed,
                              message->vector,
                              message->first,
                              message->mask,
                              message->number_count};
    digest_bytes(words, sizeof words);
    digest_bytes(message->model, sizeof message->model);
    digest_bytes(&message->commit, sizeof message->commit);
    if (message->digests != NULL)
        digest_bytes(message->digests, message->digest_count * (size_t)TACIT_SHA256_BYTES);
    if (message->model_piece != NULL)
        digest_bytes(message->model_piece, numbers * sizeof(float));
    if (message->step_piece != NULL)
        digest_bytes(message->step_piece, numbers * sizeof(int64_t));
}

static void digest_site(const struct tacit_select_site *site, uint32_t numbers)
{
    struct tacit_select_site_view view;
    tacit_select_site_look(site, &view);
    uint64_t const words[] = {view.phase,         view.round,      view.draw_round,
                              view.release_round, view.price_nano, view.participation,
                              view.spent_nano,    view.is_blocked, view.is_exhausted};
    digest_bytes(words, sizeof words);
    digest_bytes(view.head, sizeof view.head);
    digest_bytes(view.model, numbers * sizeof *view.model);
    if (view.draw_round > 0) {
        struct tacit_select_message const release = tacit_select_site_release(site);
        digest_message(&release, numbers);
    }
}

static void digest_hub(const struct tacit_select_hub *hub, uint32_t sites, uint32_t numbers)
{
    struct tacit_select_hub_view view;
    tacit_select_hub_look(hub, &view);
    uint64_t const words[] = {view.round,          view.round_count,       view.is_open,
                              view.is_finished,    view.is_exhausted,      view.asked_count,
                              view.received_count, view.asked[0],          view.received[0],
                              view.flagged[0],     view.select.round_count};
    digest_bytes(words, sizeof words);
    digest_bytes(view.seen, sites * sizeof *view.seen);
    digest_bytes(view.spent_nano, sites * sizeof *view.spent_nano);
    digest_bytes(view.select.counts, sites * sizeof *view.select.counts);
    digest_reals(view.select.means, sites);
    digest_reals(view.latencies, view.asked_count);
    for (uint32_t i = 0; i < numbers; i++)
        digest_real((double)view.model[i]);
}

static void post(struct world *world, uint32_t to, const struct tacit_select_message *message)
{
    struct letter *const letter = &world->letters[world->end++ % LETTERS];
    if (world->end - world->next > LETTERS)
        world->next++; /* lost */
    *letter = (struct letter){.message = *message, .to = to};
    if (message->set != NULL)
        letter->set = message->set[0];
    if (message->digests != NULL)
        memcpy(letter->digests, message->digests, TACIT_SHA256_BYTES);
    if (message->model_piece != NULL)
        memcpy(letter->model, message->model_piece, world->numbers * sizeof(float));
    if (message->step_piece != NULL)
        memcpy(letter->steps, message->step_piece, world->numbers * sizeof(int64_t));
}

/* ---- Steps ---- */

static bool is_site(const void *state, size_t size, void *config)
{
    return tacit_select_site_check(state, size, config) == TACIT_OK;
}

static bool is_hub(const void *state, size_t size, void *config)
{
    return tacit_select_hub_check(state, size, config) == TACIT_OK;
}

static void check_state(struct world *world, uint32_t at)
{
    struct node const *const node = &world->nodes[at];
    bool const is_of_hub = at == world->sites;
    void *const config = is_of_hub ? (void *)&world->hub_config : &world->site_configs[at];
    assert_true((is_of_hub ? is_hub : is_site)(node->state, node->size, config));
    damage_some(node->state, node->size, is_of_hub ? is_hub : is_site, config);
}

static void carry_out(struct world *world, uint32_t at, const struct tacit_select_update *update)
{
    struct node *const node = &world->nodes[at];
    assert_true(update->persist ||
                !(update->drawn || update->settled > 0 || update->round_is_over));
    if (update->persist)
        memcpy(node->kept, node->state, node->size);
    node->deadline_us = update->deadline_us;
    node->is_training = (node->is_training && !update->stop) || update->train;
    for (uint32_t i = 0; i < update->message_count; i++) {
        struct tacit_select_message const *const message = &update->messages[i];
        digest_message(message, world->numbers);
        if (message->to != TACIT_EVERYONE)
            post(world, message->to == TACIT_HUB ? world->sites : message->to, message);
        for (uint32_t site = 0; message->to == TACIT_EVERYONE && site < world->sites; site++)
            post(world, site, message);
    }
}

/* The last part of a hub's block, the users of a choice, holds nothing between two steps. */
static void spoil_scratch(struct world *world)
{
    struct node *const hub = &world->nodes[world->sites];
    size_t const slots = world->hub_config.selector == TACIT_SELECTOR_ALL
                             ? world->sites
                             : world->hub_config.select.users_per_round;
    size_t const bytes = (slots + 1) / 2 * sizeof(uint64_t);
    memset((unsigned char *)hub->state + hub->size - bytes, 0x5a, bytes);
}

static void step(struct world *world, uint32_t at, struct tacit_select_event event)
{
    struct node *const node = &world->nodes[at];
    struct tacit_entropy const entropy = {.fill = fill, .context = world};
    struct tacit_select_update update;
    void *const before = malloc(node->size);
    assert_non_null(before);
    spoil_scratch(world);
    memcpy(before, node->state, node->size);
    world->fills_left = below(world, 3) == 0 ? below(world, 12) : UINT32_MAX;
    struct tacit_entropy const keys = {.fill = fill_key, .context = world};
    event.keys = below(world, 2) == 0 ? &keys : NULL;
    event.now_us = node->now_us;
    enum tacit_status const status =
        at == world->sites ? tacit_select_hub_step(node->state, &event, &entropy, &update)
                           : tacit_select_site_step(node->state, &event, &entropy, &update);
    statuses[-(int)status]++;
    if (status == TACIT_MALFORMED || status == TACIT_STRANGER || status == TACIT_UNEXPECTED ||
        status == TACIT_INVALID) {
        assert_memory_equal(before, node->state, node->size);
        assert_true(!update.persist && update.message_count == 0);
    }
    free(before);
    digest_step(status,
                update.persist | (uint64_t)update.train << 1 | (uint64_t)update.stop << 2 |
                    (uint64_t)update.drawn << 3 | (uint64_t)update.has_model << 4 |
                    (uint64_t)update.round_is_over << 5 | (uint64_t)update.message_count << 6 |
                    (uint64_t)update.settled << 16,
                update.deadline_us, NULL, 0);
    if (at == world->sites)
        digest_hub(node->state, world->sites, world->numbers);
    else
        digest_site(node->state, world->numbers);
    check_state(world, at);
    carry_out(world, at, &update);
}

static void say(struct world *world, uint32_t at, enum tacit_select_event_kind kind)
{
    step(world, at, (struct tacit_select_event){.kind = kind});
}

/* ---- What may come ---- */

static void change_number(struct world *world, uint32_t *number)
{
    static const uint32_t differences[] = {1, UINT32_MAX, 2, 1000000};
    *number = below(world, 5) == 0 ? 0 : *number + differences[below(world, 4)];
}

static void change_large(struct world *world, uint64_t *number)
{
    *number = below(world, 4) == 0 ? UINT64_MAX : *number + 1 - 2 * (uint64_t)below(world, 2);
}

/* One member is another one. */
static void change(struct world *world, struct letter *letter)
{
    struct tacit_select_message *const message = &letter->message;
    uint32_t const others[] = {TACIT_HUB, TACIT_EVERYONE, below(world, world->sites), world->sites};
    uint8_t *const bytes[] = {letter->digests, message->model, message->commit.commitment,
                              message->commit.previous, message->commit.salt};
    uint32_t *const numbers[] = {&message->round, &message->seen,  &message->digest_count,
                                 &message->first, &message->round, &message->participation};
    uint32_t const what = below(world, CHANGES);
    if (what < 6)
        change_number(world, numbers[what]);
    else if (what < 11)
        bytes[what - 6][below(world, 32)] ^= 0x20;
    else if (what == 11)
        message->kind = (enum tacit_select_message_kind)(1 + below(world, 8));
    else if (what == 12)
        message->from = others[below(world, 4)];
    else if (what == 13)
        message->to = others[below(world, 4)];
    else if (what == 14)
        message->run_id ^= UINT64_C(1) << 32;
    else if (what == 15)
        message->last = !message->last;
    else if (what == 16)
        letter->set ^= UINT64_C(1) << below(world, world->sites);
    else if (what == 17)
        change_large(world, below(world, 2) == 0 ? &message->spent_nano : &message->price_nano);
    else if (what == 18)
        message->closed = !message->closed;
    else if (what == 19)
        message->vector =
            message->vector == TACIT_SELECT_MODEL ? TACIT_SELECT_STEPS : TACIT_SELECT_MODEL;
    else if (what == 20)
        message->mask = (uint32_t)tacit_rng_next(&world->chance);
    else if (what == 21)
        message->number_count += 1 - 2 * below(world, 2);
    else
        letter->steps[0]++, letter->model[0] += 1;
}

static void hear(struct world *world, const struct letter *came, bool is_changed)
{
    struct letter letter = *came;
    for (uint32_t i = 0; is_changed && i <= below(world, 2); i++)
        change(world, &letter);
    letter.message.set = &letter.set;
    letter.message.digests = letter.digests;
    letter.message.model_piece = letter.model;
    letter.message.step_piece = letter.steps;
    step(world, letter.to,
         (struct tacit_select_event){.kind = TACIT_SELECT_RECEIVE, .message = &letter.message});
}

static void train(struct world *world, uint32_t site, bool is_wild)
{
    double difference[NUMBERS_MAX];
    struct tacit_select_site_view view;
    tacit_select_site_look(world->nodes[site].state, &view);
    for (uint32_t i = 0; i < world->numbers; i++)
        difference[i] = tacit_rng_uniform(&world->chance) - 0.5;
    difference[0] *= below(world, 4) == 0 ? 40 : 1; /* longer than the clip */
    bool const is_old = is_wild && below(world, 3) == 0;
    bool const has_none = is_wild && below(world, 4) == 0;
    world->nodes[site].is_training = false;
    step(world, site,
         (struct tacit_select_event){.kind = TACIT_SELECT_TRAINED,
                                     .round =
                                         is_old ? view.round - 1 + 2 * below(world, 2) : view.round,
                                     .difference = has_none ? NULL : difference});
}

/* A process that died comes again, from what it kept or, rarely, from a state of before, and its
 * clock with it. */
static void die(struct world *world, uint32_t at)
{
    struct node *const node = &world->nodes[at];
    memcpy(node->state, below(world, 4) == 0 ? node->old : node->kept, node->size);
    memcpy(node->kept, node->state, node->size);
    node->is_training = false;
    if (below(world, 3) == 0)
        node->now_us = below(world, 3000);
    say(world, at, TACIT_SELECT_START);
}

/* At the deadline, a moment before it, or whenever. */
static void time_out(struct world *world, uint32_t at)
{
    struct node *const node = &world->nodes[at];
    uint32_t const when = below(world, 4);
    uint64_t const due = node->deadline_us - (when == 0 ? 1 : 0);
    if (when < 3 && node->deadline_us != TACIT_NEVER && due > node->now_us)
        node->now_us = due;
    say(world, at, TACIT_SELECT_TIMEOUT);
}

static void happen(struct world *world)
{
    uint32_t const what = below(world, 100);
    uint32_t const at = below(world, world->sites + 1);
    uint32_t const site = below(world, world->sites);
    world->nodes[at].now_us += below(world, 700);
    if (what < 55 && world->next < world->end)
        hear(world, &world->letters[world->next++ % LETTERS], false);
    else if (what < 75 && world->end > 0)
        hear(world, &world->letters[below(world, world->end < LETTERS ? world->end : LETTERS)],
             what < 70);
    else if (what < 88 && (world->nodes[site].is_training || what < 77))
        train(world, site, below(world, 3) == 0);
    else if (what < 94)
        time_out(world, at);
    else if (what < 96)
        say(world, at, TACIT_SELECT_AGAIN);
    else if (what < 98)
        die(world, at);
    else if (what == 98)
        memcpy(world->nodes[at].old, world->nodes[at].state, world->nodes[at].size);
}

/* After the storm: in order, and nothing is lost. */
static void calm_down(struct world *world)
{
    for (uint32_t i = 0; i < 200; i++) {
        bool has_trained = false;
        for (uint32_t k = 0; k < 30 && world->next < world->end; k++)
            hear(world, &world->letters[world->next++ % LETTERS], false);
        for (uint32_t site = 0; site < world->sites; site++)
            if (world->nodes[site].is_training) {
                train(world, site, false);
                has_trained = true;
            }
        for (uint32_t at = 0; !has_trained && at <= world->sites; at++)
            if (world->nodes[at].deadline_us != TACIT_NEVER && world->next == world->end) {
                world->nodes[at].now_us = world->nodes[at].deadline_us;
                say(world, at, TACIT_SELECT_TIMEOUT);
            }
    }
    struct tacit_select_hub_view view;
    tacit_select_hub_look(world->nodes[world->sites].state, &view);
    ends += view.is_finished ? 1 : 0;
}

static void whatever_comes_is_taken_or_leaves_no_trace(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < WORLDS; seed++) {
        struct world *const world = world_new(seed);
        for (uint32_t at = 0; at <= world->sites; at++)
            say(world, at, TACIT_SELECT_START);
        for (uint32_t i = 0; i < EVENTS; i++)
            happen(world);
        calm_down(world);
        world_free(world);
    }
    static const enum tacit_status expected[] = {TACIT_OK,         TACIT_MALFORMED, TACIT_STRANGER,
                                                 TACIT_UNEXPECTED, TACIT_ENTROPY,   TACIT_FORKED,
                                                 TACIT_ROLLBACK};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_true(statuses[-(int)expected[i]] > 50);
    assert_true(ends > WORLDS / 2);
}

/* ---- Pieces ---- */

/* The next ones that are missing, few at once and near each other; they are there when all are. */
static void missing_pieces_are_asked_for_in_their_order(void **state)
{
    (void)state;
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_REWARD);
    for (uint32_t i = 0; i < 4000; i++) {
        uint32_t const count = 1 + (uint32_t)tacit_rng_below(&rng, 100);
        uint64_t have[2] = {tacit_rng_next(&rng), tacit_rng_next(&rng)};
        for (uint32_t more = 0; more < i % 4; more++) {
            have[0] |= tacit_rng_next(&rng);
            have[1] |= tacit_rng_next(&rng);
        }
        uint32_t first = 1000;
        uint32_t mask;
        bool const is_missing = select_next_missing(have, count, &first, &mask);
        uint64_t const words[] = {is_missing, first, mask};
        digest_bytes(words, sizeof words);
        uint32_t missing = 0;
        while (missing < count && tacit_bits_has(have, missing))
            missing++;
        assert_true(is_missing == (missing < count));
        if (!is_missing)
            continue;
        assert_int_equal(first, missing);
        assert_true(first + 31u - (uint32_t)__builtin_clz(mask) < count);
        assert_in_range(__builtin_popcount(mask), 1, TACIT_SELECT_PIECES_AT_ONCE);
        for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
            uint32_t const piece = first + (uint32_t)__builtin_ctz(rest);
            assert_false(tacit_bits_has(have, piece));
            assert_false(select_window_is_done(have, first, mask));
            tacit_bits_add(have, piece);
        }
        assert_true(select_window_is_done(have, first, mask));
    }
}

static void a_request_names_pieces_that_there_are(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 70; count++)
        for (uint32_t first = 0; first <= count + 1; first++)
            for (uint32_t bit = 0; bit < 32; bit++) {
                struct tacit_select_message const request = {.first = first, .mask = 1u << bit};
                assert_true(select_request_fits(&request, count) == (first + bit < count));
            }
    struct tacit_select_message const all = {.mask = UINT32_MAX};
    assert_true(select_request_fits(&all, 32));
    assert_false(select_request_fits(&all, 31));
}

static void vectors_are_cut_into_whole_pieces_and_a_rest(void **state)
{
    (void)state;
    static const enum tacit_select_vector vectors[] = {TACIT_SELECT_MODEL, TACIT_SELECT_STEPS};
    static const uint32_t wholes[] = {TACIT_SELECT_MODEL_NUMBERS, TACIT_SELECT_UPDATE_NUMBERS};
    for (uint32_t v = 0; v < 2; v++)
        for (uint32_t whole = 1; whole <= 3; whole++) {
            uint32_t const numbers = whole * wholes[v];
            assert_int_equal(tacit_select_piece_count(numbers, vectors[v]), whole);
            assert_int_equal(tacit_select_piece_count(numbers + 1, vectors[v]), whole + 1);
            assert_int_equal(tacit_select_piece_numbers(numbers, vectors[v], whole - 1), wholes[v]);
            assert_int_equal(tacit_select_piece_numbers(numbers + 1, vectors[v], whole), 1);
        }
}

/* ---- States ---- */

/* .. and no bytes are a state of any. */
static void a_configuration_that_is_refused_has_no_states(void **state)
{
    (void)state;
    struct world *const world = world_new(1);
    void *const hub = world->nodes[world->sites].state;
    struct tacit_select_hub_config wrong = world->hub_config;
    wrong.quorum = 0;
    assert_int_equal(tacit_select_hub_init(hub, &wrong, NULL, NULL), TACIT_INVALID);
    assert_int_equal(tacit_select_hub_check(hub, 0, &wrong), TACIT_MALFORMED);
    assert_int_equal(tacit_select_hub_check(hub, 1, &wrong), TACIT_MALFORMED);
    for (size_t i = 0; i < 2; i++) { /* nor are more or fewer of a good one */
        size_t const by = 16 * i;
        assert_false(is_hub(hub, world->nodes[world->sites].size - 8 + by, &world->hub_config));
        assert_false(
            is_site(world->nodes[0].state, world->nodes[0].size - 8 + by, &world->site_configs[0]));
    }
    assert_int_equal(tacit_select_check(hub, 0, &(struct tacit_select_config){.alpha = 1}),
                     TACIT_MALFORMED);
    struct tacit_select_site_config wrong_site = world->site_configs[0];
    wrong_site.clip = 0;
    assert_int_equal(tacit_select_site_check(world->nodes[0].state, 0, &wrong_site),
                     TACIT_MALFORMED);
    world_free(world);
}

/* ---- Budgets ---- */

static void tell(struct tacit_select_site *site, const struct tacit_select_message *message,
                 struct tacit_select_update *update)
{
    struct tacit_select_message said = *message;
    said.from = TACIT_HUB;
    said.run_id = RUN_ID;
    struct tacit_select_event const event = {.kind = TACIT_SELECT_RECEIVE, .message = &said};
    assert_int_equal(tacit_select_site_step(site, &event, NULL, update), TACIT_OK);
}

/* A whole round of one number with a site that trains, or says that it cannot. */
static bool take_part(struct tacit_select_site *site, uint32_t round,
                      const struct tacit_entropy *entropy)
{
    uint64_t const set = 1;
    float const model = 0;
    double const difference = 1;
    uint8_t digest[TACIT_SHA256_BYTES];
    struct tacit_select_update update;
    select_digest_model(&model, 1, digest);
    tell(site,
         &(struct tacit_select_message){.kind = TACIT_SELECT_ORDER,
                                        .round = round,
                                        .set = &set,
                                        .digests = digest,
                                        .digest_count = 1},
         &update);
    struct tacit_select_message piece = select_model_piece(&model, 1, 0);
    piece.round = round;
    tell(site, &piece, &update);
    if (!update.train)
        return false;
    struct tacit_select_event const event = {
        .kind = TACIT_SELECT_TRAINED, .round = round, .difference = &difference};
    assert_int_equal(tacit_select_site_step(site, &event, entropy, &update), TACIT_OK);
    assert_true(update.drawn);
    struct tacit_select_message grant = {.kind = TACIT_SELECT_GRANT, .round = round};
    for (uint32_t i = 0; i < update.message_count; i++)
        if (update.messages[i].kind == TACIT_SELECT_COMMIT)
            grant.commit = update.messages[i].commit;
    tell(site, &grant, &update);
    return true;
}

/* What dividing the budget leaves over would pay for once more: 2000 times 1908, and 1999. */
static void a_site_takes_part_as_often_as_it_may_and_no_more(void **state)
{
    (void)state;
    struct tacit_select_site_config const config = {.run_id = RUN_ID,
                                                    .agent_count = 1,
                                                    .dimension = 1,
                                                    .round_count = 3000,
                                                    .clip = 1,
                                                    .budget = {.kind = TACIT_SELECT_UNIFORM,
                                                               .is_exact = true,
                                                               .total = 0.0038179995,
                                                               .participations = 2000},
                                                    .resend_after_us = 1000};
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    struct tacit_select_site *const site = malloc(tacit_select_site_size(&config));
    assert_non_null(site);
    assert_int_equal(tacit_select_site_init(site, &config), TACIT_OK);
    struct tacit_select_site_view view;
    for (uint32_t round = 1; round <= 2000; round++) {
        tacit_select_site_look(site, &view);
        assert_false(view.is_exhausted);
        assert_true(take_part(site, round, &entropy));
    }
    tacit_select_site_look(site, &view);
    assert_int_equal(view.spent_nano, 2000 * 1908);
    assert_true(view.is_exhausted);
    assert_false(take_part(site, 2001, &entropy));
    free(site);
}

/* The price of the next one stands in the state once; if it is more than is left, nothing is paid.
 */
static void a_site_whose_price_is_more_than_is_left_pays_nothing(void **state)
{
    (void)state;
    struct tacit_select_site_config const config = {
        .run_id = RUN_ID,
        .agent_count = 1,
        .dimension = 1,
        .round_count = 30,
        .clip = 1,
        .budget = {.kind = TACIT_SELECT_GEOMETRIC, .is_exact = true, .total = 3, .eta = 0.1},
        .resend_after_us = 1000};
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    size_t const size = tacit_select_site_size(&config);
    uint64_t *const words = malloc(size);
    assert_non_null(words);
    struct tacit_select_site *const site = (void *)words;
    assert_int_equal(tacit_select_site_init(site, &config), TACIT_OK);
    assert_true(take_part(site, 1, &entropy));
    struct tacit_select_site_view view;
    tacit_select_site_look(site, &view);
    struct select_prices const prices = select_prices_of(&config.budget);
    uint64_t const next = select_price_after(&prices, view.price_nano);
    uint64_t const left = prices.total_nano - view.spent_nano;
    size_t at = 0;
    while (words[at] != next)
        at++;
    words[at] = left;
    tacit_select_site_look(site, &view);
    assert_false(view.is_exhausted);
    words[at] = left + 1;
    tacit_select_site_look(site, &view);
    assert_true(view.is_exhausted);
    assert_false(take_part(site, 2, &entropy));
    free(words);
}

/* The block of a hub, part by part: as it grows from the smallest one on. */
static size_t bytes_of_parts(uint32_t sites, uint32_t slots, uint32_t numbers)
{
    struct tacit_select_config select = {
        .user_count = sites,
        .users_per_round = 1,
        .beta = 1,
        .zeta = 1,
        .latency_min = 1,
        .budget = {.kind = TACIT_SELECT_GEOMETRIC, .is_exact = true, .total = 1, .eta = 1}};
    size_t const steps = tacit_select_piece_count(numbers, TACIT_SELECT_STEPS);
    size_t const models = tacit_select_piece_count(numbers, TACIT_SELECT_MODEL);
    size_t const set = 8 * ((sites + 63) / 64);
    size_t const of_numbers = 8 * (size_t)numbers + 8 * (((size_t)numbers + 1) / 2) + 32 * models;
    size_t const of_sites = 5 * set + 8 * (size_t)sites + sites * sizeof(struct tacit_commit_head) +
                            8 * (((size_t)sites + 1) / 2) + tacit_select_size(&select) +
                            8 * ((tacit_select_choice_size(sites) + 7) / 8);
    size_t const a_slot = 8 + 8 * (size_t)numbers + 8 + 8 * ((steps + 63) / 64) + 56 + 32 * steps;
    return of_numbers + of_sites + slots * a_slot + 8 * (((size_t)slots + 1) / 2);
}

static void a_hub_has_room_for_all_of_its_parts(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {1, 2, 7, 6144, 6145, 12288, 12289, 400000};
    struct tacit_select_hub_config config = {.select = {.user_count = 1,
                                                        .users_per_round = 1,
                                                        .beta = 1,
                                                        .zeta = 1,
                                                        .latency_min = 1,
                                                        .budget = {.kind = TACIT_SELECT_GEOMETRIC,
                                                                   .is_exact = true,
                                                                   .total = 1,
                                                                   .eta = 1}},
                                             .annealing = {.kappa = 1, .iterations = 1},
                                             .dimension = 1,
                                             .round_count = 1,
                                             .quorum = 1,
                                             .round_timeout_us = 1,
                                             .clip = 1};
    size_t const head = tacit_select_hub_size(&config) - bytes_of_parts(1, 1, 1);
    assert_in_range(head, 100, 300);
    for (uint32_t sites = 1; sites <= 130; sites += sites < 4 ? 1 : 21)
        for (uint32_t slots = 1; slots <= sites; slots += 1 + slots / 2)
            for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
                config.select.user_count = sites;
                config.select.users_per_round = slots;
                config.dimension = numbers[n];
                size_t const bytes = head + bytes_of_parts(sites, slots, numbers[n]);
                assert_int_equal(tacit_select_hub_size(&config),
                                 bytes > (size_t)1 << 28 ? 0 : bytes);
            }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_comes_is_taken_or_leaves_no_trace),
        cmocka_unit_test(missing_pieces_are_asked_for_in_their_order),
        cmocka_unit_test(a_request_names_pieces_that_there_are),
        cmocka_unit_test(vectors_are_cut_into_whole_pieces_and_a_rest),
        cmocka_unit_test(a_configuration_that_is_refused_has_no_states),
        cmocka_unit_test(a_site_takes_part_as_often_as_it_may_and_no_more),
        cmocka_unit_test(a_site_whose_price_is_more_than_is_left_pays_nothing),
        cmocka_unit_test(a_hub_has_room_for_all_of_its_parts),
    };
    int const failed = digest_end(argc, cmocka_run_group_tests(tests, NULL, NULL), DIGEST);
    return damage_end(argc, failed, VERDICTS);
}
