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
struct pool {
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
static enum tacit_status make_folders(struct pool *pool)
{
    char const *const out = pool->comparison->out;
    if (out == NULL)
        return TACIT_OK;
    (void)snprintf(pool->folder, sizeof pool->folder, "%s/cells", out);
    (void)snprintf(pool->marker, sizeof pool->marker, "%s/shards", pool->folder);
    pool->cache.folder = pool->folder;
    run_cache_digest_program(pool->cache.program);
    char text[sizeof pool->error->text];
    if (tacit_report_make(out, pool->error) == TACIT_OK &&
        tacit_report_make(pool->folder, pool->error) == TACIT_OK)
        return TACIT_OK;
    (void)snprintf(text, sizeof text, "--out: %.1000s", pool->error->text);
    memcpy(pool->error->text, text, sizeof text);
    return TACIT_IO;
}

/* Whoever puts shares together has to know how they were cut. */
static enum tacit_status record_shares(struct pool *pool)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%u\n", pool->comparison->shard.count);
    if (run_cache_replace(pool->marker, text))
        return TACIT_OK;
    (void)snprintf(pool->error->text, sizeof pool->error->text, "--out: %.300s: %s", pool->marker,
                   strerror(errno));
    return TACIT_IO;
}

/* 0: it is not played in shares. */
static uint32_t read_marker(const struct pool *pool)
{
    FILE *const in = pool->cache.folder == NULL ? NULL : fopen(pool->marker, "r");
    unsigned shares = 0;
    if (in == NULL)
        return 0;
    if (fscanf(in, "%u", &shares) != 1 || shares > SHARDS_MAX)
        shares = 0;
    (void)fclose(in);
    return shares;
}

/* ---- Playing --------------------------------------------------------------------------------- */

/* Is this process to play the unit: some runs of one grid point? Without shares it plays all. */
static bool is_own(const struct pool *pool, uint32_t unit)
{
    struct shard const *const shard = &pool->comparison->shard;
    return shard->count == 0 || shard_of(unit / pool->pieces, unit % pool->pieces, pool->pieces,
                                         shard->count) == shard->index;
}

/* Unit: a grid point, or of a share's call a piece of its runs. */
static enum tacit_status play_unit(struct pool *pool, uint32_t unit, struct tacit_error *error)
{
    struct comparison *const comparison = pool->comparison;
    struct tacit_sim_control *const control = comparison->control;
    struct grid_point *const point = &comparison->points[unit / pool->unit_pieces];
    if (comparison->shard.count > 0) { /* its own: others may play other pieces of it now */
        struct grid_point own = {.file = point->file,
                                 .is_at_once = point->is_at_once,
                                 .settings = point->settings,
                                 .setting_count = point->setting_count,
                                 .grid_count = point->grid_count};
        enum tacit_status const status =
            grid_point_share(&own, &pool->cache, unit % pool->pieces, pool->pieces,
                             pool->point_threads, control, error);
        free(own.json);
        return status;
    }
    return pool->missing == NULL
               ? grid_point_run(point, &pool->cache, pool->point_threads, control, error)
               : grid_point_gather(point, &pool->cache, pool->pieces,
                                   pool->missing + (size_t)unit * pool->pieces, control, error);
}

static bool goes_on(struct pool *pool)
{
    (void)pthread_mutex_lock(&pool->mutex);
    bool const is_good = pool->status == TACIT_OK;
    (void)pthread_mutex_unlock(&pool->mutex);
    return is_good && !atomic_load(&pool->comparison->control->stop);
}

static void fail(struct pool *pool, enum tacit_status status, const struct tacit_error *error)
{
    (void)pthread_mutex_lock(&pool->mutex);
    if (pool->status == TACIT_OK) {
        pool->status = status;
        *pool->error = *error;
    }
    (void)pthread_mutex_unlock(&pool->mutex);
}

/* A thread: plays one unit after the other, as long as none fails. The first failure is the pool's.
 */
static void *play_units(void *argument)
{
    struct pool *const pool = argument;
    for (uint32_t i; (i = atomic_fetch_add(&pool->next, 1)) < pool->unit_count && goes_on(pool);) {
        struct tacit_error error = {""};
        if (!is_own(pool, i))
            continue;
        enum tacit_status const status = play_unit(pool, i, &error);
        if (status != TACIT_OK) {
            fail(pool, status, &error);
            break;
        }
        uint32_t const done = atomic_fetch_add(&pool->done, 1) + 1;
        if (pool->comparison->is_shown)
            (void)fprintf(stderr, "\r\033[K%u of %u %s", done, pool->own_count,
                          pool->comparison->shard.count > 0 ? "parts" : "settings");
    }
    return NULL;
}

/* Units side by side. */
static enum tacit_status play_all(struct pool *pool)
{
    struct comparison const *const comparison = pool->comparison;
    uint32_t const threads = simulate_threads(comparison->thread_count);
    pthread_t others[THREADS_MAX];
    uint32_t started = 0;
    pool->unit_pieces = comparison->shard.count > 0 ? pool->pieces : 1;
    pool->unit_count = comparison->count * pool->unit_pieces;
    for (uint32_t i = 0; i < pool->unit_count; i++)
        pool->own_count += is_own(pool, i) ? 1 : 0;
    if (pool->own_count == 0)
        return TACIT_OK;
    uint32_t const wanted = threads < pool->own_count ? threads : pool->own_count;
    uint32_t const workers = wanted < THREADS_MAX ? wanted : THREADS_MAX;
    pool->point_threads = (threads + workers - 1) / workers;
    while (started + 1 < workers && pthread_create(&others[started], NULL, play_units, pool) == 0)
        started++;
    (void)play_units(pool);
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(others[i], NULL);
    if (comparison->is_shown)
        (void)fprintf(stderr, "\r\033[K");
    return pool->status;
}

/* Which shares miss how much. Errors: TACIT_MEMORY. */
static enum tacit_status find_missing(const struct pool *pool, struct compared *compared)
{
    struct comparison const *const comparison = pool->comparison;
    char const *first = NULL;
    size_t at = 0;
    uint32_t shown = 0;
    bool *const shares = calloc(pool->shares, sizeof *shares);
    if (shares == NULL)
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < comparison->count; i++) {
        if (comparison->points[i].json != NULL)
            continue;
        compared->missing++;
        first = first == NULL ? comparison->points[i].label : first;
        for (uint32_t j = 0; j < pool->pieces; j++)
            if (pool->missing[(size_t)i * pool->pieces + j])
                shares[shard_of(i, j, pool->pieces, pool->shares)] = true;
    }
    for (uint32_t i = 0; i < pool->shares && shown <= SHARES_SHOWN; i++)
        if (shares[i])
            at += (size_t)snprintf(compared->text + at, sizeof compared->text - at,
                                   shown++ < SHARES_SHOWN ? "%s%u" : "%s...", at > 0 ? ", " : "",
                                   i + 1);
    if (first != NULL)
        (void)snprintf(compared->text + at, sizeof compared->text - at,
                       " of %u (%u of %u settings; the first: %.200s)", pool->shares,
                       compared->missing, comparison->count, first);
    free(shares);
    return TACIT_OK;
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

/* Plays all points, or those of one share; or gathers what shares have played. */
static enum tacit_status run(struct pool *pool, struct compared *compared)
{
    struct comparison *const comparison = pool->comparison;
    TACIT_TRY(make_folders(pool));
    TACIT_TRY(comparison->shard.count > 0 ? record_shares(pool) : TACIT_OK);
    pool->shares = comparison->shard.count > 0 ? comparison->shard.count : read_marker(pool);
    pool->pieces = pool->shares == 0 ? 1 : shard_pieces(comparison->count, pool->shares);
    bool const gathers = pool->shares > 0 && comparison->shard.count == 0 && !comparison->finishes;
    if (gathers)
        pool->missing = calloc((size_t)comparison->count * pool->pieces, sizeof *pool->missing);
    if (gathers && pool->missing == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = play_all(pool);
    if (status == TACIT_OK && gathers)
        status = find_missing(pool, compared);
    move_run(comparison, compared);
    if (status == TACIT_OK && pool->shares > 0 && compared->run == comparison->count)
        (void)unlink(pool->marker);
    return atomic_load(&comparison->control->stop) ? TACIT_INTERRUPTED : status;
}

enum tacit_status comparison_run(struct comparison *comparison, struct compared *compared,
                                 struct tacit_error *error)
{
    struct pool pool = {
        .comparison = comparison, .mutex = PTHREAD_MUTEX_INITIALIZER, .error = error};
    TACIT_ASSERT(comparison->count > 0);
    TACIT_IMPLIES(comparison->shard.count > 0, comparison->out != NULL);
    *compared = (struct compared){.run = 0};
    enum tacit_status const status = run(&pool, compared);
    free(pool.missing);
    return status;
}

/* ---- The results ----------------------------------------------------------------------------- */

/* To be freed; NULL: no memory. */
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

/* What is to be known of the data of all points: once where it is the same. To be freed; NULL: no
 * memory. */
static char *remarks_of(const struct tacit_report_grid_point *points,
                        const struct grid_point *sources, uint32_t count, bool are_files)
{
    char const *last = "";
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    for (uint32_t i = 0; out != NULL && i < count; i++) {
        if (points[i].remark == NULL || strcmp(points[i].remark, last) == 0)
            continue;
        last = points[i].remark;
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
    struct tacit_report_grid_point *const points = calloc(count + (size_t)1, sizeof *points);
    char *const text = all_json(comparison, count);
    if (metrics == NULL || points == NULL || text == NULL)
        status = TACIT_MEMORY;
    for (uint32_t i = 0; i < count && status == TACIT_OK; i++) {
        status = grid_point_values(&comparison->points[i], metrics, metric_count);
        points[i] = comparison->points[i].report;
    }
    char *const remark = remarks_of(points, comparison->points, count, comparison->are_files);
    if (remark == NULL)
        status = TACIT_MEMORY;
    struct tacit_report_comparison const report = {
        .name = comparison->are_files ? NULL : name_of(comparison, count),
        .remark = remark == NULL || *remark == '\0' ? NULL : remark,
        .version = TACIT_VERSION,
        .metrics = metrics,
        .metric_count = metric_count,
        .points = points,
        .point_count = count,
        .points_asked = comparison->count,
        .json = text};
    if (status == TACIT_OK)
        status = print_all(&report, json, comparison->out, out, error);
    free(text);
    free(remark);
    free(points);
    free(metrics);
    return status;
}
