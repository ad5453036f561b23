/* The hub of a training federation. Its block: the head, the selection's state, the model (double,
 * and as it is announced), what is known of each site, and one slot for each site of the round. */
#include <math.h>
#include <string.h>
#include "../../base/walk.h"
#include "../round/desk.h"
#include "piece.h"
#include "state.h"

#define MAGIC UINT64_C(0x3170616e736c6573) /* "selsnap1" */
#define BLOCK_BYTES_MAX ((size_t)1 << 28)

#define ENDED 2u /* of `exhausted`: not for lack of budget, but by the operator's word */

enum slot_state { SLOT_ASKED, SLOT_OPENED, SLOT_COMPLETE };

struct hub_head {
    uint64_t select_size;
    struct tacit_select_hub_config config;
    struct round_desk desk;
    uint32_t slot_count; /* m; A where all are asked */
    uint32_t round;
    uint32_t asked_count;
    uint32_t exhausted;
    uint32_t lacks_model; /* 1: it was built again without, and asks the sites for it */
    uint32_t first;       /* .. by this window of pieces */
    uint32_t mask;
    uint32_t awaits_totals; /* 1: two aggregators: the round is closed, and not over */
    uint64_t epsilon_nano;  /* of two aggregators, of the round's noise; else 0 */
    uint64_t started_us;
    uint8_t model[TACIT_SHA256_BYTES]; /* the name of the present one */
};

struct slot {
    uint32_t agent;
    uint32_t state;
    uint32_t first; /* the window of pieces that was asked for */
    uint32_t mask;
};

/* What opens the commitment to a slot's masked words. */
struct opening {
    struct tacit_commit commit;
    struct tacit_helper_release masked;
};

struct hub_parts {
    struct hub_head *head;
    struct opening *openings; /* slots; NULL: one aggregator */
    struct tacit_select *select;
    double *theta;
    double *latencies; /* slots */
    int64_t *steps;    /* slots x d */
    uint64_t *set;
    uint64_t *nobody; /* zeros */
    uint64_t *received;
    uint64_t *heard;
    uint64_t *spent;       /* A */
    uint64_t *round_spent; /* slots: scratch */
    uint64_t *have;        /* slots x words of the pieces */
    struct slot *slots;
    struct round_hub round;
    uint8_t *digests; /* slots x pieces */
    void *scratch;
    struct select_pieces model;
    uint32_t *seen;  /* A */
    uint32_t *users; /* slots: scratch */
};

static size_t rounded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

/* The next part of the block. */
static void *carve(size_t *at, const struct hub_head *head, size_t bytes)
{
    void *const part = (uint8_t *)(uintptr_t)head + *at;
    *at += rounded(bytes);
    return part;
}

/* Where the parts of a block lie, and how large it is: also of a head alone, behind which nothing
 * is touched. */
static struct hub_parts lay_out(const struct hub_head *head, size_t *size)
{
    struct tacit_select_hub_config const *const config = &head->config;
    size_t const sites = config->select.user_count;
    size_t const slots = head->slot_count;
    size_t const numbers = config->dimension;
    size_t const words = TACIT_BITS_WORDS(sites) * sizeof(uint64_t);
    size_t const pieces = tacit_select_piece_count(config->dimension, TACIT_SELECT_STEPS);
    size_t const model_pieces = tacit_select_piece_count(config->dimension, TACIT_SELECT_MODEL);
    TACIT_ASSERT(head->slot_count <= config->select.user_count);
    size_t at = rounded(sizeof *head);
    struct hub_parts parts = {.head = (struct hub_head *)(uintptr_t)head};
    parts.model = (struct select_pieces){.vector = TACIT_SELECT_MODEL,
                                         .dimension = config->dimension,
                                         .first = &parts.head->first,
                                         .mask = &parts.head->mask};
    parts.select = carve(&at, head, head->select_size);
    parts.theta = carve(&at, head, numbers * sizeof(double));
    parts.latencies = carve(&at, head, slots * sizeof(double));
    parts.steps = carve(&at, head, slots * numbers * sizeof(int64_t));
    parts.set = carve(&at, head, words);
    parts.nobody = carve(&at, head, words);
    parts.received = carve(&at, head, words);
    parts.heard = carve(&at, head, words);
    parts.spent = carve(&at, head, sites * sizeof(uint64_t));
    parts.round_spent = carve(&at, head, slots * sizeof(uint64_t));
    parts.have = carve(&at, head, slots * TACIT_BITS_WORDS(pieces) * sizeof(uint64_t));
    parts.model.have = carve(&at, head, TACIT_BITS_WORDS(model_pieces) * sizeof(uint64_t));
    parts.slots = carve(&at, head, slots * sizeof(struct slot));
    uint64_t *const heads =
        carve(&at, head, round_grantor_words(config->select.user_count) * sizeof(uint64_t));
    parts.model.digests = carve(&at, head, model_pieces * TACIT_SHA256_BYTES);
    parts.digests = carve(&at, head, slots * pieces * TACIT_SHA256_BYTES);
    parts.scratch = carve(&at, head, tacit_select_choice_size(config->select.user_count));
    parts.model.numbers = carve(&at, head, numbers * sizeof(float));
    parts.seen = carve(&at, head, sites * sizeof(uint32_t));
    parts.users = carve(&at, head, slots * sizeof(uint32_t));
    if (config->has_helper)
        parts.openings = carve(&at, head, slots * sizeof *parts.openings);
    *size = at;
    parts.round = (struct round_hub){
        .desk = &parts.head->desk,
        .grantor = round_grantor_at(heads, config->select.user_count, head->desk.term > 0),
        .asked = parts.set,
        .received = parts.received,
        .seen = parts.seen,
        .domain = config->domain,
        .run_id = config->run_id,
        .site_count = config->select.user_count,
        .round = head->round,
        .round_max = config->round_count + 1,
        .answers_all = true,
        .may_rest = true};
    return parts;
}

static struct hub_parts parts_of(const struct tacit_select_hub *hub)
{
    size_t size;
    return lay_out((const struct hub_head *)hub, &size);
}

/* Are there two aggregators? */
static bool are_two(const struct hub_parts *parts)
{
    return parts->openings != NULL;
}

/* The round takes no more updates, and the helper has not yet sent the totals. */
static bool awaits_totals(const struct hub_parts *parts)
{
    return parts->head->awaits_totals != 0;
}

/* Rounds that are over. */
static uint32_t rounds_over(const struct hub_parts *parts)
{
    struct hub_head const *const head = parts->head;
    bool const is_closed = head->desk.phase == ROUND_CLOSED && !awaits_totals(parts);
    return head->round == 0 || is_closed ? head->round : head->round - 1;
}

/* Is no round open, and may one begin? */
static bool is_resting(const struct hub_parts *parts)
{
    enum round_phase const phase = parts->head->desk.phase;
    return phase == ROUND_NEW || (phase == ROUND_CLOSED && !awaits_totals(parts));
}

/* Of those that are left. */
static uint32_t quorum_of(const struct hub_parts *parts)
{
    uint32_t const sites = parts->head->config.select.user_count;
    uint32_t const left = parts->round.dropped == NULL
                              ? sites
                              : sites - tacit_bits_count(parts->round.dropped, sites);
    return parts->head->config.quorum < left ? parts->head->config.quorum : left;
}

/* ---- Beginning ---- */

static bool is_valid(const struct tacit_select_hub_config *config)
{
    bool const is_known = config->selector != TACIT_SELECTOR_GENIE &&
                          config->selector != TACIT_SELECTOR_FASTEST &&
                          config->selector <= TACIT_SELECTOR_ALL;
    bool const is_free = isinf(config->select.budget.total) != 0;
    bool const can_be_two = config->quorum >= TACIT_HELPER_SITES_MIN && !is_free;
    return is_known && (is_free || config->select.budget.is_exact) &&
           (!config->has_helper || can_be_two) && config->dimension > 0 &&
           config->dimension <= TACIT_SELECT_DIMENSION_MAX && config->round_count > 0 &&
           config->round_count <= TACIT_SELECT_ROUNDS_MAX && config->quorum > 0 &&
           config->quorum <= config->select.user_count &&
           config->select.user_count <= TACIT_AGENTS_MAX && config->round_timeout_us > 0 &&
           config->clip > 0 && config->clip <= 1e100 && tacit_select_size(&config->select) > 0;
}

/* A head of the configuration, before anything has happened. */
static struct hub_head *fill_head(struct hub_head *head,
                                  const struct tacit_select_hub_config *config)
{
    TACIT_ASSERT(config->select.users_per_round <= config->select.user_count);
    memset(head, 0, sizeof *head);
    head->desk.deadline_us = TACIT_NEVER;
    head->select_size = tacit_select_size(&config->select);
    head->slot_count = config->selector == TACIT_SELECTOR_ALL ? config->select.user_count
                                                              : config->select.users_per_round;
    head->config = *config;
    head->config.sizes = NULL;
    head->config.initial = NULL;
    head->config.select.budget.given = NULL;
    return head;
}

size_t tacit_select_hub_size(const struct tacit_select_hub_config *config)
{
    struct hub_head head;
    size_t size;
    TACIT_ASSERT(config != NULL);
    if (!is_valid(config))
        return 0;
    (void)lay_out(fill_head(&head, config), &size);
    return size > BLOCK_BYTES_MAX ? 0 : size;
}

/* The model as it goes out: rounded to single precision, and named. */
static void present(const struct hub_parts *parts)
{
    struct select_pieces const *const model = &parts->model;
    for (uint32_t i = 0; i < model->dimension; i++)
        ((float *)model->numbers)[i] = (float)parts->theta[i];
    select_digest_pieces(model);
    select_name_of(model, parts->head->model);
}

enum tacit_status tacit_select_hub_init(struct tacit_select_hub *hub,
                                        const struct tacit_select_hub_config *config)
{
    size_t const size = tacit_select_hub_size(config);
    TACIT_ASSERT(hub != NULL);
    if (size == 0)
        return TACIT_INVALID;
    memset(hub, 0, size);
    (void)fill_head((struct hub_head *)hub, config);
    struct hub_parts const parts = parts_of(hub);
    enum tacit_status const status =
        tacit_select_init(parts.select, &config->select, config->sizes);
    for (uint32_t i = 0; config->initial != NULL && i < config->dimension; i++) {
        if (!isfinite(config->initial[i]))
            return TACIT_INVALID;
        parts.theta[i] = (double)config->initial[i];
    }
    present(&parts);
    return status;
}

static bool slots_are_possible(const struct hub_parts *parts)
{
    TACIT_ASSERT(parts->head->asked_count <= parts->head->slot_count);
    struct hub_head const *const head = parts->head;
    uint32_t complete_count = 0;
    for (uint32_t i = 0; i < head->asked_count; i++) {
        if (parts->slots[i].agent >= head->config.select.user_count ||
            parts->slots[i].state > SLOT_COMPLETE ||
            !tacit_bits_has(parts->set, parts->slots[i].agent))
            return false;
        complete_count += parts->slots[i].state == SLOT_COMPLETE ? 1 : 0;
    }
    return complete_count == head->desk.covered_count;
}

enum tacit_status tacit_select_hub_check(const struct tacit_select_hub *hub, size_t size,
                                         const struct tacit_select_hub_config *config)
{
    struct hub_head const *const head = (const struct hub_head *)hub;
    struct hub_head fresh;
    TACIT_ASSERT(hub != NULL);
    if (size == 0 || size != tacit_select_hub_size(config))
        return TACIT_MALFORMED;
    (void)fill_head(&fresh, config);
    if (head->select_size != fresh.select_size || head->slot_count != fresh.slot_count ||
        memcmp(&head->config, &fresh.config, sizeof fresh.config) != 0)
        return TACIT_MALFORMED;
    struct hub_parts const parts = parts_of(hub);
    if (head->lacks_model > 1 || head->round > head->config.round_count + 1 ||
        head->asked_count > head->slot_count || !round_hub_is_possible(&parts.round) ||
        !slots_are_possible(&parts) || (head->epsilon_nano > 0 && !are_two(&parts)) ||
        head->awaits_totals > (are_two(&parts) && head->desk.phase == ROUND_CLOSED ? 1u : 0u))
        return TACIT_MALFORMED;
    return tacit_select_check(parts.select, head->select_size, &config->select);
}

/* ---- Saying ---- */

/* To one site it also says of which round nothing more is wanted from it. */
static void send_order(const struct hub_parts *parts, uint32_t to,
                       struct tacit_select_update *update)
{
    TACIT_ASSERT(to == TACIT_EVERYONE || to < parts->head->config.select.user_count);
    struct hub_head const *const head = parts->head;
    bool const is_over = head->desk.phase == ROUND_CLOSED;
    if (head->round == 0 || head->lacks_model != 0)
        return;
    select_send(update, to,
                (struct tacit_select_message){.kind = TACIT_SELECT_ORDER,
                                              .round = head->round,
                                              .last = head->desk.phase == ROUND_FINISHED,
                                              .seen = to == TACIT_EVERYONE ? 0 : parts->seen[to],
                                              .set = is_over ? parts->nobody : parts->set,
                                              .epsilon_nano = head->epsilon_nano,
                                              .digests = parts->model.digests,
                                              .digest_count = tacit_select_piece_count(
                                                  head->config.dimension, TACIT_SELECT_MODEL)});
}

/* ---- Rounds ---- */

static bool somebody_can_pay(const struct hub_parts *parts)
{
    for (uint32_t site = 0; site < parts->head->config.select.user_count; site++)
        if (select_can_pay(parts->select, site))
            return true;
    return false;
}

/* The last order: it asks nobody, and names the run's model. */
static void finish(struct hub_parts *parts, struct tacit_select_update *update)
{
    TACIT_ASSERT(is_resting(parts));
    struct hub_head *const head = parts->head;
    parts->round.round = ++head->round;
    head->asked_count = 0;
    head->epsilon_nano = 0;
    memset(parts->set, 0, TACIT_BITS_WORDS(head->config.select.user_count) * sizeof(uint64_t));
    round_hub_await(&parts->round, true);
    update->persist = true;
    update->has_model = true;
    send_order(parts, TACIT_EVERYONE, update);
}

/* All that was asked for is to come. */
static void empty_slots(const struct hub_parts *parts)
{
    TACIT_ASSERT(parts->head->asked_count <= parts->head->slot_count);
    uint32_t const count = parts->head->asked_count;
    size_t const pieces =
        tacit_select_piece_count(parts->head->config.dimension, TACIT_SELECT_STEPS);
    memset(parts->have, 0, count * TACIT_BITS_WORDS(pieces) * sizeof(uint64_t));
    for (uint32_t i = 0; i < count; i++) {
        parts->slots[i] = (struct slot){.agent = parts->slots[i].agent};
        parts->latencies[i] = NAN;
    }
}

/* HELPER 4: the least that one of those who were chosen has next. */
static uint64_t least_price_nano(const struct hub_parts *parts, uint32_t count)
{
    struct select_columns const columns = select_columns_of(parts->select);
    uint64_t least = UINT64_MAX;
    TACIT_ASSERT(count >= 1);
    for (uint32_t i = 0; i < count; i++)
        least = columns.next[parts->users[i]] < least ? columns.next[parts->users[i]] : least;
    TACIT_ASSERT(least >= SELECT_PRICE_MIN_NANO);
    return least;
}

static void open_round(struct hub_parts *parts, uint32_t count, uint64_t now_us,
                       struct tacit_select_update *update)
{
    TACIT_ASSERT(count >= 1);
    TACIT_ASSERT(count <= parts->head->slot_count);
    struct hub_head *const head = parts->head;
    parts->round.round = ++head->round;
    head->asked_count = count;
    head->started_us = now_us;
    head->epsilon_nano = are_two(parts) ? least_price_nano(parts, count) : 0;
    memset(parts->set, 0, TACIT_BITS_WORDS(head->config.select.user_count) * sizeof(uint64_t));
    for (uint32_t i = 0; i < count; i++) {
        parts->slots[i].agent = parts->users[i];
        tacit_bits_add(parts->set, parts->users[i]);
    }
    empty_slots(parts);
    round_hub_await(&parts->round, false);
    update->persist = true;
    send_order(parts, TACIT_EVERYONE, update);
}

static enum tacit_status choose(const struct hub_parts *parts, const struct tacit_entropy *entropy,
                                uint32_t *count)
{
    struct tacit_select_choice const choice = {.selector = parts->head->config.selector,
                                               .annealing = parts->head->config.annealing,
                                               .available = parts->heard};
    double energy;
    return tacit_select_choose(parts->select, &choice, entropy, parts->scratch, parts->users, count,
                               &energy);
}

/* Opens the next round. READINGS P5.12: with fewer sites than the quorum it is postponed; if nobody
 * has budget, the run is over. Errors: TACIT_ENTROPY, nobody was chosen. */
static enum tacit_status begin(struct hub_parts *parts, uint64_t now_us,
                               const struct tacit_entropy *entropy,
                               struct tacit_select_update *update)
{
    struct hub_head *const head = parts->head;
    uint32_t count = 0;
    TACIT_ASSERT(is_resting(parts));
    if (head->lacks_model != 0)
        return TACIT_OK;
    bool const is_ended = head->exhausted == ENDED;
    if (is_ended || rounds_over(parts) == head->config.round_count || !somebody_can_pay(parts)) {
        if (!is_ended)
            head->exhausted = rounds_over(parts) < head->config.round_count ? 1 : 0;
        finish(parts, update);
        return TACIT_OK;
    }
    uint32_t able = 0;
    for (size_t i = 0;
         parts->round.dropped != NULL && i < TACIT_BITS_WORDS(head->config.select.user_count); i++)
        parts->heard[i] &= ~parts->round.dropped[i];
    for (uint32_t site = 0; site < head->config.select.user_count; site++)
        if (tacit_bits_has(parts->heard, site) && select_can_pay(parts->select, site))
            able++;
    if (able < quorum_of(parts))
        return TACIT_OK;
    enum tacit_status const status = choose(parts, entropy, &count);
    if (status == TACIT_OK)
        open_round(parts, count, now_us, update);
    return status;
}

/* Eq. (2), in the order of the sites: theta += sum of alpha_k z_k u, alpha_k public. */
static void average(const struct hub_parts *parts)
{
    TACIT_ASSERT(parts->head->desk.covered_count > 0);
    struct hub_head const *const head = parts->head;
    struct tacit_select_view view;
    double const unit = head->config.clip / (double)TACIT_VECTOR_STEPS;
    double total = 0;
    tacit_select_view(parts->select, &view);
    for (uint32_t i = 0; i < head->asked_count; i++)
        if (parts->slots[i].state == SLOT_COMPLETE)
            total += (double)view.sizes[parts->slots[i].agent];
    TACIT_ASSERT(total > 0);
    for (uint32_t i = 0; i < head->asked_count; i++) {
        int64_t const *const steps = parts->steps + (size_t)i * head->config.dimension;
        double const weight = (double)view.sizes[parts->slots[i].agent] / total;
        if (parts->slots[i].state != SLOT_COMPLETE)
            continue;
        for (uint32_t k = 0; k < head->config.dimension; k++)
            parts->theta[k] += weight * ((double)steps[k] * unit);
    }
    present(parts);
}

/* HELPER 4, model updates: all weigh the same. */
static void add_totals(const struct hub_parts *parts, uint32_t sites, const int64_t *totals)
{
    struct tacit_select_hub_config const *const config = &parts->head->config;
    double const unit = config->clip / (double)TACIT_VECTOR_STEPS / sites;
    TACIT_ASSERT(sites > 0);
    for (uint32_t k = 0; k < config->dimension; k++)
        parts->theta[k] += (double)totals[k] * unit;
    present(parts);
}

/* Two aggregators: no update of the round that stands is added up any more. */
static void drop_updates(const struct hub_parts *parts)
{
    struct tacit_select_hub_config const *const config = &parts->head->config;
    if (parts->head->desk.phase == ROUND_COLLECTING)
        round_hub_close(&parts->round);
    parts->head->awaits_totals = 0;
    memset(parts->steps, 0,
           (size_t)parts->head->slot_count * config->dimension * sizeof *parts->steps);
    memset(parts->openings, 0, parts->head->slot_count * sizeof *parts->openings);
}

/* Who did not answer counts with the deadline, and is asked again once it has spoken again. With
 * two aggregators and a quorum the round waits for its totals. */
static enum tacit_status end_round(struct hub_parts *parts, uint64_t now_us,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_select_update *update)
{
    struct hub_head *const head = parts->head;
    TACIT_ASSERT(head->desk.covered_count <= head->asked_count);
    TACIT_ASSERT(head->desk.phase == ROUND_COLLECTING);
    for (uint32_t i = 0; i < head->asked_count; i++) {
        struct slot const *const slot = &parts->slots[i];
        parts->users[i] = slot->agent;
        if (slot->state != SLOT_COMPLETE)
            tacit_bits_remove(parts->heard, slot->agent);
        parts->round_spent[i] = parts->spent[slot->agent];
    }
    enum tacit_status const observed = tacit_select_observe_reported(
        parts->select, parts->users, head->asked_count, parts->latencies,
        (double)head->config.round_timeout_us * 1e-6, parts->round_spent);
    TACIT_ASSERT(observed == TACIT_OK);
    update->persist = true;
    if (are_two(parts) && head->desk.covered_count >= quorum_of(parts)) {
        round_hub_close(&parts->round);
        parts->head->awaits_totals = 1;
        update->happened |= TACIT_WANTS_TOTALS;
        return TACIT_OK;
    }
    if (are_two(parts))
        drop_updates(parts);
    else if (head->desk.covered_count > 0)
        average(parts);
    if (!are_two(parts))
        round_hub_close(&parts->round);
    update->round_is_over = true;
    return begin(parts, now_us, entropy, update);
}

/* ---- Hearing ---- */

static void note_spent(const struct hub_parts *parts, uint32_t site, uint64_t spent_nano)
{
    TACIT_ASSERT(site < parts->head->config.select.user_count);
    if (spent_nano <= parts->spent[site])
        return;
    parts->spent[site] = spent_nano;
    tacit_select_report(parts->select, site, spent_nano);
}

static struct slot *slot_of(const struct hub_parts *parts, uint32_t site)
{
    for (uint32_t i = 0; i < parts->head->asked_count; i++)
        if (parts->slots[i].agent == site)
            return &parts->slots[i];
    return NULL;
}

static size_t index_of(const struct hub_parts *parts, const struct slot *slot)
{
    TACIT_ASSERT(slot >= parts->slots);
    TACIT_ASSERT((size_t)(slot - parts->slots) < parts->head->slot_count);
    return (size_t)(slot - parts->slots);
}

/* What a slot holds of its update. */
static struct select_pieces update_of(const struct hub_parts *parts, struct slot *slot)
{
    size_t const place = index_of(parts, slot);
    uint32_t const dimension = parts->head->config.dimension;
    size_t const pieces = tacit_select_piece_count(dimension, TACIT_SELECT_STEPS);
    return (struct select_pieces){.vector = TACIT_SELECT_STEPS,
                                  .dimension = dimension,
                                  .numbers = parts->steps + place * dimension,
                                  .digests = parts->digests + place * pieces * TACIT_SHA256_BYTES,
                                  .have = parts->have + place * TACIT_BITS_WORDS(pieces),
                                  .first = &slot->first,
                                  .mask = &slot->mask};
}

static bool needs_no_update(const struct hub_parts *parts, uint32_t site, uint32_t round)
{
    TACIT_ASSERT(site < parts->head->config.select.user_count);
    struct hub_head const *const head = parts->head;
    return head->desk.phase != ROUND_COLLECTING || round != head->round ||
           !tacit_bits_has(parts->set, site) || tacit_bits_has(parts->received, site);
}

/* Says what the verdict on a message has its sender hear. Result: the verdict's status. */
static enum tacit_status answer(const struct hub_parts *parts,
                                const struct tacit_select_message *message,
                                struct round_verdict verdict, struct tacit_select_update *update)
{
    bool const is_grant = verdict.answer == ROUND_GRANT;
    update->persist = update->persist || verdict.persist;
    if (verdict.answer == ROUND_ORDER) {
        send_order(parts, message->from, update);
    } else if (verdict.answer != ROUND_NOTHING) {
        struct tacit_select_message reply = {
            .kind = is_grant ? TACIT_SELECT_GRANT : TACIT_SELECT_REFUSAL,
            .head = round_hub_answer(&parts->round, &message->head, &verdict)};
        if (is_grant && needs_no_update(parts, message->from, message->round))
            reply.closed = true;
        select_send(update, message->from, reply);
    }
    return verdict.status;
}

/* Before the first round there is nothing to say; without a model, a question. */
static enum tacit_status on_hello(const struct hub_parts *parts,
                                  const struct tacit_select_message *hello,
                                  struct tacit_select_update *update)
{
    bool const is_early = parts->head->desk.phase == ROUND_NEW && hello->round == 0;
    struct round_verdict const verdict =
        is_early ? (struct round_verdict){0} : round_hub_greet(&parts->round, &hello->head);
    if (verdict.status == TACIT_OK)
        note_spent(parts, hello->from, hello->spent_nano);
    if (verdict.status == TACIT_OK && parts->head->lacks_model != 0) {
        select_ask(&parts->model, hello->from, parts->head->round, update);
        return TACIT_OK;
    }
    return answer(parts, hello, verdict, update);
}

static enum tacit_status on_commit(const struct hub_parts *parts,
                                   const struct tacit_select_message *commit,
                                   struct tacit_select_update *update)
{
    enum tacit_status const status = round_hub_check_commit(&parts->round, &commit->head);
    if (status != TACIT_OK)
        return status;
    struct round_verdict const verdict = round_hub_ask(&parts->round, &commit->head);
    if (are_two(parts) && verdict.answer == ROUND_GRANT && verdict.persist)
        update->happened |= TACIT_GRANTED_DRAW;
    return answer(parts, commit, verdict, update);
}

/* What is late is counted as spent, and not averaged. */
static enum tacit_status on_update(const struct hub_parts *parts,
                                   const struct tacit_select_message *message,
                                   struct tacit_select_update *update)
{
    TACIT_ASSERT(message->from < parts->head->config.select.user_count);
    struct hub_head const *const head = parts->head;
    uint8_t release[TACIT_SHA256_BYTES];
    uint32_t const pieces = tacit_select_piece_count(head->config.dimension, TACIT_SELECT_STEPS);
    if (message->digest_count != pieces || (message->masked != NULL) != are_two(parts))
        return TACIT_MALFORMED;
    struct round_verdict verdict = round_hub_check_report(&parts->round, &message->head);
    if (verdict.status == TACIT_OK && verdict.answer == ROUND_NOTHING) {
        select_release_of(message, release);
        verdict = round_hub_open(&parts->round, &message->head, release);
        if (verdict.status == TACIT_OK &&
            (needs_no_update(parts, message->from, message->round) ||
             memcmp(message->model, head->model, TACIT_SHA256_BYTES) != 0))
            verdict.answer = ROUND_ORDER;
    }
    if (verdict.status == TACIT_OK)
        note_spent(parts, message->from, message->spent_nano);
    update->persist = verdict.answer == ROUND_ORDER;
    if (verdict.status != TACIT_OK || verdict.answer != ROUND_NOTHING)
        return answer(parts, message, verdict, update);
    update->persist = verdict.persist;
    struct slot *const slot = slot_of(parts, message->from);
    TACIT_ASSERT(slot != NULL);
    struct select_pieces const held = update_of(parts, slot);
    if (slot->state == SLOT_ASKED) {
        slot->state = SLOT_OPENED;
        memcpy(held.digests, message->digests, (size_t)pieces * TACIT_SHA256_BYTES);
        if (are_two(parts))
            parts->openings[index_of(parts, slot)] =
                (struct opening){*message->commit, *message->masked};
    }
    select_ask(&held, slot->agent, head->round, update);
    return TACIT_OK;
}

/* Two aggregators: are these the masked words that the commitment is to? */
static bool are_committed(const struct hub_parts *parts, struct slot *slot)
{
    struct tacit_helper_release const *const masked =
        &parts->openings[index_of(parts, slot)].masked;
    struct tacit_helper_release found = *masked;
    tacit_helper_blind_digest(&found, update_of(parts, slot).numbers,
                              parts->head->config.dimension);
    return memcmp(found.digest, masked->digest, sizeof found.digest) == 0;
}

/* Two aggregators: the update, for the driver, as if it had come in one message. */
static void fill_report(const struct hub_parts *parts, struct slot *slot,
                        const struct tacit_round_message *head, struct tacit_select_update *update)
{
    struct opening const *const opening = &parts->openings[index_of(parts, slot)];
    TACIT_ASSERT(update->masked == NULL);
    update->happened |= TACIT_COUNTED_REPORT;
    update->report = *head;
    update->report.commit = &opening->commit;
    update->masked = &opening->masked;
    update->words = update_of(parts, slot).numbers;
}

/* All pieces of one update are there: it is counted, durably, before the site hears of it. */
static enum tacit_status complete(struct hub_parts *parts, struct slot *slot, uint64_t now_us,
                                  const struct tacit_round_message *piece,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_select_update *update)
{
    TACIT_ASSERT(slot->state == SLOT_OPENED);
    struct hub_head const *const head = parts->head;
    uint64_t const spent_us = now_us - head->started_us;
    uint32_t const site = slot->agent;
    enum tacit_status status = TACIT_OK;
    slot->state = SLOT_COMPLETE;
    parts->latencies[index_of(parts, slot)] = (double)(spent_us > 0 ? spent_us : 1) * 1e-6;
    round_hub_add_report(&parts->round, piece, 1);
    if (are_two(parts))
        fill_report(parts, slot, piece, update);
    update->persist = true;
    if (head->desk.missing_count == 0)
        status = end_round(parts, now_us, entropy, update);
    send_order(parts, site, update);
    return status;
}

/* What a site has fetched of the model that is lost here. */
static enum tacit_status on_model_piece(const struct hub_parts *parts,
                                        const struct tacit_select_message *piece, uint64_t now_us,
                                        struct tacit_select_update *update)
{
    struct hub_head *const head = parts->head;
    if (head->lacks_model == 0)
        return TACIT_UNEXPECTED;
    bool is_whole = false;
    enum tacit_status const status =
        select_on_piece(&parts->model, head->round, piece, update, &is_whole);
    if (!is_whole)
        return status;
    for (uint32_t i = 0; i < head->config.dimension; i++)
        parts->theta[i] = (double)((const float *)parts->model.numbers)[i];
    head->lacks_model = 0;
    head->started_us = now_us;
    update->persist = true;
    update->has_model = head->desk.phase == ROUND_FINISHED;
    send_order(parts, TACIT_EVERYONE, update);
    return TACIT_OK;
}

static enum tacit_status on_piece(struct hub_parts *parts, const struct tacit_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_select_update *update)
{
    struct hub_head const *const head = parts->head;
    struct tacit_select_message const *const piece = event->as.message;
    struct slot *const slot = slot_of(parts, piece->from);
    if (piece->vector == TACIT_SELECT_MODEL)
        return on_model_piece(parts, piece, event->now_us, update);
    if (head->desk.phase != ROUND_COLLECTING || piece->round != head->round || slot == NULL ||
        slot->state != SLOT_OPENED)
        return TACIT_UNEXPECTED;
    struct select_pieces const held = update_of(parts, slot);
    bool is_whole = false;
    enum tacit_status const status = select_on_piece(&held, head->round, piece, update, &is_whole);
    if (!is_whole)
        return status;
    if (!are_two(parts) || are_committed(parts, slot))
        return complete(parts, slot, event->now_us, &piece->head, entropy, update);
    select_forget(&held, piece->first);
    return TACIT_MALFORMED;
}

static enum tacit_status on_request(const struct hub_parts *parts,
                                    const struct tacit_select_message *request,
                                    struct tacit_select_update *update)
{
    struct hub_head const *const head = parts->head;
    if (request->round != head->round || request->vector != TACIT_SELECT_MODEL ||
        head->lacks_model != 0)
        return TACIT_UNEXPECTED;
    return select_on_request(&parts->model, request, update);
}

/* ---- Steps ---- */

static enum tacit_status on_message(struct hub_parts *parts, const struct tacit_event *event,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_select_update *update)
{
    struct tacit_select_message const *const message = event->as.message;
    switch (message->kind) {
    case TACIT_SELECT_HELLO:
        return on_hello(parts, message, update);
    case TACIT_SELECT_COMMIT:
        return on_commit(parts, message, update);
    case TACIT_SELECT_UPDATE:
        return parts->head->lacks_model != 0 ? TACIT_UNEXPECTED : on_update(parts, message, update);
    case TACIT_SELECT_PIECE:
        return on_piece(parts, event, entropy, update);
    case TACIT_SELECT_REQUEST:
        return on_request(parts, message, update);
    case TACIT_SELECT_ORDER:
    case TACIT_SELECT_GRANT:
    case TACIT_SELECT_REFUSAL:
        break; /* these are the hub's */
    }
    return TACIT_UNEXPECTED;
}

static enum tacit_status receive(struct hub_parts *parts, const struct tacit_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct tacit_select_update *update)
{
    struct tacit_select_message const *const message = event->as.message;
    TACIT_ASSERT(message != NULL);
    enum tacit_status status = round_hub_check(&parts->round, &message->head);
    if (status == TACIT_OK)
        status = on_message(parts, event, entropy, update);
    if (status != TACIT_OK)
        return status;
    tacit_bits_add(parts->heard, message->from);
    return is_resting(parts) ? begin(parts, event->now_us, entropy, update) : TACIT_OK;
}

static enum tacit_status time_out(struct hub_parts *parts, uint64_t now_us,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_select_update *update)
{
    struct hub_head const *const head = parts->head;
    if (is_resting(parts))
        return begin(parts, now_us, entropy, update);
    bool const is_due =
        round_desk_is_due(&head->desk, now_us) || round_hub_waits_for_dropped(&parts->round);
    return head->lacks_model == 0 && is_due ? end_round(parts, now_us, entropy, update) : TACIT_OK;
}

/* Nothing that was granted is known any more; updates of the open round come again. With two
 * aggregators none of a term before is added up, and what sites have next they say first. */
static void begin_term(const struct hub_parts *parts, uint64_t term, uint64_t now_us,
                       struct tacit_select_update *update)
{
    struct hub_head *const head = parts->head;
    if (head->desk.phase == ROUND_CLOSED)
        head->asked_count = head->desk.covered_count = 0;
    round_hub_begin_term(&parts->round, term);
    empty_slots(parts);
    head->started_us = now_us;
    update->persist = true;
    if (!are_two(parts) || head->desk.phase == ROUND_FINISHED)
        return;
    drop_updates(parts);
    head->asked_count = head->desk.covered_count = 0;
    memset(parts->heard, 0, TACIT_BITS_WORDS(head->config.select.user_count) * sizeof(uint64_t));
}

/* The clock may have begun anew with the machine. */
static void start(struct hub_parts *parts, const struct tacit_event *event,
                  struct tacit_select_update *update)
{
    struct hub_head *const head = parts->head;
    if (event->as.term > head->desk.term) {
        begin_term(parts, event->as.term, event->now_us, update);
        *parts = parts_of((const struct tacit_select_hub *)(const void *)head);
    }
    if (head->started_us > event->now_us)
        head->started_us = event->now_us;
    update->happened |= awaits_totals(parts) ? TACIT_WANTS_TOTALS : 0;
    update->has_model = head->desk.phase == ROUND_FINISHED && head->lacks_model == 0;
    send_order(parts, TACIT_EVERYONE, update);
}

/* Whatever has happened to the hub: until when it waits, and from whom messages are. */
static void end_step(const struct hub_parts *parts, const struct hub_head *before, uint64_t now_us,
                     bool is_start, bool is_good, struct tacit_select_update *update)
{
    struct hub_head *const head = parts->head;
    bool const is_new = head->round != before->round || head->desk.phase != before->desk.phase ||
                        head->lacks_model != before->lacks_model;
    if (is_good || update->persist)
        round_desk_end_step(&head->desk, now_us, head->config.round_timeout_us, is_new, is_start);
    update->deadline_us = head->lacks_model == 0 ? head->desk.deadline_us : TACIT_NEVER;
    select_stamp(update, TACIT_HUB, head->config.run_id, head->desk.term);
    round_hub_check_invariants(&parts->round);
    TACIT_ASSERT(head->desk.covered_count <= head->asked_count);
    TACIT_ASSERT(head->asked_count <= head->slot_count);
}

enum tacit_status tacit_select_hub_step(struct tacit_select_hub *hub,
                                        const struct tacit_event *event,
                                        const struct tacit_entropy *entropy,
                                        struct tacit_select_update *update)
{
    struct hub_parts parts = parts_of(hub);
    struct hub_head *const head = parts.head;
    struct hub_head const before = *head;
    enum tacit_status status = TACIT_OK;
    TACIT_ASSERT(event != NULL);
    TACIT_ASSERT(update != NULL);
    memset(update, 0, sizeof *update);
    parts.round.dropped = event->dropped;
    bool const is_start = event->kind == TACIT_EVENT_START;
    if (is_start)
        start(&parts, event, update);
    else if (event->kind == TACIT_EVENT_RECEIVE)
        status = receive(&parts, event, entropy, update);
    else if (event->kind == TACIT_EVENT_TIMEOUT)
        status = time_out(&parts, event->now_us, entropy, update);
    end_step(&parts, &before, event->now_us, is_start, status == TACIT_OK, update);
    return status;
}

void tacit_select_hub_close(struct tacit_select_hub *hub, uint32_t sites, const int64_t *totals,
                            uint64_t now_us, struct tacit_select_update *update)
{
    struct hub_parts const parts = parts_of(hub);
    TACIT_ASSERT(awaits_totals(&parts));
    TACIT_ASSERT(sites <= parts.head->desk.covered_count);
    *update =
        (struct tacit_select_update){.persist = true, .round_is_over = true, .deadline_us = now_us};
    if (sites > 0)
        add_totals(&parts, sites, totals);
    drop_updates(&parts);
    round_hub_check_invariants(&parts.round);
}

/* Nothing is drawn, and no entropy needed: nobody is chosen any more. */
enum tacit_status tacit_select_hub_end(struct tacit_select_hub *hub, uint64_t now_us,
                                       struct tacit_select_update *update)
{
    struct hub_parts parts = parts_of(hub);
    struct hub_head *const head = parts.head;
    struct hub_head const before = *head;
    bool const is_over = head->desk.phase == ROUND_FINISHED;
    enum tacit_status status = TACIT_OK;
    TACIT_ASSERT(update != NULL);
    memset(update, 0, sizeof *update);
    if (head->round == 0 || head->lacks_model != 0 || (is_over && head->exhausted != ENDED)) {
        status = TACIT_UNEXPECTED;
    } else if (!is_over) {
        head->exhausted = ENDED;
        if (are_two(&parts))
            drop_updates(&parts);
        status = is_resting(&parts) ? begin(&parts, now_us, NULL, update)
                                    : end_round(&parts, now_us, NULL, update);
        TACIT_ASSERT(status == TACIT_OK && head->desk.phase == ROUND_FINISHED);
    }
    end_step(&parts, &before, now_us, false, status == TACIT_OK && !is_over, update);
    return status;
}

/* ---- What a lost hub is built again from ---- */

static void walk_hub(struct base_walk *walk, void *hub)
{
    struct hub_parts const parts = parts_of(hub);
    struct hub_head *const head = parts.head;
    struct tacit_select_hub_config const *const config = &head->config;
    size_t const words = TACIT_BITS_WORDS(config->select.user_count);
    uint32_t phase = head->desk.phase;
    base_walk_same(walk, MAGIC);
    base_walk_same(walk, config->run_id);
    base_walk_same(walk, config->select.user_count);
    base_walk_same(walk, head->slot_count);
    base_walk_same(walk, config->dimension);
    base_walk_same(walk, config->round_count);
    base_walk_number(walk, &phase);
    walk->failed = walk->failed || phase > ROUND_CLOSED;
    if (!walk->failed)
        head->desk.phase = (enum round_phase)phase;
    base_walk_number(walk, &head->round);
    base_walk_number(walk, &head->exhausted);
    base_walk_words(walk, (uint64_t *)parts.select, head->select_size / sizeof(uint64_t));
    base_walk_words(walk, phase == ROUND_COLLECTING ? parts.set : parts.nobody, words);
    base_walk_words(walk, parts.heard, words);
    base_walk_words(walk, parts.spent, config->select.user_count);
    base_walk_words(walk, (uint64_t *)(void *)parts.model.digests,
                    TACIT_SHA256_BYTES / sizeof(uint64_t) *
                        tacit_select_piece_count(config->dimension, TACIT_SELECT_MODEL));
}

size_t tacit_select_hub_snapshot(const struct tacit_select_hub *hub, uint8_t *bytes, size_t room)
{
    return base_walk_write(walk_hub, hub, bytes, room);
}

/* Whoever is asked has a slot, and nothing of theirs is here. False: there are more. */
static bool fill_slots(const struct hub_parts *parts)
{
    struct hub_head *const head = parts->head;
    uint32_t const sites = head->config.select.user_count;
    if (!tacit_bits_within(parts->set, parts->set, sites) ||
        tacit_bits_next(parts->nobody, sites, 0) < sites ||
        tacit_bits_count(parts->set, sites) > head->slot_count)
        return false;
    TACIT_BITS_EACH (site, parts->set, sites)
        parts->slots[head->asked_count++].agent = site;
    empty_slots(parts);
    head->desk.missing_count = head->asked_count;
    return true;
}

enum tacit_status tacit_select_hub_restore(struct tacit_select_hub *hub,
                                           const struct tacit_select_hub_config *config,
                                           const uint8_t *bytes, size_t size)
{
    enum tacit_status const status = tacit_select_hub_init(hub, config);
    if (status != TACIT_OK)
        return status;
    struct hub_parts const parts = parts_of(hub);
    struct hub_head *const head = parts.head;
    uint8_t given[TACIT_SHA256_BYTES];
    memcpy(given, head->model, sizeof given);
    if (!base_walk_read(walk_hub, hub, bytes, size) || !fill_slots(&parts))
        return TACIT_MALFORMED;
    select_name_of(&parts.model, head->model);
    if (memcmp(given, head->model, sizeof given) != 0) {
        head->lacks_model = 1;
        memset(parts.model.numbers, 0, config->dimension * sizeof(float));
        memset(parts.theta, 0, config->dimension * sizeof *parts.theta);
    }
    bool const is_state =
        tacit_select_hub_check(hub, tacit_select_hub_size(config), config) == TACIT_OK &&
        base_walk_writes(walk_hub, hub, bytes, size);
    return is_state ? TACIT_OK : TACIT_MALFORMED;
}

void tacit_select_hub_view(const struct tacit_select_hub *hub, struct tacit_select_hub_view *view)
{
    struct hub_parts const parts = parts_of(hub);
    struct hub_head const *const head = parts.head;
    TACIT_ASSERT(view != NULL);
    bool const collects = head->desk.phase == ROUND_COLLECTING;
    *view = (struct tacit_select_hub_view){.desk = round_hub_view(&parts.round),
                                           .round_count = rounds_over(&parts),
                                           .is_open = collects && head->lacks_model == 0,
                                           .is_exhausted =
                                               head->exhausted != 0 && head->exhausted != ENDED,
                                           .is_ended = head->exhausted == ENDED,
                                           .lacks_model = head->lacks_model != 0,
                                           .awaits_totals = awaits_totals(&parts),
                                           .epsilon_nano = head->epsilon_nano,
                                           .model_name = head->model,
                                           .asked_count = head->asked_count,
                                           .asked = parts.set,
                                           .spent_nano = parts.spent,
                                           .model = parts.model.numbers,
                                           .latencies = parts.latencies};
    tacit_select_view(parts.select, &view->select);
}
