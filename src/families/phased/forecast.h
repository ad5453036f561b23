/* Forecasts by formula: how many slots a site until 95 % of the runs decide. What elimination with
 * exact bounds shares with play in phases. */
#ifndef TACIT_FAMILIES_PHASED_FORECAST_H
#define TACIT_FAMILIES_PHASED_FORECAST_H
#include "tacit/family.h"
#include "tacit/phases.h"

#define PHASED_FORECAST_SHARE 0.95 /* of the runs */

/* A mean reward as a part of the public range, and the largest variance that it may have. */
double phased_forecast_level(double mean, const struct tacit_scale *scale);
double phased_forecast_variance(double level);

/* The smallest horizon at which elimination along the ladder of `phases` (whose own horizon does
 * not matter) tells these arms apart; means in [0, 1], the best one alone. `delay`: slots of
 * waiting in a round. NaN: none up to TACIT_HORIZON_MAX. */
double phased_forecast_slots(const struct tacit_phases *phases, const double *means, double delay);

/* The arms' means in [0, 1], in `levels`. False: there is no formula for this environment, or
 * nothing tells its best arms apart. */
bool phased_forecast_means(const struct tacit_experiment *experiment, double *levels);

/* Of the family (tacit/family.h). With a confidence; the index pulls fewer of the arms that are far
 * behind than elimination, for which the formula is. */
double phased_forecast(const struct tacit_experiment *experiment);
#endif
