/* Elimination with exact bounds (EXACT-BOUNDS 4; ours) where reports are histories: what all agents
 * together have released of each arm after each round. Who goes: tacit/elimination.h.
 *
 * A history sum of round r holds the noise of at most r releases; the difference of two rounds in
 * which everybody reported, that of the releases between them. */
#include <string.h>
#include "internal.h"
#include "tacit/elimination.h"

#define TOTAL_MAX (INT64_C(1) << 62) /* differences of two totals fit 64 bits */

_Static_assert(sizeof(int64_t) == sizeof(uint64_t), "totals are stored as words");

bool elim_is_exact(const struct tacit_elim_schedule *schedule)
{
    return schedule->growth > 0;
}

bool elim_is_masked(const struct tacit_elim_schedule *schedule)
{
    return schedule->floor_milli != TACIT_ONE_AGGREGATOR;
}

struct tacit_phases tacit_elim_phases(const struct tacit_elim_schedule *schedule)
{
    TACIT_ASSERT(elim_is_exact(schedule));
    return (struct tacit_phases){.rule = TACIT_PHASES_ELIMINATION,
                                 .arm_count = schedule->arm_count,
                                 .agent_count = schedule->report_count,
                                 .horizon = schedule->horizon,
                                 .epsilon_per_reward = schedule->epsilon_per_reward,
                                 .growth = schedule->growth,
                                 .confidence = schedule->confidence,
                                 .floor_milli = schedule->floor_milli};
}

bool elim_exact_is_valid(const struct tacit_elim_schedule *schedule)
{
    if (!elim_is_exact(schedule))
        return schedule->growth >= 0 && schedule->confidence >= 0 && schedule->confidence <= 0 &&
               !elim_is_masked(schedule);
    struct tacit_phases const phases = tacit_elim_phases(schedule);
    return schedule->round_limit == 0 && tacit_phases_is_valid(&phases);
}

bool elim_totals_fit(const struct tacit_mechanism *mechanism,
                     const struct tacit_elim_schedule *schedule)
{
    union tacit_sum const most = {.steps = TOTAL_MAX / schedule->report_count};
    return mechanism->scale.kind != TACIT_SCALE_REAL &&
           !tacit_mechanism_plausible(mechanism, most, schedule->horizon,
                                      TACIT_BOUNDS_RELEASES_MAX);
}

uint32_t elim_exact_rungs(const struct tacit_elim_schedule *schedule)
{
    if (!elim_is_exact(schedule))
        return 0;
    struct tacit_phases const phases = tacit_elim_phases(schedule);
    return tacit_phases_climb(&phases, NULL);
}

size_t elim_exact_words(const struct tacit_elim_schedule *schedule)
{
    return elim_exact_rungs(schedule) * (2 + (size_t)schedule->arm_count);
}

/* ---- What is known ---- */

/* S_1, S_2, .. */
static uint64_t *rungs_of(const struct elim_judge_parts *parts)
{
    return parts->exact;
}

/* How many agents reported in each round. */
static uint64_t *agents_of(const struct elim_judge_parts *parts)
{
    return parts->exact + parts->judge->rung_count;
}

static int64_t *totals_of(const struct elim_judge_parts *parts, uint32_t round)
{
    size_t const arms = parts->schedule->arm_count;
    TACIT_ASSERT(round >= 1 && round <= parts->judge->rung_count);
    return (int64_t *)(parts->exact + 2 * (size_t)parts->judge->rung_count) + (round - 1) * arms;
}

int64_t *elim_judge_totals(const struct elim_judge_parts *parts)
{
    return totals_of(parts, parts->judge->epoch);
}

void elim_exact_add(const struct elim_judge_parts *parts, const int64_t *totals)
{
    uint32_t const epoch = parts->judge->epoch;
    uint32_t const arms = parts->schedule->arm_count;
    int64_t *const all = totals_of(parts, epoch);
    TACIT_ASSERT(elim_is_masked(parts->schedule));
    uint32_t rank = 0;
    for (uint32_t arm = 0; arm < arms; arm++)
        all[arm] = epoch == 1 ? 0 : totals_of(parts, epoch - 1)[arm];
    TACIT_BITS_EACH (arm, parts->active, totals == NULL ? 0 : arms)
        all[arm] += totals[rank++];
}

/* n_r = S_r - S_(r-1). */
static uint64_t step_of(const struct elim_judge_parts *parts, uint32_t round)
{
    TACIT_ASSERT(round >= 1 && round <= parts->judge->rung_count);
    return rungs_of(parts)[round - 1] - (round == 1 ? 0 : rungs_of(parts)[round - 2]);
}

uint64_t elim_exact_new_pulls(const struct elim_judge_parts *parts)
{
    return parts->judge->finished ? 0 : step_of(parts, parts->judge->epoch);
}

uint32_t elim_exact_void_count(const struct elim_judge_parts *parts)
{
    uint32_t count = 0;
    for (uint32_t round = 1; round <= parts->judge->round_count; round++)
        count += agents_of(parts)[round - 1] == 0 ? 1 : 0;
    return count;
}

void elim_exact_init(const struct elim_judge_parts *parts)
{
    struct tacit_phases const phases = tacit_elim_phases(parts->schedule);
    parts->judge->rung_count = tacit_phases_climb(&phases, NULL);
    (void)tacit_phases_climb(&phases, rungs_of(parts));
}

/* Which releases are used at a look after so many rounds: 2.5, by counts alone. A round without
 * somebody has no difference to one with all of them: the whole history is used, of those who are
 * in it. With two aggregators every round is one release of those who were counted, but of void
 * ones there is none. Nor has a round of a later term to those before: a history that was begun
 * anew has fewer releases than are counted for it here. */
static struct tacit_elimination look_after(const struct elim_judge_parts *parts, uint32_t round,
                                           double level)
{
    struct tacit_elim_schedule const *const schedule = parts->schedule;
    uint64_t const all = schedule->report_count;
    uint64_t const *const agents = agents_of(parts);
    uint64_t const *const rungs = rungs_of(parts);
    struct tacit_elimination look = {
        .steps = totals_of(parts, 1),
        .arm_stride = 1,
        .release_stride = parts->schedule->arm_count,
        .are_histories = true,
        .arm_count = parts->schedule->arm_count,
        .last = round,
        .pulls = agents[round - 1] * rungs[round - 1],
        .noises = agents[round - 1] * round,
        .noise = tacit_bounds_noise_of(schedule->epsilon_per_reward, schedule->floor_milli),
        .level = level};
    bool const is_masked = elim_is_masked(schedule);
    look.noise.releases = round;
    if (agents[round - 1] < all && !is_masked)
        return look;
    struct tacit_bounds_sum parted[TACIT_BOUNDS_RELEASES_MAX];
    uint32_t first[TACIT_BOUNDS_RELEASES_MAX];
    uint32_t count = 0;
    uint32_t last = 0;
    uint32_t const anew_after = parts->judge->anew_after;
    for (uint32_t i = round > anew_after ? anew_after + 1 : 1; i <= round; i++) {
        uint64_t const here = is_masked ? agents[i - 1] : all;
        if (agents[i - 1] < here || here == 0)
            continue;
        uint64_t const before = last == 0 ? 0 : rungs[last - 1];
        uint64_t const pulls = is_masked ? step_of(parts, i) : rungs[i - 1] - before;
        parted[count] = (struct tacit_bounds_sum){.pulls = here * pulls,
                                                  .noises = here * (is_masked ? 1 : i - last)};
        first[count++] = last;
        last = i;
    }
    struct tacit_bounds_sum sum;
    look.first = first[tacit_bounds_suffix_of(parted, count, &look.noise, level, &sum)];
    look.pulls = sum.pulls;
    look.noises = sum.noises;
    return look;
}

/* ---- Who goes ---- */

void elim_exact_eliminate(const struct elim_judge_parts *parts, uint32_t agents)
{
    struct elim_judge *const judge = parts->judge;
    uint32_t const arms = parts->schedule->arm_count;
    struct tacit_phases const phases = tacit_elim_phases(parts->schedule);
    double const level = tacit_bounds_level(arms, judge->epoch, tacit_phases_delta(&phases));
    TACIT_IMPLIES(agents == 0, elim_is_masked(parts->schedule));
    agents_of(parts)[judge->epoch - 1] = agents;
    if (agents == 0)
        return;
    struct tacit_elimination const look = look_after(parts, judge->epoch, level);
    judge->radius = tacit_bounds_radius_of(look.pulls, look.noises, &look.noise, level);
    judge->leader = 1 + tacit_elimination_leader(&look, parts->active);
    TACIT_BITS_EACH (arm, parts->active, arms) {
        struct tacit_bounds_sum const sum = tacit_elimination_sum(&look, arm);
        parts->means[arm] = tacit_bounds_mean(&sum);
        parts->eliminated[arm] = judge->epoch; /* unless it stays */
    }
    judge->active_count -= tacit_elimination_drop(&look, parts->active, NULL);
    TACIT_BITS_EACH (arm, parts->active, arms)
        parts->eliminated[arm] = 0;
    TACIT_ASSERT(tacit_bits_has(parts->active, judge->leader - 1));
}

bool elim_exact_goes_on(const struct elim_judge_parts *parts)
{
    struct elim_judge *const judge = parts->judge;
    uint64_t const *const rungs = rungs_of(parts);
    if (judge->epoch > judge->rung_count)
        return false;
    uint64_t const before = judge->epoch == 1 ? 0 : rungs[judge->epoch - 2];
    uint64_t const slots = (rungs[judge->epoch - 1] - before) * judge->active_count;
    bool const fits = slots <= parts->horizon - judge->slots;
    /* 4.5: a plan that does not fit is not issued; before there is a leader agents cut it. */
    if (!fits && judge->leader > 0)
        return false;
    judge->slots = fits ? judge->slots + slots : parts->horizon;
    return true;
}

/* ---- Intervals ---- */

/* Of the arm; 0: there was none. */
static uint32_t last_look_of(const struct elim_judge_parts *parts, uint32_t arm)
{
    uint32_t const dropped = parts->eliminated[arm];
    bool const is_retired = parts->retired != NULL && tacit_bits_has(parts->retired, arm);
    return dropped == 0 ? parts->judge->round_count : is_retired ? dropped - 1 : dropped;
}

struct tacit_bounds_interval elim_judge_interval(const struct elim_judge_parts *parts, uint32_t arm,
                                                 double confidence)
{
    struct tacit_elim_schedule const *const schedule = parts->schedule;
    uint32_t const round = last_look_of(parts, arm);
    TACIT_ASSERT(elim_is_exact(schedule));
    TACIT_ASSERT(arm < schedule->arm_count);
    if (round == 0 || parts->judge->leader == 0)
        return (struct tacit_bounds_interval){0, 0, 1};
    double const level = tacit_bounds_level(schedule->arm_count, round, 1 - confidence);
    struct tacit_elimination const look = look_after(parts, round, level);
    struct tacit_bounds_sum const sum = tacit_elimination_sum(&look, arm);
    return tacit_bounds_interval_of(&sum, &look.noise, level);
}

/* ---- Checking a state from a disk ---- */

/* One beyond the rounds that were judged; two where the operator ended the run. */
static bool epoch_is_possible(const struct elim_judge *judge)
{
    uint32_t const rounds = judge->round_count;
    return judge->epoch == (judge->epoch > 0 ? rounds + 1 : rounds) ||
           (judge->finished && judge->epoch == rounds + 2);
}

bool elim_exact_is_possible(const struct elim_judge_parts *parts)
{
    struct elim_judge const *const judge = parts->judge;
    struct tacit_elim_schedule const *const schedule = parts->schedule;
    uint64_t rungs[TACIT_BOUNDS_RELEASES_MAX];
    struct tacit_phases const phases = tacit_elim_phases(schedule);
    uint32_t const count = tacit_phases_climb(&phases, rungs);
    if (judge->rung_count != count || memcmp(rungs, rungs_of(parts), count * sizeof *rungs) != 0 ||
        judge->round_count > count || (judge->leader > 0 && judge->round_count == 0) ||
        judge->leader > schedule->arm_count || judge->anew_after > judge->round_count ||
        judge->slots > parts->horizon || (!judge->finished && judge->epoch > count) ||
        !epoch_is_possible(judge))
        return false;
    if (judge->leader > 0 && !tacit_bits_has(parts->active, judge->leader - 1))
        return false;
    for (uint32_t arm = 0; arm < schedule->arm_count; arm++)
        if (last_look_of(parts, arm) > judge->round_count)
            return false;
    bool has_release = false;
    for (uint32_t round = 1; round <= judge->round_count; round++) {
        uint64_t const agents = agents_of(parts)[round - 1];
        has_release = has_release || agents > 0;
        if ((agents < 1 && !elim_is_masked(schedule)) || agents > schedule->report_count)
            return false;
        for (uint32_t arm = 0; arm < schedule->arm_count; arm++)
            if (totals_of(parts, round)[arm] >= TOTAL_MAX ||
                totals_of(parts, round)[arm] <= -TOTAL_MAX)
                return false;
    }
    return has_release == (judge->leader > 0);
}
