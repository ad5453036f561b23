/* What a formula says of a file, in a sentence: how many slots it takes to tell its arms apart. */
#ifndef TACIT_PROGRAMS_FORECAST_H
#define TACIT_PROGRAMS_FORECAST_H
#include "tacit/family.h"

#define FORECAST_BYTES 300u

/* The best arm from the next one, in units of reward; NaN: every run has its own means. */
double forecast_gap(const struct tacit_experiment *experiment);

/* Slots a site until 95 % of the runs decide; NaN: there is no formula for this file. */
double forecast_slots(const struct tacit_experiment *experiment);

/* Expected regret of all sites at the file's horizon; NaN: there is no formula for this file. */
double forecast_regret(const struct tacit_experiment *experiment);

/* "to tell 0.025 apart at epsilon 1 takes 107000 slots a site; you have 20000". `unit`: "slots a
 * site"; `how`: in parentheses after it; or NULL. */
void forecast_format(double gap, double epsilon, double slots, const char *unit, const char *how,
                     uint64_t horizon, char text[FORECAST_BYTES]);

/* The sentence, if a formula says that the file's horizon is too short; else an empty text. */
void forecast_warn(const struct tacit_experiment *experiment, char text[FORECAST_BYTES]);
#endif
