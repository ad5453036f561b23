/* The report room: summaries, JSON, CSV, SVG, the page, and files that appear whole or not at all.
 */
#include <inttypes.h>
#include <math.h>
#include <jansson.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../support/testing.h"
#include "../support/on_file.h"
#include "tacit/family.h"
#include "tacit/random.h"
#include "../../src/report/internal.h"
#include "tacit/report.h"

#define LINE_BYTES 512
#define ARMS_MANY 2000u

/* ---- A small report, and what is needed to read it back. ------------------------------------- */

static const double regret[] = {10.0, 12.0, 14.0};
static const double fraction[] = {0.1, 0.1, 0.1};
static const double curve_regret[] = {1.0, 10.0, 2.0, 12.0, 3.0, 14.0};
static const uint64_t points[] = {10, 1000};
static const uint32_t epochs_never[] = {0, 0, 0};
static const uint32_t epochs_mixed[] = {2, 0, 3};
static const struct tacit_metric words[] = {
    {"regret", "Regret", "reward", "summed over all agents", TACIT_METRIC_MAIN | TACIT_METRIC_CARD},
    {"fraction", "Fraction", "", NULL, 0},
    {"regret_exploit", "Regret while waiting", "reward", "part of it", 0},
    {"cost", "Communication cost", "cost", "links", TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC},
    {"cost_all_edges", "Cost of all edges", "cost", NULL,
     TACIT_METRIC_TRAFFIC | TACIT_METRIC_SINKS},
};
static const struct tacit_report_metric metrics[] = {{&words[0], regret}, {&words[1], fraction}};
static const struct tacit_report_curve curves[] = {{"regret", curve_regret}};
static const struct tacit_report_arm arms[] = {{"good", 0.9, epochs_never},
                                               {NULL, NAN, epochs_mixed}};

static struct tacit_report small_report(void)
{
    return (struct tacit_report){
        .name = "small",
        .version = "1.2.3",
        .seed = UINT64_MAX,
        .run_count = 3,
        .runs_asked = 3,
        .agent_count = 4,
        .horizon = 1000,
        .privacy_mode = "sound",
        .epsilon_per_reward = 0.1,
        .statement = "One sentence.",
        .metrics = metrics,
        .metric_count = 2,
        .points = points,
        .point_count = 2,
        .curves = curves,
        .curve_count = 1,
        .arms = arms,
        .arm_count = 2,
    };
}

/* Two components around a server; one graph; and agents that are alone. */
static const struct tacit_component components[] = {{3, 2, 1, 1, 2}, {1, 0, 3, 0, 0}};
static const struct tacit_report_network hybrid = {"hybrid", 2, 1, 2, 2, 2, components, NULL};
static const struct tacit_report_network ring = {"ring", 0, 1, 1, 4, 2, NULL, NULL};
static const struct tacit_report_network alone = {"alone", 0, 0, 4, 0, 0, NULL, NULL};
static const struct tacit_report_network star = {"star", 4, 0, 0, 0, 0, NULL, NULL};

/* A name that tries to get out of every syntax it is put into, and one byte that is not UTF-8. */
#define HOSTILE                                                                                    \
    "q\"'<script>alert(1)</script>\n\\`touch pwned`@m $(x),%s "                                    \
    "\xc3\xa9\xe2\x82\xac\x1b[2J\xff|&]]>"

static const struct tacit_metric hostile_word = {HOSTILE, HOSTILE, HOSTILE, HOSTILE,
                                                 TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC};
static const struct tacit_report_network hostile_network = {HOSTILE, 0, 0, 1, 3, 2, NULL, HOSTILE};

static struct tacit_report hostile_report(void)
{
    static const struct tacit_report_metric metric[] = {{&hostile_word, regret}};
    static const struct tacit_report_curve curve[] = {{HOSTILE, curve_regret}};
    static const struct tacit_report_arm arm[] = {{HOSTILE, 0.5, epochs_mixed}};
    struct tacit_report report = small_report();
    report.name = report.title_note = report.version = report.statement = HOSTILE;
    report.privacy_mode = HOSTILE;
    report.network = &hostile_network;
    report.metrics = metric;
    report.metric_count = 1;
    report.curves = curve;
    report.arms = arm;
    report.arm_count = 1;
    return report;
}

typedef enum tacit_status (*printer)(const struct tacit_report *report, FILE *out);

static enum tacit_status put_page(const struct tacit_report *report, FILE *out)
{
    return report_html(report, out);
}

/* What the stream of open_memstream was given, as the test's; closes it. */
static char *closed(FILE *out, char *const *bytes, const size_t *size)
{
    assert_int_equal(fclose(out), 0);
    assert_int_equal(strlen(*bytes), *size);
    char *const text = testing_malloc(*size + 1);
    memcpy(text, *bytes, *size + 1);
    free(*bytes);
    return text;
}

static char *printed(printer print, const struct tacit_report *report)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&bytes, &size);
    assert_int_equal(print(report, out), TACIT_OK);
    return closed(out, &bytes, &size);
}

#define FIGURE(...)                                                                                \
    {                                                                                              \
        .id = "f", .title = "t", .x_label = "x", .y_label = "y", __VA_ARGS__                       \
    }

static char *drawn(const struct tacit_report_figure *figure)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&bytes, &size);
    assert_int_equal(tacit_report_figure_svg(figure, out), TACIT_OK);
    return closed(out, &bytes, &size);
}

static json_t *parsed(const struct tacit_report *report)
{
    char *const text = printed(tacit_report_json, report);
    json_error_t error;
    json_t *const root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        fail_msg("line %d: %s in %s", error.line, error.text, text);
    return root;
}

/* ---- Files that are written, and what stands in texts -----------------------------------------
 */

static const char *const file_names[] = {"summary.json", "curve.csv", "runs.csv", "figure.svg",
                                         "report.html"};

/* Writes all files to a folder that is not there at first. */
static void expect_written(const struct tacit_report *report)
{
    struct tacit_error error = {""};
    if (tacit_report_write(report, temp_name("a/b"), &error) != TACIT_OK)
        fail_msg("%s", error.text);
    assert_int_equal(on_file_count(temp_name("a/b")), 5);
}

static char *written(const char *name)
{
    return on_file_text(temp_name("a/b"), name);
}

static void expect_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no \"%s\" in:\n%s", part, text);
}

static void expect_lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("\"%s\" in:\n%s", part, text);
}

/* ---- Summaries ------------------------------------------------------------------------------- */

/* t: Student's quantile. The third row: 0.1 + 0.1 + 0.1 is not 0.3 in doubles, and equal values
 * have no spread all the same. The last: a large offset does not eat a small spread. */
TEST(summaries_known)
{
    static const struct {
        double values[8];
        uint32_t count;
        uint32_t stride;
        double mean;
        double variance;
        double t;
        double min;
        double max;
    } rows[] = {
        {{4, 2, 9, 4, 5, 4, 7, 5}, 8, 1, 5, 32.0 / 7.0, 2.364624252, 2, 9},
        {{1, 100, 3, 100, 5}, 3, 2, 3, 4, 4.302652730, 1, 5},
        {{0.1, 0.1, 0.1}, 3, 1, 0.1, 0, 4.302652730, 0.1, 0.1},
        {{0.3}, 1, 1, 0.3, 0, 0, 0.3, 0.3},
        {{1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16},
         4,
         1,
         1e9 + 10,
         30,
         3.182446305,
         1e9 + 4,
         1e9 + 16},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tacit_report_summary const summary =
            tacit_report_summarise(rows[i].values, rows[i].count, rows[i].stride);
        double const error = sqrt(rows[i].variance / rows[i].count);
        assert_true(summary.mean == rows[i].mean);
        assert_true(fabs(summary.sd - sqrt(rows[i].variance)) <= 1e-15 * summary.sd);
        assert_true(fabs(summary.ci95 - rows[i].t * error) <= 1e-9 * summary.ci95);
        assert_true(summary.min == rows[i].min);
        assert_true(summary.max == rows[i].max);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

TEST(json_golden)
{
    struct tacit_report const report = small_report();
    char *const text = printed(tacit_report_json, &report);
    assert_string_equal(
        text,
        "{\"answer\": null,\n \"note\": null,\n"
        " \"name\": \"small\", \"seed\": 18446744073709551615, \"runs\": 3, \"horizon\": 1000, "
        "\"version\": \"1.2.3\",\n"
        " \"privacy\": {\"mode\": \"sound\", \"epsilon_per_reward\": 0.1, "
        "\"statement\": \"One sentence.\"},\n"
        " \"metrics\": {\n"
        "  \"regret\": {\"mean\": 12, \"sd\": 2, \"ci95\": 4.968275423789957, \"min\": 10, "
        "\"max\": 14},\n"
        "  \"fraction\": {\"mean\": 0.1, \"sd\": 0, \"ci95\": 0, \"min\": 0.1, \"max\": 0.1}},\n"
        " \"baselines\": {},\n"
        " \"curve\": {\"t\": [10, 1000],\n"
        "  \"regret\": {\"mean\": [2, 12], \"ci95\": [2.4841377118949786, 4.968275423789957]}},\n"
        " \"agents\": 4,\n"
        " \"arms\": [\n"
        "  {\"index\": 0, \"name\": \"good\", \"mean\": 0.9, \"survived_fraction\": 1, "
        "\"eliminated_epoch_mean\": null},\n"
        "  {\"index\": 1, \"name\": \"arm 1\", \"mean\": null, "
        "\"survived_fraction\": 0.3333333333333333, \"eliminated_epoch_mean\": 2.5}]}\n");
}

static void expect_page(const struct tacit_report_network *network, const char *has,
                        const char *lacks);

/* In JSON, in the table, on the page: what it has and what it lacks. */
TEST(networks_are_told)
{
    static const struct {
        const struct tacit_report_network *network;
        const char *json;
        const char *table;
        const char *page;
        const char *lacks;
    } cases[] = {
        {&star, "{\"kind\": \"star\", \"server_links\": 4, \"t_delay\": 0},", "", "What was said",
         "<h2>Network"},
        {&ring,
         "{\"kind\": \"ring\", \"server_links\": 0, \"t_delay\": 1, \"edges\": 4, "
         "\"diameter\": 2, \"component_count\": 1},",
         "network: ring, 4 edges, diameter 2, delay 1 slot\n",
         "4 edges, diameter 2. Agents talk to their neighbours; there is no server. In each "
         "round agents wait 1 slot until every report has reached everybody, and play the "
         "arm that seems best to each meanwhile: 12 of the regret of a run.",
         "Cost of all edges"},
        {&alone,
         "{\"kind\": \"alone\", \"server_links\": 0, \"t_delay\": 0, \"edges\": 0, "
         "\"diameter\": 0, \"component_count\": 4},",
         "network: alone, 4 components, 0 edges, diameter 0, delay 0 slots\n",
         "Each agent learns by itself. Nothing is sent.", "agents wait"},
        {&hybrid,
         "{\"kind\": \"hybrid\", \"server_links\": 2, \"t_delay\": 1, \"edges\": 2, "
         "\"diameter\": 2, \"component_count\": 2, \"components\": [\n"
         "  {\"agents\": 3, \"edges\": 2, \"sink\": 1, \"delay\": 1, \"distance_sum\": 2},\n"
         "  {\"agents\": 1, \"edges\": 0, \"sink\": 3, \"delay\": 0, \"distance_sum\": 0}]},",
         "network: hybrid, 2 components, 2 edges, diameter 2, delay 1 slot\n",
         "2 components with 2 edges. Each collects at its sink", "more</td>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tacit_report report = small_report();
        char expected[LINE_BYTES];
        report.network = cases[i].network;
        (void)snprintf(expected, sizeof expected, "\n \"network\": %s", cases[i].json);
        expect_has(printed(tacit_report_json, &report), expected);
        (void)snprintf(expected, sizeof expected, "\n%sprivacy: ", cases[i].table);
        expect_has(printed(tacit_report_table, &report), expected);
        expect_page(cases[i].network, cases[i].page, cases[i].lacks);
    }
    expect_page(NULL, "What was said", "<h2>Network");
    expect_page(&hybrid,
                "<tr><th scope=\"row\">0\xe2\x80\x93"
                "2</th><td class=\"n\">3</td>",
                "more</td>");
    expect_page(&hybrid, "<tr><th scope=\"row\">3</th><td class=\"n\">1</td>", "more</td>");
    expect_page(&hybrid, ">Cost of all edges <code>", "more</td>");
}

/* Of very many components the first thousand are listed. */
TEST(network_of_many)
{
    static struct tacit_component many[1013];
    struct tacit_report_network const network = {"hybrid", 1013, 0, 1013, 0, 0, many, NULL};
    struct tacit_report report = small_report();
    report.seed = 7;
    report.network = &network;
    json_t *const root = parsed(&report);
    json_t const *const facts = json_object_get(root, "network");
    assert_int_equal(json_integer_value(json_object_get(facts, "component_count")), 1013);
    assert_int_equal(json_array_size(json_object_get(facts, "components")), 1000);
    json_decref(root);
    expect_page(&network, "and 1,001 more</td>", "agents wait");
}

TEST(json_numbersRoundTrip)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {1.0 / 3.0, "0.3333333333333333"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {9007199254740991.0, "9007199254740991"},
                 {1e20, "1e+20"},
                 {-0.0, "0"},
                 {-2.5, "-2.5"},
                 {1e15, "1000000000000000"},
                 {5e-324, "4.94065645841247e-324"},
                 {INFINITY, "null"},
                 {NAN, "null"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tacit_report report = small_report();
        char expected[LINE_BYTES];
        report.epsilon_per_reward = cases[i].value;
        (void)snprintf(expected, sizeof expected, "\"epsilon_per_reward\": %s, ", cases[i].text);
        char *const text = printed(tacit_report_json, &report);
        expect_has(text, expected);
    }
}

/* Overlong forms, surrogates, stray tails, a sequence cut by the end: each byte is replaced. */
TEST(json_brokenUtf8)
{
    static const struct {
        const char *bytes;
        size_t replaced;
    } cases[] = {{"\xc0\xaf", 2}, {"\xe0\x80\xaf", 3},     {"\xed\xa0\x80", 3},    {"\x80", 1},
                 {"\xe2\x82", 2}, {"\xf4\x90\x80\x80", 4}, {"\xf0\x9f\x98\x80", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tacit_report report = small_report();
        report.seed = 1;
        report.name = cases[i].bytes;
        json_t *const root = parsed(&report);
        const char *name = json_string_value(json_object_get(root, "name"));
        size_t replaced = 0;
        while ((name = strstr(name, "\xef\xbf\xbd")) != NULL) {
            name += 3;
            replaced++;
        }
        assert_int_equal(replaced, cases[i].replaced);
        json_decref(root);
    }
}

/* An arm without epochs belongs to a protocol that eliminates nothing. */
TEST(json_withoutElimination)
{
    static const struct tacit_report_arm plain[] = {{"a", 0.5, NULL}};
    struct tacit_report report = small_report();
    report.arms = plain;
    report.arm_count = 1;
    char *const text = printed(tacit_report_json, &report);
    expect_has(text, "\"survived_fraction\": null, \"eliminated_epoch_mean\": null}");
}

TEST(json_fullDisk)
{
    struct tacit_report const report = small_report();
    FILE *const out = fopen("/dev/full", "w");
    assert_non_null(out);
    assert_int_equal(tacit_report_json(&report, out), TACIT_IO);
    assert_int_equal(tacit_report_table(&report, out), TACIT_IO);
    (void)fclose(out);
}

/* A host may have chosen a locale with a decimal comma; machines read points. */
TEST(json_decimalComma)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    bool chosen = false;
    for (size_t i = 0; !chosen && i < sizeof names / sizeof names[0]; i++)
        chosen = setlocale(LC_NUMERIC, names[i]) != NULL;
    assert_true(chosen); /* tests/meson.build makes one */
    struct tacit_report const report = small_report();
    char *const text = printed(tacit_report_json, &report);
    expect_has(text, "\"epsilon_per_reward\": 0.1,");
    assert_non_null(setlocale(LC_NUMERIC, "C"));
}

/* ---- The table ------------------------------------------------------------------------------- */

TEST(table_golden)
{
    struct tacit_report report = small_report();
    report.runs_asked = 5;
    char *const text = printed(tacit_report_table, &report);
    assert_string_equal(
        text, "small: 3 runs, 4 agents, horizon 1,000, seed 18446744073709551615\n"
              "STOPPED: 3 of 5 runs finished\n"
              "privacy: sound, epsilon 0.1 per reward\n"
              "  One sentence.\n"
              "\n"
              "  metric                         mean     +/- 95 %          min          max\n"
              "  regret                           12         4.97           10           14\n"
              "  fraction                        0.1            0          0.1          0.1\n"
              "\n"
              "  1 of 2 arms were eliminated in some run\n");
}

/* What is printed must not command the terminal, what is written no reader; in JSON everything
 * survives but the byte that is not UTF-8. */
TEST(hostile_names)
{
    struct tacit_report report = hostile_report();
    char *const table = printed(tacit_report_table, &report);
    expect_lacks(table, "\x1b");
    expect_lacks(table, "</script>\n");
    expect_has(table, "</script> \\`touch pwned`@m $(x),%s \xc3\xa9\xe2\x82\xac\xef\xbf\xbd[2J");
    expect_written(&report);
    char *const page = written("report.html");
    char *const figure = written("figure.svg");
    expect_lacks(page, "<script");
    expect_lacks(page, "\x1b");
    expect_lacks(page, "\xff");
    expect_has(page, "q&quot;&#39;&lt;script&gt;alert(1)&lt;/script&gt; \\`touch pwned`@m $(x),%s "
                     "\xc3\xa9\xe2\x82\xac\xef\xbf\xbd[2J\xef\xbf\xbd|&amp;]]&gt;");
    expect_lacks(figure, "<script");
    expect_lacks(figure, "\x1b");
    expect_lacks(figure, "]]>"); /* not allowed in XML */
    expect_has(figure, "q&quot;&#39;&lt;script&gt;alert(1)&lt;/script&gt; \\`touch pwned`@m");
    assert_int_equal(access("pwned", F_OK), -1);
    expect_has(written("runs.csv"), "run,\"q\"\"'<script>alert(1)</script>\n\\`touch");
    report.seed = 1;
    json_t *const root = parsed(&report);
    assert_string_equal(json_string_value(json_object_get(root, "name")),
                        "q\"'<script>alert(1)</script>\n\\`touch pwned`@m $(x),%s "
                        "\xc3\xa9\xe2\x82\xac\x1b[2J\xef\xbf\xbd|&]]>");
    json_decref(root);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Over old files, too. */
TEST(files_hold_the_same_bytes_again)
{
    struct tacit_report const report = small_report();
    char *before[5];
    expect_written(&report);
    assert_string_equal(written("curve.csv"), "t,regret_mean,regret_ci95\n10,2,2.4841377118949786\n"
                                              "1000,12,4.968275423789957\n");
    assert_string_equal(written("runs.csv"), "run,regret,fraction\n0,10,0.1\n1,12,0.1\n2,14,0.1\n");
    for (size_t i = 0; i < 5; i++)
        before[i] = written(file_names[i]);
    expect_written(&report);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(before[i], written(file_names[i]));
}

/* The page up to the section of this id: behind "data" stand copies of files, in which anything may
 * stand. */
static char *page_until(const char *id)
{
    char head[LINE_BYTES];
    char *const page = written("report.html");
    (void)snprintf(head, sizeof head, "<section id=\"%s\">", id);
    char *const end = strstr(page, head);
    if (end != NULL)
        *end = '\0';
    return page;
}

static void expect_page(const struct tacit_report_network *network, const char *has,
                        const char *lacks)
{
    static const struct tacit_report_metric said[] = {
        {&words[2], regret}, {&words[3], regret}, {&words[4], regret}};
    struct tacit_report report = small_report();
    report.network = network;
    report.metrics = said;
    report.metric_count = 3;
    expect_written(&report);
    char *const page = page_until("metrics");
    expect_has(page, has);
    expect_lacks(page, lacks);
}

TEST(epsilon_infinite)
{
    struct tacit_report report = small_report();
    report.epsilon_per_reward = INFINITY;
    expect_has(printed(tacit_report_json, &report), "\"epsilon_per_reward\": null");
    expect_has(printed(put_page, &report), "class=\"box warn\"><h2>What leaves a site");
}

TEST(interrupted)
{
    struct tacit_report report = small_report();
    char *page = printed(put_page, &report);
    expect_lacks(page, "Stopped before the end");
    expect_lacks(page, "<div class=\"box warn\">");
    report.runs_asked = 1000;
    page = printed(put_page, &report);
    expect_has(page, "Stopped before the end");
    expect_has(page, "3 of 1,000 runs finished");
    report.seed = 0;
    json_t *const root = parsed(&report);
    assert_int_equal(json_integer_value(json_object_get(root, "runs_asked")), 1000);
    assert_int_equal(json_integer_value(json_object_get(root, "runs")), 3);
    json_decref(root);
}

/* The page asks nobody for anything. */
TEST(page_is_self_contained)
{
    static const char *const asking[] = {"http:", "https:", "src=\"", "url(", "@import", "<script"};
    struct tacit_report const report = small_report();
    char *const page = printed(put_page, &report);
    for (size_t i = 0; i < sizeof asking / sizeof asking[0]; i++)
        expect_lacks(page, asking[i]);
}

static void expect_drawn(const struct tacit_report *report)
{
    expect_written(report);
    char *const page = page_until("data");
    expect_lacks(page, "nan");
    expect_lacks(page, "inf");
    expect_has(written("figure.svg"), "</svg>");
}

/* 100 * x / x is a little above 100 for this x; the best arm's bar is full all the same. */
#define BEST_MEAN 0.007
TEST(write_fullBar)
{
    static const struct tacit_report_arm arm[] = {{"best", BEST_MEAN, epochs_never}};
    struct tacit_report report = small_report();
    report.arms = arm;
    report.arm_count = 1;
    assert_true(100.0 * BEST_MEAN / BEST_MEAN > 100.0);
    expect_written(&report);
    char *const page = written("report.html");
    expect_has(page, "left:0.0%;width:100.0%");
}

/* One run, one arm, one checkpoint, no regret: nothing to spread an axis over. */
TEST(write_leastReport)
{
    static const double zero[] = {0.0};
    static const uint64_t start[] = {0};
    static const struct tacit_report_metric metric[] = {{&words[0], zero}};
    static const struct tacit_report_curve curve[] = {{"regret", zero}};
    static const struct tacit_report_arm arm[] = {{"only", 0.0, epochs_never}};
    struct tacit_report report = small_report();
    report.run_count = report.runs_asked = report.agent_count = 1;
    report.metrics = metric;
    report.metric_count = report.point_count = report.arm_count = 1;
    report.points = start;
    report.curves = curve;
    report.arms = arm;
    expect_drawn(&report);
    char *const summary = written("summary.json");
    expect_has(summary,
               "\"regret\": {\"mean\": 0, \"sd\": 0, \"ci95\": 0, \"min\": 0, \"max\": 0}");
}

TEST(write_nothingAtAll)
{
    struct tacit_report report = small_report();
    report.metric_count = report.point_count = report.curve_count = report.arm_count = 0;
    expect_drawn(&report);
    char *const curve = written("curve.csv");
    assert_string_equal(curve, "t\n");
}

TEST(write_regretAllZero)
{
    static const double zeros[6];
    static const struct tacit_report_curve curve[] = {{"regret", zeros}};
    struct tacit_report report = small_report();
    report.curves = curve;
    expect_drawn(&report);
}

/* Values that have no place on an axis are left out, and so are infinite ones. */
TEST(write_curveNotFinite)
{
    static const double values[] = {1.0, NAN, 2.0, 12.0, INFINITY, 14.0};
    static const struct tacit_report_curve curve[] = {{"regret", values}};
    struct tacit_report report = small_report();
    report.curves = curve;
    expect_written(&report);
    char *const csv = written("curve.csv");
    assert_string_equal(csv, "t,regret_mean,regret_ci95\n10,,\n1000,,\n");
}

/* The page stays readable, the JSON complete. */
TEST(write_manyArms)
{
    static struct tacit_report_arm many[ARMS_MANY];
    for (uint32_t i = 0; i < ARMS_MANY; i++)
        many[i] = (struct tacit_report_arm){NULL, i / (double)ARMS_MANY,
                                            i == 1234 ? epochs_never : epochs_mixed};
    struct tacit_report report = small_report();
    report.arms = many;
    report.arm_count = ARMS_MANY;
    report.seed = 1;
    static uint32_t ranking[3 * ARMS_MANY];
    static const uint32_t alone_left[] = {1, 1, 1};
    for (uint32_t run = 0; run < 3; run++)
        ranking[run * ARMS_MANY] = 1234;
    report.ranking = ranking;
    report.ranked_count = alone_left;
    expect_drawn(&report);
    char *const page = written("report.html");
    expect_has(page, "<tr class=\"win\"><th scope=\"row\"><div class=\"name\" title=\"arm 1234\">");
    expect_has(page, "<summary>985 more arms</summary>");
    expect_has(page, "And 1,000 more, in summary.json.");
    json_t *const root = parsed(&report);
    assert_int_equal(json_array_size(json_object_get(root, "arms")), ARMS_MANY);
    json_decref(root);
}

/* ---- When files cannot be written ------------------------------------------------------------ */

/* Names what could not be written, and leaves nothing half. left: in the folder. */
static void expect_not_written(const char *folder, const char *named, const char *kept_in,
                               size_t left)
{
    struct tacit_report const report = small_report();
    struct tacit_error error = {""};
    assert_int_equal(tacit_report_write(&report, folder, &error), TACIT_IO);
    expect_has(error.text, named);
    assert_int_equal(on_file_count(kept_in), left);
}

TEST(what_cannot_be_written_is_named)
{
    char folder[TEMP_PATH_BYTES];
    char path[TEMP_PATH_BYTES];
    bool const is_root = geteuid() == 0; /* for whom nothing is read-only */
    temp_path(folder, temp_folder, "full");
    assert_int_equal(mkdir(folder, 0700), 0);
    temp_path(path, folder, "plain");
    temp_file_write(folder, "plain", "");
    expect_not_written(path, path, folder, 1);
    temp_path(path, folder, "plain/below");
    expect_not_written(path, path, folder, 1);
    assert_int_equal(unlink(temp_name("full/plain")), 0);
    assert_int_equal(chmod(folder, is_root ? 0555 : 0500), 0);
    assert_int_equal(chmod(temp_folder, 0755), 0);
    if (is_root)
        assert_int_equal(seteuid(65534), 0);
    expect_not_written(folder, "summary.json", folder, 0);
    if (is_root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(folder, 0700), 0);
    temp_path(path, folder, "curve.csv"); /* a name is taken: the file before it is whole */
    assert_int_equal(mkdir(path, 0700), 0);
    expect_not_written(folder, path, folder, 2);
    expect_not_written("", ": ", folder, 2);
}

/* ---- The answer, and baselines --------------------------------------------------------------- */

enum { ANSWER_RUNS = 40, ANSWER_ARMS = 9 };

/* Rankings of the runs: `odd` of them end with the arms of `unusual`, the others with arm 4 alone.
 */
static struct tacit_report ranked_report(uint32_t odd, const uint32_t *unusual, uint32_t count)
{
    static const struct tacit_report_arm many[ANSWER_ARMS] = {
        {"zero", 0.99, NULL}, {NULL, 0, NULL}, {NULL, 0, NULL}, {NULL, 0, NULL}, {"four", 0, NULL},
        {NULL, 0, NULL},      {NULL, 0, NULL}, {NULL, 0, NULL}, {NULL, 0, NULL}};
    static const double values[ANSWER_RUNS] = {0};
    static const struct tacit_report_metric metric[] = {{&words[0], values}};
    static uint32_t ranking[ANSWER_RUNS * ANSWER_ARMS];
    static uint32_t ranked_count[ANSWER_RUNS];
    struct tacit_report report = small_report();
    for (uint32_t run = 0; run < ANSWER_RUNS; run++) {
        ranked_count[run] = run < odd ? count : 1;
        ranking[run * ANSWER_ARMS] = 4;
        for (uint32_t i = 0; run < odd && i < count; i++)
            ranking[run * ANSWER_ARMS + i] = unusual[i];
    }
    report.run_count = report.runs_asked = ANSWER_RUNS;
    report.arms = many;
    report.arm_count = ANSWER_ARMS;
    report.metrics = metric;
    report.metric_count = 1;
    report.curve_count = report.point_count = 0;
    report.ranking = ranking;
    report.ranked_count = ranked_count;
    return report;
}

static void expect_answer(const struct tacit_report *report, bool is_decided, uint32_t arm_count,
                          const char *sentence)
{
    struct tacit_report_answer answer;
    assert_int_equal(tacit_report_answer_new(report, &answer), TACIT_OK);
    assert_string_equal(answer.sentence, sentence);
    assert_true(answer.is_decided == is_decided);
    assert_int_equal(answer.arm_count, arm_count);
    tacit_report_answer_free(&answer);
}

/* Both sides of 95 %: 38 of 40 runs are enough, 37 are not. The true means do not matter. */
TEST(answer_is_decided_by_nineteen_of_twenty_runs)
{
    static const uint32_t other[] = {0};
    struct tacit_report report = ranked_report(2, other, 1);
    expect_answer(&report, true, 1, "decided for four, in 38 of 40 runs");
    report = ranked_report(3, other, 1);
    expect_answer(&report, false, 2, "undecided between four and zero");
    report = ranked_report(0, other, 1);
    expect_answer(&report, true, 1, "decided for four, in 40 of 40 runs");
}

/* A run that ends with several arms has not decided, though the first one is the same. */
TEST(answer_names_what_could_not_be_told_apart_best_first)
{
    static const uint32_t both[] = {4, 7, 2};
    static const uint32_t all[] = {8, 7, 6, 5, 4, 3, 2, 1, 0};
    struct tacit_report report = ranked_report(ANSWER_RUNS, both, 3);
    expect_answer(&report, false, 3, "undecided between four, arm 7 and arm 2");
    report = ranked_report(3, both, 3);
    expect_answer(&report, false, 3, "undecided between four, arm 7 and arm 2");
    report = ranked_report(ANSWER_RUNS, all, ANSWER_ARMS);
    expect_answer(&report, false, 9,
                  "undecided between arm 8, arm 7, arm 6, arm 5, four and 4 more");
}

/* Three runs have arm 7 left, which is more than one of twenty; two arms are first in one run each,
 * and stand before it. */
TEST(answer_names_who_is_left_behind_who_is_seldom_first)
{
    static const uint32_t pair[] = {4, 7};
    uint32_t ranking[ANSWER_RUNS * ANSWER_ARMS];
    struct tacit_report report = ranked_report(3, pair, 2);
    memcpy(ranking, report.ranking, sizeof ranking);
    ranking[0] = 0;
    ranking[ANSWER_ARMS] = 1;
    report.ranking = ranking;
    expect_answer(&report, false, 3, "undecided between four, zero and arm 7");
}

TEST(answer_stands_first_everywhere)
{
    static const uint32_t both[] = {4, 7};
    struct tacit_report report = ranked_report(ANSWER_RUNS, both, 2);
    report.seed = 1;
    char *const table = printed(tacit_report_table, &report);
    assert_true(strncmp(table, "answer: undecided between four and arm 7\n", 41) == 0);
    json_t *const root = parsed(&report);
    json_t const *const answer = json_object_get(root, "answer");
    assert_true(json_is_false(json_object_get(answer, "decided")));
    assert_int_equal(json_array_size(json_object_get(answer, "arms")), 2);
    assert_string_equal(json_string_value(json_object_get(answer, "sentence")),
                        "undecided between four and arm 7");
    json_decref(root);
    expect_written(&report);
    char *const page = written("report.html");
    char const *const found = strstr(page, "undecided between four and arm 7");
    assert_true(found != NULL && found < strstr(page, "What leaves a site"));
    expect_lacks(page, "winner</i>");
}

/* Worse than uniform play, equal up to rounding, and better. */
TEST(note_says_that_nothing_was_gained)
{
    static const double worse[] = {11, 12, 13 - 1e-12};
    static const double better[] = {11, 12, 13.1};
    struct tacit_report_baseline baselines_of[] = {{.name = "uniform", .regret = worse},
                                                   {.name = "floor"}};
    struct tacit_report report = small_report();
    report.seed = 1;
    report.baselines = baselines_of;
    report.baseline_count = 2;
    char *table = printed(tacit_report_table, &report);
    assert_true(strncmp(table, "note: no better than uniform play", 33) == 0);
    json_t *root = parsed(&report);
    expect_has(json_string_value(json_object_get(root, "note")), "no better than uniform play");
    assert_true(json_is_null(json_object_get(json_object_get(root, "baselines"), "floor")));
    json_decref(root);
    expect_written(&report);
    char *const page = written("report.html");
    expect_has(page, "Nothing was gained");
    baselines_of[0].regret = better;
    table = printed(tacit_report_table, &report);
    assert_true(strncmp(table, "small: ", 7) == 0);
    expect_has(table, "uniform");
    root = parsed(&report);
    assert_true(json_is_null(json_object_get(root, "note")));
    json_decref(root);
}

/* Two profiles of the arms and one of named rows; what never happened is null and "never", what
 * happened in one run only is the mean of that run. */
TEST(profiles_are_means_over_the_runs_in_which_it_happened)
{
    static const char *const rows[] = {"quick & early", "slow", NULL};
    static const struct tacit_profile profiles[] = {
        {"played", "Played", "samples", NULL, NULL, false},
        {"out", "Out", "after", "a note", NULL, false},
        {"parts", "Parts", "x", NULL, rows, false},
        {.name = NULL}};
    struct tacit_report_arm const two_arms[2] = {{"red", 0.5, NULL}, {NULL, 0.25, NULL}};
    double const values[2 * 6] = {10, 20, (double)NAN, (double)NAN, 1, 2,
                                  30, 20, (double)NAN, 7,           3, 4};
    struct tacit_report report = small_report();
    report.run_count = report.runs_asked = 2;
    report.metric_count = report.curve_count = report.point_count = 0;
    report.arms = two_arms;
    report.profiles = profiles;
    report.profile_values = values;
    report.profile_value_count = 6;
    char *text = printed(tacit_report_json, &report);
    assert_non_null(strstr(text, "\"played\": {\"rows\": [0, 1], \"mean\": [20, 20], "
                                 "\"runs\": [2, 2]}"));
    assert_non_null(strstr(text, "\"out\": {\"rows\": [0, 1], \"mean\": [null, 7], "
                                 "\"runs\": [0, 1]}"));
    assert_non_null(strstr(text, "\"parts\": {\"rows\": [\"quick & early\", \"slow\"], "
                                 "\"mean\": [2, 3], \"runs\": [2, 2]}"));
    text = printed(put_page, &report);
    assert_non_null(strstr(text, "red</th><td class=\"n\">20</td><td class=\"n soft\">never"));
    assert_non_null(strstr(text, "arm 1</th><td class=\"n\">20</td><td class=\"n\">7 (1 of 2 "
                                 "runs)</td>"));
    assert_non_null(strstr(text, "quick &amp; early</th><td class=\"n\">2</td>"));
}

/* The texts beside points: those of the figure that have no anchor and lie in the plot. */
struct drawn_name {
    double left;
    double right;
    double line;
};

static uint32_t names_of(const char *svg, struct drawn_name *names, uint32_t room)
{
    uint32_t count = 0;
    for (const char *at = svg; (at = strstr(at, "<text stroke=\"none\"")) != NULL; at++) {
        const char *const content = strchr(at, '>') + 1;
        char text[64] = "";
        assert_true(count < room);
        (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(content, "<"), content);
        names[count].left = strtod(strstr(at, " x=\"") + 4, NULL);
        names[count].right = names[count].left + report_pixels(text, UINT32_MAX);
        names[count++].line = strtod(strstr(at, " y=\"") + 4, NULL);
    }
    return count;
}

/* Names of points that lie on each other stand beside, above and below them, or are numbers that
 * the legend explains; none covers another one, wherever rounding puts the points. */
TEST(names_of_points_at_one_place_do_not_cover_each_other)
{
    const char *const names[8] = {"one", "two", "three, which is long", "4", "5", "6", "7", "8"};
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_INSTANCE);
    uint32_t with_keys = 0;
    for (uint32_t figure_number = 0; figure_number < 200; figure_number++) {
        double x[8];
        double y[8];
        double const ci95[8] = {0};
        double const base = 1000 * tacit_rng_uniform(&rng);
        for (uint32_t i = 0; i < 8; i++) {
            x[i] = i == 0 ? 128 : 64;
            y[i] = i == 0 ? 1000 : base + tacit_rng_uniform(&rng) * figure_number;
        }
        struct tacit_report_series const series = {
            .label = "series", .count = 8, .x = x, .y = y, .ci95 = ci95, .names = names};
        struct tacit_report_figure const figure = FIGURE(.series_count = 1, .series = &series);
        char *const text = drawn(&figure);
        struct drawn_name found[8];
        uint32_t const count = names_of(text, found, 8);
        assert_int_equal(count, 8);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t j = 0; j < i; j++)
                assert_true(found[i].left >= found[j].right || found[j].left >= found[i].right ||
                            fabs(found[i].line - found[j].line) > 13.8);
        with_keys += strstr(text, ">3  three, which is long<") != NULL ? 1 : 0;
    }
    assert_true(with_keys > 0 && with_keys < 200);
}

/* A name that is the number on the axis says nothing; a line joins values of a number in order, and
 * no kinds. */
TEST(lines_join_values_and_no_kinds)
{
    static const double x[] = {2, 8, 32};
    static const double back[] = {2, 32, 8};
    static const double y[] = {1, 2, 3};
    static const char *const where[] = {"2", "8", "32"};
    static const char *const values[] = {"R = 1", "R = 4", "R = 9"};
    static const char *const kinds[] = {"ring", "star", "path"};
    static const struct {
        const double *x;
        const char *const *names;
        bool is_named;
        bool is_joined;
    } cases[] = {{x, where, false, true},
                 {x, values, true, true},
                 {back, values, true, false},
                 {x, kinds, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tacit_report_series const series = {
            .label = "s", .count = 3, .x = cases[i].x, .y = y, .names = cases[i].names};
        struct tacit_report_figure const figure = FIGURE(.series_count = 1, .series = &series);
        char *const text = drawn(&figure);
        assert_int_equal(strstr(text, "<text stroke=\"none\"") != NULL, cases[i].is_named);
        assert_int_equal(strstr(text, "<polyline") != NULL, cases[i].is_joined);
    }
}

/* Points of a kind each, all at one place of x, are rows: names in full, the value beside them; an
 * end of an interval that cannot be drawn is an arrow, and no bar from top to bottom. */
TEST(kinds_have_rows_and_long_intervals_arrows)
{
    static const double x[] = {64};
    static const double y[] = {100, 1000};
    static const double ci95[] = {5000, 10};
    static const char *const names[] = {"64"};
    struct tacit_report_series const series[] = {
        {.label = "first", .count = 1, .x = x, .y = y, .ci95 = ci95, .names = names},
        {.label = "second", .count = 1, .x = x, .y = y + 1, .ci95 = ci95 + 1, .names = names}};
    struct tacit_report_figure const figure = {.id = "f",
                                               .title = "t",
                                               .x_label = "agents",
                                               .y_label = "samples",
                                               .y_is_log = true,
                                               .series_count = 2,
                                               .series = series};
    char *const text = drawn(&figure);
    expect_has(text, ">first</text>");
    expect_has(text, ">100 \xc2\xb1 5,000</text>");
    expect_has(text, ">samples (log scale)</text>");
    expect_lacks(text, "agents");
    expect_lacks(text, "nan");
    uint32_t heads = 0;
    for (const char *at = text; (at = strstr(at, "<polyline")) != NULL; at++)
        heads++;
    assert_int_equal(heads, 2); /* the first goes on to both sides */
}

/* The x of the n-th element that begins like this. */
static double place_of(const char *svg, const char *element, const char *name, uint32_t n)
{
    const char *at = strstr(svg, element);
    for (uint32_t i = 0; i < n && at != NULL; i++)
        at = strstr(at + 1, element);
    assert_non_null(at);
    return strtod(strstr(at, name) + strlen(name), NULL);
}

/* A point at 0 of a logarithmic axis stands left of it, above a 0 of its own, and the axis is
 * broken in between; no line joins it with others. A curve's 0 and an axis without such a point are
 * as they were. */
TEST(zero_of_a_logarithmic_axis_stands_beside_it)
{
    static const double x[] = {0, 1000, 100000};
    static const double y[] = {30, 20, 10};
    static const char *const names[] = {"D 3", "D 2", "D 1"};
    struct tacit_report_series series = {.label = "s", .count = 3, .x = x, .y = y, .names = names};
    struct tacit_report_figure figure =
        FIGURE(.x_is_log = true, .y_is_log = true, .series = &series, .series_count = 1);
    char *text = drawn(&figure);
    double const zero = place_of(text, "<circle", "cx=\"", 1); /* the first is the legend's */
    double const first = place_of(text, "<circle", "cx=\"", 2);
    double const tick = place_of(strstr(text, ">0</text>") - 60, "<text", "x=\"", 0);
    double const stroke = place_of(text, "<line class=\"axis\"", "x1=\"", 0);
    expect_has(text, ">D 3: 0, 30");
    expect_has(text, ">D 3</text>");
    assert_true(fabs(zero - tick) < 0.11);
    assert_true(zero > 62 && zero < stroke && stroke < first);
    assert_true(place_of(text, "<polyline", "points=\"", 0) == first); /* not from 0 */
    series.names = NULL;
    text = drawn(&figure);
    expect_lacks(text, ">0</text>");
    expect_has(text, "points=\"62.0,");
    figure.x_is_log = false;
    series.names = names;
    text = drawn(&figure);
    assert_true(fabs(place_of(text, "<circle", "cx=\"", 1) - 62) < 0.11);
}

/* Student's law by numbers from its definition: 1, 2, 30, 31, 100 degrees of freedom. */
TEST(t975_is_student_s)
{
    assert_true(fabs(tacit_report_t975(2) - 12.7062047) < 1e-6);
    assert_true(fabs(tacit_report_t975(3) - 4.3026527) < 1e-6);
    assert_true(fabs(tacit_report_t975(31) - 2.0422725) < 1e-6);
    assert_true(fabs(tacit_report_t975(32) - 2.0395134) < 5e-6);
    assert_true(fabs(tacit_report_t975(101) - 1.9839715) < 1e-6);
    for (uint32_t count = 2; count < 200; count++)
        assert_true(tacit_report_t975(count) > tacit_report_t975(count + 1));
    assert_true(fabs(tacit_report_t975(1000000) - 1.959963984540054) < 1e-5);
}

/* ---- The band of a number that every agent has ------------------------------------------------
 */

TEST(band_is_drawn_from_the_lowest_agent_to_the_highest)
{
    static const struct tacit_band estimates = {"estimates", "What <they> think", "reward",
                                                "Note."};
    /* 3 runs, 2 points: lowest, mean, highest */
    static const double values[] = {0, 2, 4, 2, 3, 4, 3, 5, 7, 2, 3, 4, 0, 2, 4, 5, 6, 7};
    struct tacit_report report = small_report();
    struct tacit_report_network network = ring;
    char *const without = printed(put_page, &report);
    char *const json_without = printed(tacit_report_json, &report);
    expect_lacks(without, "they");
    expect_lacks(json_without, "\"band\"");
    network.note = "lambda_2 < 1.";
    report.network = &network;
    report.band = &estimates;
    report.band_values = values;
    char *const page = printed(put_page, &report);
    char *const json = printed(tacit_report_json, &report);
    expect_has(page, "<h2>What &lt;they&gt; think</h2>");
    expect_has(page, "<p>lambda_2 &lt; 1.</p>");
    expect_has(page, ": 4, 3 to 5 at the end");
    expect_has(json, "\"band\": {\"name\": \"estimates\", \"low\": [1, 3], \"mean\": [3, 4], "
                     "\"high\": [5, 5]}");
}

/* ---- Words, shares, lines to compare with -----------------------------------------------------
 */

/* Who reads a page knows no name of ours: every metric has a label and a clause about it. */
TEST(every_metric_of_every_family_has_words)
{
    uint32_t count = 0;
    for (struct tacit_family const *const *family = tacit_families(); *family != NULL; family++)
        for (uint32_t i = 0; (*family)->metrics[i].name != NULL; i++, count++) {
            struct tacit_metric const *const metric = &(*family)->metrics[i];
            if (metric->label == NULL || strchr(metric->label, '_') != NULL ||
                metric->unit == NULL || metric->note == NULL || strlen(metric->note) < 8)
                fail_msg("%s of %s", metric->name, (*family)->file.name);
        }
    assert_true(count > 60);
}

/* Wilson's interval by its definition: its ends are the shares p with |x - p| = z sqrt(p(1-p)/n).
 */
TEST(share_is_within_the_interval_of_wilson)
{
    for (uint32_t of = 1; of <= 200; of += 7)
        for (uint32_t count = 0; count <= of; count++) {
            struct report_share const share = report_share_of(count, of);
            double const ends[] = {share.lo, share.hi};
            assert_true(share.value == (double)count / of);
            assert_true(0 <= share.lo && share.lo <= share.value);
            assert_true(share.value <= share.hi && share.hi <= 1);
            for (uint32_t i = 0; i < 2; i++) {
                double const distance = fabs(share.value - ends[i]);
                double const wide = 1.959963984540054 * sqrt(ends[i] * (1 - ends[i]) / of);
                bool const is_closed = i == 0 ? count == 0 : count == of;
                assert_true(is_closed || fabs(distance - wide) < 1e-12);
            }
        }
    assert_true(report_share_of(0, 9).lo == 0);
    assert_true(report_share_of(9, 9).hi == 1);
}

/* All and none are said of all and none only. */
TEST(percent_is_not_rounded_to_all_or_none)
{
    assert_string_equal(report_percent(0).text, "0");
    assert_string_equal(report_percent(1e-9).text, "0.1");
    assert_string_equal(report_percent(0.5).text, "50");
    assert_string_equal(report_percent(1 - 1e-9).text, "99.9");
    assert_string_equal(report_percent(1).text, "100");
}

/* A line that is far above the curves does not flatten them: it leaves the figure where it passes
 * its top, between its points here, and says its number in the legend. One that lies wholly above
 * is not drawn, and the legend does not name it. */
TEST(reference_leaves_the_figure_at_its_top)
{
    static const double x[] = {0, 100};
    static const double low[] = {0, 10};
    static const double high[] = {0, 1000};
    static const double higher[] = {500, 1000};
    struct tacit_report_series const series[] = {
        {.label = "own", .count = 2, .x = x, .y = low},
        {.label = "far: 1,000", .count = 2, .x = x, .y = high, .is_reference = true}};
    struct tacit_report_figure figure = FIGURE(.series = series, .series_count = 2);
    char *text = drawn(&figure);
    expect_has(text, "far: 1,000");
    expect_has(text, ">14</text>");
    expect_lacks(text, ">1000</text>");
    char const *const line = strstr(text, "class=\"s6\" stroke=\"#61696e\"");
    assert_non_null(line);
    double left, bottom, right, top;
    char const *const first = strstr(strstr(strstr(line, "<g "), "<polyline"), "points=\"");
    assert_int_equal(sscanf(first, "points=\"%lf,%lf %lf,%lf \"", &left, &bottom, &right, &top), 4);
    assert_true(fabs(left - 62) < 0.1);
    assert_true(right > 62 + 638 * 0.0135 && right < 62 + 638 * 0.0145); /* 14 of 1000 */
    assert_true(bottom - top > 299.8);
    figure.series_count = 1; /* alone, the own line ends at the right */
    text = drawn(&figure);
    expect_has(text, "700.0,");
    struct tacit_report_series const above[] = {
        series[0], {.label = "far: 1,000", .count = 2, .x = x, .y = higher, .is_reference = true}};
    figure.series = above;
    figure.series_count = 2;
    text = drawn(&figure);
    expect_lacks(text, "far: 1,000");
}

/* ---- Texts of figures -------------------------------------------------------------------------
 */

/* What a text of these tests takes in DejaVu Sans at 13 pixels, the widest face that draws it. */
static double drawn_width(const char *text, size_t size)
{
    static const char letters[] = "W.0123456789-k (logsca)M=:e+";
    static const double widths[] = {989, 318, 636, 636, 636, 636, 636, 636, 636, 636,
                                    636, 636, 361, 579, 318, 390, 278, 612, 635, 521,
                                    550, 613, 390, 863, 838, 337, 615, 838};
    double width = 0;
    for (size_t i = 0; i < size; i++) {
        const char *const at = strchr(letters, text[i]);
        assert_non_null(at);
        width += widths[at - letters] * 13 / 1000;
    }
    return width;
}

static double attribute(const char *element, const char *name)
{
    const char *const at = strstr(element, name);
    assert_non_null(at);
    return strtod(at + strlen(name), NULL);
}

/* Each text lies within the 720 pixels and between the top and the bottom of the picture. The
 * number of texts. */
static uint32_t expect_texts_fit(const char *svg)
{
    double const height = attribute(svg, " height=\"");
    uint32_t count = 0;
    for (const char *at = svg; (at = strstr(at, "<text ")) != NULL; at++, count++) {
        const char *const content = strchr(at, '>') + 1;
        size_t const size = (size_t)(strchr(content, '<') - content);
        double const width = drawn_width(content, size);
        double const x = attribute(at, " x=\"");
        double const y = attribute(at, " y=\"");
        const char *const anchor = strstr(at, "text-anchor=\"");
        char const kind = anchor == NULL || anchor > content ? 's' : anchor[13];
        double const left = kind == 'e' ? x - width : kind == 'm' ? x - width / 2 : x;
        if (left < 0 || left + width > 720 || y < 10 || y > height - 3)
            fail_msg("cut: %.0f to %.0f at %.0f of %.0f: %.*s", left, left + width, y, height,
                     (int)size, content);
    }
    return count;
}

#define TEXT_POINTS 40u

/* Points wherever they may be, with names of any length, and labels that are too long: no text of
 * the figure is cut. */
/* Where no point can be drawn, axes are from 1 to 10; an end that cannot be drawn moves none. */
TEST(figure_without_a_point_has_axes)
{
    static const double x[] = {1, 2};
    static const double none[] = {-1, 0};
    static const double one[] = {2, 3};
    static const double endless[] = {INFINITY, 3};
    for (uint32_t way = 0; way < 4; way++) {
        struct tacit_report_series const series = {.label = "s", .count = 2, .x = x, .y = none};
        struct tacit_report_figure const figure =
            FIGURE(.x_is_log = way % 2 == 1, .y_is_log = way / 2 == 1, .series = &series,
                   .series_count = way / 2);
        char *const text = drawn(&figure);
        expect_has(text, ">10</text>");
        expect_lacks(text, "nan");
        expect_lacks(text, "inf");
    }
    struct tacit_report_series const series = {
        .label = "s", .count = 2, .x = x, .y = one, .hi = endless};
    struct tacit_report_figure const figure =
        FIGURE(.y_is_log = true, .series = &series, .series_count = 1);
    char *const text = drawn(&figure);
    expect_has(text, ">3</text>");
}

TEST(texts_of_figures_fit)
{
    static const double scales[] = {0.00125, 1, 1250, -0.00075, 125000};
    struct tacit_rng rng = tacit_rng_stream(7, 0, 0, TACIT_PURPOSE_INSTANCE);
    char many[81];
    uint32_t count = 0;
    memset(many, 'W', 80);
    many[80] = '\0';
    for (uint32_t round = 0; round < 100; round++) {
        double x[TEXT_POINTS];
        double y[TEXT_POINTS];
        const char *names[TEXT_POINTS];
        for (uint32_t i = 0; i < TEXT_POINTS; i++) {
            x[i] = scales[round % 5] * tacit_rng_uniform(&rng);
            y[i] = scales[round / 5 % 5] * (round % 7 == 0 ? 1e-6 : 1) * tacit_rng_uniform(&rng);
            names[i] = many + (uint32_t)(80 * tacit_rng_uniform(&rng));
        }
        x[0] = scales[round % 5]; /* at the right edge */
        x[1] = 0;                 /* and left of a logarithmic axis */
        struct tacit_report_series const series[] = {
            {.label = many, .count = TEXT_POINTS, .x = x, .y = y, .names = names},
            {.label = many + 60, .count = 2, .x = x, .y = y},
            {.label = many + 55, .count = 2, .x = x, .y = y, .is_reference = true}};
        struct tacit_report_figure const figure = {.id = "f",
                                                   .title = "t",
                                                   .x_label = many,
                                                   .y_label = many,
                                                   .x_is_log = round % 3 == 1,
                                                   .y_is_log = round % 3 == 2,
                                                   .series = series,
                                                   .series_count = 3};
        char *const text = drawn(&figure);
        count += expect_texts_fit(text);
    }
    assert_true(count > 100 * 30);
}

/* Settings in the order of the file, a value that was given with the command is marked. */
TEST(page_has_every_setting)
{
    static const struct tacit_report_setting given[] = {{"horizon", "5000", false},
                                                        {"privacy.<epsilon>", "\"", true}};
    struct tacit_report report = small_report();
    char *page = printed(put_page, &report);
    expect_lacks(page, "id=\"settings\"");
    report.settings = given;
    report.setting_count = 2;
    page = printed(put_page, &report);
    expect_has(page, "<code>horizon</code></dt> <dd>5000</dd>");
    expect_has(page, "<code>privacy.&lt;epsilon&gt;</code></dt> <dd>&quot; <span class=\"tag\">set "
                     "for this run</span></dd>");
}

/* A file that is too large for the page is only beside it. */
TEST(page_holds_copies_of_small_files_only)
{
    static double many[3 * 60000];
    static uint64_t times[60000];
    for (uint32_t i = 0; i < 60000; i++) {
        times[i] = i + 1;
        many[i] = many[60000 + i] = many[120000 + i] = i / 7.0;
    }
    struct tacit_report_curve const curve[] = {{"regret", many}};
    struct tacit_report report = small_report();
    char *page = printed(put_page, &report);
    expect_has(page, "download=\"curve.csv\"");
    report.points = times;
    report.point_count = 60000;
    report.curves = curve;
    page = printed(put_page, &report);
    expect_lacks(page, "download=\"curve.csv\"");
    expect_has(page, "<a href=\"curve.csv\">");
    expect_has(page, "download=\"runs.csv\"");
}

/* A value is written as its place needs it: quoted, escaped, left out, grouped, rounded. */
TEST(values_are_written_as_their_place_needs_them)
{
    static const char *const expected[] = {
        [REPORT_JSON] = "\"a<\\\"b\"|null|a<\"b|0.1|null|1.235|12345|12,345|0.5%",
        [REPORT_HTML] = "a&lt;&quot;b||a<\"b|0.1|null|1.235|12345|12,345|0.5%",
        [REPORT_CSV] = "\"a<\"\"b\"|\"\"|a<\"b|0.1||1.235|12345|12,345|0.5%",
        [REPORT_TERMINAL] = "a<\"b||a<\"b|0.1|null|1.235|12345|12,345|0.5%"};
    static const char text[] = "a<\"b";
    char const *volatile const none = NULL;
    for (int syntax = REPORT_JSON; syntax <= REPORT_TERMINAL; syntax++) {
        char *bytes = NULL;
        size_t size = 0;
        FILE *const out = open_memstream(&bytes, &size);
        report_print(out, (enum report_syntax)syntax, "%s|%s|%-s|%g|%g|%.4g|%u|%-" PRIu64 "|%.1f%%",
                     text, none, text, 0.1, (double)NAN, 1.2346, 12345u, (uint64_t)12345, 0.5);
        assert_string_equal(closed(out, &bytes, &size), expected[syntax]);
    }
}

int main(void)
{
    return testing_run(temp_folder_make, temp_folder_remove);
}
