/* A training federation as the daemons drive it (live/protocol.h). */
#include "live.h"
#include "../../live/hub_helper.h"
#include "../../live/site_helper.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_BYTES 8192u

/* Why a state has one run only. */
#define ONE_RUN                                                                                    \
    "a training learns from the same data in each round, so a second run would spend on them "     \
    "anew, which the budget of one run does not count; it needs other data and a state directory " \
    "of its own"

/* ---- A site ---------------------------------------------------------------------------------- */

struct select_site {
    const struct tacit_wire_select_run *run;
    struct live_site_trust trust;
    struct tacit_select_site_config core;
    struct live_file files[2];
    struct live_file model;
    char json[JSON_BYTES];
};

LIVE_CORE(tacit_select_site, struct select_site);

/* A whole data set moves an update by twice its norm. */
static double describe_vector(const void *run, struct tacit_helper_run *made)
{
    made->count_max = ((const struct tacit_wire_select_run *)run)->dimension;
    made->steps = 2 * (uint64_t)TACIT_VECTOR_STEPS;
    return 0;
}

static enum tacit_status site_configure(struct live_site *site)
{
    struct select_site *const own = site->own;
    struct select_site_settings const *const settings = site->config.settings;
    struct tacit_wire_agreement const *const agreement = live_site_agreement(site);
    own->run = site->run;
    TACIT_TRY(live_site_trust(site, &own->trust));
    double const whole = (double)own->run->epsilon_nano;
    own->core = (struct tacit_select_site_config){.run_id = own->run->run_id,
                                                  .agent = own->run->agent,
                                                  .agent_count = own->run->agent_count,
                                                  .dimension = own->run->dimension,
                                                  .round_count = (uint32_t)own->run->horizon,
                                                  .clip = own->run->clip,
                                                  .budget = {.kind = TACIT_SELECT_GEOMETRIC,
                                                             .is_exact = true,
                                                             .total = site->config.budget,
                                                             .eta = settings->eta},
                                                  .resend_after_us = site->config.resend_after_us,
                                                  .has_helper = own->trust.is_there};
    if (own->trust.is_there && own->run->epsilon_nano > 0)
        own->core.floor_times = (double)agreement->floor_nano / whole;
    (void)describe_vector(own->run, &own->trust.run);
    memcpy(own->core.domain, site->domain, sizeof own->core.domain);
    return TACIT_OK;
}

/* What the run wants against this site's own file. */
static const char *site_objection(const struct live_site *site)
{
    struct live_site_config const *const config = &site->config;
    struct select_site_settings const *const settings = config->settings;
    struct tacit_wire_select_run const *const run = site->run;
    char const *const trust = live_site_trust_objection(site);
    if (!tacit_select_floor_holds(live_site_agreement(site)->floor_nano,
                                  tacit_nano_value(run->epsilon_nano)))
        return "the run's floor (trust.floor): " TACIT_SELECT_FLOOR_WORDS;
    if (trust != NULL)
        return trust;
    if (run->dimension != settings->dimension)
        return "the run's model has another number of parameters than policy.parameters";
    if (run->horizon > config->rounds_max)
        return "the run has more rounds than policy.rounds_max";
    if ((double)run->epsilon_nano > config->budget * (double)TACIT_NANO * (1 + 1e-12))
        return "the run reckons with a larger budget than policy.budget";
    return NULL;
}

static struct tacit_select_site_view site_view(const struct live_site *site)
{
    struct tacit_select_site_view view;
    tacit_select_site_view(site->state, &view);
    return view;
}

/* SELECT.md 1: all that the command is told. */
static void set_task(struct live_site *site, uint64_t now_us, struct live_site_update *update)
{
    struct select_site *const own = site->own;
    struct select_site_settings const *const settings = site->config.settings;
    struct tacit_select_site_view const view = site_view(site);
    int const written =
        snprintf(own->json, sizeof own->json,
                 "{\"round\": %u, \"parameters\": %u, \"layers\": [%s], \"batches\": %u, "
                 "\"deadline_s\": %u}\n",
                 view.round, own->run->dimension, settings->layers == NULL ? "" : settings->layers,
                 own->run->batches, own->run->deadline_s);
    TACIT_ASSERT(written > 0 && (size_t)written < sizeof own->json);
    own->files[0] = (struct live_file){"round.json", own->json, (size_t)written};
    own->files[1] =
        (struct live_file){"model.f32", view.model, own->run->dimension * sizeof(float)};
    update->has_task = true;
    update->task =
        (struct live_task){.number = view.round,
                           .files = own->files,
                           .file_count = 2,
                           .result = "update.f32",
                           .result_size = own->run->dimension * sizeof(float),
                           .deadline_us = now_us + (uint64_t)own->run->deadline_s * 1000000u};
}

/* Outbox = ledger: the bytes that open the release are kept as they go out; they name each piece of
 * it by its digest, and the pieces are in the state. */
static enum tacit_status step_core(struct live_site *site, const struct tacit_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    struct select_site *const own = site->own;
    struct tacit_select_update core_update;
    enum tacit_status const status =
        tacit_select_site_step(site->state, event, entropy, &core_update);
    update->persist = core_update.persist;
    if (core_update.drawn) {
        struct tacit_select_message const opened = tacit_select_site_release(site->state);
        live_site_record(site, &opened,
                         &(struct live_site_release){.number = site_view(site).draw_number,
                                                     .epsilon_nano = opened.price_nano,
                                                     .numbers = own->run->dimension},
                         update);
    }
    live_site_settle(site, core_update.settled, update);
    for (uint32_t i = 0; i < core_update.message_count; i++)
        if (core_update.messages[i].kind == TACIT_SELECT_UPDATE)
            live_site_reveal(
                site, &core_update.messages[i],
                &(struct live_site_release){.number = site_view(site).release_number,
                                            .epsilon_nano = core_update.messages[i].price_nano,
                                            .numbers = own->run->dimension},
                update);
        else
            live_site_send(site, &core_update.messages[i]);
    if (core_update.stop)
        update->has_task = true; /* number 0: void */
    if (core_update.train)
        set_task(site, event->now_us, update);
    if (core_update.has_model) {
        own->model = (struct live_file){"model.f32", site_view(site).model,
                                        own->run->dimension * sizeof(float)};
        update->file = &own->model;
    }
    site->deadline_us = core_update.deadline_us;
    return status;
}

/* The command's numbers, as they are: what is not finite shows as an update of zeros only. A
 * command that failed has no difference, and the core is told so by NULL. */
static enum tacit_status on_task_result(struct live_site *site, const struct live_site_event *event,
                                        const struct tacit_entropy *entropy,
                                        struct live_site_update *update)
{
    struct select_site *const own = site->own;
    struct tacit_helper_keys const keys = live_site_helper_keys(&own->trust);
    struct tacit_aggregators const aggregators =
        live_site_aggregators(&own->trust, &keys, event->term);
    uint32_t const numbers = own->run->dimension;
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
    struct tacit_event const core_event = {
        .kind = TACIT_EVENT_REWARD,
        .now_us = event->now_us,
        .keys = event->keys,
        .aggregators = &aggregators,
        .as.training = {(uint32_t)event->as.task.number, difference}};
    enum tacit_status const status = step_core(site, &core_event, entropy, update);
    free(difference);
    return status;
}

static enum tacit_status site_step(struct live_site *site, const struct live_site_event *event,
                                   void *message, const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    struct tacit_event core_event = {
        .kind = live_event_kind(event), .now_us = event->now_us, .keys = event->keys};
    struct tacit_select_message *const received = message;
    uint64_t const term = site_view(site).term;
    if (core_event.kind == TACIT_EVENT_REWARD || core_event.kind == TACIT_EVENT_EXPLOITED)
        return TACIT_OK; /* nothing here learns from decisions */
    if (event->kind == LIVE_SITE_TASK)
        return on_task_result(site, event, entropy, update);
    if (event->kind == LIVE_SITE_CONNECTED && !event->as.begins_term)
        core_event.kind = TACIT_EVENT_TIMEOUT;     /* all is said again; what is trained goes on */
    else if (core_event.kind == TACIT_EVENT_START) /* the core counts the terms that it was in */
        core_event.as.term = term + (event->as.begins_term ? 1 : 0);
    else if (received != NULL)
        core_event.as.message = received;
    if (received != NULL)
        received->term = term; /* as its envelope said */
    return step_core(site, &core_event, entropy, update);
}

static void site_fill_view(const struct live_site *site, struct live_site_view *view)
{
    struct tacit_select_site_view const core = site_view(site);
    bool const is_over = core.phase == TACIT_SELECT_FINISHED;
    *view =
        (struct live_site_view){.epoch = core.round,
                                .is_waiting = true,
                                .no_estimates = "a model is trained here: the arms are sites, and "
                                                "have no means",
                                .is_finished = is_over,
                                .is_halted = core.is_exhausted && !is_over,
                                .active_count = site->shape.arm_count,
                                .is_committed = core.phase == TACIT_SELECT_COMMITTED,
                                .is_blocked = core.is_blocked,
                                .forgetful = core.is_forgotten ? TACIT_WIRE_COORDINATOR : NULL,
                                .draw_number = core.draw_number,
                                .release_number = core.release_number,
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

static void site_promise(const struct live_site *site, const struct live_site_config *config,
                         struct tacit_promise *promise)
{
    (void)site;
    promise->mechanism =
        (struct tacit_promise_mechanism){.noise = TACIT_NOISE_LAPLACE,
                                         .of = TACIT_PROTECTED_DATA_SET,
                                         .leaving = TACIT_LEAVING_UPDATES,
                                         .epsilon_nano = tacit_nano_up(config->budget)};
    live_site_promise_trust(config, promise);
}

static const struct live_command_config *site_command(const struct live_site_config *config)
{
    struct select_site_settings const *const settings = config->settings;
    TACIT_ASSERT(settings != NULL);
    return &settings->command;
}

const struct live_site_ops select_site_ops = {.wire = &tacit_wire_select,
                                              .one_run = ONE_RUN,
                                              .has_terms = true,
                                              .epsilon_of = "update",
                                              .keeps_objecting = true,
                                              .events =
                                                  LIVE_SITE_PLAN_EVENTS | 1u << LIVE_SITE_TASK,
                                              .core = &tacit_select_site_live,
                                              LIVE_SITE_FUNCTIONS,
                                              .objection = site_objection,
                                              .command = site_command};

/* ---- The hub --------------------------------------------------------------------------------- */

struct select_hub {
    struct tacit_select_hub_config core;
    struct live_file model;
    uint32_t noted_round;
    bool noted_lack;
};

LIVE_CORE(tacit_select_hub, struct select_hub);

static const struct select_hub_settings *settings_of(const struct live_hub_config *config)
{
    TACIT_ASSERT(config->settings != NULL);
    return config->settings;
}

static uint64_t hub_epsilon_nano(const struct live_hub_config *config)
{
    return (uint64_t)floor(config->epsilon * (double)TACIT_NANO);
}

static void hub_parameters(const struct live_hub_config *config, void *run)
{
    struct select_hub_settings const *const settings = settings_of(config);
    struct tacit_wire_select_run *const made = run;
    made->dimension = settings->core.dimension;
    made->batches = settings->batches;
    made->deadline_s = config->deadline_s;
    made->clip = settings->core.clip;
}

static const char *hub_too_large(const struct live_hub_config *config)
{
    uint32_t const dimension = settings_of(config)->core.dimension;
    struct tacit_select_message const order = {
        .kind = TACIT_SELECT_ORDER,
        .digest_count = tacit_select_piece_count(dimension, TACIT_SELECT_MODEL)};
    struct tacit_wire_shape const shape = {.agent_count = config->site_count};
    return live_message_fits(&tacit_wire_select, &shape, &order) ? NULL : "sites";
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
    for (uint32_t site = 0; settings->core.sizes != NULL && site < config->site_count; site++)
        (void)fprintf(out, "run.sizes %llu\n", (unsigned long long)settings->core.sizes[site]);
    for (uint32_t i = 0; settings->core.initial != NULL && i < settings->core.dimension; i++)
        (void)fprintf(out, "run.initial %a\n", (double)settings->core.initial[i]);
}

static void hub_configure(struct live_hub *hub)
{
    struct select_hub *const own = hub->own;
    own->core = settings_of(hub->config)->core;
    own->core.has_helper = hub->config->has_helper;
    memcpy(own->core.domain, hub->domain, sizeof own->core.domain);
}

LIVE_SNAPSHOTS(tacit_select_hub, struct select_hub)

static struct tacit_select_hub_view hub_view(const struct live_hub *hub)
{
    struct tacit_select_hub_view view;
    tacit_select_hub_view(hub->state, &view);
    return view;
}

/* For the log of events: a new round, once, and a model that is lost, once. */
static void note_round(struct live_hub *hub, const struct tacit_select_hub_view *view,
                       struct live_hub_update *update)
{
    struct select_hub *const own = hub->own;
    if (view->lacks_model && !own->noted_lack)
        live_hub_note(
            hub, update,
            "the model of round %u is lost here: sites that have fetched it are asked for "
            "it; if none has, build this state again with its file as run.initial",
            view->round);
    own->noted_lack = view->lacks_model;
    if (view->lacks_model)
        return;
    if (view->round == own->noted_round || view->round == 0)
        return;
    own->noted_round = view->round;
    if (view->finished)
        live_hub_note(hub, update, "the run is over after %u rounds%s", view->round_count,
                      view->is_exhausted ? ": no site has budget left"
                      : view->is_ended   ? ": by the operator's command"
                                         : "");
    else
        live_hub_note(hub, update, "round %u: %u sites train", view->round, view->asked_count);
}

static void carry_out(struct live_hub *hub, const struct tacit_select_update *core_update,
                      struct live_hub_update *update)
{
    struct select_hub *const own = hub->own;
    struct tacit_select_hub_view const view = hub_view(hub);
    update->persist = update->persist || core_update->persist;
    update->deadline_us = core_update->deadline_us;
    for (uint32_t i = 0; i < core_update->message_count; i++)
        (void)live_hub_send(hub, &core_update->messages[i]);
    if (core_update->has_model) {
        own->model =
            (struct live_file){"model.f32", view.model, own->core.dimension * sizeof(float)};
        update->file = &own->model;
    }
    note_round(hub, &view, update);
}

/* ---- Two aggregators ---- */

static void hub_close(struct live_hub *hub, uint32_t agents, const int64_t *totals, uint64_t now_us,
                      struct live_hub_update *update)
{
    struct tacit_select_update core_update;
    tacit_select_hub_close(hub->state, agents, totals, now_us, &core_update);
    carry_out(hub, &core_update, update);
}

static void hub_round(const struct live_hub *hub, struct tacit_helper_round *round, uint64_t *highs)
{
    struct select_hub const *const own = hub->own;
    struct tacit_select_hub_view const view = hub_view(hub);
    *round = (struct tacit_helper_round){.term = view.term,
                                         .round = view.round,
                                         .count = own->core.dimension,
                                         .epsilon_nano = view.epsilon_nano};
    memcpy(round->order, view.model_name, sizeof round->order);
    for (uint32_t i = 0; highs != NULL && i < round->count; i++)
        highs[i] = (uint64_t)TACIT_VECTOR_STEPS;
}

LIVE_QUESTION(hub_commit, struct tacit_select_message, TACIT_SELECT_COMMIT)

/* A round that is over by itself, with fewer updates than the quorum, asks no helper. */
static void note_helper(struct live_hub *hub, const struct live_hub_event *event,
                        const struct tacit_select_message *received,
                        const struct tacit_select_update *core_update,
                        const struct tacit_entropy *entropy, struct live_hub_update *update)
{
    struct select_hub const *const own = hub->own;
    struct live_report const report = {.head = core_update->masked != NULL ? &core_update->report
                                               : received != NULL          ? &received->head
                                                                           : NULL,
                                       .masked = core_update->masked,
                                       .words = core_update->words,
                                       .count = own->core.dimension};
    live_hub_note_helper(hub, event, &report, core_update->happened, entropy, update);
    if (core_update->round_is_over)
        live_hub_helper_overtaken(hub);
}

static enum tacit_status hub_step(struct live_hub *hub, const struct live_hub_event *event,
                                  void *message, const struct tacit_entropy *entropy,
                                  struct live_hub_update *update)
{
    struct tacit_select_message *const received = message;
    struct tacit_event const core_event = live_hub_core_event(
        hub, event, hub_view(hub).term, received, received == NULL ? NULL : &received->term);
    struct tacit_select_update core_update;
    enum tacit_status const status =
        tacit_select_hub_step(hub->state, &core_event, entropy, &core_update);
    carry_out(hub, &core_update, update);
    if (hub->helper != NULL)
        note_helper(hub, event, received, &core_update, entropy, update);
    return status;
}

/* ---- The operator's word --------------------------------------------------------------------- */

/* docs/adr/0058 */
static const char *const objections[LIVE_CHANGES] = {
    [LIVE_CHANGE_SET_QUORUM_AND_DEADLINE] =
        "who is chosen rests on latencies up to run.deadline_s, which the "
        "sites have agreed to; say "
        "end, and begin a new run from its model (run.initial)",
    [LIVE_CHANGE_EXTEND_HORIZON] = "the number of rounds is what the sites have agreed to; let the "
                                   "run end, and begin a new one from its model (run.initial)",
    [LIVE_CHANGE_RETIRE_ARM] = "a training has no arms to choose from: its arms are the sites"};

static const struct live_change_texts end_texts = {
    "nothing more is released; what is under way at a site never leaves, or if it was granted "
    "already, is spent and of no use",
    "the model is the mean of the updates that are here, one round the more (with two aggregators "
    "it stays as it is); it has trained less than was meant, and nothing else was promised of it"};

static enum tacit_status hub_change(struct live_hub *hub, const struct live_control_entry *wanted,
                                    uint64_t now_us, const struct tacit_entropy *entropy,
                                    struct live_hub_update *update, uint32_t *number,
                                    const char **objection)
{
    struct tacit_select_update core_update;
    (void)entropy;
    *number = 0; /* there is no log of changes: this one is the last */
    *objection = "a round waits for nobody longer than run.deadline_s, and who did not answer is "
                 "asked again only once it has spoken; to keep a site away for good revoke its key "
                 "(tacit pki revoke)";
    if (wanted->change != LIVE_CHANGE_END_RUN)
        return TACIT_REFUSED; /* to drop a site; all else has its objection */
    enum tacit_status const status = tacit_select_hub_end(hub->state, now_us, &core_update);
    if (status == TACIT_OK)
        carry_out(hub, &core_update, update);
    else
        *objection = "no round has begun, the run is over, or its model is lost here and asked for";
    return status;
}

static void hub_fill_view(const struct live_hub *hub, struct live_hub_view *view)
{
    struct tacit_select_hub_view const core = hub_view(hub);
    *view = live_hub_show(hub, &core.desk);
    view->is_overdue = !core.is_open && !core.finished && !core.awaits_totals;
    view->awaits_totals = core.awaits_totals;
    view->round_count = core.round_count;
    view->active_count = hub->config->arm_count;
    view->report_count = core.covered_count;
    view->missing_count = core.asked_count - core.covered_count;
    view->asked = core.asked;
}

const struct live_hub_ops select_hub_ops = {.wire = &tacit_wire_select,
                                            .one_run = ONE_RUN,
                                            .has_terms = true,
                                            .is_rebuilt = true,
                                            .core = &tacit_select_hub_live,
                                            LIVE_HUB_FUNCTIONS,
                                            .epsilon_nano = hub_epsilon_nano,
                                            .snapshot = tacit_select_hub_live_snapshot,
                                            .restore = tacit_select_hub_live_restore,
                                            .vector = describe_vector,
                                            .epsilon_of = "of a site's data set, in all rounds",
                                            .round = hub_round,
                                            .close = hub_close,
                                            .is_signed = true,
                                            .commit = hub_commit,
                                            .objections = objections,
                                            .end_texts = &end_texts,
                                            .change = hub_change};
