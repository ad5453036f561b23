/* Known answers of the gamma and beta samplers. A change here moves Thompson sampling's choices. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/random.h"

#define LOG_TOLERANCE 1e-13 /* relative: values pass through the platform's log and pow */
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct tacit_rng frozen_stream(void)
{
    return tacit_rng_stream(UINT64_C(0x0123456789abcdef), 7, 42, TACIT_PURPOSE_REWARD);
}

static void check_close(double value, double expected)
{
    if (!(fabs(value - expected) <= LOG_TOLERANCE * fabs(expected)))
        print_error("%a instead of %a\n", value, expected);
    assert_true(fabs(value - expected) <= LOG_TOLERANCE * fabs(expected));
}

TEST(gamma_is_frozen)
{
    double const shapes[] = {1, 2.5, 0.3, 1000, 1e6, 1};
    double const expected[] = {0x1.ef3ad1751e3ccp-1, 0x1.d698538adce1dp+1,  0x1.135a911e6c867p-7,
                               0x1.f6cbf673dec9ep+9, 0x1.e87fd3abf3897p+19, 0x1.a192c3acf5336p-2};
    struct tacit_rng rng = frozen_stream();
    for (size_t i = 0; i < COUNT(shapes); i++)
        check_close(tacit_rng_gamma(&rng, shapes[i]), expected[i]);
}

TEST(beta_is_frozen)
{
    double const as[] = {1, 1, 3, 0.5, 1, 1e6};
    double const bs[] = {1, 10, 2, 0.5, 1e6, 1e6};
    double const expected[] = {0x1.7d30f1631ca74p-2, 0x1.bf2605c1604e6p-4,  0x1.4dc1f6a7eab18p-1,
                               0x1.eac98e15873e7p-1, 0x1.74f18e2cd6f25p-20, 0x1.ff7db8e9556bap-2};
    struct tacit_rng rng = frozen_stream();
    for (size_t i = 0; i < COUNT(as); i++)
        check_close(tacit_rng_beta(&rng, as[i], bs[i]), expected[i]);
}

/* Long enough to take the squeeze, the logarithms and the refusal many times. */
TEST(gammas_in_bulk_have_their_frozen_sum)
{
    double const expected = 399287.19808451913;
    double sum = 0;
    struct tacit_rng rng = frozen_stream();
    for (uint32_t i = 0; i < 100000; i++)
        sum += tacit_rng_gamma(&rng, 1 + i % 7);
    if (!(fabs(sum - expected) <= 1e-5))
        print_error("%.17g\n", sum);
    assert_true(fabs(sum - expected) <= 1e-5);
}
