/* Entropy from the operating system, for privacy noise and for salts, for the order of decisions
 * and for the choice of who reports. No buffer in user space: a fork or a snapshot of a machine
 * would copy it.
 */
#ifndef TACIT_LIVE_ENTROPY_H
#define TACIT_LIVE_ENTROPY_H
#include "tacit/random.h"

/* What it is for: all the same to the program that is shipped. The test build can replay all but
 * the last. Keys are for the salts of commitments. */
enum live_entropy_use {
    LIVE_ENTROPY_NOISE,
    LIVE_ENTROPY_DECISIONS,
    LIVE_ENTROPY_KEYS,
    LIVE_ENTROPY_OTHER
};

/* Each fill is one getrandom(2). */
struct tacit_entropy live_entropy(enum live_entropy_use use);
#endif
