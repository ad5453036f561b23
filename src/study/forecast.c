/* How many slots it takes to tell the arms of a file apart, by formula, in a sentence. */
#include "forecast.h"
#include <math.h>
#include <stdio.h>
#include "tacit/report.h"

double forecast_gap(const struct tacit_experiment *experiment)
{
    double first = -INFINITY;
    double second = -INFINITY;
    if (experiment->global_means == NULL)
        return NAN;
    for (uint32_t arm = 0; arm < experiment->sim.env.arm_count; arm++) {
        double const mean = experiment->global_means[arm];
        second = mean > first ? first : fmax(second, mean);
        first = fmax(first, mean);
    }
    return first - second;
}

double forecast_slots(const struct tacit_experiment *experiment)
{
    return experiment->family->forecast == NULL ? NAN : experiment->family->forecast(experiment);
}

double forecast_regret(const struct tacit_experiment *experiment)
{
    return experiment->family->forecast_regret == NULL
               ? NAN
               : experiment->family->forecast_regret(experiment);
}

void forecast_format(double gap, double epsilon, double slots, const char *unit, const char *how,
                     uint64_t horizon, char text[FORECAST_BYTES])
{
    char privacy[64] = "without noise";
    char means[240] = "";
    char needed[TACIT_REPORT_COUNT_BYTES];
    char have[TACIT_REPORT_COUNT_BYTES];
    tacit_report_count_text((uint64_t)fmin(slots + 0.5, 1e18), needed);
    tacit_report_count_text(horizon, have);
    if (isfinite(epsilon))
        (void)snprintf(privacy, sizeof privacy, "at epsilon %g", epsilon);
    if (how != NULL)
        (void)snprintf(means, sizeof means, " (%s)", how);
    (void)snprintf(text, FORECAST_BYTES, "to tell %.3g apart %s takes %s %s%s; you have %s", gap,
                   privacy, needed, unit, means, have);
}

void forecast_warn(const struct tacit_experiment *experiment, char text[FORECAST_BYTES])
{
    double const slots = forecast_slots(experiment);
    text[0] = '\0';
    if (slots > (double)experiment->sim.horizon)
        forecast_format(
            forecast_gap(experiment),
            experiment->config->privacy == TACIT_PRIVACY_NONE ? INFINITY
                                                              : experiment->config->epsilon,
            slots,
            experiment->family->forecast_unit == NULL ? "slots a site"
                                                      : experiment->family->forecast_unit,
            NULL, experiment->sim.horizon, text);
}
