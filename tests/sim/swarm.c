/* Swarm simulation: many seeds, each with its own small federation (a star, a graph, a hybrid) and
 * its own mix of faults; checkers look on from outside; parts of a network are cut off for a while;
 * when the faults are over, every agent that is there must end, also where others never come back.
 * A failing case prints first the command that replays it. Old states that come back and what
 * grants are for are the storm's (tests/round).
 *
 * usage: swarm [--seed N | --seeds COUNT]      default: the test group with 6,000 seeds */
#include <math.h>
#include "../support/testing.h"
#include "../support/chance.h"
#include "../../src/families/elim/state.h"
#include "../../src/proto/elim/internal.h"
#include "../support/elim_sim.h"
#include "../support/faults.h"
#include "../support/network.h"

#define ARMS_MAX 8u
#define AGENTS_MAX 9u

/* Every third world is a star. */
#define STAR(number) (3 * (number))
#define NETWORK(number) (3 * (number) + 1)

struct world {
    struct network *network; /* NULL: a star */
    struct tacit_elim_network sim_network;
    struct elim_sim sim;
    struct faults faults;
    struct elim_observer observer;
    uint64_t cut_off[1];
    double means[AGENTS_MAX * ARMS_MAX];
    uint64_t points[1];
    double metrics[ELIM_METRIC_COUNT];
    double regret[1];
    uint32_t eliminated[ARMS_MAX];
    bool finished[1];
};

static uint32_t seed_count = 6000;

/* ---- Worlds ---------------------------------------------------------------------------------- */

/* Each kind of fault is on in a random subset of the worlds, so that rare mixtures come up too. */
static struct faults make_faults(struct tacit_rng *rng, uint64_t horizon)
{
    return (struct faults){.loss = chance_of(rng, 0.6, 0.45),
                           .duplication = chance_of(rng, 0.6, 0.5),
                           .delay_us_max =
                               tacit_rng_bernoulli(rng, 0.7) ? tacit_rng_below(rng, 3000) : 0,
                           .agent_crash = chance_of(rng, 0.65, 0.12),
                           .hub_crash = chance_of(rng, 0.6, 0.12),
                           .down_us_max = 1 + tacit_rng_below(rng, 2500),
                           .plan_parts = 1 + (uint32_t)tacit_rng_below(rng, 4),
                           .noise_failure = chance_of(rng, 0.4, 0.02),
                           .healed_at_us = horizon / 4 + tacit_rng_below(rng, 2 * horizon)};
}

static void cut_off_some(struct world *world, struct tacit_rng *rng)
{
    struct faults *const faults = &world->faults;
    world->cut_off[0] = tacit_rng_next(rng) & ((UINT64_C(1) << world->sim.common.agent_count) - 1);
    faults->cut_off = world->cut_off;
    faults->cut_off_from_us = tacit_rng_below(rng, faults->healed_at_us);
    faults->cut_off_until_us = faults->cut_off_from_us +
                               tacit_rng_below(rng, faults->healed_at_us - faults->cut_off_from_us);
}

static void use_mechanism(struct world *world, enum tacit_privacy_mode mode, double epsilon)
{
    struct tacit_mechanism_config const config = {mode, epsilon, 0, 1};
    world->sim.epsilon_per_reward = epsilon;
    assert_int_equal(tacit_mechanism_init(&world->sim.mechanism, &config), TACIT_OK);
    world->sim.has_grants = world->sim.mechanism.scale.kind != TACIT_SCALE_REAL;
}

/* A connected graph, a hybrid, or everybody on its own. */
static void make_network(struct world *world, struct tacit_rng *rng, uint32_t agents)
{
    static const double alone = 0.03;
    double const kind = tacit_rng_uniform(rng);
    bool const is_hybrid = kind > 0.5;
    if (kind < alone) {
        struct tacit_graph_spec const spec = {.kind = TACIT_GRAPH_EDGES, .agent_count = agents};
        world->network = network_new(&spec, 1, 1);
    } else {
        world->network =
            is_hybrid ? network_random_hybrid(agents, rng) : network_random(agents, rng);
    }
    world->sim_network =
        network_for_sim(world->network, is_hybrid ? TACIT_ELIM_GATHER : TACIT_ELIM_SPREAD);
    world->sim_network.components_alike = is_hybrid && tacit_rng_bernoulli(rng, 0.3);
    world->sim.network = &world->sim_network;
    world->sim.report_count = kind < alone ? 1 : agents;
    if (tacit_rng_bernoulli(rng, 0.4))
        cut_off_some(world, rng);
    if (is_hybrid && tacit_rng_bernoulli(rng, 0.4))
        world->sim.gather_timeout_us = 1 + tacit_rng_below(rng, 10000);
}

static bool is_star(const struct world *world)
{
    return world->network == NULL;
}

static bool spreads(const struct world *world)
{
    return !is_star(world) && world->sim_network.collection == TACIT_ELIM_SPREAD;
}

static void make_hub(struct world *world, struct tacit_rng *rng)
{
    struct elim_sim *const sim = &world->sim;
    if (tacit_rng_bernoulli(rng, 0.5))
        sim->round_timeout_us = 1 + tacit_rng_below(rng, sim->common.horizon);
    if (tacit_rng_bernoulli(rng, 0.8))
        sim->quorum = 1 + (uint32_t)tacit_rng_below(rng, sim->report_count);
}

static void use_exact_bounds(struct world *world, double confidence)
{
    world->sim.growth = 2;
    world->sim.confidence = confidence;
    world->sim.round_limit = 0;
    world->sim.report_count = world->sim.common.agent_count;
}

static void world_close(struct world *world)
{
    if (!is_star(world))
        network_free(world->network);
}

/* Requires: world_close after use. */
static void make_world(struct world *world, uint64_t seed)
{
    static const double epsilons[] = {0.3, 1, 5, 20, INFINITY};
    struct tacit_rng rng = tacit_rng_stream(seed, 0, 1, TACIT_PURPOSE_INSTANCE);
    memset(world, 0, sizeof *world);
    uint32_t const agents = 1 + (uint32_t)tacit_rng_below(&rng, AGENTS_MAX);
    uint32_t const arms = 2 + (uint32_t)tacit_rng_below(&rng, ARMS_MAX - 1);
    uint64_t const horizon = 5000 + tacit_rng_below(&rng, seed % 3 == 0 ? 100000 : 60000);
    for (uint32_t i = 0; i < agents * arms; i++)
        world->means[i] = tacit_rng_uniform(&rng);
    world->points[0] = horizon;
    world->sim = (struct elim_sim){
        .common.seed = seed,
        .common.run_count = 1,
        .common.agent_count = agents,
        .report_count = 1 + (uint32_t)tacit_rng_below(&rng, agents),
        .round_limit = tacit_rng_bernoulli(&rng, 0.3) ? 1 + (uint32_t)tacit_rng_below(&rng, 10) : 0,
        .common.horizon = horizon,
        .common.points = world->points,
        .common.point_count = 1,
        .common.env = {.kind = TACIT_ENV_BERNOULLI,
                       .row_count = tacit_rng_bernoulli(&rng, 0.5) ? agents : 1,
                       .arm_count = arms,
                       .means = world->means},
        .server_link_cost = 25,
        .peer_link_cost = 3};
    use_mechanism(world, tacit_rng_bernoulli(&rng, 0.6) ? TACIT_PRIVACY_SOUND : TACIT_PRIVACY_PAPER,
                  epsilons[tacit_rng_below(&rng, 5)]);
    world->faults = make_faults(&rng, horizon);
    world->sim.faults = faults_use(&world->faults);
    if (tacit_rng_bernoulli(&rng, 0.2)) /* mostly one; with 1 agent, all */
        world->faults.lost_agents = tacit_rng_bernoulli(&rng, 0.8) || agents == 1 ? 1 : 2;
    if (seed % 3 != 0)
        make_network(world, &rng, agents);
    if (!spreads(world))
        make_hub(world, &rng);
    if (seed % 12 == 0 && world->sim.has_grants)
        use_exact_bounds(world, seed % 24 == 0 ? 0.9 : 0);
}

static void make_two(struct world worlds[2], uint64_t seed)
{
    make_world(&worlds[0], seed);
    make_world(&worlds[1], seed);
}

static void close_two(struct world worlds[2])
{
    world_close(&worlds[0]);
    world_close(&worlds[1]);
}

/* As many agents in other components. Requires: world_close before. */
static void use_network(struct world *world, const struct tacit_graph_spec *specs, uint32_t count,
                        enum tacit_elim_collection collection)
{
    uint32_t agents = 0;
    for (uint32_t i = 0; i < count; i++)
        agents += specs[i].agent_count;
    world->network = network_new(specs, count, 1);
    world->sim_network = network_for_sim(world->network, collection);
    world->sim.common.agent_count = world->sim.report_count = agents;
}

/* ---- Playing --------------------------------------------------------------------------------- */

typedef void agent_fault_fn(void *context, uint32_t agent, struct tacit_elim_agent *state,
                            struct tacit_elim_update *update);
typedef void peer_fault_fn(void *context, uint32_t agent, struct tacit_elim_peer *state,
                           struct tacit_elim_table *table, const struct tacit_event *event,
                           struct tacit_elim_update *update);

/* A bug, in what a node does or in what the checkers are shown of it; and what they say to it, in
 * at least so many of the worlds that are asked. */
struct bug {
    const char *name;
    agent_fault_fn *agent_fault;
    void (*hub)(struct tacit_elim_hub_view *view);
    void (*peer)(struct tacit_elim_peer_view *view);
    void (*order)(struct tacit_elim_message *order);
    void (*world)(struct world *world); /* behind the back of the checkers */
    const char *words;
    uint32_t in_stars; /* of 200, as the next */
    uint32_t in_networks;
};

/* What stands between the run and the checkers; set by one test at a time. */
static struct {
    struct elim_observer honest;
    const struct bug *bug;
    peer_fault_fn *peer_fault;
    const struct tacit_row_signer *signer;
    void (*change_event)(void *context, uint32_t node, const struct tacit_event *event);
    uint32_t liar; /* what it says to its neighbours is not shown; TACIT_NO_AGENT: nobody's */
    uint64_t known[AGENTS_MAX]; /* what each peer held last */
    uint64_t hub_lacks;         /* whose reports the hub still waited for, when it last said so */
    uint64_t pulls_of_agent_0;
    uint32_t confirmed;             /* peers that came to say an answer with all others' word */
    uint64_t differing[AGENTS_MAX]; /* who holds other rows, as each of them takes it */
    uint64_t provers;               /* who holds a proof, .. */
    uint64_t accused;               /* .. and of whom there is one */
} show = {.liar = TACIT_NO_AGENT};

static void show_hub(void *context, const struct tacit_elim_hub *state)
{
    struct tacit_elim_hub_view view;
    tacit_elim_hub_view(state, &view);
    if (show.bug != NULL && show.bug->hub != NULL)
        show.bug->hub(&view);
    show.hub_lacks = view.uploaders[0] & ~view.received[0];
    show.honest.hub_persisted(context, state);
}

static void show_peer(void *context, uint32_t agent, const struct tacit_elim_peer *state)
{
    struct tacit_elim_peer_view view;
    tacit_elim_peer_view(state, &view);
    if (show.bug != NULL && show.bug->peer != NULL)
        show.bug->peer(&view);
    show.known[agent] = view.known[0];
    show.confirmed += view.confirms && view.confirmed && view.missing_count == 0 ? 1 : 0;
    show.differing[agent] = view.differing == NULL ? 0 : view.differing[0];
    if (view.proof != NULL) {
        show.provers |= UINT64_C(1) << agent;
        show.accused |= UINT64_C(1) << view.proof->agent;
    }
    show.honest.peer_persisted(context, agent, state);
}

static void show_message(void *context, const struct tacit_elim_message *message)
{
    struct tacit_elim_message shown = *message;
    bool const is_hidden = show.liar != TACIT_NO_AGENT && message->from == show.liar &&
                           message->kind != TACIT_ELIM_REPORT && message->kind != TACIT_ELIM_GRANT;
    if (show.bug != NULL && show.bug->order != NULL && message->kind == TACIT_ELIM_ORDER)
        show.bug->order(&shown);
    if (!is_hidden)
        show.honest.sent(context, &shown);
}

static void show_pull(void *context, uint32_t agent, uint32_t arm, uint64_t count)
{
    show.pulls_of_agent_0 += agent == 0 ? count : 0;
    show.honest.pulled(context, agent, arm, count);
}

/* Plays the world under checkers that were told of `told`; the first broken promise is in `fault`,
 * or "". */
static void play_as(struct world *world, const struct elim_sim *told, agent_fault_fn *agent_fault,
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
    show.pulls_of_agent_0 = show.provers = show.accused = 0;
    show.confirmed = 0;
    world->observer = show.honest;
    world->observer.agent_fault = agent_fault;
    world->observer.peer_fault = show.peer_fault;
    world->observer.hub_persisted = show_hub;
    world->observer.peer_persisted = show_peer;
    world->observer.sent = show_message;
    world->observer.pulled = show_pull;
    world->observer.signer = show.signer;
    if (show.change_event != NULL)
        world->observer.stepping = show.change_event;
    world->sim.hooks = elim_observe(&world->observer);
    (void)faults_use(&world->faults); /* which may be others than they were */
    enum tacit_status const status = elim_sim_run_one(&world->sim, 0, &results, &control, &healed);
    if (status == TACIT_OK && show.liar == TACIT_NO_AGENT)
        elim_checker_finish(checker, &results, 0);
    char const *const broken = elim_checker_fault(checker);
    (void)snprintf(fault, 400, "%s",
                   broken != NULL       ? broken
                   : status != TACIT_OK ? tacit_status_text(status)
                   : healed             ? ""
                            : "the faults are over, but not every agent that is there reached the "
                              "horizon");
    elim_checker_free(checker);
}

static void play(struct world *world, agent_fault_fn *agent_fault, char fault[400])
{
    play_as(world, &world->sim, agent_fault, fault);
}

static void play_well(struct world *world)
{
    char fault[400];
    play(world, NULL, fault);
    assert_string_equal(fault, "");
}

/* As a user's run: nobody looks on. */
static void play_unwatched(struct world *world)
{
    struct tacit_sim_results const results = {.metrics = world->metrics,
                                              .regret = world->regret,
                                              .eliminated = world->eliminated,
                                              .finished = world->finished};
    struct tacit_sim_control control = {0};
    bool healed = false;
    world->sim.hooks = NULL;
    assert_int_equal(elim_sim_run_one(&world->sim, 0, &results, &control, &healed), TACIT_OK);
    assert_true(healed);
}

static void expect_same_figures(const struct world worlds[2], size_t metric_count)
{
    assert_memory_equal(worlds[0].metrics, worlds[1].metrics,
                        metric_count * sizeof *worlds[0].metrics);
    assert_memory_equal(worlds[0].regret, worlds[1].regret, sizeof worlds[0].regret);
    assert_memory_equal(worlds[0].eliminated, worlds[1].eliminated, sizeof worlds[0].eliminated);
}

/* Arms that the clean run eliminates, and the other one came to; over a star nothing else. */
static void expect_same_eliminations(const struct world *faulty, const struct world *clean)
{
    uint32_t const rounds = (uint32_t)faulty->metrics[ELIM_ROUNDS];
    for (uint32_t arm = 0; arm < clean->sim.common.env.arm_count; arm++)
        if ((is_star(clean) || clean->eliminated[arm] > 0) && clean->eliminated[arm] <= rounds)
            assert_int_equal(faulty->eliminated[arm], clean->eliminated[arm]);
}

/* ---- The swarm ------------------------------------------------------------------------------- */

static bool seed_is_good(uint64_t seed)
{
    struct world world;
    char fault[400];
    make_world(&world, seed);
    play(&world, NULL, fault);
    world_close(&world);
    if (fault[0] != '\0')
        print_message("replay: swarm --seed %llu: %s\n", (unsigned long long)seed, fault);
    return fault[0] == '\0';
}

TEST(every_seed_keeps_every_promise_and_ends)
{
    uint32_t bad = 0;
    for (uint64_t seed = 1; seed <= seed_count; seed++)
        bad += seed_is_good(seed) ? 0 : 1;
    assert_int_equal(bad, 0);
}

/* The swarm is only worth something if its faults really happen, and if rounds are judged all the
 * same. */
TEST(worlds_have_faults_and_rounds)
{
    uint32_t stars = 0;
    uint32_t spread = 0;
    uint32_t gathered = 0;
    uint32_t cut = 0;
    uint32_t lost = 0;
    uint32_t resent = 0;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct world world;
        make_world(&world, seed);
        play_well(&world);
        double const rounds = world.metrics[ELIM_ROUNDS];
        bool const has_peers = world.sim.common.agent_count > 2;
        stars += rounds >= 2 && is_star(&world) ? 1 : 0;
        spread += rounds >= 2 && has_peers && spreads(&world) ? 1 : 0;
        gathered += rounds >= 2 && has_peers && !is_star(&world) && !spreads(&world) ? 1 : 0;
        cut += rounds >= 2 && world.faults.cut_off != NULL ? 1 : 0;
        lost += rounds >= 2 && world.faults.lost_agents > 0 ? 1 : 0;
        if (is_star(&world)) /* each report is answered */
            resent +=
                world.metrics[ELIM_MESSAGES] > (rounds + 1) * (2 * world.sim.report_count + 1);
        world_close(&world);
    }
    assert_true(stars > 80);
    assert_true(spread > 40);
    assert_true(gathered > 40);
    assert_true(cut > 30);
    assert_true(lost > 20);
    assert_true(resent > 40);
}

/* ---- What changes nothing -------------------------------------------------------------------- */

/* Without faults, commitments and grants cost two messages an agent and epoch, and nothing else
 * changes, down to the last bit. */
TEST(grants_change_no_result_where_nothing_fails)
{
    uint32_t with_rounds = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world worlds[2];
        make_two(worlds, STAR(seed));
        for (int i = 0; i < 2; i++) {
            use_mechanism(&worlds[i], TACIT_PRIVACY_SOUND, worlds[i].sim.epsilon_per_reward);
            worlds[i].sim.round_limit = 0;
            worlds[i].sim.faults = NULL;
            worlds[i].sim.has_grants = i == 1;
            play_well(&worlds[i]);
        }
        expect_same_figures(worlds, ELIM_CONTROL_MESSAGES);
        assert_true(worlds[0].metrics[ELIM_CONTROL_MESSAGES] == 0);
        assert_true(worlds[0].metrics[ELIM_CONTROL_BYTES] == 0);
        double const rounds = worlds[1].metrics[ELIM_ROUNDS];
        assert_true(worlds[1].metrics[ELIM_CONTROL_MESSAGES] ==
                    2 * rounds * worlds[1].sim.common.agent_count);
        with_rounds += rounds >= 2 ? 1 : 0;
        close_two(worlds);
    }
    assert_true(with_rounds > 100);
}

/* Where nobody looks on commitments are numbers, and hashes where somebody does: control messages
 * and their bytes are among the figures. */
TEST(no_figure_tells_whether_commitments_were_hashed)
{
    double controls[3] = {0, 0, 0};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world worlds[2];
        make_two(worlds, seed);
        for (int i = 0; i < 2; i++) {
            use_mechanism(&worlds[i], TACIT_PRIVACY_SOUND, worlds[i].sim.epsilon_per_reward);
            worlds[i].sim.faults = NULL;
        }
        play_well(&worlds[0]);
        play_unwatched(&worlds[1]);
        expect_same_figures(worlds, ELIM_METRIC_COUNT);
        controls[is_star(&worlds[0]) ? 2 : spreads(&worlds[0])] +=
            worlds[1].metrics[ELIM_CONTROL_BYTES];
        close_two(worlds);
    }
    assert_true(controls[0] > 0 && controls[1] > 0 && controls[2] > 0);
}

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
    if (is_star(world))
        world->sim.report_count = world->sim.common.agent_count;
}

/* Faults change when things happen, not what is learnt. */
TEST(network_faults_alone_change_no_elimination)
{
    uint32_t rounds = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct world worlds[2];
        make_two(worlds, seed);
        leave_network_faults(&worlds[0]);
        leave_network_faults(&worlds[1]);
        worlds[1].sim.faults = NULL;
        play_well(&worlds[0]);
        play_well(&worlds[1]);
        expect_same_eliminations(&worlds[0], &worlds[1]);
        rounds += (uint32_t)worlds[0].metrics[ELIM_ROUNDS];
        close_two(worlds);
    }
    assert_true(rounds > 400);
}

/* With faults there is no clock that ends a round; where none happens, the decisions are those of
 * the clock. */
TEST(run_without_a_clock_decides_as_one_with_it)
{
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct world worlds[2];
        make_two(worlds, NETWORK(seed));
        leave_network_faults(&worlds[0]);
        leave_network_faults(&worlds[1]);
        worlds[0].faults = (struct faults){.plan_parts = 1};
        worlds[1].sim.faults = NULL;
        play_well(&worlds[0]);
        play_well(&worlds[1]);
        expect_same_eliminations(&worlds[0], &worlds[1]);
        expect_same_eliminations(&worlds[1], &worlds[0]);
        close_two(worlds);
    }
}

TEST(deadline_that_is_never_reached_changes_no_result)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct world worlds[2];
        make_two(worlds, STAR(seed));
        worlds[0].sim.faults = worlds[1].sim.faults = NULL;
        worlds[0].sim.round_timeout_us = 0;
        worlds[1].sim.quorum = 1;
        worlds[1].sim.round_timeout_us = 2 * worlds[0].sim.common.horizon;
        play_well(&worlds[0]);
        play_well(&worlds[1]);
        expect_same_figures(worlds, ELIM_METRIC_COUNT);
        close_two(worlds);
    }
}

/* ---- Who never comes back, or is cut off ----------------------------------------------------- */

/* Agent 0 goes at the very start, and nothing else goes wrong. */
static void make_lonely_world(struct world *world, uint64_t seed)
{
    make_world(world, STAR(seed));
    world->sim.report_count = world->sim.common.agent_count;
    world->sim.round_limit = 0;
    world->faults = (struct faults){.lost_agents = 1, .plan_parts = 1};
    world->sim.quorum = 0;
    world->sim.round_timeout_us = 0;
}

TEST(round_waits_for_the_lost_agent_for_ever_unless_there_is_a_quorum)
{
    uint32_t decided = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world world;
        make_lonely_world(&world, seed);
        play_well(&world);
        assert_true(world.metrics[ELIM_ROUNDS] == 0);
        if (world.sim.common.agent_count == 1)
            continue;
        world.sim.round_timeout_us = 1000; /* without a quorum, it only says so */
        play_well(&world);
        assert_true(world.metrics[ELIM_ROUNDS] == 0);
        world.sim.quorum = world.sim.common.agent_count - 1;
        play_well(&world);
        decided += world.metrics[ELIM_ROUNDS] >= 2 ? 1 : 0;
    }
    assert_true(decided > 100);
}

/* Also where it was down, and on its way back, when it got lost. */
TEST(lost_agent_never_comes_back)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world world;
        make_lonely_world(&world, seed);
        world.faults.healed_at_us = 3000;
        world.faults.agent_crash = 0.5;
        world.faults.down_us_max = 2000;
        play_well(&world);
        assert_true(show.pulls_of_agent_0 <= 3000); /* one a microsecond; T is 5000 at least */
    }
}

/* A path of six whose halves do not hear each other from the start; nothing else goes wrong. */
static void make_halves(struct world *world, uint64_t seed, uint64_t until_us)
{
    static const struct tacit_graph_spec path = {.kind = TACIT_GRAPH_PATH, .agent_count = 6};
    make_world(world, NETWORK(seed));
    world_close(world);
    use_network(world, &path, 1, TACIT_ELIM_SPREAD);
    world->cut_off[0] = 7;
    world->faults = (struct faults){.plan_parts = 1,
                                    .cut_off = world->cut_off,
                                    .cut_off_until_us = until_us,
                                    .healed_at_us = until_us};
    world->sim.common.horizon = world->points[0] = 200000;
    world->sim.round_limit = 0;
    world->sim.common.env.row_count = 1;
    world->sim.quorum = 0;
    world->sim.round_timeout_us = 0;
    world->sim.gather_timeout_us = 0;
}

TEST(halves_of_a_graph_wait_for_each_other_and_say_for_whom)
{
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

TEST(halves_that_find_each_other_again_go_on)
{
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

/* Two stars, of four and of three agents; their centres, 0 and 4, are their sinks. 0 goes at a
 * random time before `until_us` for good. */
static void make_stars(struct world *world, uint64_t seed, uint64_t until_us)
{
    static const struct tacit_graph_spec stars[] = {{.kind = TACIT_GRAPH_STAR, .agent_count = 4},
                                                    {.kind = TACIT_GRAPH_STAR, .agent_count = 3}};
    make_halves(world, seed, 0);
    world_close(world);
    use_network(world, stars, 2, TACIT_ELIM_GATHER);
    assert_int_equal(world->network->components[0].sink, 0);
    world->faults = (struct faults){
        .plan_parts = 1, .lost_agents = until_us > 0 ? 1 : 0, .healed_at_us = until_us};
}

/* Without a quorum the hub only says that the deadline is over, and names the sink that is gone;
 * the other component makes a quorum of three; with four it is one agent too few. */
TEST(hub_waits_for_a_sink_that_is_gone_or_goes_on_with_its_quorum)
{
    uint32_t decided = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct world world;
        make_stars(&world, seed, 1);
        world.sim.round_timeout_us = 5000;
        for (uint32_t quorum = 0; quorum <= 4; quorum += 4) {
            world.sim.quorum = quorum;
            play_well(&world);
            assert_true(world.metrics[ELIM_ROUNDS] == 0);
            assert_int_equal(show.hub_lacks, 1);
        }
        world.sim.quorum = 3;
        play_well(&world);
        decided += world.metrics[ELIM_ROUNDS] >= 2 ? 1 : 0;
        world_close(&world);
    }
    assert_true(decided > 15);
}

/* Rewards and releases that are the same however often something is done again. */
static void leave_no_chance(struct world *world)
{
    use_mechanism(world, TACIT_PRIVACY_SOUND, INFINITY);
    world->sim.common.env.kind = TACIT_ENV_CONSTANT;
}

/* Sinks and all others die again and again, at every boundary of their steps, and come back with
 * what was durable: nothing is lost but time. */
TEST(sinks_that_come_back_with_their_disks_go_on)
{
    uint32_t decided = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct world worlds[2];
        for (int i = 0; i < 2; i++) {
            make_stars(&worlds[i], seed, 0);
            leave_no_chance(&worlds[i]);
        }
        worlds[0].faults.agent_crash = 0.2;
        worlds[0].faults.hub_crash = 0.2;
        worlds[0].faults.down_us_max = 500;
        worlds[0].faults.healed_at_us = worlds[0].sim.common.horizon;
        worlds[1].sim.faults = NULL;
        play_well(&worlds[0]);
        play_well(&worlds[1]);
        expect_same_eliminations(&worlds[0], &worlds[1]);
        decided += worlds[0].metrics[ELIM_ROUNDS] >= 2 ? 1 : 0;
        close_two(worlds);
    }
    assert_true(decided > 30);
}

/* A leaf that never comes is not waited for when the sink has a time limit: the others' reports go
 * to the hub without it. */
TEST(sink_with_a_time_limit_reports_without_the_leaf_that_is_gone)
{
    static const struct tacit_graph_spec path = {.kind = TACIT_GRAPH_PATH, .agent_count = 5};
    uint32_t decided = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct world world;
        make_stars(&world, seed, 1);
        world_close(&world);
        use_network(&world, &path, 1, TACIT_ELIM_GATHER); /* 0 is a leaf, 2 the sink */
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

static uint32_t storm_count;

/* Agent 0 has something to say in every step: it advertises what it has said before, or sends rows
 * that nobody asked for and that nobody released. */
static void make_a_storm(void *context, uint32_t agent, struct tacit_elim_agent *state,
                         struct tacit_elim_update *update)
{
    static const uint64_t itself[1] = {1};
    static const union tacit_sum rows[AGENTS_MAX * ARMS_MAX];
    static uint64_t arms[1];
    struct tacit_elim_agent_view view;
    tacit_elim_agent_view(state, &view);
    if (agent != 0 || update->send || view.halted || view.releasing ||
        view.release_epoch != view.epoch)
        return;
    arms[0] = view.arms[0];
    update->send = true;
    update->message = (struct tacit_elim_message){.kind = storm_count++ % 2 == 0 ? TACIT_ELIM_ADVERT
                                                                                 : TACIT_ELIM_DATA,
                                                  .from = 0,
                                                  .to = TACIT_NEIGHBOURS,
                                                  .run_id = 1,
                                                  .epoch = view.epoch,
                                                  .pulls = 7,
                                                  .origins = itself};
    if (update->message.kind != TACIT_ELIM_DATA)
        return;
    update->message.arms = arms;
    update->message.sum_count = view.active_count;
    update->message.sums = rows;
}

TEST(storm_of_a_peer_changes_nothing_that_others_learn)
{
    uint32_t rounds = 0;
    uint32_t storms = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world worlds[2];
        char fault[400];
        make_two(worlds, NETWORK(seed));
        leave_network_faults(&worlds[0]);
        leave_network_faults(&worlds[1]);
        show.liar = 0;
        storm_count = 0;
        play(&worlds[0], make_a_storm, fault);
        show.liar = TACIT_NO_AGENT;
        assert_string_equal(fault, "");
        storms += storm_count > 10 ? 1 : 0;
        play_well(&worlds[1]);
        expect_same_eliminations(&worlds[0], &worlds[1]);
        rounds += (uint32_t)worlds[0].metrics[ELIM_ROUNDS];
        close_two(worlds);
    }
    assert_true(rounds > 300);
    assert_true(storms > 100);
}

/* ---- Planted bugs ---------------------------------------------------------------------------- */

static bool sends(const struct tacit_elim_update *update, enum tacit_elim_message_kind kind)
{
    return update->send && update->message.kind == kind;
}

/* The driver forgets to persist before it speaks: after a crash the release is drawn again. */
static void forget_to_persist_a_release(void *context, uint32_t agent,
                                        struct tacit_elim_agent *state,
                                        struct tacit_elim_update *update)
{
    (void)context, (void)agent, (void)state;
    if (sends(update, TACIT_ELIM_REPORT) || (update->send && update->persist_table))
        update->persist = update->persist_table = false;
}

/* The core noises its history afresh whenever it speaks of it. */
static void redraw_when_speaking(void *context, uint32_t agent, struct tacit_elim_agent *state,
                                 struct tacit_elim_update *update)
{
    struct tacit_elim_agent_view view;
    (void)context, (void)agent;
    tacit_elim_agent_view(state, &view);
    if (!update->send || update->persist || view.release_epoch == 0)
        return;
    union tacit_sum *const noised = (union tacit_sum *)(uintptr_t)view.noised;
    noised[tacit_bits_next(view.arms, ARMS_MAX, 0)].steps += 1; /* another draw */
    update->persist = true;
}

static void spend_twice(void *context, uint32_t agent, struct tacit_elim_agent *state,
                        struct tacit_elim_update *update)
{
    struct tacit_elim_agent_view view;
    (void)context, (void)agent;
    tacit_elim_agent_view(state, &view);
    struct tacit_ledger *const ledger = (struct tacit_ledger *)(uintptr_t)view.ledger;
    if (ledger->release_count == 0 ||
        !(sends(update, TACIT_ELIM_REPORT) || (update->send && update->persist_table)))
        return;
    ledger->budget_nano = UINT64_MAX / 2;
    (void)tacit_ledger_spend(ledger, view.epoch, ledger->gross_nano / ledger->release_count);
    update->persist = true;
}

static void pull_an_eliminated_arm(void *context, uint32_t agent, struct tacit_elim_agent *state,
                                   struct tacit_elim_update *update)
{
    struct tacit_elim_agent_view view;
    (void)context, (void)agent;
    tacit_elim_agent_view(state, &view);
    for (uint32_t arm = 0; update->plan_count > 0 && arm < 2; arm++)
        if (!tacit_bits_has(view.arms, arm))
            ((struct tacit_pull_block *)(uintptr_t)update->plan)->arm = arm;
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
        memcpy(rows + (size_t)rank * data->sum_count, elim_message_row(data, origin, rank),
               data->sum_count * sizeof *rows);
        if (data->openings != NULL)
            openings[rank] = *elim_message_opening(data, origin, rank);
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
    (void)context, (void)agent, (void)state;
    if (sends(update, TACIT_ELIM_DATA))
        unpack_rows(&update->message)[0].steps ^= 1;
}

static void claim_another_count_of_pulls(void *context, uint32_t agent,
                                         struct tacit_elim_agent *state,
                                         struct tacit_elim_update *update)
{
    (void)context, (void)agent, (void)state;
    if (sends(update, TACIT_ELIM_DATA))
        update->message.pulls++;
}

/* A sink adds its own report once more. */
static void count_the_sink_twice(void *context, uint32_t agent, struct tacit_elim_agent *state,
                                 struct tacit_elim_update *update)
{
    static union tacit_sum sums[ARMS_MAX];
    struct tacit_elim_agent_view view;
    uint32_t rank = 0;
    (void)context, (void)agent;
    if (!sends(update, TACIT_ELIM_REPORT))
        return;
    tacit_elim_agent_view(state, &view);
    for (uint32_t arm = 0; arm < ARMS_MAX; arm++)
        if (tacit_bits_has(update->message.arms, arm)) {
            sums[rank].steps = /* whatever they are: other bits */
                (int64_t)((uint64_t)update->message.sums[rank].steps +
                          (uint64_t)view.noised[arm].steps);
            rank++;
        }
    update->message.sums = sums;
}

static void claim_one_agent_more(void *context, uint32_t agent, struct tacit_elim_agent *state,
                                 struct tacit_elim_update *update)
{
    (void)context, (void)agent, (void)state;
    if (sends(update, TACIT_ELIM_REPORT))
        update->message.agents++;
}

/* It does not wait for the quorum: one of the reports of the round was never there. */
static void forget_a_report(struct tacit_elim_hub_view *view)
{
    static uint32_t rounds;
    uint32_t *const seen = (uint32_t *)(uintptr_t)view->seen;
    uint32_t agent = 0;
    while (view->round_count > rounds && agent < AGENTS_MAX && seen[agent] == 0)
        agent++;
    if (view->round_count > rounds && agent < AGENTS_MAX)
        seen[agent]--;
    rounds = view->round_count;
}

static void shift_a_mean_of_the_hub(struct tacit_elim_hub_view *view)
{
    double *const means = (double *)(uintptr_t)view->means;
    means[tacit_bits_next(view->arms, ARMS_MAX, 0)] += 1e-9;
}

/* A report that nobody sent. */
static void invent_a_report(struct tacit_elim_hub_view *view)
{
    if (view->round_count == 0)
        ((uint32_t *)(uintptr_t)view->seen)[0] = view->epoch;
}

static void claim_to_have_seen_more(struct tacit_elim_message *order)
{
    order->seen += order->to != TACIT_EVERYONE ? 1 : 0;
}

static void claim_to_have_seen_something_from_everyone(struct tacit_elim_message *order)
{
    order->seen = order->to == TACIT_EVERYONE ? 1 : order->seen;
}

/* The hub weighs components in the other way than it is told. */
static void weigh_the_other_way(struct world *world)
{
    world->sim_network.components_alike = !world->sim_network.components_alike;
}

static void shift_a_mean(struct tacit_elim_peer_view *view)
{
    double *const means = (double *)(uintptr_t)view->means;
    if (means != NULL && view->round_count > 0)
        means[tacit_bits_next(view->arms, ARMS_MAX, 0)] += 1e-9;
}

/* Again and again, but never the last one: a judge without any is no peer's. */
static void lose_an_arm(struct tacit_elim_peer_view *view)
{
    uint64_t *const arms = (uint64_t *)(uintptr_t)view->arms;
    if (arms != NULL && view->round_count > 0 && tacit_bits_count(arms, ARMS_MAX) > 1)
        tacit_bits_remove(arms, tacit_bits_next(arms, ARMS_MAX, 0));
}

static const struct bug bugs[] = {
    {.name = "a release is sent before it is durable",
     .agent_fault = forget_to_persist_a_release,
     .words = "durable",
     .in_stars = 150,
     .in_networks = 120},
    {.name = "a release is drawn again",
     .agent_fault = redraw_when_speaking,
     .words = "drawn twice",
     .in_stars = 120,
     .in_networks = 120},
    {.name = "a release is charged twice",
     .agent_fault = spend_twice,
     .words = "the ledger shows",
     .in_stars = 150,
     .in_networks = 120},
    {.name = "an eliminated arm is pulled",
     .agent_fault = pull_an_eliminated_arm,
     .words = "which was eliminated",
     .in_stars = 100,
     .in_networks = 70},
    {.name = "a row is altered on its way",
     .agent_fault = alter_a_row_on_its_way,
     .words = "what was not released",
     .in_networks = 120},
    {.name = "data are of another order",
     .agent_fault = claim_another_count_of_pulls,
     .words = "did not order",
     .in_networks = 120},
    {.name = "an agent is counted twice at a sink",
     .agent_fault = count_the_sink_twice,
     .words = "is not that of its agents",
     .in_networks = 60},
    {.name = "a sink claims an agent more",
     .agent_fault = claim_one_agent_more,
     .words = "and holds",
     .in_networks = 60},
    {.name = "a round is closed without its quorum",
     .hub = forget_a_report,
     .words = "agents reported",
     .in_stars = 100},
    {.name = "a mean of the hub is wrong",
     .hub = shift_a_mean_of_the_hub,
     .words = "is not that of the reports",
     .in_stars = 120},
    {.name = "the hub has a report that nobody sent",
     .hub = invent_a_report,
     .words = "which never sent it",
     .in_stars = 20},
    {.name = "the hub claims to hold more than it does",
     .order = claim_to_have_seen_more,
     .words = "claims to hold",
     .in_stars = 120},
    {.name = "a broadcast says what the hub holds",
     .order = claim_to_have_seen_something_from_everyone,
     .words = "claims to hold",
     .in_stars = 150},
    {.name = "the hub has other weights",
     .world = weigh_the_other_way,
     .words = "is not that of the reports",
     .in_networks = 30},
    {.name = "a judge errs", .peer = shift_a_mean, .words = "a mean of epoch", .in_networks = 60},
    {.name = "arms do not follow",
     .peer = lose_an_arm,
     .words = "do not follow",
     .in_networks = 60},
};

static bool catches(const struct bug *bug, uint64_t seed)
{
    struct world world;
    char fault[400];
    make_world(&world, seed);
    struct elim_sim told = world.sim;
    struct tacit_elim_network const told_network = world.sim_network;
    told.network = is_star(&world) ? NULL : &told_network;
    if (bug->world != NULL)
        bug->world(&world);
    show.bug = bug;
    play_as(&world, &told, bug->agent_fault, fault);
    show.bug = NULL;
    world_close(&world);
    return strstr(fault, bug->words) != NULL;
}

TEST(every_planted_bug_is_caught)
{
    bool are_all = true;
    for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++) {
        uint32_t in_stars = 0;
        uint32_t in_networks = 0;
        for (uint64_t seed = 1; seed <= 200; seed++) {
            in_stars += bugs[i].in_stars > 0 && catches(&bugs[i], STAR(seed)) ? 1 : 0;
            in_networks += bugs[i].in_networks > 0 && catches(&bugs[i], NETWORK(seed)) ? 1 : 0;
        }
        if (in_stars < bugs[i].in_stars || in_networks < bugs[i].in_networks) {
            print_message("%s: caught in %u stars, %u networks\n", bugs[i].name, in_stars,
                          in_networks);
            are_all = false;
        }
    }
    assert_true(are_all);
}

/* What nobody is shown was counted all the same. */
TEST(a_message_that_is_not_counted_is_caught)
{
    uint32_t caught = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct world world;
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
        char const *const fault = elim_checker_fault(checker);
        caught += fault != NULL && strstr(fault, "counted") != NULL ? 1 : 0;
        elim_checker_free(checker);
        world_close(&world);
    }
    assert_true(caught > 70);
}

/* ---- Signed rows ----------------------------------------------------------------------------- */

/* A signed ring of agents that fail now and then, in sound mode; nobody is lost or cut off. */
static void make_signing_ring(struct world *world, uint64_t seed)
{
    struct tacit_graph_spec const ring = {.kind = TACIT_GRAPH_RING,
                                          .agent_count = 4 + (uint32_t)(seed % 3)};
    make_world(world, NETWORK(seed));
    world_close(world);
    use_network(world, &ring, 1, TACIT_ELIM_SPREAD);
    use_mechanism(world, TACIT_PRIVACY_SOUND, world->sim.epsilon_per_reward);
    world->sim.common.env.row_count = 1;
    world->sim.round_limit = 0;
    world->faults.lost_agents = 0;
    world->faults.cut_off = NULL;
}

/* Agent 0 does this; what it says is not checked. Returns how many agents there are. */
static uint32_t play_liar(uint64_t seed, peer_fault_fn *agent_fault, char fault[400])
{
    struct world world;
    make_signing_ring(&world, seed);
    uint32_t const agents = world.sim.common.agent_count;
    memset(show.differing, 0, sizeof show.differing);
    show.signer = &network_signer;
    show.liar = 0;
    show.peer_fault = agent_fault;
    play(&world, NULL, fault);
    show.peer_fault = NULL;
    show.liar = TACIT_NO_AGENT;
    show.signer = NULL;
    world_close(&world);
    return agents;
}

/* Agent 0 says of all rounds but none that it holds something else. */
static void say_other_history(void *context, uint32_t agent, struct tacit_elim_peer *peer,
                              struct tacit_elim_table *table, const struct tacit_event *event,
                              struct tacit_elim_update *update)
{
    (void)context, (void)peer, (void)table, (void)event;
    if (agent == 0 && update->send && update->message.has_history &&
        update->message.history.rounds > 0)
        update->message.history.digest[5] ^= 1;
}

/* Its neighbours name it, and they alone: it is not proved who of the two lies. */
TEST(member_that_says_that_it_holds_other_rows_is_named)
{
    uint32_t named = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        char fault[400];
        uint32_t const agents = play_liar(seed, say_other_history, fault);
        for (uint32_t agent = 1; agent < agents; agent++) {
            named += show.differing[agent] == 1 ? 1 : 0;
            assert_true(show.differing[agent] <= 1); /* nobody honest */
        }
        assert_true(show.provers == 0);
    }
    assert_true(named > 40);
}

/* Agent 0 of a ring commits to two rows in the first epoch, and shows each neighbour its own: what
 * it drew, and zeros to the last agent. It does what a peer does besides. */
static struct {
    uint32_t other;                   /* who sees zeros */
    struct tacit_commit drawn, zeros; /* its two commitments */
    struct tacit_commit shown;        /* scratch, as the next */
    struct tacit_elim_message granted;
} split;

static const uint8_t no_domain[TACIT_SHA256_BYTES];

static void commit_to_zeros(const struct tacit_elim_peer *state, struct tacit_elim_message *commit)
{
    static const union tacit_sum zeros[ARMS_MAX];
    struct tacit_elim_peer_view view;
    uint8_t digest[TACIT_SHA256_BYTES];
    struct tacit_commit_scope const scope = {
        .domain = no_domain, .run_id = commit->run_id, .site = 0, .epoch = commit->epoch};
    tacit_elim_peer_view(state, &view);
    elim_release_digest(view.agent.pulls, view.agent.arms, ARMS_MAX, zeros,
                        tacit_bits_count(view.agent.arms, ARMS_MAX), digest);
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
    uint8_t digest[TACIT_SHA256_BYTES];
    memset(unpack_rows(data), 0, data->sum_count * sizeof(union tacit_sum));
    memcpy(openings, data->openings,
           tacit_bits_count(data->origins, AGENTS_MAX) * sizeof *openings);
    memset(openings, 0, sizeof *openings);
    memcpy(openings->salt, split.zeros.salt, sizeof openings->salt);
    tacit_elim_row_digest(no_domain, data->run_id, data->term, 0, data->epoch,
                          split.zeros.commitment, digest);
    (void)network_signer.sign(NULL, 0, digest, openings->signature);
    data->openings = openings;
}

static void show_two_rows(void *context, uint32_t agent, struct tacit_elim_peer *state,
                          struct tacit_elim_table *table, const struct tacit_event *event,
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
static void take_other_grant(void *context, uint32_t node, const struct tacit_event *event)
{
    struct tacit_event *const heard = (struct tacit_event *)(uintptr_t)event;
    struct tacit_elim_message const *const said = event->as.message;
    if (node != 0 || event->kind != TACIT_EVENT_RECEIVE || said->kind != TACIT_ELIM_GRANT ||
        said->from != split.other || said->epoch != 1)
        return;
    split.granted = *said;
    split.granted.commit = &split.drawn;
    heard->as.message = &split.granted;
}

/* Nobody has an answer with all others' word, nobody but the liar is accused, and the proof comes
 * to all, unless they are at T before. */
TEST(member_that_shows_two_rows_is_proved)
{
    uint32_t proved = 0;
    show.change_event = take_other_grant;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        char fault[400];
        memset(&split, 0, sizeof split);
        split.other = 3 + (uint32_t)(seed % 3); /* the last one of make_signing_ring */
        uint32_t const agents = play_liar(seed, show_two_rows, fault);
        uint64_t const honest = (UINT64_C(1) << agents) - 2;
        assert_int_equal(split.other, agents - 1);
        proved += (show.provers & honest) == honest ? 1 : 0;
        assert_true((show.accused & ~UINT64_C(1)) == 0);
        assert_true(show.confirmed == 0);
    }
    show.change_event = NULL;
    assert_true(proved > 30);
}

int main(int argument_count, char **arguments)
{
    if (argument_count == 3 && strcmp(arguments[1], "--seed") == 0) {
        bool const is_good = seed_is_good(strtoull(arguments[2], NULL, 10));
        (void)printf("seed %s: %s\n", arguments[2], is_good ? "good" : "BAD");
        return is_good ? 0 : 1;
    }
    if (argument_count == 3 && strcmp(arguments[1], "--seeds") == 0)
        seed_count = (uint32_t)strtoul(arguments[2], NULL, 10);
    return testing_run(NULL, NULL);
}
