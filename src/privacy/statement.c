/* What a run promises, in plain words (PRIVACY.md B.1 and B.5): one writer for all families, from a
 * mechanism and a trust model. */
#include "tacit/privacy.h"

/* ---- What holds ---- */

bool tacit_promise_holds(const struct tacit_promise *promise)
{
    return promise->mechanism.noise != TACIT_NOISE_NONE && promise->mechanism.gaps == 0;
}

const char *tacit_promise_lack(const struct tacit_promise *promise)
{
    return promise->mechanism.noise == TACIT_NOISE_NONE ? "no noise"
           : promise->mechanism.gaps != 0               ? "no guarantee"
                                                        : NULL;
}

const char *tacit_promise_name(const struct tacit_promise *promise)
{
    bool const is_counted = promise->mechanism.is_counted;
    switch (promise->mechanism.noise) {
    case TACIT_NOISE_NONE:
        break;
    case TACIT_NOISE_DOUBLE:
        return is_counted ? "paper: budgets only" : "paper: double Laplace";
    case TACIT_NOISE_LAPLACE:
        return is_counted ? "sound: budgets only" : "sound: exact discrete Laplace";
    case TACIT_NOISE_GAUSSIAN:
        return "sound: exact discrete Gaussian";
    case TACIT_NOISE_RESPONSE:
        return "sound: randomised response";
    }
    return "none";
}

const char *tacit_promise_of(const struct tacit_promise *promise)
{
    return promise->mechanism.of == TACIT_PROTECTED_REWARD        ? "reward"
           : promise->mechanism.of == TACIT_PROTECTED_INTERACTION ? "interaction"
                                                                  : "user";
}

struct tacit_promise_mechanism tacit_promise_mechanism_of(const struct tacit_mechanism *mechanism,
                                                          enum tacit_leaving leaving)
{
    bool const is_noisy = mechanism->noisy;
    bool const is_sound = mechanism->mode == TACIT_PRIVACY_SOUND;
    return (struct tacit_promise_mechanism){.noise = !is_noisy  ? TACIT_NOISE_NONE
                                                     : is_sound ? TACIT_NOISE_LAPLACE
                                                                : TACIT_NOISE_DOUBLE,
                                            .leaving = leaving,
                                            .epsilon_nano = tacit_mechanism_cost_nano(mechanism),
                                            .releases = is_noisy && is_sound ? 1 : 0};
}

/* ---- Trust ---- */

/* What differs from audience to audience. More aggregators are further rows. */
struct audience {
    const char *against; /* the noise is added where the rewards are, so against all together */
    const char *bare;    /* who sees sums without noise; "": nothing to add */
    const char *noised;  /* who sees noised sums of a single agent; "": nothing to add */
    const char *holder;  /* who grants, and remembers, what a live site draws */
};

/* A table of addresses is written to by the linker, and so has no place in a pure room. */
static struct audience audience_of(const struct tacit_promise *promise)
{
    switch (promise->trust.audience) {
    case TACIT_AUDIENCE_STAR:
        return (struct audience){"the network, the coordinator and", "", "", "the coordinator"};
    case TACIT_AUDIENCE_GRAPH:
        return (struct audience){"the network,", " Every agent is sent those of every other agent.",
                                 "There is no coordinator: every agent is sent the noised sums of "
                                 "every other agent, one by "
                                 "one, and the agents between hand them on. ",
                                 "one of its neighbours"};
    case TACIT_AUDIENCE_HYBRID:
        return (struct audience){
            "the network, the coordinator and",
            " The agents on the way to the sink of a component, and the sink, see those of single "
            "agents; the coordinator is sent the total of each component.",
            "The noised sums of each agent are seen by the agents on its way to the sink of its "
            "component, and by the sink. The coordinator is sent the total of each component only, "
            "which for a component of one agent is that agent's. The epsilon does not become "
            "smaller "
            "by that, and does not rest on it. ",
            "the next site on the way to the sink (of a sink: the coordinator)"};
    case TACIT_AUDIENCE_ALONE:
        return (struct audience){"which arms are played,", "",
                                 "Each agent learns by itself and sends nothing. ",
                                 "the coordinator"};
    case TACIT_AUDIENCE_VOTES:
        return (struct audience){"all votes and all that is played, the coordinator and", "", "",
                                 "the coordinator"};
    }
    TACIT_ASSERT(false);
    return (struct audience){"", "", "", ""};
}

/* The fellows of the one that is protected, who may be together against it. */
static const char *others_of(const struct tacit_promise *promise)
{
    return promise->mechanism.of == TACIT_PROTECTED_DATA_SET      ? " all other users"
           : promise->mechanism.of == TACIT_PROTECTED_INTERACTION ? " all other clients"
           : promise->trust.audience == TACIT_AUDIENCE_VOTES      ? " all other players"
                                                                  : " all other agents";
}

/* ---- Without noise ---- */

static const char confidence_parameter[] =
    "The parameter eta is how much failure a player allows itself, a confidence parameter of the "
    "vote, not a privacy level. ";
static const char selection[] =
    "Selection uses the latencies that the server measures, the sizes of the data sets and what "
    "each user has spent; it sees no data. ";
static const char counts_are_open[] = "How often each arm was pulled is told openly. ";

static const char *bare_of(enum tacit_leaving leaving)
{
    switch (leaving) {
    case TACIT_LEAVING_SUMS:
        return "nothing protects the rewards. The sums of the rewards of each round leave the "
               "agents as they are.";
    case TACIT_LEAVING_MEANS:
        return "nothing protects the rewards. Neighbours see means of raw rewards; that they are "
               "averaged with unknown weights hides nothing from the first neighbour.";
    case TACIT_LEAVING_VOTES:
        return "nothing protects the rewards. Only votes (which arm a player has eliminated, and "
               "when) leave a player, and a vote is a function of its raw rewards.";
    case TACIT_LEAVING_REWARDS:
        return "nothing protects the rewards. Every reward leaves its agent as it is.";
    case TACIT_LEAVING_GRADIENTS:
        return "nothing protects a context or a reward. Clients send gradients, and a gradient of "
               "one sample reveals it; the matrices of their contexts are sent too.";
    case TACIT_LEAVING_MOMENTS:
        return "nothing protects a context or a reward. Their sums leave the clients as they are.";
    case TACIT_LEAVING_UPDATES:
        break;
    }
    return "nothing protects the data of a user. Updates leave the users as they are.";
}

static void state_bare(const struct tacit_promise *promise, struct tacit_text *text)
{
    if (promise->trust.audience == TACIT_AUDIENCE_ALONE) {
        tacit_text_add(text,
                       "No noise is added. Each agent learns by itself and sends nothing; "
                       "nothing protects its rewards from those who see which arms it plays. ");
        return;
    }
    enum tacit_leaving const leaving = promise->mechanism.leaving;
    tacit_text_add(text, "No noise is added: ");
    tacit_text_add(text, bare_of(leaving));
    if (leaving == TACIT_LEAVING_SUMS)
        tacit_text_add(text, audience_of(promise).bare);
    tacit_text_add(text, " ");
    if (leaving == TACIT_LEAVING_MEANS)
        tacit_text_add(text, counts_are_open);
    if (leaving == TACIT_LEAVING_VOTES)
        tacit_text_add(text, confidence_parameter);
    if (leaving == TACIT_LEAVING_UPDATES)
        tacit_text_add(text, selection);
    if (leaving == TACIT_LEAVING_GRADIENTS && promise->trust.is_live)
        tacit_text_add(text, "Contexts that were not chosen, and keys of decisions, never leave "
                             "this site. ");
}

/* ---- The number, or why there is none ---- */

static const char *gap_text(enum tacit_gap gap)
{
    switch (gap) {
    case TACIT_GAP_UNBOUNDED:
        return "these rewards are not bounded, and paper mode does not clip them";
    case TACIT_GAP_FIRST_RAW:
        return "the first reward of every arm at every agent is sent as it is";
    case TACIT_GAP_WAITING:
        return "while it waits, an agent plays the arm that is best by its own rewards without "
               "noise, as in the paper, and who sees which arms are played sees that";
    case TACIT_GAP_COORDINATES:
        return "each coordinate of an update is noised as if it were the only one, and batch-norm "
               "statistics go as they are";
    }
    TACIT_ASSERT(false);
    return "";
}

static void add_gaps(unsigned bits, struct tacit_text *text)
{
    bool is_first = true;
    tacit_text_add(text, "No epsilon is guaranteed for this run: ");
    for (unsigned gap = TACIT_GAP_UNBOUNDED; gap <= TACIT_GAP_COORDINATES; gap *= 2) {
        if ((bits & gap) == 0)
            continue;
        tacit_text_add(text, is_first ? "" : "; ");
        tacit_text_add(text, gap_text((enum tacit_gap)gap));
        is_first = false;
    }
    tacit_text_add(text, ". ");
}

static const char *protected_text(enum tacit_protected of)
{
    return of == TACIT_PROTECTED_REWARD        ? "Each single reward"
           : of == TACIT_PROTECTED_INTERACTION ? "Each single interaction"
                                               : "The whole data set of each user";
}

/* Between which neighbouring data the loss is. Two aggregators noise a sum, not what leaves a
 * site. */
static void add_neighbours(const struct tacit_promise *promise, struct tacit_text *text)
{
    enum tacit_protected const of = promise->mechanism.of;
    const char *const local = promise->trust.has_helper ? "" : "local, ";
    if (of == TACIT_PROTECTED_DATA_SET) {
        tacit_text_add(text, " in all, over any number of rounds (pure");
        tacit_text_add(text, promise->trust.has_helper ? "" : ", local");
        tacit_text_add(text, ": whatever it is replaced by)");
        return;
    }
    tacit_text_add(text, of == TACIT_PROTECTED_REWARD ? " (pure, " : " (");
    tacit_text_add(text, local);
    tacit_text_add(text,
                   of == TACIT_PROTECTED_REWARD
                       ? "replace-one: the value of one reward changes, the schedule does "
                         "not)"
                       : "replace-one: the chosen context and its reward, replaced together)");
}

/* What two aggregators together see. The first sentence: nothing else holds if they collude. */
static void add_collusion(const struct tacit_promise *promise, struct tacit_text *text)
{
    TACIT_ASSERT(promise->trust.has_helper);
    tacit_text_add(text, "There are two aggregators, the coordinator and a helper: if they, or who "
                         "has the state of both, put together what they hold, ");
    if (promise->trust.floor_nano > 0) {
        tacit_text_add(text, "epsilon is ");
        tacit_text_add_nano(text, promise->trust.floor_nano);
        tacit_text_add(text, promise->mechanism.delta_nano > 0 ? " at the same delta" : "");
        tacit_text_add(text, promise->mechanism.leaving == TACIT_LEAVING_UPDATES
                                 ? ", by the noise of the users themselves. "
                                 : ", by the noise of the sites themselves. ");
    } else {
        tacit_text_add(text, "nothing is protected: they have the exact ");
        tacit_text_add(text, promise->mechanism.leaving == TACIT_LEAVING_UPDATES
                                 ? "update of each user. "
                                 : "sums of each site. ");
    }
    tacit_text_add(text, "The same is so if one of the two draws no noise, unseen, or forgets that "
                         "it has answered. Otherwise: ");
}

/* Whom the noise protects against. */
static void add_against(const struct tacit_promise *promise, struct tacit_text *text)
{
    TACIT_IMPLIES(promise->trust.has_helper, promise->trust.audience == TACIT_AUDIENCE_STAR);
    if (!promise->trust.has_helper) {
        tacit_text_add(text, " against everybody who sees ");
        tacit_text_add(text, audience_of(promise).against);
        tacit_text_add(text, others_of(promise));
        tacit_text_add(text, " together included. ");
        return;
    }
    tacit_text_add(text, " against the coordinator, and against the helper, each with everybody "
                         "who sees the network and");
    tacit_text_add(text, others_of(promise));
    tacit_text_add(text, ", by the noise of the other one; against the coordinator as long as "
                         "X25519 and SHA-256 hold. ");
}

static void add_number(const struct tacit_promise *promise, struct tacit_text *text)
{
    struct tacit_promise_mechanism const *const mechanism = &promise->mechanism;
    if (promise->trust.has_helper)
        add_collusion(promise, text);
    tacit_text_add(text, protected_text(mechanism->of));
    tacit_text_add(text, " is protected with epsilon = ");
    tacit_text_add_nano(text, mechanism->epsilon_nano);
    if (mechanism->delta_nano > 0) {
        tacit_text_add(text, " and delta = ");
        tacit_text_add_nano(text, mechanism->delta_nano);
    }
    add_neighbours(promise, text);
    add_against(promise, text);
    if (mechanism->epsilon_nano <= (uint64_t)TACIT_EPSILON_FORMAL * TACIT_NANO)
        return;
    tacit_text_add(text, "An epsilon above 10 is formal only: it hardly limits what can be learnt "
                         "about ");
    tacit_text_add(text, mechanism->of == TACIT_PROTECTED_REWARD        ? "a reward. "
                         : mechanism->of == TACIT_PROTECTED_INTERACTION ? "an interaction. "
                                                                        : "a data set. ");
}

/* ---- What leaves ---- */

static void add_leaving(const struct tacit_promise *promise, struct tacit_text *text)
{
    switch (promise->mechanism.leaving) {
    case TACIT_LEAVING_SUMS:
        tacit_text_add(text, audience_of(promise).noised);
        return;
    case TACIT_LEAVING_MEANS:
        tacit_text_add(text, promise->trust.is_live ? "Neighbours and the coordinator hear the "
                                                      "estimates of all arms, which are averages "
                                                      "of noised sums. "
                                                    : "Neighbours hear averages of noised sums. ");
        tacit_text_add(text, counts_are_open);
        tacit_text_add(text, "After the last slot nothing more is drawn. ");
        return;
    case TACIT_LEAVING_VOTES:
        tacit_text_add(text, "Only votes leave a player, at public ticks: they, and what is "
                             "played, are functions of its noised sums, which stay with it and are "
                             "used only after the coordinator has granted their draw. ");
        tacit_text_add(text, confidence_parameter);
        return;
    case TACIT_LEAVING_REWARDS:
        if (promise->mechanism.noise == TACIT_NOISE_RESPONSE)
            tacit_text_add(text, "Every reward is sent to all others by randomised response. ");
        return;
    case TACIT_LEAVING_GRADIENTS:
        return;
    case TACIT_LEAVING_MOMENTS:
        tacit_text_add(text, promise->trust.has_helper ? "Masked" : "Noised");
        tacit_text_add(text, " sums of contexts and rewards leave a client once a batch. ");
        return;
    case TACIT_LEAVING_UPDATES:
        break;
    }
    if (!promise->trust.is_live)
        tacit_text_add(text, selection);
}

/* ---- The paper's letter ---- */

/* How the paper's eps relates to the number; it says no number for the loss where there is none. */
static void add_letter(const struct tacit_promise *promise, struct tacit_text *text)
{
    struct tacit_promise_mechanism const *const mechanism = &promise->mechanism;
    if (mechanism->letter_nano == 0)
        return;
    tacit_text_add(text, "The paper's letter eps = ");
    tacit_text_add_nano(text, mechanism->letter_nano);
    if (mechanism->share_count > 0) {
        tacit_text_add(text, " is for the whole run: each of up to ");
        tacit_text_add_u64(text, mechanism->releases);
        tacit_text_add(text, " noised sums that a reward lies in has eps/");
        tacit_text_add_u64(text, mechanism->share_count);
        tacit_text_add(text, ". ");
        return;
    }
    if (mechanism->slot_count > 0) {
        tacit_text_add(text, " is not that number: each reward is noised once, when it comes, with "
                             "scale T/eps (the paper's naive extension, Sec. 4.1), T = ");
        tacit_text_add_u64(text, mechanism->slot_count);
        tacit_text_add(text, ". ");
        return;
    }
    tacit_text_add(text, mechanism->gaps == 0
                             ? " is not that number: its noise has scale 1/(N eps), so a reward "
                               "loses N eps with N = "
                             : " is for noise of scale 1/(N eps), N = ");
    tacit_text_add_u64(text, mechanism->report_count);
    if (mechanism->report_count < mechanism->agent_count) {
        tacit_text_add(text, " reporting of ");
        tacit_text_add_u64(text, mechanism->agent_count);
    }
    tacit_text_add(text, " agents. ");
}

/* ---- The noise ---- */

/* How many noised sums a reward is in; 0: that is not said. */
static void add_releases(uint32_t count, struct tacit_text *text)
{
    if (count == 0)
        return;
    tacit_text_add(text, "each is in at most ");
    if (count > 1)
        tacit_text_add_u64(text, count);
    tacit_text_add(text, count > 1 ? " noised sums; " : "one noised sum; ");
}

static const char on_total[] =
    "a site masks its sums before they leave it, and each aggregator adds noise to the total, ";
static const char liars[] = "A site that lies can add any number to a total. ";

static void add_noise(const struct tacit_promise *promise, struct tacit_text *text)
{
    struct tacit_promise_mechanism const *const mechanism = &promise->mechanism;
    bool const is_vector = mechanism->leaving == TACIT_LEAVING_UPDATES;
    switch (mechanism->noise) {
    case TACIT_NOISE_NONE:
    case TACIT_NOISE_RESPONSE:
        return;
    case TACIT_NOISE_DOUBLE:
        tacit_text_add(text, mechanism->is_counted
                                 ? "Budgets are the paper's real-valued series. "
                                 : "Paper mode adds floating-point noise, whose low bits can "
                                   "betray a reward; it is for simulation only. ");
        return;
    case TACIT_NOISE_GAUSSIAN:
        tacit_text_add(text, "Contexts are clipped to length 1, rewards to their range; ");
        tacit_text_add(text, promise->trust.has_helper ? on_total : "the noise is ");
        tacit_text_add(text, "exact discrete Gaussian on integers: ");
        tacit_text_add_nano(text, mechanism->rho_nano);
        tacit_text_add(text, " of zero-concentrated privacy. ");
        tacit_text_add(text, promise->trust.has_helper ? liars : "");
        return;
    case TACIT_NOISE_LAPLACE:
        break;
    }
    if (is_vector)
        tacit_text_add(text, "Budgets are integer billionths, which add up to no more than that; "
                             "who has used up its own is not asked for more. ");
    if (is_vector && promise->trust.has_helper)
        tacit_text_add(text, "A round has one epsilon, the least that its users have for it. An "
                             "update is clipped as a whole by its user, counted in integers and "
                             "masked before it leaves; each aggregator adds noise to the sum, "
                             "exact discrete Laplace. A user that lies can add any number to a "
                             "sum. ");
    else if (is_vector && !mechanism->is_counted)
        tacit_text_add(text, "An update is clipped as a whole and counted in integers; its noise "
                             "is exact discrete Laplace. ");
    if (is_vector)
        return;
    tacit_text_add(text, "Rewards are clipped to the public range and added as integers; ");
    add_releases(mechanism->releases, text);
    tacit_text_add(text, promise->trust.has_helper ? on_total : "the noise is ");
    tacit_text_add(text, "exact discrete Laplace. ");
    tacit_text_add(text, promise->trust.has_helper ? liars : "");
}

/* ---- Units ---- */

/* Rewards of one unit, times what one of them lost at most: also those of earlier runs, when the
 * file said more. */
static void add_unit_loss(const struct tacit_promise *promise, uint64_t count,
                          struct tacit_text *text)
{
    uint64_t const loss = tacit_larger(promise->mechanism.epsilon_nano, promise->trust.spent_nano);
    if (!tacit_promise_holds(promise)) {
        tacit_text_add(text, "; nothing protects the values of them. ");
        return;
    }
    tacit_text_add(text, ": the values of them together lose at most ");
    tacit_text_add_u64(text, count);
    tacit_text_add(text, " times epsilon = ");
    tacit_text_add_nano(text, loss);
    if (loss <= UINT64_MAX / count) {
        tacit_text_add(text, ", which is ");
        tacit_text_add_nano(text, loss * count);
    }
    tacit_text_add(text, ". ");
}

static void add_simulated_units(const struct tacit_promise *promise, struct tacit_text *text)
{
    TACIT_ASSERT(promise->trust.unit_rewards_max > 0);
    tacit_text_add(text, "Of one person at most ");
    tacit_text_add_u64(text, promise->trust.unit_rewards_max);
    tacit_text_add(text,
                   " rewards enter an agent's part of the run, whatever releases they are in");
    add_unit_loss(promise, promise->trust.unit_rewards_max, text);
    tacit_text_add(text, "Further ones are passed over, so the estimates are of first visits; a "
                         "person who comes to several agents loses this at each. ");
}

/* ---- What is not protected ---- */

static void add_unprotected(const struct tacit_promise *promise, struct tacit_text *text)
{
    if (promise->mechanism.of == TACIT_PROTECTED_DATA_SET) {
        tacit_text_add(text, "Not protected: who takes part and when, the size of a data set, and "
                             "how long training took");
        tacit_text_add(text, promise->trust.is_live ? "; what the command itself sends elsewhere. "
                                                    : ". ");
        return;
    }
    if (promise->mechanism.of == TACIT_PROTECTED_INTERACTION) {
        tacit_text_add(text, "Not protected: how many interactions there are and when, and what "
                             "several interactions of one person say together. ");
        return;
    }
    bool const is_promised = !promise->trust.is_live && tacit_promise_holds(promise);
    if (is_promised && promise->trust.unit_rewards_max > 0)
        add_simulated_units(promise, text);
    else if (is_promised)
        tacit_text_add(text, "A person who contributes m rewards is protected with m times this "
                             "epsilon. ");
    tacit_text_add(text, "Not protected: whether, when and how often a person came; the number of "
                         "pulls, the arm sets and the time of messages, which are public; the "
                         "averages of a site beyond the noise. ");
}

/* ---- Live ---- */

/* What copies of a site's state cost. */
static void add_copies(const struct tacit_promise *promise, struct tacit_text *text)
{
    if (promise->trust.is_in_memory) {
        tacit_text_add(text,
                       "Exact sums are in the memory of the process and nowhere else: each start "
                       "begins new noised sums over new rewards, and the reward of a decision from "
                       "before it is late and enters none, so restarts and copies of the disk "
                       "cost no epsilon, and neighbours hear one life of a site at a time. A "
                       "copy of the running memory (a cloned virtual machine) would draw again, "
                       "and each one costs epsilon once more. ");
        return;
    }
    tacit_text_add(text, "This epsilon holds however a state of the site is copied, restored or "
                         "run twice, as long as ");
    tacit_text_add(text, audience_of(promise).holder);
    tacit_text_add(text, " neither lies nor forgets; else it is the number of draws times as "
                         "much. ");
}

static void add_times(const struct tacit_promise *promise, struct tacit_text *text)
{
    if (promise->mechanism.of == TACIT_PROTECTED_DATA_SET)
        return;
    tacit_text_add(text, promise->trust.is_settled
                             ? "Every reward is counted at a fixed time after its decision: when "
                               "rewards come says nothing. "
                             : "This holds given the times at which rewards come: they say when "
                               "what is drawn is drawn. ");
}

/* Whatever the protocol: what those can still do through whom the messages go. */
static void add_powers(const struct tacit_promise *promise, struct tacit_text *text)
{
    bool const is_noised = promise->mechanism.noise != TACIT_NOISE_NONE;
    tacit_text_add(text,
                   "Every message is signed by whoever says it, for this run and this topic, and "
                   "what is not so signed changes nothing. So the broker can hold messages back, "
                   "or say them again; it cannot make, alter or redirect one. It sees who speaks, "
                   "when and how much, and what is in the messages. ");
    tacit_text_add(text, promise->trust.has_peers
                             ? "A coordinator that lies can announce the run otherwise than was "
                               "agreed, or not at all; a neighbour that lies can falsify what it "
                               "passes on. Neither can make this site "
                             : "A coordinator that lies can choose which arms are played, keep the "
                               "run from ending, end it early, and treat two states of one site "
                               "as one; it cannot make this site ");
    tacit_text_add(text, is_noised ? "add less noise or go beyond its own policy. "
                                   : "go beyond its own policy. ");
}

/* ---- People, by the rows of the ledger ---- */

static void add_units(const struct tacit_promise *promise, struct tacit_text *text)
{
    struct tacit_promise_trust const *const trust = &promise->trust;
    uint64_t const count = tacit_larger(trust->unit_rewards_max, trust->unit_rewards_most);
    if (trust->unit_rewards_max == 0) {
        if (tacit_promise_holds(promise))
            tacit_text_add(text, "A person with several rewards loses the epsilon of each, over "
                                 "all runs: this site's file sets no limit "
                                 "(policy.rewards_per_unit_max). ");
        return;
    }
    tacit_text_add(text, "Of one unit (a person, as the applications name them) at most ");
    tacit_text_add_u64(text, count);
    tacit_text_add(text, " rewards of this site enter anything, over all runs since the limit was "
                         "last set");
    if (count > trust->unit_rewards_max) {
        tacit_text_add(text, " (it is ");
        tacit_text_add_u64(text, trust->unit_rewards_max);
        tacit_text_add(text, " now; more were entered before)");
    }
    add_unit_loss(promise, count, text);
    tacit_text_add(text, "Further ones, and decisions without a unit, are played by what was "
                         "released and enter nothing; so the estimates are of first visits. Of "
                         "units a keyed digest is kept. ");
}

static void add_earlier(const struct tacit_promise *promise, struct tacit_text *text)
{
    uint64_t const spent = promise->trust.spent_nano;
    if (!tacit_promise_holds(promise) || promise->mechanism.of != TACIT_PROTECTED_REWARD ||
        spent <= promise->mechanism.epsilon_nano)
        return;
    tacit_text_add(text, "A reward of an earlier run of this state has lost up to epsilon = ");
    tacit_text_add_nano(text, spent);
    tacit_text_add(text, ", by the rows of its ledger. ");
}

static void add_live(const struct tacit_promise *promise, struct tacit_text *text)
{
    if (tacit_promise_holds(promise)) {
        add_copies(promise, text);
        add_times(promise, text);
        tacit_text_add(text, "The noise comes from the entropy of the operating system. ");
    }
    add_powers(promise, text);
    add_earlier(promise, text);
    if (promise->mechanism.of != TACIT_PROTECTED_DATA_SET)
        add_units(promise, text);
}

/* ---- All of it ---- */

static void add_protection(const struct tacit_promise *promise, struct tacit_text *text)
{
    if (promise->mechanism.gaps != 0)
        add_gaps(promise->mechanism.gaps, text);
    else
        add_number(promise, text);
    add_leaving(promise, text);
    add_letter(promise, text);
    add_noise(promise, text);
    add_unprotected(promise, text);
    if (promise->trust.is_live)
        return;
    tacit_text_add(text, promise->mechanism.is_counted
                             ? "This run only chooses who takes part: it trains nothing, and no "
                               "noise is drawn. "
                             : "This was a simulation: its random numbers come from a seed and "
                               "are not private. ");
}

void tacit_promise_state(const struct tacit_promise *promise, struct tacit_text *text)
{
    TACIT_ASSERT(promise != NULL);
    TACIT_IMPLIES(promise->mechanism.noise == TACIT_NOISE_NONE, promise->mechanism.gaps == 0);
    if (promise->mechanism.noise == TACIT_NOISE_NONE)
        state_bare(promise, text);
    else
        add_protection(promise, text);
    if (promise->trust.is_live)
        add_live(promise, text);
    if (promise->is_logged)
        tacit_text_add(text, "The rewards are rows of a file, and what is shown of these rows "
                             "(counts, means, regret) is exact: this file or page is not "
                             "protected, whatever epsilon is. ");
    if (promise->remark != NULL) {
        tacit_text_add(text, promise->remark);
        tacit_text_add(text, " ");
    }
    while (text->size > 0 && text->bytes[text->size - 1] == ' ')
        text->bytes[--text->size] = '\0';
}
