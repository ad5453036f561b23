/* The sound release of a vector: its integers never pass their norm, its noise has its law, and
 * what it loses is what it says; mutants are refuted. */
#include "../support/testing.h"
#include "../support/audit.h"
#include "../support/gof.h"
#include "tacit/privacy.h"
#include "tacit/select.h"
#include "tacit/vector.h"
#include <math.h>

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

TEST(norm_of_the_integers_is_never_above_Q_for_100000_vectors)
{
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

TEST(short_vectors_keep_their_values_and_long_ones_their_direction)
{
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

TEST(what_is_no_number_makes_everything_zero)
{
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

TEST(budgets_that_buy_nothing_are_refused)
{
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
TEST(wide_noise_has_the_law_of_the_narrow_one)
{
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
TEST(wide_noise_has_its_scale)
{
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

#define PARTICIPATION 30u
#define ETA 0.04
#define TOTAL 40.0

enum mutant {
    HONEST,
    NOISE_ON_HALF,   /* noise on C, not on 2 C */
    UNCLIPPED,       /* three times the norm */
    RAW_STATISTICS,  /* the last coordinate, a running mean, leaves as it is */
    SERVER_S_COUNTER /* the server says "your first participation", and the site believes it */
};

struct release {
    enum mutant mutant;
    uint32_t dimension;
    uint64_t epsilon_nano; /* that is charged */
    uint64_t first_nano;   /* what a first participation costs */
};

static void draw_noise(uint64_t norms, uint64_t epsilon_nano, const struct tacit_entropy *entropy,
                       int64_t *step)
{
    int64_t noise;
    uint64_t const t = norms * (uint64_t)TACIT_VECTOR_STEPS * UINT64_C(1000000000);
    assert_int_equal(tacit_discrete_laplace_wide(t, epsilon_nano, entropy, &noise), TACIT_OK);
    *step += noise;
}

/* The worst pair: the whole norm in the last coordinate, or in the other direction. */
static void release_of(const void *context, int world, struct tacit_rng *rng,
                       struct audit_release *released)
{
    struct release const *const release = context;
    static double h[DIMENSION_MAX];
    static int64_t steps[DIMENSION_MAX];
    struct tacit_entropy const entropy = tacit_rng_entropy(rng);
    uint32_t const last = release->dimension - 1;
    bool const is_believed = release->mutant == SERVER_S_COUNTER;
    h[last] = world == 0 ? -1 : 1;
    tacit_vector_quantise(h, release->dimension, 1, steps);
    h[last] = 0;
    if (release->mutant == UNCLIPPED)
        steps[last] *= 3;
    if (release->mutant == NOISE_ON_HALF || release->mutant == UNCLIPPED)
        for (uint32_t j = 0; j <= last; j++) /* the library's own would refuse such steps */
            draw_noise(release->mutant == UNCLIPPED ? 2 : 1, release->epsilon_nano, &entropy,
                       &steps[j]);
    else
        assert_int_equal(
            tacit_vector_noise(steps, release->dimension - (release->mutant == RAW_STATISTICS),
                               is_believed ? release->first_nano : release->epsilon_nano, &entropy),
            TACIT_OK);
    released->value[0].steps = steps[last];
}

static double first_value(const void *context, const struct audit_release *release)
{
    return (double)release->value[0].steps;
}

/* Of so many releases in each world. */
static double proven(const struct release *release, uint32_t count)
{
    struct audit const audit = {release_of, release, 5, count};
    return audit_by_score(&audit, first_value).epsilon_lower;
}

TEST(audit_agrees_with_the_claim_and_refutes_mutants)
{
    double const one = proven(&(struct release){HONEST, 1, EPSILON_NANO, 0}, 100000);
    double const sixteen = proven(&(struct release){HONEST, 16, EPSILON_NANO, 0}, 100000);
    double const thousand = proven(&(struct release){HONEST, 1000, EPSILON_NANO, 0}, 4000);
    double const half = proven(&(struct release){NOISE_ON_HALF, 1, EPSILON_NANO, 0}, 100000);
    double const unclipped = proven(&(struct release){UNCLIPPED, 1, EPSILON_NANO, 0}, 100000);
    double const raw = proven(&(struct release){RAW_STATISTICS, 16, EPSILON_NANO, 0}, 20000);
    print_message("claimed 1: d = 1 %.3f, d = 16 %.3f, d = 1000 %.3f; noise on C %.3f, unclipped "
                  "%.3f, raw statistics %.3f\n",
                  one, sixteen, thousand, half, unclipped, raw);
    assert_true(one <= 1.0001);
    assert_true(one > 0.9);
    assert_true(sixteen <= 1.0001);
    assert_true(thousand <= 1.0001);
    assert_true(thousand > 0.7);
    assert_true(half > 1.0001);
    assert_true(unclipped > 1.0001);
    assert_true(raw > 3);
}

/* What a user is charged for participation `index`, from 1. */
static uint64_t price_of(uint32_t index)
{
    struct tacit_select_config const config = {
        .user_count = 1,
        .users_per_round = 1,
        .alpha = 1,
        .beta = 2,
        .gamma = 1,
        .zeta = 1,
        .latency_min = 1,
        .budget = {.kind = TACIT_SELECT_GEOMETRIC, .is_exact = true, .total = TOTAL, .eta = ETA}};
    struct tacit_select *const select = testing_malloc(tacit_select_size(&config));
    assert_int_equal(tacit_select_init(select, &config, NULL), TACIT_OK);
    uint64_t price = 0;
    for (uint32_t i = 0; i < index; i++) {
        uint32_t const user = 0;
        double const latency = 1;
        uint64_t const before = tacit_select_spent_nano(select, 0);
        assert_int_equal(tacit_select_observe(select, &user, 1, &latency, 1), TACIT_OK);
        price = tacit_select_spent_nano(select, 0) - before;
    }
    return price;
}

/* A site that noises by its own counter, as it must, and one that takes the server's. */
TEST(a_counter_of_the_server_is_refuted)
{
    struct release release = {HONEST, 1, price_of(PARTICIPATION), price_of(1)};
    double const charged = (double)release.epsilon_nano / 1e9;
    double const own = proven(&release, 50000);
    release.mutant = SERVER_S_COUNTER;
    double const believed = proven(&release, 50000);
    print_message("charged %.3f: own counter %.3f, the server's %.3f\n", charged, own, believed);
    assert_true(own <= charged + 1e-4);
    assert_true(own > charged - 0.1);
    assert_true(believed > charged + 0.2);
}

/* Rounding to nearest adds up to d/2 steps: too few for a test of chance, but the sum shows it. */
TEST(rounding_to_nearest_passes_the_norm)
{
    static double h[DIMENSION_MAX];
    uint32_t passed = 0;
    for (uint32_t run = 0; run < 1000; run++) {
        struct tacit_rng rng = stream(run);
        double norm = 0;
        int64_t sum = 0;
        draw_vector(&rng, DIMENSION_MAX, h);
        for (uint32_t j = 0; j < DIMENSION_MAX; j++)
            norm += fabs(h[j]);
        double const scale = norm > 1 ? 1 / norm : 1;
        for (uint32_t j = 0; j < DIMENSION_MAX; j++)
            sum += magnitude(llround(scale * h[j] * (double)TACIT_VECTOR_STEPS));
        passed += sum > TACIT_VECTOR_STEPS ? 1 : 0;
    }
    print_message("rounded to nearest: %u of 1000 vectors above Q\n", passed);
    assert_true(passed > 100);
}
