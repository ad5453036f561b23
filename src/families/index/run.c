/* Runs of learners with an index: every agent's own, one after the other, or one for all. Nothing
 * is lost and nothing waits, so a loop of its own plays them, in the blocks that the learner is
 * certain of. */
#include <string.h>
#include "plan.h"
#include "../metrics.h"

#define BLOCKS_A_LOOK 65536u /* between two looks at whether to stop */

struct index_run {
    const struct index_plan *plan;
    struct tacit_sim_instance instance;
    struct tacit_arms *arms; /* the learner that plays now */
    double *regret;          /* point_count: of that learner */
    uint32_t *champions;     /* K: agents that estimate each arm best at the end */
};

/* A learner, and for whom it plays. */
struct learner {
    uint32_t first_agent; /* whose turn the first pull is */
    uint32_t agent_count; /* that take turns */
    struct tacit_rng reward;
    struct tacit_rng choice;
    struct tacit_rng coin;
};

const struct tacit_metric index_metrics[] = {
    [INDEX_REGRET] = METRIC_REGRET,
    [INDEX_REGRET_PER_AGENT] = {"regret_per_agent", "Regret per agent", "reward",
                                "the regret of the average agent", TACIT_METRIC_CARD},
    [INDEX_SAMPLES] = {"samples", "Samples", "samples", "how many rewards entered estimates", 0},
    [INDEX_MESSAGES] = {"messages", "Messages", "messages",
                        "pooled: every reward as it is; else none",
                        TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC},
    [INDEX_SCALARS] = {"scalars", "Scalars", "numbers",
                       "how many numbers the messages held: one each", TACIT_METRIC_TRAFFIC},
    [INDEX_BEST_ARM_FRACTION] =
        {"best_arm_fraction", "Estimate the best arm best", "",
         "share of the agents whose highest estimate was that of the truly best arm",
         TACIT_METRIC_CARD},
    [INDEX_ANSWER_SHARE] = {"answer_share", "Agree on the answer", "",
                            "share of the agents that gave the most frequent answer", 0},
    [INDEX_METRIC_COUNT] = {.name = NULL}};

/* ---- Memory ---- */

static enum tacit_status make(void *memory, const void *plan)
{
    struct index_run *const run = memory;
    struct index_plan const *const own = plan;
    size_t const bytes = tacit_arms_size(&own->arms);
    run->plan = own;
    run->arms = tacit_sim_new(run, 1, bytes);
    run->regret = tacit_sim_new(run, own->sim.point_count + (size_t)1, sizeof *run->regret);
    run->champions = tacit_sim_new(run, own->arms.arm_count, sizeof *run->champions);
    return bytes == 0 ? TACIT_INVALID : tacit_sim_instance_init(&run->instance, &own->sim, run);
}

void *index_run_new(const void *plan, enum tacit_status *status)
{
    return tacit_sim_make(sizeof(struct index_run), make, plan, status);
}

/* ---- A learner's pulls ---- */

static struct learner learner_of(const struct index_plan *plan, uint32_t index, uint32_t agent)
{
    TACIT_ASSERT(agent < plan->sim.agent_count);
    bool const is_pooled = plan->sharing == INDEX_SHARING_POOLED;
    uint32_t const owner = is_pooled ? TACIT_STREAM_COMMON : agent;
    uint64_t const seed = plan->sim.seed;
    return (struct learner){.first_agent = is_pooled ? 0 : agent,
                            .agent_count = is_pooled ? plan->sim.agent_count : 1,
                            .reward = tacit_rng_stream(seed, index, owner, INDEX_PURPOSE_REWARD),
                            .choice = tacit_rng_stream(seed, index, owner, INDEX_PURPOSE_CHOICE),
                            .coin = tacit_rng_stream(seed, index, owner, INDEX_PURPOSE_COIN)};
}

/* What the block brings, its first pull being the learner's pull number `pull` (from 0). Agents
 * with means of their own take turns; where all are alike, it does not matter whose turn it is. */
static union tacit_sum draw_block(struct index_run *run, struct learner *learner, uint64_t pull,
                                  struct tacit_pull_block block)
{
    TACIT_ASSERT(block.count > 0);
    TACIT_ASSERT(block.arm < run->plan->arms.arm_count);
    struct tacit_env const *const env = &run->instance.env;
    struct tacit_scale const *const scale = &run->plan->arms.scale;
    uint64_t const agents = env->row_count == 1 ? 1 : learner->agent_count;
    uint64_t const players = block.count < agents ? block.count : agents;
    union tacit_sum sum = {0};
    for (uint64_t i = 0; i < players; i++) {
        uint32_t const agent = learner->first_agent + (uint32_t)((pull + i) % agents);
        uint64_t const count = block.count / agents + (i < block.count % agents ? 1 : 0);
        if (count > 1)
            tacit_env_pull(env, agent, block.arm, count, scale, &learner->reward, &sum);
        else
            tacit_sum_add(scale, &sum,
                          tacit_env_pull_one(env, agent, block.arm, scale, &learner->reward));
    }
    return sum;
}

/* Plays pulls `pull` .. end-1. *regret: so far. Errors: TACIT_INTERRUPTED. */
static enum tacit_status play_stretch(struct index_run *run, struct learner *learner, uint64_t pull,
                                      uint64_t end, double *regret, const atomic_bool *stop)
{
    TACIT_ASSERT(pull < end);
    TACIT_ASSERT(end <= run->plan->arms.horizon);
    enum tacit_arms_kind const kind = run->plan->arms.kind;
    bool const wants_word = tacit_arms_wants_word(kind);
    for (uint32_t blocks = 1; pull < end; blocks++) {
        uint64_t const word = wants_word ? tacit_rng_next(&learner->choice) : 0;
        struct tacit_pull_block const block = tacit_arms_next(run->arms, end - pull, word);
        union tacit_sum const sum = draw_block(run, learner, pull, block);
        uint64_t const coin = kind == TACIT_ARMS_THOMPSON ? tacit_rng_next(&learner->coin) : 0;
        tacit_arms_add(run->arms, block.arm, block.count, sum, coin);
        *regret += (double)block.count * run->instance.gaps[block.arm];
        pull += block.count;
        if (blocks % BLOCKS_A_LOOK == 0 && atomic_load_explicit(stop, memory_order_relaxed))
            return TACIT_INTERRUPTED;
    }
    return TACIT_OK;
}

/* Plays a learner to its end: its regret at the points is in run->regret then. */
static enum tacit_status play_learner(struct index_run *run, struct learner *learner,
                                      double *regret, const atomic_bool *stop)
{
    TACIT_ASSERT(run->plan->turns >= 1);
    struct tacit_sim const *const sim = &run->plan->sim;
    uint64_t const turns = run->plan->turns;
    struct tacit_sim_meter meter = tacit_sim_meter_start(sim, run->regret);
    enum tacit_status status = tacit_arms_init(run->arms, &run->plan->arms);
    *regret = 0;
    for (uint64_t slot = 0; slot < sim->horizon && status == TACIT_OK;) {
        uint64_t const end = slot + tacit_sim_meter_span(&meter, slot);
        status = play_stretch(run, learner, slot * turns, end * turns, regret, stop);
        slot = end;
        if (status == TACIT_OK)
            tacit_sim_meter_record(&meter, slot, *regret);
    }
    tacit_sim_meter_end(&meter, *regret);
    return status;
}

/* ---- A run ---- */

static void write_row(struct index_run *run, double regret, struct tacit_sim_row *row)
{
    TACIT_ASSERT(row->metrics != NULL);
    TACIT_ASSERT(row->ranking != NULL);
    struct index_plan const *const plan = run->plan;
    double const agents = (double)plan->sim.agent_count;
    bool const is_pooled = plan->sharing == INDEX_SHARING_POOLED;
    double const pulls = (double)plan->arms.horizon * (is_pooled ? 1 : agents);
    uint32_t answer = 0;
    uint32_t right = 0;
    for (uint32_t arm = 0; arm < plan->arms.arm_count; arm++) {
        answer = run->champions[arm] > run->champions[answer] ? arm : answer;
        right += run->instance.gaps[arm] < 1e-12 ? run->champions[arm] : 0;
    }
    row->metrics[INDEX_REGRET] = regret;
    row->metrics[INDEX_REGRET_PER_AGENT] = regret / agents;
    row->metrics[INDEX_SAMPLES] = pulls;
    row->metrics[INDEX_MESSAGES] = is_pooled ? pulls : 0;
    row->metrics[INDEX_SCALARS] = is_pooled ? pulls : 0;
    row->metrics[INDEX_BEST_ARM_FRACTION] = right / agents;
    row->metrics[INDEX_ANSWER_SHARE] = run->champions[answer] / agents;
    tacit_sim_row_elect(row, plan->arms.arm_count);
}

/* Has every arm had its turn, and is one of them better than every other? */
static bool knows_best(const struct index_plan *plan, const struct tacit_arms *arms, uint32_t best)
{
    for (uint32_t arm = 0; arm < plan->arms.arm_count; arm++)
        if (arm != best && tacit_arms_mean(arms, arm) >= tacit_arms_mean(arms, best))
            return false;
    return plan->arms.horizon >= plan->arms.arm_count;
}

enum tacit_status index_run_play(void *memory, uint32_t index, struct tacit_sim_row *row,
                                 atomic_bool *stop)
{
    TACIT_ASSERT(stop != NULL);
    struct index_run *const run = memory;
    struct index_plan const *const plan = run->plan;
    TACIT_ASSERT(index < plan->sim.run_count);
    uint32_t const agents = plan->sim.agent_count;
    uint32_t const learners = plan->sharing == INDEX_SHARING_POOLED ? 1 : agents;
    double total = 0;
    tacit_sim_instance_draw(&run->instance, &plan->sim, index);
    tacit_sim_instance_watch(&run->instance, row);
    memset(run->champions, 0, plan->arms.arm_count * sizeof *run->champions);
    for (uint32_t agent = 0; agent < learners; agent++) {
        struct learner learner = learner_of(plan, index, agent);
        double regret;
        TACIT_TRY(play_learner(run, &learner, &regret, stop));
        total += regret;
        for (uint32_t point = 0; point < plan->sim.point_count; point++)
            row->regret[point] += run->regret[point];
        uint32_t const best = tacit_arms_best(run->arms);
        run->champions[best] += agents / learners;
        row->ranking[best] += knows_best(plan, run->arms, best) ? 1 : 0;
    }
    write_row(run, total, row);
    return TACIT_OK;
}
