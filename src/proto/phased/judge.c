/* Which arms are played next: ladder, intervals, leader, and who challenges it (EXACT-BOUNDS 5).
 * Values of releases enter here and nowhere else at the hub; everything that comes out is
 * post-processing. Of published sums a rung is a look, and all that rounds bring until then is
 * added up for it. */
#include <math.h>
#include <string.h>
#include "internal.h"
#include "tacit/elimination.h"

#define FAR 1e-9 /* an arm is far below where not even rounding could lift it */

#define MANY_ARMS 256u /* of fewer, means cost less than to find out which of them changed */

struct tacit_phased_judge {
    struct tacit_phases schedule;
    uint64_t slots;      /* of a site, in all plans so far */
    uint64_t pull_count; /* released, of all sites and arms */
    uint32_t rung_count; /* S_1, .., S_E: the last one is the first beyond T */
    uint32_t round;
    uint32_t round_count;
    uint32_t leader;
    uint32_t plan_count;
    uint32_t played; /* while a site waits and at the end: the leader, or the guard's arm */
    bool finished;
    bool decided;
    /* rungs E | releases K | plan 2 K | means, uppers, lowers, standings K each | sums 3 E K */
    uint64_t words[];
};

_Static_assert(sizeof(struct tacit_pull_block) == 2 * sizeof(uint64_t), "a block is two words");
_Static_assert(sizeof(struct tacit_bounds_sum) == 3 * sizeof(uint64_t), "a sum is three words");

/* ---- Layout ---- */

static uint64_t *rungs_of(struct tacit_phased_judge *judge)
{
    return judge->words;
}

static uint64_t *column_of(struct tacit_phased_judge *judge, uint32_t column)
{
    TACIT_ASSERT(column <= 7);
    return judge->words + judge->rung_count + column * (size_t)judge->schedule.arm_count;
}

static uint64_t *releases_of(struct tacit_phased_judge *judge)
{
    return column_of(judge, 0);
}

static struct tacit_pull_block *plan_of(struct tacit_phased_judge *judge)
{
    return (struct tacit_pull_block *)column_of(judge, 1);
}

static double *means_of(struct tacit_phased_judge *judge)
{
    return (double *)column_of(judge, 3);
}

static double *uppers_of(struct tacit_phased_judge *judge)
{
    return (double *)column_of(judge, 4);
}

static double *lowers_of(struct tacit_phased_judge *judge)
{
    return (double *)column_of(judge, 5);
}

/* enum tacit_phased_standing. */
static uint64_t *standings_of(struct tacit_phased_judge *judge)
{
    return column_of(judge, 6);
}

static bool is_in(struct tacit_phased_judge *judge, uint32_t arm)
{
    TACIT_ASSERT(arm < judge->schedule.arm_count);
    return standings_of(judge)[arm] == TACIT_PHASED_PRESENT;
}

/* N_e, m_e, Y_e of an arm's releases. */
static struct tacit_bounds_sum *sums_of(struct tacit_phased_judge *judge, uint32_t arm)
{
    TACIT_ASSERT(arm < judge->schedule.arm_count);
    return (struct tacit_bounds_sum *)column_of(judge, 7) + arm * (size_t)judge->rung_count;
}

static struct tacit_phased_judge *writable(const struct tacit_phased_judge *judge)
{
    return (struct tacit_phased_judge *)(uintptr_t)judge;
}

/* ---- Schedule ---- */

/* Are the intervals meant to hold at all times? */
static bool decides(const struct tacit_phases *schedule)
{
    return schedule->confidence > 0;
}

static bool has_sums(const struct tacit_phased_judge *judge)
{
    return judge->schedule.rule == TACIT_PHASES_SUMS;
}

/* Result: bytes of a judge with so many rungs; 0: no schedule for one. rungs NULL: they are not
 * wanted. Both at once, because a climb costs many bounds. */
static size_t size_and_rungs(const struct tacit_phases *schedule, uint32_t *count, uint64_t *rungs)
{
    if (!tacit_phases_is_valid(schedule) || schedule->rule == TACIT_PHASES_ELIMINATION)
        return 0;
    *count = tacit_phases_climb(schedule, rungs);
    TACIT_ASSERT(*count > 0);
    size_t const arms = schedule->arm_count;
    return sizeof(struct tacit_phased_judge) +
           (*count + 7 * arms + 3 * *count * arms) * sizeof(uint64_t);
}

size_t tacit_phased_judge_size(const struct tacit_phases *schedule)
{
    uint32_t count;
    return size_and_rungs(schedule, &count, NULL);
}

/* ---- Plans ---- */

/* Pulls of an arm before the e-th rung, from 0. */
static uint64_t rung_before(struct tacit_phased_judge *judge, uint64_t e)
{
    TACIT_ASSERT(e < judge->rung_count);
    return e == 0 ? 0 : rungs_of(judge)[e - 1];
}

/* Pulls of a site in a round of the e-th rung, from 0. */
static uint64_t step_of(struct tacit_phased_judge *judge, uint64_t e)
{
    TACIT_ASSERT(e < judge->rung_count);
    TACIT_ASSERT(rungs_of(judge)[e] > rung_before(judge, e));
    return has_sums(judge) ? rungs_of(judge)[0] : rungs_of(judge)[e] - rung_before(judge, e);
}

/* Rounds of the e-th rung. */
static uint64_t rounds_of(struct tacit_phased_judge *judge, uint64_t e)
{
    uint64_t const step = step_of(judge, e);
    TACIT_ASSERT((rungs_of(judge)[e] - rung_before(judge, e)) % step == 0 ||
                 e + 1 == judge->rung_count);
    return (rungs_of(judge)[e] - rung_before(judge, e)) / step;
}

/* n of an arm's next release. There is one: the ladder's last rung is beyond T. */
static uint64_t next_pulls(struct tacit_phased_judge *judge, uint32_t arm)
{
    TACIT_ASSERT(arm < judge->schedule.arm_count);
    return step_of(judge, releases_of(judge)[arm]);
}

static void clear_plan(struct tacit_phased_judge *judge)
{
    memset(plan_of(judge), 0, judge->plan_count * sizeof(struct tacit_pull_block));
    judge->plan_count = 0;
}

/* Of an arm, in the plan that is in place. */
static uint64_t planned_pulls(struct tacit_phased_judge *judge, uint32_t arm)
{
    for (uint32_t i = 0; i < judge->plan_count; i++)
        if (plan_of(judge)[i].arm == arm)
            return plan_of(judge)[i].count;
    return 0;
}

/* Arms that are in and have a release, or have none. */
static uint32_t count_in(struct tacit_phased_judge *judge, bool is_released)
{
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < judge->schedule.arm_count; arm++)
        count += is_in(judge, arm) && (releases_of(judge)[arm] > 0) == is_released ? 1 : 0;
    return count;
}

static uint32_t present_count(struct tacit_phased_judge *judge)
{
    return count_in(judge, true) + count_in(judge, false);
}

/* A last word without a leader leaves the sites to play all arms in turn: where not all arms are
 * there it names one. */
static void finish(struct tacit_phased_judge *judge)
{
    TACIT_ASSERT(!judge->finished);
    clear_plan(judge);
    judge->finished = true;
    if (judge->played != TACIT_NO_ARM || present_count(judge) == judge->schedule.arm_count)
        return;
    TACIT_ASSERT(present_count(judge) > 0);
    for (judge->played = 0; !is_in(judge, judge->played);)
        judge->played++;
}

/* Of the plan that is in place; 0: there is none. */
static uint64_t plan_slots(struct tacit_phased_judge *judge)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < judge->plan_count; i++)
        total += plan_of(judge)[i].count; /* 2^16 blocks of 2^40 pulls fit */
    return total;
}

/* Issues the plan that is in place if it fits in T as a whole (4.5), else ends. */
static void issue(struct tacit_phased_judge *judge)
{
    TACIT_ASSERT(judge->plan_count > 0);
    TACIT_ASSERT(judge->plan_count <= judge->schedule.arm_count);
    TACIT_ASSERT(judge->slots <= judge->schedule.horizon);
    uint64_t const total = plan_slots(judge);
    if (judge->round == TACIT_PHASED_ROUNDS_MAX || total > judge->schedule.horizon - judge->slots) {
        finish(judge);
        return;
    }
    judge->slots += total;
    judge->round++;
}

static void plan_arm(struct tacit_phased_judge *judge, uint32_t arm)
{
    TACIT_ASSERT(arm < judge->schedule.arm_count);
    TACIT_ASSERT(judge->plan_count < judge->schedule.arm_count);
    plan_of(judge)[judge->plan_count].arm = arm;
    plan_of(judge)[judge->plan_count].count = next_pulls(judge, arm);
    judge->plan_count++;
}

/* ---- Intervals ---- */

/* 5.3, for regret. */
static double level_of_pulls(uint64_t pulls)
{
    return log(pulls > 3 ? (double)pulls : 3);
}

/* 4.2, 5.3: the level of an arm's bounds. */
static double level_of(struct tacit_phased_judge *judge, uint32_t arm)
{
    TACIT_ASSERT(arm < judge->schedule.arm_count);
    if (decides(&judge->schedule))
        return tacit_bounds_level(judge->schedule.arm_count, (uint32_t)releases_of(judge)[arm],
                                  tacit_phases_delta(&judge->schedule));
    return level_of_pulls(judge->pull_count);
}

static struct tacit_bounds_noise noise_of(const struct tacit_phased_judge *judge)
{
    return tacit_bounds_noise_of(judge->schedule.epsilon_per_reward, judge->schedule.floor_milli);
}

/* The releases of an arm from this one on. */
static struct tacit_bounds_sum sum_from(struct tacit_phased_judge *judge, uint32_t arm,
                                        uint32_t first)
{
    TACIT_ASSERT(first < releases_of(judge)[arm]);
    struct tacit_bounds_sum const *const sums = sums_of(judge, arm);
    struct tacit_bounds_sum sum = {0};
    for (uint32_t e = first; e < releases_of(judge)[arm]; e++) {
        sum.pulls += sums[e].pulls;
        sum.noises += sums[e].noises;
        sum.steps += sums[e].steps;
    }
    return sum;
}

/* *noise: what the bounds of this sum are to be told. Of published sums: all, each round one
 * release. */
static struct tacit_bounds_sum suffix_of(struct tacit_phased_judge *judge, uint32_t arm,
                                         double level, struct tacit_bounds_noise *noise)
{
    TACIT_ASSERT(releases_of(judge)[arm] > 0);
    TACIT_ASSERT(releases_of(judge)[arm] <= judge->rung_count);
    struct tacit_bounds_sum sum;
    *noise = noise_of(judge);
    if (has_sums(judge)) {
        noise->releases =
            (uint32_t)(rungs_of(judge)[releases_of(judge)[arm] - 1] / rungs_of(judge)[0]);
        return sum_from(judge, arm, 0);
    }
    (void)tacit_bounds_suffix_of(sums_of(judge, arm), (uint32_t)releases_of(judge)[arm], noise,
                                 level, &sum);
    return sum;
}

/* ---- Guard ---- */

/* 3 (v): at all times. [0, 1] before the first release. */
static struct tacit_bounds_interval interval_of(struct tacit_phased_judge *judge, uint32_t arm,
                                                double delta)
{
    TACIT_ASSERT(delta > 0);
    TACIT_ASSERT(delta < 1);
    uint64_t const looks = releases_of(judge)[arm];
    if (looks == 0)
        return (struct tacit_bounds_interval){0, 0, 1};
    struct tacit_bounds_noise noise;
    double const level = tacit_bounds_level(judge->schedule.arm_count, (uint32_t)looks, delta);
    struct tacit_bounds_sum const sum = suffix_of(judge, arm, level, &noise);
    return tacit_bounds_interval_of(&sum, &noise, level);
}

/* At most so much is lost by a pull of this arm instead of the guard's; no less than 0. */
static double loss_of(struct tacit_phased_judge *judge, uint32_t arm)
{
    TACIT_ASSERT(tacit_phases_is_guarded(&judge->schedule));
    double const confidence = judge->schedule.confidence;
    double const delta = confidence > 0 ? 1 - confidence : TACIT_PHASED_GUARD_DELTA;
    double const loss = interval_of(judge, judge->schedule.guard_arm, delta).upper -
                        interval_of(judge, arm, delta).lower;
    return arm == judge->schedule.guard_arm || loss < 0 ? 0 : loss;
}

/* While sites wait, and at the end: the leader, or the guard's arm where the leader may lose more
 * than is allowed. */
static uint32_t arm_to_play(struct tacit_phased_judge *judge)
{
    TACIT_ASSERT(judge->leader < judge->schedule.arm_count);
    bool const is_safe = !tacit_phases_is_guarded(&judge->schedule) ||
                         loss_of(judge, judge->leader) <= judge->schedule.guard_loss;
    return is_safe ? judge->leader : judge->schedule.guard_arm;
}

/* May the plan that is in place be played? Whatever the true means in their intervals, all that was
 * played before and all of this plan lose no more than is allowed for the slots before it: so the
 * promise holds at every slot of the plan, too. Pulls of rounds without a report count in full. */
static bool guard_allows(struct tacit_phased_judge *judge)
{
    TACIT_ASSERT(tacit_phases_is_guarded(&judge->schedule));
    uint64_t reported_pulls = 0;
    double loss = 0;
    for (uint32_t arm = 0; arm < judge->schedule.arm_count; arm++) {
        uint64_t pulls = rung_before(judge, releases_of(judge)[arm]);
        reported_pulls += pulls;
        pulls += planned_pulls(judge, arm);
        loss += (double)pulls * loss_of(judge, arm);
    }
    TACIT_ASSERT(reported_pulls <= judge->slots);
    loss += (double)(judge->slots - reported_pulls);
    return loss <= judge->schedule.guard_loss * (double)judge->slots;
}

/* Issues the plan that is in place, or the guard's arm alone, with its next rung, until the others'
 * pulls weigh little enough. */
static void issue_guarded(struct tacit_phased_judge *judge)
{
    TACIT_ASSERT(judge->plan_count > 0);
    uint32_t const guard = judge->schedule.guard_arm;
    bool const is_alone = judge->plan_count == 1 && plan_of(judge)[0].arm == guard;
    if (tacit_phases_is_guarded(&judge->schedule) && !is_alone && !guard_allows(judge)) {
        clear_plan(judge);
        plan_arm(judge, guard);
    }
    issue(judge);
}

/* The first rung of all arms that have none; 5.2: at first none has. Of published sums all. */
static void plan_first(struct tacit_phased_judge *judge)
{
    TACIT_ASSERT(judge->plan_count == 0);
    for (uint32_t arm = 0; arm < judge->schedule.arm_count; arm++)
        if (is_in(judge, arm) && (has_sums(judge) || releases_of(judge)[arm] == 0))
            plan_arm(judge, arm);
    issue_guarded(judge);
}

/* Until all arms have a release there is no index to compare. */
static void update_means(struct tacit_phased_judge *judge)
{
    for (uint32_t i = 0; i < judge->plan_count; i++) {
        uint32_t const arm = plan_of(judge)[i].arm;
        struct tacit_bounds_noise noise;
        struct tacit_bounds_sum const sum = suffix_of(judge, arm, level_of(judge, arm), &noise);
        means_of(judge)[arm] = tacit_bounds_mean(&sum);
    }
}

enum tacit_status tacit_phased_judge_init(struct tacit_phased_judge *judge,
                                          const struct tacit_phases *schedule)
{
    uint64_t rungs[TACIT_BOUNDS_RELEASES_MAX];
    uint32_t rung_count;
    size_t const size = size_and_rungs(schedule, &rung_count, rungs);
    if (size == 0)
        return TACIT_INVALID;
    memset(judge, 0, size);
    judge->schedule = tacit_phases_canonical(schedule);
    judge->rung_count = rung_count;
    memcpy(rungs_of(judge), rungs, rung_count * sizeof rungs[0]);
    judge->leader = schedule->arm_count == 1 ? 0 : TACIT_NO_ARM;
    judge->played = judge->leader;
    for (uint32_t arm = tacit_phases_first_count(schedule); arm < schedule->arm_count; arm++)
        standings_of(judge)[arm] = TACIT_PHASED_TO_COME;
    if (schedule->arm_count == 1)
        finish(judge); /* 5.7: nothing to learn */
    else
        plan_first(judge);
    TACIT_ASSERT(judge->finished == (judge->plan_count == 0));
    return TACIT_OK;
}

/* ---- Rounds ---- */

/* Where intervals hold at all times, an arm's interval changes with its own releases only. */
static void bound_released(struct tacit_phased_judge *judge)
{
    for (uint32_t i = 0; i < judge->plan_count; i++) {
        struct tacit_bounds_noise noise;
        uint32_t const arm = plan_of(judge)[i].arm;
        double const level = level_of(judge, arm);
        struct tacit_bounds_sum const sum = suffix_of(judge, arm, level, &noise);
        means_of(judge)[arm] = tacit_bounds_mean(&sum);
        uppers_of(judge)[arm] = tacit_bounds_upper_of(&sum, &noise, level);
        lowers_of(judge)[arm] = tacit_bounds_lower_of(&sum, &noise, level);
    }
}

/* Largest y of the arms that are left, lowest index on ties; TACIT_NO_ARM: none of them has a
 * release. */
static uint32_t best_mean(struct tacit_phased_judge *judge)
{
    uint32_t best = TACIT_NO_ARM;
    for (uint32_t arm = 0; arm < judge->schedule.arm_count; arm++)
        if (is_in(judge, arm) && releases_of(judge)[arm] > 0 &&
            (best == TACIT_NO_ARM || means_of(judge)[arm] > means_of(judge)[best]))
            best = arm;
    return best;
}

/* For regret the level is common, and which releases to use depends on counts alone (2.5): arms
 * with equally many releases, of all sites each, are of one group. In it the order of means is that
 * of UCBs. */
struct group {
    bool is_known;
    bool has_moved;    /* its suffixes begin with another release than a round ago */
    uint32_t first;    /* release that they begin with */
    double radius;     /* c of the suffix */
    uint32_t top;      /* arm with the largest mean, lowest index on ties */
    uint32_t second;   /* of the others */
    double lost_mean;  /* means up to here .. */
    double lost_upper; /* .. have UCBs up to here, which are too small for a challenger */
};

/* Arms in which a site is missing in some release have group 0, and are bounded each by itself. */
struct groups {
    struct group of[TACIT_BOUNDS_RELEASES_MAX + 1];
    bool are_whole; /* in no release of any arm a site is missing */
    bool are_new;   /* nothing that was computed before counts */
    double level;
    double level_before; /* a round ago */
};

/* The arm's number of releases, or 0 if it is to be bounded by itself. */
static uint32_t group_of(struct tacit_phased_judge *judge, const struct groups *groups,
                         uint32_t arm)
{
    struct tacit_bounds_sum const *const sums = sums_of(judge, arm);
    uint32_t const count = (uint32_t)releases_of(judge)[arm];
    TACIT_ASSERT(count > 0 && count <= TACIT_BOUNDS_RELEASES_MAX);
    for (uint32_t e = 0; e < count && !groups->are_whole; e++)
        if (sums[e].noises != judge->schedule.agent_count)
            return 0;
    return count;
}

/* Has every site reported in every release? */
static bool are_whole(struct tacit_phased_judge *judge)
{
    TACIT_ASSERT(judge->schedule.agent_count > 0);
    uint64_t pulls = 0;
    for (uint32_t arm = 0; arm < judge->schedule.arm_count; arm++)
        pulls += rung_before(judge, releases_of(judge)[arm]);
    return pulls * judge->schedule.agent_count == judge->pull_count;
}

/* From which release on the group's arms count, and the radius: any one arm says it for all. Arms
 * of group 0 share nothing: there it holds for this arm only, and is worked out for each of them.
 */
static void know_group(struct tacit_phased_judge *judge, uint32_t arm, const struct groups *groups,
                       struct group *group)
{
    TACIT_ASSERT(releases_of(judge)[arm] > 0);
    struct tacit_bounds_noise noise = noise_of(judge);
    uint32_t const count = (uint32_t)releases_of(judge)[arm];
    struct tacit_bounds_sum sum;
    uint32_t const before = groups->are_new
                                ? TACIT_BOUNDS_RELEASES_MAX
                                : tacit_bounds_suffix_of(sums_of(judge, arm), count, &noise,
                                                         groups->level_before, &sum);
    group->first = tacit_bounds_suffix_of(sums_of(judge, arm), count, &noise, groups->level, &sum);
    group->radius = tacit_bounds_radius_of(sum.pulls, sum.noises, &noise, groups->level);
    group->has_moved = group->first != before;
    group->is_known = true;
}

/* Mean, and y + c, clipped, for a UCB: it costs little and is no less (2.4). */
static void bound_roughly(struct tacit_phased_judge *judge, uint32_t arm, struct groups *groups,
                          bool is_new)
{
    TACIT_ASSERT(is_in(judge, arm));
    uint32_t const number = group_of(judge, groups, arm);
    struct group *const group = &groups->of[number];
    if (!group->is_known || number == 0)
        know_group(judge, arm, groups, group);
    if (is_new || group->has_moved || number == 0) {
        struct tacit_bounds_sum const sum = sum_from(judge, arm, group->first);
        means_of(judge)[arm] = tacit_bounds_mean(&sum);
    }
    double const upper = means_of(judge)[arm] + group->radius;
    uppers_of(judge)[arm] = upper > 0 ? (upper < 1 ? upper : 1) : 0;
}

/* Arms come in their order: of equals the first one stays. */
static void note_mean(struct group *group, const double *means, uint32_t arm)
{
    TACIT_ASSERT(group->top != arm && group->second != arm);
    if (group->top == TACIT_NO_ARM || means[arm] > means[group->top]) {
        group->second = group->top;
        group->top = arm;
    } else if (group->second == TACIT_NO_ARM || means[arm] > means[group->second]) {
        group->second = arm;
    }
}

static bool is_compared(struct tacit_phased_judge *judge, uint32_t arm)
{
    return is_in(judge, arm) && releases_of(judge)[arm] > 0;
}

static void bound_all_roughly(struct tacit_phased_judge *judge, struct groups *groups)
{
    for (uint32_t i = 0; i < judge->plan_count && !groups->are_new; i++)
        if (is_compared(judge, plan_of(judge)[i].arm))
            bound_roughly(judge, plan_of(judge)[i].arm, groups, true);
    for (uint32_t arm = 0; arm < judge->schedule.arm_count; arm++)
        if (is_compared(judge, arm)) {
            bound_roughly(judge, arm, groups, false);
            note_mean(&groups->of[group_of(judge, groups, arm)], means_of(judge), arm);
        }
}

static void bound_exactly(struct tacit_phased_judge *judge, uint32_t arm, struct groups *groups)
{
    TACIT_ASSERT(groups->level > 0);
    uint32_t const number = group_of(judge, groups, arm);
    struct tacit_bounds_noise noise = noise_of(judge);
    noise.releases = (uint32_t)releases_of(judge)[arm] - groups->of[number].first;
    struct tacit_bounds_sum const sum = number > 0 ? sum_from(judge, arm, groups->of[number].first)
                                                   : suffix_of(judge, arm, groups->level, &noise);
    uppers_of(judge)[arm] = tacit_bounds_upper_of(&sum, &noise, groups->level);
}

/* ---- Who may challenge ---- */

/* An upper bound of a UCB below this, and not for rounding, is of nobody who is taken. */
static double least_wanted(const struct tacit_phased_judge *judge,
                           const struct tacit_phases_ranking *ranking)
{
    TACIT_ASSERT(judge->leader < judge->schedule.arm_count);
    double const bound = ranking->uppers[judge->leader];
    bool const is_full = ranking->count == ranking->count_max;
    double const least = is_full ? ranking->uppers[ranking->heap[0].arm] : 0;
    return (least > bound ? least : bound) - FAR;
}

/* Do all arms from this one on come after those that are taken? None has a UCB above 1. */
static bool is_settled(const struct tacit_phases_ranking *ranking, uint32_t arm)
{
    TACIT_ASSERT(ranking->count <= ranking->count_max);
    return ranking->count == ranking->count_max && arm > ranking->heap[0].arm &&
           ranking->uppers[ranking->heap[0].arm] >= 1;
}

/* The exact UCB, and what it says of the arm's group. */
static void bound_challenger(struct tacit_phased_judge *judge, uint32_t arm, struct groups *groups,
                             struct tacit_phases_ranking *ranking)
{
    TACIT_ASSERT(arm != judge->leader);
    struct group *const group = &groups->of[group_of(judge, groups, arm)];
    bound_exactly(judge, arm, groups);
    tacit_phases_rank(ranking, arm);
    if (uppers_of(judge)[arm] < least_wanted(judge, ranking) &&
        means_of(judge)[arm] > group->lost_mean) {
        group->lost_mean = means_of(judge)[arm];
        group->lost_upper = uppers_of(judge)[arm];
    }
}

/* Level and groups; a round ago so many pulls had been released. */
static void begin_groups(struct tacit_phased_judge *judge, uint64_t pulls_before,
                         struct groups *groups)
{
    TACIT_ASSERT(pulls_before <= judge->pull_count);
    groups->are_whole = are_whole(judge);
    groups->are_new = pulls_before == 0 || tacit_phases_is_guarded(&judge->schedule) ||
                      judge->schedule.arm_count < MANY_ARMS;
    groups->level = level_of_pulls(judge->pull_count);
    groups->level_before = level_of_pulls(pulls_before);
    for (uint32_t i = 0; i < judge->rung_count; i++) /* an arm has fewer releases than rungs */
        groups->of[i] =
            (struct group){.top = TACIT_NO_ARM, .second = TACIT_NO_ARM, .lost_mean = -INFINITY};
}

/* The best of each group first: where it is too far below, all of the group is. */
static void bound_tops(struct tacit_phased_judge *judge, struct groups *groups,
                       struct tacit_phases_ranking *ranking)
{
    for (uint32_t i = 1; i < judge->rung_count; i++) {
        struct group *const group = &groups->of[i];
        group->top = group->top == judge->leader ? group->second : group->top;
        if (group->top != TACIT_NO_ARM &&
            uppers_of(judge)[group->top] >= least_wanted(judge, ranking))
            bound_challenger(judge, group->top, groups, ranking);
    }
}

/* UCBs are computed where they can matter: who is surely not among the B - 1 challengers with the
 * largest ones keeps what is no less than its UCB. pulls_before: a round ago; 0: nothing was
 * computed before. The plan is of no use any more: its room holds the ranking. */
static void bound_all(struct tacit_phased_judge *judge, uint64_t pulls_before)
{
    double *const uppers = uppers_of(judge);
    struct groups groups;
    begin_groups(judge, pulls_before, &groups);
    bound_all_roughly(judge, &groups);
    judge->leader = best_mean(judge);
    bound_exactly(judge, judge->leader, &groups);
    clear_plan(judge);
    struct tacit_phases_ranking ranking = {
        .uppers = uppers, .heap = plan_of(judge), .count_max = judge->schedule.arms_per_round - 1};
    bound_tops(judge, &groups, &ranking);
    for (uint32_t arm = 0; arm < judge->schedule.arm_count && !is_settled(&ranking, arm); arm++) {
        if (uppers[arm] < least_wanted(judge, &ranking) || arm == judge->leader ||
            !is_compared(judge, arm))
            continue;
        uint32_t const number = group_of(judge, &groups, arm);
        struct group *const group = &groups.of[number];
        bool const is_alone = number == 0;
        if (!is_alone && arm != group->top && means_of(judge)[arm] <= group->lost_mean)
            uppers[arm] = uppers[arm] < group->lost_upper ? uppers[arm] : group->lost_upper;
        else if (is_alone || arm != group->top)
            bound_challenger(judge, arm, &groups, &ranking);
    }
    memset(plan_of(judge), 0, ranking.count * sizeof(struct tacit_pull_block));
}

/* ---- Leader and challengers ---- */

static uint64_t pulls_of(const void *state, uint32_t arm)
{
    struct tacit_phased_judge *const judge = writable(state);
    return is_in(judge, arm) ? next_pulls(judge, arm) : 0;
}

/* 5.3 to 5.5. */
static void plan_next(struct tacit_phased_judge *judge)
{
    TACIT_ASSERT(judge->plan_count == 0);
    uint32_t const leader = judge->leader;
    bool const may_decide = decides(&judge->schedule);
    struct tacit_phases_choice const choice = {.arm_count = judge->schedule.arm_count,
                                               .arms_per_round = judge->schedule.arms_per_round,
                                               .leader = leader,
                                               .uppers = uppers_of(judge),
                                               .bound = may_decide ? lowers_of(judge)[leader]
                                                                   : uppers_of(judge)[leader],
                                               .pulls = pulls_of,
                                               .state = judge};
    judge->plan_count = tacit_phases_choose(&choice, plan_of(judge));
    if (may_decide && judge->plan_count == 1 && plan_of(judge)[0].arm == leader) {
        clear_plan(judge);
        judge->decided = true; /* 5.4 */
        finish(judge);
        return;
    }
    issue_guarded(judge);
}

/* Without a guard all arms have a release after the first round but those that were added since,
 * whose UCB is 1. */
static bool knows_all(struct tacit_phased_judge *judge)
{
    return !tacit_phases_is_guarded(&judge->schedule) || count_in(judge, false) == 0;
}

/* 5.3 to 5.5, once the intervals are known; of published sums the same of all arms that are left,
 * until one is. */
static void plan_or_finish(struct tacit_phased_judge *judge)
{
    judge->leader = best_mean(judge);
    judge->played = judge->leader == TACIT_NO_ARM ? TACIT_NO_ARM : arm_to_play(judge);
    clear_plan(judge);
    if (has_sums(judge) && present_count(judge) == 1) {
        judge->decided = judge->leader != TACIT_NO_ARM;
        finish(judge);
    } else if (!has_sums(judge) && knows_all(judge) && judge->leader != TACIT_NO_ARM) {
        plan_next(judge);
    } else {
        plan_first(judge);
    }
}

static void close_index(struct tacit_phased_judge *judge, uint64_t pulls_before)
{
    if (decides(&judge->schedule))
        bound_released(judge);
    else if (knows_all(judge))
        bound_all(judge, pulls_before);
    else
        update_means(judge);
    plan_or_finish(judge);
}

/* ---- Published sums ---- */

/* All arms that are left have the same rounds behind them: one look is of all. */
static void drop_beaten(struct tacit_phased_judge *judge)
{
    uint32_t const arms = judge->schedule.arm_count;
    uint32_t const any = plan_of(judge)[0].arm;
    TACIT_ASSERT(has_sums(judge));
    TACIT_ASSERT(judge->plan_count > 1);
    uint64_t left[TACIT_BITS_WORDS(TACIT_ARMS_MAX)] = {0};
    struct tacit_bounds_noise noise;
    struct tacit_bounds_sum const sum = suffix_of(judge, any, level_of(judge, any), &noise);
    struct tacit_elimination const look = {.steps = &sums_of(judge, 0)->steps,
                                           .arm_stride = 3 * (size_t)judge->rung_count,
                                           .release_stride = 3,
                                           .arm_count = arms,
                                           .last = (uint32_t)releases_of(judge)[any],
                                           .pulls = sum.pulls,
                                           .noises = sum.noises,
                                           .noise = noise,
                                           .level = level_of(judge, any),
                                           .accuracy = judge->schedule.accuracy};
    for (uint32_t i = 0; i < judge->plan_count; i++)
        tacit_bits_add(left, plan_of(judge)[i].arm);
    uint32_t const gone = tacit_elimination_drop(&look, left, NULL);
    TACIT_ASSERT(gone < judge->plan_count);
    TACIT_ASSERT(tacit_bits_count(left, arms) == judge->plan_count - gone);
    for (uint32_t i = 0; i < judge->plan_count; i++)
        if (!tacit_bits_has(left, plan_of(judge)[i].arm))
            standings_of(judge)[plan_of(judge)[i].arm] = TACIT_PHASED_BEATEN;
}

/* A round of sums was added. At numbers of rounds that are fixed beforehand it is a look, at which
 * arms may drop: releases_of counts looks here. */
static void close_sums(struct tacit_phased_judge *judge)
{
    uint64_t const looks = releases_of(judge)[plan_of(judge)[0].arm];
    TACIT_ASSERT(judge->plan_count > 1);
    TACIT_ASSERT(judge->round_count * rungs_of(judge)[0] <= rungs_of(judge)[looks]);
    if (judge->round_count * rungs_of(judge)[0] == rungs_of(judge)[looks]) {
        for (uint32_t i = 0; i < judge->plan_count; i++)
            releases_of(judge)[plan_of(judge)[i].arm]++;
        bound_released(judge);
        drop_beaten(judge);
    }
    plan_or_finish(judge);
}

static void add_releases(struct tacit_phased_judge *judge, uint32_t agents, const int64_t *sums)
{
    TACIT_ASSERT(agents > 0);
    TACIT_ASSERT(sums != NULL);
    for (uint32_t i = 0; i < judge->plan_count; i++) {
        struct tacit_pull_block const *const block = &plan_of(judge)[i];
        TACIT_ASSERT(releases_of(judge)[block->arm] < judge->rung_count);
        struct tacit_bounds_sum *const sum =
            &sums_of(judge, block->arm)[releases_of(judge)[block->arm]];
        sum->pulls += block->count * agents;
        sum->noises += agents;
        sum->steps += sums[i];
        judge->pull_count += block->count * agents;
        releases_of(judge)[block->arm] += has_sums(judge) ? 0 : 1;
    }
}

void tacit_phased_judge_close(struct tacit_phased_judge *judge, uint32_t agents,
                              const int64_t *sums)
{
    TACIT_ASSERT(!judge->finished);
    TACIT_ASSERT(agents <= judge->schedule.agent_count);
    if (agents == 0) {
        issue_guarded(judge); /* 6: the same counts again */
        return;
    }
    uint64_t const pulls_before = judge->pull_count;
    add_releases(judge, agents, sums);
    judge->round_count++;
    if (has_sums(judge))
        close_sums(judge);
    else
        close_index(judge, pulls_before);
    TACIT_ASSERT(judge->finished == (judge->plan_count == 0));
    TACIT_ASSERT(judge->slots <= judge->schedule.horizon);
    TACIT_ASSERT(judge->round_count <= judge->round);
}

/* ---- Arms that come and go ---- */

/* Can another order stand after this one? Its number follows that of a last word, too. */
static bool has_room(const struct tacit_phased_judge *judge)
{
    return judge->round + 2 < TACIT_PHASED_ROUNDS_MAX;
}

/* The order that stands is withdrawn. */
static void withdraw(struct tacit_phased_judge *judge, uint64_t played)
{
    if (played != TACIT_PHASED_UNKNOWN)
        judge->slots = played;
    else if (!tacit_phases_is_guarded(&judge->schedule))
        judge->slots -= plan_slots(judge);
    TACIT_ASSERT(judge->slots <= judge->schedule.horizon);
}

/* From what is known, and of who is there now, another order. */
static void restart(struct tacit_phased_judge *judge, uint64_t played)
{
    withdraw(judge, played);
    judge->round +=
        judge->finished ? 1 : 0; /* the last word had the number after the last plan's */
    judge->finished = judge->decided = false;
    bool const knows_some = best_mean(judge) != TACIT_NO_ARM;
    if (!decides(&judge->schedule) && knows_some && knows_all(judge))
        bound_all(judge, 0); /* the others' intervals stand since their last release */
    plan_or_finish(judge);
}

static bool is_guard(const struct tacit_phased_judge *judge, uint32_t arm)
{
    return tacit_phases_is_guarded(&judge->schedule) && arm == judge->schedule.guard_arm;
}

static bool may_change(struct tacit_phased_judge *judge, uint32_t arm, bool adds)
{
    enum tacit_phased_standing const before = adds ? TACIT_PHASED_TO_COME : TACIT_PHASED_PRESENT;
    if (arm >= judge->schedule.arm_count || standings_of(judge)[arm] != before || !has_room(judge))
        return false;
    return adds || (!is_guard(judge, arm) && present_count(judge) > 1);
}

enum tacit_status tacit_phased_judge_change(struct tacit_phased_judge *judge, uint32_t arm,
                                            bool adds, uint64_t played)
{
    if (!may_change(judge, arm, adds))
        return TACIT_INVALID;
    bool const is_at_play =
        planned_pulls(judge, arm) > 0 || judge->leader == arm || judge->played == arm;
    standings_of(judge)[arm] = adds ? TACIT_PHASED_PRESENT : TACIT_PHASED_RETIRED;
    if (adds)
        uppers_of(judge)[arm] = 1; /* nothing is known */
    if (adds || is_at_play)
        restart(judge, played); /* a plan of the leader alone may take half the run */
    return TACIT_OK;
}

void tacit_phased_judge_end(struct tacit_phased_judge *judge)
{
    TACIT_ASSERT(judge->leader != TACIT_NO_ARM && !judge->finished);
    for (uint32_t arm = 0; arm < judge->schedule.arm_count; arm++)
        if (is_in(judge, arm) && arm != judge->leader && !is_guard(judge, arm))
            standings_of(judge)[arm] = TACIT_PHASED_RETIRED;
    withdraw(judge, TACIT_PHASED_UNKNOWN);
    finish(judge);
}

void tacit_phased_judge_view(const struct tacit_phased_judge *state,
                             struct tacit_phased_judge_view *view)
{
    struct tacit_phased_judge *const judge = writable(state);
    *view = (struct tacit_phased_judge_view){.judge = judge,
                                             .round = judge->round,
                                             .round_count = judge->round_count,
                                             .finished = judge->finished,
                                             .decided = judge->decided,
                                             .leader = judge->leader,
                                             .played = judge->played,
                                             .slots = judge->slots,
                                             .plan_count = judge->plan_count,
                                             .plan = plan_of(judge),
                                             .releases = releases_of(judge),
                                             .standings = standings_of(judge),
                                             .means = means_of(judge),
                                             .uppers = uppers_of(judge),
                                             .lowers = lowers_of(judge)};
}

struct tacit_bounds_interval tacit_phased_judge_interval(const struct tacit_phased_judge *state,
                                                         uint32_t arm, double confidence)
{
    struct tacit_phased_judge *const judge = writable(state);
    TACIT_ASSERT(arm < judge->schedule.arm_count);
    TACIT_ASSERT(confidence > 0 && confidence < 1);
    return interval_of(judge, arm, 1 - confidence);
}

/* ---- Walk ---- */

static void walk_plan(struct base_walk *walk, struct tacit_phased_judge *judge)
{
    if (walk->reads)
        clear_plan(judge);
    base_walk_number(walk, &judge->plan_count);
    walk->failed = walk->failed || judge->plan_count > judge->schedule.arm_count;
    for (uint32_t i = 0; i < judge->plan_count && !walk->failed; i++) {
        base_walk_number(walk, &plan_of(judge)[i].arm);
        base_walk_word(walk, &plan_of(judge)[i].count);
    }
}

/* Of each arm's releases, and of published sums of the one that is added up: how many sites are not
 * in it, then what they say. Pulls follow. */
static void walk_releases(struct base_walk *walk, struct tacit_phased_judge *judge)
{
    uint32_t const arms = judge->schedule.arm_count;
    uint64_t const agents = judge->schedule.agent_count;
    uint64_t const open = has_sums(judge) ? 1 : 0;
    base_walk_words(walk, releases_of(judge), arms);
    for (uint32_t arm = 0; arm < arms; arm++)
        walk->failed = walk->failed || releases_of(judge)[arm] >= judge->rung_count;
    for (uint32_t arm = 0; arm < arms && !walk->failed; arm++)
        for (uint64_t e = 0; e < releases_of(judge)[arm] + open; e++) {
            struct tacit_bounds_sum *const sum = &sums_of(judge, arm)[e];
            uint64_t const all = agents * rounds_of(judge, e);
            uint64_t missing = all - sum->noises;
            base_walk_word(walk, &missing);
            sum->noises = all - missing; /* the check knows how many there may be */
            sum->pulls = step_of(judge, e) * sum->noises;
        }
    for (uint32_t arm = 0; arm < arms && !walk->failed; arm++)
        for (uint64_t e = 0; e < releases_of(judge)[arm] + open; e++) {
            uint64_t steps = (uint64_t)sums_of(judge, arm)[e].steps;
            base_walk_word(walk, &steps);
            sums_of(judge, arm)[e].steps = (int64_t)steps;
        }
}

void phased_judge_walk(struct base_walk *walk, struct tacit_phased_judge *judge)
{
    TACIT_ASSERT(judge->rung_count > 0);
    base_walk_same(walk, judge->schedule.arm_count);
    base_walk_same(walk, judge->rung_count);
    base_walk_word(walk, &judge->slots);
    base_walk_word(walk, &judge->pull_count);
    base_walk_number(walk, &judge->round);
    base_walk_number(walk, &judge->round_count);
    base_walk_number(walk, &judge->leader);
    base_walk_number(walk, &judge->played);
    base_walk_truth(walk, &judge->finished);
    base_walk_truth(walk, &judge->decided);
    walk_plan(walk, judge);
    base_walk_words(walk, column_of(judge, 3), 4 * (size_t)judge->schedule.arm_count);
    walk_releases(walk, judge);
}

/* ---- Check ---- */

static bool plan_is_possible(struct tacit_phased_judge *judge)
{
    uint32_t const arms = judge->schedule.arm_count;
    if (judge->plan_count > arms || judge->finished != (judge->plan_count == 0))
        return false;
    for (uint32_t i = 0; i < judge->plan_count; i++) {
        struct tacit_pull_block const *const block = &plan_of(judge)[i];
        if (block->arm >= arms || (i > 0 && block->arm <= block[-1].arm) ||
            !is_in(judge, block->arm) || block->count != next_pulls(judge, block->arm))
            return false;
    }
    return !has_sums(judge) || judge->finished ||
           (judge->plan_count == present_count(judge) && judge->plan_count > 1);
}

/* May an arm have so many releases? Of published sums, looks: the arms that are left have all. */
static bool count_is_possible(struct tacit_phased_judge *judge, uint32_t arm)
{
    uint64_t const count = releases_of(judge)[arm];
    uint64_t const standing = standings_of(judge)[arm];
    TACIT_ASSERT(arm < judge->schedule.arm_count);
    TACIT_ASSERT(count < judge->rung_count);
    if (has_sums(judge)) {
        uint64_t const pulls = judge->round_count * rungs_of(judge)[0];
        return (count == 0 || rungs_of(judge)[count - 1] <= pulls) &&
               (standing != TACIT_PHASED_PRESENT || rungs_of(judge)[count] > pulls) &&
               (standing != TACIT_PHASED_BEATEN || count > 0);
    }
    bool const may_wait = (tacit_phases_is_guarded(&judge->schedule) && !is_guard(judge, arm)) ||
                          standing != TACIT_PHASED_PRESENT ||
                          arm >= tacit_phases_first_count(&judge->schedule);
    return count > 0 ? judge->round_count > 0 : judge->round_count == 0 || may_wait;
}

/* Every release is of its rung, of so many sites; what is beyond the last one is zero. */
static bool releases_are_possible(struct tacit_phased_judge *judge)
{
    uint64_t pulls = 0;
    for (uint32_t arm = 0; arm < judge->schedule.arm_count; arm++) {
        uint64_t const count = releases_of(judge)[arm];
        if (count >= judge->rung_count)
            return false;
        for (uint32_t e = 0; e < judge->rung_count; e++) {
            struct tacit_bounds_sum const *const sum = &sums_of(judge, arm)[e];
            bool const is_there = sum->noises > 0;
            bool const is_open = has_sums(judge) && e == count;
            if (sum->noises > judge->schedule.agent_count * rounds_of(judge, e) ||
                (!is_open && is_there != (e < count)) ||
                sum->pulls != step_of(judge, e) * sum->noises || (!is_there && sum->steps != 0))
                return false;
            pulls += sum->pulls;
        }
        if (!count_is_possible(judge, arm))
            return false;
    }
    return pulls == judge->pull_count;
}

/* What was reported, and what is planned, are slots that were given; there are no more than T. */
static bool slots_are_possible(struct tacit_phased_judge *judge)
{
    uint64_t total = plan_slots(judge);
    for (uint32_t arm = 0; arm < judge->schedule.arm_count; arm++)
        total += rung_before(judge, releases_of(judge)[arm]);
    return total <= judge->slots && judge->slots <= judge->schedule.horizon;
}

static bool numbers_are_possible(struct tacit_phased_judge *judge)
{
    double const *const values = means_of(judge);
    for (size_t i = 0; i < 3 * (size_t)judge->schedule.arm_count; i++)
        if (!isfinite(values[i]))
            return false;
    bool const has_leader = count_in(judge, true) > 0 || judge->schedule.arm_count == 1;
    bool const is_named = judge->leader == TACIT_NO_ARM && judge->finished &&
                          judge->played < judge->schedule.arm_count && is_in(judge, judge->played);
    return judge->round_count <= judge->round && judge->round <= TACIT_PHASED_ROUNDS_MAX &&
           (has_leader ? judge->leader < judge->schedule.arm_count && is_in(judge, judge->leader)
                       : judge->leader == TACIT_NO_ARM) &&
           (judge->played == judge->leader || is_named ||
            (tacit_phases_is_guarded(&judge->schedule) &&
             judge->played == judge->schedule.guard_arm)) &&
           (!judge->decided || (judge->finished && decides(&judge->schedule) && has_leader));
}

/* Somebody is there; who is to come has no release. */
static bool standings_are_possible(struct tacit_phased_judge *judge)
{
    uint64_t const last = has_sums(judge) ? TACIT_PHASED_BEATEN : TACIT_PHASED_RETIRED;
    for (uint32_t arm = 0; arm < judge->schedule.arm_count; arm++)
        if (standings_of(judge)[arm] > last ||
            (standings_of(judge)[arm] == TACIT_PHASED_TO_COME &&
             (arm < tacit_phases_first_count(&judge->schedule) || releases_of(judge)[arm] > 0)))
            return false;
    return present_count(judge) > 0;
}

enum tacit_status tacit_phased_judge_check(const struct tacit_phased_judge *state, size_t size,
                                           const struct tacit_phases *schedule)
{
    struct tacit_phased_judge *const judge = writable(state);
    uint64_t rungs[TACIT_BOUNDS_RELEASES_MAX];
    uint32_t rung_count;
    if (size == 0 || size != size_and_rungs(schedule, &rung_count, rungs))
        return TACIT_MALFORMED;
    struct tacit_phases const kept = tacit_phases_canonical(schedule);
    if (memcmp(&judge->schedule, &kept, sizeof kept) != 0 || judge->rung_count != rung_count ||
        memcmp(rungs_of(judge), rungs, rung_count * sizeof rungs[0]) != 0)
        return TACIT_MALFORMED;
    bool const is_possible =
        base_truth_is_possible(&judge->finished) && base_truth_is_possible(&judge->decided) &&
        releases_are_possible(judge) && plan_is_possible(judge) && slots_are_possible(judge) &&
        numbers_are_possible(judge) && standings_are_possible(judge);
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
}
