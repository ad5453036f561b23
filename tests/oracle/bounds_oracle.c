/* Exact bounds against a twin of their definition (EXACT-BOUNDS 2.1): bisection over q, and for
 * each q a ternary search over lambda. The radius against a fine search, the suffix against trying
 * all. Symmetry, no noise = KL-UCB, Hoeffding's frame. Fixed seeds, no chance. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/arms.h"
#include "tacit/bounds.h"
#include "tacit/random.h"

#define SEED UINT64_C(31)
#define STEPS 1048576.0

struct problem {
    struct tacit_bounds_sum sum;
    double epsilon, level;
};

/* ---- The twin: stupid on purpose ---- */

static double evidence(const struct problem *problem, double q, double lambda)
{
    double const n = (double)problem->sum.pulls;
    double const y = (double)problem->sum.steps / (n * STEPS);
    double const share = lambda / problem->epsilon;
    return -n * log1p(q * expm1(-lambda)) - n * lambda * y +
           (double)problem->sum.noises * log1p(-share * share);
}

/* Concave in lambda. */
static double low(const struct problem *problem, double q)
{
    double a = 0;
    double b = problem->epsilon;
    for (int i = 0; i < 200; i++) {
        double const c = a + (b - a) / 3;
        double const d = b - (b - a) / 3;
        if (evidence(problem, q, c) < evidence(problem, q, d))
            a = c;
        else
            b = d;
    }
    return evidence(problem, q, (a + b) / 2);
}

static double twin_upper(const struct problem *problem)
{
    double const y = tacit_bounds_mean(&problem->sum);
    double a = y > 0 ? (y < 1 ? y : 1) : 0;
    double b = 1;
    if (low(problem, b) <= problem->level)
        return b;
    if (low(problem, a) > problem->level)
        return a;
    for (int i = 0; i < 60; i++) {
        double const q = (a + b) / 2;
        if (low(problem, q) <= problem->level)
            a = q;
        else
            b = q;
    }
    return a;
}

static double radius_at(const struct problem *problem, double lambda)
{
    double const n = (double)problem->sum.pulls;
    double const share = lambda / problem->epsilon;
    return (problem->level + n * lambda * lambda / 8 -
            (double)problem->sum.noises * log1p(-share * share)) /
           (lambda * n);
}

static double twin_radius(const struct problem *problem)
{
    double smallest = INFINITY;
    double a = 0;
    double b = problem->epsilon;
    for (int i = 0; i < 300; i++) {
        double const c = a + (b - a) / 3;
        double const d = b - (b - a) / 3;
        smallest = fmin(smallest, fmin(radius_at(problem, c), radius_at(problem, d)));
        if (radius_at(problem, c) < radius_at(problem, d))
            b = d;
        else
            a = c;
    }
    return smallest;
}

/* ---- Random problems ---- */

static double spread(struct tacit_rng *rng, double from, double to)
{
    return from * pow(to / from, tacit_rng_uniform(rng));
}

static struct problem random_problem(struct tacit_rng *rng)
{
    struct problem problem = {.epsilon = spread(rng, 1e-3, 1e3), .level = spread(rng, 0.1, 60)};
    problem.sum.pulls = (uint64_t)spread(rng, 1, 1e8);
    problem.sum.noises =
        1 + tacit_rng_below(rng, problem.sum.pulls < 100 ? problem.sum.pulls : 100);
    uint32_t const kind = (uint32_t)tacit_rng_below(rng, 4);
    double const mean = kind == 0 ? 0 : (kind == 1 ? 1 : tacit_rng_uniform(rng));
    double const noise = kind == 3 ? 0 : tacit_rng_laplace(rng, 1 / problem.epsilon);
    problem.sum.steps = (int64_t)floor(STEPS * ((double)problem.sum.pulls * mean + noise));
    return problem;
}

TEST(bounds_are_those_of_their_definition)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, TACIT_PURPOSE_INSTANCE);
    for (int i = 0; i < 800; i++) {
        struct problem problem = random_problem(&rng);
        double const upper = tacit_bounds_upper(&problem.sum, problem.epsilon, problem.level);
        double const expected = twin_upper(&problem);
        if (!(fabs(upper - expected) <= 1e-9))
            print_error("N %g m %g y %g epsilon %g L %g: %.15g, expected %.15g\n",
                        (double)problem.sum.pulls, (double)problem.sum.noises,
                        tacit_bounds_mean(&problem.sum), problem.epsilon, problem.level, upper,
                        expected);
        assert_true(fabs(upper - expected) <= 1e-9);
    }
}

TEST(lower_is_one_minus_the_upper_of_one_minus)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 1, 0, TACIT_PURPOSE_INSTANCE);
    for (int i = 0; i < 20000; i++) {
        struct problem const problem = random_problem(&rng);
        struct tacit_bounds_sum turned = problem.sum;
        turned.steps = (int64_t)turned.pulls * TACIT_STEPS - turned.steps;
        double const lower = tacit_bounds_lower(&problem.sum, problem.epsilon, problem.level);
        double const upper = tacit_bounds_upper(&turned, problem.epsilon, problem.level);
        assert_true(lower == 1 - upper);
    }
}

TEST(radius_is_the_minimum_and_frames_the_bounds)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 2, 0, TACIT_PURPOSE_INSTANCE);
    for (int i = 0; i < 5000; i++) {
        struct problem const problem = random_problem(&rng);
        double const radius = tacit_bounds_radius(problem.sum.pulls, problem.sum.noises,
                                                  problem.epsilon, problem.level);
        double const expected = twin_radius(&problem);
        assert_true(fabs(radius - expected) <= 1e-12 * expected);
        double const y = tacit_bounds_mean(&problem.sum);
        double const clipped = fmin(1, fmax(0, y));
        double const upper = tacit_bounds_upper(&problem.sum, problem.epsilon, problem.level);
        double const lower = tacit_bounds_lower(&problem.sum, problem.epsilon, problem.level);
        assert_true(upper <= fmax(clipped, y + radius) + 1e-12);
        assert_true(lower >= fmin(clipped, y - radius) - 1e-12);
        assert_true(lower <= clipped && clipped <= upper);
    }
}

TEST(bounds_without_noise_are_kl_ucb)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 3, 0, TACIT_PURPOSE_INSTANCE);
    for (int i = 0; i < 20000; i++) {
        uint64_t const n = (uint64_t)spread(&rng, 1, 1e7);
        uint64_t const t = (uint64_t)spread(&rng, 2, 1e12);
        uint64_t const ones = tacit_rng_below(&rng, n + 1);
        struct tacit_bounds_sum const sum = {n, 0, (int64_t)ones * TACIT_STEPS};
        double const expected = tacit_arms_kl_ucb((double)ones / (double)n, n, t);
        assert_true(fabs(tacit_bounds_upper(&sum, INFINITY, log((double)t)) - expected) <= 1e-9);
    }
}

TEST(bounds_narrow_with_pulls_and_widen_with_noise_and_level)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 4, 0, TACIT_PURPOSE_INSTANCE);
    for (int i = 0; i < 6000; i++) {
        struct problem const problem = random_problem(&rng);
        struct tacit_bounds_sum noisier = problem.sum;
        noisier.noises++;
        double const upper = tacit_bounds_upper(&problem.sum, problem.epsilon, problem.level);
        assert_true(tacit_bounds_upper(&noisier, problem.epsilon, problem.level) >= upper - 1e-12);
        assert_true(tacit_bounds_upper(&problem.sum, problem.epsilon, problem.level * 1.1) >=
                    upper - 1e-12);
        assert_true(tacit_bounds_upper(&problem.sum, problem.epsilon * 1.1, problem.level) <=
                    upper + 1e-12);
    }
}

TEST(suffix_is_the_best_of_all)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 5, 0, TACIT_PURPOSE_INSTANCE);
    uint32_t shortened = 0;
    for (int i = 0; i < 5000; i++) {
        struct tacit_bounds_sum releases[20];
        uint32_t const count = 1 + (uint32_t)tacit_rng_below(&rng, 20);
        double const epsilon = tacit_rng_below(&rng, 8) == 0 ? INFINITY : spread(&rng, 1e-2, 100);
        double const level = spread(&rng, 1, 40);
        double const growth = spread(&rng, 1.05, 4);
        double pulls = spread(&rng, 1, 1000);
        for (uint32_t j = 0; j < count; j++, pulls *= growth)
            releases[j] = (struct tacit_bounds_sum){(uint64_t)pulls, 1 + tacit_rng_below(&rng, 50),
                                                    (int64_t)tacit_rng_below(&rng, 1000)};
        uint32_t best = 0;
        double smallest = INFINITY;
        struct tacit_bounds_sum sum = {0};
        struct tacit_bounds_sum best_sum = {0};
        for (uint32_t j = count; j > 0; j--) {
            sum.pulls += releases[j - 1].pulls;
            sum.noises += releases[j - 1].noises;
            sum.steps += releases[j - 1].steps;
            double const radius = tacit_bounds_radius(sum.pulls, sum.noises, epsilon, level);
            if (radius <= smallest || isinf(epsilon)) {
                smallest = radius;
                best = j - 1;
                best_sum = sum;
            }
        }
        struct tacit_bounds_sum found;
        assert_int_equal(tacit_bounds_suffix(releases, count, epsilon, level, &found), best);
        assert_int_equal(found.pulls, best_sum.pulls);
        assert_int_equal(found.noises, best_sum.noises);
        assert_int_equal(found.steps, best_sum.steps);
        shortened += best > 0 ? 1 : 0;
    }
    assert_true(shortened > 500); /* it does happen */
}
