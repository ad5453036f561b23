/* Latency: how long users of a training federation take to answer, in simulation (Peleg et al.,
 * Sec. V-A; READINGS P5.6). Pure; part of the room env. */
#ifndef TACIT_LATENCY_H
#define TACIT_LATENCY_H
#include "tacit/base.h"
#include "tacit/random.h"

enum tacit_latency_kind {
    TACIT_LATENCY_NORMAL,     /* max(latency_min, center + spread z) */
    TACIT_LATENCY_LOG_NORMAL, /* max(latency_min, center e^(spread z)) */
    TACIT_LATENCY_TRACE       /* a row of a table, drawn for all users of a round together */
};

/* Arrays are the caller's. */
struct tacit_latency {
    enum tacit_latency_kind kind;
    uint32_t user_count;  /* K */
    double latency_min;   /* > 0 */
    double spread;        /* NORMAL, LOG_NORMAL */
    const double *center; /* K, NORMAL: mean, LOG_NORMAL: median */
    const double *rows;   /* TRACE: row_count x K, each > 0 */
    uint32_t row_count;
};

/* The two groups of READINGS P5.6: the first K/2 users are fast, .05 + .15 (k+1)/(K/2), the others
 * slow, .7 + .2 (k+1-K/2)/(K-K/2). Fills K means. Requires: K >= 2. */
void tacit_latency_two_groups(double *center, uint32_t user_count);

/* Medians of log-normal users: median e^(spread z_k). */
void tacit_latency_log_normal(double *center, uint32_t user_count, double median, double spread,
                              struct tacit_rng *rng);

/* Draws one round: K latencies. Cost: O(K). */
void tacit_latency_draw(const struct tacit_latency *latency, struct tacit_rng *rng,
                        double *latencies);

/* E[tau_k] and mu_k = E[latency_min/tau_k] of one user, to 1e-9 (Simpson's rule over 16 standard
 * deviations; a trace: the averages of its column). */
void tacit_latency_expect(const struct tacit_latency *latency, uint32_t user, double *mean,
                          double *ratio);
#endif
