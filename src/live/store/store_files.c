/* The state directory and its files before SQLite opens them: whose they are, who can read them,
 * and whether the main file begins as ours does. */
#include "store_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_BYTES 100u
#define FILE_BYTES_MIN ((int64_t)STORE_PAGE_BYTES)
#define OTHERS (S_IRWXG | S_IRWXO)

/* Mode bits and owner, not access(2): root may read everything, and still must not trust it. */
static enum tacit_status check_private(const struct stat *found, const char *kind, mode_t allowed,
                                       const char *directory_name, const char *name,
                                       struct tacit_error *error)
{
    const char *const slash = name[0] == '\0' ? "" : "/";
    unsigned const mode = (unsigned)(found->st_mode & 07777u);
    if (found->st_uid != geteuid())
        return store_refuse(error, TACIT_INVALID, "%s%s%s belongs to user %lu, not to user %lu",
                            directory_name, slash, name, (unsigned long)found->st_uid,
                            (unsigned long)geteuid());
    if ((found->st_mode & OTHERS) != 0)
        return store_refuse(error, TACIT_INVALID,
                            "%s%s%s is open to other users (mode %04o): a state %s must be "
                            "private (chmod %04o)",
                            directory_name, slash, name, mode, kind, (unsigned)allowed);
    return TACIT_OK;
}

/* Opening "name/" would follow a link of that name. */
static size_t size_without_slashes(const char *path)
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    return size;
}

/* A new directory survives a power failure once its parent is on disk. Not being allowed to open
 * the parent is no reason to stop: the state is then lost as a whole, which the coordinator
 * notices. */
static void sync_parent(int directory)
{
    int const parent = openat(directory, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0)
        return;
    (void)fsync(parent);
    (void)close(parent);
}

static enum tacit_status check_directory(int directory, bool is_new, const char *directory_name,
                                         struct tacit_error *error)
{
    if (is_new) {
        (void)fchmod(directory, S_IRWXU); /* the umask may have taken our own bits away */
        sync_parent(directory);
    }
    struct stat found;
    if (fstat(directory, &found) != 0)
        return store_refuse(error, TACIT_IO, "%s: %s", directory_name, strerror(errno));
    return check_private(&found, "directory", S_IRWXU, directory_name, "", error);
}

enum tacit_status store_directory_open(const char *directory_name, int *directory,
                                       struct tacit_error *error)
{
    size_t const size = size_without_slashes(directory_name);
    char *const path = strndup(directory_name, size);
    if (path == NULL)
        return store_refuse(error, TACIT_MEMORY, "%s: out of memory", directory_name);
    bool const is_new = mkdir(path, S_IRWXU) == 0;
    int const reason = is_new ? 0 : errno;
    int const opened = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int const open_reason = errno;
    struct stat found;
    bool const is_link = opened < 0 && lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
    free(path);
    if (is_link)
        return store_refuse(error, TACIT_INVALID,
                            "%s is a symbolic link; name the directory itself", directory_name);
    if (opened < 0 && open_reason == ENOTDIR)
        return store_refuse(error, TACIT_INVALID, "%s is not a directory", directory_name);
    if (opened < 0)
        return store_refuse(error, TACIT_IO, "%s: cannot open the state directory: %s",
                            directory_name,
                            strerror(reason != 0 && reason != EEXIST ? reason : open_reason));
    enum tacit_status const status = check_directory(opened, is_new, directory_name, error);
    if (status != TACIT_OK) {
        (void)close(opened);
        return status;
    }
    *directory = opened;
    return TACIT_OK;
}

enum tacit_status store_file_check(int directory, const char *directory_name, const char *name,
                                   int64_t *size, struct tacit_error *error)
{
    struct stat found;
    if (fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT)
            return store_refuse(error, TACIT_IO, "%s/%s: %s", directory_name, name,
                                strerror(errno));
        *size = -1;
        return TACIT_OK;
    }
    if (S_ISLNK(found.st_mode))
        return store_refuse(error, TACIT_INVALID, "%s/%s is a symbolic link", directory_name, name);
    if (!S_ISREG(found.st_mode))
        return store_refuse(error, TACIT_INVALID, "%s/%s is not a plain file", directory_name,
                            name);
    *size = (int64_t)found.st_size;
    return check_private(&found, "file", S_IRUSR | S_IWUSR, directory_name, name, error);
}

static uint32_t load_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Offsets of https://sqlite.org/fileformat.html, section 1.3. All of it lies in the first sector,
 * which a crash leaves old or new, and none of it ever changes. */
static enum tacit_status check_header(const uint8_t header[HEADER_BYTES],
                                      const char *directory_name, struct tacit_error *error)
{
    if (memcmp(header, "SQLite format 3", 16) != 0)
        return store_refuse(error, TACIT_MALFORMED, "%s/%s is not a database", directory_name,
                            STORE_FILE);
    if (load_u32(header + 68) != STORE_APPLICATION)
        return store_refuse(error, TACIT_MALFORMED,
                            "%s/%s is a database of another program (application id %08lx, ours is "
                            "%08lx)",
                            directory_name, STORE_FILE, (unsigned long)load_u32(header + 68),
                            (unsigned long)STORE_APPLICATION);
    if (load_u32(header + 60) != STORE_FORMAT)
        return store_refuse(
            error, TACIT_INVALID, "%s/%s has format %lu; this program reads format %d only",
            directory_name, STORE_FILE, (unsigned long)load_u32(header + 60), STORE_FORMAT);
    /* Write and read version 2: there is a log. With 1, SQLite would ignore it and lose what is in
     * it. */
    uint32_t const page_bytes = (uint32_t)header[16] << 8 | header[17];
    if (page_bytes != STORE_PAGE_BYTES || header[18] != 2 || header[19] != 2)
        return store_refuse(error, TACIT_MALFORMED,
                            "%s/%s is damaged: page size %lu, versions %u and %u in its header",
                            directory_name, STORE_FILE, (unsigned long)page_bytes,
                            (unsigned)header[18], (unsigned)header[19]);
    return TACIT_OK;
}

enum tacit_status store_header_check(int directory, const char *directory_name, int64_t size,
                                     bool has_log, struct tacit_error *error)
{
    if (size == 0)
        return store_refuse(error, TACIT_MALFORMED, "%s/%s is empty (0 bytes)", directory_name,
                            STORE_FILE);
    uint8_t header[HEADER_BYTES];
    int const file = openat(directory, STORE_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t const got = file < 0 ? -1 : pread(file, header, sizeof header, 0);
    int const reason = errno;
    if (file >= 0)
        (void)close(file);
    if (got < 0)
        return store_refuse(error, TACIT_IO, "%s/%s: cannot read: %s", directory_name, STORE_FILE,
                            strerror(reason));
    if ((size_t)got < sizeof header)
        return store_refuse(error, TACIT_MALFORMED, "%s/%s is truncated (%lld bytes)",
                            directory_name, STORE_FILE, (long long)size);
    enum tacit_status const status = check_header(header, directory_name, error);
    if (status != TACIT_OK)
        return status;
    /* While there is a log, a crash may have left part of a page at the end; the log has the whole
     * one. */
    if (size < FILE_BYTES_MIN || (!has_log && size % STORE_PAGE_BYTES != 0))
        return store_refuse(error, TACIT_MALFORMED,
                            "%s/%s is truncated (%lld bytes, not a multiple of %d)", directory_name,
                            STORE_FILE, (long long)size, STORE_PAGE_BYTES);
    return TACIT_OK;
}
