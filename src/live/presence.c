#include "presence.h"
#include <string.h>

static void put_word(uint8_t *bytes, uint64_t word)
{
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> (8 * i));
}

static uint64_t get_word(const uint8_t *bytes)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

void live_presence_encode(struct live_presence_word word, uint8_t bytes[LIVE_PRESENCE_BYTES])
{
    TACIT_ASSERT(word.instance != 0 && word.counter != 0);
    put_word(bytes, word.instance);
    put_word(bytes + 8, word.counter);
}

bool live_presence_decode(const uint8_t *bytes, size_t size, struct live_presence_word *word)
{
    if (size != LIVE_PRESENCE_BYTES)
        return false;
    *word = (struct live_presence_word){get_word(bytes), get_word(bytes + 8)};
    return word->instance != 0 && word->counter != 0;
}

static void put_first(struct live_presence *presence, size_t from, struct live_presence_word word)
{
    TACIT_ASSERT(from < LIVE_PRESENCE_KEPT);
    memmove(presence->heard + 1, presence->heard, from * sizeof presence->heard[0]);
    presence->heard[0] = word;
}

bool live_presence_hear(struct live_presence *presence, struct live_presence_word word,
                        uint64_t now_us)
{
    TACIT_ASSERT(word.instance != 0 && word.counter != 0);
    size_t place = 0;
    while (place < LIVE_PRESENCE_KEPT && presence->heard[place].instance != word.instance)
        place++;
    if (place == LIVE_PRESENCE_KEPT) {
        put_first(presence, LIVE_PRESENCE_KEPT - 1, word);
        return false;
    }
    if (word.counter <= presence->heard[place].counter)
        return false;
    put_first(presence, place, word);
    if (place > 0)
        presence->alarm_us = now_us;
    return place > 0;
}

bool live_presence_is_double(const struct live_presence *presence, uint64_t now_us)
{
    return presence->alarm_us != 0 && now_us - presence->alarm_us < LIVE_PRESENCE_ALARM_US;
}
