/* The keys of user selection: `protocol`, `environment` {kind: latency}, `sizes`, and those of
 * `privacy` that say what a participation costs. */
#include <math.h>
#include <string.h>
#include "../../config/reader.h"
#include "select.h"

#define VALUE_MAX 1e9
#define ROWS_DEFAULT 60000u
#define ITERATIONS_MAX 10000000u

#define POSITIVE CONFIG_ABOVE(0, VALUE_MAX)
#define NOT_NEGATIVE CONFIG_FROM(0, VALUE_MAX)

/* ---- protocol ---- */

#define VANILLA 100 /* the annealing, too */
static const struct config_choice selectors[] = {{"exact", TACIT_SELECTOR_EXACT},
                                                 {"brute", TACIT_SELECTOR_BRUTE},
                                                 {"sa", TACIT_SELECTOR_ANNEALING},
                                                 {"vanilla-sa", VANILLA},
                                                 {"genie", TACIT_SELECTOR_GENIE},
                                                 {"random", TACIT_SELECTOR_RANDOM},
                                                 {"clustered", TACIT_SELECTOR_CLUSTERED},
                                                 {"fastest", TACIT_SELECTOR_FASTEST},
                                                 {"all", TACIT_SELECTOR_ALL},
                                                 {NULL, 0}};

enum { KEEP_BEST, KEEP_LAST, KEEP_WALK };
static const struct config_choice signs[] = {{"right", 0}, {"printed", 1}, {NULL, 0}};
static const struct config_choice keeps[] = {
    {"best", KEEP_BEST}, {"last", KEEP_LAST}, {"walk", KEEP_WALK}, {NULL, 0}};

/* Those of the annealing may stand in the file of any selector, so that one file serves a
 * comparison of selectors. */
static const struct config_key protocol_keys[] = {
    {"kind", NULL, "", .form = "select"},
    {"selector", "exact",
     "who trains next. exact: the best set of Eq. (14); brute: the same by trying all, up to 1e8 "
     "sets; sa, vanilla-sa: the annealings; genie: Eq. (10), by the true means; clustered: by data "
     "sizes, one draw an urn; fastest: in expectation",
     .choices = selectors},
    {"users_per_round", "(must be given, but for all)", "m", .form = "1 to agents"},
    {"alpha", "100", "weight of generalisation",
     CONFIG_TO_REAL(select_keys, config.alpha, NOT_NEGATIVE)},
    {"beta", "2", "its exponent", CONFIG_TO_REAL(select_keys, config.beta, CONFIG_FROM(1, 1000))},
    {"gamma", "5", "weight of privacy", CONFIG_TO_REAL(select_keys, config.gamma, NOT_NEGATIVE)},
    {"zeta", "1", "factor on the observed mean in Eq. (13); the paper's large network: 3",
     CONFIG_TO_REAL(select_keys, config.zeta, POSITIVE)},
    {"kappa", "1", "annealings: divisor of the temperature",
     CONFIG_TO_REAL(select_keys, choice.annealing.kappa, POSITIVE)},
    {"iterations", "500", "annealings: steps a round",
     CONFIG_TO_U32(select_keys, choice.annealing.iterations, 1, ITERATIONS_MAX)},
    {"sign", "right", "annealings: printed accepts every neighbour (Alg. 2 line 12)",
     CONFIG_TO_FLAG(select_keys, choice.annealing.sign_as_printed, signs)},
    {"keep", "best",
     "annealings: last keeps the last improvement (line 7), walk what the walk ends at (V_j of "
     "Theorem 4)",
     .choices = keeps},
    {"quorum", "1", "with fewer users that have budget the run ends, as exhausted",
     .form = "1 to users_per_round"},
    {.name = NULL}};

static void read_protocol(struct config_reader *reader, const struct config_node *root,
                          const struct tacit_config *config, struct select_keys *keys)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct tacit_select_annealing *const annealing = &keys->choice.annealing;
    int keep = KEEP_BEST;
    int selector = TACIT_SELECTOR_EXACT;
    config_reader_table(reader, protocol, "protocol", protocol_keys, keys);
    config_reader_choice(reader, protocol, "protocol.selector", false, selectors, &selector);
    annealing->is_vanilla = selector == VANILLA;
    keys->choice.selector =
        annealing->is_vanilla ? TACIT_SELECTOR_ANNEALING : (enum tacit_selector)selector;
    keys->config.users_per_round = config->agent_count;
    config_reader_u32(reader, protocol, "protocol.users_per_round",
                      keys->choice.selector != TACIT_SELECTOR_ALL, 1, config->agent_count,
                      &keys->config.users_per_round);
    config_reader_u32(reader, protocol, "protocol.quorum", false, 1, keys->config.users_per_round,
                      &keys->quorum);
    config_reader_choice(reader, protocol, "protocol.keep", false, keeps, &keep);
    annealing->keep_last = keep == KEEP_LAST;
    annealing->keep_walk = keep == KEEP_WALK;
}

/* ---- environment ---- */

#define SPREAD CONFIG_FROM(0, 10)
static const struct config_key log_normal_keys[] = {
    {"median", "0.5", "of all latencies", CONFIG_TO_REAL(select_keys, median, POSITIVE)},
    {"users", "0.5", "spread over users, of the logarithm",
     CONFIG_TO_REAL(select_keys, median_spread, SPREAD)},
    {"rounds", "0.25", "spread over rounds, of the logarithm",
     CONFIG_TO_REAL(select_keys, spread, SPREAD)},
    {.name = NULL}};
static const struct config_choice sources[] = {{"two-groups", TACIT_LATENCY_NORMAL},
                                               {"log-normal", TACIT_LATENCY_LOG_NORMAL},
                                               {"trace", TACIT_LATENCY_TRACE},
                                               {NULL, 0}};
static const struct config_key environment_keys[] = {
    {"kind", NULL, "", .form = "latency"},
    {"source", "two-groups",
     "two-groups: a fast and a slow half, normal around each user's mean; trace: as measured",
     CONFIG_TO_ENUM(select_keys, latency, sources)},
    {"latency_min", "0.05", "tau_min; shorter latencies count as this one",
     CONFIG_TO_REAL(select_keys, config.latency_min, POSITIVE)}, /* READINGS P5.6 */
    {"log-normal", "", "source: log-normal", .form = "a map"},
    {"trace", "", "source: trace; a column a user, each round takes a row at random",
     .form = "a CSV file without a header"},
    {.name = NULL}};

static void read_log_normal(struct config_reader *reader, const struct config_node *environment,
                            struct select_keys *keys)
{
    struct config_node const *const map =
        config_reader_map(reader, environment, "environment.log-normal", false);
    config_reader_table(reader, map, "environment.log-normal", log_normal_keys, keys);
}

static void read_environment(struct config_reader *reader, const struct config_node *root,
                             struct select_keys *keys)
{
    struct config_node const *const environment = config_node_member(root, "environment");
    keys->spread = 0.05; /* READINGS P5.6 */
    config_reader_table(reader, environment, "environment", environment_keys, keys);
    config_reader_idle(reader, environment, "environment.trace",
                       keys->latency != TACIT_LATENCY_TRACE, "belongs to source: trace");
    config_reader_idle(reader, environment, "environment.log-normal",
                       keys->latency != TACIT_LATENCY_LOG_NORMAL, "belongs to source: log-normal");
    if (keys->latency == TACIT_LATENCY_TRACE)
        config_reader_text(reader, environment, "environment.trace", true, &keys->trace);
    if (keys->latency == TACIT_LATENCY_LOG_NORMAL)
        read_log_normal(reader, environment, keys);
}

static const struct config_key size_keys[] = {
    {"dirichlet", NULL, "the parameter; each user has at least 20 rows",
     CONFIG_TO_REAL(select_keys, dirichlet, CONFIG_FROM(1e-3, 1e6))},
    {"rows", "60000", "of all users", CONFIG_TO_U64(select_keys, row_count, 1, UINT64_C(1) << 32)},
    {.name = NULL}};

/* sizes: balanced, or {dirichlet: 3, rows: 60000}. */
static void read_sizes(struct config_reader *reader, const struct config_node *root,
                       struct select_keys *keys)
{
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
    config_reader_table(reader, sizes, "sizes", size_keys, keys);
}

/* ---- privacy ---- */

static const struct config_choice budgets[] = {{"geometric", TACIT_SELECT_GEOMETRIC},
                                               {"uniform", TACIT_SELECT_UNIFORM},
                                               {"given", TACIT_SELECT_GIVEN},
                                               {NULL, 0}};
#define ETA CONFIG_FROM(1e-9, TACIT_SELECT_ETA_MAX)
static const struct config_key privacy_keys[] = {
    {"eta", "0.04", "budget: geometric",
     CONFIG_TO_REAL(select_keys, config.budget.eta, ETA)}, /* READINGS P5.6 */
    {"budget", "geometric",
     "what the i-th participation costs. geometric: epsilon (e^eta - 1) e^(-eta i)",
     CONFIG_TO_ENUM(select_keys, config.budget.kind, budgets)},
    {"participations", "(must be given for uniform)", "epsilon is spread over so many",
     .form = "a number from 1"},
    {"budgets", "(must be given for given)", "together at most epsilon",
     .form = "a list of numbers"},
    {.name = NULL}};

static const struct config_key root_keys[] = {
    {"sizes", "balanced", "how many rows each user has", .form = "balanced or a map"},
    {"labels", "iid",
     "dominant: user k has label k mod classes for a quarter of its pictures, the others are "
     "uniform over the other labels as long as there are pictures of them; no picture twice",
     .choices = training_labels},
    {"training", "", "trains a model along; the data must be in a data directory", .form = "a map"},
    {.name = NULL}};

const struct config_section select_sections[] = {{"", root_keys},
                                                 {"protocol", protocol_keys},
                                                 {"environment", environment_keys},
                                                 {"environment.log-normal", log_normal_keys},
                                                 {"sizes", size_keys},
                                                 {"training", training_key_table},
                                                 {"training.frozen", training_frozen_keys},
                                                 {"privacy", privacy_keys},
                                                 {NULL, NULL}};

static void read_budgets(struct config_reader *reader, const struct config_node *privacy,
                         struct select_keys *keys)
{
    struct config_node const *const list = config_node_member(privacy, "budgets");
    uint32_t count = 0;
    if (list == NULL || list->kind != CONFIG_LIST || list->first == NULL) {
        config_reader_fail(reader, list == NULL ? privacy : list, "privacy.budgets",
                           "a list of epsilons is expected, like [1, 0.5, 0.5]");
        return;
    }
    for (const struct config_node *node = list->first; node != NULL; node = node->next)
        count++;
    if (count > TACIT_SELECT_BUDGETS_MAX) {
        config_reader_fail(reader, list, "privacy.budgets", "%u numbers; at most %u are allowed",
                           count, TACIT_SELECT_BUDGETS_MAX);
        return;
    }
    double *next = config_reader_memory(reader, count * sizeof *next);
    keys->config.budget.participations = count;
    keys->config.budget.given = next;
    for (const struct config_node *node = list->first; node != NULL && next != NULL;
         node = node->next)
        if (!config_reader_real(reader, node, "privacy.budgets", (struct config_range)POSITIVE,
                                next++))
            return;
}

static void read_privacy(struct config_reader *reader, const struct config_node *root,
                         const struct tacit_config *config, struct select_keys *keys)
{
    struct config_node const *const privacy = config_node_member(root, "privacy");
    bool const is_none = config->privacy == TACIT_PRIVACY_NONE;
    config_reader_values(reader, privacy, "privacy", privacy_keys, keys);
    config_reader_idle(reader, privacy, "privacy.budget", is_none,
                       "belongs to mode: paper or sound");
    config_reader_idle(reader, privacy, "privacy.eta",
                       is_none || keys->config.budget.kind != TACIT_SELECT_GEOMETRIC,
                       "belongs to budget: geometric");
    config_reader_idle(reader, privacy, "privacy.participations",
                       is_none || keys->config.budget.kind != TACIT_SELECT_UNIFORM,
                       "belongs to budget: uniform");
    config_reader_idle(reader, privacy, "privacy.budgets",
                       is_none || keys->config.budget.kind != TACIT_SELECT_GIVEN,
                       "belongs to budget: given");
    if (keys->config.budget.kind == TACIT_SELECT_UNIFORM)
        config_reader_u32(reader, privacy, "privacy.participations", true, 1, 1000000000u,
                          &keys->config.budget.participations);
    if (keys->config.budget.kind == TACIT_SELECT_GIVEN && reader->status == TACIT_OK)
        read_budgets(reader, privacy, keys);
}

void select_read_keys(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config *config)
{
    struct select_keys *const keys = config->keys;
    keys->quorum = 1;
    read_protocol(reader, root, config, keys);
    read_environment(reader, root, keys);
    read_sizes(reader, root, keys);
    read_privacy(reader, root, config, keys);
    training_read_keys(reader, root, config, &keys->training);
}
