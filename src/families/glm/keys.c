/* The keys of a federated generalised linear bandit: sections `protocol` and `environment`. */
#include "../../config/reader.h"
#include "plan.h"

#define VALUE_MAX 1e9

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
#define DELTA CONFIG_FROM(1e-9, 0.5)
#define POSITIVE CONFIG_ABOVE(0, VALUE_MAX)

static const struct config_key environment_keys[] = {
    {"kind", NULL, "", .form = "contextual"},
    {"contextual", NULL, "where vectors and rewards come from", .form = "a map"},
    {.name = NULL}};

static const struct config_key contextual_keys[] = {
    {"dimension", NULL, "d",
     CONFIG_TO_U32(glm_keys, model.dimension, 1, TACIT_LINALG_DIMENSION_MAX)},
    {"arms", NULL, "K", CONFIG_TO_U32(glm_keys, arm_count, 2, TACIT_GLM_ARMS_MAX)},
    {"link", "logistic",
     "logistic, probit: rewards 0 and 1; poisson: counts; identity: normal around the mean, "
     "standard deviation noise",
     CONFIG_TO_ENUM(glm_keys, model.link, glm_links)},
    {"source", "sphere",
     "sphere: K fresh unit vectors for each client and slot; pool: K of a fixed pool with a "
     "constant coordinate; ratings, offers: logged decisions",
     .choices = glm_sources},
    {"pool", "1000", "vectors in the pool", CONFIG_TO_U32(glm_keys, pool_count, 2, TACIT_ARMS_MAX)},
    {"ratings", "", "source ratings: who chose what", .form = "a map"},
    {"words", "", "source ratings: texts about items", .form = "a list of maps"},
    {"items", "", "source ratings: vectors of items", .form = "a map"},
    {"offers", "", "source offers: all arms of each decision", .form = "a map"},
    {"folder", "(none)", "sources ratings, offers: before each table's name", .form = "a folder"},
    {"encoding", "utf-8", "sources ratings, offers", .choices = glm_encodings},
    {"standardise", "no",
     "sources ratings, offers: each coordinate to mean 0 and variance 1 over the items",
     .choices = glm_switches},
    {"constant", "no", "sources ratings, offers: the last of the coordinates is 1",
     .choices = glm_switches},
    {.name = NULL}};

static void read_environment(struct config_reader *reader, const struct config_node *root,
                             struct glm_keys *keys)
{
    struct config_node const *const environment = config_node_member(root, "environment");
    config_reader_known(reader, environment, "environment", environment_keys);
    struct config_node const *const contextual =
        config_reader_map(reader, environment, "environment.contextual", true);
    if (contextual == NULL)
        return;
    config_reader_table(reader, contextual, "environment.contextual", contextual_keys, keys);
    if (reader->status == TACIT_OK)
        glm_read_source(reader, contextual, keys);
    if (reader->status != TACIT_OK || keys->source != GLM_SOURCE_POOL)
        return;
    if (keys->model.dimension < 2 || keys->pool_count < keys->arm_count)
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
    enum tacit_glm_variant const variant = keys->model.variant;
    bool const is_triggered =
        !is_sound && (variant == TACIT_GLM_FEDGLB || variant == TACIT_GLM_DISLINUCB);
    bool const is_scheduled = !is_sound && (variant == TACIT_GLM_V1 || variant == TACIT_GLM_V2 ||
                                            variant == TACIT_GLM_V3);
    require_key(reader, protocol, "threshold", is_triggered, "variants fedglb and dislinucb");
    require_key(reader, protocol, "updates", is_scheduled, "variants v1, v2 and v3");
    /* What stands there for others does nothing here. */
    keys->model.threshold = is_triggered ? keys->model.threshold : 0;
    keys->updates = is_scheduled ? keys->updates : 0;
    require_key(reader, protocol, "alpha", keys->model.exploration == TACIT_GLM_CONSTANT,
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
    {"kind", NULL, "", .form = "glm-ucb"},
    {"variant", "fedglb", "refused in mode sound, which is a protocol of its own",
     CONFIG_TO_ENUM(glm_keys, model.variant, variants)},
    {"exploration", "practical",
     "theory: the radius as printed; proof (v3): with R^4 where Lemma 14 prints R^2 of the noise; "
     "practical: .1 of it for fedglb, v2, v3 and n-ons; constant: alpha",
     CONFIG_TO_ENUM(glm_keys, model.exploration, explorations)},
    {"threshold", "(must be given for fedglb, dislinucb)", "D of the event",
     CONFIG_TO_REAL(glm_keys, model.threshold, POSITIVE)},
    {"updates", "(must be given for v1, v2, v3)",
     "B: the fixed schedule has period N floor(T/B) observations, or floor(NT/B) if B > T",
     CONFIG_TO_U64(glm_keys, updates, 1, TACIT_HORIZON_MAX)},
    {"shared", "round", "one-ucb: an update once a round, or at every interaction",
     CONFIG_TO_FLAG(glm_keys, every_pull, shared_words)},
    {"lambda", "2", "the regulariser", CONFIG_TO_REAL(glm_keys, model.lambda, POSITIVE)},
    {"delta", "0.01", "the failure probability",
     CONFIG_TO_REAL(glm_keys, model.delta, CONFIG_FROM(1e-100, 1 - 1e-9))},
    {"norm", "1", "S", CONFIG_TO_REAL(glm_keys, model.norm_bound, CONFIG_ABOVE(0, 10))},
    {"noise", "(of the link)", "R_max", CONFIG_TO_REAL(glm_keys, model.noise_bound, POSITIVE)},
    {"alpha", "(must be given for constant)", "the radius of exploration: constant",
     CONFIG_TO_REAL(glm_keys, model.alpha, CONFIG_FROM(0, VALUE_MAX))},
    {"suboptimality", "(1/n^2)", "eps_t of an update",
     CONFIG_TO_REAL(glm_keys, model.suboptimality, POSITIVE)},
    {"explore", "0", "probability of a uniform arm instead of the best one",
     CONFIG_TO_REAL(glm_keys, model.explore, CONFIG_FROM(0, 1))},
    {"batches", "(T/5)",
     "sound mode: P; with few batches each is released by itself, with many in a binary tree",
     .form = "1 to the horizon"},
    {"clock", "slots",
     "what the event multiplies with: slots since the last update, or the client's own rewards "
     "since then, which the authors count",
     CONFIG_TO_ENUM(glm_keys, model.clock, clocks)},
    {"descent", "printed",
     "Alg. 3: printed, with the step 1/(k_mu max||x||^2 + lambda/n); authors: what they ran, a "
     "tenth of 1/(k_mu + lambda/n), and momentum that grows half as fast",
     CONFIG_TO_ENUM(glm_keys, model.descent, descents)},
    {"start", "last", "Alg. 3 begins at the last model, or at zero",
     CONFIG_TO_ENUM(glm_keys, model.start, starts)},
    {"rounds", "(no limit)",
     "an update ends after so many rounds; without it, one that needs more than 10,000 is an error",
     CONFIG_TO_U32(glm_keys, model.rounds, 1, TACIT_GLM_ROUNDS_MAX)},
    {.name = NULL}};

static const struct config_key privacy_keys[] = {
    {"delta", "(must be given in mode sound)",
     "with epsilon it protects one interaction, context and reward together", .range = DELTA},
    {.name = NULL}};

const struct config_section glm_sections[] = {
    {"protocol", protocol_keys},
    {"environment", environment_keys},
    {"environment.contextual", contextual_keys},
    {"environment.contextual.ratings", glm_rating_keys},
    {"environment.contextual.words.N", glm_word_keys},
    {"environment.contextual.words.N.names", glm_name_keys},
    {"environment.contextual.items", glm_item_keys},
    {"environment.contextual.offers", glm_offer_keys},
    {"privacy", privacy_keys},
    {NULL, NULL}};

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
    config_reader_number(reader, privacy, "privacy.delta", true, (struct config_range)DELTA,
                         &keys->privacy_delta);
    config_reader_u64(reader, protocol, "protocol.batches", false, 1, config->horizon,
                      &keys->batches);
}

void glm_read_keys(struct config_reader *reader, const struct config_node *root,
                   struct tacit_config *config)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct glm_keys *const keys = config->keys;
    keys->model.alpha = 1; /* of the variants that have no constant one */
    config_reader_table(reader, protocol, "protocol", protocol_keys, keys);
    config_reader_idle(
        reader, protocol, "protocol.exploration",
        keys->model.exploration == TACIT_GLM_PROOF &&
            (keys->model.variant != TACIT_GLM_V3 || config->privacy == TACIT_PRIVACY_SOUND),
        "proof differs from theory for variant: v3 only; allowed: theory, practical, constant");
    if (reader->status == TACIT_OK)
        require_keys(reader, protocol, config->privacy == TACIT_PRIVACY_SOUND, keys);
    read_sound(reader, root, protocol, config, keys);
    read_environment(reader, root, keys);
}

struct tacit_glm_model glm_model_of(const struct tacit_glm_model *given, uint32_t client_count,
                                    uint64_t horizon)
{
    struct tacit_glm_model const usual =
        tacit_glm_model_init(given->variant, given->link, client_count, given->dimension, horizon);
    struct tacit_glm_model model = *given;
    model.client_count = client_count;
    model.horizon = horizon;
    model.period = usual.period;
    model.threshold = given->threshold > 0 ? given->threshold : usual.threshold;
    model.context_bound = usual.context_bound;
    tacit_glm_link_constants(&model);
    if (given->noise_bound > 0)
        model.noise_bound = given->noise_bound;
    return model;
}
