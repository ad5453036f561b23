/* Round: what a message is, in all protocols that have rounds. */
#ifndef TACIT_ROUND_MESSAGE_KIND_H
#define TACIT_ROUND_MESSAGE_KIND_H
#include "tacit/round.h"

enum round_message_kind {
    ROUND_KIND_HELLO,
    ROUND_KIND_ORDER,
    ROUND_KIND_REPORT,
    ROUND_KIND_COMMIT,
    ROUND_KIND_GRANT,
    ROUND_KIND_REFUSAL,
    ROUND_KIND_NONE, /* what is for others */
    ROUND_KIND_UNKNOWN
};

/* Of a message that has such a kind. */
static inline enum round_message_kind round_message_kind(enum tacit_round_kind kind)
{
    _Static_assert((int)ROUND_KIND_REFUSAL == (int)TACIT_ROUND_REFUSAL, "as kinds are numbered");
    return kind <= TACIT_ROUND_REFUSAL ? (enum round_message_kind)kind : ROUND_KIND_UNKNOWN;
}
#endif
