/* How many votes it takes, and what each player allows itself for it. */
#ifndef TACIT_FAMILIES_VOTE_RULE_H
#define TACIT_FAMILIES_VOTE_RULE_H
#include "../../config/reader.h"
#include "tacit/vote.h"

/* Of a chance: 1 is certain. */
#define VOTE_CHANCE_RANGE                                                                          \
    {                                                                                              \
        0, 1, .min_is_open = true, .max_is_open = true                                             \
    }

/* How the number of votes is found. */
enum vote_rule {
    VOTE_RULE_FLOOR,     /* the paper's */
    VOTE_RULE_COMMITTEE, /* ceil, of players fixed in advance */
    VOTE_RULE_BINOMIAL,  /* any m of N */
    VOTE_RULE_CHEAPEST,  /* m and eta by tacit_vote_recommend */
    VOTE_RULE_NUMBER     /* as the file says */
};

struct vote_threshold {
    enum vote_rule rule;
    double delta;
    double eta;     /* 0: not given */
    uint32_t votes; /* NUMBER */
    uint32_t liars; /* b: so many players may say what they like; as many votes more */
};

/* The rule by its name, or a number of votes; absent: the first that is allowed. Rules before the
 * first are none here. Result: does eta follow from it? */
bool vote_read_rule(struct config_reader *reader, const struct config_node *map, const char *key,
                    enum vote_rule first, struct vote_threshold *threshold);

/* m and eta of the rule; m > N: votes never suffice. eta 0: there is none (NUMBER without eta, and
 * votes that are not more than the liars or more than the players). samples is not filled.
 * Requires: fewer liars than players. */
struct tacit_vote_choice vote_rule_settle(const struct vote_threshold *threshold,
                                          uint32_t player_count,
                                          const struct tacit_best_arm_config *subroutine);

/* Theorem 4 (DSER4) asks for an accuracy of eta/K where there are resets. False: it is that large;
 * else why it is not allowed. */
#define VOTE_REFUSAL_BYTES 160u
bool vote_accuracy_is_refused(double accuracy, double eta, uint32_t arm_count,
                              char text[VOTE_REFUSAL_BYTES]);
#endif
