/* Arm means from a CSV without a header. Only reads and checks them; env decides what they mean. */
#include "tacit/data.h"
#include "internal.h"
#include <math.h>
#include <stdlib.h>

struct range {
    double lo;
    double hi;
};

static enum tacit_status check_shape(const struct tacit_table *table, const char *path,
                                     struct tacit_error *error)
{
    if (table->row_count == 0)
        return data_fail(error, TACIT_INVALID, path, 0,
                         "no rows; one row for all agents or one row an agent");
    if (table->column_count > TACIT_ARMS_MAX)
        return data_fail(error, TACIT_INVALID, path, table->lines[0], "%u columns; at most %u arms",
                         table->column_count, TACIT_ARMS_MAX);
    if (table->row_count > TACIT_AGENTS_MAX)
        return data_fail(error, TACIT_INVALID, path, table->lines[TACIT_AGENTS_MAX],
                         "%u rows; at most %u agents", table->row_count, TACIT_AGENTS_MAX);
    return TACIT_OK;
}

static enum tacit_status read_values(double *values, const struct tacit_table *table,
                                     struct range range, const char *path,
                                     struct tacit_error *error)
{
    size_t const count = (size_t)table->row_count * table->column_count;
    for (size_t i = 0; i < count; i++) {
        bool const is_number = data_field_number(table->fields[i], &values[i]);
        if (is_number && values[i] >= range.lo && values[i] <= range.hi)
            continue;
        return data_fail(error, TACIT_INVALID, path, table->lines[i / table->column_count],
                         "column %zu: '%s' is %s; means are numbers from %.12g to %.12g",
                         i % table->column_count + 1, data_shown_value(table->fields[i]).text,
                         is_number ? "out of range" : "not a number", range.lo, range.hi);
    }
    return TACIT_OK;
}

/* Errors: *means is untouched. */
static enum tacit_status convert(struct tacit_means *means, const struct tacit_table *table,
                                 struct range range, const char *path, struct tacit_error *error)
{
    TACIT_TRY(check_shape(table, path, error));
    double *const values = malloc((size_t)table->row_count * table->column_count * sizeof *values);
    if (values == NULL)
        return data_fail_memory(error, path);
    enum tacit_status status = read_values(values, table, range, path, error);
    if (status != TACIT_OK) {
        free(values);
        return status;
    }
    *means = (struct tacit_means){
        .values = values, .row_count = table->row_count, .arm_count = table->column_count};
    return TACIT_OK;
}

enum tacit_status tacit_means_read(struct tacit_means *means, const char *path, double lo,
                                   double hi, struct tacit_error *error)
{
    TACIT_ASSERT(isfinite(lo));
    TACIT_ASSERT(isfinite(hi));
    TACIT_ASSERT(lo <= hi);
    struct tacit_table table;
    TACIT_TRY(data_table_read_ruled(&table, path, "every row has one field an arm", error));
    enum tacit_status status =
        convert(means, &table, (struct range){.lo = lo, .hi = hi}, path, error);
    tacit_table_free(&table);
    return status;
}

void tacit_means_free(struct tacit_means *means)
{
    free(means->values);
    *means = (struct tacit_means){0};
}
