/* The data room on files that the test makes: tables, packed files, means, logged rows, data sets.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc it also fails every allocation once.
 */
#define _POSIX_C_SOURCE 200809L
#include "../support/testing.h"
#include "tacit/data.h"
#include "../../src/data/internal.h"
#include "../support/temp.h"
#include <locale.h>
#include <lzma.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define PACKED_BYTES 65536u

static char directory[TEMP_PATH_BYTES];

/* ---- Allocations that fail ----------------------------------------------------------------- */

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *bytes, size_t size);
extern void *__real_malloc(size_t size) __attribute__((weak));
extern void *__real_calloc(size_t count, size_t size) __attribute__((weak));
extern void *__real_realloc(void *bytes, size_t size) __attribute__((weak));

/* Fails the allocation that finds the countdown at 0; fires once. */
static struct {
    bool armed;
    bool fired;
    uint32_t countdown;
} fault;

static bool fault_fires(void)
{
    if (!fault.armed || fault.countdown-- > 0)
        return false;
    fault.armed = false;
    fault.fired = true;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fault_fires() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fault_fires() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *bytes, size_t size)
{
    return fault_fires() ? NULL : __real_realloc(bytes, size);
}

/* Runs the operation with its 1st, 2nd, .. allocation failing, until it has no more of them. */
static void expect_memory_errors(enum tacit_status (*operation)(void), uint32_t allocations_min)
{
    assert_non_null(__real_malloc); /* linked with --wrap */
    for (uint32_t k = 0;; k++) {
        fault.armed = true;
        fault.fired = false;
        fault.countdown = k;
        enum tacit_status const status = operation();
        fault.armed = false;
        if (!fault.fired) {
            assert_int_equal(status, TACIT_OK);
            assert_true(k >= allocations_min);
            return;
        }
        assert_int_equal(status, TACIT_MEMORY);
    }
}

/* ---- Helpers ------------------------------------------------------------------------------- */

static int make_directory(void **state)
{
    temp_directory_make(directory);
    return 0;
}

static int remove_directory(void **state)
{
    temp_directory_remove(directory);
    return 0;
}

/* The message must be the path of the file and then exactly `rest`. */
static void assert_message(const struct tacit_error *error, const char *name, const char *rest)
{
    char expected[TEMP_PATH_BYTES + TACIT_ERROR_BYTES];
    snprintf(expected, sizeof expected, "%s/%s%s", directory, name, rest);
    assert_string_equal(error->text, expected);
}

static void expect_table(const char *name, struct tacit_table *table)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, name);
    struct tacit_error error = {{0}};
    enum tacit_status const status = tacit_table_read(table, path, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(status, TACIT_OK);
}

static void expect_table_of(const char *text, struct tacit_table *table)
{
    temp_file_write(directory, "t.csv", text);
    expect_table("t.csv", table);
}

static void expect_table_error(const char *name, enum tacit_status wanted, const char *rest)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, name);
    struct tacit_table table = {.row_count = 77};
    struct tacit_error error;
    assert_int_equal(tacit_table_read(&table, path, &error), wanted);
    assert_message(&error, name, rest);
    assert_int_equal(table.row_count, 77); /* untouched */
    assert_null(table.bytes);
}

static void expect_refused(const char *text, const char *rest)
{
    temp_file_write(directory, "t.csv", text);
    expect_table_error("t.csv", TACIT_INVALID, rest);
}

static const char *field(const struct tacit_table *table, uint32_t row, uint32_t column)
{
    assert_true(row < table->row_count);
    assert_true(column < table->column_count);
    return table->fields[(size_t)row * table->column_count + column];
}

static size_t pack_xz(const char *text, size_t size, uint8_t packed[PACKED_BYTES])
{
    size_t packed_size = 0;
    assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, (const uint8_t *)text, size,
                                             packed, &packed_size, PACKED_BYTES),
                     LZMA_OK);
    return packed_size;
}

/* Mode "wb" begins the file, "ab" adds a member to it. */
static void write_gz(const char *name, const char *mode, const char *text)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, name);
    gzFile const file = gzopen(path, mode);
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
}

static size_t read_back(const char *name, uint8_t bytes[PACKED_BYTES])
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, name);
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    size_t const size = fread(bytes, 1, PACKED_BYTES, file);
    fclose(file);
    return size;
}

/* A table of 3000 rows "i,i*i" with a header, as text. */
static char *long_text(void)
{
    size_t const capacity = 100000;
    char *const text = malloc(capacity);
    assert_non_null(text);
    size_t size = (size_t)snprintf(text, capacity, "i,square\n");
    for (int i = 0; i < 3000; i++)
        size += (size_t)snprintf(text + size, capacity - size, "%d,%d\n", i, i * i);
    return text;
}

static void assert_long_table(struct tacit_table *table)
{
    assert_int_equal(table->row_count, 3001);
    assert_int_equal(table->column_count, 2);
    assert_string_equal(field(table, 3000, 0), "2999");
    assert_string_equal(field(table, 3000, 1), "8994001");
    tacit_table_free(table);
}

/* ---- Tables -------------------------------------------------------------------------------- */

TEST(table_plain)
{
    struct tacit_table table;
    expect_table_of("a,b\n1,2\n3,\n", &table);
    assert_int_equal(table.row_count, 3);
    assert_int_equal(table.column_count, 2);
    assert_string_equal(field(&table, 0, 1), "b");
    assert_string_equal(field(&table, 1, 0), "1");
    assert_string_equal(field(&table, 2, 1), "");
    assert_int_equal(table.lines[2], 3);
    tacit_table_free(&table);
    assert_null(table.bytes);
    tacit_table_free(&table); /* twice is harmless */
}

TEST(table_no_last_newline)
{
    struct tacit_table table;
    expect_table_of("a,b\n1,", &table);
    assert_int_equal(table.row_count, 2);
    assert_string_equal(field(&table, 1, 1), "");
    tacit_table_free(&table);
}

TEST(table_crlf)
{
    struct tacit_table table;
    expect_table_of("a,b\r\n\"1\",2\r\n\r\n3,4\r\n", &table);
    assert_int_equal(table.row_count, 3);
    assert_string_equal(field(&table, 0, 1), "b");
    assert_string_equal(field(&table, 1, 0), "1");
    assert_string_equal(field(&table, 2, 1), "4");
    assert_int_equal(table.lines[2], 4);
    tacit_table_free(&table);
}

TEST(table_quotes)
{
    struct tacit_table table;
    expect_table_of("\"a,b\",\"say \"\"hi\"\"\"\n\"two\nlines\",\"\"\nx,y\n", &table);
    assert_string_equal(field(&table, 0, 0), "a,b");
    assert_string_equal(field(&table, 0, 1), "say \"hi\"");
    assert_string_equal(field(&table, 1, 0), "two\nlines");
    assert_string_equal(field(&table, 1, 1), "");
    assert_int_equal(table.lines[1], 2);
    assert_int_equal(table.lines[2], 4); /* the line feed in quotes counts */
    tacit_table_free(&table);
}

TEST(table_idle_lines)
{
    struct tacit_table table;
    expect_table_of("# made by hand, \"today\n\na,b\n#\r\n\r\n1,#2\n\"#3\",4\n# end", &table);
    assert_int_equal(table.row_count, 3);
    assert_string_equal(field(&table, 0, 0), "a");
    assert_string_equal(field(&table, 1, 1), "#2");
    assert_string_equal(field(&table, 2, 0), "#3");
    assert_int_equal(table.lines[0], 3);
    assert_int_equal(table.lines[1], 6);
    tacit_table_free(&table);
}

TEST(table_byte_order_mark)
{
    struct tacit_table table;
    expect_table_of("\xEF\xBB\xBF"
                    "a,b\n1,2\n",
                    &table);
    assert_string_equal(field(&table, 0, 0), "a");
    tacit_table_free(&table);
    expect_table_of("\xEF\xBB\xBF# comment\na\n", &table);
    assert_int_equal(table.row_count, 1);
    tacit_table_free(&table);
}

TEST(table_empty)
{
    static const char *const texts[] = {"", "\xEF\xBB\xBF", "\n\r\n", "# nothing"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct tacit_table table;
        expect_table_of(texts[i], &table);
        assert_int_equal(table.row_count, 0);
        assert_int_equal(table.column_count, 0);
        assert_int_equal(tacit_table_column(&table, "a"), UINT32_MAX);
        tacit_table_free(&table);
    }
}

TEST(table_column)
{
    struct tacit_table table;
    expect_table_of("a,b,b\n1,2,3\n", &table);
    assert_int_equal(tacit_table_column(&table, "a"), 0);
    assert_int_equal(tacit_table_column(&table, "b"), 1);
    assert_int_equal(tacit_table_column(&table, "1"), UINT32_MAX);
    assert_int_equal(tacit_table_column(&table, ""), UINT32_MAX);
    tacit_table_free(&table);
}

TEST(table_ragged)
{
    expect_refused("a,b\n1\n",
                   ":2: 1 field, but line 1 has 2; every row has the same number of fields");
    expect_refused("# x\na,b\n1,2\n1,2,\n",
                   ":4: 3 fields, but line 2 has 2; every row has the same number of fields");
}

TEST(table_bad_quotes)
{
    expect_refused("a\n\"b\nc\n\nd", ":2: a quote is opened and never closed");
    expect_refused("\"", ":1: a quote is opened and never closed");
    expect_refused("\"a\"\"", ":1: a quote is opened and never closed");
    expect_refused("a\n\"b\nc\"d\n",
                   ":3: text behind a closing quote; a quote inside quotes is written twice");
    expect_refused("a\n5\" disk\n",
                   ":2: a quote inside a field; put the field in quotes and write the quote twice");
}

TEST(table_bare_carriage_return)
{
    expect_refused("a\rb\r", ":1: a carriage return without a line feed; lines end in LF or CR LF");
    expect_refused("a\nb\r", ":2: a carriage return without a line feed; lines end in LF or CR LF");
}

TEST(table_nul)
{
    temp_file_write_bytes(directory, "t.csv", "a,b\n1,\0\n", 8);
    expect_table_error("t.csv", TACIT_INVALID, ":2: a NUL byte; a table is text in UTF-8 or ASCII");
    temp_file_write_bytes(directory, "t.csv", "a\n\0", 3);
    expect_table_error("t.csv", TACIT_INVALID, ":2: a NUL byte; a table is text in UTF-8 or ASCII");
}

TEST(table_missing)
{
    expect_table_error("none.csv", TACIT_IO, ": No such file or directory");
    expect_table_error("none.csv.xz", TACIT_IO, ": No such file or directory");
    expect_table_error(".", TACIT_IO, ": Is a directory");
}

TEST(table_long_path_in_message)
{
    char path[3000];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    path[1] = '\n';
    memcpy(path + sizeof path - 8, "end\n.gz", 8);
    struct tacit_table table;
    struct tacit_error error;
    assert_int_equal(tacit_table_read(&table, path, &error), TACIT_IO);
    assert_memory_equal(error.text, "...xxx", 6);
    assert_non_null(strstr(error.text, "xxend?.gz: File name too long"));
}

/* ---- Packed files -------------------------------------------------------------------------- */

TEST(packed_xz)
{
    char *const text = long_text();
    uint8_t packed[PACKED_BYTES];
    size_t const size = pack_xz(text, strlen(text), packed);
    temp_file_write_bytes(directory, "t.csv.xz", packed, size);
    struct tacit_table table;
    expect_table("t.csv.xz", &table);
    assert_long_table(&table);
    free(text);
}

TEST(packed_xz_two_streams)
{
    uint8_t packed[PACKED_BYTES];
    size_t size = pack_xz("a,b\n1", 5, packed);
    size += pack_xz(",2\n", 3, packed + size);
    temp_file_write_bytes(directory, "t.csv.xz", packed, size);
    struct tacit_table table;
    expect_table("t.csv.xz", &table);
    assert_int_equal(table.row_count, 2);
    assert_string_equal(field(&table, 1, 1), "2");
    tacit_table_free(&table);
}

TEST(packed_xz_cut_everywhere)
{
    uint8_t packed[PACKED_BYTES];
    size_t const size = pack_xz("a,b\n1,2\n", 8, packed);
    for (size_t cut = 0; cut < size; cut++) {
        temp_file_write_bytes(directory, "t.csv.xz", packed, cut);
        expect_table_error("t.csv.xz", TACIT_IO,
                           ": the xz data ends early; the file is incomplete");
    }
}

TEST(packed_xz_damaged)
{
    uint8_t packed[PACKED_BYTES];
    size_t const size = pack_xz("a,b\n1,2\n", 8, packed);
    packed[size / 2] ^= 0x10;
    temp_file_write_bytes(directory, "t.csv.xz", packed, size);
    expect_table_error("t.csv.xz", TACIT_IO, ": damaged xz data");
    temp_file_write(directory, "t.csv.xz", "a,b\n1,2\n3,4\n");
    expect_table_error("t.csv.xz", TACIT_IO, ": not an xz file, though its name ends in .xz");
}

TEST(packed_gz)
{
    char *const text = long_text();
    write_gz("t.csv.gz", "wb", text);
    struct tacit_table table;
    expect_table("t.csv.gz", &table);
    assert_long_table(&table);
    free(text);
}

TEST(packed_gz_two_members)
{
    write_gz("t.csv.gz", "wb", "a,b\n1");
    write_gz("t.csv.gz", "ab", ",2\n");
    struct tacit_table table;
    expect_table("t.csv.gz", &table);
    assert_int_equal(table.row_count, 2);
    assert_string_equal(field(&table, 1, 1), "2");
    tacit_table_free(&table);
}

TEST(packed_gz_cut_everywhere)
{
    write_gz("t.csv.gz", "wb", "a,b\n1,2\n");
    uint8_t packed[PACKED_BYTES];
    size_t const size = read_back("t.csv.gz", packed);
    for (size_t cut = 0; cut < size; cut++) {
        temp_file_write_bytes(directory, "t.csv.gz", packed, cut);
        expect_table_error("t.csv.gz", TACIT_IO,
                           ": the gzip data ends early; the file is incomplete");
    }
}

TEST(packed_gz_damaged)
{
    static const char *const wrong = ": not a gzip file, though its name ends in .gz, or damaged";
    write_gz("t.csv.gz", "wb", "a,b\n1,2\n");
    uint8_t packed[PACKED_BYTES];
    size_t const size = read_back("t.csv.gz", packed);
    packed[size - 5] ^= 1; /* the checksum */
    temp_file_write_bytes(directory, "t.csv.gz", packed, size);
    expect_table_error("t.csv.gz", TACIT_IO, wrong);
    packed[size - 5] ^= 1;
    memcpy(packed + size, "more", 4);
    temp_file_write_bytes(directory, "t.csv.gz", packed, size + 4);
    expect_table_error("t.csv.gz", TACIT_IO, wrong);
    temp_file_write(directory, "t.csv.gz", "a,b\n1,2\n");
    expect_table_error("t.csv.gz", TACIT_IO, wrong);
}

static void expect_limit(const char *name, size_t size)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, name);
    struct tacit_error error;
    struct data_unpacked unpacked;
    assert_int_equal(data_unpack_file(&unpacked, path, size, &error), TACIT_OK);
    assert_int_equal(unpacked.size, size);
    assert_int_equal(unpacked.bytes[size], '\0');
    free(unpacked.bytes);
    assert_int_equal(data_unpack_file(&unpacked, path, size - 1, &error), TACIT_INVALID);
    char rest[64];
    snprintf(rest, sizeof rest, ": too large; at most %zu bytes, unpacked", size - 1);
    assert_message(&error, name, rest);
}

TEST(unpack_limit)
{
    static const size_t sizes[] = {1000, 65535, 65536, 65537, 131072, 200000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *const text = malloc(sizes[i] + 1);
        assert_non_null(text);
        memset(text, 'x', sizes[i]);
        text[sizes[i]] = '\0';
        uint8_t packed[PACKED_BYTES];
        size_t const size = pack_xz(text, sizes[i], packed);
        temp_file_write(directory, "t", text);
        temp_file_write_bytes(directory, "t.xz", packed, size);
        write_gz("t.gz", "wb", text);
        expect_limit("t", sizes[i]);
        expect_limit("t.xz", sizes[i]);
        expect_limit("t.gz", sizes[i]);
        free(text);
    }
}

/* ---- Numbers ------------------------------------------------------------------------------- */

TEST(number_accepted)
{
    static const struct {
        const char *field;
        double value;
    } cases[] = {{"0", 0.0},      {"1", 1.0},
                 {"0.25", 0.25},  {".5", 0.5},
                 {"5.", 5.0},     {"-2.5", -2.5},
                 {"+1", 1.0},     {"1e-3", 1e-3},
                 {"1E+2", 100.0}, {" 0.5 ", 0.5},
                 {"\t7", 7.0},    {"0.1", 0.1},
                 {"1e-999", 0.0}, {"007", 7.0},
                 {"-0", 0.0},     {"1.7976931348623157e308", 1.7976931348623157e308}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = 77.0;
        assert_true(data_field_number(cases[i].field, &value));
        assert_true(value == cases[i].value);
    }
}

TEST(number_refused)
{
    static const char *const cases[] = {
        "",    " ",     "abc",      "nan",   "NaN",          "inf",   "-inf", "1e",
        "1e+", "0x1p3", "0x10",     "1e999", "1,5",          "1.5x",  "1 2",  ".",
        "-",   "--1",   "infinity", "1.2.3", "\xC2\xA0\x31", "1e5.0", "- 1",  "\n1"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = 77.0;
        assert_false(data_field_number(cases[i], &value));
        assert_true(value == 77.0);
    }
    char digits[700];
    memset(digits, '1', sizeof digits);
    double value;
    digits[511] = '\0';
    assert_false(data_field_number(digits, &value)); /* 511 digits are more than a double holds */
    memset(digits, '0', 511);
    assert_true(data_field_number(digits, &value));
    digits[511] = '0';
    digits[512] = '\0';
    assert_false(data_field_number(digits, &value)); /* NUMBER_BYTES */
}

TEST(number_in_a_locale_with_comma)
{
    assert_non_null(setlocale(LC_NUMERIC, "de_DE.UTF-8")); /* tests/meson.build makes it */
    double value = 0.0;
    bool const read = data_field_number("0.25", &value);
    setlocale(LC_NUMERIC, "C");
    assert_true(read);
    assert_true(value == 0.25);
}

TEST(shown_value)
{
    assert_string_equal(data_shown_value("").text, "");
    char value[100];
    memset(value, 'a', sizeof value);
    value[TACIT_SHOWN_BYTES - 1] = '\0';
    assert_string_equal(data_shown_value(value).text, value); /* just fits */
    value[TACIT_SHOWN_BYTES - 1] = 'a';
    value[TACIT_SHOWN_BYTES] = '\0';
    struct data_shown shown = data_shown_value(value);
    assert_int_equal(strlen(shown.text), TACIT_SHOWN_BYTES - 1);
    assert_string_equal(shown.text + TACIT_SHOWN_BYTES - 5, "a...");
    memcpy(value + TACIT_SHOWN_BYTES - 5, "\xC3\xA9", 2); /* would be cut in the middle */
    shown = data_shown_value(value);
    assert_int_equal(strlen(shown.text), TACIT_SHOWN_BYTES - 2);
    assert_string_equal(shown.text + TACIT_SHOWN_BYTES - 6, "a...");
}

/* ---- Means --------------------------------------------------------------------------------- */

static enum tacit_status read_means(const char *text, struct tacit_means *means,
                                    struct tacit_error *error)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, "means.csv");
    temp_file_write(directory, "means.csv", text);
    return tacit_means_read(means, path, 0.0, 1.0, error);
}

TEST(means_read)
{
    struct tacit_means means;
    struct tacit_error error;
    assert_int_equal(read_means("# two agents\n0.1,0.2, 0.3\n0,1,1e-1\r\n", &means, &error),
                     TACIT_OK);
    assert_int_equal(means.row_count, 2);
    assert_int_equal(means.arm_count, 3);
    static const double expected[] = {0.1, 0.2, 0.3, 0.0, 1.0, 0.1};
    for (size_t i = 0; i < 6; i++)
        assert_true(means.values[i] == expected[i]);
    tacit_means_free(&means);
    assert_null(means.values);
    tacit_means_free(&means);
}

TEST(means_in_another_range)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, "means.csv");
    temp_file_write(directory, "means.csv", "-2.5,7\n");
    struct tacit_means means;
    struct tacit_error error;
    assert_int_equal(tacit_means_read(&means, path, -2.5, 7.0, &error), TACIT_OK);
    tacit_means_free(&means);
    assert_int_equal(tacit_means_read(&means, path, -2.5, 6.5, &error), TACIT_INVALID);
    assert_message(&error, "means.csv",
                   ":1: column 2: '7' is out of range; means are numbers from -2.5 to 6.5");
}

TEST(means_refused)
{
    static const struct {
        const char *text;
        const char *rest;
    } cases[] = {
        {"", ": no rows; one row for all agents or one row an agent"},
        {"0.1,0.2\n0.1,0.2\n0.1,abc\n",
         ":3: column 2: 'abc' is not a number; means are numbers from 0 to 1"},
        {"1,1,1,1,1\n1,1,1,1\n", ":2: 4 fields, but line 1 has 5; every row has one field an arm"},
        {"0.5,nan\n", ":1: column 2: 'nan' is not a number; means are numbers from 0 to 1"},
        {"inf\n", ":1: column 1: 'inf' is not a number; means are numbers from 0 to 1"},
        {"0.5,0.5x\n", ":1: column 2: '0.5x' is not a number; means are numbers from 0 to 1"},
        {"0x1p-1\n", ":1: column 1: '0x1p-1' is not a number; means are numbers from 0 to 1"},
        {"0.5,\n", ":1: column 2: '' is not a number; means are numbers from 0 to 1"},
        {"\n0.5,1.01\n", ":2: column 2: '1.01' is out of range; means are numbers from 0 to 1"},
        {"-1e-9\n", ":1: column 1: '-1e-9' is out of range; means are numbers from 0 to 1"},
        {"\"a\nb\"\n", ":1: column 1: 'a?b' is not a number; means are numbers from 0 to 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tacit_means means = {.arm_count = 77};
        struct tacit_error error;
        assert_int_equal(read_means(cases[i].text, &means, &error), TACIT_INVALID);
        assert_message(&error, "means.csv", cases[i].rest);
        assert_int_equal(means.arm_count, 77);
    }
}

TEST(means_missing)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, "none.csv");
    struct tacit_means means;
    struct tacit_error error;
    assert_int_equal(tacit_means_read(&means, path, 0.0, 1.0, &error), TACIT_IO);
    assert_message(&error, "none.csv", ": No such file or directory");
}

TEST(means_most_arms)
{
    char *const text = malloc(2 * TACIT_ARMS_MAX + 3);
    assert_non_null(text);
    for (size_t i = 0; i <= TACIT_ARMS_MAX; i++)
        memcpy(text + 2 * i, "1,", 2);
    text[2 * TACIT_ARMS_MAX - 1] = '\0';
    struct tacit_means means;
    struct tacit_error error;
    assert_int_equal(read_means(text, &means, &error), TACIT_OK);
    assert_int_equal(means.arm_count, TACIT_ARMS_MAX);
    tacit_means_free(&means);
    text[2 * TACIT_ARMS_MAX - 1] = ',';
    text[2 * TACIT_ARMS_MAX + 1] = '\0';
    assert_int_equal(read_means(text, &means, &error), TACIT_INVALID);
    assert_message(&error, "means.csv", ":1: 65537 columns; at most 65536 arms");
    free(text);
}

/* ---- Edges ----------------------------------------------------------------------------------- */

static enum tacit_status read_edges(const char *text, uint32_t agent_count,
                                    struct tacit_edges *edges, struct tacit_error *error)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, "edges.csv");
    temp_file_write(directory, "edges.csv", text);
    return tacit_edges_read(edges, path, agent_count, error);
}

TEST(edges_read)
{
    static const char *const texts[] = {"0,1\n2,1\n1,2\n", "# a list\n 0 , 1\r\n\n2,1\n1,2",
                                        "0 1\n2\t1\n  1   2  \n"};
    static const struct tacit_edge expected[] = {{0, 1}, {2, 1}, {1, 2}}; /* as they are listed */
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct tacit_edges edges;
        struct tacit_error error;
        assert_int_equal(read_edges(texts[i], 3, &edges, &error), TACIT_OK);
        assert_int_equal(edges.count, 3);
        assert_memory_equal(edges.items, expected, sizeof expected);
        tacit_edges_free(&edges);
        assert_null(edges.items);
        tacit_edges_free(&edges);
    }
}

TEST(edges_none)
{
    struct tacit_edges edges;
    struct tacit_error error;
    assert_int_equal(read_edges("# nothing\n", 1, &edges, &error), TACIT_OK);
    assert_int_equal(edges.count, 0);
    tacit_edges_free(&edges);
}

#define NO_EDGE ": not an edge; an edge is two different agents, like 0,1"

TEST(edges_refused)
{
    static const struct {
        const char *text;
        const char *rest;
    } cases[] = {
        {"0,1\n0,3\n", ":2: '3' is out of range; agents are numbered 0 to 2"},
        {"4,3\n", ":1: '4' is out of range; agents are numbered 0 to 2"},
        {"0 3\n", ":1: '0 3' is out of range; agents are numbered 0 to 2"},
        {"0,18446744073709551616\n",
         ":1: '18446744073709551616' is out of range; agents are numbered 0 to 2"},
        {"0,4294967296\n", ":1: '4294967296' is out of range; agents are numbered 0 to 2"},
        {"1,1\n", ":1: joins agent 1 with itself; an edge is two different agents, like 0,1"},
        {"0\n", ":1" NO_EDGE},
        {"0,\n", ":1" NO_EDGE},
        {",1\n", ":1" NO_EDGE},
        {"0,1,2\n", ":1" NO_EDGE},
        {"0 1 2\n", ":1" NO_EDGE},
        {"0 1,2\n", ":1" NO_EDGE},
        {"0,1 2\n", ":1" NO_EDGE},
        {"0,+1\n", ":1" NO_EDGE},
        {"0,-1\n", ":1" NO_EDGE},
        {"0,0x1\n", ":1" NO_EDGE},
        {"0;1\n", ":1" NO_EDGE},
        {"0,1\n0 1\n", ":2: 1 field, but line 1 has 2; an edge is two different agents, like 0,1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tacit_edges edges = {.count = 77};
        struct tacit_error error;
        assert_int_equal(read_edges(cases[i].text, 3, &edges, &error), TACIT_INVALID);
        assert_message(&error, "edges.csv", cases[i].rest);
        assert_int_equal(edges.count, 77); /* untouched */
    }
}

/* ---- Logged rows --------------------------------------------------------------------------- */

/* Reads the text as a table and builds the log; the table is gone when this returns. */
static enum tacit_status build(const char *text, const struct tacit_log_spec *spec,
                               struct tacit_rng *rng, struct tacit_log *log,
                               struct tacit_error *error)
{
    struct tacit_table table;
    expect_table_of(text, &table);
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, "t.csv");
    enum tacit_status const status = tacit_log_build(log, &table, path, spec, rng, error);
    tacit_table_free(&table);
    return status;
}

static void expect_log_refused(const char *text, const struct tacit_log_spec *spec,
                               const char *rest)
{
    struct tacit_log log = {.arm_count = 77};
    struct tacit_error error;
    assert_int_equal(build(text, spec, NULL, &log, &error), TACIT_INVALID);
    assert_message(&error, "t.csv", rest);
    assert_int_equal(log.arm_count, 77);
}

static void assert_cell(const struct tacit_log *log, uint32_t agent, uint32_t arm,
                        const double *rewards, uint32_t count)
{
    uint32_t const cell = agent * log->arm_count + arm;
    assert_int_equal(log->start[cell + 1] - log->start[cell], count);
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(log->rewards[log->start[cell] + i] == rewards[i]);
        sum += rewards[i];
    }
    assert_true(log->means[cell] == sum / (double)count);
}

#define CELL(log, agent, arm, ...)                                                                 \
    assert_cell(log, agent, arm, (const double[]){__VA_ARGS__},                                    \
                sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static const struct tacit_log_arm drug_arms[] = {
    {.name = "any",
     .match = TACIT_LOG_MATCH_ANY,
     .columns = (const char *const[]){"x", "y"},
     .column_count = 2,
     .value = "Up"},
    {.name = "all",
     .match = TACIT_LOG_MATCH_ALL,
     .columns = (const char *const[]){"y", "x"},
     .column_count = 2,
     .value = "No"},
    {.name = "y up",
     .match = TACIT_LOG_MATCH_ANY,
     .columns = (const char *const[]){"y"},
     .column_count = 1,
     .value = "Up"},
};

static const char drug_text[] = "r,x,y\n"
                                "yes,Up,No\n"
                                "no,Up,Up\n" /* in two arms */
                                "maybe,No,No\n"
                                "yes,No,Down\n" /* in none */
                                "no,No,Up\n"
                                "yes,No,No\n";

static const struct tacit_log_spec drug_spec = {.arms = drug_arms,
                                                .arm_count = 3,
                                                .reward_column = "r",
                                                .reward_value = "yes",
                                                .split = TACIT_LOG_SEQUENTIAL,
                                                .agent_count = 2};

TEST(log_by_rules)
{
    struct tacit_log log;
    struct tacit_error error;
    assert_int_equal(build(drug_text, &drug_spec, NULL, &log, &error), TACIT_OK);
    assert_int_equal(log.agent_count, 2);
    assert_int_equal(log.arm_count, 3);
    assert_string_equal(log.arm_names[0], "any");
    assert_string_equal(log.arm_names[2], "y up");
    assert_true(log.binary);
    assert_int_equal(log.start[6], 7);
    CELL(&log, 0, 0, 1.0, 0.0);
    CELL(&log, 0, 1, 0.0);
    CELL(&log, 0, 2, 0.0);
    CELL(&log, 1, 0, 0.0);
    CELL(&log, 1, 1, 1.0);
    CELL(&log, 1, 2, 0.0);
    tacit_log_free(&log);
    assert_null(log.start);
    tacit_log_free(&log);
}

static const char column_text[] = "who,arm,reward\n"
                                  "10,b,0.5\n"
                                  "2,a,1\n"
                                  "2,b,0\n"
                                  "10,a,-3e1\n"
                                  "10,b,0.25\n";

static const struct tacit_log_spec column_spec = {.arm_column = "arm",
                                                  .reward_column = "reward",
                                                  .split = TACIT_LOG_BY_COLUMN,
                                                  .agent_column = "who",
                                                  .agent_count = 2};

/* Weights 1/p of the four rows of a cell: 2, 4, 8, 2. */
TEST(log_gathers_what_its_rows_are_drawn_with)
{
    static const char text[] = "who,arm,reward,p\n1,a,5,0.5\n1,a,3,0.25\n1,a,5,0.125\n"
                               "1,b,7,0.5\n1,a,4,0.5\n1,b,7,0.25\n";
    struct tacit_log_spec spec = column_spec;
    spec.agent_count = 1;
    for (int is_weighted = 0; is_weighted < 2; is_weighted++) {
        double const weights[] = {is_weighted ? 4 : 1, is_weighted ? 2 : 1, is_weighted ? 10 : 2};
        double const total = weights[0] + weights[1] + weights[2];
        struct tacit_log log;
        struct tacit_error error;
        spec.propensity_column = is_weighted ? "p" : NULL;
        assert_int_equal(build(text, &spec, NULL, &log, &error), TACIT_OK);
        assert_int_equal(log.weights.keep != NULL, is_weighted);
        double const mean = (3 * weights[0] + 4 * weights[1] + 5 * weights[2]) / total;
        assert_true(fabs(log.means[0] - mean) < 1e-13 && log.means[1] == 7.0);
        assert_int_equal(tacit_log_gather(&log), TACIT_OK);
        assert_int_equal(log.gathered.start[1], 3);
        assert_int_equal(log.gathered.start[2], 4);
        double sum = 0;
        for (uint32_t i = 0; i < 3; i++) {
            sum += weights[i] / total;
            assert_true(log.gathered.values[i] == 3.0 + i);
            assert_true(fabs(log.gathered.upto[i] / log.gathered.upto[2] - sum) < 1e-13);
        }
        assert_true(log.gathered.values[3] == 7.0);
        tacit_log_free(&log);
    }
}

/* Day by day, from the weekday from which it takes longest. */
static double days_naively(const double *traffic, double slots)
{
    double most = 0;
    for (uint32_t first = 0; first < TACIT_WEEKDAYS; first++) {
        double days = 0;
        for (double left = slots; left > 0; days++)
            left -= traffic[(first + (uint32_t)days) % TACIT_WEEKDAYS];
        most = days > most ? days : most;
    }
    return most;
}

/* Of "2" there are fewer rows: two on Sundays, of which 10 days from a Thursday have one, one on
 * a Friday, of which they have two. */
TEST(log_tells_days)
{
    static const struct {
        const char *field;
        int32_t day; /* INT32_MIN: refused */
    } cases[] = {{"1970-01-01", 0},
                 {"2024-02-29T23:59:59.5+02:00", 19782},
                 {"2024-05-31 08:00", 19874},
                 {"2000-03-01", 11017},
                 {"1969-12-31", -1},
                 {"86399.9", 0},
                 {"1717113600", 19874},
                 {"0", 0},
                 {"1717113600000", INT32_MIN},
                 {"-1", INT32_MIN},
                 {"2023-02-29", INT32_MIN},
                 {"1900-02-29", INT32_MIN},
                 {"2024-13-01", INT32_MIN},
                 {"31.05.2024", INT32_MIN},
                 {"2024-05-31x", INT32_MIN},
                 {"2024-05-31T", INT32_MIN},
                 {"2024-5-31", INT32_MIN},
                 {"", INT32_MIN}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int32_t day = INT32_MIN;
        assert_int_equal(data_field_day(cases[i].field, &day), cases[i].day != INT32_MIN);
        assert_int_equal(day, cases[i].day);
    }
    assert_int_equal(data_weekday(0), 3);
    assert_int_equal(data_weekday(-4), 6);
    static const char text[] = "who,arm,reward,at\n1,a,1,2024-05-30\n1,a,1,2024-05-30\n"
                               "1,b,0,2024-05-30\n1,b,0,2024-06-08\n2,a,0,2024-06-02\n"
                               "2,b,0,2024-06-02\n2,a,1,2024-05-31\n";
    static const double expected[TACIT_WEEKDAYS] = {0, 0, 0, 0, 0.5, 0, 2};
    struct tacit_log_spec spec = column_spec;
    struct tacit_log log;
    struct tacit_error error;
    spec.time_column = "at";
    assert_int_equal(build(text, &spec, NULL, &log, &error), TACIT_OK);
    for (uint32_t i = 0; i < TACIT_WEEKDAYS; i++)
        assert_true(log.traffic[i] == expected[i]);
    for (double slots = 0; slots < 20; slots += 0.5)
        assert_true(tacit_traffic_days(log.traffic, slots) == days_naively(log.traffic, slots));
    tacit_log_free(&log);
    expect_log_refused("who,arm,reward,at\n1,a,1,0\n2,a,1,monday\n", &spec,
                       ":3: column 'at': 'monday' is no time; allowed: dates like 2024-05-31, also "
                       "with a time of day behind them, or seconds since 1970");
}

/* "x" comes to both agents, and to agent "1" for both arms. */
TEST(log_tells_whose_rewards_are)
{
    static const char text[] = "who,arm,reward,customer\n1,a,1,x\n1,a,2,y\n1,a,3,x\n1,b,4,x\n"
                               "1,b,5,z\n2,a,6,x\n2,a,7,y\n2,b,8,x\n";
    static const uint32_t expected[] = {0, 1, 0, 0, 2, 3, 4, 3};
    struct tacit_log_spec spec = column_spec;
    struct tacit_log log;
    struct tacit_error error;
    spec.unit_column = "customer";
    assert_int_equal(build(text, &spec, NULL, &log, &error), TACIT_OK);
    assert_memory_equal(log.units, expected, sizeof expected);
    assert_int_equal(log.unit_count, 5);
    assert_int_equal(log.units_fewest, 1);
    tacit_log_free(&log);
    expect_log_refused("who,arm,reward,customer\n1,a,1,x\n2,a,1, \n", &spec,
                       ":3: column 'customer' is empty: whose reward is it? Each row needs a unit");
}

TEST(log_by_columns)
{
    struct tacit_log log;
    struct tacit_error error;
    assert_int_equal(build(column_text, &column_spec, NULL, &log, &error), TACIT_OK);
    assert_int_equal(log.agent_count, 2);
    assert_int_equal(log.arm_count, 2);
    assert_string_equal(log.arm_names[0], "a");
    assert_string_equal(log.arm_names[1], "b");
    assert_false(log.binary);
    CELL(&log, 0, 0, 1.0); /* agent 0 is "2": whole numbers sort by value */
    CELL(&log, 0, 1, 0.0);
    CELL(&log, 1, 0, -30.0);
    CELL(&log, 1, 1, 0.5, 0.25);
    tacit_log_free(&log);
}

TEST(log_sorts_values)
{
    struct tacit_log_spec const spec = {
        .arm_column = "arm", .reward_column = "r", .split = TACIT_LOG_SEQUENTIAL, .agent_count = 1};
    struct tacit_log log;
    struct tacit_error error;
    assert_int_equal(build("arm,r\nb,1\n10,1\n9,1\n007,1\nB,1\n0,1\n1a,1\n\"\",1\n9,0\n", &spec,
                           NULL, &log, &error),
                     TACIT_OK);
    static const char *const expected[] = {"0", "9", "10", "007", "1a", "B", "b"};
    assert_int_equal(log.arm_count, 7);
    assert_int_equal(log.row_count, 8);
    assert_int_equal(log.without_arm, 1);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(log.arm_names[i], expected[i]);
    assert_true(log.binary);
    tacit_log_free(&log);
}

/* n rows of one arm whose reward is the number of the row. */
static void write_numbered(char *text, size_t capacity, uint32_t n)
{
    size_t size = (size_t)snprintf(text, capacity, "arm,reward\n");
    for (uint32_t row = 0; row < n; row++)
        size += (size_t)snprintf(text + size, capacity - size, "x,%u\n", row);
}

static void build_numbered(uint32_t n, uint32_t agent_count, enum tacit_log_split split,
                           struct tacit_rng rng, struct tacit_log *log)
{
    char text[4096];
    write_numbered(text, sizeof text, n);
    struct tacit_log_spec const spec = {
        .arm_column = "arm", .reward_column = "reward", .split = split, .agent_count = agent_count};
    struct tacit_error error;
    assert_int_equal(build(text, &spec, &rng, log, &error), TACIT_OK);
}

static struct tacit_rng split_stream(uint64_t seed)
{
    return tacit_rng_stream(seed, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_SPLIT);
}

TEST(log_sequential_split)
{
    for (uint32_t n = 1; n <= 20; n++) {
        for (uint32_t agent_count = 1; agent_count <= n; agent_count++) {
            struct tacit_log log;
            build_numbered(n, agent_count, TACIT_LOG_SEQUENTIAL, split_stream(1), &log);
            for (uint32_t agent = 0; agent <= agent_count; agent++)
                assert_int_equal(log.start[agent], n * agent / agent_count);
            for (uint32_t row = 0; row < n; row++)
                assert_true(log.rewards[row] == (double)row);
            tacit_log_free(&log);
        }
    }
}

TEST(log_random_split)
{
    enum { N = 200, A = 7 };
    struct tacit_log log;
    struct tacit_log again;
    struct tacit_log other;
    build_numbered(N, A, TACIT_LOG_RANDOM, split_stream(5), &log);
    build_numbered(N, A, TACIT_LOG_RANDOM, split_stream(5), &again);
    build_numbered(N, A, TACIT_LOG_RANDOM, split_stream(6), &other);
    for (uint32_t agent = 0; agent <= A; agent++)
        assert_int_equal(log.start[agent], N * agent / A);
    bool seen[N] = {false};
    for (uint32_t i = 0; i < N; i++) {
        uint32_t const row = (uint32_t)log.rewards[i];
        assert_true(row < N);
        assert_false(seen[row]);
        seen[row] = true;
    }
    assert_memory_equal(log.rewards, again.rewards, N * sizeof(double));
    assert_memory_not_equal(log.rewards, other.rewards, N * sizeof(double));
    tacit_log_free(&log);
    tacit_log_free(&again);
    tacit_log_free(&other);
}

/* Each of 4 rows goes to agent 0 of 4 with probability 1/4: over 2000 splits the deviation is 19.4,
 * and 5.4 of them (105) are passed with probability below 1e-6 over the 4 rows. */
TEST(log_random_split_is_fair)
{
    enum { SPLITS = 2000, N = 4 };
    uint32_t counts[N] = {0};
    for (uint32_t i = 0; i < SPLITS; i++) {
        struct tacit_log log;
        build_numbered(N, N, TACIT_LOG_RANDOM, split_stream(i), &log);
        for (uint32_t j = log.start[0]; j < log.start[1]; j++)
            counts[(uint32_t)log.rewards[j]]++;
        tacit_log_free(&log);
    }
    for (uint32_t row = 0; row < N; row++)
        assert_in_range(counts[row], SPLITS / 4 - 105, SPLITS / 4 + 105);
}

TEST(log_empty_cells)
{
    struct tacit_log_spec spec = drug_spec;
    spec.agent_count = 3;
    expect_log_refused(drug_text, &spec,
                       ": agent 0 (they count from 0), arm 'all': no rows; every agent needs a row "
                       "of every arm");
    expect_log_refused("who,arm,reward\nw,a,1\nw,b,1\nv,b,1\n", &column_spec,
                       ": agent 'v', arm 'a': no rows; every agent needs a row of every arm");
    spec = drug_spec;
    spec.agent_count = 1;
    expect_log_refused("r,x,y\n1,2,3\n", &spec, ": column 'r' never holds 'yes'; its values are 1");
}

/* A row in which something is missing is left out and counted once, unless a word stands in for it.
 */
TEST(log_missing_cells)
{
    static const char text[] = "who,arm,reward\nv,a,1\n,a,1\nv, ,2\nv,b,\n,,\nv,b,0\n";
    struct tacit_log_spec spec = column_spec;
    struct tacit_log log;
    struct tacit_error error;
    spec.agent_count = 0;
    assert_int_equal(build(text, &spec, NULL, &log, &error), TACIT_OK);
    assert_int_equal(log.row_count, 2);
    assert_int_equal(log.without_agent, 2);
    assert_int_equal(log.without_arm, 1);
    assert_int_equal(log.without_reward, 1);
    assert_int_equal(log.agent_count, 1);
    assert_string_equal(log.agent_names[0], "v");
    CELL(&log, 0, 0, 1.0);
    CELL(&log, 0, 1, 0.0);
    tacit_log_free(&log);

    spec.missing.arm = "none";
    spec.missing.reward = "0.5";
    assert_int_equal(build(text, &spec, NULL, &log, &error), TACIT_OK);
    assert_int_equal(log.arm_count, 3);
    assert_int_equal(log.without_agent, 2);
    assert_int_equal(log.without_arm + log.without_reward, 0);
    assert_string_equal(log.arm_names[2], "none");
    CELL(&log, 0, 1, 0.5, 0.0);
    CELL(&log, 0, 2, 2.0);
    tacit_log_free(&log);

    spec = column_spec;
    spec.missing.is_refused = true;
    expect_log_refused(text, &spec, ":3: column 'who' is empty; 'missing' may say what that means");
    expect_log_refused("who,arm,reward\nv,,1\n", &column_spec,
                       ": no rows are left: in each of the 1 something is missing");
}

/* A value that no row holds would make every reward 0, or an arm of nothing. */
TEST(log_values_that_never_occur)
{
    struct tacit_log_spec spec = column_spec;
    spec.reward_value = "Yes";
    expect_log_refused("who,arm,reward\nv,a,yes\nv,b,no\n", &spec,
                       ": column 'reward' never holds 'Yes'; its values are no, yes");
    struct tacit_log_spec rules = drug_spec;
    rules.agent_count = 1;
    expect_log_refused("r,x,y\nyes,2,3\n", &rules,
                       ": column 'x' never holds 'Up'; its values are 2");
}

static void expect_dialect(const char *text, const struct tacit_dialect *dialect, const char *first,
                           const char *second)
{
    char path[TEMP_PATH_BYTES];
    struct tacit_table table;
    struct tacit_error error;
    temp_file_write(directory, "d.csv", text);
    temp_path(path, directory, "d.csv");
    assert_int_equal(tacit_table_read_dialect(&table, path, dialect, &error), TACIT_OK);
    assert_true(table.column_count >= 2);
    assert_string_equal(table.fields[table.column_count], first);
    assert_string_equal(table.fields[table.column_count + 1], second);
    tacit_table_free(&table);
}

TEST(table_separators_are_recognised_where_that_is_safe)
{
    struct tacit_dialect const any = {0};
    struct tacit_dialect const bar = {.separator = '|'};
    expect_dialect("a;b\n1,5;x\n", &any, "1,5", "x");
    expect_dialect("\"a,z\";b\n1;\"x;y\"\n", &any, "1", "x;y");
    expect_dialect("a\tb\n1;2\tx\n", &any, "1;2", "x");
    expect_dialect("a;c,b\n1;2,x\n", &any, "1;2", "x");
    expect_dialect("a|b\n1,2|x\n", &bar, "1,2", "x");
}

TEST(table_encodings)
{
    struct tacit_dialect const utf8 = {.encoding = TACIT_ENCODING_UTF8};
    struct tacit_dialect const cp1252 = {.encoding = TACIT_ENCODING_CP1252};
    struct tacit_dialect const latin1 = {.encoding = TACIT_ENCODING_LATIN1};
    char path[TEMP_PATH_BYTES];
    struct tacit_table table;
    struct tacit_error error;
    expect_dialect("a,b\nK\xc3\xb6ln,1\n", &utf8, "K\xc3\xb6ln", "1");
    expect_dialect("a,b\nK\xf6ln,\x80\n", &cp1252, "K\xc3\xb6ln", "\xe2\x82\xac");
    expect_dialect("a,b\nK\xf6ln,1\n", &latin1, "K\xc3\xb6ln", "1");
    temp_file_write(directory, "d.csv", "a,b\nK\xf6ln,1\n");
    temp_path(path, directory, "d.csv");
    assert_int_equal(tacit_table_read_dialect(&table, path, &utf8, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "d.csv:2: bytes that are not UTF-8; 'encoding' may say"));
    temp_file_write(directory, "d.csv", "a,b\n\n\x81,1\n");
    assert_int_equal(tacit_table_read_dialect(&table, path, &cp1252, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "d.csv:3: bytes that are not CP1252"));
}

static enum tacit_status build_written(const char *text, char decimal, struct tacit_log *log)
{
    char path[TEMP_PATH_BYTES];
    struct tacit_table table;
    struct tacit_error error;
    struct tacit_dialect const any = {0};
    struct tacit_log_spec spec = column_spec;
    spec.agent_count = 0;
    spec.decimal = decimal;
    temp_file_write(directory, "d.csv", text);
    temp_path(path, directory, "d.csv");
    assert_int_equal(tacit_table_read_dialect(&table, path, &any, &error), TACIT_OK);
    enum tacit_status const status = tacit_log_build(log, &table, path, &spec, NULL, &error);
    tacit_table_free(&table);
    return status;
}

/* 1,5 between semicolons is one and a half; a point anywhere makes it no number. */
TEST(log_decimal_commas)
{
    struct tacit_log log;
    assert_int_equal(build_written("who;arm;reward\nv;a;1,5\nv;b;-0,25\n", '\0', &log), TACIT_OK);
    CELL(&log, 0, 0, 1.5);
    CELL(&log, 0, 1, -0.25);
    tacit_log_free(&log);
    assert_int_equal(build_written("who;arm;reward\nv;a;1,5\nv;b;0.25\n", '\0', &log),
                     TACIT_INVALID);
    assert_int_equal(build_written("who;arm;reward\nv;a;1.5\nv;b;0.25\n", ',', &log),
                     TACIT_INVALID);
    assert_int_equal(build_written("who,arm,reward\nv,a,\"1,5\"\n", ',', &log), TACIT_OK);
    CELL(&log, 0, 0, 1.5);
    tacit_log_free(&log);
}

TEST(log_no_rows)
{
    static const char *const rest =
        ": no rows; the first line names the columns, a row a pull follows";
    expect_log_refused("", &column_spec, rest);
    expect_log_refused("who,arm,reward\n", &column_spec, rest);
}

TEST(log_unknown_columns)
{
    static const char text[] = "# log\nwho,arm,reward\n1,2,3\n";
    struct tacit_log_spec spec = column_spec;
    spec.agent_column = "whom";
    expect_log_refused(text, &spec, ":2: no column 'whom'; the columns are who, arm, reward");
    spec = column_spec;
    spec.arm_column = "";
    expect_log_refused(text, &spec, ":2: no column ''; the columns are who, arm, reward");
    spec = column_spec;
    spec.reward_column = "2";
    expect_log_refused(text, &spec, ":2: no column '2'; the columns are who, arm, reward");
    expect_log_refused("r,x,z\n1,2,3\n", &drug_spec, ":1: no column 'y'; the columns are r, x, z");
    expect_log_refused("who,arm,reward,arm\n1,2,3,4\n", &column_spec,
                       ":1: columns 2 and 4 are both 'arm'; name a column that is there once");
}

TEST(log_unknown_column_of_many)
{
    char text[4096] = "c0";
    size_t size = 2;
    for (int i = 1; i < 200; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, ",c%d", i);
    text[size++] = '\n';
    memset(text + size, ',', 199); /* a row of 200 empty fields */
    text[size + 199] = '\0';
    struct tacit_table table;
    temp_file_write(directory, "t.csv", text);
    expect_table("t.csv", &table);
    struct tacit_log log;
    struct tacit_error error;
    assert_int_equal(tacit_log_build(&log, &table, "t.csv", &column_spec, NULL, &error),
                     TACIT_INVALID);
    tacit_table_free(&table);
    assert_non_null(strstr(error.text, "t.csv:1: no column 'reward'; the columns are c0, c1, "));
    assert_string_equal(error.text + strlen(error.text) - 3, "...");
}

TEST(log_bad_rewards)
{
    static const char *const bad[] = {"much", "nan", "-", "1e999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[128];
        char rest[128];
        snprintf(text, sizeof text, "who,arm,reward\n1,a,1\n\n2,b,%s\n", bad[i]);
        snprintf(rest, sizeof rest,
                 ":4: column 'reward': '%s' is not a number; rewards are finite numbers", bad[i]);
        expect_log_refused(text, &column_spec, rest);
    }
    struct tacit_log_spec spec = column_spec;
    spec.agent_count = 1;
    expect_log_refused("who,arm,reward\n1,a,1e308\n1,a,1e308\n", &spec,
                       ": agent '1', arm 'a': the rewards are too large to be added");
}

/* A reward that belongs to no arm is nobody's, so it may be anything. */
TEST(log_reward_outside_all_arms)
{
    struct tacit_log_spec spec = drug_spec;
    spec.reward_value = NULL;
    spec.arm_count = 1;
    spec.agent_count = 1;
    struct tacit_log log;
    struct tacit_error error;
    assert_int_equal(build("r,x,y\n?,No,No\n0.5,Up,No\n", &spec, NULL, &log, &error), TACIT_OK);
    CELL(&log, 0, 0, 0.5);
    assert_false(log.binary);
    tacit_log_free(&log);
}

TEST(log_wrong_counts)
{
    struct tacit_log_spec spec = column_spec;
    spec.agent_count = 3;
    expect_log_refused(column_text, &spec,
                       ": column 'who' has 2 values, but the number of agents is 3; the two must "
                       "be equal (2, 10)");
    spec.agent_count = 1;
    expect_log_refused(column_text, &spec,
                       ": column 'who' has 2 values, but the number of agents is 1; the two must "
                       "be equal (2, 10)");
    spec = column_spec;
    spec.arm_count = 5;
    expect_log_refused(
        column_text, &spec,
        ": column 'arm' has 2 values, but the number of arms is 5; the two must be equal (a, b)");
    spec = drug_spec;
    spec.agent_count = 7;
    expect_log_refused(drug_text, &spec,
                       ": 6 rows for 7 agents; every agent needs a row of every arm");
    spec.agent_count = 0;
    expect_log_refused(drug_text, &spec, ": 0 agents; a run has from 1 to 1048576");
    spec = drug_spec;
    spec.arm_count = 0;
    expect_log_refused(drug_text, &spec, ": 0 arms; a run has from 1 to 65536");
}

TEST(log_arm_without_columns)
{
    static const struct tacit_log_arm arm = {.name = "none", .value = "Up"};
    struct tacit_log_spec spec = drug_spec;
    spec.arms = &arm;
    spec.arm_count = 1;
    expect_log_refused(drug_text, &spec,
                       ": arm 'none' names no columns; an arm looks at one at least");
}

/* 0 is "as many as there are". */
TEST(log_counts_not_asked)
{
    struct tacit_log_spec spec = column_spec;
    spec.agent_count = 0;
    struct tacit_log log;
    struct tacit_error error;
    assert_int_equal(build(column_text, &spec, NULL, &log, &error), TACIT_OK);
    assert_int_equal(log.agent_count, 2);
    tacit_log_free(&log);
}

/* ---- Data sets ----------------------------------------------------------------------------- */

/* Sets or, for NULL, unsets. */
static void set_environment(const char *data, const char *home)
{
    assert_int_equal(data != NULL ? setenv("TACIT_DATA", data, 1) : unsetenv("TACIT_DATA"), 0);
    assert_int_equal(home != NULL ? setenv("HOME", home, 1) : unsetenv("HOME"), 0);
}

TEST(dataset_list)
{
    size_t count = 0;
    const struct tacit_dataset *const list = tacit_dataset_list(&count);
    static const char *const names[] = {"diabetes130", "mnist", "cifar10",
                                        "movielens",   "obd",   "lastfm"};
    assert_int_equal(count, sizeof names / sizeof names[0]);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(list[i].name, names[i]);
        assert_true(strlen(list[i].content) > 0);
        assert_true(strlen(list[i].terms) > 0);
        assert_non_null(list[i].files[0]);
    }
}

static void make_home_data(char home[TEMP_PATH_BYTES], char data[TEMP_PATH_BYTES])
{
    static const char *const folders[] = {"home", "home/.local", "home/.local/share",
                                          "home/.local/share/tacit"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        temp_path(data, directory, folders[i]);
        mkdir(data, 0700); /* it may be there from the test before */
    }
    temp_path(home, directory, "home");
}

static void assert_found(const char *name, const char *expected_directory,
                         const char *expected_name)
{
    char path[TACIT_PATH_BYTES];
    char expected[TEMP_PATH_BYTES];
    assert_int_equal(tacit_dataset_find(NULL, name, path), TACIT_OK);
    temp_path(expected, expected_directory, expected_name);
    assert_string_equal(path, expected);
}

TEST(dataset_find)
{
    char home[TEMP_PATH_BYTES];
    char data[TEMP_PATH_BYTES];
    make_home_data(home, data);
    temp_file_write(directory, "one.csv", "a\n");
    temp_file_write(directory, "one.csv.xz", "");
    temp_file_write(directory, "two.csv.xz", "");
    temp_file_write(directory, "two.csv.gz", "");
    temp_file_write(data, "two.csv", "a\n");
    temp_file_write(data, "three.csv.gz", "");
    set_environment(directory, home);
    assert_found("one.csv", directory, "one.csv");
    assert_found("two.csv", directory, "two.csv.xz"); /* the first directory wins */
    assert_found("three.csv", data, "three.csv.gz");
    char path[TACIT_PATH_BYTES] = "untouched";
    assert_int_equal(tacit_dataset_find(NULL, "four.csv", path), TACIT_IO);
    assert_int_equal(tacit_dataset_find(NULL, "home", path), TACIT_IO); /* a directory is no file */
    assert_string_equal(path, "untouched");
    char beside[TEMP_PATH_BYTES];
    char expected[TEMP_PATH_BYTES];
    temp_path(beside, data, "experiment.yaml"); /* the folder of who names it wins */
    temp_path(expected, data, "two.csv");
    assert_int_equal(tacit_dataset_find(beside, "two.csv", path), TACIT_OK);
    assert_string_equal(path, expected);
    assert_int_equal(tacit_dataset_find(beside, "one.csv", path), TACIT_OK);
    temp_path(expected, directory, "one.csv");
    assert_string_equal(path, expected);
    assert_int_equal(tacit_dataset_find(beside, expected, path), TACIT_OK); /* a whole path */
    assert_string_equal(path, expected);
    assert_int_equal(tacit_dataset_find("/experiment.yaml", "etc/passwd", path), TACIT_OK);
    assert_string_equal(path, "/etc/passwd");
    set_environment(NULL, home);
    assert_found("two.csv", data, "two.csv");
    assert_int_equal(tacit_dataset_find(NULL, "one.csv", path), TACIT_IO);
    set_environment("", NULL);
    assert_int_equal(tacit_dataset_find(NULL, "two.csv", path), TACIT_IO);
}

TEST(dataset_directories)
{
    char text[TACIT_PATH_BYTES];
    set_environment("/d", "/h");
    tacit_dataset_directories(text);
    assert_string_equal(text, "/d:/h/.local/share/tacit");
    set_environment(NULL, "/h");
    tacit_dataset_directories(text);
    assert_string_equal(text, "/h/.local/share/tacit");
    set_environment("/d", NULL);
    tacit_dataset_directories(text);
    assert_string_equal(text, "/d");
    set_environment(NULL, NULL);
    tacit_dataset_directories(text);
    assert_string_equal(text, "");
}

TEST(dataset_paths_too_long)
{
    char name[TACIT_PATH_BYTES + 1];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    char path[TACIT_PATH_BYTES];
    set_environment(name, name);
    assert_int_equal(tacit_dataset_find(NULL, "a", path), TACIT_IO);
    tacit_dataset_directories(path);
    assert_string_equal(path, "");
    set_environment("/", NULL);
    assert_int_equal(tacit_dataset_find(NULL, name, path), TACIT_IO);
    struct tacit_error error;
    assert_int_equal(tacit_dataset_verify("/", name, &error), TACIT_IO);
    assert_int_equal(tacit_dataset_verify(name, "a", &error), TACIT_IO);
}

#define SHA_OF_ABC                                                                                 \
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" /* FIPS 180-2 */

TEST(dataset_verify)
{
    struct tacit_error error;
    temp_file_write(directory, "abc", "abc");
    temp_file_write(directory, "abd", "abd");
    temp_file_write(directory, "SHA256SUMS",
                    SHA_OF_ABC "  ./abc.more\r\n\n" SHA_OF_ABC "  ./abd\n" SHA_OF_ABC
                               "  ./gone\n1234  ./short\n" SHA_OF_ABC "  ./abc");
    assert_int_equal(tacit_dataset_verify(directory, "abc", &error), TACIT_OK);
    assert_int_equal(tacit_dataset_verify(directory, "abd", &error), TACIT_INVALID);
    assert_message(&error, "abd",
                   ": its sha256 is not the one in SHA256SUMS; the file is another or damaged");
    assert_int_equal(tacit_dataset_verify(directory, "gone", &error), TACIT_IO);
    assert_message(&error, "gone", ": No such file or directory");
    assert_int_equal(tacit_dataset_verify(directory, "ab", &error), TACIT_IO);
    assert_message(&error, "SHA256SUMS", ": no line for 'ab'");
    assert_int_equal(tacit_dataset_verify(directory, "short", &error), TACIT_INVALID);
    assert_message(&error, "SHA256SUMS",
                   ":5: not a sha256; a line is 64 hex digits, two blanks, the name");
}

TEST(dataset_verify_other_spellings)
{
    struct tacit_error error;
    temp_file_write(directory, "abc", "abc");
    temp_file_write(directory, "SHA256SUMS",
                    "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD *abc\n");
    assert_int_equal(tacit_dataset_verify(directory, "abc", &error), TACIT_OK);
    temp_file_write(directory, "SHA256SUMS",
                    "xa7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc\n");
    assert_int_equal(tacit_dataset_verify(directory, "abc", &error), TACIT_INVALID);
    char sums[TEMP_PATH_BYTES];
    temp_path(sums, directory, "SHA256SUMS");
    assert_int_equal(remove(sums), 0);
    assert_int_equal(tacit_dataset_verify(directory, "abc", &error), TACIT_IO);
    assert_message(&error, "SHA256SUMS", ": No such file or directory");
}

static int lowest_free_descriptor(void)
{
    int const descriptor = dup(STDERR_FILENO);
    assert_true(descriptor >= 0);
    assert_int_equal(close(descriptor), 0);
    return descriptor;
}

TEST(files_are_closed)
{
    int const before = lowest_free_descriptor();
    table_plain(state);
    table_missing(state); /* one of them is a directory, which opens and does not read */
    table_ragged(state);
    packed_xz_damaged(state);
    dataset_verify(state);
    assert_int_equal(lowest_free_descriptor(), before);
}

/* ---- Out of memory ------------------------------------------------------------------------- */

static enum tacit_status read_xz_once(void)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, "memory.csv.xz");
    struct tacit_table table;
    struct tacit_error error;
    enum tacit_status const status = tacit_table_read(&table, path, &error);
    if (status == TACIT_OK)
        tacit_table_free(&table);
    return status;
}

TEST(memory_table)
{
    char *const text = long_text();
    uint8_t packed[PACKED_BYTES];
    size_t const size = pack_xz(text, strlen(text), packed);
    temp_file_write_bytes(directory, "memory.csv.xz", packed, size);
    free(text);
    expect_memory_errors(read_xz_once, 8);
}

static enum tacit_status read_means_once(void)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, "memory.csv.gz");
    struct tacit_means means;
    struct tacit_error error;
    enum tacit_status const status = tacit_means_read(&means, path, 0.0, 1.0, &error);
    if (status == TACIT_OK)
        tacit_means_free(&means);
    return status;
}

TEST(memory_means)
{
    write_gz("memory.csv.gz", "wb", "0.5,0.25\n");
    expect_memory_errors(read_means_once, 5);
}

static enum tacit_status read_edges_once(void)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, "memory.csv");
    struct tacit_edges edges;
    struct tacit_error error;
    enum tacit_status const status = tacit_edges_read(&edges, path, 2, &error);
    if (status == TACIT_OK)
        tacit_edges_free(&edges);
    return status;
}

TEST(memory_edges)
{
    temp_file_write(directory, "memory.csv", "0,1\n");
    expect_memory_errors(read_edges_once, 4);
}

static enum tacit_status build_once(const struct tacit_log_spec *spec)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, "memory.csv");
    struct tacit_table table;
    struct tacit_error error;
    enum tacit_status status = tacit_table_read(&table, path, &error);
    if (status != TACIT_OK)
        return status;
    struct tacit_log log;
    struct tacit_rng rng = split_stream(3);
    status = tacit_log_build(&log, &table, path, spec, &rng, &error);
    tacit_table_free(&table);
    if (status == TACIT_OK)
        tacit_log_free(&log);
    return status;
}

static enum tacit_status build_rules_once(void)
{
    struct tacit_log_spec spec = drug_spec;
    spec.split = TACIT_LOG_RANDOM;
    spec.agent_count = 1;
    return build_once(&spec);
}

static enum tacit_status build_columns_once(void)
{
    struct tacit_log_spec spec = column_spec;
    spec.unit_column = "arm";
    spec.time_column = "who";
    return build_once(&spec);
}

TEST(memory_log)
{
    temp_file_write(directory, "memory.csv", drug_text);
    expect_memory_errors(build_rules_once, 10);
    temp_file_write(directory, "memory.csv", column_text);
    expect_memory_errors(build_columns_once, 15);
}

static enum tacit_status verify_once(void)
{
    struct tacit_error error;
    return tacit_dataset_verify(directory, "abc", &error);
}

TEST(memory_verify)
{
    temp_file_write(directory, "abc", "abc");
    temp_file_write(directory, "SHA256SUMS", SHA_OF_ABC "  ./abc\n");
    expect_memory_errors(verify_once, 1);
}

int main(void)
{
    return testing_run(make_directory, remove_directory);
}
