/* Text with values in it, each written as its place needs it. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

/* A conversion: %[-][.D][l]C. */
struct conversion {
    bool is_raw; /* '-' */
    int digits;  /* D; -1: none */
    bool is_long;
    char kind;
};

/* Result: what stands behind the conversion. */
static const char *parse_conversion(const char *format, struct conversion *conversion)
{
    *conversion = (struct conversion){.digits = -1};
    conversion->is_raw = *format == '-';
    format += conversion->is_raw ? 1 : 0;
    if (*format == '.') {
        char *end;
        conversion->digits = (int)strtol(format + 1, &end, 10);
        format = end;
    }
    conversion->is_long = *format == 'l';
    format += conversion->is_long ? 1 : 0;
    conversion->kind = *format;
    TACIT_ASSERT(conversion->kind != '\0');
    return format + 1;
}

/* NULL: null in JSON, an empty field in CSV, nothing elsewhere. */
static void put_text(FILE *out, enum report_syntax syntax, const char *text)
{
    bool const is_quoted = syntax == REPORT_CSV || (syntax == REPORT_JSON && text != NULL);
    (void)fputs(is_quoted ? "\"" : syntax == REPORT_JSON ? "null" : "", out);
    if (text != NULL)
        report_put(out, text, syntax);
    (void)fputs(is_quoted ? "\"" : "", out);
}

/* Digits < 0: exact. Else rounded for people; JSON keeps whole numbers whole. */
static void put_number(FILE *out, enum report_syntax syntax, double value, int digits)
{
    bool const is_whole = fabs(value) < 1e15 && value == floor(value);
    if (digits >= 0 && syntax != REPORT_JSON)
        (void)fputs(report_rounded(value, digits).text, out);
    else if (digits >= 0 && isfinite(value) && !is_whole)
        (void)fprintf(out, "%.*g", digits, value);
    else if (syntax != REPORT_CSV || isfinite(value))
        (void)fputs(report_exact(value).text, out);
}

static void put_unsigned(FILE *out, bool is_grouped, uint64_t value)
{
    if (is_grouped)
        (void)fputs(report_grouped(value).text, out);
    else
        (void)fprintf(out, "%" PRIu64, value);
}

static void print(FILE *out, enum report_syntax syntax, const char *format, va_list values)
{
    for (;;) {
        size_t const plain = strcspn(format, "%");
        struct conversion conversion;
        (void)fwrite(format, 1, plain, out);
        if (format[plain] == '\0')
            break;
        format = parse_conversion(format + plain + 1, &conversion);
        switch (conversion.kind) {
        case '%':
            (void)fputc('%', out);
            break;
        case 's':
            if (conversion.is_raw)
                (void)fputs(va_arg(values, const char *), out);
            else
                put_text(out, syntax, va_arg(values, const char *));
            break;
        case 'g':
            put_number(out, syntax, va_arg(values, double), conversion.digits);
            break;
        case 'f':
            (void)fprintf(out, "%.*f", conversion.digits, va_arg(values, double));
            break;
        default:
            TACIT_ASSERT(conversion.kind == 'u');
            put_unsigned(out, conversion.is_raw,
                         conversion.is_long ? va_arg(values, uint64_t) : va_arg(values, unsigned));
        }
    }
}

void report_print(FILE *out, enum report_syntax syntax, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print(out, syntax, format, values);
    va_end(values);
}

void tacit_report_print_json(FILE *out, const char *format, ...)
{
    va_list values;
    locale_t const before = report_locale_enter();
    va_start(values, format);
    print(out, REPORT_JSON, format, values);
    va_end(values);
    report_locale_leave(before);
}

void tacit_report_print_text(FILE *out, const char *text)
{
    TACIT_ASSERT(text != NULL);
    report_put(out, text, REPORT_TERMINAL);
}
