/* Policies of the host's own (tacit/host.h), each agent's alone: a family of one file. */
#include "tacit/host.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../config/reader.h"
#include "tacit/family.h"
#include "../metrics.h"

#define OWN_FAMILY 7u
#define PURPOSE_REWARD TACIT_PURPOSE_OF_FAMILY(OWN_FAMILY, 0)
#define PURPOSE_SEED TACIT_PURPOSE_OF_FAMILY(OWN_FAMILY, 1)
#define BLOCKS_A_LOOK 256u /* between two looks at whether to stop */

enum metric { REGRET, REGRET_PER_AGENT, SAMPLES, MESSAGES, BEST_ARM_FRACTION, METRIC_COUNT };

static const struct tacit_metric metrics[] = {
    [REGRET] = METRIC_REGRET,
    [REGRET_PER_AGENT] = METRIC_REGRET_PER_AGENT(TACIT_METRIC_CARD),
    [SAMPLES] = {"samples", "Samples", "pulls", "how many rewards the policies saw", 0},
    [MESSAGES] = {"messages", "Messages", "messages", "none: each agent's policy is alone",
                  TACIT_METRIC_TRAFFIC},
    [BEST_ARM_FRACTION] = {"best_arm_fraction", "Found the best arm", "",
                           "share of the agents that played the truly best arm most often",
                           TACIT_METRIC_CARD},
    [METRIC_COUNT] = {.name = NULL}};

/* ---- From the file to the plan ---- */

struct keys {
    const char *policy;
};

static const struct config_key protocol_keys[] = {
    {"kind", NULL, "", .form = "own"},
    {"policy", NULL, "the name of a policy in Python, each agent's alone; the package writes it",
     CONFIG_TO_TEXT(keys, policy)},
    {.name = NULL}};
static const struct config_section sections[] = {{"protocol", protocol_keys}, {NULL, NULL}};

struct plan {
    struct tacit_sim sim;
    const char *policy;
};

static void read_keys(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config *config)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct keys *const keys = config->keys;
    config_reader_table(reader, protocol, "protocol", protocol_keys, keys);
}

static enum tacit_status make_plan(struct tacit_experiment *experiment, struct tacit_error *error)
{
    struct plan *const plan = calloc(1, sizeof *plan);
    experiment->plan = plan;
    if (plan == NULL)
        return TACIT_MEMORY;
    if (tacit_host_get() == NULL)
        return tacit_experiment_refuse(experiment, "protocol.kind",
                                       "an own policy is played from Python: tacit.run(experiment, "
                                       "policy=MyPolicy()); allowed here: another kind",
                                       error);
    if (experiment->sim.env.arm_count < 2)
        return tacit_experiment_refuse(experiment, "environment",
                                       "own policies need arms with means of their own, which this "
                                       "environment has not",
                                       error);
    enum tacit_status const status = tacit_experiment_protect(experiment, INFINITY, error);
    experiment->promise.mechanism.leaving = TACIT_LEAVING_REWARDS;
    experiment->promise.trust.audience = TACIT_AUDIENCE_ALONE;
    plan->sim = experiment->sim;
    plan->policy = ((const struct keys *)experiment->config->keys)->policy;
    return status;
}

/* ---- Runs ---- */

struct run {
    const struct plan *plan;
    struct tacit_sim_instance instance;
    double *regret;   /* point_count: of the agent that plays now */
    uint64_t *counts; /* K: its pulls */
};

static enum tacit_status make(void *memory, const void *of)
{
    struct run *const run = memory;
    struct plan const *const plan = of;
    run->plan = plan;
    run->regret = tacit_sim_new(run, plan->sim.point_count, sizeof *run->regret);
    run->counts = tacit_sim_new(run, plan->sim.env.arm_count, sizeof *run->counts);
    return tacit_sim_instance_init(&run->instance, &plan->sim, run);
}

static void *run_new(const void *plan, enum tacit_status *status)
{
    return tacit_sim_make(sizeof(struct run), make, plan, status);
}

/* A block that the host answers is checked: what it may say is its author's, not ours. */
static bool is_allowed(const struct run *run, struct tacit_pull_block block, uint64_t left)
{
    return block.arm < run->plan->sim.env.arm_count && block.count >= 1 && block.count <= left;
}

/* The slots of one agent. *regret: its own. */
static enum tacit_status play_slots(struct run *run, uint64_t handle, uint32_t agent,
                                    struct tacit_rng *rng, double *reward, double *regret,
                                    atomic_bool *stop)
{
    struct tacit_scale const real = {.kind = TACIT_SCALE_REAL, .lo = 0, .hi = 1};
    struct tacit_host const *const host = tacit_host_get();
    struct tacit_sim_meter meter = tacit_sim_meter_start(&run->plan->sim, run->regret);
    uint64_t const horizon = run->plan->sim.horizon;
    uint64_t slot = 0;
    for (uint32_t blocks = 1; slot < horizon; blocks++) {
        struct tacit_pull_block block = {0};
        union tacit_sum sum = {0};
        TACIT_TRY(host->next(host->context, handle, slot, horizon - slot, *reward, &block));
        if (!is_allowed(run, block, horizon - slot))
            return TACIT_INVALID;
        if (!tacit_sim_pull(&run->instance.env, agent, block.arm, block.count, &real, rng, &sum,
                            stop))
            return TACIT_INTERRUPTED;
        *reward = sum.real;
        run->counts[block.arm] += block.count;
        for (uint64_t left = block.count; left > 0;) {
            uint64_t const span = tacit_sim_meter_span(&meter, slot);
            uint64_t const now = span < left ? span : left;
            *regret += (double)now * run->instance.gaps[block.arm];
            slot += now;
            left -= now;
            if (now == span)
                tacit_sim_meter_record(&meter, slot, *regret);
        }
        if (blocks % BLOCKS_A_LOOK == 0 && atomic_load_explicit(stop, memory_order_relaxed))
            return TACIT_INTERRUPTED;
    }
    tacit_sim_meter_end(&meter, *regret);
    return TACIT_OK;
}

/* The host's policy is begun, played and ended; ended, too, where it fails in between. Errors: the
 * host's; TACIT_INVALID: it answered a block that cannot be; TACIT_INTERRUPTED. */
static enum tacit_status play_agent(struct run *run, uint32_t index, uint32_t agent, double *regret,
                                    atomic_bool *stop)
{
    struct tacit_sim const *const sim = &run->plan->sim;
    struct tacit_host const *const host = tacit_host_get();
    struct tacit_rng rng = tacit_rng_stream(sim->seed, index, agent, PURPOSE_REWARD);
    struct tacit_rng seeds = tacit_rng_stream(sim->seed, index, agent, PURPOSE_SEED);
    struct tacit_host_player const player = {.policy = run->plan->policy,
                                             .seed = tacit_rng_next(&seeds),
                                             .run = index,
                                             .agent = agent,
                                             .arm_count = sim->env.arm_count,
                                             .horizon = sim->horizon};
    uint64_t handle = 0;
    double reward = 0;
    memset(run->counts, 0, sim->env.arm_count * sizeof *run->counts);
    TACIT_TRY(host->begin(host->context, &player, &handle));
    enum tacit_status const status = play_slots(run, handle, agent, &rng, &reward, regret, stop);
    host->end(host->context, handle, reward);
    return status;
}

/* The arm that the agent played most often, lowest index on ties. */
static uint32_t favourite(const struct run *run)
{
    uint32_t best = 0;
    for (uint32_t arm = 1; arm < run->plan->sim.env.arm_count; arm++)
        if (run->counts[arm] > run->counts[best])
            best = arm;
    return best;
}

static enum tacit_status run_play(void *memory, uint32_t index, struct tacit_sim_row *row,
                                  atomic_bool *stop)
{
    struct run *const run = memory;
    struct tacit_sim const *const sim = &run->plan->sim;
    uint32_t right = 0;
    double total = 0;
    TACIT_ASSERT(index < sim->run_count);
    tacit_sim_instance_draw(&run->instance, sim, index);
    tacit_sim_instance_watch(&run->instance, row);
    for (uint32_t agent = 0; agent < sim->agent_count; agent++) {
        double regret = 0;
        TACIT_TRY(play_agent(run, index, agent, &regret, stop));
        total += regret;
        for (uint32_t point = 0; point < sim->point_count; point++)
            row->regret[point] += run->regret[point];
        uint32_t const best = favourite(run);
        right += run->instance.gaps[best] < 1e-12 ? 1 : 0;
        row->ranking[best]++;
    }
    row->metrics[REGRET] = total;
    row->metrics[REGRET_PER_AGENT] = total / sim->agent_count;
    row->metrics[SAMPLES] = (double)sim->horizon * sim->agent_count;
    row->metrics[BEST_ARM_FRACTION] = (double)right / sim->agent_count;
    tacit_sim_row_elect(row, sim->env.arm_count);
    return TACIT_OK;
}

const struct tacit_family own_family = {
    .number = OWN_FAMILY,
    .file = {.name = "own",
             .networks = 1u << TACIT_CONFIG_STAR | 1u << TACIT_CONFIG_GRAPH |
                         1u << TACIT_CONFIG_HYBRID | 1u << TACIT_CONFIG_ALONE |
                         1u << TACIT_CONFIG_BROADCAST,
             .environments = 1u << TACIT_ENV_BERNOULLI | 1u << TACIT_ENV_CONSTANT |
                             1u << TACIT_ENV_GAUSSIAN | 1u << TACIT_ENV_LOGGED,
             .modes =
                 1u << TACIT_PRIVACY_NONE | 1u << TACIT_PRIVACY_PAPER | 1u << TACIT_PRIVACY_SOUND,
             .keys = sections,
             .keys_size = sizeof(struct keys),
             .read = read_keys},
    .metrics = metrics,
    .ranks = true,
    .replays = true,
    .plan = make_plan,
    .plan_free = free,
    .player = {.metric_count = METRIC_COUNT, .run_new = run_new, .run_play = run_play}};
