/* Test build only: TACIT_CRASH_AT=name:n kills the process at the n-th passage of a crash point. */
#include "crash_point.h"
#ifdef TACIT_TEST_HOOKS
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void live_crash_point(const char *name)
{
    static unsigned long passages;
    char const *const wanted = getenv("TACIT_CRASH_AT");
    size_t const length = strlen(name);
    if (wanted == NULL || strncmp(wanted, name, length) != 0 || wanted[length] != ':')
        return;
    if (++passages == strtoul(wanted + length + 1, NULL, 10))
        (void)raise(SIGKILL);
}
#else
typedef int live_crash_point_is_for_tests; /* a translation unit may not be empty */
#endif
