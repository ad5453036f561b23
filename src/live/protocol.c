/* A site of a run, whatever its family: from the announcement to a state in one block with it, from
 * an event to what is to be carried out. */
#include "protocol.h"
#include "bus/envelope.h"
#include "daemon/files.h"
#include "daemon/log.h"
#include <stdlib.h>
#include <string.h>

/* ---- Messages -------------------------------------------------------------------------------- */

static bool reserve(struct live_messages *list)
{
    TACIT_ASSERT(list->count <= list->capacity);
    if (list->count < list->capacity)
        return true;
    size_t const capacity = 2 * list->capacity + 4;
    struct live_message *const items = live_room_allocate(&list->room, capacity, sizeof *items);
    if (items == NULL)
        return false;
    if (list->count > 0)
        memcpy(items, list->items, list->count * sizeof *items);
    list->items = items;
    list->capacity = capacity;
    return true;
}

struct live_message *live_messages_add(struct live_messages *list,
                                       const struct tacit_wire_table *table,
                                       const struct tacit_wire_shape *shape, const void *message)
{
    struct tacit_wire_label const label = tacit_wire_label(table, message);
    size_t const size = tacit_wire_bytes(table, shape, message);
    uint8_t *const bytes = reserve(list) ? live_room_allocate(&list->room, 1, size) : NULL;
    TACIT_ASSERT(size > 0);
    if (bytes == NULL) {
        live_log(LIVE_LOG_WARNING, "memory", "a message was not sent now; it will be sent again");
        return NULL;
    }
    tacit_wire_encode(table, shape, message, bytes);
    struct live_message *const made = &list->items[list->count++];
    *made = (struct live_message){.to = label.to,
                                  .kind = label.kind,
                                  .epoch = label.epoch,
                                  .is_retained = label.to == TACIT_EVERYONE,
                                  .bytes = bytes,
                                  .size = size};
    return made;
}

void live_messages_clear(struct live_messages *list)
{
    live_room_free(&list->room);
    *list = (struct live_messages){0};
}

bool live_message_fits(const struct tacit_wire_protocol *wire, const struct tacit_wire_shape *shape,
                       const void *largest)
{
    return tacit_wire_bytes(wire->messages, shape, largest) <= LIVE_ENVELOPE_BYTES_MAX;
}

/* ---- Resending ------------------------------------------------------------------------------- */

uint64_t live_site_resend_us(uint64_t least_us, uint32_t agent_count)
{
    uint64_t const round_us = agent_count * UINT64_C(1000);
    return round_us > least_us ? round_us : least_us;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

void live_site_free(struct live_site *site)
{
    if (site == NULL)
        return;
    live_messages_clear(&site->out);
    live_room_free(&site->room);
    free(site);
}

enum tacit_status live_site_mechanism(const struct live_site_config *config,
                                      struct tacit_mechanism *mechanism)
{
    struct tacit_mechanism_config const wanted = {TACIT_PRIVACY_SOUND, config->epsilon, config->lo,
                                                  config->hi};
    return tacit_mechanism_init(mechanism, &wanted);
}

const char *live_site_reckoning(const struct live_site *site)
{
    return live_site_agreement(site)->epsilon_nano > tacit_mechanism_cost_nano(&site->mechanism)
               ? "the run reckons with a larger epsilon per reward than policy.epsilon"
               : NULL;
}

const char *live_site_halt(const struct live_site *site, struct tacit_ledger ledger,
                           uint64_t number)
{
    uint64_t const cost_nano = tacit_mechanism_cost_nano(&site->mechanism);
    return tacit_ledger_spend(&ledger, number, cost_nano) != TACIT_OK
               ? "halted: the next release would cost more than policy.budget"
               : "halted: others have seen more of this site than this state knows; it is a copy "
                 "or an old one, and nothing is released from it";
}

static const char *trouble_of(const struct live_site *site, const struct tacit_round_view *play)
{
    TACIT_IMPLIES(play->forgotten, play->blocked);
    if (play->forgotten)
        return LIVE_SITE_FORGOTTEN;
    if (play->blocked)
        return "blocked: the coordinator has granted another release of this site instead; either "
               "this state is a copy or an old one, and nothing is released from it, or the state "
               "of the coordinator is old, or it does not say what is true";
    return play->halted ? live_site_halt(site, *play->ledger, play->draw_number + 1) : NULL;
}

struct live_site_view live_site_show(const struct live_site *site,
                                     const struct tacit_round_view *play)
{
    return (struct live_site_view){.epoch = play->round,
                                   .is_waiting = play->waiting || play->releasing,
                                   .is_decided = play->last,
                                   .is_finished = play->finished,
                                   .is_halted = play->halted,
                                   .pull_count = play->pull_count,
                                   .is_committed = play->committed,
                                   .is_blocked = play->blocked,
                                   .forgetful = play->forgotten ? TACIT_WIRE_COORDINATOR : NULL,
                                   .trouble = trouble_of(site, play),
                                   .draw_number = play->draw_number,
                                   .release_number = play->release_number,
                                   .spent_nano = tacit_ledger_spent_nano(play->ledger)};
}

void live_site_promise(const struct live_site_config *config, enum tacit_leaving leaving,
                       struct tacit_promise *promise)
{
    struct tacit_mechanism mechanism;
    if (live_site_mechanism(config, &mechanism) == TACIT_OK)
        promise->mechanism = tacit_promise_mechanism_of(&mechanism, leaving);
}

const uint32_t *live_site_set_neighbours(struct live_site *site,
                                         const struct tacit_wire_neighbour *neighbours,
                                         uint32_t count)
{
    uint32_t *const agents = live_room_allocate(&site->room, count, sizeof *agents);
    TACIT_ASSERT(site->neighbours == NULL && (count == 0 || neighbours != NULL));
    for (uint32_t i = 0; agents != NULL && i < count; i++)
        agents[i] = neighbours[i].agent;
    site->neighbours = neighbours;
    site->neighbour_count = count;
    return agents;
}

/* Decodes the announcement into the site, and has the family make its core's configuration of it.
 * digest: of the agreement. */
static enum tacit_status read_announcement(struct live_site *site, const uint8_t *bytes,
                                           size_t size, uint8_t digest[TACIT_WIRE_DIGEST_BYTES])
{
    struct tacit_wire_allocator const allocator = live_room_allocator(&site->room);
    TACIT_TRY(tacit_wire_decode(&tacit_wire_announcement, NULL, bytes, size, &site->announcement,
                                &allocator));
    struct tacit_wire_agreement const *const agreement = &site->announcement->agreement;
    site->shape = (struct tacit_wire_shape){.arm_count = agreement->arm_count,
                                            .agent_count = agreement->agent_count};
    TACIT_TRY(tacit_wire_agreement_digest(agreement, digest, tacit_wire_heap()));
    tacit_commit_domain(site->config.federation, digest, site->domain);
    site->config.resend_after_us =
        live_site_resend_us(site->config.resend_after_us, agreement->agent_count);
    site->own = live_room_allocate(&site->room, 1, site->ops->core->own_size);
    site->plan = live_room_allocate(&site->room, agreement->arm_count, sizeof *site->plan);
    void *const run = live_room_allocate(&site->room, 1, site->ops->wire->run_size);
    if (site->own == NULL || site->plan == NULL || run == NULL)
        return TACIT_MEMORY;
    site->run = run;
    enum tacit_status status =
        tacit_wire_run_decode(site->ops->wire, site->announcement, run, &allocator);
    if (status == TACIT_OK)
        status = site->ops->configure(site);
    return status == TACIT_OK && site->room.is_short ? TACIT_MEMORY : status;
}

/* A site without a state yet. Errors: nothing is left of it. */
static enum tacit_status make(const struct live_site_ops *ops, struct live_site **made,
                              const struct live_site_config *config, const uint8_t *announcement,
                              size_t size, uint8_t digest[TACIT_WIRE_DIGEST_BYTES])
{
    struct live_site *const site = calloc(1, sizeof *site);
    if (site == NULL)
        return TACIT_MEMORY;
    site->ops = ops;
    site->config = *config;
    site->deadline_us = site->wake_us = TACIT_NEVER;
    enum tacit_status const status = read_announcement(site, announcement, size, digest);
    if (status == TACIT_OK)
        *made = site;
    else
        live_site_free(site);
    return status;
}

/* A state of zeros behind the announcement: [size of the announcement, the announcement, filled up
 * to 8] [digest of the agreement in it, where the family keeps one] [state]. So a state is never
 * played under another run than its own. */
static enum tacit_status make_state(struct live_site *site, const uint8_t *announcement,
                                    size_t size, const uint8_t digest[TACIT_WIRE_DIGEST_BYTES])
{
    uint64_t const length = size;
    size_t const digest_at = sizeof length + ((size + 7u) & ~(size_t)7u);
    size_t const digest_size = site->ops->keeps_digest ? TACIT_WIRE_DIGEST_BYTES : 0;
    site->state_size = site->ops->core->size(site->own);
    if (site->state_size == 0)
        return TACIT_MALFORMED;
    site->block_size = digest_at + digest_size + site->state_size;
    site->block = live_room_allocate(&site->room, 1, site->block_size);
    if (site->block == NULL)
        return TACIT_MEMORY;
    memcpy(site->block, &length, sizeof length);
    memcpy(site->block + sizeof length, announcement, size);
    memcpy(site->block + digest_at, digest, digest_size);
    site->state = site->block + digest_at + digest_size;
    return TACIT_OK;
}

/* The state that the bytes have, behind the same announcement and digest. */
static enum tacit_status load_state(struct live_site *site, const void *bytes, size_t size)
{
    size_t const head = (size_t)((unsigned char *)site->state - site->block);
    TACIT_ASSERT(head + site->state_size == site->block_size);
    if (size != site->block_size || memcmp(bytes, site->block, head) != 0)
        return TACIT_MALFORMED;
    memcpy(site->block, bytes, size);
    return site->ops->core->check(site->state, site->state_size, site->own);
}

/* Begins the site that was made, or frees it if the status is an error. Result: the status. */
static enum tacit_status finish(struct live_site *made, enum tacit_status status, bool is_restored,
                                struct live_site **site)
{
    if (status != TACIT_OK) {
        live_site_free(made);
        return status;
    }
    if (made->ops->begin != NULL)
        made->ops->begin(made, is_restored);
    *site = made;
    return TACIT_OK;
}

enum tacit_status live_site_join(const struct live_site_ops *ops, struct live_site **site,
                                 const struct live_site_config *config, const uint8_t *announcement,
                                 size_t size, const char **objection)
{
    struct live_site *made;
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    TACIT_TRY(make(ops, &made, config, announcement, size, digest));
    *objection = ops->objection(made); /* before memory is taken */
    enum tacit_status status =
        *objection != NULL ? TACIT_REFUSED : make_state(made, announcement, size, digest);
    if (status == TACIT_OK) {
        status = ops->core->init(made->state, made->own);
        TACIT_ASSERT(status == TACIT_OK); /* its size said that it is valid */
    }
    return finish(made, status, false, site);
}

enum tacit_status live_site_restore(const struct live_site_ops *ops, struct live_site **site,
                                    const struct live_site_config *config, const void *bytes,
                                    size_t size, const char **objection)
{
    struct live_site *made;
    uint64_t length;
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    *objection = NULL;
    if (size < sizeof length)
        return TACIT_MALFORMED;
    memcpy(&length, bytes, sizeof length);
    if (length > size - sizeof length)
        return TACIT_MALFORMED;
    uint8_t const *const announcement = (const uint8_t *)bytes + sizeof length;
    TACIT_TRY(make(ops, &made, config, announcement, (size_t)length, digest));
    enum tacit_status status = make_state(made, announcement, (size_t)length, digest);
    if (status == TACIT_OK)
        status = load_state(made, bytes, size);
    if (status == TACIT_OK && ops->keeps_objecting)
        *objection = ops->objection(made);
    return finish(made, *objection == NULL ? status : TACIT_MALFORMED, true, site);
}

const void *live_site_bytes(const struct live_site *site, size_t *size)
{
    TACIT_ASSERT(site->state_size > 0);
    *size = site->block_size;
    return site->block;
}

bool live_site_is_of(const struct live_site *site, const uint8_t *announcement, size_t size)
{
    uint64_t length;
    TACIT_ASSERT(site->block != NULL);
    memcpy(&length, site->block, sizeof length);
    return length == size && memcmp(site->block + sizeof length, announcement, size) == 0;
}

const struct tacit_wire_agreement *live_site_agreement(const struct live_site *site)
{
    return &site->announcement->agreement;
}

/* ---- What a step may call -------------------------------------------------------------------- */

enum tacit_event_kind live_event_kind(const struct live_site_event *event)
{
    static const enum tacit_event_kind kinds[] = {
        [LIVE_SITE_START] = TACIT_EVENT_START,
        [LIVE_SITE_CONNECTED] = TACIT_EVENT_START, /* what was said may have been lost */
        [LIVE_SITE_REWARD] = TACIT_EVENT_REWARD,
        [LIVE_SITE_EXPLOITED] = TACIT_EVENT_EXPLOITED,
        [LIVE_SITE_RECEIVE] = TACIT_EVENT_RECEIVE,
        [LIVE_SITE_OFFER] = TACIT_EVENT_OFFER,
        [LIVE_SITE_TIMEOUT] = TACIT_EVENT_TIMEOUT,
        [LIVE_SITE_REFUSE] = TACIT_EVENT_TIMEOUT, /* it happens now, and brings nothing */
        [LIVE_SITE_TASK] = TACIT_EVENT_TIMEOUT};
    TACIT_ASSERT(event->kind < sizeof kinds / sizeof kinds[0]);
    return kinds[event->kind];
}

struct tacit_reward live_event_reward(const struct live_site *site,
                                      const struct live_site_event *event)
{
    TACIT_ASSERT(event->kind == LIVE_SITE_REWARD);
    struct tacit_reward reward = {.arm = event->as.reward.arm, .count = 1};
    reward.sum.steps = tacit_scale_level(&site->mechanism.scale, event->as.reward.value);
    return reward;
}

void live_site_send(struct live_site *site, const void *message)
{
    (void)live_messages_add(&site->out, site->ops->wire->messages, &site->shape, message);
}

/* Without bytes the daemon stops: nothing may leave unwritten. */
static void set_release(const struct live_site_release *release, const uint8_t *bytes, size_t size,
                        struct live_site_update *update)
{
    TACIT_ASSERT(release->number > 0 && size > 0);
    update->has_release = true;
    update->release = *release;
    update->release.bytes = bytes;
    update->release.size = size;
}

void live_site_reveal(struct live_site *site, const void *message,
                      const struct live_site_release *release, struct live_site_update *update)
{
    struct live_message const *const made =
        live_messages_add(&site->out, site->ops->wire->messages, &site->shape, message);
    set_release(release, made == NULL ? NULL : made->bytes, made == NULL ? 1 : made->size, update);
}

uint8_t *live_site_write(struct live_site *site, const struct live_site_release *release,
                         size_t size, struct live_site_update *update)
{
    uint8_t *const bytes = live_room_allocate(&site->out.room, 1, size);
    set_release(release, bytes, size, update);
    return bytes;
}

void live_site_record(struct live_site *site, const void *message,
                      const struct live_site_release *release, struct live_site_update *update)
{
    struct tacit_wire_table const *const table = site->ops->wire->messages;
    uint8_t *const bytes =
        live_site_write(site, release, tacit_wire_bytes(table, &site->shape, message), update);
    if (bytes != NULL)
        tacit_wire_encode(table, &site->shape, message, bytes);
}

void live_site_settle(struct live_site *site, uint64_t number, struct live_site_update *update)
{
    TACIT_ASSERT(update->acknowledged <= site->acknowledged);
    if (number <= site->acknowledged)
        return;
    site->acknowledged = number;
    update->acknowledged = number;
}

void live_site_on_answer(struct live_site *site, const struct tacit_round_message *said,
                         uint32_t released, uint64_t number, struct live_site_update *update)
{
    /* A release a round in a term: so many rounds before the newest, so many numbers before it. */
    bool const is_settled = said->closed && said->round == released;
    uint32_t const round = is_settled ? released : said->to != TACIT_EVERYONE ? said->seen : 0;
    if (round > 0 && round <= released) /* of this term */
        live_site_settle(site, number - (released - round), update);
}

void live_site_plan(struct live_site *site, const struct tacit_pull_block *plan, uint32_t count,
                    struct live_site_update *update)
{
    TACIT_ASSERT(count <= site->shape.arm_count);
    if (count > 0)
        memcpy(site->plan, plan, count * sizeof *plan);
    update->has_plan = true;
    update->plan = site->plan;
    update->plan_count = count;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static enum tacit_status receive(struct live_site *site, const struct live_site_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct live_site_update *update)
{
    struct tacit_wire_table const *const table = site->ops->wire->messages;
    struct tacit_wire_shape shape = site->shape;
    bool const is_broadcast = event->as.message.is_broadcast;
    void *message;
    if (site->ops->hub_is_silent && (is_broadcast || event->as.message.from == TACIT_HUB))
        return TACIT_UNEXPECTED;
    shape.to = is_broadcast ? TACIT_EVERYONE : site->announcement->agent;
    enum tacit_status status =
        tacit_wire_decode(table, &shape, event->as.message.bytes, event->as.message.size, &message,
                          tacit_wire_heap());
    if (status != TACIT_OK)
        return status;
    struct tacit_wire_label const label = tacit_wire_label(table, message);
    if (label.kind != event->as.message.kind || label.epoch != event->as.message.epoch)
        status = TACIT_MALFORMED;
    else if (label.from != event->as.message.from)
        status = TACIT_STRANGER;
    else
        status = site->ops->step(site, event, message, entropy, update);
    free(message);
    return status;
}

enum tacit_status live_site_step(struct live_site *site, const struct live_site_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct live_site_update *update)
{
    enum tacit_status status = TACIT_UNEXPECTED;
    TACIT_ASSERT(event != NULL && entropy != NULL);
    TACIT_ASSERT(site->state != NULL);
    live_messages_clear(&site->out);
    *update = (struct live_site_update){0};
    if (event->kind == LIVE_SITE_RECEIVE)
        status = receive(site, event, entropy, update);
    else if ((site->ops->events & 1u << event->kind) != 0)
        status = site->ops->step(site, event, NULL, entropy, update);
    update->messages = site->out.items;
    update->message_count = site->out.count;
    update->deadline_us = site->deadline_us < site->wake_us ? site->deadline_us : site->wake_us;
    return status;
}

/* ---- Showing --------------------------------------------------------------------------------- */

void live_site_role(const struct live_site *site, struct live_site_role *role)
{
    struct tacit_wire_announcement const *const announcement = site->announcement;
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    *role = (struct live_site_role){.run_id = tacit_wire_run_id(agreement->run),
                                    .agent = announcement->agent,
                                    .agent_count = agreement->agent_count,
                                    .horizon = agreement->horizon,
                                    .has_neighbours = site->neighbours != NULL,
                                    .neighbours = site->neighbours,
                                    .neighbour_count = site->neighbour_count,
                                    .sites = site->sites};
}

static int compare_arms(const void *left, const void *right, void *context)
{
    struct live_site const *const site = context;
    uint32_t const a = *(const uint32_t *)left;
    uint32_t const b = *(const uint32_t *)right;
    if (site->ops->prefers(site, a, b))
        return -1;
    if (site->ops->prefers(site, b, a))
        return 1;
    return a < b ? -1 : a > b;
}

uint32_t live_site_rank(const struct live_site *site, const struct live_site_config *config,
                        uint32_t *arms)
{
    struct live_site_view view = {0};
    uint32_t count = 0;
    if (site != NULL)
        site->ops->fill_view(site, &view);
    for (uint32_t arm = 0; arm < config->arm_count; arm++)
        if (live_site_has_arm(&view, arm))
            arms[count++] = arm;
    if (site != NULL && site->ops->prefers != NULL)
        qsort_r(arms, count, sizeof *arms, compare_arms, (void *)(uintptr_t)site);
    return count;
}

void live_file_keep(const char *directory, const struct live_file *file)
{
    if (live_file_put(directory, file->name, file->bytes, file->size, UINT32_MAX) != TACIT_OK)
        live_log(LIVE_LOG_WARNING, "file", "%s could not be written", file->name);
    else
        live_log(LIVE_LOG_INFO, "file", "%s is in %s", file->name, directory);
}
