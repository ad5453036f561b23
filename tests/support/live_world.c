/* Three sites and a hub of a live family, as bytes, put back from them after every step. */
#include "testing.h"
#include "live_world.h"
#include "../../src/live/protocol.h"

const char *const world_names[WORLD_SITES] = {"north", "east", "south"};
static const char *const arms[WORLD_ARMS] = {"left", "right", "none"};

uint8_t *world_copy(const void *bytes, size_t size)
{
    uint8_t *const copy = malloc(size);
    assert_non_null(copy);
    if (size > 0) /* a hub that keeps nothing has no bytes */
        memcpy(copy, bytes, size);
    return copy;
}

static void post(struct world *world, uint32_t from, const struct live_message *messages,
                 size_t count)
{
    if (world->first == world->end)
        world->first = world->end = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(world->end < WORLD_ENVELOPES_MAX);
        world->queue[world->end] = (struct envelope){from, messages[i]};
        world->queue[world->end++].message.bytes = world_copy(messages[i].bytes, messages[i].size);
    }
}

/* Signatures that nobody doubts: whose they are, cores and envelopes are asked elsewhere. */
static bool sign(void *context, const uint8_t digest[32], uint8_t signature[64])
{
    memset(signature, 1, 64);
    return true;
}

static bool check(void *context, const char *site, const uint8_t digest[32],
                  const uint8_t signature[64])
{
    return signature[0] == 1;
}

static const struct live_row_signer signer = {NULL, sign, check};

/* ---- Sites ----------------------------------------------------------------------------------- */

static void keep(struct site *site)
{
    void const *const bytes = live_site_bytes(site->live, &site->disk_size);
    free(site->disk);
    site->disk = world_copy(bytes, site->disk_size);
}

static void put_back(const struct world *world, struct site *site)
{
    size_t size;
    struct live_site *restored;
    const char *objection;
    keep(site);
    assert_int_equal(live_site_restore(world->family.site_ops, &restored, &site->config, site->disk,
                                       site->disk_size, &objection),
                     TACIT_OK);
    assert_memory_equal(live_site_bytes(restored, &size), site->disk, site->disk_size);
    assert_int_equal(size, site->disk_size);
    live_site_free(site->live);
    site->live = restored;
}

static void note_update(const struct world *world, struct site *site,
                        const struct live_site_update *update)
{
    if (update->has_release) { /* one row a number, each the next one */
        bool const is_same =
            world->family.repeats_release && update->release.number == site->release;
        assert_non_null(update->release.bytes);
        assert_true(is_same || (update->persist && update->release.number == site->release + 1));
        assert_true(world->family.release_bytes == 0 ||
                    (update->release.size == world->family.release_bytes &&
                     update->release.epsilon_nano > 0));
        site->release = update->release.number;
    }
    if (update->acknowledged > 0)
        site->acknowledged = update->acknowledged;
    if (update->has_plan && update->plan_count > 0)
        memcpy(site->plan, update->plan, update->plan_count * sizeof *site->plan);
    if (update->has_plan)
        site->plan_count = update->plan_count;
    if (update->has_choice) {
        assert_true(update->kept_size <= sizeof site->kept);
        memcpy(site->kept, update->kept, update->kept_size);
        site->kept_size = update->kept_size;
        site->choice = update->choice;
    }
    site->deadline_us = update->deadline_us;
    site->is_tick = update->deadline_is_tick;
}

enum tacit_status world_step(struct world *world, uint32_t index, struct live_site_event event)
{
    struct site *const site = &world->sites[index];
    struct tacit_entropy const noise = tacit_rng_entropy(&site->noise);
    struct tacit_entropy const keys = tacit_rng_entropy(&site->keys);
    struct live_site_update update;
    world->now_us += world->family.step_us;
    event.now_us = world->now_us;
    event.keys = world->family.has_own_keys ? &keys : NULL;
    event.signer = &signer;
    enum tacit_status const status = live_site_step(site->live, &event, &noise, &update);
    if (world->is_lost)
        return status;
    note_update(world, site, &update);
    post(world, index, update.messages, update.message_count);
    if (!world->family.is_from_disk)
        put_back(world, site);
    else if (update.persist)
        keep(site);
    return status;
}

enum tacit_status world_hear(struct world *world, uint32_t index, const struct envelope *envelope)
{
    struct live_site_event event = {.kind = LIVE_SITE_RECEIVE};
    event.as.message.from = envelope->from;
    event.as.message.is_broadcast = envelope->message.to == TACIT_EVERYONE;
    event.as.message.kind = envelope->message.kind;
    event.as.message.epoch = envelope->message.epoch;
    event.as.message.bytes = envelope->message.bytes;
    event.as.message.size = envelope->message.size;
    return world_step(world, index, event);
}

enum tacit_status world_time_out(struct world *world, uint32_t index)
{
    return world_step(world, index, (struct live_site_event){.kind = LIVE_SITE_TIMEOUT});
}

uint32_t world_play(struct world *world, uint32_t index)
{
    struct site *const site = &world->sites[index];
    struct live_site_event event = {.kind = LIVE_SITE_REWARD};
    uint32_t i = 0;
    while (i < site->plan_count && site->plan[i].count == 0)
        i++;
    if (i == site->plan_count)
        return TACIT_NO_ARM;
    uint32_t const arm = site->plan[i].arm;
    double const mean = world->family.means[arm];
    event.as.reward.arm = arm;
    event.as.reward.value = !world->family.is_drawn_anew                                  ? mean
                            : (double)tacit_rng_below(&world->chance, 1000) < 1000 * mean ? 1
                                                                                          : 0;
    site->plan[i].count -= world->is_lost ? 0 : 1;
    assert_int_equal(world_step(world, index, event), TACIT_OK);
    return arm;
}

void world_revive(struct world *world, uint32_t index)
{
    struct site *const site = &world->sites[index];
    const char *objection;
    live_site_free(site->live);
    site->live = NULL;
    world->is_lost = false;
    assert_int_equal(live_site_restore(world->family.site_ops, &site->live, &site->config,
                                       site->disk, site->disk_size, &objection),
                     TACIT_OK);
    assert_int_equal(world_step(world, index, (struct live_site_event){.kind = LIVE_SITE_START}),
                     TACIT_OK);
}

/* ---- The hub --------------------------------------------------------------------------------- */

enum tacit_status world_step_hub(struct world *world, struct live_hub_event event)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&world->chance);
    struct live_hub_update update;
    struct live_hub *restored;
    size_t size;
    world->now_us += world->family.step_us;
    event.now_us = world->now_us;
    event.signer = &signer;
    enum tacit_status const status = live_hub_step(world->hub, &event, &entropy, &update);
    if (update.note != NULL)
        (void)snprintf(world->note, sizeof world->note, "%s", update.note);
    post(world, TACIT_HUB, update.messages, update.message_count);
    void const *const bytes = live_hub_bytes(world->hub, &size);
    if (size == 0)
        return status; /* it keeps nothing */
    assert_int_equal(
        live_hub_open(world->family.hub_ops, &restored, &world->family.hub, bytes, size), TACIT_OK);
    live_hub_free(world->hub);
    world->hub = restored;
    return status;
}

enum tacit_status world_tell_hub(struct world *world, const struct envelope *envelope)
{
    return world_step_hub(world, (struct live_hub_event){.kind = LIVE_HUB_RECEIVE,
                                                         .from = envelope->from,
                                                         .message_kind = envelope->message.kind,
                                                         .message_epoch = envelope->message.epoch,
                                                         .bytes = envelope->message.bytes,
                                                         .size = envelope->message.size});
}

/* ---- A run ----------------------------------------------------------------------------------- */

static enum tacit_status join_by(const struct world *world, uint32_t index,
                                 const struct live_site_config *config, size_t cut,
                                 struct live_site **site, const char **objection)
{
    size_t size;
    uint8_t *const bytes =
        live_hub_announce(world->family.hub_ops, &world->family.hub, index, &size);
    assert_non_null(bytes);
    enum tacit_status const status =
        live_site_join(world->family.site_ops, site, config, bytes, size / cut, objection);
    assert_true(status != TACIT_OK || live_site_is_of(*site, bytes, size));
    free(bytes);
    return status;
}

static void join(struct world *world, uint32_t index, uint64_t seed)
{
    struct site *const site = &world->sites[index];
    char const *objection = NULL;
    *site = (struct site){.config = world->family.site,
                          .noise = tacit_rng_stream(seed, 0, index, TACIT_PURPOSE_NOISE),
                          .keys = tacit_rng_stream(seed, 0, index, TACIT_PURPOSE_REWARD)};
    site->config.federation = "trial";
    site->config.site = world_names[index];
    site->config.arm_names = arms;
    site->config.arm_count = WORLD_ARMS;
    site->config.agents_max = WORLD_SITES;
    site->config.hi = 1;
    assert_int_equal(join_by(world, index, &site->config, 1, &site->live, &objection), TACIT_OK);
    assert_null(objection);
    keep(site);
    assert_int_equal(world_step(world, index, (struct live_site_event){.kind = LIVE_SITE_START}),
                     TACIT_OK);
}

struct world *world_new(const struct world_family *family, uint64_t seed)
{
    struct world *const world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->family = *family;
    struct live_hub_config *const hub = &world->family.hub;
    hub->federation = "trial";
    hub->sites = world_names;
    hub->site_count = WORLD_SITES;
    hub->arm_names = arms;
    hub->arm_count = WORLD_ARMS;
    hub->run_id = 7;
    hub->hi = 1;
    world->chance = tacit_rng_stream(seed, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_GRAPH);
    world->now_us = 1;
    assert_null(live_hub_too_large(family->hub_ops, hub));
    assert_int_equal(live_hub_open(family->hub_ops, &world->hub, hub, NULL, 0), TACIT_OK);
    for (uint32_t index = 0; index < WORLD_SITES; index++)
        join(world, index, seed);
    assert_int_equal(world_step_hub(world, (struct live_hub_event){.kind = LIVE_HUB_START}),
                     TACIT_OK);
    return world;
}

void world_free(struct world *world)
{
    for (uint32_t index = 0; index < WORLD_SITES; index++) {
        live_site_free(world->sites[index].live);
        free(world->sites[index].disk);
    }
    while (world->first < world->end)
        free((void *)(uintptr_t)world_take(world, world->first).message.bytes);
    live_hub_free(world->hub);
    free(world);
}

struct envelope world_take(struct world *world, size_t at)
{
    assert_in_range(at, world->first, world->end - 1);
    struct envelope const envelope = world->queue[at];
    if (at == world->first)
        world->first++;
    else
        world->queue[at] = world->queue[--world->end];
    return envelope;
}

static bool is_for(const struct world *world, const struct envelope *envelope, uint32_t index)
{
    struct live_site const *const from =
        envelope->from < WORLD_SITES ? world->sites[envelope->from].live : NULL;
    uint32_t const to = envelope->message.to;
    for (uint32_t i = 0; to == TACIT_NEIGHBOURS && i < from->neighbour_count; i++)
        if (from->neighbours[i].agent == index)
            return true;
    return to == TACIT_EVERYONE || to == index;
}

void world_deliver_to(struct world *world, uint32_t there)
{
    struct envelope const envelope = world_take(world, world->first);
    uint32_t const to = envelope.message.to;
    if (to == TACIT_HUB)
        assert_int_equal(world_tell_hub(world, &envelope), TACIT_OK);
    for (uint32_t index = 0; index < WORLD_SITES && to != TACIT_HUB; index++)
        if ((there >> index & 1u) != 0 && is_for(world, &envelope, index))
            assert_int_equal(world_hear(world, index, &envelope), TACIT_OK);
    free((void *)(uintptr_t)envelope.message.bytes);
}

void world_deliver_all_to(struct world *world, uint32_t there)
{
    while (world->first < world->end)
        world_deliver_to(world, there);
}

void world_deliver_all(struct world *world)
{
    world_deliver_all_to(world, WORLD_ALL);
}

void world_pass(struct world *world)
{
    uint32_t next = 0;
    for (uint32_t index = 1; index < WORLD_SITES; index++)
        if (world->sites[index].deadline_us < world->sites[next].deadline_us)
            next = index;
    assert_true(world->sites[next].deadline_us != TACIT_NEVER);
    if (world->now_us < world->sites[next].deadline_us)
        world->now_us = world->sites[next].deadline_us;
    assert_int_equal(world_time_out(world, next), TACIT_OK);
}

struct live_site_view world_look(const struct world *world, uint32_t index)
{
    struct live_site_view view;
    world->family.site_ops->fill_view(world->sites[index].live, &view);
    return view;
}

struct live_hub_view world_look_hub(const struct world *world)
{
    struct live_hub_view view;
    world->family.hub_ops->fill_view(world->hub, &view);
    return view;
}

/* From memory that is exactly as long: a sanitizer sees what is read beyond it. */
enum tacit_status world_restore(const struct world *world, const struct live_site_config *config,
                                const void *bytes, size_t size)
{
    struct live_site *restored = NULL;
    const char *objection;
    uint8_t *const exact = world_copy(bytes, size);
    enum tacit_status const status =
        live_site_restore(world->family.site_ops, &restored, config, exact, size, &objection);
    assert_true((status == TACIT_OK) == (restored != NULL));
    live_site_free(restored);
    free(exact);
    return status;
}

/* ---- What holds of all families -------------------------------------------------------------- */

void world_expect_refusals(struct world *world)
{
    struct envelope const good = world->queue[world->first];
    struct envelope bad[4] = {good, good, good, good};
    size_t size;
    size_t size_now;
    void const *const bytes = live_hub_bytes(world->hub, &size);
    uint8_t *const before = world_copy(bytes, size);
    assert_int_equal(good.message.to, TACIT_HUB);
    bad[0].from = (good.from + 1) % WORLD_SITES;
    bad[1].message.size--;
    bad[2].message.kind++;
    bad[3].message.epoch++;
    for (uint32_t i = 0; i < 4; i++) {
        enum tacit_status const status = world_tell_hub(world, &bad[i]);
        assert_int_equal(status, i == 0 ? TACIT_STRANGER : TACIT_MALFORMED);
        assert_memory_equal(live_hub_bytes(world->hub, &size_now), before, size);
        assert_int_equal(size_now, size);
    }
    world_deliver_to(world, WORLD_ALL);
    free(before);
}

static void expect_no_other_announcement(const struct world *world, uint32_t index, uint64_t run_id)
{
    struct live_hub_config config = world->family.hub;
    size_t size;
    config.run_id = run_id;
    uint8_t *const bytes = live_hub_announce(world->family.hub_ops, &config, index, &size);
    assert_false(live_site_is_of(world->sites[0].live, bytes, size));
    free(bytes);
}

void world_expect_no_other_state(const struct world *world)
{
    enum { MORE = 64 };
    struct site const *const site = &world->sites[0];
    size_t size;
    void const *const bytes = live_site_bytes(site->live, &size);
    uint8_t *const copy = calloc(1, size + MORE);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    for (size_t other = 0; other <= size + MORE; other += other < 64 || other >= size - 8 ? 1 : 7)
        assert_int_equal(world_restore(world, &site->config, copy, other),
                         other == size ? TACIT_OK : TACIT_MALFORMED);
    struct live_site_config other = site->config; /* another policy is another state */
    other.rounds_max++;
    other.epsilon /= 2;
    assert_int_equal(world_restore(world, &other, copy, size), TACIT_MALFORMED);
    free(copy);
    expect_no_other_announcement(world, 1, world->family.hub.run_id);
    expect_no_other_announcement(world, 0, world->family.hub.run_id + 1);
}

/* Where a state is taken all the same, it is one that can be started. */
static bool is_taken(const struct world *world, const struct site *site, const uint8_t *block,
                     size_t size)
{
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    struct live_site_event const start = {
        .kind = LIVE_SITE_START, .now_us = UINT64_C(1) << 50, .signer = &signer};
    struct live_site_update update;
    struct live_site *restored;
    const char *objection;
    uint64_t length;
    enum tacit_status const status = live_site_restore(world->family.site_ops, &restored,
                                                       &site->config, block, size, &objection);
    if (status != TACIT_OK) {
        assert_int_equal(status, TACIT_MALFORMED);
        return false;
    }
    memcpy(&length, block, sizeof length);
    assert_true(live_site_is_of(restored, block + sizeof length, (size_t)length));
    (void)live_site_step(restored, &start, &entropy, &update);
    live_site_free(restored);
    return true;
}

void world_expect_damage(const struct world *world, uint32_t index, size_t taken_max)
{
    struct site const *const site = &world->sites[index];
    size_t size;
    uint64_t length;
    size_t taken = 0;
    size_t refused = 0;
    void const *const bytes = live_site_bytes(site->live, &size);
    uint8_t *const damaged = world_copy(bytes, size);
    memcpy(&length, damaged, sizeof length);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bool const is_length = bit < 8 * sizeof length;
        bool const is_announcement = !is_length && bit < 8 * (sizeof length + length);
        damaged[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        bool const is_good = is_taken(world, site, damaged, size);
        damaged[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        assert_false(is_length && is_good);
        taken += is_announcement && is_good ? 1 : 0;
        refused += is_good ? 0 : 1;
    }
    if (taken > taken_max || refused <= size)
        fail_msg("site %u: %zu bits of its announcement taken, %zu of %zu refused", index, taken,
                 refused, 8 * size);
    free(damaged);
}

void world_expect_policy(const struct world *world, const struct live_site_config *strict,
                         const char *key)
{
    struct live_site *joined = NULL;
    char const *objection = NULL;
    assert_int_equal(join_by(world, 0, strict, 1, &joined, &objection), TACIT_REFUSED);
    assert_non_null(strstr(objection, key));
    assert_int_equal(join_by(world, 0, strict, 2, &joined, &objection), TACIT_MALFORMED);
    assert_null(joined);
}
