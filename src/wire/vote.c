/* Messages of elimination by votes, and what it adds to an announcement (vote.proto). */
#include <string.h>
#include "tacit/wire_vote.h"
#include "walk.h"

/* ---- Messages -------------------------------------------------------------------------------- */

#define MESSAGE struct tacit_vote_hub_message

/* What is of a draw, and what opens its commitment; ANEW is to all, and of none. */
static bool check_message(void *message)
{
    static const uint8_t nothing[TACIT_SHA256_BYTES];
    const struct tacit_vote_hub_message *const found = message;
    bool const is_drawn = found->draw > 0;
    bool const is_committed = memcmp(found->commitment, nothing, sizeof nothing) != 0;
    return (found->kind != TACIT_VOTE_COMMIT || (is_drawn && is_committed)) &&
           (found->kind != TACIT_VOTE_GRANTED || is_committed) &&
           (found->kind != TACIT_VOTE_RELEASE || is_drawn) &&
           (found->kind != TACIT_VOTE_ANEW || !is_drawn);
}

static const struct wire_field hello[] = {BYTES(1, commitment, ALWAYS)};
static const struct wire_field commit[] = {
    BYTES(1, commitment, ALWAYS),
    BYTES(2, previous, ALWAYS),
};
static const struct wire_field cast[] = {
    NUMBER(1, reset, ANY),
    SET(2, marks, PER(WIRE_ARMS)),
    BYTES(3, commitment, ALWAYS),
};
static const struct wire_field refused[] = {
    BYTES(1, commitment, ALWAYS),
    EMPTY(2),
    FLAG(3, forgot),
};
static const struct wire_field row[] = {
    NUMBER(1, player, BELOW(WIRE_AGENTS)),
    NUMBER(2, reset, ANY),
    SET(3, marks, PER(WIRE_ARMS)),
};
static const struct wire_field anew[] = {NUMBER(1, reset, FROM(1))};
static const struct wire_field release[] = {
    SET(1, marks, PER(WIRE_ARMS)),
    ROW(2, sums, PER(WIRE_ARMS)),
    BYTES(3, previous, ALWAYS),
    BYTES(4, salt, ALWAYS),
};

static const struct tacit_wire_table *const bodies[] = {
    [TACIT_VOTE_HELLO] = BODY("VoteHello", hello, NULL),
    [TACIT_VOTE_COMMIT] = BODY("VoteCommit", commit, NULL),
    [TACIT_VOTE_CAST] = BODY("VoteCast", cast, NULL),
    [TACIT_VOTE_GRANTED] = BODY("VoteGranted", hello, NULL),
    [TACIT_VOTE_REFUSED] = BODY("VoteRefused", refused, NULL),
    [TACIT_VOTE_ROW] = BODY("VoteRow", row, NULL),
    [TACIT_VOTE_ANEW] = BODY("VoteAnew", anew, NULL),
    [TACIT_VOTE_RELEASE] = BODY("VoteRelease", release, NULL),
};
WIRE_MESSAGES("VoteMessage", VOTE, TACIT_VOTE_HELLO, draw, check_message, ANY)

/* ---- The run --------------------------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_wire_vote_run

static const struct wire_field numbers[] = {
    NUMBER(1, accuracy, ANY),
    NUMBER(2, eta, ANY),
    NUMBER(3, votes_needed, FROM(1)),
    NUMBER(4, committee, ANY),
    NUMBER(5, reset_after_s, ANY),
    NUMBER(6, tick_ms, FROM(1)),
    NUMBER(7, block, IF(block), UP_TO(TACIT_VOTE_BLOCK_MAX)),
};

static bool check_run(void *message)
{
    const struct tacit_wire_vote_run *const run = message;
    return run->epsilon_nano > 0 && run->accuracy > 0 && run->accuracy <= 1 && run->eta > 0 &&
           run->eta < 1 && run->votes_needed <= run->agent_count &&
           run->committee <= run->agent_count &&
           (run->committee == 0 || run->committee >= run->votes_needed) &&
           (run->block == 0 ||
            (run->votes_needed == 1 && run->committee == 0 && run->reset_after_s == 0));
}

static const struct tacit_wire_table parameters =
    TABLE("VoteParameters", FIELDS(numbers), .check = check_run);

PROTOCOL(vote, VOTE, messages, NULL);
