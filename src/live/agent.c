/* The agent daemon: start, timers, rounds, end. */
#include "agent.h"
#include "agent_state.h"
#include "daemon/log.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- Timers and rounds ----------------------------------------------------------------------- */

static void on_core_timer(void *context)
{
    struct agent *const agent = context;
    agent->core_deadline_us = TACIT_NEVER; /* it has come: what stands is no longer set */
    (void)agent_step(agent, (struct live_site_event){.kind = LIVE_SITE_TIMEOUT});
}

static void prepare(void *context)
{
    struct agent *const agent = context;
    if (agent->core_is_dirty)
        agent_runs_note_end(agent);
    agent_prepare_commit(agent);
}

static void reload(void *context)
{
    struct agent *const agent = context;
    live_member_reload(&agent->member);
    live_observe_reload(&agent->observe);
}

/* ---- Start and end --------------------------------------------------------------------------- */

/* Pages, broker, owner: whom it speaks with. */
static enum tacit_status connect_all(struct agent *agent, struct tacit_error *error)
{
    struct live_agent_config const *const config = agent->config;
    struct live_daemon *const daemon = &agent->daemon;
    struct live_bus_events const events = agent_bus_events(agent);
    struct live_api_config const api = {config->site.arm_count,
                                        config->site.arm_names,
                                        agent_api(agent),
                                        config->caller_open_max,
                                        config->caller_calls_per_s,
                                        live_store_id_key(daemon->store),
                                        &daemon->held};
    daemon->context = agent;
    daemon->prepare = prepare;
    daemon->reload = reload;
    agent->core_timer = live_timer_new(daemon->loop, on_core_timer, agent);
    agent->expiry_timer = live_timer_new(daemon->loop, agent_on_expiry, agent);
    if (agent->core_timer == NULL || agent->expiry_timer == NULL)
        return TACIT_MEMORY;
    TACIT_TRY(agent_task_open(agent, error));
    TACIT_TRY(live_api_new(&agent->api, &api));
    TACIT_TRY(live_http_open(&daemon->http, daemon->loop, &config->daemon.http, live_api_handle,
                             agent->api, error));
    TACIT_TRY(live_observe_open(&agent->observe, daemon->loop, &config->daemon.observe,
                                live_api_show, agent->api, error));
    TACIT_TRY(live_bus_open(&daemon->bus, daemon->loop, &config->daemon.bus, &events, error));
    return live_control_open(&agent->control, daemon, config->daemon.state_directory,
                             agent_on_command, agent);
}

/* The daemon is open; what is opened here before an error, close_all closes. */
static enum tacit_status run(struct agent *agent, struct tacit_error *error)
{
    struct live_agent_config const *const config = agent->config;
    TACIT_TRY(agent_runs_restore(agent, error));
    TACIT_TRY(agent_restore(agent, error));
    if (agent->site != NULL) {
        TACIT_TRY(agent_open_run(agent));
        TACIT_TRY(agent_open_replicated_log(agent));
    }
    TACIT_TRY(live_member_open(&agent->member, &agent->daemon, &agent->envelopes,
                               &config->daemon.signing, config->site.agents_max + 1, error));
    TACIT_TRY(connect_all(agent, error));
    agent_runs_note_end(agent);
    if (agent->site != NULL)
        (void)agent_step(agent, (struct live_site_event){.kind = LIVE_SITE_START});
    agent_lose_decisions(agent);
    agent_on_expiry(agent); /* behind START: by the new clock the core takes nothing before it */
    live_log(LIVE_LOG_INFO, "started", "agent %s of %s", config->site.site,
             config->site.federation);
    agent_log_trouble(agent);
    return live_daemon_run(&agent->daemon);
}

static void close_all(struct agent *agent)
{
    live_observe_close(&agent->observe);
    if (agent->api != NULL)
        live_api_free(agent->api);
    live_control_close(agent->control);
    agent_task_close(agent);
    live_daemon_close(&agent->daemon);
    live_decisions_free(agent->decisions);
    free(agent->ranking);
    free(agent->active);
    free(agent->neighbours);
    free(agent->runs.waiting);
    live_runs_close(&agent->runs.all);
    live_member_close(&agent->member);
    agent_close_replicated_log(agent);
    live_history_close(&agent->history);
    live_site_free(agent->site);
}

enum tacit_status live_agent_run(const struct live_agent_config *config, struct tacit_error *error)
{
    struct agent agent = {.config = config,
                          .core_deadline_us = TACIT_NEVER,
                          .envelopes = {.federation = config->site.federation,
                                        .self = config->site.site,
                                        .family = config->protocol->wire->family}};
    struct live_store_identity identity = {0};
    TACIT_ASSERT(config->protocol != NULL);
    enum tacit_status status = agent_identify(config, &identity);
    if (status == TACIT_OK)
        status = live_daemon_open(&agent.daemon, config->daemon.state_directory, &identity, error);
    live_store_identity_free(&identity);
    if (status != TACIT_OK)
        return status;
    status = run(&agent, error);
    close_all(&agent);
    return status;
}

/* ---- Whether it could start ------------------------------------------------------------------ */

static enum tacit_status try_state(const void *context, struct live_store *store,
                                   struct tacit_error *error)
{
    struct live_agent_config const *const config = context;
    struct live_runs runs = {0};
    struct live_site *site = NULL;
    enum tacit_status status = agent_runs_read(&runs, store, config, error);
    if (status == TACIT_OK && !live_store_has_new_config(store)) /* else nothing is put back */
        status = agent_restore_core(config, store, &site, error);
    live_runs_close(&runs);
    live_site_free(site);
    return live_daemon_check_state(config->daemon.state_directory, status, error);
}

enum tacit_status live_agent_check(const struct live_agent_config *config,
                                   enum live_store_found *found, struct tacit_error *error)
{
    struct live_store_identity identity = {0};
    enum tacit_status const status = agent_identify(config, &identity);
    return live_store_try(config->daemon.state_directory, status, &identity, try_state, config,
                          found, error);
}
