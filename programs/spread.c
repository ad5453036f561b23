/* Each rank has a thread that speaks with the others, this file's, and seats that play, a thread or
 * more each. Rank 0 has a teller besides: it looks for what is kept, joins shares and keeps cells.
 * Nobody waits for anybody: who is silent for long is lost, what it was given goes to others, and
 * if it comes back its results are as good as theirs. */
#include "spread.h"
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "hand_out.h"

#define ALIVE_S 1.0          /* between two signs of life */
#define QUIET_S 3.0          /* a rank: it gets none, for MPI may wait for one that is gone */
#define SILENT_S 10.0        /* a rank: it is lost */
#define MASTER_SILENT_S 30.0 /* rank 0: there is nobody to play for */
#define PASS_S 2.0           /* a pass counts for no more: this rank itself stood still */
#define SEATS_MAX 1024u
#define HOST_BYTES 64u

enum kind { HELLO = 1, ASK, PLAY, PLAYED, ALIVE, END, BYE };

/* Between processes of one program, which rank 0 makes sure of. */
struct message {
    uint32_t kind;
    uint32_t seat;
    struct hand_out_unit unit;
    struct cell_share share; /* its pointers say nothing */
    uint64_t text_bytes;
    uint8_t digest[TACIT_SHA256_BYTES]; /* HELLO: of program, files and settings */
    char host[HOST_BYTES];
    enum tacit_status status;
}; /* rows and text follow */

enum seat_state { SEAT_IDLE, SEAT_BUSY, SEAT_READY };

struct seat {
    struct crew *crew;
    pthread_t thread;
    enum seat_state state;
    struct hand_out_unit unit;
    struct cell_share share;
    enum tacit_status status;
    struct tacit_sim_control control;
};

/* What rank 0 knows of a rank. */
struct mate {
    double heard_s;
    bool is_welcome; /* it has the same program, files and settings */
    bool is_lost;
    bool has_left;
    char host[HOST_BYTES];
};

struct idle {
    uint32_t rank;
    uint32_t seat;
};

/* What rank 0 has of a cell. */
struct heap {
    struct cell_share *shares;
    uint32_t *ranks; /* who played them */
    uint32_t count;
};

struct crew {
    const struct spread *spread;
    const struct ranks_wire *wire;
    uint32_t rank;
    uint32_t rank_count;
    struct seat *seats;
    uint32_t seat_count;
    uint32_t seat_threads;
    pthread_mutex_t mutex; /* of the seats' states, the queue of whole cells, `over`, `status` */
    pthread_cond_t changed;
    bool over;
    enum tacit_status status; /* the first that is not TACIT_OK */
    struct tacit_error *error;
    double last_s;
    double now_s; /* while this rank was running */
    double alive_s;
    double master_s; /* when rank 0 was heard */
    uint8_t digest[TACIT_SHA256_BYTES];
    /* rank 0 */
    struct mate *mates;
    struct idle *idle;
    uint32_t idle_count;
    struct hand_out *hand_out;
    struct heap *heaps;
    uint32_t *whole; /* cells whose shares are all here, in the order in which that was so */
    uint32_t whole_count;
    uint32_t told_count; /* cells that have their text */
    bool has_looked;
    pthread_t teller;
    struct tacit_sim_control teller_control;
};

/* ---- What all ranks have --------------------------------------------------------------------- */

/* The first trouble ends it. */
static void fail(struct crew *crew, enum tacit_status status, const char *text)
{
    (void)pthread_mutex_lock(&crew->mutex);
    if (crew->status == TACIT_OK) {
        crew->status = status;
        (void)snprintf(crew->error->text, sizeof crew->error->text, "%s",
                       text == NULL ? tacit_status_text(status) : text);
    }
    (void)pthread_mutex_unlock(&crew->mutex);
}

static void tick(struct crew *crew)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    double const at = (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
    double const passed = crew->last_s > 0 ? at - crew->last_s : 0;
    crew->now_s += passed < PASS_S ? passed : PASS_S;
    crew->last_s = at;
}

static void digest_call(struct crew *crew)
{
    struct tacit_sha256 sha = tacit_sha256_init();
    kept_digest_file(&sha, "/proc/self/exe");
    for (uint32_t i = 0; i < crew->spread->count; i++) {
        struct cell const *const cell = &crew->spread->cells[i];
        if (i == 0 || strcmp(cell->file, cell[-1].file) != 0)
            kept_digest_file(&sha, cell->file);
        tacit_sha256_update(&sha, cell->file, strlen(cell->file) + 1);
        for (uint32_t j = 0; j < cell->setting_count; j++)
            tacit_sha256_update(&sha, cell->settings[j], strlen(cell->settings[j]) + 1);
    }
    tacit_sha256_final(&sha, crew->digest);
}

static void send_word(struct crew *crew, uint32_t to, enum kind kind)
{
    struct message message = {.kind = kind};
    memcpy(message.digest, crew->digest, sizeof message.digest);
    (void)gethostname(message.host, sizeof message.host - 1);
    if (!crew->wire->send(to, &message, sizeof message))
        fail(crew, TACIT_MEMORY, NULL);
}

/* ---- Seats ----------------------------------------------------------------------------------- */

static void play(struct seat *seat)
{
    struct cell const *const cell = &seat->crew->spread->cells[seat->unit.cell];
    struct cell own = {.file = cell->file,
                       .settings = cell->settings,
                       .setting_count = cell->setting_count,
                       .grid_count = cell->grid_count};
    seat->status = cell_play(&own, seat->unit.index, seat->unit.count, seat->crew->seat_threads,
                             &seat->control, &seat->share);
    seat->share.json = own.json;
}

static void *sit(void *argument)
{
    struct seat *const seat = argument;
    struct crew *const crew = seat->crew;
    (void)pthread_mutex_lock(&crew->mutex);
    while (!crew->over) {
        if (seat->state != SEAT_BUSY) {
            (void)pthread_cond_wait(&crew->changed, &crew->mutex);
            continue;
        }
        (void)pthread_mutex_unlock(&crew->mutex);
        play(seat);
        (void)pthread_mutex_lock(&crew->mutex);
        seat->state = SEAT_READY;
    }
    (void)pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

static void seat_give(struct crew *crew, uint32_t index, struct hand_out_unit unit)
{
    (void)pthread_mutex_lock(&crew->mutex);
    TACIT_ASSERT(crew->seats[index].state == SEAT_IDLE);
    crew->seats[index].unit = unit;
    crew->seats[index].state = SEAT_BUSY;
    (void)pthread_cond_broadcast(&crew->changed);
    (void)pthread_mutex_unlock(&crew->mutex);
}

/* As many units at a time as there is work for; where that is fewer than threads, each has several.
 */
static bool seats_open(struct crew *crew)
{
    uint32_t const asked = ranks_threads(crew->spread->threads);
    uint32_t const threads = asked < SEATS_MAX ? asked : SEATS_MAX;
    uint32_t const part = (crew->spread->count + crew->rank_count - 1) / crew->rank_count;
    uint32_t const wanted = part < threads ? part : threads;
    uint32_t const seats = wanted < 1 ? 1 : wanted;
    crew->seat_threads = (threads + seats - 1) / seats;
    crew->seats = calloc(seats, sizeof *crew->seats);
    for (uint32_t i = 0; crew->seats != NULL && i < seats; i++) {
        crew->seats[i].crew = crew;
        if (pthread_create(&crew->seats[i].thread, NULL, sit, &crew->seats[i]) != 0)
            break;
        crew->seat_count++;
    }
    return crew->seat_count > 0;
}

static void seats_close(struct crew *crew)
{
    (void)pthread_mutex_lock(&crew->mutex);
    crew->over = true;
    (void)pthread_cond_broadcast(&crew->changed);
    (void)pthread_mutex_unlock(&crew->mutex);
    for (uint32_t i = 0; i < crew->seat_count; i++)
        atomic_store(&crew->seats[i].control.stop, true);
    for (uint32_t i = 0; i < crew->seat_count; i++) {
        (void)pthread_join(crew->seats[i].thread, NULL);
        cell_share_free(&crew->seats[i].share);
    }
    free(crew->seats);
}

/* A seat that has played something, which is then idle; NULL: there is none. */
static struct seat *seat_ready(struct crew *crew, uint32_t *index)
{
    struct seat *ready = NULL;
    (void)pthread_mutex_lock(&crew->mutex);
    for (*index = 0; *index < crew->seat_count; (*index)++)
        if (crew->seats[*index].state == SEAT_READY) {
            ready = &crew->seats[*index];
            ready->state = SEAT_IDLE;
            break;
        }
    (void)pthread_mutex_unlock(&crew->mutex);
    if (ready != NULL && ready->status == TACIT_MEMORY)
        fail(crew, TACIT_MEMORY, NULL);
    return ready;
}

/* ---- Rank 0: its teller ---------------------------------------------------------------------- */

static void join(struct crew *crew, uint32_t index)
{
    struct cell *const cell = &crew->spread->cells[index];
    struct heap *const heap = &crew->heaps[index];
    char text[160];
    uint32_t other;
    enum tacit_status const status = cell_join(cell, crew->spread->kept, heap->shares, heap->count,
                                               crew->seat_threads, &crew->teller_control, &other);
    uint32_t const rank = other < heap->count ? heap->ranks[other] : 0;
    if (other < heap->count && cell->json == NULL) {
        (void)snprintf(text, sizeof text,
                       "rank %u on %s has other data than rank 0; allowed: the same on all", rank,
                       crew->mates[rank].host);
        fail(crew, TACIT_INVALID, text);
    } else if (status != TACIT_OK) {
        fail(crew, status, NULL);
    }
    for (uint32_t i = 0; i < heap->count; i++)
        cell_share_free(&heap->shares[i]);
}

static bool has_files(const char *folder)
{
    DIR *const open = folder == NULL ? NULL : opendir(folder);
    bool found = false;
    for (struct dirent *entry; open != NULL && !found && (entry = readdir(open)) != NULL;)
        found = entry->d_name[0] != '.';
    if (open != NULL)
        (void)closedir(open);
    return found;
}

static void look(struct crew *crew)
{
    for (uint32_t i = 0; i < crew->spread->count && has_files(crew->spread->kept); i++) {
        if (atomic_load(&crew->teller_control.stop))
            break;
        enum tacit_status const status = cell_look(&crew->spread->cells[i], crew->spread->kept);
        if (status != TACIT_OK)
            fail(crew, status, NULL);
    }
}

static void *tell(void *argument)
{
    struct crew *const crew = argument;
    look(crew);
    (void)pthread_mutex_lock(&crew->mutex);
    crew->has_looked = true;
    for (uint32_t next = 0; !crew->over;) {
        if (next == crew->whole_count) {
            (void)pthread_cond_wait(&crew->changed, &crew->mutex);
            continue;
        }
        (void)pthread_mutex_unlock(&crew->mutex);
        join(crew, crew->whole[next]);
        (void)pthread_mutex_lock(&crew->mutex);
        next++;
        crew->told_count++;
    }
    (void)pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

/* ---- Rank 0: what it hands out and takes ----------------------------------------------------- */

/* What is kept is known: the others can begin. */
static void begin(struct crew *crew)
{
    struct spread const *const spread = crew->spread;
    crew->hand_out = hand_out_new(spread->count, crew->seat_count * crew->rank_count);
    if (crew->hand_out == NULL) {
        fail(crew, TACIT_MEMORY, NULL);
        return;
    }
    for (uint32_t i = 0; i < spread->count; i++)
        if (spread->cells[i].json != NULL) {
            hand_out_leave(crew->hand_out, i);
            crew->told_count++;
        }
}

/* Takes a played share, or frees it. Errors: false: no memory. */
static bool take(struct crew *crew, uint32_t from, struct hand_out_unit unit,
                 struct cell_share *share)
{
    struct heap *const heap = &crew->heaps[unit.cell];
    if (!hand_out_done(crew->hand_out, unit)) {
        cell_share_free(share);
        return true;
    }
    if (heap->shares == NULL) {
        heap->shares = calloc(unit.count, sizeof *heap->shares);
        heap->ranks = calloc(unit.count, sizeof *heap->ranks);
        heap->count = unit.count;
    }
    if (heap->shares == NULL || heap->ranks == NULL)
        return false;
    heap->shares[unit.index] = *share;
    heap->ranks[unit.index] = from;
    *share = (struct cell_share){.is_loaded = false};
    if (!hand_out_whole(crew->hand_out, unit.cell))
        return true;
    (void)pthread_mutex_lock(&crew->mutex);
    crew->whole[crew->whole_count++] = unit.cell;
    (void)pthread_cond_broadcast(&crew->changed);
    (void)pthread_mutex_unlock(&crew->mutex);
    return true;
}

static void give(struct crew *crew)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < crew->idle_count; i++) {
        struct idle const idle = crew->idle[i];
        struct message message = {.kind = PLAY, .seat = idle.seat};
        bool const is_there = !crew->mates[idle.rank].is_lost;
        if (!is_there || !hand_out_next(crew->hand_out, idle.rank, &message.unit))
            crew->idle[left++] = idle;
        else if (idle.rank == 0)
            seat_give(crew, idle.seat, message.unit);
        else if (!crew->wire->send(idle.rank, &message, sizeof message))
            fail(crew, TACIT_MEMORY, NULL);
    }
    crew->idle_count = left;
}

static void ask(struct crew *crew, uint32_t rank, uint32_t seat)
{
    struct idle *const more =
        realloc(crew->idle, (crew->idle_count + (size_t)1) * sizeof *crew->idle);
    if (more == NULL) {
        fail(crew, TACIT_MEMORY, NULL);
        return;
    }
    crew->idle = more;
    crew->idle[crew->idle_count++] = (struct idle){rank, seat};
}

static void welcome(struct crew *crew, uint32_t from, const struct message *message)
{
    struct mate *const mate = &crew->mates[from];
    char text[200];
    memcpy(mate->host, message->host, sizeof mate->host);
    mate->host[sizeof mate->host - 1] = '\0';
    mate->is_welcome = memcmp(message->digest, crew->digest, sizeof crew->digest) == 0;
    if (mate->is_welcome)
        return;
    (void)snprintf(text, sizeof text,
                   "rank %u on %s has another program, other files or other settings than rank 0; "
                   "allowed: the same on all",
                   from, mate->host);
    fail(crew, TACIT_INVALID, text);
}

static void take_message(struct crew *crew, uint32_t from, const struct message *message)
{
    struct cell_share share = message->share;
    const unsigned char *const bytes = (const unsigned char *)(message + 1);
    share.part.rows = share.part.size == 0 ? NULL : malloc(share.part.size);
    share.json = message->text_bytes == 0
                     ? NULL
                     : strndup((const char *)bytes + share.part.size, message->text_bytes);
    if ((share.part.rows == NULL) != (share.part.size == 0) ||
        (share.json == NULL) != (message->text_bytes == 0)) {
        fail(crew, TACIT_MEMORY, NULL);
        return;
    }
    if (share.part.rows != NULL)
        memcpy(share.part.rows, bytes, share.part.size);
    if (!hand_out_knows(crew->hand_out, message->unit) || !take(crew, from, message->unit, &share))
        fail(crew, TACIT_MEMORY, NULL);
    cell_share_free(&share);
}

static void hear(struct crew *crew, uint32_t from, const struct message *message)
{
    struct mate *const mate = &crew->mates[from];
    mate->heard_s = crew->now_s;
    mate->is_lost = false;
    if (message->kind == HELLO)
        welcome(crew, from, message);
    if (message->kind == BYE)
        mate->has_left = true;
    if (!mate->is_welcome)
        return;
    if (message->kind == PLAYED && message->status == TACIT_OK)
        take_message(crew, from, message);
    else if (message->kind == PLAYED && message->status == TACIT_MEMORY)
        fail(crew, TACIT_MEMORY, NULL);
    if (message->kind == PLAYED || message->kind == ASK)
        ask(crew, from, message->seat);
}

static void watch(struct crew *crew)
{
    for (uint32_t i = 1; i < crew->rank_count; i++) {
        struct mate *const mate = &crew->mates[i];
        if (mate->is_lost || mate->has_left || crew->now_s - mate->heard_s < SILENT_S)
            continue;
        mate->is_lost = true;
        uint32_t const lost = crew->hand_out == NULL ? 0 : hand_out_lose(crew->hand_out, i);
        (void)fprintf(stderr,
                      "tacit compare: rank %u%s%s has said nothing for %.0f seconds; what it was "
                      "playing (%u) goes to others\n",
                      i, *mate->host == '\0' ? "" : " on ", mate->host, SILENT_S, lost);
    }
}

static void say_alive(struct crew *crew)
{
    if (crew->now_s - crew->alive_s < ALIVE_S)
        return;
    crew->alive_s = crew->now_s;
    if (crew->rank != 0)
        send_word(crew, 0, ALIVE);
    for (uint32_t i = 1; crew->rank == 0 && i < crew->rank_count; i++)
        if (!crew->mates[i].has_left && crew->now_s - crew->mates[i].heard_s < QUIET_S)
            send_word(crew, i, ALIVE);
}

/* ---- A rank beside rank 0 -------------------------------------------------------------------- */

static void send_played(struct crew *crew, uint32_t index, struct seat *seat)
{
    size_t const rows = seat->share.part.size;
    size_t const text = seat->share.json == NULL ? 0 : strlen(seat->share.json);
    struct message *const message = calloc(1, sizeof *message + rows + text);
    bool is_sent = message != NULL;
    if (is_sent) {
        unsigned char *const bytes = (unsigned char *)(message + 1);
        *message = (struct message){.kind = PLAYED,
                                    .seat = index,
                                    .unit = seat->unit,
                                    .share = seat->share,
                                    .text_bytes = text,
                                    .status = seat->status};
        if (rows > 0)
            memcpy(bytes, seat->share.part.rows, rows);
        if (text > 0)
            memcpy(bytes + rows, seat->share.json, text);
        is_sent = crew->wire->send(0, message, sizeof *message + rows + text);
    }
    if (!is_sent)
        fail(crew, TACIT_MEMORY, NULL);
    cell_share_free(&seat->share);
    free(message);
}

/* False: rank 0 has ended it. */
static bool obey(struct crew *crew, const struct message *message)
{
    crew->master_s = crew->now_s;
    if (message->kind == PLAY && message->seat < crew->seat_count)
        seat_give(crew, message->seat, message->unit);
    return message->kind != END;
}

static void pause_if(bool is_quiet)
{
    struct timespec const moment = {.tv_nsec = 1000000};
    if (is_quiet)
        (void)nanosleep(&moment, NULL);
}

static void serve(struct crew *crew)
{
    bool goes_on = true;
    struct seat *seat;
    uint32_t index;
    uint32_t from;
    send_word(crew, 0, HELLO);
    for (uint32_t i = 0; i < crew->seat_count; i++) {
        struct message const message = {.kind = ASK, .seat = i};
        if (!crew->wire->send(0, &message, sizeof message))
            fail(crew, TACIT_MEMORY, NULL);
    }
    while (goes_on && crew->status == TACIT_OK) {
        struct message *const message = crew->wire->receive(&from);
        tick(crew);
        bool is_told = false;
        if (message != NULL) {
            goes_on = obey(crew, message);
            is_told = true;
            free(message);
        }
        seat = seat_ready(crew, &index);
        if (seat != NULL)
            send_played(crew, index, seat);
        say_alive(crew);
        if (crew->now_s - crew->master_s > MASTER_SILENT_S)
            fail(crew, TACIT_IO, "rank 0 has said nothing for 30 seconds; this rank gives up");
        if (goes_on && atomic_load(&crew->spread->control->stop))
            fail(crew, TACIT_INTERRUPTED, NULL);
        pause_if(!is_told && seat == NULL);
    }
    seats_close(crew);
    send_word(crew, 0, BYE);
    crew->wire->end(crew->status == TACIT_OK && !ranks_outlive());
}

/* ---- Rank 0: the loop ------------------------------------------------------------------------ */

/* What came; true: something did. */
static bool collect(struct crew *crew)
{
    uint32_t from = 0;
    uint32_t index;
    struct message *const message = crew->wire->receive(&from);
    struct seat *const seat = seat_ready(crew, &index);
    bool const is_there = message != NULL || seat != NULL;
    if (message != NULL && from < crew->rank_count)
        hear(crew, from, message);
    free(message);
    if (seat != NULL) {
        if (seat->status == TACIT_OK && !take(crew, 0, seat->unit, &seat->share))
            fail(crew, TACIT_MEMORY, NULL);
        ask(crew, 0, index);
    }
    return is_there;
}

static void show(const struct crew *crew, uint32_t told)
{
    if (!crew->spread->quiet && isatty(STDERR_FILENO))
        (void)fprintf(stderr, "\r\033[K%u of %u settings", told, crew->spread->count);
}

static void lead(struct crew *crew)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < crew->seat_count; i++)
        ask(crew, 0, i);
    for (;;) {
        bool const is_quiet = !collect(crew);
        tick(crew);
        (void)pthread_mutex_lock(&crew->mutex);
        bool const has_looked = crew->has_looked;
        uint32_t const told = crew->told_count;
        enum tacit_status const status = crew->status;
        (void)pthread_mutex_unlock(&crew->mutex);
        if (has_looked && crew->hand_out == NULL)
            begin(crew);
        if (crew->hand_out != NULL)
            give(crew);
        watch(crew);
        say_alive(crew);
        if (told != shown)
            show(crew, told);
        shown = told;
        if (atomic_load(&crew->spread->control->stop))
            fail(crew, TACIT_INTERRUPTED, "");
        else if (status == TACIT_OK && (!has_looked || told < crew->spread->count))
            pause_if(is_quiet);
        if (status != TACIT_OK ||
            (has_looked && crew->hand_out != NULL && told == crew->spread->count))
            break;
    }
}

/* The others are told, and have time to go. */
static void dismiss(struct crew *crew)
{
    uint32_t away = 0;
    for (uint32_t i = 1; i < crew->rank_count; i++)
        if (!crew->mates[i].is_lost || !ranks_outlive())
            send_word(crew, i, END);
    atomic_store(&crew->teller_control.stop, true);
    seats_close(crew);
    crew->seat_count = 0;
    (void)pthread_join(crew->teller, NULL);
    bool const is_stopped = atomic_load(&crew->spread->control->stop);
    while (away + 1 < crew->rank_count && !is_stopped) {
        bool const is_quiet = !collect(crew);
        tick(crew);
        watch(crew);
        away = 0;
        for (uint32_t i = 1; i < crew->rank_count; i++)
            away += crew->mates[i].has_left || crew->mates[i].is_lost ? 1 : 0;
        pause_if(is_quiet);
    }
    bool is_lost = false;
    for (uint32_t i = 1; i < crew->rank_count; i++)
        is_lost = is_lost || crew->mates[i].is_lost;
    crew->wire->end(!is_stopped && !is_lost && !ranks_outlive());
}

static bool master_open(struct crew *crew)
{
    size_t const count = crew->spread->count + (size_t)1;
    crew->mates = calloc(crew->rank_count, sizeof *crew->mates);
    crew->heaps = calloc(count, sizeof *crew->heaps);
    crew->whole = calloc(count, sizeof *crew->whole);
    if (crew->mates == NULL || crew->heaps == NULL || crew->whole == NULL)
        return false;
    crew->mates[0].is_welcome = true;
    return pthread_create(&crew->teller, NULL, tell, crew) == 0;
}

static void master_close(struct crew *crew)
{
    for (uint32_t i = 0; crew->heaps != NULL && i < crew->spread->count; i++) {
        struct heap *const heap = &crew->heaps[i];
        for (uint32_t j = 0; heap->shares != NULL && j < heap->count; j++)
            cell_share_free(&heap->shares[j]);
        free(heap->shares);
        free(heap->ranks);
    }
    hand_out_free(crew->hand_out);
    free(crew->mates);
    free(crew->heaps);
    free(crew->whole);
    free(crew->idle);
}

enum tacit_status spread_run(const struct spread *spread, const struct ranks_wire *wire,
                             struct tacit_error *error)
{
    struct crew crew = {.spread = spread,
                        .wire = wire,
                        .rank = ranks_index(),
                        .rank_count = ranks_count(),
                        .error = error,
                        .mutex = PTHREAD_MUTEX_INITIALIZER,
                        .changed = PTHREAD_COND_INITIALIZER};
    digest_call(&crew);
    if (!seats_open(&crew) || (crew.rank == 0 && !master_open(&crew))) {
        (void)snprintf(error->text, sizeof error->text, "%s", tacit_status_text(TACIT_MEMORY));
        return TACIT_MEMORY;
    }
    if (crew.rank != 0) {
        serve(&crew);
        return crew.status;
    }
    lead(&crew);
    dismiss(&crew);
    master_close(&crew);
    return crew.status;
}
