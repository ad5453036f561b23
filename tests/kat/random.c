/* Known answers of room random. A change here moves every simulated result: it needs a decision
 * record and a line in the changelog. Words, uniforms and counts must match exactly; what passes
 * through the platform's log may differ in the last digits. */
#include <math.h>
#include <Random123/philox.h>
#include "../support/testing.h"
#include "tacit/random.h"

#define LOG_TOLERANCE 1e-14 /* relative */
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The stream all frozen values come from. */
static struct tacit_rng frozen_stream(void)
{
    return tacit_rng_stream(UINT64_C(0x0123456789abcdef), 7, 42, TACIT_PURPOSE_REWARD);
}

/* ---- Philox ---------------------------------------------------------------------------------- */

struct philox_answer {
    uint64_t counter[4];
    uint64_t key[2];
    uint64_t block[4];
};

/* The vectors published with Salmon et al. 2011 for philox4x64-10; the last is made of digits of
 * pi. */
static const struct philox_answer published[] = {
    {{0, 0, 0, 0},
     {0, 0},
     {0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}},
    {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
     {UINT64_MAX, UINT64_MAX},
     {0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}},
    {{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
     {0x452821e638d01377, 0xbe5466cf34e90c6c},
     {0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}},
};

TEST(philox_header_gives_the_published_vectors)
{
    for (size_t i = 0; i < COUNT(published); i++) {
        philox4x64_ctr_t counter;
        philox4x64_key_t key;
        memcpy(counter.v, published[i].counter, sizeof counter.v);
        memcpy(key.v, published[i].key, sizeof key.v);
        philox4x64_ctr_t const block = philox4x64(counter, key);
        assert_memory_equal(block.v, published[i].block, sizeof block.v);
    }
}

/* The first published vector is also the start of a stream: seed, run, agent and purpose all 0. */
TEST(stream_of_zeros_starts_with_the_published_vector)
{
    struct tacit_rng rng = tacit_rng_stream(0, 0, 0, (uint32_t)0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(tacit_rng_next(&rng), published[0].block[i]);
}

static void check_mapping(uint64_t seed, uint32_t run, uint32_t agent, uint32_t purpose)
{
    struct tacit_rng rng = tacit_rng_stream(seed, run, agent, purpose);
    for (uint64_t position = 0; position < 10; position++) {
        philox4x64_ctr_t const counter = {{position, run, agent, (uint64_t)purpose}};
        philox4x64_key_t const key = {{seed, 0}};
        philox4x64_ctr_t const block = philox4x64(counter, key);
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(tacit_rng_next(&rng), block.v[i]);
    }
}

TEST(stream_maps_position_run_agent_purpose_to_the_counter_and_seed_to_the_key)
{
    check_mapping(1, 2, 3, TACIT_PURPOSE_REWARD);
    check_mapping(UINT64_MAX, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_INSTANCE);
    check_mapping(UINT64_C(1) << 63, UINT32_MAX, 0, TACIT_PURPOSE_SPLIT);
}

TEST(purposes_have_their_frozen_numbers)
{
    assert_int_equal(TACIT_PURPOSE_REWARD, 1);
    assert_int_equal(TACIT_PURPOSE_NOISE, 2);
    assert_int_equal(TACIT_PURPOSE_SELECTION, 3);
    assert_int_equal(TACIT_PURPOSE_INSTANCE, 4);
    assert_int_equal(TACIT_PURPOSE_FAULT, 5);
    assert_int_equal(TACIT_PURPOSE_SPLIT, 6);
}

/* ---- Frozen values --------------------------------------------------------------------------- */

TEST(next_is_frozen)
{
    uint64_t const expected[] = {0x69b1f0e71541f517, 0x93ee7ca88ab49ee9, 0x03fce74d9d5eaa0a,
                                 0x30dbf223ea21c00d, 0x983d7b0cdbf7b2fa, 0x134fc2f3098067a5,
                                 0x5450f8936890ec05, 0x8296f3d3b2ec91db};
    struct tacit_rng rng = frozen_stream();
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_int_equal(tacit_rng_next(&rng), expected[i]);
}

TEST(below_is_frozen)
{
    uint64_t const bounds[] = {10, 1000003, UINT64_C(3) << 61};
    uint64_t const expected[] = {UINT64_C(4), UINT64_C(577859), UINT64_C(107759548793847747),
                                 UINT64_C(1), UINT64_C(594689), UINT64_C(521829434614884061),
                                 UINT64_C(3), UINT64_C(510117), UINT64_C(752894273231632898)};
    struct tacit_rng rng = frozen_stream();
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_int_equal(tacit_rng_below(&rng, bounds[i % 3]), expected[i]);
}

TEST(uniform_is_frozen)
{
    double const expected[] = {0x1.a6c7c39c5507ep-2, 0x1.27dcf95115693p-1, 0x1.fe73a6ceaf54p-7,
                               0x1.86df911f510e4p-3, 0x1.307af619b7ef7p-1, 0x1.34fc2f3098068p-4};
    struct tacit_rng rng = frozen_stream();
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_true(tacit_rng_uniform(&rng) == expected[i]);
}

TEST(bernoulli_is_frozen)
{
    uint64_t const expected = UINT64_C(0x44a675220110de2c); /* bit i: draw i, p = 0.3 */
    struct tacit_rng rng = frozen_stream();
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(tacit_rng_bernoulli(&rng, 0.3), (expected >> i) & 1u);
}

static void check_close_within(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fabs(expected)))
        fail_msg("%a instead of %a", value, expected);
}

static void check_close(double value, double expected)
{
    check_close_within(value, expected, LOG_TOLERANCE);
}

TEST(exponential_is_frozen)
{
    double const expected[] = {0x1.c4eccabe5662dp-1, 0x1.18cb7d955dfd1p-1, 0x1.0a5cc250f08b4p+2,
                               0x1.a7ff0cb5bb80cp+0, 0x1.0a188044116b6p-1, 0x1.4ad003f302a59p+1};
    struct tacit_rng rng = frozen_stream();
    for (size_t i = 0; i < COUNT(expected); i++)
        check_close(tacit_rng_exponential(&rng), expected[i]);
}

TEST(laplace_is_frozen)
{
    double const expected[] = {0x1.1b13feb6f5fdcp+1, 0x1.5efe5cfab57c5p+0,  -0x1.4cf3f2e52cae1p+3,
                               0x1.08ff67f195308p+2, -0x1.4c9ea05515c64p+0, 0x1.9d8404efc34efp+2};
    struct tacit_rng rng = frozen_stream();
    for (size_t i = 0; i < COUNT(expected); i++)
        check_close(tacit_rng_laplace(&rng, 2.5), expected[i]);
}

TEST(normal_is_frozen)
{
    double const expected[] = {0x1.4b493aabe2e7fp-2,  -0x1.398d68840f501p+0, 0x1.afa7b5946e944p-5,
                               -0x1.1e5da2b2eabc4p+0, 0x1.7f25b2ebeca0dp-3,  0x1.cf77b43b81796p-5};
    struct tacit_rng rng = frozen_stream();
    for (size_t i = 0; i < COUNT(expected); i++)
        check_close(tacit_rng_normal(&rng), expected[i]);
}

/* Long enough to take the rare branch, the one with the logarithm, a thousand times. */
TEST(normals_in_bulk_have_their_frozen_sum)
{
    double const expected = 79941.863171399295;
    double sum = 0.0;
    struct tacit_rng rng = frozen_stream();
    for (uint32_t i = 0; i < 100000; i++)
        sum += fabs(tacit_rng_normal(&rng));
    if (!(fabs(sum - expected) <= 1e-6))
        print_error("%.17g\n", sum);
    assert_true(fabs(sum - expected) <= 1e-6);
}

TEST(binomial_is_frozen)
{
    static const struct {
        uint64_t n;
        double p;
        uint64_t expected[6];
    } answers[] = {
        {1, 0.5, {0, 1, 0, 0, 1, 0}},
        {10, 0.3, {3, 3, 0, 2, 3, 1}},
        {19, 0.5, {9, 10, 5, 8, 10, 6}},
        {20, 0.5, {9, 11, 9, 9, 7, 8}},
        {33, 0.7, {24, 23, 28, 25, 23, 27}},
        {100, 0.0999, {9, 10, 4, 7, 11, 6}},
        {100, 0.1, {9, 11, 8, 9, 6, 8}},
        {1000, 0.5, {496, 504, 492, 496, 477, 490}},
        {1000000, 0.3, {299887, 300123, 299772, 299874, 299340, 299711}},
        {1000000, 0.999999, {999999, 999999, 1000000, 1000000, 999999, 1000000}},
        {TACIT_HORIZON_MAX, 5e-12, {5, 6, 1, 3, 6, 2}},
        {TACIT_HORIZON_MAX, 1e-10, {107, 113, 105, 107, 95, 103}},
        {TACIT_HORIZON_MAX,
         0.25,
         {274877794832, 274878029027, 274877681404, 274877782187, 274877252827, 274877621057}},
        {TACIT_HORIZON_MAX,
         0.9,
         {989560542672, 989560380417, 989560621257, 989560551432, 989560918184, 989560663067}},
    };
    for (size_t i = 0; i < COUNT(answers); i++) {
        struct tacit_rng rng = frozen_stream();
        for (size_t draw = 0; draw < COUNT(answers[i].expected); draw++)
            assert_int_equal(tacit_rng_binomial(&rng, answers[i].n, answers[i].p),
                             answers[i].expected[draw]);
    }
}

/* FNV-1a over 64-bit words, enough to notice that one value among many has moved. */
static uint64_t digest_add(uint64_t digest, uint64_t value)
{
    return (digest ^ value) * UINT64_C(0x100000001b3);
}

/* Runs through every branch: both methods, squeeze and final test, all forms of the deviance. */
TEST(binomial_over_many_n_and_p_has_its_frozen_digest)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    struct tacit_rng rng = frozen_stream();
    for (uint32_t log2_n = 0; log2_n <= 40; log2_n++)
        for (uint32_t part = 1; part < 64; part++)
            for (uint32_t draw = 0; draw < 32; draw++)
                digest = digest_add(digest,
                                    tacit_rng_binomial(&rng, UINT64_C(1) << log2_n, part / 64.0));
    assert_int_equal(digest, UINT64_C(0xab558c27884128d2));
}

TEST(entropy_bytes_of_a_stream_are_frozen)
{
    uint8_t const expected[] = {0x17, 0xf5, 0x41, 0x15, 0xe7, 0xf0, 0xb1, 0x69, 0xe9, 0x9e,
                                0xb4, 0x8a, 0xa8, 0x7c, 0xee, 0x93, 0x0a, 0xaa, 0x5e};
    uint8_t bytes[COUNT(expected)];
    struct tacit_rng rng = frozen_stream();
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    assert_int_equal(entropy.fill(entropy.context, bytes, sizeof bytes), TACIT_OK);
    assert_memory_equal(bytes, expected, sizeof bytes);
    struct tacit_rng expected_rest = frozen_stream();
    for (int i = 0; i < 3; i++) /* two whole words and one for the last three bytes */
        tacit_rng_next(&expected_rest);
    assert_int_equal(tacit_rng_next(&rng), tacit_rng_next(&expected_rest));
}

TEST(subset_is_frozen)
{
    uint64_t const expected[][2] = {
        {0x0000020000000000, 0x0000000000000000},
        {0x0480000000040082, 0x0000000000000000},
        {0x82e2007283188dfa, 0x000000044d607332},
        {0xffffffffffff7fff, 0x0000000fffffffff},
    };
    uint32_t const counts[] = {1, 5, 40, 99};
    struct tacit_rng rng = frozen_stream();
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    for (size_t i = 0; i < COUNT(expected); i++) {
        uint64_t bits[2];
        assert_int_equal(tacit_entropy_subset(&entropy, counts[i], 100, bits), TACIT_OK);
        assert_memory_equal(bits, expected[i], sizeof bits);
    }
}

/* ---- Gamma and beta: what Thompson sampling draws ---- */

#define GAMMA_TOLERANCE 1e-13 /* more logarithms and powers of the platform */

TEST(gamma_is_frozen)
{
    double const shapes[] = {1, 2.5, 0.3, 1000, 1e6, 1};
    double const expected[] = {0x1.ef3ad1751e3ccp-1, 0x1.d698538adce1dp+1,  0x1.135a911e6c867p-7,
                               0x1.f6cbf673dec9ep+9, 0x1.e87fd3abf3897p+19, 0x1.a192c3acf5336p-2};
    struct tacit_rng rng = frozen_stream();
    for (size_t i = 0; i < COUNT(shapes); i++)
        check_close_within(tacit_rng_gamma(&rng, shapes[i]), expected[i], GAMMA_TOLERANCE);
}

TEST(beta_is_frozen)
{
    double const as[] = {1, 1, 3, 0.5, 1, 1e6};
    double const bs[] = {1, 10, 2, 0.5, 1e6, 1e6};
    double const expected[] = {0x1.7d30f1631ca74p-2, 0x1.bf2605c1604e6p-4,  0x1.4dc1f6a7eab18p-1,
                               0x1.eac98e15873e7p-1, 0x1.74f18e2cd6f25p-20, 0x1.ff7db8e9556bap-2};
    struct tacit_rng rng = frozen_stream();
    for (size_t i = 0; i < COUNT(as); i++)
        check_close_within(tacit_rng_beta(&rng, as[i], bs[i]), expected[i], GAMMA_TOLERANCE);
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
