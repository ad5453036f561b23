#include "core.h"
#include "../../live/block.h"
#include "../../live/bus/letter.h"
#include "settings.h"
#include <stdlib.h>
#include <string.h>

struct gossip_core {
    struct tacit_wire_announcement *announcement;
    struct tacit_wire_gossip_run run;
    struct tacit_gossip_rule rule;
    uint32_t *neighbours; /* indices, for the configuration */
    struct live_block block;
    struct tacit_gossip_memory *memory;
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
};

static struct tacit_gossip_agent *state_of(const struct gossip_core *core)
{
    return live_block_state(&core->block);
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

/* What the announcement says, and a block for it. */
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
    return live_block_new(&core->block, announcement, announcement_size, core->digest,
                          tacit_gossip_agent_size(&config));
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
        core->memory = malloc(tacit_gossip_memory_size(&core->rule));
        status = core->memory == NULL ? TACIT_MEMORY : TACIT_OK;
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
    enum tacit_status status = make(&made, mechanism, announcement, size);
    if (status != TACIT_OK)
        return status;
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
    const uint8_t *announcement;
    size_t announcement_size;
    enum tacit_status status = live_block_read(block, size, &announcement, &announcement_size);
    if (status == TACIT_OK)
        status = make(&made, mechanism, announcement, announcement_size);
    if (status != TACIT_OK)
        return status;
    struct tacit_gossip_agent_config const config = config_of(made);
    status = live_block_take(&made->block, block, size);
    if (status == TACIT_OK)
        status =
            tacit_gossip_agent_check(state_of(made), live_block_state_size(&made->block), &config);
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
    live_block_free(&core->block);
    free(core->memory);
    free(core);
}

/* ---- Use ---- */

const void *gossip_core_block(const struct gossip_core *core, size_t *size)
{
    TACIT_ASSERT(size != NULL);
    *size = core->block.size;
    return core->block.bytes;
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
    return live_block_is_of(&core->block, announcement, size);
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
