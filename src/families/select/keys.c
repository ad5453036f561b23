/* The keys of user selection: `protocol`, `environment` {kind: latency}, `sizes`, and those of
 * `privacy` that say what a participation costs. */
#include <math.h>
#include <string.h>
#include "../../config/reader.h"
#include "select.h"

#define VALUE_MAX 1e9
#define ROWS_DEFAULT 60000u
#define ITERATIONS_MAX 10000000u

#define POSITIVE                                                                                   \
    {                                                                                              \
        0, VALUE_MAX, true, false, false                                                           \
    }
#define NOT_NEGATIVE                                                                               \
    {                                                                                              \
        0, VALUE_MAX, false, false, false                                                          \
    }

/* ---- protocol ---- */

static const struct config_choice selectors[] = {
    {"exact", 0},  {"brute", 1},     {"sa", 2},      {"vanilla-sa", 3}, {"genie", 4},
    {"random", 5}, {"clustered", 6}, {"fastest", 7}, {"all", 8},        {NULL, 0}};

static void read_selector(struct config_reader *reader, const struct config_node *protocol,
                          struct select_keys *keys)
{
    static const enum tacit_selector kinds[] = {
        TACIT_SELECTOR_EXACT,     TACIT_SELECTOR_BRUTE,   TACIT_SELECTOR_ANNEALING,
        TACIT_SELECTOR_ANNEALING, TACIT_SELECTOR_GENIE,   TACIT_SELECTOR_RANDOM,
        TACIT_SELECTOR_CLUSTERED, TACIT_SELECTOR_FASTEST, TACIT_SELECTOR_ALL};
    int selector = 0;
    config_reader_choice(reader, protocol, "protocol.selector", false, selectors, &selector);
    keys->choice.selector = kinds[selector];
    keys->choice.annealing.is_vanilla = selector == 3;
    keys->selector = selectors[selector].name;
}

enum { KEEP_BEST, KEEP_LAST, KEEP_WALK };
static const struct config_choice signs[] = {{"right", 0}, {"printed", 1}, {NULL, 0}};
static const struct config_choice keeps[] = {
    {"best", KEEP_BEST}, {"last", KEEP_LAST}, {"walk", KEEP_WALK}, {NULL, 0}};

/* Those of the annealing may stand in the file of any selector, so that one file serves a
 * comparison of selectors. */
static const struct config_key protocol_keys[] = {
    CONFIG_OTHER_KEY("kind"),
    CONFIG_OTHER_KEY("selector"),
    CONFIG_OTHER_KEY("users_per_round"),
    CONFIG_REAL_KEY(select_keys, "alpha", false, alpha, NOT_NEGATIVE),
    CONFIG_REAL_KEY(select_keys, "beta", false, beta, {1, 1000, false, false, false}),
    CONFIG_REAL_KEY(select_keys, "gamma", false, gamma, NOT_NEGATIVE),
    CONFIG_REAL_KEY(select_keys, "zeta", false, zeta, POSITIVE),
    CONFIG_REAL_KEY(select_keys, "kappa", false, choice.annealing.kappa, POSITIVE),
    CONFIG_U32_KEY(select_keys, "iterations", false, choice.annealing.iterations, 1,
                   ITERATIONS_MAX),
    CONFIG_FLAG_KEY(select_keys, "sign", false, choice.annealing.sign_as_printed, signs),
    CONFIG_OTHER_KEY("keep"),
    CONFIG_OTHER_KEY("quorum"),
    CONFIG_OTHER_KEY(NULL)};

static void read_protocol(struct config_reader *reader, const struct config_node *root,
                          const struct tacit_config *config, struct select_keys *keys)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct tacit_select_annealing *const annealing = &keys->choice.annealing;
    int keep = KEEP_BEST;
    annealing->kappa = 1;
    annealing->iterations = 500;
    config_reader_table(reader, protocol, "protocol", protocol_keys, keys);
    read_selector(reader, protocol, keys);
    keys->users_per_round = config->agent_count;
    config_reader_u32(reader, protocol, "protocol.users_per_round",
                      keys->choice.selector != TACIT_SELECTOR_ALL, 1, config->agent_count,
                      &keys->users_per_round);
    config_reader_u32(reader, protocol, "protocol.quorum", false, 1, keys->users_per_round,
                      &keys->quorum);
    config_reader_choice(reader, protocol, "protocol.keep", false, keeps, &keep);
    annealing->keep_last = keep == KEEP_LAST;
    annealing->keep_walk = keep == KEEP_WALK;
}

/* ---- environment ---- */

static void read_log_normal(struct config_reader *reader, const struct config_node *environment,
                            struct select_keys *keys)
{
    static const struct config_key table[] = {
        CONFIG_REAL_KEY(select_keys, "median", false, median, POSITIVE),
        CONFIG_REAL_KEY(select_keys, "users", false, median_spread, {0, 10, false, false, false}),
        CONFIG_REAL_KEY(select_keys, "rounds", false, spread, {0, 10, false, false, false}),
        CONFIG_OTHER_KEY(NULL)};
    struct config_node const *const map =
        config_reader_map(reader, environment, "environment.log-normal", false);
    keys->median = 0.5;
    keys->median_spread = 0.5;
    keys->spread = 0.25;
    if (map != NULL)
        config_reader_table(reader, map, "environment.log-normal", table, keys);
}

static void read_environment(struct config_reader *reader, const struct config_node *root,
                             struct select_keys *keys)
{
    static const struct config_choice sources[] = {{"two-groups", TACIT_LATENCY_NORMAL},
                                                   {"log-normal", TACIT_LATENCY_LOG_NORMAL},
                                                   {"trace", TACIT_LATENCY_TRACE},
                                                   {NULL, 0}};
    static const struct config_key table[] = {
        CONFIG_OTHER_KEY("kind"),
        CONFIG_WORD_KEY(select_keys, "source", false, latency, sources),
        CONFIG_REAL_KEY(select_keys, "latency_min", false, latency_min, POSITIVE),
        CONFIG_OTHER_KEY("log-normal"),
        CONFIG_OTHER_KEY("trace"),
        CONFIG_OTHER_KEY(NULL)};
    struct config_node const *const environment = config_node_member(root, "environment");
    keys->latency = TACIT_LATENCY_NORMAL;
    keys->latency_min = 0.05; /* READINGS P5.6 */
    keys->spread = 0.05;
    config_reader_table(reader, environment, "environment", table, keys);
    config_reader_idle(reader, environment, "environment.trace",
                       keys->latency != TACIT_LATENCY_TRACE, "belongs to source: trace");
    config_reader_idle(reader, environment, "environment.log-normal",
                       keys->latency != TACIT_LATENCY_LOG_NORMAL, "belongs to source: log-normal");
    if (keys->latency == TACIT_LATENCY_TRACE)
        config_reader_text(reader, environment, "environment.trace", true, &keys->trace);
    if (keys->latency == TACIT_LATENCY_LOG_NORMAL)
        read_log_normal(reader, environment, keys);
}

/* sizes: balanced, or {dirichlet: 3, rows: 60000}. */
static void read_sizes(struct config_reader *reader, const struct config_node *root,
                       struct select_keys *keys)
{
    static const struct config_key table[] = {
        CONFIG_REAL_KEY(select_keys, "dirichlet", true, dirichlet,
                        {1e-3, 1e6, false, false, false}),
        CONFIG_U64_KEY(select_keys, "rows", false, row_count, 1, UINT64_C(1) << 32),
        CONFIG_OTHER_KEY(NULL)};
    static const struct config_choice words[] = {{"balanced", 0}, {NULL, 0}};
    struct config_node const *const sizes = config_node_member(root, "sizes");
    int word = 0;
    keys->row_count = ROWS_DEFAULT;
    if (sizes == NULL)
        return;
    if (sizes->kind == CONFIG_SCALAR) {
        config_reader_choice(reader, root, "sizes", false, words, &word);
        return;
    }
    if (config_reader_map(reader, root, "sizes", true) == NULL)
        return;
    config_reader_table(reader, sizes, "sizes", table, keys);
}

/* ---- privacy ---- */

static void read_budgets(struct config_reader *reader, const struct config_node *privacy,
                         struct select_keys *keys)
{
    struct config_node const *const list = config_node_member(privacy, "budgets");
    if (list == NULL || list->kind != CONFIG_LIST || list->first == NULL) {
        config_reader_fail(reader, list == NULL ? privacy : list, "privacy.budgets",
                           "a list of epsilons is expected, like [1, 0.5, 0.5]");
        return;
    }
    for (const struct config_node *node = list->first; node != NULL; node = node->next)
        keys->participations++;
    if (keys->participations > TACIT_SELECT_BUDGETS_MAX) {
        config_reader_fail(reader, list, "privacy.budgets", "%u numbers; at most %u are allowed",
                           keys->participations, TACIT_SELECT_BUDGETS_MAX);
        return;
    }
    keys->given =
        config_document_allocate(reader->document, keys->participations * sizeof *keys->given);
    if (keys->given == NULL) {
        reader->status = TACIT_MEMORY;
        return;
    }
    double *next = keys->given;
    for (const struct config_node *node = list->first; node != NULL; node = node->next)
        if (!config_reader_real(reader, node, "privacy.budgets", (struct config_range)POSITIVE,
                                next++))
            return;
}

static void refuse_unless(struct config_reader *reader, const struct config_node *privacy,
                          const char *name, bool is_right, const char *owner)
{
    struct config_node const *const node = config_node_member(privacy, name);
    if (node != NULL && !is_right)
        config_reader_fail(reader, node, "privacy", "'%s' belongs to %s", name, owner);
}

static void read_privacy(struct config_reader *reader, const struct config_node *root,
                         const struct tacit_config *config, struct select_keys *keys)
{
    static const struct config_choice kinds[] = {{"geometric", TACIT_SELECT_GEOMETRIC},
                                                 {"uniform", TACIT_SELECT_UNIFORM},
                                                 {"given", TACIT_SELECT_GIVEN},
                                                 {NULL, 0}};
    struct config_node const *const privacy = config_node_member(root, "privacy");
    bool const is_none = config->privacy == TACIT_PRIVACY_NONE;
    int kind = TACIT_SELECT_GEOMETRIC;
    keys->eta = 0.04; /* READINGS P5.6 */
    refuse_unless(reader, privacy, "budget", !is_none, "mode: paper or sound");
    config_reader_choice(reader, privacy, "privacy.budget", false, kinds, &kind);
    keys->budget = (enum tacit_select_budget_kind)kind;
    refuse_unless(reader, privacy, "eta", !is_none && kind == TACIT_SELECT_GEOMETRIC,
                  "budget: geometric");
    refuse_unless(reader, privacy, "participations", !is_none && kind == TACIT_SELECT_UNIFORM,
                  "budget: uniform");
    refuse_unless(reader, privacy, "budgets", !is_none && kind == TACIT_SELECT_GIVEN,
                  "budget: given");
    config_reader_number(reader, privacy, "privacy.eta", false,
                         (struct config_range){1e-9, TACIT_SELECT_ETA_MAX, false, false, false},
                         &keys->eta);
    if (kind == TACIT_SELECT_UNIFORM)
        config_reader_u32(reader, privacy, "privacy.participations", true, 1, 1000000000u,
                          &keys->participations);
    if (kind == TACIT_SELECT_GIVEN && reader->status == TACIT_OK)
        read_budgets(reader, privacy, keys);
}

void select_read_keys(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config *config)
{
    struct select_keys *const keys = config_reader_memory(reader, sizeof *keys);
    if (keys == NULL)
        return;
    *keys = (struct select_keys){.alpha = 100, .beta = 2, .gamma = 5, .zeta = 1, .quorum = 1};
    config->keys = keys;
    read_protocol(reader, root, config, keys);
    read_environment(reader, root, keys);
    read_sizes(reader, root, keys);
    read_privacy(reader, root, config, keys);
    training_read_keys(reader, root, config, &keys->training);
}
