/* Logged rows: which row is a pull of which arm, by which agent, with what reward. Cuts a table
 * into the cells that env draws from; draws nothing itself but a shuffle.
 *
 * A agents, K arms, n rows without the header. */
#include "tacit/data.h"
#include "internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_CELLS_MAX (UINT64_C(1) << 27)
#define LOG_REWARDS_MAX ((size_t)1 << 28)
#define ENTRIES_MIN 1024u
#define COLUMNS_SHOWN_BYTES 300u
#define VALUES_SHOWN_BYTES 200u
#define PROPENSITY_MIN 1e-100 /* squares of weights add up to a number */

/* REFUSE(builder, line, format, ...): the message, and the status to return. */
#define REFUSE(builder, ...)                                                                       \
    data_fail((builder)->error, TACIT_INVALID, (builder)->path, __VA_ARGS__)

struct entry {
    uint32_t cell;
    uint32_t unit; /* with a unit_column */
    double reward;
};

/* Distinct values of a column, sorted. */
struct values {
    const char **texts;
    uint32_t count;
};

struct builder {
    const struct tacit_table *table;
    const char *path;
    const struct tacit_log_spec *spec;
    struct tacit_error *error;
    uint32_t *rows; /* of the table, behind its header: those that count */
    uint32_t n;     /* rows that count */
    uint32_t without_agent;
    uint32_t without_arm;
    uint32_t without_reward;
    uint32_t of_no_arm; /* that count, and fit no arm's rule */
    char decimal;
    uint32_t agent_column; /* BY_COLUMN */
    uint32_t agent_count;
    uint32_t arm_count;
    uint32_t reward_column;
    uint32_t arm_column;        /* if there are no rules */
    uint32_t propensity_column; /* if there is one */
    uint32_t time_column;       /* if there is one */
    uint32_t unit_column;       /* if there is one */
    struct data_names units;    /* "AGENT:VALUE" */
    uint32_t *rule_columns;     /* of all rules, one rule after another */
    struct values arm_values;   /* if there are no rules */
    struct values agent_values; /* BY_COLUMN */
    uint32_t *agents;           /* whose each row is */
    struct entry *entries;      /* one for each row and arm that it counts in */
    size_t entry_count;
    size_t entry_capacity;
};

/* ---- Small things -------------------------------------------------------------------------- */

static const char *field_at(const struct builder *builder, uint32_t row, uint32_t column)
{
    size_t const table_row = (size_t)builder->rows[row] + 1; /* behind the header */
    return builder->table->fields[table_row * builder->table->column_count + column];
}

static uint32_t line_of(const struct builder *builder, uint32_t row)
{
    return builder->table->lines[builder->rows[row] + 1];
}

/* Nothing but blanks. */
static bool is_empty(const char *field)
{
    return field[strspn(field, " \t")] == '\0';
}

/* The field, or the word that stands in for it where it is empty. */
static const char *filled_at(const struct builder *builder, uint32_t row, uint32_t column,
                             const char *stand_in)
{
    const char *const field = field_at(builder, row, column);
    return stand_in != NULL && is_empty(field) ? stand_in : field;
}

static enum tacit_status fail_memory(const struct builder *builder)
{
    return data_fail_memory(builder->error, builder->path);
}

static enum tacit_status fail_column(const struct builder *builder, const char *name)
{
    const struct tacit_table *const table = builder->table;
    char bytes[COLUMNS_SHOWN_BYTES];
    struct tacit_text list = tacit_text_init(bytes, sizeof bytes);
    for (uint32_t column = 0; column < table->column_count && !list.truncated; column++) {
        tacit_text_add(&list, column == 0 ? "" : ", ");
        tacit_text_add(&list, data_shown_value(table->fields[column]).text);
    }
    return REFUSE(builder, table->lines[0], "no column '%s'; the columns are %s%s",
                  data_shown_value(name).text, bytes, list.truncated ? "..." : "");
}

/* Ensures: TACIT_OK: exactly one column has this name. */
static enum tacit_status find_column(const struct builder *builder, const char *name,
                                     uint32_t *column)
{
    const struct tacit_table *const table = builder->table;
    uint32_t const found = tacit_table_column(table, name);
    if (found == UINT32_MAX)
        return fail_column(builder, name);
    for (uint32_t other = found + 1; other < table->column_count; other++) {
        if (strcmp(table->fields[other], name) == 0)
            return REFUSE(builder, table->lines[0],
                          "columns %u and %u are both '%s'; name a column that is there once",
                          found + 1, other + 1, data_shown_value(name).text);
    }
    *column = found;
    return TACIT_OK;
}

struct shown_values {
    char text[VALUES_SHOWN_BYTES];
};

/* ---- Distinct values ----------------------------------------------------------------------- */

/* A whole number as one writes it: no sign, no leading zero. */
static bool is_plain_number(const char *text)
{
    if (text[0] < '0' || text[0] > '9') /* at once: values are sorted by this */
        return false;
    size_t const digits = strspn(text, "0123456789");
    return text[digits] == '\0' && (text[0] != '0' || digits == 1);
}

/* Whole numbers first, by value (so that agent "10" is number 10 and not number 2), the rest by
 * bytes. */
static int compare_values(const void *left, const void *right)
{
    const char *const a = *(const char *const *)left;
    const char *const b = *(const char *const *)right;
    bool const a_number = is_plain_number(a);
    bool const b_number = is_plain_number(b);
    if (a_number != b_number)
        return a_number ? -1 : 1;
    size_t const a_size = strlen(a);
    size_t const b_size = strlen(b);
    if (a_number && a_size != b_size)
        return a_size < b_size ? -1 : 1;
    return strcmp(a, b);
}

static uint32_t remove_repeats(const char **texts, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || strcmp(texts[kept - 1], texts[i]) != 0)
            texts[kept++] = texts[i];
    }
    return kept;
}

/* The distinct values of the rows that count; they point into the table, and the list is the
 * caller's to free. */
static enum tacit_status collect_values(const struct builder *builder, uint32_t column,
                                        const char *stand_in, struct values *values)
{
    values->texts = malloc(builder->n * sizeof *values->texts);
    if (values->texts == NULL)
        return fail_memory(builder);
    for (uint32_t row = 0; row < builder->n; row++)
        values->texts[row] = filled_at(builder, row, column, stand_in);
    qsort(values->texts, builder->n, sizeof *values->texts, compare_values);
    values->count = remove_repeats(values->texts, builder->n);
    return TACIT_OK;
}

/* Requires: text is one of the values. */
static uint32_t value_index(const struct values *values, const char *text)
{
    const char **const found =
        bsearch(&text, values->texts, values->count, sizeof *values->texts, compare_values);
    TACIT_ASSERT(found != NULL);
    return (uint32_t)(found - values->texts);
}

/* "a, b, c..." for a message. */
static struct shown_values show_values(const struct values *values)
{
    struct shown_values shown;
    struct tacit_text list = tacit_text_init(shown.text, sizeof shown.text);
    for (uint32_t i = 0; i < values->count && !list.truncated; i++) {
        tacit_text_add(&list, i == 0 ? "" : ", ");
        tacit_text_add(&list, data_shown_value(values->texts[i]).text);
    }
    return shown;
}

/* ", where 'Bonn' and 'bonn' ...", or nothing. */
static struct shown_values show_alike(const struct values *values)
{
    struct shown_values shown = {""};
    uint32_t pair[2];
    if (!tacit_names_alike((const char *const *)values->texts, values->count, pair))
        return shown;
    struct tacit_text text = tacit_text_init(shown.text, sizeof shown.text);
    tacit_text_add(&text, "; '");
    tacit_text_add(&text, data_shown_value(values->texts[pair[0]]).text);
    tacit_text_add(&text, "' and '");
    tacit_text_add(&text, data_shown_value(values->texts[pair[1]]).text);
    tacit_text_add(&text, "' differ in case or blanks only");
    return shown;
}

/* As many values as asked for (0: any number), and not more than the limit. */
static enum tacit_status check_values(const struct builder *builder, const char *column_name,
                                      const struct values *values, uint32_t asked, uint32_t limit,
                                      const char *what)
{
    const struct data_shown shown = data_shown_value(column_name);
    uint32_t const count = values->count;
    if (count > limit)
        return REFUSE(builder, 0, "column '%s' has %u values; at most %u %s", shown.text, count,
                      limit, what);
    if (asked != 0 && count != asked)
        return REFUSE(
            builder, 0,
            "column '%s' has %u values, but the number of %s is %u; the two must be equal (%s)%s",
            shown.text, count, what, asked, show_values(values).text, show_alike(values).text);
    return TACIT_OK;
}

/* ---- Arms ---------------------------------------------------------------------------------- */

static enum tacit_status find_rule_columns(struct builder *builder)
{
    const struct tacit_log_spec *const spec = builder->spec;
    size_t total = 0;
    for (uint32_t arm = 0; arm < spec->arm_count; arm++) {
        if (spec->arms[arm].column_count == 0)
            return REFUSE(builder, 0, "arm '%s' names no columns; an arm looks at one at least",
                          data_shown_value(spec->arms[arm].name).text);
        total += spec->arms[arm].column_count;
    }
    builder->rule_columns = malloc(total * sizeof *builder->rule_columns);
    if (builder->rule_columns == NULL)
        return fail_memory(builder);
    uint32_t *next = builder->rule_columns;
    for (uint32_t arm = 0; arm < spec->arm_count; arm++) {
        for (uint32_t i = 0; i < spec->arms[arm].column_count; i++) {
            TACIT_TRY(find_column(builder, spec->arms[arm].columns[i], next++));
        }
    }
    return TACIT_OK;
}

static enum tacit_status find_arms_by_rules(struct builder *builder)
{
    builder->arm_count = builder->spec->arm_count;
    if (builder->arm_count == 0 || builder->arm_count > TACIT_ARMS_MAX)
        return REFUSE(builder, 0, "%u arms; a run has from 1 to %u", builder->arm_count,
                      TACIT_ARMS_MAX);
    return find_rule_columns(builder);
}

static enum tacit_status find_arms_by_column(struct builder *builder)
{
    const struct tacit_log_spec *const spec = builder->spec;
    TACIT_TRY(
        collect_values(builder, builder->arm_column, spec->missing.arm, &builder->arm_values));
    builder->arm_count = builder->arm_values.count;
    return check_values(builder, spec->arm_column, &builder->arm_values, spec->arm_count,
                        TACIT_ARMS_MAX, "arms");
}

static enum tacit_status find_arms(struct builder *builder)
{
    return builder->spec->arms != NULL ? find_arms_by_rules(builder) : find_arms_by_column(builder);
}

static const char *arm_name(const struct builder *builder, uint32_t arm)
{
    return builder->spec->arms != NULL ? builder->spec->arms[arm].name
                                       : builder->arm_values.texts[arm];
}

/* ---- Agents -------------------------------------------------------------------------------- */

static enum tacit_status split_by_column(struct builder *builder)
{
    const char *const stand_in = builder->spec->missing.agent;
    uint32_t const column = builder->agent_column;
    TACIT_TRY(collect_values(builder, column, stand_in, &builder->agent_values));
    builder->agent_count = builder->agent_values.count;
    TACIT_TRY(check_values(builder, builder->spec->agent_column, &builder->agent_values,
                           builder->spec->agent_count, TACIT_AGENTS_MAX, "agents"));
    for (uint32_t row = 0; row < builder->n; row++)
        builder->agents[row] =
            value_index(&builder->agent_values, filled_at(builder, row, column, stand_in));
    return TACIT_OK;
}

/* Agent i gets the positions from floor(n i / A) up to floor(n (i+1) / A). */
static enum tacit_status split_equally(struct builder *builder)
{
    uint64_t const n = builder->n;
    uint64_t const agent_count = builder->spec->agent_count;
    if (agent_count == 0 || agent_count > TACIT_AGENTS_MAX)
        return REFUSE(builder, 0, "%u agents; a run has from 1 to %u", builder->spec->agent_count,
                      TACIT_AGENTS_MAX);
    if (agent_count > n)
        return REFUSE(builder, 0, "%u rows for %u agents; every agent needs a row of every arm",
                      builder->n, builder->spec->agent_count);
    builder->agent_count = builder->spec->agent_count;
    for (uint32_t agent = 0; agent < builder->agent_count; agent++) {
        for (uint64_t at = n * agent / agent_count; at < n * (agent + 1) / agent_count; at++)
            builder->agents[at] = agent;
    }
    return TACIT_OK;
}

/* Gives each row its agent; draws only for TACIT_LOG_RANDOM. */
static enum tacit_status split_rows(struct builder *builder, struct tacit_rng *rng)
{
    builder->agents = malloc(builder->n * sizeof *builder->agents);
    if (builder->agents == NULL)
        return fail_memory(builder);
    if (builder->spec->split == TACIT_LOG_BY_COLUMN)
        return split_by_column(builder);
    enum tacit_status const status = split_equally(builder);
    if (status == TACIT_OK && builder->spec->split == TACIT_LOG_RANDOM)
        tacit_rng_shuffle(rng, builder->n,
                          builder->agents); /* as good as shuffling the rows and cutting them */
    return status;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

/* Requires: columns are those of this arm's rule. */
static bool rule_matches(const struct builder *builder, uint32_t row,
                         const struct tacit_log_arm *arm, const uint32_t *columns)
{
    bool const any = arm->match == TACIT_LOG_MATCH_ANY;
    for (uint32_t i = 0; i < arm->column_count; i++) {
        bool const holds = strcmp(field_at(builder, row, columns[i]), arm->value) == 0;
        if (holds == any)
            return any;
    }
    return !any;
}

/* What to do about a field that is a number with the other decimal sign; else nothing. */
static const char *decimal_hint(const struct builder *builder, const char *field)
{
    double ignored;
    char const other = builder->decimal == ',' ? '.' : ',';
    if (!data_field_decimal(field, other, &ignored))
        return "";
    return other == ',' ? "; with 'decimal: \",\"' it is one" : "; with 'decimal: \".\"' it is one";
}

static enum tacit_status read_reward(const struct builder *builder, uint32_t row, double *reward)
{
    const char *const field =
        filled_at(builder, row, builder->reward_column, builder->spec->missing.reward);
    if (builder->spec->reward_value != NULL) {
        bool const holds = strcmp(field, builder->spec->reward_value) == 0;
        *reward = holds != builder->spec->reward_differs ? 1.0 : 0.0;
        return TACIT_OK;
    }
    if (data_field_decimal(field, builder->decimal, reward))
        return TACIT_OK;
    return REFUSE(builder, line_of(builder, row),
                  "column '%s': '%s' is not a number; rewards are finite numbers%s",
                  data_shown_value(builder->spec->reward_column).text, data_shown_value(field).text,
                  decimal_hint(builder, field));
}

/* *unit: whose the row is, at its agent. */
static enum tacit_status read_unit(struct builder *builder, uint32_t row, uint32_t *unit)
{
    char *name;
    if (builder->spec->unit_column == NULL)
        return TACIT_OK;
    const char *const field = field_at(builder, row, builder->unit_column);
    if (is_empty(field))
        return REFUSE(builder, line_of(builder, row),
                      "column '%s' is empty: whose reward is it? Each row needs a unit",
                      data_shown_value(builder->spec->unit_column).text);
    int const size = asprintf(&name, "%u:%s", builder->agents[row], field);
    if (size < 0)
        return fail_memory(builder);
    *unit = data_names_add(&builder->units, name, (size_t)size);
    free(name);
    return *unit == UINT32_MAX ? fail_memory(builder) : TACIT_OK;
}

static enum tacit_status add_entry(struct builder *builder, uint32_t row, uint32_t arm)
{
    if (builder->entry_count == builder->entry_capacity) {
        if (builder->entry_count >= LOG_REWARDS_MAX)
            return REFUSE(builder, line_of(builder, row),
                          "too many rows count in too many arms; at most %zu in all",
                          LOG_REWARDS_MAX);
        size_t const capacity =
            builder->entry_capacity == 0 ? ENTRIES_MIN : 2 * builder->entry_capacity;
        struct entry *const entries = realloc(builder->entries, capacity * sizeof *entries);
        if (entries == NULL)
            return fail_memory(builder);
        builder->entries = entries;
        builder->entry_capacity = capacity;
    }
    struct entry *const entry = &builder->entries[builder->entry_count++];
    entry->cell = builder->agents[row] * builder->arm_count + arm;
    TACIT_TRY(read_unit(builder, row, &entry->unit));
    return read_reward(builder, row, &entry->reward);
}

/* With rules a row counts in every arm whose rule it fits, or in none. */
static enum tacit_status add_row(struct builder *builder, uint32_t row)
{
    const struct tacit_log_spec *const spec = builder->spec;
    if (spec->arms == NULL) {
        const char *const value = filled_at(builder, row, builder->arm_column, spec->missing.arm);
        return add_entry(builder, row, value_index(&builder->arm_values, value));
    }
    const uint32_t *columns = builder->rule_columns;
    bool counts = false;
    for (uint32_t arm = 0; arm < spec->arm_count; arm++) {
        if (rule_matches(builder, row, &spec->arms[arm], columns)) {
            TACIT_TRY(add_entry(builder, row, arm));
            counts = true;
        }
        columns += spec->arms[arm].column_count;
    }
    builder->of_no_arm += !counts;
    return TACIT_OK;
}

static enum tacit_status collect_entries(struct builder *builder)
{
    uint64_t const cell_count = (uint64_t)builder->agent_count * builder->arm_count;
    if (cell_count > LOG_CELLS_MAX)
        return REFUSE(builder, 0, "%u agents with %u arms; at most %llu cells (agent, arm)",
                      builder->agent_count, builder->arm_count, (unsigned long long)LOG_CELLS_MAX);
    for (uint32_t row = 0; row < builder->n; row++) {
        TACIT_TRY(add_row(builder, row));
    }
    return TACIT_OK;
}

/* ---- Cells --------------------------------------------------------------------------------- */

/* One block: the pointers, then the texts they point to. NULL: no memory. */
static char **copy_names(const char *(*name_of)(const struct builder *, uint32_t),
                         const struct builder *builder, uint32_t count)
{
    size_t size = count * sizeof(char *);
    for (uint32_t i = 0; i < count; i++)
        size += strlen(name_of(builder, i)) + 1;
    char **const names = malloc(size);
    if (names == NULL)
        return NULL;
    char *next = (char *)(names + count);
    for (uint32_t i = 0; i < count; i++) {
        size_t const name_size = strlen(name_of(builder, i)) + 1;
        names[i] = memcpy(next, name_of(builder, i), name_size);
        next += name_size;
    }
    return names;
}

static const char *agent_name(const struct builder *builder, uint32_t agent)
{
    return builder->agent_values.texts[agent];
}

static enum tacit_status allocate_log(const struct builder *builder, struct tacit_log *log)
{
    size_t const cell_count = (size_t)builder->agent_count * builder->arm_count;
    size_t const reward_count = builder->entry_count == 0 ? 1 : builder->entry_count;
    *log = (struct tacit_log){
        .agent_count = builder->agent_count,
        .arm_count = builder->arm_count,
        .row_count = builder->n,
        .without_agent = builder->without_agent,
        .without_arm = builder->without_arm,
        .without_reward = builder->without_reward,
        .of_no_arm = builder->of_no_arm,
        .arm_names = copy_names(arm_name, builder, builder->arm_count),
        .start = calloc(cell_count + 1, sizeof *log->start),
        .rewards = malloc(reward_count * sizeof *log->rewards),
        .means = malloc(cell_count * sizeof *log->means),
        .binary = true,
    };
    if (builder->spec->unit_column != NULL)
        log->units = malloc(reward_count * sizeof *log->units);
    if (builder->spec->split == TACIT_LOG_BY_COLUMN)
        log->agent_names = copy_names(agent_name, builder, builder->agent_count);
    bool const complete =
        (log->agent_names != NULL || builder->spec->split != TACIT_LOG_BY_COLUMN) &&
        (log->units != NULL || builder->spec->unit_column == NULL) && log->arm_names != NULL &&
        log->start != NULL && log->rewards != NULL && log->means != NULL;
    return complete ? TACIT_OK : fail_memory(builder);
}

/* Counting sort of the entries by cell; within a cell they keep the order of the file. */
static void sort_rewards(const struct builder *builder, struct tacit_log *log)
{
    size_t const cell_count = (size_t)log->agent_count * log->arm_count;
    for (size_t i = 0; i < builder->entry_count; i++)
        log->start[builder->entries[i].cell]++;
    uint32_t end = 0;
    for (size_t cell = 0; cell <= cell_count; cell++) { /* start[c] is where c ends, for now */
        end += log->start[cell];
        log->start[cell] = end;
    }
    for (size_t i = builder->entry_count; i > 0; i--) {
        const struct entry *const entry = &builder->entries[i - 1];
        log->rewards[--log->start[entry->cell]] = entry->reward;
        if (log->units != NULL)
            log->units[log->start[entry->cell]] = entry->unit;
        if (log->weights.keep != NULL)
            log->weights.keep[log->start[entry->cell]] = 1 / log->rows.propensities[i - 1];
        log->binary = log->binary && (entry->reward == 0.0 || entry->reward == 1.0);
    }
}

static enum tacit_status fail_cell(const struct builder *builder, size_t cell, const char *what)
{
    uint32_t const agent = (uint32_t)(cell / builder->arm_count);
    uint32_t const arm = (uint32_t)(cell % builder->arm_count);
    const struct data_shown shown_arm = data_shown_value(arm_name(builder, arm));
    if (builder->spec->split != TACIT_LOG_BY_COLUMN)
        return REFUSE(builder, 0, "agent %u (they count from 0), arm '%s': %s", agent,
                      shown_arm.text, what);
    return REFUSE(builder, 0, "agent '%s', arm '%s': %s",
                  data_shown_value(builder->agent_values.texts[agent]).text, shown_arm.text, what);
}

/* Errors: a cell without rows, or whose sum is no finite number. */
static enum tacit_status average_cells(const struct builder *builder, struct tacit_log *log)
{
    size_t const cell_count = (size_t)log->agent_count * log->arm_count;
    for (size_t cell = 0; cell < cell_count; cell++) {
        uint32_t const first = log->start[cell];
        uint32_t const end = log->start[cell + 1];
        if (first == end)
            return fail_cell(builder, cell, "no rows; every agent needs a row of every arm");
        double sum = 0.0;
        for (uint32_t i = first; i < end; i++)
            sum += log->rewards[i];
        if (!isfinite(sum))
            return fail_cell(builder, cell, "the rewards are too large to be added");
        log->means[cell] = sum / (double)(end - first);
    }
    return TACIT_OK;
}

/* ---- Rows with propensities ---------------------------------------------------------------- */

/* The column's; without one all arms were equally likely. */
static enum tacit_status read_propensity(const struct builder *builder, uint32_t row,
                                         double *propensity)
{
    const struct tacit_log_spec *const spec = builder->spec;
    *propensity = 1.0 / builder->arm_count;
    if (spec->propensity_column == NULL)
        return TACIT_OK;
    const char *const field = field_at(builder, row, builder->propensity_column);
    struct data_shown const column = data_shown_value(spec->propensity_column);
    if (is_empty(field))
        return REFUSE(builder, line_of(builder, row),
                      "column '%s' is empty: the row's propensity is missing; each row needs one, "
                      "above 0 and up to 1",
                      column.text);
    if (!data_field_decimal(field, builder->decimal, propensity))
        return REFUSE(builder, line_of(builder, row),
                      "column '%s': '%s' is not a number; a propensity is above 0 and up to 1%s",
                      column.text, data_shown_value(field).text, decimal_hint(builder, field));
    if (*propensity >= PROPENSITY_MIN && *propensity <= 1)
        return TACIT_OK;
    return REFUSE(builder, line_of(builder, row),
                  "column '%s': %s is no propensity: it is the probability with which the row's "
                  "arm was chosen, from 1e-100 to 1",
                  column.text, data_shown_value(field).text);
}

/* The fields of the columns that are kept, and the rows' lines. */
static enum tacit_status copy_fields(const struct builder *builder, struct tacit_log_rows *rows)
{
    const struct tacit_log_spec *const spec = builder->spec;
    size_t bytes = 1;
    rows->column_count = spec->column_count;
    rows->decimal = builder->decimal;
    rows->lines = malloc(builder->n * sizeof *rows->lines);
    rows->fields = malloc(((size_t)builder->n * spec->column_count + 1) * sizeof *rows->fields);
    if (rows->lines == NULL || rows->fields == NULL)
        return fail_memory(builder);
    for (uint32_t i = 0; i < spec->column_count; i++) {
        uint32_t column = 0;
        TACIT_TRY(find_column(builder, spec->columns[i], &column));
        for (uint32_t row = 0; row < builder->n; row++) {
            const char *const field = field_at(builder, row, column);
            rows->fields[(size_t)row * spec->column_count + i] = field;
            bytes += strlen(field) + 1;
        }
    }
    rows->bytes = malloc(bytes);
    if (rows->bytes == NULL)
        return fail_memory(builder);
    char *next = rows->bytes;
    for (size_t i = 0; i < (size_t)builder->n * spec->column_count; i++) {
        size_t const size = strlen(rows->fields[i]) + 1;
        rows->fields[i] = memcpy(next, rows->fields[i], size);
        next += size;
    }
    for (uint32_t row = 0; row < builder->n; row++)
        rows->lines[row] = line_of(builder, row);
    return TACIT_OK;
}

/* Only if propensities are known; else nothing. One entry a row then, in the order of the file. */
static enum tacit_status fill_rows(const struct builder *builder, struct tacit_log_rows *rows)
{
    const struct tacit_log_spec *const spec = builder->spec;
    size_t const n = builder->n;
    if (!spec->is_uniform && spec->propensity_column == NULL)
        return TACIT_OK;
    TACIT_ASSERT(builder->entry_count == n);
    rows->agents = malloc(n * sizeof *rows->agents);
    rows->arms = malloc(n * sizeof *rows->arms);
    rows->rewards = malloc(n * sizeof *rows->rewards);
    rows->propensities = malloc(n * sizeof *rows->propensities);
    if (rows->agents == NULL || rows->arms == NULL || rows->rewards == NULL ||
        rows->propensities == NULL)
        return fail_memory(builder);
    for (uint32_t row = 0; row < builder->n; row++) {
        TACIT_TRY(read_propensity(builder, row, &rows->propensities[row]));
        rows->agents[row] = builder->agents[row];
        rows->arms[row] = builder->entries[row].cell % builder->arm_count;
        rows->rewards[row] = builder->entries[row].reward;
    }
    return spec->column_count == 0 ? TACIT_OK : copy_fields(builder, rows);
}

/* ---- Weights ------------------------------------------------------------------------------- */

/* Of logged propensities; uniform ones need no weights. */
static enum tacit_status allocate_weights(const struct builder *builder, struct tacit_log *log)
{
    size_t const n = builder->entry_count;
    struct tacit_log_weights *const weights = &log->weights;
    if (builder->spec->propensity_column == NULL)
        return TACIT_OK;
    weights->keep = malloc(n * sizeof *weights->keep);
    weights->other = malloc(n * sizeof *weights->other);
    weights->errors = malloc((size_t)log->agent_count * log->arm_count * sizeof *weights->errors);
    return weights->keep != NULL && weights->other != NULL && weights->errors != NULL
               ? TACIT_OK
               : fail_memory(builder);
}

struct tacit_off_policy_log tacit_log_off_policy(const struct tacit_log *log)
{
    return (struct tacit_off_policy_log){.row_count = log->row_count,
                                         .arm_count = log->arm_count,
                                         .cell_count = log->agent_count,
                                         .arms = log->rows.arms,
                                         .cells = log->rows.agents,
                                         .rewards = log->rows.rewards,
                                         .propensities = log->rows.propensities};
}

/* Means and their errors, as the estimates of the same rows have them. */
static enum tacit_status estimate_cells(const struct builder *builder, struct tacit_log *log)
{
    size_t const cells = (size_t)log->agent_count * log->arm_count;
    struct tacit_off_policy_log const rows = tacit_log_off_policy(log);
    double *const work =
        malloc(tacit_off_policy_work_size(log->agent_count, log->arm_count) * sizeof *work);
    struct tacit_off_policy_arm *const results = malloc((cells + log->arm_count) * sizeof *results);
    bool const has_memory = work != NULL && results != NULL;
    if (has_memory)
        tacit_off_policy_arms(&rows, work, results);
    for (size_t cell = 0; has_memory && cell < cells; cell++) {
        log->means[cell] = results[cell].self_normalised.value;
        log->weights.errors[cell] = results[cell].self_normalised.error;
    }
    free(work);
    free(results);
    return has_memory ? TACIT_OK : fail_memory(builder);
}

/* Requires: rewards and weights are placed, and every cell has rows. */
static enum tacit_status weigh_cells(const struct builder *builder, struct tacit_log *log)
{
    size_t const cells = (size_t)log->agent_count * log->arm_count;
    if (log->weights.keep == NULL)
        return TACIT_OK;
    uint32_t *const work = malloc(builder->entry_count * sizeof *work);
    if (work == NULL)
        return fail_memory(builder);
    for (size_t cell = 0; cell < cells; cell++) {
        uint32_t const first = log->start[cell];
        tacit_env_weigh(log->start[cell + 1] - first, log->weights.keep + first,
                        log->weights.other + first, work);
    }
    free(work);
    return estimate_cells(builder, log);
}

/* ---- Units --------------------------------------------------------------------------------- */

/* Requires: rewards are placed. */
static enum tacit_status count_units(const struct builder *builder, struct tacit_log *log)
{
    size_t const cells = (size_t)log->agent_count * log->arm_count;
    if (log->units == NULL)
        return TACIT_OK;
    size_t *const seen = calloc(builder->units.count, sizeof *seen); /* the last cell, from 1 */
    if (seen == NULL)
        return fail_memory(builder);
    log->unit_count = builder->units.count;
    log->units_fewest = UINT32_MAX;
    for (size_t cell = 0; cell < cells; cell++) {
        uint32_t count = 0;
        for (uint32_t i = log->start[cell]; i < log->start[cell + 1]; i++) {
            count += seen[log->units[i]] != cell + 1;
            seen[log->units[i]] = cell + 1;
        }
        log->units_fewest = count < log->units_fewest ? count : log->units_fewest;
    }
    free(seen);
    return TACIT_OK;
}

/* ---- Traffic ------------------------------------------------------------------------------- */

/* Counts each agent's rows by weekday; from and up to which day there are rows. */
static enum tacit_status count_days(const struct builder *builder, uint32_t *counts, int32_t *first,
                                    int32_t *last)
{
    *first = INT32_MAX;
    *last = INT32_MIN;
    for (uint32_t row = 0; row < builder->n; row++) {
        const char *const field = field_at(builder, row, builder->time_column);
        int32_t day;
        if (!data_field_day(field, &day))
            return REFUSE(builder, line_of(builder, row),
                          "column '%s': '%s' is no time; allowed: dates like 2024-05-31, also with "
                          "a time of day behind them, or seconds since 1970",
                          data_shown_value(builder->spec->time_column).text,
                          data_shown_value(field).text);
        counts[builder->agents[row] * TACIT_WEEKDAYS + data_weekday(day)]++;
        *first = day < *first ? day : *first;
        *last = day > *last ? day : *last;
    }
    return TACIT_OK;
}

static uint32_t rows_of(const uint32_t *counts)
{
    uint32_t sum = 0;
    for (uint32_t weekday = 0; weekday < TACIT_WEEKDAYS; weekday++)
        sum += counts[weekday];
    return sum;
}

/* Rows a day of each weekday, averaged between the first and the last day of the log, at the agent
 * with the fewest rows: the slowest says how long a run takes. */
static enum tacit_status find_traffic(const struct builder *builder, double traffic[TACIT_WEEKDAYS])
{
    int32_t first;
    int32_t last;
    if (builder->spec->time_column == NULL)
        return TACIT_OK;
    uint32_t *const counts = calloc((size_t)builder->agent_count * TACIT_WEEKDAYS, sizeof *counts);
    if (counts == NULL)
        return fail_memory(builder);
    enum tacit_status const status = count_days(builder, counts, &first, &last);
    const uint32_t *fewest = counts;
    for (uint32_t agent = 1; agent < builder->agent_count; agent++) {
        const uint32_t *const own = counts + (size_t)agent * TACIT_WEEKDAYS;
        fewest = rows_of(own) < rows_of(fewest) ? own : fewest;
    }
    for (uint32_t i = 0; status == TACIT_OK && i < TACIT_WEEKDAYS; i++) {
        uint32_t const weekday = data_weekday(first + (int32_t)i);
        int32_t const times = (last - first - (int32_t)i) / (int32_t)TACIT_WEEKDAYS + 1;
        traffic[weekday] = fewest[weekday] == 0 ? 0 : (double)fewest[weekday] / times;
    }
    free(counts);
    return status;
}

/* Ensures: also after an error *log can be freed. */
static enum tacit_status fill_log(const struct builder *builder, struct tacit_log *log)
{
    TACIT_TRY(allocate_log(builder, log));
    TACIT_TRY(fill_rows(builder, &log->rows));
    TACIT_TRY(allocate_weights(builder, log));
    sort_rewards(builder, log);
    TACIT_TRY(average_cells(builder, log));
    TACIT_TRY(weigh_cells(builder, log));
    TACIT_TRY(find_traffic(builder, log->traffic));
    return count_units(builder, log);
}

/* ---- Public -------------------------------------------------------------------------------- */

static enum tacit_status find_columns(struct builder *builder)
{
    const struct tacit_log_spec *const spec = builder->spec;
    if (builder->table->row_count < 2)
        return REFUSE(builder, 0,
                      "no rows; the first line names the columns, a row a pull follows");
    TACIT_TRY(find_column(builder, spec->reward_column, &builder->reward_column));
    if (spec->arms == NULL)
        TACIT_TRY(find_column(builder, spec->arm_column, &builder->arm_column));
    if (spec->split == TACIT_LOG_BY_COLUMN)
        TACIT_TRY(find_column(builder, spec->agent_column, &builder->agent_column));
    if (spec->propensity_column != NULL)
        TACIT_TRY(find_column(builder, spec->propensity_column, &builder->propensity_column));
    if (spec->time_column != NULL)
        TACIT_TRY(find_column(builder, spec->time_column, &builder->time_column));
    return spec->unit_column != NULL
               ? find_column(builder, spec->unit_column, &builder->unit_column)
               : TACIT_OK;
}

/* NULL: nothing is missing in the row; else the counter of its reason, and *column is the empty
 * one. */
static uint32_t *reason_of(struct builder *builder, uint32_t row, const char **column)
{
    const struct tacit_log_spec *const spec = builder->spec;
    if (spec->split == TACIT_LOG_BY_COLUMN && spec->missing.agent == NULL &&
        is_empty(field_at(builder, row, builder->agent_column))) {
        *column = spec->agent_column;
        return &builder->without_agent;
    }
    if (spec->arms == NULL && spec->missing.arm == NULL &&
        is_empty(field_at(builder, row, builder->arm_column))) {
        *column = spec->arm_column;
        return &builder->without_arm;
    }
    *column = spec->reward_column;
    return spec->missing.reward == NULL && is_empty(field_at(builder, row, builder->reward_column))
               ? &builder->without_reward
               : NULL;
}

/* Leaves out the rows in which something is missing. */
static enum tacit_status filter_rows(struct builder *builder)
{
    uint32_t const all = builder->table->row_count - 1;
    uint32_t kept = 0;
    builder->rows = malloc(all * sizeof *builder->rows);
    if (builder->rows == NULL)
        return fail_memory(builder);
    for (uint32_t row = 0; row < all; row++)
        builder->rows[row] = row;
    for (uint32_t row = 0; row < all; row++) {
        const char *column;
        uint32_t *const reason = reason_of(builder, row, &column);
        if (reason == NULL)
            builder->rows[kept++] = row;
        else if (builder->spec->missing.is_refused)
            return REFUSE(builder, line_of(builder, row),
                          "column '%s' is empty; 'missing' may say what that means",
                          data_shown_value(column).text);
        else
            (*reason)++;
    }
    builder->n = kept;
    return kept > 0 ? TACIT_OK
                    : REFUSE(builder, 0, "no rows are left: in each of the %u something is missing",
                             all);
}

/* Errors: TACIT_INVALID, with the values that there are. */
static enum tacit_status fail_value(const struct builder *builder, const char *column,
                                    uint32_t column_index, const char *value)
{
    struct values values = {NULL, 0};
    enum tacit_status status = collect_values(builder, column_index, NULL, &values);
    if (status == TACIT_OK)
        status = REFUSE(builder, 0, "column '%s' never holds '%s'; its values are %s",
                        data_shown_value(column).text, data_shown_value(value).text,
                        show_values(&values).text);
    free((void *)values.texts);
    return status;
}

static bool holds(const struct builder *builder, uint32_t column, const char *stand_in,
                  const char *value)
{
    for (uint32_t row = 0; row < builder->n; row++)
        if (strcmp(filled_at(builder, row, column, stand_in), value) == 0)
            return true;
    return false;
}

/* A value that no row holds is a slip of the pen: a reward that is always 0, an arm without rows.
 */
static enum tacit_status check_named_values(const struct builder *builder)
{
    const struct tacit_log_spec *const spec = builder->spec;
    const uint32_t *columns = builder->rule_columns;
    if (spec->reward_value != NULL &&
        !holds(builder, builder->reward_column, spec->missing.reward, spec->reward_value))
        return fail_value(builder, spec->reward_column, builder->reward_column, spec->reward_value);
    for (uint32_t arm = 0; spec->arms != NULL && arm < spec->arm_count; arm++) {
        const struct tacit_log_arm *const rule = &spec->arms[arm];
        bool is_held = false;
        for (uint32_t i = 0; i < rule->column_count && !is_held; i++)
            is_held = holds(builder, columns[i], NULL, rule->value);
        if (!is_held)
            return fail_value(builder, rule->columns[0], columns[0], rule->value);
        columns += rule->column_count;
    }
    return TACIT_OK;
}

/* A comma is the point of a number only where that cannot be mistaken: in no column of numbers is
 * there a point. */
static void find_decimal(struct builder *builder)
{
    struct tacit_log_spec const *const spec = builder->spec;
    uint32_t columns[2];
    uint32_t count = 0;
    bool has_comma = false;
    bool has_point = false;
    builder->decimal = spec->decimal;
    if (builder->decimal != '\0')
        return;
    if (spec->reward_value == NULL)
        columns[count++] = builder->reward_column;
    if (spec->propensity_column != NULL)
        columns[count++] = builder->propensity_column;
    for (uint32_t row = 0; builder->table->separator == ';' && row < builder->n; row++)
        for (uint32_t i = 0; i < count; i++) {
            const char *const field = field_at(builder, row, columns[i]);
            has_comma = has_comma || strchr(field, ',') != NULL;
            has_point = has_point || strchr(field, '.') != NULL;
        }
    builder->decimal = has_comma && !has_point ? ',' : '.';
}

static enum tacit_status read_table(struct builder *builder, struct tacit_rng *rng)
{
    TACIT_TRY(find_columns(builder));
    TACIT_TRY(filter_rows(builder));
    TACIT_TRY(find_arms(builder));
    TACIT_TRY(check_named_values(builder));
    find_decimal(builder);
    TACIT_TRY(split_rows(builder, rng));
    return collect_entries(builder);
}

static void free_builder(struct builder *builder)
{
    data_names_free(&builder->units);
    free(builder->rule_columns);
    free((void *)builder->arm_values.texts);
    free((void *)builder->agent_values.texts);
    free(builder->agents);
    free(builder->rows);
    free(builder->entries);
}

enum tacit_status tacit_log_build(struct tacit_log *log, const struct tacit_table *table,
                                  const char *path, const struct tacit_log_spec *spec,
                                  struct tacit_rng *rng, struct tacit_error *error)
{
    TACIT_ASSERT(spec->reward_column != NULL);
    TACIT_IMPLIES(spec->split == TACIT_LOG_RANDOM, rng != NULL);
    TACIT_IMPLIES(spec->is_uniform || spec->propensity_column != NULL, spec->arms == NULL);
    struct builder builder = {.table = table, .path = path, .spec = spec, .error = error};
    struct tacit_log made = {0};
    enum tacit_status status = read_table(&builder, rng);
    if (status == TACIT_OK)
        status = fill_log(&builder, &made);
    if (status == TACIT_OK)
        *log = made;
    else
        tacit_log_free(&made);
    free_builder(&builder);
    return status;
}

bool tacit_log_number(const struct tacit_log_rows *rows, uint32_t row, uint32_t column,
                      double *value)
{
    TACIT_ASSERT(column < rows->column_count);
    return data_field_decimal(rows->fields[(size_t)row * rows->column_count + column],
                              rows->decimal, value);
}

void tacit_log_free(struct tacit_log *log)
{
    free((void *)log->arm_names);
    free((void *)log->agent_names);
    free(log->start);
    free(log->rewards);
    free(log->means);
    free(log->units);
    free(log->rows.agents);
    free(log->rows.arms);
    free(log->rows.rewards);
    free(log->rows.propensities);
    free(log->rows.lines);
    free(log->rows.bytes);
    free((void *)log->rows.fields);
    free(log->weights.keep);
    free(log->weights.other);
    free(log->weights.errors);
    free(log->gathered.start);
    free(log->gathered.values);
    free(log->gathered.upto);
    *log = (struct tacit_log){0};
}
