/* Generalised linear bandits as the daemons drive them (live/protocol.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../live/protocol.h"
#include "live.h"

#define NOTE_END_BYTES 64u /* of a note, kept for what follows names */
#define RESEND_US 2000000u

/* ---- Messages -------------------------------------------------------------------------------- */

/* The newest model is for whoever comes later, too; nothing else is. */
static void set_delivery(const void *message, struct live_message *made)
{
    struct tacit_glm_message const *const sent = message;
    made->is_retained = made->is_retained && sent->kind == TACIT_GLM_COMMIT;
}

/* ---- A site ---------------------------------------------------------------------------------- */

struct glm_site {
    struct tacit_glm_client_config core;
    uint8_t *kept;
    struct live_model shown;
};

LIVE_CORE(tacit_glm_client, struct glm_site);

static enum tacit_status site_configure(struct live_site *site)
{
    struct glm_site *const own = site->own;
    struct tacit_wire_glm_run const *const run = site->run;
    uint32_t const d = run->model.dimension;
    own->core = (struct tacit_glm_client_config){.model = run->model,
                                                 .client_id = run->agent,
                                                 .resend_after_us = site->config.resend_after_us};
    own->kept = live_room_allocate(&site->room, 1, glm_kept_bytes_max(d, site->config.arm_count));
    site->shape.dimension = d;
    return TACIT_OK;
}

static const char *site_objection(const struct live_site *site)
{
    struct tacit_wire_glm_run const *const run = site->run;
    return glm_features_objection(run->features, run->model.dimension, site->config.settings);
}

static struct tacit_glm_client_view client_view(const struct live_site *site)
{
    struct tacit_glm_client_view view;
    tacit_glm_client_view(site->state, &view);
    return view;
}

static enum tacit_status site_step(struct live_site *site, const struct live_site_event *event,
                                   void *message, const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    struct glm_site const *const own = site->own;
    struct tacit_glm_event core_event = {
        .now_us = event->now_us, .kind = live_event_kind(event), .path = tacit_linalg_fastest()};
    struct tacit_glm_update core_update;
    double context[TACIT_LINALG_VECTOR_MAX];
    if (core_event.kind == TACIT_EVENT_EXPLOITED)
        return TACIT_OK; /* it has no plan, so nothing is beside it */
    if (core_event.kind == TACIT_EVENT_OFFER && event->as.offer.arm_count != site->config.arm_count)
        return TACIT_INVALID;
    if (core_event.kind == TACIT_EVENT_OFFER)
        core_event.as.offer = event->as.offer;
    else if (core_event.kind == TACIT_EVENT_RECEIVE)
        core_event.as.message = message;
    else if (core_event.kind == TACIT_EVENT_REWARD &&
             !glm_read_reward(site, event, context, &core_event.as.reward))
        return TACIT_INVALID;
    enum tacit_status const status =
        tacit_glm_client_step(site->state, &core_event, entropy, &core_update);
    update->persist = core_update.persist;
    site->deadline_us = core_update.deadline_us;
    if (core_update.send)
        live_site_send(site, &core_update.message);
    if (status == TACIT_OK && core_event.kind == TACIT_EVENT_OFFER && core_update.decided)
        glm_record_choice(&(struct glm_choice){client_view(site).sync, core_update.probability,
                                               core_update.arm, own->core.model.explore > 0},
                          &event->as.offer, own->kept, update);
    return status;
}

static void site_fill_view(const struct live_site *site, struct live_site_view *view)
{
    struct glm_site *const own = site->own;
    struct tacit_glm_client_view const core = client_view(site);
    struct tacit_wire_glm_run const *const run = site->run;
    own->shown = (struct live_model){.number = core.sync,
                                     .observation_count =
                                         core.model_count + core.sample_count - core.included_count,
                                     .dimension = run->model.dimension,
                                     .names = run->features,
                                     .coefficients = core.estimate,
                                     .inverse = core.inverse,
                                     .radius = core.alpha};
    *view = (struct live_site_view){.epoch = core.sync,
                                    .is_waiting = core.triggered || core.frozen,
                                    .is_finished = core.sample_count >= run->horizon,
                                    .active_count = site->config.arm_count,
                                    .no_estimates = GLM_NO_ESTIMATES,
                                    .pull_count = core.sample_count,
                                    .model = &own->shown};
}

static void site_promise(const struct live_site *site, const struct live_site_config *config,
                         struct tacit_promise *promise)
{
    (void)site;
    (void)config;
    promise->mechanism.of = TACIT_PROTECTED_INTERACTION;
    promise->mechanism.leaving = TACIT_LEAVING_GRADIENTS;
}

const struct live_site_ops glm_site_ops = {.wire = &tacit_wire_glm,
                                           .events = LIVE_SITE_PLAN_EVENTS | 1u << LIVE_SITE_OFFER,
                                           .core = &tacit_glm_client_live,
                                           LIVE_SITE_FUNCTIONS,
                                           .objection = site_objection,
                                           .parse_kept = glm_parse_kept};

/* ---- The hub --------------------------------------------------------------------------------- */

struct glm_hub {
    struct tacit_glm_hub_config core;
    uint32_t *seen;  /* the last update that was heard of from each site */
    uint64_t *arms;  /* all of them */
    double *inverse; /* of the model's matrix */
    struct live_model shown;
};

LIVE_CORE(tacit_glm_hub, struct glm_hub);

static const char *const *features_of(const struct live_hub_config *config)
{
    struct glm_hub_settings const *const settings = config->settings;
    TACIT_ASSERT(settings != NULL);
    return settings->features;
}

static void hub_parameters(const struct live_hub_config *config, void *run)
{
    struct tacit_wire_glm_run *const made = run;
    made->model = glm_live_model(config);
    made->features = features_of(config);
    TACIT_ASSERT(tacit_glm_model_is_valid(&made->model) && made->model.rounds == 0);
    TACIT_ASSERT(made->model.descent == TACIT_GLM_PRINTED);
    TACIT_ASSERT(made->model.start == TACIT_GLM_START_LAST);
}

/* The largest message is the commit of variant 3. */
static const char *hub_too_large(const struct live_hub_config *config)
{
    /* Lengths look into no vector and no set: that there is one is enough. */
    static const double some;
    static const uint64_t some_set;
    struct tacit_glm_message const largest = {.vector = &some,
                                              .matrix = &some,
                                              .target = &some,
                                              .steps = &some,
                                              .participants = &some_set};
    struct tacit_glm_model const model = glm_live_model(config);
    struct tacit_wire_shape const shape = {.agent_count = model.client_count,
                                           .dimension = model.dimension};
    return live_message_fits(&tacit_wire_glm, &shape, &largest) ? NULL : "run.features";
}

static void hub_describe(const struct live_hub_config *config, FILE *out)
{
    struct tacit_glm_model const model = glm_live_model(config);
    (void)fprintf(
        out,
        "run.variant %d\nrun.exploration %d\nrun.link %d\nrun.threshold %.17g\nrun.lambda %.17g\n"
        "run.delta %.17g\nrun.norm %.17g\nrun.noise %.17g\nrun.alpha %.17g\n"
        "run.suboptimality %.17g\nrun.explore %.17g\n",
        (int)model.variant, (int)model.exploration, (int)model.link, model.threshold, model.lambda,
        model.delta, model.norm_bound, model.noise_bound, model.alpha, model.suboptimality,
        model.explore);
    for (uint32_t i = 0; i < model.dimension; i++)
        (void)fprintf(out, "run.features %s\n", features_of(config)[i]);
}

static void hub_configure(struct live_hub *hub)
{
    struct live_hub_config const *const config = hub->config;
    struct glm_hub *const own = hub->own;
    uint64_t const deadline_us = (uint64_t)config->deadline_s * 1000000u;
    own->core = (struct tacit_glm_hub_config){.model = glm_live_model(config),
                                              .quorum = config->quorum,
                                              .resend_after_us = RESEND_US,
                                              .deadline_us = deadline_us,
                                              .backoff_us = deadline_us};
    uint32_t const d = hub->shape.dimension = own->core.model.dimension;
    own->seen = live_room_allocate(&hub->room, config->site_count, sizeof *own->seen);
    own->arms = live_room_full_set(&hub->room, config->arm_count);
    own->inverse = live_room_allocate(&hub->room, TACIT_LINALG_MATRIX(d), sizeof *own->inverse);
}

static struct tacit_glm_hub_view core_view(const struct live_hub *hub)
{
    struct tacit_glm_hub_view view;
    tacit_glm_hub_view(hub->state, &view);
    return view;
}

/* What may be said of the coefficients from this update on. */
static void note_model(struct live_hub *hub)
{
    struct glm_hub *const own = hub->own;
    struct tacit_glm_hub_view const view = core_view(hub);
    uint32_t const d = own->core.model.dimension;
    bool const is_positive =
        tacit_linalg_inverse(TACIT_LINALG_PORTABLE, d, view.matrix, own->inverse, NULL);
    TACIT_ASSERT(is_positive);
    own->shown =
        (struct live_model){.number = view.sync,
                            .observation_count = view.model_count,
                            .dimension = d,
                            .names = features_of(hub->config),
                            .coefficients = view.theta,
                            .inverse = own->inverse,
                            .radius = tacit_glm_radius(&own->core.model, view.model_count)};
}

/* The names of the sites that are not in `there`; of many, the first ones. */
static void name_others(const struct live_hub *hub, const uint64_t *there, struct tacit_text *text)
{
    uint32_t const sites = hub->config->site_count;
    uint32_t left = sites - tacit_bits_count(there, sites);
    bool is_first = true;
    for (uint32_t site = 0; site < sites && left > 0; site++) {
        const char *const name = hub->config->sites[site];
        if (tacit_bits_has(there, site))
            continue;
        tacit_text_add(text, is_first ? "" : ", ");
        if (text->size + strlen(name) + NOTE_END_BYTES > LIVE_NOTE_BYTES) {
            tacit_text_add_u64(text, left);
            tacit_text_add(text, " more");
            return;
        }
        tacit_text_add(text, name);
        is_first = false;
        left--;
    }
}

/* Who did not answer in time, and what follows from it. */
static void note_silent(struct live_hub *hub, const struct tacit_glm_hub_view *after)
{
    struct tacit_text text = tacit_text_init(hub->note, LIVE_NOTE_BYTES);
    uint32_t const answers = tacit_bits_count(after->answered, hub->config->site_count);
    uint32_t const quorum = hub->config->quorum > 0 ? hub->config->quorum : hub->config->site_count;
    bool const is_enough = answers >= quorum;
    tacit_text_add(&text, !after->backs_off ? "an update goes on without those who are silent: "
                          : is_enough ? "an update was abandoned, for nobody who answered has a "
                                        "reward; silent: "
                                      : "an update was abandoned below the quorum; silent: ");
    name_others(hub, after->backs_off ? after->answered : after->participants, &text);
    if (!after->backs_off)
        return;
    tacit_text_add(&text, "; the next one begins in ");
    tacit_text_add_u64(&text, hub->config->deadline_s);
    tacit_text_add(&text, " s");
}

/* The newest update, for the log of events and for who looks at the model. */
static void note_progress(struct live_hub *hub, uint32_t happened, struct live_hub_update *update)
{
    struct tacit_glm_hub_view const view = core_view(hub);
    if (happened == 0)
        return;
    update->note = hub->note;
    if ((happened & TACIT_ENDED) != 0)
        live_hub_note(hub, update, "halted: an update did not converge, or made no model");
    else if ((happened & TACIT_CLOSED_ROUND) != 0)
        live_hub_note(hub, update, "update %u: %llu rewards, %u rounds", view.sync,
                      (unsigned long long)view.model_count, view.round);
    else
        note_silent(hub, &view);
    note_model(hub);
}

static enum tacit_status hub_step(struct live_hub *hub, const struct live_hub_event *event,
                                  void *message, const struct tacit_entropy *entropy,
                                  struct live_hub_update *update)
{
    struct glm_hub *const own = hub->own;
    struct tacit_glm_message const *const received = message;
    struct tacit_glm_event core_event = {.now_us = event->now_us,
                                         .kind = event->kind == LIVE_HUB_START ? TACIT_EVENT_START
                                                 : received == NULL            ? TACIT_EVENT_TIMEOUT
                                                                    : TACIT_EVENT_RECEIVE,
                                         .path = tacit_linalg_fastest()};
    struct tacit_glm_update core_update;
    (void)entropy; /* it draws nothing */
    if (received != NULL)
        core_event.as.message = received;
    enum tacit_status const status = tacit_glm_hub_step(hub->state, &core_event, &core_update);
    update->persist = core_update.persist;
    update->deadline_us = core_update.deadline_us;
    if (core_update.send)
        (void)live_hub_send(hub, &core_update.message);
    note_progress(hub, core_update.happened, update);
    if (status == TACIT_OK && received != NULL && received->sync > own->seen[received->from])
        own->seen[received->from] = received->sync;
    return status;
}

static void hub_fill_view(const struct live_hub *hub, struct live_hub_view *view)
{
    struct glm_hub const *const own = hub->own;
    struct tacit_glm_hub_view const core = core_view(hub);
    uint32_t const sites = hub->config->site_count;
    uint32_t const answered = tacit_bits_count(core.answered, sites);
    uint32_t const asked = tacit_bits_count(core.participants, sites);
    *view =
        (struct live_hub_view){.judges = true,
                               .is_overdue = core.backs_off,
                               .epoch = core.sync,
                               .round_count = (uint32_t)core.update_count,
                               .pulls = core.model_count,
                               .active = own->arms,
                               .active_count = hub->config->arm_count,
                               .report_count = answered,
                               .missing_count = core.busy || core.backs_off ? asked - answered : 0,
                               .covered_count = answered,
                               .asked = core.participants,
                               .received = core.answered,
                               .seen = own->seen,
                               .model = &own->shown};
}

const struct live_hub_ops glm_hub_ops = {.wire = &tacit_wire_glm,
                                         .core = &tacit_glm_hub_live,
                                         LIVE_HUB_FUNCTIONS,
                                         .begin = note_model,
                                         .set_delivery = set_delivery};
