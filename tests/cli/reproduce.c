/* `tacit reproduce` on small papers that the tests write, and the papers of this project as far as
 * they are cheap: verdicts, exit codes, outputs, and what it says about wrong claims files. */
#include <math.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../support/testing.h"
#include "../support/on_file.h"
#include "../support/process.h"
#include "../support/temp.h"

#define WORDS_MAX 16u
#define TEXT_BYTES 4096u
#define DEPTH_MAX 64u

/* ---- A small paper ---- */

static const char experiment_text[] = "name: %s\n"
                                      "seed: 3\n"
                                      "runs: %s\n"
                                      "horizon: 20000\n"
                                      "agents: 3\n"
                                      "checkpoints: [100, 1000, 10000, 20000]\n"
                                      "environment: {kind: bernoulli, generated: {arms: 4}}\n"
                                      "protocol: {kind: elimination}\n"
                                      "privacy: {mode: paper, epsilon: %s}\n"
                                      "cost: {server_link: 2}\n";

/* One string a line, so that a test can spoil one. */
static const char *const claims_text[] = {
    "paper: px",
    "title: A paper",
    "fast_runs: 3",
    "figures:",
    "  - id: fig1",
    "    title: Figure one",
    "    paper_shows: The curve falls.",
    "    plot: {x: t, y: regret}",
    "    curves: [{experiment: noisy, label: noisy}, {experiment: plain, label: plain}]",
    "    claims:",
    "      - id: order",
    "        where: Sec. 1",
    "        says: Less noise, less regret.",
    "        measure: falls(noisy.regret, plain.regret)",
    "        band: [1, inf]",
    "        verdict: holds",
};
#define LINE_COUNT (sizeof claims_text / sizeof claims_text[0])
#define MEASURE_LINE 14u
#define BAND_LINE 15u
#define VERDICT_LINE 16u

struct bench {
    char directory[TEMP_PATH_BYTES]; /* the experiments folder */
    char paper[TEMP_PATH_BYTES];     /* the paper's folder in it */
    char out[TEMP_PATH_BYTES];       /* does not exist yet */
};

/* Writes the claims with line `line` (from 1; 0: none) replaced, and `more` behind the end. */
static void write_claims(const struct bench *bench, uint32_t line, const char *instead,
                         const char *more)
{
    char text[TEXT_BYTES];
    size_t size = 0;
    for (uint32_t i = 0; i < LINE_COUNT; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s\n",
                                 i + 1 == line ? instead : claims_text[i]);
    size += (size_t)snprintf(text + size, sizeof text - size, "%s", more);
    assert_true(size < sizeof text);
    temp_file_write(bench->paper, "claims.yaml", text);
}

static void write_experiment(const struct bench *bench, const char *name, const char *runs,
                             const char *epsilon)
{
    char file[64];
    char text[TEXT_BYTES];
    (void)snprintf(file, sizeof file, "%s.yaml", name);
    (void)snprintf(text, sizeof text, experiment_text, name, runs, epsilon);
    temp_file_write(bench->paper, file, text);
}

static int open_bench(void **state)
{
    struct bench *const bench = testing_malloc(sizeof *bench);
    if (bench == NULL)
        return -1;
    temp_directory_make(bench->directory);
    temp_path(bench->paper, bench->directory, "px-small");
    temp_path(bench->out, bench->directory, "out");
    if (mkdir(bench->paper, 0777) != 0)
        return -1;
    write_experiment(bench, "noisy", "20", "0.02");
    write_experiment(bench, "plain", "20", "inf");
    write_claims(bench, 0, NULL, "");
    *state = bench;
    return 0;
}

/* ---- Running ---- */

/* `tacit reproduce --experiments FOLDER WORD...`; the words end with NULL. */
static struct process_result reproduce(struct process_plan plan, const char *folder,
                                       const char *const *words)
{
    const char *all[WORDS_MAX + 4] = {"reproduce", "--experiments", folder};
    for (size_t i = 0; words[i] != NULL; i++) {
        assert_true(i < WORDS_MAX);
        all[i + 3] = words[i];
    }
    return process_tacit_run(plan, all);
}
#define REPRODUCE_AS(plan, bench, ...)                                                             \
    reproduce((plan), (bench)->directory, PROCESS_WORDS(__VA_ARGS__))
#define REPRODUCE(bench, ...) REPRODUCE_AS((struct process_plan){0}, bench, __VA_ARGS__)

static void expect_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in '%s'", part, text);
}

/* Every tag is closed by its own; those that HTML never closes are passed over. */
static void expect_well_formed(const char *text)
{
    char names[DEPTH_MAX][32];
    size_t depth = 0;
    for (const char *at = strchr(text, '<'); at != NULL; at = strchr(at, '<')) {
        const char *const end = strchr(at, '>');
        char name[32];
        assert_non_null(end);
        bool const closes = at[1] == '/';
        size_t const length = strcspn(at + 1 + closes, " >/\n");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, at + 1 + closes);
        at = end;
        if (name[0] == '!' || end[-1] == '/' || strcmp(name, "meta") == 0 ||
            strcmp(name, "link") == 0 || strcmp(name, "br") == 0)
            continue;
        if (!closes) {
            assert_true(depth < DEPTH_MAX);
            memcpy(names[depth++], name, sizeof name);
            continue;
        }
        assert_true(depth > 0);
        assert_string_equal(names[--depth], name);
    }
    assert_int_equal(depth, 0);
}

/* The text of a file that was made, which is well formed if it is a page or a figure. */
static char *made(const struct bench *bench, const char *name)
{
    char folder[TEMP_PATH_BYTES];
    temp_path(folder, bench->out, "px");
    char *const text = on_file_text(folder, name);
    if (strstr(name, ".svg") != NULL || strstr(name, ".html") != NULL)
        expect_well_formed(text);
    return text;
}

/* The first claim of the JSON, and its number. */
static double claim_value(const struct bench *bench, const char *measure, int code)
{
    char line[TEXT_BYTES];
    (void)snprintf(line, sizeof line, "        measure: %s", measure);
    write_claims(bench, MEASURE_LINE, line, "");
    char *const told = PROCESS_EXPECT(REPRODUCE(bench, "px", "--json"), code, "{");
    json_t *const json = json_loads(told, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    json_t const *const paper = json_array_get(json_object_get(json, "papers"), 0);
    json_t const *const figure = json_array_get(json_object_get(paper, "figures"), 0);
    json_t const *const claim = json_array_get(json_object_get(figure, "claims"), 0);
    double const value = json_number_value(json_object_get(claim, "value"));
    json_decref(json);
    return value;
}

/* ---- IDs ---- */

TEST_WITH(list_names_papers_and_figures, open_bench, temp_bench_remove)
{
    struct process_result result = REPRODUCE((struct bench const *)*state, "--list");
    (void)PROCESS_EXPECT(result, 0, "px            A paper\npx-fig1       Figure one\n");
    assert_string_equal(result.err, "");
}

TEST_WITH(papers_and_this_program_are_cited, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    write_claims(bench, 2, "title: A paper\ncite: |-\n  @article{a,\n    title = {A paper}\n  }",
                 "");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "--cite"), 0,
                         "@article{a,\n  title = {A paper}\n}\n@software{tacit,\n");
}

TEST_WITH(unknown_ids_name_the_nearest, open_bench, temp_bench_remove)
{
    static const char *const cases[][2] = {
        {"px-fgi1", "did you mean 'px-fig1'? allowed: px-fig1, px\n"},
        {"px-f", "did you mean 'px-fig1'? allowed: px-fig1, px\n"},
        {"qqqqqqqq", "there is no 'qqqqqqqq'; allowed: px-fig1, px\n"},
        {"", "there is no ''; allowed: px-fig1, px\n"},
        {"--threads=0", "tacit reproduce: --threads: '0' is not allowed"},
        {"--format=gif", "--format: 'gif' is not allowed; allowed: svg, png, pdf"},
        {"--format=pdf", "--format needs --out DIR"},
    };
    struct bench const *const bench = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        on_file_expect_wrong(REPRODUCE(bench, cases[i][0]), cases[i][0], cases[i][1]);
    on_file_expect_wrong(reproduce((struct process_plan){0}, bench->paper, PROCESS_WORDS(NULL)),
                         "no paper", "allowed: a folder whose folders have a claims.yaml");
}

/* ---- Verdicts ---- */

TEST_WITH(a_claim_that_holds, open_bench, temp_bench_remove)
{
    struct process_result result = REPRODUCE((struct bench const *)*state, "px");
    (void)PROCESS_EXPECT(result, 0, "  holds          order: ", ", band [1, inf]\n",
                         "1 claim: 1 hold, 0 do not hold, 0 undecided; all as recorded\n");
    assert_string_equal(result.err, "");
}

TEST_WITH(a_claim_that_does_not_hold_as_recorded, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    write_claims(bench, VERDICT_LINE, "        verdict: does not hold\n        why: because", "");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "px"), 1, "NOT AS RECORDED (does not hold)");
    write_claims(bench, BAND_LINE, "        band: [0, 0.5]", "");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "px-fig1"), 1,
                         "  does not hold  order: ", "NOT AS RECORDED (holds)",
                         "1 claim: 0 hold, 1 do not hold, 0 undecided; 1 NOT AS RECORDED\n");
    write_claims(bench, BAND_LINE,
                 "        band: [0, 0.5]\n        verdict: does not hold\n        why: as it is\n"
                 "      - id: second\n        where: Sec. 2\n        says: Six.\n"
                 "        measure: \"6\"\n        band: [6, 6]",
                 "");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "px"), 0, "as it is",
                         "2 claims: 1 hold, 1 do not hold, 0 undecided; all as recorded\n");
}

/* What finite runs do not come to is not reached: that is no failure, and no refutation. */
TEST_WITH(a_limit_is_reached_or_not, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    char const *const limit = "      - {id: far, where: here, says: Far., measure: \"6\", "
                              "band: [7, 8], limit: yes, why: finite, ";
    char text[512];
    (void)snprintf(
        text, sizeof text,
        "%sverdict: not reached, reading: \"R1; the other one holds\", checked: by hand}\n", limit);
    write_claims(bench, 0, NULL, text);
    (void)PROCESS_EXPECT(
        REPRODUCE(bench, "px", "--out", bench->out), 0, "  not reached    far: 6, band [7, 8]\n",
        "      Why:\n      finite\n      Our reading:\n      R1; the other one holds\n"
        "      Checked:\n      by hand\n",
        "2 claims: 1 hold, 0 do not hold, 1 not reached, 0 undecided; all as "
        "recorded\n");
    (void)snprintf(text, sizeof text, "%sverdict: holds}\n", limit);
    write_claims(bench, 0, NULL, text);
    (void)PROCESS_EXPECT(REPRODUCE(bench, "px"), 1, "NOT AS RECORDED (holds)");
}

/* A figure that takes hours is run when it is asked for by its own ID, and in a fast version that
 * makes it smaller; with its paper it is said to be left. */
TEST_WITH(what_takes_hours_is_run_by_its_own_id, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    write_claims(bench, 6, "    title: Figure one\n    hours: 12",
                 "  - id: quick\n    title: Quick\n    paper_shows: Nothing.\n"
                 "    plot: {x: t, y: regret}\n"
                 "    curves: [{experiment: plain, label: plain}]\n    claims:\n"
                 "      - {id: six, where: here, says: Six., measure: \"6\", band: [6, 6], "
                 "verdict: holds}\n");
    (void)PROCESS_EXPECT(
        REPRODUCE(bench, "px", "--out", bench->out), 0, "1 experiment\n",
        "  not run here: about 12 h of processor time", "  not run        order: no value",
        "2 claims: 1 hold, 0 do not hold, 1 not run, 0 undecided; all as recorded\n");
    char path[TEMP_PATH_BYTES];
    temp_path(path, bench->out, "px/fig1.svg");
    assert_int_not_equal(access(path, F_OK), 0);
    (void)made(bench, "quick.svg");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "px-fig1"), 0, "  holds          order: ");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "px", "px-fig1"), 0,
                         "2 claims: 2 hold, 0 do not hold, 0 undecided; all as recorded\n");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "px", "--fast"), 0,
                         "1 experiment, few runs each (--fast)\n",
                         "  not run        order: no value");
    expect_has(REPRODUCE(bench, "px-fig1", "--fast").out,
               "2 experiments, few runs each (--fast)\n");
    write_claims(bench, 3, "fast_runs: 3\nfast_note: A seed.\nfast_settings: {noisy: [seed=2]}",
                 "  - id: slow\n    title: Slow\n    hours: 9\n    paper_shows: Nothing.\n"
                 "    plot: {x: t, y: regret}\n"
                 "    curves: [{experiment: plain, label: plain}]\n    claims:\n"
                 "      - {id: six, where: here, says: Six., measure: \"6\", band: [6, 6], "
                 "verdict: holds}\n");
    expect_has(REPRODUCE(bench, "px", "--fast").out, "  holds          six: ");
}

/* Of each run by itself: the mean of the ratios is not the ratio of the means, and a share of the
 * runs is a number of them over how many there are. */
TEST_WITH(a_measure_is_worked_out_in_each_run, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    static const struct {
        const char *measure;
        const char *band;
    } cases[] = {{"within(noisy.regret / noisy.regret, 1, 1)", "[1, 1]"},
                 {"within(noisy.regret, 0, 0)", "[0, 0]"},
                 {"within(noisy.regret / plain.regret, 1, 4)", "[0.05, 0.95]"},
                 {"(noisy.regret / plain.regret) * (noisy.regret / plain.regret)", "[1, 1000]"}};
    char text[1024];
    size_t length = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "      - {id: c%zu, where: here, says: So., measure: \"%s\", "
                                   "band: %s, each_run: yes, verdict: holds}\n",
                                   i, cases[i].measure, cases[i].band);
    write_claims(bench, 0, NULL, text);
    json_t *const json = on_file_json(REPRODUCE(bench, "px", "--json"));
    json_t const *const paper = json_array_get(json_object_get(json, "papers"), 0);
    json_t const *const claims =
        json_object_get(json_array_get(json_object_get(paper, "figures"), 0), "claims");
    double values[5];
    for (size_t i = 0; i < 5; i++)
        values[i] = json_number_value(json_object_get(json_array_get(claims, i), "value"));
    assert_true(fabs(values[3] * 20 - round(values[3] * 20)) < 1e-9); /* 20 runs */
    assert_true(values[4] > 1.01 * values[0] * values[0]);
    json_decref(json);
}

/* The band begins in the middle of the interval: the full version must say, the fast one need not.
 */
TEST_WITH(undecided_counts_in_full_only, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    char measure[128];
    double const value = claim_value(bench, "noisy.regret", 0);
    (void)snprintf(measure, sizeof measure, "        measure: noisy.regret / %.17g", value);
    write_claims(bench, MEASURE_LINE, measure, "");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "px"), 1, "  undecided      order: 1 +/- ",
                         "0 hold, 0 do not hold, 1 undecided; 1 NOT AS RECORDED\n");
    /* so wide an interval that three runs are undecided too: NaN is in no band */
    write_claims(bench, MEASURE_LINE, "        measure: 0 * noisy.regret / 0", "");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "px", "--fast"), 0, "  undecided      order: no value",
                         "0 hold, 0 do not hold, 1 undecided; all as recorded\n");
}

TEST_WITH(measures_are_arithmetic, open_bench, temp_bench_remove)
{
    static const struct {
        const char *measure;
        double value;
    } cases[] = {
        {"2 + 3 * 4 - 6 / 2", 11},
        {"(2 + 3) * -(4 - 6)", 10},
        {"--3 + 1.5e1", 18},
        {"1 - 2 - 3", -4},
        {"24 / 4 / 2", 3},
        {"min(3, 1 + 1, 7)", 2},
        {"max(3, 1 + 1, 7)", 7},
        {"falls(8, 4, 1)", 2},
        {"rises(2, 3, 9)", 1.5},
        {"falls(1, 2, 1)", 0.5},
        {"sqrt(81) + ln(1)", 9},
        {"100 * laplace_tail(1, ln(50))", 1},
        {"4 * laplace_tail(2, ln(4))", 0.8465735902799727}, /* (2 + ln 4)/4 */
        {"2 * laplace_tail(7, 0)", 1},
        {"within(2, 1, 2) + 2 * within(2, 2, 3) + 4 * within(2, 3, 4)", 3},
        {"noisy.agents + plain.agents", 6},
        {"noisy.epsilon_per_reward", 0.06},
        {"1 / plain.epsilon_per_reward", 0}, /* no noise: infinite */
        {"noisy.cost / noisy.rounds", 6},
        {"noisy.regret@20000 - noisy.regret", 0},
        {"noisy.regret@1000 / noisy.regret@1000", 1},
        {"noisy.regret - noisy.regret_per_agent * 3", 0},
        {"noisy.regret@550 * 2 - noisy.regret@100 - noisy.regret@1000", 0}, /* between two points */
    };
    struct bench const *const bench = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool const holds = cases[i].value >= 1;
        double const value = claim_value(bench, cases[i].measure, holds ? 0 : 1);
        if (!(fabs(value - cases[i].value) < 1e-9))
            fail_msg("%s = %.17g", cases[i].measure, value);
    }
}

/* ---- Wrong claims files ---- */

struct wrong {
    uint32_t line;
    const char *instead;
    const char *begins; /* behind "…/claims.yaml:" */
    const char *says;
};

static const struct wrong wrongs[] = {
    {1, "papr: px", "1: papr: ",
     "did you mean 'paper'? (allowed: paper, title, cite, fast_runs, fast_settings, fast_note, "
     "long, "
     "figures)"},
    {1, "paper: P x", "1: paper: 'P x'", "allowed: up to 60 small letters, digits and dashes"},
    {1, "paper: ../x", "1: paper: '../x'", "small letters"},
    {2, "title: []", "2: title: a list", "a text is expected"},
    {3, "fast_runs: 1", "3: fast_runs: '1'", "a whole number from 2 to 1000000"},
    {3, "fast_runs: 3\nfast_note: n\nfast_settings: [horizon]",
     "5: fast_settings: ", "a list of settings is expected"},
    {3, "fast_runs: 3\nfast_note: n\nfast_settings: {noisy: horizon=60}",
     "5: fast_settings: ", "a list of settings is expected"},
    {3, "fast_runs: 3\nfast_note: n\nfast_settings: {noisy: [{a: 1}]}",
     "5: fast_settings: ", "a list of settings is expected"},
    {3, "fast_runs: 3\nfast_note: n\nfast_settings: horizon=60",
     "5: fast_settings: ", "a list of settings is expected"},
    {3, "fast_runs: 3\nfast_note: n\nfast_settings: {nosy: [horizon=60]}",
     "5: fast_settings: no experiment's name begins with 'nosy'", "allowed: names of experiments"},
    {3, "fast_runs: 3\nfast_settings: [horizon=60]", "1: fast_note: missing", "it must be given"},
    {3, "fast_runs: 3\nfast_note: n", "4: fast_note: ", "belongs to fast_settings"},
    {3, "fast_runs: 3\nlong: maybe", "4: long: 'maybe'", "allowed: no, yes"},
    {8, "    plot: {x: cost, y: leakage_by_round}", "8: plot.x: ", "allowed: t, or a series"},
    {8, "    plot: {x: t, y: leakage_by_round, minus: noisy}",
     "8: plot.minus: ", "belongs to regret"},
    {5, "  - idd: fig1", "5: figures.idd: ", "did you mean 'id'?"},
    {5, "  - id: px", "5: figures.id: 'px' stands here twice", "allowed: once"},
    {6, "    titel: x", "6: figures.titel: ", "did you mean 'title'?"},
    {7, "    we_show: x", "5: figures.paper_shows: missing", "it must be given"},
    {8, "    plot: {x: t}", "8: figures.plot.y: missing", "it must be given"},
    {8, "    plot: {x: t, y: rounds}", "8: plot.y: ", "allowed: regret, regret_per_agent"},
    {8, "    plot: {x: costs, y: regret}", "8: plot.x: 'costs' is no metric",
     "did you mean 'cost'?"},
    {8, "    plot: {x: t, y: regret, minus: nosy}", "8: figures.plot.minus: 'nosy'",
     "there is no file nosy.yaml beside this one"},
    {8, "    plot: {x: cost, y: regret, minus: plain}",
     "8: figures.plot.minus: ", "belongs to figures whose x is t"},
    {8, "    plot: {x: t, y: regret, minus: once}", "8: plot.minus: the experiments",
     "allowed: the same in all"},
    {8, "    plot: {x: t, y: regret, x_scale: lin}", "8: figures.plot.x_scale: ", "linear, log"},
    {9, "    curves: []", "9: curves: a list of 1 to 1000 is expected", "{experiment: "},
    {9, "    curves: [noisy]", "9: curves: a map is expected", "{experiment: "},
    {9, "    curves: [{experiment: nosy, label: x}]", "9: curves.experiment: 'nosy'",
     "there is no file nosy.yaml beside this one"},
    {9, "    curves: [{experiment: noisy}]", "9: curves.label: missing", "it must be given"},
    {9, "    curves: [{experiment: noisy, label: x, series: y}]",
     "9: curves.series: ", "belongs to figures of points"},
    {9, "    curves: [{experiment: noisy, label: x, y: cost}]",
     "9: curves.y: ", "belongs to figures of points"},
    {11, "      - name: order", "11: claims.name: ", "unknown key"},
    {11, "      - id: fig1", "11: claims.id: 'fig1' stands here twice", "allowed: once"},
    {12, "        were: x", "12: claims.were: ", "did you mean 'where'?"},
    {13, "", "11: claims.says: missing", "it must be given"},
    {14, "", "11: claims.measure: missing", "it must be given"},
    {14, "        measure: ''", "14: measure: it ends where ", "is expected"},
    {14, "        measure: 1 +", "14: measure: it ends where ", "a number, a function"},
    {14, "        measure: 1 2", "14: measure: '2': ", "an operator or the end is expected"},
    {14, "        measure: (1", "14: measure: it ends where ')'", "is expected"},
    {14, "        measure: min(1)", "14: measure: a function of one value", "at least two"},
    {14, "        measure: min(1, 2", "14: measure: it ends where ',' or ')'", "is expected"},
    {14, "        measure: mean(1, 2)", "14: measure: 'mean' is no function",
     "allowed: min, max, falls, rises"},
    {14, "        measure: nosy.regret", "14: measure: 'nosy'", "no file nosy.yaml"},
    {14, "        measure: noisy", "14: measure: it ends where '.' and a metric", "is expected"},
    {14, "        measure: noisy.", "14: measure: it ends where a metric", "is expected"},
    {14, "        measure: noisy.regrets", "14: measure: 'regrets' is no metric",
     "did you mean 'regret'?"},
    {14, "        measure: noisy.regret@", "14: measure: it ends where a slot", "is expected"},
    {14, "        measure: noisy.regret@0", "14: measure: '0'", "a whole number above 0"},
    {14, "        measure: noisy.cost@5", "14: measure: '@' belongs to what is recorded over time",
     "regret, and of some protocols"},
    {14, "        measure: noisy.bytes@5", "14: measure: noisy runs protocol: elimination",
     "does not record 'bytes' over time"},
    {8, "    plot: {x: t, y: bytes}", "8: plot.y: noisy runs protocol: elimination",
     "does not record 'bytes' over time"},
    {14, "        measure: noisy.regret@20001", "14: measure: slot 20001 is beyond the last",
     "allowed: up to 20000"},
    {14, "        measure: short.regret@20000",
     "14: measure: slot 20000 is beyond the last checkpoint", "of short; allowed: up to 10000"},
    {14, "        measure: once.regret / noisy.regret", "14: measure: once has 1 runs",
     "at least 2 runs"},
    {14, "        measure: 1e999", "14: measure: ", "a smaller number is expected"},
    {14, "        measure: ((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))",
     "14: measure: nested too deeply", "32 are allowed"},
    {14, "        measure: ----------------------------------1", "14: measure: nested too deeply",
     "32 are allowed"},
    {15, "", "11: claims.band: missing", "two numbers are expected"},
    {8, "    plot: {x: t, y: estimates}", "8: plot.y: ", "has no band"},
    {8, "    plot: {x: t, y: regret, band: wide}", "8: figures.plot.band: 'wide'", "range"},
    {15, "        band: [1]", "15: claims.band: ", "two numbers are expected"},
    {15, "        band: [2, 1]", "15: claims.band: 2 is not below 1", "the smaller first"},
    {15, "        band: [x, 1]", "15: claims.band: 'x'", "a number from"},
    {16, "", "11: claims.verdict: missing", "it must be given"},
    {16, "        verdict: maybe", "16: claims.verdict: 'maybe'",
     "allowed: holds, does not hold, not reached, not run"},
    {16, "        verdict: not reached\n        why: x",
     "16: claims.verdict: only a limit is not reached", "limit: yes"},
    {16, "        limit: yes\n        verdict: does not hold\n        why: x",
     "17: claims.verdict: finite runs refute no limit", "allowed: holds, not reached"},
    {16, "        verdict: not run\n        why: x",
     "5: claims.verdict: 'not run' belongs to figures that take hours", "hours"},
    {6, "    title: Figure one\n    hours: 0", "7: figures.hours: ", "from 1"},
    {16, "        verdict: does not hold", "11: claims.why: missing", "it must be given"},
    {16, "        verdict: holds\n        fast: yes",
     "17: claims.fast: ", "a map of keys is expected"},
    {16, "        verdict: holds\n        fast: {sais: x, band: [0, 1]}",
     "17: claims.fast.sais: ", "did you mean 'says'?"},
    {16, "        verdict: holds\n        fast: {band: [0, 1]}", "17: claims.fast.says: missing",
     "it must be given"},
    {16, "        verdict: holds\n        fast: {says: x, band: [1]}",
     "17: claims.fast.band: ", "two numbers are expected"},
    {16, "        verdict: holds\n        fast: {says: x, measure: noisy.regrets}",
     "17: measure: 'regrets' is no metric", "did you mean 'regret'?"},
    {16, "        verdict: holds\n        fast: {says: x, verdict: maybe}",
     "17: claims.fast.verdict: 'maybe'", "allowed: holds, does not hold"},
    {16, "        verdict: holds\n        fast: {says: x, verdict: does not hold}",
     "17: claims.fast.why: missing", "it must be given"},
};

TEST_WITH(wrong_claims_say_what_is_allowed, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    write_experiment(bench, "once", "1", "1");
    temp_file_write(bench->paper, "short.yaml",
                    "name: short\nruns: 20\nhorizon: 20000\nagents: 3\n"
                    "checkpoints: [100, 10000]\nprotocol: {kind: elimination}\n"
                    "environment: {kind: bernoulli, generated: {arms: 4}}\n"
                    "privacy: {mode: paper, epsilon: 1}\n");
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct wrong const *const wrong = &wrongs[i];
        char begins[TEMP_PATH_BYTES + 200];
        write_claims(bench, wrong->line, wrong->instead, "");
        (void)snprintf(begins, sizeof begins, "%s/claims.yaml:%s", bench->paper, wrong->begins);
        struct process_result result = REPRODUCE(bench, "px", "--out", bench->out);
        on_file_expect_wrong(result, begins, wrong->says);
        if (strncmp(result.err, begins, strlen(begins)) != 0)
            fail_msg("'%s' does not begin with '%s'", result.err, begins);
        assert_int_equal(access(bench->out, F_OK), -1); /* nothing is written */
    }
}

/* ---- Over time, and without data ---- */

static const char learning_text[] =
    "name: learning\nseed: 3\nruns: 3\nhorizon: 40\nagents: 3\ncheckpoints: [10, 20, 40]\n"
    "environment: {kind: contextual, contextual: {dimension: 3, arms: 4%s}}\n"
    "protocol: {kind: glm-ucb, variant: v2, updates: 4}\n";

static const char learning_figure[] =
    "  - id: fig2\n    title: Figure two\n    paper_shows: It rises.\n"
    "    plot: {x: t, y: updates}\n"
    "    curves: [{experiment: learning, label: learning}]\n"
    "    claims:\n      - id: steps\n        where: Sec. 2\n"
    "        says: A quarter of the time, a quarter of the updates.\n"
    "        measure: learning.updates@10 * 10 + learning.updates@20\n"
    "        band: [12, 12]\n        verdict: holds\n";

static void write_learning(const struct bench *bench, const char *more)
{
    char text[TEXT_BYTES];
    (void)snprintf(text, sizeof text, learning_text, more);
    temp_file_write(bench->paper, "learning.yaml", text);
    write_claims(bench, 0, NULL, learning_figure);
}

TEST_WITH(what_is_known_over_time_is_drawn_and_measured, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    write_learning(bench, "");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "px-fig2", "--out", bench->out), 0, "steps");
}

/* The rest is done; where nothing is left, it fails. */
TEST_WITH(figures_without_their_data_are_left_out, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    write_learning(bench, ", source: offers, offers: {table: nowhere.csv, agent: a, decision: b, "
                          "reward: c, features: [x, y, z]}");
    struct process_result result = REPRODUCE(bench, "px");
    assert_null(strstr(PROCESS_EXPECT(result, 0, "order"), "steps"));
    expect_has(result.err, "'nowhere.csv' is neither beside");
    expect_has(result.err, "px-fig2 is left out: its data are not here");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "px-fig2"), 1, "px: nothing is left");
}

TEST_WITH(wrong_experiments_are_found_before_anything_runs, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    temp_file_write(bench->paper, "plain.yaml", "name: plain\nhorizn: 5\n");
    on_file_expect_wrong(REPRODUCE(bench, "px"), "horizn",
                         "plain.yaml:2: horizn: unknown key; did you mean 'horizon'?");
}

static void write_paper(const struct bench *bench, const char *folder, const char *first_line)
{
    struct bench copy = *bench;
    temp_path(copy.paper, bench->directory, folder);
    assert_int_equal(mkdir(copy.paper, 0777), 0);
    write_experiment(&copy, "noisy", "20", "0.02");
    write_experiment(&copy, "plain", "20", "inf");
    write_claims(&copy, 1, first_line, "");
}

TEST_WITH(a_paper_is_there_once, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    write_paper(bench, "second", "paper: px");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "px"), 2, "paper: 'px' is in another folder too");
}

TEST_WITH(more_papers_than_fit_are_refused, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    for (uint32_t i = 1; i <= 32; i++) {
        char name[32];
        char line[32];
        (void)snprintf(name, sizeof name, "p%u", i);
        (void)snprintf(line, sizeof line, "paper: p%u", i);
        write_paper(bench, name, line);
        if (i < 31)
            continue;
        struct process_result result = REPRODUCE(bench, "--list");
        (void)PROCESS_EXPECT(result, i == 31 ? 0 : 2, i == 31 ? "" : "too many papers in");
    }
}

/* ---- Outputs ---- */

TEST_WITH(figures_are_made_in_other_formats, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    static const struct {
        const char *format;
        const char *file;
        const char *begins;
    } cases[] = {{"png", "fig1.png", "\x89PNG"}, {"pdf", "fig1.pdf", "%PDF-"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)PROCESS_EXPECT(
            REPRODUCE(bench, "--fast", "--out", bench->out, "--format", cases[i].format), 0, "");
        assert_memory_equal(made(bench, cases[i].file), cases[i].begins, strlen(cases[i].begins));
        (void)made(bench, "fig1.svg");
    }
}

/* Before anything runs, and with the name of what is missing. */
TEST_WITH(what_makes_other_formats_must_be_there, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    char out[TEMP_PATH_BYTES];
    struct process_plan const plan = {.environment = PROCESS_WORDS("PATH=/nowhere")};
    struct process_result result =
        REPRODUCE_AS(plan, bench, "--out", bench->out, "--format", "png");
    char *const said =
        PROCESS_EXPECT(result, 1, "rsvg-convert, which does not run here; install librsvg2-bin");
    assert_int_equal(process_line_count(result.err), 1);
    assert_string_equal(said, "");
    temp_path(out, bench->out, "px");
    assert_int_not_equal(access(out, F_OK), 0);
}

TEST_WITH(outputs_are_there_and_well_formed, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    write_claims(bench, 6, "    title: 'A <b>title</b> & \"more\" | x'",
                 "  - id: fig2\n    title: Points\n    paper_shows: Points.\n"
                 "    plot: {x: cost, y: regret, y_scale: log}\n"
                 "    curves: [{experiment: noisy, label: a, series: s},\n"
                 "      {experiment: plain, label: b, series: s},\n"
                 "      {experiment: noisy, label: c, series: its rewards, y: samples}]\n"
                 "    claims: [{id: c2, where: w, says: s, measure: 1 + 1, band: [2, 2],\n"
                 "      verdict: holds}]\n");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "--out", bench->out), 0, "Report: ", "/px/report.html\n");
    char *const page = made(bench, "report.html");
    char *const table = made(bench, "claims.md");
    char *const json = made(bench, "results.json");
    (void)made(bench, "fig1.svg");
    expect_has(made(bench, "fig2.svg"), "its rewards");
    expect_has(page, "A &lt;b&gt;title&lt;/b&gt; &amp; &quot;more&quot;");
    expect_has(page, "The curve falls.");
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "http:"));
    expect_has(table, "\\<b\\>title\\</b\\> \\& \"more\" \\| x");
    expect_has(table,
               "| Less noise, less regret. (Sec. 1) | `falls(noisy.regret, plain.regret)` |");
    json_t *const parsed = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(parsed);
    assert_true(json_is_true(json_object_get(parsed, "as_recorded")));
    assert_int_equal(json_array_size(json_object_get(parsed, "figures")), 2);
    assert_int_equal(json_array_size(json_object_get(parsed, "experiments")), 2);
    json_decref(parsed);
}

/* What the agents think over time, and a band from the least run to the greatest. */
TEST_WITH(bands_are_of_agents_or_from_the_least_run_to_the_greatest, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    temp_file_write(bench->paper, "gossip.yaml",
                    "name: gossip\nseed: 3\nruns: 4\nhorizon: 20000\nagents: 3\n"
                    "checkpoints: [100, 1000, 10000, 20000]\nnetwork: {kind: ring}\n"
                    "protocol: {kind: gossip-ucb}\nprivacy: {mode: none}\n"
                    "environment: {kind: bernoulli, generated: {arms: 4, instance_seed: 1}}\n");
    write_claims(bench, 8, "    plot: {x: t, y: regret, band: range}",
                 "  - id: fig2\n    title: Estimates\n    paper_shows: They meet.\n"
                 "    plot: {x: t, y: estimates}\n"
                 "    curves: [{experiment: gossip, label: gossip}]\n"
                 "    claims: [{id: c2, where: w, says: s, measure: gossip.disagreement,\n"
                 "      band: [-1, 1], verdict: holds}]\n");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "--out", bench->out), 0, "");
    char *const range = made(bench, "fig1.svg");
    char *const estimates = made(bench, "fig2.svg");
    expect_has(range, " to ");
    assert_null(strstr(range, "\xc2\xb1"));
    expect_has(estimates, "<title>gossip: 0.");
    expect_has(estimates, " to 0.");
}

/* A paper that takes long waits until it is asked for; the fast version has settings of its own;
 * what a family records over the rounds is drawn over slots or over another series. */
TEST_WITH(series_are_drawn_and_long_papers_wait, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    write_claims(bench, 3,
                 "fast_runs: 3\nfast_settings: [horizon=60]\nfast_note: short runs\nlong: yes",
                 "  - id: fig2\n    title: Leakage\n    paper_shows: It rises.\n"
                 "    plot: {x: time_by_round, y: leakage_by_round}\n"
                 "    curves: [{experiment: users, label: users}]\n"
                 "    claims:\n"
                 "      - {id: c2, where: w, says: s, measure: users.rounds, band: [60, 60],\n"
                 "         verdict: holds}\n"
                 "      - {id: c3, where: w, says: s, band: [1, 1], verdict: holds,\n"
                 "         measure: users.leakage_by_round@60 / users.leakage_max}\n"
                 "      - {id: c4, where: w, says: s, band: [0, 1], verdict: holds,\n"
                 "         measure: users.leakage_by_round@20 / users.leakage_max}\n");
    temp_file_write(bench->paper, "users.yaml",
                    "name: users\nseed: 1\nruns: 20\nhorizon: 300\nagents: 10\n"
                    "environment: {kind: latency}\nnetwork: {kind: star}\n"
                    "protocol: {kind: select, users_per_round: 2}\n"
                    "privacy: {mode: paper, epsilon: 40}\n");
    assert_null(strstr(REPRODUCE(bench, "--fast").out, "fig1")); /* nobody asked */
    (void)PROCESS_EXPECT(REPRODUCE(bench, "px-fig2", "--fast", "--out", bench->out), 0,
                         "holds          c2: ", "holds          c3: ", "holds          c4: ");
    expect_has(made(bench, "fig2.svg"), "<title>users: ");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "px-fig2"), 1,
                         ""); /* 300 rounds in full, so the record is wrong */
}

/* A curve minus itself is nothing, whatever the runs. */
TEST_WITH(curves_are_taken_off_run_by_run, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    write_claims(bench, 8, "    plot: {x: t, y: regret, minus: noisy, y_label: above the noisy}",
                 "");
    (void)PROCESS_EXPECT(REPRODUCE(bench, "--out", bench->out), 0, "");
    char *const figure = made(bench, "fig1.svg");
    expect_has(figure, "above the noisy</text>");
    expect_has(figure, "<title>noisy: 0 \xc2\xb1 0 at the end</title>");
}

TEST_WITH(threads_do_not_matter, open_bench, temp_bench_remove)
{
    static const char *const files[] = {"report.html", "claims.md", "results.json", "fig1.svg"};
    struct bench const *const bench = *state;
    struct bench other = *bench;
    temp_path(other.out, bench->directory, "other");
    char *const one =
        PROCESS_EXPECT(REPRODUCE(bench, "--threads=1", "--json", "--out", bench->out), 0, "{");
    char *const two =
        PROCESS_EXPECT(REPRODUCE(bench, "--threads=2", "--json", "--out", other.out), 0, "{");
    assert_string_equal(one, two);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        assert_string_equal(made(bench, files[i]), made(&other, files[i]));
}

/* The fast version may be another experiment: settings by the beginnings of names, later ones
 * first; claims in words of their own. All of it is said wherever the numbers stand. */
TEST_WITH(fast_claims_speak_for_themselves, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    write_claims(bench, 3,
                 "fast_runs: 3\nfast_settings: {noi: [horizon=3500, seed=9], "
                 "noisy: [horizon=4000, 'checkpoints=[100, 4000]']}\n"
                 "fast_note: The noisy runs are short.",
                 "        fast:\n          says: Three runs of four thousand slots each.\n"
                 "          measure: noisy.regret@4000 * 0 + plain.regret@20000 * 0\n"
                 "          band: [1, 2]\n          verdict: does not hold\n"
                 "          why: Nothing is less than one.\n");
    assert_null(
        strstr(PROCESS_EXPECT(REPRODUCE(bench, "--out", bench->out), 0, "Less noise, less regret."),
               "short"));
    (void)PROCESS_EXPECT(REPRODUCE(bench, "--fast", "--out", bench->out, "--json"), 0,
                         "\"fast_note\": \"The noisy runs are short.\"");
    char *const told = PROCESS_EXPECT(REPRODUCE(bench, "--fast", "--out", bench->out), 0,
                                      "few runs each (--fast)\nThe noisy runs are short.\n",
                                      "  does not hold  order: 0, band [1, 2]",
                                      "Three runs of four thousand slots each.");
    assert_null(strstr(told, "Less noise"));
    expect_has(made(bench, "report.html"), "The noisy runs are short.");
    expect_has(made(bench, "claims.md"),
               "**The fast version is another experiment:** The noisy runs are short.");
}

TEST_WITH(fast_takes_few_runs, open_bench, temp_bench_remove)
{
    (void)PROCESS_EXPECT(REPRODUCE((struct bench const *)*state, "--fast", "--json"), 0,
                         "\"fast\": true", "\"name\": \"noisy\", \"runs\": 3,");
}

TEST_WITH(an_interrupt_writes_nothing, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    write_experiment(bench, "noisy", "900000", "1");
    write_experiment(bench, "plain", "900000", "1");
    struct process_plan const plan = {.interrupt_after_ms = 1};
    struct process_result result = REPRODUCE_AS(plan, bench, "--out", bench->out);
    assert_string_equal(PROCESS_EXPECT(result, 130, ""), "");
    assert_string_equal(result.err, "tacit reproduce: stopped; nothing was written\n");
    assert_int_equal(access(bench->out, F_OK), -1);
}

/* Stopped again and again, whenever runs were kept; what is printed in the end is what an
 * uninterrupted call prints. */
TEST_WITH(with_resume_it_goes_on_where_it_stopped, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    char folder[TEMP_PATH_BYTES];
    char runs[TEMP_PATH_BYTES];
    write_experiment(bench, "noisy", "10000", "1");
    write_experiment(bench, "plain", "10000", "1");
    temp_path(folder, bench->directory, "resume");
    temp_path(runs, folder, "*.runs");
    struct process_plan const to_be_stopped = {.interrupt_when = runs};
    struct process_result whole = REPRODUCE(bench, "--json");
    uint32_t stops = 0;
    /* A sanitizer of threads loses a signal that comes to a thread which ends, once in fifty. */
    for (uint32_t i = 0; i < 8 && stops < 3; i++) {
        struct process_result stopped =
            REPRODUCE_AS(to_be_stopped, bench, "--json", "--resume", folder);
        bool const is_stopped = stopped.code == 130;
        assert_true(is_stopped || stopped.code == whole.code);
        assert_string_equal(stopped.out, is_stopped ? "" : whole.out);
        assert_string_equal(
            stopped.err,
            is_stopped ? "tacit reproduce: stopped; the same call goes on from there\n" : "");
        assert_int_equal(access(folder, F_OK), is_stopped ? 0 : -1);
        stops += is_stopped ? 1 : 0;
    }
    assert_true(stops > 0);
    struct process_result end = REPRODUCE(bench, "--json", "--resume", folder);
    assert_string_equal(PROCESS_EXPECT(end, whole.code, ""), whole.out);
    assert_int_equal(access(folder, F_OK), -1);
}

/* Hours of runs are not lost where a disk is full. */
TEST_WITH(what_could_not_be_printed_is_kept, open_bench, temp_bench_remove)
{
    struct bench const *const bench = *state;
    char folder[TEMP_PATH_BYTES];
    write_experiment(bench, "noisy", "100", "1");
    write_experiment(bench, "plain", "100", "1");
    temp_path(folder, bench->directory, "resume");
    struct process_plan const full = {.output = "/dev/full"};
    assert_int_equal(REPRODUCE_AS(full, bench, "--resume", folder).code, 1);
    assert_int_equal(access(folder, F_OK), 0);
    struct process_result printed = REPRODUCE(bench, "--resume", folder);
    assert_string_equal(printed.out, REPRODUCE(bench, "--quiet").out);
    assert_int_equal(access(folder, F_OK), -1);
}

/* ---- The papers of this project ---- */

TEST(this_projects_papers_are_whole)
{
    char const *const source = getenv("TACIT_SOURCE");
    char folder[TEMP_PATH_BYTES];
    assert_non_null(source);
    temp_path(folder, source, "experiments");
    struct process_result listed =
        reproduce((struct process_plan){0}, folder, PROCESS_WORDS("--list"));
    temp_path(folder, source, "experiments/p1-elimination/figures");
    uint32_t figures = 0;
    for (const char *line = strstr(listed.out, "p1-"); line != NULL; line = strstr(line, "p1-")) {
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s.svg", (int)strcspn(line + 3, " "), line + 3);
        char *const figure = on_file_text(folder, name); /* the README shows it */
        expect_well_formed(figure);
        testing_free(figure);
        line++;
        figures++;
    }
    assert_int_equal(figures, 10);
}

TEST(a_figure_is_reproduced_as_recorded)
{
    char const *const source = getenv("TACIT_SOURCE");
    char folder[TEMP_PATH_BYTES];
    assert_non_null(source);
    temp_path(folder, source, "experiments");
    (void)PROCESS_EXPECT(
        reproduce((struct process_plan){0}, folder, PROCESS_WORDS("p1-fig5", "--fast")), 0,
        "holds          fig5-order: ");
}
