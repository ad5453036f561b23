/* One epoll set, one timerfd a timer, one signalfd. Not thread-safe: everything happens on the
 * thread that runs the loop. */
#include "loop.h"
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Everybody who is ready is met in each round, however many lines one caller has ready. */
#define LOOP_EVENTS_MAX 512
#define LOOP_WATCHES_MIN 64u
#define US_PER_S UINT64_C(1000000)
#define NS_PER_US 1000u

/* What is watched, by descriptor. The generation tells a watch from an earlier one of the same
 * number: a handler may close a descriptor that is ready in this very round and get its number
 * again. */
struct watch {
    live_ready_function *ready; /* NULL: nobody watches */
    void *context;
    uint32_t generation;
};

struct live_timer {
    struct live_loop *loop;
    struct live_timer *next;
    int descriptor;
    uint64_t deadline_us; /* as set; TACIT_NEVER: off, or it has come */
    live_call_function *due;
    void *context;
};

struct live_loop {
    int epoll;
    int signals; /* -1: not caught */
    bool is_stopping;
    bool is_handled; /* something was, in this round */
    uint64_t round;
    struct watch *watches;
    size_t watch_capacity;
    uint32_t generation;
    struct live_timer *timers;
    live_call_function *hook;
    void *hook_context;
    live_call_function *stopping;
    void *stopping_context;
    live_call_function *hangup; /* NULL: SIGHUP is nothing */
    void *hangup_context;
};

/* ---- The clock ------------------------------------------------------------------------------ */

/* BOOTTIME counts on while the machine sleeps, but not every kernel or sandbox has timers on it.
 * Clock and timers must agree, so the answer is found once for both. */
static clockid_t clock_choose(void)
{
    static atomic_int chosen = -1;
    int known = atomic_load(&chosen);
    if (known >= 0)
        return (clockid_t)known;
    int const probe = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
    struct timespec now;
    bool const has_boottime = probe >= 0 && clock_gettime(CLOCK_BOOTTIME, &now) == 0;
    if (probe >= 0)
        (void)close(probe);
    known = has_boottime ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
    atomic_store(&chosen, known);
    return (clockid_t)known;
}

uint64_t live_now_us(void)
{
    struct timespec now;
    int const result = clock_gettime(clock_choose(), &now);
    TACIT_ASSERT(result == 0);
    return (uint64_t)now.tv_sec * US_PER_S + (uint64_t)now.tv_nsec / NS_PER_US;
}

/* ---- Watches -------------------------------------------------------------------------------- */

static struct watch *watch_find(const struct live_loop *loop, int descriptor)
{
    if (descriptor < 0 || (size_t)descriptor >= loop->watch_capacity)
        return NULL;
    struct watch *const watch = &loop->watches[descriptor];
    return watch->ready == NULL ? NULL : watch;
}

/* Room for a watch of this descriptor: the table is as long as descriptors are large. */
static enum tacit_status watches_reserve(struct live_loop *loop, int descriptor)
{
    size_t capacity = loop->watch_capacity;
    while (capacity <= (size_t)descriptor)
        capacity = capacity == 0 ? LOOP_WATCHES_MIN : 2 * capacity;
    if (capacity == loop->watch_capacity)
        return TACIT_OK;
    struct watch *const watches = realloc(loop->watches, capacity * sizeof *watches);
    if (watches == NULL)
        return TACIT_MEMORY;
    memset(watches + loop->watch_capacity, 0, (capacity - loop->watch_capacity) * sizeof *watches);
    loop->watches = watches;
    loop->watch_capacity = capacity;
    return TACIT_OK;
}

static struct epoll_event event_of(int descriptor, uint32_t generation, uint32_t epoll_events)
{
    return (struct epoll_event){
        .events = epoll_events,
        .data.u64 = (uint64_t)generation << 32 | (uint32_t)descriptor,
    };
}

enum tacit_status live_loop_watch(struct live_loop *loop, int descriptor, uint32_t epoll_events,
                                  live_ready_function *ready, void *context)
{
    TACIT_ASSERT(loop != NULL);
    TACIT_ASSERT(ready != NULL);
    if (descriptor < 0)
        return TACIT_IO;
    TACIT_TRY(watches_reserve(loop, descriptor));
    uint32_t const generation = ++loop->generation;
    struct epoll_event event = event_of(descriptor, generation, epoll_events);
    int result = epoll_ctl(loop->epoll, EPOLL_CTL_ADD, descriptor, &event);
    if (result != 0 && errno == EEXIST)
        result = epoll_ctl(loop->epoll, EPOLL_CTL_MOD, descriptor, &event);
    if (result != 0)
        return TACIT_IO;
    loop->watches[descriptor] =
        (struct watch){.ready = ready, .context = context, .generation = generation};
    return TACIT_OK;
}

enum tacit_status live_loop_change(struct live_loop *loop, int descriptor, uint32_t epoll_events)
{
    const struct watch *const watch = watch_find(loop, descriptor);
    if (watch == NULL)
        return TACIT_IO;
    struct epoll_event event = event_of(descriptor, watch->generation, epoll_events);
    return epoll_ctl(loop->epoll, EPOLL_CTL_MOD, descriptor, &event) == 0 ? TACIT_OK : TACIT_IO;
}

void live_loop_forget(struct live_loop *loop, int descriptor)
{
    struct watch *const watch = watch_find(loop, descriptor);
    if (watch == NULL)
        return;
    watch->ready = NULL;
    /* Fails if the caller has closed the descriptor already; then the kernel has forgotten it too.
     */
    (void)epoll_ctl(loop->epoll, EPOLL_CTL_DEL, descriptor, NULL);
}

/* ---- Timers --------------------------------------------------------------------------------- */

static void on_timer(void *context, uint32_t epoll_events)
{
    (void)epoll_events;
    struct live_timer *const timer = context;
    uint64_t expirations;
    /* Nothing to read: another handler of this round has set the timer anew. */
    if (read(timer->descriptor, &expirations, sizeof expirations) != (ssize_t)sizeof expirations)
        return;
    timer->deadline_us = TACIT_NEVER;
    timer->due(timer->context);
}

struct live_timer *live_timer_new(struct live_loop *loop, live_call_function *due, void *context)
{
    TACIT_ASSERT(loop != NULL);
    TACIT_ASSERT(due != NULL);
    struct live_timer *const timer = calloc(1, sizeof *timer);
    if (timer == NULL)
        return NULL;
    *timer = (struct live_timer){
        .loop = loop, .deadline_us = TACIT_NEVER, .due = due, .context = context};
    timer->descriptor = timerfd_create(clock_choose(), TFD_NONBLOCK | TFD_CLOEXEC);
    if (timer->descriptor < 0) {
        free(timer);
        return NULL;
    }
    if (live_loop_watch(loop, timer->descriptor, EPOLLIN, on_timer, timer) != TACIT_OK) {
        (void)close(timer->descriptor);
        free(timer);
        return NULL;
    }
    timer->next = loop->timers;
    loop->timers = timer;
    return timer;
}

void live_timer_set(struct live_timer *timer, uint64_t deadline_us)
{
    struct itimerspec when = {0}; /* all zero: off */
    if (deadline_us == timer->deadline_us)
        return; /* many set the same again and again; a system call each would be dear */
    timer->deadline_us = deadline_us;
    if (deadline_us != TACIT_NEVER) {
        when.it_value.tv_sec = (time_t)(deadline_us / US_PER_S);
        when.it_value.tv_nsec = (long)(deadline_us % US_PER_S) * (long)NS_PER_US;
        if (deadline_us == 0)
            when.it_value.tv_nsec = 1;
    }
    int const result = timerfd_settime(timer->descriptor, TFD_TIMER_ABSTIME, &when, NULL);
    TACIT_ASSERT(result == 0);
}

/* ---- Signals -------------------------------------------------------------------------------- */

static void on_signal(void *context, uint32_t epoll_events)
{
    (void)epoll_events;
    struct live_loop *const loop = context;
    struct signalfd_siginfo info;
    bool is_asked_to_stop = false;
    bool is_hung_up = false;
    while (read(loop->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        is_hung_up = is_hung_up || info.ssi_signo == SIGHUP;
        is_asked_to_stop = is_asked_to_stop || info.ssi_signo != SIGHUP;
    }
    if (is_hung_up && loop->hangup != NULL)
        loop->hangup(loop->hangup_context);
    if (is_asked_to_stop)
        loop->stopping(loop->stopping_context);
}

enum tacit_status live_loop_catch_signals(struct live_loop *loop, live_call_function *stopping,
                                          void *context)
{
    TACIT_ASSERT(stopping != NULL);
    TACIT_ASSERT(loop->signals < 0);
    sigset_t caught;
    (void)sigemptyset(&caught);
    (void)sigaddset(&caught, SIGTERM);
    (void)sigaddset(&caught, SIGINT);
    (void)sigaddset(&caught, SIGHUP);
    int const descriptor = signalfd(-1, &caught, SFD_NONBLOCK | SFD_CLOEXEC);
    if (descriptor < 0)
        return TACIT_IO;
    enum tacit_status const status = live_loop_watch(loop, descriptor, EPOLLIN, on_signal, loop);
    if (status != TACIT_OK || sigprocmask(SIG_BLOCK, &caught, NULL) != 0) {
        live_loop_forget(loop, descriptor);
        (void)close(descriptor);
        return status != TACIT_OK ? status : TACIT_IO;
    }
    /* The signals stay blocked after live_loop_close: a second SIGTERM must not cut the shutdown
     * short. */
    loop->signals = descriptor;
    loop->stopping = stopping;
    loop->stopping_context = context;
    return TACIT_OK;
}

void live_loop_on_hangup(struct live_loop *loop, live_call_function *hangup, void *context)
{
    TACIT_ASSERT(loop->signals >= 0);
    loop->hangup = hangup;
    loop->hangup_context = context;
}

/* ---- The loop ------------------------------------------------------------------------------- */

enum tacit_status live_loop_open(struct live_loop **loop)
{
    struct live_loop *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return TACIT_MEMORY;
    made->signals = -1;
    made->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (made->epoll < 0) {
        free(made);
        return TACIT_IO;
    }
    *loop = made;
    return TACIT_OK;
}

void live_loop_close(struct live_loop *loop)
{
    if (loop == NULL)
        return;
    while (loop->timers != NULL) {
        struct live_timer *const timer = loop->timers;
        loop->timers = timer->next;
        (void)close(timer->descriptor);
        free(timer);
    }
    if (loop->signals >= 0)
        (void)close(loop->signals);
    (void)close(loop->epoll);
    free(loop->watches);
    free(loop);
}

void live_loop_set_hook(struct live_loop *loop, live_call_function *hook, void *context)
{
    loop->hook = hook;
    loop->hook_context = context;
}

uint64_t live_loop_round(const struct live_loop *loop)
{
    return loop->round;
}

void live_loop_stop(struct live_loop *loop)
{
    loop->is_stopping = true;
}

static void dispatch(struct live_loop *loop, const struct epoll_event *event)
{
    const struct watch *const watch = watch_find(loop, (int)(uint32_t)event->data.u64);
    if (watch == NULL || watch->generation != (uint32_t)(event->data.u64 >> 32))
        return; /* forgotten earlier in this round */
    loop->is_handled = true;
    /* The call may move the table of watches: nothing of it is used afterwards. */
    watch->ready(watch->context, event->events);
}

static enum tacit_status go_round(struct live_loop *loop)
{
    struct epoll_event events[LOOP_EVENTS_MAX];
    int const count = epoll_wait(loop->epoll, events, LOOP_EVENTS_MAX, -1);
    if (count < 0)
        return errno == EINTR ? TACIT_OK : TACIT_IO;
    loop->is_handled = false;
    loop->round++;
    for (int i = 0; i < count; i++)
        dispatch(loop, &events[i]);
    if (loop->is_handled && loop->hook != NULL)
        loop->hook(loop->hook_context);
    return TACIT_OK;
}

enum tacit_status live_loop_run(struct live_loop *loop)
{
    enum tacit_status status = TACIT_OK;
    while (status == TACIT_OK && !loop->is_stopping)
        status = go_round(loop);
    loop->is_stopping = false;
    return status;
}
