/* The simulator's nodes of epoch elimination with somebody around them. */
#include "elim_watch.h"
#include "../../src/families/elim/state.h"
#include "faults.h"

/* The agent's core, be it in a peer or not. */
static struct tacit_elim_agent *agent_of(const struct elim_run *run, uint32_t agent)
{
    void *const state = tacit_sim_nodes_state(run->nodes, agent);
    if (run->experiment->network == NULL)
        return state;
    return (struct tacit_elim_agent *)(uintptr_t)tacit_elim_peer_agent(state);
}

static const struct elim_observer *observer_of(const struct elim_run *run)
{
    return (const struct elim_observer *)(const void *)
        run->experiment->hooks; /* its first member */
}

static void persisted(void *family, uint32_t node)
{
    struct elim_run const *const run = family;
    struct elim_observer const *const observer = observer_of(run);
    if (node == run->agent_count) {
        if (observer->hub_persisted != NULL)
            observer->hub_persisted(observer->context, elim_run_hub(run));
        return;
    }
    uint32_t const agent = faults_agent_of(run->nodes, node);
    if (observer->agent_persisted != NULL)
        observer->agent_persisted(observer->context, agent, agent_of(run, node));
    if (observer->peer_persisted != NULL && run->experiment->network != NULL)
        observer->peer_persisted(observer->context, agent, tacit_sim_nodes_state(run->nodes, node));
}

static void sent(void *family, const void *message)
{
    struct elim_observer const *const observer = observer_of(family);
    if (observer->sent != NULL)
        observer->sent(observer->context, message);
}

static void pulled(void *family, uint32_t node, uint32_t arm, uint64_t count)
{
    struct elim_run const *const run = family;
    struct elim_observer const *const observer = observer_of(run);
    if (observer->pulled != NULL)
        observer->pulled(observer->context, faults_agent_of(run->nodes, node), arm, count);
}

static void step_agent(struct elim_run *run, uint32_t node, struct tacit_event *event,
                       const struct tacit_entropy *entropy)
{
    struct elim_observer const *const observer = observer_of(run);
    uint32_t const agent = faults_agent_of(run->nodes, node);
    void *const state = tacit_sim_nodes_state(run->nodes, node);
    if (observer->stepping != NULL)
        observer->stepping(observer->context, node, event);
    event->signer = observer->signer;
    elim_run_step(run, node, event, entropy);
    if (observer->agent_fault != NULL)
        observer->agent_fault(observer->context, agent, agent_of(run, node), &run->update);
    if (run->experiment->network != NULL && observer->peer_fault != NULL)
        observer->peer_fault(observer->context, agent, state, elim_run_table(run, node), event,
                             &run->update);
    if (observer->stepped != NULL)
        observer->stepped(observer->context, node, agent, event, agent_of(run, node), &run->update);
}

static void step(void *family, uint32_t node, const struct tacit_event *sim_event,
                 const struct tacit_entropy *entropy, struct tacit_sim_update *update)
{
    struct elim_run *const run = family;
    struct elim_observer const *const observer = observer_of(run);
    struct tacit_event event = *sim_event;
    if (node != run->agent_count) {
        step_agent(run, node, &event, entropy);
    } else {
        elim_run_step(run, node, &event, entropy);
        if (observer->hub_fault != NULL)
            observer->hub_fault(observer->context, elim_run_hub(run), &event, &run->update);
    }
    elim_run_carry_out(run, node, update);
}

const struct elim_hooks *elim_observe(struct elim_observer *observer)
{
    static struct tacit_sim_node_ops ops;
    ops = elim_node_ops;
    ops.step = step;
    ops.persisted = persisted;
    ops.sent = sent;
    ops.pulled = pulled;
    observer->hooks = (struct elim_hooks){&ops, observer->signer != NULL};
    return &observer->hooks;
}
