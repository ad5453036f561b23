/* The time that has passed, for what is told of it and how often something is kept. */
#ifndef TACIT_STUDY_NOW_H
#define TACIT_STUDY_NOW_H
#include <time.h>

static inline double study_now_s(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}
#endif
