/* Decisions that were logged: what is offered, and what it brings (Cesa-Bianchi et al. 2013, Sec.
 * 5). */
#include "tacit/env.h"

static bool is_liked(const struct tacit_context_log *log, uint32_t agent, uint32_t item)
{
    size_t const words = TACIT_BITS_WORDS(log->item_count);
    return tacit_bits_has(log->liked + agent * words, item);
}

static bool stands_in(const uint32_t *items, uint32_t count, uint32_t item)
{
    for (uint32_t k = 0; k < count; k++)
        if (items[k] == item)
            return true;
    return false;
}

/* The item that was chosen, in a place that is drawn, and others, which the agent never liked. */
static void draw_others(const struct tacit_context_log *log, uint64_t row, uint32_t arm_count,
                        struct tacit_rng *rng, uint32_t *items)
{
    uint32_t const own = log->chosen[row];
    uint32_t const place = (uint32_t)tacit_rng_below(rng, arm_count);
    for (uint32_t k = 0; k < arm_count; k++) {
        uint32_t item = own;
        while (k != place &&
               (item == own || is_liked(log, log->agents[row], item) || stands_in(items, k, item)))
            item = (uint32_t)tacit_rng_below(rng, log->item_count);
        items[k] = item;
    }
}

void tacit_context_log_offer(const struct tacit_context_log *log, uint64_t row, uint32_t arm_count,
                             struct tacit_rng *rng, uint32_t *items, double *contexts)
{
    TACIT_ASSERT(row < log->row_count);
    TACIT_ASSERT(arm_count <= log->item_count);
    size_t const d = log->dimension;
    if (log->liked != NULL)
        draw_others(log, row, arm_count, rng, items);
    for (uint32_t k = 0; k < arm_count; k++) {
        if (log->liked == NULL)
            items[k] = log->chosen[row] + k;
        float const *const item = log->items + items[k] * d;
        for (size_t i = 0; i < d; i++)
            contexts[k * d + i] = (double)item[i];
    }
}

double tacit_context_log_reward(const struct tacit_context_log *log, uint64_t row,
                                uint32_t arm_count, uint32_t item, double *best, double *average)
{
    TACIT_ASSERT(row < log->row_count);
    uint32_t const first = log->chosen[row];
    if (log->liked != NULL) {
        double const own = log->rewards[row];
        *best = own > 0 ? own : 0;
        *average = own / arm_count;
        return item == first ? own : 0;
    }
    TACIT_ASSERT(item >= first && item - first < arm_count);
    double sum = 0;
    *best = log->rewards[first];
    for (uint32_t k = 0; k < arm_count; k++) {
        *best = log->rewards[first + k] > *best ? log->rewards[first + k] : *best;
        sum += log->rewards[first + k];
    }
    *average = sum / arm_count;
    return log->rewards[item];
}
