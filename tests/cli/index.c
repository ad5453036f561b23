/* Learners with an index through the real program: as an experiment of their own, as baselines that
 * a file of another family names, and what is refused. */
#include <jansson.h>
#include "../support/testing.h"
#include "../support/on_file.h"
#include "../support/process.h"
#include "../support/temp.h"

static int open_folder(void **state)
{
    temp_directory_make(temp_folder);
    temp_file_write(temp_folder, "means.csv", "0.9,0.5,0.4\n");
    temp_file_write(temp_folder, "index.yaml",
                    "name: index\nseed: 4\nruns: 20\nhorizon: 2000\n"
                    "environment: {kind: bernoulli, means: means.csv}\nagents: 5\n"
                    "protocol: {kind: index, index: kl-ucb, sharing: pooled}\n");
    temp_file_write(temp_folder, "elimination.yaml",
                    "name: elimination\nseed: 4\nruns: 20\nhorizon: 2000\n"
                    "environment: {kind: bernoulli, means: means.csv}\nagents: 5\n"
                    "protocol: {kind: elimination}\n"
                    "privacy: {mode: sound, epsilon: 1}\n"
                    "baselines: [pooled-kl-ucb, alone-ucb1]\n");
    return 0;
}

static struct process_result tacit(const char *command, const char *name,
                                   const char *const *options)
{
    char file[TEMP_PATH_BYTES];
    temp_path(file, temp_folder, name);
    return on_file_run_at(command, file, options);
}

static json_t *run(const char *name, const char *first, const char *second)
{
    return on_file_json(
        tacit("run", name, (const char *const[]){"--json", "--quiet", first, second, NULL}));
}

static double mean_at(const json_t *json, const char *section, const char *name)
{
    json_t const *value = json_object_get(json_object_get(json, section), name);
    if (strcmp(section, "baselines") == 0)
        value = json_object_get(value, "regret");
    value = json_object_get(value, "mean");
    if (!json_is_number(value))
        fail_msg("%s has no %s", section, name);
    return json_number_value(value);
}

/* What is named beside elimination is what the family plays by itself, run by run. */
TEST_WITH(named_baselines_are_what_the_family_plays, open_folder, temp_folder_remove)
{
    json_t *const beside = run("elimination.yaml", NULL, NULL);
    json_t *const pooled = run("index.yaml", NULL, NULL);
    json_t *const alone =
        run("index.yaml", "--set=protocol.sharing=none", "--set=protocol.index=ucb1");
    assert_true(mean_at(beside, "baselines", "pooled-kl-ucb") ==
                mean_at(pooled, "metrics", "regret"));
    assert_true(mean_at(beside, "baselines", "alone-ucb1") == mean_at(alone, "metrics", "regret"));
    assert_true(mean_at(alone, "metrics", "regret") > 2 * mean_at(pooled, "metrics", "regret"));
    assert_true(mean_at(pooled, "metrics", "messages") == 10000);
    assert_true(mean_at(alone, "metrics", "messages") == 0);
    assert_true(mean_at(alone, "metrics", "samples") == 10000);
    json_decref(beside);
    json_decref(pooled);
    json_decref(alone);
}

TEST_WITH(every_baseline_can_be_named, open_folder, temp_folder_remove)
{
    static const char *const names[] = {
        "pooled-kl-ucb", "pooled-ucb1", "pooled-moss", "pooled-thompson", "pooled-uniform",
        "alone-kl-ucb",  "alone-ucb1",  "alone-moss",  "alone-thompson",  "alone-uniform"};
    json_t *const json =
        run("elimination.yaml", "--set=runs=3",
            "--set=baselines=[pooled-kl-ucb, pooled-ucb1, pooled-moss, pooled-thompson, "
            "pooled-uniform, alone-kl-ucb, alone-ucb1, alone-moss, alone-thompson, alone-uniform]");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_true(mean_at(json, "baselines", names[i]) > 0);
    /* 10000 pulls of a third each, known but for chance: 3000 expected, 17 standard errors */
    assert_in_range((uint64_t)mean_at(json, "baselines", "alone-uniform"), 2700, 3300);
    json_decref(json);
}

TEST_WITH(the_answer_is_the_arm_that_most_agents_estimate_best, open_folder, temp_folder_remove)
{
    json_t *const json = run("index.yaml", "--set=protocol.sharing=none", NULL);
    json_t *const answer = json_object_get(json, "answer");
    assert_true(json_is_true(json_object_get(answer, "decided")));
    assert_int_equal(json_array_size(json_object_get(answer, "arms")), 1);
    assert_true(mean_at(json, "metrics", "best_arm_fraction") >= 0.99);
    json_t const *const privacy = json_object_get(json, "privacy");
    char const *const said = json_string_value(json_object_get(privacy, "statement"));
    assert_non_null(strstr(said, "nothing protects"));
    json_decref(json);
}

TEST_WITH(what_cannot_be_is_refused_in_words, open_folder, temp_folder_remove)
{
    static const struct {
        const char *file;
        const char *setting;
        const char *says;
    } wrong[] = {
        {"index.yaml", "--set=protocol.rounds=3", "rounds"},
        {"index.yaml", "--set=network.kind=ring", "allowed: star"},
        {"index.yaml", "--set=privacy={mode: sound, epsilon: 1}", "none"},
        {"index.yaml", "--set=environment={kind: gaussian, means: means.csv, gaussian: {sd: 1}}",
         "allowed: ucb1, moss, uniform"},
        {"index.yaml", "--set=horizon=1000000000000", "more than 1099511627776"},
        {"elimination.yaml", "--set=baselines=[pooled-ucb]", "did you mean 'pooled-ucb1'"},
        {"elimination.yaml", "--set=baselines=[uniform]", "is no baseline"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct process_result result =
            tacit("check", wrong[i].file, (const char *const[]){wrong[i].setting, NULL});
        on_file_expect_wrong(result, wrong[i].setting, wrong[i].says);
    }
}

/* One voter is active at a time, so one learner for all has as many pulls as there are samples. */
TEST_WITH(beside_votes_one_learner_has_a_pull_a_sample, open_folder, temp_folder_remove)
{
    temp_file_write(temp_folder, "votes.yaml",
                    "name: votes\nseed: 4\nruns: 5\nhorizon: 20000\n"
                    "environment: {kind: bernoulli, means: means.csv}\nagents: 8\n"
                    "network: {kind: broadcast}\n"
                    "protocol: {kind: votes, subroutine: ser3, epsilon: 0.25, eta: 0.9}\n"
                    "privacy: {mode: paper}\nbaselines: [pooled-uniform]\n");
    json_t *const json = run("votes.yaml", NULL, NULL);
    /* 20000 pulls, 0.3 lost by each on average */
    assert_in_range((uint64_t)mean_at(json, "baselines", "pooled-uniform"), 5700, 6300);
    json_decref(json);
    (void)PROCESS_EXPECT(
        tacit("check", "votes.yaml", PROCESS_WORDS("--set=baselines=[alone-uniform]")), 2,
        "not every agent plays in every slot");
}
