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
    for (char *at = error->text; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20u || (unsigned char)*at == 0x7Fu)
            *at = '?';
}
