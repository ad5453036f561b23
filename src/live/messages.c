/* Encoded messages, each in its own block. */
#include "messages.h"
#include "daemon/log.h"
#include <stdlib.h>
#include <string.h>

static bool reserve(struct live_messages *list)
{
    TACIT_ASSERT(list->count <= list->capacity);
    if (list->count < list->capacity)
        return true;
    size_t const capacity = 2 * list->capacity + 4;
    struct live_message *const items = realloc(list->items, capacity * sizeof *list->items);
    if (items == NULL)
        return false;
    list->items = items;
    list->capacity = capacity;
    return true;
}

uint8_t *live_messages_add(struct live_messages *list, const struct live_message *message)
{
    TACIT_ASSERT(message->size > 0);
    uint8_t *const bytes = reserve(list) ? malloc(message->size) : NULL;
    if (bytes == NULL) {
        live_log(LIVE_LOG_WARNING, "memory", "a message was not sent now; it will be sent again");
        return NULL;
    }
    list->items[list->count] = *message;
    list->items[list->count++].bytes = bytes;
    return bytes;
}

void live_messages_drop_last(struct live_messages *list)
{
    TACIT_ASSERT(list->count > 0);
    list->count--;
    free((void *)(uintptr_t)list->items[list->count].bytes);
}

void live_messages_put_last(struct live_messages *list, size_t at)
{
    TACIT_ASSERT(at < list->count);
    struct live_message const message = list->items[at];
    size_t const behind = list->count - at - 1;
    memmove(list->items + at, list->items + at + 1, behind * sizeof message);
    list->items[at + behind] = message;
}

void live_messages_clear(struct live_messages *list)
{
    while (list->count > 0)
        live_messages_drop_last(list);
}

void live_messages_free(struct live_messages *list)
{
    live_messages_clear(list);
    free(list->items);
    *list = (struct live_messages){0};
}
