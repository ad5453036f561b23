/* User selection, for the storm (storm.h): a reward is a training. */
#include <math.h>
#include "../support/testing.h"
#include "storm.h"
#include "../support/digest.h"
#include "../support/wire_shape.h"
#include "tacit/select.h"
#include "tacit/wire_select.h"

#define NUMBERS_MAX 7u
#define CLIP 3.0
#define DRAWS 512u
#define FLOOR_TIMES 2 /* of two aggregators, if there is a floor */
#define LARGE_EPSILON 1e5

/* Exact numbers of a draw. */
struct trained {
    uint8_t commitment[TACIT_SHA256_BYTES];
    int64_t steps[NUMBERS_MAX];
};

struct own {
    uint32_t numbers;
    struct tacit_select_site_config sites[STORM_SITES_MAX];
    struct tacit_select_hub_config hub;
    struct trained trained[DRAWS]; /* the newest */
    uint32_t trained_count;
};

STORM_CORES(tacit_select_site, tacit_select_hub)

static struct tacit_select_budget draw_budget(struct storm_world *world)
{
    bool const are_two = world->has_helper; /* whose totals are exact but for little noise */
    double const large = are_two ? LARGE_EPSILON : 500;
    double const totals[] = {large, are_two ? large : 1e-5, 1.2e-5};
    uint32_t const kind = storm_below(world, 3);
    uint32_t const more = storm_below(world, 3);
    if (kind == 0)
        return (struct tacit_select_budget){.kind = TACIT_SELECT_UNIFORM,
                                            .is_exact = true,
                                            .total = are_two ? large : 300,
                                            .participations = (are_two ? 6 : 1) * (1 + more)};
    return (struct tacit_select_budget){.kind = TACIT_SELECT_GEOMETRIC,
                                        .is_exact = true,
                                        .total = totals[more],
                                        .eta = are_two ? 0.1 : 0.5};
}

static const float initial[NUMBERS_MAX] = {1, -2, 0.5f, 0, 3, 4, -5};
static const uint64_t sizes[STORM_SITES_MAX] = {3, 1, 7, 2, 9};

static void configure(struct storm_world *world)
{
    static const enum tacit_selector selectors[] = {TACIT_SELECTOR_EXACT,     TACIT_SELECTOR_BRUTE,
                                                    TACIT_SELECTOR_ANNEALING, TACIT_SELECTOR_RANDOM,
                                                    TACIT_SELECTOR_CLUSTERED, TACIT_SELECTOR_ALL};
    struct own *const own = world->own = calloc(1, sizeof *own);
    assert_non_null(own);
    uint32_t const least = world->has_helper ? TACIT_HELPER_SITES_MIN : 1;
    world->sites = least + storm_below(world, 6 - least);
    own->numbers = 1 + storm_below(world, NUMBERS_MAX);
    uint32_t const rounds = /* a copy is known for TACIT_COMMIT_RECENT + 1 grants */
        world->has_helper ? 5 + storm_below(world, 5) : 1 + storm_below(world, 4);
    uint32_t const users = least + storm_below(world, world->sites + 1 - least);
    uint32_t const quorum =
        least + storm_below(world, (world->has_helper ? users : world->sites) + 1 - least);
    enum tacit_selector const selector = selectors[storm_below(world, 6)];
    bool const is_vanilla = storm_below(world, 2) == 0;
    struct tacit_select_budget const budget = draw_budget(world);
    bool const has_sizes = storm_below(world, 2) == 0;
    bool const has_model = storm_below(world, 2) == 0;
    own->hub = (struct tacit_select_hub_config){
        .run_id = STORM_RUN_ID,
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
        .dimension = own->numbers,
        .round_count = rounds,
        .quorum = quorum,
        .round_timeout_us = world->has_helper ? 30000 : 20000,
        .clip = CLIP,
        .domain = {world->has_helper ? 7 : 0},
        .has_helper = world->has_helper,
        .sizes = has_sizes ? sizes : NULL,
        .initial = has_model ? initial : NULL};
    bool const is_as_thought =
        storm_below(world, 2) == 0 || (world->has_helper && storm_below(world, 4) > 0);
    for (uint32_t site = 0; site < world->sites; site++)
        own->sites[site] = (struct tacit_select_site_config){
            .run_id = STORM_RUN_ID,
            .agent = site,
            .agent_count = world->sites,
            .dimension = own->numbers,
            .round_count = rounds,
            .clip = CLIP,
            .domain = {world->has_helper ? 7 : 0},
            .has_helper = world->has_helper,
            .floor_times =
                world->has_helper && world->floor_milli != TACIT_NO_FLOOR ? FLOOR_TIMES : 0,
            .budget = is_as_thought ? own->hub.select.budget : draw_budget(world),
            .resend_after_us = 1000};
    world->has_changes = has_model && has_sizes;
}

static void spoil(struct storm_world *world)
{
    struct own *const own = world->own;
    own->hub.quorum = 0;
    for (uint32_t site = 0; site < world->sites; site++)
        own->sites[site].clip = 0;
}

/* The last part of a hub's block (but for what is of two aggregators), the scratch of a choice,
 * holds nothing between two steps. */
static void spoil_scratch(struct storm_world *world)
{
    struct tacit_select_hub_config config = own_of(world)->hub;
    size_t const bytes = (tacit_select_choice_size(world->sites) + 7) / 8 * 8;
    config.has_helper = false;
    memset((unsigned char *)world->nodes[world->sites].state + tacit_select_hub_size(&config) -
               bytes,
           0x5a, bytes);
}

static struct tacit_select_update update; /* what it says is heard after the step */

static void report(enum tacit_status status, struct storm_update *out)
{
    *out = (struct storm_update){
        .status = status,
        .persist = update.persist,
        .drew = update.drawn,
        .ends_alone = update.round_is_over,
        .happened = update.happened,
        .flags = update.train | (uint64_t)update.stop << 1 | (uint64_t)update.drawn << 2 |
                 (uint64_t)update.has_model << 3 | (uint64_t)update.round_is_over << 4 |
                 (uint64_t)update.message_count << 5 | (uint64_t)update.settled << 16,
        .deadline_us = update.deadline_us,
        .message_count = update.message_count};
    for (uint32_t i = 0; i < update.message_count; i++)
        out->messages[i] = &update.messages[i];
    assert_true(update.persist || (update.settled == 0 && !update.round_is_over));
}

/* The operator ends the run. Said again it changes nothing. */
static void operate(struct storm_world *world)
{
    struct storm_node *const hub = &world->nodes[world->sites];
    struct storm_event const event = {.kind = TACIT_EVENT_TIMEOUT};
    struct tacit_select_hub_view view;
    struct storm_update out;
    void *const before = storm_before(world, world->sites);
    enum tacit_status const status = tacit_select_hub_end(hub->state, hub->now_us, &update);
    tacit_select_hub_view(hub->state, &view);
    assert_true(status == TACIT_OK ? view.is_ended && view.finished : !update.persist);
    world->changes += status == TACIT_OK ? 1 : 0;
    report(status, &out);
    spoil_scratch(world);
    storm_after(world, world->sites, before, &event, &out);
}

static void note_trained(const struct storm_world *world, const void *site,
                         const double *difference)
{
    struct own *const own = world->own;
    struct trained *const trained = &own->trained[own->trained_count++ % DRAWS];
    struct tacit_select_message const release = tacit_select_site_release(site);
    memcpy(trained->commitment, release.commit->commitment, sizeof trained->commitment);
    tacit_vector_quantise(difference, own->numbers, CLIP, trained->steps);
}

static void step(struct storm_world *world, uint32_t node, const struct storm_event *event,
                 const struct tacit_entropy *entropy, struct storm_update *out)
{
    struct storm_node *const at = &world->nodes[node];
    struct tacit_select_site_view view = {0};
    if (node != world->sites)
        tacit_select_site_view(at->state, &view);
    struct tacit_event made = storm_event_of(event);
    uint32_t const round = event->round > 0 ? event->round : view.round;
    if (made.kind == TACIT_EVENT_REWARD)
        made.as.training = (struct tacit_training){round, event->difference};
    if (made.kind == TACIT_EVENT_EXPLOITED)
        made.kind = TACIT_EVENT_TIMEOUT; /* all is said again */
    enum tacit_status const status =
        node == world->sites ? tacit_select_hub_step(at->state, &made, entropy, &update)
                             : tacit_select_site_step(at->state, &made, entropy, &update);
    at->is_training = (at->is_training && !update.stop) || update.train;
    if (update.drawn)
        note_trained(world, at->state, event->difference);
    report(status, out);
    out->round = round;
    spoil_scratch(world);
}

/* ---- What is said and shown ---- */

static uint32_t numbers_of(const struct tacit_select_message *message)
{
    return message->number_count < NUMBERS_MAX ? message->number_count : NUMBERS_MAX;
}

static void digest_message(const struct tacit_select_message *message)
{
    uint64_t const words[] = {
        message->kind,        message->from,         message->to,
        message->run_id,      message->term,         message->round,
        message->last,        message->seen,         storm_set_word(message->set),
        message->spent_nano,  message->digest_count, message->participation,
        message->price_nano,  message->closed,       message->forgot,
        message->vector,      message->first,        message->mask,
        message->number_count};
    digest_bytes(words, sizeof words);
    digest_bytes(message->model, sizeof message->model);
    storm_digest_commit(message->commit);
    if (message->digests != NULL)
        digest_bytes(message->digests, message->digest_count * (size_t)TACIT_SHA256_BYTES);
    if (message->model_piece != NULL)
        digest_bytes(message->model_piece, numbers_of(message) * sizeof(float));
    if (message->step_piece != NULL)
        digest_bytes(message->step_piece, numbers_of(message) * sizeof(int64_t));
    if (message->masked != NULL)
        digest_bytes(message->masked, sizeof *message->masked);
}

static void look_at_hub(const struct storm_world *world, const void *hub, struct storm_look *look)
{
    struct tacit_select_hub_view view;
    uint32_t const sites = world->sites;
    tacit_select_hub_view(hub, &view);
    uint64_t const words[] = {view.term,          view.lacks_model, view.round,
                              view.round_count,   view.is_open,     view.finished,
                              view.is_exhausted,  view.is_ended,    view.asked_count,
                              view.covered_count, view.asked[0],    view.received[0],
                              view.flagged[0],    view.ahead[0],    view.select.round_count};
    digest_bytes(words, sizeof words);
    digest_bytes(view.seen, sites * sizeof *view.seen);
    digest_bytes(view.spent_nano, sites * sizeof *view.spent_nano);
    digest_bytes(view.select.counts, sites * sizeof *view.select.counts);
    digest_reals(view.select.means, sites);
    digest_reals(view.latencies, view.asked_count);
    for (uint32_t i = 0; i < own_of(world)->numbers; i++)
        digest_real((double)view.model[i]);
    if (world->has_helper)
        digest_word(view.epsilon_nano | (uint64_t)view.awaits_totals << 63);
    *look = (struct storm_look){.flagged = view.flagged[0],
                                .ahead = view.ahead[0],
                                .end = view.finished                        ? STORM_IS_OVER
                                       : view.is_open || view.awaits_totals ? STORM_GOES_ON
                                                                            : STORM_SAYS_WHY};
}

static void look_at_site(const struct storm_world *world, uint32_t node, struct storm_look *look)
{
    static uint8_t head[TACIT_SHA256_BYTES];
    struct tacit_select_site_view view;
    struct tacit_select_hub_view hub;
    void const *const site = world->nodes[node].state;
    tacit_select_site_view(site, &view);
    uint64_t const words[] = {view.term,          view.draw_number, view.release_number,
                              view.phase,         view.round,       view.draw_round,
                              view.release_round, view.price_nano,  view.participation,
                              view.spent_nano,    view.is_blocked,  view.is_forgotten,
                              view.is_exhausted};
    digest_bytes(words, sizeof words);
    digest_bytes(view.head, sizeof view.head);
    digest_bytes(view.model, own_of(world)->numbers * sizeof *view.model);
    memcpy(head, view.head, sizeof head);
    tacit_select_hub_view(world->nodes[world->sites].state, &hub);
    bool const waits = view.phase == TACIT_SELECT_IDLE && !hub.is_open; /* for others with budget */
    bool const says_why = view.is_blocked || view.is_exhausted || waits;
    *look = (struct storm_look){
        .head = head,
        .spent_nano = view.spent_nano,
        .budget_nano = (uint64_t)ceil(site_config(world, node)->budget.total * (double)TACIT_NANO),
        .end = view.phase == TACIT_SELECT_FINISHED ? STORM_IS_OVER
               : says_why                          ? STORM_SAYS_WHY
                                                   : STORM_GOES_ON};
    if (view.draw_round == 0)
        return;
    struct tacit_select_message const release = tacit_select_site_release(site);
    digest_message(&release);
    if (view.phase == TACIT_SELECT_COMMITTED)
        look->waiting = *release.commit;
}

static void look(const struct storm_world *world, uint32_t node, struct storm_look *look)
{
    if (node == world->sites)
        look_at_hub(world, world->nodes[node].state, look);
    else
        look_at_site(world, node, look);
}

/* ---- Two aggregators ---- */

/* A report is of the piece that made it whole. */
static struct storm_heard heard(const struct storm_world *world, const void *message)
{
    struct tacit_select_message const *const said = message;
    return (struct storm_heard){update.masked != NULL ? &update.report : &said->head, update.masked,
                                (const uint64_t *)update.words, own_of(world)->numbers};
}

static struct tacit_helper_round round_of(const struct storm_world *world, const void *hub,
                                          struct tacit_pull_block *blocks)
{
    struct tacit_select_hub_view view;
    (void)blocks;
    tacit_select_hub_view(hub, &view);
    struct tacit_helper_round round = {.term = view.term,
                                       .round = view.round,
                                       .count = own_of(world)->numbers,
                                       .epsilon_nano = view.epsilon_nano};
    memcpy(round.order, view.model_name, sizeof round.order);
    return round;
}

static void close_round(struct storm_world *world, uint32_t sites, const int64_t *totals,
                        struct storm_update *out)
{
    struct storm_node *const hub = &world->nodes[world->sites];
    tacit_select_hub_close(hub->state, sites, totals, hub->now_us, &update);
    report(TACIT_OK, out);
    spoil_scratch(world);
}

static void configure_helper(const struct storm_world *world, struct tacit_helper_config *config,
                             uint64_t *floor_nano)
{
    config->run.count_max = own_of(world)->numbers;
    config->run.steps = 2 * (uint64_t)TACIT_VECTOR_STEPS;
    config->epsilon_nano_max = (uint64_t)LARGE_EPSILON * TACIT_NANO;
    *floor_nano = *floor_nano == 0 ? 0 : FLOOR_TIMES * config->epsilon_nano_max;
}

static uint64_t high(const struct storm_world *world)
{
    (void)world;
    return (uint64_t)TACIT_VECTOR_STEPS;
}

static const int64_t *trained_in(const struct storm_world *world, const uint8_t *commitment)
{
    struct own const *const own = own_of(world);
    for (uint32_t i = 0; i < own->trained_count && i < DRAWS; i++)
        if (memcmp(own->trained[i].commitment, commitment, TACIT_SHA256_BYTES) == 0)
            return own->trained[i].steps;
    return NULL;
}

/* What each counted site trained, in the draw that it committed to. */
static const char *find_wrong(const struct storm_world *world,
                              const struct tacit_helper_request *request, const uint64_t *counted,
                              const int64_t *totals, double slack)
{
    int64_t rest[NUMBERS_MAX];
    uint32_t const numbers = own_of(world)->numbers;
    memcpy(rest, totals, numbers * sizeof *rest);
    for (uint32_t i = 0; i < request->entry_count; i++) {
        struct tacit_helper_entry const *const entry = &request->entries[i];
        int64_t const *const steps =
            trained_in(world, entry->links[entry->link_count - 1].commitment);
        if (!tacit_bits_has(counted, entry->site))
            continue;
        if (steps == NULL)
            return "what was counted nobody drew";
        for (uint32_t j = 0; j < numbers; j++)
            rest[j] -= steps[j];
    }
    for (uint32_t j = 0; j < numbers; j++)
        if (fabs((double)rest[j]) > slack)
            return "a total is not the sum of what was counted";
    return NULL;
}

static bool has_words(const void *message)
{
    struct tacit_select_message const *const said = message;
    return said->masked != NULL || said->step_piece != NULL; /* and their digests */
}

static const struct storm_two two = {.heard = heard,
                                     .round = round_of,
                                     .protocol = &tacit_wire_select,
                                     .has_words = has_words,
                                     .close = close_round,
                                     .configure = configure_helper,
                                     .high = high,
                                     .wrong = find_wrong};

/* ---- Messages: each with all that one may point to ---- */

struct envelope {
    struct tacit_select_message message;
    struct tacit_commit commit;
    int64_t steps[NUMBERS_MAX + 1];
    float model[NUMBERS_MAX + 1];
    uint64_t set;
    uint8_t digests[2 * TACIT_SHA256_BYTES];
    struct tacit_helper_release masked; /* with two aggregators alone */
};

static size_t message_size(const struct storm_world *world, const void *message)
{
    (void)message;
    return world->has_helper ? sizeof(struct envelope) : offsetof(struct envelope, masked);
}

static void *message_copy(const struct storm_world *world, const void *message, void *memory)
{
    struct tacit_select_message const *const from = message;
    struct envelope *const to = memory;
    memset(to, 0, message_size(world, message));
    to->message = *from;
    to->set = storm_set_word(from->set);
    if (from->digests != NULL)
        memcpy(to->digests, from->digests, TACIT_SHA256_BYTES);
    if (from->model_piece != NULL)
        memcpy(to->model, from->model_piece, numbers_of(from) * sizeof *to->model);
    if (from->step_piece != NULL)
        memcpy(to->steps, from->step_piece, numbers_of(from) * sizeof *to->steps);
    if (from->commit != NULL) {
        to->commit = *from->commit;
        to->message.commit = &to->commit;
    }
    if (from->masked != NULL) {
        to->masked = *from->masked;
        to->message.masked = &to->masked;
    }
    to->message.set = &to->set;
    to->message.digests = to->digests;
    to->message.model_piece = to->model;
    to->message.step_piece = to->steps;
    return to;
}

static void mend(const struct storm_world *world, void *message)
{
    struct tacit_select_message *const said = message;
    (void)world;
    said->kind = (enum tacit_select_message_kind)(1 + (unsigned)said->kind % 8);
    said->vector = (enum tacit_select_vector)((unsigned)said->vector % 2);
}

STORM_MESSAGES(tacit_select_message, TACIT_SELECT)

#define FIELD(member) STORM_FIELD(struct tacit_select_message, member)
static const struct storm_field fields[] = {
    FIELD(kind),        FIELD(from),   FIELD(to),     FIELD(run_id),       FIELD(term),
    FIELD(round),       FIELD(last),   FIELD(seen),   FIELD(digest_count), FIELD(spent_nano),
    FIELD(model),       FIELD(round),  FIELD(first),  FIELD(mask),         FIELD(participation),
    FIELD(price_nano),  FIELD(closed), FIELD(forgot), FIELD(vector),       FIELD(number_count),
    FIELD(epsilon_nano)};

const struct storm_rule rule_selection = {
    .name = "selection",
    .two = &two,
    .has_terms = true,
    .trains = true,
    .impossible = 1u << STORM_HAS_NO_SALT, /* its noise cannot be left out */
    .configure = configure,
    .spoil = spoil,
    STORM_OF_CORES,
    .step = step,
    .look = look,
    .message_size = message_size,
    .message_copy = message_copy,
    .read = read,
    .head_bytes = sizeof(struct tacit_select_message),
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields - 1, /* an epsilon is of two aggregators */
    .mend = mend,
    .grant = grant,
    .operate = operate,
    .found = {37546, 44504, 48849},
    .digest = UINT64_C(0x867d8878a3c90ddb),
    .verdicts = UINT64_C(0xb5700f4852288329)};

struct storm_rule rule_trainings(void)
{
    struct storm_rule rule = rule_selection;
    rule.field_count++; /* orders have an epsilon */
    return rule;
}
