/* The refuter; see audit.h. The choosing half may use any method at all, since the measuring half
 * is independent of it; it ranks candidates by Wilson's (1927) approximate bounds, which are
 * quick. */
#include "audit.h"
#include "gof.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define THRESHOLDS 1000u
#define WILSON_Z 3.29 /* about the one-sided 99.95 % of the Clopper-Pearson bounds */

enum half { HALF_CHOOSES, HALF_MEASURES };

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "audit: %s\n", what);
    abort();
}

static void *allocate(size_t count, size_t size)
{
    void *const memory = calloc(count, size);
    require(memory != NULL, "out of memory");
    return memory;
}

static struct tacit_rng stream(const struct audit *audit, enum half half, int world)
{
    return tacit_rng_stream(audit->seed, (uint32_t)half, (uint32_t)world, TACIT_PURPOSE_NOISE);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* Wilson's bound of a proportion: side +1 the upper, -1 the lower one. */
static double wilson(uint64_t hits, uint64_t trials, double side)
{
    double const n = (double)trials;
    double const p = (double)hits / n;
    double const z2 = WILSON_Z * WILSON_Z;
    double const spread = WILSON_Z * sqrt(p * (1 - p) / n + z2 / (4 * n * n));
    return (p + z2 / (2 * n) + side * spread) / (1 + z2 / n);
}

static double promise(uint64_t hits, uint64_t hits_other, uint64_t trials)
{
    if (hits == 0)
        return -INFINITY;
    return log(wilson(hits, trials, -1) / wilson(hits_other, trials, 1));
}

static double proven(const uint64_t hits[2], int world, uint64_t trials)
{
    double const confidence = 1 - (1 - AUDIT_CONFIDENCE) / 2;
    double const lower = gof_binomial_lower(hits[world], trials, confidence);
    double const upper = gof_binomial_upper(hits[1 - world], trials, confidence);
    return lower > upper ? log(lower / upper) : 0.0;
}

/* ---- By score -------------------------------------------------------------------------------- */

static int compare_doubles(const void *left, const void *right)
{
    double const a = *(const double *)left;
    double const b = *(const double *)right;
    return (a > b) - (a < b);
}

static double *scores_of(const struct audit *audit, audit_score *score, enum half half, int world)
{
    uint32_t const count = audit->release_count / 2;
    double *const scores = allocate(count, sizeof scores[0]);
    struct tacit_rng rng = stream(audit, half, world);
    for (uint32_t i = 0; i < count; i++) {
        struct audit_release release = {0};
        audit->release(audit->context, world, &rng, &release);
        scores[i] = score(audit->context, &release);
        require(!isnan(scores[i]), "a score is NaN");
    }
    return scores;
}

/* How many of the sorted scores are < limit (or, with_equal, <= limit). */
static uint32_t count_below(const double *sorted, uint32_t count, double limit, bool with_equal)
{
    uint32_t first = 0;
    uint32_t last = count;
    while (first < last) {
        uint32_t const middle = first + (last - first) / 2;
        if (sorted[middle] < limit || (with_equal && sorted[middle] == limit))
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

/* Tries score >= threshold for world 1 and score <= threshold for world 0. */
static void try_threshold(double *const sorted[2], uint32_t count, double threshold,
                          struct audit_finding *best, double *best_promise)
{
    for (int world = 0; world < 2; world++) {
        uint64_t hits[2];
        for (int i = 0; i < 2; i++)
            hits[i] = world == 0 ? count_below(sorted[i], count, threshold, true)
                                 : count - count_below(sorted[i], count, threshold, false);
        double const now = promise(hits[world], hits[1 - world], count);
        if (now > *best_promise) {
            *best_promise = now;
            best->world = world;
            best->threshold = threshold;
        }
    }
}

static struct audit_finding choose_threshold(const struct audit *audit, audit_score *score)
{
    uint32_t const count = audit->release_count / 2;
    double *sorted[2];
    for (int world = 0; world < 2; world++) {
        sorted[world] = scores_of(audit, score, HALF_CHOOSES, world);
        qsort(sorted[world], count, sizeof sorted[world][0], compare_doubles);
    }
    struct audit_finding best = {0};
    double best_promise = -INFINITY;
    for (int world = 0; world < 2; world++) {
        for (uint32_t i = 0; i <= THRESHOLDS; i++) {
            uint64_t const rank = (uint64_t)i * (count - 1) / THRESHOLDS;
            try_threshold(sorted, count, sorted[world][rank], &best, &best_promise);
        }
        for (uint32_t tail = 1; tail < count / THRESHOLDS; tail *= 2) { /* rare releases */
            try_threshold(sorted, count, sorted[world][tail], &best, &best_promise);
            try_threshold(sorted, count, sorted[world][count - 1 - tail], &best, &best_promise);
        }
    }
    free(sorted[0]);
    free(sorted[1]);
    return best;
}

struct audit_finding audit_by_score(const struct audit *audit, audit_score *score)
{
    require(audit->release_count >= 2, "too few releases");
    struct audit_finding finding = choose_threshold(audit, score);
    finding.trials = audit->release_count / 2;
    for (int world = 0; world < 2; world++) {
        double *const scores = scores_of(audit, score, HALF_MEASURES, world);
        for (uint64_t i = 0; i < finding.trials; i++)
            if (finding.world == 0 ? scores[i] <= finding.threshold
                                   : scores[i] >= finding.threshold)
                finding.hits[world]++;
        free(scores);
    }
    finding.epsilon_lower = proven(finding.hits, finding.world, finding.trials);
    return finding;
}

/* ---- By events ------------------------------------------------------------------------------- */

/* hits[i] becomes how often event first+i happened. */
static void count_events(const struct audit *audit, audit_event *happens, struct tacit_rng rng,
                         int world, uint64_t trials, uint32_t first, uint32_t event_count,
                         uint64_t *hits)
{
    for (uint32_t i = 0; i < event_count; i++)
        hits[i] = 0;
    for (uint64_t trial = 0; trial < trials; trial++) {
        struct audit_release release = {0};
        audit->release(audit->context, world, &rng, &release);
        for (uint32_t i = 0; i < event_count; i++)
            hits[i] += happens(audit->context, first + i, &release) ? 1u : 0u;
    }
}

static struct audit_finding choose_event(uint64_t *const hits[2], uint32_t event_count,
                                         uint64_t trials)
{
    struct audit_finding best = {0};
    double best_promise = -INFINITY;
    for (uint32_t event = 0; event < event_count; event++)
        for (int variant = 0; variant < 4; variant++) {
            int const world = variant % 2;
            bool const complement = variant / 2 == 1;
            uint64_t const here = hits[world][event];
            uint64_t const there = hits[1 - world][event];
            double const now = complement ? promise(trials - here, trials - there, trials)
                                          : promise(here, there, trials);
            if (now > best_promise) {
                best_promise = now;
                best = (struct audit_finding){
                    .world = world, .event = event, .complement = complement};
            }
        }
    return best;
}

/* Fills in what the measuring releases say about the event that was chosen. */
static void measure_event(const struct audit *audit, audit_event *happens, uint64_t trials,
                          struct audit_finding *finding)
{
    finding->trials = trials;
    for (int world = 0; world < 2; world++) {
        uint64_t *const hits = &finding->hits[world];
        count_events(audit, happens, stream(audit, HALF_MEASURES, world), world, trials,
                     finding->event, 1, hits);
        if (finding->complement)
            *hits = trials - *hits;
    }
    finding->epsilon_lower = proven(finding->hits, finding->world, trials);
}

struct audit_finding audit_by_events(const struct audit *audit, audit_event *happens,
                                     uint32_t event_count)
{
    require(audit->release_count >= 2, "too few releases");
    require(event_count > 0, "no event");
    uint64_t const trials = audit->release_count / 2;
    uint64_t *hits[2];
    for (int world = 0; world < 2; world++) {
        hits[world] = allocate(event_count, sizeof hits[world][0]);
        count_events(audit, happens, stream(audit, HALF_CHOOSES, world), world, trials, 0,
                     event_count, hits[world]);
    }
    struct audit_finding finding = choose_event(hits, event_count, trials);
    free(hits[0]);
    free(hits[1]);
    measure_event(audit, happens, trials, &finding);
    return finding;
}

struct audit_finding audit_by_stated_event(const struct audit *audit, audit_event *happens,
                                           int world)
{
    require(audit->release_count >= 1, "too few releases");
    struct audit_finding finding = {.world = world};
    measure_event(audit, happens, audit->release_count, &finding);
    return finding;
}
