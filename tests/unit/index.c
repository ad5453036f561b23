/* The core of the index family: hostile events, restarts at every step, the same plans as the loop
 * without a core, entropy that fails. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tacit/env.h"
#include "tacit/index.h"
#include "../support/damage.h"
#include "../support/digest.h"

/* Of all steps below: digest.h. */
#define DIGEST UINT64_C(0xb90c2def87467a00)
/* Verdicts over damaged states: damage.h. */
#define VERDICTS UINT64_C(0xd1ce5bb103ade1b7)

#define ARMS 6u
#define HORIZON 2000u
#define RETRY_US 50u

static double const means[ARMS] = {0.1, 0.5, 0.55, 0.6, 0.2, 0.9};
static struct tacit_env const env = {
    .kind = TACIT_ENV_BERNOULLI, .row_count = 1, .arm_count = ARMS, .means = means};

static struct tacit_index_config config_of(enum tacit_arms_kind kind)
{
    return (struct tacit_index_config){.kind = kind,
                                       .arm_count = ARMS,
                                       .horizon = HORIZON,
                                       .scale = {TACIT_SCALE_REAL, 0, 1},
                                       .bounded = true,
                                       .retry_after_us = RETRY_US};
}

struct source { /* entropy that can be made to fail */
    struct tacit_rng rng;
    bool fails;
};

static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    struct source *const source = context;
    struct tacit_entropy const entropy = tacit_rng_entropy(&source->rng);
    return source->fails ? TACIT_ENTROPY : entropy.fill(entropy.context, bytes, size);
}

struct core {
    struct tacit_index_config config;
    size_t size;
    struct tacit_index_agent *agent;
    struct source source;
    struct tacit_entropy entropy;
    uint64_t now_us;
    struct tacit_index_update update;
};

static void core_open(struct core *core, const struct tacit_index_config *config)
{
    *core = (struct core){.config = *config, .size = tacit_index_agent_size(config)};
    damage_words(&core->size, sizeof core->size);
    core->agent = malloc(core->size);
    core->source.rng = tacit_rng_stream(5, 0, 0, TACIT_PURPOSE_OF_FAMILY(1, 0));
    core->entropy = (struct tacit_entropy){.fill = fill, .context = &core->source};
    assert_int_equal(tacit_index_agent_init(core->agent, config), TACIT_OK);
}

static bool is_state(const void *state, size_t size, void *config)
{
    return tacit_index_agent_check(state, size, config) == TACIT_OK;
}

static void digest_view(const struct core *core)
{
    struct tacit_index_view view;
    tacit_index_agent_look(core->agent, &view);
    uint64_t const words[] = {view.finished, view.pull_count, view.planned.arm, view.planned.count,
                              view.exploit_arm};
    digest_bytes(words, sizeof words);
}

static enum tacit_status ask(struct core *core, const struct tacit_index_event *event)
{
    enum tacit_status const status =
        tacit_index_agent_step(core->agent, event, &core->entropy, &core->update);
    assert_int_equal(tacit_index_agent_check(core->agent, core->size, &core->config), TACIT_OK);
    digest_step(status, core->update.persist, core->update.deadline_us, core->update.plan,
                core->update.plan_count);
    digest_view(core);
    damage_words(core->agent, core->size);
    damage_some(core->agent, core->size, is_state, &core->config);
    return status;
}

/* The same in a copy without entropy, at the next timeout, and once more. */
static void ask_without_entropy(const struct core *core, const struct tacit_index_event *event)
{
    struct core copy = *core;
    struct tacit_index_event const timeout = {.kind = TACIT_EVENT_TIMEOUT, .now_us = event->now_us};
    copy.agent = malloc(core->size);
    memcpy(copy.agent, core->agent, core->size);
    copy.entropy.context = &copy.source;
    copy.source.fails = true;
    (void)ask(&copy, event);
    copy.source.fails = core->source.fails;
    (void)ask(&copy, &timeout);
    (void)ask(&copy, event);
    free(copy.agent);
}

static enum tacit_status step(struct core *core, struct tacit_index_event event)
{
    static uint64_t number;
    event.now_us = core->now_us++;
    if (!digest_is_paused() && damage_is_due(number++))
        ask_without_entropy(core, &event);
    return ask(core, &event);
}

static struct tacit_index_event start(void)
{
    return (struct tacit_index_event){.kind = TACIT_EVENT_START};
}

static struct tacit_index_event reward(uint32_t arm, uint64_t count, double sum)
{
    struct tacit_index_event event = {.kind = TACIT_EVENT_REWARD};
    event.as.reward = (struct tacit_reward){arm, count, {.real = sum}};
    return event;
}

static struct tacit_index_event exploited(uint64_t count)
{
    return (struct tacit_index_event){.kind = TACIT_EVENT_EXPLOITED, .as.exploited_count = count};
}

static void expect_nothing(struct core *core, struct tacit_index_event event,
                           enum tacit_status status)
{
    unsigned char *const before = malloc(core->size);
    memcpy(before, core->agent, core->size);
    assert_int_equal(step(core, event), status);
    assert_memory_equal(before, core->agent, core->size);
    assert_false(core->update.persist);
    free(before);
}

/* A crash and a restart: the bytes go to other memory. */
static void restart(struct core *core)
{
    struct tacit_index_agent *const moved = malloc(core->size);
    memcpy(moved, core->agent, core->size);
    memset(core->agent, 0xa5, core->size);
    free(core->agent);
    core->agent = moved;
    assert_int_equal(step(core, start()), TACIT_OK);
}

static void core_and_loop_without_a_core_play_the_same(void **state)
{
    (void)state;
    for (int kind = TACIT_ARMS_UCB1; kind <= TACIT_ARMS_UNIFORM; kind++)
        for (int restarts = 0; restarts < 2; restarts++) {
            struct tacit_index_config const config = config_of((enum tacit_arms_kind)kind);
            struct core core;
            core_open(&core, &config);
            struct tacit_arms_config const arms_config = {config.kind, ARMS, HORIZON, config.scale,
                                                          true};
            struct tacit_arms *const arms = malloc(tacit_arms_size(&arms_config));
            assert_int_equal(tacit_arms_init(arms, &arms_config), TACIT_OK);
            struct tacit_rng words = tacit_rng_stream(5, 0, 0, TACIT_PURPOSE_OF_FAMILY(1, 0));
            struct tacit_rng rewards = tacit_rng_stream(5, 0, 0, TACIT_PURPOSE_REWARD);
            assert_int_equal(step(&core, start()), TACIT_OK);
            for (uint64_t t = 0; t < HORIZON;) {
                uint64_t const word =
                    tacit_arms_wants_word(config.kind) ? tacit_rng_next(&words) : 0;
                struct tacit_pull_block const block = tacit_arms_next(arms, HORIZON - t, word);
                if (restarts == 1)
                    restart(&core);
                assert_int_equal(core.update.plan_count, 1);
                assert_int_equal(core.update.plan->arm, block.arm);
                assert_int_equal(core.update.plan->count, block.count);
                double const sum =
                    (double)tacit_env_ones(&env, 0, block.arm, block.count, &rewards);
                tacit_arms_take(arms, block.arm, block.count, (union tacit_sum){.real = sum}, 0);
                assert_int_equal(step(&core, reward(block.arm, block.count, sum)), TACIT_OK);
                t += block.count;
            }
            struct tacit_index_view view;
            tacit_index_agent_look(core.agent, &view);
            assert_true(view.finished);
            assert_int_equal(core.update.plan_count, 0);
            assert_int_equal(view.exploit_arm, tacit_arms_best(arms));
            expect_nothing(&core, exploited(1), TACIT_INVALID);
            free(arms);
            free(core.agent);
        }
}

static void rewards_that_the_plan_did_not_ask_for_are_refused_without_trace(void **state)
{
    (void)state;
    struct tacit_index_config const config = config_of(TACIT_ARMS_UCB1);
    struct core core;
    core_open(&core, &config);
    expect_nothing(&core, reward(0, 1, 1), TACIT_INVALID); /* before the start */
    assert_int_equal(step(&core, start()), TACIT_OK);
    expect_nothing(&core, reward(1, 1, 1), TACIT_INVALID);
    expect_nothing(&core, reward(ARMS, 1, 1), TACIT_INVALID);
    expect_nothing(&core, reward(0, 0, 0), TACIT_INVALID);
    expect_nothing(&core, reward(0, 2, 1), TACIT_INVALID);
    expect_nothing(&core, reward(0, 1, 1.5), TACIT_INVALID);
    expect_nothing(&core, reward(0, 1, -0.5), TACIT_INVALID);
    expect_nothing(&core, reward(0, 1, (double)NAN), TACIT_INVALID);
    expect_nothing(&core, exploited(0), TACIT_INVALID);
    expect_nothing(&core, exploited(HORIZON), TACIT_INVALID); /* one slot is planned */
    expect_nothing(&core, (struct tacit_index_event){.kind = TACIT_EVENT_RECEIVE},
                   TACIT_UNEXPECTED);
    expect_nothing(&core, (struct tacit_index_event){.kind = TACIT_EVENT_OFFER}, TACIT_INVALID);
    assert_int_equal(step(&core, reward(0, 1, 1)), TACIT_OK);
    free(core.agent);
}

static void pulls_outside_the_plan_take_slots_and_teach_nothing(void **state)
{
    (void)state;
    struct tacit_index_config const config = config_of(TACIT_ARMS_MOSS);
    struct core core;
    core_open(&core, &config);
    assert_int_equal(step(&core, start()), TACIT_OK);
    assert_int_equal(step(&core, exploited(HORIZON - 1)), TACIT_OK);
    assert_int_equal(step(&core, reward(0, 1, 1)), TACIT_OK);
    assert_int_equal(core.update.plan_count, 0);
    struct tacit_index_view view;
    tacit_index_agent_look(core.agent, &view);
    assert_true(view.finished);
    assert_int_equal(tacit_arms_pull_count(view.arms), 1);
    free(core.agent);
}

static void entropy_that_fails_is_asked_again_at_the_timeout(void **state)
{
    (void)state;
    struct tacit_index_config const config = config_of(TACIT_ARMS_THOMPSON);
    struct core core;
    core_open(&core, &config);
    core.source.fails = true;
    assert_int_equal(step(&core, start()), TACIT_ENTROPY);
    assert_true(core.update.deadline_us != TACIT_NEVER);
    struct tacit_index_event const timeout = {.kind = TACIT_EVENT_TIMEOUT};
    assert_int_equal(step(&core, timeout), TACIT_OK); /* too early */
    assert_int_equal(core.update.plan_count, 0);
    core.now_us += RETRY_US;
    core.source.fails = false;
    assert_int_equal(step(&core, timeout), TACIT_OK);
    assert_int_equal(core.update.plan_count, 1);
    core.source.fails = true; /* the coin of a fraction */
    uint32_t const arm = core.update.plan->arm;
    assert_int_equal(step(&core, reward(arm, 1, 0.5)), TACIT_ENTROPY);
    assert_false(core.update.persist);
    assert_int_equal(step(&core, reward(arm, 1, 1)), TACIT_ENTROPY); /* taken; no new plan */
    assert_true(core.update.persist);
    core.source.fails = false;
    core.now_us += RETRY_US;
    assert_int_equal(step(&core, timeout), TACIT_OK);
    assert_int_equal(core.update.plan_count, 1);
    free(core.agent);
}

static void parameters_out_of_range_and_foreign_bytes_are_refused(void **state)
{
    (void)state;
    struct tacit_index_config const good = config_of(TACIT_ARMS_UCB1);
    struct tacit_index_config bad = good;
    bad.retry_after_us = 0;
    assert_int_equal(tacit_index_agent_size(&bad), 0);
    bad = good;
    bad.arm_count = 0;
    assert_int_equal(tacit_index_agent_size(&bad), 0);
    struct core core;
    core_open(&core, &good);
    assert_int_equal(step(&core, start()), TACIT_OK);
    bad = good;
    bad.horizon = HORIZON + 1;
    assert_int_equal(tacit_index_agent_check(core.agent, core.size, &bad), TACIT_MALFORMED);
    assert_int_equal(tacit_index_agent_check(core.agent, core.size - 8, &good), TACIT_MALFORMED);
    free(core.agent);
}

/* In steps a reward may be all that its pulls could give, and no step more. */
static void sums_in_steps_reach_as_far_as_their_pulls(void **state)
{
    (void)state;
    struct tacit_index_config config = config_of(TACIT_ARMS_MOSS);
    config.scale.kind = TACIT_SCALE_STEPS;
    config.bounded = false; /* steps are, by themselves */
    struct core core;
    core_open(&core, &config);
    assert_int_equal(step(&core, start()), TACIT_OK);
    assert_int_equal(core.update.plan_count, 1);
    struct tacit_index_event all = reward(core.update.plan->arm, 1, 0);
    all.as.reward.sum.steps = TACIT_STEPS + 1;
    assert_int_equal(step(&core, all), TACIT_INVALID);
    all.as.reward.sum.steps = TACIT_STEPS;
    assert_int_equal(step(&core, all), TACIT_OK);
    assert_true(core.update.persist);
    free(core.agent);
}

/* A plan that stands waits for nothing. */
static void with_a_plan_there_is_no_deadline(void **state)
{
    (void)state;
    struct tacit_index_config const config = config_of(TACIT_ARMS_THOMPSON);
    struct core core;
    core_open(&core, &config);
    core.source.fails = true;
    assert_int_equal(step(&core, start()), TACIT_ENTROPY);
    core.source.fails = false;
    core.now_us += RETRY_US;
    assert_int_equal(step(&core, (struct tacit_index_event){.kind = TACIT_EVENT_TIMEOUT}),
                     TACIT_OK);
    assert_int_equal(core.update.plan_count, 1);
    assert_true(core.update.deadline_us == TACIT_NEVER);
    free(core.agent);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(core_and_loop_without_a_core_play_the_same),
        cmocka_unit_test(rewards_that_the_plan_did_not_ask_for_are_refused_without_trace),
        cmocka_unit_test(pulls_outside_the_plan_take_slots_and_teach_nothing),
        cmocka_unit_test(entropy_that_fails_is_asked_again_at_the_timeout),
        cmocka_unit_test(sums_in_steps_reach_as_far_as_their_pulls),
        cmocka_unit_test(with_a_plan_there_is_no_deadline),
        cmocka_unit_test(parameters_out_of_range_and_foreign_bytes_are_refused),
    };
    int const failed = digest_end(argc, cmocka_run_group_tests(tests, NULL, NULL), DIGEST);
    return damage_end(argc, failed, VERDICTS);
}
