/* Elimination over stars, graphs and hybrids: the block simulator against a naive twin
 * (graph_twin.c), whose messages are also those of gis_slots.py, since the program's are. Means
 * over runs agree within 4 standard errors of their difference, which a metric of a correct program
 * misses with chance 6e-5; with constant rewards and no noise there is no chance at all. */
#include <math.h>
#include "../support/testing.h"
#include "../support/effort.h"
#include "../support/elim_sim.h"
#include "../support/gof.h"
#include "graph_twin_of.h"

#define ARMS_MAX 50u
#define EPOCHS_MAX 64u
#define MEANS_MAX (ARMS_MAX * NETWORK_AGENTS_MAX)

static uint64_t next_number(uint64_t *at)
{
    return *at = graph_twin_seed(*at, 1);
}

/* Of the specs, side by side. */
#define PART(shape, size)                                                                          \
    {                                                                                              \
        .kind = TACIT_GRAPH_##shape, .agent_count = (size), .edge_probability = 0.4                \
    }

static struct graph_twin_config on_network(const struct network *network, enum graph_twin_kind kind)
{
    struct graph_twin_config config = graph_twin_of(network, kind);
    config.mean_rows = 1;
    config.horizon = 20000;
    config.cost_server_link = 50;
    config.cost_agent_link = 3;
    return config;
}

static void draw_means(double *means, size_t count, uint64_t seed)
{
    uint64_t at = seed;
    for (size_t i = 0; i < count; i++)
        means[i] = (double)(next_number(&at) >> 12) * 0x1p-52;
}

static void assert_close(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * (1 + fabs(a))))
        fail_msg("%.17g is not %.17g", a, b);
}

/* ---- The twin's schedule ---- */

/* With pencil: S(1) = ceil(8 ln(8 2 1 20000) / (4 / 4)) = ceil(101.41) = 102, 2 C(1) = .2492, the
 * gap is .6. Four agents lose 102 times .6; agent 0 believes in arm 1 and waits once. */
TEST(a_schedule_done_with_pencil)
{
    static const double means[] = {0.2, 0.8, 1, 0, 1, 0, 1, 0};
    static const struct tacit_graph_spec ring = PART(RING, 4);
    struct graph_twin_config config = on_network(network_new(&ring, 1, 1), GRAPH_TWIN_GIS);
    uint64_t const checkpoints[] = {1, 2, 204, 205, 206, 20000};
    double curve[6];
    uint32_t eliminated[2];
    struct graph_twin_result result = {.eliminated_epoch = eliminated};
    config.arms = 2;
    config.means = means;
    config.mean_rows = 4;
    config.constant_rewards = true;
    config.checkpoints = checkpoints;
    config.checkpoint_count = 6;
    config.regret_at = curve;
    assert_true(graph_twin_run(&config, &result));
    assert_int_equal(result.trace_count, 1);
    assert_int_equal(result.trace[0].n, 102);
    assert_close(2 * result.trace[0].c, 2 * sqrt(log(320000) / (8 * 102)));
    assert_int_equal(result.samples, 4 * 204);
    assert_close(result.regret, 4 * 102 * 0.6 + 0.6);
    assert_close(result.regret_exploit, 0.6);
    assert_int_equal(result.waiting_pulls, 4);
    assert_int_equal(result.final_arm, 0);
    assert_int_equal(eliminated[0], 0);
    assert_int_equal(eliminated[1], 1);
    double const want[] = {
        0, 4 * 0.6, 4 * 102 * 0.6, 4 * 102 * 0.6 + 0.6, 4 * 102 * 0.6 + 0.6, 4 * 102 * 0.6 + 0.6};
    for (uint32_t i = 0; i < 6; i++)
        assert_close(curve[i], want[i]);
}

/* Component {0} loves arm 0, component {1, 2, 3} arm 1; the averages rank them differently. */
TEST(the_average_of_averages_targets_another_mean)
{
    static const double means[] = {1, 0, 0.1, 0.9, 0.1, 0.9, 0.1, 0.9};
    static const struct tacit_graph_spec parts[] = {PART(PATH, 1), PART(COMPLETE, 3)};
    struct graph_twin_config config = on_network(network_new(parts, 2, 1), GRAPH_TWIN_SINKS);
    struct graph_twin_result result = {.eliminated_epoch = NULL};
    config.arms = 2;
    config.means = means;
    config.mean_rows = 4;
    config.constant_rewards = true;
    config.horizon = 200000;
    assert_true(graph_twin_run(&config, &result));
    assert_int_equal(result.final_arm_count, 1);
    assert_int_equal(result.final_arm, 1);
    assert_true(result.final_arm_is_best);
    config.average_of_averages = true;
    assert_true(graph_twin_run(&config, &result));
    assert_int_equal(result.final_arm_count, 1);
    assert_int_equal(result.final_arm, 0);
    assert_false(result.final_arm_is_best);
}

/* ---- The simulator against the twin: one setting for both ---- */

#define PARTS_MAX 6u

struct setting {
    const char *name;
    enum graph_twin_kind kind;
    struct tacit_graph_spec parts[PARTS_MAX]; /* agent_count 0: no more */
    uint32_t arms;
    uint64_t horizon;
    double epsilon;       /* the paper's letter; with sound per reward */
    double participation; /* of a star, whose agents are in pieces; 0: there is a graph */
    bool heterogeneous;
    bool sound;
    bool average_of_averages;
    bool first_hop_early;
    bool constant_rewards;
    bool waiting_is_cut; /* by T: then how a round is counted is a convention */
    uint32_t rounds;
    uint32_t runs; /* of the long form */
};

static uint32_t runs_of(const struct setting *setting)
{
    return effort_of((setting->runs + 2) / 3, setting->runs);
}

static struct network *network_of(const struct setting *setting)
{
    uint32_t count = 0;
    while (count < PARTS_MAX && setting->parts[count].agent_count > 0)
        count++;
    return network_new(setting->parts, count, 40);
}

static struct graph_twin_config twin_setting(const struct setting *setting,
                                             const struct network *network, const double *means)
{
    struct graph_twin_config config = on_network(network, setting->kind);
    config.arms = setting->arms;
    config.means = means;
    config.mean_rows = setting->heterogeneous ? config.agents : 1;
    config.constant_rewards = setting->constant_rewards;
    config.horizon = setting->horizon;
    config.epsilon = setting->epsilon;
    config.sound = setting->sound;
    config.participation = setting->participation;
    config.rounds = setting->rounds;
    config.average_of_averages = setting->average_of_averages;
    config.first_hop_early = setting->first_hop_early;
    return config;
}

static struct tacit_elim_network sim_network(const struct setting *setting,
                                             const struct network *network)
{
    struct tacit_elim_network made = network_for_sim(
        network, setting->kind == GRAPH_TWIN_SINKS ? TACIT_ELIM_GATHER : TACIT_ELIM_SPREAD);
    made.components_alike = setting->average_of_averages;
    made.reports_at_once = setting->first_hop_early;
    return made;
}

static struct elim_sim sim_setting(const struct setting *setting,
                                   const struct tacit_elim_network *network, const double *means,
                                   const uint64_t *points, uint32_t point_count)
{
    bool const is_star = setting->participation > 0;
    uint32_t const agents = network->graph->agent_count;
    uint32_t const team = setting->kind == GRAPH_TWIN_ALONE ? 1
                          : is_star ? tacit_elim_report_count(setting->participation, agents)
                                    : agents;
    double const epsilon = setting->sound ? setting->epsilon : setting->epsilon * team;
    struct tacit_mechanism_config const config = {
        setting->sound ? TACIT_PRIVACY_SOUND : TACIT_PRIVACY_PAPER, epsilon, 0, 1};
    struct elim_sim sim = {
        .common.seed = 19,
        .common.run_count = runs_of(setting),
        .common.agent_count = agents,
        .report_count = team,
        .round_limit = setting->rounds,
        .common.horizon = setting->horizon,
        .common.points = points,
        .common.point_count = point_count,
        .common.env = {.kind = setting->constant_rewards ? TACIT_ENV_CONSTANT : TACIT_ENV_BERNOULLI,
                       .row_count = setting->heterogeneous ? agents : 1,
                       .arm_count = setting->arms,
                       .means = means},
        .epsilon_per_reward = epsilon,
        .server_link_cost = 50,
        .peer_link_cost = 3,
        .network = is_star ? NULL : network};
    assert_int_equal(tacit_mechanism_init(&sim.mechanism, &config), TACIT_OK);
    return sim;
}

/* ---- Statistical part ---- */

/* The first MEASURES_OF_A_CUT have one meaning also where T cuts the waiting. */
#define MEASURES_OF_A_CUT 5u
static const char *const measure_names[] = {"regret",
                                            "regret at T/3",
                                            "regret_exploit",
                                            "samples",
                                            "single_arm_fraction",
                                            "rounds",
                                            "cost",
                                            "cost_all_edges",
                                            "links",
                                            "messages",
                                            "messages_per_receiver",
                                            "scalars",
                                            "best_arm_fraction"};
enum { MEASURES = sizeof measure_names / sizeof measure_names[0] };

static void measure_twin(const struct setting *setting, const struct network *network,
                         const double *means, struct gof_spread spreads[MEASURES])
{
    double early;
    uint64_t const third = setting->horizon / 3;
    struct graph_twin_config config = twin_setting(setting, network, means);
    config.checkpoints = &third;
    config.checkpoint_count = 1;
    config.regret_at = &early;
    for (uint32_t run = 0; run < runs_of(setting); run++) {
        struct graph_twin_result result = {.eliminated_epoch = NULL};
        config.seed = graph_twin_seed(5, run);
        assert_true(graph_twin_run(&config, &result));
        assert_true(result.agents_agree);
        double const values[] = {result.regret,
                                 early,
                                 result.regret_exploit,
                                 (double)result.samples,
                                 result.single_arm_fraction,
                                 result.rounds,
                                 result.cost,
                                 result.cost_all_edges,
                                 (double)result.links,
                                 (double)result.messages,
                                 (double)result.messages_per_receiver,
                                 (double)result.scalars,
                                 result.best_arm_fraction};
        for (uint32_t i = 0; i < MEASURES; i++)
            gof_add(&spreads[i], values[i]);
    }
}

static void measure_sim(const struct setting *setting, const struct network *network,
                        const double *means, struct gof_spread spreads[MEASURES])
{
    static const enum elim_metric metrics[] = {ELIM_REGRET,
                                               ELIM_REGRET,
                                               ELIM_REGRET_EXPLOIT,
                                               ELIM_SAMPLES,
                                               ELIM_SINGLE_ARM_FRACTION,
                                               ELIM_ROUNDS,
                                               ELIM_COST,
                                               ELIM_COST_ALL_EDGES,
                                               ELIM_LINKS,
                                               ELIM_MESSAGES,
                                               ELIM_MESSAGES_PER_RECEIVER,
                                               ELIM_SCALARS,
                                               ELIM_BEST_ARM_FRACTION};
    size_t const runs = runs_of(setting);
    uint64_t const third = setting->horizon / 3;
    struct tacit_elim_network const made = sim_network(setting, network);
    struct elim_sim const sim = sim_setting(setting, &made, means, &third, 1);
    struct tacit_sim_results const results = {
        .metrics = testing_calloc(ELIM_METRIC_COUNT * runs, sizeof(double)),
        .regret = testing_calloc(runs, sizeof(double)),
        .eliminated = testing_calloc(runs * setting->arms, sizeof(uint32_t)),
        .finished = testing_calloc(runs, sizeof(bool))};
    struct tacit_sim_control control = {0};
    assert_int_equal(elim_sim_run(&sim, 2, &results, &control), TACIT_OK);
    for (size_t run = 0; run < runs; run++) {
        for (uint32_t i = 0; i < MEASURES; i++)
            gof_add(&spreads[i],
                    i == 1 ? results.regret[run] : results.metrics[metrics[i] * runs + run]);
    }
}

static uint32_t compare(const struct setting *setting)
{
    double means[MEANS_MAX];
    struct network *const network = network_of(setting);
    draw_means(means, MEANS_MAX, 77);
    struct gof_spread naive[MEASURES] = {{0}};
    struct gof_spread fast[MEASURES] = {{0}};
    measure_twin(setting, network, means, naive);
    measure_sim(setting, network, means, fast);
    network_free(network);
    return gof_differences(setting->name, measure_names,
                           setting->waiting_is_cut ? MEASURES_OF_A_CUT : MEASURES, fast, naive);
}

#define GRAPH(shape, size)                                                                         \
    GRAPH_TWIN_GIS,                                                                                \
    {                                                                                              \
        PART(shape, size)                                                                          \
    }
#define HYBRID(...)                                                                                \
    GRAPH_TWIN_SINKS,                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define STAR(size) HYBRID(PART(EDGES, size))
#define ALONE(size)                                                                                \
    GRAPH_TWIN_ALONE,                                                                              \
    {                                                                                              \
        PART(EDGES, size)                                                                          \
    }

static const struct setting settings[] = {
    {"star", STAR(10), 10, 30000, 1, 1, .runs = 200},
    {"star, the paper's shape, smaller", STAR(50), 50, 20000, 1, 1, .runs = 60},
    {"star, heterogeneous", STAR(5), 10, 50000, 1, 1, .heterogeneous = true, .runs = 200},
    {"participation .4", STAR(10), 10, 40000, 1, 0.4, .runs = 200},
    {"participation .55, heterogeneous", STAR(20), 6, 30000, 0.5, 0.55, .heterogeneous = true,
     .runs = 150},
    {"star, R = 3", STAR(10), 10, 40000, 1, 1, .rounds = 3, .runs = 200},
    {"participation .5, R = 2", STAR(8), 5, 60000, 1, 0.5, .rounds = 2, .runs = 200},
    {"star, T cuts an epoch", STAR(5), 10, 4000, 1, 1, .runs = 400},
    {"star, strong noise", STAR(10), 8, 60000, 0.02, 1, .runs = 200},
    {"star of one", STAR(1), 5, 60000, 1, 1, .runs = 400},
    {"star, sound", STAR(10), 8, 40000, 1, 1, .sound = true, .runs = 200},
    {"participation .5, sound", STAR(10), 6, 60000, 0.2, 0.5, .heterogeneous = true, .sound = true,
     .runs = 200},
    {"complete", GRAPH(COMPLETE, 10), 6, 20000, 1, .runs = 200},
    {"ring", GRAPH(RING, 12), 6, 20000, 1, .runs = 200},
    {"path", GRAPH(PATH, 9), 6, 20000, 1, .runs = 200},
    {"star graph", GRAPH(STAR, 10), 6, 20000, 1, .runs = 200},
    {"random graph", GRAPH(RANDOM, 12), 6, 20000, 1, .runs = 200},
    {"ring of 50", GRAPH(RING, 50), 10, 10000, 1, .runs = 60},
    {"complete, heterogeneous", GRAPH(COMPLETE, 10), 6, 20000, 1, .heterogeneous = true,
     .runs = 200},
    {"ring, heterogeneous", GRAPH(RING, 12), 6, 20000, 1, .heterogeneous = true, .runs = 200},
    {"path, heterogeneous", GRAPH(PATH, 20), 6, 20000, 1, .heterogeneous = true, .runs = 150},
    {"star graph, heterogeneous", GRAPH(STAR, 10), 6, 20000, 1, .heterogeneous = true, .runs = 200},
    {"random graph, heterogeneous", GRAPH(RANDOM, 14), 6, 20000, 1, .heterogeneous = true,
     .runs = 200},
    {"path, strong noise", GRAPH(PATH, 9), 6, 60000, 0.05, .heterogeneous = true, .runs = 150},
    {"ring, R = 3", GRAPH(RING, 12), 6, 20000, 1, .rounds = 3, .runs = 200},
    {"path, R = 1", GRAPH(PATH, 9), 6, 20000, 1, .rounds = 1, .runs = 200},
    {"ring, R = 8, heterogeneous", GRAPH(RING, 12), 5, 30000, 0.3, .rounds = 8,
     .heterogeneous = true, .runs = 200},
    {"ring, sound", GRAPH(RING, 12), 6, 20000, 1, .sound = true, .runs = 200},
    {"path, sound, heterogeneous", GRAPH(PATH, 12), 6, 30000, 0.2, .sound = true,
     .heterogeneous = true, .runs = 200},
    {"ring, no noise", GRAPH(RING, 12), 6, 20000, INFINITY, .runs = 200},
    {"path, no noise, sound, heterogeneous", GRAPH(PATH, 12), 6, 20000, INFINITY, .sound = true,
     .heterogeneous = true, .runs = 200},
    {"ring, T cuts exploration", GRAPH(RING, 12), 6, 700, 1, .heterogeneous = true, .runs = 400},
    {"ring, T inside the first epoch", GRAPH(RING, 12), 6, 120, 1, .heterogeneous = true,
     .runs = 200},
    {"path of 60, T cuts waiting", GRAPH(PATH, 60), 3, 60, 1, .waiting_is_cut = true,
     .heterogeneous = true, .runs = 400},
    {"path of 60, T cuts waiting, sound", GRAPH(PATH, 60), 3, 60, 1, .waiting_is_cut = true,
     .sound = true, .heterogeneous = true, .runs = 400},
    {"ring of 1", GRAPH(RING, 1), 4, 20000, 1, .runs = 300},
    {"path of 2", GRAPH(PATH, 2), 4, 20000, 1, .heterogeneous = true, .runs = 300},
    {"hybrid of complete ones", HYBRID(PART(COMPLETE, 4), PART(COMPLETE, 4), PART(COMPLETE, 4)), 6,
     20000, 1, .runs = 200},
    {"hybrid of rings", HYBRID(PART(RING, 7), PART(RING, 7)), 6, 20000, 1, .heterogeneous = true,
     .runs = 200},
    {"hybrid of star graphs", HYBRID(PART(STAR, 5), PART(STAR, 5)), 6, 20000, 1,
     .heterogeneous = true, .runs = 200},
    {"hybrid of random graphs", HYBRID(PART(RANDOM, 8), PART(RANDOM, 8)), 6, 20000, 1,
     .heterogeneous = true, .runs = 200},
    {"unbalanced hybrid", HYBRID(PART(COMPLETE, 6), PART(STAR, 4), PART(RANDOM, 2), PART(PATH, 1)),
     6, 20000, 1, .runs = 200},
    {"unbalanced hybrid, heterogeneous",
     HYBRID(PART(PATH, 11), PART(STAR, 4), PART(RING, 5), PART(PATH, 1)), 6, 20000, 1,
     .heterogeneous = true, .runs = 200},
    {"unbalanced hybrid, average of averages",
     HYBRID(PART(PATH, 11), PART(STAR, 4), PART(RING, 5), PART(PATH, 1)), 6, 20000, 1,
     .average_of_averages = true, .heterogeneous = true, .runs = 200},
    {"complete ones, one slot less", HYBRID(PART(COMPLETE, 4), PART(COMPLETE, 4), PART(PATH, 1)), 6,
     20000, 1, .first_hop_early = true, .heterogeneous = true, .runs = 200},
    {"unbalanced hybrid, one slot less",
     HYBRID(PART(PATH, 11), PART(STAR, 4), PART(RING, 5), PART(PATH, 1)), 6, 20000, 1,
     .first_hop_early = true, .heterogeneous = true, .runs = 200},
    {"hybrid, one slot less, sound", HYBRID(PART(PATH, 7), PART(RING, 5)), 6, 20000, 0.5,
     .sound = true, .first_hop_early = true, .heterogeneous = true, .runs = 200},
    {"one component", HYBRID(PART(RANDOM, 11)), 6, 20000, 1, .heterogeneous = true, .runs = 200},
    {"singletons",
     HYBRID(PART(PATH, 1), PART(PATH, 1), PART(PATH, 1), PART(PATH, 1), PART(PATH, 1)), 6, 30000, 1,
     .runs = 200},
    {"hybrid, R = 2", HYBRID(PART(PATH, 7), PART(RING, 5)), 6, 20000, 1, .rounds = 2,
     .heterogeneous = true, .runs = 200},
    {"hybrid, sound", HYBRID(PART(PATH, 7), PART(RING, 5)), 6, 20000, 0.5, .sound = true,
     .heterogeneous = true, .runs = 200},
    {"hybrid, no noise", HYBRID(PART(PATH, 7), PART(RING, 5)), 6, 20000, INFINITY,
     .heterogeneous = true, .runs = 200},
    {"hybrid, T cuts exploration", HYBRID(PART(PATH, 7), PART(RING, 5)), 6, 700, 1,
     .heterogeneous = true, .runs = 400},
    {"hybrid, T cuts the collection", HYBRID(PART(PATH, 50), PART(COMPLETE, 5)), 3, 30, 1,
     .waiting_is_cut = true, .heterogeneous = true, .runs = 400},
    {"alone", ALONE(6), 5, 20000, 1, .runs = 300},
    {"alone, heterogeneous", ALONE(6), 5, 20000, 1, .heterogeneous = true, .runs = 300},
    {"alone, sound, R = 4", ALONE(6), 5, 20000, 1, .sound = true, .rounds = 4, .runs = 300},
};

TEST(simulator_agrees_with_the_naive_twin)
{
    uint32_t bad = 0;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        bad += compare(&settings[i]);
    assert_int_equal(bad, 0);
}

/* The comparison can fail: it tells a ring of twelve from a path of twelve, and in a star
 * participation .5 from .6. */
TEST(comparison_notices_a_slightly_different_algorithm)
{
    static const struct setting others[][2] = {
        {{"ring", GRAPH(RING, 12), 6, 20000, 1, .heterogeneous = true, .runs = 100},
         {"path", GRAPH(PATH, 12), 6, 20000, 1, .heterogeneous = true, .runs = 100}},
        {{"p", STAR(10), 10, 40000, 1, 0.5, .runs = 300},
         {"p", STAR(10), 10, 40000, 1, 0.6, .runs = 300}}};
    static const uint32_t measures[] = {2, 0}; /* regret_exploit; regret */
    double means[MEANS_MAX];
    draw_means(means, MEANS_MAX, 77);
    for (size_t i = 0; i < 2; i++) {
        struct gof_spread naive[MEASURES] = {{0}};
        struct gof_spread fast[MEASURES] = {{0}};
        measure_twin(&others[i][0], network_of(&others[i][0]), means, naive);
        measure_sim(&others[i][1], network_of(&others[i][1]), means, fast);
        assert_int_equal(gof_differences("another one", &measure_names[measures[i]], 1,
                                         &fast[measures[i]], &naive[measures[i]]),
                         1);
    }
}

/* ---- Exact part ---- */

static struct setting random_exact_setting(uint64_t *at)
{
    static const uint64_t horizons[] = {300, 1000, 3000, 20000};
    static const enum tacit_graph_kind shapes[] = {TACIT_GRAPH_COMPLETE, TACIT_GRAPH_RING,
                                                   TACIT_GRAPH_PATH, TACIT_GRAPH_STAR,
                                                   TACIT_GRAPH_RANDOM};
    struct setting setting = {.name = "exact",
                              .kind = (enum graph_twin_kind)(next_number(at) % 3),
                              .arms = 2 + (uint32_t)(next_number(at) % 8),
                              .horizon = horizons[next_number(at) % 4] + next_number(at) % 50,
                              .epsilon = INFINITY,
                              .heterogeneous = next_number(at) % 3 > 0,
                              .sound = next_number(at) % 3 == 0,
                              .average_of_averages = next_number(at) % 2 == 0,
                              .constant_rewards = true,
                              .rounds = (uint32_t)(next_number(at) % 8),
                              .runs = 1};
    if (next_number(at) % 4 == 0) {
        setting.kind = GRAPH_TWIN_SINKS;
        setting.participation = 1;
        setting.arms += (uint32_t)(next_number(at) % 4);
        setting.horizon *= 50;
        setting.parts[0] =
            (struct tacit_graph_spec)PART(EDGES, 1 + (uint32_t)(next_number(at) % 20));
        return setting;
    }
    uint32_t const parts =
        setting.kind == GRAPH_TWIN_SINKS ? 1 + (uint32_t)(next_number(at) % PARTS_MAX) : 1;
    for (uint32_t i = 0; i < parts; i++) {
        setting.parts[i] = (struct tacit_graph_spec)PART(
            EDGES, 1 + (uint32_t)(next_number(at) % (NETWORK_AGENTS_MAX / PARTS_MAX)));
        if (setting.kind != GRAPH_TWIN_ALONE)
            setting.parts[i].kind = shapes[next_number(at) % 5];
    }
    return setting;
}

static uint32_t differs(const struct setting *setting, uint64_t seed, const char *what, double a,
                        double b)
{
    if (fabs(a - b) <= 1e-9 * (1 + fabs(a)))
        return 0;
    print_message("seed %u, kind %d, T %u, R %u, %u arms%s%s: %s: twin %.15g, tacit %.15g\n",
                  (unsigned)seed, (int)setting->kind, (unsigned)setting->horizon, setting->rounds,
                  setting->arms, setting->sound ? ", sound" : "",
                  setting->average_of_averages ? ", average of averages" : "", what, a, b);
    return 1;
}

static uint32_t compare_metrics(const struct setting *setting, uint64_t seed,
                                const struct graph_twin_result *naive, const double *metrics)
{
    const struct {
        enum elim_metric metric;
        double naive;
    } pairs[] = {{ELIM_REGRET, naive->regret},
                 {ELIM_REGRET_EXPLOIT, naive->regret_exploit},
                 {ELIM_SAMPLES, (double)naive->samples},
                 {ELIM_SINGLE_ARM_FRACTION, naive->single_arm_fraction},
                 {ELIM_ROUNDS, naive->rounds}, /* from here on not of a cut */
                 {ELIM_COST, naive->cost},
                 {ELIM_COST_ALL_EDGES, naive->cost_all_edges},
                 {ELIM_LINKS, (double)naive->links},
                 {ELIM_MESSAGES, (double)naive->messages},
                 {ELIM_MESSAGES_PER_RECEIVER, (double)naive->messages_per_receiver},
                 {ELIM_SCALARS, (double)naive->scalars},
                 {ELIM_BEST_ARM_FRACTION, naive->best_arm_fraction}};
    bool const cut = setting->kind != GRAPH_TWIN_ALONE && naive->rounds_ended < naive->rounds;
    size_t const count = cut ? 4 : sizeof pairs / sizeof pairs[0];
    uint32_t bad = 0;
    for (size_t i = 0; i < count; i++)
        bad += differs(setting, seed, elim_metrics[pairs[i].metric].name, pairs[i].naive,
                       metrics[pairs[i].metric]);
    if (cut && !(metrics[ELIM_ROUNDS] >= naive->rounds_ended))
        bad +=
            differs(setting, seed, "rounds, at least", naive->rounds_ended, metrics[ELIM_ROUNDS]);
    if (cut && !(metrics[ELIM_ROUNDS] <= naive->rounds))
        bad += differs(setting, seed, "rounds, at most", naive->rounds, metrics[ELIM_ROUNDS]);
    return bad;
}

/* What the hub did, epoch by epoch. */
struct record {
    uint32_t count;
    uint64_t pulls[EPOCHS_MAX]; /* S(r) ordered for epoch r, from the first on */
    double radius[EPOCHS_MAX];
    uint32_t active[EPOCHS_MAX];
};

static void record_hub(void *context, const struct tacit_elim_hub *state)
{
    struct record *const record = context;
    struct tacit_elim_hub_view view;
    tacit_elim_hub_view(state, &view);
    if (view.round_count == 0 || view.reports_missing == 0 || record->count == EPOCHS_MAX) {
        if (view.finished && record->count < EPOCHS_MAX) {
            record->radius[record->count] = view.radius;
            record->active[record->count++] = view.active_count;
        }
        return;
    }
    if (view.round_count > record->count) {
        record->radius[record->count] = view.radius;
        record->active[record->count++] = view.active_count;
    }
}

static void compare_epochs(const struct graph_twin_result *naive, const struct record *record)
{
    uint32_t round = 0;
    for (uint32_t i = 0; i < naive->trace_count; i++) {
        bool const is_followed_by_idle = i + 1 < naive->trace_count && naive->trace[i + 1].n == 0;
        if (!naive->trace[i].round_ended)
            continue;
        assert_true(round < record->count);
        if (!is_followed_by_idle) { /* else the radius seen is that of the repeated test */
            assert_true(fabs(record->radius[round] - naive->trace[i].c) <= 1e-9);
            assert_int_equal(record->active[round], naive->trace[i].active_after);
        }
        round++;
    }
}

/* Twin and simulator once, with the regret at the given slots. */
static uint32_t compare_exactly(const struct setting *setting, uint64_t seed,
                                const uint64_t *points, uint32_t point_count)
{
    double means[MEANS_MAX];
    double metrics[ELIM_METRIC_COUNT];
    uint32_t eliminated[ARMS_MAX] = {0};
    uint32_t naive_eliminated[ARMS_MAX] = {0};
    bool finished;
    bool healed;
    uint32_t bad = 0;
    double *const curves = testing_calloc(2 * (size_t)point_count, sizeof *curves);
    struct network *const network = network_of(setting);
    struct tacit_elim_network const made = sim_network(setting, network);
    struct graph_twin_result naive = {.eliminated_epoch = naive_eliminated};
    struct tacit_sim_control control = {0};
    struct record record = {0};
    struct elim_observer observer = {.context = &record, .hub_persisted = record_hub};
    draw_means(means, MEANS_MAX, seed);
    struct graph_twin_config config = twin_setting(setting, network, means);
    config.checkpoints = points;
    config.checkpoint_count = point_count;
    config.regret_at = curves;
    assert_true(graph_twin_run(&config, &naive));
    struct elim_sim sim = sim_setting(setting, &made, means, points, point_count);
    if (setting->participation > 0)
        sim.hooks = elim_observe(&observer);
    struct tacit_sim_results const results = {.metrics = metrics,
                                              .regret = curves + point_count,
                                              .eliminated = eliminated,
                                              .finished = &finished};
    assert_int_equal(elim_sim_run_one(&sim, 0, &results, &control, &healed), TACIT_OK);
    assert_true(healed);
    bad += compare_metrics(setting, seed, &naive, metrics);
    for (uint32_t i = 0; i < point_count && bad == 0; i++)
        bad += differs(setting, seed, "regret on the way", curves[i], curves[point_count + i]);
    /* Whether the server still decides a round that T cuts is a convention too. */
    bool const decided = setting->kind == GRAPH_TWIN_GIS || naive.rounds_ended == naive.rounds;
    for (uint32_t k = 0; k < setting->arms && decided && setting->kind != GRAPH_TWIN_ALONE; k++)
        bad += differs(setting, seed, "epoch of elimination", naive_eliminated[k], eliminated[k]);
    if (setting->participation > 0)
        compare_epochs(&naive, &record);
    network_free(network);
    testing_free(curves);
    return bad;
}

TEST(without_chance_simulator_equals_the_twin)
{
    uint64_t at = 3;
    uint32_t bad = 0;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct setting const setting = random_exact_setting(&at);
        bad += compare_exactly(&setting, seed, &setting.horizon, 1);
    }
    assert_int_equal(bad, 0);
}

/* T so that the first exploration ends `after` slots before it; 0 if there is no such T (S(1) jumps
 * with T). */
static uint64_t horizon_in_the_waiting(struct setting setting, uint64_t seed, uint64_t after)
{
    double means[MEANS_MAX];
    struct network *const network = network_of(&setting);
    uint64_t before = 0;
    setting.horizon = 100;
    draw_means(means, MEANS_MAX, seed);
    for (uint32_t tries = 0; tries < 50 && before != setting.horizon; tries++) {
        struct graph_twin_config const config = twin_setting(&setting, network, means);
        struct graph_twin_result result = {.eliminated_epoch = NULL};
        assert_true(graph_twin_run(&config, &result));
        before = setting.horizon;
        setting.horizon = result.trace[0].n * result.trace[0].active_before + after;
    }
    network_free(network);
    return before == setting.horizon ? before : 0;
}

/* All ends of a run around the first waiting: before it, in it, with its last slot, after it. */
TEST(without_chance_the_horizon_may_cut_the_waiting)
{
    uint64_t at = 5;
    uint32_t bad = 0;
    uint32_t compared = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct setting setting = random_exact_setting(&at);
        if (setting.kind == GRAPH_TWIN_ALONE)
            continue;
        for (uint64_t after = 0; after < 14; after++) {
            setting.horizon = horizon_in_the_waiting(setting, seed, after);
            if (setting.horizon == 0)
                continue;
            bad += compare_exactly(&setting, seed, &setting.horizon, 1);
            compared++;
        }
    }
    assert_true(compared > 400);
    assert_int_equal(bad, 0);
}

/* The whole curve, not just its end: at every slot of short runs, waiting included. */
TEST(without_chance_the_curve_equals_the_twin_at_every_slot)
{
    enum { SLOTS = 2000 };
    static const struct setting curves[] = {
        {"curve of a star", STAR(5), 10, SLOTS, INFINITY, 1, .constant_rewards = true, .runs = 1},
        {"curve of a ring", GRAPH(RING, 9), 5, SLOTS, INFINITY, .heterogeneous = true,
         .constant_rewards = true, .runs = 1},
        {"curve of a hybrid", HYBRID(PART(PATH, 8), PART(COMPLETE, 3), PART(RING, 1)), 5, SLOTS,
         INFINITY, .heterogeneous = true, .constant_rewards = true, .runs = 1},
        {"curve of agents alone", ALONE(5), 3, SLOTS, INFINITY, .heterogeneous = true,
         .constant_rewards = true, .runs = 1}};
    static uint64_t points[SLOTS];
    uint32_t bad = 0;
    for (uint64_t slot = 1; slot <= SLOTS; slot++)
        points[slot - 1] = slot;
    for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++)
        bad += compare_exactly(&curves[i], 4 + i, points, SLOTS);
    assert_int_equal(bad, 0);
}
