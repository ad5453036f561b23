/* How long it takes until epoch elimination tells the arms apart, by formula: S(r) and C(r) as the
 * judges have them, the means as they are, and what is left to chance taken for normal. */
#include <math.h>
#include "../forecast.h"
#include "plan.h"

#define STEADY 1.002
#define ROUNDS_MAX 40u

/* Chance that an arm goes in this epoch (Alg. 1 l. 13-15): its history mean is 2 C(r) behind. */
static double chance_gone(const struct tacit_elim_schedule *schedule, double pulls, uint32_t epoch,
                          double radius, double best, double mean)
{
    double const reports = schedule->report_count;
    double const epsilon = schedule->epsilon_per_reward;
    double const noise =
        isfinite(epsilon) ? 4 * epoch / (reports * epsilon * epsilon * pulls * pulls) : 0;
    double const variance =
        (forecast_variance(best) + forecast_variance(mean)) / (reports * pulls) + noise;
    return forecast_chance(best - mean - 2 * radius, variance);
}

/* Slots until the arms are told apart at this schedule's horizon; NaN: never. */
static double slots_at(const struct tacit_elim_schedule *schedule, const double *means,
                       double delay)
{
    uint32_t best = 0;
    double slots = 0;
    double left = schedule->arm_count; /* in the slow runs, the best one included */
    uint64_t pulls = 0;
    for (uint32_t arm = 1; arm < schedule->arm_count; arm++)
        best = means[arm] > means[best] ? arm : best;
    for (uint32_t epoch = 1; epoch < TACIT_ELIM_EPOCHS_MAX && pulls < TACIT_HORIZON_MAX; epoch++) {
        uint32_t const active = (uint32_t)llround(left);
        uint64_t const before = pulls;
        double decided = 1;
        pulls = tacit_elim_pulls(schedule, epoch, active, before);
        double const radius =
            tacit_elim_radius(schedule, epoch, active, pulls, schedule->report_count);
        slots += (double)(pulls - before) * left + (pulls > before ? delay : 0);
        left = 1;
        for (uint32_t arm = 0; arm < schedule->arm_count; arm++) {
            if (arm == best)
                continue;
            double const gone =
                chance_gone(schedule, (double)pulls, epoch, radius, means[best], means[arm]);
            decided *= gone;
            left += gone < FORECAST_SHARE ? 1 : 0;
        }
        if (decided >= FORECAST_SHARE)
            return slots;
    }
    return NAN;
}

static double paper_slots(struct tacit_elim_schedule schedule, const double *means, double delay)
{
    double horizon = 1e6;
    for (uint32_t i = 0; i < ROUNDS_MAX; i++) {
        schedule.horizon = (uint64_t)fmax(horizon, 2);
        double const slots = slots_at(&schedule, means, delay);
        bool const is_steady = slots <= horizon * STEADY && slots >= horizon / STEADY;
        if (isnan(slots) || slots > (double)TACIT_HORIZON_MAX)
            return NAN;
        horizon = slots;
        if (is_steady)
            break;
    }
    return ceil(horizon);
}

double elim_forecast(const struct tacit_experiment *experiment)
{
    static double levels[TACIT_ARMS_MAX];
    struct elim_keys const *const keys = experiment->config->keys;
    double const delay = experiment->network == NULL ? 0 : experiment->network->delay;
    struct tacit_elim_schedule const schedule = {
        .arm_count = experiment->sim.env.arm_count,
        .report_count = tacit_elim_report_count(keys->is_exact ? 1 : keys->participation,
                                                experiment->sim.agent_count),
        .horizon = experiment->sim.horizon,
        .epsilon_per_reward = experiment->epsilon_per_reward,
        .floor_milli = experiment->config->floor_milli,
        .gap = 1,
        .growth = keys->is_exact ? keys->growth : 0,
        .confidence = keys->confidence};
    if (keys->round_limit > 0 || keys->components_alike ||
        (experiment->network != NULL && experiment->network->component_count > 1 &&
         !experiment->network->has_sinks) ||
        !forecast_means(experiment, levels))
        return NAN;
    if (!keys->is_exact)
        return paper_slots(schedule, levels, delay);
    struct tacit_phases const phases = tacit_elim_phases(&schedule);
    return forecast_ladder_slots(&phases, levels, delay);
}
