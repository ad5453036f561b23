/* Draws per second of each sampler, one thread. usage: bench_samplers */
#include <stdio.h>
#include <time.h>
#include "tacit/privacy.h"
#include "tacit/random.h"

#define DRAWS 4000000u

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct tacit_rng rng;
static volatile double sink; /* keeps the compiler from leaving the work out */

/* ---- One function a sampler ---- */

static void words(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < DRAWS; i++)
        sum ^= tacit_rng_next(&rng);
    sink = (double)sum;
}

static void uniforms(void)
{
    double sum = 0;
    for (uint32_t i = 0; i < DRAWS; i++)
        sum += tacit_rng_uniform(&rng);
    sink = sum;
}

static void exponentials(void)
{
    double sum = 0;
    for (uint32_t i = 0; i < DRAWS; i++)
        sum += tacit_rng_exponential(&rng);
    sink = sum;
}

static void laplaces(void)
{
    double sum = 0;
    for (uint32_t i = 0; i < DRAWS; i++)
        sum += tacit_rng_laplace(&rng, 2);
    sink = sum;
}

static void normals(void)
{
    double sum = 0;
    for (uint32_t i = 0; i < DRAWS; i++)
        sum += tacit_rng_normal(&rng);
    sink = sum;
}

static void small_binomials(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < DRAWS; i++)
        sum += tacit_rng_binomial(&rng, 14, 0.3);
    sink = (double)sum;
}

static void binomials(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < DRAWS; i++)
        sum += tacit_rng_binomial(&rng, 1000 + i % 1000, 0.3);
    sink = (double)sum;
}

static void huge_binomials(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < DRAWS; i++)
        sum += tacit_rng_binomial(&rng, TACIT_HORIZON_MAX - i, 0.3);
    sink = (double)sum;
}

static void releases(enum tacit_privacy_mode mode)
{
    struct tacit_mechanism mechanism;
    struct tacit_mechanism_config const config = {mode, 1, 0, 1};
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    double sum = 0;
    if (tacit_mechanism_init(&mechanism, &config) != TACIT_OK)
        return;
    for (uint32_t i = 0; i < DRAWS; i++) {
        union tacit_sum const exact = {0};
        union tacit_sum noised = {0};
        (void)tacit_mechanism_release(&mechanism, exact, &entropy, &noised);
        sum += tacit_sum_mean(&mechanism.scale, noised, 1);
    }
    sink = sum;
}

static void sound_releases(void)
{
    releases(TACIT_PRIVACY_SOUND);
}

static void paper_releases(void)
{
    releases(TACIT_PRIVACY_PAPER);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*draw)(void);
    } samplers[] = {
        {"64 random bits", words},
        {"uniform", uniforms},
        {"exponential", exponentials},
        {"laplace", laplaces},
        {"normal", normals},
        {"binomial, n = 14", small_binomials},
        {"binomial, n = 1000..1999", binomials},
        {"binomial, n = 2^40", huge_binomials},
        {"release, paper (double Laplace)", paper_releases},
        {"release, sound (exact discrete)", sound_releases},
    };
    double first_s = 0;
    rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_REWARD);
    (void)printf("%-34s %12s %10s %8s\n", "sampler", "M draws/s", "ns/draw", "ratio");
    for (size_t i = 0; i < sizeof samplers / sizeof samplers[0]; i++) {
        double const start_s = seconds_now();
        samplers[i].draw();
        double const spent_s = seconds_now() - start_s;
        first_s = i == 0 ? spent_s : first_s;
        (void)printf("%-34s %12.1f %10.1f %8.1f\n", samplers[i].name, DRAWS / spent_s / 1e6,
                     1e9 * spent_s / DRAWS, spent_s / first_s);
    }
    return 0;
}
