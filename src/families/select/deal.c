/* Who gets which pictures (READINGS P5.12). */
#include "deal.h"
#include <math.h>

/* Sizes that add up to at most all pictures, none below its least, in the proportion asked for. */
static void cut_sizes(const struct training_deal *deal, uint64_t *sizes)
{
    TACIT_ASSERT((uint64_t)deal->user_count * TRAINING_SIZE_MIN <= deal->count);
    uint64_t const rest = deal->count - (uint64_t)deal->user_count * TRAINING_SIZE_MIN;
    double total = 0;
    for (uint32_t user = 0; user < deal->user_count; user++)
        total += (double)sizes[user];
    TACIT_ASSERT(total > 0);
    for (uint32_t user = 0; user < deal->user_count; user++)
        sizes[user] =
            TRAINING_SIZE_MIN + (uint64_t)floor((double)rest * ((double)sizes[user] / total));
}

/* Pictures in random order, sorted by label: stack l is rows[start[l]] .. rows[end[l] - 1], and is
 * taken from its end. */
struct stacks {
    uint32_t *rows;
    uint32_t classes;
    uint32_t start[TRAINING_LABELS_MAX];
    uint32_t end[TRAINING_LABELS_MAX];
};

static void make_stacks(const struct training_deal *deal, struct tacit_rng *rng,
                        struct stacks *stacks)
{
    uint32_t counts[TRAINING_LABELS_MAX] = {0};
    for (uint32_t i = 0; i < deal->count; i++) {
        TACIT_ASSERT(deal->labels[i] < deal->classes);
        counts[deal->labels[i]]++;
    }
    uint32_t place = 0;
    for (uint32_t label = 0; label < deal->classes; label++) {
        stacks->start[label] = stacks->end[label] = place;
        place += counts[label];
    }
    for (uint32_t i = 0; i < deal->count; i++)
        stacks->rows[stacks->end[deal->labels[i]]++] = i;
    for (uint32_t label = 0; label < deal->classes; label++)
        tacit_rng_shuffle(rng, counts[label], stacks->rows + stacks->start[label]);
}

static bool has_any(const struct stacks *stacks, uint32_t label)
{
    TACIT_ASSERT(label < stacks->classes);
    return stacks->end[label] > stacks->start[label];
}

/* A picture of this label, or of the next one that has any left; of `last` only if no other has. */
static uint32_t pop_picture(struct stacks *stacks, uint32_t label, uint32_t last)
{
    uint32_t found = last;
    for (uint32_t i = 0; i < stacks->classes && found == last; i++) {
        uint32_t const other = (label + i) % stacks->classes;
        if (other != last && has_any(stacks, other))
            found = other;
    }
    TACIT_ASSERT(found < stacks->classes && has_any(stacks, found));
    return stacks->rows[--stacks->end[found]];
}

/* First everybody's own label, so that the first users cannot use up what is the last ones'. */
static void deal_dominant(const struct training_deal *deal, struct tacit_rng *rng,
                          uint32_t *scratch, uint32_t *rows, const uint32_t *first)
{
    struct stacks stacks = {.rows = scratch, .classes = deal->classes};
    make_stacks(deal, rng, &stacks);
    for (uint32_t user = 0; user < deal->user_count; user++) {
        uint32_t const quarter = (first[user + 1] - first[user]) / 4;
        for (uint32_t i = 0; i < quarter; i++)
            rows[first[user] + i] = pop_picture(&stacks, user % deal->classes, deal->classes);
    }
    for (uint32_t user = 0; user < deal->user_count; user++) {
        uint32_t const own = user % deal->classes;
        uint32_t const quarter = (first[user + 1] - first[user]) / 4;
        for (uint32_t place = first[user] + quarter; place < first[user + 1]; place++) {
            uint32_t const step = 1 + (uint32_t)tacit_rng_below(rng, deal->classes - 1);
            rows[place] = pop_picture(&stacks, (own + step) % deal->classes, own);
        }
    }
}

void training_deal_out(const struct training_deal *deal, struct tacit_rng *rng, uint64_t *sizes,
                       uint32_t *scratch, uint32_t *rows, uint32_t *first)
{
    TACIT_ASSERT(deal->classes >= 2 && deal->classes <= TRAINING_LABELS_MAX);
    cut_sizes(deal, sizes);
    first[0] = 0;
    for (uint32_t user = 0; user < deal->user_count; user++)
        first[user + 1] = first[user] + (uint32_t)sizes[user];
    TACIT_ASSERT(first[deal->user_count] <= deal->count);
    if (deal->is_dominant) {
        deal_dominant(deal, rng, scratch, rows, first);
        return;
    }
    for (uint32_t i = 0; i < deal->count; i++)
        rows[i] = i;
    tacit_rng_shuffle(rng, deal->count, rows);
}
