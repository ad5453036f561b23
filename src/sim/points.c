/* The slots at which the regret is recorded. */
#include "tacit/sim.h"
#include <math.h>

uint32_t tacit_sim_log_points(uint64_t horizon, uint32_t wanted, uint64_t *points)
{
    TACIT_ASSERT(horizon >= 1);
    TACIT_ASSERT(wanted >= 1);
    uint32_t count = 0;
    for (uint32_t i = 1; i <= wanted; i++) {
        double const share = (double)i / wanted;
        uint64_t const slot =
            i == wanted ? horizon : (uint64_t)floor(pow((double)horizon, share) + 0.5);
        if (slot >= 1 && slot <= horizon && (count == 0 || slot > points[count - 1]))
            points[count++] = slot;
    }
    TACIT_ASSERT(count >= 1);
    TACIT_ASSERT(count <= wanted);
    TACIT_ASSERT(points[count - 1] == horizon);
    return count;
}

uint32_t tacit_sim_first_point(const uint64_t *points, uint32_t count, uint64_t slot)
{
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        uint32_t const middle = low + (high - low) / 2;
        if (points[middle] < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
