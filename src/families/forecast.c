/* How long it takes until elimination along a ladder tells the arms apart, by formula: what is
 * expected to be released goes into the bounds as they are, and what is left to chance is taken for
 * normal. */
#include "forecast.h"
#include <math.h>
#include "tacit/linalg.h"

#define STEADY 1.002   /* two horizons are the same */
#define ROUNDS_MAX 40u /* of looking for it */

double forecast_variance(double mean)
{
    double const inside = fmin(fmax(mean, 0), 1);
    return inside * (1 - inside);
}

double forecast_chance(double margin, double variance)
{
    if (!(variance > 0))
        return margin >= 0 ? 1 : 0;
    return tacit_linalg_normal_cdf(margin / sqrt(variance));
}

/* Of so many terms in each of two sums. */
static double terms_of(double count, double epsilon)
{
    return isfinite(epsilon) && count > 0 ? 4 * count / (epsilon * epsilon) : 0;
}

double forecast_noise(const struct tacit_bounds_sum *sum, const struct tacit_bounds_noise *noise)
{
    return terms_of((double)sum->noises, noise->epsilon) +
           terms_of((double)noise->per_release * noise->releases, noise->shared);
}

/* Chance that this arm's upper bound is below the best one's lower bound. */
static double chance_gone(const struct tacit_bounds_noise *noise,
                          const struct tacit_bounds_sum *sum, double log_level, double best,
                          double mean)
{
    double const steps = (double)TACIT_STEPS * (double)sum->pulls;
    double const pulls = (double)sum->pulls;
    struct tacit_bounds_sum high = *sum;
    struct tacit_bounds_sum low = *sum;
    high.steps = llround(best * steps);
    low.steps = llround(mean * steps);
    double const margin = tacit_bounds_lower_of(&high, noise, log_level) -
                          tacit_bounds_upper_of(&low, noise, log_level);
    double const variance = (forecast_variance(best) + forecast_variance(mean)) / pulls +
                            forecast_noise(sum, noise) / (pulls * pulls);
    return forecast_chance(margin, variance);
}

/* What is used after this rung: all agents' releases of an arm, by counts alone. */
static struct tacit_bounds_sum sum_after(const struct tacit_phases *phases, const uint64_t *rungs,
                                         uint32_t count, double log_level,
                                         struct tacit_bounds_noise *noise)
{
    struct tacit_bounds_sum releases[TACIT_BOUNDS_RELEASES_MAX];
    struct tacit_bounds_sum sum;
    TACIT_ASSERT(count >= 1 && count <= TACIT_BOUNDS_RELEASES_MAX);
    for (uint32_t i = 0; i < count; i++)
        releases[i] = (struct tacit_bounds_sum){.pulls = phases->agent_count *
                                                         (rungs[i] - (i == 0 ? 0 : rungs[i - 1])),
                                                .noises = phases->agent_count};
    *noise = tacit_bounds_noise_of(phases->epsilon_per_reward, phases->floor_milli);
    (void)tacit_bounds_suffix_of(releases, count, noise, log_level, &sum);
    return sum;
}

/* Slots until the arms are told apart, if delta is that of this horizon. NaN: not on the ladder. */
static double slots_at(const struct tacit_phases *phases, const double *means, double delay)
{
    uint64_t rungs[TACIT_BOUNDS_RELEASES_MAX];
    uint32_t const count = tacit_phases_climb(phases, rungs);
    uint32_t best = 0;
    double slots = 0;
    double left = phases->arm_count; /* in the slow runs, the best one included */
    for (uint32_t arm = 1; arm < phases->arm_count; arm++)
        best = means[arm] > means[best] ? arm : best;
    for (uint32_t e = 1; e <= count; e++) {
        double const level = tacit_bounds_level(phases->arm_count, e, tacit_phases_delta(phases));
        struct tacit_bounds_noise noise;
        struct tacit_bounds_sum const sum = sum_after(phases, rungs, e, level, &noise);
        double decided = 1;
        slots += (double)(rungs[e - 1] - (e == 1 ? 0 : rungs[e - 2])) * left + delay;
        left = 1;
        for (uint32_t arm = 0; arm < phases->arm_count; arm++) {
            if (arm == best)
                continue;
            double const gone = chance_gone(&noise, &sum, level, means[best], means[arm]);
            decided *= gone;
            left += gone < FORECAST_SHARE ? 1 : 0;
        }
        if (decided >= FORECAST_SHARE)
            return slots;
    }
    return NAN;
}

double forecast_ladder_slots(const struct tacit_phases *phases, const double *means, double delay)
{
    struct tacit_phases at = *phases;
    double horizon = 1e6;
    for (uint32_t i = 0; i < ROUNDS_MAX; i++) {
        at.horizon = (uint64_t)fmax(horizon, 2);
        double const slots = slots_at(&at, means, delay);
        if (isnan(slots)) { /* the ladder ends at the horizon */
            horizon *= 4;
            if (horizon > (double)TACIT_HORIZON_MAX)
                return NAN;
            continue;
        }
        bool const is_steady = slots <= horizon * STEADY && (i > 0 && slots >= horizon / STEADY);
        bool const is_free = phases->confidence > 0; /* no bound depends on the horizon */
        horizon = slots;
        if (is_steady || is_free)
            break;
    }
    return ceil(horizon);
}

/* A mean reward as a part of the public range. */
static double level_of(double mean, const struct tacit_scale *scale)
{
    if (scale->kind != TACIT_SCALE_STEPS)
        return mean;
    return (mean - scale->lo) / (scale->hi - scale->lo);
}

bool forecast_means(const struct tacit_experiment *experiment, double *levels)
{
    enum tacit_env_kind const kind = experiment->sim.env.kind;
    uint32_t const arms = experiment->sim.env.arm_count;
    double first = -INFINITY;
    double second = -INFINITY;
    if (experiment->global_means == NULL || arms < 2 || kind == TACIT_ENV_GAUSSIAN)
        return false;
    for (uint32_t arm = 0; arm < arms; arm++) {
        double const level = level_of(experiment->global_means[arm], &experiment->mechanism.scale);
        levels[arm] = level;
        second = level > first ? first : fmax(second, level);
        first = fmax(first, level);
    }
    return first > second && first <= 1 && second >= 0;
}
