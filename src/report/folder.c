/* A directory that takes files. Each is written under a temporary name, made durable and then
 * renamed, so that a reader sees all of it or none. */
#include "internal.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY_TRIES 100

/* A directory that takes files. */
struct folder {
    const char *directory;
    int handle;
    struct tacit_error *error; /* of the caller */
};

/* The part of a path that a line of text has room for. */
#define PATH_SHOWN 400

static enum tacit_status refuse(const struct folder *folder, const char *name, const char *why)
{
    (void)snprintf(folder->error->text, sizeof folder->error->text, "%.*s%s%s: %s", PATH_SHOWN,
                   folder->directory, name[0] == '\0' ? "" : "/", name, why);
    return TACIT_IO;
}

/* Makes the directory and those above it. Errors: errno. */
static int make_directories(char *path)
{
    for (char *at = path + 1; *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        int const failed = mkdir(path, 0777) != 0 && errno != EEXIST ? errno : 0;
        *at = '/';
        if (failed == ENOENT || failed == ENOTDIR)
            return failed; /* others: the next one may exist all the same */
    }
    return mkdir(path, 0777) != 0 && errno != EEXIST ? errno : 0;
}

static enum tacit_status open_folder(struct folder *folder, const char *directory,
                                     struct tacit_error *error)
{
    *folder = (struct folder){.directory = directory, .handle = -1, .error = error};
    char *const path = strdup(directory);
    if (path == NULL) {
        (void)refuse(folder, "", "out of memory");
        return TACIT_MEMORY;
    }
    int const number = path[0] == '\0' ? ENOENT : make_directories(path);
    free(path);
    if (number != 0)
        return refuse(folder, "", strerror(number));
    folder->handle = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder->handle < 0 ? refuse(folder, "", strerror(errno)) : TACIT_OK;
}

static void close_folder(struct folder *folder)
{
    (void)close(folder->handle);
    folder->handle = -1;
}

enum tacit_status tacit_report_make(const char *directory, struct tacit_error *error)
{
    struct folder folder;
    TACIT_ASSERT(directory != NULL);
    TACIT_TRY(open_folder(&folder, directory, error));
    enum tacit_status const status = faccessat(folder.handle, ".", W_OK | X_OK, AT_EACCESS) == 0
                                         ? TACIT_OK
                                         : refuse(&folder, "", strerror(errno));
    close_folder(&folder);
    return status;
}

enum tacit_status tacit_report_try(const char *directory, struct tacit_error *error)
{
    bool const was_there = access(directory, F_OK) == 0;
    enum tacit_status const status = tacit_report_make(directory, error);
    if (!was_there)
        (void)rmdir(directory);
    return status;
}

/* Ensures: a file that did not exist before, or NULL and errno. */
static FILE *open_temporary(const struct folder *folder, const char *name, char *temporary,
                            size_t capacity)
{
    int handle = -1;
    for (int i = 0; handle < 0 && i < TEMPORARY_TRIES; i++) {
        (void)snprintf(temporary, capacity, ".%s.%ld.%d", name, (long)getpid(), i);
        handle = openat(folder->handle, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (handle < 0 && errno != EEXIST)
            return NULL;
    }
    FILE *const out = handle < 0 ? NULL : fdopen(handle, "w");
    if (handle >= 0 && out == NULL) {
        int const number = errno;
        (void)close(handle);
        (void)unlinkat(folder->handle, temporary, 0);
        errno = number;
    }
    return out;
}

/* Errors: the message says errno if the fill set one. */
static enum tacit_status fill_file(const struct folder *folder, const struct report_file *file,
                                   FILE *out)
{
    folder->error->text[0] = '\0';
    errno = 0;
    enum tacit_status const status = file->fill(file->subject, out);
    if (status != TACIT_OK)
        (void)refuse(folder, file->name,
                     status == TACIT_MEMORY ? "out of memory"
                     : errno != 0           ? strerror(errno)
                                            : "could not be written");
    return status;
}

/* Errors: an older file of this name goes, too, once the new one was begun. */
static enum tacit_status write_file(const struct folder *folder, const struct report_file *file)
{
    char temporary[128];
    FILE *const out = open_temporary(folder, file->name, temporary, sizeof temporary);
    if (out == NULL)
        return refuse(folder, file->name, strerror(errno));
    enum tacit_status status = fill_file(folder, file, out);
    if (status == TACIT_OK && fsync(fileno(out)) != 0 && errno != EINVAL) /* EINVAL: it cannot */
        status = refuse(folder, file->name, strerror(errno));
    if (fclose(out) != 0 && status == TACIT_OK)
        status = refuse(folder, file->name, strerror(errno));
    if (status == TACIT_OK && renameat(folder->handle, temporary, folder->handle, file->name) != 0)
        status = refuse(folder, file->name, strerror(errno));
    if (status != TACIT_OK) {
        (void)unlinkat(folder->handle, temporary, 0);
        (void)unlinkat(folder->handle, file->name,
                       0); /* an older one would not belong to its neighbours */
    }
    return status;
}

enum tacit_status report_write_files(const char *directory, const struct report_file *files,
                                     size_t count, struct tacit_error *error)
{
    struct folder folder;
    enum tacit_status status = TACIT_OK;
    TACIT_TRY(open_folder(&folder, directory, error));
    locale_t const before = report_locale_enter();
    for (size_t i = 0; i < count && status == TACIT_OK; i++)
        status = write_file(&folder, &files[i]);
    report_locale_leave(before);
    close_folder(&folder);
    return status;
}

enum tacit_status report_fill_figure(const void *figure, FILE *out)
{
    return tacit_report_figure_svg(figure, out);
}

enum tacit_status report_fill_text(const void *text, FILE *out)
{
    (void)fputs(text, out);
    return report_finish(out);
}
