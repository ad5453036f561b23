/* The ranks of a call of `mpirun`: processes, on one machine or several, that send each other
 * bytes. MPI itself is in a module of its own (ranks_mpi.c), which is loaded by a call under mpirun
 * only: no other one has a library more, and a build without MPI lacks that file and nothing else.
 */
#ifndef TACIT_PROGRAMS_RANKS_H
#define TACIT_PROGRAMS_RANKS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All functions are called by one thread, the one that opened it. */
struct ranks_wire {
    /* Sends a copy, and does not wait. False: no memory. */
    bool (*send)(uint32_t to, const void *bytes, size_t size);
    /* The next message that is here as a whole, at least as long as it was sent; to be freed. NULL:
     * none now. */
    void *(*receive)(uint32_t *from);
    /* Ends it: `together` waits for all ranks, which end it together, too; without, what was sent
     * has two seconds to leave, and a lost rank holds nobody up. */
    void (*end)(bool together);
};

/* What such a module exports: RANKS_SYMBOL in the file RANKS_FILE. NULL: MPI does not start. */
typedef const struct ranks_wire *(*ranks_start)(void);
#define RANKS_FILE "tacit_ranks.so"
#define RANKS_SYMBOL "tacit_ranks_start"

/* How many there are (1: no mpirun), which one this is, and how many are on this machine. */
uint32_t ranks_count(void);
uint32_t ranks_index(void);
uint32_t ranks_beside(void);

/* Does mpirun go on when a rank is lost? (Its --enable-recovery.) */
bool ranks_outlive(void);

/* Loads the module. NULL: *why says why not. Requires: ranks_count() > 1. */
const struct ranks_wire *ranks_open(const char **why);

/* Threads of this rank: `asked`, or where that is 0 its part of the processors, those that mpirun
 * lets it have. */
uint32_t ranks_threads(uint32_t asked);
#endif
