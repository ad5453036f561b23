/* How much a test plays: what every change can wait for, or, with TACIT_TEST_LONG=1, the long form
 * of `make check-long`. */
#ifndef TACIT_TESTS_EFFORT_H
#define TACIT_TESTS_EFFORT_H
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline bool effort_is_long(void)
{
    const char *const wish = getenv("TACIT_TEST_LONG");
    return wish != NULL && strcmp(wish, "1") == 0;
}

static inline uint32_t effort_of(uint32_t usual, uint32_t at_length)
{
    return effort_is_long() ? at_length : usual;
}
#endif
