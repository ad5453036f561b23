/* How long an epoch is and how sure it makes us: S(r) and C(r) of Li, Song, Alg. 1. */
#include "tacit/elim.h"
#include <math.h>
#include "internal.h"

uint32_t tacit_elim_report_count(double participation, uint32_t agent_count)
{
    TACIT_ASSERT(participation > 0);
    TACIT_ASSERT(participation <= 1);
    TACIT_ASSERT(agent_count > 0);
    double const count = ceil(participation * agent_count - 1e-9); /* .55 * 100 is 55 */
    return count < 1 ? 1u : (uint32_t)count;
}

double tacit_elim_target_gap(const struct tacit_elim_schedule *schedule, uint32_t epoch)
{
    TACIT_ASSERT(epoch >= 1);
    if (schedule->round_limit == 0)
        return pow(2, -(double)epoch);                                /* l. 3 */
    return pow(schedule->gap, (double)epoch / schedule->round_limit); /* Sec. IV-B */
}

/* log(8 |I| r^2 T) with the natural logarithm (READINGS P1.2). */
static double log_term(double arms, uint32_t epoch, uint64_t horizon)
{
    TACIT_ASSERT(arms >= 1);
    TACIT_ASSERT(horizon >= 1);
    return log(8 * arms * ((double)epoch * epoch) * (double)horizon);
}

/* The paper's N^1.5 eps, with the epsilon that a reward really loses, eps* = N eps. */
static double noise_divisor(const struct tacit_elim_schedule *schedule, double reports)
{
    return sqrt(reports) * schedule->epsilon_per_reward;
}

/* EXACT-BOUNDS 4.1: S_r. */
static uint64_t rung_of(const struct tacit_elim_schedule *schedule, uint32_t epoch)
{
    struct tacit_phases const phases = tacit_elim_phases(schedule);
    uint64_t rung = tacit_phases_first_rung(&phases);
    for (uint32_t e = 1; e < epoch && rung < TACIT_HORIZON_MAX; e++)
        rung = tacit_bounds_next_rung(rung, schedule->growth);
    return rung;
}

uint64_t tacit_elim_pulls(const struct tacit_elim_schedule *schedule, uint32_t epoch,
                          uint32_t active_count, uint64_t pulls_before)
{
    TACIT_ASSERT(epoch >= 1);
    TACIT_ASSERT(active_count >= 1);
    TACIT_ASSERT(schedule->report_count >= 1);
    TACIT_ASSERT(pulls_before <= TACIT_HORIZON_MAX);
    if (elim_is_exact(schedule))
        return rung_of(schedule, epoch);
    double const gap = tacit_elim_target_gap(schedule, epoch);
    double const reports = schedule->report_count;
    /* l. 4: |I^(r-1)| in the first term, K in the second (READINGS P1.4) */
    double pulls = 8 * log_term(active_count, epoch, schedule->horizon) / (reports * (gap * gap));
    if (isfinite(schedule->epsilon_per_reward)) {
        double const root = sqrt(2 * log_term(schedule->arm_count, epoch, schedule->horizon));
        double const noise = 8 * (double)epoch * root / (noise_divisor(schedule, reports) * gap);
        pulls = noise > pulls ? noise : pulls;
    }
    if (!(pulls < (double)TACIT_HORIZON_MAX))
        return TACIT_HORIZON_MAX;
    uint64_t const whole = (uint64_t)ceil(pulls);
    return whole > pulls_before ? whole : pulls_before; /* S may fall as arms leave (P1.3) */
}

double tacit_elim_radius(const struct tacit_elim_schedule *schedule, uint32_t epoch,
                         uint32_t active_count, uint64_t pulls, uint32_t reports)
{
    TACIT_ASSERT(epoch >= 1);
    TACIT_ASSERT(pulls > 0);
    TACIT_ASSERT(reports > 0);
    if (elim_is_exact(schedule)) {
        struct tacit_phases const phases = tacit_elim_phases(schedule);
        struct tacit_bounds_noise noise =
            tacit_bounds_noise_of(schedule->epsilon_per_reward, schedule->floor_milli);
        noise.releases = epoch;
        return tacit_bounds_radius_of(
            reports * pulls, (uint64_t)reports * epoch, &noise,
            tacit_bounds_level(schedule->arm_count, epoch, tacit_phases_delta(&phases)));
    }
    double const samples = (double)reports * (double)pulls;
    /* l. 5 */
    double radius = sqrt(log_term(active_count, epoch, schedule->horizon) / (2 * samples));
    if (isfinite(schedule->epsilon_per_reward)) {
        double const root = sqrt(8 * log_term(schedule->arm_count, epoch, schedule->horizon));
        radius += (double)epoch * root / (noise_divisor(schedule, reports) * (double)pulls);
    }
    return radius;
}
