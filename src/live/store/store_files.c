/* The main file before SQLite opens it: does it begin as ours does? */
#include "store_base.h"
#include "../daemon/refusal.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HEADER_BYTES 100u
#define FILE_BYTES_MIN ((int64_t)STORE_PAGE_BYTES)

/* Offsets of https://sqlite.org/fileformat.html, section 1.3. All of it lies in the first sector,
 * which a crash leaves old or new, and of what is looked at only the generation ever changes. */
static enum tacit_status check_header(const uint8_t header[HEADER_BYTES],
                                      const char *directory_name, struct tacit_error *error)
{
    if (memcmp(header, "SQLite format 3", 16) != 0)
        return live_refuse(error, TACIT_MALFORMED, "%s/%s is not a database", directory_name,
                           STORE_FILE);
    if (store_load_u32(header + 68) != STORE_APPLICATION)
        return live_refuse(error, TACIT_MALFORMED,
                           "%s/%s is a database of another program (application id %08lx, ours is "
                           "%08lx)",
                           directory_name, STORE_FILE, (unsigned long)store_load_u32(header + 68),
                           (unsigned long)STORE_APPLICATION);
    uint32_t const version = store_load_u32(header + STORE_USER_VERSION_AT);
    if (!store_format_is_read(version))
        return live_refuse(
            error, TACIT_INVALID,
            "%s/%s has format %lu; this program reads formats %d to %d: end the runs of this state "
            "with the version of the program that made it, then begin with an empty directory",
            directory_name, STORE_FILE, (unsigned long)store_format_of(version),
            STORE_FORMAT_OLDEST, STORE_FORMAT);
    /* Write and read version 2: there is a log. With 1, SQLite would ignore it and lose what is in
     * it. */
    uint32_t const page_bytes = (uint32_t)header[16] << 8 | header[17];
    if (page_bytes != STORE_PAGE_BYTES || header[18] != 2 || header[19] != 2)
        return live_refuse(error, TACIT_MALFORMED,
                           "%s/%s is damaged: page size %lu, versions %u and %u in its header",
                           directory_name, STORE_FILE, (unsigned long)page_bytes,
                           (unsigned)header[18], (unsigned)header[19]);
    return TACIT_OK;
}

enum tacit_status store_header_check(int directory, const char *directory_name, int64_t size,
                                     bool has_log, uint32_t *generation, struct tacit_error *error)
{
    TACIT_ASSERT(size >= 0);
    *generation = 0;
    if (size == 0)
        return live_refuse(error, TACIT_MALFORMED, "%s/%s is empty (0 bytes)", directory_name,
                           STORE_FILE);
    uint8_t header[HEADER_BYTES];
    int const file = openat(directory, STORE_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t const got = file < 0 ? -1 : pread(file, header, sizeof header, 0);
    int const reason = errno;
    if (file >= 0)
        (void)close(file);
    if (got < 0)
        return live_refuse(error, TACIT_IO, "%s/%s: cannot read: %s", directory_name, STORE_FILE,
                           strerror(reason));
    if ((size_t)got < sizeof header)
        return live_refuse(error, TACIT_MALFORMED, "%s/%s is truncated (%lld bytes)",
                           directory_name, STORE_FILE, (long long)size);
    TACIT_TRY(check_header(header, directory_name, error));
    *generation = store_generation_of(store_load_u32(header + STORE_USER_VERSION_AT));
    /* While there is a log, a crash may have left part of a page at the end; the log has the whole
     * one. */
    if (size < FILE_BYTES_MIN || (!has_log && size % STORE_PAGE_BYTES != 0))
        return live_refuse(error, TACIT_MALFORMED,
                           "%s/%s is truncated (%lld bytes, not a multiple of %d)", directory_name,
                           STORE_FILE, (long long)size, STORE_PAGE_BYTES);
    return TACIT_OK;
}
