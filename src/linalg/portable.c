/* The kernels for what every machine of this kind has. */
#define TARGET
#define NAME(kernel) linalg_##kernel##_portable
#define ROOT(x) ((v4){sqrt((x)[0]), sqrt((x)[1]), sqrt((x)[2]), sqrt((x)[3])})
#define WIDEN(p) __builtin_convertvector(*(const f4 *)(const void *)(p), v4)
#define NARROW(v) __builtin_convertvector(v, f4)
#define HALVES(p, q) ((v4){(p)[0], (p)[1], (q)[0], (q)[1]})
#include "kernels.h"
