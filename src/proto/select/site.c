/* A site of a training federation. Its block: the head, the digests of the model's and of its own
 * update's pieces, which pieces of the model are there, the update, the model. */
#include <string.h>
#include "../round/site.h"
#include "budget.h"
#include "piece.h"
#include "state.h"

#define EPSILON_NANO_MAX ((UINT64_C(1) << 48) - 1)
#define ENTROPY_PAUSE_US 1000000u
#define IDLE_RESENDS 5u /* who has nothing to do says less often that it is there */

struct site_head {
    struct tacit_select_site_config config;
    struct select_prices prices;
    uint32_t phase;
    uint32_t round; /* of the last order */
    uint32_t last;  /* it was the last one */
    uint32_t draw_round;
    uint32_t release_round;
    uint32_t participation;
    uint32_t first; /* the window of pieces that was asked for */
    uint32_t mask;
    uint32_t awaiting_first_order; /* 1: no order of this term was taken yet */
    uint32_t number_base;          /* of a draw: this and its round; 0 in the first term */
    uint64_t term;
    uint64_t price_nano; /* of the newest draw */
    uint64_t spent_nano;
    uint64_t next_nano;
    uint64_t epsilon_nano;              /* of the order, of two aggregators; else 0 */
    struct tacit_helper_release masked; /* the update's, of two aggregators */
    struct round_site grants;
    struct tacit_commit shown;         /* scratch: the head, as HELLO shows it */
    uint8_t model[TACIT_SHA256_BYTES]; /* the name of the model that the order is of */
    uint8_t start[TACIT_SHA256_BYTES]; /* .. and of the one that the newest draw started from */
};

struct site_parts {
    struct site_head *head;
    struct select_pieces model;
    struct select_pieces steps; /* its own, whole from the draw on */
};

/* Where the parts of a block lie, and how large it is: also of a head alone, behind which nothing
 * is touched. */
static struct site_parts lay_out(const struct site_head *block, size_t *size)
{
    struct site_head *const head = (struct site_head *)(uintptr_t)block;
    uint32_t const numbers = head->config.dimension;
    size_t const models = tacit_select_piece_count(numbers, TACIT_SELECT_MODEL);
    size_t const steps = tacit_select_piece_count(numbers, TACIT_SELECT_STEPS);
    struct site_parts parts = {.head = head,
                               .model = {.vector = TACIT_SELECT_MODEL,
                                         .dimension = numbers,
                                         .first = &head->first,
                                         .mask = &head->mask},
                               .steps = {.vector = TACIT_SELECT_STEPS, .dimension = numbers}};
    size_t at = sizeof *head;
    parts.model.digests = select_carve(head, &at, models * TACIT_SHA256_BYTES);
    parts.steps.digests = select_carve(head, &at, steps * TACIT_SHA256_BYTES);
    parts.model.have = select_carve(head, &at, TACIT_BITS_WORDS(models) * sizeof(uint64_t));
    parts.steps.numbers = select_carve(head, &at, numbers * sizeof(int64_t));
    parts.model.numbers = select_carve(head, &at, numbers * sizeof(float));
    *size = at;
    return parts;
}

static struct site_parts parts_of(const struct tacit_select_site *site)
{
    size_t size;
    return lay_out((const struct site_head *)site, &size);
}

static uint32_t number_of(const struct site_head *head)
{
    return head->number_base + head->draw_round;
}

/* ---- Beginning ---- */

static bool is_valid(const struct tacit_select_site_config *config)
{
    return config->agent_count <= TACIT_AGENTS_MAX && config->agent < config->agent_count &&
           config->dimension > 0 && config->dimension <= TACIT_SELECT_DIMENSION_MAX &&
           config->round_count > 0 && config->round_count <= TACIT_SELECT_ROUNDS_MAX &&
           config->clip > 0 && config->clip <= 1e100 && config->budget.is_exact &&
           config->budget.kind != TACIT_SELECT_GIVEN && config->budget.given == NULL &&
           select_budget_is_valid(&config->budget) && config->floor_times >= 0 &&
           config->floor_times <= 1e12 && config->resend_after_us > 0 &&
           config->resend_after_us <= TACIT_NEVER / IDLE_RESENDS >> (ROUND_DOUBLINGS_MAX + 1);
}

size_t tacit_select_site_size(const struct tacit_select_site_config *config)
{
    TACIT_ASSERT(config != NULL);
    if (!is_valid(config))
        return 0;
    struct site_head const head = {.config = *config};
    size_t size;
    (void)lay_out(&head, &size);
    return size;
}

enum tacit_status tacit_select_site_init(struct tacit_select_site *site,
                                         const struct tacit_select_site_config *config)
{
    size_t const size = tacit_select_site_size(config);
    TACIT_ASSERT(site != NULL);
    if (size == 0)
        return TACIT_INVALID;
    memset(site, 0, size);
    struct site_head *const head = (struct site_head *)site;
    head->config = *config;
    head->prices = select_prices_of(&config->budget);
    head->next_nano = head->prices.first_nano;
    head->grants.resend.due_us = TACIT_NEVER;
    return TACIT_OK;
}

/* Is there budget for one participation more? */
static bool can_pay(const struct site_head *head)
{
    struct select_prices const *const prices = &head->prices;
    if (prices->participations > 0 && head->participation >= prices->participations)
        return false;
    return head->next_nano >= SELECT_PRICE_MIN_NANO &&
           head->next_nano <= prices->total_nano - head->spent_nano;
}

static bool is_possible(const struct site_head *head)
{
    struct tacit_select_site_config const *const config = &head->config;
    bool const is_pending = head->draw_round > head->release_round;
    return head->phase <= TACIT_SELECT_FINISHED && head->round <= config->round_count + 1 &&
           head->last <= 1 && head->awaiting_first_order <= 1 &&
           round_site_is_possible(&head->grants) &&
           (head->term > 0 || (head->awaiting_first_order == 0 && head->number_base == 0)) &&
           head->number_base <= UINT32_MAX / 2 && head->draw_round <= head->round &&
           head->release_round <= head->draw_round && head->participation <= number_of(head) &&
           head->spent_nano <= head->prices.total_nano &&
           (head->participation == 0) == (number_of(head) == 0) &&
           (head->phase == TACIT_SELECT_COMMITTED) == is_pending &&
           (head->phase == TACIT_SELECT_IDLE || head->round > 0) &&
           (head->phase != TACIT_SELECT_TRAINING || can_pay(head)) &&
           (head->phase != TACIT_SELECT_RELEASED || head->release_round > 0);
}

enum tacit_status tacit_select_site_check(const struct tacit_select_site *site, size_t size,
                                          const struct tacit_select_site_config *config)
{
    struct site_head const *const head = (const struct site_head *)site;
    TACIT_ASSERT(site != NULL);
    if (size == 0 || size != tacit_select_site_size(config))
        return TACIT_MALFORMED;
    struct select_prices const prices = select_prices_of(&config->budget);
    if (memcmp(&head->config, config, sizeof *config) != 0 ||
        memcmp(&head->prices, &prices, sizeof prices) != 0)
        return TACIT_MALFORMED;
    return is_possible(head) ? TACIT_OK : TACIT_MALFORMED;
}

/* ---- Saying ---- */

static void send_hello(struct site_head *head, struct tacit_select_update *update)
{
    memcpy(head->shown.commitment, head->grants.head, sizeof head->shown.commitment);
    select_send(
        update, TACIT_HUB,
        (struct tacit_select_message){.kind = TACIT_SELECT_HELLO,
                                      .round = head->awaiting_first_order != 0 ? 0 : head->round,
                                      .commit = &head->shown,
                                      .spent_nano = head->spent_nano});
}

static void ask_for_grant(const struct site_head *head, struct tacit_select_update *update)
{
    select_send(update, TACIT_HUB,
                (struct tacit_select_message){.kind = TACIT_SELECT_COMMIT,
                                              .round = head->draw_round,
                                              .commit = &head->grants.commit});
}

static struct tacit_select_message release_of(const struct site_parts *parts)
{
    struct site_head const *const head = parts->head;
    struct tacit_select_message message = {.kind = TACIT_SELECT_UPDATE,
                                           .from = head->config.agent,
                                           .to = TACIT_HUB,
                                           .run_id = head->config.run_id,
                                           .term = head->term,
                                           .round = head->draw_round,
                                           .digests = parts->steps.digests,
                                           .digest_count = select_count_of(&parts->steps),
                                           .spent_nano = head->spent_nano,
                                           .participation = head->participation,
                                           .price_nano = head->price_nano,
                                           .masked = head->config.has_helper ? &head->masked : NULL,
                                           .commit = &head->grants.commit};
    TACIT_ASSERT(head->draw_round > 0);
    memcpy(message.model, head->start, sizeof message.model);
    return message;
}

struct tacit_select_message tacit_select_site_release(const struct tacit_select_site *site)
{
    struct site_parts const parts = parts_of(site);
    return release_of(&parts);
}

static void send_again(const struct site_parts *parts, struct tacit_select_update *update)
{
    uint32_t const phase = parts->head->phase;
    if (phase != TACIT_SELECT_FINISHED)
        send_hello(parts->head, update);
    if (phase == TACIT_SELECT_FETCHING)
        select_ask(&parts->model, TACIT_HUB, parts->head->round, update);
    else if (phase == TACIT_SELECT_COMMITTED)
        ask_for_grant(parts->head, update);
    else if (phase == TACIT_SELECT_RELEASED)
        select_send(update, TACIT_HUB, release_of(parts));
}

static void set_deadline(struct site_head *head, uint64_t now_us)
{
    uint64_t const resend =
        round_pause_us(head->config.resend_after_us, head->grants.resend.unanswered_count);
    bool const is_idle = head->phase == TACIT_SELECT_IDLE || head->phase == TACIT_SELECT_TRAINING;
    head->grants.resend.due_us = head->phase == TACIT_SELECT_FINISHED
                                     ? TACIT_NEVER
                                     : now_us + (is_idle ? IDLE_RESENDS * resend : resend);
}

/* ---- The model ---- */

/* The model is here. Whoever cannot pay, or has less next than the round's noise protects it by
 * (HELPER 4), does not train, and says in HELLO why. */
static void begin_training(const struct site_parts *parts, struct tacit_select_update *update)
{
    struct site_head *const head = parts->head;
    bool const is_beyond = head->epsilon_nano > head->next_nano;
    if (head->last != 0) {
        head->phase = TACIT_SELECT_FINISHED;
        update->persist = true;
        update->has_model = true;
        return;
    }
    head->phase = can_pay(head) && !is_beyond ? TACIT_SELECT_TRAINING : TACIT_SELECT_IDLE;
    update->train = head->phase == TACIT_SELECT_TRAINING;
    if (!update->train)
        send_hello(head, update);
}

/* The newest release needs nothing more. */
static void settle(struct site_head *head, struct tacit_select_update *update)
{
    update->settled = number_of(head);
    update->persist = true;
}

/* The first order of a term. True: it wants the release that was granted in a term before. (What is
 * masked is of one term.) Else the next draw is numbered behind all that were. */
static bool on_first_order(const struct site_parts *parts, bool is_asked,
                           struct tacit_select_update *update)
{
    struct site_head *const head = parts->head;
    TACIT_ASSERT(head->draw_round == head->release_round);
    bool const is_wanted = is_asked && !head->config.has_helper && head->last == 0 &&
                           head->release_round == head->round &&
                           round_site_may_open(&head->grants) &&
                           memcmp(head->start, head->model, sizeof head->start) == 0;
    head->awaiting_first_order = 0;
    update->persist = true;
    if (is_wanted)
        return true;
    if (number_of(head) > 0)
        settle(head, update); /* nobody waits for it any more */
    if (head->round <= head->release_round) {
        head->number_base = number_of(head);
        head->draw_round = head->release_round = 0;
    }
    return false;
}

/* A model that is here is not fetched again. */
static void set_model(const struct site_parts *parts, const struct tacit_select_message *order)
{
    struct site_head *const head = parts->head;
    uint32_t const pieces = select_count_of(&parts->model);
    size_t const bytes = (size_t)pieces * TACIT_SHA256_BYTES;
    if (memcmp(parts->model.digests, order->digests, bytes) == 0)
        return;
    memcpy(parts->model.digests, order->digests, bytes);
    memset(parts->model.have, 0, TACIT_BITS_WORDS(pieces) * sizeof *parts->model.have);
    select_name_of(&parts->model, head->model);
}

static void begin_round(const struct site_parts *parts, const struct tacit_select_message *order,
                        bool is_asked, struct tacit_select_update *update)
{
    struct site_head *const head = parts->head;
    update->stop = head->phase == TACIT_SELECT_TRAINING;
    if (head->phase == TACIT_SELECT_RELEASED) /* nobody waits for it any more */
        settle(head, update);
    head->round = order->round;
    head->last = order->last;
    head->epsilon_nano = order->epsilon_nano;
    set_model(parts, order);
    if (head->awaiting_first_order != 0 && on_first_order(parts, is_asked, update)) {
        head->phase = TACIT_SELECT_RELEASED;
        select_send(update, TACIT_HUB, release_of(parts));
        return;
    }
    head->phase = is_asked ? TACIT_SELECT_FETCHING : TACIT_SELECT_IDLE;
    if (is_asked && select_are_whole(&parts->model))
        begin_training(parts, update);
    else if (is_asked)
        select_ask(&parts->model, TACIT_HUB, head->round, update);
}

/* The round is over, or has this site's update: what it does for it is for nothing. */
static void rest(struct site_head *head, bool is_over, uint32_t seen,
                 struct tacit_select_update *update)
{
    bool const is_here = head->phase == TACIT_SELECT_RELEASED && seen >= head->draw_round;
    bool const is_late =
        is_over && (head->phase == TACIT_SELECT_FETCHING || head->phase == TACIT_SELECT_TRAINING ||
                    head->phase == TACIT_SELECT_RELEASED);
    if (!is_here && !is_late)
        return;
    update->stop = head->phase == TACIT_SELECT_TRAINING;
    if (head->phase == TACIT_SELECT_RELEASED)
        settle(head, update);
    head->phase = TACIT_SELECT_IDLE;
}

/* Ends what the site does for nothing, and begins the order's round if that is a newer one. While a
 * draw waits for its grant newer orders are passed over: the hub repeats them. */
static enum tacit_status on_order(const struct site_parts *parts,
                                  const struct tacit_select_message *order,
                                  struct tacit_select_update *update)
{
    struct site_head *const head = parts->head;
    struct tacit_select_site_config const *const config = &head->config;
    bool const is_asked = order->last || tacit_bits_has(order->set, config->agent);
    bool const needs_epsilon = is_asked && !order->last && config->has_helper;
    if (order->digest_count != select_count_of(&parts->model) || order->round == 0 ||
        order->round > config->round_count + 1 || order->epsilon_nano > EPSILON_NANO_MAX ||
        (needs_epsilon && order->epsilon_nano < SELECT_PRICE_MIN_NANO) ||
        (!config->has_helper && order->epsilon_nano > 0))
        return TACIT_MALFORMED;
    bool const is_present = head->awaiting_first_order == 0 && order->round == head->round;
    if (head->awaiting_first_order == 0)
        rest(head, is_present && !is_asked, order->to == config->agent ? order->seen : 0, update);
    if (head->phase == TACIT_SELECT_COMMITTED || head->phase == TACIT_SELECT_FINISHED ||
        (head->awaiting_first_order == 0 && order->round <= head->round))
        return TACIT_OK;
    begin_round(parts, order, is_asked, update);
    return TACIT_OK;
}

static enum tacit_status on_piece(const struct site_parts *parts,
                                  const struct tacit_select_message *piece,
                                  struct tacit_select_update *update)
{
    struct site_head const *const head = parts->head;
    if (head->phase != TACIT_SELECT_FETCHING || piece->round != head->round)
        return TACIT_UNEXPECTED;
    bool is_whole;
    enum tacit_status const status =
        select_on_piece(&parts->model, head->round, piece, update, &is_whole);
    if (status == TACIT_OK && is_whole)
        begin_training(parts, update);
    return status;
}

/* ---- The release ---- */

static struct tacit_commit_scope scope_of(const struct site_head *head, uint32_t round)
{
    return (struct tacit_commit_scope){.domain = head->config.domain,
                                       .run_id = head->config.run_id,
                                       .site = head->config.agent,
                                       .epoch = round};
}

/* With two aggregators its own noise is a part of the floor, as the round's is of the whole. */
static enum tacit_status add_noise(const struct site_parts *parts,
                                   const struct tacit_entropy *entropy)
{
    struct site_head const *const head = parts->head;
    bool const is_masked = head->config.has_helper;
    uint64_t const nano = is_masked
                              ? (uint64_t)((double)head->epsilon_nano * head->config.floor_times)
                              : head->next_nano;
    return is_masked && nano == 0
               ? TACIT_OK
               : tacit_vector_noise(parts->steps.numbers, head->config.dimension, nano, entropy);
}

/* HELPER 1: from here on the steps are masked words. */
static enum tacit_status mask(const struct site_parts *parts,
                              const struct tacit_aggregators *aggregators,
                              const struct tacit_entropy *keys)
{
    struct site_head *const head = parts->head;
    TACIT_ASSERT(aggregators != NULL);
    struct tacit_helper_round round = {.term = aggregators->term,
                                       .round = head->round,
                                       .count = head->config.dimension,
                                       .epsilon_nano = head->epsilon_nano};
    memcpy(round.order, head->model, sizeof round.order);
    return tacit_helper_mask(aggregators->run, &round, head->config.agent, aggregators->keys, keys,
                             parts->steps.numbers, &head->masked) == TACIT_OK
               ? TACIT_OK
               : TACIT_ENTROPY; /* or sealing failed: it is tried again, too */
}

/* Charged, drawn, committed to: one durable write (SELECT.md 2.8). */
static enum tacit_status draw(const struct site_parts *parts, const struct tacit_event *event,
                              const struct tacit_entropy *entropy,
                              struct tacit_select_update *update)
{
    struct site_head *const head = parts->head;
    const struct tacit_entropy *const keys = event->keys == NULL ? entropy : event->keys;
    uint8_t release[TACIT_SHA256_BYTES];
    tacit_vector_quantise(event->as.training.difference, head->config.dimension, head->config.clip,
                          parts->steps.numbers);
    TACIT_TRY(add_noise(parts, entropy)); /* on an error the caller puts all of it back */
    if (head->config.has_helper)
        TACIT_TRY(mask(parts, event->aggregators, keys));
    select_digest_pieces(&parts->steps);
    head->draw_round = head->round;
    head->participation++;
    head->price_nano = head->next_nano;
    head->spent_nano += head->next_nano;
    head->next_nano = select_price_after(&head->prices, head->next_nano);
    memcpy(head->start, head->model, sizeof head->start);
    struct tacit_select_message const message = release_of(parts);
    struct tacit_commit_scope const scope = scope_of(head, head->draw_round);
    select_release_of(&message, release);
    TACIT_TRY(round_site_commit(&head->grants, &scope, release, keys));
    head->phase = TACIT_SELECT_COMMITTED;
    update->persist = true;
    update->drawn = true;
    ask_for_grant(head, update);
    return TACIT_OK;
}

static enum tacit_status on_trained(const struct site_parts *parts, const struct tacit_event *event,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_select_update *update)
{
    struct site_head *const head = parts->head;
    if (head->phase != TACIT_SELECT_TRAINING || event->as.training.round != head->round)
        return TACIT_UNEXPECTED;
    if (event->as.training.difference == NULL) { /* nothing was released, nothing is spent */
        head->phase = TACIT_SELECT_IDLE;
        return TACIT_OK;
    }
    TACIT_ASSERT(can_pay(head));
    struct site_head const before = *head;
    enum tacit_status const status = draw(parts, event, entropy, update);
    if (status == TACIT_OK)
        return TACIT_OK;
    *head = before;
    /* exact numbers may be among them */
    memset(parts->steps.numbers, 0, head->config.dimension * sizeof(int64_t));
    memset(&head->masked, 0, sizeof head->masked);
    return status;
}

static enum tacit_status on_grant(const struct site_parts *parts,
                                  const struct tacit_select_message *grant,
                                  struct tacit_select_update *update)
{
    struct site_head *const head = parts->head;
    if (grant->commit == NULL)
        return TACIT_MALFORMED;
    if (head->phase != TACIT_SELECT_COMMITTED || grant->round != head->draw_round ||
        !round_site_on_grant(&head->grants, grant->commit->commitment))
        return TACIT_OK; /* late, or repeated */
    head->release_round = head->draw_round;
    head->phase = TACIT_SELECT_RELEASED;
    update->persist = true;
    if (!grant->closed) {
        select_send(update, TACIT_HUB, release_of(parts));
        return TACIT_OK;
    }
    rest(head, true, 0, update);
    send_hello(head, update); /* what has gone on meanwhile? */
    return TACIT_OK;
}

static enum tacit_status on_refusal(struct site_head *head,
                                    const struct tacit_select_message *refusal,
                                    struct tacit_select_update *update)
{
    if (refusal->commit == NULL)
        return TACIT_MALFORMED;
    struct round_refusal const shown = {.round = refusal->round,
                                        .draw_round = head->draw_round,
                                        .is_waiting = head->phase == TACIT_SELECT_COMMITTED,
                                        .forgot = refusal->forgot,
                                        .commitment = refusal->commit->commitment};
    update->persist = round_site_on_refusal(&head->grants, &shown);
    return TACIT_OK;
}

/* Only what was granted leaves; and a model, to a hub that has lost it. */
static enum tacit_status on_request(const struct site_parts *parts,
                                    const struct tacit_select_message *request,
                                    struct tacit_select_update *update)
{
    struct site_head const *const head = parts->head;
    bool const is_model = request->vector == TACIT_SELECT_MODEL;
    bool const is_released =
        head->phase == TACIT_SELECT_RELEASED && request->round == head->draw_round;
    struct select_pieces const *const pieces = is_model ? &parts->model : &parts->steps;
    return (is_model ? select_are_whole(&parts->model) : is_released)
               ? select_on_request(pieces, request, update)
               : TACIT_UNEXPECTED;
}

/* ---- Steps ---- */

static enum tacit_status receive(const struct site_parts *parts, const struct tacit_event *event,
                                 struct tacit_select_update *update)
{
    struct tacit_select_message const *const message = event->as.message;
    TACIT_ASSERT(message != NULL);
    if (message->from != TACIT_HUB || message->run_id != parts->head->config.run_id ||
        message->term != parts->head->term)
        return TACIT_STRANGER;
    switch (message->kind) {
    case TACIT_SELECT_ORDER:
        return on_order(parts, message, update);
    case TACIT_SELECT_PIECE:
        return on_piece(parts, message, update);
    case TACIT_SELECT_GRANT:
        return on_grant(parts, message, update);
    case TACIT_SELECT_REFUSAL:
        return on_refusal(parts->head, message, update);
    case TACIT_SELECT_REQUEST:
        return on_request(parts, message, update);
    case TACIT_SELECT_HELLO:
    case TACIT_SELECT_COMMIT:
    case TACIT_SELECT_UPDATE:
        break; /* these are sites' */
    }
    return TACIT_UNEXPECTED;
}

/* The hub has forgotten what it granted. A draw that waits for its grant is void, what was spent
 * stays; whether a release of before is wanted an order says. */
static void begin_term(struct site_head *head, uint64_t term, struct tacit_select_update *update)
{
    TACIT_ASSERT(term > head->term);
    update->stop = head->phase == TACIT_SELECT_TRAINING;
    round_site_begin_term(&head->grants, head->draw_round == head->release_round);
    head->term = term;
    head->awaiting_first_order = 1;
    head->last = 0;
    head->number_base += head->draw_round - head->release_round;
    head->round = head->draw_round = head->release_round;
    head->phase = TACIT_SELECT_IDLE;
    update->persist = true;
}

/* A training that was under way when the process died has left nothing: it begins again. */
static void start(const struct site_parts *parts, uint64_t term, struct tacit_select_update *update)
{
    struct site_head *const head = parts->head;
    if (term > head->term)
        begin_term(head, term, update);
    update->train = head->phase == TACIT_SELECT_TRAINING;
    update->has_model = head->phase == TACIT_SELECT_FINISHED;
    send_again(parts, update);
}

static enum tacit_status dispatch(const struct site_parts *parts, const struct tacit_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_select_update *update)
{
    switch (event->kind) {
    case TACIT_EVENT_START:
        start(parts, event->as.term, update);
        return TACIT_OK;
    case TACIT_EVENT_TIMEOUT:
        send_again(parts, update);
        return TACIT_OK;
    case TACIT_EVENT_RECEIVE:
        return receive(parts, event, update);
    case TACIT_EVENT_REWARD:
        return on_trained(parts, event, entropy, update);
    case TACIT_EVENT_EXPLOITED:
    case TACIT_EVENT_OFFER: /* nothing is learnt from decisions */
        break;
    }
    return TACIT_INVALID;
}

/* A pause that silence has made long ends with an answer. */
static void time_resend(struct site_head *head, uint64_t now_us, bool is_answered, bool restarts,
                        const struct tacit_select_update *update)
{
    bool const ends_pause = is_answered && head->grants.resend.unanswered_count > 1;
    bool const sends = update->message_count > 0;
    if (is_answered)
        head->grants.resend.unanswered_count = 0;
    if (restarts || sends || ends_pause || head->grants.resend.due_us == TACIT_NEVER)
        set_deadline(head, now_us);
    if (sends && head->grants.resend.unanswered_count < UINT32_MAX)
        head->grants.resend.unanswered_count++;
}

enum tacit_status tacit_select_site_step(struct tacit_select_site *site,
                                         const struct tacit_event *event,
                                         const struct tacit_entropy *entropy,
                                         struct tacit_select_update *update)
{
    TACIT_ASSERT(site != NULL);
    TACIT_ASSERT(event != NULL);
    TACIT_ASSERT(update != NULL);
    struct site_parts const parts = parts_of(site);
    struct site_head *const head = parts.head;
    uint32_t const phase = head->phase;
    memset(update, 0, sizeof *update);
    enum tacit_status const status = dispatch(&parts, event, entropy, update);
    if (status == TACIT_ENTROPY) {
        update->train = true;
        head->grants.resend.due_us = event->now_us + ENTROPY_PAUSE_US;
    } else {
        struct tacit_select_message const *const said = event->as.message;
        bool const is_answered = event->kind == TACIT_EVENT_RECEIVE && status == TACIT_OK &&
                                 said->kind != TACIT_SELECT_REFUSAL;
        time_resend(head, event->now_us, is_answered, phase != head->phase, update);
    }
    update->deadline_us = head->grants.resend.due_us;
    select_stamp(update, head->config.agent, head->config.run_id, head->term);
    return status;
}

void tacit_select_site_view(const struct tacit_select_site *site,
                            struct tacit_select_site_view *view)
{
    struct site_parts const parts = parts_of(site);
    struct site_head const *const head = parts.head;
    TACIT_ASSERT(view != NULL);
    *view =
        (struct tacit_select_site_view){.phase = (enum tacit_select_site_phase)head->phase,
                                        .term = head->term,
                                        .round = head->round,
                                        .model = parts.model.numbers,
                                        .draw_round = head->draw_round,
                                        .release_round = head->release_round,
                                        .draw_number = number_of(head),
                                        .release_number = head->number_base + head->release_round,
                                        .participation = head->participation,
                                        .price_nano = head->price_nano,
                                        .spent_nano = head->spent_nano,
                                        .is_blocked = head->grants.blocked != 0,
                                        .is_forgotten = head->grants.forgotten != 0,
                                        .is_exhausted = !can_pay(head)};
    memcpy(view->head, head->grants.head, sizeof view->head);
}
