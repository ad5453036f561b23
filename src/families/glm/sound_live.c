/* The private linear bandit as the daemons drive it (live/protocol.h): decisions by contexts as
 * those of live.c, releases as those of the phased index. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../live/hub_helper.h"
#include "../../live/player.h"
#include "live.h"

/* ---- Messages -------------------------------------------------------------------------------- */

/* Two aggregators: what an interaction moves the sums by, and the delta of the run. */
static double describe_vector(const void *run, struct tacit_helper_run *made)
{
    struct tacit_glm_private_model const *const model =
        &((const struct tacit_wire_glm_sound_run *)run)->model;
    made->mechanism = TACIT_HELPER_GAUSSIAN;
    made->count_max = (uint32_t)TACIT_GLM_PRIVATE_SUMS(model->dimension);
    made->steps = tacit_glm_sound_steps(model->link);
    return model->delta;
}

/* What decides, for people. Of rewards it has a batch a release at least. */
static struct live_model show(const struct tacit_wire_glm_sound_run *run, uint64_t horizon,
                              uint32_t batches, uint64_t releases)
{
    return (struct live_model){.number = batches,
                               .observation_count = releases * (horizon / run->model.batch_count),
                               .dimension = run->model.dimension,
                               .names = run->features};
}

/* ---- Its site -------------------------------------------------------------------------------- */

struct sound_site {
    struct tacit_glm_sound_site_config core;
    struct live_site_trust trust;
    struct tacit_glm_sound_event event;   /* but for its core, .. */
    struct tacit_glm_sound_update update; /* .. what came of it, .. */
    struct tacit_glm_sound_message drawn; /* .. and what it drew */
    const struct tacit_wire_glm_sound_run *run;
    uint8_t *kept;
    struct live_model shown;
    char remark[512];
};

LIVE_CORE(tacit_glm_sound_site, struct sound_site);

static double policy_delta(const struct live_site_config *config)
{
    struct glm_policy const *const policy = config->settings;
    TACIT_ASSERT(policy != NULL);
    return policy->delta;
}

static enum tacit_status site_configure(struct live_site *site)
{
    struct sound_site *const own = site->own;
    enum tacit_status const status = live_site_noise(site, &own->trust);
    own->run = site->run;
    if (status != TACIT_OK)
        return status;
    uint32_t const d = site->shape.dimension = own->run->model.dimension;
    uint64_t const own_nano = tacit_mechanism_cost_nano(&site->mechanism);
    own->trust.noise_nano =
        live_trust_noise_nano(own->trust.cost_nano, describe_vector(own->run, &own->trust.run));
    own->core =
        (struct tacit_glm_sound_site_config){.model = own->run->model,
                                             .epsilon = tacit_nano_value(own_nano),
                                             .delta = policy_delta(&site->config),
                                             .horizon = live_site_agreement(site)->horizon,
                                             .cost_nano = own->trust.cost_nano,
                                             .budget_nano = tacit_nano_of(site->config.budget),
                                             .resend_after_us = site->config.resend_after_us,
                                             .site_id = site->announcement->agent,
                                             .round_max = site->config.rounds_max,
                                             .floor_milli = own->run->floor_milli};
    memcpy(own->core.domain, site->domain, sizeof own->core.domain);
    own->kept = live_room_allocate(&site->room, 1, glm_kept_bytes_max(d, site->config.arm_count));
    return TACIT_OK;
}

static const char *site_objection(const struct live_site *site)
{
    struct sound_site const *const own = site->own;
    struct tacit_glm_private_model const *const model = &own->run->model;
    const char *const trust = live_site_trust_objection(site);
    const char *const reckoning = live_site_reckoning(site);
    const char *const features =
        glm_features_objection(own->run->features, model->dimension, site->config.settings);
    if (trust != NULL)
        return trust;
    if (reckoning != NULL)
        return "the run reckons with a larger epsilon per interaction than policy.epsilon";
    if (model->delta > own->core.delta)
        return "the run reckons with a larger delta than policy.delta";
    if (features != NULL)
        return features;
    return tacit_glm_sound_site_live_size(own) == 0 ? "the run's batches are too large" : NULL;
}

static struct tacit_glm_sound_site_view site_view(const struct live_site *site)
{
    struct tacit_glm_sound_site_view view;
    tacit_glm_sound_site_view(site->state, &view);
    return view;
}

static enum tacit_status step_core(struct live_site *site, const struct tacit_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct live_player_made *made)
{
    struct sound_site *const own = site->own;
    own->event.core = *event;
    enum tacit_status const status =
        tacit_glm_sound_site_step(site->state, &own->event, entropy, &own->update);
    *made = LIVE_PLAYER_MADE(own);
    if ((own->update.happened & TACIT_DREW) != 0)
        own->drawn = tacit_glm_sound_site_draw(site->state);
    return status;
}

static struct tacit_round_view play_view(const struct live_site *site)
{
    return site_view(site).play;
}

static const struct live_player player = {.head_at = offsetof(struct tacit_glm_sound_message, head),
                                          .step = step_core,
                                          .view = play_view};

/* Beside the model's number stands the term of the decision: what was decided before a term enters
 * nothing, for a copy's reward of it may be in what the hub of before has granted. */
static uint64_t choice_version(const struct tacit_glm_sound_site_view *view)
{
    return view->term << 32 | view->model;
}

static bool site_parse_kept(const uint8_t *kept, size_t size, struct live_choice *choice)
{
    bool const is_kept = glm_parse_kept(kept, size, choice);
    if (is_kept)
        choice->model &= UINT32_MAX;
    return is_kept;
}

/* False: the decision is of a term that is over, or nothing was kept with it. */
static bool read_reward(const struct live_site *site, const struct live_site_event *event,
                        double context[TACIT_LINALG_VECTOR_MAX], struct tacit_glm_reward *reward)
{
    struct live_choice choice;
    return glm_parse_kept(event->as.reward.kept, event->as.reward.kept_size, &choice) &&
           choice.model >> 32 == site_view(site).term &&
           glm_read_reward(site, event, context, reward);
}

static enum tacit_status site_step(struct live_site *site, const struct live_site_event *event,
                                   void *message, const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    struct sound_site *const own = site->own;
    struct tacit_glm_sound_site_view const view = site_view(site);
    struct tacit_offer const *const offer = &event->as.offer;
    double context[TACIT_LINALG_VECTOR_MAX];
    own->event.path = tacit_linalg_fastest();
    if (event->kind == LIVE_SITE_EXPLOITED)
        return TACIT_OK; /* it has no plan, so nothing is beside it */
    if (event->kind == LIVE_SITE_REWARD && !read_reward(site, event, context, &own->event.reward))
        return TACIT_INVALID;
    if (event->kind == LIVE_SITE_OFFER && offer->arm_count != site->config.arm_count)
        return TACIT_INVALID;
    if (event->kind == LIVE_SITE_OFFER)
        own->event.offer = *offer;
    enum tacit_status const status =
        live_player_step(site, &player, &own->trust, event, message, entropy, update);
    if (status == TACIT_OK && event->kind == LIVE_SITE_OFFER && own->update.decided)
        glm_record_choice(&(struct glm_choice){choice_version(&view), own->update.probability,
                                               own->update.arm, own->run->model.explore > 0},
                          &event->as.offer, own->kept, update);
    return status;
}

static void site_promise(const struct live_site *site, const struct live_site_config *config,
                         struct tacit_promise *promise)
{
    struct tacit_glm_private_rule rule = {
        .model = {.epsilon = config->epsilon, .delta = policy_delta(config)},
        .rho_nano = tacit_rho_of_epsilon_nano(config->epsilon, policy_delta(config))};
    promise->mechanism = tacit_glm_private_promise(&rule);
    live_site_promise_trust(config, promise);
    if (site == NULL)
        return;
    struct sound_site *const own = site->own;
    struct tacit_text remark = tacit_text_init(own->remark, sizeof own->remark);
    if (tacit_glm_sound_rule(&rule, &own->run->model, own->run->floor_milli) == TACIT_OK)
        tacit_glm_private_remark(&rule, own->core.horizon, &remark);
    promise->remark = own->remark;
}

static void site_fill_view(const struct live_site *site, struct live_site_view *view)
{
    struct sound_site *const own = site->own;
    struct tacit_glm_sound_site_view const core = site_view(site);
    own->shown = show(own->run, own->core.horizon, core.model, core.releases);
    own->shown.coefficients = core.theta;
    own->shown.inverse = core.inverse;
    own->shown.radius = core.alpha;
    *view = live_site_show(site, &core.play);
    view->is_decided = false; /* no arm is the best for all contexts */
    view->is_finished = core.last;
    view->active_count = site->config.arm_count;
    view->no_estimates = GLM_NO_ESTIMATES;
    view->model = &own->shown;
}

const struct live_site_ops glm_sound_site_ops = {.wire = &tacit_wire_glm_sound,
                                                 .has_terms = true,
                                                 .epsilon_of = "interaction",
                                                 .keeps_digest = true,
                                                 .events =
                                                     LIVE_SITE_PLAN_EVENTS | 1u << LIVE_SITE_OFFER,
                                                 .core = &tacit_glm_sound_site_live,
                                                 LIVE_SITE_FUNCTIONS,
                                                 .parse_kept = site_parse_kept,
                                                 .objection = site_objection};

/* ---- Its hub --------------------------------------------------------------------------------- */

struct sound_hub {
    struct tacit_glm_sound_hub_config core;
    struct tacit_wire_glm_sound_run run;
    uint64_t *arms; /* all of them */
    struct tacit_glm_private_estimate *estimate;
    struct live_model shown;
};

LIVE_CORE(tacit_glm_sound_hub, struct sound_hub);

static uint64_t hub_epsilon_nano(const struct live_hub_config *config)
{
    return tacit_nano_up(config->epsilon);
}

static void hub_parameters(const struct live_hub_config *config, void *run)
{
    struct tacit_wire_glm_sound_run *const made = run;
    struct tacit_wire_run const head = made->head;
    *made = glm_sound_run(config);
    made->head = head;
}

static const char *hub_too_large(const struct live_hub_config *config)
{
    static const struct tacit_commit commit;
    static const struct tacit_helper_release masked;
    struct tacit_glm_sound_message const report = {.kind = TACIT_ROUND_REPORT,
                                                   .commit = &commit,
                                                   .masked = config->has_helper ? &masked : NULL};
    struct tacit_wire_shape const shape = {.dimension = glm_sound_run(config).model.dimension};
    return live_message_fits(&tacit_wire_glm_sound, &shape, &report) ? NULL : "run.features";
}

static void hub_describe(const struct live_hub_config *config, FILE *out)
{
    struct tacit_wire_glm_sound_run const run = glm_sound_run(config);
    struct tacit_glm_private_model const *const model = &run.model;
    (void)fprintf(out,
                  "run.batches %llu\nrun.exploration %d\nrun.link %d\nrun.delta %.17g\n"
                  "run.failure %.17g\nrun.norm %.17g\nrun.noise %.17g\nrun.alpha %.17g\n"
                  "run.explore %.17g\n",
                  (unsigned long long)model->batch_count, (int)model->exploration, (int)model->link,
                  model->delta, model->failure, model->norm_bound, model->noise_bound, model->alpha,
                  model->explore);
    for (uint32_t i = 0; i < model->dimension; i++)
        (void)fprintf(out, "run.features %s\n", run.features[i]);
}

static void hub_configure(struct live_hub *hub)
{
    struct live_hub_config const *const config = hub->config;
    struct sound_hub *const own = hub->own;
    own->run = glm_sound_run(config);
    own->core = (struct tacit_glm_sound_hub_config){.model = own->run.model,
                                                    .round_timeout_us =
                                                        (uint64_t)config->deadline_s * 1000000u,
                                                    .quorum = config->quorum,
                                                    .floor_milli = own->run.floor_milli};
    memcpy(own->core.domain, hub->domain, sizeof own->core.domain);
    hub->shape.dimension = own->run.model.dimension;
    own->arms = live_room_full_set(&hub->room, config->arm_count);
    own->estimate = live_room_allocate(&hub->room, 1, sizeof *own->estimate);
}

LIVE_SNAPSHOTS(tacit_glm_sound_hub, struct sound_hub)

static struct tacit_glm_sound_hub_view core_view(const struct live_hub *hub)
{
    struct tacit_glm_sound_hub_view view;
    tacit_glm_sound_hub_view(hub->state, &view);
    return view;
}

/* Once a batch: what may be said of the coefficients from now on. Sums that make no model leave the
 * one before, as at the sites. */
static void note_model(struct live_hub *hub)
{
    struct sound_hub *const own = hub->own;
    struct tacit_glm_sound_hub_view const view = core_view(hub);
    struct tacit_glm_private_rule rule;
    struct tacit_glm_private_estimate next;
    if (tacit_glm_sound_rule(&rule, &own->run.model, own->run.floor_milli) != TACIT_OK ||
        tacit_glm_private_learn(&rule, tacit_linalg_fastest(), view.sums, &next) != TACIT_OK)
        return;
    *own->estimate = next;
    own->shown =
        show(&own->run, hub->config->horizon, view.round == 0 ? 0 : view.round - 1, view.releases);
    own->shown.coefficients = own->estimate->theta;
    own->shown.inverse = own->estimate->inverse;
    own->shown.radius = own->estimate->radius;
}

static void carry_out(struct live_hub *hub, const struct tacit_glm_sound_update *core_update,
                      struct live_hub_update *update)
{
    update->persist = update->persist || core_update->persist;
    update->deadline_us = core_update->deadline_us;
    if ((core_update->happened & TACIT_CLOSED_ROUND) != 0)
        note_model(hub);
    if (!core_update->send)
        return;
    (void)live_hub_send(hub, &core_update->message);
    if (core_update->message.kind == TACIT_ROUND_ORDER && core_update->message.to == TACIT_EVERYONE)
        live_hub_note(hub, update, "batch %u%s", core_update->message.round,
                      core_update->message.last ? ": none, the last model stands" : " is open");
}

LIVE_QUESTION(hub_hello, struct tacit_glm_sound_message, TACIT_ROUND_HELLO)

static enum tacit_status hub_step(struct live_hub *hub, const struct live_hub_event *event,
                                  void *message, const struct tacit_entropy *entropy,
                                  struct live_hub_update *update)
{
    struct tacit_glm_sound_message *const received = message;
    struct live_report report = {.head = NULL};
    struct tacit_glm_sound_update core_update;
    struct tacit_event const core_event = live_hub_core_event(
        hub, event, core_view(hub).term, received, received == NULL ? NULL : &received->term);
    if (received != NULL)
        report = (struct live_report){&received->head, received->masked, received->sums,
                                      (uint32_t)TACIT_GLM_PRIVATE_SUMS(hub->shape.dimension)};
    enum tacit_status const status =
        tacit_glm_sound_hub_step(hub->state, &core_event, &core_update);
    carry_out(hub, &core_update, update);
    if (hub->helper != NULL)
        live_hub_note_helper(hub, event, &report, core_update.happened, entropy, update);
    return status;
}

/* ---- Two aggregators ---- */

/* A site's batch may have all its rewards, each of which is within a unit. */
static void hub_round(const struct live_hub *hub, struct tacit_helper_round *round, uint64_t *highs)
{
    struct tacit_glm_sound_hub_view const view = core_view(hub);
    uint32_t const d = hub->shape.dimension;
    *round = (struct tacit_helper_round){
        .term = view.term, .round = view.round, .count = (uint32_t)TACIT_GLM_PRIVATE_SUMS(d)};
    tacit_glm_sound_order_digest(view.sums, d, round->order);
    for (uint32_t i = 0; highs != NULL && i < round->count; i++)
        highs[i] = hub->config->horizon * TACIT_GLM_PRIVATE_UNIT;
}

static void hub_close(struct live_hub *hub, uint32_t sites, const int64_t *totals, uint64_t now_us,
                      struct live_hub_update *update)
{
    struct tacit_glm_sound_update core_update;
    tacit_glm_sound_hub_close(hub->state, sites, totals, now_us, &core_update);
    carry_out(hub, &core_update, update);
}

LIVE_QUESTION(hub_commit, struct tacit_glm_sound_message, TACIT_ROUND_COMMIT)

/* Of the operator's words one; sites are dropped, and void rounds repeated, without it. */
static enum tacit_status hub_change(struct live_hub *hub, const struct live_control_entry *wanted,
                                    uint64_t now_us, const struct tacit_entropy *entropy,
                                    struct live_hub_update *update, uint32_t *number,
                                    const char **objection)
{
    struct tacit_glm_sound_hub_view const view = core_view(hub);
    struct tacit_glm_sound_update core_update;
    (void)entropy; /* it draws nothing */
    *number = 0;
    *objection =
        hub->helper == NULL
            ? "a run of the private linear bandit with one aggregator is not changed under "
              "way: stop the coordinator, and begin a new run"
            : "a run of the private linear bandit is ended (end), sites are dropped (drop) "
              "and void rounds repeated (repeat); else begin a new run";
    if (hub->helper == NULL || wanted->change != LIVE_CHANGE_END_RUN || view.round == 0)
        return TACIT_REFUSED;
    if (view.finished)
        return TACIT_OK;
    tacit_glm_sound_hub_end(hub->state, now_us, &core_update);
    carry_out(hub, &core_update, update);
    return TACIT_OK;
}

static const struct live_change_texts end_texts = {
    .privacy = "nothing more is released in this run; rewards of the open batch never leave",
    .guarantee = "the model stays as it is: it has fewer batches than were meant"};

static void hub_fill_view(const struct live_hub *hub, struct live_hub_view *view)
{
    struct sound_hub const *const own = hub->own;
    struct tacit_glm_sound_hub_view const core = core_view(hub);
    *view = live_hub_show(hub, &core.desk);
    view->round_count = core.round == 0 ? 0 : core.round - 1;
    view->rounds_max = (uint32_t)own->run.model.batch_count;
    view->active = own->arms;
    view->active_count = hub->config->arm_count;
    view->model = &own->shown;
}

const struct live_hub_ops glm_sound_hub_ops = {.wire = &tacit_wire_glm_sound,
                                               .has_terms = true,
                                               .is_rebuilt = true,
                                               .core = &tacit_glm_sound_hub_live,
                                               LIVE_HUB_FUNCTIONS,
                                               .epsilon_nano = hub_epsilon_nano,
                                               .begin = note_model,
                                               .snapshot = tacit_glm_sound_hub_live_snapshot,
                                               .restore = tacit_glm_sound_hub_live_restore,
                                               .hello = hub_hello,
                                               .vector = describe_vector,
                                               .epsilon_of = "per interaction",
                                               .is_signed = true,
                                               .round = hub_round,
                                               .close = hub_close,
                                               .commit = hub_commit,
                                               .end_texts = &end_texts,
                                               .change = hub_change};
