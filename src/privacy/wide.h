/* Coins and noise whose scales need more than 50 bits: what vector.c and gaussian.c share. */
#ifndef TACIT_PRIVACY_WIDE_H
#define TACIT_PRIVACY_WIDE_H
#include "tacit/random.h"

/* *heads becomes true with probability exactly exp(-x/t). Requires: x <= t <= 2^62, t > 0.
 * Errors: TACIT_ENTROPY. Reference: Canonne, Kamath, Steinke 2020, Algorithm 1. */
enum tacit_status privacy_bernoulli_exp(uint64_t x, uint64_t t, const struct tacit_entropy *entropy,
                                        bool *heads);
#endif
