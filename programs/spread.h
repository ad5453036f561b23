/* A comparison over the ranks of mpirun: rank 0 hands cells, or shares of their runs, to all, takes
 * back what they played, and has in the end what one machine would have. */
#ifndef TACIT_PROGRAMS_SPREAD_H
#define TACIT_PROGRAMS_SPREAD_H
#include "cell.h"
#include "ranks.h"

struct spread {
    struct cell *cells; /* file and settings, on every rank; rank 0's get their text */
    uint32_t count;
    const char *kept; /* rank 0: folder of finished cells; NULL: there is none */
    uint32_t threads; /* of each rank; 0: as ranks_threads says */
    bool quiet;
    struct tacit_sim_control *control;
};

/* Ranks beside rank 0 play until rank 0 has all, and have no results. Errors: TACIT_INTERRUPTED: it
 * was stopped, and rank 0 has some; TACIT_INVALID: the ranks do not have the same program, files
 * and settings; TACIT_IO: rank 0 is silent; TACIT_MEMORY. All but TACIT_INTERRUPTED with
 * error->text. */
enum tacit_status spread_run(const struct spread *spread, const struct ranks_wire *wire,
                             struct tacit_error *error);
#endif
