/* The real program at work: what it prints and writes, that nothing but the file and the seed
 * decides a result, how it stops, and that its bounds hold. Wrong input is in wrong_input.c. */
#include <math.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../support/testing.h"
#include "../support/on_file.h"
#include "tacit/data.h"
#include "../support/process.h"
#include "../support/skip.h"
#include "../support/temp.h"

#define HOSPITAL_DATA "diabetes130/diabetic_data.csv"
#define GENERATED "environment={kind: bernoulli, generated: {arms: 5}}"
#define HOSPITALS 3u
#define HOSPITAL_ARMS 5u

static const char base_text[] = "name: base\n"
                                "seed: 3\n"
                                "runs: 12\n"
                                "horizon: 20000\n"
                                "agents: 3\n"
                                "checkpoints: 5\n"
                                "environment: {kind: bernoulli, means: means.csv}\n"
                                "protocol: {kind: elimination}\n"
                                "privacy: {mode: sound, epsilon: 1}\n";

/* A hundred thousand runs of about half a millisecond. */
static const char long_text[] = "name: long\n"
                                "runs: 100000\n"
                                "horizon: 1000000\n"
                                "agents: 50\n"
                                "checkpoints: 5\n"
                                "environment: {kind: bernoulli, generated: {arms: 20}}\n"
                                "protocol: {kind: elimination}\n"
                                "privacy: {mode: paper, epsilon: 1}\n";

/* The metrics of DESIGN.md that epoch elimination has. */
static const char *const metric_names[] = {"regret",
                                           "regret_per_agent",
                                           "regret_exploit",
                                           "rounds",
                                           "cost",
                                           "cost_all_edges",
                                           "links",
                                           "messages",
                                           "messages_per_receiver",
                                           "scalars",
                                           "bytes",
                                           "single_arm_fraction",
                                           "best_arm_fraction",
                                           "samples",
                                           "control_messages",
                                           "control_bytes"};
#define METRIC_COUNT (sizeof metric_names / sizeof metric_names[0])

/* ---- A folder of its own for each test ---- */

static char file[TEMP_PATH_BYTES];       /* the experiment */
static char out_folder[TEMP_PATH_BYTES]; /* does not exist yet */

static int open_folder(void **state)
{
    on_file_open("experiment.yaml", base_text);
    temp_path(file, temp_folder, "experiment.yaml");
    temp_path(out_folder, temp_folder, "out");
    on_file_write("means.csv", "0.9,0.5,0.1\n");
    return 0;
}

/* ---- Running ---- */

#define TACIT(...)                                                                                 \
    process_tacit_run((struct process_plan){0}, (const char *const[]){__VA_ARGS__, NULL})
#define TACIT_AS(plan, ...) process_tacit_run((plan), (const char *const[]){__VA_ARGS__, NULL})

static void assert_ok(const struct process_result *result)
{
    (void)PROCESS_EXPECT(*result, 0, "");
    assert_string_equal(result->err, "");
}

/* `tacit COMMAND FILE [OPTION]` with up to two settings; what is NULL is left out. */
static struct process_result run_with(const char *command, const char *option,
                                      const char *const settings[2])
{
    const char *words[6] = {option};
    size_t count = option == NULL ? 0 : 1;
    for (size_t i = 0; i < 2; i++) {
        if (settings[i] == NULL)
            continue;
        words[count++] = "--set";
        words[count++] = settings[i];
    }
    return on_file_run(command, words);
}

/* The object that `run --json` prints. */
static json_t *run_json(const char *first, const char *second)
{
    const char *const settings[] = {first, second};
    return on_file_json(run_with("run", "--json", settings));
}

static double number_at(const json_t *json, const char *section, const char *name, const char *key)
{
    json_t const *const value =
        json_object_get(json_object_get(json_object_get(json, section), name), key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/* ---- JSON ---- */

static void assert_keys(const json_t *object, const char *const *keys, size_t count)
{
    assert_true(json_is_object(object));
    for (size_t i = 0; i < count; i++) {
        if (json_object_get(object, keys[i]) == NULL)
            print_error("missing: %s\n", keys[i]);
        assert_non_null(json_object_get(object, keys[i]));
    }
    assert_int_equal(json_object_size(object), count);
}
#define ASSERT_KEYS(object, ...)                                                                   \
    assert_keys((object), (const char *const[]){__VA_ARGS__},                                      \
                sizeof(const char *const[]){__VA_ARGS__} / sizeof(const char *))

TEST_WITH(json_has_the_keys_of_the_contract, open_folder, temp_folder_remove)
{
    json_t *const json = run_json(NULL, NULL);
    json_t const *const curve = json_object_get(json, "curve");
    /* note, network, agents and arms extend the contract */
    ASSERT_KEYS(json, "answer", "note", "baselines", "name", "seed", "runs", "horizon", "version",
                "privacy", "network", "metrics", "curve", "agents", "arms");
    ASSERT_KEYS(json_object_get(json, "network"), "kind", "server_links", "t_delay");
    ASSERT_KEYS(json_object_get(json, "privacy"), "mode", "epsilon_per_reward", "statement");
    ASSERT_KEYS(curve, "t", "regret");
    ASSERT_KEYS(json_object_get(curve, "regret"), "mean", "ci95");
    assert_keys(json_object_get(json, "metrics"), metric_names, METRIC_COUNT);
    for (size_t i = 0; i < METRIC_COUNT; i++)
        ASSERT_KEYS(json_object_get(json_object_get(json, "metrics"), metric_names[i]), "mean",
                    "sd", "ci95", "min", "max");
    assert_string_equal(json_string_value(json_object_get(json, "name")), "base");
    assert_int_equal(json_integer_value(json_object_get(json, "seed")), 3);
    assert_int_equal(json_integer_value(json_object_get(json, "runs")), 12);
    assert_int_equal(json_integer_value(json_object_get(json, "horizon")), 20000);
    json_decref(json);
}

/* Arms that nobody can tell apart in this horizon, though the true means can; and one that all can.
 */
TEST_WITH(answer_is_the_protocol_s_own, open_folder, temp_folder_remove)
{
    on_file_write("means.csv", "0.5,0.5001\n");
    json_t *json = run_json(NULL, NULL);
    json_t const *answer = json_object_get(json, "answer");
    assert_true(json_is_false(json_object_get(answer, "decided")));
    assert_int_equal(json_array_size(json_object_get(answer, "arms")), 2);
    assert_int_equal(
        strncmp(json_string_value(json_object_get(answer, "sentence")), "undecided between ", 18),
        0);
    json_decref(json);
    on_file_write("means.csv", "0.1,0.9\n");
    json = run_json(NULL, NULL);
    answer = json_object_get(json, "answer");
    assert_true(json_is_true(json_object_get(answer, "decided")));
    assert_int_equal(json_array_size(json_object_get(answer, "arms")), 1);
    assert_string_equal(json_string_value(json_array_get(json_object_get(answer, "arms"), 0)),
                        "arm 1");
    json_decref(json);
    json = run_json("environment={kind: bernoulli, generated: {arms: 3}}", NULL);
    assert_true(json_is_null(json_object_get(json, "answer"))); /* other arms in every run */
    json_decref(json);
}

static double baseline_of(const json_t *json, const char *name)
{
    return number_at(json_object_get(json, "baselines"), name, "regret", "mean");
}

/* Against the formulas: 3 agents, 20,000 slots, means 0.2 and 0.7. */
TEST_WITH(baselines_are_the_closed_forms, open_folder, temp_folder_remove)
{
    on_file_write("means.csv", "0.2,0.7\n");
    json_t *const json = run_json(NULL, NULL);
    double const uniform = baseline_of(json, "uniform");
    double const lowest = baseline_of(json, "floor");
    double const kl = 0.2 * log(0.2 / 0.7) + 0.8 * log(0.8 / 0.3);
    assert_true(fabs(uniform - 3 * 20000 * 0.25) < 1e-6);
    assert_true(fabs(lowest - 0.5 * log(60000) / kl) < 1e-6);
    assert_true(json_is_null(json_object_get(json, "note")));
    json_decref(json);
}

/* The floor is a bound for agents that are alike and rewards of zero and one. */
TEST_WITH(floor_is_there_only_where_it_is_one, open_folder, temp_folder_remove)
{
    on_file_write("means.csv", "0.2,0.7\n0.2,0.7\n0.2,0.7\n");
    json_t *json = run_json(NULL, NULL);
    assert_true(json_is_null(json_object_get(json_object_get(json, "baselines"), "floor")));
    json_decref(json);
    on_file_write("means.csv", "0.2,0.7\n");
    json = run_json("environment.kind=constant", NULL);
    assert_true(json_is_null(json_object_get(json_object_get(json, "baselines"), "floor")));
    json_decref(json);
}

/* Curve and metrics are two ways to the same regret; N links a round; and so on. */
TEST_WITH(json_agrees_with_itself, open_folder, temp_folder_remove)
{
    json_t *const json = run_json("cost={server_link: 25}", "checkpoints=[10, 500, 20000]");
    json_t const *const curve = json_object_get(json, "curve");
    json_t const *const times = json_object_get(curve, "t");
    json_t const *const regret = json_object_get(json_object_get(curve, "regret"), "mean");
    double const total = number_at(json, "metrics", "regret", "mean");
    double const rounds = number_at(json, "metrics", "rounds", "mean");
    assert_int_equal(json_array_size(times), 3);
    assert_int_equal(json_array_size(regret), 3);
    assert_int_equal(json_integer_value(json_array_get(times, 1)), 500);
    assert_true(fabs(json_number_value(json_array_get(regret, 2)) - total) <= 1e-9 * total);
    assert_true(fabs(3 * number_at(json, "metrics", "regret_per_agent", "mean") - total) < 1e-6);
    assert_true(fabs(number_at(json, "metrics", "links", "mean") - 3 * rounds) < 1e-9);
    assert_true(fabs(number_at(json, "metrics", "cost", "mean") - 75 * rounds) < 1e-9);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        double const mean = number_at(json, "metrics", metric_names[i], "mean");
        assert_true(number_at(json, "metrics", metric_names[i], "min") <= mean + 1e-9);
        assert_true(number_at(json, "metrics", metric_names[i], "max") >= mean - 1e-9);
    }
    json_decref(json);
}

static double epsilon_of(const char *first, const char *second)
{
    json_t *const json = run_json(first, second);
    json_t const *const epsilon =
        json_object_get(json_object_get(json, "privacy"), "epsilon_per_reward");
    double const value = json_is_null(epsilon) ? INFINITY : json_number_value(epsilon);
    json_decref(json);
    return value;
}

TEST_WITH(paper_epsilon_counts_the_agents, open_folder, temp_folder_remove)
{
    assert_true(epsilon_of("agents=50", "privacy={mode: paper, epsilon: 1}") == 50);
    assert_true(epsilon_of("privacy={mode: paper, epsilon: 0.5}", "protocol.participation=0.5") ==
                1); /* 2 of 3 report */
    assert_true(epsilon_of("agents=50", "privacy={mode: sound, epsilon: 1}") == 1);
}

/* ---- Same file, same seed, same result ---- */

TEST_WITH(seeds_do_matter, open_folder, temp_folder_remove)
{
    json_t *const one = run_json("seed=1", GENERATED);
    json_t *const again = run_json("seed=1", GENERATED);
    json_t *const other = run_json("seed=2", GENERATED);
    assert_true(json_equal(one, again));
    assert_false(json_equal(json_object_get(one, "metrics"), json_object_get(other, "metrics")));
    json_decref(one);
    json_decref(again);
    json_decref(other);
}

TEST_WITH(options_overrule_the_file, open_folder, temp_folder_remove)
{
    struct process_result result =
        TACIT("run", file, "--set", "runs=4", "--runs", "5", "--seed", "77", "--set", "name=other",
              "--set", "privacy.mode=paper", "--json");
    json_t *const json = on_file_json(result);
    assert_int_equal(json_integer_value(json_object_get(json, "runs")), 5);
    assert_int_equal(json_integer_value(json_object_get(json, "seed")), 77);
    assert_string_equal(json_string_value(json_object_get(json, "name")), "other");
    assert_true(number_at(json, "metrics", "rounds", "mean") >= 1);
    json_decref(json);
}

/* The mean of the first arm, NaN if each run has its own. */
static double first_mean(const char *first, const char *second)
{
    json_t *const json = run_json(first, second);
    json_t const *const mean =
        json_object_get(json_array_get(json_object_get(json, "arms"), 0), "mean");
    double const value = json_is_null(mean) ? NAN : json_number_value(mean);
    json_decref(json);
    return value;
}

TEST_WITH(instance_seed_fixes_the_instance, open_folder, temp_folder_remove)
{
    static const char with_7[] =
        "environment={kind: bernoulli, generated: {arms: 5, instance_seed: 7}}";
    static const char with_8[] =
        "environment={kind: bernoulli, generated: {arms: 5, instance_seed: 8}}";
    double const mean = first_mean(with_7, "seed=1");
    assert_true(mean > 0 && mean < 1);
    assert_true(first_mean(with_7, "seed=2") == mean);
    assert_false(first_mean(with_8, "seed=1") == mean);
    assert_true(isnan(first_mean(GENERATED, "seed=1")));
}

/* A result is a property of the file, not of the folder from which the program was started. */
TEST_WITH(means_lie_beside_the_experiment, open_folder, temp_folder_remove)
{
    char folder[TEMP_PATH_BYTES];
    char inside[TEMP_PATH_BYTES];
    temp_path(folder, temp_folder, "data");
    assert_int_equal(mkdir(folder, 0777), 0);
    temp_path(inside, folder, "means.csv");
    temp_file_write(folder, "means.csv", "0.2,0.4\n");
    json_t *const json = run_json("environment.means=data/means.csv", NULL);
    assert_int_equal(json_array_size(json_object_get(json, "arms")), 2);
    json_decref(json);
}

/* ---- Networks ---- */

/* One round without noise, with rewards that are their means: what it takes is pencil work. */
static void write_round(unsigned agents)
{
    char text[400];
    (void)snprintf(text, sizeof text,
                   "name: round\n"
                   "horizon: 200000\n"
                   "agents: %u\n"
                   "environment: {kind: constant, means: means.csv}\n"
                   "protocol: {kind: elimination, rounds: 1}\n"
                   "privacy: {mode: none}\n"
                   "cost: {server_link: 50, peer_link: 2}\n",
                   agents);
    on_file_write("experiment.yaml", text);
}

/* What a network is, and what a round of it takes. */
struct golden {
    unsigned agents;
    const char *network;
    int delay;
    int edges;
    int diameter;
    int links;
    int cost;
    int cost_all_edges;
};

static long long fact_of(const json_t *json, const char *name)
{
    json_t const *const value = json_object_get(json_object_get(json, "network"), name);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static void assert_metric(const json_t *json, const char *name, double expected)
{
    double const value = number_at(json, "metrics", name, "mean");
    bool const is_right = fabs(value - expected) <= 1e-9 * (1 + expected);
    if (!is_right)
        print_error("%s: %s: %.12g is not %.12g\n",
                    json_string_value(json_object_get(json_object_get(json, "network"), "kind")),
                    name, value, expected);
    assert_true(is_right);
}

static void assert_golden(const struct golden *golden)
{
    write_round(golden->agents);
    json_t *const json = run_json(golden->network, NULL);
    assert_int_equal(fact_of(json, "t_delay"), golden->delay);
    assert_int_equal(fact_of(json, "edges"), golden->edges);
    assert_int_equal(fact_of(json, "diameter"), golden->diameter);
    assert_metric(json, "rounds", 1);
    assert_metric(json, "links", golden->links);
    assert_metric(json, "cost", golden->cost);
    assert_metric(json, "cost_all_edges", golden->cost_all_edges);
    assert_metric(json, "single_arm_fraction", 1);
    assert_metric(json, "best_arm_fraction", 1);
    json_decref(json);
}

/* READINGS P1.13, 14: a link for each edge in each of d_G slots; delay d_G - 1. */
TEST_WITH(graphs_cost_what_the_paper_says, open_folder, temp_folder_remove)
{
    static const struct golden goldens[] = {
        {50, "network={kind: ring}", 24, 50, 25, 1250, 2500, 2500},
        {50, "network={kind: path}", 48, 49, 49, 2401, 4802, 4802},
        {50, "network={kind: star-graph}", 1, 49, 2, 98, 196, 196},
        {50, "network={kind: complete}", 0, 1225, 1, 1225, 2450, 2450},
        {50, "network={kind: grid}", 12, 85, 13, 1105, 2210, 2210}, /* 5 x 10 */
        {50, "network={kind: grid, rows: 2}", 24, 73, 25, 1825, 3650, 3650},
        {50, "network={kind: random, edge_probability: 1}", 0, 1225, 1, 1225, 2450, 2450},
        {50, "network={kind: regular, degree: 49}", 0, 1225, 1, 1225, 2450, 2450},
        {50, "network={kind: regular, degree: 2}", 24, 50, 25, 1250, 2500, 2500},
        {50, "network={kind: small-world, degree: 4, rewiring_probability: 0}", 12, 100, 13, 1300,
         2600, 2600},
        {4, "network={kind: edges, file: edges.csv}", 2, 3, 3, 9, 18, 18},
        {1, "network={kind: ring}", 0, 0, 0, 0, 0, 0},
        {50, "network={kind: alone}", 0, 0, 0, 0, 0, 0},
    };
    on_file_write("edges.csv", "# a path\n2,3\n1, 2\n0,1\n 2,1\n");
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++)
        assert_golden(&goldens[i]);
}

#define HYBRID(components) "network={kind: hybrid, components: [" components "]}"
#define COMPLETE(agents) "{agents: " agents ", kind: complete}"

/* Table II of the paper with c1 = 50, here with c2 = 2. READINGS P1.15, 17: the agents' distances
 * to their sinks, and a link a component. */
TEST_WITH(hybrids_cost_what_the_paper_says, open_folder, temp_folder_remove)
{
    static const struct golden goldens[] = {
        {100, HYBRID("{agents: 20, kind: complete, count: 5}"), 1, 950, 1, 100, 440, 2150},
        {100,
         HYBRID(COMPLETE("53") ", " COMPLETE("24") ", " COMPLETE("10") ", " COMPLETE(
             "6") ", " COMPLETE("7")),
         1, 1735, 1, 100, 440, 3720},
        {110,
         HYBRID(COMPLETE("63") ", " COMPLETE("24") ", " COMPLETE("10") ", " COMPLETE(
             "6") ", " COMPLETE("7")),
         1, 2310, 1, 110, 460, 4870},
        {100, HYBRID(COMPLETE("100")), 1, 4950, 1, 100, 248, 9950},
        {100, HYBRID("{agents: 20, kind: star-graph, count: 5}"), 1, 95, 2, 100, 440, 440},
        {100, HYBRID("{agents: 1, count: 100}"), 0, 0, 0, 100, 5000, 5000},
        {12, HYBRID("{agents: 5, kind: path}, {agents: 7, kind: star-graph}"), 2, 10, 4, 14, 124,
         128},
        {5, HYBRID("{agents: 1}, {agents: 4, kind: edges, file: edges.csv}"), 2, 3, 3, 6, 108, 112},
    };
    on_file_write("edges.csv", "2 3\n1 2\n0\t1\n");
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++)
        assert_golden(&goldens[i]);
}

/* Where chance makes the components, the numbers still follow from them (Table II, case 4). */
TEST_WITH(hybrid_facts_agree_with_the_links, open_folder, temp_folder_remove)
{
    double hops = 0;
    double all_edges = 0;
    long long delay = 0;
    long long agents = 0;
    write_round(100);
    json_t *const json = run_json(HYBRID("{agents: 20, kind: random, count: 5}"), NULL);
    json_t const *const components =
        json_object_get(json_object_get(json, "network"), "components");
    assert_int_equal(json_array_size(components), 5);
    for (size_t i = 0; i < 5; i++) {
        json_t const *const component = json_array_get(components, i);
        ASSERT_KEYS(component, "agents", "edges", "sink", "delay", "distance_sum");
        long long const own = json_integer_value(json_object_get(component, "delay"));
        long long const sink = json_integer_value(json_object_get(component, "sink"));
        assert_true(sink >= agents && sink < agents + 20);
        agents += json_integer_value(json_object_get(component, "agents"));
        hops += (double)json_integer_value(json_object_get(component, "distance_sum"));
        all_edges += (double)(own * json_integer_value(json_object_get(component, "edges")));
        delay = own > delay ? own : delay;
    }
    assert_int_equal(agents, 100);
    assert_int_equal(fact_of(json, "t_delay"), delay);
    assert_int_equal(fact_of(json, "server_links"), 5);
    assert_int_equal(fact_of(json, "component_count"), 5);
    assert_metric(json, "links", hops + 5);
    assert_metric(json, "cost", 2 * hops + 250);
    assert_metric(json, "cost_all_edges", 2 * all_edges + 250);
    json_decref(json);
}

/* Agent 0 takes another arm for the best one, and plays it as long as it waits. */
TEST_WITH(waiting_costs_what_the_delay_says, open_folder, temp_folder_remove)
{
    static const struct {
        const char *network;
        int delay;
    } cases[] = {{"network={kind: path}", 3},
                 {"network={kind: complete}", 0},
                 {"network={kind: ring}", 1},
                 {HYBRID("{agents: 5, kind: path}"), 2},
                 {HYBRID("{agents: 2, kind: path}, {agents: 3, kind: ring}"), 1},
                 {HYBRID("{agents: 1, count: 5}"), 0},
                 {"network={kind: star}", 0}};
    write_round(5);
    on_file_write("means.csv", "0,1\n1,0\n1,0\n1,0\n1,0\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *const json = run_json(cases[i].network, NULL);
        assert_metric(json, "regret_exploit", cases[i].delay * 0.6); /* means 0.8 and 0.2 */
        json_decref(json);
    }
}

/* A list of edges is a graph, in whatever order it is. */
TEST_WITH(listed_edges_are_the_graph, open_folder, temp_folder_remove)
{
    on_file_write("edges.csv", "4,3\n0,4\n1,0\n3,2\n2,1\n1,2\n");
    json_t *const ring = run_json("agents=5", "network={kind: ring}");
    json_t *const listed = run_json("agents=5", "network={kind: edges, file: edges.csv}");
    assert_true(json_equal(json_object_get(ring, "metrics"), json_object_get(listed, "metrics")));
    assert_true(json_equal(json_object_get(ring, "curve"), json_object_get(listed, "curve")));
    assert_int_equal(fact_of(listed, "edges"), 5);
    json_decref(ring);
    json_decref(listed);
}

static json_t *network_of(const char *seed, const char *network)
{
    json_t *const json = run_json(seed, network);
    json_t *const facts = json_incref(json_object_get(json, "network"));
    json_decref(json);
    return facts;
}

#define RANDOM(more) HYBRID("{agents: 40, kind: random" more "}")

/* One graph for all runs: of its own seed, or else of the experiment's. */
TEST_WITH(graph_seeds_fix_the_graph, open_folder, temp_folder_remove)
{
    write_round(40);
    json_t *const one = network_of("seed=1", RANDOM(""));
    json_t *const again = network_of("seed=1", RANDOM(""));
    json_t *const two = network_of("seed=2", RANDOM(""));
    json_t *const fixed = network_of("seed=1", RANDOM(", graph_seed: 5"));
    json_t *const fixed_too = network_of("seed=2", RANDOM(", graph_seed: 5"));
    json_t *const other = network_of("seed=1", RANDOM(", graph_seed: 6"));
    json_t *const alike = network_of(
        "seed=1", HYBRID("{agents: 20, kind: random, graph_seed: 5}, {agents: 20, kind: random, "
                         "graph_seed: 5}"));
    json_t *const unlike =
        network_of("seed=1", HYBRID("{agents: 20, kind: random, graph_seed: 5, count: 2}"));
    assert_true(json_equal(one, again));
    assert_false(json_equal(one, two));
    assert_true(json_equal(fixed, fixed_too));
    assert_false(json_equal(fixed, other));
    json_t const *const pairs[] = {json_object_get(alike, "components"),
                                   json_object_get(unlike, "components")};
    for (size_t i = 0; i < 2; i++) {
        json_t const *const left = json_object_get(json_array_get(pairs[i], 0), "edges");
        json_t const *const right = json_object_get(json_array_get(pairs[i], 1), "edges");
        assert_int_equal(json_integer_value(left) == json_integer_value(right), i == 0);
    }
    json_t *const all[] = {one, again, two, fixed, fixed_too, other, alike, unlike};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        json_decref(all[i]);
}

/* Paper mode: N eps a reward, where N is whom an agent is averaged with. Where agents wait they
 * play by their own rewards without noise, and no epsilon is guaranteed. */
TEST_WITH(paper_epsilon_counts_who_is_averaged, open_folder, temp_folder_remove)
{
    static const char paper[] = "privacy={mode: paper, epsilon: 2}";
    assert_true(epsilon_of("network={kind: ring}", paper) == 6);
    assert_true(isinf(epsilon_of("network={kind: path}", paper)));
    assert_true(isinf(epsilon_of(HYBRID("{agents: 2, kind: path}, {agents: 1}"), paper)));
    assert_true(epsilon_of("network={kind: alone}", paper) == 2);
}

/* READINGS P1.15: one slot less to wait, as many links; where none is left, nobody follows rewards
 * as they are, and the letter's epsilon holds. */
TEST_WITH(sinks_may_take_one_slot_less, open_folder, temp_folder_remove)
{
    static const char one_less[] = "protocol={kind: elimination, rounds: 1, sink_delay: one-less}";
    static const char paper[] = "protocol={kind: elimination, sink_delay: one-less}";
    on_file_write("experiment.yaml",
                  "name: round\nagents: 3\nhorizon: 20000\nruns: 2\n"
                  "environment: {kind: bernoulli, means: means.csv}\n"
                  "network: {kind: hybrid, components: [{agents: 2, kind: path}, {agents: 1}]}\n"
                  "protocol: {kind: elimination}\nprivacy: {mode: paper, epsilon: 2}\n");
    assert_true(isinf(epsilon_of(NULL, NULL)));
    assert_true(epsilon_of(paper, NULL) == 6);
    write_round(12);
    json_t *const json = run_json(HYBRID("{agents: 12, kind: path}"), one_less);
    assert_int_equal(fact_of(json, "t_delay"), 5);
    assert_metric(json, "links", 36 + 1);
    assert_metric(json, "cost_all_edges", 2 * 11 * 6 + 50);
    json_decref(json);
}

/* Averages of averages ask for more than sizes alike. */
TEST_WITH(component_weights_matter, open_folder, temp_folder_remove)
{
    static const char hybrid[] = HYBRID("{agents: 2, kind: path}, {agents: 1}");
    write_round(3);
    on_file_write("means.csv", "0.8,0.4\n0.8,0.4\n0.2,0.8\n");
    json_t *const by_agents = run_json(hybrid, NULL);
    json_t *const by_components = run_json(hybrid, "protocol.component_weights=components");
    assert_metric(by_agents, "best_arm_fraction", 1);     /* 0.6 and 0.533 */
    assert_metric(by_components, "best_arm_fraction", 0); /* 0.5 and 0.6 */
    json_decref(by_agents);
    json_decref(by_components);
}

/* ---- stdout, stderr, terminal ---- */

TEST_WITH(stdout_is_the_result, open_folder, temp_folder_remove)
{
    struct process_result table = TACIT("run", file);
    struct process_result quiet = TACIT("run", file, "--quiet");
    assert_ok(&table);
    assert_ok(&quiet);
    assert_int_equal(strncmp(table.out, "answer: ", 8), 0);
    assert_non_null(strstr(table.out, "\nbase: 12 runs, 3 agents, horizon 20,000, seed 3\n"));
    assert_string_equal(table.out, quiet.out);
    for (size_t i = 0; i < METRIC_COUNT; i++)
        assert_non_null(strstr(table.out, metric_names[i]));
}

TEST_WITH(bar_on_a_terminal_only, open_folder, temp_folder_remove)
{
    on_file_write("experiment.yaml", long_text);
    if (!process_has_terminals())
        SKIP_BECAUSE("no pseudo-terminal here");
    struct process_plan const bar = {.terminal = true, .interrupt_said = " of 100000 runs, "};
    struct process_plan const terminal = {.terminal = true, .interrupt_after_ms = 1200};
    struct process_plan const pipe = {.interrupt_after_ms = 1200};
    struct process_result seen = TACIT_AS(bar, "run", file, "--json");
    struct process_result quiet = TACIT_AS(terminal, "run", file, "--json", "--quiet");
    struct process_result piped = TACIT_AS(pipe, "run", file, "--json");
    assert_non_null(strstr(seen.err, bar.interrupt_said));
    assert_non_null(strstr(seen.err, "\r\033[K["));
    assert_non_null(strstr(seen.err, "\r\033[Ktacit run: stopped; ")); /* the bar is wiped */
    assert_null(strstr(quiet.err, "\033["));
    assert_null(strstr(piped.err, "\033["));
    assert_int_equal(process_line_count(piped.err), 1);
    assert_int_equal(seen.out[0], '{');
}

/* The bar is gone when all is over, and leaves nothing behind on stdout. */
TEST_WITH(bar_is_wiped, open_folder, temp_folder_remove)
{
    on_file_write("experiment.yaml", long_text);
    if (!process_has_terminals())
        SKIP_BECAUSE("no pseudo-terminal here");
    struct process_plan const terminal = {.terminal = true};
    struct process_result result =
        TACIT_AS(terminal, "run", file, "--runs", "600", "--threads", "1", "--json");
    static const char wipe[] = "\r\033[K";
    assert_true(result.err_size >= strlen(wipe));
    assert_string_equal(result.err + result.err_size - strlen(wipe), wipe);
    json_decref(on_file_json(result));
}

TEST_WITH(help_and_version, open_folder, temp_folder_remove)
{
    (void)PROCESS_EXPECT(TACIT("--version"), 0, "tacit ");
    (void)PROCESS_EXPECT(TACIT("run", "--help"), 0, "Usage: tacit run [OPTION...] FILE");
}

/* ---- Ctrl-C ---- */

static void assert_stopped(const struct process_result *result)
{
    assert_int_equal(result->code, 130);
    assert_true(result->ended_ms < 20000); /* the runs left would take minutes */
    assert_non_null(strstr(result->err, "tacit run: stopped; "));
}

/* Interrupted later and later, until a run was finished by then. */
static struct process_result stop_after_some(const char *const *arguments)
{
    struct process_plan plan = {.interrupt_after_ms = 500};
    for (;; plan.interrupt_after_ms *= 4) {
        struct process_result result = process_tacit_run(plan, arguments);
        assert_stopped(&result);
        if (strstr(result.err, " 0 of 100000 runs were finished") == NULL)
            return result;
    }
}

/* On one thread the runs that finished are the first ones: asking for just these is the same. */
TEST_WITH(interrupt_keeps_what_is_finished, open_folder, temp_folder_remove)
{
    char runs[32];
    on_file_write("experiment.yaml", long_text);
    struct process_result stopped = stop_after_some(
        (const char *const[]){"run", file, "--json", "--threads", "1", "--out", out_folder, NULL});
    json_t *const json = json_loads(stopped.out, 0, NULL);
    long long const finished = json_integer_value(json_object_get(json, "runs"));
    assert_int_equal(json_integer_value(json_object_get(json, "runs_asked")), 100000);
    assert_true(finished > 0 && finished < 100000);
    char said[128];
    (void)snprintf(said, sizeof said,
                   "%lld of 100000 runs were finished, and the results are of these\n", finished);
    assert_non_null(strstr(stopped.err, said));
    char *const summary = on_file_text(out_folder, "summary.json");
    assert_string_equal(summary, stopped.out);
    (void)snprintf(runs, sizeof runs, "%lld", finished);
    json_t *const same =
        on_file_json(TACIT("run", file, "--json", "--threads", "1", "--runs", runs));
    static const char *const parts[] = {"metrics", "curve", "arms"};
    for (size_t i = 0; i < 3; i++)
        assert_true(json_equal(json_object_get(json, parts[i]), json_object_get(same, parts[i])));
    assert_null(json_object_get(same, "runs_asked"));
    json_decref(json);
    json_decref(same);
}

TEST_WITH(interrupt_shows_in_the_table, open_folder, temp_folder_remove)
{
    on_file_write("experiment.yaml", long_text);
    struct process_result result = stop_after_some((const char *const[]){"run", file, NULL});
    assert_non_null(strstr(result.out, "STOPPED: "));
    assert_non_null(strstr(result.out, " of 100000 runs finished"));
}

/* Rewards that are drawn one by one: a single run that takes minutes. */
TEST_WITH(interrupt_before_anything_is_finished, open_folder, temp_folder_remove)
{
    struct process_plan const plan = {.interrupt_after_ms = 1};
    struct process_result result = TACIT_AS(
        plan, "run", file, "--runs", "1", "--set", "horizon=1e12", "--set", "agents=1", "--set",
        "environment={kind: gaussian, means: means.csv, gaussian: {sd: 1}}", "--set",
        "privacy={mode: sound, epsilon: 1e-5, range: [-1, 2]}", "--out", out_folder);
    assert_stopped(&result);
    assert_non_null(strstr(result.err, "0 of 1 runs were finished; there are no results\n"));
    assert_string_equal(result.out, "");
    assert_int_equal(access(out_folder, F_OK), -1);
}

/* ---- --out ---- */

static void assert_report_files(const char *directory)
{
    static const char *const names[] = {"summary.json", "curve.csv", "runs.csv", "figure.svg",
                                        "report.html"};
    for (size_t i = 0; i < 5; i++)
        (void)on_file_text(directory, names[i]);
    assert_int_equal(on_file_count(directory), 5);
}

TEST_WITH(out_writes_the_five_files, open_folder, temp_folder_remove)
{
    char deep[TEMP_PATH_BYTES];
    temp_path(deep, out_folder, "a/b");
    struct process_result result = TACIT("run", file, "--json", "--out", deep);
    assert_ok(&result);
    assert_report_files(deep);
    char *const summary = on_file_text(deep, "summary.json");
    char *const runs = on_file_text(deep, "runs.csv");
    char *const curve = on_file_text(deep, "curve.csv");
    assert_string_equal(summary, result.out);
    assert_int_equal(process_line_count(runs), 1 + 12);
    assert_int_equal(process_line_count(curve), 1 + 5);
}

TEST_WITH(out_may_exist, open_folder, temp_folder_remove)
{
    for (int i = 0; i < 2; i++) {
        (void)PROCESS_EXPECT(TACIT("run", file, "--out", out_folder), 0, "/out/report.html\n");
        assert_report_files(out_folder);
    }
}

/* It is found before the runs, which would take long here. */
TEST_WITH(out_that_cannot_be_written, open_folder, temp_folder_remove)
{
    char below[TEMP_PATH_BYTES];
    on_file_write("out", "a file");
    temp_path(below, out_folder, "below");
    const char *const places[] = {out_folder, below, "/proc/nobody/out"};
    for (size_t i = 0; i < 3; i++) {
        struct process_result result =
            TACIT("run", file, "--runs=100000", "--json", "--out", places[i]);
        assert_string_equal(PROCESS_EXPECT(result, 1, "tacit run: --out: ", places[i]), "");
        assert_int_equal(process_line_count(result.err), 1);
    }
    char *const untouched = on_file_text(temp_folder, "out");
    assert_string_equal(untouched, "a file");
}

/* Relative paths are those of the folder where the program was started. */
TEST_WITH(a_file_may_come_through_standard_input, open_folder, temp_folder_remove)
{
    char script[3 * TEMP_PATH_BYTES];
    (void)snprintf(script, sizeof script,
                   "program=$(realpath '%s') && cd '%s' && \"$program\" run - --json < '%s'",
                   process_tacit(), temp_folder, file);
    struct process_plan const plan = {.arguments =
                                          (const char *const[]){"/bin/sh", "-c", script, NULL}};
    struct process_result piped = process_run(&plan);
    struct process_result named = TACIT("run", file, "--json");
    assert_ok(&piped);
    assert_string_equal(piped.out, named.out);
}

/* ---- check ---- */

static double bound_of(const char *text, const char *name)
{
    char line[32];
    (void)snprintf(line, sizeof line, "\n  %s ", name);
    char const *const at = strstr(text, line);
    assert_non_null(at);
    return strtod(at + strlen(line), NULL);
}

TEST_WITH(check_shows_the_network, open_folder, temp_folder_remove)
{
    (void)PROCESS_EXPECT(TACIT("check", file, "--set=agents=50", "--set=network={kind: ring}"), 0,
                         ": ok: 50 agents, 3 arms, 20000 slots, 12 runs\n",
                         "Network (ring)\n  edges      50\n  diameter   25\n"
                         "  t_delay    24  (slots of waiting in a round)\n  components 1\n",
                         "(1 a peer link, 1250 links a round)\n");
    (void)PROCESS_EXPECT(
        TACIT("check", file, "--set", "agents=34", "--set",
              HYBRID("{agents: 5, kind: path}, {agents: 20, kind: complete}, {agents: 1, count: "
                     "9}")),
        0, "Network (hybrid)\n  edges      194\n",
        "    agents 0-4: 4 edges, sink 2, delay 2, 6 hops to it\n"
        "    agents 5-24: 190 edges, sink 5, delay 1, 19 hops ",
        "    agent 25: 0 edges, sink 25, delay 0, 0 hops to it\n", "    and 3 more\n",
        "(1 a server link, 11 links a round; 1 a peer link, 25 links a round)\n");
}

static const char bounds_text[] = "name: bounds\n"
                                  "runs: 6\n"
                                  "horizon: 20000\n"
                                  "agents: 50\n"
                                  "environment: {kind: bernoulli, generated: {arms: 5}}\n"
                                  "protocol: {kind: elimination}\n"
                                  "privacy: {mode: none}\n";
#define ROUNDS(more) "protocol={kind: elimination, rounds: " more "}"
#define ALIKE "environment={kind: constant, means: alike.csv}"

/* Rounds, messages, bytes and cost of real runs stay within what check says, for easy and hard
 * problems, many and few agents and arms, with and without a limit on the rounds. */
TEST_WITH(bounds_hold, open_folder, temp_folder_remove)
{
    static const char *const configurations[][2] = {
        {NULL, NULL},
        {"environment={kind: bernoulli, means: means.csv}", "horizon=100"}, /* one epoch: reached */
        {ALIKE, "horizon=20000"}, /* two arms to the end: the last epoch just fits in one */
        {ALIKE, "horizon=30000"},
        {ALIKE, "horizon=45000"},
        {"horizon=1e9", "environment={kind: constant, generated: {arms: 30}}"},
        {"agents=2000", "horizon=1e5"}, /* epochs without new pulls */
        {"agents=400", "protocol={kind: elimination, participation: 0.31}"},
        {ROUNDS("3"), "agents=70"},
        {ROUNDS("40"), NULL}, /* a gap for each run */
        {ROUNDS("200, gap: 0.9"), "agents=900"},
        {ROUNDS("20, gap: 0.5"), NULL}, /* five arms need pulls where two do not */
        {"privacy={mode: paper, epsilon: 0.01}", "horizon=1e6"},
        {"privacy={mode: sound, epsilon: 0.02}", "horizon=1e6"},
        {"cost={server_link: 2.5}", "agents=65"},
        {"network={kind: ring}", "horizon=1e5"},
        {"network={kind: path}", "agents=9"},
        {"network={kind: complete}", "cost={peer_link: 0.5}"},
        {"network={kind: star-graph}", "privacy={mode: sound, epsilon: 1}"},
        {"network={kind: random}", "agents=130"},
        {"network={kind: regular, degree: 5}", NULL},
        {"network={kind: alone}", "horizon=1e5"},
        {HYBRID("{agents: 24, kind: random, count: 2}, {agents: 2, kind: path}"), NULL},
        {HYBRID("{agents: 1, count: 50}"), "cost={server_link: 3}"},
        {HYBRID("{agents: 50, kind: path}"), "privacy={mode: sound, epsilon: 1}"},
    };
    static const char *const names[] = {"rounds", "messages", "bytes", "cost"};
    on_file_write("experiment.yaml", bounds_text);
    on_file_write("alike.csv", "0.5,0.5\n");
    for (size_t i = 0; i < sizeof configurations / sizeof configurations[0]; i++) {
        struct process_result check = run_with("check", NULL, configurations[i]);
        assert_ok(&check);
        json_t *const json = run_json(configurations[i][0], configurations[i][1]);
        for (size_t j = 0; j < 4; j++) {
            double const bound = bound_of(check.out, names[j]);
            double const found = number_at(json, "metrics", names[j], "max");
            if (found > bound)
                print_error("configuration %zu: %s %g > %g\n", i, names[j], found, bound);
            assert_true(found <= bound);
        }
        json_decref(json);
    }
}

/* ---- data ---- */

/* A data directory with one data set, whose second file is damaged or not there. */
static void make_data(void)
{
    char folder[TEMP_PATH_BYTES];
    temp_path(folder, temp_folder, "diabetes130");
    assert_int_equal(mkdir(folder, 0777), 0);
    temp_file_write(folder, "diabetic_data.csv.xz", "abc");
    temp_file_write(folder, "IDs_mapping.csv", "abc");
    on_file_write("SHA256SUMS", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  "
                                "diabetes130/diabetic_data.csv.xz\n"
                                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  "
                                "diabetes130/IDs_mapping.csv\n");
}

#define DATA(code, says, ...)                                                                      \
    (void)PROCESS_EXPECT(TACIT_AS(plan, "data", __VA_ARGS__), (code), (says))

TEST_WITH(data_codes, open_folder, temp_folder_remove)
{
    char variable[TEMP_PATH_BYTES + 16];
    char folder[TEMP_PATH_BYTES];
    const char *const environment[] = {variable, "HOME=/nonexistent", NULL};
    struct process_plan const plan = {.environment = environment};
    (void)snprintf(variable, sizeof variable, "TACIT_DATA=%s", temp_folder);
    make_data();
    temp_path(folder, temp_folder, "diabetes130");
    DATA(0, "mnist        absent", "list");
    DATA(0, "diabetes130  here", "list");
    DATA(0, "diabetes130/IDs_mapping.csv: ok\n", "verify");
    DATA(0, "diabetic_data.csv.xz: ok\n", "verify", "diabetes130");
    DATA(1, "mnist: absent\n", "verify", "mnist");
    DATA(0, folder, "path", "diabetes130");
    DATA(0, "diabetic_data.csv.xz\n", "path", "diabetes130/diabetic_data.csv");
    DATA(1, "tacit data: 'mnist' is not in a data directory (", "path", "mnist");
    DATA(1, "'diabetes130/none' is not in", "path", "diabetes130/none");
    DATA(2, "'imagenet' is not a data set that tacit knows", "path", "imagenet");
    temp_file_write(folder, "IDs_mapping.csv", "abd");
    DATA(1, "diabetes130/IDs_mapping.csv: WRONG: ", "verify", "diabetes130");
    DATA(1, "IDs_mapping.csv: WRONG: ", "verify");
}

/* ---- The hospitals ---- */

/* Copies a file of experiments/hospital, found from the folder the tests run in, or skips. */
static void copy_hospital(const char *name, const char *as)
{
    char const *const source = getenv("TACIT_SOURCE");
    char folder[TEMP_PATH_BYTES];
    temp_path(folder, source == NULL ? "." : source, "experiments/hospital");
    char *const text = on_file_text(folder, name);
    on_file_write(as, text);
}

static void take_hospital(void)
{
    copy_hospital("hospital.yaml", "experiment.yaml");
    copy_hospital("means.csv", "means.csv");
}

static void read_means(struct tacit_means *means)
{
    char path[TEMP_PATH_BYTES];
    struct tacit_error error;
    temp_path(path, temp_folder, "means.csv");
    assert_int_equal(tacit_means_read(means, path, 0, 1, &error), TACIT_OK);
    assert_int_equal(means->row_count, HOSPITALS);
    assert_int_equal(means->arm_count, HOSPITAL_ARMS);
}

/* Names, and means that are the averages of the columns of means.csv. */
static void assert_arms(const json_t *json)
{
    static const char *const names[] = {"insulin", "metformin", "glipizide group",
                                        "glyburide group", "no medication"};
    json_t const *const arms = json_object_get(json, "arms");
    struct tacit_means means;
    read_means(&means);
    assert_int_equal(json_array_size(arms), HOSPITAL_ARMS);
    for (size_t arm = 0; arm < HOSPITAL_ARMS; arm++) {
        json_t const *const one = json_array_get(arms, arm);
        double sum = 0;
        for (size_t hospital = 0; hospital < HOSPITALS; hospital++)
            sum += means.values[hospital * HOSPITAL_ARMS + arm];
        assert_string_equal(json_string_value(json_object_get(one, "name")), names[arm]);
        assert_true(fabs(json_number_value(json_object_get(one, "mean")) - sum / HOSPITALS) <=
                    1e-12);
    }
    tacit_means_free(&means);
}

/* Runs it twice, for the table and for the JSON and the report; all must tell where rewards come
 * from. */
static void assert_hospital(const char *const *environment, const char *note)
{
    struct process_plan const plan = {.environment = environment};
    (void)PROCESS_EXPECT(TACIT_AS(plan, "run", file, "--runs", "4"), 0, note);
    json_t *const parsed =
        on_file_json(TACIT_AS(plan, "run", file, "--runs", "4", "--json", "--out", out_folder));
    assert_non_null(strstr(on_file_text(out_folder, "report.html"), note));
    assert_arms(parsed);
    assert_true(number_at(parsed, "metrics", "best_arm_fraction", "mean") == 1);
    json_decref(parsed);
}

TEST_WITH(hospital_with_its_data, open_folder, temp_folder_remove)
{
    char path[TACIT_PATH_BYTES];
    if (tacit_dataset_find(NULL, HOSPITAL_DATA, path) != TACIT_OK)
        SKIP_BECAUSE("no data set " HOSPITAL_DATA " here");
    take_hospital();
    assert_hospital(NULL, "Rewards are drawn from the rows of " HOSPITAL_DATA ".");
}

TEST_WITH(hospital_without_its_data, open_folder, temp_folder_remove)
{
    static const char *const nowhere[] = {"TACIT_DATA=", "HOME=", NULL};
    take_hospital();
    assert_hospital(nowhere,
                    "The data set " HOSPITAL_DATA " is not here: rewards are drawn with the arm "
                    "means of means.csv");
}
