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

/* Makes UTF-8 of the file's bytes. Ensures: on failure they are freed.
 * Errors: TACIT_INVALID (bytes that are not of the encoding, with their line), TACIT_MEMORY. */
enum tacit_status data_recode(struct data_unpacked *file, const char *path,
                              enum tacit_encoding encoding, struct tacit_error *error);

/* ---- Tables (table.c) ---------------------------------------------------------------------- */

/* tacit_table_read whose message about rows of different lengths ends in `rule`. */
enum tacit_status data_table_read_ruled(struct tacit_table *table, const char *path,
                                        const char *rule, struct tacit_error *error);

/* A field as a number: decimal, blanks around it allowed, nothing else. Reads the same in every
 * locale. Ensures: true: *value is finite. false: *value untouched. */
bool data_field_number(const char *field, double *value);

/* The same with another decimal sign than a point, and no point anywhere. */
bool data_field_decimal(const char *field, char decimal, double *value);
#endif
