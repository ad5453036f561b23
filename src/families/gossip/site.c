/* A site of gossip UCB: the core behind the bytes of the bus. Decodes, steps, encodes; keeps each
 * noised sum that is drawn; tells the coordinator, who only watches, where it is. */
#include "../../live/effects.h"
#include "../../live/site.h"
#include "core.h"
#include "live.h"
#include "settings.h"
#include <stdlib.h>

struct live_site {
    const struct live_site_ops *ops;
    struct gossip_core *core;
    struct live_effects effects;
    struct live_neighbour *neighbours;
    double *estimates; /* K */
};

typedef struct tacit_gossip_event gossip_event;

/* ---- Beginning and end ----------------------------------------------------------------------- */

static struct tacit_mechanism_config mechanism_of(const struct live_site_config *config)
{
    return (struct tacit_mechanism_config){TACIT_PRIVACY_SOUND, config->epsilon, config->lo,
                                           config->hi};
}

static void site_free(struct live_site *site)
{
    if (site == NULL)
        return;
    gossip_core_free(site->core);
    live_effects_free(&site->effects);
    free(site->neighbours);
    free(site->estimates);
    free(site);
}

/* Around a core, which it takes over. */
static enum tacit_status site_new(struct live_site **site, struct gossip_core *core)
{
    struct tacit_wire_gossip_run const *const run = gossip_core_run(core);
    struct live_site *const made = calloc(1, sizeof *made);
    if (made == NULL) {
        gossip_core_free(core);
        return TACIT_MEMORY;
    }
    made->ops = &gossip_site_ops;
    made->core = core;
    enum tacit_status const status = live_effects_init(&made->effects, run->arm_count);
    made->neighbours = calloc(run->neighbour_count, sizeof *made->neighbours);
    made->estimates = calloc(run->arm_count, sizeof *made->estimates);
    if (status != TACIT_OK || made->neighbours == NULL || made->estimates == NULL) {
        site_free(made);
        return TACIT_MEMORY;
    }
    for (uint32_t i = 0; i < run->neighbour_count; i++)
        made->neighbours[i] =
            (struct live_neighbour){run->neighbours[i].agent, run->neighbours[i].site};
    *site = made;
    return TACIT_OK;
}

/* NULL: allowed. All add noise of the same kind: the radius (12) counts on it. */
static const char *objection_to(const struct gossip_core *core,
                                const struct live_site_config *config)
{
    struct tacit_mechanism_config const mechanism = mechanism_of(config);
    struct tacit_wire_gossip_run const *const run = gossip_core_run(core);
    if (run->epsilon_nano != gossip_epsilon_nano(&mechanism))
        return "the run reckons with another epsilon per reward than policy.epsilon; among "
               "neighbours all have the same";
    if (run->horizon + run->arm_count > config->pulls_max)
        return "the run wants more pulls than policy.pulls_max: its horizon, and a first pull of "
               "each arm";
    if (!gossip_core_fits(run->arm_count))
        return "the run does not fit into the messages of this network";
    return NULL;
}

static enum tacit_status site_join(struct live_site **site, const struct live_site_config *config,
                                   const uint8_t *announcement, size_t size, const char **objection)
{
    struct tacit_mechanism_config const mechanism = mechanism_of(config);
    struct gossip_core *core;
    enum tacit_status const status = gossip_core_new(&core, &mechanism, announcement, size);
    if (status != TACIT_OK)
        return status;
    *objection = objection_to(core, config);
    if (*objection == NULL)
        return site_new(site, core);
    gossip_core_free(core);
    return TACIT_REFUSED;
}

static enum tacit_status site_restore(struct live_site **site,
                                      const struct live_site_config *config, const void *bytes,
                                      size_t size)
{
    struct tacit_mechanism_config const mechanism = mechanism_of(config);
    struct gossip_core *core;
    enum tacit_status const status = gossip_core_restore(&core, &mechanism, bytes, size);
    return status == TACIT_OK ? site_new(site, core) : status;
}

static const void *site_bytes(const struct live_site *site, size_t *size)
{
    return gossip_core_block(site->core, size);
}

static bool site_is_of(const struct live_site *site, const uint8_t *announcement, size_t size)
{
    return gossip_core_is_of(site->core, announcement, size);
}

static const struct tacit_wire_agreement *site_agreement(const struct live_site *site)
{
    return gossip_core_agreement(site->core);
}

/* ---- Saying ---------------------------------------------------------------------------------- */

static struct tacit_gossip_agent_view view_of(const struct live_site *site)
{
    struct tacit_gossip_agent_view view;
    tacit_gossip_agent_look(gossip_core_agent(site->core), &view);
    return view;
}

static void send(struct live_site *site, const struct tacit_gossip_message *message)
{
    uint32_t const arms = gossip_core_run(site->core)->arm_count;
    struct live_message const made = {.to = message->to,
                                      .kind = tacit_wire_gossip_kind(message->kind),
                                      .size = tacit_wire_gossip_bytes(message, arms)};
    uint8_t *const bytes = live_messages_add(&site->effects.out, &made);
    if (bytes != NULL)
        tacit_wire_gossip_encode(message, arms, bytes);
}

/* The coordinator is told how many pulls were given, and the estimates: what neighbours hear. */
static void tell_hub(struct live_site *site)
{
    struct tacit_wire_gossip_run const *const run = gossip_core_run(site->core);
    struct tacit_gossip_agent_view const view = view_of(site);
    struct tacit_wire_gossip_told const told = {run->agent, run->run_id, view.pull_count,
                                                view.finished, view.theta};
    struct live_message const made = {.to = TACIT_HUB,
                                      .kind = TACIT_WIRE_GOSSIP_KIND_TOLD,
                                      .size = tacit_wire_gossip_told_bytes(run->arm_count)};
    if (view.pull_count < run->arm_count || view.halted)
        return; /* it has no estimates yet, or not its own any more */
    uint8_t *const bytes = live_messages_add(&site->effects.out, &made);
    if (bytes != NULL)
        tacit_wire_gossip_told_encode(&told, run->arm_count, bytes);
}

/* Outbox = ledger: what was drawn with this reward is one row, in the write that keeps the state.
 */
static void keep_draw(struct live_site *site, uint32_t arm, struct live_site_update *update)
{
    struct tacit_gossip_rule const *const rule = gossip_core_rule(site->core);
    struct tacit_gossip_agent_view const view = view_of(site);
    struct tacit_wire_gossip_release const release = {
        .arm = arm,
        .pull_count = view.counts[arm] - (view.arm == arm ? 1 : 0), /* the next one is planned */
        .steps = tacit_gossip_agent_sum(gossip_core_agent(site->core), arm).steps};
    struct live_site_release const drawn = {.number = gossip_core_draw_count(site->core),
                                            .epsilon_nano =
                                                tacit_mechanism_cost_nano(&rule->tree.node),
                                            .size = TACIT_WIRE_GOSSIP_RELEASE_BYTES};
    uint8_t *const bytes = live_effects_release(&site->effects, update, &drawn);
    if (bytes != NULL)
        tacit_wire_gossip_release_encode(&release, bytes);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static enum tacit_status step_core(struct live_site *site, const gossip_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    struct tacit_gossip_agent_view const before = view_of(site);
    uint64_t const draws = gossip_core_draw_count(site->core);
    struct tacit_gossip_update made;
    enum tacit_status const status = gossip_core_step(site->core, event, entropy, &made);
    struct tacit_gossip_agent_view const after = view_of(site);
    update->persist = update->persist || made.persist;
    if (gossip_core_draw_count(site->core) > draws)
        keep_draw(site, event->as.reward.arm, update);
    if (made.send)
        send(site, &made.message);
    bool const has_ended = (after.finished && !before.finished) || (after.halted && !before.halted);
    if (made.plan_count > 0 || has_ended) /* at an end: none is left */
        live_effects_plan(&site->effects, update, made.plan, made.plan_count, false);
    site->effects.deadline_us = made.deadline_us;
    return status;
}

static enum tacit_status receive(struct live_site *site, const struct live_site_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct live_site_update *update)
{
    struct tacit_wire_gossip_run const *const run = gossip_core_run(site->core);
    struct tacit_gossip_message *message;
    if (event->as.message.is_broadcast || event->as.message.from == TACIT_HUB)
        return TACIT_UNEXPECTED; /* the coordinator has nothing to say beside the announcement */
    enum tacit_status status =
        tacit_wire_gossip_decode(event->as.message.bytes, event->as.message.size, run->arm_count,
                                 run->agent_count, run->agent, &message);
    if (status != TACIT_OK)
        return status;
    gossip_event const made = {
        .now_us = event->now_us, .kind = TACIT_EVENT_RECEIVE, .as.message = message};
    if (event->as.message.kind != tacit_wire_gossip_kind(message->kind) ||
        event->as.message.epoch != 0)
        status = TACIT_MALFORMED;
    else if (message->from != event->as.message.from)
        status = TACIT_STRANGER;
    else
        status = step_core(site, &made, entropy, update);
    free(message);
    return status;
}

static enum tacit_status take_reward(struct live_site *site, const struct live_site_event *event,
                                     const struct tacit_entropy *entropy,
                                     struct live_site_update *update)
{
    struct tacit_scale const *const scale = &gossip_core_rule(site->core)->tree.node.scale;
    gossip_event made = {.now_us = event->now_us, .kind = TACIT_EVENT_REWARD};
    made.as.reward.arm = event->as.reward.arm;
    made.as.reward.count = 1;
    made.as.reward.sum.steps = tacit_scale_level(scale, event->as.reward.value);
    enum tacit_status const status = step_core(site, &made, entropy, update);
    if (status == TACIT_OK && view_of(site).finished)
        tell_hub(site);
    return status;
}

/* The coordinator is told whenever this site's own clock meets a neighbour. */
static enum tacit_status time_out(struct live_site *site, const struct live_site_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct live_site_update *update)
{
    gossip_event const made = {.now_us = event->now_us, .kind = TACIT_EVENT_TIMEOUT};
    bool const is_due = event->now_us >= site->effects.deadline_us;
    enum tacit_status const status = step_core(site, &made, entropy, update);
    if (is_due)
        tell_hub(site);
    return status;
}

static enum tacit_status dispatch(struct live_site *site, const struct live_site_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct live_site_update *update)
{
    gossip_event made = {.now_us = event->now_us};
    switch (event->kind) {
    case LIVE_SITE_START: /* of a process: a new life */
        made.kind = TACIT_EVENT_START;
        return step_core(site, &made, entropy, update);
    case LIVE_SITE_CONNECTED: /* what was lost meanwhile, the next exchange makes good */
        tell_hub(site);
        return TACIT_OK;
    case LIVE_SITE_REWARD:
        return take_reward(site, event, entropy, update);
    case LIVE_SITE_EXPLOITED:
        made.kind = TACIT_EVENT_EXPLOITED;
        made.as.exploited_count = event->as.exploited_count;
        return step_core(site, &made, entropy, update);
    case LIVE_SITE_RECEIVE:
        return receive(site, event, entropy, update);
    case LIVE_SITE_TIMEOUT:
        return time_out(site, event, entropy, update);
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
    enum tacit_status const status = dispatch(site, event, entropy, update);
    live_effects_end(&site->effects, update);
    return status;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static void site_place(const struct live_site *site, struct live_site_place *place)
{
    struct tacit_wire_gossip_run const *const run = gossip_core_run(site->core);
    *place = (struct live_site_place){.run_id = run->run_id,
                                      .agent = run->agent,
                                      .agent_count = run->agent_count,
                                      .horizon = run->horizon,
                                      .has_neighbours = true,
                                      .neighbours = site->neighbours,
                                      .neighbour_count = run->neighbour_count};
}

static void site_look(const struct live_site *site, struct live_site_view *view)
{
    struct tacit_gossip_rule const *const rule = gossip_core_rule(site->core);
    struct tacit_gossip_agent const *const agent = gossip_core_agent(site->core);
    struct tacit_scale const *const scale = &rule->tree.node.scale;
    struct tacit_gossip_agent_view const core = view_of(site);
    uint64_t const draws = gossip_core_draw_count(site->core);
    bool const has_estimates = core.pull_count >= rule->arm_count;
    for (uint32_t arm = 0; arm < rule->arm_count; arm++)
        site->estimates[arm] = scale->lo + core.theta[arm] * (scale->hi - scale->lo);
    *view = (struct live_site_view){
        .is_waiting = core.waiting,
        .is_finished = core.finished,
        .is_halted = core.halted,
        .active_count = rule->arm_count,
        .pull_count = core.pull_count,
        .trouble = core.halted ? "halted: a neighbour knows another life of this site; this state "
                                 "is a copy or an old one, or a copy of it is running, and nothing "
                                 "is released from it"
                               : NULL,
        .draw_number = draws,
        .release_number = draws,
        .draws_always = true,
        .estimates = has_estimates ? site->estimates : NULL,
        .estimate_spread =
            tacit_gossip_agent_spread(agent, core.best_arm) * (scale->hi - scale->lo),
        .spent_nano = draws > 0 ? tacit_tree_cost_nano(&rule->tree) : 0};
}

static int compare_estimates(const void *left, const void *right, void *context)
{
    double const *const theta = context;
    uint32_t const a = *(const uint32_t *)left;
    uint32_t const b = *(const uint32_t *)right;
    if (theta[a] != theta[b])
        return theta[a] > theta[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

static uint32_t site_rank(const struct live_site *site, const struct live_site_config *config,
                          uint32_t *arms)
{
    for (uint32_t arm = 0; arm < config->arm_count; arm++)
        arms[arm] = arm;
    if (site != NULL)
        qsort_r(arms, config->arm_count, sizeof *arms, compare_estimates,
                (void *)(uintptr_t)view_of(site).theta);
    return config->arm_count;
}

static void site_promise(const struct live_site *site, const struct live_site_config *config,
                         struct tacit_promise *promise)
{
    struct tacit_mechanism_config const mechanism = mechanism_of(config);
    struct tacit_tree_rule const *const tree =
        site == NULL ? NULL : &gossip_core_rule(site->core)->tree;
    promise->trust.audience = TACIT_AUDIENCE_STAR; /* neighbours hear it, and the coordinator */
    promise->mechanism = (struct tacit_promise_mechanism){
        .noise = TACIT_NOISE_LAPLACE,
        .leaving = TACIT_LEAVING_MEANS,
        .epsilon_nano = tree == NULL ? gossip_epsilon_nano(&mechanism) : tacit_tree_cost_nano(tree),
        .releases = tree == NULL ? 0 : tree->level_count};
}

const struct live_site_ops gossip_site_ops = {.word = TACIT_WIRE_GOSSIP_WORD,
                                              .family = TACIT_WIRE_GOSSIP_FAMILY,
                                              .version = TACIT_WIRE_GOSSIP_VERSION,
                                              .sums_in_memory = true,
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
