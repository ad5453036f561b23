/* The different rewards of each cell of a log, and how often each is drawn: so many draws are then
 * as many binomials as there are rewards, whatever their number. */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

struct drawn {
    double reward;
    double share;
};

static int compare(const void *left, const void *right)
{
    struct drawn const *const a = left;
    struct drawn const *const b = right;
    return (a->reward > b->reward) - (a->reward < b->reward);
}

/* What each row of a cell is drawn with: alike, or by its tables (tacit_env_weigh). */
static void shares_of(const struct tacit_log *log, uint32_t first, uint32_t rows,
                      struct drawn *drawn)
{
    double const *const keep = log->weights.keep == NULL ? NULL : log->weights.keep + first;
    for (uint32_t i = 0; i < rows; i++)
        drawn[i] = (struct drawn){log->rewards[first + i], keep == NULL ? 1 : 0};
    for (uint32_t i = 0; keep != NULL && i < rows; i++) {
        drawn[i].share += keep[i];
        drawn[log->weights.other[first + i]].share += 1 - keep[i];
    }
}

/* Appends the cell's rewards, each once, and the sums of their shares so far. */
static void gather(struct tacit_log_gathered *gathered, uint32_t cell, const struct drawn *drawn,
                   uint32_t rows)
{
    uint32_t at = gathered->start[cell];
    double sum = 0;
    for (uint32_t i = 0; i < rows; i++) {
        bool const is_new = i == 0 || drawn[i].reward > drawn[i - 1].reward;
        sum += drawn[i].share;
        at += is_new ? 1 : 0;
        gathered->values[at - 1] = drawn[i].reward;
        gathered->upto[at - 1] = sum;
    }
    gathered->start[cell + 1] = at;
}

enum tacit_status tacit_log_gather(struct tacit_log *log)
{
    uint32_t const cells = log->agent_count * log->arm_count;
    uint32_t const count = log->start[cells];
    struct tacit_log_gathered *const gathered = &log->gathered;
    struct drawn *const drawn = malloc(count * sizeof *drawn);
    TACIT_ASSERT(gathered->values == NULL);
    gathered->start = calloc(cells + (size_t)1, sizeof *gathered->start);
    gathered->values = malloc(count * sizeof *gathered->values);
    gathered->upto = malloc(count * sizeof *gathered->upto);
    bool const has_memory = drawn != NULL && gathered->start != NULL && gathered->values != NULL &&
                            gathered->upto != NULL;
    for (uint32_t cell = 0; has_memory && cell < cells; cell++) {
        uint32_t const first = log->start[cell];
        uint32_t const rows = log->start[cell + 1] - first;
        shares_of(log, first, rows, drawn);
        qsort(drawn, rows, sizeof *drawn, compare);
        gather(gathered, cell, drawn, rows);
    }
    free(drawn);
    if (has_memory)
        return TACIT_OK;
    free(gathered->start);
    free(gathered->values);
    free(gathered->upto);
    *gathered = (struct tacit_log_gathered){0};
    return TACIT_MEMORY;
}
