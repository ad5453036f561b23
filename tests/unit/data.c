/* The data room on files that the test makes: tables, packed files, means, logged rows, data sets.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc it also fails every allocation once.
 */
#define _POSIX_C_SOURCE 200809L
#include "../support/testing.h"
#include "tacit/data.h"
#include "../../src/data/internal.h"
#include "../support/on_file.h"
#include <locale.h>
#include <lzma.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define PACKED_BYTES 65536u

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

/* The message must be the path of the file and then exactly `rest`. */
static void assert_message(const struct tacit_error *error, const char *name, const char *rest)
{
    char expected[TEMP_PATH_BYTES + TACIT_ERROR_BYTES];
    snprintf(expected, sizeof expected, "%s%s", temp_name(name), rest);
    assert_string_equal(error->text, expected);
}

static void expect_table(const char *name, struct tacit_table *table)
{
    static const struct tacit_dialect any;
    struct tacit_error error = {{0}};
    enum tacit_status const status = tacit_table_read_dialect(table, temp_name(name), &any, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(status, TACIT_OK);
}

static void expect_table_error(const char *name, enum tacit_status wanted, const char *rest)
{
    struct tacit_table table = {.row_count = 77};
    struct tacit_error error;
    assert_int_equal(tacit_table_read(&table, temp_name(name), &error), wanted);
    assert_message(&error, name, rest);
    assert_int_equal(table.row_count, 77); /* untouched */
    assert_null(table.bytes);
}

/* Rows as text: the line where each begins and its fields, "1:a|b|2:c|d|"; 2 columns. */
static void expect_rows(const char *name, const char *expected)
{
    char rows[256] = "";
    struct tacit_table table;
    expect_table(name, &table);
    for (uint32_t row = 0; row < table.row_count; row++) {
        size_t const size = strlen(rows);
        char **const fields = &table.fields[(size_t)row * table.column_count];
        assert_int_equal(table.column_count, 2);
        (void)snprintf(rows + size, sizeof rows - size, "%u:%s|%s|", table.lines[row], fields[0],
                       fields[1]);
    }
    assert_string_equal(rows, expected);
    assert_int_equal(table.column_count == 0, table.row_count == 0);
    assert_int_equal(tacit_table_column(&table, "nowhere"), UINT32_MAX);
    tacit_table_free(&table);
    assert_null(table.bytes);
    tacit_table_free(&table); /* twice is harmless */
}

/* A table of 3000 rows "i,i*i" with a header, as text. */
static char *long_text(void)
{
    size_t const capacity = 100000;
    char *const text = testing_malloc(capacity);
    size_t size = (size_t)snprintf(text, capacity, "i,square\n");
    for (int i = 0; i < 3000; i++)
        size += (size_t)snprintf(text + size, capacity - size, "%d,%d\n", i, i * i);
    return text;
}

/* ---- Tables -------------------------------------------------------------------------------- */

TEST(tables_are_read)
{
    static const struct {
        const char *text;
        const char *rows;
    } cases[] = {
        {"a,b\n1,2\n3,\n", "1:a|b|2:1|2|3:3||"},
        {"a,b\n1,", "1:a|b|2:1||"},
        {"a,b\r\n\"1\",2\r\n\r\n3,4\r\n", "1:a|b|2:1|2|4:3|4|"},
        {"\"a,b\",\"say \"\"hi\"\"\"\n\"two\nlines\",\"\"\nx,y\n", /* the line in quotes counts */
         "1:a,b|say \"hi\"|2:two\nlines||4:x|y|"},
        {"# made by hand, \"today\n\n#\r\na,b\n\r\n1,#2\n#3,4\n", "4:a|b|6:1|#2|7:#3|4|"},
        {"\xEF\xBB\xBF\x61,b\n1,2\n", "1:a|b|2:1|2|"},
        {"\xEF\xBB\xBF# comment\na,b\n", "2:a|b|"},
        {"", ""},
        {"\xEF\xBB\xBF", ""},
        {"\n\r\n", ""},
        {"# nothing", ""},
        /* separators are recognised where that is safe */
        {"a;b\n1,5;x\n", "1:a|b|2:1,5|x|"},
        {"\"a,z\";b\n1;\"x;y\"\n", "1:a,z|b|2:1|x;y|"},
        {"a\tb\n1;2\tx\n", "1:a|b|2:1;2|x|"},
        {"a;c,b\n1;2,x\n", "1:a;c|b|2:1;2|x|"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        temp_file_write(temp_folder, "t.csv", cases[i].text);
        expect_rows("t.csv", cases[i].rows);
    }
}

TEST(table_column)
{
    struct tacit_table table;
    temp_file_write(temp_folder, "t.csv", "a,b,b\n1,2,3\n");
    expect_table("t.csv", &table);
    assert_int_equal(tacit_table_column(&table, "a"), 0);
    assert_int_equal(tacit_table_column(&table, "b"), 1);
    assert_int_equal(tacit_table_column(&table, "1"), UINT32_MAX);
    assert_int_equal(tacit_table_column(&table, ""), UINT32_MAX);
    tacit_table_free(&table);
}

#define RAGGED "; every row has the same number of fields"
#define OPEN_QUOTE ": a quote is opened and never closed"
#define BARE_RETURN ": a carriage return without a line feed; lines end in LF or CR LF"
#define NUL_BYTE ": a NUL byte; a table is text in UTF-8 or ASCII"

TEST(tables_are_refused)
{
    static const struct {
        const char *text;
        const char *rest;
        size_t size; /* of a text with a NUL */
    } cases[] = {
        {"a,b\n1\n", ":2: 1 field, but line 1 has 2" RAGGED, 0},
        {"# x\na,b\n1,2\n1,2,\n", ":4: 3 fields, but line 2 has 2" RAGGED, 0},
        {"a\n\"b\nc\n\nd", ":2" OPEN_QUOTE, 0},
        {"\"", ":1" OPEN_QUOTE, 0},
        {"\"a\"\"", ":1" OPEN_QUOTE, 0},
        {"a\n\"b\nc\"d\n",
         ":3: text behind a closing quote; a quote inside quotes is written twice", 0},
        {"a\n5\" disk\n",
         ":2: a quote inside a field; put the field in quotes and write the quote twice", 0},
        {"a\rb\r", ":1" BARE_RETURN, 0},
        {"a\nb\r", ":2" BARE_RETURN, 0},
        {"a,b\n1,\0\n", ":2" NUL_BYTE, 8},
        {"a\n\0", ":2" NUL_BYTE, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t const size = cases[i].size > 0 ? cases[i].size : strlen(cases[i].text);
        temp_file_write_bytes(temp_folder, "t.csv", cases[i].text, size);
        expect_table_error("t.csv", TACIT_INVALID, cases[i].rest);
    }
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

static size_t pack_xz(const char *text, size_t size, uint8_t packed[PACKED_BYTES])
{
    size_t packed_size = 0;
    assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, (const uint8_t *)text, size,
                                             packed, &packed_size, PACKED_BYTES),
                     LZMA_OK);
    return packed_size;
}

static size_t pack_gz(const char *text, size_t size, uint8_t packed[PACKED_BYTES])
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)text,
                       .avail_in = (uInt)size,
                       .next_out = packed,
                       .avail_out = PACKED_BYTES};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(deflateEnd(&stream), Z_OK);
    return stream.total_out;
}

static const struct packing {
    const char *name;
    size_t (*pack)(const char *text, size_t size, uint8_t packed[PACKED_BYTES]);
    size_t damaged_at; /* from the end: of gzip the checksum */
    const char *early;
    const char *damaged;
    const char *wrong;
} packings[] = {{"t.csv.xz", pack_xz, 32, ": the xz data ends early; the file is incomplete",
                 ": damaged xz data", ": not an xz file, though its name ends in .xz"},
                {"t.csv.gz", pack_gz, 5, ": the gzip data ends early; the file is incomplete",
                 ": not a gzip file, though its name ends in .gz, or damaged",
                 ": not a gzip file, though its name ends in .gz, or damaged"}};

static void write_packed(const struct packing *packing, const char *name, const char *text)
{
    uint8_t packed[PACKED_BYTES];
    size_t const size = packing->pack(text, strlen(text), packed);
    temp_file_write_bytes(temp_folder, name, packed, size);
}

TEST(packed_tables_are_read_whole)
{
    for (size_t i = 0; i < 2; i++) {
        uint8_t packed[PACKED_BYTES];
        struct tacit_table table;
        write_packed(&packings[i], packings[i].name, long_text());
        expect_table(packings[i].name, &table);
        assert_int_equal(table.row_count, 3001);
        assert_int_equal(table.column_count, 2);
        assert_string_equal(table.fields[2 * 3000], "2999");
        assert_string_equal(table.fields[2 * 3000 + 1], "8994001");
        tacit_table_free(&table);
        size_t size = packings[i].pack("a,b\n1", 5, packed); /* two streams are one text */
        size += packings[i].pack(",2\n", 3, packed + size);
        temp_file_write_bytes(temp_folder, packings[i].name, packed, size);
        expect_rows(packings[i].name, "1:a|b|2:1|2|");
    }
}

TEST(packed_tables_that_are_cut_or_damaged)
{
    for (size_t i = 0; i < 2; i++) {
        struct packing const *const packing = &packings[i];
        uint8_t packed[PACKED_BYTES];
        size_t const size = packing->pack("a,b\n1,2\n", 8, packed);
        for (size_t cut = 0; cut < size; cut++) {
            temp_file_write_bytes(temp_folder, packing->name, packed, cut);
            expect_table_error(packing->name, TACIT_IO, packing->early);
        }
        packed[size - packing->damaged_at] ^= 0x10;
        temp_file_write_bytes(temp_folder, packing->name, packed, size);
        expect_table_error(packing->name, TACIT_IO, packing->damaged);
        packed[size - packing->damaged_at] ^= 0x10;
        memcpy(packed + size, "more", 4);
        temp_file_write_bytes(temp_folder, packing->name, packed, size + 4);
        expect_table_error(packing->name, TACIT_IO, i == 0 ? packing->early : packing->wrong);
        temp_file_write(temp_folder, packing->name, "a,b\n1,2\n3,4\n");
        expect_table_error(packing->name, TACIT_IO, packing->wrong);
    }
}

static void expect_limit(const char *name, size_t size)
{
    struct tacit_error error;
    struct data_unpacked unpacked;
    assert_int_equal(data_unpack_file(&unpacked, temp_name(name), size, &error), TACIT_OK);
    assert_int_equal(unpacked.size, size);
    assert_int_equal(unpacked.bytes[size], '\0');
    free(unpacked.bytes);
    assert_int_equal(data_unpack_file(&unpacked, temp_name(name), size - 1, &error), TACIT_INVALID);
    char rest[64];
    snprintf(rest, sizeof rest, ": too large; at most %zu bytes, unpacked", size - 1);
    assert_message(&error, name, rest);
}

TEST(unpack_limit)
{
    static const size_t sizes[] = {1000, 65535, 65536, 65537, 131072, 200000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *const text = testing_calloc(sizes[i] + 1, 1);
        memset(text, 'x', sizes[i]);
        temp_file_write(temp_folder, "t", text);
        write_packed(&packings[0], "t.xz", text);
        write_packed(&packings[1], "t.gz", text);
        expect_limit("t", sizes[i]);
        expect_limit("t.xz", sizes[i]);
        expect_limit("t.gz", sizes[i]);
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

static enum tacit_status read_means(const char *text, double hi, struct tacit_means *means,
                                    struct tacit_error *error)
{
    temp_file_write(temp_folder, "means.csv", text);
    return tacit_means_read(means, temp_name("means.csv"), hi == 1 ? 0 : -2.5, hi, error);
}

TEST(means_read)
{
    struct tacit_means means;
    struct tacit_error error;
    assert_int_equal(read_means("# two agents\n0.1,0.2, 0.3\n0,1,1e-1\r\n", 1, &means, &error),
                     TACIT_OK);
    assert_int_equal(means.row_count, 2);
    assert_int_equal(means.arm_count, 3);
    static const double expected[] = {0.1, 0.2, 0.3, 0.0, 1.0, 0.1};
    for (size_t i = 0; i < 6; i++)
        assert_true(means.values[i] == expected[i]);
    tacit_means_free(&means);
    assert_null(means.values);
    tacit_means_free(&means);
    assert_int_equal(read_means("-2.5,7\n", 7, &means, &error), TACIT_OK);
    tacit_means_free(&means);
}

#define NO_MEAN "' is not a number; means are numbers from 0 to 1"
#define FAR_MEAN "' is out of range; means are numbers from "

TEST(means_refused)
{
    static const struct {
        const char *text;
        const char *rest;
        double hi;
    } cases[] = {
        {"", ": no rows; one row for all agents or one row an agent", 1},
        {"0.1,0.2\n0.1,0.2\n0.1,abc\n", ":3: column 2: 'abc" NO_MEAN, 1},
        {"1,1,1,1,1\n1,1,1,1\n", ":2: 4 fields, but line 1 has 5; every row has one field an arm",
         1},
        {"0.5,nan\n", ":1: column 2: 'nan" NO_MEAN, 1},
        {"inf\n", ":1: column 1: 'inf" NO_MEAN, 1},
        {"0.5,0.5x\n", ":1: column 2: '0.5x" NO_MEAN, 1},
        {"0x1p-1\n", ":1: column 1: '0x1p-1" NO_MEAN, 1},
        {"0.5,\n", ":1: column 2: '" NO_MEAN, 1},
        {"\n0.5,1.01\n", ":2: column 2: '1.01" FAR_MEAN "0 to 1", 1},
        {"-1e-9\n", ":1: column 1: '-1e-9" FAR_MEAN "0 to 1", 1},
        {"-2.5,7\n", ":1: column 2: '7" FAR_MEAN "-2.5 to 6.5", 6.5},
        {"\"a\nb\"\n", ":1: column 1: 'a?b" NO_MEAN, 1},
    };
    struct tacit_means means = {.arm_count = 77};
    struct tacit_error error;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(read_means(cases[i].text, cases[i].hi, &means, &error), TACIT_INVALID);
        assert_message(&error, "means.csv", cases[i].rest);
    }
    assert_int_equal(tacit_means_read(&means, temp_name("none.csv"), 0.0, 1.0, &error), TACIT_IO);
    assert_message(&error, "none.csv", ": No such file or directory");
    assert_int_equal(means.arm_count, 77);
}

TEST(means_most_arms)
{
    char *const text = testing_malloc(2 * TACIT_ARMS_MAX + 3);
    for (size_t i = 0; i <= TACIT_ARMS_MAX; i++)
        memcpy(text + 2 * i, "1,", 2);
    text[2 * TACIT_ARMS_MAX - 1] = '\0';
    struct tacit_means means;
    struct tacit_error error;
    assert_int_equal(read_means(text, 1, &means, &error), TACIT_OK);
    assert_int_equal(means.arm_count, TACIT_ARMS_MAX);
    tacit_means_free(&means);
    text[2 * TACIT_ARMS_MAX - 1] = ',';
    text[2 * TACIT_ARMS_MAX + 1] = '\0';
    assert_int_equal(read_means(text, 1, &means, &error), TACIT_INVALID);
    assert_message(&error, "means.csv", ":1: 65537 columns; at most 65536 arms");
}

/* ---- Edges ----------------------------------------------------------------------------------- */

static enum tacit_status read_edges(const char *text, struct tacit_edges *edges,
                                    struct tacit_error *error)
{
    temp_file_write(temp_folder, "edges.csv", text);
    return tacit_edges_read(edges, temp_name("edges.csv"), 3, error);
}

TEST(edges_read)
{
    static const char *const texts[] = {"0,1\n2,1\n1,2\n", "# a list\n 0 , 1\r\n\n2,1\n1,2",
                                        "0 1\n2\t1\n  1   2  \n", "# nothing\n"};
    static const struct tacit_edge expected[] = {{0, 1}, {2, 1}, {1, 2}}; /* as they are listed */
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct tacit_edges edges;
        struct tacit_error error;
        assert_int_equal(read_edges(texts[i], &edges, &error), TACIT_OK);
        assert_int_equal(edges.count, i == 3 ? 0 : 3);
        if (edges.count > 0)
            assert_memory_equal(edges.items, expected, sizeof expected);
        tacit_edges_free(&edges);
        assert_null(edges.items);
        tacit_edges_free(&edges);
    }
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
        assert_int_equal(read_edges(cases[i].text, &edges, &error), TACIT_INVALID);
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
    temp_file_write(temp_folder, "t.csv", text);
    expect_table("t.csv", &table);
    enum tacit_status const status =
        tacit_log_build(log, &table, temp_name("t.csv"), spec, rng, error);
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

static void put_cell(FILE *out, const struct tacit_log *log, uint32_t cell)
{
    double sum = 0.0;
    fprintf(out, " %s=", log->arm_names[cell % log->arm_count]);
    for (uint32_t i = log->start[cell]; i < log->start[cell + 1]; i++) {
        fprintf(out, "%s%g", i > log->start[cell] ? "," : "", log->rewards[i]);
        sum += log->rewards[i];
    }
    assert_true(log->means[cell] == sum / (double)(log->start[cell + 1] - log->start[cell]));
}

/* A log as text: an agent's name, if it has one, and the rewards of each arm, "v: a=1 b=0,2; ";
 * the rows left out for want of agent, arm, reward; "binary" where all rewards are 0 or 1. */
static void expect_log(const char *table, const struct tacit_log_spec *spec, const char *expected)
{
    char text[512] = "";
    FILE *const out = fmemopen(text, sizeof text, "w");
    struct tacit_log log;
    struct tacit_error error;
    assert_int_equal(build(table, spec, NULL, &log, &error), TACIT_OK);
    for (uint32_t agent = 0; agent < log.agent_count; agent++) {
        fprintf(out, "%s:", log.agent_names == NULL ? "" : log.agent_names[agent]);
        for (uint32_t arm = 0; arm < log.arm_count; arm++)
            put_cell(out, &log, agent * log.arm_count + arm);
        fprintf(out, "; ");
    }
    fprintf(out, "%u rows", log.row_count);
    if (log.without_agent + log.without_arm + log.without_reward > 0)
        fprintf(out, ", not %u %u %u", log.without_agent, log.without_arm, log.without_reward);
    fprintf(out, "%s", log.binary ? ", binary" : "");
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    tacit_log_free(&log);
    assert_null(log.start);
    tacit_log_free(&log);
}

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
#define NO_REWARD "' is not a number; rewards are finite numbers"

TEST(logs_are_gathered)
{
    struct tacit_log_spec const one_agent = {
        .arm_column = "arm", .reward_column = "r", .split = TACIT_LOG_SEQUENTIAL, .agent_count = 1};
    struct tacit_log_spec spec = column_spec;
    expect_log(drug_text, &drug_spec,
               ": any=1,0 all=0 y up=0; : any=0 all=1 y up=0; 6 rows, binary");
    /* agent 0 is "2": whole numbers sort by value */
    expect_log(column_text, &column_spec, "2: a=1 b=0; 10: a=-30 b=0.5,0.25; 5 rows");
    spec.agent_count = 0; /* as many as there are */
    expect_log(column_text, &spec, "2: a=1 b=0; 10: a=-30 b=0.5,0.25; 5 rows");
    expect_log("arm,r\nb,1\n10,1\n9,1\n007,1\nB,1\n0,1\n1a,1\n\"\",1\n9,0\n", &one_agent,
               ": 0=1 9=1,0 10=1 007=1 1a=1 B=1 b=1; 8 rows, not 0 1 0, binary");
    /* 1,5 between semicolons is one and a half; a point anywhere makes it no number */
    expect_log("who;arm;reward\nv;a;1,5\nv;b;-0,25\n", &spec, "v: a=1.5 b=-0.25; 2 rows");
    expect_log_refused("who;arm;reward\nv;a;1,5\nv;b;0.25\n", &spec,
                       ":2: column 'reward': '1,5" NO_REWARD "; with 'decimal: \",\"' it is one");
    spec.decimal = ',';
    expect_log_refused("who;arm;reward\nv;a;1.5\nv;b;0.25\n", &spec,
                       ":2: column 'reward': '1.5" NO_REWARD "; with 'decimal: \".\"' it is one");
    expect_log("who,arm,reward\nv,a,\"1,5\"\n", &spec, "v: a=1.5; 1 rows");
    /* a reward that belongs to no arm is nobody's, so it may be anything */
    spec = drug_spec;
    spec.reward_value = NULL;
    spec.arm_count = spec.agent_count = 1;
    expect_log("r,x,y\n?,No,No\n0.5,Up,No\n", &spec, ": any=0.5; 2 rows");
}

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

/* A row in which something is missing is left out and counted once, unless a word stands in for it.
 */
TEST(log_missing_cells)
{
    static const char text[] = "who,arm,reward\nv,a,1\n,a,1\nv, ,2\nv,b,\n,,\nv,b,0\n";
    struct tacit_log_spec spec = column_spec;
    spec.agent_count = 0;
    expect_log(text, &spec, "v: a=1 b=0; 2 rows, not 2 1 1, binary");
    spec.missing.arm = "none";
    spec.missing.reward = "0.5";
    expect_log(text, &spec, "v: a=1 b=0.5,0 none=2; 4 rows, not 2 0 0");
    spec = column_spec;
    spec.missing.is_refused = true;
    expect_log_refused(text, &spec, ":3: column 'who' is empty; 'missing' may say what that means");
    expect_log_refused("who,arm,reward\nv,,1\n", &column_spec,
                       ": no rows are left: in each of the 1 something is missing");
}

TEST(table_encodings)
{
    static const struct {
        const char *text;
        struct tacit_dialect dialect;
        const char *first; /* NULL: refused */
        const char *second;
    } cases[] = {
        {"a|b\n1,2|x\n", {.separator = '|'}, "1,2", "x"},
        {"a,b\nK\xc3\xb6ln,1\n", {.encoding = TACIT_ENCODING_UTF8}, "K\xc3\xb6ln", "1"},
        {"a,b\nK\xf6ln,\x80\n", {.encoding = TACIT_ENCODING_CP1252}, "K\xc3\xb6ln", "\xe2\x82\xac"},
        {"a,b\nK\xf6ln,1\n", {.encoding = TACIT_ENCODING_LATIN1}, "K\xc3\xb6ln", "1"},
        {"a,b\nK\xf6ln,1\n",
         {.encoding = TACIT_ENCODING_UTF8},
         NULL,
         "d.csv:2: bytes that are not UTF-8; 'encoding' may say"},
        {"a,b\n\n\x81,1\n",
         {.encoding = TACIT_ENCODING_CP1252},
         NULL,
         "d.csv:3: bytes that are not CP1252"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tacit_table table;
        struct tacit_error error;
        temp_file_write(temp_folder, "d.csv", cases[i].text);
        enum tacit_status const status =
            tacit_table_read_dialect(&table, temp_name("d.csv"), &cases[i].dialect, &error);
        assert_int_equal(status, cases[i].first == NULL ? TACIT_INVALID : TACIT_OK);
        if (status != TACIT_OK) {
            assert_non_null(strstr(error.text, cases[i].second));
            continue;
        }
        assert_int_equal(table.column_count, 2);
        assert_string_equal(table.fields[2], cases[i].first);
        assert_string_equal(table.fields[3], cases[i].second);
        tacit_table_free(&table);
    }
}

#define EVERY_ARM "every agent needs a row of every arm"
#define NO_ROWS ": no rows; the first line names the columns, a row a pull follows"
#define COLUMNS "who,arm,reward\n"
#define THREE_COLUMNS "; the columns are who, arm, reward"
#define NONE UINT32_MAX

/* By the column of the arm, or by rules. A value that no row holds would make every reward 0, or an
 * arm of nothing. */
TEST(logs_are_refused)
{
    static const struct {
        const char *text;
        const char *rest;
        bool has_rules;
        uint32_t agents; /* 0: as many as there are */
        uint32_t arms;
        const char *agent; /* columns, and the value that counts; NULL: those that there are */
        const char *arm;
        const char *reward;
        const char *value;
    } cases[] = {
        {drug_text, ": agent 0 (they count from 0), arm 'all': no rows; " EVERY_ARM,
         .has_rules = true, .agents = 3},
        {drug_text, ": 6 rows for 7 agents; " EVERY_ARM, .has_rules = true, .agents = 7},
        {drug_text, ": 0 agents; a run has from 1 to 1048576", .has_rules = true, .agents = NONE},
        {drug_text, ": 0 arms; a run has from 1 to 65536", .has_rules = true, .arms = NONE},
        {"r,x,y\n1,2,3\n", ": column 'r' never holds 'yes'; its values are 1", .has_rules = true,
         .agents = 1},
        {"r,x,y\nyes,2,3\n", ": column 'x' never holds 'Up'; its values are 2", .has_rules = true,
         .agents = 1},
        {"r,x,z\n1,2,3\n", ":1: no column 'y'; the columns are r, x, z", .has_rules = true},
        {COLUMNS "w,a,1\nw,b,1\nv,b,1\n", .rest = ": agent 'v', arm 'a': no rows; " EVERY_ARM},
        {COLUMNS "v,a,yes\nv,b,no\n", ": column 'reward' never holds 'Yes'; its values are no, yes",
         .value = "Yes"},
        {"", .rest = NO_ROWS},
        {COLUMNS, .rest = NO_ROWS},
        {"# log\n" COLUMNS "1,2,3\n", ":2: no column 'whom'" THREE_COLUMNS, .agent = "whom"},
        {"# log\n" COLUMNS "1,2,3\n", ":2: no column ''" THREE_COLUMNS, .arm = ""},
        {"# log\n" COLUMNS "1,2,3\n", ":2: no column '2'" THREE_COLUMNS, .reward = "2"},
        {"who,arm,reward,arm\n1,2,3,4\n",
         .rest = ":1: columns 2 and 4 are both 'arm'; name a column that is there once"},
        {COLUMNS "1,a,1\n\n2,b,much\n", .rest = ":4: column 'reward': 'much" NO_REWARD},
        {COLUMNS "1,a,1\n\n2,b,nan\n", .rest = ":4: column 'reward': 'nan" NO_REWARD},
        {COLUMNS "1,a,1\n\n2,b,-\n", .rest = ":4: column 'reward': '-" NO_REWARD},
        {COLUMNS "1,a,1\n\n2,b,1e999\n", .rest = ":4: column 'reward': '1e999" NO_REWARD},
        {COLUMNS "1,a,1e308\n1,a,1e308\n",
         ": agent '1', arm 'a': the rewards are too large to be added", .agents = 1},
        {column_text,
         ": column 'who' has 2 values, but the number of agents is 3; the two must be equal (2, "
         "10)",
         .agents = 3},
        {column_text,
         ": column 'who' has 2 values, but the number of agents is 1; the two must be equal (2, "
         "10)",
         .agents = 1},
        {column_text,
         ": column 'arm' has 2 values, but the number of arms is 5; the two must be equal (a, b)",
         .arms = 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tacit_log_spec spec = cases[i].has_rules ? drug_spec : column_spec;
        uint32_t const agents = cases[i].agents == 0 ? spec.agent_count : cases[i].agents;
        uint32_t const arms = cases[i].arms == 0 ? spec.arm_count : cases[i].arms;
        spec.agent_count = agents == NONE ? 0 : agents;
        spec.arm_count = arms == NONE ? 0 : arms;
        spec.agent_column = cases[i].agent == NULL ? spec.agent_column : cases[i].agent;
        spec.arm_column = cases[i].arm == NULL ? spec.arm_column : cases[i].arm;
        spec.reward_column = cases[i].reward == NULL ? spec.reward_column : cases[i].reward;
        spec.reward_value = cases[i].value == NULL ? spec.reward_value : cases[i].value;
        expect_log_refused(cases[i].text, &spec, cases[i].rest);
    }
    static const struct tacit_log_arm arm = {.name = "none", .value = "Up"};
    struct tacit_log_spec spec = drug_spec;
    spec.arms = &arm;
    spec.arm_count = 1;
    expect_log_refused(drug_text, &spec,
                       ": arm 'none' names no columns; an arm looks at one at least");
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
    temp_file_write(temp_folder, "t.csv", text);
    expect_table("t.csv", &table);
    struct tacit_log log;
    struct tacit_error error;
    assert_int_equal(tacit_log_build(&log, &table, "t.csv", &column_spec, NULL, &error),
                     TACIT_INVALID);
    tacit_table_free(&table);
    assert_non_null(strstr(error.text, "t.csv:1: no column 'reward'; the columns are c0, c1, "));
    assert_string_equal(error.text + strlen(error.text) - 3, "...");
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

#define HOME_DATA "/user/.local/share/tacit"

/* % is the folder of the test, @ HOME_DATA in it. */
static const char *expanded(const char *pattern, char text[ON_FILE_TEXT_BYTES])
{
    if (pattern == NULL)
        return NULL;
    on_file_expand(text, pattern, temp_folder, HOME_DATA);
    return text;
}

TEST(dataset_find)
{
    static const struct {
        const char *data; /* of the environment */
        const char *home;
        const char *beside;
        const char *name;
        const char *found; /* NULL: it is not */
    } cases[] = {
        {"%", "%/user", NULL, "one.csv", "%/one.csv"},
        {"%", "%/user", NULL, "two.csv", "%/two.csv.xz"}, /* the first directory wins */
        {"%", "%/user", NULL, "three.csv", "@/three.csv.gz"},
        {"%", "%/user", NULL, "four.csv", NULL},
        {"%", "%/user", NULL, "user", NULL},                 /* a directory is no file */
        {"%", "%/user", "@/a.yaml", "two.csv", "@/two.csv"}, /* the folder of who names it wins */
        {"%", "%/user", "@/a.yaml", "one.csv", "%/one.csv"},
        {"%", "%/user", "@/a.yaml", "%/one.csv", "%/one.csv"},
        {"%", "%/user", "/a.yaml", "etc/passwd", "/etc/passwd"},
        {NULL, "%/user", NULL, "two.csv", "@/two.csv"},
        {NULL, "%/user", NULL, "one.csv", NULL},
        {"", NULL, NULL, "two.csv", NULL},
    };
    static const char *const folders[] = {"user", "user/.local", "user/.local/share",
                                          &HOME_DATA[1]};
    static const char *const files[] = {
        "one.csv",    "one.csv.xz",         "two.csv.xz",
        "two.csv.gz", HOME_DATA "/two.csv", HOME_DATA "/three.csv.gz"};
    char texts[5][ON_FILE_TEXT_BYTES];
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        assert_int_equal(mkdir(temp_name(folders[i]), 0700), 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        temp_file_write(temp_folder, files[i], "a\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[TACIT_PATH_BYTES] = "untouched";
        const char *const found = expanded(cases[i].found, texts[0]);
        set_environment(expanded(cases[i].data, texts[1]), expanded(cases[i].home, texts[2]));
        assert_int_equal(tacit_dataset_find(expanded(cases[i].beside, texts[3]),
                                            expanded(cases[i].name, texts[4]), path),
                         found == NULL ? TACIT_IO : TACIT_OK);
        assert_string_equal(path, found == NULL ? "untouched" : found);
    }
}

TEST(dataset_directories)
{
    static const struct {
        const char *data;
        const char *home;
        const char *directories;
    } cases[] = {{"/d", "/h", "/d:/h/.local/share/tacit"},
                 {NULL, "/h", "/h/.local/share/tacit"},
                 {"/d", NULL, "/d"},
                 {NULL, NULL, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[TACIT_PATH_BYTES];
        set_environment(cases[i].data, cases[i].home);
        tacit_dataset_directories(text);
        assert_string_equal(text, cases[i].directories);
    }
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
    temp_file_write(temp_folder, "abc", "abc");
    temp_file_write(temp_folder, "abd", "abd");
    temp_file_write(temp_folder, "SHA256SUMS",
                    SHA_OF_ABC "  ./abc.more\r\n\n" SHA_OF_ABC "  ./abd\n" SHA_OF_ABC
                               "  ./gone\n1234  ./short\n" SHA_OF_ABC "  ./abc");
    assert_int_equal(tacit_dataset_verify(temp_folder, "abc", &error), TACIT_OK);
    assert_int_equal(tacit_dataset_verify(temp_folder, "abd", &error), TACIT_INVALID);
    assert_message(&error, "abd",
                   ": its sha256 is not the one in SHA256SUMS; the file is another or damaged");
    assert_int_equal(tacit_dataset_verify(temp_folder, "gone", &error), TACIT_IO);
    assert_message(&error, "gone", ": No such file or directory");
    assert_int_equal(tacit_dataset_verify(temp_folder, "ab", &error), TACIT_IO);
    assert_message(&error, "SHA256SUMS", ": no line for 'ab'");
    assert_int_equal(tacit_dataset_verify(temp_folder, "short", &error), TACIT_INVALID);
    assert_message(&error, "SHA256SUMS",
                   ":5: not a sha256; a line is 64 hex digits, two blanks, the name");
}

TEST(dataset_verify_other_spellings)
{
    struct tacit_error error;
    temp_file_write(temp_folder, "abc", "abc");
    temp_file_write(temp_folder, "SHA256SUMS",
                    "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD *abc\n");
    assert_int_equal(tacit_dataset_verify(temp_folder, "abc", &error), TACIT_OK);
    temp_file_write(temp_folder, "SHA256SUMS",
                    "xa7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc\n");
    assert_int_equal(tacit_dataset_verify(temp_folder, "abc", &error), TACIT_INVALID);
    assert_int_equal(remove(temp_name("SHA256SUMS")), 0);
    assert_int_equal(tacit_dataset_verify(temp_folder, "abc", &error), TACIT_IO);
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
    tables_are_read(state);
    tables_are_refused(state); /* one of them is a directory, which opens and does not read */
    packed_tables_that_are_cut_or_damaged(state);
    dataset_verify(state);
    assert_int_equal(lowest_free_descriptor(), before);
}

/* ---- Out of memory ------------------------------------------------------------------------- */

static enum tacit_status read_xz_once(void)
{
    struct tacit_table table;
    struct tacit_error error;
    enum tacit_status const status = tacit_table_read(&table, temp_name("memory.csv.xz"), &error);
    if (status == TACIT_OK)
        tacit_table_free(&table);
    return status;
}

static enum tacit_status read_means_once(void)
{
    struct tacit_means means;
    struct tacit_error error;
    enum tacit_status const status =
        tacit_means_read(&means, temp_name("memory.csv.gz"), 0.0, 1.0, &error);
    if (status == TACIT_OK)
        tacit_means_free(&means);
    return status;
}

static enum tacit_status read_edges_once(void)
{
    struct tacit_edges edges;
    struct tacit_error error;
    enum tacit_status const status = tacit_edges_read(&edges, temp_name("edges.csv"), 2, &error);
    if (status == TACIT_OK)
        tacit_edges_free(&edges);
    return status;
}

static enum tacit_status build_once(const struct tacit_log_spec *spec)
{
    struct tacit_table table;
    struct tacit_error error;
    enum tacit_status status = tacit_table_read(&table, temp_name("memory.csv"), &error);
    if (status != TACIT_OK)
        return status;
    struct tacit_log log;
    struct tacit_rng rng = split_stream(3);
    status = tacit_log_build(&log, &table, "memory.csv", spec, &rng, &error);
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

static enum tacit_status verify_once(void)
{
    struct tacit_error error;
    return tacit_dataset_verify(temp_folder, "abc", &error);
}

TEST(every_allocation_may_fail)
{
    write_packed(&packings[0], "memory.csv.xz", long_text());
    expect_memory_errors(read_xz_once, 8);
    write_packed(&packings[1], "memory.csv.gz", "0.5,0.25\n");
    expect_memory_errors(read_means_once, 5);
    temp_file_write(temp_folder, "edges.csv", "0,1\n");
    expect_memory_errors(read_edges_once, 4);
    temp_file_write(temp_folder, "memory.csv", drug_text);
    expect_memory_errors(build_rules_once, 10);
    temp_file_write(temp_folder, "memory.csv", column_text);
    expect_memory_errors(build_columns_once, 15);
    temp_file_write(temp_folder, "abc", "abc");
    temp_file_write(temp_folder, "SHA256SUMS", SHA_OF_ABC "  ./abc\n");
    expect_memory_errors(verify_once, 1);
}

int main(void)
{
    return testing_run(temp_folder_make, temp_folder_remove);
}
