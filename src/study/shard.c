/* What a launcher says, and who plays what. */
#include "shard.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNITS_A_SHARE 16u /* so many at least, whose lengths then even out */

/* ---- Launchers ------------------------------------------------------------------------------- */

/* A number that a launcher left. False: the variable is not there, or is no such number. */
static bool number_of(const char *text, uint64_t *value)
{
    char *end = NULL;
    *value = text == NULL || *text < '0' || *text > '9' ? 0 : strtoull(text, &end, 10);
    return end != NULL && *end == '\0';
}

/* Open MPI before Slurm: its ranks see what Slurm says of its daemons. */
static const struct launcher {
    const char *index;
    const char *count; /* NULL: it does not say */
    const char *first; /* what is the lowest index; NULL: 0 */
    const char *step;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL, NULL},
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
     "SLURM_ARRAY_TASK_STEP"},
    {"SLURM_PROCID", "SLURM_NTASKS", NULL, NULL},
    {"JOB_COMPLETION_INDEX", NULL, NULL, NULL},
};
#define LAUNCHER_COUNT (sizeof launchers / sizeof launchers[0])

static enum tacit_status refuse(struct tacit_error *error, const char *what, const char *text)
{
    (void)snprintf(error->text, sizeof error->text, "--shard: %.100s %.200s", what, text);
    return TACIT_INVALID;
}

/* Index and count of one launcher; `asked` is how many the words say, or 0. */
static enum tacit_status ask(const struct launcher *launcher, uint64_t asked, uint64_t *index,
                             uint64_t *count, struct tacit_error *error)
{
    uint64_t first = 0;
    uint64_t step = 1;
    bool const knows = launcher->count != NULL && number_of(getenv(launcher->count), count);
    bool is_good = number_of(getenv(launcher->index), index);
    if (launcher->first != NULL)
        is_good = is_good && number_of(getenv(launcher->first), &first);
    if (launcher->step != NULL && getenv(launcher->step) != NULL)
        is_good = is_good && number_of(getenv(launcher->step), &step) && step > 0;
    if (!knows && asked == 0)
        return refuse(error, launcher->index,
                      "does not say of how many; allowed: auto/N, with the number of shares");
    *count = knows ? *count : asked;
    if (!is_good || *index < first || (*index - first) % step != 0 ||
        (*index - first) / step >= *count)
        return refuse(error, launcher->index,
                      "is not one of as many indices in equal steps; allowed: such a job, or I/N");
    *index = (*index - first) / step;
    return TACIT_OK;
}

/* Tasks of an array's task are shares of its share. */
static enum tacit_status ask_launchers(struct shard *shard, uint64_t asked,
                                       struct tacit_error *error)
{
    uint64_t all_index = 0;
    uint64_t all_count = 1;
    for (size_t i = 0; i < LAUNCHER_COUNT; i++) {
        struct launcher const *const launcher = &launchers[i];
        uint64_t index = 0;
        uint64_t count = 0;
        size_t const length = strlen(shard->from);
        if (getenv(launcher->index) == NULL ||
            (length > 0 && (launcher->count == NULL || getenv(launcher->count) == NULL)))
            continue;
        TACIT_TRY(ask(launcher, asked, &index, &count, error));
        if (count > SHARDS_MAX || all_count * count > SHARDS_MAX)
            return refuse(error, launcher->index, "is of more than 100000; allowed: fewer");
        all_index = all_index * count + index;
        all_count *= count;
        (void)snprintf(shard->from + length, sizeof shard->from - length, "%s%s",
                       length > 0 ? ", " : "", launcher->index);
        if (strncmp(launcher->index, "SLURM_ARRAY", 11) != 0)
            break;
    }
    if (shard->from[0] == '\0')
        return refuse(error, "auto",
                      "finds no launcher (OMPI_COMM_WORLD_RANK, SLURM_ARRAY_TASK_ID, SLURM_PROCID, "
                      "JOB_COMPLETION_INDEX); allowed: I/N");
    if (asked > 0 && asked != all_count)
        return refuse(error, shard->from, "says another number of shares than auto/N");
    shard->index = (uint32_t)all_index;
    shard->count = (uint32_t)all_count;
    return TACIT_OK;
}

enum tacit_status shard_parse(struct shard *shard, const char *text, struct tacit_error *error)
{
    char index_text[24];
    uint64_t index = 0;
    uint64_t count = 0;
    char const *const slash = strchr(text, '/');
    bool const is_auto = strncmp(text, "auto", 4) == 0 && (text[4] == '\0' || text[4] == '/');
    *shard = (struct shard){.count = 0};
    bool is_good =
        slash == NULL ? is_auto : number_of(slash + 1, &count) && count > 0 && count <= SHARDS_MAX;
    if (is_good && is_auto)
        return ask_launchers(shard, count, error);
    (void)snprintf(index_text, sizeof index_text, "%.*s", slash == NULL ? 0 : (int)(slash - text),
                   text);
    is_good = is_good && number_of(index_text, &index) && index >= 1 && index <= count;
    if (!is_good)
        return refuse(error, text,
                      "is not allowed; allowed: I/N, share I of N from 1 to N (at most 100000), "
                      "auto, or auto/N");
    shard->index = (uint32_t)index - 1;
    shard->count = (uint32_t)count;
    return TACIT_OK;
}

const char *shard_unsaid(void)
{
    uint64_t count;
    char const *const name = "OMPI_COMM_WORLD_SIZE";
    return number_of(getenv(name), &count) && count > 1 ? name : NULL;
}

/* ---- Who plays what -------------------------------------------------------------------------- */

uint32_t shard_pieces(uint32_t points, uint32_t shards)
{
    uint64_t const wanted = (uint64_t)UNITS_A_SHARE * shards;
    TACIT_ASSERT(points > 0 && shards > 0 && shards <= SHARDS_MAX);
    uint64_t const pieces = (wanted + points - 1) / points;
    return pieces < shards ? (uint32_t)pieces : shards;
}

uint32_t shard_of(uint32_t point, uint32_t piece, uint32_t pieces, uint32_t shards)
{
    uint64_t const unit = (uint64_t)point * pieces + piece;
    TACIT_ASSERT(piece < pieces && pieces <= shards);
    /* Another one first in each round, for settings that grow come in rounds, too. */
    return (uint32_t)((unit + unit / shards) % shards);
}
