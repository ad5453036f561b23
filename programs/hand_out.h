/* Who plays what: the cells of a comparison, whole while there are many, in shares of their runs
 * towards the end, given to ranks one by one as they ask. What a lost rank had is given again. It
 * decides about time only: results do not depend on it. */
#ifndef TACIT_PROGRAMS_HAND_OUT_H
#define TACIT_PROGRAMS_HAND_OUT_H
#include <stdbool.h>
#include <stdint.h>

#define HAND_OUT_SHARES_MAX 64u

struct hand_out;

/* Share `index` of the `count` shares of a cell. */
struct hand_out_unit {
    uint32_t cell;
    uint32_t index;
    uint32_t count;
};

/* `seats`: how many units are played at one time. NULL: no memory. */
struct hand_out *hand_out_new(uint32_t cell_count, uint32_t seats);
void hand_out_free(struct hand_out *hand_out);

/* The cell needs no playing. Requires: nothing of it was given. */
void hand_out_leave(struct hand_out *hand_out, uint32_t cell);

/* What this rank plays next. False: nothing is left now. */
bool hand_out_next(struct hand_out *hand_out, uint32_t rank, struct hand_out_unit *unit);

/* Is it a unit of this comparison, as it was cut? (For what comes from elsewhere.) */
bool hand_out_knows(const struct hand_out *hand_out, struct hand_out_unit unit);

/* The unit was played. False: it had been before, by another rank. */
bool hand_out_done(struct hand_out *hand_out, struct hand_out_unit unit);

/* Have all shares of the cell been played? */
bool hand_out_whole(const struct hand_out *hand_out, uint32_t cell);

/* Gives again what the rank was given and has not played; how many units that is. */
uint32_t hand_out_lose(struct hand_out *hand_out, uint32_t rank);
#endif
