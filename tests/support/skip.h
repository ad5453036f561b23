/* A test that cannot run here says why, in words that tools/count_tests.py compares with the short
 * list of reasons that are allowed. A missing package is none of them:
 * tools/install_dependencies.sh installs it. */
#ifndef SKIP_H
#define SKIP_H
#include <stdio.h>

/* For use in a test; cmocka.h comes before. The line is flushed, since skipping leaves by a jump.
 */
#define SKIP_BECAUSE(reason)                                                                       \
    do {                                                                                           \
        printf("skip: %s\n", reason);                                                              \
        (void)fflush(stdout);                                                                      \
        skip();                                                                                    \
    } while (0)
#endif
