/* Whole runs of learners with an index against a twin that shares no code with them: its own random
 * numbers, every index computed at every pull, one pull at a time. Mean regrets at a point and at
 * the end, alone and pooled, agents alike and not, agree within 4 standard errors.
 * False alarms: 6e-5 a comparison, 40 comparisons; fixed seeds. */
#include <math.h>
#include "../support/testing.h"
#include "../support/gof.h"
#include "../../src/families/index/plan.h"

#define RUNS 400u
#define AGENTS 3u
#define ARMS 4u
#define SLOTS 150u
#define POINT 40u

static const double alike[ARMS] = {0.3, 0.5, 0.8, 0.65};
static const double unlike[AGENTS * ARMS] = {0.1, 0.9, 0.5, 0.2, 0.8, 0.2,
                                             0.7, 0.3, 0.2, 0.4, 0.9, 0.1};

/* ---- The twin ---- */

static uint64_t twin_state;

static double twin_uniform(void)
{
    twin_state += UINT64_C(0x9E3779B97F4A7C15); /* SplitMix64 (Steele, Lea, Flood 2014) */
    uint64_t z = twin_state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

/* Beta(a, b) with whole a, b: the a-th smallest of a + b - 1 uniforms, as a ratio of sums of
 * exponentials. */
static double twin_beta(double a, double b)
{
    double left = 0;
    double right = 0;
    for (double i = 0; i < a; i++)
        left -= log(twin_uniform());
    for (double i = 0; i < b; i++)
        right -= log(twin_uniform());
    return left / (left + right);
}

static double twin_divergence(double p, double q)
{
    double value = 0;
    if (p > 0)
        value += q > 0 ? p * log(p / q) : INFINITY;
    if (p < 1)
        value += q < 1 ? (1 - p) * log((1 - p) / (1 - q)) : INFINITY;
    return value;
}

static double twin_kl_ucb(double p, double n, double t)
{
    double low = p;
    double high = 1;
    for (int i = 0; i < 60; i++) {
        double const q = (low + high) / 2;
        if (n * twin_divergence(p, q) <= log(t))
            low = q;
        else
            high = q;
    }
    return low;
}

struct twin {
    enum tacit_arms_kind kind;
    double n[ARMS];
    double s[ARMS];
    double t;
    double horizon;
};

static double twin_index(const struct twin *twin, int arm)
{
    double const n = twin->n[arm];
    if (twin->kind == TACIT_ARMS_THOMPSON)
        return twin_beta(1 + twin->s[arm], 1 + n - twin->s[arm]);
    if (twin->kind == TACIT_ARMS_UNIFORM)
        return twin_uniform();
    if (n < 1)
        return INFINITY;
    double const mean = twin->s[arm] / n;
    if (twin->kind == TACIT_ARMS_UCB1)
        return mean + sqrt(2 * log(twin->t) / n);
    if (twin->kind == TACIT_ARMS_KL_UCB)
        return twin_kl_ucb(mean, n, twin->t);
    return mean + sqrt(fmax(0, log(twin->horizon / (ARMS * n))) / n);
}

static int twin_choose(const struct twin *twin)
{
    int best = 0;
    double highest = -INFINITY;
    for (int arm = 0; arm < (int)ARMS; arm++) {
        double const index = twin_index(twin, arm);
        if (index > highest) {
            highest = index;
            best = arm;
        }
    }
    return best;
}

static double gap_of(const double *means, int rows, int arm)
{
    double average[ARMS] = {0};
    double best = 0;
    for (int i = 0; i < (int)ARMS; i++) {
        for (int row = 0; row < rows; row++)
            average[i] += means[row * (int)ARMS + i] / rows;
        best = fmax(best, average[i]);
    }
    return best - average[arm];
}

static void twin_play(enum tacit_arms_kind kind, bool pooled, const double *means, int rows,
                      double regret[2])
{
    static struct twin learners[AGENTS];
    memset(learners, 0, sizeof learners);
    regret[0] = 0;
    regret[1] = 0;
    for (int slot = 0; slot < (int)SLOTS; slot++) {
        for (int agent = 0; agent < (int)AGENTS; agent++) {
            struct twin *const twin = &learners[pooled ? 0 : agent];
            twin->kind = kind;
            twin->horizon = SLOTS * (pooled ? AGENTS : 1);
            int const arm = twin_choose(twin);
            double const mean = means[(rows == 1 ? 0 : agent) * (int)ARMS + arm];
            twin->s[arm] += twin_uniform() < mean ? 1 : 0;
            twin->n[arm]++;
            twin->t++;
            regret[1] += gap_of(means, rows, arm);
            regret[0] += slot < (int)POINT ? gap_of(means, rows, arm) : 0;
        }
    }
}

/* ---- Comparison ---- */

static const uint64_t points[2] = {POINT, SLOTS};

static void play_ours(const struct index_plan *plan, struct gof_spread ours[2])
{
    enum tacit_status status;
    atomic_bool stop = false;
    void *const run = index_run_new(plan, &status);
    struct tacit_sim_row *const row = tacit_sim_row_new(&plan->sim, INDEX_METRIC_COUNT);
    assert_non_null(run);
    assert_non_null(row);
    for (uint32_t index = 0; index < RUNS; index++) {
        tacit_sim_row_clear(row, &plan->sim, INDEX_METRIC_COUNT);
        assert_int_equal(index_run_play(run, index, row, &stop), TACIT_OK);
        gof_add(&ours[0], row->regret[0]);
        gof_add(&ours[1], row->regret[1]);
        assert_true(fabs(row->regret[1] - row->metrics[INDEX_REGRET]) < 1e-6);
        assert_true(row->metrics[INDEX_SAMPLES] == AGENTS * SLOTS);
        assert_int_equal(row->ranked_count, 1);
    }
    free(row);
    tacit_sim_delete(run);
}

static void compare(enum tacit_arms_kind kind, bool pooled, const double *means, int rows)
{
    struct index_plan const plan = {
        .sim = {.seed = 3,
                .run_count = RUNS,
                .agent_count = AGENTS,
                .horizon = SLOTS,
                .points = points,
                .point_count = 2,
                .env = {TACIT_ENV_BERNOULLI, (uint32_t)rows, ARMS, means, 0, {0}, NULL, NULL}},
        .arms = {.kind = kind,
                 .arm_count = ARMS,
                 .horizon = SLOTS * (pooled ? AGENTS : 1),
                 .scale = {.kind = TACIT_SCALE_REAL, .lo = 0, .hi = 1},
                 .bounded = true},
        .sharing = pooled ? INDEX_SHARING_POOLED : INDEX_SHARING_NONE,
        .turns = pooled ? AGENTS : 1};
    struct gof_spread ours[2] = {{0}};
    struct gof_spread twins[2] = {{0}};
    play_ours(&plan, ours);
    for (uint32_t index = 0; index < RUNS; index++) {
        double regret[2];
        twin_play(kind, pooled, means, rows, regret);
        gof_add(&twins[0], regret[0]);
        gof_add(&twins[1], regret[1]);
    }
    static const char *const names[] = {"at the point", "at the end"};
    char name[64];
    (void)snprintf(name, sizeof name, "kind %d %s", kind, pooled ? "pooled" : "alone");
    assert_int_equal(gof_differences(name, names, 2, ours, twins), 0);
}

TEST(regrets_of_agents_alike_are_the_twins)
{
    for (int kind = TACIT_ARMS_UCB1; kind <= TACIT_ARMS_UNIFORM; kind++) {
        compare((enum tacit_arms_kind)kind, false, alike, 1);
        compare((enum tacit_arms_kind)kind, true, alike, 1);
    }
}

TEST(regrets_of_agents_unlike_are_the_twins)
{
    for (int kind = TACIT_ARMS_UCB1; kind <= TACIT_ARMS_UNIFORM; kind++) {
        compare((enum tacit_arms_kind)kind, false, unlike, AGENTS);
        compare((enum tacit_arms_kind)kind, true, unlike, AGENTS);
    }
}

int main(void)
{
    twin_state = 1;
    return testing_run(NULL, NULL);
}
