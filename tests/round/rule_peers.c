/* Elimination among peers, for the storm (storm.h): over graphs, whose members judge by themselves,
 * also with signed rows, and in hybrids, whose sinks report to a hub. The agent inside is looked at
 * as that of a star. */
#include "../support/testing.h"
#include "rule_elimination.h"
#include "../support/digest_views.h"
#include "../support/network.h"

static const struct rule_elim *own_of(const struct storm_world *world)
{
    return world->own;
}

static const struct rule_elim_place *place_of(const struct storm_world *world, uint32_t node)
{
    return &own_of(world)->places[node % (world->sites + 1)];
}

static struct tacit_elim_peer_config config_of(const struct storm_world *world, uint32_t node)
{
    struct rule_elim const *const own = own_of(world);
    struct rule_elim_place const *const place = place_of(world, node);
    uint32_t const site = node % (world->sites + 1);
    bool const is_sink = own->gathers && place->parent == site;
    return (struct tacit_elim_peer_config){
        .agent = own->sites[site],
        .collection = own->gathers ? TACIT_ELIM_GATHER : TACIT_ELIM_SPREAD,
        .neighbours = place->neighbours,
        .neighbour_count = place->neighbour_count,
        .members = is_sink && own->component_count > 1 ? place->members : NULL,
        .parent = place->parent,
        .schedule = own->hub.schedule,
        .rows_max = world->sites % 3,
        .slot_us = world->arms % 2 * 20,
        .signs_rows = own->signs_rows,
        .confirm_us = own->signs_rows ? 100000 : 0};
}

/* ---- Networks ---- */

static void join(struct storm_world *world, uint32_t a, uint32_t b)
{
    world->near[a] |= 1u << b;
    world->near[b] |= 1u << a;
}

/* A tree whose branches may be cut off, or a connected graph. */
static void connect(struct storm_world *world, struct rule_elim *own)
{
    own->component_count = 1;
    own->places[0].parent = 0;
    own->places[0].members[0] = 1;
    own->weights[0] = 1;
    for (uint32_t site = 1; site < world->sites; site++) {
        uint32_t const before = storm_below(world, site);
        bool const is_cut = own->gathers && storm_below(world, 4) == 0;
        uint32_t sink = site;
        own->places[site].parent = is_cut ? site : before;
        own->component_count += is_cut ? 1 : 0;
        if (!is_cut)
            join(world, site, before);
        while (own->places[sink].parent != sink)
            sink = own->places[sink].parent;
        own->places[sink].members[0] |= UINT64_C(1) << site;
        own->weights[sink]++;
        if (!own->gathers && storm_below(world, 2) == 0)
            join(world, site, storm_below(world, site));
    }
}

/* Of each that is copied one grantor is not. */
static void choose_copies(struct storm_world *world)
{
    uint32_t const all = (1u << world->sites) - 1;
    uint32_t copies = 1 + storm_below(world, all);
    for (uint32_t site = 0; site < world->sites; site++)
        if ((world->grantors[site] & ~copies) == 0)
            copies &= ~(1u << site);
    world->may_be_copied = copies;
}

static const struct rule_elim_sites peers;

static void configure(struct storm_world *world)
{
    rule_elim_configure(world, 2 + storm_below(world, 4), false);
    struct rule_elim *const own = world->own;
    own->is = &peers;
    own->gathers = storm_below(world, 2) == 0;
    world->has_hub = own->gathers;
    own->hub.schedule.report_count = world->sites;
    own->signs_rows = !own->gathers && world->has_grants && storm_below(world, 2) == 0;
    connect(world, own);
    for (uint32_t site = 0; site < world->sites; site++) {
        struct rule_elim_place *const place = &own->places[site];
        for (uint32_t other = 0; other < world->sites; other++)
            if ((world->near[site] >> other & 1) != 0)
                place->neighbours[place->neighbour_count++] = other;
        world->grantors[site] = !own->gathers           ? world->near[site]
                                : place->parent == site ? 1u << world->sites
                                                        : 1u << place->parent;
    }
    own->hub.weights = own->gathers ? own->weights : NULL;
    choose_copies(world);
}

/* ---- Cores: the state, and its table behind it ---- */

static size_t peer_size(const struct storm_world *world, uint32_t node)
{
    struct tacit_elim_peer_config const config = config_of(world, node);
    struct rule_elim_place *const place =
        (struct rule_elim_place *)(uintptr_t)place_of(world, node);
    size_t const size = tacit_elim_peer_size(&config);
    if (size == 0)
        return 0;
    place->bytes = size;
    return size + tacit_elim_peer_table_size(&config);
}

static struct tacit_elim_table *table_of(const struct storm_world *world, uint32_t node,
                                         const void *state)
{
    return (struct tacit_elim_table *)((uintptr_t)state + place_of(world, node)->bytes);
}

static enum tacit_status peer_init(const struct storm_world *world, uint32_t node, void *state)
{
    struct tacit_elim_peer_config const config = config_of(world, node);
    enum tacit_status const status = tacit_elim_peer_init(state, &config);
    if (status != TACIT_OK)
        return status;
    tacit_elim_peer_table_init(table_of(world, node, state), &config, false);
    struct storm_node *const at = (struct storm_node *)(uintptr_t)&world->nodes[node];
    at->part_bytes = place_of(world, node)->bytes;
    return TACIT_OK;
}

static enum tacit_status peer_check(const struct storm_world *world, uint32_t node,
                                    const void *state, size_t size)
{
    struct tacit_elim_peer_config const config = config_of(world, node);
    size_t const bytes = place_of(world, node)->bytes;
    if (size < bytes)
        return tacit_elim_peer_check(state, size, NULL, 0, &config);
    return tacit_elim_peer_check(state, bytes, table_of(world, node, state), size - bytes, &config);
}

static enum tacit_status peer_step(const struct storm_world *world, uint32_t node,
                                   const struct tacit_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_elim_update *update)
{
    void *const state = world->nodes[node].state;
    struct tacit_event made = *event;
    made.signer = own_of(world)->signs_rows ? &network_signer : NULL;
    return tacit_elim_peer_step(state, table_of(world, node, state), &made, entropy, update);
}

static const struct tacit_elim_agent *agent_in(const void *state)
{
    return tacit_elim_peer_agent(state);
}

static const struct rule_elim_sites peers = {peer_size, peer_init, peer_check, peer_step, agent_in};

/* ---- What is shown ---- */

static uint64_t by_site(const struct rule_elim_place *place, const uint64_t *ranks)
{
    uint64_t sites = 0;
    for (uint32_t rank = 0; ranks != NULL && rank < place->neighbour_count; rank++)
        if (tacit_bits_has(ranks, rank))
            sites |= UINT64_C(1) << place->neighbours[rank];
    return sites;
}

static void look(const struct storm_world *world, uint32_t node, struct storm_look *look)
{
    struct tacit_elim_peer_view view;
    bool const is_hub = node == world->sites;
    rule_elimination.look(world, node, look);
    if (is_hub)
        return;
    tacit_elim_peer_view(world->nodes[node].state, &view);
    digest_elim_peer_view(&view, world->arms, world->sites);
    look->flagged = by_site(place_of(world, node), view.flagged);
    look->ahead = by_site(place_of(world, node), view.ahead);
    if (own_of(world)->gathers)
        return;
    bool const is_wild = world->kind == STORM_WILD;
    if (!rule_elim_are_means_of_pulls(world, view.round_count, view.arms, view.means))
        look->broken = "a peer's means are not those of what was played";
    if (!is_wild && view.proof != NULL)
        look->broken = "a peer that has one state is proved to have two";
    if (!is_wild && (storm_set_word(view.differing) & ~world->copied) != 0)
        look->broken = "a peer that has one state is said to hold other rows";
    if (!view.confirmed && look->end == STORM_IS_OVER && !view.agent.finished)
        look->end = STORM_GOES_ON;
}

/* ---- Messages ---- */

/* Room for a row of each: a set that was changed may name more than there are. */
static size_t message_size(const struct storm_world *world, const void *message)
{
    return rule_elimination.message_size(world, message) +
           64 * (world->arms * sizeof(union tacit_sum) + sizeof(struct tacit_elim_opening));
}

static void mend(const struct storm_world *world, void *message)
{
    struct tacit_elim_message *const said = message;
    uint64_t *const origins = (uint64_t *)(uintptr_t)said->origins;
    rule_elimination.mend(world, message);
    if (origins != NULL)
        origins[0] &= (UINT64_C(1) << world->sites) - 1;
}

#define FIELD(member) STORM_FIELD(struct tacit_elim_message, member)
static const struct storm_field fields[] = {
    FIELD(from),           FIELD(to),          FIELD(run_id),         FIELD(term),
    FIELD(epoch),          FIELD(seen),        FIELD(last),           FIELD(leader),
    FIELD(closed),         FIELD(forgot),      FIELD(pulls),          FIELD(agents),
    FIELD(is_signed),      FIELD(has_history), FIELD(history.rounds), FIELD(history.digest),
    FIELD(history.is_last)};

/* All else is elimination's, of the hub and of the agents inside (peers above). */
struct storm_rule rule_peers(void)
{
    static const uint32_t found[STORM_FOUND_MAX] = {18590, 29250, 35602};
    struct storm_rule rule = rule_elimination;
    rule.name = "peers";
    rule.configure = configure;
    rule.look = look;
    rule.message_size = message_size;
    rule.mend = mend;
    rule.operate = NULL;
    rule.fields = fields;
    rule.field_count = sizeof fields / sizeof *fields;
    memcpy(rule.found, found, sizeof found);
    rule.digest = UINT64_C(0x256813c4fcaded91);
    rule.verdicts = UINT64_C(0x00166ca76a1bad18);
    return rule;
}
