/* What is kept of each name that words come under: how many were refused, and why, how many it did
 * not sign; and how many words and log lines it may still cause. Each name has its own allowance,
 * so that one that floods costs the others nothing. */
#ifndef TACIT_LIVE_SENDER_H
#define TACIT_LIVE_SENDER_H
#include "tacit/base.h"

#define LIVE_SENDER_WORDS_A_SECOND 200u /* looked at, in the long run */
#define LIVE_SENDER_WORDS_AT_ONCE 10000u
#define LIVE_SENDER_LINES_A_MINUTE 60u /* in the log, in the long run */
#define LIVE_SENDER_LINES_AT_ONCE 60u
#define LIVE_SENDER_WHY_BYTES 128u

struct live_sender {
    uint64_t refused_count;
    uint64_t unsigned_count; /* of the refused: under this name, but not signed by it */
    uint64_t dropped_count;  /* unread, beyond the allowance */
    uint64_t silent_count;   /* refused since the last line in the log */
    uint64_t words_due_us;   /* when the allowances are whole again */
    uint64_t lines_due_us;
    char why[LIVE_SENDER_WHY_BYTES]; /* the last refusal */
};

/* May another word of it be looked at now? Else it is dropped, and counted. */
bool live_sender_may_speak(struct live_sender *sender, uint64_t now_us);

/* A word was refused. Writes the line for the log, with how many were refused without a line before
 * it. Ensures: false: no line is to be written now. */
bool live_sender_refuse(struct live_sender *sender, uint64_t now_us, bool is_unsigned,
                        const char *why, char line[2 * LIVE_SENDER_WHY_BYTES]);

/* Is there anything to tell of it? */
bool live_sender_offends(const struct live_sender *sender);
#endif
