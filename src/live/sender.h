/* What is counted of each name that messages come under: how many were refused, and why, how many
 * it did not sign; and how many messages and log lines it may still cause. Each name has its own
 * token bucket, so that one that floods costs the others nothing. */
#ifndef TACIT_LIVE_SENDER_H
#define TACIT_LIVE_SENDER_H
#include "tacit/base.h"

#define LIVE_SENDER_MESSAGES_A_SECOND 200u /* read, in the long run */
#define LIVE_SENDER_MESSAGES_AT_ONCE 10000u
#define LIVE_SENDER_LINES_A_MINUTE 60u /* in the log, in the long run */
#define LIVE_SENDER_LINES_AT_ONCE 60u
#define LIVE_SENDER_WHY_BYTES 128u

struct live_sender {
    uint64_t refused_count;
    uint64_t unsigned_count;  /* of the refused: under this name, but not signed by it */
    uint64_t dropped_count;   /* unread, when its bucket was empty */
    uint64_t silent_count;    /* refused since the last line in the log */
    uint64_t messages_due_us; /* when the buckets are full again */
    uint64_t lines_due_us;
    char why[LIVE_SENDER_WHY_BYTES]; /* the last refusal */
};

/* Spends one of its messages. False: it has none left; this one is dropped, and counted. */
bool live_sender_admit(struct live_sender *sender, uint64_t now_us);

/* A message was refused. Writes the line for the log, with how many were refused without a line
 * before it; NULL: it is to have none. Ensures: false: no line is to be written now. */
bool live_sender_refuse(struct live_sender *sender, uint64_t now_us, bool is_unsigned,
                        const char *why, char line[2 * LIVE_SENDER_WHY_BYTES]);

/* Was anything refused or dropped? */
bool live_sender_offends(const struct live_sender *sender);
#endif
