/* Thompson sampling by a threshold and what may exceed it: see thompson.h.
 * References: Agrawal, Goyal 2012 (the law); Devroye 1986, VII.2.3 (hats of log-concave densities).
 * Tested by: tests/oracle/thompson_oracle.c, tests/unit/arms.c, tests/oracle/index_regret.c */
#include "thompson.h"
#include <math.h>
#include "../random/binomial.h"

/* From this bound on a hat is of no use: the arm is drawn each time. Its weight is more than any
 * draw of an exponential (at most 53 ln 2), and small enough to keep the digits of the others. */
#define BOUND_MAX 0.25
#define WEIGHT_SURE 40.0
/* A logistic curve of this slope is the normal law to 1 %. */
#define LOGISTIC 1.702
#define LOAD_MIN 2.0   /* what the threshold aims at, beside ln K */
#define STEPS_MAX 40u  /* of Newton's method */
#define MARGIN 0x1p-40 /* of the threshold from 0 and 1 */
#define HALF_PI 1.57079632679489661923

struct posterior {
    double successes;
    double failures;
};

static struct posterior posterior_of(const struct thompson *race, uint32_t arm)
{
    double const n = (double)race->pulls[arm];
    double const sum =
        race->is_real ? race->sums[arm].real : (double)(race->sums[arm].steps / TACIT_STEPS);
    double const successes = floor(sum + 0.5);
    return (struct posterior){successes, n - successes};
}

/* ---- Hats ---- */

/* Minus the derivative of the log-density at x: what an exponential hat from there falls with. */
static double fall_at(const struct posterior *arm, double x)
{
    return arm->failures / (1 - x) - arm->successes / x;
}

/* The integral of e^(-fall d) over d in [0, width]. */
static double hat_area(double fall, double width)
{
    double const drop = fall * width;
    return drop > 1e-8 ? -expm1(-drop) / fall : width;
}

/* A draw of d from that law, between 0 and width. */
static double draw_under_hat(struct tacit_rng *rng, double fall, double width)
{
    double const drop = fall * width;
    double const u = tacit_rng_uniform(rng);
    double const d = drop > 1e-8 ? -log1p(u * expm1(-drop)) / fall : u * width;
    return d < width ? d : width;
}

/* Density over hat, at a distance d from the x where they touch; v, w: d as a part of x and of
 * 1 - x, signed. Never above 1: the logarithm is concave. */
static double density_over_hat(const struct posterior *arm, double v, double w)
{
    return exp(arm->successes * (log1p(v) - v) + arm->failures * (log1p(-w) + w));
}

static double density(const struct posterior *arm, double x)
{
    double const n = arm->successes + arm->failures;
    return (n + 1) * binomial_mass(n, arm->successes, x);
}

/* P(draw > x) is not above this; 1 where the hat does not fall. */
static double bound_above(const struct posterior *arm, double x)
{
    double const fall = fall_at(arm, x);
    return fall < 0 ? 1 : density(arm, x) * hat_area(fall, 1 - x);
}

/* P(draw <= x) is not above this. */
static double bound_below(const struct posterior *arm, double x)
{
    double const rise = -fall_at(arm, x);
    return rise < 0 ? 1 : density(arm, x) * hat_area(rise, x);
}

/* ---- Weights ---- */

static double weight_of(const struct thompson *race, uint32_t arm)
{
    struct posterior const posterior = posterior_of(race, arm);
    double const log_none = (1 + posterior.successes) * log(race->threshold);
    if (posterior.failures < 1) /* P(draw <= x) is x^(1 + s): no bound is needed */
        return -log_none < WEIGHT_SURE ? -log_none : WEIGHT_SURE;
    double const bound = bound_above(&posterior, race->threshold);
    return bound < BOUND_MAX ? -log1p(-bound) : WEIGHT_SURE;
}

void thompson_set(const struct thompson *race, uint32_t arm)
{
    TACIT_ASSERT(arm < race->arm_count);
    double *const weights = race->weights;
    uint32_t node = race->leaves + arm;
    weights[node] = weight_of(race, arm);
    for (node /= 2; node >= 1; node /= 2)
        weights[node] = weights[2 * node] + weights[2 * node + 1];
}

void thompson_rebuild(const struct thompson *race)
{
    double *const weights = race->weights;
    for (uint32_t i = 0; i < race->leaves; i++)
        weights[race->leaves + i] = i < race->arm_count ? weight_of(race, i) : 0;
    for (uint32_t node = race->leaves - 1; node >= 1; node--)
        weights[node] = weights[2 * node] + weights[2 * node + 1];
}

/* ---- The threshold ---- */

struct load {
    double value; /* of the sum over arms of -ln P(draw <= x), about */
    double slope;
};

/* On the scale of the angle asin sqrt(x) a posterior is nearly normal, cut off at a right angle. */
static struct load load_of(const struct posterior *arm, double angle)
{
    double const n = arm->successes + arm->failures;
    double const median = (arm->successes + 2.0 / 3) / (n + 4.0 / 3);
    double const middle = asin(sqrt(median));
    double const scale = LOGISTIC * 2 * sqrt(n + 2);
    double const y = (angle - middle) * scale;
    double const odds = exp(y < -30 ? 30 : -y);
    double const odds_cut = exp((middle - HALF_PI) * scale);
    return (struct load){(y < -30 ? -y : log1p(odds)) - log1p(odds_cut),
                         -scale * odds / (1 + odds)};
}

/* x = sin(angle)^2. Where nothing failed, ln P(draw <= x) = (1 + s) ln x. */
static struct load load_at(const struct thompson *race, double angle)
{
    double const log_x = 2 * log(sin(angle));
    double const log_slope = 2 / tan(angle);
    struct load load = {0, 0};
    for (uint32_t arm = 0; arm < race->arm_count; arm++) {
        struct posterior const posterior = posterior_of(race, arm);
        struct load part = {-(1 + posterior.successes) * log_x,
                            -(1 + posterior.successes) * log_slope};
        if (posterior.failures > 0)
            part = load_of(&posterior, angle);
        load.value += part.value;
        load.slope += part.slope;
    }
    return load;
}

/* Newton's steps from below: the load is convex, and falls to nothing at a right angle. */
double thompson_threshold(const struct thompson *race, double guess)
{
    double const wanted = LOAD_MIN + log((double)race->arm_count);
    double angle = asin(sqrt(guess > MARGIN ? guess : MARGIN));
    struct load load = load_at(race, angle);
    if (load.value < wanted) {
        angle = asin(sqrt(MARGIN));
        load = load_at(race, angle);
    }
    for (uint32_t i = 0; i < STEPS_MAX && load.value > 1.05 * wanted; i++) {
        angle += (wanted - load.value) / load.slope;
        load = load_at(race, angle);
    }
    double const root = sin(angle);
    double const x = root * root;
    return x < 1 - MARGIN ? x : 1 - MARGIN;
}

/* ---- Draws ---- */

struct draws {
    const struct thompson *race;
    struct tacit_rng *rng;
    uint32_t best; /* TACIT_NO_ARM: none yet */
    double largest;
};

static void enter(struct draws *draws, uint32_t arm, double draw)
{
    if (draws->best != TACIT_NO_ARM && draw <= draws->largest)
        return;
    draws->best = arm;
    draws->largest = draw;
}

static double draw_posterior(struct tacit_rng *rng, const struct posterior *arm)
{
    return tacit_rng_beta(rng, 1 + arm->successes, 1 + arm->failures);
}

/* An arm that was struck: its draw, if it is above the threshold. Where nothing failed its power
 * 1 + s is uniform. */
static void draw_above(struct draws *draws, uint32_t arm)
{
    struct thompson const *const race = draws->race;
    struct posterior const posterior = posterior_of(race, arm);
    double const x = race->threshold;
    double draw = 0;
    if (race->weights[race->leaves + arm] >= WEIGHT_SURE) {
        draw = draw_posterior(draws->rng, &posterior);
    } else if (posterior.failures < 1) {
        double const power = 1 + posterior.successes;
        draw = exp(log1p(tacit_rng_uniform(draws->rng) * expm1(power * log(x))) / power);
    } else {
        double const d = draw_under_hat(draws->rng, fall_at(&posterior, x), 1 - x);
        double const kept = density_over_hat(&posterior, d / x, d / (1 - x));
        draw = tacit_rng_uniform(draws->rng) < kept ? x + d : 0;
    }
    if (draw > x)
        enter(draws, arm, draw);
}

/* A draw given that it is not above the threshold. */
static double draw_below(struct tacit_rng *rng, const struct posterior *arm, double x)
{
    if (arm->failures < 1)
        return x * exp(log(tacit_rng_uniform(rng)) / (1 + arm->successes));
    bool const has_hat = bound_below(arm, x) < BOUND_MAX;
    double const rise = -fall_at(arm, x);
    for (;;) {
        double const draw = has_hat ? x - draw_under_hat(rng, rise, x) : draw_posterior(rng, arm);
        double const d = x - draw;
        if (has_hat ? tacit_rng_uniform(rng) < density_over_hat(arm, -d / x, -d / (1 - x)) : d >= 0)
            return draw;
    }
}

/* The first arm from `from` on that a point strikes; P or more if there is none. */
static uint32_t next_struck(const struct thompson *race, uint32_t from, struct tacit_rng *rng)
{
    double const *const weights = race->weights;
    if (from >= race->arm_count)
        return race->leaves;
    double rest = tacit_rng_exponential(rng);
    uint32_t node = race->leaves + from;
    while (rest >= weights[node]) {
        rest -= weights[node];
        while (node % 2 == 1) { /* nothing to the right below this parent */
            node /= 2;
            if (node <= 1)
                return race->leaves;
        }
        node++;
    }
    while (node < race->leaves) {
        node *= 2;
        if (rest >= weights[node]) {
            rest -= weights[node];
            node++;
        }
    }
    return node - race->leaves;
}

uint32_t thompson_choose(const struct thompson *race, struct tacit_rng *rng)
{
    struct draws draws = {.race = race, .rng = rng, .best = TACIT_NO_ARM};
    for (uint32_t arm = next_struck(race, 0, rng); arm < race->arm_count;
         arm = next_struck(race, arm + 1, rng))
        draw_above(&draws, arm);
    for (uint32_t arm = 0; arm < race->arm_count && !(draws.largest > race->threshold); arm++) {
        struct posterior const posterior = posterior_of(race, arm);
        enter(&draws, arm, draw_below(rng, &posterior, race->threshold));
    }
    TACIT_ASSERT(draws.best < race->arm_count);
    return draws.best;
}
