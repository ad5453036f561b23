/* Elimination with exact bounds: from what was released of each arm to who goes (EXACT-BOUNDS 2.5,
 * 4.3; ours). The one place for epoch elimination, private votes and the pool of published sums.
 *
 * All arms that are in have as many releases, of as many pulls, so one choice of releases is that
 * of all of them, and both bounds rise with the sum: the arm with the largest sum has the largest
 * lower bound, and a few upper bounds say who is below it. Pure functions of counts and released
 * integers; nothing is kept. */
#ifndef TACIT_ELIMINATION_H
#define TACIT_ELIMINATION_H
#include "tacit/base.h"
#include "tacit/bounds.h"

/* A look at K arms. Release e = 0, 1, .. of arm k is steps[k * arm_stride + e * release_stride]. */
struct tacit_elimination {
    const int64_t *steps;
    size_t arm_stride;
    size_t release_stride;
    bool are_histories; /* each release holds those before it */
    uint32_t arm_count; /* K */
    uint32_t first;     /* releases first, .., last - 1 are looked at */
    uint32_t last;
    uint64_t pulls;                  /* N of an arm in these */
    uint64_t noises;                 /* m */
    struct tacit_bounds_noise noise; /* releases: of those that are looked at */
    double level;                    /* L */
    /* An arm goes if UCB < the largest LCB; or, above 0, if UCB <= the largest LCB + accuracy. */
    double accuracy;
};

/* N, m, Y of an arm. */
struct tacit_bounds_sum tacit_elimination_sum(const struct tacit_elimination *look, uint32_t arm);

/* The arm of the set with the largest Y, lowest index on ties. Requires: the set is not empty. */
uint32_t tacit_elimination_leader(const struct tacit_elimination *look, const uint64_t *active);

/* Takes those that go out of the set, all at once; writes them to `dropped`, W(K), beside what is
 * there, unless it is NULL. One stays: that with the largest LCB, lowest index on ties. Returns how
 * many went. Requires: the set is not empty.
 * Cost: O(K), two bounds, and about one for each doubling of the arms that are near; with an
 * accuracy one for each arm before the one that stays.
 * Tested by: tests/oracle/elimination_oracle.c */
uint32_t tacit_elimination_drop(const struct tacit_elimination *look, uint64_t *active,
                                uint64_t *dropped);
#endif
