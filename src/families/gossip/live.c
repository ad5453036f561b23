/* Gossip UCB as the daemons drive it (live/protocol.h). Neighbours stand where a hub would: the
 * coordinator announces the run, keeps nothing, and shows the progress that sites report. */
#include "live.h"
#include "../../live/protocol.h"
#include "settings.h"
#include "tacit/wire_gossip.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Messages between sites ------------------------------------------------------------------ */

/* Would all that a site says in a run of so many arms fit into the payloads of the bus? */
static bool fits(uint32_t arm_count)
{
    static uint64_t const seen;
    static double const row;
    struct tacit_gossip_message const largest = {
        .kind = TACIT_GOSSIP_OFFER, .seen = &seen, .theta = &row, .flow = &row};
    struct tacit_wire_shape const shape = {.arm_count = arm_count};
    return live_message_fits(&tacit_wire_gossip, &shape, &largest);
}

/* ---- A site ---------------------------------------------------------------------------------- */

struct gossip_site {
    struct tacit_gossip_agent_config core;
    struct tacit_gossip_memory *memory; /* exact sums of this incarnation, which are kept nowhere */
    double *estimates;                  /* K */
};

LIVE_CORE(tacit_gossip_agent, struct gossip_site);

static struct tacit_mechanism_config mechanism_of(const struct live_site_config *config)
{
    return (struct tacit_mechanism_config){TACIT_PRIVACY_SOUND, config->epsilon, config->lo,
                                           config->hi};
}

static enum tacit_status site_configure(struct live_site *site)
{
    struct gossip_site *const own = site->own;
    struct tacit_wire_gossip_run const *const run = site->run;
    struct tacit_gossip_rule *const rule = &own->core.rule;
    struct tacit_mechanism_config const mechanism = mechanism_of(&site->config);
    if (run->horizon < 2)
        return TACIT_MALFORMED;
    if (gossip_live_rule(rule, run->agent_count, run->arm_count, run->horizon, &mechanism,
                         run->log_base_10) != TACIT_OK)
        return TACIT_OK; /* a core of no rule has no size, and site_objection says why */
    own->memory = live_room_allocate(&site->room, 1, tacit_gossip_memory_size(rule));
    own->estimates = live_room_allocate(&site->room, run->arm_count, sizeof *own->estimates);
    if (own->memory == NULL)
        return TACIT_MEMORY;
    tacit_gossip_memory_init(own->memory, rule);
    site->mechanism = rule->tree.node;
    own->core.run_id = run->run_id;
    own->core.agent_id = run->agent;
    own->core.neighbours = live_site_set_neighbours(site, run->neighbours, run->neighbour_count);
    own->core.neighbour_count = run->neighbour_count;
    own->core.exchange_us = run->exchange_us;
    own->core.pull_us = run->pull_us;
    return TACIT_OK;
}

/* NULL: allowed. All add noise of the same kind: the radius (12) counts on it. */
static const char *site_objection(const struct live_site *site)
{
    struct live_site_config const *const config = &site->config;
    struct tacit_mechanism_config const mechanism = mechanism_of(config);
    struct tacit_wire_gossip_run const *const run = site->run;
    if (run->epsilon_nano != gossip_epsilon_nano(&mechanism))
        return "the run reckons with another epsilon per reward than policy.epsilon; among "
               "neighbours all have the same";
    if (((const struct gossip_site *)site->own)->core.rule.arm_count == 0)
        return "policy.epsilon is too small for so long a run: the share of one of the noised sums "
               "that a reward lies in is below 1e-6";
    if (run->horizon + run->arm_count > config->pulls_max)
        return "the run wants more pulls than policy.pulls_max: its horizon, and a first pull of "
               "each arm";
    if (!fits(run->arm_count))
        return "the run does not fit into the messages of this network";
    return NULL;
}

static struct tacit_gossip_agent_view view_of(const struct live_site *site)
{
    struct tacit_gossip_agent_view view;
    tacit_gossip_agent_view(site->state, &view);
    return view;
}

/* To the coordinator: how many pulls were given, and the estimates, which neighbours hear, too. */
static void report_progress(struct live_site *site)
{
    struct tacit_wire_gossip_run const *const run = site->run;
    struct tacit_gossip_agent_view const view = view_of(site);
    struct tacit_wire_gossip_progress const progress = {run->agent, run->run_id, view.pull_count,
                                                        view.finished, view.theta};
    if (view.pull_count < run->arm_count || view.halted)
        return; /* it has no estimates yet, or not its own any more */
    (void)live_messages_add(&site->out, &tacit_wire_gossip_progress, &site->shape, &progress);
}

/* Outbox = ledger: what was drawn with this reward is one row, in the write that keeps the state.
 */
static void record_draw(struct live_site *site, uint32_t arm, struct live_site_update *update)
{
    struct tacit_gossip_agent_view const view = view_of(site);
    struct tacit_wire_gossip_release const release = {
        .arm = arm,
        .pull_count = view.counts[arm] - (view.arm == arm ? 1 : 0), /* the next one is planned */
        .steps = tacit_gossip_agent_sum(site->state, arm).steps};
    struct live_site_release const drawn = {
        .number = view.draw_count, .epsilon_nano = tacit_mechanism_cost_nano(&site->mechanism)};
    uint8_t *const bytes = live_site_write(site, &drawn, TACIT_WIRE_GOSSIP_RELEASE_BYTES, update);
    if (bytes != NULL)
        tacit_wire_encode(&tacit_wire_gossip_release, NULL, &release, bytes);
}

/* The coordinator is told whenever this site's own clock meets a neighbour, and at the end. What
 * was lost while it was not connected, the next exchange makes good. */
static enum tacit_status site_step(struct live_site *site, const struct live_site_event *event,
                                   void *message, const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    struct gossip_site *const own = site->own;
    struct tacit_event core_event = {.now_us = event->now_us, .kind = live_event_kind(event)};
    struct tacit_gossip_update core_update;
    bool const is_due =
        core_event.kind == TACIT_EVENT_TIMEOUT && event->now_us >= site->deadline_us;
    if (event->kind == LIVE_SITE_CONNECTED) {
        report_progress(site);
        return TACIT_OK;
    }
    if (core_event.kind == TACIT_EVENT_REWARD)
        core_event.as.reward = live_event_reward(site, event);
    else if (core_event.kind == TACIT_EVENT_RECEIVE)
        core_event.as.message = message;
    enum tacit_status const status =
        tacit_gossip_agent_step(site->state, own->memory, &core_event, entropy, &core_update);
    update->persist = core_update.persist;
    if ((core_update.happened & TACIT_DREW) != 0)
        record_draw(site, core_event.as.reward.arm, update);
    if (core_update.send)
        live_site_send(site, &core_update.message);
    if (core_update.plan_count > 0 ||
        (core_update.happened & TACIT_ENDED) != 0) /* at an end: none is left */
        live_site_plan(site, core_update.plan, core_update.plan_count, update);
    site->deadline_us = core_update.deadline_us;
    if (is_due ||
        (core_event.kind == TACIT_EVENT_REWARD && status == TACIT_OK && view_of(site).finished))
        report_progress(site);
    return status;
}

static void site_fill_view(const struct live_site *site, struct live_site_view *view)
{
    struct gossip_site const *const own = site->own;
    struct tacit_gossip_rule const *const rule = &own->core.rule;
    struct tacit_scale const *const scale = &rule->tree.node.scale;
    struct tacit_gossip_agent_view const core = view_of(site);
    bool const has_estimates = core.pull_count >= rule->arm_count;
    for (uint32_t arm = 0; arm < rule->arm_count; arm++)
        own->estimates[arm] = scale->lo + core.theta[arm] * (scale->hi - scale->lo);
    *view = (struct live_site_view){
        .is_waiting = core.waiting,
        .is_finished = core.finished,
        .is_halted = core.halted,
        .active_count = rule->arm_count,
        .pull_count = core.pull_count,
        .trouble =
            core.halted
                ? "halted: a neighbour knows another incarnation of this site; this state is a "
                  "copy or an old one, or a copy of it is running, and nothing is released from it"
                : NULL,
        .draw_number = core.draw_count,
        .release_number = core.draw_count,
        .draws_always = true,
        .estimates = has_estimates ? own->estimates : NULL,
        .estimate_spread =
            tacit_gossip_agent_spread(site->state, core.best_arm) * (scale->hi - scale->lo),
        .spent_nano = core.draw_count > 0 ? tacit_tree_cost_nano(&rule->tree) : 0};
}

static bool site_prefers(const struct live_site *site, uint32_t arm, uint32_t other)
{
    double const *const theta = view_of(site).theta;
    return theta[arm] > theta[other];
}

static void site_promise(const struct live_site *site, const struct live_site_config *config,
                         struct tacit_promise *promise)
{
    struct tacit_mechanism_config const mechanism = mechanism_of(config);
    struct tacit_tree_rule const *const tree =
        site == NULL ? NULL : &((const struct gossip_site *)site->own)->core.rule.tree;
    promise->trust.audience = TACIT_AUDIENCE_STAR; /* neighbours hear it, and the coordinator */
    promise->mechanism = (struct tacit_promise_mechanism){
        .noise = TACIT_NOISE_LAPLACE,
        .leaving = TACIT_LEAVING_MEANS,
        .epsilon_nano = tree == NULL ? gossip_epsilon_nano(&mechanism) : tacit_tree_cost_nano(tree),
        .releases = tree == NULL ? 0 : tree->level_count};
}

const struct live_site_ops gossip_site_ops = {.wire = &tacit_wire_gossip,
                                              .sums_in_memory = true,
                                              .keeps_digest = true,
                                              .hub_is_silent = true,
                                              .events = LIVE_SITE_PLAN_EVENTS,
                                              .core = &tacit_gossip_agent_live,
                                              LIVE_SITE_FUNCTIONS,
                                              .objection = site_objection,
                                              .prefers = site_prefers};

/* ---- The hub --------------------------------------------------------------------------------- */

struct gossip_hub {
    uint32_t *epochs;   /* A: all 0, there are none */
    uint64_t *nobody;   /* A: the empty set of sites */
    uint64_t *pulls;    /* A: as reported; 0: nothing was */
    uint64_t *finished; /* A: a set */
    double *theta;      /* A x K, as reported */
    double *means;      /* K */
    double *spreads;    /* K */
};

static const struct live_core hub_of_nothing = {.own_size = sizeof(struct gossip_hub)};

static const struct gossip_hub_settings *settings_of(const struct live_hub_config *config)
{
    struct gossip_hub_settings const *const settings = config->settings;
    TACIT_ASSERT(settings != NULL);
    return settings;
}

static uint64_t epsilon_nano(const struct live_hub_config *config)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, config->epsilon,
                                                     config->lo, config->hi};
    return gossip_epsilon_nano(&mechanism);
}

static void hub_parameters(const struct live_hub_config *config, void *run)
{
    struct gossip_hub_settings const *const settings = settings_of(config);
    struct tacit_wire_gossip_run *const made = run;
    made->exchange_us = settings->exchange_us;
    made->pull_us = settings->pull_us;
    made->log_base_10 = settings->log_base_10;
}

/* Its neighbours. */
static bool hub_fill_place(const struct live_hub_config *config, uint32_t site,
                           struct live_room *room, void *run)
{
    struct tacit_graph const *const graph = settings_of(config)->graph;
    struct tacit_wire_gossip_run *const made = run;
    made->neighbours = live_hub_neighbours(config, graph, site, room);
    made->neighbour_count = tacit_graph_degree(graph, site);
    TACIT_ASSERT(made->neighbour_count > 0); /* the graph is connected */
    return made->neighbours != NULL;
}

static const char *hub_too_large(const struct live_hub_config *config)
{
    return fits(config->arm_count) ? NULL : "arms";
}

static void hub_describe(const struct live_hub_config *config, FILE *out)
{
    struct gossip_hub_settings const *const settings = settings_of(config);
    (void)fprintf(out, "run.exchange_s %llu us\nrun.pulls_per_second %llu us\nrun.log_base %d\n",
                  (unsigned long long)settings->exchange_us, (unsigned long long)settings->pull_us,
                  settings->log_base_10 ? 10 : 0);
    live_hub_describe_edges(config, settings->graph, out);
}

static void hub_configure(struct live_hub *hub)
{
    struct gossip_hub *const own = hub->own;
    size_t const sites = hub->config->site_count;
    size_t const arms = hub->config->arm_count;
    size_t const words = TACIT_BITS_WORDS(hub->config->site_count);
    own->epochs = live_room_allocate(&hub->room, sites, sizeof *own->epochs);
    own->nobody = live_room_allocate(&hub->room, words, sizeof *own->nobody);
    own->pulls = live_room_allocate(&hub->room, sites, sizeof *own->pulls);
    own->finished = live_room_allocate(&hub->room, words, sizeof *own->finished);
    own->theta = live_room_allocate(&hub->room, sites * arms, sizeof *own->theta);
    own->means = live_room_allocate(&hub->room, arms, sizeof *own->means);
    own->spreads = live_room_allocate(&hub->room, arms, sizeof *own->spreads);
}

/* The newest report of a site. What came late is no news: pulls only grow. */
static void keep_progress(struct live_hub *hub, const struct tacit_wire_gossip_progress *progress)
{
    struct gossip_hub *const own = hub->own;
    uint32_t const arms = hub->config->arm_count;
    if (progress->pull_count < own->pulls[progress->from])
        return;
    own->pulls[progress->from] = progress->pull_count;
    memcpy(own->theta + (size_t)progress->from * arms, progress->theta,
           arms * sizeof *progress->theta);
    if (progress->finished)
        tacit_bits_add(own->finished, progress->from);
}

static enum tacit_status hub_step(struct live_hub *hub, const struct live_hub_event *event,
                                  void *message, const struct tacit_entropy *entropy,
                                  struct live_hub_update *update)
{
    struct live_hub_config const *const config = hub->config;
    struct tacit_wire_gossip_progress const *const progress = message;
    uint64_t const most = config->horizon + config->arm_count;
    (void)event;
    (void)entropy; /* it draws nothing, .. */
    (void)update;  /* .. and says nothing */
    if (progress == NULL)
        return TACIT_OK;
    if (progress->run_id != config->run_id)
        return TACIT_STRANGER;
    if (progress->pull_count < config->arm_count || progress->pull_count > most ||
        (progress->finished && progress->pull_count != most))
        return TACIT_MALFORMED;
    keep_progress(hub, progress);
    return TACIT_OK;
}

/* Over the sites that have reported. Result: their number. */
static uint32_t summarize(const struct live_hub *hub, uint32_t arm)
{
    struct gossip_hub const *const own = hub->own;
    struct live_hub_config const *const config = hub->config;
    double sum = 0;
    double low = 0;
    double high = 0;
    uint32_t count = 0;
    for (uint32_t site = 0; site < config->site_count; site++) {
        double const value = own->theta[(size_t)site * config->arm_count + arm];
        if (own->pulls[site] == 0)
            continue;
        sum += value;
        low = count == 0 || value < low ? value : low;
        high = count == 0 || value > high ? value : high;
        count++;
    }
    double const range = config->hi - config->lo;
    own->means[arm] = count == 0 ? 0 : config->lo + range * (sum / count);
    own->spreads[arm] = range * (high - low);
    return count;
}

static void hub_fill_view(const struct live_hub *hub, struct live_hub_view *view)
{
    struct gossip_hub const *const own = hub->own;
    struct live_hub_config const *const config = hub->config;
    uint32_t heard_count = 0;
    for (uint32_t arm = 0; arm < config->arm_count; arm++)
        heard_count = summarize(hub, arm);
    *view = (struct live_hub_view){
        .is_finished = tacit_bits_count(own->finished, config->site_count) == config->site_count,
        .active_count = config->arm_count,
        .done = own->finished,
        .asked = own->nobody,
        .received = own->nobody,
        .seen = own->epochs,
        .means = heard_count > 0 ? own->means : NULL,
        .spreads = heard_count > 0 ? own->spreads : NULL,
        .pulls_reported = own->pulls};
}

const struct live_hub_ops gossip_hub_ops = {.wire = &tacit_wire_gossip,
                                            .is_rebuilt = true,
                                            .only_kind = TACIT_WIRE_GOSSIP_KIND_PROGRESS,
                                            .reads = &tacit_wire_gossip_progress,
                                            .core = &hub_of_nothing,
                                            LIVE_HUB_FUNCTIONS,
                                            .epsilon_nano = epsilon_nano,
                                            .fill_place = hub_fill_place};
