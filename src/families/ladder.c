/* Which ladders are refused, and in which words: the same for experiments and for coordinators. */
#include "ladder.h"
#include <stdio.h>
#include <string.h>

#define CONFIDENCE_SHOWN 0.95 /* of intervals and answers where the file asks for none */

double ladder_confidence(double confidence)
{
    return confidence > 0 ? confidence : CONFIDENCE_SHOWN;
}

static const char *refuse_schedule(const struct tacit_phases *schedule,
                                   char text[LADDER_REFUSAL_BYTES])
{
    struct tacit_phases usual = *schedule;
    usual.growth = TACIT_PHASES_GROWTH;
    bool const is_growth = tacit_phases_is_valid(&usual);
    (void)snprintf(text, LADDER_REFUSAL_BYTES, "%s",
                   is_growth
                       ? "an arm has at most 64 releases, and with this growth they do not reach "
                         "the horizon; allowed: a larger one, like 2"
                       : "sums of all rewards must stay below 2^62 steps: agents times horizon "
                         "below 2^42 (and noise beside it); allowed: a shorter horizon, fewer "
                         "agents or a larger epsilon");
    return is_growth ? "protocol.growth" : "horizon";
}

/* A run whose first plan does not fit learns nothing and tells nobody (EXACT-BOUNDS 4.5, 5.2). */
static const char *refuse_horizon(const struct tacit_phases *schedule,
                                  char text[LADDER_REFUSAL_BYTES])
{
    struct tacit_phases longer = *schedule;
    uint64_t needed = tacit_phases_horizon_min(schedule);
    if (needed <= schedule->horizon)
        return NULL;
    while (needed > longer.horizon && needed <= TACIT_HORIZON_MAX) {
        longer.horizon = needed; /* delta = 1/T: a longer horizon needs a little more */
        needed = tacit_phases_horizon_min(&longer);
    }
    if (needed > TACIT_HORIZON_MAX)
        (void)snprintf(text, LADDER_REFUSAL_BYTES,
                       "no horizon is long enough for the first plan; allowed: fewer arms, more "
                       "agents or a larger epsilon");
    else
        (void)snprintf(text, LADDER_REFUSAL_BYTES,
                       "%llu is too short for the first plan of %u arms at %u agents; allowed: "
                       "at least %llu",
                       (unsigned long long)schedule->horizon, schedule->arm_count,
                       schedule->agent_count, (unsigned long long)longer.horizon);
    return "horizon";
}

const char *ladder_refusal(const struct tacit_phases *schedule, char text[LADDER_REFUSAL_BYTES])
{
    return tacit_phases_is_valid(schedule) ? refuse_horizon(schedule, text)
                                           : refuse_schedule(schedule, text);
}
