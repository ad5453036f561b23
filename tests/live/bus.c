/* The bus against the real mosquitto: who gets in, who may say what to whom, and that it comes back
 * by itself. A forged broker (a child process with a script of bytes) says what mosquitto never
 * would. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../support/testing.h"
#include "../../src/live/bus/bus.h"
#include "../../src/live/pki/pki.h"
#include "../support/broker.h"
#include "../support/process.h"
#include "../support/temp.h"

#define PATIENCE_MS 60000u
#define RECONNECT_US_MIN 20000u
#define RECONNECT_US_MAX 100000u
#define STATIONS_MAX 4u
#define TOPICS_MAX 3u
#define US_PER_MS UINT64_C(1000)
#define UP "tacit/v1/trial/up/"
#define DOWN "tacit/v1/trial/down/"
#define TO "tacit/v1/trial/to/"
#define KEY "tacit/v1/trial/key/"

static const char *const sites[] = {"north", "south"};

/* One bus and what happened to it. */
struct station {
    struct live_bus *bus;
    const char *topics[TOPICS_MAX]; /* subscribed to at each connect */
    uint32_t connected;
    uint32_t disconnected;
    uint32_t received;
    char reason[256];
    char topic[LIVE_TOPIC_BYTES];
    size_t size;
    uint8_t first;
    uint8_t last;
};

static struct {
    struct live_loop *loop;
    struct live_timer *timer;
    uint64_t deadline_us;
    const uint32_t *value; /* waited for: *value >= least */
    uint32_t least;
    bool is_seen;
    struct station stations[STATIONS_MAX];
    pid_t forgers[STATIONS_MAX];
    size_t forger_count;
} world;

static char directory[TEMP_PATH_BYTES];
static struct broker broker;
static bool is_possible;
static struct tacit_error error;

/* ---- Time ------------------------------------------------------------------------------------ */

static void look(void *context)
{
    uint64_t const now_us = live_now_us();
    world.is_seen = world.value != NULL && *world.value >= world.least;
    if (world.is_seen || now_us >= world.deadline_us)
        live_loop_stop(world.loop);
    else
        live_timer_set(world.timer, now_us + 2 * US_PER_MS);
}

/* Runs the loop until *value >= least. */
static bool wait_for_ms(const uint32_t *value, uint32_t least, uint32_t patience_ms)
{
    world.value = value;
    world.least = least;
    world.deadline_us = live_now_us() + patience_ms * US_PER_MS;
    live_timer_set(world.timer, live_now_us());
    assert_int_equal(live_loop_run(world.loop), TACIT_OK);
    return world.is_seen;
}

static void wait_for(const uint32_t *value, uint32_t least)
{
    assert_true(wait_for_ms(value, least, PATIENCE_MS));
}

static void pass_ms(uint32_t time_ms)
{
    (void)wait_for_ms(NULL, 0, time_ms);
}

/* ---- Stations -------------------------------------------------------------------------------- */

static void on_connected(void *context)
{
    struct station *const station = context;
    station->connected++;
    for (size_t i = 0; i < TOPICS_MAX && station->topics[i] != NULL; i++)
        assert_int_equal(live_bus_subscribe(station->bus, station->topics[i]), TACIT_OK);
}

static void on_disconnected(void *context, const char *reason)
{
    struct station *const station = context;
    station->disconnected++;
    (void)snprintf(station->reason, sizeof station->reason, "%s", reason);
}

static void on_received(void *context, const char *topic, const uint8_t *bytes, size_t size)
{
    struct station *const station = context;
    station->received++;
    assert_true(strlen(topic) < sizeof station->topic);
    strcpy(station->topic, topic);
    station->size = size;
    station->first = size == 0 ? 0 : bytes[0];
    station->last = size == 0 ? 0 : bytes[size - 1];
}

static void expect_reason(const struct station *station, const char *words)
{
    if (strstr(station->reason, words) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", words, station->reason);
}

struct papers {
    char certificate[TEMP_PATH_BYTES];
    char key[TEMP_PATH_BYTES];
};

static struct live_bus_config config_make(struct papers *papers, const char *name)
{
    broker_file(&broker, papers->certificate, name, ".crt");
    broker_file(&broker, papers->key, name, ".key");
    return (struct live_bus_config){.host = BROKER_HOST,
                                    .port = broker.port,
                                    .ca_file = broker.ca_file,
                                    .certificate_file = papers->certificate,
                                    .key_file = papers->key,
                                    .client_id = name,
                                    .keepalive_s = 10,
                                    .reconnect_us_min = RECONNECT_US_MIN,
                                    .reconnect_us_max = RECONNECT_US_MAX};
}

static enum tacit_status try_to_open(struct station *station, const struct live_bus_config *config)
{
    struct live_bus_events const events = {.context = station,
                                           .connected = on_connected,
                                           .disconnected = on_disconnected,
                                           .received = on_received};
    error.text[0] = '\0';
    return live_bus_open(&station->bus, world.loop, config, &events, &error);
}

static struct station *open_with(size_t index, const struct live_bus_config *config)
{
    struct station *const station = &world.stations[index];
    if (try_to_open(station, config) != TACIT_OK)
        fail_msg("%s", error.text);
    return station;
}

static struct station *open_as(size_t index, const char *name)
{
    static struct papers papers[STATIONS_MAX]; /* they stay as long as a bus */
    struct live_bus_config const config = config_make(&papers[index], name);
    return open_with(index, &config);
}

static struct station *connect_as(size_t index, const char *name)
{
    struct station *const station = open_as(index, name);
    wait_for(&station->connected, 1);
    pass_ms(station->topics[0] == NULL ? 0 : 50); /* the subscription */
    return station;
}

static void close_station(struct station *station)
{
    live_bus_close(station->bus);
    *station = (struct station){0};
}

static void send_text(struct station *station, const char *topic, const char *text, bool retain)
{
    assert_int_equal(
        live_bus_publish(station->bus, topic, (const uint8_t *)text, strlen(text), retain),
        TACIT_OK);
}

static int set_up(void **state)
{
    memset(&world, 0, sizeof world);
    if (!is_possible || live_loop_open(&world.loop) != TACIT_OK)
        return -1;
    world.timer = live_timer_new(world.loop, look, NULL);
    return world.timer == NULL ? -1 : 0;
}

static int tear_down(void **state)
{
    for (size_t i = 0; i < STATIONS_MAX; i++)
        live_bus_close(world.stations[i].bus);
    live_loop_close(world.loop);
    for (size_t i = 0; i < world.forger_count; i++) {
        (void)kill(world.forgers[i], SIGKILL);
        (void)waitpid(world.forgers[i], NULL, 0);
    }
    if (is_possible && broker.pid == 0)
        broker_run(&broker);
    return 0;
}

/* ---- Messages -------------------------------------------------------------------------------- */

TEST_WITH(message_goes_round_and_retained_state_waits_for_late_comers, set_up, tear_down)
{
    world.stations[1].topics[0] = UP "#";
    struct station *const north = connect_as(0, "north");
    struct station *const coordinator = connect_as(1, "coordinator");
    assert_true(live_bus_is_connected(north->bus));
    send_text(north, UP "north/report", "a report", false);
    wait_for(&coordinator->received, 1);
    assert_string_equal(coordinator->topic, UP "north/report");
    assert_int_equal(coordinator->size, 8);
    assert_int_equal(coordinator->first, 'a');
    send_text(coordinator, DOWN "epoch", "state", true);
    pass_ms(50);
    world.stations[2].topics[0] = DOWN "#";
    struct station *const south = connect_as(2, "south");
    wait_for(&south->received, 1);
    assert_string_equal(south->topic, DOWN "epoch");
    assert_int_equal(south->last, 'e');
    assert_int_equal(live_bus_publish(coordinator->bus, DOWN "epoch", NULL, 0, true), TACIT_OK);
    wait_for(&south->received, 2);
    assert_int_equal(south->size, 0);
    struct live_bus_counts const counts = live_bus_count(coordinator->bus);
    assert_int_equal(counts.connects, 1);
    assert_int_equal(counts.disconnects, 0);
    assert_int_equal(counts.sent, 2);
    assert_int_equal(counts.sent_bytes, 5);
    assert_int_equal(counts.received, 1);
    assert_int_equal(counts.refused, 0);
}

TEST_WITH(greatest_payload_passes_and_one_byte_more_is_refused_before_sending, set_up, tear_down)
{
    static uint8_t bytes[70000];
    char topic[LIVE_TOPIC_BYTES + 1];
    world.stations[1].topics[0] = UP "#";
    struct station *const north = connect_as(0, "north");
    struct station *const coordinator = connect_as(1, "coordinator");
    memset(topic, 'x', sizeof topic);
    memcpy(topic, UP "north/", strlen(UP "north/"));
    topic[strlen(UP "north/") + 64] = '\0'; /* the longest word of a protocol */
    bytes[LIVE_PAYLOAD_BYTES_MAX - 1] = 7;
    assert_int_equal(live_bus_publish(north->bus, topic, bytes, sizeof bytes, false),
                     TACIT_INVALID);
    assert_int_equal(live_bus_publish(north->bus, topic, bytes, LIVE_PAYLOAD_BYTES_MAX + 1, false),
                     TACIT_INVALID);
    assert_int_equal(live_bus_publish(north->bus, topic, bytes, LIVE_PAYLOAD_BYTES_MAX, false),
                     TACIT_OK);
    wait_for(&coordinator->received, 1);
    assert_int_equal(coordinator->size, LIVE_PAYLOAD_BYTES_MAX);
    assert_int_equal(coordinator->last, 7);
    assert_int_equal(live_bus_count(north->bus).sent, 1);
    assert_int_equal(north->disconnected, 0);
}

TEST_WITH(topics_that_are_not_allowed_are_refused_before_sending, set_up, tear_down)
{
    static const char *const bad[] = {"", "+", "#", UP "north/+", UP "north/#", UP "north/\xc3("};
    char topic[LIVE_TOPIC_BYTES + 1];
    struct station *const north = connect_as(0, "north");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(live_bus_publish(north->bus, bad[i], NULL, 0, false), TACIT_INVALID);
    memset(topic, 'x', LIVE_TOPIC_BYTES);
    topic[LIVE_TOPIC_BYTES] = '\0';
    assert_int_equal(live_bus_publish(north->bus, topic, NULL, 0, false), TACIT_INVALID);
    assert_int_equal(live_bus_subscribe(north->bus, topic), TACIT_INVALID);
    assert_int_equal(live_bus_subscribe(north->bus, "a+/b"), TACIT_INVALID);
    assert_int_equal(live_bus_subscribe(north->bus, ""), TACIT_INVALID);
    pass_ms(50);
    assert_true(live_bus_is_connected(north->bus));
}

TEST_WITH(burst_is_bounded_and_arrives, set_up, tear_down)
{
    uint32_t taken = 0;
    world.stations[1].topics[0] = UP "#";
    struct station *const north = connect_as(0, "north");
    struct station *const coordinator = connect_as(1, "coordinator");
    while (taken < 5000 &&
           live_bus_publish(north->bus, UP "north/n", (const uint8_t *)"n", 1, false) == TACIT_OK)
        taken++;
    assert_int_equal(taken, 1024);
    wait_for(&coordinator->received, taken);
    pass_ms(50);
    send_text(north, UP "north/n", "n", false);
    wait_for(&coordinator->received, taken + 1);
    assert_int_equal(live_bus_count(north->bus).refused, 0);
}

/* ---- Who may say what to whom ---------------------------------------------------------------- */

TEST_WITH(site_cannot_hear_what_is_meant_for_another, set_up, tear_down)
{
    world.stations[0].topics[0] = TO "north/#";
    world.stations[0].topics[1] = UP "#";
    world.stations[0].topics[2] = "tacit/v1/trial/#";
    struct station *const south = connect_as(0, "south");
    struct station *const coordinator = connect_as(1, "coordinator");
    struct station *const north = connect_as(2, "north");
    send_text(coordinator, TO "north/order", "secret", false);
    send_text(north, UP "north/report", "secret", false);
    send_text(coordinator, DOWN "epoch", "for all", false);
    wait_for(&south->received, 1);
    pass_ms(100);
    assert_int_equal(south->received, 1);
    assert_string_equal(south->topic, DOWN "epoch");
}

TEST_WITH(site_cannot_speak_for_another_and_is_told_so, set_up, tear_down)
{
    world.stations[1].topics[0] = UP "#";
    world.stations[2].topics[0] = DOWN "#";
    struct station *const south = connect_as(0, "south");
    struct station *const coordinator = connect_as(1, "coordinator");
    struct station *const north = connect_as(2, "north");
    send_text(south, UP "north/report", "forged", false);
    send_text(south, UP "report", "forged", false);
    send_text(south, DOWN "epoch", "forged", false);
    send_text(south, TO "north/order", "forged", false);
    send_text(south, "tacit/v1/another/up/south/report", "forged", false);
    send_text(south, UP "south/report/deeper", "kept where nobody reads", true);
    send_text(south, UP "south/made-up", "kept where nobody reads", true);
    send_text(south, KEY "south/deeper", "kept where nobody reads", true);
    send_text(coordinator, DOWN "epoch/deeper", "kept where nobody reads", true);
    send_text(coordinator, TO "north/order/deeper", "kept where nobody reads", true);
    send_text(south, UP "south/report", "honest", false);
    wait_for(&coordinator->received, 1);
    pass_ms(100);
    assert_int_equal(coordinator->received, 1);
    assert_string_equal(coordinator->topic, UP "south/report");
    assert_int_equal(north->received, 0);
    assert_int_equal(live_bus_count(south->bus).refused, 8);
    assert_int_equal(live_bus_count(coordinator->bus).refused, 2);
    assert_true(live_bus_why(south->bus).is_refused && !live_bus_why(north->bus).is_refused);
    assert_int_equal(south->disconnected, 0);
}

/* ---- Who gets in ----------------------------------------------------------------------------- */

static void expect_no_entry(const struct live_bus_config *config, const char *words)
{
    struct station *const station = open_with(0, config);
    wait_for(&station->disconnected, 2); /* it goes on trying, and says the same */
    assert_int_equal(station->connected, 0);
    expect_reason(station, words);
    assert_false(live_bus_is_connected(station->bus));
    assert_int_equal(live_bus_count(station->bus).disconnects, 0);
    assert_int_equal(live_bus_publish(station->bus, UP "north/x", NULL, 0, false), TACIT_IO);
    assert_int_equal(live_bus_subscribe(station->bus, UP "north/x"), TACIT_IO);
    close_station(station);
}

static void make_other_ca(char pki[TEMP_PATH_BYTES])
{
    static const char *const names[] = {"north"};
    temp_path(pki, directory, "other");
    struct live_pki_config const config = {
        .directory = pki, .names = names, .name_count = 1, .days = 1};
    assert_int_equal(live_pki_make(&config, &error), TACIT_OK);
}

TEST_WITH(another_ca_is_not_trusted_by_either_side, set_up, tear_down)
{
    struct papers papers;
    char pki[TEMP_PATH_BYTES];
    char ca[TEMP_PATH_BYTES];
    make_other_ca(pki);
    struct live_bus_config config = config_make(&papers, "north");
    temp_path(ca, pki, "ca.crt");
    config.ca_file = ca;
    expect_no_entry(&config, "the broker's certificate is not valid: another CA");
    config.ca_file = broker.ca_file;
    temp_path(papers.certificate, pki, "north.crt");
    temp_path(papers.key, pki, "north.key");
    expect_no_entry(&config, "the CA of our certificate");
}

TEST_WITH(broker_under_another_host_name_is_not_trusted, set_up, tear_down)
{
    struct papers papers;
    struct live_bus_config config = config_make(&papers, "north");
    config.host = "127.0.0.2"; /* nobody listens there; Linux routes all of 127/8 to us */
    expect_no_entry(&config, "cannot reach the broker: Connection refused");
    config.host = "0.0.0.0"; /* our broker answers, but its certificate does not name this */
    expect_no_entry(&config, "the broker's certificate is made for another host");
}

/* South says with a client of somebody else's make, which does not check what ours does, that it is
 * north. */
TEST_WITH(another_certificate_with_our_client_id_does_not_take_our_session, set_up, tear_down)
{
    struct papers papers;
    char port[8];
    world.stations[0].topics[0] = DOWN "#";
    struct station *const north = connect_as(0, "north");
    (void)config_make(&papers, "south");
    (void)snprintf(port, sizeof port, "%u", broker.port);
    const char *const program = broker_program("mosquitto_pub");
    assert_non_null(program);
    const char *const host[] = {"-V", "5", "-h", BROKER_HOST, "-p", port, "-q", "1"};
    const char *const client[] = {"-i", "north", "-t", UP "south/x", "-m", "x"};
    const char *const own[] = {"--cafile",         broker.ca_file, "--cert",
                               papers.certificate, "--key",        papers.key};
    const char *arguments[24] = {program};
    memcpy(arguments + 1, host, sizeof host);
    memcpy(arguments + 9, client, sizeof client);
    memcpy(arguments + 15, own, sizeof own);
    struct process_plan const plan = {.arguments = arguments, .timeout_ms = PATIENCE_MS};
    assert_int_equal(process_run(&plan).code, 0);
    pass_ms(100);
    assert_int_equal(north->disconnected, 0);
    assert_int_equal(live_bus_count(north->bus).takeovers, 0);
}

TEST_WITH(plain_connection_to_the_tls_port_fails, set_up, tear_down)
{
    struct papers papers;
    struct live_bus_config config = config_make(&papers, "north");
    config.ca_file = NULL;
    expect_no_entry(&config, "the connection to the broker broke");
}

TEST_WITH(bad_configurations_are_refused_at_once, set_up, tear_down)
{
    struct papers papers;
    for (uint32_t i = 0; i < 9; i++) {
        struct live_bus_config config = config_make(&papers, "north");
        config.host = i == 0 ? "" : config.host;
        config.port = i == 1 ? 0 : config.port;
        config.client_id = i == 2 ? "a/b" : config.client_id;
        config.keepalive_s = i == 3 ? 4 : i == 4 ? 65536 : config.keepalive_s;
        config.reconnect_us_min = i == 5 ? 0 : i == 6 ? RECONNECT_US_MAX + 1 : RECONNECT_US_MIN;
        config.certificate_file = i == 8 ? NULL : config.certificate_file;
        if (i == 7) {
            config.ca_file = NULL;
            config.host = "192.0.2.1";
        }
        assert_int_equal(try_to_open(&world.stations[0], &config), TACIT_INVALID);
        assert_int_not_equal(error.text[0], '\0');
    }
    struct live_bus_config const config = config_make(&papers, "north");
    assert_int_equal(chmod(papers.key, 0644), 0);
    enum tacit_status const status = try_to_open(&world.stations[0], &config);
    assert_int_equal(chmod(papers.key, 0600), 0);
    assert_int_equal(status, TACIT_INVALID);
    assert_non_null(strstr(error.text, "is open to others"));
}

/* ---- Coming back ----------------------------------------------------------------------------- */

TEST_WITH(killed_broker_is_found_again_and_subscribed_to_again, set_up, tear_down)
{
    world.stations[0].topics[0] = TO "north/#";
    struct station *const north = connect_as(0, "north");
    struct station *const coordinator = connect_as(1, "coordinator");
    broker_kill(&broker);
    wait_for(&north->disconnected, 1);
    wait_for(&coordinator->disconnected, 1);
    assert_false(live_bus_is_connected(north->bus));
    assert_int_equal(live_bus_publish(north->bus, UP "north/x", NULL, 0, false), TACIT_IO);
    pass_ms(100);
    broker_run(&broker);
    wait_for(&north->connected, 2);
    wait_for(&coordinator->connected, 2);
    pass_ms(50);
    send_text(coordinator, TO "north/order", "again", false);
    wait_for(&north->received, 1);
    assert_int_equal(live_bus_count(north->bus).disconnects, 1);
    assert_int_equal(live_bus_count(north->bus).connects, 2);
}

TEST_WITH(writing_to_a_broker_that_is_gone_is_survived, set_up, tear_down)
{
    struct station *const north = connect_as(0, "north");
    broker_kill(&broker);
    for (int i = 0; i < 5; i++) {
        (void)live_bus_publish(north->bus, UP "north/x", NULL, 0, false);
        (void)usleep(2000);
    }
    assert_int_equal(north->disconnected, 0); /* handlers run in the loop, not in our call */
    wait_for(&north->disconnected, 1);
    assert_false(live_bus_is_connected(north->bus));
}

TEST_WITH(closing_while_the_broker_is_gone_is_survived, set_up, tear_down)
{
    struct station *const north = connect_as(0, "north");
    broker_kill(&broker);
    close_station(north);
    close_station(open_as(0, "north"));
}

TEST_WITH(stopped_broker_says_why, set_up, tear_down)
{
    struct station *const north = connect_as(0, "north");
    broker_stop(&broker);
    wait_for(&north->disconnected, 1);
    expect_reason(north, "the broker closed the connection without a reason");
    assert_int_equal(live_bus_count(north->bus).takeovers, 0);
}

TEST_WITH(broker_that_is_down_at_the_start_is_tried_until_it_is_up, set_up, tear_down)
{
    broker_kill(&broker);
    struct station *const north = open_as(0, "north");
    wait_for(&north->disconnected, 3);
    expect_reason(north, "cannot reach the broker: Connection refused");
    uint64_t const pause_us = live_bus_count(north->bus).backoff_us;
    assert_true(pause_us >= RECONNECT_US_MIN && pause_us <= RECONNECT_US_MAX);
    broker_run(&broker);
    wait_for(&north->connected, 1);
    assert_int_equal(live_bus_count(north->bus).connects, 1);
    assert_int_equal(live_bus_count(north->bus).disconnects, 0);
}

TEST_WITH(two_machines_with_one_certificate_throw_each_other_out_ever_less_often, set_up, tear_down)
{
    struct station *const one = connect_as(0, "north");
    struct station *const two = connect_as(1, "north");
    wait_for(&one->disconnected, 1);
    wait_for(&one->disconnected, 4);
    expect_reason(one, "session taken over: somebody else connects with our certificate");
    struct live_bus_counts const counts = live_bus_count(one->bus);
    assert_true(counts.takeovers >=
                3); /* mosquitto 2.0.11 does not say it, so the first is missed */
    assert_true(counts.takeovers <= 4);
    assert_true(counts.backoff_us >= 2 * RECONNECT_US_MAX); /* half of max << 2, at least */
    assert_true(counts.backoff_us <= 8 * RECONNECT_US_MAX);
    assert_true(live_bus_count(two->bus).takeovers >= 2);
    assert_true(live_bus_count(two->bus).takeovers <= 5);
}

/* ---- A forged broker ------------------------------------------------------------------------- */

#define WELCOME "\x20\x03\x00\x00\x00" /* CONNACK: success */
#define WELCOME_BYTES 5u
#define PING "\xc0\x00"
#define PONG "\xd0\x00"

struct script {
    const uint8_t *bytes;
    size_t size;
    bool stays; /* connected after the last byte */
};

static _Noreturn void forge(int listener, const struct script *script)
{
    char heard[4096];
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        int const handle = accept(listener, NULL, NULL);
        if (handle < 0 || read(handle, heard, sizeof heard) <= 0)
            continue;
        for (size_t sent = 0; sent < script->size;) {
            ssize_t const size = write(handle, script->bytes + sent, script->size - sent);
            if (size <= 0)
                break;
            sent += (size_t)size;
        }
        while (script->stays && read(handle, heard, sizeof heard) > 0)
            if (script->size > 0 && heard[0] == PING[0])
                (void)!write(handle, PONG, 2);
        (void)close(handle);
    }
}

/* Returns a port of 127.0.0.1 where every caller gets these bytes. */
static uint16_t start_forger(const struct script *script)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int const listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(listen(listener, 8), 0);
    assert_true(world.forger_count < STATIONS_MAX);
    pid_t const forger = fork();
    assert_true(forger >= 0);
    if (forger == 0) {
        (void)signal(SIGPIPE, SIG_IGN);
        forge(listener, script);
    }
    world.forgers[world.forger_count++] = forger;
    (void)close(listener);
    return ntohs(address.sin_port);
}

/* papers: of a station that asks for TLS; NULL: one without. */
static struct live_bus_config forged_config(const struct script *script, struct papers *papers)
{
    struct live_bus_config config = {.host = BROKER_HOST,
                                     .client_id = "north",
                                     .keepalive_s = 10,
                                     .reconnect_us_min = RECONNECT_US_MIN,
                                     .reconnect_us_max = RECONNECT_US_MAX};
    if (papers != NULL)
        config = config_make(papers, "north");
    config.port = start_forger(script);
    return config;
}

static struct station *open_forged(const struct script *script)
{
    struct live_bus_config const config = forged_config(script, NULL);
    return open_with(0, &config);
}

/* One PUBLISH of quality 0. Returns its size. */
static size_t add_publish(uint8_t *packet, const char *topic, size_t topic_size,
                          size_t payload_size)
{
    size_t rest = 2 + topic_size + 1 + payload_size;
    size_t at = 0;
    packet[at++] = 0x30;
    do {
        packet[at++] = (uint8_t)(rest % 128 + (rest >= 128 ? 128 : 0));
        rest /= 128;
    } while (rest > 0);
    packet[at++] = (uint8_t)(topic_size / 256);
    packet[at++] = (uint8_t)(topic_size % 256);
    memcpy(packet + at, topic, topic_size);
    at += topic_size;
    packet[at++] = 0; /* no properties */
    memset(packet + at, 'p', payload_size);
    return at + payload_size;
}

TEST_WITH(message_over_the_limits_is_dropped_on_the_way_in, set_up, tear_down)
{
    static uint8_t bytes[4 * LIVE_PAYLOAD_BYTES_MAX];
    char topic[LIVE_TOPIC_BYTES];
    size_t size = WELCOME_BYTES;
    memset(topic, 'x', sizeof topic);
    memcpy(bytes, WELCOME, size);
    size += add_publish(bytes + size, "a/+", 3, 1);
    size += add_publish(bytes + size, "#", 1, 1);
    size += add_publish(bytes + size, topic, LIVE_TOPIC_BYTES, 1);
    size += add_publish(bytes + size, "a", 1, LIVE_PAYLOAD_BYTES_MAX + 1);
    size += add_publish(bytes + size, "greatest", 8, LIVE_PAYLOAD_BYTES_MAX);
    size += add_publish(bytes + size, topic, LIVE_TOPIC_BYTES - 1, 3);
    struct script const script = {.bytes = bytes, .size = size, .stays = true};
    struct station *const station = open_forged(&script);
    wait_for(&station->received, 2);
    assert_int_equal(station->size, 3);
    assert_int_equal(strlen(station->topic), LIVE_TOPIC_BYTES - 1);
    struct live_bus_counts const counts = live_bus_count(station->bus);
    assert_int_equal(counts.dropped, 4);
    assert_int_equal(counts.received, 2);
    assert_int_equal(station->disconnected, 0);
}

/* What is said of an end; it is tried again. */
static const struct {
    struct script script;
    bool has_tls; /* the station asks for it */
    bool is_takeover;
    const char *words;
} ends[] = {
    {{(const uint8_t *)WELCOME "\x30\x07\x00\x03\x61\x00\x62\x00\x70", 14, true},
     .words = "the connection to the broker broke"}, /* a topic with a zero does not decode */
    {{(const uint8_t *)"\x20\x03\x00\x87\x00", 5, false},
     .words = "the broker refuses us: Not authorized"},
    {{(const uint8_t *)WELCOME "\xe0\x01\x8b", 8, true},
     .words = "the broker ended the connection: Server shutting down"},
    {{(const uint8_t *)WELCOME "\xe0\x01\x8e", 8, true},
     .is_takeover = true,
     .words = "session taken over: somebody else connects with our certificate"},
    {{(const uint8_t *)"", 0, false}, .words = "the connection to the broker broke"},
    {{(const uint8_t *)WELCOME, WELCOME_BYTES, true},
     .has_tls = true,
     .words = "there is no TLS at that port"},
    {{(const uint8_t *)"", 0, false},
     .has_tls = true,
     .words = "the broker broke off the TLS handshake: perhaps it does not accept our"},
};

TEST(ends_are_put_into_words)
{
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct papers papers;
        assert_int_equal(set_up(NULL), 0);
        struct live_bus_config const config =
            forged_config(&ends[i].script, ends[i].has_tls ? &papers : NULL);
        struct station *const station = open_with(0, &config);
        wait_for(&station->disconnected, 1);
        expect_reason(station, ends[i].words);
        struct live_bus_counts const counts = live_bus_count(station->bus);
        assert_int_equal(counts.takeovers, ends[i].is_takeover);
        assert_int_equal(station->received, 0);
        if (ends[i].is_takeover) /* the pause is long */
            assert_in_range(counts.backoff_us, RECONNECT_US_MAX / 2, RECONNECT_US_MAX);
        else
            wait_for(&station->disconnected, 2);
        assert_true(!ends[i].has_tls || station->connected == 0);
        assert_int_equal(tear_down(NULL), 0);
    }
}

TEST_WITH(broker_that_answers_no_more_is_left, set_up, tear_down)
{
    struct script const mute = {.stays = true};
    struct script const idle = {
        .bytes = (const uint8_t *)WELCOME, .size = WELCOME_BYTES, .stays = true};
    struct live_bus_config config = forged_config(&mute, NULL);
    config.keepalive_s = 60; /* else the library may be the first to give up */
    struct station *const unwelcome = open_with(0, &config);
    config = forged_config(&idle, NULL);
    config.keepalive_s = 5;
    struct station *const unanswered = open_with(1, &config);
    wait_for(&unanswered->connected, 1);
    send_text(unanswered, UP "north/x", "x", false);
    wait_for(&unwelcome->disconnected, 1);
    expect_reason(unwelcome, "the broker does not answer");
    wait_for(&unanswered->disconnected, 1);
    expect_reason(unanswered, "the broker has stopped acknowledging what we publish");
}

static uint64_t processor_us(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 * US_PER_MS +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

TEST_WITH(silent_broker_costs_no_processor_time, set_up, tear_down)
{
    struct papers papers;
    struct script const script = {.stays = true};
    struct live_bus_config const config = forged_config(&script, &papers);
    struct station *const station = open_with(0, &config);
    pass_ms(100);
    uint64_t const before_us = processor_us();
    pass_ms(500);
    assert_true(processor_us() - before_us < 250 * US_PER_MS);
    assert_int_equal(station->connected, 0);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int group_set_up(void **state)
{
    is_possible = broker_is_possible();
    temp_directory_make(directory);
    if (is_possible)
        broker_start(&broker, directory, "trial", sites, sizeof sites / sizeof sites[0]);
    return 0;
}

static int group_tear_down(void **state)
{
    broker_stop(&broker);
    temp_directory_remove(directory);
    return 0;
}

int main(void)
{
    return testing_run(group_set_up, group_tear_down);
}
