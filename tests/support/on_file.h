/* The program as a user calls it on one file, in a folder that the test has for itself. Failing to
 * make it ends the test. */
#ifndef TACIT_TESTS_ON_FILE_H
#define TACIT_TESTS_ON_FILE_H
#include <jansson.h>
#include "process.h"
#include "temp.h"

/* Makes the folder (temp_folder), and the file in it. */
void on_file_open(const char *name, const char *text);
/* Makes or replaces another file beside it, or the file itself. */
void on_file_write(const char *name, const char *text);

/* tacit COMMAND FILE OPTIONS; options end with NULL, 12 at most. */
struct process_result on_file_run(const char *command, const char *const *options);
/* .. on another file. */
struct process_result on_file_run_at(const char *command, const char *path,
                                     const char *const *options);
/* tacit COMMAND --config FILE, as daemons are started. */
struct process_result on_file_start(const char *command);

/* The text of the file directory/name, the test's (testing.h). A file that is not there ends the
 * test. */
char *on_file_text(const char *directory, const char *name);

/* What the program printed, as JSON; ends the test where it failed. */
json_t *on_file_json(struct process_result result);

/* The mean of a metric in the JSON of a run; ends the test if there is none. */
double on_file_metric(const json_t *json, const char *name);

/* Files and folders in a folder. */
size_t on_file_count(const char *directory);

#define ON_FILE_TEXT_BYTES 8192u
void on_file_append(char text[ON_FILE_TEXT_BYTES], const char *more);
/* @ becomes the file ("/experiment.yaml"), % its folder. */
void on_file_expand(char text[ON_FILE_TEXT_BYTES], const char *pattern, const char *directory,
                    const char *name);
/* Code 2, nothing on stdout, one line that says that. what: was wrong. */
void on_file_expect_wrong(struct process_result result, const char *what, const char *says);
/* tacit COMMAND FILE OPTION ..: of each case what it says is wrong with these options. */
struct on_file_wrong {
    const char *options[4]; /* the last is NULL */
    const char *says;
};
void on_file_refuse(const char *command, const struct on_file_wrong *cases, size_t count);
#define ON_FILE_REFUSE(command, cases)                                                             \
    on_file_refuse((command), (cases), sizeof(cases) / sizeof *(cases))
/* What every refusal has in common: code 2, nothing on stdout, one line that begins so and says
 * that. */
void on_file_expect_refusal(const struct process_plan *plan, const char *begins, const char *says);
#endif
