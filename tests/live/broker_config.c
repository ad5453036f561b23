/* mosquitto.conf and the access list, letter by letter; names and paths that are refused. */
#include "../support/testing.h"
#include "../../src/live/bus/broker_config.h"
#include "../../src/live/daemon/names.h"
#include "../support/temp.h"

#define TEXT_BYTES 8192u

static const char *const sites[] = {"north", "South_2"};
static const char *const protocols[] = {"votes"};
static char directory[TEMP_PATH_BYTES];
static struct tacit_error error;

static int set_up(void **state)
{
    temp_directory_make(directory);
    error.text[0] = '\0';
    return 0;
}

static int tear_down(void **state)
{
    temp_directory_remove(directory);
    return 0;
}

static struct live_broker_config good(void)
{
    return (struct live_broker_config){.directory = directory,
                                       .federation = "trial-1",
                                       .sites = sites,
                                       .site_count = 2,
                                       .protocols = protocols,
                                       .protocol_count = 1,
                                       .address = "127.0.0.1",
                                       .port = 8883,
                                       .ca_file = "/keys/ca.crt",
                                       .certificate_file = "/keys/broker.crt",
                                       .key_file = "/keys/broker.key"};
}

static void read_text(const char *name, char text[TEXT_BYTES])
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, name);
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, TEXT_BYTES - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
}

static void expect_lines(const char *name, const char *expected)
{
    char text[TEXT_BYTES];
    read_text(name, text);
    assert_string_equal(text, expected);
}

#define MEMORY_WORDS 256u

static struct tacit_graph graph_of(struct tacit_edge *edges, uint64_t edge_count, uint32_t count)
{
    static uint64_t memory[MEMORY_WORDS];
    struct tacit_graph graph;
    assert_true(tacit_graph_size(count, edge_count) <= sizeof memory);
    assert_int_equal(tacit_graph_init(&graph, memory, count, edges, edge_count), TACIT_OK);
    return graph;
}

#define TOPIC(way, rest) "topic " way " tacit/v1/trial-1/" rest "\n"
#define HEAD                                                                                       \
    "# Who may do what in the federation trial-1. Written by tacit; changes are overwritten.\n\n"  \
    "user coordinator\n" TOPIC("read", "up/+/votes") TOPIC("write", "down/votes")                  \
        TOPIC("read", "up/+/chain") TOPIC("write", "down/chain") TOPIC("write", "key/coordinator") \
            TOPIC("read", "key/+") TOPIC("write", "to/+/announce") TOPIC("write", "to/+/votes")    \
                TOPIC("write", "down/+/votes")
#define SITE(name)                                                                                 \
    "\nuser " name "\n" TOPIC("write", "up/" name "/votes") TOPIC("write", "up/" name "/chain")    \
        TOPIC("read", "down/chain") TOPIC("read", "down/votes") TOPIC("read", "down/+/votes")      \
            TOPIC("read", "to/" name "/announce") TOPIC("read", "to/" name "/votes")               \
                TOPIC("write", "key/" name) TOPIC("read", "key/coordinator")
#define HEARS(name, other)                                                                         \
    TOPIC("write", "peer/" name "/" other "/votes")                                                \
    TOPIC("read", "peer/" other "/" name "/votes") TOPIC("read", "key/" other)

TEST_WITH(access_list_gives_each_site_its_own_branch_and_no_more, set_up, tear_down)
{
    struct live_broker_config const config = good();
    assert_int_equal(live_broker_config_write(&config, &error), TACIT_OK);
    expect_lines("tacit.acl", HEAD SITE("north") SITE("South_2"));
}

/* What a site could fill with retained messages is what it needs, and nothing beside. The
 * coordinator may name any site, at that one level, and has as many lines however many there are
 * (decision 77). */
TEST_WITH(no_site_writes_a_topic_that_is_no_letter_for_letter, set_up, tear_down)
{
    static const char *const two[] = {"elimination", "votes"};
    struct tacit_edge edge = {0, 1};
    struct tacit_graph const graph = graph_of(&edge, 1, 2);
    struct live_broker_config config = good();
    char text[TEXT_BYTES];
    unsigned writes = 0;
    unsigned wide = 0;
    bool is_coordinator = false;
    config.protocols = two;
    config.protocol_count = 2;
    config.graph = &graph;
    config.has_helper = true;
    assert_int_equal(live_broker_config_write(&config, &error), TACIT_OK);
    read_text("tacit.acl", text);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        bool const is_write = strncmp(line, "topic write ", 12) == 0;
        const char *const any = strchr(line, '+');
        if (strncmp(line, "user ", 5) == 0)
            is_coordinator = strcmp(line, "user coordinator") == 0;
        writes += is_write;
        wide += is_write && any != NULL;
        if (is_write && any != NULL) {
            assert_true(is_coordinator && strchr(any + 1, '+') == NULL);
            assert_true(strncmp(any - 4, "/to/", 4) == 0 || strncmp(any - 6, "/down/", 6) == 0);
        }
        assert_true(*line == '#' ||
                    (strchr(line, '#') == NULL && strstr(line, "readwrite") == NULL));
    }
    /* The coordinator: down, the chain, its key, the helper's, and to any site 1 announcement, 2
     * words and 2 standing words; each site: up, its entry, peer, its key; the helper: up. */
    assert_int_equal(wide, 1 + 2 + 2);
    assert_int_equal(writes, 2 + 1 + 1 + 1 + wide + 2 * (3 + 2 + 1) + 1);
}

/* ---- Neighbours ---- */

TEST_WITH(sites_hear_their_neighbours_and_nobody_else, set_up, tear_down)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    static struct tacit_edge ring[] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}};
    static struct tacit_edge two_stars[] = {{0, 1}, {0, 2}, {3, 4}};
    static struct tacit_edge none[1];
    static const struct {
        struct tacit_edge *edges;
        uint64_t edge_count;
        uint32_t site_count;
        const char *lines;
    } cases[] = {{ring, 4, 4,
                  HEAD SITE("a") HEARS("a", "b") HEARS("a", "d") SITE("b") HEARS("b", "a")
                      HEARS("b", "c") SITE("c") HEARS("c", "b") HEARS("c", "d") SITE("d")
                          HEARS("d", "a") HEARS("d", "c")},
                 {two_stars, 3, 5,
                  HEAD SITE("a") HEARS("a", "b") HEARS("a", "c") SITE("b") HEARS("b", "a") SITE("c")
                      HEARS("c", "a") SITE("d") HEARS("d", "e") SITE("e") HEARS("e", "d")},
                 {none, 0, 2, HEAD SITE("a") SITE("b")}}; /* the coordinator alone */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tacit_graph const graph =
            graph_of(cases[i].edges, cases[i].edge_count, cases[i].site_count);
        struct live_broker_config config = good();
        config.sites = names;
        config.site_count = cases[i].site_count;
        config.graph = &graph;
        assert_int_equal(live_broker_config_write(&config, &error), TACIT_OK);
        expect_lines("tacit.acl", cases[i].lines);
    }
}

/* Comments and empty lines taken out: what mosquitto sees. */
static void strip(char *text)
{
    char *out = text;
    for (char *line = text; *line != '\0';) {
        size_t const size = strcspn(line, "\n") + 1;
        if (*line != '#' && *line != '\n') {
            memmove(out, line, size);
            out += size;
        }
        line += size;
    }
    *out = '\0';
}

TEST_WITH(config_has_one_door_with_certificates_and_limits, set_up, tear_down)
{
    char text[TEXT_BYTES];
    char expected[TEXT_BYTES];
    struct live_broker_config const config = good();
    assert_int_equal(live_broker_config_write(&config, &error), TACIT_OK);
    read_text("mosquitto.conf", text);
    assert_non_null(strstr(text, "dropped and nobody is told"));
    strip(text);
    (void)snprintf(expected, sizeof expected,
                   "per_listener_settings false\n"
                   "listener 8883 127.0.0.1\n"
                   "protocol mqtt\n"
                   "tls_version tlsv1.2\n"
                   "ciphers ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:"
                   "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-AES256-GCM-SHA384:"
                   "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-CHACHA20-POLY1305\n"
                   "cafile /keys/ca.crt\n"
                   "certfile /keys/broker.crt\n"
                   "keyfile /keys/broker.key\n"
                   "require_certificate true\n"
                   "use_identity_as_username true\n"
                   "use_username_as_clientid true\n"
                   "allow_anonymous false\n"
                   "acl_file %s/tacit.acl\n"
                   "message_size_limit 65536\n"
                   "max_packet_size 66560\n"
                   "max_inflight_messages 20\n"
                   "max_queued_messages 1000\n"
                   "max_queued_bytes 16777216\n"
                   "queue_qos0_messages false\n"
                   "persistent_client_expiration 1h\n"
                   "max_connections 22\n"
                   "persistence false\n"
                   "log_dest stderr\n"
                   "log_type error\n"
                   "log_type warning\n"
                   "log_type notice\n"
                   "connection_messages true\n"
                   "log_timestamp true\n"
                   "log_timestamp_format %%Y-%%m-%%dT%%H:%%M:%%S\n",
                   directory);
    assert_string_equal(text, expected);
}

TEST_WITH(config_takes_the_options_and_replaces_the_old_file, set_up, tear_down)
{
    char text[TEXT_BYTES];
    struct live_broker_config config = good();
    config.crl_file = "/keys/crl.pem";
    config.persistence_directory = "/var/lib/a broker";
    config.guard_file = "/a library/guard.so";
    config.user = "mosquitto";
    temp_file_write(directory, "mosquitto.conf", "allow_anonymous true\n");
    assert_int_equal(live_broker_config_write(&config, &error), TACIT_OK);
    read_text("mosquitto.conf", text);
    assert_null(strstr(text, "allow_anonymous true"));
    assert_non_null(strstr(text, "\ncrlfile /keys/crl.pem\nrequire_certificate true\n"));
    assert_non_null(strstr(text, "\npersistence true\n"
                                 "persistence_location /var/lib/a broker/\n"));
    assert_non_null(strstr(text, "\nuser mosquitto\n"));
    assert_non_null(strstr(text, "\nplugin /a library/guard.so\n"));
    assert_null(strstr(text, "persistence false"));
}

TEST(names_are_allowed_at_both_limits)
{
    char name[LIVE_NAME_BYTES_MAX + 2];
    memset(name, 'x', sizeof name);
    name[LIVE_NAME_BYTES_MAX + 1] = '\0';
    assert_false(live_name_is_allowed(name));
    name[LIVE_NAME_BYTES_MAX] = '\0';
    assert_true(live_name_is_allowed(name));
    assert_true(live_name_is_allowed("a"));
    assert_true(live_name_is_allowed("-_9Z"));
    assert_true(live_name_is_allowed("coordinator"));
    assert_false(live_site_is_allowed("coordinator"));
    assert_false(live_site_is_allowed("broker"));
    assert_true(live_site_is_allowed("Coordinator"));
}

static void expect_refusal(const struct live_broker_config *config, const char *words)
{
    char path[TEMP_PATH_BYTES];
    error.text[0] = '\0';
    assert_int_equal(live_broker_config_write(config, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, words));
    for (const char *c = error.text; *c != '\0'; c++)
        assert_true((unsigned char)*c >= ' ');
    temp_path(path, directory, "tacit.acl");
    assert_null(fopen(path, "r"));
}

TEST_WITH(bad_names_are_refused_and_nothing_is_written, set_up, tear_down)
{
    static const char *const bad[] = {
        "",     "a/b",     "+",   "#",           "a b",    "a\nuser x", "..",
        "\xc3", "a\x1b[m", "a.b", "coordinator", "broker", "%c",        "user north"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *const two[] = {"north", bad[i]};
        struct live_broker_config config = good();
        config.sites = two;
        expect_refusal(&config, "the site's name");
        config = good();
        config.federation = bad[i];
        if (!live_name_is_allowed(bad[i]))
            expect_refusal(&config, "the federation's name");
    }
}

TEST_WITH(other_bad_wishes_are_refused, set_up, tear_down)
{
    static const char *const twice[] = {"north", "south", "north"};
    static const char *const strange[] = {"votes", "#"};
    struct {
        struct live_broker_config config;
        const char *words;
    } cases[10] = {{.words = "the site north is named twice"},
                   {.words = "1 to 1048576 sites, not 0"},
                   {.words = "no protocol"},
                   {.words = "the protocol"},
                   {.words = "cannot listen at"},
                   {.words = "cannot listen at"},
                   {.words = "the path"},
                   {.words = "the path"},
                   {.words = "the path"},
                   {.words = "the user"}};
    for (size_t i = 0; i < 10; i++)
        cases[i].config = good();
    cases[0].config.sites = twice;
    cases[0].config.site_count = 3;
    cases[1].config.site_count = 0;
    cases[2].config.protocol_count = 0;
    cases[3].config.protocols = strange;
    cases[3].config.protocol_count = 2;
    cases[4].config.address = "0.0.0.0\nallow_anonymous true";
    cases[5].config.port = 0;
    cases[6].config.key_file = "/keys/a\nallow_anonymous true";
    cases[7].config.persistence_directory = " /var";
    cases[8].config.guard_file = "guard.so\nallow_anonymous true";
    cases[9].config.user = "root\n";
    for (size_t i = 0; i < 10; i++)
        expect_refusal(&cases[i].config, cases[i].words);
}

TEST_WITH(missing_directory_is_an_error_with_its_path, set_up, tear_down)
{
    struct live_broker_config config = good();
    config.directory = "/nowhere/at all";
    assert_int_equal(live_broker_config_write(&config, &error), TACIT_IO);
    assert_non_null(strstr(error.text, "/nowhere/at all/tacit.acl"));
}
