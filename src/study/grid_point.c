/* A grid point is loaded, run and told as `tacit run --json` would tell it. */
#include "grid_point.h"
#include "describe.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- What it was run with -------------------------------------------------------------------- */

/* "FOLDER/" and 32 hexadecimal digits of everything that the result depends on, which is the folder
 * of its shares. */
static void folder_of(const struct grid_cache *cache, const uint8_t digest[TACIT_SHA256_BYTES],
                      char path[RUN_CACHE_PATH_BYTES])
{
    int at = snprintf(path, RUN_CACHE_PATH_BYTES, "%s/", cache->folder);
    for (uint32_t i = 0; i < 16 && at >= 0 && (size_t)at < RUN_CACHE_PATH_BYTES; i++)
        at += snprintf(path + at, RUN_CACHE_PATH_BYTES - (size_t)at, "%02x", digest[i]);
    if (at < 0)
        *path = '\0';
}

/* What an open point has beside itself. */
struct open_point {
    struct grid_point *point;
    struct tacit_experiment experiment;
    char folder[RUN_CACHE_PATH_BYTES];   /* of its shares; "": there is no cache */
    char file[RUN_CACHE_PATH_BYTES + 8]; /* of its text */
    struct run_cache cache;
    uint32_t thread_count;
    struct tacit_sim_control *control;
    struct tacit_error *error;
};

/* NULL: there is nothing whole of that name. */
static char *read_cached(const char *path)
{
    size_t room = 0;
    char *text = NULL;
    FILE *const in = fopen(path, "rb");
    bool const is_read = in != NULL && getdelim(&text, &room, '\0', in) > 0 && feof(in) != 0;
    json_t *const root = is_read ? json_loads(text, JSON_DECODE_INT_AS_REAL, NULL) : NULL;
    if (in != NULL)
        (void)fclose(in);
    if (root == NULL) {
        free(text);
        text = NULL;
    }
    json_decref(root);
    return text;
}

/* ---- What came of it ------------------------------------------------------------------------- */

/* Numbers, true and false as they are; everything else is a text. */
static json_t *value_json(const char *text)
{
    json_t *const value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (json_is_number(value) || json_is_boolean(value))
        return value;
    json_decref(value);
    return json_string(text);
}

static json_t *settings_json(const struct grid_point *point)
{
    json_t *const settings = json_object();
    for (uint32_t i = point->setting_count - point->grid_count; i < point->setting_count; i++) {
        char const *const is = strchr(point->settings[i], '=');
        char key[256];
        (void)snprintf(key, sizeof key, "%.*s", (int)(is - point->settings[i]), point->settings[i]);
        (void)json_object_set_new(settings, key, value_json(is + 1));
    }
    return settings;
}

/* {"settings": {…}, "file": "…" without the bracket that closes it. To be freed; NULL: no memory.
 */
static char *head_json(const struct grid_point *point)
{
    json_t *const head =
        json_pack("{s: o, s: s}", "settings", settings_json(point), "file", point->file);
    char *const text = head == NULL ? NULL : json_dumps(head, JSON_REAL_PRECISION(17));
    json_decref(head);
    if (text != NULL)
        text[strlen(text) - 1] = '\0';
    return text;
}

/* The head, and the members of `body`, an object with or without white space around it, become the
 * point's text. */
static enum tacit_status set_json(struct grid_point *point, const char *body)
{
    char *const head = head_json(point);
    char const *const members = strchr(body, '{') + 1;
    int const length = head == NULL ? -1
                                    : asprintf(&point->json, "%s, %.*s", head,
                                               (int)(strrchr(body, '}') + 1 - members), members);
    free(head);
    if (length >= 0)
        return TACIT_OK;
    point->json = NULL;
    return TACIT_MEMORY;
}

/* What is wrong with the point becomes its text. */
static enum tacit_status set_error(struct grid_point *point, const char *text)
{
    json_t *const body = json_pack("{s: s}", "error", text);
    char *const dumped =
        body == NULL ? strdup("{\"error\": \"no text that can be shown\"}") : json_dumps(body, 0);
    enum tacit_status const status = dumped == NULL ? TACIT_MEMORY : set_json(point, dumped);
    json_decref(body);
    free(dumped);
    return status;
}

/* What `tacit run --json` says of it becomes the point's text. */
static enum tacit_status write_json(struct grid_point *point,
                                    const struct tacit_experiment *experiment,
                                    const struct simulation *simulation)
{
    struct description description;
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    enum tacit_status status = description_make(&description, experiment, simulation);
    if (out == NULL)
        status = TACIT_MEMORY;
    if (status == TACIT_OK)
        status = tacit_report_json(&description.report, out);
    description_free(&description);
    if (out != NULL && fclose(out) != 0)
        status = TACIT_MEMORY;
    if (status == TACIT_OK)
        status = set_json(point, text);
    free(text);
    return status;
}

/* NULL: it is not kept. */
static const struct run_cache *cache_of(const struct open_point *open)
{
    return *open->folder == '\0' ? NULL : &open->cache;
}

/* All runs and the baselines. Ensures: on TACIT_OK the point has its text. */
static enum tacit_status play(struct open_point *open)
{
    struct simulation simulation;
    enum tacit_status status = simulate(&simulation, &open->experiment, cache_of(open),
                                        open->thread_count, open->control, open->error);
    if (status == TACIT_OK)
        status = simulate_baselines(&simulation, &open->experiment, cache_of(open),
                                    open->thread_count, open->control, open->error);
    if (status == TACIT_OK)
        status = write_json(open->point, &open->experiment, &simulation);
    simulation_free(&simulation);
    return status;
}

/* ---- Opened and closed ----------------------------------------------------------------------- */

/* All runs are this call's, and it writes none: the text is kept when they are done. */
static void open_cache(struct open_point *open, const struct grid_cache *cache)
{
    struct grid_point const *const point = open->point;
    uint8_t digest[TACIT_SHA256_BYTES];
    struct tacit_sha256 sha = tacit_sha256_init();
    tacit_sha256_update(&sha, TACIT_VERSION, sizeof TACIT_VERSION);
    tacit_sha256_update(&sha, &point->grid_count, sizeof point->grid_count);
    for (uint32_t i = 0; i < point->setting_count; i++) /* its text names so many of them */
        tacit_sha256_update(&sha, point->settings[i], strlen(point->settings[i]) + 1);
    run_cache_digest_experiment(&sha, &open->experiment);
    tacit_sha256_final(&sha, digest);
    folder_of(cache, digest, open->folder);
    (void)snprintf(open->file, sizeof open->file, "%s.json", open->folder);
    open->cache = (struct run_cache){
        .option = "--out", .folder = open->folder, .end = open->experiment.sim.run_count};
    sha = tacit_sha256_init();
    tacit_sha256_update(&sha, cache->program, sizeof cache->program);
    tacit_sha256_update(&sha, digest, sizeof digest);
    tacit_sha256_final(&sha, open->cache.digest);
}

/* False: it has its text, or what is wrong with it is its result, or *status is TACIT_MEMORY. */
static bool open_point(struct open_point *open, const struct grid_cache *cache,
                       enum tacit_status *status)
{
    struct grid_point *const point = open->point;
    struct tacit_error why = {""};
    *status = tacit_experiment_load_for(
        &open->experiment, point->is_at_once ? TACIT_EXPERIMENT_AT_ONCE : TACIT_EXPERIMENT_RUNS,
        point->rows, point->file, point->settings, point->setting_count, &why);
    if (*status != TACIT_OK) {
        *status = set_error(point, why.text[0] == '\0' ? tacit_status_text(*status) : why.text);
        return false;
    }
    point->family = open->experiment.family;
    if (cache != NULL && cache->folder != NULL)
        open_cache(open, cache);
    point->json = *open->folder == '\0' ? NULL : read_cached(open->file);
    if (point->json == NULL)
        return true;
    tacit_experiment_free(&open->experiment);
    return false;
}

/* What came of playing it is kept, or what is wrong is its result; but not trouble of the cache. */
static enum tacit_status close_point(struct open_point *open, enum tacit_status status)
{
    if (status == TACIT_OK && open->point->json != NULL && *open->folder != '\0') {
        (void)run_cache_replace(open->file, open->point->json); /* else it costs time later */
        run_cache_remove(open->folder);
    }
    tacit_experiment_free(&open->experiment);
    if (status == TACIT_OK || status == TACIT_INTERRUPTED || status == TACIT_MEMORY ||
        open->error->text[0] != '\0')
        return status;
    return set_error(open->point, tacit_status_text(status));
}

enum tacit_status grid_point_run(struct grid_point *point, const struct grid_cache *cache,
                                 uint32_t thread_count, struct tacit_sim_control *control,
                                 struct tacit_error *error)
{
    struct open_point open = {
        .point = point, .thread_count = thread_count, .control = control, .error = error};
    enum tacit_status status;
    return open_point(&open, cache, &status) ? close_point(&open, play(&open)) : status;
}

/* ---- Shares ---------------------------------------------------------------------------------- */

/* Share `index`: runs *first to *end - 1. */
static void cut(const struct open_point *open, uint32_t index, uint32_t count, uint32_t *first,
                uint32_t *end)
{
    uint64_t const runs = open->experiment.sim.run_count;
    TACIT_ASSERT(index < count);
    *first = (uint32_t)(runs * index / count);
    *end = (uint32_t)(runs * (index + 1) / count);
}

enum tacit_status grid_point_share(struct grid_point *point, const struct grid_cache *cache,
                                   uint32_t index, uint32_t count, uint32_t thread_count,
                                   struct tacit_sim_control *control, struct tacit_error *error)
{
    struct open_point open = {
        .point = point, .thread_count = thread_count, .control = control, .error = error};
    enum tacit_status status;
    if (count == 1)
        return grid_point_run(point, cache, thread_count, control, error);
    if (!open_point(&open, cache, &status))
        return status;
    cut(&open, index, count, &open.cache.first, &open.cache.end);
    open.cache.writes = true;
    if (open.cache.first < open.cache.end) {
        if (mkdir(open.folder, 0777) != 0 && errno != EEXIST) {
            (void)snprintf(error->text, sizeof error->text, "--out: %.300s: %s", open.folder,
                           strerror(errno));
            status = TACIT_IO;
        } else {
            status =
                simulate_share(&open.experiment, &open.cache, thread_count, control, NULL, error);
        }
    }
    return close_point(&open, status);
}

/* Nothing is played. missing[i]: the cache lacks some run of share i; *is_whole: of none. */
static enum tacit_status find_missing(struct open_point *open, uint32_t count, bool *missing,
                                      bool *is_whole)
{
    struct run_cache cache = open->cache;
    bool *const runs = calloc(open->experiment.sim.run_count, sizeof *runs);
    uint32_t first;
    uint32_t end;
    *is_whole = true;
    if (runs == NULL)
        return TACIT_MEMORY;
    cache.end = 0; /* nothing is played */
    enum tacit_status const status = simulate_share(&open->experiment, &cache, open->thread_count,
                                                    open->control, runs, open->error);
    for (uint32_t i = 0; i < count && status == TACIT_OK; i++) {
        missing[i] = false;
        cut(open, i, count, &first, &end);
        for (uint32_t run = first; run < end; run++)
            missing[i] = missing[i] || runs[run];
        *is_whole = *is_whole && !missing[i];
    }
    free(runs);
    return status;
}

enum tacit_status grid_point_gather(struct grid_point *point, const struct grid_cache *cache,
                                    uint32_t count, bool *missing,
                                    struct tacit_sim_control *control, struct tacit_error *error)
{
    struct open_point open = {
        .point = point, .thread_count = 1, .control = control, .error = error};
    enum tacit_status status;
    bool is_whole;
    if (!open_point(&open, cache, &status))
        return status;
    status = find_missing(&open, count, missing, &is_whole);
    if (status == TACIT_OK && is_whole)
        status = play(&open);
    return close_point(&open, status);
}

/* ---- What it says ---------------------------------------------------------------------------- */

/* NaN where there is no number. */
static double number_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static struct tacit_report_summary summary_of(const json_t *value)
{
    return (struct tacit_report_summary){.mean = number_of(json_object_get(value, "mean")),
                                         .sd = number_of(json_object_get(value, "sd")),
                                         .ci95 = number_of(json_object_get(value, "ci95")),
                                         .min = number_of(json_object_get(value, "min")),
                                         .max = number_of(json_object_get(value, "max"))};
}

/* Those that have numbers; their curves follow that of the grid point in `numbers`. */
static void read_references(struct grid_point *point, json_t *baselines, size_t count)
{
    double *next = point->numbers + 3 * count;
    const char *name;
    json_t *value;
    json_object_foreach(baselines, name, value)
    {
        json_t const *const curve = json_object_get(value, "curve");
        struct tacit_report_reference *const reference =
            &point->references[point->report.reference_count];
        if (!json_is_object(value))
            continue;
        *reference = (struct tacit_report_reference){
            .name = name,
            .regret = summary_of(json_object_get(value, "regret")).mean,
            .curve = json_array_size(curve) == count && count > 0 ? next : NULL};
        for (size_t i = 0; i < count && reference->curve != NULL; i++)
            *next++ = number_of(json_array_get(curve, i));
        point->report.reference_count++;
    }
    point->report.references = point->references;
}

static enum tacit_status read_curve(struct grid_point *point)
{
    json_t *const baselines = json_object_get(point->root, "baselines");
    json_t const *const curve = json_object_get(point->root, "curve");
    json_t const *const regret = json_object_get(curve, "regret");
    json_t const *const columns[] = {json_object_get(curve, "t"), json_object_get(regret, "mean"),
                                     json_object_get(regret, "ci95")};
    size_t const count = json_array_size(columns[0]);
    size_t const others = json_object_size(baselines);
    point->numbers = calloc((3 + others) * count + 1, sizeof(double));
    point->references = calloc(others + 1, sizeof *point->references);
    if (point->numbers == NULL || point->references == NULL)
        return TACIT_MEMORY;
    for (size_t i = 0; i < 3 * count; i++)
        point->numbers[i] = number_of(json_array_get(columns[i / count], i % count));
    point->report.curve_points = regret == NULL ? 0 : (uint32_t)count;
    point->report.t = point->numbers;
    point->report.regret = point->numbers + count;
    point->report.ci95 = point->numbers + 2 * count;
    read_references(point, baselines, count);
    return TACIT_OK;
}

enum tacit_status grid_point_read(struct grid_point *point)
{
    point->root = json_loads(point->json, JSON_DECODE_INT_AS_REAL, NULL);
    if (point->root == NULL)
        return TACIT_MEMORY;
    json_t const *const answer = json_object_get(point->root, "answer");
    json_t const *const privacy = json_object_get(point->root, "privacy");
    json_t const *const uniform =
        json_object_get(json_object_get(point->root, "baselines"), "uniform");
    point->report = (struct tacit_report_grid_point){
        .label = point->label,
        .error = json_string_value(json_object_get(point->root, "error")),
        .answer = json_string_value(json_object_get(answer, "sentence")),
        .is_decided = json_is_true(json_object_get(answer, "decided")),
        .note = json_string_value(json_object_get(point->root, "note")),
        .remark = json_string_value(json_object_get(point->root, "remark")),
        .epsilon = number_of(json_object_get(privacy, "epsilon_per_reward")),
        .uniform = summary_of(json_object_get(uniform, "regret"))};
    json_t const *const of_user = json_object_get(privacy, "epsilon_per_user");
    point->report.epsilon_is_of_user = of_user != NULL;
    if (of_user != NULL)
        point->report.epsilon = number_of(of_user);
    double const runs = number_of(json_object_get(point->root, "runs"));
    point->report.run_count = runs >= 0 ? (uint32_t)runs : 0;
    return read_curve(point);
}

enum tacit_status grid_point_values(struct grid_point *point,
                                    const struct tacit_metric *const *metrics,
                                    uint32_t metric_count)
{
    json_t const *const all = json_object_get(point->root, "metrics");
    point->values = calloc(metric_count + (size_t)1, sizeof *point->values);
    if (point->values == NULL)
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < metric_count; i++)
        point->values[i] = summary_of(json_object_get(all, metrics[i]->name));
    point->report.values = point->values;
    return TACIT_OK;
}

void grid_point_free(struct grid_point *point)
{
    json_decref(point->root);
    free(point->settings);
    free(point->label);
    free(point->json);
    free(point->numbers);
    free(point->references);
    free(point->values);
}
