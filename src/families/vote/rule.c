/* Rules for the number of votes: the experiment's file and the coordinator's have the same. */
#include "rule.h"
#include <stdio.h>
#include "tacit/privacy.h"

static uint32_t binomial_votes(const struct vote_threshold *threshold, uint32_t players)
{
    uint32_t const honest = players - threshold->liars;
    uint32_t const needed = tacit_vote_needed(honest, threshold->delta, threshold->eta);
    return needed == 0 ? players + 1 : needed + threshold->liars;
}

static double eta_of_number(const struct vote_threshold *threshold, uint32_t players)
{
    if (threshold->eta > 0 || threshold->votes <= threshold->liars || threshold->votes > players)
        return threshold->eta;
    return tacit_vote_eta(players - threshold->liars, threshold->votes - threshold->liars,
                          threshold->delta);
}

struct tacit_vote_choice vote_rule_settle(const struct vote_threshold *threshold,
                                          uint32_t player_count,
                                          const struct tacit_best_arm_config *subroutine)
{
    uint32_t const liars = threshold->liars;
    TACIT_ASSERT(liars < player_count);
    struct tacit_vote_choice choice = {.eta = threshold->eta};
    switch (threshold->rule) {
    case VOTE_RULE_FLOOR:
        choice.needed = tacit_vote_floor(threshold->delta, threshold->eta) + liars;
        break;
    case VOTE_RULE_COMMITTEE:
        choice.needed = tacit_vote_committee(threshold->delta, threshold->eta) + liars;
        break;
    case VOTE_RULE_BINOMIAL:
        choice.needed = binomial_votes(threshold, player_count);
        break;
    case VOTE_RULE_CHEAPEST:
        choice = tacit_vote_recommend(player_count - liars, threshold->delta, subroutine);
        choice.needed += liars;
        break;
    case VOTE_RULE_NUMBER:
        choice.needed = threshold->votes;
        choice.eta = eta_of_number(threshold, player_count);
        break;
    }
    return choice;
}

bool vote_accuracy_is_refused(double accuracy, double eta, uint32_t arm_count,
                              char text[VOTE_REFUSAL_BYTES])
{
    double const least = eta / arm_count;
    (void)snprintf(text, VOTE_REFUSAL_BYTES,
                   "%g is below eta/K = %.4g, where Theorem 4 (DSER4) says nothing; allowed with "
                   "resets: at least that",
                   accuracy, least);
    return accuracy < least;
}

bool vote_read_rule(struct config_reader *reader, const struct config_node *map, const char *key,
                    enum vote_rule first, struct vote_threshold *threshold)
{
    static const struct config_choice rules[] = {{"floor", VOTE_RULE_FLOOR},
                                                 {"committee", VOTE_RULE_COMMITTEE},
                                                 {"binomial", VOTE_RULE_BINOMIAL},
                                                 {"cheapest", VOTE_RULE_CHEAPEST},
                                                 {NULL, 0}};
    struct config_node const *const votes = config_node_member(map, "votes");
    int rule = (int)first;
    bool const is_number = votes != NULL && votes->kind == CONFIG_SCALAR && votes->text[0] >= '0' &&
                           votes->text[0] <= '9';
    if (is_number)
        config_reader_u32(reader, map, key, false, 1, TACIT_AGENTS_MAX, &threshold->votes);
    else
        config_reader_choice(reader, map, key, false, rules + first, &rule);
    threshold->rule = is_number ? VOTE_RULE_NUMBER : (enum vote_rule)rule;
    return is_number || threshold->rule == VOTE_RULE_CHEAPEST;
}
