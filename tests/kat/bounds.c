/* Known bounds, radii, rungs and floors (EXACT-BOUNDS 8 and 9; 40-digit arithmetic elsewhere). */
#include <math.h>
#include "../support/testing.h"
#include "tacit/bounds.h"

static void check(double value, double expected)
{
    double const error = fabs(value - expected);
    if (!(error <= 1e-9 * fabs(expected) || error <= 5e-13))
        print_error("%.15g, expected %.15g\n", value, expected);
    assert_true(error <= 1e-9 * fabs(expected) || error <= 5e-13);
}

static const struct {
    struct tacit_bounds_sum sum;
    double epsilon, level, lower, upper, radius;
} golden[] = {
    {{2500, 50, 987234304}, 0.1, 20, 0.0993017603304, 0.657325138697, 0.281317779056},
    {{9000, 3, 9154068480}, 1, 20, 0.957054758514, 0.980137260295, 0.0333781463665},
    {{50000000, 50, 1048576000000}, 0.01, 20, 0.0198177119977, 0.020182909718, 0.00046501749503},
    {{640, 2, 252731982}, 1, 8, 0.301465284684, 0.455869544606, 0.0800898505441},
    {{1200, 20, 1220542464}, 1000, 6, 0.949726349401, 0.984046724476, 0.0500000033333},
    {{1000000, 0, 394893721600}, INFINITY, 20, 0.373538863242, 0.379667718012, 0.00316227766017},
    {{1, 0, 0}, INFINITY, 1, 0, 0.632120558829, 0.707106781187},
    {{3, 3, -786432}, 1, 12, 0, 1, 6.32028600076},
};
/* HELPER 2.6: two aggregators at one epsilon, sites at another one or none. */
static const struct {
    struct tacit_bounds_sum sum;
    struct tacit_bounds_noise noise;
    double level, lower, upper, radius;
} of_two[] = {
    {{2500, 50, 987234304}, {8, 1, 2, 2}, 20, 0.31636154559, 0.439479210592, 0.063740790166},
    {{9000, 30, 4718592000}, {8, 0.1, 2, 3}, 20, 0.453805582688, 0.546194417312, 0.0462568929817},
    {{640, 6, 252731982}, {1, 1, 2, 1}, 8, 0.298477702005, 0.458997725502, 0.0830961534082},
    {{50000000, 50, 1048576000000},
     {0.5, 0.01, 2, 5},
     20,
     0.0198605254125,
     0.0201400235141,
     0.000450841268037},
    {{1200, 20, 1220542464}, {8, 1000, 2, 2}, 6, 0.9495500319, 0.984168289043, 0.0500520731328},
    {{4000, 0, 2097152000},
     {INFINITY, 1, 2, 2},
     12,
     0.461172257334,
     0.538827742666,
     0.0388863104119},
};
#define OF_TWO_COUNT (sizeof of_two / sizeof of_two[0])

#define GOLDEN_COUNT (sizeof golden / sizeof golden[0])

TEST(bounds_have_their_golden_values)
{
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        check(tacit_bounds_lower(&golden[i].sum, golden[i].epsilon, golden[i].level),
              golden[i].lower);
        check(tacit_bounds_upper(&golden[i].sum, golden[i].epsilon, golden[i].level),
              golden[i].upper);
        check(tacit_bounds_radius(golden[i].sum.pulls, golden[i].sum.noises, golden[i].epsilon,
                                  golden[i].level),
              golden[i].radius);
    }
}

TEST(two_kinds_of_noise_have_their_golden_values)
{
    for (size_t i = 0; i < OF_TWO_COUNT; i++) {
        struct tacit_bounds_sum const *const sum = &of_two[i].sum;
        struct tacit_bounds_noise const *const noise = &of_two[i].noise;
        check(tacit_bounds_lower_of(sum, noise, of_two[i].level), of_two[i].lower);
        check(tacit_bounds_upper_of(sum, noise, of_two[i].level), of_two[i].upper);
        check(tacit_bounds_radius_of(sum->pulls, sum->noises, noise, of_two[i].level),
              of_two[i].radius);
    }
}

TEST(floors_have_their_known_values)
{
    double const visits[] = {0.03, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02};
    double const hospitals[] = {0.3766, 0.3626, 0.34, 0.3355, 0.3087};
    assert_int_equal((int)floor(tacit_bounds_floor(visits, 10, 50 * 2e5, 1) + 0.5), 747);
    assert_int_equal((int)floor(tacit_bounds_floor(hospitals, 5, 3e6, 1) + 0.5), 954);
    assert_int_equal((int)floor(tacit_bounds_floor(hospitals, 5, 3e6, INFINITY) + 0.5), 954);
    double const equal[] = {0.5, 0.5};
    assert_true(tacit_bounds_floor(equal, 2, 100, 1) == 0);
}

TEST(divergence_is_the_smaller_of_its_ways)
{
    /* large epsilon: kl; small: the line epsilon |y - x| nearly */
    check(tacit_bounds_divergence(0.2, 0.7, 1e6), 0.2 * log(0.2 / 0.7) + 0.8 * log(0.8 / 0.3));
    assert_true(tacit_bounds_divergence(0.2, 0.7, 1e-3) <= 0.5e-3);
    assert_true(tacit_bounds_divergence(0.2, 0.7, 1e-3) > 0.499e-3);
    assert_true(tacit_bounds_divergence(0.3, 0.3, 1) == 0);
    check(tacit_bounds_divergence(0.7, 0.2, 0.5), tacit_bounds_divergence(0.3, 0.8, 0.5));
    check(tacit_bounds_divergence(0.25, 1, 0.5), 0.375);
    check(tacit_bounds_divergence(1, 0, 1e5), 1e5); /* e^epsilon is no number */
    assert_true(isinf(tacit_bounds_divergence(0.25, 1, INFINITY)));
    for (double z = 0.2; z <= 0.7; z += 0.001) /* by definition a minimum over z */
        assert_true(tacit_bounds_divergence(0.2, 0.7, 0.8) <=
                    0.8 * (z - 0.2) + z * log(z / 0.7) + (1 - z) * log((1 - z) / 0.3) + 1e-12);
}

/* The first rung is the smallest one that is narrow enough; rungs grow by the factor asked for. */
TEST(rungs_are_the_smallest_that_fit)
{
    uint32_t const agents[] = {1, 3, 50, 2000};
    double const epsilons[] = {0.01, 1, 30, INFINITY};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            uint64_t const rung = tacit_bounds_first_rung(agents[i], epsilons[j], 9, 0.25);
            assert_true(tacit_bounds_radius(rung * agents[i], agents[i], epsilons[j], 9) <= 0.25);
            if (rung > 1)
                assert_true(tacit_bounds_radius((rung - 1) * agents[i], agents[i], epsilons[j], 9) >
                            0.25);
        }
    assert_int_equal(tacit_bounds_first_rung(1, INFINITY, 2, 0.5), 4);
    assert_int_equal(tacit_bounds_first_rung(1, 1e-6, 1e9, 1e-9), TACIT_HORIZON_MAX);
    assert_int_equal(tacit_bounds_next_rung(10, 2), 20);
    assert_int_equal(tacit_bounds_next_rung(10, 1.1), 11); /* 11.000000000000002 is 11 */
    assert_int_equal(tacit_bounds_next_rung(10, 1.11), 12);
    assert_int_equal(tacit_bounds_next_rung(1, 1 + 1e-12), 2);
    assert_int_equal(tacit_bounds_next_rung(TACIT_HORIZON_MAX / 2 + 1, 2), TACIT_HORIZON_MAX);
}

TEST(levels_spend_delta_over_all_arms_and_looks)
{
    double spent = 0;
    for (uint32_t look = 1; look <= 100000; look++)
        spent += 7 * 2 * exp(-tacit_bounds_level(7, look, 0.05));
    assert_true(spent < 0.05);
    assert_true(spent > 0.0499);
}
