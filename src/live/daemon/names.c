/* Names. */
#include "names.h"
#include <string.h>

bool live_name_is_allowed(const char *name)
{
    TACIT_ASSERT(name != NULL);
    size_t const size = strnlen(name, LIVE_NAME_BYTES_MAX + 1);
    return size >= 1 && size <= LIVE_NAME_BYTES_MAX && strspn(name, LIVE_NAME_CHARACTERS) == size;
}

bool live_site_is_allowed(const char *name)
{
    return live_name_is_allowed(name) && strcmp(name, LIVE_COORDINATOR) != 0 &&
           strcmp(name, LIVE_BROKER) != 0 && strcmp(name, LIVE_HELPER) != 0;
}
