/* A site of epoch elimination: the core behind the bytes of the bus. Decodes, steps, encodes; asks
 * around before a peer plays its first plan. */
#include "../../live/effects.h"
#include "../../live/site.h"
#include "core.h"
#include "settings.h"
#include "live.h"
#include "tacit/privacy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWERS_US 1000000u    /* so long a new peer waits for its neighbours' answers */
#define SAYS_WHERE_US 4000000u /* a peer that waits, to the coordinator */
#define TROUBLE_BYTES 512u
#define NOTHING UINT32_MAX /* no arm */

struct live_site {
    const struct live_site_ops *ops;
    struct elim_core *core;
    struct tacit_mechanism mechanism;
    struct live_effects effects;
    struct live_neighbour *neighbours;
    uint64_t *missing;
    uint64_t *nobody;
    uint64_t *itself;      /* W(A): this site alone */
    uint64_t *flagged;     /* W(A): sites that spoke from two states */
    uint64_t *ahead;       /* W(A): sites that show a grant that this state never gave */
    uint64_t *grantors;    /* W(A): sites whose grant is waited for */
    bool is_beyond_policy; /* an order was refused that is of more rounds than policy.rounds_max */
    uint64_t said_where_us;
    bool said_end;  /* since this start */
    char *trouble;  /* TROUBLE_BYTES */
    double *lowers; /* K, as uppers; both in one block */
    double *uppers;
    struct live_control_entry *changes; /* room for all, for showing */
    uint32_t noted_rounds;              /* after so many they were noted */
    bool plan_is_held;     /* a peer that has released nothing yet, and has not asked around */
    uint64_t answers_us;   /* until then */
    uint64_t acknowledged; /* number of the last release that is known to have arrived, since this
                              start */
    const struct tacit_entropy *keys; /* for salts, in this step */
    const struct live_seals *seals;   /* in this step */
};

typedef struct tacit_elim_event elim_event;

/* ---- Beginning and end ----------------------------------------------------------------------- */

static enum tacit_status core_site_of(const struct live_site_config *config,
                                      struct elim_core_site *made)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, config->epsilon,
                                                     config->lo, config->hi};
    *made = (struct elim_core_site){.federation = config->federation,
                                    .budget_nano = tacit_nano_of(config->budget),
                                    .resend_after_us = config->resend_after_us,
                                    .epoch_max = config->rounds_max,
                                    .pulls_max = config->pulls_max};
    return tacit_mechanism_init(&made->mechanism, &mechanism);
}

static void site_free(struct live_site *site)
{
    if (site == NULL)
        return;
    elim_core_free(site->core);
    live_effects_free(&site->effects);
    free(site->neighbours);
    free(site->missing);
    free(site->nobody);
    free(site->itself);
    free(site->flagged);
    free(site->ahead);
    free(site->grantors);
    free(site->trouble);
    free(site->lowers);
    free(site->changes);
    free(site);
}

static void describe_neighbours(struct live_site *site)
{
    struct tacit_wire_elim_network const *const network = elim_core_run(site->core)->network;
    for (uint32_t i = 0; network != NULL && i < network->neighbour_count; i++)
        site->neighbours[i] =
            (struct live_neighbour){network->neighbours[i].agent, network->neighbours[i].site};
}

/* Of a site that judges by exact bounds: once a round, what may be said of the arms. */
static void note_intervals(struct live_site *site)
{
    struct tacit_wire_elim_run const *const run = elim_core_run(site->core);
    double const confidence = elim_confidence_shown(run->confidence);
    uint32_t rounds = 0;
    if (!elim_core_judges_exactly(site->core, &rounds))
        return;
    for (uint32_t arm = 0; arm < run->arm_count; arm++) {
        struct tacit_bounds_interval const interval =
            elim_core_interval(site->core, arm, confidence);
        site->lowers[arm] = interval.lower;
        site->uppers[arm] = interval.upper;
    }
    site->noted_rounds = rounds;
}

static void note_new_intervals(struct live_site *site)
{
    uint32_t rounds = 0;
    if (elim_core_judges_exactly(site->core, &rounds) && rounds != site->noted_rounds)
        note_intervals(site);
}

/* Around a core, which it takes over. */
static enum tacit_status site_new(struct live_site **site, struct elim_core *core,
                                  const struct tacit_mechanism *mechanism)
{
    struct tacit_wire_elim_run const *const run = elim_core_run(core);
    struct live_site *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        elim_core_free(core);
        return TACIT_MEMORY;
    }
    made->ops = &elim_site_ops;
    uint32_t const neighbours = run->network == NULL ? 0 : run->network->neighbour_count;
    size_t const words = TACIT_BITS_WORDS(run->agent_count);
    made->core = core;
    made->mechanism = *mechanism;
    enum tacit_status const status = live_effects_init(&made->effects, run->arm_count);
    made->answers_us = TACIT_NEVER;
    made->neighbours = calloc(neighbours + 1u, sizeof *made->neighbours);
    made->missing = calloc(words, sizeof *made->missing);
    made->nobody = calloc(words, sizeof *made->nobody);
    made->itself = calloc(words, sizeof *made->itself);
    made->flagged = calloc(words, sizeof *made->flagged);
    made->ahead = calloc(words, sizeof *made->ahead);
    made->grantors = calloc(words, sizeof *made->grantors);
    made->trouble = calloc(1, TROUBLE_BYTES);
    made->changes = calloc(TACIT_ELIM_CHANGES_MAX, sizeof *made->changes);
    made->lowers = calloc(2 * (size_t)run->arm_count, sizeof *made->lowers);
    if (status != TACIT_OK || made->neighbours == NULL || made->missing == NULL ||
        made->nobody == NULL || made->itself == NULL || made->flagged == NULL ||
        made->ahead == NULL || made->grantors == NULL || made->trouble == NULL ||
        made->lowers == NULL || made->changes == NULL) {
        site_free(made);
        return TACIT_MEMORY;
    }
    made->uppers = made->lowers + run->arm_count;
    tacit_bits_add(made->itself, run->agent);
    describe_neighbours(made);
    note_intervals(made);
    *site = made;
    return TACIT_OK;
}

/* ---- Joining --------------------------------------------------------------------------------- */

/* The noise that the run reckons with against this site's own. NULL: allowed. */
/* Rounds that the run can have at most: as it says, or as the ladder of exact bounds has rungs of
 * which two arms fit into the horizon. 0: that is not known before. */
static uint32_t rounds_of(const struct tacit_wire_elim_run *run)
{
    struct tacit_elim_schedule const schedule = {.arm_count = run->arm_count,
                                                 .report_count = run->report_count,
                                                 .horizon = run->horizon,
                                                 .epsilon_per_reward =
                                                     (double)run->epsilon_nano / (double)TACIT_NANO,
                                                 .growth = run->growth,
                                                 .confidence = run->confidence};
    uint32_t rounds = 0;
    if (run->round_limit > 0 || run->growth <= 0)
        return run->round_limit;
    while (2 * tacit_elim_pulls(&schedule, rounds + 1, 2, 0) <= run->horizon)
        rounds++;
    return rounds;
}

static const char *objection_to(const struct tacit_wire_elim_run *run, uint64_t epsilon_nano,
                                uint32_t rounds_max)
{
    if (rounds_of(run) > rounds_max)
        return "the run has more rounds than policy.rounds_max";
    if (run->epsilon_nano > epsilon_nano)
        return "the run reckons with a larger epsilon per reward than policy.epsilon";
    /* A peer takes no row for possible that has more noise than its own. */
    if (run->network != NULL && run->epsilon_nano < epsilon_nano)
        return "the run reckons with a smaller epsilon per reward than policy.epsilon; among "
               "neighbours all have the same";
    return NULL;
}

static enum tacit_status decode_run(const uint8_t *announcement, size_t size,
                                    struct tacit_wire_elim_run *run)
{
    struct tacit_wire_announcement *decoded;
    enum tacit_status status = tacit_wire_announcement_decode(announcement, size, &decoded);
    if (status != TACIT_OK)
        return status;
    status = tacit_wire_elim_run_decode(decoded, run);
    free(decoded);
    return status;
}

static enum tacit_status site_join(struct live_site **site, const struct live_site_config *config,
                                   const uint8_t *announcement, size_t size, const char **objection)
{
    struct tacit_wire_elim_run run;
    struct elim_core_site own;
    struct elim_core *core;
    enum tacit_status status = core_site_of(config, &own);
    if (status == TACIT_OK)
        status = decode_run(announcement, size, &run);
    if (status != TACIT_OK)
        return status;
    *objection = objection_to(&run, tacit_mechanism_cost_nano(&own.mechanism), own.epoch_max);
    free((void *)(uintptr_t)run.network);
    if (*objection != NULL)
        return TACIT_REFUSED;
    status = elim_core_new(&core, &own, announcement, size);
    if (status == TACIT_MALFORMED) {
        *objection = "the run does not fit into the messages of this network";
        return TACIT_REFUSED;
    }
    return status == TACIT_OK ? site_new(site, core, &own.mechanism) : status;
}

static enum tacit_status site_restore(struct live_site **site,
                                      const struct live_site_config *config, const void *bytes,
                                      size_t size)
{
    struct elim_core_site own;
    struct elim_core *core;
    struct tacit_elim_agent_view view;
    enum tacit_status status = core_site_of(config, &own);
    if (status == TACIT_OK)
        status = elim_core_restore(&core, &own, bytes, size);
    if (status == TACIT_OK)
        status = site_new(site, core, &own.mechanism);
    if (status != TACIT_OK)
        return status;
    elim_core_look(core, &view);
    (*site)->plan_is_held = elim_core_run(core)->network != NULL && view.release_epoch == 0;
    return TACIT_OK;
}

static const void *site_bytes(const struct live_site *site, size_t *size)
{
    return elim_core_block(site->core, size);
}

static bool site_is_of(const struct live_site *site, const uint8_t *announcement, size_t size)
{
    return elim_core_is_of(site->core, announcement, size);
}

static const struct tacit_wire_agreement *site_agreement(const struct live_site *site)
{
    return elim_core_agreement(site->core);
}

/* ---- Saying ---------------------------------------------------------------------------------- */

static bool is_star(const struct live_site *site)
{
    return elim_core_run(site->core)->network == NULL;
}

static bool judges_for_itself(const struct live_site *site)
{
    struct tacit_wire_elim_network const *const network = elim_core_run(site->core)->network;
    return network != NULL && network->collection == TACIT_ELIM_SPREAD;
}

static size_t encoded_bytes(const struct live_site *site, const struct tacit_elim_message *message)
{
    struct tacit_wire_elim_run const *const run = elim_core_run(site->core);
    return tacit_wire_elim_bytes(message, run->arm_count, run->agent_count);
}

static bool encode(const struct live_site *site, const struct tacit_elim_message *message,
                   uint8_t *bytes)
{
    struct tacit_wire_elim_run const *const run = elim_core_run(site->core);
    return tacit_wire_elim_encode(message, run->arm_count, run->agent_count, bytes) == TACIT_OK;
}

/* Outbox = ledger: the bytes are kept as they go out, and go out as they are kept. */
static void keep_release(struct live_site *site, uint64_t number,
                         const struct tacit_elim_message *report, struct live_site_update *update)
{
    size_t const size = encoded_bytes(site, report);
    TACIT_ASSERT(report->kind == TACIT_ELIM_REPORT);
    struct live_site_release const release = {.number = number,
                                              .epsilon_nano =
                                                  tacit_mechanism_cost_nano(&site->mechanism),
                                              .size = size};
    uint8_t *const bytes = live_effects_release(&site->effects, update, &release);
    if (bytes != NULL && !encode(site, report, bytes))
        live_effects_drop_release(&site->effects, update);
}

static void send(struct live_site *site, const struct tacit_elim_message *message,
                 struct live_site_update *update)
{
    struct tacit_elim_agent_view view;
    elim_core_look(site->core, &view);
    if (message->kind == TACIT_ELIM_REPORT && is_star(site))
        keep_release(site, view.release_number, message, update);
    struct live_message const made = {.to = message->to,
                                      .kind = tacit_wire_elim_kind(message->kind),
                                      .epoch = message->epoch,
                                      .size = encoded_bytes(site, message)};
    uint8_t *const bytes = live_messages_add(&site->effects.out, &made);
    if (bytes != NULL && !encode(site, message, bytes))
        live_messages_drop_last(&site->effects.out);
}

/* The coordinator of peers that judge for themselves is told where they are, for its status. Those
 * who wait say so again, so that who is silent is seen there; those who are through name
 * themselves.
 */
static void say_where(struct live_site *site, struct live_site_update *update)
{
    struct tacit_wire_elim_run const *const run = elim_core_run(site->core);
    struct tacit_elim_agent_view view;
    if (!judges_for_itself(site))
        return;
    elim_core_look(site->core, &view);
    bool const is_over = view.last || view.finished;
    struct tacit_elim_message const hello = {.kind = TACIT_ELIM_HELLO,
                                             .from = run->agent,
                                             .to = TACIT_HUB,
                                             .run_id = run->run_id,
                                             .epoch = view.epoch,
                                             .origins = is_over ? site->itself : NULL};
    site->said_end = site->said_end || is_over;
    send(site, &hello, update);
}

/* When that is due; TACIT_NEVER: it does not wait, or a hub asks it. */
static uint64_t says_where_us(const struct live_site *site)
{
    struct tacit_elim_peer_view peer;
    struct tacit_elim_agent_view const *const view = &peer.agent;
    if (!judges_for_itself(site) || !elim_core_look_at_peer(site->core, &peer))
        return TACIT_NEVER;
    bool const waits = (view->waiting || view->committed) && !view->last && !view->finished;
    bool const is_over = view->last || view->finished;
    return (waits && !peer.is_beyond_policy) || (is_over && !site->said_end)
               ? site->said_where_us + SAYS_WHERE_US
               : TACIT_NEVER;
}

/* The plan waits for the answers to the START that follows. A parent that holds nothing of the
 * present epoch yet would say nothing: it is asked for the epoch before, too. */
static void ask_around(struct live_site *site, uint64_t now_us, struct live_site_update *update)
{
    struct tacit_wire_elim_run const *const run = elim_core_run(site->core);
    TACIT_ASSERT(run->network != NULL);
    bool const has_parent =
        run->network->collection == TACIT_ELIM_GATHER && run->network->parent != run->agent;
    site->plan_is_held = true;
    site->answers_us = now_us + ANSWERS_US;
    struct tacit_elim_message const hello = {.kind = TACIT_ELIM_HELLO,
                                             .from = run->agent,
                                             .to = run->network->parent,
                                             .run_id = run->run_id,
                                             .origins = site->nobody};
    if (has_parent)
        send(site, &hello, update);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* The ledger has the release when it is drawn, in the same write as the commitment: as it will
 * leave once it is granted; among peers in rows, alone or among others'. A report over a star is
 * held against that row when it leaves. Who has no holder has its grant in the same step. */
static void note_draw(struct live_site *site, const struct tacit_elim_agent_view *before,
                      const struct tacit_elim_agent_view *after, struct live_site_update *update)
{
    bool const is_drawn = !before->committed && after->committed;
    bool const is_granted_at_once =
        !before->committed && after->release_number != before->release_number;
    if (!is_drawn && !is_granted_at_once)
        return;
    struct tacit_elim_message const report = elim_core_release(site->core);
    keep_release(site, after->draw_number, &report, update);
}

/* Whoever judges for itself and goes on to the next epoch knows that all had its report. */
static void note_peer_progress(struct live_site *site, const struct tacit_elim_agent_view *before,
                               const struct tacit_elim_agent_view *after,
                               struct live_site_update *update)
{
    if (!judges_for_itself(site) || after->epoch == before->epoch)
        return;
    if (after->release_number > site->acknowledged) {
        site->acknowledged = after->release_number;
        update->acknowledged = after->release_number;
    }
    say_where(site, update);
}

static void set_plan(struct live_site *site, const struct tacit_elim_update *made,
                     struct live_site_update *update)
{
    struct tacit_elim_agent_view view;
    elim_core_look(site->core, &view);
    live_effects_plan(&site->effects, update, made->plan, made->plan_count, view.last);
}

static bool sign_seal(void *context, uint32_t agent, const uint8_t digest[TACIT_SHA256_BYTES],
                      uint8_t seal[TACIT_ELIM_SEAL_BYTES])
{
    struct live_seals const *const seals = ((struct live_site const *)context)->seals;
    (void)agent;
    return seals->sign(seals->context, digest, seal);
}

static bool check_seal(void *context, uint32_t agent, const uint8_t digest[TACIT_SHA256_BYTES],
                       const uint8_t seal[TACIT_ELIM_SEAL_BYTES])
{
    struct live_site const *const site = context;
    char const *const *const names = elim_core_run(site->core)->network->sites;
    return site->seals->check(site->seals->context, names[agent], digest, seal);
}

/* The coordinator hears of a proof when it is new, and whenever it is connected to. */
static void say_proof(struct live_site *site, struct live_site_update *update)
{
    struct tacit_wire_elim_run const *const run = elim_core_run(site->core);
    struct tacit_elim_peer_view view;
    if (!elim_core_look_at_peer(site->core, &view) || view.proof == NULL)
        return;
    struct tacit_elim_message const said = {.kind = TACIT_ELIM_PROOF,
                                            .from = run->agent,
                                            .to = TACIT_HUB,
                                            .run_id = run->run_id,
                                            .epoch = view.proof_epoch,
                                            .proof = view.proof};
    send(site, &said, update);
}

static bool has_proof(const struct live_site *site)
{
    struct tacit_elim_peer_view view;
    return elim_core_look_at_peer(site->core, &view) && view.proof != NULL;
}

/* A first order, in a state that is new: asks at once whether anybody has seen more of this site
 * than that. If so, the state was lost, and nothing may be released from this one (PRIVACY.md D.9).
 * A hub always answers; neighbours only if they have, so a peer waits before it plays. */
static enum tacit_status step_with(struct live_site *site, elim_event event, uint32_t refused_arm,
                                   const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    struct tacit_elim_agent_view before;
    struct tacit_elim_agent_view after;
    struct tacit_elim_update made;
    struct tacit_elim_seals const seals = {site, sign_seal, check_seal};
    bool const had_proof = has_proof(site);
    elim_core_look(site->core, &before);
    event.keys = site->keys;
    event.seals = &seals;
    enum tacit_status const status =
        refused_arm == NOTHING ? elim_core_step(site->core, &event, entropy, &made)
                               : elim_core_refuse(site->core, refused_arm, &event, entropy, &made);
    note_new_intervals(site);
    elim_core_look(site->core, &after);
    /* An epoch that ends without a reward, because what was left of it is not played any more: its
     * open decisions are void. */
    bool const is_cut_short =
        event.kind != TACIT_EVENT_REWARD && made.plan_count == 0 &&
        ((after.committed && !before.committed) || (after.releasing && !before.releasing));
    bool const is_first_order = before.epoch == 0 && after.epoch > 0;
    update->persist = update->persist || made.persist;
    note_draw(site, &before, &after, update);
    note_peer_progress(site, &before, &after, update);
    if (made.send)
        send(site, &made.message, update);
    if (!had_proof)
        say_proof(site, update);
    if (is_first_order && !is_star(site))
        ask_around(site, event.now_us, update);
    update->drops_open = update->drops_open || after.term > before.term;
    if ((made.plan_count > 0 && !site->plan_is_held) || after.term > before.term ||
        (after.halted && !before.halted) || (after.last && !before.last) || is_cut_short)
        set_plan(site, &made, update); /* halted: the plan is void; last: so it is */
    site->effects.deadline_us = made.deadline_us;
    if (is_first_order)
        (void)step_with(site, (elim_event){.now_us = event.now_us, .kind = TACIT_EVENT_START},
                        NOTHING, entropy, update);
    return status;
}

static enum tacit_status step_core(struct live_site *site, elim_event event,
                                   const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    return step_with(site, event, NOTHING, entropy, update);
}

/* A word to this site alone says which report the hub holds last: that row of the outbox is done.
 * It need not be of the present epoch: the one whose report ends a round hears of it with the next
 * order. */
static void note_seen(struct live_site *site, const struct tacit_elim_message *order,
                      struct live_site_update *update)
{
    struct tacit_elim_agent_view view;
    elim_core_look(site->core, &view);
    if (order->kind != TACIT_ELIM_ORDER || order->to == TACIT_EVERYONE || order->seen == 0 ||
        order->seen > view.release_epoch)
        return;
    uint64_t const number = view.release_number - (view.release_epoch - order->seen);
    if (number <= site->acknowledged)
        return;
    site->acknowledged = number;
    update->acknowledged = number;
}

/* Granted, and no report is wanted: that row of the outbox is done, too. */
static void note_closed(struct live_site *site, const struct tacit_elim_message *grant,
                        struct live_site_update *update)
{
    struct tacit_elim_agent_view view;
    elim_core_look(site->core, &view);
    if (grant->kind != TACIT_ELIM_GRANT || (view.is_asked && !grant->closed) ||
        view.release_epoch != grant->epoch || view.release_number <= site->acknowledged)
        return;
    site->acknowledged = view.release_number;
    update->acknowledged = view.release_number;
}

static enum tacit_status receive(struct live_site *site, const struct live_site_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct live_site_update *update)
{
    struct tacit_wire_elim_run const *const run = elim_core_run(site->core);
    struct tacit_elim_message *message;
    enum tacit_status status = tacit_wire_elim_decode(
        event->as.message.bytes, event->as.message.size, run->arm_count, run->agent_count,
        event->as.message.is_broadcast ? TACIT_EVERYONE : run->agent, &message);
    if (status != TACIT_OK)
        return status;
    struct tacit_elim_agent_view view;
    elim_core_look(site->core, &view);
    message->term = view.term; /* as its envelope said */
    status = TACIT_STRANGER;
    if (!tacit_wire_elim_is(message, event->as.message.kind, event->as.message.epoch))
        status = TACIT_MALFORMED;
    else if (message->from == event->as.message.from)
        status = step_core(site,
                           (elim_event){.now_us = event->now_us,
                                        .kind = TACIT_EVENT_RECEIVE,
                                        .as.message = message},
                           entropy, update);
    bool const is_beyond = status == TACIT_REFUSED && message->kind == TACIT_ELIM_ORDER;
    bool const is_heard = status == TACIT_OK || status == TACIT_REFUSED;
    site->is_beyond_policy = site->is_beyond_policy || is_beyond;
    if (is_heard && message->from == TACIT_HUB) {
        note_seen(site, message, update);
        note_closed(site, message, update);
    }
    free(message);
    return status;
}

static enum tacit_status take_reward(struct live_site *site, const struct live_site_event *event,
                                     const struct tacit_entropy *entropy,
                                     struct live_site_update *update)
{
    elim_event made = {.now_us = event->now_us, .kind = TACIT_EVENT_REWARD};
    made.as.reward.arm = event->as.reward.arm;
    made.as.reward.count = 1;
    made.as.reward.sum.steps = tacit_scale_level(&site->mechanism.scale, event->as.reward.value);
    return step_core(site, made, entropy, update);
}

/* After the last order all that is left of T is planned to the last arm, and no sum is added up:
 * what is played then are pulls of that plan. */
static enum tacit_status take_exploited(struct live_site *site, const struct live_site_event *event,
                                        const struct tacit_entropy *entropy,
                                        struct live_site_update *update)
{
    uint64_t const count = event->as.exploited_count;
    struct tacit_elim_agent_view view;
    elim_core_look(site->core, &view);
    elim_event made = {
        .now_us = event->now_us, .kind = TACIT_EVENT_EXPLOITED, .as.exploited_count = count};
    if (view.last && !view.finished) {
        uint64_t const left = view.horizon - view.pull_count;
        made.kind = TACIT_EVENT_REWARD;
        made.as.reward =
            (struct tacit_reward){.arm = view.exploit_arm, .count = count < left ? count : left};
    }
    return step_core(site, made, entropy, update);
}

/* The core counts the terms that it was in: which ones they were is on the envelopes. */
static elim_event start_of(const struct live_site *site, const struct live_site_event *event)
{
    struct tacit_elim_agent_view view;
    elim_core_look(site->core, &view);
    return (elim_event){.now_us = event->now_us,
                        .kind = TACIT_EVENT_START,
                        .as.term = view.term + (event->as.begins_term ? 1 : 0)};
}

/* Says again what may have been lost. After a restart this is the first time that it is connected.
 */
static enum tacit_status say_again(struct live_site *site, const struct live_site_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    if (site->plan_is_held)
        ask_around(site, event->now_us, update);
    enum tacit_status const status = step_core(site, start_of(site, event), entropy, update);
    say_where(site, update);
    say_proof(site, update);
    return status;
}

/* Two deadlines may have come: the core's, and that of the neighbours' answers. If nobody has
 * spoken up, START gives the plan. */
static enum tacit_status time_out(struct live_site *site, uint64_t now_us,
                                  const struct tacit_entropy *entropy,
                                  struct live_site_update *update)
{
    enum tacit_status status = TACIT_OK;
    bool const is_core_due = now_us >= site->effects.deadline_us;
    if (site->plan_is_held && now_us >= site->answers_us) {
        site->plan_is_held = false;
        site->answers_us = TACIT_NEVER;
        status = step_core(site, (elim_event){.now_us = now_us, .kind = TACIT_EVENT_START}, entropy,
                           update);
    }
    if (is_core_due)
        status = step_core(site, (elim_event){.now_us = now_us, .kind = TACIT_EVENT_TIMEOUT},
                           entropy, update);
    if (now_us >= says_where_us(site)) {
        site->said_where_us = now_us;
        say_where(site, update);
    }
    return status;
}

static enum tacit_status dispatch(struct live_site *site, const struct live_site_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct live_site_update *update)
{
    switch (event->kind) {
    case LIVE_SITE_START:
        return step_core(site, start_of(site, event), entropy, update);
    case LIVE_SITE_CONNECTED:
        return say_again(site, event, entropy, update);
    case LIVE_SITE_REWARD:
        return take_reward(site, event, entropy, update);
    case LIVE_SITE_EXPLOITED:
        return take_exploited(site, event, entropy, update);
    case LIVE_SITE_RECEIVE:
        return receive(site, event, entropy, update);
    case LIVE_SITE_TIMEOUT:
        return time_out(site, event->now_us, entropy, update);
    case LIVE_SITE_REFUSE:
        if (!is_star(site)) /* neighbours have agreed on the arms */
            return TACIT_UNEXPECTED;
        return step_with(site, (elim_event){.now_us = event->now_us, .kind = TACIT_EVENT_TIMEOUT},
                         event->as.refused_arm, entropy, update);
    case LIVE_SITE_OFFER: /* it has a plan, .. */
    case LIVE_SITE_TASK:  /* .. and gives no tasks */
        break;
    }
    return TACIT_UNEXPECTED;
}

static enum tacit_status site_step(struct live_site *site, const struct live_site_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    TACIT_ASSERT(event != NULL && entropy != NULL);
    live_effects_begin(&site->effects, update);
    site->keys = event->keys;
    site->seals = event->seals;
    enum tacit_status const status = dispatch(site, event, entropy, update);
    site->keys = NULL;
    site->seals = NULL;
    live_effects_end(&site->effects, update);
    if (site->plan_is_held && site->answers_us < update->deadline_us)
        update->deadline_us = site->answers_us;
    if (says_where_us(site) < update->deadline_us)
        update->deadline_us = says_where_us(site);
    return status;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static void site_place(const struct live_site *site, struct live_site_place *place)
{
    struct tacit_wire_elim_run const *const run = elim_core_run(site->core);
    *place = (struct live_site_place){.run_id = run->run_id,
                                      .agent = run->agent,
                                      .agent_count = run->agent_count,
                                      .horizon = run->horizon, /* as announced */
                                      .has_neighbours = run->network != NULL,
                                      .neighbours = site->neighbours};
    place->neighbour_count = run->network == NULL ? 0 : run->network->neighbour_count;
    place->sites = run->network == NULL ? NULL : run->network->sites;
}

/* A set of neighbours by their rank, as one of sites. Returns how many they are. */
static uint32_t by_site(const struct live_site *site, const uint64_t *ranks, uint64_t *sites)
{
    struct tacit_wire_elim_run const *const run = elim_core_run(site->core);
    memset(sites, 0, TACIT_BITS_WORDS(run->agent_count) * sizeof *sites);
    for (uint32_t rank = 0; rank < run->network->neighbour_count; rank++)
        if (tacit_bits_has(ranks, rank))
            tacit_bits_add(sites, site->neighbours[rank].agent);
    return tacit_bits_count(sites, run->agent_count);
}

/* Whose grant the draw that waits lacks: the first neighbour's, then those of all others; on the
 * way to a sink the parent's. */
static void look_at_grants(const struct live_site *site, const struct tacit_elim_peer_view *peer,
                           struct live_site_view *view)
{
    struct tacit_wire_elim_run const *const run = elim_core_run(site->core);
    struct tacit_wire_elim_network const *const network = run->network;
    bool const is_first = peer->granted != NULL && !tacit_bits_has(peer->granted, 0);
    memset(site->grantors, 0, TACIT_BITS_WORDS(run->agent_count) * sizeof *site->grantors);
    if (!peer->agent.committed || peer->granted == NULL)
        return;
    view->grantors = site->grantors;
    if (!judges_for_itself(site)) {
        if (network->parent != run->agent)
            tacit_bits_add(site->grantors, network->parent);
        return;
    }
    for (uint32_t rank = 0; rank < (is_first ? 1u : network->neighbour_count); rank++)
        if (!tacit_bits_has(peer->granted, rank))
            tacit_bits_add(site->grantors, network->neighbours[rank].agent);
}

/* Sinks and sites of a graph wait for others; those on the way to a sink do not. */
static void look_around(const struct live_site *site, struct live_site_view *view)
{
    struct tacit_elim_peer_view peer;
    if (!elim_core_look_at_peer(site->core, &peer))
        return;
    look_at_grants(site, &peer, view);
    view->is_beyond_policy = view->is_beyond_policy || peer.is_beyond_policy;
    struct tacit_wire_elim_run const *const run = elim_core_run(site->core);
    uint64_t const *const members = run->network->members;
    memset(site->missing, 0, TACIT_BITS_WORDS(run->agent_count) * sizeof *site->missing);
    for (uint32_t agent = 0; agent < run->agent_count && peer.missing_count > 0; agent++)
        if ((members == NULL || tacit_bits_has(members, agent)) &&
            !tacit_bits_has(peer.known, agent))
            tacit_bits_add(site->missing, agent);
    view->missing = site->missing;
    view->missing_count = peer.missing_count;
    view->flagged = site->flagged;
    view->flagged_count = by_site(site, peer.flagged, site->flagged);
    view->ahead = site->ahead;
    view->ahead_count = by_site(site, peer.ahead, site->ahead);
    view->differing = peer.differing;
    view->differing_count =
        peer.differing == NULL ? 0 : tacit_bits_count(peer.differing, run->agent_count);
    view->forker = peer.proof == NULL ? 0 : 1 + peer.proof->agent;
    view->forked_epoch = peer.proof_epoch;
    bool const is_said = peer.confirmed || !judges_for_itself(site) || peer.round_count == 0;
    view->is_unconfirmed = peer.confirmed && peer.confirms && peer.missing_count > 0;
    view->is_waiting = view->is_waiting || (view->is_decided && !is_said);
    view->is_decided = view->is_decided && is_said;
    uint32_t rounds;
    if (!elim_core_judges_exactly(site->core, &rounds))
        return;
    view->confidence = elim_confidence_shown(run->confidence);
    view->lowers = site->lowers;
    view->uppers = site->uppers;
}

/* Who has refused its release. */
static const char *refuser_of(const struct live_site *site)
{
    struct tacit_elim_peer_view peer;
    if (elim_core_look_at_peer(site->core, &peer))
        for (uint32_t i = 0; i < elim_core_run(site->core)->network->neighbour_count; i++)
            if (site->neighbours[i].agent == peer.refused_by)
                return site->neighbours[i].site;
    return TACIT_WIRE_COORDINATOR;
}

static const char *block_of(const struct live_site *site, bool is_forgotten)
{
    char const *const refuser = refuser_of(site);
    if (is_forgotten)
        (void)snprintf(site->trouble, TROUBLE_BYTES,
                       "blocked: %s knows nothing of a grant that this site had of it: its state "
                       "is an old one; nothing is released until it grants again",
                       refuser);
    else
        (void)snprintf(site->trouble, TROUBLE_BYTES,
                       "blocked: %s has granted another release of this site instead; either this "
                       "state is a copy or an old one, and nothing is released from it, or the "
                       "state of %s is old, or it does not say what is true",
                       refuser, refuser);
    return site->trouble;
}

/* Why it is halted or blocked. */
static const char *trouble_of(const struct live_site *site,
                              const struct tacit_elim_agent_view *agent)
{
    struct tacit_ledger ledger = *agent->ledger;
    uint64_t const cost_nano = tacit_mechanism_cost_nano(&site->mechanism);
    if (agent->blocked)
        return block_of(site, agent->forgotten);
    if (!agent->halted)
        return NULL;
    return tacit_ledger_spend(&ledger, agent->draw_number + 1, cost_nano) != TACIT_OK
               ? "halted: the next release would cost more than policy.budget"
               : "halted: others have seen more of this site than this state knows; it is a copy "
                 "or an old one, and nothing is released from it";
}

static bool is_retired(const struct tacit_elim_agent_view *agent, uint32_t arm)
{
    for (uint32_t i = 0; i < agent->change_count; i++)
        if (agent->changes[i].kind == TACIT_ELIM_RETIRE_ARM && agent->changes[i].subject == arm)
            return true;
    return false;
}

/* Of the arms that are in and stay. It plays another one all the same. */
static bool refuses_all(const struct tacit_elim_agent_view *agent, uint32_t arms)
{
    uint32_t count = 0;
    for (uint32_t arm = tacit_bits_next(agent->arms, arms, 0); arm < arms;
         arm = tacit_bits_next(agent->arms, arms, arm + 1)) {
        bool const is_refused = tacit_bits_has(agent->refused, arm);
        if (!is_refused && !is_retired(agent, arm))
            return false;
        count += is_refused;
    }
    return count > 0;
}

static void site_look(const struct live_site *site, struct live_site_view *view)
{
    struct tacit_elim_agent_view agent;
    elim_core_look(site->core, &agent);
    *view = (struct live_site_view){.epoch = agent.epoch,
                                    .is_waiting = agent.waiting || agent.releasing,
                                    .is_decided = agent.last,
                                    .is_finished = agent.finished,
                                    .is_halted = agent.halted,
                                    .active = agent.playable,
                                    .active_count = agent.playable_count,
                                    .pull_count = agent.pull_count,
                                    .round_pulls = agent.pulls,
                                    .radius = elim_core_radius(site->core),
                                    .is_committed = agent.committed,
                                    .is_blocked = agent.blocked,
                                    .trouble = trouble_of(site, &agent),
                                    .forgetful = agent.forgotten ? refuser_of(site) : NULL,
                                    .draw_number =
                                        agent.committed ? agent.draw_number : agent.release_number,
                                    .release_number = agent.release_number,
                                    .spent_nano = tacit_ledger_spent_nano(agent.ledger)};
    view->is_beyond_policy = site->is_beyond_policy && !agent.last;
    view->no_estimates = judges_for_itself(site)
                             ? "a site ranks the arms by its own noised sums; among neighbours "
                               "run.bounds: exact gives each of them an interval"
                             : "a site ranks the arms by its own noised sums; the coordinator has "
                               "the means over all sites, and its status shows them";
    look_around(site, view);
    if (agent.refused == NULL)
        return;
    view->changes = site->changes;
    view->change_count = elim_changes_tell(agent.changes, agent.change_count, site->changes);
    view->refused = agent.refused;
    view->refuses_all = refuses_all(&agent, elim_core_run(site->core)->arm_count);
    view->is_dropped = agent.dropped;
    view->horizon = agent.horizon;
}

static int compare_noised(const void *left, const void *right, void *context)
{
    union tacit_sum const *const noised = context;
    uint32_t const a = *(const uint32_t *)left;
    uint32_t const b = *(const uint32_t *)right;
    if (noised[a].steps != noised[b].steps)
        return noised[a].steps > noised[b].steps ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* All active arms were pulled alike: the largest noised sum has the best mean. */
static uint32_t site_rank(const struct live_site *site, const struct live_site_config *config,
                          uint32_t *arms)
{
    struct tacit_elim_agent_view view = {0};
    uint32_t count = 0;
    if (site != NULL)
        elim_core_look(site->core, &view);
    for (uint32_t arm = 0; arm < config->arm_count; arm++)
        if (view.playable == NULL || tacit_bits_has(view.playable, arm))
            arms[count++] = arm;
    if (view.noised != NULL)
        qsort_r(arms, count, sizeof *arms, compare_noised, (void *)(uintptr_t)view.noised);
    return count;
}

static enum tacit_audience audience_of(const struct tacit_wire_elim_run *run)
{
    if (run == NULL || run->network == NULL)
        return TACIT_AUDIENCE_STAR;
    return run->network->collection == TACIT_ELIM_SPREAD ? TACIT_AUDIENCE_GRAPH
                                                         : TACIT_AUDIENCE_HYBRID;
}

static void site_promise(const struct live_site *site, const struct live_site_config *config,
                         struct tacit_promise *promise)
{
    struct elim_core_site own;
    if (core_site_of(config, &own) != TACIT_OK)
        return;
    promise->mechanism = tacit_promise_mechanism_of(&own.mechanism, TACIT_LEAVING_SUMS);
    promise->trust.audience = audience_of(site == NULL ? NULL : elim_core_run(site->core));
}

const struct live_site_ops elim_site_ops = {.word = TACIT_WIRE_ELIM_WORD,
                                            .family = TACIT_WIRE_ELIM_FAMILY,
                                            .version = TACIT_WIRE_ELIM_VERSION,
                                            .has_terms = true,
                                            .join = site_join,
                                            .restore = site_restore,
                                            .free = site_free,
                                            .old_bytes = site_bytes,
                                            .is_of = site_is_of,
                                            .agreement = site_agreement,
                                            .old_step = site_step,
                                            .place = site_place,
                                            .look = site_look,
                                            .rank = site_rank,
                                            .promise = site_promise};
