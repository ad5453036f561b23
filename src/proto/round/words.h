/* Round: what a message is, in all protocols that have rounds. */
#ifndef TACIT_ROUND_WORDS_H
#define TACIT_ROUND_WORDS_H

enum round_word {
    ROUND_SAYS_NOTHING, /* what is for others */
    ROUND_SAYS_HELLO,
    ROUND_SAYS_COMMIT,
    ROUND_SAYS_REPORT,
    ROUND_SAYS_ORDER,
    ROUND_SAYS_GRANT,
    ROUND_SAYS_REFUSAL,
    ROUND_SAYS_GARBAGE
};
#endif
