/* Messages of play in phases, and what it adds to an announcement (phased.proto). */
#include "tacit/wire_phased.h"
#include "walk.h"

/* ---- Messages -------------------------------------------------------------------------------- */

#define MESSAGE struct tacit_phased_message
#define COMMITTED(n, name) EACH(n, WIRE_BYTES, commit, struct tacit_commit, name, IF(commit))
#define PLANNED(n, name, ...)                                                                      \
    EACH(n, WIRE_ROW, blocks, struct tacit_pull_block, name, COUNT(block_count), __VA_ARGS__)

/* Arms ascending; none in the last order. */
static bool check_order(void *message, const uint32_t *sizes)
{
    const struct tacit_phased_message *const order = message;
    for (uint32_t i = 1; i < order->block_count; i++)
        if (order->blocks[i].arm <= order->blocks[i - 1].arm)
            return false;
    return order->block_count <= sizes[WIRE_ARMS] && (order->block_count == 0) == order->last;
}

static bool check_report(void *message, const uint32_t *sizes)
{
    const struct tacit_phased_message *const report = message;
    return report->block_count > 0 && report->block_count <= sizes[WIRE_ARMS];
}

static const struct wire_field hello[] = {COMMITTED(1, commitment)};
static const struct wire_field order[] = {
    FLAG(1, last),
    NUMBER(2, leader, BELOW(WIRE_ARMS), OR_NONE),
    NUMBER(3, seen, ANY),
    PLANNED(4, arm, BELOW(WIRE_ARMS)),
    PLANNED(5, count, FROM(1), UP_TO(TACIT_HORIZON_MAX)),
};
static const struct wire_field report[] = {
    ROW(1, sums, COUNT(block_count)),
    COMMITTED(2, previous),
    COMMITTED(3, salt),
    MASKED(4, envelope),
    MASKED(5, blind),
};
WIRE_ROUND_FIELDS

static const struct tacit_wire_table *const bodies[] = {
    [TACIT_ROUND_HELLO] = BODY("PhasedHello", hello, NULL),
    [TACIT_ROUND_ORDER] = SIZED_BODY("PhasedOrder", order, check_order),
    [TACIT_ROUND_REPORT] = SIZED_BODY("PhasedReport", report, check_report),
    [TACIT_ROUND_COMMIT] = BODY("PhasedCommit", commit, NULL),
    [TACIT_ROUND_GRANT] = BODY("PhasedGrant", grant, NULL),
    [TACIT_ROUND_REFUSAL] = BODY("PhasedRefusal", refusal, NULL),
};
static bool check_message(void *message)
{
    struct tacit_phased_message *const found = message;
    if (found->kind != TACIT_ROUND_ORDER)
        found->leader = TACIT_NO_ARM;
    return true;
}
WIRE_MESSAGES("PhasedMessage", PHASED, TACIT_ROUND_HELLO, round, check_message,
              UP_TO(TACIT_PHASED_ROUNDS_MAX + 1))

/* ---- Parameters: a schedule ------------------------------------------------------------------ */

#undef MESSAGE
#define MESSAGE struct tacit_wire_phased_run

/* A guard says what it guards and how well, or neither. */
static bool check_run(void *message)
{
    struct tacit_wire_phased_run *const run = message;
    struct tacit_phases *const schedule = &run->schedule;
    bool const guards = schedule->guard_loss > 0;
    if ((schedule->guard_arm == TACIT_NO_ARM) == guards)
        return false;
    schedule->guard_arm = guards ? schedule->guard_arm : 0;
    schedule->rule = TACIT_PHASES_INDEX;
    schedule->arm_count = run->arm_count;
    schedule->agent_count = run->agent_count;
    schedule->horizon = run->horizon;
    schedule->epsilon_per_reward = tacit_nano_value(run->epsilon_nano);
    return run->epsilon_nano > 0 && run->agent < run->agent_count &&
           tacit_phases_is_valid(schedule);
}

static const struct wire_field numbers[] = {
    VERSION(1, 0), /* the rule, while there was another one: elimination was 1 */
    NUMBER(2, schedule.arms_per_round, ANY),
    NUMBER(3, schedule.growth, ANY),
    NUMBER(4, schedule.confidence, ANY),
    NUMBER(5, schedule.guard_arm, ANY),
    NUMBER(6, schedule.guard_loss, ANY),
};
static const struct tacit_wire_table parameters =
    TABLE("PhasedParameters", FIELDS(numbers), .check = check_run);

PROTOCOL(phased, PHASED, messages, NULL);
