/* Coins and noise whose scales need more than 50 bits, and quotients of more than 64: what
 * vector.c, gaussian.c and prices share. */
#ifndef TACIT_PRIVACY_WIDE_H
#define TACIT_PRIVACY_WIDE_H
#include "tacit/random.h"

__extension__ typedef unsigned __int128 wide;

/* floor(dividend / divisor). A compiler's own would call its run-time library, which a device need
 * not have. Requires: 0 < divisor < PRIVACY_DIVISOR_MAX. */
#define PRIVACY_DIVISOR_MAX (UINT64_C(1) << 48)
wide privacy_divide(wide dividend, uint64_t divisor);

/* *heads becomes true with probability exactly exp(-x/t). Requires: x <= t <= 2^62, t > 0.
 * Errors: TACIT_ENTROPY. Reference: Canonne, Kamath, Steinke 2020, Algorithm 1. */
enum tacit_status privacy_bernoulli_exp(uint64_t x, uint64_t t, const struct tacit_entropy *entropy,
                                        bool *heads);
#endif
