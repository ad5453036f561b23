/* A cell is cut into shares when its first one is given. While there are twice as many cells as
 * seats it is one share; the last ones are cut finer, so that all seats end at about one time. */
#include "hand_out.h"
#include <stdlib.h>
#include "tacit/base.h"

#define CELLS_A_SEAT 2u  /* more of them: a cell is given whole */
#define SHARES_A_SEAT 4u /* of what is left after that */

enum share_state { SHARE_FREE, SHARE_GIVEN, SHARE_PLAYED };

struct share {
    enum share_state state;
    uint32_t rank; /* to which it was given last */
};

struct handed {
    struct share *shares; /* NULL: nothing of it was given */
    uint32_t count;
    uint32_t played;
    bool is_left;
};

struct hand_out {
    uint32_t cell_count;
    uint32_t seats;
    uint32_t untouched;
    uint32_t next;  /* cells below are touched or left */
    uint32_t freed; /* shares that can be given, of cells that are touched */
    uint32_t from;  /* cells below have none of them */
    struct handed cells[];
};

struct hand_out *hand_out_new(uint32_t cell_count, uint32_t seats)
{
    struct hand_out *const hand_out =
        calloc(1, sizeof *hand_out + cell_count * sizeof hand_out->cells[0]);
    TACIT_ASSERT(seats >= 1);
    if (hand_out == NULL)
        return NULL;
    hand_out->cell_count = cell_count;
    hand_out->seats = seats;
    hand_out->untouched = cell_count;
    return hand_out;
}

void hand_out_free(struct hand_out *hand_out)
{
    for (uint32_t i = 0; hand_out != NULL && i < hand_out->cell_count; i++)
        free(hand_out->cells[i].shares);
    free(hand_out);
}

void hand_out_leave(struct hand_out *hand_out, uint32_t cell)
{
    TACIT_ASSERT(cell < hand_out->cell_count);
    TACIT_ASSERT(hand_out->cells[cell].shares == NULL && !hand_out->cells[cell].is_left);
    hand_out->cells[cell].is_left = true;
    hand_out->untouched--;
}

static uint32_t shares_of_next(const struct hand_out *hand_out)
{
    uint64_t const wanted = (uint64_t)SHARES_A_SEAT * hand_out->seats;
    uint64_t const each = (wanted + hand_out->untouched - 1) / hand_out->untouched;
    if (hand_out->seats == 1 || hand_out->untouched >= (uint64_t)CELLS_A_SEAT * hand_out->seats)
        return 1;
    return each < HAND_OUT_SHARES_MAX ? (uint32_t)each : HAND_OUT_SHARES_MAX;
}

/* Cuts the next cell. False: there is none, or no memory. */
static bool touch(struct hand_out *hand_out)
{
    if (hand_out->untouched == 0)
        return false;
    while (hand_out->cells[hand_out->next].shares != NULL ||
           hand_out->cells[hand_out->next].is_left)
        hand_out->next++;
    TACIT_ASSERT(hand_out->next < hand_out->cell_count);
    struct handed *const handed = &hand_out->cells[hand_out->next];
    handed->count = shares_of_next(hand_out);
    handed->shares = calloc(handed->count, sizeof *handed->shares);
    if (handed->shares == NULL)
        return false;
    hand_out->untouched--;
    hand_out->freed += handed->count;
    hand_out->from = hand_out->next;
    return true;
}

bool hand_out_next(struct hand_out *hand_out, uint32_t rank, struct hand_out_unit *unit)
{
    if (hand_out->freed == 0 && !touch(hand_out))
        return false;
    for (uint32_t i = hand_out->from; i < hand_out->cell_count; i++) {
        struct handed *const handed = &hand_out->cells[i];
        for (uint32_t j = 0; handed->shares != NULL && j < handed->count; j++) {
            if (handed->shares[j].state != SHARE_FREE)
                continue;
            handed->shares[j] = (struct share){SHARE_GIVEN, rank};
            hand_out->freed--;
            hand_out->from = i;
            *unit = (struct hand_out_unit){i, j, handed->count};
            return true;
        }
    }
    return false;
}

bool hand_out_knows(const struct hand_out *hand_out, struct hand_out_unit unit)
{
    return unit.cell < hand_out->cell_count && hand_out->cells[unit.cell].shares != NULL &&
           unit.count == hand_out->cells[unit.cell].count && unit.index < unit.count;
}

bool hand_out_done(struct hand_out *hand_out, struct hand_out_unit unit)
{
    TACIT_ASSERT(hand_out_knows(hand_out, unit));
    struct share *const share = &hand_out->cells[unit.cell].shares[unit.index];
    if (share->state == SHARE_PLAYED)
        return false;
    hand_out->freed -= share->state == SHARE_FREE ? 1u : 0u;
    share->state = SHARE_PLAYED;
    hand_out->cells[unit.cell].played++;
    return true;
}

bool hand_out_whole(const struct hand_out *hand_out, uint32_t cell)
{
    struct handed const *const handed = &hand_out->cells[cell];
    return handed->shares != NULL && handed->played == handed->count;
}

uint32_t hand_out_lose(struct hand_out *hand_out, uint32_t rank)
{
    uint32_t lost = 0;
    for (uint32_t i = 0; i < hand_out->cell_count; i++)
        for (uint32_t j = 0; hand_out->cells[i].shares != NULL && j < hand_out->cells[i].count;
             j++) {
            struct share *const share = &hand_out->cells[i].shares[j];
            bool const is_lost = share->state == SHARE_GIVEN && share->rank == rank;
            share->state = is_lost ? SHARE_FREE : share->state;
            lost += is_lost ? 1 : 0;
        }
    hand_out->freed += lost;
    hand_out->from = lost > 0 ? 0 : hand_out->from;
    return lost;
}
