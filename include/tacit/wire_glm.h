/* Federated generalised linear bandits on the wire: their messages, and their part of an
 * announcement. The schema is src/wire/glm.proto. No I/O. */
#ifndef TACIT_WIRE_GLM_H
#define TACIT_WIRE_GLM_H
#include "tacit/glm.h"
#include "tacit/glm_sound.h"
#include "tacit/wire.h"

#define TACIT_WIRE_GLM_FAMILY 4u
#define TACIT_WIRE_GLM_WORD "glm-ucb"
#define TACIT_WIRE_GLM_VERSION 1u

/* As TACIT_WIRE_ARENA_BYTES, of a run with so many numbers a context. */
#define TACIT_WIRE_GLM_ARENA_BYTES(size, dimension, client_count)                                  \
    (TACIT_WIRE_ARENA_BYTES(size, dimension, client_count) +                                       \
     5u * sizeof(double) * TACIT_LINALG_MATRIX((size_t)(dimension) + 1u))

/* ---- Messages -------------------------------------------------------------------------------- */

/* Bytes of a message, without an envelope. Cost: O(1). */
size_t tacit_wire_glm_bytes(const struct tacit_glm_message *message, uint32_t dimension,
                            uint32_t client_count);

/* Bytes of the largest message of such a run: the commit of variant 3. */
size_t tacit_wire_glm_bytes_max(uint32_t dimension, uint32_t client_count);

/* The address `to` is not encoded: it is the envelope's; nor are numbers for receivers in the same
 * process. Requires: …_bytes of room, at most TACIT_WIRE_BYTES_MAX. Ensures: exactly that many
 * bytes are written. */
void tacit_wire_glm_encode(const struct tacit_glm_message *message, uint32_t dimension,
                           uint32_t client_count, uint8_t *bytes);

/* On TACIT_OK *message is one block of the allocator's. Refused with TACIT_MALFORMED: other
 * versions and forms, lengths other than those of this run, numbers that are not finite. Errors:
 * TACIT_MEMORY; *message untouched. */
enum tacit_status tacit_wire_glm_decode(const uint8_t *bytes, size_t size, uint32_t dimension,
                                        uint32_t client_count, uint32_t to,
                                        struct tacit_glm_message **message,
                                        const struct tacit_wire_allocator *allocator);

/* What an envelope calls a message of this kind. */
uint32_t tacit_wire_glm_kind(enum tacit_glm_message_kind kind);

/* ---- The run --------------------------------------------------------------------------------- */

/* Bytes of the part of the agreement that only this family has: the model, and the names of its
 * features. */
size_t tacit_wire_glm_parameters_bytes(const struct tacit_glm_model *model,
                                       const char *const *features);

/* Requires: a valid model, `dimension` names of 1 to 64 bytes of UTF-8 without control characters,
 * …_bytes of room. Ensures: exactly that many bytes are written. */
void tacit_wire_glm_parameters_encode(const struct tacit_glm_model *model,
                                      const char *const *features, uint8_t *bytes);

/* The model that an announcement speaks of, with its names: one block of the allocator's. */
struct tacit_wire_glm_run {
    struct tacit_glm_model model; /* with run_id, client_count and horizon of the announcement */
    uint32_t client_id;
    const char *const *features;
};

/* Errors: TACIT_MALFORMED (another protocol or version of it, a model that cannot be run, another
 * form), TACIT_MEMORY; *run untouched. */
enum tacit_status tacit_wire_glm_run_decode(const struct tacit_wire_announcement *announcement,
                                            struct tacit_wire_glm_run **run,
                                            const struct tacit_wire_allocator *allocator);

/* ---- The private linear bandit, which is a protocol of its own: as above --------------------- */

#define TACIT_WIRE_GLM_SOUND_FAMILY 8u
#define TACIT_WIRE_GLM_SOUND_WORD "glm-ucb-sound"
#define TACIT_WIRE_GLM_SOUND_VERSION 1u

/* As tacit_wire_glm_bytes. */
size_t tacit_wire_glm_sound_bytes(const struct tacit_glm_sound_message *message,
                                  uint32_t dimension);
/* As tacit_wire_glm_encode. */
void tacit_wire_glm_sound_encode(const struct tacit_glm_sound_message *message, uint32_t dimension,
                                 uint8_t *bytes);
/* As tacit_wire_glm_decode. */
enum tacit_status tacit_wire_glm_sound_decode(const uint8_t *bytes, size_t size, uint32_t dimension,
                                              uint32_t site_count, uint32_t to,
                                              struct tacit_glm_sound_message **message,
                                              const struct tacit_wire_allocator *allocator);
/* What an envelope calls a message of this kind. */
uint32_t tacit_wire_glm_sound_kind(enum tacit_glm_sound_kind kind);

/* What the announcement says beside run_id, client_count and epsilon. */
struct tacit_wire_glm_sound_run {
    struct tacit_glm_private_model model;
    uint32_t floor_milli; /* as of tacit_glm_sound_rule */
    const char *const *features;
};

/* As tacit_wire_glm_parameters_bytes. */
size_t tacit_wire_glm_sound_parameters_bytes(const struct tacit_wire_glm_sound_run *run);
/* As tacit_wire_glm_parameters_encode. */
void tacit_wire_glm_sound_parameters_encode(const struct tacit_wire_glm_sound_run *run,
                                            uint8_t *bytes);
/* As tacit_wire_glm_run_decode; the model is one of tacit_glm_sound_rule. */
enum tacit_status
tacit_wire_glm_sound_run_decode(const struct tacit_wire_announcement *announcement,
                                struct tacit_wire_glm_sound_run **run,
                                const struct tacit_wire_allocator *allocator);
#endif
