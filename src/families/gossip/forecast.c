/* What regret releases that double cost, by formula (src/proto/gossip/NOTES.md, Forecast): an arm
 * climbs a rung more as long as its upper bound is no less than the leader's at the end. */
#include <math.h>
#include "../forecast.h"
#include "plan.h"

struct climb {
    const struct tacit_phases *schedule;
    uint64_t rungs[TACIT_BOUNDS_RELEASES_MAX];
    uint32_t rung_count;
    double log_level;
};

/* What is used of an arm of which every agent has released `count` blocks. */
static struct tacit_bounds_sum sum_after(const struct climb *climb, uint32_t count, double mean)
{
    struct tacit_bounds_sum releases[TACIT_BOUNDS_RELEASES_MAX];
    struct tacit_bounds_sum sum;
    uint64_t const agents = climb->schedule->agent_count;
    TACIT_ASSERT(count >= 1 && count <= climb->rung_count);
    for (uint32_t i = 0; i < count; i++)
        releases[i] = (struct tacit_bounds_sum){
            .pulls = agents * (climb->rungs[i] - (i == 0 ? 0 : climb->rungs[i - 1])),
            .noises = (uint32_t)agents};
    (void)tacit_bounds_suffix(releases, count, climb->schedule->epsilon_per_reward,
                              climb->log_level, &sum);
    sum.steps = llround(mean * (double)TACIT_STEPS * (double)sum.pulls);
    return sum;
}

/* Of the mean that the sum makes, noise included. */
static double variance_of(const struct climb *climb, const struct tacit_bounds_sum *sum,
                          double mean)
{
    double const epsilon = climb->schedule->epsilon_per_reward;
    double const pulls = (double)sum->pulls;
    double const noise =
        isfinite(epsilon) ? 2 * (double)sum->noises / (epsilon * epsilon * pulls * pulls) : 0;
    return forecast_variance(mean) / pulls + noise;
}

/* Chance that an arm with `count` blocks challenges the leader, which has `lead` of them. */
static double chance_due(const struct climb *climb, uint32_t count, double mean, uint32_t lead,
                         double best)
{
    double const epsilon = climb->schedule->epsilon_per_reward;
    struct tacit_bounds_sum const own = sum_after(climb, count, mean);
    struct tacit_bounds_sum const leads = sum_after(climb, lead, best);
    double const margin = tacit_bounds_upper(&own, epsilon, climb->log_level) -
                          tacit_bounds_upper(&leads, epsilon, climb->log_level);
    return forecast_chance(margin,
                           variance_of(climb, &own, mean) + variance_of(climb, &leads, best));
}

/* Expected pulls of an arm, by each agent. */
static double pulls_of(const struct climb *climb, double mean, uint32_t lead, double best)
{
    double pulls = (double)climb->rungs[0];
    double due = 1;
    for (uint32_t count = 1; count < climb->rung_count && due > 1e-9; count++) {
        due = fmin(due, chance_due(climb, count, mean, lead, best));
        pulls += due * (double)(climb->rungs[count] - climb->rungs[count - 1]);
    }
    return pulls;
}

/* How many rungs an arm climbs within so many pulls; at least one. */
static uint32_t highest_within(const struct climb *climb, double pulls)
{
    uint32_t count = 1;
    while (count < climb->rung_count && (double)climb->rungs[count] <= pulls)
        count++;
    return count;
}

/* The leader climbs as far as the others leave it slots; what they take depends on how far. */
static double regret_at(const struct climb *climb, const double *means, uint32_t best)
{
    uint32_t const arms = climb->schedule->arm_count;
    double const slots = (double)climb->schedule->horizon;
    uint32_t lead = highest_within(climb, slots);
    double others = 0;
    double regret = 0;
    for (;; lead--) {
        others = regret = 0;
        for (uint32_t arm = 0; arm < arms; arm++) {
            if (arm == best)
                continue;
            double const pulls = fmin(pulls_of(climb, means[arm], lead, means[best]), slots);
            others += pulls;
            regret += pulls * (means[best] - means[arm]);
        }
        if (lead == 1 || others + (double)climb->rungs[lead - 1] <= slots)
            break;
    }
    double const room = slots - (double)climb->rungs[0];
    return others > room ? regret * room / others : regret;
}

double gossip_forecast_regret(const struct tacit_experiment *experiment)
{
    struct gossip_plan const *const plan = experiment->plan;
    struct gossip_keys const *const keys = experiment->config->keys;
    double const *const means = experiment->global_means;
    struct climb climb = {.schedule = &plan->schedule};
    uint32_t best = 0;
    if (!keys->doubles || means == NULL || experiment->sim.env.row_count != 1 ||
        experiment->sim.env.kind != TACIT_ENV_BERNOULLI)
        return NAN;
    for (uint32_t arm = 1; arm < plan->schedule.arm_count; arm++)
        best = means[arm] > means[best] ? arm : best;
    climb.rung_count = tacit_phases_climb(&plan->schedule, climb.rungs);
    climb.log_level =
        log(fmax(3, (double)plan->schedule.agent_count * (double)plan->schedule.horizon));
    if (climb.rung_count == 0)
        return NAN;
    return plan->schedule.agent_count * regret_at(&climb, means, best);
}
