/* Messages of generalised linear bandits, and what they add to an announcement: the model, and the
 * names of features, all of which the digest of the agreement covers (glm.proto). */
#include "tacit/wire_glm.h"
#include "walk.h"

#define MATRIX(n, name) POINTED(n, WIRE_MATRIX, name, 8, PER(WIRE_TRIANGLE), IF(name))

/* ---- Messages -------------------------------------------------------------------------------- */

#define MESSAGE struct tacit_glm_message

static const struct wire_field fields[] = {
    VERSION(1, TACIT_WIRE_GLM_VERSION),
    KIND(2, kind, UP_TO(TACIT_GLM_COMMIT)),
    NUMBER(3, from, BELOW(WIRE_AGENTS), OR_NONE),
    NUMBER(4, run_id, ANY),
    NUMBER(5, sync, ANY),
    NUMBER(6, attempt, ANY),
    NUMBER(7, round, ANY),
    NUMBER(8, digest, ANY),
    NUMBER(9, slot, ANY),
    NUMBER(10, count, ANY),
    NUMBER(11, squares, ANY),
    NUMBER(12, regret, ANY),
    ROW(13, vector, PER(WIRE_NUMBERS), IF(vector)),
    MATRIX(14, matrix),
    ROW(15, target, PER(WIRE_NUMBERS), IF(target)),
    MATRIX(16, steps),
    SET(17, participants, PER(WIRE_AGENTS), IF(participants)),
};
static const struct tacit_wire_table messages =
    TABLE("GlmMessage", FIELDS(fields), LABEL, EPOCH(sync));

/* ---- The run --------------------------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_wire_glm_run

static bool check_run(void *message)
{
    struct tacit_wire_glm_run *const run = message;
    run->model.run_id = run->run_id;
    run->model.client_count = run->agent_count;
    run->model.horizon = run->horizon;
    return run->epsilon_nano == 0 && run->model.dimension > 0 &&
           tacit_glm_model_is_valid(&run->model);
}

static const struct wire_field numbers[] = {
    NUMBER(1, model.variant, ANY),
    NUMBER(2, model.exploration, ANY),
    NUMBER(3, model.clock, ANY),
    NUMBER(4, model.link, ANY),
    NUMBER(5, model.period, ANY),
    NUMBER(6, model.threshold, ANY),
    NUMBER(7, model.lambda, ANY),
    NUMBER(8, model.delta, ANY),
    NUMBER(9, model.norm_bound, ANY),
    NUMBER(10, model.context_bound, ANY),
    NUMBER(11, model.noise_bound, ANY),
    NUMBER(12, model.lipschitz, ANY),
    NUMBER(13, model.curvature, ANY),
    NUMBER(14, model.alpha, ANY),
    NUMBER(15, model.suboptimality, ANY),
    NUMBER(16, model.explore, ANY),
    TEXTS(17, features, COUNT(model.dimension), UP_TO(TACIT_LINALG_DIMENSION_MAX),
          OF(tacit_wire_is_arm_name)),
};
static const struct tacit_wire_table parameters =
    TABLE("GlmParameters", FIELDS(numbers), .check = check_run);

PROTOCOL(glm, GLM, messages, NULL);
