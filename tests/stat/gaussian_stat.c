/* The exact discrete Gaussian has its law at every scale that matters, and the ledger in rho never
 * pays less than is due. False alarm of each law: 1e-6, with fixed seeds. */
#include "../support/testing.h"
#include "../support/gof.h"
#include "tacit/gaussian.h"
#include <math.h>

#define ALPHA 1e-6
#define CELLS 201u

static struct tacit_rng stream(uint32_t run)
{
    return tacit_rng_stream(78, run, 0, TACIT_PURPOSE_OF_FAMILY(4, 210));
}

static struct tacit_gaussian of_variance(uint64_t numerator, uint32_t shift, uint64_t denominator)
{
    struct tacit_gaussian gaussian;
    assert_int_equal(tacit_gaussian_init(&gaussian, numerator, shift, denominator), TACIT_OK);
    return gaussian;
}

/* ---- Law ---- */

/* Whole laws of small scales; expected counts from their definition. */
TEST(small_scales_have_their_law)
{
    static const uint64_t variances[] = {1, 2, 3, 7, 16, 100, 300};
    for (uint32_t v = 0; v < sizeof variances / sizeof variances[0]; v++) {
        struct tacit_gaussian const gaussian = of_variance(variances[v], 0, 1);
        double const variance = tacit_gaussian_variance(&gaussian);
        assert_true(variance >= (double)variances[v]);
        uint32_t const draws = 200000;
        uint64_t observed[CELLS] = {0};
        double expected[CELLS];
        double total = 0;
        struct tacit_rng rng = stream(v);
        struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
        for (uint32_t i = 0; i < draws; i++) {
            int64_t noise;
            assert_int_equal(tacit_discrete_gaussian(&gaussian, &entropy, &noise), TACIT_OK);
            assert_true(llabs(noise) <= 100);
            observed[noise + 100]++;
        }
        for (int x = -100; x <= 100; x++)
            total += expected[x + 100] = exp(-(double)x * x / (2 * variance));
        for (uint32_t x = 0; x < CELLS; x++)
            expected[x] *= draws / total;
        assert_true(gof_chi_square_p(observed, expected, CELLS) > ALPHA);
    }
}

/* Scales of releases, where one cell has many integers: P(z) of the normal law. */
TEST(large_scales_are_normal)
{
    static const uint32_t shifts[] = {20, 40, 41, 60};
    for (uint32_t s = 0; s < 4; s++) {
        struct tacit_gaussian const gaussian = of_variance(1, shifts[s], 1);
        double const sd = sqrt(tacit_gaussian_variance(&gaussian));
        uint32_t const draws = 100000;
        double *const sample = testing_malloc(draws * sizeof *sample);
        struct tacit_rng rng = stream(100 + s);
        struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
        for (uint32_t i = 0; i < draws; i++) {
            int64_t noise;
            assert_int_equal(tacit_discrete_gaussian(&gaussian, &entropy, &noise), TACIT_OK);
            sample[i] = 0.5 * erfc(-(double)noise / sd / sqrt(2));
        }
        assert_true(gof_ks_p(sample, draws) > ALPHA);
        testing_free(sample);
    }
}

/* ---- Scale ---- */

TEST(scales_are_rounded_up_and_hardly)
{
    struct tacit_rng rng = stream(200);
    for (uint32_t i = 0; i < 20000; i++) {
        uint64_t const numerator = 1 + tacit_rng_below(&rng, UINT64_C(1) << 40);
        uint64_t const denominator = 1 + tacit_rng_below(&rng, UINT64_C(1) << 30);
        uint32_t const shift = (uint32_t)tacit_rng_below(&rng, 40);
        struct tacit_gaussian gaussian;
        double const exact = (double)numerator * ldexp(1, (int)shift) / (double)denominator;
        enum tacit_status const status =
            tacit_gaussian_init(&gaussian, numerator, shift, denominator);
        assert_true((status == TACIT_OK) == (exact <= 0x1p61));
        if (status != TACIT_OK)
            continue;
        double const made = tacit_gaussian_variance(&gaussian);
        assert_true(made >= exact * (1 - 1e-14));
        assert_true(made <= exact + 2 * sqrt(exact) + 2);
        double const scale = ldexp(1, (int)gaussian.scale_log2);
        assert_true(scale * scale <= 2 * exact + 4);
    }
    struct tacit_gaussian untouched = {3, 4};
    assert_int_equal(tacit_gaussian_init(&untouched, 1, 62, 1), TACIT_INVALID);
    assert_int_equal(tacit_gaussian_init(&untouched, 1, 63, 1), TACIT_INVALID);
    assert_true(untouched.scale_log2 == 3 && untouched.quotient == 4);
}

static enum tacit_status fail_after(void *context, void *bytes, size_t size)
{
    uint32_t *const left = context;
    if (*left == 0)
        return TACIT_ENTROPY;
    (*left)--;
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)(37 * (*left + i));
    return TACIT_OK;
}

TEST(failing_entropy_draws_nothing)
{
    struct tacit_gaussian const gaussian = of_variance(1, 40, 3);
    for (uint32_t fills = 0; fills < 3; fills++) {
        uint32_t left = fills;
        int64_t noise = 77;
        struct tacit_entropy const entropy = {fail_after, &left};
        assert_int_equal(tacit_discrete_gaussian(&gaussian, &entropy, &noise), TACIT_ENTROPY);
        assert_true(noise == 77);
    }
}

/* ---- Ledger ---- */

TEST(rho_implies_its_epsilon_and_delta)
{
    static const double epsilons[] = {0.01, 0.1, 1, 3, 20, 1e4};
    static const double deltas[] = {1e-9, 1e-6, 1e-3, 0.4};
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t j = 0; j < 4; j++) {
            uint64_t const nano = tacit_rho_of_epsilon_nano(epsilons[i], deltas[j]);
            double const here = (double)nano / 1e9; /* rho + 2 sqrt(rho ln(1/delta)) = epsilon */
            double const next = (double)(nano + 2) / 1e9 * (1 + 1e-11);
            double const level = -log(deltas[j]);
            assert_true(here + 2 * sqrt(here * level) <= epsilons[i]);
            assert_true(next + 2 * sqrt(next * level) > epsilons[i]);
        }
    assert_true(tacit_rho_of_epsilon_nano(1, 1e-6) == 17468904);
    assert_true(tacit_rho_of_pure_nano(1000000000) == 500000000);
    assert_true(tacit_rho_of_pure_nano(1) == 1); /* 5e-19, rounded up */
    assert_true(tacit_rho_of_pure_nano(44722) == 2);
}

TEST(groups_cost_their_maximum_and_add)
{
    struct tacit_rho_ledger ledger = tacit_rho_ledger_init(10);
    assert_int_equal(tacit_rho_ledger_spend(&ledger, 0, 4), TACIT_OK);
    assert_int_equal(tacit_rho_ledger_spend(&ledger, 0, 4), TACIT_OK); /* other data */
    assert_int_equal(tacit_rho_ledger_spend(&ledger, 0, 3), TACIT_OK);
    assert_true(tacit_rho_ledger_spent_nano(&ledger) == 4);
    assert_int_equal(tacit_rho_ledger_spend(&ledger, 63, 6), TACIT_OK); /* exactly all */
    assert_true(tacit_rho_ledger_spent_nano(&ledger) == 10);
    struct tacit_rho_ledger const before = ledger;
    assert_int_equal(tacit_rho_ledger_spend(&ledger, 0, 5), TACIT_BUDGET);
    assert_int_equal(tacit_rho_ledger_spend(&ledger, 1, 1), TACIT_BUDGET);
    assert_int_equal(tacit_rho_ledger_spend(&ledger, 1, UINT64_MAX), TACIT_BUDGET);
    assert_memory_equal(&before, &ledger, sizeof ledger);
    assert_true(ledger.release_count == 4);
}
