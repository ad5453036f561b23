/* Forecasts by formula: what all families use, and how many slots a site until 95 % of the runs of
 * elimination with exact bounds decide, which the phased index is no worse than. */
#ifndef TACIT_FAMILIES_FORECAST_H
#define TACIT_FAMILIES_FORECAST_H
#include "tacit/bounds.h"
#include "tacit/family.h"
#include "tacit/phases.h"

#define FORECAST_SHARE 0.95 /* of the runs */

/* The largest variance that a reward of this mean, in [0, 1], may have. */
double forecast_variance(double mean);

/* Of the noise in the difference of two such sums. */
double forecast_noise(const struct tacit_bounds_sum *sum, const struct tacit_bounds_noise *noise);

/* Chance that a normal number, of this mean and variance, is not below 0. */
double forecast_chance(double margin, double variance);

/* The smallest horizon at which elimination along the ladder of `phases` (whose own horizon does
 * not matter) tells these arms apart; means in [0, 1], the best one alone. `delay`: slots of
 * waiting in a round. NaN: none up to TACIT_HORIZON_MAX. */
double forecast_ladder_slots(const struct tacit_phases *phases, const double *means, double delay);

/* The arms' means in [0, 1], in `levels`. False: there is no formula for this environment, or
 * nothing tells its best arms apart. */
bool forecast_means(const struct tacit_experiment *experiment, double *levels);
#endif
