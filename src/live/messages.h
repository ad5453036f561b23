/* Encoded messages of one step, for those who fill an update: they stay where they are until the
 * next step. */
#ifndef TACIT_LIVE_MESSAGES_H
#define TACIT_LIVE_MESSAGES_H
#include "site.h"

/* All zero is empty. */
struct live_messages {
    struct live_message *items;
    size_t count;
    size_t capacity;
};

/* One more message, with the address, kind and size that are given: the room for its bytes, which
 * the caller fills. NULL: memory; says so in the log, and whoever needs the message says it again
 * later. */
uint8_t *live_messages_add(struct live_messages *list, const struct live_message *message);
/* The message at this place leaves after all others. Requires: there is one. */
void live_messages_put_last(struct live_messages *list, size_t at);
/* Takes the last one back: it could not be encoded. */
void live_messages_drop_last(struct live_messages *list);
/* Forgets all; the memory of the list stays. */
void live_messages_clear(struct live_messages *list);
void live_messages_free(struct live_messages *list);
#endif
