/* Generalised linear bandits as the daemons drive them. */
#ifndef TACIT_GLM_LIVE_H
#define TACIT_GLM_LIVE_H
#include "../../live/hub.h"
#include "../../live/site.h"
#include "tacit/config.h"
#include "tacit/family.h"
#include "tacit/wire_glm.h"

#define GLM_NO_ESTIMATES "what an arm is worth depends on its contexts: see model"

extern const struct live_site_ops glm_site_ops;
extern const struct live_hub_ops glm_hub_ops;

/* What a coordinator's file says of the run. */
struct glm_hub_settings {
    struct tacit_glm_model model; /* run_id, client_count and horizon are the hub's */
    const char *const *features;  /* model.dimension names */
};

/* What a site's file says of it; all may be NULL. */
struct glm_policy {
    const char *const *features;
    uint32_t dimension;
    double delta; /* of the private one */
    int privacy;  /* of the other: none, but it is said */
};

/* ---- live_kept.c ---- */

struct glm_choice {
    uint64_t model;
    double probability;
    uint32_t arm;
    bool keeps_all;
};

/* What the site stores with a decision, at most (live_kept.c). */
size_t glm_kept_bytes_max(uint32_t dimension, uint32_t arm_count);

/* The chosen context, and the others where the log is to be of use for evaluation. kept: room for
 * the most. */
void glm_record_choice(const struct glm_choice *choice, const struct tacit_offer *offer,
                       uint8_t *kept, struct live_site_update *update);

/* As live_site_ops.parse_kept. */
bool glm_parse_kept(const uint8_t *kept, size_t size, struct live_choice *choice);

/* The context that was kept with the decision, and its reward, within the range. False: nothing was
 * kept with it, or a context of another dimension. */
bool glm_read_reward(const struct live_site *site, const struct live_site_event *event,
                     double context[TACIT_LINALG_VECTOR_MAX], struct tacit_glm_reward *reward);

/* Are they those of the site's own file? As live_site_ops.objection. */
const char *glm_features_objection(const char *const *features, uint32_t dimension,
                                   const struct glm_policy *policy);

/* ---- sound_live.c ---- */

extern const struct live_site_ops glm_sound_site_ops;
extern const struct live_hub_ops glm_sound_hub_ops;

/* The run of the private one, of hub->settings and the file. */
struct tacit_wire_glm_sound_run glm_sound_run(const struct live_hub_config *config);

/* The model of the run. */
struct tacit_glm_model glm_live_model(const struct live_hub_config *config);
#endif
