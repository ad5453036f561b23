/* Gossip UCB through the real program: results, refusals, what `check` says. */
#include <math.h>
#include <jansson.h>
#include "../support/testing.h"
#include "../support/on_file.h"
#include "../support/process.h"
#include "../support/temp.h"

#define WORDS_MAX 16u

static const char base_text[] = "name: base\n"
                                "seed: 3\n"
                                "runs: 6\n"
                                "horizon: 3000\n"
                                "agents: 4\n"
                                "checkpoints: 5\n"
                                "environment: {kind: bernoulli, means: means.csv}\n"
                                "network: {kind: ring}\n"
                                "protocol: {kind: gossip-ucb}\n"
                                "privacy: {mode: none}\n";

struct bench {
    char directory[TEMP_PATH_BYTES];
    char file[TEMP_PATH_BYTES];
};

static int open_bench(void **state)
{
    struct bench *const bench = testing_malloc(sizeof *bench);
    if (bench == NULL)
        return -1;
    temp_directory_make(bench->directory);
    temp_path(bench->file, bench->directory, "experiment.yaml");
    temp_file_write(bench->directory, "experiment.yaml", base_text);
    temp_file_write(bench->directory, "means.csv",
                    "0.9,0.5,0.1\n0.8,0.1,0.3\n0.2,0.6,0.1\n0.7,0.4,0.1\n");
    temp_file_write(bench->directory, "pieces.csv", "0,1\n2,3\n");
    *state = bench;
    return 0;
}

/* `tacit WORD... --set SETTING...`; both lists end with NULL. */
static struct process_result tacit(const char *const *words, const char *const *settings)
{
    const char *arguments[WORDS_MAX] = {process_tacit()};
    size_t count = 1;
    for (; *words != NULL; words++)
        arguments[count++] = *words;
    for (; *settings != NULL; settings++) {
        assert_true(count + 3 < WORDS_MAX);
        arguments[count++] = "--set";
        arguments[count++] = *settings;
    }
    struct process_plan const plan = {.arguments = arguments};
    struct process_result const result = process_run(&plan);
    assert_false(result.timed_out);
    return result;
}

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static json_t *run_json(const struct bench *bench, const char *threads, const char *const *settings)
{
    const char *const words[] = {"run", bench->file, "--json", "--threads", threads, NULL};
    struct process_result result = tacit(words, settings);
    if (result.code != 0)
        print_error("%s", result.err);
    assert_int_equal(result.code, 0);
    json_t *const json = json_loads(result.out, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    return json;
}

static double mean_of(const json_t *json, const char *metric)
{
    json_t const *const value =
        json_object_get(json_object_get(json_object_get(json, "metrics"), metric), "mean");
    assert_true(json_is_number(value));
    return json_number_value(value);
}

TEST_WITH(threads_do_not_matter, open_bench, temp_bench_remove)
{
    static const char *const privacies[] = {"privacy={mode: none}",
                                            "privacy={mode: paper, epsilon: 1}",
                                            "privacy={mode: sound, epsilon: 1}"};
    for (size_t i = 0; i < 3; i++) {
        json_t *const one = run_json(*state, "1", SETTINGS(privacies[i]));
        json_t *const three = run_json(*state, "3", SETTINGS(privacies[i]));
        assert_int_equal(json_equal(one, three), 1);
        json_decref(one);
        json_decref(three);
    }
}

/* Messages by formula, regret within what can be lost, the best arm found. */
TEST_WITH(results_are_what_a_network_of_four_can_say_and_lose, open_bench, temp_bench_remove)
{
    json_t *const json = run_json(*state, "1", SETTINGS("horizon=20000"));
    assert_true(fabs(mean_of(json, "messages") - 20000.0 * 6) < 0.5);
    assert_true(fabs(mean_of(json, "messages_per_receiver") - 20000.0 * 10) < 0.5);
    assert_true(fabs(mean_of(json, "scalars") - 20000.0 * 6 * 3) < 0.5);
    double const regret = mean_of(json, "regret");
    assert_true(regret > 0 && regret < 0.5 * 4 * 20000 * 0.5);
    assert_true(fabs(regret / 4 - mean_of(json, "regret_per_agent")) < 1e-9 * regret);
    assert_true(mean_of(json, "best_arm_fraction") > 0.99);
    assert_true(mean_of(json, "forced_fraction") < 0.5);
    json_decref(json);
}

TEST_WITH(without_noise_paper_mode_is_mode_none, open_bench, temp_bench_remove)
{
    json_t *const none = run_json(*state, "1", SETTINGS("privacy={mode: none}"));
    json_t *const paper = run_json(*state, "1", SETTINGS("privacy={mode: paper, epsilon: inf}"));
    assert_int_equal(
        json_equal(json_object_get(none, "metrics"), json_object_get(paper, "metrics")), 1);
    json_decref(none);
    json_decref(paper);
}

TEST_WITH(means_of_every_agents_own_differ_between_agents, open_bench, temp_bench_remove)
{
    /* With one row for all, Gossip UCB and means per agent would have the same global means. */
    json_t *const alike =
        run_json(*state, "1",
                 SETTINGS("environment={kind: constant, generated: {arms: 3, instance_seed: 4}}",
                          "horizon=10"));
    json_t *const own = run_json(
        *state, "1",
        SETTINGS("environment={kind: constant, generated: {arms: 3, draw: uniform_per_agent, "
                 "instance_seed: 4}}",
                 "horizon=10"));
    assert_true(fabs(mean_of(alike, "regret") - mean_of(own, "regret")) > 1e-6);
    assert_true(mean_of(own, "disagreement") > mean_of(alike, "disagreement") + 1e-6);
    json_decref(alike);
    json_decref(own);
}

TEST_WITH(paper_mode_says_that_nothing_is_guaranteed, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    const char *const words[] = {"check", bench->file, NULL};
    struct process_result result =
        tacit(words, SETTINGS("privacy={mode: paper, epsilon: 1}", "horizon=4096"));
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "epsilon per reward: infinite (no guarantee)"));
    assert_non_null(strstr(result.out, "up to 13 noised sums that a reward lies in has eps/12"));
    assert_non_null(strstr(result.out, "first reward of every arm"));
    assert_non_null(strstr(result.out, "Theorem 2"));
    assert_non_null(strstr(result.out, "lambda_2  0.75"));
    assert_null(strstr(result.out, "which is for rewards in [0, 1]"));
    result = tacit(words, SETTINGS("privacy={mode: paper, epsilon: 1}", "environment.kind=gaussian",
                                   "environment.gaussian={sd: 1}"));
    assert_non_null(
        strstr(result.out, "(Theorem 2, which is for rewards in [0, 1], and these are not)"));
    result = tacit(words, SETTINGS("privacy={mode: sound, epsilon: 1}"));
    assert_non_null(strstr(result.out, "is protected with epsilon = 0.99999999"));
}

/* The small form of the claim of experiments/p2-gossip: at equal real epsilon doubling loses less
 * than trees, with far fewer messages. 6 runs each; the regrets differ by a factor of 5. */
TEST_WITH(doubling_loses_less_than_trees_at_equal_epsilon_with_fewer_messages, open_bench,
          temp_bench_remove)
{
    json_t *const tree =
        run_json(*state, "1", SETTINGS("horizon=20000", "privacy={mode: sound, epsilon: 1}"));
    json_t *const doubling = run_json(*state, "1",
                                      SETTINGS("horizon=20000", "privacy={mode: sound, epsilon: 1}",
                                               "protocol={kind: gossip-ucb, release: doubling}"));
    assert_true(2 * mean_of(doubling, "regret") < mean_of(tree, "regret"));
    assert_true(100 * mean_of(doubling, "messages") < mean_of(tree, "messages"));
    assert_true(100 * mean_of(doubling, "scalars") < mean_of(tree, "scalars"));
    assert_true(mean_of(doubling, "best_arm_fraction") > 0.99);
    json_decref(tree);
    json_decref(doubling);
}

/* P1, Sec. II: gossip's messages are of order T, those of elimination over the same graph of log T
 * at most, and its regret is, too: each factor of ten of T adds the same. */
TEST_WITH(gossip_sends_with_every_slot_and_elimination_with_the_logarithm, open_bench,
          temp_bench_remove)
{
    static const char *const horizons[] = {"horizon=10000", "horizon=100000", "horizon=1000000"};
    double gossip[3];
    double elimination[3];
    double regret[3];
    for (size_t i = 0; i < 3; i++) {
        json_t *const by_gossip = run_json(*state, "1", SETTINGS("runs=2", horizons[i]));
        json_t *const by_elimination =
            run_json(*state, "1", SETTINGS("runs=2", horizons[i], "protocol.kind=elimination"));
        gossip[i] = mean_of(by_gossip, "messages");
        elimination[i] = mean_of(by_elimination, "messages");
        regret[i] = mean_of(by_elimination, "regret");
        json_decref(by_gossip);
        json_decref(by_elimination);
    }
    assert_true(gossip[1] == 10 * gossip[0] && gossip[2] == 10 * gossip[1]);
    assert_true(elimination[0] > 0 && elimination[2] <= 1.5 * elimination[0]); /* log T's growth */
    assert_true(regret[2] - regret[1] <= 1.1 * (regret[1] - regret[0]));
}

TEST_WITH(doubling_says_what_it_costs_and_gives_the_same_on_threads, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    const char *const words[] = {"check", bench->file, NULL};
    const char *const *const settings = SETTINGS("privacy={mode: sound, epsilon: 0.5}",
                                                 "protocol={kind: gossip-ucb, release: doubling}");
    struct process_result result = tacit(words, settings);
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "epsilon per reward: 0.5"));
    assert_non_null(strstr(result.out, "at most one noised sum"));
    assert_non_null(strstr(result.out, "first rung"));
    json_t *const one = run_json(*state, "1", settings);
    json_t *const three = run_json(*state, "3", settings);
    assert_int_equal(json_equal(one, three), 1);
    json_decref(one);
    json_decref(three);
}

/* Sec. 4.1. Its noise is T times what a reward needs: with epsilon = T it is Laplace of scale 1,
 * and without noise it is Gossip_UCB. */
TEST_WITH(noise_of_each_reward_is_paid_for_with_regret, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    const char *const words[] = {"check", bench->file, NULL};
    struct process_result result = tacit(words, SETTINGS("privacy={mode: paper, epsilon: 1}",
                                                         "protocol={kind: gossip-ucb, release: "
                                                         "each}"));
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "epsilon per reward: 0.000333333")); /* 1/3000 */
    assert_non_null(strstr(result.out, "naive extension"));
    assert_null(strstr(result.out, "Theorem"));
    json_t *const each =
        run_json(*state, "1",
                 SETTINGS("privacy={mode: paper, epsilon: 1}",
                          "protocol={kind: gossip-ucb, release: each}", "horizon=20000"));
    json_t *const three =
        run_json(*state, "3",
                 SETTINGS("privacy={mode: paper, epsilon: 1}",
                          "protocol={kind: gossip-ucb, release: each}", "horizon=20000"));
    json_t *const free_of_noise =
        run_json(*state, "1",
                 SETTINGS("privacy={mode: paper, epsilon: inf}",
                          "protocol={kind: gossip-ucb, release: each}", "horizon=20000"));
    json_t *const none = run_json(*state, "1", SETTINGS("horizon=20000"));
    assert_int_equal(json_equal(each, three), 1);
    assert_int_equal(
        json_equal(json_object_get(free_of_noise, "metrics"), json_object_get(none, "metrics")), 1);
    assert_true(mean_of(each, "regret") > 2 * mean_of(none, "regret"));
    json_decref(each);
    json_decref(three);
    json_decref(free_of_noise);
    json_decref(none);
}

static double band_at(const json_t *json, const char *part, size_t point)
{
    json_t const *const values = json_object_get(json_object_get(json, "band"), part);
    assert_int_equal(json_array_size(values), 5);
    return json_number_value(json_array_get(values, point));
}

/* Without noise they come to the mean of the best arm over all sites, 0.65; the page shows how, and
 * what lambda_2 says about it. */
TEST_WITH(estimates_draw_together_on_the_page, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    const char *const settings[] = {"horizon=30000", NULL};
    json_t *const json = run_json(bench, "1", settings);
    assert_string_equal(json_string_value(json_object_get(json_object_get(json, "band"), "name")),
                        "estimates");
    for (size_t point = 0; point < 5; point++) {
        assert_true(band_at(json, "low", point) <= band_at(json, "mean", point));
        assert_true(band_at(json, "mean", point) <= band_at(json, "high", point));
    }
    double const first = band_at(json, "high", 0) - band_at(json, "low", 0);
    double const last = band_at(json, "high", 4) - band_at(json, "low", 4);
    assert_true(last < 0.2 * first);
    assert_true(fabs(band_at(json, "mean", 4) - 0.65) < 0.03);
    json_decref(json);
    json_t *const doubling = run_json(bench, "1",
                                      SETTINGS("horizon=30000", "privacy={mode: sound, epsilon: 1}",
                                               "protocol={kind: gossip-ucb, release: doubling}"));
    assert_null(json_object_get(doubling, "band"));
    json_decref(doubling);
    char out[TEMP_PATH_BYTES];
    temp_path(out, bench->directory, "out");
    const char *const words[] = {"run", bench->file, "--out", out, NULL};
    struct process_result result = tacit(words, settings);
    assert_int_equal(result.code, 0);
    char *const page = on_file_text(out, "report.html");
    assert_non_null(strstr(page, "What the agents think of the best arm"));
    assert_non_null(strstr(page, "lambda_2 of the gossip matrix is 0.75:"));
    assert_non_null(strstr(page, "to halve every 3 slots"));
}

TEST_WITH(doubling_of_a_horizon_without_a_first_rung_is_refused, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    const char *const words[] = {"check", bench->file, NULL};
    struct process_result result =
        tacit(words, SETTINGS("horizon=20", "privacy={mode: sound, epsilon: 0.1}",
                              "protocol={kind: gossip-ucb, release: doubling}"));
    assert_int_equal(result.code, 2);
    assert_non_null(strstr(result.err, "horizon: 20 is too short for the first rung"));
    result = tacit(words, SETTINGS("privacy={mode: paper, epsilon: 1}",
                                   "protocol={kind: gossip-ucb, release: doubling}"));
    assert_int_equal(result.code, 2);
    assert_non_null(strstr(result.err, "protocol.release"));
}

TEST_WITH(what_cannot_be_is_refused_with_its_key, open_bench, temp_bench_remove)
{
    static const struct {
        const char *setting;
        const char *says;
    } cases[] = {
        {"network={kind: star}", "network.kind"},
        {"network={kind: edges, file: pieces.csv}", "connected"},
        {"protocol={kind: gossip-ucb, log_base: 7}", "protocol.log_base"},
        {"protocol={kind: gossip-ucb, log_base: 10}", "protocol.log_base"},
        {"protocol={kind: gossip-ucb, rounds: 3}", "rounds"},
        {"protocol={kind: gossip-ucb, release: once}", "protocol.release"},
        {"protocol={kind: gossip-ucb, release: each}", "protocol.release"},
        {"protocol={kind: gossip-ucb, quorum: 3}", "protocol.quorum"},
        {"protocol={kind: gossip-ucb, release: doubling, quorum: 5}", "protocol.quorum"},
        {"protocol={kind: gossip-ucb, release: doubling, arms_per_round: 4}",
         "protocol.arms_per_round"},
        {"protocol={kind: gossip-ucb, release: doubling, log_base: 10}", "protocol.log_base"},
        {"agents=1", "agents"},
        {"horizon=1", "horizon"},
        {"privacy={mode: sound, epsilon: 0.000002}", "privacy.epsilon"},
    };
    struct bench const *const bench = *state;
    const char *const words[] = {"check", bench->file, NULL};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct process_result result = tacit(words, SETTINGS(cases[i].setting));
        if (result.code != 2 || strstr(result.err, cases[i].says) == NULL)
            print_error("%s: code %d: %s\n", cases[i].setting, result.code, result.err);
        assert_int_equal(result.code, 2);
        assert_non_null(strstr(result.err, cases[i].says));
        assert_string_equal(result.out, "");
    }
}
