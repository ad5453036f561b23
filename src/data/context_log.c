/* Logs of decisions between vectors: who chose what, how it was liked, and what items are like. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"
#include "tacit/linalg.h"

#define NOBODY UINT32_MAX
#define NAME_BYTES 1024u
#define ROUNDING 1e-9   /* of a squared length, which the cores allow */
#define STILL 1e-24     /* variance of a coordinate that does not vary, but for rounding */
#define NORM_SLACK 1e-6 /* how much longer than 1 a vector may be before it is refused */

/* ---- Finding tables ---- */

static enum tacit_status fail_nowhere(const char *name, struct tacit_error *error)
{
    char directories[TACIT_PATH_BYTES];
    tacit_dataset_directories(directories);
    (void)snprintf(error->text, sizeof error->text,
                   "'%.120s' is neither beside this file nor in a data directory (%.150s)", name,
                   *directories == '\0' ? "TACIT_DATA names none" : directories);
    return TACIT_IO;
}

enum tacit_status tacit_table_find(struct tacit_table *table, const char *beside, const char *name,
                                   const struct tacit_dialect *dialect, struct tacit_error *error)
{
    char path[TACIT_PATH_BYTES];
    char archive[NAME_BYTES];
    const char *const inner = strstr(name, ".tar/");
    if (tacit_dataset_find(beside, name, path) == TACIT_OK)
        return tacit_table_read_dialect(table, path, dialect, error);
    if (inner == NULL || (size_t)(inner - name) + 5 > sizeof archive)
        return fail_nowhere(name, error);
    (void)snprintf(archive, sizeof archive, "%.*s", (int)(inner - name) + 4, name);
    if (tacit_dataset_find(beside, archive, path) != TACIT_OK)
        return fail_nowhere(archive, error);
    return data_table_read_member(table, path, inner + 5, dialect, error);
}

/* ---- A table under reading ---- */

struct source {
    const struct tacit_context_spec *spec;
    struct tacit_table table;
    char name[NAME_BYTES];
    struct tacit_error *error;
};

/* TACIT_OK: source->table is the caller's to free. */
static enum tacit_status open_source(struct source *source, const struct tacit_context_spec *spec,
                                     const char *name, struct tacit_error *error)
{
    *source = (struct source){.spec = spec, .error = error};
    bool const is_folder = spec->folder[0] != '\0';
    (void)snprintf(source->name, sizeof source->name, "%s%s%s", spec->folder, is_folder ? "/" : "",
                   name);
    return tacit_table_find(&source->table, spec->beside, source->name, &spec->dialect, error);
}

/* Row 0, the header, stands for the whole table here. */
static enum tacit_status fail(const struct source *source, uint32_t row, const char *text)
{
    return data_fail(source->error, TACIT_INVALID, source->name,
                     row == 0 ? 0 : source->table.lines[row], "%s", text);
}

static enum tacit_status find_column(const struct source *source, const char *name,
                                     uint32_t *column)
{
    *column = tacit_table_column(&source->table, name);
    if (*column != NOBODY)
        return TACIT_OK;
    return data_fail(source->error, TACIT_INVALID, source->name, 1, "there is no column '%s'",
                     data_shown_value(name).text);
}

static char *field(const struct source *source, uint32_t row, uint32_t column)
{
    return source->table.fields[(size_t)row * source->table.column_count + column];
}

static enum tacit_status number_at(const struct source *source, uint32_t row, uint32_t column,
                                   double *number)
{
    if (data_field_number(field(source, row, column), number))
        return TACIT_OK;
    return data_fail(source->error, TACIT_INVALID, source->name, source->table.lines[row],
                     "'%s' is not a finite number",
                     data_shown_value(field(source, row, column)).text);
}

/* ---- Decisions ---- */

/* A row of somebody who counts. */
struct decision {
    double time;
    double reward;
    uint32_t row;
    uint32_t agent; /* by activity, from 0 */
    uint32_t item;
};

/* What is being made. */
struct builder {
    const struct tacit_context_spec *spec;
    struct tacit_error *error;
    struct data_names agents;
    struct data_names items;
    struct decision *decisions;
    uint32_t decision_count;
    uint32_t *row_agents; /* by number of the name, of each row of the table */
    uint32_t *row_items;
    float *vectors;
    uint64_t *blank;  /* items without a direction, by their texts: they are never offered */
    uint32_t *owners; /* of the log: agents, chosen, rewards, liked */
    uint32_t *chosen;
    double *rewards;
    uint64_t *liked;
};

static enum tacit_status out_of_memory(const struct builder *builder)
{
    return data_fail_memory(builder->error, builder->spec->table);
}

/* Numbers of agent and item of every row. */
static enum tacit_status number_rows(struct builder *builder, const struct source *source)
{
    uint32_t const rows = source->table.row_count;
    uint32_t agent;
    uint32_t item;
    TACIT_TRY(find_column(source, builder->spec->agent, &agent));
    TACIT_TRY(find_column(source, builder->spec->item, &item));
    builder->row_agents = malloc((rows + (size_t)1) * sizeof *builder->row_agents);
    builder->row_items = malloc((rows + (size_t)1) * sizeof *builder->row_items);
    if (builder->row_agents == NULL || builder->row_items == NULL)
        return out_of_memory(builder);
    for (uint32_t row = 1; row < rows; row++) {
        char const *const who = field(source, row, agent);
        char const *const what = field(source, row, item);
        builder->row_agents[row] = data_names_add(&builder->agents, who, strlen(who));
        builder->row_items[row] = data_names_add(&builder->items, what, strlen(what));
        if (builder->row_agents[row] == NOBODY || builder->row_items[row] == NOBODY)
            return out_of_memory(builder);
    }
    return TACIT_OK;
}

/* An agent by its number of rows. */
struct activity {
    uint64_t rows;
    uint32_t agent;
};

static int compare_activity(const void *left, const void *right)
{
    struct activity const *const a = left;
    struct activity const *const b = right;
    if (a->rows != b->rows)
        return a->rows > b->rows ? -1 : 1;
    return a->agent < b->agent ? -1 : a->agent > b->agent ? 1 : 0;
}

/* rank[agent]: place among the most active ones, or NOBODY. */
static enum tacit_status rank_agents(const struct builder *builder, const struct source *source,
                                     uint32_t *rank)
{
    uint32_t const count = builder->agents.count;
    struct activity *const activities = calloc(count + (size_t)1, sizeof *activities);
    if (activities == NULL)
        return out_of_memory(builder);
    for (uint32_t i = 0; i < count; i++)
        activities[i].agent = i;
    for (uint32_t row = 1; row < source->table.row_count; row++)
        activities[builder->row_agents[row]].rows++;
    qsort(activities, count, sizeof *activities, compare_activity);
    for (uint32_t i = 0; i < count; i++)
        rank[activities[i].agent] = i < builder->spec->agent_count ? i : NOBODY;
    free(activities);
    return TACIT_OK;
}

static int compare_decisions(const void *left, const void *right)
{
    struct decision const *const a = left;
    struct decision const *const b = right;
    if (a->time < b->time || a->time > b->time)
        return a->time < b->time ? -1 : 1;
    return a->row < b->row ? -1 : 1;
}

/* The rows of those who count, in order. */
static enum tacit_status read_rows(struct builder *builder, const struct source *source,
                                   const uint32_t *rank)
{
    struct tacit_context_spec const *const spec = builder->spec;
    uint32_t value;
    uint32_t time = NOBODY;
    TACIT_TRY(find_column(source, spec->value, &value));
    if (spec->time != NULL)
        TACIT_TRY(find_column(source, spec->time, &time));
    builder->decisions = malloc((source->table.row_count + (size_t)1) * sizeof(struct decision));
    if (builder->decisions == NULL)
        return out_of_memory(builder);
    for (uint32_t row = 1; row < source->table.row_count; row++) {
        struct decision *const next = &builder->decisions[builder->decision_count];
        double number = 0;
        *next = (struct decision){.row = row, .item = builder->row_items[row]};
        next->agent = rank[builder->row_agents[row]];
        if (next->agent == NOBODY)
            continue;
        TACIT_TRY(number_at(source, row, value, &number));
        next->reward = !spec->has_above ? number : number > spec->above ? 1 : 0;
        if (time != NOBODY)
            TACIT_TRY(number_at(source, row, time, &next->time));
        builder->decision_count++;
    }
    qsort(builder->decisions, builder->decision_count, sizeof *builder->decisions,
          compare_decisions);
    return TACIT_OK;
}

static enum tacit_status read_decisions(struct builder *builder, struct tacit_context_data *data)
{
    struct tacit_context_spec const *const spec = builder->spec;
    struct source source;
    char text[120];
    TACIT_TRY(open_source(&source, spec, spec->table, builder->error));
    enum tacit_status status = number_rows(builder, &source);
    if (status == TACIT_OK && builder->agents.count < spec->agent_count) {
        (void)snprintf(text, sizeof text, "it has %u agents; allowed: up to so many",
                       builder->agents.count);
        status = fail(&source, 0, text);
    }
    uint32_t *const rank = calloc(builder->agents.count + (size_t)1, sizeof *rank);
    if (status == TACIT_OK)
        status = rank == NULL ? out_of_memory(builder) : rank_agents(builder, &source, rank);
    if (status == TACIT_OK)
        status = read_rows(builder, &source, rank);
    data->read_count = source.table.row_count - (source.table.row_count > 0 ? 1u : 0u);
    data->agents_seen = builder->agents.count;
    free(rank);
    tacit_table_free(&source.table);
    return status;
}

/* ---- What items are like: texts ---- */

/* The texts behind keys: texts[number of the key]. */
struct glossary {
    struct source source;
    struct data_names keys;
    char **texts;
};

static void close_glossary(struct glossary *glossary)
{
    data_names_free(&glossary->keys);
    free(glossary->texts);
    tacit_table_free(&glossary->source.table);
}

/* Whatever it returns, close_glossary frees what was read. */
static enum tacit_status read_glossary(const struct builder *builder,
                                       const struct tacit_context_text *text,
                                       struct glossary *glossary)
{
    struct source *const source = &glossary->source;
    uint32_t key;
    uint32_t column;
    TACIT_TRY(open_source(source, builder->spec, text->names, builder->error));
    TACIT_TRY(find_column(source, text->names_key, &key));
    TACIT_TRY(find_column(source, text->names_text, &column));
    glossary->texts = calloc(source->table.row_count + (size_t)1, sizeof *glossary->texts);
    for (uint32_t row = 1; row < source->table.row_count; row++) {
        char const *const name = field(source, row, key);
        uint32_t const number = data_names_add(&glossary->keys, name, strlen(name));
        if (glossary->texts == NULL || number == NOBODY)
            return out_of_memory(builder);
        glossary->texts[number] = field(source, row, column);
    }
    return TACIT_OK;
}

/* An item's words add up over its rows; items that nobody decided about are passed over. */
static enum tacit_status add_texts(const struct builder *builder, const struct source *source,
                                   const struct tacit_context_text *text,
                                   const struct glossary *glossary, struct data_words *words)
{
    uint32_t item;
    uint32_t column;
    TACIT_TRY(find_column(source, text->item, &item));
    TACIT_TRY(find_column(source, text->text, &column));
    for (uint32_t row = 1; row < source->table.row_count; row++) {
        uint32_t const number = data_names_find(&builder->items, field(source, row, item));
        char *said = field(source, row, column);
        if (text->names != NULL) {
            uint32_t const key = data_names_find(&glossary->keys, said);
            if (key == NOBODY)
                return fail(source, row, "a key that the table of names does not have");
            said = glossary->texts[key];
        }
        if (number != NOBODY && !data_words_add(words, number, said))
            return out_of_memory(builder);
    }
    return TACIT_OK;
}

static enum tacit_status read_text(const struct builder *builder,
                                   const struct tacit_context_text *text, struct data_words *words)
{
    struct glossary glossary = {.texts = NULL};
    struct source source;
    TACIT_TRY(open_source(&source, builder->spec, text->table, builder->error));
    enum tacit_status status = TACIT_OK;
    if (text->names != NULL)
        status = read_glossary(builder, text, &glossary);
    if (status == TACIT_OK)
        status = add_texts(builder, &source, text, &glossary, words);
    close_glossary(&glossary);
    tacit_table_free(&source.table);
    return status;
}

/* Also marks the items whose words lie along none of the directions as blank. */
static enum tacit_status make_vectors(struct builder *builder, struct data_words *words,
                                      struct tacit_context_data *data)
{
    struct tacit_context_spec const *const spec = builder->spec;
    uint32_t const d = spec->dimension;
    data->word_count = words->names.count;
    if (words->names.count < d)
        return data_fail(builder->error, TACIT_INVALID, spec->texts[0].table, 0,
                         "the texts have %u words; allowed: a dimension up to that",
                         words->names.count);
    enum tacit_status const status =
        data_words_vectors(words, builder->items.count, d, builder->vectors);
    if (status != TACIT_OK)
        return status == TACIT_MEMORY
                   ? out_of_memory(builder)
                   : data_fail(builder->error, status, spec->texts[0].table, 0,
                               "its leading directions do not settle; allowed: a smaller "
                               "dimension");
    for (uint32_t item = 0; item < builder->items.count; item++) {
        bool is_blank = true;
        for (uint32_t i = 0; i < d; i++)
            is_blank = is_blank && !(fabsf(builder->vectors[(size_t)item * d + i]) > 0);
        if (is_blank)
            tacit_bits_add(builder->blank, item);
        data->blank_count += is_blank ? 1 : 0;
    }
    return TACIT_OK;
}

static enum tacit_status read_texts(struct builder *builder, struct tacit_context_data *data)
{
    struct data_words words = {.entries = NULL};
    enum tacit_status status = TACIT_OK;
    for (uint32_t i = 0; i < builder->spec->text_count && status == TACIT_OK; i++)
        status = read_text(builder, &builder->spec->texts[i], &words);
    if (status == TACIT_OK)
        status = make_vectors(builder, &words, data);
    data_words_free(&words);
    return status;
}

/* ---- What items are like: columns ---- */

/* A vector of length 1 whose single precision made it longer than the cores take, shortened to what
 * they do. */
static void shorten(uint32_t dimension, float *vector)
{
    double square = 0;
    for (uint32_t i = 0; i < dimension; i++)
        square += (double)vector[i] * (double)vector[i];
    if (square <= 1 + ROUNDING)
        return;
    double const scale = (1.0 - 0x1p-22) / sqrt(square);
    for (uint32_t i = 0; i < dimension; i++)
        vector[i] = (float)(vector[i] * scale);
}

static enum tacit_status read_vector(const struct source *source, uint32_t row,
                                     const uint32_t *columns, float *vector)
{
    double square = 0;
    for (uint32_t i = 0; i < source->spec->dimension; i++) {
        double number = 0;
        TACIT_TRY(number_at(source, row, columns[i], &number));
        square += number * number;
        if (!(square <= 1 + NORM_SLACK))
            return fail(source, row, "the vector is longer than 1; allowed: up to 1");
        vector[i] = (float)number;
    }
    shorten(source->spec->dimension, vector);
    return TACIT_OK;
}

static enum tacit_status find_features(const struct source *source, uint32_t *columns)
{
    for (uint32_t i = 0; i < source->spec->dimension; i++)
        TACIT_TRY(find_column(source, source->spec->features[i], &columns[i]));
    return TACIT_OK;
}

static enum tacit_status read_item_vectors(struct builder *builder, const struct source *source)
{
    uint32_t const d = builder->spec->dimension;
    uint32_t columns[TACIT_LINALG_DIMENSION_MAX];
    uint32_t item;
    TACIT_TRY(find_column(source, builder->spec->item_column, &item));
    TACIT_TRY(find_features(source, columns));
    bool *const is_there = calloc(builder->items.count + (size_t)1, sizeof *is_there);
    if (is_there == NULL)
        return out_of_memory(builder);
    enum tacit_status status = TACIT_OK;
    for (uint32_t row = 1; row < source->table.row_count && status == TACIT_OK; row++) {
        uint32_t const number = data_names_find(&builder->items, field(source, row, item));
        if (number == NOBODY)
            continue;
        is_there[number] = true;
        status = read_vector(source, row, columns, builder->vectors + (size_t)number * d);
    }
    for (uint32_t i = 0; i < builder->items.count && status == TACIT_OK; i++)
        if (!is_there[i])
            status =
                data_fail(builder->error, TACIT_INVALID, source->name, 0, "there is no item '%s'",
                          data_shown_value(builder->items.items[i]).text);
    free(is_there);
    return status;
}

static enum tacit_status read_vectors(struct builder *builder)
{
    struct source source;
    TACIT_TRY(open_source(&source, builder->spec, builder->spec->item_table, builder->error));
    enum tacit_status status = read_item_vectors(builder, &source);
    tacit_table_free(&source.table);
    return status;
}

/* ---- The log ---- */

/* A decision offers the item that was chosen among others, which the agent must not like. */
static enum tacit_status check_others(const struct builder *builder)
{
    uint32_t const items = builder->items.count;
    uint32_t const wanted = builder->spec->arm_count;
    size_t const words = TACIT_BITS_WORDS(items);
    for (uint32_t agent = 0; agent < builder->spec->agent_count; agent++) {
        uint32_t const liked = tacit_bits_count(builder->liked + agent * words, items);
        if (items - liked < wanted)
            return data_fail(builder->error, TACIT_INVALID, builder->spec->table, 0,
                             "of %u items an agent likes all but %u; allowed: at least %u others, "
                             "one an arm",
                             items, items - liked, wanted);
    }
    return TACIT_OK;
}

/* Decisions about blank items drop out. `liked` begins with these, so that they are never offered.
 */
static enum tacit_status write_log(struct builder *builder)
{
    size_t const rows = builder->decision_count + (size_t)1;
    size_t const words = TACIT_BITS_WORDS(builder->items.count);
    builder->owners = malloc(rows * sizeof *builder->owners);
    builder->chosen = malloc(rows * sizeof *builder->chosen);
    builder->rewards = malloc(rows * sizeof *builder->rewards);
    builder->liked = calloc(words * builder->spec->agent_count, sizeof *builder->liked);
    if (builder->owners == NULL || builder->chosen == NULL || builder->rewards == NULL ||
        builder->liked == NULL)
        return out_of_memory(builder);
    for (uint32_t agent = 0; agent < builder->spec->agent_count; agent++)
        memcpy(builder->liked + agent * words, builder->blank, words * sizeof *builder->liked);
    uint32_t count = 0;
    for (uint32_t i = 0; i < builder->decision_count; i++) {
        struct decision const *const decision = &builder->decisions[i];
        if (tacit_bits_has(builder->blank, decision->item))
            continue;
        builder->owners[count] = decision->agent;
        builder->chosen[count] = decision->item;
        builder->rewards[count++] = decision->reward;
        if (decision->reward > 0)
            tacit_bits_add(builder->liked + decision->agent * words, decision->item);
    }
    builder->decision_count = count;
    return check_others(builder);
}

static enum tacit_status build(struct builder *builder, struct tacit_context_data *data)
{
    struct tacit_context_spec const *const spec = builder->spec;
    TACIT_TRY(read_decisions(builder, data));
    if (builder->items.count < spec->arm_count)
        return data_fail(builder->error, TACIT_INVALID, spec->table, 0,
                         "it has %u items; at least one an arm is needed", builder->items.count);
    builder->vectors =
        calloc((size_t)builder->items.count * spec->dimension, sizeof *builder->vectors);
    builder->blank = calloc(TACIT_BITS_WORDS(builder->items.count), sizeof *builder->blank);
    if (builder->vectors == NULL || builder->blank == NULL)
        return out_of_memory(builder);
    TACIT_TRY(spec->text_count > 0 ? read_texts(builder, data) : read_vectors(builder));
    return write_log(builder);
}

/* ---- Offers: all arms of each decision ---- */

/* One row, which is an arm; `item` is its number. Columns: agent, decision, value, then features.
 * The log names a decision by its first arm. */
static enum tacit_status read_arm(struct builder *builder, const struct source *source,
                                  uint32_t item, const uint32_t *columns)
{
    struct tacit_context_spec const *const spec = builder->spec;
    uint32_t const *const features = columns + 3;
    uint32_t const row = item + 1;
    char const *const decision = field(source, row, columns[1]);
    char const *const who = field(source, row, columns[0]);
    TACIT_TRY(
        read_vector(source, row, features, builder->vectors + (size_t)item * spec->dimension));
    TACIT_TRY(number_at(source, row, columns[2], &builder->rewards[item]));
    uint32_t const agent = data_names_add(&builder->agents, who, strlen(who));
    if (agent == NOBODY)
        return out_of_memory(builder);
    if (agent >= spec->agent_count)
        return fail(source, row, "more agents than the experiment has");
    if (item % spec->arm_count == 0) {
        builder->owners[item / spec->arm_count] = agent;
        builder->chosen[item / spec->arm_count] = item;
        return TACIT_OK;
    }
    if (strcmp(decision, field(source, row - 1, columns[1])) != 0 ||
        strcmp(who, field(source, row - 1, columns[0])) != 0)
        return fail(source, row, "the rows of a decision stand together, one an arm, of one agent");
    return TACIT_OK;
}

static enum tacit_status read_offers(struct builder *builder, const struct source *source)
{
    struct tacit_context_spec const *const spec = builder->spec;
    uint32_t const items = source->table.row_count - 1;
    uint32_t columns[3 + TACIT_LINALG_DIMENSION_MAX];
    TACIT_TRY(find_column(source, spec->agent, &columns[0]));
    TACIT_TRY(find_column(source, spec->decision, &columns[1]));
    TACIT_TRY(find_column(source, spec->value, &columns[2]));
    TACIT_TRY(find_features(source, columns + 3));
    if (items % spec->arm_count != 0)
        return fail(source, items, "the last decision has fewer rows than there are arms");
    builder->vectors = calloc((size_t)items * spec->dimension, sizeof *builder->vectors);
    builder->owners = malloc(items * sizeof *builder->owners);
    builder->chosen = malloc(items * sizeof *builder->chosen);
    builder->rewards = malloc(items * sizeof *builder->rewards);
    if (builder->vectors == NULL || builder->owners == NULL || builder->chosen == NULL ||
        builder->rewards == NULL)
        return out_of_memory(builder);
    for (uint32_t item = 0; item < items; item++)
        TACIT_TRY(read_arm(builder, source, item, columns));
    builder->decision_count = items / spec->arm_count;
    return TACIT_OK;
}

static enum tacit_status build_offers(struct builder *builder, struct tacit_context_data *data)
{
    struct source source;
    TACIT_TRY(open_source(&source, builder->spec, builder->spec->table, builder->error));
    enum tacit_status status = source.table.row_count < 2 ? fail(&source, 0, "it has no rows")
                                                          : read_offers(builder, &source);
    data->read_count = source.table.row_count - (source.table.row_count > 0 ? 1u : 0u);
    data->agents_seen = builder->agents.count;
    tacit_table_free(&source.table);
    if (status == TACIT_OK && builder->agents.count < builder->spec->agent_count)
        return data_fail(builder->error, TACIT_INVALID, builder->spec->table, 0,
                         "it has %u agents; allowed: as many as the experiment has",
                         builder->agents.count);
    return status;
}

/* ---- What becomes of vectors ---- */

static bool is_blank(const struct builder *builder, uint32_t item)
{
    return builder->blank != NULL && tacit_bits_has(builder->blank, item);
}

/* Mean 0 and variance 1 (over their number), of the items that are ever offered; a coordinate that
 * does not vary becomes 0. */
static void standardise(struct builder *builder, uint32_t items, uint32_t coordinate)
{
    uint32_t const d = builder->spec->dimension;
    float *const column = builder->vectors + coordinate;
    double count = 0;
    double mean = 0;
    double square = 0;
    for (uint32_t item = 0; item < items; item++) {
        count += is_blank(builder, item) ? 0 : 1;
        mean += is_blank(builder, item) ? 0 : (double)column[(size_t)item * d];
    }
    mean = count > 0 ? mean / count : 0;
    for (uint32_t item = 0; item < items; item++) {
        double const away = (double)column[(size_t)item * d] - mean;
        square += is_blank(builder, item) ? 0 : away * away;
    }
    double const scale = square > STILL * count ? 1.0 / sqrt(square / count) : 0;
    for (uint32_t item = 0; item < items; item++)
        if (!is_blank(builder, item))
            column[(size_t)item * d] = (float)(scale * ((double)column[(size_t)item * d] - mean));
}

static enum tacit_status finish_vectors(struct builder *builder, uint32_t items)
{
    struct tacit_context_spec const *const spec = builder->spec;
    size_t const d = spec->dimension;
    for (uint32_t i = 0; spec->is_standardised && i < d; i++)
        standardise(builder, items, i);
    if (!spec->has_constant)
        return TACIT_OK;
    float *const longer = malloc((items + (size_t)1) * (d + 1) * sizeof *longer);
    if (longer == NULL)
        return out_of_memory(builder);
    for (size_t item = 0; item < items; item++) {
        memcpy(longer + item * (d + 1), builder->vectors + item * d, d * sizeof *longer);
        longer[item * (d + 1) + d] = 1.0F;
    }
    free(builder->vectors);
    builder->vectors = longer;
    return TACIT_OK;
}

/* ---- Public ---- */

enum tacit_status tacit_context_data_read(struct tacit_context_data *data,
                                          const struct tacit_context_spec *spec,
                                          struct tacit_error *error)
{
    struct builder builder = {.spec = spec, .error = error};
    bool const are_offers = spec->decision != NULL;
    uint32_t const dimension = spec->dimension + (spec->has_constant ? 1u : 0u);
    TACIT_ASSERT(dimension <= TACIT_LINALG_DIMENSION_MAX);
    *data = (struct tacit_context_data){.read_count = 0};
    enum tacit_status status = are_offers ? build_offers(&builder, data) : build(&builder, data);
    uint32_t const items =
        are_offers ? builder.decision_count * spec->arm_count : builder.items.count;
    if (status == TACIT_OK)
        status = finish_vectors(&builder, items);
    void *const memory[] = {builder.vectors, builder.owners, builder.chosen, builder.rewards,
                            builder.liked};
    memcpy(data->memory, memory, sizeof memory);
    data->log = (struct tacit_context_log){.agent_count = spec->agent_count,
                                           .dimension = dimension,
                                           .item_count = items,
                                           .items = builder.vectors,
                                           .row_count = builder.decision_count,
                                           .agents = builder.owners,
                                           .chosen = builder.chosen,
                                           .rewards = builder.rewards,
                                           .liked = builder.liked,
                                           .is_ordered = are_offers || spec->time != NULL};
    data_names_free(&builder.agents);
    data_names_free(&builder.items);
    free(builder.decisions);
    free(builder.blank);
    free(builder.row_agents);
    free(builder.row_items);
    if (status != TACIT_OK)
        tacit_context_data_free(data);
    return status;
}

void tacit_context_data_free(struct tacit_context_data *data)
{
    for (size_t i = 0; i < sizeof data->memory / sizeof data->memory[0]; i++)
        free(data->memory[i]);
    *data = (struct tacit_context_data){.read_count = 0};
}
