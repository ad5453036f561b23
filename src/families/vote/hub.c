/* The coordinator of votes: the hub core behind the bytes of the bus. Decodes, steps, encodes. */
#include "../../live/hub.h"
#include "../../live/bus/letter.h"
#include "../../live/effects.h"
#include "live.h"
#include "live_keys.h"
#include "tacit/privacy.h"
#include <stdlib.h>
#include <string.h>

#define NOTE_BYTES 128u

struct live_hub {
    const struct live_hub_config *config;
    struct tacit_wire_vote_run run;
    struct tacit_vote_hub *core;
    size_t core_size;
    uint64_t *asked; /* A: whose votes count */
    struct live_effects effects;
    char note[NOTE_BYTES];
};

/* What all sites are expected to noise with, at most. */
static uint64_t epsilon_nano(const struct live_hub_config *config)
{
    struct tacit_mechanism_config const wanted = {TACIT_PRIVACY_SOUND, config->epsilon, 0, 1};
    struct tacit_mechanism made;
    TACIT_ASSERT(tacit_mechanism_init(&made, &wanted) == TACIT_OK); /* checked with the file */
    return tacit_mechanism_cost_nano(&made);
}

/* ---- Before there is a hub ------------------------------------------------------------------- */

static void hub_describe(const struct live_hub_config *config, FILE *out)
{
    struct tacit_wire_vote_run const run = vote_hub_run(config, 0);
    (void)fprintf(out,
                  "run.accuracy %.17g\nrun.eta %.17g\nrun.votes %u\ncommittee "
                  "%u\nrun.reset_after_s %u\nrun.tick_ms %u\n",
                  run.accuracy, run.eta, run.votes_needed, run.committee, run.reset_after_s,
                  run.tick_ms);
}

static uint8_t *hub_announce(const struct live_hub_config *config, uint32_t site, size_t *size)
{
    struct tacit_wire_vote_run const run = vote_hub_run(config, site);
    uint8_t parameters[TACIT_WIRE_VOTE_PARAMETERS_BYTES];
    struct tacit_wire_announcement announcement = {
        .agreement = {.protocol = TACIT_WIRE_VOTE_WORD,
                      .family = TACIT_WIRE_VOTE_FAMILY,
                      .protocol_version = TACIT_WIRE_VOTE_VERSION,
                      .agent_count = config->site_count,
                      .arm_count = config->arm_count,
                      .arms = config->arm_names,
                      .lo = config->lo,
                      .hi = config->hi,
                      .horizon = config->horizon,
                      .epsilon_nano = epsilon_nano(config),
                      .parameters = parameters,
                      .parameters_size = sizeof parameters},
        .agent = site};
    TACIT_ASSERT(site < config->site_count);
    live_hub_run(config, announcement.agreement.run);
    tacit_wire_vote_parameters_encode(&run, parameters);
    *size = tacit_wire_announcement_bytes(&announcement);
    uint8_t *const bytes = malloc(*size);
    if (bytes == NULL || tacit_wire_announcement_encode(&announcement, bytes) == TACIT_OK)
        return bytes;
    free(bytes);
    return NULL;
}

static const char *hub_too_large(const struct live_hub_config *config)
{
    size_t size;
    uint8_t *const bytes = hub_announce(config, 0, &size);
    bool const is_large = bytes != NULL && size > LIVE_LETTER_BYTES_MAX;
    free(bytes);
    return is_large ||
                   tacit_wire_vote_bytes(TACIT_VOTE_CAST, config->arm_count) > LIVE_LETTER_BYTES_MAX
               ? "arms"
               : NULL;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

static void hub_free(struct live_hub *hub)
{
    if (hub == NULL)
        return;
    free(hub->core);
    free(hub->asked);
    live_effects_free(&hub->effects);
    free(hub);
}

static enum tacit_status open_core(struct live_hub *hub, const void *bytes, size_t size)
{
    struct tacit_vote_hub_config const config = {
        .board = {.run_id = hub->run.run_id,
                  .player_count = hub->run.agent_count,
                  .arm_count = hub->run.arm_count,
                  .votes_needed = hub->run.votes_needed,
                  .committee = hub->run.committee > 0 ? hub->asked : NULL},
        .reset_after_s = hub->run.reset_after_s};
    hub->core_size = tacit_vote_hub_size(&config);
    if (hub->core_size == 0 || (size != 0 && size != hub->core_size))
        return TACIT_MALFORMED;
    hub->core = calloc(1, hub->core_size);
    if (hub->core == NULL)
        return TACIT_MEMORY;
    if (size == 0)
        return tacit_vote_hub_init(hub->core, &config);
    memcpy(hub->core, bytes, size);
    return tacit_vote_hub_check(hub->core, size, &config);
}

static enum tacit_status hub_open(struct live_hub **hub, const struct live_hub_config *config,
                                  const void *bytes, size_t size)
{
    struct live_hub *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return TACIT_MEMORY;
    made->config = config;
    made->run = vote_hub_run(config, 0);
    (void)live_effects_init(&made->effects, 0);
    made->asked = calloc(TACIT_BITS_WORDS(config->site_count), sizeof *made->asked);
    enum tacit_status status = made->asked == NULL ? TACIT_MEMORY : TACIT_OK;
    if (status == TACIT_OK) {
        tacit_bits_fill(made->asked,
                        made->run.committee > 0 ? made->run.committee : config->site_count);
        status = open_core(made, bytes, size);
    }
    if (status != TACIT_OK) {
        hub_free(made);
        return status;
    }
    *hub = made;
    return TACIT_OK;
}

static const void *hub_bytes(const struct live_hub *hub, size_t *size)
{
    *size = hub->core_size;
    return hub->core;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void say(struct live_hub *hub, const struct tacit_vote_letter *letter)
{
    uint32_t const arms = hub->config->arm_count;
    bool const is_row = letter->kind == TACIT_VOTE_ROW;
    struct live_message const made = {.to = letter->to,
                                      .kind = tacit_wire_vote_kind(letter->kind),
                                      .epoch = letter->cell,
                                      .is_retained = letter->to == TACIT_EVERYONE,
                                      .is_about_one = is_row,
                                      .about = is_row ? letter->player : 0,
                                      .size = tacit_wire_vote_bytes(letter->kind, arms)};
    uint8_t *const bytes = live_messages_add(&hub->effects.out, &made);
    if (bytes != NULL && tacit_wire_vote_encode(letter, arms, bytes) != TACIT_OK)
        live_messages_drop_last(&hub->effects.out);
}

/* The broker is not trusted to keep anything. */
static void say_all(struct live_hub *hub)
{
    struct tacit_vote_letter letter;
    if (tacit_vote_hub_anew(hub->core, &letter))
        say(hub, &letter);
    for (uint32_t site = 0; site < hub->config->site_count; site++)
        if (tacit_vote_hub_row(hub->core, site, &letter))
            say(hub, &letter);
}

static void note(struct live_hub *hub, const struct tacit_vote_hub_update *made,
                 struct live_hub_update *update)
{
    struct tacit_vote_hub_view view;
    tacit_vote_hub_look(hub->core, &view);
    bool const is_reset = made->send && made->letter.kind == TACIT_VOTE_ANEW;
    if (is_reset)
        (void)snprintf(hub->note, sizeof hub->note, "reset %llu: all arms are in again",
                       (unsigned long long)view.board.reset);
    else if (made->arms_out > 0)
        (void)snprintf(hub->note, sizeof hub->note, "%u arms are voted out; %u are in",
                       made->arms_out, view.board.voted_count);
    if (is_reset || made->arms_out > 0)
        update->note = hub->note;
}

static enum tacit_status step_core(struct live_hub *hub, const struct tacit_vote_hub_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct live_hub_update *update)
{
    struct tacit_vote_hub_update made;
    enum tacit_status const status = tacit_vote_hub_step(hub->core, event, entropy, &made);
    update->persist = made.persist;
    update->deadline_us = made.deadline_us;
    note(hub, &made, update);
    if (made.send)
        say(hub, &made.letter);
    return status;
}

static enum tacit_status receive(struct live_hub *hub, const struct live_hub_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct live_hub_update *update)
{
    struct tacit_vote_letter *letter;
    enum tacit_status status =
        tacit_wire_vote_decode(event->bytes, event->size, hub->config->arm_count,
                               hub->config->site_count, TACIT_HUB, &letter);
    if (status != TACIT_OK)
        return status;
    struct tacit_vote_hub_event const made = {
        .now_us = event->now_us, .kind = TACIT_VOTE_HUB_RECEIVE, .letter = letter};
    if (!tacit_wire_vote_is(letter, event->message_kind, event->message_epoch))
        status = TACIT_MALFORMED;
    else if (letter->from != event->from)
        status = TACIT_STRANGER;
    else
        status = step_core(hub, &made, entropy, update);
    free(letter);
    return status;
}

static enum tacit_status hub_step(struct live_hub *hub, const struct live_hub_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct live_hub_update *update)
{
    struct tacit_vote_hub_event const made = {
        .now_us = event->now_us,
        .kind = event->kind == LIVE_HUB_START ? TACIT_VOTE_HUB_START : TACIT_VOTE_HUB_TIMEOUT};
    enum tacit_status status;
    TACIT_ASSERT(entropy != NULL);
    live_effects_begin_hub(&hub->effects, update);
    if (event->kind == LIVE_HUB_RECEIVE)
        status = receive(hub, event, entropy, update);
    else
        status = step_core(hub, &made, entropy, update);
    if (event->kind == LIVE_HUB_START)
        say_all(hub);
    live_effects_end_hub(&hub->effects, update);
    return status;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static void hub_look(const struct live_hub *hub, struct live_hub_view *view)
{
    struct tacit_vote_hub_view core;
    tacit_vote_hub_look(hub->core, &core);
    uint32_t const asked = tacit_bits_count(hub->asked, hub->config->site_count);
    *view = (struct live_hub_view){.judges = true,
                                   .is_finished = core.is_decided,
                                   .epoch = (uint32_t)core.board.reset + 1,
                                   .active = core.board.voted,
                                   .active_count = core.board.voted_count,
                                   .report_count = core.voter_count,
                                   .missing_count = asked - core.voter_count,
                                   .covered_count = core.voter_count,
                                   .asked = hub->asked,
                                   .received = core.voters,
                                   .seen = core.cells,
                                   .votes = core.board.counts,
                                   .votes_needed = hub->run.votes_needed,
                                   .flagged = core.flagged};
}

const struct live_hub_ops vote_hub_ops = {.word = TACIT_WIRE_VOTE_WORD,
                                          .family = TACIT_WIRE_VOTE_FAMILY,
                                          .too_large = hub_too_large,
                                          .describe = hub_describe,
                                          .announce = hub_announce,
                                          .open = hub_open,
                                          .free = hub_free,
                                          .bytes = hub_bytes,
                                          .step = hub_step,
                                          .look = hub_look};
