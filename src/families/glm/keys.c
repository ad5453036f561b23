/* The keys of a federated generalised linear bandit: sections `protocol` and `environment`. */
#include "../../config/reader.h"
#include "plan.h"

#define VALUE_MAX 1e9
#define POOL_COUNT 1000u

static const struct config_choice variants[] = {
    {"fedglb", TACIT_GLM_FEDGLB},   {"v1", TACIT_GLM_V1},
    {"v2", TACIT_GLM_V2},           {"v3", TACIT_GLM_V3},
    {"one-ucb", TACIT_GLM_ONE_UCB}, {"n-ucb", TACIT_GLM_N_UCB},
    {"n-ons", TACIT_GLM_N_ONS},     {"dislinucb", TACIT_GLM_DISLINUCB},
    {"random", TACIT_GLM_RANDOM},   {NULL, 0}};
const struct config_choice glm_explorations[] = {{"theory", TACIT_GLM_THEORY},
                                                 {"practical", TACIT_GLM_PRACTICAL},
                                                 {"constant", TACIT_GLM_CONSTANT},
                                                 {NULL, 0}};
static const struct config_choice explorations[] = {{"theory", TACIT_GLM_THEORY},
                                                    {"practical", TACIT_GLM_PRACTICAL},
                                                    {"constant", TACIT_GLM_CONSTANT},
                                                    {"proof", TACIT_GLM_PROOF},
                                                    {NULL, 0}};
const struct config_choice glm_links[] = {{"logistic", TACIT_LINALG_LOGISTIC},
                                          {"probit", TACIT_LINALG_PROBIT},
                                          {"poisson", TACIT_LINALG_POISSON},
                                          {"identity", TACIT_LINALG_IDENTITY},
                                          {NULL, 0}};
#define POSITIVE                                                                                   \
    {                                                                                              \
        0, VALUE_MAX, true, false, false                                                           \
    }

static void read_environment(struct config_reader *reader, const struct config_node *root,
                             struct glm_keys *keys)
{
    static const char *const outer[] = {"kind", "contextual", NULL};
    static const struct config_key table[] = {
        CONFIG_U32_KEY(glm_keys, "dimension", true, dimension, 1, TACIT_LINALG_DIMENSION_MAX),
        CONFIG_U32_KEY(glm_keys, "arms", true, arm_count, 2, TACIT_GLM_ARMS_MAX),
        CONFIG_WORD_KEY(glm_keys, "link", false, link, glm_links),
        CONFIG_OTHER_KEY("source"),
        CONFIG_OTHER_KEY("pool"),
        CONFIG_OTHER_KEY("ratings"),
        CONFIG_OTHER_KEY("words"),
        CONFIG_OTHER_KEY("items"),
        CONFIG_OTHER_KEY("offers"),
        CONFIG_OTHER_KEY("folder"),
        CONFIG_OTHER_KEY("encoding"),
        CONFIG_OTHER_KEY("standardise"),
        CONFIG_OTHER_KEY("constant"),
        CONFIG_OTHER_KEY(NULL)};
    struct config_node const *const environment = config_node_member(root, "environment");
    config_reader_keys(reader, environment, "environment", outer);
    struct config_node const *const contextual =
        config_reader_map(reader, environment, "environment.contextual", true);
    if (contextual == NULL)
        return;
    keys->link = TACIT_LINALG_LOGISTIC;
    keys->pool_count = POOL_COUNT;
    config_reader_table(reader, contextual, "environment.contextual", table, keys);
    if (reader->status == TACIT_OK)
        glm_read_source(reader, contextual, keys);
    config_reader_u32(reader, contextual, "environment.contextual.pool", false, 2, TACIT_ARMS_MAX,
                      &keys->pool_count);
    if (reader->status != TACIT_OK || keys->source != GLM_SOURCE_POOL)
        return;
    if (keys->dimension < 2 || keys->pool_count < keys->arm_count)
        config_reader_fail(reader, contextual, "environment.contextual",
                           "a pool needs dimension 2 or more (one coordinate is constant), and at "
                           "least as many vectors as there are arms");
}

/* A key that is needed must be there. Those of the other variants may be there, too, so that one
 * file serves a comparison of variants. */
static void require_key(struct config_reader *reader, const struct config_node *protocol,
                        const char *key, bool is_needed, const char *owners)
{
    char name[64];
    (void)snprintf(name, sizeof name, "protocol.%s", key);
    if (is_needed && config_node_member(protocol, key) == NULL)
        config_reader_fail(reader, protocol, name, "is missing; it belongs to %s", owners);
}

static void require_keys(struct config_reader *reader, const struct config_node *protocol,
                         bool is_sound, struct glm_keys *keys)
{
    enum tacit_glm_variant const variant = keys->variant;
    bool const is_triggered =
        !is_sound && (variant == TACIT_GLM_FEDGLB || variant == TACIT_GLM_DISLINUCB);
    bool const is_scheduled = !is_sound && (variant == TACIT_GLM_V1 || variant == TACIT_GLM_V2 ||
                                            variant == TACIT_GLM_V3);
    require_key(reader, protocol, "threshold", is_triggered, "variants fedglb and dislinucb");
    require_key(reader, protocol, "updates", is_scheduled, "variants v1, v2 and v3");
    /* What stands there for others does nothing here. */
    keys->threshold = is_triggered ? keys->threshold : 0;
    keys->updates = is_scheduled ? keys->updates : 0;
    require_key(reader, protocol, "alpha", keys->exploration == TACIT_GLM_CONSTANT,
                "exploration: constant");
}

static const struct config_choice shared_words[] = {{"round", 0}, {"interaction", 1}, {NULL, 0}};
static const struct config_choice clocks[] = {
    {"slots", TACIT_GLM_SLOTS}, {"rewards", TACIT_GLM_COUNTS}, {NULL, 0}};
static const struct config_choice starts[] = {
    {"last", TACIT_GLM_START_LAST}, {"zero", TACIT_GLM_START_ZERO}, {NULL, 0}};
static const struct config_choice descents[] = {
    {"printed", TACIT_GLM_PRINTED}, {"authors", TACIT_GLM_AUTHORS}, {NULL, 0}};

static const struct config_key protocol_keys[] = {
    CONFIG_OTHER_KEY("kind"),
    CONFIG_WORD_KEY(glm_keys, "variant", false, variant, variants),
    CONFIG_WORD_KEY(glm_keys, "exploration", false, exploration, explorations),
    CONFIG_REAL_KEY(glm_keys, "threshold", false, threshold, POSITIVE),
    CONFIG_U64_KEY(glm_keys, "updates", false, updates, 1, TACIT_HORIZON_MAX),
    CONFIG_FLAG_KEY(glm_keys, "shared", false, every_pull, shared_words),
    CONFIG_REAL_KEY(glm_keys, "lambda", false, lambda, POSITIVE),
    CONFIG_REAL_KEY(glm_keys, "delta", false, delta, {0, 1 - 1e-9, true, false, false}),
    CONFIG_REAL_KEY(glm_keys, "norm", false, norm_bound, {0, 10, true, false, false}),
    CONFIG_REAL_KEY(glm_keys, "noise", false, noise_bound, POSITIVE),
    CONFIG_REAL_KEY(glm_keys, "alpha", false, alpha, {0, VALUE_MAX, false, false, false}),
    CONFIG_REAL_KEY(glm_keys, "suboptimality", false, suboptimality, POSITIVE),
    CONFIG_REAL_KEY(glm_keys, "explore", false, explore, {0, 1, false, false, false}),
    CONFIG_OTHER_KEY("batches"),
    CONFIG_WORD_KEY(glm_keys, "clock", false, clock, clocks),
    CONFIG_WORD_KEY(glm_keys, "descent", false, descent, descents),
    CONFIG_WORD_KEY(glm_keys, "start", false, start, starts),
    CONFIG_U32_KEY(glm_keys, "rounds", false, rounds, 1, TACIT_GLM_ROUNDS_MAX),
    CONFIG_OTHER_KEY(NULL)};

/* A mode of its own, with none of the paper's variants. */
static void read_sound(struct config_reader *reader, const struct config_node *root,
                       const struct config_node *protocol, const struct tacit_config *config,
                       struct glm_keys *keys)
{
    struct config_node const *const privacy = config_node_member(root, "privacy");
    bool const is_sound = config->privacy == TACIT_PRIVACY_SOUND;
    if (privacy != NULL)
        config_reader_idle(reader, privacy, "privacy.delta", !is_sound, "belongs to mode: sound");
    config_reader_idle(reader, protocol, "protocol.batches", !is_sound,
                       "belongs to privacy.mode: sound");
    if (!is_sound)
        return;
    config_reader_idle(reader, protocol, "protocol.variant", true,
                       "the variants are not private; privacy.mode: sound is a protocol of its "
                       "own, without this key");
    config_reader_number(reader, privacy, "privacy.delta", true,
                         (struct config_range){1e-9, 0.5, false, false, false},
                         &keys->privacy_delta);
    config_reader_u64(reader, protocol, "protocol.batches", false, 1, config->horizon,
                      &keys->batches);
}

void glm_read_keys(struct config_reader *reader, const struct config_node *root,
                   struct tacit_config *config)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct glm_keys *const keys = config_reader_memory(reader, sizeof *keys);
    if (keys == NULL)
        return;
    *keys = (struct glm_keys){.variant = TACIT_GLM_FEDGLB,
                              .exploration = TACIT_GLM_PRACTICAL,
                              .clock = TACIT_GLM_SLOTS,
                              .descent = TACIT_GLM_PRINTED,
                              .start = TACIT_GLM_START_LAST,
                              .lambda = 2,
                              .delta = 0.01,
                              .norm_bound = 1,
                              .alpha = 1};
    config->keys = keys;
    config_reader_table(reader, protocol, "protocol", protocol_keys, keys);
    config_reader_idle(
        reader, protocol, "protocol.exploration",
        keys->exploration == TACIT_GLM_PROOF &&
            (keys->variant != TACIT_GLM_V3 || config->privacy == TACIT_PRIVACY_SOUND),
        "proof differs from theory for variant: v3 only; allowed: theory, practical, constant");
    if (reader->status == TACIT_OK)
        require_keys(reader, protocol, config->privacy == TACIT_PRIVACY_SOUND, keys);
    read_sound(reader, root, protocol, config, keys);
    read_environment(reader, root, keys);
}
