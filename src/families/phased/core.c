#include "core.h"
#include <stdlib.h>
#include <string.h>
#include "../../live/block.h"
#include "../../live/bus/letter.h"

struct phased_core {
    struct tacit_wire_announcement *announcement;
    struct tacit_wire_phased_run run;
    struct live_block block;
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    uint8_t domain[TACIT_SHA256_BYTES];
};

bool phased_core_fits(uint32_t arm_count)
{
    static const struct tacit_commit commit;
    struct tacit_phased_message const report = {
        .kind = TACIT_PHASED_REPORT, .block_count = arm_count, .commit = &commit};
    struct tacit_phased_message const order = {.kind = TACIT_PHASED_ORDER,
                                               .block_count = arm_count};
    return tacit_wire_phased_bytes(&report) <= LIVE_LETTER_BYTES_MAX &&
           tacit_wire_phased_bytes(&order) <= LIVE_LETTER_BYTES_MAX;
}

/* ---- Beginning and end ---- */

static struct tacit_phased_agent_config agent_config(const struct phased_core *core,
                                                     const struct phased_core_site *site)
{
    struct tacit_phases const *const schedule = &core->run.schedule;
    struct tacit_phased_agent_config config = {.run_id = core->run.run_id,
                                               .agent_id = core->run.agent,
                                               .agent_count = schedule->agent_count,
                                               .arm_count = schedule->arm_count,
                                               .horizon = schedule->horizon,
                                               .mechanism = site->mechanism,
                                               .budget_nano = site->budget_nano,
                                               .resend_after_us = site->resend_after_us,
                                               .round_max = site->round_max,
                                               .has_grants = true};
    memcpy(config.domain, core->domain, sizeof config.domain);
    return config;
}

struct tacit_phased_agent *phased_core_agent(const struct phased_core *core)
{
    return live_block_state(&core->block);
}

/* What the announcement says, and a block for it. */
static enum tacit_status describe(struct phased_core *core, const struct phased_core_site *site,
                                  const uint8_t *announcement, size_t announcement_size)
{
    enum tacit_status status =
        tacit_wire_announcement_decode(announcement, announcement_size, &core->announcement);
    if (status == TACIT_OK)
        status = tacit_wire_phased_run_decode(core->announcement, &core->run);
    if (status == TACIT_OK)
        status = tacit_wire_agreement_digest(&core->announcement->agreement, core->digest);
    if (status != TACIT_OK)
        return status;
    tacit_commit_domain(site->federation, core->digest, core->domain);
    struct tacit_phased_agent_config const config = agent_config(core, site);
    size_t const state_size = tacit_phased_agent_size(&config);
    if (state_size == 0 || !phased_core_fits(config.arm_count))
        return TACIT_MALFORMED;
    return live_block_new(&core->block, announcement, announcement_size, core->digest, state_size);
}

static enum tacit_status make(struct phased_core **made, const struct phased_core_site *site,
                              const uint8_t *announcement, size_t announcement_size)
{
    struct phased_core *const core = calloc(1, sizeof *core);
    if (core == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = describe(core, site, announcement, announcement_size);
    if (status != TACIT_OK) {
        phased_core_free(core);
        return status;
    }
    *made = core;
    return TACIT_OK;
}

enum tacit_status phased_core_new(struct phased_core **core, const struct phased_core_site *site,
                                  const uint8_t *announcement, size_t announcement_size)
{
    struct phased_core *made;
    enum tacit_status status = make(&made, site, announcement, announcement_size);
    if (status != TACIT_OK)
        return status;
    struct tacit_phased_agent_config const config = agent_config(made, site);
    status = tacit_phased_agent_init(phased_core_agent(made), &config);
    TACIT_ASSERT(status == TACIT_OK); /* the size above said that it is valid */
    *core = made;
    return TACIT_OK;
}

enum tacit_status phased_core_restore(struct phased_core **core,
                                      const struct phased_core_site *site, const void *block,
                                      size_t size)
{
    struct phased_core *made;
    const uint8_t *announcement;
    size_t announcement_size;
    enum tacit_status status = live_block_read(block, size, &announcement, &announcement_size);
    if (status == TACIT_OK)
        status = make(&made, site, announcement, announcement_size);
    if (status != TACIT_OK)
        return status;
    struct tacit_phased_agent_config const config = agent_config(made, site);
    status = live_block_take(&made->block, block, size);
    if (status == TACIT_OK)
        status = tacit_phased_agent_check(phased_core_agent(made),
                                          live_block_state_size(&made->block), &config);
    if (status == TACIT_OK)
        *core = made;
    else
        phased_core_free(made);
    return status;
}

void phased_core_free(struct phased_core *core)
{
    if (core == NULL)
        return;
    free(core->announcement);
    live_block_free(&core->block);
    free(core);
}

/* ---- Looking ---- */

const void *phased_core_block(const struct phased_core *core, size_t *size)
{
    *size = core->block.size;
    return core->block.bytes;
}

const struct tacit_wire_phased_run *phased_core_run(const struct phased_core *core)
{
    return &core->run;
}

const struct tacit_wire_agreement *phased_core_agreement(const struct phased_core *core)
{
    return &core->announcement->agreement;
}

bool phased_core_is_of(const struct phased_core *core, const uint8_t *announcement, size_t size)
{
    return live_block_is_of(&core->block, announcement, size);
}
