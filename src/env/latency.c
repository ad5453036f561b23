/* Latencies of users: draws and expectations. */
#include "tacit/latency.h"
#include <math.h>

#define STEPS 4000u                /* of Simpson's rule, even */
#define WIDTH 8.0                  /* standard deviations on each side: 1e-15 is left out */
#define DENSITY 0.3989422804014327 /* 1/sqrt(2 pi) */

void tacit_latency_two_groups(double *center, uint32_t user_count)
{
    TACIT_ASSERT(user_count >= 2);
    uint32_t const half = user_count / 2;
    for (uint32_t k = 0; k < half; k++)
        center[k] = 0.05 + 0.15 * (k + 1.0) / half;
    for (uint32_t k = half; k < user_count; k++)
        center[k] = 0.7 + 0.2 * (k + 1.0 - half) / (user_count - half);
}

void tacit_latency_log_normal(double *center, uint32_t user_count, double median, double spread,
                              struct tacit_rng *rng)
{
    TACIT_ASSERT(median > 0);
    for (uint32_t k = 0; k < user_count; k++)
        center[k] = median * exp(spread * tacit_rng_normal(rng));
}

static double latency_at(const struct tacit_latency *latency, uint32_t user, double normal)
{
    double const value = latency->kind == TACIT_LATENCY_NORMAL
                             ? latency->center[user] + latency->spread * normal
                             : latency->center[user] * exp(latency->spread * normal);
    return value > latency->latency_min ? value : latency->latency_min;
}

void tacit_latency_draw(const struct tacit_latency *latency, struct tacit_rng *rng,
                        double *latencies)
{
    TACIT_ASSERT(latency->latency_min > 0);
    if (latency->kind == TACIT_LATENCY_TRACE) {
        TACIT_ASSERT(latency->row_count > 0);
        const double *const row =
            latency->rows + (size_t)tacit_rng_below(rng, latency->row_count) * latency->user_count;
        for (uint32_t k = 0; k < latency->user_count; k++)
            latencies[k] = row[k] > latency->latency_min ? row[k] : latency->latency_min;
        return;
    }
    for (uint32_t k = 0; k < latency->user_count; k++)
        latencies[k] = latency_at(latency, k, tacit_rng_normal(rng));
}

/* Of a trace: the mean latency, and the mean of latency_min over it. */
static void average_column(const struct tacit_latency *latency, uint32_t user, double *mean,
                           double *ratio)
{
    double sum = 0;
    double ratios = 0;
    for (uint32_t i = 0; i < latency->row_count; i++) {
        double const row = latency->rows[(size_t)i * latency->user_count + user];
        double const value = row > latency->latency_min ? row : latency->latency_min;
        sum += value;
        ratios += latency->latency_min / value;
    }
    *mean = sum / latency->row_count;
    *ratio = ratios / latency->row_count;
}

/* Where the latency leaves its floor: the integrand has a corner there, and Simpson's rule wants
 * none. */
static double corner_of(const struct tacit_latency *latency, uint32_t user)
{
    double const center = latency->center[user];
    double corner = -WIDTH;
    if (latency->kind == TACIT_LATENCY_NORMAL && latency->spread > 0)
        corner = (latency->latency_min - center) / latency->spread;
    else if (latency->spread > 0)
        corner = log(latency->latency_min / center) / latency->spread;
    return corner < -WIDTH ? -WIDTH : corner > WIDTH ? WIDTH : corner;
}

/* Adds what the mean and the ratio have of the normals between `from` and `to`. */
static void integrate(const struct tacit_latency *latency, uint32_t user, double from, double to,
                      double *mean, double *ratio)
{
    double const step = (to - from) / STEPS;
    if (!(step > 0))
        return;
    double sum = 0;
    double ratios = 0;
    for (uint32_t i = 0; i <= STEPS; i++) {
        double const normal = from + step * i;
        double const weight = (i == 0 || i == STEPS ? 1
                               : i % 2 == 1         ? 4
                                                    : 2) *
                              DENSITY * exp(-normal * normal / 2);
        double const value = latency_at(latency, user, normal);
        sum += weight * value;
        ratios += weight * latency->latency_min / value;
    }
    *mean += sum * step / 3;
    *ratio += ratios * step / 3;
}

void tacit_latency_expect(const struct tacit_latency *latency, uint32_t user, double *mean,
                          double *ratio)
{
    TACIT_ASSERT(user < latency->user_count);
    if (latency->kind == TACIT_LATENCY_TRACE) {
        average_column(latency, user, mean, ratio);
        return;
    }
    double const corner = corner_of(latency, user);
    *mean = 0;
    *ratio = 0;
    integrate(latency, user, -WIDTH, corner, mean, ratio);
    integrate(latency, user, corner, WIDTH, mean, ratio);
}
