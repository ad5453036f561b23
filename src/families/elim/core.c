#include "core.h"
#include <stdlib.h>
#include <string.h>
#include "../../live/block.h"
#include "../../live/bus/letter.h"

#define CONFIRM_US 60000000u /* so long the last word of all is waited for */
#define SLOT_US 20000u       /* what comes in within so long is passed on together */

struct elim_core {
    struct tacit_wire_announcement *announcement;
    struct tacit_wire_elim_run run;
    uint32_t *neighbours;    /* indices, for the configuration */
    struct live_block block; /* the state, and the table of a peer */
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    uint8_t domain[TACIT_SHA256_BYTES];
    size_t state_size; /* without the table */
};

static bool is_peer(const struct elim_core *core)
{
    return core->run.network != NULL;
}

static void *state_of(const struct elim_core *core)
{
    return live_block_state(&core->block);
}

static struct tacit_elim_table *table_of(const struct elim_core *core)
{
    TACIT_ASSERT(is_peer(core));
    TACIT_ASSERT(core->state_size < live_block_state_size(&core->block));
    return (struct tacit_elim_table *)(void *)((unsigned char *)state_of(core) + core->state_size);
}

/* ---- Configurations ---- */

static struct tacit_elim_agent_config agent_config(const struct elim_core *core,
                                                   const struct elim_core_site *site)
{
    struct tacit_elim_agent_config config = {.run_id = core->run.run_id,
                                             .agent_id = core->run.agent,
                                             .agent_count = core->run.agent_count,
                                             .arm_count = core->run.arm_count,
                                             .horizon = core->run.horizon,
                                             .mechanism = site->mechanism,
                                             .budget_nano = site->budget_nano,
                                             .resend_after_us = site->resend_after_us,
                                             .epoch_max = site->epoch_max,
                                             .has_grants = true,
                                             .change_max =
                                                 is_peer(core) ? 0 : TACIT_ELIM_CHANGES_MAX,
                                             .horizon_max = site->pulls_max};
    memcpy(config.domain, core->domain, sizeof config.domain);
    return config;
}

/* Rows that a payload has room for, each with what opens it, beside what every message has. */
static uint32_t rows_max(const struct tacit_wire_elim_run *run)
{
    size_t const sets =
        (TACIT_BITS_WORDS(run->agent_count) + TACIT_BITS_WORDS(run->arm_count)) * sizeof(uint64_t);
    size_t const head = sets + 192;
    bool const is_sealed = run->network->collection == TACIT_ELIM_SPREAD;
    size_t const row = run->arm_count * sizeof(int64_t) + 2 * TACIT_SHA256_BYTES +
                       (is_sealed ? TACIT_ELIM_SEAL_BYTES : 0);
    return head + row > LIVE_LETTER_BYTES_MAX ? 0
                                              : (uint32_t)((LIVE_LETTER_BYTES_MAX - head) / row);
}

bool elim_core_fits(const struct tacit_wire_elim_run *run)
{
    static const struct tacit_commit commit;
    struct tacit_elim_message const report = {
        .kind = TACIT_ELIM_REPORT, .sum_count = run->arm_count, .commit = &commit};
    return run->network != NULL ? rows_max(run) > 0
                                : tacit_wire_elim_bytes(&report, run->arm_count,
                                                        run->agent_count) <= LIVE_LETTER_BYTES_MAX;
}

static uint32_t member_count(const struct tacit_wire_elim_run *run)
{
    TACIT_ASSERT(run->network != NULL);
    return run->network->members == NULL
               ? run->agent_count
               : tacit_bits_count(run->network->members, run->agent_count);
}

static struct tacit_elim_peer_config peer_config(const struct elim_core *core,
                                                 const struct elim_core_site *site)
{
    TACIT_ASSERT(core->run.network != NULL);
    struct tacit_wire_elim_run const *const run = &core->run;
    struct tacit_wire_elim_network const *const network = run->network;
    return (struct tacit_elim_peer_config){
        .agent = agent_config(core, site),
        .collection = network->collection,
        .neighbours = core->neighbours,
        .neighbour_count = network->neighbour_count,
        .members = network->members,
        .parent = network->parent,
        .schedule = {.arm_count = run->arm_count,
                     .report_count = member_count(run),
                     .horizon = run->horizon,
                     .epsilon_per_reward = (double)run->epsilon_nano / (double)TACIT_NANO,
                     .round_limit = run->round_limit,
                     .gap = run->gap,
                     .growth = run->growth,
                     .confidence = run->confidence},
        .rows_max = rows_max(run),
        .slot_us = SLOT_US,
        .has_seals = network->collection == TACIT_ELIM_SPREAD,
        .confirm_us = CONFIRM_US,
        .gather_timeout_us = (uint64_t)network->gather_timeout_s * 1000000u};
}

/* ---- Beginning and end ---- */

/* What the announcement says, and a block for it. */
static enum tacit_status describe(struct elim_core *core, const struct elim_core_site *site,
                                  const uint8_t *announcement, size_t announcement_size)
{
    enum tacit_status status =
        tacit_wire_announcement_decode(announcement, announcement_size, &core->announcement);
    if (status == TACIT_OK)
        status = tacit_wire_elim_run_decode(core->announcement, &core->run);
    if (status == TACIT_OK)
        status = tacit_wire_agreement_digest(&core->announcement->agreement, core->digest);
    if (status != TACIT_OK)
        return status;
    tacit_commit_domain(site->federation, core->digest, core->domain);
    struct tacit_wire_elim_network const *const network = core->run.network;
    uint32_t const neighbours = is_peer(core) ? network->neighbour_count : 0;
    core->neighbours = calloc(neighbours + 1u, sizeof *core->neighbours);
    if (core->neighbours == NULL)
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < neighbours; i++)
        core->neighbours[i] = network->neighbours[i].agent;
    size_t state_size;
    size_t table_size = 0;
    bool const spreads = is_peer(core) && network->collection == TACIT_ELIM_SPREAD;
    if (!elim_core_fits(&core->run) || (spreads && network->sites == NULL))
        return TACIT_MALFORMED;
    if (is_peer(core)) {
        struct tacit_elim_peer_config const config = peer_config(core, site);
        state_size = tacit_elim_peer_size(&config);
        table_size = state_size == 0 ? 0 : tacit_elim_peer_table_size(&config);
    } else {
        struct tacit_elim_agent_config const config = agent_config(core, site);
        state_size = tacit_elim_agent_size(&config);
    }
    core->state_size = state_size;
    return live_block_new(&core->block, announcement, announcement_size, core->digest,
                          state_size == 0 ? 0 : state_size + table_size);
}

static enum tacit_status make(struct elim_core **made, const struct elim_core_site *site,
                              const uint8_t *announcement, size_t announcement_size)
{
    struct elim_core *const core = calloc(1, sizeof *core);
    if (core == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = describe(core, site, announcement, announcement_size);
    if (status != TACIT_OK) {
        elim_core_free(core);
        return status;
    }
    *made = core;
    return TACIT_OK;
}

enum tacit_status elim_core_new(struct elim_core **core, const struct elim_core_site *site,
                                const uint8_t *announcement, size_t announcement_size)
{
    struct elim_core *made;
    enum tacit_status status = make(&made, site, announcement, announcement_size);
    if (status != TACIT_OK)
        return status;
    if (is_peer(made)) {
        struct tacit_elim_peer_config const config = peer_config(made, site);
        tacit_elim_peer_table_init(table_of(made), &config, false);
        status = tacit_elim_peer_init(state_of(made), &config);
    } else {
        struct tacit_elim_agent_config const config = agent_config(made, site);
        status = tacit_elim_agent_init(state_of(made), &config);
    }
    TACIT_ASSERT(status == TACIT_OK); /* the size above said that it is valid */
    *core = made;
    return TACIT_OK;
}

static enum tacit_status check(const struct elim_core *core, const struct elim_core_site *site)
{
    if (!is_peer(core)) {
        struct tacit_elim_agent_config const config = agent_config(core, site);
        return tacit_elim_agent_check(state_of(core), core->state_size, &config);
    }
    struct tacit_elim_peer_config const config = peer_config(core, site);
    return tacit_elim_peer_check(state_of(core), core->state_size, table_of(core),
                                 live_block_state_size(&core->block) - core->state_size, &config);
}

enum tacit_status elim_core_restore(struct elim_core **core, const struct elim_core_site *site,
                                    const void *block, size_t size)
{
    struct elim_core *made;
    const uint8_t *announcement;
    size_t announcement_size;
    enum tacit_status status = live_block_read(block, size, &announcement, &announcement_size);
    if (status == TACIT_OK)
        status = make(&made, site, announcement, announcement_size);
    if (status != TACIT_OK)
        return status;
    status = live_block_take(&made->block, block, size);
    if (status == TACIT_OK)
        status = check(made, site);
    if (status != TACIT_OK) {
        elim_core_free(made);
        return status;
    }
    *core = made;
    return TACIT_OK;
}

void elim_core_free(struct elim_core *core)
{
    if (core == NULL)
        return;
    free(core->announcement);
    free((void *)(uintptr_t)core->run.network);
    free(core->neighbours);
    live_block_free(&core->block);
    free(core);
}

/* ---- Use ---- */

const void *elim_core_block(const struct elim_core *core, size_t *size)
{
    *size = core->block.size;
    return core->block.bytes;
}

_Static_assert((int)LIVE_CHANGE_DROP_SITE == (int)TACIT_ELIM_DROP_SITE &&
                   (int)LIVE_CHANGE_RETIRE_ARM == (int)TACIT_ELIM_RETIRE_ARM,
               "the daemons' changes are numbered as the core's");

uint32_t elim_changes_tell(const struct tacit_elim_change *changes, uint32_t count,
                           struct live_control_entry *entries)
{
    TACIT_ASSERT(count <= TACIT_ELIM_CHANGES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        struct tacit_elim_change const *const one = &changes[i];
        bool const is_patience = one->kind == TACIT_ELIM_SET_PATIENCE;
        entries[i] = (struct live_control_entry){
            .change = (enum live_change)one->kind,
            .site = one->kind == TACIT_ELIM_DROP_SITE ? one->subject : 0,
            .arm = one->kind == TACIT_ELIM_RETIRE_ARM ? one->subject : 0,
            .quorum = is_patience ? one->subject : 0,
            .deadline_s = is_patience ? (uint32_t)(one->value / 1000000u) : 0,
            .horizon = one->kind == TACIT_ELIM_EXTEND_HORIZON ? one->value : 0,
            .number = one->number,
            .epoch = one->epoch,
            .made_unix_s = one->made_unix_s};
    }
    return count;
}

const struct tacit_wire_elim_run *elim_core_run(const struct elim_core *core)
{
    return &core->run;
}

const struct tacit_wire_agreement *elim_core_agreement(const struct elim_core *core)
{
    return &core->announcement->agreement;
}

bool elim_core_is_of(const struct elim_core *core, const uint8_t *announcement, size_t size)
{
    return live_block_is_of(&core->block, announcement, size);
}

enum tacit_status elim_core_step(struct elim_core *core, const struct tacit_elim_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct tacit_elim_update *update)
{
    if (is_peer(core))
        return tacit_elim_peer_step(state_of(core), table_of(core), event, entropy, update);
    return tacit_elim_agent_step(state_of(core), event, entropy, update);
}

enum tacit_status elim_core_refuse(struct elim_core *core, uint32_t arm,
                                   const struct tacit_elim_event *now,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_elim_update *update)
{
    *update = (struct tacit_elim_update){.deadline_us = TACIT_NEVER};
    return is_peer(core) ? TACIT_UNEXPECTED
                         : tacit_elim_agent_refuse(state_of(core), arm, now, entropy, update);
}

void elim_core_look(const struct elim_core *core, struct tacit_elim_agent_view *view)
{
    struct tacit_elim_peer_view peer;
    if (elim_core_look_at_peer(core, &peer))
        *view = peer.agent;
    else
        tacit_elim_agent_look(state_of(core), view);
}

double elim_core_radius(const struct elim_core *core)
{
    struct tacit_wire_elim_run const *const run = &core->run;
    uint32_t const reports = is_peer(core) ? member_count(run) : run->agent_count;
    struct tacit_elim_schedule const schedule = {.arm_count = run->arm_count,
                                                 .report_count = reports,
                                                 .horizon = run->horizon,
                                                 .epsilon_per_reward =
                                                     (double)run->epsilon_nano / (double)TACIT_NANO,
                                                 .growth = run->growth,
                                                 .confidence = run->confidence};
    struct tacit_elim_agent_view view;
    elim_core_look(core, &view);
    if (view.epoch == 0 || view.pulls == 0 || view.last)
        return 0;
    return tacit_elim_radius(&schedule, view.epoch, view.active_count, view.pulls, reports);
}

bool elim_core_look_at_peer(const struct elim_core *core, struct tacit_elim_peer_view *view)
{
    if (is_peer(core))
        tacit_elim_peer_look(state_of(core), view);
    return is_peer(core);
}

bool elim_core_judges_exactly(const struct elim_core *core, uint32_t *rounds)
{
    struct tacit_elim_peer_view view;
    if (!elim_core_look_at_peer(core, &view) || !view.is_exact)
        return false;
    *rounds = view.round_count;
    return true;
}

struct tacit_bounds_interval elim_core_interval(const struct elim_core *core, uint32_t arm,
                                                double confidence)
{
    TACIT_ASSERT(is_peer(core));
    return tacit_elim_peer_interval(state_of(core), arm, confidence);
}

struct tacit_elim_message elim_core_release(const struct elim_core *core)
{
    if (!is_peer(core))
        return tacit_elim_agent_draw(state_of(core));
    struct tacit_elim_peer const *const peer = state_of(core);
    struct tacit_elim_agent const *const agent = tacit_elim_peer_agent(peer);
    struct tacit_elim_agent_view view;
    tacit_elim_agent_look(agent, &view);
    return view.committed ? tacit_elim_agent_draw(agent)
                          : tacit_elim_peer_release(peer, table_of(core));
}
