/* The hub of a training federation behind the bytes of the bus. */
#include "../../live/bus/letter.h"
#include "../../live/effects.h"
#include "live.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_BYTES 160u

struct live_hub {
    const struct live_hub_ops *ops;
    const struct live_hub_config *config;
    struct tacit_select_hub *core;
    size_t size;
    struct live_effects effects;
    struct live_file model;
    uint32_t noted_round;
    char note[NOTE_BYTES];
};

static const struct select_hub_settings *settings_of(const struct live_hub_config *config)
{
    TACIT_ASSERT(config->settings != NULL);
    return config->settings;
}

/* ---- The run --------------------------------------------------------------------------------- */

static struct tacit_wire_select_run run_of(const struct live_hub_config *config, uint32_t site)
{
    struct select_hub_settings const *const settings = settings_of(config);
    return (struct tacit_wire_select_run){.run_id = config->run_id,
                                          .agent = site,
                                          .agent_count = config->site_count,
                                          .round_count = settings->core.round_count,
                                          .epsilon_nano =
                                              (uint64_t)floor(config->epsilon * (double)TACIT_NANO),
                                          .dimension = settings->core.dimension,
                                          .batches = settings->batches,
                                          .deadline_s = config->deadline_s,
                                          .clip = settings->core.clip};
}

static struct tacit_wire_agreement
agreement_of(const struct live_hub_config *config,
             uint8_t parameters[TACIT_WIRE_SELECT_PARAMETERS_BYTES])
{
    struct tacit_wire_select_run const run = run_of(config, 0);
    struct tacit_wire_agreement agreement = {.protocol = TACIT_WIRE_SELECT_WORD,
                                             .family = TACIT_WIRE_SELECT_FAMILY,
                                             .protocol_version = TACIT_WIRE_SELECT_VERSION,
                                             .agent_count = config->site_count,
                                             .arm_count = config->arm_count,
                                             .arms = config->arm_names,
                                             .lo = config->lo,
                                             .hi = config->hi,
                                             .horizon = config->horizon,
                                             .epsilon_nano = run.epsilon_nano,
                                             .parameters = parameters,
                                             .parameters_size = TACIT_WIRE_SELECT_PARAMETERS_BYTES};
    live_hub_run(config, agreement.run);
    tacit_wire_select_parameters_encode(&run, parameters);
    return agreement;
}

static uint8_t *hub_announce(const struct live_hub_config *config, uint32_t site, size_t *size)
{
    static const uint8_t nothing;
    uint8_t parameters[TACIT_WIRE_SELECT_PARAMETERS_BYTES];
    struct tacit_wire_announcement const announcement = {
        .agreement = agreement_of(config, parameters), .agent = site, .place = &nothing};
    *size = tacit_wire_announcement_bytes(&announcement);
    uint8_t *const bytes = malloc(*size);
    if (bytes != NULL && tacit_wire_announcement_encode(&announcement, bytes) == TACIT_OK)
        return bytes;
    free(bytes);
    return NULL;
}

static const char *hub_too_large(const struct live_hub_config *config)
{
    uint32_t const dimension = settings_of(config)->core.dimension;
    struct tacit_select_message const order = {
        .kind = TACIT_SELECT_ORDER,
        .digest_count = tacit_select_piece_count(dimension, TACIT_SELECT_MODEL)};
    size_t size;
    uint8_t *const announcement = hub_announce(config, 0, &size);
    bool const is_large = announcement != NULL && size > LIVE_LETTER_BYTES_MAX;
    free(announcement);
    return is_large || tacit_wire_select_bytes(&order, config->site_count) > LIVE_LETTER_BYTES_MAX
               ? "sites"
               : NULL;
}

static void hub_describe(const struct live_hub_config *config, FILE *out)
{
    struct select_hub_settings const *const settings = settings_of(config);
    struct tacit_select_config const *const select = &settings->core.select;
    (void)fprintf(out,
                  "run.parameters %u\nrun.clip %.17g\nrun.batches %u\nrun.selector "
                  "%d\nrun.users_per_round %u\n",
                  settings->core.dimension, settings->core.clip, settings->batches,
                  (int)settings->core.selector, select->users_per_round);
    (void)fprintf(out,
                  "run.alpha %.17g\nrun.beta %.17g\nrun.gamma %.17g\nrun.zeta %.17g\nrun.eta "
                  "%.17g\nrun.latency_min_ms %.17g\n",
                  select->alpha, select->beta, select->gamma, select->zeta, select->budget.eta,
                  select->latency_min);
    for (uint32_t site = 0; settings->sizes != NULL && site < config->site_count; site++)
        (void)fprintf(out, "run.sizes %llu\n", (unsigned long long)settings->sizes[site]);
    for (uint32_t i = 0; settings->initial != NULL && i < settings->core.dimension; i++)
        (void)fprintf(out, "run.initial %a\n", (double)settings->initial[i]);
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

static void hub_free(struct live_hub *hub)
{
    if (hub == NULL)
        return;
    free(hub->core);
    live_effects_free(&hub->effects);
    free(hub);
}

static enum tacit_status open_core(struct live_hub *hub, const void *bytes, size_t size)
{
    struct select_hub_settings const *const settings = settings_of(hub->config);
    struct tacit_select_hub_config core = settings->core;
    uint8_t parameters[TACIT_WIRE_SELECT_PARAMETERS_BYTES];
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    struct tacit_wire_agreement const agreement = agreement_of(hub->config, parameters);
    enum tacit_status const status = tacit_wire_agreement_digest(&agreement, digest);
    if (status != TACIT_OK)
        return status;
    select_domain(hub->config->federation, digest, core.domain);
    hub->size = tacit_select_hub_size(&core);
    if (hub->size == 0 || (size != 0 && size != hub->size))
        return TACIT_MALFORMED;
    hub->core = calloc(1, hub->size);
    if (hub->core == NULL)
        return TACIT_MEMORY;
    if (size == 0)
        return tacit_select_hub_init(hub->core, &core, settings->sizes, settings->initial);
    memcpy(hub->core, bytes, size);
    return tacit_select_hub_check(hub->core, size, &core);
}

static enum tacit_status hub_open(struct live_hub **hub, const struct live_hub_config *config,
                                  const void *bytes, size_t size)
{
    struct live_hub *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return TACIT_MEMORY;
    made->ops = &select_hub_ops;
    made->config = config;
    (void)live_effects_init(&made->effects, 0);
    enum tacit_status const status = open_core(made, bytes, size);
    if (status != TACIT_OK) {
        hub_free(made);
        return status;
    }
    *hub = made;
    return TACIT_OK;
}

static const void *hub_bytes(const struct live_hub *hub, size_t *size)
{
    *size = hub->size;
    return hub->core;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void send(struct live_hub *hub, const struct tacit_select_message *message)
{
    uint32_t const sites = hub->config->site_count;
    struct live_message const made = {.to = message->to,
                                      .kind = (uint32_t)message->kind,
                                      .epoch = message->round,
                                      .is_retained = message->to == TACIT_EVERYONE,
                                      .size = tacit_wire_select_bytes(message, sites)};
    uint8_t *const bytes = live_messages_add(&hub->effects.out, &made);
    if (bytes != NULL && tacit_wire_select_encode(message, sites, bytes) != TACIT_OK)
        live_messages_drop_last(&hub->effects.out);
}

static void note_round(struct live_hub *hub, struct live_hub_update *update)
{
    struct tacit_select_hub_view view;
    tacit_select_hub_look(hub->core, &view);
    if (view.round == hub->noted_round || view.round == 0)
        return;
    hub->noted_round = view.round;
    if (view.is_finished)
        (void)snprintf(hub->note, sizeof hub->note, "the run is over after %u rounds%s",
                       view.round_count, view.is_exhausted ? ": no site has budget left" : "");
    else
        (void)snprintf(hub->note, sizeof hub->note, "round %u: %u sites train", view.round,
                       view.asked_count);
    update->note = hub->note;
}

static enum tacit_status step_core(struct live_hub *hub, const struct tacit_select_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct live_hub_update *update)
{
    struct tacit_select_update made;
    enum tacit_status const status = tacit_select_hub_step(hub->core, event, entropy, &made);
    update->persist = made.persist;
    update->deadline_us = made.deadline_us;
    for (uint32_t i = 0; i < made.message_count; i++)
        send(hub, &made.messages[i]);
    if (made.has_model) {
        struct tacit_select_hub_view view;
        tacit_select_hub_look(hub->core, &view);
        hub->model = (struct live_file){"model.f32", view.model,
                                        settings_of(hub->config)->core.dimension * sizeof(float)};
        update->file = &hub->model;
    }
    note_round(hub, update);
    return status;
}

static enum tacit_status receive(struct live_hub *hub, const struct live_hub_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct live_hub_update *update)
{
    struct tacit_select_message *message;
    enum tacit_status status = tacit_wire_select_decode(
        event->bytes, event->size, hub->config->site_count, TACIT_HUB, &message);
    if (status != TACIT_OK)
        return status;
    struct tacit_select_event const made = {
        .kind = TACIT_SELECT_RECEIVE, .now_us = event->now_us, .message = message};
    if (!tacit_wire_select_is(message, event->message_kind, event->message_epoch))
        status = TACIT_MALFORMED;
    else if (message->from != event->from)
        status = TACIT_STRANGER;
    else
        status = step_core(hub, &made, entropy, update);
    free(message);
    return status;
}

static enum tacit_status hub_step(struct live_hub *hub, const struct live_hub_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct live_hub_update *update)
{
    struct tacit_select_event const made = {
        .now_us = event->now_us,
        .kind = event->kind == LIVE_HUB_START ? TACIT_SELECT_START : TACIT_SELECT_TIMEOUT};
    TACIT_ASSERT(entropy != NULL);
    live_effects_begin_hub(&hub->effects, update);
    enum tacit_status const status = event->kind == LIVE_HUB_RECEIVE
                                         ? receive(hub, event, entropy, update)
                                         : step_core(hub, &made, entropy, update);
    live_effects_end_hub(&hub->effects, update);
    return status;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static void hub_look(const struct live_hub *hub, struct live_hub_view *view)
{
    struct tacit_select_hub_view core;
    tacit_select_hub_look(hub->core, &core);
    *view = (struct live_hub_view){.judges = true,
                                   .is_finished = core.is_finished,
                                   .is_overdue = !core.is_open && !core.is_finished,
                                   .epoch = core.round,
                                   .round_count = core.round_count,
                                   .active_count = hub->config->arm_count,
                                   .report_count = core.received_count,
                                   .missing_count = core.asked_count - core.received_count,
                                   .covered_count = core.received_count,
                                   .asked = core.asked,
                                   .received = core.received,
                                   .seen = core.seen,
                                   .flagged = core.flagged,
                                   .ahead = core.ahead};
}

const struct live_hub_ops select_hub_ops = {.word = TACIT_WIRE_SELECT_WORD,
                                            .one_run = SELECT_ONE_RUN,
                                            .family = TACIT_WIRE_SELECT_FAMILY,
                                            .too_large = hub_too_large,
                                            .describe = hub_describe,
                                            .old_announce = hub_announce,
                                            .old_open = hub_open,
                                            .free = hub_free,
                                            .old_bytes = hub_bytes,
                                            .old_step = hub_step,
                                            .look = hub_look};
