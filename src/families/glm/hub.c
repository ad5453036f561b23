/* The hub of a generalised linear bandit: the core behind the bytes of the bus. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../live/bus/letter.h"
#include "../../live/effects.h"
#include "live.h"

#define NOTE_BYTES 512u
#define NOTE_END_BYTES 64u /* of a note, kept for what follows names */
#define RESEND_US 2000000u

struct live_hub {
    const struct live_hub_ops *ops;
    const struct live_hub_config *config;
    struct tacit_glm_model model;
    struct tacit_glm_hub *core;
    size_t core_size;
    struct live_effects effects;
    uint32_t *seen;  /* the last update that was heard of from each site */
    uint64_t *arms;  /* all of them */
    double *inverse; /* of the model's matrix */
    struct live_model shown;
    char note[NOTE_BYTES];
};

static const char *const *features_of(const struct live_hub_config *config)
{
    struct glm_hub_settings const *const settings = config->settings;
    return settings->features;
}

/* ---- Before there is a hub ------------------------------------------------------------------- */

static const char *hub_too_large(const struct live_hub_config *config)
{
    struct tacit_glm_model const model = glm_live_model(config);
    size_t size = 0;
    if (tacit_wire_glm_bytes_max(model.dimension, model.client_count) > LIVE_LETTER_BYTES_MAX)
        return "run.features";
    free(glm_hub_ops.old_announce(config, 0, &size)); /* all of one length */
    return size > LIVE_LETTER_BYTES_MAX ? "arms" : NULL;
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

static uint8_t *hub_announce(const struct live_hub_config *config, uint32_t site, size_t *size)
{
    struct tacit_glm_model const model = glm_live_model(config);
    size_t const parameters_size = tacit_wire_glm_parameters_bytes(&model, features_of(config));
    uint8_t *const parameters = malloc(parameters_size);
    struct tacit_wire_announcement announcement = {
        .agreement = {.protocol = TACIT_WIRE_GLM_WORD,
                      .family = TACIT_WIRE_GLM_FAMILY,
                      .protocol_version = TACIT_WIRE_GLM_VERSION,
                      .agent_count = config->site_count,
                      .arm_count = config->arm_count,
                      .arms = config->arm_names,
                      .lo = config->lo,
                      .hi = config->hi,
                      .horizon = config->horizon,
                      .parameters = parameters,
                      .parameters_size = parameters_size},
        .agent = site};
    if (parameters == NULL)
        return NULL;
    live_hub_run(config, announcement.agreement.run);
    tacit_wire_glm_parameters_encode(&model, features_of(config), parameters);
    *size = tacit_wire_announcement_bytes(&announcement);
    uint8_t *bytes = malloc(*size);
    if (bytes != NULL && tacit_wire_announcement_encode(&announcement, bytes) != TACIT_OK) {
        free(bytes);
        bytes = NULL;
    }
    free(parameters);
    return bytes;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

static struct tacit_glm_hub_config core_config(const struct live_hub *hub)
{
    uint64_t const deadline_us = (uint64_t)hub->config->deadline_s * 1000000u;
    return (struct tacit_glm_hub_config){.model = hub->model,
                                         .quorum = hub->config->quorum,
                                         .resend_after_us = RESEND_US,
                                         .deadline_us = deadline_us,
                                         .backoff_us = deadline_us};
}

static void hub_free(struct live_hub *hub)
{
    if (hub == NULL)
        return;
    free(hub->core);
    free(hub->seen);
    free(hub->arms);
    free(hub->inverse);
    live_effects_free(&hub->effects);
    free(hub);
}

static enum tacit_status open_core(struct live_hub *hub, const void *bytes, size_t size)
{
    struct tacit_glm_hub_config const config = core_config(hub);
    hub->core_size = tacit_glm_hub_size(&config);
    if (hub->core_size == 0 || (size != 0 && size != hub->core_size))
        return TACIT_MALFORMED;
    hub->core = calloc(1, hub->core_size);
    hub->seen = calloc(hub->config->site_count, sizeof *hub->seen);
    hub->arms = calloc(TACIT_BITS_WORDS(hub->config->arm_count), sizeof *hub->arms);
    hub->inverse = calloc(TACIT_LINALG_MATRIX(hub->model.dimension), sizeof *hub->inverse);
    if (hub->core == NULL || hub->seen == NULL || hub->arms == NULL || hub->inverse == NULL)
        return TACIT_MEMORY;
    tacit_bits_fill(hub->arms, hub->config->arm_count);
    if (size == 0)
        return tacit_glm_hub_init(hub->core, &config);
    memcpy(hub->core, bytes, size);
    return tacit_glm_hub_check(hub->core, size, &config);
}

static struct tacit_glm_hub_view core_view(const struct live_hub *hub)
{
    struct tacit_glm_hub_view view;
    tacit_glm_hub_look(hub->core, &view);
    return view;
}

/* What may be said of the coefficients from this update on. */
static void note_model(struct live_hub *hub)
{
    struct tacit_glm_hub_view const view = core_view(hub);
    uint32_t const d = hub->model.dimension;
    double factor[TACIT_LINALG_MATRIX_MAX];
    double reciprocal[TACIT_LINALG_VECTOR_MAX];
    bool const is_positive =
        tacit_linalg_cholesky(TACIT_LINALG_PORTABLE, d, view.matrix, 0, factor, reciprocal);
    TACIT_ASSERT(is_positive);
    tacit_linalg_invert(d, factor, reciprocal, hub->inverse);
    hub->shown = (struct live_model){.number = view.sync,
                                     .observation_count = view.model_count,
                                     .dimension = d,
                                     .names = features_of(hub->config),
                                     .coefficients = view.theta,
                                     .inverse = hub->inverse,
                                     .radius = tacit_glm_radius(&hub->model, view.model_count)};
}

static enum tacit_status hub_open(struct live_hub **hub, const struct live_hub_config *config,
                                  const void *bytes, size_t size)
{
    struct live_hub *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return TACIT_MEMORY;
    made->ops = &glm_hub_ops;
    made->config = config;
    made->model = glm_live_model(config);
    (void)live_effects_init(&made->effects, 0);
    enum tacit_status const status = open_core(made, bytes, size);
    if (status != TACIT_OK) {
        hub_free(made);
        return status;
    }
    note_model(made);
    *hub = made;
    return TACIT_OK;
}

static const void *hub_bytes(const struct live_hub *hub, size_t *size)
{
    *size = hub->core_size;
    return hub->core;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void say(struct live_hub *hub, const struct tacit_glm_message *message)
{
    uint32_t const d = hub->model.dimension;
    uint32_t const sites = hub->model.client_count;
    /* The newest model is for whoever comes later, too. */
    struct live_message const made = {.to = message->to,
                                      .kind = tacit_wire_glm_kind(message->kind),
                                      .epoch = message->sync,
                                      .is_retained = message->kind == TACIT_GLM_COMMIT &&
                                                     message->to == TACIT_EVERYONE,
                                      .size = tacit_wire_glm_bytes(message, d, sites)};
    uint8_t *const bytes = live_messages_add(&hub->effects.out, &made);
    if (bytes != NULL && tacit_wire_glm_encode(message, d, sites, bytes) != TACIT_OK)
        live_messages_drop_last(&hub->effects.out);
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
        if (text->size + strlen(name) + NOTE_END_BYTES > NOTE_BYTES) {
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
    struct tacit_text text = tacit_text_init(hub->note, NOTE_BYTES);
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

static void note_progress(struct live_hub *hub, const struct tacit_glm_hub_view *before,
                          uint32_t asked_before, struct live_hub_update *update)
{
    struct tacit_glm_hub_view const after = core_view(hub);
    uint32_t const asked = tacit_bits_count(after.participants, hub->config->site_count);
    if (after.halted && !before->halted)
        (void)snprintf(hub->note, sizeof hub->note, "halted: an update did not converge");
    else if (after.sync != before->sync)
        (void)snprintf(hub->note, sizeof hub->note, "update %u: %llu rewards, %u rounds",
                       after.sync, (unsigned long long)after.model_count, after.round);
    else if (after.abandoned_count != before->abandoned_count ||
             (before->busy && after.busy && asked < asked_before))
        note_silent(hub, &after);
    else
        return;
    update->note = hub->note;
    note_model(hub);
}

static enum tacit_status step_core(struct live_hub *hub, const struct tacit_glm_event *event,
                                   struct live_hub_update *update)
{
    struct tacit_glm_update made;
    struct tacit_glm_hub_view const before = core_view(hub);
    uint32_t const asked = tacit_bits_count(before.participants, hub->config->site_count);
    enum tacit_status const status = tacit_glm_hub_step(hub->core, event, &made);
    update->persist = update->persist || made.persist;
    update->deadline_us = made.deadline_us;
    if (made.send)
        say(hub, &made.message);
    note_progress(hub, &before, asked, update);
    return status;
}

static enum tacit_status receive(struct live_hub *hub, const struct live_hub_event *event,
                                 struct live_hub_update *update)
{
    struct tacit_glm_message *message;
    enum tacit_status status =
        tacit_wire_glm_decode(event->bytes, event->size, hub->model.dimension,
                              hub->model.client_count, TACIT_HUB, &message);
    if (status != TACIT_OK)
        return status;
    struct tacit_glm_event const made = {.now_us = event->now_us,
                                         .kind = TACIT_EVENT_RECEIVE,
                                         .path = tacit_linalg_fastest(),
                                         .as.message = message};
    if (!tacit_wire_glm_is(message, event->message_kind, event->message_epoch))
        status = TACIT_MALFORMED;
    else if (message->from != event->from)
        status = TACIT_STRANGER;
    else
        status = step_core(hub, &made, update);
    if (status == TACIT_OK && message->sync > hub->seen[event->from])
        hub->seen[event->from] = message->sync;
    free(message);
    return status;
}

static enum tacit_status hub_step(struct live_hub *hub, const struct live_hub_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct live_hub_update *update)
{
    struct tacit_glm_event const made = {
        .now_us = event->now_us,
        .kind = event->kind == LIVE_HUB_START ? TACIT_EVENT_START : TACIT_EVENT_TIMEOUT,
        .path = tacit_linalg_fastest()};
    (void)entropy; /* it draws nothing */
    live_effects_begin_hub(&hub->effects, update);
    enum tacit_status const status = event->kind == LIVE_HUB_RECEIVE
                                         ? receive(hub, event, update)
                                         : step_core(hub, &made, update);
    live_effects_end_hub(&hub->effects, update);
    return status;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static void hub_look(const struct live_hub *hub, struct live_hub_view *view)
{
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
                               .active = hub->arms,
                               .active_count = hub->config->arm_count,
                               .report_count = answered,
                               .missing_count = core.busy || core.backs_off ? asked - answered : 0,
                               .covered_count = answered,
                               .asked = core.participants,
                               .received = core.answered,
                               .seen = hub->seen,
                               .model = &hub->shown};
}

const struct live_hub_ops glm_hub_ops = {.word = TACIT_WIRE_GLM_WORD,
                                         .family = TACIT_WIRE_GLM_FAMILY,
                                         .too_large = hub_too_large,
                                         .describe = hub_describe,
                                         .old_announce = hub_announce,
                                         .old_open = hub_open,
                                         .free = hub_free,
                                         .old_bytes = hub_bytes,
                                         .old_step = hub_step,
                                         .look = hub_look};
