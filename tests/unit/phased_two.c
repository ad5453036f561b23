/* Play in phases with two aggregators, where the storm (round/storm_helper_phased) does not come:
 * sites that the operator has dropped, which are in no quorum and not waited for, and a helper that
 * stays away. Envelopes open nothing here, and totals are made up. */
#include "../support/testing.h"
#include "../support/phased_driver.h"

#define SITES 3u
#define ARMS 2u
#define ROUND_US 1000u

struct world {
    struct phased_setup setup;
    struct tacit_helper_run run;
    struct tacit_helper_keys keys;
    struct tacit_aggregators aggregators;
    struct phased_core *hub;
    struct phased_core *sites[SITES];
    uint64_t dropped; /* sites, a bit each: by the operator, .. */
    uint64_t missing; /* .. or whose reports are lost */
    uint32_t wanted;  /* so often totals were */
};

static bool seal(void *context, const uint8_t *ephemeral, const uint8_t *scope, size_t size,
                 const uint8_t *seed, uint8_t *envelope)
{
    memset(envelope, 1, TACIT_HELPER_ENVELOPE_BYTES);
    return true;
}

static void step_hub(struct world *world, struct tacit_event event)
{
    assert_int_equal(phased_step(world->hub, event), TACIT_OK);
    world->wanted += (world->hub->update.happened & TACIT_WANTS_TOTALS) != 0 ? 1 : 0;
}

/* What it said last comes to those it is for, and what they say to it after that. */
static void deliver(struct world *world, const struct phased_core *from)
{
    if (!from->update.send)
        return;
    struct tacit_phased_message *const said = phased_keep(from);
    bool const is_lost =
        said->kind == TACIT_ROUND_REPORT && (world->missing >> said->from & 1) != 0;
    if (said->to == TACIT_HUB && !is_lost) {
        step_hub(world, phased_receive(said));
        deliver(world, world->hub);
    }
    for (uint32_t site = 0; site < SITES; site++) {
        if (said->to != TACIT_EVERYONE && said->to != site)
            continue;
        assert_int_equal(phased_step(world->sites[site], phased_receive(said)), TACIT_OK);
        if (world->sites[site]->update.plan_count > 0)
            assert_int_equal(phased_play(world->sites[site]), TACIT_OK);
        deliver(world, world->sites[site]);
    }
    testing_free(said);
}

/* All have played the first round, and said what is not lost of it. */
static void begin(struct world *world, uint64_t dropped, uint64_t missing)
{
    static const double means[ARMS] = {0.25, 0.75};
    *world = (struct world){
        .setup = {.schedule = {.rule = TACIT_PHASES_INDEX,
                               .arm_count = ARMS,
                               .agent_count = SITES,
                               .horizon = 20000,
                               .epsilon_per_reward = 1,
                               .growth = 2,
                               .arms_per_round = ARMS,
                               .floor_milli = TACIT_NO_FLOOR},
                  .means = means,
                  .budget_nano = TACIT_NANO,
                  .quorum = 2,
                  .round_timeout_us = ROUND_US},
        .run = {.federation = "clinics", .site_count = SITES, .count_max = ARMS, .steps = 1},
        .keys.seal = seal,
        .dropped = dropped,
        .missing = missing};
    world->aggregators = (struct tacit_aggregators){&world->run, &world->keys, TACIT_NANO, 0};
    world->setup.aggregators = &world->aggregators;
    world->setup.dropped = &world->dropped;
    world->hub = phased_hub_new(&world->setup);
    for (uint32_t site = 0; site < SITES; site++)
        world->sites[site] = phased_agent_new(&world->setup, site);
    step_hub(world, phased_start());
    deliver(world, world->hub);
}

static void time_out(struct world *world, bool is_due)
{
    world->hub->now_us += is_due ? ROUND_US : 1;
    step_hub(world, phased_timeout());
}

/* Totals have come: the round is over, and the next is played. */
static void close_round(struct world *world)
{
    int64_t const totals[ARMS] = {1000, 2000};
    struct phased_core *const hub = world->hub;
    uint32_t const round = phased_hub_view(hub).judge.round;
    tacit_phased_hub_close(hub->state, phased_hub_view(hub).report_count, totals, hub->now_us,
                           &hub->update);
    assert_true(hub->update.persist && hub->update.deadline_us == hub->now_us + ROUND_US);
    assert_int_equal(hub->update.message.round, round + 1);
    deliver(world, hub);
}

/* Else the deadline would close rounds of which the helper may not count enough. */
TEST(a_dropped_site_is_in_no_quorum_and_not_waited_for)
{
    static const struct {
        uint64_t missing;
        uint64_t dropped; /* from the start, .. */
        uint64_t later;   /* .. and once the others have reported */
        bool is_due;
        bool wants; /* .. then */
        uint32_t report_count;
    } rows[] = {{0, 0, 0, false, true, 3}, {4, 0, 0, false, false, 2}, {4, 0, 0, true, true, 2},
                {4, 0, 4, false, true, 2}, {0, 1, 1, false, true, 2},  {4, 1, 1, false, false, 1},
                {4, 1, 1, true, false, 1}, {4, 1, 5, false, true, 1},  {6, 0, 6, false, true, 1},
                {1, 0, 0, false, false, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world world;
        begin(&world, rows[i].dropped, rows[i].missing);
        bool const is_whole = (rows[i].missing | rows[i].dropped) == 0;
        assert_int_equal(world.wanted, is_whole ? 1 : 0);
        world.dropped = rows[i].later;
        if (!is_whole)
            time_out(&world, rows[i].is_due);
        assert_int_equal(world.wanted, rows[i].wants ? 1 : 0);
        assert_int_equal(phased_hub_view(world.hub).report_count, rows[i].report_count);
        if (!rows[i].wants) { /* what is said again is heard */
            struct phased_core *const site = world.sites[world.missing == 1 ? 0 : 2];
            world.missing = 0;
            site->now_us = PHASED_RESEND_US * 64;
            assert_int_equal(phased_step(site, phased_timeout()), TACIT_OK);
            deliver(&world, site);
            bool const is_enough = rows[i].is_due || rows[i].dropped == 0;
            assert_int_equal(world.wanted, is_enough ? 1 : 0);
            if (!is_enough)
                time_out(&world, false);
        }
        assert_int_equal(world.wanted, 1);
        close_round(&world);
        for (uint32_t site = 0; site < SITES; site++) /* once a round, for what two are worth */
            assert_int_equal(tacit_ledger_spent_nano(phased_agent_view(world.sites[site]).ledger),
                             TACIT_NANO);
    }
}

/* However long: no order, no smaller round, no total. */
TEST(a_helper_that_is_away_is_waited_for)
{
    struct world world;
    begin(&world, 0, 0);
    for (uint32_t hour = 1; hour <= 1000; hour++) {
        world.hub->now_us = hour * UINT64_C(3600000000);
        time_out(&world, false);
        assert_false(world.hub->update.send || world.hub->update.persist);
        assert_true(world.hub->update.deadline_us == TACIT_NEVER); /* not called for nothing */
    }
    assert_int_equal(world.wanted, 1);
    assert_int_equal(phased_hub_view(world.hub).judge.round_count, 0);
    step_hub(&world, phased_start()); /* a new process asks again */
    assert_int_equal(world.wanted, 2);
    close_round(&world);
    assert_int_equal(phased_hub_view(world.hub).judge.round_count, 1);
}
