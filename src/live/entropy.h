/* Entropy from the operating system, for privacy noise and for the order of decisions. No buffer in
 * user space: a fork or a snapshot of a machine would copy it. */
#ifndef TACIT_LIVE_ENTROPY_H
#define TACIT_LIVE_ENTROPY_H
#include "tacit/random.h"

/* Each fill is one getrandom(2). */
struct tacit_entropy live_entropy(void);
#endif
