/* Places where a test kills the process: after the n-th passage, by SIGKILL. Only in the test build
 * of the daemons (TACIT_TEST_HOOKS); the program that is shipped has none of it. */
#ifndef TACIT_LIVE_CRASH_POINT_H
#define TACIT_LIVE_CRASH_POINT_H
#ifdef TACIT_TEST_HOOKS
void live_crash_point(const char *name);
#else
static inline void live_crash_point(const char *name)
{
    (void)name;
}
#endif
#endif
