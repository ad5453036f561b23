/* Everything that leaves a site in play in phases, judged by the refuter (tests/support/audit.h):
 * real cores of a site and a hub, with crashes in every step and with an old state that comes back
 * while the hub goes on. Two worlds differ in the value of one reward. What is proven must stay
 * below the epsilon that the ledger charges; without grants, where an old state speaks twice, it
 * must not. False alarms: 1e-3 a check (AUDIT_CONFIDENCE); fixed seeds. */
#include <math.h>
#include "../support/testing.h"
#include "../support/audit.h"
#include "../support/phased_message.h"
#include "tacit/phased.h"

#define EPSILON 1.0
#define ARMS 2u
#define RELEASES 10000u
#define STATE_BYTES 4096u

/* What may happen to the site. */
struct trial {
    bool crashes;    /* it dies after every step: its state is copied, the message is said again */
    bool comes_back; /* a state of the middle of the first plan goes on beside it */
    bool has_grants;
};

union state {
    uint64_t align;
    unsigned char bytes[STATE_BYTES];
};

struct site {
    union state state;
    struct tacit_entropy entropy;
    struct tacit_phased_update update;
};

struct world {
    const struct trial *trial;
    union state hub;
    struct site site;
    struct site copy;
    int64_t sensitive; /* value of the one reward */
    struct audit_release *release;
    uint32_t report_count; /* that left */
};

static struct tacit_mechanism mechanism(void)
{
    struct tacit_mechanism_config const config = {TACIT_PRIVACY_SOUND, EPSILON, 0, 1};
    struct tacit_mechanism made;
    assert_int_equal(tacit_mechanism_init(&made, &config), TACIT_OK);
    return made;
}

static void set_up(struct world *world)
{
    struct tacit_phases const schedule = {.arm_count = ARMS,
                                          .agent_count = 1,
                                          .horizon = 400,
                                          .epsilon_per_reward = EPSILON,
                                          .growth = 2,
                                          .arms_per_round = 2};
    struct tacit_phased_agent_config const agent = {.run_id = 1,
                                                    .agent_count = 1,
                                                    .arm_count = ARMS,
                                                    .horizon = 400,
                                                    .mechanism = mechanism(),
                                                    .budget_nano = TACIT_NANO,
                                                    .resend_after_us = 1,
                                                    .has_grants = world->trial->has_grants};
    struct tacit_phased_hub_config const hub = {.run_id = 1,
                                                .schedule = schedule,
                                                .mechanism = mechanism(),
                                                .has_grants = world->trial->has_grants};
    assert_true(tacit_phased_agent_size(&agent) <= STATE_BYTES);
    assert_true(tacit_phased_hub_size(&hub) <= STATE_BYTES);
    assert_int_equal(tacit_phased_agent_init((void *)&world->site.state, &agent), TACIT_OK);
    assert_int_equal(tacit_phased_hub_init((void *)&world->hub, &hub), TACIT_OK);
}

static enum tacit_status step(struct world *world, struct site *site,
                              const struct tacit_event *event)
{
    enum tacit_status const status =
        tacit_phased_agent_step((void *)&site->state, event, &site->entropy, &site->update);
    if (world->trial->crashes && status == TACIT_OK) {
        union state const disk = site->state; /* the message was lost with the process */
        struct tacit_event const start = {.kind = TACIT_EVENT_START};
        memset(&site->state, 0xa5, sizeof site->state);
        site->state = disk;
        assert_int_equal(
            tacit_phased_agent_step((void *)&site->state, &start, &site->entropy, &site->update),
            TACIT_OK);
    }
    return status;
}

static void hear(struct world *world, struct site *site, const struct tacit_phased_message *message)
{
    struct tacit_event const event = {.kind = TACIT_EVENT_RECEIVE, .as.message = message};
    (void)step(world, site, &event);
}

/* The attacker sees each report; the hub answers if it takes it. */
static void deliver(struct world *world, struct site *site, struct tacit_phased_update *answer)
{
    uint64_t room[64];
    *answer = (struct tacit_phased_update){.send = false};
    if (!site->update.send)
        return;
    assert_true(phased_message_size(&site->update.message) <= sizeof room);
    struct tacit_phased_message const *const message =
        phased_message_copy(&site->update.message, room);
    struct tacit_event const event = {.kind = TACIT_EVENT_RECEIVE, .as.message = message};
    if (message->kind == TACIT_ROUND_REPORT && world->report_count < AUDIT_VALUES_MAX &&
        message->round == 1 && message->block_count == ARMS)
        world->release->value[world->report_count++].steps = message->sums[0];
    (void)tacit_phased_hub_step((void *)&world->hub, &event, answer);
}

/* Speaks and hears until nobody has anything to say, or an order for a later round is here. */
static void talk(struct world *world, struct site *site)
{
    for (int i = 0; i < 8 && site->update.send; i++) {
        uint64_t room[64];
        struct tacit_phased_update answer;
        deliver(world, site, &answer);
        site->update.send = false;
        if (!answer.send)
            return;
        bool const is_order = answer.message.kind == TACIT_ROUND_ORDER;
        hear(world, site, phased_message_copy(&answer.message, room));
        if (is_order)
            return;
    }
}

static void give(struct world *world, struct site *site, uint32_t arm, uint64_t count,
                 int64_t steps)
{
    struct tacit_event event = {.kind = TACIT_EVENT_REWARD};
    event.as.reward = (struct tacit_reward){arm, count, {.steps = steps}};
    (void)step(world, site, &event);
}

/* All rewards are 0 but the sensitive one, arm 0's first. */
static void play(struct world *world, struct site *site, const struct tacit_pull_block *plan)
{
    give(world, site, 0, 1, world->sensitive);
    give(world, site, 0, plan[0].count - 1, 0);
    give(world, site, 1, plan[1].count - 1, 0);
    world->copy = *site; /* a backup, one reward before the draw */
    give(world, site, 1, 1, 0);
}

static void release(const void *context, int which, struct tacit_rng *rng,
                    struct audit_release *out)
{
    struct world world = {.trial = context,
                          .site.entropy = tacit_rng_entropy(rng),
                          .sensitive = which == 1 ? TACIT_STEPS : 0,
                          .release = out};
    struct tacit_event const start = {.kind = TACIT_EVENT_START};
    struct tacit_phased_update order;
    uint64_t room[64];
    memset(out, 0, sizeof *out);
    set_up(&world);
    assert_int_equal(tacit_phased_hub_step((void *)&world.hub, &start, &order), TACIT_OK);
    struct tacit_phased_message const *const first = phased_message_copy(&order.message, room);
    hear(&world, &world.site, first);
    play(&world, &world.site, first->blocks);
    talk(&world, &world.site);
    if (world.trial->comes_back) {
        give(&world, &world.copy, 1, 1, 0);
        talk(&world, &world.copy);
    }
    struct tacit_phased_hub_view view; /* and what the hub makes of it: the plan that follows */
    tacit_phased_hub_view((void *)&world.hub, &view);
    out->value[AUDIT_VALUES_MAX - 1].steps =
        view.judge.plan_count > 0 ? view.judge.plan[0].arm + 2 * view.judge.plan_count : 0;
}

/* Everything that was said of the one reward, added up: the likelihood grows with each. */
static double score(const void *context, const struct audit_release *seen)
{
    double sum = 0;
    for (uint32_t i = 0; i + 1 < AUDIT_VALUES_MAX; i++) /* one that leaves again is known */
        if (i == 0 || seen->value[i].steps != seen->value[i - 1].steps)
            sum += fmax(0, fmin((double)TACIT_STEPS, (double)seen->value[i].steps));
    return sum;
}

static struct audit_finding audit_of(const struct trial *trial)
{
    struct audit const audit = {
        .release = release, .context = trial, .seed = 31, .release_count = RELEASES};
    return audit_by_score(&audit, score);
}

TEST(a_transcript_stays_within_the_epsilon_that_is_charged)
{
    for (int i = 0; i < 4; i++) {
        struct trial const trial = {
            .crashes = i % 2 == 1, .comes_back = i >= 2, .has_grants = true};
        struct audit_finding const finding = audit_of(&trial);
        print_message("crashes %d, an old state %d: epsilon > %.3f proven, %.3f charged\n",
                      trial.crashes, trial.comes_back, finding.epsilon_lower, EPSILON);
        assert_true(finding.epsilon_lower <= EPSILON);
        assert_true(finding.epsilon_lower >= 0.6 * EPSILON); /* or it sees nothing */
    }
}

TEST(without_grants_an_old_state_says_more)
{
    struct trial const trial = {.comes_back = true};
    struct audit_finding const finding = audit_of(&trial);
    print_message("no grants: epsilon > %.3f proven\n", finding.epsilon_lower);
    assert_true(finding.epsilon_lower > EPSILON);
}
