/* Encoded messages, each in its own block. */
#include "letters.h"
#include "daemon/log.h"
#include <stdlib.h>

static bool reserve(struct live_letters *letters)
{
    TACIT_ASSERT(letters->count <= letters->capacity);
    if (letters->count < letters->capacity)
        return true;
    size_t const capacity = 2 * letters->capacity + 4;
    struct live_message *const items = realloc(letters->items, capacity * sizeof *letters->items);
    if (items == NULL)
        return false;
    letters->items = items;
    letters->capacity = capacity;
    return true;
}

uint8_t *live_letters_add(struct live_letters *letters, uint32_t to, bool is_retained, size_t size)
{
    TACIT_ASSERT(size > 0);
    uint8_t *const bytes = reserve(letters) ? malloc(size) : NULL;
    if (bytes == NULL) {
        live_log(LIVE_LOG_WARNING, "memory", "a message was not sent now; it will be sent again");
        return NULL;
    }
    letters->items[letters->count++] =
        (struct live_message){.to = to, .is_retained = is_retained, .bytes = bytes, .size = size};
    return bytes;
}

void live_letters_drop_last(struct live_letters *letters)
{
    TACIT_ASSERT(letters->count > 0);
    letters->count--;
    free((void *)(uintptr_t)letters->items[letters->count].bytes);
}

void live_letters_clear(struct live_letters *letters)
{
    while (letters->count > 0)
        live_letters_drop_last(letters);
}

void live_letters_free(struct live_letters *letters)
{
    live_letters_clear(letters);
    free(letters->items);
    *letters = (struct live_letters){0};
}
