/* From the files of coordinator and site to what a live run of a generalised linear bandit needs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../config/reader.h"
#include "../live_family.h"
#include "live.h"
#include "plan.h"

static const char *const glm_run_keys[] = {
    "features", "variant", "link",    "threshold",   "lambda",        "delta", "norm",
    "noise",    "alpha",   "explore", "exploration", "suboptimality", NULL};
static const char *const glm_policy_keys[] = {"privacy", "features", NULL};

/* A list of 1 to 64 names of coordinates. */
static const char *const *read_features(struct config_reader *reader, const struct config_node *map,
                                        const char *key, uint32_t *count)
{
    struct config_node const *const list = config_node_member(map, "features");
    if (reader->status != TACIT_OK)
        return NULL;
    *count = 0;
    if (list != NULL && list->kind == CONFIG_LIST)
        for (const struct config_node *node = list->first; node != NULL; node = node->next)
            ++*count;
    if (*count == 0 || *count > TACIT_LINALG_DIMENSION_MAX) {
        config_reader_fail(reader, list == NULL ? map : list, key,
                           "a list of 1 to %u names is expected, of the coordinates of a context, "
                           "like [age, dose]",
                           TACIT_LINALG_DIMENSION_MAX);
        return NULL;
    }
    const char **const names = config_document_allocate(reader->document, *count * sizeof *names);
    if (names == NULL) {
        reader->status = TACIT_MEMORY;
        return NULL;
    }
    const char **name = names;
    for (const struct config_node *node = list->first; node != NULL; node = node->next, name++) {
        if (node->kind != CONFIG_SCALAR || !tacit_wire_is_arm_name(node->text))
            config_reader_fail(reader, node, key,
                               "a name of 1 to 64 characters is expected, without control "
                               "characters");
        *name = node->kind == CONFIG_SCALAR ? node->text : "";
        for (const char *const *other = names; other < name; other++)
            if (reader->status == TACIT_OK && strcmp(*other, *name) == 0)
                config_reader_fail(reader, node, key,
                                   "'%s' stands there twice; allowed: each name once", *name);
    }
    return names;
}

/* ---- The coordinator ---- */

/* In live runs nobody has common slots, so no schedule is common: those with a trigger. */
static const struct config_choice variants[] = {
    {"fedglb", TACIT_GLM_FEDGLB}, {"dislinucb", TACIT_GLM_DISLINUCB}, {NULL, 0}};

static void read_numbers(struct config_reader *reader, const struct config_node *run,
                         struct tacit_glm_model *model)
{
    struct config_range const positive = {0, 1e9, true, false, false};
    struct config_range const below_one = {0, 1 - 1e-9, true, false, false};
    struct config_range const share = {0, 1, false, false, false};
    model->threshold = 1;
    config_reader_number(reader, run, "run.norm", false,
                         (struct config_range){0, 10, true, false, false}, &model->norm_bound);
    tacit_glm_link_constants(model);
    config_reader_number(reader, run, "run.threshold", true, positive, &model->threshold);
    config_reader_number(reader, run, "run.lambda", false, positive, &model->lambda);
    config_reader_number(reader, run, "run.delta", false, below_one, &model->delta);
    config_reader_number(reader, run, "run.noise", false, positive, &model->noise_bound);
    config_reader_number(reader, run, "run.alpha", model->exploration == TACIT_GLM_CONSTANT,
                         (struct config_range){0, 1e9, false, false, false}, &model->alpha);
    config_reader_number(reader, run, "run.suboptimality", false, positive, &model->suboptimality);
    config_reader_number(reader, run, "run.explore", false, share, &model->explore);
}

static void glm_read_run(struct config_reader *reader, const struct config_node *root,
                         struct tacit_config_coordinator *coordinator)
{
    struct config_node const *const run = config_node_member(root, "run");
    struct glm_hub_settings *const keys = config_reader_memory(reader, sizeof *keys);
    int variant = TACIT_GLM_FEDGLB;
    int link = TACIT_LINALG_LOGISTIC;
    int exploration = TACIT_GLM_PRACTICAL;
    uint32_t dimension = 0;
    if (keys == NULL)
        return;
    coordinator->keys = keys;
    config_reader_choice(reader, run, "run.variant", false, variants, &variant);
    config_reader_choice(reader, run, "run.link", false, glm_links, &link);
    config_reader_choice(reader, run, "run.exploration", false, glm_explorations, &exploration);
    keys->features = read_features(reader, run, "run.features", &dimension);
    if (reader->status != TACIT_OK)
        return;
    keys->model =
        tacit_glm_model_init((enum tacit_glm_variant)variant, (enum tacit_linalg_link)link,
                             coordinator->site_count, dimension, coordinator->horizon);
    keys->model.exploration = (enum tacit_glm_exploration)exploration;
    keys->model.clock = TACIT_GLM_COUNTS;
    read_numbers(reader, run, &keys->model);
    if (coordinator->network.kind != TACIT_CONFIG_STAR)
        config_reader_fail(reader, config_node_member(root, "network"), "network.kind",
                           "this protocol is for a star; allowed: star");
}

struct tacit_glm_model glm_live_model(const struct live_hub_config *config)
{
    struct glm_hub_settings const *const settings = config->settings;
    TACIT_ASSERT(settings != NULL);
    struct tacit_glm_model model = settings->model;
    model.run_id = config->run_id;
    model.client_count = config->site_count;
    model.horizon = config->horizon;
    return model;
}

static void glm_hub_settings_free(struct live_hub_config *hub)
{
    hub->settings = NULL; /* the file's */
}

static enum tacit_status glm_hub_settings_new(struct live_hub_config *hub,
                                              const struct tacit_config_coordinator *file,
                                              const struct tacit_network *network,
                                              struct tacit_error *error)
{
    TACIT_ASSERT(network == NULL);
    hub->settings = file->keys;
    struct tacit_glm_client_config const client = {.model = glm_live_model(hub),
                                                   .resend_after_us = 1};
    if (tacit_glm_client_size(&client) > 0)
        return TACIT_OK;
    tacit_config_error(file->document, "run.horizon",
                       "sites keep every sample: that many do not fit; allowed: a shorter horizon",
                       error);
    return TACIT_INVALID;
}

/* ---- A site ---- */

static void glm_read_policy(struct config_reader *reader, const struct config_node *root,
                            struct tacit_config_agent *agent)
{
    static const struct config_choice choices[] = {{"none", 0}, {NULL, 0}};
    struct config_node const *const policy = config_node_member(root, "policy");
    struct glm_policy *const keys = config_reader_memory(reader, sizeof *keys);
    int privacy = 0;
    if (keys == NULL)
        return;
    agent->keys = keys;
    /* Said in so many words, by the site itself: nothing here protects anything. */
    config_reader_choice(reader, policy, "policy.privacy", true, choices, &privacy);
    keys->features = read_features(reader, policy, "policy.features", &keys->dimension);
    if (reader->status == TACIT_OK && agent->missing_after_s > 0)
        config_reader_fail(reader, config_node_member(root, "missing"), "missing",
                           "this protocol learns from rewards that came; allowed: without this "
                           "section");
}

/* ---- The family as the daemons know it ---- */

extern const struct live_family glm_live;

const struct live_family glm_live = {.file = {.word = "glm-ucb",
                                              .networks = 1u << TACIT_CONFIG_STAR,
                                              .is_open = true,
                                              .run_keys = glm_run_keys,
                                              .read_run = glm_read_run,
                                              .policy_keys = glm_policy_keys,
                                              .read_policy = glm_read_policy},
                                     .site = &glm_site_ops,
                                     .hub = &glm_hub_ops,
                                     .hub_settings = glm_hub_settings_new,
                                     .hub_settings_free = glm_hub_settings_free};
