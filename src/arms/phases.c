/* The ladder of play in phases, and which parameters it takes. */
#include "tacit/phases.h"
#include <math.h>

#define STEPS_MAX 0x1p62 /* of all rewards together */
#define EPSILON_MAX 1e6
#define NOISE_SCALES 60.0 /* tacit_mechanism_plausible */

static bool has_sums(const struct tacit_phases *schedule)
{
    return schedule->rule == TACIT_PHASES_SUMS;
}

struct tacit_phases tacit_phases_canonical(const struct tacit_phases *schedule)
{
    struct tacit_phases kept = *schedule;
    if (!tacit_phases_is_guarded(schedule))
        kept.guard_arm = 0;
    return kept;
}

/* Do all arms that are left climb together? */
static bool eliminates(const struct tacit_phases *schedule)
{
    return schedule->rule == TACIT_PHASES_ELIMINATION || has_sums(schedule);
}

/* Are the intervals meant to hold at all times? */
static bool decides(const struct tacit_phases *schedule)
{
    return eliminates(schedule) || schedule->confidence > 0;
}

/* 4.2 */
double tacit_phases_delta(const struct tacit_phases *schedule)
{
    return schedule->confidence > 0 ? 1 - schedule->confidence : 1 / (double)schedule->horizon;
}

/* 4.1: width 1/4; 5.1: width 1/2. */
uint64_t tacit_phases_first_rung(const struct tacit_phases *schedule)
{
    double const arms = schedule->arm_count;
    double const level =
        decides(schedule) ? log(4 * arms / tacit_phases_delta(schedule)) : log(10 * arms);
    double const width = eliminates(schedule) ? 0.25 : 0.5;
    struct tacit_bounds_noise const noise =
        tacit_bounds_noise_of(schedule->epsilon_per_reward, schedule->floor_milli);
    return tacit_bounds_first_rung_of(schedule->agent_count, &noise, level, width);
}

uint32_t tacit_phases_first_count(const struct tacit_phases *schedule)
{
    return schedule->first_count > 0 ? schedule->first_count : schedule->arm_count;
}

/* With a guard its arm alone is played first, until the others' first pulls cannot do harm. */
uint64_t tacit_phases_horizon_min(const struct tacit_phases *schedule)
{
    uint64_t const first = tacit_phases_first_rung(schedule);
    uint64_t const others =
        (tacit_phases_first_count(schedule) - 1) * first; /* 2^16 times 2^40 fits */
    uint64_t alone = first;
    if (tacit_phases_is_guarded(schedule))
        while ((double)others > schedule->guard_loss * (double)alone && alone < TACIT_HORIZON_MAX)
            alone = tacit_bounds_next_rung(alone, schedule->growth);
    return others + alone;
}

/* The rung above `rung`; of sums a multiple of the first one. */
static uint64_t rung_after(const struct tacit_phases *schedule, uint64_t first, uint64_t rung)
{
    uint64_t const unit = has_sums(schedule) ? first : 1;
    uint64_t const next = tacit_bounds_next_rung(rung / unit, schedule->growth);
    return next < TACIT_HORIZON_MAX / unit ? next * unit : TACIT_HORIZON_MAX;
}

/* How many rungs there are up to the first beyond the horizon; 0: too many. */
static uint32_t climb_from(uint64_t first, const struct tacit_phases *schedule, uint64_t *rungs)
{
    uint64_t rung = first;
    for (uint32_t count = 1; count <= TACIT_BOUNDS_RELEASES_MAX; count++) {
        if (rungs != NULL)
            rungs[count - 1] = rung;
        if (rung > schedule->horizon || rung == TACIT_HORIZON_MAX)
            return count;
        rung = rung_after(schedule, first, rung);
    }
    return 0;
}

uint32_t tacit_phases_climb(const struct tacit_phases *schedule, uint64_t *rungs)
{
    return climb_from(tacit_phases_first_rung(schedule), schedule, rungs);
}

/* From the least rung there is the climb is longest; a first rung costs many bounds. */
static bool has_room(const struct tacit_phases *schedule)
{
    return climb_from(1, schedule, NULL) > 0 || tacit_phases_climb(schedule, NULL) > 0;
}

bool tacit_phases_is_valid(const struct tacit_phases *schedule)
{
    double const epsilon = schedule->epsilon_per_reward;
    double const confidence = schedule->confidence;
    bool const has_epsilon =
        ((epsilon >= 1e-6 && epsilon <= EPSILON_MAX) || (isinf(epsilon) && epsilon > 0)) &&
        (schedule->floor_milli == TACIT_ONE_AGGREGATOR || schedule->agent_count >= 2);
    bool const has_confidence =
        (confidence >= 0 && confidence <= 0) || (confidence >= 0.5 && confidence < 1);
    bool const has_rule = has_sums(schedule)
                              ? schedule->accuracy > 0 && schedule->accuracy <= 1 &&
                                    confidence > 0 && schedule->first_count == 0
                              : eliminates(schedule) || (schedule->rule == TACIT_PHASES_INDEX &&
                                                         schedule->arms_per_round >= 2);
    bool const has_guard = !tacit_phases_is_guarded(schedule)
                               ? schedule->guard_loss >= 0
                               : !eliminates(schedule) &&
                                     schedule->guard_arm < tacit_phases_first_count(schedule) &&
                                     schedule->guard_loss < 1;
    if (!has_epsilon || !has_confidence || !has_rule || !has_guard || schedule->arm_count < 1 ||
        schedule->arm_count > TACIT_ARMS_MAX || schedule->first_count > schedule->arm_count ||
        schedule->agent_count < 1 || schedule->agent_count > TACIT_AGENTS_MAX ||
        schedule->horizon < 1 || schedule->horizon > TACIT_HORIZON_MAX ||
        !(schedule->growth > 1 && schedule->growth <= 4))
        return false;
    double const noise = isinf(epsilon) ? 0 : NOISE_SCALES / epsilon; /* as large as is plausible */
    double const rewards = (double)schedule->agent_count * ((double)schedule->horizon + noise);
    return rewards * (double)TACIT_STEPS < STEPS_MAX && has_room(schedule);
}

/* ---- The plan of the index ---- */

/* Does `arm` come after `other` in the order of UCBs, lowest index first on ties? */
static bool comes_after(const double *uppers, uint32_t arm, uint32_t other)
{
    return uppers[arm] < uppers[other] || (!(uppers[arm] > uppers[other]) && arm > other);
}

void tacit_phases_rank(struct tacit_phases_ranking *ranking, uint32_t arm)
{
    double const *const uppers = ranking->uppers;
    struct tacit_pull_block *const heap = ranking->heap;
    uint32_t place = 0;
    if (ranking->count < ranking->count_max) {
        place = ranking->count++;
        for (; place > 0 && comes_after(uppers, arm, heap[(place - 1) / 2].arm);
             place = (place - 1) / 2)
            heap[place].arm = heap[(place - 1) / 2].arm;
    } else if (comes_after(uppers, arm, heap[0].arm)) {
        return;
    } else {
        for (uint32_t child = 1; child < ranking->count; child = 2 * place + 1) {
            bool const is_second = child + 1 < ranking->count &&
                                   comes_after(uppers, heap[child + 1].arm, heap[child].arm);
            child += is_second ? 1 : 0;
            if (comes_after(uppers, arm, heap[child].arm))
                break;
            heap[place].arm = heap[child].arm;
            place = child;
        }
    }
    heap[place].arm = arm;
}

/* Is an arm other than the leader not ruled out, with pulls left for it? */
static bool may_challenge(const struct tacit_phases_choice *choice, uint32_t arm)
{
    return choice->uppers[arm] >= choice->bound && arm != choice->leader &&
           choice->pulls(choice->state, arm) > 0;
}

/* The leader into a plan in the order of arms. Member by member: the gap keeps its bytes. */
static void put_leader(const struct tacit_phases_choice *choice, struct tacit_pull_block *plan,
                       uint32_t count, uint64_t pulls)
{
    uint32_t place = count;
    for (; place > 0 && plan[place - 1].arm > choice->leader; place--)
        plan[place] = plan[place - 1];
    plan[place].arm = choice->leader;
    plan[place].count = pulls;
}

uint32_t tacit_phases_choose(const struct tacit_phases_choice *choice,
                             struct tacit_pull_block *plan)
{
    TACIT_ASSERT(choice->leader < choice->arm_count);
    /* The plan is a heap first, the last of the best challengers on top; then it is filled. */
    struct tacit_phases_ranking first = {
        .uppers = choice->uppers, .heap = plan, .count_max = choice->arms_per_round - 1};
    for (uint32_t arm = 0; arm < choice->arm_count; arm++)
        if (may_challenge(choice, arm))
            tacit_phases_rank(&first, arm);
    uint32_t const last = plan[0].arm; /* if any */
    uint64_t total = 0;
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < choice->arm_count && count < first.count; arm++)
        if (may_challenge(choice, arm) && !comes_after(choice->uppers, arm, last)) {
            plan[count].arm = arm;
            plan[count].count = choice->pulls(choice->state, arm);
            total += plan[count++].count;
        }
    uint64_t const own = choice->pulls(choice->state, choice->leader);
    if (own > 0 && (count == 0 || own <= total))
        put_leader(choice, plan, count++, own);
    return count;
}
