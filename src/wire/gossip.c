/* Messages of gossip UCB, and what it adds to an announcement: parameters that all sites share, and
 * the neighbours of one site (gossip.proto). */
#include "tacit/wire_gossip.h"
#include "walk.h"

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

static const struct tacit_wire_table *const bodies[] = {
    [TACIT_GOSSIP_COUNTS] = BODY("GossipCounts", counts, NULL),
    [TACIT_GOSSIP_ASK] = BODY("GossipAsk", ask, NULL),
    [TACIT_GOSSIP_OFFER] = BODY("GossipOffer", offer, NULL),
    [TACIT_GOSSIP_SHIFT] = BODY("GossipShift", shift, NULL),
    [TACIT_GOSSIP_REFUSE] = &(const struct tacit_wire_table)TABLE("GossipRefuse", .field_count = 0),
};
static const struct wire_field head[] = {
    VERSION(1, TACIT_WIRE_GOSSIP_VERSION),
    NUMBER(2, from, BELOW(WIRE_AGENTS)),
    NUMBER(3, run_id, ANY),
    NUMBER(4, incarnation_number, ANY),
    NUMBER(5, incarnation, ANY),
};
static const struct tacit_wire_table messages =
    TABLE("GossipMessage", FIELDS(head), BODIES(bodies, TACIT_GOSSIP_COUNTS), LABEL);

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
const struct tacit_wire_table tacit_wire_gossip_progress =
    TABLE("GossipTold", FIELDS(where), .fits = check_progress, .from = WIRE_PLACE(from),
          .first_kind = TACIT_WIRE_GOSSIP_KIND_PROGRESS - 1);

/* ---- In an outbox ---------------------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_wire_gossip_release

static const struct wire_field drawn[] = {
    NUMBER(1, arm, ANY),
    NUMBER(2, pull_count, ANY),
    NUMBER(3, steps, ANY),
};
const struct tacit_wire_table tacit_wire_gossip_release = TABLE("GossipRelease", FIELDS(drawn));

/* ---- Parameters, and the place of a site ----------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_wire_gossip_run

static const struct wire_field numbers[] = {
    NUMBER(1, exchange_us, FROM(1), UP_TO(UINT64_C(1) << 56)),
    NUMBER(2, pull_us, ANY),
    FLAG(3, log_base_10),
};
static const struct tacit_wire_table parameters = TABLE("GossipParameters", FIELDS(numbers));

static bool check_neighbours(void *message)
{
    const struct tacit_wire_gossip_run *const run = message;
    return run->epsilon_nano > 0 &&
           wire_are_neighbours(run->neighbours, run->neighbour_count, run->agent, run->agent_count);
}

static const struct wire_field place_fields[] = {
    PARTS(1, neighbours, wire_neighbours, COUNT(neighbour_count), FROM(1)),
};
static const struct tacit_wire_table place =
    TABLE("GossipPlace", FIELDS(place_fields), .check = check_neighbours);

PROTOCOL(gossip, GOSSIP, messages, &place);
