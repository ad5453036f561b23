/* Which schedules of play in phases are refused; the confidence of what is shown. */
#ifndef TACIT_PHASED_LADDER_H
#define TACIT_PHASED_LADDER_H
#include "tacit/phases.h"

/* What the cores would refuse of this schedule, and a horizon that the first plan does not fit: the
 * key (of an experiment's file), and in words why. NULL: nothing. */
#define PHASED_REFUSAL_BYTES 240u
const char *phased_schedule_refusal(const struct tacit_phases *schedule,
                                    char text[PHASED_REFUSAL_BYTES]);

/* The confidence of the intervals that an answer comes from: the schedule's, or 95 %. */
double phased_confidence(const struct tacit_phases *schedule);
#endif
