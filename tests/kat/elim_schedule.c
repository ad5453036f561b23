/* S(r), C(r) and N of epoch elimination against numbers made elsewhere, in 60 decimal digits, from
 * Li, Song, Alg. 1 l. 3-5 and Sec. IV-B. Each row of `known` is the output of
 *
 *   from decimal import *; getcontext().prec = 60; D = Decimal
 *   def log(a, r, T): return D(8 * a * r * r * T).ln()
 *   def gap(r, R, d): return D(2) ** -r if R == 0 else (D(d).ln() * r / R).exp()
 *   def S(K, N, T, eps, R, d, r, I):
 *       one = 8 * log(I, r, T) / (N * gap(r, R, d) ** 2)
 *       two = 0 if eps is None else 8*r*(2*log(K, r, T)).sqrt() / (D(N).sqrt()*D(eps)*gap(r, R, d))
 *       return int(max(one, two).to_integral_value(rounding=ROUND_CEILING))
 *   def C(K, N, T, eps, r, I, S):
 *       one = (log(I, r, T) / (2 * N * S)).sqrt()
 *       return one + (0 if eps is None else r*(8*log(K, r, T)).sqrt() / (D(N).sqrt()*D(eps)*S))
 *
 * where eps is what one reward loses: N times the paper's letter. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/elim.h"

struct known {
    struct tacit_elim_schedule schedule; /* K, N, T, eps, R, Delta; the paper's bounds */
    uint32_t epoch;
    uint32_t active_count;
    uint64_t pulls;
    double radius;
};

/* Beside each row: the two terms whose maximum S(r) is the ceiling of. */
static const struct known known[] = {
    {{2, 1, 1000, INFINITY, 0, 0, 1, 0, 0}, 1, 2, 310, 1.2495382373695879e-01},       /* 309.771 */
    {{10, 50, 1000000, INFINITY, 0, 0, 1, 0, 0}, 1, 10, 12, 1.2314468858703757e-01},  /* 11.646 */
    {{10, 50, 1000000, INFINITY, 0, 0, 1, 0, 0}, 5, 3, 3312, 7.8120355346340637e-03}, /* 3311.606 */
    {{100, 55, 1000000, INFINITY, 0, 0, 1, 0, 0}, 3, 17, 195, 3.1233678270792604e-02}, /* 194.796 */
    {{1, 1, 1, INFINITY, 0, 0, 1, 0, 0}, 1, 1, 67, 1.2457214961738954e-01},            /* 66.542 */
    {{2, 1, 1000, INFINITY, 0, 0, 1, 0, 0},
     16,
     2,
     523144933391,
     3.8146972656238188e-06}, /* ...390.676 */
    {{65536, 1, 1099511627776, INFINITY, 0, 0, 1, 0, 0}, 1, 65536, 1309, 1.2498385480612655e-01},
    /* The first term is larger: */
    {{10, 50, 1000000, 50, 0, 0, 1, 0, 0}, 1, 10, 12, 1.2598859335123752e-01}, /* 11.646, 0.273 */
    {{10, 50, 1000000, 50, 0, 0, 1, 0, 0},
     5,
     10,
     3509,
     7.8651031799092438e-03}, /* 3508.865, 23.694 */
    {{10, 1, 1000000, 0.1, 0, 0, 1, 0, 0},
     12,
     4,
     2986486687,
     6.1582177046952641e-05}, /* ...686.625, 3e7 */
    /* The second term is larger: */
    {{10, 50, 1000000, 0.5, 0, 0, 1, 0, 0}, 1, 10, 28, 2.0249875516312138e-01}, /* 11.646, 27.301 */
    {{10, 50, 1000000, 0.5, 0, 0, 1, 0, 0},
     4,
     2,
     938,
     2.9989161142679105e-02}, /* 793.014, 937.844 */
    {{10, 1, 1000000, 0.1, 0, 0, 1, 0, 0},
     3,
     4,
     12263,
     5.9429973479775383e-02}, /* 9972.977, 12262.402 */
    {{10, 5, 1000000, 1e-6, 0, 0, 1, 0, 0},
     1,
     4,
     43167440,
     1.2520008036065911e-01}, /* 110.6, ...39.217 */
    /* A round limit: */
    {{10, 50, 1000000, INFINITY, 4, 0, 0.1, 0, 0}, 1, 10, 10, 1.3489824755213892e-01}, /* 9.207 */
    {{10, 50, 1000000, INFINITY, 4, 0, 0.1, 0, 0}, 4, 3, 317, 2.4970741939603209e-02}, /* 316.258 */
    {{10, 50, 1000000, 0.5, 7, 0, 0.05, 0, 0},
     2,
     10,
     67,
     1.5974469933326182e-01}, /* 17.357, 66.658 */
    {{10, 50, 1000000, INFINITY, 9, 0, 1, 0, 0}, 3, 10, 4, 2.2580279986071017e-01}, /* 3.263 */
    {{10, 50, 1000000, INFINITY, 9, 0, 1, 0, 0}, 9, 10, 4, 2.3765514063086557e-01}, /* 3.615 */
};

#define KNOWN_COUNT (sizeof known / sizeof known[0])

static void expect_close(double value, double wanted)
{
    assert_true(fabs(value - wanted) <= 1e-14 * fabs(wanted));
}

static struct tacit_elim_schedule plain(uint32_t arms, uint32_t reports, uint64_t horizon)
{
    return (struct tacit_elim_schedule){.arm_count = arms,
                                        .report_count = reports,
                                        .horizon = horizon,
                                        .epsilon_per_reward = INFINITY};
}

/* ---- S(r) ------------------------------------------------------------------------------------ */

TEST(pulls_are_the_ceiling_of_the_formula_in_every_known_row)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        assert_int_equal(
            tacit_elim_pulls(&known[i].schedule, known[i].epoch, known[i].active_count, 0),
            known[i].pulls);
}

TEST(pulls_never_fall_below_those_before)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        struct known const *const row = &known[i];
        uint64_t const pulls = row->pulls;
        struct tacit_elim_schedule const *const schedule = &row->schedule;
        assert_int_equal(tacit_elim_pulls(schedule, row->epoch, row->active_count, pulls - 1),
                         pulls);
        assert_int_equal(tacit_elim_pulls(schedule, row->epoch, row->active_count, pulls), pulls);
        assert_int_equal(tacit_elim_pulls(schedule, row->epoch, row->active_count, pulls + 1),
                         pulls + 1);
    }
}

/* 19 epochs of 2 arms and T = 1000 ask for 34237081159912 > 2^40 pulls. */
TEST(pulls_beyond_the_horizon_limit_saturate)
{
    struct tacit_elim_schedule schedule = plain(2, 1, 1000);
    for (uint32_t epoch = 1; epoch <= TACIT_ELIM_EPOCHS_MAX; epoch++) {
        uint64_t const pulls = tacit_elim_pulls(&schedule, epoch, 2, 0);
        assert_int_equal(pulls == TACIT_HORIZON_MAX, epoch >= 17);
    }
    schedule.epsilon_per_reward = 1e-6; /* also where both terms are infinite */
    assert_int_equal(tacit_elim_pulls(&schedule, TACIT_ELIM_EPOCHS_MAX, 2, 0), TACIT_HORIZON_MAX);
    schedule.round_limit = 1;
    schedule.gap = 5e-324;
    assert_int_equal(tacit_elim_pulls(&schedule, 1, 2, 0), TACIT_HORIZON_MAX);
}

TEST(pulls_of_the_first_epoch_are_never_0)
{
    struct tacit_elim_schedule schedule = plain(2, TACIT_AGENTS_MAX, 1);
    schedule.round_limit = 1;
    schedule.gap = 1;
    assert_int_equal(tacit_elim_pulls(&schedule, 1, 2, 0), 1);
}

TEST(target_gap_halves_each_epoch_or_reaches_delta_in_the_last_round)
{
    struct tacit_elim_schedule schedule = plain(2, 1, 1000);
    assert_true(tacit_elim_target_gap(&schedule, 1) == 0.5);
    assert_true(tacit_elim_target_gap(&schedule, 10) == 1.0 / 1024);
    schedule.round_limit = 4;
    schedule.gap = 0.0625;
    for (uint32_t epoch = 1; epoch <= 4; epoch++)
        expect_close(tacit_elim_target_gap(&schedule, epoch), pow(2, -(double)epoch));
}

/* ---- C(r) ------------------------------------------------------------------------------------ */

TEST(radius_is_the_formula_in_every_known_row)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        expect_close(tacit_elim_radius(&known[i].schedule, known[i].epoch, known[i].active_count,
                                       known[i].pulls, known[i].schedule.report_count),
                     known[i].radius);
}

/* C(10, 3, T, "0.5", 2, 4, 100) and C(10, 3, T, None, 2, 4, 100) above, with T = 10**6. */
TEST(radius_uses_the_number_of_reports_that_were_averaged)
{
    struct tacit_elim_schedule schedule = plain(10, 50, 1000000);
    expect_close(tacit_elim_radius(&schedule, 2, 4, 100, 3), 1.7638755068448894e-01);
    schedule.epsilon_per_reward = 0.5;
    expect_close(tacit_elim_radius(&schedule, 2, 4, 100, 3), 4.6545100616794216e-01);
}

TEST(radius_shrinks_with_pulls_and_reports_and_grows_with_noise_and_arms)
{
    struct tacit_elim_schedule const schedule = {
        .arm_count = 10, .report_count = 5, .horizon = 100000, .epsilon_per_reward = 2};
    struct tacit_elim_schedule noisier = schedule;
    noisier.epsilon_per_reward = 1;
    double const radius = tacit_elim_radius(&schedule, 3, 4, 1000, 5);
    assert_true(tacit_elim_radius(&schedule, 3, 4, 1001, 5) < radius);
    assert_true(tacit_elim_radius(&schedule, 3, 4, 1000, 6) < radius);
    assert_true(tacit_elim_radius(&schedule, 3, 5, 1000, 5) > radius);
    assert_true(tacit_elim_radius(&schedule, 4, 4, 1000, 5) > radius);
    assert_true(tacit_elim_radius(&noisier, 3, 4, 1000, 5) > radius);
}

/* ---- N --------------------------------------------------------------------------------------- */

TEST(report_count_forgives_the_rounding_of_every_whole_percentage)
{
    assert_int_equal(tacit_elim_report_count(.55, 100), 55); /* .55 * 100 > 55 in doubles */
    for (uint32_t percent = 1; percent <= 100; percent++) {
        assert_int_equal(tacit_elim_report_count(percent / 100.0, 100), percent);
        assert_int_equal(tacit_elim_report_count(percent * 0.01, 1000), 10 * percent);
        assert_int_equal(tacit_elim_report_count(percent * 0.01, 1000000), 10000 * percent);
    }
}

TEST(report_count_rounds_up_and_is_between_1_and_all)
{
    assert_int_equal(tacit_elim_report_count(0.5, 5), 3);
    assert_int_equal(tacit_elim_report_count(0.501, 1000), 501);
    assert_int_equal(tacit_elim_report_count(0.5011, 1000), 502);
    assert_int_equal(tacit_elim_report_count(1e-300, TACIT_AGENTS_MAX), 1);
    assert_int_equal(tacit_elim_report_count(1, 1), 1);
    assert_int_equal(tacit_elim_report_count(nextafter(1, 0), 50), 50);
    assert_int_equal(tacit_elim_report_count(1, TACIT_AGENTS_MAX), TACIT_AGENTS_MAX);
}
