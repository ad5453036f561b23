/* From the files of coordinator and site to what a live run of a generalised linear bandit needs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../config/reader.h"
#include "../live_family.h"
#include "live.h"
#include "plan.h"

/* ---- The coordinator ---- */

/* In live runs nobody has common slots, so no schedule is common: those with a trigger. */
static const struct config_choice variants[] = {
    {"fedglb", TACIT_GLM_FEDGLB}, {"dislinucb", TACIT_GLM_DISLINUCB}, {NULL, 0}};

#define POSITIVE CONFIG_ABOVE(0, 1e9)

static const struct config_key run_keys[] = {
    GLM_FEATURES_KEY(glm_hub_settings, model.dimension),
    {"variant", "fedglb", "", CONFIG_TO_ENUM(glm_hub_settings, model.variant, variants)},
    {"link", "logistic", "as in an experiment, like what follows",
     CONFIG_TO_ENUM(glm_hub_settings, model.link, glm_links)},
    {"threshold", NULL,
     "D: a site asks for an update when its rewards since the last one times the growth of its "
     "log-determinant reach it",
     CONFIG_TO_REAL(glm_hub_settings, model.threshold, POSITIVE)},
    {"lambda", "2", "", CONFIG_TO_REAL(glm_hub_settings, model.lambda, POSITIVE)},
    {"delta", "0.01", "", CONFIG_TO_REAL(glm_hub_settings, model.delta, CONFIG_ABOVE(0, 1 - 1e-9))},
    {"norm", "1", "", CONFIG_TO_REAL(glm_hub_settings, model.norm_bound, CONFIG_ABOVE(0, 10))},
    {"noise", "(of the link)", "", CONFIG_TO_REAL(glm_hub_settings, model.noise_bound, POSITIVE)},
    {"alpha", "(must be given for constant)", "",
     CONFIG_TO_REAL(glm_hub_settings, model.alpha, CONFIG_FROM(0, 1e9))},
    {"explore", "0", "", CONFIG_TO_REAL(glm_hub_settings, model.explore, CONFIG_FROM(0, 1))},
    {"exploration", "practical", "",
     CONFIG_TO_ENUM(glm_hub_settings, model.exploration, glm_explorations)},
    {"suboptimality", "(1/n^2)", "",
     CONFIG_TO_REAL(glm_hub_settings, model.suboptimality, POSITIVE)},
    {.name = NULL}};
static const struct config_section run_sections[] = {{"run", run_keys}, {NULL, NULL}};

/* Ensures: keys->model is whole but for what the hub knows (glm_live_model): the file's values over
 * those of the variant and the link. */
static void glm_read_run(struct config_reader *reader, const struct config_node *run,
                         struct tacit_config_coordinator *coordinator)
{
    struct glm_hub_settings *const keys = coordinator->keys;
    keys->model.alpha = 1; /* where it is not constant */
    config_reader_values(reader, run, "run", run_keys, keys);
    if (keys->model.exploration == TACIT_GLM_CONSTANT)
        config_reader_need(reader, "run.alpha");
    if (reader->status != TACIT_OK)
        return;
    keys->model = glm_model_of(&keys->model, coordinator->site_count, coordinator->horizon);
    keys->model.clock = TACIT_GLM_COUNTS;
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

static enum tacit_status glm_hub_settings_new(const struct live_run_file *from)
{
    struct live_hub_config *const hub = from->hub;
    TACIT_ASSERT(from->network == NULL);
    hub->settings = from->file->keys;
    struct tacit_glm_client_config const client = {.model = glm_live_model(hub),
                                                   .resend_after_us = 1};
    return tacit_glm_client_size(&client) > 0
               ? TACIT_OK
               : live_file_refuse(from, "run.horizon",
                                  "sites keep every sample: that many do not fit; allowed: a "
                                  "shorter horizon");
}

/* ---- A site ---- */

/* Said in so many words, by the site itself: nothing here protects anything. */
static const struct config_choice privacies[] = {{"none", 0}, {NULL, 0}};
static const struct config_key policy_keys[] = {{"privacy", NULL,
                                                 "it is said that nothing is protected",
                                                 CONFIG_TO_ENUM(glm_policy, privacy, privacies)},
                                                GLM_FEATURES_KEY(glm_policy, dimension),
                                                {.name = NULL}};
static const struct config_section policy_sections[] = {{"policy", policy_keys}, {NULL, NULL}};

const struct live_family glm_live = {.file = {.name = "glm-ucb",
                                              .networks = 1u << TACIT_CONFIG_STAR,
                                              .is_open = true,
                                              .no_missing = GLM_NO_MISSING,
                                              .run_keys = run_sections,
                                              .run_size = sizeof(struct glm_hub_settings),
                                              .read_run = glm_read_run,
                                              .site_keys = policy_sections,
                                              .site_size = sizeof(struct glm_policy)},
                                     .site = &glm_site_ops,
                                     .hub = &glm_hub_ops,
                                     .hub_settings = glm_hub_settings_new};
