/* What was released of the arms, round by round: what the dashboard draws, and reckons the rounds
 * to go from. At most LIVE_HISTORY_POINTS rounds are held: when they are full every second one
 * goes, and from then on every second round is taken. Kept in a file of the state directory, for
 * people: no run depends on it. */
#ifndef TACIT_LIVE_HISTORY_H
#define TACIT_LIVE_HISTORY_H
#include "tacit/base.h"

#define LIVE_HISTORY_POINTS 128u
#define LIVE_HISTORY_ARMS 64u /* with more arms nothing is held */

struct live_history_point {
    uint32_t round;
    uint64_t pulls;                  /* of each arm that is in; 0: not known */
    double radius;                   /* 0: not known */
    double means[LIVE_HISTORY_ARMS]; /* NaN: out, or not known; as parts of the range */
    double lowers[LIVE_HISTORY_ARMS];
    double uppers[LIVE_HISTORY_ARMS];
};

struct live_history {
    const char *directory;
    char run[33]; /* hexadecimal digits */
    uint32_t arm_count;
    uint32_t stride;
    uint32_t count;
    uint64_t in;                       /* arms that were in when the last round began */
    struct live_history_point *points; /* NULL: nothing is held */
};

/* Of this run; what the file has of it is there again. Without memory nothing is held. */
void live_history_open(struct live_history *history, const char *directory, const uint8_t run[16],
                       uint32_t arm_count);
void live_history_close(struct live_history *history);

/* The round that was closed last. Values: means, lower and upper ends: K each, or NULL. active: the
 * arms that go on; NULL: all. An arm's last value is of the round in which it went out. */
void live_history_add(struct live_history *history, uint32_t round, uint64_t pulls, double radius,
                      const uint64_t *active, const double *const values[3]);

/* About how many rounds, if the best arm and the next one stay as far apart as they are now: until
 * their radius, or intervals, tell them apart, or the horizon is reached; 0: it cannot be said.
 * From what was released alone. */
uint32_t live_history_rounds_left(const struct live_history *history, uint64_t horizon);
#endif
