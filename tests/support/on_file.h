/* The program as a user calls it on one file, in a folder that the test has for itself. Failing to
 * make it ends the test. */
#ifndef TACIT_TESTS_ON_FILE_H
#define TACIT_TESTS_ON_FILE_H
#include <jansson.h>
#include "process.h"

/* Makes the folder, and the file in it. */
void on_file_open(const char *name, const char *text);
/* Makes or replaces another file beside it, or the file itself. */
void on_file_write(const char *name, const char *text);
/* Removes the folder; a cmocka teardown. */
int on_file_close(void **state);

/* tacit COMMAND FILE OPTIONS; options end with NULL, 12 at most. */
struct process_result on_file_run(const char *command, const char *const *options);
/* tacit COMMAND --config FILE, as daemons are started. */
struct process_result on_file_start(const char *command);

/* The mean of a metric in the JSON of a run; ends the test if there is none. */
double on_file_metric(const json_t *json, const char *name);
#endif
