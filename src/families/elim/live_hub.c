/* A hub of epoch elimination, as the daemons drive it (live/protocol.h); and, where the sites of a
 * graph judge for themselves, what stands in its place: it hears where they are. From the topology,
 * as data, to what each site is told of it. */
#include "../ladder.h"
#include "live.h"
#include "../../live/hub_helper.h"
#include "role.h"
#include "settings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct elim_hub {
    struct tacit_elim_hub_config core;
    uint32_t *reported_epochs;           /* without a core, by site */
    uint64_t *reported_done;             /* the same: who is through */
    uint64_t *nobody;                    /* the same: the empty set of sites */
    uint64_t *forkers;                   /* the same: of whom two rows of one epoch are proved */
    struct live_hub_intervals intervals; /* with exact bounds, as they were noted last */
    double *lowers;                      /* K; NULL: there are none */
    double *uppers;
    struct live_control_entry *changes; /* room for all, for showing */
};

LIVE_CORE(tacit_elim_hub, struct elim_hub);

/* Whose signatures are checked, and for whom. */
struct row_check {
    const struct live_row_signer *signer;
    const struct live_hub_config *config;
};

static struct elim_hub *own_of(const struct live_hub *hub)
{
    return hub->own;
}

static const struct tacit_elim_network *network_of(const struct live_hub_config *config)
{
    return elim_hub_settings(config)->network;
}

static enum tacit_wire_elim_network network_kind(const struct live_hub_config *config)
{
    struct tacit_elim_network const *const network = network_of(config);
    return network == NULL                            ? TACIT_WIRE_ELIM_STAR
           : network->collection == TACIT_ELIM_SPREAD ? TACIT_WIRE_ELIM_SPREAD
                                                      : TACIT_WIRE_ELIM_GATHER;
}

/* ---- The announcement ------------------------------------------------------------------------ */

/* The agents of a component. NULL: out of memory. */
static uint64_t *members_of(const struct live_hub_config *config, uint32_t component,
                            struct live_room *room)
{
    uint64_t *const members =
        live_room_allocate(room, TACIT_BITS_WORDS(config->site_count), sizeof *members);
    for (uint32_t site = 0; members != NULL && site < config->site_count; site++)
        if (elim_hub_settings(config)->network->label[site] == component)
            tacit_bits_add(members, site);
    return members;
}

/* A sink reports who is there when half of the hub's deadline has gone by since its own report. It
 * reports once an epoch: where all sites make the quorum it waits for all. */
static uint32_t gather_timeout_s(const struct live_hub_config *config)
{
    if (config->quorum == config->site_count)
        return 0;
    return config->deadline_s / 2 > 0 ? config->deadline_s / 2 : 1;
}

static void hub_parameters(const struct live_hub_config *config, void *run)
{
    struct elim_hub_settings const *const settings = elim_hub_settings(config);
    struct tacit_wire_elim_run *const made = run;
    made->network = network_kind(config);
    made->report_count = settings->report_count;
    made->round_limit = settings->round_limit;
    made->gap = settings->gap;
    made->growth = settings->growth;
    made->confidence = settings->confidence;
    made->gather_timeout_s = made->network == TACIT_WIRE_ELIM_GATHER ? gather_timeout_s(config) : 0;
}

static bool hub_fill_place(const struct live_hub_config *config, uint32_t site,
                           struct live_room *room, void *run)
{
    struct tacit_wire_elim_run *const made = run;
    TACIT_ASSERT(site < config->site_count);
    if (network_of(config) == NULL)
        return true;
    struct elim_role const role = elim_role_of(network_of(config), site);
    made->parent = role.parent;
    made->members = role.has_members ? members_of(config, role.component, room) : NULL;
    made->neighbour_count = role.neighbour_count;
    made->neighbours = live_hub_neighbours(config, network_of(config)->graph, site, room);
    made->sites = made->network == TACIT_WIRE_ELIM_SPREAD ? config->sites : NULL;
    return made->neighbours != NULL && (!role.has_members || made->members != NULL);
}

static bool order_fits(const struct live_hub_config *config)
{
    /* Lengths look into no set: that there is one is enough. */
    static const uint64_t anybody;
    static const struct tacit_elim_change changes[TACIT_ELIM_CHANGES_MAX];
    bool const is_star = elim_hub_settings(config)->network == NULL && !config->has_helper;
    struct tacit_elim_message const order = {
        .kind = TACIT_ELIM_ORDER,
        .leader = elim_hub_settings(config)->growth > 0 ? 1 : 0,
        .changes = changes,
        .change_count = is_star ? TACIT_ELIM_CHANGES_MAX : 0, /* with them, who reports */
        .uploaders = is_star || elim_hub_settings(config)->report_count < config->site_count
                         ? &anybody
                         : NULL};
    struct tacit_wire_shape const shape = {.arm_count = config->arm_count,
                                           .agent_count = config->site_count};
    return live_message_fits(&tacit_wire_elim, &shape, &order);
}

static const char *hub_too_large(const struct live_hub_config *config)
{
    struct tacit_wire_elim_run const run = {.agent_count = config->site_count,
                                            .arm_count = config->arm_count,
                                            .floor_milli = elim_hub_settings(config)->floor_milli,
                                            .network = network_kind(config)};
    return elim_fits(&run) && order_fits(config) ? NULL : "arms";
}

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
    live_hub_describe_edges(config, network->graph, out);
}

/* ---- The state ------------------------------------------------------------------------------- */

/* A: for how many sites each may report; NULL: out of memory. */
static uint32_t *sink_weights(struct live_hub *hub)
{
    uint32_t const sites = hub->config->site_count;
    uint32_t *const weights = live_room_allocate(&hub->room, sites, sizeof *weights);
    for (uint32_t site = 0; weights != NULL && site < sites; site++)
        weights[site] = elim_role_weight(network_of(hub->config), site);
    return weights;
}

/* The hub grants what it holds: all releases of a star, those of the sinks of a hybrid. */
static void configure_core(struct live_hub *hub)
{
    struct live_hub_config const *const config = hub->config;
    struct tacit_elim_network const *const network = network_of(config);
    struct elim_hub *const own = own_of(hub);
    uint32_t *const weights = network == NULL ? NULL : sink_weights(hub);
    own->core = (struct tacit_elim_hub_config){
        .run_id = config->run_id,
        .agent_count = config->site_count,
        .schedule = elim_hub_schedule(config),
        .mechanism = live_hub_mechanism(config),
        .quorum = config->quorum,
        .round_timeout_us = (uint64_t)config->deadline_s * 1000000u,
        .answers_all = true,
        .weights = weights,
        .components_alike = network != NULL && network->components_alike,
        .has_grants = true,
        .has_helper = config->has_helper,
        .change_max = network == NULL && !config->has_helper ? TACIT_ELIM_CHANGES_MAX : 0};
    memcpy(own->core.domain, hub->domain, sizeof own->core.domain);
    if (elim_hub_settings(config)->growth <= 0)
        return;
    own->lowers = live_room_allocate(&hub->room, config->arm_count, sizeof *own->lowers);
    own->uppers = live_room_allocate(&hub->room, config->arm_count, sizeof *own->uppers);
}

static void hub_configure(struct live_hub *hub)
{
    struct elim_hub *const own = own_of(hub);
    uint32_t const sites = hub->config->site_count;
    size_t const words = TACIT_BITS_WORDS(sites);
    struct tacit_elim_network const *const network = network_of(hub->config);
    own->changes = live_room_allocate(&hub->room, TACIT_ELIM_CHANGES_MAX, sizeof *own->changes);
    hub->keeps_nothing = network != NULL && network->collection == TACIT_ELIM_SPREAD;
    if (!hub->keeps_nothing) {
        configure_core(hub);
        return;
    }
    own->reported_epochs = live_room_allocate(&hub->room, sites, sizeof *own->reported_epochs);
    own->reported_done = live_room_allocate(&hub->room, words, sizeof *own->reported_done);
    own->nobody = live_room_allocate(&hub->room, words, sizeof *own->nobody);
    own->forkers = live_room_allocate(&hub->room, words, sizeof *own->forkers);
}

LIVE_SNAPSHOTS(tacit_elim_hub, struct elim_hub)

/* With exact bounds, once a round: what may be said of the arms from now on. */
static void note_intervals(struct live_hub *hub)
{
    double const confidence = ladder_confidence(elim_hub_settings(hub->config)->confidence);
    struct tacit_elim_hub_view view;
    if (own_of(hub)->lowers == NULL)
        return;
    tacit_elim_hub_view(hub->state, &view);
    for (uint32_t arm = 0; arm < hub->config->arm_count; arm++) {
        struct tacit_bounds_interval const interval =
            tacit_elim_hub_interval(hub->state, arm, confidence);
        own_of(hub)->lowers[arm] = interval.lower;
        own_of(hub)->uppers[arm] = interval.upper;
    }
    own_of(hub)->intervals = (struct live_hub_intervals){.confidence = confidence,
                                                         .lowers = own_of(hub)->lowers,
                                                         .uppers = own_of(hub)->uppers,
                                                         .leader = view.leader};
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void send_order(struct live_hub *hub, const struct tacit_elim_message *order,
                       struct live_hub_update *update)
{
    (void)live_hub_send(hub, order);
    if (order->to != TACIT_EVERYONE)
        return; /* an answer to one site: no new round */
    note_intervals(hub);
    live_hub_note(hub, update, "round %u%s, each arm %s %llu pulls", order->epoch,
                  order->last ? ", the last" : "", hub->helper == NULL ? "to" : "again",
                  (unsigned long long)order->pulls);
}

static void carry_out(struct live_hub *hub, const struct tacit_elim_update *core_update,
                      struct live_hub_update *update)
{
    update->persist = update->persist || core_update->persist;
    update->deadline_us = core_update->deadline_us;
    if (core_update->send)
        send_order(hub, &core_update->message, update);
}

/* With a helper, what was heard and what happened goes on to what talks to it. */
static enum tacit_status step_core(struct live_hub *hub, const struct tacit_event *event,
                                   const struct live_hub_event *live_event,
                                   const struct tacit_entropy *entropy,
                                   struct live_hub_update *update)
{
    struct tacit_elim_update core_update;
    struct live_report report = {.head = NULL};
    enum tacit_status const status = tacit_elim_hub_step(hub->state, event, entropy, &core_update);
    carry_out(hub, &core_update, update);
    if (hub->helper == NULL)
        return status;
    if (event->kind == TACIT_EVENT_RECEIVE) {
        struct tacit_elim_message const *const received = event->as.message;
        report = (struct live_report){&received->head, received->masked,
                                      (const int64_t *)received->sums, received->sum_count};
    }
    live_hub_note_helper(hub, live_event, &report, core_update.happened, entropy, update);
    return status;
}

/* ---- Two aggregators ---- */

static void hub_round(const struct live_hub *hub, struct tacit_helper_round *round, uint64_t *highs)
{
    struct tacit_elim_hub_view view;
    tacit_elim_hub_view(hub->state, &view);
    *round = (struct tacit_helper_round){
        .term = view.term, .round = view.epoch, .count = view.active_count};
    tacit_elim_order_digest(view.new_pulls, view.arms, hub->config->arm_count, round->order);
    for (uint32_t i = 0; highs != NULL && i < view.active_count; i++)
        highs[i] = view.new_pulls * (uint64_t)TACIT_STEPS;
}

static void hub_close(struct live_hub *hub, uint32_t agents, const int64_t *totals, uint64_t now_us,
                      struct live_hub_update *update)
{
    struct tacit_elim_update core_update;
    tacit_elim_hub_close(hub->state, agents, totals, now_us, &core_update);
    carry_out(hub, &core_update, update);
}

LIVE_QUESTION(hub_commit, struct tacit_elim_message, TACIT_ELIM_COMMIT)
LIVE_QUESTION(hub_hello, struct tacit_elim_message, TACIT_ELIM_HELLO)

static bool check_row(void *context, uint32_t agent, const uint8_t digest[TACIT_SHA256_BYTES],
                      const uint8_t signature[TACIT_SIGNATURE_BYTES])
{
    struct row_check const *const check = context;
    return check->signer->check(check->signer->context, check->config->sites[agent], digest,
                                signature);
}

/* Somebody shows two rows of one site and epoch: that site is known for it. */
static enum tacit_status on_proof(struct live_hub *hub, const struct live_hub_event *event,
                                  const struct tacit_elim_message *message)
{
    struct row_check check = {event->signer, hub->config};
    struct tacit_row_signer const signer = {.context = &check, .check = check_row};
    uint64_t const term = event->term > 0 ? event->term - 1 : 0; /* as its envelope said */
    if (!tacit_elim_proof_holds(message->proof, hub->domain, hub->config->run_id, term,
                                message->epoch, &signer))
        return TACIT_MALFORMED;
    tacit_bits_add(own_of(hub)->forkers, message->proof->agent);
    return TACIT_OK;
}

/* A site that judges for itself says where it is. It is shown, and nothing else comes of it. */
static enum tacit_status on_peer_report(struct live_hub *hub, const struct live_hub_event *event,
                                        const struct tacit_elim_message *message)
{
    if (message->run_id != hub->config->run_id)
        return TACIT_STRANGER;
    if (message->kind == TACIT_ELIM_PROOF)
        return on_proof(hub, event, message);
    if (message->kind != TACIT_ELIM_HELLO)
        return TACIT_UNEXPECTED;
    TACIT_ASSERT(message->from < hub->config->site_count);
    if (message->epoch > own_of(hub)->reported_epochs[message->from])
        own_of(hub)->reported_epochs[message->from] = message->epoch;
    if (message->origins != NULL && tacit_bits_has(message->origins, message->from))
        tacit_bits_add(own_of(hub)->reported_done, message->from);
    return TACIT_OK;
}

/* 0: without a core there are no terms. */
static uint64_t term_of(const struct live_hub *hub)
{
    struct tacit_elim_hub_view view = {0};
    if (hub->state != NULL)
        tacit_elim_hub_view(hub->state, &view);
    return view.term;
}

static enum tacit_status hub_step(struct live_hub *hub, const struct live_hub_event *event,
                                  void *message, const struct tacit_entropy *entropy,
                                  struct live_hub_update *update)
{
    struct tacit_elim_message *const received = message;
    struct tacit_event const core_event = live_hub_core_event(
        hub, event, term_of(hub), received, received == NULL ? NULL : &received->term);
    if (!hub->keeps_nothing)
        return step_core(hub, &core_event, event, entropy, update);
    return received != NULL ? on_peer_report(hub, event, received) : TACIT_OK;
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
    if (wanted->change == LIVE_CHANGE_SET_QUORUM_AND_DEADLINE) {
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
    tacit_elim_hub_view(hub->state, &view);
    if (status == TACIT_REFUSED)
        return "the log of this run is full: 64 changes; end the run, and begin a new one";
    if (status == TACIT_UNEXPECTED)
        return view.finished ? "the run is over; begin a new one without what is to go"
                             : "the run has not begun; repeat the command later";
    if (status != TACIT_INVALID)
        return tacit_status_text(status);
    switch (change) {
    case LIVE_CHANGE_DROP_SITE:
        return "this is the last site: end the run instead";
    case LIVE_CHANGE_SET_QUORUM_AND_DEADLINE:
        return "a quorum is at most the number of sites that report in a round";
    case LIVE_CHANGE_END_RUN:
        return "nothing is known yet: no round was closed; stop the coordinator instead";
    case LIVE_CHANGE_EXTEND_HORIZON:
        return "a horizon can only become longer, up to 2^40";
    case LIVE_CHANGE_RETIRE_ARM:
        return "this is the last arm that is in: stop the applications that play it";
    case LIVE_CHANGE_REPEAT:
        break; /* of runs with two aggregators */
    }
    return tacit_status_text(status);
}

static enum tacit_status hub_change(struct live_hub *hub, const struct live_control_entry *wanted,
                                    uint64_t now_us, const struct tacit_entropy *entropy,
                                    struct live_hub_update *update, uint32_t *number,
                                    const char **objection)
{
    struct tacit_elim_change const change = change_of(wanted);
    struct tacit_elim_update core_update;
    if (hub->helper != NULL && wanted->change != LIVE_CHANGE_END_RUN) {
        *objection =
            "with two aggregators sites are dropped (drop), void rounds repeated (repeat), and a "
            "run is ended (end); its quorum, horizon and arms are those that sites and helper have "
            "agreed to, and reports are masked for: begin a new run";
        return TACIT_REFUSED;
    }
    if (network_of(hub->config) != NULL) {
        *objection =
            "in a graph or hybrid the sites have agreed on who takes part and how: nothing "
            "can be changed under way; stop the coordinator, and begin a new run";
        return TACIT_REFUSED;
    }
    enum tacit_status const status =
        tacit_elim_hub_change(hub->state, &change, now_us, entropy, &core_update, number);
    if (status != TACIT_OK) {
        *objection = objection_to(hub, wanted->change, status);
        return status;
    }
    carry_out(hub, &core_update, update);
    return TACIT_OK;
}

/* ---- Showing --------------------------------------------------------------------------------- */

_Static_assert((int)LIVE_CHANGE_DROP_SITE == (int)TACIT_ELIM_DROP_SITE &&
                   (int)LIVE_CHANGE_RETIRE_ARM == (int)TACIT_ELIM_RETIRE_ARM,
               "the daemons' changes are numbered as the core's");

uint32_t elim_changes_show(const struct tacit_elim_change *changes, uint32_t count,
                           struct live_control_entry *entries)
{
    TACIT_ASSERT(count <= TACIT_ELIM_CHANGES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        struct tacit_elim_change const *const one = &changes[i];
        bool const is_quorum = one->kind == TACIT_ELIM_SET_QUORUM_AND_DEADLINE;
        entries[i] = (struct live_control_entry){
            .change = (enum live_change)one->kind,
            .site = one->kind == TACIT_ELIM_DROP_SITE ? one->subject : 0,
            .arm = one->kind == TACIT_ELIM_RETIRE_ARM ? one->subject : 0,
            .quorum = is_quorum ? one->subject : 0,
            .deadline_s = is_quorum ? (uint32_t)(one->value / 1000000u) : 0,
            .horizon = one->kind == TACIT_ELIM_EXTEND_HORIZON ? one->value : 0,
            .number = one->number,
            .epoch = one->epoch,
            .made_unix_s = one->made_unix_s};
    }
    return count;
}

static void fill_view_of_reports(const struct live_hub *hub, struct live_hub_view *view)
{
    *view = (struct live_hub_view){.done = own_of(hub)->reported_done,
                                   .asked = own_of(hub)->nobody,
                                   .received = own_of(hub)->nobody,
                                   .seen = own_of(hub)->reported_epochs,
                                   .forkers = own_of(hub)->forkers};
    for (uint32_t site = 0; site < hub->config->site_count; site++)
        if (own_of(hub)->reported_epochs[site] > view->epoch)
            view->epoch = own_of(hub)->reported_epochs[site];
}

static void hub_fill_view(const struct live_hub *hub, struct live_hub_view *view)
{
    struct tacit_elim_hub_view core;
    if (hub->state == NULL) {
        fill_view_of_reports(hub, view);
        return;
    }
    tacit_elim_hub_view(hub->state, &core);
    *view = live_hub_show(hub, &core.desk);
    view->round_count = core.round_count - core.void_count;
    view->rounds_max = elim_hub_settings(hub->config)->round_limit;
    view->pulls = core.pulls;
    view->active = core.arms;
    view->active_count = core.active_count;
    view->radius = core.radius;
    view->asked = core.uploaders;
    view->means = core.means;
    view->eliminated = core.eliminated;
    view->intervals = own_of(hub)->lowers == NULL ? NULL : &own_of(hub)->intervals;
    view->can_change = core.changes != NULL;
    view->dropped = core.dropped;
    view->refused = core.refused;
    view->retired = core.retired;
    view->quorum = core.quorum;
    view->quorum_wanted = core.quorum_wanted;
    view->deadline_s = (uint32_t)(core.round_timeout_us / 1000000u);
    view->horizon = core.horizon;
    view->changes = own_of(hub)->changes;
    view->change_count = elim_changes_show(core.changes, core.change_count, own_of(hub)->changes);
}

const struct live_hub_ops elim_hub_ops = {.wire = &tacit_wire_elim,
                                          .has_terms = true,
                                          .is_rebuilt = true,
                                          .core = &tacit_elim_hub_live,
                                          LIVE_HUB_FUNCTIONS,
                                          .epsilon_nano = live_hub_epsilon_nano,
                                          .fill_place = hub_fill_place,
                                          .begin = note_intervals,
                                          .snapshot = tacit_elim_hub_live_snapshot,
                                          .restore = tacit_elim_hub_live_restore,
                                          .hello = hub_hello,
                                          .change = hub_change,
                                          .round = hub_round,
                                          .close = hub_close,
                                          .commit = hub_commit};
