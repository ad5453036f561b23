/* The five-arm hospital problem (READINGS P2.10) cut from the real "Diabetes 130-US hospitals"
 * rows: counts and sums that an independent script (Python's csv module) found. Skips if the data
 * is absent. */
#include "../support/testing.h"
#include "tacit/data.h"
#include <math.h>
#include "../support/skip.h"

#define FILE_NAME "diabetes130/diabetic_data.csv"
#define ROW_COUNT 101766u
#define HOSPITAL_COUNT 3u
#define ARM_COUNT 5u
#define DRUG_COUNT 23u

/* Arms 0 to 3 are runs of this list; tolazamide, the last, is in none of them. */
static const char *const drugs[DRUG_COUNT] = {
    "insulin", "metformin",
    /* arm 2 */
    "repaglinide", "glipizide", "rosiglitazone", "acarbose", "miglitol", "troglitazone",
    /* arm 3 */
    "nateglinide", "chlorpropamide", "glyburide", "examide", "glimepiride", "acetohexamide",
    "tolbutamide", "pioglitazone", "citoglipton", "glyburide-metformin", "glipizide-metformin",
    "glimepiride-pioglitazone", "metformin-rosiglitazone", "metformin-pioglitazone",
    /* no arm */
    "tolazamide"};

static const struct tacit_log_arm arms[ARM_COUNT] = {
    {"insulin", TACIT_LOG_MATCH_ANY, drugs, 1, "Steady"},
    {"metformin", TACIT_LOG_MATCH_ANY, drugs + 1, 1, "Steady"},
    {"third group", TACIT_LOG_MATCH_ANY, drugs + 2, 6, "Steady"},
    {"fourth group", TACIT_LOG_MATCH_ANY, drugs + 8, 14, "Steady"},
    {"no drug", TACIT_LOG_MATCH_ALL, drugs, DRUG_COUNT, "No"},
};

struct cell {
    uint32_t rows;
    uint32_t ones;
};

static const struct cell sequential_cells[HOSPITAL_COUNT][ARM_COUNT] = {
    {{10876, 3565}, {5410, 1653}, {5791, 2031}, {6759, 2175}, {8928, 2588}},
    {{10041, 3763}, {6233, 2423}, {6574, 2756}, {6982, 2975}, {7712, 2728}},
    {{9932, 3154}, {6703, 2093}, {5532, 1991}, {6955, 2365}, {6763, 1911}},
};

static const struct cell all_cells[ARM_COUNT] = {
    {30849, 10482}, {18346, 6169}, {17897, 6778}, {20696, 7515}, {23403, 7227}};

/* The table is read once for all tests. */
static struct {
    bool present;
    char path[TACIT_PATH_BYTES];
    struct tacit_table table;
} hospital;

static int read_hospital(void **state)
{
    if (tacit_dataset_find(NULL, FILE_NAME, hospital.path) != TACIT_OK) {
        return 0;
    }
    struct tacit_error error;
    if (tacit_table_read(&hospital.table, hospital.path, &error) != TACIT_OK) {
        print_error("%s\n", error.text);
        return -1;
    }
    hospital.present = true;
    return 0;
}

static int free_hospital(void **state)
{
    if (hospital.present)
        tacit_table_free(&hospital.table);
    return 0;
}

static void build(enum tacit_log_split split, uint32_t agent_count, struct tacit_rng *rng,
                  struct tacit_log *log)
{
    struct tacit_log_spec const spec = {.arms = arms,
                                        .arm_count = ARM_COUNT,
                                        .reward_column = "readmitted",
                                        .reward_value = ">30",
                                        .split = split,
                                        .agent_count = agent_count};
    struct tacit_error error = {{0}};
    enum tacit_status const status =
        tacit_log_build(log, &hospital.table, hospital.path, &spec, rng, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(status, TACIT_OK);
    assert_true(log->binary);
    assert_int_equal(log->agent_count, agent_count);
    assert_int_equal(log->arm_count, ARM_COUNT);
}

static struct cell count_cell(const struct tacit_log *log, uint32_t agent, uint32_t arm)
{
    uint32_t const index = agent * log->arm_count + arm;
    struct cell cell = {.rows = log->start[index + 1] - log->start[index]};
    for (uint32_t i = log->start[index]; i < log->start[index + 1]; i++)
        cell.ones += log->rewards[i] == 1.0;
    return cell;
}

static void assert_cell(const struct tacit_log *log, uint32_t agent, uint32_t arm,
                        struct cell expected)
{
    struct cell const found = count_cell(log, agent, arm);
    assert_int_equal(found.rows, expected.rows);
    assert_int_equal(found.ones, expected.ones);
    assert_true(log->means[agent * log->arm_count + arm] ==
                (double)expected.ones / (double)expected.rows);
}

TEST(hospital_table)
{
    if (!hospital.present)
        SKIP_BECAUSE("no data set " FILE_NAME " here");
    assert_int_equal(hospital.table.row_count, ROW_COUNT + 1);
    assert_int_equal(hospital.table.column_count, 50);
    assert_int_equal(hospital.table.lines[ROW_COUNT], ROW_COUNT + 1);
    assert_int_equal(tacit_table_column(&hospital.table, "readmitted"), 49);
}

TEST(hospital_sequential)
{
    if (!hospital.present)
        SKIP_BECAUSE("no data set " FILE_NAME " here");
    struct tacit_log log;
    build(TACIT_LOG_SEQUENTIAL, HOSPITAL_COUNT, NULL, &log);
    for (uint32_t agent = 0; agent < HOSPITAL_COUNT; agent++) {
        for (uint32_t arm = 0; arm < ARM_COUNT; arm++)
            assert_cell(&log, agent, arm, sequential_cells[agent][arm]);
    }
    tacit_log_free(&log);
}

/* Of experiments/hospital, for those who do not have the rows. */
TEST(hospital_means_are_those_of_the_rows)
{
    char const *const source = getenv("TACIT_SOURCE");
    char path[TACIT_PATH_BYTES];
    struct tacit_means means;
    struct tacit_error error;
    (void)snprintf(path, sizeof path, "%s/experiments/hospital/means.csv",
                   source == NULL ? "." : source);
    assert_int_equal(tacit_means_read(&means, path, 0, 1, &error), TACIT_OK);
    assert_int_equal(means.row_count * means.arm_count, HOSPITAL_COUNT * ARM_COUNT);
    for (uint32_t i = 0; i < HOSPITAL_COUNT * ARM_COUNT; i++) {
        struct cell const cell = sequential_cells[i / ARM_COUNT][i % ARM_COUNT];
        assert_true(fabs(means.values[i] - (double)cell.ones / (double)cell.rows) <= 1e-12);
    }
    tacit_means_free(&means);
}

TEST(hospital_overall)
{
    if (!hospital.present)
        SKIP_BECAUSE("no data set " FILE_NAME " here");
    static const double means[ARM_COUNT] = {0.339784, 0.336259, 0.378723, 0.363114, 0.308807};
    struct tacit_log log;
    build(TACIT_LOG_SEQUENTIAL, 1, NULL, &log);
    for (uint32_t arm = 0; arm < ARM_COUNT; arm++) {
        assert_cell(&log, 0, arm, all_cells[arm]);
        assert_true(fabs(log.means[arm] - means[arm]) < 1e-6);
    }
    tacit_log_free(&log);
}

/* However the rows are dealt, each arm keeps all of them. */
TEST(hospital_random)
{
    if (!hospital.present)
        SKIP_BECAUSE("no data set " FILE_NAME " here");
    struct tacit_rng rng = tacit_rng_stream(1, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_SPLIT);
    struct tacit_log log;
    build(TACIT_LOG_RANDOM, HOSPITAL_COUNT, &rng, &log);
    for (uint32_t arm = 0; arm < ARM_COUNT; arm++) {
        struct cell total = {0, 0};
        for (uint32_t agent = 0; agent < HOSPITAL_COUNT; agent++) {
            struct cell const cell = count_cell(&log, agent, arm);
            /* Local bias is gone: a third each, within 7 deviations (at most 75) of a random third.
             */
            assert_true(fabs((double)cell.rows - all_cells[arm].rows / 3.0) < 7.0 * 75.0);
            total.rows += cell.rows;
            total.ones += cell.ones;
        }
        assert_int_equal(total.rows, all_cells[arm].rows);
        assert_int_equal(total.ones, all_cells[arm].ones);
    }
    tacit_log_free(&log);
}

int main(void)
{
    return testing_run(read_hospital, free_hospital);
}
