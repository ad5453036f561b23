/* Naive twin of elimination by votes: players as structs with dense arrays of votes, one sample at
 * a time, every vote counted anew by going over all players. Written from Feraud et al., Alg. 2 and
 * READINGS P3; it shares no line with the production code. */
#ifndef TACIT_TESTS_VOTE_TWIN_H
#define TACIT_TESTS_VOTE_TWIN_H
#include <stdbool.h>
#include <stdint.h>
#include "best_arm_twin.h"

struct vote_twin_setting {
    const char *kind;
    int players;
    int arms;
    const double *means;
    double epsilon;
    double failure; /* of each player's subroutine */
    int needed;     /* votes */
    bool groups;    /* Problem 2: half of the players make 80 % of the events */
    double drift;   /* Problem 3: of all arms but the best, a sample */
    uint64_t seed;
};

struct vote_twin_result {
    double samples;
    double samples_vote;
    double messages;
    bool right; /* every player ends with an epsilon-optimal arm */
};

struct vote_twin_result vote_twin_run(const struct vote_twin_setting *setting);
#endif
