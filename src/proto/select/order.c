/* Stable orders of users by a score, in the caller's scratch memory. */
#include "internal.h"
#include <math.h>
#include <string.h>

#define DIGIT_BITS 11u
#define DIGITS (1u << DIGIT_BITS)
#define PASSES 6u
#define FEW_USERS 64u

struct select_scratch select_scratch_of(void *memory, uint32_t user_count)
{
    TACIT_ASSERT(memory != NULL);
    TACIT_ASSERT((uintptr_t)memory % 8 == 0);
    size_t const count = user_count;
    uint64_t *const wide = memory;
    uint32_t *const narrow = (uint32_t *)(wide + 6 * count + TACIT_BITS_WORDS(count));
    return (struct select_scratch){.first = (double *)(wide + 2 * count),
                                   .second = (double *)(wide + 3 * count),
                                   .keys = wide + 4 * count,
                                   .members = wide + 6 * count,
                                   .order = narrow,
                                   .order_other = narrow + count,
                                   .place = narrow + 2 * count,
                                   .third = narrow + 3 * count,
                                   .fourth = narrow + 4 * count};
}

size_t tacit_select_scratch_size(uint32_t user_count)
{
    size_t const count = user_count;
    return (6 * count + TACIT_BITS_WORDS(count)) * sizeof(uint64_t) + 11 * count * sizeof(uint32_t);
}

/* Doubles as integers of the same order. */
static uint64_t key_of(double value)
{
    TACIT_ASSERT(!isnan(value));
    double const positive_zero = value == 0 ? 0 : value;
    uint64_t bits;
    memcpy(&bits, &positive_zero, sizeof bits);
    return bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63;
}

static void insert_in_order(const uint64_t *keys, uint32_t user_count, uint32_t *order)
{
    TACIT_ASSERT(user_count <= FEW_USERS);
    for (uint32_t i = 0; i < user_count; i++) {
        uint32_t place = i;
        while (place > 0 && keys[order[place - 1]] > keys[i]) {
            order[place] = order[place - 1];
            place--;
        }
        order[place] = i;
    }
}

/* One pass by one digit; false if all keys share it and nothing had to be moved. */
static bool distribute(const uint64_t *keys, const uint32_t *from, uint32_t user_count,
                       uint32_t pass, uint32_t *to)
{
    TACIT_ASSERT(pass < PASSES);
    TACIT_ASSERT(from != to);
    uint32_t starts[DIGITS] = {0};
    uint32_t const shift = pass * DIGIT_BITS;
    for (uint32_t i = 0; i < user_count; i++)
        starts[(keys[i] >> shift) & (DIGITS - 1)]++;
    if (starts[(keys[0] >> shift) & (DIGITS - 1)] == user_count)
        return false;
    uint32_t start = 0;
    for (uint32_t digit = 0; digit < DIGITS; digit++) {
        uint32_t const count = starts[digit];
        starts[digit] = start;
        start += count;
    }
    for (uint32_t i = 0; i < user_count; i++)
        to[starts[(keys[from[i]] >> shift) & (DIGITS - 1)]++] = from[i];
    return true;
}

void select_sort(const double *values, uint32_t user_count, struct select_scratch *scratch,
                 uint32_t *order)
{
    TACIT_ASSERT(user_count > 0);
    uint64_t *const keys = scratch->keys;
    for (uint32_t i = 0; i < user_count; i++)
        keys[i] = key_of(values[i]);
    if (user_count <= FEW_USERS) {
        insert_in_order(keys, user_count, order);
        return;
    }
    uint32_t *from = order;
    uint32_t *to = scratch->order_other;
    TACIT_ASSERT(to != order);
    for (uint32_t i = 0; i < user_count; i++)
        from[i] = i;
    for (uint32_t pass = 0; pass < PASSES; pass++)
        if (distribute(keys, from, user_count, pass, to)) {
            uint32_t *const swap = from;
            from = to;
            to = swap;
        }
    if (from != order)
        memcpy(order, from, user_count * sizeof *order);
}

void select_sort_users(uint32_t *users, uint32_t count, uint32_t user_count,
                       struct select_scratch *scratch)
{
    uint32_t taken = 0;
    memset(scratch->members, 0, TACIT_BITS_WORDS(user_count) * sizeof *scratch->members);
    for (uint32_t i = 0; i < count; i++)
        tacit_bits_add(scratch->members, users[i]);
    TACIT_BITS_EACH (user, scratch->members, user_count)
        users[taken++] = user;
    TACIT_ASSERT(taken == count);
}

void select_largest(const double *values, uint32_t user_count, uint32_t m,
                    struct select_scratch *scratch, uint32_t *users)
{
    TACIT_ASSERT(m <= user_count);
    uint32_t *const order = scratch->order;
    select_sort(values, user_count, scratch, order);
    /* Growing values, growing index: among equals at the edge the lowest index stays. */
    uint32_t taken = 0;
    uint32_t end = user_count;
    while (taken < m) {
        uint32_t start = end - 1;
        while (start > 0 && values[order[start - 1]] == values[order[end - 1]])
            start--;
        for (uint32_t i = start; i < end && taken < m; i++)
            users[taken++] = order[i];
        end = start;
    }
    select_sort_users(users, m, user_count, scratch);
}
