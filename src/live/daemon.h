/* What both daemons are made of: loop, store, bus, HTTP; and the order of their effects. Within a
 * round of the loop changes are put into one batch; at its end the batch is committed, then
 * messages go out, then held answers. A commit that fails stops the process before anything is
 * said. */
#ifndef TACIT_LIVE_DAEMON_H
#define TACIT_LIVE_DAEMON_H
#include "bus/bus.h"
#include "api/held.h"
#include "daemon/refusal.h"
#include "daemon/tick.h"
#include "store/store.h"

#define LIVE_OUTGOING_BYTES_MAX ((size_t)64 << 20)

struct live_outgoing;

struct live_daemon {
    struct live_loop *loop;
    struct live_store *store;
    struct live_bus *bus;
    struct live_http *http;
    struct live_outgoing *first; /* messages that wait to be sent, in order */
    struct live_outgoing **end;
    size_t outgoing_bytes;
    struct live_timer *tick; /* ends a hold */
    struct live_hold hold;
    bool batch_is_open;
    enum tacit_status status; /* why the loop ended */
    void *context;
    struct live_held held;          /* answers */
    void (*prepare)(void *context); /* last changes before the commit; may be NULL */
    void (*reload)(void *context);  /* on SIGHUP; may be NULL */
};

/* Opens the loop, catches SIGTERM and SIGINT, forbids core dumps, sets the umask, opens the store.
 * Errors: with error->text; nothing stays open. */
enum tacit_status live_daemon_open(struct live_daemon *daemon, const char *state_directory,
                                   const struct live_store_identity *identity,
                                   struct tacit_error *error);
void live_daemon_close(struct live_daemon *daemon);

/* What came of putting the state back. Says that it cannot be, and why, unless the status is
 * TACIT_OK or there are words for it already. Result: the status. */
enum tacit_status live_daemon_check_state(const char *state_directory, enum tacit_status status,
                                          struct tacit_error *error);

/* Before the first change of a round. A failure stops the daemon. */
bool live_daemon_begin(struct live_daemon *daemon);

/* Ends the loop with a status: the state cannot be trusted any more. */
void live_daemon_fail(struct live_daemon *daemon, enum tacit_status status, const char *what);
/* The same, unless it is TACIT_OK: what became of a change. */
void live_daemon_check(struct live_daemon *daemon, enum tacit_status status, const char *what);
/* A value into the batch of this round. A failure stops the daemon. */
void live_daemon_put_value(struct live_daemon *daemon, const char *name, uint64_t value);

/* Sends after the commit of this round, or as soon after it as the broker keeps up. Copies the
 * bytes; none, retained: the broker forgets what it kept under this topic. Dropped, because the
 * cores say it again until it is answered: what waits when there is no connection, and what would
 * be beyond LIVE_OUTGOING_BYTES_MAX. */
void live_daemon_send(struct live_daemon *daemon, const char *topic, const uint8_t *bytes,
                      size_t size, bool retain);

/* A release was drawn in the step that began at event_us: nothing leaves before the tick that this
 * event names (daemon/tick.h), whatever it is. So neither the release nor a word of it shows how
 * long drawing took. numbers: how many were drawn. Every family's releases come by here. */
void live_daemon_hold(struct live_daemon *daemon, uint64_t event_us, uint64_t numbers);

/* The same for a family that draws with every reward (live_hold_stream). */
void live_daemon_hold_stream(struct live_daemon *daemon, uint64_t event_us, uint64_t numbers);

/* Goes round until stopped. Result: why, if it failed. */
enum tacit_status live_daemon_run(struct live_daemon *daemon);

/* Some time after `deadline_us`, by up to a quarter of what is left until then, so that sites do
 * not all speak at once. */
uint64_t live_daemon_jitter(uint64_t now_us, uint64_t deadline_us);

/* Tells the service manager (sd_notify protocol), if there is one. */
void live_daemon_notify(const char *state);
#endif
