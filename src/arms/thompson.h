/* Thompson sampling without a draw for every arm. A draw above a threshold decides, if there is
 * one; most arms almost never have one. Arm a has a bound p_a on its chance of a draw above the
 * threshold, under an exponential hat: the beta law is log-concave. Points of a Poisson process
 * with -ln(1 - p_a) expected points at arm a strike each arm with chance p_a, independently; only
 * arms that are struck are looked at, and a point under the hat is kept as rejection sampling
 * keeps it. If no draw is above the threshold, all arms are drawn given that. So the law of the
 * choice is that of a draw for every arm, whatever the threshold: it only decides the cost. */
#ifndef TACIT_ARMS_THOMPSON_H
#define TACIT_ARMS_THOMPSON_H
#include "tacit/arms.h"

/* Views into a learner. Arm a has the posterior Beta(1 + s, 1 + f). */
struct thompson {
    uint32_t arm_count;
    uint32_t leaves; /* P: a power of two, not below K */
    bool is_real;    /* sums are doubles, else steps; both hold whole successes */
    const uint64_t *pulls;
    const union tacit_sum *sums;
    double *weights; /* 2 P: expected points, of an arm at P + a, of both below a node; 0 unused */
    double threshold;
};

/* A threshold that few draws exceed, but seldom none: where a sum over the arms of a logistic
 * approximation of -ln P(draw <= threshold) is what costs least. Near `guess` is found sooner.
 * Cost: O(K) a step, some four to fifteen steps. */
double thompson_threshold(const struct thompson *race, double guess);

/* The weight of an arm after its posterior changed. Cost: O(log K). */
void thompson_set(const struct thompson *race, uint32_t arm);

/* All weights, after the threshold changed. Cost: O(K). */
void thompson_rebuild(const struct thompson *race);

/* The arm with the largest draw. Cost: O(log K) for each arm that is struck, some ln K of them, and
 * O(K) with a chance of about 1/K. */
uint32_t thompson_choose(const struct thompson *race, struct tacit_rng *rng);
#endif
