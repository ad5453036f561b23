/* The kernels for what every machine of this kind has. */
#define TARGET
#define NAME(kernel) linalg_##kernel##_portable
#include "kernels.h"
