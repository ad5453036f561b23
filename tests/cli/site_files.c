/* Wrong files of the live daemons, and wrong uses of the commands around them: exit code 2, one
 * line on stderr that says where, which key, what is wrong and what is allowed; nothing on stdout,
 * and no state directory comes into being. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../support/testing.h"
#include "../support/on_file.h"
#include "../support/process.h"
#include "../support/temp.h"

#define TEXT_BYTES ON_FILE_TEXT_BYTES
#define WORDS_MAX 9u

/* ---- Right files, which each case spoils in one line ---- */

static const char *const agent_lines[] = {
    "federation: trial",                                          /* 1 */
    "site: north",                                                /* 2 */
    "state: state",                                               /* 3 */
    "broker: {host: 127.0.0.1, port: 1, ca: ca.crt,",             /* 4 */
    "  certificate: north.crt, key: north.key}",                  /* 5 */
    "arms: [left, right, none]",                                  /* 6 */
    "policy: {epsilon: 1, budget: 2, range: [0, 1],",             /* 7 */
    "  agents_max: 10, rounds_max: 40, pulls_max: 1000000}",      /* 8 */
    "api: {unix: agent.sock}",                                    /* 9 */
    "decisions: {deadline_s: 60, remember_s: 0, open_max: 1000}", /* 10 */
    "log: {format: text}",                                        /* 11 */
};

static const char *const coordinator_lines[] = {
    "federation: trial",                                         /* 1 */
    "state: state",                                              /* 2 */
    "broker: {host: 127.0.0.1, port: 1, ca: ca.crt,",            /* 3 */
    "  certificate: coordinator.crt, key: coordinator.key}",     /* 4 */
    "sites: [north, south]",                                     /* 5 */
    "arms: [left, right, none]",                                 /* 6 */
    "run: {horizon: 1000000, epsilon: 1, rounds: 4, gap: 0.1, ", /* 7 */
    "  participation: 1, quorum: 1, deadline_s: 60}",            /* 8 */
    "status: {port: 8080}",                                      /* 9 */
    "log: {format: json}",                                       /* 10 */
};
#define LINES(of) (sizeof(of) / sizeof(of)[0])

/* In `begins`, @ stands for the file and % for its folder. */
struct wrong {
    const char *name;
    bool is_coordinator;
    uint32_t line;    /* to be replaced, and one more for each \f at the end of the text; 0: none */
    const char *text; /* what stands there instead */
    const char *begins;
    const char *says;
};

#define POLICY(text) "policy: {" text ", range: [0, 1],"
#define RULES(text) "  agents_max: 10, rounds_max: 40, pulls_max: 1000000, " text "}"
#define AGENT(words, number, instead, place, allowed)                                              \
    {                                                                                              \
        (words), false, (number), (instead), (place), (allowed)                                    \
    }
#define COORDINATOR(words, number, instead, place, allowed)                                        \
    {                                                                                              \
        (words), true, (number), (instead), (place), (allowed)                                     \
    }

/* A line more, so that what is wrong stands one line further down. */
#define GLM_POLICY(text) "protocol: glm-ucb\npolicy: {" text ", range: [0, 1],"

#define GLM_RUN(text) "protocol: glm-ucb\nrun: {horizon: 1000, quorum: 1, " text "}\f"

#define SOUND_POLICY(text)                                                                         \
    "protocol: glm-ucb-sound\npolicy: {epsilon: 1, budget: 1, " text ", range: [0, 1],"
#define SOUND_RUN(text)                                                                            \
    "protocol: glm-ucb-sound\nrun: {horizon: 1000, quorum: 1, features: [a], " text "}\f"

static const struct wrong cases[] = {
    /* Contexts with a promise. */
    COORDINATOR("private contexts without an epsilon", 7, SOUND_RUN("batches: 5, delta: 1.0e-6"),
                "@:8: run.epsilon: ", "missing"),
    AGENT("a word of the protocol that protects nothing", 7,
          SOUND_POLICY("features: [a], delta: 1.0e-6, privacy: none"),
          "@:8: policy.privacy: ", "unknown key"),
    COORDINATOR("constant private exploration of no size", 7,
                SOUND_RUN("epsilon: 1, delta: 1.0e-6, batches: 5, exploration: constant"),
                "@:8: run.alpha: ", "missing"),
    /* Contexts: nothing is private, and the files say so. */
    AGENT("epsilon where nothing is private", 7, GLM_POLICY("epsilon: 1, features: [a]"),
          "@:8: policy.epsilon: ", "protects nothing"),
    AGENT("budget where nothing is private", 7, GLM_POLICY("budget: 1, features: [a]"),
          "@:8: policy.budget: ", "protects nothing"),
    AGENT("a feature twice", 7, GLM_POLICY("privacy: none, features: [a, b, a]"),
          "@:8: policy.features: ", "'a' stands here twice"),
    COORDINATOR("contexts with a feature twice", 7, GLM_RUN("features: [a, a], threshold: 1"),
                "@:8: run.features: ", "'a' stands here twice"),
    COORDINATOR("constant exploration of no size", 7,
                GLM_RUN("features: [a], threshold: 1, exploration: constant"),
                "@:8: run.alpha: ", "missing"),
    COORDINATOR("epsilon where contexts are not private", 7,
                GLM_RUN("features: [a], threshold: 1, epsilon: 1"),
                "@:8: run.epsilon: ", "protects nothing"),
    /* A training has updates, no rewards. */
    AGENT("rewards of a person where there are none", 7,
          "protocol: select\npolicy: {epsilon: 4, budget: 4, parameters: 6, "
          "rewards_per_unit_max: 1, range: [0, 1],",
          "@:8: policy.rewards_per_unit_max: ", "without this key"),
    COORDINATOR("a training of other arms than its sites", 6,
                "arms: [north, west]\nprotocol: select\n"
                "run: {horizon: 10, epsilon: 1, parameters: 4, clip: 1, quorum: 1}\f\f",
                "@:6: arms: ", "the same list"),
    /* Keys */
    AGENT("unknown key names the nearest", 11, "logg: {format: text}",
          "@:11: logg: ", "did you mean 'log'? (allowed: federation, protocol, site, state, "),
    AGENT("key with a line break", 11, "\"lo\\ng\": 1", "@:11: lo?g: ", "unknown key; "),
    AGENT("unknown protocol of a site", 11, "protocol: voting",
          "@:11: protocol: ", "'voting' is not live; allowed: elimination"),
    COORDINATOR("protocol that is not live", 10, "protocol: index",
                "@:10: protocol: ", "'index' is not live; allowed: elimination"),
    COORDINATOR("network that the protocol has not", 10, "network: {kind: broadcast}",
                "@:10: network.kind: ", "'broadcast' is no network for elimination; "),
    AGENT("duplicate key", 11, "site: south", "@:11: site: ", "twice; allowed: once"),
    AGENT("missing budget", 7, POLICY("epsilon: 1"), "@:7: policy.budget: ", "missing"),
    COORDINATOR("missing epsilon", 7, "run: {horizon: 1000000,", "@:7: run.epsilon: ", "missing"),
    /* Types */
    AGENT("no value", 3, "state:", "@:3: state: ", "no value; a text is expected"),
    AGENT("empty path", 3, "state: ''", "@:3: state: ", "the path of a file is expected"),
    AGENT("word for a list", 6, "arms: left",
          "@:6: arms: ", "a list of 2 to 65536 names is expected"),
    AGENT("map for an arm", 6, "arms: [left, {right: 1}]",
          "@:6: arms: 'a list or map' is not allowed; ", "1 to 64 bytes"),
    /* Privacy */
    AGENT("epsilon without end", 7, POLICY("epsilon: .inf, budget: 2"),
          "@:7: policy.epsilon: '.inf' is not allowed; ", "a number from"),
    AGENT("budget below epsilon", 7, POLICY("epsilon: 1, budget: 0.5"),
          "@:7: policy.budget: 0.5 is below epsilon (1)", "allowed: at least epsilon"),
    AGENT("range reversed", 7, "policy: {epsilon: 1, budget: 2, range: [1, 0],",
          "@:7: policy.range: 1 is not below 0; ", "the smaller first"),
    AGENT("range of no width", 7, "policy: {epsilon: 1, budget: 2, range: [1, 1],",
          "@:7: policy.range: 1 is not below 1; ", "the smaller first"),
    AGENT("range with one end", 7, "policy: {epsilon: 1, budget: 2, range: [0],",
          "@:7: policy.range: ", "two numbers are expected"),
    AGENT("range with three ends", 7, "policy: {epsilon: 1, budget: 2, range: [0, 1, 2],",
          "@:7: policy.range: ", "two numbers are expected"),
    AGENT("range without end", 7, "policy: {epsilon: 1, budget: 2, range: [0, .inf],",
          "@:7: policy.range: '.inf' ", "a number from -1000000000 to 1000000000"),
    AGENT("runs by nothing", 11, "runs:", "@:11: runs: no value; ", "one word of ask, join"),
    COORDINATOR("range of a run reversed", 8, "  range: [1, 0], quorum: 1}",
                "@:8: run.range: 1 is not below 0; ", "the smaller first"),
    /* Names */
    AGENT("line break in an arm", 6, "arms: [left, \"ri\\nght\"]",
          "@:6: arms: 'ri?ght' is not allowed; ", "1 to 64 bytes, without line breaks"),
    AGENT("federation with a slash", 1, "federation: a/b",
          "@:1: federation: 'a/b' is not allowed; ", "1 to 64 letters, digits, _ and -"),
    AGENT("site with a wildcard", 2, "site: '+'", "@:2: site: '+' is not allowed; ", "letters"),
    AGENT("empty site", 2, "site: ''", "@:2: site: '' is not allowed; ", "1 to 64"),
    AGENT("long site", 2, "site: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
          "@:2: site: 'aaa", "1 to 64"),
    AGENT("site called coordinator", 2, "site: coordinator",
          "@:2: site: 'coordinator' is not allowed; ", "but coordinator, broker and helper"),
    COORDINATOR("one of the sites called broker", 5, "sites: [north, broker]",
                "@:5: sites: 'broker' is not allowed; ", "but coordinator, broker and helper"),
    COORDINATOR("one of the sites is no name", 5, "sites:\n - north\n - so.uth",
                "@:7: sites: 'so.uth' is not allowed; ", "letters"),
    COORDINATOR("duplicate sites", 5, "sites: [north, north]",
                "@:5: sites: 'north' stands here twice; ", "allowed: once"),
    AGENT("duplicate arms", 6, "arms: [left, right, left]", "@:6: arms: 'left' stands here twice; ",
          "allowed: once"),
    AGENT("one arm", 6, "arms: [left]", "@:6: arms: 1 names; ", "allowed: 2 to 65536"),
    COORDINATOR("no sites", 5, "sites: []", "@:5: sites: 0 names; ", "allowed: 1 to 1048576"),
    /* The run */
    COORDINATOR("quorum above the sites", 8, "  quorum: 3}", "@:8: run.quorum: '3' ",
                "a whole number from 1 to 2"),
    COORDINATOR("quorum 0", 8, "  quorum: 0}", "@:8: run.quorum: '0' ", "from 1 to 2"),
    COORDINATOR("rounds without gap", 7, "run: {horizon: 1000000, epsilon: 1, rounds: 4,",
                "@:7: run.gap: missing; ", "with rounds it must be given"),
    COORDINATOR("gap without rounds", 7, "run: {horizon: 1000000, epsilon: 1, gap: 0.1,",
                "@:7: run.gap: ", "with rounds only"),
    COORDINATOR("rounds 0", 7, "run: {horizon: 1000000, epsilon: 1, rounds: 0, gap: 0.1,",
                "@:7: run.rounds: '0' ", "a whole number from 1 to 9999"),
    COORDINATOR("horizon below the first epoch", 7, "run: {horizon: 10, epsilon: 1,",
                "@:7: run.horizon: 10 is too short for the first round of 3 arms and 2 reports; ",
                "allowed: at least "),
    /* The network */
    COORDINATOR("network without a coordinator", 10, "network: {kind: alone}",
                "@:10: network.kind: 'alone' needs no coordinator; ",
                "a kind that joins the sites"),
    COORDINATOR("participation over a graph", 8,
                "  participation: 0.5, deadline_s: 60}\nnetwork: {kind: ring}",
                "@:8: run.participation: below 1 it has a meaning over a star only; ",
                "allowed: 1, or network: {kind: star}"),
    COORDINATOR(
        "participation over a hybrid", 8,
        "  participation: 0.5}\nnetwork: {kind: hybrid, components: [{agents: 2, kind: path}]}",
        "@:8: run.participation: below 1 ", "allowed: 1"),
    COORDINATOR("quorum over a graph", 8, "  quorum: 2}\nnetwork: {kind: path}",
                "@:8: run.quorum: sites that judge for themselves wait for every one of them; ",
                "no quorum, or a star or a hybrid"),
    COORDINATOR("exact bounds with a limit of rounds", 8, "  bounds: exact}\nnetwork: {kind: path}",
                "@:7: run.rounds: exact bounds know no round limit; ", "allowed: none"),
    COORDINATOR("growth without exact bounds", 8, "  growth: 2}\nnetwork: {kind: path}",
                "@:8: run.growth: ", "belongs to bounds: exact"),
    COORDINATOR("elimination as a rule of the index", 7,
                "protocol: phased-index\nrun: {horizon: 100000, epsilon: 1, rule: elimination}\f",
                "@:8: run.rule: ", "'run.bounds: exact'"),
    COORDINATOR("components of more sites than there are", 10,
                "network: {kind: hybrid, components: [{agents: 2, kind: path}, {agents: 1}]}",
                "@:10: network.components: 3 agents in the components, but ", "must be equal"),
    COORDINATOR("components of fewer sites than there are", 10,
                "network: {kind: hybrid, components: [{agents: 1}]}",
                "@:10: network.components: 1 agents in the components, but ", "must be equal"),
    COORDINATOR("degree that cannot be", 10, "network: {kind: regular, degree: 2}",
                "@:10: network: degree is 2: ", "allowed"),
    /* Where to listen, whom to call */
    AGENT("more of a caller than of all", 10, "decisions: {open_max: 5, caller_open_max: 6}",
          "@:10: decisions.caller_open_max: '6' ", "from 1 to 5"),
    AGENT("socket and port", 9, "api: {unix: agent.sock, port: 8080}",
          "@:9: api: one of 'unix' (a socket file) and 'port' (on 127.0.0.1) ", "is expected"),
    AGENT("neither socket nor port", 9, "api: {}", "@:9: api: one of 'unix' ", "is expected"),
    AGENT(
        "socket with a long path", 9,
        "api: {unix: "
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaa}",
        "@:9: api.unix: ", "too long for a socket; allowed: 107 bytes"),
    AGENT("host with a port", 4, "broker: {host: 'mqtt://b', port: 1, ca: ca.crt,",
          "@:4: broker.host: 'mqtt://b' is not allowed; ", "a host name or an address"),
    AGENT("wait above the deadline", 10, "decisions: {wait_s: 61, deadline_s: 60}",
          "@:10: decisions.wait_s: 61 is above deadline_s (60)", "allowed: up to that"),
    AGENT("wait beside what is missing", 11, "missing: {after_s: 600, counts_as: 0}",
          "@:10: decisions.deadline_s: has no meaning beside missing", "one of the two"),
    AGENT("missing counts as what cannot be", 10, "missing: {after_s: 600, counts_as: 2}",
          "@:10: missing.counts_as: '2' ", "from 0 to 1"),
    /* Certificates and keys */
    AGENT("missing CA", 4, "broker: {host: 127.0.0.1, port: 1, ca: none.crt,",
          "@:4: broker: cannot read a certificate from ", "none.crt"),
    AGENT("missing certificate", 5, "  certificate: none.crt, key: north.key}",
          "@:4: broker: cannot read a certificate from ", "none.crt"),
    AGENT("missing key", 5, "  certificate: north.crt, key: none.key}",
          "@:4: broker: cannot read the key ", "No such file"),
    AGENT("key open to others", 5, "  certificate: north.crt, key: open.key}",
          "@:4: broker: the key ", "is open to others: chmod 600"),
    AGENT("certificate for a key", 5, "  certificate: north.crt, key: closed.crt}",
          "@:4: broker: ", "is no private key, or an encrypted one"),
    AGENT("certificate of somebody else", 2, "site: south", "@:4: broker: the certificate ",
          "is not made out to south"),
    AGENT("key of somebody else", 5, "  certificate: north.crt, key: coordinator.key}",
          "@:4: broker: the key ", "does not belong to "),
    COORDINATOR("certificate of a site", 4, "  certificate: north.crt, key: north.key}",
                "@:3: broker: the certificate ", "is not made out to coordinator"),
};
#define CASE_COUNT (sizeof cases / sizeof cases[0])

#define TACIT(...) process_tacit_run((struct process_plan){0}, PROCESS_WORDS(__VA_ARGS__))

/* ---- The folder of all cases: certificates of a trial ---- */

static void copy_file(const char *from, const char *to, mode_t mode)
{
    char path[TEMP_PATH_BYTES];
    char *const text = on_file_text(temp_folder, from);
    temp_file_write(temp_folder, to, text);
    testing_free(text); /* no test has begun whose own it could be */
    temp_path(path, temp_folder, to);
    assert_int_equal(chmod(path, mode), 0);
}

static int open_folder(void **state)
{
    (void)state;
    temp_directory_make(temp_folder);
    struct process_result result = TACIT("pki", "--directory", temp_folder, "--days", "2", "north");
    assert_int_equal(result.code, 0);
    testing_free(result.out); /* no test has begun whose own it could be */
    testing_free(result.err);
    copy_file("north.key", "open.key", 0644);
    copy_file("north.crt", "closed.crt", 0600);
    return 0;
}

/* ---- Writing a case down ---- */

static void write_case(const struct wrong *wrong)
{
    const char *const *const lines = wrong->is_coordinator ? coordinator_lines : agent_lines;
    size_t const count = wrong->is_coordinator ? LINES(coordinator_lines) : LINES(agent_lines);
    char text[TEXT_BYTES] = "";
    size_t const more = wrong->line == 0 ? 0 : strlen(wrong->text + strcspn(wrong->text, "\f"));
    for (uint32_t i = 0; i < count; i++) {
        if (i >= wrong->line && i < wrong->line + more)
            continue;
        on_file_append(text, i + 1 == wrong->line ? wrong->text : lines[i]);
        if (i + 1 == wrong->line)
            text[strlen(text) - more] = 0;
        on_file_append(text, "\n");
    }
    temp_file_write(temp_folder, "daemon.yaml", text);
}

/* ---- What every refusal has in common ---- */

static void assert_refused(const char *const *arguments, const char *begins, const char *says)
{
    struct process_plan const plan = {.arguments = arguments};
    size_t const files = on_file_count(temp_folder);
    on_file_expect_refusal(&plan, begins, says);
    assert_int_equal(on_file_count(temp_folder), files);
}

static bool is_about_keys(const struct wrong *wrong)
{
    return strstr(wrong->begins, ": broker: ") == NULL &&
           strstr(wrong->begins, "too short") == NULL;
}

static void case_is_refused(void **state)
{
    struct wrong const *const wrong = *state;
    char file[TEMP_PATH_BYTES];
    char begins[TEXT_BYTES];
    temp_path(file, temp_folder, "daemon.yaml");
    write_case(wrong);
    on_file_expand(begins, wrong->begins, temp_folder, "/daemon.yaml");
    const char *const arguments[] = {
        process_tacit(), wrong->is_coordinator ? "coordinator" : "agent", "--config", file, NULL};
    assert_refused(arguments, begins, wrong->says);
    if (is_about_keys(wrong)) { /* the same file to a daemon that does not run */
        const char *const status[] = {process_tacit(), "status", "--config", file, NULL};
        assert_refused(status, begins, wrong->says);
    }
}

/* ---- The files that are spoilt are right ---- */

/* Both get as far as their state directory: it lies in a folder that is not there. */
TEST(the_files_are_right)
{
    static const struct wrong right[] = {
        {"agent", false, 3, "state: nowhere/state", "", ""},
        {"coordinator", true, 2, "state: nowhere/state", "", ""},
    };
    char file[TEMP_PATH_BYTES];
    (void)state;
    temp_path(file, temp_folder, "daemon.yaml");
    for (size_t i = 0; i < 2; i++) {
        write_case(&right[i]);
        struct process_result result = TACIT(right[i].name, "--config", file);
        (void)PROCESS_EXPECT(result, 1, "nowhere/state: cannot open the state directory");
        assert_int_equal(process_line_count(result.err), 1);
    }
}

/* What the file of a coordinator names is looked at before the state comes into being. */
TEST(edges_that_cannot_be_are_refused)
{
    static const struct {
        const char *edges; /* NULL: no such file */
        const char *says;
    } wrongs[] = {{NULL, "No such file"},
                  {"0,0\n", "edges.csv:1: "},
                  {"0,2\n", "edges.csv:1: "},
                  {"", "not connected"},
                  {"north,south\n", "edges.csv:1: "}};
    struct wrong const coordinator = {
        .name = "edges",
        .is_coordinator = true,
        .line = 8,
        .text = "  deadline_s: 60}\nnetwork: {kind: edges, file: edges.csv}"};
    char file[TEMP_PATH_BYTES];
    (void)state;
    temp_path(file, temp_folder, "daemon.yaml");
    write_case(&coordinator);
    const char *const arguments[] = {process_tacit(), "coordinator", "--config", file, NULL};
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        if (wrongs[i].edges != NULL)
            temp_file_write(temp_folder, "edges.csv", wrongs[i].edges);
        assert_refused(arguments, "", wrongs[i].says);
    }
}

/* Without a daemon, the status of a right file is a failure, not wrong input. */
TEST(nobody_answers)
{
    struct wrong const right = {.name = "agent", .begins = "", .says = ""};
    char file[TEMP_PATH_BYTES];
    (void)state;
    temp_path(file, temp_folder, "daemon.yaml");
    write_case(&right);
    struct process_result result = TACIT("status", "--config", file);
    char *const out = PROCESS_EXPECT(result, 3, "nobody answers; is the daemon of ");
    assert_non_null(strstr(out, "DOWN: site "));
    assert_int_equal(process_line_count(out) + process_line_count(result.err), 2);
}

/* ---- The command line ---- */

struct usage {
    const char *words[WORDS_MAX]; /* % is the folder */
    const char *begins;
    const char *says;
};

static const struct usage usages[] = {
    {{"agent"}, "tacit agent: one file is needed ", "usage: tacit agent --config FILE"},
    {{"agent", "--config"},
     "tacit agent (see 'tacit agent --help'): ",
     "option '--config' requires an argument"},
    {{"agent", "a.yaml"}, "tacit agent: one file is needed ", "--config FILE"},
    {{"agent", "--config", "a", "b"}, "tacit agent: one file is needed ", "--config FILE"},
    {{"coordinator", "--seed", "1"},
     "tacit coordinator (see 'tacit coordinator --help'): ",
     "unrecognized option '--seed'"},
    {{"status"}, "tacit status: one file is needed ", "usage: tacit status --config FILE"},
    {{"status", "--config", "/nonexistent"}, "/nonexistent: ", "No such file"},
    {{"agent", "--config=/nonexistent"}, "/nonexistent: ", "No such file"},
    {{"coordinator", "--config", "/nonexistent"}, "/nonexistent: ", "No such file"},
    {{"pki"}, "tacit pki: --directory is missing; ", "see 'tacit pki --help'"},
    {{"pki", "--directory", "%/new"}, "tacit pki: no site is named; ", "--help"},
    {{"pki", "--directory"}, "tacit pki (see 'tacit pki --help'): ", "requires an argument"},
    {{"pki", "--fast"}, "tacit pki (see 'tacit pki --help'): ", "unrecognized option '--fast'"},
    {{"pki", "--directory", "%/new", "--days", "0", "a"},
     "tacit pki: --days: '0' ",
     "a whole number from 1 to 3650"},
    {{"pki", "--directory", "%/new", "--days", "-5", "a"}, "tacit pki: --days: '-5' ", "from 1 to"},
    {{"pki", "--directory", "%/new", "--days", "", "a"}, "tacit pki: --days: '' ", "from 1 to"},
    {{"pki", "--directory", "%/new", "a/b"}, "the name \"a/b\" is not allowed: ", "A-Z a-z 0-9"},
    {{"pki", "--directory", "%/new", "ca"}, "the name \"ca\" is not allowed: ", "and not ca"},
    {{"pki", "--directory", "%/new", "--host", "a b", "a"}, "\"a b\" is no host name ", "address"},
    {{"pki", "revoke", "--directory", "%/new"}, "tacit pki: no site is named; ", "--help"},
    {{"pki", "revoke", "--directory", "%", "--days", "5", "a"},
     "tacit pki: revoke takes neither --days nor --host; ",
     "--help"},
    {{"pki", "revoke", "--directory", "%", "nobody"}, "cannot read a certificate ", "nobody.crt"},
    {{"pki", "revoke", "--directory", "%", "broker"}, "the broker's certificate ", "a new CA"},
    {{"broker-config"}, "tacit broker-config: --directory is missing; ", "--help"},
    {{"broker-config", "--directory", "%", "a"},
     "tacit broker-config: --federation is missing; ",
     "see 'tacit broker-config --help'"},
    {{"broker-config", "--directory", "%", "--federation", "f"},
     "tacit broker-config: no site is named; ",
     "--help"},
    {{"broker-config", "--directory", "%", "--federation", "f", "--port", "70000", "a"},
     "tacit broker-config: --port: '70000' ",
     "a whole number from 1 to 65535"},
    {{"broker-config", "--directory", "%", "--federation", "f", "--tls", "a"},
     "tacit broker-config (see 'tacit broker-config --help'): ",
     "unrecognized option '--tls'"},
    {{"broker-config", "--directory", "%", "--federation", "f", "a", "a"},
     "the site a is named twice",
     ""},
    {{"broker-config", "--directory", "%", "--federation", "#", "a"},
     "the federation's name \"#\" is not allowed: ",
     "A-Z a-z 0-9"},
    {{"broker-config", "--directory", "%", "--federation", "f", "coordinator"},
     "the site's name \"coordinator\" is not allowed: ",
     "none of coordinator, broker and helper"},
    {{"broker-config", "--directory", "%", "--coordinator", "%/none.yaml", "--federation", "f"},
     "tacit broker-config: --coordinator says what the federation is; ",
     "--federation is not allowed; see 'tacit broker-config --help'"},
    {{"broker-config", "--directory", "%", "--coordinator", "%/none.yaml", "north"},
     "tacit broker-config: --coordinator says which sites there are; ",
     "none may be named"},
    {{"broker-config", "--directory", "%", "--coordinator"},
     "tacit broker-config (see 'tacit broker-config --help'): ",
     "requires an argument"},
    {{"broker-config", "--coordinator", "%/none.yaml"},
     "tacit broker-config: --directory is missing; ",
     "--help"},
    {{"broker-config", "--directory", "%", "--coordinator", "%/none.yaml"},
     "%/none.yaml: ",
     "No such file"},
    {{"broker-config", "--directory", "%", "--coordinator", "%/north.crt"}, "%/north.crt:", ""},
    {{"broker-config", "--directory", "%", "--federation", "f", "--address", "a b", "a"},
     "cannot listen at \"a b\"",
     "a host name or an address"},
};

TEST(wrong_usage)
{
    (void)state;
    for (size_t i = 0; i < sizeof usages / sizeof usages[0]; i++) {
        static char words[WORDS_MAX][TEXT_BYTES];
        char begins[TEXT_BYTES];
        const char *arguments[WORDS_MAX + 2] = {process_tacit()};
        for (size_t j = 0; j < WORDS_MAX && usages[i].words[j] != NULL; j++) {
            on_file_expand(words[j], usages[i].words[j], temp_folder, "/daemon.yaml");
            arguments[j + 1] = words[j];
        }
        on_file_expand(begins, usages[i].begins, temp_folder, "/daemon.yaml");
        assert_refused(arguments, begins, usages[i].says);
    }
}

/* A broker runs in a folder of its own: what its file names is named from the root. */
TEST(broker_paths_are_whole)
{
    static const char *const paths[] = {"\ncafile /", "\nkeyfile /", "\ncrlfile /", "\nacl_file /"};
    char here[TEMP_PATH_BYTES];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(temp_folder), 0);
    assert_int_equal(mkdir("broker", 0700), 0);
    struct process_result result =
        TACIT("broker-config", "--directory", "broker", "--federation", "f", "--pki", ".", "north");
    assert_int_equal(chdir(here), 0);
    assert_int_equal(result.code, 0);
    char *const text = on_file_text(temp_folder, "broker/mosquitto.conf");
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        assert_non_null(strstr(text, paths[i]));
}

/* Who may do what, by the coordinator's file with this line as its tenth. */
static char *access_by_file(const char *line)
{
    struct wrong const coordinator = {
        .name = "access", .is_coordinator = true, .line = 8, .text = line};
    char file[TEMP_PATH_BYTES];
    write_case(&coordinator);
    temp_path(file, temp_folder, "daemon.yaml");
    struct process_result result =
        TACIT("broker-config", "--directory", temp_folder, "--coordinator", file);
    (void)PROCESS_EXPECT(result, 0, "");
    assert_string_equal(result.err, "");
    char *const access = on_file_text(temp_folder, "tacit.acl");
    temp_path(file, temp_folder, "tacit.acl");
    (void)unlink(file);
    return access;
}

TEST(access_follows_the_coordinators_file)
{
    static const char *const without[] = {
        "  quorum: 1}", "  quorum: 1}\nnetwork: {kind: star}",
        "  quorum: 1}\nnetwork: {kind: hybrid, components: [{agents: 1, count: 2}]}"};
    char *access = access_by_file("  deadline_s: 60}\nnetwork: {kind: ring}");
    assert_non_null(strstr(access, "\ntopic read tacit/v1/trial/up/+/elimination\n"));
    assert_non_null(strstr(access, "\ntopic write tacit/v1/trial/peer/north/south/elimination\n"));
    assert_non_null(strstr(access, "\ntopic write tacit/v1/trial/peer/south/north/elimination\n"));
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
        access = access_by_file(without[i]);
        assert_non_null(strstr(access, "\nuser north\n"));
        assert_null(strstr(access, "/peer/"));
    }
}

int main(void)
{
    TESTING_ADD_CASES(cases, case_is_refused);
    return testing_run(open_folder, temp_folder_remove);
}
