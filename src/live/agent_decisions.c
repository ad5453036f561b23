/* The agent's decisions in time: what their deadlines bring, what of them is kept, what a round
 * waits for and when that is worth a word. */
#include "agent_state.h"
#include "daemon/log.h"
#include <inttypes.h>
#include <stdio.h>

#define EXPIRY_US 1000000u
#define EXPIRY_PAUSE_US 1000u /* when more has expired than one round shall carry */
#define KEEP_IDLE_MS 10000u   /* for its own sake, while decisions are open */
#define PATIENT_WAITS 2u      /* a round that waits longer for rewards is worth a word */

/* ---- Pulls and rewards for the core ---------------------------------------------------------- */

void agent_apply_reward(struct agent *agent, const struct live_decision_row *row, double value)
{
    struct live_site_event event = {.kind = LIVE_SITE_REWARD};
    TACIT_ASSERT(row->arm < agent->config->site.arm_count);
    event.as.reward.arm = row->arm;
    event.as.reward.value = value;
    event.as.reward.kept = row->kept;
    event.as.reward.kept_size = row->kept_size;
    if (agent->site != NULL)
        (void)agent_step(agent, event);
}

void agent_return_pull(struct agent *agent, const struct live_decision_row *row)
{
    if (row->kind == LIVE_DECISION_PLANNED || row->kind == LIVE_DECISION_CHOSEN)
        agent_unit_return_pull(agent, row);
    if (row->kind != LIVE_DECISION_PLANNED)
        return;
    agent_put_missed(agent, row->arm);
    agent_count_played(agent, 1);
}

/* ---- Deadlines ------------------------------------------------------------------------------- */

/* What live_decisions_expire tells: the store and the core are to have it, too. */
static void on_change(void *context, const struct live_decision_change *change)
{
    struct agent *const agent = context;
    switch (change->kind) {
    case LIVE_CHANGE_RETURNED:
        agent_store_row(agent, change->row);
        agent_return_pull(agent, change->row);
        break;
    case LIVE_CHANGE_SETTLED:
        agent_store_row(agent, change->row);
        agent_apply_reward(agent, change->row, change->value);
        break;
    case LIVE_CHANGE_FORGOTTEN:
        agent_drop_row(agent, change->row);
        break;
    }
}

struct lost {
    struct agent *agent;
    uint64_t count;
};

/* Its person's place stays taken: a copy of this state may have drawn for it. */
static void store_lost(void *context, const struct live_decision_row *row)
{
    struct lost *const lost = context;
    agent_store_row(lost->agent, row);
    if (row->kind != LIVE_DECISION_PLANNED)
        return;
    agent_put_missed(lost->agent, row->arm);
    lost->count++;
}

void agent_lose_decisions(struct agent *agent)
{
    struct lost lost = {.agent = agent};
    if (!agent->config->protocol->sums_in_memory)
        return;
    live_decisions_lose(agent->decisions, agent_now_ms(agent), store_lost, &lost);
    if (lost.count > 0)
        agent_count_played(agent, lost.count);
}

bool agent_expire(struct agent *agent)
{
    return live_decisions_expire(agent->decisions, agent_now_ms(agent), on_change, agent);
}

/* At the next deadline, once a second at least, for watch; in a moment if there is more to do. */
static void set_timer(struct agent *agent, bool is_done)
{
    struct live_decisions_view view;
    uint64_t const now_us = live_now_us();
    live_decisions_view(agent->decisions, &view);
    uint64_t const next_us = live_state_clock_when_us(&agent->clock, view.next_expiry_ms);
    uint64_t const pause_us = is_done ? EXPIRY_US : EXPIRY_PAUSE_US;
    live_timer_set(agent->expiry_timer,
                   next_us < now_us + pause_us && is_done ? next_us : now_us + pause_us);
}

/* A clock that stood still over a row of kills would let nothing expire. */
static void put_clock(struct agent *agent)
{
    struct live_decisions_view view;
    live_decisions_view(agent->decisions, &view);
    bool const is_open = view.open_planned + view.open_other > 0;
    if (is_open && agent_now_ms(agent) - agent->clock.kept_ms >= KEEP_IDLE_MS)
        (void)live_daemon_begin(&agent->daemon); /* agent_put_times does the rest */
}

/* ---- What a round waits for ------------------------------------------------------------------ */

/* In order: what comes first has to be there before the rest can move. */
static enum agent_wait what_it_waits_for(const struct agent *agent,
                                         const struct live_site_view *site,
                                         const struct live_decisions_view *decisions)
{
    if (site->is_decided || site->is_finished || site->is_dropped || site->trouble != NULL)
        return AGENT_WAITS_FOR_NOTHING;
    if (agent->task.command != NULL)
        return AGENT_WAITS_FOR_TASK;
    if (site->is_committed)
        return AGENT_WAITS_FOR_GRANT;
    if (decisions->unserved > 0)
        return AGENT_WAITS_FOR_DECISIONS;
    if (decisions->open_planned > 0)
        return AGENT_WAITS_FOR_REWARDS;
    return site->is_waiting ? AGENT_WAITS_FOR_OTHERS : AGENT_WAITS_FOR_DECISIONS;
}

const char *agent_wait_name(enum agent_wait what)
{
    static const char *const words[] = {[AGENT_WAITS_FOR_NOTHING] = NULL,
                                        [AGENT_WAITS_FOR_TASK] = "its own command",
                                        [AGENT_WAITS_FOR_GRANT] = "the grant of its release",
                                        [AGENT_WAITS_FOR_DECISIONS] = "decisions",
                                        [AGENT_WAITS_FOR_REWARDS] = "rewards",
                                        [AGENT_WAITS_FOR_OTHERS] = "the other sites"};
    TACIT_ASSERT(what <= AGENT_WAITS_FOR_OTHERS);
    return words[what];
}

struct agent_waiting agent_waiting(const struct agent *agent)
{
    uint64_t const now_ms = agent_now_ms(agent);
    uint64_t const oldest_ms = live_decisions_oldest_ms(agent->decisions);
    struct agent_waiting waiting = {0};
    live_decisions_view(agent->decisions, &waiting.decisions);
    uint64_t const since_ms = waiting.decisions.waits_since_ms;
    uint64_t const longest_ms = PATIENT_WAITS * waiting.decisions.wait.wait_ms;
    waiting.oldest_ms = oldest_ms < now_ms ? now_ms - oldest_ms : 0;
    waiting.waited_ms = since_ms < now_ms ? now_ms - since_ms : 0;
    waiting.is_long = waiting.waited_ms > longest_ms;
    if (agent->site == NULL)
        return waiting;
    struct live_site_view const site = agent_view(agent);
    waiting.what = what_it_waits_for(agent, &site, &waiting.decisions);
    waiting.still_ms = (live_now_us() - agent->standstill.since_us) / 1000u;
    waiting.is_held = waiting.what != AGENT_WAITS_FOR_NOTHING &&
                      waiting.still_ms >= UINT64_C(1000) * agent->config->daemon.waiting_after_s;
    waiting.radius = site.radius;
    if (waiting.decisions.missed_count > 0 && waiting.radius > 0)
        waiting.missed_share =
            live_decisions_missed_share(agent->decisions, site.active, site.round_pulls);
    waiting.is_biased = waiting.missed_share > waiting.radius;
    return waiting;
}

/* All that a round moves: what callers take and hand in of it, and what comes from others. */
void agent_see_standstill(struct agent *agent)
{
    struct live_decisions_view decisions;
    struct live_site_view const site = agent_view(agent);
    live_decisions_view(agent->decisions, &decisions);
    bool const has_plan = decisions.unserved > 0 || decisions.open_planned > 0;
    uint64_t const parts[] = {agent->site != NULL,
                              what_it_waits_for(agent, &site, &decisions),
                              decisions.unserved,
                              decisions.open_planned,
                              decisions.waits_since_ms,
                              has_plan || site.is_waiting ? 0 : site.pull_count,
                              site.epoch,
                              site.draw_number,
                              site.release_number,
                              site.missing_count,
                              agent->hub_epoch,
                              agent->task.number};
    uint64_t mark = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        mark = live_hash_add(mark, parts[i]);
    live_standstill_see(&agent->standstill, mark, live_now_us());
}

void agent_format_waiting(const struct agent_waiting *waiting, char text[], size_t size)
{
    (void)snprintf(
        text, size,
        "this round has waited %.0f s for rewards that do not come: %" PRIu32
        " decisions are open, the oldest for %.0f s; one that will never have a reward can be "
        "closed (DELETE /v1/decisions/ID)",
        (double)waiting->waited_ms / 1e3, waiting->decisions.open_planned,
        (double)waiting->oldest_ms / 1e3);
}

void agent_format_biased(const struct agent_waiting *waiting, char text[], size_t size)
{
    TACIT_ASSERT(waiting->is_biased);
    (void)snprintf(
        text, size,
        "of one arm's rewards %.2g of 1 did not come in time, which is above the %.2g of "
        "the range by which this round can tell arms apart: if they are of another kind "
        "than the others, the result is wrong",
        waiting->missed_share, waiting->radius);
}

/* Once when it begins, and again when it lasts twice as long. */
static void watch(struct agent *agent)
{
    agent_see_standstill(agent);
    struct agent_waiting const waiting = agent_waiting(agent);
    char text[512];
    if (waiting.is_long && waiting.waited_ms >= 2 * agent->warned_waited_ms) {
        agent_format_waiting(&waiting, text, sizeof text);
        live_log(LIVE_LOG_WARNING, "waiting", "%s", text);
        agent->warned_waited_ms = waiting.waited_ms;
    } else if (waiting.waited_ms < agent->warned_waited_ms) {
        agent->warned_waited_ms = 0; /* another round */
    }
    if (waiting.is_biased && !agent->warned_biased) {
        agent_format_biased(&waiting, text, sizeof text);
        live_log(LIVE_LOG_WARNING, "missing", "%s", text);
    }
    agent->warned_biased = waiting.is_biased;
}

void agent_on_expiry(void *context)
{
    struct agent *const agent = context;
    bool const is_done = agent_expire(agent);
    put_clock(agent);
    watch(agent);
    set_timer(agent, is_done);
}

void agent_log_wait(const struct agent *agent)
{
    struct live_decisions_view view;
    live_decisions_view(agent->decisions, &view);
    live_log(LIVE_LOG_WARNING, "late",
             "more than one reward in a hundred came too late; from now on a decision waits %.0f s "
             "for its reward",
             (double)view.wait.wait_ms / 1e3);
}
