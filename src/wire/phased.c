/* Messages of play in phases, and what it adds to an announcement (phased.proto). */
#include "tacit/wire_phased.h"
#include "walk.h"

/* ---- Messages -------------------------------------------------------------------------------- */

#define MESSAGE struct tacit_phased_message
#define COMMITTED(n, name) EACH(n, WIRE_BYTES, commit, struct tacit_commit, name, IF(commit))
#define MASKED(n, name) EACH(n, WIRE_BYTES, masked, struct tacit_helper_release, name, IF(masked))
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

static const struct wire_table *const bodies[] = {
    [TACIT_PHASED_HELLO] = BODY("PhasedHello", hello, NULL),
    [TACIT_PHASED_ORDER] = SIZED_BODY("PhasedOrder", order, check_order),
    [TACIT_PHASED_REPORT] = SIZED_BODY("PhasedReport", report, check_report),
    [TACIT_PHASED_COMMIT] = BODY("PhasedCommit", commit, NULL),
    [TACIT_PHASED_GRANT] = BODY("PhasedGrant", grant, NULL),
    [TACIT_PHASED_REFUSAL] = BODY("PhasedRefusal", refusal, NULL),
};
static const struct wire_field head[] = {
    VERSION(1, TACIT_WIRE_PHASED_VERSION),
    NUMBER(2, from, BELOW(WIRE_AGENTS), OR_NONE),
    NUMBER(3, run_id, ANY),
    NUMBER(4, round, UP_TO(TACIT_PHASED_ROUNDS_MAX + 1)),
};
static bool check_message(void *message)
{
    struct tacit_phased_message *const found = message;
    if (found->kind != TACIT_PHASED_ORDER)
        found->leader = TACIT_NO_ARM;
    return true;
}
static const struct wire_table messages = TABLE(
    "PhasedMessage", FIELDS(head), BODIES(bodies, TACIT_PHASED_HELLO), TO, .check = check_message);

size_t tacit_wire_phased_bytes(const struct tacit_phased_message *message)
{
    return wire_length(&messages, message, wire_no_sizes);
}

void tacit_wire_phased_encode(const struct tacit_phased_message *message, uint8_t *bytes)
{
    wire_write(&messages, message, wire_no_sizes, bytes);
}

enum tacit_status tacit_wire_phased_decode(const uint8_t *bytes, size_t size, uint32_t arm_count,
                                           uint32_t agent_count, uint32_t to,
                                           struct tacit_phased_message **message,
                                           const struct tacit_wire_allocator *allocator)
{
    uint32_t const sizes[WIRE_SIZES] = {1, arm_count, agent_count, to};
    return wire_make(&messages, sizes, bytes, size, allocator, message);
}

uint32_t tacit_wire_phased_kind(enum tacit_phased_message_kind kind)
{
    return TACIT_WIRE_KIND_ANNOUNCEMENT + 1 + (uint32_t)kind;
}

/* ---- The run --------------------------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_phases

/* A guard says what it guards and how well, or neither. */
static bool check_parameters(void *message)
{
    struct tacit_phases *const schedule = message;
    if (schedule->guard_arm == TACIT_NO_ARM && !(schedule->guard_loss > 0))
        schedule->guard_arm = 0;
    else if (schedule->guard_arm == TACIT_NO_ARM || !(schedule->guard_loss > 0))
        return false;
    return tacit_phases_is_valid(schedule);
}

static const struct wire_field numbers[] = {
    VERSION(1, 0), /* of elimination: 1, while the index had it as a rule */
    NUMBER(2, arms_per_round, ANY),
    NUMBER(3, growth, ANY),
    NUMBER(4, confidence, ANY),
    NUMBER(5, guard_arm, ANY),
    NUMBER(6, guard_loss, ANY),
};
static const struct wire_table parameters =
    TABLE("PhasedParameters", FIELDS(numbers), .check = check_parameters);

void tacit_wire_phased_parameters_encode(const struct tacit_phases *schedule,
                                         uint8_t bytes[TACIT_WIRE_PHASED_PARAMETERS_BYTES])
{
    struct tacit_phases written = *schedule;
    if (!(schedule->guard_loss > 0))
        written.guard_arm = TACIT_NO_ARM;
    wire_write(&parameters, &written, wire_no_sizes, bytes);
}

enum tacit_status tacit_wire_phased_run_decode(const struct tacit_wire_announcement *announcement,
                                               struct tacit_wire_phased_run *run)
{
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    struct tacit_wire_phased_run made = {
        .run_id = tacit_wire_run_id(agreement->run),
        .agent = announcement->agent,
        .epsilon_nano = agreement->epsilon_nano,
        .schedule = {.rule = TACIT_PHASES_INDEX,
                     .arm_count = agreement->arm_count,
                     .agent_count = agreement->agent_count,
                     .horizon = agreement->horizon,
                     .epsilon_per_reward = (double)agreement->epsilon_nano / (double)TACIT_NANO}};
    if (agreement->epsilon_nano == 0 || announcement->place_size != 0 ||
        made.agent >= made.schedule.agent_count ||
        !wire_read_parameters(agreement, TACIT_WIRE_PHASED_WORD, TACIT_WIRE_PHASED_FAMILY,
                              TACIT_WIRE_PHASED_VERSION, &parameters, &made.schedule))
        return TACIT_MALFORMED;
    *run = made;
    return TACIT_OK;
}
