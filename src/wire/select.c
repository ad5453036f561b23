/* Messages of a training federation, and what it adds to an announcement (select.proto). */
#include "tacit/wire_select.h"
#include "walk.h"

#define PIECES_MAX 256u
#define CLIP_MAX 1e100

/* ---- Messages -------------------------------------------------------------------------------- */

#define MESSAGE struct tacit_select_message
#define DIGESTS(n)                                                                                 \
    {                                                                                              \
        .number = (n), .kind = WIRE_BYTES, .via = WIRE_AT(digests), .width = TACIT_SHA256_BYTES,   \
        .stride = TACIT_SHA256_BYTES, COUNT(digest_count), FROM(1), UP_TO(PIECES_MAX)              \
    }

/* Numbers of the vector that it says, as many as a piece has at most. */
static bool check_piece(void *message)
{
    const struct tacit_select_message *const piece = message;
    bool const is_model = piece->vector == TACIT_SELECT_MODEL;
    return (piece->model_piece != NULL) == is_model && (piece->step_piece != NULL) == !is_model &&
           piece->number_count <=
               (is_model ? TACIT_SELECT_MODEL_NUMBERS : TACIT_SELECT_UPDATE_NUMBERS);
}

static const struct wire_field hello[] = {
    GRANTED(1, commitment),
    NUMBER(2, spent_nano, ANY),
};
static const struct wire_field order[] = {
    FLAG(1, last),
    NUMBER(2, seen, ANY),
    SET(3, set, PER(WIRE_AGENTS)),
    DIGESTS(4),
    NUMBER(5, epsilon_nano, FROM(1), IF(epsilon_nano)),
};
static const struct wire_field request[] = {
    NUMBER(1, vector, UP_TO(TACIT_SELECT_STEPS)),
    NUMBER(2, first, UP_TO(PIECES_MAX - 1)),
    NUMBER(3, mask, FROM(1)),
};
static const struct wire_field piece[] = {
    NUMBER(1, vector, UP_TO(TACIT_SELECT_STEPS)),
    NUMBER(2, first, UP_TO(PIECES_MAX - 1)),
    ROW(3, model_piece, COUNT(number_count), IF(model_piece)),
    ROW(4, step_piece, COUNT(number_count), IF(step_piece)),
};
static const struct wire_field commit[] = {
    GRANTED(1, commitment),
    GRANTED(2, previous),
};
static const struct wire_field grant[] = {GRANTED(1, commitment), FLAG(2, closed)};
static const struct wire_field refusal[] = {GRANTED(1, commitment), FLAG(2, forgot)};
static const struct wire_field update[] = {
    BYTES(1, model, ALWAYS),
    NUMBER(2, participation, ANY),
    NUMBER(3, price_nano, ANY),
    NUMBER(4, spent_nano, ANY),
    DIGESTS(5),
    GRANTED(6, previous),
    GRANTED(7, salt),
    MASKED(8, digest),
    MASKED(9, envelope),
    MASKED(10, blind),
};

static const struct tacit_wire_table *const bodies[] = {
    BODY("SelectHello", hello, NULL),     BODY("SelectOrder", order, NULL),
    BODY("SelectRequest", request, NULL), BODY("SelectPiece", piece, check_piece),
    BODY("SelectCommit", commit, NULL),   BODY("SelectGrant", grant, NULL),
    BODY("SelectRefusal", refusal, NULL), BODY("SelectUpdate", update, NULL),
};
WIRE_MESSAGES("SelectMessage", SELECT, TACIT_SELECT_HELLO, round, NULL,
              UP_TO(TACIT_SELECT_ROUNDS_MAX + 1))

/* ---- The run --------------------------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_wire_select_run

static const struct wire_field numbers[] = {
    NUMBER(1, dimension, FROM(1), UP_TO(TACIT_SELECT_DIMENSION_MAX)),
    NUMBER(2, batches, ANY),
    NUMBER(3, deadline_s, FROM(1)),
    NUMBER(4, clip, ANY),
};

static bool check_run(void *message)
{
    const struct tacit_wire_select_run *const run = message;
    return run->clip > 0 && run->clip <= CLIP_MAX && run->arm_count == run->agent_count &&
           run->horizon > 0 && run->horizon <= TACIT_SELECT_ROUNDS_MAX;
}

static const struct tacit_wire_table parameters =
    TABLE("SelectParameters", FIELDS(numbers), .check = check_run);

PROTOCOL(select, SELECT, messages, NULL);
