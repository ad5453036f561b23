/* The kernels with AVX2, and without its multiply-add: the bits are those of portable.c. */
#if defined __x86_64__
#define TARGET __attribute__((target("avx2")))
#define NAME(kernel) linalg_##kernel##_avx2
#include "kernels.h"
#else
typedef int linalg_no_avx2; /* a file may not be empty */
#endif
