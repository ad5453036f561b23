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
    LIVE_ENTROPY_IDS, /* the key of a state's ids */
    LIVE_ENTROPY_OTHER
};

/* Each fill is one getrandom(2). */
struct tacit_entropy live_entropy(enum live_entropy_use use);

/* Once at the start: is that a source, or the same bytes again and again, as all zeros are? Salts
 * and keys from such a one would be known to everybody. Errors: TACIT_ENTROPY, with error->text. A
 * good source fails with chance 2^-256. */
enum tacit_status live_entropy_check(struct tacit_error *error);
#endif
