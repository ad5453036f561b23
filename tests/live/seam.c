/* The seam between the daemons and a protocol: each family with a plan, over a star, and
 * elimination over a ring and a hybrid, too, as tests/support/live_world.h drives it. The player in
 * a site of votes is, byte for byte, the simulator's. */
#include "../support/wire_shape.h"
#include "../support/testing.h"
#include "../../src/families/elim/live.h"
#include "../../src/families/elim/settings.h"
#include "../../src/families/phased/live.h"
#include "../../src/families/vote/live_keys.h"
#include "../support/live_world.h"
#include "../support/network.h"
#include "tacit/wire_elim.h"
#include "tacit/wire_phased.h"
#include "tacit/wire_vote.h"

#define HORIZON 20000u
#define TICK_US 1000u
#define STEPS_MAX 100000u
#define KILL_EVERY 97u

static const double means[WORLD_ARMS] = {0.75, 0.5, 0.125};

/* A family, and what it calls two of its messages. */
struct family {
    struct world_family world;
    bool is_among_peers;
    size_t taken_max; /* bits of a site's announcement: names of its neighbours */
    uint32_t commit;
    uint32_t report;
};

static struct family chosen;
static struct family const *const family = &chosen; /* the one under test */

static struct tacit_wire_vote_run vote_settings = {.run_id = 7,
                                                   .agent_count = WORLD_SITES,
                                                   .arm_count = WORLD_ARMS,
                                                   .horizon = 1000000,
                                                   .accuracy = 0.05,
                                                   .eta = 0.1,
                                                   .votes_needed = 2,
                                                   .tick_ms = TICK_US / 1000};

static bool is_decided(const struct world *world)
{
    for (uint32_t index = 0; index < WORLD_SITES; index++)
        if (!world_look(world, index).is_decided)
            return false;
    return true;
}

/* Envelopes arrive, each site plays one of its pulls; where nothing moves time passes. */
static void go_on(struct world *world)
{
    bool is_moving = world->first < world->end;
    world_deliver_all(world);
    for (uint32_t index = 0; index < WORLD_SITES && !is_decided(world); index++)
        is_moving = world_play(world, index) != TACIT_NO_ARM || is_moving;
    if (!is_moving)
        world_pass(world);
}

static void kill_and_start(struct world *world, uint32_t index)
{
    world->sites[index].plan_count = 0;
    world_revive(world, index);
    assert_int_equal(
        world_step(world, index, (struct live_site_event){.kind = LIVE_SITE_CONNECTED}), TACIT_OK);
}

/* Peers are killed now and then: their deadlines are not in their bytes, so they would not go on if
 * they were put back after every step. */
static struct world *world_at_end(const struct world_family *of)
{
    struct world *const world = world_new(of, 1);
    for (uint32_t steps = 0; !is_decided(world); steps++) {
        assert_true(steps < STEPS_MAX);
        if (family->is_among_peers && steps % KILL_EVERY == KILL_EVERY - 1)
            kill_and_start(world, steps / KILL_EVERY % WORLD_SITES);
        go_on(world);
    }
    return world;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void a_run_through_bytes_ends_with_the_best_arm_everywhere(void **state)
{
    struct world *const world = world_at_end(&family->world);
    struct live_hub_view const hub = world_look_hub(world);
    uint32_t ranking[WORLD_ARMS];
    for (uint32_t index = 0; index < WORLD_SITES; index++) {
        struct site const *const site = &world->sites[index];
        struct live_site_view const view = world_look(world, index);
        assert_true(view.is_decided && view.spent_nano > 0 && view.release_number > 0);
        assert_int_equal(view.release_number, site->release); /* a row for every draw */
        assert_int_equal(live_site_rank(site->live, &site->config, ranking), 1);
        assert_int_equal(ranking[0], 0);
        assert_true(family->is_among_peers || (view.release_number == hub.round_count &&
                                               site->acknowledged == hub.round_count));
    }
    if (!family->is_among_peers) {
        assert_true(hub.judges && hub.is_finished && tacit_bits_has(hub.active, 0));
        assert_int_equal(hub.active_count, 1);
    }
    world_free(world);
}

/* Nothing that matters lives beside the bytes. */
static void a_run_that_is_never_put_back_ends_the_same(void **state)
{
    struct world_family whole = family->world;
    whole.is_from_disk = true;
    struct world *const worlds[2] = {world_at_end(&family->world), world_at_end(&whole)};
    for (uint32_t index = 0; index < WORLD_SITES; index++) {
        size_t sizes[2];
        void const *const bytes = live_site_bytes(worlds[0]->sites[index].live, &sizes[0]);
        assert_memory_equal(live_site_bytes(worlds[1]->sites[index].live, &sizes[1]), bytes,
                            sizes[0]);
        assert_int_equal(sizes[0], sizes[1]);
    }
    world_free(worlds[0]);
    world_free(worlds[1]);
}

static void damage_is_refused_or_does_no_harm(void **state)
{
    struct world *const world = world_at_end(&family->world);
    for (uint32_t index = 0; index < 2; index++)
        world_expect_damage(world, index, family->taken_max);
    world_free(world);
}

static void another_policy_is_another_state(void **state)
{
    struct world *const world = world_new(&family->world, 1);
    struct site const *const site = &world->sites[2];
    size_t size;
    void const *const bytes = live_site_bytes(site->live, &size);
    for (uint32_t i = 0; i < 5; i++) {
        struct live_site_config other = site->config;
        other.epsilon -= i == 0 ? 1 : 0;
        other.hi += i == 1 ? 1 : 0;
        other.budget += i == 2 ? 1e-8 : 0;
        other.rounds_max += i == 3 ? 1 : 0;
        other.resend_after_us += i == 4 ? 1 : 0;
        assert_int_equal(world_restore(world, &other, bytes, size), TACIT_MALFORMED);
    }
    world_free(world);
}

/* Of a ring: what the ledger has is what its neighbours get. */
static void a_peers_release_is_its_row_in_the_form_of_a_report(void **state)
{
    struct world *const world = world_at_end(&family->world);
    for (uint32_t index = 0; index < WORLD_SITES; index++) {
        struct tacit_elim_agent_view view;
        struct live_site const *const site = world->sites[index].live;
        elim_site_view(site, &view);
        struct tacit_elim_message const report = elim_site_release(site);
        assert_int_equal(report.kind, TACIT_ELIM_REPORT);
        assert_int_equal(report.from, index);
        assert_int_equal(report.epoch, view.release_epoch);
        uint32_t rank = 0;
        TACIT_BITS_EACH (arm, report.arms, WORLD_ARMS)
            assert_true(report.sums[rank++].steps == view.noised[arm].steps);
        assert_int_equal(rank, report.sum_count);
    }
    world_free(world);
}

static void what_does_not_fit_is_refused_and_changes_no_byte(void **state)
{
    struct world *const world = world_new(&family->world, 1);
    while (world->first == world->end || world->queue[world->first].message.to != TACIT_HUB)
        if (world->first < world->end)
            world_deliver_to(world, WORLD_ALL); /* up to the first question to the hub */
        else
            go_on(world);
    world_expect_refusals(world);
    world_free(world);
}

static void states_that_cannot_be_are_not_restored(void **state)
{
    struct world *const world = world_new(&family->world, 1);
    world_expect_no_other_state(world);
    world_free(world);
}

static void an_offer_is_not_for_a_family_with_a_plan(void **state)
{
    struct world *const world = world_new(&family->world, 1);
    static const double contexts[WORLD_ARMS] = {1, 2, 3};
    struct live_site_event event = {.kind = LIVE_SITE_OFFER};
    event.as.offer = (struct tacit_offer){WORLD_ARMS, 1, contexts};
    assert_int_equal(world_step(world, 0, event), TACIT_UNEXPECTED);
    world_free(world);
}

/* Of this kind on its way from this site. */
static uint32_t count_envelopes(const struct world *world, uint32_t from, uint32_t kind)
{
    uint32_t count = 0;
    for (size_t i = world->first; i < world->end; i++)
        count += world->queue[i].from == from && world->queue[i].message.kind == kind ? 1 : 0;
    return count;
}

/* The first order is everywhere; site 0 has played all of its plan but `left` pulls. */
static struct world *world_with_plan_left(uint64_t left)
{
    struct world *const world = world_new(&family->world, 1);
    struct site *const site = &world->sites[0];
    world_deliver_all(world);
    for (;;) {
        uint64_t count = 0;
        for (uint32_t i = 0; i < site->plan_count; i++)
            count += site->plan[i].count;
        if (count <= left)
            break;
        (void)world_play(world, 0);
    }
    assert_true(site->plan_count > 0);
    return world;
}

/* The grant is not here: the draw is in the ledger, and nowhere else. */
static void what_waits_for_its_grant_is_used_nowhere(void **state)
{
    struct world *const world = world_with_plan_left(1);
    struct site *const site = &world->sites[0];
    struct live_site_view view;
    uint32_t before[WORLD_ARMS];
    uint32_t ranking[WORLD_ARMS];
    uint32_t const count = live_site_rank(site->live, &site->config, before);
    assert_int_equal(site->release, 0);
    (void)world_play(world, 0);
    view = world_look(world, 0);
    assert_true(view.is_committed && view.is_waiting && !view.is_blocked && view.trouble == NULL);
    assert_int_equal(view.draw_number, 1);
    assert_int_equal(view.release_number, 0);
    assert_int_equal(site->release, 1); /* its row is written */
    assert_true(view.spent_nano > 0);
    assert_int_equal(live_site_rank(site->live, &site->config, ranking), count);
    assert_memory_equal(ranking, before, sizeof ranking);
    assert_int_equal(count_envelopes(world, 0, family->commit), 1);
    assert_int_equal(count_envelopes(world, 0, family->report), 0);
    world_deliver_to(world, WORLD_ALL);
    assert_int_equal(count_envelopes(world, 0, family->report), 0); /* the grant is on its way */
    world_deliver_to(world, WORLD_ALL);
    assert_int_equal(count_envelopes(world, 0, family->report), 1);
    assert_int_equal(site->acknowledged, 0); /* granted, not heard */
    view = world_look(world, 0);
    assert_true(!view.is_committed);
    assert_int_equal(view.release_number, 1);
    world_free(world);
}

/* The last pull of the plan was played before, too, and its draw granted to the other state. */
static void a_copy_is_refused_says_so_and_is_flagged(void **state)
{
    struct world *const world = world_with_plan_left(1);
    struct site *const site = &world->sites[0];
    struct site const copied = *site; /* the plan, above all */
    struct live_hub_view hub;
    struct live_site_view view;
    size_t size;
    void const *const bytes = live_site_bytes(site->live, &size);
    struct live_site *old;
    const char *objection;
    assert_int_equal(
        live_site_restore(family->world.site_ops, &old, &site->config, bytes, size, &objection),
        TACIT_OK);
    (void)world_play(world, 0);
    world_deliver_all(world);
    view = world_look(world, 0);
    assert_int_equal(view.release_number, 1);
    live_site_free(site->live);
    memcpy(site->plan, copied.plan, sizeof site->plan);
    site->plan_count = copied.plan_count;
    site->live = old; /* with other noise, from here on in its stream */
    site->release = 0;
    (void)world_play(world, 0);
    assert_int_equal(count_envelopes(world, 0, family->commit), 1);
    struct envelope const commit = world->queue[world->first++];
    assert_int_equal(world_tell_hub(world, &commit), TACIT_FORKED);
    free((void *)(uintptr_t)commit.message.bytes);
    hub = world_look_hub(world);
    assert_true(tacit_bits_has(hub.flagged, 0) && !tacit_bits_has(hub.flagged, 1));
    world_deliver_all(world);
    view = world_look(world, 0);
    assert_true(view.is_blocked && view.trouble != NULL);
    assert_non_null(strstr(view.trouble, "coordinator"));
    assert_int_equal(view.release_number, 0);
    assert_int_equal(count_envelopes(world, 0, family->report), 0);
    hub = world_look_hub(world);
    assert_int_equal(hub.report_count, 1); /* the first one's */
    world_free(world);
}

static void a_policy_is_not_overruled_by_an_announcement(void **state)
{
    struct world *const world = world_new(&family->world, 1);
    struct live_site_config strict = world->sites[0].config;
    strict.epsilon /= 100; /* the run reckons with more */
    world_expect_policy(world, &strict, "policy.epsilon");
    world_free(world);
}

/* ---- Votes: the player in a site ------------------------------------------------------------- */

/* Result: has a site had a tick? */
static bool tick(struct world *world)
{
    bool has_ticked = false;
    world->now_us += TICK_US;
    for (uint32_t index = 0; index < WORLD_SITES; index++) {
        struct site const *const site = &world->sites[index];
        if (world->now_us < site->deadline_us)
            continue;
        has_ticked = has_ticked || site->is_tick;
        assert_int_equal(world_time_out(world, index), TACIT_OK);
    }
    return has_ticked;
}

/* Two sites play; the third has nobody in. */
static void vote_run(struct world *world)
{
    bool has_ticked = false;
    for (int i = 0; i < 100000 && !world_look(world, 2).is_decided; i++) {
        world_deliver_all(world);
        bool const rests =
            world_play(world, 0) == TACIT_NO_ARM && world_play(world, 1) == TACIT_NO_ARM;
        world_deliver_all(world);
        if (rests)
            has_ticked = tick(world) || has_ticked;
    }
    world_deliver_all(world);
    assert_true(has_ticked);
}

static void run_through_bytes_ends_with_the_best_arm_everywhere(void **state)
{
    struct world *const world = world_new(&family->world, 1);
    struct live_hub_view hub;
    uint32_t ranking[WORLD_ARMS];
    vote_run(world);
    hub = world_look_hub(world);
    assert_true(hub.judges && hub.is_finished);
    assert_int_equal(hub.active_count, 1);
    assert_true(tacit_bits_has(hub.active, 0));
    assert_int_equal(hub.votes_needed, 2);
    assert_true(hub.votes[1] == 2 && hub.votes[2] == 2 && hub.votes[0] == 0);
    assert_int_equal(hub.report_count, 2);
    for (uint32_t index = 0; index < WORLD_SITES; index++) {
        struct site const *const site = &world->sites[index];
        struct live_site_view const view = world_look(world, index);
        assert_true(view.is_decided && !view.is_committed && view.trouble == NULL);
        assert_int_equal(view.release_number, site->release); /* a row for every draw */
        assert_int_equal(view.release_number, hub.seen[index]);
        assert_int_equal(site->acknowledged, site->release);
        assert_true((index == 2) == (view.spent_nano == 0));
        assert_int_equal(live_site_rank(site->live, &site->config, ranking), 1);
        assert_int_equal(ranking[0], 0);
    }
    assert_int_equal(world_look(world, 2).pull_count, 0);
    world_free(world);
}

/* As it is made and begun; from there on both are the same core. */
static void player_of_a_site_is_the_simulators_byte_for_byte(void **state)
{
    struct world *const world = world_new(&family->world, 1);
    struct tacit_rng noise = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&noise);
    struct tacit_vote_event const start = {.kind = TACIT_EVENT_START, .now_us = 1};
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, 2, 0, 1};
    struct tacit_vote_board_config const of_board = {
        .run_id = 7, .player_count = WORLD_SITES, .arm_count = WORLD_ARMS, .votes_needed = 2};
    struct tacit_vote_noised_config config = {.run_id = 7,
                                              .player_count = WORLD_SITES,
                                              .arm_count = WORLD_ARMS,
                                              .accuracy = vote_settings.accuracy,
                                              .failure = vote_settings.eta,
                                              .growth = 2,
                                              .budget_nano = 2 * TACIT_NANO,
                                              .tick_us = TICK_US};
    struct tacit_vote_noised_update update;
    size_t size;
    uint8_t const *const bytes = live_site_bytes(world->sites[0].live, &size);
    assert_int_equal(tacit_mechanism_init(&config.mechanism, &mechanism), TACIT_OK);
    size_t const player_size = tacit_vote_noised_size(&config);
    void *const player = testing_calloc(1, player_size);
    void *const board = testing_calloc(1, tacit_vote_board_size(&of_board));
    assert_int_equal(tacit_vote_noised_init(player, &config), TACIT_OK);
    assert_int_equal(tacit_vote_board_init(board, &of_board), TACIT_OK);
    assert_int_equal(tacit_vote_noised_step(player, board, &start, &entropy, &update), TACIT_OK);
    size_t at = 0;
    while (at + player_size <= size && memcmp(bytes + at, player, player_size) != 0)
        at += 8;
    assert_true(at + player_size <= size);
    testing_free(player);
    testing_free(board);
    world_free(world);
}

/* Nobody hears the grant of one said to everybody; a mark that nobody counted is no state. */
static void what_only_votes_say_is_refused(void **state)
{
    struct world *const world = world_new(&family->world, 1);
    struct site const *const site = &world->sites[0];
    size_t size;
    world_deliver_all(world);
    while (world->first == world->end)
        (void)world_play(world, 0);
    world_deliver_to(world, WORLD_ALL);
    struct envelope row = world->queue[world->end - 1];
    row.message.to = TACIT_EVERYONE;
    assert_int_equal(world_hear(world, 0, &row), TACIT_MALFORMED);
    void const *const bytes = live_site_bytes(site->live, &size);
    uint8_t *const copy = world_copy(bytes, size);
    copy[size - 1] ^= 1;
    assert_int_equal(world_restore(world, &site->config, copy, size), TACIT_MALFORMED);
    free(copy);
    world_free(world);
}

/* ---- Families -------------------------------------------------------------------------------- */

static void choose(const struct live_site_ops *site_ops, const struct live_hub_ops *hub_ops,
                   const void *settings, double epsilon, uint64_t horizon)
{
    chosen = (struct family){.world = {.site_ops = site_ops,
                                       .hub_ops = hub_ops,
                                       .site = {.epsilon = epsilon,
                                                .budget = epsilon,
                                                .rounds_max = 40,
                                                .pulls_max = horizon,
                                                .resend_after_us = 2000000},
                                       .hub = {.horizon = horizon,
                                               .epsilon = epsilon,
                                               .quorum = WORLD_SITES,
                                               .deadline_s = 60,
                                               .settings = settings},
                                       .means = means,
                                       .step_us = 1,
                                       .repeats_release = true}};
}

static int choose_elim_by(struct elim_hub_settings settings)
{
    static struct elim_hub_settings elim_settings;
    elim_settings = settings;
    choose(&elim_site_ops, &elim_hub_ops, &elim_settings, 100, HORIZON);
    chosen.commit = WIRE_KIND(elim, tacit_elim_message, TACIT_ELIM_COMMIT);
    chosen.report = WIRE_KIND(elim, tacit_elim_message, TACIT_ELIM_REPORT);
    return 0;
}

static int choose_elim(void **state)
{
    return choose_elim_by(elim_hub_settings_make(1, WORLD_SITES, 4, 0.1));
}

static int choose_exact_elimination(void **state)
{
    struct elim_hub_settings exact = elim_hub_settings_make(1, WORLD_SITES, 0, 0);
    exact.growth = 2;
    exact.confidence = 0.95;
    return choose_elim_by(exact);
}

static struct network *network; /* of the peers; what a group's set-up makes is its own to free */

static int free_network(void **state)
{
    network_free(network);
    return 0;
}

static int choose_peers(enum tacit_elim_collection collection, const struct tacit_graph_spec *specs,
                        uint32_t spec_count, size_t letters)
{
    static struct tacit_elim_network sites;
    struct elim_hub_settings settings = elim_hub_settings_make(1, WORLD_SITES, 4, 0.1);
    network = network_new(specs, spec_count, 1);
    sites = network_for_sim(network, collection);
    settings.network = &sites;
    (void)choose_elim_by(settings);
    chosen.is_among_peers = chosen.world.is_from_disk = true;
    chosen.taken_max = 8 * letters;
    return 0;
}

static int choose_ring(void **state)
{
    static const struct tacit_graph_spec ring = {.kind = TACIT_GRAPH_RING,
                                                 .agent_count = WORLD_SITES};
    return choose_peers(TACIT_ELIM_SPREAD, &ring, 1, strlen("northsouth"));
}

/* 0 - 1, of which one is the sink, and 2 alone. */
static int choose_hybrid(void **state)
{
    static const struct tacit_graph_spec parts[] = {
        {.kind = TACIT_GRAPH_PATH, .agent_count = 2},
        {.kind = TACIT_GRAPH_COMPLETE, .agent_count = 1}};
    return choose_peers(TACIT_ELIM_GATHER, parts, 2, strlen("north"));
}

/* With a confidence it decides, as elimination does. */
static int choose_index(void **state)
{
    static struct phased_hub_settings phased_settings = {.schedule = {.arm_count = WORLD_ARMS,
                                                                      .agent_count = WORLD_SITES,
                                                                      .horizon = HORIZON,
                                                                      .epsilon_per_reward = 100,
                                                                      .growth = 2,
                                                                      .arms_per_round = 3,
                                                                      .confidence = 0.95}};
    choose(&phased_site_ops, &phased_hub_ops, &phased_settings, 100, HORIZON);
    chosen.commit = WIRE_KIND(phased, tacit_phased_message, TACIT_ROUND_COMMIT);
    chosen.report = WIRE_KIND(phased, tacit_phased_message, TACIT_ROUND_REPORT);
    return 0;
}

static int choose_votes(void **state)
{
    choose(&vote_site_ops, &vote_hub_ops, &vote_settings, 2, vote_settings.horizon);
    chosen.world.step_us = 0;
    chosen.world.has_own_keys = true;
    chosen.world.repeats_release = false;
    return 0;
}

#define OF_ALL_FAMILIES                                                                            \
    cmocka_unit_test(what_does_not_fit_is_refused_and_changes_no_byte),                            \
        cmocka_unit_test(states_that_cannot_be_are_not_restored),                                  \
        cmocka_unit_test(an_offer_is_not_for_a_family_with_a_plan),                                \
        cmocka_unit_test(a_policy_is_not_overruled_by_an_announcement)

#define OF_ROUNDS                                                                                  \
    cmocka_unit_test(a_run_through_bytes_ends_with_the_best_arm_everywhere),                       \
        cmocka_unit_test(damage_is_refused_or_does_no_harm),                                       \
        cmocka_unit_test(another_policy_is_another_state)

int main(void)
{
    const struct CMUnitTest of_rounds[] = {
        OF_ALL_FAMILIES,
        OF_ROUNDS,
        cmocka_unit_test(a_run_that_is_never_put_back_ends_the_same),
        cmocka_unit_test(what_waits_for_its_grant_is_used_nowhere),
        cmocka_unit_test(a_copy_is_refused_says_so_and_is_flagged),
    };
    const struct CMUnitTest of_peers[] = {OF_ALL_FAMILIES, OF_ROUNDS};
    const struct CMUnitTest of_a_ring[] = {
        cmocka_unit_test(a_peers_release_is_its_row_in_the_form_of_a_report)};
    const struct CMUnitTest of_votes[] = {
        OF_ALL_FAMILIES,
        cmocka_unit_test(run_through_bytes_ends_with_the_best_arm_everywhere),
        cmocka_unit_test(player_of_a_site_is_the_simulators_byte_for_byte),
        cmocka_unit_test(what_only_votes_say_is_refused),
    };
    return cmocka_run_group_tests_name("live/seam: elimination", of_rounds, choose_elim, NULL) +
           cmocka_run_group_tests_name("live/seam: phased index", of_rounds, choose_index, NULL) +
           cmocka_run_group_tests_name("live/seam: elimination with exact bounds", of_rounds,
                                       choose_exact_elimination, NULL) +
           cmocka_run_group_tests_name("live/seam: ring", of_peers, choose_ring, free_network) +
           cmocka_run_group_tests_name("live/seam: ring, rows", of_a_ring, choose_ring,
                                       free_network) +
           cmocka_run_group_tests_name("live/seam: hybrid", of_peers, choose_hybrid, free_network) +
           cmocka_run_group_tests_name("live/seam: votes", of_votes, choose_votes, NULL);
}
