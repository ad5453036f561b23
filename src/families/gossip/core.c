/* One block: [size of the announcement, announcement, filled up to 8] [digest of the agreement in
 * it] [state]. */
#include "core.h"
#include "../../live/bus/letter.h"
#include "settings.h"
#include <stdlib.h>
#include <string.h>

struct gossip_core {
    struct tacit_wire_announcement *announcement;
    struct tacit_wire_gossip_run run;
    struct tacit_gossip_rule rule;
    uint32_t *neighbours; /* indices, for the configuration */
    unsigned char *block;
    struct tacit_gossip_memory *memory;
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    size_t size;
    size_t digest_at;
    size_t state_at;
};

static struct tacit_gossip_agent *state_of(const struct gossip_core *core)
{
    TACIT_ASSERT(core->block != NULL);
    TACIT_ASSERT(core->state_at < core->size);
    return (struct tacit_gossip_agent *)(void *)(core->block + core->state_at);
}

static struct tacit_gossip_agent_config config_of(const struct gossip_core *core)
{
    return (struct tacit_gossip_agent_config){.rule = core->rule,
                                              .run_id = core->run.run_id,
                                              .agent_id = core->run.agent,
                                              .neighbours = core->neighbours,
                                              .neighbour_count = core->run.neighbour_count,
                                              .weight = 1,
                                              .exchange_us = core->run.exchange_us,
                                              .pull_us = core->run.pull_us,
                                              .guards_lives = true};
}

bool gossip_core_fits(uint32_t arm_count)
{
    static uint64_t const seen;
    static double const row;
    struct tacit_gossip_message const largest = {
        .kind = TACIT_GOSSIP_OFFER, .seen = &seen, .theta = &row, .flow = &row};
    return tacit_wire_gossip_bytes(&largest, arm_count) <= LIVE_LETTER_BYTES_MAX;
}

/* ---- Beginning and end ---- */

static size_t filled_up(size_t size)
{
    return (size + 7u) & ~(size_t)7u;
}

/* What the announcement says, and where the parts of the block are. */
static enum tacit_status describe(struct gossip_core *core,
                                  const struct tacit_mechanism_config *mechanism,
                                  const uint8_t *announcement, size_t announcement_size)
{
    TACIT_ASSERT(announcement != NULL);
    enum tacit_status status =
        tacit_wire_announcement_decode(announcement, announcement_size, &core->announcement);
    if (status == TACIT_OK)
        status = tacit_wire_gossip_run_decode(core->announcement, &core->run);
    if (status == TACIT_OK)
        status = tacit_wire_agreement_digest(&core->announcement->agreement, core->digest);
    if (status != TACIT_OK)
        return status;
    if (core->run.horizon < 2 ||
        gossip_live_rule(&core->rule, core->run.agent_count, core->run.arm_count, core->run.horizon,
                         mechanism, core->run.log_base_10) != TACIT_OK)
        return TACIT_MALFORMED;
    core->neighbours = calloc(core->run.neighbour_count, sizeof *core->neighbours);
    if (core->neighbours == NULL)
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < core->run.neighbour_count; i++)
        core->neighbours[i] = core->run.neighbours[i].agent;
    struct tacit_gossip_agent_config const config = config_of(core);
    size_t const state_size = tacit_gossip_agent_size(&config);
    core->digest_at = sizeof(uint64_t) + filled_up(announcement_size);
    core->state_at = core->digest_at + sizeof core->digest;
    core->size = core->state_at + state_size;
    return state_size == 0 ? TACIT_MALFORMED : TACIT_OK;
}

static enum tacit_status make(struct gossip_core **made,
                              const struct tacit_mechanism_config *mechanism,
                              const uint8_t *announcement, size_t announcement_size)
{
    struct gossip_core *const core = calloc(1, sizeof *core);
    if (core == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = describe(core, mechanism, announcement, announcement_size);
    if (status == TACIT_OK) {
        core->block = calloc(1, core->size);
        core->memory = malloc(tacit_gossip_memory_size(&core->rule));
        if (core->block == NULL || core->memory == NULL)
            status = TACIT_MEMORY;
    }
    if (status != TACIT_OK) {
        gossip_core_free(core);
        return status;
    }
    tacit_gossip_memory_init(core->memory, &core->rule);
    *made = core;
    return TACIT_OK;
}

enum tacit_status gossip_core_new(struct gossip_core **core,
                                  const struct tacit_mechanism_config *mechanism,
                                  const uint8_t *announcement, size_t size)
{
    struct gossip_core *made;
    uint64_t const length = size;
    enum tacit_status status = make(&made, mechanism, announcement, size);
    if (status != TACIT_OK)
        return status;
    memcpy(made->block, &length, sizeof length);
    memcpy(made->block + sizeof length, announcement, size);
    memcpy(made->block + made->digest_at, made->digest, sizeof made->digest);
    struct tacit_gossip_agent_config const config = config_of(made);
    status = tacit_gossip_agent_init(state_of(made), &config);
    TACIT_ASSERT(status == TACIT_OK); /* the size above said that it is valid */
    *core = made;
    return TACIT_OK;
}

enum tacit_status gossip_core_restore(struct gossip_core **core,
                                      const struct tacit_mechanism_config *mechanism,
                                      const void *block, size_t size)
{
    struct gossip_core *made;
    uint64_t length;
    if (size < sizeof length)
        return TACIT_MALFORMED;
    memcpy(&length, block, sizeof length);
    if (length > size - sizeof length)
        return TACIT_MALFORMED;
    enum tacit_status status =
        make(&made, mechanism, (const uint8_t *)block + sizeof length, (size_t)length);
    if (status != TACIT_OK)
        return status;
    status = TACIT_MALFORMED;
    if (made->size == size &&
        memcmp((const uint8_t *)block + made->digest_at, made->digest, sizeof made->digest) == 0) {
        struct tacit_gossip_agent_config const config = config_of(made);
        memcpy(made->block, block, size);
        status = tacit_gossip_agent_check(state_of(made), size - made->state_at, &config);
    }
    if (status != TACIT_OK) {
        gossip_core_free(made);
        return status;
    }
    *core = made;
    return TACIT_OK;
}

void gossip_core_free(struct gossip_core *core)
{
    if (core == NULL)
        return;
    free(core->announcement);
    free((void *)(uintptr_t)core->run.neighbours);
    free(core->neighbours);
    free(core->block);
    free(core->memory);
    free(core);
}

/* ---- Use ---- */

const void *gossip_core_block(const struct gossip_core *core, size_t *size)
{
    TACIT_ASSERT(size != NULL);
    *size = core->size;
    return core->block;
}

const struct tacit_wire_gossip_run *gossip_core_run(const struct gossip_core *core)
{
    return &core->run;
}

const struct tacit_gossip_rule *gossip_core_rule(const struct gossip_core *core)
{
    return &core->rule;
}

const struct tacit_gossip_agent *gossip_core_agent(const struct gossip_core *core)
{
    return state_of(core);
}

const struct tacit_wire_agreement *gossip_core_agreement(const struct gossip_core *core)
{
    return &core->announcement->agreement;
}

bool gossip_core_is_of(const struct gossip_core *core, const uint8_t *announcement, size_t size)
{
    TACIT_ASSERT(announcement != NULL);
    uint64_t length;
    memcpy(&length, core->block, sizeof length);
    return length == size && memcmp(core->block + sizeof length, announcement, size) == 0;
}

enum tacit_status gossip_core_step(struct gossip_core *core, const struct tacit_gossip_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_gossip_update *update)
{
    TACIT_ASSERT(core->memory != NULL);
    TACIT_ASSERT(event != NULL);
    return tacit_gossip_agent_step(state_of(core), core->memory, event, entropy, update);
}

uint64_t gossip_core_draw_count(const struct gossip_core *core)
{
    struct tacit_gossip_agent_view view;
    tacit_gossip_agent_look(state_of(core), &view);
    return view.pull_count - (view.arm == TACIT_NO_ARM ? 0 : 1); /* the planned one waits */
}
