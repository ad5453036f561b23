/* A site keeps the newest entry of the coordinator's log and shows it to whoever asks. */
#include "agent_state.h"
#include "bus/topics.h"
#include "daemon/log.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASK_AGAIN_US UINT64_C(1000000)

static const char fork_text[] =
    "the coordinator has signed two entries of one number: it runs twice, or its state was copied; "
    "nothing that it says is obeyed";
static const char behind_text[] =
    "an entry of before the newest one: it came late or again, or the coordinator's state is an "
    "old one";

enum tacit_status agent_open_replicated_log(struct agent *agent)
{
    struct live_held_entry *const held = &agent->replicated_log.held;
    enum tacit_status status = live_entry_load(held, agent->daemon.store, agent->envelopes.run);
    agent->replicated_log.is_forked = false;
    if (status == TACIT_OK &&
        held->head.term > agent->envelopes.term) /* left by its owner's word */
        status = live_entry_hold(held, NULL, 0);
    if (status == TACIT_OK)
        agent->envelopes.entry = held->head.number;
    return status;
}

void agent_close_replicated_log(struct agent *agent)
{
    free(agent->replicated_log.held.envelope);
    agent->replicated_log = (struct agent_replicated_log){0};
}

void agent_ask_for_replicated_log(struct agent *agent)
{
    agent->replicated_log.asked_us = live_now_us();
    (void)live_bus_subscribe(
        agent->daemon.bus, live_topic_down(agent->config->site.federation, LIVE_TOPIC_ENTRY).text);
}

/* Entries, and behind them what rests on them: the broker keeps the newest of both. */
static void ask_again(struct agent *agent)
{
    char const *const federation = agent->config->site.federation;
    uint64_t const now_us = live_now_us();
    if (agent->replicated_log.asked_us != 0 &&
        now_us - agent->replicated_log.asked_us < ASK_AGAIN_US)
        return;
    agent_ask_for_replicated_log(agent);
    (void)live_bus_subscribe(agent->daemon.bus,
                             live_topic_down(federation, agent->config->protocol->wire->name).text);
}

void agent_show_replicated_log(struct agent *agent)
{
    struct live_topic const topic =
        live_topic_up(agent->config->site.federation, agent->config->site.site, LIVE_TOPIC_ENTRY);
    struct live_envelope const envelope = {.topic = topic.text,
                                           .to = TACIT_WIRE_COORDINATOR,
                                           .kind = TACIT_WIRE_KIND_ENTRY,
                                           .epoch = LIVE_VERSION_SAID | TACIT_WIRE_VERSION,
                                           .body = agent->replicated_log.held.envelope,
                                           .size = agent->replicated_log.held.size};
    if (agent->replicated_log.held.envelope == NULL) /* what an earlier state showed is void */
        live_daemon_send(&agent->daemon, topic.text, NULL, 0, true);
    else
        live_member_post(&agent->member, &envelope, true);
}

/* Kept before anything that rests on it is obeyed. */
static void store_entry(struct agent *agent, const struct live_arrival *arrival)
{
    uint8_t *const copy = malloc(arrival->size);
    TACIT_ASSERT(arrival->size > 0 && agent->site != NULL);
    enum tacit_status status = copy == NULL ? TACIT_MEMORY : TACIT_OK;
    if (!live_daemon_begin(&agent->daemon)) {
        free(copy);
        return;
    }
    if (status == TACIT_OK)
        status = live_store_put_entry(agent->daemon.store, agent->envelopes.run, arrival->bytes,
                                      arrival->size);
    if (status == TACIT_OK) {
        memcpy(copy, arrival->bytes, arrival->size);
        status = live_entry_hold(&agent->replicated_log.held, copy, arrival->size);
        agent->envelopes.entry = agent->replicated_log.held.head.number;
    } else {
        free(copy);
    }
    if (status != TACIT_OK)
        live_daemon_fail(&agent->daemon, status, "an entry of the log cannot be written");
    else
        agent_show_replicated_log(agent);
}

static void alarm_fork(struct agent *agent)
{
    if (!agent->replicated_log.is_forked)
        live_log(LIVE_LOG_ERROR, "fork", "%s", fork_text);
    agent->replicated_log.is_forked = true;
}

/* Is it of the run of this site? */
static bool is_of_here(const struct agent *agent, const struct live_entry *found)
{
    return memcmp(found->run, agent->envelopes.run, sizeof found->run) == 0 &&
           memcmp(found->agreement, agent->envelopes.agreement, sizeof found->agreement) == 0;
}

const char *agent_on_entry(struct agent *agent, const struct live_arrival *arrival,
                           struct live_opened *opened)
{
    struct live_entry found;
    struct agent_replicated_log *const replicated_log = &agent->replicated_log;
    char const *const objection = live_envelope_open_entry(&agent->envelopes, arrival, opened);
    if (objection != NULL)
        return objection;
    if (opened->envelope.to[0] != '\0' || !live_entry_read(arrival->bytes, arrival->size, &found))
        return "an entry of the log that does not decode";
    if (agent->site == NULL || (is_of_here(agent, &found) && found.term > agent->envelopes.term))
        return NULL; /* it is asked for again once its announcement is here */
    if (!is_of_here(agent, &found))
        return "an entry of another run";
    switch (live_entry_compare(&replicated_log->held.head, &found)) {
    case LIVE_ENTRY_FORK:
        alarm_fork(agent);
        return fork_text;
    case LIVE_ENTRY_BEFORE:
        agent_show_replicated_log(
            agent); /* a coordinator that means it stops when it hears of the newest */
        return behind_text;
    case LIVE_ENTRY_SAME:
        break;
    case LIVE_ENTRY_AFTER:
        store_entry(agent, arrival);
        break;
    }
    return NULL;
}

const char *agent_objection_to_entry(struct agent *agent, uint64_t entry)
{
    struct agent_replicated_log *const replicated_log = &agent->replicated_log;
    TACIT_ASSERT(agent->site != NULL && agent->envelopes.entry == replicated_log->held.head.number);
    bool const is_late = entry > replicated_log->held.head.number ||
                         replicated_log->held.head.term != agent->envelopes.term;
    if (replicated_log->is_forked)
        return fork_text;
    if (is_late) {
        ask_again(agent);
        return "a message that needs an entry of the log which has not come yet";
    }
    return entry < replicated_log->held.head.number
               ? "a message older than the newest entry of the log"
               : NULL;
}

const char *agent_replicated_log_trouble(const struct agent *agent)
{
    return agent->replicated_log.is_forked ? fork_text : NULL;
}
