/* The files of the daemons: what a site allows, what a coordinator wants, what a helper serves. */
#include "tacit/config.h"
#include "network.h"
#include "reader.h"
#include "tacit/wire.h"
#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX UINT32_C(31536000)
#define OPEN_MAX UINT32_C(10000000)
#define SOCKET_PATH_BYTES_MAX 107u /* what the system takes */

/* ---- What fits ---- */

static bool is_name(const char *text)
{
    size_t const length = strlen(text);
    return length >= 1 && length <= 64 &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
               length;
}
#define NAME_FORM .fits = is_name, .form = "1 to 64 letters, digits, _ and -"

/* These three are names of certificates. */
static bool is_site_name(const char *name)
{
    return is_name(name) && strcmp(name, "coordinator") != 0 && strcmp(name, "broker") != 0 &&
           strcmp(name, "helper") != 0;
}
#define SITE_NAME_FORM                                                                             \
    .fits = is_site_name,                                                                          \
    .form = "1 to 64 letters, digits, _ and -, but coordinator, broker and helper"

static bool is_host(const char *text)
{
    return text[0] != '\0' && strlen(text) <= 253 && strpbrk(text, " /@[]") == NULL;
}

static bool is_fingerprint(const char *text)
{
    return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}
#define FINGERPRINT_FORM                                                                           \
    .fits = is_fingerprint, .form = "64 of 0-9 a-f, as tacit helper fingerprint prints them"

#define ARM_NAMES_FORM                                                                             \
    .fits = tacit_wire_is_arm_name,                                                                \
    .form = "1 to 64 bytes, without line breaks or other control characters"

/* ---- Keys ---- */

static const struct config_choice runs_words[] = {{"ask", 0}, {"join", 1}, {NULL, 0}};
static const struct config_choice log_formats[] = {{"text", 0}, {"json", 1}, {NULL, 0}};
#define EPSILON_RANGE CONFIG_FROM(1e-6, 1e6)
#define RANGE_FORM .form = "two numbers, like [0, 1], within -1e9 to 1e9"

static const struct config_key broker_keys[] = {
    {"host", NULL, "it stands in the broker's certificate",
     CONFIG_TO_TEXT(tacit_config_broker, host), .fits = is_host,
     .form = "a host name or an address"},
    {"port", "8883", "", CONFIG_TO_PORT(tacit_config_broker, port)},
    {"ca", NULL, "PEM, as the files below", CONFIG_TO_PATH(tacit_config_broker, ca_file)},
    {"certificate", NULL, "", CONFIG_TO_PATH(tacit_config_broker, certificate_file)},
    {"key", NULL, "of mode 0600", CONFIG_TO_PATH(tacit_config_broker, key_file)},
    {"signing_certificate", "(NAME.sign.crt beside the certificate)",
     "of the pair that messages are signed with",
     CONFIG_TO_PATH(tacit_config_broker, signing_certificate_file)},
    {"signing_key", "(NAME.sign.key beside the key)", "of mode 0600",
     CONFIG_TO_PATH(tacit_config_broker, signing_key_file)},
    {"signing_password", "(the key is not encrypted)", "its first line opens signing_key",
     CONFIG_TO_PATH(tacit_config_broker, signing_password_file)},
    {.name = NULL}};

static const struct config_key listener_keys[] = {
    {"unix", "(the port)", "a socket of mode 0660; of up to 107 bytes",
     CONFIG_TO_PATH(tacit_config_listener, unix_path)},
    {"port", "(the socket)", "of 127.0.0.1", CONFIG_TO_PORT(tacit_config_listener, port)},
    {.name = NULL}};

static const struct config_key observe_keys[] = {
    {"listen", NULL,
     "a private address, or any with the keys below: 127.0.0.0/8, 10.0.0.0/8, 172.16.0.0/12, "
     "192.168.0.0/16, ::1, fc00::/7",
     CONFIG_TO_TEXT(tacit_config_observe, address),
     .form = "an address in numbers and a port, like 10.0.0.5:9464 or [fd00::5]:9464"},
    {"certificate", "", "of who serves", CONFIG_TO_PATH(tacit_config_observe, certificate_file)},
    {"key", "", "", CONFIG_TO_PATH(tacit_config_observe, key_file)},
    {"ca", "", "of who looks", CONFIG_TO_PATH(tacit_config_observe, ca_file)},
    {"clients", "", "names in the certificates of who looks",
     CONFIG_TO_NAMES(tacit_config_observe, clients, client_count, 1, 1024), ARM_NAMES_FORM},
    {.name = NULL}};

struct trust {
    uint32_t aggregators;
    double floor;
    const char *helper;
};
static const struct config_key trust_keys[] = {
    {"aggregators", NULL,
     "2: of elimination, phased-index, select and votes; a quorum is 2 or more",
     CONFIG_TO_U32(trust, aggregators, 1, 2)},
    {"floor", "(none)", "epsilon of the noise that each site keeps adding, in thousandths",
     CONFIG_TO_REAL(trust, floor, CONFIG_FROM(1e-3, 1e5))},
    {"helper", "(must be given with 2)", "of the helper's key", CONFIG_TO_TEXT(trust, helper),
     FINGERPRINT_FORM},
    {.name = NULL}};

/* What the files of agent, coordinator and helper have alike. */
static const struct config_key log_keys[] = {
    {"format", "text", "", CONFIG_TO_FLAG(tacit_config_daemon, log_is_json, log_formats)},
    {"file", "(stderr)", "of mode 0600; lines are appended",
     CONFIG_TO_PATH(tacit_config_daemon, log_file)},
    {.name = NULL}};
#define FEDERATION_KEY                                                                             \
    {                                                                                              \
        "federation", NULL, "the same everywhere",                                                 \
            CONFIG_TO_TEXT(tacit_config_daemon, federation), NAME_FORM                             \
    }
#define PROTOCOL_KEY                                                                               \
    {                                                                                              \
        "protocol", "(elimination)", "the same everywhere",                                        \
            .form = "elimination, phased-index, votes, gossip-ucb, glm-ucb or select"              \
    }
#define STATE_KEYS                                                                                 \
    {"state", NULL, "directory, made with mode 0700",                                              \
     CONFIG_TO_PATH(tacit_config_daemon, state_directory)},                                        \
    {                                                                                              \
        "broker", NULL, "", CONFIG_TO_PART(tacit_config_daemon, broker, broker_keys)               \
    }
#define LOG_KEY                                                                                    \
    {                                                                                              \
        "log", "", "", CONFIG_TO_SAME(log_keys)                                                    \
    }
#define WATCH_KEYS                                                                                 \
    LOG_KEY,                                                                                       \
        {"waiting_after_s", "60", "what has not moved for so long, tacit status says",             \
         CONFIG_TO_U32(tacit_config_daemon, waiting_after_s, 1, SECONDS_MAX)},                     \
        {"group_readable", "false", "keys and state may be open to a group of the daemon",         \
         CONFIG_TO_FLAG(tacit_config_daemon, group_readable, config_false_true)},                  \
        {"observe", "(nobody may look)", "page, health and metrics for other machines",            \
         CONFIG_TO_PART(tacit_config_daemon, observe, observe_keys)},                              \
    {                                                                                              \
        "disk_low_mib", "64", "less room where the state is asks for attention",                   \
            CONFIG_TO_U32(tacit_config_daemon, disk_low_mib, 1, UINT32_MAX)                        \
    }
#define STATUS_KEY(paths)                                                                          \
    {                                                                                              \
        "status", NULL, paths "; one of",                                                          \
            CONFIG_TO_PART(tacit_config_daemon, listener, listener_keys)                           \
    }
#define ARMS_KEY(of)                                                                               \
    {                                                                                              \
        "arms", NULL,                                                                              \
            "the options, in the same order everywhere; of select: the names of the sites",        \
            CONFIG_TO_NAMES(tacit_config_##of, arm_names, arm_count, 2, TACIT_ARMS_MAX),           \
            ARM_NAMES_FORM                                                                         \
    }

static const struct config_key policy_keys[] = {
    {"epsilon", "(must be given; not of glm-ucb)",
     "what one reward loses; sets the noise. Of select: the most that one update may cost",
     CONFIG_TO_REAL(tacit_config_agent, epsilon, EPSILON_RANGE)},
    {"budget", "(must be given; not of glm-ucb)",
     "at least epsilon: the most that one reward may lose in this state; of select the whole data "
     "set, in all rounds",
     CONFIG_TO_REAL(tacit_config_agent, budget, EPSILON_RANGE)},
    {"range", NULL, "that of run.range; what is outside is clipped", RANGE_FORM},
    {"agents_max", NULL, "largest run that is joined",
     CONFIG_TO_U32(tacit_config_agent, agents_max, 1, TACIT_AGENTS_MAX)},
    {"pulls_max", NULL, "largest horizon that is joined",
     CONFIG_TO_U64(tacit_config_agent, pulls_max, 1, TACIT_HORIZON_MAX)},
    {"rewards_per_unit_max", "(no limit)",
     "rewards of one person that enter anything, over all runs",
     CONFIG_TO_U32(tacit_config_agent, rewards_per_unit_max, 1, 1000000)},
    {"trust", "(one aggregator)",
     "a run is joined only if it says the same, and its helper has this key", .inner = trust_keys},
    {"rounds_max", "(must be given; not of gossip-ucb)",
     "most rounds that are answered; of votes: draws",
     CONFIG_TO_U32(tacit_config_agent, rounds_max, 1, 10000)},
    {.name = NULL}};

static const struct config_key decisions_keys[] = {
    {"wait_s", "(60, or deadline_s)", "for its reward, at first; up to deadline_s",
     CONFIG_TO_U32(tacit_config_agent, wait_s, 1, SECONDS_MAX)},
    {"deadline_s", "86400", "and at most",
     CONFIG_TO_U32(tacit_config_agent, deadline_s, 1, SECONDS_MAX)},
    {"remember_s", "604800",
     "a closed decision is remembered on disk (some 60 bytes, 60 more with its key)",
     CONFIG_TO_U32(tacit_config_agent, remember_s, 0, SECONDS_MAX)},
    {"open_max", "100000", "open decisions; beyond, 429",
     CONFIG_TO_U32(tacit_config_agent, open_max, 1, OPEN_MAX)},
    {"units_max", "1000000", "people whose rewards are counted",
     CONFIG_TO_U32(tacit_config_agent, units_max, 1, 100000000)},
    {"caller_open_max", "(half of open_max)", "open decisions of one caller; beyond, 429",
     .form = "1 to open_max"},
    {"caller_calls_per_s", "50000",
     "requests, and elements of batches, of one caller; beyond, 429 with Retry-After",
     CONFIG_TO_U32(tacit_config_agent, caller_calls_per_s, 1, 1000000)},
    {.name = NULL}};

static const struct config_key missing_keys[] = {
    {"after_s", NULL, "each decision is closed exactly so long after it was made",
     CONFIG_TO_U32(tacit_config_agent, missing_after_s, 1, SECONDS_MAX)},
    {"counts_as", NULL, "with its reward, or else with this", .form = "a number of policy.range"},
    {.name = NULL}};

static const struct config_key agent_keys[] = {
    FEDERATION_KEY,
    PROTOCOL_KEY,
    {"site", NULL, "its name in its certificate", CONFIG_TO_TEXT(tacit_config_daemon, name),
     SITE_NAME_FORM},
    STATE_KEYS,
    ARMS_KEY(agent),
    {"policy", NULL, "what the site allows", CONFIG_TO_SAME(policy_keys)},
    {"api", NULL, "where applications ask for decisions; one of",
     CONFIG_TO_PART(tacit_config_daemon, listener, listener_keys)},
    {"runs", "ask", "what happens when the coordinator begins its next run",
     CONFIG_TO_FLAG(tacit_config_agent, joins_runs, runs_words)},
    {"decisions", "", "how long they wait, and how many may be open",
     CONFIG_TO_SAME(decisions_keys)},
    {"missing", "(rewards that do not come count for nothing)",
     "fixed while there is state; not of gossip-ucb, glm-ucb", .inner = missing_keys},
    WATCH_KEYS,
    {.name = NULL}};

static const struct config_key run_keys[] = {
    {"id", "1", "each run of a state directory has a greater one",
     CONFIG_TO_U64(tacit_config_coordinator, run_id, 1, UINT64_MAX)},
    {"horizon", NULL,
     "pulls of one site, enough for a first round; of select: rounds; of glm-ucb: rewards kept",
     CONFIG_TO_U64(tacit_config_coordinator, horizon, 1, TACIT_HORIZON_MAX)},
    {"epsilon", "(must be given; not of glm-ucb)",
     "what the hub's bounds assume; not above any site's policy.epsilon",
     CONFIG_TO_REAL(tacit_config_coordinator, epsilon, EPSILON_RANGE)},
    {"range", "(0 to 1)", "public bounds of a reward, those of every policy.range", RANGE_FORM},
    {"quorum", "(all)", "so many reports close a round after its deadline",
     .form = "1 to all sites"},
    {"deadline_s", "600", "how long a round waits for all",
     CONFIG_TO_U32(tacit_config_coordinator, deadline_s, 1, SECONDS_MAX)},
    {"trust", "(one aggregator)", "who adds up what leaves", .inner = trust_keys},
    {.name = NULL}};

static const struct config_key coordinator_keys[] = {
    FEDERATION_KEY,
    PROTOCOL_KEY,
    STATE_KEYS,
    {"sites", NULL, "who takes part, by certificate; the order counts",
     CONFIG_TO_NAMES(tacit_config_coordinator, sites, site_count, 1, TACIT_AGENTS_MAX),
     SITE_NAME_FORM},
    ARMS_KEY(coordinator),
    {"run", NULL, "", CONFIG_TO_SAME(run_keys)},
    {"network", "(star)",
     "of elimination and (graphs alone) gossip-ucb: who hears whom, by the order of sites",
     .inner = config_network_keys},
    STATUS_KEY("page, /status, /runs, /health, /metrics"),
    WATCH_KEYS,
    {.name = NULL}};

static const struct config_key helper_keys[] = {
    FEDERATION_KEY,
    STATE_KEYS,
    {"hub", NULL, "of the coordinator's key for signing", CONFIG_TO_TEXT(tacit_config_helper, hub),
     FINGERPRINT_FORM},
    {"epsilon", NULL, "the largest that it serves",
     CONFIG_TO_REAL(tacit_config_helper, epsilon, EPSILON_RANGE)},
    {"delta", "0", "the largest of a run with (epsilon, delta); 0: no such run",
     CONFIG_TO_REAL(tacit_config_helper, delta, {0, 0.5, false, false, false})},
    {"sites_min", "2", "so many sites are in a sum, or it draws nothing",
     CONFIG_TO_U32(tacit_config_helper, sites_min, 2, TACIT_AGENTS_MAX)},
    STATUS_KEY("page, /status, /health, /metrics"),
    LOG_KEY,
    {.name = NULL}};

const struct config_section tacit_config_agent_sections[] = {{"", agent_keys}, {NULL, NULL}};
const struct config_section tacit_config_coordinator_sections[] = {
    {"", coordinator_keys}, {"network.components.N", config_component_keys}, {NULL, NULL}};
const struct config_section tacit_config_helper_sections[] = {{"", helper_keys}, {NULL, NULL}};

/* ---- Parts that they have alike ---- */

/* "pki/north.key" has "pki/north.sign.key" beside it. */
static const char *beside(struct config_reader *reader, const char *path)
{
    char const *const slash = strrchr(path, '/');
    char const *const dot = strrchr(slash == NULL ? path : slash, '.');
    size_t const stem = dot == NULL ? strlen(path) : (size_t)(dot - path);
    size_t const size = strlen(path) + sizeof ".sign";
    char *const made = config_reader_memory(reader, size);
    if (made != NULL)
        (void)snprintf(made, size, "%.*s.sign%s", (int)stem, path, path + stem);
    return made;
}

/* With which words are signed: named, or beside the files that open the broker's door. */
static void settle_broker(struct config_reader *reader, struct tacit_config_broker *broker)
{
    if (reader->status == TACIT_OK && broker->signing_certificate_file == NULL)
        broker->signing_certificate_file = beside(reader, broker->certificate_file);
    if (reader->status == TACIT_OK && broker->signing_key_file == NULL)
        broker->signing_key_file = beside(reader, broker->key_file);
}

static void check_listener(struct config_reader *reader, const char *section,
                           const struct tacit_config_listener *listener)
{
    char key[32];
    (void)snprintf(key, sizeof key, "%s.unix", section);
    if ((listener->unix_path == NULL) == (listener->port == 0))
        config_reader_refuse(reader, section,
                             "one of 'unix' (a socket file) and 'port' (on 127.0.0.1) is expected, "
                             "like {unix: agent.sock}");
    else if (listener->unix_path != NULL && strlen(listener->unix_path) > SOCKET_PATH_BYTES_MAX)
        config_reader_refuse(reader, key,
                             "the path %.120s is too long for a socket; allowed: %u bytes, with "
                             "the folder of this file",
                             listener->unix_path, SOCKET_PATH_BYTES_MAX);
}

/* Loopback, RFC 1918, RFC 4193. */
static bool is_private(const char *address)
{
    struct in6_addr six;
    struct in_addr four;
    if (inet_pton(AF_INET6, address, &six) == 1)
        return (six.s6_addr[0] & 0xfe) == 0xfc || IN6_IS_ADDR_LOOPBACK(&six);
    if (inet_pton(AF_INET, address, &four) != 1)
        return false;
    uint32_t const bits = ntohl(four.s_addr);
    return bits >> 24 == 127 || bits >> 24 == 10 || bits >> 20 == (172u << 4 | 1) ||
           bits >> 16 == (192u << 8 | 168);
}

/* "10.0.0.5:9464", "[fd00::5]:9464". False: it is neither. */
static bool split_address(const char *text, char address[INET6_ADDRSTRLEN], uint16_t *port)
{
    uint8_t bytes[sizeof(struct in6_addr)];
    bool const is_six = text[0] == '[';
    char const *const end = is_six ? strchr(text, ']') : strrchr(text, ':');
    char const *const begin = text + (is_six ? 1 : 0);
    char const *const colon = end == NULL ? NULL : end + (is_six ? 1 : 0);
    if (colon == NULL || *colon != ':' || end - begin >= INET6_ADDRSTRLEN ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1) || strlen(colon + 1) > 5)
        return false;
    (void)snprintf(address, INET6_ADDRSTRLEN, "%.*s", (int)(end - begin), begin);
    unsigned long const number = strtoul(colon + 1, NULL, 10);
    *port = (uint16_t)number;
    return number >= 1 && number <= 65535 &&
           inet_pton(is_six ? AF_INET6 : AF_INET, address, bytes) == 1;
}

static void settle_observe(struct config_reader *reader, struct tacit_config_observe *observe)
{
    static const char *const together[] = {"observe.certificate", "observe.key", "observe.ca",
                                           "observe.clients"};
    char const *const text = observe->address;
    bool has_tls = false;
    if (reader->status != TACIT_OK || text == NULL)
        return;
    for (size_t i = 0; i < 4; i++)
        has_tls = has_tls || config_reader_find(reader, together[i]) != NULL;
    for (size_t i = 0; i < 4 && has_tls; i++)
        config_reader_need(reader, together[i]);
    char *const address = config_reader_memory(reader, INET6_ADDRSTRLEN);
    observe->address = address;
    if (address != NULL && !split_address(text, address, &observe->port))
        config_reader_refuse(reader, "observe.listen",
                             "'%.80s' is no address with a port; allowed: numbers like "
                             "10.0.0.5:9464 or [fd00::5]:9464",
                             text);
    else if (address != NULL && !has_tls && !is_private(address))
        config_reader_refuse(reader, "observe.listen",
                             "%s is no private address; allowed without certificate, key, ca and "
                             "clients: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7, "
                             "127.0.0.0/8, ::1",
                             address);
}

/* The word of the protocol, and whose files these are then. */
static const struct tacit_config_live *
read_protocol(struct config_reader *reader, const struct config_node *root,
              const struct tacit_config_live *const *families)
{
    char list[256];
    struct tacit_text words = tacit_text_init(list, sizeof list);
    char const *word = NULL;
    config_reader_text(reader, root, "protocol", false, &word);
    for (size_t i = 0; reader->status == TACIT_OK && families[i] != NULL; i++) {
        if (word == NULL || strcmp(families[i]->name, word) == 0)
            return families[i];
        tacit_text_add(&words, words.size == 0 ? "" : ", ");
        tacit_text_add(&words, families[i]->name);
    }
    config_reader_refuse(reader, "protocol", "'%.80s' is not live; allowed: %s",
                         word == NULL ? "" : word, list);
    return NULL;
}

/* Where nothing is protected, an epsilon would be a promise that nobody keeps. */
static void check_epsilon(struct config_reader *reader, const char *key, bool is_open)
{
    if (!is_open)
        config_reader_need(reader, key);
    else if (config_reader_find(reader, key) != NULL)
        config_reader_refuse(reader, key,
                             "this protocol protects nothing when it is live; allowed: without "
                             "this key");
}

/* section: "policy" or "run". */
static void read_trust(struct config_reader *reader, const char *section,
                       const struct tacit_config_live *family, struct tacit_config_trust *trust)
{
    char name[32];
    char key[48];
    struct trust values = {.aggregators = 1};
    (void)snprintf(name, sizeof name, "%s.trust", section);
    if (config_reader_find(reader, name) == NULL || reader->status != TACIT_OK)
        return;
    struct config_node const *const map =
        config_reader_map(reader, config_reader_find(reader, section), name, true);
    config_reader_table(reader, map, name, trust_keys, &values);
    *trust =
        (struct tacit_config_trust){.has_helper = values.aggregators == 2, .helper = values.helper};
    if (trust->has_helper && !family->accepts_trust)
        config_reader_refuse(reader, name,
                             "%s has no second aggregator when it is live; allowed: 1, or a "
                             "protocol that has one (elimination, phased-index, select, votes, "
                             "glm-ucb-sound)",
                             family->name);
    (void)snprintf(key, sizeof key, "%s.floor", name);
    double const milli = nearbyint(values.floor * 1e3);
    trust->floor_milli = trust->has_helper ? (uint32_t)milli : 0;
    if (fabs(milli - values.floor * 1e3) > 1e-6)
        config_reader_refuse(reader, key, "is counted in thousandths; allowed: 0.001, 0.002, ..");
    (void)snprintf(key, sizeof key, "%s.helper", name);
    if (trust->has_helper)
        config_reader_need(reader, key);
}

/* ---- Agent ---- */

static void settle_policy(struct config_reader *reader, const struct config_node *policy,
                          struct tacit_config_agent *agent)
{
    check_epsilon(reader, "policy.epsilon", agent->family->is_open);
    check_epsilon(reader, "policy.budget", agent->family->is_open);
    if (!agent->family->lacks_rounds)
        config_reader_need(reader, "policy.rounds_max");
    else if (agent->rounds_max > 0)
        config_reader_refuse(reader, "policy.rounds_max", "unknown key; %s has no rounds",
                             agent->family->name);
    if (reader->status == TACIT_OK)
        config_reader_pair(reader, policy, "policy.range", false, CONFIG_REWARD_BOUNDS, &agent->lo,
                           &agent->hi);
    read_trust(reader, "policy", agent->family, &agent->trust);
    if (agent->budget < agent->epsilon)
        config_reader_refuse(reader, "policy.budget",
                             "%.12g is below epsilon (%.12g): nothing could be released; allowed: "
                             "at least epsilon",
                             agent->budget, agent->epsilon);
    if (agent->family->no_units != NULL)
        config_reader_idle(reader, policy, "policy.rewards_per_unit_max", true,
                           agent->family->no_units);
}

static void settle_decisions(struct config_reader *reader, struct tacit_config_agent *agent)
{
    struct config_node const *const map = config_reader_find(reader, "decisions");
    agent->caller_open_max = (agent->open_max + 1) / 2; /* so that one leaves room for another */
    if (map != NULL && reader->status == TACIT_OK)
        config_reader_u32(reader, map, "decisions.caller_open_max", false, 1, agent->open_max,
                          &agent->caller_open_max);
    if (agent->wait_s == 0)
        agent->wait_s = agent->deadline_s < 60 ? agent->deadline_s : 60;
    if (agent->wait_s > agent->deadline_s)
        config_reader_refuse(reader, "decisions.wait_s",
                             "%u is above deadline_s (%u), the longest wait; allowed: up to that",
                             agent->wait_s, agent->deadline_s);
}

/* What a reward that has not come counts as. */
static void read_missing(struct config_reader *reader, const struct config_node *root,
                         struct tacit_config_agent *agent)
{
    static const char *const waits[] = {"decisions.wait_s", "decisions.deadline_s"};
    struct config_node const *const map = config_reader_map(reader, root, "missing", false);
    if (map == NULL)
        return;
    if (agent->family->no_missing != NULL)
        config_reader_refuse(reader, "missing", "%s", agent->family->no_missing);
    config_reader_table(reader, map, "missing", missing_keys, agent);
    config_reader_number(reader, map, "missing.counts_as", true,
                         (struct config_range)CONFIG_FROM(agent->lo, agent->hi),
                         &agent->missing_counts_as);
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++)
        if (config_reader_find(reader, waits[i]) != NULL)
            config_reader_refuse(reader, waits[i],
                                 "has no meaning beside missing, whose after_s is the wait; "
                                 "allowed: one of the two");
}

static void read_site_keys(struct config_reader *reader, struct tacit_config_agent *agent)
{
    const struct config_section *section = agent->family->site_keys;
    if (section == NULL || reader->status != TACIT_OK)
        return;
    agent->keys = config_reader_memory(reader, agent->family->site_size);
    for (; section->path != NULL && reader->status == TACIT_OK; section++)
        config_reader_values(reader,
                             *section->path == '\0' ? config_document_root(reader->document)
                                                    : config_reader_find(reader, section->path),
                             section->path, section->keys, agent->keys);
}

static void read_agent(struct config_reader *reader, const void *families, void *file)
{
    struct tacit_config_agent *const agent = file;
    struct config_node const *const root = config_document_root(reader->document);
    agent->family = read_protocol(reader, root, families);
    reader->more = agent->family == NULL ? NULL : agent->family->site_keys;
    config_reader_table(reader, root, "", agent_keys, agent);
    if (reader->status != TACIT_OK)
        return;
    struct config_node const *const policy = config_node_member(root, "policy");
    settle_broker(reader, &agent->daemon.broker);
    settle_policy(reader, policy, agent);
    check_listener(reader, "api", &agent->daemon.listener);
    settle_observe(reader, &agent->daemon.observe);
    settle_decisions(reader, agent);
    read_missing(reader, root, agent);
    read_site_keys(reader, agent);
    if (reader->status == TACIT_OK && agent->family->settle_site != NULL)
        agent->family->settle_site(reader, agent);
}

/* ---- Coordinator ---- */

static void settle_run(struct config_reader *reader, const struct config_node *run,
                       struct tacit_config_coordinator *coordinator)
{
    check_epsilon(reader, "run.epsilon", coordinator->family->is_open);
    coordinator->hi = 1;
    if (config_node_member(run, "range") != NULL)
        config_reader_pair(reader, run, "run.range", false, CONFIG_REWARD_BOUNDS, &coordinator->lo,
                           &coordinator->hi);
    config_reader_u32(reader, run, "run.quorum", false, 1, coordinator->site_count,
                      &coordinator->quorum);
    read_trust(reader, "run", coordinator->family, &coordinator->trust);
    if (coordinator->trust.has_helper && (coordinator->quorum == 1 || coordinator->site_count < 2))
        config_reader_refuse(reader, "run.quorum",
                             "with two aggregators a sum is of two sites or more; allowed: 2 or "
                             "more, of as many sites");
}

/* Who may hear whom: the section of the experiment file, over the sites in their order. */
static void read_network(struct config_reader *reader, const struct config_node *root,
                         struct tacit_config_coordinator *coordinator)
{
    struct tacit_config_topology *const network = &coordinator->network;
    struct config_node const *const given = config_node_member(root, "network");
    struct config_node const *const node = given == NULL ? root : given;
    bool const has_star = (coordinator->family->networks & 1u << TACIT_CONFIG_STAR) != 0;
    bool const is_broadcast =
        !has_star && (coordinator->family->networks & 1u << TACIT_CONFIG_BROADCAST) != 0;
    *network = (struct tacit_config_topology){.kind = is_broadcast ? TACIT_CONFIG_BROADCAST
                                                                   : TACIT_CONFIG_STAR,
                                              .name = is_broadcast ? "broadcast" : "star",
                                              .agent_count = coordinator->site_count,
                                              .seed = coordinator->run_id,
                                              .document = reader->document};
    config_read_network(reader, root, network);
    if (reader->status != TACIT_OK)
        return;
    if (network->kind == TACIT_CONFIG_ALONE)
        config_reader_fail(reader, node, "network.kind",
                           "'%s' needs no coordinator; allowed: a kind that joins the sites",
                           network->name);
    else if ((coordinator->family->networks & 1u << network->kind) == 0)
        config_reader_fail(reader, node, "network.kind",
                           "'%s' is no network for %s; allowed: the kinds that tacit check takes "
                           "with this protocol",
                           network->name, coordinator->family->name);
}

static void read_coordinator(struct config_reader *reader, const void *families, void *file)
{
    struct tacit_config_coordinator *const coordinator = file;
    struct config_node const *const root = config_document_root(reader->document);
    coordinator->family = read_protocol(reader, root, families);
    reader->more = coordinator->family == NULL ? NULL : coordinator->family->run_keys;
    config_reader_table(reader, root, "", coordinator_keys, coordinator);
    if (reader->status != TACIT_OK)
        return;
    struct config_node const *const run = config_node_member(root, "run");
    coordinator->daemon.name = "coordinator";
    settle_broker(reader, &coordinator->daemon.broker);
    settle_run(reader, run, coordinator);
    if (reader->status == TACIT_OK)
        read_network(reader, root, coordinator);
    check_listener(reader, "status", &coordinator->daemon.listener);
    settle_observe(reader, &coordinator->daemon.observe);
    if (reader->status == TACIT_OK)
        coordinator->keys = config_reader_memory(reader, coordinator->family->run_size);
    if (reader->status == TACIT_OK)
        coordinator->family->read_run(reader, run, coordinator);
}

/* ---- Helper ---- */

static void read_helper(struct config_reader *reader, const void *families, void *file)
{
    struct tacit_config_helper *const helper = file;
    (void)families;
    helper->daemon.name = "helper";
    config_reader_table(reader, config_document_root(reader->document), "", helper_keys, helper);
    settle_broker(reader, &helper->daemon.broker);
    if (reader->status == TACIT_OK)
        check_listener(reader, "status", &helper->daemon.listener);
}

/* ---- Public ---- */

/* It has a hub or sites_min, a list of sites or a run, or none of these. A file that cannot be read
 * is an agent's, whose reading then says why. */
static enum tacit_config_role role_of(const char *path)
{
    struct config_document *document;
    struct tacit_error error = {""};
    if (config_document_read(&document, path, &error) != TACIT_OK)
        return TACIT_CONFIG_AGENT;
    struct config_node const *const root = config_document_root(document);
    enum tacit_config_role const role =
        config_node_member(root, "hub") != NULL || config_node_member(root, "sites_min") != NULL
            ? TACIT_CONFIG_HELPER
        : config_node_member(root, "sites") != NULL || config_node_member(root, "run") != NULL
            ? TACIT_CONFIG_COORDINATOR
            : TACIT_CONFIG_AGENT;
    config_document_free(document);
    return role;
}

enum tacit_status tacit_config_daemon_load(struct tacit_config_daemon **daemon,
                                           enum tacit_config_role role,
                                           const struct tacit_config_live *const *families,
                                           const char *path, struct tacit_error *error)
{
    static const struct {
        size_t size;
        void (*read)(struct config_reader *reader, const void *families, void *file);
    } roles[] = {
        [TACIT_CONFIG_AGENT] = {sizeof(struct tacit_config_agent), read_agent},
        [TACIT_CONFIG_COORDINATOR] = {sizeof(struct tacit_config_coordinator), read_coordinator},
        [TACIT_CONFIG_HELPER] = {sizeof(struct tacit_config_helper), read_helper}};
    void *made = NULL;
    role = role == TACIT_CONFIG_ANY ? role_of(path) : role;
    TACIT_TRY(config_file_load(&made, roles[role].size, path, NULL, 0, roles[role].read, families,
                               error));
    *daemon = made;
    (*daemon)->role = role;
    return TACIT_OK;
}

void tacit_config_daemon_free(struct tacit_config_daemon *daemon)
{
    config_file_free(daemon);
}
