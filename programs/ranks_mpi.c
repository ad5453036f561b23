/* The wire between ranks, over MPI: a module of its own (ranks.h). Nothing here waits for another
 * rank but `end` together: a rank that is lost leaves requests that never complete, and they are
 * left alone. */
#include "ranks.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNIT_BYTES 64u /* messages are counted in these: an int reaches 128 GiB */
#define TAG 7
#define LEAVE_S 2

/* Something on its way: from here, or to here. */
struct move {
    MPI_Request request;
    uint32_t from;
    size_t size;
    struct move *next;
    _Alignas(16) unsigned char bytes[];
};

static MPI_Datatype unit;
static struct move *leaving;
static struct move *coming;

static struct move *move_new(size_t units)
{
    struct move *const move = calloc(1, sizeof *move + units * UNIT_BYTES);
    if (move == NULL)
        return NULL;
    move->request = MPI_REQUEST_NULL;
    move->size = units * UNIT_BYTES;
    return move;
}

/* Takes the first move that is complete out of the list; NULL: none is. */
static struct move *take_complete(struct move **list)
{
    for (struct move **at = list; *at != NULL; at = &(*at)->next) {
        struct move *const move = *at;
        int is_complete = 0;
        if (MPI_Test(&move->request, &is_complete, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
            !is_complete)
            continue;
        *at = move->next;
        return move;
    }
    return NULL;
}

static void sweep(void)
{
    for (struct move *gone; (gone = take_complete(&leaving)) != NULL;)
        free(gone);
}

static bool wire_send(uint32_t to, const void *bytes, size_t size)
{
    size_t const units = (size + UNIT_BYTES - 1) / UNIT_BYTES;
    struct move *const move = move_new(units);
    sweep();
    if (move == NULL)
        return false;
    memcpy(move->bytes, bytes, size);
    /* A rank to which nothing can be sent is one that will be silent. */
    if (MPI_Isend(move->bytes, (int)units, unit, (int)to, TAG, MPI_COMM_WORLD, &move->request) !=
        MPI_SUCCESS) {
        free(move);
        return true;
    }
    move->next = leaving;
    leaving = move;
    return true;
}

/* Begins to receive what has been announced. */
static void listen(void)
{
    int is_there = 1;
    while (is_there) {
        MPI_Message message;
        MPI_Status status;
        int units = 0;
        if (MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &is_there, &message, &status) !=
                MPI_SUCCESS ||
            !is_there)
            return;
        (void)MPI_Get_count(&status, unit, &units);
        struct move *const move = move_new(units < 0 ? 0 : (size_t)units);
        if (move == NULL)
            abort();
        move->from = (uint32_t)status.MPI_SOURCE;
        if (MPI_Imrecv(move->bytes, units, unit, &message, &move->request) != MPI_SUCCESS) {
            free(move);
            continue;
        }
        struct move **last = &coming; /* messages of a rank stay in their order */
        while (*last != NULL)
            last = &(*last)->next;
        *last = move;
    }
}

static void *wire_receive(uint32_t *from)
{
    listen();
    struct move *const move = take_complete(&coming);
    if (move == NULL)
        return NULL;
    *from = move->from;
    memmove(move, move->bytes, move->size);
    return move;
}

static double now_s(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void wire_end(bool together)
{
    struct timespec const moment = {.tv_nsec = 1000000};
    double const begin = now_s();
    while (leaving != NULL && (together || now_s() - begin < LEAVE_S)) {
        sweep();
        (void)nanosleep(&moment, NULL);
    }
    if (together)
        (void)MPI_Finalize();
}

/* The program loads it by this name. */
const struct ranks_wire *tacit_ranks_start(void);

const struct ranks_wire *tacit_ranks_start(void)
{
    static const struct ranks_wire wire = {wire_send, wire_receive, wire_end};
    int level = MPI_THREAD_SINGLE;
    /* The caller sleeps between two looks; MPI need not give its time away at each of them. */
    (void)setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS ||
        level < MPI_THREAD_FUNNELED)
        return NULL;
    if (MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) != MPI_SUCCESS ||
        MPI_Type_contiguous(UNIT_BYTES, MPI_BYTE, &unit) != MPI_SUCCESS ||
        MPI_Type_commit(&unit) != MPI_SUCCESS)
        return NULL;
    return &wire;
}
