/* Whole federations of play in phases whose hub loses its state again and again, and whose sites
 * crash, are cloned and put back to older states, over a network that delays, repeats and loses:
 * closed rounds are those of a hub that nothing happened to; each reward is in at most one draw of
 * which anything leaves, and what leaves is the sum of a naive twin. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/phased_driver.h"

/* Of all steps below: digest.h. */
#define DIGEST UINT64_C(0xa31a119f5babdcc7)
/* Verdicts over damaged states: damage.h. */
#define VERDICTS UINT64_C(0x86b50e090c558bd3)

#define SCHEDULES 400u
#define STEPS 700u
#define ARMS_MAX 4u
#define AGENTS_MAX 4u
#define CALLS_MAX 4096u
#define DRAWS_MAX 2048u
#define ROUNDS_MAX 48u
#define FLIGHT_MAX 64u
#define SNAPSHOT_BYTES_MAX 16384u
#define NOBODY UINT32_MAX

/* A round, and what was said in it. */
struct closed {
    uint32_t round;
    uint32_t agents;
    int64_t sums[AGENTS_MAX][ARMS_MAX];
    uint64_t reported;
    uint32_t draws[AGENTS_MAX]; /* of those who reported */
};

/* What the sites hold of the hub; and with it, for the test, the rounds that led there. */
struct entry {
    uint64_t term;
    uint32_t number; /* 0: none */
    size_t size;
    uint8_t bytes[SNAPSHOT_BYTES_MAX];
    struct closed history[ROUNDS_MAX];
    uint32_t history_count;
};

/* What was drawn: of which rewards, by the naive twin's own sums. */
struct draw {
    uint32_t agent;
    uint32_t count;
    int64_t sums[ARMS_MAX]; /* noised, as they are to leave */
};

/* A process of a site, with its twin. */
struct site {
    struct phased_core *core;
    uint64_t term;
    struct entry entry; /* the newest that it holds */
    uint32_t left_count;
    struct tacit_pull_block left[ARMS_MAX];
    int64_t exact[ARMS_MAX]; /* the twin: by arm, since the plan began */
    uint32_t call_count;
    uint32_t calls[CALLS_MAX]; /* rewards that are in it */
    uint32_t pending;          /* draw that is not granted; or NOBODY */
    uint32_t granted;          /* the last that was; or NOBODY */
};

struct flight {
    struct tacit_phased_message *message;
    uint32_t entry; /* newest when it was said; of the hub's words */
};

static struct world {
    struct phased_setup setup;
    double means[ARMS_MAX];
    struct tacit_rng rng;
    struct phased_core *hub; /* NULL: it is lost */
    uint64_t term;
    struct entry entry; /* of the hub */
    struct site sites[AGENTS_MAX];
    struct site backups[AGENTS_MAX]; /* core NULL: none */
    struct flight flights[FLIGHT_MAX];
    uint32_t flight_count;
    uint32_t call_count;
    uint32_t left_in[CALLS_MAX]; /* the draw with which a reward left; or NOBODY */
    struct draw draws[DRAWS_MAX];
    uint32_t draw_count;
    struct closed history[ROUNDS_MAX];
    uint32_t history_count;
    struct closed open;
    uint64_t now_us;
    uint32_t losses;
    uint32_t rollbacks; /* recoveries from an older entry than the lost hub's */
    uint32_t put_back;
    uint32_t dropped; /* draws that no grant covered */
} world;

/* ---- The twin's books ---- */

static uint32_t below(uint32_t limit)
{
    return (uint32_t)tacit_rng_below(&world.rng, limit);
}

static bool chance(double probability)
{
    return tacit_rng_bernoulli(&world.rng, probability);
}

/* A draw: of exactly the rewards that the twin has. */
static void note_draw(struct site *site)
{
    struct tacit_phased_agent_view const view = phased_agent_view(site->core);
    struct tacit_phased_message const report = tacit_phased_agent_draw(site->core->state);
    assert_true(world.draw_count < DRAWS_MAX);
    struct draw *const draw = &world.draws[world.draw_count];
    *draw = (struct draw){.agent = site->core->agent_id, .count = view.block_count};
    for (uint32_t i = 0; i < view.block_count; i++) {
        draw->sums[i] = report.sums[i];
        if (isinf(world.setup.schedule.epsilon_per_reward))
            assert_int_equal(report.sums[i], site->exact[view.blocks[i].arm]);
    }
    site->pending = world.draw_count++;
}

/* Granted: what it was drawn from has left, here and nowhere else. */
static void note_grant(struct site *site)
{
    assert_int_not_equal(site->pending, NOBODY);
    for (uint32_t i = 0; i < site->call_count; i++) {
        uint32_t *const left_in = &world.left_in[site->calls[i]];
        assert_true(*left_in == NOBODY || *left_in == site->pending);
        *left_in = site->pending;
    }
    site->granted = site->pending;
    site->pending = NOBODY;
    site->call_count = 0;
}

static void clear_twin(struct site *site)
{
    memset(site->exact, 0, sizeof site->exact);
    site->call_count = 0;
    site->left_count = 0;
}

static void fly(const struct phased_core *core)
{
    uint32_t const copies = 1 + (chance(0.1) ? 1 : 0);
    for (uint32_t i = 0; i < copies && world.flight_count < FLIGHT_MAX; i++)
        world.flights[world.flight_count++] =
            (struct flight){.message = phased_keep(core), .entry = world.entry.number};
}

static void step_site(struct site *site, struct tacit_phased_event event)
{
    struct tacit_phased_agent_view const before = phased_agent_view(site->core);
    site->core->now_us = world.now_us;
    enum tacit_status const status = phased_step(site->core, event);
    struct tacit_phased_agent_view const after = phased_agent_view(site->core);
    assert_true(status == TACIT_OK || event.kind == TACIT_EVENT_RECEIVE);
    assert_int_not_equal(status, TACIT_INVALID);
    assert_true(after.draw_number >= before.draw_number);
    assert_true(after.release_number >= before.release_number);
    if (after.term != before.term && site->pending != NOBODY) {
        site->pending = NOBODY; /* no grant covered it */
        world.dropped++;
    }
    if (after.draw_number != before.draw_number)
        note_draw(site);
    if (after.release_number != before.release_number)
        note_grant(site);
    if (after.term != before.term || (after.round != before.round && !before.committed) ||
        site->core->update.plan_is_void)
        clear_twin(site);
    if (site->core->update.plan_count > 0) {
        site->left_count = site->core->update.plan_count;
        memcpy(site->left, site->core->update.plan, site->left_count * sizeof site->left[0]);
    }
    if (site->core->update.send)
        fly(site->core);
}

/* ---- Hub ---- */

static void take_entry(void)
{
    static struct entry made;
    made.term = world.term;
    made.number = world.entry.number + 1;
    made.size = tacit_phased_hub_snapshot(world.hub->state, made.bytes, sizeof made.bytes);
    assert_in_range(made.size, 1, sizeof made.bytes);
    if (made.term != world.entry.term || made.size != world.entry.size ||
        memcmp(made.bytes, world.entry.bytes, made.size) != 0)
        world.entry = made;
    world.entry.history_count = world.history_count;
    memcpy(world.entry.history, world.history, sizeof world.history);
}

static bool is_counted(uint32_t draw)
{
    for (uint32_t i = 0; i < world.history_count; i++)
        for (uint32_t agent = 0; agent < AGENTS_MAX; agent++)
            if ((world.history[i].reported >> agent & 1) && world.history[i].draws[agent] == draw)
                return true;
    return false;
}

/* A round has closed: which draws are in it. None was counted before. */
static void note_round(uint32_t round)
{
    assert_true(world.history_count < ROUNDS_MAX);
    for (uint32_t agent = 0; agent < world.setup.schedule.agent_count; agent++) {
        uint32_t found = NOBODY;
        if (!(world.open.reported >> agent & 1))
            continue;
        for (uint32_t i = 0; i < world.draw_count && found == NOBODY; i++)
            if (world.draws[i].agent == agent && !is_counted(i) &&
                memcmp(world.draws[i].sums, world.open.sums[agent],
                       sizeof world.open.sums[agent]) == 0)
                found = i;
        assert_int_not_equal(found, NOBODY);
        world.open.draws[agent] = found;
        world.open.agents++;
    }
    world.open.round = round;
    world.history[world.history_count++] = world.open;
    world.open = (struct closed){0};
}

static void step_hub(struct tacit_phased_event event)
{
    struct tacit_phased_hub_view const before = phased_hub_view(world.hub);
    uint32_t const round = before.judge.round;
    uint32_t const reports = before.report_count;
    bool const is_report =
        event.kind == TACIT_EVENT_RECEIVE && event.as.message->kind == TACIT_PHASED_REPORT;
    uint64_t const received = before.received[0];
    world.hub->now_us = world.now_us;
    (void)phased_step(world.hub, event);
    struct tacit_phased_hub_view const after = phased_hub_view(world.hub);
    bool const is_closed = after.judge.round_count != before.judge.round_count;
    bool const is_taken = is_report && (is_closed || after.report_count > reports);
    if (is_taken) {
        uint32_t const from = event.as.message->from;
        assert_false(received >> from & 1);
        memcpy(world.open.sums[from], event.as.message->sums,
               event.as.message->block_count * sizeof(int64_t));
        world.open.reported |= UINT64_C(1) << from;
    }
    if (is_closed)
        note_round(round);
    take_entry();
    if (world.hub->update.send)
        fly(world.hub);
}

static bool is_later(const struct entry *entry, const struct entry *other)
{
    return entry->term != other->term ? entry->term > other->term : entry->number > other->number;
}

/* What the sites hold brings it back; of some of them only, if the operator says so. */
static void recover_hub(bool from_all)
{
    struct tacit_phased_hub_config const config = phased_hub_config(&world.setup);
    struct entry const *best = NULL;
    for (uint32_t agent = 0; agent < world.setup.schedule.agent_count; agent++) {
        struct entry const *const held = &world.sites[agent].entry;
        if (held->number > 0 && (from_all || chance(0.5)) && (best == NULL || is_later(held, best)))
            best = held;
    }
    if (best == NULL)
        return;
    world.hub = phased_hub_new(&world.setup);
    memset(world.hub->state, 0xa5, world.hub->size);
    assert_int_equal(tacit_phased_hub_restore(world.hub->state, &config, best->bytes, best->size),
                     TACIT_OK);
    world.rollbacks += is_later(&world.entry, best) ? 1 : 0;
    world.entry = *best;
    world.history_count = best->history_count;
    memcpy(world.history, best->history, sizeof world.history);
    assert_int_equal(phased_hub_view(world.hub).judge.round_count, world.history_count);
    world.open = (struct closed){0};
    world.term++;
    struct tacit_phased_event start = phased_start();
    start.as.term = world.term;
    step_hub(start);
}

static void lose_hub(void)
{
    phased_free(world.hub);
    world.hub = NULL;
    world.losses++;
}

/* ---- Sites ---- */

static void start_site(struct site *site, uint64_t term)
{
    struct tacit_phased_event start = phased_start();
    start.as.term = term;
    site->term = term > site->term ? term : site->term;
    step_site(site, start);
}

static void copy_site(struct site *copy, const struct site *site)
{
    struct phased_core *const core = malloc(sizeof *core);
    *core = *site->core;
    core->state = malloc(core->size);
    memcpy(core->state, site->core->state, core->size);
    *copy = *site;
    copy->core = core;
}

static void back_up(uint32_t agent)
{
    if (world.backups[agent].core != NULL)
        phased_free(world.backups[agent].core);
    copy_site(&world.backups[agent], &world.sites[agent]);
}

/* The older state takes its place, or both run: the newer one is the backup then. */
static void put_back(uint32_t agent)
{
    struct site *const site = &world.sites[agent];
    struct site *const backup = &world.backups[agent];
    if (backup->core == NULL)
        return;
    struct site const newer = *site;
    *site = *backup;
    *backup = newer;
    if (chance(0.5)) {
        phased_free(backup->core);
        backup->core = NULL;
    }
    site->core->noise = tacit_rng_stream(77, world.put_back, agent, TACIT_PURPOSE_NOISE);
    world.put_back++;
    start_site(site, 0);
}

static void play(struct site *site)
{
    struct tacit_phased_agent_view const view = phased_agent_view(site->core);
    if (site->left_count == 0) {
        uint64_t const slots = world.setup.schedule.horizon - view.pull_count;
        if (view.waiting && slots > 0 && chance(0.1))
            step_site(site, phased_exploited(1 + below(slots < 3 ? (uint32_t)slots : 3)));
        return;
    }
    uint32_t const i = below(site->left_count);
    uint32_t const arm = site->left[i].arm;
    uint64_t const count =
        chance(0.5) ? site->left[i].count : 1 + below((uint32_t)site->left[i].count);
    int64_t const mean = (int64_t)(world.means[arm] * TACIT_STEPS);
    int64_t const steps = (int64_t)count * mean + (int64_t)below(1000);
    assert_true(world.call_count < CALLS_MAX);
    world.left_in[world.call_count] = NOBODY;
    site->calls[site->call_count++] = world.call_count++;
    site->exact[arm] += steps;
    site->left[i].count -= count;
    if (site->left[i].count == 0)
        site->left[i] = site->left[--site->left_count];
    step_site(site, phased_reward(arm, count, steps));
}

/* ---- The network ---- */

static void deliver(uint32_t index)
{
    struct flight const flight = world.flights[index];
    struct tacit_phased_message *const message = flight.message;
    world.flights[index] = world.flights[--world.flight_count];
    if (message->to == TACIT_HUB) {
        if (world.hub != NULL)
            step_hub(phased_receive(message));
        free(message);
        return;
    }
    for (uint32_t agent = 0; agent < world.setup.schedule.agent_count; agent++) {
        struct site *const site = &world.sites[agent];
        bool const is_meant = message->to == agent || message->to == TACIT_EVERYONE;
        /* Its word names an entry; a site obeys only when it holds that one. */
        bool const is_held =
            message->term != site->entry.term || site->entry.number >= flight.entry;
        if (is_meant && is_held)
            step_site(site, phased_receive(message));
    }
    free(message);
}

static void drop(uint32_t index)
{
    free(world.flights[index].message);
    world.flights[index] = world.flights[--world.flight_count];
}

/* Deadlines that are over; or the clock goes on to the next one. */
static void pass_time(void)
{
    uint64_t next = TACIT_NEVER;
    for (uint32_t agent = 0; agent < world.setup.schedule.agent_count; agent++) {
        uint64_t const due = world.sites[agent].core->update.deadline_us;
        next = due < next ? due : next;
    }
    if (world.hub != NULL && world.hub->update.deadline_us < next)
        next = world.hub->update.deadline_us;
    if (next == TACIT_NEVER)
        return;
    world.now_us = next > world.now_us ? next : world.now_us;
    for (uint32_t agent = 0; agent < world.setup.schedule.agent_count; agent++)
        if (world.sites[agent].core->update.deadline_us <= world.now_us)
            step_site(&world.sites[agent], phased_timeout());
    if (world.hub != NULL && world.hub->update.deadline_us <= world.now_us)
        step_hub(phased_timeout());
}

/* The retained entry and the announcement reach a site, in this order. */
static void hear_hub(uint32_t agent)
{
    struct site *const site = &world.sites[agent];
    if (world.hub == NULL)
        return;
    site->entry = world.entry;
    if (site->term < world.term)
        start_site(site, world.term);
    if (chance(0.3)) { /* it is there again, and says what stands */
        struct tacit_phased_event start = phased_start();
        start.as.term = world.term;
        step_hub(start);
    }
}

/* ---- Schedules ---- */

static void open_world(uint32_t schedule)
{
    static double const shown[ARMS_MAX] = {0.8, 0.6, 0.5, 0.2};
    memset(&world, 0, sizeof world);
    world.rng = tacit_rng_stream(36, schedule, 0, TACIT_PURPOSE_FAULT);
    memcpy(world.means, shown, sizeof shown);
    uint32_t const agents = 1 + below(AGENTS_MAX);
    world.setup =
        (struct phased_setup){.schedule = {.rule = TACIT_PHASES_INDEX,
                                           .arm_count = 2 + below(ARMS_MAX - 1),
                                           .agent_count = agents,
                                           .horizon = 2000 + below(4000),
                                           .epsilon_per_reward = chance(0.5) ? INFINITY : 1.0,
                                           .growth = 2,
                                           .arms_per_round = 2 + below(2),
                                           .confidence = chance(0.5) ? 0.9 : 0},
                              .means = world.means,
                              .seed = schedule,
                              .budget_nano = TACIT_NANO,
                              .quorum = chance(0.4) ? 1 + below(agents) : 0,
                              .answers_all = true,
                              .has_grants = true};
    world.setup.round_timeout_us = world.setup.quorum > 0 ? 3000 : 0;
    world.hub = phased_hub_new(&world.setup);
    for (uint32_t agent = 0; agent < agents; agent++) {
        world.sites[agent].core = phased_agent_new(&world.setup, agent);
        world.sites[agent].pending = world.sites[agent].granted = NOBODY;
    }
    step_hub(phased_start());
    for (uint32_t agent = 0; agent < agents; agent++) {
        hear_hub(agent);
        start_site(&world.sites[agent], 0);
    }
}

static void close_world(void)
{
    while (world.flight_count > 0)
        drop(0);
    for (uint32_t agent = 0; agent < world.setup.schedule.agent_count; agent++) {
        phased_free(world.sites[agent].core);
        if (world.backups[agent].core != NULL)
            phased_free(world.backups[agent].core);
    }
    if (world.hub != NULL)
        phased_free(world.hub);
}

static void one_step(void)
{
    uint32_t const agent = below(world.setup.schedule.agent_count);
    switch (below(60)) {
    case 0:
        if (world.hub != NULL)
            lose_hub();
        break;
    case 1:
    case 2:
    case 3:
        if (world.hub == NULL)
            recover_hub(chance(0.7));
        break;
    case 4:
        phased_move(world.sites[agent].core);
        start_site(&world.sites[agent], 0);
        break;
    case 5:
        back_up(agent);
        break;
    case 6:
        if (chance(0.3))
            put_back(agent);
        break;
    case 7:
        if (world.flight_count > 0)
            drop(below(world.flight_count));
        break;
    case 8:
    case 9:
    case 10:
        hear_hub(agent);
        break;
    case 11:
    case 12:
        pass_time();
        break;
    default:
        if (world.flight_count > 0 && chance(0.5))
            deliver(below(world.flight_count));
        else
            play(&world.sites[agent]);
    }
}

/* Beside a hub that nothing happened to, with the same reports. */
static void check_history(void)
{
    static struct entry whole;
    static struct entry here;
    struct phased_setup plain = world.setup;
    plain.has_grants = false;
    struct phased_core *const twin = phased_hub_new(&plain);
    assert_int_equal(phased_step(twin, phased_start()), TACIT_OK);
    for (uint32_t i = 0; i < world.history_count; i++) {
        struct closed const *const closed = &world.history[i];
        struct tacit_phased_hub_view const view = phased_hub_view(twin);
        assert_int_equal(view.judge.round, closed->round);
        struct tacit_phased_message report = {.kind = TACIT_PHASED_REPORT,
                                              .to = TACIT_HUB,
                                              .run_id = PHASED_RUN_ID,
                                              .round = closed->round,
                                              .block_count = view.judge.plan_count};
        for (uint32_t agent = 0; agent < plain.schedule.agent_count; agent++) {
            report.from = agent;
            report.sums = closed->sums[agent];
            if (closed->reported >> agent & 1)
                assert_int_equal(phased_step(twin, phased_receive(&report)), TACIT_OK);
        }
        if (closed->agents < plain.schedule.agent_count) {
            twin->now_us = twin->update.deadline_us;
            assert_int_equal(phased_step(twin, phased_timeout()), TACIT_OK);
        }
        assert_int_equal(phased_hub_view(twin).judge.round_count, i + 1);
    }
    whole.size = tacit_phased_hub_snapshot(twin->state, whole.bytes, sizeof whole.bytes);
    here.size = tacit_phased_hub_snapshot(world.hub->state, here.bytes, sizeof here.bytes);
    assert_int_equal(here.size, whole.size);
    assert_memory_equal(here.bytes, whole.bytes, whole.size);
    phased_free(twin);
}

/* No more faults: all that can come to its end does. */
static void heal(void)
{
    if (world.hub == NULL)
        recover_hub(true);
    for (uint32_t round = 0; round < 300 && !phased_hub_view(world.hub).judge.finished; round++) {
        for (uint32_t agent = 0; agent < world.setup.schedule.agent_count; agent++) {
            hear_hub(agent);
            for (uint32_t i = 0; i < 4; i++)
                play(&world.sites[agent]);
        }
        while (world.flight_count > 0)
            deliver(below(world.flight_count));
        pass_time();
    }
}

static void hubs_that_were_lost_close_their_rounds_and_no_reward_leaves_twice(void **state)
{
    uint64_t losses = 0;
    uint64_t rollbacks = 0;
    uint64_t rounds = 0;
    uint64_t finished = 0;
    uint64_t dropped = 0;
    uint64_t put_back_count = 0;
    uint32_t const schedules = getenv("TACIT_TEST_LONG") != NULL ? 20 * SCHEDULES : SCHEDULES;
    (void)state;
    for (uint32_t schedule = 0; schedule < schedules; schedule++) {
        open_world(schedule);
        for (uint32_t i = 0; i < STEPS; i++)
            one_step();
        heal();
        check_history();
        losses += world.losses;
        rollbacks += world.rollbacks;
        rounds += world.history_count;
        finished += phased_hub_view(world.hub).judge.finished ? 1 : 0;
        dropped += world.dropped;
        put_back_count += world.put_back;
        close_world();
    }
    print_message("%u schedules, %llu lost hubs, %llu built of an older entry, %llu states put "
                  "back, %llu draws dropped, %llu closed rounds, %llu runs ended\n",
                  schedules, (unsigned long long)losses, (unsigned long long)rollbacks,
                  (unsigned long long)put_back_count, (unsigned long long)dropped,
                  (unsigned long long)rounds, (unsigned long long)finished);
    assert_true(losses > 5 * schedules);
    assert_true(rollbacks > schedules / 10);
    assert_true(rounds > schedules);
    assert_true(dropped > schedules / 4);
    assert_true(put_back_count > schedules);
    assert_true(finished > schedules / 4);
}

/* ---- One by one ---- */

#define SITES 2u

static struct phased_core *hub;
static struct phased_core *agents[SITES];
static struct phased_setup setup;
static double const two_means[2] = {0.75, 0.25};

static enum tacit_status pass(struct phased_core *from, struct phased_core *to)
{
    struct tacit_phased_message *const kept = phased_keep(from);
    enum tacit_status const status = phased_step(to, phased_receive(kept));
    free(kept);
    return status;
}

static void open_star(void)
{
    setup = (struct phased_setup){.schedule = {.arm_count = 2,
                                               .agent_count = SITES,
                                               .horizon = 10000,
                                               .epsilon_per_reward = 1,
                                               .growth = 2,
                                               .arms_per_round = 2},
                                  .means = two_means,
                                  .seed = 6,
                                  .budget_nano = TACIT_NANO,
                                  .has_grants = true,
                                  .answers_all = true};
    hub = phased_hub_new(&setup);
    for (uint32_t agent = 0; agent < SITES; agent++) {
        agents[agent] = phased_agent_new(&setup, agent);
        assert_int_equal(phased_step(agents[agent], phased_start()), TACIT_OK);
        assert_int_equal(phased_step(hub, phased_start()), TACIT_OK);
        assert_int_equal(pass(hub, agents[agent]), TACIT_OK);
        assert_int_equal(agents[agent]->update.plan_count, 2);
    }
}

static void close_star(void)
{
    phased_free(hub);
    for (uint32_t agent = 0; agent < SITES; agent++)
        phased_free(agents[agent]);
}

/* To the grant that comes back, and that the site has not heard. */
static struct tacit_phased_message *commit(uint32_t agent)
{
    assert_int_equal(phased_play(agents[agent]), TACIT_OK);
    assert_int_equal(agents[agent]->update.message.kind, TACIT_PHASED_COMMIT);
    assert_int_equal(pass(agents[agent], hub), TACIT_OK);
    assert_int_equal(hub->update.message.kind, TACIT_PHASED_GRANT);
    return phased_keep(hub);
}

static void report(uint32_t agent)
{
    struct tacit_phased_message *const grant = commit(agent);
    assert_int_equal(phased_step(agents[agent], phased_receive(grant)), TACIT_OK);
    assert_int_equal(agents[agent]->update.message.kind, TACIT_PHASED_REPORT);
    assert_int_equal(pass(agents[agent], hub), TACIT_OK);
    free(grant);
}

static void snapshot_of(const struct phased_core *core, struct entry *entry)
{
    entry->size = tacit_phased_hub_snapshot(core->state, entry->bytes, sizeof entry->bytes);
    assert_in_range(entry->size, 1, sizeof entry->bytes);
}

static void begin_term(struct phased_core *core, uint64_t term)
{
    struct tacit_phased_event start = phased_start();
    start.as.term = term;
    assert_int_equal(phased_step(core, start), TACIT_OK);
}

static void put_hub_back(const struct entry *entry, uint64_t term)
{
    struct tacit_phased_hub_config const config = phased_hub_config(&setup);
    memset(hub->state, 0xa5, hub->size);
    assert_int_equal(tacit_phased_hub_restore(hub->state, &config, entry->bytes, entry->size),
                     TACIT_OK);
    begin_term(hub, term);
}

static void release_that_was_granted_is_said_again_and_counts_once(void **state)
{
    static struct entry entry;
    (void)state;
    open_star();
    snapshot_of(hub, &entry);
    report(0);
    struct tacit_phased_agent_view const before = phased_agent_view(agents[0]);
    put_hub_back(&entry, 1);
    assert_int_equal(phased_hub_view(hub).report_count, 0);
    struct tacit_phased_message *const order = phased_keep(hub);
    begin_term(agents[0], 1);
    assert_int_equal(agents[0]->update.message.kind, TACIT_PHASED_HELLO);
    assert_int_equal(agents[0]->update.message.round,
                     0); /* whether it is wanted is not known yet */
    assert_int_equal(phased_step(agents[0], phased_receive(order)), TACIT_OK);
    assert_int_equal(agents[0]->update.message.kind, TACIT_PHASED_REPORT);
    assert_int_equal(agents[0]->update.plan_count, 0);
    struct tacit_phased_message *const again = phased_keep(agents[0]);
    assert_int_equal(phased_step(hub, phased_receive(again)), TACIT_OK);
    assert_int_equal(phased_step(hub, phased_receive(again)), TACIT_OK);
    assert_int_equal(phased_hub_view(hub).report_count, 1);
    struct tacit_phased_agent_view const after = phased_agent_view(agents[0]);
    assert_int_equal(after.ledger->release_count, before.ledger->release_count);
    assert_int_equal(after.release_number, 1);
    /* Its next draw follows that release. */
    begin_term(agents[1], 1);
    assert_int_equal(phased_step(agents[1], phased_receive(order)), TACIT_OK);
    report(1);
    assert_int_equal(phased_hub_view(hub).judge.round, 2);
    assert_int_equal(pass(hub, agents[0]), TACIT_OK);
    report(0);
    assert_false(tacit_bits_has(phased_hub_view(hub).flagged, 0));
    free(order);
    free(again);
    close_star();
}

static void draw_that_was_not_granted_is_dropped_with_its_rewards(void **state)
{
    static struct entry entry;
    (void)state;
    open_star();
    snapshot_of(hub, &entry);
    struct tacit_phased_message *const grant = commit(0); /* on its way when the hub is lost */
    put_hub_back(&entry, 1);
    struct tacit_phased_message *const order = phased_keep(hub);
    phased_expect_nothing(agents[0], phased_receive(order), TACIT_STRANGER); /* of a term to come */
    begin_term(agents[0], 1);
    assert_false(phased_agent_view(agents[0]).committed);
    phased_expect_nothing(agents[0], phased_receive(grant), TACIT_STRANGER);
    assert_int_equal(phased_step(agents[0], phased_receive(order)), TACIT_OK);
    assert_int_equal(agents[0]->update.plan_count, 2); /* with new rewards */
    report(0);
    struct tacit_phased_agent_view const view = phased_agent_view(agents[0]);
    assert_int_equal(view.release_round, 1);
    assert_int_equal(view.release_number, 2); /* never the same number again */
    assert_int_equal(view.ledger->release_count, 2);
    assert_int_equal(phased_hub_view(hub).report_count, 1);
    free(grant);
    free(order);
    close_star();
}

static void words_of_the_lost_hub_and_to_it_are_not_heard(void **state)
{
    static struct entry entry;
    (void)state;
    open_star();
    snapshot_of(hub, &entry);
    struct tacit_phased_message *const grant = commit(0);
    assert_int_equal(phased_step(agents[0], phased_receive(grant)), TACIT_OK);
    struct tacit_phased_message *const said = phased_keep(agents[0]);
    put_hub_back(&entry, 1);
    phased_expect_nothing(hub, phased_receive(said), TACIT_STRANGER);
    said->term = 2;
    phased_expect_nothing(hub, phased_receive(said), TACIT_ROLLBACK);
    assert_int_equal(phased_hub_view(hub).report_count, 0);
    free(grant);
    free(said);
    close_star();
}

/* Built again from an older entry: the site is ahead, and its round comes again. */
static void site_that_is_ahead_plays_its_round_anew(void **state)
{
    static struct entry entry;
    (void)state;
    open_star();
    snapshot_of(hub, &entry);
    report(0);
    report(1);
    assert_int_equal(pass(hub, agents[0]), TACIT_OK);
    struct tacit_phased_message *const grant = commit(0);
    assert_int_equal(phased_step(agents[0], phased_receive(grant)), TACIT_OK); /* of round 2 */
    put_hub_back(&entry, 7);
    assert_int_equal(phased_hub_view(hub).judge.round, 1);
    struct tacit_phased_message *const order = phased_keep(hub);
    begin_term(agents[0], 7);
    assert_int_equal(phased_step(agents[0], phased_receive(order)), TACIT_OK);
    assert_int_equal(agents[0]->update.plan_count, 2);
    report(0);
    struct tacit_phased_agent_view const view = phased_agent_view(agents[0]);
    assert_int_equal(view.release_round, 1);
    assert_int_equal(view.release_number, 3);
    assert_int_equal(view.ledger->release_count, 3);
    assert_int_equal(phased_hub_view(hub).report_count, 1);
    free(grant);
    free(order);
    close_star();
}

/* Not another plan's: the round is the same, the arms are not. */
static void release_of_another_plan_is_not_said(void **state)
{
    (void)state;
    open_star();
    report(0);
    begin_term(agents[0], 1);
    struct tacit_pull_block const other[] = {{0, 3}, {1, 3}};
    struct tacit_phased_message const order = {.kind = TACIT_PHASED_ORDER,
                                               .from = TACIT_HUB,
                                               .to = TACIT_EVERYONE,
                                               .run_id = PHASED_RUN_ID,
                                               .term = 1,
                                               .round = 1,
                                               .leader = TACIT_NO_ARM,
                                               .block_count = 2,
                                               .blocks = other};
    assert_int_equal(phased_step(agents[0], phased_receive(&order)), TACIT_OK);
    assert_false(agents[0]->update.send);
    assert_int_equal(agents[0]->update.plan_count, 2);
    assert_int_equal(agents[0]->update.plan[1].count, 3);
    close_star();
}

/* Nothing of an old copy could leave twice any more. */
static void old_copy_that_was_halted_goes_on_in_a_term(void **state)
{
    struct tacit_pull_block const plan[] = {{0, 3}, {1, 3}};
    struct tacit_phased_message order = {.kind = TACIT_PHASED_ORDER,
                                         .from = TACIT_HUB,
                                         .to = 0,
                                         .run_id = PHASED_RUN_ID,
                                         .round = 2,
                                         .seen = 1,
                                         .leader = TACIT_NO_ARM,
                                         .block_count = 2,
                                         .blocks = plan};
    (void)state;
    open_star();
    assert_int_equal(phased_step(agents[0], phased_receive(&order)), TACIT_ROLLBACK);
    assert_true(phased_agent_view(agents[0]).halted);
    begin_term(agents[0], 1);
    assert_false(phased_agent_view(agents[0]).halted);
    struct tacit_commit const granted = {.commitment = {5}};
    struct tacit_phased_message const refusal = {.kind = TACIT_PHASED_REFUSAL,
                                                 .from = TACIT_HUB,
                                                 .to = 0,
                                                 .run_id = PHASED_RUN_ID,
                                                 .term = 1,
                                                 .round = 1,
                                                 .leader = TACIT_NO_ARM,
                                                 .commit = &granted};
    /* Another state of this site has spoken in the term already. */
    assert_int_equal(phased_step(agents[0], phased_receive(&refusal)), TACIT_OK);
    assert_true(phased_agent_view(agents[0]).blocked);
    order.term = 1;
    order.seen = 0;
    assert_int_equal(phased_step(agents[0], phased_receive(&order)), TACIT_OK);
    assert_int_equal(agents[0]->update.plan_count, 2);
    close_star();
}

static bool holds(const struct phased_core *core, int64_t sum)
{
    return memmem(core->state, core->size, &sum, sizeof sum) != NULL;
}

static void rewards_that_were_not_drawn_are_gone_with_the_term(void **state)
{
    int64_t const sum = 700001;
    (void)state;
    open_star();
    assert_int_equal(phased_step(agents[0], phased_reward(1, 1, sum)), TACIT_OK);
    assert_true(holds(agents[0], sum));
    begin_term(agents[0], 1);
    assert_false(holds(agents[0], sum));
    assert_true(agents[0]->update.plan_is_void && agents[0]->update.persist);
    assert_int_equal(phased_agent_view(agents[0]).pull_count, 1); /* it was played all the same */
    close_star();
}

/* The operator began a term because a site lost its state: what the hub knows of heads is of
 * before. */
static void hub_that_begins_a_term_forgets_what_it_granted(void **state)
{
    (void)state;
    open_star();
    report(0);
    phased_free(agents[0]);
    agents[0] = phased_agent_new(&setup, 0);
    begin_term(hub, 1);
    assert_int_equal(phased_hub_view(hub).report_count, 0);
    struct tacit_phased_message *const order = phased_keep(hub);
    begin_term(agents[0], 1);
    assert_int_equal(phased_step(agents[0], phased_receive(order)), TACIT_OK);
    report(0);
    assert_int_equal(phased_hub_view(hub).report_count, 1);
    assert_false(tacit_bits_has(phased_hub_view(hub).flagged, 0));
    free(order);
    close_star();
}

/* The operator's words are in what it is built from, also before a round is closed. */
static void arms_that_came_and_went_are_as_they_were(void **state)
{
    static double const means[3] = {0.7, 0.5, 0.3};
    static struct entry kept;
    static struct entry again;
    struct tacit_phased_update update;
    (void)state;
    setup = (struct phased_setup){.schedule = {.arm_count = 3,
                                               .first_count = 2,
                                               .agent_count = SITES,
                                               .horizon = 10000,
                                               .epsilon_per_reward = 1,
                                               .growth = 2,
                                               .arms_per_round = 2},
                                  .means = means,
                                  .has_grants = true};
    struct tacit_phased_hub_config const config = phased_hub_config(&setup);
    hub = phased_hub_new(&setup);
    assert_int_equal(phased_step(hub, phased_start()), TACIT_OK);
    assert_int_equal(tacit_phased_hub_add(hub->state, 2, 0, &update), TACIT_OK);
    assert_int_equal(tacit_phased_hub_retire(hub->state, 0, 0, &update), TACIT_OK);
    snapshot_of(hub, &kept);
    memset(hub->state, 0xa5, hub->size);
    assert_int_equal(tacit_phased_hub_restore(hub->state, &config, kept.bytes, kept.size),
                     TACIT_OK);
    snapshot_of(hub, &again);
    assert_int_equal(again.size, kept.size);
    assert_memory_equal(again.bytes, kept.bytes, kept.size);
    struct tacit_phased_hub_view const view = phased_hub_view(hub);
    assert_int_equal(view.judge.standings[0], TACIT_PHASED_RETIRED);
    assert_int_equal(view.judge.standings[2], TACIT_PHASED_PRESENT);
    assert_int_equal(view.judge.round, 3);
    phased_free(hub);
}

/* A byte that is another one is refused, or it shows in what the hub writes; none can be missing.
 */
static void snapshot_has_one_form_and_is_of_one_run(void **state)
{
    static struct entry kept;
    static struct entry bad;
    static struct entry again;
    struct tacit_phased_hub_config config;
    (void)state;
    open_star();
    config = phased_hub_config(&setup);
    report(0);
    report(1);
    assert_int_equal(phased_hub_view(hub).judge.round_count, 1);
    snapshot_of(hub, &kept);
    for (size_t at = 0; at < kept.size; at++)
        for (uint32_t bit = 0; bit < 8; bit++) {
            bad = kept;
            bad.bytes[at] ^= (uint8_t)(1u << bit);
            enum tacit_status const status =
                tacit_phased_hub_restore(hub->state, &config, bad.bytes, bad.size);
            if (status != TACIT_OK) {
                assert_int_equal(status, TACIT_MALFORMED);
                continue;
            }
            snapshot_of(hub, &again);
            assert_int_equal(again.size, bad.size);
            assert_memory_equal(again.bytes, bad.bytes, bad.size);
        }
    for (size_t size = 0; size < kept.size; size++)
        assert_int_equal(tacit_phased_hub_restore(hub->state, &config, kept.bytes, size),
                         TACIT_MALFORMED);
    bad = kept;
    memset(bad.bytes + kept.size, 0, 8);
    assert_int_equal(tacit_phased_hub_restore(hub->state, &config, bad.bytes, bad.size + 8),
                     TACIT_MALFORMED);
    config.run_id++;
    assert_int_equal(tacit_phased_hub_restore(hub->state, &config, kept.bytes, kept.size),
                     TACIT_MALFORMED);
    config.run_id--;
    config.quorum = 1;
    assert_int_equal(tacit_phased_hub_restore(hub->state, &config, kept.bytes, kept.size),
                     TACIT_MALFORMED);
    config.quorum = 0;
    assert_int_equal(tacit_phased_hub_restore(hub->state, &config, kept.bytes, kept.size),
                     TACIT_OK);
    close_star();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hubs_that_were_lost_close_their_rounds_and_no_reward_leaves_twice),
        cmocka_unit_test(release_that_was_granted_is_said_again_and_counts_once),
        cmocka_unit_test(draw_that_was_not_granted_is_dropped_with_its_rewards),
        cmocka_unit_test(words_of_the_lost_hub_and_to_it_are_not_heard),
        cmocka_unit_test(site_that_is_ahead_plays_its_round_anew),
        cmocka_unit_test(release_of_another_plan_is_not_said),
        cmocka_unit_test(old_copy_that_was_halted_goes_on_in_a_term),
        cmocka_unit_test(rewards_that_were_not_drawn_are_gone_with_the_term),
        cmocka_unit_test(hub_that_begins_a_term_forgets_what_it_granted),
        cmocka_unit_test(arms_that_came_and_went_are_as_they_were),
        cmocka_unit_test(snapshot_has_one_form_and_is_of_one_run),
    };
    int const failed = digest_end(argc, cmocka_run_group_tests(tests, NULL, NULL), DIGEST);
    return damage_end(argc, failed, VERDICTS);
}
