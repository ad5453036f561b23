/* Internal to the data room: what its files share and nobody else includes (but its unit test). */
#ifndef TACIT_DATA_INTERNAL_H
#define TACIT_DATA_INTERNAL_H
#include "tacit/data.h"

/* ---- Messages (message.c) ------------------------------------------------------------------ */

#define TACIT_SHOWN_BYTES 48u

/* A piece of somebody's file, short enough for a message. */
struct data_shown {
    char text[TACIT_SHOWN_BYTES];
};

/* The beginning of a value, cut between UTF-8 characters, with "..." if it was cut. */
struct data_shown data_shown_value(const char *value);

/* Writes the one line "path:line: ..." ("path: ..." if line is 0) and returns status, so that a
 * refusal is one statement. Control characters become '?'; of a long path the end is shown. */
__attribute__((format(printf, 5, 6))) enum tacit_status data_fail(struct tacit_error *error,
                                                                  enum tacit_status status,
                                                                  const char *path, uint32_t line,
                                                                  const char *format, ...);

/* The same for memory that could not be had. */
enum tacit_status data_fail_memory(struct tacit_error *error, const char *path);

/* ---- Days (days.c) -------------------------------------------------------------------------- */

/* Days since 1970-01-01 of a date like 2024-05-31, also with a time of day behind it, or of seconds
 * since then (UTC). Returns false: it is neither. */
bool data_field_day(const char *field, int32_t *day);

/* 0: a Monday. */
uint32_t data_weekday(int32_t day);

/* ---- Whole files (unpack.c) ---------------------------------------------------------------- */

#define TACIT_UNPACKED_BYTES_MAX ((size_t)1 << 30)

struct data_unpacked {
    char *bytes; /* heap; bytes[size] is NUL */
    size_t size;
};

/* Reads a file, unpacked if the name ends in .xz or .gz.
 * Requires: 0 < bytes_max <= TACIT_UNPACKED_BYTES_MAX (it bounds the packed file as well).
 * Errors: TACIT_IO (also damaged or cut packed data), TACIT_INVALID (too large), TACIT_MEMORY;
 * *unpacked untouched. */
enum tacit_status data_unpack_file(struct data_unpacked *unpacked, const char *path,
                                   size_t bytes_max, struct tacit_error *error);

/* Errors: TACIT_INVALID: it is UTF-16, which no table may be. */
enum tacit_status data_refuse_utf16(const struct data_unpacked *file, const char *path,
                                    struct tacit_error *error);

/* Makes UTF-8 of the file's bytes. Ensures: on failure they are freed.
 * Errors: TACIT_INVALID (bytes that are not of the encoding, with their line), TACIT_MEMORY. */
enum tacit_status data_recode(struct data_unpacked *file, const char *path,
                              enum tacit_encoding encoding, struct tacit_error *error);

/* Keeps of an unpacked tar archive the member of that name. Errors: TACIT_IO (no such member, or
 * not an archive); *file is the caller's to free all the same. */
enum tacit_status data_archive_extract(struct data_unpacked *file, const char *path,
                                       const char *member, struct tacit_error *error);

/* ---- Names (names.c) ----------------------------------------------------------------------- */

/* Names and their numbers, from 0 in the order in which they were added. */
struct data_names {
    char **items;
    uint32_t count;
    uint32_t *slots;
    size_t slot_count; /* a power of two, or 0 */
};

/* Number of a name; UINT32_MAX: it is not there. */
uint32_t data_names_find(const struct data_names *names, const char *name);

/* Number of a name of `size` bytes, which is added if it is new. UINT32_MAX: out of memory. */
uint32_t data_names_add(struct data_names *names, const char *name, size_t size);
void data_names_free(struct data_names *names);

/* ---- Sparse matrices (principal.c) --------------------------------------------------------- */

struct data_sparse {
    uint32_t row_count;
    uint32_t column_count;
    size_t *start; /* row_count + 1 */
    uint32_t *columns;
    double *values;
};

/* The `count` leading right singular vectors, a row of column_count numbers each, of length 1 and
 * with the largest component positive; their singular values. The same bits on every machine.
 * Requires: count in 1..column_count. Errors: TACIT_MEMORY; TACIT_INVALID: 1,200 steps did not
 * suffice. Cost: steps (nonzeros + steps column_count). */
enum tacit_status data_principal(const struct data_sparse *x, uint32_t count, double *vectors,
                                 double *values);

/* ---- Words (words.c) ----------------------------------------------------------------------- */

/* A word that stands in the text of an item. */
struct data_entry {
    uint32_t item;
    uint32_t word;
};

struct data_words {
    struct data_names names;
    struct data_entry *entries;
    size_t entry_count;
    size_t entry_capacity;
};

/* Adds the words of a text, which it makes small: runs of ASCII letters and digits, and of what is
 * beyond ASCII. False: out of memory. */
bool data_words_add(struct data_words *words, uint32_t item, char *text);
void data_words_free(struct data_words *words);

/* A vector of length 1 for each item: counts of its words times ln(items/items with the word), on
 * the `dimension` leading directions of all items. An item that has no part in them is 0. Requires:
 * no item >= item_count; dimension <= words. Errors: as data_principal. */
enum tacit_status data_words_vectors(struct data_words *words, uint32_t item_count,
                                     uint32_t dimension, float *vectors);

/* ---- Tables (table.c) ---------------------------------------------------------------------- */

/* tacit_table_read whose message about rows of different lengths ends in `rule`. */
enum tacit_status data_table_read_ruled(struct tacit_table *table, const char *path,
                                        const char *rule, struct tacit_error *error);

/* tacit_table_read_dialect of a member of a tar archive (.tar, .tar.xz, .tar.gz). */
enum tacit_status data_table_read_member(struct tacit_table *table, const char *path,
                                         const char *member, const struct tacit_dialect *dialect,
                                         struct tacit_error *error);

/* A field as a number: decimal, blanks around it allowed, nothing else. Reads the same in every
 * locale. Ensures: true: *value is finite. false: *value untouched. */
bool data_field_number(const char *field, double *value);

/* The same with another decimal sign than a point, and no point anywhere. */
bool data_field_decimal(const char *field, char decimal, double *value);
#endif
