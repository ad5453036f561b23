/* Deep copies: what a struct points to goes behind it, part by part. */
#ifndef TACIT_BASE_PART_H
#define TACIT_BASE_PART_H
#include <string.h>
#include "tacit/base.h"

/* Copies so many bytes to *end and moves it on; NULL stays NULL. */
static inline const void *base_copy_part(const void *from, size_t size, unsigned char **end)
{
    if (from == NULL)
        return NULL;
    unsigned char *const to = *end;
    memcpy(to, from, size);
    *end += size;
    return to;
}
#endif
