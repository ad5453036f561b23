/* The mean gap of Assumption 4 (Allesiardo, Feraud, Maillard 2017): how much better the best arm
 * was than another on average up to now, where every arm is sampled as often. */
#include <math.h>
#include "play.h"

#define POINTS 4096u /* where the sign of the gap is looked at */

/* The average over players; the paper's arms are the same for all. */
static double mean_of(const struct vote_world *world, uint32_t arm)
{
    double sum = 0;
    for (uint32_t row = 0; row < world->env->row_count; row++)
        sum += tacit_env_mean(world->env, row, arm);
    return sum / (double)world->env->row_count;
}

/* Sum over j < samples of the mean of an arm that drifts. */
static double sum_drifting(const struct vote_world *world, double mean, double samples)
{
    double const end = world->drift < 0 ? world->drift_floor : 1;
    double const until = (end - mean) / world->drift; /* samples before it stays where it is */
    double const moving = until > 0 ? fmin(ceil(until), samples) : 0;
    return moving * mean + world->drift * moving * (moving - 1) / 2 + (samples - moving) * end;
}

/* Sum of the mean of an arm over the samples before this one. */
static double sum_of(const struct vote_world *world, uint32_t arm, uint64_t samples)
{
    uint32_t const arms = world->env->arm_count;
    if (world->switch_every == 0) {
        double const mean = mean_of(world, arm);
        return world->drift == 0 || arm == world->drift_spare
                   ? mean * (double)samples
                   : sum_drifting(world, mean, (double)samples);
    }
    uint64_t const whole = samples / world->switch_every;
    double sum =
        (double)(samples % world->switch_every) * mean_of(world, (uint32_t)((arm + whole) % arms));
    for (uint32_t source = 0; source < arms; source++) {
        uint64_t const ahead = (source + arms - arm) % arms; /* the first stretch in which it is */
        uint64_t const stretches = whole > ahead ? (whole - ahead - 1) / arms + 1 : 0;
        sum += (double)(stretches * world->switch_every) * mean_of(world, source);
    }
    return sum;
}

double vote_mean_gap(const struct vote_world *world, uint32_t best, uint64_t samples)
{
    double const own = sum_of(world, best, samples);
    double least = INFINITY;
    for (uint32_t arm = 0; arm < world->env->arm_count; arm++)
        if (arm != best)
            least = fmin(least, (own - sum_of(world, arm, samples)) / (double)samples);
    return least;
}

uint32_t vote_gap_arm(const struct vote_world *world, uint64_t samples)
{
    uint32_t best = 0;
    double most = sum_of(world, 0, samples);
    for (uint32_t arm = 1; arm < world->env->arm_count; arm++) {
        double const sum = sum_of(world, arm, samples);
        if (sum > most) {
            best = arm;
            most = sum;
        }
    }
    return best;
}

uint64_t vote_gap_start(const struct vote_world *world, double failure)
{
    double const arms = (double)world->env->arm_count;
    double const start = arms * ceil(fmax(1, log(arms / failure)));
    return start < (double)world->horizon ? (uint64_t)start : world->horizon;
}

uint64_t vote_gap_ends(const struct vote_world *world, double failure)
{
    uint64_t const start = vote_gap_start(world, failure);
    uint32_t const best = vote_gap_arm(world, start);
    if (world->env->arm_count < 2)
        return 0;
    double const ratio = (double)world->horizon / (double)start;
    uint64_t good = 0;
    for (uint32_t i = 0; i <= POINTS; i++) {
        uint64_t bad = i == POINTS
                           ? world->horizon
                           : (uint64_t)((double)start * pow(ratio, (double)i / (double)POINTS));
        if (vote_mean_gap(world, best, bad) > 0) {
            good = bad;
            continue;
        }
        while (bad - good > 1 && good > 0) {
            uint64_t const middle = good + (bad - good) / 2;
            if (vote_mean_gap(world, best, middle) > 0)
                good = middle;
            else
                bad = middle;
        }
        return bad;
    }
    return 0;
}
