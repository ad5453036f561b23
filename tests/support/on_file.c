/* The program called on one file, in a folder of its own. */
#include "testing.h"
#include "on_file.h"
#include "temp.h"
#include <dirent.h>

#define OPTIONS_MAX 12u

static char file[TEMP_PATH_BYTES];

void on_file_open(const char *name, const char *text)
{
    temp_directory_make(temp_folder);
    temp_path(file, temp_folder, name);
    temp_file_write(temp_folder, name, text);
}

void on_file_write(const char *name, const char *text)
{
    temp_file_write(temp_folder, name, text);
}

struct process_result on_file_run(const char *command, const char *const *options)
{
    return on_file_run_at(command, file, options);
}

struct process_result on_file_run_at(const char *command, const char *path,
                                     const char *const *options)
{
    const char *arguments[OPTIONS_MAX + 4] = {process_tacit(), command, path};
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

void on_file_expect_wrong(struct process_result result, const char *what, const char *says)
{
    if (result.code != 2 || strstr(result.err, says) == NULL)
        fail_msg("%s: code %d: %s", what, result.code, result.err);
    assert_int_equal(process_line_count(result.err), 1);
    assert_string_equal(result.out, "");
}

void on_file_refuse(const char *command, const struct on_file_wrong *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        on_file_expect_wrong(on_file_run(command, cases[i].options), cases[i].options[0],
                             cases[i].says);
}

json_t *on_file_json(struct process_result result)
{
    if (result.code != 0)
        fail_msg("code %d: %s", result.code, result.err);
    json_t *const json = json_loads(result.out, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    return json;
}

double on_file_metric(const json_t *json, const char *name)
{
    json_t const *const metric = json_object_get(json_object_get(json, "metrics"), name);
    json_t const *const mean = json_object_get(metric, "mean");
    if (!json_is_number(mean))
        fail_msg("no %s", name);
    return json_number_value(mean);
}

char *on_file_text(const char *directory, const char *name)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, name);
    FILE *const in = fopen(path, "rb");
    if (in == NULL)
        fail_msg("%s is not there", path);
    assert_int_equal(fseek(in, 0, SEEK_END), 0);
    size_t const size = (size_t)ftell(in);
    rewind(in);
    char *const text = testing_calloc(size + 1, 1);
    assert_int_equal(fread(text, 1, size, in), size);
    (void)fclose(in);
    return text;
}

size_t on_file_count(const char *directory)
{
    DIR *const stream = opendir(directory);
    size_t count = 0;
    assert_non_null(stream);
    while (readdir(stream) != NULL)
        count++;
    (void)closedir(stream);
    return count - 2; /* . and .. */
}

/* ---- Refusals ---- */

void on_file_append(char text[ON_FILE_TEXT_BYTES], const char *more)
{
    size_t const size = strlen(text);
    int const written = snprintf(text + size, ON_FILE_TEXT_BYTES - size, "%s", more);
    assert_true(written >= 0 && (size_t)written < ON_FILE_TEXT_BYTES - size);
}

void on_file_expand(char text[ON_FILE_TEXT_BYTES], const char *pattern, const char *directory,
                    const char *name)
{
    text[0] = '\0';
    for (; *pattern != '\0'; pattern++) {
        char const single[] = {*pattern, '\0'};
        on_file_append(text, *pattern == '@' || *pattern == '%' ? directory : single);
        on_file_append(text, *pattern == '@' ? name : "");
    }
}

void on_file_expect_refusal(const struct process_plan *plan, const char *begins, const char *says)
{
    struct process_result result = process_run(plan);
    bool const as_wanted = result.code == 2 && process_line_count(result.err) == 1 &&
                           strncmp(result.err, begins, strlen(begins)) == 0 &&
                           strstr(result.err, says) != NULL;
    if (!as_wanted)
        print_error("wanted: %s … %s\nfound, with code %d: %s\n", begins, says, result.code,
                    result.err);
    assert_false(result.timed_out);
    assert_string_equal(result.out, "");
    assert_true(result.err_size > 0 && result.err[result.err_size - 1] == '\n');
    assert_true(as_wanted);
}
