/* The coordinator's status: for machines and for people. Shows what the network has seen anyway. */
#include "status_page.h"
#include "api/api_json.h"
#include "api/metrics.h"
#include "control.h"
#include "hub_causes.h"
#include "model_json.h"
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

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Is it left out by the operator, and which arms does it not play? */
static void add_refusals(const struct live_status *status, uint32_t site, struct live_buffer *out)
{
    struct live_hub_view const *const hub = status->hub;
    uint32_t const arms = status->config->arm_count;
    uint64_t const *const refused = hub->refused + (size_t)site * TACIT_BITS_WORDS(arms);
    bool is_first = true;
    live_buffer_format(out, ", \"dropped\": %s, \"refuses\": [",
                       tacit_bits_has(hub->dropped, site) ? "true" : "false");
    for (uint32_t arm = tacit_bits_next(refused, arms, 0); arm < arms;
         arm = tacit_bits_next(refused, arms, arm + 1)) {
        live_buffer_add(out, is_first ? "" : ", ");
        live_buffer_add_quoted(out, status->config->arm_names[arm]);
        is_first = false;
    }
    live_buffer_add(out, "]");
}

static struct live_control_names names_of(const struct live_status *status)
{
    struct live_hub_config const *const run = status->config;
    return (struct live_control_names){run->sites, run->site_count, run->arm_names, run->arm_count};
}

/* What the operator changed, and what stands after it. */
static void add_changes(const struct live_status *status, struct live_buffer *out)
{
    struct live_control_names const names = names_of(status);
    struct live_hub_view const *const hub = status->hub;
    if (!hub->takes_changes)
        return;
    live_buffer_format(out, ", \"deadline_s\": %" PRIu32 ", \"horizon\": %" PRIu64 ", ",
                       hub->deadline_s, hub->horizon);
    live_control_list(hub->changes, hub->change_count, &names, out);
}

/* Seconds since its last word; null: none since the start. */
static void add_heard(const struct live_status *status, uint32_t site, struct live_buffer *out)
{
    uint64_t const heard_us = status->heard_us[site];
    if (heard_us == 0)
        live_buffer_add(out, ", \"heard_s\": null");
    else
        live_buffer_format(out, ", \"heard_s\": %" PRIu64, (status->now_us - heard_us) / US_PER_S);
}

static void add_sites(const struct live_status *status, struct live_buffer *out)
{
    struct live_hub_view const *const hub = status->hub;
    live_buffer_add(out, "\"sites\": [");
    for (uint32_t site = 0; site < status->config->site_count; site++) {
        bool const is_asked = is_still_asked(hub, site);
        live_buffer_add(out, site == 0 ? "{\"name\": " : ", {\"name\": ");
        live_buffer_add_quoted(out, status->config->sites[site]);
        live_buffer_format(out,
                           ", \"asked\": %s, \"reported\": %s, \"last_report_epoch\": %" PRIu32
                           ", \"two_states\": %s",
                           is_asked ? "true" : "false",
                           is_asked && tacit_bits_has(hub->received, site) ? "true" : "false",
                           hub->seen[site], has_two_states(hub, site) ? "true" : "false");
        add_heard(status, site, out);
        if (hub->takes_changes)
            add_refusals(status, site, out);
        if (hub->pulls_told != NULL)
            live_buffer_format(out, ", \"pulls\": %" PRIu64, hub->pulls_told[site]);
        live_buffer_add(out, "}");
    }
    live_buffer_add(out, "]");
}

static void add_offender(const char *name, const struct live_sender *sender, bool *is_first,
                         struct live_buffer *out)
{
    if (!live_sender_offends(sender))
        return;
    live_buffer_add(out, *is_first ? "{\"name\": " : ", {\"name\": ");
    live_buffer_add_quoted(out, name);
    live_buffer_format(out,
                       ", \"refused\": %" PRIu64 ", \"unsigned\": %" PRIu64 ", \"unread\": %" PRIu64
                       ", \"why\": ",
                       sender->refused_count, sender->unsigned_count, sender->dropped_count);
    live_buffer_add_quoted(out, sender->why);
    live_buffer_add(out, "}");
    *is_first = false;
}

/* Under whose name words came that were refused, or were too many to be read. */
static void add_offenders(const struct live_status *status, struct live_buffer *out)
{
    bool is_first = true;
    live_buffer_add(out, "\"offenders\": [");
    for (uint32_t site = 0; site < status->config->site_count; site++)
        add_offender(status->config->sites[site], &status->senders[site], &is_first, out);
    add_offender("others", status->strangers, &is_first, out);
    live_buffer_add(out, "], ");
}

/* What is known of an arm; nothing where the sites judge for themselves. */
static void add_arm(const struct live_hub_view *hub, uint32_t arm, struct live_buffer *out)
{
    if (hub->means != NULL)
        live_buffer_format(out, ", \"mean\": %.6g", hub->means[arm]);
    if (hub->intervals != NULL)
        live_buffer_format(out, ", \"lower\": %.6g, \"upper\": %.6g", hub->intervals->lowers[arm],
                           hub->intervals->uppers[arm]);
    if (hub->absent != NULL)
        live_buffer_format(out, ", \"present\": %s", is_absent(hub, arm) ? "false" : "true");
    if (hub->spreads != NULL)
        live_buffer_format(out, ", \"spread\": %.6g", hub->spreads[arm]);
    if (hub->eliminated != NULL)
        live_buffer_format(out, ", \"eliminated_epoch\": %" PRIu32, hub->eliminated[arm]);
    if (hub->takes_changes)
        live_buffer_format(out, ", \"retired\": %s",
                           tacit_bits_has(hub->retired, arm) ? "true" : "false");
    if (hub->votes != NULL)
        live_buffer_format(out, ", \"votes\": %" PRIu32 ", \"in\": %s", hub->votes[arm],
                           tacit_bits_has(hub->active, arm) ? "true" : "false");
    live_buffer_add(out, "}");
}

static void add_arms(const struct live_status *status, struct live_buffer *out)
{
    live_buffer_add(out, "\"arms\": [");
    for (uint32_t arm = 0; arm < status->config->arm_count; arm++) {
        live_buffer_add(out, arm == 0 ? "{\"name\": " : ", {\"name\": ");
        live_buffer_add_quoted(out, status->config->arm_names[arm]);
        add_arm(status->hub, arm, out);
    }
    live_buffer_add(out, "]");
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

static void add_round(const struct live_status *status, struct live_buffer *out)
{
    struct live_hub_view const *const hub = status->hub;
    live_buffer_format(out,
                       "\"rounds\": %" PRIu32 ", \"pulls\": %" PRIu64 ", \"active_arms\": %" PRIu32
                       ", \"reports\": %" PRIu32 ", \"missing\": %" PRIu32 ", \"covered\": %" PRIu32
                       ", \"quorum\": %" PRIu32 ", \"radius\": %.6g, ",
                       hub->round_count, hub->pulls, hub->active_count,
                       hub->is_finished ? 0 : hub->report_count, hub->missing_count,
                       hub->covered_count,
                       hub->takes_changes ? hub->quorum : status->config->quorum, hub->radius);
}

static void add_answer(const struct live_status *status, struct live_buffer *out)
{
    struct live_buffer answer = {0};
    if (say_answer(status, &answer)) {
        live_buffer_format(
            out, "\"confidence\": %.12g, \"answer\": ", status->hub->intervals->confidence);
        live_buffer_add_quoted(out, answer.bytes);
        live_buffer_add(out, ", \"leader\": ");
        live_buffer_add_quoted(out, status->config->arm_names[status->hub->intervals->leader]);
        live_buffer_add(out, ", ");
    }
    live_buffer_free(&answer);
}

/* How it is, why, and what to do; and the run that is announced. */
static void add_state(const struct live_status *status, struct live_buffer *out)
{
    struct live_causes const causes = live_hub_causes(status);
    char *const text = causes.list == NULL ? NULL : json_dumps(causes.list, 0);
    uint8_t run[TACIT_WIRE_RUN_BYTES];
    live_hub_run(status->config, run);
    live_buffer_format(out, ", \"state\": \"%s\", \"causes\": ", live_state_word(causes.state));
    live_buffer_add(out, text == NULL ? "[]" : text);
    live_buffer_add(out, ", \"disconnected\": ");
    if (status->broker.is_connected || status->broker.reason[0] == '\0')
        live_buffer_add(out, "null");
    else
        live_buffer_add_quoted(out, status->broker.reason);
    live_buffer_add(out, ", \"run\": \"");
    for (size_t i = 0; i < sizeof run; i++)
        live_buffer_format(out, "%02x", run[i]);
    live_buffer_format(out, "\", \"run_id\": %" PRIu64, status->config->run_id);
    free(text);
    json_decref(causes.list);
}

/* Of the chain that the sites keep. */
static void add_entry(const struct live_entry *entry, struct live_buffer *out)
{
    live_buffer_format(out, ", \"entry\": %" PRIu64 ", \"entry_digest\": ", entry->number);
    live_buffer_add(out, entry->number == 0 ? "null" : "\"");
    for (size_t i = 0; entry->number > 0 && i < TACIT_WIRE_DIGEST_BYTES; i++)
        live_buffer_format(out, "%02x", entry->digest[i]);
    live_buffer_add(out, entry->number == 0 ? "" : "\"");
}

static void write_json(const struct live_status *status, struct live_buffer *out)
{
    live_buffer_add(out, "{\"federation\": ");
    live_buffer_add_quoted(out, status->config->federation);
    add_state(status, out);
    live_buffer_format(out, ", \"term\": %" PRIu64, status->term);
    add_entry(status->entry, out);
    live_buffer_format(out, ", \"phase\": \"%s\", \"epoch\": %" PRIu32 ", ", phase(status),
                       status->hub->epoch);
    if (status->hub->judges)
        add_round(status, out);
    if (status->hub->votes != NULL)
        live_buffer_format(out, "\"votes_needed\": %" PRIu32 ", ", status->hub->votes_needed);
    live_buffer_format(out,
                       "\"connected\": %s, \"accepted\": %" PRIu64 ", \"refused\": %" PRIu64
                       ", \"unsigned\": %" PRIu64 ", ",
                       status->broker.is_connected ? "true" : "false", status->accepted_count,
                       status->refused_count, status->unsigned_count);
    add_offenders(status, out);
    live_buffer_add(out, "\"winner\": ");
    if (winner(status) == NULL)
        live_buffer_add(out, "null");
    else
        live_buffer_add_quoted(out, winner(status));
    live_buffer_add(out, ", ");
    add_answer(status, out);
    add_sites(status, out);
    live_buffer_add(out, ", ");
    add_arms(status, out);
    add_changes(status, out);
    if (status->hub->model != NULL) {
        live_buffer_add(out, ", \"model\": ");
        live_model_write(status->hub->model, out);
    }
    live_buffer_add(out, "}\n");
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

/* Of each arm, what `value` says. */
static void write_arm_metric(const struct live_status *status, const char *name, const char *help,
                             const double *values, struct live_buffer *out)
{
    if (values == NULL)
        return;
    live_metric(out, name, "gauge", help);
    for (uint32_t arm = 0; arm < status->config->arm_count; arm++)
        live_buffer_format(out, "%s{arm=\"%" PRIu32 "\"} %.6g\n", name, arm, values[arm]);
}

static void write_known_metrics(const struct live_status *status, struct live_buffer *out)
{
    struct live_hub_view const *const hub = status->hub;
    struct live_hub_intervals const *const known = hub->intervals;
    write_arm_metric(status, "tacit_hub_arm_lower",
                     "Lower end of the interval of an arm's mean, as a part of the range.",
                     known == NULL ? NULL : known->lowers, out);
    write_arm_metric(status, "tacit_hub_arm_upper",
                     "Upper end of the interval of an arm's mean, as a part of the range.",
                     known == NULL ? NULL : known->uppers, out);
    write_arm_metric(status, "tacit_hub_spread", "Widest difference between two sites' means.",
                     hub->spreads, out);
    if (hub->spreads != NULL)
        write_arm_metric(status, "tacit_hub_mean", "Mean of the sites' estimates.", hub->means,
                         out);
    if (hub->votes != NULL)
        live_metric(out, "tacit_hub_arm_votes", "gauge", "Sites that have voted the arm out.");
    for (uint32_t arm = 0; hub->votes != NULL && arm < status->config->arm_count; arm++)
        live_buffer_format(out, "tacit_hub_arm_votes{arm=\"%" PRIu32 "\"} %" PRIu32 "\n", arm,
                           hub->votes[arm]);
}

static void write_site_metrics(const struct live_status *status, struct live_buffer *out)
{
    struct live_hub_view const *const hub = status->hub;
    if (hub->pulls_told != NULL)
        live_metric(out, "tacit_hub_site_pulls", "gauge", "Pulls that a site has told.");
    for (uint32_t site = 0; hub->pulls_told != NULL && site < status->config->site_count; site++)
        live_buffer_format(out, "tacit_hub_site_pulls{site=\"%s\"} %" PRIu64 "\n",
                           status->config->sites[site], hub->pulls_told[site]);
    live_metric(out, "tacit_hub_site_report_epoch", "gauge",
                "Epoch that was heard of last from a site.");
    for (uint32_t site = 0; site < status->config->site_count; site++)
        live_buffer_format(out, "tacit_hub_site_report_epoch{site=\"%s\"} %" PRIu32 "\n",
                           status->config->sites[site], hub->seen[site]);
}

static void write_round_metrics(const struct live_status *status, struct live_buffer *out)
{
    struct live_hub_view const *const hub = status->hub;
    if (!hub->judges)
        return;
    live_metric_gauge(out, "tacit_hub_rounds", "Rounds that were closed.", hub->round_count);
    live_metric_gauge(out, "tacit_hub_active_arms", "Arms that are in.", hub->active_count);
    live_metric_gauge(out, "tacit_hub_reports_missing", "Reports that this round waits for.",
                      hub->missing_count);
}

static void write_metrics(const struct live_status *status, struct live_buffer *out)
{
    struct live_hub_view const *const hub = status->hub;
    struct live_causes const causes = live_hub_causes(status);
    json_decref(causes.list);
    live_metric_gauge(out, "tacit_hub_state", "0: ok, 1: waiting, 2: needs attention.",
                      (double)causes.state);
    live_metric_gauge(out, "tacit_hub_connected", "Is there a connection to the broker?",
                      status->broker.is_connected ? 1 : 0);
    live_metric_gauge(out, "tacit_hub_epoch", "Epoch of the last order; 0: none yet.", hub->epoch);
    write_round_metrics(status, out);
    live_metric_gauge(
        out, "tacit_hub_sites_in_two_states", "Sites that showed two states.",
        hub->flagged == NULL ? 0 : tacit_bits_count(hub->flagged, status->config->site_count));
    live_metric_count(out, "tacit_hub_messages_accepted_total", "Messages that were accepted.",
                      status->accepted_count);
    live_metric_count(out, "tacit_hub_messages_refused_total", "Messages that were refused.",
                      status->refused_count);
    live_metric_count(out, "tacit_hub_messages_unsigned_total",
                      "Messages that whose name they came under did not sign.",
                      status->unsigned_count);
    write_site_metrics(status, out);
    write_known_metrics(status, out);
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
