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
static const struct config_range positive = {0, VALUE_MAX, true, false, false};
static const struct config_range share = {0, 1, false, false, false};

static void read_environment(struct config_reader *reader, const struct config_node *root,
                             struct glm_keys *keys)
{
    static const char *const outer[] = {"kind", "contextual", NULL};
    static const char *const names[] = {"dimension", "arms",        "link",     "source", "pool",
                                        "ratings",   "words",       "items",    "offers", "folder",
                                        "encoding",  "standardise", "constant", NULL};
    struct config_node const *const environment = config_node_member(root, "environment");
    config_reader_keys(reader, environment, "environment", outer);
    struct config_node const *const contextual =
        config_reader_map(reader, environment, "environment.contextual", true);
    if (contextual == NULL)
        return;
    int link = TACIT_LINALG_LOGISTIC;
    config_reader_keys(reader, contextual, "environment.contextual", names);
    config_reader_u32(reader, contextual, "environment.contextual.dimension", true, 1,
                      TACIT_LINALG_DIMENSION_MAX, &keys->dimension);
    config_reader_u32(reader, contextual, "environment.contextual.arms", true, 2,
                      TACIT_GLM_ARMS_MAX, &keys->arm_count);
    config_reader_choice(reader, contextual, "environment.contextual.link", false, glm_links,
                         &link);
    keys->link = (enum tacit_linalg_link)link;
    if (reader->status == TACIT_OK)
        glm_read_source(reader, contextual, keys);
    keys->pool_count = POOL_COUNT;
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

static void read_numbers(struct config_reader *reader, const struct config_node *protocol,
                         struct glm_keys *keys)
{
    struct config_range const below_one = {0, 1 - 1e-9, true, false, false};
    config_reader_number(reader, protocol, "protocol.threshold", false, positive, &keys->threshold);
    config_reader_u64(reader, protocol, "protocol.updates", false, 1, TACIT_HORIZON_MAX,
                      &keys->updates);
    config_reader_number(reader, protocol, "protocol.lambda", false, positive, &keys->lambda);
    config_reader_number(reader, protocol, "protocol.delta", false, below_one, &keys->delta);
    config_reader_number(reader, protocol, "protocol.norm", false,
                         (struct config_range){0, 10, true, false, false}, &keys->norm_bound);
    config_reader_number(reader, protocol, "protocol.noise", false, positive, &keys->noise_bound);
    config_reader_number(reader, protocol, "protocol.alpha", false,
                         (struct config_range){0, VALUE_MAX, false, false, false}, &keys->alpha);
    config_reader_number(reader, protocol, "protocol.suboptimality", false, positive,
                         &keys->suboptimality);
    config_reader_number(reader, protocol, "protocol.explore", false, share, &keys->explore);
}

/* When an update is due, and how it optimises. */
static void read_updates(struct config_reader *reader, const struct config_node *protocol,
                         struct glm_keys *keys)
{
    static const struct config_choice clocks[] = {
        {"slots", TACIT_GLM_SLOTS}, {"rewards", TACIT_GLM_COUNTS}, {NULL, 0}};
    static const struct config_choice starts[] = {
        {"last", TACIT_GLM_START_LAST}, {"zero", TACIT_GLM_START_ZERO}, {NULL, 0}};
    static const struct config_choice descents[] = {
        {"printed", TACIT_GLM_PRINTED}, {"authors", TACIT_GLM_AUTHORS}, {NULL, 0}};
    int clock = TACIT_GLM_SLOTS;
    int descent = TACIT_GLM_PRINTED;
    int start = TACIT_GLM_START_LAST;
    config_reader_choice(reader, protocol, "protocol.clock", false, clocks, &clock);
    config_reader_choice(reader, protocol, "protocol.start", false, starts, &start);
    config_reader_choice(reader, protocol, "protocol.descent", false, descents, &descent);
    config_reader_u32(reader, protocol, "protocol.rounds", false, 1, TACIT_GLM_ROUNDS_MAX,
                      &keys->rounds);
    keys->clock = (enum tacit_glm_clock)clock;
    keys->descent = (enum tacit_glm_descent)descent;
    keys->start = (enum tacit_glm_start)start;
}

/* A mode of its own, with none of the paper's variants. */
static void read_sound(struct config_reader *reader, const struct config_node *root,
                       const struct config_node *protocol, const struct tacit_config *config,
                       struct glm_keys *keys)
{
    struct config_node const *const privacy = config_node_member(root, "privacy");
    struct config_node const *const delta =
        privacy == NULL ? NULL : config_node_member(privacy, "delta");
    struct config_node const *const batches = config_node_member(protocol, "batches");
    struct config_node const *const variant = config_node_member(protocol, "variant");
    bool const is_sound = config->privacy == TACIT_PRIVACY_SOUND;
    if (!is_sound && delta != NULL)
        config_reader_fail(reader, delta, "privacy.delta", "belongs to mode: sound");
    if (!is_sound && batches != NULL)
        config_reader_fail(reader, batches, "protocol.batches", "belongs to privacy.mode: sound");
    if (!is_sound)
        return;
    if (variant != NULL)
        config_reader_fail(reader, variant, "protocol.variant",
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
    static const char *const names[] = {"kind",    "variant", "exploration", "threshold",
                                        "updates", "shared",  "lambda",      "delta",
                                        "norm",    "noise",   "alpha",       "suboptimality",
                                        "explore", "batches", "clock",       "descent",
                                        "start",   "rounds",  NULL};
    static const struct config_choice shared[] = {{"round", 0}, {"interaction", 1}, {NULL, 0}};
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct glm_keys *const keys = config_document_allocate(reader->document, sizeof *keys);
    int variant = TACIT_GLM_FEDGLB;
    int exploration = TACIT_GLM_PRACTICAL;
    int every_pull = 0;
    if (keys == NULL) {
        reader->status = TACIT_MEMORY;
        return;
    }
    *keys = (struct glm_keys){.lambda = 2, .delta = 0.01, .norm_bound = 1, .alpha = 1};
    config->keys = keys;
    config_reader_keys(reader, protocol, "protocol", names);
    config_reader_choice(reader, protocol, "protocol.variant", false, variants, &variant);
    config_reader_choice(reader, protocol, "protocol.exploration", false, explorations,
                         &exploration);
    if (exploration == TACIT_GLM_PROOF &&
        (variant != TACIT_GLM_V3 || config->privacy == TACIT_PRIVACY_SOUND))
        config_reader_fail(reader, config_node_member(protocol, "exploration"),
                           "protocol.exploration",
                           "proof differs from theory for variant: v3 only; allowed: theory, "
                           "practical, constant");
    config_reader_choice(reader, protocol, "protocol.shared", false, shared, &every_pull);
    keys->variant = (enum tacit_glm_variant)variant;
    keys->exploration = (enum tacit_glm_exploration)exploration;
    keys->every_pull = every_pull == 1;
    read_numbers(reader, protocol, keys);
    read_updates(reader, protocol, keys);
    if (reader->status == TACIT_OK)
        require_keys(reader, protocol, config->privacy == TACIT_PRIVACY_SOUND, keys);
    read_sound(reader, root, protocol, config, keys);
    read_environment(reader, root, keys);
}
