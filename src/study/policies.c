/* Policies with contexts, valued on logged rows: from fields to coordinates and choices, and the
 * models of the rewards. What is then computed of them is off_policy.h's. */
#include "policies.h"
#include "tacit/linalg.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDS TACIT_OFF_POLICY_FOLDS
#define DIMENSION_MAX 500u
#define CHOICES_MAX ((size_t)1 << 27)
#define PENALTY 1.0
#define TOLERANCE 1e-6 /* of a gradient's length */
#define SUM_SLACK 1e-6 /* of probabilities that add up to 1 */
#define MODELS 2u

/* A column of contexts. */
struct column {
    const char **words; /* its different ones, sorted: a coordinate each; NULL: it has numbers */
    uint32_t word_count;
    uint32_t at; /* its first coordinate */
};

struct work {
    const struct tacit_log *log;
    const struct tacit_config_log *config;
    uint64_t seed;
    struct tacit_error *error;
    uint32_t dimension;
    size_t stride;
    struct column *columns;
    double *contexts;          /* n vectors, a stride each */
    double *models[2][MODELS]; /* n x K: from all other folds, from those before; by enum
                                  tacit_config_model. NULL: not asked for */
    double *choices;           /* n x K */
};

static const char *field_of(const struct work *work, uint32_t row, uint32_t column)
{
    return work->log->rows.fields[(size_t)row * work->log->rows.column_count + column];
}

/* Names file, line and column: TACIT_INVALID. */
__attribute__((format(printf, 4, 5))) static enum tacit_status
refuse(const struct work *work, uint32_t row, uint32_t column, const char *format, ...)
{
    char text[300];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    (void)snprintf(work->error->text, sizeof work->error->text, "%.200s:%u: column '%.60s': %s",
                   work->config->csv, work->log->rows.lines[row], work->config->columns[column],
                   text);
    return TACIT_INVALID;
}

/* ---- Contexts -------------------------------------------------------------------------------- */

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Its different words, sorted, which are the log's; the list is to be freed. */
static enum tacit_status list_words(const struct work *work, uint32_t column, const char ***words,
                                    uint32_t *count)
{
    uint32_t const n = work->log->row_count;
    *words = malloc(n * sizeof **words);
    *count = 0;
    if (*words == NULL)
        return TACIT_MEMORY;
    for (uint32_t row = 0; row < n; row++)
        (*words)[row] = field_of(work, row, column);
    qsort((void *)*words, n, sizeof **words, compare_texts);
    for (uint32_t row = 0; row < n; row++)
        if (*count == 0 || strcmp((*words)[*count - 1], (*words)[row]) != 0)
            (*words)[(*count)++] = (*words)[row];
    return TACIT_OK;
}

static bool is_blank(const char *field)
{
    return field[strspn(field, " \t")] == '\0';
}

/* All that stands there, and something does, is numbers. */
static bool is_of_numbers(const struct work *work, uint32_t column)
{
    bool has_number = false;
    for (uint32_t row = 0; row < work->log->row_count; row++) {
        double value;
        bool const is_number = tacit_log_number(&work->log->rows, row, column, &value);
        if (!is_number && !is_blank(field_of(work, row, column)))
            return false;
        has_number = has_number || is_number;
    }
    return has_number;
}

/* Coordinate `at` of each vector: the number, in deviations from its mean. */
static enum tacit_status put_numbers(struct work *work, uint32_t column)
{
    uint32_t const n = work->log->row_count;
    double *const first = work->contexts + work->columns[column].at;
    double mean = 0;
    double squares = 0;
    for (uint32_t row = 0; row < n; row++) {
        double *const value = &first[row * work->stride];
        if (!tacit_log_number(&work->log->rows, row, column, value))
            return refuse(
                work, row, column,
                "it is empty, and other rows have numbers; a context has one in each row");
        mean += *value / n;
    }
    for (uint32_t row = 0; row < n; row++) {
        double const distance = first[row * work->stride] - mean;
        squares += distance * distance / n;
    }
    double const scale = squares > 0 ? 1 / sqrt(squares) : 0;
    for (uint32_t row = 0; row < n; row++)
        first[row * work->stride] = (first[row * work->stride] - mean) * scale;
    return TACIT_OK;
}

/* A word's coordinate is 1, those of the other words stay 0. */
static void put_words(struct work *work, uint32_t column)
{
    struct column const *const own = &work->columns[column];
    for (uint32_t row = 0; row < work->log->row_count; row++) {
        const char *const field = field_of(work, row, column);
        const char **const found =
            bsearch(&field, own->words, own->word_count, sizeof *own->words, compare_texts);
        TACIT_ASSERT(found != NULL);
        work->contexts[row * work->stride + own->at + (size_t)(found - own->words)] = 1;
    }
}

/* Finds which columns have numbers, and so how long the vectors are. Their first coordinate is 1.
 */
static enum tacit_status classify_columns(struct work *work)
{
    work->dimension = 1;
    work->columns = calloc(work->config->context_count + (size_t)1, sizeof *work->columns);
    if (work->columns == NULL)
        return TACIT_MEMORY;
    for (uint32_t column = 0; column < work->config->context_count; column++) {
        struct column *const own = &work->columns[column];
        own->at = work->dimension;
        if (!is_of_numbers(work, column) &&
            list_words(work, column, &own->words, &own->word_count) != TACIT_OK)
            return TACIT_MEMORY;
        uint32_t const coordinates = own->words == NULL ? 1 : own->word_count;
        if (coordinates > DIMENSION_MAX - work->dimension)
            return refuse(work, 0, column,
                          "with its %u different words the contexts have more than %u coordinates",
                          own->word_count, DIMENSION_MAX);
        work->dimension += coordinates;
    }
    return TACIT_OK;
}

static enum tacit_status make_contexts(struct work *work)
{
    uint32_t const n = work->log->row_count;
    enum tacit_status status = classify_columns(work);
    if (status != TACIT_OK)
        return status;
    work->stride = TACIT_LINALG_STRIDE(work->dimension);
    work->contexts = calloc(n * work->stride, sizeof *work->contexts);
    if (work->contexts == NULL)
        return TACIT_MEMORY;
    for (uint32_t row = 0; row < n; row++)
        work->contexts[row * work->stride] = 1;
    for (uint32_t column = 0; column < work->config->context_count && status == TACIT_OK; column++)
        if (work->columns[column].words != NULL)
            put_words(work, column);
        else
            status = put_numbers(work, column);
    return status;
}

/* ---- Models ---------------------------------------------------------------------------------- */

/* Guesses one arm for the rows of one fold, from the rows of the others, or of those before it. */
static void guess_fold(const struct work *work, const struct tacit_linalg_mean *mean, uint32_t arm,
                       uint32_t fold, bool is_forward, struct tacit_linalg_samples samples,
                       double *theta, double *guesses)
{
    struct tacit_log const *const log = work->log;
    enum tacit_linalg_path const path = tacit_linalg_fastest();
    size_t count = 0;
    uint32_t others = 0;
    double sum = 0;
    samples.is_single = true;
    memset(samples.memory, 0,
           TACIT_LINALG_SAMPLES(work->dimension, log->row_count) * sizeof *samples.memory);
    memset(theta, 0, work->stride * sizeof *theta);
    for (uint32_t row = 0; row < log->row_count; row++) {
        if (is_forward ? row % FOLDS >= fold : row % FOLDS == fold)
            continue;
        others++;
        sum += log->rows.rewards[row];
        if (log->rows.arms[row] == arm)
            tacit_linalg_sample_put(&samples, count++, work->contexts + row * work->stride,
                                    log->rows.rewards[row]);
    }
    if (count > 0)
        (void)tacit_linalg_newton(path, mean, &samples, count, PENALTY, TOLERANCE, theta);
    for (uint32_t row = fold; row < log->row_count; row += FOLDS) {
        double const *const context = work->contexts + row * work->stride;
        double const z = tacit_linalg_dot(path, work->dimension, theta, context);
        guesses[(size_t)row * log->arm_count + arm] = count > 0    ? tacit_linalg_mean(mean, z)
                                                      : others > 0 ? sum / others
                                                                   : 0;
    }
}

/* Fills work->models[is_forward][model], unless it is filled already. */
static enum tacit_status guess(struct work *work, int model, bool is_forward)
{
    struct tacit_log const *const log = work->log;
    struct tacit_linalg_mean const mean = {
        .link = model == TACIT_CONFIG_LOGISTIC ? TACIT_LINALG_LOGISTIC : TACIT_LINALG_IDENTITY};
    if (work->models[is_forward][model] != NULL)
        return TACIT_OK;
    if (model == TACIT_CONFIG_LOGISTIC && !log->binary) {
        (void)snprintf(work->error->text, sizeof work->error->text,
                       "%.200s: a logistic model guesses rewards that are 0 or 1, and others are "
                       "here; allowed: ridge",
                       work->config->csv);
        return TACIT_INVALID;
    }
    double *const memory =
        malloc(TACIT_LINALG_SAMPLES(work->dimension, log->row_count) * sizeof *memory);
    double *const theta = malloc(work->stride * sizeof *theta);
    double *const guesses = malloc((size_t)log->row_count * log->arm_count * sizeof *guesses);
    work->models[is_forward][model] = guesses;
    bool const has_memory = memory != NULL && theta != NULL && guesses != NULL;
    struct tacit_linalg_samples const samples = {memory, work->dimension, true};
    for (uint32_t arm = 0; has_memory && arm < log->arm_count; arm++)
        for (uint32_t fold = 0; fold < FOLDS; fold++)
            guess_fold(work, &mean, arm, fold, is_forward, samples, theta, guesses);
    free(memory);
    free(theta);
    return has_memory ? TACIT_OK : TACIT_MEMORY;
}

/* ---- Choices --------------------------------------------------------------------------------- */

/* The column names the arm that the policy takes. */
static enum tacit_status put_chosen(struct work *work, uint32_t column)
{
    struct tacit_log const *const log = work->log;
    for (uint32_t row = 0; row < log->row_count; row++) {
        const char *const field = field_of(work, row, column);
        uint32_t arm = 0;
        while (arm < log->arm_count && strcmp(log->arm_names[arm], field) != 0)
            arm++;
        if (arm == log->arm_count)
            return refuse(work, row, column,
                          "'%.60s' is no arm of the log; allowed: those of column '%.60s', like "
                          "'%.60s'",
                          field, work->config->arm_column, log->arm_names[0]);
        work->choices[(size_t)row * log->arm_count + arm] = 1;
    }
    return TACIT_OK;
}

/* A column an arm, from `column` on. */
static enum tacit_status put_probabilities(struct work *work, uint32_t column)
{
    struct tacit_log const *const log = work->log;
    for (uint32_t row = 0; row < log->row_count; row++) {
        double *const own = work->choices + (size_t)row * log->arm_count;
        double sum = 0;
        for (uint32_t arm = 0; arm < log->arm_count; arm++) {
            bool const is_number = tacit_log_number(&log->rows, row, column + arm, &own[arm]);
            if (!is_number || !(own[arm] >= 0 && own[arm] <= 1))
                return refuse(work, row, column + arm, "'%.60s' is no probability; allowed: 0 to 1",
                              field_of(work, row, column + arm));
            sum += own[arm];
        }
        if (fabs(sum - 1) > SUM_SLACK)
            return refuse(work, row, column,
                          "this probability and those of the other arms add up to %.9g; allowed: 1",
                          sum);
    }
    return TACIT_OK;
}

/* The arm with the best guess from the folds before. */
static enum tacit_status put_best(struct work *work, int model)
{
    struct tacit_log const *const log = work->log;
    enum tacit_status const status = guess(work, model, true);
    double const *const guesses = work->models[true][model];
    for (uint32_t row = 0; status == TACIT_OK && row < log->row_count; row++) {
        size_t const at = (size_t)row * log->arm_count;
        uint32_t best = 0;
        for (uint32_t arm = 1; arm < log->arm_count; arm++)
            if (guesses[at + arm] > guesses[at + best])
                best = arm;
        work->choices[at + best] = 1;
    }
    return status;
}

/* Fills work->choices: what the policy does on each row, by probability of each arm. `column`: the
 * first of the policy's own. */
static enum tacit_status choose(struct work *work, const struct tacit_config_policy *policy,
                                uint32_t column)
{
    struct tacit_log const *const log = work->log;
    memset(work->choices, 0, (size_t)log->row_count * log->arm_count * sizeof *work->choices);
    if (policy->is_trained && log->row_count >= FOLDS)
        return put_best(work, policy->model);
    if (policy->chosen != NULL)
        return put_chosen(work, column);
    if (policy->probability_count == log->arm_count)
        return put_probabilities(work, column);
    if (policy->is_trained) {
        (void)snprintf(work->error->text, sizeof work->error->text,
                       "%.200s: policy '%.60s' is to be trained on %u rows; allowed: %u or more",
                       work->config->csv, policy->name, log->row_count, FOLDS);
        return TACIT_INVALID;
    }
    (void)snprintf(work->error->text, sizeof work->error->text,
                   "%.200s: policy '%.60s' has %u columns of probabilities, and there are %u arms; "
                   "allowed: a column an arm, in their order ('%.60s' first)",
                   work->config->csv, policy->name, policy->probability_count, log->arm_count,
                   log->arm_names[0]);
    return TACIT_INVALID;
}

/* The value of what is in work->choices. */
static enum tacit_status value(const struct work *work, const struct tacit_off_policy_log *rows,
                               const struct tacit_config_policy *policy,
                               struct tacit_off_policy_policy *result)
{
    struct tacit_config_log const *const config = work->config;
    double const *const model = work->models[false][config->model];
    uint32_t const first_fold = policy->is_trained ? 1 : 0;
    tacit_off_policy_policy(rows, work->choices, model, config->switch_at, first_fold, result);
    if (!config->is_bootstrapped)
        return TACIT_OK;
    struct tacit_rng rng =
        tacit_rng_stream(work->seed, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_RESAMPLE);
    double *const memory = malloc((size_t)rows->row_count * 5 * sizeof *memory);
    if (memory == NULL)
        return TACIT_MEMORY;
    tacit_off_policy_bootstrap(rows, work->choices, model, config->switch_at, first_fold, &rng,
                               memory, result);
    free(memory);
    return TACIT_OK;
}

static void free_work(struct work *work)
{
    for (uint32_t column = 0; work->columns != NULL && column < work->config->context_count;
         column++)
        free((void *)work->columns[column].words);
    for (uint32_t model = 0; model < MODELS; model++) {
        free(work->models[false][model]);
        free(work->models[true][model]);
    }
    free(work->columns);
    free(work->contexts);
    free(work->choices);
}

/* ---- Public ---------------------------------------------------------------------------------- */

enum tacit_status study_policies_value(const struct tacit_log *log,
                                       const struct tacit_config_log *config, uint64_t seed,
                                       struct tacit_off_policy_policy *results,
                                       struct tacit_error *error)
{
    struct work work = {.log = log, .config = config, .seed = seed, .error = error};
    struct tacit_off_policy_log const rows = tacit_log_off_policy(log);
    size_t const cells = (size_t)log->row_count * log->arm_count;
    uint32_t column = config->context_count;
    TACIT_ASSERT(log->rows.propensities != NULL && log->rows.column_count == config->column_count);
    if (cells > CHOICES_MAX) {
        (void)snprintf(error->text, sizeof error->text,
                       "%.200s: more than %zu rows times arms are too many to value policies on",
                       config->csv, CHOICES_MAX);
        return TACIT_INVALID;
    }
    work.choices = malloc(cells * sizeof *work.choices);
    enum tacit_status status = work.choices == NULL ? TACIT_MEMORY : make_contexts(&work);
    if (status == TACIT_OK)
        status = guess(&work, config->model, false);
    for (uint32_t i = 0; i < config->policy_count && status == TACIT_OK; i++) {
        status = choose(&work, &config->policies[i], column);
        if (status == TACIT_OK)
            status = value(&work, &rows, &config->policies[i], &results[i]);
        column += config->policies[i].probability_count + (config->policies[i].chosen != NULL);
    }
    free_work(&work);
    return status;
}
