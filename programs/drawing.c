/* rsvg-convert, called as a program (decision 46). */
#include "drawing.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONVERTER "rsvg-convert"
#define PATH_BYTES 4096u

extern char **environ;

bool drawing_is_format(const char *format)
{
    return strcmp(format, "svg") == 0 || strcmp(format, "png") == 0 || strcmp(format, "pdf") == 0;
}

/* Whether it ended well with these words. What it says on stdout is nobody's. */
static bool run_converter(char *const words[])
{
    posix_spawn_file_actions_t actions;
    pid_t process = -1;
    int code = 0;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    bool is_done =
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawnp(&process, CONVERTER, &actions, NULL, words, environ) == 0;
    (void)posix_spawn_file_actions_destroy(&actions);
    while (is_done && waitpid(process, &code, 0) == -1)
        is_done = errno == EINTR;
    return is_done && WIFEXITED(code) && WEXITSTATUS(code) == 0;
}

enum tacit_status drawing_try(const char *format, struct tacit_error *error)
{
    char name[] = CONVERTER;
    char version[] = "--version";
    if (strcmp(format, "svg") == 0 || run_converter((char *[]){name, version, NULL}))
        return TACIT_OK;
    (void)snprintf(error->text, sizeof error->text,
                   "'%s' is made by rsvg-convert, which does not run here; install librsvg2-bin, "
                   "or take svg",
                   format);
    return TACIT_IO;
}

static bool convert(const char *directory, const char *id, const char *format)
{
    char name[] = CONVERTER;
    char twice[] = "--zoom=2"; /* 1440 pixels wide */
    char white[] = "--background-color=white";
    char kind[32];
    char from[PATH_BYTES];
    char to[PATH_BYTES + 16];
    (void)snprintf(kind, sizeof kind, "--format=%s", format);
    (void)snprintf(from, sizeof from, "%s/%s.svg", directory, id);
    (void)snprintf(to, sizeof to, "--output=%s/%s.%s", directory, id, format);
    char *const png[] = {name, twice, white, kind, to, from, NULL};
    char *const pdf[] = {name, kind, to, from, NULL};
    return run_converter(strcmp(format, "png") == 0 ? png : pdf);
}

enum tacit_status drawing_convert(const struct tacit_report_paper *paper, const char *directory,
                                  const char *format, struct tacit_error *error)
{
    for (uint32_t i = 0; i < paper->section_count && strcmp(format, "svg") != 0; i++) {
        struct tacit_report_section const *const section = &paper->sections[i];
        if (section->hours_left > 0 || convert(directory, section->figure.id, format))
            continue;
        (void)snprintf(error->text, sizeof error->text,
                       "%.300s/%s.svg could not be made a %s by rsvg-convert", directory,
                       section->figure.id, format);
        return TACIT_IO;
    }
    return TACIT_OK;
}
