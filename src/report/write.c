/* Puts the five files into a directory. Each is written under a temporary name, made durable and
 * then renamed, so that a reader sees all of it or none. */
#include "internal.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY_TRIES 100

/* Where the files go. */
struct place {
    const char *directory;
    int handle;
    struct tacit_error *error;
};

/* The part of a path that a line of text has room for. */
#define PATH_SHOWN 400

static enum tacit_status refuse(const struct place *place, const char *name, const char *why)
{
    (void)snprintf(place->error->text, sizeof place->error->text, "%.*s%s%s: %s", PATH_SHOWN,
                   place->directory, name[0] == '\0' ? "" : "/", name, why);
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

static enum tacit_status open_place(struct place *place)
{
    char *const path = strdup(place->directory);
    if (path == NULL) {
        (void)refuse(place, "", "out of memory");
        return TACIT_MEMORY;
    }
    int const number = path[0] == '\0' ? ENOENT : make_directories(path);
    free(path);
    if (number != 0)
        return refuse(place, "", strerror(number));
    place->handle = open(place->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return place->handle < 0 ? refuse(place, "", strerror(errno)) : TACIT_OK;
}

/* Ensures: a file that did not exist before, or NULL and errno. */
static FILE *open_temporary(const struct place *place, const char *name, char *temporary,
                            size_t capacity)
{
    int handle = -1;
    for (int i = 0; handle < 0 && i < TEMPORARY_TRIES; i++) {
        (void)snprintf(temporary, capacity, ".%s.%ld.%d", name, (long)getpid(), i);
        handle = openat(place->handle, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (handle < 0 && errno != EEXIST)
            return NULL;
    }
    FILE *const out = handle < 0 ? NULL : fdopen(handle, "w");
    if (handle >= 0 && out == NULL) {
        int const number = errno;
        (void)close(handle);
        (void)unlinkat(place->handle, temporary, 0);
        errno = number;
    }
    return out;
}

typedef enum tacit_status (*file_writer)(const struct tacit_report *report, FILE *out);

/* Fills an open file. NULL stands for gnuplot, which explains itself. */
static enum tacit_status fill(const struct tacit_report *report, const struct place *place,
                              const char *name, file_writer writer, FILE *out)
{
    if (writer == NULL)
        return tacit_report_svg(report, out, place->error);
    errno = 0;
    enum tacit_status const status = writer(report, out);
    if (status != TACIT_OK)
        (void)refuse(place, name,
                     status == TACIT_MEMORY ? "out of memory"
                     : errno != 0           ? strerror(errno)
                                            : "could not be written");
    return status;
}

static enum tacit_status write_file(const struct tacit_report *report, const struct place *place,
                                    const char *name, file_writer writer)
{
    char temporary[64];
    FILE *const out = open_temporary(place, name, temporary, sizeof temporary);
    if (out == NULL)
        return refuse(place, name, strerror(errno));
    enum tacit_status status = fill(report, place, name, writer, out);
    if (status == TACIT_OK && fsync(fileno(out)) != 0 && errno != EINVAL) /* EINVAL: it cannot */
        status = refuse(place, name, strerror(errno));
    if (fclose(out) != 0 && status == TACIT_OK)
        status = refuse(place, name, strerror(errno));
    if (status == TACIT_OK && renameat(place->handle, temporary, place->handle, name) != 0)
        status = refuse(place, name, strerror(errno));
    if (status != TACIT_OK) {
        (void)unlinkat(place->handle, temporary, 0);
        (void)unlinkat(place->handle, name,
                       0); /* an older one would not belong to its neighbours */
    }
    return status;
}

/* The figure comes last: without gnuplot everything else is there. */
static enum tacit_status write_files(const struct tacit_report *report, const struct place *place)
{
    static const struct {
        const char *name;
        file_writer writer;
    } files[] = {
        {"summary.json", tacit_report_json},
        {"curve.csv", tacit_report_curve_csv},
        {"runs.csv", tacit_report_runs_csv},
        {"report.html", tacit_report_html},
        {"figure.svg", NULL},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        enum tacit_status const status = write_file(report, place, files[i].name, files[i].writer);
        if (status != TACIT_OK)
            return status;
    }
    return TACIT_OK;
}

enum tacit_status tacit_report_write(const struct tacit_report *report, const char *directory,
                                     struct tacit_error *error)
{
    tacit_report_check(report);
    TACIT_ASSERT(directory != NULL);
    TACIT_ASSERT(error != NULL);
    struct place place = {.directory = directory, .handle = -1, .error = error};
    enum tacit_status status = open_place(&place);
    if (status != TACIT_OK)
        return status;
    locale_t const before = tacit_report_locale_enter();
    status = write_files(report, &place);
    tacit_report_locale_leave(before);
    (void)close(place.handle);
    return status;
}
