/* A table of numbers, written as members of a JSON status or as metrics of Prometheus. */
#include "numbers.h"
#include <stdlib.h>
#include <string.h>

static bool is_counter(const char *metric)
{
    size_t const size = strlen(metric);
    return size > 6 && strcmp(metric + size - 6, "_total") == 0;
}

static void write_head(const char *metric, const char *help, struct live_buffer *out)
{
    TACIT_ASSERT(help != NULL && strchr(help, '\n') == NULL && strchr(help, '\\') == NULL);
    live_buffer_format(out, "# HELP %s %s\n# TYPE %s %s\n", metric, help, metric,
                       is_counter(metric) ? "counter" : "gauge");
}

void live_numbers_show(const struct live_number *numbers, size_t count, json_t *object)
{
    for (size_t i = 0; i < count; i++) {
        struct live_number const *const number = &numbers[i];
        if (number->member == NULL || number->kind == LIVE_ABSENT)
            continue;
        (void)json_object_set_new(object, number->member,
                                  number->kind == LIVE_REAL ? json_real(number->value)
                                  : number->kind == LIVE_FLAG
                                      ? json_boolean(number->value != 0)
                                      : json_integer((json_int_t)number->value));
    }
}

void live_numbers_write(const struct live_number *numbers, size_t count, struct live_buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        struct live_number const *const number = &numbers[i];
        if (number->metric == NULL || number->kind == LIVE_ABSENT)
            continue;
        write_head(number->metric, number->help, out);
        live_buffer_format(out, "%s %.15g\n", number->metric, number->value);
    }
}

static double value_of(const struct live_column *column, uint32_t i)
{
    switch (column->kind) {
    case LIVE_REALS:
        return ((const double *)column->values)[i];
    case LIVE_U32S:
        return ((const uint32_t *)column->values)[i];
    case LIVE_U64S:
        return (double)((const uint64_t *)column->values)[i];
    case LIVE_BITS:
        break;
    }
    return tacit_bits_has(column->values, i) ? 1 : 0;
}

void live_columns_show(const struct live_column *columns, size_t count, uint32_t i, json_t *object)
{
    for (size_t j = 0; j < count; j++) {
        struct live_column const *const column = &columns[j];
        if (column->member == NULL || column->values == NULL)
            continue;
        double const value = value_of(column, i);
        (void)json_object_set_new(object, column->member,
                                  column->kind == LIVE_REALS  ? json_real(value)
                                  : column->kind == LIVE_BITS ? json_boolean(value != 0)
                                                              : json_integer((json_int_t)value));
    }
}

/* A name as the format has it: quotes and backslashes are marked. */
static void write_label(const char *label, const char *name, struct live_buffer *out)
{
    live_buffer_format(out, "{%s=\"", label);
    for (; *name != '\0'; name++) {
        if (*name == '"' || *name == '\\')
            live_buffer_add(out, "\\");
        live_buffer_add_bytes(out, name, 1);
    }
    live_buffer_add(out, "\"}");
}

void live_columns_write(const struct live_column *columns, size_t count, const char *label,
                        const char *const *names, uint32_t things, struct live_buffer *out)
{
    for (size_t j = 0; j < count; j++) {
        struct live_column const *const column = &columns[j];
        if (column->metric == NULL || column->values == NULL)
            continue;
        write_head(column->metric, column->help, out);
        for (uint32_t i = 0; i < things; i++) {
            live_buffer_add(out, column->metric);
            write_label(label, names[i], out);
            live_buffer_format(out, column->kind == LIVE_REALS ? " %.6g\n" : " %.15g\n",
                               value_of(column, i));
        }
    }
}

const struct live_page *live_page_find(const struct live_page *pages, const char *path)
{
    TACIT_ASSERT(path != NULL);
    while (pages != NULL && pages->path != NULL && strcmp(pages->path, path) != 0)
        pages++;
    return pages == NULL || pages->path == NULL ? NULL : pages;
}

void live_buffer_add_tree(struct live_buffer *out, json_t *tree)
{
    char *const text = tree == NULL ? NULL : json_dumps(tree, 0);
    out->failed = out->failed || text == NULL;
    live_buffer_add(out, text == NULL ? "" : text);
    live_buffer_add(out, "\n");
    free(text);
    json_decref(tree);
}
