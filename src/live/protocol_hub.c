/* A hub of a run, whatever its family: the announcement, a state, from an event to what is to be
 * carried out. */
#include "bus/envelope.h"
#include "hub_helper.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- The announcement ------------------------------------------------------------------------ */

struct tacit_mechanism live_hub_mechanism(const struct live_hub_config *config)
{
    struct tacit_mechanism_config const wanted = {TACIT_PRIVACY_SOUND, config->epsilon, 0, 1};
    struct tacit_mechanism made;
    /* Checked when the file was read; the hub reads sums of any range alike, in steps. */
    TACIT_ASSERT(tacit_mechanism_init(&made, &wanted) == TACIT_OK);
    return made;
}

uint64_t live_hub_epsilon_nano(const struct live_hub_config *config)
{
    struct tacit_mechanism const mechanism = live_hub_mechanism(config);
    return tacit_mechanism_cost_nano(&mechanism);
}

struct tacit_wire_neighbour *live_hub_neighbours(const struct live_hub_config *config,
                                                 const struct tacit_graph *graph, uint32_t site,
                                                 struct live_room *room)
{
    uint32_t const degree = tacit_graph_degree(graph, site);
    TACIT_ASSERT(graph->agent_count == config->site_count);
    struct tacit_wire_neighbour *const neighbours =
        live_room_allocate(room, degree, sizeof *neighbours);
    for (uint32_t i = 0; neighbours != NULL && i < degree; i++) {
        uint32_t const other = graph->neighbours[graph->first[site] + i];
        neighbours[i] = (struct tacit_wire_neighbour){other, config->sites[other]};
    }
    return neighbours;
}

void live_hub_describe_edges(const struct live_hub_config *config, const struct tacit_graph *graph,
                             FILE *out)
{
    for (uint32_t site = 0; site < config->site_count; site++)
        for (uint64_t i = graph->first[site]; i < graph->first[site + 1]; i++)
            (void)fprintf(out, "network.edges %u,%u\n", site, graph->neighbours[i]);
}

/* The bytes of this table, in the room. false: out of memory. */
static bool encode(const struct tacit_wire_table *table, const struct tacit_wire_shape *shape,
                   const void *run, struct live_room *room, const uint8_t **made, size_t *size)
{
    *size = tacit_wire_bytes(table, shape, run);
    uint8_t *const bytes = live_room_allocate(room, 1, *size);
    if (bytes != NULL)
        tacit_wire_encode(table, shape, run, bytes);
    *made = bytes;
    return bytes != NULL;
}

static struct tacit_wire_shape shape_of(const struct live_hub_config *config)
{
    return (struct tacit_wire_shape){
        .arm_count = config->arm_count, .agent_count = config->site_count, .to = TACIT_HUB};
}

/* The run as its protocol has it, without a place. NULL: out of memory. */
static void *run_of(const struct live_hub_ops *ops, const struct live_hub_config *config,
                    uint32_t site, struct live_room *room)
{
    struct tacit_wire_run const head = {
        .run_id = config->run_id,
        .horizon = config->horizon,
        .epsilon_nano = ops->epsilon_nano == NULL ? 0 : ops->epsilon_nano(config),
        .agent = site,
        .agent_count = config->site_count,
        .arm_count = config->arm_count,
        .floor_milli = tacit_wire_floor_milli(config->has_helper, config->floor_nano)};
    void *const run = live_room_allocate(room, 1, ops->wire->run_size);
    if (run == NULL)
        return NULL;
    memcpy(run, &head, sizeof head);
    ops->parameters(config, run);
    return run;
}

/* What all sites must agree on; it points into config and the room. run: as run_of made it, or
 * NULL. false: out of memory. */
static bool fill_agreement(const struct live_hub_ops *ops, const struct live_hub_config *config,
                           const void *run, struct live_room *room,
                           struct tacit_wire_agreement *made)
{
    struct tacit_wire_shape const shape = shape_of(config);
    *made = (struct tacit_wire_agreement){
        .protocol = ops->wire->name,
        .family = ops->wire->family,
        .protocol_version = ops->wire->version,
        .agent_count = config->site_count,
        .arm_count = config->arm_count,
        .arms = config->arm_names,
        .lo = config->lo,
        .hi = config->hi,
        .horizon = config->horizon,
        .epsilon_nano = ops->epsilon_nano == NULL ? 0 : ops->epsilon_nano(config),
        .has_helper = config->has_helper,
        .floor_nano = config->floor_nano};
    live_hub_run(config, made->run);
    return run != NULL && encode(ops->wire->parameters, &shape, run, room, &made->parameters,
                                 &made->parameters_size);
}

enum tacit_status live_hub_agreed(const struct live_hub_ops *ops,
                                  const struct live_hub_config *config,
                                  uint8_t digest[TACIT_WIRE_DIGEST_BYTES])
{
    struct live_room room = {0};
    struct tacit_wire_agreement agreement;
    enum tacit_status const status =
        fill_agreement(ops, config, run_of(ops, config, 0, &room), &room, &agreement)
            ? tacit_wire_agreement_digest(&agreement, digest, tacit_wire_heap())
            : TACIT_MEMORY;
    live_room_free(&room);
    return status;
}

/* To be given to free(). NULL: out of memory. *has_place: it is longer for some than for others. */
static uint8_t *announce(const struct live_hub_ops *ops, const struct live_hub_config *config,
                         uint32_t site, size_t *size, bool *has_place)
{
    struct live_room room = {0};
    struct tacit_wire_announcement announcement = {.agent = site, .sealing = config->sealing};
    struct tacit_wire_shape const shape = shape_of(config);
    uint8_t *bytes = NULL;
    TACIT_ASSERT(site < config->site_count);
    void *const run = run_of(ops, config, site, &room);
    bool is_made = fill_agreement(ops, config, run, &room, &announcement.agreement);
    if (is_made && ops->fill_place != NULL)
        is_made = ops->fill_place(config, site, &room, run) &&
                  encode(ops->wire->place, &shape, run, &room, &announcement.place,
                         &announcement.place_size);
    *has_place = announcement.place_size > 0;
    if (is_made) {
        *size = tacit_wire_bytes(&tacit_wire_announcement, NULL, &announcement);
        bytes = malloc(*size);
    }
    if (bytes != NULL)
        tacit_wire_encode(&tacit_wire_announcement, NULL, &announcement, bytes);
    live_room_free(&room);
    return bytes;
}

uint8_t *live_hub_announce(const struct live_hub_ops *ops, const struct live_hub_config *config,
                           uint32_t site, size_t *size)
{
    bool has_place;
    return announce(ops, config, site, size, &has_place);
}

/* Would an offer or a request of all sites be longer than a message may be? Half of that is left
 * for sites with many grants that were not counted. */
static bool is_too_many_for_helper(const struct live_hub_config *config)
{
    size_t const offered = LIVE_KEY_BYTES + 1u + TACIT_WIRE_NAME_BYTES_MAX;
    size_t const asked = TACIT_HELPER_ENVELOPE_BYTES + 5u * TACIT_SHA256_BYTES + LIVE_PROOF_BYTES;
    size_t const each = 32u + (asked > offered ? asked : offered);
    return config->has_helper && config->site_count * each > LIVE_TRUST_BYTES_MAX / 2;
}

const char *live_hub_too_large(const struct live_hub_ops *ops, const struct live_hub_config *config)
{
    const char *key = is_too_many_for_helper(config) ? "sites" : ops->too_large(config);
    bool has_place = true;
    for (uint32_t site = 0; key == NULL && has_place && site < config->site_count; site++) {
        size_t size = 0;
        uint8_t *const bytes = announce(ops, config, site, &size, &has_place);
        if (bytes != NULL && size > LIVE_ENVELOPE_BYTES_MAX)
            key = has_place ? "network" : ops->one_run != NULL ? "sites" : "arms";
        free(bytes);
    }
    return key;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

void live_hub_free(struct live_hub *hub)
{
    if (hub == NULL)
        return;
    live_messages_clear(&hub->out);
    live_room_free(&hub->room);
    free(hub);
}

/* All but the state: what follows from the file, and the family's configuration of the core. */
static enum tacit_status set_up(struct live_hub *hub)
{
    struct tacit_wire_agreement agreement;
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    hub->shape = shape_of(hub->config);
    hub->keeps_nothing = hub->ops->core->size == NULL;
    hub->deadline_us = TACIT_NEVER;
    void const *const run = run_of(hub->ops, hub->config, 0, &hub->room);
    if (!fill_agreement(hub->ops, hub->config, run, &hub->room, &agreement) ||
        tacit_wire_agreement_digest(&agreement, digest, tacit_wire_heap()) != TACIT_OK)
        return TACIT_MEMORY;
    tacit_commit_domain(hub->config->federation, digest, hub->domain);
    hub->own = live_room_allocate(&hub->room, 1, hub->ops->core->own_size);
    if (hub->config->has_helper)
        hub->helper = live_room_allocate(&hub->room, 1, sizeof *hub->helper);
    hub->everybody = live_room_full_set(&hub->room, hub->config->site_count);
    if (hub->own == NULL || hub->room.is_short)
        return TACIT_MEMORY;
    if (hub->helper != NULL)
        hub->helper->run = live_trust_run(hub->config->federation, &agreement, digest);
    if (hub->helper != NULL && hub->ops->vector != NULL)
        hub->helper->delta = hub->ops->vector(run, &hub->helper->run);
    hub->ops->configure(hub);
    return hub->room.is_short ? TACIT_MEMORY : TACIT_OK;
}

/* The block: the core's state, then the helper's. bytes: as it was kept; of size 0: a new one. */
static enum tacit_status open_state(struct live_hub *hub, const void *bytes, size_t size)
{
    if (hub->keeps_nothing)
        return size == 0 ? TACIT_OK : TACIT_MALFORMED;
    struct live_core const *const core = hub->ops->core;
    struct live_hub_helper *const helper = hub->helper;
    size_t const core_size = core->size(hub->own);
    size_t const helper_size = helper == NULL ? 0 : live_hub_helper_size(helper);
    hub->state_size = core_size + helper_size;
    if (core_size == 0 || (helper != NULL && helper_size == 0) ||
        (size != 0 && size != hub->state_size))
        return TACIT_MALFORMED;
    hub->state = live_room_allocate(&hub->room, 1, hub->state_size);
    if (hub->state == NULL)
        return TACIT_MEMORY;
    if (size != 0)
        memcpy(hub->state, bytes, size);
    TACIT_TRY(size == 0 ? core->init(hub->state, hub->own)
                        : core->check(hub->state, core_size, hub->own));
    return helper != NULL ? live_hub_helper_open(helper, (unsigned char *)hub->state + core_size,
                                                 helper_size, size == 0)
                          : TACIT_OK;
}

/* The family's part, then what is known of the helper (live_hub_snapshot). */
static enum tacit_status restore_snapshot(struct live_hub *hub, const uint8_t *snapshot,
                                          size_t size)
{
    size_t const of_helper = live_hub_helper_entry_bytes(hub->helper);
    if (size < of_helper)
        return TACIT_MALFORMED;
    enum tacit_status const status = hub->ops->restore(hub, snapshot, size - of_helper);
    if (status == TACIT_OK && hub->helper != NULL)
        live_hub_helper_recall(hub->helper, snapshot + size - of_helper);
    return status;
}

/* bytes: the state as it was kept; of size 0: a new one. snapshot: to be put over that, or NULL. */
static enum tacit_status make(const struct live_hub_ops *ops, struct live_hub **hub,
                              const struct live_hub_config *config, const void *bytes, size_t size,
                              const uint8_t *snapshot, size_t snapshot_size)
{
    struct live_hub *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return TACIT_MEMORY;
    made->ops = ops;
    made->config = config;
    enum tacit_status status = set_up(made);
    if (status == TACIT_OK)
        status = open_state(made, bytes, size);
    if (status == TACIT_OK && snapshot != NULL)
        status = made->keeps_nothing ? (snapshot_size == 0 ? TACIT_OK : TACIT_MALFORMED)
                                     : restore_snapshot(made, snapshot, snapshot_size);
    if (status == TACIT_OK && ops->begin != NULL)
        ops->begin(made);
    if (status == TACIT_OK && made->helper != NULL && size > 0 && !live_hub_helper_fits(made))
        status = TACIT_MALFORMED;
    if (status == TACIT_OK)
        *hub = made;
    else
        live_hub_free(made);
    return status;
}

enum tacit_status live_hub_open(const struct live_hub_ops *ops, struct live_hub **hub,
                                const struct live_hub_config *config, const void *bytes,
                                size_t size)
{
    return make(ops, hub, config, bytes, size, NULL, 0);
}

enum tacit_status live_hub_rebuild(const struct live_hub_ops *ops, struct live_hub **hub,
                                   const struct live_hub_config *config, const uint8_t *bytes,
                                   size_t size)
{
    static const uint8_t nothing;
    TACIT_ASSERT(ops->is_rebuilt);
    return make(ops, hub, config, NULL, 0, bytes == NULL ? &nothing : bytes, size);
}

const void *live_hub_bytes(const struct live_hub *hub, size_t *size)
{
    *size = hub->state_size;
    return hub->state;
}

size_t live_hub_snapshot(const struct live_hub *hub, uint8_t *bytes, size_t room)
{
    TACIT_ASSERT(hub->ops->is_rebuilt);
    if (hub->keeps_nothing)
        return 0;
    size_t const of_helper = live_hub_helper_entry_bytes(hub->helper);
    size_t const size = hub->ops->snapshot(hub, bytes, room);
    if (hub->helper != NULL && size + of_helper <= room)
        live_hub_helper_write_entry(hub->helper, bytes + size);
    return size + of_helper;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

bool live_hub_send(struct live_hub *hub, const void *message)
{
    struct live_message *const made =
        live_messages_add(&hub->out, hub->ops->wire->messages, &hub->shape, message);
    if (made != NULL && hub->ops->set_delivery != NULL)
        hub->ops->set_delivery(message, made);
    return made != NULL;
}

struct tacit_event live_hub_core_event(const struct live_hub *hub,
                                       const struct live_hub_event *came, uint64_t term,
                                       const void *message, uint64_t *said_term)
{
    struct tacit_event made = {.now_us = came->now_us,
                               .dropped = live_hub_dropped(hub),
                               .kind = came->kind == LIVE_HUB_START ? TACIT_EVENT_START
                                                                    : TACIT_EVENT_TIMEOUT};
    TACIT_ASSERT((said_term != NULL) == (came->kind == LIVE_HUB_RECEIVE));
    if (came->kind == LIVE_HUB_START && came->term > 0)
        made.as.term = came->term - 1; /* the core counts from 0 */
    if (said_term == NULL)
        return made;
    *said_term = term;
    made.kind = TACIT_EVENT_RECEIVE;
    made.as.message = message;
    return made;
}

struct live_hub_view live_hub_show(const struct live_hub *hub,
                                   const struct tacit_round_hub_view *desk)
{
    struct live_hub_view view = {.judges = true,
                                 .is_finished = desk->finished,
                                 .is_overdue = desk->overdue,
                                 .awaits_totals = hub->helper != NULL && !desk->finished &&
                                                  desk->round > 0 && desk->reports_missing == 0,
                                 .epoch = desk->round,
                                 .report_count = desk->report_count,
                                 .missing_count = desk->reports_missing,
                                 .covered_count = desk->covered_count,
                                 .asked = hub->everybody,
                                 .received = desk->received,
                                 .seen = desk->seen,
                                 .flagged = desk->flagged,
                                 .ahead = desk->ahead};
    live_hub_show_helper(hub, &view);
    return view;
}

void live_hub_note(struct live_hub *hub, struct live_hub_update *update, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)vsnprintf(hub->note, sizeof hub->note, format, values);
    va_end(values);
    update->note = hub->note;
}

/* Whose report ended the round has its answer before all others have the order. */
static void answer_reporter(struct live_hub *hub, const struct live_hub_event *event,
                            const struct tacit_entropy *entropy, struct live_hub_update *update)
{
    struct live_messages *const out = &hub->out;
    struct live_hub_view view;
    if (hub->ops->hello == NULL || out->count == 0 || out->items[0].to != TACIT_EVERYONE)
        return;
    struct live_message const order = out->items[0];
    hub->ops->fill_view(hub, &view);
    struct tacit_round_message const asks = {
        .from = event->from, .to = TACIT_HUB, .run_id = hub->config->run_id, .round = view.epoch};
    void *const hello = hub->ops->hello(&asks);
    if (hello == NULL)
        return; /* it asks itself */
    (void)hub->ops->step(hub, event, hello, entropy, update);
    free(hello);
    TACIT_ASSERT(out->count > 0 && out->items[0].bytes == order.bytes);
    memmove(out->items, out->items + 1, (out->count - 1) * sizeof order);
    out->items[out->count - 1] = order;
}

/* Decodes the body, which must say what its envelope says, and steps. */
static enum tacit_status receive(struct live_hub *hub, const struct live_hub_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct live_hub_update *update)
{
    struct tacit_wire_table const *const table =
        hub->ops->reads != NULL ? hub->ops->reads : hub->ops->wire->messages;
    void *message;
    if (hub->ops->only_kind != 0 && event->message_kind != hub->ops->only_kind)
        return TACIT_UNEXPECTED;
    enum tacit_status status = tacit_wire_decode(table, &hub->shape, event->bytes, event->size,
                                                 &message, tacit_wire_heap());
    if (status != TACIT_OK)
        return status;
    struct tacit_wire_label const label = tacit_wire_label(table, message);
    if (label.kind != event->message_kind || label.epoch != event->message_epoch)
        status = TACIT_MALFORMED;
    else if (label.from != event->from)
        status = TACIT_STRANGER;
    else
        status = hub->ops->step(hub, event, message, entropy, update);
    free(message);
    answer_reporter(hub, event, entropy, update);
    return status;
}

static void begin_step(struct live_hub *hub, struct live_hub_update *update)
{
    live_messages_clear(&hub->out);
    *update = (struct live_hub_update){.deadline_us = hub->deadline_us};
}

static void end_step(struct live_hub *hub, struct live_hub_update *update)
{
    update->messages = hub->out.items;
    update->message_count = hub->out.count;
    hub->deadline_us = update->deadline_us;
}

enum tacit_status live_hub_step(struct live_hub *hub, const struct live_hub_event *event,
                                const struct tacit_entropy *entropy, struct live_hub_update *update)
{
    TACIT_ASSERT(event != NULL && entropy != NULL);
    TACIT_ASSERT(hub->keeps_nothing == (hub->state == NULL));
    begin_step(hub, update);
    if (event->kind == LIVE_HUB_START && hub->helper != NULL)
        update->persist = live_hub_helper_begin_term(hub, event->term);
    enum tacit_status const status =
        event->kind == LIVE_HUB_RECEIVE  ? receive(hub, event, entropy, update)
        : event->kind == LIVE_HUB_HELPER ? live_hub_on_helper(hub, event, entropy, update)
                                         : hub->ops->step(hub, event, NULL, entropy, update);
    end_step(hub, update);
    return status;
}

enum tacit_status live_hub_change(struct live_hub *hub, const struct live_control_entry *wanted,
                                  uint64_t now_us, const struct tacit_entropy *entropy,
                                  struct live_hub_update *update, uint32_t *number,
                                  const char **objection)
{
    begin_step(hub, update);
    if (hub->helper == NULL && wanted->change == LIVE_CHANGE_REPEAT) {
        *objection = "rounds are void, and repeated, with two aggregators alone";
        return TACIT_REFUSED;
    }
    TACIT_ASSERT(hub->ops->change != NULL);
    enum tacit_status const status =
        hub->helper != NULL
            ? live_hub_helper_change(hub, wanted, now_us, entropy, update, number, objection)
            : hub->ops->change(hub, wanted, now_us, entropy, update, number, objection);
    end_step(hub, update);
    return status;
}
