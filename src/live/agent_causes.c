/* What keeps an agent from its work, worked out from its state each time that it is asked. */
#include "agent_state.h"
#include "daemon/names.h"
#include "show.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 512u
#define HELPER_FORGET_S 60u
#define US_PER_S UINT64_C(1000000)

const char *agent_refusal(const struct agent *agent)
{
    bool const is_hidden = agent->refusal != NULL || agent->runs.waiting != NULL;
    return is_hidden ? agent->refusal : agent->outdated;
}

/* The run that is announced: it is refused, or waits for a word, or there is none; one of them. */
static void add_announced(const struct agent *agent, bool is_connected, struct live_causes *causes)
{
    char what[LINE_BYTES];
    char const *const refusal = agent_refusal(agent);
    if (refusal != NULL)
        live_causes_add(causes, LIVE_CAUSE_REFUSED, NULL,
                        "the run that is announced is refused: %.400s", refusal);
    else if (agent_runs_format(agent, what, sizeof what))
        live_causes_add(causes, LIVE_CAUSE_CONSENT, NULL, "%s", what);
    else if (agent->site == NULL && is_connected)
        live_causes_add(causes, LIVE_CAUSE_UNANNOUNCED, NULL,
                        "no run was announced to this site yet");
}

/* This site in its run; whatever it is, it stays so. */
static void add_trouble(const struct agent *agent, const struct live_site_view *view,
                        struct live_causes *causes)
{
    if (view->trouble != NULL)
        live_causes_add(causes,
                        view->forgetful != NULL ? LIVE_CAUSE_FORGOTTEN
                        : view->is_halted       ? LIVE_CAUSE_HALTED
                                                : LIVE_CAUSE_BLOCKED,
                        view->forgetful == NULL ? NULL : json_pack("[s]", view->forgetful), "%s",
                        view->trouble);
    else if (view->is_dropped)
        live_causes_add(causes, LIVE_CAUSE_REMOVED, NULL,
                        "this site was removed from the run by its operator");
    else if (view->refuses_all)
        live_causes_add(causes, LIVE_CAUSE_REFUSES_ALL, NULL,
                        "this site refuses all arms that are in");
    if (view->is_beyond_policy && !view->is_dropped)
        live_causes_add(causes, LIVE_CAUSE_ROUNDS, NULL,
                        "policy.rounds_max (%" PRIu32 ") is reached, and the run has more rounds: "
                        "this site takes no part in them",
                        agent->config->site.rounds_max);
}

/* As the coordinator says, who says so again and again. */
static void add_helper(const struct agent *agent, struct live_causes *causes)
{
    static const struct {
        enum live_cause cause;
        const char *who;
        const char *what;
    } known[LIVE_NOTICES] = {
        [LIVE_NOTICE_WAITS] = {LIVE_CAUSE_HELPER, LIVE_HELPER, "the run waits for the helper"},
        [LIVE_NOTICE_REFUSES] = {LIVE_CAUSE_HELPER, LIVE_HELPER,
                                 "the helper refuses to answer, or answers what is not in order"},
        [LIVE_NOTICE_VOID] = {LIVE_CAUSE_VOID_ELSEWHERE, TACIT_WIRE_COORDINATOR,
                              "rounds are void, and wait for the coordinator's operator"},
        [LIVE_NOTICE_LEFT_OUT] = {LIVE_CAUSE_LEFT_OUT, NULL,
                                  "the helper left this site's report out of the last sum: its "
                                  "grants, its release or its envelope are not in order"}};
    uint64_t const age_s = (live_now_us() - agent->helper_noticed_us) / US_PER_S;
    enum live_cause const cause = known[agent->notice].cause;
    char const *const who = known[agent->notice].who;
    char waited[32] = "";
    if (agent->helper_noticed_us == 0 || age_s > HELPER_FORGET_S)
        return;
    if (cause == LIVE_CAUSE_HELPER)
        (void)snprintf(waited, sizeof waited, " (%" PRIu64 " s)", agent->helper_waited_s + age_s);
    live_causes_add(causes, cause, who == NULL ? NULL : json_pack("[s]", who), "%s%s",
                    known[agent->notice].what, waited);
}

/* Those who have so many decisions open that they get no more. */
static void add_callers(const struct agent *agent, struct live_causes *causes)
{
    struct live_callers const *const callers = live_http_callers(agent->daemon.http);
    struct live_decisions_view decisions;
    json_t *const who = json_array();
    char name[32];
    live_decisions_view(agent->decisions, &decisions);
    uint64_t const open = (uint64_t)decisions.open_planned + decisions.open_other;
    for (size_t i = 0; i < LIVE_CALLERS_MAX; i++) {
        struct live_caller const *const caller = &callers->list[i];
        if (caller->open < agent->config->caller_open_max)
            continue;
        live_caller_name(caller, name);
        (void)json_array_append_new(who, json_string(name));
    }
    if (json_array_size(who) == 0 && open < agent->config->open_max) {
        json_decref(who);
        return;
    }
    live_causes_add(causes, LIVE_CAUSE_CALLERS, who,
                    "callers get no decisions any more: %" PRIu64 " are open, of at most %" PRIu32
                    ", and %" PRIu32 " of one caller",
                    open, agent->config->open_max, agent->config->caller_open_max);
}

/* Sites by name where all are known, or they are neighbours; the others by their places alone. */
static json_t *names_of(const struct agent *agent, const uint64_t *sites)
{
    struct live_site_role role;
    json_t *const who = json_array();
    live_site_role(agent->site, &role);
    for (uint32_t site = tacit_bits_next(sites, role.agent_count, 0);
         site < role.agent_count && json_array_size(who) < LIVE_CAUSE_NAMES_MAX;
         site = tacit_bits_next(sites, role.agent_count, site + 1)) {
        uint32_t rank = 0;
        while (rank < role.neighbour_count && role.neighbours[rank].agent != site)
            rank++;
        (void)json_array_append_new(who, role.sites != NULL ? json_string(role.sites[site])
                                         : rank < role.neighbour_count
                                             ? json_string(role.neighbours[rank].site)
                                             : json_sprintf("number %" PRIu32, site));
    }
    return who;
}

/* So many of a set, named in the sentence, too. */
static void add_set(const struct agent *agent, enum live_cause cause, const uint64_t *sites,
                    uint32_t count, const char *before, const char *behind,
                    struct live_causes *causes)
{
    char names[LINE_BYTES / 2];
    json_t *const who = names_of(agent, sites);
    live_causes_name(who, count, names, sizeof names);
    live_causes_add(causes, cause, who, "%s%.200s%s", before, names, behind);
}

/* Neighbours that follow what this site's state knows nothing of. */
static void add_ahead(const struct agent *agent, const struct live_site_view *view,
                      struct live_causes *causes)
{
    if (view->ahead_count > 0)
        add_set(agent, LIVE_CAUSE_OLD_STATE, view->ahead, view->ahead_count,
                "this site's state is an old one: a grant of this site that it knows nothing of is "
                "shown by ",
                "; another state of it gave it, or they do not say what is true", causes);
}

static void add_forker(const struct agent *agent, const struct live_site_view *view,
                       struct live_causes *causes)
{
    char what[LINE_BYTES];
    struct live_site_role role;
    live_site_role(agent->site, &role);
    agent_format_forker(&role, view, what, sizeof what);
    live_causes_add(causes, LIVE_CAUSE_FORKER, json_pack("[s]", role.sites[view->forker - 1]), "%s",
                    what);
}

/* Sites of a graph that do not hold the same rows, or did not say so. */
static void add_agreement(const struct agent *agent, const struct live_site_view *view,
                          struct live_causes *causes)
{
    if (view->forker > 0)
        add_forker(agent, view, causes);
    if (view->differing_count > 0)
        add_set(agent, LIVE_CAUSE_OTHER_ROWS, view->differing, view->differing_count,
                "not all sites hold the same rows: others than this one have ", "", causes);
    if (view->is_unconfirmed && view->missing != NULL)
        add_set(agent, LIVE_CAUSE_UNCONFIRMED, view->missing, view->missing_count,
                "the answer of this site is not confirmed by ", "", causes);
}

/* Of whom a word is waited for: neighbours or members if it is among peers, else the coordinator.
 */
static void add_others(const struct agent *agent, const struct live_site_view *view,
                       const struct agent_waiting *waiting, struct live_causes *causes)
{
    TACIT_ASSERT(waiting->is_held);
    bool const is_grant = waiting->what == AGENT_WAITS_FOR_GRANT;
    uint64_t const *const sites = is_grant ? view->grantors : view->missing;
    struct live_site_role role;
    char names[LINE_BYTES / 2];
    live_site_role(agent->site, &role);
    uint32_t const count = sites == NULL ? 0 : tacit_bits_count(sites, role.agent_count);
    json_t *const who = count > 0 ? names_of(agent, sites) : json_pack("[s]", "coordinator");
    live_causes_name(who, count > 0 ? count : 1, names, sizeof names);
    live_causes_add(causes,
                    is_grant    ? LIVE_CAUSE_GRANT
                    : count > 0 ? LIVE_CAUSE_NEIGHBOURS
                                : LIVE_CAUSE_ORDER,
                    who,
                    is_grant ? "round %u is drawn, and has waited %.0f s for its grant by %.250s"
                    : count > 0
                        ? "round %u is played here, and has waited %.0f s for other sites: %.250s"
                        : "round %u is played here, and has waited %.0f s for an order of the "
                          "%.250s, which may wait for other sites",
                    view->epoch, (double)waiting->still_ms / 1e3, names);
}

/* What the round waits for, once it has done so for long; and what is missing for good. */
static void add_waits(const struct agent *agent, const struct live_site_view *view,
                      struct live_causes *causes)
{
    struct agent_waiting const waiting = agent_waiting(agent);
    char text[LINE_BYTES];
    bool const is_for_rewards = waiting.what == AGENT_WAITS_FOR_REWARDS;
    double const still_s = (double)waiting.still_ms / 1e3;
    if (waiting.is_long || (waiting.is_held && is_for_rewards)) {
        agent_format_waiting(&waiting, text, sizeof text);
        live_causes_add(causes, LIVE_CAUSE_REWARDS, NULL, "%s", text);
    } else if (waiting.is_held && waiting.what == AGENT_WAITS_FOR_DECISIONS) {
        live_causes_add(causes, LIVE_CAUSE_DECISIONS, NULL,
                        "nobody has asked this site for a decision of its round for %.0f s",
                        still_s);
    } else if (waiting.is_held && waiting.what == AGENT_WAITS_FOR_TASK) {
        live_causes_add(causes, LIVE_CAUSE_TASK, NULL,
                        "the command of this site has run for %.0f s", still_s);
    } else if (waiting.is_held && !view->is_beyond_policy) {
        add_others(agent, view, &waiting, causes);
    }
    if (waiting.is_biased) {
        agent_format_biased(&waiting, text, sizeof text);
        live_causes_add(causes, LIVE_CAUSE_BIASED, NULL, "%s", text);
    }
}

struct live_causes agent_causes(const struct agent *agent, const struct live_site_view *view)
{
    struct live_causes causes =
        live_causes_begin(agent->config->site.site, agent->config->daemon.state_directory);
    struct live_bus_trouble const broker = live_bus_why(agent->daemon.bus);
    live_causes_add_broker(&causes, &broker);
    add_announced(agent, broker.is_connected, &causes);
    add_trouble(agent, view, &causes);
    add_ahead(agent, view, &causes);
    add_agreement(agent, view, &causes);
    if (agent_replicated_log_trouble(agent) != NULL)
        live_causes_add(&causes, LIVE_CAUSE_COORDINATOR, NULL, "%s",
                        agent_replicated_log_trouble(agent));
    add_helper(agent, &causes);
    add_callers(agent, &causes);
    add_waits(agent, view, &causes);
    live_causes_add_disk(&causes, agent->config->daemon.disk_low_mib);
    return causes;
}

void agent_add_causes(const struct agent *agent, const struct live_site_view *view, json_t *status)
{
    struct live_bus_trouble const broker = live_bus_why(agent->daemon.bus);
    struct live_causes const causes = agent_causes(agent, view);
    live_show_causes(&causes, &broker, status);
    /* What the coordinator announced last, whether this site takes part or not. */
    (void)json_object_set_new(
        status, "announced",
        live_show_bytes(agent->has_announced ? agent->announced : NULL, sizeof agent->announced));
    (void)json_object_set_new(status, "hub_heard_s",
                              live_show_since(agent->hub_heard_us, live_now_us()));
}

/* Of rewards that are waited for, or missing: what the log warns of, too. */
static json_t *warnings(const json_t *causes)
{
    json_t *const list = json_array();
    size_t i;
    json_t *cause;
    json_array_foreach(causes, i, cause)
    {
        char const *const word = json_string_value(json_object_get(cause, "cause"));
        if (strcmp(word, "rewards") == 0 || strcmp(word, "biased") == 0)
            (void)json_array_append(list, json_object_get(cause, "what"));
    }
    return list;
}

json_t *agent_health(const struct agent *agent, const struct live_site_view *view, bool *is_healthy)
{
    struct live_causes const causes = agent_causes(agent, view);
    json_t *const answer = json_pack("{s:s}", "status", live_state_name(causes.state));
    *is_healthy = causes.state != LIVE_STATE_ATTENTION;
    if (answer == NULL || json_array_size(causes.list) == 0) {
        json_decref(causes.list);
        return answer;
    }
    json_t *const said = warnings(causes.list);
    if (!*is_healthy)
        (void)json_object_set(answer, "error",
                              json_object_get(json_array_get(causes.list, 0), "what"));
    (void)json_object_set_new(answer, "causes", causes.list);
    if (json_array_size(said) > 0)
        (void)json_object_set(answer, "warnings", said);
    json_decref(said);
    return answer;
}
