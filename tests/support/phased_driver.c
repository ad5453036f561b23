/* The cores of the phased index by hand, one event at a time. */
#include "testing.h"
#include "damage.h"
#include "digest.h"
#include "scarce.h"
#include "digest_views.h"
#include "phased_driver.h"
#include "phased_message.h"
#include "variants.h"

#define VARIANTS_OFTEN 24u

static struct tacit_mechanism mechanism_of(const struct phased_setup *setup)
{
    struct tacit_mechanism mechanism;
    struct tacit_mechanism_config const config = {TACIT_PRIVACY_SOUND,
                                                  setup->schedule.epsilon_per_reward, 0, 1};
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
                                              .round_max = setup->round_max,
                                              .has_grants = setup->has_grants,
                                              .domain = {setup->has_grants ? 7 : 0}};
}

struct tacit_phased_hub_config phased_hub_config(const struct phased_setup *setup)
{
    return (struct tacit_phased_hub_config){.run_id = PHASED_RUN_ID,
                                            .schedule = setup->schedule,
                                            .mechanism = mechanism_of(setup),
                                            .quorum = setup->quorum,
                                            .round_timeout_us = setup->round_timeout_us,
                                            .answers_all = setup->answers_all,
                                            .has_grants = setup->has_grants,
                                            .domain = {setup->has_grants ? 7 : 0}};
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

static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    struct phased_core *const core = context;
    struct tacit_entropy const entropy = tacit_rng_entropy(&core->noise);
    return core->entropy_fails ? TACIT_ENTROPY : entropy.fill(entropy.context, bytes, size);
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
static void look_at(const struct phased_core *core)
{
    damage_words(core->state, core->size);
    if (core->is_hub) {
        struct tacit_phased_hub_config config = phased_hub_config(core->setup);
        struct tacit_phased_hub_view const view = phased_hub_view(core);
        assert_true(is_hub_state(core->state, core->size, &config));
        digest_phased_hub_view(&view, config.schedule.arm_count, config.schedule.agent_count);
        return;
    }
    struct tacit_phased_agent_config config = phased_agent_config(core->setup, core->agent_id);
    struct tacit_phased_agent_view const view = phased_agent_view(core);
    assert_true(is_agent_state(core->state, core->size, &config));
    digest_phased_agent_view(&view);
}

static void check_state(const struct phased_core *core)
{
    struct tacit_phased_hub_config hub = phased_hub_config(core->setup);
    struct tacit_phased_agent_config agent = phased_agent_config(core->setup, core->agent_id);
    look_at(core);
    if (core->is_hub)
        damage_some(core->state, core->size, is_hub_state, &hub);
    else
        damage_some(core->state, core->size, is_agent_state, &agent);
}

/* ---- Events that are a little other ---- */

/* A step of a copy. */
struct other {
    const struct phased_core *core;
    struct tacit_event event;
    struct tacit_phased_message message;
    uint32_t draws; /* entropy fails afterwards */
    uint32_t arm;   /* of a change of the operator's */
};

static struct phased_core copy_of(const struct other *other)
{
    struct phased_core copy = *other->core;
    copy.state = testing_malloc(copy.size);
    memcpy(copy.state, other->core->state, copy.size);
    return copy;
}

static void end_copy(const struct other *other, struct phased_core *copy, enum tacit_status status)
{
    bool const is_refused = status != TACIT_OK && !copy->update.persist;
    look_at(copy);
    digest_phased(status, &copy->update);
    if (is_refused)
        assert_memory_equal(copy->state, other->core->state, copy->size);
    testing_free(copy->state);
}

static void step_copy(void *context)
{
    struct other *const other = context;
    struct tacit_rng rng = other->core->noise;
    struct scarce scarce = {tacit_rng_entropy(&rng), other->draws};
    struct tacit_entropy const entropy = scarce_entropy(&scarce);
    struct phased_core copy = copy_of(other);
    enum tacit_status const status =
        copy.is_hub ? tacit_phased_hub_step(copy.state, &other->event, &copy.update)
                    : tacit_phased_agent_step(copy.state, &other->event, &entropy, &copy.update);
    end_copy(other, &copy, status);
}

/* The operator adds an arm, or takes it out. */
static void change_copy(struct other *other, bool is_added)
{
    struct phased_core copy = copy_of(other);
    uint64_t const now_us = other->event.now_us;
    enum tacit_status const status =
        tacit_phased_hub_change(copy.state, other->arm, is_added, now_us, &copy.update);
    end_copy(other, &copy, status);
}

static void try_other_commits(struct other *other)
{
    static const struct variant_field fields[] = {{0, 1, 0, UINT64_MAX, false},
                                                  {TACIT_SHA256_BYTES - 1, 1, 0, 255, false}};
    struct tacit_commit *const commit = (void *)(uintptr_t)other->message.commit;
    if (commit == NULL)
        return;
    variants_of(commit->commitment, fields, 2, step_copy, other);
    variants_of(commit->previous, fields, 2, step_copy, other);
    variants_of(commit->salt, fields, 1, step_copy, other);
    other->message.commit = NULL;
    step_copy(other);
    other->message.commit = commit;
}

static void try_other_arrays(struct other *other)
{
    static const struct variant_field fields[] = {VARIANT_ANY(struct tacit_pull_block, arm),
                                                  VARIANT_ANY(struct tacit_pull_block, count)};
    struct tacit_phased_message *const word = &other->message;
    const struct tacit_pull_block *const blocks = word->blocks;
    const int64_t *const sums = word->sums;
    for (uint32_t i = 0; blocks != NULL && i < word->block_count; i += i + 1)
        variants_of((void *)(uintptr_t)&blocks[i], fields, 2, step_copy, other);
    if (sums != NULL && word->block_count > 0)
        variants_of_words((void *)(uintptr_t)sums, word->block_count, false, step_copy, other);
    word->blocks = NULL;
    word->sums = NULL;
    step_copy(other);
    word->blocks = blocks;
    word->sums = sums;
}

static void try_other_words(struct other *other)
{
    struct tacit_phased_message const *const said = other->event.as.message;
    struct variant_field const fields[] = {
        VARIANT(struct tacit_phased_message, kind, 0, TACIT_ROUND_REFUSAL),
        VARIANT_ANY(struct tacit_phased_message, from),
        VARIANT_ANY(struct tacit_phased_message, to),
        VARIANT_ANY(struct tacit_phased_message, run_id),
        VARIANT_ANY(struct tacit_phased_message, term),
        VARIANT_ANY(struct tacit_phased_message, round),
        VARIANT_ANY(struct tacit_phased_message, seen),
        VARIANT(struct tacit_phased_message, last, 0, 1),
        VARIANT_ANY(struct tacit_phased_message, leader),
        VARIANT(struct tacit_phased_message, block_count, 0, said->block_count),
        VARIANT(struct tacit_phased_message, closed, 0, 1)};
    struct tacit_phased_message *const copy = testing_malloc(phased_message_size(said));
    other->message = *phased_message_copy(said, copy);
    other->event.as.message = &other->message;
    variants_of(&other->message, fields, sizeof fields / sizeof fields[0], step_copy, other);
    try_other_arrays(other);
    try_other_commits(other);
    other->event.as.message = said;
    testing_free(copy);
}

static void hear_copy(struct other *other, const struct tacit_phased_message *message)
{
    struct tacit_event const was = other->event;
    other->event.kind = TACIT_EVENT_RECEIVE;
    other->event.as.message = message;
    step_copy(other);
    other->event = was;
}

/* Orders of this round and of the next one, to all and to this agent, with and without a plan. */
static void order_copies(struct other *other)
{
    static const struct tacit_pull_block blocks[] = {{0, 3}, {1, 40}};
    struct tacit_phased_agent_view const view = phased_agent_view(other->core);
    uint32_t const arms = other->core->setup->schedule.arm_count;
    for (uint32_t i = 0; i < 16; i++) {
        bool const is_next = i % 2 == 0;
        struct tacit_phased_message order = {.kind = TACIT_ROUND_ORDER,
                                             .from = TACIT_HUB,
                                             .to = i & 2 ? TACIT_EVERYONE : other->core->agent_id,
                                             .run_id = PHASED_RUN_ID,
                                             .term = view.term,
                                             .round = view.round + (is_next ? 1 : 0),
                                             .last = (i & 4) != 0,
                                             .leader = i & 4 ? 0 : TACIT_NO_ARM};
        order.seen = i & 8 ? order.round : 0;
        if (!order.last) {
            order.block_count = is_next ? (arms < 2 ? 1 : 2) : view.block_count;
            order.blocks = is_next ? blocks : view.blocks;
        }
        hear_copy(other, &order);
    }
}

/* Grants and refusals of what waits, and of nothing. */
static void answer_copies(struct other *other)
{
    static const struct tacit_commit nothing;
    struct tacit_phased_agent_view const view = phased_agent_view(other->core);
    struct tacit_phased_message answer = {.kind = TACIT_ROUND_GRANT,
                                          .from = TACIT_HUB,
                                          .to = other->core->agent_id,
                                          .run_id = PHASED_RUN_ID,
                                          .term = view.term,
                                          .round = view.round,
                                          .leader = TACIT_NO_ARM};
    for (uint32_t i = 0; i < 24; i++) {
        answer.kind = i & 1 ? TACIT_ROUND_GRANT : TACIT_ROUND_REFUSAL;
        answer.closed = (i & 2) != 0;
        answer.round = view.round + i / 8 - 1;
        answer.commit =
            i & 4 && view.committed ? tacit_phased_agent_draw(other->core->state).commit : &nothing;
        hear_copy(other, &answer);
    }
}

/* What sites say of this round, and of those beside it. */
static void tell_copies(struct other *other)
{
    static const struct tacit_commit asked = {.commitment = {5}};
    static const enum tacit_round_kind kinds[] = {TACIT_ROUND_HELLO, TACIT_ROUND_REPORT,
                                                  TACIT_ROUND_COMMIT};
    struct tacit_phased_hub_view const view = phased_hub_view(other->core);
    int64_t *const sums = testing_calloc(view.judge.plan_count + 1, sizeof *sums);
    for (uint32_t i = 0; i < 12; i++) {
        struct tacit_phased_message said = {.kind = kinds[i % 3],
                                            .to = TACIT_HUB,
                                            .run_id = PHASED_RUN_ID,
                                            .term = view.term,
                                            .round = view.judge.round + i / 3 - 1,
                                            .leader = TACIT_NO_ARM,
                                            .commit = &asked};
        if (said.kind == TACIT_ROUND_REPORT) {
            said.block_count = view.judge.plan_count;
            said.sums = sums;
        }
        for (; said.from < other->core->setup->schedule.agent_count; said.from++)
            hear_copy(other, &said);
    }
    testing_free(sums);
}

/* .. and what may come in the place of the event that came. */
static void try_other_kinds(struct other *other)
{
    static const uint64_t counts[] = {0, 1, UINT64_MAX};
    struct tacit_event const moment = {.now_us = other->event.now_us};
    other->event = moment;
    other->event.kind = TACIT_EVENT_TIMEOUT;
    step_copy(other);
    other->event.kind = TACIT_EVENT_OFFER;
    step_copy(other);
    other->event.kind = TACIT_EVENT_START;
    for (other->event.as.term = 0; other->event.as.term < 3; other->event.as.term++)
        step_copy(other);
    other->event.kind = TACIT_EVENT_EXPLOITED;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        other->event.as.exploited_count = counts[i];
        step_copy(other);
    }
    if (!other->core->is_hub) {
        order_copies(other);
        answer_copies(other);
        uint64_t const left =
            other->core->setup->schedule.horizon - phased_agent_view(other->core).pull_count;
        for (uint64_t i = 0; i < 2; i++) {
            other->event.as.exploited_count = left + i;
            step_copy(other);
        }
    }
    if (other->core->is_hub)
        tell_copies(other);
    for (other->arm = 0; other->core->is_hub && other->arm < 4; other->arm++) {
        change_copy(other, false);
        change_copy(other, true);
    }
}

/* All that may come in this state in the place of the event that comes: tests/support/variants.h.
 */
static void try_others(const struct phased_core *core, const struct tacit_event *event)
{
    struct other other = {.core = core, .event = *event};
    struct variant_field const fields[] = {
        VARIANT(struct tacit_event, now_us, event->now_us, UINT64_MAX / 4),
        VARIANT_ANY(struct tacit_event, as.reward.arm),
        VARIANT_ANY(struct tacit_event, as.reward.count),
        VARIANT_ANY(struct tacit_event, as.reward.sum)};
    for (; other.draws < 4; other.draws++)
        step_copy(&other);
    other.draws = UINT32_MAX;
    variants_of(&other.event, fields, event->kind == TACIT_EVENT_REWARD ? 4 : 1, step_copy, &other);
    if (event->kind == TACIT_EVENT_RECEIVE)
        try_other_words(&other);
    try_other_kinds(&other);
}

enum tacit_status phased_step(struct phased_core *core, struct tacit_event event)
{
    struct tacit_entropy const entropy = {.fill = fill, .context = core};
    event.now_us = core->now_us;
    if (variants_are_due(VARIANTS_OFTEN))
        try_others(core, &event);
    enum tacit_status const status =
        core->is_hub ? tacit_phased_hub_step(core->state, &event, &core->update)
                     : tacit_phased_agent_step(core->state, &event, &entropy, &core->update);
    check_state(core);
    digest_phased(status, &core->update);
    assert_true(core->update.deadline_us == TACIT_NEVER ||
                core->update.deadline_us >= core->now_us || status != TACIT_OK);
    return status;
}

void phased_expect_nothing(struct phased_core *core, struct tacit_event event,
                           enum tacit_status status)
{
    unsigned char *const before = testing_malloc(core->size);
    memcpy(before, core->state, core->size);
    assert_int_equal(phased_step(core, event), status);
    assert_memory_equal(before, core->state, core->size);
    assert_false(core->update.persist);
    assert_false(core->update.send);
    assert_int_equal(core->update.plan_count, 0);
    testing_free(before);
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

struct tacit_event phased_reward(uint32_t arm, uint64_t count, int64_t steps)
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
