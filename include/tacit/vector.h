/* Vector: the sound release of a whole model update (local differential privacy of everything a
 * user holds). L1 clipping and rounding leave integers whose L1 norm is at most TACIT_VECTOR_STEPS,
 * so two data sets of a user are at most twice that apart; each coordinate gets exact discrete
 * Laplace noise of that scale over epsilon. Pure; part of the room privacy. */
#ifndef TACIT_VECTOR_H
#define TACIT_VECTOR_H
#include "tacit/random.h"

/* Q: steps in which the clip norm is counted. */
#define TACIT_VECTOR_STEPS INT64_C(1073741824)
/* Q >= 2^10 d, so that rounding toward zero costs little of the norm. */
#define TACIT_VECTOR_DIMENSION_MAX 1048576u
/* The noise's scale is at most 2^20 Q: 2e9/2^20, rounded up. Below it nothing is released. */
#define TACIT_VECTOR_EPSILON_NANO_MIN UINT64_C(1908)
#define TACIT_VECTOR_VALUE_MAX (INT64_C(1) << 62)

/* steps[j] = what h[j] is worth in units of clip/Q: scaled down to L1 norm clip where it is larger,
 * rounded toward zero; then the largest lose a step while the integers still add up to more than Q.
 * One entry that is no finite number makes all 0: a training that failed must not show.
 * Ensures: sum of |steps[j]| <= Q, exactly. Requires: clip > 0, dimension within its limit.
 * Cost: O(d). */
void tacit_vector_quantise(const double *h, uint32_t dimension, double clip, int64_t *steps);

/* Adds to each coordinate its own discrete Laplace noise of scale 2 Q 1e9 / epsilon_nano, saturated
 * at +-TACIT_VECTOR_VALUE_MAX. Always d draws, so that time tells nothing of the values.
 * Errors: TACIT_BUDGET: epsilon below its least; TACIT_ENTROPY; steps is then half noised and must
 * be thrown away. Reference: Canonne, Kamath, Steinke 2020, Algorithm 2. */
enum tacit_status tacit_vector_noise(int64_t *steps, uint32_t dimension, uint64_t epsilon_nano,
                                     const struct tacit_entropy *entropy);

/* The same law for any scale: P(x) proportional to exp(-|x| s/t). Requires: 0 < t <= 2^62,
 * 0 < s < 2^48. Errors: TACIT_INVALID, TACIT_ENTROPY; *noise untouched. */
enum tacit_status tacit_discrete_laplace_wide(uint64_t t, uint64_t s,
                                              const struct tacit_entropy *entropy, int64_t *noise);
#endif
