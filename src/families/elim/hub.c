/* The hub of epoch elimination behind the bytes of the bus; and, where the sites of a graph judge
 * for themselves, what stands in its place: it hears where they are. */
#include "../../live/effects.h"
#include "../../live/hub.h"
#include "core.h"
#include "invitation.h"
#include "live.h"
#include "settings.h"
#include "tacit/privacy.h"
#include "tacit/wire_elim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_BYTES 128u
#define NOBODY UINT32_MAX

struct live_hub {
    const struct live_hub_ops *ops;
    const struct live_hub_config *config;
    struct tacit_elim_hub *core; /* NULL: there is none */
    size_t core_size;
    uint32_t *weights;     /* of the sinks of a hybrid; else NULL */
    uint32_t *told_epochs; /* without a core, by site */
    uint64_t *told_done;   /* the same: who is through */
    uint64_t *nobody;      /* the same: the empty set of sites */
    uint64_t *forkers;     /* the same: of whom two rows of one epoch are proved */
    struct live_effects effects;
    struct live_hub_intervals intervals; /* with exact bounds, as they were noted last */
    double *lowers;                      /* K, as uppers, in one block; else NULL */
    double *uppers;
    char note[NOTE_BYTES];
    struct live_control_entry *changes; /* room for all, for showing */
};

/* Whose seals are checked, and for whom. */
struct seal_check {
    const struct live_seals *seals;
    const struct live_hub_config *config;
};

static bool has_core(const struct live_hub_config *config)
{
    struct tacit_elim_network const *const network = elim_hub_settings(config)->network;
    return network == NULL || network->collection == TACIT_ELIM_GATHER;
}

static struct tacit_mechanism mechanism_of(const struct live_hub_config *config)
{
    struct tacit_mechanism_config const wanted = {TACIT_PRIVACY_SOUND, config->epsilon, 0, 1};
    struct tacit_mechanism made;
    /* Checked when the file was read; the hub reads sums of any range alike, in steps. */
    TACIT_ASSERT(tacit_mechanism_init(&made, &wanted) == TACIT_OK);
    return made;
}

/* The hub grants what it holds: all releases of a star, those of the sinks of a hybrid. Errors:
 * TACIT_MEMORY. */
static enum tacit_status core_config(const struct live_hub *hub, struct tacit_elim_hub_config *made)
{
    struct live_hub_config const *const config = hub->config;
    struct tacit_elim_network const *const network = elim_hub_settings(config)->network;
    *made = (struct tacit_elim_hub_config){
        .run_id = config->run_id,
        .agent_count = config->site_count,
        .schedule = elim_hub_schedule(config),
        .mechanism = mechanism_of(config),
        .quorum = config->quorum,
        .round_timeout_us = (uint64_t)config->deadline_s * 1000000u,
        .answers_all = true,
        .weights = hub->weights,
        .components_alike = network != NULL && network->components_alike,
        .has_grants = true,
        .change_max = network == NULL ? TACIT_ELIM_CHANGES_MAX : 0};
    return elim_invitation_domain(config, tacit_mechanism_cost_nano(&made->mechanism),
                                  made->domain);
}

/* ---- Before there is a hub ------------------------------------------------------------------- */

static void hub_describe(const struct live_hub_config *config, FILE *out)
{
    struct elim_hub_settings const *const settings = elim_hub_settings(config);
    struct tacit_elim_network const *const network = settings->network;
    (void)fprintf(out,
                  "run.participation %u\nrun.rounds %u\nrun.gap %.17g\nrun.growth "
                  "%.17g\nrun.confidence %.17g\n",
                  settings->report_count, settings->round_limit, settings->gap, settings->growth,
                  settings->confidence);
    if (network == NULL)
        return;
    (void)fprintf(out, "network %d %d\n", (int)network->collection, network->components_alike);
    for (uint32_t site = 0; site < config->site_count; site++)
        for (uint64_t i = network->graph->first[site]; i < network->graph->first[site + 1]; i++)
            (void)fprintf(out, "network.edges %u,%u\n", site, network->graph->neighbours[i]);
}

static uint8_t *hub_announce(const struct live_hub_config *config, uint32_t site, size_t *size)
{
    struct tacit_mechanism const mechanism = mechanism_of(config);
    TACIT_ASSERT(site < config->site_count);
    return elim_invitation(config, tacit_mechanism_cost_nano(&mechanism), site, size);
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

static void hub_free(struct live_hub *hub)
{
    if (hub == NULL)
        return;
    free(hub->core);
    free(hub->weights);
    free(hub->told_epochs);
    free(hub->told_done);
    free(hub->nobody);
    free(hub->forkers);
    free(hub->lowers);
    free(hub->changes);
    live_effects_free(&hub->effects);
    free(hub);
}

/* With exact bounds, once a round: what may be said of the arms from now on. */
static void note_intervals(struct live_hub *hub)
{
    double const confidence = elim_confidence_shown(elim_hub_settings(hub->config)->confidence);
    struct tacit_elim_hub_view view;
    if (hub->lowers == NULL)
        return;
    tacit_elim_hub_look(hub->core, &view);
    for (uint32_t arm = 0; arm < hub->config->arm_count; arm++) {
        struct tacit_bounds_interval const interval =
            tacit_elim_hub_interval(hub->core, arm, confidence);
        hub->lowers[arm] = interval.lower;
        hub->uppers[arm] = interval.upper;
    }
    hub->intervals = (struct live_hub_intervals){.confidence = confidence,
                                                 .lowers = hub->lowers,
                                                 .uppers = hub->uppers,
                                                 .leader = view.leader};
}

static enum tacit_status make_room_for_intervals(struct live_hub *hub)
{
    uint32_t const arms = hub->config->arm_count;
    if (elim_hub_settings(hub->config)->growth <= 0)
        return TACIT_OK;
    hub->lowers = calloc(2 * (size_t)arms, sizeof *hub->lowers);
    if (hub->lowers == NULL)
        return TACIT_MEMORY;
    hub->uppers = hub->lowers + arms;
    return TACIT_OK;
}

static enum tacit_status open_core(struct live_hub *hub, const void *bytes, size_t size)
{
    if (elim_hub_settings(hub->config)->network != NULL) {
        hub->weights = elim_sink_weights(hub->config);
        if (hub->weights == NULL)
            return TACIT_MEMORY;
    }
    struct tacit_elim_hub_config config;
    enum tacit_status const status = core_config(hub, &config);
    if (status != TACIT_OK)
        return status;
    hub->core_size = tacit_elim_hub_size(&config);
    if (hub->core_size == 0 || (size != 0 && size != hub->core_size))
        return TACIT_MALFORMED;
    hub->core = calloc(1, hub->core_size);
    if (hub->core == NULL || make_room_for_intervals(hub) != TACIT_OK)
        return TACIT_MEMORY;
    if (size == 0)
        return tacit_elim_hub_init(hub->core, &config);
    memcpy(hub->core, bytes, size);
    return tacit_elim_hub_check(hub->core, size, &config);
}

/* Over what open_core made. */
static enum tacit_status rebuild_core(struct live_hub *hub, const uint8_t *bytes, size_t size)
{
    struct tacit_elim_hub_config config;
    enum tacit_status const status = core_config(hub, &config);
    return status != TACIT_OK ? status : tacit_elim_hub_restore(hub->core, &config, bytes, size);
}

static enum tacit_status open_watch(struct live_hub *hub, size_t size)
{
    uint32_t const sites = hub->config->site_count;
    hub->told_epochs = calloc(sites, sizeof *hub->told_epochs);
    hub->told_done = calloc(TACIT_BITS_WORDS(sites), sizeof *hub->told_done);
    hub->nobody = calloc(TACIT_BITS_WORDS(sites), sizeof *hub->nobody);
    hub->forkers = calloc(TACIT_BITS_WORDS(sites), sizeof *hub->forkers);
    if (hub->told_epochs == NULL || hub->told_done == NULL || hub->nobody == NULL ||
        hub->forkers == NULL)
        return TACIT_MEMORY;
    return size == 0 ? TACIT_OK : TACIT_MALFORMED;
}

static enum tacit_status hub_open(struct live_hub **hub, const struct live_hub_config *config,
                                  const void *bytes, size_t size)
{
    struct live_hub *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return TACIT_MEMORY;
    made->ops = &elim_hub_ops;
    made->config = config;
    (void)live_effects_init(&made->effects, 0);
    made->changes = calloc(TACIT_ELIM_CHANGES_MAX, sizeof *made->changes);
    enum tacit_status const status = made->changes == NULL ? TACIT_MEMORY
                                     : has_core(config)    ? open_core(made, bytes, size)
                                                           : open_watch(made, size);
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

/* Where the sites of a graph judge for themselves there is nothing. */
static size_t hub_snapshot(const struct live_hub *hub, uint8_t *bytes, size_t room)
{
    return hub->core == NULL ? 0 : tacit_elim_hub_snapshot(hub->core, bytes, room);
}

static enum tacit_status hub_rebuild(struct live_hub **hub, const struct live_hub_config *config,
                                     const uint8_t *bytes, size_t size)
{
    enum tacit_status status = hub_open(hub, config, NULL, 0);
    if (status != TACIT_OK)
        return status;
    if ((*hub)->core != NULL)
        status = rebuild_core(*hub, bytes, size);
    else if (size > 0)
        status = TACIT_MALFORMED;
    if (status != TACIT_OK) {
        hub_free(*hub);
        *hub = NULL;
        return status;
    }
    note_intervals(*hub);
    return TACIT_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static enum tacit_status step_core(struct live_hub *hub, const struct tacit_elim_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct live_hub_update *update);

/* The order to everyone that ends a round does not say whose reports were counted, and whose report
 * ended it has had no other answer. The hub tells it what it would tell it if it asked. */
static void answer_last_reporter(struct live_hub *hub, uint32_t site, uint64_t now_us,
                                 const struct tacit_entropy *entropy,
                                 struct live_hub_update *update)
{
    struct tacit_elim_hub_view view;
    tacit_elim_hub_look(hub->core, &view);
    struct tacit_elim_message const question = {.kind = TACIT_ELIM_HELLO,
                                                .from = site,
                                                .to = TACIT_HUB,
                                                .run_id = hub->config->run_id,
                                                .term = view.term,
                                                .epoch = view.epoch};
    struct tacit_elim_event const event = {
        .now_us = now_us, .kind = TACIT_EVENT_RECEIVE, .as.message = &question};
    (void)step_core(hub, &event, entropy, update);
}

static void note_order(struct live_hub *hub, const struct tacit_elim_message *order,
                       struct live_hub_update *update)
{
    (void)snprintf(hub->note, sizeof hub->note, "epoch %u%s, each arm to %llu pulls", order->epoch,
                   order->last ? ", the last" : "", (unsigned long long)order->pulls);
    update->note = hub->note;
}

static bool add_order(struct live_hub *hub, const struct tacit_elim_message *order)
{
    struct live_hub_config const *const config = hub->config;
    struct live_message const made = {
        .to = order->to,
        .kind = tacit_wire_elim_kind(order->kind),
        .epoch = order->epoch,
        .is_retained = order->to == TACIT_EVERYONE,
        .size = tacit_wire_elim_bytes(order, config->arm_count, config->site_count)};
    uint8_t *const bytes = live_messages_add(&hub->effects.out, &made);
    if (bytes == NULL)
        return false;
    if (tacit_wire_elim_encode(order, config->arm_count, config->site_count, bytes) == TACIT_OK)
        return true;
    live_messages_drop_last(&hub->effects.out);
    return false;
}

/* last_reporter: whose report ended the round, or NOBODY. It is answered first, so that it hears of
 * the next order and that it was counted in one message. */
static void send_order(struct live_hub *hub, const struct tacit_elim_message *order,
                       uint32_t last_reporter, uint64_t now_us, const struct tacit_entropy *entropy,
                       struct live_hub_update *update)
{
    size_t const first = hub->effects.out.count;
    bool const is_said = add_order(hub, order);
    if (order->to == TACIT_EVERYONE)
        note_order(hub, order, update);
    if (!is_said || last_reporter == NOBODY)
        return;
    answer_last_reporter(hub, last_reporter, now_us, entropy, update);
    live_messages_put_last(&hub->effects.out, first);
}

static enum tacit_status step_core(struct live_hub *hub, const struct tacit_elim_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct live_hub_update *update)
{
    struct tacit_elim_update made;
    enum tacit_status const status = tacit_elim_hub_step(hub->core, event, entropy, &made);
    bool const ends_round =
        event->kind == TACIT_EVENT_RECEIVE && made.send && made.message.to == TACIT_EVERYONE;
    update->persist = update->persist || made.persist;
    update->deadline_us = made.deadline_us;
    if (made.send && made.message.to == TACIT_EVERYONE)
        note_intervals(hub);
    if (made.send)
        send_order(hub, &made.message, ends_round ? event->as.message->from : NOBODY, event->now_us,
                   entropy, update);
    return status;
}

static bool check_seal(void *context, uint32_t agent, const uint8_t digest[TACIT_SHA256_BYTES],
                       const uint8_t seal[TACIT_ELIM_SEAL_BYTES])
{
    struct seal_check const *const check = context;
    return check->seals->check(check->seals->context, check->config->sites[agent], digest, seal);
}

/* Somebody shows two rows of one site and epoch: that site is known for it. */
static enum tacit_status hear_proof(struct live_hub *hub, const struct live_hub_event *event,
                                    const struct tacit_elim_message *message)
{
    struct seal_check check = {event->seals, hub->config};
    struct tacit_elim_seals const seals = {.context = &check, .check = check_seal};
    struct tacit_mechanism const mechanism = mechanism_of(hub->config);
    uint64_t const term = event->term > 0 ? event->term - 1 : 0; /* as its envelope said */
    uint8_t domain[TACIT_SHA256_BYTES];
    enum tacit_status const status =
        elim_invitation_domain(hub->config, tacit_mechanism_cost_nano(&mechanism), domain);
    if (status != TACIT_OK)
        return status;
    if (!tacit_elim_proof_holds(message->proof, domain, hub->config->run_id, term, message->epoch,
                                &seals))
        return TACIT_MALFORMED;
    tacit_bits_add(hub->forkers, message->proof->agent);
    return TACIT_OK;
}

/* A site that judges for itself says where it is. It is shown, and nothing else comes of it. */
static enum tacit_status hear(struct live_hub *hub, const struct live_hub_event *event,
                              const struct tacit_elim_message *message)
{
    if (message->run_id != hub->config->run_id)
        return TACIT_STRANGER;
    if (message->kind == TACIT_ELIM_PROOF)
        return hear_proof(hub, event, message);
    if (message->kind != TACIT_ELIM_HELLO)
        return TACIT_UNEXPECTED;
    TACIT_ASSERT(message->from < hub->config->site_count);
    if (message->epoch > hub->told_epochs[message->from])
        hub->told_epochs[message->from] = message->epoch;
    if (message->origins != NULL && tacit_bits_has(message->origins, message->from))
        tacit_bits_add(hub->told_done, message->from);
    return TACIT_OK;
}

static uint64_t term_of(const struct live_hub *hub)
{
    struct tacit_elim_hub_view view = {0};
    if (hub->core != NULL)
        tacit_elim_hub_look(hub->core, &view);
    return view.term;
}

static enum tacit_status receive(struct live_hub *hub, const struct live_hub_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct live_hub_update *update)
{
    struct tacit_elim_message *message;
    enum tacit_status status =
        tacit_wire_elim_decode(event->bytes, event->size, hub->config->arm_count,
                               hub->config->site_count, TACIT_HUB, &message);
    if (status != TACIT_OK)
        return status;
    struct tacit_elim_event const made = {
        .now_us = event->now_us, .kind = TACIT_EVENT_RECEIVE, .as.message = message};
    message->term = term_of(hub); /* as its envelope said */
    if (!tacit_wire_elim_is(message, event->message_kind, event->message_epoch))
        status = TACIT_MALFORMED;
    else if (message->from != event->from)
        status = TACIT_STRANGER;
    else
        status =
            hub->core == NULL ? hear(hub, event, message) : step_core(hub, &made, entropy, update);
    free(message);
    return status;
}

static enum tacit_status hub_step(struct live_hub *hub, const struct live_hub_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct live_hub_update *update)
{
    struct tacit_elim_event made = {.now_us = event->now_us,
                                    .kind = event->kind == LIVE_HUB_START ? TACIT_EVENT_START
                                                                          : TACIT_EVENT_TIMEOUT};
    if (event->kind == LIVE_HUB_START && event->term > 0)
        made.as.term = event->term - 1; /* the core counts from 0 */
    enum tacit_status status = TACIT_OK;
    TACIT_ASSERT(entropy != NULL);
    live_effects_begin_hub(&hub->effects, update);
    if (event->kind == LIVE_HUB_RECEIVE)
        status = receive(hub, event, entropy, update);
    else if (hub->core != NULL)
        status = step_core(hub, &made, entropy, update);
    live_effects_end_hub(&hub->effects, update);
    return status;
}

/* ---- The operator's word --------------------------------------------------------------------- */

static struct tacit_elim_change change_of(const struct live_control_entry *wanted)
{
    struct tacit_elim_change made = {.kind = (uint32_t)wanted->change,
                                     .made_unix_s = wanted->made_unix_s};
    if (wanted->change == LIVE_CHANGE_DROP_SITE)
        made.subject = wanted->site;
    if (wanted->change == LIVE_CHANGE_RETIRE_ARM)
        made.subject = wanted->arm;
    if (wanted->change == LIVE_CHANGE_SET_PATIENCE) {
        made.subject = wanted->quorum;
        made.value = (uint64_t)wanted->deadline_s * 1000000u;
    }
    if (wanted->change == LIVE_CHANGE_EXTEND_HORIZON)
        made.value = wanted->horizon;
    return made;
}

/* Why the core does not take it. */
static const char *objection_to(const struct live_hub *hub, enum live_change change,
                                enum tacit_status status)
{
    struct tacit_elim_hub_view view;
    tacit_elim_hub_look(hub->core, &view);
    if (status == TACIT_REFUSED)
        return "the log of this run is full: 64 changes; end the run, and begin a new one";
    if (status == TACIT_UNEXPECTED)
        return view.finished ? "the run is over; begin a new one without what is to go"
                             : "the run has not begun; say it again";
    if (status != TACIT_INVALID)
        return tacit_status_text(status);
    switch (change) {
    case LIVE_CHANGE_DROP_SITE:
        return "this is the last site: end the run instead";
    case LIVE_CHANGE_SET_PATIENCE:
        return "a quorum is at most the number of sites that report in a round";
    case LIVE_CHANGE_END_RUN:
        return "nothing is known yet: no round was closed; stop the coordinator instead";
    case LIVE_CHANGE_EXTEND_HORIZON:
        return "a horizon can only become longer, up to 2^40";
    case LIVE_CHANGE_RETIRE_ARM:
        return "this is the last arm that is in: stop the applications that play it";
    }
    return tacit_status_text(status);
}

static enum tacit_status hub_change(struct live_hub *hub, const struct live_control_entry *wanted,
                                    uint64_t now_us, const struct tacit_entropy *entropy,
                                    struct live_hub_update *update, uint32_t *number,
                                    const char **objection)
{
    struct tacit_elim_change const change = change_of(wanted);
    struct tacit_elim_update made;
    live_effects_begin_hub(&hub->effects, update);
    if (hub->core == NULL || elim_hub_settings(hub->config)->network != NULL) {
        *objection =
            "in a graph or hybrid the sites have agreed on who takes part and how: nothing "
            "can be changed under way; stop the coordinator, and begin a new run";
        return TACIT_REFUSED;
    }
    enum tacit_status const status =
        tacit_elim_hub_change(hub->core, &change, now_us, entropy, &made, number);
    if (status != TACIT_OK) {
        *objection = objection_to(hub, wanted->change, status);
        return status;
    }
    update->persist = made.persist;
    if (made.send)
        note_intervals(hub);
    if (made.send)
        send_order(hub, &made.message, NOBODY, now_us, entropy, update);
    update->deadline_us = made.deadline_us;
    live_effects_end_hub(&hub->effects, update);
    return TACIT_OK;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static void look_at_sites(const struct live_hub *hub, struct live_hub_view *view)
{
    *view = (struct live_hub_view){.done = hub->told_done,
                                   .asked = hub->nobody,
                                   .received = hub->nobody,
                                   .seen = hub->told_epochs,
                                   .forkers = hub->forkers};
    for (uint32_t site = 0; site < hub->config->site_count; site++)
        if (hub->told_epochs[site] > view->epoch)
            view->epoch = hub->told_epochs[site];
}

static void hub_look(const struct live_hub *hub, struct live_hub_view *view)
{
    struct tacit_elim_hub_view core;
    if (hub->core == NULL) {
        look_at_sites(hub, view);
        return;
    }
    tacit_elim_hub_look(hub->core, &core);
    *view = (struct live_hub_view){.judges = true,
                                   .is_finished = core.finished,
                                   .is_overdue = core.overdue,
                                   .epoch = core.epoch,
                                   .round_count = core.round_count,
                                   .pulls = core.pulls,
                                   .active = core.arms,
                                   .active_count = core.active_count,
                                   .report_count = core.report_count,
                                   .missing_count = core.reports_missing,
                                   .covered_count = core.covered_count,
                                   .radius = core.radius,
                                   .asked = core.uploaders,
                                   .received = core.received,
                                   .seen = core.seen,
                                   .means = core.means,
                                   .eliminated = core.eliminated,
                                   .intervals = hub->lowers == NULL ? NULL : &hub->intervals,
                                   .flagged = core.flagged,
                                   .ahead = core.ahead,
                                   .takes_changes = core.changes != NULL,
                                   .dropped = core.dropped,
                                   .refused = core.refused,
                                   .retired = core.retired,
                                   .quorum = core.quorum,
                                   .quorum_wanted = core.quorum_wanted,
                                   .deadline_s = (uint32_t)(core.round_timeout_us / 1000000u),
                                   .horizon = core.horizon};
    view->changes = hub->changes;
    view->change_count = elim_changes_tell(core.changes, core.change_count, hub->changes);
}

const struct live_hub_ops elim_hub_ops = {.word = TACIT_WIRE_ELIM_WORD,
                                          .family = TACIT_WIRE_ELIM_FAMILY,
                                          .has_terms = true,
                                          .too_large = elim_too_large,
                                          .describe = hub_describe,
                                          .old_announce = hub_announce,
                                          .old_open = hub_open,
                                          .free = hub_free,
                                          .old_bytes = hub_bytes,
                                          .snapshot = hub_snapshot,
                                          .is_rebuilt = true,
                                          .old_rebuild = hub_rebuild,
                                          .old_step = hub_step,
                                          .look = hub_look,
                                          .change = hub_change};
