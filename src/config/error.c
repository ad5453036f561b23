/* The one place where the room config writes what is wrong. */
#include "error.h"
#include <stdarg.h>
#include <stdio.h>

void config_set_error(struct tacit_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error->text, TACIT_ERROR_BYTES, format, arguments);
    va_end(arguments);
    tacit_error_clean(error);
}
