/* What a run promises, in plain words (PRIVACY.md B.1 and B.5). */
#include "tacit/privacy.h"

static void add_promise(const struct tacit_statement *statement, struct tacit_text *text)
{
    tacit_text_add(text, "Each single reward is protected with epsilon = ");
    tacit_text_add_nano(text, statement->epsilon_nano);
    tacit_text_add(text,
                   " (pure, local, replace-one: the value of one reward changes, the schedule "
                   "does not) against everybody who sees the network, the coordinator and all "
                   "other agents together included. ");
    if (statement->epsilon_nano > (uint64_t)TACIT_EPSILON_FORMAL * TACIT_NANO)
        tacit_text_add(text, "An epsilon above 10 is formal only: it hardly limits what can be "
                             "learnt about a reward. ");
}

static void add_paper_letter(const struct tacit_statement *statement, struct tacit_text *text)
{
    if (statement->paper_epsilon_nano == 0)
        return;
    tacit_text_add(text, "The paper's letter eps = ");
    tacit_text_add_nano(text, statement->paper_epsilon_nano);
    tacit_text_add(text,
                   " is not that number: its noise has scale 1/(N eps), so a reward loses N eps "
                   "with N = ");
    tacit_text_add_u64(text, statement->report_count);
    if (statement->report_count < statement->agent_count) {
        tacit_text_add(text, " reporting of ");
        tacit_text_add_u64(text, statement->agent_count);
    }
    tacit_text_add(text, " agents. ");
}

static void add_conditions(const struct tacit_statement *statement, struct tacit_text *text)
{
    if (statement->mode == TACIT_PRIVACY_PAPER)
        tacit_text_add(text, "Paper mode adds floating-point noise, whose low bits can betray a "
                             "reward; it is for simulation only. ");
    else
        tacit_text_add(text, "Rewards are clipped to the public range and added as integers; the "
                             "noise is exact discrete Laplace. ");
}

void tacit_statement_elim(const struct tacit_statement *statement, struct tacit_text *text)
{
    if (!statement->noisy) {
        tacit_text_add(text, "No noise is added: nothing protects the rewards. The sums of the "
                             "rewards of each epoch leave the agents as they are.");
        return;
    }
    if (!statement->clipped && !statement->bounded)
        tacit_text_add(text, "The guarantee does NOT hold for this run: these rewards are not "
                             "bounded, and paper mode does not clip them. For rewards between 0 "
                             "and 1 it would be: ");
    add_promise(statement, text);
    add_paper_letter(statement, text);
    add_conditions(statement, text);
    tacit_text_add(text,
                   "A person who contributes m rewards is protected with m times this epsilon. "
                   "Not protected: whether, when and how often a person came; the number of "
                   "pulls, the arm sets and the time of messages, which are public; the "
                   "averages of a site beyond the noise.");
    tacit_text_add(text, statement->live
                             ? " The noise comes from the entropy of the operating system."
                             : " This was a simulation: its random numbers come from a seed and "
                               "are not private.");
}
