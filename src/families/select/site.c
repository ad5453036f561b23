/* A site of a training federation: the core behind the bytes of the bus. */
#include "../../live/block.h"
#include "../../live/bus/letter.h"
#include "../../live/effects.h"
#include "live.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_BYTES 8192u

struct live_site {
    const struct live_site_ops *ops;
    struct tacit_wire_announcement *announcement;
    struct tacit_wire_select_run run;
    const struct select_site_settings *settings;
    struct live_block block;
    struct live_effects effects;
    struct live_file files[2];
    struct live_file model;
    char json[JSON_BYTES];
};

static struct tacit_select_site *state_of(const struct live_site *site)
{
    return live_block_state(&site->block);
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

void select_domain(const char *federation, const uint8_t agreement[TACIT_WIRE_DIGEST_BYTES],
                   uint8_t domain[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    size_t const length = strlen(federation);
    uint8_t bytes[8];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)((uint64_t)length >> (8 * i));
    tacit_sha256_update(&sha, bytes, sizeof bytes);
    tacit_sha256_update(&sha, federation, length);
    tacit_sha256_update(&sha, agreement, TACIT_WIRE_DIGEST_BYTES);
    tacit_sha256_final(&sha, domain);
}

static void site_free(struct live_site *site)
{
    if (site == NULL)
        return;
    live_effects_free(&site->effects);
    free(site->announcement);
    live_block_free(&site->block);
    free(site);
}

static enum tacit_status core_config(const struct live_site *site,
                                     const struct live_site_config *config,
                                     struct tacit_select_site_config *made)
{
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    enum tacit_status const status =
        tacit_wire_agreement_digest(&site->announcement->agreement, digest);
    *made = (struct tacit_select_site_config){.run_id = site->run.run_id,
                                              .agent = site->run.agent,
                                              .agent_count = site->run.agent_count,
                                              .dimension = site->run.dimension,
                                              .round_count = site->run.round_count,
                                              .clip = site->run.clip,
                                              .budget = {.kind = TACIT_SELECT_GEOMETRIC,
                                                         .is_exact = true,
                                                         .total = config->budget,
                                                         .eta = site->settings->eta},
                                              .resend_after_us = config->resend_after_us};
    if (status == TACIT_OK)
        select_domain(config->federation, digest, made->domain);
    return status;
}

/* Around an announcement, with a state of zeros. */
static enum tacit_status site_new(struct live_site **site, const struct live_site_config *config,
                                  const uint8_t *bytes, size_t size,
                                  struct tacit_select_site_config *core)
{
    struct live_site *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return TACIT_MEMORY;
    made->ops = &select_site_ops;
    made->settings = config->settings;
    (void)live_effects_init(&made->effects, 0);
    enum tacit_status status = tacit_wire_announcement_decode(bytes, size, &made->announcement);
    if (status == TACIT_OK)
        status = tacit_wire_select_run_decode(made->announcement, &made->run);
    if (status == TACIT_OK)
        status = core_config(made, config, core);
    if (status == TACIT_OK)
        status = live_block_new(&made->block, bytes, size, NULL, tacit_select_site_size(core));
    if (status != TACIT_OK) {
        site_free(made);
        return status;
    }
    *site = made;
    return TACIT_OK;
}

/* What the run wants against this site's own file. NULL: allowed. */
static const char *objection_to(const struct tacit_wire_select_run *run,
                                const struct live_site_config *config)
{
    struct select_site_settings const *const settings = config->settings;
    if (run->dimension != settings->dimension)
        return "the run's model has another number of parameters than policy.parameters";
    if (run->round_count > config->rounds_max)
        return "the run has more rounds than policy.rounds_max";
    if ((double)run->epsilon_nano > config->budget * (double)TACIT_NANO * (1 + 1e-12))
        return "the run reckons with a larger budget than policy.budget";
    return NULL;
}

static enum tacit_status decode_run(const uint8_t *announcement, size_t size,
                                    struct tacit_wire_select_run *run)
{
    struct tacit_wire_announcement *decoded;
    enum tacit_status status = tacit_wire_announcement_decode(announcement, size, &decoded);
    if (status != TACIT_OK)
        return status;
    status = tacit_wire_select_run_decode(decoded, run);
    free(decoded);
    return status;
}

static enum tacit_status site_join(struct live_site **site, const struct live_site_config *config,
                                   const uint8_t *announcement, size_t size, const char **objection)
{
    struct tacit_wire_select_run run;
    struct tacit_select_site_config core;
    struct live_site *made = NULL;
    enum tacit_status status = decode_run(announcement, size, &run);
    if (status != TACIT_OK)
        return status;
    *objection = objection_to(&run, config); /* before memory is taken */
    if (*objection != NULL)
        return TACIT_REFUSED;
    status = site_new(&made, config, announcement, size, &core);
    if (status != TACIT_OK)
        return status;
    status = tacit_select_site_init(state_of(made), &core);
    TACIT_ASSERT(status == TACIT_OK);
    *site = made;
    return TACIT_OK;
}

static enum tacit_status site_restore(struct live_site **site,
                                      const struct live_site_config *config, const void *bytes,
                                      size_t size)
{
    struct tacit_select_site_config core;
    struct live_site *made = NULL;
    const uint8_t *announcement;
    size_t announcement_size;
    enum tacit_status status = live_block_read(bytes, size, &announcement, &announcement_size);
    if (status == TACIT_OK)
        status = site_new(&made, config, announcement, announcement_size, &core);
    if (status != TACIT_OK)
        return status;
    status = live_block_take(&made->block, bytes, size);
    if (status == TACIT_OK)
        status =
            tacit_select_site_check(state_of(made), live_block_state_size(&made->block), &core);
    if (status == TACIT_OK && objection_to(&made->run, config) != NULL)
        status = TACIT_MALFORMED;
    if (status == TACIT_OK)
        *site = made;
    else
        site_free(made);
    return status;
}

static const void *site_bytes(const struct live_site *site, size_t *size)
{
    *size = site->block.size;
    return site->block.bytes;
}

static bool site_is_of(const struct live_site *site, const uint8_t *announcement, size_t size)
{
    return live_block_is_of(&site->block, announcement, size);
}

static const struct tacit_wire_agreement *site_agreement(const struct live_site *site)
{
    return &site->announcement->agreement;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Outbox = ledger: the bytes that open the release are kept as they go out; they name each piece of
 * it by its digest, and the pieces are in the state. */
static void keep_release(struct live_site *site, struct live_site_update *update)
{
    struct tacit_select_message const message = tacit_select_site_release(state_of(site));
    size_t const size = tacit_wire_select_bytes(&message, site->run.agent_count);
    struct live_site_release const release = {.number = message.round,
                                              .epsilon_nano = message.price_nano,
                                              .size = size,
                                              .numbers = site->run.dimension};
    uint8_t *const bytes = live_effects_release(&site->effects, update, &release);
    if (bytes != NULL &&
        tacit_wire_select_encode(&message, site->run.agent_count, bytes) != TACIT_OK)
        live_effects_drop_release(&site->effects, update);
}

static void send(struct live_site *site, const struct tacit_select_message *message,
                 struct live_site_update *update)
{
    struct live_message const made = {.to = message->to,
                                      .kind = (uint32_t)message->kind,
                                      .epoch = message->round,
                                      .size =
                                          tacit_wire_select_bytes(message, site->run.agent_count)};
    if (message->kind == TACIT_SELECT_UPDATE)
        keep_release(site, update);
    uint8_t *const bytes = live_messages_add(&site->effects.out, &made);
    if (bytes != NULL &&
        tacit_wire_select_encode(message, site->run.agent_count, bytes) != TACIT_OK)
        live_messages_drop_last(&site->effects.out);
}

/* SELECT.md 1: all that the command is told. */
static void set_task(struct live_site *site, uint64_t now_us, struct live_site_update *update)
{
    struct tacit_select_site_view view;
    tacit_select_site_look(state_of(site), &view);
    int const written =
        snprintf(site->json, sizeof site->json,
                 "{\"round\": %u, \"parameters\": %u, \"layers\": [%s], \"batches\": %u, "
                 "\"deadline_s\": %u}\n",
                 view.round, site->run.dimension,
                 site->settings->layers == NULL ? "" : site->settings->layers, site->run.batches,
                 site->run.deadline_s);
    TACIT_ASSERT(written > 0 && (size_t)written < sizeof site->json);
    site->files[0] = (struct live_file){"round.json", site->json, (size_t)written};
    site->files[1] =
        (struct live_file){"model.f32", view.model, site->run.dimension * sizeof(float)};
    update->has_task = true;
    update->task =
        (struct live_task){.number = view.round,
                           .files = site->files,
                           .file_count = 2,
                           .result = "update.f32",
                           .result_size = site->run.dimension * sizeof(float),
                           .deadline_us = now_us + (uint64_t)site->run.deadline_s * 1000000u};
}

static void set_model(struct live_site *site, struct live_site_update *update)
{
    struct tacit_select_site_view view;
    tacit_select_site_look(state_of(site), &view);
    site->model = (struct live_file){"model.f32", view.model, site->run.dimension * sizeof(float)};
    update->file = &site->model;
}

static enum tacit_status step_core(struct live_site *site, const struct tacit_select_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    struct tacit_select_update made;
    enum tacit_status const status = tacit_select_site_step(state_of(site), event, entropy, &made);
    update->persist = made.persist;
    if (made.drawn)
        keep_release(site, update);
    update->acknowledged = made.settled;
    for (uint32_t i = 0; i < made.message_count; i++)
        send(site, &made.messages[i], update);
    if (made.stop)
        update->has_task = true; /* number 0: void */
    if (made.train)
        set_task(site, event->now_us, update);
    if (made.has_model)
        set_model(site, update);
    site->effects.deadline_us = made.deadline_us;
    return status;
}

static enum tacit_status receive(struct live_site *site, const struct live_site_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct live_site_update *update)
{
    struct tacit_select_message *message;
    uint32_t const to = event->as.message.is_broadcast ? TACIT_EVERYONE : site->run.agent;
    enum tacit_status status = tacit_wire_select_decode(
        event->as.message.bytes, event->as.message.size, site->run.agent_count, to, &message);
    if (status != TACIT_OK)
        return status;
    struct tacit_select_event const made = {.kind = TACIT_SELECT_RECEIVE,
                                            .now_us = event->now_us,
                                            .keys = event->keys,
                                            .message = message};
    if (!tacit_wire_select_is(message, event->as.message.kind, event->as.message.epoch))
        status = TACIT_MALFORMED;
    else if (message->from != event->as.message.from)
        status = TACIT_STRANGER;
    else
        status = step_core(site, &made, entropy, update);
    free(message);
    return status;
}

/* The command's numbers, as they are: what is not finite shows as an update of zeros only. */
static enum tacit_status take_task(struct live_site *site, const struct live_site_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    uint32_t const numbers = site->run.dimension;
    double *difference = NULL;
    if (event->as.task.is_done) {
        TACIT_ASSERT(event->as.task.size == numbers * sizeof(float));
        difference = malloc(numbers * sizeof *difference);
        if (difference == NULL)
            return TACIT_MEMORY;
    }
    for (uint32_t i = 0; difference != NULL && i < numbers; i++) {
        float value;
        memcpy(&value, event->as.task.bytes + i * sizeof value, sizeof value);
        difference[i] = (double)value;
    }
    struct tacit_select_event const made = {.kind = TACIT_SELECT_TRAINED,
                                            .now_us = event->now_us,
                                            .keys = event->keys,
                                            .round = (uint32_t)event->as.task.number,
                                            .difference = difference};
    enum tacit_status const status = step_core(site, &made, entropy, update);
    free(difference);
    return status;
}

static enum tacit_status dispatch(struct live_site *site, const struct live_site_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct live_site_update *update)
{
    struct tacit_select_event made = {.now_us = event->now_us, .keys = event->keys};
    switch (event->kind) {
    case LIVE_SITE_START:
        made.kind = TACIT_SELECT_START;
        return step_core(site, &made, entropy, update);
    case LIVE_SITE_CONNECTED:
        made.kind = TACIT_SELECT_AGAIN;
        return step_core(site, &made, entropy, update);
    case LIVE_SITE_TIMEOUT:
        made.kind = TACIT_SELECT_TIMEOUT;
        return step_core(site, &made, entropy, update);
    case LIVE_SITE_RECEIVE:
        return receive(site, event, entropy, update);
    case LIVE_SITE_TASK:
        return take_task(site, event, entropy, update);
    case LIVE_SITE_REWARD:
    case LIVE_SITE_EXPLOITED:
        return TACIT_OK;   /* nothing here learns from decisions */
    case LIVE_SITE_REFUSE: /* there are no arms */
    case LIVE_SITE_OFFER:
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
    enum tacit_status const status = dispatch(site, event, entropy, update);
    live_effects_end(&site->effects, update);
    return status;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static void site_place(const struct live_site *site, struct live_site_place *place)
{
    *place = (struct live_site_place){.run_id = site->run.run_id,
                                      .agent = site->run.agent,
                                      .agent_count = site->run.agent_count,
                                      .horizon = site->run.round_count};
}

static void site_look(const struct live_site *site, struct live_site_view *view)
{
    struct tacit_select_site_view core;
    tacit_select_site_look(state_of(site), &core);
    bool const is_over = core.phase == TACIT_SELECT_FINISHED;
    *view =
        (struct live_site_view){.epoch = core.round,
                                .is_waiting = true,
                                .no_estimates = "a model is trained here: the arms are sites, and "
                                                "have no means",
                                .is_finished = is_over,
                                .is_halted = core.is_exhausted && !is_over,
                                .active_count = site->announcement->agreement.arm_count,
                                .is_committed = core.phase == TACIT_SELECT_COMMITTED,
                                .is_blocked = core.is_blocked,
                                .forgetful = core.is_forgotten ? TACIT_WIRE_COORDINATOR : NULL,
                                .draw_number = core.draw_round,
                                .release_number = core.release_round,
                                .spent_nano = core.spent_nano};
    if (core.is_forgotten)
        view->trouble = LIVE_SITE_FORGOTTEN;
    else if (core.is_blocked)
        view->trouble = "blocked: the coordinator has granted another update of this site instead; "
                        "either this state is a copy or an old one, and nothing is released from "
                        "it, or the coordinator does not say what is true";
    else if (view->is_halted)
        view->trouble = "halted: policy.budget has no room for another update";
}

/* Decisions mean nothing here; the arms are the sites, in their order. */
static uint32_t site_rank(const struct live_site *site, const struct live_site_config *config,
                          uint32_t *arms)
{
    (void)site;
    for (uint32_t arm = 0; arm < config->arm_count; arm++)
        arms[arm] = arm;
    return config->arm_count;
}

static void site_promise(const struct live_site *site, const struct live_site_config *config,
                         struct tacit_promise *promise)
{
    (void)site;
    promise->mechanism =
        (struct tacit_promise_mechanism){.noise = TACIT_NOISE_LAPLACE,
                                         .of = TACIT_PROTECTED_DATA_SET,
                                         .leaving = TACIT_LEAVING_UPDATES,
                                         .epsilon_nano = tacit_nano_up(config->budget)};
}

static const struct live_command_config *site_command(const struct live_site_config *config)
{
    struct select_site_settings const *const settings = config->settings;
    TACIT_ASSERT(settings != NULL);
    return &settings->command;
}

const struct live_site_ops select_site_ops = {.word = TACIT_WIRE_SELECT_WORD,
                                              .one_run = SELECT_ONE_RUN,
                                              .family = TACIT_WIRE_SELECT_FAMILY,
                                              .version = TACIT_WIRE_SELECT_VERSION,
                                              .epsilon_of = "update",
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
                                              .command = site_command,
                                              .promise = site_promise};
