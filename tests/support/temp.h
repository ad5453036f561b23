/* Temporary directories for tests, under $TMPDIR or /tmp. Failing to make one ends the test. */
#ifndef TACIT_TESTS_TEMP_H
#define TACIT_TESTS_TEMP_H
#include <stddef.h>

#define TEMP_PATH_BYTES 4096u

/* Makes a new, empty directory and writes its path. */
void temp_directory_make(char directory[TEMP_PATH_BYTES]);

/* Removes the directory with all that is in it. */
void temp_directory_remove(const char *directory);

/* The directory of a program that has one for all that it does, made and removed by cmocka. */
extern char temp_folder[TEMP_PATH_BYTES];
int temp_folder_make(void **state);
int temp_folder_remove(void **state);
/* temp_folder/name, until the next call. */
const char *temp_name(const char *name);

/* A cmocka teardown for a state of testing_malloc that begins with its directory. */
int temp_bench_remove(void **state);

/* path = directory/name. */
void temp_path(char path[TEMP_PATH_BYTES], const char *directory, const char *name);

/* Makes or replaces the file directory/name. */
void temp_file_write(const char *directory, const char *name, const char *text);
void temp_file_write_bytes(const char *directory, const char *name, const void *bytes, size_t size);
#endif
