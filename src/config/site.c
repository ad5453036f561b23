/* The files of the daemons: what a site allows, and what a coordinator wants. */
#include "tacit/config.h"
#include "network.h"
#include "reader.h"
#include "tacit/wire.h"
#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAITING_AFTER_S 60u
#define DISK_LOW_MIB 64u
#define SECONDS_MAX UINT32_C(31536000)
#define OPEN_MAX UINT32_C(10000000)
#define CALLS_PER_S_MAX UINT32_C(1000000)
#define UNITS_MAX UINT32_C(100000000)
#define HOST_BYTES_MAX 253u
#define SOCKET_PATH_BYTES_MAX 107u /* what the system takes */

/* ---- Parts that both have ---- */

static bool is_name(const char *text)
{
    size_t const length = strlen(text);
    return length >= 1 && length <= 64 &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
               length;
}

static void check_name(struct config_reader *reader, const struct config_node *node,
                       const char *key, const char *name)
{
    if (reader->status == TACIT_OK && !is_name(name))
        config_reader_fail(reader, node, key,
                           "'%.80s' is not a name; allowed: 1 to 64 letters, digits, _ and -",
                           name);
}

/* These three are names of certificates. */
static void check_site_name(struct config_reader *reader, const struct config_node *node,
                            const char *key, const char *name)
{
    check_name(reader, node, key, name);
    if (reader->status == TACIT_OK && (strcmp(name, "coordinator") == 0 ||
                                       strcmp(name, "broker") == 0 || strcmp(name, "helper") == 0))
        config_reader_fail(reader, node, key,
                           "a site cannot be called '%s'; allowed: any other name", name);
}

static void read_name(struct config_reader *reader, const struct config_node *root, const char *key,
                      const char **name)
{
    config_reader_text(reader, root, key, true, name);
    if (reader->status == TACIT_OK)
        check_name(reader, config_node_member(root, key), key, *name);
}

static void read_host(struct config_reader *reader, const struct config_node *map,
                      const char **host)
{
    config_reader_text(reader, map, "broker.host", true, host);
    if (reader->status == TACIT_OK &&
        ((*host)[0] == '\0' || strlen(*host) > HOST_BYTES_MAX || strpbrk(*host, " /@[]") != NULL))
        config_reader_fail(reader, config_node_member(map, "host"), "broker.host",
                           "'%.80s' is not a host; allowed: a host name or an address", *host);
}

static const char *leaf_of(const char *key)
{
    char const *const dot = strrchr(key, '.');
    return dot == NULL ? key : dot + 1;
}

/* A file named in the document: relative names start at its folder. */
static void read_path(struct config_reader *reader, const struct config_node *map, const char *key,
                      bool is_required, const char **path)
{
    char const *name = NULL;
    config_reader_text(reader, map, key, is_required, &name);
    if (reader->status != TACIT_OK || name == NULL)
        return;
    if (*name == '\0') {
        config_reader_fail(reader, config_node_member(map, leaf_of(key)), key,
                           "no value; the path of a file is expected");
        return;
    }
    char const *const file = config_document_path(reader->document);
    char const *const slash = strrchr(file, '/');
    int const folder = name[0] == '/' || slash == NULL ? 0 : (int)(slash - file + 1);
    size_t const size = (size_t)folder + strlen(name) + 1;
    char *const made = config_document_allocate(reader->document, size);
    if (made == NULL) {
        reader->status = TACIT_MEMORY;
        return;
    }
    (void)snprintf(made, size, "%.*s%s", folder, file, name);
    *path = made;
}

/* "pki/north.key" has "pki/north.sign.key" beside it. */
static const char *beside(struct config_reader *reader, const char *path)
{
    char const *const slash = strrchr(path, '/');
    char const *const dot = strrchr(slash == NULL ? path : slash, '.');
    size_t const stem = dot == NULL ? strlen(path) : (size_t)(dot - path);
    size_t const size = strlen(path) + sizeof ".sign";
    char *const made = config_document_allocate(reader->document, size);
    if (made == NULL)
        reader->status = TACIT_MEMORY;
    else
        (void)snprintf(made, size, "%.*s.sign%s", (int)stem, path, path + stem);
    return made;
}

/* With which words are signed: named, or beside the files that open the broker's door. */
static void read_signing(struct config_reader *reader, const struct config_node *map,
                         struct tacit_config_broker *broker)
{
    read_path(reader, map, "broker.signing_certificate", false, &broker->signing_certificate_file);
    read_path(reader, map, "broker.signing_key", false, &broker->signing_key_file);
    read_path(reader, map, "broker.signing_password", false, &broker->signing_password_file);
    if (reader->status == TACIT_OK && broker->signing_certificate_file == NULL)
        broker->signing_certificate_file = beside(reader, broker->certificate_file);
    if (reader->status == TACIT_OK && broker->signing_key_file == NULL)
        broker->signing_key_file = beside(reader, broker->key_file);
}

static void read_broker(struct config_reader *reader, const struct config_node *root,
                        struct tacit_config_broker *broker)
{
    static const char *const keys[] = {"host",        "port",
                                       "ca",          "certificate",
                                       "key",         "signing_certificate",
                                       "signing_key", "signing_password",
                                       NULL};
    struct config_node const *const map = config_reader_map(reader, root, "broker", true);
    uint32_t port = 8883;
    if (map == NULL)
        return;
    config_reader_keys(reader, map, "broker", keys);
    read_host(reader, map, &broker->host);
    config_reader_u32(reader, map, "broker.port", false, 1, 65535, &port);
    broker->port = (uint16_t)port;
    read_path(reader, map, "broker.ca", true, &broker->ca_file);
    read_path(reader, map, "broker.certificate", true, &broker->certificate_file);
    read_path(reader, map, "broker.key", true, &broker->key_file);
    read_signing(reader, map, broker);
}

static void read_listener(struct config_reader *reader, const struct config_node *root,
                          const char *section, struct tacit_config_listener *listener)
{
    static const char *const keys[] = {"unix", "port", NULL};
    struct config_node const *const map = config_reader_map(reader, root, section, true);
    char key[32];
    uint32_t port = 0;
    if (map == NULL)
        return;
    config_reader_keys(reader, map, section, keys);
    if ((config_node_member(map, "unix") == NULL) == (config_node_member(map, "port") == NULL)) {
        config_reader_fail(reader, map, section,
                           "one of 'unix' (a socket file) and 'port' (on 127.0.0.1) is expected, "
                           "like {unix: agent.sock}");
        return;
    }
    (void)snprintf(key, sizeof key, "%s.unix", section);
    read_path(reader, map, key, false, &listener->unix_path);
    if (reader->status == TACIT_OK && listener->unix_path != NULL &&
        strlen(listener->unix_path) > SOCKET_PATH_BYTES_MAX)
        config_reader_fail(reader, config_node_member(map, "unix"), key,
                           "the path %.120s is too long for a socket; allowed: %u bytes, with the "
                           "folder of this file",
                           listener->unix_path, SOCKET_PATH_BYTES_MAX);
    (void)snprintf(key, sizeof key, "%s.port", section);
    config_reader_u32(reader, map, key, false, 1, 65535, &port);
    listener->port = (uint16_t)port;
}

static void read_log(struct config_reader *reader, const struct config_node *root, bool *json,
                     const char **file)
{
    static const char *const keys[] = {"format", "file", NULL};
    static const struct config_choice formats[] = {{"text", 0}, {"json", 1}, {NULL, 0}};
    struct config_node const *const map = config_reader_map(reader, root, "log", false);
    int format = 0;
    if (map == NULL)
        return;
    config_reader_keys(reader, map, "log", keys);
    config_reader_choice(reader, map, "log.format", false, formats, &format);
    *json = format == 1;
    read_path(reader, map, "log.file", false, file);
}

/* Whether a group that is the process's own may read keys and state. */
static void read_group(struct config_reader *reader, const struct config_node *root, bool *allowed)
{
    static const struct config_choice words[] = {{"false", 0}, {"true", 1}, {NULL, 0}};
    int word = 0;
    config_reader_choice(reader, root, "group_readable", false, words, &word);
    *allowed = word == 1;
}

/* A name and where it stands in its list. */
struct listed {
    const char *name;
    uint32_t place;
};

static int compare_listed(const void *left, const void *right)
{
    struct listed const *const a = left;
    struct listed const *const b = right;
    int const order = strcmp(a->name, b->name);
    return order != 0 ? order : a->place < b->place ? -1 : a->place > b->place;
}

/* The first place whose name stands before it already, or `count`. Errors: TACIT_MEMORY. Cost:
 * O(count log count). */
static enum tacit_status find_repeated(const char *const *names, uint32_t count, uint32_t *place)
{
    struct listed *const sorted = calloc(count, sizeof *sorted);
    *place = count;
    if (sorted == NULL)
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct listed){names[i], i};
    qsort(sorted, count, sizeof *sorted, compare_listed);
    for (uint32_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1].name, sorted[i].name) == 0 && sorted[i].place < *place)
            *place = sorted[i].place;
    free(sorted);
    return TACIT_OK;
}

/* A list of different names. */
static void check_different(struct config_reader *reader, const struct config_node *list,
                            const char *key, const char *const *names, uint32_t count)
{
    uint32_t place;
    if (reader->status != TACIT_OK)
        return;
    reader->status = find_repeated(names, count, &place);
    if (reader->status != TACIT_OK || place == count)
        return;
    struct config_node const *node = list->first;
    for (uint32_t i = 0; i < place; i++)
        node = node->next;
    config_reader_fail(reader, node, key, "'%.64s' stands here twice; allowed: once", names[place]);
}

static const char **read_names(struct config_reader *reader, const struct config_node *root,
                               const char *key, uint32_t min, uint32_t max, uint32_t *count)
{
    struct config_node const *const list = config_node_member(root, key);
    if (reader->status != TACIT_OK)
        return NULL;
    if (list == NULL || list->kind != CONFIG_LIST) {
        config_reader_fail(reader, list == NULL ? root : list, key,
                           "%sa list of names is expected, like [north, south]",
                           list == NULL ? "missing; " : "");
        return NULL;
    }
    for (const struct config_node *node = list->first; node != NULL; node = node->next)
        ++*count;
    if (*count < min || *count > max) {
        config_reader_fail(reader, list, key, "%u names; allowed: %u to %u", *count, min, max);
        return NULL;
    }
    const char **const names = config_document_allocate(reader->document, *count * sizeof *names);
    if (names == NULL) {
        reader->status = TACIT_MEMORY;
        return NULL;
    }
    uint32_t i = 0;
    for (const struct config_node *node = list->first; node != NULL; node = node->next, i++) {
        if (node->kind != CONFIG_SCALAR || !tacit_wire_is_arm_name(node->text))
            config_reader_fail(reader, node, key,
                               "a name of 1 to 64 characters is expected, without line breaks "
                               "or other control characters");
        names[i] = node->kind == CONFIG_SCALAR ? node->text : "";
    }
    check_different(reader, list, key, names, *count);
    return names;
}

/* ---- Who may look from elsewhere ---- */

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

static void read_listen(struct config_reader *reader, const struct config_node *map,
                        struct tacit_config_observe *observe)
{
    char const *text = NULL;
    config_reader_text(reader, map, "observe.listen", true, &text);
    if (reader->status != TACIT_OK)
        return;
    char *const address = config_document_allocate(reader->document, INET6_ADDRSTRLEN);
    if (address == NULL)
        reader->status = TACIT_MEMORY;
    else if (!split_address(text, address, &observe->port))
        config_reader_fail(reader, config_node_member(map, "listen"), "observe.listen",
                           "'%.80s' is no address with a port; allowed: numbers like "
                           "10.0.0.5:9464 or [fd00::5]:9464",
                           text);
    observe->address = address;
}

static void read_observe(struct config_reader *reader, const struct config_node *root,
                         struct tacit_config_observe *observe)
{
    static const char *const keys[] = {"listen", "certificate", "key", "ca", "clients", NULL};
    struct config_node const *const map = config_reader_map(reader, root, "observe", false);
    if (map == NULL)
        return;
    bool const has_tls =
        config_node_member(map, "certificate") != NULL || config_node_member(map, "key") != NULL ||
        config_node_member(map, "ca") != NULL || config_node_member(map, "clients") != NULL;
    config_reader_keys(reader, map, "observe", keys);
    read_listen(reader, map, observe);
    read_path(reader, map, "observe.certificate", has_tls, &observe->certificate_file);
    read_path(reader, map, "observe.key", has_tls, &observe->key_file);
    read_path(reader, map, "observe.ca", has_tls, &observe->ca_file);
    if (has_tls)
        observe->clients = read_names(reader, map, "clients", 1, 1024, &observe->client_count);
    if (reader->status == TACIT_OK && !has_tls && !is_private(observe->address))
        config_reader_fail(reader, config_node_member(map, "listen"), "observe.listen",
                           "%s is no private address; allowed without certificate, key, ca and "
                           "clients: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7, "
                           "127.0.0.0/8, ::1",
                           observe->address);
}

/* "section.range": the public bounds of a reward. */
static void read_range(struct config_reader *reader, const struct config_node *map, const char *key,
                       double *lo, double *hi)
{
    struct config_range const any = {-1e9, 1e9, false, false, false};
    struct config_node const *const range = config_node_member(map, "range");
    if (range == NULL || range->kind != CONFIG_LIST || range->first == NULL ||
        range->first->next == NULL || range->first->next->next != NULL) {
        config_reader_fail(reader, range == NULL ? map : range, key,
                           "%stwo numbers are expected: the public bounds of a reward, like [0, 1]",
                           range == NULL ? "missing; " : "");
        return;
    }
    (void)config_reader_real(reader, range->first, key, any, lo);
    (void)config_reader_real(reader, range->first->next, key, any, hi);
    if (reader->status == TACIT_OK && !(*lo < *hi))
        config_reader_fail(reader, range, key,
                           "%.12g is not below %.12g; allowed: the smaller bound first", *lo, *hi);
}

/* The word of the protocol, and whose files these are then. */
static const struct tacit_config_live *
read_protocol(struct config_reader *reader, const struct config_node *root,
              const struct tacit_config_live *const *families)
{
    char list[256];
    struct tacit_text words = tacit_text_init(list, sizeof list);
    struct config_node const *const node = config_node_member(root, "protocol");
    char const *word = NULL;
    config_reader_text(reader, root, "protocol", false, &word);
    for (size_t i = 0; reader->status == TACIT_OK && families[i] != NULL; i++) {
        if (word == NULL || strcmp(families[i]->word, word) == 0)
            return families[i];
        tacit_text_add(&words, words.size == 0 ? "" : ", ");
        tacit_text_add(&words, families[i]->word);
    }
    if (reader->status == TACIT_OK)
        config_reader_fail(reader, node, "protocol", "'%.80s' is not live; allowed: %s",
                           word == NULL ? "" : word, list);
    return NULL;
}

/* The keys of a section: those that all have, and those of the family. */
static void check_all_keys(struct config_reader *reader, const struct config_node *map,
                           const char *section, const char *const *common, const char *const *own)
{
    const char *keys[32] = {NULL};
    size_t count = 0;
    for (; *common != NULL; common++)
        keys[count++] = *common;
    for (; own != NULL && *own != NULL; own++)
        keys[count++] = *own;
    TACIT_ASSERT(count < sizeof keys / sizeof keys[0]);
    config_reader_keys(reader, map, section, keys);
}

/* An epsilon where nothing is protected would be a promise that nobody keeps. */
static void refuse_epsilon(struct config_reader *reader, const struct config_node *map,
                           const char *key, bool is_open)
{
    struct config_node const *const node = config_node_member(map, leaf_of(key));
    if (is_open && node != NULL)
        config_reader_fail(reader, node, key,
                           "this protocol protects nothing when it is live; allowed: without this "
                           "key");
}

/* 64 hexadecimal digits. */
static void read_fingerprint(struct config_reader *reader, const struct config_node *map,
                             const char *key, const char **text)
{
    TACIT_ASSERT(text != NULL && leaf_of(key) != NULL);
    config_reader_text(reader, map, key, true, text);
    if (reader->status == TACIT_OK &&
        (strlen(*text) != 64 || strspn(*text, "0123456789abcdef") != 64))
        config_reader_fail(reader, config_node_member(map, leaf_of(key)), key,
                           "'%.80s' is no fingerprint; allowed: 64 of 0-9 a-f, as tacit helper "
                           "fingerprint prints them",
                           *text);
}

/* section: "policy" or "run". */
static void read_trust(struct config_reader *reader, const struct config_node *map,
                       const char *section, const struct tacit_config_live *family,
                       struct tacit_config_trust *trust)
{
    TACIT_ASSERT(trust->floor_milli == 0 && !trust->has_helper);
    static const char *const keys[] = {"aggregators", "floor", "helper", NULL};
    char name[32];
    char key[48];
    uint32_t aggregators = 1;
    double floor = 0;
    (void)snprintf(name, sizeof name, "%s.trust", section);
    struct config_node const *const node = config_reader_map(reader, map, name, false);
    if (node == NULL)
        return;
    config_reader_keys(reader, node, name, keys);
    (void)snprintf(key, sizeof key, "%s.aggregators", name);
    config_reader_u32(reader, node, key, true, 1, 2, &aggregators);
    trust->has_helper = aggregators == 2;
    if (trust->has_helper && !family->takes_trust)
        config_reader_fail(reader, node, key,
                           "%s has no second aggregator when it is live; allowed: 1, or a protocol "
                           "that has one (phased-index)",
                           family->word);
    (void)snprintf(key, sizeof key, "%s.floor", name);
    config_reader_number(reader, node, key, false,
                         (struct config_range){1e-3, 1e5, false, false, false}, &floor);
    trust->floor_milli = trust->has_helper ? (uint32_t)nearbyint(floor * 1e3) : 0;
    if (fabs(nearbyint(floor * 1e3) - floor * 1e3) > 1e-6)
        config_reader_fail(reader, node, key,
                           "is counted in thousandths; allowed: 0.001, 0.002, ..");
    (void)snprintf(key, sizeof key, "%s.helper", name);
    if (trust->has_helper)
        read_fingerprint(reader, node, key, &trust->helper);
}

/* ---- Agent ---- */

static void read_policy(struct config_reader *reader, const struct config_node *root,
                        struct tacit_config_agent *agent)
{
    static const char *const keys[] = {"epsilon",    "budget",    "range",
                                       "agents_max", "pulls_max", "rewards_per_unit_max",
                                       "rounds_max", "trust",     NULL};
    static const char *const without_rounds[] = {"epsilon",    "budget",    "range",
                                                 "agents_max", "pulls_max", "rewards_per_unit_max",
                                                 "trust",      NULL};
    bool const has_rounds = !agent->family->lacks_rounds;
    struct config_range const epsilon = {1e-6, 1e6, false, false, false};
    struct config_node const *const policy = config_reader_map(reader, root, "policy", true);
    if (policy == NULL)
        return;
    check_all_keys(reader, policy, "policy", has_rounds ? keys : without_rounds,
                   agent->family->policy_keys);
    bool const is_open = agent->family->is_open;
    refuse_epsilon(reader, policy, "policy.epsilon", is_open);
    refuse_epsilon(reader, policy, "policy.budget", is_open);
    config_reader_number(reader, policy, "policy.epsilon", !is_open, epsilon, &agent->epsilon);
    config_reader_number(reader, policy, "policy.budget", !is_open, epsilon, &agent->budget);
    config_reader_u32(reader, policy, "policy.agents_max", true, 1, TACIT_AGENTS_MAX,
                      &agent->agents_max);
    if (has_rounds)
        config_reader_u32(reader, policy, "policy.rounds_max", true, 1, 10000, &agent->rounds_max);
    config_reader_u64(reader, policy, "policy.pulls_max", true, 1, TACIT_HORIZON_MAX,
                      &agent->pulls_max);
    config_reader_u32(reader, policy, "policy.rewards_per_unit_max", false, 1, 1000000,
                      &agent->rewards_per_unit_max);
    read_range(reader, policy, "policy.range", &agent->lo, &agent->hi);
    read_trust(reader, policy, "policy", agent->family, &agent->trust);
    if (reader->status == TACIT_OK && agent->budget < agent->epsilon)
        config_reader_fail(reader, config_node_member(policy, "budget"), "policy.budget",
                           "%.12g is below epsilon (%.12g): nothing could be released; allowed: "
                           "at least epsilon",
                           agent->budget, agent->epsilon);
}

static void read_decisions(struct config_reader *reader, const struct config_node *root,
                           struct tacit_config_agent *agent)
{
    static const char *const keys[] = {
        "wait_s",    "deadline_s",      "remember_s",         "open_max",
        "units_max", "caller_open_max", "caller_calls_per_s", NULL};
    struct config_node const *const map = config_reader_map(reader, root, "decisions", false);
    agent->caller_open_max = (agent->open_max + 1) / 2;
    if (map == NULL)
        return;
    config_reader_keys(reader, map, "decisions", keys);
    config_reader_u32(reader, map, "decisions.wait_s", false, 1, SECONDS_MAX, &agent->wait_s);
    config_reader_u32(reader, map, "decisions.deadline_s", false, 1, SECONDS_MAX,
                      &agent->deadline_s);
    config_reader_u32(reader, map, "decisions.remember_s", false, 0, SECONDS_MAX,
                      &agent->remember_s);
    config_reader_u32(reader, map, "decisions.open_max", false, 1, OPEN_MAX, &agent->open_max);
    config_reader_u32(reader, map, "decisions.units_max", false, 1, UNITS_MAX, &agent->units_max);
    agent->caller_open_max = (agent->open_max + 1) / 2; /* so that one leaves room for another */
    config_reader_u32(reader, map, "decisions.caller_open_max", false, 1, agent->open_max,
                      &agent->caller_open_max);
    config_reader_u32(reader, map, "decisions.caller_calls_per_s", false, 1, CALLS_PER_S_MAX,
                      &agent->caller_calls_per_s);
    if (config_node_member(map, "wait_s") == NULL && agent->wait_s > agent->deadline_s)
        agent->wait_s = agent->deadline_s;
    if (reader->status == TACIT_OK && agent->wait_s > agent->deadline_s)
        config_reader_fail(reader, config_node_member(map, "wait_s"), "decisions.wait_s",
                           "%u is above deadline_s (%u), the longest wait; allowed: up to that",
                           agent->wait_s, agent->deadline_s);
}

/* Whether the next run of the same coordinator is joined without asking. */
static void read_runs(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config_agent *agent)
{
    static const struct config_choice words[] = {{"ask", 0}, {"join", 1}, {NULL, 0}};
    int word = 0;
    config_reader_choice(reader, root, "runs", false, words, &word);
    agent->joins_runs = word == 1;
}

/* What a reward that has not come counts as. */
static void read_missing(struct config_reader *reader, const struct config_node *root,
                         struct tacit_config_agent *agent)
{
    static const char *const keys[] = {"after_s", "counts_as", NULL};
    static const char *const waits[] = {"wait_s", "deadline_s"};
    struct config_node const *const decisions = config_node_member(root, "decisions");
    struct config_node const *const map = config_reader_map(reader, root, "missing", false);
    if (map == NULL)
        return;
    config_reader_keys(reader, map, "missing", keys);
    config_reader_u32(reader, map, "missing.after_s", true, 1, SECONDS_MAX,
                      &agent->missing_after_s);
    config_reader_number(reader, map, "missing.counts_as", true,
                         (struct config_range){agent->lo, agent->hi, false, false, false},
                         &agent->missing_counts_as);
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        struct config_node const *const wait =
            decisions == NULL ? NULL : config_node_member(decisions, waits[i]);
        if (wait != NULL)
            config_reader_fail(reader, wait, "decisions",
                               "%s has no meaning beside missing, whose after_s is the wait; "
                               "allowed: one of the two",
                               waits[i]);
    }
}

static void read_agent(struct config_reader *reader,
                       const struct tacit_config_live *const *families,
                       struct tacit_config_agent *agent)
{
    static const char *const keys[] = {"federation",
                                       "protocol",
                                       "site",
                                       "state",
                                       "broker",
                                       "arms",
                                       "policy",
                                       "api",
                                       "runs",
                                       "decisions",
                                       "missing",
                                       "log",
                                       "waiting_after_s",
                                       "group_readable",
                                       "observe",
                                       "disk_low_mib",
                                       NULL};
    struct config_node const *const root = config_document_root(reader->document);
    agent->family = read_protocol(reader, root, families);
    check_all_keys(reader, root, "", keys,
                   agent->family == NULL ? NULL : agent->family->site_sections);
    read_name(reader, root, "federation", &agent->federation);
    read_name(reader, root, "site", &agent->site);
    if (reader->status == TACIT_OK)
        check_site_name(reader, config_node_member(root, "site"), "site", agent->site);
    read_path(reader, root, "state", true, &agent->state_directory);
    read_broker(reader, root, &agent->broker);
    agent->arm_names = read_names(reader, root, "arms", 2, TACIT_ARMS_MAX, &agent->arm_count);
    if (agent->family != NULL)
        read_policy(reader, root, agent);
    read_listener(reader, root, "api", &agent->api);
    read_observe(reader, root, &agent->observe);
    config_reader_u32(reader, root, "disk_low_mib", false, 1, UINT32_MAX, &agent->disk_low_mib);
    read_decisions(reader, root, agent);
    read_missing(reader, root, agent);
    read_log(reader, root, &agent->log_is_json, &agent->log_file);
    config_reader_u32(reader, root, "waiting_after_s", false, 1, SECONDS_MAX,
                      &agent->waiting_after_s);
    read_group(reader, root, &agent->group_readable);
    read_runs(reader, root, agent);
    if (reader->status == TACIT_OK && agent->family->read_policy != NULL)
        agent->family->read_policy(reader, root, agent);
}

/* ---- Coordinator ---- */

static void read_run(struct config_reader *reader, const struct config_node *root,
                     struct tacit_config_coordinator *coordinator)
{
    static const char *const keys[] = {"id",     "horizon",    "epsilon", "range",
                                       "quorum", "deadline_s", "trust",   NULL};
    struct config_node const *const run = config_reader_map(reader, root, "run", true);
    if (run == NULL || coordinator->family == NULL)
        return;
    check_all_keys(reader, run, "run", keys, coordinator->family->run_keys);
    config_reader_u64(reader, run, "run.id", false, 1, UINT64_MAX, &coordinator->run_id);
    config_reader_u64(reader, run, "run.horizon", true, 1, TACIT_HORIZON_MAX,
                      &coordinator->horizon);
    bool const is_open = coordinator->family->is_open;
    refuse_epsilon(reader, run, "run.epsilon", is_open);
    config_reader_number(reader, run, "run.epsilon", !is_open,
                         (struct config_range){1e-6, 1e6, false, false, false},
                         &coordinator->epsilon);
    if (config_node_member(run, "range") != NULL) /* else [0, 1] */
        read_range(reader, run, "run.range", &coordinator->lo, &coordinator->hi);
    config_reader_u32(reader, run, "run.quorum", false, 1, coordinator->site_count,
                      &coordinator->quorum);
    config_reader_u32(reader, run, "run.deadline_s", false, 1, SECONDS_MAX,
                      &coordinator->deadline_s);
    read_trust(reader, run, "run", coordinator->family, &coordinator->trust);
    if (reader->status == TACIT_OK && coordinator->trust.has_helper &&
        (coordinator->quorum == 1 || coordinator->site_count < 2))
        config_reader_fail(reader, run, "run.quorum",
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
                                              .word = is_broadcast ? "broadcast" : "star",
                                              .agent_count = coordinator->site_count,
                                              .seed = coordinator->run_id,
                                              .document = reader->document};
    config_read_network(reader, root, network);
    if (reader->status != TACIT_OK)
        return;
    if (network->kind == TACIT_CONFIG_ALONE)
        config_reader_fail(reader, node, "network.kind",
                           "'%s' needs no coordinator; allowed: a kind that joins the sites",
                           network->word);
    else if ((coordinator->family->networks & 1u << network->kind) == 0)
        config_reader_fail(reader, node, "network.kind",
                           "'%s' is no network for %s; allowed: the kinds that tacit check takes "
                           "with this protocol",
                           network->word, coordinator->family->word);
}

static void read_coordinator(struct config_reader *reader,
                             const struct tacit_config_live *const *families,
                             struct tacit_config_coordinator *coordinator)
{
    static const char *const keys[] = {
        "federation", "protocol",     "state",  "broker", "sites",           "arms",
        "run",        "network",      "status", "log",    "waiting_after_s", "group_readable",
        "observe",    "disk_low_mib", NULL};
    struct config_node const *const root = config_document_root(reader->document);
    config_reader_keys(reader, root, "", keys);
    read_name(reader, root, "federation", &coordinator->federation);
    read_path(reader, root, "state", true, &coordinator->state_directory);
    read_broker(reader, root, &coordinator->broker);
    coordinator->sites =
        read_names(reader, root, "sites", 1, TACIT_AGENTS_MAX, &coordinator->site_count);
    struct config_node const *const sites = config_node_member(root, "sites");
    struct config_node const *node = reader->status == TACIT_OK ? sites->first : NULL;
    for (uint32_t i = 0; node != NULL; node = node->next, i++)
        check_site_name(reader, node, "sites", coordinator->sites[i]);
    coordinator->arm_names =
        read_names(reader, root, "arms", 2, TACIT_ARMS_MAX, &coordinator->arm_count);
    coordinator->family = read_protocol(reader, root, families);
    read_run(reader, root, coordinator);
    if (reader->status == TACIT_OK)
        read_network(reader, root, coordinator);
    read_listener(reader, root, "status", &coordinator->status);
    read_observe(reader, root, &coordinator->observe);
    config_reader_u32(reader, root, "disk_low_mib", false, 1, UINT32_MAX,
                      &coordinator->disk_low_mib);
    read_log(reader, root, &coordinator->log_is_json, &coordinator->log_file);
    config_reader_u32(reader, root, "waiting_after_s", false, 1, SECONDS_MAX,
                      &coordinator->waiting_after_s);
    read_group(reader, root, &coordinator->group_readable);
    if (reader->status == TACIT_OK)
        coordinator->family->read_run(reader, root, coordinator);
}

/* ---- Public ---- */

enum tacit_status tacit_config_agent_load(struct tacit_config_agent **agent,
                                          const struct tacit_config_live *const *families,
                                          const char *path, struct tacit_error *error)
{
    struct tacit_config_agent *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return TACIT_MEMORY;
    made->wait_s = 60;
    made->waiting_after_s = WAITING_AFTER_S;
    made->disk_low_mib = DISK_LOW_MIB;
    made->deadline_s = 86400;
    made->remember_s = 604800;
    made->open_max = 100000;
    made->caller_calls_per_s = 50000;
    made->units_max = 1000000;
    enum tacit_status status = config_document_read(&made->document, path, error);
    if (status == TACIT_OK) {
        struct config_reader reader = {made->document, error, TACIT_OK};
        read_agent(&reader, families, made);
        status = reader.status;
    }
    if (status != TACIT_OK) {
        tacit_config_agent_free(made);
        return status;
    }
    *agent = made;
    return TACIT_OK;
}

void tacit_config_agent_free(struct tacit_config_agent *agent)
{
    if (agent == NULL)
        return;
    config_document_free(agent->document);
    free(agent);
}

enum tacit_status tacit_config_coordinator_load(struct tacit_config_coordinator **coordinator,
                                                const struct tacit_config_live *const *families,
                                                const char *path, struct tacit_error *error)
{
    struct tacit_config_coordinator *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return TACIT_MEMORY;
    made->run_id = 1;
    made->waiting_after_s = WAITING_AFTER_S;
    made->disk_low_mib = DISK_LOW_MIB;
    made->hi = 1;
    made->deadline_s = 600;
    enum tacit_status status = config_document_read(&made->document, path, error);
    if (status == TACIT_OK) {
        struct config_reader reader = {made->document, error, TACIT_OK};
        read_coordinator(&reader, families, made);
        status = reader.status;
    }
    if (status != TACIT_OK) {
        tacit_config_coordinator_free(made);
        return status;
    }
    *coordinator = made;
    return TACIT_OK;
}

void tacit_config_coordinator_free(struct tacit_config_coordinator *coordinator)
{
    if (coordinator == NULL)
        return;
    config_document_free(coordinator->document);
    free(coordinator);
}

/* ---- Helper ---- */

static void read_helper(struct config_reader *reader, struct tacit_config_helper *helper)
{
    TACIT_ASSERT(helper->sites_min >= 2);
    static const char *const keys[] = {"federation",      "state",     "broker", "hub",
                                       "epsilon",         "sites_min", "status", "log",
                                       "waiting_after_s", NULL};
    struct config_node const *const root = config_document_root(reader->document);
    config_reader_keys(reader, root, "", keys);
    read_name(reader, root, "federation", &helper->federation);
    read_path(reader, root, "state", true, &helper->state_directory);
    read_broker(reader, root, &helper->broker);
    read_fingerprint(reader, root, "hub", &helper->hub);
    config_reader_number(reader, root, "epsilon", true,
                         (struct config_range){1e-6, 1e6, false, false, false}, &helper->epsilon);
    config_reader_u32(reader, root, "sites_min", false, 2, TACIT_AGENTS_MAX, &helper->sites_min);
    read_listener(reader, root, "status", &helper->status);
    read_log(reader, root, &helper->log_is_json, &helper->log_file);
    config_reader_u32(reader, root, "waiting_after_s", false, 1, SECONDS_MAX,
                      &helper->waiting_after_s);
}

enum tacit_status tacit_config_helper_load(struct tacit_config_helper **helper, const char *path,
                                           struct tacit_error *error)
{
    struct tacit_config_helper *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return TACIT_MEMORY;
    made->sites_min = 2;
    made->waiting_after_s = WAITING_AFTER_S;
    enum tacit_status status = config_document_read(&made->document, path, error);
    if (status == TACIT_OK) {
        struct config_reader reader = {made->document, error, TACIT_OK};
        read_helper(&reader, made);
        status = reader.status;
    }
    if (status == TACIT_OK)
        *helper = made;
    else
        tacit_config_helper_free(made);
    return status;
}

void tacit_config_helper_free(struct tacit_config_helper *helper)
{
    if (helper == NULL)
        return;
    config_document_free(helper->document);
    free(helper);
}

/* Does the file have one of these at its top? */
static bool has_member(const char *path, const char *key, const char *other)
{
    struct config_document *document;
    struct tacit_error error = {""};
    if (config_document_read(&document, path, &error) != TACIT_OK)
        return false;
    struct config_node const *const root = config_document_root(document);
    bool const is_it =
        config_node_member(root, key) != NULL || config_node_member(root, other) != NULL;
    config_document_free(document);
    return is_it;
}

bool tacit_config_is_coordinator(const char *path)
{
    return has_member(path, "sites", "run");
}

bool tacit_config_is_helper(const char *path)
{
    return has_member(path, "hub", "sites_min");
}
