/* Messages of the private linear bandit as it is live, and what it adds to an announcement
 * (glm.proto). */
#include "form.h"
#include "tacit/wire_glm.h"
#include "walk.h"

/* Sizes of a run of so many sites, with contexts of so many numbers. */
#define SIZES(dimension, site_count, receiver)                                                     \
    (uint32_t[WIRE_SIZES])                                                                         \
    {                                                                                              \
        1, 0, (site_count),                                                                        \
            (receiver), [WIRE_PRIVATE_SUMS] = (uint32_t)TACIT_GLM_PRIVATE_SUMS(dimension)          \
    }

/* ---- Messages -------------------------------------------------------------------------------- */

#define MESSAGE struct tacit_glm_sound_message

#define MASKED(n, name) EACH(n, WIRE_BYTES, masked, struct tacit_helper_release, name, IF(masked))

static const struct wire_field hello[] = {GRANTED(1, commitment)};
static const struct wire_field order[] = {
    FLAG(1, last),
    NUMBER(2, seen, ANY),
    NUMBER(3, releases, ANY),
    ROW(4, sums, PER(WIRE_PRIVATE_SUMS)),
};
static const struct wire_field report[] = {
    ROW(1, sums, PER(WIRE_PRIVATE_SUMS)),
    GRANTED(2, previous),
    GRANTED(3, salt),
    MASKED(4, envelope),
    MASKED(5, blind),
};
WIRE_ROUND_FIELDS

static const struct wire_table *const bodies[] = {
    [TACIT_GLM_SOUND_HELLO] = BODY("GlmSoundHello", hello, NULL),
    [TACIT_GLM_SOUND_ORDER] = BODY("GlmSoundOrder", order, NULL),
    [TACIT_GLM_SOUND_REPORT] = BODY("GlmSoundReport", report, NULL),
    [TACIT_GLM_SOUND_COMMIT] = BODY("GlmSoundCommit", commit, NULL),
    [TACIT_GLM_SOUND_GRANT] = BODY("GlmSoundGrant", grant, NULL),
    [TACIT_GLM_SOUND_REFUSAL] = BODY("GlmSoundRefusal", refusal, NULL),
};
static const struct wire_field head[] = {
    VERSION(1, TACIT_WIRE_GLM_SOUND_VERSION),
    NUMBER(2, from, BELOW(WIRE_AGENTS), OR_NONE),
    NUMBER(3, run_id, ANY),
    NUMBER(4, round, UP_TO(TACIT_GLM_SOUND_BATCHES_MAX + 1)),
};
static const struct wire_table messages =
    TABLE("GlmSoundMessage", FIELDS(head), BODIES(bodies, TACIT_GLM_SOUND_HELLO), TO);

size_t tacit_wire_glm_sound_bytes(const struct tacit_glm_sound_message *message, uint32_t dimension)
{
    TACIT_ASSERT(dimension <= TACIT_LINALG_DIMENSION_MAX);
    TACIT_ASSERT(dimension > 0 || message->sums == NULL);
    return wire_length(&messages, message, SIZES(dimension, 0, 0));
}

enum tacit_status tacit_wire_glm_sound_decode(const uint8_t *bytes, size_t size, uint32_t dimension,
                                              uint32_t site_count, uint32_t to,
                                              struct tacit_glm_sound_message **message,
                                              const struct tacit_wire_allocator *allocator)
{
    return wire_make(&messages, SIZES(dimension, site_count, to), bytes, size, allocator, message);
}

void tacit_wire_glm_sound_encode(const struct tacit_glm_sound_message *message, uint32_t dimension,
                                 uint8_t *bytes)
{
    wire_write(&messages, message, SIZES(dimension, 0, 0), bytes);
}

uint32_t tacit_wire_glm_sound_kind(enum tacit_glm_sound_kind kind)
{
    TACIT_ASSERT(kind <= TACIT_GLM_SOUND_REFUSAL);
    return TACIT_WIRE_KIND_ANNOUNCEMENT + 1 + (uint32_t)kind;
}

/* ---- What it adds to an agreement ------------------------------------------------------------ */

#undef MESSAGE
#define MESSAGE struct tacit_wire_glm_sound_run

static const struct wire_field numbers[] = {
    NUMBER(1, model.link, ANY),
    NUMBER(2, model.exploration, ANY),
    NUMBER(3, model.batch_count, ANY),
    NUMBER(4, model.delta, ANY),
    NUMBER(5, model.failure, ANY),
    NUMBER(6, model.norm_bound, ANY),
    NUMBER(7, model.noise_bound, ANY),
    NUMBER(8, model.alpha, ANY),
    NUMBER(9, model.explore, ANY),
    TEXTS(10, features, COUNT(model.dimension), UP_TO(TACIT_LINALG_DIMENSION_MAX),
          OF(tacit_wire_is_arm_name)),
};
static const struct wire_table parameters = TABLE("GlmSoundParameters", FIELDS(numbers));

size_t tacit_wire_glm_sound_parameters_bytes(const struct tacit_wire_glm_sound_run *run)
{
    return wire_length(&parameters, run, wire_no_sizes);
}

void tacit_wire_glm_sound_parameters_encode(const struct tacit_wire_glm_sound_run *run,
                                            uint8_t *bytes)
{
    wire_write(&parameters, run, wire_no_sizes, bytes);
}

enum tacit_status
tacit_wire_glm_sound_run_decode(const struct tacit_wire_announcement *announcement,
                                struct tacit_wire_glm_sound_run **run,
                                const struct tacit_wire_allocator *allocator)
{
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    struct tacit_wire_glm_sound_run *made;
    struct tacit_glm_private_rule rule;
    if (agreement->epsilon_nano == 0 || announcement->place_size != 0 ||
        !wire_is_of(agreement, TACIT_WIRE_GLM_SOUND_WORD, TACIT_WIRE_GLM_SOUND_FAMILY,
                    TACIT_WIRE_GLM_SOUND_VERSION))
        return TACIT_MALFORMED;
    enum tacit_status const status = wire_make(&parameters, wire_no_sizes, agreement->parameters,
                                               agreement->parameters_size, allocator, &made);
    if (status != TACIT_OK)
        return status;
    struct tacit_glm_private_model *const model = &made->model;
    model->run_id = tacit_wire_run_id(agreement->run);
    model->client_count = agreement->agent_count;
    model->epsilon = (double)agreement->epsilon_nano / (double)TACIT_NANO;
    made->floor_milli = tacit_wire_floor_milli(agreement->has_helper, agreement->floor_nano);
    if (tacit_glm_sound_rule(&rule, model, made->floor_milli) != TACIT_OK) {
        wire_give(allocator, made);
        return TACIT_MALFORMED;
    }
    *run = made;
    return TACIT_OK;
}
