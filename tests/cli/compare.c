/* `tacit compare` through the real program: every cell is what `tacit run` gives, whatever the
 * order of the work; what cannot run says why; what was finished is not run again. */
#include <sys/stat.h>
#include <jansson.h>
#include "../support/testing.h"
#include "../support/on_file.h"
#include "../support/process.h"
#include "../support/temp.h"

static char one[TEMP_PATH_BYTES];
static char two[TEMP_PATH_BYTES];
static char out[TEMP_PATH_BYTES];

static int open_folder(void **state)
{
    temp_directory_make(temp_folder);
    temp_path(one, temp_folder, "one.yaml");
    temp_path(two, temp_folder, "two.yaml");
    temp_path(out, temp_folder, "out");
    temp_file_write(temp_folder, "means.csv", "0.9,0.5,0.1\n");
    temp_file_write(temp_folder, "one.yaml",
                    "name: one\nseed: 4\nruns: 5\nhorizon: 5000\n"
                    "environment: {kind: bernoulli, means: means.csv}\nagents: 3\n"
                    "protocol: {kind: elimination}\nprivacy: {mode: sound, epsilon: 1}\n");
    temp_file_write(temp_folder, "two.yaml",
                    "name: two\nseed: 4\nruns: 3\nhorizon: 2000\n"
                    "environment: {kind: bernoulli, means: means.csv}\nagents: 2\n"
                    "protocol: {kind: index, index: ucb1}\nprivacy: {mode: none}\n");
    return 0;
}

#define TACIT(...)                                                                                 \
    process_tacit_run((struct process_plan){.timeout_ms = 0}, PROCESS_WORDS(__VA_ARGS__))

/* A cell without what only a comparison says is what `run` prints. */
static void assert_cell(const json_t *cell, const char *file, const char *first, const char *second)
{
    struct process_result result =
        first == NULL ? TACIT("run", file, "--json") : TACIT("run", file, "--json", first, second);
    json_t *const expected = on_file_json(result);
    json_t *const copy = json_deep_copy(cell);
    assert_int_equal(json_object_del(copy, "settings"), 0);
    assert_int_equal(json_object_del(copy, "file"), 0);
    assert_true(json_equal(copy, expected));
    json_decref(copy);
    json_decref(expected);
}

TEST_WITH(cells_are_runs_in_the_order_given, open_folder, temp_folder_remove)
{
    struct process_result result =
        TACIT("compare", one, "--json", "--over", "privacy.epsilon=0.5,inf", "--over",
              "network={kind: star},{kind: ring}");
    json_t *const json = on_file_json(result);
    json_t const *const results = json_object_get(json, "results");
    static const char *const epsilons[] = {"--set=privacy.epsilon=0.5",
                                           "--set=privacy.epsilon=inf"};
    static const char *const networks[] = {"--set=network={kind: star}",
                                           "--set=network={kind: ring}"};
    assert_int_equal(json_array_size(results), 4);
    for (size_t i = 0; i < 4; i++)
        assert_cell(json_array_get(results, i), one, epsilons[i / 2], networks[i % 2]);
    json_t const *const settings = json_object_get(json_array_get(results, 1), "settings");
    assert_true(json_number_value(json_object_get(settings, "privacy.epsilon")) == 0.5);
    assert_string_equal(json_string_value(json_object_get(settings, "network")), "{kind: ring}");
    json_decref(json);
}

TEST_WITH(files_stand_beside_each_other, open_folder, temp_folder_remove)
{
    struct process_result result = TACIT("compare", two, one, "--json");
    json_t *const json = on_file_json(result);
    json_t const *const results = json_object_get(json, "results");
    assert_int_equal(json_array_size(results), 2);
    assert_cell(json_array_get(results, 0), two, NULL, NULL);
    assert_cell(json_array_get(results, 1), one, NULL, NULL);
    assert_int_equal(json_object_size(json_object_get(json_array_get(results, 0), "settings")), 0);
    json_decref(json);
}

TEST_WITH(results_do_not_depend_on_threads, open_folder, temp_folder_remove)
{
    static const char *const threads[] = {"--threads=1", "--threads=2", "--threads=7"};
    char *first = NULL;
    for (size_t i = 0; i < 3; i++) {
        char *const said = PROCESS_EXPECT(
            TACIT("compare", one, "--json", "--over=agents=1,2,5", threads[i]), 0, "{");
        first = i == 0 ? said : first;
        assert_string_equal(said, first);
    }
}

TEST_WITH(a_cell_that_cannot_run_says_why_and_the_others_go_on, open_folder, temp_folder_remove)
{
    struct process_result result =
        TACIT("compare", one, "--json", "--over", "privacy.epsilon=1,many,2");
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.err, "1 of 3 settings could not run"));
    assert_int_equal(process_line_count(result.err), 1);
    json_t *const json = on_file_json(result);
    json_t const *const results = json_object_get(json, "results");
    char const *const error =
        json_string_value(json_object_get(json_array_get(results, 1), "error"));
    assert_non_null(error);
    assert_non_null(strstr(error, "'many' is not allowed"));
    assert_cell(json_array_get(results, 2), one, "--set=privacy.epsilon=2", "--quiet");
    json_decref(json);
    (void)PROCESS_EXPECT(TACIT("compare", one, "--json", "--over", "privacy.epsilom=1,2"), 2,
                         "epsilon");
}

static void assert_shown(const char *name, const char *text)
{
    if (strstr(on_file_text(out, name), text) == NULL)
        fail_msg("%s does not say %s", name, text);
}

TEST_WITH(files_are_written, open_folder, temp_folder_remove)
{
    (void)PROCESS_EXPECT(TACIT("compare", one, "--over=privacy.epsilon=0.5,1,none", "--out", out),
                         0, "epsilon 0.5", "'none' is not allowed");
    assert_shown("comparison.csv", "settings,error,epsilon,runs,uniform_regret,regret_mean");
    assert_shown("comparison.csv", "\"privacy.epsilon=1\",,1,5,");
    assert_shown("curves.csv", "\"privacy.epsilon=0.5\",5000,");
    assert_shown("report.html", "epsilon 0.5<br><code>privacy.epsilon=0.5</code>");
    assert_shown("report.html", "could not run: ");
    assert_shown("regret.svg", "<svg");
    assert_shown("settings.svg", "<svg");
    assert_shown("results.json", "\"settings\": {\"privacy.epsilon\": 1");
}

/* The floor and a baseline that was played: a line each, over time and in every figure of settings;
 * uniform play is far above the settings and leaves the figure over time; what differs from cell to
 * cell is no line of all. */
TEST_WITH(baselines_stand_in_every_figure, open_folder, temp_folder_remove)
{
    static const char *const figures[] = {"regret.svg", "settings.svg", "cost.svg", "bytes.svg"};
    (void)PROCESS_EXPECT(TACIT("compare", one, "--set=baselines=[pooled-ucb1]",
                               "--over=privacy.epsilon=0.2,2", "--out", out),
                         0, "");
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        assert_shown(figures[i], "floor of theory: ");
        assert_shown(figures[i], "pooled-ucb1: ");
    }
    assert_shown("regret.svg", "every arm alike: ");
    (void)PROCESS_EXPECT(TACIT("compare", one, "--set=baselines=[pooled-ucb1]",
                               "--over=horizon=4000,5000", "--out", out),
                         0, "");
    char *const curves = on_file_text(out, "regret.svg");
    assert_null(strstr(curves, "every arm alike"));
    assert_null(strstr(curves, "pooled-ucb1"));
}

/* Stopped in the midst: the second call takes the first
 * cells as they lie, and ends with what an uninterrupted one prints. */
TEST_WITH(an_interrupted_comparison_goes_on_where_it_stopped, open_folder, temp_folder_remove)
{
    static const char *const grid = "--over=seed=1,2,3,4,5,6,7,8,9,10,11,12";
    const char *const words[] = {process_tacit(),
                                 "compare",
                                 one,
                                 grid,
                                 "--set=horizon=100000",
                                 "--json",
                                 "--threads=1",
                                 "--set=protocol={kind: index, index: thompson}",
                                 "--set=privacy={mode: none}",
                                 "--runs=1",
                                 "--out",
                                 out,
                                 NULL};
    char cells[TEMP_PATH_BYTES];
    temp_path(cells, out, "cells/*.json");
    struct process_plan const whole_plan = {.arguments = words};
    struct process_plan const stopped_plan = {.arguments = words, .interrupt_when = cells};
    (void)PROCESS_EXPECT(process_run(&stopped_plan), 130, "the same call goes on from there");
    char *const resumed = PROCESS_EXPECT(process_run(&whole_plan), 0, "{");
    temp_path(out, temp_folder, "fresh");
    assert_string_equal(PROCESS_EXPECT(process_run(&whole_plan), 0, "{"), resumed);
}

/* What lies there of other data is not taken. */
TEST_WITH(changed_data_are_run_again, open_folder, temp_folder_remove)
{
    (void)TACIT("compare", one, "--over=agents=2,3", "--json", "--out", out);
    temp_file_write(temp_folder, "means.csv", "0.4,0.5,0.6\n");
    struct process_result after =
        TACIT("compare", one, "--over=agents=2,3", "--json", "--out", out);
    json_t *const json = on_file_json(after);
    assert_cell(json_array_get(json_object_get(json, "results"), 1), one, "--set=agents=3",
                "--quiet");
    json_decref(json);
}

/* A setting of all cells is none that they are told apart by. */
TEST_WITH(kept_cells_name_what_is_varied_now, open_folder, temp_folder_remove)
{
    static const char *const agents[] = {"--set=agents=2", "--over=agents=2"};
    for (size_t i = 0; i < 2; i++) {
        json_t *const json =
            on_file_json(TACIT("compare", one, agents[i], "--over=seed=1", "--json", "--out", out));
        json_t const *const cell = json_array_get(json_object_get(json, "results"), 0);
        assert_int_equal(json_object_size(json_object_get(cell, "settings")), 1 + i);
        json_decref(json);
    }
}

/* Two arms of the same reward in each of three decisions. */
static void write_offers(const char *reward)
{
    char rows[200] = "who,decision,won,a\n";
    for (unsigned i = 0; i < 6; i++)
        (void)snprintf(rows + strlen(rows), sizeof rows - strlen(rows), "x,%u,%s,0.5\n", i / 2,
                       reward);
    temp_file_write(temp_folder, "tables/offers.csv", rows);
}

TEST_WITH(changed_tables_of_a_folder_are_noticed, open_folder, temp_folder_remove)
{
    static const char *const words =
        "--set=environment={kind: contextual, contextual: {dimension: 1, arms: 2, source: offers, "
        "folder: tables, offers: {table: offers.csv, agent: who, decision: decision, reward: won, "
        "features: [a]}}}";
    char folder[TEMP_PATH_BYTES];
    temp_path(folder, temp_folder, "tables");
    assert_int_equal(mkdir(folder, 0700), 0);
    for (unsigned reward = 0; reward < 2; reward++) {
        write_offers(reward == 0 ? "0" : "1");
        json_t *const json = on_file_json(TACIT(
            "compare", two, "--json", "--set=horizon=3", "--set=agents=1", words,
            "--set=protocol={kind: glm-ucb, variant: random}", "--over=seed=1", "--out", out));
        json_t const *const metrics =
            json_object_get(json_array_get(json_object_get(json, "results"), 0), "metrics");
        assert_true(json_number_value(
                        json_object_get(json_object_get(metrics, "reward"), "mean")) == 3 * reward);
        json_decref(json);
    }
}

TEST_WITH(wrong_words_are_refused_in_a_line, open_folder, temp_folder_remove)
{
    static const char *const cases[][3] = {
        {NULL, NULL, "no experiment file given"},
        {"--over", "agents", "allowed: KEY=V1,V2,..."},
        {"--over", "=1", "allowed: KEY=V1,V2,..."},
        {"--over", "agents=1,,2", "has an empty value"},
        {"--over", "agents=1,", "has an empty value"},
        {"--over", "agents=1,2,1", "'agents=1' comes twice; allowed: each value once"},
        {"--over=agents=1", "--over=agents=2", "agents is varied twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct process_result result = cases[i][0] == NULL
                                           ? TACIT("compare", "--json")
                                           : TACIT("compare", one, cases[i][0], cases[i][1]);
        on_file_expect_wrong(result, cases[i][2], cases[i][2]);
    }
}

TEST_WITH(a_place_that_takes_no_files_is_found_before_the_runs, open_folder, temp_folder_remove)
{
    struct process_result result = TACIT("compare", one, "--out", "/proc/none");
    assert_string_equal(PROCESS_EXPECT(result, 1, "--out: /proc/none: "), "");
}
