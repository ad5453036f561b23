/* What the host does with a programmer's error: say where, and stop. */
#include "tacit/base.h"
#include <stdio.h>
#include <stdlib.h>

_Noreturn void tacit_panic(const char *file, int line, const char *what)
{
    (void)fprintf(stderr, "tacit: %s:%d: broken assertion: %s\n", file, line, what);
    abort();
}
