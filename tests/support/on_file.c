/* The program called on one file, in a folder of its own. */
#include "testing.h"
#include "on_file.h"
#include "temp.h"

#define OPTIONS_MAX 12u

static char folder[TEMP_PATH_BYTES];
static char file[TEMP_PATH_BYTES];

void on_file_open(const char *name, const char *text)
{
    temp_directory_make(folder);
    temp_path(file, folder, name);
    temp_file_write(folder, name, text);
}

void on_file_write(const char *name, const char *text)
{
    temp_file_write(folder, name, text);
}

int on_file_close(void **state)
{
    temp_directory_remove(folder);
    return 0;
}

struct process_result on_file_run(const char *command, const char *const *options)
{
    const char *arguments[OPTIONS_MAX + 4] = {process_tacit(), command, file};
    for (uint32_t i = 0; options[i] != NULL; i++) {
        assert_true(i < OPTIONS_MAX);
        arguments[3 + i] = options[i];
    }
    struct process_plan const plan = {.arguments = arguments};
    return process_run(&plan);
}

struct process_result on_file_start(const char *command)
{
    const char *const arguments[] = {process_tacit(), command, "--config", file, NULL};
    struct process_plan const plan = {.arguments = arguments};
    return process_run(&plan);
}

double on_file_metric(const json_t *json, const char *name)
{
    json_t const *const metric = json_object_get(json_object_get(json, "metrics"), name);
    json_t const *const mean = json_object_get(metric, "mean");
    if (!json_is_number(mean))
        fail_msg("no %s", name);
    return json_number_value(mean);
}
