/* Off-policy estimates on logs that can be worked out by hand, and replays row by row. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/env.h"
#include "tacit/off_policy.h"

#define ROWS 6u

/* Two cells, two arms. Six rows: folds 0 1 2 3 4 0. */
static const uint32_t arms[ROWS] = {0, 1, 0, 1, 0, 0};
static const uint32_t cells[ROWS] = {0, 0, 0, 1, 1, 0};
static const double rewards[ROWS] = {1, 0, 3, 4, 2, 5};
static const double propensities[ROWS] = {0.5, 0.5, 0.25, 0.5, 1, 0.5};

static const struct tacit_off_policy_log small = {.row_count = ROWS,
                                                  .arm_count = 2,
                                                  .cell_count = 2,
                                                  .arms = arms,
                                                  .cells = cells,
                                                  .rewards = rewards,
                                                  .propensities = propensities};

static void estimate(const struct tacit_off_policy_log *log, struct tacit_off_policy_arm *results)
{
    double *const work =
        testing_calloc(tacit_off_policy_work_size(log->cell_count, log->arm_count), sizeof *work);
    tacit_off_policy_arms(log, work, results);
}

static void is_near(double got, double wanted)
{
    if (!(fabs(got - wanted) < 1e-12))
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

/* Two arms; row 0 is in the first fold. pi and q by hand. */
TEST(a_policy_s_estimates_are_those_worked_out_by_hand)
{
    static const double choices[2 * ROWS] = {1, 0, 0.5, 0.5, 0, 1, 0, 1, 0.25, 0.75, 1, 0};
    static const double model[2 * ROWS] = {9, 9, 1, 2, 3, 4, 0, 3, 4, 0, 2, 2};
    struct tacit_off_policy_policy all;
    struct tacit_off_policy_policy later;
    tacit_off_policy_policy(&small, choices, model, 1.5, 0, &all);
    /* weights 2, 1, 0, 2, 0.25, 2 on rewards 1, 0, 3, 4, 2, 5 */
    assert_int_equal(all.valued_rows, ROWS);
    assert_int_equal(all.row_count, 5);
    is_near(all.weight.value, 7.25 / 6);
    is_near(all.effective_rows, 7.25 * 7.25 / 13.0625);
    is_near(all.ips.value, (2.0 + 8 + 0.5 + 10) / 6);
    is_near(all.self_normalised.value, 20.5 / 7.25);
    is_near(all.direct, (9 + 1.5 + 4 + 3 + 1 + 2) / 6);
    /* corrections 2 (1 - 9), 1 (0 - 2), 0, 2 (4 - 3), 0.25 (2 - 4), 2 (5 - 2); switched: weights
     * up to 1.5 alone */
    is_near(all.doubly_robust.value, (20.5 - 16 - 2 + 2 - 0.5 + 6) / 6);
    is_near(all.switched.value, (20.5 - 2 - 0.5) / 6);
    is_near(all.gain.value, (10.0 - 15) / 6);
    tacit_off_policy_policy(&small, choices, model, 1.5, 1, &later);
    assert_int_equal(later.valued_rows, ROWS - 2); /* rows 0 and 5 are of the first fold */
    is_near(later.ips.value, 8.5 / 4);
    is_near(later.doubly_robust.value, (9.5 - 2 + 2 - 0.5) / 4);
    double const mean = 9.0 / 4;
    double const squares =
        pow(-0.5 - mean, 2) + pow(4 - mean, 2) + pow(5 - mean, 2) + pow(0.5 - mean, 2);
    is_near(later.doubly_robust.error, sqrt(squares / 3 / 4));
}

TEST(weighted_estimates_are_those_worked_out_by_hand)
{
    struct tacit_off_policy_arm results[6];
    estimate(&small, results);
    struct tacit_off_policy_arm const *const all = &results[4];
    /* arm 0: weights 2, 4, 1, 2 on rewards 1, 3, 2, 5 */
    assert_int_equal(all->row_count, 4);
    is_near(all->weight.value, 9.0 / 6);
    is_near(all->ips.value, (2.0 * 1 + 4 * 3 + 1 * 2 + 2 * 5) / 6);
    is_near(all->self_normalised.value, 26.0 / 9);
    is_near(all->effective_rows, 81.0 / 25);
    double const mean = 26.0 / 6;
    double const squares = pow(2 - mean, 2) + pow(12 - mean, 2) + pow(2 - mean, 2) +
                           pow(10 - mean, 2) + 2 * mean * mean;
    is_near(all->ips.error, sqrt(squares / 5 / 6));
    /* cell 1, arm 1: its one row weighs 2 of two */
    is_near(results[3].ips.value, 2.0 * 4 / 2);
    is_near(results[3].self_normalised.value, 4);
}

TEST(guesses_come_from_the_other_folds_alone)
{
    struct tacit_off_policy_arm results[6];
    estimate(&small, results);
    /* arm 0 in cell 0 has rows 0, 2, 5 with 1, 3, 5 in folds 0, 2, 0: the other folds' mean is 3
     * for rows 0 and 5, 3 for row 2 and row 1 of fold 1 (1, 3, 5), .. */
    double const guesses[4] = {3, 3, 3, 3}; /* rows 0, 1, 2, 5 */
    double const own = (1.0 + 5) / 2;       /* of row 2, whose fold has the 3: rows 0 and 5 */
    double const sum = guesses[0] + guesses[1] + own + guesses[3];
    is_near(results[0].direct, sum / 4);
    double const corrected = sum + 2 * (1 - 3.0) + 4 * (3 - own) + 2 * (5 - 3.0);
    is_near(results[0].doubly_robust.value, corrected / 4);
    /* arm 0 in cell 1 has row 4 only: for it the arm's mean over all cells stands in, 3; for row 3
     * its own cell's 2 */
    is_near(results[2].direct, (3.0 + 2) / 2);
    is_near(results[2].doubly_robust.value, (3.0 + 2 + 1 * (2 - 3.0)) / 2);
}

TEST(a_model_that_is_right_leaves_nothing_to_correct)
{
    enum { COUNT = 50 };
    uint32_t own_arms[COUNT];
    uint32_t own_cells[COUNT];
    double own_rewards[COUNT];
    double own_propensities[COUNT];
    struct tacit_off_policy_arm results[9];
    for (uint32_t i = 0; i < COUNT; i++) {
        own_arms[i] = i % 3;
        own_cells[i] = i / 7 % 2;
        own_rewards[i] = 10.0 * own_arms[i] + own_cells[i];
        own_propensities[i] = 0.1 + 0.01 * i;
    }
    struct tacit_off_policy_log const log = {
        COUNT, 3, 2, own_arms, own_cells, own_rewards, own_propensities};
    estimate(&log, results);
    for (uint32_t cell = 0; cell < 2; cell++)
        for (uint32_t arm = 0; arm < 3; arm++) {
            is_near(results[3 * cell + arm].doubly_robust.value, 10.0 * arm + cell);
            is_near(results[3 * cell + arm].doubly_robust.error, 0);
        }
}

TEST(an_arm_that_a_cell_never_chose_has_no_self_normalised_estimate)
{
    static const uint32_t one_arm[2] = {0, 0};
    static const uint32_t one_cell[2] = {0, 0};
    struct tacit_off_policy_arm results[4];
    struct tacit_off_policy_log const log = {2, 2, 1, one_arm, one_cell, rewards, propensities};
    estimate(&log, results);
    assert_true(isnan(results[1].self_normalised.value));
    assert_true(isnan(results[1].self_normalised.error));
    assert_int_equal(results[1].row_count, 0);
    is_near(results[1].effective_rows, 0);
    is_near(results[1].ips.value, 0);
}

TEST(logged_choices_earned_their_plain_mean)
{
    struct tacit_off_policy_estimate const logged = tacit_off_policy_logged(&small);
    is_near(logged.value, 15.0 / 6);
    is_near(logged.error, sqrt((1 + 0 + 9 + 16 + 4 + 25 - 6 * 6.25) / 5 / 6));
}

/* ---- Replay ---- */

#define LOG_ROWS 4000u

struct bench {
    uint32_t start[3];
    uint32_t arms[LOG_ROWS];
    double rewards[LOG_ROWS]; /* number of the row: which ones answered is seen in the sums */
    double keep[LOG_ROWS];
    struct tacit_env_replay_log log;
    uint32_t order[LOG_ROWS];
    uint32_t next[2];
    uint64_t slots[2];
    uint64_t ends[2];
    struct tacit_env_replay replay;
    struct tacit_env_watch watch;
    double means[4];
    uint32_t cell_start[5];
    struct tacit_env env;
    struct tacit_rng rng;
};

static struct bench *bench_new(double keep_of_first)
{
    struct bench *const bench = testing_calloc(1, sizeof *bench);
    bench->start[1] = 1000;
    bench->start[2] = LOG_ROWS;
    for (uint32_t row = 0; row < LOG_ROWS; row++) {
        bench->arms[row] = row % 2;
        bench->rewards[row] = 1 + row % 2; /* an arm's rewards are alike */
        bench->keep[row] = row % 2 == 0 ? keep_of_first : 1;
    }
    bench->log =
        (struct tacit_env_replay_log){2, bench->start, bench->arms, bench->rewards, bench->keep};
    bench->replay = (struct tacit_env_replay){.log = &bench->log,
                                              .order = bench->order,
                                              .next = bench->next,
                                              .slots = bench->slots,
                                              .ends = bench->ends,
                                              .limit = UINT64_MAX};
    bench->watch.replay = &bench->replay;
    bench->env = (struct tacit_env){.kind = TACIT_ENV_CONSTANT,
                                    .row_count = 2,
                                    .arm_count = 2,
                                    .means = bench->means,
                                    .watch = &bench->watch};
    tacit_env_replay_start(&bench->replay, 1, 0, false);
    return bench;
}

static double pull(struct bench *bench, uint32_t agent, uint32_t arm, uint64_t count)
{
    static const struct tacit_scale scale = {.kind = TACIT_SCALE_REAL};
    union tacit_sum sum = {.real = 0};
    tacit_env_pull(&bench->env, agent, arm, count, &scale, &bench->rng, &sum);
    return sum.real;
}

TEST(rows_answer_pulls_of_their_arm_until_they_are_used_up)
{
    struct bench *const bench = bench_new(1);
    uint32_t agent;
    is_near(pull(bench, 0, 1, 100), 200);
    is_near(pull(bench, 0, 0, 50), 50);
    assert_true(tacit_env_replay_length(&bench->replay, 1000, &agent) == 1000);
    double const sum = pull(bench, 0, 1, 10000); /* what no row answers is drawn: the mean 0 */
    uint64_t const answered = bench->replay.ends[0];
    assert_true(answered > 150 && answered <= 650);
    is_near(sum, 2 * ((double)answered - 150));
    assert_true(tacit_env_replay_length(&bench->replay, 1000, &agent) == answered);
    assert_int_equal(agent, 0);
    is_near(bench->replay.earned, 200 + 50 + sum);
    is_near(pull(bench, 1, 1, 10), 20); /* the other agent has rows of its own */
}

TEST(pulls_beyond_the_limit_do_not_count)
{
    struct bench *const bench = bench_new(1);
    bench->replay.limit = 7;
    (void)pull(bench, 1, 0, 5);
    tacit_env_pass(&bench->env, 1, 1, 5);
    assert_true(bench->replay.pulls == 7);
    is_near(bench->replay.earned, 5 * 1 + 2 * 2);
    assert_true(bench->slots[1] == 10);
}

/* A row of arm 0 answers with chance a half: of some 1500 rows 750 do. Binomial: outside 6 standard
 * deviations (19.4 each) with probability 2e-9; one seed. */
TEST(rows_answer_with_the_chance_they_are_given)
{
    struct bench *const bench = bench_new(0.5);
    (void)pull(bench, 1, 0, 1000000);
    assert_true(fabs((double)bench->replay.ends[1] - 750) < 6 * 19.4);
}

TEST(every_row_comes_once_unless_they_are_drawn_anew)
{
    struct bench *const bench = bench_new(1);
    uint32_t seen[LOG_ROWS] = {0};
    uint32_t missing = 0;
    for (uint32_t i = 0; i < LOG_ROWS; i++)
        seen[bench->order[i]]++;
    for (uint32_t i = 0; i < LOG_ROWS; i++)
        assert_int_equal(seen[i], 1);
    for (uint32_t i = 0; i < 1000; i++)
        assert_true(bench->order[i] < 1000); /* an agent's rows stay together */
    tacit_env_replay_start(&bench->replay, 1, 0, true);
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < LOG_ROWS; i++)
        seen[bench->order[i]]++;
    for (uint32_t i = 0; i < LOG_ROWS; i++)
        missing += seen[i] == 0;
    assert_true(missing > 1300 && missing < 1650); /* 1/e of them, 1472 */
}
