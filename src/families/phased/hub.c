/* The hub of play in phases: the core behind the bytes of the bus. */
#include "../../live/hub.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../live/bus/letter.h"
#include "../../live/effects.h"
#include "core.h"
#include "live.h"
#include "run.h"
#include "settings.h"
#include "tacit/privacy.h"

#define NOTE_BYTES 128u
#define NOBODY UINT32_MAX

struct live_hub {
    const struct live_hub_ops *ops;
    const struct live_hub_config *config;
    struct tacit_phased_hub *core;
    size_t core_size;
    struct live_effects effects;
    struct live_hub_intervals intervals;
    double *lowers; /* K, as uppers; they follow in the same block */
    double *uppers;
    uint64_t *active;    /* W(K): arms that cannot be told apart from the best */
    uint64_t *absent;    /* W(K): arms that are to come, or were retired */
    uint64_t *everybody; /* who is asked: all, until the end */
    char note[NOTE_BYTES];
};

static const struct tacit_phases *schedule_of(const struct live_hub_config *config)
{
    struct phased_hub_settings const *const settings = config->settings;
    TACIT_ASSERT(settings != NULL);
    return &settings->schedule;
}

static struct tacit_mechanism mechanism_of(const struct live_hub_config *config)
{
    struct tacit_mechanism_config const wanted = {TACIT_PRIVACY_SOUND, config->epsilon, 0, 1};
    struct tacit_mechanism made;
    /* Checked when the file was read; the hub reads sums of any range alike, in steps. */
    TACIT_ASSERT(tacit_mechanism_init(&made, &wanted) == TACIT_OK);
    return made;
}

/* ---- Before there is a hub ------------------------------------------------------------------- */

/* What all sites must agree on; it points into config and `parameters`. */
static struct tacit_wire_agreement
agreement_of(const struct live_hub_config *config,
             uint8_t parameters[TACIT_WIRE_PHASED_PARAMETERS_BYTES])
{
    struct tacit_mechanism const mechanism = mechanism_of(config);
    struct tacit_wire_agreement agreement = {.protocol = TACIT_WIRE_PHASED_WORD,
                                             .family = TACIT_WIRE_PHASED_FAMILY,
                                             .protocol_version = TACIT_WIRE_PHASED_VERSION,
                                             .agent_count = config->site_count,
                                             .arm_count = config->arm_count,
                                             .arms = config->arm_names,
                                             .lo = config->lo,
                                             .hi = config->hi,
                                             .horizon = config->horizon,
                                             .epsilon_nano = tacit_mechanism_cost_nano(&mechanism),
                                             .parameters = parameters,
                                             .parameters_size = TACIT_WIRE_PHASED_PARAMETERS_BYTES};
    live_hub_run(config, agreement.run);
    tacit_wire_phased_parameters_encode(schedule_of(config), parameters);
    return agreement;
}

static const char *hub_too_large(const struct live_hub_config *config)
{
    size_t size = 0;
    if (!phased_core_fits(config->arm_count))
        return "arms";
    uint8_t *const bytes = phased_hub_ops.old_announce(config, 0, &size); /* all of one length */
    free(bytes);
    return size > LIVE_LETTER_BYTES_MAX ? "arms" : NULL;
}

static void hub_describe(const struct live_hub_config *config, FILE *out)
{
    struct tacit_phases const *const schedule = schedule_of(config);
    (void)fprintf(out,
                  "run.rule 0\nrun.arms_per_round %u\nrun.growth %.17g\nrun.confidence %.17g\n",
                  schedule->arms_per_round, schedule->growth, schedule->confidence);
    (void)fprintf(out, "run.guard %u %.17g\nrun.later %u\n", schedule->guard_arm,
                  schedule->guard_loss,
                  tacit_phases_first_count(schedule)); /* which are there by now may change */
}

static uint8_t *hub_announce(const struct live_hub_config *config, uint32_t site, size_t *size)
{
    uint8_t parameters[TACIT_WIRE_PHASED_PARAMETERS_BYTES];
    struct tacit_wire_announcement const announcement = {
        .agreement = agreement_of(config, parameters), .agent = site};
    TACIT_ASSERT(site < config->site_count);
    *size = tacit_wire_announcement_bytes(&announcement);
    uint8_t *const bytes = malloc(*size);
    if (bytes != NULL && tacit_wire_announcement_encode(&announcement, bytes) == TACIT_OK)
        return bytes;
    free(bytes);
    return NULL;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

/* Errors: TACIT_MEMORY. */
static enum tacit_status core_config(const struct live_hub_config *config,
                                     struct tacit_phased_hub_config *made)
{
    uint8_t parameters[TACIT_WIRE_PHASED_PARAMETERS_BYTES];
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    struct tacit_wire_agreement const agreement = agreement_of(config, parameters);
    enum tacit_status const status = tacit_wire_agreement_digest(&agreement, digest);
    *made = (struct tacit_phased_hub_config){.run_id = config->run_id,
                                             .schedule = *schedule_of(config),
                                             .mechanism = mechanism_of(config),
                                             .quorum = config->quorum,
                                             .round_timeout_us =
                                                 (uint64_t)config->deadline_s * 1000000u,
                                             .answers_all = true,
                                             .has_grants = true};
    if (status == TACIT_OK)
        tacit_commit_domain(config->federation, digest, made->domain);
    return status;
}

static void hub_free(struct live_hub *hub)
{
    if (hub == NULL)
        return;
    free(hub->core);
    free(hub->lowers);
    free(hub->active);
    free(hub->absent);
    free(hub->everybody);
    live_effects_free(&hub->effects);
    free(hub);
}

static bool allocate(struct live_hub *hub)
{
    uint32_t const arms = hub->config->arm_count;
    hub->lowers = calloc(2 * (size_t)arms, sizeof *hub->lowers);
    hub->active = calloc(TACIT_BITS_WORDS(arms), sizeof *hub->active);
    hub->absent = calloc(TACIT_BITS_WORDS(arms), sizeof *hub->absent);
    hub->everybody = calloc(TACIT_BITS_WORDS(hub->config->site_count), sizeof *hub->everybody);
    if (hub->lowers == NULL || hub->active == NULL || hub->absent == NULL || hub->everybody == NULL)
        return false;
    hub->uppers = hub->lowers + arms;
    tacit_bits_fill(hub->everybody, hub->config->site_count);
    return true;
}

static enum tacit_status open_core(struct live_hub *hub, const void *bytes, size_t size)
{
    struct tacit_phased_hub_config config;
    enum tacit_status const status = core_config(hub->config, &config);
    if (status != TACIT_OK)
        return status;
    hub->core_size = tacit_phased_hub_size(&config);
    if (hub->core_size == 0 || (size != 0 && size != hub->core_size))
        return TACIT_MALFORMED;
    hub->core = calloc(1, hub->core_size);
    if (hub->core == NULL || !allocate(hub))
        return TACIT_MEMORY;
    if (size == 0)
        return tacit_phased_hub_init(hub->core, &config);
    memcpy(hub->core, bytes, size);
    return tacit_phased_hub_check(hub->core, size, &config);
}

static struct tacit_phased_hub_view core_view(const struct live_hub *hub)
{
    struct tacit_phased_hub_view view;
    tacit_phased_hub_look(hub->core, &view);
    return view;
}

/* Can the arm not be told apart from the best one? Those whose interval reaches the best lower
 * bound; once it is decided, the leader. */
static bool is_left(const struct live_hub *hub, const struct tacit_phased_judge_view *judge,
                    double bar, uint32_t arm)
{
    if (judge->standings[arm] != TACIT_PHASED_PRESENT)
        return false;
    return judge->decided ? arm == judge->leader : hub->uppers[arm] >= bar;
}

/* Once a round: what may be said of the arms from now on. */
static void note_intervals(struct live_hub *hub)
{
    struct tacit_phased_judge_view const judge = core_view(hub).judge;
    double const confidence = phased_confidence(schedule_of(hub->config));
    uint32_t const arms = hub->config->arm_count;
    double bar = 0;
    for (uint32_t arm = 0; arm < arms; arm++) {
        struct tacit_bounds_interval const interval =
            tacit_phased_hub_interval(hub->core, arm, confidence);
        hub->lowers[arm] = interval.lower;
        hub->uppers[arm] = interval.upper;
        bool const is_there = judge.standings[arm] == TACIT_PHASED_PRESENT;
        bar = is_there && interval.lower > bar ? interval.lower : bar;
        if (is_there)
            tacit_bits_remove(hub->absent, arm);
        else
            tacit_bits_add(hub->absent, arm);
    }
    memset(hub->active, 0, TACIT_BITS_WORDS(arms) * sizeof *hub->active);
    for (uint32_t arm = 0; arm < arms; arm++)
        if (is_left(hub, &judge, bar, arm))
            tacit_bits_add(hub->active, arm);
    hub->intervals = (struct live_hub_intervals){.confidence = confidence,
                                                 .lowers = hub->lowers,
                                                 .uppers = hub->uppers,
                                                 .leader = judge.leader};
}

static enum tacit_status hub_open(struct live_hub **hub, const struct live_hub_config *config,
                                  const void *bytes, size_t size)
{
    struct live_hub *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return TACIT_MEMORY;
    made->ops = &phased_hub_ops;
    made->config = config;
    (void)live_effects_init(&made->effects, 0);
    enum tacit_status const status = open_core(made, bytes, size);
    if (status != TACIT_OK) {
        hub_free(made);
        return status;
    }
    note_intervals(made);
    *hub = made;
    return TACIT_OK;
}

static const void *hub_bytes(const struct live_hub *hub, size_t *size)
{
    *size = hub->core_size;
    return hub->core;
}

static size_t hub_snapshot(const struct live_hub *hub, uint8_t *bytes, size_t room)
{
    return tacit_phased_hub_snapshot(hub->core, bytes, room);
}

static enum tacit_status hub_rebuild(struct live_hub **hub, const struct live_hub_config *config,
                                     const uint8_t *bytes, size_t size)
{
    struct tacit_phased_hub_config made;
    enum tacit_status status = hub_open(hub, config, NULL, 0);
    if (status != TACIT_OK)
        return status;
    status = core_config(config, &made);
    if (status == TACIT_OK)
        status = tacit_phased_hub_restore((*hub)->core, &made, bytes, size);
    if (status != TACIT_OK) {
        hub_free(*hub);
        *hub = NULL;
        return status;
    }
    note_intervals(*hub);
    return TACIT_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static enum tacit_status step_core(struct live_hub *hub, const struct tacit_phased_event *event,
                                   struct live_hub_update *update);

static bool add_message(struct live_hub *hub, const struct tacit_phased_message *message)
{
    struct live_message const made = {.to = message->to,
                                      .kind = tacit_wire_phased_kind(message->kind),
                                      .epoch = message->round,
                                      .is_retained = message->to == TACIT_EVERYONE,
                                      .size = tacit_wire_phased_bytes(message)};
    uint8_t *const bytes = live_messages_add(&hub->effects.out, &made);
    if (bytes == NULL)
        return false;
    if (tacit_wire_phased_encode(message, bytes) == TACIT_OK)
        return true;
    live_messages_drop_last(&hub->effects.out);
    return false;
}

static void note_order(struct live_hub *hub, const struct tacit_phased_message *order,
                       struct live_hub_update *update)
{
    uint64_t pulls = 0;
    for (uint32_t i = 0; i < order->block_count; i++)
        pulls += order->blocks[i].count;
    (void)snprintf(hub->note, sizeof hub->note, "round %u%s, %u arms, %llu pulls", order->round,
                   order->last ? ", the last" : "", order->block_count, (unsigned long long)pulls);
    update->note = hub->note;
}

/* The order to everyone that ends a round does not say whose reports were counted, and whose report
 * ended it has had no other answer. The hub tells it what it would tell it if it asked; first, so
 * that it hears of the next order and that it was counted in one message. */
static void say_order(struct live_hub *hub, const struct tacit_phased_message *order,
                      uint32_t last_reporter, uint64_t now_us, struct live_hub_update *update)
{
    struct tacit_phased_message const question = {.kind = TACIT_PHASED_HELLO,
                                                  .from = last_reporter,
                                                  .to = TACIT_HUB,
                                                  .run_id = hub->config->run_id,
                                                  .term = core_view(hub).term,
                                                  .round = order->round};
    struct tacit_phased_event const event = {
        .now_us = now_us, .kind = TACIT_EVENT_RECEIVE, .as.message = &question};
    size_t const first = hub->effects.out.count;
    note_order(hub, order, update);
    if (!add_message(hub, order) || last_reporter == NOBODY)
        return;
    (void)step_core(hub, &event, update);
    live_messages_put_last(&hub->effects.out, first);
}

static enum tacit_status step_core(struct live_hub *hub, const struct tacit_phased_event *event,
                                   struct live_hub_update *update)
{
    struct tacit_phased_update made;
    uint32_t const rounds = core_view(hub).judge.round_count;
    enum tacit_status const status = tacit_phased_hub_step(hub->core, event, &made);
    bool const is_broadcast = made.send && made.message.to == TACIT_EVERYONE;
    bool const ends_round = is_broadcast && event->kind == TACIT_EVENT_RECEIVE;
    update->persist = update->persist || made.persist;
    update->deadline_us = made.deadline_us;
    if (core_view(hub).judge.round_count != rounds)
        note_intervals(hub);
    if (is_broadcast)
        say_order(hub, &made.message, ends_round ? event->as.message->from : NOBODY, event->now_us,
                  update);
    else if (made.send)
        (void)add_message(hub, &made.message);
    return status;
}

static enum tacit_status receive(struct live_hub *hub, const struct live_hub_event *event,
                                 struct live_hub_update *update)
{
    struct tacit_phased_message *message;
    enum tacit_status status =
        tacit_wire_phased_decode(event->bytes, event->size, hub->config->arm_count,
                                 hub->config->site_count, TACIT_HUB, &message);
    if (status != TACIT_OK)
        return status;
    struct tacit_phased_event const made = {
        .now_us = event->now_us, .kind = TACIT_EVENT_RECEIVE, .as.message = message};
    message->term = core_view(hub).term; /* as its envelope said */
    if (!tacit_wire_phased_is(message, event->message_kind, event->message_epoch))
        status = TACIT_MALFORMED;
    else if (message->from != event->from)
        status = TACIT_STRANGER;
    else
        status = step_core(hub, &made, update);
    free(message);
    return status;
}

/* ---- Arms that come and go ---- */

/* set: NULL: nobody. */
static bool is_named(const uint64_t *set, uint32_t arm)
{
    return set != NULL && tacit_bits_has(set, arm);
}

/* One of those that the file has and the judge has not yet. False: there is none. */
static bool change_one(struct live_hub *hub, uint64_t now_us, struct tacit_phased_update *made)
{
    struct phased_hub_settings const *const settings = hub->config->settings;
    for (uint32_t arm = 0; arm < hub->config->arm_count; arm++) {
        uint64_t const standing = core_view(hub).judge.standings[arm];
        bool const comes = standing == TACIT_PHASED_TO_COME && is_named(settings->added, arm);
        bool const goes = standing == TACIT_PHASED_PRESENT && is_named(settings->retired, arm);
        enum tacit_status const status = comes ? tacit_phased_hub_add(hub->core, arm, now_us, made)
                                         : goes
                                             ? tacit_phased_hub_retire(hub->core, arm, now_us, made)
                                             : TACIT_UNEXPECTED;
        if (status != TACIT_OK)
            continue; /* the last arm of a run stays until another one is there */
        (void)snprintf(hub->note, sizeof hub->note, "arm %s is %s", hub->config->arm_names[arm],
                       comes ? "added" : "retired");
        return true;
    }
    return false;
}

/* What the operator has written since the last start. */
static void change_arms(struct live_hub *hub, uint64_t now_us, struct live_hub_update *update)
{
    struct tacit_phased_update made;
    while (change_one(hub, now_us, &made)) {
        update->persist = true;
        update->deadline_us = made.deadline_us;
        update->note = hub->note;
        note_intervals(hub);
        if (made.send)
            (void)add_message(hub, &made.message);
    }
}

static enum tacit_status hub_step(struct live_hub *hub, const struct live_hub_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct live_hub_update *update)
{
    struct tacit_phased_event made = {.now_us = event->now_us,
                                      .kind = event->kind == LIVE_HUB_START ? TACIT_EVENT_START
                                                                            : TACIT_EVENT_TIMEOUT};
    (void)entropy; /* it draws nothing */
    if (event->kind == LIVE_HUB_START && event->term > 0)
        made.as.term = event->term - 1; /* the core counts from 0 */
    live_effects_begin_hub(&hub->effects, update);
    enum tacit_status const status = event->kind == LIVE_HUB_RECEIVE
                                         ? receive(hub, event, update)
                                         : step_core(hub, &made, update);
    if (event->kind == LIVE_HUB_START)
        change_arms(hub, event->now_us, update);
    live_effects_end_hub(&hub->effects, update);
    return status;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static void hub_look(const struct live_hub *hub, struct live_hub_view *view)
{
    struct tacit_phased_hub_view const core = core_view(hub);
    *view = (struct live_hub_view){
        .judges = true,
        .is_finished = core.judge.finished,
        .is_overdue = core.overdue,
        .epoch = core.judge.finished ? core.judge.round + 1 : core.judge.round,
        .round_count = core.judge.round_count,
        .pulls = core.judge.slots,
        .active = hub->active,
        .active_count = tacit_bits_count(hub->active, hub->config->arm_count),
        .report_count = core.report_count,
        .missing_count = core.reports_missing,
        .covered_count = core.report_count,
        .asked = hub->everybody,
        .received = core.received,
        .seen = core.seen,
        .means = core.judge.means,
        .intervals = &hub->intervals,
        .absent = hub->absent,
        .flagged = core.flagged,
        .ahead = core.ahead};
}

const struct live_hub_ops phased_hub_ops = {.word = TACIT_WIRE_PHASED_WORD,
                                            .family = TACIT_WIRE_PHASED_FAMILY,
                                            .has_terms = true,
                                            .too_large = hub_too_large,
                                            .describe = hub_describe,
                                            .old_announce = hub_announce,
                                            .old_open = hub_open,
                                            .free = hub_free,
                                            .old_bytes = hub_bytes,
                                            .snapshot = hub_snapshot,
                                            .is_rebuilt = true,
                                            .old_rebuild = hub_rebuild,
                                            .old_step = hub_step,
                                            .look = hub_look};
