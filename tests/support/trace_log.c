/* A log of what happens in a scenario. */
#include "testing.h"
#include "trace_log.h"

void trace_log_say(struct trace_log *log, const char *format, ...)
{
    size_t const room = sizeof log->text - log->size;
    va_list arguments;
    va_start(arguments, format);
    int const size = vsnprintf(log->text + log->size, room, format, arguments);
    va_end(arguments);
    assert_in_range(size, 0, room - 1);
    log->size += (size_t)size;
}

void trace_log_set(struct trace_log *log, const char *what, const uint64_t *bits, uint32_t count)
{
    trace_log_say(log, " %s ", what);
    for (uint32_t i = 0; i < count; i++)
        if (tacit_bits_has(bits, i))
            trace_log_say(log, "%u", i);
    if (tacit_bits_count(bits, count) == 0)
        trace_log_say(log, "none");
}

const char *trace_log_status(enum tacit_status status)
{
    switch (status) {
#define X(name, value, text)                                                                       \
    case name:                                                                                     \
        return #name;
        TACIT_STATUS_LIST(X)
#undef X
    }
    return "?";
}

void trace_log_end(const struct trace_log *log, const char *wanted)
{
    if (getenv("TACIT_TRACE_RECORD") == NULL)
        assert_string_equal(log->text, wanted);
    else
        for (const char *line = log->text; *line != '\0'; line = strchr(line, '\n') + 1)
            printf("    \"%.*s\\n\"\n", (int)strcspn(line, "\n"), line);
}
