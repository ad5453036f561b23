/* Times of an agent: what is kept of them, and how they come back. */
#include "agent_state.h"
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define KEEP_MS 1000u /* the clock, in a batch that is written anyway: no more often */
#define NAME_BYTES 32u

uint64_t agent_now_ms(const struct agent *agent)
{
    return live_state_clock_read(&agent->clock, live_now_us());
}

static const char *missed_name(uint32_t arm, char name[NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, "missed %" PRIu32, arm);
    return name;
}

void agent_put_missed(struct agent *agent, uint32_t arm)
{
    TACIT_ASSERT(arm < agent->config->site.arm_count);
    char name[NAME_BYTES];
    live_daemon_put_value(&agent->daemon, missed_name(arm, name),
                          live_decisions_missed(agent->decisions, arm));
}

static const char clock_name[] = "clock_ms";
static const char wait_name[] = "wait_ms";
static const char in_time_name[] = "wait_in_time";
static const char late_name[] = "wait_late";
static const char arms_since_name[] = "arms_since_unix_s";

void agent_put_arms_since(struct agent *agent)
{
    time_t const now = time(NULL);
    agent->arms_since_unix_s = now > 0 ? (uint64_t)now : 0;
    live_daemon_put_value(&agent->daemon, arms_since_name, agent->arms_since_unix_s);
}

void agent_put_times(struct agent *agent)
{
    uint64_t const now_ms = agent_now_ms(agent);
    struct live_decisions_view view;
    live_decisions_view(agent->decisions, &view);
    bool const has_grown = view.wait.wait_ms != agent->kept_wait_ms;
    if (!has_grown && now_ms - agent->clock.kept_ms < KEEP_MS)
        return;
    live_daemon_put_value(&agent->daemon, clock_name, now_ms);
    live_daemon_put_value(&agent->daemon, in_time_name, view.wait.in_time);
    live_daemon_put_value(&agent->daemon, late_name, view.wait.late);
    if (has_grown)
        live_daemon_put_value(&agent->daemon, wait_name, view.wait.wait_ms);
    agent->clock.kept_ms = now_ms;
    agent->kept_wait_ms = view.wait.wait_ms;
}

static enum tacit_status get_value(struct agent *agent, const char *name, uint64_t *value)
{
    bool found;
    return live_store_get_value(agent->daemon.store, name, value, &found);
}

static enum tacit_status restore_missed(struct agent *agent)
{
    enum tacit_status status = TACIT_OK;
    for (uint32_t arm = 0; status == TACIT_OK && arm < agent->config->site.arm_count; arm++) {
        char name[NAME_BYTES];
        uint64_t count = 0;
        status = get_value(agent, missed_name(arm, name), &count);
        if (status == TACIT_OK && count > 0)
            live_decisions_restore_missed(agent->decisions, arm, count);
    }
    return status;
}

enum tacit_status agent_restore_times(struct agent *agent)
{
    uint64_t clock_ms = 0;
    struct live_wait wait = {0};
    TACIT_TRY(get_value(agent, clock_name, &clock_ms));
    TACIT_TRY(get_value(agent, wait_name, &wait.wait_ms));
    TACIT_TRY(get_value(agent, in_time_name, &wait.in_time));
    TACIT_TRY(get_value(agent, late_name, &wait.late));
    TACIT_TRY(get_value(agent, arms_since_name, &agent->arms_since_unix_s));
    TACIT_TRY(restore_missed(agent));
    agent->clock = live_state_clock_start(clock_ms, live_now_us());
    agent->kept_wait_ms = wait.wait_ms;
    if (wait.wait_ms > 0)
        live_decisions_restore_wait(agent->decisions, &wait);
    return TACIT_OK;
}
