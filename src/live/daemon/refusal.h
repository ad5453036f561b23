/* One line for a person about input that is refused. */
#ifndef TACIT_LIVE_REFUSAL_H
#define TACIT_LIVE_REFUSAL_H
#include "tacit/base.h"

/* Writes the line and returns the status. Control characters of what is quoted become ?, so that a
 * bad name cannot write to somebody's terminal. */
enum tacit_status live_refuse(struct tacit_error *error, enum tacit_status status,
                              const char *format, ...) __attribute__((format(printf, 3, 4)));
#endif
