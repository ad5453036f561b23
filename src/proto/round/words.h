/* Round: what a message is, in all protocols that have rounds. */
#ifndef TACIT_ROUND_WORDS_H
#define TACIT_ROUND_WORDS_H
#include "tacit/round.h"

enum round_word {
    ROUND_SAYS_HELLO,
    ROUND_SAYS_ORDER,
    ROUND_SAYS_REPORT,
    ROUND_SAYS_COMMIT,
    ROUND_SAYS_GRANT,
    ROUND_SAYS_REFUSAL,
    ROUND_SAYS_NOTHING, /* what is for others */
    ROUND_SAYS_GARBAGE
};

/* Of a message that has such a kind. */
static inline enum round_word round_word(enum tacit_round_kind kind)
{
    _Static_assert((int)ROUND_SAYS_REFUSAL == (int)TACIT_ROUND_REFUSAL, "as kinds are numbered");
    return kind <= TACIT_ROUND_REFUSAL ? (enum round_word)kind : ROUND_SAYS_GARBAGE;
}
#endif
