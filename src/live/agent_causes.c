#include "agent_causes.h"
#include "agent_chain.h"
#include "agent_decisions.h"
#include "agent_runs.h"
#include <stdio.h>

#define LINE_BYTES 512u
#define NAMES_SHOWN_MAX 4u
#define US_PER_S UINT64_C(1000000)

static void add_refusal(const struct agent *agent, struct live_causes *causes)
{
    TACIT_ASSERT(agent->refusal != NULL);
    char what[LINE_BYTES];
    (void)snprintf(what, sizeof what, "the run that is announced is refused: %.400s",
                   agent->refusal);
    live_causes_add(causes, LIVE_STATE_ATTENTION, what,
                    "agree with the coordinator's operator: change the run, or this site's file "
                    "if that is your decision");
}

static void add_trouble(const struct live_site_view *view, struct live_causes *causes)
{
    if (view->trouble != NULL)
        live_causes_add(causes, LIVE_STATE_ATTENTION, view->trouble,
                        view->cure != NULL ? view->cure
                        : view->is_halted
                            ? "nothing is released any more; stop this agent; if a backup was "
                              "restored put the newest state back, or join the next run"
                            : "stop all processes of this site and start the one with the newest "
                              "state alone: the highest release_epoch");
}

/* Neighbours that follow what this site's state knows nothing of. */
static void add_ahead(const struct agent *agent, const struct live_site_view *view,
                      struct live_causes *causes)
{
    char what[LINE_BYTES];
    struct live_site_place place;
    struct tacit_text text = tacit_text_init(what, sizeof what);
    uint32_t shown = 0;
    if (view->ahead_count == 0)
        return;
    agent->config->protocol->place(agent->site, &place);
    tacit_text_add(&text, "this site's state is an old one: ");
    for (uint32_t i = 0; i < place.neighbour_count && shown < NAMES_SHOWN_MAX; i++)
        if (tacit_bits_has(view->ahead, place.neighbours[i].agent)) {
            tacit_text_add(&text, shown++ == 0 ? "" : ", ");
            tacit_text_add(&text, place.neighbours[i].site);
        }
    tacit_text_add(&text, view->ahead_count > shown ? " and others show"
                          : shown == 1              ? " shows"
                                                    : " show");
    tacit_text_add(&text,
                   " a grant of this site that it knows nothing of; another state of it gave "
                   "it, or they do not say what is true");
    live_causes_add(causes, LIVE_STATE_ATTENTION, what,
                    "stop this agent, put the newest state of this site back and start it alone; "
                    "if that is gone, the operator of the coordinator begins a new term: tacit "
                    "coordinator --new-term");
}

/* It goes on as it is, until its owner says a word. */
static void add_next_run(const struct agent *agent, struct live_causes *causes)
{
    char what[LINE_BYTES];
    if (agent_runs_say(agent, what, sizeof what))
        live_causes_add(causes, LIVE_STATE_ATTENTION, what,
                        "look at the announced run with its operator, and say the word; or `runs: "
                        "join` in this site's file joins the next one of the same coordinator");
}

static void add_chain(const struct agent *agent, struct live_causes *causes)
{
    char const *const what = agent_chain_trouble(agent);
    if (what != NULL)
        live_causes_add(causes, LIVE_STATE_ATTENTION, what,
                        "tell the coordinator's operator, with entry and entry_digest of this "
                        "status; restart this agent once one coordinator is left");
}

static void add_waits(const struct agent *agent, struct live_causes *causes)
{
    struct agent_waiting const waiting = agent_waiting(agent);
    char text[LINE_BYTES];
    if (waiting.is_long) {
        agent_say_waiting(&waiting, text, sizeof text);
        live_causes_add(causes, LIVE_STATE_WAITING, text,
                        "hand the rewards in, or close the decisions that will never have one: "
                        "GET /v1/decisions lists them");
    }
    if (waiting.is_biased) {
        agent_say_biased(&waiting, text, sizeof text);
        live_causes_add(causes, LIVE_STATE_WAITING, text,
                        "if no answer means no, say so in this site's file: missing: {after_s, "
                        "counts_as}");
    }
}

struct live_causes agent_causes(const struct agent *agent, const struct live_site_view *view)
{
    struct live_causes causes = live_causes_begin();
    struct live_bus_trouble const broker = live_bus_why(agent->daemon.bus);
    live_causes_add_broker(&causes, &broker);
    if (agent->refusal != NULL)
        add_refusal(agent, &causes);
    add_trouble(view, &causes);
    add_ahead(agent, view, &causes);
    add_next_run(agent, &causes);
    add_chain(agent, &causes);
    if (agent->site == NULL && agent->refusal == NULL && broker.is_connected)
        live_causes_add(&causes, LIVE_STATE_WAITING, "no run was announced to this site yet",
                        "is the coordinator running, and is this site in its list of sites?");
    add_waits(agent, &causes);
    return causes;
}

/* What the coordinator announced last, whether this site takes part or not. */
static json_t *announced(const struct agent *agent)
{
    char text[2 * TACIT_WIRE_RUN_BYTES + 1];
    if (!agent->has_announced)
        return json_null();
    for (size_t i = 0; i < TACIT_WIRE_RUN_BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", agent->announced[i]);
    return json_string(text);
}

void agent_add_causes(const struct agent *agent, const struct live_site_view *view, json_t *status)
{
    struct live_bus_trouble const broker = live_bus_why(agent->daemon.bus);
    struct live_causes const causes = agent_causes(agent, view);
    uint64_t const heard_us = agent->hub_heard_us;
    bool const is_lost = !broker.is_connected && broker.reason[0] != '\0';
    (void)json_object_set_new(status, "state", json_string(live_state_word(causes.state)));
    (void)json_object_set_new(status, "causes", causes.list);
    (void)json_object_set_new(status, "disconnected",
                              is_lost ? json_string(broker.reason) : json_null());
    (void)json_object_set_new(status, "announced", announced(agent));
    (void)json_object_set_new(status, "hub_epoch", json_integer((json_int_t)agent->hub_epoch));
    (void)json_object_set_new(
        status, "hub_heard_s",
        heard_us == 0 ? json_null()
                      : json_integer((json_int_t)((live_now_us() - heard_us) / US_PER_S)));
}

/* The words of what waits, as they stand in the log. */
static json_t *warnings(const struct agent *agent)
{
    struct live_causes waits = live_causes_begin();
    json_t *const list = json_array();
    size_t i;
    json_t *cause;
    add_waits(agent, &waits);
    json_array_foreach(waits.list, i, cause)(void)
        json_array_append(list, json_object_get(cause, "what"));
    json_decref(waits.list);
    return list;
}

json_t *agent_health(const struct agent *agent, const struct live_site_view *view, bool *is_healthy)
{
    struct live_causes const causes = agent_causes(agent, view);
    json_t *const answer = json_pack("{s:s}", "status", live_state_word(causes.state));
    *is_healthy = causes.state != LIVE_STATE_ATTENTION;
    if (answer == NULL || json_array_size(causes.list) == 0) {
        json_decref(causes.list);
        return answer;
    }
    json_t *const said = warnings(agent);
    if (!*is_healthy)
        (void)json_object_set(answer, "error",
                              json_object_get(json_array_get(causes.list, 0), "what"));
    (void)json_object_set_new(answer, "causes", causes.list);
    if (json_array_size(said) > 0)
        (void)json_object_set(answer, "warnings", said);
    json_decref(said);
    return answer;
}
