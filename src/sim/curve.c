/* Regret at the recorded points, without walking through the slots. */
#include "tacit/sim.h"
#include <string.h>

/* Loss of the first `slots` slots of a plan whose arms are played in turn: each arm has had
 * floor(slots/arms) turns, the first slots mod arms one more. A plan that catches up an absent
 * agent may ask arms for unequal counts: none is then played beyond its count, the rest is in
 * proportion. */
static double loss_after(const struct tacit_pull_block *plan, uint32_t plan_count,
                         const double *gaps, uint64_t slots, uint64_t length, double loss)
{
    TACIT_ASSERT(plan_count > 0);
    TACIT_ASSERT(length > 0);
    TACIT_ASSERT(slots <= length);
    uint64_t const turns = slots / plan_count;
    uint64_t const rest = slots % plan_count;
    double lost = 0;
    uint64_t played = 0;
    for (uint32_t i = 0; i < plan_count; i++) {
        uint64_t const wish = turns + (i < rest ? 1 : 0);
        uint64_t const pulls = wish < plan[i].count ? wish : plan[i].count;
        played += pulls;
        lost += (double)pulls * gaps[plan[i].arm];
    }
    if (played == slots)
        return lost;
    return loss * (double)slots / (double)length;
}

enum tacit_status tacit_sim_curve_init(struct tacit_sim_curve *curve, const struct tacit_sim *sim,
                                       void *owner)
{
    TACIT_IMPLIES(sim->point_count > 0, sim->points != NULL);
    *curve = (struct tacit_sim_curve){.points = sim->points, .point_count = sim->point_count};
    curve->step = tacit_sim_new(owner, sim->point_count + (size_t)1, sizeof(double));
    curve->partial = tacit_sim_new(owner, sim->point_count + (size_t)1, sizeof(double));
    return tacit_sim_memory_status(owner);
}

void tacit_sim_curve_clear(struct tacit_sim_curve *curve)
{
    curve->total = 0;
    memset(curve->step, 0, curve->point_count * sizeof(double));
    memset(curve->partial, 0, curve->point_count * sizeof(double));
}

/* Rounded after each term, as if agents came one by one. */
static double plus_each(double sum, double term, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        sum += term;
    return sum;
}

void tacit_sim_curve_add_all(struct tacit_sim_curve *curve, uint64_t first,
                             const struct tacit_pull_block *plan, uint32_t plan_count,
                             const double *gaps, uint32_t agent_count)
{
    TACIT_ASSERT(plan_count == 0 || plan != NULL);
    TACIT_ASSERT(gaps != NULL);
    uint64_t length = 0;
    double loss = 0;
    for (uint32_t i = 0; i < plan_count; i++) {
        length += plan[i].count;
        loss += (double)plan[i].count * gaps[plan[i].arm];
    }
    curve->total = plus_each(curve->total, loss, agent_count);
    uint32_t point = tacit_sim_first_point(curve->points, curve->point_count, first + 1);
    for (; point < curve->point_count && curve->points[point] < first + length; point++)
        curve->partial[point] = plus_each(
            curve->partial[point],
            loss_after(plan, plan_count, gaps, curve->points[point] - first, length, loss),
            agent_count);
    if (point < curve->point_count)
        curve->step[point] = plus_each(curve->step[point], loss, agent_count);
}

void tacit_sim_curve_add(struct tacit_sim_curve *curve, uint64_t first,
                         const struct tacit_pull_block *plan, uint32_t plan_count,
                         const double *gaps)
{
    tacit_sim_curve_add_all(curve, first, plan, plan_count, gaps, 1);
}

void tacit_sim_curve_read(const struct tacit_sim_curve *curve, double *regret)
{
    double sum = 0;
    for (uint32_t point = 0; point < curve->point_count; point++) {
        sum += curve->step[point];
        regret[point] = sum + curve->partial[point];
    }
}
