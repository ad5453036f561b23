/* Arithmetic of ticks. */
#include "tick.h"

#define NUMBERS_A_TICK 2000u /* 50 us a number; drawing one takes a few */

uint64_t live_tick_length_us(uint64_t numbers)
{
    TACIT_ASSERT(numbers <= TACIT_NEVER / LIVE_TICK_US);
    uint64_t const ticks = (numbers + NUMBERS_A_TICK - 1) / NUMBERS_A_TICK;
    return LIVE_TICK_US * (ticks > 0 ? ticks : 1);
}

uint64_t live_tick_after_us(uint64_t event_us, uint64_t length_us)
{
    TACIT_ASSERT(length_us >= LIVE_TICK_US);
    TACIT_ASSERT(event_us <= TACIT_NEVER - 2 * length_us);
    return (event_us + 2 * length_us - 1) / length_us * length_us;
}

void live_hold_draw(struct live_hold *hold, uint64_t event_us, uint64_t numbers)
{
    uint64_t const length_us = live_tick_length_us(numbers);
    uint64_t const until_us = live_tick_after_us(event_us, length_us);
    if (until_us > hold->until_us)
        hold->until_us = until_us;
    hold->length_us = length_us;
    hold->has_drawn = true;
    hold->tick_has_come = false;
}

void live_hold_stream(struct live_hold *hold, uint64_t event_us, uint64_t numbers)
{
    if (hold->until_us > 0)
        return;
    hold->length_us = live_tick_length_us(numbers);
    hold->until_us = live_tick_after_us(event_us, hold->length_us);
    hold->tick_has_come = false;
}

void live_hold_tick(struct live_hold *hold)
{
    hold->tick_has_come = true;
}

bool live_hold_end_round(struct live_hold *hold, uint64_t now_us)
{
    if (hold->until_us == 0)
        return true;
    if (hold->has_drawn && now_us >= hold->until_us)
        hold->until_us = live_tick_after_us(now_us, hold->length_us);
    hold->has_drawn = false;
    if (hold->tick_has_come)
        hold->until_us = 0;
    hold->tick_has_come = false;
    return hold->until_us == 0;
}
