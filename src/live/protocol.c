/* A site of a run, whatever its family: from the announcement to a state in one block with it, from
 * an event to what is to be carried out. */
#include "protocol.h"
#include <stdlib.h>
#include <string.h>

/* ---- Beginning and end ----------------------------------------------------------------------- */

void live_site_free(struct live_site *site)
{
    if (site == NULL)
        return;
    live_block_free(&site->block);
    live_messages_free(&site->out);
    free(site->release);
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

/* What the announcement says, for all families and for this one. */
static enum tacit_status describe(struct live_site *site, const uint8_t *bytes, size_t size,
                                  uint8_t digest[TACIT_WIRE_DIGEST_BYTES])
{
    struct tacit_wire_allocator const allocator = live_room_allocator(&site->room);
    enum tacit_status status =
        tacit_wire_announcement_decode_with(bytes, size, &site->announcement, &allocator);
    if (status != TACIT_OK)
        return status;
    struct tacit_wire_agreement const *const agreement = &site->announcement->agreement;
    site->shape = (struct live_shape){.arm_count = agreement->arm_count,
                                      .agent_count = agreement->agent_count};
    status = tacit_wire_agreement_digest(agreement, digest);
    if (status != TACIT_OK)
        return status;
    tacit_commit_domain(site->config.federation, digest, site->domain);
    site->own = live_room_take(&site->room, 1, site->ops->own_size);
    site->plan = live_room_take(&site->room, agreement->arm_count, sizeof *site->plan);
    return site->own == NULL || site->plan == NULL ? TACIT_MEMORY : site->ops->configure(site);
}

/* Everything but a state. */
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
    enum tacit_status const status = describe(site, announcement, size, digest);
    if (status == TACIT_OK)
        *made = site;
    else
        live_site_free(site);
    return status;
}

/* A state of zeros behind the announcement. */
static enum tacit_status make_state(struct live_site *site, const uint8_t *announcement,
                                    size_t size, const uint8_t digest[TACIT_WIRE_DIGEST_BYTES])
{
    site->state_size = site->ops->size(site);
    enum tacit_status const status =
        live_block_new(&site->block, announcement, size, site->ops->keeps_digest ? digest : NULL,
                       site->state_size);
    if (status == TACIT_OK)
        site->state = live_block_state(&site->block);
    return status;
}

/* The site is whole, or gone. */
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
    enum tacit_status status = make(ops, &made, config, announcement, size, digest);
    if (status != TACIT_OK)
        return status;
    *objection = ops->objection(made); /* before memory is taken */
    status = *objection != NULL ? TACIT_REFUSED : make_state(made, announcement, size, digest);
    if (status == TACIT_OK)
        ops->init(made);
    return finish(made, status, false, site);
}

enum tacit_status live_site_restore(const struct live_site_ops *ops, struct live_site **site,
                                    const struct live_site_config *config, const void *bytes,
                                    size_t size)
{
    struct live_site *made;
    const uint8_t *announcement;
    size_t announcement_size;
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    enum tacit_status status = live_block_read(bytes, size, &announcement, &announcement_size);
    if (status == TACIT_OK)
        status = make(ops, &made, config, announcement, announcement_size, digest);
    if (status != TACIT_OK)
        return status;
    status = make_state(made, announcement, announcement_size, digest);
    if (status == TACIT_OK)
        status = live_block_take(&made->block, bytes, size);
    if (status == TACIT_OK)
        status = ops->check(made);
    return finish(made, status, true, site);
}

const void *live_site_bytes(const struct live_site *site, size_t *size)
{
    TACIT_ASSERT(site->state_size > 0);
    *size = site->block.size;
    return site->block.bytes;
}

bool live_site_is_of(const struct live_site *site, const uint8_t *announcement, size_t size)
{
    return live_block_is_of(&site->block, announcement, size);
}

const struct tacit_wire_agreement *live_site_agreement(const struct live_site *site)
{
    return &site->announcement->agreement;
}

/* ---- What a step may call -------------------------------------------------------------------- */

enum tacit_event_kind live_event_kind(const struct live_site_event *event)
{
    switch (event->kind) {
    case LIVE_SITE_REWARD:
        return TACIT_EVENT_REWARD;
    case LIVE_SITE_EXPLOITED:
        return TACIT_EVENT_EXPLOITED;
    case LIVE_SITE_RECEIVE:
        return TACIT_EVENT_RECEIVE;
    case LIVE_SITE_OFFER:
        return TACIT_EVENT_OFFER;
    case LIVE_SITE_TIMEOUT:
    case LIVE_SITE_REFUSE: /* it happens now, and brings nothing */
    case LIVE_SITE_TASK:
        return TACIT_EVENT_TIMEOUT;
    case LIVE_SITE_START:
    case LIVE_SITE_CONNECTED: /* what was said may have been lost */
        break;
    }
    return TACIT_EVENT_START;
}

struct tacit_reward live_event_reward(const struct live_site *site,
                                      const struct live_site_event *event)
{
    TACIT_ASSERT(event->kind == LIVE_SITE_REWARD);
    struct tacit_reward reward = {.arm = event->as.reward.arm, .count = 1};
    reward.sum.steps = tacit_scale_level(&site->mechanism.scale, event->as.reward.value);
    return reward;
}

/* Its bytes, and how many; NULL: it does not leave. */
static const uint8_t *send(struct live_site *site, const void *message, size_t *size)
{
    struct live_codec const *const codec = site->ops->codec;
    struct live_message made = codec->label(message).message;
    made.size = *size = codec->bytes(&site->shape, message);
    uint8_t *const bytes = live_messages_add(&site->out, &made);
    if (bytes == NULL || codec->encode(&site->shape, message, bytes) == TACIT_OK)
        return bytes;
    live_messages_drop_last(&site->out);
    return NULL;
}

void live_site_send(struct live_site *site, const void *message)
{
    size_t size;
    (void)send(site, message, &size);
}

/* Without bytes the daemon stops: nothing may leave unwritten. */
static void keep(const struct live_site_release *release, const uint8_t *bytes, size_t size,
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
    size_t size;
    const uint8_t *const bytes = send(site, message, &size);
    keep(release, bytes, size, update);
}

uint8_t *live_site_write(struct live_site *site, const struct live_site_release *release,
                         size_t size, struct live_site_update *update)
{
    free(site->release);
    site->release = malloc(size);
    keep(release, site->release, size, update);
    return site->release;
}

void live_site_keep(struct live_site *site, const void *message,
                    const struct live_site_release *release, struct live_site_update *update)
{
    struct live_codec const *const codec = site->ops->codec;
    uint8_t *const bytes =
        live_site_write(site, release, codec->bytes(&site->shape, message), update);
    if (bytes != NULL && codec->encode(&site->shape, message, bytes) != TACIT_OK)
        update->release.bytes = NULL;
}

void live_site_settle(struct live_site *site, uint64_t number, struct live_site_update *update)
{
    TACIT_ASSERT(update->acknowledged <= site->acknowledged);
    if (number <= site->acknowledged)
        return;
    site->acknowledged = number;
    update->acknowledged = number;
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
    struct live_codec const *const codec = site->ops->codec;
    bool const is_broadcast = event->as.message.is_broadcast;
    void *message;
    if (site->ops->hub_is_silent && (is_broadcast || event->as.message.from == TACIT_HUB))
        return TACIT_UNEXPECTED;
    enum tacit_status status =
        codec->decode(&site->shape, event->as.message.bytes, event->as.message.size,
                      is_broadcast ? TACIT_EVERYONE : site->announcement->agent, &message);
    if (status != TACIT_OK)
        return status;
    struct live_label const label = codec->label(message);
    if (label.message.kind != event->as.message.kind ||
        label.message.epoch != event->as.message.epoch)
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

void live_site_place(const struct live_site *site, struct live_site_place *place)
{
    struct tacit_wire_announcement const *const announcement = site->announcement;
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    *place = (struct live_site_place){.run_id = tacit_wire_run_id(agreement->run),
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
        site->ops->look(site, &view);
    for (uint32_t arm = 0; arm < config->arm_count; arm++)
        if (view.active == NULL || tacit_bits_has(view.active, arm))
            arms[count++] = arm;
    if (site != NULL && site->ops->prefers != NULL)
        qsort_r(arms, count, sizeof *arms, compare_arms, (void *)(uintptr_t)site);
    return count;
}
