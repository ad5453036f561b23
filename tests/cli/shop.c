/* The shop of examples/shop through the real program: what a person with a CSV of past offers sees,
 * and what happens to slips of the pen. $TACIT_SOURCE: where the examples are. */
#include <jansson.h>
#include "../support/testing.h"
#include "../support/on_file.h"
#include "../support/temp.h"

#define PATH_BYTES (2u * TEMP_PATH_BYTES)

static char file[TEMP_PATH_BYTES];

static const char *example(const char *name)
{
    static char path[PATH_BYTES];
    char const *const source = getenv("TACIT_SOURCE");
    (void)snprintf(path, sizeof path, "%s/examples/%s", source == NULL ? "." : source, name);
    return path;
}

static int open_folder(void **state)
{
    char csv[TEMP_PATH_BYTES];
    temp_directory_make(temp_folder);
    temp_path(file, temp_folder, "shop.yaml");
    temp_path(csv, temp_folder, "shop.csv");
    char *const text = on_file_text(example("shop"), "shop.yaml");
    temp_file_write(temp_folder, "shop.yaml", text);
    testing_free(text);
    const char *const words[] = {"/usr/bin/env", "python3", example("shop/make_shop.py"), csv,
                                 NULL};
    struct process_plan const plan = {.arguments = words};
    struct process_result made = process_run(&plan);
    assert_int_equal(made.code, 0);
    testing_free(made.out); /* no test has begun whose own it could be */
    testing_free(made.err);
    return 0;
}

#define TACIT(...)                                                                                 \
    process_tacit_run((struct process_plan){.timeout_ms = 0}, PROCESS_WORDS(__VA_ARGS__))

TEST(check_shows_what_the_data_are_read_as)
{
    (void)PROCESS_EXPECT(
        TACIT("check", file), 0, "  rows used  19410\n",
        "  left out   0 without an agent, 185 without an arm, 405 without a reward\n",
        "  Aachen               gift, wrapped                   951     0.115668\n",
        "  K\xc3\xb6ln                 two \"for\" one                   937     0.163287\n",
        "rows are drawn again and again");
}

TEST(the_run_finds_the_coupon_that_sells)
{
    json_t *const json = on_file_json(TACIT("run", file, "--json"));
    json_t const *const answer = json_object_get(json, "answer");
    assert_true(json_is_true(json_object_get(answer, "decided")));
    assert_string_equal(json_string_value(json_array_get(json_object_get(answer, "arms"), 0)),
                        "free delivery");
    json_decref(json);
}

TEST(ten_epsilons_stand_beside_each_other)
{
    json_t *const json =
        on_file_json(TACIT("compare", file, "--runs=4", "--json",
                           "--over=privacy.epsilon=0.05,0.1,0.2,0.5,1,2,3,5,10,inf"));
    json_t const *const results = json_object_get(json, "results");
    assert_int_equal(json_array_size(results), 10);
    for (size_t i = 0; i < 10; i++)
        assert_null(json_object_get(json_array_get(results, i), "error"));
    json_decref(json);
}

TEST(slips_of_the_pen_are_refused_with_what_there_is)
{
#define LOGGED "--set=environment.logged."
    static const char *const slips[][3] = {
        {"run", LOGGED "reward.equals=Yes",
         "column 'bought' never holds 'Yes'; its values are no, yes"},
        {"check", "--set=agents=4",
         "the two must be equal (Aachen, Besan\xc3\xa7on, K\xc3\xb6ln, M\xc3\xa1laga, "},
        {"check", LOGGED "arm=Coupon",
         "no column 'Coupon'; the columns are offer, shop, coupon, basket, bought, "
         "customer, segment, day"},
        {"check", "--set=privacy.unit={column: customer, rewards: 2}",
         "the smallest cell (agent, arm) has 867 units in column 'customer', whose 1734 "
         "rewards may not last for 100000 slots; allowed: a 'horizon' up to 1734"},
        {"check", "--set=privacy={mode: none, unit: {column: customer, rewards: 2}}",
         "nothing is noised here"},
        {"plan", "--set=privacy.unit={column: customer, rewards: 200}", "plan without it"},
        {"evaluate", "--set=privacy.unit={column: customer, rewards: 200}",
         "here each row is played as it was logged"},
        {"check", LOGGED "missing=refuse",
         "column 'bought' is empty; 'missing' may say what that means"},
        {"check", LOGGED "missing=keep", "drop"},
        {"check", LOGGED "encoding=utf-16", "cp1252"},
        {"check", LOGGED "separator=;", "a quote inside a field"},
    };
    for (size_t i = 0; i < sizeof slips / sizeof slips[0]; i++)
        on_file_expect_wrong(TACIT(slips[i][0], file, slips[i][1]), slips[i][1], slips[i][2]);
}

TEST(what_is_missing_may_have_a_meaning)
{
    (void)PROCESS_EXPECT(
        TACIT("check", file, "--set=environment.logged.missing={arm: none, reward: no}"), 0,
        "  rows used  20000\n", ": ok: 5 agents, 5 arms");
}

/* As a spreadsheet in German writes it. */
TEST(other_dialects_are_read)
{
    char other[TEMP_PATH_BYTES];
    temp_file_write(temp_folder, "other.csv",
                    "Filiale;Gutschein;Umsatz\r\nK\xf6ln;a;0,5\r\nK\xf6ln;b;0,25\r\n");
    temp_file_write(temp_folder, "other.yaml",
                    "name: other\nseed: 1\nruns: 2\nhorizon: 100\nagents: 1\n"
                    "environment: {kind: logged, logged: {csv: other.csv, agent: Filiale, "
                    "arm: Gutschein, reward: Umsatz, encoding: cp1252}}\n"
                    "protocol: {kind: index, index: ucb1}\nprivacy: {mode: none}\n");
    temp_path(other, temp_folder, "other.yaml");
    (void)PROCESS_EXPECT(TACIT("check", other), 0, "K\xc3\xb6ln", "         1         0.25\n");
    on_file_expect_wrong(TACIT("run", other, "--set=environment.logged.encoding=utf-8"), "utf-8",
                         "other.csv:2: bytes that are not UTF-8; 'encoding' may say what they are");
}

int main(void)
{
    return testing_run(open_folder, temp_folder_remove);
}
