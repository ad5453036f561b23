/* Encoded messages of one step, for those who fill an update: they stay where they are until the
 * next step. */
#ifndef TACIT_LIVE_LETTERS_H
#define TACIT_LIVE_LETTERS_H
#include "site.h"

/* All zero is empty. */
struct live_letters {
    struct live_message *items;
    size_t count;
    size_t capacity;
};

/* One more message: the room for its bytes, which the caller fills. NULL: memory; says so in the
 * log, and whoever needs the message says it again later. */
uint8_t *live_letters_add(struct live_letters *letters, uint32_t to, bool is_retained, size_t size);
/* Takes the last one back: it could not be encoded. */
void live_letters_drop_last(struct live_letters *letters);
/* Forgets all; the memory of the list stays. */
void live_letters_clear(struct live_letters *letters);
void live_letters_free(struct live_letters *letters);
#endif
