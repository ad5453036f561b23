/* A log of what happens in a scenario, which is compared with a text in the source. */
#ifndef TACIT_TESTS_TRACE_LOG_H
#define TACIT_TESTS_TRACE_LOG_H
#include "tacit/base.h"

struct trace_log {
    char text[32768];
    size_t size;
};

void trace_log_say(struct trace_log *log, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The members of a set, or "none". */
void trace_log_set(struct trace_log *log, const char *what, const uint64_t *bits, uint32_t count);
const char *trace_log_status(enum tacit_status status);
/* Fails unless this is what was wanted; with TACIT_TRACE_RECORD=1 it prints the log as the C string
 * to compare with, and compares nothing. */
void trace_log_end(const struct trace_log *log, const char *wanted);
#endif
