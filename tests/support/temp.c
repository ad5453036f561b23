/* Temporary directories for tests. A test that has none cannot say anything, so it stops. */
#define _POSIX_C_SOURCE 200809L
#include "testing.h"
#include "temp.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static _Noreturn void give_up(const char *what, const char *path)
{
    fprintf(stderr, "temp: cannot %s %s: %s\n", what, path, strerror(errno));
    abort();
}

void temp_path(char path[TEMP_PATH_BYTES], const char *directory, const char *name)
{
    int const size = snprintf(path, TEMP_PATH_BYTES, "%s/%s", directory, name);
    if (size < 0 || (size_t)size >= TEMP_PATH_BYTES) {
        errno = ENAMETOOLONG;
        give_up("name", name);
    }
}

void temp_directory_make(char directory[TEMP_PATH_BYTES])
{
    const char *const base = getenv("TMPDIR");
    temp_path(directory, base != NULL && base[0] != '\0' ? base : "/tmp", "tacit-test-XXXXXX");
    if (mkdtemp(directory) == NULL)
        give_up("make", directory);
}

static void remove_entry(const char *directory, const char *name)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return;
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, name);
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode))
        temp_directory_remove(path);
    else if (unlink(path) != 0)
        give_up("remove", path);
}

void temp_directory_remove(const char *directory)
{
    DIR *const stream = opendir(directory);
    if (stream == NULL)
        give_up("open", directory);
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        remove_entry(directory, entry->d_name);
    (void)closedir(stream);
    if (rmdir(directory) != 0)
        give_up("remove", directory);
}

char temp_folder[TEMP_PATH_BYTES];

const char *temp_name(const char *name)
{
    static char path[TEMP_PATH_BYTES];
    temp_path(path, temp_folder, name);
    return path;
}

int temp_folder_make(void **state)
{
    temp_directory_make(temp_folder);
    return 0;
}

int temp_folder_remove(void **state)
{
    temp_directory_remove(temp_folder);
    return 0;
}

int temp_bench_remove(void **state)
{
    temp_directory_remove(*state);
    testing_free(*state);
    return 0;
}

void temp_file_write_bytes(const char *directory, const char *name, const void *bytes, size_t size)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, name);
    FILE *const file = fopen(path, "wb");
    if (file == NULL)
        give_up("write", path);
    size_t const written = fwrite(bytes, 1, size, file);
    if (fclose(file) != 0 || written != size)
        give_up("write", path);
}

void temp_file_write(const char *directory, const char *name, const char *text)
{
    temp_file_write_bytes(directory, name, text, strlen(text));
}
