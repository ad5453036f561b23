/* Who goes and how long the next epoch is (Li, Song, Alg. 1 l. 2-5 and l. 12-16), for a hub and for
 * the peers of a graph alike. */
#include <math.h>
#include <string.h>
#include "internal.h"

_Static_assert(sizeof(double) == sizeof(uint64_t), "means are stored as words");

/* Two epochs fit a word; K words are plenty. */
static size_t common_words(uint32_t arm_count)
{
    return 2 * TACIT_BITS_WORDS(arm_count) + 2 * (size_t)arm_count;
}

size_t elim_judge_words(const struct tacit_elim_schedule *schedule)
{
    return common_words(schedule->arm_count) + elim_exact_words(schedule);
}

struct elim_judge_parts elim_judge_at(struct elim_judge *judge,
                                      const struct tacit_elim_schedule *schedule, uint64_t *words)
{
    size_t const set = TACIT_BITS_WORDS(schedule->arm_count);
    return (struct elim_judge_parts){.judge = judge,
                                     .schedule = schedule,
                                     .active = words,
                                     .final = words + set,
                                     .means = (double *)(words + 2 * set),
                                     .eliminated =
                                         (uint32_t *)(words + 2 * set + schedule->arm_count),
                                     .exact = words + common_words(schedule->arm_count),
                                     .horizon = schedule->horizon};
}

void elim_judge_init(const struct elim_judge_parts *parts)
{
    TACIT_ASSERT(parts->judge->epoch == 0);
    parts->judge->active_count = parts->schedule->arm_count;
    tacit_bits_fill(parts->active, parts->schedule->arm_count);
    if (elim_is_exact(parts->schedule))
        elim_exact_init(parts);
}

/* l. 13-15: all at once against one maximum; the best arm itself never goes (READINGS P1.5). */
static void eliminate(const struct elim_judge_parts *parts, uint32_t agents_averaged)
{
    TACIT_ASSERT(agents_averaged > 0 || elim_is_masked(parts->schedule));
    TACIT_ASSERT(parts->judge->active_count >= 2 || parts->retired != NULL);
    TACIT_ASSERT(parts->judge->pulls > 0);
    if (elim_is_exact(parts->schedule)) {
        elim_exact_eliminate(parts, agents_averaged);
        return;
    }
    struct elim_judge *const judge = parts->judge;
    uint32_t const arms = parts->schedule->arm_count;
    double const *const means = parts->means;
    judge->radius = tacit_elim_radius(parts->schedule, judge->epoch, judge->active_count,
                                      judge->pulls, agents_averaged);
    double best = -INFINITY;
    TACIT_BITS_EACH (arm, parts->active, arms)
        best = means[arm] > best ? means[arm] : best;
    TACIT_BITS_EACH (arm, parts->active, arms) {
        if (best - means[arm] >= 2 * judge->radius) {
            tacit_bits_remove(parts->active, arm);
            parts->eliminated[arm] = judge->epoch;
            judge->active_count--;
        }
    }
    TACIT_ASSERT(judge->radius > 0);
    TACIT_ASSERT(judge->active_count >= 1);
}

/* The best aggregated mean of those left, lowest index on ties. */
static uint32_t best_of(const struct elim_judge_parts *parts)
{
    uint32_t const arms = parts->schedule->arm_count;
    uint32_t best = tacit_bits_next(parts->active, arms, 0);
    for (uint32_t arm = best; arm < arms; arm = tacit_bits_next(parts->active, arms, arm + 1))
        if (parts->means[arm] > parts->means[best])
            best = arm;
    TACIT_ASSERT(best < arms);
    return best;
}

/* l. 17, and READINGS P1.7: the arm that is left, or the best aggregated mean of those left. */
static void finish(const struct elim_judge_parts *parts)
{
    TACIT_ASSERT(!parts->judge->finished);
    tacit_bits_add(parts->final, best_of(parts));
    parts->judge->finished = true;
}

void elim_judge_retire(const struct elim_judge_parts *parts)
{
    struct elim_judge *const judge = parts->judge;
    uint32_t const arms = parts->schedule->arm_count;
    bool const has_leader = judge->leader > 0;
    TACIT_BITS_EACH (arm, parts->retired, arms) {
        if (!tacit_bits_has(parts->active, arm))
            continue;
        tacit_bits_remove(parts->active, arm);
        parts->eliminated[arm] = judge->epoch;
        judge->active_count--;
    }
    TACIT_ASSERT(judge->active_count >= 1);
    if (has_leader && !tacit_bits_has(parts->active, judge->leader - 1))
        judge->leader = 1 + best_of(parts);
}

void elim_judge_end(const struct elim_judge_parts *parts)
{
    TACIT_ASSERT(parts->judge->epoch >= 1 && parts->judge->epoch < TACIT_ELIM_EPOCHS_MAX);
    parts->judge->epoch++;
    finish(parts);
}

/* An epoch with n_r = 0 repeats the test with its own radius and costs nothing (READINGS P1.3). */
static void begin_epoch(const struct elim_judge_parts *parts, uint32_t agents_averaged)
{
    TACIT_ASSERT(!parts->judge->finished);
    TACIT_ASSERT(parts->judge->active_count >= 1);
    struct elim_judge *const judge = parts->judge;
    struct tacit_elim_schedule const *const schedule = parts->schedule;
    uint32_t const limit =
        schedule->round_limit > 0 ? schedule->round_limit : TACIT_ELIM_EPOCHS_MAX - 1;
    for (;;) {
        judge->epoch++;
        bool const is_over = judge->active_count == 1 || judge->epoch > limit;
        if (is_over || (elim_is_exact(schedule) && !elim_exact_goes_on(parts))) {
            finish(parts);
            return;
        }
        uint64_t const pulls =
            tacit_elim_pulls(schedule, judge->epoch, judge->active_count, judge->pulls);
        if (pulls > judge->pulls) {
            judge->pulls = pulls;
            return;
        }
        eliminate(parts, agents_averaged);
    }
}

void elim_judge_begin_epoch(const struct elim_judge_parts *parts)
{
    TACIT_ASSERT(parts->judge->epoch == 0); /* the first: S(1) > 0, there is no test to repeat */
    begin_epoch(parts, 1);
}

void elim_judge_close_round(const struct elim_judge_parts *parts, uint32_t agents_averaged)
{
    TACIT_ASSERT(parts->judge->epoch >= 1);
    TACIT_ASSERT(!parts->judge->finished);
    parts->judge->round_count++;
    if (parts->retired != NULL)
        elim_judge_retire(parts);
    if (parts->judge->active_count > 1 || elim_is_exact(parts->schedule))
        eliminate(parts, agents_averaged);
    begin_epoch(parts, agents_averaged);
    TACIT_ASSERT(parts->judge->round_count <= parts->judge->epoch);
    TACIT_ASSERT(parts->judge->epoch <= TACIT_ELIM_EPOCHS_MAX);
}

struct tacit_elim_message elim_judge_order(const struct elim_judge_parts *parts)
{
    TACIT_ASSERT(parts->judge->epoch <= TACIT_ELIM_EPOCHS_MAX);
    struct elim_judge const *const judge = parts->judge;
    return (struct tacit_elim_message){.kind = TACIT_ELIM_ORDER,
                                       .from = TACIT_HUB,
                                       .epoch = judge->epoch,
                                       .last = judge->finished,
                                       .leader = judge->leader,
                                       .pulls = judge->pulls,
                                       .arms = judge->finished ? parts->final : parts->active};
}

struct tacit_elim_judge_view elim_judge_view(const struct elim_judge_parts *parts)
{
    struct elim_judge const *const judge = parts->judge;
    return (struct tacit_elim_judge_view){.round_count = judge->round_count,
                                          .decided = judge->finished,
                                          .is_exact = elim_is_exact(parts->schedule),
                                          .leader =
                                              judge->leader > 0 ? judge->leader - 1 : TACIT_NO_ARM,
                                          .active_count = judge->active_count,
                                          .arms = parts->active,
                                          .radius = judge->radius,
                                          .means = parts->means,
                                          .eliminated = parts->eliminated};
}

/* Only arms that exist, and an arm is out since an epoch or in. */
static bool arms_are_possible(const struct elim_judge_parts *parts)
{
    uint32_t const arms = parts->schedule->arm_count;
    struct elim_judge const *const judge = parts->judge;
    if (!tacit_bits_within(parts->active, parts->active, arms) ||
        !tacit_bits_within(parts->final, parts->active, arms))
        return false;
    for (uint32_t arm = 0; arm < arms; arm++)
        if (parts->eliminated[arm] > judge->epoch ||
            (parts->eliminated[arm] == 0) != tacit_bits_has(parts->active, arm))
            return false;
    return judge->active_count >= 1 && judge->active_count == tacit_bits_count(parts->active, arms);
}

bool elim_judge_is_possible(const struct elim_judge_parts *parts)
{
    struct elim_judge const *const judge = parts->judge;
    uint32_t const final_count = tacit_bits_count(parts->final, parts->schedule->arm_count);
    if (*(const unsigned char *)&judge->finished > 1 || /* any byte, on a disk */
        judge->pulls > TACIT_HORIZON_MAX || judge->round_count > judge->epoch ||
        !arms_are_possible(parts))
        return false;
    if (elim_is_exact(parts->schedule)
            ? !elim_exact_is_possible(parts)
            : judge->leader > 0 || judge->rung_count > 0 || judge->slots > 0)
        return false;
    if (judge->finished)
        return judge->epoch >= 1 && judge->epoch <= TACIT_ELIM_EPOCHS_MAX && final_count == 1;
    return judge->epoch < TACIT_ELIM_EPOCHS_MAX && final_count == 0 &&
           (judge->epoch == 0 ? judge->pulls == 0 : judge->pulls >= 1 && judge->active_count >= 2);
}

bool elim_schedule_is_valid(const struct tacit_elim_schedule *schedule)
{
    return schedule->arm_count >= 1 && schedule->arm_count <= TACIT_ARMS_MAX &&
           schedule->report_count >= 1 && schedule->report_count <= TACIT_AGENTS_MAX &&
           schedule->horizon >= 1 && schedule->horizon <= TACIT_HORIZON_MAX &&
           schedule->epsilon_per_reward > 0 &&
           schedule->round_limit < TACIT_ELIM_EPOCHS_MAX && /* the last order is epoch R + 1 */
           (schedule->round_limit == 0 || (schedule->gap > 0 && schedule->gap <= 1)) &&
           elim_exact_is_valid(schedule);
}

bool elim_sums_fit(const struct tacit_mechanism *mechanism, uint32_t agent_count, uint64_t horizon)
{
    TACIT_ASSERT(agent_count > 0);
    union tacit_sum const most = {.steps = INT64_MAX / agent_count};
    return mechanism->scale.kind == TACIT_SCALE_REAL ||
           !tacit_mechanism_plausible(mechanism, most, horizon, TACIT_ELIM_EPOCHS_MAX);
}
