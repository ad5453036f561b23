/* A progress bar on stderr, drawn by a thread of its own while the simulator works. */
#ifndef TACIT_PROGRAMS_PROGRESS_H
#define TACIT_PROGRAMS_PROGRESS_H
#include <pthread.h>
#include "tacit/sim.h"

struct progress {
    struct tacit_sim_control *control;
    uint32_t run_count;
    pthread_t thread;
    bool is_running;
    atomic_bool over;
};

/* Starts the bar if stderr is a terminal and it is wanted. */
void progress_start(struct progress *progress, struct tacit_sim_control *control,
                    uint32_t run_count, bool is_wanted);

/* Wipes the bar. */
void progress_stop(struct progress *progress);
#endif
