/* Messages of gossip UCB, and what it adds to an announcement: parameters that all sites share, and
 * the neighbours of one site (gossip.proto). */
#include "tacit/wire_gossip.h"
#include <string.h>
#include "form.h"
#include "walk.h"

#define EXCHANGE_US_MAX (UINT64_C(1) << 56)

/* ---- Messages -------------------------------------------------------------------------------- */

#define MESSAGE struct tacit_gossip_message
#define SEEN(n, ...) ROW(n, seen, PER(WIRE_ARMS), UP_TO(TACIT_HORIZON_MAX + 1), __VA_ARGS__)
#define REALS(n, name) ROW(n, name, PER(WIRE_ARMS))

static const struct wire_field counts[] = {SEEN(1, ALWAYS)};
static const struct wire_field ask[] = {SEEN(1, IF(seen))};
static const struct wire_field offer[] = {
    NUMBER(1, exchange, ANY),
    SEEN(2, IF(seen)),
    REALS(3, theta),
    REALS(4, flow),
};
static const struct wire_field shift[] = {
    NUMBER(1, exchange, ANY),
    SEEN(2, IF(seen)),
    REALS(3, shift),
    REALS(4, flow),
};

static const struct wire_table *const bodies[] = {
    [TACIT_GOSSIP_COUNTS] = BODY("GossipCounts", counts, NULL),
    [TACIT_GOSSIP_ASK] = BODY("GossipAsk", ask, NULL),
    [TACIT_GOSSIP_OFFER] = BODY("GossipOffer", offer, NULL),
    [TACIT_GOSSIP_SHIFT] = BODY("GossipShift", shift, NULL),
    [TACIT_GOSSIP_REFUSE] = &(const struct wire_table)TABLE("GossipRefuse", .field_count = 0),
};
static const struct wire_field head[] = {
    VERSION(1, TACIT_WIRE_GOSSIP_VERSION),
    NUMBER(2, from, BELOW(WIRE_AGENTS)),
    NUMBER(3, run_id, ANY),
    NUMBER(4, incarnation_number, ANY),
    NUMBER(5, incarnation, ANY),
};
static const struct wire_table messages =
    TABLE("GossipMessage", FIELDS(head), BODIES(bodies, TACIT_GOSSIP_COUNTS), TO);

size_t tacit_wire_gossip_bytes(const struct tacit_gossip_message *message, uint32_t arm_count)
{
    return wire_length(&messages, message, (uint32_t[WIRE_SIZES]){1, arm_count});
}

void tacit_wire_gossip_encode(const struct tacit_gossip_message *message, uint32_t arm_count,
                              uint8_t *bytes)
{
    wire_write(&messages, message, (uint32_t[WIRE_SIZES]){1, arm_count}, bytes);
}

enum tacit_status tacit_wire_gossip_decode(const uint8_t *bytes, size_t size, uint32_t arm_count,
                                           uint32_t agent_count, uint32_t to,
                                           struct tacit_gossip_message **message,
                                           const struct tacit_wire_allocator *allocator)
{
    uint32_t const sizes[WIRE_SIZES] = {1, arm_count, agent_count, to};
    return wire_make(&messages, sizes, bytes, size, allocator, message);
}

uint32_t tacit_wire_gossip_kind(enum tacit_gossip_message_kind kind)
{
    TACIT_ASSERT(kind <= TACIT_GOSSIP_REFUSE);
    return TACIT_WIRE_KIND_ANNOUNCEMENT + 1 + (uint32_t)kind;
}

/* ---- To the hub ------------------------------------------------------------------------------ */

#undef MESSAGE
#define MESSAGE struct tacit_wire_gossip_progress

static bool check_progress(void *message, const uint32_t *sizes)
{
    const struct tacit_wire_gossip_progress *const progress = message;
    return progress->pull_count <= TACIT_HORIZON_MAX + sizes[WIRE_ARMS];
}

static const struct wire_field where[] = {
    VERSION(1, TACIT_WIRE_GOSSIP_VERSION),
    NUMBER(2, from, BELOW(WIRE_AGENTS)),
    NUMBER(3, run_id, ANY),
    NUMBER(4, pull_count, ANY),
    FLAG(5, finished),
    REALS(6, theta),
};
static const struct wire_table progress_table =
    TABLE("GossipTold", FIELDS(where), .fits = check_progress);

size_t tacit_wire_gossip_progress_bytes(uint32_t arm_count)
{
    static const struct tacit_wire_gossip_progress progress;
    return wire_length(&progress_table, &progress, (uint32_t[WIRE_SIZES]){1, arm_count});
}

void tacit_wire_gossip_progress_encode(const struct tacit_wire_gossip_progress *progress,
                                       uint32_t arm_count, uint8_t *bytes)
{
    wire_write(&progress_table, progress, (uint32_t[WIRE_SIZES]){1, arm_count}, bytes);
}

enum tacit_status tacit_wire_gossip_progress_decode(const uint8_t *bytes, size_t size,
                                                    uint32_t arm_count, uint32_t agent_count,
                                                    struct tacit_wire_gossip_progress *progress,
                                                    double *theta,
                                                    const struct tacit_wire_allocator *allocator)
{
    struct tacit_wire_gossip_progress found = {.from = 0};
    uint32_t const sizes[WIRE_SIZES] = {1, arm_count, agent_count};
    enum tacit_status const status =
        wire_fill(&progress_table, sizes, bytes, size, allocator, &found);
    if (status != TACIT_OK)
        return status;
    memcpy(theta, found.theta, arm_count * sizeof *theta);
    wire_give(allocator, (void *)(uintptr_t)found.theta);
    found.theta = theta;
    *progress = found;
    return TACIT_OK;
}

/* ---- In an outbox ---------------------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_wire_gossip_release

static const struct wire_field drawn[] = {
    NUMBER(1, arm, ANY),
    NUMBER(2, pull_count, ANY),
    NUMBER(3, steps, ANY),
};
static const struct wire_table releases = TABLE("GossipRelease", FIELDS(drawn));

void tacit_wire_gossip_release_encode(const struct tacit_wire_gossip_release *release,
                                      uint8_t bytes[TACIT_WIRE_GOSSIP_RELEASE_BYTES])
{
    wire_write(&releases, release, wire_no_sizes, bytes);
}

/* ---- The run --------------------------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_wire_gossip_run

static const struct wire_field numbers[] = {
    NUMBER(1, exchange_us, FROM(1), UP_TO(EXCHANGE_US_MAX)),
    NUMBER(2, pull_us, ANY),
    FLAG(3, log_base_10),
};
static const struct wire_table parameters = TABLE("GossipParameters", FIELDS(numbers));

static bool check_neighbours(void *message)
{
    const struct tacit_wire_gossip_run *const run = message;
    return wire_are_neighbours(run->neighbours, run->neighbour_count, run->agent, run->agent_count);
}

static const struct wire_field place_fields[] = {
    PARTS(1, neighbours, wire_neighbours, COUNT(neighbour_count), FROM(1)),
};
static const struct wire_table place =
    TABLE("GossipPlace", FIELDS(place_fields), .check = check_neighbours);

void tacit_wire_gossip_parameters_encode(const struct tacit_wire_gossip_run *run,
                                         uint8_t bytes[TACIT_WIRE_GOSSIP_PARAMETERS_BYTES])
{
    wire_write(&parameters, run, wire_no_sizes, bytes);
}

size_t tacit_wire_gossip_place_bytes(const struct tacit_wire_gossip_run *run)
{
    return wire_length(&place, run, wire_no_sizes);
}

void tacit_wire_gossip_place_encode(const struct tacit_wire_gossip_run *run, uint8_t *bytes)
{
    wire_write(&place, run, wire_no_sizes, bytes);
}

enum tacit_status tacit_wire_gossip_run_decode(const struct tacit_wire_announcement *announcement,
                                               struct tacit_wire_gossip_run *run,
                                               const struct tacit_wire_allocator *allocator)
{
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    struct tacit_wire_gossip_run found = {.run_id = tacit_wire_run_id(agreement->run),
                                          .agent = announcement->agent,
                                          .agent_count = agreement->agent_count,
                                          .arm_count = agreement->arm_count,
                                          .horizon = agreement->horizon,
                                          .epsilon_nano = agreement->epsilon_nano};
    if (agreement->epsilon_nano == 0 ||
        !wire_read_parameters(agreement, TACIT_WIRE_GOSSIP_WORD, TACIT_WIRE_GOSSIP_FAMILY,
                              TACIT_WIRE_GOSSIP_VERSION, &parameters, &found))
        return TACIT_MALFORMED;
    enum tacit_status const status = wire_fill(&place, wire_no_sizes, announcement->place,
                                               announcement->place_size, allocator, &found);
    if (status == TACIT_OK)
        *run = found;
    return status;
}
