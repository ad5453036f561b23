/* A site of play in phases: the core behind the bytes of the bus. Decodes, steps, encodes. */
#include "../../live/site.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../live/effects.h"
#include "core.h"
#include "live.h"
#include "tacit/privacy.h"

struct live_site {
    const struct live_site_ops *ops;
    struct phased_core *core;
    struct tacit_mechanism mechanism;
    struct live_effects effects;
    uint64_t *active;      /* K: of the last order */
    uint64_t acknowledged; /* number of the last release that is known to have arrived, since this
                              start */
    uint32_t round_max;
    bool is_beyond_policy;            /* a plan was refused that is beyond it */
    const struct tacit_entropy *keys; /* for salts, in this step */
};

typedef struct tacit_phased_event phased_event;

/* ---- Beginning and end ----------------------------------------------------------------------- */

static enum tacit_status core_site_of(const struct live_site_config *config,
                                      struct phased_core_site *made)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, config->epsilon,
                                                     config->lo, config->hi};
    *made = (struct phased_core_site){.federation = config->federation,
                                      .budget_nano = tacit_nano_of(config->budget),
                                      .resend_after_us = config->resend_after_us,
                                      .round_max = config->rounds_max};
    return tacit_mechanism_init(&made->mechanism, &mechanism);
}

static void site_free(struct live_site *site)
{
    if (site == NULL)
        return;
    phased_core_free(site->core);
    live_effects_free(&site->effects);
    free(site->active);
    free(site);
}

/* Around a core, which it takes over. */
static enum tacit_status site_new(struct live_site **site, struct phased_core *core,
                                  const struct phased_core_site *own)
{
    uint32_t const arms = phased_core_run(core)->schedule.arm_count;
    struct live_site *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        phased_core_free(core);
        return TACIT_MEMORY;
    }
    made->ops = &phased_site_ops;
    made->core = core;
    made->mechanism = own->mechanism;
    made->round_max = own->round_max;
    enum tacit_status const status = live_effects_init(&made->effects, arms);
    made->active = calloc(TACIT_BITS_WORDS(arms), sizeof *made->active);
    if (status != TACIT_OK || made->active == NULL) {
        site_free(made);
        return TACIT_MEMORY;
    }
    *site = made;
    return TACIT_OK;
}

static enum tacit_status decode_run(const uint8_t *announcement, size_t size,
                                    struct tacit_wire_phased_run *run)
{
    struct tacit_wire_announcement *decoded;
    enum tacit_status status = tacit_wire_announcement_decode(announcement, size, &decoded);
    if (status != TACIT_OK)
        return status;
    status = tacit_wire_phased_run_decode(decoded, run);
    free(decoded);
    return status;
}

static enum tacit_status site_join(struct live_site **site, const struct live_site_config *config,
                                   const uint8_t *announcement, size_t size, const char **objection)
{
    struct tacit_wire_phased_run run;
    struct phased_core_site own;
    struct phased_core *core;
    enum tacit_status status = core_site_of(config, &own);
    if (status == TACIT_OK)
        status = decode_run(announcement, size, &run);
    if (status != TACIT_OK)
        return status;
    if (run.epsilon_nano > tacit_mechanism_cost_nano(&own.mechanism)) {
        *objection = "the run reckons with a larger epsilon per reward than policy.epsilon";
        return TACIT_REFUSED;
    }
    status = phased_core_new(&core, &own, announcement, size);
    if (status == TACIT_MALFORMED) {
        *objection = "the run does not fit into the messages of this network";
        return TACIT_REFUSED;
    }
    return status == TACIT_OK ? site_new(site, core, &own) : status;
}

static enum tacit_status site_restore(struct live_site **site,
                                      const struct live_site_config *config, const void *bytes,
                                      size_t size)
{
    struct phased_core_site own;
    struct phased_core *core;
    enum tacit_status status = core_site_of(config, &own);
    if (status == TACIT_OK)
        status = phased_core_restore(&core, &own, bytes, size);
    return status == TACIT_OK ? site_new(site, core, &own) : status;
}

static const void *site_bytes(const struct live_site *site, size_t *size)
{
    return phased_core_block(site->core, size);
}

static bool site_is_of(const struct live_site *site, const uint8_t *announcement, size_t size)
{
    return phased_core_is_of(site->core, announcement, size);
}

static const struct tacit_wire_agreement *site_agreement(const struct live_site *site)
{
    return phased_core_agreement(site->core);
}

/* ---- Saying ---------------------------------------------------------------------------------- */

static struct tacit_phased_agent_view agent_view(const struct live_site *site)
{
    struct tacit_phased_agent_view view;
    tacit_phased_agent_look(phased_core_agent(site->core), &view);
    return view;
}

/* Outbox = ledger: the bytes are kept as they go out, and go out as they are kept. */
static void keep_release(struct live_site *site, uint64_t number,
                         const struct tacit_phased_message *report, struct live_site_update *update)
{
    size_t const size = tacit_wire_phased_bytes(report);
    TACIT_ASSERT(report->kind == TACIT_PHASED_REPORT);
    struct live_site_release const release = {.number = number,
                                              .epsilon_nano =
                                                  tacit_mechanism_cost_nano(&site->mechanism),
                                              .size = size};
    uint8_t *const bytes = live_effects_release(&site->effects, update, &release);
    if (bytes != NULL && tacit_wire_phased_encode(report, bytes) != TACIT_OK)
        live_effects_drop_release(&site->effects, update);
}

static void send(struct live_site *site, const struct tacit_phased_message *message,
                 struct live_site_update *update)
{
    if (message->kind == TACIT_PHASED_REPORT)
        keep_release(site, agent_view(site).release_number, message, update);
    struct live_message const made = {.to = message->to,
                                      .kind = tacit_wire_phased_kind(message->kind),
                                      .epoch = message->round,
                                      .size = tacit_wire_phased_bytes(message)};
    uint8_t *const bytes = live_messages_add(&site->effects.out, &made);
    if (bytes != NULL && tacit_wire_phased_encode(message, bytes) != TACIT_OK)
        live_messages_drop_last(&site->effects.out);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* The release of this round, if it is of this term, and all before it. */
static void acknowledge(struct live_site *site, uint32_t round, struct live_site_update *update)
{
    struct tacit_phased_agent_view const view = agent_view(site);
    if (round == 0 || round > view.release_round)
        return;
    uint64_t const number = view.release_number - (view.release_round - round);
    if (number <= site->acknowledged)
        return;
    site->acknowledged = number;
    update->acknowledged = number;
}

/* After the last order all that is left of T is planned to the leader, and no sum is added up: what
 * is played then are pulls of that plan.
 *
 * The ledger has the release when it is drawn, in the same write as the commitment: as it will
 * leave once it is granted. When it leaves it is held against that row. With a first order, in a
 * state that is new, the hub is asked at once whether it has seen more of this site than that: then
 * the state was lost, and nothing may be released from this one. */
static enum tacit_status step_core(struct live_site *site, phased_event event,
                                   const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    struct tacit_phased_agent *const agent = phased_core_agent(site->core);
    struct tacit_phased_agent_view const before = agent_view(site);
    struct tacit_phased_update made;
    event.keys = site->keys;
    enum tacit_status const status = tacit_phased_agent_step(agent, &event, entropy, &made);
    struct tacit_phased_agent_view const after = agent_view(site);
    update->persist = update->persist || made.persist;
    if (after.committed && !before.committed) {
        struct tacit_phased_message const report = tacit_phased_agent_draw(agent);
        keep_release(site, after.draw_number, &report, update);
    }
    if (made.send)
        send(site, &made.message, update);
    update->drops_open = update->drops_open || after.term > before.term;
    if (made.plan_count > 0 || made.plan_is_void || after.term > before.term ||
        (after.last && !before.last))
        live_effects_plan(&site->effects, update, made.plan, made.plan_count, after.last);
    site->effects.deadline_us = made.deadline_us;
    if (before.round == 0 && after.round > 0)
        (void)step_core(site, (phased_event){.now_us = event.now_us, .kind = TACIT_EVENT_START},
                        entropy, update);
    return status;
}

/* A word to this site alone says which report the hub holds last, or that none is wanted: that row
 * of the outbox is done. */
static void note_answer(struct live_site *site, const struct tacit_phased_message *message,
                        struct live_site_update *update)
{
    bool const is_settled = message->kind == TACIT_PHASED_GRANT && message->closed &&
                            agent_view(site).release_round == message->round;
    if (message->kind == TACIT_PHASED_ORDER && message->to != TACIT_EVERYONE)
        acknowledge(site, message->seen, update);
    if (is_settled)
        acknowledge(site, message->round, update);
}

static enum tacit_status receive(struct live_site *site, const struct live_site_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct live_site_update *update)
{
    struct tacit_wire_phased_run const *const run = phased_core_run(site->core);
    struct tacit_phased_message *message;
    enum tacit_status status = tacit_wire_phased_decode(
        event->as.message.bytes, event->as.message.size, run->schedule.arm_count,
        run->schedule.agent_count, event->as.message.is_broadcast ? TACIT_EVERYONE : run->agent,
        &message);
    if (status != TACIT_OK)
        return status;
    phased_event const made = {
        .now_us = event->now_us, .kind = TACIT_EVENT_RECEIVE, .as.message = message};
    message->term = agent_view(site).term; /* as its envelope said */
    if (!tacit_wire_phased_is(message, event->as.message.kind, event->as.message.epoch))
        status = TACIT_MALFORMED;
    else if (message->from != event->as.message.from)
        status = TACIT_STRANGER;
    else
        status = step_core(site, made, entropy, update);
    if (status == TACIT_REFUSED && message->kind == TACIT_PHASED_ORDER)
        site->is_beyond_policy = message->round > site->round_max;
    if (status == TACIT_OK || status == TACIT_REFUSED) /* refused: more rounds than allowed */
        note_answer(site, message, update);
    free(message);
    return status;
}

static enum tacit_status take_reward(struct live_site *site, const struct live_site_event *event,
                                     const struct tacit_entropy *entropy,
                                     struct live_site_update *update)
{
    phased_event made = {.now_us = event->now_us, .kind = TACIT_EVENT_REWARD};
    made.as.reward.arm = event->as.reward.arm;
    made.as.reward.count = 1;
    made.as.reward.sum.steps = tacit_scale_level(&site->mechanism.scale, event->as.reward.value);
    return step_core(site, made, entropy, update);
}

static enum tacit_status take_exploited(struct live_site *site, const struct live_site_event *event,
                                        const struct tacit_entropy *entropy,
                                        struct live_site_update *update)
{
    uint64_t const count = event->as.exploited_count;
    uint64_t const horizon = phased_core_run(site->core)->schedule.horizon;
    struct tacit_phased_agent_view const view = agent_view(site);
    phased_event made = {
        .now_us = event->now_us, .kind = TACIT_EVENT_EXPLOITED, .as.exploited_count = count};
    if (view.last && !view.finished && view.leader != TACIT_NO_ARM) {
        uint64_t const left = horizon - view.pull_count;
        made.kind = TACIT_EVENT_REWARD;
        made.as.reward =
            (struct tacit_reward){.arm = view.leader, .count = count < left ? count : left};
    }
    return step_core(site, made, entropy, update);
}

/* The core counts the terms that it was in: which ones they were is on the envelopes. */
static phased_event start_of(const struct live_site *site, const struct live_site_event *event)
{
    return (phased_event){.now_us = event->now_us,
                          .kind = TACIT_EVENT_START,
                          .as.term = agent_view(site).term + (event->as.begins_term ? 1 : 0)};
}

static enum tacit_status dispatch(struct live_site *site, const struct live_site_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct live_site_update *update)
{
    switch (event->kind) {
    case LIVE_SITE_START:
    case LIVE_SITE_CONNECTED: /* says again what may have been lost */
        return step_core(site, start_of(site, event), entropy, update);
    case LIVE_SITE_REWARD:
        return take_reward(site, event, entropy, update);
    case LIVE_SITE_EXPLOITED:
        return take_exploited(site, event, entropy, update);
    case LIVE_SITE_RECEIVE:
        return receive(site, event, entropy, update);
    case LIVE_SITE_TIMEOUT:
        return step_core(site, (phased_event){.now_us = event->now_us, .kind = TACIT_EVENT_TIMEOUT},
                         entropy, update);
    case LIVE_SITE_REFUSE: /* it cannot be told that here */
    case LIVE_SITE_TASK:
    case LIVE_SITE_OFFER:
        break; /* it has a plan */
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
    enum tacit_status const status = dispatch(site, event, entropy, update);
    site->keys = NULL;
    live_effects_end(&site->effects, update);
    return status;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static void site_place(const struct live_site *site, struct live_site_place *place)
{
    struct tacit_wire_phased_run const *const run = phased_core_run(site->core);
    *place = (struct live_site_place){.run_id = run->run_id,
                                      .agent = run->agent,
                                      .agent_count = run->schedule.agent_count,
                                      .horizon = run->schedule.horizon};
}

/* Why it is halted or blocked. */
static const char *trouble_of(const struct live_site *site,
                              const struct tacit_phased_agent_view *agent)
{
    struct tacit_ledger ledger = *agent->ledger;
    uint64_t const cost_nano = tacit_mechanism_cost_nano(&site->mechanism);
    if (agent->forgotten)
        return LIVE_SITE_FORGOTTEN;
    if (agent->blocked)
        return "blocked: the coordinator has granted another release of this site instead; either "
               "this state is a copy or an old one, and nothing is released from it, or the state "
               "of the coordinator is old, or it does not say what is true";
    if (!agent->halted)
        return NULL;
    return tacit_ledger_spend(&ledger, agent->draw_number + 1, cost_nano) != TACIT_OK
               ? "halted: the next release would cost more than policy.budget"
               : "halted: others have seen more of this site than this state knows; it is a copy "
                 "or an old one, and nothing is released from it";
}

/* The index drops none before its last order. */
static uint32_t find_active(const struct live_site *site,
                            const struct tacit_phased_agent_view *agent)
{
    uint32_t const arms = phased_core_run(site->core)->schedule.arm_count;
    memset(site->active, 0, TACIT_BITS_WORDS(arms) * sizeof *site->active);
    if (agent->last && agent->leader != TACIT_NO_ARM)
        tacit_bits_add(site->active, agent->leader);
    else
        tacit_bits_fill(site->active, arms);
    return tacit_bits_count(site->active, arms);
}

static void site_look(const struct live_site *site, struct live_site_view *view)
{
    struct tacit_phased_agent_view const agent = agent_view(site);
    uint32_t const active_count = find_active(site, &agent);
    *view = (struct live_site_view){.epoch = agent.round,
                                    .is_waiting = agent.waiting || agent.releasing,
                                    .is_decided = agent.last,
                                    .is_finished = agent.finished,
                                    .is_halted = agent.halted,
                                    .active = site->active,
                                    .active_count = active_count,
                                    .pull_count = agent.pull_count,
                                    .is_committed = agent.committed,
                                    .is_blocked = agent.blocked,
                                    .forgetful = agent.forgotten ? TACIT_WIRE_COORDINATOR : NULL,
                                    .no_estimates =
                                        "the coordinator has the means over all sites, with "
                                        "intervals, and its status shows them",
                                    .is_beyond_policy = site->is_beyond_policy && !agent.last,
                                    .trouble = trouble_of(site, &agent),
                                    .draw_number = agent.draw_number,
                                    .release_number = agent.release_number,
                                    .spent_nano = tacit_ledger_spent_nano(agent.ledger)};
}

/* The arm to play while it waits; all others after it, in their order. */
static uint32_t site_rank(const struct live_site *site, const struct live_site_config *config,
                          uint32_t *arms)
{
    uint32_t count = 0;
    uint32_t first = 0;
    bool is_over = false;
    if (site != NULL) {
        struct tacit_phased_agent_view const view = agent_view(site);
        first = view.exploit_arm;
        is_over = view.last && view.leader != TACIT_NO_ARM;
    }
    arms[count++] = first;
    for (uint32_t arm = 0; arm < config->arm_count && !is_over; arm++)
        if (arm != first)
            arms[count++] = arm;
    return count;
}

static void site_promise(const struct live_site *site, const struct live_site_config *config,
                         struct tacit_promise *promise)
{
    struct phased_core_site own;
    (void)site;
    if (core_site_of(config, &own) == TACIT_OK)
        promise->mechanism = tacit_promise_mechanism_of(&own.mechanism, TACIT_LEAVING_SUMS);
}

const struct live_site_ops phased_site_ops = {.word = TACIT_WIRE_PHASED_WORD,
                                              .family = TACIT_WIRE_PHASED_FAMILY,
                                              .version = TACIT_WIRE_PHASED_VERSION,
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
