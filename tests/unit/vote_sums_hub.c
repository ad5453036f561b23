/* Published sums over a hub: what it adds up is what the simulator adds up. What comes at any time,
 * twice, changed or never, and hubs that are put back, are the storm's (round/rule_votes.c). */
#include "../support/testing.h"
#include "tacit/random.h"
#include "tacit/vote_hub.h"

#define RUN 5u
#define ARMS 5u
#define SITES 3u
#define BLOCK 24u
#define TICK_US 1000u

struct world {
    struct tacit_vote_hub_config hub_is;
    struct tacit_vote_site_config site_is;
    struct tacit_vote_hub *hub;
    struct tacit_vote_site *sites[SITES];
    struct tacit_vote_pool *pool; /* the simulator's, .. */
    struct tacit_vote_noised *players[SITES];
    struct tacit_rng noise[2][SITES]; /* .. and the same chance for both */
    struct tacit_rng keys;
    struct tacit_pull_block plan[SITES][ARMS];
    uint32_t plan_count[SITES];
    uint64_t now_us;
    struct tacit_vote_hub_message row; /* the hub's last word */
};

static void configure(struct world *world, uint32_t site)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, 1, 0, 1};
    struct tacit_vote_board_config const board = {
        .run_id = RUN, .player_count = SITES, .arm_count = ARMS, .votes_needed = 1};
    world->hub_is = (struct tacit_vote_hub_config){.board = board,
                                                   .pool = {.run_id = RUN,
                                                            .player_count = SITES,
                                                            .arm_count = ARMS,
                                                            .accuracy = 0.1,
                                                            .failure = 0.05,
                                                            .epsilon = 1,
                                                            .block = BLOCK,
                                                            .growth = TACIT_VOTE_POOL_GROWTH},
                                                   .domain = {7}};
    world->site_is = (struct tacit_vote_site_config){.player = {.run_id = RUN,
                                                                .player_id = site,
                                                                .player_count = SITES,
                                                                .arm_count = ARMS,
                                                                .accuracy = 0.1,
                                                                .failure = 0.05,
                                                                .growth = 2,
                                                                .block = BLOCK,
                                                                .budget_nano = TACIT_NANO,
                                                                .tick_us = TICK_US},
                                                     .board = board,
                                                     .domain = {7},
                                                     .horizon = 1000000,
                                                     .draws_max = 1000,
                                                     .resend_after_us = 100000000};
    assert_int_equal(tacit_mechanism_init(&world->site_is.player.mechanism, &mechanism), TACIT_OK);
}

static struct tacit_vote_hub_view hub_view(const struct world *world)
{
    struct tacit_vote_hub_view view;
    tacit_vote_hub_view(world->hub, &view);
    return view;
}

static enum tacit_status tell_hub(struct world *world, const struct tacit_vote_hub_message *said,
                                  struct tacit_vote_hub_update *update)
{
    struct tacit_event event = {.now_us = world->now_us,
                                .kind = said == NULL ? TACIT_EVENT_START : TACIT_EVENT_RECEIVE};
    if (said != NULL)
        event.as.message = said;
    return tacit_vote_hub_step(world->hub, &event, NULL, update);
}

static struct tacit_vote_site_update step_site(struct world *world, uint32_t site,
                                               struct tacit_event event)
{
    struct tacit_entropy const noise = tacit_rng_entropy(&world->noise[0][site]);
    struct tacit_entropy const keys = tacit_rng_entropy(&world->keys);
    struct tacit_vote_site_update update;
    event.now_us = world->now_us;
    event.keys = &keys;
    assert_int_equal(tacit_vote_site_step(world->sites[site], &event, &noise, &update), TACIT_OK);
    assert_int_equal(tacit_vote_site_check(world->sites[site],
                                           tacit_vote_site_size(&world->site_is), &world->site_is),
                     site == SITES - 1 ? TACIT_OK : TACIT_MALFORMED); /* another's */
    if (update.replan) {
        world->plan_count[site] = update.plan_count;
        for (uint32_t i = 0; i < update.plan_count; i++)
            world->plan[site][i] = update.plan[i];
    }
    return update;
}

static struct tacit_vote_site_update tell_site(struct world *world, uint32_t site,
                                               const struct tacit_vote_hub_message *said)
{
    return step_site(world, site,
                     (struct tacit_event){.kind = TACIT_EVENT_RECEIVE, .as.message = said});
}

static struct world *world_new(void)
{
    struct world *const world = testing_calloc(1, sizeof *world);
    struct tacit_vote_hub_update update;
    world->keys = tacit_rng_stream(9, 0, 0, TACIT_PURPOSE_NOISE);
    for (uint32_t site = 0; site < SITES; site++) {
        configure(world, site);
        struct tacit_vote_noised_config const is = world->site_is.player;
        for (int i = 0; i < 2; i++)
            world->noise[i][site] = tacit_rng_stream(3, site, 0, TACIT_PURPOSE_NOISE);
        world->sites[site] = testing_malloc(tacit_vote_site_size(&world->site_is));
        world->players[site] = testing_malloc(tacit_vote_noised_size(&is));
        assert_int_equal(tacit_vote_site_init(world->sites[site], &world->site_is), TACIT_OK);
        assert_int_equal(tacit_vote_noised_init(world->players[site], &is), TACIT_OK);
    }
    world->hub = testing_malloc(tacit_vote_hub_size(&world->hub_is));
    world->pool = testing_malloc(tacit_vote_pool_size(&world->hub_is.pool));
    assert_int_equal(tacit_vote_hub_init(world->hub, &world->hub_is), TACIT_OK);
    assert_int_equal(tacit_vote_pool_init(world->pool, &world->hub_is.pool), TACIT_OK);
    assert_int_equal(tell_hub(world, NULL, &update), TACIT_OK);
    for (uint32_t site = 0; site < SITES; site++)
        step_site(world, site, (struct tacit_event){.kind = TACIT_EVENT_START});
    return world;
}

/* The block of this site, up to its draw: arm k brings as much a pull. */
static struct tacit_vote_site_update play(struct world *world, uint32_t site)
{
    struct tacit_vote_site_update update = {.persist = false};
    struct tacit_pull_block plan[ARMS];
    uint32_t const count = world->plan_count[site];
    memcpy(plan, world->plan[site], sizeof plan);
    for (uint32_t i = 0; i < count; i++)
        update = step_site(
            world, site,
            (struct tacit_event){
                .kind = TACIT_EVENT_REWARD,
                .as.reward = {.arm = plan[i].arm,
                              .count = plan[i].count,
                              .sum.steps = (int64_t)(plan[i].count * (5 - plan[i].arm) * 150000)}});
    return update;
}

/* Its draw is granted, and the tick comes. */
static struct tacit_vote_hub_message release_of(struct world *world, uint32_t site)
{
    struct tacit_vote_site_update update = play(world, site);
    struct tacit_vote_hub_update answer;
    assert_true(update.has_draw && update.message_count == 1);
    assert_int_equal(update.messages[0].kind, TACIT_VOTE_COMMIT);
    assert_int_equal(tell_hub(world, &update.messages[0], &answer), TACIT_OK);
    assert_int_equal(answer.message.kind, TACIT_VOTE_GRANTED);
    update = tell_site(world, site, &answer.message);
    assert_true(update.on_tick);
    world->now_us = update.deadline_us;
    update = step_site(world, site, (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT});
    assert_int_equal(update.message_count, 1);
    assert_int_equal(update.messages[0].kind, TACIT_VOTE_RELEASE);
    return update.messages[0];
}

static enum tacit_status publish(struct world *world, const struct tacit_vote_hub_message *release)
{
    struct tacit_vote_hub_update answer;
    enum tacit_status const status = tell_hub(world, release, &answer);
    world->row = answer.message;
    assert_int_equal(answer.send, status == TACIT_OK || answer.message.kind == TACIT_VOTE_REFUSED);
    assert_int_equal(
        tacit_vote_hub_check(world->hub, tacit_vote_hub_size(&world->hub_is), &world->hub_is),
        TACIT_OK);
    return status;
}

static void block_of(struct world *world, uint32_t site)
{
    struct tacit_vote_hub_message const release = release_of(world, site);
    assert_int_equal(publish(world, &release), TACIT_OK);
    assert_int_equal(world->row.kind, TACIT_VOTE_ROW);
    assert_int_equal(world->row.draw, release.draw);
    for (uint32_t i = 0; i < SITES; i++)
        tell_site(world, i, &world->row);
}

static struct tacit_vote_noised_update step_player(struct world *world, uint32_t site,
                                                   struct tacit_vote_event event)
{
    struct tacit_entropy const noise = tacit_rng_entropy(&world->noise[1][site]);
    struct tacit_vote_noised_update update;
    assert_int_equal(tacit_vote_noised_step(world->players[site], NULL, &event, &noise, &update),
                     TACIT_OK);
    return update;
}

/* As families/vote/noised.c: granted at once, numbered then, read before the next reward. */
static void simulate_block(struct world *world, uint32_t site, uint64_t number)
{
    struct tacit_vote_pool_view view;
    tacit_vote_pool_view(world->pool, &view);
    step_player(world, site, (struct tacit_vote_event){.kind = TACIT_EVENT_START});
    struct tacit_vote_noised_update update =
        step_player(world, site,
                    (struct tacit_vote_event){.kind = TACIT_EVENT_OFFER,
                                              .as.standing = {view.active, UINT64_MAX}});
    for (uint32_t arm = 0; arm < ARMS; arm++)
        if (tacit_bits_has(view.active, arm))
            update =
                step_player(world, site,
                            (struct tacit_vote_event){
                                .kind = TACIT_EVENT_REWARD,
                                .as.reward = {arm, BLOCK, {.steps = BLOCK * (5 - arm) * 150000}}});
    assert_true(update.commit);
    struct tacit_vote_message const grant = {
        .kind = TACIT_VOTE_GRANT, .from = TACIT_HUB, .run_id = RUN, .draw = update.draw};
    update = step_player(
        world, site, (struct tacit_vote_event){.kind = TACIT_EVENT_RECEIVE, .as.message = &grant});
    update = step_player(
        world, site,
        (struct tacit_vote_event){.now_us = update.deadline_us, .kind = TACIT_EVENT_TIMEOUT});
    update.release.number = number;
    assert_int_equal(tacit_vote_pool_add(world->pool, &update.release), TACIT_OK);
}

TEST(a_hub_adds_up_what_the_simulator_adds_up)
{
    struct world *const world = world_new();
    for (uint32_t number = 0; hub_view(world).board.voted_count > 1; number++) {
        struct tacit_vote_pool_view simulated;
        assert_true(number < 1000);
        block_of(world, number % SITES);
        simulate_block(world, number % SITES, number);
        tacit_vote_pool_view(world->pool, &simulated);
        struct tacit_vote_hub_view const live = hub_view(world);
        assert_int_equal(live.pool.release_count, number + 1);
        assert_int_equal(live.pool.look_count, simulated.look_count);
        assert_int_equal(live.pool.active[0], simulated.active[0]);
        assert_int_equal(live.board.voted[0], simulated.active[0]);
        assert_memory_equal(live.pool.sums, simulated.sums, ARMS * sizeof *simulated.sums);
    }
    assert_true(hub_view(world).pool.release_count > 2 * SITES);
    assert_true(tacit_bits_has(hub_view(world).board.voted, 0));
}
