/* What a run promises, in plain words (PRIVACY.md B.1 and B.5). */
#include "tacit/privacy.h"

/* Against whom the noise protects: it is added where the rewards are, so against all together. */
static const char *everybody(enum tacit_audience network)
{
    return network == TACIT_AUDIENCE_GRAPH
               ? " against everybody who sees the network, all other agents together included. "
           : network == TACIT_AUDIENCE_ALONE
               ? " against everybody who sees which arms are played, all other agents together "
                 "included. "
               : " against everybody who sees the network, the coordinator and all other agents "
                 "together included. ";
}

static void add_promise(const struct tacit_promise *statement, struct tacit_text *text)
{
    tacit_text_add(text, "Each single reward is protected with epsilon = ");
    tacit_text_add_nano(text, statement->epsilon_nano);
    tacit_text_add(text,
                   " (pure, local, replace-one: the value of one reward changes, the schedule "
                   "does not)");
    tacit_text_add(text, everybody(statement->network));
    if (statement->epsilon_nano > (uint64_t)TACIT_EPSILON_FORMAL * TACIT_NANO)
        tacit_text_add(text, "An epsilon above 10 is formal only: it hardly limits what can be "
                             "learnt about a reward. ");
}

/* Who sees the noised sums of a single agent, and who does not. */
static void add_audience(const struct tacit_promise *statement, struct tacit_text *text)
{
    if (statement->network == TACIT_AUDIENCE_GRAPH)
        tacit_text_add(text,
                       "There is no coordinator: every agent is sent the noised sums of "
                       "every other agent, one by one, and the agents between hand them on. ");
    if (statement->network == TACIT_AUDIENCE_HYBRID)
        tacit_text_add(
            text, "The noised sums of each agent are seen by the agents on its way to the sink "
                  "of its component, and by the sink. The coordinator is sent the total of "
                  "each component only, which for a component of one agent is that agent's. "
                  "The epsilon does not become smaller by that, and does not rest on it. ");
    if (statement->network == TACIT_AUDIENCE_ALONE)
        tacit_text_add(text, "Each agent learns by itself and sends nothing. ");
}

/* PRIVACY.md B.1, trap 3: the paper lets a waiting agent follow its rewards as they are. */
static void add_waiting(const struct tacit_promise *statement, struct tacit_text *text)
{
    if (statement->waits && statement->mode == TACIT_PRIVACY_PAPER)
        tacit_text_add(text, "While it waits, an agent plays the arm that is best by its own "
                             "rewards without noise, as in the paper: this epsilon does not hold "
                             "against those who see which arms are played. ");
}

static void add_paper_letter(const struct tacit_promise *statement, struct tacit_text *text)
{
    if (statement->paper_epsilon_nano == 0 || statement->report_count == 1)
        return; /* for N = 1 it is the same number */
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

static void add_conditions(const struct tacit_promise *statement, struct tacit_text *text)
{
    if (statement->mode == TACIT_PRIVACY_PAPER)
        tacit_text_add(text, "Paper mode adds floating-point noise, whose low bits can betray a "
                             "reward; it is for simulation only. ");
    else
        tacit_text_add(text, "Rewards are clipped to the public range and added as integers; the "
                             "noise is exact discrete Laplace. ");
}

static void add_nakedness(enum tacit_audience network, struct tacit_text *text)
{
    if (network == TACIT_AUDIENCE_ALONE) {
        tacit_text_add(text,
                       "No noise is added. Each agent learns by itself and sends nothing; "
                       "nothing protects its rewards from those who see which arms it plays.");
        return;
    }
    tacit_text_add(text, "No noise is added: nothing protects the rewards. The sums of the rewards "
                         "of each epoch leave the agents as they are.");
    if (network == TACIT_AUDIENCE_GRAPH)
        tacit_text_add(text, " Every agent is sent those of every other agent.");
    if (network == TACIT_AUDIENCE_HYBRID)
        tacit_text_add(text, " The agents on the way to the sink of a component, and the sink, see "
                             "those of single agents; the coordinator is sent the total of each "
                             "component.");
}

/* Live: of states that are not the only one of their site. */
static void add_copies(enum tacit_audience network, struct tacit_text *text)
{
    tacit_text_add(text, " This epsilon holds however a state of the site is copied, restored or "
                         "run twice, as long as ");
    tacit_text_add(text, network == TACIT_AUDIENCE_STAR ? "the coordinator"
                         : network == TACIT_AUDIENCE_GRAPH
                             ? "one of its neighbours"
                             : "the next site on the way to the sink (of a sink: the coordinator)");
    tacit_text_add(text, " neither lies nor forgets; else it is the number of draws times as "
                         "much.");
}

void tacit_promise_state(const struct tacit_promise *statement, struct tacit_text *text)
{
    if (!statement->noisy) {
        add_nakedness(statement->network, text);
        return;
    }
    if (!statement->clipped && !statement->bounded)
        tacit_text_add(text, "The guarantee does NOT hold for this run: these rewards are not "
                             "bounded, and paper mode does not clip them. For rewards between 0 "
                             "and 1 it would be: ");
    add_promise(statement, text);
    add_audience(statement, text);
    add_waiting(statement, text);
    add_paper_letter(statement, text);
    add_conditions(statement, text);
    tacit_text_add(text,
                   "A person who contributes m rewards is protected with m times this epsilon. "
                   "Not protected: whether, when and how often a person came; the number of "
                   "pulls, the arm sets and the time of messages, which are public; the "
                   "averages of a site beyond the noise.");
    if (statement->live)
        add_copies(statement->network, text);
    if (statement->live)
        tacit_text_add(text, statement->settled
                                 ? " Every reward is counted at a fixed time after its decision: "
                                   "when rewards come says nothing."
                                 : " This holds given the times at which rewards come: they say "
                                   "when a round is over.");
    tacit_text_add(text, statement->live
                             ? " The noise comes from the entropy of the operating system."
                             : " This was a simulation: its random numbers come from a seed and "
                               "are not private.");
}
