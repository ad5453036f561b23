/* Wrong input to the real program: exit code 2, one line on stderr that says where, which key, what
 * is wrong and what is allowed; nothing on stdout, nothing written. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../support/testing.h"
#include "../support/effort.h"
#include "../support/on_file.h"
#include "../support/process.h"
#include "../support/temp.h"

#define TEXT_BYTES ON_FILE_TEXT_BYTES
#define OPTIONS_MAX 6u

/* ---- A right experiment, which each case spoils in one place ---- */

static const char *const base[] = {
    "name: base",                                       /* 1 */
    "seed: 3",                                          /* 2 */
    "runs: 2",                                          /* 3 */
    "horizon: 20000",                                   /* 4 */
    "agents: 3",                                        /* 5 */
    "checkpoints: 5",                                   /* 6 */
    "environment: {kind: bernoulli, means: means.csv}", /* 7 */
    "protocol: {kind: elimination}",                    /* 8 */
    "privacy: {mode: sound, epsilon: 1}",               /* 9 */
};
#define BASE_LINES (sizeof base / sizeof base[0])

static const char base_means[] = "0.9,0.5,0.1\n";
static const char base_edges[] = "0,1\n1,2\n";
static const char base_log[] = "site,drug,y\na,x,1\na,z,0\nb,x,1\nb,z,1\nc,x,0\nc,z,0\n";

/* In `begins`, @ stands for the experiment file and % for its folder. */
struct wrong {
    const char *name;
    uint32_t line;    /* of the base, to be replaced; 0: none */
    const char *text; /* what stands there instead */
    const char *file; /* the whole file instead of the base */
    const char *means;
    const char *edges;
    const char *log;
    const char *options[OPTIONS_MAX];
    const char *begins; /* what stderr begins with */
    const char *says;   /* and holds: what is allowed */
};

#define SOUND_GLM(link, protocol, privacy)                                                         \
    "name: g\nseed: 1\nruns: 1\nhorizon: 50\nagents: 2\nenvironment: {kind: contextual, "          \
    "contextual: "                                                                                 \
    "{dimension: 3, arms: 4, link: " link "}}\nprotocol: {kind: glm-ucb" protocol                  \
    "}\nprivacy: {mode: " privacy "}\n"
#define NETWORK(text) "network: {kind: " text "}\nprotocol: {kind: elimination}"
#define HYBRID(text) NETWORK("hybrid, components: [" text "]")
#define EDGES NETWORK("edges, file: edges.csv")
#define MEANS(kind, more) "environment: {kind: " kind ", means: means.csv" more "}"
#define LOGGED(text) "environment:\n  kind: logged\n  logged: {" text "}"
#define ARMS(text) LOGGED("csv: log.csv, agent: site, reward: y, arm: [" text "]")
#define ARM(name) "{name: " name ", any: [drug], equals: x}"

/* One thing is wrong: a line of the base, the whole file, the means, an option. */
#define SPOILT(words, number, instead, place, allowed)                                             \
    {                                                                                              \
        .name = (words), .line = (number), .text = (instead), .begins = (place), .says = (allowed) \
    }
/* .. and something beside it: more = .options = .., .means = .. */
#define SPOILT_WITH(words, number, instead, place, allowed, ...)                                   \
    {                                                                                              \
        .name = (words), .line = (number), .text = (instead), .begins = (place),                   \
        .says = (allowed), __VA_ARGS__                                                             \
    }
#define FILE_IS(words, content, place, allowed)                                                    \
    {                                                                                              \
        .name = (words), .file = (content), .begins = (place), .says = (allowed)                   \
    }
#define MEANS_ARE(words, content, place, allowed)                                                  \
    {                                                                                              \
        .name = (words), .means = (content), .begins = (place), .says = (allowed)                  \
    }
#define EDGES_ARE(words, content, place, allowed)                                                  \
    {                                                                                              \
        .name = (words), .line = 8, .text = EDGES, .edges = (content), .begins = (place),          \
        .says = (allowed)                                                                          \
    }
#define OPTION(words, option, value, place, allowed)                                               \
    {                                                                                              \
        .name = (words), .options = {(option), (value)}, .begins = (place), .says = (allowed)      \
    }

static const struct wrong cases[] = {
    /* The form of the file */
    SPOILT("unknown key names the nearest", 5, "agents: 3\nhorizn: 5",
           "@:6: horizn: ", "did you mean 'horizon'? (allowed: name, seed, runs, horizon, "),
    SPOILT("unknown key with a line feed is still one line", 2, "\"se\\ned\\x1b\": 1",
           "@:2: se?ed?: ", "did you mean 'seed'?"),
    SPOILT("duplicate key", 5, "agents: 3\nseed: 4", "@:6: seed: ", "twice; allowed: once"),
    SPOILT("duplicate key in a section", 9, "privacy: {mode: sound, epsilon: 1,\n  epsilon: 2}",
           "@:10: epsilon: ", "twice; allowed: once"),
    SPOILT("missing protocol", 8, "", "@:1: protocol: ", "missing"),
    SPOILT("missing privacy", 9, "", "@:1: privacy: ", "missing"),
    SPOILT("missing epsilon", 9, "privacy: {mode: sound}",
           "@:9: privacy.epsilon: ", "missing; it must be given"),
    SPOILT("no value", 4, "horizon:", "@:4: horizon: ", "a whole number from 1"),
    SPOILT("seed beyond 64 bits", 2, "seed: 18446744073709551616",
           "@:2: seed: ", "allowed: a whole number from 0 to 18446744073709551615"),
    FILE_IS("a list is no experiment", "- 1\n- 2\n", "@:1: ", "a map of keys"),
    FILE_IS("a word is no experiment", "\nhello\n", "@:2: ", "a map of keys"),
    SPOILT("list as a key", 2, "? [a, b]\n: 1", "@:2: ", "a key must be a word"),
    SPOILT("NUL in a key", 2, "\"seed\\0x\": 1", "@:2: ", "may not hold a NUL"),
    SPOILT("NUL in a value", 1, "name: \"a\\0b\"", "@:1: ", "may not hold a NUL"),
    SPOILT("tab", 9, "privacy:\n\tmode: sound", "@:10: not YAML", "cannot start any token"),
    SPOILT("unclosed bracket", 8, "protocol: {kind: elimination", "@:9: not YAML",
           "did not find expected ',' or '}'"),
    SPOILT("unknown anchor", 1, "name: *who", "@:1: not YAML", "undefined alias"),
    SPOILT("bracket behind the end", 9, "privacy: {mode: none}\n...\n]",
           "@:11: ", "one document is allowed"),
    SPOILT("two documents", 9, "privacy: {mode: none}\n---\nname: second",
           "@:11: ", "one document is allowed"),
    FILE_IS("empty file", "", "@:1: empty; ", "an experiment is expected"),
    FILE_IS("private glm without delta", SOUND_GLM("identity", "", "sound, epsilon: 1"),
            "@:8: privacy.delta: ", "missing"),
    FILE_IS("private glm with a failure that has no inverse",
            SOUND_GLM("identity", ", delta: 1.0e-310", "sound, epsilon: 1, delta: 1.0e-6"),
            "@:7: protocol.delta: ", "allowed"),
    FILE_IS("private glm with a variant",
            SOUND_GLM("identity", ", variant: v2", "sound, epsilon: 1, delta: 1.0e-6"),
            "@:7: protocol.variant: ", "a protocol of its own"),
    FILE_IS("private glm with a link that is not linear",
            SOUND_GLM("poisson", "", "sound, epsilon: 1, delta: 1.0e-6"),
            "@:6: environment.contextual.link: ", "allowed: identity, logistic"),
    FILE_IS("private glm with noise beyond the integers",
            SOUND_GLM("identity", "", "sound, epsilon: 0.001, delta: 1.0e-9"),
            "@:8: privacy.epsilon: ", "a larger epsilon or delta"),
    {.name = "private glm with sums that do not fit into 64 bits",
     .file = SOUND_GLM("identity", ", batches: 10", "sound, epsilon: 1, delta: 1.0e-6"),
     .options = {"--set", "agents=1000", "--set", "horizon=1e10"},
     .begins = "--set: horizon: sums of so many rewards do not fit",
     .says = "a shorter horizon, or fewer agents"},
    FILE_IS("private glm with bounds of rewards",
            SOUND_GLM("identity", "", "sound, epsilon: 1, delta: 1.0e-6, range: [0, 2]"),
            "@:8: privacy.range: ", "belongs to arms that have rewards of their own"),
    FILE_IS("glm without privacy, with delta",
            SOUND_GLM("logistic", ", threshold: 1", "none, delta: 1.0e-6"),
            "@:8: privacy.delta: ", "belongs to mode: sound"),
    FILE_IS("glm without privacy, with batches",
            SOUND_GLM("logistic", ", threshold: 1, batches: 5", "none"),
            "@:7: protocol.batches: ", "belongs to privacy.mode: sound"),
    FILE_IS("only a comment", "# soon\n", "@:1: empty; ", "an experiment is expected"),
    SPOILT("not UTF-8", 3, "runs: 2 # caf\xe9", "@:3: not YAML in UTF-8: ", "octet"),
    FILE_IS("cut UTF-8 at the end", "name: caf\xc3",
            "@:1: not YAML in UTF-8: ", "incomplete UTF-8"),
    SPOILT("deep nesting", 2, "seed: [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]",
           "@:2: nested too deeply; ", "16 levels are allowed"),
    SPOILT("deep nesting by anchors", 2,
           "a: &a [1]\nb: &b [*a]\nc: &c [*b, [[[[[[[*b]]]]]]]]\nd: [[[[[[[[[*c]]]]]]]]]",
           "@:4: nested too deeply; ", "16 levels are allowed"),
    SPOILT("an anchor in itself", 2, "seed: &a [*a]", "@:2: nested too deeply; ", "16 levels"),
    SPOILT("a thousand million laughs", 2,
           "a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
           "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
           "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]",
           "@:", "too large; 100000 values are allowed"),

    /* Numbers of the run */
    SPOILT("horizon far too long", 4, "horizon: 1e300",
           "@:4: horizon: ", "from 1 to 1099511627776"),
    SPOILT("horizon too short for an epoch", 4, "horizon: 10",
           "@:4: horizon: 10 is too short for the first round ", "allowed: at least "),
    SPOILT_WITH("no horizon is long enough", 7,
                "environment: {kind: bernoulli, generated: {arms: 65536}}",
                "@:4: horizon: no horizon is long enough",
                "allowed: fewer arms, more agents or a larger epsilon",
                .options = {"--set=privacy.epsilon=1e-6", "--set=agents=1"}),
    SPOILT("runs in hexadecimal", 3, "runs: 0x10", "@:3: runs: ", "from 1 to 1000000"),
    SPOILT("checkpoints 0", 6, "checkpoints: 0", "@:6: checkpoints: ", "from 1 to 10000"),
    SPOILT("checkpoints none", 6, "checkpoints: []",
           "@:6: checkpoints: ", "1 to 10000 are allowed"),
    SPOILT("checkpoints do not grow", 6, "checkpoints: [10, 100,\n 100]",
           "@:7: checkpoints: ", "slots must grow"),
    SPOILT("checkpoints fall", 6, "checkpoints: [10, 9]", "@:6: checkpoints: ", "slots must grow"),
    SPOILT("checkpoint beyond the horizon", 6, "checkpoints: [10, 20001]",
           "@:6: checkpoints: ", "from 1 to 20000"),
    SPOILT("checkpoint 0", 6, "checkpoints: [0, 10]", "@:6: checkpoints: ", "from 1 to 20000"),

    /* Privacy */
    SPOILT("epsilon 0 sound", 9, "privacy: {mode: sound, epsilon: 0}", "@:9: privacy.epsilon: '0' ",
           "a number from 1e-06 to 100000, or inf"),
    SPOILT("epsilon 0 paper", 9, "privacy: {mode: paper, epsilon: 0}", "@:9: privacy.epsilon: '0' ",
           "a number above 0 and up to 100000, or inf"),
    SPOILT("epsilon NaN", 9, "privacy: {mode: paper, epsilon: NaN}", "@:9: privacy.epsilon: 'NaN' ",
           "above 0"),
    SPOILT("epsilon .nan", 9, "privacy: {mode: sound, epsilon: .nan}",
           "@:9: privacy.epsilon: '.nan' ", "from 1e-06"),
    SPOILT("epsilon -inf", 9, "privacy: {mode: paper, epsilon: -inf}",
           "@:9: privacy.epsilon: '-inf' ", "above 0"),
    SPOILT("epsilon in hexadecimal", 9, "privacy: {mode: paper, epsilon: 0x1p3}",
           "@:9: privacy.epsilon: '0x1p3' ", "above 0"),
    SPOILT("epsilon with a unit", 9, "privacy: {mode: paper, epsilon: 1 nat}",
           "@:9: privacy.epsilon: '1 nat' ", "above 0"),
    SPOILT("epsilon 1e-12 sound", 9, "privacy: {mode: sound, epsilon: 1e-12}",
           "@:9: privacy.epsilon: '1e-12' ", "from 1e-06"),
    SPOILT("epsilon 1e-12 paper", 9, "privacy: {mode: paper, epsilon: 1e-12}",
           "@:9: privacy.epsilon: ", "from 1e-6 to 1e6, or inf"),
    SPOILT("epsilon huge", 9, "privacy: {mode: sound, epsilon: 1e6}",
           "@:9: privacy.epsilon: '1e6' ", "to 100000, or inf"),
    SPOILT("epsilon 1e999", 9, "privacy: {mode: paper, epsilon: 1e999}",
           "@:9: privacy.epsilon: '1e999' ", "to 100000, or inf"),
    SPOILT_WITH("epsilon times the agents huge", 9, "privacy: {mode: paper, epsilon: 1e5}",
                "@:9: privacy.epsilon: ", "times the agents that report) must be from 1e-6 to 1e6",
                .options = {"--set=agents=100"}),
    SPOILT("mode in capitals", 9, "privacy: {mode: Sound, epsilon: 1}",
           "@:9: privacy.mode: 'Sound' ", "allowed: paper, sound, none"),
    SPOILT("range in paper mode", 9, "privacy: {mode: paper, epsilon: 1, range: [0, 1]}",
           "@:9: privacy.range: ", "belongs to mode: sound"),
    SPOILT("range reversed", 9, "privacy: {mode: sound, epsilon: 1, range: [1, 0]}",
           "@:9: privacy.range: ", "allowed: the smaller first"),
    SPOILT("range empty", 9, "privacy: {mode: sound, epsilon: 1, range: [1, 1]}",
           "@:9: privacy.range: ", "allowed: the smaller first"),
    SPOILT("range of three", 9, "privacy: {mode: sound, epsilon: 1, range: [0, 1, 2]}",
           "@:9: privacy.range: ", "two numbers are expected"),
    SPOILT("range infinite", 9, "privacy: {mode: sound, epsilon: 1, range: [0, inf]}",
           "@:9: privacy.range: 'inf' ", "a number from -1000000000 to 1000000000"),

    /* Protocol, network, cost */
    SPOILT("participation off the star", 8,
           "network: {kind: ring}\nprotocol: {kind: elimination, participation: 0.5}",
           "@:9: protocol.participation: ", "belongs to network kind: star; allowed for others: 1"),
    SPOILT("rounds 0", 8, "protocol: {kind: elimination, rounds: 0}", "@:8: protocol.rounds: '0' ",
           "a whole number from 1 to 9999"),
    SPOILT("rounds beyond the limit", 8, "protocol: {kind: elimination, rounds: 10000}",
           "@:8: protocol.rounds: '10000' ", "from 1 to 9999"),
    SPOILT_WITH("sums that a sink cannot add up", 8, HYBRID("{agents: 500, kind: ring, count: 2}"),
                "--set: horizon: the sums of 1000 agents over 10000000000 slots do not fit",
                "fewer agents, or mode: paper",
                .options = {"--set=agents=1000", "--set=horizon=1e10"}),
    SPOILT("gap without rounds", 8, "protocol: {kind: elimination, gap: 0.1}",
           "@:8: protocol.gap: it has a meaning with rounds only; ", "give rounds too, or neither"),
    SPOILT("component_weights without a hybrid", 8,
           "protocol: {kind: elimination, component_weights: agents}",
           "@:8: protocol.component_weights: ", "belongs to network kind: hybrid"),
    SPOILT("sink_delay without a hybrid", 8, "protocol: {kind: elimination, sink_delay: farthest}",
           "@:8: protocol.sink_delay: ", "belongs to network kind: hybrid"),
    SPOILT("baseline that nobody plays", 2, "baselines: [best-of-all]",
           "@:2: baselines.0: 'best-of-all' is no baseline; ", "allowed:"),
    SPOILT("baselines without a list", 2, "baselines: uniform",
           "@:2: baselines: ", "a list of names is expected"),
    SPOILT("network of another family", 2, "network: {kind: broadcast}",
           "@:2: network.kind: 'broadcast' is not for protocol: elimination; ",
           "allowed: star, a graph (like ring), hybrid, alone"),

    /* Networks */
    SPOILT("a key of another graph", 8, NETWORK("ring, \n  degree: 2"),
           "@:9: network.degree: ", "belongs to kind: regular or small-world"),
    SPOILT("a key of a graph in a star", 8, NETWORK("star, graph_seed: 1"),
           "@:8: network.graph_seed: ", "belongs to kind: random, regular or small-world"),
    SPOILT("a key of a graph alone", 8, NETWORK("alone, file: edges.csv"),
           "@:8: network.file: ", "belongs to kind: edges"),
    SPOILT("a key of a graph in a hybrid", 8,
           NETWORK("hybrid, rows: 1, components: [{agents: 3, kind: ring}]"),
           "@:8: network.rows: ", "belongs to kind: grid"),
    SPOILT("components of a ring", 8, NETWORK("ring, components: [{agents: 3, kind: ring}]"),
           "@:8: network.components: ", "belongs to kind: hybrid"),
    SPOILT("grid rows 0", 8, NETWORK("grid, rows: 0"), "@:8: network.rows: '0' ",
           "a whole number from 1 to 1048576"),
    SPOILT("regular without a degree", 8, NETWORK("regular"),
           "@:8: network.degree: ", "missing; it must be given"),
    SPOILT("small world without rewiring", 8, NETWORK("small-world, degree: 2"),
           "@:8: network.rewiring_probability: ", "missing"),
    SPOILT("random graph that is never connected", 8, NETWORK("random,\n edge_probability: 1e-9"),
           "@:8: network: edge_probability is 0.000000001: no graph of 3 agents was connected ",
           "(2 ln n / n) is enough"),
    SPOILT_WITH("too many edges", 8, NETWORK("complete"), "@:8: network: too many edges: ",
                "allowed are 268435456", .options = {"--set=agents=24000"}),
    SPOILT_WITH(
        "horizon too short for an epoch and its delay", 8, NETWORK("path"),
        "--set: horizon: 100 is too short for the first round of 3 arms and 3 reports, with "
        "a delay of 1 slot; ",
        "allowed: at least ", .options = {"--set=horizon=100"}),

    /* Edges */
    SPOILT("edges without a file", 8, NETWORK("edges"), "@:8: network.file: ", "missing"),
    SPOILT("edges missing", 8, NETWORK("edges,\n  file: none.csv"),
           "@:9: network.file: %/none.csv: ", "No such file"),
    EDGES_ARE("edges in pieces", "# nothing\n0,1\n",
              "@:8: network.file: not connected: agents 0-1; agent", "allowed: a path between"),
    EDGES_ARE("no edges", "# nothing\n", "@:8: network.file: not connected: ", "a path between"),
    EDGES_ARE("edge of nobody", "0,1\n1,3\n", "%/edges.csv:2: '3' is out of range; ",
              "agents are numbered 0 to 2"),
    EDGES_ARE("edge of three", "0,1,2\n", "%/edges.csv:1: not an edge; ", "two different agents"),

    /* Hybrids */
    SPOILT("hybrid without components", 8, NETWORK("hybrid"), "@:8: network.components: missing; ",
           "is expected, like [{agents: 20, kind: ring}]"),
    SPOILT("hybrid of none", 8, HYBRID(""),
           "@:8: network.components: ", "a list of 1 to 1048576 is expected"),
    SPOILT("hybrid of a map", 8, NETWORK("hybrid, components: {agents: 3}"),
           "@:8: network.components: ", "a list of 1 to 1048576 is expected"),
    SPOILT("component is a number", 8, HYBRID("{agents: 1},\n  2"),
           "@:9: network.components: ", "a map is expected, like {agents: 20, kind: ring}"),
    SPOILT("component without a kind", 8, HYBRID("{agents: 1},\n  {agents: 2}"),
           "@:9: network.components.1.kind: ", "missing"),
    SPOILT("component key of another graph", 8, HYBRID("{agents: 3, kind: ring, file: x}"),
           "@:8: network.components.0.file: ", "belongs to kind: edges"),
    SPOILT("component's graph", 8,
           HYBRID("{agents: 1},\n  {agents: 2, kind: regular,\n degree: 2}"),
           "@:10: network.components.1: degree is 2: ", "allowed is 1 for 2 agents"),
    SPOILT("components of other agents", 8,
           HYBRID("{agents: 3, kind: ring}, {agents: 1, count: 4}"),
           "@:8: network.components: 7 agents in the components, but 'agents' is 3; ",
           "the two must be equal"),
    SPOILT_WITH("components of too many edges", 8,
                HYBRID("{agents: 20000, kind: complete, count: 2}"),
                "@:8: network.components: 399980000 edges in the components; ",
                "at most 268435456 are allowed", .options = {"--set=agents=40000"}),
    SPOILT("component that is never connected", 8,
           HYBRID("{agents: 1},\n {agents: 2, kind: random, edge_probability: 0}"),
           "@:9: network.components.1: edge_probability is 0: no graph of 2 agents ",
           "was connected in 100 draws"),
    SPOILT_WITH("component in pieces", 8,
                HYBRID("{agents: 1},\n {agents: 3, kind: edges, file: edges.csv}"),
                "@:9: network.components.1.file: not connected: agents 0, 2; agent",
                "allowed: a path between any two agents", .options = {"--set=agents=4"},
                .edges = "2,0\n"),
    SPOILT("component's edges missing", 8, HYBRID("{agents: 3, kind: edges,\n  file: none.csv}"),
           "@:9: network.components.0.file: %/none.csv: ", "No such file"),

    /* Environment */
    SPOILT("means and generated", 7, MEANS("bernoulli", ", generated: {arms: 5}"),
           "@:7: environment: ", "give one of 'means' (a CSV file) and 'generated'"),
    SPOILT("neither means nor generated", 7, "environment: {kind: bernoulli}",
           "@:7: environment: ", "give one of 'means' (a CSV file) and 'generated'"),
    SPOILT("apart without a gap", 7,
           "environment: {kind: bernoulli, generated: {arms: 3, draw: apart, best: 0.5}}",
           "@:7: environment.generated.gap: ", "missing"),
    SPOILT("apart below 0", 7,
           "environment: {kind: bernoulli, generated: {arms: 3, draw: apart, best: 0.5, gap: 0.6}}",
           "@:7: environment.generated.gap: ", "allowed: up to 'best'"),
    SPOILT("apart with a seed", 7,
           "environment: {kind: bernoulli, generated: {arms: 3, draw: apart, best: 0.5, gap: 0.1, "
           "instance_seed: 1}}",
           "@:7: environment.generated.instance_seed: ", "nothing is drawn here"),
    SPOILT("a gap of a drawn instance", 7,
           "environment: {kind: bernoulli, generated: {arms: 3, gap: 0.1}}",
           "@:7: environment.generated.gap: ", "belongs to draw: apart"),
    SPOILT("gaussian without sd", 7, MEANS("gaussian", ""),
           "@:7: environment.gaussian: ", "missing"),
    SPOILT("gaussian sound without range", 7, MEANS("gaussian", ", gaussian: {sd: 1}"),
           "@:9: privacy: ", "sound mode needs 'range'"),
    SPOILT_WITH("gaussian far means with rounds", 7, MEANS("gaussian", ", gaussian: {sd: 1}"),
                "@:8: protocol: ", "'rounds' then needs 'gap': a number above 0 and up to 1",
                .options = {"--set=privacy={mode: none}", "--set=protocol.rounds=5"},
                .means = "5,0,1\n"),
    SPOILT("bernoulli with sd", 7, MEANS("bernoulli", ", gaussian: {sd: 1}"),
           "@:7: environment.gaussian: ", "belongs to kind: gaussian"),
    SPOILT("bernoulli with a log", 7, MEANS("bernoulli", ", logged: {csv: log.csv}"),
           "@:7: environment.logged: ", "belongs to kind: logged"),

    /* Means */
    SPOILT("means missing", 7, "environment: {kind: bernoulli,\n means: none.csv}",
           "@:8: environment.means: %/none.csv: ", "No such file"),
    SPOILT("means a folder", 7, "environment: {kind: bernoulli, means: .}",
           "@:7: environment.means: %/.: ", "Is a directory"),
    MEANS_ARE("means above 1", "0.5,1.01\n", "%/means.csv:1: column 2: '1.01' is out of range; ",
              "means are numbers from 0 to 1"),
    MEANS_ARE("means ragged", "0.5,0.5\n0.5\n0.5,0.5\n",
              "%/means.csv:2: 1 field, but line 1 has 2; ", "every row has one field an arm"),
    MEANS_ARE("means one arm", "0.5\n", "@:7: environment.means: means.csv has 1 arm; ",
              "at least 2 are needed"),
    MEANS_ARE("means rows are not agents", "0.5,0.4\n0.5,0.4\n",
              "@:7: environment.means: means.csv has 2 rows, but there are 3 agents; ",
              "allowed: 1 row (all agents alike) or one an agent"),

    /* Logs */
    SPOILT("log missing", 7, LOGGED("csv: none.csv, agent: site, arm: drug, reward: y"),
           "@:9: environment.logged.csv: 'none.csv' is neither beside this file nor in ",
           "allowed: a CSV file there, or a 'fallback' with arm means"),
    SPOILT("log and its fallback missing", 7,
           LOGGED("csv: none.csv, fallback: nor.csv, agent: site, arm: drug, reward: y"),
           "@:9: environment.logged.fallback: %/nor.csv: ", "No such file"),
    SPOILT("log agent and split", 7,
           LOGGED("csv: log.csv, agent: site, split: random, arm: drug, reward: y"),
           "@:9: environment.logged: ",
           "give one of 'agent' (the column that says whose row it is) and 'split'"),
    SPOILT("log neither agent nor split", 7, LOGGED("csv: log.csv, arm: drug, reward: y"),
           "@:9: environment.logged: ", "give one of 'agent'"),
    SPOILT("log with means", 7, "environment: {kind: logged, means: means.csv}",
           "@:7: environment.means: ", "belongs to kind: bernoulli, constant or gaussian"),
    SPOILT("log unknown column", 7, LOGGED("csv: log.csv, agent: site, arm: pill, reward: y"),
           "%/log.csv:1: no column 'pill'; ", "the columns are site, drug, y"),
    SPOILT_WITH("log other number of agents", 7,
                LOGGED("csv: log.csv, agent: site, arm: drug, reward: y"),
                "%/log.csv: column 'site' has 3 values, but the number of agents is 2; ",
                "the two must be equal", .options = {"--set=agents=2"}),
    SPOILT_WITH("log one arm", 7, LOGGED("csv: log.csv, agent: site, arm: y, reward: y"),
                "@:9: environment.logged.arm: 1 arm; ", "at least 2 are needed",
                .log = "site,y\na,1\nb,1\nc,1\n"),
    SPOILT_WITH("log reward is no number", 7,
                LOGGED("csv: log.csv, agent: site, arm: drug, reward: y"), "%/log.csv:3: ", "'yes'",
                .options = {"--set=agents=1"}, .log = "site,drug,y\na,x,1\na,z,yes\n"),
    SPOILT_WITH("log reward outside 0 and 1 sound", 7,
                LOGGED("csv: log.csv, agent: site, arm: drug, reward: y"),
                "@:11: privacy: ", "sound mode needs 'range': the public bounds of a reward",
                .log = "site,drug,y\na,x,1\na,z,0.5\nb,x,1\nb,z,1\nc,x,0\nc,z,1.5\n"),
    SPOILT("log one arm by rules", 7, ARMS(ARM("p")), "@:9: environment.logged.arm: 1 arms; ",
           "at least 2 are needed"),
    SPOILT("log arm is a word", 7, ARMS("p, q"), "@:9: environment.logged.arm: ",
           "a map is expected, like {name: insulin, any: [insulin], equals: Steady}"),
    SPOILT("log arm any and all", 7,
           ARMS(ARM("p") ", {name: q, any: [drug], all: [drug], equals: z}"),
           "@:9: environment.logged.arm: ", "give one of 'any' and 'all'"),
    SPOILT("log arm without columns", 7, ARMS(ARM("p") ", {name: q, any: [], equals: z}"),
           "@:9: environment.logged.arm.any: ", "a list of column names is expected"),
    SPOILT("log arm twice", 7, ARMS(ARM("p") ",\n " ARM("p")),
           "@:10: environment.logged.arm.name: 'p' ", "arms have different names"),
    SPOILT("fallback has another number of arms", 7,
           LOGGED("csv: none.csv, fallback: means.csv, agent: site, reward: y, arm: [" ARM(
               "p") ", " ARM("q") "]"),
           "@:9: environment.logged.fallback: means.csv has 3 columns, but there are 2 arms; ",
           "allowed: one column an arm"),

    /* Settings */
    OPTION("set without =", "--set", "privacy.epsilon",
           "--set privacy.epsilon: ", "not of the form key=value, like privacy.epsilon=0.5"),
    OPTION("set without a value", "--set", "seed=", "--set seed=: ", "not of the form key=value"),
    OPTION("set without a key", "--set", "=5", "--set =5: ", "not of the form key=value"),
    OPTION("set a blank", "--set", "seed= ", "--set seed= : empty; ", "a value is expected"),
    OPTION("set an empty key", "--set", "privacy..epsilon=1",
           "--set privacy..epsilon=1: ", "keys look like privacy.epsilon"),
    OPTION("set an unknown key", "--set", "privcy.epsilon=1",
           "--set: privcy: ", "did you mean 'privacy'?"),
    OPTION("set a key without its section", "--set", "epsilon=2",
           "--set: epsilon: ", "did you mean 'privacy.epsilon'?"),
    OPTION("set an unknown key in a section", "--set", "privacy.eps=1",
           "--set: privacy.eps: ", "did you mean 'epsilon'?"),
    OPTION("set into a single value", "--set", "seed.x=1",
           "--set seed.x=1: ", "only maps have keys"),
    OPTION("set a wrong value", "--set", "privacy.epsilon=0", "--set: privacy.epsilon: '0' ",
           "a number from 1e-06"),
    OPTION("set what is not YAML", "--set", "seed=[1", "--set seed=[1: not YAML",
           "did not find expected"),
    OPTION("set two documents", "--set", "seed=1\n---\n2",
           "--set seed=1?---?2: ", "one document is allowed"),
    OPTION("runs abc", "--runs", "abc", "--set: runs: 'abc' ",
           "allowed: a whole number from 1 to 1000000"),
};
#define CASE_COUNT (sizeof cases / sizeof cases[0])

/* Refused after as many searches as anybody waits for: minutes under a sanitizer. */
static const struct wrong slow_cases[] = {
    {.name = "a graph whose delay takes hours to know",
     .line = 8,
     .text = NETWORK("regular, degree: 8"),
     .options = {"--set", "agents=300000"},
     .begins = "@:8: network: its diameter is from ",
     .says = " hours of searches; allowed: a graph of which they are known sooner"},
};

/* ---- Writing a case down ---- */

static void experiment_text(char text[TEXT_BYTES], uint32_t line, const char *instead)
{
    text[0] = '\0';
    for (uint32_t i = 0; i < BASE_LINES; i++) {
        on_file_append(text, i + 1 == line ? instead : base[i]);
        on_file_append(text, "\n");
    }
}

static void write_case(const char *directory, const struct wrong *wrong)
{
    char text[TEXT_BYTES];
    experiment_text(text, wrong->line, wrong->text);
    temp_file_write(directory, "experiment.yaml", wrong->file != NULL ? wrong->file : text);
    temp_file_write(directory, "means.csv", wrong->means != NULL ? wrong->means : base_means);
    temp_file_write(directory, "edges.csv", wrong->edges != NULL ? wrong->edges : base_edges);
    temp_file_write(directory, "log.csv", wrong->log != NULL ? wrong->log : base_log);
}

/* ---- What every refusal has in common ---- */

static void assert_refused(const char *const *arguments, const char *begins, const char *says)
{
    /* No data set is found, whoever runs the test. */
    static const char *const environment[] = {"TACIT_DATA=", "HOME=/nonexistent", NULL};
    struct process_plan const plan = {.arguments = arguments, .environment = environment};
    on_file_expect_refusal(&plan, begins, says);
}

static void case_is_refused(void **state)
{
    struct wrong const *const wrong = *state;
    char directory[TEMP_PATH_BYTES];
    char file[TEMP_PATH_BYTES];
    char out[TEMP_PATH_BYTES];
    char begins[TEXT_BYTES];
    temp_directory_make(directory);
    temp_path(file, directory, "experiment.yaml");
    temp_path(out, directory, "out");
    write_case(directory, wrong);
    on_file_expand(begins, wrong->begins, directory, "/experiment.yaml");
    const char *arguments[OPTIONS_MAX + 7] = {process_tacit(), "run", file, "--out", out, "--json"};
    for (size_t i = 0; i < OPTIONS_MAX; i++)
        arguments[6 + i] = wrong->options[i];
    assert_refused(arguments, begins, wrong->says);
    if (wrong->options[0] == NULL) {
        const char *const check[] = {process_tacit(), "check", file, NULL};
        assert_refused(check, begins, wrong->says);
    }
    assert_int_equal(on_file_count(directory), 4);
    temp_directory_remove(directory);
}

/* ---- The command line ---- */

struct usage {
    const char *arguments[OPTIONS_MAX];
    const char *begins;
    const char *says;
};

static const struct usage usages[] = {
    {{"run"}, "tacit run: no experiment file given; ", "usage: tacit run FILE"},
    {{"check"}, "tacit check: no experiment file given; ", "usage: tacit check FILE"},
    {{"run", "a.yaml", "b.yaml"}, "tacit run: one experiment file at a time; ", "'b.yaml'"},
    {{"run", "a.yaml", "--thread", "0"},
     "tacit run: --threads: '0' ",
     "a whole number from 1 to 1024"},
    {{"run", "a.yaml", "--threads", "1025"}, "tacit run: --threads: '1025' ", "from 1 to 1024"},
    {{"run", "a.yaml", "--threads="}, "tacit run: --threads: '' ", "from 1 to 1024"},
    {{"run", "a.yaml", "--threads"},
     "tacit run (see 'tacit run --help'): ",
     "requires an argument"},
    {{"run", "a.yaml", "--fast"},
     "tacit run (see 'tacit run --help'): ",
     "unrecognized option '--fast'"},
    {{"run", "a.yaml", "-x"}, "tacit run (see 'tacit run --help'): ", "invalid option -- 'x'"},
    {{"run", "a.yaml", "--json=yes"},
     "tacit run (see 'tacit run --help'): ",
     "doesn't allow an argument"},
    {{"run", "a.yaml", "--se", "1"}, "tacit run (see 'tacit run --help'): ", "'--set' '--seed'"},
    {{"check", "a.yaml", "--runs", "4"}, "tacit check (see 'tacit check --help'): ", "'--runs'"},
    {{"run", "/nonexistent/a.yaml"}, "/nonexistent/a.yaml: ", "No such file"},
    {{"check", "/nonexistent/a.yaml"}, "/nonexistent/a.yaml: ", "No such file"},
    {{"run", "/"}, "/: cannot be read: ", "Is a directory"},
    {{"run", ""}, ": ", "No such file"},
    {{"run", "/dev/zero"}, "/dev/zero: too large; ", "1048576 bytes are allowed"},
    {{"compare", "-"}, "tacit compare: standard input is read once", "allowed: files"},
    {{"walk"},
     "tacit: unknown command 'walk'; ",
     "allowed: run, check, compare, plan, evaluate, reproduce, data"},
    {{""},
     "tacit: unknown command ''; ",
     "allowed: run, check, compare, plan, evaluate, reproduce, data"},
    {{"help", "metrics", "agent"},
     "tacit help metrics: 'agent' is no file or protocol; ",
     "allowed: elimination, "},
    {{"coordinator", "--config", "/nonexistent/a.yaml", "--run", "1"},
     "tacit coordinator: --run names the run of a state that is lost: ",
     "use it with --new-term, --recover or --end-run"},
    {{"coordinator", "--check", "/nonexistent/a.yaml", "--end-run"},
     "tacit coordinator: allowed is one of ",
     "--new-term, --recover"},
    {{"control", "/nonexistent", "quorum", "2", "quorum", "3"},
     "tacit control: quorum and deadline are each said once; ",
     "tacit control --help"},
    {{"data"}, "tacit data: cannot do ''; ", "allowed: list, verify [NAME...], path NAME"},
    {{"data", "fetch"},
     "tacit data: cannot do 'fetch'; ",
     "allowed: list, verify [NAME...], path NAME"},
    {{"data", "path"}, "tacit data: cannot do 'path'; ", "path NAME"},
    {{"data", "list", "mnist"}, "tacit data: cannot do 'list'; ", "allowed: list"},
    {{"data", "verify", "imagenet"},
     "tacit data: 'imagenet' is not a data set that tacit knows; ",
     "allowed: diabetes130, mnist, "},
    {{"data", "path", "imagenet"},
     "tacit data: 'imagenet' is not a data set that tacit knows; ",
     "allowed: diabetes130, mnist, "},
};

TEST(wrong_usage)
{
    for (size_t i = 0; i < sizeof usages / sizeof usages[0]; i++) {
        const char *arguments[OPTIONS_MAX + 2] = {process_tacit()};
        for (size_t j = 0; j < OPTIONS_MAX; j++)
            arguments[j + 1] = usages[i].arguments[j];
        assert_refused(arguments, usages[i].begins, usages[i].says);
    }
}

TEST(no_command)
{
    assert_string_equal(
        PROCESS_EXPECT(process_tacit_run((struct process_plan){0}, PROCESS_WORDS(NULL)), 2,
                       "Usage: tacit COMMAND"),
        "");
}

TEST(too_many_settings)
{
    const char *arguments[2 * 65 + 4] = {process_tacit(), "run", "a.yaml"};
    for (size_t i = 0; i < 65; i++) {
        arguments[3 + 2 * i] = "--set";
        arguments[4 + 2 * i] = "seed=1";
    }
    assert_refused(arguments, "tacit run: too many settings; ", "64 are allowed");
}

/* ---- Large hostile files end soon ---- */

static void assert_refused_soon(const char *text, size_t size, const char *says)
{
    char directory[TEMP_PATH_BYTES];
    char file[TEMP_PATH_BYTES];
    temp_directory_make(directory);
    temp_path(file, directory, "experiment.yaml");
    temp_file_write_bytes(directory, "experiment.yaml", text, size);
    struct process_plan const plan = {.timeout_ms = 60000};
    on_file_expect_wrong(process_tacit_run(plan, PROCESS_WORDS("check", file)), says, says);
    temp_directory_remove(directory);
}

/* Repeats a pattern that may hold one %zu. */
static char *repeat(const char *pattern, size_t count, size_t *size)
{
    char *const text = testing_malloc(count * 16);
    *size = 0;
    for (size_t i = 0; i < count; i++) {
        char const *const number = strstr(pattern, "%zu");
        int const head = number == NULL ? (int)strlen(pattern) : (int)(number - pattern);
        *size += (size_t)snprintf(text + *size, 16, "%.*s", head, pattern);
        if (number != NULL)
            *size += (size_t)snprintf(text + *size, 16, "%zu%s", i, number + 3);
    }
    return text;
}

TEST(hostile_files)
{
    static const struct {
        const char *pattern;
        size_t count;
        const char *says;
    } files[] = {
        {"[", 100000, ":1: nested too deeply; 16 levels are allowed"},
        {"- ", 100000, ":1: nested too deeply; 16 levels are allowed"},
        {"{a: ", 100000, ":1: nested too deeply; 16 levels are allowed"},
        {"? ", 100000, ":1: nested too deeply; 16 levels are allowed"},
        {"k%zu: 1\n", 60000, ":1: too many keys; 1000 are allowed"},
        {"- %zu\n", 110000, "too large; 100000 values are allowed"},
        {"          \n", 100000, "too large; 1048576 bytes are allowed"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        size_t size;
        char *const text = repeat(files[i].pattern, files[i].count, &size);
        assert_refused_soon(text, size, files[i].says);
        testing_free(text);
    }
}

/* ---- The other side of the limits ---- */

static struct process_result run_with(const char *directory, const char *command,
                                      const char *const settings[OPTIONS_MAX])
{
    char file[TEMP_PATH_BYTES];
    const char *arguments[2 * OPTIONS_MAX + 4] = {process_tacit(), command, file};
    temp_path(file, directory, "experiment.yaml");
    for (size_t i = 0; i < OPTIONS_MAX && settings[i] != NULL; i++) {
        arguments[3 + 2 * i] = "--set";
        arguments[4 + 2 * i] = settings[i];
    }
    struct process_plan const plan = {.arguments = arguments};
    return process_run(&plan);
}

/* Where nothing is private by default the section may be left out. */
TEST(a_contextual_experiment_needs_no_privacy_section)
{
    static const struct wrong right = {
        .name = "right",
        .file =
            "name: g\nseed: 1\nruns: 1\nhorizon: 50\nagents: 2\nenvironment: {kind: contextual, "
            "contextual: {dimension: 3, arms: 4}}\nprotocol: {kind: glm-ucb, threshold: 1}\n"};
    static const char *const no_options[OPTIONS_MAX] = {NULL};
    char directory[TEMP_PATH_BYTES];
    temp_directory_make(directory);
    write_case(directory, &right);
    (void)PROCESS_EXPECT(run_with(directory, "check", no_options), 0, "");
    temp_directory_remove(directory);
}

TEST(limits_are_allowed)
{
    static const char *const rights[][OPTIONS_MAX] = {
        {NULL},
        {"privacy.epsilon=inf"},
        {"privacy.epsilon=.inf"},
        {"privacy.epsilon=1e-6"},
        {"privacy.epsilon=100000"},
        {"privacy={mode: paper, epsilon: inf}"},
        {"privacy={mode: paper, epsilon: 1e5}"},
        {"privacy={mode: none}"},
        {"privacy={mode: none, epsilon: 1}"},
        {"privacy.range=[-1, 2]"},
        {"protocol.rounds=none"},
        {"protocol.rounds=1"},
        {"protocol.rounds=9999"},
        {"protocol.participation=1"},
        {"protocol.participation=1e-9"},
        {"protocol.component_weights=components",
         "network={kind: hybrid, components: [{agents: 3, kind: path}]}"},
        {"agents=1"},
        {"agents=1048576"},
        {"seed=0"},
        {"seed=18446744073709551615"},
        {"runs=1e6"},
        {"horizon=1099511627776"},
        {"checkpoints=1"},
        {"checkpoints=10000"},
        {"checkpoints=[1, 20000]"},
        {"environment={kind: bernoulli, generated: {arms: 2}}"},
        {"environment={kind: constant, generated: {arms: 65536}}", "horizon=1e12"},
        {"environment={kind: gaussian, means: means.csv, gaussian: {sd: 2}}",
         "privacy.range=[0, 1]"},
        {"network={kind: star}", "cost={server_link: 0, peer_link: 0}"},
        {"network={kind: alone}"},
        {"network={kind: complete}", "agents=5000"},
        {"network={kind: ring}", "agents=1048576"},
        {"network={kind: ring}", "agents=1"},
        {"network={kind: star-graph}", "agents=1"},
        {"network={kind: grid}", "agents=12"},
        {"network={kind: grid, rows: 3}"},
        {"network={kind: random}"},
        {"network={kind: random}", "agents=1"},
        {"network={kind: random, edge_probability: 1}"},
        {"network={kind: random, graph_seed: 18446744073709551615}"},
        {"network={kind: regular, degree: 2}"},
        {"network={kind: regular, degree: 0}", "agents=1"},
        {"network={kind: small-world, degree: 2, rewiring_probability: 0}"},
        {"network={kind: small-world, degree: 2, rewiring_probability: 1}"},
        {"network={kind: edges, file: edges.csv}"},
        {"network={kind: hybrid, components: [{agents: 3, kind: path}]}"},
        {"network={kind: hybrid, components: [{agents: 1, count: 1048576}]}", "agents=1048576",
         "horizon=1e6"},
        {"network={kind: hybrid, components: [{agents: 3, kind: edges, file: edges.csv}]}"},
    };
    struct wrong const right = {.name = "right", .line = 4, .text = "horizon: 1e10"};
    char directory[TEMP_PATH_BYTES];
    temp_directory_make(directory);
    write_case(directory, &right);
    for (size_t i = 0; i < sizeof rights / sizeof rights[0]; i++) {
        struct process_result result = run_with(directory, "check", rights[i]);
        if (result.code != 0)
            print_error("%s: %s", rights[i][0], result.err);
        assert_int_equal(result.code, 0);
        assert_string_equal(result.err, "");
    }
    temp_directory_remove(directory);
}

/* The minimum that a refusal of a short horizon names. */
static unsigned long long least_horizon(const char *directory,
                                        const char *const settings[OPTIONS_MAX])
{
    static const char words[] = "allowed: at least ";
    struct process_result result = run_with(directory, "check", settings);
    (void)PROCESS_EXPECT(result, 2, words);
    return strtoull(strstr(result.err, words) + strlen(words), NULL, 10);
}

/* With the least horizon the first epoch ends, in every run; with one slot less it is refused. */
TEST(least_horizon_is_least)
{
    static const char *const configurations[][OPTIONS_MAX - 1] = {
        {NULL},
        {"privacy={mode: paper, epsilon: 1}"},
        {"privacy={mode: none}"},
        {"privacy.epsilon=0.01"},
        {"agents=1"},
        {"agents=1000"},
        {"agents=100", "protocol.participation=0.07"},
        {"protocol.rounds=3"},
        {"protocol={kind: elimination, rounds: 4, gap: 0.05}"},
        {"environment={kind: bernoulli, generated: {arms: 37}}"},
        {"agents=50", "network={kind: ring}"},
        {"agents=60", "network={kind: complete}"},
        {"agents=12", "network={kind: hybrid, components: [{agents: 6, kind: path, count: 2}]}"},
        {"agents=20", "network={kind: alone}"},
    };
    struct wrong const right = {.name = "right"};
    char directory[TEMP_PATH_BYTES];
    temp_directory_make(directory);
    write_case(directory, &right);
    for (size_t i = 0; i < sizeof configurations / sizeof configurations[0]; i++) {
        char horizon[40] = "horizon=2";
        const char *settings[OPTIONS_MAX] = {horizon};
        for (size_t j = 0; j + 1 < OPTIONS_MAX; j++)
            settings[j + 1] = configurations[i][j];
        unsigned long long const least = least_horizon(directory, settings);
        (void)snprintf(horizon, sizeof horizon, "horizon=%llu", least - 1);
        assert_int_equal(least_horizon(directory, settings), least);
        (void)snprintf(horizon, sizeof horizon, "horizon=%llu", least);
        char *const said = PROCESS_EXPECT(run_with(directory, "run", settings), 0, "  rounds ");
        assert_true(strtod(strstr(said, "  rounds ") + strlen("  rounds "), NULL) >= 1);
    }
    temp_directory_remove(directory);
}

int main(void)
{
    TESTING_ADD_CASES(cases, case_is_refused);
    if (!effort_is_brief())
        TESTING_ADD_CASES(slow_cases, case_is_refused);
    return testing_run(NULL, NULL);
}
