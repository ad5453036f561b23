/* Closed decisions on their way to the store's file (store.h). In memory are those that are open,
 * and some thousand that closed last. A batch hands over or drops a share of what is there, so that
 * nobody waits long for it. */
#include "agent_state.h"

/* So many stay in memory; of what is more than that, a batch hands over this part of all. */
#define CLOSED_HERE 1024u
#define SHARE 8u

/* The store does not look up, or keep, what is over by now: before each of its calls here. */
static void set_store_time(struct agent *agent)
{
    live_store_remember_until(agent->daemon.store, agent_now_ms(agent),
                              (uint64_t)agent->config->remember_s * 1000u);
}

static bool by_id(void *context, struct live_decision_id id, struct live_decision_row *row)
{
    struct agent *const agent = context;
    bool found;
    set_store_time(agent);
    enum tacit_status const status = live_store_recall(agent->daemon.store, id, row, &found);
    live_daemon_check(/* else nothing of this round is answered */
                      &agent->daemon, status, "what is remembered cannot be read");
    return found;
}

static bool by_key(void *context, const char *key, struct live_decision_row *row)
{
    struct agent *const agent = context;
    bool found;
    set_store_time(agent);
    enum tacit_status const status = live_store_recall_key(agent->daemon.store, key, row, &found);
    live_daemon_check(&agent->daemon, status, "what is remembered cannot be read");
    return found;
}

struct live_decision_memory agent_memory(struct agent *agent)
{
    return (struct live_decision_memory){.context = agent, .by_id = by_id, .by_key = by_key};
}

static void hand_over(void *context, const struct live_decision_row *row)
{
    struct agent *const agent = context;
    live_daemon_check(&agent->daemon, live_store_remember(agent->daemon.store, row),
                      "a decision cannot be remembered");
}

static void drop_row(void *context, const struct live_decision_row *row)
{
    agent_drop_row(context, row);
}

void agent_remember(struct agent *agent)
{
    struct live_store *const store = agent->daemon.store;
    TACIT_ASSERT(agent->daemon.batch_is_open);
    if (agent->daemon.status != TACIT_OK)
        return;
    set_store_time(agent);
    uint32_t const closed = live_decisions_closed(agent->decisions);
    uint32_t const share = closed < CLOSED_HERE ? 0 : closed / SHARE;
    /* More of them than close meanwhile: a batch that drops hands nothing over. */
    bool const is_dropping =
        live_store_remembers_all(store) &&
        live_decisions_handed_over(agent->decisions, 2 * share + CLOSED_HERE / SHARE, drop_row,
                                   agent);
    if (!is_dropping)
        live_decisions_hand_over(agent->decisions, share, hand_over, agent);
}
