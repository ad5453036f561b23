/* The coordinator's status: for machines and for people. Shows what the network has seen anyway.
 * The page itself: board.c. */
#include "coordinator_state.h"
#include "board.h"
#include "show.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define US_PER_S UINT64_C(1000000)

/* Of those that are in, by the released means; UINT32_MAX: none is. */
static uint32_t best_arm(const struct live_hub_view *hub, uint32_t arm_count)
{
    uint32_t best = UINT32_MAX;
    TACIT_ASSERT(hub->means != NULL);
    for (uint32_t arm = 0; arm < arm_count; arm++)
        if ((hub->active == NULL || tacit_bits_has(hub->active, arm)) &&
            (best == UINT32_MAX || hub->means[arm] > hub->means[best]))
            best = arm;
    return best;
}

uint32_t live_hub_winner(const struct live_hub_view *hub, uint32_t arm_count)
{
    if (hub->votes != NULL) /* one is left */
        return hub->is_finished ? tacit_bits_next(hub->active, arm_count, 0) : UINT32_MAX;
    if (!hub->is_finished || hub->means == NULL || (hub->judges && hub->active == NULL))
        return UINT32_MAX;
    return hub->intervals != NULL ? hub->intervals->leader : best_arm(hub, arm_count);
}

/* Of two aggregators, the sums leave it out. */
static bool is_dropped(const struct live_hub_view *hub, uint32_t site)
{
    return hub->helper.is_there && tacit_bits_has(hub->helper.dropped, site);
}

/* Rounds are over with the run; votes stay. */
static bool is_still_asked(const struct live_hub_view *hub, uint32_t site)
{
    return (!hub->is_finished || hub->votes != NULL) && !is_dropped(hub, site) &&
           tacit_bits_has(hub->asked, site);
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
static bool append_known(const struct live_status *status, struct live_buffer *out)
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
    return true;
}

/* By the means that were released; UINT32_MAX: there are none yet. */
static uint32_t leader_of(const struct live_hub_view *hub, uint32_t arm_count)
{
    bool const is_early = hub->means == NULL || (hub->judges && hub->round_count == 0);
    return is_early ? UINT32_MAX : best_arm(hub, arm_count);
}

static const char *winner(const struct live_status *status);

/* Of a run that is not over: who leads, if anybody is known to. */
static void append_leader(const struct live_status *status, struct live_buffer *out)
{
    struct live_hub_view const *const hub = status->hub;
    uint32_t const leader = leader_of(hub, status->config->arm_count);
    if (append_known(status, out))
        return;
    if (leader != UINT32_MAX)
        live_buffer_format(out, "%.900s leads", status->config->arm_names[leader]);
    else if (!hub->judges && hub->model == NULL && hub->votes == NULL)
        live_buffer_add(out, "each site judges for itself");
    else
        live_buffer_add(out, "no arm leads yet");
}

/* The answer first, in a sentence: "insulin leads; 2 of 5 arms are out; about 9 rounds to go". */
static json_t *headline(const struct live_status *status)
{
    struct live_hub_view const *const hub = status->hub;
    uint32_t const arms = status->config->arm_count;
    struct live_buffer out = {0};
    uint64_t const horizon = hub->horizon > 0 ? hub->horizon : status->config->horizon;
    uint32_t left = live_history_rounds_left(&status->of->history, horizon);
    if (hub->rounds_max > 0 && (left == 0 || left > hub->rounds_max - hub->round_count))
        left = hub->rounds_max - hub->round_count;
    if (winner(status) != NULL)
        live_buffer_format(&out, "%.900s wins%s", winner(status),
                           hub->judges && hub->active_count > 1
                               ? ", by its mean: not all others are told from it"
                               : "");
    else if (hub->is_finished)
        live_buffer_add(&out, "the run is over");
    else
        append_leader(status, &out);
    if ((hub->judges || hub->votes != NULL) && hub->active != NULL && hub->model == NULL)
        live_show_arms_out(arms, hub->active_count, &out);
    if (!hub->is_finished && left > 0)
        live_buffer_format(&out, "; about %" PRIu32 " %s to go", left,
                           left == 1 ? "round" : "rounds");
    return live_show_sentence(&out);
}

/* ---- What is known of it, as numbers --------------------------------------------------------- */

#define NUMBERS_MAX 24u

/* What is told of the run as numbers. Result: how many. */
static size_t numbers_of(const struct live_status *status, struct live_number numbers[NUMBERS_MAX])
{
    struct live_hub_view const *const hub = status->hub;
    enum live_number_kind const judged = hub->judges ? LIVE_WHOLE : LIVE_ABSENT;
    enum live_number_kind const changed = hub->can_change ? LIVE_WHOLE : LIVE_ABSENT;
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
        {"still_s", "tacit_hub_still_seconds", "How long nothing has moved that the sites say.",
         LIVE_WHOLE, (double)((status->now_us - status->of->standstill.since_us) / US_PER_S)},
        {"round_s", "tacit_hub_round_seconds", "How long this round has been open.", LIVE_WHOLE,
         (double)((status->now_us - status->of->round.since_us) / US_PER_S)},
        {"missing", "tacit_hub_reports_missing", "Reports that this round waits for.", judged,
         hub->missing_count},
        {"covered", NULL, NULL, judged, hub->covered_count},
        {"quorum", "tacit_hub_quorum", "Reports that suffice once the deadline is over.", judged,
         live_hub_quorum(hub, status->config)},
        {"radius", NULL, NULL, hub->judges ? LIVE_REAL : LIVE_ABSENT, hub->radius},
        {"votes_needed", NULL, NULL, hub->votes != NULL ? LIVE_WHOLE : LIVE_ABSENT,
         hub->votes_needed},
        {"deadline_s", NULL, NULL, changed, hub->deadline_s},
        {"horizon", NULL, NULL, changed, (double)hub->horizon},
        {NULL, "tacit_hub_sites_in_two_states", "Sites that showed two states.", LIVE_WHOLE,
         flagged},
        {"helper_answers", "tacit_hub_helper_answers_total", "Answers of the helper.",
         hub->helper.is_there ? LIVE_WHOLE : LIVE_ABSENT, (double)hub->helper.answer_count},
        {"helper_waited_s", "tacit_hub_helper_waited_seconds",
         "Seconds that the run has waited for the helper; 0: it does not.",
         hub->helper.is_there ? LIVE_WHOLE : LIVE_ABSENT,
         status->helper_since_us == 0
             ? 0
             : (double)((status->now_us - status->helper_since_us) / US_PER_S)},
        {"void_rounds", "tacit_hub_void_rounds", "Rounds in a row that came to nothing.",
         hub->helper.is_there ? LIVE_WHOLE : LIVE_ABSENT, hub->helper.void_count},
        {"helper_counted", "tacit_hub_helper_sites", "Sites in the helper's newest answer.",
         hub->helper.is_there ? LIVE_WHOLE : LIVE_ABSENT, hub->helper.counted_number},
        {"message_version", "tacit_hub_message_version", "Version of the messages of this run.",
         LIVE_WHOLE, status->of->envelopes.version},
        {"accepted", "tacit_hub_messages_accepted_total", "Messages that were accepted.",
         LIVE_WHOLE, (double)status->of->accepted_count},
        {"refused", "tacit_hub_messages_refused_total", "Messages that were refused.", LIVE_WHOLE,
         (double)status->of->member.refused_count},
        {"unsigned", "tacit_hub_messages_unsigned_total",
         "Messages that whose name they came under did not sign.", LIVE_WHOLE,
         (double)status->of->member.unsigned_count}};
    _Static_assert(sizeof all / sizeof all[0] <= NUMBERS_MAX, "room for all");
    memcpy(numbers, all, sizeof all);
    return sizeof all / sizeof all[0];
}

#define SITE_COLUMNS 4u

/* What only metrics have as numbers. */
struct site_state {
    uint64_t *heard_s; /* A */
    uint64_t *missing; /* a set */
};

/* state: for metrics; NULL: for JSON, which has it from elsewhere. */
static void site_columns(const struct live_hub_view *hub, const struct site_state *state,
                         struct live_column columns[SITE_COLUMNS])
{
    struct live_column const all[SITE_COLUMNS] = {
        {"last_report_epoch", "tacit_hub_site_report_epoch",
         "Epoch that was heard of last from a site.", LIVE_U32S, hub->seen},
        {"pulls", "tacit_hub_site_pulls", "Pulls that a site has told.", LIVE_U64S,
         hub->pulls_reported},
        {NULL, "tacit_hub_site_heard_seconds", "How long ago a site was heard; or since the start.",
         LIVE_U64S, state == NULL ? NULL : state->heard_s},
        {NULL, "tacit_hub_site_missing", "Does the round wait for this site?", LIVE_BITS,
         state == NULL ? NULL : state->missing}};
    memcpy(columns, all, sizeof all);
}

#define ARM_COLUMNS 8u

/* Nothing where the sites judge for themselves. */
static void arm_columns(const struct live_hub_view *hub, struct live_column columns[ARM_COLUMNS])
{
    struct live_hub_intervals const *const known = hub->intervals;
    struct live_column const all[ARM_COLUMNS] = {
        {"mean", "tacit_hub_mean", "Mean of an arm, of what was released; as a part of the range.",
         LIVE_REALS, hub->means},
        {"lower", "tacit_hub_arm_lower",
         "Lower end of the interval of an arm's mean, as a part of the range.", LIVE_REALS,
         known == NULL ? NULL : known->lowers},
        {"upper", "tacit_hub_arm_upper",
         "Upper end of the interval of an arm's mean, as a part of the range.", LIVE_REALS,
         known == NULL ? NULL : known->uppers},
        {"spread", "tacit_hub_spread", "Widest difference between two sites' means.", LIVE_REALS,
         hub->spreads},
        {"eliminated_epoch", "tacit_hub_arm_eliminated_epoch",
         "Epoch in which the arm went out; 0: it is in.", LIVE_U32S, hub->eliminated},
        {"retired", NULL, NULL, LIVE_BITS, hub->can_change ? hub->retired : NULL},
        {"votes", "tacit_hub_arm_votes", "Sites that have voted the arm out.", LIVE_U32S,
         hub->votes},
        {"in", NULL, NULL, LIVE_BITS, hub->votes != NULL ? hub->active : NULL}};
    memcpy(columns, all, sizeof all);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *site_tree(const struct live_status *status, uint32_t site)
{
    struct live_hub_view const *const hub = status->hub;
    struct live_hub_config const *const run = status->config;
    bool const is_asked = is_still_asked(hub, site);
    uint64_t const heard_us = status->of->sites[site].heard_us; /* 0: not since the start */
    struct live_column columns[SITE_COLUMNS];
    json_t *const made = json_pack(
        "{s:s, s:b, s:b, s:b, s:o}", "name", run->sites[site], "asked", is_asked, "reported",
        is_asked && tacit_bits_has(hub->received, site), "two_states",
        live_hub_has_two_states(hub, site), "heard_s", live_show_since(heard_us, status->now_us));
    site_columns(hub, NULL, columns);
    live_columns_show(columns, SITE_COLUMNS, site, made);
    if (hub->helper.is_there)
        (void)json_object_set_new(made, "dropped", json_boolean(is_dropped(hub, site)));
    if (!hub->can_change)
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
        live_show_offender(status->config->sites[site], &status->of->sites[site].sender, list);
    live_show_offender("others", &status->of->strangers, list);
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
    if (append_known(status, &answer) && !answer.failed)
        (void)json_object_update_new(made,
                                     json_pack("{s:f, s:s%, s:s}", "confidence", known->confidence,
                                               "answer", answer.bytes, answer.size, "leader",
                                               status->config->arm_names[known->leader]));
    live_buffer_free(&answer);
}

static json_t *tree_of(const void *context)
{
    struct live_status const *const status = context;
    struct live_control_names const names = live_hub_names(status->config);
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
    live_show_entry(status->of->envelopes.term, &status->of->replicated_log.held.head, made);
    live_numbers_show(numbers, numbers_of(status, numbers), made);
    (void)json_object_set_new(made, "headline", headline(status));
    add_answer(status, made);
    (void)json_object_set_new(made, "offenders", offenders(status));
    (void)json_object_set_new(made, "sites", sites(status));
    (void)json_object_set_new(made, "arms", arms(status));
    if (hub->can_change)
        (void)json_object_set_new(made, "changes",
                                  live_control_list(hub->changes, hub->change_count, &names));
    if (hub->model != NULL)
        (void)json_object_set_new(made, "model", live_show_model(hub->model));
    return made;
}

static unsigned show_runs(const void *context, struct live_buffer *out)
{
    struct live_status const *const status = context;
    return live_runs_list(status->of->daemon.store, out) == TACIT_OK ? 200 : 503;
}

/* ---- The page -------------------------------------------------------------------------------- */

/* What stands on the page of a coordinator, who has no data of anybody. */
static void append_privacy(const struct live_status *status, struct live_buffer *out)
{
    if (status->of->config->protocol->epsilon_nano != NULL)
        live_buffer_format(out,
                           "Each site adds noise to what it sends, reckoned with epsilon %.6g of "
                           "a reward, and keeps its own budget. This coordinator and this page "
                           "hold nothing but what was sent so; what a site has spent stands on "
                           "the site's own page.",
                           status->config->epsilon);
    else
        live_buffer_add(out, "This protocol adds no noise to what it sends: no epsilon is "
                             "guaranteed. This page holds nothing but what was sent.");
    live_buffer_add_bytes(out, "", 1);
}

static void show_page(const void *context, struct live_buffer *out)
{
    struct live_status const *const status = context;
    struct live_buffer privacy = {0};
    json_t *const tree = tree_of(status);
    append_privacy(status, &privacy);
    struct live_board const board = {.status = tree,
                                     .arms = json_object_get(tree, "arms"),
                                     .role = "coordinator",
                                     .protocol = status->of->config->protocol->wire->name,
                                     .version = status->of->config->daemon.version,
                                     .arm_names = status->config->arm_names,
                                     .history = &status->of->history,
                                     .lo = status->config->lo,
                                     .hi = status->config->hi,
                                     .statement = privacy.failed ? NULL : privacy.bytes};
    live_board_write(&board, out);
    live_buffer_free(&privacy);
    json_decref(tree);
}

/* ---- Metrics --------------------------------------------------------------------------------- */

/* Both members are to be given to free(); NULL: out of memory. */
static struct site_state site_states(const struct live_status *status)
{
    uint32_t const count = status->config->site_count;
    struct site_state const made = {calloc(count, sizeof(uint64_t)),
                                    calloc(TACIT_BITS_WORDS(count), sizeof(uint64_t))};
    for (uint32_t site = 0; site < count && made.heard_s != NULL && made.missing != NULL; site++) {
        uint64_t const heard_us = status->of->sites[site].heard_us;
        made.heard_s[site] =
            (status->now_us - (heard_us > 0 ? heard_us : status->of->started_us)) / US_PER_S;
        if (is_still_asked(status->hub, site) && !tacit_bits_has(status->hub->received, site))
            tacit_bits_add(made.missing, site);
    }
    return made;
}

static void show_metrics(const void *context, struct live_buffer *out)
{
    struct live_status const *const status = context;
    struct live_hub_config const *const run = status->config;
    struct live_causes const causes = live_hub_causes(status);
    struct live_number numbers[NUMBERS_MAX];
    struct live_column of_sites[SITE_COLUMNS];
    struct live_column of_arms[ARM_COLUMNS];
    struct site_state const state_of = site_states(status);
    site_columns(status->hub, &state_of, of_sites);
    arm_columns(status->hub, of_arms);
    live_show_numbers("tacit_hub_state", &causes, numbers, numbers_of(status, numbers), out);
    live_show_machine(status->of->config->daemon.state_directory,
                      status->of->config->daemon.disk_low_mib, out);
    live_columns_write(of_sites, SITE_COLUMNS, "site", run->sites, run->site_count, out);
    live_columns_write(of_arms, ARM_COLUMNS, "arm", run->arm_names, run->arm_count, out);
    free(state_of.heard_s);
    free(state_of.missing);
}

/* ---- Answers --------------------------------------------------------------------------------- */

void live_status_write(const struct live_status *status, struct live_buffer *out)
{
    live_buffer_add_tree(out, tree_of(status));
}

void live_status_answer(struct live_status *status, struct live_request *request)
{
    TACIT_ASSERT(status->hub != NULL && status->config != NULL);
    static const struct live_shown shown = {
        .status = tree_of, .page = show_page, .metrics = show_metrics, .runs = show_runs};
    live_show_answer(&shown, status, request);
}
