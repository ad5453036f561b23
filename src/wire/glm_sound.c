/* Messages of the private linear bandit as it is live, and what it adds to an announcement
 * (glm.proto). */
#include "tacit/wire_glm.h"
#include "walk.h"

/* ---- Messages -------------------------------------------------------------------------------- */

#define MESSAGE struct tacit_glm_sound_message

static const struct wire_field hello[] = {GRANTED(1, commitment)};
static const struct wire_field order[] = {
    FLAG(1, last),
    NUMBER(2, seen, ANY),
    NUMBER(3, releases, ANY),
    ROW(4, sums, PER(WIRE_REGRESSION)),
};
static const struct wire_field report[] = {
    ROW(1, sums, PER(WIRE_REGRESSION)),
    GRANTED(2, previous),
    GRANTED(3, salt),
    MASKED(4, envelope),
    MASKED(5, blind),
};
WIRE_ROUND_FIELDS

static const struct tacit_wire_table *const bodies[] = {
    [TACIT_ROUND_HELLO] = BODY("GlmSoundHello", hello, NULL),
    [TACIT_ROUND_ORDER] = BODY("GlmSoundOrder", order, NULL),
    [TACIT_ROUND_REPORT] = BODY("GlmSoundReport", report, NULL),
    [TACIT_ROUND_COMMIT] = BODY("GlmSoundCommit", commit, NULL),
    [TACIT_ROUND_GRANT] = BODY("GlmSoundGrant", grant, NULL),
    [TACIT_ROUND_REFUSAL] = BODY("GlmSoundRefusal", refusal, NULL),
};
WIRE_MESSAGES("GlmSoundMessage", GLM_SOUND, TACIT_ROUND_HELLO, round, NULL,
              UP_TO(TACIT_GLM_SOUND_BATCHES_MAX + 1))

/* ---- What it adds to an agreement ------------------------------------------------------------ */

#undef MESSAGE
#define MESSAGE struct tacit_wire_glm_sound_run

static bool check_run(void *message)
{
    struct tacit_wire_glm_sound_run *const run = message;
    struct tacit_glm_private_rule rule;
    run->model.run_id = run->run_id;
    run->model.client_count = run->agent_count;
    run->model.epsilon = tacit_nano_value(run->epsilon_nano);
    return run->epsilon_nano > 0 &&
           tacit_glm_sound_rule(&rule, &run->model, run->floor_milli) == TACIT_OK;
}

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
static const struct tacit_wire_table parameters =
    TABLE("GlmSoundParameters", FIELDS(numbers), .check = check_run);

PROTOCOL(glm_sound, GLM_SOUND, messages, NULL);
