/* Names to numbers, in the order in which they are first said: an open-addressed table. */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64u
#define NOBODY UINT32_MAX

/* FNV-1a (Fowler, Noll, Vo): a table needs spread, not strength. */
static uint64_t hash(const char *name, size_t size)
{
    uint64_t value = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++)
        value = (value ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
    return value;
}

/* Where the name stands, or the free slot that it would get. */
static size_t slot_of(const struct data_names *names, const char *name, size_t size)
{
    TACIT_ASSERT(names->count < names->slot_count);
    TACIT_ASSERT((names->slot_count & (names->slot_count - 1)) == 0);
    size_t slot = hash(name, size) & (names->slot_count - 1);
    while (names->slots[slot] != NOBODY) {
        char const *const other = names->items[names->slots[slot]];
        if (strncmp(other, name, size) == 0 && other[size] == '\0')
            break;
        slot = (slot + 1) & (names->slot_count - 1);
    }
    return slot;
}

uint32_t data_names_find(const struct data_names *names, const char *name)
{
    return names->slot_count == 0 ? NOBODY : names->slots[slot_of(names, name, strlen(name))];
}

/* Twice the slots; a table is at most half full. False: out of memory, and the names are as before.
 */
static bool grow(struct data_names *names)
{
    size_t const count = names->slot_count == 0 ? SLOTS_MIN : 2 * names->slot_count;
    uint32_t *const slots = malloc(count * sizeof *slots);
    char **const items = realloc(names->items, count / 2 * sizeof *items);
    if (items != NULL)
        names->items = items;
    if (slots == NULL || items == NULL) {
        free(slots);
        return false;
    }
    memset(slots, 0xff, count * sizeof *slots);
    free(names->slots);
    names->slots = slots;
    names->slot_count = count;
    for (uint32_t i = 0; i < names->count; i++)
        slots[slot_of(names, names->items[i], strlen(names->items[i]))] = i;
    return true;
}

uint32_t data_names_add(struct data_names *names, const char *name, size_t size)
{
    if (names->count >= names->slot_count / 2 && !grow(names))
        return NOBODY;
    size_t const slot = slot_of(names, name, size);
    if (names->slots[slot] != NOBODY)
        return names->slots[slot];
    char *const copy = malloc(size + 1);
    if (copy == NULL)
        return NOBODY;
    memcpy(copy, name, size);
    copy[size] = '\0';
    names->items[names->count] = copy;
    names->slots[slot] = names->count;
    return names->count++;
}

void data_names_free(struct data_names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    free(names->slots);
    *names = (struct data_names){0};
}
