/* tacit train: what a site of a training federation runs on its own data, unless it brings its own
 * program. It knows the directory that it is given (docs/training.md), and nothing of the network.
 */
#include "commands.h"
#include "tacit/data.h"
#include "tacit/learn.h"
#include "tacit/report.h"
#include <errno.h>
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NUMBERS_MAX 16777216u
#define PATH_BYTES 4096u

struct request {
    const char *directory;
    const char *examined; /* NULL: train */
    const char *data;
    struct tacit_model model;
    enum tacit_optimizer_kind optimizer;
    uint32_t batch;
    double rate;
    uint64_t seed;
};

/* A site's rows: a label, then the inputs. */
struct rows {
    float *inputs;
    uint8_t *labels;
    uint32_t count;
    uint32_t width;
};

struct lesson {
    struct request request;
    struct rows rows;
    uint32_t round;
    uint32_t batches;
    float *start;   /* the model of the round */
    float *moments; /* 2 d */
    struct tacit_learner learner;
};

/* ---- Files ----------------------------------------------------------------------------------- */

static int fail(const char *path, const char *what)
{
    (void)fprintf(stderr, "tacit train: %s: %s\n", path, what);
    return EXIT_FAILED;
}

static bool read_numbers(const char *path, float *numbers, uint64_t count)
{
    FILE *const in = fopen(path, "rb");
    if (in == NULL)
        return false;
    bool const is_whole = fread(numbers, sizeof *numbers, count, in) == count && fgetc(in) == EOF;
    (void)fclose(in);
    return is_whole;
}

/* Under another name first: who looks for it finds all of it or nothing. */
static bool write_numbers(const char *path, const float *numbers, uint64_t count)
{
    char other[PATH_BYTES + 32];
    (void)snprintf(other, sizeof other, "%s.new", path);
    FILE *const out = fopen(other, "wb");
    if (out == NULL)
        return false;
    bool is_good = fwrite(numbers, sizeof *numbers, count, out) == count;
    is_good = fclose(out) == 0 && is_good;
    return is_good && rename(other, path) == 0;
}

/* False: no number that a float holds. */
static bool parse_field(const char *text, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && fabs(*value) <= (double)FLT_MAX;
}

/* False: a label that is no class, or a field that is no number. */
static bool parse_row(const struct tacit_table *table, uint32_t row, uint32_t classes,
                      struct rows *rows)
{
    double value;
    char *const *const fields = table->fields + (size_t)row * table->column_count;
    if (!parse_field(fields[0], &value) || !(value >= 0 && value < classes) || value > floor(value))
        return false;
    rows->labels[row] = (uint8_t)value;
    for (uint32_t i = 0; i < rows->width; i++) {
        if (!parse_field(fields[i + 1], &value))
            return false;
        rows->inputs[(size_t)row * rows->width + i] = (float)value;
    }
    return true;
}

static int read_rows(struct lesson *lesson)
{
    struct tacit_table table;
    struct tacit_error error = {""};
    struct rows *const rows = &lesson->rows;
    char line[80];
    if (tacit_table_read(&table, lesson->request.data, &error) != TACIT_OK)
        return command_report("train", TACIT_INVALID, &error);
    int code = table.column_count < 2 || table.row_count < 1
                   ? fail(lesson->request.data, "a label and inputs are expected in each row")
                   : EXIT_DONE;
    rows->count = table.row_count;
    rows->width = code == EXIT_DONE ? table.column_count - 1 : 0;
    rows->inputs = calloc((size_t)rows->count * rows->width + 1, sizeof *rows->inputs);
    rows->labels = calloc(rows->count + (size_t)1, 1);
    if (rows->inputs == NULL || rows->labels == NULL)
        code = fail(lesson->request.data, "out of memory");
    for (uint32_t row = 0; row < rows->count && code == EXIT_DONE; row++) {
        if (parse_row(&table, row, lesson->request.model.classes, rows))
            continue;
        (void)snprintf(line, sizeof line,
                       "line %u: a label (a whole number below the classes), and numbers",
                       table.lines[row]);
        code = fail(lesson->request.data, line);
    }
    tacit_table_free(&table);
    return code;
}

/* False: it is not that of this model, or damaged. */
static bool read_round(struct lesson *lesson)
{
    char path[PATH_BYTES + 16];
    (void)snprintf(path, sizeof path, "%s/round.json", lesson->request.directory);
    json_t *const round = json_load_file(path, 0, NULL);
    json_int_t const numbers = json_integer_value(json_object_get(round, "parameters"));
    json_int_t const number = json_integer_value(json_object_get(round, "round"));
    json_int_t const batches = json_integer_value(json_object_get(round, "batches"));
    json_decref(round);
    if (numbers < 0 || (uint64_t)numbers != lesson->learner.count || number < 1 || batches < 1 ||
        batches > 1000000)
        return false;
    lesson->round = (uint32_t)number;
    lesson->batches = (uint32_t)batches;
    return true;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void free_lesson(struct lesson *lesson)
{
    tacit_learner_free(&lesson->learner);
    free(lesson->rows.inputs);
    free(lesson->rows.labels);
    free(lesson->start);
    free(lesson->moments);
}

/* Reads the rows and makes room for all that follows. Result: the exit code. */
static int prepare(struct lesson *lesson)
{
    struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX];
    struct request *const request = &lesson->request;
    uint64_t numbers;
    int const code = read_rows(lesson);
    if (code != EXIT_DONE)
        return code;
    if (request->batch > lesson->rows.count)
        request->batch = lesson->rows.count;
    request->model.channels = request->model.height = 1;
    request->model.width = lesson->rows.width;
    if (tacit_model_layers(&request->model, layers, &numbers) == 0 || numbers > NUMBERS_MAX)
        return fail(request->data, "too many inputs for this model");
    lesson->start = calloc(numbers, sizeof(float));
    lesson->moments = calloc(2 * numbers, sizeof(float));
    if (lesson->start == NULL || lesson->moments == NULL ||
        tacit_learner_init(&lesson->learner, &request->model, request->batch, lesson->rows.count) !=
            TACIT_OK)
        return fail(request->data, "out of memory");
    return EXIT_DONE;
}

/* ---- Training -------------------------------------------------------------------------------- */

/* Copies these places of the order into the learner. */
static void load_batch(struct lesson *lesson, uint32_t at, uint32_t count)
{
    struct rows const *const rows = &lesson->rows;
    for (uint32_t i = 0; i < count; i++) {
        size_t const row = lesson->learner.order[at + i];
        memcpy(lesson->learner.inputs + (size_t)i * rows->width, rows->inputs + row * rows->width,
               rows->width * sizeof(float));
        lesson->learner.labels[i] = rows->labels[row];
    }
}

/* A public number of batches, whatever the data: passes over the rows in ever new orders. */
static enum tacit_status train(struct lesson *lesson, struct tacit_optimizer *optimizer)
{
    struct request const *const request = &lesson->request;
    struct tacit_rng rng =
        tacit_rng_stream(request->seed, lesson->round, TACIT_STREAM_COMMON, TACIT_PURPOSE_REWARD);
    enum tacit_status status = TACIT_OK;
    uint32_t at = lesson->rows.count;
    for (uint32_t i = 0; i < lesson->rows.count; i++)
        lesson->learner.order[i] = i;
    for (uint32_t i = 0; i < lesson->batches && status == TACIT_OK; i++, at += request->batch) {
        if (at + request->batch > lesson->rows.count) {
            tacit_rng_shuffle(&rng, lesson->rows.count, lesson->learner.order);
            at = 0;
        }
        load_batch(lesson, at, request->batch);
        status = tacit_learner_step(&lesson->learner, optimizer);
    }
    return status;
}

/* Leaves the update: what the model gained over the round's. */
static int train_round(struct lesson *lesson)
{
    char path[PATH_BYTES + 16];
    struct tacit_optimizer optimizer = {.kind = lesson->request.optimizer,
                                        .rate = lesson->request.rate,
                                        .first = lesson->moments,
                                        .second = lesson->moments + lesson->learner.count};
    if (!read_round(lesson))
        return fail(lesson->request.directory, "round.json is not that of this model");
    (void)snprintf(path, sizeof path, "%s/model.f32", lesson->request.directory);
    if (!read_numbers(path, lesson->start, lesson->learner.count))
        return fail(path, "it is not there, or of another size");
    memcpy(lesson->learner.model, lesson->start, lesson->learner.count * sizeof(float));
    if (train(lesson, &optimizer) != TACIT_OK)
        return fail(path, "out of memory");
    for (uint64_t i = 0; i < lesson->learner.count; i++)
        lesson->learner.model[i] -= lesson->start[i];
    (void)snprintf(path, sizeof path, "%s/update.f32", lesson->request.directory);
    return write_numbers(path, lesson->learner.model, lesson->learner.count)
               ? EXIT_DONE
               : fail(path, "cannot be written");
}

/* Accuracy and loss of a model on the rows, as JSON. */
static int examine(struct lesson *lesson)
{
    double sum = 0;
    uint32_t right = 0;
    if (!read_numbers(lesson->request.examined, lesson->learner.model, lesson->learner.count))
        return fail(lesson->request.examined, "it is not there, or of another size");
    for (uint32_t i = 0; i < lesson->rows.count; i++)
        lesson->learner.order[i] = i;
    for (uint32_t at = 0; at < lesson->rows.count; at += lesson->request.batch) {
        uint32_t const left = lesson->rows.count - at;
        uint32_t const count = left < lesson->request.batch ? left : lesson->request.batch;
        double loss;
        uint32_t hits;
        load_batch(lesson, at, count);
        if (tacit_learn_network_evaluate(lesson->learner.network, lesson->learner.model,
                                         lesson->learner.inputs, lesson->learner.labels, count,
                                         &loss, &hits) != TACIT_OK)
            return fail(lesson->request.examined, "out of memory");
        sum += loss;
        right += hits;
    }
    tacit_report_print_json(stdout, "{\"rows\": %u, \"accuracy\": %.6g, \"loss\": %.6g}\n",
                            lesson->rows.count, (double)right / lesson->rows.count,
                            sum / lesson->rows.count);
    return EXIT_DONE;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void parse_model(const struct command *command, const char *word, struct request *request)
{
    if (strcmp(word, "logistic") == 0)
        request->model.kind = TACIT_MODEL_LOGISTIC;
    else if (strcmp(word, "mlp") == 0)
        request->model.kind = TACIT_MODEL_MLP;
    else
        command_refuse(command, "--model: '%s' is not allowed; allowed: logistic, mlp", word);
}

static void parse_optimizer(const struct command *command, const char *word,
                            struct request *request)
{
    if (strcmp(word, "sgd") == 0)
        request->optimizer = TACIT_OPTIMIZER_SGD;
    else if (strcmp(word, "adam") == 0)
        request->optimizer = TACIT_OPTIMIZER_ADAM;
    else
        command_refuse(command, "--optimizer: '%s' is not allowed; allowed: sgd, adam", word);
}

static void parse(const struct command *command, void *into, int key, char *value)
{
    struct request *const request = into;
    switch (key) {
    case 'd':
        request->data = value;
        break;
    case 'm':
        parse_model(command, value, request);
        break;
    case 'o':
        parse_optimizer(command, value, request);
        break;
    case 'c':
        request->model.classes = command_number(command, "classes", value, 256);
        break;
    case 'b':
        request->batch = command_number(command, "batch", value, 4096);
        break;
    case 'r':
        if (!parse_field(value, &request->rate) || !(request->rate > 0))
            command_refuse(
                command,
                "--rate: '%s' is not allowed; allowed: a number above 0 that a float holds", value);
        break;
    case 'x':
        request->examined = value;
        break;
    case COMMAND_OPERAND:
        if (request->directory != NULL)
            command_refuse_usage(command, "one directory is needed and nothing else");
        request->directory = value;
        break;
    default:
        break;
    }
}

static const struct argp_option options[] = {
    {"data", 'd', "FILE", 0, "CSV: a label from 0, then the inputs; no names in the first row", 0},
    {"model", 'm', "WORD", 0, "logistic (default) or mlp", 0},
    {"classes", 'c', "N", 0, "Number of labels (default 2)", 0},
    {"optimizer", 'o', "WORD", 0, "sgd (default) or adam, anew each round", 0},
    {"rate", 'r', "X", 0, "Step size (default 0.1)", 0},
    {"batch", 'b', "N", 0, "Rows in a batch (default 20)", 0},
    {"examine", 'x', "MODEL", 0, "Say how good a model.f32 is on the data, instead", 0},
    COMMAND_LAST_OPTIONS};

static int train_command(const struct command *command, int argc, char **argv)
{
    struct lesson lesson = {.request = {.model = {.kind = TACIT_MODEL_LOGISTIC, .classes = 2},
                                        .batch = 20,
                                        .rate = 0.1,
                                        .seed = 1}};
    command_parse(command, &lesson.request, argc, argv);
    if (!tacit_learn_is_here())
        command_refuse(command, "this program was built without networks, as the Python package's "
                                "is; allowed: that of a build from source, or of the packages");
    if (lesson.request.data == NULL)
        command_refuse_usage(command, "--data is missing");
    if ((lesson.request.directory == NULL) == (lesson.request.examined == NULL))
        command_refuse_usage(command, "either a directory or --examine is needed");
    int code = prepare(&lesson);
    if (code == EXIT_DONE)
        code = lesson.request.examined != NULL ? examine(&lesson) : train_round(&lesson);
    free_lesson(&lesson);
    return code;
}

const struct command command_train = {
    .name = "train",
    .summary = "train a site's share of a model: for agents of a training federation",
    .options = options,
    .operands = "DIRECTORY\n--examine MODEL",
    .help = "Reads round.json and model.f32 in DIRECTORY, trains on the site's data, and leaves "
            "update.f32 there.\vAn agent of a training federation runs it, unless its file names "
            "another command.",
    .parse = parse,
    .run = train_command,
};
