/* What the decision API asks of the agent daemon. */
#include "agent_state.h"
#include "board.h"
#include "daemon/entropy.h"
#include "show.h"
#include "tacit/privacy.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MISSING_SHOWN_MAX 32u

static uint64_t now_ms(void *context)
{
    return agent_now_ms(context);
}

/* ---- Decisions and rewards ------------------------------------------------------------------- */

/* A new decision, with what it changed of the units, into this round's batch. */
static enum tacit_status store_decision(struct agent *agent,
                                        const struct live_decision_answer *answer)
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
    live_daemon_check(&agent->daemon, status, "a decision cannot be written");
    return status;
}

/* Also of a decision that was made before: it says what it said then. */
static void fill_choice(const struct agent *agent, struct live_decision_answer *answer)
{
    struct live_choice choice;
    if (answer->row.kind != LIVE_DECISION_CHOSEN ||
        !agent->config->protocol->parse_kept(answer->row.kept, answer->row.kept_size, &choice))
        return;
    answer->is_chosen = true;
    answer->model = choice.model;
    answer->probability = choice.probability;
}

/* Has the protocol choose by the contexts: the request has its choice then. Contexts belong to
 * protocols that choose by them, and those choose by nothing else. */
static enum tacit_status offer(struct agent *agent, struct live_decision_request *request)
{
    bool const is_wanted = agent->config->protocol->parse_kept != NULL;
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

/* request: as it was asked, but with the digest of its unit, and with the protocol's choice. */
static enum tacit_status decide(void *context, const struct live_decision_request *asked,
                                uint64_t at_ms, struct live_decision_answer *answer)
{
    struct agent *const agent = context;
    struct live_decision_request request = *asked;
    char unit[AGENT_UNIT_BYTES];
    enum tacit_status status = TACIT_OK;
    if (asked->unit != NULL) {
        status = agent_unit_digest(agent, asked->unit, unit);
        request.unit = unit;
    }
    if (status == TACIT_OK)
        status = offer(agent, &request);
    if (status != TACIT_OK)
        return status;
    request.enters_nothing = !agent_unit_has_room(agent, request.unit);
    (void)agent_expire(agent); /* a place that is free again is served now */
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_DECISIONS);
    struct live_fallback const fallback = agent_fallback_for(agent, &request);
    status = live_decisions_decide(agent->decisions, &request, &fallback, at_ms, &entropy, answer);
    if (status == TACIT_OK)
        fill_choice(agent, answer);
    if (status != TACIT_OK || !answer->is_new)
        return status;
    if (answer->row.kind == LIVE_DECISION_EARLY)
        agent->early_count++;
    /* A pull beside the plan is a pull all the same; beyond T the core counts no more. */
    if (answer->row.kind != LIVE_DECISION_PLANNED && answer->row.kind != LIVE_DECISION_CHOSEN)
        agent_count_played(agent, 1);
    else
        agent_unit_reserve(agent, &answer->row);
    return store_decision(agent, answer);
}

/* The value is clipped where it is added up; here it is only counted. */
static enum live_reward_answer reward(void *context, struct live_decision_id id, double value,
                                      uint64_t at_ms)
{
    struct agent *const agent = context;
    TACIT_ASSERT(isfinite(value));
    (void)agent_expire(agent);
    struct live_reward_outcome const outcome =
        live_decisions_reward(agent->decisions, id, value, at_ms);
    if (outcome.is_changed)
        agent_store_row(agent, &outcome.row);
    if (outcome.wait_grew)
        agent_log_wait(agent);
    if (outcome.answer == LIVE_REWARD_ACCEPTED &&
        (value < agent->config->site.lo || value > agent->config->site.hi))
        agent->clipped_count++;
    if (outcome.answer == LIVE_REWARD_ACCEPTED && outcome.row.kind == LIVE_DECISION_EARLY)
        agent->early_rewards++;
    if (outcome.fills)
        agent_apply_reward(agent, &outcome.row, value);
    return outcome.answer;
}

static void open_decisions(void *context,
                           bool (*each)(void *each_context, const struct live_decision_row *row),
                           void *each_context)
{
    struct agent const *const agent = context;
    live_decisions_open(agent->decisions, each, each_context);
}

static enum live_close_answer close_decision(void *context, struct live_decision_id id,
                                             uint64_t at_ms)
{
    struct agent *const agent = context;
    struct live_decision_row row;
    enum live_close_answer const answer = live_decisions_close(agent->decisions, id, at_ms, &row);
    if (answer == LIVE_CLOSE_DONE) {
        agent_store_row(agent, &row);
        agent_return_pull(agent, &row);
    }
    return answer;
}

/* ---- Status ---------------------------------------------------------------------------------- */

static const char *phase(const struct agent *agent, const struct live_site_view *view)
{
    if (agent->site == NULL)
        return agent_refusal(agent) != NULL  ? "refused"
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

#define NUMBERS_MAX 32u

/* What is told of this site as numbers. Result: how many. */
static size_t numbers_of(const struct agent *agent, const struct live_site_view *view,
                         struct live_number numbers[NUMBERS_MAX])
{
    struct live_bus_counts const bus = live_bus_count(agent->daemon.bus);
    struct agent_waiting const waiting = agent_waiting(agent);
    struct live_decisions_view const *const decisions = &waiting.decisions;
    uint64_t const remembered =
        live_store_remembered_count(agent->daemon.store) + live_decisions_closed(agent->decisions);
    enum live_number_kind const loss = agent->config->site.budget > 0 ? LIVE_REAL : LIVE_ABSENT;
    struct live_number const all[] = {
        {"connected", "tacit_agent_connected", "Is there a connection to the broker?", LIVE_FLAG,
         live_bus_is_connected(agent->daemon.bus)},
        {"epoch", "tacit_agent_epoch", "Round of the last order; 0: none yet.", LIVE_WHOLE,
         view->epoch},
        {"hub_epoch", "tacit_agent_hub_epoch", "Round that the coordinator named last.", LIVE_WHOLE,
         agent->hub_epoch},
        {"message_version", "tacit_agent_message_version",
         "Version of the messages of this run; 0: none was announced yet.", LIVE_WHOLE,
         agent->envelopes.version},
        {NULL, "tacit_agent_active_arms", "Arms that are in.", LIVE_WHOLE, view->active_count},
        {"pulls", "tacit_agent_pulls_total", "Pulls that were played in this run.", LIVE_WHOLE,
         (double)view->pull_count},
        {"unserved", "tacit_agent_unserved", "Pulls of the plan that are not given out.",
         LIVE_WHOLE, (double)decisions->unserved},
        {"open", "tacit_agent_open_decisions", "Decisions without a reward.", LIVE_WHOLE,
         (double)decisions->open_planned + (double)decisions->open_other},
        {NULL, "tacit_agent_open_places",
         "Pulls of the plan that are given out and have no reward.", LIVE_WHOLE,
         decisions->open_planned},
        {"given_out_again", "tacit_agent_given_out_again_total",
         "Pulls that were given out again because no reward came.", LIVE_WHOLE,
         (double)decisions->missed_count},
        {"wait_s", "tacit_agent_wait_seconds", "How long a decision waits for its reward.",
         LIVE_REAL, (double)decisions->wait.wait_ms / 1e3},
        {NULL, "tacit_agent_waits_for",
         "1: command, 2: grant, 3: decisions, 4: rewards, 5: others.", LIVE_WHOLE,
         (double)waiting.what},
        {NULL, "tacit_agent_still_seconds", "How long nothing has moved here.", LIVE_REAL,
         (double)waiting.still_ms / 1e3},
        {"budget_epsilon", "tacit_agent_budget_epsilon", "Most that a reward may lose.", loss,
         agent->config->site.budget},
        {"spent_epsilon", "tacit_agent_spent_epsilon", "Loss of a reward so far.", loss,
         tacit_nano_value(agent->spent_nano)},
        {"release_epoch", NULL, NULL, LIVE_WHOLE, (double)view->release_number},
        {"missed_share", "tacit_agent_late_share",
         "Part of the rewards due that came too late, or not.", LIVE_REAL, waiting.missed_share},
        {"radius", NULL, NULL, LIVE_REAL, waiting.radius},
        {"confidence", NULL, NULL, view->confidence > 0 ? LIVE_REAL : LIVE_ABSENT,
         view->confidence},
        {"estimate_spread", "tacit_agent_estimate_spread",
         "How far an estimate was from a neighbour's at most when they last met.",
         view->estimates != NULL ? LIVE_REAL : LIVE_ABSENT, view->estimate_spread},
        {"early_decisions", "tacit_agent_early_decisions_total", "Decisions before it had joined.",
         LIVE_WHOLE, (double)agent->early_count},
        {"early_rewards", "tacit_agent_early_rewards_total", "Their rewards.", LIVE_WHOLE,
         (double)agent->early_rewards},
        {NULL, "tacit_agent_remembered", "Closed decisions that are remembered.", LIVE_WHOLE,
         (double)remembered},
        {"sent_bytes", "tacit_agent_sent_bytes_total", "Bytes sent to the broker.", LIVE_WHOLE,
         (double)bus.sent_bytes},
        {"sent_messages", NULL, NULL, LIVE_WHOLE, (double)bus.sent},
        {"refused_messages", "tacit_agent_refused_messages_total", "Messages that were refused.",
         LIVE_WHOLE, (double)agent->member.refused_count},
        {"unsigned_messages", "tacit_agent_unsigned_messages_total",
         "Messages without a valid signature of their sender.", LIVE_WHOLE,
         (double)agent->member.unsigned_count}};
    _Static_assert(sizeof all / sizeof all[0] <= NUMBERS_MAX, "room for all");
    memcpy(numbers, all, sizeof all);
    return sizeof all / sizeof all[0];
}

#define ARM_COLUMNS 3u

/* Anytime-valid intervals, of a site that judges for itself; and estimates, of one that has them.
 */
static void arm_columns(const struct live_site_view *view, struct live_column columns[ARM_COLUMNS])
{
    bool const judges = view->confidence > 0;
    TACIT_IMPLIES(judges, (view->lowers != NULL && view->uppers != NULL));
    struct live_column const all[ARM_COLUMNS] = {
        {"lower", "tacit_agent_arm_lower",
         "Lower end of the interval of an arm's mean, as a part of the range.", LIVE_REALS,
         judges ? view->lowers : NULL},
        {"upper", "tacit_agent_arm_upper",
         "Upper end of the interval of an arm's mean, as a part of the range.", LIVE_REALS,
         judges ? view->uppers : NULL},
        {NULL, "tacit_agent_estimate", "What the site takes an arm's mean reward to be.",
         LIVE_REALS, view->estimates}};
    memcpy(columns, all, sizeof all);
}

static json_t *active_names(const struct agent *agent, const struct live_site_view *view)
{
    json_t *const names = json_array();
    for (uint32_t arm = 0; names != NULL && arm < agent->config->site.arm_count; arm++)
        if (live_site_has_arm(view, arm))
            (void)json_array_append_new(names, json_string(agent->config->site.arm_names[arm]));
    return names;
}

/* Among peers: with whom this site speaks, and whose word it waits for, by their indices. */
static void add_peers(const struct agent *agent, const struct live_site_view *view, json_t *status)
{
    struct live_site_role role;
    if (agent->site == NULL)
        return;
    live_site_role(agent->site, &role);
    if (!role.has_neighbours)
        return;
    json_t *const neighbours = json_array();
    json_t *const missing = json_array();
    json_t *const flagged = json_array();
    for (uint32_t i = 0; i < role.neighbour_count; i++)
        (void)json_array_append_new(neighbours, json_string(role.neighbours[i].site));
    for (uint32_t i = 0; i < role.neighbour_count && view->flagged != NULL; i++)
        if (tacit_bits_has(view->flagged, role.neighbours[i].agent))
            (void)json_array_append_new(flagged, json_string(role.neighbours[i].site));
    for (uint32_t site = 0; site < role.agent_count && view->missing != NULL; site++)
        if (tacit_bits_has(view->missing, site) && json_array_size(missing) < MISSING_SHOWN_MAX)
            (void)json_array_append_new(missing, json_integer(site));
    (void)json_object_set_new(status, "neighbours", neighbours);
    (void)json_object_set_new(status, "missing_reports", json_integer(view->missing_count));
    (void)json_object_set_new(status, "missing_sites", missing);
    (void)json_object_set_new(status, "two_states", flagged);
}

/* Under whose name words came that were refused, or were too many to be read. */
static void add_offenders(const struct agent *agent, json_t *status)
{
    struct live_site_role role = {0};
    json_t *const list = json_array();
    live_show_offender(TACIT_WIRE_COORDINATOR, &agent->hub_sender, list);
    if (agent->neighbour_count > 0)
        live_site_role(agent->site, &role);
    for (uint32_t i = 0; i < role.neighbour_count; i++)
        live_show_offender(role.neighbours[i].site, &agent->neighbours[i], list);
    live_show_offender("others", &agent->strangers, list);
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
}

/* Anytime-valid ones, of a site that judges for itself. */
static void add_intervals(const struct agent *agent, const struct live_site_view *view,
                          json_t *status)
{
    struct live_column columns[ARM_COLUMNS];
    if (view->confidence <= 0)
        return;
    json_t *const list = json_array();
    arm_columns(view, columns);
    for (uint32_t arm = 0; list != NULL && arm < agent->config->site.arm_count; arm++) {
        json_t *const made = json_pack("{s:s}", "name", agent->config->site.arm_names[arm]);
        live_columns_show(columns, ARM_COLUMNS, arm, made);
        (void)json_array_append_new(list, made);
    }
    (void)json_object_set_new(status, "intervals", list);
}

/* Seconds, to the millisecond. */
static json_t *seconds(uint64_t ms)
{
    return json_real((double)ms / 1e3);
}

static void add_waiting(const struct agent *agent, const struct live_site_view *view,
                        json_t *status)
{
    struct agent_waiting const waiting = agent_waiting(agent);
    struct live_decisions_view const *const decisions = &waiting.decisions;
    json_t *const made =
        json_pack("{s:s?, s:I, s:o, s:o, s:I}", "for", agent_wait_name(waiting.what), "open",
                  (json_int_t)decisions->open_planned, "oldest_s",
                  decisions->open_planned > 0 ? seconds(waiting.oldest_ms) : json_null(), "since_s",
                  waiting.waited_ms > 0 ? seconds(waiting.waited_ms) : json_null(), "still_s",
                  (json_int_t)(waiting.still_ms / 1000u));
    (void)json_object_set_new(status, "winner", json_pack("s?", agent_winner(agent, view)));
    char const *const trouble =
        view->trouble != NULL ? view->trouble : agent_replicated_log_trouble(agent);
    (void)json_object_set_new(status, "trouble",
                              trouble == NULL ? json_null() : json_string(trouble));
    (void)json_object_set_new(status, "waits_for", made);
}

/* All of it, with what no file says: an operator who has lost the coordinator's state needs it. */
static void add_run(const struct agent *agent, json_t *status)
{
    struct tacit_wire_agreement const *const agreement = live_site_agreement(agent->site);
    (void)json_object_set_new(status, "run",
                              live_show_bytes(agreement->run, sizeof agreement->run));
    live_show_entry(agent->envelopes.term, &agent->replicated_log.held.head, status);
}

/* The answer first, as far as this site knows one. */
static json_t *headline(struct agent *agent, const struct live_site_view *view)
{
    uint32_t const arms = agent->config->site.arm_count;
    char const *const *const names = agent->config->site.arm_names;
    struct live_fallback const fallback = agent_fallback(agent);
    struct live_buffer out = {0};
    if (agent->site == NULL)
        live_buffer_format(&out, "%s", phase(agent, view));
    else if (view->is_decided)
        live_buffer_format(&out, "%.900s wins", agent_winner(agent, view));
    else if (fallback.count > 0 && view->release_number > 0 && view->model == NULL)
        live_buffer_format(&out, "%.900s leads, by what this site knows",
                           names[fallback.ranking[0]]);
    else
        live_buffer_add(&out, "no arm leads yet");
    if (agent->site != NULL && view->active != NULL)
        live_show_arms_out(arms, view->active_count, &out);
    return live_show_sentence(&out);
}

static json_t *status(struct agent *agent)
{
    struct live_site_config const *const site = &agent->config->site;
    struct live_site_view const view = agent_view(agent);
    struct live_number numbers[NUMBERS_MAX];
    agent_see_standstill(agent);
    json_t *const made =
        json_pack("{s:s, s:s, s:s, s:s?}", "federation", site->federation, "site", site->site,
                  "phase", phase(agent, &view), "refusal", agent_refusal(agent));
    if (made == NULL)
        return NULL;
    live_numbers_show(numbers, numbers_of(agent, &view, numbers), made);
    (void)json_object_set_new(made, "active_arms", active_names(agent, &view));
    if (agent->site != NULL)
        add_run(agent, made);
    add_waiting(agent, &view, made);
    (void)json_object_set_new(made, "headline", headline(agent, &view));
    if (view.model != NULL)
        (void)json_object_set_new(made, "model", live_show_model(view.model));
    add_peers(agent, &view, made);
    add_offenders(agent, made);
    add_callers(agent, made);
    add_estimates(agent, &view, made);
    add_intervals(agent, &view, made);
    agent_add_changes(agent, &view, made);
    agent_runs_add(agent, made);
    agent_add_causes(agent, &view, made);
    return made;
}

static unsigned show_page(void *context, struct live_buffer *text)
{
    struct agent *const agent = context;
    struct live_site_config const *const site = &agent->config->site;
    json_t *const tree = status(agent);
    json_t *const known = agent_result(agent);
    struct live_buffer privacy = {0};
    char role[80];
    (void)snprintf(role, sizeof role, "site %.64s", site->site);
    agent_statement(agent, &privacy);
    live_buffer_add_bytes(&privacy, "", 1);
    struct live_board const board = {.status = tree,
                                     .arms = json_object_get(known, "arms"),
                                     .role = role,
                                     .protocol = agent->config->protocol->wire->name,
                                     .version = agent->config->daemon.version,
                                     .arm_names = site->arm_names,
                                     .history = &agent->history,
                                     .lo = site->lo,
                                     .hi = site->hi,
                                     .statement = privacy.failed ? NULL : privacy.bytes};
    live_board_write(&board, text);
    live_buffer_free(&privacy);
    json_decref(known);
    json_decref(tree);
    return 200;
}

/* The answer is this tree, which it frees. NULL: out of memory; live_api_reply then makes another
 * answer of the 200. */
static unsigned show_tree(json_t *tree, struct live_buffer *text)
{
    char *const words = tree == NULL ? NULL : json_dumps(tree, JSON_INDENT(2));
    text->failed = text->failed || words == NULL;
    live_buffer_add(text, words == NULL ? "" : words);
    free(words);
    json_decref(tree);
    return 200;
}

static unsigned show_status(void *context, struct live_buffer *text)
{
    return show_tree(status(context), text);
}

static unsigned show_result(void *context, struct live_buffer *text)
{
    return show_tree(agent_result(context), text);
}

static unsigned show_ledger(void *context, struct live_buffer *text)
{
    return show_tree(agent_ledger(context), text);
}

static unsigned show_runs(void *context, struct live_buffer *text)
{
    struct agent *const agent = context;
    text->failed = live_runs_list(agent->daemon.store, text) != TACIT_OK || text->failed;
    return 200;
}

static unsigned show_statement(void *context, struct live_buffer *text)
{
    agent_statement(context, text);
    return 200;
}

static unsigned show_metrics(void *context, struct live_buffer *text)
{
    struct agent *const agent = context;
    struct live_site_view const view = agent_view(agent);
    struct live_causes const causes = agent_causes(agent, &view);
    struct live_number numbers[NUMBERS_MAX];
    struct live_column columns[ARM_COLUMNS];
    arm_columns(&view, columns);
    size_t const count = numbers_of(agent, &view, numbers);
    live_show_numbers("tacit_agent_state", &causes, numbers, count, text);
    live_show_machine(agent->config->daemon.state_directory, agent->config->daemon.disk_low_mib,
                      text);
    live_columns_write(columns, ARM_COLUMNS, "arm", agent->config->site.arm_names,
                       agent->config->site.arm_count, text);
    live_api_write_counts(agent->api, text);
    return 200;
}

static unsigned show_health(void *context, struct live_buffer *text)
{
    struct agent const *const agent = context;
    struct live_site_view const view = agent_view(agent);
    bool is_healthy = false;
    (void)show_tree(agent_health(agent, &view, &is_healthy), text);
    return is_healthy ? 200 : 503;
}

/* Depends on rewards, as nothing else that is shown does. So it has a page of its own, for the
 * site's operator: /v1/status and /metrics do not hold it (PRIVACY.md B.7). */
static unsigned show_clipped(void *context, struct live_buffer *text)
{
    struct agent const *const agent = context;
    live_buffer_format(text, "{\"clipped\": %" PRIu64 "}", agent->clipped_count);
    return 200;
}

/* The same as Prometheus text, with the count that gives the share: for a scraper of the site's own
 * API. Never on the address for other machines: observe.c lists what that serves. */
static unsigned show_clipped_metrics(void *context, struct live_buffer *text)
{
    struct agent const *const agent = context;
    struct live_number const counts[] = {{NULL, "tacit_api_clipped_total",
                                          "Rewards accepted that were outside the range.",
                                          LIVE_WHOLE, (double)agent->clipped_count},
                                         {NULL, "tacit_api_counted_total", "Rewards accepted.",
                                          LIVE_WHOLE, (double)live_api_count(agent->api).rewards}};
    live_numbers_write(counts, sizeof counts / sizeof counts[0], text);
    return 200;
}

struct live_api_agent agent_api(struct agent *agent)
{
    static const char json[] = "application/json";
    static const char metrics[] = "text/plain; version=0.0.4; charset=utf-8";
    static const struct live_page pages[] = {
        {"/v1/status", json, show_status},
        {"/v1/result", json, show_result},
        {"/v1/ledger", json, show_ledger},
        {"/v1/runs", json, show_runs},
        {"/v1/statement", "text/plain; charset=utf-8", show_statement},
        {"/v1/clipped", json, show_clipped},
        {"/v1/clipped/metrics", metrics, show_clipped_metrics},
        {"/", "text/html; charset=utf-8", show_page},
        {"/dashboard.js", "text/javascript", live_show_script},
        {"/health", json, show_health},
        {"/metrics", metrics, show_metrics},
        {.path = NULL}};
    return (struct live_api_agent){agent,          now_ms,         decide, reward,
                                   open_decisions, close_decision, pages};
}
