/* Points are played by threads, each its next; where there are fewer of them than threads, each has
 * several. In the folder cells/ lies what is finished, and, while a comparison is played in shares,
 * a file that says in how many. */
#include "compare.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS_MAX 1024u
#define SHARES_SHOWN 12u

/* A comparison while it is played. */
struct crew {
    struct comparison *comparison;
    struct grid_cache cache;
    char folder[RUN_CACHE_PATH_BYTES];
    char marker[RUN_CACHE_PATH_BYTES + 8]; /* file with the number of shares */
    uint32_t shares;                       /* that it is played in; 0: it is not */
    uint32_t pieces;                       /* of each point, then */
    uint32_t unit_pieces;                  /* pieces of a point that are units: of a share's call */
    uint32_t unit_count;                   /* of all shares */
    uint32_t own_count;
    bool *missing; /* of the pieces of all points; NULL: nothing is gathered */
    uint32_t point_threads;
    atomic_uint next;
    atomic_uint done;
    pthread_mutex_t mutex;
    enum tacit_status status; /* the first that is not TACIT_OK */
    struct tacit_error *error;
};

/* ---- The folder ------------------------------------------------------------------------------ */

/* A place that takes no files is found before the runs. */
static enum tacit_status make_folders(struct crew *crew)
{
    char const *const out = crew->comparison->out;
    if (out == NULL)
        return TACIT_OK;
    (void)snprintf(crew->folder, sizeof crew->folder, "%s/cells", out);
    (void)snprintf(crew->marker, sizeof crew->marker, "%s/shards", crew->folder);
    crew->cache.folder = crew->folder;
    run_cache_digest_program(crew->cache.program);
    char text[sizeof crew->error->text];
    if (tacit_report_make(out, crew->error) == TACIT_OK &&
        tacit_report_make(crew->folder, crew->error) == TACIT_OK)
        return TACIT_OK;
    (void)snprintf(text, sizeof text, "--out: %.1000s", crew->error->text);
    memcpy(crew->error->text, text, sizeof text);
    return TACIT_IO;
}

/* Whoever puts shares together has to know how they were cut. */
static enum tacit_status mark_shares(struct crew *crew)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%u\n", crew->comparison->shard.count);
    if (run_cache_replace(crew->marker, text))
        return TACIT_OK;
    (void)snprintf(crew->error->text, sizeof crew->error->text, "--out: %.300s: %s", crew->marker,
                   strerror(errno));
    return TACIT_IO;
}

/* 0: it is not played in shares. */
static uint32_t read_marker(const struct crew *crew)
{
    FILE *const in = crew->cache.folder == NULL ? NULL : fopen(crew->marker, "r");
    unsigned shares = 0;
    if (in == NULL)
        return 0;
    if (fscanf(in, "%u", &shares) != 1 || shares > SHARDS_MAX)
        shares = 0;
    (void)fclose(in);
    return shares;
}

/* ---- Playing --------------------------------------------------------------------------------- */

static bool is_own(const struct crew *crew, uint32_t unit)
{
    struct shard const *const shard = &crew->comparison->shard;
    return shard->count == 0 || shard_of(unit / crew->pieces, unit % crew->pieces, crew->pieces,
                                         shard->count) == shard->index;
}

static enum tacit_status play_unit(struct crew *crew, uint32_t unit, struct tacit_error *error)
{
    struct comparison *const comparison = crew->comparison;
    struct tacit_sim_control *const control = comparison->control;
    struct grid_point *const point = &comparison->points[unit / crew->unit_pieces];
    if (comparison->shard.count > 0) { /* its own: others may play other pieces of it now */
        struct grid_point own = {.file = point->file,
                                 .is_at_once = point->is_at_once,
                                 .settings = point->settings,
                                 .setting_count = point->setting_count,
                                 .grid_count = point->grid_count};
        enum tacit_status const status =
            grid_point_share(&own, &crew->cache, unit % crew->pieces, crew->pieces,
                             crew->point_threads, control, error);
        free(own.json);
        return status;
    }
    return crew->missing == NULL
               ? grid_point_run(point, &crew->cache, crew->point_threads, control, error)
               : grid_point_gather(point, &crew->cache, crew->pieces,
                                   crew->missing + (size_t)unit * crew->pieces, control, error);
}

static bool goes_on(struct crew *crew)
{
    (void)pthread_mutex_lock(&crew->mutex);
    bool const is_good = crew->status == TACIT_OK;
    (void)pthread_mutex_unlock(&crew->mutex);
    return is_good && !atomic_load(&crew->comparison->control->stop);
}

static void fail(struct crew *crew, enum tacit_status status, const struct tacit_error *error)
{
    (void)pthread_mutex_lock(&crew->mutex);
    if (crew->status == TACIT_OK) {
        crew->status = status;
        *crew->error = *error;
    }
    (void)pthread_mutex_unlock(&crew->mutex);
}

static void *work(void *argument)
{
    struct crew *const crew = argument;
    for (uint32_t i; (i = atomic_fetch_add(&crew->next, 1)) < crew->unit_count && goes_on(crew);) {
        struct tacit_error error = {""};
        if (!is_own(crew, i))
            continue;
        enum tacit_status const status = play_unit(crew, i, &error);
        if (status != TACIT_OK) {
            fail(crew, status, &error);
            break;
        }
        uint32_t const done = atomic_fetch_add(&crew->done, 1) + 1;
        if (crew->comparison->is_shown)
            (void)fprintf(stderr, "\r\033[K%u of %u %s", done, crew->own_count,
                          crew->comparison->shard.count > 0 ? "parts" : "settings");
    }
    return NULL;
}

/* Units side by side. */
static enum tacit_status play_all(struct crew *crew)
{
    struct comparison const *const comparison = crew->comparison;
    uint32_t const threads = simulate_threads(comparison->thread_count);
    pthread_t others[THREADS_MAX];
    uint32_t started = 0;
    crew->unit_pieces = comparison->shard.count > 0 ? crew->pieces : 1;
    crew->unit_count = comparison->count * crew->unit_pieces;
    for (uint32_t i = 0; i < crew->unit_count; i++)
        crew->own_count += is_own(crew, i) ? 1 : 0;
    if (crew->own_count == 0)
        return TACIT_OK;
    uint32_t const wanted = threads < crew->own_count ? threads : crew->own_count;
    uint32_t const workers = wanted < THREADS_MAX ? wanted : THREADS_MAX;
    crew->point_threads = (threads + workers - 1) / workers;
    while (started + 1 < workers && pthread_create(&others[started], NULL, work, crew) == 0)
        started++;
    (void)work(crew);
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(others[i], NULL);
    if (comparison->is_shown)
        (void)fprintf(stderr, "\r\033[K");
    return crew->status;
}

/* Which shares miss how much. */
static void find_missing(const struct crew *crew, struct compared *compared)
{
    struct comparison const *const comparison = crew->comparison;
    char const *first = NULL;
    size_t at = 0;
    uint32_t shown = 0;
    bool *const shares = calloc(crew->shares, sizeof *shares);
    for (uint32_t i = 0; i < comparison->count && shares != NULL; i++) {
        if (comparison->points[i].json != NULL)
            continue;
        compared->missing++;
        first = first == NULL ? comparison->points[i].label : first;
        for (uint32_t j = 0; j < crew->pieces; j++)
            if (crew->missing[(size_t)i * crew->pieces + j])
                shares[shard_of(i, j, crew->pieces, crew->shares)] = true;
    }
    for (uint32_t i = 0; shares != NULL && i < crew->shares && shown <= SHARES_SHOWN; i++)
        if (shares[i])
            at += (size_t)snprintf(compared->text + at, sizeof compared->text - at,
                                   shown++ < SHARES_SHOWN ? "%s%u" : "%s...", at > 0 ? ", " : "",
                                   i + 1);
    if (first != NULL)
        (void)snprintf(compared->text + at, sizeof compared->text - at,
                       " of %u (%u of %u settings; the first: %.200s)", crew->shares,
                       compared->missing, comparison->count, first);
    free(shares);
}

/* The points that were run move to the front. */
static void move_run(struct comparison *comparison, struct compared *compared)
{
    for (uint32_t i = 0; i < comparison->count; i++) {
        struct grid_point const point = comparison->points[i];
        if (point.json == NULL)
            continue;
        comparison->points[i] = comparison->points[compared->run];
        comparison->points[compared->run++] = point;
    }
}

static enum tacit_status run(struct crew *crew, struct compared *compared)
{
    struct comparison *const comparison = crew->comparison;
    enum tacit_status status = make_folders(crew);
    if (status == TACIT_OK)
        status = comparison->shard.count > 0 ? mark_shares(crew) : TACIT_OK;
    if (status != TACIT_OK)
        return status;
    crew->shares = comparison->shard.count > 0 ? comparison->shard.count : read_marker(crew);
    crew->pieces = crew->shares == 0 ? 1 : shard_pieces(comparison->count, crew->shares);
    bool const gathers = crew->shares > 0 && comparison->shard.count == 0 && !comparison->finishes;
    if (gathers)
        crew->missing = calloc((size_t)comparison->count * crew->pieces, sizeof *crew->missing);
    if (gathers && crew->missing == NULL)
        return TACIT_MEMORY;
    status = play_all(crew);
    if (status == TACIT_OK && gathers)
        find_missing(crew, compared);
    move_run(comparison, compared);
    if (status == TACIT_OK && crew->shares > 0 && compared->run == comparison->count)
        (void)unlink(crew->marker);
    return atomic_load(&comparison->control->stop) ? TACIT_INTERRUPTED : status;
}

enum tacit_status comparison_run(struct comparison *comparison, struct compared *compared,
                                 struct tacit_error *error)
{
    struct crew crew = {
        .comparison = comparison, .mutex = PTHREAD_MUTEX_INITIALIZER, .error = error};
    TACIT_ASSERT(comparison->count > 0);
    TACIT_IMPLIES(comparison->shard.count > 0, comparison->out != NULL);
    *compared = (struct compared){.run = 0};
    enum tacit_status const status = run(&crew, compared);
    free(crew.missing);
    return status;
}

/* ---- The results ----------------------------------------------------------------------------- */

static char *all_json(const struct comparison *comparison, uint32_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    (void)fputs("{\"results\": [", out);
    for (uint32_t i = 0; i < count; i++)
        (void)fprintf(out, "%s\n%s", i == 0 ? "" : ",", comparison->points[i].json);
    (void)fputs("]}\n", out);
    return fclose(out) == 0 ? text : NULL;
}

/* Every metric that some point has, in the order in which they are met, in the words of the first
 * family that has it. Errors: NULL: no memory. */
static const struct tacit_metric **metrics_of(const struct comparison *comparison, uint32_t points,
                                              uint32_t *count)
{
    json_t *const seen = json_object();
    size_t room = 1;
    for (uint32_t i = 0; i < points; i++)
        room += json_object_size(json_object_get(comparison->points[i].root, "metrics"));
    const struct tacit_metric **const metrics = calloc(room, sizeof *metrics);
    *count = 0;
    for (uint32_t i = 0; metrics != NULL && i < points; i++) {
        struct tacit_family const *const family = comparison->points[i].family;
        const char *name;
        json_t *value;
        json_object_foreach(json_object_get(comparison->points[i].root, "metrics"), name, value)
        {
            uint32_t const at = tacit_family_metric(family, name);
            if (json_object_get(seen, name) != NULL || at == UINT32_MAX)
                continue;
            metrics[(*count)++] = &family->metrics[at];
            (void)json_object_set(seen, name, value);
        }
    }
    json_decref(seen);
    return metrics;
}

/* What is to be known of the data of all points: once where it is the same. NULL: no memory. */
static char *remarks_of(const struct tacit_report_cell *cells, const struct grid_point *sources,
                        uint32_t count, bool are_files)
{
    char const *last = "";
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    for (uint32_t i = 0; out != NULL && i < count; i++) {
        if (cells[i].remark == NULL || strcmp(cells[i].remark, last) == 0)
            continue;
        last = cells[i].remark;
        (void)fprintf(out, "%s%s%s%s", ftell(out) > 0 ? " " : "", are_files ? sources[i].file : "",
                      are_files ? ": " : "", last);
    }
    if (out != NULL && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* What the experiment calls itself; its file where none of it could run. */
static const char *name_of(const struct comparison *comparison, uint32_t count)
{
    const char *name = NULL;
    for (uint32_t i = 0; i < count && name == NULL; i++)
        name = json_string_value(json_object_get(comparison->points[i].root, "name"));
    return name == NULL ? comparison->file : name;
}

static enum tacit_status print_all(const struct tacit_report_comparison *report, bool json,
                                   const char *folder, FILE *out, struct tacit_error *error)
{
    enum tacit_status status = TACIT_OK;
    errno = 0;
    if (json)
        (void)fputs(report->json, out);
    else
        status = tacit_report_comparison_table(report, out);
    if (status == TACIT_OK && (fflush(out) != 0 || ferror(out)))
        status = TACIT_IO;
    if (status != TACIT_OK) {
        (void)snprintf(error->text, sizeof error->text, "the results could not be printed: %s",
                       errno == 0 ? tacit_status_text(status) : strerror(errno));
        return status;
    }
    if (folder != NULL)
        status = tacit_report_comparison_write(report, folder, error);
    if (folder != NULL && status == TACIT_OK && !json)
        (void)fprintf(out, "\nReport: %s/report.html\n", folder);
    return status;
}

enum tacit_status comparison_write(struct comparison *comparison, const struct compared *compared,
                                   bool json, FILE *out, struct tacit_error *error)
{
    enum tacit_status status = TACIT_OK;
    uint32_t const count = compared->run;
    uint32_t metric_count = 0;
    for (uint32_t i = 0; i < count && status == TACIT_OK; i++)
        status = grid_point_read(&comparison->points[i]);
    const struct tacit_metric **const metrics =
        status == TACIT_OK ? metrics_of(comparison, count, &metric_count) : NULL;
    struct tacit_report_cell *const cells = calloc(count + (size_t)1, sizeof *cells);
    char *const text = all_json(comparison, count);
    if (metrics == NULL || cells == NULL || text == NULL)
        status = TACIT_MEMORY;
    for (uint32_t i = 0; i < count && status == TACIT_OK; i++) {
        status = grid_point_values(&comparison->points[i], metrics, metric_count);
        cells[i] = comparison->points[i].report;
    }
    char *const remark = remarks_of(cells, comparison->points, count, comparison->are_files);
    if (remark == NULL)
        status = TACIT_MEMORY;
    struct tacit_report_comparison const report = {
        .name = comparison->are_files ? NULL : name_of(comparison, count),
        .remark = remark == NULL || *remark == '\0' ? NULL : remark,
        .version = TACIT_VERSION,
        .metrics = metrics,
        .metric_count = metric_count,
        .cells = cells,
        .cell_count = count,
        .cells_asked = comparison->count,
        .json = text};
    if (status == TACIT_OK)
        status = print_all(&report, json, comparison->out, out, error);
    free(text);
    free(remark);
    free(cells);
    free(metrics);
    return status;
}
