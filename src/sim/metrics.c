/* Names of metrics, and the points of a curve. */
#include "tacit/sim.h"
#include <math.h>

const char *tacit_sim_metric_name(enum tacit_sim_metric metric)
{
    static const char *const names[] = {
#define X(name, text) text,
        TACIT_SIM_METRICS(X)
#undef X
    };
    TACIT_ASSERT(metric < TACIT_SIM_METRIC_COUNT);
    return names[metric];
}

uint32_t tacit_sim_log_points(uint64_t horizon, uint32_t wanted, uint64_t *points)
{
    TACIT_ASSERT(wanted >= 1);
    uint32_t count = 0;
    for (uint32_t i = 1; i <= wanted; i++) {
        double const share = (double)i / wanted;
        uint64_t const slot =
            i == wanted ? horizon : (uint64_t)floor(pow((double)horizon, share) + 0.5);
        if (slot >= 1 && slot <= horizon && (count == 0 || slot > points[count - 1]))
            points[count++] = slot;
    }
    return count;
}
