/* Goodness-of-fit helpers; see gof.h. Incomplete gamma and beta by power series and by continued
 * fractions evaluated with the modified Lentz method (Thompson, Barnett 1986). */
#include "testing.h"
#include "gof.h"
#include <math.h>
#include <stdbool.h>

#define PRECISION 1e-15
#define STEPS_MAX 200000
#define TINY 1e-300 /* stands for 0 in a denominator */

static void require(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "gof: %s\n", what);
    abort();
}

static double away_from_zero(double x)
{
    return fabs(x) < TINY ? TINY : x;
}

/* ---- Continued fractions: 1/(b0 + a1/(b1 + a2/(b2 + ...))) by Lentz -------------------------- */

struct lentz {
    double value;
    double c;
    double d;
};

static struct lentz lentz_start(double b0)
{
    double const d = 1.0 / away_from_zero(b0);
    return (struct lentz){.value = d, .c = 1.0 / TINY, .d = d};
}

/* Adds the level a/(b + ...). Result: the factor by which the value changed. */
static double lentz_step(struct lentz *fraction, double a, double b)
{
    fraction->d = 1.0 / away_from_zero(b + a * fraction->d);
    fraction->c = away_from_zero(b + a / fraction->c);
    double const factor = fraction->c * fraction->d;
    fraction->value *= factor;
    return factor;
}

/* ---- Incomplete gamma ------------------------------------------------------------------------ */

/* P(a, x) = x^a e^-x / Gamma(a+1) * (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...), for x < a + 1. */
static double gamma_lower_series(double a, double x)
{
    double term = 1.0;
    double sum = 1.0;
    int step = 0;
    for (; step < STEPS_MAX && term > sum * PRECISION; step++) {
        term *= x / (a + step + 1);
        sum += term;
    }
    require(step < STEPS_MAX, "incomplete gamma: the series did not converge");
    return sum * exp(a * log(x) - x - lgamma(a + 1.0));
}

/* Q(a, x) = x^a e^-x / Gamma(a) * 1/(x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - ...))), for x >= a
 * + 1. */
static double gamma_upper_fraction(double a, double x)
{
    double b = x + 1.0 - a;
    struct lentz fraction = lentz_start(b);
    int step = 1;
    for (; step < STEPS_MAX; step++) {
        b += 2.0;
        if (fabs(lentz_step(&fraction, -step * (step - a), b) - 1.0) < PRECISION)
            break;
    }
    require(step < STEPS_MAX, "incomplete gamma: the continued fraction did not converge");
    return fraction.value * exp(a * log(x) - x - lgamma(a));
}

double gof_chi_square_tail(double statistic, double degrees)
{
    require(statistic >= 0.0 && degrees > 0.0, "chi-square: argument out of range");
    double const a = degrees / 2.0;
    double const x = statistic / 2.0;
    if (x == 0.0)
        return 1.0;
    return x < a + 1.0 ? 1.0 - gamma_lower_series(a, x) : gamma_upper_fraction(a, x);
}

double gof_normal_tail(double z)
{
    return erfc(fabs(z) * sqrt(0.5));
}

/* ---- Chi-square tests ------------------------------------------------------------------------ */

/* Pools closed so far. */
struct pools {
    double statistic;
    double count;
};

static void close_pool(struct pools *pools, double observed, double expected)
{
    double const gap = observed - expected;
    if (expected > 0.0)
        pools->statistic += gap * gap / expected;
    else if (observed > 0.0)
        pools->statistic = INFINITY;
    pools->count += 1.0;
}

static double pools_p(const struct pools *pools)
{
    if (isinf(pools->statistic))
        return 0.0;
    return pools->count < 2.0 ? 1.0 : gof_chi_square_tail(pools->statistic, pools->count - 1.0);
}

double gof_chi_square_p(const uint64_t *observed, const double *expected, size_t cells)
{
    double observed_total = 0.0;
    double expected_left = 0.0;
    for (size_t i = 0; i < cells; i++) {
        observed_total += (double)observed[i];
        expected_left += expected[i];
    }
    require(fabs(observed_total - expected_left) <= 1e-6 * observed_total,
            "chi-square: the totals differ");
    struct pools pools = {0.0, 0.0};
    double observed_here = 0.0;
    double expected_here = 0.0;
    for (size_t i = 0; i < cells; i++) {
        observed_here += (double)observed[i];
        expected_here += expected[i];
        expected_left -= expected[i];
        if (expected_here >= GOF_EXPECTED_MIN && expected_left >= GOF_EXPECTED_MIN) {
            close_pool(&pools, observed_here, expected_here);
            observed_here = expected_here = 0.0;
        }
    }
    close_pool(&pools, observed_here, expected_here);
    return pools_p(&pools);
}

/* One cell of the 2-by-cells table; the expected counts follow from the margins. */
static void close_pair(struct pools *pools, const double here[2], const double total[2])
{
    double const both = here[0] + here[1];
    for (int i = 0; i < 2; i++) {
        double const expected = both * total[i] / (total[0] + total[1]);
        double const gap = here[i] - expected;
        if (expected > 0.0)
            pools->statistic += gap * gap / expected;
    }
    pools->count += 1.0;
}

double gof_two_sample_p(const uint64_t *first, const uint64_t *second, size_t cells)
{
    double total[2] = {0.0, 0.0};
    for (size_t i = 0; i < cells; i++) {
        total[0] += (double)first[i];
        total[1] += (double)second[i];
    }
    require(total[0] > 0.0 && total[1] > 0.0, "two samples: one is empty");
    double const smaller = total[0] < total[1] ? total[0] : total[1];
    double const both_min = GOF_EXPECTED_MIN * (total[0] + total[1]) / smaller;
    struct pools pools = {0.0, 0.0};
    double left = total[0] + total[1];
    double here[2] = {0.0, 0.0};
    for (size_t i = 0; i < cells; i++) {
        here[0] += (double)first[i];
        here[1] += (double)second[i];
        left -= (double)first[i] + (double)second[i];
        if (here[0] + here[1] >= both_min && left >= both_min) {
            close_pair(&pools, here, total);
            here[0] = here[1] = 0.0;
        }
    }
    close_pair(&pools, here, total);
    return pools_p(&pools);
}

/* ---- Kolmogorov-Smirnov ---------------------------------------------------------------------- */

/* Two forms of the same theta function; the second converges fast where the first does not. */
double gof_kolmogorov_tail(double root_n_d)
{
    double const pi = 3.14159265358979323846;
    if (root_n_d <= 0.0)
        return 1.0;
    double sum = 0.0;
    if (root_n_d >= 1.0) {
        for (int k = 1; k <= 10; k++)
            sum += (k % 2 == 1 ? 2.0 : -2.0) * exp(-2.0 * k * k * root_n_d * root_n_d);
        return sum;
    }
    for (int k = 1; k <= 19; k += 2)
        sum += exp(-k * k * pi * pi / (8.0 * root_n_d * root_n_d));
    return 1.0 - sqrt(2.0 * pi) / root_n_d * sum;
}

static int compare_doubles(const void *left, const void *right)
{
    double const a = *(const double *)left;
    double const b = *(const double *)right;
    return (a > b) - (a < b);
}

double gof_ks_p(double *sample, size_t count)
{
    require(count > 0, "ks: the sample is empty");
    qsort(sample, count, sizeof sample[0], compare_doubles);
    double const n = (double)count;
    double distance = 0.0;
    for (size_t i = 0; i < count; i++) {
        require(sample[i] >= 0.0 && sample[i] <= 1.0, "ks: a value outside [0, 1]");
        double const above = ((double)i + 1.0) / n - sample[i];
        double const below = sample[i] - (double)i / n;
        distance = fmax(distance, fmax(above, below));
    }
    return gof_kolmogorov_tail((sqrt(n) + 0.12 + 0.11 / sqrt(n)) * distance);
}

/* ---- Clopper-Pearson ------------------------------------------------------------------------- */

/* x^a (1-x)^b / (a B(a, b)) times the continued fraction of the incomplete beta, whose levels come
 * in pairs. Converges fast for x < (a+1)/(a+b+2). */
static double beta_fraction(double a, double b, double x)
{
    struct lentz fraction = lentz_start(1.0);
    int step = 0;
    for (; step < STEPS_MAX; step++) {
        double const m = step;
        double const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double const even = (m + 1) * (b - m - 1) * x / ((a + 2 * m + 1) * (a + 2 * m + 2));
        double const change = lentz_step(&fraction, odd, 1.0);
        if (fabs(change * lentz_step(&fraction, even, 1.0) - 1.0) < PRECISION)
            break;
    }
    require(step < STEPS_MAX, "incomplete beta: the continued fraction did not converge");
    double const log_beta = lgamma(a) + lgamma(b) - lgamma(a + b);
    return fraction.value * exp(a * log(x) + b * log1p(-x) - log_beta) / a;
}

/* I_x(a, b), the distribution function of Beta(a, b). */
static double beta_below(double a, double b, double x)
{
    if (x <= 0.0)
        return 0.0;
    if (x >= 1.0)
        return 1.0;
    return x < (a + 1.0) / (a + b + 2.0) ? beta_fraction(a, b, x)
                                         : 1.0 - beta_fraction(b, a, 1.0 - x);
}

/* The p at which Beta(a, b) has the given mass below (or, upper, above) it, by bisection to 1e-14
 * of the answer. Works with whichever tail is asked for, so that small tails keep their digits. */
static double beta_quantile(double a, double b, double tail, int upper)
{
    double lo = 0.0;
    double hi = 1.0;
    while (hi - lo > 1e-14 * hi) {
        double const middle = lo + (hi - lo) / 2.0;
        double const below =
            upper ? tail - beta_below(b, a, 1.0 - middle) : beta_below(a, b, middle) - tail;
        if (below < 0.0)
            lo = middle;
        else
            hi = middle;
    }
    return upper ? hi : lo;
}

static void require_binomial(uint64_t successes, uint64_t trials, double confidence)
{
    require(trials > 0 && successes <= trials, "binomial bound: more successes than trials");
    require(confidence > 0.0 && confidence < 1.0, "binomial bound: confidence outside (0, 1)");
}

double gof_binomial_lower(uint64_t successes, uint64_t trials, double confidence)
{
    require_binomial(successes, trials, confidence);
    if (successes == 0)
        return 0.0;
    double const s = (double)successes;
    return beta_quantile(s, (double)trials - s + 1.0, 1.0 - confidence, 0);
}

double gof_binomial_upper(uint64_t successes, uint64_t trials, double confidence)
{
    require_binomial(successes, trials, confidence);
    if (successes == trials)
        return 1.0;
    double const s = (double)successes;
    return beta_quantile(s + 1.0, (double)trials - s, 1.0 - confidence, 1);
}

static int checks_done;

double gof_proportion_p(uint64_t successes, uint64_t trials, double p)
{
    double const confidence = 1.0 - GOF_ALPHA / 2.0;
    return p >= gof_binomial_lower(successes, trials, confidence) &&
                   p <= gof_binomial_upper(successes, trials, confidence)
               ? 1.0
               : 0.0;
}

void gof_expect_fit(const char *what, double p_value)
{
    checks_done++;
    if (!(p_value >= GOF_ALPHA))
        print_error("%s: p-value %g\n", what, p_value);
    assert_true(p_value >= GOF_ALPHA);
}

void gof_expect_misfit(const char *what, double p_value)
{
    if (!(p_value < GOF_ALPHA))
        print_error("%s: not noticed, p-value %g\n", what, p_value);
    assert_true(p_value < GOF_ALPHA);
}

void gof_expect_checks(int stated)
{
    print_message("%d checks at alpha = %g each\n", checks_done, GOF_ALPHA);
    assert_int_equal(checks_done, stated);
}

/* ---- Means ---- */

void gof_add(struct gof_spread *spread, double value)
{
    spread->count++;
    spread->sum += value;
    spread->squares += value * value;
}

double gof_mean(const struct gof_spread *spread)
{
    return spread->sum / spread->count;
}

double gof_error_square(const struct gof_spread *spread)
{
    double const mean = gof_mean(spread);
    double const variance = (spread->squares - spread->count * mean * mean) / (spread->count - 1);
    return fmax(0, variance) / spread->count;
}

uint32_t gof_differences(const char *name, const char *const *names, uint32_t count,
                         const struct gof_spread *ours, const struct gof_spread *twins)
{
    uint32_t bad = 0;
    for (uint32_t i = 0; i < count; i++) {
        double const mean = gof_mean(&ours[i]);
        double const difference = gof_mean(&twins[i]) - mean;
        double const error = sqrt(gof_error_square(&ours[i]) + gof_error_square(&twins[i]));
        bool const agrees = fabs(difference) <= GOF_ERRORS * error + 1e-9 * (1 + fabs(mean));
        if (i == 0 || !agrees)
            print_message("%-40s %-22s %.6g, twin %+.6g: %.2f standard errors%s\n", name, names[i],
                          mean, difference, error > 0 ? difference / error : 0.0,
                          agrees ? "" : "  BAD");
        bad += agrees ? 0 : 1;
    }
    return bad;
}
