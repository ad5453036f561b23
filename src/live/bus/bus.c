/* The bus makes a fresh libmosquitto client for every attempt to connect and throws it away when
 * the connection ends: nothing stale is sent later, no queue can get stuck, and renewed
 * certificates are read. Quality of service 1 is used because it costs little and mends most
 * losses, but nothing here trusts it: an acknowledged message is gone if the broker dies before it
 * has written it down, or if a queue is full; and a message may come twice. What must arrive is
 * answered by the other core.
 *
 * Rules of libmosquitto that shape this file: its callbacks run inside its functions, where a
 * client must not be destroyed, so callbacks only note what happened and `settle` acts on it
 * afterwards; it closes its socket by itself, so the loop watches a duplicate that is ours. */
#include "bus.h"
#include "../daemon/log.h"
#include "../daemon/names.h"
#include "../daemon/private.h"
#include "../daemon/refusal.h"
#include "../pki/pki.h"
#include <errno.h>
#include <fcntl.h>
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define QOS 1
#define INFLIGHT_MAX 20
#define WAITING_MAX 1024u /* publications without an acknowledgement: bounds the memory */
#define US_PER_S UINT64_C(1000000)
#define TICK_US US_PER_S /* keep-alive, and data that waits inside the TLS layer */
#define TICKS_A_KEEPALIVE 12u
#define HANDSHAKE_US_MAX (10 * US_PER_S)
#define HANDSHAKE_DOUBLINGS_MAX 3u
#define UNANSWERED_KEEPALIVES_MAX 2u
#define GOODBYE_MS_MAX 200
#define READS_AFTER_END_MAX 8u
#define FAILURES_MAX 31u
#define TAKEOVER_DOUBLINGS_MAX 5u
#define WORDLESS_MAX 2u
#define KEEPALIVE_S_MIN 5u
#define KEEPALIVE_S_MAX 65535u
#define REASON_BYTES 256u
#define HOST_BYTES_MAX 253u

/* CA, certificate and key as they were read last, in memory: one that was replaced by a broken one
 * is used on. */
enum { CA, CERTIFICATE, KEY, COPIES };

struct copies {
    int files[COPIES]; /* -1: none */
    char paths[COPIES][32];
    struct stat read[COPIES]; /* the files that were read */
};

struct live_bus {
    struct live_loop *loop;
    struct live_timer *timer;
    struct live_bus_events events;
    struct live_bus_counts counts;
    struct live_bus_config config;

    struct mosquitto *client; /* NULL between two attempts */
    int descriptor;           /* duplicate of the client's socket; -1: not watched */
    uint32_t interest;
    bool is_reached;   /* the TCP connection stands */
    bool is_connected; /* the broker has welcomed us, .. */
    bool is_refused;   /* .. but does not let us publish something */
    bool is_inside;    /* a function of libmosquitto is running, and perhaps a handler */
    bool has_ended;
    bool is_taken_over;
    bool is_wordless;  /* a welcomed connection was closed properly, and no reason given */
    bool has_eof;      /* .. or not properly */
    int connect_error; /* errno after the call that began to connect */
    uint64_t since_us; /* the attempt, then the connection */
    uint32_t waiting;
    uint64_t progress_us; /* when an acknowledgement came, or the first one was to be waited for */
    uint32_t failures;    /* in a row */
    uint32_t wordless_in_row;
    uint32_t takeovers_in_row; /* until a connection lasts */
    char reason[REASON_BYTES]; /* why it ended; empty: not known yet */
    char said[REASON_BYTES];   /* the first error that libmosquitto logged in this attempt */
    struct copies copies;
    char doubt[REASON_BYTES]; /* why they were not read anew, as it was said last */
    char lost[REASON_BYTES];  /* why the connection, or the attempt before, ended */
    uint64_t lost_us;         /* since when there is no connection; 0: there was none yet */
};

static uint32_t open_count; /* buses; libmosquitto lives as long as one does */

/* ---- Words ---- */

/* OpenSSL's words are for programmers. The alerts are what the broker thinks of us. */
static const struct {
    const char *said;
    const char *meaning;
} meanings[] = {
    {"host name verification failed", "the broker's certificate is made for another host"},
    {"certificate verify failed", "the broker's certificate is not valid: another CA, or expired"},
    {"alert certificate expired", "the broker says that our certificate has expired"},
    {"alert certificate revoked", "the broker says that our certificate is revoked"},
    {"alert unknown ca", "the broker does not trust the CA of our certificate"},
    {"alert bad certificate", "the broker does not accept our certificate"},
    {"alert unsupported certificate", "our certificate is not made for connecting to a broker"},
    {"alert certificate unknown", "the broker does not accept our certificate"},
    {"certificate required", "the broker wants a certificate"},
    {"alert handshake failure", "the broker refuses the TLS handshake"},
    {"alert protocol version", "the broker offers no TLS version from 1.2 on"},
    {"unsupported protocol", "the broker offers no TLS version from 1.2 on"},
    {"wrong version number", "there is no TLS at that port"},
    {"unexpected message", "there is no TLS at that port, or a broken one"},
    {"packet length too long", "there is no TLS at that port"},
};

/* Why a connection ends: the first reason that is noted stays. */
static void note(struct live_bus *bus, const char *before, const char *words)
{
    if (bus->reason[0] != '\0')
        return;
    struct tacit_text text = tacit_text_init(bus->reason, sizeof bus->reason);
    tacit_text_add(&text, before);
    tacit_text_add(&text, words);
}

/* By the first error that libmosquitto logged, in plain words where they are known. False: it
 * logged none, and nothing is noted. */
static bool note_meaning(struct live_bus *bus)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (strstr(bus->said, meanings[i].said) != NULL) {
            bool const is_early = strstr(meanings[i].said, "certificate") != NULL &&
                                  live_pki_is_early(bus->copies.paths[CERTIFICATE]);
            if (is_early) /* what a wrong clock looks like, from either side */
                note(bus, LIVE_PKI_EARLY, "");
            note(bus, meanings[i].meaning, "");
            return true;
        }
    if (bus->said[0] != '\0')
        note(bus, "libmosquitto: ", bus->said);
    return bus->said[0] != '\0';
}

/* The other end is gone and did not say why, or its words were overtaken by the reset. In TLS 1.3 a
 * broker that refuses our certificate does so when the handshake is over for us; what can be wrong
 * with it is then looked for here. */
static void note_break(struct live_bus *bus, int system_error)
{
    bool const is_reached = bus->is_reached || bus->has_eof || system_error == EPROTO ||
                            system_error == ECONNRESET || system_error == EPIPE;
    bool const has_cause =
        system_error != 0 && system_error != EINPROGRESS && system_error != EAGAIN;
    if (!is_reached && has_cause)
        note(bus, "cannot reach the broker: ", strerror(system_error));
    else if (!is_reached)
        note(bus, "cannot reach the broker", "");
    else if (!bus->is_connected && bus->config.ca_file != NULL)
        note(bus, "the broker broke off the TLS handshake: ",
             live_pki_doubt(bus->copies.paths[CA], bus->copies.paths[CERTIFICATE]));
    else
        note(bus, "the connection to the broker broke", "");
}

/* code: MOSQ_ERR_*, or from MQTT_RC_UNSPECIFIED on a reason that the broker gave. */
static void note_code(struct live_bus *bus, int code, int system_error)
{
    if (code >= MQTT_RC_UNSPECIFIED)
        note(bus, "the broker ended the connection: ", mosquitto_reason_string(code));
    else if (note_meaning(bus))
        return;
    else if (code == MOSQ_ERR_EAI)
        note(bus, "cannot look up the broker's host name", "");
    else if (code == MOSQ_ERR_KEEPALIVE)
        note(bus, "the broker has been silent for too long", "");
    else if (code == MOSQ_ERR_ERRNO || code == MOSQ_ERR_CONN_LOST || code == MOSQ_ERR_NO_CONN ||
             code == MOSQ_ERR_TLS)
        note_break(bus, system_error);
    else
        note(bus, "the connection to the broker broke: ", mosquitto_strerror(code));
}

/* ---- What may pass ---- */

static bool is_text(const char *topic)
{
    size_t const size = strnlen(topic, LIVE_TOPIC_BYTES);
    return size >= 1 && size < LIVE_TOPIC_BYTES &&
           mosquitto_validate_utf8(topic, (int)size) == MOSQ_ERR_SUCCESS;
}

/* libmosquitto refuses a packet with NUL inside a topic before it gets here. */
static bool is_topic(const char *topic)
{
    return is_text(topic) && strpbrk(topic, "+#") == NULL;
}

static bool is_pattern(const char *topic)
{
    return is_text(topic) && mosquitto_sub_topic_check(topic) == MOSQ_ERR_SUCCESS;
}

/* ---- Callbacks: note what happened ---- */

static void on_connect(struct mosquitto *client, void *context, int code, int flags,
                       const mosquitto_property *properties)
{
    struct live_bus *const bus = context;
    (void)client;
    (void)flags;
    (void)properties;
    if (code != 0) {
        note(bus, "the broker refuses us: ", mosquitto_reason_string(code));
        return;
    }
    bus->is_connected = true;
    bus->lost[0] = '\0';
    bus->lost_us = 0;
    bus->since_us = live_now_us();
    bus->counts.connects++;
    bus->said[0] = '\0';
    bus->events.connected(bus->events.context);
    errno = 0; /* libmosquitto looks at it afterwards: a stale EAGAIN would stop its reading */
}

static void on_disconnect(struct mosquitto *client, void *context, int code,
                          const mosquitto_property *properties)
{
    struct live_bus *const bus = context;
    int const system_error = errno;
    (void)client;
    (void)properties;
    bus->is_taken_over = code == MQTT_RC_SESSION_TAKEN_OVER;
    bus->is_wordless = code == MOSQ_ERR_CONN_LOST && system_error == 0 && !bus->has_eof &&
                       bus->is_connected && bus->config.ca_file != NULL;
    note_code(bus, code, system_error);
    bus->has_ended = true;
}

static void on_message(struct mosquitto *client, void *context,
                       const struct mosquitto_message *message,
                       const mosquitto_property *properties)
{
    struct live_bus *const bus = context;
    const uint8_t *const bytes = message->payload;
    (void)client;
    (void)properties;
    if (message->payloadlen < 0 || (size_t)message->payloadlen > LIVE_PAYLOAD_BYTES_MAX ||
        !is_topic(message->topic)) {
        bus->counts.dropped++;
        return;
    }
    bus->counts.received++;
    bus->events.received(bus->events.context, message->topic,
                         bytes == NULL ? (const uint8_t *)"" : bytes, (size_t)message->payloadlen);
    errno = 0; /* as in on_connect */
}

static void on_publish(struct mosquitto *client, void *context, int message_id, int code,
                       const mosquitto_property *properties)
{
    struct live_bus *const bus = context;
    (void)client;
    (void)message_id;
    (void)properties;
    if (bus->waiting > 0)
        bus->waiting--;
    bus->progress_us = live_now_us();
    if (code >= MQTT_RC_UNSPECIFIED)
        bus->counts.refused++;
    if (code == MQTT_RC_NOT_AUTHORIZED && !bus->is_refused)
        live_log(LIVE_LOG_WARNING, "access", LIVE_BUS_REFUSES);
    bus->is_refused = bus->is_refused || code == MQTT_RC_NOT_AUTHORIZED;
}

static void on_subscribe(struct mosquitto *client, void *context, int message_id, int count,
                         const int *codes, const mosquitto_property *properties)
{
    struct live_bus *const bus = context;
    (void)client;
    (void)message_id;
    (void)properties;
    for (int i = 0; i < count; i++)
        if (codes[i] >= MQTT_RC_UNSPECIFIED)
            bus->counts.refused++;
}

/* "error:0A000086:SSL routines::words" */
static void record_error(struct live_bus *bus, const char *text)
{
    const char *const last = strrchr(text, ':');
    const char *const words =
        strstr(text, "OpenSSL Error") != NULL && last != NULL ? last + 1 : text;
    (void)snprintf(bus->said, sizeof bus->said, "%s", words);
}

/* Keeps the first error: the later ones follow from it. */
static void on_log(struct mosquitto *client, void *context, int level, const char *text)
{
    struct live_bus *const bus = context;
    (void)client;
    if (strstr(text, "unexpected eof") != NULL)
        bus->has_eof = true;
    else if (level == MOSQ_LOG_ERR && bus->said[0] == '\0')
        record_error(bus, text);
}

/* ---- The end of a connection ---- */

static uint64_t jittered(uint64_t pause_us)
{
    uint64_t draw;
    if (getrandom(&draw, sizeof draw, 0) != (ssize_t)sizeof draw)
        return pause_us; /* nothing secret: only to keep many sites from calling at once */
    return pause_us / 2 + draw % (pause_us / 2 + 1);
}

/* Two machines with one certificate throw each other out with every connect, so each has to come
 * back more and more seldom. A connection that lasted only while the other one paused is no sign
 * that they have stopped; one that lasted longer is. The other one was thrown out about as often as
 * we were: it pauses at most one doubling longer, and then has to come in. */
static void forget_quarrel(struct live_bus *bus, uint64_t lasted_us)
{
    unsigned const doublings = bus->takeovers_in_row < TAKEOVER_DOUBLINGS_MAX
                                   ? bus->takeovers_in_row + 1
                                   : TAKEOVER_DOUBLINGS_MAX;
    if (lasted_us <= ((uint64_t)bus->config.reconnect_us_max << doublings) + HANDSHAKE_US_MAX)
        return;
    bus->takeovers_in_row = 0;
    bus->wordless_in_row = 0;
}

static const char taken_over[] = "session taken over: somebody else connects with our certificate";

/* MQTT 5 has a word for it, but mosquitto 2.0.11 does not say it: it closes the TLS connection
 * properly, as when it is told to stop. Twice in a row is no accident. */
static void judge(struct live_bus *bus)
{
    if (bus->is_wordless && ++bus->wordless_in_row >= WORDLESS_MAX)
        bus->is_taken_over = true;
    if (!bus->is_wordless && !bus->is_taken_over)
        return;
    bus->reason[0] = '\0';
    if (!bus->is_taken_over)
        note(bus, "the broker closed the connection without a reason", "");
    else
        note(bus, bus->is_wordless ? "probably " : "", taken_over);
}

/* Of attempts and takeovers in a row, by which the next pause is reckoned. */
static void count_failure(struct live_bus *bus)
{
    uint64_t const lasted_us = bus->is_connected ? live_now_us() - bus->since_us : 0;
    forget_quarrel(bus, lasted_us);
    judge(bus);
    if (lasted_us > bus->config.reconnect_us_max)
        bus->failures = 0;
    if (bus->failures < FAILURES_MAX)
        bus->failures++;
    if (!bus->is_taken_over)
        return;
    bus->counts.takeovers++;
    if (bus->takeovers_in_row <= TAKEOVER_DOUBLINGS_MAX)
        bus->takeovers_in_row++;
}

/* Until the next attempt to connect. */
static uint64_t pause_us(const struct live_bus *bus)
{
    uint64_t const max_us = bus->config.reconnect_us_max;
    uint64_t const grown_us = (uint64_t)bus->config.reconnect_us_min << (bus->failures - 1);
    if (bus->is_taken_over)
        return jittered(max_us << (bus->takeovers_in_row - 1));
    return jittered(grown_us < max_us ? grown_us : max_us);
}

static void drop_client(struct live_bus *bus)
{
    if (bus->descriptor >= 0) {
        live_loop_forget(bus->loop, bus->descriptor);
        (void)close(bus->descriptor);
        bus->descriptor = -1;
    }
    mosquitto_destroy(bus->client);
    bus->client = NULL;
    bus->is_connected = false;
}

/* The reason has been noted. Nothing of the bus is touched after the handler. */
static void lose(struct live_bus *bus)
{
    char reason[REASON_BYTES];
    TACIT_ASSERT(bus->reason[0] != '\0');
    if (bus->is_connected)
        bus->counts.disconnects++;
    count_failure(bus);
    memcpy(reason, bus->reason, sizeof reason);
    memcpy(bus->lost, reason, sizeof bus->lost);
    if (bus->lost_us == 0)
        bus->lost_us = live_now_us();
    drop_client(bus);
    bus->counts.backoff_us = pause_us(bus);
    live_timer_set(bus->timer, live_now_us() + bus->counts.backoff_us);
    bus->events.disconnected(bus->events.context, reason);
}

/* Asks the loop for what libmosquitto waits for. False: the loop failed, which is noted. */
static bool await(struct live_bus *bus)
{
    uint32_t interest = EPOLLIN;
    if (!bus->is_reached || mosquitto_want_write(bus->client))
        interest |= EPOLLOUT;
    if (interest == bus->interest)
        return true;
    bus->interest = interest;
    if (live_loop_change(bus->loop, bus->descriptor, interest) == TACIT_OK)
        return true;
    note(bus, "the event loop failed", "");
    return false;
}

/* After each call of libmosquitto that was not made inside another one. */
static void settle(struct live_bus *bus, int code, int system_error)
{
    if (bus->has_ended || (code != MOSQ_ERR_SUCCESS && code != MOSQ_ERR_CONN_PENDING) ||
        mosquitto_socket(bus->client) < 0) {
        note_code(bus, code == MOSQ_ERR_SUCCESS ? MOSQ_ERR_CONN_LOST : code, system_error);
        lose(bus);
    } else if (!await(bus)) {
        lose(bus);
    }
}

/* ---- Running ---- */

/* Reads before it writes: the broker's last words must not be lost to a write that fails. Reads
 * even if the socket has nothing: the TLS layer may. After the end of a connection that the library
 * has not noticed (in a handshake it would try again for ever), reads what is left and gives up. */
static void work(struct live_bus *bus, uint32_t events)
{
    bool const is_over = (events & (EPOLLERR | EPOLLHUP)) != 0;
    uint32_t reads = is_over ? READS_AFTER_END_MAX : 1;
    int code = MOSQ_ERR_SUCCESS;
    bus->is_inside = true;
    errno = 0;
    while (reads-- > 0 && code == MOSQ_ERR_SUCCESS && !bus->has_ended)
        code = mosquitto_loop_read(bus->client, 1);
    if (code == MOSQ_ERR_SUCCESS && !bus->has_ended && !is_over && (events & EPOLLOUT) != 0 &&
        mosquitto_want_write(bus->client))
        code = mosquitto_loop_write(bus->client, 1);
    int const system_error = errno;
    bus->is_inside = false;
    if (is_over && !bus->is_connected && code == MOSQ_ERR_SUCCESS && !bus->has_ended)
        code = MOSQ_ERR_CONN_LOST;
    settle(bus, code, system_error);
}

/* Is the TCP connection there, or has it been? The library's first, early try at the handshake may
 * have taken the socket's error away; then errno after that try says what it was. */
static bool reach(struct live_bus *bus)
{
    struct sockaddr_storage peer;
    socklen_t peer_size = sizeof peer;
    int code = 0;
    socklen_t code_size = sizeof code;
    (void)getsockopt(bus->descriptor, SOL_SOCKET, SO_ERROR, &code, &code_size);
    if (code == ECONNRESET ||
        (code == 0 && getpeername(bus->descriptor, (struct sockaddr *)&peer, &peer_size) == 0))
        return true;
    note_break(bus, code == 0 ? bus->connect_error : code);
    return false;
}

static void on_ready(void *context, uint32_t events)
{
    struct live_bus *const bus = context;
    if (!bus->is_reached)
        bus->is_reached = reach(bus);
    if (!bus->is_reached)
        lose(bus);
    else
        work(bus, events);
}

/* True: the connection is of no use, which is noted. Brokers have been seen that answer pings and
 * acknowledge nothing any more. A handshake that waits behind those of thousands gets more time
 * with each that failed. */
static bool note_stuck(struct live_bus *bus)
{
    uint64_t const now_us = live_now_us();
    unsigned const doublings =
        bus->failures < HANDSHAKE_DOUBLINGS_MAX ? bus->failures : HANDSHAKE_DOUBLINGS_MAX;
    uint64_t const unanswered_us = UNANSWERED_KEEPALIVES_MAX * bus->config.keepalive_s * US_PER_S;
    if (!bus->is_connected && now_us - bus->since_us > HANDSHAKE_US_MAX << doublings)
        note(bus, "the broker does not answer", "");
    else if (bus->waiting > 0 && now_us - bus->progress_us > unanswered_us)
        note(bus, "the broker has stopped acknowledging what we publish", "");
    return bus->reason[0] != '\0';
}

/* What libmosquitto has to do in between: pings, and bytes that its TLS layer holds. A connection
 * that is stuck is given up. */
static void tick(struct live_bus *bus)
{
    uint64_t const calm_us = bus->config.keepalive_s * US_PER_S / TICKS_A_KEEPALIVE;
    live_timer_set(bus->timer,
                   live_now_us() + (bus->is_connected && calm_us > TICK_US ? calm_us : TICK_US));
    if (!bus->has_ended && note_stuck(bus)) {
        lose(bus);
        return;
    }
    bus->is_inside = true;
    int const code = mosquitto_loop_misc(bus->client);
    int const system_error = errno;
    bus->is_inside = false;
    if (code != MOSQ_ERR_SUCCESS || bus->has_ended || !bus->is_connected)
        settle(bus, code, system_error);
    else
        work(bus, 0);
}

/* ---- Connecting ---- */

/* An encrypted key is refused (live_pki_check); nobody is asked at a terminal. */
static int no_password(char *bytes, int size, int is_for_writing, void *context)
{
    (void)bytes;
    (void)size;
    (void)is_for_writing;
    (void)context;
    return 0;
}

static void set_callbacks(struct mosquitto *client)
{
    mosquitto_connect_v5_callback_set(client, on_connect);
    mosquitto_disconnect_v5_callback_set(client, on_disconnect);
    mosquitto_message_v5_callback_set(client, on_message);
    mosquitto_publish_v5_callback_set(client, on_publish);
    mosquitto_subscribe_v5_callback_set(client, on_subscribe);
    mosquitto_log_callback_set(client, on_log);
}

static void drop_copies(struct copies *copies)
{
    for (unsigned i = 0; i < COPIES; i++)
        if (copies->files[i] >= 0)
            (void)close(copies->files[i]);
    *copies = (struct copies){.files = {-1, -1, -1}};
}

static bool copy_file(const char *path, int into, struct stat *read_now)
{
    char part[4096];
    ssize_t got = 0;
    int const from = open(path, O_RDONLY | O_CLOEXEC);
    bool is_good = from >= 0 && fstat(from, read_now) == 0;
    while (is_good && (got = read(from, part, sizeof part)) > 0)
        is_good = write(into, part, (size_t)got) == got;
    if (from >= 0)
        (void)close(from);
    return is_good && got == 0;
}

/* False: some of them may be open; drop_copies closes those. */
static bool copy_all(const char *const paths[COPIES], struct copies *copies)
{
    *copies = (struct copies){.files = {-1, -1, -1}};
    for (unsigned i = 0; i < COPIES; i++) {
        copies->files[i] = memfd_create("tacit", MFD_CLOEXEC);
        if (copies->files[i] < 0 || fchmod(copies->files[i], 0600) != 0 ||
            !copy_file(paths[i], copies->files[i], &copies->read[i]))
            return false;
        (void)snprintf(copies->paths[i], sizeof copies->paths[i], "/proc/self/fd/%d",
                       copies->files[i]);
    }
    return true;
}

/* Reads all three, and checks what was read; what is wrong is looked for in the files themselves,
 * so that error->text names those. After errors, too, the copies are to be dropped. */
static bool make_copies(const struct live_bus_config *config, struct copies *copies,
                        struct tacit_error *error)
{
    const char *const paths[COPIES] = {config->ca_file, config->certificate_file, config->key_file};
    if (copy_all(paths, copies) && live_private_is_closed(&copies->read[KEY]) &&
        live_pki_check(copies->paths[CA], copies->paths[CERTIFICATE], copies->paths[KEY],
                       config->client_id, error) == TACIT_OK)
        return true;
    if (live_pki_check(paths[CA], paths[CERTIFICATE], paths[KEY], config->client_id, error) ==
        TACIT_OK)
        (void)snprintf(error->text, sizeof error->text, "%.200s, or what belongs to it, changes",
                       paths[CERTIFICATE]);
    return false;
}

/* Are they the files that were read? A key takes a millisecond to read. */
static bool is_unchanged(const struct live_bus_config *config, const struct copies *copies)
{
    const char *const paths[COPIES] = {config->ca_file, config->certificate_file, config->key_file};
    for (unsigned i = 0; i < COPIES; i++) {
        struct stat now;
        struct stat const *const then = &copies->read[i];
        if (stat(paths[i], &now) != 0 || now.st_dev != then->st_dev || now.st_ino != then->st_ino ||
            now.st_size != then->st_size || now.st_mode != then->st_mode ||
            memcmp(&now.st_mtim, &then->st_mtim, sizeof now.st_mtim) != 0 ||
            memcmp(&now.st_ctim, &then->st_ctim, sizeof now.st_ctim) != 0)
            return false;
    }
    return true;
}

/* Said once, not with every attempt. */
static void log_doubt(struct live_bus *bus, const char *doubt)
{
    if (strncmp(bus->doubt, doubt, sizeof bus->doubt - 1) == 0)
        return;
    (void)snprintf(bus->doubt, sizeof bus->doubt, "%s", doubt);
    if (doubt[0] != '\0')
        live_log(LIVE_LOG_WARNING, "key", "the certificate for the broker stays as it was: %s",
                 doubt);
}

bool live_bus_renew(struct live_bus *bus)
{
    struct tacit_error error = {""};
    struct copies fresh;
    if (bus->config.ca_file == NULL)
        return true;
    if (is_unchanged(&bus->config, &bus->copies)) {
        log_doubt(bus, "");
        return true;
    }
    bool const is_good = make_copies(&bus->config, &fresh, &error);
    log_doubt(bus, is_good ? "" : error.text);
    drop_copies(is_good ? &bus->copies : &fresh);
    if (is_good)
        bus->copies = fresh;
    return is_good;
}

/* Certificates are always verified, and the broker's name with them: libmosquitto's default, which
 * nothing here weakens. "tlsv1.2" is the least version; 1.3 is taken where both have it. */
static int set_tls(struct live_bus *bus)
{
    const struct live_bus_config *const config = &bus->config;
    if (config->ca_file == NULL)
        return MOSQ_ERR_SUCCESS;
    (void)live_bus_renew(bus);
    int const code =
        mosquitto_tls_set(bus->client, bus->copies.paths[CA], NULL, bus->copies.paths[CERTIFICATE],
                          bus->copies.paths[KEY], no_password);
    if (code == MOSQ_ERR_INVAL)
        note(bus, "cannot read the CA, our certificate or its key", "");
    if (code != MOSQ_ERR_SUCCESS)
        return code;
    return mosquitto_tls_opts_set(bus->client, 1, "tlsv1.2", LIVE_TLS_CIPHERS);
}

/* Clean start; session expiry is 0 where none is asked for. */
static int set_options(struct live_bus *bus)
{
    struct mosquitto *const client = bus->client;
    set_callbacks(client);
    int code = mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
    if (code == MOSQ_ERR_SUCCESS)
        code = mosquitto_int_option(client, MOSQ_OPT_RECEIVE_MAXIMUM, INFLIGHT_MAX);
    if (code == MOSQ_ERR_SUCCESS)
        code = mosquitto_int_option(client, MOSQ_OPT_SEND_MAXIMUM, INFLIGHT_MAX);
    if (code == MOSQ_ERR_SUCCESS)
        code = mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1);
    return code == MOSQ_ERR_SUCCESS ? set_tls(bus) : code;
}

/* Watches a duplicate of the client's socket: libmosquitto closes its own by itself. */
static enum tacit_status watch(struct live_bus *bus)
{
    int const handle = mosquitto_socket(bus->client);
    (void)fcntl(handle, F_SETFD, FD_CLOEXEC);
    bus->descriptor = fcntl(handle, F_DUPFD_CLOEXEC, 0);
    if (bus->descriptor < 0)
        return TACIT_IO;
    bus->interest = EPOLLIN | EPOLLOUT;
    enum tacit_status const status =
        live_loop_watch(bus->loop, bus->descriptor, bus->interest, on_ready, bus);
    if (status != TACIT_OK) {
        (void)close(bus->descriptor);
        bus->descriptor = -1;
    }
    return status;
}

static void reset(struct live_bus *bus)
{
    bus->is_reached = false;
    bus->has_ended = false;
    bus->is_refused = false;
    bus->is_taken_over = false;
    bus->is_wordless = false;
    bus->has_eof = false;
    bus->waiting = 0;
    bus->reason[0] = '\0';
    bus->said[0] = '\0';
    bus->since_us = live_now_us();
}

/* A NULL context would be replaced by libmosquitto's own. */
static void try_to_connect(struct live_bus *bus)
{
    reset(bus);
    errno = 0;
    bus->client = mosquitto_new(bus->config.client_id, true, bus);
    int code = bus->client == NULL ? MOSQ_ERR_NOMEM : set_options(bus);
    bus->is_inside = true;
    if (code == MOSQ_ERR_SUCCESS)
        code = mosquitto_connect_async(bus->client, bus->config.host, bus->config.port,
                                       (int)bus->config.keepalive_s);
    bus->connect_error = errno;
    bus->is_inside = false;
    if (code != MOSQ_ERR_SUCCESS || bus->has_ended || mosquitto_socket(bus->client) < 0) {
        note_code(bus, code, bus->connect_error);
        lose(bus);
    } else if (watch(bus) != TACIT_OK) {
        note(bus, "the event loop failed", "");
        lose(bus);
    } else {
        live_timer_set(bus->timer, live_now_us() + TICK_US);
    }
}

static void on_due(void *context)
{
    struct live_bus *const bus = context;
    if (bus->client == NULL)
        try_to_connect(bus);
    else
        tick(bus);
}

/* ---- Opening and closing ---- */

static enum tacit_status refuse(struct tacit_error *error, const char *text)
{
    return live_refuse(error, TACIT_INVALID, "%s", text);
}

static bool is_loopback(const char *host)
{
    return strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0 ||
           strcmp(host, "localhost") == 0;
}

static enum tacit_status check(const struct live_bus_config *config, struct tacit_error *error)
{
    size_t const host_size = config->host == NULL ? 0 : strnlen(config->host, HOST_BYTES_MAX + 1);
    if (host_size == 0 || host_size > HOST_BYTES_MAX || config->port == 0)
        return refuse(error, "the broker needs a host name and a port from 1 to 65535");
    if (config->client_id == NULL || !live_name_is_allowed(config->client_id))
        return refuse(error, "the client id must be a name: 1 to 64 of A-Z a-z 0-9 _ -");
    if (config->keepalive_s < KEEPALIVE_S_MIN || config->keepalive_s > KEEPALIVE_S_MAX)
        return refuse(error, "the keep-alive time must be 5 to 65535 seconds");
    if (config->reconnect_us_min == 0 || config->reconnect_us_min > config->reconnect_us_max)
        return refuse(error, "the pauses between attempts must be above 0, and min not over max");
    if (config->ca_file == NULL && !is_loopback(config->host))
        return refuse(error, "without TLS there is no broker but one on loopback, for tests");
    if (config->ca_file == NULL)
        return TACIT_OK;
    if (config->certificate_file == NULL || config->key_file == NULL)
        return refuse(error, "a connection needs a CA, a certificate and its key");
    return TACIT_OK;
}

/* OpenSSL writes to sockets in a way that raises the signal when the other end is gone. Whoever has
 * set a handler of his own keeps it. */
static void ignore_broken_pipes(void)
{
    struct sigaction now;
    if (sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        (void)signal(SIGPIPE, SIG_IGN);
}

/* Frees it; the last bus takes the library with it. */
static void deinit(struct live_bus *bus)
{
    drop_copies(&bus->copies);
    free(bus);
    if (--open_count == 0)
        (void)mosquitto_lib_cleanup();
}

enum tacit_status live_bus_open(struct live_bus **bus, struct live_loop *loop,
                                const struct live_bus_config *config,
                                const struct live_bus_events *events, struct tacit_error *error)
{
    TACIT_ASSERT(loop != NULL && config != NULL && events != NULL);
    TACIT_ASSERT(events->connected != NULL);
    TACIT_ASSERT(events->disconnected != NULL);
    TACIT_ASSERT(events->received != NULL);
    TACIT_TRY(check(config, error));
    struct live_bus *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return live_refuse(error, TACIT_MEMORY, "out of memory");
    ignore_broken_pipes();
    if (open_count++ == 0)
        (void)mosquitto_lib_init(); /* answers MOSQ_ERR_SUCCESS always */
    made->loop = loop;
    made->events = *events;
    made->config = *config;
    made->descriptor = -1;
    made->copies = (struct copies){.files = {-1, -1, -1}};
    if (config->ca_file != NULL && !make_copies(config, &made->copies, error)) {
        deinit(made);
        return TACIT_INVALID;
    }
    made->timer = live_timer_new(loop, on_due, made);
    if (made->timer == NULL) {
        deinit(made);
        return live_refuse(error, TACIT_MEMORY, "out of memory");
    }
    live_timer_set(made->timer, live_now_us());
    *bus = made;
    return TACIT_OK;
}

/* Says goodbye, and waits a moment for it to leave. */
static void disconnect(struct live_bus *bus)
{
    uint64_t const deadline_us = live_now_us() + GOODBYE_MS_MAX * UINT64_C(1000);
    int code = mosquitto_disconnect_v5(bus->client, MQTT_RC_NORMAL_DISCONNECTION, NULL);
    while (code == MOSQ_ERR_SUCCESS && !bus->has_ended && mosquitto_socket(bus->client) >= 0 &&
           mosquitto_want_write(bus->client) && live_now_us() < deadline_us) {
        struct pollfd ready = {.fd = mosquitto_socket(bus->client), .events = POLLOUT};
        (void)poll(&ready, 1, GOODBYE_MS_MAX / 10);
        code = mosquitto_loop_write(bus->client, 1);
    }
}

void live_bus_close(struct live_bus *bus)
{
    if (bus == NULL)
        return;
    TACIT_ASSERT(!bus->is_inside);
    live_timer_set(bus->timer, TACIT_NEVER);
    if (bus->is_connected)
        disconnect(bus);
    drop_client(bus);
    deinit(bus);
}

/* ---- Using it ---- */

bool live_bus_is_connected(const struct live_bus *bus)
{
    return bus->is_connected;
}

/* A call from outside may have found the connection broken: what follows is the loop's business, so
 * that no handler runs inside the caller's call. */
static void defer(struct live_bus *bus)
{
    if (bus->is_inside)
        return;
    if (mosquitto_socket(bus->client) < 0 || !await(bus))
        bus->has_ended = true;
    if (bus->has_ended)
        live_timer_set(bus->timer, live_now_us());
}

static enum tacit_status status_of(int code)
{
    switch (code) {
    case MOSQ_ERR_SUCCESS:
        return TACIT_OK;
    case MOSQ_ERR_INVAL:
    case MOSQ_ERR_MALFORMED_UTF8:
    case MOSQ_ERR_PAYLOAD_SIZE:
    case MOSQ_ERR_OVERSIZE_PACKET:
        return TACIT_INVALID;
    default:
        return TACIT_IO;
    }
}

bool live_bus_has_room(const struct live_bus *bus)
{
    return bus->is_connected && !bus->has_ended && bus->waiting < WAITING_MAX;
}

enum tacit_status live_bus_publish(struct live_bus *bus, const char *topic, const uint8_t *bytes,
                                   size_t size, bool retain)
{
    TACIT_ASSERT(topic != NULL);
    if (!is_topic(topic) || size > LIVE_PAYLOAD_BYTES_MAX)
        return TACIT_INVALID;
    if (!live_bus_has_room(bus))
        return TACIT_IO;
    enum tacit_status const status = status_of(
        mosquitto_publish_v5(bus->client, NULL, topic, (int)size, bytes, QOS, retain, NULL));
    if (status == TACIT_OK) {
        if (bus->waiting++ == 0)
            bus->progress_us = live_now_us();
        bus->counts.sent++;
        bus->counts.sent_bytes += size;
    }
    defer(bus);
    return status;
}

enum tacit_status live_bus_subscribe(struct live_bus *bus, const char *topic)
{
    TACIT_ASSERT(topic != NULL);
    if (!is_pattern(topic))
        return TACIT_INVALID;
    if (!bus->is_connected || bus->has_ended)
        return TACIT_IO;
    enum tacit_status status = status_of(mosquitto_unsubscribe_v5(bus->client, NULL, topic, NULL));
    if (status == TACIT_OK)
        status = status_of(mosquitto_subscribe_v5(bus->client, NULL, topic, QOS, 0, NULL));
    defer(bus);
    return status;
}

struct live_bus_counts live_bus_count(const struct live_bus *bus)
{
    return bus->counts;
}

struct live_bus_trouble live_bus_why(const struct live_bus *bus)
{
    return (struct live_bus_trouble){.is_connected = bus->is_connected,
                                     .is_refused = bus->is_connected && bus->is_refused,
                                     .reason = bus->lost,
                                     .since_us = bus->lost_us};
}
