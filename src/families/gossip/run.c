/* Runs of gossip UCB: the network of all agents in lockstep, slot by slot (READINGS P2.5-7). The
 * agents' cores would do the same, byte for byte (tests/oracle/gossip_oracle.c). */
#include <math.h>
#include "plan.h"

struct run {
    const struct gossip_plan *plan; /* first */
    struct tacit_sim_instance instance;
    struct tacit_gossip_network *network;
    struct tacit_rng *rewards;
    struct tacit_rng *noise;
    struct tacit_entropy *entropies;
    union tacit_sum *sums; /* A x K */
    struct tacit_edge *edges;
    struct tacit_rng edge_stream;
};

/* ---- Memory ---- */

static void list_edges(struct run *run)
{
    struct tacit_graph const *const graph = run->plan->graph;
    uint64_t count = 0;
    for (uint32_t a = 0; a < graph->agent_count; a++)
        for (uint64_t i = graph->first[a]; i < graph->first[a + 1]; i++)
            if (graph->neighbours[i] > a)
                run->edges[count++] = (struct tacit_edge){a, graph->neighbours[i]};
    TACIT_ASSERT(count == graph->edge_count);
}

static enum tacit_status make(void *memory, const void *plan)
{
    struct run *const run = memory;
    run->plan = plan;
    struct tacit_gossip_rule const *const rule = &run->plan->rule;
    size_t const agents = rule->agent_count;
    run->network = tacit_sim_new(run, 1, tacit_gossip_network_size(rule));
    run->rewards = tacit_sim_new(run, agents, sizeof *run->rewards);
    run->noise = tacit_sim_new(run, agents, sizeof *run->noise);
    run->entropies = tacit_sim_new(run, agents, sizeof *run->entropies);
    run->sums = tacit_sim_new(run, agents * rule->arm_count, sizeof *run->sums);
    run->edges = tacit_sim_new(run, run->plan->graph->edge_count, sizeof *run->edges);
    if (tacit_gossip_network_size(rule) == 0 || !tacit_sim_is_whole(run))
        return TACIT_MEMORY;
    list_edges(run);
    return tacit_sim_instance_init(&run->instance, &run->plan->common, run);
}

void *gossip_run_new(const void *plan, enum tacit_status *status)
{
    return tacit_sim_make(sizeof(struct run), make, plan, status);
}

/* ---- Play ---- */

/* The naive extension (Sec. 4.1) noises each reward when it comes. Requires: noises_each. */
static union tacit_sum noised(struct run *run, uint32_t agent, union tacit_sum sum)
{
    TACIT_ASSERT(run->plan->noises_each);
    enum tacit_status const status =
        tacit_mechanism_release(&run->plan->mechanism, sum, &run->entropies[agent], &sum);
    TACIT_ASSERT(status == TACIT_OK); /* a stream does not fail, here and below */
    return sum;
}

static union tacit_sum first_reward(struct run *run, uint32_t agent, uint32_t arm)
{
    struct tacit_scale const *const scale = &run->plan->rule.tree.node.scale;
    union tacit_sum const sum =
        tacit_env_pull_one(&run->instance.env, agent, arm, scale, &run->rewards[agent]);
    return run->plan->noises_each ? noised(run, agent, sum) : sum;
}

/* Draws the instance, and a first reward of each arm at each agent, which costs no slot. */
static void begin(struct run *run, uint32_t index, const struct tacit_sim_row *row)
{
    struct gossip_plan const *const plan = run->plan;
    uint64_t const seed = plan->common.seed;
    uint32_t const arms = plan->rule.arm_count;
    tacit_sim_instance_draw(&run->instance, &plan->common, index);
    tacit_sim_instance_watch(&run->instance, row);
    run->edge_stream = tacit_rng_stream(seed, index, TACIT_STREAM_COMMON, GOSSIP_PURPOSE_EDGE);
    tacit_gossip_network_init(run->network, &plan->rule);
    for (uint32_t i = 0; i < plan->rule.agent_count; i++) {
        run->rewards[i] = tacit_rng_stream(seed, index, i, TACIT_PURPOSE_REWARD);
        run->noise[i] = tacit_rng_stream(seed, index, i, TACIT_PURPOSE_NOISE);
        run->entropies[i] = tacit_rng_entropy(&run->noise[i]);
        for (uint32_t arm = 0; arm < arms; arm++)
            run->sums[(size_t)i * arms + arm] = first_reward(run, i, arm);
    }
    enum tacit_status const status =
        tacit_gossip_network_first(run->network, run->sums, run->entropies);
    TACIT_ASSERT(status == TACIT_OK);
}

/* One slot. Result: what it loses, over all agents. */
static double play_slot(struct run *run)
{
    const uint32_t *arms;
    double loss = 0;
    enum tacit_status status =
        tacit_gossip_network_choose(run->network, run->plan->graph, run->entropies, &arms);
    TACIT_ASSERT(status == TACIT_OK);
    uint64_t const edge = tacit_rng_below(&run->edge_stream, run->plan->graph->edge_count);
    tacit_env_pull_each(&run->instance.env, run->plan->rule.agent_count, arms,
                        &run->plan->rule.tree.node.scale, run->rewards, run->sums);
    for (uint32_t i = 0; i < run->plan->rule.agent_count; i++) {
        if (run->plan->noises_each)
            run->sums[i] = noised(run, i, run->sums[i]);
        loss += run->instance.gaps[arms[i]];
    }
    status =
        tacit_gossip_network_absorb(run->network, &run->edges[edge], run->sums, run->entropies);
    TACIT_ASSERT(status == TACIT_OK);
    return loss;
}

/* ---- Results ---- */

static uint32_t best_arm_of(const double *theta, uint32_t arms)
{
    uint32_t best = 0;
    for (uint32_t arm = 1; arm < arms; arm++)
        best = theta[arm] > theta[best] ? arm : best;
    return best;
}

bool gossip_leads_alone(const double *theta, uint32_t arms, uint32_t best)
{
    for (uint32_t arm = 0; arm < arms; arm++)
        if (arm != best && theta[arm] >= theta[best])
            return false;
    return true;
}

/* Widest spread of an arm's estimate over the agents. */
static double disagreement(const double *theta, uint32_t stride, uint32_t agents, uint32_t arms)
{
    double widest = 0;
    for (uint32_t arm = 0; arm < arms; arm++) {
        double low = theta[arm];
        double high = theta[arm];
        for (uint32_t i = 1; i < agents; i++) {
            double const value = theta[(size_t)i * stride + arm];
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        widest = high - low > widest ? high - low : widest;
    }
    return widest;
}

/* The arm that most agents estimate best, of those that have seen all. */
static void rank(const struct run *run, const struct tacit_gossip_network_view *view,
                 struct tacit_sim_row *row)
{
    uint32_t const agents = run->plan->rule.agent_count;
    uint32_t const arms = run->plan->rule.arm_count;
    bool const all_seen = run->plan->common.horizon >= arms;
    uint32_t right = 0;
    for (uint32_t i = 0; i < agents; i++) {
        double const *const theta = view->theta + (size_t)i * arms;
        uint32_t const best = best_arm_of(theta, arms);
        row->ranking[best] += all_seen && gossip_leads_alone(theta, arms, best) ? 1 : 0;
        right += run->instance.gaps[best] < 1e-12 ? 1 : 0;
    }
    tacit_sim_row_elect(row, arms);
    row->metrics[GOSSIP_BEST_ARM_FRACTION] = (double)right / agents;
}

static void write_results(const struct run *run, double regret, struct tacit_sim_row *row)
{
    struct gossip_plan const *const plan = run->plan;
    double const slots = (double)plan->common.horizon;
    double const agents = plan->rule.agent_count;
    uint32_t const arms = plan->rule.arm_count;
    bool const is_real = plan->rule.tree.node.scale.kind == TACIT_SCALE_REAL;
    struct tacit_gossip_network_view view;
    tacit_gossip_network_view(run->network, &view);
    row->metrics[GOSSIP_REGRET] = regret;
    row->metrics[GOSSIP_REGRET_PER_AGENT] = regret / agents;
    row->metrics[GOSSIP_MESSAGES] = slots * (agents + 2);
    row->metrics[GOSSIP_MESSAGES_PER_RECEIVER] = slots * (2 * (double)plan->graph->edge_count + 2);
    row->metrics[GOSSIP_SCALARS] = slots * (agents + 2) * arms;
    row->metrics[GOSSIP_FORCED_FRACTION] = (double)view.forced_count / (slots * agents);
    double const spread = disagreement(view.theta, arms, plan->rule.agent_count, arms);
    struct tacit_scale const *const scale = &plan->rule.tree.node.scale;
    row->metrics[GOSSIP_DISAGREEMENT] = is_real ? spread : spread * (scale->hi - scale->lo);
    rank(run, &view, row);
}

/* The lowest, mean and highest estimate of the best arm over the agents, as rewards. */
static void write_band(const struct run *run, double *values)
{
    struct tacit_scale const *const scale = &run->plan->rule.tree.node.scale;
    bool const is_real = scale->kind == TACIT_SCALE_REAL;
    double const width = is_real ? 1 : scale->hi - scale->lo;
    double const floor_value = is_real ? 0 : scale->lo;
    uint32_t const agents = run->plan->rule.agent_count;
    uint32_t const arms = run->plan->rule.arm_count;
    struct tacit_gossip_network_view view;
    uint32_t best = 0;
    while (run->instance.gaps[best] > 0)
        best++;
    TACIT_ASSERT(best < arms);
    tacit_gossip_network_view(run->network, &view);
    double low = INFINITY;
    double high = -INFINITY;
    double sum = 0;
    for (uint32_t i = 0; i < agents; i++) {
        double const value = floor_value + width * view.theta[(size_t)i * arms + best];
        low = value < low ? value : low;
        high = value > high ? value : high;
        sum += value;
    }
    values[0] = low;
    values[1] = sum / agents;
    values[2] = high;
}

enum tacit_status gossip_run_play(void *memory, uint32_t index, struct tacit_sim_row *row,
                                  atomic_bool *stop)
{
    struct run *const run = memory;
    uint64_t const horizon = run->plan->common.horizon;
    struct tacit_sim_meter meter = tacit_sim_meter_start(&run->plan->common, row->regret);
    /* slots between two looks at whether to stop: about a million pulls */
    uint64_t const slots_max = 1 + (UINT64_C(1) << 20) / run->plan->rule.agent_count;
    double regret = 0;
    begin(run, index, row);
    for (uint64_t slot = 0; slot < horizon;) {
        uint64_t const span = tacit_sim_meter_span(&meter, slot);
        uint64_t const end = slot + (span < slots_max ? span : slots_max);
        for (; slot < end; slot++)
            regret += play_slot(run);
        uint32_t const marked = meter.next;
        tacit_sim_meter_record(&meter, slot, regret);
        if (meter.next > marked && run->plan->common.profile_values > 0)
            write_band(run, row->profiles + (size_t)TACIT_BAND_VALUES * marked);
        if (atomic_load(stop))
            return TACIT_INTERRUPTED;
    }
    tacit_sim_meter_end(&meter, regret);
    write_results(run, regret, row);
    return TACIT_OK;
}
