/* How much a test plays: what every change can wait for, or, with TACIT_TEST_LONG=1, the long form
 * of `make check-long`. */
#ifndef TACIT_TESTS_EFFORT_H
#define TACIT_TESTS_EFFORT_H
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A sanitizer of addresses is slow, and maps more of them than a limit would leave. */
#if defined(__SANITIZE_ADDRESS__)
#define EFFORT_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EFFORT_IS_SANITIZED 1
#endif
#endif
#ifndef EFFORT_IS_SANITIZED
#define EFFORT_IS_SANITIZED 0
#endif

static inline bool effort_is_long(void)
{
    const char *const wish = getenv("TACIT_TEST_LONG");
    return wish != NULL && strcmp(wish, "1") == 0;
}

/* A part of a storm is enough for it. */
static inline bool effort_is_brief(void)
{
    return EFFORT_IS_SANITIZED && !effort_is_long();
}

static inline uint32_t effort_of(uint32_t usual, uint32_t at_length)
{
    return effort_is_long() ? at_length : usual;
}
#endif
