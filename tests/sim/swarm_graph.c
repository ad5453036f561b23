/* Swarm simulation over graphs and hybrids: as swarm.c, with peers that spread or gather reports.
 * Checkers look on from outside; parts of the network are cut off for a while; when the faults are
 * over, every agent that is there must end, also where others never come back. A failing case
 * prints first the command that replays it.
 *
 * Schedules are rings and hybrids in sound mode in which old states of sites, and so of holders,
 * come back besides: backups and clones. Of each site that is copied one holder is not.
 *
 * usage: swarm_graph [--seed N | --schedule N | --sealed N | --schedules COUNT | --seeds COUNT]
 * default: the test group with 4,000 seeds and 1,500 schedules; --schedules runs these alone */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/families/elim/state.h"
#include "../../src/proto/elim/internal.h"
#include "../support/elim_sim.h"
#include "../support/network.h"

#define SEEDS_DEFAULT 4000u
#define SCHEDULES_DEFAULT 1500u
#define ARMS_MAX 6u
#define AGENTS_MAX 9u

struct world {
    struct network *network;
    struct tacit_elim_network sim_network;
    struct elim_sim sim;
    struct tacit_sim_faults faults;
    struct elim_observer observer;
    uint64_t cut_off[1];
    uint64_t copied[1];
    double means[AGENTS_MAX * ARMS_MAX];
    uint64_t points[1];
    double metrics[ELIM_METRIC_COUNT];
    double regret[1];
    uint32_t eliminated[ARMS_MAX];
    bool finished[1];
};

static const char *program_name = "swarm_graph";
static uint32_t seed_count = SEEDS_DEFAULT;
static uint32_t schedule_count = SCHEDULES_DEFAULT;

/* ---- Worlds ---------------------------------------------------------------------------------- */

static double chance(struct tacit_rng *rng, double share_of_worlds, double max)
{
    bool const is_on = tacit_rng_bernoulli(rng, share_of_worlds);
    double const value = max * tacit_rng_uniform(rng);
    return is_on ? value : 0;
}

/* Each kind of fault is on in a random subset of the worlds, so that rare mixtures come up too. */
static struct tacit_sim_faults make_faults(struct tacit_rng *rng, uint64_t horizon)
{
    return (struct tacit_sim_faults){
        .loss = chance(rng, 0.6, 0.4),
        .duplication = chance(rng, 0.6, 0.5),
        .delay_us_max = tacit_rng_bernoulli(rng, 0.7) ? tacit_rng_below(rng, 2000) : 0,
        .agent_crash = chance(rng, 0.6, 0.1),
        .hub_crash = chance(rng, 0.6, 0.1),
        .down_us_max = 1 + tacit_rng_below(rng, 2000),
        .plan_parts = 1 + (uint32_t)tacit_rng_below(rng, 3),
        .noise_failure = chance(rng, 0.4, 0.02),
        .lost_agents = tacit_rng_bernoulli(rng, 0.15) ? 1 : 0,
        .healed_at_us = horizon / 4 + tacit_rng_below(rng, horizon)};
}

static void cut_off_some(struct world *world, struct tacit_rng *rng)
{
    struct tacit_sim_faults *const faults = &world->faults;
    world->cut_off[0] = tacit_rng_next(rng) & ((UINT64_C(1) << world->sim.common.agent_count) - 1);
    faults->cut_off = world->cut_off;
    faults->cut_off_from_us = tacit_rng_below(rng, faults->healed_at_us);
    faults->cut_off_until_us = faults->cut_off_from_us +
                               tacit_rng_below(rng, faults->healed_at_us - faults->cut_off_from_us);
}

static struct tacit_mechanism make_mechanism(struct tacit_rng *rng, double *epsilon)
{
    static const double epsilons[] = {1, 5, 20, INFINITY};
    enum tacit_privacy_mode const mode =
        tacit_rng_bernoulli(rng, 0.6) ? TACIT_PRIVACY_SOUND : TACIT_PRIVACY_PAPER;
    *epsilon = epsilons[tacit_rng_below(rng, 4)];
    struct tacit_mechanism_config const config = {mode, *epsilon, 0, 1};
    struct tacit_mechanism mechanism;
    assert_int_equal(tacit_mechanism_init(&mechanism, &config), TACIT_OK);
    return mechanism;
}

/* A connected graph, a hybrid, or everybody on its own. */
static void make_network(struct world *world, struct tacit_rng *rng, uint32_t agents)
{
    double const kind = tacit_rng_uniform(rng);
    bool const is_hybrid = kind > 0.5;
    if (kind < 0.03) {
        struct tacit_graph_spec const alone = {.kind = TACIT_GRAPH_EDGES, .agent_count = agents};
        world->network = network_new(&alone, 1, 1);
    } else {
        world->network =
            is_hybrid ? network_random_hybrid(agents, rng) : network_random(agents, rng);
    }
    world->sim_network =
        network_for_sim(world->network, is_hybrid ? TACIT_ELIM_GATHER : TACIT_ELIM_SPREAD);
    world->sim_network.components_alike = is_hybrid && tacit_rng_bernoulli(rng, 0.3);
    world->sim.network = &world->sim_network;
    if (kind < 0.03)
        world->sim.report_count = 1;
}

static void make_hub(struct world *world, struct tacit_rng *rng)
{
    struct elim_sim *const sim = &world->sim;
    if (tacit_rng_bernoulli(rng, 0.5))
        sim->round_timeout_us = 1 + tacit_rng_below(rng, sim->common.horizon);
    if (tacit_rng_bernoulli(rng, 0.8))
        sim->quorum = 1 + (uint32_t)tacit_rng_below(rng, sim->report_count);
    sim->hub_answers_all = tacit_rng_bernoulli(rng, 0.5);
    if (tacit_rng_bernoulli(rng, 0.4))
        sim->gather_timeout_us = 1 + tacit_rng_below(rng, 10000);
}

static void world_close(struct world *world)
{
    network_free(world->network);
}

/* Requires: world_close after use. */
static void make_world(struct world *world, uint64_t seed)
{
    struct tacit_rng rng = tacit_rng_stream(seed, 0, 1, TACIT_PURPOSE_INSTANCE);
    memset(world, 0, sizeof *world);
    uint32_t const agents = 1 + (uint32_t)tacit_rng_below(&rng, AGENTS_MAX);
    uint32_t const arms = 2 + (uint32_t)tacit_rng_below(&rng, ARMS_MAX - 1);
    uint64_t const horizon = 5000 + tacit_rng_below(&rng, 60000);
    for (uint32_t i = 0; i < agents * arms; i++)
        world->means[i] = tacit_rng_uniform(&rng);
    world->points[0] = horizon;
    world->sim = (struct elim_sim){
        .common.seed = seed,
        .common.run_count = 1,
        .common.agent_count = agents,
        .report_count = agents,
        .round_limit = tacit_rng_bernoulli(&rng, 0.3) ? 1 + (uint32_t)tacit_rng_below(&rng, 8) : 0,
        .common.horizon = horizon,
        .common.points = world->points,
        .common.point_count = 1,
        .common.env = {.kind = TACIT_ENV_BERNOULLI,
                       .row_count = tacit_rng_bernoulli(&rng, 0.5) ? agents : 1,
                       .arm_count = arms,
                       .means = world->means},
        .server_link_cost = 25,
        .peer_link_cost = 3};
    world->sim.mechanism = make_mechanism(&rng, &world->sim.epsilon_per_reward);
    world->sim.has_grants = world->sim.mechanism.scale.kind != TACIT_SCALE_REAL;
    world->faults = make_faults(&rng, horizon);
    world->sim.faults = &world->faults;
    make_network(world, &rng, agents);
    if (tacit_rng_bernoulli(&rng, 0.4))
        cut_off_some(world, &rng);
    if (world->sim_network.collection == TACIT_ELIM_GATHER)
        make_hub(world, &rng);
}

/* Is somebody among the holders of each of these agents who is not one of them? */
static bool have_holders(const struct world *world, uint64_t copied)
{
    struct tacit_elim_network const *const network = &world->sim_network;
    bool const spreads = network->collection == TACIT_ELIM_SPREAD;
    for (uint32_t agent = 0; agent < world->sim.common.agent_count; agent++) {
        uint32_t const parent = spreads ? TACIT_NO_AGENT : network->parent[agent];
        uint64_t holders = 0;
        for (uint64_t i = network->graph->first[agent];
             spreads && i < network->graph->first[agent + 1]; i++)
            holders |= UINT64_C(1) << network->graph->neighbours[i];
        if (!spreads) /* a sink's are the hub's, which forgets nothing */
            holders = parent == TACIT_NO_AGENT ? UINT64_MAX : UINT64_C(1) << parent;
        if ((copied >> agent & 1) != 0 && (holders & ~copied) == 0)
            return false;
    }
    return true;
}

/* Copies of some agents, so that what is promised holds. */
static void make_copies(struct world *world, struct tacit_rng *rng)
{
    uint64_t const all = (UINT64_C(1) << world->sim.common.agent_count) - 1;
    do
        world->copied[0] = tacit_rng_next(rng) & all;
    while (world->copied[0] == 0 || !have_holders(world, world->copied[0]));
    world->faults.copied = world->copied;
    world->faults.agent_backups = (uint32_t)tacit_rng_below(rng, 5);
    world->faults.clones = (uint32_t)tacit_rng_below(rng, 4);
}

/* A ring, or a hybrid, in sound mode. Requires: world_close after use. */
static void make_schedule(struct world *world, uint64_t seed)
{
    struct tacit_rng rng = tacit_rng_stream(seed, 1, 1, TACIT_PURPOSE_INSTANCE);
    make_world(world, seed);
    uint32_t const agents = 3 + (uint32_t)tacit_rng_below(&rng, 4);
    bool const is_hybrid = tacit_rng_bernoulli(&rng, 0.3);
    struct tacit_graph_spec const ring = {.kind = TACIT_GRAPH_RING, .agent_count = agents};
    struct tacit_mechanism_config const config = {TACIT_PRIVACY_SOUND,
                                                  world->sim.epsilon_per_reward, 0, 1};
    world_close(world);
    world->network = is_hybrid ? network_random_hybrid(agents, &rng) : network_new(&ring, 1, 1);
    world->sim_network =
        network_for_sim(world->network, is_hybrid ? TACIT_ELIM_GATHER : TACIT_ELIM_SPREAD);
    world->sim.common.agent_count = world->sim.report_count = agents;
    for (uint32_t i = 0; i < agents * ARMS_MAX; i++)
        world->means[i] = tacit_rng_uniform(&rng);
    world->sim.common.env.row_count = 1;
    world->sim.quorum = 0;
    world->sim.gather_timeout_us = 0; /* a group is whole, or waited for */
    assert_int_equal(tacit_mechanism_init(&world->sim.mechanism, &config), TACIT_OK);
    world->sim.has_grants = true;
    world->sim.round_limit = 0;
    world->faults.lost_agents = 0;
    world->faults.cut_off = NULL;
    make_copies(world, &rng);
}

/* A second world of the same make, for another variant of the run. */
static void make_variant(struct world *world, uint64_t seed)
{
    make_world(world, seed);
}

/* ---- Playing --------------------------------------------------------------------------------- */

typedef void meddle_fn(void *context, uint32_t agent, struct tacit_elim_agent *state,
                       struct tacit_elim_update *update);

/* What a peer with a bug really does, and salts that are not; set by one test at a time. */
typedef void meddle_peer_fn(void *context, uint32_t agent, struct tacit_elim_peer *state,
                            struct tacit_elim_table *table, const struct tacit_elim_event *event,
                            struct tacit_elim_update *update);
static meddle_peer_fn *meddle_peer;
static const struct tacit_entropy *all_salts;
static const struct tacit_elim_seals *all_seals;
static void (*change_event)(void *context, uint32_t node, const struct tacit_elim_event *event);

/* What stands between the run and the checkers; set by one test at a time. */
static struct {
    struct elim_observer honest;
    uint32_t liar; /* what it says to its neighbours is not shown; TACIT_NO_AGENT: nobody's */
    void (*hub_bug)(struct tacit_elim_hub_view *view);
    void (*peer_bug)(struct tacit_elim_peer_view *view);
    uint64_t known[AGENTS_MAX]; /* what each peer held last */
    uint64_t hub_lacks;         /* whose reports the hub still waited for, when it last said so */
    uint32_t data_count;
    uint32_t grants;
    uint32_t refusals;
    uint32_t confirmed;             /* peers that came to say an answer with all others' word */
    uint64_t differing[AGENTS_MAX]; /* who holds other rows, as each of them takes it */
    uint32_t proofs;
    uint64_t provers; /* who holds a proof of the liar's, .. */
    uint64_t accused; /* .. and of whom there is one */
} show = {.liar = TACIT_NO_AGENT};

static void show_hub(void *context, const struct tacit_elim_hub *state)
{
    struct tacit_elim_hub_view view;
    tacit_elim_hub_look(state, &view);
    if (show.hub_bug != NULL)
        show.hub_bug(&view);
    show.hub_lacks = view.uploaders[0] & ~view.received[0];
    show.honest.hub_persisted(context, state);
}

static void show_peer(void *context, uint32_t agent, const struct tacit_elim_peer *state)
{
    struct tacit_elim_peer_view view;
    tacit_elim_peer_look(state, &view);
    if (show.peer_bug != NULL)
        show.peer_bug(&view);
    show.known[agent] = view.known[0];
    show.confirmed += view.confirms && view.confirmed && view.missing_count == 0 ? 1 : 0;
    show.differing[agent] = view.differing == NULL ? 0 : view.differing[0];
    show.proofs += view.proof == NULL ? 0 : 1;
    if (view.proof != NULL) {
        show.provers |= UINT64_C(1) << agent;
        show.accused |= UINT64_C(1) << view.proof->agent;
    }
    show.honest.peer_persisted(context, agent, state);
}

static void show_message(void *context, const struct tacit_elim_message *message)
{
    show.data_count += message->kind == TACIT_ELIM_DATA ? 1 : 0;
    show.grants += message->kind == TACIT_ELIM_GRANT ? 1 : 0;
    show.refusals += message->kind == TACIT_ELIM_REFUSAL ? 1 : 0;
    bool const is_hidden = show.liar != TACIT_NO_AGENT && message->from == show.liar &&
                           message->kind != TACIT_ELIM_REPORT && message->kind != TACIT_ELIM_GRANT;
    if (!is_hidden)
        show.honest.sent(context, message);
}

/* Plays the world under checkers that were told of `told`; the first broken promise is in `fault`,
 * or "". */
static void play_as(struct world *world, const struct elim_sim *told, meddle_fn *meddle,
                    char fault[400])
{
    struct elim_checker *const checker = elim_checker_new(told);
    struct tacit_sim_results const results = {.metrics = world->metrics,
                                              .regret = world->regret,
                                              .eliminated = world->eliminated,
                                              .finished = world->finished};
    struct tacit_sim_control control = {0};
    bool healed = false;
    assert_non_null(checker);
    show.honest = elim_checker_observer(checker);
    show.data_count = 0;
    world->observer = show.honest;
    world->observer.meddle = meddle;
    world->observer.hub_persisted = show_hub;
    world->observer.peer_persisted = show_peer;
    world->observer.meddle_peer = meddle_peer;
    world->observer.salts = all_salts;
    if (change_event != NULL)
        world->observer.stepping = change_event;
    world->observer.seals = all_seals;
    world->observer.sent = show_message;
    world->sim.hooks = elim_observe(&world->observer);
    enum tacit_status const status = elim_sim_run_one(&world->sim, 0, &results, &control, &healed);
    if (status == TACIT_OK && show.liar == TACIT_NO_AGENT)
        elim_checker_finish(checker, &results, 0);
    char const *const broken = elim_checker_fault(checker);
    fault[0] = '\0';
    if (broken != NULL)
        (void)snprintf(fault, 400, "%s", broken);
    else if (status != TACIT_OK)
        (void)snprintf(fault, 400, "the run failed: %s", tacit_status_text(status));
    else if (!healed)
        (void)snprintf(
            fault, 400,
            "the faults are over, but not every agent that is there reached the horizon");
    elim_checker_free(checker);
}

static void play(struct world *world, meddle_fn *meddle, char fault[400])
{
    play_as(world, &world->sim, meddle, fault);
}

static void play_well(struct world *world)
{
    char fault[400];
    play(world, NULL, fault);
    assert_string_equal(fault, "");
}

/* ---- The swarm ------------------------------------------------------------------------------- */

static bool seed_is_good(uint64_t seed)
{
    struct world world;
    char fault[400];
    make_world(&world, seed);
    play(&world, NULL, fault);
    world_close(&world);
    if (fault[0] == '\0')
        return true;
    print_message("replay: %s --seed %llu\n", program_name, (unsigned long long)seed);
    print_message("seed %llu: %s\n", (unsigned long long)seed, fault);
    return false;
}

static bool schedule_is_good(uint64_t seed)
{
    struct world world;
    char fault[400];
    make_schedule(&world, seed);
    play(&world, NULL, fault);
    world_close(&world);
    if (fault[0] == '\0')
        return true;
    print_message("replay: %s --schedule %llu\n", program_name, (unsigned long long)seed);
    print_message("schedule %llu: %s\n", (unsigned long long)seed, fault);
    return false;
}

/* No reward enters two draws of which anything leaves; what leaves opens what all holders granted;
 * the ledger of each state shows its own draws; one release an epoch; and every agent comes to T.
 */
static void no_reward_leaves_twice_whatever_comes_back(void **state)
{
    uint32_t bad = 0;
    (void)state;
    show.grants = 0;
    show.refusals = 0;
    for (uint64_t seed = 1; seed <= schedule_count; seed++)
        bad += schedule_is_good(seed) ? 0 : 1;
    assert_int_equal(bad, 0);
    assert_true(show.grants > 2 * schedule_count);   /* something happened, .. */
    assert_true(show.refusals > schedule_count / 2); /* .. and would have gone wrong */
}

static void every_seed_keeps_every_promise_and_ends(void **state)
{
    (void)state;
    uint32_t bad = 0;
    for (uint64_t seed = 1; seed <= seed_count; seed++)
        bad += seed_is_good(seed) ? 0 : 1;
    assert_int_equal(bad, 0);
}

/* The swarm is only worth something if its faults really happen, and if rounds are judged all the
 * same. */
static void worlds_have_faults_and_rounds(void **state)
{
    (void)state;
    uint32_t spread = 0;
    uint32_t gathered = 0;
    uint32_t cut = 0;
    uint32_t lost = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world world;
        make_world(&world, seed);
        play_well(&world);
        bool const has_rounds = world.metrics[ELIM_ROUNDS] >= 2;
        bool const has_peers = world.sim.common.agent_count > 2;
        bool const spreads = world.sim_network.collection == TACIT_ELIM_SPREAD;
        spread += has_rounds && has_peers && spreads ? 1 : 0;
        gathered += has_rounds && has_peers && !spreads ? 1 : 0;
        cut += has_rounds && world.faults.cut_off != NULL ? 1 : 0;
        lost += has_rounds && world.faults.lost_agents > 0 ? 1 : 0;
        world_close(&world);
    }
    assert_true(spread > 40);
    assert_true(gathered > 40);
    assert_true(cut > 30);
    assert_true(lost > 5);
}

/* ---- Faults change nothing that is learnt ---------------------------------------------------- */

/* Everything but the network works: what is released is then the same, run by run. */
static void leave_network_faults(struct world *world)
{
    world->faults.agent_crash = 0;
    world->faults.hub_crash = 0;
    world->faults.noise_failure = 0;
    world->faults.lost_agents = 0;
    world->faults.plan_parts = 1;
    world->faults.delay_us_max = 3; /* waiting costs slots: too many would move the cut at T */
    world->sim.quorum = 0;
    world->sim.gather_timeout_us = 0;
}

static void expect_same_eliminations(const struct world *faulty, const struct world *clean)
{
    uint32_t const rounds = (uint32_t)faulty->metrics[ELIM_ROUNDS];
    for (uint32_t arm = 0; arm < clean->sim.common.env.arm_count; arm++)
        if (clean->eliminated[arm] > 0 && clean->eliminated[arm] <= rounds)
            assert_int_equal(faulty->eliminated[arm], clean->eliminated[arm]);
}

static void network_faults_alone_change_no_elimination(void **state)
{
    (void)state;
    uint32_t rounds = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world faulty;
        struct world clean;
        make_world(&faulty, seed);
        make_variant(&clean, seed);
        leave_network_faults(&faulty);
        leave_network_faults(&clean);
        clean.sim.faults = NULL;
        play_well(&faulty);
        play_well(&clean);
        expect_same_eliminations(&faulty, &clean);
        rounds += (uint32_t)faulty.metrics[ELIM_ROUNDS];
        world_close(&faulty);
        world_close(&clean);
    }
    assert_true(rounds > 200);
}

/* With faults there is no clock that ends a round; where none happens, the decisions are those of
 * the clock. */
static void run_without_a_clock_decides_as_one_with_it(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct world free_running;
        struct world clocked;
        make_world(&free_running, seed);
        make_variant(&clocked, seed);
        leave_network_faults(&free_running);
        leave_network_faults(&clocked);
        free_running.faults = (struct tacit_sim_faults){.plan_parts = 1};
        clocked.sim.faults = NULL;
        play_well(&free_running);
        play_well(&clocked);
        expect_same_eliminations(&free_running, &clocked);
        expect_same_eliminations(&clocked, &free_running);
        world_close(&free_running);
        world_close(&clocked);
    }
}

static void own_tables_and_a_shared_one_give_the_same_results(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world own;
        struct world shared;
        make_world(&own, seed);
        make_variant(&shared, seed);
        own.sim.faults = NULL;
        shared.sim.faults = NULL;
        own.sim.own_tables = true;
        play_well(&own);
        play_well(&shared);
        assert_memory_equal(own.metrics, shared.metrics, sizeof own.metrics);
        assert_memory_equal(own.regret, shared.regret, sizeof own.regret);
        assert_memory_equal(own.eliminated, shared.eliminated, sizeof own.eliminated);
        world_close(&own);
        world_close(&shared);
    }
}

/* As a user's run, in which nobody looks on: there commitments are numbers, and hashes where
 * somebody does. */
static void play_unwatched(struct world *world)
{
    struct tacit_sim_results const results = {.metrics = world->metrics,
                                              .regret = world->regret,
                                              .eliminated = world->eliminated,
                                              .finished = world->finished};
    struct tacit_sim_control control = {0};
    bool healed = false;
    world->sim.sends_messages = true;
    world->sim.hooks = NULL;
    assert_int_equal(elim_sim_run_one(&world->sim, 0, &results, &control, &healed), TACIT_OK);
    assert_true(healed);
}

static void no_figure_tells_whether_commitments_were_hashed(void **state)
{
    double controls[2] = {0, 0};
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct world watched;
        struct world unwatched;
        make_schedule(&watched, seed);
        make_schedule(&unwatched, seed);
        watched.sim.faults = NULL;
        unwatched.sim.faults = NULL;
        play_well(&watched);
        play_unwatched(&unwatched);
        assert_memory_equal(watched.metrics, unwatched.metrics, sizeof watched.metrics);
        assert_memory_equal(watched.regret, unwatched.regret, sizeof watched.regret);
        assert_memory_equal(watched.eliminated, unwatched.eliminated, sizeof watched.eliminated);
        controls[watched.sim_network.collection == TACIT_ELIM_SPREAD] +=
            unwatched.metrics[ELIM_CONTROL_BYTES];
        world_close(&watched);
        world_close(&unwatched);
    }
    assert_true(controls[0] > 0 && controls[1] > 0);
}

/* ---- Who is cut off -------------------------------------------------------------------------- */

/* A path of six whose halves do not hear each other from the start; nothing else goes wrong. */
static void make_halves(struct world *world, uint64_t seed, uint64_t until_us)
{
    static const struct tacit_graph_spec path = {.kind = TACIT_GRAPH_PATH, .agent_count = 6};
    make_world(world, seed);
    world_close(world);
    world->network = network_new(&path, 1, 1);
    world->sim_network = network_for_sim(world->network, TACIT_ELIM_SPREAD);
    world->cut_off[0] = 7;
    world->faults = (struct tacit_sim_faults){.plan_parts = 1,
                                              .cut_off = world->cut_off,
                                              .cut_off_until_us = until_us,
                                              .healed_at_us = until_us};
    world->sim.common.agent_count = world->sim.report_count = 6;
    world->sim.common.horizon = world->points[0] = 200000;
    world->sim.round_limit = 0;
    world->sim.common.env.row_count = 1;
    world->sim.quorum = 0;
    world->sim.round_timeout_us = 0;
    world->sim.gather_timeout_us = 0;
}

static void halves_of_a_graph_wait_for_each_other_and_say_for_whom(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct world world;
        make_halves(&world, seed, UINT64_MAX);
        play_well(&world); /* all play until T all the same */
        assert_true(world.metrics[ELIM_ROUNDS] == 0);
        for (uint32_t agent = 0; agent < 6; agent++) /* 2 and 3 hold each other's grants */
            assert_int_equal(show.known[agent], world.sim.has_grants ? agent < 3 ? 3 : 48
                                                : agent < 3          ? 7
                                                                     : 56);
        world_close(&world);
    }
}

static void halves_that_find_each_other_again_go_on(void **state)
{
    (void)state;
    uint32_t decided = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct world world;
        make_halves(&world, seed, 20000);
        play_well(&world);
        assert_true(world.metrics[ELIM_ROUNDS] >= 1);
        decided += world.metrics[ELIM_ROUNDS] >= 2 ? 1 : 0;
        world_close(&world);
    }
    assert_true(decided > 15);
}

/* ---- Sinks that go --------------------------------------------------------------------------- */

/* Two stars, of four and of three agents; their centres, 0 and 4, are their sinks. 0 goes at a
 * random time before `until_us` for good. */
static void make_stars(struct world *world, uint64_t seed, uint64_t until_us)
{
    static const struct tacit_graph_spec stars[] = {{.kind = TACIT_GRAPH_STAR, .agent_count = 4},
                                                    {.kind = TACIT_GRAPH_STAR, .agent_count = 3}};
    make_halves(world, seed, 0);
    world_close(world);
    world->network = network_new(stars, 2, 1);
    assert_int_equal(world->network->components[0].sink, 0);
    world->sim_network = network_for_sim(world->network, TACIT_ELIM_GATHER);
    world->sim.common.agent_count = world->sim.report_count = 7;
    world->faults = (struct tacit_sim_faults){
        .plan_parts = 1, .lost_agents = until_us > 0 ? 1 : 0, .healed_at_us = until_us};
}

static void hub_waits_for_the_sink_that_is_gone_and_names_it(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct world world;
        make_stars(&world, seed, 1);
        world.sim.round_timeout_us = 5000; /* without a quorum, it only says so */
        play_well(&world);
        assert_true(world.metrics[ELIM_ROUNDS] == 0);
        assert_int_equal(show.hub_lacks, 1);
        world_close(&world);
    }
}

static void hub_goes_on_with_the_quorum_when_a_sink_is_gone(void **state)
{
    (void)state;
    uint32_t decided = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct world world;
        make_stars(&world, seed, 1);
        world.sim.round_timeout_us = 5000;
        world.sim.quorum = 3; /* the other component */
        play_well(&world);
        decided += world.metrics[ELIM_ROUNDS] >= 2 ? 1 : 0;
        world.sim.quorum = 4; /* is one agent too few */
        play_well(&world);
        assert_true(world.metrics[ELIM_ROUNDS] == 0);
        world_close(&world);
    }
    assert_true(decided > 15);
}

/* Rewards and releases that are the same however often something is done again. */
static void leave_no_chance(struct world *world)
{
    struct tacit_mechanism_config const config = {TACIT_PRIVACY_SOUND, INFINITY, 0, 1};
    assert_int_equal(tacit_mechanism_init(&world->sim.mechanism, &config), TACIT_OK);
    world->sim.epsilon_per_reward = INFINITY;
    world->sim.common.env.kind = TACIT_ENV_CONSTANT;
}

/* Sinks and all others die again and again, at every boundary of their steps, and come back with
 * what was durable: nothing is lost but time. */
static void sinks_that_come_back_with_their_disks_go_on(void **state)
{
    (void)state;
    uint32_t decided = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct world world;
        struct world clean;
        make_stars(&world, seed, 0);
        make_stars(&clean, seed, 0);
        leave_no_chance(&world);
        leave_no_chance(&clean);
        world.faults.agent_crash = 0.2;
        world.faults.hub_crash = 0.2;
        world.faults.down_us_max = 500;
        world.faults.healed_at_us = world.sim.common.horizon;
        clean.sim.faults = NULL;
        play_well(&world);
        play_well(&clean);
        expect_same_eliminations(&world, &clean);
        decided += world.metrics[ELIM_ROUNDS] >= 2 ? 1 : 0;
        world_close(&world);
        world_close(&clean);
    }
    assert_true(decided > 30);
}

/* A leaf that never comes is not waited for when the sink has a time limit: the others' reports go
 * to the hub without it. */
static void sink_with_a_time_limit_reports_without_the_leaf_that_is_gone(void **state)
{
    static const struct tacit_graph_spec path = {.kind = TACIT_GRAPH_PATH, .agent_count = 5};
    (void)state;
    uint32_t decided = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct world world;
        make_stars(&world, seed, 1);
        world_close(&world);
        world.network = network_new(&path, 1, 1); /* 0 is a leaf, 2 the sink */
        world.sim_network = network_for_sim(world.network, TACIT_ELIM_GATHER);
        world.sim.common.agent_count = world.sim.report_count = 5;
        play_well(&world);
        assert_true(world.metrics[ELIM_ROUNDS] == 0);
        world.sim.gather_timeout_us = 2000;
        play_well(&world);
        decided += world.metrics[ELIM_ROUNDS] >= 2 ? 1 : 0;
        world_close(&world);
    }
    assert_true(decided > 15);
}

/* ---- A peer that does not keep the rules ----------------------------------------------------- */

static uint64_t storm_set[1];
static union tacit_sum storm_rows[AGENTS_MAX * ARMS_MAX];
static uint32_t storm_count;

/* Agent 0 has something to say in every step: it advertises what it has said before, or sends rows
 * that nobody asked for and that nobody released. */
static void make_a_storm(void *context, uint32_t agent, struct tacit_elim_agent *state,
                         struct tacit_elim_update *update)
{
    static uint64_t arms[1];
    struct tacit_elim_agent_view view;
    (void)context;
    tacit_elim_agent_look(state, &view);
    if (agent != 0 || update->send || view.halted || view.releasing ||
        view.release_epoch != view.epoch)
        return;
    storm_set[0] = 1;
    arms[0] = view.arms[0];
    update->send = true;
    update->message = (struct tacit_elim_message){.kind = storm_count++ % 2 == 0 ? TACIT_ELIM_ADVERT
                                                                                 : TACIT_ELIM_DATA,
                                                  .from = 0,
                                                  .to = TACIT_NEIGHBOURS,
                                                  .run_id = 1,
                                                  .epoch = view.epoch,
                                                  .pulls = 7,
                                                  .origins = storm_set};
    if (update->message.kind != TACIT_ELIM_DATA)
        return;
    update->message.arms = arms;
    update->message.sum_count = view.active_count;
    update->message.sums = storm_rows;
}

static void storm_of_a_peer_changes_nothing_that_others_learn(void **state)
{
    (void)state;
    uint32_t rounds = 0;
    uint32_t storms = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world world;
        struct world clean;
        char fault[400];
        make_world(&world, seed);
        make_variant(&clean, seed);
        leave_network_faults(&world);
        leave_network_faults(&clean);
        show.liar = 0;
        storm_count = 0;
        play(&world, make_a_storm, fault);
        show.liar = TACIT_NO_AGENT;
        assert_string_equal(fault, "");
        storms += storm_count > 10 ? 1 : 0;
        play_well(&clean);
        expect_same_eliminations(&world, &clean);
        rounds += (uint32_t)world.metrics[ELIM_ROUNDS];
        world_close(&world);
        world_close(&clean);
    }
    assert_true(rounds > 300);
    assert_true(storms > 100);
}

/* ---- Planted bugs ---------------------------------------------------------------------------- */

static void (*break_world)(struct world *world);

/* Counts the seeds in which the checkers say these words. */
static uint32_t count_catches(meddle_fn *meddle, const char *words)
{
    uint32_t well_said = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world world;
        char fault[400];
        make_world(&world, seed);
        struct elim_sim const told = world.sim;
        struct tacit_elim_network const told_network = world.sim_network;
        struct elim_sim seen = told;
        seen.network = &told_network;
        if (break_world != NULL)
            break_world(&world);
        play_as(&world, &seen, meddle, fault);
        well_said += strstr(fault, words) == NULL ? 0 : 1;
        world_close(&world);
    }
    return well_said;
}

/* The driver forgets to persist before it speaks: after a crash the release is drawn again. */
static void forget_to_persist_a_release(void *context, uint32_t agent,
                                        struct tacit_elim_agent *state,
                                        struct tacit_elim_update *update)
{
    (void)context;
    (void)agent;
    (void)state;
    if (update->send && update->persist_table)
        update->persist = update->persist_table = false;
}

static void a_report_that_is_said_to_be_here_before_it_is_durable_is_caught(void **state)
{
    (void)state;
    assert_true(count_catches(forget_to_persist_a_release, "durable") > 150);
}

/* The core noises its history afresh whenever it speaks of it. */
static void redraw_when_speaking(void *context, uint32_t agent, struct tacit_elim_agent *state,
                                 struct tacit_elim_update *update)
{
    struct tacit_elim_agent_view view;
    (void)context;
    (void)agent;
    tacit_elim_agent_look(state, &view);
    if (!update->send || update->persist || view.release_epoch == 0)
        return;
    union tacit_sum *const noised = (union tacit_sum *)(uintptr_t)view.noised;
    noised[tacit_bits_next(view.arms, ARMS_MAX, 0)].steps += 1; /* another draw */
    update->persist = true;
}

static void a_release_that_is_drawn_again_is_caught(void **state)
{
    (void)state;
    assert_true(count_catches(redraw_when_speaking, "drawn twice") > 60);
}

/* Copies the rows of a DATA message, packed, to where they can be altered. */
static union tacit_sum *unpack_rows(struct tacit_elim_message *data)
{
    static union tacit_sum rows[AGENTS_MAX * ARMS_MAX];
    static struct tacit_elim_opening openings[AGENTS_MAX];
    uint32_t rank = 0;
    for (uint32_t origin = 0; origin < AGENTS_MAX; origin++) {
        if (!tacit_bits_has(data->origins, origin))
            continue;
        memcpy(rows + (size_t)rank * data->sum_count,
               data->sums + (size_t)(data->row_stride > 0 ? origin : rank) *
                                (data->row_stride > 0 ? data->row_stride : data->sum_count),
               data->sum_count * sizeof *rows);
        if (data->openings != NULL)
            openings[rank] = data->openings[data->row_stride > 0 ? origin : rank];
        rank++;
    }
    data->sums = rows;
    data->openings = data->openings == NULL ? NULL : openings;
    data->row_stride = 0;
    data->rows_stay = false;
    return rows;
}

static void alter_a_row_on_its_way(void *context, uint32_t agent, struct tacit_elim_agent *state,
                                   struct tacit_elim_update *update)
{
    (void)context;
    (void)agent;
    (void)state;
    if (update->send && update->message.kind == TACIT_ELIM_DATA)
        unpack_rows(&update->message)[0].steps ^= 1;
}

static void a_row_that_is_altered_on_its_way_is_caught(void **state)
{
    (void)state;
    assert_true(count_catches(alter_a_row_on_its_way, "what was not released") > 120);
}

static void claim_another_count_of_pulls(void *context, uint32_t agent,
                                         struct tacit_elim_agent *state,
                                         struct tacit_elim_update *update)
{
    (void)context;
    (void)agent;
    (void)state;
    if (update->send && update->message.kind == TACIT_ELIM_DATA)
        update->message.pulls++;
}

static void data_of_another_order_is_caught(void **state)
{
    (void)state;
    assert_true(count_catches(claim_another_count_of_pulls, "did not order") > 120);
}

/* A sink adds its own report once more. */
static void count_the_sink_twice(void *context, uint32_t agent, struct tacit_elim_agent *state,
                                 struct tacit_elim_update *update)
{
    static union tacit_sum sums[ARMS_MAX];
    struct tacit_elim_agent_view view;
    uint32_t rank = 0;
    (void)context;
    (void)agent;
    if (!update->send || update->message.kind != TACIT_ELIM_REPORT)
        return;
    tacit_elim_agent_look(state, &view);
    for (uint32_t arm = 0; arm < ARMS_MAX; arm++) {
        if (!tacit_bits_has(update->message.arms, arm))
            continue;
        sums[rank] = update->message.sums[rank];
        sums[rank].steps = /* whatever they are: other bits */
            (int64_t)((uint64_t)sums[rank].steps + (uint64_t)view.noised[arm].steps);
        rank++;
    }
    update->message.sums = sums;
}

static void an_agent_that_is_counted_twice_at_a_sink_is_caught(void **state)
{
    (void)state;
    assert_true(count_catches(count_the_sink_twice, "is not that of its agents") > 60);
}

static void claim_one_agent_more(void *context, uint32_t agent, struct tacit_elim_agent *state,
                                 struct tacit_elim_update *update)
{
    (void)context;
    (void)agent;
    (void)state;
    if (update->send && update->message.kind == TACIT_ELIM_REPORT)
        update->message.agents++;
}

static void a_sink_that_claims_an_agent_more_is_caught(void **state)
{
    (void)state;
    assert_true(count_catches(claim_one_agent_more, "and holds") > 60);
}

/* The hub weighs components in the other way than it is told. */
static void weigh_the_other_way(struct world *world)
{
    world->sim_network.components_alike = !world->sim_network.components_alike;
}

static void a_mean_with_other_weights_is_caught(void **state)
{
    (void)state;
    break_world = weigh_the_other_way;
    uint32_t const caught = count_catches(NULL, "is not that of the reports");
    break_world = NULL;
    assert_true(caught > 30);
}

static void shift_a_mean(struct tacit_elim_peer_view *view)
{
    double *const means = (double *)(uintptr_t)view->means;
    if (means != NULL && view->round_count > 0)
        means[tacit_bits_next(view->arms, ARMS_MAX, 0)] += 1e-9;
}

static void lose_an_arm(struct tacit_elim_peer_view *view)
{
    uint64_t *const arms = (uint64_t *)(uintptr_t)view->arms;
    if (arms != NULL && view->round_count > 0)
        tacit_bits_remove(arms, tacit_bits_next(arms, ARMS_MAX, 0));
}

static uint32_t peer_catches(void (*bug)(struct tacit_elim_peer_view *), const char *words)
{
    show.peer_bug = bug;
    uint32_t const caught = count_catches(NULL, words);
    show.peer_bug = NULL;
    return caught;
}

static void a_judge_that_errs_is_caught(void **state)
{
    (void)state;
    assert_true(peer_catches(shift_a_mean, "a mean of epoch") > 60);
}

static void arms_that_do_not_follow_are_caught(void **state)
{
    (void)state;
    assert_true(peer_catches(lose_an_arm, "do not follow") > 60);
}

static void spend_twice(void *context, uint32_t agent, struct tacit_elim_agent *state,
                        struct tacit_elim_update *update)
{
    struct tacit_elim_agent_view view;
    (void)context;
    (void)agent;
    tacit_elim_agent_look(state, &view);
    struct tacit_ledger *const ledger = (struct tacit_ledger *)(uintptr_t)view.ledger;
    if (!update->send || !update->persist_table || ledger->release_count == 0)
        return;
    ledger->budget_nano = UINT64_MAX / 2;
    (void)tacit_ledger_spend(ledger, view.release_epoch,
                             ledger->gross_nano / ledger->release_count);
}

static void a_double_spend_is_caught(void **state)
{
    (void)state;
    assert_true(count_catches(spend_twice, "the ledger shows") > 120);
}

static void pull_an_eliminated_arm(void *context, uint32_t agent, struct tacit_elim_agent *state,
                                   struct tacit_elim_update *update)
{
    struct tacit_elim_agent_view view;
    (void)context;
    (void)agent;
    tacit_elim_agent_look(state, &view);
    for (uint32_t arm = 0; update->plan_count > 0 && arm < 2; arm++)
        if (!tacit_bits_has(view.arms, arm))
            ((struct tacit_pull_block *)(uintptr_t)update->plan)->arm = arm;
}

static void a_pull_of_an_eliminated_arm_is_caught(void **state)
{
    (void)state;
    assert_true(count_catches(pull_an_eliminated_arm, "which was eliminated") > 30);
}

/* ---- Seals ---- */

/* A seal that only this agent can make, as long as nobody looks in here. */
static void make_seal(uint32_t agent, const uint8_t digest[TACIT_SHA256_BYTES],
                      uint8_t seal[TACIT_ELIM_SEAL_BYTES])
{
    uint8_t const key[TACIT_SHA256_BYTES] = {(uint8_t)(agent + 1), 77};
    struct tacit_hmac hmac = tacit_hmac_init(key);
    memset(seal, 0, TACIT_ELIM_SEAL_BYTES);
    tacit_hmac_update(&hmac, digest, TACIT_SHA256_BYTES);
    tacit_hmac_final(&hmac, seal);
}

static bool sign_seal(void *context, uint32_t agent, const uint8_t digest[TACIT_SHA256_BYTES],
                      uint8_t seal[TACIT_ELIM_SEAL_BYTES])
{
    (void)context;
    make_seal(agent, digest, seal);
    return true;
}

static bool check_seal(void *context, uint32_t agent, const uint8_t digest[TACIT_SHA256_BYTES],
                       const uint8_t seal[TACIT_ELIM_SEAL_BYTES])
{
    uint8_t ours[TACIT_ELIM_SEAL_BYTES];
    (void)context;
    make_seal(agent, digest, ours);
    return memcmp(ours, seal, sizeof ours) == 0;
}

static const struct tacit_elim_seals good_seals = {NULL, sign_seal, check_seal};

/* Plays this schedule, if it is one over a ring, with seals. */
static bool play_sealed(uint64_t seed, char fault[400])
{
    struct world world;
    make_schedule(&world, seed);
    bool const is_ring = world.sim_network.collection == TACIT_ELIM_SPREAD;
    memset(show.differing, 0, sizeof show.differing);
    all_seals = &good_seals;
    if (is_ring)
        play(&world, NULL, fault);
    all_seals = NULL;
    world_close(&world);
    return is_ring;
}

/* As schedule_is_good; what is not a ring is good. */
static bool sealed_schedule_is_good(uint64_t seed)
{
    char fault[400] = "";
    (void)play_sealed(seed, fault);
    if (fault[0] == '\0')
        return true;
    print_message("replay: %s --sealed %llu\n", program_name, (unsigned long long)seed);
    print_message("sealed schedule %llu: %s\n", (unsigned long long)seed, fault);
    return false;
}

/* Whatever is lost, copied or put back: all promises hold, everybody comes to T, nobody is taken
 * for one that holds other rows, and nothing is proved of anybody. */
static void members_that_compare_what_they_hold_come_to_one_answer(void **state)
{
    uint32_t rings = 0;
    (void)state;
    show.confirmed = show.proofs = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        char fault[400] = "";
        rings += play_sealed(seed, fault) ? 1 : 0;
        assert_string_equal(fault, "");
        for (uint32_t agent = 0; agent < AGENTS_MAX; agent++)
            assert_true(show.differing[agent] == 0);
    }
    assert_int_equal(show.proofs, 0);
    assert_true(rings > 30);
    assert_true(show.confirmed > rings);
}

/* Agent 0 says of all rounds but none that it holds something else. */
static void say_other_history(void *context, uint32_t agent, struct tacit_elim_peer *peer,
                              struct tacit_elim_table *table, const struct tacit_elim_event *event,
                              struct tacit_elim_update *update)
{
    (void)context, (void)peer, (void)table, (void)event;
    if (agent == 0 && update->send && update->message.has_history &&
        update->message.history.rounds > 0)
        update->message.history.digest[5] ^= 1;
}

/* Its neighbours name it, and they alone: it is not proved who of the two lies. */
static void member_that_says_that_it_holds_other_rows_is_named(void **state)
{
    uint32_t rings = 0;
    uint32_t named = 0;
    (void)state;
    show.proofs = 0;
    show.liar = 0;
    meddle_peer = say_other_history;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        char fault[400] = "";
        if (!play_sealed(seed, fault))
            continue;
        rings++;
        for (uint32_t agent = 1; agent < AGENTS_MAX; agent++) {
            named += show.differing[agent] == 1 ? 1 : 0;
            assert_true(show.differing[agent] <= 1); /* nobody honest */
        }
    }
    meddle_peer = NULL;
    show.liar = TACIT_NO_AGENT;
    assert_int_equal(show.proofs, 0);
    assert_true(named > rings);
}

/* Agent 0 of a ring commits to two rows in the first epoch, and shows each neighbour its own: what
 * it drew, and zeros to the last agent. It does what a peer does besides. */
static struct {
    uint32_t other;                   /* who sees zeros */
    const struct elim_sim *sim;       /* for what a commitment is made for */
    struct tacit_commit drawn, zeros; /* its two commitments */
    struct tacit_commit shown;        /* scratch, as the next */
    struct tacit_elim_message granted;
} split;

static struct tacit_elim_agent_config split_config(void)
{
    return elim_run_agent_config(split.sim, 1, 0);
}

static void commit_to_zeros(const struct tacit_elim_peer *state, struct tacit_elim_message *commit)
{
    static const union tacit_sum zeros[ARMS_MAX];
    struct tacit_elim_agent_config const config = split_config();
    struct tacit_elim_peer_view view;
    uint8_t digest[TACIT_SHA256_BYTES];
    struct tacit_commit_scope const scope = {
        .domain = config.domain, .run_id = commit->run_id, .site = 0, .epoch = commit->epoch};
    tacit_elim_peer_look(state, &view);
    elim_release_digest(view.agent.pulls, view.agent.arms, config.arm_count, zeros,
                        tacit_bits_count(view.agent.arms, config.arm_count), digest);
    split.drawn = *commit->commit;
    split.zeros = (struct tacit_commit){.salt = {77}};
    tacit_commit_hash(&scope, &split.zeros, digest, sizeof digest, split.zeros.commitment);
    split.shown = split.zeros;
    commit->commit = &split.shown;
    commit->to = split.other;
}

static void show_zeros(struct tacit_elim_message *data)
{
    static struct tacit_elim_opening openings[AGENTS_MAX];
    struct tacit_elim_agent_config const config = split_config();
    uint8_t digest[TACIT_SHA256_BYTES];
    memset(unpack_rows(data), 0, data->sum_count * sizeof(union tacit_sum));
    memcpy(openings, data->openings,
           tacit_bits_count(data->origins, AGENTS_MAX) * sizeof *openings);
    memset(openings, 0, sizeof *openings);
    memcpy(openings->salt, split.zeros.salt, sizeof openings->salt);
    tacit_elim_seal_digest(config.domain, data->run_id, data->term, 0, data->epoch,
                           split.zeros.commitment, digest);
    make_seal(0, digest, openings->seal);
    data->openings = openings;
}

static void show_two_rows(void *context, uint32_t agent, struct tacit_elim_peer *state,
                          struct tacit_elim_table *table, const struct tacit_elim_event *event,
                          struct tacit_elim_update *update)
{
    struct tacit_elim_message *const said = &update->message;
    (void)context, (void)table, (void)event;
    if (agent != 0 || !update->send)
        return;
    if (said->kind == TACIT_ELIM_PROOF)
        update->send = false;
    else if (said->kind == TACIT_ELIM_HELLO)
        said->commit = NULL; /* its two neighbours have two heads of it */
    else if (said->kind == TACIT_ELIM_COMMIT && said->epoch == 1 && said->to == TACIT_NEIGHBOURS)
        commit_to_zeros(state, said);
    else if (said->kind == TACIT_ELIM_DATA && said->epoch == 1 && said->to == split.other &&
             tacit_bits_has(said->origins, 0) && said->sum_count > 0)
        show_zeros(said);
}

/* What the last agent grants is not what the liar's core has asked for. */
static void take_other_grant(void *context, uint32_t node, const struct tacit_elim_event *event)
{
    struct tacit_elim_event *const heard = (struct tacit_elim_event *)(uintptr_t)event;
    (void)context;
    if (node != 0 || event->kind != TACIT_EVENT_RECEIVE ||
        event->as.message->kind != TACIT_ELIM_GRANT || event->as.message->from != split.other ||
        event->as.message->epoch != 1)
        return;
    split.granted = *event->as.message;
    split.granted.commit = &split.drawn;
    heard->as.message = &split.granted;
}

/* Plays this schedule with the liar and without copies, if it is one over a ring in which his rows
 * meet. Returns the number of agents; 0: it is not. */
static uint32_t play_split(uint64_t seed)
{
    struct world world;
    char fault[400];
    make_schedule(&world, seed);
    uint32_t const agents = world.sim.common.agent_count;
    bool const is_ring = world.sim_network.collection == TACIT_ELIM_SPREAD && agents >= 4;
    world.faults.copied = NULL;
    world.faults.agent_backups = world.faults.clones = 0;
    show.provers = show.accused = 0;
    show.confirmed = 0;
    memset(&split, 0, sizeof split);
    split.other = agents - 1;
    split.sim = &world.sim;
    all_seals = &good_seals;
    change_event = take_other_grant;
    if (is_ring)
        play(&world, NULL, fault);
    change_event = NULL;
    all_seals = NULL;
    world_close(&world);
    return is_ring ? agents : 0;
}

/* Nobody has an answer with all others' word, nobody but the liar is accused, and the proof comes
 * to all, unless they are at T before. */
static void member_that_shows_two_rows_is_proved(void **state)
{
    uint32_t rings = 0;
    uint32_t proved = 0;
    (void)state;
    show.liar = 0;
    meddle_peer = show_two_rows;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint32_t const agents = play_split(seed);
        uint64_t const honest = (UINT64_C(1) << agents) - 2;
        rings += agents > 0 ? 1 : 0;
        proved += agents > 0 && (show.provers & honest) == honest ? 1 : 0;
        assert_true((show.accused & ~UINT64_C(1)) == 0);
        assert_true(show.confirmed == 0);
    }
    meddle_peer = NULL;
    show.liar = TACIT_NO_AGENT;
    assert_true(rings > 20);
    assert_true(proved > rings * 3 / 4);
}

/* ---- Planted bugs of commitments and grants ---- */

/* Schedules on rings in which the checkers say these words. */
static uint32_t rings_in_which(meddle_peer_fn *meddle, const char *phrase, uint64_t count)
{
    uint32_t well_said = 0;
    for (uint64_t seed = 1; seed <= count; seed++) {
        struct world world;
        char fault[400];
        make_schedule(&world, seed);
        meddle_peer = meddle;
        if (world.sim_network.collection == TACIT_ELIM_SPREAD)
            play(&world, NULL, fault);
        meddle_peer = NULL;
        bool const is_said =
            world.sim_network.collection == TACIT_ELIM_SPREAD && strstr(fault, phrase) != NULL;
        well_said += is_said ? 1 : 0;
        world_close(&world);
    }
    return well_said;
}

static bool asks(const struct tacit_elim_update *update)
{
    return update->send && update->message.kind == TACIT_ELIM_COMMIT;
}

/* It gives itself all grants that it asks for. */
static void grant_oneself(uint32_t agent, struct tacit_elim_peer *state,
                          struct tacit_elim_table *table, uint64_t now_us,
                          struct tacit_elim_update *update)
{
    struct tacit_commit const commit = *update->message.commit;
    for (uint32_t turn = 0; turn < 2 * AGENTS_MAX; turn++) {
        struct tacit_elim_message const grant = {.kind = TACIT_ELIM_GRANT,
                                                 .from = turn / 2,
                                                 .to = agent,
                                                 .run_id = 1,
                                                 .epoch = update->message.epoch,
                                                 .commit = &commit};
        struct tacit_elim_event const event = {
            .now_us = now_us, .kind = TACIT_EVENT_RECEIVE, .as.message = &grant};
        struct tacit_elim_update next;
        struct tacit_elim_peer_view view;
        tacit_elim_peer_look(state, &view);
        if (!view.agent.committed)
            return;
        (void)tacit_elim_peer_step(state, table, &event, NULL, &next);
        if (next.send)
            *update = next;
    }
}

static void speak_before_the_grants(void *context, uint32_t agent, struct tacit_elim_peer *state,
                                    struct tacit_elim_table *table,
                                    const struct tacit_elim_event *event,
                                    struct tacit_elim_update *update)
{
    (void)context;
    if (asks(update)) {
        grant_oneself(agent, state, table, event->now_us, update);
        update->persist = update->persist_table = true;
    }
}

/* It says what it should, but already goes by the draw. */
static void go_by_an_ungranted_draw(void *context, uint32_t agent, struct tacit_elim_peer *state,
                                    struct tacit_elim_table *table,
                                    const struct tacit_elim_event *event,
                                    struct tacit_elim_update *update)
{
    struct tacit_elim_update const said = *update;
    (void)context;
    if (!asks(update))
        return;
    grant_oneself(agent, state, table, event->now_us, update);
    *update = said;
}

static bool refuses(const struct tacit_elim_update *update)
{
    return update->send && update->message.kind == TACIT_ELIM_REFUSAL;
}

/* Whoever refuses grants instead what it was asked for. */
static void grant_twice(void *context, uint32_t agent, struct tacit_elim_peer *state,
                        struct tacit_elim_table *table, const struct tacit_elim_event *event,
                        struct tacit_elim_update *update)
{
    (void)context;
    (void)agent;
    (void)state;
    (void)table;
    if (!refuses(update))
        return;
    update->message.kind = TACIT_ELIM_GRANT;
    update->message.commit = event->as.message->commit;
}

/* The same, where no row of that epoch is here. */
static void grant_by_epoch(void *context, uint32_t agent, struct tacit_elim_peer *state,
                           struct tacit_elim_table *table, const struct tacit_elim_event *event,
                           struct tacit_elim_update *update)
{
    struct tacit_elim_peer_view view;
    tacit_elim_peer_look(state, &view);
    bool const is_new = refuses(update) && (event->as.message->epoch > view.agent.epoch ||
                                            (event->as.message->epoch == view.agent.epoch &&
                                             !tacit_bits_has(view.known, event->as.message->from)));
    if (is_new)
        grant_twice(context, agent, state, table, event, update);
}

static void row_that_leaves_before_its_grants_is_caught(void **state)
{
    (void)state;
    assert_true(rings_in_which(speak_before_the_grants, "before it was granted", 300) > 120);
}

static void play_that_follows_an_ungranted_draw_is_caught(void **state)
{
    (void)state;
    assert_true(rings_in_which(go_by_an_ungranted_draw, "before it was granted", 300) > 120);
}

static void grants_of_neighbours_that_are_keyed_by_epoch_are_caught(void **state)
{
    (void)state;
    assert_true(rings_in_which(grant_by_epoch, "granted agent", 300) > 10);
}

static void grant_of_a_neighbour_that_is_given_twice_is_caught(void **state)
{
    (void)state;
    assert_true(rings_in_which(grant_twice, "granted agent", 300) > 20);
}

static enum tacit_status give_nothing(void *context, void *bytes, size_t size)
{
    (void)context;
    memset(bytes, 0, size);
    return TACIT_OK;
}

/* Without a salt of its own, a second draw of equal data has an equal commitment. */
static void commitments_without_salt_are_caught(void **state)
{
    struct tacit_entropy const nothing = {give_nothing, NULL};
    uint32_t caught[2] = {0, 0};
    (void)state;
    for (uint32_t with_bug = 0; with_bug < 2; with_bug++)
        for (uint64_t seed = 1; seed <= 300; seed++) {
            struct world world;
            char fault[400];
            make_schedule(&world, seed);
            leave_no_chance(&world);
            all_salts = with_bug == 1 ? &nothing : NULL;
            play(&world, NULL, fault);
            caught[with_bug] += strstr(fault, "two draws have one commitment") == NULL ? 0 : 1;
            world_close(&world);
        }
    all_salts = NULL;
    assert_int_equal(caught[0], 0);
    assert_true(caught[1] > 20);
}

/* A site and all its holders put back: the promise ends there, and the checkers see it. */
static void old_states_of_a_site_and_of_its_holders_break_the_promise(void **state)
{
    uint32_t seen_twice = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct world world;
        char fault[400];
        make_schedule(&world, seed);
        world.faults.copied = NULL;
        world.faults.agent_backups = 12;
        world.faults.clones = 6;
        play(&world, NULL, fault);
        seen_twice += strstr(fault, "left in two draws") != NULL ||
                              strstr(fault, "two releases of epoch") != NULL
                          ? 1
                          : 0;
        world_close(&world);
    }
    assert_true(seen_twice > 5);
}

/* What nobody is shown was counted all the same. */
static void a_message_that_is_not_counted_is_caught(void **state)
{
    (void)state;
    uint32_t caught = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct world world;
        char fault[400];
        make_world(&world, seed);
        world.sim.faults = NULL;
        play_well(&world);
        struct elim_checker *const checker = elim_checker_new(&world.sim);
        struct tacit_sim_results const results = {.metrics = world.metrics,
                                                  .regret = world.regret,
                                                  .eliminated = world.eliminated,
                                                  .finished = world.finished};
        assert_non_null(checker);
        elim_checker_finish(checker, &results, 0);
        (void)snprintf(fault, sizeof fault, "%s",
                       elim_checker_fault(checker) == NULL ? "" : elim_checker_fault(checker));
        caught += strstr(fault, "counted") == NULL ? 0 : 1;
        elim_checker_free(checker);
        world_close(&world);
    }
    assert_true(caught > 70);
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_that_compare_what_they_hold_come_to_one_answer),
        cmocka_unit_test(member_that_says_that_it_holds_other_rows_is_named),
        cmocka_unit_test(member_that_shows_two_rows_is_proved),
        cmocka_unit_test(every_seed_keeps_every_promise_and_ends),
        cmocka_unit_test(no_reward_leaves_twice_whatever_comes_back),
        cmocka_unit_test(worlds_have_faults_and_rounds),
        cmocka_unit_test(network_faults_alone_change_no_elimination),
        cmocka_unit_test(run_without_a_clock_decides_as_one_with_it),
        cmocka_unit_test(own_tables_and_a_shared_one_give_the_same_results),
        cmocka_unit_test(no_figure_tells_whether_commitments_were_hashed),
        cmocka_unit_test(halves_of_a_graph_wait_for_each_other_and_say_for_whom),
        cmocka_unit_test(halves_that_find_each_other_again_go_on),
        cmocka_unit_test(hub_waits_for_the_sink_that_is_gone_and_names_it),
        cmocka_unit_test(hub_goes_on_with_the_quorum_when_a_sink_is_gone),
        cmocka_unit_test(sinks_that_come_back_with_their_disks_go_on),
        cmocka_unit_test(sink_with_a_time_limit_reports_without_the_leaf_that_is_gone),
        cmocka_unit_test(storm_of_a_peer_changes_nothing_that_others_learn),
        cmocka_unit_test(a_report_that_is_said_to_be_here_before_it_is_durable_is_caught),
        cmocka_unit_test(a_release_that_is_drawn_again_is_caught),
        cmocka_unit_test(a_row_that_is_altered_on_its_way_is_caught),
        cmocka_unit_test(data_of_another_order_is_caught),
        cmocka_unit_test(an_agent_that_is_counted_twice_at_a_sink_is_caught),
        cmocka_unit_test(a_sink_that_claims_an_agent_more_is_caught),
        cmocka_unit_test(a_mean_with_other_weights_is_caught),
        cmocka_unit_test(a_judge_that_errs_is_caught),
        cmocka_unit_test(arms_that_do_not_follow_are_caught),
        cmocka_unit_test(a_double_spend_is_caught),
        cmocka_unit_test(a_pull_of_an_eliminated_arm_is_caught),
        cmocka_unit_test(row_that_leaves_before_its_grants_is_caught),
        cmocka_unit_test(play_that_follows_an_ungranted_draw_is_caught),
        cmocka_unit_test(grants_of_neighbours_that_are_keyed_by_epoch_are_caught),
        cmocka_unit_test(grant_of_a_neighbour_that_is_given_twice_is_caught),
        cmocka_unit_test(commitments_without_salt_are_caught),
        cmocka_unit_test(old_states_of_a_site_and_of_its_holders_break_the_promise),
        cmocka_unit_test(a_message_that_is_not_counted_is_caught),
    };
    const struct CMUnitTest schedules[] = {
        cmocka_unit_test(no_reward_leaves_twice_whatever_comes_back),
    };
    program_name = arguments[0];
    if (argument_count == 3 && strcmp(arguments[1], "--seed") == 0) {
        bool const good = seed_is_good(strtoull(arguments[2], NULL, 10));
        (void)printf("seed %s: %s\n", arguments[2], good ? "good" : "BAD");
        return good ? 0 : 1;
    }
    if (argument_count == 3 && strcmp(arguments[1], "--schedule") == 0) {
        bool const good = schedule_is_good(strtoull(arguments[2], NULL, 10));
        (void)printf("schedule %s: %s\n", arguments[2], good ? "good" : "BAD");
        return good ? 0 : 1;
    }
    if (argument_count == 3 && strcmp(arguments[1], "--sealed") == 0) {
        bool const good = sealed_schedule_is_good(strtoull(arguments[2], NULL, 10));
        (void)printf("sealed schedule %s: %s\n", arguments[2], good ? "good" : "BAD");
        return good ? 0 : 1;
    }
    if (argument_count == 3 && strcmp(arguments[1], "--schedules") == 0) {
        schedule_count = (uint32_t)strtoul(arguments[2], NULL, 10);
        return cmocka_run_group_tests(schedules, NULL, NULL);
    }
    if (argument_count == 3 && strcmp(arguments[1], "--seeds") == 0)
        seed_count = (uint32_t)strtoul(arguments[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
