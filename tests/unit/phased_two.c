/* Play in phases with two aggregators, by the real cores: sites that mask, a hub that grants and
 * adds up, a helper; envelopes by HPKE. Closed rounds hold the sums of what was played and the
 * noise of two, whatever is in between; what a site shows while it waits is no function of its
 * rewards. */
#include "../support/wire_shape.h"
#include <math.h>
#include "../support/testing.h"
#include "../support/any_keys.h"
#include "../../src/live/pki/hpke.h"
#include "tacit/phased.h"
#include "tacit/wire_phased.h"

#define SITES 3u
#define ARMS 3u
#define EPSILON 1.0
#define ROUNDS 8u
#define MESSAGES 64u

static const uint64_t levels[ARMS] = {TACIT_STEPS / 2, TACIT_STEPS, 0}; /* of each reward */

struct world {
    struct tacit_helper_run run;
    struct tacit_helper_config config;
    struct tacit_helper_keys keys;
    struct tacit_aggregators aggregators;
    struct tacit_phased_agent_config site_configs[SITES];
    struct tacit_phased_hub_config hub_config;
    struct tacit_phased_agent *sites[SITES];
    struct tacit_phased_hub *hub;
    struct tacit_helper_hub *kept;
    struct tacit_phased_hub *old_hub; /* both as they were when the helper was asked first */
    struct tacit_helper_hub *old_kept;
    struct tacit_helper *helper;
    struct tacit_rng rng;
    struct tacit_entropy entropy;
    uint8_t secret[32];
    uint8_t public_key[32];
    struct tacit_phased_message *queue[MESSAGES];
    uint32_t queued;
    uint32_t closed;
    uint64_t now_us;
    bool is_away;     /* the helper */
    uint32_t missing; /* a site that does not report in odd rounds; SITES: nobody */
    uint64_t dropped; /* a bit each */
};

static bool seal(void *context, const uint8_t *ephemeral, const uint8_t *scope, size_t size,
                 const uint8_t *seed, uint8_t *envelope)
{
    return live_hpke_seal_seed(((struct world *)context)->public_key, ephemeral, scope, size, seed,
                               envelope);
}

static bool open_seed(void *context, const uint8_t *scope, size_t size, const uint8_t *envelope,
                      uint8_t *seed)
{
    return live_hpke_open_seed(((struct world *)context)->secret, scope, size, envelope, seed);
}

static void set_up(struct world *world)
{
    struct tacit_mechanism_config const bare = {TACIT_PRIVACY_SOUND, INFINITY, 0, 1};
    *world =
        (struct world){.rng = tacit_rng_stream(8, 1, 1, TACIT_PURPOSE_NOISE), .missing = SITES};
    world->entropy = tacit_rng_entropy(&world->rng);
    world->run = (struct tacit_helper_run){.federation = "clinics",
                                           .run_id = 3,
                                           .site_count = SITES,
                                           .count_max = ARMS,
                                           .steps = TACIT_STEPS};
    world->config = (struct tacit_helper_config){world->run, TACIT_NANO, 2, 0};
    world->keys =
        (struct tacit_helper_keys){world, seal, open_seed, any_link, any_digest, any_digest};
    world->aggregators = (struct tacit_aggregators){&world->run, &world->keys, TACIT_NANO, 0};
    world->hub_config =
        (struct tacit_phased_hub_config){.run_id = 3,
                                         .schedule = {.rule = TACIT_PHASES_INDEX,
                                                      .arm_count = ARMS,
                                                      .agent_count = SITES,
                                                      .horizon = 20000,
                                                      .epsilon_per_reward = EPSILON,
                                                      .growth = 2,
                                                      .arms_per_round = ARMS,
                                                      .floor_milli = TACIT_NO_FLOOR},
                                         .quorum = 2,
                                         .round_timeout_us = 1000,
                                         .answers_all = true,
                                         .has_grants = true,
                                         .has_helper = true};
    assert_int_equal(tacit_mechanism_init(&world->hub_config.mechanism, &bare), TACIT_OK);
    for (size_t i = 0; i < sizeof world->secret; i++)
        world->secret[i] = (uint8_t)(3 * i + 1);
    assert_true(live_hpke_public(world->secret, world->public_key));
    world->hub = testing_calloc(1, tacit_phased_hub_size(&world->hub_config));
    world->kept = testing_calloc(1, tacit_helper_hub_size(&world->run));
    world->helper = testing_calloc(1, tacit_helper_size(&world->config));
    world->old_hub = testing_calloc(1, tacit_phased_hub_size(&world->hub_config));
    world->old_kept = testing_calloc(1, tacit_helper_hub_size(&world->run));
    assert_int_equal(tacit_phased_hub_init(world->hub, &world->hub_config), TACIT_OK);
    assert_int_equal(tacit_helper_hub_init(world->kept, &world->run), TACIT_OK);
    assert_int_equal(tacit_helper_init(world->helper, &world->config), TACIT_OK);
    for (uint32_t site = 0; site < SITES; site++) {
        world->site_configs[site] =
            (struct tacit_phased_agent_config){.run_id = 3,
                                               .agent_id = site,
                                               .agent_count = SITES,
                                               .arm_count = ARMS,
                                               .horizon = 20000,
                                               .mechanism = world->hub_config.mechanism,
                                               .budget_nano = TACIT_NANO,
                                               .resend_after_us = 100,
                                               .has_grants = true,
                                               .has_helper = true};
        world->sites[site] = testing_calloc(1, tacit_phased_agent_size(&world->site_configs[site]));
        assert_int_equal(tacit_phased_agent_init(world->sites[site], &world->site_configs[site]),
                         TACIT_OK);
    }
}

static void tear_down(struct world *world)
{
    assert_int_equal(tacit_phased_hub_check(world->hub, tacit_phased_hub_size(&world->hub_config),
                                            &world->hub_config),
                     TACIT_OK);
    for (uint32_t site = 0; site < SITES; site++) {
        assert_int_equal(
            tacit_phased_agent_check(world->sites[site],
                                     tacit_phased_agent_size(&world->site_configs[site]),
                                     &world->site_configs[site]),
            TACIT_OK);
        testing_free(world->sites[site]);
    }
    for (uint32_t i = 0; i < world->queued; i++)
        testing_free(world->queue[i]);
}

/* Through the bytes of the wire. */
static void put(struct world *world, const struct tacit_phased_update *update)
{
    if (!update->send)
        return;
    size_t const size = tacit_wire_bytes(WIRE(phased, 0), &update->message);
    uint8_t *const bytes = testing_malloc(size);
    tacit_wire_encode(WIRE(phased, 0), &update->message, bytes);
    assert_true(world->queued < MESSAGES);
    assert_int_equal(tacit_wire_decode(WIRE(phased, ARMS, SITES, 0, update->message.to), bytes,
                                       size, &world->queue[world->queued], tacit_wire_heap()),
                     TACIT_OK);
    world->queued++;
}

static void step_site(struct world *world, uint32_t site, struct tacit_event event);

/* All rewards of the plan: each of an arm the same. */
static void play(struct world *world, uint32_t site, const struct tacit_pull_block *plan,
                 uint32_t count)
{
    struct tacit_pull_block blocks[ARMS];
    memcpy(blocks, plan, count * sizeof *blocks);
    for (uint32_t i = 0; i < count; i++) {
        struct tacit_event event = {.kind = TACIT_EVENT_REWARD};
        event.as.reward = (struct tacit_reward){
            .arm = blocks[i].arm,
            .count = blocks[i].count,
            .sum = {.steps = (int64_t)(blocks[i].count * levels[blocks[i].arm])}};
        step_site(world, site, event);
    }
}

static void step_site(struct world *world, uint32_t site, struct tacit_event event)
{
    struct tacit_phased_update update;
    event.now_us = world->now_us;
    event.keys = &world->entropy;
    event.aggregators = &world->aggregators;
    assert_int_equal(tacit_phased_agent_step(world->sites[site], &event, &world->entropy, &update),
                     TACIT_OK);
    put(world, &update);
    if (update.plan_count > 0)
        play(world, site, update.plan, update.plan_count);
}

static struct tacit_helper_round round_of(const struct tacit_phased_hub_view *view)
{
    struct tacit_helper_round round = {
        .round = view->judge.round, .count = view->judge.plan_count, .epsilon_nano = TACIT_NANO};
    tacit_phased_plan_digest(view->judge.plan, view->judge.plan_count, round.order);
    return round;
}

/* Do these two go together? */
static bool fit(const struct tacit_phased_hub *hub, const struct tacit_helper_hub *kept)
{
    struct tacit_phased_hub_view view;
    tacit_phased_hub_view(hub, &view);
    struct tacit_helper_round const round = round_of(&view);
    bool const awaits_totals = !view.judge.finished && round.round > 0 && view.reports_missing == 0;
    return tacit_helper_hub_fits(kept, &round, awaits_totals, view.received);
}

/* What is of one time does; of two rounds it does not. */
static void check_fit(struct world *world, bool is_asked)
{
    assert_true(fit(world->hub, world->kept));
    if (world->closed > 0) {
        assert_false(fit(world->hub, world->old_kept));
        assert_int_equal(fit(world->old_hub, world->kept), false);
    } else if (is_asked) {
        memcpy(world->old_hub, world->hub, tacit_phased_hub_size(&world->hub_config));
        memcpy(world->old_kept, world->kept, tacit_helper_hub_size(&world->run));
    }
}

/* What the helper answers closes the round. */
static void ask_helper(struct world *world)
{
    struct tacit_phased_hub_view view;
    struct tacit_helper_update answered;
    struct tacit_phased_update update;
    enum tacit_helper_outcome outcome;
    uint32_t agents = 0;
    uint64_t highs[ARMS];
    int64_t totals[ARMS];
    tacit_phased_hub_view(world->hub, &view);
    struct tacit_helper_round const round = round_of(&view);
    for (uint32_t i = 0; i < view.judge.plan_count; i++)
        highs[i] = view.judge.plan[i].count * (uint64_t)TACIT_STEPS;
    assert_int_equal(tacit_helper_hub_fix(world->kept, &round, 2, &world->entropy), TACIT_OK);
    check_fit(world, true);
    void *const memory = testing_malloc(tacit_helper_hub_request_size(world->kept));
    struct tacit_helper_request const *const request =
        tacit_helper_hub_request(world->kept, memory);
    assert_int_equal(
        tacit_helper_step(world->helper, request, &world->keys, &world->entropy, &answered),
        TACIT_OK);
    assert_int_equal(answered.answer.verdict, TACIT_HELPER_ANSWERED);
    struct tacit_helper_range const range = {.highs = highs};
    assert_int_equal(
        tacit_helper_hub_close(world->kept, &answered.answer, &range, &outcome, &agents, totals),
        TACIT_OK);
    assert_int_equal(outcome, TACIT_HELPER_CLOSED);
    assert_int_equal(agents, view.report_count);
    double const slack = tacit_helper_slack(&world->run, TACIT_NANO, 0, agents, round.count);
    for (uint32_t i = 0; i < view.judge.plan_count; i++) {
        double const exact =
            (double)agents * (double)(view.judge.plan[i].count * levels[view.judge.plan[i].arm]);
        assert_true(fabs((double)totals[i] - exact) <= slack);
        assert_true(fabs((double)totals[i] - exact) > 0);
    }
    tacit_phased_hub_close(world->hub, agents, totals, world->now_us, &update);
    world->closed++;
    put(world, &update);
}

static void hear_hub(struct world *world, const struct tacit_phased_message *heard)
{
    struct tacit_phased_update update;
    struct tacit_event event = {
        .kind = TACIT_EVENT_RECEIVE, .now_us = world->now_us, .dropped = &world->dropped};
    event.as.message = heard;
    assert_int_equal(tacit_phased_hub_step(world->hub, &event, &update), TACIT_OK);
    if (heard->kind == TACIT_ROUND_COMMIT && update.persist)
        tacit_helper_hub_grant(world->kept, heard->from, heard->commit);
    if ((update.happened & TACIT_COUNTED_REPORT) != 0) {
        struct tacit_helper_release release = *heard->masked;
        tacit_helper_blind_digest(&release, (const uint64_t *)heard->sums, heard->block_count);
        tacit_helper_hub_add(world->kept, heard->from, heard->commit->salt, &release,
                             (const uint64_t *)heard->sums, heard->block_count);
    }
    put(world, &update);
    check_fit(world, false);
    if ((update.happened & TACIT_WANTS_TOTALS) != 0 && !world->is_away)
        ask_helper(world);
}

/* Delivers until nothing is under way. */
static void deliver(struct world *world)
{
    while (world->queued > 0) {
        struct tacit_phased_message *const heard = world->queue[0];
        world->queued--;
        memmove(world->queue, world->queue + 1, world->queued * sizeof world->queue[0]);
        bool const is_lost = heard->kind == TACIT_ROUND_REPORT && heard->round % 2 == 1 &&
                             heard->from == world->missing;
        struct tacit_event event = {.kind = TACIT_EVENT_RECEIVE};
        event.as.message = heard;
        if (heard->to == TACIT_HUB && !is_lost)
            hear_hub(world, heard);
        for (uint32_t site = 0; site < SITES && heard->to != TACIT_HUB; site++)
            if ((heard->to == TACIT_EVERYONE || heard->to == site) && world->closed < ROUNDS)
                step_site(world, site, event);
        testing_free(heard);
    }
}

static void start(struct world *world)
{
    struct tacit_phased_update update;
    struct tacit_event const event = {.kind = TACIT_EVENT_START};
    for (uint32_t site = 0; site < SITES; site++)
        step_site(world, site, event);
    assert_int_equal(tacit_phased_hub_step(world->hub, &event, &update), TACIT_OK);
    put(world, &update);
}

TEST(closed_rounds_hold_the_noise_of_two)
{
    struct world world;
    struct tacit_phased_hub_view view;
    set_up(&world);
    start(&world);
    deliver(&world);
    assert_int_equal(world.closed, ROUNDS);
    tacit_phased_hub_view(world.hub, &view);
    assert_int_equal(view.judge.leader, 1);
    for (uint32_t site = 0; site < SITES; site++) { /* charged once, for what two are worth */
        struct tacit_phased_agent_view at;
        tacit_phased_agent_view(world.sites[site], &at);
        assert_int_equal(tacit_ledger_spent_nano(at.ledger), TACIT_NANO);
    }
    tear_down(&world);
}

static enum tacit_status time_out(struct world *world, bool is_due,
                                  struct tacit_phased_update *update)
{
    world->now_us = is_due ? 2000000 : world->now_us + 1;
    struct tacit_event const event = {
        .kind = TACIT_EVENT_TIMEOUT, .now_us = world->now_us, .dropped = &world->dropped};
    enum tacit_status const status = tacit_phased_hub_step(world->hub, &event, update);
    put(world, update);
    return status;
}

/* Its grant goes on with the next request, and nothing of it is counted. */
static void lose_a_report(bool is_dropped)
{
    struct world world;
    struct tacit_phased_update update;
    set_up(&world);
    world.missing = 2;
    start(&world);
    deliver(&world);
    assert_int_equal(world.closed, 0);
    if (is_dropped) {
        assert_int_equal(time_out(&world, false, &update), TACIT_OK);
        assert_true((update.happened & TACIT_WANTS_TOTALS) == 0 && !update.persist);
        world.dropped = 4;
    }
    assert_int_equal(time_out(&world, !is_dropped, &update), TACIT_OK);
    assert_true((update.happened & TACIT_WANTS_TOTALS) != 0);
    ask_helper(&world);
    assert_int_equal(world.closed, 1);
    struct tacit_helper_hub_view view;
    tacit_helper_hub_view(world.kept, &view);
    assert_int_equal(view.counted[0], 3);
    for (uint32_t i = 0; i < world.queued; i++)
        testing_free(world.queue[i]);
    world.queued = 0;
    tear_down(&world);
}

TEST(a_lost_report_is_spent_unused)
{
    lose_a_report(false);
}

TEST(a_round_that_is_enough_waits_for_no_deadline)
{
    lose_a_report(true);
}

/* What it goes on to report is neither of the quorum nor of the sum: else the deadline would close
 * rounds of which the helper may not count enough. */
TEST(a_dropped_site_is_not_of_the_quorum)
{
    struct world world;
    struct tacit_phased_update update;
    struct tacit_helper_hub_view view;
    set_up(&world);
    world.missing = 2;
    world.dropped = 1;
    start(&world);
    deliver(&world); /* site 0 reports, and so does site 1 */
    assert_int_equal(time_out(&world, true, &update), TACIT_OK);
    assert_int_equal(world.closed, 0);
    tacit_helper_hub_view(world.kept, &view);
    assert_int_equal(view.here[0], 2);
    world.missing = SITES;
    struct tacit_event const again = {.kind = TACIT_EVENT_TIMEOUT};
    step_site(&world, 2, again); /* says its report again */
    deliver(&world);
    assert_int_equal(world.closed, 1);
    tacit_helper_hub_view(world.kept, &view);
    assert_int_equal(view.counted[0], 6);
    assert_int_equal(view.here[0], 6); /* .. and nobody else is waited for in the next round */
    assert_int_equal(time_out(&world, false, &update), TACIT_OK);
    assert_true((update.happened & TACIT_WANTS_TOTALS) != 0);
    for (uint32_t i = 0; i < world.queued; i++)
        free(world.queue[i]);
    world.queued = 0;
    tear_down(&world);
}

/* However long: no order, no smaller round, no total; whoever asks hears the order that stands. */
TEST(a_helper_that_is_away_is_waited_for)
{
    struct world world;
    struct tacit_phased_hub_view before;
    struct tacit_phased_hub_view after;
    struct tacit_phased_update update;
    set_up(&world);
    world.is_away = true;
    start(&world);
    deliver(&world);
    tacit_phased_hub_view(world.hub, &before);
    assert_int_equal(before.report_count, SITES);
    for (uint32_t i = 1; i <= 1000; i++) {
        world.now_us = i * UINT64_C(3600000000);
        struct tacit_event const event = {.kind = TACIT_EVENT_TIMEOUT, .now_us = world.now_us};
        assert_int_equal(tacit_phased_hub_step(world.hub, &event, &update), TACIT_OK);
        assert_true(!update.send || update.message.kind != TACIT_ROUND_ORDER ||
                    update.message.round == before.judge.round);
        assert_true(update.deadline_us ==
                    TACIT_NEVER); /* it rests, and is not called for nothing */
    }
    tacit_phased_hub_view(world.hub, &after);
    assert_int_equal(after.judge.round, before.judge.round);
    assert_int_equal(world.closed, 0);
    world.is_away = false; /* it is back */
    ask_helper(&world);
    deliver(&world);
    assert_int_equal(world.closed, ROUNDS);
    tear_down(&world);
}

/* Before the first leader: arms in turn, whatever was drawn. */
TEST(what_is_played_while_waiting_follows_no_reward)
{
    struct world world;
    struct tacit_phased_agent_view before;
    struct tacit_phased_agent_view after;
    set_up(&world);
    world.missing = 0;
    start(&world);
    while (world.queued > 0 && world.closed == 0) {
        struct tacit_phased_message *const heard = world.queue[0];
        bool const is_of_round = heard->kind == TACIT_ROUND_REPORT;
        if (is_of_round)
            break; /* all have drawn, and nobody knows a leader */
        world.queued--;
        memmove(world.queue, world.queue + 1, world.queued * sizeof world.queue[0]);
        struct tacit_event event = {.kind = TACIT_EVENT_RECEIVE};
        event.as.message = heard;
        if (heard->to == TACIT_HUB)
            hear_hub(&world, heard);
        for (uint32_t site = 0; site < SITES && heard->to != TACIT_HUB; site++)
            if (heard->to == TACIT_EVERYONE || heard->to == site)
                step_site(&world, site, event);
        testing_free(heard);
    }
    tacit_phased_agent_view(world.sites[0], &before);
    struct tacit_event const event = {.kind = TACIT_EVENT_EXPLOITED, .as.exploited_count = 1};
    step_site(&world, 0, event);
    tacit_phased_agent_view(world.sites[0], &after);
    assert_true(before.leader == TACIT_NO_ARM && after.leader == TACIT_NO_ARM);
    assert_int_equal(after.exploit_arm, (before.exploit_arm + 1) % ARMS);
    tear_down(&world);
}
