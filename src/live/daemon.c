/* The frame of a daemon: persist, send, answer; stop when the disk fails. */
#include "daemon.h"
#include "daemon/entropy.h"
#include "daemon/log.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LARGE_BYTES (64u << 10)

struct live_outgoing {
    struct live_outgoing *next;
    bool retain;
    size_t size;
    char topic[LIVE_TOPIC_BYTES];
    uint8_t bytes[];
};

/* ---- Outgoing messages ----------------------------------------------------------------------- */

void live_daemon_send(struct live_daemon *daemon, const char *topic, const uint8_t *bytes,
                      size_t size, bool retain)
{
    TACIT_ASSERT(size <= LIVE_PAYLOAD_BYTES_MAX && (size > 0 || retain));
    size_t const bytes_now = daemon->outgoing_bytes + sizeof(struct live_outgoing) + size;
    struct live_outgoing *const message =
        bytes_now > LIVE_OUTGOING_BYTES_MAX ? NULL : malloc(sizeof *message + size);
    if (message == NULL) {
        live_log(LIVE_LOG_WARNING, "memory", "a message was not sent now; it will be sent again");
        return;
    }
    *message = (struct live_outgoing){.retain = retain, .size = size};
    (void)snprintf(message->topic, sizeof message->topic, "%s", topic);
    if (size > 0)
        memcpy(message->bytes, bytes, size);
    *daemon->end = message;
    daemon->end = &message->next;
    daemon->outgoing_bytes = bytes_now;
}

static struct live_outgoing *pop_outgoing(struct live_daemon *daemon)
{
    struct live_outgoing *const message = daemon->first;
    if (message == NULL)
        return NULL;
    daemon->first = message->next;
    if (daemon->first == NULL)
        daemon->end = &daemon->first;
    daemon->outgoing_bytes -= sizeof *message + message->size;
    return message;
}

/* A hub may have more to say at once than a broker takes at once: to every site. The rest waits for
 * acknowledgements, each of which is a round of the loop that comes here again. */
static void flush_outgoing(struct live_daemon *daemon)
{
    while (daemon->first != NULL && live_bus_has_room(daemon->bus)) {
        struct live_outgoing *const message = pop_outgoing(daemon);
        (void)live_bus_publish(daemon->bus, message->topic, message->bytes, message->size,
                               message->retain);
        free(message);
    }
}

void live_daemon_hold(struct live_daemon *daemon, uint64_t event_us, uint64_t numbers)
{
    live_hold_draw(&daemon->hold, event_us, numbers);
    live_timer_set(daemon->tick, daemon->hold.until_us);
}

void live_daemon_hold_stream(struct live_daemon *daemon, uint64_t event_us, uint64_t numbers)
{
    live_hold_stream(&daemon->hold, event_us, numbers);
    live_timer_set(daemon->tick, daemon->hold.until_us);
}

/* The hook after this call sends. */
static void on_tick(void *context)
{
    struct live_daemon *const daemon = context;
    live_hold_tick(&daemon->hold);
}

/* At the end of a round. False: a hold goes on, and the timer is set to its tick. */
static bool may_send(struct live_daemon *daemon)
{
    if (live_hold_end_round(&daemon->hold, live_now_us()))
        return true;
    live_timer_set(daemon->tick, daemon->hold.until_us);
    return false;
}

static void drop_outgoing(struct live_daemon *daemon)
{
    while (daemon->first != NULL)
        free(pop_outgoing(daemon));
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

void live_daemon_fail(struct live_daemon *daemon, enum tacit_status status, const char *what)
{
    TACIT_ASSERT(status != TACIT_OK);
    if (daemon->status == TACIT_OK) {
        live_log(LIVE_LOG_ERROR, "stopping", "%s: %s", what,
                 live_store_is_broken(daemon->store) ? live_store_trouble(daemon->store)
                                                     : tacit_status_text(status));
        daemon->status = status;
    }
    live_loop_stop(daemon->loop);
}

void live_daemon_check(struct live_daemon *daemon, enum tacit_status status, const char *what)
{
    if (status != TACIT_OK)
        live_daemon_fail(daemon, status, what);
}

void live_daemon_put_value(struct live_daemon *daemon, const char *name, uint64_t value)
{
    if (live_daemon_begin(daemon))
        live_daemon_check(daemon, live_store_put_value(daemon->store, name, value),
                          "the state cannot be written");
}

bool live_daemon_begin(struct live_daemon *daemon)
{
    TACIT_ASSERT(daemon->store != NULL);
    if (daemon->batch_is_open)
        return true;
    if (daemon->status != TACIT_OK)
        return false;
    enum tacit_status const status = live_store_begin(daemon->store);
    if (status != TACIT_OK) {
        live_daemon_fail(daemon, status, "the state cannot be written");
        return false;
    }
    daemon->batch_is_open = true;
    return true;
}

/* After each round of the loop: what it changed is made durable, then all that was said leaves. */
static void end_round(void *context)
{
    struct live_daemon *const daemon = context;
    if (daemon->prepare != NULL)
        daemon->prepare(daemon->context);
    bool durable = daemon->status == TACIT_OK;
    if (daemon->batch_is_open && durable) {
        enum tacit_status const status = live_store_commit(daemon->store);
        if (status != TACIT_OK) {
            durable = false;
            live_daemon_fail(daemon, status, "the state is not durable; nothing is sent");
        }
    }
    daemon->batch_is_open = false;
    if (durable && daemon->bus != NULL && may_send(daemon))
        flush_outgoing(daemon);
    if (!durable || daemon->bus == NULL || !live_bus_is_connected(daemon->bus))
        drop_outgoing(daemon);
    live_held_release(&daemon->held, durable);
}

static void on_stop(void *context)
{
    struct live_daemon *const daemon = context;
    live_log(LIVE_LOG_INFO, "stopping", "stopped on request");
    live_loop_stop(daemon->loop);
}

static void on_hangup(void *context)
{
    struct live_daemon *const daemon = context;
    live_log_reopen();
    live_log(LIVE_LOG_INFO, "reload",
             "on SIGHUP: the log is opened, and certificates are read anew");
    if (daemon->reload != NULL)
        daemon->reload(daemon->context);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

/* What is large goes back to the system when it is freed. Otherwise glibc would keep such blocks
 * after the first one, and callers' bodies of all sizes would leave holes that only grow. */
static void bound_memory(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, (int)LARGE_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, (int)LARGE_BYTES);
}

/* Nothing of ours may end up in a core file or be readable by others. */
static void harden(void)
{
    struct rlimit const none = {0, 0};
    (void)umask(077);
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_DUMPABLE, 0);
}

static enum tacit_status open_loop(struct live_daemon *daemon)
{
    TACIT_TRY(live_loop_open(&daemon->loop));
    TACIT_TRY(live_loop_catch_signals(daemon->loop, on_stop, daemon));
    live_loop_on_hangup(daemon->loop, on_hangup, daemon);
    live_loop_set_hook(daemon->loop, end_round, daemon);
    daemon->tick = live_timer_new(daemon->loop, on_tick, daemon);
    return daemon->tick == NULL ? TACIT_MEMORY : TACIT_OK;
}

enum tacit_status live_daemon_open(struct live_daemon *daemon, const char *state_directory,
                                   const struct live_store_identity *identity,
                                   struct tacit_error *error)
{
    TACIT_ASSERT(identity != NULL && error != NULL);
    *daemon = (struct live_daemon){0};
    daemon->end = &daemon->first;
    harden();
    bound_memory();
    TACIT_TRY(live_entropy_check(error));
    enum tacit_status status = open_loop(daemon);
    if (status != TACIT_OK)
        (void)live_refuse(error, status, "the event loop cannot start");
    else
        status = live_store_open(&daemon->store, state_directory, identity, error);
    if (status != TACIT_OK) {
        live_daemon_close(daemon);
        return status;
    }
    if (live_store_is_upgraded(daemon->store))
        live_log(LIVE_LOG_WARNING, "state",
                 "%s has the format of the version before: from its next change on that version "
                 "does not read it any more",
                 state_directory);
    return TACIT_OK;
}

void live_daemon_close(struct live_daemon *daemon)
{
    drop_outgoing(daemon);
    if (daemon->http != NULL)
        live_http_close(daemon->http);
    if (daemon->bus != NULL)
        live_bus_close(daemon->bus);
    if (daemon->store != NULL)
        live_store_close(daemon->store);
    if (daemon->loop != NULL)
        live_loop_close(daemon->loop);
    *daemon = (struct live_daemon){0};
}

enum tacit_status live_daemon_check_state(const char *state_directory, enum tacit_status status,
                                          struct tacit_error *error)
{
    if (status == TACIT_OK || error->text[0] != '\0')
        return status;
    return live_refuse(error, status,
                       "%s: the state cannot be restored: damaged, or of another version: %s",
                       state_directory, tacit_status_text(status));
}

enum tacit_status live_daemon_run(struct live_daemon *daemon)
{
    TACIT_ASSERT(daemon->loop != NULL && daemon->store != NULL);
    end_round(daemon); /* what starting put into the batch */
    live_daemon_notify("READY=1");
    enum tacit_status const status = live_loop_run(daemon->loop);
    live_held_release(&daemon->held, false);
    live_daemon_notify("STOPPING=1");
    return daemon->status != TACIT_OK ? daemon->status : status;
}

/* ---- Small things ---------------------------------------------------------------------------- */

uint64_t live_daemon_jitter(uint64_t now_us, uint64_t deadline_us)
{
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_OTHER);
    uint64_t extra = 0;
    if (deadline_us == TACIT_NEVER || deadline_us <= now_us)
        return deadline_us;
    (void)tacit_entropy_below(&entropy, (deadline_us - now_us) / 4 + 1, &extra);
    return deadline_us + extra;
}

void live_daemon_notify(const char *state)
{
    char const *const path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (path == NULL || strlen(path) >= sizeof address.sun_path || (*path != '/' && *path != '@'))
        return;
    memcpy(address.sun_path, path, strlen(path));
    if (*path == '@')
        address.sun_path[0] = '\0';
    int const notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (notify < 0)
        return;
    socklen_t const size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    (void)sendto(notify, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
                 size);
    (void)close(notify);
}
