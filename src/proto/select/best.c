/* The best set of Eq. (14), exactly; and by trying every set. */
#include "internal.h"
#include <math.h>
#include <string.h>

double tacit_select_energy(const double *ucb, const double *weight, const uint32_t *users,
                           uint32_t user_count)
{
    TACIT_ASSERT(user_count > 0);
    double least = INFINITY;
    double sum = 0;
    for (uint32_t i = 0; i < user_count; i++) {
        least = ucb[users[i]] < least ? ucb[users[i]] : least;
        sum += weight[users[i]];
    }
    return least + sum;
}

/* ---- A heap of the best weights seen, the least on top; of equal ones the last to come goes first
 * ---- */

struct heap {
    const double *weight;
    uint32_t *ranks; /* into the order by ucb */
    const uint32_t *order;
    uint32_t count;
};

static bool is_worse(const struct heap *heap, uint32_t rank, uint32_t other)
{
    double const weight = heap->weight[heap->order[rank]];
    double const other_weight = heap->weight[heap->order[other]];
    return weight < other_weight || (weight == other_weight && rank > other);
}

static void sift_down(struct heap *heap, uint32_t rank)
{
    TACIT_ASSERT(heap->count > 0);
    uint32_t place = 0;
    for (uint32_t child = 1; child < heap->count; child = 2 * place + 1) {
        if (child + 1 < heap->count && is_worse(heap, heap->ranks[child + 1], heap->ranks[child]))
            child++;
        if (!is_worse(heap, heap->ranks[child], rank))
            break;
        heap->ranks[place] = heap->ranks[child];
        place = child;
    }
    heap->ranks[place] = rank;
}

static void heap_push(struct heap *heap, uint32_t rank)
{
    uint32_t place = heap->count++;
    while (place > 0 && is_worse(heap, rank, heap->ranks[(place - 1) / 2])) {
        heap->ranks[place] = heap->ranks[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap->ranks[place] = rank;
}

/* Takes the weight in if it is among the `capacity` best; returns what the sum of them gains. */
static double heap_offer(struct heap *heap, uint32_t capacity, uint32_t rank)
{
    TACIT_ASSERT(heap->count <= capacity);
    double const weight = heap->weight[heap->order[rank]];
    if (heap->count < capacity) {
        heap_push(heap, rank);
        return weight;
    }
    if (capacity == 0 || !is_worse(heap, heap->ranks[0], rank))
        return 0;
    double const gone = heap->weight[heap->order[heap->ranks[0]]];
    sift_down(heap, rank);
    return weight - gone;
}

/* ---- The search ---- */

/* By falling ucb, equal ones by growing index. */
static void order_by_falling_ucb(const double *ucb, uint32_t user_count,
                                 struct select_scratch *scratch)
{
    double *const negative = scratch->first;
    for (uint32_t i = 0; i < user_count; i++)
        negative[i] = -ucb[i];
    select_sort(negative, user_count, scratch, scratch->order);
}

/* Who is last in the best set: the rank whose ucb plus weight plus the m - 1 best weights before it
 * is largest; the first of equals. */
static uint32_t find_last(const double *ucb, const double *weight, uint32_t user_count, uint32_t m,
                          struct heap *heap)
{
    TACIT_ASSERT(heap->count == 0);
    uint32_t best = user_count; /* none yet */
    double best_energy = -INFINITY;
    double sum = 0;
    for (uint32_t rank = 0; rank < user_count; rank++) {
        uint32_t const user = heap->order[rank];
        if (heap->count == m - 1) {
            double const energy = ucb[user] + (sum + weight[user]);
            if (energy > best_energy) {
                best_energy = energy;
                best = rank;
            }
        }
        sum += heap_offer(heap, m - 1, rank);
    }
    TACIT_ASSERT(best < user_count);
    TACIT_ASSERT(best >= m - 1);
    return best;
}

/* The set: who is last, and the m - 1 best weights before. */
static void collect(uint32_t user_count, uint32_t last, uint32_t m, struct select_scratch *scratch,
                    struct heap *heap, uint32_t *users)
{
    TACIT_ASSERT(last >= m - 1);
    heap->count = 0;
    for (uint32_t rank = 0; rank < last; rank++)
        (void)heap_offer(heap, m - 1, rank);
    TACIT_ASSERT(heap->count == m - 1);
    for (uint32_t i = 0; i < m - 1; i++)
        users[i] = scratch->order[heap->ranks[i]];
    users[m - 1] = scratch->order[last];
    select_sort_users(users, m, user_count, scratch);
}

/* Those without a ucb yet come first, by their weights alone (READINGS P5.3). False: they are fewer
 * than m, and nothing was chosen. */
static bool choose_unseen(const double *ucb, const double *weight, uint32_t user_count, uint32_t m,
                          struct select_scratch *scratch, uint32_t *users)
{
    uint32_t unseen = 0;
    for (uint32_t i = 0; i < user_count; i++)
        unseen += isinf(ucb[i]) ? 1 : 0;
    if (unseen < m)
        return false;
    double *const values = scratch->first;
    for (uint32_t i = 0; i < user_count; i++)
        values[i] = isinf(ucb[i]) ? weight[i] : -INFINITY;
    select_largest(values, user_count, m, scratch, users);
    return true;
}

double tacit_select_best(const double *ucb, const double *weight, uint32_t user_count, uint32_t m,
                         void *memory, uint32_t *users)
{
    TACIT_ASSERT(m >= 1);
    TACIT_ASSERT(m <= user_count);
    struct select_scratch scratch = select_scratch_of(memory, user_count);
    if (!choose_unseen(ucb, weight, user_count, m, &scratch, users)) {
        order_by_falling_ucb(ucb, user_count, &scratch);
        struct heap heap = {.weight = weight, .ranks = scratch.place, .order = scratch.order};
        uint32_t const last = find_last(ucb, weight, user_count, m, &heap);
        collect(user_count, last, m, &scratch, &heap, users);
    }
    return tacit_select_energy(ucb, weight, users, m);
}

/* ---- Every set ---- */

/* UINT64_MAX: more than are tried. */
static uint64_t set_count(uint32_t user_count, uint32_t m)
{
    TACIT_ASSERT(m <= user_count);
    uint64_t count = 1;
    uint32_t const fewer = m < user_count - m ? m : user_count - m;
    for (uint32_t i = 1; i <= fewer; i++) {
        count = count * (user_count - fewer + i) / i;
        if (count > TACIT_SELECT_BRUTE_SETS_MAX)
            return UINT64_MAX;
    }
    return count;
}

/* The next set in lexicographic order; false after the last. */
static bool next_set(uint32_t *set, uint32_t m, uint32_t user_count)
{
    TACIT_ASSERT(m <= user_count);
    uint32_t place = m;
    while (place > 0 && set[place - 1] == user_count - m + place - 1)
        place--;
    if (place == 0)
        return false;
    set[place - 1]++;
    for (uint32_t i = place; i < m; i++)
        set[i] = set[i - 1] + 1;
    return true;
}

enum tacit_status tacit_select_brute(const double *ucb, const double *weight, uint32_t user_count,
                                     uint32_t m, uint32_t *users, double *energy)
{
    TACIT_ASSERT(m >= 1);
    TACIT_ASSERT(m <= user_count);
    if (m > TACIT_SELECT_BRUTE_USERS_MAX || set_count(user_count, m) == UINT64_MAX)
        return TACIT_INVALID;
    uint32_t set[TACIT_SELECT_BRUTE_USERS_MAX];
    for (uint32_t i = 0; i < m; i++)
        set[i] = i;
    double best = -INFINITY;
    do {
        double const value = tacit_select_energy(ucb, weight, set, m);
        if (value > best) {
            best = value;
            memcpy(users, set, m * sizeof *users);
        }
    } while (next_set(set, m, user_count));
    *energy = best;
    return TACIT_OK;
}
