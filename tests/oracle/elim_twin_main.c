/* Runs the naive twin of the epoch elimination and prints one JSON line: means and standard errors.
 * For scripts, and for benchmarks as the plain per-pull twin. Not an example of a command line. */
#include "elim_twin.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE_BYTES_MAX (1u << 20)

struct options {
    struct twin_config config;
    const char *means_path;
    uint32_t runs;
    bool trace; /* also print the epochs and the eliminations of the last run */
};

static const char usage[] =
    "usage: elim_twin --means FILE [--agents M] [--arms K] [--horizon T] [--eps E|inf] [--p P]\n"
    "                 [--rounds R|none] [--gap D] [--cost C] [--runs N] [--seed S]\n"
    "                 [--constant] [--sound] [--trace]\n"
    "FILE: one line of K means for all agents, or M lines; commas or blanks; # comments\n";

static _Noreturn void die(const char *what, const char *which)
{
    fprintf(stderr, "elim_twin: %s: %s\n%s", which, what, usage);
    exit(2);
}

/* ---- Options -------------------------------------------------------------------------------- */

static double number(const char *name, const char *text)
{
    char *end = NULL;
    double const value = text == NULL ? NAN : strtod(text, &end);
    if (isnan(value) || end == text || *end != '\0')
        die("a number is needed", name);
    return value;
}

static uint64_t whole(const char *name, const char *text, uint64_t max)
{
    double const value = number(name, text);
    if (!(value >= 0.0 && value <= (double)max) || floor(value) < value)
        die("a whole number in range is needed", name);
    /* 1e6 is welcome; plain digits are read as such, so that long seeds stay exact. */
    return strspn(text, "0123456789") == strlen(text) ? strtoull(text, NULL, 10) : (uint64_t)value;
}

static bool set_flag(struct options *options, const char *name)
{
    if (strcmp(name, "--constant") == 0)
        options->config.constant_rewards = true;
    else if (strcmp(name, "--sound") == 0)
        options->config.sound = true;
    else if (strcmp(name, "--trace") == 0)
        options->trace = true;
    else
        return false;
    return true;
}

static void set_value(struct options *options, const char *name, const char *text)
{
    struct twin_config *const config = &options->config;
    if (strcmp(name, "--means") == 0 && text != NULL)
        options->means_path = text;
    else if (strcmp(name, "--agents") == 0)
        config->agents = (uint32_t)whole(name, text, UINT32_MAX);
    else if (strcmp(name, "--arms") == 0)
        config->arms = (uint32_t)whole(name, text, UINT32_MAX);
    else if (strcmp(name, "--horizon") == 0)
        config->horizon = whole(name, text, TWIN_HORIZON_MAX);
    else if (strcmp(name, "--eps") == 0)
        config->epsilon = number(name, text);
    else if (strcmp(name, "--p") == 0)
        config->participation = number(name, text);
    else if (strcmp(name, "--rounds") == 0)
        config->rounds =
            text != NULL && strcmp(text, "none") == 0 ? 0 : (uint32_t)whole(name, text, UINT32_MAX);
    else if (strcmp(name, "--gap") == 0)
        config->gap = number(name, text);
    else if (strcmp(name, "--cost") == 0)
        config->cost_server_link = number(name, text);
    else if (strcmp(name, "--runs") == 0)
        options->runs = (uint32_t)whole(name, text, UINT32_MAX);
    else if (strcmp(name, "--seed") == 0)
        config->seed = whole(name, text, UINT64_MAX / 2);
    else
        die("unknown option", name);
}

static struct options read_options(int argc, char **argv)
{
    struct options options = {.runs = 1,
                              .config = {.agents = 50,
                                         .horizon = 1000000,
                                         .epsilon = 1.0,
                                         .participation = 1.0,
                                         .cost_server_link = 25.0,
                                         .seed = 1}};
    for (int i = 1; i < argc; i++) {
        if (set_flag(&options, argv[i]))
            continue;
        set_value(&options, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
        i++;
    }
    if (options.means_path == NULL)
        die("is needed", "--means");
    if (options.runs == 0)
        die("at least 1", "--runs");
    return options;
}

/* ---- The file of means ---------------------------------------------------------------------- */

struct table {
    double *cells;
    size_t count;
    size_t room;
    uint32_t rows;
    uint32_t columns;
};

static void table_add(struct table *table, double value)
{
    if (table->count == table->room) {
        table->room = table->room == 0 ? 1024 : 2 * table->room;
        double *const more = realloc(table->cells, table->room * sizeof *more);
        if (more == NULL)
            die("out of memory", "--means");
        table->cells = more;
    }
    table->cells[table->count++] = value;
}

static void table_add_line(struct table *table, char *line, const char *path)
{
    size_t const before = table->count;
    line[strcspn(line, "#\r\n")] = '\0';
    for (char *word = strtok(line, ", \t"); word != NULL; word = strtok(NULL, ", \t"))
        table_add(table, number(path, word));
    if (table->count == before)
        return;
    uint32_t const columns = (uint32_t)(table->count - before);
    if (table->rows > 0 && columns != table->columns)
        die("lines of different length", path);
    table->columns = columns;
    table->rows++;
}

static struct table read_means(const char *path)
{
    struct table table = {0};
    char *const line = malloc(LINE_BYTES_MAX);
    FILE *const file = fopen(path, "r");
    if (file == NULL || line == NULL)
        die("cannot be read", path);
    while (fgets(line, (int)LINE_BYTES_MAX, file) != NULL)
        table_add_line(&table, line, path);
    fclose(file);
    free(line);
    if (table.rows == 0)
        die("holds no means", path);
    return table;
}

/* ---- Results -------------------------------------------------------------------------------- */

enum metric {
    REGRET,
    ROUNDS,
    COST,
    LINKS,
    MESSAGES,
    MESSAGES_PER_RECEIVER,
    SCALARS,
    SINGLE_ARM,
    BEST_ARM,
    METRICS
};

static const char *const metric_name[METRICS] = {"regret",
                                                 "rounds",
                                                 "cost",
                                                 "links",
                                                 "messages",
                                                 "messages_per_receiver",
                                                 "scalars",
                                                 "single_arm_fraction",
                                                 "best_arm_fraction"};

struct tally {
    double mean;
    double squares; /* sum of squared deviations (Welford) */
};

static void tally_add(struct tally *tally, double value, uint32_t runs_so_far)
{
    double const away = value - tally->mean;
    tally->mean += away / (double)runs_so_far;
    tally->squares += away * (value - tally->mean);
}

static void tally_result(struct tally *tally, const struct twin_result *result, uint32_t run)
{
    double value[METRICS];
    value[REGRET] = result->regret;
    value[ROUNDS] = (double)result->rounds;
    value[COST] = result->cost;
    value[LINKS] = (double)result->links;
    value[MESSAGES] = (double)result->messages;
    value[MESSAGES_PER_RECEIVER] = (double)result->messages_per_receiver;
    value[SCALARS] = (double)result->scalars;
    value[SINGLE_ARM] = result->final_arm_count == 1 ? 1.0 : 0.0;
    value[BEST_ARM] = result->final_arm_is_best ? 1.0 : 0.0;
    for (int m = 0; m < METRICS; m++)
        tally_add(&tally[m], value[m], run + 1);
}

static void print_tally(const struct tally *tally, uint32_t runs)
{
    for (int m = 0; m < METRICS; m++) {
        double const n = (double)runs;
        double const error = runs > 1 ? sqrt(tally[m].squares / (n - 1.0) / n) : 0.0;
        printf(", \"%s\": {\"mean\": %.17g, \"se\": %.17g}", metric_name[m], tally[m].mean, error);
    }
}

static void print_trace(const struct twin_result *result, uint32_t arms)
{
    printf(", \"final_arm\": %u, \"final_arm_count\": %u, \"epochs\": %u, \"trace\": [",
           result->final_arm, result->final_arm_count, result->epochs);
    for (uint32_t i = 0; i < result->trace_count; i++) {
        const struct twin_epoch *const epoch = &result->trace[i];
        printf("%s{\"S\": %llu, \"n\": %llu, \"C\": %.17g, \"active_before\": %u, "
               "\"active_after\": %u, \"collected\": %s}",
               i == 0 ? "" : ", ", (unsigned long long)epoch->s, (unsigned long long)epoch->n,
               epoch->c, epoch->active_before, epoch->active_after,
               epoch->collected ? "true" : "false");
    }
    printf("], \"eliminated_epoch\": [");
    for (uint32_t k = 0; k < arms; k++)
        printf("%s%u", k == 0 ? "" : ", ", result->eliminated_epoch[k]);
    printf("]");
}

int main(int argc, char **argv)
{
    struct options options = read_options(argc, argv);
    struct twin_config *const config = &options.config;
    struct table table = read_means(options.means_path);
    if (config->arms != 0 && config->arms != table.columns)
        die("differs from the file of means", "--arms");
    config->arms = table.columns;
    config->means = table.cells;
    config->mean_rows = table.rows;

    struct tally tally[METRICS] = {{0}};
    struct twin_result result = {.eliminated_epoch = calloc(config->arms, sizeof(uint32_t))};
    uint64_t const seed = config->seed;
    clock_t const start = clock();
    for (uint32_t run = 0; run < options.runs; run++) {
        config->seed = twin_run_seed(seed, run);
        if (result.eliminated_epoch == NULL || !twin_run(config, &result))
            die("a parameter is out of range (or memory ran out)", "run");
        tally_result(tally, &result, run);
    }
    double const seconds = (double)(clock() - start) / (double)CLOCKS_PER_SEC;
    printf("{\"runs\": %u, \"seconds_per_run\": %.4g", options.runs, seconds / options.runs);
    print_tally(tally, options.runs);
    if (options.trace)
        print_trace(&result, config->arms);
    printf("}\n");
    free(result.eliminated_epoch);
    free(table.cells);
    return 0;
}
