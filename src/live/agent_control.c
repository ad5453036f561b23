/* Commands of the owner to the agent: arms refused, a run joined, a term taken. */
#include "agent_state.h"
#include "show.h"
#include "daemon/log.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* On what a refusal rests; kept under "refused N" beside the state. */
enum basis { UNTOLD, OUTSIDE, RELEASED, RAW, BASIS_COUNT };

static const char *const basis_words[BASIS_COUNT] = {"", "outside", "released", "raw"};

static const char *basis_text(enum basis basis)
{
    switch (basis) {
    case OUTSIDE:
        return "from what is known outside the data: it says nothing of any reward";
    case RELEASED:
        return "from values that were released: it says nothing more of any reward";
    case RAW:
        return "from rewards that were not released: THAT IT IS REFUSED SAYS SOMETHING OF THEM, "
               "which no epsilon counts";
    case UNTOLD:
    case BASIS_COUNT:
        break;
    }
    return "before a new term began, by the operator of the run";
}

static struct live_control_names names_of(const struct agent *agent)
{
    struct live_site_config const *const site = &agent->config->site;
    return (struct live_control_names){.arms = site->arm_names, .arm_count = site->arm_count};
}

static void format_name(uint32_t arm, char name[32])
{
    (void)snprintf(name, 32, "refused %" PRIu32, arm);
}

/* As it was kept; UNTOLD where it was not. */
static enum basis basis_of(struct agent *agent, uint32_t arm)
{
    TACIT_ASSERT(arm < agent->config->site.arm_count);
    char name[32];
    uint64_t value = 0;
    bool found = false;
    format_name(arm, name);
    if (live_store_get_value(agent->daemon.store, name, &value, &found) != TACIT_OK || !found ||
        value >= BASIS_COUNT)
        return UNTOLD;
    return (enum basis)value;
}

/* In the batch of the refusal. */
static void put_basis(struct agent *agent, uint32_t arm, enum basis basis)
{
    TACIT_ASSERT(arm < agent->config->site.arm_count);
    TACIT_ASSERT(basis > UNTOLD && basis < BASIS_COUNT);
    char name[32];
    format_name(arm, name);
    live_daemon_put_value(&agent->daemon, name, basis);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static bool is_command(const json_t *body, const char *name)
{
    char const *const command = json_string_value(json_object_get(body, "command"));
    return command != NULL && strcmp(command, name) == 0;
}

/* {"command": "refuse", "arm", "because"}. Errors: false: *objection says why. */
static bool read_refusal(const struct agent *agent, const json_t *body, uint32_t *arm,
                         enum basis *basis, const char **objection)
{
    struct live_site_config const *const site = &agent->config->site;
    char const *const said = json_string_value(json_object_get(body, "because"));
    *objection = "no such command here; allowed: refuse, join, term; all others are commands for "
                 "the coordinator";
    if (!is_command(body, "refuse"))
        return false;
    *objection = "refuse: there is no such arm in this site's file";
    if (!live_control_find(json_object_get(body, "arm"), site->arm_names, site->arm_count, arm))
        return false;
    *objection = "refuse: on what does the choice rest? allowed: outside, released, raw";
    for (uint32_t i = OUTSIDE; said != NULL && i < BASIS_COUNT; i++) {
        *basis = (enum basis)i;
        if (strcmp(basis_words[i], said) == 0)
            return true;
    }
    return false;
}

/* Why an arm cannot be refused: the core's status in words. */
static const char *objection_to(enum tacit_status status)
{
    switch (status) {
    case TACIT_INVALID:
        return "no other arm would be left: stop the applications that play it";
    case TACIT_UNEXPECTED:
        return "this protocol, or a site that is halted, refuses no arm: name the arm under "
               "`unavailable` of each decision, or stop the applications";
    default:
        return tacit_status_text(status);
    }
}

static void answer_refuse(struct agent *agent, struct live_request *request, uint32_t arm,
                          enum basis basis, bool is_new)
{
    struct live_control_done const done = {
        .change = "refuse",
        .texts = {basis_text(basis),
                  "this site's reports are not counted while the arm is in; the coordinator "
                  "shows it, and its operator may retire the arm for all"},
        .arm = agent->config->site.arm_names[arm]};
    live_control_done(agent->control, request, 0, is_new, &done);
}

static bool is_refused(const struct agent *agent, uint32_t arm)
{
    TACIT_ASSERT(agent->site != NULL);
    TACIT_ASSERT(arm < agent->config->site.arm_count);
    struct live_site_view const view = agent_view(agent);
    return view.refused != NULL && tacit_bits_has(view.refused, arm);
}

/* The core is the judge: whether the arm is refused is looked up before and after. */
static void obey_refuse(struct agent *agent, struct live_request *request, uint32_t arm,
                        enum basis basis)
{
    bool const was_refused = is_refused(agent, arm);
    enum tacit_status const status = agent_step(
        agent, (struct live_site_event){.kind = LIVE_SITE_REFUSE, .as.refused_arm = arm});
    if (!is_refused(agent, arm)) {
        live_control_refuse(agent->control, request, 409,
                            status == TACIT_OK ? "the arm is retired already"
                                               : objection_to(status));
        return;
    }
    if (!was_refused || basis_of(agent, arm) < basis) /* the worse of two words stands */
        put_basis(agent, arm, basis);
    if (!was_refused)
        live_log(LIVE_LOG_WARNING, "refuses", "%s is not played here any more; chosen %s",
                 agent->config->site.arm_names[arm], basis_text(basis));
    answer_refuse(agent, request, arm, basis, !was_refused);
}

/* The next run, by its owner's word; twice is once. */
static void obey_join(struct agent *agent, struct live_request *request, const json_t *body)
{
    json_int_t const asked = json_integer_value(json_object_get(body, "run"));
    uint64_t const run = asked > 0 ? (uint64_t)asked : 0;
    char change[64];
    const char *objection;
    bool const was_waiting = agent->runs.waiting != NULL;
    if (!agent_runs_consent(agent, run, &objection)) {
        live_control_refuse(agent->control, request, 409, objection);
        return;
    }
    (void)snprintf(change, sizeof change, "join run %" PRIu64, run);
    struct live_control_done const done = {
        .change = change,
        .texts = {"each reward is released in one run only, so the loss per reward is that of one "
                  "run; that of a person adds up over runs, unless policy.rewards_per_unit_max "
                  "bounds it",
                  "the run before has its result; decisions that were open in it enter nothing "
                  "any more"}};
    live_control_done(agent->control, request, 0, was_waiting && agent->runs.waiting == NULL,
                      &done);
}

/* The way out of a term that nobody else is in. What no grant covers goes when the next begins. */
static void obey_term(struct agent *agent, struct live_request *request, const json_t *body)
{
    json_int_t const said = json_integer_value(json_object_get(body, "term"));
    uint64_t const term = (uint64_t)said;
    char change[64];
    if (said < 1 || term > TACIT_HORIZON_MAX) {
        live_control_refuse(agent->control, request, 400, "term: allowed: from 1 to 2^40");
        return;
    }
    if (agent->site == NULL || !agent->config->protocol->has_terms) {
        live_control_refuse(agent->control, request, 409,
                            "this site is in no run, or its protocol has no terms");
        return;
    }
    bool const is_new = !agent->awaits_term || agent->envelopes.term != term;
    agent_put_term(agent, term, true);
    if (is_new) {
        (void)agent_open_replicated_log(agent);
        agent_show_replicated_log(agent);
        agent_ask_what_is_announced(agent); /* the status is to say what is refused, and why */
        live_log(LIVE_LOG_WARNING, "term",
                 "its owner has set the term of this site to %" PRIu64
                 ": it sends and accepts nothing until a later one begins",
                 term);
    }
    (void)snprintf(change, sizeof change, "term %" PRIu64, term);
    struct live_control_done const done = {
        .change = change,
        .texts = {"as at every term that begins: what was released stands in the ledger, and "
                  "rewards that no grant covers are dropped",
                  "the site waits for a later term, at most 65536 above, which the "
                  "coordinator's operator begins: tacit coordinator --new-term"}};
    live_control_done(agent->control, request, 0, is_new, &done);
}

void agent_on_command(void *context, struct live_request *request)
{
    struct agent *const agent = context;
    struct tacit_error error = {""};
    const char *objection = error.text;
    uint32_t arm = 0;
    enum basis basis = UNTOLD;
    if (strcmp(request->method, "GET") == 0) {
        struct live_control_names const names = names_of(agent);
        struct live_site_view const view = agent_view(agent);
        live_control_answer_log(agent->control, request, view.changes, view.change_count, &names);
        return;
    }
    json_t *const body = live_api_read_body(request->body, request->size, &error);
    if (body != NULL && (is_command(body, "join") || is_command(body, "term"))) {
        (is_command(body, "join") ? obey_join : obey_term)(agent, request, body);
        json_decref(body);
        return;
    }
    bool const is_clear = body != NULL && read_refusal(agent, body, &arm, &basis, &objection);
    if (!is_clear)
        live_control_refuse(agent->control, request, 400, objection);
    else if (agent->site == NULL)
        live_control_refuse(agent->control, request, 409, "this site has not joined a run yet");
    else
        obey_refuse(agent, request, arm, basis);
    json_decref(body);
}

/* ---- Showing --------------------------------------------------------------------------------- */

void agent_add_changes(const struct agent *agent, const struct live_site_view *view, json_t *status)
{
    struct live_control_names const names = names_of(agent);
    if (view->refused == NULL)
        return;
    (void)json_object_update_new(
        status, json_pack("{s:o, s:b, s:I, s:o}", "refused_arms",
                          live_show_names(names.arms, names.arm_count, view->refused), "dropped",
                          view->is_dropped, "horizon", (json_int_t)view->horizon, "changes",
                          live_control_list(view->changes, view->change_count, &names)));
}

void agent_state_refusals(struct agent *agent, struct live_buffer *text)
{
    struct live_site_view const view = agent_view(agent);
    for (uint32_t arm = 0; view.refused != NULL && arm < agent->config->site.arm_count; arm++) {
        if (!tacit_bits_has(view.refused, arm))
            continue;
        live_buffer_add(text, "This site plays ");
        live_buffer_add(text, agent->config->site.arm_names[arm]);
        live_buffer_add(text, " no more, and says so; that was chosen ");
        live_buffer_add(text, basis_text(basis_of(agent, arm)));
        live_buffer_add(text, ".\n");
    }
}
