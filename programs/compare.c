/* tacit compare: several files, or one over a grid of settings, in one run on all processors. */
#include "arguments.h"
#include "cell.h"
#include "commands.h"
#include "simulate.h"
#include "spread.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 64u
#define AXES_MAX 16u
#define VALUES_MAX 1024u
#define CELLS_MAX 100000u
#define THREADS_MAX 1024u
#define PATH_BYTES 4096u

/* One --over: KEY and its values as "KEY=V" texts. */
struct axis {
    char *words[VALUES_MAX];
    uint32_t count;
};

struct request {
    const char *files[FILES_MAX];
    uint32_t file_count;
    struct arguments shared;
    struct axis axes[AXES_MAX];
    uint32_t axis_count;
};

/* ---- What is asked for ----------------------------------------------------------------------- */

static char *text_of(const struct command *command, const char *format, const char *first,
                     int length, const char *second)
{
    char *text;
    if (asprintf(&text, format, first, length, second) < 0)
        command_refuse(command, "%s", tacit_status_text(TACIT_MEMORY));
    return text;
}

/* Commas inside brackets belong to the value. */
static size_t value_length(const char *text)
{
    int depth = 0;
    size_t i = 0;
    for (; text[i] != '\0' && (text[i] != ',' || depth > 0); i++)
        depth += (strchr("([{", text[i]) != NULL) - (strchr(")]}", text[i]) != NULL);
    return i;
}

/* The last word for a key would win in every cell, and a cell that comes twice says nothing more.
 */
static void refuse_repeats(const struct command *command, const struct request *request,
                           const struct axis *axis)
{
    size_t const key = strcspn(axis->words[0], "=") + 1;
    for (uint32_t i = 0; &request->axes[i] != axis; i++)
        if (strncmp(request->axes[i].words[0], axis->words[0], key) == 0)
            command_refuse(command, "--over: %.*s is varied twice; allowed: all its values in one",
                           (int)key - 1, axis->words[0]);
    for (uint32_t i = 1; i < axis->count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(axis->words[i], axis->words[j]) == 0)
                command_refuse(command, "--over: '%s' comes twice; allowed: each value once",
                               axis->words[i]);
}

static void add_axis(const struct command *command, struct request *request, const char *text)
{
    char const *const is = strchr(text, '=');
    if (is == NULL || is == text || is[1] == '\0')
        command_refuse(command,
                       "--over: '%s' is not allowed; allowed: KEY=V1,V2,..., like "
                       "privacy.epsilon=0.5,1,2",
                       text);
    if (request->axis_count == AXES_MAX)
        command_refuse(command, "too many --over; %u are allowed", AXES_MAX);
    struct axis *const axis = &request->axes[request->axis_count++];
    char *const key = strndup(text, (size_t)(is + 1 - text));
    for (const char *at = is + 1; key != NULL;) {
        size_t const length = value_length(at);
        if (length == 0)
            command_refuse(command, "--over: '%s' has an empty value", text);
        if (axis->count == VALUES_MAX)
            command_refuse(command, "--over: '%.40s...' has too many values; %u are allowed", text,
                           VALUES_MAX);
        axis->words[axis->count++] = text_of(command, "%s%.*s", key, (int)length, at);
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    free(key);
    if (axis->count > 0)
        refuse_repeats(command, request, axis);
}

static void add_file(const struct command *command, struct request *request, const char *file)
{
    if (request->file_count == FILES_MAX)
        command_refuse(command, "too many files; %u are allowed", FILES_MAX);
    if (strcmp(file, "-") == 0)
        command_refuse(command, "standard input is read once, a comparison reads its files often; "
                                "allowed: files");
    request->files[request->file_count++] = file;
}

static void end_request(const struct command *command, const struct request *request)
{
    uint64_t cells = request->file_count;
    if (request->file_count == 0)
        command_refuse(command,
                       "no experiment file given; usage: tacit compare FILE... [OPTION...]");
    for (uint32_t i = 0; i < request->axis_count && cells <= CELLS_MAX; i++)
        cells *= request->axes[i].count;
    if (cells > CELLS_MAX)
        command_refuse(command, "more than %u settings; allowed: fewer values of --over",
                       CELLS_MAX);
}

static void take(const struct command *command, void *into, int key, char *value)
{
    struct request *const request = into;
    if (arguments_take_option(command, &request->shared, key, value))
        return;
    if (key == 'O')
        add_axis(command, request, value);
    else if (key == COMMAND_WORD)
        add_file(command, request, value);
    else
        end_request(command, request);
}

static void free_request(struct request *request)
{
    for (uint32_t i = 0; i < request->axis_count; i++)
        for (uint32_t j = 0; j < request->axes[i].count; j++)
            free(request->axes[i].words[j]);
    free(request);
}

/* ---- The cells ------------------------------------------------------------------------------- */

struct grid {
    const struct request *request;
    struct cell *cells;
    uint32_t count;
    char kept[PATH_BYTES]; /* folder of finished cells; "": there is none */
    uint32_t cell_threads; /* of each */
    struct tacit_sim_control *control;
    const struct ranks_wire *wire; /* NULL: this machine alone */
    atomic_uint next;
    atomic_uint done;
    atomic_int trouble; /* the first status that is not TACIT_OK */
};

/* Its file, where there are several, and its place in the grid. */
static char *label_of(const struct grid *grid, const struct cell *cell)
{
    char *label = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&label, &size);
    if (out == NULL)
        return NULL;
    size_t const length = strlen(cell->file);
    bool const is_yaml = length > 5 && strcmp(cell->file + length - 5, ".yaml") == 0;
    if (grid->request->file_count > 1 || cell->grid_count == 0)
        (void)fprintf(out, "%.*s%s", (int)(is_yaml ? length - 5 : length), cell->file,
                      cell->grid_count == 0 ? "" : ": ");
    for (uint32_t i = cell->setting_count - cell->grid_count; i < cell->setting_count; i++)
        (void)fprintf(out, "%s%s", cell->settings[i], i + 1 < cell->setting_count ? " " : "");
    return fclose(out) == 0 ? label : NULL;
}

/* Files outermost, the last --over innermost. */
static bool fill_cell(const struct grid *grid, uint32_t index, struct cell *cell)
{
    struct request const *const request = grid->request;
    uint32_t const count = request->shared.setting_count + request->axis_count;
    uint32_t rest = index;
    cell->settings = calloc(count + (size_t)1, sizeof *cell->settings);
    if (cell->settings == NULL)
        return false;
    cell->setting_count = count;
    cell->grid_count = request->axis_count;
    for (uint32_t i = 0; i < request->shared.setting_count; i++)
        cell->settings[i] = request->shared.settings[i];
    for (uint32_t i = request->axis_count; i-- > 0; rest /= request->axes[i].count)
        cell->settings[request->shared.setting_count + i] =
            request->axes[i].words[rest % request->axes[i].count];
    cell->file = request->files[rest];
    cell->label = label_of(grid, cell);
    return cell->label != NULL;
}

static void *work(void *argument)
{
    struct grid *const grid = argument;
    char const *const kept = *grid->kept == '\0' ? NULL : grid->kept;
    for (uint32_t i; (i = atomic_fetch_add(&grid->next, 1)) < grid->count;) {
        int nothing = TACIT_OK;
        if (atomic_load(&grid->control->stop) || atomic_load(&grid->trouble) != TACIT_OK)
            break;
        enum tacit_status const status =
            cell_run(&grid->cells[i], kept, grid->cell_threads, grid->control);
        if (status != TACIT_OK) {
            (void)atomic_compare_exchange_strong(&grid->trouble, &nothing, (int)status);
            break;
        }
        uint32_t const done = atomic_fetch_add(&grid->done, 1) + 1;
        if (!grid->request->shared.quiet && isatty(STDERR_FILENO))
            (void)fprintf(stderr, "\r\033[K%u of %u settings", done, grid->count);
    }
    return NULL;
}

/* Cells side by side; where there are fewer of them than threads, each has several. */
static enum tacit_status run_all(struct grid *grid)
{
    uint32_t const threads = simulate_threads(grid->request->shared.thread_count);
    uint32_t const workers = threads < grid->count ? threads : grid->count;
    pthread_t others[THREADS_MAX];
    uint32_t started = 0;
    grid->cell_threads = (threads + workers - 1) / workers;
    while (started + 1 < workers && pthread_create(&others[started], NULL, work, grid) == 0)
        started++;
    (void)work(grid);
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(others[i], NULL);
    if (!grid->request->shared.quiet && isatty(STDERR_FILENO))
        (void)fprintf(stderr, "\r\033[K");
    return (enum tacit_status)atomic_load(&grid->trouble);
}

/* The same over the ranks of mpirun; those beside rank 0 have no results. */
static enum tacit_status run_spread(struct grid *grid, struct tacit_error *error)
{
    struct arguments const *const shared = &grid->request->shared;
    struct spread const spread = {.cells = grid->cells,
                                  .count = grid->count,
                                  .kept = *grid->kept == '\0' ? NULL : grid->kept,
                                  .threads = shared->thread_count,
                                  .quiet = shared->quiet,
                                  .control = grid->control};
    enum tacit_status const status = spread_run(&spread, grid->wire, error);
    if (ranks_index() == 0 && !shared->quiet && isatty(STDERR_FILENO))
        (void)fprintf(stderr, "\r\033[K");
    return status;
}

/* ---- The results ----------------------------------------------------------------------------- */

/* The cells that were run move to the front. */
static uint32_t keep_run(struct grid *grid)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < grid->count; i++) {
        struct cell const cell = grid->cells[i];
        if (cell.json == NULL)
            continue;
        grid->cells[i] = grid->cells[count];
        grid->cells[count++] = cell;
    }
    return count;
}

static char *all_json(const struct grid *grid, uint32_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    (void)fputs("{\"results\": [", out);
    for (uint32_t i = 0; i < count; i++)
        (void)fprintf(out, "%s\n%s", i == 0 ? "" : ",", grid->cells[i].json);
    (void)fputs("]}\n", out);
    return fclose(out) == 0 ? text : NULL;
}

/* Every metric that some cell has, in the order in which they are met, in the words of the first
 * family that has it. Errors: NULL: no memory. */
static const struct tacit_metric **metrics_of(const struct grid *grid, uint32_t cells,
                                              uint32_t *count)
{
    json_t *const seen = json_object();
    size_t room = 1;
    for (uint32_t i = 0; i < cells; i++)
        room += json_object_size(json_object_get(grid->cells[i].root, "metrics"));
    const struct tacit_metric **const metrics = calloc(room, sizeof *metrics);
    *count = 0;
    for (uint32_t i = 0; metrics != NULL && i < cells; i++) {
        struct tacit_family const *const family = grid->cells[i].family;
        const char *name;
        json_t *value;
        json_object_foreach(json_object_get(grid->cells[i].root, "metrics"), name, value)
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

static enum tacit_status print_all(const struct request *request,
                                   const struct tacit_report_comparison *comparison,
                                   struct tacit_error *error)
{
    enum tacit_status status = TACIT_OK;
    errno = 0;
    if (request->shared.json)
        (void)fputs(comparison->json, stdout);
    else
        status = tacit_report_comparison_table(comparison, stdout);
    if (status == TACIT_OK && (fflush(stdout) != 0 || ferror(stdout)))
        status = TACIT_IO;
    if (status != TACIT_OK) {
        (void)snprintf(error->text, sizeof error->text, "the results could not be printed: %s",
                       errno == 0 ? tacit_status_text(status) : strerror(errno));
        return status;
    }
    if (request->shared.out != NULL)
        status = tacit_report_comparison_write(comparison, request->shared.out, error);
    if (request->shared.out != NULL && status == TACIT_OK && !request->shared.json)
        (void)printf("\nReport: %s/report.html\n", request->shared.out);
    return status;
}

/* What is to be known of the data of all cells: once where it is the same. NULL: no memory. */
static char *remarks_of(const struct tacit_report_cell *cells, const struct cell *sources,
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
static const char *name_of(const struct grid *grid, uint32_t count)
{
    const char *name = NULL;
    for (uint32_t i = 0; i < count && name == NULL; i++)
        name = json_string_value(json_object_get(grid->cells[i].root, "name"));
    return name == NULL ? grid->request->files[0] : name;
}

/* Errors: TACIT_MEMORY, TACIT_IO. */
static enum tacit_status tell(struct grid *grid, uint32_t count, struct tacit_error *error)
{
    enum tacit_status status = TACIT_OK;
    uint32_t metric_count = 0;
    for (uint32_t i = 0; i < count && status == TACIT_OK; i++)
        status = cell_read(&grid->cells[i]);
    const struct tacit_metric **const metrics =
        status == TACIT_OK ? metrics_of(grid, count, &metric_count) : NULL;
    struct tacit_report_cell *const cells = calloc(count + (size_t)1, sizeof *cells);
    char *const json = all_json(grid, count);
    if (metrics == NULL || cells == NULL || json == NULL)
        status = TACIT_MEMORY;
    for (uint32_t i = 0; i < count && status == TACIT_OK; i++) {
        status = cell_values(&grid->cells[i], metrics, metric_count);
        cells[i] = grid->cells[i].report;
    }
    char const *const name = grid->request->file_count > 1 ? NULL : name_of(grid, count);
    char *const remark = remarks_of(cells, grid->cells, count, grid->request->file_count > 1);
    if (remark == NULL)
        status = TACIT_MEMORY;
    struct tacit_report_comparison const comparison = {
        .name = name,
        .remark = remark == NULL || *remark == '\0' ? NULL : remark,
        .version = TACIT_VERSION,
        .metrics = metrics,
        .metric_count = metric_count,
        .cells = cells,
        .cell_count = count,
        .cells_asked = grid->count,
        .json = json};
    if (status == TACIT_OK)
        status = print_all(grid->request, &comparison, error);
    free(json);
    free(remark);
    free(cells);
    free(metrics);
    return status;
}

/* Where nothing could run, the reason is one for the user. */
static int code_of(const struct grid *grid, uint32_t count, bool stopped)
{
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < count; i++)
        wrong += grid->cells[i].report.error != NULL;
    if (stopped) {
        (void)fprintf(stderr, "tacit compare: stopped; %u of %u settings were run%s\n", count,
                      grid->count, *grid->kept == '\0' ? "" : "; the same call goes on from there");
        return EXIT_STOPPED;
    }
    if (wrong == 0)
        return EXIT_DONE;
    for (uint32_t i = 0; i < count; i++)
        if (grid->cells[i].report.error != NULL) {
            (void)fprintf(stderr, "tacit compare: %u of %u settings could not run; the first: %s\n",
                          wrong, count, grid->cells[i].report.error);
            break;
        }
    return wrong == count ? EXIT_WRONG_INPUT : EXIT_DONE;
}

/* ---- The command ----------------------------------------------------------------------------- */

/* The folder of finished cells; a place that takes no files is found before the runs. */
static bool make_kept(struct grid *grid, struct tacit_error *error)
{
    char const *const out = grid->request->shared.out;
    if (out == NULL)
        return true;
    (void)snprintf(grid->kept, sizeof grid->kept, "%s/cells", out);
    if (tacit_report_try(out, error) == TACIT_OK &&
        tacit_report_try(grid->kept, error) == TACIT_OK &&
        (mkdir(out, 0777) == 0 || errno == EEXIST) &&
        (mkdir(grid->kept, 0777) == 0 || errno == EEXIST))
        return true;
    (void)fprintf(stderr, "tacit compare: --out: %s\n", error->text);
    return false;
}

static int fail(enum tacit_status status, const struct tacit_error *error)
{
    (void)fprintf(stderr, "tacit compare: %s\n",
                  error->text[0] == '\0' ? tacit_status_text(status) : error->text);
    return status == TACIT_INVALID ? EXIT_WRONG_INPUT : EXIT_FAILED;
}

/* A rank beside rank 0 plays, and says nothing but why it could not. */
static int help(struct grid *grid)
{
    struct tacit_error error = {""};
    enum tacit_status const status = run_spread(grid, &error);
    if (status == TACIT_OK || status == TACIT_INTERRUPTED)
        return status == TACIT_OK ? EXIT_DONE : EXIT_STOPPED;
    return fail(status, &error);
}

static int compare(struct grid *grid)
{
    struct tacit_error error = {""};
    if (grid->wire != NULL && ranks_index() > 0)
        return help(grid);
    if (!make_kept(grid, &error)) {
        grid->count = 0;
        if (grid->wire != NULL)
            (void)run_spread(grid, &error);
        return EXIT_FAILED;
    }
    enum tacit_status status = grid->wire != NULL ? run_spread(grid, &error) : run_all(grid);
    bool const stopped = status == TACIT_INTERRUPTED || atomic_load(&grid->control->stop);
    uint32_t const count = keep_run(grid);
    if (status == TACIT_OK || stopped)
        status = count == 0 ? TACIT_OK : tell(grid, count, &error);
    if (status == TACIT_OK)
        return code_of(grid, count, stopped && count < grid->count);
    return fail(status, &error);
}

/* Under mpirun one rank speaks for all. */
static void open_ranks(const struct command *command, struct grid *grid)
{
    const char *why;
    if (ranks_count() == 1)
        return;
    grid->wire = ranks_open(&why);
    if (grid->wire == NULL && ranks_index() == 0)
        command_refuse(command,
                       "%u ranks of mpirun, but there is no MPI here (%s); allowed: one rank, or a "
                       "build with -Dmpi=enabled",
                       ranks_count(), why);
    if (grid->wire == NULL)
        exit(EXIT_WRONG_INPUT);
}

/* What is wrong with the words all ranks would say. */
static void parse(const struct command *command, struct request *request, int word_count,
                  char **words)
{
    int const own = ranks_index() > 0 ? dup(STDERR_FILENO) : -1;
    int const nothing = own >= 0 ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nothing >= 0) {
        (void)dup2(nothing, STDERR_FILENO);
        (void)dup2(nothing, STDOUT_FILENO);
    }
    command_parse(command, request, word_count, words);
    if (nothing >= 0) {
        (void)dup2(own, STDERR_FILENO);
        (void)close(nothing);
    }
    if (own >= 0)
        (void)close(own);
}

static int compare_command(const struct command *command, int word_count, char **words)
{
    struct request *const request = calloc(1, sizeof *request);
    struct grid *const grid = calloc(1, sizeof *grid);
    int code = EXIT_FAILED;
    if (request == NULL || grid == NULL) {
        free(request);
        free(grid);
        return EXIT_FAILED;
    }
    parse(command, request, word_count, words);
    grid->request = request;
    open_ranks(command, grid);
    grid->control = simulate_control();
    grid->count = request->file_count;
    for (uint32_t i = 0; i < request->axis_count; i++)
        grid->count *= request->axes[i].count;
    grid->cells = calloc(grid->count, sizeof *grid->cells);
    uint32_t const count = grid->cells == NULL ? 0 : grid->count;
    uint32_t filled = 0;
    while (filled < count && fill_cell(grid, filled, &grid->cells[filled]))
        filled++;
    if (filled == count && count > 0)
        code = compare(grid);
    for (uint32_t i = 0; i < count; i++)
        cell_free(&grid->cells[i]);
    free(grid->cells);
    free(grid);
    free_request(request);
    return code;
}

static const struct argp_option options[] = {
    {"over", 'O', "KEY=V1,V2,...", 0, "Run with each of these values; several make a grid", 0},
    {"set", 'S', "KEY=VALUE", 0, "Overrule a key of the files, like privacy.epsilon=0.5", 0},
    {"runs", 'r', "N", 0, "Number of runs: short for --set runs=N", 0},
    {"seed", 's', "S", 0, "Seed: short for --set seed=S", 0},
    {"threads", 't', "N", 0, "Threads to spread the work over (default: one a processor)", 0},
    {"out", 'o', "DIR", 0,
     "Write results.json, comparison.csv, curves.csv, figures, report.html; what is finished is "
     "kept there, and the same call goes on after an interruption",
     0},
    {"json", 'j', NULL, 0, "Print one JSON object instead of a table", 0},
    {"quiet", 'q', NULL, 0, "No progress on the terminal", 0},
    COMMAND_LAST_OPTIONS};

const struct command command_compare = {
    .name = "compare",
    .summary = "run several files, or one over a grid of settings, beside each other",
    .options = options,
    .words = "FILE...",
    .help = "Run every FILE with every combination of the values of --over, and print the results "
            "beside each other. Settings that cannot run say why, and the others go on. Under Open "
            "MPI's mpirun the work is spread over its ranks, with the same results.",
    .take = take,
    .run = compare_command,
};
