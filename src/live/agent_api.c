/* What the decision API asks of the agent daemon. */
#include "agent_api.h"
#include "agent_causes.h"
#include "agent_chain.h"
#include "agent_control.h"
#include "agent_decisions.h"
#include "agent_promise.h"
#include "agent_result.h"
#include "agent_rows.h"
#include "agent_runs.h"
#include "agent_step.h"
#include "agent_times.h"
#include "agent_units.h"
#include "api/metrics.h"
#include "daemon/entropy.h"
#include "tacit/privacy.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <stdio.h>

#define MISSING_SHOWN_MAX 32u

static uint64_t now_ms(void *context)
{
    return agent_now_ms(context);
}

/* ---- Decisions and rewards ------------------------------------------------------------------- */

static enum tacit_status keep(struct agent *agent, const struct live_decision_answer *answer)
{
    TACIT_ASSERT(answer->is_new);
    struct live_store *const store = agent->daemon.store;
    if (!live_daemon_begin(&agent->daemon))
        return TACIT_IO;
    enum tacit_status status = live_store_put_decision(store, &answer->row);
    if (status == TACIT_OK && answer->unit_is_new)
        status = live_store_put_unit(store, answer->row.unit, answer->row.arm);
    if (status == TACIT_OK && answer->unit_forgotten != NULL)
        status = live_store_drop_unit(store, answer->unit_forgotten);
    if (status != TACIT_OK)
        live_daemon_fail(&agent->daemon, status, "a decision cannot be written");
    return status;
}

/* Also of a decision that was made before: it says what it said then. */
static void tell_choice(const struct agent *agent, struct live_decision_answer *answer)
{
    struct live_choice choice;
    if (answer->row.kind != LIVE_DECISION_CHOSEN ||
        !agent->config->protocol->tell(answer->row.kept, answer->row.kept_size, &choice))
        return;
    answer->is_chosen = true;
    answer->model = choice.model;
    answer->probability = choice.probability;
}

/* Contexts belong to protocols that choose by them, and those choose by nothing else. */
static enum tacit_status offer(struct agent *agent, struct live_decision_request *request)
{
    bool const is_wanted = agent->config->protocol->tell != NULL;
    if (is_wanted != (request->contexts != NULL))
        return TACIT_MALFORMED;
    if (!is_wanted)
        return TACIT_OK;
    if (agent->site == NULL)
        return TACIT_UNEXPECTED;
    bool const is_counted = agent->config->rewards_per_unit_max > 0;
    if ((request->unit != NULL && !is_counted) || request->unavailable != NULL)
        return TACIT_MALFORMED;
    struct tacit_offer const made = {request->context_count, request->dimension, request->contexts};
    enum tacit_status const status = agent_offer(agent, &made, request);
    return status == TACIT_INVALID ? TACIT_MALFORMED : status;
}

static enum tacit_status decide(void *context, const struct live_decision_request *asked,
                                uint64_t at_ms, struct live_decision_answer *answer)
{
    struct agent *const agent = context;
    struct live_decision_request made = *asked;
    struct live_decision_request const *const request = &made;
    char unit[AGENT_UNIT_BYTES];
    enum tacit_status offered = TACIT_OK;
    if (asked->unit != NULL)
        offered = agent_unit_digest(agent, asked->unit, unit);
    if (asked->unit != NULL)
        made.unit = unit;
    if (offered == TACIT_OK)
        offered = offer(agent, &made);
    if (offered != TACIT_OK)
        return offered;
    made.enters_nothing = !agent_unit_has_room(agent, made.unit);
    (void)agent_expire(agent); /* a place that is free again is served now */
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_DECISIONS);
    struct live_fallback const fallback = agent_fallback(agent);
    enum tacit_status const status =
        live_decisions_decide(agent->decisions, request, &fallback, at_ms, &entropy, answer);
    if (status == TACIT_OK)
        tell_choice(agent, answer);
    if (status != TACIT_OK || !answer->is_new)
        return status;
    if (answer->row.kind == LIVE_DECISION_EARLY)
        agent->early_count++;
    /* A pull beside the plan is a pull all the same; beyond T the core counts no more. */
    if (answer->row.kind != LIVE_DECISION_PLANNED && answer->row.kind != LIVE_DECISION_CHOSEN)
        agent_count_played(agent, 1);
    else
        agent_unit_reserve(agent, &answer->row);
    return keep(agent, answer);
}

/* Clipped where it is added up. */
static enum live_reward_answer reward(void *context, uint64_t id, double value, uint64_t at_ms)
{
    struct agent *const agent = context;
    TACIT_ASSERT(isfinite(value));
    (void)agent_expire(agent);
    struct live_reward_outcome const outcome =
        live_decisions_reward(agent->decisions, id, value, at_ms);
    if (outcome.is_changed)
        agent_store_row(agent, &outcome.row);
    if (outcome.wait_grew)
        agent_say_wait(agent);
    if (outcome.answer == LIVE_REWARD_ACCEPTED &&
        (value < agent->config->site.lo || value > agent->config->site.hi))
        agent->clipped_count++;
    if (outcome.answer == LIVE_REWARD_ACCEPTED && outcome.row.kind == LIVE_DECISION_EARLY)
        agent->early_rewards++;
    if (outcome.fills)
        agent_fill_place(agent, &outcome.row, value);
    return outcome.answer;
}

static void open_decisions(void *context,
                           bool (*each)(void *each_context, const struct live_decision_row *row),
                           void *each_context)
{
    struct agent const *const agent = context;
    live_decisions_open(agent->decisions, each, each_context);
}

static enum live_close_answer close_decision(void *context, uint64_t id, uint64_t at_ms)
{
    struct agent *const agent = context;
    struct live_decision_row row;
    enum live_close_answer const answer = live_decisions_close(agent->decisions, id, at_ms, &row);
    if (answer == LIVE_CLOSE_DONE) {
        agent_store_row(agent, &row);
        agent_give_back(agent, &row);
    }
    return answer;
}

/* ---- Status ---------------------------------------------------------------------------------- */

static const char *phase(const struct agent *agent, const struct live_site_view *view)
{
    if (agent->site == NULL)
        return agent->refusal != NULL        ? "refused"
               : agent->runs.waiting != NULL ? "waiting for consent"
                                             : "waiting for an announcement";
    return view->is_halted     ? "halted"
           : view->is_blocked  ? "blocked"
           : view->is_dropped  ? "removed"
           : view->is_finished ? "finished"
           : view->is_decided  ? "decided"
           : view->is_waiting  ? "waiting"
                               : "exploring";
}

static struct live_site_view look(const struct agent *agent)
{
    struct live_site_view view = {0};
    if (agent->site != NULL)
        agent->config->protocol->look(agent->site, &view);
    return view;
}

static json_t *active_names(const struct agent *agent, const struct live_site_view *view)
{
    json_t *const names = json_array();
    for (uint32_t arm = 0; names != NULL && arm < agent->config->site.arm_count; arm++)
        if (view->active == NULL || tacit_bits_has(view->active, arm))
            (void)json_array_append_new(names, json_string(agent->config->site.arm_names[arm]));
    return names;
}

/* Among peers: with whom this site speaks, and whose word it waits for, by their indices. */
static void add_peers(const struct agent *agent, const struct live_site_view *view, json_t *status)
{
    struct live_site_place place;
    if (agent->site == NULL)
        return;
    live_site_place(agent->site, &place);
    if (!place.has_neighbours)
        return;
    json_t *const neighbours = json_array();
    json_t *const missing = json_array();
    json_t *const flagged = json_array();
    for (uint32_t i = 0; i < place.neighbour_count; i++)
        (void)json_array_append_new(neighbours, json_string(place.neighbours[i].site));
    for (uint32_t i = 0; i < place.neighbour_count && view->flagged != NULL; i++)
        if (tacit_bits_has(view->flagged, place.neighbours[i].agent))
            (void)json_array_append_new(flagged, json_string(place.neighbours[i].site));
    for (uint32_t site = 0; site < place.agent_count && view->missing != NULL; site++)
        if (tacit_bits_has(view->missing, site) && json_array_size(missing) < MISSING_SHOWN_MAX)
            (void)json_array_append_new(missing, json_integer(site));
    (void)json_object_set_new(status, "neighbours", neighbours);
    (void)json_object_set_new(status, "missing_reports", json_integer(view->missing_count));
    (void)json_object_set_new(status, "missing_sites", missing);
    (void)json_object_set_new(status, "two_states", flagged);
}

static void add_offender(json_t *list, const char *name, const struct live_sender *sender)
{
    if (live_sender_offends(sender))
        (void)json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:s}", "name", name,
                                                    "refused", (json_int_t)sender->refused_count,
                                                    "unsigned", (json_int_t)sender->unsigned_count,
                                                    "unread", (json_int_t)sender->dropped_count,
                                                    "why", sender->why));
}

/* Under whose name words came that were refused, or were too many to be read. */
static void add_offenders(const struct agent *agent, json_t *status)
{
    struct live_site_place place = {0};
    json_t *const list = json_array();
    add_offender(list, TACIT_WIRE_COORDINATOR, &agent->hub_sender);
    if (agent->neighbour_count > 0)
        live_site_place(agent->site, &place);
    for (uint32_t i = 0; i < place.neighbour_count; i++)
        add_offender(list, place.neighbours[i].site, &agent->neighbours[i]);
    add_offender(list, "others", &agent->strangers);
    (void)json_object_set_new(status, "unsigned_messages",
                              json_integer((json_int_t)agent->unsigned_count));
    (void)json_object_set_new(status, "offenders", list);
}

/* Callers of the API who were refused, or had to make room: by name, where the socket says it. */
static void add_callers(const struct agent *agent, json_t *status)
{
    struct live_callers const *const callers = live_http_callers(agent->daemon.http);
    json_t *const list = json_array();
    for (size_t i = 0; i < LIVE_CALLERS_MAX; i++) {
        struct live_caller const *const caller = &callers->list[i];
        char name[32];
        if (!live_caller_offends(caller))
            continue;
        live_caller_name(caller, name);
        (void)json_array_append_new(
            list,
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "name", name, "open",
                      (json_int_t)caller->open, "too_many_open", (json_int_t)caller->refused_open,
                      "too_many_a_second", (json_int_t)caller->refused_rate, "shed",
                      (json_int_t)caller->shed, "late", (json_int_t)caller->late, "malformed",
                      (json_int_t)caller->malformed));
    }
    (void)json_object_set_new(status, "callers", list);
}

/* Of a site that has an answer at any time: what it takes the means to be, best first. */
static void add_estimates(struct agent *agent, const struct live_site_view *view, json_t *status)
{
    if (view->estimates == NULL)
        return;
    struct live_fallback const fallback = agent_fallback(agent);
    json_t *const list = json_array();
    for (uint32_t i = 0; list != NULL && i < fallback.count; i++) {
        uint32_t const arm = fallback.ranking[i];
        (void)json_array_append_new(list, json_pack("{s:s, s:f}", "name",
                                                    agent->config->site.arm_names[arm], "estimate",
                                                    view->estimates[arm]));
    }
    (void)json_object_set_new(status, "estimates", list);
    (void)json_object_set_new(status, "estimate_spread", json_real(view->estimate_spread));
}

/* Of a site that judges for itself: where the means are, whoever looks when. */
static void add_intervals(const struct agent *agent, const struct live_site_view *view,
                          json_t *status)
{
    TACIT_IMPLIES(view->confidence > 0, (view->lowers != NULL && view->uppers != NULL));
    if (view->confidence <= 0)
        return;
    json_t *const list = json_array();
    for (uint32_t arm = 0; list != NULL && arm < agent->config->site.arm_count; arm++)
        (void)json_array_append_new(list, json_pack("{s:s, s:f, s:f}", "name",
                                                    agent->config->site.arm_names[arm], "lower",
                                                    view->lowers[arm], "upper", view->uppers[arm]));
    (void)json_object_set_new(status, "confidence", json_real(view->confidence));
    (void)json_object_set_new(status, "intervals", list);
}

/* Seconds, to the millisecond. */
static json_t *seconds(uint64_t ms)
{
    return json_real((double)ms / 1e3);
}

/* The one arm that is left, by name; null: it is not decided. */
static json_t *winner(const struct agent *agent, const struct live_site_view *view)
{
    TACIT_IMPLIES(view->is_decided, view->active != NULL);
    return view->is_decided ? json_string(agent->config->site.arm_names[tacit_bits_next(
                                  view->active, agent->config->site.arm_count, 0)])
                            : json_null();
}

static void add_waiting(const struct agent *agent, const struct live_site_view *view,
                        json_t *status)
{
    struct agent_waiting const waiting = agent_waiting(agent);
    struct live_decisions_view const *const decisions = &waiting.decisions;
    json_t *const made =
        json_pack("{s:s?, s:I, s:o, s:o}", "for", agent_wait_word(waiting.what), "open",
                  (json_int_t)decisions->open_planned, "oldest_s",
                  decisions->open_planned > 0 ? seconds(waiting.oldest_ms) : json_null(), "since_s",
                  waiting.waited_ms > 0 ? seconds(waiting.waited_ms) : json_null());
    (void)json_object_set_new(status, "winner", winner(agent, view));
    char const *const trouble = view->trouble != NULL ? view->trouble : agent_chain_trouble(agent);
    (void)json_object_set_new(status, "trouble",
                              trouble == NULL ? json_null() : json_string(trouble));
    (void)json_object_set_new(status, "waits_for", made);
    (void)json_object_set_new(status, "wait_s", seconds(decisions->wait.wait_ms));
    (void)json_object_set_new(status, "given_out_again",
                              json_integer((json_int_t)decisions->missed_count));
    (void)json_object_set_new(status, "early_decisions",
                              json_integer((json_int_t)agent->early_count));
    (void)json_object_set_new(status, "early_rewards",
                              json_integer((json_int_t)agent->early_rewards));
    (void)json_object_set_new(status, "missed_share", json_real(waiting.missed_share));
    (void)json_object_set_new(status, "radius", json_real(waiting.radius));
}

/* Two sites that compare what they hold of one number prove that the coordinator has two states. */
static json_t *digest_text(const struct live_entry *entry)
{
    char text[2 * TACIT_WIRE_DIGEST_BYTES + 1];
    for (size_t i = 0; i < TACIT_WIRE_DIGEST_BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", entry->digest[i]);
    return entry->number == 0 ? json_null() : json_string(text);
}

/* All of it, with what no file says: an operator who has lost the coordinator's state needs it. */
static void add_run(const struct agent *agent, json_t *status)
{
    char text[2 * TACIT_WIRE_RUN_BYTES + 1];
    struct tacit_wire_agreement const *const agreement = live_site_agreement(agent->site);
    for (size_t i = 0; i < TACIT_WIRE_RUN_BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", agreement->run[i]);
    (void)json_object_set_new(status, "run", json_string(text));
    uint64_t const term = agent->letters.term; /* JSON's whole numbers are signed */
    (void)json_object_set_new(status, "term",
                              term <= INT64_MAX ? json_integer((json_int_t)term)
                                                : json_real((double)term));
    (void)json_object_set_new(status, "entry", json_integer((json_int_t)agent->chain.head.number));
    (void)json_object_set_new(status, "entry_digest", digest_text(&agent->chain.head));
}

static json_t *status(void *context)
{
    struct agent *const agent = context;
    struct live_site_view const view = look(agent);
    struct live_decisions_view decisions;
    struct live_bus_counts const bus = live_bus_count(agent->daemon.bus);
    agent_see_standstill(agent);
    live_decisions_look(agent->decisions, &decisions);
    json_t *const made = json_pack(
        "{s:s, s:s, s:s, s:s?, s:b, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "federation",
        agent->config->site.federation, "site", agent->config->site.site, "phase",
        phase(agent, &view), "refusal", agent->refusal, "connected",
        live_bus_is_connected(agent->daemon.bus), "epoch", (json_int_t)view.epoch, "active_arms",
        active_names(agent, &view), "pulls", (json_int_t)view.pull_count, "unserved",
        (json_int_t)decisions.unserved, "open",
        (json_int_t)decisions.open_planned + (json_int_t)decisions.open_other, "release_epoch",
        (json_int_t)view.release_number, "sent_bytes", (json_int_t)bus.sent_bytes, "sent_messages",
        (json_int_t)bus.sent, "refused_messages", (json_int_t)agent->refused_count);
    if (made != NULL && agent->site != NULL)
        add_run(agent, made);
    if (made != NULL)
        add_waiting(agent, &view, made);
    if (made != NULL && view.model != NULL)
        agent_add_model(view.model, made);
    if (made != NULL)
        add_peers(agent, &view, made);
    if (made != NULL)
        add_offenders(agent, made);
    if (made != NULL)
        add_callers(agent, made);
    if (made != NULL)
        add_estimates(agent, &view, made);
    add_intervals(agent, &view, made);
    if (made != NULL)
        agent_add_changes(agent, &view, made);
    if (made != NULL)
        agent_runs_add(agent, made);
    if (made != NULL)
        agent_add_causes(agent, &view, made);
    return made;
}

static bool runs(void *context, struct live_buffer *text)
{
    struct agent *const agent = context;
    return live_runs_list(agent->daemon.store, text) == TACIT_OK;
}

static json_t *result(void *context)
{
    return agent_result(context);
}

static json_t *ledger(void *context)
{
    return agent_ledger(context);
}

static void statement(void *context, struct live_buffer *text)
{
    agent_statement(context, text);
}

/* Of a site that judges for itself, and of one that has estimates. */
static void arm_metrics(const struct agent *agent, const struct live_site_view *view,
                        struct live_buffer *text)
{
    uint32_t const arms = agent->config->site.arm_count;
    if (view->confidence > 0)
        live_metric(text, "tacit_agent_arm_lower", "gauge",
                    "Lower end of the interval of an arm's mean, as a part of the range.");
    for (uint32_t arm = 0; view->confidence > 0 && arm < arms; arm++)
        live_buffer_format(text, "tacit_agent_arm_lower{arm=\"%" PRIu32 "\"} %.6g\n", arm,
                           view->lowers[arm]);
    if (view->confidence > 0)
        live_metric(text, "tacit_agent_arm_upper", "gauge",
                    "Upper end of the interval of an arm's mean, as a part of the range.");
    for (uint32_t arm = 0; view->confidence > 0 && arm < arms; arm++)
        live_buffer_format(text, "tacit_agent_arm_upper{arm=\"%" PRIu32 "\"} %.6g\n", arm,
                           view->uppers[arm]);
    if (view->estimates == NULL)
        return;
    live_metric(text, "tacit_agent_estimate", "gauge",
                "What the site takes an arm's mean reward to be.");
    for (uint32_t arm = 0; arm < arms; arm++)
        live_buffer_format(text, "tacit_agent_estimate{arm=\"%" PRIu32 "\"} %.9g\n", arm,
                           view->estimates[arm]);
    live_metric_gauge(text, "tacit_agent_estimate_spread",
                      "How far an estimate was from a neighbour's at most when they last met.",
                      view->estimate_spread);
}

static void plan_metrics(const struct agent *agent, const struct live_site_view *view,
                         struct live_buffer *text)
{
    struct live_decisions_view decisions;
    live_decisions_look(agent->decisions, &decisions);
    live_metric_gauge(text, "tacit_agent_epoch", "Epoch of the last order; 0: none yet.",
                      view->epoch);
    live_metric_gauge(text, "tacit_agent_hub_epoch", "Epoch that the coordinator spoke of last.",
                      agent->hub_epoch);
    live_metric_gauge(text, "tacit_agent_active_arms", "Arms that are in.", view->active_count);
    live_metric_count(text, "tacit_agent_pulls_total", "Pulls that were played in this run.",
                      view->pull_count);
    live_metric_gauge(text, "tacit_agent_unserved", "Places of the plan that are not given out.",
                      (double)decisions.unserved);
    live_metric_gauge(text, "tacit_agent_open_decisions", "Decisions without a reward.",
                      decisions.open_planned + decisions.open_other);
    live_metric_gauge(text, "tacit_agent_open_places",
                      "Places of the plan that are given out and not filled.",
                      decisions.open_planned);
    live_metric_count(text, "tacit_agent_given_out_again_total",
                      "Places that were given out again because no reward came.",
                      decisions.missed_count);
    live_metric_gauge(text, "tacit_agent_wait_seconds", "How long a decision waits for its reward.",
                      (double)decisions.wait.wait_ms / 1e3);
    live_metric_gauge(text, "tacit_agent_spent_nano_epsilon",
                      "Loss of a reward so far, in billionths of epsilon.",
                      (double)agent->spent_nano);
}

static void metrics(void *context, struct live_buffer *text)
{
    struct agent *const agent = context;
    struct live_site_view const view = look(agent);
    struct live_bus_counts const bus = live_bus_count(agent->daemon.bus);
    struct live_causes const causes = agent_causes(agent, &view);
    json_decref(causes.list);
    live_metric_gauge(text, "tacit_agent_state", "0: ok, 1: waiting, 2: needs attention.",
                      (double)causes.state);
    live_metric_gauge(text, "tacit_agent_connected", "Is there a connection to the broker?",
                      live_bus_is_connected(agent->daemon.bus) ? 1 : 0);
    plan_metrics(agent, &view, text);
    live_metric_count(text, "tacit_agent_early_decisions_total",
                      "Decisions before the site had joined: they count nowhere.",
                      agent->early_count);
    live_metric_count(text, "tacit_agent_early_rewards_total", "Rewards of these.",
                      agent->early_rewards);
    live_metric_gauge(text, "tacit_agent_remembered", "Closed decisions that are remembered.",
                      (double)(live_store_remembered_count(agent->daemon.store) +
                               live_decisions_closed(agent->decisions)));
    live_metric_count(text, "tacit_agent_sent_bytes_total", "Bytes said to the broker.",
                      bus.sent_bytes);
    live_metric_count(text, "tacit_agent_refused_messages_total", "Messages that were refused.",
                      agent->refused_count);
    live_metric_count(text, "tacit_agent_unsigned_messages_total",
                      "Messages that whose name they came under did not sign.",
                      agent->unsigned_count);
    arm_metrics(agent, &view, text);
}

static json_t *health(void *context, bool *is_healthy)
{
    struct agent const *const agent = context;
    struct live_site_view const view = look(agent);
    return agent_health(agent, &view, is_healthy);
}

static uint64_t clipped(void *context)
{
    struct agent const *const agent = context;
    return agent->clipped_count;
}

struct live_api_agent agent_api(struct agent *agent)
{
    return (struct live_api_agent){.context = agent,
                                   .now_ms = now_ms,
                                   .decide = decide,
                                   .reward = reward,
                                   .open = open_decisions,
                                   .close = close_decision,
                                   .status = status,
                                   .result = result,
                                   .ledger = ledger,
                                   .runs = runs,
                                   .statement = statement,
                                   .metrics = metrics,
                                   .clipped = clipped,
                                   .health = health};
}
