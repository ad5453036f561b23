/* Numbers as text: exact ones for machines, rounded ones for people. Not a general formatter. */
#include "internal.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_MAX 9007199254740992.0 /* 2^53: below it every whole double is exact */

locale_t report_locale_enter(void)
{
    locale_t const plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    return plain == (locale_t)0 ? (locale_t)0 : uselocale(plain);
}

void report_locale_leave(locale_t before)
{
    if (before == (locale_t)0)
        return;
    locale_t const plain = uselocale(before);
    if (plain != LC_GLOBAL_LOCALE)
        freelocale(plain);
}

/* Minus zero reads badly and means nothing here. */
static double without_sign_if_zero(double value)
{
    return fabs(value) > 0.0 ? value : 0.0;
}

struct report_number report_exact(double value)
{
    struct report_number number = {"null"};
    if (!isfinite(value))
        return number;
    if (fabs(value) < WHOLE_MAX && value == floor(value)) {
        (void)snprintf(number.text, sizeof number.text, "%.0f", without_sign_if_zero(value));
        return number;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(number.text, sizeof number.text, "%.*g", digits, value);
        if (strtod(number.text, NULL) == value)
            break;
    }
    return number;
}

/* Puts a comma before every third digit of the whole part, from the point (or the end) leftwards.
 */
static void group_thousands(struct report_number *number)
{
    char *const text = number->text;
    size_t const first = text[0] == '-' ? 1 : 0;
    size_t end = first + strspn(text + first, "0123456789");
    for (size_t at = end; at > first + 3;) {
        at -= 3;
        size_t const rest = strlen(text + at) + 1;
        TACIT_ASSERT(at + rest + 1 <= sizeof number->text);
        memmove(text + at + 1, text + at, rest);
        text[at] = ',';
    }
}

struct report_number report_rounded(double value, int digits)
{
    struct report_number number = {"\xe2\x80\x93"}; /* en dash */
    double const size = fabs(value);
    if (!isfinite(value))
        return number;
    if (size >= 1e15 || (size > 0.0 && size < 1e-4))
        (void)snprintf(number.text, sizeof number.text, "%.4g", value);
    else if (size >= pow(10.0, digits) - 0.5 || value == floor(value))
        (void)snprintf(number.text, sizeof number.text, "%.0f", without_sign_if_zero(value));
    else
        (void)snprintf(number.text, sizeof number.text, "%.*g", digits, value);
    if (strchr(number.text, 'e') == NULL)
        group_thousands(&number);
    return number;
}

struct report_number report_cell(double value, int digits)
{
    return isfinite(value) ? report_rounded(value, digits) : (struct report_number){"-"};
}

struct report_number report_interval(const struct tacit_report *report, double ci95)
{
    return report_rounded(report->run_count > 1 ? ci95 : NAN, 3);
}

struct report_number report_short(double value, int digits)
{
    static const char suffixes[][2] = {"", "k", "M", "G", "T", "P"};
    struct report_number number = {"\xe2\x80\x93"};
    if (!isfinite(value))
        return number;
    double const limit =
        1000.0 * (1.0 - 0.5 * pow(10.0, -digits)); /* what rounds to 1000 moves up */
    size_t rank = 0;
    while (fabs(value) >= limit && rank + 1 < sizeof suffixes / sizeof suffixes[0]) {
        value /= 1000.0;
        rank++;
    }
    (void)snprintf(number.text, sizeof number.text, "%.*g%s", digits, without_sign_if_zero(value),
                   suffixes[rank]);
    return number;
}

struct report_number report_grouped(uint64_t count)
{
    struct report_number number;
    (void)snprintf(number.text, sizeof number.text, "%" PRIu64, count);
    group_thousands(&number);
    return number;
}
