/* Messages for people: one line each, whatever the words of a file in them are. */
#ifndef TACIT_CONFIG_ERROR_H
#define TACIT_CONFIG_ERROR_H
#include "tacit/base.h"

/* Writes the message; control characters become '?'. */
void config_set_error(struct tacit_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#endif
