/* Federated generalised linear bandits on the wire: their messages, and their part of an
 * announcement. The schema is src/wire/glm.proto. No I/O. */
#ifndef TACIT_WIRE_GLM_H
#define TACIT_WIRE_GLM_H
#include "tacit/glm.h"
#include "tacit/glm_sound.h"
#include "tacit/wire.h"

#define TACIT_WIRE_GLM_FAMILY 4u
#define TACIT_WIRE_GLM_NAME "glm-ucb"
#define TACIT_WIRE_GLM_VERSION 1u

/* As TACIT_WIRE_ARENA_BYTES, of a run with so many numbers a context. */
#define TACIT_WIRE_GLM_ARENA_BYTES(size, dimension, client_count)                                  \
    (TACIT_WIRE_ARENA_BYTES(size, dimension, client_count) +                                       \
     5u * sizeof(double) * TACIT_LINALG_MATRIX((size_t)(dimension) + 1u))

/* ---- Messages -------------------------------------------------------------------------------- */

/* Messages are struct tacit_glm_message; numbers for receivers in the same process are not
 * encoded. */
extern const struct tacit_wire_protocol tacit_wire_glm;

/* The model and the names of its features; run_id, client_count and horizon of the model are the
 * announcement's. Requires, of what is encoded: a valid model, as printed (what a model has beside
 * is the simulator's alone), and `dimension` names. */
struct tacit_wire_glm_run {
    TACIT_WIRE_RUN_HEAD
    struct tacit_glm_model model;
    const char *const *features;
};

/* ---- The private linear bandit, which is a protocol of its own: as above --------------------- */

#define TACIT_WIRE_GLM_SOUND_FAMILY 8u
#define TACIT_WIRE_GLM_SOUND_NAME "glm-ucb-sound"
#define TACIT_WIRE_GLM_SOUND_VERSION 1u

extern const struct tacit_wire_protocol tacit_wire_glm_sound; /* struct tacit_glm_sound_message */

/* The same; the model is one of tacit_glm_sound_rule, its epsilon the announcement's. */
struct tacit_wire_glm_sound_run {
    TACIT_WIRE_RUN_HEAD
    struct tacit_glm_private_model model;
    const char *const *features;
};
#endif
