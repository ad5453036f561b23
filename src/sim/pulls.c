/* Regret at the recorded points from numbers of pulls: integers, so that it does not matter in
 * which order, or in how many pieces, agents play. */
#include <string.h>
#include "tacit/sim.h"

enum tacit_status tacit_sim_pulls_init(struct tacit_sim_pulls *pulls, const struct tacit_sim *sim,
                                       void *owner)
{
    TACIT_IMPLIES(sim->point_count > 0, sim->points != NULL);
    size_t const arms = sim->env.arm_count;
    size_t const cells = (sim->point_count + (size_t)1) * arms;
    *pulls = (struct tacit_sim_pulls){
        .points = sim->points, .point_count = sim->point_count, .arm_count = sim->env.arm_count};
    pulls->step = tacit_sim_new(owner, cells, sizeof *pulls->step);
    pulls->partial = tacit_sim_new(owner, cells, sizeof *pulls->partial);
    pulls->waited = tacit_sim_new(owner, arms, sizeof *pulls->waited);
    return tacit_sim_memory_status(owner);
}

void tacit_sim_pulls_clear(struct tacit_sim_pulls *pulls)
{
    size_t const bytes = (pulls->point_count + (size_t)1) * pulls->arm_count * sizeof *pulls->step;
    memset(pulls->step, 0, bytes);
    memset(pulls->partial, 0, bytes);
    memset(pulls->waited, 0, pulls->arm_count * sizeof *pulls->waited);
}

/* Pulls of each arm in the first `slots` slots of a plan whose arms take turns, none of them beyond
 * its count; what one does not need goes to those behind it. */
static void add_first(const struct tacit_pull_block *plan, uint32_t plan_count, uint64_t slots,
                      uint64_t times, uint64_t *counts)
{
    uint64_t turns = slots / plan_count;
    uint64_t left = slots;
    for (uint32_t i = 0; i < plan_count; i++) {
        uint64_t const wish = turns + (i < slots % plan_count ? 1 : 0);
        uint64_t const count = wish < plan[i].count ? wish : plan[i].count;
        counts[plan[i].arm] += count * times;
        left -= count;
    }
    for (uint32_t i = 0; i < plan_count && left > 0; i++) { /* plans of unequal counts */
        uint64_t const wish = turns + (i < slots % plan_count ? 1 : 0);
        uint64_t const spare = wish < plan[i].count ? plan[i].count - wish : 0;
        uint64_t const more = spare < left ? spare : left;
        counts[plan[i].arm] += more * times;
        left -= more;
    }
    TACIT_ASSERT(left == 0);
}

void tacit_sim_pulls_add(struct tacit_sim_pulls *pulls, uint64_t first,
                         const struct tacit_pull_block *plan, uint32_t plan_count, uint64_t times)
{
    TACIT_ASSERT(plan_count == 0 || plan != NULL);
    size_t const arms = pulls->arm_count;
    uint64_t length = 0;
    for (uint32_t i = 0; i < plan_count; i++)
        length += plan[i].count;
    uint32_t point = tacit_sim_first_point(pulls->points, pulls->point_count, first + 1);
    for (; point < pulls->point_count && pulls->points[point] < first + length; point++)
        add_first(plan, plan_count, pulls->points[point] - first, times,
                  pulls->partial + point * arms);
    for (uint32_t i = 0; i < plan_count; i++)
        pulls->step[point * arms + plan[i].arm] += plan[i].count * times;
}

void tacit_sim_pulls_wait(struct tacit_sim_pulls *pulls, uint64_t first, uint32_t arm,
                          uint64_t count, uint64_t times)
{
    struct tacit_pull_block const block = {arm, count};
    TACIT_ASSERT(arm < pulls->arm_count);
    tacit_sim_pulls_add(pulls, first, &block, 1, times);
    pulls->waited[arm] += count * times;
}

static double loss_of(const struct tacit_sim_pulls *pulls, const uint64_t *counts,
                      const double *gaps)
{
    double loss = 0;
    for (uint32_t arm = 0; arm < pulls->arm_count; arm++)
        loss += (double)counts[arm] * gaps[arm];
    return loss;
}

double tacit_sim_pulls_waited(const struct tacit_sim_pulls *pulls, const double *gaps)
{
    return loss_of(pulls, pulls->waited, gaps);
}

double tacit_sim_pulls_total(const struct tacit_sim_pulls *pulls, const double *gaps)
{
    double total = 0;
    for (uint32_t arm = 0; arm < pulls->arm_count; arm++) {
        uint64_t played = 0;
        for (size_t point = 0; point <= pulls->point_count; point++)
            played += pulls->step[point * pulls->arm_count + arm];
        total += (double)played * gaps[arm];
    }
    return total;
}

void tacit_sim_pulls_read(const struct tacit_sim_pulls *pulls, const double *gaps, double *regret)
{
    size_t const arms = pulls->arm_count;
    memset(regret, 0, pulls->point_count * sizeof *regret);
    for (uint32_t arm = 0; arm < arms; arm++) {
        uint64_t played = 0;
        for (uint32_t point = 0; point < pulls->point_count; point++) {
            played += pulls->step[point * arms + arm];
            regret[point] += (double)(played + pulls->partial[point * arms + arm]) * gaps[arm];
        }
    }
}
