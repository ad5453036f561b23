/* Sums over the rows of the ledger: what one reward has lost, in this run and in all. */
#include "agent_state.h"

/* Names of the values in the store. They only grow, and belong to the state, not to a run. */
#define SPENT "spent_nano"
#define UNIT_MOST "unit_rewards_most"

enum tacit_status agent_ledger_restore(struct agent *agent)
{
    bool found;
    TACIT_TRY(live_store_get_value(agent->daemon.store, SPENT, &agent->spent_nano, &found));
    return live_store_get_value(agent->daemon.store, UNIT_MOST, &agent->unit_most, &found);
}

/* A smaller one changes nothing. */
static void grow(struct agent *agent, const char *name, uint64_t *value, uint64_t to)
{
    if (to <= *value)
        return;
    *value = to;
    live_daemon_put_value(&agent->daemon, name, to);
}

void agent_ledger_note(struct agent *agent, const struct live_site_view *view)
{
    grow(agent, SPENT, &agent->spent_nano, view->spent_nano);
}

void agent_ledger_note_unit(struct agent *agent, uint64_t count)
{
    grow(agent, UNIT_MOST, &agent->unit_most, count);
}
