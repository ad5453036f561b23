/* The hub of a training federation. Its block: the head, the selection's state, the model (double,
 * and as it is announced), what is known of each site, and one slot for each site that was asked.
 * It has the desk of all hubs (round/desk.h), and rounds of its own (NOTES.md says why). */
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

/* Of what is asked of users[i]. */
struct slot {
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
    const struct tacit_select_hub_config *config; /* of the head */
    uint32_t sites;                               /* A */
    uint32_t pieces;                              /* of an update */
    struct round_hub round;
    struct tacit_select *select;
    double *theta;              /* d */
    struct select_pieces model; /* d: as it is announced */
    uint64_t *set;              /* A bits: of the round */
    uint64_t *nobody;           /* A zeros */
    uint64_t *heard;            /* A bits: who has spoken since it was asked in vain */
    uint64_t *spent;            /* A: as reported */
    /* Of each slot: */
    uint32_t *users; /* ascending */
    struct slot *slots;
    double *latencies;
    int64_t *steps;           /* d */
    uint64_t *have;           /* bits of its pieces */
    uint8_t *digests;         /* of its pieces */
    struct opening *openings; /* NULL: one aggregator */
    void *scratch;            /* of a choice */
};

/* The next part of the block: so many of what its pointer points to. */
#define CARVE(pointer, count) (pointer) = select_carve(head, &at, (count) * sizeof *(pointer))

/* Where the parts of a block lie, and how large it is: also of a head alone, behind which nothing
 * is touched. */
static struct hub_parts lay_out(const struct hub_head *head, size_t *size)
{
    struct tacit_select_hub_config const *const config = &head->config;
    uint32_t const sites = config->select.user_count;
    size_t const slots = head->slot_count;
    size_t const numbers = config->dimension;
    size_t const pieces = tacit_select_piece_count(config->dimension, TACIT_SELECT_STEPS);
    size_t const model_pieces = tacit_select_piece_count(config->dimension, TACIT_SELECT_MODEL);
    struct hub_parts parts = {.head = (struct hub_head *)(uintptr_t)head,
                              .config = config,
                              .sites = sites,
                              .pieces = (uint32_t)pieces};
    size_t at = sizeof *head;
    uint64_t *received;
    uint32_t *seen;
    uint64_t *heads;
    TACIT_ASSERT(head->slot_count <= sites);
    parts.model = (struct select_pieces){.vector = TACIT_SELECT_MODEL,
                                         .dimension = config->dimension,
                                         .first = &parts.head->first,
                                         .mask = &parts.head->mask};
    parts.select = select_carve(head, &at, head->select_size);
    CARVE(parts.theta, numbers);
    parts.model.numbers = select_carve(head, &at, numbers * sizeof(float));
    CARVE(parts.model.have, TACIT_BITS_WORDS(model_pieces));
    CARVE(parts.model.digests, model_pieces * TACIT_SHA256_BYTES);
    CARVE(parts.set, TACIT_BITS_WORDS(sites));
    CARVE(parts.nobody, TACIT_BITS_WORDS(sites));
    CARVE(parts.heard, TACIT_BITS_WORDS(sites));
    CARVE(parts.spent, sites);
    CARVE(received, TACIT_BITS_WORDS(sites));
    CARVE(seen, sites);
    CARVE(heads, round_grantor_words(sites));
    CARVE(parts.users, slots);
    CARVE(parts.slots, slots);
    CARVE(parts.latencies, slots);
    CARVE(parts.steps, slots * numbers);
    CARVE(parts.have, slots * TACIT_BITS_WORDS(pieces));
    CARVE(parts.digests, slots * pieces * TACIT_SHA256_BYTES);
    parts.scratch = select_carve(head, &at, tacit_select_choice_size(sites));
    if (config->has_helper)
        CARVE(parts.openings, slots);
    *size = at;
    parts.round = (struct round_hub){.desk = &parts.head->desk,
                                     .grantor = round_grantor_at(heads, sites, head->desk.term > 0),
                                     .asked = parts.set,
                                     .received = received,
                                     .seen = seen,
                                     .domain = config->domain,
                                     .run_id = config->run_id,
                                     .site_count = sites,
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
    uint64_t const *const dropped = parts->round.dropped;
    uint32_t const left =
        parts->sites - (dropped == NULL ? 0 : tacit_bits_count(dropped, parts->sites));
    return parts->config->quorum < left ? parts->config->quorum : left;
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

/* Is it one of a vector of so many pieces? */
static bool window_is_possible(uint32_t first, uint32_t mask, uint32_t pieces)
{
    return select_request_fits(&(struct tacit_select_message){.first = first, .mask = mask},
                               pieces);
}

/* Whoever is asked has a slot, in order; it is complete where its update is here. */
static bool slots_are_possible(const struct hub_parts *parts)
{
    TACIT_ASSERT(parts->head->asked_count <= parts->head->slot_count);
    struct hub_head const *const head = parts->head;
    bool const collects = head->desk.phase == ROUND_COLLECTING;
    uint32_t complete_count = 0;
    for (uint32_t i = 0; i < head->asked_count; i++) {
        uint32_t const user = parts->users[i];
        bool const is_complete = parts->slots[i].state == SLOT_COMPLETE;
        if (user >= parts->sites || (i > 0 && user <= parts->users[i - 1]) ||
            parts->slots[i].state > SLOT_COMPLETE || !tacit_bits_has(parts->set, user) ||
            is_complete != tacit_bits_has(parts->round.received, user) ||
            parts->latencies[i] <= 0 ||
            !window_is_possible(parts->slots[i].first, parts->slots[i].mask, parts->pieces))
            return false;
        complete_count += is_complete ? 1 : 0;
    }
    return complete_count == head->desk.covered_count &&
           (!collects || tacit_bits_count(parts->set, parts->sites) == head->asked_count);
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
        !slots_are_possible(&parts) ||
        !window_is_possible(head->first, head->mask, select_count_of(&parts.model)) ||
        (head->epsilon_nano > 0 && !are_two(&parts)) ||
        head->awaits_totals > (are_two(&parts) && head->desk.phase == ROUND_CLOSED ? 1u : 0u))
        return TACIT_MALFORMED;
    return tacit_select_check(parts.select, head->select_size, &config->select);
}

/* ---- Saying ---- */

/* To one site it also says of which round nothing more is wanted from it. */
static void send_order(const struct hub_parts *parts, uint32_t to,
                       struct tacit_select_update *update)
{
    TACIT_ASSERT(to == TACIT_EVERYONE || to < parts->sites);
    struct hub_head const *const head = parts->head;
    bool const is_over = head->desk.phase == ROUND_CLOSED;
    if (head->round == 0 || head->lacks_model != 0)
        return;
    select_send(
        update, to,
        (struct tacit_select_message){.kind = TACIT_SELECT_ORDER,
                                      .round = head->round,
                                      .last = head->desk.phase == ROUND_FINISHED,
                                      .seen = to == TACIT_EVERYONE ? 0 : parts->round.seen[to],
                                      .set = is_over ? parts->nobody : parts->set,
                                      .epsilon_nano = head->epsilon_nano,
                                      .digests = parts->model.digests,
                                      .digest_count = select_count_of(&parts->model)});
}

/* ---- Rounds ---- */

static void empty_set(const struct hub_parts *parts, uint64_t *set)
{
    memset(set, 0, TACIT_BITS_WORDS(parts->sites) * sizeof *set);
}

static bool somebody_can_pay(const struct hub_parts *parts)
{
    for (uint32_t site = 0; site < parts->sites; site++)
        if (select_can_pay(parts->select, site))
            return true;
    return false;
}

/* All that was asked for is to come. */
static void empty_slots(const struct hub_parts *parts)
{
    TACIT_ASSERT(parts->head->asked_count <= parts->head->slot_count);
    uint32_t const count = parts->head->asked_count;
    memset(parts->have, 0, count * TACIT_BITS_WORDS(parts->pieces) * sizeof *parts->have);
    memset(parts->slots, 0, count * sizeof *parts->slots);
    for (uint32_t i = 0; i < count; i++)
        parts->latencies[i] = NAN;
}

/* HELPER 4: the least that one of those who were chosen has next; 0: nobody was. */
static uint64_t least_price_nano(const struct hub_parts *parts, uint32_t count)
{
    struct select_columns const columns = select_columns_of(parts->select);
    uint64_t least = count == 0 ? 0 : UINT64_MAX;
    for (uint32_t i = 0; i < count; i++)
        least = columns.next[parts->users[i]] < least ? columns.next[parts->users[i]] : least;
    TACIT_IMPLIES(count > 0, least >= SELECT_PRICE_MIN_NANO);
    return least;
}

/* The round of those who were chosen; of nobody: the last order, which names the run's model. */
static void open_round(struct hub_parts *parts, uint32_t count, uint64_t now_us,
                       struct tacit_select_update *update)
{
    TACIT_ASSERT(is_resting(parts));
    TACIT_ASSERT(count <= parts->head->slot_count);
    struct hub_head *const head = parts->head;
    parts->round.round = ++head->round;
    head->asked_count = count;
    head->started_us = now_us;
    head->epsilon_nano = are_two(parts) ? least_price_nano(parts, count) : 0;
    empty_set(parts, parts->set);
    for (uint32_t i = 0; i < count; i++)
        tacit_bits_add(parts->set, parts->users[i]);
    empty_slots(parts);
    round_hub_await(&parts->round, count == 0);
    update->persist = true;
    update->has_model = count == 0;
    send_order(parts, TACIT_EVERYONE, update);
}

static enum tacit_status choose(const struct hub_parts *parts, const struct tacit_entropy *entropy,
                                uint32_t *count)
{
    struct tacit_select_choice const choice = {.selector = parts->config->selector,
                                               .annealing = parts->config->annealing,
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
    uint64_t const *const dropped = parts->round.dropped;
    uint32_t able = 0;
    uint32_t count = 0;
    TACIT_ASSERT(is_resting(parts));
    if (head->lacks_model != 0)
        return TACIT_OK;
    bool const is_ended = head->exhausted == ENDED;
    bool const is_whole = rounds_over(parts) == parts->config->round_count;
    if (is_ended || is_whole || !somebody_can_pay(parts)) {
        if (!is_ended)
            head->exhausted = is_whole ? 0 : 1;
        open_round(parts, 0, now_us, update);
        return TACIT_OK;
    }
    for (size_t i = 0; dropped != NULL && i < TACIT_BITS_WORDS(parts->sites); i++)
        parts->heard[i] &= ~dropped[i];
    TACIT_BITS_EACH (site, parts->heard, parts->sites)
        able += select_can_pay(parts->select, site) ? 1 : 0;
    if (able < quorum_of(parts))
        return TACIT_OK;
    TACIT_TRY(choose(parts, entropy, &count));
    TACIT_ASSERT(count > 0);
    open_round(parts, count, now_us, update);
    return TACIT_OK;
}

/* Eq. (2), in the order of the sites: theta += sum of alpha_k z_k u, alpha_k public. */
static void average(const struct hub_parts *parts)
{
    TACIT_ASSERT(parts->head->desk.covered_count > 0);
    uint32_t const count = parts->head->asked_count;
    uint32_t const dimension = parts->config->dimension;
    struct tacit_select_view view;
    double const unit = parts->config->clip / (double)TACIT_VECTOR_STEPS;
    double total = 0;
    tacit_select_view(parts->select, &view);
    for (uint32_t i = 0; i < count; i++)
        if (parts->slots[i].state == SLOT_COMPLETE)
            total += (double)view.sizes[parts->users[i]];
    TACIT_ASSERT(total > 0);
    for (uint32_t i = 0; i < count; i++) {
        int64_t const *const steps = parts->steps + (size_t)i * dimension;
        double const weight = (double)view.sizes[parts->users[i]] / total;
        if (parts->slots[i].state != SLOT_COMPLETE)
            continue;
        for (uint32_t k = 0; k < dimension; k++)
            parts->theta[k] += weight * ((double)steps[k] * unit);
    }
    present(parts);
}

/* HELPER 4, model updates: all weigh the same. */
static void add_totals(const struct hub_parts *parts, uint32_t sites, const int64_t *totals)
{
    double const unit = parts->config->clip / (double)TACIT_VECTOR_STEPS / sites;
    TACIT_ASSERT(sites > 0);
    for (uint32_t k = 0; k < parts->config->dimension; k++)
        parts->theta[k] += (double)totals[k] * unit;
    present(parts);
}

/* Two aggregators: no update of the round that stands is added up any more. */
static void drop_updates(const struct hub_parts *parts)
{
    size_t const slots = parts->head->slot_count;
    if (parts->head->desk.phase == ROUND_COLLECTING)
        round_hub_close(&parts->round);
    parts->head->awaits_totals = 0;
    memset(parts->steps, 0, slots * parts->config->dimension * sizeof *parts->steps);
    memset(parts->openings, 0, slots * sizeof *parts->openings);
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
    for (uint32_t i = 0; i < head->asked_count; i++)
        if (parts->slots[i].state != SLOT_COMPLETE)
            tacit_bits_remove(parts->heard, parts->users[i]);
    enum tacit_status const observed = tacit_select_observe_reported(
        parts->select, parts->users, head->asked_count, parts->latencies,
        (double)parts->config->round_timeout_us * 1e-6, NULL);
    TACIT_ASSERT(observed == TACIT_OK);
    round_hub_close(&parts->round);
    update->persist = true;
    if (are_two(parts) && head->desk.covered_count >= quorum_of(parts)) {
        head->awaits_totals = 1;
        update->happened |= TACIT_WANTS_TOTALS;
        return TACIT_OK;
    }
    if (are_two(parts))
        drop_updates(parts);
    else if (head->desk.covered_count > 0)
        average(parts);
    update->round_is_over = true;
    return begin(parts, now_us, entropy, update);
}

/* ---- Hearing ---- */

static void note_spent(const struct hub_parts *parts, uint32_t site, uint64_t spent_nano)
{
    TACIT_ASSERT(site < parts->sites);
    if (spent_nano <= parts->spent[site])
        return;
    parts->spent[site] = spent_nano;
    tacit_select_report(parts->select, site, spent_nano);
}

/* The slot of a site that was asked; slot_count: it was not. */
static uint32_t slot_of(const struct hub_parts *parts, uint32_t site)
{
    for (uint32_t i = 0; i < parts->head->asked_count; i++)
        if (parts->users[i] == site)
            return i;
    return parts->head->slot_count;
}

/* What a slot holds of its update. */
static struct select_pieces update_of(const struct hub_parts *parts, size_t slot)
{
    TACIT_ASSERT(slot < parts->head->asked_count);
    uint32_t const dimension = parts->config->dimension;
    size_t const digest_bytes = (size_t)parts->pieces * TACIT_SHA256_BYTES;
    return (struct select_pieces){.vector = TACIT_SELECT_STEPS,
                                  .dimension = dimension,
                                  .numbers = parts->steps + slot * dimension,
                                  .digests = parts->digests + slot * digest_bytes,
                                  .have = parts->have + slot * TACIT_BITS_WORDS(parts->pieces),
                                  .first = &parts->slots[slot].first,
                                  .mask = &parts->slots[slot].mask};
}

static bool needs_no_update(const struct hub_parts *parts, uint32_t site, uint32_t round)
{
    TACIT_ASSERT(site < parts->sites);
    struct hub_head const *const head = parts->head;
    return head->desk.phase != ROUND_COLLECTING || round != head->round ||
           !tacit_bits_has(parts->set, site) || tacit_bits_has(parts->round.received, site);
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
    TACIT_TRY(round_hub_check_commit(&parts->round, &commit->head));
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
    TACIT_ASSERT(message->from < parts->sites);
    struct hub_head const *const head = parts->head;
    uint8_t release[TACIT_SHA256_BYTES];
    if (message->digest_count != parts->pieces || (message->masked != NULL) != are_two(parts))
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
    uint32_t const slot = slot_of(parts, message->from);
    struct select_pieces const held = update_of(parts, slot);
    if (parts->slots[slot].state == SLOT_ASKED) {
        parts->slots[slot].state = SLOT_OPENED;
        memcpy(held.digests, message->digests, (size_t)parts->pieces * TACIT_SHA256_BYTES);
        if (are_two(parts))
            parts->openings[slot] = (struct opening){*message->commit, *message->masked};
    }
    select_ask(&held, message->from, head->round, update);
    return TACIT_OK;
}

/* Two aggregators: are these the masked words that the commitment is to? */
static bool are_committed(const struct hub_parts *parts, uint32_t slot)
{
    struct tacit_helper_release const *const masked = &parts->openings[slot].masked;
    struct tacit_helper_release found = *masked;
    tacit_helper_blind_digest(&found, update_of(parts, slot).numbers, parts->config->dimension);
    return memcmp(found.digest, masked->digest, sizeof found.digest) == 0;
}

/* Two aggregators: the update, for the driver, as if it had come in one message. */
static void fill_report(const struct hub_parts *parts, uint32_t slot,
                        const struct tacit_round_message *head, struct tacit_select_update *update)
{
    struct opening const *const opening = &parts->openings[slot];
    TACIT_ASSERT(update->masked == NULL);
    update->happened |= TACIT_COUNTED_REPORT;
    update->report = *head;
    update->report.commit = &opening->commit;
    update->masked = &opening->masked;
    update->words = update_of(parts, slot).numbers;
}

/* All pieces of one update are there: it is counted, durably, before the site hears of it. */
static enum tacit_status complete(struct hub_parts *parts, uint32_t slot, uint64_t now_us,
                                  const struct tacit_round_message *piece,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_select_update *update)
{
    TACIT_ASSERT(parts->slots[slot].state == SLOT_OPENED);
    struct hub_head const *const head = parts->head;
    uint64_t const spent_us = now_us - head->started_us;
    enum tacit_status status = TACIT_OK;
    parts->slots[slot].state = SLOT_COMPLETE;
    parts->latencies[slot] = (double)(spent_us > 0 ? spent_us : 1) * 1e-6;
    round_hub_add_report(&parts->round, piece, 1);
    if (are_two(parts))
        fill_report(parts, slot, piece, update);
    update->persist = true;
    if (head->desk.missing_count == 0)
        status = end_round(parts, now_us, entropy, update);
    send_order(parts, piece->from, update);
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
    for (uint32_t i = 0; i < parts->config->dimension; i++)
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
    uint32_t const slot = slot_of(parts, piece->from);
    if (piece->vector == TACIT_SELECT_MODEL)
        return on_model_piece(parts, piece, event->now_us, update);
    if (head->desk.phase != ROUND_COLLECTING || piece->round != head->round ||
        slot == head->slot_count || parts->slots[slot].state != SLOT_OPENED)
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
    TACIT_TRY(round_hub_check(&parts->round, &message->head));
    TACIT_TRY(on_message(parts, event, entropy, update));
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
    empty_set(parts, parts->heard);
}

/* The clock may have begun anew with the machine. */
static void start(struct hub_parts *parts, const struct tacit_event *event,
                  struct tacit_select_update *update)
{
    struct hub_head *const head = parts->head;
    if (event->as.term > head->desk.term) {
        begin_term(parts, event->as.term, event->now_us, update);
        parts->round.grantor.accepts_first = true;
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
        round_desk_end_step(&head->desk, now_us, parts->config->round_timeout_us, is_new, is_start);
    update->deadline_us = head->lacks_model == 0 ? head->desk.deadline_us : TACIT_NEVER;
    select_stamp(update, TACIT_HUB, parts->config->run_id, head->desk.term);
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

/* Whoever is asked has a slot, and nothing of theirs is here; nor is the model, unless it is the
 * one that init was given. False: more are asked than may be. */
static bool rebuild(const struct hub_parts *parts)
{
    struct hub_head *const head = parts->head;
    uint8_t given[TACIT_SHA256_BYTES];
    memcpy(given, head->model, sizeof given);
    select_name_of(&parts->model, head->model);
    if (memcmp(given, head->model, sizeof given) != 0) {
        head->lacks_model = 1;
        memset(parts->model.numbers, 0, parts->config->dimension * sizeof(float));
        memset(parts->theta, 0, parts->config->dimension * sizeof *parts->theta);
    }
    if (!tacit_bits_within(parts->set, parts->set, parts->sites) ||
        tacit_bits_next(parts->nobody, parts->sites, 0) < parts->sites ||
        tacit_bits_count(parts->set, parts->sites) > head->slot_count)
        return false;
    TACIT_BITS_EACH (site, parts->set, parts->sites)
        parts->users[head->asked_count++] = site;
    empty_slots(parts);
    head->desk.missing_count = head->asked_count;
    return true;
}

static void walk_hub(struct base_walk *walk, void *hub)
{
    struct hub_parts const parts = parts_of(hub);
    struct hub_head *const head = parts.head;
    size_t const words = TACIT_BITS_WORDS(parts.sites);
    base_walk_same(walk, MAGIC);
    base_walk_same(walk, parts.config->run_id);
    base_walk_same(walk, parts.sites);
    base_walk_same(walk, head->slot_count);
    base_walk_same(walk, parts.config->dimension);
    base_walk_same(walk, parts.config->round_count);
    round_desk_walk(walk, &head->desk, 0);
    base_walk_number(walk, &head->round);
    base_walk_number(walk, &head->exhausted);
    base_walk_words(walk, (uint64_t *)parts.select, head->select_size / sizeof(uint64_t));
    base_walk_words(walk, head->desk.phase == ROUND_COLLECTING ? parts.set : parts.nobody, words);
    base_walk_words(walk, parts.heard, words);
    base_walk_words(walk, parts.spent, parts.sites);
    base_walk_words(walk, (uint64_t *)(void *)parts.model.digests,
                    select_count_of(&parts.model) * (TACIT_SHA256_BYTES / sizeof(uint64_t)));
    if (walk->reads && !walk->failed)
        walk->failed = !rebuild(&parts);
}

ROUND_SNAPSHOTS(tacit_select_hub, walk_hub)

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
