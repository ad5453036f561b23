/* The progress bar: share done, rate, time left; redrawn ten times a second. */
#include "progress.h"
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define BAR_WIDTH 30u

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void draw(const struct progress *progress, double elapsed_s)
{
    uint32_t const done = atomic_load(&progress->control->finished_count);
    uint32_t const filled = (uint32_t)((uint64_t)BAR_WIDTH * done / progress->run_count);
    double const rate = elapsed_s > 0 ? done / elapsed_s : 0;
    (void)fprintf(stderr, "\r\033[K[");
    for (uint32_t i = 0; i < BAR_WIDTH; i++)
        (void)fputc(i < filled ? '#' : '.', stderr);
    (void)fprintf(stderr, "] %u of %u runs", done, progress->run_count);
    if (done > 0)
        (void)fprintf(stderr, ", %.1f runs/s, %.0f s left", rate,
                      (progress->run_count - done) / rate);
    (void)fflush(stderr);
}

static void *draw_until_over(void *argument)
{
    struct progress *const progress = argument;
    struct timespec const pause = {.tv_nsec = 100000000};
    double const started_s = seconds_now();
    while (!atomic_load(&progress->over)) {
        (void)nanosleep(&pause, NULL);
        if (!atomic_load(&progress->over))
            draw(progress, seconds_now() - started_s);
    }
    (void)fprintf(stderr, "\r\033[K");
    return NULL;
}

void progress_start(struct progress *progress, struct tacit_sim_control *control,
                    uint32_t run_count, bool is_wanted)
{
    progress->control = control;
    progress->run_count = run_count;
    atomic_init(&progress->over, false);
    progress->is_running = is_wanted && isatty(STDERR_FILENO) &&
                           pthread_create(&progress->thread, NULL, draw_until_over, progress) == 0;
}

void progress_stop(struct progress *progress)
{
    atomic_store(&progress->over, true);
    if (progress->is_running)
        (void)pthread_join(progress->thread, NULL);
    progress->is_running = false;
}
