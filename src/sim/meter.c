/* Recording the regret of a loop that plays slot by slot. */
#include "tacit/sim.h"

/* Slots between two looks at whether to stop. */
#define SPAN_MAX (UINT64_C(1) << 20)

struct tacit_sim_meter tacit_sim_meter_start(const struct tacit_sim *sim, double *regret)
{
    TACIT_ASSERT(regret != NULL);
    return (struct tacit_sim_meter){.points = sim->points,
                                    .point_count = sim->point_count,
                                    .horizon = sim->horizon,
                                    .regret = regret};
}

uint64_t tacit_sim_meter_span(const struct tacit_sim_meter *meter, uint64_t slot)
{
    TACIT_ASSERT(slot <= meter->horizon);
    uint64_t const goal =
        meter->next < meter->point_count ? meter->points[meter->next] : meter->horizon;
    TACIT_ASSERT(goal >= slot);
    return goal - slot < SPAN_MAX ? goal - slot : SPAN_MAX;
}

void tacit_sim_meter_record(struct tacit_sim_meter *meter, uint64_t slot, double regret)
{
    if (meter->next == meter->point_count || meter->points[meter->next] > slot)
        return;
    TACIT_ASSERT(meter->points[meter->next] == slot);
    meter->regret[meter->next++] = regret;
}

void tacit_sim_meter_end(struct tacit_sim_meter *meter, double regret)
{
    while (meter->next < meter->point_count)
        meter->regret[meter->next++] = regret;
}
