/* CSV tables in memory, by RFC 4180 and strictly: what the standard does not allow is refused with
 * its line, never guessed at. The fields are cut in place. No types: a field is text until asked.
 */
#include "tacit/data.h"
#include "internal.h"
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX ((size_t)1 << 27)
#define ROWS_MIN 64u
#define FIELDS_MIN 1024u
#define NUMBER_BYTES 512u /* a longer number is not one that a person or a program meant */

struct parser {
    const char *path;
    const char *rule; /* what every row must be, for messages */
    char separator;
    bool has_comments; /* between rows, too; before the first one there may always be some */
    struct tacit_error *error;
    char *next;    /* ends at a NUL, and there is no NUL before */
    uint32_t line; /* of next */
    uint32_t column_count;
    char **fields;
    size_t field_count;
    size_t field_capacity;
    uint32_t *lines;
    uint32_t row_count;
    uint32_t row_capacity;
};

static enum tacit_status refuse(const struct parser *parser, uint32_t line, const char *what)
{
    return data_fail(parser->error, TACIT_INVALID, parser->path, line, "%s", what);
}

static enum tacit_status add_field(struct parser *parser, char *field)
{
    TACIT_ASSERT(parser->field_count <= parser->field_capacity);
    if (parser->field_count == parser->field_capacity) {
        if (parser->field_count >= FIELDS_MAX)
            return data_fail(parser->error, TACIT_INVALID, parser->path, parser->line,
                             "too many fields; at most %zu in a file", FIELDS_MAX);
        size_t const capacity =
            parser->field_capacity == 0 ? FIELDS_MIN : 2 * parser->field_capacity;
        char **const fields = realloc(parser->fields, capacity * sizeof *fields);
        if (fields == NULL)
            return data_fail_memory(parser->error, parser->path);
        parser->fields = fields;
        parser->field_capacity = capacity;
    }
    parser->fields[parser->field_count++] = field;
    return TACIT_OK;
}

static enum tacit_status add_row(struct parser *parser, uint32_t line)
{
    TACIT_ASSERT(parser->row_count <= parser->row_capacity);
    if (parser->row_count == parser->row_capacity) {
        uint32_t const capacity = parser->row_capacity == 0 ? ROWS_MIN : 2 * parser->row_capacity;
        uint32_t *const lines = realloc(parser->lines, capacity * sizeof *lines);
        if (lines == NULL)
            return data_fail_memory(parser->error, parser->path);
        parser->lines = lines;
        parser->row_capacity = capacity;
    }
    parser->lines[parser->row_count++] = line;
    return TACIT_OK;
}

/* The end of a field without quotes. */
static char *scan_bare(const struct parser *parser, char *at)
{
    static const bool stops[256] = {['\0'] = true, ['"'] = true, ['\r'] = true, ['\n'] = true};
    while (!stops[(unsigned char)*at] && *at != parser->separator)
        at++;
    return at;
}

/* Moves what is between the quotes, with each "" made one ", to the beginning of the field.
 * Requires: *start is the opening quote. Ensures: TACIT_OK: *end is where the content ends, *after
 * the byte behind the closing quote. */
static enum tacit_status scan_quoted(struct parser *parser, char *start, char **end, char **after)
{
    TACIT_ASSERT(*start == '"');
    uint32_t const line = parser->line;
    char *out = start;
    for (char *in = start + 1; *in != '\0'; in++) {
        if (in[0] == '"' && in[1] != '"') {
            *end = out;
            *after = in + 1;
            return TACIT_OK;
        }
        in += in[0] == '"';
        parser->line += in[0] == '\n';
        *out++ = *in;
    }
    return refuse(parser, line, "a quote is opened and never closed");
}

/* Steps over what follows a field: a separator, the end of the line or of the file. */
static enum tacit_status pass_delimiter(struct parser *parser, char *after, bool quoted,
                                        bool *row_ends)
{
    *row_ends = *after != parser->separator;
    if (*after == parser->separator) {
        parser->next = after + 1;
        return TACIT_OK;
    }
    if (*after == '\0') {
        parser->next = after;
        return TACIT_OK;
    }
    if (*after == '\r' && after[1] != '\n')
        return refuse(parser, parser->line,
                      "a carriage return without a line feed; lines end in LF or CR LF");
    if (*after == '\r' || *after == '\n') {
        parser->next = after + (*after == '\r' ? 2 : 1);
        parser->line++;
        return TACIT_OK;
    }
    if (quoted)
        return refuse(parser, parser->line,
                      "text behind a closing quote; a quote inside quotes is written twice");
    return refuse(parser, parser->line,
                  "a quote inside a field; put the field in quotes and write the quote twice");
}

static enum tacit_status read_field(struct parser *parser, bool *row_ends)
{
    char *const start = parser->next;
    bool const quoted = *start == '"';
    char *end = start;
    char *after = start;
    if (quoted) {
        TACIT_TRY(scan_quoted(parser, start, &end, &after));
    } else {
        end = after = scan_bare(parser, start);
    }
    TACIT_TRY(pass_delimiter(parser, after, quoted, row_ends));
    *end = '\0';
    return add_field(parser, start);
}

/* The first row says how many fields each has. */
static enum tacit_status check_width(struct parser *parser, uint32_t line, size_t width)
{
    TACIT_ASSERT(width >= 1);
    if (parser->row_count == 0)
        parser->column_count = (uint32_t)width;
    if (width == parser->column_count)
        return TACIT_OK;
    return data_fail(parser->error, TACIT_INVALID, parser->path, line,
                     "%zu field%s, but line %u has %u; %s", width, width == 1 ? "" : "s",
                     parser->lines[0], parser->column_count, parser->rule);
}

static enum tacit_status read_row(struct parser *parser)
{
    uint32_t const line = parser->line;
    size_t const field_first = parser->field_count;
    bool row_ends = false;
    while (!row_ends) {
        TACIT_TRY(read_field(parser, &row_ends));
    }
    TACIT_TRY(check_width(parser, line, parser->field_count - field_first));
    return add_row(parser, line);
}

/* Passes over empty lines and comments. Ensures: next is at a row or at the end. */
static void pass_idle_lines(struct parser *parser)
{
    for (;;) {
        char *line_end = parser->next;
        if (*line_end == '#' && (parser->has_comments || parser->row_count == 0))
            line_end += strcspn(line_end, "\n");
        else if (line_end[0] == '\r' && line_end[1] == '\n')
            line_end++;
        if (*line_end == '\n') {
            parser->next = line_end + 1;
            parser->line++;
        } else {
            if (*line_end == '\0')
                parser->next = line_end;
            return;
        }
    }
}

/* The fields are cut with NULs, so one in the file would cut a field where nobody sees it. */
static enum tacit_status refuse_nul(const struct parser *parser, const struct data_unpacked *file)
{
    TACIT_TRY(data_refuse_utf16(file, parser->path, parser->error));
    const char *const nul = memchr(file->bytes, '\0', file->size);
    if (nul == NULL)
        return TACIT_OK;
    uint32_t line = 1;
    for (const char *at = file->bytes; at < nul; at++)
        line += *at == '\n';
    return refuse(parser, line, "a NUL byte; a table is text in UTF-8 or ASCII");
}

/* A comma in the first row decides: only without one may a semicolon, or else a tab, be what
 * separates. */
static char recognise_separator(const char *at)
{
    bool quoted = false;
    bool has[256] = {false};
    for (; *at != '\0' && (quoted || *at != '\n'); at++) {
        quoted = quoted != (*at == '"');
        has[(unsigned char)*at] = has[(unsigned char)*at] || !quoted;
    }
    return has[','] ? ',' : has[';'] ? ';' : has['\t'] ? '\t' : ',';
}

static enum tacit_status parse(struct parser *parser, const struct data_unpacked *file)
{
    TACIT_TRY(refuse_nul(parser, file));
    if (strncmp(parser->next, "\xEF\xBB\xBF", 3) ==
        0) /* the mark some programs write before UTF-8 */
        parser->next += 3;
    for (;;) {
        pass_idle_lines(parser);
        if (*parser->next == '\0')
            return TACIT_OK;
        if (parser->separator == '\0')
            parser->separator = recognise_separator(parser->next);
        TACIT_TRY(read_row(parser));
    }
}

/* Cuts the file, which becomes the table's or is freed. */
static enum tacit_status cut(struct tacit_table *table, struct data_unpacked *file,
                             struct parser *parser)
{
    parser->next = file->bytes;
    parser->line = 1;
    enum tacit_status const status = parse(parser, file);
    if (status != TACIT_OK) {
        free(parser->fields);
        free(parser->lines);
        free(file->bytes);
        return status;
    }
    *table = (struct tacit_table){.bytes = file->bytes,
                                  .fields = parser->fields,
                                  .lines = parser->lines,
                                  .row_count = parser->row_count,
                                  .column_count = parser->column_count,
                                  .separator = parser->separator};
    return TACIT_OK;
}

enum tacit_status data_table_read_ruled(struct tacit_table *table, const char *path,
                                        const char *rule, struct tacit_error *error)
{
    struct data_unpacked file;
    struct parser parser = {
        .path = path, .rule = rule, .error = error, .separator = ',', .has_comments = true};
    TACIT_TRY(data_unpack_file(&file, path, TACIT_UNPACKED_BYTES_MAX, error));
    return cut(table, &file, &parser);
}

#define SAME_WIDTH "every row has the same number of fields"

enum tacit_status tacit_table_read(struct tacit_table *table, const char *path,
                                   struct tacit_error *error)
{
    return data_table_read_ruled(table, path, SAME_WIDTH, error);
}

enum tacit_status tacit_table_read_dialect(struct tacit_table *table, const char *path,
                                           const struct tacit_dialect *dialect,
                                           struct tacit_error *error)
{
    struct data_unpacked file;
    struct parser parser = {
        .path = path, .rule = SAME_WIDTH, .error = error, .separator = dialect->separator};
    TACIT_ASSERT(dialect->separator != '"');
    TACIT_ASSERT(dialect->separator != '\n');
    TACIT_TRY(data_unpack_file(&file, path, TACIT_UNPACKED_BYTES_MAX, error));
    TACIT_TRY(data_recode(&file, path, dialect->encoding, error));
    return cut(table, &file, &parser);
}

enum tacit_status data_table_read_member(struct tacit_table *table, const char *path,
                                         const char *member, const struct tacit_dialect *dialect,
                                         struct tacit_error *error)
{
    TACIT_ASSERT(dialect->separator != '"');
    TACIT_ASSERT(dialect->separator != '\n');
    struct data_unpacked file;
    struct parser parser = {
        .path = path, .rule = SAME_WIDTH, .error = error, .separator = dialect->separator};
    TACIT_TRY(data_unpack_file(&file, path, TACIT_UNPACKED_BYTES_MAX, error));
    enum tacit_status status = data_archive_extract(&file, path, member, error);
    if (status != TACIT_OK)
        free(file.bytes);
    else
        status = data_recode(&file, path, dialect->encoding, error);
    return status == TACIT_OK ? cut(table, &file, &parser) : status;
}

void tacit_table_free(struct tacit_table *table)
{
    free(table->bytes);
    free(table->fields);
    free(table->lines);
    *table = (struct tacit_table){0};
}

uint32_t tacit_table_column(const struct tacit_table *table, const char *name)
{
    if (table->row_count == 0)
        return UINT32_MAX;
    for (uint32_t column = 0; column < table->column_count; column++) {
        if (strcmp(table->fields[column], name) == 0)
            return column;
    }
    return UINT32_MAX;
}

static const char *pass_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

static const char *pass_digits(const char *at)
{
    return at + strspn(at, "0123456789");
}

/* Where the decimal number at `start` ends, or NULL: strtod alone would take inf, nan and 0x1p3. */
static const char *number_end(const char *start)
{
    const char *const whole = start + (*start == '+' || *start == '-');
    const char *at = pass_digits(whole);
    size_t digit_count = (size_t)(at - whole);
    if (*at == '.') {
        const char *const fraction = at + 1;
        at = pass_digits(fraction);
        digit_count += (size_t)(at - fraction);
    }
    if (digit_count == 0)
        return NULL;
    if (*at != 'e' && *at != 'E')
        return at;
    const char *const power = at + 1 + (at[1] == '+' || at[1] == '-');
    at = pass_digits(power);
    return at == power ? NULL : at;
}

/* strtod wants the decimal point of the locale, which is the host program's and not ours. False:
 * too long. */
static bool localize(char number[NUMBER_BYTES], const char *start, const char *end)
{
    const char *const point = localeconv()->decimal_point;
    size_t const point_size = strlen(point);
    size_t size = 0;
    for (; start < end; start++) {
        const char *const piece = *start == '.' ? point : start;
        size_t const piece_size = *start == '.' ? point_size : 1;
        if (piece_size >= NUMBER_BYTES - size)
            return false;
        memcpy(number + size, piece, piece_size);
        size += piece_size;
    }
    number[size] = '\0';
    return true;
}

bool data_field_number(const char *field, double *value)
{
    const char *const start = pass_blanks(field);
    const char *const end = number_end(start);
    char number[NUMBER_BYTES];
    if (end == NULL || *pass_blanks(end) != '\0' || !localize(number, start, end))
        return false;
    double const read = strtod(number, NULL);
    if (!isfinite(read)) /* 1e999 */
        return false;
    *value = read;
    return true;
}

bool data_field_decimal(const char *field, char decimal, double *value)
{
    TACIT_ASSERT(decimal != '\0');
    char number[NUMBER_BYTES];
    size_t const size = strlen(field);
    if (decimal == '.')
        return data_field_number(field, value);
    if (size >= sizeof number || strchr(field, '.') != NULL)
        return false;
    memcpy(number, field, size + 1);
    char *const comma = strchr(number, decimal);
    if (comma != NULL)
        *comma = '.';
    return data_field_number(number, value);
}
