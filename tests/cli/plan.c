/* `tacit plan` through the real program: its forecast holds on fresh runs, its settings are those
 * of `tacit run`, and what it cannot plan it says. */
#include <math.h>
#include <jansson.h>
#include "../support/testing.h"
#include "../support/on_file.h"
#include "../support/process.h"
#include "../support/temp.h"

static char file[TEMP_PATH_BYTES];

static int open_folder(void **state)
{
    on_file_open("plan.yaml", "name: plan\nseed: 4\nruns: 100\nhorizon: 20000\n"
                              "environment: {kind: bernoulli, means: means.csv}\nagents: 4\n"
                              "protocol: {kind: elimination}\n"
                              "privacy: {mode: sound, epsilon: 1}\ncost: {server_link: 25}\n");
    temp_path(file, temp_folder, "plan.yaml");
    return 0;
}

#define TACIT(...)                                                                                 \
    process_tacit_run((struct process_plan){.timeout_ms = 600000}, PROCESS_WORDS(__VA_ARGS__))

static double number(const json_t *object, const char *name)
{
    json_t const *const value = json_object_get(object, name);
    if (!json_is_number(value))
        fail_msg("no %s", name);
    return json_number_value(value);
}

/* What a slot of a site is of the plan's horizon: votes count the samples of all four sites. */
static double samples_of(const json_t *plan)
{
    return strcmp(json_string_value(json_object_get(plan, "protocol")), "votes") == 0 ? 4 : 1;
}

/* Runs with the plan's settings, another seed and this horizon. */
static json_t *run_fresh(const json_t *plan, double horizon, uint32_t runs)
{
    char words[5][256];
    json_t const *const settings = json_object_get(plan, "settings");
    (void)snprintf(words[0], sizeof words[0], "--set=protocol=%s",
                   json_string_value(json_object_get(settings, "protocol")));
    (void)snprintf(words[1], sizeof words[1], "--set=network=%s",
                   json_string_value(json_object_get(settings, "network")));
    (void)snprintf(words[2], sizeof words[2], "--set=horizon=%.0f", horizon);
    (void)snprintf(words[3], sizeof words[3], "--set=privacy.trust.aggregators=%d",
                   json_object_get(plan, "regret_of_one") == NULL ? 1 : 2);
    (void)snprintf(words[4], sizeof words[4], "--runs=%u", runs);
    return on_file_json(TACIT("run", file, "--json", "--seed=99", words[0], words[1], words[2],
                              words[3], words[4]));
}

static void expect_regret(const json_t *plan)
{
    json_t *const fresh = run_fresh(plan, 20000 * samples_of(plan), 100);
    double const regret =
        number(json_object_get(json_object_get(fresh, "metrics"), "regret"), "mean");
    assert_true(fabs(regret / number(plan, "regret") - 1) < 0.3);
    json_decref(fresh);
}

#define RUNS 300u

/* "decided for arm 0, in 286 of 300 runs"; 0 if it is not decided. */
static double share_of_answer(const json_t *answer)
{
    char const *const told = json_string_value(json_object_get(answer, "sentence"));
    if (!json_is_true(json_object_get(answer, "decided")))
        return 0;
    char const *const place = strstr(told, ", in ");
    assert_non_null(place);
    return strtod(place + strlen(", in "), NULL) / RUNS;
}

/* Share of fresh runs that end with one arm. Of votes the metric is a share of the players. */
static double decided_share(const json_t *plan, double horizon)
{
    json_t *const json = run_fresh(plan, horizon, RUNS);
    json_t const *const metrics = json_object_get(json, "metrics");
    json_t const *const answer = json_object_get(json, "answer");
    bool const are_votes = samples_of(plan) > 1;
    double const share = are_votes
                             ? share_of_answer(answer)
                             : number(json_object_get(metrics, "single_arm_fraction"), "mean");
    json_decref(json);
    return share;
}

/* Held out: other seeds, more runs. Slots within 20 %, regret within 30 %, for every plan that is
 * offered. */
TEST(the_forecast_holds_on_fresh_runs)
{
    static const char *const instances[] = {"0.6,0.5,0.4,0.3\n", "0.9,0.8,0.8,0.8,0.8,0.1\n"};
    for (size_t i = 0; i < 2; i++) {
        temp_file_write(temp_folder, "means.csv", instances[i]);
        json_t *const json = on_file_json(TACIT("plan", file, "--json", "--runs=200"));
        json_t const *const plans = json_object_get(json, "plans");
        assert_true(json_array_size(plans) >= 5);
        for (size_t j = 0; j < json_array_size(plans); j++) {
            json_t const *const plan = json_array_get(plans, j);
            if (strcmp(json_string_value(json_object_get(plan, "protocol")), "gossip-ucb") != 0) {
                double const needed = number(plan, "horizon_needed");
                assert_true(decided_share(plan, floor(1.2 * needed)) >= 0.93);
                assert_true(decided_share(plan, floor(0.8 * needed)) <= 0.97);
                assert_true(needed == samples_of(plan) * number(plan, "slots_needed"));
            } else
                assert_true(json_is_null(json_object_get(plan, "horizon_needed")));
            expect_regret(plan);
        }
        json_t const *const two = json_object_get(json, "two_aggregators");
        expect_regret(two); /* of four sites: less noise, another result */
        assert_true(number(two, "regret") < 0.95 * number(two, "regret_of_one"));
        assert_true(number(two, "horizon_formula") < number(two, "horizon_formula_of_one"));
        json_decref(json);
    }
}

/* Means far apart or close, exact bounds or the paper's: the formula is what simulation finds, to
 * within a step of the ladder. */
TEST(the_formula_is_close_to_the_simulation)
{
    uint32_t seen = 0;
    temp_file_write(temp_folder, "means.csv", "0.55,0.5\n");
    json_t *const json = on_file_json(TACIT("plan", file, "--json", "--runs=50"));
    json_t const *const plans = json_object_get(json, "plans");
    for (size_t j = 0; j < json_array_size(plans); j++) {
        json_t const *const plan = json_array_get(plans, j);
        json_t const *const formula = json_object_get(plan, "horizon_formula");
        if (!json_is_number(formula))
            continue;
        double const ratio = json_number_value(formula) / number(plan, "horizon_needed");
        assert_true(ratio > 0.8 && ratio < 1.25);
        seen++;
    }
    assert_true(seen >= 5);
    json_decref(json);
}

/* The same sentence wherever a horizon is too short; none where it is not. */
TEST(check_and_run_say_how_long_it_would_take)
{
    static const char *const commands[] = {"check", "run"};
    temp_file_write(temp_folder, "means.csv", "0.525,0.5\n");
    for (size_t i = 0; i < 2; i++) {
        (void)PROCESS_EXPECT(TACIT(commands[i], file, "--set=runs=20"), 0,
                             "\nto tell 0.025 apart at epsilon 1 takes ",
                             " slots a site; you have 20,000\n");
        char *const longer = PROCESS_EXPECT(
            TACIT(commands[i], file, "--set=runs=20", "--set=horizon=1000000"), 0, "");
        assert_null(strstr(longer, "to tell 0.025 apart"));
    }
}

/* In time before late; among those in time the least regret first. */
TEST(the_best_plan_comes_first)
{
    temp_file_write(temp_folder, "means.csv", "0.6,0.55,0.5\n");
    json_t *const json = on_file_json(TACIT("plan", file, "--json", "--runs=50"));
    json_t const *const plans = json_object_get(json, "plans");
    for (size_t i = 1; i < json_array_size(plans); i++) {
        json_t const *const before = json_array_get(plans, i - 1);
        json_t const *const plan = json_array_get(plans, i);
        bool const in_time = json_is_true(json_object_get(before, "decides"));
        if (json_is_true(json_object_get(plan, "decides"))) {
            assert_true(in_time);
            assert_true(number(before, "regret") <= number(plan, "regret"));
            assert_true(number(plan, "slots_needed") <= 20000);
        }
    }
    assert_non_null(strstr(json_string_value(json_object_get(json, "sentence")),
                           "to tell 0.05 apart at epsilon 1 takes "));
    json_decref(json);
}

TEST(a_plan_is_told_in_words)
{
    temp_file_write(temp_folder, "means.csv", "0.503,0.5\n");
    (void)PROCESS_EXPECT(TACIT("plan", file, "--runs=20", "--set=horizon=2000"), 0,
                         "to tell 0.003 apart at epsilon 1 takes ", "; you have 2,000\n");
}

/* The file's own protocol does not even begin in 50 slots: that is no reason not to say how many it
 * takes. */
TEST(a_horizon_that_is_too_short_for_the_file_is_planned_for)
{
    temp_file_write(temp_folder, "means.csv", "0.8,0.3,0.3\n");
    json_t *const json = on_file_json(TACIT("plan", file, "--json", "--runs=20", "--set=horizon=50",
                                            "--set=protocol={kind: elimination}"));
    json_t const *plan;
    size_t i;
    uint32_t eliminations = 0;
    json_array_foreach(json_object_get(json, "plans"), i, plan)
    {
        if (strcmp(json_string_value(json_object_get(plan, "protocol")), "elimination") != 0)
            continue;
        eliminations++;
        assert_true(json_is_null(json_object_get(plan, "regret")));
        assert_true(json_is_false(json_object_get(plan, "decides")));
        assert_true(number(plan, "slots_needed") > 50);
    }
    assert_int_equal(eliminations, 6);
    assert_non_null(strstr(json_string_value(json_object_get(json, "sentence")), "; you have 50"));
    json_decref(json);
}

TEST(what_cannot_be_planned_is_said)
{
    temp_file_write(temp_folder, "means.csv", "0.5,0.5\n");
    static const char *const wrong[][2] = {
        {NULL, "two arms share the best mean"},
        {"--set=environment={kind: bernoulli, generated: {arms: 4, draw: uniform}}",
         "every run has its own means here"},
        {"--set=protocol={kind: elimnation}", "'elimnation'"},
        {"--runs=0", "runs"},
        {"--gap=1.5", "--gap: '1.5' is not allowed; allowed: a number above 0 and up to 1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        (void)PROCESS_EXPECT(TACIT("plan", file, wrong[i][0]), 2, wrong[i][1]);
}

/* The gap that matters in place of the file's: the same plans as of a file with these means; what
 * is printed to run one runs. */
TEST(the_gap_that_matters_stands_in_for_the_means)
{
    temp_file_write(temp_folder, "means.csv",
                    "0.6,0.6,0.1\n"); /* by itself, nothing is told apart */
    json_t *const json = on_file_json(TACIT("plan", file, "--json", "--runs=20", "--gap=0.1"));
    json_t const *const plan = json_array_get(json_object_get(json, "plans"), 0);
    char const *const instance = json_string_value(json_object_get(json, "instance"));
    assert_non_null(strstr(json_string_value(json_object_get(json, "sentence")),
                           "to tell 0.1 apart at epsilon 1 takes "));
    temp_file_write(temp_folder, "means.csv", "0.5,0.5,0.6\n");
    json_t *const plain = on_file_json(TACIT("plan", file, "--json", "--runs=20"));
    assert_true(json_equal(json_object_get(json, "plans"), json_object_get(plain, "plans")));
    char setting[256];
    (void)snprintf(setting, sizeof setting, "--set=%s", instance);
    json_t *const run =
        on_file_json(TACIT("run", file, "--json", "--runs=20", setting, "--set=checkpoints=2",
                           "--set=protocol={kind: phased-index}"));
    json_t const *const regret = json_object_get(json_object_get(run, "metrics"), "regret");
    assert_true(number(regret, "mean") > 0);
    assert_non_null(plan);
    json_decref(run);
    json_decref(plain);
    json_decref(json);
}

/* Ten rows a site on each of 14 days but Sundays. */
TEST(slots_are_days_where_a_column_says_when)
{
    static char rows[1 << 15];
    size_t size = (size_t)snprintf(rows, sizeof rows, "who,arm,won,day\n");
    for (uint32_t i = 0; i < 12 * 20; i++)
        size += (size_t)snprintf(rows + size, sizeof rows - size, "%u,%c,%u,2024-05-%02u\n", i % 2,
                                 'a' + (int)(i / 2 % 2), i % 5 < 1 + i / 2 % 2 * 3 ? 1u : 0u,
                                 6 + i / 20 + i / 120);
    temp_file_write(temp_folder, "rows.csv", rows);
    json_t *const json =
        on_file_json(TACIT("plan", file, "--json", "--runs=20", "--set=agents=2",
                           "--set=environment={kind: logged, logged: {csv: rows.csv, "
                           "agent: who, arm: arm, reward: won, time: day}}"));
    assert_non_null(strstr(json_string_value(json_object_get(json, "days")),
                           " days at the traffic of these rows, by weekday: Mon 10, Tue 10, Wed "
                           "10, Thu 10, Fri 10, Sat 10, Sun 0 a site"));
    assert_true(number(json_object_get(json, "traffic"), "Saturday") == 10);
    json_t const *const plan = json_array_get(json_object_get(json, "plans"), 0);
    double const slots = number(plan, "slots_needed");
    double const days = number(plan, "days_needed");
    assert_true(days * 60 / 7 >= slots - 10 && days * 60 / 7 <= slots + 20);
    json_decref(json);
}

/* Of all plans, whatever comes first in the table. */
TEST(the_sentence_names_the_fewest_slots)
{
    double least = INFINITY;
    char words[80];
    temp_file_write(temp_folder, "means.csv", "0.6,0.55,0.5\n");
    json_t *const json =
        on_file_json(TACIT("plan", file, "--json", "--runs=20", "--set=horizon=200000"));
    json_t const *const plans = json_object_get(json, "plans");
    for (size_t i = 0; i < json_array_size(plans); i++) {
        json_t const *const needed = json_object_get(json_array_get(plans, i), "slots_needed");
        if (json_is_number(needed))
            least = fmin(least, json_number_value(needed));
    }
    char said[400] = "";
    size_t length = 0;
    for (const char *at = json_string_value(json_object_get(json, "sentence"));
         *at != '\0' && length + 1 < sizeof said; at++)
        if (*at != ',')
            said[length++] = *at; /* thousands are grouped */
    (void)snprintf(words, sizeof words, " takes %.0f slots a site", least);
    assert_non_null(strstr(said, words));
    json_decref(json);
}

/* Half of an odd horizon may be too short, and twice that half was never tried. */
TEST(the_horizon_that_is_needed_was_tried)
{
    temp_file_write(temp_folder, "means.csv", "0.9,0.1,0.1\n");
    json_t *const json =
        on_file_json(TACIT("plan", file, "--json", "--runs=20", "--set=horizon=9", "--set=agents=5",
                           "--set=environment.kind=constant", "--set=privacy.epsilon=inf",
                           "--set=protocol={kind: phased-index, confidence: 0.95}"));
    json_t const *const plan = json_array_get(json_object_get(json, "plans"), 0);
    assert_true(json_is_true(json_object_get(plan, "decides")));
    assert_true(number(plan, "horizon_needed") == 9);
    json_decref(json);
}

int main(void)
{
    return testing_run(open_folder, temp_folder_remove);
}
