/* Days: what a field says of when its row was logged, and how long a number of slots takes at the
 * traffic of such rows. */
#include "internal.h"
#include <math.h>
#include <string.h>

#define SECONDS_A_DAY 86400
#define SECONDS_END 253402300800.0 /* of the year 10000; what is more is milliseconds */
#define THURSDAY 3                 /* 1970-01-01 was one */

/* Days since 1970-01-01 of a date in the Gregorian calendar, whose years begin in March here. */
static int32_t day_of_date(int32_t year, int32_t month, int32_t day)
{
    int32_t const y = month <= 2 ? year - 1 : year;
    int32_t const m = month <= 2 ? month + 9 : month - 3;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* Moves *text past the digits that it read. */
static bool read_digits(const char **text, uint32_t count, int32_t *number)
{
    *number = 0;
    for (uint32_t i = 0; i < count; i++, (*text)++) {
        if (**text < '0' || **text > '9')
            return false;
        *number = 10 * *number + (**text - '0');
    }
    return true;
}

/* "2024-05-31", also with a time of day, of which only the characters are checked. */
static bool read_date(const char *text, int32_t *day)
{
    static const uint8_t lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int32_t year;
    int32_t month;
    int32_t date;
    if (!read_digits(&text, 4, &year) || *text++ != '-' || !read_digits(&text, 2, &month) ||
        *text++ != '-' || !read_digits(&text, 2, &date))
        return false;
    bool const is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (year < 1 || month < 1 || month > 12 || date < 1 || date > lengths[month - 1] ||
        (month == 2 && date == 29 && !is_leap))
        return false;
    *day = day_of_date(year, month, date);
    if (*text == 'T' || *text == ' ')
        return text[1] != '\0' && text[1 + strspn(text + 1, "0123456789:.+-Z")] == '\0';
    return *text == '\0';
}

bool data_field_day(const char *field, int32_t *day)
{
    double seconds;
    int32_t date;
    if (read_date(field, &date)) {
        *day = date;
        return true;
    }
    if (!data_field_number(field, &seconds) || !(seconds >= 0 && seconds < SECONDS_END))
        return false;
    *day = (int32_t)floor(seconds / SECONDS_A_DAY);
    return true;
}

uint32_t data_weekday(int32_t day)
{
    int32_t const weekday = (day + THURSDAY) % (int32_t)TACIT_WEEKDAYS;
    return (uint32_t)(weekday < 0 ? weekday + (int32_t)TACIT_WEEKDAYS : weekday);
}

double tacit_traffic_days(const double traffic[TACIT_WEEKDAYS], double slots)
{
    double week = 0;
    uint32_t most = 0;
    for (uint32_t i = 0; i < TACIT_WEEKDAYS; i++)
        week += traffic[i];
    TACIT_ASSERT(week > 0);
    double const weeks = floor(slots / week);
    for (uint32_t first = 0; first < TACIT_WEEKDAYS; first++) {
        double left = slots - weeks * week;
        uint32_t days = 0;
        for (; left > 0 && days < TACIT_WEEKDAYS; days++)
            left -= traffic[(first + days) % TACIT_WEEKDAYS];
        most = days > most ? days : most;
    }
    return weeks * TACIT_WEEKDAYS + most;
}
