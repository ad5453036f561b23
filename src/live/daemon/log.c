/* Log lines: time, level, event, sentence. */
#include "log.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 1024u

static bool log_is_json;    /* set once at start, .. */
static char log_file[4096]; /* .. with this: its path; empty: stderr as it was given to us */

/* Whatever writes to stderr, a library too, writes there from now on. */
static enum tacit_status open_file(struct tacit_error *error)
{
    int const file = open(log_file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    bool const is_open = file >= 0 && dup2(file, STDERR_FILENO) == STDERR_FILENO;
    if (!is_open)
        (void)snprintf(error->text, sizeof error->text, "log.file: cannot open %.1024s: %s",
                       log_file, strerror(errno));
    if (file >= 0)
        (void)close(file);
    return is_open ? TACIT_OK : TACIT_INVALID;
}

enum tacit_status live_log_open(bool is_json, const char *file, struct tacit_error *error)
{
    log_is_json = is_json;
    (void)snprintf(log_file, sizeof log_file, "%s", file == NULL ? "" : file);
    return log_file[0] == '\0' ? TACIT_OK : open_file(error);
}

void live_log_reopen(void)
{
    struct tacit_error error = {""};
    if (log_file[0] != '\0' && open_file(&error) != TACIT_OK)
        live_log(LIVE_LOG_WARNING, "reload", "the log stays where it was: %s", error.text);
}

static const char *level_name(enum live_log_level level)
{
    switch (level) {
    case LIVE_LOG_INFO:
        return "info";
    case LIVE_LOG_WARNING:
        return "warning";
    case LIVE_LOG_ERROR:
        return "error";
    }
    return "error";
}

/* Escapes what JSON wants escaped; other control characters become spaces. */
static void put_json_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char const byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            (void)fputc('\\', out);
        (void)fputc(byte < 0x20 ? ' ' : byte, out);
    }
}

/* Peers' words may hold anything: one event stays one line. */
static void put_line_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        (void)fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
}

void live_log(enum live_log_level level, const char *event, const char *format, ...)
{
    char message[LINE_BYTES];
    char stamp[32];
    struct timespec now;
    struct tm utc;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &utc);
    (void)strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    flockfile(stderr);
    if (log_is_json) {
        (void)fprintf(stderr,
                      "{\"time\":\"%s.%03ldZ\",\"level\":\"%s\",\"event\":\"%s\",\"message\":\"",
                      stamp, now.tv_nsec / 1000000, level_name(level), event);
        put_json_text(stderr, message);
        (void)fputs("\"}\n", stderr);
    } else {
        (void)fprintf(stderr, "%s.%03ldZ %-7s %s: ", stamp, now.tv_nsec / 1000000,
                      level_name(level), event);
        put_line_text(stderr, message);
        (void)fputc('\n', stderr);
    }
    funlockfile(stderr);
}
