/* The connection to the broker: MQTT 5 over mutual TLS, by libmosquitto, inside our loop. Promises
 * nothing about delivery: what must arrive is sent again by the cores until it is answered. */
#ifndef TACIT_LIVE_BUS_H
#define TACIT_LIVE_BUS_H
#include "../daemon/loop.h"
#include "../pki/pki.h"

#define LIVE_TOPIC_BYTES 256u
#define LIVE_PAYLOAD_BYTES_MAX 65536u

struct live_bus;

struct live_bus_config {
    const char *host;
    uint16_t port;
    const char *ca_file; /* NULL: no TLS; only tests may, to a broker on loopback */
    const char *certificate_file;
    const char *key_file;      /* ours alone: 0600 */
    const char *client_id;     /* the certificate's name; checked here, and by the broker */
    uint32_t keepalive_s;      /* 5 .. 65535 */
    uint32_t reconnect_us_min; /* back-off with jitter between these, and up to 32 times the */
    uint32_t reconnect_us_max; /* greater one while somebody else takes our session over */
};

struct live_bus_events {
    void *context;
    void (*connected)(void *context); /* subscribe here; sessions start clean */
    /* A connection ended or an attempt to connect failed; it tries again by itself. */
    void (*disconnected)(void *context, const char *reason);
    /* bytes belong to the bus and last until the handler returns. */
    void (*received)(void *context, const char *topic, const uint8_t *bytes, size_t size);
};

/* Starts to connect, in the next round of the loop; the texts of config have to stay. It reads the
 * files again for each attempt, so a renewed certificate needs no restart. Never blocks for longer
 * than a name look-up. Makes the process ignore SIGPIPE. Errors: TACIT_INVALID (configuration,
 * unreadable key), TACIT_MEMORY, with error->text. */
enum tacit_status live_bus_open(struct live_bus **bus, struct live_loop *loop,
                                const struct live_bus_config *config,
                                const struct live_bus_events *events, struct tacit_error *error);
/* Says goodbye if connected, then closes; waits for at most 0.2 s. Not inside a handler. */
void live_bus_close(struct live_bus *bus);

/* Reads CA, certificate and key anew, for the next handshake; each attempt to connect does so, too.
 * False: what was read before is used on, and the log says why. */
bool live_bus_renew(struct live_bus *bus);

bool live_bus_is_connected(const struct live_bus *bus);

/* May something be published now? Not while the broker owes too many acknowledgements; when some
 * have come, in a later round of the loop, it may again. */
bool live_bus_has_room(const struct live_bus *bus);

/* QoS 1. What was not yet acknowledged when a connection ends is forgotten. Errors: TACIT_IO when
 * not connected, without room or refused (the caller's core sends again later), TACIT_INVALID for a
 * topic or size that is not allowed. */
enum tacit_status live_bus_publish(struct live_bus *bus, const char *topic, const uint8_t *bytes,
                                   size_t size, bool retain);

/* What is subscribed to already is subscribed to anew, and what is retained there comes again; what
 * is not retained may be missed in between. The broker is asked to forget the topic first: it would
 * lose memory at each subscription that repeats one (decision 37), or refuse it. */
enum tacit_status live_bus_subscribe(struct live_bus *bus, const char *topic);

/* For status and metrics. */
struct live_bus_counts {
    uint64_t connects;
    uint64_t disconnects;
    /* "session taken over": somebody else uses our certificate. Said by the broker, or inferred
     * when it closes the connection twice in a row without a word (mosquitto 2.0.11 never says it).
     */
    uint64_t takeovers;
    uint64_t sent;
    uint64_t sent_bytes;
    uint64_t received;
    uint64_t refused;    /* by the broker's reason code: publications, subscriptions */
    uint64_t dropped;    /* arrived with a topic or size over our limits */
    uint64_t backoff_us; /* the pause before the latest attempt to connect */
};
struct live_bus_counts live_bus_count(const struct live_bus *bus);

/* Why there is no connection, or nobody hears what is published. */
#define LIVE_BUS_REFUSES                                                                           \
    "the access list of the broker does not let us publish all that we say: nobody hears it"
struct live_bus_trouble {
    bool is_connected;
    bool is_refused;    /* by a connection, since it stands: LIVE_BUS_REFUSES */
    const char *reason; /* of the end of the last one, or of the last attempt; "": the first attempt
                           is under way. Valid until the next round of the loop */
    uint64_t since_us;  /* 0: none was lost, and none failed */
};
struct live_bus_trouble live_bus_why(const struct live_bus *bus);
#endif
