/* The coordinator's status: for machines and for people. Shows what the network has seen anyway. */
#include "status_page.h"
#include "api/api_json.h"
#include "api/numbers.h"
#include "control.h"
#include "hub_causes.h"
#include "show.h"
#include "tacit/linalg.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define US_PER_S UINT64_C(1000000)

uint32_t live_hub_winner(const struct live_hub_view *hub, uint32_t arm_count)
{
    if (hub->votes != NULL) /* one is left */
        return hub->is_finished ? tacit_bits_next(hub->active, arm_count, 0) : UINT32_MAX;
    if (!hub->is_finished || hub->means == NULL || (hub->judges && hub->active == NULL))
        return UINT32_MAX;
    if (hub->intervals != NULL)
        return hub->intervals->leader;
    uint32_t best = UINT32_MAX;
    for (uint32_t arm = 0; arm < arm_count; arm++)
        if ((hub->active == NULL || tacit_bits_has(hub->active, arm)) &&
            (best == UINT32_MAX || hub->means[arm] > hub->means[best]))
            best = arm;
    return best;
}

/* Did it show another release than the one that was granted to it? */
static bool has_two_states(const struct live_hub_view *hub, uint32_t site)
{
    return hub->flagged != NULL && tacit_bits_has(hub->flagged, site);
}

/* Rounds are over with the run; votes stay. */
static bool is_still_asked(const struct live_hub_view *hub, uint32_t site)
{
    return (!hub->is_finished || hub->votes != NULL) && tacit_bits_has(hub->asked, site);
}

/* ---- The answer ------------------------------------------------------------------------------ */

/* Is it to come, or was it retired? */
static bool is_absent(const struct live_hub_view *hub, uint32_t arm)
{
    return hub->absent != NULL && tacit_bits_has(hub->absent, arm);
}

/* Names the arms other than the leader that are, or are not, surely worse. Result: how many. */
static uint32_t add_others(const struct live_status *status, bool are_worse,
                           struct live_buffer *out)
{
    struct live_hub_intervals const *const known = status->hub->intervals;
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < status->config->arm_count; arm++) {
        bool const is_worse = known->uppers[arm] < known->lowers[known->leader];
        if (arm == known->leader || is_worse != are_worse || is_absent(status->hub, arm))
            continue;
        live_buffer_add(out, count++ == 0 ? "" : ", ");
        live_buffer_add(out, status->config->arm_names[arm]);
    }
    return count;
}

/* What may be said at any time, by intervals that hold at all times, as a text. False: nothing yet.
 */
static bool say_answer(const struct live_status *status, struct live_buffer *out)
{
    struct live_hub_intervals const *const known = status->hub->intervals;
    struct live_buffer others = {0};
    if (known == NULL || known->leader >= status->config->arm_count)
        return false;
    live_buffer_add(out, status->config->arm_names[known->leader]);
    if (add_others(status, true, &others) > 0) {
        live_buffer_add(out, " is better than ");
        live_buffer_add_bytes(out, others.bytes, others.size);
        live_buffer_format(out, " with confidence %.6g %%, whenever you look",
                           100 * known->confidence);
    } else {
        live_buffer_add(out, " leads");
    }
    live_buffer_free(&others);
    others = (struct live_buffer){0};
    if (add_others(status, false, &others) > 0) {
        live_buffer_add(out, "; not told apart from it: ");
        live_buffer_add_bytes(out, others.bytes, others.size);
    }
    live_buffer_free(&others);
    live_buffer_add_bytes(out, "", 1);
    return !out->failed;
}

/* ---- What is known of it, as numbers --------------------------------------------------------- */

#define NUMBERS_MAX 24u

static size_t numbers_of(const struct live_status *status, struct live_number numbers[NUMBERS_MAX])
{
    struct live_hub_view const *const hub = status->hub;
    enum live_number_kind const judged = hub->judges ? LIVE_WHOLE : LIVE_ABSENT;
    enum live_number_kind const changed = hub->takes_changes ? LIVE_WHOLE : LIVE_ABSENT;
    uint32_t const flagged =
        hub->flagged == NULL ? 0 : tacit_bits_count(hub->flagged, status->config->site_count);
    struct live_number const all[] = {
        {"connected", "tacit_hub_connected", "Is there a connection to the broker?", LIVE_FLAG,
         status->broker.is_connected},
        {"epoch", "tacit_hub_epoch", "Epoch of the last order; 0: none yet.", LIVE_WHOLE,
         hub->epoch},
        {"rounds", "tacit_hub_rounds", "Rounds that were closed.", judged, hub->round_count},
        {"pulls", NULL, NULL, judged, (double)hub->pulls},
        {"active_arms", "tacit_hub_active_arms", "Arms that are in.", judged, hub->active_count},
        {"reports", NULL, NULL, judged, hub->is_finished ? 0 : hub->report_count},
        {"missing", "tacit_hub_reports_missing", "Reports that this round waits for.", judged,
         hub->missing_count},
        {"covered", NULL, NULL, judged, hub->covered_count},
        {"quorum", NULL, NULL, judged, hub->takes_changes ? hub->quorum : status->config->quorum},
        {"radius", NULL, NULL, hub->judges ? LIVE_REAL : LIVE_ABSENT, hub->radius},
        {"votes_needed", NULL, NULL, hub->votes != NULL ? LIVE_WHOLE : LIVE_ABSENT,
         hub->votes_needed},
        {"deadline_s", NULL, NULL, changed, hub->deadline_s},
        {"horizon", NULL, NULL, changed, (double)hub->horizon},
        {NULL, "tacit_hub_sites_in_two_states", "Sites that showed two states.", LIVE_WHOLE,
         flagged},
        {"message_version", "tacit_hub_message_version", "Version of the messages of this run.",
         LIVE_WHOLE, status->version},
        {"accepted", "tacit_hub_messages_accepted_total", "Messages that were accepted.",
         LIVE_WHOLE, (double)status->accepted_count},
        {"refused", "tacit_hub_messages_refused_total", "Messages that were refused.", LIVE_WHOLE,
         (double)status->refused_count},
        {"unsigned", "tacit_hub_messages_unsigned_total",
         "Messages that whose name they came under did not sign.", LIVE_WHOLE,
         (double)status->unsigned_count}};
    _Static_assert(sizeof all / sizeof all[0] <= NUMBERS_MAX, "room for all");
    memcpy(numbers, all, sizeof all);
    return sizeof all / sizeof all[0];
}

#define SITE_COLUMNS 2u

static void site_columns(const struct live_hub_view *hub, struct live_column columns[SITE_COLUMNS])
{
    columns[0] =
        (struct live_column){"last_report_epoch", "tacit_hub_site_report_epoch",
                             "Epoch that was heard of last from a site.", LIVE_U32S, hub->seen};
    columns[1] = (struct live_column){"pulls", "tacit_hub_site_pulls",
                                      "Pulls that a site has told.", LIVE_U64S, hub->pulls_told};
}

#define ARM_COLUMNS 8u

/* Nothing where the sites judge for themselves. */
static void arm_columns(const struct live_hub_view *hub, struct live_column columns[ARM_COLUMNS])
{
    struct live_hub_intervals const *const known = hub->intervals;
    struct live_column const all[ARM_COLUMNS] = {
        {"mean", hub->spreads != NULL ? "tacit_hub_mean" : NULL, "Mean of the sites' estimates.",
         LIVE_REALS, hub->means},
        {"lower", "tacit_hub_arm_lower",
         "Lower end of the interval of an arm's mean, as a part of the range.", LIVE_REALS,
         known == NULL ? NULL : known->lowers},
        {"upper", "tacit_hub_arm_upper",
         "Upper end of the interval of an arm's mean, as a part of the range.", LIVE_REALS,
         known == NULL ? NULL : known->uppers},
        {"spread", "tacit_hub_spread", "Widest difference between two sites' means.", LIVE_REALS,
         hub->spreads},
        {"eliminated_epoch", NULL, NULL, LIVE_U32S, hub->eliminated},
        {"retired", NULL, NULL, LIVE_BITS, hub->takes_changes ? hub->retired : NULL},
        {"votes", "tacit_hub_arm_votes", "Sites that have voted the arm out.", LIVE_U32S,
         hub->votes},
        {"in", NULL, NULL, LIVE_BITS, hub->votes != NULL ? hub->active : NULL}};
    memcpy(columns, all, sizeof all);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static struct live_control_names names_of(const struct live_status *status)
{
    struct live_hub_config const *const run = status->config;
    return (struct live_control_names){run->sites, run->site_count, run->arm_names, run->arm_count};
}

static json_t *site_tree(const struct live_status *status, uint32_t site)
{
    struct live_hub_view const *const hub = status->hub;
    struct live_hub_config const *const run = status->config;
    bool const is_asked = is_still_asked(hub, site);
    uint64_t const heard_us = status->heard_us[site]; /* 0: not since the start */
    struct live_column columns[SITE_COLUMNS];
    json_t *const made = json_pack(
        "{s:s, s:b, s:b, s:b, s:o}", "name", run->sites[site], "asked", is_asked, "reported",
        is_asked && tacit_bits_has(hub->received, site), "two_states", has_two_states(hub, site),
        "heard_s",
        heard_us == 0 ? json_null()
                      : json_integer((json_int_t)((status->now_us - heard_us) / US_PER_S)));
    site_columns(hub, columns);
    live_columns_show(columns, SITE_COLUMNS, site, made);
    if (!hub->takes_changes)
        return made;
    (void)json_object_set_new(made, "dropped", json_boolean(tacit_bits_has(hub->dropped, site)));
    (void)json_object_set_new(
        made, "refuses",
        live_show_names(run->arm_names, run->arm_count,
                        hub->refused + (size_t)site * TACIT_BITS_WORDS(run->arm_count)));
    return made;
}

/* Under whose name words came that were refused, or were too many to be read. */
static json_t *offenders(const struct live_status *status)
{
    json_t *const list = json_array();
    for (uint32_t site = 0; site < status->config->site_count; site++)
        live_show_offender(status->config->sites[site], &status->senders[site], list);
    live_show_offender("others", status->strangers, list);
    return list;
}

static json_t *sites(const struct live_status *status)
{
    json_t *const list = json_array();
    for (uint32_t site = 0; site < status->config->site_count; site++)
        (void)json_array_append_new(list, site_tree(status, site));
    return list;
}

static json_t *arms(const struct live_status *status)
{
    struct live_column columns[ARM_COLUMNS];
    json_t *const list = json_array();
    arm_columns(status->hub, columns);
    for (uint32_t arm = 0; arm < status->config->arm_count; arm++) {
        json_t *const made = json_pack("{s:s}", "name", status->config->arm_names[arm]);
        live_columns_show(columns, ARM_COLUMNS, arm, made);
        if (status->hub->absent != NULL)
            (void)json_object_set_new(made, "present", json_boolean(!is_absent(status->hub, arm)));
        (void)json_array_append_new(list, made);
    }
    return list;
}

/* By name; NULL: none. */
static const char *winner(const struct live_status *status)
{
    uint32_t const arm = live_hub_winner(status->hub, status->config->arm_count);
    return arm < status->config->arm_count ? status->config->arm_names[arm] : NULL;
}

static const char *phase(const struct live_status *status)
{
    if (!status->hub->judges && !status->hub->is_finished)
        return "watching";
    return status->hub->is_finished  ? "finished"
           : status->hub->is_overdue ? "waiting"
                                     : "collecting";
}

static void add_answer(const struct live_status *status, json_t *made)
{
    struct live_buffer answer = {0};
    struct live_hub_intervals const *const known = status->hub->intervals;
    if (say_answer(status, &answer))
        (void)json_object_update_new(
            made, json_pack("{s:f, s:s, s:s}", "confidence", known->confidence, "answer",
                            answer.bytes, "leader", status->config->arm_names[known->leader]));
    live_buffer_free(&answer);
}

static void write_json(const struct live_status *status, struct live_buffer *out)
{
    struct live_control_names const names = names_of(status);
    struct live_hub_view const *const hub = status->hub;
    struct live_causes const causes = live_hub_causes(status);
    struct live_number numbers[NUMBERS_MAX];
    uint8_t run[TACIT_WIRE_RUN_BYTES];
    live_hub_run(status->config, run);
    json_t *const made =
        json_pack("{s:s, s:o, s:I, s:s, s:s?}", "federation", status->config->federation, "run",
                  live_show_bytes(run, sizeof run), "run_id", (json_int_t)status->config->run_id,
                  "phase", phase(status), "winner", winner(status));
    live_show_causes(&causes, &status->broker, made);
    live_show_entry(status->term, status->entry, made);
    live_numbers_show(numbers, numbers_of(status, numbers), made);
    add_answer(status, made);
    (void)json_object_set_new(made, "offenders", offenders(status));
    (void)json_object_set_new(made, "sites", sites(status));
    (void)json_object_set_new(made, "arms", arms(status));
    if (hub->takes_changes)
        (void)json_object_set_new(made, "changes",
                                  live_control_list(hub->changes, hub->change_count, &names));
    if (hub->model != NULL)
        (void)json_object_set_new(made, "model", live_show_model(hub->model));
    live_buffer_add_tree(out, made);
}

/* ---- The page -------------------------------------------------------------------------------- */

static void add_escaped(struct live_buffer *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<')
            live_buffer_add(out, "&lt;");
        else if (*text == '&')
            live_buffer_add(out, "&amp;");
        else
            live_buffer_add_bytes(out, text, 1);
    }
}

static void write_site_rows(const struct live_status *status, struct live_buffer *out)
{
    struct live_hub_view const *const hub = status->hub;
    for (uint32_t site = 0; site < status->config->site_count; site++) {
        bool const is_asked = is_still_asked(hub, site);
        live_buffer_add(out, "<tr><td>");
        add_escaped(out, status->config->sites[site]);
        bool const is_dropped = hub->takes_changes && tacit_bits_has(hub->dropped, site);
        live_buffer_format(out, "<td>%s%s<td>%" PRIu64 "\n",
                           is_dropped                            ? "removed"
                           : !is_asked                           ? "not asked"
                           : tacit_bits_has(hub->received, site) ? "reported"
                                                                 : "<b>missing</b>",
                           has_two_states(hub, site) ? ", <b>two states</b>" : "",
                           hub->pulls_told != NULL ? hub->pulls_told[site] : hub->seen[site]);
    }
}

/* Is it out, and since when? */
static void write_arm_state(const struct live_hub_view *hub, uint32_t arm, struct live_buffer *out)
{
    uint32_t const epoch = hub->eliminated == NULL ? 0 : hub->eliminated[arm];
    if (hub->takes_changes && tacit_bits_has(hub->retired, arm))
        live_buffer_add(out, "retired by the operator\n");
    else if (epoch > 0)
        live_buffer_format(out, "eliminated in epoch %" PRIu32 "\n", epoch);
    else if (hub->spreads != NULL)
        live_buffer_format(out, "spread between sites %.4f\n", hub->spreads[arm]);
    else if (hub->votes != NULL && !tacit_bits_has(hub->active, arm))
        live_buffer_add(out, "voted out\n");
    else
        live_buffer_add(out, "in\n");
}

static void write_arm_rows(const struct live_status *status, struct live_buffer *out)
{
    struct live_hub_view const *const hub = status->hub;
    for (uint32_t arm = 0; arm < status->config->arm_count; arm++) {
        live_buffer_add(out, "<tr><td>");
        add_escaped(out, status->config->arm_names[arm]);
        live_buffer_add(out, "<td>");
        if (hub->means != NULL)
            live_buffer_format(out, "%.4f", hub->means[arm]);
        if (hub->intervals != NULL)
            live_buffer_format(out, " in [%.4f, %.4f]", hub->intervals->lowers[arm],
                               hub->intervals->uppers[arm]);
        if (hub->votes != NULL)
            live_buffer_format(out, "%" PRIu32 " of %" PRIu32, hub->votes[arm], hub->votes_needed);
        live_buffer_add(out, "<td>");
        write_arm_state(hub, arm, out);
    }
}

static void write_winner(const struct live_status *status, struct live_buffer *out)
{
    if (winner(status) == NULL)
        return;
    live_buffer_add(out, "; <b>");
    add_escaped(out, winner(status));
    live_buffer_add(out, "</b> wins");
    if (status->hub->judges && status->hub->active_count > 1 && status->hub->intervals == NULL)
        live_buffer_format(out, " by its mean; %" PRIu32 " others were not told apart from it",
                           status->hub->active_count - 1);
}

static void write_answer(const struct live_status *status, struct live_buffer *out)
{
    struct live_buffer answer = {0};
    if (say_answer(status, &answer)) {
        live_buffer_add(out, "<p>");
        add_escaped(out, answer.bytes);
        live_buffer_format(out,
                           ". <small>Each mean is in its interval, all of them at all times "
                           "together, with confidence %.6g&nbsp;%%.</small>\n",
                           100 * status->hub->intervals->confidence);
    }
    live_buffer_free(&answer);
}

/* Each coefficient, and what the ellipsoid leaves of it. */
static void write_model(const struct live_model *model, struct live_buffer *out)
{
    size_t const stride = TACIT_LINALG_STRIDE(model->dimension);
    live_buffer_format(out,
                       "<p>Model %" PRIu64 ", of %" PRIu64
                       " rewards\n<table><tr><th>feature<th>coefficient<th>\n",
                       model->number, model->observation_count);
    for (uint32_t i = 0; i < model->dimension; i++) {
        double const half = model->radius * sqrt(model->inverse[i * stride + i]);
        live_buffer_add(out, "<tr><td>");
        add_escaped(out, model->names[i]);
        live_buffer_format(out, "<td>%.4f<td>[%.4f, %.4f]\n", model->coefficients[i],
                           model->coefficients[i] - half, model->coefficients[i] + half);
    }
    live_buffer_add(out, "</table>");
}

static void write_rounds(const struct live_hub_view *hub, struct live_buffer *out)
{
    if (hub->votes != NULL)
        live_buffer_format(out, "%" PRIu32 " arms left, %" PRIu32 " sites have voted",
                           hub->active_count, hub->report_count);
    else if (hub->judges)
        live_buffer_format(
            out,
            hub->intervals == NULL
                ? "%" PRIu32 " rounds, %" PRIu32 " arms left, each pulled %" PRIu64 " times"
                : "%" PRIu32 " rounds, %" PRIu32 " arms may be the best, %" PRIu64 " pulls a site",
            hub->round_count, hub->active_count, hub->pulls);
    else if (hub->pulls_told != NULL)
        live_buffer_add(out, "each site has its own estimates; below, what the sites have told");
    else
        live_buffer_add(out, "each site judges for itself and knows which arms are in");
}

/* In order, with what each does. */
static void write_changes(const struct live_status *status, struct live_buffer *out)
{
    struct live_control_names const names = names_of(status);
    for (uint32_t i = 0; i < status->hub->change_count; i++) {
        struct live_control_entry const *const entry = &status->hub->changes[i];
        struct live_buffer words = {0};
        live_control_say(entry, &names, &words);
        live_buffer_add_bytes(&words, "", 1);
        live_buffer_format(out, "<p>Changed in epoch %" PRIu32 ": <b>", entry->epoch);
        add_escaped(out, words.failed ? "" : words.bytes);
        live_buffer_add(out, "</b>. <small>Privacy: ");
        live_buffer_add(out, live_control_privacy(entry->change));
        live_buffer_add(out, ". Guarantee: ");
        live_buffer_add(out, live_control_guarantee(entry->change));
        live_buffer_add(out, ".</small>\n");
        live_buffer_free(&words);
    }
}

static void write_page(const struct live_status *status, struct live_buffer *out)
{
    struct live_hub_view const *const hub = status->hub;
    live_buffer_add(out, "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=2>"
                         "<title>tacit</title><style>body{font:16px system-ui;max-width:44rem;"
                         "margin:2rem auto;padding:0 1rem;color-scheme:light dark}table{width:100%;"
                         "border-collapse:collapse}td,th{text-align:left;padding:.3rem;"
                         "border-bottom:1px solid #8884}</style><h1>");
    add_escaped(out, status->config->federation);
    live_buffer_format(out, "</h1><p>%s, epoch %" PRIu32 ", ", phase(status), hub->epoch);
    write_rounds(hub, out);
    write_winner(status, out);
    live_buffer_format(out, "; %s the broker\n",
                       status->broker.is_connected ? "connected to" : "<b>not connected</b> to");
    live_buffer_format(out, "<table><tr><th>site<th>this round<th>%s\n",
                       hub->pulls_told != NULL ? "pulls"
                       : hub->judges           ? "last report"
                                               : "is in epoch");
    write_site_rows(status, out);
    live_buffer_add(out, "</table>");
    if (status->hub->model != NULL)
        write_model(status->hub->model, out);
    if ((!hub->judges && hub->means == NULL) || status->hub->model != NULL)
        return;
    live_buffer_format(out, "<table><tr><th>arm<th>%s<th>\n",
                       hub->votes == NULL ? "noised mean" : "votes against it");
    write_arm_rows(status, out);
    live_buffer_add(out, "</table>");
    write_answer(status, out);
    write_changes(status, out);
}

/* ---- Metrics --------------------------------------------------------------------------------- */

static void write_metrics(const struct live_status *status, struct live_buffer *out)
{
    struct live_hub_config const *const run = status->config;
    struct live_causes const causes = live_hub_causes(status);
    struct live_number const state = {NULL, "tacit_hub_state",
                                      "0: ok, 1: waiting, 2: needs attention.", LIVE_WHOLE,
                                      (double)causes.state};
    struct live_number numbers[NUMBERS_MAX];
    struct live_column of_sites[SITE_COLUMNS];
    struct live_column of_arms[ARM_COLUMNS];
    json_decref(causes.list);
    site_columns(status->hub, of_sites);
    arm_columns(status->hub, of_arms);
    live_numbers_write(&state, 1, out);
    live_numbers_write(numbers, numbers_of(status, numbers), out);
    live_columns_write(of_sites, SITE_COLUMNS, "site", run->sites, run->site_count, out);
    live_columns_write(of_arms, ARM_COLUMNS, "arm", NULL, run->arm_count, out);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static bool needs_attention(const struct live_status *status)
{
    struct live_causes const causes = live_hub_causes(status);
    json_decref(causes.list);
    return causes.state == LIVE_STATE_ATTENTION;
}

void live_status_write(const struct live_status *status, struct live_buffer *out)
{
    write_json(status, out);
}

void live_status_answer(const struct live_status *status, struct live_request *request)
{
    TACIT_ASSERT(status->hub != NULL && status->config != NULL);
    static const struct {
        const char *path;
        const char *type;
        void (*write)(const struct live_status *status, struct live_buffer *out);
    } pages[] = {{"/", "text/html; charset=utf-8", write_page},
                 {"/status", "application/json", write_json},
                 {"/health", "application/json", write_json},
                 {"/metrics", "text/plain; version=0.0.4", write_metrics}};
    static const char nowhere[] =
        "{\"error\": \"not here; allowed: GET /, /status, /runs, /health, /metrics\"}\n";
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        struct live_buffer text = {0};
        if (strcmp(request->method, "GET") != 0 || strcmp(request->path, pages[i].path) != 0)
            continue;
        pages[i].write(status, &text);
        bool const is_sick = strcmp(request->path, "/health") == 0 && needs_attention(status);
        live_http_answer(request, text.failed || is_sick ? 503 : 200, pages[i].type, text.bytes,
                         text.size);
        live_buffer_free(&text);
        return;
    }
    live_http_answer(request, 404, "application/json", nowhere, sizeof nowhere - 1);
}
