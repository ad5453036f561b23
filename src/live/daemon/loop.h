/* The event loop of a daemon: one thread, one epoll. Things that are ready are handled, then one
 * hook runs (the place where a batch of changes becomes durable and only then answers go out). */
#ifndef TACIT_LIVE_LOOP_H
#define TACIT_LIVE_LOOP_H
#include "tacit/base.h"

struct live_loop;
struct live_timer;

typedef void live_ready_function(void *context, uint32_t epoll_events);
typedef void live_call_function(void *context);

/* Errors: TACIT_IO, TACIT_MEMORY. */
enum tacit_status live_loop_open(struct live_loop **loop);
void live_loop_close(struct live_loop *loop);

/* Watches a descriptor that the caller owns; a second watch of the same one replaces the first.
 * Errors: TACIT_IO, TACIT_MEMORY. */
enum tacit_status live_loop_watch(struct live_loop *loop, int descriptor, uint32_t epoll_events,
                                  live_ready_function *ready, void *context);
/* Changes what is waited for. */
enum tacit_status live_loop_change(struct live_loop *loop, int descriptor, uint32_t epoll_events);
/* Ends the watch; safe inside a handler, also for a descriptor that is ready in this very round. */
void live_loop_forget(struct live_loop *loop, int descriptor);

/* A timer on the monotonic clock, by timerfd. Errors: NULL. Freed by live_loop_close. */
struct live_timer *live_timer_new(struct live_loop *loop, live_call_function *due, void *context);
/* TACIT_NEVER: off. A deadline in the past is due at once. */
void live_timer_set(struct live_timer *timer, uint64_t deadline_us);

/* The hook that runs after each round in which something was handled. */
void live_loop_set_hook(struct live_loop *loop, live_call_function *hook, void *context);

/* SIGTERM and SIGINT (by signalfd) call `stopping`; call once, before threads. They stay blocked
 * after live_loop_close, so that a second one does not cut the shutdown short. Errors: TACIT_IO. */
enum tacit_status live_loop_catch_signals(struct live_loop *loop, live_call_function *stopping,
                                          void *context);
/* SIGHUP, which does nothing without: it is caught with the others. Requires: they are caught. */
void live_loop_on_hangup(struct live_loop *loop, live_call_function *hangup, void *context);

/* The number of the round that goes on, or went last; 0: none did. */
uint64_t live_loop_round(const struct live_loop *loop);

/* Goes round until live_loop_stop, which lets the round end, hook included; stopped before, it
 * returns at once. Errors: TACIT_IO. */
enum tacit_status live_loop_run(struct live_loop *loop);
void live_loop_stop(struct live_loop *loop);

/* Monotonic microseconds since some fixed point; counts on while the machine sleeps. */
uint64_t live_now_us(void);
#endif
