/* Which share a call is, by its words or its launcher, and that every piece is some share's. */
#include "../support/testing.h"
#include "../../src/study/shard.h"

static const char *const variables[] = {
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",  "SLURM_PROCID",
    "SLURM_NTASKS",         "SLURM_ARRAY_TASK_ID",   "SLURM_ARRAY_TASK_COUNT",
    "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP", "JOB_COMPLETION_INDEX"};

/* "NAME=VALUE ..." and nothing else of a launcher. */
static void set_environment(const char *settings)
{
    char text[400];
    char *rest = NULL;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        assert_int_equal(unsetenv(variables[i]), 0);
    assert_true(strlen(settings) < sizeof text);
    strcpy(text, settings);
    for (char *at = strtok_r(text, " ", &rest); at != NULL; at = strtok_r(NULL, " ", &rest)) {
        char *const is = strchr(at, '=');
        *is = '\0';
        assert_int_equal(setenv(at, is + 1, 1), 0);
    }
}

TEST(words_and_launchers_say_which_share_it_is)
{
    static const struct {
        const char *environment;
        const char *text;
        uint32_t index;
        uint32_t count;
    } cases[] = {
        {"", "1/1", 0, 1},
        {"", "3/8", 2, 8},
        {"", "100000/100000", 99999, 100000},
        {"SLURM_PROCID=1 SLURM_NTASKS=4", "2/3", 1, 3}, /* the words come first */
        {"SLURM_PROCID=1 SLURM_NTASKS=4", "auto", 1, 4},
        {"SLURM_PROCID=1 SLURM_NTASKS=4", "auto/4", 1, 4},
        {"OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3 SLURM_PROCID=0 SLURM_NTASKS=2", "auto", 2,
         3},
        {"SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=4 "
         "SLURM_ARRAY_TASK_STEP=3",
         "auto", 2, 4},
        {"SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=4 SLURM_PROCID=2 "
         "SLURM_NTASKS=3",
         "auto", 5, 12},
        {"SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=2 SLURM_PROCID=0",
         "auto", 0, 2}, /* sbatch --array alone does not say how many tasks */
        {"JOB_COMPLETION_INDEX=4", "auto/5", 4, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct shard shard;
        struct tacit_error error = {""};
        set_environment(cases[i].environment);
        assert_int_equal(shard_parse(&shard, cases[i].text, &error), TACIT_OK);
        assert_int_equal(shard.index, cases[i].index);
        assert_int_equal(shard.count, cases[i].count);
        assert_int_equal(shard.from[0] != '\0', strncmp(cases[i].text, "auto", 4) == 0);
    }
}

TEST(what_is_no_share_is_refused_in_words)
{
    static const struct {
        const char *environment;
        const char *text;
        const char *why;
    } cases[] = {
        {"", "", "allowed: I/N"},
        {"", "0/3", "allowed: I/N"},
        {"", "4/3", "allowed: I/N"},
        {"", "1/0", "allowed: I/N"},
        {"", "1/3x", "allowed: I/N"},
        {"", "-1/3", "allowed: I/N"},
        {"", "1/", "allowed: I/N"},
        {"", "/3", "allowed: I/N"},
        {"", "3", "allowed: I/N"},
        {"", "1/100001", "at most 100000"},
        {"", "auto/x", "allowed: I/N"},
        {"", "automatic", "allowed: I/N"},
        {"", "auto", "finds no launcher"},
        {"JOB_COMPLETION_INDEX=4", "auto", "allowed: auto/N"},
        {"JOB_COMPLETION_INDEX=5", "auto/5", "JOB_COMPLETION_INDEX is not one of"},
        {"JOB_COMPLETION_INDEX=x", "auto/5", "JOB_COMPLETION_INDEX is not one of"},
        {"SLURM_PROCID=4 SLURM_NTASKS=4", "auto", "SLURM_PROCID is not one of"},
        {"SLURM_PROCID=1", "auto", "allowed: auto/N"},
        {"SLURM_PROCID=1 SLURM_NTASKS=4", "auto/5", "another number of shares"},
        {"SLURM_PROCID=1 SLURM_NTASKS=100001", "auto", "more than 100000"},
        {"SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=3", "auto",
         "SLURM_ARRAY_TASK_ID is not one of"}, /* --array=1,5,9 */
        {"SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=3 "
         "SLURM_ARRAY_TASK_STEP=0",
         "auto", "SLURM_ARRAY_TASK_ID is not one of"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct shard shard;
        struct tacit_error error = {""};
        set_environment(cases[i].environment);
        assert_int_equal(shard_parse(&shard, cases[i].text, &error), TACIT_INVALID);
        if (strstr(error.text, cases[i].why) == NULL)
            fail_msg("'%s': '%s' is not in '%s'", cases[i].text, cases[i].why, error.text);
    }
}

/* A launcher of several is known where nothing was said of shares. */
TEST(several_ranks_do_not_go_without_saying)
{
    set_environment("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 SLURM_NTASKS=8 SLURM_PROCID=0");
    assert_null(shard_unsaid());
    set_environment("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2");
    assert_string_equal(shard_unsaid(), "OMPI_COMM_WORLD_SIZE");
}

/* Shares are about equal in pieces; of few points, each has a part of each; whole points are not
 * cut; and no share has the same value of the innermost setting only. */
TEST(pieces_are_dealt_evenly)
{
    static uint32_t dealt[64];
    for (uint32_t points = 1; points < 300; points += 7)
        for (uint32_t shards = 1; shards <= 64; shards += 9) {
            uint32_t const pieces = shard_pieces(points, shards);
            uint32_t least = UINT32_MAX;
            uint32_t most = 0;
            memset(dealt, 0, sizeof dealt);
            assert_true(pieces >= 1 && pieces <= shards);
            assert_int_equal(pieces == 1, shards == 1 || points >= 16 * shards);
            for (uint32_t i = 0; i < points * pieces; i++)
                dealt[shard_of(i / pieces, i % pieces, pieces, shards)]++;
            for (uint32_t i = 0; i < shards; i++) {
                least = dealt[i] < least ? dealt[i] : least;
                most = dealt[i] > most ? dealt[i] : most;
            }
            assert_true(most - least <= 1);
            assert_true(least >= 1);
        }
    for (uint32_t i = 0; i + 8 < 128; i++) /* eight values, eight shares */
        assert_int_not_equal(shard_of(i, 0, 1, 8), shard_of(i + 8, 0, 1, 8));
}
