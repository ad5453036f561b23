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

static int open_folder(void **state)
{
    on_file_open("gossip.yaml", base_text);
    on_file_write("means.csv", "0.9,0.5,0.1\n0.8,0.1,0.3\n0.2,0.6,0.1\n0.7,0.4,0.1\n");
    on_file_write("pieces.csv", "0,1\n2,3\n");
    return 0;
}

/* `tacit COMMAND FILE OPTION.. --set SETTING..`; both lists end with NULL. */
static struct process_result tacit(const char *command, const char *const *options,
                                   const char *const *settings)
{
    const char *words[WORDS_MAX] = {NULL};
    size_t count = 0;
    for (; *options != NULL; options++)
        words[count++] = *options;
    for (; *settings != NULL; settings++) {
        assert_true(count + 3 < WORDS_MAX);
        words[count++] = "--set";
        words[count++] = *settings;
    }
    return on_file_run(command, words);
}

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define RUN(...) on_file_json(tacit("run", SETTINGS("--json"), SETTINGS(__VA_ARGS__)))
#define CHECK(...) tacit("check", SETTINGS(NULL), SETTINGS(__VA_ARGS__))

/* Messages by formula, regret within what can be lost, the best arm found. */
TEST_WITH(results_are_what_a_network_of_four_can_say_and_lose, open_folder, temp_folder_remove)
{
    json_t *const json = RUN("horizon=20000");
    assert_true(fabs(on_file_metric(json, "messages") - 20000.0 * 6) < 0.5);
    assert_true(fabs(on_file_metric(json, "messages_per_receiver") - 20000.0 * 10) < 0.5);
    assert_true(fabs(on_file_metric(json, "scalars") - 20000.0 * 6 * 3) < 0.5);
    double const regret = on_file_metric(json, "regret");
    assert_true(regret > 0 && regret < 0.5 * 4 * 20000 * 0.5);
    assert_true(fabs(regret / 4 - on_file_metric(json, "regret_per_agent")) < 1e-9 * regret);
    assert_true(on_file_metric(json, "best_arm_fraction") > 0.99);
    assert_true(on_file_metric(json, "forced_fraction") < 0.5);
    json_decref(json);
}

TEST_WITH(without_noise_paper_mode_is_mode_none, open_folder, temp_folder_remove)
{
    json_t *const none = RUN("privacy={mode: none}");
    json_t *const paper = RUN("privacy={mode: paper, epsilon: inf}");
    assert_int_equal(
        json_equal(json_object_get(none, "metrics"), json_object_get(paper, "metrics")), 1);
    json_decref(none);
    json_decref(paper);
}

TEST_WITH(means_of_every_agents_own_differ_between_agents, open_folder, temp_folder_remove)
{
    /* With one row for all, Gossip UCB and means per agent would have the same global means. */
    json_t *const alike =
        RUN("environment={kind: constant, generated: {arms: 3, instance_seed: 4}}", "horizon=10");
    json_t *const own =
        RUN("environment={kind: constant, generated: {arms: 3, draw: uniform_per_agent, "
            "instance_seed: 4}}",
            "horizon=10");
    assert_true(fabs(on_file_metric(alike, "regret") - on_file_metric(own, "regret")) > 1e-6);
    assert_true(on_file_metric(own, "disagreement") > on_file_metric(alike, "disagreement") + 1e-6);
    json_decref(alike);
    json_decref(own);
}

TEST_WITH(check_says_what_a_release_costs, open_folder, temp_folder_remove)
{
    char *const bounded = PROCESS_EXPECT(CHECK("privacy={mode: paper, epsilon: 1}", "horizon=4096"),
                                         0, "up to 13 noised sums that a reward lies in has eps/12",
                                         "Theorem 2", "lambda_2  0.75");
    assert_null(strstr(bounded, "which is for rewards in [0, 1]"));
    (void)PROCESS_EXPECT(CHECK("privacy={mode: paper, epsilon: 1}", "environment.kind=gaussian",
                               "environment.gaussian={sd: 1}"),
                         0, "(Theorem 2, which is for rewards in [0, 1], and these are not)");
    (void)PROCESS_EXPECT(CHECK("privacy={mode: sound, epsilon: 0.5}",
                               "protocol={kind: gossip-ucb, release: doubling}"),
                         0, "epsilon per reward: 0.5", "first rung");
}

/* The small form of the claim of experiments/p2-gossip: at equal real epsilon doubling loses less
 * than trees, with far fewer messages. 6 runs each; the regrets differ by a factor of 5. */
TEST_WITH(doubling_loses_less_than_trees_at_equal_epsilon_with_fewer_messages, open_folder,
          temp_folder_remove)
{
    json_t *const tree = RUN("horizon=20000", "privacy={mode: sound, epsilon: 1}");
    json_t *const doubling = RUN("horizon=20000", "privacy={mode: sound, epsilon: 1}",
                                 "protocol={kind: gossip-ucb, release: doubling}");
    assert_true(2 * on_file_metric(doubling, "regret") < on_file_metric(tree, "regret"));
    assert_true(100 * on_file_metric(doubling, "messages") < on_file_metric(tree, "messages"));
    assert_true(100 * on_file_metric(doubling, "scalars") < on_file_metric(tree, "scalars"));
    assert_true(on_file_metric(doubling, "best_arm_fraction") > 0.99);
    json_decref(tree);
    json_decref(doubling);
}

/* P1, Sec. II: gossip's messages are of order T, those of elimination over the same graph of log T
 * at most, and its regret is, too: each factor of ten of T adds the same. */
TEST_WITH(gossip_sends_with_every_slot_and_elimination_with_the_logarithm, open_folder,
          temp_folder_remove)
{
    static const char *const horizons[] = {"horizon=10000", "horizon=100000", "horizon=1000000"};
    double gossip[3];
    double elimination[3];
    double regret[3];
    for (size_t i = 0; i < 3; i++) {
        json_t *const by_gossip = RUN("runs=2", horizons[i]);
        json_t *const by_elimination = RUN("runs=2", horizons[i], "protocol.kind=elimination");
        gossip[i] = on_file_metric(by_gossip, "messages");
        elimination[i] = on_file_metric(by_elimination, "messages");
        regret[i] = on_file_metric(by_elimination, "regret");
        json_decref(by_gossip);
        json_decref(by_elimination);
    }
    assert_true(gossip[1] == 10 * gossip[0] && gossip[2] == 10 * gossip[1]);
    assert_true(elimination[0] > 0 && elimination[2] <= 1.5 * elimination[0]); /* log T's growth */
    assert_true(regret[2] - regret[1] <= 1.1 * (regret[1] - regret[0]));
}

/* Sec. 4.1. Its noise is T times what a reward needs: with epsilon = T it is Laplace of scale 1,
 * and without noise it is Gossip_UCB. */
TEST_WITH(noise_of_each_reward_is_paid_for_with_regret, open_folder, temp_folder_remove)
{
    char *const check = PROCESS_EXPECT(
        CHECK("privacy={mode: paper, epsilon: 1}", "protocol={kind: gossip-ucb, release: each}"), 0,
        "epsilon per reward: 0.000333333" /* 1/3000 */, "naive extension");
    assert_null(strstr(check, "Theorem"));
    json_t *const each = RUN("privacy={mode: paper, epsilon: 1}",
                             "protocol={kind: gossip-ucb, release: each}", "horizon=20000");
    json_t *const free_of_noise =
        RUN("privacy={mode: paper, epsilon: inf}", "protocol={kind: gossip-ucb, release: each}",
            "horizon=20000");
    json_t *const none = RUN("horizon=20000");
    assert_int_equal(
        json_equal(json_object_get(free_of_noise, "metrics"), json_object_get(none, "metrics")), 1);
    assert_true(on_file_metric(each, "regret") > 2 * on_file_metric(none, "regret"));
    json_decref(each);
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
TEST_WITH(estimates_draw_together_on_the_page, open_folder, temp_folder_remove)
{
    char out[TEMP_PATH_BYTES];
    temp_path(out, temp_folder, "out");
    json_t *const json =
        on_file_json(tacit("run", SETTINGS("--json", "--out", out), SETTINGS("horizon=30000")));
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
    json_t *const doubling = RUN("horizon=30000", "privacy={mode: sound, epsilon: 1}",
                                 "protocol={kind: gossip-ucb, release: doubling}");
    assert_null(json_object_get(doubling, "band"));
    json_decref(doubling);
    char *const page = on_file_text(out, "report.html");
    assert_non_null(strstr(page, "What the agents think of the best arm"));
    assert_non_null(strstr(page, "lambda_2 of the gossip matrix is 0.75:"));
    assert_non_null(strstr(page, "to halve every 3 slots"));
}

TEST_WITH(what_cannot_be_is_refused_with_its_key, open_folder, temp_folder_remove)
{
#define DOUBLING "--set=protocol={kind: gossip-ucb, release: doubling"
    static const struct on_file_wrong wrong[] = {
        {{"--set=network={kind: star}"}, "network.kind"},
        {{"--set=network={kind: edges, file: pieces.csv}"}, "connected"},
        {{"--set=protocol={kind: gossip-ucb, log_base: 7}"}, "protocol.log_base"},
        {{"--set=protocol={kind: gossip-ucb, log_base: 10}"}, "protocol.log_base"},
        {{"--set=protocol={kind: gossip-ucb, rounds: 3}"}, "rounds"},
        {{"--set=protocol={kind: gossip-ucb, release: each}"}, "protocol.release"},
        {{"--set=protocol={kind: gossip-ucb, quorum: 3}"}, "protocol.quorum"},
        {{DOUBLING ", quorum: 5}"}, "protocol.quorum"},
        {{DOUBLING ", arms_per_round: 4}"}, "protocol.arms_per_round"},
        {{DOUBLING ", log_base: 10}"}, "protocol.log_base"},
        {{DOUBLING "}", "--set=privacy={mode: paper, epsilon: 1}"}, "protocol.release"},
        {{DOUBLING "}", "--set=privacy={mode: sound, epsilon: 0.1}", "--set=horizon=20"},
         "horizon: 20 is too short for the first rung"},
        {{"--set=agents=1"}, "agents"},
        {{"--set=horizon=1"}, "horizon"},
        {{"--set=privacy={mode: sound, epsilon: 0.000002}"}, "privacy.epsilon"},
    };
    ON_FILE_REFUSE("check", wrong);
}
