/* tacit compare: several files, or one over a grid of settings, in one run on all processors. */
#include "arguments.h"
#include "commands.h"
#include "../src/study/compare.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX 64u
#define AXES_MAX 16u
#define VALUES_MAX 1024u
#define GRID_POINTS_MAX 100000u

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
    struct shard shard;
    bool finishes;
};

/* ---- What is asked for ----------------------------------------------------------------------- */

/* "KEY=V", for free(): `key` with its "=", and so many characters of the value. */
static char *setting_of(const struct command *command, const char *key, size_t length,
                        const char *value)
{
    char *text;
    if (asprintf(&text, "%s%.*s", key, (int)length, value) < 0)
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

/* The last value of a key would win in every grid point, and one that comes twice says nothing
 * more.
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
    char const *const equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0')
        command_refuse(command,
                       "--over: '%s' is not allowed; allowed: KEY=V1,V2,..., like "
                       "privacy.epsilon=0.5,1,2",
                       text);
    if (request->axis_count == AXES_MAX)
        command_refuse(command, "too many --over; %u are allowed", AXES_MAX);
    struct axis *const axis = &request->axes[request->axis_count++];
    char *const key = strndup(text, (size_t)(equals + 1 - text));
    for (const char *at = equals + 1; key != NULL;) {
        size_t const length = value_length(at);
        if (length == 0)
            command_refuse(command, "--over: '%s' has an empty value", text);
        if (axis->count == VALUES_MAX)
            command_refuse(command, "--over: '%.40s...' has too many values; %u are allowed", text,
                           VALUES_MAX);
        axis->words[axis->count++] = setting_of(command, key, length, at);
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

static void check_request(const struct command *command, const struct request *request)
{
    uint64_t points = request->file_count;
    if (request->file_count == 0)
        command_refuse(command,
                       "no experiment file given; usage: tacit compare FILE... [OPTION...]");
    if (request->shard.count > 0 && request->shared.out == NULL)
        command_refuse(command, "--shard: needs --out DIR, a folder that all shares see");
    if (request->finishes && (request->shard.count > 0 || request->shared.out == NULL))
        command_refuse(command, "--finish: needs --out DIR with shares in it, and no --shard");
    for (uint32_t i = 0; i < request->axis_count && points <= GRID_POINTS_MAX; i++)
        points *= request->axes[i].count;
    if (points > GRID_POINTS_MAX)
        command_refuse(command, "more than %u settings; allowed: fewer values of --over",
                       GRID_POINTS_MAX);
}

static void parse(const struct command *command, void *into, int key, char *value)
{
    struct request *const request = into;
    if (arguments_parse_option(command, &request->shared, key, value))
        return;
    struct tacit_error error = {""};
    if (key == 'O')
        add_axis(command, request, value);
    else if (key == 'D' && shard_parse(&request->shard, value, &error) != TACIT_OK)
        command_refuse(command, "%s", error.text);
    else if (key == 'D')
        return;
    else if (key == 'E')
        request->finishes = true;
    else if (key == COMMAND_OPERAND)
        add_file(command, request, value);
    else
        check_request(command, request);
}

static void free_request(struct request *request)
{
    for (uint32_t i = 0; i < request->axis_count; i++)
        for (uint32_t j = 0; j < request->axes[i].count; j++)
            free(request->axes[i].words[j]);
    free(request);
}

/* ---- The points ------------------------------------------------------------------------------ */

/* Its file, where there are several or no grid, and its settings in the grid; for free(). NULL:
 * out of memory. */
static char *label_of(const struct request *request, const struct grid_point *point)
{
    char *label = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&label, &size);
    if (out == NULL)
        return NULL;
    size_t const length = strlen(point->file);
    bool const is_yaml = length > 5 && strcmp(point->file + length - 5, ".yaml") == 0;
    if (request->file_count > 1 || point->grid_count == 0)
        (void)fprintf(out, "%.*s%s", (int)(is_yaml ? length - 5 : length), point->file,
                      point->grid_count == 0 ? "" : ": ");
    for (uint32_t i = point->setting_count - point->grid_count; i < point->setting_count; i++)
        (void)fprintf(out, "%s%s", point->settings[i], i + 1 < point->setting_count ? " " : "");
    return fclose(out) == 0 ? label : NULL;
}

/* "KEY==": what the file has. */
static bool is_as_in_file(const char *setting)
{
    return strcmp(strchr(setting, '='), "==") == 0;
}

/* Files outermost, the last --over innermost. */
static bool fill_point(const struct request *request, uint32_t index, struct grid_point *point)
{
    uint32_t const shared = request->shared.setting_count;
    const char *chosen[AXES_MAX];
    uint32_t rest = index;
    point->settings = calloc(shared + request->axis_count + (size_t)1, sizeof *point->settings);
    if (point->settings == NULL)
        return false;
    for (uint32_t i = 0; i < shared; i++)
        point->settings[i] = request->shared.settings[i];
    for (uint32_t i = request->axis_count; i-- > 0; rest /= request->axes[i].count)
        chosen[i] = request->axes[i].words[rest % request->axes[i].count];
    for (uint32_t i = 0; i < request->axis_count; i++)
        if (!is_as_in_file(chosen[i]))
            point->settings[shared + point->grid_count++] = chosen[i];
    point->setting_count = shared + point->grid_count;
    point->file = request->files[rest];
    point->label = label_of(request, point);
    return point->label != NULL;
}

static void free_comparison(struct comparison *comparison)
{
    for (uint32_t i = 0; comparison->points != NULL && i < comparison->count; i++)
        grid_point_free(&comparison->points[i]);
    free(comparison->points);
}

/* False: no memory. */
static bool make_comparison(const struct request *request, struct comparison *comparison)
{
    *comparison = (struct comparison){.count = request->file_count,
                                      .are_files = request->file_count > 1,
                                      .file = request->files[0],
                                      .out = request->shared.out,
                                      .shard = request->shard,
                                      .finishes = request->finishes,
                                      .thread_count = request->shared.thread_count,
                                      .is_shown = !request->shared.quiet && isatty(STDERR_FILENO),
                                      .control = simulate_control()};
    for (uint32_t i = 0; i < request->axis_count; i++)
        comparison->count *= request->axes[i].count;
    comparison->points = calloc(comparison->count, sizeof *comparison->points);
    bool is_made = comparison->points != NULL;
    for (uint32_t i = 0; i < comparison->count && is_made; i++)
        is_made = fill_point(request, i, &comparison->points[i]);
    return is_made;
}

/* ---- The command ----------------------------------------------------------------------------- */

/* Says what became of it, and the exit code. Where nothing could run, the reason is one for the
 * user. */
static int report_end(const struct comparison *comparison, const struct compared *compared,
                      bool stopped)
{
    uint32_t const count = compared->run;
    char const *first = NULL;
    uint32_t wrong = 0;
    for (uint32_t i = count; i-- > 0;)
        if (comparison->points[i].report.error != NULL) {
            first = comparison->points[i].report.error;
            wrong++;
        }
    if (stopped) {
        (void)fprintf(stderr, "tacit compare: stopped; %u of %u settings were run%s\n", count,
                      comparison->count,
                      comparison->out == NULL ? "" : "; the same call goes on from there");
        return EXIT_STOPPED;
    }
    if (wrong > 0)
        (void)fprintf(stderr, "tacit compare: %u of %u settings could not run; the first: %s\n",
                      wrong, count, first);
    return wrong > 0 && wrong == count ? EXIT_WRONG_INPUT : EXIT_DONE;
}

/* What a share, or who puts shares together, ends with. */
static int report_shares(const struct comparison *comparison, const struct compared *compared,
                         bool stopped)
{
    if (stopped)
        (void)fprintf(stderr, "tacit compare: stopped; the same call goes on from there\n");
    else if (compared->missing > 0)
        (void)fprintf(stderr,
                      "tacit compare: not finished: share %s; play these, or all that is missing "
                      "here with --finish\n",
                      compared->text);
    else if (comparison->is_shown)
        (void)fprintf(stderr,
                      "tacit compare: share %u of %u is finished; without --shard the same call "
                      "puts them together\n",
                      comparison->shard.index + 1, comparison->shard.count);
    return stopped ? EXIT_STOPPED : compared->missing > 0 ? EXIT_FAILED : EXIT_DONE;
}

static int compare(const struct request *request, struct comparison *comparison)
{
    struct tacit_error error = {""};
    struct compared compared;
    if (!make_comparison(request, comparison))
        return EXIT_FAILED;
    enum tacit_status status = comparison_run(comparison, &compared, &error);
    bool const stopped = status == TACIT_INTERRUPTED;
    bool const is_good = status == TACIT_OK || stopped;
    if (is_good && (comparison->shard.count > 0 || compared.missing > 0))
        return report_shares(comparison, &compared, stopped);
    if (is_good && compared.run > 0)
        status = comparison_write(comparison, &compared, request->shared.json, stdout, &error);
    if (status == TACIT_OK || status == TACIT_INTERRUPTED)
        return report_end(comparison, &compared, stopped && compared.run < comparison->count);
    return command_report("compare", status, &error);
}

/* A launcher's tasks are shares only where the words say so. */
static void announce(const struct command *command, const struct shard *shard)
{
    if (shard->count == 0 && shard_unsaid() != NULL)
        command_refuse(command,
                       "%s says that there are several of these, and each would play all; allowed: "
                       "--shard auto, and then one call without",
                       shard_unsaid());
    if (shard->from[0] != '\0')
        (void)fprintf(stderr, "tacit compare: share %u of %u, as %s says\n", shard->index + 1,
                      shard->count, shard->from);
}

static int compare_command(const struct command *command, int argc, char **argv)
{
    struct request *const request = calloc(1, sizeof *request);
    struct comparison comparison = {.count = 0};
    if (request == NULL)
        return EXIT_FAILED;
    command_parse(command, request, argc, argv);
    announce(command, &request->shard);
    int const code = compare(request, &comparison);
    free_comparison(&comparison);
    free_request(request);
    return code;
}

static const struct argp_option options[] = {
    {"over", 'O', "KEY=V1,V2,...", 0,
     "Run with each of these values; KEY==: what the file has; several make a grid", 0},
    {"set", 'S', "KEY=VALUE", 0, "Overrule a key of the files, like privacy.epsilon=0.5", 0},
    {"runs", 'r', "N", 0, "Number of runs: short for --set runs=N", 0},
    {"seed", 's', "S", 0, "Seed: short for --set seed=S", 0},
    {"threads", 't', "N", 0, "Threads to spread the work over (default: one a processor)", 0},
    {"out", 'o', "DIR", 0,
     "Write results.json, comparison.csv, curves.csv, figures, report.html; what is finished is "
     "kept there, and the same call goes on after an interruption",
     0},
    {"shard", 'D', "I/N|auto", 0,
     "Play share I of N into --out, for the same call without --shard to put together; auto: as "
     "Slurm, Open MPI or Kubernetes say (auto/N where they do not say N)",
     0},
    {"finish", 'E', NULL, 0, "Play here what shares have not finished", 0},
    {"json", 'j', NULL, 0, "Print one JSON object instead of a table", 0},
    {"quiet", 'q', NULL, 0, "No progress on the terminal", 0},
    COMMAND_LAST_OPTIONS};

const struct command command_compare = {
    .name = "compare",
    .summary = "run several files, or one over a grid of settings, beside each other",
    .options = options,
    .operands = "FILE...",
    .help = "Run every FILE with every combination of the values of --over, and print the results "
            "beside each other. Settings that cannot run say why, and the others go on. Several "
            "machines play --shard, each its own, and end with the results of one.",
    .parse = parse,
    .run = compare_command,
};
