/* Rewards drawn from logged rows with replacement: alike often, or in proportion to weights. The
 * words of a stream are made many at a time; they are the ones that a draw at a time would use. */
#include "log.h"
#include "../random/words.h"

#define WORDS_MAX 64u
#define AT_ONCE_MIN 256u /* fewer pulls cost less one by one */

/* One of the rows of a cell, or UINT32_MAX: this word says none (tacit_rng_below). */
static inline uint32_t row_of(uint64_t word, uint32_t rows)
{
    uint64_t low;
    uint64_t const high = random_times(word, rows, &low);
    return random_is_even(low, rows) ? (uint32_t)high : UINT32_MAX;
}

/* What is behind the point of word * rows / 2^64 is uniform once more, to 2^-32 and better. */
static inline uint32_t weighed_row_of(uint64_t word, uint32_t rows, const double *keep,
                                      const uint32_t *other)
{
    uint64_t low;
    uint64_t const row = random_times(word, rows, &low);
    return (double)(int64_t)(low >> 11) < keep[row] * 0x1p53 ? (uint32_t)row : other[row];
}

/* Fills `picked` with rows of the cell, as many as the words say. */
static uint32_t pick(const struct tacit_env_log *log, size_t cell, const uint64_t *words,
                     uint32_t word_count, uint32_t *picked)
{
    uint32_t const first = log->start[cell];
    uint32_t const rows = log->start[cell + 1] - first;
    uint32_t count = 0;
    for (uint32_t i = 0; i < word_count; i++) {
        uint32_t const row = log->keep == NULL ? row_of(words[i], rows)
                                               : weighed_row_of(words[i], rows, log->keep + first,
                                                                log->other + first);
        picked[count] = row;
        count += row != UINT32_MAX ? 1 : 0;
    }
    return count;
}

/* Of the rows that were picked those whose unit has rewards left, which are drawn. */
static uint32_t draw_units(const struct tacit_env_log *log, size_t cell, uint32_t *picked,
                           uint32_t count)
{
    uint32_t kept = 0;
    TACIT_ASSERT(log->drawn != NULL);
    TACIT_ASSERT(log->values == NULL);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *const drawn = &log->drawn[log->units[log->start[cell] + picked[i]]];
        if (*drawn == log->unit_limit)
            continue;
        (*drawn)++;
        picked[kept++] = picked[i];
    }
    return kept;
}

/* How many of `count` draws bring each of the values from first to end - 1, half against half.
 * below: what is before them in `upto`. */
static void spread(const struct tacit_env_log *log, uint32_t first, uint32_t end, double below,
                   uint64_t count, const struct tacit_scale *scale, struct tacit_rng *rng,
                   union tacit_sum *sum)
{
    while (count > 0 && end - first > 1) {
        uint32_t const middle = first + (end - first) / 2;
        double const at = log->upto[middle - 1];
        double const chance = (at - below) / (log->upto[end - 1] - below);
        uint64_t const lower = tacit_rng_binomial(rng, count, chance < 1 ? chance : 1);
        spread(log, first, middle, below, lower, scale, rng, sum); /* as deep as log2(values) */
        first = middle;
        below = at;
        count -= lower;
    }
    if (count > 0)
        tacit_sum_add_reward(scale, sum, log->values[first], count);
}

void env_log_pull(const struct tacit_env_log *log, size_t cell, uint64_t count,
                  const struct tacit_scale *scale, struct tacit_rng *rng, union tacit_sum *sum)
{
    const double *const rewards = log->rewards + log->start[cell];
    TACIT_ASSERT(log->start[cell + 1] > log->start[cell]);
    if (log->values != NULL && count >= AT_ONCE_MIN) {
        spread(log, log->value_start[cell], log->value_start[cell + 1], 0, count, scale, rng, sum);
        return;
    }
    for (uint64_t left = count; left > 0;) {
        uint64_t words[WORDS_MAX];
        uint32_t rows[WORDS_MAX];
        uint32_t const asked = left < WORDS_MAX ? (uint32_t)left : WORDS_MAX;
        tacit_rng_words(rng, asked, words);
        uint32_t picked = pick(log, cell, words, asked, rows);
        if (log->unit_limit > 0)
            picked = draw_units(log, cell, rows, picked);
        for (uint32_t i = 0; i < picked; i++)
            tacit_sum_add_reward(scale, sum, rewards[rows[i]], 1);
        left -= picked;
    }
}

/* Those below their share take what they lack from one that is above it, until all have a share. */
void tacit_env_weigh(uint32_t count, double *keep, uint32_t *other, uint32_t *work)
{
    double total = 0;
    uint32_t below = 0;     /* of work: from the front */
    uint32_t above = count; /* and from the back */
    TACIT_ASSERT(count > 0);
    for (uint32_t i = 0; i < count; i++)
        total += keep[i];
    TACIT_ASSERT(total > 0);
    for (uint32_t i = 0; i < count; i++) {
        TACIT_ASSERT(keep[i] > 0);
        keep[i] = keep[i] / total * count;
        other[i] = i;
        if (keep[i] < 1)
            work[below++] = i;
        else
            work[--above] = i;
    }
    while (below > 0 && above < count) {
        uint32_t const poor = work[--below];
        uint32_t const rich = work[above];
        other[poor] = rich;
        keep[rich] -= 1 - keep[poor];
        if (keep[rich] < 1) {
            above++;
            work[below++] = rich;
        }
    }
    while (below > 0) /* what is left is 1, but for rounding */
        keep[work[--below]] = 1;
}
