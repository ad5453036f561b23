/* The keys of votes: the section `protocol`, the section `activation`, and `environment.drift`. */
#include <math.h>
#include <string.h>
#include "../../config/reader.h"
#include "plan.h"

#define SUM_ROUNDING 1e-9 /* of shares that sum to 1 */

static const struct config_choice sharings[] = {{"votes", VOTE_SHARING_VOTES},
                                                {"none", VOTE_SHARING_NONE},
                                                {"all", VOTE_SHARING_ALL},
                                                {"sums", VOTE_SHARING_SUMS},
                                                {NULL, 0}};
#define CHANCE CONFIG_ABOVE(0, 1)

static const struct config_key protocol_keys[] = {
    {"kind", NULL, "", .form = "votes"},
    {"subroutine", "(ser3; sound: successive)", "sound: successive, or ser4 for resets",
     .form = "naive, median, successive, ser3, ser4, kl-racing, lucb, kl-lucb, ugapec"},
    {"epsilon", NULL, "the accuracy: an arm within it of the best is an answer",
     CONFIG_TO_REAL(vote_keys, world.subroutine.accuracy, CHANCE)},
    {"delta", "0.05", "failure of the whole",
     CONFIG_TO_REAL(vote_keys, threshold.delta, VOTE_CHANCE_RANGE)},
    {"eta", "", "failure that a player allows itself; a confidence parameter, never privacy",
     CONFIG_TO_REAL(vote_keys, threshold.eta, VOTE_CHANCE_RANGE)},
    {"sharing", "votes",
     "none: 1-PRIVACY, each alone at delta/N; all: 0-PRIVACY, every reward, sound by randomised "
     "response; sums: noised sums of blocks, sound only",
     CONFIG_TO_ENUM(vote_keys, world.sharing, sharings)},
    {"votes", "(floor; sound: committee)",
     "votes that eliminate an arm: floor (the paper's), committee (players fixed in advance), "
     "binomial (any m of N), cheapest (m and eta), or a number",
     .form = "floor, committee, binomial, cheapest or a number"},
    {"liars", "0", "so many votes more are needed",
     CONFIG_TO_U32(vote_keys, threshold.liars, 0, TACIT_AGENTS_MAX)},
    {"reset", "",
     "with ser4: chance of a reset a sample; then epsilon is at least eta/K, and the run goes on "
     "to the horizon",
     CONFIG_TO_REAL(vote_keys, world.reset_probability, CHANCE)},
    {"switches", "0", "so many times within the horizon each arm takes the mean of the next one",
     CONFIG_TO_U32(vote_keys, switches, 0, 1000000)},
    {.name = NULL}};

static const struct config_choice activations[] = {{"uniform", 0}, {"groups", 1}, {NULL, 0}};
static const struct config_key root_keys[] = {
    {"activation", "(uniform)", "which player is active", .form = "a map"}, {.name = NULL}};
static const struct config_key activation_keys[] = {
    {"kind", NULL, "", .choices = activations},
    {"groups", "", "with kind: groups", .form = "a list, like [{share: 0.5, events: 0.8}, ...]"},
    {.name = NULL}};
static const struct config_key group_keys[] = {
    {"share", NULL, "of the players; together 1", CONFIG_TO_REAL(vote_group, share, CHANCE)},
    {"events", NULL, "share of the samples; together 1",
     CONFIG_TO_REAL(vote_group, events, CHANCE)},
    {.name = NULL}};
static const struct config_choice drifting[] = {{"suboptimal", 0}, {"all", 1}, {NULL, 0}};
static const struct config_key environment_keys[] = {
    {"drift", "", "means that move with the samples of all", .form = "a map"}, {.name = NULL}};
static const struct config_key drift_keys[] = {
    {"per_sample", NULL, "what a sample adds to a mean",
     CONFIG_TO_REAL(vote_keys, world.drift, CONFIG_FROM(-1, 1))},
    {"arms", "suboptimal", "which arms' means move",
     CONFIG_TO_FLAG(vote_keys, drifts_all, drifting)},
    {"floor", "0", "no mean goes below",
     CONFIG_TO_REAL(vote_keys, world.drift_floor, CONFIG_FROM(0, 1))},
    {.name = NULL}};

const struct config_section vote_sections[] = {{"", root_keys},
                                               {"protocol", protocol_keys},
                                               {"activation", activation_keys},
                                               {"activation.groups.N", group_keys},
                                               {"environment", environment_keys},
                                               {"environment.drift", drift_keys},
                                               {NULL, NULL}};

static void read_protocol(struct config_reader *reader, const struct config_node *protocol,
                          struct vote_keys *keys)
{
    struct config_choice kinds[TACIT_BEST_ARM_KINDS + 1];
    int kind = TACIT_BEST_ARM_SER3;
    for (int i = 0; i < (int)TACIT_BEST_ARM_KINDS; i++)
        kinds[i] = (struct config_choice){tacit_best_arm_name((enum tacit_best_arm_kind)i), i};
    kinds[TACIT_BEST_ARM_KINDS] = (struct config_choice){NULL, 0};
    config_reader_table(reader, protocol, "protocol", protocol_keys, keys);
    config_reader_choice(reader, protocol, "protocol.subroutine", false, kinds, &kind);
    keys->world.subroutine.kind = (enum tacit_best_arm_kind)kind;
    if ((keys->world.reset_probability > 0) != (keys->world.subroutine.kind == TACIT_BEST_ARM_SER4))
        config_reader_fail(reader, protocol, "protocol.reset",
                           "belongs to subroutine: ser4, which needs it: the chance of a reset a "
                           "sample, like 1.0e-5");
}

static void read_votes(struct config_reader *reader, const struct config_node *protocol,
                       struct vote_keys *keys)
{
    bool const derives =
        vote_read_rule(reader, protocol, "protocol.votes", VOTE_RULE_FLOOR, &keys->threshold);
    enum vote_rule const rule = keys->threshold.rule;
    if (keys->world.sharing == VOTE_SHARING_VOTES && !derives && keys->threshold.eta <= 0)
        config_reader_fail(reader, protocol, "protocol.eta",
                           "is missing: the failure that each player allows itself, like 0.9; or "
                           "give votes: a number of votes, or cheapest");
    if (rule == VOTE_RULE_CHEAPEST && keys->threshold.eta > 0)
        config_reader_fail(reader, protocol, "protocol.eta",
                           "follows from votes: cheapest; allowed: one of the two");
}

/* ---- Activation ---- */

static void read_groups(struct config_reader *reader, const struct config_node *activation,
                        struct vote_keys *keys)
{
    struct config_node const *const list = config_node_member(activation, "groups");
    double shares = 0;
    double events = 0;
    uint32_t at = 0;
    struct vote_group *const groups =
        config_reader_list(reader, activation, "activation.groups", "{share: 0.5, events: 0.8}",
                           VOTE_GROUPS_MAX, sizeof *groups, &keys->world.group_count);
    keys->world.groups = groups;
    for (const struct config_node *node = groups == NULL ? NULL : list->first; node != NULL;
         node = node->next) {
        struct vote_group *const group = &groups[at++];
        config_reader_table(reader, node, "activation.groups", group_keys, group);
        shares += group->share;
        events += group->events;
    }
    if (reader->status == TACIT_OK &&
        (fabs(shares - 1) > SUM_ROUNDING || fabs(events - 1) > SUM_ROUNDING))
        config_reader_fail(reader, list, "activation.groups",
                           "shares sum to %g and events to %g; both must sum to 1", shares, events);
}

static void read_activation(struct config_reader *reader, const struct config_node *root,
                            struct vote_keys *keys)
{
    struct config_node const *const activation =
        config_reader_map(reader, root, "activation", false);
    int kind = 0;
    if (activation == NULL)
        return;
    config_reader_known(reader, activation, "activation", activation_keys);
    config_reader_choice(reader, activation, "activation.kind", true, activations, &kind);
    struct config_node const *const groups = config_node_member(activation, "groups");
    if ((kind == 1) != (groups != NULL && groups->kind == CONFIG_LIST)) {
        config_reader_fail(reader, activation, "activation.groups",
                           "a list [{share: 0.5, events: 0.8}, ...] belongs to kind: groups");
        return;
    }
    if (kind == 1)
        read_groups(reader, activation, keys);
}

/* ---- Drift ---- */

static void read_drift(struct config_reader *reader, const struct config_node *root,
                       const struct tacit_config *config, struct vote_keys *keys)
{
    struct config_node const *const environment = config_node_member(root, "environment");
    struct config_node const *const drift =
        environment == NULL ? NULL
                            : config_reader_map(reader, environment, "environment.drift", false);
    if (drift == NULL)
        return;
    if (config->environment != TACIT_ENV_BERNOULLI && config->environment != TACIT_ENV_CONSTANT)
        config_reader_fail(reader, drift, "environment.drift",
                           "belongs to environment kind: bernoulli or constant");
    config_reader_table(reader, drift, "environment.drift", drift_keys, keys);
}

/* ---- Private votes ---- */

/* Private votes and sums go by epochs of their own; ser4 says that there are resets. */
static void read_sound_subroutine(struct config_reader *reader, const struct config_node *protocol,
                                  struct vote_keys *keys)
{
    struct config_node const *const subroutine = config_node_member(protocol, "subroutine");
    bool const resets = keys->world.subroutine.kind == TACIT_BEST_ARM_SER4;
    if (subroutine != NULL && keys->world.subroutine.kind != TACIT_BEST_ARM_SUCCESSIVE && !resets)
        config_reader_fail(
            reader, subroutine, "protocol.subroutine",
            "what is played by raw rewards may be seen; private votes go by rounds with exact "
            "bounds; allowed in mode sound: successive, ser4 (the same, with resets), or nothing");
    if (resets && keys->world.sharing == VOTE_SHARING_SUMS)
        config_reader_fail(reader, subroutine, "protocol.subroutine",
                           "published sums have no resets; allowed: successive, or nothing");
    keys->world.subroutine.kind = TACIT_BEST_ARM_SUCCESSIVE;
}

/* Sound mode: votes by a ladder of its own, thresholds that hold; noised sums; or every reward,
 * randomised. */
static void read_sound(struct config_reader *reader, const struct config_node *root,
                       struct tacit_config *config, struct vote_keys *keys)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct config_node const *const privacy = config_node_member(root, "privacy");
    config_reader_number(reader, privacy, "privacy.epsilon", true,
                         (struct config_range){1e-6, 1e6, false, true, false}, &config->epsilon);
    if (keys->world.sharing == VOTE_SHARING_NONE)
        config_reader_fail(reader, protocol, "protocol.sharing",
                           "nothing is sent, so nothing is noised; allowed in mode sound: votes, "
                           "sums, all");
    if (keys->world.sharing ==
        VOTE_SHARING_ALL) /* any subroutine: it sees randomised rewards only */
        return;
    read_sound_subroutine(reader, protocol, keys);
    if (keys->world.sharing == VOTE_SHARING_SUMS)
        return;
    if (config_node_member(protocol, "votes") == NULL)
        keys->threshold.rule = VOTE_RULE_COMMITTEE;
    if (keys->threshold.rule == VOTE_RULE_FLOOR)
        config_reader_fail(reader, protocol, "protocol.votes",
                           "floor does not keep delta; allowed in mode sound: committee, binomial, "
                           "cheapest, or a number without eta");
    if (keys->threshold.rule == VOTE_RULE_NUMBER && keys->threshold.eta > 0)
        config_reader_fail(reader, protocol, "protocol.votes",
                           "a number of votes and eta may not keep delta; allowed in mode sound: "
                           "one of the two");
}

static void refuse_idle_keys(struct config_reader *reader, const struct config_node *root,
                             const struct tacit_config *config, const struct vote_keys *keys)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct config_node const *const privacy = config_node_member(root, "privacy");
    static const char *const votes_only[] = {"protocol.eta", "protocol.votes", "protocol.liars"};
    if (privacy != NULL)
        config_reader_idle(reader, privacy, "privacy.epsilon",
                           config->privacy != TACIT_PRIVACY_SOUND,
                           "votes of raw rewards have no epsilon; protocol.epsilon is the accuracy "
                           "and belongs there");
    for (size_t i = 0; i < sizeof votes_only / sizeof votes_only[0]; i++)
        config_reader_idle(reader, protocol, votes_only[i],
                           keys->world.sharing != VOTE_SHARING_VOTES, "belongs to sharing: votes");
    if (keys->world.sharing == VOTE_SHARING_SUMS && config->privacy != TACIT_PRIVACY_SOUND)
        config_reader_fail(reader, protocol, "protocol.sharing",
                           "sums are noised ones; allowed: privacy: {mode: sound, epsilon: 1}");
    if (keys->switches > 0 && keys->world.drift != 0) /* exactly what the file says */
        config_reader_fail(reader, protocol, "protocol.switches",
                           "and environment.drift do not go together; allowed: one of the two");
    if (keys->switches >= config->horizon)
        config_reader_fail(reader, protocol, "protocol.switches",
                           "%u within a horizon of %llu samples; allowed: fewer than these",
                           keys->switches, (unsigned long long)config->horizon);
    if (privacy != NULL)
        config_reader_idle(reader, privacy, "privacy.range",
                           keys->world.sharing == VOTE_SHARING_ALL,
                           "rewards are shared as 0 or 1; belongs to sharing: votes, sums");
    if (keys->threshold.liars >= config->agent_count)
        config_reader_fail(reader, protocol, "protocol.liars",
                           "%u of %u agents lie; allowed: fewer than there are",
                           keys->threshold.liars, config->agent_count);
}

void vote_read_keys(struct config_reader *reader, const struct config_node *root,
                    struct tacit_config *config)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct vote_keys *const keys = config->keys;
    read_protocol(reader, protocol, keys);
    if (reader->status == TACIT_OK)
        read_votes(reader, protocol, keys);
    read_activation(reader, root, keys);
    read_drift(reader, root, config, keys);
    if (reader->status == TACIT_OK && config->privacy == TACIT_PRIVACY_SOUND)
        read_sound(reader, root, config, keys);
    if (reader->status == TACIT_OK)
        refuse_idle_keys(reader, root, config, keys);
}
