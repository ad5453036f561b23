/* The kernels with AVX2, and without its multiply-add: the bits are those of portable.c. */
#if defined __x86_64__
#include <immintrin.h>
#define TARGET __attribute__((target("avx2")))
#define NAME(kernel) linalg_##kernel##_avx2
#define ROOT(x) ((v4)_mm256_sqrt_pd((__m256d)(x)))
/* In so many words: gcc 12 makes two halves of it where it may choose. */
#define WIDEN(p) ((v4)_mm256_cvtps_pd(_mm_loadu_ps(p)))
#define NARROW(v) ((f4)_mm256_cvtpd_ps((__m256d)(v)))
#define HALVES(p, q)                                                                               \
    ((v4)_mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p)), _mm_loadu_pd(q), 1))
#include "kernels.h"
#else
typedef int linalg_no_avx2; /* a file may not be empty */
#endif
