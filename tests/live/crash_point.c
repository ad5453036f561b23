/* Linked into tacitd-test: TACIT_CRASH_AT=name:n kills the process at the n-th passage of a crash
 * point; first:n,then:m at the m-th passage of the second one after the n-th of the first. */
#include "../../src/live/daemon/crash_point.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void live_crash_point(const char *name)
{
    static const char *wanted; /* what is left to be passed */
    static unsigned long passages;
    size_t const length = strlen(name);
    if (wanted == NULL)
        wanted = getenv("TACIT_CRASH_AT");
    if (wanted == NULL || strncmp(wanted, name, length) != 0 || wanted[length] != ':')
        return;
    char *end;
    if (++passages != strtoul(wanted + length + 1, &end, 10))
        return;
    if (*end != ',')
        (void)raise(SIGKILL);
    passages = 0;
    wanted = end + 1;
}
