/* Play in phases through the real program: the phased index, and elimination with exact bounds;
 * what comes out, and what is refused. */
#include "../support/testing.h"
#include "../support/on_file.h"

static int open_folder(void **state)
{
    on_file_open("phased.yaml", "name: phased\nseed: 4\nruns: 60\nhorizon: 1000000\n"
                                "environment: {kind: bernoulli, means: means.csv}\nagents: 3\n"
                                "protocol: {kind: phased-index}\n"
                                "privacy: {mode: sound, epsilon: 1}\ncost: {server_link: 25}\n");
    on_file_write("means.csv", "0.3766,0.3626,0.34,0.3355,0.3087\n");
    return 0;
}

static json_t *run(const char *first, const char *second)
{
    return on_file_json(
        on_file_run("run", (const char *const[]){"--json", "--quiet", first, second, NULL}));
}

/* EXACT-BOUNDS 9 expects 1,289 and 7,806; half widths of 60 runs are about 60 and 350. Fixed seed;
 * a false alarm is below 1e-6. */
TEST_WITH(regrets_are_those_expected, open_folder, temp_folder_remove)
{
    json_t *const index = run(NULL, NULL);
    json_t *const exact = run("--set=protocol={kind: elimination, bounds: exact}", NULL);
    json_t *const letter = run("--set=protocol={kind: elimination}", NULL);
    assert_in_range((uint64_t)on_file_metric(index, "regret"), 1089, 1489);
    assert_in_range((uint64_t)on_file_metric(exact, "regret"), 6806, 8806);
    assert_true(on_file_metric(letter, "regret") > 1.6 * on_file_metric(exact, "regret"));
    assert_true(on_file_metric(letter, "regret") > 4 * on_file_metric(index, "regret"));
    assert_true(on_file_metric(index, "scalars") < 3 * on_file_metric(letter, "scalars"));
    assert_true(on_file_metric(index, "cost") == 75 * on_file_metric(index, "rounds"));
    assert_true(on_file_metric(exact, "single_arm_fraction") == 1);
    assert_true(on_file_metric(exact, "cost_all_edges") == on_file_metric(exact, "cost"));
    json_decref(index);
    json_decref(exact);
    json_decref(letter);
}

static void check_samples(const char *protocol, const char *network, unsigned horizon)
{
    char text[48];
    (void)snprintf(text, sizeof text, "--set=horizon=%u", horizon);
    struct process_result result =
        on_file_run("run", (const char *const[]){"--json", "--quiet", "--runs=1", protocol, network,
                                                 text, NULL});
    json_t *const json = on_file_json(result);
    double const samples = on_file_metric(json, "samples");
    double const rounds = on_file_metric(json, "rounds");
    print_message("%s %s %u: %.0f samples, %.0f rounds\n", protocol, network, horizon, samples,
                  rounds);
    assert_true(rounds > 0);
    assert_true(samples > 0);
    assert_true(samples < 3.0 * horizon); /* some pulls are of a round that did not end */
    if (rounds < 2)
        assert_int_equal((uint64_t)samples % 15, 0); /* all agents, all arms, as often */
    json_decref(json);
}

/* What T cuts enters no estimate: nothing of a round counts that does not end. */
TEST_WITH(samples_are_rewards_of_whole_rounds, open_folder, temp_folder_remove)
{
    static const char *const protocols[] = {"--set=protocol={kind: elimination}",
                                            "--set=protocol={kind: elimination, bounds: exact}",
                                            "--set=protocol={kind: phased-index}"};
    for (size_t i = 0; i < 3; i++)
        for (unsigned horizon = 600; horizon <= 12600; horizon += 6000) {
            check_samples(protocols[i], "--set=network.kind=star", horizon);
            if (i < 2)
                check_samples(protocols[i], "--set=network.kind=complete", horizon);
        }
}

/* Where nobody waits a graph plays what a star plays; alone everybody learns on its own. */
TEST_WITH(exact_bounds_play_over_any_network, open_folder, temp_folder_remove)
{
    static const char exact[] = "--set=protocol={kind: elimination, bounds: exact}";
    json_t *const star = run(exact, "--set=network.kind=star");
    json_t *const complete = run(exact, "--set=network.kind=complete");
    json_t *const alone = run("--set=protocol={kind: elimination, bounds: exact, confidence: 0.9}",
                              "--set=network.kind=alone");
    assert_true(on_file_metric(complete, "regret") == on_file_metric(star, "regret"));
    assert_true(on_file_metric(complete, "rounds") == on_file_metric(star, "rounds"));
    assert_true(on_file_metric(complete, "samples") == on_file_metric(star, "samples"));
    assert_true(on_file_metric(complete, "links") > 0);
    assert_true(on_file_metric(alone, "cost") <= 0);
    assert_true(on_file_metric(alone, "regret") > on_file_metric(star, "regret"));
    json_decref(star);
    json_decref(complete);
    json_decref(alone);
}

/* The best arm goes after a tenth of the run. With arms_max the bounds are for more arms. */
TEST_WITH(arms_come_and_go, open_folder, temp_folder_remove)
{
    json_t *const gone =
        run("--set=protocol.changes=[{slot: 100000, retire: 0}]", "--set=protocol.confidence=0.95");
    json_t *const wider = run("--set=protocol.arms_max=500", "--set=protocol.confidence=0.95");
    json_t *const usual = run("--set=protocol.confidence=0.95", NULL);
    json_t const *const arms = json_object_get(json_object_get(gone, "answer"), "arms");
    assert_string_equal(json_string_value(json_array_get(arms, 0)), "arm 1");
    assert_true(on_file_metric(gone, "best_arm_fraction") == 1);
    assert_true(on_file_metric(wider, "samples") > 1.2 * on_file_metric(usual, "samples"));
    json_decref(gone);
    json_decref(wider);
    json_decref(usual);
}

static bool is_decided(const json_t *json)
{
    return json_is_true(json_object_get(json_object_get(json, "answer"), "decided"));
}

TEST_WITH(with_a_confidence_both_decide_for_the_best_arm, open_folder, temp_folder_remove)
{
    static const char *const protocols[] = {
        "--set=protocol={kind: phased-index, confidence: 0.95}",
        "--set=protocol={kind: elimination, bounds: exact, confidence: 0.95}"};
    for (int i = 0; i < 2; i++) {
        json_t *const json = run(protocols[i], NULL);
        assert_true(is_decided(json));
        assert_true(on_file_metric(json, "best_arm_fraction") == 1);
        json_decref(json);
    }
}

/* After 2,000 slots nothing is known yet; the arms that could be best are named, not one. */
TEST_WITH(an_early_answer_names_what_cannot_be_told_apart, open_folder, temp_folder_remove)
{
    json_t *const json = run("--set=horizon=2000", NULL);
    json_t const *const answer = json_object_get(json, "answer");
    assert_false(is_decided(json));
    assert_true(json_array_size(json_object_get(answer, "arms")) >= 2);
    assert_true(on_file_metric(json, "single_arm_fraction") < 0.5);
    json_decref(json);
}

TEST_WITH(what_cannot_be_is_refused_in_words, open_folder, temp_folder_remove)
{
    static const struct on_file_wrong wrong[] = {
        {{"--set=protocol.arms_per_round=1"}, "2"},
        {{"--set=protocol.arms_per_round=6"}, "allowed: 2 to 5"},
        {{"--set=protocol.growth=1.01"}, "64 releases"},
        {{"--set=protocol.rounds=3"}, "rounds"},
        {{"--set=privacy.mode=paper"}, "sound"},
        {{"--set=network.kind=ring"}, "allowed: star"},
        {{"--set=environment={kind: gaussian, means: means.csv, gaussian: {sd: 1}}"}, "range"},
        {{"--set=protocol={kind: elimination, growth: 2}"}, "belongs to bounds: exact"},
        {{"--set=protocol={kind: elimination, bounds: paper, confidence: 0.9}"},
         "belongs to bounds: exact"},
        {{"--set=protocol={kind: elimination, bounds: exact, rounds: 3}"}, "allowed: none"},
        {{"--set=protocol={kind: elimination, bounds: exact, participation: 0.5}"}, "allowed: 1"},
        {{"--set=protocol.arms_max=4"}, "fewer than the environment has"},
        {{"--set=protocol.changes=2"},
         "a list of 1 to 131072 is expected, like [{slot: 1000, retire: 2}]"},
        {{"--set=protocol.changes=[2]"}, "a map is expected, like {slot: 1000, retire: 2}"},
        {{"--set=protocol.changes=[{slot: 5}]"}, "either add or retire"},
        {{"--set=protocol.changes=[{slot: 5, add: 4, retire: 3}]"}, "either add or retire"},
        {{"--set=protocol.changes=[{add: 4}]"}, "protocol.changes.0.slot"},
        {{"--set=protocol.changes=[{slot: 5, add: 5}]"}, "no such arm"},
        {{"--set=protocol.changes=[{slot: 5, add: 0}]"}, "added once"},
        {{"--set=protocol.changes=[{slot: 5, retire: 3}, {slot: 6, add: 0}]"}, "added once"},
        {{"--set=protocol.changes=[{slot: 5, retire: 0}, {slot: 6, retire: 0}]"}, "retired once"},
        {{"--set=protocol.changes=[{slot: 5, retire: 4}, {slot: 6, add: 4}]"}, "after that"},
        {{"--set=protocol.changes=[{slot: 5, retire: 0}, {slot: 5, retire: 1}, {slot: 5, retire: "
          "2}, "
          "{slot: 5, retire: 3}, {slot: 6, retire: 4}]"},
         "one arm at least"},
        {{"--set=protocol={kind: elimination, bounds: exact, component_weights: components}",
          "--set=network={kind: hybrid, components: [{agents: 3, kind: ring}]}"},
         "allowed: agents"},
        {{"--set=protocol={kind: elimination, bounds: exact, growth: 1.001}",
          "--set=network.kind=ring"},
         "protocol.growth"},
        {{"--set=protocol={kind: elimination, bounds: exact}", "--set=privacy.mode=paper"},
         "allowed: sound, none"},
    };
    ON_FILE_REFUSE("check", wrong);
}

/* Says the least horizon, which is one that runs, and one less does not. */
TEST_WITH(a_horizon_below_the_first_plan_is_refused_with_the_least_one, open_folder,
          temp_folder_remove)
{
    static const char *const protocols[] = {"--set=protocol={kind: phased-index}",
                                            "--set=protocol={kind: elimination, bounds: exact}"};
    for (int i = 0; i < 2; i++) {
        char setting[64];
        static const char allowed[] = "allowed: at least ";
        struct process_result result =
            on_file_run("run", PROCESS_WORDS(protocols[i], "--set=horizon=3"));
        (void)PROCESS_EXPECT(result, 2, allowed);
        unsigned long const least =
            strtoul(strstr(result.err, allowed) + strlen(allowed), NULL, 10);
        assert_true(least > 3);
        (void)snprintf(setting, sizeof setting, "--set=horizon=%lu", least);
        json_t *const json = run(protocols[i], setting);
        assert_true(on_file_metric(json, "rounds") >= 1);
        json_decref(json);
        (void)snprintf(setting, sizeof setting, "--set=horizon=%lu", least - 1);
        on_file_expect_wrong(on_file_run("check", PROCESS_WORDS(protocols[i], setting)),
                             protocols[i], "is too short for the first plan");
    }
}

TEST_WITH(check_says_what_it_promises, open_folder, temp_folder_remove)
{
    (void)PROCESS_EXPECT(on_file_run("check", PROCESS_WORDS(NULL)), 0, "first plan ",
                         "with chance 0.95");
}
