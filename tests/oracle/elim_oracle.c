/* The block simulator against the naive twin (elim_twin.c), which pulls one slot at a time and was
 * written from the paper alone.
 *
 * Statistical part: means over runs agree within 4 standard errors of their difference. Eleven
 * configurations with eight metrics each; a metric of a correct program is outside with chance
 * 6e-5, so a false alarm of the whole test would come once in 200 choices of the (fixed) seeds.
 * Exact part: with constant rewards and no noise there is no chance at all. */
#include <math.h>
#include "../support/testing.h"
#include "../support/effort.h"
#include "../support/elim_sim.h"
#include "elim_twin.h"

#define ARMS_MAX 64u
#define AGENTS_MAX 50u
#define EPOCHS_MAX 64u
#define STANDARD_ERRORS 4.0

/* ---- One setting for both ---- */

struct setting {
    const char *name;
    uint32_t agents;
    uint32_t arms;
    bool heterogeneous;
    uint64_t horizon;
    double epsilon; /* the paper's letter; with sound per reward */
    bool sound;
    double participation;
    uint32_t rounds;
    uint32_t runs; /* of the long form */
};

static uint32_t runs_of(const struct setting *setting)
{
    return effort_of((setting->runs + 2) / 3, setting->runs);
}

static void fill_means(const struct setting *setting, double *means, uint64_t seed)
{
    struct tacit_rng rng = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_INSTANCE);
    uint32_t const rows = setting->heterogeneous ? setting->agents : 1;
    for (uint32_t i = 0; i < rows * setting->arms; i++)
        means[i] = tacit_rng_uniform(&rng);
}

static struct twin_config twin_setting(const struct setting *setting, const double *means)
{
    return (struct twin_config){.agents = setting->agents,
                                .arms = setting->arms,
                                .means = means,
                                .mean_rows = setting->heterogeneous ? setting->agents : 1,
                                .horizon = setting->horizon,
                                .epsilon = setting->epsilon,
                                .sound = setting->sound,
                                .participation = setting->participation,
                                .rounds = setting->rounds,
                                .cost_server_link = 25};
}

static struct elim_sim sim_setting(const struct setting *setting, const double *means,
                                   const uint64_t *point)
{
    uint32_t const reports = tacit_elim_report_count(setting->participation, setting->agents);
    double const epsilon = setting->sound ? setting->epsilon : setting->epsilon * reports;
    struct tacit_mechanism_config const config = {
        setting->sound ? TACIT_PRIVACY_SOUND : TACIT_PRIVACY_PAPER, epsilon, 0, 1};
    struct elim_sim sim = {.common.seed = 11,
                           .common.run_count = runs_of(setting),
                           .common.agent_count = setting->agents,
                           .report_count = reports,
                           .round_limit = setting->rounds,
                           .common.horizon = setting->horizon,
                           .common.points = point,
                           .common.point_count = 1,
                           .common.env = {.kind = TACIT_ENV_BERNOULLI,
                                          .row_count = setting->heterogeneous ? setting->agents : 1,
                                          .arm_count = setting->arms,
                                          .means = means},
                           .epsilon_per_reward = epsilon,
                           .server_link_cost = 25};
    assert_int_equal(tacit_mechanism_init(&sim.mechanism, &config), TACIT_OK);
    return sim;
}

/* ---- Statistical part ---- */

enum { REGRET, REGRET_EARLY, ROUNDS, COST, LINKS, MESSAGES, RECEIVED, SCALARS, SINGLE, MEASURES };

static const char *const measure_names[MEASURES] = {
    "regret",  "regret at T/3",      "rounds", "cost", "links", "messages", "messages_per_receiver",
    "scalars", "single_arm_fraction"};

struct moments {
    double sum[MEASURES];
    double squares[MEASURES];
};

static void add(struct moments *moments, const double values[MEASURES])
{
    for (uint32_t i = 0; i < MEASURES; i++) {
        moments->sum[i] += values[i];
        moments->squares[i] += values[i] * values[i];
    }
}

/* Mean and squared standard error. */
static void read_moments(const struct moments *moments, uint32_t i, double runs, double *mean,
                         double *error_squared)
{
    *mean = moments->sum[i] / runs;
    double const variance = (moments->squares[i] - runs * *mean * *mean) / (runs - 1);
    *error_squared = (variance > 0 ? variance : 0) / runs;
}

static struct moments measure_twin(const struct setting *setting, const double *means)
{
    struct moments moments = {{0}, {0}};
    double early;
    uint64_t const third = setting->horizon / 3;
    struct twin_config config = twin_setting(setting, means);
    config.checkpoints = &third;
    config.checkpoint_count = 1;
    config.regret_at = &early;
    for (uint32_t run = 0; run < runs_of(setting); run++) {
        struct twin_result result = {.eliminated_epoch = NULL};
        config.seed = twin_run_seed(5, run);
        assert_true(twin_run(&config, &result));
        double const values[MEASURES] = {result.regret,
                                         early,
                                         result.rounds,
                                         result.cost,
                                         (double)result.links,
                                         (double)result.messages,
                                         (double)result.messages_per_receiver,
                                         (double)result.scalars,
                                         result.final_arm_count == 1 ? 1 : 0};
        add(&moments, values);
    }
    return moments;
}

static struct moments measure_sim(const struct setting *setting, const double *means)
{
    struct moments moments = {{0}, {0}};
    size_t const runs = runs_of(setting);
    uint64_t const third = setting->horizon / 3;
    struct elim_sim const sim = sim_setting(setting, means, &third);
    struct tacit_sim_results const results = {
        .metrics = testing_calloc(ELIM_METRIC_COUNT * runs, sizeof(double)),
        .regret = testing_calloc(runs, sizeof(double)),
        .eliminated = testing_calloc(runs * setting->arms, sizeof(uint32_t)),
        .finished = testing_calloc(runs, sizeof(bool))};
    struct tacit_sim_control control = {0};
    assert_int_equal(elim_sim_run(&sim, 2, &results, &control), TACIT_OK);
    for (size_t run = 0; run < runs; run++) {
        double const *const m = results.metrics;
        double const values[MEASURES] = {m[ELIM_REGRET * runs + run],
                                         results.regret[run],
                                         m[ELIM_ROUNDS * runs + run],
                                         m[ELIM_COST * runs + run],
                                         m[ELIM_LINKS * runs + run],
                                         m[ELIM_MESSAGES * runs + run],
                                         m[ELIM_MESSAGES_PER_RECEIVER * runs + run],
                                         m[ELIM_SCALARS * runs + run],
                                         m[ELIM_SINGLE_ARM_FRACTION * runs + run]};
        add(&moments, values);
    }
    return moments;
}

/* Number of measures that differ by more than 4 standard errors. */
static uint32_t compare(const struct setting *setting)
{
    double means[AGENTS_MAX * ARMS_MAX];
    uint32_t bad = 0;
    fill_means(setting, means, 77);
    struct moments const naive = measure_twin(setting, means);
    struct moments const fast = measure_sim(setting, means);
    for (uint32_t i = 0; i < MEASURES; i++) {
        double a;
        double b;
        double a_error;
        double b_error;
        read_moments(&naive, i, runs_of(setting), &a, &a_error);
        read_moments(&fast, i, runs_of(setting), &b, &b_error);
        double const error = sqrt(a_error + b_error);
        bool const agrees = fabs(a - b) <= STANDARD_ERRORS * error + 1e-9 * fabs(a);
        if (i == REGRET || !agrees)
            print_message("%-34s %-22s twin %.6g, tacit %.6g, difference %.2f standard errors%s\n",
                          setting->name, measure_names[i], a, b, error > 0 ? (b - a) / error : 0.0,
                          agrees ? "" : "  BAD");
        bad += agrees ? 0 : 1;
    }
    return bad;
}

TEST(simulator_agrees_with_the_naive_twin)
{
    static const struct setting settings[] = {
        {"plain", 10, 10, false, 30000, 1, false, 1, 0, 200},
        {"the paper's shape, smaller", 50, 50, false, 20000, 1, false, 1, 0, 60},
        {"heterogeneous", 5, 10, true, 50000, 1, false, 1, 0, 200},
        {"participation .4", 10, 10, false, 40000, 1, false, 0.4, 0, 200},
        {"participation .55, heterogeneous", 20, 6, true, 30000, 0.5, false, 0.55, 0, 150},
        {"three rounds", 10, 10, false, 40000, 1, false, 1, 3, 200},
        {"two rounds, participation .5", 8, 5, false, 60000, 1, false, 0.5, 2, 200},
        {"T cuts an epoch", 5, 10, false, 4000, 1, false, 1, 0, 400},
        {"strong noise", 10, 8, false, 60000, 0.02, false, 1, 0, 200},
        {"alone", 1, 5, false, 60000, 1, false, 1, 0, 400},
        {"sound, eps* = 1", 10, 8, false, 40000, 1, true, 1, 0, 200},
        {"sound, eps* = .2, participation .5", 10, 6, true, 60000, 0.2, true, 0.5, 0, 200},
    };
    uint32_t bad = 0;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        bad += compare(&settings[i]);
    assert_int_equal(bad, 0);
}

/* The comparison can fail: it tells participation .5 from .6. */
TEST(comparison_notices_a_slightly_different_algorithm)
{
    struct setting const setting = {"p", 10, 10, false, 40000, 1, false, 0.5, 0, 300};
    struct setting const other = {"p", 10, 10, false, 40000, 1, false, 0.6, 0, 300};
    double means[AGENTS_MAX * ARMS_MAX];
    double a;
    double b;
    double a_error;
    double b_error;
    fill_means(&setting, means, 77);
    struct moments const naive = measure_twin(&setting, means);
    struct moments const fast = measure_sim(&other, means);
    read_moments(&naive, REGRET, runs_of(&setting), &a, &a_error);
    read_moments(&fast, REGRET, runs_of(&setting), &b, &b_error);
    assert_true(fabs(a - b) > STANDARD_ERRORS * sqrt(a_error + b_error));
}

/* ---- Exact part ---- */

/* What the hub did, epoch by epoch. */
struct record {
    uint32_t count;
    uint64_t pulls[EPOCHS_MAX]; /* S(r) ordered for epoch r, from the first on */
    double radius[EPOCHS_MAX];
    uint32_t active[EPOCHS_MAX];
};

static void record_hub(void *context, const struct tacit_elim_hub *state)
{
    struct record *const record = context;
    struct tacit_elim_hub_view view;
    tacit_elim_hub_view(state, &view);
    if (view.round_count == 0 || view.reports_missing == 0 || record->count == EPOCHS_MAX) {
        if (view.finished && record->count < EPOCHS_MAX) {
            record->radius[record->count] = view.radius;
            record->active[record->count++] = view.active_count;
        }
        return;
    }
    if (view.round_count > record->count) {
        record->radius[record->count] = view.radius;
        record->active[record->count++] = view.active_count;
    }
}

static struct setting random_exact_setting(struct tacit_rng *rng)
{
    static const uint64_t horizons[] = {3000, 20000, 100000, 1000000};
    return (struct setting){
        .name = "exact",
        .agents = 1 + (uint32_t)tacit_rng_below(rng, 20),
        .arms = 2 + (uint32_t)tacit_rng_below(rng, 12),
        .heterogeneous = tacit_rng_bernoulli(rng, 0.5),
        .horizon = horizons[tacit_rng_below(rng, 4)],
        .epsilon = INFINITY,
        .participation = 1,
        .rounds = tacit_rng_bernoulli(rng, 0.4) ? 1 + (uint32_t)tacit_rng_below(rng, 12) : 0,
        .runs = 1};
}

static void compare_epochs(const struct twin_result *naive, const struct record *record)
{
    uint32_t round = 0;
    for (uint32_t i = 0; i < naive->trace_count; i++) {
        bool const is_followed_by_idle = i + 1 < naive->trace_count && naive->trace[i + 1].n == 0;
        if (!naive->trace[i].collected)
            continue;
        assert_true(round < record->count);
        if (!is_followed_by_idle) { /* else the radius seen is that of the repeated test */
            assert_true(fabs(record->radius[round] - naive->trace[i].c) <= 1e-9);
            assert_int_equal(record->active[round], naive->trace[i].active_after);
        }
        round++;
    }
}

static void compare_exactly(const struct setting *setting, uint64_t seed)
{
    double means[AGENTS_MAX * ARMS_MAX];
    uint32_t naive_eliminated[ARMS_MAX] = {0};
    uint32_t eliminated[ARMS_MAX];
    double metrics[ELIM_METRIC_COUNT];
    double regret;
    bool finished;
    bool healed;
    struct record record = {0};
    struct elim_observer observer = {.context = &record, .hub_persisted = record_hub};
    struct tacit_sim_control control = {0};
    struct twin_result naive = {.eliminated_epoch = naive_eliminated};
    fill_means(setting, means, seed);
    struct twin_config config = twin_setting(setting, means);
    config.constant_rewards = true;
    assert_true(twin_run(&config, &naive));
    struct elim_sim sim = sim_setting(setting, means, &setting->horizon);
    sim.common.env.kind = TACIT_ENV_CONSTANT;
    sim.hooks = elim_observe(&observer);
    struct tacit_sim_results const results = {
        .metrics = metrics, .regret = &regret, .eliminated = eliminated, .finished = &finished};
    assert_int_equal(elim_sim_run_one(&sim, 0, &results, &control, &healed), TACIT_OK);
    assert_true(healed);
    assert_true(fabs(metrics[ELIM_REGRET] - naive.regret) <= 1e-9 * (1 + naive.regret));
    assert_true(fabs(regret - naive.regret) <= 1e-9 * (1 + naive.regret));
    assert_true(metrics[ELIM_ROUNDS] == naive.rounds);
    assert_true(metrics[ELIM_COST] == naive.cost);
    assert_true(metrics[ELIM_MESSAGES] == (double)naive.messages);
    assert_memory_equal(eliminated, naive_eliminated, setting->arms * sizeof(uint32_t));
    compare_epochs(&naive, &record);
}

TEST(without_chance_simulator_equals_the_twin)
{
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_INSTANCE);
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct setting const setting = random_exact_setting(&rng);
        compare_exactly(&setting, seed);
    }
}

/* The first epoch ends at T itself. It is whole, so it is reported and counted. */
TEST(an_epoch_that_ends_at_the_horizon_counts)
{
    struct setting setting = {"edge", 5, 10, false, 0, INFINITY, false, 1, 0, 1};
    struct tacit_elim_schedule schedule = {
        .arm_count = 10, .report_count = 5, .epsilon_per_reward = INFINITY};
    uint64_t horizon = 1;
    for (uint64_t before = 0; before != horizon;) { /* T = 10 S(1), and S(1) depends on T */
        before = horizon;
        schedule.horizon = horizon;
        horizon = 10 * tacit_elim_pulls(&schedule, 1, 10, 0);
    }
    setting.horizon = horizon;
    compare_exactly(&setting, 5);
}

/* The whole curve, not just its end: at every slot of a short run. */
TEST(without_chance_the_curve_equals_the_twin_at_every_slot)
{
    enum { SLOTS = 4000 };
    static uint64_t points[SLOTS];
    static double naive_curve[SLOTS];
    static double curve[SLOTS];
    struct setting const setting = {"curve", 5, 10, false, SLOTS, INFINITY, false, 1, 0, 1};
    double means[AGENTS_MAX * ARMS_MAX];
    double metrics[ELIM_METRIC_COUNT];
    uint32_t eliminated[ARMS_MAX];
    bool finished;
    bool healed;
    struct tacit_sim_control control = {0};
    struct twin_result naive = {.eliminated_epoch = NULL};
    for (uint64_t slot = 1; slot <= SLOTS; slot++)
        points[slot - 1] = slot;
    fill_means(&setting, means, 4);
    struct twin_config config = twin_setting(&setting, means);
    config.constant_rewards = true;
    config.checkpoints = points;
    config.checkpoint_count = SLOTS;
    config.regret_at = naive_curve;
    assert_true(twin_run(&config, &naive));
    struct elim_sim sim = sim_setting(&setting, means, points);
    sim.common.env.kind = TACIT_ENV_CONSTANT;
    sim.common.point_count = SLOTS;
    struct tacit_sim_results const results = {
        .metrics = metrics, .regret = curve, .eliminated = eliminated, .finished = &finished};
    assert_int_equal(elim_sim_run_one(&sim, 0, &results, &control, &healed), TACIT_OK);
    assert_true(naive.rounds >= 2);
    for (uint32_t i = 0; i < SLOTS; i++)
        assert_true(fabs(curve[i] - naive_curve[i]) <= 1e-9 * (1 + naive_curve[i]));
}
