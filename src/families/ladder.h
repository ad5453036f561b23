/* Ladders of releases (tacit/phases.h), as elimination with exact bounds, the phased index and
 * votes of two aggregators have them: which are refused, and the confidence of what they bring. */
#ifndef TACIT_FAMILIES_LADDER_H
#define TACIT_FAMILIES_LADDER_H
#include "tacit/family.h"
#include "tacit/phases.h"

/* What the keys growth and confidence may be. */
#define LADDER_GROWTH_RANGE CONFIG_ABOVE(1, 4)
#define LADDER_CONFIDENCE_RANGE                                                                    \
    {                                                                                              \
        0.5, 1, false, false, true                                                                 \
    }

/* What the cores would refuse of this schedule, and a horizon that the first plan does not fit: the
 * key (of an experiment's file), and in words why. NULL: nothing. */
#define LADDER_REFUSAL_BYTES 240u
const char *ladder_refusal(const struct tacit_phases *schedule, char text[LADDER_REFUSAL_BYTES]);

/* Refuses what it names, in the keys of an experiment's file. */
enum tacit_status ladder_check_plan(const struct tacit_experiment *experiment,
                                    const struct tacit_phases *schedule, struct tacit_error *error);

/* The confidence of intervals and answers: that which the file asks for, or 95 %. */
double ladder_confidence(double confidence);
#endif
