/* Messages of the data room: one line for a person, however odd the file is. Not a logger. */
#include "tacit/data.h"
#include "internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATH_SHOWN_MAX 480u /* leaves half of a struct tacit_error for what is wrong */

static bool is_utf8_continuation(char c)
{
    return ((unsigned char)c & 0xC0u) == 0x80u;
}

struct data_shown data_shown_value(const char *value)
{
    struct data_shown shown = {{0}};
    size_t size = 0;
    while (size < TACIT_SHOWN_BYTES && value[size] != '\0')
        size++;
    if (size < TACIT_SHOWN_BYTES) {
        memcpy(shown.text, value, size);
        return shown;
    }
    size = TACIT_SHOWN_BYTES - sizeof "...";
    while (size > 0 && is_utf8_continuation(value[size]))
        size--;
    memcpy(shown.text, value, size);
    memcpy(shown.text + size, "...", sizeof "...");
    return shown;
}

static size_t write_location(char *text, size_t capacity, const char *path, uint32_t line)
{
    size_t const path_size = strlen(path);
    bool const cut = path_size > PATH_SHOWN_MAX;
    const char *const shown = cut ? path + (path_size - PATH_SHOWN_MAX) : path;
    const char *const dots = cut ? "..." : "";
    int const written = line == 0 ? snprintf(text, capacity, "%s%s: ", dots, shown)
                                  : snprintf(text, capacity, "%s%s:%u: ", dots, shown, line);
    TACIT_ASSERT(written >= 0);
    TACIT_ASSERT((size_t)written < capacity);
    return (size_t)written;
}

enum tacit_status data_fail(struct tacit_error *error, enum tacit_status status, const char *path,
                            uint32_t line, const char *format, ...)
{
    TACIT_ASSERT(error != NULL);
    TACIT_ASSERT(status != TACIT_OK);
    size_t const used = write_location(error->text, sizeof error->text, path, line);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error->text + used, sizeof error->text - used, format, arguments);
    va_end(arguments);
    tacit_error_clean(error);
    return status;
}

enum tacit_status data_fail_memory(struct tacit_error *error, const char *path)
{
    return data_fail(error, TACIT_MEMORY, path, 0, "out of memory");
}
