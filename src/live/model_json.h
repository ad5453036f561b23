/* A model that was learnt, as both daemons show it. */
#ifndef TACIT_LIVE_MODEL_JSON_H
#define TACIT_LIVE_MODEL_JSON_H
#include "api/api_json.h"
#include "site.h"

/* {"number", "observations", "radius", "coefficients": [{"name", "value", "lower", "upper"}, ..],
 * "inverse": [[..], ..]}: each coefficient with what the ellipsoid leaves of it, and A^-1. */
void live_model_write(const struct live_model *model, struct live_buffer *out);
#endif
