/* Elimination with exact bounds over graphs and hybrids (EXACT-BOUNDS 4, 6). The simulator against
 * a twin that keeps every release in a plain table, plays one pull at a time and knows of the
 * network only how long a round waits and what it sends: within 4 standard errors, in regret,
 * regret while waiting, rounds, samples, messages, scalars and the best arm. A false alarm: 6e-5 a
 * comparison, 6 settings of 7. And against a star, where a hub judges: where nobody waits, the
 * numbers are the same. Fixed seeds. */
#include <math.h>
#include "../support/testing.h"
#include "../support/chance.h"
#include "../support/elim_sim.h"
#include "../support/faults.h"
#include "../support/gof.h"
#include "graph_twin_of.h"
#include "tacit/bounds.h"
#include "tacit/phases.h"

#define ARMS_MAX 6u
#define AGENTS_MAX 8u
#define LOOKS 64u
#define RUNS 160u
#define FAULTY_SEEDS 120u
#define SEED UINT64_C(1414)

struct setting {
    const char *name;
    struct tacit_graph_spec specs[3]; /* agent_count 0: no more */
    enum tacit_elim_collection collection;
    uint32_t arms;
    bool heterogeneous;
    uint64_t horizon;
    double epsilon;
    double growth;
    double confidence;
};

#define PART(shape, size)                                                                          \
    {                                                                                              \
        .kind = TACIT_GRAPH_##shape, .agent_count = (size)                                         \
    }
#define PARTS(...)                                                                                 \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
static const struct setting settings[] = {
    {"ring", PARTS(PART(RING, 6)), TACIT_ELIM_SPREAD, 5, true, 20000, 1, 2, 0},
    {"ring, a short horizon", PARTS(PART(RING, 8)), TACIT_ELIM_SPREAD, 4, false, 900, 2, 2, 0},
    {"path, no noise", PARTS(PART(PATH, 5)), TACIT_ELIM_SPREAD, 6, true, 6000, INFINITY, 1.5, 0},
    {"complete, confidence", PARTS(PART(COMPLETE, 7)), TACIT_ELIM_SPREAD, 4, false, 20000, 0.5, 3,
     0.9},
    {"hybrid of a path and a ring", PARTS(PART(PATH, 5), PART(RING, 3)), TACIT_ELIM_GATHER, 5, true,
     20000, 1, 2, 0},
    {"hybrid, a short horizon", PARTS(PART(STAR, 5), PART(PATH, 1)), TACIT_ELIM_GATHER, 4, false,
     1100, 2, 2, 0.95},
};

#define SETTING_COUNT (sizeof settings / sizeof settings[0])

enum measure { REGRET, EXPLOIT, ROUNDS, SAMPLES, MESSAGES, SCALARS, BEST, MEASURES };

static const char *const measure_names[MEASURES] = {
    "regret", "regret while waiting", "rounds", "samples", "messages", "scalars", "best arm"};

/* ---- What both know ---- */

struct world {
    const struct setting *setting;
    struct network *network;
    uint32_t agents;
    double means[AGENTS_MAX * ARMS_MAX];
    double gaps[ARMS_MAX]; /* to the best mean over all agents */
};

static uint32_t part_count(const struct setting *setting)
{
    uint32_t count = 0;
    while (count < 3 && setting->specs[count].agent_count > 0)
        count++;
    return count;
}

static struct world *world_new(const struct setting *setting)
{
    struct world *const world = testing_calloc(1, sizeof *world);
    struct tacit_rng rng = tacit_rng_stream(SEED, setting->arms, 0, TACIT_PURPOSE_INSTANCE);
    double best = 0;
    world->setting = setting;
    world->network = network_new(setting->specs, part_count(setting), 1);
    world->agents = world->network->graph.agent_count;
    assert_true(world->agents <= AGENTS_MAX);
    for (uint32_t agent = 0; agent < world->agents; agent++)
        for (uint32_t arm = 0; arm < setting->arms; arm++)
            world->means[agent * setting->arms + arm] =
                agent > 0 && !setting->heterogeneous
                    ? world->means[arm]
                    : 0.8 * (arm + 0.5) / setting->arms + 0.2 * tacit_rng_uniform(&rng);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t arm = 0; arm < setting->arms; arm++) {
            double mean = 0;
            for (uint32_t agent = 0; agent < world->agents; agent++)
                mean += world->means[agent * setting->arms + arm] / world->agents;
            best = fmax(best, mean);
            world->gaps[arm] = best - mean;
        }
    return world;
}

static void world_free(struct world *world)
{
    network_free(world->network);
    testing_free(world);
}

/* ---- The twin ---- */

/* What a round of this network sends, as the paper's twin counts it. */
struct traffic {
    double messages;        /* but for orders */
    double scalars_per_arm; /* each active arm's */
    uint32_t delay;         /* slots in which everybody waits */
};

static struct traffic traffic_of(const struct world *world)
{
    static const double means[] = {0.1, 0.9};
    struct graph_twin_config config = graph_twin_of(
        world->network,
        world->setting->collection == TACIT_ELIM_SPREAD ? GRAPH_TWIN_GIS : GRAPH_TWIN_SINKS);
    config.arms = 2;
    config.means = means;
    config.mean_rows = 1;
    config.constant_rewards = true;
    config.horizon = 20000;
    struct graph_twin_result result = {.eliminated_epoch = NULL};
    assert_true(graph_twin_run(&config, &result));
    assert_int_equal(result.rounds, 1);
    return (struct traffic){(double)(result.messages - result.orders), (double)result.scalars / 2,
                            result.delay};
}

struct twin {
    const struct world *world;
    struct traffic traffic;
    struct tacit_phases phases; /* for the widths of the ladder */
    struct tacit_rng rng;
    uint64_t slot;  /* played so far */
    uint64_t plans; /* slots of all plans */
    bool gone[ARMS_MAX];
    uint32_t leader; /* ARMS_MAX: none yet */
    uint32_t looks;
    double noise_and_steps[ARMS_MAX][LOOKS]; /* of all agents together */
    double own[AGENTS_MAX][ARMS_MAX];        /* what each agent released of each arm */
    uint64_t pulls[LOOKS];
    double measure[MEASURES];
};

static double twin_delta(const struct setting *setting)
{
    return setting->confidence > 0 ? 1 - setting->confidence : 1.0 / (double)setting->horizon;
}

/* From the bottom each time. */
static uint64_t twin_rung(const struct twin *twin, uint32_t e)
{
    struct setting const *const setting = twin->world->setting;
    double const level = log(4.0 * setting->arms / twin_delta(setting));
    uint64_t const agents = twin->world->agents;
    uint64_t rung = 1;
    if (e == 0)
        return 0;
    while (tacit_bounds_radius(rung * agents, agents, setting->epsilon, level) > 0.25)
        rung++;
    for (uint32_t i = 1; i < e; i++)
        rung = (uint64_t)ceil(setting->growth * (double)rung - 1e-9);
    return rung;
}

static uint32_t active_count(const struct twin *twin)
{
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < twin->world->setting->arms; arm++)
        count += twin->gone[arm] ? 0 : 1;
    return count;
}

/* A difference of two geometric numbers, in steps. */
static double draw_noise(struct twin *twin)
{
    double const rate = twin->world->setting->epsilon / (double)TACIT_STEPS;
    if (isinf(rate))
        return 0;
    double const a = floor(log(1 - tacit_rng_uniform(&twin->rng)) / -rate);
    double const b = floor(log(1 - tacit_rng_uniform(&twin->rng)) / -rate);
    return a - b;
}

static void play_one(struct twin *twin, uint32_t arm, bool is_waiting)
{
    double const gap = twin->world->gaps[arm];
    twin->measure[REGRET] += gap;
    twin->measure[EXPLOIT] += is_waiting ? gap : 0;
}

static uint32_t arm_while_waiting(const struct twin *twin, uint32_t agent)
{
    uint32_t best = ARMS_MAX;
    if (twin->leader < ARMS_MAX)
        return twin->leader;
    for (uint32_t arm = 0; arm < twin->world->setting->arms; arm++)
        if (best == ARMS_MAX || twin->own[agent][arm] > twin->own[agent][best])
            best = arm;
    return best;
}

/* Every agent, arm and pull of a plan, one after the other; and what it releases of it. */
static void play_plan(struct twin *twin, uint64_t count)
{
    struct world const *const world = twin->world;
    uint32_t const arms = world->setting->arms;
    for (uint32_t agent = 0; agent < world->agents; agent++)
        for (uint32_t arm = 0; arm < arms; arm++) {
            if (twin->gone[arm])
                continue;
            double sum = draw_noise(twin);
            for (uint64_t pull = 0; pull < count; pull++) {
                bool const one = tacit_rng_bernoulli(&twin->rng, world->means[agent * arms + arm]);
                sum += one ? (double)TACIT_STEPS : 0;
                play_one(twin, arm, false);
            }
            twin->noise_and_steps[arm][twin->looks] += sum;
            twin->own[agent][arm] += sum;
        }
    twin->pulls[twin->looks] = count * world->agents;
    twin->slot += count * active_count(twin);
}

/* 2.5: the releases of an arm since that one whose radius is the smallest, the longer on ties. */
static struct tacit_bounds_sum twin_sum(const struct twin *twin, uint32_t arm, double level)
{
    double const epsilon = twin->world->setting->epsilon;
    struct tacit_bounds_sum best = {0, 0, 0};
    struct tacit_bounds_sum sum = {0, 0, 0};
    double smallest = INFINITY;
    for (uint32_t first = twin->looks; first-- > 0;) {
        sum.pulls += twin->pulls[first];
        sum.noises += twin->world->agents;
        sum.steps += (int64_t)twin->noise_and_steps[arm][first];
        double const radius = tacit_bounds_radius(sum.pulls, sum.noises, epsilon, level);
        if (radius <= smallest || isinf(epsilon)) {
            smallest = radius;
            best = sum;
        }
    }
    return best;
}

static void judge(struct twin *twin)
{
    struct setting const *const setting = twin->world->setting;
    double const e = ++twin->looks;
    double const level = log(2.0 * setting->arms * e * (e + 1) / twin_delta(setting));
    double lower = 0;
    double mean = -INFINITY;
    for (uint32_t arm = 0; arm < setting->arms; arm++) {
        if (twin->gone[arm])
            continue;
        struct tacit_bounds_sum const sum = twin_sum(twin, arm, level);
        lower = fmax(lower, tacit_bounds_lower(&sum, setting->epsilon, level));
        if (tacit_bounds_mean(&sum) > mean) {
            mean = tacit_bounds_mean(&sum);
            twin->leader = arm;
        }
    }
    for (uint32_t arm = 0; arm < setting->arms; arm++) {
        if (twin->gone[arm])
            continue;
        struct tacit_bounds_sum const sum = twin_sum(twin, arm, level);
        twin->gone[arm] = tacit_bounds_upper(&sum, setting->epsilon, level) < lower;
    }
}

/* The slots in which a round's reports are on their way. False: T came first. */
static bool wait_for_all(struct twin *twin)
{
    for (uint32_t i = 0; i < twin->traffic.delay; i++) {
        if (twin->slot == twin->world->setting->horizon)
            return false;
        for (uint32_t agent = 0; agent < twin->world->agents; agent++)
            play_one(twin, arm_while_waiting(twin, agent), true);
        twin->slot++;
    }
    return true;
}

/* One round. False: there is none any more. */
static bool play_round(struct twin *twin)
{
    uint64_t const horizon = twin->world->setting->horizon;
    uint64_t const count = twin_rung(twin, twin->looks + 1) - twin_rung(twin, twin->looks);
    uint64_t const plan = count * active_count(twin);
    double const active = active_count(twin);
    if (active_count(twin) == 1 || twin->plans + plan > horizon || twin->slot + plan > horizon)
        return false;
    twin->plans += plan;
    play_plan(twin, count);
    if (!wait_for_all(twin))
        return false;
    judge(twin);
    twin->measure[ROUNDS]++;
    twin->measure[SAMPLES] += (double)plan * twin->world->agents;
    twin->measure[MESSAGES] += twin->traffic.messages;
    twin->measure[SCALARS] += twin->traffic.scalars_per_arm * active;
    return true;
}

static void play_twin(const struct world *world, const struct traffic *traffic, uint32_t run,
                      double measure[MEASURES])
{
    struct twin *const twin = testing_calloc(1, sizeof *twin);
    bool const has_hub = world->setting->collection == TACIT_ELIM_GATHER;
    twin->world = world;
    twin->traffic = *traffic;
    twin->leader = ARMS_MAX;
    twin->rng = tacit_rng_stream(SEED + 1, run, 0, TACIT_PURPOSE_REWARD);
    while (play_round(twin))
        ;
    for (; twin->slot < world->setting->horizon; twin->slot++)
        for (uint32_t agent = 0; agent < world->agents; agent++)
            play_one(twin, twin->leader, false);
    twin->measure[MESSAGES] += has_hub ? twin->measure[ROUNDS] + 1 : 0;
    twin->measure[BEST] = world->gaps[twin->leader] < 1e-12 ? 1 : 0;
    memcpy(measure, twin->measure, sizeof twin->measure);
}

/* ---- The simulator ---- */

static struct elim_sim sim_of(const struct world *world, const struct tacit_elim_network *network,
                              const uint64_t *points)
{
    struct setting const *const setting = world->setting;
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, setting->epsilon, 0, 1};
    struct elim_sim sim = {.common = {.seed = SEED,
                                      .run_count = RUNS,
                                      .agent_count = world->agents,
                                      .horizon = setting->horizon,
                                      .points = points,
                                      .point_count = 1,
                                      .env = {.kind = TACIT_ENV_BERNOULLI,
                                              .row_count = world->agents,
                                              .arm_count = setting->arms,
                                              .means = world->means}},
                           .report_count = world->agents,
                           .growth = setting->growth,
                           .confidence = setting->confidence,
                           .epsilon_per_reward = setting->epsilon,
                           /* On the way to a sink a row that waits for its grant may meet
                            * another one and travel with it: fewer messages. */
                           .has_grants = setting->collection == TACIT_ELIM_SPREAD,
                           .network = network};
    assert_int_equal(tacit_mechanism_init(&sim.mechanism, &mechanism), TACIT_OK);
    return sim;
}

static void take_row(const struct tacit_sim_row *row, double measure[MEASURES])
{
    static const enum elim_metric metrics[MEASURES] = {
        ELIM_REGRET,   ELIM_REGRET_EXPLOIT, ELIM_ROUNDS,           ELIM_SAMPLES,
        ELIM_MESSAGES, ELIM_SCALARS,        ELIM_BEST_ARM_FRACTION};
    for (int i = 0; i < MEASURES; i++)
        measure[i] = row->metrics[metrics[i]];
}

static uint32_t compare(const struct setting *setting)
{
    struct world *const world = world_new(setting);
    struct tacit_elim_network const network = network_for_sim(world->network, setting->collection);
    uint64_t const points[] = {setting->horizon};
    struct elim_sim const sim = sim_of(world, &network, points);
    struct traffic const traffic = traffic_of(world);
    struct gof_spread ours[MEASURES] = {{0}};
    struct gof_spread twins[MEASURES] = {{0}};
    enum tacit_status status;
    struct elim_run *const run = elim_run_new(&sim, &status);
    struct tacit_sim_row *const row = tacit_sim_row_new(&sim.common, ELIM_METRIC_COUNT);
    assert_non_null(run);
    assert_non_null(row);
    for (uint32_t index = 0; index < RUNS; index++) {
        double measure[MEASURES];
        atomic_bool stop = false;
        tacit_sim_row_clear(row, &sim.common, ELIM_METRIC_COUNT);
        assert_int_equal(elim_run_play(run, index, row, &stop), TACIT_OK);
        assert_true(elim_sim_is_healed(run));
        take_row(row, measure);
        for (int i = 0; i < MEASURES; i++)
            gof_add(&ours[i], measure[i]);
        play_twin(world, &traffic, index, measure);
        for (int i = 0; i < MEASURES; i++)
            gof_add(&twins[i], measure[i]);
    }
    uint32_t const bad = gof_differences(setting->name, measure_names, MEASURES, ours, twins);
    testing_free(row);
    tacit_sim_delete(run);
    world_free(world);
    return bad;
}

TEST(simulator_agrees_with_the_naive_twin)
{
    uint32_t bad = 0;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        bad += compare(&settings[i]);
    assert_int_equal(bad, 0);
}

/* ---- Where nobody waits ---- */

static void expect_star(const struct setting *setting)
{
    static const enum elim_metric same[] = {ELIM_ROUNDS, ELIM_SAMPLES, ELIM_SINGLE_ARM_FRACTION,
                                            ELIM_BEST_ARM_FRACTION};
    struct world *const world = world_new(setting);
    struct tacit_elim_network const network = network_for_sim(world->network, setting->collection);
    uint64_t const points[] = {setting->horizon};
    struct elim_sim const sim = sim_of(world, &network, points);
    struct elim_sim star = sim;
    star.network = NULL;
    enum tacit_status status;
    struct elim_run *const runs[2] = {elim_run_new(&sim, &status), elim_run_new(&star, &status)};
    struct tacit_sim_row *const rows[2] = {tacit_sim_row_new(&sim.common, ELIM_METRIC_COUNT),
                                           tacit_sim_row_new(&sim.common, ELIM_METRIC_COUNT)};
    for (uint32_t index = 0; index < 40; index++) {
        atomic_bool stop = false;
        for (int i = 0; i < 2; i++) {
            tacit_sim_row_clear(rows[i], &sim.common, ELIM_METRIC_COUNT);
            assert_int_equal(elim_run_play(runs[i], index, rows[i], &stop), TACIT_OK);
        }
        double const regret = rows[1]->metrics[ELIM_REGRET];
        assert_true(fabs(rows[0]->metrics[ELIM_REGRET] - regret) <= 1e-9 * regret);
        assert_true(rows[1]->metrics[ELIM_ROUNDS] > 0);
        for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
            assert_true(rows[0]->metrics[same[i]] == rows[1]->metrics[same[i]]);
    }
    testing_free(rows[0]);
    testing_free(rows[1]);
    tacit_sim_delete(runs[0]);
    tacit_sim_delete(runs[1]);
    world_free(world);
}

TEST(where_nobody_waits_the_runs_are_those_of_a_star)
{
    for (int i = 0; i < 8; i++) {
        struct setting setting = {.name = "star",
                                  .collection = i % 2 == 0 ? TACIT_ELIM_SPREAD : TACIT_ELIM_GATHER,
                                  .arms = 6,
                                  .heterogeneous = i % 2 == 1,
                                  .horizon = i < 6 ? 30000 : 1000,
                                  .epsilon = i < 4 ? 1 : INFINITY,
                                  .growth = i < 2 ? 2 : 1.6,
                                  .confidence = i == 3 ? 0.9 : 0};
        setting.specs[0] = (struct tacit_graph_spec)PART(COMPLETE, i % 2 == 0 ? 7 : 1);
        if (i % 2 == 1)
            setting.specs[1] = setting.specs[2] = setting.specs[0]; /* a hybrid of single agents */
        expect_star(&setting);
    }
}

/* ---- Faults ---- */

static struct faults faults_of(struct tacit_rng *rng, uint64_t horizon)
{
    return (struct faults){.loss = chance_of(rng, 0.6, 0.4),
                           .duplication = chance_of(rng, 0.6, 0.5),
                           .delay_us_max =
                               tacit_rng_bernoulli(rng, 0.7) ? tacit_rng_below(rng, 500) : 0,
                           .agent_crash = chance_of(rng, 0.7, 0.1),
                           .hub_crash = chance_of(rng, 0.6, 0.1),
                           .down_us_max = 1 + tacit_rng_below(rng, 500),
                           .plan_parts = 1 + (uint32_t)tacit_rng_below(rng, 4),
                           .noise_failure = chance_of(rng, 0.4, 0.02),
                           .healed_at_us = horizon / 2 + tacit_rng_below(rng, horizon)};
}

/* Everybody ends, and judges that hear the same decide the same. Result: was there a round? */
static bool play_with_faults(uint32_t seed)
{
    struct tacit_rng rng = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_INSTANCE);
    struct setting setting = settings[seed % SETTING_COUNT];
    setting.horizon = 2000 + tacit_rng_below(&rng, 10000);
    struct world *const world = world_new(&setting);
    struct tacit_elim_network const network = network_for_sim(world->network, setting.collection);
    uint64_t const points[] = {setting.horizon};
    struct elim_sim sim = sim_of(world, &network, points);
    struct faults faults = faults_of(&rng, setting.horizon);
    bool const gathers = setting.collection == TACIT_ELIM_GATHER;
    sim.common.seed = seed;
    sim.faults = faults_use(&faults);
    if (gathers && tacit_rng_bernoulli(&rng, 0.5)) { /* rounds without everybody */
        sim.quorum = 1 + (uint32_t)tacit_rng_below(&rng, world->agents);
        sim.round_timeout_us = 1 + tacit_rng_below(&rng, setting.horizon);
        sim.gather_timeout_us = 1 + sim.round_timeout_us / 2;
    }
    enum tacit_status status;
    atomic_bool stop = false;
    struct elim_run *const run = elim_run_new(&sim, &status);
    struct tacit_sim_row *const row = tacit_sim_row_new(&sim.common, ELIM_METRIC_COUNT);
    assert_non_null(run);
    assert_non_null(row);
    assert_int_equal(elim_run_play(run, 0, row, &stop), TACIT_OK);
    if (!elim_sim_is_healed(run))
        fail_msg("seed %u: an agent did not end", seed);
    assert_true(row->metrics[ELIM_SAMPLES] <= (double)world->agents * (double)setting.horizon);
    assert_true(row->metrics[ELIM_REGRET] >= 0);
    bool const has_rounds = row->metrics[ELIM_ROUNDS] >= 1;
    testing_free(row);
    tacit_sim_delete(run);
    world_free(world);
    return has_rounds;
}

TEST(every_agent_ends_whatever_fails)
{
    uint32_t with_rounds = 0;
    for (uint32_t seed = 1; seed <= FAULTY_SEEDS; seed++)
        with_rounds += play_with_faults(seed) ? 1 : 0;
    assert_true(with_rounds > FAULTY_SEEDS / 2);
}
