/* From one run to the next: whether the site goes along, and what it leaves behind. */
#include "agent_state.h"
#include "daemon/log.h"
#include "daemon/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Between two runs ------------------------------------------------------------------------ */

/* Named values that belong to a run (agent_times.c, agent_control.c). */
static enum tacit_status drop_values(struct agent *agent)
{
    static const char *const patterns[] = {"missed *", "refused *", "arms_since_unix_s"};
    enum tacit_status status = TACIT_OK;
    for (size_t i = 0; status == TACIT_OK && i < sizeof patterns / sizeof patterns[0]; i++)
        status = live_store_drop_values(agent->daemon.store, patterns[i]);
    return status;
}

enum tacit_status agent_runs_read(struct live_runs *runs, struct live_store *store,
                                  const struct live_agent_config *config, struct tacit_error *error)
{
    char const *const why = config->protocol->one_run;
    TACIT_TRY(live_runs_open(runs, store));
    if (!live_store_has_new_config(store) || runs->count == 0 || why == NULL)
        return TACIT_OK;
    return live_refuse(error, TACIT_INVALID, "%s: this state has had its run: %s",
                       config->daemon.state_directory, why);
}

/* The file says something else than the run that is over: its arms may be others. */
static enum tacit_status adopt_config(struct agent *agent)
{
    if (!live_daemon_begin(&agent->daemon))
        return TACIT_IO;
    enum tacit_status status = live_store_adopt_config(agent->daemon.store);
    if (status == TACIT_OK)
        status = drop_values(agent);
    if (status == TACIT_OK)
        live_log(LIVE_LOG_WARNING, "runs", "%s",
                 agent->runs.all.count == 0
                     ? "the file of this site is another one than before, when it had joined no "
                       "run: decisions are forgotten"
                     : "the file of this site is another one than in the run that is over: "
                       "decisions of that run are forgotten, its releases and its result stay");
    return status;
}

enum tacit_status agent_runs_restore(struct agent *agent, struct tacit_error *error)
{
    struct live_store *const store = agent->daemon.store;
    TACIT_TRY(agent_runs_read(&agent->runs.all, store, agent->config, error));
    return live_store_has_new_config(store) ? adopt_config(agent) : TACIT_OK;
}

/* ---- The end --------------------------------------------------------------------------------- */

/* Without a site, or memory, the run ends without one. */
static void store_result(struct agent *agent)
{
    json_t *const result = agent->site == NULL ? NULL : agent_result(agent);
    char *const text = result == NULL ? NULL : json_dumps(result, JSON_COMPACT);
    live_runs_end(&agent->runs.all, &agent->daemon, text, text == NULL ? 0 : strlen(text));
    free(text);
    json_decref(result);
}

void agent_runs_note_end(struct agent *agent)
{
    struct live_site_view const view = agent_view(agent);
    if (!live_runs_is_over(&agent->runs.all) && (view.is_decided || view.is_finished))
        store_result(agent);
}

static void store_row(void *context, const struct live_decision_row *row)
{
    agent_store_row(context, row);
    agent_unit_return_pull(context, row);
}

void agent_runs_leave(struct agent *agent)
{
    TACIT_ASSERT(agent->runs.all.count > 0);
    if (agent->site != NULL) /* else the file was changed, and its result is kept */
        store_result(agent);
    live_decisions_end_run(agent->decisions, store_row, agent);
    if (live_daemon_begin(&agent->daemon) && drop_values(agent) != TACIT_OK)
        live_daemon_fail(&agent->daemon, TACIT_IO, "the state cannot be written");
    live_timer_set(agent->core_timer, TACIT_NEVER);
    agent->core_deadline_us = TACIT_NEVER;
    live_site_free(agent->site);
    agent->site = NULL;
    agent->core_is_dirty = false;
    agent->ranking_is_stale = true;
    agent->arms_since_unix_s = 0;
    agent->warned_biased = false;
    free(agent->neighbours);
    agent->neighbours = NULL;
    agent->neighbour_count = 0;
}

/* ---- What is announced ----------------------------------------------------------------------- */

static const char *format_run(char words[], size_t size,
                              const struct tacit_wire_agreement *announced, const char *what)
{
    char run[LIVE_HEX_BYTES(LIVE_STORE_RUN_BYTES)];
    live_hex(announced->run, sizeof announced->run, run);
    (void)snprintf(words, size, "another run is announced, run %" PRIu64 " (%s): %s",
                   tacit_wire_run_id(announced->run), run, what);
    return words;
}

static const char *format_objection(struct agent *agent,
                                    const struct tacit_wire_agreement *announced, const char *what)
{
    return format_run(agent->runs.objection, sizeof agent->runs.objection, announced, what);
}

bool agent_runs_is_behind(const struct agent *agent, const uint8_t run[TACIT_WIRE_RUN_BYTES])
{
    return agent->has_announced && live_run_follows(run, agent->announced);
}

const char *agent_runs_outdated(struct agent *agent, const struct tacit_wire_agreement *announced)
{
    struct live_runs const *const all = &agent->runs.all;
    bool const is_past = all->count > 0 && live_runs_kin(all, announced->run) == LIVE_RUN_OLDER;
    if (!is_past && !agent_runs_is_behind(agent, announced->run))
        return NULL;
    return format_run(agent->runs.outdated, sizeof agent->runs.outdated, announced,
                      "it is an older one than this site knows, and is not begun again");
}

const char *agent_runs_objection(struct agent *agent, const struct tacit_wire_agreement *announced)
{
    struct live_runs const *const all = &agent->runs.all;
    enum live_run_kin const kin = live_runs_kin(all, announced->run);
    TACIT_ASSERT(kin != LIVE_RUN_OLDER);
    if (kin == LIVE_RUN_SAME)
        return format_objection(agent, announced,
                                "it is over here, with another file of this site");
    if (kin == LIVE_RUN_FOREIGN && !live_runs_is_over(all))
        return format_objection(
            agent, announced,
            "it is of another coordinator than the run that is under way here, which "
            "this site stays in");
    char const *const why = agent->config->protocol->one_run;
    return why == NULL ? NULL : format_objection(agent, announced, why);
}

void agent_runs_apply(struct agent *agent, const struct tacit_wire_agreement *announced)
{
    struct live_runs const *const all = &agent->runs.all;
    if (live_runs_kin(all, announced->run) == LIVE_RUN_NEXT && !live_runs_is_over(all) &&
        agent->config->protocol->one_run == NULL)
        store_result(agent);
}

static void forget_waiting(struct agent *agent)
{
    free(agent->runs.waiting);
    agent->runs.waiting = NULL;
    agent->runs.waiting_size = 0;
}

/* The announcement is copied. One that waited before is forgotten: the newest counts. */
static void store_waiting(struct agent *agent, const struct tacit_wire_agreement *announced,
                          uint64_t term, const uint8_t *bytes, size_t size)
{
    TACIT_ASSERT(size > 0);
    bool const is_new =
        agent->runs.waiting == NULL || memcmp(agent->runs.waiting_run, announced->run, 16) != 0;
    forget_waiting(agent);
    agent->runs.waiting = malloc(size);
    if (agent->runs.waiting == NULL)
        return; /* it comes again */
    memcpy(agent->runs.waiting, bytes, size);
    agent->runs.waiting_size = size;
    agent->runs.waiting_term = term;
    memcpy(agent->runs.waiting_run, announced->run, sizeof agent->runs.waiting_run);
    char text[512];
    if (is_new && agent_runs_format(agent, text, sizeof text))
        live_log(LIVE_LOG_WARNING, "consent", "%s", text);
}

bool agent_runs_admit(struct agent *agent, const struct tacit_wire_agreement *announced,
                      uint64_t term, const uint8_t *bytes, size_t size)
{
    TACIT_ASSERT(bytes != NULL && size > 0);
    struct live_runs const *const all = &agent->runs.all;
    if (all->count == 0)
        return true;
    enum live_run_kin const kin = live_runs_kin(all, announced->run);
    if (kin == LIVE_RUN_NEXT && agent->config->joins_runs) {
        forget_waiting(agent);
        return true;
    }
    store_waiting(agent, announced, term, bytes, size);
    return false;
}

bool agent_runs_consent(struct agent *agent, uint64_t run_id, const char **objection)
{
    TACIT_ASSERT(objection != NULL);
    struct agent_runs *const runs = &agent->runs;
    struct live_run_row const *const now = live_runs_now(&runs->all);
    bool const is_in = agent->site != NULL && now != NULL && tacit_wire_run_id(now->run) == run_id;
    *objection = "no such run waits for consent; see `runs` in the status";
    if (runs->waiting == NULL || tacit_wire_run_id(runs->waiting_run) != run_id)
        return is_in; /* the word was said before */
    uint8_t *const bytes = runs->waiting;
    runs->waiting = NULL;
    agent_join(agent, runs->waiting_term, bytes, runs->waiting_size);
    free(bytes);
    *objection = agent->refusal != NULL ? agent->refusal : "it cannot be joined; see the log";
    return agent->site != NULL && tacit_wire_run_id(live_runs_now(&runs->all)->run) == run_id;
}

/* ---- Showing --------------------------------------------------------------------------------- */

bool agent_runs_format(const struct agent *agent, char text[], size_t size)
{
    char run[LIVE_HEX_BYTES(LIVE_STORE_RUN_BYTES)];
    struct agent_runs const *const runs = &agent->runs;
    if (runs->waiting == NULL)
        return false;
    uint64_t const id = tacit_wire_run_id(runs->waiting_run);
    bool const is_foreign = live_runs_kin(&runs->all, runs->waiting_run) == LIVE_RUN_FOREIGN;
    live_hex(runs->waiting_run, sizeof runs->waiting_run, run);
    (void)snprintf(text, size,
                   "run %" PRIu64 " (%s) is announced%s and waits for consent: tacit control %s "
                   "join %" PRIu64,
                   id, run,
                   is_foreign ? ", by another coordinator than the runs before, or by one that has "
                                "lost its state,"
                              : "",
                   agent->config->daemon.state_directory, id);
    return true;
}

void agent_runs_add(const struct agent *agent, json_t *status)
{
    char run[LIVE_HEX_BYTES(LIVE_STORE_RUN_BYTES)];
    struct agent_runs const *const runs = &agent->runs;
    json_t *waiting = json_null();
    if (runs->waiting != NULL) {
        live_hex(runs->waiting_run, sizeof runs->waiting_run, run);
        waiting = json_pack("{s:s, s:I}", "run", run, "run_id",
                            (json_int_t)tacit_wire_run_id(runs->waiting_run));
    }
    (void)json_object_set_new(status, "runs",
                              json_pack("{s:I, s:b, s:o}", "count", (json_int_t)runs->all.count,
                                        "over", live_runs_is_over(&runs->all), "waits_for_consent",
                                        waiting));
}
