/* Who goes, by exact bounds of released sums (EXACT-BOUNDS 4.3; votes: PRIVACY.md B.4). */
#include "tacit/elimination.h"

struct tacit_bounds_sum tacit_elimination_sum(const struct tacit_elimination *look, uint32_t arm)
{
    TACIT_ASSERT(arm < look->arm_count);
    TACIT_ASSERT(look->first < look->last);
    int64_t const *const steps = look->steps + arm * look->arm_stride;
    struct tacit_bounds_sum sum = {.pulls = look->pulls, .noises = look->noises};
    if (!look->are_histories) {
        for (uint32_t e = look->first; e < look->last; e++)
            sum.steps += steps[e * look->release_stride];
        return sum;
    }
    sum.steps = steps[(look->last - 1) * look->release_stride]; /* a history: the total so far */
    if (look->first > 0)
        sum.steps -= steps[(look->first - 1) * look->release_stride];
    return sum;
}

static uint32_t next_of(const struct tacit_elimination *look, const uint64_t *active, uint32_t from)
{
    return tacit_bits_next(active, look->arm_count, from);
}

uint32_t tacit_elimination_leader(const struct tacit_elimination *look, const uint64_t *active)
{
    uint32_t best = next_of(look, active, 0);
    TACIT_ASSERT(best < look->arm_count);
    int64_t most = tacit_elimination_sum(look, best).steps;
    for (uint32_t arm = best; arm < look->arm_count; arm = next_of(look, active, arm + 1)) {
        int64_t const steps = tacit_elimination_sum(look, arm).steps;
        if (steps > most) {
            most = steps;
            best = arm;
        }
    }
    return best;
}

static double lower_of(const struct tacit_elimination *look, uint32_t arm)
{
    struct tacit_bounds_sum const sum = tacit_elimination_sum(look, arm);
    return tacit_bounds_lower_of(&sum, &look->noise, look->level);
}

/* Bounds are clipped to [0, 1]: more than one arm may have the largest lower one; of these the
 * first. Requires: `lower` is the leader's. */
static uint32_t first_with(const struct tacit_elimination *look, const uint64_t *active,
                           uint32_t leader, double lower)
{
    uint32_t arm = next_of(look, active, 0);
    while (arm != leader && lower_of(look, arm) < lower)
        arm = next_of(look, active, arm + 1);
    return arm;
}

/* With an accuracy an arm goes even if it may be better by that much. */
static bool is_beaten(const struct tacit_elimination *look, const struct tacit_bounds_sum *sum,
                      double lower)
{
    double const upper = tacit_bounds_upper_of(sum, &look->noise, look->level);
    return look->accuracy > 0 ? upper <= lower + look->accuracy : upper < lower;
}

uint32_t tacit_elimination_drop(const struct tacit_elimination *look, uint64_t *active,
                                uint64_t *dropped)
{
    uint32_t const leader = tacit_elimination_leader(look, active);
    double const lower = lower_of(look, leader);
    uint32_t const stays = look->accuracy > 0 ? first_with(look, active, leader, lower) : leader;
    /* An upper bound rises with the sum, so few of them are computed. */
    int64_t out = INT64_MIN; /* a sum up to which arms go, and .. */
    int64_t in = INT64_MAX;  /* .. from which they stay */
    uint32_t count = 0;
    for (uint32_t arm = next_of(look, active, 0); arm < look->arm_count;
         arm = next_of(look, active, arm + 1)) {
        struct tacit_bounds_sum const sum = tacit_elimination_sum(look, arm);
        if (arm == stays)
            continue;
        if (sum.steps > out && sum.steps < in) {
            if (is_beaten(look, &sum, lower))
                out = sum.steps;
            else
                in = sum.steps;
        }
        if (sum.steps > out)
            continue;
        tacit_bits_remove(active, arm);
        if (dropped != NULL)
            tacit_bits_add(dropped, arm);
        count++;
    }
    TACIT_ASSERT(tacit_bits_has(active, stays));
    return count;
}
