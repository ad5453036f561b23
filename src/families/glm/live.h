/* Generalised linear bandits as the daemons drive them. */
#ifndef TACIT_GLM_LIVE_H
#define TACIT_GLM_LIVE_H
#include "../../live/hub.h"
#include "../../live/site.h"
#include "tacit/config.h"
#include "tacit/family.h"
#include "tacit/wire_glm.h"

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
};

/* The model of the run. */
struct tacit_glm_model glm_live_model(const struct live_hub_config *config);
#endif
