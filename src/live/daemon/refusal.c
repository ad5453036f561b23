/* Refusals in one clean line. */
#include "refusal.h"
#include <stdarg.h>
#include <stdio.h>

enum tacit_status live_refuse(struct tacit_error *error, enum tacit_status status,
                              const char *format, ...)
{
    TACIT_ASSERT(error != NULL && status != TACIT_OK);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    tacit_error_clean(error);
    return status;
}
