/* The refuter: runs a mechanism on two neighbouring inputs and proves, from what it releases, a
 * lower bound on its real epsilon (Ding et al. 2018; Bichsel et al. 2021). A bound above the claim
 * refutes the claim; a bound below it never proves it. Not part of the library. */
#ifndef TACIT_TESTS_AUDIT_H
#define TACIT_TESTS_AUDIT_H
#include "tacit/random.h"

#define AUDIT_VALUES_MAX 4u
/* A true claim is refuted with chance 1 - AUDIT_CONFIDENCE at most, for any mechanism. */
#define AUDIT_CONFIDENCE 0.999
#define AUDIT_RELEASES 200000u

/* All an attacker sees of one run. */
struct audit_release {
    union tacit_sum value[AUDIT_VALUES_MAX];
};

/* A mechanism between two worlds: world 0 has the data D, world 1 its neighbour D'. */
struct audit {
    void (*release)(const void *context, int world, struct tacit_rng *rng,
                    struct audit_release *release);
    const void *context; /* also handed to scores and events */
    uint64_t seed;
    uint32_t release_count; /* in each world */
};

/* Any number; the larger, the more the release looks like world 1. The best one is the likelihood
 * ratio (Neyman, Pearson 1933). Infinities are welcome, NaN is not. */
typedef double audit_score(const void *context, const struct audit_release *release);

/* Did event number `event` happen in this release? */
typedef bool audit_event(const void *context, uint32_t event, const struct audit_release *release);

struct audit_finding {
    double epsilon_lower; /* proven with AUDIT_CONFIDENCE; 0 where nothing is */
    int world;            /* the world in which the event is more likely */
    double threshold;     /* by score: score >= threshold (world 1) or <= threshold (world 0) */
    uint32_t event;       /* by events: its number .. */
    bool complement;      /* .. and whether it is the event that does NOT happen */
    uint64_t trials;      /* measured releases in each world */
    uint64_t hits[2];     /* how many of them had the event */
};

/* Half of the releases choose the threshold and the direction, the other half measures: the bound
 * is ln(lower(p_world) / upper(p_other)), Clopper-Pearson at 1 - (1 - AUDIT_CONFIDENCE)/2 each.
 * Cost: O(n log n) for n releases. */
struct audit_finding audit_by_score(const struct audit *audit, audit_score *score);

/* The same for events 0 .. event_count-1 and their complements, in both directions.
 * Cost: O(n event_count). */
struct audit_finding audit_by_events(const struct audit *audit, audit_event *happens,
                                     uint32_t event_count);

/* The same for event 0 alone, said beforehand to be more likely in `world`: nothing is left to
 * choose, so every release measures. */
struct audit_finding audit_by_stated_event(const struct audit *audit, audit_event *happens,
                                           int world);
#endif
