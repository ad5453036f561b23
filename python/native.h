/* What python/native.c adds to the pure rooms for the Python package. */
#ifndef TACIT_PYTHON_NATIVE_H
#define TACIT_PYTHON_NATIVE_H
#include "tacit/select.h"
#include "tacit/vector.h"

/* tacit_vector_noise with the operating system's entropy, whose copy is wiped afterwards. */
enum tacit_status tacit_python_noise(int64_t *steps, uint32_t dimension, uint64_t epsilon_nano);

/* tacit_select_choose with a stream of its own for each round of this seed. */
enum tacit_status tacit_python_choose(const struct tacit_select *select,
                                      const struct tacit_select_choice *choice, uint64_t seed,
                                      void *scratch, uint32_t *users, uint32_t *count,
                                      double *energy);

/* Bytes of the `index`-th struct that Python declares by itself; 0 behind the last. */
size_t tacit_python_sizes(size_t index);
#endif
