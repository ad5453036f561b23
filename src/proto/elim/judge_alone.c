/* A judge without those who bring it reports: for whoever has the aggregates at once, as a
 * simulator of a network in which nothing fails (Li, Song, Alg. 3 l. 9-10 at every agent alike). */
#include <string.h>
#include "internal.h"

struct tacit_elim_judge {
    struct tacit_elim_schedule schedule;
    struct elim_judge judge;
    uint64_t words[]; /* those of elim_judge_at */
};

static struct elim_judge_parts parts_of(const struct tacit_elim_judge *state)
{
    struct tacit_elim_judge *const judge = (struct tacit_elim_judge *)(uintptr_t)state;
    TACIT_ASSERT(judge->schedule.arm_count >= 1);
    return elim_judge_at(&judge->judge, &judge->schedule, judge->words);
}

size_t tacit_elim_judge_size(const struct tacit_elim_schedule *schedule)
{
    if (!elim_schedule_is_valid(schedule))
        return 0;
    return sizeof(struct tacit_elim_judge) + elim_judge_words(schedule) * sizeof(uint64_t);
}

enum tacit_status tacit_elim_judge_init(struct tacit_elim_judge *judge,
                                        const struct tacit_elim_schedule *schedule)
{
    size_t const size = tacit_elim_judge_size(schedule);
    if (size == 0)
        return TACIT_INVALID;
    memset(judge, 0, size);
    judge->schedule = *schedule;
    struct elim_judge_parts const parts = parts_of(judge);
    elim_judge_init(&parts);
    elim_judge_begin_epoch(&parts);
    TACIT_ASSERT(judge->judge.epoch >= 1);
    return TACIT_OK;
}

struct tacit_elim_message tacit_elim_judge_order(const struct tacit_elim_judge *judge)
{
    struct elim_judge_parts const parts = parts_of(judge);
    TACIT_ASSERT(judge->judge.epoch >= 1);
    return elim_judge_order(&parts);
}

void tacit_elim_judge_close(struct tacit_elim_judge *judge, const double *means,
                            const int64_t *totals)
{
    struct elim_judge_parts const parts = parts_of(judge);
    uint32_t const arms = judge->schedule.arm_count;
    TACIT_ASSERT(!judge->judge.finished);
    TACIT_ASSERT(elim_is_exact(&judge->schedule) ? totals != NULL : means != NULL);
    if (elim_is_exact(&judge->schedule)) {
        memcpy(elim_judge_totals(&parts), totals, arms * sizeof *totals);
    } else {
        TACIT_BITS_EACH (arm, parts.active, arms)
            parts.means[arm] = means[arm];
    }
    elim_judge_close_round(&parts, judge->schedule.report_count);
}

struct tacit_elim_judge_view tacit_elim_judge_view(const struct tacit_elim_judge *judge)
{
    struct elim_judge_parts const parts = parts_of(judge);
    return elim_judge_view(&parts);
}
