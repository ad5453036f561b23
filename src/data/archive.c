/* Tar archives (POSIX ustar): one member of one, in memory. Whole files, as in unpack.c: the
 * archives of data sets are small beside what is made of them. */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

#define BLOCK 512u
#define NAME_BYTES 100u
#define SIZE_AT 124u
#define SIZE_BYTES 12u
#define KIND_AT 156u
#define MAGIC_AT 257u
#define PREFIX_AT 345u
#define PREFIX_BYTES 155u

/* A number in octal digits, ended by a blank or NUL; false if it is none, or too large. */
static bool read_octal(const char *field, size_t bytes, size_t *value)
{
    size_t number = 0;
    size_t i = 0;
    while (i < bytes && field[i] == ' ')
        i++;
    if (i == bytes || field[i] < '0' || field[i] > '7')
        return false;
    for (; i < bytes && field[i] >= '0' && field[i] <= '7'; i++) {
        if (number > TACIT_UNPACKED_BYTES_MAX)
            return false;
        number = number * 8 + (size_t)(field[i] - '0');
    }
    *value = number;
    return i == bytes || field[i] == ' ' || field[i] == '\0';
}

static size_t length_of(const char *field, size_t bytes)
{
    const char *const end = memchr(field, '\0', bytes);
    return end == NULL ? bytes : (size_t)(end - field);
}

/* Is this the header of a plain file of that name, with or without "./" before it? */
static bool is_member(const char *header, const char *name)
{
    char whole[PREFIX_BYTES + NAME_BYTES + 2];
    size_t size = 0;
    bool const is_ustar = memcmp(header + MAGIC_AT, "ustar", 5) == 0;
    size_t const prefix = is_ustar ? length_of(header + PREFIX_AT, PREFIX_BYTES) : 0;
    if (header[KIND_AT] != '0' && header[KIND_AT] != '\0')
        return false;
    memcpy(whole, header + PREFIX_AT, prefix);
    size = prefix;
    if (prefix > 0)
        whole[size++] = '/';
    size_t const base = length_of(header, NAME_BYTES);
    memcpy(whole + size, header, base);
    whole[size + base] = '\0';
    return strcmp(strncmp(whole, "./", 2) == 0 ? whole + 2 : whole, name) == 0;
}

enum tacit_status data_archive_extract(struct data_unpacked *file, const char *path,
                                       const char *member, struct tacit_error *error)
{
    size_t at = 0;
    size_t size = 0;
    while (file->size - at >= BLOCK && file->bytes[at] != '\0') {
        char const *const header = file->bytes + at;
        if (!read_octal(header + SIZE_AT, SIZE_BYTES, &size) || size > file->size - at - BLOCK)
            return data_fail(error, TACIT_IO, path, 0, "not a tar archive, or damaged");
        if (is_member(header, member)) {
            memmove(file->bytes, header + BLOCK, size);
            file->bytes[size] = '\0';
            file->size = size;
            return TACIT_OK;
        }
        size_t const padded = (size + BLOCK - 1) / BLOCK * BLOCK;
        at = padded > file->size - at - BLOCK ? file->size : at + BLOCK + padded;
    }
    return data_fail(error, TACIT_IO, path, 0, "there is no '%s' in it",
                     data_shown_value(member).text);
}
