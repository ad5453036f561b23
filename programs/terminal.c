/* Wraps what is printed: a stream before the terminal that breaks long lines between words. */
#include "terminal.h"
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "tacit/base.h"

#define WIDTH_MIN 20u /* narrower is no terminal to read on */
#define WIDTH_MAX 10000u
#define HANGING 2u     /* further right than the line that goes on */
#define INDENT_MAX 12u /* of the lines that follow */

static struct {
    uint32_t width;
    uint32_t column; /* characters of this line so far */
    uint32_t indent; /* blanks that it begins with */
    uint32_t blanks; /* that are put before the next word, if it fits */
    size_t word_size;
    char word[4096];
} line;

static bool put_bytes(const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t const done = write(STDOUT_FILENO, bytes, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes += done;
        size -= (size_t)done;
    }
    return true;
}

static bool put_blanks(uint32_t count)
{
    bool is_written = true;
    for (; count > 0 && is_written; count--)
        is_written = put_bytes(" ", 1);
    return is_written;
}

/* The word, on this line or at the start of a further one. */
static bool put_word(void)
{
    uint32_t const size = tacit_text_characters(line.word, line.word_size);
    bool const is_first = line.column == 0;
    bool is_written = true;
    if (line.word_size == 0)
        return true;
    if (is_first)
        line.indent = line.blanks < INDENT_MAX ? line.blanks : INDENT_MAX;
    if (!is_first && line.column + line.blanks + size > line.width) {
        line.column = line.indent + HANGING;
        is_written = put_bytes("\n", 1) && put_blanks(line.column);
    } else {
        line.column += line.blanks;
        is_written = put_blanks(line.blanks);
    }
    is_written = is_written && put_bytes(line.word, line.word_size);
    line.column += size;
    line.blanks = 0;
    line.word_size = 0;
    return is_written;
}

/* False: writing failed. */
static bool put_byte(char byte)
{
    bool is_written = true;
    if (byte != ' ' && byte != '\n') {
        if (line.word_size == sizeof line.word)
            is_written = put_word();
        line.word[line.word_size++] = byte;
        return is_written;
    }
    is_written = put_word();
    if (byte == ' ') {
        line.blanks++;
        return is_written;
    }
    line.column = line.blanks = line.indent = 0;
    return is_written && put_bytes("\n", 1);
}

/* Of fopencookie: 0 says that it failed. */
static ssize_t write_wrapped(void *cookie, const char *bytes, size_t size)
{
    bool is_written = true;
    (void)cookie;
    for (size_t i = 0; i < size && is_written; i++)
        is_written = put_byte(bytes[i]);
    return is_written ? (ssize_t)size : 0;
}

/* 0: unknown, or too narrow to be fitted to. */
static uint32_t width_of_terminal(void)
{
    struct winsize size = {0};
    char const *const told = getenv("COLUMNS");
    unsigned long const columns = told == NULL ? 0 : strtoul(told, NULL, 10);
    if (columns >= WIDTH_MIN && columns <= WIDTH_MAX)
        return (uint32_t)columns;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= WIDTH_MIN ? size.ws_col
                                                                                    : 0;
}

/* -j, -qj, --json and what it may be shortened to. */
static bool asks_for_json(const char *word)
{
    if (word[0] != '-')
        return false;
    return word[1] == '-' ? word[2] == 'j' : strchr(word, 'j') != NULL;
}

void terminal_fit(int argc, char **argv)
{
    cookie_io_functions_t const functions = {.write = write_wrapped};
    if (!isatty(STDOUT_FILENO))
        return;
    for (int i = 0; i < argc; i++)
        if (asks_for_json(argv[i]))
            return;
    line.width = width_of_terminal();
    FILE *const stream = line.width == 0 ? NULL : fopencookie(NULL, "w", functions);
    if (stream == NULL)
        return;
    TACIT_ASSERT(line.column == 0);
    (void)setvbuf(stream, NULL, _IOLBF, BUFSIZ);
    stdout = stream;
}
