/* Entropy of the simulator as files, for daemons that run under test (src/live/daemon/entropy.c).
 */
#ifndef TACIT_TESTS_TAPE_H
#define TACIT_TESTS_TAPE_H
#include "tacit/random.h"

/* Writes what the stream gives from here on, half a megabyte, to FOLDER/NAME. */
void tape_write(const char *folder, const char *name, struct tacit_rng stream);
#endif
