/* The sound release of a vector: its integers never pass their norm, its noise has its law, and
 * what it loses is what it says; mutants are refuted. */
#include "../support/audit.h"
#include "../support/gof.h"
#include "tacit/privacy.h"
#include "tacit/vector.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define DIMENSION_MAX 1000u
#define EPSILON_NANO UINT64_C(1000000000)

static struct tacit_rng stream(uint32_t run)
{
    return tacit_rng_stream(77, run, 0, TACIT_PURPOSE_OF_FAMILY(5, 210));
}

static int64_t magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

/* ---- Integers ---- */

/* Adversarial: huge, tiny, equal, alternating, denormal, one large among many small. */
static void draw_vector(struct tacit_rng *rng, uint32_t dimension, double *h)
{
    uint64_t const shape = tacit_rng_below(rng, 6);
    for (uint32_t j = 0; j < dimension; j++) {
        double const u = tacit_rng_uniform(rng) - 0.5;
        h[j] = shape == 0   ? u
               : shape == 1 ? u * 1e300
               : shape == 2 ? (j % 2 == 0 ? 1.0 : -1.0) / dimension
               : shape == 3 ? u * 1e-310
               : shape == 4 ? (j == 0 ? 1.0 : 1e-9 * u)
                            : tacit_rng_normal(rng) * exp(20 * u);
    }
}

static void norm_of_the_integers_is_never_above_Q_for_100000_vectors(void **state)
{
    (void)state;
    static double h[DIMENSION_MAX];
    static int64_t steps[DIMENSION_MAX];
    for (uint32_t run = 0; run < 100000; run++) {
        struct tacit_rng rng = stream(run);
        uint32_t const dimension = 1 + (uint32_t)tacit_rng_below(&rng, run % 50 == 0 ? 1000 : 20);
        double const clip = exp(10 * (tacit_rng_uniform(&rng) - 0.5));
        draw_vector(&rng, dimension, h);
        tacit_vector_quantise(h, dimension, clip, steps);
        int64_t sum = 0;
        for (uint32_t j = 0; j < dimension; j++) {
            assert_true(steps[j] == 0 || (steps[j] > 0) == (h[j] > 0));
            sum += magnitude(steps[j]);
        }
        assert_true(sum <= TACIT_VECTOR_STEPS);
    }
}

static void short_vectors_keep_their_values_and_long_ones_their_direction(void **state)
{
    (void)state;
    static const double h[] = {0.25, -0.5, 0.125};
    int64_t steps[3];
    tacit_vector_quantise(h, 3, 1, steps);
    assert_true(steps[0] == TACIT_VECTOR_STEPS / 4);
    assert_true(steps[1] == -TACIT_VECTOR_STEPS / 2);
    assert_true(steps[2] == TACIT_VECTOR_STEPS / 8);
    static const double longer[] = {30, -60, 10};
    tacit_vector_quantise(longer, 3, 1, steps);
    assert_true(fabs((double)steps[0] / (double)TACIT_VECTOR_STEPS - 0.3) < 1e-8);
    assert_true(fabs((double)steps[1] / (double)TACIT_VECTOR_STEPS + 0.6) < 1e-8);
}

static void what_is_no_number_makes_everything_zero(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        double const h[] = {0.5, bad[i], 0.25};
        int64_t steps[3] = {9, 9, 9};
        tacit_vector_quantise(h, 3, 1, steps);
        for (size_t j = 0; j < 3; j++)
            assert_true(steps[j] == 0);
    }
    static const double huge[] = {1e308, 1e308, -1e308}; /* the norm overflows */
    int64_t steps[3];
    tacit_vector_quantise(huge, 3, 1, steps);
    assert_true(magnitude(steps[0]) + magnitude(steps[1]) + magnitude(steps[2]) <=
                TACIT_VECTOR_STEPS);
}

static void budgets_that_buy_nothing_are_refused(void **state)
{
    (void)state;
    struct tacit_rng rng = stream(1);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    int64_t steps[1] = {5};
    assert_int_equal(tacit_vector_noise(steps, 1, TACIT_VECTOR_EPSILON_NANO_MIN - 1, &entropy),
                     TACIT_BUDGET);
    assert_int_equal(tacit_vector_noise(steps, 1, 0, &entropy), TACIT_BUDGET);
    assert_true(steps[0] == 5);
    assert_int_equal(tacit_vector_noise(steps, 1, TACIT_VECTOR_EPSILON_NANO_MIN, &entropy),
                     TACIT_OK);
}

/* ---- Noise ---- */

#define CELLS 41

/* Against the sampler for small scales, whose law has tests of its own. False alarm 1e-6. */
static void wide_noise_has_the_law_of_the_narrow_one(void **state)
{
    (void)state;
    uint64_t counts[2][CELLS] = {{0}};
    struct tacit_rng rng = stream(2);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    for (uint32_t i = 0; i < 200000; i++)
        for (int sampler = 0; sampler < 2; sampler++) {
            int64_t noise;
            enum tacit_status const status =
                sampler == 0 ? tacit_discrete_laplace(700, 100, &entropy, &noise)
                             : tacit_discrete_laplace_wide(700, 100, &entropy, &noise);
            assert_int_equal(status, TACIT_OK);
            int64_t const cell = noise + CELLS / 2;
            counts[sampler][cell < 0 ? 0 : cell >= CELLS ? CELLS - 1 : cell]++;
        }
    assert_true(gof_two_sample_p(counts[0], counts[1], CELLS) > 1e-6);
}

/* At the real scale: mean of |noise| is the scale, to 5 sigma of 100,000 draws. */
static void wide_noise_has_its_scale(void **state)
{
    (void)state;
    struct tacit_rng rng = stream(3);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    uint64_t const t = 2 * (uint64_t)TACIT_VECTOR_STEPS * UINT64_C(1000000000);
    double const scale = (double)t / (double)EPSILON_NANO;
    double sum = 0;
    double signs = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        int64_t noise;
        assert_int_equal(tacit_discrete_laplace_wide(t, EPSILON_NANO, &entropy, &noise), TACIT_OK);
        sum += fabs((double)noise);
        signs += noise > 0 ? 1 : -1;
    }
    assert_true(fabs(sum / 100000 / scale - 1) < 5 / sqrt(100000.0));
    assert_true(fabs(signs) < 5 * sqrt(100000.0));
}

/* ---- Audit ---- */

enum mutant { HONEST, NOISE_ON_HALF, UNCLIPPED };

struct release {
    enum mutant mutant;
    uint32_t dimension;
};

/* The worst pair: the whole norm in the first coordinate, or in the other direction. */
static void release_of(const void *context, int world, struct tacit_rng *rng,
                       struct audit_release *released)
{
    struct release const *const release = context;
    double h[16] = {0};
    int64_t steps[16];
    struct tacit_entropy const entropy = tacit_rng_entropy(rng);
    double const size = release->mutant == UNCLIPPED ? 3 : 1;
    h[0] = world == 0 ? -1 : 1;
    tacit_vector_quantise(h, release->dimension, 1, steps);
    if (release->mutant == UNCLIPPED)
        steps[0] = (int64_t)(size * (double)steps[0]);
    for (uint32_t j = 0; j < release->dimension; j++) {
        int64_t noise;
        uint64_t const norms = release->mutant == NOISE_ON_HALF ? 1 : 2;
        uint64_t const t = norms * (uint64_t)TACIT_VECTOR_STEPS * UINT64_C(1000000000);
        assert_int_equal(tacit_discrete_laplace_wide(t, EPSILON_NANO, &entropy, &noise), TACIT_OK);
        steps[j] += noise;
    }
    released->value[0].steps = steps[0];
}

static double first_value(const void *context, const struct audit_release *release)
{
    (void)context;
    return (double)release->value[0].steps;
}

static double proven(enum mutant mutant, uint32_t dimension)
{
    struct release const release = {mutant, dimension};
    struct audit const audit = {release_of, &release, 5, 100000};
    return audit_by_score(&audit, first_value).epsilon_lower;
}

static void audit_agrees_with_the_claim_and_refutes_mutants(void **state)
{
    (void)state;
    double const one = proven(HONEST, 1);
    double const sixteen = proven(HONEST, 16);
    double const half = proven(NOISE_ON_HALF, 1);
    double const unclipped = proven(UNCLIPPED, 1);
    print_message("claimed 1: d = 1 %.3f, d = 16 %.3f; noise on C %.3f, unclipped %.3f\n", one,
                  sixteen, half, unclipped);
    assert_true(one <= 1.0001);
    assert_true(one > 0.9);
    assert_true(sixteen <= 1.0001);
    assert_true(half > 1.0001);
    assert_true(unclipped > 1.0001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norm_of_the_integers_is_never_above_Q_for_100000_vectors),
        cmocka_unit_test(short_vectors_keep_their_values_and_long_ones_their_direction),
        cmocka_unit_test(what_is_no_number_makes_everything_zero),
        cmocka_unit_test(budgets_that_buy_nothing_are_refused),
        cmocka_unit_test(wide_noise_has_the_law_of_the_narrow_one),
        cmocka_unit_test(wide_noise_has_its_scale),
        cmocka_unit_test(audit_agrees_with_the_claim_and_refutes_mutants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
