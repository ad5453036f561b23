/* Exact confidence bounds for noised sums (EXACT-BOUNDS 2.2, 2.4, 2.5). Why they hold:
 * docs/proofs/exact_bounds.md. */
#include "tacit/bounds.h"
#include <math.h>

#define SECTION_STEPS 80      /* of the golden section */
#define SECTION_WIDTH 0x1p-30 /* at a minimum the value is off by the square of that: rounding */
#define GOLDEN 0.61803398874989484820 /* (sqrt(5) - 1)/2 */
#define SHARE_WIDTH 0x1p-40
#define LAMBDA_MAX 64.0 /* without noise: e^-64 is nothing beside 1 */
#define NEWTON_STEPS_MAX 60u

/* What the bound is computed from. */
struct problem {
    double n;            /* N, pulls */
    double m;            /* noise terms in the sum */
    double y;            /* the mean, with its noise */
    double epsilon;      /* of each term; infinite: no noise */
    double level;        /* L, the evidence at which a mean is ruled out */
    double m_more;       /* terms of another kind; 0: none */
    double epsilon_more; /* theirs */
};

struct tacit_bounds_noise tacit_bounds_noise_of(double epsilon, uint32_t floor_milli)
{
    TACIT_ASSERT(epsilon > 0);
    if (floor_milli == TACIT_ONE_AGGREGATOR)
        return (struct tacit_bounds_noise){.epsilon = epsilon};
    double const floor = floor_milli == TACIT_NO_FLOOR ? (double)INFINITY : floor_milli / 1e3;
    return (struct tacit_bounds_noise){
        .epsilon = floor, .shared = epsilon, .per_release = isfinite(epsilon) ? 2 : 0};
}

double tacit_bounds_mean(const struct tacit_bounds_sum *sum)
{
    TACIT_ASSERT(sum->pulls > 0);
    return (double)sum->steps / ((double)sum->pulls * (double)TACIT_STEPS);
}

/* m ln(1 - lambda^2/epsilon^2): what the noise takes from the evidence. */
static double noise_term(const struct problem *problem, double lambda)
{
    if (isinf(problem->epsilon))
        return 0;
    double const share = lambda / problem->epsilon;
    double const term = problem->m * log1p(-share * share);
    if (problem->m_more <= 0)
        return term;
    double const more = lambda / problem->epsilon_more;
    return term + problem->m_more * log1p(-more * more);
}

/* What one lambda says. */
struct evidence {
    double lambda;
    double noise; /* noise_term */
    double bound; /* the q at which the evidence is L: an upper bound */
};

static struct evidence evidence_at(const struct problem *problem, double lambda)
{
    double const noise = noise_term(problem, lambda);
    double const x = lambda * problem->y + (problem->level - noise) / problem->n;
    return (struct evidence){lambda, noise, expm1(-x) / expm1(-lambda)};
}

/* Minus d/d lambda of m ln(1 - lambda^2/epsilon^2). */
static double slope_of(double m, double epsilon, double lambda)
{
    return m * 2 * lambda / ((epsilon - lambda) * (epsilon + lambda));
}

/* That of both kinds of noise. */
static double slope_of_both(const struct problem *problem, double lambda)
{
    return slope_of(problem->m, problem->epsilon, lambda) +
           slope_of(problem->m_more, problem->epsilon_more, lambda);
}

/* The lambda at which what increases with it comes to a level, from below. */
static double lambda_at(const struct problem *problem,
                        double (*increasing)(const struct problem *problem, double lambda),
                        double level)
{
    double const end =
        problem->epsilon < problem->epsilon_more ? problem->epsilon : problem->epsilon_more;
    double low = 0;
    double high = 1; /* shares of the end */
    while (high - low > SHARE_WIDTH) {
        double const middle = low + (high - low) / 2;
        if (increasing(problem, middle * end) < level)
            low = middle;
        else
            high = middle;
    }
    return end * (low > 0 ? low : SHARE_WIDTH);
}

/* The lambda with the most evidence against q = 1; the best one is at or below it. */
static double largest_lambda(const struct problem *problem, double shortfall)
{
    double const epsilon = problem->epsilon;
    if (problem->m_more > 0)
        return lambda_at(problem, slope_of_both, shortfall);
    if (isinf(epsilon))
        return LAMBDA_MAX;
    double const scaled = shortfall * epsilon;
    double const share = scaled / (problem->m + sqrt(problem->m * problem->m + scaled * scaled));
    double const share_max = 1 - 0x1p-40; /* where m is nothing beside N epsilon: stay inside */
    return epsilon * (share < share_max ? share : share_max);
}

/* Is q(lambda) below 1? There, and only there, it has one valley. */
static bool is_informative(const struct problem *problem, double shortfall,
                           const struct evidence *evidence)
{
    return shortfall * evidence->lambda + evidence->noise > problem->level;
}

/* The least bound of any lambda, by golden section of the valley. */
static double least_bound(const struct problem *problem)
{
    double const shortfall = problem->n * (1 - problem->y);
    if (problem->y >= 1)
        return 1;
    double low = 0;
    double high = largest_lambda(problem, shortfall);
    struct evidence const last = evidence_at(problem, high);
    if (isfinite(problem->epsilon) && !is_informative(problem, shortfall, &last))
        return 1;
    double best = last.bound;
    struct evidence left = evidence_at(problem, high - GOLDEN * (high - low));
    struct evidence right = evidence_at(problem, low + GOLDEN * (high - low));
    for (int step = 0; step < SECTION_STEPS && high - low > SECTION_WIDTH * high; step++) {
        best = left.bound < best ? left.bound : best;
        best = right.bound < best ? right.bound : best;
        if (is_informative(problem, shortfall, &left) && left.bound <= right.bound) {
            high = right.lambda;
            right = left;
            left = evidence_at(problem, high - GOLDEN * (high - low));
        } else {
            low = left.lambda;
            left = right;
            right = evidence_at(problem, low + GOLDEN * (high - low));
        }
    }
    return best > 0 ? (best < 1 ? best : 1) : 0;
}

/* Which terms there are: those of one kind are in m. */
static void set_noise(struct problem *problem, uint64_t noises,
                      const struct tacit_bounds_noise *noise)
{
    double const shared = (double)noise->per_release * noise->releases;
    bool const has_own = isfinite(noise->epsilon) && noises > 0;
    TACIT_ASSERT(noise->epsilon > 0);
    problem->epsilon = noise->epsilon;
    problem->m = (double)noises;
    problem->m_more = 0;
    problem->epsilon_more = INFINITY;
    if (noise->per_release == 0 || isinf(noise->shared)) {
        TACIT_IMPLIES(isfinite(noise->epsilon), noises > 0);
        return;
    }
    TACIT_ASSERT(noise->shared > 0 && noise->releases > 0);
    if (has_own) {
        problem->m_more = shared;
        problem->epsilon_more = noise->shared;
    } else {
        problem->m = shared;
        problem->epsilon = noise->shared;
    }
}

static struct problem problem_of(const struct tacit_bounds_sum *sum, int64_t steps,
                                 const struct tacit_bounds_noise *noise, double log_level)
{
    TACIT_ASSERT(sum->pulls > 0);
    TACIT_ASSERT(log_level > 0);
    double const n = (double)sum->pulls;
    struct problem problem = {
        .n = n, .y = (double)steps / (n * (double)TACIT_STEPS), .level = log_level};
    set_noise(&problem, sum->noises, noise);
    return problem;
}

double tacit_bounds_upper_of(const struct tacit_bounds_sum *sum,
                             const struct tacit_bounds_noise *noise, double log_level)
{
    struct problem const problem = problem_of(sum, sum->steps, noise, log_level);
    double const bound = least_bound(&problem);
    double const mean = problem.y < 1 ? problem.y : 1; /* 2.1: from the clipped mean up */
    return bound > mean ? bound : mean;
}

double tacit_bounds_upper(const struct tacit_bounds_sum *sum, double epsilon, double log_level)
{
    return tacit_bounds_upper_of(sum, &(struct tacit_bounds_noise){.epsilon = epsilon}, log_level);
}

/* Rewards 1 - x have the sum N R - Y, and the noise is symmetric. */
double tacit_bounds_lower_of(const struct tacit_bounds_sum *sum,
                             const struct tacit_bounds_noise *noise, double log_level)
{
    struct tacit_bounds_sum turned = *sum;
    turned.steps = (int64_t)sum->pulls * TACIT_STEPS - sum->steps;
    return 1 - tacit_bounds_upper_of(&turned, noise, log_level);
}

double tacit_bounds_lower(const struct tacit_bounds_sum *sum, double epsilon, double log_level)
{
    return tacit_bounds_lower_of(sum, &(struct tacit_bounds_noise){.epsilon = epsilon}, log_level);
}

struct tacit_bounds_interval tacit_bounds_interval_of(const struct tacit_bounds_sum *sum,
                                                      const struct tacit_bounds_noise *noise,
                                                      double log_level)
{
    return (struct tacit_bounds_interval){tacit_bounds_mean(sum),
                                          tacit_bounds_lower_of(sum, noise, log_level),
                                          tacit_bounds_upper_of(sum, noise, log_level)};
}

/* ---- Radius ---- */

/* With u = (lambda/epsilon)^2 the minimum is the root of F(u) = N epsilon^2 u/8 + 2 m u/(1-u) + m
 * ln(1-u) - L, which increases and is convex, so Newton's method comes down to it from above. Two
 * starts are above: by the first term alone, and because ln(1-u) >= -u/(1-u). */
static double best_share_squared(double n, double m, double epsilon, double level)
{
    double const slope = n * epsilon * epsilon / 8;
    double const by_noise = level / (m + level);
    double u = level / slope < by_noise ? level / slope : by_noise;
    for (unsigned step = 0; step < NEWTON_STEPS_MAX; step++) {
        double const rest = 1 - u;
        double const value = slope * u + m * (2 * u / rest + log1p(-u)) - level;
        double const next = u - value / (slope + m * (2 / rest - 1) / rest);
        bool const is_done = !(next < u * (1 - 1e-15));
        u = next < u && next > 0 ? next : u;
        if (is_done)
            break;
    }
    return u;
}

/* What F + L is of two kinds of terms, as a function of lambda. */
static double level_of_both(const struct problem *problem, double lambda)
{
    return problem->n * lambda * lambda / 8 +
           lambda * slope_of(problem->m, problem->epsilon, lambda) +
           lambda * slope_of(problem->m_more, problem->epsilon_more, lambda) +
           noise_term(problem, lambda);
}

double tacit_bounds_radius_of(uint64_t pulls, uint64_t noises,
                              const struct tacit_bounds_noise *noise, double log_level)
{
    TACIT_ASSERT(pulls > 0);
    TACIT_ASSERT(log_level > 0);
    struct problem problem = {.n = (double)pulls, .level = log_level};
    double const n = problem.n;
    set_noise(&problem, noises, noise);
    if (isinf(problem.epsilon))
        return sqrt(log_level / (2 * n));
    if (problem.m_more > 0) {
        double const lambda = lambda_at(&problem, level_of_both, problem.level);
        return (log_level + n * lambda * lambda / 8 - noise_term(&problem, lambda)) / (lambda * n);
    }
    double const m = problem.m;
    double const u = best_share_squared(n, m, problem.epsilon, log_level);
    double const lambda = problem.epsilon * sqrt(u);
    return (log_level + n * lambda * lambda / 8 - m * log1p(-u)) / (lambda * n);
}

double tacit_bounds_radius(uint64_t pulls, uint64_t noises, double epsilon, double log_level)
{
    return tacit_bounds_radius_of(pulls, noises, &(struct tacit_bounds_noise){.epsilon = epsilon},
                                  log_level);
}

/* ---- Suffixes ---- */

static void add_release(struct tacit_bounds_sum *sum, const struct tacit_bounds_sum *release)
{
    sum->pulls += release->pulls;
    sum->noises += release->noises;
    sum->steps += release->steps;
}

/* Scans from the shortest suffix. Longer ones have at most all pulls, at least one more noise term
 * of a site, and one more release: where even that gives a wider radius, no longer one can win. */
uint32_t tacit_bounds_suffix_of(const struct tacit_bounds_sum *releases, uint32_t count,
                                struct tacit_bounds_noise *noise, double log_level,
                                struct tacit_bounds_sum *sum)
{
    TACIT_ASSERT(count > 0);
    struct tacit_bounds_sum all = {0};
    for (uint32_t i = 0; i < count; i++)
        add_release(&all, &releases[i]);
    bool const is_noisy = isfinite(noise->epsilon) || noise->per_release > 0;
    uint32_t best = 0;
    struct tacit_bounds_sum best_sum = all;
    struct tacit_bounds_sum suffix = {0};
    struct tacit_bounds_noise scan = *noise;
    double smallest = INFINITY;
    noise->releases = count;
    for (uint32_t i = count; i > 0 && is_noisy; i--) {
        add_release(&suffix, &releases[i - 1]);
        if (suffix.pulls == 0)
            continue; /* a round without reports */
        scan.releases = count - i + 1;
        double const radius = tacit_bounds_radius_of(suffix.pulls, suffix.noises, &scan, log_level);
        if (radius <= smallest) {
            best = i - 1;
            best_sum = suffix;
            noise->releases = scan.releases;
            smallest = radius;
        }
        scan.releases++;
        if (i > 1 && tacit_bounds_radius_of(all.pulls, suffix.noises + 1, &scan, log_level) >
                         smallest * (1 + 1e-12))
            break;
    }
    *sum = best_sum;
    return best;
}

uint32_t tacit_bounds_suffix(const struct tacit_bounds_sum *releases, uint32_t count,
                             double epsilon, double log_level, struct tacit_bounds_sum *sum)
{
    struct tacit_bounds_noise noise = {.epsilon = epsilon};
    return tacit_bounds_suffix_of(releases, count, &noise, log_level, sum);
}
