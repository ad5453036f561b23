/* Runs over graphs from distances alone, and over stars from sums, against the same runs message
 * by message: the cores, which say everything, are the twin. Random graphs of all kinds,
 * modes, bounds, environments and horizons, some of which T cuts; every number of every run, bit
 * for bit. */
#include <math.h>
#include "../support/testing.h"
#include "../../src/families/elim/flood.h"
#include "../../src/families/elim/plan.h"
#include "../../src/families/elim/state.h"
#include "../support/temp.h"
#include "tacit/random.h"

#define DRAWS 300u
#define TEXT_BYTES 1024u

static char folder[TEMP_PATH_BYTES];

static int make_folder(void **state)
{
    temp_directory_make(folder);
    return 0;
}

static int remove_folder(void **state)
{
    temp_directory_remove(folder);
    return 0;
}

/* ---- Results --------------------------------------------------------------------------------- */

struct outcome {
    struct tacit_sim_results results;
    struct tacit_sim sim; /* in which sites are watched */
};

static void outcome_make(struct outcome *outcome, const struct tacit_experiment *experiment)
{
    struct tacit_sim const *const sim = &experiment->sim;
    size_t const runs = sim->run_count;
    size_t const arms = sim->env.arm_count;
    outcome->sim = *sim;
    outcome->sim.watches_sites = true;
    outcome->results = (struct tacit_sim_results){
        .metrics = testing_calloc(ELIM_METRIC_COUNT * runs, sizeof(double)),
        .regret = testing_calloc(runs * sim->point_count, sizeof(double)),
        .finished = testing_calloc(runs, sizeof(bool)),
        .eliminated = testing_calloc(runs * arms, sizeof(uint32_t)),
        .ranking = testing_calloc(runs * arms, sizeof(uint32_t)),
        .ranked_count = testing_calloc(runs, sizeof(uint32_t)),
        .site_counts = testing_calloc(runs * arms * sim->agent_count, sizeof(uint64_t)),
        .site_sums = testing_calloc(runs * arms * sim->agent_count, sizeof(double))};
    assert_non_null(outcome->results.site_counts);
    assert_non_null(outcome->results.site_sums);
    assert_non_null(outcome->results.metrics);
    assert_non_null(outcome->results.regret);
    assert_non_null(outcome->results.finished);
    assert_non_null(outcome->results.eliminated);
    assert_non_null(outcome->results.ranking);
    assert_non_null(outcome->results.ranked_count);
}

static void play(const struct tacit_experiment *experiment, bool sends_messages,
                 struct outcome *outcome)
{
    static struct elim_hooks const onlooker = {.ops = &elim_node_ops};
    struct elim_plan *const plan = experiment->plan;
    struct tacit_sim_control control = {0};
    outcome_make(outcome, experiment);
    plan->sim.hooks = sends_messages ? &onlooker : NULL;
    assert_true(elim_flood_serves(&plan->sim) == !sends_messages);
    assert_int_equal(tacit_sim_run(&outcome->sim, &experiment->family->player, plan, 2,
                                   &outcome->results, &control),
                     TACIT_OK);
}

static void assert_same_bytes(const void *a, const void *b, size_t size, const char *what,
                              const char *text)
{
    if (memcmp(a, b, size) != 0)
        fail_msg("%s differ in:\n%s", what, text);
}

static void assert_same(const struct outcome *flood, const struct outcome *cores, const char *text)
{
    size_t const runs = flood->sim.run_count;
    size_t const arms = flood->sim.env.arm_count;
    for (size_t i = 0; i < ELIM_METRIC_COUNT * runs; i++) {
        double const mine = flood->results.metrics[i];
        double const theirs = cores->results.metrics[i];
        if (memcmp(&mine, &theirs, sizeof mine) != 0)
            fail_msg("%s of run %zu is %.17g, not %.17g, in:\n%s", elim_metrics[i / runs].name,
                     i % runs, mine, theirs, text);
    }
    assert_same_bytes(flood->results.regret, cores->results.regret,
                      runs * flood->sim.point_count * sizeof(double), "curves", text);
    assert_same_bytes(flood->results.eliminated, cores->results.eliminated,
                      runs * arms * sizeof(uint32_t), "eliminations", text);
    assert_same_bytes(flood->results.ranking, cores->results.ranking,
                      runs * arms * sizeof(uint32_t), "rankings", text);
    assert_same_bytes(flood->results.ranked_count, cores->results.ranked_count,
                      runs * sizeof(uint32_t), "numbers of ranked arms", text);
    size_t const cells = runs * arms * flood->sim.agent_count;
    assert_same_bytes(flood->results.site_counts, cores->results.site_counts,
                      cells * sizeof(uint64_t), "pulls that sites saw", text);
    assert_same_bytes(flood->results.site_sums, cores->results.site_sums, cells * sizeof(double),
                      "sums that sites saw", text);
    assert_same_bytes(flood->results.finished, cores->results.finished, runs * sizeof(bool),
                      "finished runs", text);
}

/* ---- Random experiments ---------------------------------------------------------------------- */

static uint32_t below(struct tacit_rng *rng, uint32_t bound)
{
    return (uint32_t)tacit_rng_below(rng, bound);
}

static uint32_t draw_network(struct tacit_rng *rng, char *text, size_t size)
{
    uint32_t agents = 1 + below(rng, 40);
    switch (below(rng, 10)) {
    case 0:
        (void)snprintf(text, size, "kind: alone");
        break;
    case 1:
        (void)snprintf(text, size, "kind: star-graph");
        break;
    case 2:
        (void)snprintf(text, size, "kind: complete");
        break;
    case 3:
        (void)snprintf(text, size, "kind: ring");
        break;
    case 4:
        (void)snprintf(text, size, "kind: path");
        break;
    case 5:
        (void)snprintf(text, size, "kind: grid");
        break;
    case 6:
        (void)snprintf(text, size, "kind: random, edge_probability: %.2f",
                       0.3 + 0.7 * tacit_rng_uniform(rng));
        break;
    case 7:
        agents = 6 + 2 * below(rng, 20);
        (void)snprintf(text, size, "kind: regular, degree: %u", 3 + below(rng, 3));
        break;
    default:
        agents = 9 + below(rng, 60);
        (void)snprintf(text, size, "kind: small-world, degree: %u, rewiring_probability: %.2f",
                       2 + 2 * below(rng, 3), tacit_rng_uniform(rng));
        break;
    }
    return agents;
}

static const char *draw_protocol(struct tacit_rng *rng, bool *is_exact)
{
    static const char *const words[] = {"", ", rounds: 3", ", rounds: 5, gap: 0.2",
                                        ", bounds: exact",
                                        ", bounds: exact, growth: 1.5, confidence: 0.9"};
    uint32_t const which = below(rng, 5);
    *is_exact = which >= 3;
    return words[which];
}

static void draw_experiment(struct tacit_rng *rng, bool is_star, char text[TEXT_BYTES])
{
    static const char *const modes[] = {"paper", "sound", "none"};
    static const char *const draws[] = {"", ", draw: uniform_per_agent", ", instance_seed: 5"};
    char network[128] = "kind: star";
    bool is_exact;
    uint32_t const agents =
        is_star ? 1 + below(rng, 40) : draw_network(rng, network, sizeof network);
    char const *const protocol = draw_protocol(rng, &is_exact);
    uint32_t const mode = !is_exact ? below(rng, 3) : is_star ? 1 + below(rng, 2) : 1;
    bool const is_gaussian = mode != 1 && !is_exact && below(rng, 4) == 0;
    char const *const kind = is_gaussian          ? "gaussian, gaussian: {sd: 0.3}"
                             : below(rng, 5) == 0 ? "constant"
                                                  : "bernoulli";
    double const epsilon = 0.1 * pow(100, tacit_rng_uniform(rng));
    uint64_t const horizon = (uint64_t)(300 * pow(300, tacit_rng_uniform(rng)));
    (void)snprintf(text, TEXT_BYTES,
                   "name: n\nseed: %u\nruns: 2\nhorizon: %llu\nagents: %u\ncheckpoints: %u\n"
                   "network: {%s}\nprotocol: {kind: elimination%s}\n"
                   "privacy: {mode: %s%s%.4f}\n"
                   "environment: {kind: %s, generated: {arms: %u%s}}\n",
                   1 + below(rng, 1000), (unsigned long long)horizon, agents, 1 + below(rng, 30),
                   network, protocol, modes[mode], mode == 2 ? "} # " : ", epsilon: ", epsilon,
                   kind, (is_star ? 1 : 2) + below(rng, 8), draws[below(rng, 3)]);
    if (mode == 2) { /* the rest of the line is a comment */
        char *const comment = strstr(text, "} # ");
        char *const end = strchr(comment, '\n');
        memmove(comment + 1, end, strlen(end) + 1);
    }
}

/* Returns whether the file was taken. */
static bool compare(const char *text)
{
    char path[TEMP_PATH_BYTES];
    struct tacit_experiment experiment;
    struct tacit_error error = {""};
    struct outcome flood;
    struct outcome cores;
    temp_file_write(folder, "n.yaml", text);
    temp_path(path, folder, "n.yaml");
    enum tacit_status const status = tacit_experiment_load(&experiment, path, NULL, 0, &error);
    if (status != TACIT_OK) {
        bool const is_expected =
            strstr(error.text, "too short") != NULL || strstr(error.text, "allowed: ") != NULL;
        if (!is_expected)
            fail_msg("%s\n%s", error.text, text);
        return false;
    }
    play(&experiment, false, &flood);
    play(&experiment, true, &cores);
    assert_same(&flood, &cores, text);
    tacit_experiment_free(&experiment);
    return true;
}

static void say_what_messages_would(bool is_star)
{
    char text[TEXT_BYTES];
    uint32_t played = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct tacit_rng rng = tacit_rng_stream(is_star ? 17 : 16, i, TACIT_STREAM_COMMON, 0);
        draw_experiment(&rng, is_star, text);
        played += compare(text) ? 1 : 0;
    }
    assert_in_range(played, 3 * DRAWS / 4, DRAWS);
}

TEST(distances_say_what_messages_would)
{
    say_what_messages_would(false);
}

TEST(sums_of_a_star_say_what_messages_would)
{
    say_what_messages_would(true);
}

/* What a lost slot, a message more or another neighbour asked would show. */
TEST(the_comparison_sees_each_message)
{
    char path[TEMP_PATH_BYTES];
    struct tacit_experiment experiment;
    struct tacit_error error;
    struct outcome wide;
    struct outcome narrow;
    temp_file_write(folder, "n.yaml",
                    "name: n\nruns: 1\nhorizon: 30000\nagents: 9\ncheckpoints: 5\n"
                    "network: {kind: path}\nprotocol: {kind: elimination}\n"
                    "privacy: {mode: sound, epsilon: 1}\n"
                    "environment: {kind: bernoulli, generated: {arms: 4}}\n");
    temp_path(path, folder, "n.yaml");
    assert_int_equal(tacit_experiment_load(&experiment, path, NULL, 0, &error), TACIT_OK);
    struct elim_plan *const plan = experiment.plan;
    play(&experiment, false, &wide);
    plan->network.diameter++; /* a clock that gives everybody one slot more */
    play(&experiment, false, &narrow);
    assert_true(narrow.results.metrics[ELIM_MESSAGES] > wide.results.metrics[ELIM_MESSAGES]);
    assert_true(narrow.results.metrics[ELIM_REGRET_EXPLOIT] !=
                wide.results.metrics[ELIM_REGRET_EXPLOIT]);
    tacit_experiment_free(&experiment);
}

int main(void)
{
    return testing_run(make_folder, remove_folder);
}
