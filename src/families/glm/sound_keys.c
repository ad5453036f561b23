/* From the files of coordinator and site to what a live run of the private linear bandit needs. */
#include <string.h>
#include "../../config/reader.h"
#include "../live_family.h"
#include "live.h"
#include "plan.h"

/* ---- The coordinator ---- */

static const struct config_choice links[] = {
    {"logistic", TACIT_LINALG_LOGISTIC}, {"identity", TACIT_LINALG_IDENTITY}, {NULL, 0}};
#define POSITIVE CONFIG_ABOVE(0, 1e9)
#define DELTA CONFIG_FROM(1e-9, 0.5)

static const struct config_key run_keys[] = {
    GLM_FEATURES_KEY(tacit_wire_glm_sound_run, model.dimension),
    {"link", "logistic", "the model is linear with either; its intervals are proven of identity",
     CONFIG_TO_ENUM(tacit_wire_glm_sound_run, model.link, links)},
    {"batches", NULL,
     "P: how often a site releases; a batch has horizon/P rewards, each of which is in one",
     CONFIG_TO_U64(tacit_wire_glm_sound_run, model.batch_count, 1, TACIT_GLM_SOUND_BATCHES_MAX)},
    {"delta", NULL, "of (epsilon, delta), of an interaction",
     CONFIG_TO_REAL(tacit_wire_glm_sound_run, model.delta, DELTA)},
    {"failure", "0.01", "the intervals hold with probability 1 - failure",
     CONFIG_TO_REAL(tacit_wire_glm_sound_run, model.failure, CONFIG_FROM(1e-100, 1 - 1e-9))},
    {"norm", "1", "as in an experiment, like what follows",
     CONFIG_TO_REAL(tacit_wire_glm_sound_run, model.norm_bound, CONFIG_ABOVE(0, 10))},
    {"noise", "0.5", "", CONFIG_TO_REAL(tacit_wire_glm_sound_run, model.noise_bound, POSITIVE)},
    {"alpha", "(must be given for constant)", "",
     CONFIG_TO_REAL(tacit_wire_glm_sound_run, model.alpha, CONFIG_FROM(0, 1e9))},
    {"explore", "0", "",
     CONFIG_TO_REAL(tacit_wire_glm_sound_run, model.explore, CONFIG_FROM(0, 1))},
    {"exploration", "practical", "",
     CONFIG_TO_ENUM(tacit_wire_glm_sound_run, model.exploration, glm_explorations)},
    {.name = NULL}};
static const struct config_section run_sections[] = {{"run", run_keys}, {NULL, NULL}};

static void read_run(struct config_reader *reader, const struct config_node *run,
                     struct tacit_config_coordinator *coordinator)
{
    struct tacit_wire_glm_sound_run *const keys = coordinator->keys;
    config_reader_values(reader, run, "run", run_keys, keys);
    if (keys->model.exploration == TACIT_GLM_CONSTANT)
        config_reader_need(reader, "run.alpha");
}

struct tacit_wire_glm_sound_run glm_sound_run(const struct live_hub_config *config)
{
    TACIT_ASSERT(config->settings != NULL);
    struct tacit_wire_glm_sound_run run =
        *(const struct tacit_wire_glm_sound_run *)config->settings;
    run.model.run_id = config->run_id;
    run.model.client_count = config->site_count;
    run.model.epsilon = tacit_nano_value(tacit_nano_up(config->epsilon));
    run.floor_milli = tacit_wire_floor_milli(config->has_helper, config->floor_nano);
    return run;
}

static enum tacit_status settings_new(const struct live_run_file *from)
{
    struct live_hub_config *const hub = from->hub;
    TACIT_ASSERT(from->network == NULL);
    hub->settings = from->file->keys;
    struct tacit_glm_private_rule rule;
    struct tacit_wire_glm_sound_run const run = glm_sound_run(hub);
    if (hub->horizon < run.model.batch_count)
        return live_file_refuse(from, "run.horizon",
                                "a batch would have no reward; allowed: at least run.batches");
    if (tacit_glm_sound_rule(&rule, &run.model, run.floor_milli) != TACIT_OK)
        return live_file_refuse(from, "run.epsilon",
                                "its noise does not fit into integers; allowed: a larger epsilon "
                                "or delta, or fewer batches");
    struct tacit_glm_sound_site_config const site = {.model = run.model,
                                                     .epsilon = run.model.epsilon,
                                                     .delta = run.model.delta,
                                                     .horizon = hub->horizon,
                                                     .cost_nano = 1,
                                                     .resend_after_us = 1,
                                                     .floor_milli = run.floor_milli};
    return tacit_glm_sound_site_size(&site) > 0
               ? TACIT_OK
               : live_file_refuse(from, "run.horizon",
                                  "sums of so many rewards do not fit; allowed: a shorter horizon");
}

/* ---- A site ---- */

static const struct config_key policy_keys[] = {
    {"delta", NULL, "of (epsilon, delta), as epsilon: the run's is not larger",
     CONFIG_TO_REAL(glm_policy, delta, DELTA)},
    GLM_FEATURES_KEY(glm_policy, dimension),
    {.name = NULL}};
static const struct config_section policy_sections[] = {{"policy", policy_keys}, {NULL, NULL}};

const struct live_family glm_sound_live = {
    .file = {.name = TACIT_WIRE_GLM_SOUND_NAME,
             .networks = 1u << TACIT_CONFIG_STAR,
             .accepts_trust = true,
             .no_missing = GLM_NO_MISSING,
             .run_keys = run_sections,
             .run_size = sizeof(struct tacit_wire_glm_sound_run),
             .read_run = read_run,
             .site_keys = policy_sections,
             .site_size = sizeof(struct glm_policy)},
    .site = &glm_sound_site_ops,
    .hub = &glm_sound_hub_ops,
    .hub_settings = settings_new};
