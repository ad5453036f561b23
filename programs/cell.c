/* A cell is loaded, run and told as `tacit run --json` would tell it. */
#include "cell.h"
#include "describe.h"
#include "kept.h"
#include "tacit/commit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096u

/* ---- What it was run with -------------------------------------------------------------------- */

static void digest_of(const struct cell *cell, const struct tacit_experiment *experiment,
                      uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    tacit_sha256_update(&sha, TACIT_VERSION, sizeof TACIT_VERSION);
    kept_digest_experiment(&sha, experiment, cell->file, cell->settings, cell->setting_count);
    tacit_sha256_final(&sha, digest);
}

/* "FOLDER/" and 32 hexadecimal digits of everything that the result depends on; "" without folder.
 */
static void kept_path(const char *folder, const uint8_t digest[TACIT_SHA256_BYTES],
                      char path[PATH_BYTES])
{
    int at = folder == NULL ? -1 : snprintf(path, PATH_BYTES, "%s/", folder);
    for (uint32_t i = 0; i < 16 && at >= 0 && (size_t)at < PATH_BYTES; i++)
        at += snprintf(path + at, PATH_BYTES - (size_t)at, "%02x", digest[i]);
    if (at >= 0 && (size_t)at < PATH_BYTES)
        (void)snprintf(path + at, PATH_BYTES - (size_t)at, ".json");
}

/* NULL: there is nothing whole of that name. */
static char *read_kept(const char *path)
{
    size_t size;
    json_t *const root = json_load_file(path, JSON_DECODE_INT_AS_REAL, NULL);
    FILE *const in = root == NULL ? NULL : fopen(path, "rb");
    char *text = NULL;
    json_decref(root);
    if (in == NULL)
        return NULL;
    if (fseek(in, 0, SEEK_END) == 0 && ftell(in) > 0) {
        size = (size_t)ftell(in);
        rewind(in);
        text = calloc(1, size + 1);
        if (text != NULL && fread(text, 1, size, in) != size) {
            free(text);
            text = NULL;
        }
    }
    (void)fclose(in);
    return text;
}

/* Whole or not at all; that it could not be kept only costs time later. */
static void keep(const char *path, const char *text)
{
    char part[PATH_BYTES + 8];
    (void)snprintf(part, sizeof part, "%s.part", path);
    FILE *const out = fopen(part, "wb");
    bool is_whole =
        out != NULL && fputs(text, out) >= 0 && fflush(out) == 0 && fsync(fileno(out)) == 0;
    is_whole = out != NULL && fclose(out) == 0 && is_whole;
    if (!is_whole || rename(part, path) != 0)
        (void)unlink(part);
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

static json_t *settings_json(const struct cell *cell)
{
    json_t *const settings = json_object();
    for (uint32_t i = cell->setting_count - cell->grid_count; i < cell->setting_count; i++) {
        char const *const is = strchr(cell->settings[i], '=');
        char key[256];
        (void)snprintf(key, sizeof key, "%.*s", (int)(is - cell->settings[i]), cell->settings[i]);
        (void)json_object_set_new(settings, key, value_json(is + 1));
    }
    return settings;
}

/* {"settings": {…}, "file": "…" without the bracket that closes it. NULL: no memory. */
static char *head_json(const struct cell *cell)
{
    json_t *const head =
        json_pack("{s: o, s: s}", "settings", settings_json(cell), "file", cell->file);
    char *const text = head == NULL ? NULL : json_dumps(head, JSON_REAL_PRECISION(17));
    json_decref(head);
    if (text != NULL)
        text[strlen(text) - 1] = '\0';
    return text;
}

/* The head, and the members of `body`, which is an object with or without white space around it. */
static enum tacit_status set_json(struct cell *cell, const char *body)
{
    char *const head = head_json(cell);
    char const *const members = strchr(body, '{') + 1;
    int const length = head == NULL ? -1
                                    : asprintf(&cell->json, "%s, %.*s", head,
                                               (int)(strrchr(body, '}') + 1 - members), members);
    free(head);
    if (length >= 0)
        return TACIT_OK;
    cell->json = NULL;
    return TACIT_MEMORY;
}

static enum tacit_status set_error(struct cell *cell, const char *text)
{
    json_t *const body = json_pack("{s: s}", "error", text);
    char *const dumped =
        body == NULL ? strdup("{\"error\": \"no text that can be shown\"}") : json_dumps(body, 0);
    enum tacit_status const status = dumped == NULL ? TACIT_MEMORY : set_json(cell, dumped);
    json_decref(body);
    free(dumped);
    return status;
}

static enum tacit_status tell(struct cell *cell, const struct tacit_experiment *experiment,
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
        status = set_json(cell, text);
    free(text);
    return status;
}

static enum tacit_status play(struct cell *cell, const struct tacit_experiment *experiment,
                              uint32_t thread_count, struct tacit_sim_control *control)
{
    struct simulation simulation;
    enum tacit_status status = simulate(&simulation, experiment, thread_count, control);
    if (status == TACIT_OK)
        status = simulate_baselines(&simulation, experiment, thread_count, control);
    if (status == TACIT_OK)
        status = tell(cell, experiment, &simulation);
    simulation_free(&simulation);
    return status;
}

/* False: what is wrong with it is its result, or *status is TACIT_MEMORY. */
static bool load(struct cell *cell, struct tacit_experiment *experiment, enum tacit_status *status)
{
    struct tacit_error error = {""};
    *status = tacit_experiment_load_for(
        experiment, cell->is_at_once ? TACIT_EXPERIMENT_AT_ONCE : TACIT_EXPERIMENT_RUNS, cell->file,
        cell->settings, cell->setting_count, &error);
    if (*status != TACIT_OK) {
        *status = set_error(cell, error.text[0] == '\0' ? tacit_status_text(*status) : error.text);
        return false;
    }
    cell->family = experiment->family;
    return true;
}

/* What came of playing it: it is kept, or what is wrong is its result. */
static enum tacit_status end(struct cell *cell, enum tacit_status status, const char *path)
{
    if (status == TACIT_OK && *path != '\0')
        keep(path, cell->json);
    else if (status != TACIT_OK && status != TACIT_INTERRUPTED && status != TACIT_MEMORY)
        return set_error(cell, tacit_status_text(status));
    return status;
}

static enum tacit_status look_or_play(struct cell *cell, const char *kept, bool plays,
                                      uint32_t thread_count, struct tacit_sim_control *control)
{
    struct tacit_experiment experiment;
    uint8_t digest[TACIT_SHA256_BYTES];
    char path[PATH_BYTES] = "";
    enum tacit_status status;
    if (!load(cell, &experiment, &status))
        return status;
    if (kept != NULL) {
        digest_of(cell, &experiment, digest);
        kept_path(kept, digest, path);
    }
    cell->json = *path == '\0' ? NULL : read_kept(path);
    if (cell->json == NULL && plays)
        status = end(cell, play(cell, &experiment, thread_count, control), path);
    tacit_experiment_free(&experiment);
    return status;
}

enum tacit_status cell_run(struct cell *cell, const char *kept, uint32_t thread_count,
                           struct tacit_sim_control *control)
{
    return look_or_play(cell, kept, true, thread_count, control);
}

enum tacit_status cell_look(struct cell *cell, const char *kept)
{
    return look_or_play(cell, kept, false, 0, NULL);
}

/* ---- A share of it --------------------------------------------------------------------------- */

enum tacit_status cell_play(struct cell *cell, uint32_t index, uint32_t count,
                            uint32_t thread_count, struct tacit_sim_control *control,
                            struct cell_share *share)
{
    struct tacit_experiment experiment;
    enum tacit_status status;
    TACIT_ASSERT(index < count);
    *share = (struct cell_share){.is_loaded = false};
    if (!load(cell, &experiment, &status))
        return status;
    share->is_loaded = true;
    digest_of(cell, &experiment, share->digest);
    if (count == 1) {
        status = play(cell, &experiment, thread_count, control);
    } else {
        uint64_t const runs = experiment.sim.run_count;
        share->part.first = (uint32_t)(runs * index / count);
        share->part.end = (uint32_t)(runs * (index + 1) / count);
        status = simulate_part(&share->part, &experiment, thread_count, control);
    }
    share->status = status;
    tacit_experiment_free(&experiment);
    return status == TACIT_MEMORY || status == TACIT_INTERRUPTED ? status : TACIT_OK;
}

static enum tacit_status join(struct cell *cell, const struct tacit_experiment *experiment,
                              const struct cell_share *shares, uint32_t count,
                              uint32_t thread_count, struct tacit_sim_control *control)
{
    struct simulation simulation;
    struct simulation_part *const parts = calloc(count, sizeof *parts);
    if (parts == NULL)
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        parts[i] = shares[i].part;
    enum tacit_status status = simulate_join(&simulation, experiment, parts, count);
    if (status == TACIT_OK)
        status = simulate_baselines(&simulation, experiment, thread_count, control);
    if (status == TACIT_OK)
        status = tell(cell, experiment, &simulation);
    simulation_free(&simulation);
    free(parts);
    return status;
}

enum tacit_status cell_join(struct cell *cell, const char *kept, struct cell_share *shares,
                            uint32_t count, uint32_t thread_count,
                            struct tacit_sim_control *control, uint32_t *other)
{
    struct tacit_experiment experiment;
    uint8_t digest[TACIT_SHA256_BYTES];
    char path[PATH_BYTES] = "";
    enum tacit_status status;
    *other = count;
    if (!load(cell, &experiment, &status))
        return status;
    digest_of(cell, &experiment, digest);
    kept_path(kept, digest, path);
    for (uint32_t i = 0; i < count && *other == count; i++) {
        bool const is_same =
            shares[i].is_loaded && memcmp(shares[i].digest, digest, sizeof digest) == 0;
        *other = is_same ? count : i;
        status = status == TACIT_OK ? shares[i].status : status;
    }
    if (*other == count && status == TACIT_OK) {
        cell->json = shares[0].json; /* of the whole cell, or NULL */
        shares[0].json = NULL;
        if (cell->json == NULL)
            status = join(cell, &experiment, shares, count, thread_count, control);
    }
    if (*other == count)
        status = end(cell, status, path);
    tacit_experiment_free(&experiment);
    return status;
}

void cell_share_free(struct cell_share *share)
{
    free(share->part.rows);
    free(share->json);
    *share = (struct cell_share){.is_loaded = false};
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

/* Those that have numbers; their curves follow that of the cell in `numbers`. */
static void read_references(struct cell *cell, json_t *baselines, size_t count)
{
    double *next = cell->numbers + 3 * count;
    const char *name;
    json_t *value;
    json_object_foreach(baselines, name, value)
    {
        json_t const *const curve = json_object_get(value, "curve");
        struct tacit_report_reference *const reference =
            &cell->references[cell->report.reference_count];
        if (!json_is_object(value))
            continue;
        *reference = (struct tacit_report_reference){
            .name = name,
            .regret = summary_of(json_object_get(value, "regret")).mean,
            .curve = json_array_size(curve) == count && count > 0 ? next : NULL};
        for (size_t i = 0; i < count && reference->curve != NULL; i++)
            *next++ = number_of(json_array_get(curve, i));
        cell->report.reference_count++;
    }
    cell->report.references = cell->references;
}

static enum tacit_status read_curve(struct cell *cell)
{
    json_t *const baselines = json_object_get(cell->root, "baselines");
    json_t const *const curve = json_object_get(cell->root, "curve");
    json_t const *const regret = json_object_get(curve, "regret");
    json_t const *const columns[] = {json_object_get(curve, "t"), json_object_get(regret, "mean"),
                                     json_object_get(regret, "ci95")};
    size_t const count = json_array_size(columns[0]);
    size_t const others = json_object_size(baselines);
    cell->numbers = calloc((3 + others) * count + 1, sizeof(double));
    cell->references = calloc(others + 1, sizeof *cell->references);
    if (cell->numbers == NULL || cell->references == NULL)
        return TACIT_MEMORY;
    for (size_t i = 0; i < 3 * count; i++)
        cell->numbers[i] = number_of(json_array_get(columns[i / count], i % count));
    cell->report.point_count = regret == NULL ? 0 : (uint32_t)count;
    cell->report.t = cell->numbers;
    cell->report.regret = cell->numbers + count;
    cell->report.ci95 = cell->numbers + 2 * count;
    read_references(cell, baselines, count);
    return TACIT_OK;
}

enum tacit_status cell_read(struct cell *cell)
{
    cell->root = json_loads(cell->json, JSON_DECODE_INT_AS_REAL, NULL);
    if (cell->root == NULL)
        return TACIT_MEMORY;
    json_t const *const answer = json_object_get(cell->root, "answer");
    json_t const *const privacy = json_object_get(cell->root, "privacy");
    json_t const *const uniform =
        json_object_get(json_object_get(cell->root, "baselines"), "uniform");
    cell->report = (struct tacit_report_cell){
        .label = cell->label,
        .error = json_string_value(json_object_get(cell->root, "error")),
        .answer = json_string_value(json_object_get(answer, "sentence")),
        .is_decided = json_is_true(json_object_get(answer, "decided")),
        .note = json_string_value(json_object_get(cell->root, "note")),
        .remark = json_string_value(json_object_get(cell->root, "remark")),
        .epsilon = number_of(json_object_get(privacy, "epsilon_per_reward")),
        .uniform = summary_of(json_object_get(uniform, "regret"))};
    json_t const *const of_user = json_object_get(privacy, "epsilon_per_user");
    cell->report.epsilon_is_of_user = of_user != NULL;
    if (of_user != NULL)
        cell->report.epsilon = number_of(of_user);
    double const runs = number_of(json_object_get(cell->root, "runs"));
    cell->report.run_count = runs >= 0 ? (uint32_t)runs : 0;
    return read_curve(cell);
}

enum tacit_status cell_values(struct cell *cell, const struct tacit_metric *const *metrics,
                              uint32_t metric_count)
{
    json_t const *const all = json_object_get(cell->root, "metrics");
    cell->values = calloc(metric_count + (size_t)1, sizeof *cell->values);
    if (cell->values == NULL)
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < metric_count; i++)
        cell->values[i] = summary_of(json_object_get(all, metrics[i]->name));
    cell->report.values = cell->values;
    return TACIT_OK;
}

void cell_free(struct cell *cell)
{
    json_decref(cell->root);
    free(cell->settings);
    free(cell->label);
    free(cell->json);
    free(cell->numbers);
    free(cell->references);
    free(cell->values);
}
