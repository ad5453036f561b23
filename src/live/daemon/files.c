/* Whole files in a directory of ours. */
#include "files.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES 128u

static int open_directory(const char *directory)
{
    return open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static bool write_all(int file, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t const put = write(file, (const char *)bytes + at, size - at);
        if (put <= 0)
            return false;
        at += (size_t)put;
    }
    return true;
}

/* Written as `fresh`, on disk, then under its name. */
static bool put_at(int directory, const char *name, const char *fresh, const void *bytes,
                   size_t size, uint32_t owner)
{
    (void)unlinkat(directory, fresh, 0);
    int const file = openat(directory, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                            S_IRUSR | S_IWUSR);
    if (file < 0)
        return false;
    bool is_good = write_all(file, bytes, size);
    is_good = is_good && (owner == UINT32_MAX || fchown(file, owner, (gid_t)-1) == 0);
    is_good = fsync(file) == 0 && is_good;
    is_good = close(file) == 0 && is_good;
    return is_good && renameat(directory, fresh, directory, name) == 0;
}

enum tacit_status live_file_put(const char *directory, const char *name, const void *bytes,
                                size_t size, uint32_t owner)
{
    char fresh[NAME_BYTES];
    int const place = open_directory(directory);
    TACIT_ASSERT(name != NULL);
    if (place < 0)
        return TACIT_INVALID;
    (void)snprintf(fresh, sizeof fresh, ".%.100s.new", name);
    bool const is_good = put_at(place, name, fresh, bytes, size, owner) && fsync(place) == 0;
    (void)close(place);
    return is_good ? TACIT_OK : TACIT_IO;
}

static bool read_all(int file, void *bytes, size_t size)
{
    size_t at = 0;
    while (at < size) {
        ssize_t const got = read(file, (char *)bytes + at, size - at);
        if (got <= 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

enum tacit_status live_file_read(const char *directory, const char *name, void *bytes, size_t size)
{
    struct stat about;
    int const place = open_directory(directory);
    if (place < 0)
        return TACIT_IO;
    /* A pipe would wait for whoever opens its other end. */
    int const file = openat(place, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    (void)close(place);
    if (file < 0)
        return TACIT_IO;
    bool const is_good = fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
                         about.st_nlink == 1 && about.st_size == (off_t)size &&
                         read_all(file, bytes, size);
    (void)close(file);
    return is_good ? TACIT_OK : TACIT_IO;
}

void live_file_drop(const char *directory, const char *name)
{
    int const place = open_directory(directory);
    if (place < 0)
        return;
    (void)unlinkat(place, name, 0);
    (void)close(place);
}
