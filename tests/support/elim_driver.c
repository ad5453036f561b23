/* Drives the cores of epoch elimination by hand: see elim_driver.h. */
#include "testing.h"
#include "damage.h"
#include "digest.h"
#include "digest_views.h"
#include "elim_driver.h"
#include <math.h>

/* ---- Configuration ---- */

struct driver_setup driver_setup_plain(uint32_t agent_count, uint32_t arm_count, uint64_t horizon)
{
    return (struct driver_setup){.agent_count = agent_count,
                                 .arm_count = arm_count,
                                 .report_count = agent_count,
                                 .horizon = horizon,
                                 .epsilon = INFINITY,
                                 .mode = TACIT_PRIVACY_SOUND,
                                 .budget_nano = UINT64_MAX};
}

struct tacit_mechanism driver_mechanism(const struct driver_setup *setup)
{
    struct tacit_mechanism mechanism;
    struct tacit_mechanism_config const config = {
        .mode = setup->mode, .epsilon_per_reward = setup->epsilon, .lo = 0, .hi = 1};
    assert_int_equal(tacit_mechanism_init(&mechanism, &config), TACIT_OK);
    return mechanism;
}

struct tacit_elim_agent_config driver_agent_config(const struct driver_setup *setup,
                                                   uint32_t agent_id)
{
    return (struct tacit_elim_agent_config){.run_id = DRIVER_RUN_ID,
                                            .agent_id = agent_id,
                                            .agent_count = setup->agent_count,
                                            .arm_count = setup->arm_count,
                                            .horizon = setup->horizon,
                                            .mechanism = driver_mechanism(setup),
                                            .budget_nano = setup->budget_nano,
                                            .resend_after_us = DRIVER_RESEND_US,
                                            .has_grants = setup->has_grants,
                                            .numbered_commits = setup->has_grants,
                                            .change_max = setup->change_max};
}

struct tacit_elim_hub_config driver_hub_config(const struct driver_setup *setup)
{
    return (struct tacit_elim_hub_config){.run_id = DRIVER_RUN_ID,
                                          .agent_count = setup->agent_count,
                                          .schedule = {.arm_count = setup->arm_count,
                                                       .report_count = setup->report_count,
                                                       .horizon = setup->horizon,
                                                       .epsilon_per_reward = setup->epsilon,
                                                       .round_limit = setup->round_limit,
                                                       .gap = setup->gap,
                                                       .growth = setup->growth,
                                                       .confidence = setup->confidence},
                                          .mechanism = driver_mechanism(setup),
                                          .quorum = setup->quorum,
                                          .round_timeout_us = setup->round_timeout_us};
}

/* ---- Cores ---- */

static struct driver_core new_core(const struct driver_setup *setup, size_t size, uint32_t stream)
{
    struct driver_core core = {
        .agent_count = setup->agent_count, .arm_count = setup->arm_count, .size = size};
    assert_true(size > 0);
    damage_words(&core.size, sizeof core.size);
    core.scale = driver_mechanism(setup).scale;
    core.state = testing_malloc(size);
    core.entropy.rng = tacit_rng_stream(1, 0, stream, TACIT_PURPOSE_NOISE);
    core.update.deadline_us = TACIT_NEVER;
    return core;
}

struct driver_core driver_agent_open(const struct driver_setup *setup, uint32_t agent_id)
{
    struct tacit_elim_agent_config const config = driver_agent_config(setup, agent_id);
    struct driver_core core = new_core(setup, tacit_elim_agent_size(&config), agent_id);
    core.agent_config = config;
    assert_int_equal(tacit_elim_agent_init(core.state, &config), TACIT_OK);
    return core;
}

struct driver_core driver_hub_open(const struct driver_setup *setup)
{
    struct tacit_elim_hub_config const config = driver_hub_config(setup);
    struct driver_core core = new_core(setup, tacit_elim_hub_size(&config), TACIT_STREAM_COMMON);
    core.is_hub = true;
    core.hub_config = config;
    assert_int_equal(tacit_elim_hub_init(core.state, &config), TACIT_OK);
    return core;
}

static void *copy_state(const struct driver_core *core)
{
    void *const copy = testing_malloc(core->size);
    memcpy(copy, core->state, core->size);
    return copy;
}

struct driver_core driver_copy(const struct driver_core *core)
{
    struct driver_core copy = *core;
    copy.state = copy_state(core);
    copy.update = (struct tacit_elim_update){.deadline_us = TACIT_NEVER};
    return copy;
}

void driver_move(struct driver_core *core)
{
    void *const copy = copy_state(core);
    memset(core->state, 0xa5, core->size);
    testing_free(core->state);
    core->state = copy;
    core->update = (struct tacit_elim_update){.deadline_us = TACIT_NEVER};
}

struct tacit_elim_agent_view driver_agent_view(const struct driver_core *agent)
{
    struct tacit_elim_agent_view view;
    assert_false(agent->is_hub);
    tacit_elim_agent_view(agent->state, &view);
    return view;
}

struct tacit_elim_hub_view driver_hub_view(const struct driver_core *hub)
{
    struct tacit_elim_hub_view view;
    assert_true(hub->is_hub);
    tacit_elim_hub_view(hub->state, &view);
    return view;
}

/* ---- Events ---- */

struct tacit_event driver_start(void)
{
    return (struct tacit_event){.kind = TACIT_EVENT_START};
}

struct tacit_event driver_timeout(void)
{
    return (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT};
}

struct tacit_event driver_receive(const struct tacit_elim_message *message)
{
    return (struct tacit_event){.kind = TACIT_EVENT_RECEIVE, .as.message = message};
}

struct tacit_elim_message driver_order(uint32_t epoch, uint64_t pulls, const uint64_t *arms)
{
    return (struct tacit_elim_message){.kind = TACIT_ELIM_ORDER,
                                       .from = TACIT_HUB,
                                       .to = TACIT_EVERYONE,
                                       .run_id = DRIVER_RUN_ID,
                                       .epoch = epoch,
                                       .pulls = pulls,
                                       .arms = arms};
}

struct tacit_event driver_reward(uint32_t arm, uint64_t count, union tacit_sum sum)
{
    struct tacit_event event = {.kind = TACIT_EVENT_REWARD};
    event.as.reward.arm = arm;
    event.as.reward.count = count;
    event.as.reward.sum = sum;
    return event;
}

/* ---- Steps ---- */

static enum tacit_status countdown_fill(void *context, void *bytes, size_t size)
{
    struct driver_entropy *const entropy = context;
    uint64_t const number = entropy->fill_count++;
    if (number >= entropy->fail_from && number - entropy->fail_from < entropy->fail_count)
        return TACIT_ENTROPY;
    struct tacit_entropy const stream = tacit_rng_entropy(&entropy->rng);
    return stream.fill(stream.context, bytes, size);
}

enum tacit_status driver_check(const struct driver_core *core)
{
    enum tacit_status const status =
        core->is_hub ? tacit_elim_hub_check(core->state, core->size, &core->hub_config)
                     : tacit_elim_agent_check(core->state, core->size, &core->agent_config);
    digest_word((uint64_t)status);
    return status;
}

static bool is_state(const void *state, size_t size, void *context)
{
    struct driver_core const *const core = context;
    return (core->is_hub ? tacit_elim_hub_check(state, size, &core->hub_config)
                         : tacit_elim_agent_check(state, size, &core->agent_config)) == TACIT_OK;
}

static void digest_update(struct driver_core *core, enum tacit_status status)
{
    digest_elim(status, &core->update, core->arm_count, core->agent_count);
    damage_words(core->state, core->size);
    damage_some(core->state, core->size, is_state, core);
    if (core->is_hub) {
        struct tacit_elim_hub_view const view = driver_hub_view(core);
        digest_elim_hub_view(&view, core->arm_count, core->agent_count);
    } else {
        struct tacit_elim_agent_view const view = driver_agent_view(core);
        digest_elim_agent_view(&view, core->arm_count);
    }
}

static enum tacit_status ask(struct driver_core *core, const struct tacit_event *event)
{
    struct tacit_entropy const entropy = {countdown_fill, &core->entropy};
    struct tacit_elim_update *const update = &core->update;
    return core->is_hub ? tacit_elim_hub_step(core->state, event, &entropy, update)
                        : tacit_elim_agent_step(core->state, event, &entropy, update);
}

/* What is asked once with entropy that fails at this draw, and at the next timeout, and once more.
 */
static void fail_draw(const struct driver_core *before, const struct tacit_event *event,
                      uint64_t draw)
{
    struct driver_core copy = driver_copy(before);
    struct tacit_event const timeout = {.kind = TACIT_EVENT_TIMEOUT, .now_us = event->now_us};
    copy.entropy.fail_from = before->entropy.fill_count + draw;
    copy.entropy.fail_count = 1;
    for (int turn = 0; turn < 3; turn++) {
        enum tacit_status const status = ask(&copy, turn == 1 ? &timeout : event);
        assert_int_equal(driver_check(&copy), TACIT_OK);
        digest_update(&copy, status);
    }
    testing_free(copy.state);
}

/* What a core did, it is asked to do in a copy of what it was, with entropy that fails at the first
 * draws and at the last. */
enum tacit_status driver_step(struct driver_core *core, struct tacit_event event)
{
    static uint64_t step;
    event.now_us = core->now_us;
    struct driver_core before = driver_copy(core);
    enum tacit_status const status = ask(core, &event);
    uint64_t const draws = core->entropy.fill_count - before.entropy.fill_count;
    bool const is_due =
        status == TACIT_OK && draws > 0 && !digest_is_paused() && damage_is_due(step++);
    for (uint64_t draw = 0; is_due && draw < draws; draw++)
        if (draw < 2 || draw == draws - 1)
            fail_draw(&before, &event, draw);
    testing_free(before.state);
    assert_int_equal(driver_check(core), TACIT_OK);
    digest_update(core, status);
    if (event.kind == TACIT_EVENT_TIMEOUT && status == TACIT_OK)
        assert_true(core->update.deadline_us > core->now_us);
    return status;
}

void driver_expect(struct driver_core *core, struct tacit_event event, enum tacit_status status)
{
    assert_int_equal(driver_step(core, event), status);
}

void driver_expect_refusal(struct driver_core *core, struct tacit_event event,
                           enum tacit_status status)
{
    void *const before = copy_state(core);
    core->now_us += 7; /* it does not even take note of the time */
    driver_expect(core, event, status);
    core->now_us -= 7;
    assert_memory_equal(core->state, before, core->size);
    assert_false(core->update.persist || core->update.send);
    assert_int_equal(core->update.plan_count, 0);
    testing_free(before);
}

uint64_t driver_plan_length(const struct driver_core *agent)
{
    uint64_t length = 0;
    for (uint32_t i = 0; i < agent->update.plan_count; i++)
        length += agent->update.plan[i].count;
    return length;
}

void driver_play(struct driver_core *agent, const double *means)
{
    struct tacit_pull_block plan[DRIVER_ARMS_MAX];
    uint32_t const count = agent->update.plan_count;
    assert_in_range(count, 1, DRIVER_ARMS_MAX);
    memcpy(plan, agent->update.plan, count * sizeof *plan);
    for (uint32_t i = 0; i < count; i++) {
        union tacit_sum sum = {0};
        tacit_sum_add_reward(&agent->scale, &sum, means[plan[i].arm], plan[i].count);
        driver_expect(agent, driver_reward(plan[i].arm, plan[i].count, sum), TACIT_OK);
    }
}

/* ---- Messages ---- */

struct tacit_elim_message *driver_keep(const struct driver_core *core)
{
    struct tacit_elim_message const *const message = &core->update.message;
    assert_true(core->update.send);
    void *const memory =
        testing_malloc(tacit_elim_message_size(message, core->arm_count, core->agent_count));
    assert_non_null(memory);
    (void)tacit_elim_message_copy(message, core->arm_count, core->agent_count, memory);
    return memory;
}

/* ---- Federations ---- */

/* Answers to one agent are of no use to the others. */
static bool says_order_to_all(const struct driver_core *hub)
{
    return hub->update.send && hub->update.message.to == TACIT_EVERYONE;
}

static void keep_order(struct driver_run *run)
{
    testing_free(run->order);
    run->order = says_order_to_all(&run->hub) ? driver_keep(&run->hub) : NULL;
}

void driver_run_open(struct driver_run *run, const struct driver_setup *setup, const double *means)
{
    assert_in_range(setup->agent_count, 1, DRIVER_AGENTS_MAX);
    *run = (struct driver_run){.setup = *setup, .means = means};
    for (uint32_t agent = 0; agent < setup->agent_count; agent++) {
        run->agents[agent] = driver_agent_open(setup, agent);
        driver_expect(&run->agents[agent], driver_start(), TACIT_OK);
    }
    run->hub = driver_hub_open(setup);
    driver_expect(&run->hub, driver_start(), TACIT_OK);
    keep_order(run);
}

bool driver_run_round(struct driver_run *run)
{
    bool is_new = false;
    struct tacit_elim_message *const order = run->order;
    run->order = NULL;
    assert_non_null(order);
    for (uint32_t agent = 0; agent < run->setup.agent_count; agent++) {
        struct driver_core *const core = &run->agents[agent];
        driver_expect(core, driver_receive(order), TACIT_OK);
        if (core->update.plan_count > 0)
            driver_play(core, run->means);
        if (!core->update.send)
            continue;
        run->report_count++;
        driver_expect(&run->hub, driver_receive(&core->update.message), TACIT_OK);
        if (says_order_to_all(&run->hub)) {
            keep_order(run);
            is_new = true;
        }
    }
    testing_free(order);
    return is_new;
}
