/* The cores of the phased index by hand, one event at a time. */
#include <math.h>
#include "testing.h"
#include "damage.h"
#include "digest.h"
#include "digest_views.h"
#include "phased_driver.h"
#include "phased_message.h"

static struct tacit_mechanism mechanism_of(const struct phased_setup *setup)
{
    struct tacit_mechanism mechanism;
    struct tacit_mechanism_config const config = {
        TACIT_PRIVACY_SOUND,
        setup->aggregators != NULL ? INFINITY : setup->schedule.epsilon_per_reward, 0, 1};
    memset(&mechanism, 0, sizeof mechanism);
    assert_int_equal(tacit_mechanism_init(&mechanism, &config), TACIT_OK);
    return mechanism;
}

struct tacit_phased_agent_config phased_agent_config(const struct phased_setup *setup,
                                                     uint32_t agent_id)
{
    return (struct tacit_phased_agent_config){.run_id = PHASED_RUN_ID,
                                              .agent_id = agent_id,
                                              .agent_count = setup->schedule.agent_count,
                                              .arm_count = setup->schedule.arm_count,
                                              .horizon = setup->schedule.horizon,
                                              .mechanism = mechanism_of(setup),
                                              .budget_nano = setup->budget_nano,
                                              .resend_after_us = PHASED_RESEND_US,
                                              .has_grants = setup->aggregators != NULL,
                                              .has_helper = setup->aggregators != NULL};
}

struct tacit_phased_hub_config phased_hub_config(const struct phased_setup *setup)
{
    return (struct tacit_phased_hub_config){.run_id = PHASED_RUN_ID,
                                            .schedule = setup->schedule,
                                            .mechanism = mechanism_of(setup),
                                            .quorum = setup->quorum,
                                            .round_timeout_us = setup->round_timeout_us,
                                            .has_grants = setup->aggregators != NULL,
                                            .has_helper = setup->aggregators != NULL};
}

static struct phased_core *core_new(const struct phased_setup *setup, size_t size)
{
    struct phased_core *const core = testing_calloc(1, sizeof *core);
    assert_true(size > 0);
    core->setup = setup;
    core->size = size;
    core->state = testing_malloc(size);
    memset(core->state, 0x5a, size); /* init leaves nothing of it */
    return core;
}

struct phased_core *phased_agent_new(const struct phased_setup *setup, uint32_t agent_id)
{
    struct tacit_phased_agent_config const config = phased_agent_config(setup, agent_id);
    struct phased_core *const core = core_new(setup, tacit_phased_agent_size(&config));
    core->agent_id = agent_id;
    core->noise = tacit_rng_stream(setup->seed, 0, agent_id, TACIT_PURPOSE_NOISE);
    core->rewards = tacit_rng_stream(setup->seed, 0, agent_id, TACIT_PURPOSE_REWARD);
    assert_int_equal(tacit_phased_agent_init(core->state, &config), TACIT_OK);
    return core;
}

struct phased_core *phased_hub_new(const struct phased_setup *setup)
{
    struct tacit_phased_hub_config const config = phased_hub_config(setup);
    struct phased_core *const core = core_new(setup, tacit_phased_hub_size(&config));
    core->is_hub = true;
    assert_int_equal(tacit_phased_hub_init(core->state, &config), TACIT_OK);
    return core;
}

static bool is_hub_state(const void *state, size_t size, void *config)
{
    return tacit_phased_hub_check(state, size, config) == TACIT_OK;
}

static bool is_agent_state(const void *state, size_t size, void *config)
{
    return tacit_phased_agent_check(state, size, config) == TACIT_OK;
}

/* The state is one; the digest has all that it shows, and its words are known. */
static void check_state(const struct phased_core *core)
{
    damage_words(core->state, core->size);
    if (core->is_hub) {
        struct tacit_phased_hub_config config = phased_hub_config(core->setup);
        struct tacit_phased_hub_view const view = phased_hub_view(core);
        assert_true(is_hub_state(core->state, core->size, &config));
        digest_phased_hub_view(&view, config.schedule.arm_count, config.schedule.agent_count);
        damage_some(core->state, core->size, is_hub_state, &config);
        return;
    }
    struct tacit_phased_agent_config config = phased_agent_config(core->setup, core->agent_id);
    struct tacit_phased_agent_view const view = phased_agent_view(core);
    assert_true(is_agent_state(core->state, core->size, &config));
    digest_phased_agent_view(&view);
    damage_some(core->state, core->size, is_agent_state, &config);
}

enum tacit_status phased_step(struct phased_core *core, struct tacit_event event)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&core->noise);
    event.now_us = core->now_us;
    event.aggregators = core->setup->aggregators;
    event.dropped = core->setup->dropped;
    enum tacit_status const status =
        core->is_hub ? tacit_phased_hub_step(core->state, &event, &core->update)
                     : tacit_phased_agent_step(core->state, &event, &entropy, &core->update);
    check_state(core);
    digest_phased(status, &core->update);
    assert_true(core->update.deadline_us == TACIT_NEVER ||
                core->update.deadline_us >= core->now_us || status != TACIT_OK);
    return status;
}

struct tacit_event phased_start(void)
{
    return (struct tacit_event){.kind = TACIT_EVENT_START};
}

struct tacit_event phased_timeout(void)
{
    return (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT};
}

struct tacit_event phased_receive(const struct tacit_phased_message *message)
{
    return (struct tacit_event){.kind = TACIT_EVENT_RECEIVE, .as.message = message};
}

static struct tacit_event phased_reward(uint32_t arm, uint64_t count, int64_t steps)
{
    struct tacit_event event = {.kind = TACIT_EVENT_REWARD};
    event.as.reward = (struct tacit_reward){arm, count, {.steps = steps}};
    return event;
}

enum tacit_status phased_play(struct phased_core *agent)
{
    uint32_t const count = agent->update.plan_count;
    struct tacit_pull_block *const plan = testing_malloc((count + 1) * sizeof *plan);
    enum tacit_status status = TACIT_OK;
    memcpy(plan, agent->update.plan, count * sizeof *plan);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t const ones =
            tacit_rng_binomial(&agent->rewards, plan[i].count, agent->setup->means[plan[i].arm]);
        status = phased_step(
            agent, phased_reward(plan[i].arm, plan[i].count, (int64_t)ones * TACIT_STEPS));
    }
    testing_free(plan);
    return status;
}

struct tacit_phased_agent_view phased_agent_view(const struct phased_core *agent)
{
    struct tacit_phased_agent_view view;
    tacit_phased_agent_view(agent->state, &view);
    return view;
}

struct tacit_phased_hub_view phased_hub_view(const struct phased_core *hub)
{
    struct tacit_phased_hub_view view;
    tacit_phased_hub_view(hub->state, &view);
    return view;
}

struct tacit_phased_message *phased_keep(const struct phased_core *core)
{
    assert_true(core->update.send);
    void *const memory = testing_malloc(phased_message_size(&core->update.message));
    (void)phased_message_copy(&core->update.message, memory);
    return memory;
}
