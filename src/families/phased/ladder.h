/* Which schedules of play in phases are refused; what is shown of arms, and with what confidence.
 */
#ifndef TACIT_PHASED_LADDER_H
#define TACIT_PHASED_LADDER_H
#include "tacit/phased.h"
#include "tacit/phases.h"

/* What the cores would refuse of this schedule, and a horizon that the first plan does not fit: the
 * key (of an experiment's file), and in words why. NULL: nothing. */
#define PHASED_REFUSAL_BYTES 240u
const char *phased_schedule_refusal(const struct tacit_phases *schedule,
                                    char text[PHASED_REFUSAL_BYTES]);

/* The confidence of intervals and answers: that which the file asks for, or 95 %. */
double phased_confidence(double confidence);

/* The arms that cannot be told apart from the best one: their intervals, valid at all times, reach
 * the best lower bound; once it is decided, the leader alone. */
void phased_find_left(const struct tacit_phased_judge_view *judge, const double *lowers,
                      const double *uppers, uint32_t arm_count, uint64_t *left);
#endif
