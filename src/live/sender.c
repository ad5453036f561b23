/* Token buckets of messages and log lines by name, and counts of what was refused. */
#include "sender.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define US_PER_S UINT64_C(1000000)

/* Takes a token of a bucket that holds `at_once` of them and gets one in each interval: its state
 * is the time at which it is full again. */
static bool spend_token(uint64_t *due_us, uint64_t now_us, uint64_t interval_us, uint64_t at_once)
{
    TACIT_ASSERT(interval_us > 0);
    TACIT_ASSERT(at_once >= 1);
    uint64_t const from_us = *due_us > now_us ? *due_us : now_us;
    if (from_us - now_us > (at_once - 1) * interval_us)
        return false;
    *due_us = from_us + interval_us;
    return true;
}

bool live_sender_admit(struct live_sender *sender, uint64_t now_us)
{
    if (spend_token(&sender->messages_due_us, now_us, US_PER_S / LIVE_SENDER_MESSAGES_A_SECOND,
                    LIVE_SENDER_MESSAGES_AT_ONCE))
        return true;
    sender->dropped_count++;
    return false;
}

bool live_sender_refuse(struct live_sender *sender, uint64_t now_us, bool is_unsigned,
                        const char *why, char line[2 * LIVE_SENDER_WHY_BYTES])
{
    TACIT_ASSERT(why != NULL);
    sender->refused_count++;
    sender->unsigned_count += is_unsigned;
    (void)snprintf(sender->why, sizeof sender->why, "%s", why);
    if (line == NULL ||
        !spend_token(&sender->lines_due_us, now_us, 60 * US_PER_S / LIVE_SENDER_LINES_A_MINUTE,
                     LIVE_SENDER_LINES_AT_ONCE)) {
        sender->silent_count++;
        return false;
    }
    if (sender->silent_count == 0)
        (void)snprintf(line, 2 * LIVE_SENDER_WHY_BYTES, "%s", why);
    else
        (void)snprintf(line, 2 * LIVE_SENDER_WHY_BYTES,
                       "%.200s (and %" PRIu64 " more since the last line)", why,
                       sender->silent_count);
    sender->silent_count = 0;
    return true;
}

bool live_sender_offends(const struct live_sender *sender)
{
    return sender->refused_count > 0 || sender->dropped_count > 0;
}
