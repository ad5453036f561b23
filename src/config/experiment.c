/* The schema of the experiment file, section by section. */
#include "tacit/config.h"
#include "error.h"
#include "network.h"
#include "reader.h"
#include "tacit/bounds.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNS_MAX 1000000u
#define CHECKPOINTS_MAX 10000u
#define EPSILON_MAX 1e5
#define VALUE_MAX 1e9
#define KINDS_MAX 20u /* of environments */
#define BASELINES_MAX 20u
#define FAMILIES_MAX 30u
#define POLICIES_MAX 50u

/* ---- Keys ---- */

static const struct config_choice separators[] = {
    {",", ','}, {";", ';'}, {"tab", '\t'}, {"|", '|'}, {NULL, 0}};
static const struct config_choice decimals[] = {{".", '.'}, {",", ','}, {NULL, 0}};
static const struct config_choice encodings[] = {{"utf-8", TACIT_CONFIG_UTF8},
                                                 {"cp1252", TACIT_CONFIG_CP1252},
                                                 {"latin1", TACIT_CONFIG_LATIN1},
                                                 {NULL, 0}};
static const struct config_choice splits[] = {{"sequential", TACIT_CONFIG_SPLIT_SEQUENTIAL},
                                              {"random", TACIT_CONFIG_SPLIT_RANDOM},
                                              {NULL, 0}};
static const struct config_choice models[] = {
    {"ridge", TACIT_CONFIG_RIDGE}, {"logistic", TACIT_CONFIG_LOGISTIC}, {NULL, 0}};
static const struct config_choice intervals[] = {{"student", 0}, {"bootstrap", 1}, {NULL, 0}};
enum { DRAW_UNIFORM, DRAW_PER_AGENT, DRAW_APART };
static const struct config_choice draws[] = {{"uniform", DRAW_UNIFORM},
                                             {"uniform_per_agent", DRAW_PER_AGENT},
                                             {"apart", DRAW_APART},
                                             {NULL, 0}};
static const struct config_choice modes[] = {{"paper", TACIT_PRIVACY_PAPER},
                                             {"sound", TACIT_PRIVACY_SOUND},
                                             {"none", TACIT_PRIVACY_NONE},
                                             {NULL, 0}};
#define INSIDE CONFIG_ABOVE(0, 1)

#define COST CONFIG_FROM(0, VALUE_MAX)
static const struct config_key cost_keys[] = {
    {"server_link", "1", "c1 of the paper", CONFIG_TO_REAL(tacit_config, server_link_cost, COST)},
    {"peer_link", "1", "c2", CONFIG_TO_REAL(tacit_config, peer_link_cost, COST)},
    {.name = NULL}};

static const struct config_key root_keys[] = {
    {"name", NULL, "of the experiment", CONFIG_TO_TEXT(tacit_config, name)},
    {"seed", "1", "of all that is drawn", CONFIG_TO_U64(tacit_config, seed, 0, UINT64_MAX)},
    {"runs", "1", "", CONFIG_TO_U32(tacit_config, run_count, 1, RUNS_MAX)},
    {"horizon", NULL, "slots; in each an agent pulls one arm",
     CONFIG_TO_U64(tacit_config, horizon, 1, TACIT_HORIZON_MAX)},
    {"checkpoints", "50", "points of the regret curve, on a log scale; or their slots",
     .form = "1 to 10,000, or a list of slots that grow"},
    {"environment", NULL, "where rewards come from", .form = "a map"},
    {"agents", NULL, "", CONFIG_TO_U32(tacit_config, agent_count, 1, TACIT_AGENTS_MAX)},
    {"network", "(star)", "who hears whom", .form = "a map"},
    {"protocol", NULL, "how they learn together", .form = "a map"},
    {"privacy", "(must be given where the protocol protects)", "what may leave an agent",
     .form = "a map"},
    {"baselines", "", "other ways of playing beside this one, on the same instances",
     .form = "a list, like [pooled-kl-ucb, alone-ucb1]"},
    {"cost", "", "what a link costs", CONFIG_TO_SAME(cost_keys)},
    {.name = NULL}};

static const struct config_key environment_keys[] = {
    {"kind", NULL, "a constant reward is its mean",
     .form = "bernoulli, constant, gaussian, logged"},
    {"means", "", "a column an arm; 1 row (agents alike) or one an agent",
     .form = "a CSV file without a header"},
    {"generated", "", "in the place of means", .form = "a map"},
    {"gaussian", "", "with kind: gaussian", .form = "a map"},
    {"logged", "", "with kind: logged", .form = "a map"},
    {.name = NULL}};

static const struct config_key generated_keys[] = {
    {"arms", NULL, "", CONFIG_TO_U32(tacit_config, generated_arms, 2, TACIT_ARMS_MAX)},
    {"draw", "uniform",
     "uniform_per_agent: every agent has means of its own. apart: the last arm has the mean best, "
     "all others gap less",
     .choices = draws},
    {"instance_seed", "(each run has its own means)", "the same means in all runs",
     CONFIG_TO_U64(tacit_config, instance_seed, 0, UINT64_MAX)},
    {"best", "", "draw: apart", CONFIG_TO_REAL(tacit_config, generated_best, INSIDE)},
    {"gap", "", "draw: apart", CONFIG_TO_REAL(tacit_config, generated_gap, INSIDE)},
    {.name = NULL}};

static const struct config_key gaussian_keys[] = {
    {"sd", NULL, "standard deviation of a reward",
     CONFIG_TO_REAL(tacit_config, sd, CONFIG_ABOVE(0, VALUE_MAX))},
    {"own", "", "rewards are those of a tacit.Environment in Python, whose means these are",
     CONFIG_TO_TEXT(tacit_config, source)},
    {.name = NULL}};

static const struct config_key logged_keys[] = {
    {"csv", NULL, "the log; relative to this file, or in a data directory",
     CONFIG_TO_TEXT(tacit_config_log, csv)},
    {"fallback", "", "means in the place of a log that is nowhere",
     CONFIG_TO_TEXT(tacit_config_log, fallback)},
    {"agent", "", "column that says whose row it is; or split",
     CONFIG_TO_TEXT(tacit_config_log, agent_column)},
    {"arm", NULL, "which arm a row pulled", .form = "a column, or a list of maps"},
    {"reward", NULL, "what it brought", .form = "a column of numbers, or a map"},
    {"split", "", "equal parts as agents", CONFIG_TO_ENUM(tacit_config_log, split, splits)},
    {"separator", "(recognised)", "a comma, or what the first row has in its place",
     CONFIG_TO_ENUM(tacit_config_log, separator, separators)},
    {"decimal", "(recognised)", "a comma where semicolons separate and no number has a point",
     CONFIG_TO_ENUM(tacit_config_log, decimal, decimals)},
    {"encoding", "utf-8", "bytes that are none of it are refused",
     CONFIG_TO_ENUM(tacit_config_log, encoding, encodings)},
    {"missing", "drop", "what an empty cell means", .form = "drop, refuse or a map"},
    {"propensity", "", "probability of each row's choice; with arm: COLUMN",
     .form = "uniform, a column, or {column: NAME}"},
    {"contexts", "", "by which rewards are guessed", .form = "a list of columns"},
    {"policies", "", "that tacit evaluate values", .form = "a list of maps"},
    {"time", "", "column of a date, also with a time behind it, or of seconds since 1970",
     CONFIG_TO_TEXT(tacit_config_log, time_column)},
    {"model", "ridge", "of direct and doubly robust estimates",
     CONFIG_TO_ENUM(tacit_config_log, model, models)},
    {"switch", "10", "weights above are guessed, in switched estimates",
     CONFIG_TO_REAL(tacit_config_log, switch_at, {0, INFINITY, true, true, false})},
    {"interval", "student", "of policies",
     CONFIG_TO_FLAG(tacit_config_log, is_bootstrapped, intervals)},
    {.name = NULL}};

static const struct config_key log_arm_keys[] = {
    {"name", NULL, "of the arm", CONFIG_TO_TEXT(tacit_config_log_arm, name)},
    {"any", "", "columns of which at least one holds the value", .form = "a list of columns"},
    {"all", "", "columns that all hold it", .form = "a list of columns"},
    {"equals", NULL, "the value", CONFIG_TO_TEXT(tacit_config_log_arm, value)},
    {.name = NULL}};

static const struct config_key log_reward_keys[] = {
    {"column", NULL, "", CONFIG_TO_TEXT(tacit_config_log, reward_column)},
    {"equals", "", "the reward is 1 where the column holds it, else 0", .form = "a text"},
    {"differs", "", "the reward is 0 where the column holds it, else 1", .form = "a text"},
    {.name = NULL}};

static const struct config_key missing_keys[] = {
    {"agent", "", "stands in for an empty agent", CONFIG_TO_TEXT(tacit_config_missing, agent)},
    {"arm", "", "for an empty arm", CONFIG_TO_TEXT(tacit_config_missing, arm)},
    {"reward", "", "for an empty reward", CONFIG_TO_TEXT(tacit_config_missing, reward)},
    {.name = NULL}};

static const struct config_key propensity_keys[] = {
    {"column", NULL, "one that may be called uniform",
     CONFIG_TO_TEXT(tacit_config_log, propensity_column)},
    {.name = NULL}};

static const struct config_key policy_keys[] = {
    {"name", NULL, "", CONFIG_TO_TEXT(tacit_config_policy, name)},
    {"chosen", "", "column of the arms that it chooses",
     CONFIG_TO_TEXT(tacit_config_policy, chosen)},
    {"probabilities", "", "a column an arm", .form = "a list of columns"},
    {"trained", "", "the arm that the model guesses best",
     CONFIG_TO_ENUM(tacit_config_policy, model, models)},
    {.name = NULL}};

static const struct config_key privacy_keys[] = {
    {"mode", NULL, "paper: the paper's letter; sound: epsilon is per reward and holds",
     .choices = modes},
    {"epsilon", "(must be given, but for none)",
     "sound: what one reward loses. paper: a reward loses N times that, N being the agents that "
     "are averaged",
     .form = "a number above 0 (sound: from 1e-6) to 100,000, or inf"},
    {"range", "(0 to 1)", "sound: public bounds of a reward", .form = "two numbers, like [0, 1]"},
    {"unit", "", "a person whose rewards are counted, in logged rows", .form = "a map"},
    {"trust", "(one aggregator)", "who adds up what leaves", .form = "a map"},
    {.name = NULL}};

static const struct config_key unit_keys[] = {
    {"column", NULL, "says whose row it is", CONFIG_TO_TEXT(tacit_config, unit_column)},
    {"rewards", NULL, "of one person that enter an agent's part of a run at most",
     CONFIG_TO_U32(tacit_config, unit_rewards, 1, UINT32_MAX - 1)},
    {.name = NULL}};

struct trust {
    uint32_t aggregators;
    double floor;
};
static const struct config_key trust_keys[] = {
    {"aggregators", NULL, "who add their noise to sums, and do not collude",
     CONFIG_TO_U32(trust, aggregators, 1, 2)},
    {"floor", "(none)", "epsilon of the noise that each site keeps adding, in thousandths",
     CONFIG_TO_REAL(trust, floor, CONFIG_FROM(1e-3, EPSILON_MAX))},
    {.name = NULL}};

const struct config_section tacit_config_sections[] = {
    {"", root_keys},
    {"environment", environment_keys},
    {"environment.generated", generated_keys},
    {"environment.gaussian", gaussian_keys},
    {"environment.logged", logged_keys},
    {"environment.logged.arm.N", log_arm_keys},
    {"environment.logged.reward", log_reward_keys},
    {"environment.logged.missing", missing_keys},
    {"environment.logged.propensity", propensity_keys},
    {"environment.logged.policies.N", policy_keys},
    {"network", config_network_keys},
    {"network.components.N", config_component_keys},
    {"privacy", privacy_keys},
    {"privacy.unit", unit_keys},
    {"privacy.trust", trust_keys},
    {NULL, NULL}};

/* ---- Environment ---- */

/* Words of the document. NULL: the reader has failed. */
static const char **read_texts(struct config_reader *reader, const struct config_node *list,
                               const char *key, uint32_t *count)
{
    if (list->kind != CONFIG_LIST || list->first == NULL) {
        config_reader_fail(reader, list, key, "a list of column names is expected, like [insulin]");
        return NULL;
    }
    for (const struct config_node *node = list->first; node != NULL; node = node->next)
        ++*count;
    const char **const texts = config_reader_memory(reader, *count * sizeof *texts);
    if (texts == NULL)
        return NULL;
    uint32_t i = 0;
    for (const struct config_node *node = list->first; node != NULL; node = node->next) {
        if (node->kind != CONFIG_SCALAR) {
            config_reader_fail(reader, node, key, "a column name is expected");
            return NULL;
        }
        texts[i++] = node->text;
    }
    return texts;
}

static void read_log_arm(struct config_reader *reader, const struct config_node *node,
                         struct tacit_config_log_arm *arm)
{
    char const *const key = "environment.logged.arm";
    config_reader_table(reader, node, key, log_arm_keys, arm);
    struct config_node const *const any = config_node_member(node, "any");
    struct config_node const *const all = config_node_member(node, "all");
    if ((any == NULL) == (all == NULL)) {
        config_reader_fail(reader, node, key,
                           "give one of 'any' and 'all': the columns that hold "
                           "the value");
        return;
    }
    arm->all = all != NULL;
    arm->columns =
        read_texts(reader, any != NULL ? any : all,
                   any != NULL ? "environment.logged.arm.any" : "environment.logged.arm.all",
                   &arm->column_count);
}

static void read_log_arms(struct config_reader *reader, const struct config_node *logged,
                          struct tacit_config_log *log)
{
    log->arms = config_reader_list(reader, logged, "environment.logged.arm",
                                   "{name: insulin, any: [insulin], equals: Steady}",
                                   TACIT_ARMS_MAX, sizeof *log->arms, &log->arm_count);
    if (log->arm_count < 2)
        config_reader_refuse(reader, "environment.logged.arm", "%u arms; at least 2 are needed",
                             log->arm_count);
    if (reader->status != TACIT_OK)
        return;
    struct config_node const *const list = config_node_member(logged, "arm");
    struct tacit_config_log_arm *arm = log->arms;
    for (const struct config_node *node = list->first; node != NULL; node = node->next, arm++) {
        read_log_arm(reader, node, arm);
        for (const struct tacit_config_log_arm *other = log->arms;
             reader->status == TACIT_OK && other < arm; other++)
            if (strcmp(other->name, arm->name) == 0)
                config_reader_fail(reader, node, "environment.logged.arm.name",
                                   "'%.60s' stands here twice; arms have different names",
                                   arm->name);
    }
}

static void read_log_reward(struct config_reader *reader, const struct config_node *logged,
                            struct tacit_config_log *log)
{
    struct config_node const *const reward = config_node_member(logged, "reward");
    if (reward == NULL || reward->kind == CONFIG_SCALAR) {
        config_reader_text(reader, logged, "environment.logged.reward", true, &log->reward_column);
        return;
    }
    if (config_reader_map(reader, logged, "environment.logged.reward", true) == NULL)
        return;
    config_reader_table(reader, reward, "environment.logged.reward", log_reward_keys, log);
    struct config_node const *const differs = config_node_member(reward, "differs");
    log->reward_differs = differs != NULL;
    if (differs != NULL && config_node_member(reward, "equals") != NULL)
        config_reader_fail(reader, differs, "environment.logged.reward.differs",
                           "a reward is given by one of 'equals' and 'differs'");
    config_reader_text(reader, reward,
                       differs != NULL ? "environment.logged.reward.differs"
                                       : "environment.logged.reward.equals",
                       true, &log->reward_value);
}

/* drop | refuse | the words that stand in for what is missing */
static void read_missing(struct config_reader *reader, const struct config_node *logged,
                         struct tacit_config_missing *missing)
{
    static const struct config_choice words[] = {{"drop", 0}, {"refuse", 1}, {NULL, 0}};
    struct config_node const *const node = config_node_member(logged, "missing");
    int is_refused = 0;
    if (node == NULL || node->kind == CONFIG_SCALAR) {
        config_reader_choice(reader, logged, "environment.logged.missing", false, words,
                             &is_refused);
        missing->is_refused = is_refused == 1;
        return;
    }
    if (config_reader_map(reader, logged, "environment.logged.missing", true) == NULL)
        return;
    config_reader_table(reader, node, "environment.logged.missing", missing_keys, missing);
}

/* uniform, the name of a column, or {column: NAME}, for one that is called uniform. */
static void read_propensity(struct config_reader *reader, const struct config_node *logged,
                            struct tacit_config_log *log)
{
    char const *const key = "environment.logged.propensity";
    struct config_node const *const node = config_node_member(logged, "propensity");
    if (node == NULL)
        return;
    if (node->kind == CONFIG_MAP) {
        config_reader_table(reader, node, key, propensity_keys, log);
    } else {
        config_reader_text(reader, logged, key, true, &log->propensity_column);
        log->is_uniform =
            log->propensity_column != NULL && strcmp(log->propensity_column, "uniform") == 0;
        log->propensity_column = log->is_uniform ? NULL : log->propensity_column;
    }
    if (log->arms != NULL)
        config_reader_fail(reader, node, key,
                           "the arms are rules here, and a row may fit several; propensities go "
                           "with 'arm: COLUMN'");
}

static void read_policy(struct config_reader *reader, const struct config_node *node,
                        const struct tacit_config_log *log, struct tacit_config_policy *policy)
{
    char const *const key = "environment.logged.policies";
    config_reader_table(reader, node, key, policy_keys, policy);
    struct config_node const *const columns = config_node_member(node, "probabilities");
    if (columns != NULL && reader->status == TACIT_OK)
        policy->probabilities =
            read_texts(reader, columns, "environment.logged.policies", &policy->probability_count);
    policy->is_trained = config_node_member(node, "trained") != NULL;
    if (reader->status == TACIT_OK &&
        (policy->chosen != NULL) + (columns != NULL) + policy->is_trained != 1)
        config_reader_fail(
            reader, node, key,
            "'%.60s' needs one of 'chosen' (the column of its arms), 'probabilities' "
            "(a column an arm) and 'trained' (ridge or logistic)",
            policy->name);
    if (reader->status == TACIT_OK && policy->is_trained && log->context_count == 0)
        config_reader_fail(reader, node, key,
                           "'%.60s' is trained on contexts, and 'contexts' names no columns",
                           policy->name);
    for (const struct tacit_config_policy *other = log->policies;
         reader->status == TACIT_OK && other < policy; other++)
        if (strcmp(other->name, policy->name) == 0)
            config_reader_fail(reader, node, key, "'%.60s' stands here twice; allowed: once",
                               policy->name);
}

/* The columns of contexts and of policies, in their order. */
static void list_columns(struct config_reader *reader, struct tacit_config_log *log)
{
    uint32_t count = log->context_count;
    for (uint32_t i = 0; i < log->policy_count; i++)
        count += log->policies[i].probability_count + (log->policies[i].chosen != NULL);
    log->columns = config_reader_memory(reader, (count + (size_t)1) * sizeof *log->columns);
    if (log->columns == NULL)
        return;
    for (uint32_t i = 0; i < log->context_count; i++)
        log->columns[log->column_count++] = log->contexts[i];
    for (uint32_t i = 0; i < log->policy_count; i++) {
        struct tacit_config_policy const *const policy = &log->policies[i];
        if (policy->chosen != NULL)
            log->columns[log->column_count++] = policy->chosen;
        for (uint32_t column = 0; column < policy->probability_count; column++)
            log->columns[log->column_count++] = policy->probabilities[column];
    }
}

/* Policies that `tacit evaluate` values, and the contexts by which rewards are guessed. */
static void read_policies(struct config_reader *reader, const struct config_node *logged,
                          struct tacit_config_log *log)
{
    struct config_node const *const contexts = config_node_member(logged, "contexts");
    struct config_node const *const list = config_node_member(logged, "policies");
    if (contexts != NULL && reader->status == TACIT_OK)
        log->contexts =
            read_texts(reader, contexts, "environment.logged.contexts", &log->context_count);
    if (list == NULL || reader->status != TACIT_OK)
        return;
    log->policies = config_reader_list(reader, logged, "environment.logged.policies",
                                       "{name: by rule, chosen: COLUMN}", POLICIES_MAX,
                                       sizeof *log->policies, &log->policy_count);
    if (log->propensity_column == NULL && !log->is_uniform)
        config_reader_fail(reader, list, "environment.logged.policies",
                           "policies are valued by propensities, and 'propensity' is missing");
    struct tacit_config_policy *policy = log->policies;
    for (const struct config_node *node = list->first; policy != NULL && node != NULL;
         node = node->next)
        read_policy(reader, node, log, policy++);
    if (reader->status == TACIT_OK)
        list_columns(reader, log);
}

static void read_log(struct config_reader *reader, const struct config_node *environment,
                     struct tacit_config_log *log)
{
    struct config_node const *const logged =
        config_reader_map(reader, environment, "environment.logged", true);
    if (logged == NULL)
        return;
    config_reader_table(reader, logged, "environment.logged", logged_keys, log);
    if (reader->status == TACIT_OK &&
        (log->agent_column == NULL) == (log->split == TACIT_CONFIG_SPLIT_NONE))
        config_reader_fail(reader, logged, "environment.logged",
                           "give one of 'agent' (the column that says whose row it is) and 'split' "
                           "(sequential or random: equal parts)");
    struct config_node const *const arm = config_node_member(logged, "arm");
    if (arm != NULL && arm->kind == CONFIG_LIST)
        read_log_arms(reader, logged, log);
    else
        config_reader_text(reader, logged, "environment.logged.arm", true, &log->arm_column);
    read_log_reward(reader, logged, log);
    if (log->separator == ',' && log->decimal == ',')
        config_reader_fail(reader, logged, "environment.logged.decimal",
                           "the separator is a comma, too; allowed: one of them something else");
    read_missing(reader, logged, &log->missing);
    read_propensity(reader, logged, log);
    read_policies(reader, logged, log);
    if (reader->status == TACIT_OK && log->missing.arm != NULL && log->arms != NULL)
        config_reader_fail(reader, logged, "environment.logged.missing.arm",
                           "the arms are rules here, and a rule that no row fits counts none");
    if (reader->status == TACIT_OK && log->missing.agent != NULL && log->agent_column == NULL)
        config_reader_fail(reader, logged, "environment.logged.missing.agent",
                           "the agents are parts of the file here; no column names them");
}

/* One arm is ahead of all others, which are alike: the hardest instance with this gap. */
static void read_apart(struct config_reader *reader, const struct config_node *generated,
                       struct tacit_config *config)
{
    struct config_range const range = INSIDE;
    config->generated_apart = true;
    config->has_instance_seed = true;
    config_reader_idle(reader, generated, "environment.generated.instance_seed", true,
                       "belongs to the draws uniform and uniform_per_agent; nothing is drawn here");
    config_reader_number(reader, generated, "environment.generated.best", true, range,
                         &config->generated_best);
    config_reader_number(reader, generated, "environment.generated.gap", true, range,
                         &config->generated_gap);
    if (reader->status == TACIT_OK && config->generated_gap > config->generated_best)
        config_reader_refuse(reader, "environment.generated.gap",
                             "the means would be below 0; allowed: up to 'best'");
}

static void read_generated(struct config_reader *reader, const struct config_node *environment,
                           struct tacit_config *config)
{
    struct config_node const *const generated =
        config_reader_map(reader, environment, "environment.generated", false);
    int draw = DRAW_UNIFORM;
    if (generated == NULL)
        return;
    config_reader_table(reader, generated, "environment.generated", generated_keys, config);
    config_reader_choice(reader, generated, "environment.generated.draw", false, draws, &draw);
    if (draw == DRAW_APART) {
        read_apart(reader, generated, config);
        return;
    }
    config_reader_idle(reader, generated, "environment.generated.best", true,
                       "belongs to draw: apart");
    config_reader_idle(reader, generated, "environment.generated.gap", true,
                       "belongs to draw: apart");
    config->has_instance_seed = config_node_member(generated, "instance_seed") != NULL;
    config->generated_per_agent = draw == DRAW_PER_AGENT;
}

static void read_gaussian(struct config_reader *reader, const struct config_node *environment,
                          struct tacit_config *config)
{
    struct config_node const *const gaussian =
        config_reader_map(reader, environment, "environment.gaussian", true);
    if (gaussian != NULL)
        config_reader_table(reader, gaussian, "environment.gaussian", gaussian_keys, config);
}

/* Kinds of all families, by enum tacit_env_kind. */
static const char *const environment_words[] = {"bernoulli", "constant", "gaussian", "logged"};
#define ENVIRONMENT_COUNT (sizeof environment_words / sizeof environment_words[0])

/* The kind of environment: one of those that the family takes, or a word of its own. Returns false
 * where the section is the family's, or something failed. */
static bool read_environment_kind(struct config_reader *reader,
                                  const struct config_node *environment,
                                  struct tacit_config *config)
{
    struct config_choice kinds[KINDS_MAX + 1];
    size_t count = 0;
    int kind = 0;
    for (size_t i = 0; i < ENVIRONMENT_COUNT; i++)
        if ((config->family->environments & (1u << i)) != 0)
            kinds[count++] = (struct config_choice){environment_words[i], (int)i};
    char const *const *const own = config->family->own_environments;
    for (size_t i = 0; own != NULL && own[i] != NULL; i++) {
        TACIT_ASSERT(count < KINDS_MAX);
        kinds[count++] = (struct config_choice){own[i], (int)(ENVIRONMENT_COUNT + i)};
    }
    kinds[count] = (struct config_choice){NULL, 0};
    config_reader_choice(reader, environment, "environment.kind", true, kinds, &kind);
    if (reader->status != TACIT_OK)
        return false;
    if ((size_t)kind >= ENVIRONMENT_COUNT)
        config->own_environment = own[(size_t)kind - ENVIRONMENT_COUNT];
    else
        config->environment = (enum tacit_env_kind)kind;
    return config->own_environment == NULL;
}

static void read_environment(struct config_reader *reader, const struct config_node *root,
                             struct tacit_config *config)
{
    struct config_node const *const environment =
        config_reader_map(reader, root, "environment", true);
    if (environment == NULL)
        return;
    bool const is_ours = read_environment_kind(reader, environment, config);
    enum tacit_env_kind const kind = config->environment;
    if (!is_ours)
        return;
    config_reader_known(reader, environment, "environment", environment_keys);
    if (kind == TACIT_ENV_LOGGED) {
        config_reader_idle(reader, environment, "environment.means", true,
                           "belongs to kind: bernoulli, constant or gaussian");
        config_reader_idle(reader, environment, "environment.generated", true,
                           "belongs to kind: bernoulli, constant or gaussian");
        config_reader_idle(reader, environment, "environment.gaussian", true,
                           "belongs to kind: gaussian");
        read_log(reader, environment, &config->log);
        return;
    }
    config_reader_idle(reader, environment, "environment.logged", true, "belongs to kind: logged");
    config_reader_text(reader, environment, "environment.means", false, &config->means);
    read_generated(reader, environment, config);
    if (reader->status == TACIT_OK && (config->means == NULL) == (config->generated_arms == 0))
        config_reader_fail(reader, environment, "environment",
                           "give one of 'means' (a CSV file) and 'generated' ({arms: 100, draw: "
                           "uniform})");
    if (kind == TACIT_ENV_GAUSSIAN)
        read_gaussian(reader, environment, config);
    else
        config_reader_idle(reader, environment, "environment.gaussian", true,
                           "belongs to kind: gaussian");
}

/* ---- Network ---- */

static void refuse_network(struct config_reader *reader, const struct config_node *root,
                           const struct tacit_config *config)
{
    static const char *const words[] = {"star", "a graph (like ring)", "hybrid", "alone",
                                        "broadcast"};
    struct config_node const *const network = config_node_member(root, "network");
    char list[120];
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if ((config->family->networks & (1u << i)) != 0)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "",
                                     words[i]);
    config_reader_fail(reader, network == NULL ? root : network, "network.kind",
                       "'%s' is not for protocol: %s; allowed: %s", config->network.name,
                       config->family->name, list);
}

static void read_topology(struct config_reader *reader, const struct config_node *root,
                          struct tacit_config *config)
{
    config->network = (struct tacit_config_topology){.name = "star",
                                                     .agent_count = config->agent_count,
                                                     .seed = config->seed,
                                                     .document = config->document};
    config_read_network(reader, root, &config->network);
    if (reader->status == TACIT_OK && config->family != NULL &&
        (config->family->networks & (1u << config->network.kind)) == 0)
        refuse_network(reader, root, config);
}

/* ---- The other sections ---- */

static void read_reward_range(struct config_reader *reader, const struct config_node *privacy,
                              struct tacit_config *config)
{
    struct config_node const *const range = config_node_member(privacy, "range");
    if (range == NULL)
        return;
    if (config->privacy != TACIT_PRIVACY_SOUND)
        config_reader_fail(reader, range, "privacy.range", "belongs to mode: sound");
    if (config->own_environment != NULL)
        config_reader_fail(reader, range, "privacy.range",
                           "belongs to arms that have rewards of their own, and there are none of "
                           "these");
    config_reader_pair(reader, privacy, "privacy.range", false, CONFIG_REWARD_BOUNDS, &config->lo,
                       &config->hi);
    config->has_range = true;
}

/* How many rewards of a person may enter, and which column says whose they are. */
static void read_unit(struct config_reader *reader, const struct config_node *privacy,
                      struct tacit_config *config)
{
    struct config_node const *const unit =
        config_reader_map(reader, privacy, "privacy.unit", false);
    if (unit == NULL)
        return;
    config_reader_table(reader, unit, "privacy.unit", unit_keys, config);
    if (config->privacy == TACIT_PRIVACY_NONE)
        config_reader_fail(reader, unit, "privacy.unit",
                           "belongs to modes that protect; nothing is noised here");
    else if (config->environment != TACIT_ENV_LOGGED)
        config_reader_fail(reader, unit, "privacy.unit",
                           "names a column of logged rows, and there are none; allowed with "
                           "environment.kind: logged");
}

/* Who adds noise, and how much of its own a site keeps. A floor beside one aggregator waits for
 * two: comparisons go over their number. */
static void read_trust(struct config_reader *reader, const struct config_node *privacy,
                       struct tacit_config *config)
{
    struct config_node const *const trust =
        config_reader_map(reader, privacy, "privacy.trust", false);
    struct trust values = {.aggregators = 1};
    TACIT_ASSERT(config->family != NULL);
    if (trust == NULL)
        return;
    config_reader_table(reader, trust, "privacy.trust", trust_keys, &values);
    double const milli = nearbyint(values.floor * 1e3);
    if (fabs(milli - values.floor * 1e3) > 1e-6)
        config_reader_fail(reader, trust, "privacy.trust.floor",
                           "is counted in thousandths; allowed: 0.001, 0.002, ..");
    if (values.aggregators < 2 || reader->status != TACIT_OK)
        return;
    if (!config->family->accepts_trust)
        config_reader_fail(reader, trust, "privacy.trust",
                           "two aggregators are for releases of integers that a hub only adds up; "
                           "allowed with protocol.kind elimination (bounds: exact), phased-index, "
                           "glm-ucb (mode: sound), select (with training) and votes (sharing: "
                           "sums)");
    else if (config->privacy != TACIT_PRIVACY_SOUND)
        config_reader_fail(reader, trust, "privacy.trust", "belongs to mode: sound");
    else
        config->floor_milli = values.floor > 0 ? (uint32_t)milli : TACIT_NO_FLOOR;
}

/* One of the modes that the family has. */
static void read_mode(struct config_reader *reader, const struct config_node *privacy,
                      struct tacit_config *config)
{
    struct config_choice allowed[sizeof modes / sizeof modes[0]] = {{NULL, 0}};
    size_t count = 0;
    int mode = TACIT_PRIVACY_NONE;
    for (size_t i = 0; modes[i].name != NULL; i++)
        if ((config->family->modes & (1u << (unsigned)modes[i].value)) != 0)
            allowed[count++] = modes[i];
    allowed[count] = (struct config_choice){NULL, 0};
    config_reader_choice(reader, privacy, "privacy.mode", true, allowed, &mode);
    config->privacy = (enum tacit_privacy_mode)mode;
}

static void read_privacy(struct config_reader *reader, const struct config_node *root,
                         struct tacit_config *config)
{
    bool const may_miss =
        config->family->modes == 1u << TACIT_PRIVACY_NONE || config->family->privacy_may_miss;
    struct config_node const *const privacy = config_reader_map(reader, root, "privacy", !may_miss);
    config->epsilon = INFINITY;
    if (privacy == NULL)
        return;
    config_reader_known(reader, privacy, "privacy", privacy_keys);
    read_mode(reader, privacy, config);
    int const mode = (int)config->privacy;
    if (!config->family->reads_epsilon)
        config_reader_number(reader, privacy, "privacy.epsilon", mode != TACIT_PRIVACY_NONE,
                             (struct config_range){mode == TACIT_PRIVACY_SOUND ? 1e-6 : 0,
                                                   EPSILON_MAX, mode != TACIT_PRIVACY_SOUND, true,
                                                   false},
                             &config->epsilon);
    if (mode == TACIT_PRIVACY_NONE)
        config->epsilon = INFINITY;
    read_reward_range(reader, privacy, config);
    read_unit(reader, privacy, config);
    read_trust(reader, privacy, config);
    if (reader->status == TACIT_OK && config->environment == TACIT_ENV_GAUSSIAN &&
        mode == TACIT_PRIVACY_SOUND && !config->has_range)
        config_reader_fail(reader, privacy, "privacy",
                           "gaussian rewards have no bounds; sound mode needs 'range': the public "
                           "bounds to clip them to, like [-2, 3]");
}

static void read_checkpoint_list(struct config_reader *reader, const struct config_node *list,
                                 struct tacit_config *config)
{
    uint32_t count = 0;
    for (const struct config_node *node = list->first; node != NULL; node = node->next)
        count++;
    if (count == 0 || count > CHECKPOINTS_MAX) {
        config_reader_fail(reader, list, "checkpoints", "%u slots in the list; 1 to %u are allowed",
                           count, CHECKPOINTS_MAX);
        return;
    }
    config->checkpoints = config_reader_memory(reader, count * sizeof(uint64_t));
    if (config->checkpoints == NULL)
        return;
    config->checkpoint_count = count;
    uint64_t before = 0;
    uint64_t *slot = config->checkpoints;
    for (const struct config_node *node = list->first; node != NULL; node = node->next, slot++) {
        if (!config_reader_whole(reader, node, "checkpoints", 1, config->horizon, slot))
            return;
        if (*slot <= before)
            config_reader_fail(reader, node, "checkpoints", "%llu does not grow; slots must grow",
                               (unsigned long long)*slot);
        before = *slot;
    }
}

static void read_checkpoints(struct config_reader *reader, const struct config_node *root,
                             struct tacit_config *config)
{
    struct config_node const *const node = config_node_member(root, "checkpoints");
    if (node != NULL && node->kind == CONFIG_LIST)
        read_checkpoint_list(reader, node, config);
    else
        config_reader_u32(reader, root, "checkpoints", false, 1, CHECKPOINTS_MAX,
                          &config->checkpoint_count);
}

static void read_baselines(struct config_reader *reader, const struct config_node *root,
                           struct tacit_config *config)
{
    struct config_node const *const list = config_node_member(root, "baselines");
    if (list == NULL || reader->status != TACIT_OK)
        return;
    if (list->kind != CONFIG_LIST) {
        config_reader_fail(reader, list, "baselines",
                           "a list of names is expected, like [pooled-kl-ucb]");
        return;
    }
    config->baselines = config_reader_memory(reader, BASELINES_MAX * sizeof *config->baselines);
    for (const struct config_node *node = list->first; node != NULL && reader->status == TACIT_OK;
         node = node->next)
        if (node->kind != CONFIG_SCALAR)
            config_reader_fail(reader, node, "baselines", "the name of a baseline is expected");
        else if (config->baseline_count == BASELINES_MAX)
            config_reader_fail(reader, node, "baselines", "too many; %u are allowed",
                               BASELINES_MAX);
        else
            config->baselines[config->baseline_count++] = node->text;
}

/* Which family is it? NULL: none of those that there are. */
static const struct tacit_config_family *
find_family(const struct config_node *root, const struct tacit_config_family *const *families)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct config_node const *const kind = protocol == NULL || protocol->kind != CONFIG_MAP
                                               ? NULL
                                               : config_node_member(protocol, "kind");
    for (size_t i = 0; kind != NULL && kind->kind == CONFIG_SCALAR && families[i] != NULL; i++)
        if (strcmp(families[i]->name, kind->text) == 0)
            return families[i];
    return NULL;
}

/* Refuses a word that a family has for one of its own, as in {kind: thompson}. */
static void point_to_family(struct config_reader *reader, const struct config_node *node,
                            const struct tacit_config_family *const *families)
{
    for (size_t i = 0; families[i] != NULL && node != NULL && node->kind == CONFIG_SCALAR; i++)
        for (const char *const *word = families[i]->variants; word != NULL && *word != NULL; word++)
            if (strcmp(*word, node->text) == 0)
                config_reader_fail(reader, node, "protocol",
                                   "'%s' is no kind of its own; it is written {kind: %s, %s: %s}",
                                   *word, families[i]->name, families[i]->variants_key, *word);
}

/* Says what is wrong with protocol.kind. Requires: no family was found for it. */
static void refuse_protocol(struct config_reader *reader, const struct config_node *root,
                            const struct tacit_config_family *const *families)
{
    struct config_choice kinds[FAMILIES_MAX + 1] = {{NULL, 0}};
    struct config_node const *const given = config_node_member(root, "protocol");
    bool const is_map = given != NULL && given->kind == CONFIG_MAP;
    point_to_family(reader, is_map ? config_node_member(given, "kind") : given, families);
    struct config_node const *const protocol = config_reader_map(reader, root, "protocol", true);
    int kind = 0;
    for (size_t i = 0; families[i] != NULL; i++) {
        TACIT_ASSERT(i < FAMILIES_MAX);
        kinds[i] = (struct config_choice){families[i]->name, (int)i};
    }
    if (protocol != NULL)
        config_reader_choice(reader, protocol, "protocol.kind", true, kinds, &kind);
    TACIT_ASSERT(reader->status != TACIT_OK);
}

static void read_experiment(struct config_reader *reader, const void *all, void *file)
{
    const struct tacit_config_family *const *const families = all;
    struct tacit_config *const config = file;
    struct config_node const *const root = config_document_root(reader->document);
    *config = (struct tacit_config){.document = reader->document, .checkpoint_count = 50, .hi = 1};
    config->family = find_family(root, families);
    reader->more = config->family == NULL ? NULL : config->family->keys;
    config_reader_known(reader, root, "", root_keys);
    config_reader_values(reader, root, "", root_keys, config);
    read_checkpoints(reader, root, config);
    read_topology(reader, root, config);
    if (config->family == NULL) {
        refuse_protocol(reader, root, families);
        return;
    }
    read_environment(reader, root, config);
    read_privacy(reader, root, config);
    read_baselines(reader, root, config);
    if (reader->status == TACIT_OK)
        config->keys = config_reader_memory(reader, config->family->keys_size);
    if (reader->status == TACIT_OK)
        config->family->read(reader, root, config);
}

/* ---- Public ---- */

enum tacit_status tacit_config_load(struct tacit_config **config, const char *path,
                                    const char *const *settings, uint32_t set_count,
                                    const struct tacit_config_family *const *families,
                                    struct tacit_error *error)
{
    void *made = NULL;
    enum tacit_status const status = config_file_load(&made, sizeof **config, path, settings,
                                                      set_count, read_experiment, families, error);
    if (status == TACIT_OK)
        *config = made;
    return status;
}

void tacit_config_free(struct tacit_config *config)
{
    config_file_free(config);
}

char *tacit_config_path(const struct config_document *document, const char *name)
{
    char const *const file = config_document_path(document);
    char const *const slash = strrchr(file, '/');
    int const folder = name[0] == '/' || slash == NULL ? 0 : (int)(slash - file + 1);
    char *path;
    return asprintf(&path, "%.*s%s", folder, file, name) < 0 ? NULL : path;
}

bool tacit_config_beside_program(const char *relative, char path[TACIT_PROGRAM_PATH_BYTES])
{
    ssize_t const size = readlink("/proc/self/exe", path, TACIT_PROGRAM_PATH_BYTES - 1);
    path[size < 0 ? 0 : size] = '\0';
    char *const slash = strrchr(path, '/');
    if (slash == NULL)
        return false;
    size_t const left = (size_t)(path + TACIT_PROGRAM_PATH_BYTES - (slash + 1));
    return (size_t)snprintf(slash + 1, left, "%s", relative) < left;
}
