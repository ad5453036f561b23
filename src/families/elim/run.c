/* Epoch elimination over a star, a graph or a hybrid as nodes of the simulator: what they do in a
 * step, what their messages are, and how a run begins. */
#include "run.h"
#include <stdlib.h>
#include <string.h>
#include "state.h"
#include "tally.h"

/* ---- Messages ---- */

static size_t message_size(void *family, const void *message)
{
    struct elim_run const *const run = family;
    return tacit_elim_message_size(message, run->arm_count, run->agent_count);
}

static const void *message_copy(void *family, const void *message, void *memory)
{
    struct elim_run const *const run = family;
    return tacit_elim_message_copy(message, run->arm_count, run->agent_count, memory);
}

/* A handshake is over before the next begins: what was asked for arrives before new requests, and
 * everybody has its grant before anybody reports. */
static uint32_t message_rank(void *family, const void *message)
{
    struct tacit_elim_message const *const elim = message;
    (void)family;
    if (elim->kind == TACIT_ELIM_DATA || elim->kind == TACIT_ELIM_COMMIT)
        return 0;
    return elim->kind == TACIT_ELIM_REQUEST || elim->kind == TACIT_ELIM_GRANT ? 1 : 2;
}

static struct tacit_sim_cost message_cost(void *family, const void *message)
{
    struct elim_run const *const run = family;
    return elim_message_cost(message, run->arm_count, run->agent_count);
}

/* ---- Steps ---- */

/* A refusal changes nothing, and its update asks for nothing but the timer that stands. */
void elim_run_step(struct elim_run *run, uint32_t node, struct tacit_event *event,
                   const struct tacit_entropy *entropy)
{
    struct tacit_entropy const salts = tacit_rng_entropy(&run->salts[node]);
    void *const state = tacit_sim_nodes_state(run->nodes, node);
    event->keys = event->keys == NULL ? &salts : event->keys;
    if (node == run->agent_count)
        (void)tacit_elim_hub_step(state, event, entropy, &run->update);
    else if (run->experiment->network == NULL)
        (void)tacit_elim_agent_step(state, event, entropy, &run->update);
    else
        (void)tacit_elim_peer_step(state, elim_run_table(run, node), event, entropy, &run->update);
}

/* With grants an old copy is halted, and nothing is planned any more. */
static void stop_if_halted(struct elim_run *run, uint32_t node, struct tacit_sim_update *update)
{
    struct tacit_elim_agent_view view;
    if (!run->experiment->has_grants || run->experiment->faults == NULL)
        return;
    elim_run_view(run, node, &view);
    update->plan_is_void = view.halted;
}

void elim_run_carry_out(struct elim_run *run, uint32_t node, struct tacit_sim_update *update)
{
    *update = tacit_sim_update_of(&run->update.core, run->update.message.to, &run->update.message);
    if (node == run->agent_count)
        elim_run_count_hub(run);
    else
        stop_if_halted(run, node, update);
}

static void step(void *family, uint32_t node, const struct tacit_event *sim_event,
                 const struct tacit_entropy *entropy, struct tacit_sim_update *update)
{
    struct tacit_event event = *sim_event;
    elim_run_step(family, node, &event, entropy);
    elim_run_carry_out(family, node, update);
}

/* An agent that waits plays its best noised arm meanwhile (READINGS P1.11, sound mode). */
static bool exploit(void *family, uint32_t node, uint32_t *arm, uint64_t *count_max)
{
    struct elim_run const *const run = family;
    struct tacit_elim_agent_view view;
    elim_run_view(run, node, &view);
    *arm = view.exploit_arm;
    *count_max = run->experiment->common.horizon - view.pull_count;
    return view.waiting;
}

static size_t size_of_node(void *family, uint32_t node)
{
    struct elim_run const *const run = family;
    struct elim_sim const *const experiment = run->experiment;
    if (node == run->agent_count) {
        struct tacit_elim_hub_config const config = elim_run_hub_config(experiment, 1, 1, NULL);
        return tacit_elim_hub_size(&config);
    }
    if (experiment->network == NULL) {
        struct tacit_elim_agent_config const config = elim_run_agent_config(experiment, 1, node);
        return tacit_elim_agent_size(&config);
    }
    struct tacit_elim_peer_config const config = elim_run_peer_config(run, 1, node, 1);
    return run->shared_table != NULL ? tacit_elim_peer_size(&config)
                                     : run->peer_bytes + tacit_elim_peer_table_size(&config);
}

const struct tacit_sim_node_ops elim_node_ops = {.size = size_of_node,
                                                 .step = step,
                                                 .exploit = exploit,
                                                 .message_size = message_size,
                                                 .message_copy = message_copy,
                                                 .message_rank = message_rank,
                                                 .message_cost = message_cost};

/* ---- A run ---- */

static enum tacit_status set_up_agent(struct elim_run *run, uint64_t run_id, uint32_t agent,
                                      double gap)
{
    struct elim_sim const *const experiment = run->experiment;
    void *const state = tacit_sim_nodes_state(run->nodes, agent);
    if (experiment->network == NULL) {
        struct tacit_elim_agent_config const config =
            elim_run_agent_config(experiment, run_id, agent);
        return tacit_elim_agent_init(state, &config);
    }
    struct tacit_elim_peer_config const config = elim_run_peer_config(run, run_id, agent, gap);
    bool const is_shared = run->shared_table != NULL;
    if (!is_shared || agent == 0)
        tacit_elim_peer_table_init(elim_run_table(run, agent), &config, is_shared);
    return tacit_elim_peer_init(state, &config);
}

static void draw_instance(struct elim_run *run, uint32_t index)
{
    run->samples = 0;
    tacit_sim_instance_draw(&run->instance, &run->experiment->common, index);
    run->gap = elim_sim_gap(run->experiment, run->instance.global_means);
}

static enum tacit_status set_up(struct elim_run *run, uint32_t index)
{
    struct elim_sim const *const experiment = run->experiment;
    uint64_t const run_id = (uint64_t)index + 1;
    run->round = (struct elim_round){0};
    memset(run->counted_pulls, 0, run->agent_count * sizeof *run->counted_pulls);
    for (uint32_t node = 0; node < run->node_count; node++)
        run->salts[node] =
            tacit_rng_stream(experiment->common.seed, index, node, TACIT_PURPOSE_SALT);
    if (elim_run_has_hub(run)) {
        struct tacit_elim_hub_config const hub = elim_run_hub_config(
            experiment, run_id, run->gap, experiment->network == NULL ? NULL : run->weights);
        TACIT_TRY(tacit_elim_hub_init(elim_run_hub(run), &hub));
    }
    for (uint32_t agent = 0; agent < run->agent_count; agent++)
        TACIT_TRY(set_up_agent(run, run_id, agent, run->gap));
    return TACIT_OK;
}

enum tacit_status elim_run_play(void *player, uint32_t index, struct tacit_sim_row *row,
                                atomic_bool *stop)
{
    struct elim_run *const run = player;
    draw_instance(run, index);
    tacit_sim_instance_watch(&run->instance, row);
    if (run->flood != NULL) {
        TACIT_TRY(elim_flood_play(run->flood, index, &run->instance, run->gap, stop));
    } else {
        TACIT_TRY(set_up(run, index));
        TACIT_TRY(tacit_sim_nodes_play(run->nodes, index, &run->instance, stop));
    }
    elim_run_write_results(run, row);
    return TACIT_OK;
}
