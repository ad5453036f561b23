/* Callers, in a table that cannot grow: no flood of names costs memory. */
#include "callers.h"
#include <inttypes.h>
#include <stdio.h>

#define US_PER_S UINT64_C(1000000)

/* Whom nothing hangs on any more can be forgotten. */
static bool is_idle(const struct live_caller *caller)
{
    return caller->connections == 0 && caller->open == 0 && !live_caller_offends(caller);
}

struct live_caller *live_callers_find(struct live_callers *callers, uint32_t user)
{
    struct live_caller *place = NULL;
    for (size_t i = 0; i + 1 < LIVE_CALLERS_MAX; i++) {
        struct live_caller *const caller = &callers->list[i];
        if (caller->is_known && caller->user == user)
            return caller;
        if (place == NULL && (!caller->is_known || is_idle(caller)))
            place = caller;
    }
    if (place != NULL) {
        *place = (struct live_caller){.is_known = true, .user = user};
        return place;
    }
    place = &callers->list[LIVE_CALLERS_MAX - 1];
    place->is_known = true;
    place->user = LIVE_CALLER_OTHERS;
    return place;
}

unsigned live_caller_wait_s(const struct live_caller *caller, uint64_t rate, uint64_t now_us)
{
    if (rate == 0 || caller->due_us <= now_us + US_PER_S)
        return 0;
    uint64_t const wait_us = caller->due_us - now_us - US_PER_S;
    return 1 + (unsigned)(wait_us / US_PER_S);
}

void live_caller_charge(struct live_caller *caller, uint64_t rate, uint64_t cost, uint64_t now_us)
{
    if (rate == 0)
        return;
    TACIT_ASSERT(rate <= US_PER_S);
    TACIT_ASSERT(cost < UINT32_MAX);
    uint64_t const from_us = caller->due_us > now_us ? caller->due_us : now_us;
    caller->due_us = from_us + cost * US_PER_S / rate;
}

bool live_caller_offends(const struct live_caller *caller)
{
    return caller->refused_rate + caller->refused_open + caller->shed + caller->late +
               caller->malformed >
           0;
}

void live_caller_name(const struct live_caller *caller, char name[32])
{
    if (caller->user == LIVE_CALLER_LOOPBACK)
        (void)snprintf(name, 32, "loopback");
    else if (caller->user == LIVE_CALLER_OTHERS)
        (void)snprintf(name, 32, "others");
    else
        (void)snprintf(name, 32, "user %" PRIu32, caller->user);
}
